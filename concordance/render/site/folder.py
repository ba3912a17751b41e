"""The folder of a static site: a manifest lists every file, and no other file is ever touched.

In: addresses and bytes. Out: files, each written under a temporary name and renamed, and only if its content has
changed. `manifest.json` lists each with its checksum. A file that is not listed belongs to somebody else: it is neither
replaced nor removed, and nothing is written through a symbolic link. The manifest of an interrupted run is marked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from concordance.base.confined_folder import ConfinedFolder, LinkRefused, NotRegularFile, is_inside
from concordance.base.errors import UserError
from concordance.collect.own_output import GENERATOR, MANIFEST
from concordance.render.output import folder_checks, manifest
from concordance.render.output.manifest import digest


class SiteEntry(NamedTuple):
    """A file of the site, as listed in the manifest."""

    checksum: str  # "" if it is only planned
    size: int = 0


class SiteFolder:
    """The folder of one site."""

    def __init__(self, out: str, controlled: Iterable[str] = ()) -> None:
        """Open the folder; raises if it holds something else. `controlled` are the folders in which others may have
        placed symbolic links."""
        self.out = out
        folder_checks.check(out, controlled, site=True)
        self._folder = ConfinedFolder(out, controlled)
        self.before, self._doubtful = _listed(self._folder)

    def begin(self, planned: Iterable[str]) -> None:
        """List what will be written, so that these files count as ours even if the run is interrupted."""
        rows = {**dict.fromkeys(planned, SiteEntry("")), **self.before}
        self._list(rows, True)

    def put(self, address: str, data: bytes) -> tuple[SiteEntry, bool]:
        """Write a file; return its row, and whether its content has changed."""
        row = SiteEntry(digest(data), len(data))
        advice = "Move it, or write the site elsewhere (--out)"
        try:
            if self._folder.read(address) == data:
                return row, False
        except FileNotFoundError:
            self._write(address, data)
            return row, True
        except NotRegularFile:
            raise UserError(f"{os.path.join(self.out, address)} exists and is not part of this site", advice) from None
        if not (address in self.before or self._doubtful):
            raise UserError(f"{os.path.join(self.out, address)} exists and is not part of this site", advice)
        self._write(address, data)
        return row, True

    def finish(self, rows: Mapping[str, SiteEntry]) -> int:
        """Remove files that the site no longer has, unless they were edited, and list the rest; return their number."""
        count = 0
        for address in sorted(self.before.keys() - rows.keys()):
            if is_inside(address) and self._is_as_listed(address):
                with suppress(OSError):
                    self._folder.unlink(address)
                    count += 1
                manifest.remove_empty(self._folder, os.path.dirname(address))
        self._list(rows, False)
        manifest.remove_empty(self._folder, folder_checks.TEMPORARY)
        self._folder.close()
        return count

    def _is_as_listed(self, address: str) -> bool:
        try:
            return digest(self._folder.read(address)) == self.before[address].checksum
        except (OSError, LinkRefused):
            return False

    def _write(self, address: str, data: bytes) -> None:
        self._folder.write(
            f"{folder_checks.TEMPORARY}/{os.getpid()}", address, data
        )  # only one file is written at a time

    def _list(self, rows: Mapping[str, SiteEntry], unfinished: bool) -> None:
        head = {**folder_checks.SITE_HEAD, **({"unfinished": True} if unfinished else {})}
        listed = ",\n".join(f"  {json.dumps(page)}: {json.dumps(list(rows[page]))}" for page in sorted(rows))
        columns = json.dumps(list(SiteEntry._fields))
        text = json.dumps(head, indent=1)[:-2] + f',\n "columns": {columns},\n "pages": {{\n{listed}\n }}\n}}\n'
        self._write(MANIFEST, text.encode("utf-8", "backslashreplace"))


def _listed(folder: ConfinedFolder) -> tuple[dict[str, SiteEntry], bool]:
    """Return what the last run wrote into a folder, and whether it was interrupted or its manifest is damaged."""
    try:
        data = folder.read(MANIFEST)
    except (OSError, LinkRefused):
        return {}, False
    try:
        known = json.loads(data)
        if known["generator"] != GENERATOR or known["site"] is not True:
            return {}, folder_checks.is_of_site(data)
        rows = {str(page): SiteEntry(str(row[0]), int(row[1])) for page, row in known["pages"].items()}
        return rows, bool(known.get("unfinished"))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return {}, folder_checks.is_of_site(data)
