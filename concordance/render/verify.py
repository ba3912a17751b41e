"""Verify one page of a book against the repository and the rest of the book.

In: the name of a page in the manifest. Out: the problems found: a page that was edited, a claim whose cited lines have
changed, a broken link. Whether a link to a section of another page is broken is only known after all pages have been
read. So checking takes two passes: the first collects the sections that each page has and those that it links to, both
as hashes; if some linked section is missing, the second reports which links point to it.
"""

from __future__ import annotations

import hashlib
import os
import re
from array import array
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from concordance.base import characters, confined_folder
from concordance.base.errors import Unreadable
from concordance.base.model import ListedFile
from concordance.collect import encoding, walk
from concordance.render import claims, page_links
from concordance.render.addresses import MARKDOWN, claims_of
from concordance.render.formats import CitedLine
from concordance.render.output import manifest
from concordance.render.output.manifest import ManifestPage
from concordance.render.summary import Problem

_LINES = re.compile(r"L(\d{1,9})(?:-L(\d{1,9}))?")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_MARKER = re.compile(r"^[\s>|]*(?:#{1,6} |[-+*] |\d{1,9}[.)] )?")
_LONGEST = 200  # longest excerpt of a page line, in characters
_LARGE = 16_000_000  # bytes; of a larger file only the digest is computed
_MAX_CACHED_FILES = 32  # number of files whose lines are cached
_EFFORT = 400_000  # most line comparisons spent on finding where cited lines have moved


@dataclass
class PageCheck:
    """Problems and counts collected while checking pages."""

    problems: list[Problem] = field(default_factory=list)
    claims: int = 0
    links: int = 0
    has: array[int] = field(default_factory=lambda: array("q"))  # hashes of the sections that the pages have
    wants: array[int] = field(default_factory=lambda: array("q"))  # hashes of the sections that links point to


@dataclass
class CheckedBook:
    """The repository and the book that pages are checked against."""

    root: str  # `root` and `out` have their symbolic links resolved
    out: str
    pages: dict[str, ManifestPage]
    files: frozenset[str]  # all files in the book's folder
    sections: frozenset[int] | None = None  # hashes of all sections; None in the first pass


class CheckedSource(NamedTuple):
    """The current content of a cited file."""

    why: str  # why the file cannot be read; "" if it can
    digest: str
    lines: list[str]
    length: int  # number of lines


