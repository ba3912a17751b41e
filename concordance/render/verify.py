"""Checks one page of a book against the repository and the rest of the book.

In: a page's name in its manifest. Out: what no longer holds: a page that was changed, a claim whose lines no longer say
what was cited, a link that leads nowhere. Whether a section is there that a link of another page means is only known
when all pages were read: each page hands out the sections that it has and those that it wants, as numbers.
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
from concordance.render.addresses import claims_of
from concordance.render.formats.markdown import CitedLine
from concordance.render.output import manifest
from concordance.render.output.manifest import ManifestPage
from concordance.render.summary import Problem

_LINES = re.compile(r"L(\d{1,9})(?:-L(\d{1,9}))?")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_MARKER = re.compile(r"^[\s>|]*(?:#{1,6} |[-+*] |\d{1,9}[.)] )?")
_LONGEST = 200  # letters of what a page says
_LARGE = 16_000_000  # bytes of a file of which only the digest is wanted
_KEPT = 32  # files whose lines a worker keeps
_EFFORT = 400_000  # lines that are compared to find where some went


@dataclass
class PageCheck:
    """What was found on some pages."""

    problems: list[Problem] = field(default_factory=list)
    claims: int = 0
    links: int = 0
    has: array[int] = field(default_factory=lambda: array("q"))  # sections, each as a number
    wants: array[int] = field(default_factory=lambda: array("q"))


@dataclass
class CheckedBook:
    """What pages are checked against."""

    root: str  # both without symbolic links
    out: str
    written: dict[str, ManifestPage]
    there: frozenset[str]  # all files in the folder of the book
    known: frozenset[int] | None = None  # all sections, where they are known


class CheckedSource(NamedTuple):
    """A file of the repository as it is now."""

    why: str  # it cannot be read; "" where it can
    digest: str
    lines: list[str]
    length: int  # in lines


class SourceReader:
    """Files of the repository as they are now; the last few are kept."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._kept: dict[str, CheckedSource] = {}

    def __call__(self, path: str) -> CheckedSource:
        """One file."""
        found = self._kept.pop(path, None)
        if found is None:
            found = self._read(path)
            if len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
        self._kept[path] = found
        return found

    def _read(self, path: str) -> CheckedSource:
        entry = ListedFile(path, 0, 0)
        try:
            size = os.lstat(os.path.join(self.root, path)).st_size
            if size > _LARGE:
                digest = hashlib.sha256()
                for piece in walk.pieces(self.root, entry):
                    digest.update(piece)
                return CheckedSource("", digest.hexdigest(), [], 0)
            data = walk.read(self.root, entry)
        except FileNotFoundError:
            return CheckedSource("is gone", "", [], 0)
        except (OSError, Unreadable, ValueError) as error:
            reason = error.reason if isinstance(error, Unreadable) else str(error)
            return CheckedSource(f"cannot be read: {reason}", "", [], 0)
        text = encoding.read(data, True)
        lines = characters.lines(text.text) if text is not None else []
        count = len(lines) - (not lines[-1]) if lines else data.count(b"\n") + 1
        return CheckedSource("", hashlib.sha256(data).hexdigest(), lines, max(1, count))


