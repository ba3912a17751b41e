/* Sets the theme that the reader chose before the page is painted, so that nothing flashes. */
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  try {
    var theme = localStorage.getItem("concordance-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch (refused) { /* a browser may store nothing for local files: the system's theme is used */ }
})();
