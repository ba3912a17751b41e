"""All flows in one file without a name, for workers to read from: in memory, those of a large repository would take
more than all that is worked out of them.

In: flows. Out: each by its file's id. The file is gone when the last process that has it open is, however it ends.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterable


class Spool:
    """Flows that were put aside."""

    def __init__(self, folder: str, rows: Iterable[tuple[int, bytes]]) -> None:
        self._places: dict[int, tuple[int, int]] = {}
        with tempfile.TemporaryFile(dir=folder) as file:
            self._file = os.dup(file.fileno())
            weakref.finalize(self, os.close, self._file)
            at = 0
            for identity, flow in rows:
                file.write(flow)
                self._places[identity] = at, len(flow)
                at += len(flow)

    def flow(self, file: int) -> bytes:
        """A file's flow. Workers that were forked share where a file is read next, so the place is said each time."""
        at, size = self._places[file]
        return os.pread(self._file, size, at)
