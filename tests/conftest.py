"""What all tests share: a facts cache of their own, a git configuration that no setting of the machine affects, and
default signal handlers, because a shell starts background jobs with Ctrl-C ignored and every process that a test starts
would inherit that.

Programs that tests start may write compiled files, whatever the environment says: hundreds of them start, and compiling
the package takes longer than their work. The thread by which a worker of the test runner receives commands must not
keep the program from forking: it only waits on a pipe that nothing else reads.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from concordance.base import forks
from tests.support import program

_TASKS = forks._tasks
_OF_THE_RUNNER = frozenset(_TASKS()) - {threading.main_thread().native_id}

settings.register_profile("busy machine", deadline=None)  # how long an example takes says nothing there
settings.load_profile("busy machine")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL), (signal.SIGTERM, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)


def pytest_xdist_auto_num_workers() -> int:
    """Two workers for each processor: a test often waits for a process that it started."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture(scope="session", autouse=True)
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Path]]:
    """Folders that are not there yet: pytest would look through all of a run's folders to make one more. What several
    tests share is built with a cache that they share."""
    home = tmp_path_factory.mktemp("caches")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(home / "shared"))
        yield (home / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_surroundings(_caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(next(_caches)))
    monkeypatch.setattr(forks, "_tasks", lambda: [task for task in _TASKS() if task not in _OF_THE_RUNNER])
    for name, value in program.GIT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder, which no git knows."""
    made = tmp_path / "repo"
    made.mkdir()
    return made


@pytest.fixture
def repo(folder: Path) -> Path:
    """A git repository with a few files, the last of them two minutes old."""
    program.sample(folder)
    return folder
