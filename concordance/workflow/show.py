"""Single pages on request: the page of a file or folder, or the part about a name, without writing a book.

In: a path or a name. Out: its page as Markdown, without the source, which the reader already has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from concordance.base import plugins
from concordance.base.blocks import Block, Heading, Mono, Page, Ref, To
from concordance.base.errors import UserError
from concordance.base.model import File, Kind
from concordance.facts.read import SymbolPlace
from concordance.query.answers import Row
from concordance.query.descriptions.overloads import implementation
from concordance.query.index.file_model import model_of
from concordance.query.index.ledger import outline
from concordance.query.index.repository import Index
from concordance.query.names.display_names import display_name
from concordance.query.names.resolver import resolve_subject
from concordance.query.pages import PAGES
from concordance.query.search.entities import ENTITIES
from concordance.query.sections.structure import PlainFiles, Structure
from concordance.render.addresses import Addresses
from concordance.render.formats import markdown
from concordance.workflow.store_location import store_path

_MAX_DEFINITIONS = 20  # most definitions of one name that are shown


def show_pages(root: str, index: Index, subject: str) -> list[Row]:
    """Return the requested pages with links as in the book that is in the store's folder."""
    return render_pages(index, subject, os.path.join(store_path(root), "book"))


def render_pages(index: Index, subject: str, out: str) -> list[Row]:
    """Return the requested pages: path, address and text of each."""
    before, index.book = index.book, replace(index.book, source=False)
    try:
        addresses = Addresses([row[1] for row in index.file_rows], index.root, out, PlainFiles(index))
        rows: list[Row] = []
        for page in _requested_pages(index, subject, addresses):
            text = markdown.render(page, addresses).text
            rows.append({"path": page.ref.path, "page": addresses.page(page.ref), "text": text})
        return rows
    finally:
        index.book = before


def _requested_pages(index: Index, subject: str, addresses: Addresses) -> Iterator[Page]:
    folder = os.path.normpath(subject).replace(os.sep, "/").removeprefix("./").rstrip("/")
    folder = "" if folder == "." else folder
    if folder in addresses.folders:
        yield from plugins.load(PAGES, "folder").pages(index, folder)
        return
    target = resolve_subject(index, subject)
    if isinstance(target, File):
        yield next(plugins.load(PAGES, "file").pages(index, target.path))
        return
    if not target:
        raise UserError(f"nothing is named {subject}", "`concord search` finds similar names")
    tables: set[str] = set()
    for kind in plugins.load_all(ENTITIES):
        for named, _, path, _ in kind.titled(index, subject):
            if any(place.kind == Kind.KEY and place.path == path for place in target):  # a row of its table
                tables.add(path)
                page_kind = plugins.load(PAGES, kind.__name__.rpartition(".")[2])  # named after what it is about
                yield from page_kind.pages(index, named)
    shown = [place for place in target if place.kind != Kind.KEY or place.path not in tables]
    for place in _implementations_first(index, shown)[:_MAX_DEFINITIONS]:
        yield _definition(index, place)


def _implementations_first(index: Index, places: Sequence[SymbolPlace]) -> list[SymbolPlace]:
    """Return definitions with the implementation of a function before its signatures with `@overload`."""
    by_id = {place.id: place for place in places}
    ordered: dict[int, SymbolPlace] = {}
    for place in places:
        if place.place >= 0:
            spoken = implementation(outline(index, place.path).symbols, place.place)
            identity = index.facts.ids(place.path).id_at(spoken)
            if identity in by_id:
                ordered.setdefault(identity, by_id[identity])
        ordered.setdefault(place.id, place)
    return list(ordered.values())


def _definition(index: Index, place: SymbolPlace) -> Page:
    model = model_of(index, place.path)
    blocks: list[Block] = [Heading(2, [Ref(To.FILE, place.path, "", place.path)])]
    blocks += Structure(model).of(place.place)
    return Page(Ref(To.FILE, place.path), [Mono(display_name(index, place))], blocks)
