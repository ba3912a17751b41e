"""Search data for a site without a server: small files, by the beginnings of names, that a page loads while you type.

In: an index and the addresses of the site. Out: addresses and contents of scripts that hold data (`search/...`). A
static page cannot load an index of all names at once, since it would be too large. So names are split into files by
prefix: a name is filed under each of its parts (`BatchNorm` under `batchnorm` and `norm`) and under its initials. The
file of a prefix holds its best names up to a size limit; the others go to the files of longer prefixes. Typing `linear`
loads `l`, `li` and so on, as far as such files exist, and finds every name that begins with it; typing `li` finds the
best names and how many there are. Documents, folders and pages such as those of operators are filed in the same way,
by the words of their titles; documents also by those of their first paragraphs.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.blocks import Ref, To
from concordance.base.model import KINDS, Category, Kind
from concordance.collect.own_output import DATA_SCRIPT
from concordance.facts.updates.delta import Aspect
from concordance.query.answers import split_key
from concordance.query.index.definition_pages import has_page
from concordance.query.index.repository import Index
from concordance.query.names.display_names import public_name
from concordance.query.pages import PAGES
from concordance.query.search.entities import ENTITIES
from concordance.query.search.request import FOLDER as FOLDER_KIND
from concordance.render.addresses import anchor
from concordance.render.site.addresses import SiteAddresses

FOLDER = "search"
PAGE_KINDS = tuple(kind.TO for kind in plugins.load_all(ENTITIES))
_PART = re.compile(r"[A-Z][A-Z0-9]*(?![a-z])|[A-Z]?[a-z0-9]+|[^\x00-\x7f]+")
_SIZE = 24_000  # approximate bytes of a file: each letter typed loads one more, and 300 kB must do for a first result
_DEEPEST = 16  # longest prefix, in letters
_ROWS = 4  # definitions listed for a name; its keyword page lists all
_WORDS = frozenset((Kind.KEY, Kind.HEADING, Kind.LABEL))
_WEIGHT = {
    Kind.CLASS: 12, Kind.STRUCT: 12, Kind.INTERFACE: 12, Kind.MODULE: 10, Kind.FUNCTION: 10, Kind.ENUM: 9,
    Kind.MACRO: 7, Kind.TYPE: 7, Kind.METHOD: 6, Kind.PROPERTY: 5, Kind.CONSTANT: 5, Kind.OPERATOR: 5, Kind.TARGET: 4,
}  # fmt: skip
_PURPOSE = {Category.SOURCE: 12, Category.BUILD: 6, Category.CONFIGURATION: 6, Category.DOCUMENTATION: 6}
FILE, CONCEPT, DOCUMENT = "file", "keyword", "document"
_MAX_SUMMARY = 240  # letters of a document's first paragraph
_WORD = re.compile(r"[^\W_]{2,}")
_KIND_NAMES = [*(kind.value for kind in KINDS), FILE, CONCEPT, DOCUMENT, FOLDER_KIND, *PAGE_KINDS]
_KIND_AT = {name: place for place, name in enumerate(_KIND_NAMES)}


class NameTargetRow(NamedTuple):
    """A definition or file that a name refers to."""

    kind: int  # index in the list of kinds
    path: str
    line: int
    scope: str  # the name of the scope it is defined in; for a document, its first paragraph
    page: str  # the anchor that names its own page, "" if it has none; if it is not a symbol, the address of its page


class Name(NamedTuple):
    """A search entry: a name and its targets, best first."""

    name: str
    score: int
    total: int  # number of definitions
    rows: Sequence[NameTargetRow]


def shards(index: Index, addresses: SiteAddresses) -> Iterator[tuple[str, str]]:
    """Yield the address and text of every search file."""
    alphabet = index.alphabet.shards
    parts = {part: addresses.page(Ref(To.LETTERS, part)) for part in alphabet.parts}
    page_of = {name: page for part, page in parts.items() for name in alphabet.names(part)}
    counts: dict[str, dict[str, int | list[int]]] = {}
    writer = _Writer(addresses, page_of)
    code, words = _of_symbols(index)
    concepts = [*words, *_of_concepts(index, page_of, {name.name for name in (*code, *words)})]
    for group, names in (("n", code), ("f", _of_files(index)), ("k", concepts), ("p", _of_pages(index, addresses))):
        tries = _Node("", [(key, name) for name in names for key in _keys_of(group, name)])
        counts[group] = {}
        for node in tries.all():
            if node.prefix:
                counts[group][node.prefix] = [node.count, len(node.files)] if len(node.files) > 1 else node.count
                for place, inside in enumerate(node.files):
                    yield f"{FOLDER}/{_file(group, node.prefix, place)}", writer.text(f"{group}:{node.prefix}", inside)
    pages = [CONCEPT, DOCUMENT, FOLDER_KIND, *PAGE_KINDS]
    yield f"{FOLDER}/names.js", script("names", {"kinds": _KIND_NAMES, "pages": pages, "groups": counts})


def script(name: str, data: object) -> str:
    """Return data as a script that passes it to the page: a page opened from disk can load nothing else."""
    text = json.dumps([name, data], ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return f"{DATA_SCRIPT}{text[1:-1]});\n"


def _search_text(group: str, name: Name) -> str:
    """Return the text by which an entry is found: for a file, its name without the extension."""
    return name.name.rpartition(".")[0] or name.name if group == "f" else name.name


def _keys_of(group: str, name: Name) -> set[str]:
    """Return the prefixes by which an entry is found; a page by each word of its title and its first paragraph."""
    if group != "p":
        return keys(_search_text(group, name))
    words = _WORD.findall(f"{name.name} {name.rows[0].scope}")
    return {key for word in words for key in keys(word)} | keys(name.name)


def keys(name: str) -> set[str]:
    """Return the prefixes by which a name is found: from each of its parts on, and its initials."""
    parts = [part.lower() for part in _PART.findall(name)] or [name.lower()]
    prefixes = {"".join(parts[place:])[:_DEEPEST] for place in range(len(parts))}
    if len(parts) > 1:
        prefixes.add("".join(part[0] for part in parts)[:_DEEPEST])
    return prefixes - {""}


# --- entries


def _of_symbols(index: Index) -> tuple[list[Name], list[Name]]:
    """Return the names of code, and those of documents and data."""
    used = index.census.used_by
    lines = _Lines(index)
    code: list[Name] = []
    words: list[Name] = []
    for name, ids in index.facts.ids_by_name():
        scores = {identity: _score(index, identity, used[identity]) for identity in ids}
        best = sorted(ids, key=lambda identity: (-scores[identity], *index.order_of(identity)))
        rows = []
        for one in best[:_ROWS]:
            path, key = index.path_of(one), index.keys[one]
            scope = public_name(index, path, key).rpartition(".")[0] or ".".join(split_key(key)[:-1])
            page = anchor(key) if has_page(index, one) else ""
            rows.append(NameTargetRow(index.kinds[one], path, lines.of(one, path), scope, page))
        entry = Name(name, scores[best[0]], len(ids), rows)
        (words if all(KINDS[index.kinds[identity]] in _WORDS for identity in best) else code).append(entry)
    return code, words


def _score(index: Index, identity: int, used: int) -> int:
    category = index.category_of(index.path_of(identity))
    base = _WEIGHT.get(KINDS[index.kinds[identity]], 2) + _PURPOSE.get(Category(category), 0)
    return base + int(4 * math.log2(1 + used)) - (6 if index.declared[identity] else 0)


class _Lines:
    """Looks up the lines of definitions; reads each file once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._known: dict[str, dict[int, int]] = {}

    def of(self, identity: int, path: str) -> int:
        if path not in self._known:
            self._known[path] = {place.id: place.line for place in self._index.facts.symbols_in(path)}
        return self._known[path].get(identity, 1)


