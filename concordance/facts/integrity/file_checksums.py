"""Checksums of a folder of files that are written once and then only replaced: the full-text index.

In: a folder, and the name of the file in it that says which build began to change it last. Out: a list of all files
with their digests, which is kept in the folder, too, and the files that no longer match it. As for databases
(`checksums`), a file is hashed only where its status is another than when it was last found good.

While an index is changed, or after a build was killed that had begun to, the list is that of the index before. By the
build that it names this is known: then the files that an update replaces are left out, and those that are never written
twice, if they are still there, must match.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple

from concordance.facts.integrity.checksums import read_record, write_record

_LIST = "sums"
_REPLACED = (".json", ".lock")  # what an update writes anew under the same name
_OF_WRITERS = ".managed.json"  # the index's own list of files to remove, which an update changes before it commits
_BLOCK = 1 << 20


class _Listed(NamedTuple):
    """A file that was found good."""

    digest: bytes
    status: tuple[int, ...]


class _List(NamedTuple):
    """All files of a folder."""

    made: bytes  # the digest of what the folder said of itself
    files: dict[str, _Listed]


def note(place: str, made: str) -> None:
    """Notes the digests of all files; those that are listed with the status that they have are not read again."""
    known = read_record(os.path.join(place, _LIST), _List)
    before = known.files if known is not None else {}
    files = {}
    for path, status in _found(place).items():
        had = before.get(path)
        same = had is not None and had.status == status
        files[path] = had if had is not None and same else _Listed(_digest(os.path.join(place, path)), status)
    write_record(os.path.join(place, _LIST), _List(_digest(os.path.join(place, made)), files))


def damaged(place: str, made: str, trusting: bool = True) -> list[str]:
    """The files that are not as they were noted, or missing. Unless `trusting`, all are read."""
    listed = read_record(os.path.join(place, _LIST), _List)
    if listed is None:
        return [_LIST]
    try:
        settled = _digest(os.path.join(place, made)) == listed.made
    except OSError:
        return [made]
    found, wrong, renewed = _found(place), [], dict(listed.files)
    for path, row in listed.files.items():
        if not settled and (path == made or path.endswith(_REPLACED)):
            continue
        status = found.get(path)
        if trusting and status == row.status:
            continue
        try:
            if status is None:
                wrong += [path] if settled else []
            elif _digest(os.path.join(place, path)) != row.digest:
                wrong.append(path)
            else:
                renewed[path] = row._replace(status=status)
        except OSError:
            wrong.append(path)
    if not wrong and renewed != listed.files:
        with suppress(OSError):
            write_record(os.path.join(place, _LIST), listed._replace(files=renewed))
    return wrong


def _found(place: str) -> dict[str, tuple[int, ...]]:
    """Every file that is noted, with its status."""
    found: dict[str, tuple[int, ...]] = {}
    for top, _, names in os.walk(place):
        for name in names:
            path = os.path.join(top, name)
            inside = path[len(place) + 1 :]
            if inside != _LIST and name != _OF_WRITERS and not name.endswith((".lock", ".new")):
                with suppress(FileNotFoundError):
                    seen = os.lstat(path)
                    found[inside] = (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)
    return found


def _digest(path: str) -> bytes:
    digest = blake2b(digest_size=16)
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.digest()
