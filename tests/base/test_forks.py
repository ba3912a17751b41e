"""When the program forks, what its children inherit, how it waits for other processes, and what remains when it is
killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from concordance.base.errors import NoPermission, StoreFailed
from concordance.facts.integrity import lock
from concordance.workflow.workers import pool, temp_folder
from concordance.workflow.workers.executor import FailedItem
from tests.support import program
from tests.support.program import build, write

# Runs a script in a process that has no thread but its first, which a test run need not have.
PRELUDE = """
import fcntl, gc, os, sqlite3, sys, threading
from concordance.base import forks
from concordance.workflow.workers import forked, pool as parallel
def names(shared, items): return [os.getpid() for _ in items]
def held():
    found = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]
    return sorted(os.path.basename(path) for path in found if "lock" in path or "alive" in path)
def parent_of(pid): return int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1])
def holding(shared, items): return [held() for _ in items]
def each(work): return [one for result in forked.map_forked(None, work, [[1], [2]], 2, 60.0) for one in result]
"""


def script(text: str, *args: str | Path, code: int = 0) -> str:
    """Return what a script prints."""
    command = [sys.executable, "-c", PRELUDE + text, *map(str, args)]
    done = subprocess.run(command, env=program.environment(), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with its store."""
    folder = tmp_path_factory.mktemp("model") / "repo"
    folder.mkdir()
    write(folder, program.SAMPLE)
    program.age(folder)
    build(folder, "--no-book", env={"CONCORDANCE_CACHE": str(folder.parent / "cache")})
    return folder


@pytest.fixture
def built(model: Path, tmp_path: Path) -> Path:
    """A copy of `model`."""
    return Path(shutil.copytree(model, tmp_path / "built", copy_function=shutil.copy2))


# The rule


THREADS = {
    "a thread with a locked file": """
file = open(sys.argv[1] + "/held", "w")
fcntl.flock(file, fcntl.LOCK_EX)
done = threading.Event()
threading.Thread(target=done.wait, daemon=True).start()
""",
    "a thread with a transaction": """
done, begun = threading.Event(), threading.Event()
def write():
    connection = sqlite3.connect(sys.argv[1] + "/some.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    begun.set()
    done.wait()
threading.Thread(target=write, daemon=True).start()
begun.wait()
""",
    "a writer of the text index": """
from concordance.facts.fulltext.index import TextWriter
writer = TextWriter(sys.argv[1], None)
""",
}


@pytest.mark.parametrize("thread", THREADS)
def test_nothing_is_forked_while_another_thread_runs(thread: str, tmp_path: Path) -> None:
    """The process does the work of forked workers itself, and code that forks all the same is refused."""
    said = script(f"""
forks._SETTLE = 0.2
assert os.getpid() not in each(names)
{THREADS[thread]}
assert set(each(names)) == {{os.getpid()}}
for start in (forks.Process(target=print).start, forks.fork):
    try:
        start()
    except forks.ForkRefused as error:
        print(error)
""", tmp_path)
    assert said.count("cannot fork a worker process while other threads run") == 2


def test_readers_come_from_a_server_while_the_index_is_written(tmp_path: Path) -> None:
    """The same after forked workers were killed, while threads of the index are running."""
    script("""
from concordance.facts.fulltext.index import TextWriter
pool = parallel.Pool(1, gc.disable, ["concordance.workflow.stages.extract"], lambda items: 60.0, lambda dead, items: None, fork=True)
assert pool.begin()
writer = TextWriter(sys.argv[1], None)
pool.kill()
assert list(parallel.map_batches(pool, sorted, [[2, 1]])) == [[1, 2]]
[server] = {parent for worker in pool._executor._processes for parent in [parent_of(worker)]}
assert server != os.getpid()
pool.close()
writer.finish("1")
""", tmp_path)


def test_threads_that_end_are_waited_for(tmp_path: Path) -> None:
    """The threads of an index end a moment after it was written."""
    script("""
from concordance.facts.fulltext.index import TextWriter
writer = TextWriter(sys.argv[1], None)
writer.finish("1")
assert os.getpid() not in each(names)
""", tmp_path)


def test_what_a_child_holds(tmp_path: Path) -> None:
    """A child holds no lock of its parent: not of the store, of an index, or of a temporary folder."""
    said = script("""
from concordance.workflow.workers import temp_folder as scratch
from concordance.facts.integrity import lock
index = open(sys.argv[1] + "/.tantivy-meta.lock", "w")
fcntl.flock(index, fcntl.LOCK_EX)
with lock.hold_lock(sys.argv[1], print), scratch.folder():
    mine = held()
    theirs = each(holding)
print(mine, theirs)
""", tmp_path)
    assert said == "['.tantivy-meta.lock', 'alive', 'lock'] [[], []]\n"


