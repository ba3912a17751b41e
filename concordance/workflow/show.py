"""Single pages on request: the page of a file or folder, or the part about a name, without writing a book.

In: a path or a name. Out: its page as Markdown, without the source, which the reader already has.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace

from concordance.base import plugins
from concordance.base.blocks import Block, Heading, Mono, Page, Ref, To
from concordance.base.config import Config
from concordance.base.errors import UserError
from concordance.base.model import File
from concordance.facts.read import SymbolPlace
from concordance.query.answers import Row
from concordance.query.diff.report import all_rows, build_report
from concordance.query.diff.report import page as page_of
from concordance.query.index.file_model import model_of
from concordance.query.index.repository import Index
from concordance.query.names.display_names import display_name
from concordance.query.names.resolver import resolve_subject
from concordance.query.pages import PAGES
from concordance.query.sections.structure import Structure, plain_files
from concordance.render.addresses import Addresses
from concordance.render.formats import markdown
from concordance.workflow import diff

_MOST = 20  # most definitions of one name that are shown


def render_pages(index: Index, asked: str, out: str) -> list[Row]:
    """Return the requested pages: path, address and text of each."""
    index.book = replace(index.book, source=False)
    addresses = Addresses([row[1] for row in index.bases], index.root, out, plain_files(index))
    rows: list[Row] = []
    for page in _pages(index, asked, addresses):
        text = markdown.render(page, addresses).text
        rows.append({"path": page.ref.path, "page": addresses.page(page.ref), "text": text})
    return rows


def _pages(index: Index, asked: str, addresses: Addresses) -> Iterator[Page]:
    folder = os.path.normpath(asked).replace(os.sep, "/").removeprefix("./").rstrip("/")
    folder = "" if folder == "." else folder
    if folder in addresses.folders:
        yield from plugins.load(PAGES, "folder").pages(index, folder)
        return
    meant = resolve_subject(index, asked)
    if isinstance(meant, File):
        yield next(plugins.load(PAGES, "file").pages(index, meant.path))
        return
    if not meant:
        raise UserError(f"nothing is named {asked}", "`concord search` finds similar names")
    for place in meant[:_MOST]:
        yield _definition(index, place)


def _definition(index: Index, place: SymbolPlace) -> Page:
    one = model_of(index, place.path)
    blocks: list[Block] = [Heading(2, [Ref(To.FILE, place.path, "", place.path)])]
    blocks += Structure(one).of(place.place)
    return Page(Ref(To.FILE, place.path), [Mono(display_name(index, place))], blocks)


def compare_revisions(
    index: Index, revisions: tuple[str, ...], out: str, config: Config, progress: Callable[[int, int], None]
) -> tuple[list[Row], str]:
    """Return what changed between two revisions, as rows and as a page."""
    with diff.compared(index, revisions, config, progress) as comparison:
        answer = build_report(index, comparison)
    addresses = Addresses(answer.comparison.sides[1].entries, index.root, out)
    pages = {ref: addresses.page(ref) for ref, _ in answer.pages}
    rows: list[Row] = [row._asdict() for row in all_rows(answer, pages)]
    return rows, markdown.render(page_of(answer), addresses).text
