"""The addresses of a book: the path of every page, and the links between pages. No other module computes them.

In: the paths of a repository, its root and the book's folder. Out: the path of the page that a `Ref` points to, and
links from page to page. The same repository must get the same addresses on every file system. So a short digest is
added to a name that is too long, that the book itself uses, or that differs from another in its folder only by case or
Unicode normalisation. Pages of folders nested so deeply that their paths would be too long are put into `book/far`,
each folder under its digest.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Container, Iterable
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import quote

from concordance.base.blocks import Ref, To
from concordance.collect.own_output import CLAIMS, FRONT, LLMS, MANIFEST

MARKDOWN = ".md"
_PAGES: dict[str, str] = {To.INDEX: "index.md", To.FOLDER: "doc.md", To.SUBTREE: "sub.md"}
_ENDS: dict[str, str] = {To.FILE: "_docs.md", To.KEYWORDS: "_kw.md", To.SYMBOL: "_docs.md", To.DEFINITION: "_docs.md"}
_OF_SYMBOLS = (To.SYMBOL, To.DEFINITION)
STRUCTURE = "Code Structure"  # the section that lists definitions
REPORT = "verification_report.md"
LETTERS = "keywords.md"
_IN_FOLDER = (*_PAGES.values(), CLAIMS)  # names that the book uses in every folder
_LONG_PATHS = "book/far"  # among the chapters, where no folder of a repository is placed
_AT_ROOT = (*_IN_FOLDER, FRONT, LLMS, MANIFEST, REPORT, LETTERS, "keywords", "book")
_LONGEST = 200  # bytes of a name; prefixes and suffixes may bring it up to 255
_MAX_PATH_BYTES = 3000  # bytes of a path in the book; with the path of the book itself it must stay below 4096
_MAX_PREFIXES = 1 << 15  # relative paths between folders that are remembered
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]{0,28}")  # a key that is used as its own anchor; a longer one is shortened
_ODD = re.compile(r"[^A-Za-z0-9_-]")
_SLUG = re.compile(r"[^\w\- ]")
_SAFE = "/~+@,=-._"  # not percent-encoded; a colon is, since the text before it could be read as a scheme


class Addresses:
    """The addresses of one book."""

    own: tuple[str, ...] = ()  # further names that are used in every folder
    own_at_root: tuple[str, ...] = ()
    own_ends: tuple[str, ...] = ()  # further suffixes of files that are put beside each page

    def __init__(
        self, paths: Iterable[str], root: str, out: str, plain: Container[str] = frozenset(), ending: str = MARKDOWN
    ) -> None:
        """Name all pages; definitions in the files `plain` get no anchors, since such files have thousands of keys.

        `ending` is that of the pages' names, by their format.
        """
        self.out, self._plain, self._ending = out, plain, ending
        self._root = root
        to_root = os.path.relpath(os.path.realpath(root), os.path.realpath(out)).replace(os.sep, "/")
        self._to_root = quote(_encoded(to_root), _SAFE)
        self._folders: dict[str, str] = {"": ""}  # folders of the repository -> folders of the book
        self._stems: dict[str, str] = {}  # files -> the beginning of their pages' names
        self._prefixes: dict[tuple[str, str], str] = {}
        self._name_all(paths)

    def _name_all(self, paths: Iterable[str]) -> None:
        folders: dict[str, set[str]] = {"": set()}
        files: dict[str, list[str]] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            files.setdefault(folder, []).append(name)
            while folder and folder not in folders:
                folders[folder] = set()
                above = folder.rpartition("/")[0]
                if above in folders:
                    folders[above].add(folder)
                    break
                folder = above
        for folder in list(folders):  # the loop above records a chain of new folders only up to the first known one
            if folder:
                folders[folder.rpartition("/")[0]].add(folder)
        for folder in sorted(folders):
            self._name_inside(folder, sorted(folders[folder]), sorted(files.get(folder, ())))

    def _name_inside(self, folder: str, below: list[str], files: list[str]) -> None:
        here = self._folders[folder]
        start = f"{here}/" if here else ""
        names = _IN_FOLDER if folder else (*_AT_ROOT, *self.own_at_root)
        used = {*self.own, *names, *map(self._with_ending, names)}
        ends = tuple(dict.fromkeys((*_ENDS.values(), *map(self._with_ending, _ENDS.values()), *self.own_ends)))
        for name in files:
            stem = _short(name)
            if any(_folded(stem + end) in used for end in ends):
                stem = _marked(name)
            used.update(_folded(stem + end) for end in ends)
            self._stems[f"{folder}/{name}" if folder else name] = start + stem
        for child in below:
            name = child.rpartition("/")[2]
            shown = _short(name)
            if _folded(shown) in used:
                shown = _marked(name)
            used.add(_folded(shown))
            there = start + shown
            self._folders[child] = (
                there if len(_encoded(there)) <= _MAX_PATH_BYTES else f"{_LONG_PATHS}/{_digest(child, 8)}"
            )

    def odd(self) -> list[tuple[str, str]]:
        """Return files and folders whose pages are not where their names say, with their actual places."""
        named = {**self._stems, **self._folders}
        return sorted((path, shown) for path, shown in named.items() if path != shown)

    # --- pages

    @property
    def folders(self) -> list[str]:
        """Return every folder of the repository that has files below it, the root first."""
        return list(self._folders)

    def stem(self, path: str) -> str:
        """Return what the names of a file's pages begin with."""
        return self._stems[path]

    def page(self, ref: Ref) -> str:
        """Return the path in the book of the page that a link points to."""
        path = self._whole(ref)
        return self._with_ending(path if ref.part < 2 else f"{path[:-3]}.{ref.part}.md")

    def _with_ending(self, name: str) -> str:
        """Return the name of a Markdown page with the ending of this book's format; any other name as it is."""
        return name[: -len(MARKDOWN)] + self._ending if name.endswith(MARKDOWN) else name

    def _whole(self, ref: Ref) -> str:
        to = ref.to
        if to in _ENDS:
            return self.stem(ref.path) + _ENDS[to]
        if to in _PAGES:
            folder = self._folders[ref.path]
            return f"{folder}/{_PAGES[to]}" if folder else _PAGES[to]
        if to == To.LETTERS:
            return f"keywords/{_plain_file_name(ref.path.lower())}.md" if ref.path else LETTERS
        if to == To.BOOK:
            return f"book/{_chapter(ref.path)}.md" if ref.path else FRONT
        if to == To.RULE:
            return f"book/rules/{_plain_file_name(ref.path) or 'index'}.md"
        if to == To.REPORT:
            return REPORT
        if to == To.LLMS:
            return LLMS
        # Any other kind is that of an extension, and has a folder of its own.
        return f"book/{to}s/{'/'.join(map(_told_apart, ref.path.split('::'))) if ref.path else 'index'}.md"

    # --- links

    def link(self, page: str, ref: Ref) -> str:
        """Return the address of a link's target, relative to a page of the book."""
        if ref.to == To.SOURCE:
            return self.source(page, ref.path)
        there = self.page(ref)
        at = ref.at and (self._anchor(ref) if ref.to in _OF_SYMBOLS else slug(ref.at))
        if there == page and at:
            return f"#{at}"
        address = self.to(page, there)
        return f"{address}#{at}" if at else address

    def to(self, page: str, there: str) -> str:
        """Return the relative address from one file of the book to another."""
        folder, _, name = there.rpartition("/")
        return self._prefix(page, folder) + quote(_encoded(name), _SAFE)

    def is_plain(self, path: str) -> bool:
        """True if a file's definitions have no anchors of their own."""
        return path in self._plain

    def _anchor(self, ref: Ref) -> str:
        return slug(STRUCTURE) if ref.path in self._plain else anchor(ref.at)

    def source(self, page: str, path: str, first: int = 0, last: int = 0) -> str:
        """Return the address of a file of the repository, or of some of its lines."""
        up = page.count("/")
        return f"{'../' * up}{self._to_root}/{quote(_encoded(path), _SAFE)}{lines_at(first, last)}"

    def _prefix(self, page: str, folder: str) -> str:
        """Return the relative path from a page to a folder of the book."""
        here = page.rpartition("/")[0]
        known = self._prefixes.get((here, folder))
        if known is None:
            if here == folder:
                known = ""
            else:
                mine, theirs = here.split("/") if here else [], folder.split("/") if folder else []
                pairs = zip(mine, theirs, strict=False)
                shared = next((n for n, (one, other) in enumerate(pairs) if one != other), min(len(mine), len(theirs)))
                steps = [".."] * (len(mine) - shared) + [quote(_encoded(one), _SAFE) for one in theirs[shared:]]
                known = "/".join(steps) + "/"
            if len(self._prefixes) >= _MAX_PREFIXES:
                self._prefixes.clear()
            self._prefixes[here, folder] = known
        return known


