"""Verifies one page of a book: compares it with the same page rendered anew, and what it says with the source.

In: a page as it would be written now, with its claims. Out: the problems of the page in the book. If it differs from
what would be written, each differing line is reported; the book is at fault. If it does not, the page is read as text:
its copy of the source, its definitions and its citations must agree with the files, and its links must lead somewhere.
If they do not, the program is at fault.

Whether a link to another page or to a section of it is broken is only known after all pages have been rendered. So the
pages and sections that exist and those that links point to are collected as hashes, and if some are missing,
`broken_links` reports the links that point to them.
"""

from __future__ import annotations

import hashlib
import os
import re
from array import array
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from concordance.base import characters, confined_folder
from concordance.base.errors import Unreadable
from concordance.base.model import ListedFile
from concordance.collect import encoding, own_output, walk
from concordance.facts.updates.reads import Subject
from concordance.render import claims, page_links
from concordance.render.addresses import MARKDOWN, claims_of
from concordance.render.formats import CitedLine
from concordance.render.output import manifest
from concordance.render.output.manifest import ManifestPage
from concordance.render.page_difference import find_differences
from concordance.render.statements import SourceText, check_statements
from concordance.render.summary import Fault, Problem

FILE_PAGE = "file"  # the kind of a page about a file
_LINES = re.compile(r"L(\d{1,9})(?:-L(\d{1,9}))?")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_MARKER = re.compile(r"^[\s>|]*(?:#{1,6} |[-+*] |\d{1,9}[.)] )?")
_LONGEST = 200  # longest excerpt of a page line, in characters
_LARGE = 16_000_000  # bytes; of a larger file only the digest is computed
_MAX_CACHED_FILES = 32  # number of files whose lines are cached
_MAX_CLAIMS = 20  # most claims that are listed for one page


@dataclass
class PageCheck:
    """Problems and counts collected while checking pages."""

    problems: list[Problem] = field(default_factory=list)
    rows: list[ManifestPage] = field(default_factory=list)  # what the manifest should list
    differing: dict[str, Subject] = field(default_factory=dict)  # pages that are not what would be written now
    claims: int = 0
    links: int = 0
    has: array[int] = field(default_factory=lambda: array("q"))  # hashes of pages, and of the sections that they have
    wants: array[int] = field(default_factory=lambda: array("q"))  # hashes of what links point to


@dataclass
class CheckedBook:
    """The repository and the book that pages are checked against."""

    root: str  # `root` and `out` have their symbolic links resolved
    out: str
    pages: dict[str, ManifestPage]  # as the manifest lists them
    files: frozenset[str]  # all files in the book's folder


