"""Where pages go: into the folder of a book, or nowhere, to see what would change there.

In: files of a book as bytes. Out: whether each is other than what is there. A `PageSink` makes it so; `DryRunSink`
leaves everything as it is, so that a book that somebody else keeps can be checked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

from concordance.base.confined_folder import ConfinedFolder
from concordance.collect.own_output import MANIFEST
from concordance.render.output import manifest
from concordance.render.output.manifest import ManifestPage, RunMarker


class PageSink:
    """Writes into the folder of a book."""

    def __init__(self, folder: ConfinedFolder, before: dict[str, ManifestPage]) -> None:
        """`before` is what the manifest lists now."""
        self.folder, self.out = folder, folder.path
        self.begin: Callable[[], None] = RunMarker(folder, before)

    def astray(self, pages: dict[str, ManifestPage]) -> list[str]:
        """The pages of a manifest that the folder no longer holds as they were written."""
        return manifest.astray(self.out, pages)

    def tidy(self) -> None:
        """Removes what a run that was killed left unfinished."""
        manifest.tidy(self.folder)

    def put(self, path: str, data: bytes) -> bool:
        """Makes a file say this; False where it already does."""
        return manifest.put(self.folder, path, data, self.begin)

    def drop(self, path: str) -> bool:
        """Removes one file, where it is there."""
        return manifest.drop(self.folder, path)

    def remove(self, pages: Collection[str]) -> int:
        """Removes pages that no longer exist, with what they claim."""
        if pages:
            self.begin()
        return manifest.remove(self.folder, pages)

    def finish(self, pages: Collection[ManifestPage], unfinished: bool) -> bool:
        """Lists all pages; False where they were listed so."""
        return manifest.put(self.folder, MANIFEST, manifest.listing(pages, unfinished))


class DryRunSink(PageSink):
    """Writes nothing, and says what would be written."""

    def __init__(self, folder: ConfinedFolder, before: dict[str, ManifestPage]) -> None:
        super().__init__(folder, before)
        self.begin = _nothing

    def astray(self, pages: dict[str, ManifestPage]) -> list[str]:
        """The same, byte for byte."""
        return manifest.edited(self.out, pages.values())

    def tidy(self) -> None:
        """Leaves it."""

    def put(self, path: str, data: bytes) -> bool:
        """Whether a file does not say this."""
        return manifest.contents(os.path.join(self.out, path)) != data

    def drop(self, path: str) -> bool:
        """Whether a file is there."""
        return os.path.lexists(os.path.join(self.out, path))

    def remove(self, pages: Collection[str]) -> int:
        """How many of some pages are there."""
        return sum(self.drop(page) for page in pages)

    def finish(self, pages: Collection[ManifestPage], unfinished: bool) -> bool:
        """Whether pages are not listed so."""
        return self.put(MANIFEST, manifest.listing(pages, unfinished))


def _nothing() -> None:
    """Begins nothing."""
