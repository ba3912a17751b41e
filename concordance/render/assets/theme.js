/* Before the page is painted: the theme that the reader chose, so that nothing flashes. */
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  try {
    var theme = localStorage.getItem("concordance-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch (refused) { /* a browser may keep nothing for files: then the system's theme holds */ }
})();
