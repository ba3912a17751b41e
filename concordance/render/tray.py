"""Where a site is written: a folder in which every file is known by a list, so that no other is ever touched.

In: addresses and bytes. Out: files, each written aside and renamed, and only where it is not already as it should be.
The list (`manifest.json`) names each with its checksum. A file that the list does not name is another's: it is neither
replaced nor removed, and nothing is written through a link. Who was stopped leaves a list that says so.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from concordance.collect.own import GENERATOR, MANIFEST
from concordance.errors import UserError
from concordance.version import VERSION

from . import manifest
from .manifest import digest, is_inside
from .sink import read

_ASIDE = ".writing"  # the folder in the site where files are until they are whole


class Put(NamedTuple):
    """A file of the site as it is listed."""

    checksum: str  # "" where it is only planned
    size: int = 0


class Tray:
    """The folder of one site."""

    def __init__(self, out: str) -> None:
        """Refuses a folder that holds something else."""
        self.out = out
        self.before, self._doubtful = _listed(out)
        self._folders = {""}  # that are there, and no links
        if os.path.lexists(out) and not os.path.isdir(out):
            raise UserError(f"{out} is no folder", "Name a folder for the site (--out)")
        if not self.before and not self._doubtful and os.path.isdir(out) and os.listdir(out):
            advice = "Name a folder that is empty, or that a site was written to (--out)"
            raise UserError(f"{out} holds other things, and is left as it is", advice)

    def begin(self, planned: Iterable[str]) -> None:
        """Notes what will be written, so that it is known for the program's own whatever happens."""
        rows = {**dict.fromkeys(planned, Put("")), **self.before}
        self._list(rows, True)

    def put(self, address: str, data: bytes) -> tuple[Put, bool]:
        """Makes a file say this, and says whether it did not."""
        row = Put(digest(data), len(data))
        target = os.path.join(self.out, address)
        self._make(os.path.dirname(address))
        try:
            there = os.lstat(target)
        except FileNotFoundError:
            self._write(target, data)
            return row, True
        plain = stat.S_ISREG(there.st_mode)
        if plain and there.st_size == len(data):
            with open(target, "rb") as file:
                if file.read() == data:
                    return row, False
        if not plain or not (address in self.before or self._doubtful):
            advice = "Move it, or write the site elsewhere (--out)"
            raise UserError(f"{target} is another's, and is not replaced", advice)
        self._write(target, data)
        return row, True

    def finish(self, rows: Mapping[str, Put]) -> int:
        """Removes what the site no longer has, unless somebody changed it, lists the rest, and says how many went."""
        count = 0
        for address in sorted(self.before.keys() - rows.keys()):
            target = os.path.join(self.out, address)
            if is_inside(address) and _is_as_listed(target, self.before[address]) and self._is_plain(address):
                with suppress(OSError):
                    os.unlink(target)
                    count += 1
                manifest.remove_empty(self.out, os.path.dirname(address))
        self._list(rows, False)
        with suppress(OSError):
            os.rmdir(os.path.join(self.out, _ASIDE))
        return count

    # --- files

    def _make(self, folder: str) -> None:
        """Makes a folder; every part of its path must be one, and no link."""
        if folder in self._folders:
            return
        self._make(os.path.dirname(folder))
        path = os.path.join(self.out, folder)
        with suppress(FileExistsError):
            os.makedirs(self.out, exist_ok=True)
            os.mkdir(path)
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise UserError(f"{path} is no folder", "Move it, or write the site elsewhere (--out)")
        self._folders.add(folder)

    def _is_plain(self, address: str) -> bool:
        """Whether no folder above a file is a link."""
        folder = os.path.dirname(address)
        while folder:
            try:
                if not stat.S_ISDIR(os.lstat(os.path.join(self.out, folder)).st_mode):
                    return False
            except OSError:
                return False
            folder = os.path.dirname(folder)
        return True

    def _write(self, target: str, data: bytes) -> None:
        self._make(_ASIDE)
        manifest.write(os.path.join(self.out, _ASIDE, str(os.getpid())), target, data)  # one at a time

    def _list(self, rows: Mapping[str, Put], unfinished: bool) -> None:
        head: dict[str, object] = {"generator": GENERATOR, "version": VERSION, "site": True}
        head |= {"unfinished": True} if unfinished else {}
        listed = ",\n".join(f"  {json.dumps(page)}: {json.dumps(list(rows[page]))}" for page in sorted(rows))
        columns = json.dumps(list(Put._fields))
        text = json.dumps(head, indent=1)[:-2] + f',\n "columns": {columns},\n "pages": {{\n{listed}\n }}\n}}\n'
        self._make("")
        os.makedirs(self.out, exist_ok=True)
        self._write(os.path.join(self.out, MANIFEST), text.encode("utf-8", "backslashreplace"))


def _listed(out: str) -> tuple[dict[str, Put], bool]:
    """What the last run wrote into a folder, and whether it was stopped."""
    try:
        with open(os.path.join(out, MANIFEST), "rb") as file:
            known = json.load(file)
        if known["generator"] != GENERATOR or known["site"] is not True:
            return {}, False
        rows = {str(page): Put(str(row[0]), int(row[1])) for page, row in known["pages"].items()}
        return rows, bool(known.get("unfinished"))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return {}, False


def _is_as_listed(target: str, row: Put) -> bool:
    data = read(target)
    return data is not None and digest(data) == row.checksum
