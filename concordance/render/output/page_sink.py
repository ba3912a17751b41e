"""Where rendered pages go: into the book's folder, or nowhere, to find out what would change.

In: the files of a book as bytes. Out: whether each differs from the file on disk. `PageSink` writes it; `DryRunSink`
leaves the folder untouched, so that a book that is under version control can be checked.
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
        """Create a sink; `before` is what the manifest lists now."""
        self.folder, self.out = folder, folder.path
        self.begin: Callable[[], None] = RunMarker(folder, before)

    def astray(self, pages: dict[str, ManifestPage]) -> list[str]:
        """Return the listed pages that are missing or seem to have changed since they were written."""
        return manifest.find_modified_pages(self.out, pages)

    def tidy(self) -> None:
        """Remove temporary files of a run that was killed."""
        manifest.tidy(self.folder)

    def put(self, path: str, data: bytes) -> bool:
        """Write a file; False if it already has this content."""
        return manifest.put(self.folder, path, data, self.begin)

    def drop(self, path: str) -> bool:
        """Remove one file; False if it does not exist."""
        return manifest.drop(self.folder, path)

    def remove(self, pages: Collection[str]) -> int:
        """Remove pages that no longer exist, with their claims; return how many were removed."""
        if pages:
            self.begin()
        return manifest.remove(self.folder, pages)

    def finish(self, pages: Collection[ManifestPage], unfinished: bool) -> bool:
        """Write the manifest; False if it already lists exactly these pages."""
        return manifest.put(self.folder, MANIFEST, manifest.encode_manifest(pages, unfinished))


class DryRunSink(PageSink):
    """Writes nothing; reports what would be written."""

    def __init__(self, folder: ConfinedFolder, before: dict[str, ManifestPage]) -> None:
        super().__init__(folder, before)
        self.begin = _do_nothing

    def astray(self, pages: dict[str, ManifestPage]) -> list[str]:
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

    def finish(self, pages: Collection[ManifestPage], unfinished: bool) -> bool:
        """Return True if writing the manifest would change it."""
        return self.put(MANIFEST, manifest.encode_manifest(pages, unfinished))


def _do_nothing() -> None:
    """Do nothing: a dry run does not mark the folder as unfinished."""
