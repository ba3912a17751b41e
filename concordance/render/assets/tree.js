/* The tree of folders and files: the content of each folder is a separate file, loaded when the folder is opened. */
(function () {
  "use strict";
  var site = window.concordance, make = site.make, nav = site.$("#tree");
  var here = location.href.replace(/[?#].*/, "");

  /* The subject of a page: all views of a file have the same entry, however their address is encoded. */
  function subject(url) {
    var path = url.replace(/[?#].*/, "");
    try { path = path.split("/").map(decodeURIComponent).join("/"); } catch (bytes) { /* not valid text */ }
    return path.replace(/_defs\/[^/]*$/, "").replace(/(_docs|_kw|_source)(\.\d+)?\.html$/, "")
      .replace(/\/(index|doc|sub|map|history)(\.\d+)?\.html$/, "/");
  }
  var mine = subject(here);

  function row(entry) {
    var url = site.href(entry[1]), name = make("a", { href: url }, entry[0]);
    if (subject(url) === mine) name.setAttribute("aria-current", "page");
    if (!entry[2]) return make("li", { class: "file" }, name);
    var button = make("button", { type: "button", "aria-expanded": "false", "aria-label": "Open " + entry[0] });
    var item = make("li", { class: "folder" }, button, name);
    button.addEventListener("click", function () { toggle(item, url); });
    item.concordanceUrl = url;
    return item;
  }

  function list(rows) {
    var found = make("ul");
    rows.forEach(function (entry) { found.append(row(entry)); });
    return found;
  }

  function inside(url) { return new URL("tree.js", url).href; }

  function toggle(item, url) {
    var button = item.firstChild, open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    var had = site.$("ul", item);
    if (open) { if (had) had.hidden = true; return Promise.resolve(); }
    if (had) { had.hidden = false; return Promise.resolve(); }
    return site.load(inside(url)).then(function (rows) {
      if (rows && !site.$("ul", item)) item.append(list(rows));
    });
  }

  /* Opens the folders above this page, then scrolls it into view. */
  function descend(within) {
    var next = Array.from(within.children).find(function (item) {
      return item.concordanceUrl && mine.startsWith(subject(item.concordanceUrl));
    });
    if (!next) return Promise.resolve();
    return toggle(next, next.concordanceUrl).then(function () {
      var below = site.$("ul", next);
      return below ? descend(below) : null;
    });
  }

  function current() {
    var now = site.$(".top-level [aria-current]", nav);
    if (!now) return;
    var place = now.getBoundingClientRect(), frame = nav.getBoundingClientRect();
    if (place.top < frame.top || place.bottom > frame.bottom) {
      nav.scrollTop += place.top - frame.top - frame.height / 3;
    }
  }

  site.load(site.base + "tree.js").then(function (rows) {
    if (!rows) return;
    var top = list(rows);
    top.className = "top-level";
    descend(top).then(function () {
      var plain = site.$(".plain", nav);
      if (plain) plain.replaceWith(top); else nav.append(top);
      current();
    });
  });

  nav.addEventListener("keydown", function (event) {
    var item = event.target.closest("li");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    var links = site.all("a", nav).filter(function (link) { return link.offsetParent !== null; });
    var place = links.indexOf(site.$("a", item));
    var folder = item.concordanceUrl, open = folder && item.firstChild.getAttribute("aria-expanded") === "true";
    if (event.key === "ArrowDown" && links[place + 1]) links[place + 1].focus();
    else if (event.key === "ArrowUp" && links[place - 1]) links[place - 1].focus();
    else if (event.key === "ArrowRight" && folder && !open) toggle(item, folder);
    else if (event.key === "ArrowRight" && open && links[place + 1]) links[place + 1].focus();
    else if (event.key === "ArrowLeft" && open) toggle(item, folder);
    else if (event.key === "ArrowLeft" && item.parentNode.closest("li")) site.$("a", item.parentNode.closest("li")).focus();
    else if (event.key === "Home" && links.length) links[0].focus();
    else if (event.key === "End" && links.length) links[links.length - 1].focus();
    else return;
    event.preventDefault();
  });
})();
