"""Starts the program in a fork of a process that has imported it: hundreds of tests run it, and importing takes longer
than most of its work on a few files.

In: arguments, variables, a folder, files for both outputs, and perhaps a point at which to kill the run (see
`stopping`). Out: the exit code. A separate process imports the package once and forks for each run, so a run begins as
a new process would: without threads, signal handlers or anything of the tests. What happens while Python itself starts
is not covered; tests of that start the program themselves.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import pickle
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn

TREE = Path(__file__).parents[2]
_MOST = 1 << 18  # bytes of a request
_OF_EXTRAS = ("concordance.serve.lsp_server", "concordance.serve.mcp_server")


def one_processor(process: int) -> set[int]:
    """Replaces `os.sched_getaffinity`, so that a build starts one worker for each stage unless a test asks for more: a
    second one costs a quarter of a small build."""
    return {0}


class Starter:
    """The process that forks; it is started when first needed, and ends with this one."""

    def __init__(self) -> None:
        self._busy = threading.Lock()
        self._link: socket.socket | None = None

    def run(
        self, args: Sequence[str], cwd: str, variables: Mapping[str, str], out: IO[str], errors: IO[str], seconds: float,
        killed_at: str = "",
    ) -> int | None:
        """Run the program to its end, and return its exit code; None while it runs for another thread."""
        if not self._busy.acquire(blocking=False):
            return None
        try:
            return self._run(pickle.dumps((list(args), cwd, dict(variables), killed_at)), [out.fileno(), errors.fileno()], seconds)
        except BaseException:
            self._link = None  # the next run gets another process
            raise
        finally:
            self._busy.release()

    def _run(self, request: bytes, files: list[int], seconds: float) -> int:
        link = self._link = self._link or _started()
        socket.send_fds(link, [request], files)
        link.settimeout(60)
        process = int(link.recv(20))
        try:
            link.settimeout(seconds)
            return int(link.recv(20))
        except BaseException as error:
            os.kill(process, signal.SIGKILL)
            if isinstance(error, TimeoutError):
                raise subprocess.TimeoutExpired(["concord"], seconds) from error
            raise


def _started() -> socket.socket:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = "import sys; del sys.path[0]; from tests.support import starter; starter.main(int(sys.argv[1]))"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV_"))}
    with there:
        process = subprocess.Popen(
            [sys.executable, "-c", command, str(there.fileno())], pass_fds=[there.fileno()], cwd=TREE,
            env={**kept, "PYTHONPATH": str(TREE)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    atexit.register(_end, here, process)
    return here


def _end(link: socket.socket, process: subprocess.Popen[bytes]) -> None:
    link.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:  # a child of this process has the link, too
        process.kill()
        process.wait()


def load_grammars() -> None:
    """Compile the queries of all languages: otherwise every worker of every build, which is forked from this process,
    would compile those of its files, which takes longer than reading them."""
    from concordance.extract import engine, registry

    for language in registry.readers():
        engine.extract("", language)


def compute_code_versions() -> None:
    """Hash the program's modules: every run would do it again, which takes a tenth of a small build."""
    from concordance.facts import code_versions

    for version in (code_versions.readers, code_versions.linkers, code_versions.pages, code_versions.site):
        version()


def main(number: int) -> NoReturn:
    """Fork for each request; the child continues as the program."""
    for package in ("concordance", "concordance_torch"):
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if module.name not in _OF_EXTRAS:
                importlib.import_module(module.name)
    load_grammars()
    compute_code_versions()
    os.sched_getaffinity = one_processor
    importlib.import_module("concordance.workflow.builds").release_freed_memory = lambda: None  # a tenth of a small build
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=number) as link:
        while True:
            request, files, _, _ = socket.recv_fds(link, _MOST, 2)
            if not request:
                os._exit(0)
            process = os.fork()
            if not process:
                break
            for file in files:
                os.close(file)
            link.send(str(process).encode())
            link.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())
    threading.main_thread()._set_native_id()  # type: ignore[attr-defined]  # as multiprocessing does after a fork
    args, cwd, variables, killed_at = pickle.loads(request)
    for file, standard in zip(files, (1, 2), strict=True):
        os.dup2(file, standard)
        os.close(file)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variables)
    if killed_at:
        os.setsid()  # the whole group is killed
        importlib.import_module("tests.support.stopping").kill_at(killed_at)
    sys.argv[:] = [str(Path(sys.executable).parent / "concord"), *args]
    _run_program()


def _run_program() -> NoReturn:
    """Run the program and end this process, without freeing one by one all objects that were imported: that takes
    longer than a question."""
    code: object = 0
    try:
        importlib.import_module("concordance.entry").main()
    except SystemExit as ending:
        code = ending.code
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as Python does before it exits
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else code is not None)