class SourceReader:
    """Reads the current content of files below a folder, and caches the last few."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._cache: dict[str, SourceText] = {}

    def __call__(self, path: str) -> SourceText:
        """Return the content of one file."""
        source = self._cache.pop(path, None)
        if source is None:
            source = self._read(path)
            if len(self._cache) >= _MAX_CACHED_FILES:
                del self._cache[next(iter(self._cache))]
        self._cache[path] = source
        return source

    def _read(self, path: str) -> SourceText:
        entry = ListedFile(path, 0, 0)
        try:
            size = os.lstat(os.path.join(self.root, path)).st_size
            if size > _LARGE:
                digest = hashlib.sha256()
                for piece in walk.read_in_pieces(self.root, entry):
                    digest.update(piece)
                return SourceText("", digest.hexdigest(), [], 0, size)
            data = walk.read(self.root, entry)
        except FileNotFoundError:
            return SourceText("no longer exists")
        except (OSError, Unreadable, ValueError) as error:
            reason = error.reason if isinstance(error, Unreadable) else str(error)
            return SourceText(f"cannot be read: {reason}")
        text = encoding.read(data, True)
        lines = characters.lines(text.text) if text is not None else []
        count = len(lines) - (not lines[-1]) if lines else data.count(b"\n") + 1
        return SourceText("", hashlib.sha256(data).hexdigest(), lines, max(1, count), len(data))


class Checker:
    """Checks pages, one at a time."""

    def __init__(self, ground: CheckedBook) -> None:
        self.ground = ground
        self.read = SourceReader(ground.root)
        self.read_page = SourceReader(ground.out)
        self._targets: dict[tuple[str, str], tuple[str, str]] = {}

    def check(self, row: ManifestPage, data: bytes, cited: bytes, subject: Subject, check: PageCheck) -> None:
        """Check a page. `row`, `data` and `cited` are its row of the manifest, its content and its claims as they
        would be written now for a subject."""
        source = subject[1] if subject[0] == FILE_PAGE else ""
        check.rows.append(row)
        check.has.append(hash(row.page))
        text = data.decode("utf-8", "replace")
        scanned = page_links.scan(text) if row.page.endswith(MARKDOWN) else None  # only Markdown can be read
        if scanned is not None:
            check.has.extend(hash(f"{row.page}#{name}") for name in scanned.anchors)
        try:
            there = _bytes(self.ground.out, row.page)
        except OSError as error:
            reason = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
            check.problems.append(Problem(row.page, 0, "", f"the page {reason}{self._reason(row, None, source)}"))
            return
        if there != data:
            check.differing[row.page] = subject
            check.problems += self._page_differences(row, there, text, source)
            return
        lines = text.split("\n")
        rows = claims.decode_claims(cited) if cited else []
        check.problems += self._claim_differences(row, rows, cited, lines)
        check.problems += self._claims(row.page, rows, lines)
        check.claims += len(rows)
        if scanned is not None:
            check.problems += self._links(row.page, scanned, lines, check.wants)
            check.links += len(scanned.links)
            if source:
                check.problems += self._statements(row, source, lines)

    # --- the book is at fault

    def _page_differences(self, row: ManifestPage, existing: bytes, text: str, source: str) -> Iterator[Problem]:
        lines = existing.decode("utf-8", "replace").split("\n")
        reason = self._reason(row, existing, source)
        for line, problem in find_differences(lines, text.split("\n")) or [(1, "some bytes are not valid")]:
            yield Problem(row.page, line, line_text(lines, line), problem + reason)
            reason = ""

    def _reason(self, row: ManifestPage, existing: bytes | None, source: str) -> str:
        """Return why a page differs, as far as the manifest tells; `existing` is its content in the book."""
        listed = self.ground.pages.get(row.page)
        if listed is None:
            return "; it is not in the manifest"
        if existing is not None and manifest.digest(existing) != listed.checksum:
            return "; the page was changed by hand since it was written"
        return f"; {source} has changed since it was written" if source and listed.inputs != row.inputs else ""

    def _claim_differences(
        self, row: ManifestPage, rows: list[tuple[CitedLine, str]], cited: bytes, lines: list[str]
    ) -> Iterator[Problem]:
        path = claims_of(row.page)
        there = manifest.read_regular_file(os.path.join(self.ground.out, path)) or b""
        if there == cited:
            return
        if not there:
            yield Problem(row.page, 0, "", f"its claims are missing: {path}")
            return
        try:
            listed = claims.decode_claims(there)
        except ValueError:
            yield Problem(row.page, 0, "", f"its claims cannot be read: {path}")
            return
        places, right = {citation for citation, _ in listed}, {citation for citation, _ in rows}
        problems = [
            (
                citation,
                "the cited text has changed since it was cited" if citation in right else "this should not be cited",
            )
            for citation, text in sorted(set(listed) - set(rows))
        ]
        problems += [(citation, "this should be cited") for citation in sorted(right - places)]
        for citation, problem in problems[:_MAX_CLAIMS]:
            where = f"{citation.path}, {_lines(citation)}" if citation.first else citation.path
            yield Problem(row.page, citation.line, line_text(lines, citation.line), f"{where}: {problem}")
        if not problems:
            yield Problem(row.page, 0, "", f"its claims were changed by hand: {path}")

    # --- the program is at fault

    def _claims(self, page: str, rows: Iterable[tuple[CitedLine, str]], lines: list[str]) -> Iterator[Problem]:
        for citation, text in rows:
            problem = self._claim(citation, text)
            if problem:
                yield Problem(page, citation.line, line_text(lines, citation.line), problem, Fault.PROGRAM)

    def _claim(self, citation: CitedLine, text: str) -> str:
        """Return what is wrong with a claim; "" if nothing is."""
        _, path, first, last = citation
        if not first and not text:  # a symbolic link or a submodule, which has no content of its own
            return "" if os.path.lexists(os.path.join(self.ground.root, path)) else f"{path} no longer exists"
        file = self.read(path)
        if file.why:
            return f"{path} {file.why}"
        if not first:
            return "" if claims.claim_of_file(file.digest) == text else f"{path} has another content"
        if last > file.length:
            return f"{path}, {_lines(citation)}: the file has only {file.length:,}"
        is_same = claims.claim_text(file.lines, first, last) == text
        return "" if is_same else f"{path}, {_lines(citation)}: the text is another one"

    def _statements(self, row: ManifestPage, source: str, lines: list[str]) -> Iterator[Problem]:
        file = self.read(source)
        if file.why:
            return
        if row.inputs and file.digest != row.inputs:
            yield Problem(row.page, 0, "", f"{source} has changed while this was running; verify again")
            return
        for line, problem in check_statements(lines, file):
            yield Problem(row.page, line, line_text(lines, line), f"{source}: {problem}", Fault.PROGRAM)

    # --- links

    def _links(
        self, page: str, scanned: page_links.PageLinks, lines: list[str], wants: array[int]
    ) -> Iterator[Problem]:
        seen: dict[str, str] = {}
        for line, link in scanned.links:
            problem = seen.get(link)
            if problem is None:
                problem = seen[link] = self._link(page, page_links.unescape_target(link), wants)
            if problem:
                yield Problem(page, line, line_text(lines, line), problem, Fault.PROGRAM)
        for line, label in scanned.undefined:
            problem = f"the link [{label}] is not defined on the page"
            yield Problem(page, line, line_text(lines, line), problem, Fault.PROGRAM)

    def _link(self, page: str, link: str, wants: array[int]) -> str:
        """Return what is wrong with a link; "" if nothing is, as far as can be told without the other pages."""
        if _ELSEWHERE.match(link):
            return ""
        path, _, at = link.partition("#")
        inside, outside = self._target(page, path) if path else (page, "")
        if outside == "?":
            return f"the link {link} is broken: there is no such file"
        cited = _LINES.fullmatch(at)
        if inside and cited is None and (inside in self.ground.pages or own_output.is_own_name(inside)):
            wants.append(hash(f"{inside}#{unquote(at)}" if at else inside))
        if cited is None or not (inside or outside):
            return ""
        file = self.read(outside) if outside else self.read_page(inside)
        last = int(cited[2] or cited[1])
        if file.why or not 1 <= int(cited[1]) <= last <= file.length:
            return f"the link {link} is broken: {outside or inside} {file.why or f'ends at line {file.length:,}'}"
        return ""

    def broken_links(self, page: str, missing: Collection[int]) -> Iterator[Problem]:
        """Yield the links of a page in the book to pages and sections of which the given hashes say that they were not
        rendered, unless the book has them nevertheless."""
        text = (manifest.read_regular_file(os.path.join(self.ground.out, page)) or b"").decode("utf-8", "replace")
        lines = text.split("\n")
        for line, link in page_links.scan(text).links:
            target = page_links.unescape_target(link)
            wants = array("q")
            self._link(page, target, wants)
            if wants and wants[0] in missing:
                path, _, at = target.partition("#")
                inside = self._target(page, path)[0] if path else page
                other = self.read_page(inside)
                if other.why or (at and unquote(at) not in page_links.scan("\n".join(other.lines)).anchors):
                    problem = f"the link {target} is broken: {inside} {other.why or 'has no such section'}"
                    yield Problem(page, line, line_text(lines, line), problem, Fault.PROGRAM)

    def _target(self, page: str, path: str) -> tuple[str, str]:
        """Return the file of the book and the file of the repository that a path points to; "?" if neither exists."""
        folder = page.rpartition("/")[0]
        key = (folder, path)
        target = self._targets.get(key)
        if target is None:
            if len(self._targets) > 200_000:
                self._targets.clear()
            target = self._targets[key] = self._resolved(folder, unquote(path, errors="surrogateescape"))
        return target

    def _resolved(self, folder: str, path: str) -> tuple[str, str]:
        whole = os.path.normpath(os.path.join(self.ground.out, folder, path))
        inside = whole[len(self.ground.out) + 1 :] if whole.startswith(self.ground.out + "/") else ""
        if inside and (inside in self.ground.files or own_output.is_own_name(inside)):
            return inside, ""
        if "\0" in whole or not os.path.lexists(whole):
            return "", "?"
        root = self.ground.root.rstrip("/") + "/"
        return "", whole[len(root) :] if whole.startswith(root) else ""


def _bytes(out: str, path: str) -> bytes:
    with confined_folder.open_regular_file(os.path.join(out, path)) as file:
        return file.read()


def _lines(citation: CitedLine) -> str:
    return f"line {citation.first}" if citation.first == citation.last else f"lines {citation.first}–{citation.last}"


def line_text(lines: list[str], number: int) -> str:
    """Return a line of a page as plain text."""
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    return page_links.strip_markup(_MARKER.sub("", line)[: 4 * _LONGEST])[:_LONGEST].strip()
