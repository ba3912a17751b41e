/* Hover cards: what a name is, its documentation and uses, shown when a link to it has the pointer or the focus.
   `c` moves the focus into the card, Escape back. */
(function () {
  "use strict";
  var site = window.concordance, make = site.make;
  var card = null, of = null, timer = null, byKey = false;
  var FEW = 5;  /* number of other places that are shown before the rest is folded */
  var TRUST = { exact: "exact", via_import: "via import", unique_name: "the only definition of this name", candidate: "one of several definitions of this name" };

  /* The file with the cards of a link's target, and the key of its card; null if it has none. */
  function wanted(link) {
    var url = new URL(link.href, location.href);
    if (url.origin !== location.origin && location.protocol !== "file:") return null;
    var path = url.origin === "null" ? url.href.replace(/[?#].*/, "") : url.origin + url.pathname;
    var found = /^(.*)_defs\/([^/]+)\.html$/.exec(path);
    if (found) return { cards: found[1] + "_cards.js", key: link.dataset.c || decodeURIComponent(found[2]) };
    found = /^(.*?)_(?:source|docs)(?:\.\d+)?\.html$/.exec(path);
    var key = link.dataset.c || (/^#def-/.test(url.hash) ? decodeURIComponent(url.hash.slice(1)) : "");
    return found && key ? { cards: found[1] + "_cards.js", key: key } : null;
  }

  function count(number, one, many) { return Number(number).toLocaleString("en") + " " + (number === 1 ? one : many); }

  function fill(link, row, key) {
    var facts = [row.kind || "name"];
    if (row.uses !== undefined) facts.push(row.uses ? count(row.uses, "use", "uses") + (row.files ? " in " + count(row.files, "file", "files") : "") : "no uses found");
    if (row.path) facts.push(row.path + (row.line ? ":" + row.line : ""));
    var trust = TRUST[link.dataset.t || "exact"], why = link.dataset.by || "";
    var also = (link.dataset.also || "").split(" ").filter(Boolean), inside = Boolean(also.length || row.page);
    var box = make("div", { id: "card", role: inside ? "dialog" : "tooltip", "aria-label": inside ? "About " + (row.name || key) : null },
      row.called ? make("p", { class: "facts" }, make("code", {}, row.called)) : null,
      make("pre", {}, row.signature || row.name || key), row.doc ? make("p", {}, row.doc) : null,
      make("p", { class: "facts" }, facts.join(" · ")),
      link.dataset.t || why ? make("p", { class: "facts" }, "Link: " + trust + (why && !trust.includes(why) ? ", " + why : "")) : null);
    if (also.length) box.append(listed("Or: ", also.slice(0, FEW)));
    if (also.length > FEW) {
      box.append(make("details", { class: "facts" }, make("summary", {}, "and " + (also.length - FEW) + " more"), listed("", also.slice(FEW))));
    }
    if (row.page) {
      box.append(make("p", {}, make("a", { href: new URL(row.page, site.base).href }, "Definition and uses")));
    }
    if (inside && byKey) box.append(make("p", { class: "facts" }, make("kbd", {}, "c"), " to reach these links"));
    return box;
  }

  function listed(before, also) {
    var row = make("p", { class: "facts" }, before);
    also.forEach(function (to, place) { row.append(place ? ", " : "", make("a", { href: to }, named(to))); });
    return row;
  }

  /* A place as path and line. A path with invisible characters, or that is not valid text, stays percent-encoded. */
  function named(to) {
    var path = new URL(to, location.href).href.replace(site.base, "").replace(/_source(\.\d+)?\.html(#L)?/, function (all, part, line) { return line ? ":" : ""; });
    try { var text = decodeURIComponent(path); } catch (other) { return path; }
    return /[\p{C}\p{Zl}\p{Zp}]/u.test(text) ? path : text;
  }

  /* Puts the card below the name, or above it if there is no room: never over the line itself. */
  function place(link, box) {
    site.$("main").append(box);
    var at = link.getClientRects()[0] || link.getBoundingClientRect(), high = box.offsetHeight, room = innerHeight - at.bottom;
    var top = room > high + 12 || at.top < high + 70 ? at.bottom + 6 : at.top - high - 6;
    var left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - box.offsetWidth - 12));
    /* The content security policy allows styles that a script sets as properties. */
    box.style.top = top + scrollY + "px";
    box.style.left = left + scrollX + "px";
  }

  function open(link) {
    var what = wanted(link), also = link.dataset.also;
    if (card && of !== link) close();
    if (!what && !also) return;
    of = link;
    (what ? site.load(what.cards) : Promise.resolve(null)).then(function (rows) {
      var row = rows && (rows[what.key] || rows["def-" + what.key]);
      if (!row && also) { row = { kind: "one of several" }; what = { key: link.textContent }; }
      if (of !== link || !row) return;
      close(true);
      card = fill(link, row, what.key);
      place(link, card);
      link.setAttribute("aria-describedby", "card");
      card.addEventListener("mouseenter", function () { clearTimeout(timer); });
      card.addEventListener("mouseleave", later);
    });
  }

  function close(keep) {
    if (card) { card.remove(); card = null; }
    site.all("[aria-describedby=card]").forEach(function (link) { link.removeAttribute("aria-describedby"); });
    if (!keep) of = null;
  }
  function later() {
    clearTimeout(timer);
    timer = setTimeout(function () { if (!card || !card.contains(document.activeElement)) close(); }, 180);
  }

  function links() { return site.all("a, summary", card).filter(function (one) { return one.tagName === "SUMMARY" || !one.closest("details:not([open])"); }); }
  site.card = function () { if (card && links().length) links()[0].focus(); };

  function linkOf(event) {
    var link = event.target.closest ? event.target.closest("main a[href]") : null;
    return link && card && card.contains(link) ? null : link;
  }
  document.addEventListener("mouseover", function (event) {
    var link = linkOf(event);
    if (!link) return;
    clearTimeout(timer);
    if (link === of) return;
    timer = setTimeout(function () { open(link); }, 220);
  });
  document.addEventListener("mouseout", function (event) { if (linkOf(event)) later(); });
  document.addEventListener("keydown", function (event) {
    byKey = event.key === "Tab" || event.key.startsWith("Arrow");
    if (event.key === "Escape" && card) {
      var back = card.contains(document.activeElement) ? of : null;
      close();
      if (back) back.focus();
      event.stopPropagation();
    } else if (event.key === "Tab" && card && card.contains(document.activeElement)) {  /* the focus cycles, as in a dialog */
      var all = links(), next = all.indexOf(document.activeElement) + (event.shiftKey ? -1 : 1);
      all[(next + all.length) % all.length].focus();
      event.preventDefault();
    }
  }, true);
  document.addEventListener("pointerdown", function () { byKey = false; });
  document.addEventListener("focusin", function (event) {
    var link = linkOf(event);
    clearTimeout(timer);
    if (link && byKey) open(link); else if (!card || !card.contains(event.target)) close();
  });
})();
