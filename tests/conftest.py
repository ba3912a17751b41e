"""What all tests share: a facts cache of their own, a git configuration that no setting of the machine affects, and
default signal handlers, because a shell starts background jobs with Ctrl-C ignored and every process that a test starts
would inherit that.

Programs that tests start may write compiled files, whatever the environment says: hundreds of them start, and compiling
the package takes longer than their work. The thread by which a worker of the test runner receives commands must not
keep the program from forking: it only waits on a pipe that nothing else reads.

Folders of tests are in memory where that is possible: a build of a few files waits for the disk 70 times, mostly for
its full-text index.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from concordance.base import forks
from concordance.workflow import builds
from tests.support import program, starter

_TASKS = forks._tasks
_OF_THE_RUNNER = frozenset(_TASKS()) - {threading.main_thread().native_id}

_MEMORY, _ENOUGH = "/dev/shm", 4 << 30  # where Linux has a file system in memory; bytes that must be free there

settings.register_profile("busy machine", deadline=None)  # how long an example takes says nothing there
settings.load_profile("busy machine")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL), (signal.SIGTERM, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, handler)


def _is_suitable(folder: str) -> bool:
    """True if there is enough space, and programs in the folder can be run, as some tests do."""
    if not os.access(folder, os.W_OK):
        return False
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize >= _ENOUGH and not found.f_flag & os.ST_NOEXEC


if _is_suitable(_MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)


def pytest_xdist_auto_num_workers() -> int:
    """Two workers for each processor: a test often waits for a process that it started."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture(scope="session", autouse=True)
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Path]]:
    """Folders that are not there yet: pytest would look through all of a run's folders to make one more. What several
    tests share is built with a cache that they share."""
    home = tmp_path_factory.mktemp("caches")
    if "PYTEST_XDIST_WORKER" in os.environ:  # a worker runs hundreds of builds, whose processes would do it each time
        starter.load_grammars()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(home / "shared"))
        yield (home / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_surroundings(_caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    cache = next(_caches)
    monkeypatch.setenv("CONCORDANCE_CACHE", str(cache))
    monkeypatch.setattr(os, "sched_getaffinity", starter.one_processor)
    monkeypatch.setattr(forks, "_tasks", lambda: [task for task in _TASKS() if task not in _OF_THE_RUNNER])
    # To look through all objects of the tests takes 0.2 s, half of a small build. Builds in other processes do it.
    monkeypatch.setattr(builds, "release_freed_memory", lambda: None)
    for name, value in program.GIT.items():
        monkeypatch.setenv(name, value)
    yield
    shutil.rmtree(cache, ignore_errors=True)


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
