"""The process that talks to Ray, and the task that Ray's workers run.

In: messages of the build: data and files to share, and tasks, as bytes. Out: messages with the result of each task, and
with the number of processors of the cluster whenever it changes. Tasks are not unpickled here: this process only passes
bytes on. Ray is imported here and in its workers only; it is an optional dependency.
"""

from __future__ import annotations

import gc
import os
import pickle
import secrets
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import cache, partial
from multiprocessing.connection import Client, Connection
from typing import Any, NamedTuple

from concordance.base import forks, startup
from concordance.base.errors import ConcordanceError
from concordance.facts import code_versions
from concordance.workflow.workers import machine_files, pool, temp_folder
from concordance.workflow.workers.executor import FailedItem
from concordance.workflow.workers.machine_files import FolderFiles

_RETRIES, _RETRIES_ALONE = 1, 2  # times that Ray runs a batch, and an item alone, again whose worker was lost
_LOOK = 1.0  # seconds between two looks at the number of processors
_KILLED_AFTER = 1.5  # times the patience with a batch: then a parser that never returns ends with its worker
_REMOVING = 10.0  # seconds that removing files from the machines may take
_LONGEST_REASON = 300  # characters
_SAME = "Install the same versions on all machines, for example by one container image"
_INSTALL = "pip install 'repo-concordance[scale]'"


class RemoteTask(NamedTuple):
    """A batch, as it is sent to a worker."""

    version: str  # of the build's program
    work: Callable[[Any, list[Any]], Any]
    batch: list[Any]
    patience: float  # seconds of processor time for the batch
    patience_each: list[float]  # the same for each item alone


class Outcome(NamedTuple):
    """What a worker made of a batch."""

    results: list[Any]
    failed: list[tuple[int, str, bool]]  # place in the batch, reason, and whether there was too little memory
    error: ConcordanceError | None = None  # one that concerns the whole build


class _SentFiles(NamedTuple):
    """Files that were sent to the machines of the cluster."""

    name: str
    key: str
    pieces: list[Any]  # references


class VersionMismatch(ConcordanceError):
    """A worker would make other results than this process."""


class Lost(NamedTuple):
    """Why there is no outcome: the worker died, again and again."""

    reason: str


def drive(connection: Connection, address: str, jobs: int, settings: Mapping[str, str]) -> None:
    """Run tasks until the other end of the connection is closed. `settings` are Ray's environment variables: the server
    that started this process may have been started before they were set."""
    os.environ.update(settings)
    forks.ignore_terminal_signals()
    threading.Thread(target=forks.exit_with_parent, daemon=True).start()
    with open(os.devnull, "wb") as nowhere:  # Ray prints its log; what concerns the user is sent instead
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    with temp_folder.folder("/tmp") as folder:  # noqa: S108 (Ray's sockets need a short path)
        try:
            ray = _connect(address, jobs, folder)
        except ConcordanceError as error:
            connection.send(("failed", 0, (error.message, error.what_to_do)))
            return
        try:
            _Driver(ray, connection).run()
        finally:
            ray.shutdown()


def _connect(address: str, jobs: int, folder: str) -> Any:
    """Connect to a cluster, or start one on this machine; return the module `ray`."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_task_oom_retries", str(_RETRIES_ALONE))
    if not address:
        os.environ["PYTHONPATH"] = os.pathsep.join(startup.child_path())  # the workers' program is this one
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # then Ray listens on loopback only
        os.environ["RAY_AUTH_MODE"] = "token"  # of this run: nobody else on this machine can send tasks
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    try:
        import ray
    except ModuleNotFoundError as error:
        reason = "" if error.name == "ray" else f": {error}"
        raise ConcordanceError(f"the executor `ray` needs the extra `scale`{reason}", _INSTALL) from None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "critical"}
    if not address:
        local: dict[str, Any] = {"num_cpus": jobs, "include_dashboard": False, "_temp_dir": folder}
        try:
            ray.init("local", **local, **quiet)
        except Exception as error:
            raise ConcordanceError(*not_connected("", _reason(error))) from None
        return ray
    try:
        _find_refusal(address)
        ray.init(address, **quiet)
    except Exception as error:
        raise ConcordanceError(*not_connected(address, _reason(error))) from None
    return ray


def _find_refusal(address: str) -> None:
    """Raise ConnectionRefusedError if nothing listens at the address of a cluster: Ray would ask for half a minute."""
    host, _, port = address.rpartition("/")[2].rpartition(":")
    try:
        Client((host, int(port))).close()
    except ConnectionRefusedError:
        raise
    except (OSError, ValueError, OverflowError):  # whether this is an address that Ray understands, Ray knows
        return


def program_version() -> str:
    """Return the version of everything that decides what a task returns."""
    return f"{code_versions.readers()} {code_versions.linkers()} {code_versions.pages()} {code_versions.site()}"


def not_connected(address: str, reason: str) -> tuple[str, str]:
    """Return why there is no cluster, and what to do."""
    if not address:
        return f"Ray cannot be started on this machine: {reason}", "Run the build without `--executor ray`"
    if "ersion mismatch" in reason or "Python version" in reason:
        what = f"the Ray cluster at {address} has another version: {reason}"
        return what, "Install the versions of Python and Ray that the cluster has"
    return (
        f"the Ray cluster at {address} cannot be reached: {reason}",
        "Run the build on a machine of the cluster (`ray start --address=HEAD:PORT`), and check address and port",
    )


def _reason(error: BaseException) -> str:
    """Return the beginning of an error's text, in one line."""
    return " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__


