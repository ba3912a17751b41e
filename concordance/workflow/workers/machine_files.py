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
from itertools import chain
from typing import NamedTuple

from concordance.base.errors import ConcordanceError, Unreadable
from concordance.base.model import File, ListedFile, Skip
from concordance.collect import walk
from concordance.workflow.workers import temp_folder

_PIECE = 4 << 20  # bytes of a file that are read at once
_MESSAGE = 16 << 20  # bytes of files that are carried together
_COMPLETE = "complete"
_LARGEST = 8 << 20  # bytes of a binary file that is sent: pictures are shown
STORE, FILES = "store", "files"  # names of what is sent


class FolderFiles(NamedTuple):
    """Some files of a folder. If the same are sent again during a build, machines use the copies that they have."""

    name: str  # of the folder, for the workers
    folder: str
    paths: tuple[str, ...]


class FilePiece(NamedTuple):
    """A part of a file; the parts of a file follow one another."""

    path: str
    at: int
    data: bytes


def repository_files(root: str, ledger: Iterable[File]) -> FolderFiles:
    """Return the files of a repository whose content links and pages may depend on."""
    shown = [file.path for file in ledger if not file.skip or (file.skip == Skip.BINARY and file.size < _LARGEST)]
    return FolderFiles(FILES, os.path.abspath(root), tuple(sorted(shown)))


def read_pieces(files: FolderFiles) -> Iterator[list[FilePiece]]:
    """Yield the content of files; those that cannot be read are left out, as they are where they come from."""
    now, size = list[FilePiece](), 0
    for path in files.paths:
        at = 0
        with suppress(Unreadable):
            for data in chain(walk.read_in_pieces(files.folder, ListedFile(path, 0, 0), _PIECE), (b"",)):
                if data or not at:  # an empty file has one piece
                    now.append(FilePiece(path, at, data))
                at += len(data)
                size += len(data)
                if size >= _MESSAGE:
                    yield now
                    now, size = [], 0
    if now:
        yield now


def unpack(key: str, messages: Iterable[list[FilePiece]]) -> str:
    """Return the folder of this machine that has the files of a key, and write them if no other worker has."""
    try:
        return _unpack(key, messages)
    except OSError as error:
        what = f"A machine of the cluster cannot store the files that it needs: {error.strerror}"
        raise ConcordanceError(what, "Free some space in its temporary folder, or set TMPDIR there") from error


def _unpack(key: str, messages: Iterable[list[FilePiece]]) -> str:
    own = temp_folder.shared_folder(key)
    folder = os.path.join(own, "files")
    with open(os.path.join(own, "lock"), "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(own, _COMPLETE)):
            created = set[str]()
            for path, at, data in chain.from_iterable(messages):
                above = os.path.join(folder, os.path.dirname(path))
                if above not in created:
                    os.makedirs(above, exist_ok=True)
                    created.add(above)
                with open(os.path.join(folder, path), "ab" if at else "wb") as file:
                    file.write(data)
            with open(os.path.join(own, _COMPLETE), "wb"):
                pass
    return folder


def remove(keys: Iterable[str]) -> None:
    """Remove the files of some keys from this machine."""
    for key in keys:
        shutil.rmtree(temp_folder.shared_path(key), ignore_errors=True)