def test_only_one_module_forks() -> None:
    package = Path(program.TREE / "concordance")
    for path in package.rglob("*.py"):
        if path.name != "forks.py":
            text = path.read_text()
            for word in ("os.fork", 'get_context("fork")', "multiprocessing.Process", "context.ForkContext", "ForkProcess"):
                assert word not in text, f"{path} has {word}"


# What an update does to have every thread at its fork written down.
SPY = """
import json, os, sys
from concordance.workflow import store_update
from concordance.base import forks
from concordance.workflow import pipeline
def note():
    with open(sys.argv[2], "a") as file:
        file.write(json.dumps(list(forks.other_threads().values())) + "\\n")
os.register_at_fork(before=note)
if __name__ == "__main__":
    if sys.argv[3:] == ["killed"]:
        pool_of = pipeline.workers_pool.Pool.submit
        def submit(pool, work, batch):
            future = pool_of(pool, work, batch)
            if getattr(work, "func", None) is pipeline.extract.extract_files and not hasattr(pool, "was_killed"):
                pool.was_killed = True
                for process in pool._executor._processes.values():
                    process.kill()
            return future
        pipeline.workers_pool.Pool.submit = submit
    summary = store_update.build(sys.argv[1], 2)
    print(summary.read)
"""


@pytest.mark.parametrize("update", ["an edit", "a macro", "a lost index", "killed"])
def test_no_update_forks_beside_a_thread(built: Path, tmp_path: Path, update: str) -> None:
    """Covers each case in which an update starts workers: an edited file, a changed macro whose users are read again, a
    lost text index, and workers that were killed while the index was open."""
    repo = built
    threads, spy = tmp_path / "threads", tmp_path / "spy.py"
    spy.write_text(SPY)
    write(repo, {"a.py": "def other(): pass\n"})
    if update == "a macro":
        write(repo, {"lib/api.h": "#define LIB_API\n#define MORE(x) x\nclass LIB_API Leaf { int size; };\n"})
    elif update == "a lost index":
        shutil.rmtree(repo / ".concordance/text")
    command = [sys.executable, str(spy), str(repo), str(threads), *([update] if update == "killed" else [])]
    done = subprocess.run(command, env=program.environment(), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    expected = {"an edit": 1, "a macro": 4, "a lost index": 6, "killed": 1}
    assert int(done.stdout) == expected[update]
    forked = [json.loads(line) for line in threads.read_text().splitlines()]
    assert forked and not any(forked), forked


# Waits and limits


def test_a_call_that_does_not_return_is_said_and_ended() -> None:
    command = """
import time
from concordance.facts.fulltext.index import watch_call
with watch_call("a thing that is quick"):
    pass
assert forks.can_fork()
with watch_call("the index to be written", 0.2, 0.5):
    time.sleep(600)
"""
    done = subprocess.run([sys.executable, "-c", PRELUDE + command], env=program.environment(), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "still waiting for the index to be written after 0 s\n" in done.stderr
    assert done.stderr.endswith("concord: gave up waiting for the index to be written after 1 s; the last complete store is unchanged\n")


def test_workers_that_do_not_end_are_killed() -> None:
    """A stopped worker ignores the request to end, and an executor would wait for it forever."""
    script("""
import signal
parallel._GRACE = 0.5
pool = parallel.Pool(2, gc.disable, [], lambda items: 60.0, lambda dead, items: None, fork=True)
assert pool.begin()
for pid in list(pool._executor._processes):
    os.kill(pid, signal.SIGSTOP)
pool.close()
assert forks.can_fork()
""")


def _hostile(item: str) -> str:
    while item == "endless":
        pass
    return item + (" " * (1 << 44) if item == "large" else "")


def test_what_is_done_without_workers_is_bounded() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    good, endless, large, last = pool.map_here(_hostile, ["good", "endless", "large", "last"], 0.05)
    assert (good, last) == ("good", "last")
    assert isinstance(endless, FailedItem)
    assert isinstance(large, FailedItem)
    assert (endless.item, endless.reason) == ("endless", "its reader did not finish within 0 s")
    assert (large.item, large.reason) == ("large", "its reader failed: MemoryError: ")
    assert resource.getrlimit(resource.RLIMIT_AS) == before


# What killed builds leave


def test_temporary_folders_of_dead_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of living runs, of other programs, and with similar names stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("")
    dead, old, new, empty = (tmp_path / f"concordance-{name}" for name in ("deaddead", "old_old_", "new_new_", "empty_em"))
    for folder in (dead, old, new):
        folder.mkdir()
        (folder / "link").symlink_to(outside)
    (dead / "alive").write_text("")
    os.utime(old, (1, 1))
    empty.mkdir()
    os.utime(empty, (time.time() - 100, time.time() - 100))
    (tmp_path / "concordance-linklink").symlink_to(outside)
    (tmp_path / "concordance-notes").mkdir()
    with temp_folder.folder() as alive:
        assert not dead.exists()
        assert not old.exists()
        assert not empty.exists()
        assert new.exists()
        with temp_folder.folder():
            assert Path(alive).exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["concordance-linklink", "concordance-new_new_", "concordance-notes", "outside"]
    assert (outside / "kept").exists()


def test_a_temporary_folder_that_another_run_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its creation and its lock, a folder looks like a leftover to a run that cleans up."""
    real, removed = temp_folder.fcntl.flock, []

    def flock(handle: int, operation: int) -> None:
        for folder in tmp_path.iterdir() if not removed else ():
            shutil.rmtree(folder)
            removed.append(folder)
        real(handle, operation)

    monkeypatch.setattr(temp_folder.fcntl, "flock", flock)
    with temp_folder.folder(str(tmp_path)) as found:
        assert removed and os.listdir(found) == ["alive"]


def test_what_a_dead_build_left_in_the_store(built: Path) -> None:
    home = built / ".concordance"
    (home / "text.123.new").mkdir()
    (home / "text.123.old.new").mkdir()
    (home / "index.db.123.new").write_text("")
    (home / "mine.new").write_text("")
    build(built, "--no-book")
    assert [path.name for path in home.glob("*.new")] == ["mine.new"]


# Waiting for another build


def test_who_holds_the_lock_is_said(folder: Path) -> None:
    home = folder / ".concordance"
    home.mkdir()
    said: list[str] = []
    holder = subprocess.Popen(
        [sys.executable, "-c", "import sys, time\nfrom concordance.facts.integrity import lock\nwith lock.hold_lock(sys.argv[1], print):\n    print('held', flush=True)\n    time.sleep(600)", str(home)],
        env=program.environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(StoreFailed, match=rf"is still held by process {holder.pid}, .*since \d\d:\d\d:\d\d after 0 s .*kill {holder.pid}"), lock.hold_lock(str(home), said.append, 0.2):
            pass
        assert len(said) == 1
        assert said[0].startswith(f"another build of this repository is running (process {holder.pid}, ")
    finally:
        holder.kill()
        holder.communicate()
    with lock.hold_lock(str(home), said.append):
        assert len(said) == 1, "the system took it back"


def test_a_lock_that_a_dead_build_left_to_a_child(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The holder is dead, but a process that it started has inherited the descriptor."""
    home = folder / ".concordance"
    home.mkdir()
    monkeypatch.setattr(lock, "_ORPHANED", 0.1)
    handle = os.open(home / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
    dead = subprocess.Popen(["true"])
    dead.wait()
    os.write(handle, f"{dead.pid} 12345 1 {lock._system()}\n".encode())
    said: list[str] = []
    with lock.hold_lock(str(home), said.append, 60):
        assert f"the build of process {dead.pid} is dead" in said[-1]
        assert lock.is_held(str(home))
    os.close(handle)


def test_a_lock_of_another_machine_is_not_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = folder / ".concordance"
    home.mkdir()
    monkeypatch.setattr(lock, "_ORPHANED", 0.0)
    handle = os.open(home / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
    os.write(handle, b"1073741824 12345 1 elsewhere\n")
    with pytest.raises(StoreFailed, match="still held by process 1073741824 since"), lock.hold_lock(str(home), list, 0.3):
        pass
    os.close(handle)


def test_a_lock_that_is_no_file(folder: Path) -> None:
    (folder / ".concordance").mkdir()
    os.mkfifo(folder / ".concordance/lock")
    assert not lock.is_held(str(folder / ".concordance"))
    with pytest.raises(NoPermission, match="not a regular file"), lock.hold_lock(str(folder / ".concordance"), list):
        pass


def test_only_processor_time_counts_against_an_item() -> None:
    """On a busy or suspended machine an item is late only by the clock; an item that blocks is given up in the end."""
    script("""
import time
def wait(shared, items):
    for seconds in items: time.sleep(seconds)
    return items
def turn(shared, items):
    while True: pass
def answers(work, seconds): return list(forked.map_forked(None, work, [[seconds]], 1, 0.2))
assert answers(wait, 1) == [[1]]
[blocked], [endless] = answers(wait, 1000), answers(turn, 0)
assert "did not finish" in blocked.reason and "did not finish" in endless.reason
""")


def test_what_earlier_items_left_does_not_count_against_an_item() -> None:
    """A worker that had read much used to run out of memory at an item that another worker could read, so the split of
    the work decided which files were given up. `bytes` of zeros are never touched (a `bytearray` is), so they cost
    nothing."""
    script("""
from concordance.base.config import Config
most, hoard = Config().memory, []
def fill(shared, items):
    hoard.extend(bytes(int(most * part)) for part in items)
    return items
def here(item): return fill(None, [item])
parts = [[0.3] for _ in range(8)]
assert list(forked.map_forked(None, fill, parts, 1, 60.0)) == parts
[large] = forked.map_forked(None, fill, [[1.1]], 1, 60.0)
assert "MemoryError" in large.reason
assert list(parallel.map_here(here, [0.3] * 8)) == parts
assert "MemoryError" in next(parallel.map_here(here, [1.1])).reason
""")