class _Driver:
    """Submits tasks to Ray, and sends back what becomes of them."""

    def __init__(self, ray: Any, connection: Connection) -> None:
        self._ray, self._connection = ray, connection
        self._sending = threading.Lock()
        self._shared: Any = None  # a reference to what all workers need
        self._files: list[_SentFiles] = []  # what was sent to the machines for the current tasks …
        self._sent: dict[FolderFiles, _SentFiles] = {}  # … and since the build began
        self._run = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(run_task)
        self._ended = threading.Event()

    def run(self) -> None:
        """Submit what the build sends."""
        self._send("processors", self._processors(), None)
        watch = threading.Thread(target=self._watch_processors, daemon=True)
        watch.start()
        with suppress(EOFError, OSError):
            while True:
                what, number, key, data = self._connection.recv()
                if what == "share":
                    self._share(data)
                else:
                    run = self._run.options(max_retries=_RETRIES_ALONE if what == "item" else _RETRIES)
                    answer: Future[bytes] = run.remote(key, [self._shared], self._files, data).future()
                    answer.add_done_callback(partial(self._answer, number))
        self._ended.set()
        watch.join()
        self._remove_files()

    def _share(self, data: bytes) -> None:
        """Put what all workers need into Ray's store of objects: data as bytes, and files of this machine."""
        shared, files = pickle.loads(data)  # noqa: S301 (our own)
        self._shared = self._ray.put(shared)
        for file in files:
            if file not in self._sent:
                pieces = list(map(self._ray.put, machine_files.read_pieces(file)))
                self._sent[file] = _SentFiles(file.name, secrets.token_hex(16), pieces)
        self._files = [self._sent[file] for file in files]

    def _remove_files(self) -> None:
        """Remove the files that were sent to the machines of the cluster."""
        if self._sent:
            remove = self._ray.remote(num_cpus=0)(machine_files.remove)
            nodes = [node["NodeID"] for node in self._ray.nodes() if node["Alive"]]
            on = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
            keys = [files.key for files in self._sent.values()]
            tasks = [remove.options(scheduling_strategy=on(node, soft=False)).remote(keys) for node in nodes]
            self._ray.wait(tasks, num_returns=len(tasks), timeout=_REMOVING)

    def _answer(self, number: int, future: Future[bytes]) -> None:
        error = future.exception()
        with suppress(OSError):  # the build has ended
            self._send("done", number, future.result() if error is None else self._failure(error))

    def _failure(self, error: BaseException) -> Lost | bytes:
        """Return what to send for a task without an outcome."""
        if isinstance(error, self._ray.exceptions.RayTaskError) or "Setup" in type(error).__name__:
            text = str(getattr(error, "cause", None) or error)
            missing = "concordance" in text and "No module named" in text
            what = "has no Concordance" if missing else f"cannot run tasks: {_last_line(text)}"
            return pickle.dumps(Outcome([], [], ConcordanceError(f"a Ray worker {what}", _SAME)))
        return Lost(type(error).__name__)

    def _processors(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 0))

    def _watch_processors(self) -> None:
        """Say how many processors the cluster has: machines may come and go. Also shows that this process is alive."""
        with suppress(Exception):  # disconnected: the build notices that nothing comes any more
            while not self._ended.wait(_LOOK):
                self._send("processors", self._processors(), None)

    def _send(self, what: str, number: int, answer: object) -> None:
        with self._sending:
            self._connection.send((what, number, answer))


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "unknown")


# --- in a worker


def run_task(key: str, shared: list[Any], files: list[_SentFiles], data: bytes) -> bytes:
    """Run a batch in a worker of Ray, and return its `Outcome` as bytes."""
    task: RemoteTask = pickle.loads(data)  # noqa: S301 (the build that uses this cluster)
    gc.disable()  # as in the workers of a process pool
    try:
        if task.version != program_version():
            raise VersionMismatch("A worker has another version of Concordance or of a parser than this build", _SAME)
        with _killed_after(_KILLED_AFTER * task.patience):
            outcome = _run_batch(task, _shared(key, shared[0], files))
    except ConcordanceError as error:
        outcome = Outcome([], [], error)
    return pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)


def _run_batch(task: RemoteTask, shared: object) -> Outcome:
    work = partial(task.work, shared)
    for result in pool.map_here(work, [task.batch], task.patience):
        if not isinstance(result, FailedItem):
            return Outcome([result], [])
    results, failed = [], list[tuple[int, str, bool]]()
    for place, (item, seconds) in enumerate(zip(task.batch, task.patience_each, strict=True)):
        for result in pool.map_here(work, [[item]], seconds):
            if isinstance(result, FailedItem):
                failed.append((place, result.reason, result.out_of_memory))
            else:
                results.append(result)
    return Outcome(results, failed)


def _shared(key: str, reference: Any, files: list[_SentFiles]) -> object:
    """Return the data that every batch needs; a worker unpickles it once."""
    kept = _last_shared()
    if key not in kept:
        import ray

        kept.clear()
        gc.collect()
        shared = pickle.loads(ray.get(reference))  # noqa: S301
        if files:
            shared.use_files({file.name: machine_files.unpack(file.key, map(ray.get, file.pieces)) for file in files})
        kept[key] = shared
    return kept[key]


@cache
def _last_shared() -> dict[str, object]:
    """The shared data of this worker's last batch; it ends with the worker."""
    return {}


@contextmanager
def _killed_after(seconds: float) -> Iterator[None]:
    """Let the system end this worker after so many seconds of processor time: a parser that never returns cannot be
    interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