class PrintedAddresses(Addresses):
    """Addresses for a page that is printed instead of written: they start at the root of the repository, and lead to
    the files themselves where a page of the book would lead to the page of a file."""

    def link(self, page: str, ref: Ref) -> str:
        if ref.to in (To.SOURCE, To.FILE):
            return self.source(page, ref.path)
        return super().link(page, ref)

    def source(self, page: str, path: str, first: int = 0, last: int = 0) -> str:
        return quote(_encoded(path), _SAFE) + lines_at(first, last)

    def to(self, page: str, there: str) -> str:
        return quote(_encoded(os.path.relpath(os.path.join(self.out, there), self._root)), _SAFE)


def claims_of(page: str) -> str:
    """Return the path of the claims of a page."""
    folder, _, name = page.rpartition("/")
    return f"{folder}/{CLAIMS}/{name}.json" if folder else f"{CLAIMS}/{name}.json"


@lru_cache(1 << 14)
def anchor(key: str) -> str:
    """Return the anchor of a definition on its page."""
    if _PLAIN.fullmatch(key):
        return f"def-{key}"
    last = _ODD.sub("", key.rpartition(".")[2])[:16]
    return f"def-{last}-{_digest(key)}"


def lines_at(first: int, last: int) -> str:
    """Return the fragment for a range of lines; "" for the whole file."""
    at = f"#L{first}" if first else ""
    return f"{at}-L{last}" if last > first else at


