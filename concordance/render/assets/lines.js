/* Lines of a source: #L12 and #L12-L20 are highlighted and scrolled to; a click on a number sets the address, and with
   Shift extends the range. */
(function () {
  "use strict";
  var site = window.concordance;

  function asked() {
    var found = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);
    if (!found) return null;
    var one = Number(found[1]), other = Number(found[2] || found[1]);
    return [Math.min(one, other), Math.max(one, other)];
  }

  function mark(scroll) {
    site.all(".line.on").forEach(function (line) { line.classList.remove("on"); });
    var range = asked();
    if (!range) return;
    var first = document.getElementById("L" + range[0]);
    for (var number = range[0]; number <= Math.min(range[1], range[0] + 50000); number++) {
      var line = document.getElementById("L" + number);
      if (line) line.classList.add("on"); else if (number > range[0]) break;
    }
    if (first && scroll) {
      var tall = range[1] - range[0] > 12;
      first.scrollIntoView({ block: tall ? "start" : "center" });
      /* Chunks that were never shown have only an estimated height: scroll again once they are laid out. */
      requestAnimationFrame(function () { requestAnimationFrame(function () { first.scrollIntoView({ block: tall ? "start" : "center" }); }); });
    }
  }

  document.addEventListener("click", function (event) {
    var number = event.target.closest("a.n");
    if (!number || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    var line = Number(/\d+$/.exec(number.hash)[0]), range = asked();
    var hash = event.shiftKey && range ? "#L" + Math.min(range[0], line) + "-L" + Math.max(range[0], line) : "#L" + line;
    if (range && range[0] === range[1] && hash === "#L" + line && range[0] === line) hash = "";
    history.pushState(null, "", hash || location.pathname + location.search);
    if (event.shiftKey && getSelection()) getSelection().removeAllRanges();
    mark(false);
  });
  site.mark = function (hash) { history.pushState(null, "", hash); mark(false); };
  addEventListener("hashchange", function () { mark(true); });
  addEventListener("popstate", function () { mark(true); });
  document.addEventListener("concordance:changed", function () { mark(false); });
  mark(true);
})();
