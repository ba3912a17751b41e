"""Starts worker processes that import nothing from the current folder.

In: nothing. Out: a `multiprocessing` context whose fork server, resource tracker and workers run in safe-path mode, in
a neutral folder, with this process's module path.

`multiprocessing` starts its servers as `python -c ...`, which puts the current folder first on the module path, and
makes each worker run the main script again. There is no setting for either, so the two functions that control this are
replaced while a process is being started.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing import popen_forkserver, resource_tracker, spawn, util
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.process import BaseProcess
from typing import Any

from concordance.base import startup

_LOCK = threading.RLock()


class _Popen(popen_forkserver.Popen):
    def _launch(self, process_obj: BaseProcess) -> None:
        with safe_start():  # a server that died is restarted in here
            super()._launch(process_obj)  # type: ignore[misc]


class _Process(ForkServerProcess):
    @staticmethod
    def _Popen(process_obj: BaseProcess) -> popen_forkserver.Popen:
        return _Popen(process_obj)


class SafeForkServerContext(ForkServerContext):
    """Workers from a fork server."""

    Process = _Process

    def set_forkserver_preload(self, module_names: list[str]) -> None:
        """Let the server import modules, and always this one, which each worker needs."""
        super().set_forkserver_preload([*module_names, __name__])


@contextmanager
def safe_start() -> Iterator[None]:
    """Make `multiprocessing` start processes safely while the context lasts."""
    with _LOCK:
        prepared, spawned = spawn.get_preparation_data, util.spawnv_passfds
        spawn.get_preparation_data, util.spawnv_passfds = partial(_prepare_imports, prepared), _spawn
        try:
            yield
        finally:
            spawn.get_preparation_data, util.spawnv_passfds = prepared, spawned


def start_tracker() -> None:
    """Start the process that tracks semaphores, if it is not running."""
    with safe_start():
        resource_tracker.ensure_running()


def _prepare_imports(prepare: Callable[[str], dict[str, Any]], name: str) -> dict[str, Any]:
    """Return the preparation data of a worker; it does not run the main script, which our work never needs."""
    data = {key: value for key, value in prepare(name).items() if not key.startswith("init_main")}
    return {**data, "sys_path": startup.child_path(), "dir": startup.NEUTRAL, "orig_dir": startup.NEUTRAL}


def _spawn(path: bytes, args: Sequence[Any], passfds: Sequence[int]) -> int:
    """Start `python ... -c command` and return the id of the process."""
    at = args.index("-c") + 1
    command = f"import sys; sys.path[:] = {startup.child_path()!a}; {args[at]!s}"
    safe = [args[0], "-P", *args[1:at], command, *args[at + 1 :]]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    started = subprocess.Popen(  # noqa: S603 - our own interpreter
        safe, executable=path, pass_fds=tuple(passfds), cwd=startup.NEUTRAL, restore_signals=False,
        env={**kept, "PYTHONSAFEPATH": "1"},
    )  # fmt: skip
    started.returncode = 0  # the caller waits for the process id; Popen must not
    return started.pid
