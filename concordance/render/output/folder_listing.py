"""What lies in the folder of a book, as far as it is known without looking.

In: what was read or written there. Out: the same, as long as nobody else has written the list of pages since.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from concordance.collect.own_output import MANIFEST
from concordance.render.output import manifest
from concordance.render.output.manifest import Manifest, ManifestPage

_TRUSTED = 60.0  # seconds for which pages are taken to be as they were written: to look at all takes a while


class BookFolder:
    """The pages in one folder."""

    def __init__(self, out: str) -> None:
        self.out = out
        self._stamp: tuple[int, ...] = ()  # of the manifest that was read
        self._listed = Manifest({})
        self._mark = ""
        self._looked = float("-inf")

    def read(self) -> Manifest:
        """What the manifest lists."""
        now = self._now()
        if not now or now != self._stamp:
            self._listed, self._stamp, self._mark = manifest.read(self.out), now, ""
            self._looked = float("-inf")
        return self._listed

    def wrote(self, pages: Iterable[ManifestPage], unfinished: bool, mark: str) -> None:
        """It lists these pages now; `mark` is theirs."""
        self._listed = Manifest({row.page: row for row in pages}, unfinished)
        self._stamp, self._mark = self._now(), mark

    def mark(self, pages: Iterable[ManifestPage]) -> str:
        """The mark of the pages that are listed."""
        self._mark = self._mark or manifest.mark(pages)
        return self._mark

    def is_due(self, whole: bool) -> bool:
        """Whether all pages are to be looked at: where it is wished for, and once in a while."""
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
