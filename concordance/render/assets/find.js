/* Search on a static site: names, titles and first paragraphs by prefix, from the files that `render/site/search_files.py` writes. */
(function () {
  "use strict";
  var site = window.concordance, PART = /[A-Z][A-Z0-9]*(?![a-z])|[A-Z]?[a-z0-9]+|[^\x00-\x7f]+/g;
  var DEEPEST = 16, MOST_FILES = 24;
  var TYPES = ["class", "struct", "union", "enum", "interface", "type", "module", "namespace"];
  var RUN = ["function", "method", "macro", "property", "op"];
  var HEADING = /\.(?![\d\s.])/g; // between headings, but not in "Version 2.0"
  var COMMON = /^(?:an?|and|are|be|by|can|do|does|for|how|i|in|is|it|of|on|or|the|to|what|when|where|which|why|with)$/i;
  var directory = null;

  function parts(name) { return name.match(PART) || [name]; }
  function compact(name) { return parts(name).join("").toLowerCase(); }
  function file(group, prefix, place) {
    var plain = Array.from(prefix).map(function (c) { return /[a-z0-9]/.test(c) ? c : "~" + c.codePointAt(0).toString(16); }).join("");
    return site.base + "search/" + group + "-" + plain + (place ? "+" + place : "") + ".js";
  }
  function letters(text, count) { return Array.from(text).slice(0, count).join(""); }

  /* The nodes on the path to a word, the deepest last. */
  function way(group, word) {
    var known = directory.groups[group] || {}, found = [];
    for (var length = 1; length <= Math.min(Array.from(word).length, DEEPEST); length++) {
      var prefix = letters(word, length);
      if (!(prefix in known)) break;
      found.push({ group: group, prefix: prefix, count: [].concat(known[prefix])[0], files: [].concat(known[prefix])[1] || 1 });
    }
    return found;
  }

  function entries(shard, group) {
    return (shard ? shard.e : []).map(function (row) { return { group: group, row: row, p: shard.p }; });
  }
  function load(group, prefix, place) {
    return site.load(file(group, prefix, place)).then(function (shard) { return entries(shard, group); });
  }

  /* --- how well a name matches a word; 0: not at all */

  function fit(name, word, plain) {
    if (name === plain) return 100;
    var own = parts(name), low = own.map(function (part) { return part.toLowerCase(); }), whole = low.join("");
    if (whole === word) return 94;
    if (whole.startsWith(word)) return 74;
    var initials = low.map(function (part) { return part[0]; }).join("");
    if (low.length > 1 && initials === word) return 80;
    for (var place = 1, rest = whole; place < low.length; place++) {
      rest = rest.slice(low[place - 1].length);
      if (rest === word) return 60;
      if (rest.startsWith(word)) return 52;
    }
    if (word.length > 1 && initials.startsWith(word)) return 46;
    return 0;
  }

  /* How well a page matches: by its title, or by a word of its first paragraph. */
  function fitPage(row, word, plain) {
    var named = fit(row[0], word, plain);
    if (named) return named;
    var low = plain.toLowerCase(), starts = function (text) {
      return (text.toLowerCase().match(/[a-z0-9\u0080-\uffff]+/g) || []).some(function (part) { return part.startsWith(low); });
    };
    return starts(row[0]) ? 56 : starts(row[3][3] || "") ? 34 : 0;
  }

  /* True if two words differ by one inserted, missing or changed letter, or by two that are swapped. */
  function near(one, other) {
    if (Math.abs(one.length - other.length) > 1) return false;
    var at = 0, end = 0;
    while (at < one.length && one[at] === other[at]) at++;
    while (end < Math.min(one.length, other.length) - at && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
    var a = one.slice(at, one.length - end), b = other.slice(at, other.length - end);
    return (a.length <= 1 && b.length <= 1) || (a.length === 2 && b.length === 2 && a[0] === b[1] && a[1] === b[0]);
  }
  function fitRoughly(name, word) {
    var whole = compact(name);
    if (word.length < 4) return 0;
    if (near(whole, word)) return 30;
    return near(whole.slice(0, word.length), word) || near(whole.slice(0, word.length + 1), word) || near(whole.slice(0, word.length - 1), word) ? 20 : 0;
  }

  function isKind(kind, asked) {
    if (!asked) return true;
    if (asked === "class") return TYPES.includes(kind);
    if (asked === "fn") return RUN.includes(kind);
    if (asked === "file") return kind === "file" || kind === "folder" || kind === "document";
    return asked === kind || (asked === "kw" && kind !== "file");
  }

  function rowsOf(entry, asked, others, quality) {
    var row = entry.row, found = [];
    row.slice(3).forEach(function (one, place) {
      var kind = directory.kinds[one[0]], where = entry.p[one[1]], path = Array.isArray(where) ? where[0] : where || "";
      var stem = Array.isArray(where) ? where[1] : where, home = one[3] || "", said = (path + " " + home + " " + row[0]).toLowerCase();
      if (!isKind(kind, asked.kind) || (asked.folder && !(path + "/").startsWith(asked.folder + "/"))) return;
      var have = others.filter(function (word) { return said.includes(word.toLowerCase()); }).length;
      if (have < (asked.loosely ? Math.ceil(others.length / 2) : others.length)) return;
      var href = kind === "file" ? site.href(stem + "_docs.html")
        : directory.pages.includes(kind) ? site.href(one[4])
        : one[4] ? site.href(stem + "_defs/" + one[4] + ".html") : site.href(stem + "_source.html") + "#L" + one[2];
      var isPage = entry.group === "p";
      found.push({
        name: row[0], home: home && !isPage ? (kind === "heading" ? home.replace(HEADING, " › ") + " › " : home + ".") : "", kind: kind, path: path, line: isPage || kind === "keyword" ? 0 : one[2], href: href, text: isPage ? home : "",
        where: kind === "keyword" ? "in " + one[2].toLocaleString("en") + (one[2] === 1 ? " file" : " files") : "",
        score: quality * 10 + have * 100 + row[1] * 4 - row[0].length - place * 40 - (kind === "file" ? 60 : 0)
      });
    });
    if (row[2] && found.length === row.length - 3 && found.length) {
      var more = row[2][0] - found.length;
      found.push({ name: row[0], home: "", kind: "more", path: "", line: 0, href: site.href(row[2][1]), where: more.toLocaleString("en") + " more definitions of this name", text: "", score: found[found.length - 1].score - 1 });
    }
    return found;
  }

  /* --- a query */

  function words(asked) {
    var text = asked.text, all = text.split(" "), telling = all.filter(function (word) { return !COMMON.test(word); });
    if (telling.length) all = telling;
    var main = all.reduce(function (one, other) { return other.length > one.length ? other : one; }, "");
    var pieces = main.split(/::|[./#]/).filter(Boolean);
    if (/\.\w{1,4}$/.test(main) && (main.includes("/") || asked.kind === "file")) pieces = main.split("/").filter(Boolean);
    var last = pieces.pop() || main;
    return { plain: last, word: compact(last.replace(/\.\w{1,4}$/, function (end) { return pieces.length && main.includes("/") ? "" : end; })), others: pieces.concat(all.filter(function (word) { return word !== main; })) };
  }

  function collect(found, seen, list, asked, said, measure) {
    list.forEach(function (entry) {
      var name = entry.row[0], key = entry.group + name + (entry.group === "f" || entry.group === "p" ? entry.row[3][4] || entry.p[entry.row[3][1]] : "");
      if (seen.has(key)) return;
      var tested = entry.group === "f" && !said.plain.includes(".") ? name.replace(/(.)\.[^.]*$/, "$1") : name;
      var quality = asked.exact ? (name === asked.text ? 100 : 0)
        : entry.group === "p" && measure === fit ? fitPage(entry.row, said.word, said.plain) : measure(tested, said.word, said.plain);
      if (!quality) return;
      seen.add(key);
      rowsOf(entry, asked, asked.exact ? [] : said.others, quality).forEach(function (row) { found.push(row); });
    });
  }

  function groups(asked) { return asked.kind === "file" ? ["f", "p"] : asked.kind === "kw" ? ["k", "n"] : asked.kind ? ["n"] : ["n", "f", "p"]; }

  async function find(asked, most) {
    directory = directory || await site.load(site.base + "search/names.js");
    if (!directory) return { rows: [], note: "The list of names could not be loaded." };
    var said = asked.exact ? { plain: asked.text, word: compact(asked.text), others: [] } : words(asked);
    var state = { found: [], seen: new Set(), total: 0, left: [] };
    await among(groups(asked), asked, said, state, most);
    if (!asked.kind && state.found.length < most) await among(["k"], asked, said, state, most);
    if (!state.found.length && said.others.length > 1) {
      state.seen.clear();
      await among(groups(asked).concat(asked.kind ? [] : ["k"]), Object.assign({ loosely: true }, asked), said, state, most);
    }
    var found = state.found, rough = !found.length && !asked.exact;
    if (rough) await roughly(found, state.seen, asked, said);
    found.sort(function (one, other) { return other.score - one.score || (one.path < other.path ? -1 : 1); });
    var note = rough && found.length ? "Showing results for " + found[0].name : "";
    if (!found.length) note = state.left.length ? "Nothing found among the best matches; type more letters of the name."
      : "Nothing found. This copy of the site knows names, paths, and the titles and first paragraphs of documents; to search all text, run concord serve.";
    return { rows: found.slice(0, most), total: Math.max(state.total, found.length), note: note };
  }

  /* Searches some groups: first the files on the path to the word, then, while there are too few results, those below. */
  async function among(names, asked, said, state, most) {
    var ways = names.map(function (group) { return way(group, said.word); }), left = [], loaded = 0;
    async function take(list) {
      (await Promise.all(list.map(function (one) { return load(one[0], one[1], one[2]); })))
        .forEach(function (rows) { collect(state.found, state.seen, rows, asked, said, fit); });
    }
    await take([].concat.apply([], ways).map(function (node) { return [node.group, node.prefix, 0]; }));
    ways.forEach(function (path) {
      var deepest = path[path.length - 1];
      for (var place = 1; deepest && place < deepest.files; place++) left.push([deepest.group, deepest.prefix, place]);
      if (deepest && Array.from(said.word).length <= Array.from(deepest.prefix).length && !asked.kind && !asked.folder && !said.others.length) state.total += deepest.count;
      else if (deepest) below(deepest, said.word).forEach(function (node) { left.push(node); });
    });
    while (left.length && state.found.length < most && loaded < MOST_FILES) {
      var batch = left.splice(0, 4);
      loaded += batch.length;
      await take(batch);
    }
    state.left = state.left.concat(left);
  }

  /* The nodes below one, for queries that filter out most of what is found. */
  function below(node, word) {
    return Object.keys(directory.groups[node.group]).filter(function (prefix) {
      return prefix.startsWith(node.prefix) && prefix !== node.prefix && prefix.startsWith(word);
    }).sort(function (one, other) { return one.length - other.length; }).slice(0, MOST_FILES).map(function (prefix) { return [node.group, prefix, 0]; });
  }

  /* Spelling mistakes: tries the word with two letters swapped, with one left out, and what else is similar. */
  async function roughly(found, seen, asked, said) {
    var word = said.word, tries = new Set([word]);
    for (var at = 0; at < Math.min(word.length, DEEPEST); at++) {
      tries.add(word.slice(0, at) + word.slice(at + 1));
      if (at + 1 < word.length) tries.add(word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2));
    }
    var nodes = new Map();
    tries.forEach(function (one) {
      ["n", "f"].forEach(function (group) {
        way(group, one).slice(-2).forEach(function (node) { nodes.set(group + node.prefix, node); });
      });
    });
    way("n", word).concat(way("f", word)).forEach(function (node) { nodes.set(node.group + node.prefix, node); });
    var list = Array.from(nodes.values()).sort(function (one, other) { return other.prefix.length - one.prefix.length; }).slice(0, MOST_FILES);
    (await Promise.all(list.map(function (node) { return load(node.group, node.prefix, 0); })))
      .forEach(function (rows) { collect(found, seen, rows, asked, said, fitRoughly); });
  }

  site.find = find;
})();
