"""What workers of Ray run in the tests: functions that they can import, some of which end their worker."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from concordance.base.errors import ConcordanceError
from concordance.workflow.stages import link, page_writer, remote_extract


def square(shared: str, numbers: list[int]) -> list[int]:
    return [number * number for number in numbers]


def faulty(shared: str, words: list[str]) -> list[str]:
    for word in words:
        if word == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "raises":
            raise ValueError("no such word")
        elif word == "never ends":
            sum(range(10**13))  # does not return to the interpreter
    return [word.upper() for word in words]


def dies_once(folder: str, numbers: list[int]) -> list[int]:
    for number in numbers:
        time.sleep(0.05)
        if number % 7 == 0 and not os.path.exists(f"{folder}/{number}"):
            Path(folder, str(number)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return [number + 1 for number in numbers]


def slowly(folder: str, numbers: list[int]) -> list[int]:
    time.sleep(0.2)
    Path(folder, f"{numbers[0]}").touch()
    return numbers


STAGES = {"_learn_macros": remote_extract, "_extract_contents": remote_extract, "_link_remotely": link, "_render_subjects": page_writer}


def dies_once_before(folder: str, name: str, shared: Any, batch: list[Any]) -> Any:
    marker = Path(folder, name)
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return getattr(STAGES[name], name)(shared, batch)


class FilesShared:
    def use_files(self, folders: dict[str, str]) -> None:
        self.folder = folders["x"]


def read_files(shared: FilesShared, names: list[str]) -> tuple[str, dict[str, bytes]]:
    """Return the content of files; empty for those that do not exist."""
    paths = [Path(shared.folder, name) for name in names]
    return shared.folder, {name: path.read_bytes() if path.exists() else b"" for name, path in zip(names, paths, strict=True)}


def fails(shared: str, numbers: list[int]) -> list[int]:
    raise ConcordanceError("The disk is full")
