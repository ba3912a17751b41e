"""Every file of the site: what stands at an address, made from the store when it is asked for.

In: an index, and an address of the site without what stands behind a `#` or `?`. Out: its bytes and their type, or
None where nothing stands there. The server answers with it, and the static site is all of it, written out. What an
address means is found in tables of the addresses that there are; no address is ever taken for a path of the disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from concordance import plugins
from concordance.blocks import Page, Ref, To
from concordance.query.folders.repository import name_of
from concordance.query.index import Index
from concordance.render import shell
from concordance.render.addresses import Addresses
from concordance.render.formats import html, markdown
from concordance.render.siteaddresses import TREE, SiteAddresses

PAGES = "concordance.query.pages"
HTML, MARKDOWN = "text/html; charset=utf-8", "text/markdown; charset=utf-8"
SCRIPT = "text/javascript; charset=utf-8"
ABOUT = {
    "file": To.FILE, "keywords": To.KEYWORDS, "folder": To.FOLDER, "folder_index": To.INDEX, "subtree": To.SUBTREE,
    "letters": To.LETTERS, "book": To.BOOK, "rule": To.RULE, "report": To.REPORT,
}  # fmt: skip
_OF_FOLDER = {"index.html": "folder_index", "doc.html": "folder", "sub.html": "subtree"}
_OF_FILE = {"_docs.html": "file", "_kw.html": "keywords"}
_OF_WHOLE = ("letters", "book", "rule", "report")  # few, and not told by their address alone
_PART = re.compile(r"(.*)\.([2-9]|[1-9]\d{1,4})(\.html)", re.DOTALL)


class Answered(NamedTuple):
    """What stands at an address."""

    data: bytes
    type: str


class Meant(NamedTuple):
    """What an address means: a kind of page, what it is about, and which part of it."""

    kind: str
    subject: str
    part: int = 1


class Site:
    """The site of one repository."""

    def __init__(self, index: Index, addresses: SiteAddresses, book: Addresses, live: bool = False) -> None:
        self.index, self.addresses, self.book, self.live = index, addresses, book, live

    # --- what stands where

    @cached_property
    def _files(self) -> dict[str, str]:
        """The files of the repository by what their pages' names begin with."""
        return {self.addresses.stem(row[1]): row[1] for row in self.index.bases}

    @cached_property
    def _folders(self) -> dict[str, str]:
        """The folders of the repository by where their pages stand."""
        ends = len("index.html")
        return {self.addresses.page(Ref(To.INDEX, one))[:-ends]: one for one in self.addresses.folders}

    @cached_property
    def _rest(self) -> dict[str, Meant]:
        """Pages of the whole by their addresses."""
        found = {}
        for kind in _OF_WHOLE:
            for subject in plugins.load(PAGES, kind).subjects(self.index):
                found[self.addresses.page(Ref(ABOUT[kind], subject))] = Meant(kind, subject)
        return found

    def meant(self, address: str) -> Meant | None:
        """What an address of a page means, which ends in `.html`."""
        part = _PART.fullmatch(address)
        if part is not None:
            whole = self._whole_page(part[1] + part[3])
            if whole is not None:
                return whole._replace(part=int(part[2]))
        return self._whole_page(address)

    def _whole_page(self, address: str) -> Meant | None:
        folder, slash, name = address.rpartition("/")
        kind = _OF_FOLDER.get(name)
        if kind is not None and folder + slash in self._folders:
            return Meant(kind, self._folders[folder + slash])
        for end, of_file in _OF_FILE.items():
            if address.endswith(end) and address[: -len(end)] in self._files:
                return Meant(of_file, self._files[address[: -len(end)]])
        return self._rest.get(address) if _may_be_of_whole(address) else None

    # --- what it says

    def answer(self, address: str) -> Answered | None:
        """What stands at an address."""
        name = address.rpartition("/")[2]
        if name == TREE:
            return self._tree(address)
        stem, _, end = address.rpartition(".")
        if end not in ("html", "md"):
            return None
        meant = self.meant(f"{stem}.html")
        page = self._page(meant) if meant is not None else None
        if meant is None or page is None:
            return None
        if end == "md":
            return Answered(_bytes(markdown.render(page, self.book).text), MARKDOWN)
        return Answered(_bytes(self._whole(address, meant.kind, page)), HTML)

    def _page(self, meant: Meant) -> Page | None:
        pages = plugins.load(PAGES, meant.kind).pages(self.index, meant.subject)
        return next((page for page in islice(pages, meant.part) if page.ref.part == meant.part), None)

    def _whole(self, address: str, kind: str, page: Page) -> str:
        body = html.render(page, self.addresses)
        window = shell.Window(
            name_of(self.index), address, body.title, body.html, body.outline, kind, page.ref.path, live=self.live
        )
        return shell.whole(window)

    def _tree(self, address: str) -> Answered | None:
        folder = self._folders.get(address[: -len(TREE)])
        if folder is None:
            return None
        inside = self._inside[folder]
        start = len(folder) + 1 if folder else 0
        rows: list[tuple[str, str, bool]] = [
            (one[start:], self.addresses.page(Ref(To.INDEX, one)), True) for one in inside[0]
        ]
        rows += [(one[start:], self.addresses.page(Ref(To.FILE, one)), False) for one in inside[1]]
        return Answered(_bytes(script(f"tree:{folder}", rows)), SCRIPT)

    @cached_property
    def _inside(self) -> dict[str, tuple[list[str], list[str]]]:
        """What lies right in each folder: folders and files."""
        found: dict[str, tuple[list[str], list[str]]] = {folder: ([], []) for folder in self.addresses.folders}
        for folder in sorted(found):
            if folder:
                found[folder.rpartition("/")[0]][0].append(folder)
        for row in sorted(row[1] for row in self.index.bases):
            found[row.rpartition("/")[0]][1].append(row)
        return found

    # --- all of it

    def all(self) -> Iterator[str]:
        """Every address of the site, without further parts of pages, which are only known when these are made."""
        for kind in plugins.names(PAGES):
            for subject in plugins.load(PAGES, kind).subjects(self.index):
                yield self.addresses.page(Ref(ABOUT[kind], subject))


def script(name: str, data: object) -> str:
    """Data as a script that hands it to the page: a page from a disk may load nothing else."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    said = json.dumps(name, ensure_ascii=True).replace("<", "\\u003c")
    return f"concordance.take({said},{text});\n"


def _may_be_of_whole(address: str) -> bool:
    return address.startswith(("keywords/", "book/")) or "/" not in address


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
