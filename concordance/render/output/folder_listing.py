"""The manifest of a book's folder, cached between updates.

A long-running process writes the same book again and again. Reading the manifest and comparing every page with it takes
longer than a small update, so the last manifest stays in memory until another process writes the file, and pages are
compared with it only once in a while.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from concordance.collect.own_output import MANIFEST
from concordance.render.output import manifest
from concordance.render.output.manifest import Manifest, ManifestPage

_TRUSTED = 60.0  # seconds between two comparisons of all pages with the manifest


class BookFolder:
    """The cached manifest of one folder."""

    def __init__(self, out: str) -> None:
        self.out = out
        self._stamp: tuple[int, ...] = ()  # device, inode, size and time of the manifest that was read
        self._listed = Manifest({})
        self._mark = ""
        self._looked = float("-inf")

    def read(self) -> Manifest:
        """Return the manifest; reads the file if it has changed since the last call."""
        now = self._now()
        if not now or now != self._stamp:
            self._listed, self._stamp, self._mark = manifest.read(self.out), now, ""
            self._looked = float("-inf")
        return self._listed

    def wrote(self, pages: Iterable[ManifestPage], unfinished: bool, mark: str) -> None:
        """Record that the manifest now lists these pages; `mark` is their digest."""
        self._listed = Manifest({row.page: row for row in pages}, unfinished)
        self._stamp, self._mark = self._now(), mark

    def mark(self, pages: Iterable[ManifestPage]) -> str:
        """Return the digest of the listed pages."""
        self._mark = self._mark or manifest.pages_digest(pages)
        return self._mark

    def is_due(self, whole: bool) -> bool:
        """True if all pages should be compared with the manifest: on request, and every `_TRUSTED` seconds."""
        now = time.monotonic()
        due = whole or now - self._looked > _TRUSTED
        if due:
            self._looked = now
        return due

    def _now(self) -> tuple[int, ...]:
        try:
            found = os.stat(os.path.join(self.out, MANIFEST))
        except OSError:
            return ()
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
