/* The search field: results while you type, kinds, arrow keys and Enter, the query in the address. It asks a server;
   a static site loads `find.js` instead, which reads the search files. */
(function () {
  "use strict";
  var site = window.concordance, make = site.make, $ = site.$;
  var field = $("#search"), panel = $("#found"), page = $("#results");
  var live = site.root.hasAttribute("data-api");
  var WAIT = 60, LONGEST = 300;
  var KINDS = [["", "All"], ["class", "Classes"], ["fn", "Functions"], ["file", "Files"], ["kw", "Keywords"]];

  /* --- the query */

  function read(text) {
    var asked = { kind: "", folder: "", text: "", exact: false, wrong: "" };
    if (text.length > LONGEST) {
      asked.wrong = "The query is longer than " + LONGEST + " letters: a name or a few words are enough.";
      return asked;
    }
    if ((text.match(/"/g) || []).length % 2) asked.wrong = "A quotation mark is not closed: close or remove it.";
    var rest = text.replace(/(^|\s)in:("[^"]*"|\S*)/g, function (all, before, folder) {
      asked.folder = folder.replace(/"/g, "").replace(/^\.?\/+|\/+$/g, "");
      return before;
    }).replace(/(^|\s)(class|fn|file|kw):/g, function (all, before, kind) { asked.kind = kind; return before; });
    asked.exact = /^\s*"[^"]+"\s*$/.test(rest);
    asked.text = rest.replace(/"/g, " ").trim().replace(/\s+/g, " ");
    if (!asked.text && !asked.wrong) asked.wrong = text.trim() ? "Type a name or some words to search for." : " ";
    return asked;
  }

  function withKind(kind) {
    var rest = field.value.replace(/(^|\s)(class|fn|file|kw):/g, "$1").trim();
    return kind ? kind + ":" + rest : rest;
  }

  /* --- answers: {rows: [{name, home, kind, path, line, href, text}], total, note} */

  var stale = null, loading = null;

  function ask(text, most) {
    var asked = read(text);
    if (asked.wrong) return Promise.resolve({ rows: [], note: asked.wrong, asked: asked });
    if (stale) stale.abort();
    stale = new AbortController();
    var answer = live ? fromServer(text, most, stale.signal) : fromShards(asked, most);
    return answer.then(function (found) { found.asked = asked; return found; });
  }

  function sentence(text) { return text[0].toUpperCase() + text.slice(1); }

  function fromServer(text, most, signal) {
    var url = site.base + "api/search?addresses=1&number=" + most + "&q=" + encodeURIComponent(text.trim());
    return fetch(url, { signal: signal, headers: { Accept: "application/json" } }).then(function (reply) {
      return reply.json().then(function (said) {
        if (!reply.ok) return { rows: [], note: said.error ? sentence(said.error) + ". " + (said.hint || "") : "The server did not answer; try again." };
        var rows = said.filter(function (row) { return row.address; }).map(fromRow);
        return { rows: rows, total: rows.length, full: rows.length >= most, note: decodeURIComponent(reply.headers.get("X-Note") || "") };
      });
    });
  }

  var HEADING = /\.(?![\d\s.])/g;  // not in "2.0" or "e.g. this"

  function fromRow(row) {
    var called = row.called || row.symbol, isHeading = row.kind === "heading";
    if (isHeading) called = called.replace(HEADING, " › ");
    var name = called ? (isHeading ? /(?:^|› )([^›]+)$/ : /(?:^|::|[.#])([^.:#]+|operator.*)$/).exec(called) : null;
    var shown = called ? (name ? name[1] : called) : row.path.split("/").pop();
    return {
      name: shown, home: called ? called.slice(0, called.length - shown.length) : "", kind: row.kind || "file",
      path: row.path, line: row.line, href: site.base + row.address, text: row.snippet || ""
    };
  }

  function fromShards(asked, most) {
    if (!loading) loading = site.load(site.base + "assets/find.js");
    return loading.then(function () {
      if (!site.find) return { rows: [], note: "The search could not be loaded; the keyword index lists every name." };
      return site.find(asked, most);
    });
  }

  /* --- display */

  function lit(text, words) {
    var found = make("span"), low = text.toLowerCase(), at = 0;
    words.forEach(function (word) {
      var place = low.indexOf(word.toLowerCase(), at);
      if (place < 0 || !word) return;
      found.append(text.slice(at, place), make("mark", {}, text.slice(place, place + word.length)));
      at = place + word.length;
    });
    found.append(text.slice(at));
    return found;
  }

  function hit(row, number, asked) {
    var name = make("span", { class: "name" }, row.home ? make("i", {}, row.home) : null, make("b", {}, lit(row.name, asked.text.split(" "))));
    var where = row.path ? row.path + (row.line && row.kind !== "file" ? ":" + row.line : "") : row.where || "";
    return make("a", { class: "hit", role: "option", id: "hit" + number, href: row.href, "aria-selected": "false", tabindex: "-1" },
      make("span", { class: "kind" }, row.kind), name,
      make("span", { class: "where" }, where), row.text ? make("span", { class: "text" }, row.text.trim()) : null);
  }

  function buttons(asked) {
    return KINDS.map(function (kind) {
      var button = make("button", { type: "button", "aria-pressed": String(asked.kind === kind[0]) }, kind[1]);
      button.addEventListener("click", function () {
        field.value = withKind(kind[0]);
        if (page) { address(true); run(); button.focus(); } else { field.focus(); run(); }
      });
      return button;
    });
  }

  function list(found) {
    var rows = make("div", { class: "hits", role: "listbox", id: "hits", "aria-label": "Results" });
    found.rows.forEach(function (row, number) { rows.append(hit(row, number, found.asked)); });
    return rows;
  }

  function told(found) {
    if (found.note && !found.rows.length) return sentence(found.note.trim());
    if (!found.rows.length) return "Nothing found. Try fewer letters, or another kind.";
    return found.note || "";
  }

  function number(found) {
    var count = found.rows.length;
    if (found.full) return "The best " + count + ". To see others, add words, a kind or in:folder.";
    if (found.total > count) return "The best " + count + " of about " + found.total.toLocaleString("en") + ". To see others, type more letters.";
    var said = count + (count === 1 ? " result" : " results");
    return live ? said : said + " among names, paths, and the titles and first paragraphs of documents; full text needs a server (concord serve)";
  }

  function show(found) {
    if (page) {
      $("main .kinds").replaceChildren.apply($("main .kinds"), found.asked.text ? buttons(found.asked) : []);
      page.replaceChildren();
      if (found.rows.length) page.append(list(found));
      $("#count").textContent = told(found) || number(found);
    } else {
      panel.replaceChildren(make("div", { class: "kinds", role: "group", "aria-label": "Kinds" }));
      var kinds = panel.firstChild;
      buttons(found.asked).forEach(function (button) { kinds.append(button); });
      var note = told(found);
      if (note) panel.append(make("p", { class: "told", role: "status" }, note));
      if (found.rows.length) panel.append(list(found));
      if (found.rows.length) panel.append(make("p", { class: "told" }, make("a", { href: whole() }, "All results"), " · Enter opens the first"));
      panel.hidden = false;
    }
    field.setAttribute("aria-expanded", String(found.rows.length > 0));
    if (found.rows.length) field.setAttribute("aria-controls", "hits"); else field.removeAttribute("aria-controls");
    choose(-1);
  }

  function hide() {
    panel.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-controls");
    choose(-1);
  }

  var chosen = -1;
  function options() { return site.all(".hit"); }
  function choose(number) {
    var rows = options();
    chosen = number;
    rows.forEach(function (row, place) { row.setAttribute("aria-selected", String(place === number)); });
    if (rows[number]) {
      field.setAttribute("aria-activedescendant", rows[number].id);
      rows[number].scrollIntoView({ block: "nearest" });
    } else field.removeAttribute("aria-activedescendant");
  }

  /* --- the query in the address */

  function whole() { return site.base + "search.html?q=" + encodeURIComponent(field.value.trim()); }

  function address(push) {
    if (!page || field.value.length > 2000) return;
    var url = location.pathname + (field.value.trim() ? "?q=" + encodeURIComponent(field.value.trim()) : "");
    try { history[push ? "pushState" : "replaceState"](null, "", url); } catch (refused) { /* a page opened from disk */ }
    document.title = (field.value.trim() || "Search") + " · " + $(".home span").textContent;
  }

  var turn = 0, waiting;
  function run() {
    var mine = ++turn, text = field.value;
    clearTimeout(waiting);
    if (!text.trim() && !page) { hide(); return Promise.resolve(); }
    return ask(text, page ? 100 : 12).then(function (found) { if (mine === turn) show(found); }, function (error) {
      if (error.name !== "AbortError" && mine === turn) show({ rows: [], note: "The server does not respond. Is it running?", asked: read(text) });
    });
  }

  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-expanded", "false");
  field.setAttribute("aria-haspopup", "listbox");
  field.addEventListener("input", function () {
    clearTimeout(waiting);
    waiting = setTimeout(function () { address(false); run(); }, WAIT);
  });
  field.addEventListener("focus", function () { if (!page && field.value.trim() && panel.hidden) run(); });
  field.addEventListener("keydown", function (event) {
    if (event.isComposing) return;
    var rows = options();
    if (event.key === "ArrowDown" && rows.length) choose((chosen + 1) % rows.length);
    else if (event.key === "ArrowUp" && rows.length) choose(chosen <= 0 ? rows.length - 1 : chosen - 1);
    else if (event.key === "Escape") {
      if (!panel.hidden) hide(); else if (field.value && !page) field.value = ""; else field.blur();
    } else if (event.key === "Enter") {
      clearTimeout(waiting);
      if (event.ctrlKey || event.metaKey) location.href = whole();
      else if (chosen >= 0 && rows[chosen]) rows[chosen].click();
      else if (page) { address(true); run(); }
      else run().then(function () {
        var first = options()[0];
        if (first && !panel.hidden) first.click(); else if (!read(field.value).wrong) location.href = whole();
      });
    } else return;
    event.preventDefault();
  });
  $(".search").addEventListener("submit", function (event) { event.preventDefault(); });
  document.addEventListener("click", function (event) {
    if (!panel.hidden && !event.target.closest(".search")) hide();
  });
  $(".search").addEventListener("focusout", function (event) {
    if (!page && event.relatedTarget && !event.relatedTarget.closest(".search")) hide();
  });

  if (page) {
    var fromAddress = function () { field.value = new URLSearchParams(location.search).get("q") || ""; };
    addEventListener("popstate", function () { fromAddress(); run(); });
    fromAddress();
    if (field.value.trim()) { address(false); run(); }
    field.focus();
  }
})();
