"""Where the files of a book or a site go: into its folder, or nowhere, to find out what would change.

In: files as bytes. Out: whether each differs from the file on disk. `PageSink` writes it, under a temporary name that
is then renamed, and keeps the manifest; a file that the program did not write is never touched, whatever a manifest
says. `DryRunSink` leaves the folder as it is, so that a book that is under version control can be checked.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from concordance.base.config import Book
from concordance.base.confined_folder import ConfinedFolder, LinkRefused, NotRegularFile, is_inside
from concordance.base.errors import UserError
from concordance.collect import own_output
from concordance.collect.own_output import CLAIM, CLAIMS, MANIFEST, SIGN
from concordance.render.addresses import claims_of
from concordance.render.output import manifest
from concordance.render.output.manifest import Manifest, ManifestPage

_TEMPORARY_NAME = re.compile(r"\d+\.new")  # temporary name of a file that is being written: the number of its process


class PathTaken(UserError):
    """A page would overwrite a file that the program did not write."""

    def __init__(self, out: str, pages: list[str]) -> None:
        shown = ", ".join(pages[:5]) + (f" and {len(pages) - 5:,} more" if len(pages) > 5 else "")
        advice = "Write elsewhere (--out), or move those files"
        super().__init__(f"{out} contains files that Concordance did not write where pages would go: {shown}", advice)


class PageSink:
    """Writes into the folder of a book or a site."""

    def __init__(
        self, folder: ConfinedFolder, listed_pages: Manifest, site: bool = False, book: Book | None = None
    ) -> None:
        """Create a sink; `listed_pages` is the manifest that the folder has now, `book` the settings to record in it
        (default: those that it has)."""
        self.folder, self.out, self.site = folder, folder.path, site
        self.options = manifest.options_of(book) if book is not None else listed_pages.options
        self.before, self.unfinished = listed_pages.pages, listed_pages.unfinished
        self._has_begun = False

    def begin(self) -> None:
        """Mark the manifest as unfinished before the first file changes: if the run is interrupted, the next one knows
        that there may be files that are not listed."""
        if not self._has_begun:
            self._has_begun = True
            self.finish(self.before.values(), True)

    def finish(self, pages: Collection[ManifestPage], unfinished: bool) -> bool:
        """Write the manifest; False if it already lists exactly these pages."""
        changed = self.put(MANIFEST, manifest.encode_manifest(pages, unfinished, self.site, self.options))
        if not unfinished:
            _remove_empty(self.folder, CLAIMS)  # a site has no claims, but files are first written there
        return changed

    def check(self, planned: Iterable[str]) -> None:
        """Raise if others have taken a planned path: that of a page by a file, that of a folder by a link or a file."""
        taken: dict[str, None] = {}
        if not os.path.isdir(self.out):
            if os.path.lexists(self.out):
                raise UserError(f"{self.out} is not a folder", "Name a folder for the book (--out)")
            return
        folders: dict[str, bool] = {"": True}  # whether each exists and is a folder
        for page in planned:
            folder = os.path.dirname(page)
            if folder not in folders:
                _check_folder(self.out, folder, folders, taken)
            target = os.path.join(self.out, page)
            if (
                page not in self.before
                and folders[folder]
                and os.path.lexists(target)
                and not _is_own_page_file(target)
            ):
                taken[page] = None
        if taken:
            raise PathTaken(self.out, list(taken))

    def modified_pages(self, pages: dict[str, ManifestPage]) -> list[str]:
        """Return the listed pages that are missing or seem to have changed since they were written."""
        return manifest.find_modified_pages(self.out, pages)

    def unlisted(self, listed: Collection[str]) -> Iterator[str]:
        """Yield files of the folder that we wrote but that are neither listed nor part of another book inside it."""
        books = own_output.find_books(self.out, manifest.files(self.out))
        others = tuple(f"{book.folder}/" for book in books if book.folder)
        for path in manifest.files(self.out):
            if path in listed or path.startswith(others) or not own_output.is_own_name(path):
                continue
            if self._is_written(path):
                yield path

    def tidy(self) -> None:
        """Remove temporary files that a killed run left behind."""
        with suppress(OSError, LinkRefused):
            for name in self.folder.names(CLAIMS):
                if _TEMPORARY_NAME.fullmatch(name):
                    self.folder.unlink(f"{CLAIMS}/{name}")

    def put(self, path: str, data: bytes) -> bool:
        """Write a file; False if it already has this content."""
        try:
            there = self.folder.read(path)
        except FileNotFoundError:
            pass
        except NotRegularFile:
            raise PathTaken(self.out, [path]) from None
        else:
            if there == data:
                return False
            if there and not (self._may_replace(path, there) or _is_same_page(path, there, data)):
                raise PathTaken(self.out, [path])
        if path != MANIFEST:
            self.begin()
        self.folder.write(f"{CLAIMS}/{os.getpid()}.new", path, data)  # only one file is written at a time
        return True

    def _may_replace(self, path: str, existing: bytes) -> bool:
        """True if a file is ours by its content, or damaged; without a signature, if the last run wrote the path."""
        if self.site and own_output.is_unsigned(path):
            return self.unfinished or path in self.before
        sign = SIGN if path == MANIFEST else CLAIM
        return own_output.is_own_content(existing, path) or own_output.resembles_signature(existing, sign)

    def drop(self, path: str) -> bool:
        """Remove a file of claims; False if there is none."""
        try:
            data = self.folder.read(path)
            if data and not data.startswith(CLAIM):
                return False
            self.folder.unlink(path)
        except (FileNotFoundError, NotRegularFile, LinkRefused):
            return False
        return True

    def remove(self, pages: Collection[str]) -> int:
        """Remove pages that no longer exist, with their claims and folders that become empty; return how many there
        were. A manifest may list anything, so only files that have the name and the content of ours are removed."""
        if pages:
            self.begin()
        count = 0
        folders: set[str] = set()
        for page in pages:
            if not is_inside(page) or not own_output.is_own_name(page) or self._is_written(page) is False:
                continue
            with suppress(OSError, LinkRefused):
                self.folder.unlink(page)
                count += 1
            with suppress(OSError):
                self.drop(claims_of(page))
            folders |= {os.path.dirname(page), os.path.dirname(claims_of(page))}
        for folder in folders:
            _remove_empty(self.folder, folder)
        return count

    def _is_written(self, page: str) -> bool | None:
        """True if the program wrote the page; None if the page does not exist."""
        try:
            data = self.folder.read(page)
        except FileNotFoundError:
            return None
        except (OSError, LinkRefused):
            return False
        if own_output.is_unsigned(page):
            return page in self.before and self.before[page].checksum == manifest.digest(data)
        return own_output.is_own_content(data, page)


class DryRunSink(PageSink):
    """Writes nothing; reports what would be written."""

    def begin(self) -> None:
        """Do nothing."""

    def finish(self, pages: Collection[ManifestPage], unfinished: bool) -> bool:
        """Return True if writing the manifest would change it."""
        return self.put(MANIFEST, manifest.encode_manifest(pages, unfinished, self.site, self.options))

    def modified_pages(self, pages: dict[str, ManifestPage]) -> list[str]:
        """Return the listed pages whose content differs from what was written, compared byte by byte."""
        return manifest.find_differing_pages(self.out, pages.values())

    def tidy(self) -> None:
        """Do nothing."""

    def put(self, path: str, data: bytes) -> bool:
        """Return True if writing this content would change the file."""
        return manifest.read_regular_file(os.path.join(self.out, path)) != data

    def drop(self, path: str) -> bool:
        """Return True if the file exists and would be removed."""
        return os.path.lexists(os.path.join(self.out, path))

    def remove(self, pages: Collection[str]) -> int:
        """Return how many of the pages exist and would be removed."""
        return sum(self.drop(page) for page in pages)


def _is_same_page(path: str, existing: bytes, data: bytes) -> bool:
    """True if a file is the same page, truncated or with text added: it begins with the same title. All HTML begins
    alike."""
    is_titled = not path.endswith(".html")
    return data.startswith(existing) or (is_titled and existing.partition(b"\n")[0] == data.partition(b"\n")[0])


def _remove_empty(folder: ConfinedFolder, inside: str) -> None:
    """Remove a folder and its parents, as long as they are empty."""
    while inside:
        try:
            folder.rmdir(inside)
        except FileNotFoundError:
            pass
        except (OSError, LinkRefused):  # not empty, or not ours
            return
        inside = os.path.dirname(inside)


def _check_folder(out: str, folder: str, folders: dict[str, bool], taken: dict[str, None]) -> None:
    above = os.path.dirname(folder)
    if above not in folders:
        _check_folder(out, above, folders, taken)
    folders[folder] = False
    if folders[above]:
        try:
            mode = os.lstat(os.path.join(out, folder)).st_mode
        except OSError:
            return
        folders[folder] = stat.S_ISDIR(mode)
        if not stat.S_ISDIR(mode):
            taken[folder] = None


def _is_own_page_file(path: str) -> bool:
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    if os.path.basename(path) == MANIFEST:
        with open(path, "rb") as file:
            return own_output.resembles_signature(file.read(len(SIGN)), SIGN)
    return not os.path.getsize(path) or own_output.is_own_page(path)