def slug(title: str) -> str:
    """Return the id that forges give to a heading."""
    return _SLUG.sub("", title.lower()).replace(" ", "-")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _digest(name: str, size: int = 4) -> str:
    return blake2b(_encoded(name), digest_size=size).hexdigest()


def _marked(name: str) -> str:
    """Return a name with its digest appended; a long name is truncated."""
    kept = _encoded(name)[: _LONGEST - 16].decode("utf-8", "ignore")
    return f"{kept}-{_digest(name)}"


def _short(name: str) -> str:
    return name if len(_encoded(name)) <= _LONGEST else _marked(name)


def _folded(name: str) -> str:
    """Return a name in a form that is equal for names that some file systems do not distinguish."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", name).casefold()


def _plain_file_name(name: str) -> str:
    """Return a name of ours as a file name: letters, digits, `-` and `_`; other characters as code points."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else f"~{ord(c):x}" for c in name)


def _told_apart(name: str) -> str:
    """Return a part of a name as a file name; upper case gets a digest, as some disks ignore case."""
    plain = _plain_file_name(name)
    return plain if plain == plain.lower() else f"{plain}-{_digest(name)}"


def _chapter(name: str) -> str:
    """Return a chapter's name as a file name; where two names could become equal, a digest is added."""
    plain = _plain_file_name(name.replace("/", "-"))
    if len(plain) > _LONGEST:
        plain, name = plain[: _LONGEST - 16], f"-/{name}"
    return f"{plain}-{_digest(name)}" if "-" in name and "/" in name else plain
