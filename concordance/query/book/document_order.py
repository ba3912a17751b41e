"""The documents of a chapter in the order in which their authors arranged them.

In: an index and a chapter. Out: a nested list of documents, with their titles: by the toctrees of Sphinx, and by the
`nav` of MkDocs. A document that neither of them names is left to the other sections of the chapter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from concordance.base.blocks import Block, Item, Items, Piece, Ref, To
from concordance.base.model import Kind
from concordance.extract.registry import is_prose
from concordance.query.book.chapters import Chapter
from concordance.query.index.ledger import ledger, outline
from concordance.query.index.repository import Index
from concordance.query.names.references import import_target

_TOCTREE = "toctree"
_SETTINGS = ("mkdocs.yml", "mkdocs.yaml")
_MAX_ENTRIES = 400  # documents that are listed
_MAX_DEPTH = 5
_NAV = re.compile(r"^nav:[ \t]*\n((?:[ \t]*(?:-|#).*\n|[ \t]+\S.*\n|[ \t]*\n)*)", re.M)
_ENTRY = re.compile(
    r"(?P<margin>[ \t]*)- +(?:(?P<title>\"[^\"]*\"|'[^']*'|[^:#\n]+?)\s*:(?:[ \t]+|$))?(?P<path>\S.*?)?[ \t]*$"
)
_DOCS = re.compile(r"^docs_dir:[ \t]*[\"']?([^\s\"'#]+)", re.M)


class Entry(NamedTuple):
    """A document or a heading in the order, with what is below it."""

    path: str  # "" for a heading
    title: str
    below: list[Entry]


def documents_in_order(index: Index, chapter: Chapter) -> list[Block]:
    """Return the documents of a chapter as a nested list; nothing if nobody arranged them."""
    entries = [*_by_toctrees(index, chapter), *_by_settings(index, chapter)]
    left = [_MAX_ENTRIES]
    return [_list(index, entries, left, 0)] if entries else []


def _list(index: Index, entries: list[Entry], left: list[int], depth: int) -> Items:
    items = []
    for entry in entries:
        if left[0] <= 0:
            break
        left[0] -= 1
        title = entry.title or _title(index, entry.path)
        shown: list[Piece] = [Ref(To.FILE, entry.path, "", title, False)] if entry.path else [title]
        below = [_list(index, entry.below, left, depth + 1)] if entry.below and depth < _MAX_DEPTH else []
        items.append(Item(shown, below))
    return Items(items)


def _title(index: Index, path: str) -> str:
    heads = (symbol.name for symbol in outline(index, path).symbols if symbol.kind == Kind.HEADING)
    return next(heads, "") or path.rpartition("/")[2]


# --- Sphinx


def _by_toctrees(index: Index, chapter: Chapter) -> list[Entry]:
    """Return the documents that no toctree of the chapter names and that have one, with all that follows from them."""
    below: dict[str, list[str]] = {}
    for path in chapter.files:
        if is_prose(index.language_of(path)):
            rows = index.open_file(path).import_targets
            named = [import_target(index, target, 0) for row, target in rows if row.form == _TOCTREE]
            if any(named):
                below[path] = [other for other in dict.fromkeys(named) if other]
    inside = {other for others in below.values() for other in others}
    seen: set[str] = set()

    def entry(path: str) -> Entry:
        seen.add(path)
        return Entry(path, "", [entry(other) for other in below.get(path, ()) if other not in seen])

    shallow_first = sorted(below, key=lambda path: (path.count("/"), path))
    first = [path for path in shallow_first if path not in inside] or shallow_first[:1]  # all may name one another
    return [entry(path) for path in first if path not in seen]


# --- MkDocs


def _by_settings(index: Index, chapter: Chapter) -> list[Entry]:
    """Return the documents in the order of the `nav` of each settings file in the chapter."""
    entries: list[Entry] = []
    for path in chapter.files:
        folder, _, name = path.rpartition("/")
        if name in _SETTINGS:
            text = index.runners.text(path, 200_000).decode("utf-8", "replace")
            nav, docs = _NAV.search(text), _DOCS.search(text)
            docs_folder = "/".join(filter(None, (folder, docs[1] if docs else "docs")))
            entries += _nested(list(_nav_lines(index, nav[1], docs_folder))) if nav else []
    return entries


def _nav_lines(index: Index, nav: str, docs_folder: str) -> Iterator[tuple[int, str, str]]:
    """Yield the indentation, title and path of each entry; a path that does not exist is left out."""
    for line in nav.split("\n"):
        match = _ENTRY.match(line)
        if match is None:
            continue
        title, target = (match["title"] or "").strip("\"' "), (match["path"] or "").strip("\"' ")
        path = f"{docs_folder}/{target}" if target else ""
        if path and path not in ledger(index).files:
            path = ""
        if path or not target:
            yield len(match["margin"].expandtabs(4)), title, path


def _nested(lines: list[tuple[int, str, str]]) -> list[Entry]:
    """Return lines as a tree, by their indentation."""
    entries: list[Entry] = []
    open_: list[tuple[int, list[Entry]]] = [(-1, entries)]
    for margin, title, path in lines:
        while open_[-1][0] >= margin:
            open_.pop()
        entry = Entry(path, title, [])
        if path or title:
            open_[-1][1].append(entry)
        open_.append((margin, entry.below if path or title else open_[-1][1]))  # a group without a name is not shown
    return entries
