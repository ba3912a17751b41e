/* Shared by all scripts: loading data with script tags (a page opened from disk may not fetch), keys, buttons, notices. */
(function () {
  "use strict";
  var root = document.documentElement, up = root.dataset.up || "";
  var taken = new Map(), asked = new Map();

  /* Data files call this; the address of the running script tells which file it is. */
  function take(name, data) {
    taken.set(document.currentScript ? document.currentScript.src : name, data);
  }

  /* The data of a file, loaded once, or again on request; null if there is none. */
  function load(address, again) {
    var url = new URL(address, location.href).href;
    if (again) asked.delete(url);
    if (!asked.has(url)) {
      asked.set(url, new Promise(function (done) {
        var script = document.createElement("script");
        script.src = url;
        script.onload = function () { done(taken.has(url) ? taken.get(url) : null); script.remove(); };
        script.onerror = function () { asked.delete(url); done(null); script.remove(); };
        document.head.append(script);
      }));
    }
    return asked.get(url);
  }

  /* make("a", {href: …, class: …}, children): strings are added as text, never as HTML. */
  function make(tag, attributes) {
    var element = document.createElement(tag);
    for (var name in attributes || {}) {
      if (attributes[name] !== null && attributes[name] !== undefined) element.setAttribute(name, attributes[name]);
    }
    for (var place = 2; place < arguments.length; place++) {
      if (arguments[place] !== null) element.append(arguments[place]);
    }
    return element;
  }

  function $(query, within) { return (within || document).querySelector(query); }
  function all(query, within) { return Array.from((within || document).querySelectorAll(query)); }

  /* The address of a page by its path in the site, percent-encoded. Bytes of a name that are not valid text are given as
     surrogates (U+DC80 …). */
  function href(path) {
    return window.concordance.base + path.split("/").map(function (name) {
      return name.split(/([\udc80-\udcff])/u).map(function (part, place) {
        return place % 2 ? "%" + (part.charCodeAt(0) - 0xdc00).toString(16).toUpperCase() : encodeURIComponent(part);
      }).join("");
    }).join("/");
  }

  var hush;
  function say(text) {
    var notice = $("#said");
    notice.textContent = text;
    notice.classList.add("shown");
    clearTimeout(hush);
    hush = setTimeout(function () { notice.classList.remove("shown"); }, 2500);
  }

  /* --- drawers: tree and outline on a narrow screen */

  function drawer(name, open) {
    all("nav.open").forEach(function (one) { if (one.id !== name || !open) one.classList.remove("open"); });
    var nav = $("#" + name);
    nav.classList.toggle("open", open);
    root.classList.toggle("drawn", open);
    all("[data-does]").forEach(function (button) {
      if (button.hasAttribute("aria-expanded")) {
        button.setAttribute("aria-expanded", String(open && button.dataset.does === name));
      }
    });
    if (open) ($("[aria-current]", nav) || $("a, button", nav) || nav).focus();
  }

  function side(name) {
    var nav = $("#" + name);
    if (nav.classList.contains("open")) { drawer(name, false); $("#main").focus({ preventScroll: true }); return; }
    if (getComputedStyle(nav).visibility === "hidden") drawer(name, true);
    else ($("[aria-current]", nav) || $("a, button", nav) || nav).focus();
  }

  /* --- theme */

  var system = matchMedia("(prefers-color-scheme: dark)");
  var SUN = "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5";
  var MOON = "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z";

  function isDark() { return root.dataset.theme ? root.dataset.theme === "dark" : system.matches; }

  /* The button shows which theme is on, and says what it does. */
  function showTheme() {
    var button = $("[data-does=theme]");
    if (!button) return;
    $("path", button).setAttribute("d", isDark() ? MOON : SUN);
    button.setAttribute("aria-label", isDark() ? "Theme: dark. Change to light" : "Theme: light. Change to dark");
  }

  function theme() {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("concordance-theme", root.dataset.theme); } catch (refused) { /* for this page only */ }
    showTheme();
    say(isDark() ? "Dark" : "Light");
  }
  system.addEventListener("change", showTheme);
  showTheme();

  /* --- tables: cards on a phone, where each cell has the name of its column; a mark where one can be scrolled. Code
     and drawings fade out where more of them is to the right. */

  var MOST_ROWS = 400, narrow = matchMedia("(max-width: 40rem)");

  function tables() {
    all(".table").forEach(function (box) {
      var table = $("table", box), names = all("thead th", table).map(function (one) { return one.textContent.trim(); });
      var cards = narrow.matches && names.length > 2 && table.rows.length < MOST_ROWS && !table.classList.contains("sorts");
      box.classList.toggle("cards", cards);
      if (cards) {
        table.setAttribute("role", "table");
        all("tbody tr", table).forEach(function (row) {
          row.setAttribute("role", "row");
          Array.from(row.cells).forEach(function (cell, place) {
            cell.setAttribute("role", "cell");
            cell.dataset.label = names[place] || "";
          });
        });
      }
      box.classList.toggle("scrolls", box.scrollWidth > box.clientWidth + 1);
    });
    all("main pre, .drawing").forEach(fade);
  }
  function fade(box) {
    box.classList.toggle("more", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  }
  document.addEventListener("scroll", function (event) {
    if (event.target.matches && event.target.matches("main pre, .drawing")) fade(event.target);
  }, true);
  document.addEventListener("toggle", tables, true);
  narrow.addEventListener("change", tables);
  window.addEventListener("resize", tables);
  tables();

  /* --- keys */

  var KEYS = [
    ["/  s", "search"], ["↑ ↓  Enter", "choose a result"], ["t", "files"], ["o", "outline of the page"],
    ["v", "next view: documentation, source, keywords"], ["u", "folder above"], ["d", "light or dark"], ["?", "these keys"],
    ["c", "go into the card of a name"], ["Esc", "close"]
  ];
  if ($("[data-does=history]")) KEYS.splice(6, 0, ["h", "history beside the lines"]);

  function keys() {
    var dialog = $("#keys");
    if (!dialog) {
      var rows = make("dl");
      KEYS.forEach(function (row) {
        var term = make("dt");
        row[0].split(/ +/).forEach(function (key) { term.append(make("kbd", {}, key), " "); });
        rows.append(term, make("dd", {}, row[1]));
      });
      var close = make("button", { type: "button", autofocus: "" }, "Close");
      dialog = make("dialog", { id: "keys", "aria-labelledby": "keys-title" },
        make("h2", { id: "keys-title" }, "Keys"), rows, close);
      close.addEventListener("click", function () { dialog.close(); });
      document.body.append(dialog);
    }
    if (dialog.open) dialog.close(); else dialog.showModal();
  }

  function view() {
    var links = all(".views a");
    var here = links.findIndex(function (link) { return link.hasAttribute("aria-current"); });
    var next = links.filter(function (link) { return !/\.md$/.test(link.pathname); });
    if (next.length > 1) next[(next.indexOf(links[here]) + 1) % next.length].click();
  }

  function above() {
    var links = all(".path a:not([aria-current])");
    if (links.length) links[links.length - 1].click();
  }

  var does = {
    theme: theme, keys: keys, tree: function () { side("tree"); }, outline: function () { side("outline"); },
    search: function () { $("#search").focus(); $("#search").select(); }, view: view, above: above,
    history: function () { if ($("[data-does=history]")) load(up + "assets/blame.js").then(function () { window.concordance.blame(); }); },
    card: function () { window.concordance.card(); }
  };
  var onKey = { "/": "search", s: "search", t: "tree", o: "outline", d: "theme", "?": "keys", v: "view", u: "above", h: "history", c: "card" };

  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-does]");
    if (button) { does[button.dataset.does](); return; }
    var open = $("nav.open");
    if (open && (!open.contains(event.target) || event.target.closest("a"))) drawer(open.id, false);
  });
  document.addEventListener("keydown", function (event) {
    var open = $("nav.open");
    if (event.key === "Escape" && open) { side(open.id); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input, textarea, select, dialog")) return;
    var what = onKey[event.key];
    if (what) { event.preventDefault(); does[what](); }
  });

  /* Code that is wider than its frame can be scrolled with the keyboard. */
  function reachable() {
    all("main pre").forEach(function (frame) {
      if (frame.scrollWidth > frame.clientWidth + 1) frame.tabIndex = 0; else frame.removeAttribute("tabindex");
    });
  }
  var written = root.hasAttribute("data-live") ? $("#main").innerHTML : "";  /* before scripts change it */
  reachable();
  addEventListener("resize", reachable);

  window.concordance = {
    take: take, load: load, href: href, make: make, $: $, all: all, say: say, up: up, root: root, reachable: reachable, written: written,
    base: new URL(up || "./", location.href).href
  };
})();
