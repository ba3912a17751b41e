"""Pages of the site for tests: made from a store, and read with an independent HTML parser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from concordance.base import plugins
from concordance.base.blocks import Page
from concordance.base.config import Book
from concordance.facts.read import Facts
from concordance.query.index.repository import Index
from concordance.query.sections.structure import plain_files
from concordance.render.site.addresses import SiteAddresses
from concordance.workflow.store_location import FOLDER

VOID = frozenset(("br", "hr", "img", "input", "link", "meta", "wbr"))
KINDS = ("concordance.query.pages", "concordance.query.site_pages")


class Read(HTMLParser):
    """A page as a parser sees it, with a list of its errors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.ids: Counter[str] = Counter()
        self.hrefs: list[str] = []
        self.tags: Counter[str] = Counter()
        self.words: list[str] = []
        self.feed(text)
        self.close()
        self.wrong += [f"<{tag}> stays open" for tag in self.open]
        self.wrong += [f"the id {name} stands {times} times" for name, times in self.ids.items() if times > 1]
        self.wrong += [f"{href} leads nowhere" for href in self.hrefs if href[:1] == "#" and href[1:] not in self.ids]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag == "a" and "a" in self.open:
            self.wrong.append("a link in a link")
        if tag in ("script", "style", "iframe", "object", "embed", "img"):
            self.wrong.append(f"there is a <{tag}>")
        for name, value in attrs:
            if name == "style" or name.startswith("on"):
                self.wrong.append(f"the attribute {name} on <{tag}>")
            elif name == "id":
                self.ids[value or ""] += 1
            elif name in ("href", "src", "action"):
                self.hrefs.append(value or "")
                if (value or "").lower().startswith(("javascript:", "data:", "vbscript:")):
                    self.wrong.append(f"{tag} leads to {value}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f"</{tag}> inside of {self.open[-3:]}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        """All words of the page."""
        return "".join(self.words)


def opened(root: Path) -> tuple[Index, SiteAddresses]:
    """Return the index of a repository as the site uses it, and its addresses."""
    index = Index(Facts(str(root / FOLDER)), str(root), Book(source=False, history=True, draws_diagrams=True))
    paths = [row[1] for row in index.file_rows]
    return index, SiteAddresses(paths, str(root), str(root / FOLDER / "book"), plain_files(index))


def pages(index: Index) -> Iterator[tuple[str, Page]]:
    """Return every page, with its kind."""
    for package in KINDS:
        for kind in plugins.names(package):
            module = plugins.load(package, kind)
            for subject in module.subjects(index):
                for page in module.pages(index, subject):
                    yield kind, page