class Checker:
    """Checks pages, one after the other."""

    def __init__(self, ground: CheckedBook) -> None:
        self.ground = ground
        self.read = SourceReader(ground.root)
        self.read_page = SourceReader(ground.out)
        self._targets: dict[tuple[str, str], tuple[str, str]] = {}

    def check(self, page: str, found: PageCheck) -> None:
        """Checks a page, its claims and its links."""
        row = self.ground.written[page]
        try:
            data = _bytes(self.ground.out, page)
        except OSError as error:
            reason = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
            if self.ground.known is None:
                found.problems.append(Problem(page, 0, "", f"the page {reason}"))
            return
        if self.ground.known is None and manifest.digest(data) != row.checksum:
            found.problems.append(Problem(page, 1, "", "the page was changed by hand: it is not as it was written"))
        text = data.decode("utf-8", "replace")
        self._links(page, text, found)
        if self.ground.known is None:
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
            rows = claims.unpacked(data)
        except ValueError:
            found.problems.append(Problem(row.page, 0, "", f"its claims cannot be read: {path}"))
            return
        found.claims += len(rows)
        moved: dict[str, list[int]] = {}  # by how many lines something moved, for each file
        for one, text in rows:
            problem = self._claim(one, text, moved.setdefault(one.path, []))
            if problem:
                found.problems.append(Problem(row.page, one.line, said(lines, one.line), problem))

    def _claim(self, one: CitedLine, text: str, moved: list[int]) -> str:
        """What is wrong with a claim; "" where nothing is."""
        _, path, first, last = one
        if not first and not text:  # a link, a submodule: something without content
            return "" if os.path.lexists(os.path.join(self.ground.root, path)) else f"{path} is gone"
        file = self.read(path)
        if file.why:
            return f"{path} {file.why}"
        if not first:
            return "" if file.digest == text else f"{path} is not as it was"
        if last <= file.length and claims.holds(file.lines, first, last, text):
            return ""
        where, verb = (f"line {first}", "was") if first == last else (f"lines {first}–{last}", "were")
        if last > file.length:
            problem = f"{path} has {file.length:,} {'line' if file.length == 1 else 'lines'}, and {where} {verb} cited"
        elif claims.is_digest(text):
            problem = f"{path}, {where}: no longer says what was cited"
        else:
            problem = f"{path}, {where}: no longer says “{text}”"
        now = _now_at(file.lines, first, last, text, moved)
        return f"{problem}; now at line {now}" if now else problem

    # --- links

    def _links(self, page: str, text: str, found: PageCheck) -> None:
        scanned = page_links.scan(text)
        known = self.ground.known
        lines: list[str] = []
        seen: dict[str, str] = {}
        for line, link in scanned.links:
            problem = seen.get(link)
            if problem is None:
                problem = seen[link] = self._link(page, page_links.address(link), found.wants)
            if problem:
                lines = lines or text.split("\n")
                found.problems.append(Problem(page, line, said(lines, line), problem))
        if known is None:
            found.links += len(scanned.links)
            found.has.extend(hash(f"{page}#{name}") for name in scanned.anchors)
            for line, label in scanned.undefined:
                problem = f"the link [{label}] has no address on the page"
                found.problems.append(Problem(page, line, said(text.split("\n"), line), problem))

    def _link(self, page: str, link: str, wants: array[int]) -> str:
        """What is wrong with a link; "" where nothing is, as far as this page knows."""
        if _ELSEWHERE.match(link):
            return ""
        path, _, at = link.partition("#")
        known = self.ground.known
        inside, outside = self._target(page, path) if path else (page, "")
        if outside == "?":
            return f"the link {link} leads nowhere: there is no such file" if known is None else ""
        if not at:
            return ""
        cited = _LINES.fullmatch(at)
        if cited is None and inside in self.ground.written:
            wanted = hash(f"{inside}#{unquote(at)}")
            if known is None:
                wants.append(wanted)
            elif wanted not in known:
                return f"the link {link} leads to no section: {inside} has none of that name"
            return ""
        if cited is None or known is not None or not (inside or outside):
            return ""
        file = self.read(outside) if outside else self.read_page(inside)
        last = int(cited[2] or cited[1])
        if file.why or not 1 <= int(cited[1]) <= last <= file.length:
            return f"the link {link} leads to no line: {outside or inside} {file.why or f'has {file.length:,}'}"
        return ""

    def _target(self, page: str, path: str) -> tuple[str, str]:
        """Where a path leads: a file of the book, and a file of the repository; "?" where there is none."""
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
        if inside in self.ground.there:
            return inside, ""
        if "\0" in whole or not os.path.lexists(whole):
            return "", "?"
        root = self.ground.root.rstrip("/") + "/"
        return "", whole[len(root) :] if whole.startswith(root) else ""


def _bytes(out: str, path: str) -> bytes:
    with confined_folder.opened(os.path.join(out, path)) as file:
        return file.read()


def said(lines: list[str], number: int) -> str:
    """What a page says on a line, in plain text."""
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    return page_links.plain(_MARKER.sub("", line)[: 4 * _LONGEST])[:_LONGEST].strip()


def _now_at(lines: list[str], first: int, last: int, text: str, moved: list[int]) -> int:
    """The line where a text stands now, the nearest to where it stood; 0 where it is nowhere."""
    if not text:
        return 0
    width = last - first + 1
    for by in moved:  # most often, all that follows a change went the same way
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