def _of_files(index: Index) -> Iterator[Name]:
    by_name: dict[str, list[str]] = {}
    for row in index.file_rows:
        by_name.setdefault(row[1].rpartition("/")[2], []).append(row[1])
    for name, paths in by_name.items():
        best = sorted(paths, key=lambda path: (-_file_score(index, path), path))
        for path in best:  # one entry each: there are few files, and a name alone does not identify one
            yield Name(name, _file_score(index, path), 1, [NameTargetRow(_KIND_AT[FILE], path, 0, "", "")])


def _file_score(index: Index, path: str) -> int:
    return _PURPOSE.get(Category(index.category_of(path)), 0) + int(20 * index.ranks.get(path, 0.0)) - path.count("/")


def _of_concepts(index: Index, page_of: dict[str, str], names: set[str]) -> Iterator[Name]:
    """Yield words and phrases that distinguish files, without those that are also names of symbols."""
    files: Counter[str] = Counter()
    for terms in index.census.terms.values():
        files.update({term.text for term in terms if term.kind != "name"})
    for text, count in files.items():
        if text in page_of and text not in names:
            row = NameTargetRow(_KIND_AT[CONCEPT], "", count, "", page_of[text])
            yield Name(text, int(4 * math.log2(1 + count)), 1, [row])