class SourceReader:
    """Reads the current content of files below a folder, and caches the last few."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._cache: dict[str, CheckedSource] = {}

    def __call__(self, path: str) -> CheckedSource:
        """Return the content of one file."""
        found = self._cache.pop(path, None)
        if found is None:
            found = self._read(path)
            if len(self._cache) >= _MAX_CACHED_FILES:
                del self._cache[next(iter(self._cache))]
        self._cache[path] = found
        return found

    def _read(self, path: str) -> CheckedSource:
        entry = ListedFile(path, 0, 0)
        try:
            size = os.lstat(os.path.join(self.root, path)).st_size
            if size > _LARGE:
                digest = hashlib.sha256()
                for piece in walk.read_in_pieces(self.root, entry):
                    digest.update(piece)
                return CheckedSource("", digest.hexdigest(), [], 0)
            data = walk.read(self.root, entry)
        except FileNotFoundError:
            return CheckedSource("no longer exists", "", [], 0)
        except (OSError, Unreadable, ValueError) as error:
            reason = error.reason if isinstance(error, Unreadable) else str(error)
            return CheckedSource(f"cannot be read: {reason}", "", [], 0)
        text = encoding.read(data, True)
        lines = characters.lines(text.text) if text is not None else []
        count = len(lines) - (not lines[-1]) if lines else data.count(b"\n") + 1
        return CheckedSource("", hashlib.sha256(data).hexdigest(), lines, max(1, count))


class Checker:
    """Checks pages, one at a time."""

    def __init__(self, ground: CheckedBook) -> None:
        self.ground = ground
        self.read = SourceReader(ground.root)
        self.read_page = SourceReader(ground.out)
        self._targets: dict[tuple[str, str], tuple[str, str]] = {}

    def check(self, page: str, found: PageCheck) -> None:
        """Check a page, its claims and its links; in the second pass only links to sections."""
        row = self.ground.pages[page]
        try:
            data = _bytes(self.ground.out, page)
        except OSError as error:
            reason = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
            if self.ground.sections is None:
                found.problems.append(Problem(page, 0, "", f"the page {reason}"))
            return
        if self.ground.sections is None and manifest.digest(data) != row.checksum:
            found.problems.append(Problem(page, 1, "", "the page was changed by hand since it was written"))
        text = data.decode("utf-8", "replace")
        if page.endswith(MARKDOWN):  # of other formats, only claims can be read
            self._links(page, text, found)
        if self.ground.sections is None:
            lines = text.split("\n")
            self._claims(row, lines, found)

    # --- claims

    def _claims(self, row: ManifestPage, lines: list[str], found: PageCheck) -> None:
        if not row.claims:
            return
        path = claims_of(row.page)
        try:
            data = _bytes(self.ground.out, path)
        except OSError:
            found.problems.append(Problem(row.page, 0, "", f"its claims are missing: {path}"))
            return
        if manifest.digest(data) != row.claims_checksum:
            found.problems.append(Problem(row.page, 0, "", f"its claims were changed by hand: {path}"))
        try:
            rows = claims.decode_claims(data)
        except ValueError:
            found.problems.append(Problem(row.page, 0, "", f"its claims cannot be read: {path}"))
            return
        found.claims += len(rows)
        moved: dict[str, list[int]] = {}  # by how many lines cited lines have moved, by file
        for one, text in rows:
            problem = self._claim(one, text, moved.setdefault(one.path, []))
            if problem:
                found.problems.append(Problem(row.page, one.line, line_text(lines, one.line), problem))

    def _claim(self, one: CitedLine, text: str, moved: list[int]) -> str:
        """Return what is wrong with a claim; "" if nothing is."""
        _, path, first, last = one
        if not first and not text:  # a symbolic link or a submodule, which has no content of its own
            return "" if os.path.lexists(os.path.join(self.ground.root, path)) else f"{path} no longer exists"
        file = self.read(path)
        if file.why:
            return f"{path} {file.why}"
        if not first:
            return "" if file.digest == text else f"{path} has changed"
        if last <= file.length and claims.holds(file.lines, first, last, text):
            return ""
        where, verb = (f"line {first}", "was") if first == last else (f"lines {first}–{last}", "were")
        if last > file.length:
            problem = f"{path} has {file.length:,} {'line' if file.length == 1 else 'lines'}, and {where} {verb} cited"
        elif claims.is_digest(text):
            problem = f"{path}, {where}: the text has changed since it was cited"
        else:
            problem = f'{path}, {where}: the cited text "{text}" is no longer there'
        now = _find_moved_line(file.lines, first, last, text, moved)
        return f"{problem}; now at line {now}" if now else problem

    # --- links

    def _links(self, page: str, text: str, found: PageCheck) -> None:
        scanned = page_links.scan(text)
        known = self.ground.sections
        lines: list[str] = []
        seen: dict[str, str] = {}
        for line, link in scanned.links:
            problem = seen.get(link)
            if problem is None:
                problem = seen[link] = self._link(page, page_links.unescape_target(link), found.wants)
            if problem:
                lines = lines or text.split("\n")
                found.problems.append(Problem(page, line, line_text(lines, line), problem))
        if known is None:
            found.links += len(scanned.links)
            found.has.extend(hash(f"{page}#{name}") for name in scanned.anchors)
            for line, label in scanned.undefined:
                problem = f"the link [{label}] is not defined on the page"
                found.problems.append(Problem(page, line, line_text(text.split("\n"), line), problem))

    def _link(self, page: str, link: str, wants: array[int]) -> str:
        """Return what is wrong with a link; "" if nothing is, as far as this pass can tell."""
        if _ELSEWHERE.match(link):
            return ""
        path, _, at = link.partition("#")
        known = self.ground.sections
        inside, outside = self._target(page, path) if path else (page, "")
        if outside == "?":
            return f"the link {link} is broken: there is no such file" if known is None else ""
        if not at:
            return ""
        cited = _LINES.fullmatch(at)
        if cited is None and inside in self.ground.pages:
            wanted = hash(f"{inside}#{unquote(at)}")
            if known is None:
                wants.append(wanted)
            elif wanted not in known:
                return f"the link {link} is broken: {inside} has no such section"
            return ""
        if cited is None or known is not None or not (inside or outside):
            return ""
        file = self.read(outside) if outside else self.read_page(inside)
        last = int(cited[2] or cited[1])
        if file.why or not 1 <= int(cited[1]) <= last <= file.length:
            return f"the link {link} is broken: {outside or inside} {file.why or f'ends at line {file.length:,}'}"
        return ""

    def _target(self, page: str, path: str) -> tuple[str, str]:
        """Return the file of the book and the file of the repository that a path points to; "?" if neither exists."""
        folder = page.rpartition("/")[0]
        key = (folder, path)
        found = self._targets.get(key)
        if found is None:
            if len(self._targets) > 200_000:
                self._targets.clear()
            found = self._targets[key] = self._resolved(folder, unquote(path, errors="surrogateescape"))
        return found

    def _resolved(self, folder: str, path: str) -> tuple[str, str]:
        whole = os.path.normpath(os.path.join(self.ground.out, folder, path))
        inside = whole[len(self.ground.out) + 1 :] if whole.startswith(self.ground.out + "/") else ""
        if inside in self.ground.files:
            return inside, ""
        if "\0" in whole or not os.path.lexists(whole):
            return "", "?"
        root = self.ground.root.rstrip("/") + "/"
        return "", whole[len(root) :] if whole.startswith(root) else ""


def _bytes(out: str, path: str) -> bytes:
    with confined_folder.open_regular_file(os.path.join(out, path)) as file:
        return file.read()


def line_text(lines: list[str], number: int) -> str:
    """Return a line of a page as plain text."""
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    return page_links.strip_markup(_MARKER.sub("", line)[: 4 * _LONGEST])[:_LONGEST].strip()


def _find_moved_line(lines: list[str], first: int, last: int, text: str, moved: list[int]) -> int:
    """Return the line nearest to the old place where the cited text is now; 0 if it is nowhere."""
    if not text:
        return 0
    width = last - first + 1
    for by in moved:  # everything after an edit usually moves by the same number of lines
        at = first + by
        if at > 0 and at + width - 1 <= len(lines) and claims.holds(lines, at, at + width - 1, text):
            return at
    if claims.is_digest(text):
        if len(lines) * width > _EFFORT:
            return 0
        places = range(1, len(lines) - width + 2)
        found = [at for at in places if claims.holds(lines, at, at + width - 1, text)]
    else:
        found = [at for at, line in enumerate(lines, 1) if line.strip() == text]
    now = min(found, key=lambda at: abs(at - first), default=0)
    if now and len(moved) < 10:
        moved.append(now - first)
    return now
