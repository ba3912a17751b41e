"""Files that all workers of a machine read: sent once to each machine of a cluster, not to each worker.

In: files of folders of the build's machine. Out: pieces of them, which the cluster carries, and in a worker a folder
with the same files. The first worker of a machine that needs them writes them; the others wait for it. If it is lost
meanwhile, the next one begins anew. The folder goes when the build ends, or with the next build that starts there.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from concordance.base.errors import Unreadable
from concordance.base.model import ListedFile
from concordance.collect import walk
from concordance.workflow.workers import temp_folder

_PIECE = 4 << 20  # bytes of a file that are read at once
_MESSAGE = 16 << 20  # bytes of files that are carried together
_COMPLETE = "complete"


class FolderFiles(NamedTuple):
    """Some files of a folder."""

    name: str  # of the folder, for the workers
    folder: str
    paths: list[str]


class FilePiece(NamedTuple):
    """A part of a file; the parts of a file follow one another."""

    path: str
    at: int
    data: bytes


def read_pieces(files: Iterable[FolderFiles]) -> Iterator[list[FilePiece]]:
    """Yield the content of files; those that cannot be read are left out, as they are where they come from."""
    now, size = list[FilePiece](), 0
    for name, folder, paths in files:
        for path in paths:
            at = 0
            with suppress(Unreadable):
                now.append(FilePiece(f"{name}/{path}", 0, b""))
                for data in walk.read_in_pieces(folder, ListedFile(path, 0, 0), _PIECE):
                    now.append(FilePiece(f"{name}/{path}", at, data))
                    at += len(data)
                    size += len(data)
                    if size >= _MESSAGE:
                        yield now
                        now, size = [], 0
    if now:
        yield now


def unpack(key: str, messages: Iterable[list[FilePiece]]) -> str:
    """Return the folder of this machine that has the files of a key, and write them if no other worker has."""
    folder = temp_folder.shared_folder(key)
    with open(os.path.join(folder, "lock"), "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(folder, _COMPLETE)):
            for pieces in messages:
                for path, at, data in pieces:
                    _write(os.path.join(folder, path), at, data)
            with open(os.path.join(folder, _COMPLETE), "wb"):
                pass
    return folder


def _write(path: str, at: int, data: bytes) -> None:
    if not at:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "ab" if at else "wb") as file:
        file.write(data)


def remove(key: str) -> None:
    """Remove the files of a key from this machine."""
    shutil.rmtree(temp_folder.shared_path(key), ignore_errors=True)
