"""`python -m tests.support.held build REPO …`: the program, with readers that stop at a file called `held.py`.

In: a pipe called `reader` beside the repository. Whoever reads the file writes its process id there, and goes on when
the pipe is gone. Until then a build is in the middle of its work, however fast or busy the machine is.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from concordance.base.model import ListedFile
from concordance.collect.classify import Classifier
from concordance.facts.records import ExtractedFile
from concordance.workflow.stages import extract
from tests.support import program

_FILES, _LARGE = 60, 310_000  # files that are read meanwhile, by another worker; a size that makes a batch of its own
_PIPE = "reader"
_read_file, _extract_files = extract.read_file, extract.extract_files


class HeldBuild:
    """A build that is reading `held.py`, and has read all other files that it adds to a repository."""

    files = _FILES + 1

    def __init__(self, folder: Path, *args: str, **more: Any) -> None:
        program.crowd(folder, _FILES, 2)
        self.file = folder / "held.py"
        self.file.write_text("".join(f"# line {number}\n" for number in range(_LARGE // 10)))
        program.age(folder)
        self._pipe = folder.parent / _PIPE
        os.mkfifo(self._pipe)
        self.process = program.started("build", folder, "--jobs", "2", *args, command=(sys.executable, "-m", __name__), **more)
        with self._pipe.open() as pipe:
            self.reader = int(pipe.readline())
        program.wait_for(lambda: _cached() >= _FILES)

    def release(self) -> None:
        """Let every reader finish the file."""
        self._pipe.unlink()


def _cached() -> int:
    """Return how many files the cache has: those that the build has read and stored."""
    cache = Path(os.environ["CONCORDANCE_CACHE"]) / "facts.db"
    with closing(sqlite3.connect(f"file:{cache}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM facts").fetchone()[0])


def extract_files(job: extract.Job, entries: list[ListedFile]) -> list[ExtractedFile]:
    """In a worker: read files as the program does, but stop at `held.py`."""
    extract.read_file = _wait_and_read
    return _extract_files(job, entries)


def _wait_and_read(job: extract.Job, classifier: Classifier, entry: ListedFile) -> bytes | ExtractedFile:
    pipe = Path(job.root).parent / _PIPE
    if entry.path == "held.py":
        with suppress(FileNotFoundError), pipe.open("r+b", buffering=0) as file:  # which does not wait for the other end
            file.write(f"{os.getpid()}\n".encode())
            while pipe.exists():
                time.sleep(0.01)
    return _read_file(job, classifier, entry)


if __name__ == "__main__":
    from concordance.cli import main
    from tests.support import held

    extract.extract_files = held.extract_files
    sys.argv[0] = "concord"
    main()