def _of_pages(index: Index, addresses: SiteAddresses) -> Iterator[Name]:
    """Yield documents by title, folders, and what has a page of its own, such as an operator."""
    folders: set[str] = set()
    for _, path, _, category in index.file_rows:
        above = path.rpartition("/")[0]
        while above and above not in folders:
            folders.add(above)
            above = above.rpartition("/")[0]
        if category == Category.DOCUMENTATION:
            index.reads.note(Aspect.TEXT, path)
            outline = index.facts.outline(path)
            title = next((symbol.name for symbol in outline.symbols if symbol.kind == Kind.HEADING), "")
            summary = outline.doc[:_MAX_SUMMARY]
            if title or summary:
                address = addresses.page(Ref(To.FILE, path))
                row = NameTargetRow(_KIND_AT[DOCUMENT], path, 1, summary, address)
                yield Name(title or path.rpartition("/")[2], _file_score(index, path), 1, [row])
    for folder in sorted(folders):
        row = NameTargetRow(_KIND_AT[FOLDER_KIND], f"{folder}/", 1, "", addresses.page(Ref(To.FOLDER, folder)))
        yield Name(folder.rpartition("/")[2], 8 - folder.count("/"), 1, [row])
    for kind in (kind for kind in plugins.load_all(PAGES) if kind.TO in PAGE_KINDS):
        for subject in filter(None, kind.subjects(index)):
            title = kind.label(index, subject) if hasattr(kind, "label") else subject
            row = NameTargetRow(_KIND_AT[kind.TO], "", 1, "", addresses.page(Ref(kind.TO, subject)))
            yield Name(title, 10, 1, [row])


# --- files


class _Node:
    """All names with a prefix. It keeps the best ones itself; longer prefixes that many of the others share become its
    children, and the rest go into further files."""

    def __init__(self, prefix: str, entries: list[tuple[str, Name]]) -> None:
        self.prefix = prefix
        entries.sort(key=lambda entry: (-entry[1].score, len(entry[1].name), entry[1].name))
        names = {id(name): name for _, name in entries}
        self.count = len(names)
        self.files: list[list[Name]] = [[]]
        self.children: list[_Node] = []
        left = entries if not prefix else self._choose(entries, sum(map(_length, names.values())) <= 1.5 * _SIZE)
        following: dict[str, list[tuple[str, Name]]] = {}
        for key, name in left:
            following.setdefault(key[: len(prefix) + 1], []).append((key, name))
        for start, inside in sorted(following.items()):
            is_child = len(start) > len(prefix) and sum(_length(name) for _, name in inside) > _SIZE // 8
            if not prefix or (is_child and len(prefix) < _DEEPEST):
                self.children.append(_Node(start, inside))
                del following[start]
        self._put({id(name): name for inside in following.values() for _, name in inside})

    def _choose(self, entries: list[tuple[str, Name]], whole: bool) -> list[tuple[str, Name]]:
        """Choose this node's own names and return the others. A name typed in full is always found here."""
        own: dict[int, Name] = {}
        left, room = [], _SIZE
        for key, name in entries:
            if whole or room > 0 or len(key) == len(self.prefix) == len(_compact(name.name)):
                room -= _length(name) if id(name) not in own else 0
                own[id(name)] = name
            else:
                left.append((key, name))
        self.files[0] = list(own.values())
        return [entry for entry in left if id(entry[1]) not in own]

    def _put(self, names: dict[int, Name]) -> None:
        room = 0
        for name in sorted(names.values(), key=lambda name: (-name.score, len(name.name), name.name)):
            if room <= 0:
                self.files.append([])
                room = _SIZE
            self.files[-1].append(name)
            room -= _length(name)

    def all(self) -> Iterator[_Node]:
        """Yield this node and all below it."""
        yield self
        for child in self.children:
            yield from child.all()


def _compact(name: str) -> str:
    return "".join(_PART.findall(name)) or name


def _length(name: Name) -> int:
    return len(name.name) + 16 + sum(16 + len(row.scope) + len(row.path) // 2 + len(row.page) for row in name.rows)


def _file(group: str, prefix: str, place: int) -> str:
    """Return a file's name: ASCII letters and digits as they are, other characters as code points."""
    plain = "".join(c if c.isascii() and c.isalnum() else f"~{ord(c):x}" for c in prefix)
    return f"{group}-{plain}+{place}.js" if place else f"{group}-{plain}.js"


class _Writer:
    def __init__(self, addresses: SiteAddresses, page_of: dict[str, str]) -> None:
        self._addresses, self._page_of = addresses, page_of

    def text(self, name: str, entries: Iterable[Name]) -> str:
        """Return the text of one file: the paths that it needs, then `[name, score, rest, row ...]`, where a row is
        `[kind, path, line, scope, page]`; `rest` is the total and the keyword page if a name has more definitions than
        rows, else 0."""
        paths: dict[str, int] = {}
        rows = []
        for entry in sorted(entries, key=lambda entry: (-entry.score, entry.name)):
            rest = [entry.total, self._page_of.get(entry.name, "")] if entry.total > len(entry.rows) else 0
            rows.append([entry.name, entry.score, rest, *(self._row(row, paths) for row in entry.rows)])
        stems = {path: path if path.endswith("/") else self._addresses.stem(path) for path in paths}
        listed = [path if stem == path else [path, stem] for path, stem in stems.items()]
        return script(name, {"p": listed, "e": rows})

    def _row(self, row: NameTargetRow, paths: dict[str, int]) -> list[object]:
        at = paths.setdefault(row.path, len(paths)) if row.path else -1
        cells: list[object] = [row.kind, at, row.line, row.scope, row.page]
        while not cells[-1] and len(cells) > 2:  # empty values at the end are left out
            cells.pop()
        return cells
