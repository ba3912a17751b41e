/* Shows the commit of each line beside it. Loaded on request; only a server has this data, a static site does not. */
(function () {
  "use strict";
  var site = window.concordance, make = site.make, button = site.$("[data-does=history]"), wanted = false;
  document.head.append(make("link", { rel: "stylesheet", href: site.base + "assets/blame.css" }));

  function told(commit) {
    if (!commit) return ["", "not committed yet"];
    return [commit[0], " " + commit[1] + (commit[4] ? " or before" : "") + " " + commit[2] + " · " + commit[3]];
  }

  function clear() {
    var held = document.activeElement && document.activeElement.classList.contains("blame");
    site.all(".blame").forEach(function (one) { one.remove(); });
    site.all(".line.begins").forEach(function (one) { one.classList.remove("begins"); });
    site.all(".blamed").forEach(function (one) { one.classList.remove("blamed"); });
    if (held) button.focus();
  }

  /* A page of a long source has only some of the lines. */
  function show(source, commits, ranges) {
    var lines = site.all(".line", source), first = Number(lines[0].id.slice(1)), last = first + lines.length - 1, at = 1;
    for (var place = 0; place < ranges.length; place += 2) {
      var end = at + ranges[place] - 1, line = lines[Math.max(at, first) - first];
      if (end >= first && at <= last) {
        var words = told(commits[ranges[place + 1]]), to = "#L" + at + (end > at ? "-L" + end : "");
        line.classList.add("begins");
        line.insertBefore(make("a", { class: "blame", href: to }, make("span", {}, words[0] ? make("b", {}, words[0]) : null, words[1])), site.$("code", line));
      }
      at = end + 1;
    }
    source.classList.add("blamed");
  }

  function put(text, pressed, busy) {
    button.textContent = text;
    button.setAttribute("aria-pressed", String(pressed));
    button.setAttribute("aria-busy", String(Boolean(busy)));
  }

  function ask(quiet) {
    put("History", true, true);
    site.load(button.dataset.from, true).then(function (rows) {
      var source = site.$(".source");
      if (!wanted || !source) return;
      var why = !rows ? "the server did not answer; try again" : rows[0] || (rows[3] !== source.dataset.of ? "the file has changed since this page was made" : "");
      clear();
      wanted = !why;
      if (wanted) show(source, rows[1], rows[2]);
      put(why ? "No history: " + why : "History", wanted);
      if (why || !quiet) site.say(button.textContent);
    });
  }

  site.blame = function () {
    wanted = !wanted;
    if (wanted) { ask(false); return; }
    clear();
    put("History", false);
    site.say("History hidden");
  };

  document.addEventListener("click", function (event) {
    var link = event.target.closest(".blame");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    site.mark(link.hash);
  });
  document.addEventListener("concordance:changed", function () { if (wanted) ask(true); });
})();
