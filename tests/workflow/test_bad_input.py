"""Bad input and failures of the system: each gets a clear message or a line in the ledger, and nothing else is lost."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from concordance.base.config import Config
from concordance.extract import registry
from concordance.facts.read import Facts
from concordance.workflow.pipeline import Build
from concordance.workflow.stages import extract
from tests.support import books, program
from tests.support.held import HeldBuild
from tests.support.program import age, ask, build, concord, crowd, dump, git, ledger, write

# The path


def test_no_such_path(tmp_path: Path) -> None:
    for args in (["build", "nowhere"], ["symbols", "a.py", "--repo", "nowhere"], ["keywords", "--repo", "nowhere"]):
        said = concord(*args, cwd=tmp_path, code=2).stderr
        assert said == f"concord: {tmp_path}/nowhere does not exist. Check the path for typos\n"
    assert not list(tmp_path.iterdir())


def test_a_file_as_repository(repo: Path) -> None:
    said = concord("build", repo / "a.py", code=2).stderr
    assert said == f"concord: {repo}/a.py is a file. Name the folder that contains the repository\n"


@pytest.mark.parametrize("known_to_git", [True, False])
def test_an_empty_repository(folder: Path, known_to_git: bool) -> None:
    if known_to_git:
        git(folder, "init", "-q")
    assert concord("build", folder).stdout.startswith("files            0  there is nothing to read yet\n")
    assert build(folder)["read"] == 0
    assert ask("keywords", "--repo", folder) == []
    assert ledger(folder) == {}


def test_a_folder_that_may_not_be_read(folder: Path) -> None:
    folder.chmod(0)
    said = concord("build", folder, code=2, preexec_fn=program.bound).stderr
    folder.chmod(0o755)
    assert "no permission to read" in said


def test_a_folder_that_may_not_be_written(repo: Path) -> None:
    repo.chmod(0o555)
    said = concord("build", repo, code=2, preexec_fn=program.bound).stderr
    repo.chmod(0o755)
    assert said.startswith(f"concord: {repo}/.concordance cannot be created: Permission denied. ")


def test_a_store_that_may_not_be_written_answers(repo: Path) -> None:
    build(repo)
    store = repo / ".concordance"
    for name in ("index.db-wal", "index.db-shm"):
        (store / name).unlink(missing_ok=True)
    write(repo, {"a.py": "x = 1\n"})
    for path in (*store.iterdir(), store):
        path.chmod(path.stat().st_mode & 0o555)
    try:
        said = concord("symbols", "a.py", cwd=repo, code=2, preexec_fn=program.bound).stderr
        assert "--no-update" in said and "--store" in said
        rows = ask("symbols", "a.py", "--no-update", cwd=repo, preexec_fn=program.bound)
        assert [row["name"] for row in rows] == ["Tree", "grow"]
    finally:
        store.chmod(0o755)


# Single files


def test_no_permission_on_one_file_and_on_one_folder(repo: Path) -> None:
    write(repo, {"shut.py": "x = 1\n", "shut/inner.py": "x = 1\n"})
    (repo / "shut.py").chmod(0)
    (repo / "shut").chmod(0)
    try:
        concord("build", repo, preexec_fn=program.bound)
    finally:
        (repo / "shut").chmod(0o755)
    found = ledger(repo)
    assert {path for path, file in found.items() if file.skip} == {"shut.py", "shut"}
    assert found["shut.py"].skip == "unreadable"
    assert found["shut.py"].note == "Permission denied"
    assert found["shut"].skip == "unreadable"
    assert [row["name"] for row in ask("symbols", "a.py", "--no-update", cwd=repo)] == ["Tree", "grow"]


def test_encodings(folder: Path) -> None:
    text = "def größe():\n    '''Ünïcödé.'''\n"
    files = {
        "utf16le.py": b"\xff\xfe" + text.encode("utf-16-le"),
        "utf16be.py": b"\xfe\xff" + text.encode("utf-16-be"),
        "bare16le.py": text.encode("utf-16-le"),
        "bare16be.py": text.encode("utf-16-be"),
        "utf32.py": text.encode("utf-32"),
        "marked.py": text.encode("utf-8-sig"),
        "latin.py": text.encode("latin-1"),
        "declared.py": b"# coding: koi8-r\n" + "def größe(): pass\n".encode(),
        "torn.py": text.encode()[:9] + b"\xff\xfe\x80" + text.encode()[9:],
    }
    write(folder, files)
    concord("build", folder)
    found = ledger(folder)
    with Facts(str(folder / ".concordance")) as facts:
        for name in files:
            assert found[name].skip == "", name
            assert len(facts.of(name).symbols) >= (name != "torn.py"), name
            if name not in ("torn.py", "declared.py"):
                assert facts.of(name).symbols[0].name == "größe", name
                assert facts.of(name).symbols[0].col == 5, name
    assert "0xF6 in line 1 is not UTF-8" in found["latin.py"].note
    assert "is not UTF-8" in found["torn.py"].note
    assert found["bare16le.py"].note == "UTF-16 without a byte order mark"


def test_a_nul_in_a_python_file(folder: Path) -> None:
    text = "def before(): pass\n\0\ndef after(): pass\n" + "# padding\n" * 20
    write(folder, {"nul.py": text, "only.py": b"\0", "no.py": b""})
    concord("build", folder)
    found = ledger(folder)
    assert found["nul.py"].skip == ""
    assert "NUL byte in line 2" in found["nul.py"].note
    assert {"before", "after"} <= {row["name"] for row in ask("symbols", "nul.py", "--no-update", cwd=folder)}
    assert set(found) == {"nul.py", "only.py", "no.py"}


def test_text_that_cannot_be_stored_as_it_is(folder: Path) -> None:
    """A string can contain half of a surrogate pair, which no encoding can represent."""
    python = '"""\\ud800"""\n__all__ = ["\\ud800"]\n'
    write(folder, {"a.json": '{"\\ud800": {"\\udfff": 1}}\n', "a.py": python, "b.js": "x['\\ud800']"})
    (folder / "link").symlink_to(os.fsdecode(b"caf\xe9"))
    assert build(folder)["files"] == 4
    assert "caf\\udce9" in ledger(folder)["link"].note


def test_a_line_of_200_megabytes(folder: Path) -> None:
    whole = hashlib.sha256()
    piece = b"12345678901234567," * 58_254  # about 1 MiB
    with (folder / "large.json").open("wb") as file:
        for part in (b"[", *[piece] * 200, b"0]"):
            file.write(part)
            whole.update(part)
    write(folder, {"small.py": "x = 1\n"})
    started = program.started("build", folder)
    peak = peak_memory(started)
    started.communicate()
    assert started.returncode == 0
    file_ = ledger(folder)["large.json"]
    assert (file_.skip, file_.digest, file_.lines) == ("too_large", whole.hexdigest(), 1)
    assert file_.size == (folder / "large.json").stat().st_size > 200_000_000
    assert ask("symbols", "large.json", "--no-update", cwd=folder) == []
    assert peak < 1 << 30


def peak_memory(started: subprocess.Popen[str]) -> int:
    """Return the most memory that all processes of a run held together, in bytes."""
    peak = 0
    while started.poll() is None:
        now = 0
        for process in program.processes(started.pid):
            try:
                found = re.search(r"^Pss: +(\d+) kB", Path(f"/proc/{process}/smaps_rollup").read_text(), re.M)
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
            now += int(found[1]) * 1024 if found else 0
        peak = max(peak, now)
        time.sleep(0.02)
    return peak


def test_a_hundred_thousand_brackets(folder: Path) -> None:
    """One kind of bracket for each language; `extract/test_robustness.py` has all kinds for the readers alone."""
    many = 100_000
    extensions = sorted({one.extensions[0] for one in registry.languages() if one.extensions})
    assert {".py", ".json", ".js", ".c", ".yaml", ".toml"} & set(extensions)
    for place, extension in enumerate((*extensions, ".h")):
        opening, closing = ("()", "[]", "{}")[place % 3]
        write(folder, {f"open{extension}": opening * many, f"shut{extension}": opening * many + closing * many})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = build(folder, timeout=240)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert summary["files"] == summary["read"] == 2 * (len(extensions) + 1)
    assert summary["failed"] == []
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 60
    with Facts(str(folder / ".concordance")) as facts:
        for file in facts.files():
            assert file.skip == "", file
            assert not [f for f in facts.of(file.path).findings if f.by == "reader"], file.path


# Names and links


def test_odd_names(folder: Path) -> None:
    git(folder, "init", "-q")
    names = [
        "a\nb.py", os.fsdecode(b"caf\xe9.py"), "x" * 252 + ".py", "-rf.py", "a b.py", "a\tb.py", "tick'.py", 'two".py',
        "back\\slash.py", "percent%41.py", "hash#.py", "question?.py", "\u202ereversed.py", "ünïcödé.py", "[glob]*.py",
        " .py", "...py", "\x7f\x1b[31m.py",
    ]  # fmt: skip
    write(folder, {name: f"def f{place}(): pass\n" for place, name in enumerate(names)})
    assert build(folder)["files"] == len(names)
    assert set(ledger(folder)) == set(names)
    rows = ask("keywords", "--repo", folder, "--no-update")
    assert {row["path"] for row in rows} == set(names)
    for place, name in enumerate(names):
        if place < 4 or place % 4 == 0:
            done = ask("symbols", "--no-update", f"./{name}", cwd=folder)
            assert [row["name"] for row in done] == [f"f{place}"]
    concord("keywords", "--repo", folder, "--no-update")
    age(folder)
    build(folder)
    assert build(folder)["read"] == 0


def test_links(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside", {"secret.py": "secret = 1\n"})
    write(folder, {"a.py": "x = 1\n"})
    for name, target in {
        "broken": "nowhere", "loop": "loop", "ping": "pong", "pong": "ping", "out": "../outside/secret.py",
        "out_folder": str(tmp_path / "outside"), "inside.py": "a.py", "self": ".",
    }.items():  # fmt: skip
        (folder / name).symlink_to(target)
    assert build(folder)["files"] == 9
    found = ledger(folder)
    assert {path for path, file in found.items() if file.skip != "symlink"} == {"a.py"}
    assert found["broken"].note == "points to nowhere, which does not exist"
    assert found["loop"].note == "points to loop, in a loop"
    assert found["out"].note.endswith("outside the repository")
    assert found["out_folder"].note.endswith("outside the repository")
    assert found["inside.py"].note == "points to a.py"
    assert not any("secret" in row["keyword"] for row in ask("keywords", "--repo", folder))


# Workers that die


@pytest.fixture
def reads_or_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract, "extract_files", program.read_or_die)


@pytest.mark.usefixtures("reads_or_dies")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("deadly.py", "its reader was killed"),
        ("endless.py", "its reader did not finish within 2 s"),
        ("faulty.py", "its reader failed: RuntimeError: a fault in the program"),
    ],
)
def test_a_file_that_kills_its_reader(folder: Path, name: str, reason: str) -> None:
    write(folder, {f"m{number}.py": f"x{number} = 1\n" for number in range(30)})
    write(folder, {name: "x = 1\n", f"more/{name}": "x = 1\n"})
    age(folder)
    said: list[str] = []

    def hear(step: str, done: int, total: int, word: str) -> None:
        said.extend([word] if step == "say" else [])

    summary = Build(str(folder), Config(jobs=2, patience=2.0 if name == "endless.py" else 60.0), hear).run()
    assert sorted(summary.failed) == [(name, reason), (f"more/{name}", reason)]
    assert summary.skipped == {"unreadable": 2}
    found = ledger(folder)
    assert len(found) == 32
    assert (found[name].skip, found[name].note) == ("unreadable", f"given up: {reason}")
    with Facts(str(folder / ".concordance")) as facts:
        assert all(facts.of(f"m{number}.py").symbols for number in range(30))
    assert bool(said) == (name != "faulty.py")
    assert Build(str(folder), Config(jobs=2)).run().read == 0, "it is not tried again before it changes"


def test_a_worker_killed_in_the_middle(folder: Path) -> None:
    held = HeldBuild(folder)
    os.kill(held.reader, signal.SIGKILL)
    held.release()
    _, err = held.process.communicate(timeout=100)
    assert held.process.returncode == 0, err
    assert err == "a worker was killed while reading held.py; reading 1 file in progress again, one by one\n"
    found = ledger(folder)
    assert len(found) == held.files
    assert not [file for file in found.values() if file.skip]
    program.wait_for(lambda: program.processes(held.process.pid) == [], 60)


# Builds that end early


def test_ctrl_c_in_the_middle_of_an_update(folder: Path) -> None:
    write(folder, {"a.py": "def first(): pass\n"})
    build(folder)
    before = dump(folder)
    held = HeldBuild(folder)
    os.killpg(held.process.pid, signal.SIGINT)
    out, err = held.process.communicate(timeout=120)
    assert held.process.returncode == 130
    assert err.strip() == "concord: stopped; the last complete store is unchanged, and files read so far are cached"
    assert out == ""
    program.wait_for(lambda: program.processes(held.process.pid) == [], 60)
    assert dump(folder) == before
    assert [row["name"] for row in ask("symbols", "a.py", "--no-update", cwd=folder)] == ["first"]
    summary = Build(str(folder), Config(jobs=2)).run()
    assert (summary.read, summary.cached) == (held.files, held.files - 1)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda sent: sent.name)
def test_a_first_build_that_is_stopped(folder: Path, tmp_path: Path, sent: signal.Signals) -> None:
    """It ends with its workers; it leaves nothing behind if it can clean up, and otherwise the next build cleans up."""
    own = tmp_path / "temporary"
    own.mkdir()
    held = HeldBuild(folder, env={"TMPDIR": str(own)})
    started = held.process
    os.killpg(started.pid, sent) if sent is signal.SIGINT else os.kill(started.pid, sent)
    _, err = started.communicate(timeout=120)
    program.wait_for(lambda: program.processes(started.pid) == [], 60)
    assert not (folder / ".concordance/index.db").exists()
    if sent is signal.SIGKILL:
        assert started.returncode == -sent
        assert list(own.glob("concordance-*"))
        age(own)
    else:
        assert started.returncode == 128 + sent
        assert err.strip() == "concord: stopped; the last complete store is unchanged, and files read so far are cached"
        assert not list((folder / ".concordance").glob("*.new*"))
        assert not list(own.iterdir())
    summary = build(folder, "--no-book", env={"TMPDIR": str(own)})
    assert (summary["files"], summary["cached"]) == (held.files, held.files - 1)
    assert not list((folder / ".concordance").glob("*.new*"))
    assert not list(own.iterdir())


def _ignoring() -> None:
    """Run in a child before the program, as a shell and `nohup` do for a background job."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def test_signals_that_are_ignored_from_the_start(folder: Path) -> None:
    held = HeldBuild(folder, "--no-book", preexec_fn=_ignoring)
    for number in (signal.SIGINT, signal.SIGHUP):
        os.killpg(held.process.pid, number)
    held.release()
    _, err = held.process.communicate(timeout=120)
    assert (held.process.returncode, err) == (0, "")
    assert len(ledger(folder)) == held.files


def test_ctrl_c_while_a_class_is_made() -> None:
    """Python before 3.12 reports this as a RuntimeError, caused by the interruption."""
    text = """
from concordance import cli
class Interrupted:
    def __set_name__(self, owner, name): raise KeyboardInterrupt
def run():
    class Made: field = Interrupted()
cli._run = run
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", text], env=program.environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (130, 1)
    assert done.stderr.startswith("concord: stopped")


def test_ctrl_c_between_a_commit_and_its_checksums(folder: Path) -> None:
    """The connection is closed properly, which moves the log into the database."""
    text = """
import os, signal, sys
from concordance.facts.integrity import checksums
from concordance.workflow import store_update
record = checksums.add_committed
def interrupted(path):
    os.kill(os.getpid(), signal.SIGINT)
    record(path)
if __name__ == "__main__":
    checksums.add_committed = interrupted
    try:
        store_update.build(sys.argv[1], jobs=1)
    except KeyboardInterrupt:
        print("interrupted")
"""
    write(folder, {"a.py": "x = 1\n"})
    build(folder)
    write(folder, {"a.py": "y = 2\n"})
    command = [sys.executable, "-c", text, str(folder)]
    done = subprocess.run(command, env=program.environment(), capture_output=True, text=True, check=False)
    assert done.stdout == "interrupted\n", done.stderr
    with Facts(str(folder / ".concordance")) as facts:
        assert [symbol.name for symbol in facts.of("a.py").symbols] == ["y"]


def test_ctrl_c_at_any_moment(folder: Path) -> None:
    """From the first process that it starts until it ends: no traceback, and a store that answers."""
    crowd(folder, 60, 5)
    build(folder)
    for step in range(6):
        write(folder, {"part1/m1.py": f"x = {step}\n"})
        started = program.started("build", folder)
        program.wait_for(lambda pid=started.pid: len(program.processes(pid)) != 1)  # type: ignore[misc]  # or it has ended
        time.sleep(0.08 * step)
        os.killpg(started.pid, signal.SIGINT)
        _, err = started.communicate(timeout=120)
        # At its very end Python lets the signal have its way, which a shell shows as 130 too.
        assert started.returncode in (0, 130, -signal.SIGINT), err
        assert "Traceback" not in err
        assert len(ledger(folder)) == 60
        program.wait_for(lambda pid=started.pid: program.processes(pid) == [], 60)  # type: ignore[misc]


# Disks


def small_files_only() -> None:
    """Run in a child before the program: no file may grow beyond 100 kB, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def test_a_store_that_cannot_grow(folder: Path) -> None:
    write(folder, {"a.py": "def first(): pass\n"})
    age(folder)
    build(folder)
    before = dump(folder)
    crowd(folder, 80)
    said = concord("build", folder, code=1, preexec_fn=small_files_only).stderr
    assert re.match(rf"concord: the store {folder}/\S+/index\.db could not be written: .* Free some space", said)
    assert said.count("\n") == 1
    ahead = {"text"}  # the full-text index may be ahead of the store, which it notes; the next build repairs it
    after = dump(folder)
    assert {key: after[key] for key in after if key not in ahead} == {k: before[k] for k in before if k not in ahead}
    assert build(folder)["files"] == 81
    program.remove_store(folder / ".concordance")
    said = concord("build", folder, code=1, preexec_fn=small_files_only).stderr
    assert "Free some space" in said
    assert sorted(p.name for p in (folder / ".concordance").iterdir()) == [".gitignore", "lock"]
    assert build(folder)["cached"] == 81


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1000k", "tmpfs", place]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk; `test_a_store_that_cannot_grow` stands in for it")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def fill(disk: Path) -> None:
    with (disk / "filler.bin").open("ab", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(4096))


def test_a_full_disk_under_the_repository(tiny_disk: Path) -> None:
    write(tiny_disk, {"a.py": "def first(): pass\n"})
    build(tiny_disk, "--no-book")
    before = dump(tiny_disk)
    crowd(tiny_disk, 40)
    fill(tiny_disk)
    said = concord("build", tiny_disk, "--no-book", code=1).stderr
    assert "Free some space" in said
    assert said.count("\n") == 1
    assert dump(tiny_disk) == before
    program.remove_store(tiny_disk / ".concordance")
    fill(tiny_disk)
    assert "Free some space" in concord("build", tiny_disk, "--no-book", code=1).stderr


def test_a_full_disk_under_the_cache(tiny_disk: Path, folder: Path) -> None:
    crowd(folder, 200)
    done = concord("build", folder, "--json", env={"CONCORDANCE_CACHE": str(tiny_disk / "cache")})
    assert done.stderr == ""
    assert len(ledger(folder)) == 200


def test_a_full_disk_under_temporary_files(tiny_disk: Path, repo: Path) -> None:
    fill(tiny_disk)
    said = concord("build", repo, code=None, env={"TMPDIR": str(tiny_disk)}).stderr
    assert said == "" or said.startswith("concord: ")


@pytest.mark.parametrize("what", ["a file", "read-only", "a link to nowhere"])
def test_no_place_for_a_cache(repo: Path, tmp_path: Path, what: str) -> None:
    place = tmp_path / "no_cache"
    if what == "a file":
        place.write_text("")
    elif what == "read-only":
        place.mkdir(mode=0o555)
    else:
        place.symlink_to("/nowhere/at/all")
    concord("build", repo, env={"CONCORDANCE_CACHE": str(place)}, preexec_fn=program.bound)
    assert len(ledger(repo)) == 6


# Several at once


def test_a_second_build_waits_and_says_so(repo: Path) -> None:
    build(repo)
    with (repo / ".concordance/lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        started = program.started("build", repo)
        assert started.stderr is not None
        assert started.stderr.readline() == "another build of this repository is running; waiting for it\n"
        assert [row["name"] for row in ask("symbols", "a.py", "--no-update", cwd=repo)] == ["Tree", "grow"]
    assert started.wait(timeout=120) == 0
    started.communicate()


def test_two_builds_at_once(folder: Path) -> None:
    crowd(folder, 150, 10)
    both = [program.started("build", folder) for _ in range(2)]
    for one in both:
        _, err = one.communicate(timeout=120)
        assert one.returncode == 0, err
    assert len(ledger(folder)) == 150


def test_questions_while_stores_change(repo: Path) -> None:
    """Readers see one complete store, whatever writers do."""
    build(repo)
    wrong: list[str] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            with Facts(str(repo / ".concordance")) as facts:
                names = [file.path for file in facts.files()]
                if len(names) != 6 or not all(facts.of(name).metrics.lines for name in names):
                    wrong.append(repr(names))

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for looker in lookers:
        looker.start()
    # A worker that was forked while a looker held a lock of SQLite would wait for it: half of the steps, once.
    for step in range(5):
        write(repo, dict.fromkeys(program.SAMPLE, f"x{step} = {step}\n"))
        assert Build(str(repo), Config(jobs=1, patience=30)).run().failed == []
    stop.set()
    for looker in lookers:
        looker.join()
    assert not wrong, len(wrong)


# Stores and caches that are not what they should be


@pytest.mark.parametrize("how", ["garbage", "cut", "empty", "schema", "table", "values", "folder", "pages"])
def test_a_spoilt_store_is_made_anew(repo: Path, how: str) -> None:
    crowd(repo, 10, 20)
    build(repo)
    whole = dump(repo)
    store = repo / ".concordance/index.db"
    if how == "garbage":
        store.write_bytes(os.urandom(50_000))
    elif how == "cut":
        os.truncate(store, store.stat().st_size // 2)
    elif how == "empty":
        os.truncate(store, 0)
    elif how == "folder":
        store.unlink()
        store.mkdir()
    elif how == "pages":  # what a build asks first is whole
        spoilt = bytearray(store.read_bytes())
        spoilt[len(spoilt) // 4 : len(spoilt) // 2] = os.urandom(len(spoilt) // 2 - len(spoilt) // 4)
        store.write_bytes(spoilt)
        write(repo, {name: text + "\n" for name, text in program.SAMPLE.items()})
    else:
        program.alter_store(
            repo,
            {
                "schema": "UPDATE meta SET value = '999' WHERE key = 'schema'",
                "table": "DROP TABLE symbol",
                "values": "UPDATE facts SET packed = 'no facts'",
            }[how],
        )
        write(repo, {name: text + "\n" for name, text in program.SAMPLE.items()})
    if how == "folder":
        assert "index.db" in concord("build", repo, code=1).stderr
        return
    summary = build(repo)
    assert summary["files"] == 16
    if how in ("garbage", "cut", "empty"):
        assert dump(repo) == whole
    with Facts(str(repo / ".concordance")) as facts:
        assert [s.name for s in facts.of("a.py").symbols] == ["Tree", "grow"]
        assert facts.symbol_count() == sum(len(facts.of(file.path).symbols) for file in facts.files())


@pytest.mark.parametrize("how", ["garbage", "cut", "empty", "values"])
def test_a_spoilt_cache_is_ignored(repo: Path, how: str) -> None:
    build(repo)
    whole = dump(repo)
    cache = Path(os.environ["CONCORDANCE_CACHE"]) / "facts.db"
    connection = sqlite3.connect(cache)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # what is in the log only is written to the file
    connection.close()
    if how == "garbage":
        cache.write_bytes(os.urandom(50_000))
    elif how == "cut":
        os.truncate(cache, cache.stat().st_size // 2)
    elif how == "empty":
        os.truncate(cache, 0)
    else:
        connection = sqlite3.connect(cache)
        connection.execute("UPDATE facts SET packed = x'93'")
        connection.commit()
        connection.close()
    program.remove_store(repo / ".concordance")
    assert build(repo)["cached"] == 0
    assert dump(repo) == whole
    program.remove_store(repo / ".concordance")
    assert build(repo)["cached"] == 6, "the cache is usable again"


# Repositories that mean harm


@pytest.mark.parametrize(
    ("name", "target"),
    [
        *[(name, "there") for name in ("", "index.db", "index.db-wal", "index.db-journal", ".gitignore", "lock")],
        *[(name, "missing") for name in ("", "index.db", "index.db-shm", "index.db.1.new", ".gitignore", "lock")],
    ],
)
def test_links_in_the_place_of_the_store(repo: Path, tmp_path: Path, name: str, target: str) -> None:
    """Nothing outside the repository is written, whatever a repository has in the store's place."""
    outside = tmp_path / "outside"
    outside.mkdir()
    victim = outside / "victim"
    if target == "there" and name:
        victim.write_text("precious")
    store = repo / ".concordance"
    if name:
        store.mkdir()
        (store / name).symlink_to(victim)
    else:
        store.symlink_to(outside if target == "there" else outside / "missing")
    done = concord("build", repo, code=None)
    if name in ("", "lock"):
        assert done.returncode == 2
        assert "link" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
        write(repo, {"a.py": "x = 1\n"})
        assert [row["name"] for row in ask("symbols", "a.py", cwd=repo)] == ["x"]
    left = {path.name: path.read_text() for path in outside.iterdir()}
    assert left == ({"victim": "precious"} if target == "there" and name else {})


def test_a_file_in_the_place_of_the_store(repo: Path) -> None:
    write(repo, {".concordance": "mine\n"})
    said = concord("build", repo, code=2).stderr
    assert said.startswith(f"concord: {repo}/.concordance is a link or a file")
    assert (repo / ".concordance").read_text() == "mine\n"


def test_a_store_of_the_repository_itself(repo: Path) -> None:
    """A store that came with a repository can be wrong, but it runs nothing and writes nowhere else."""
    build(repo)
    program.alter_store(
        repo, "CREATE TRIGGER t AFTER INSERT ON file BEGIN SELECT writefile('/tmp/owned', 'x'); END"
    )
    write(repo, {"a.py": "x = 1\n"})
    assert build(repo)["files"] == 6
    assert [row["name"] for row in ask("symbols", "a.py", cwd=repo)] == ["x"]


# What others found


def test_a_history_that_changes_without_a_commit(folder: Path) -> None:
    """Names of authors, a shallow clone that is completed, replaced commits."""
    program.sample(folder)
    build(folder, "--history")
    address = program.git(folder, "log", "-1", "--format=%ae").strip()
    write(folder, {".mailmap": f"Another Name <{address}>\n"})
    build(folder, "--history")
    updated = books.contents(folder / ".concordance/book")
    shutil.rmtree(folder / ".concordance")
    build(folder, "--history")
    assert updated == books.contents(folder / ".concordance/book")
    assert b"Another Name" in b"".join(updated.values())


def test_a_copy_by_hard_links_has_a_store_of_its_own(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a.py": "def f(): pass\n"})
    build(folder)
    shutil.copytree(folder, tmp_path / "copy", copy_function=os.link)
    (tmp_path / "copy/a.py").unlink()
    write(tmp_path / "copy", {"a.py": "def elsewhere(): pass\n"})
    before = books.contents(folder / ".concordance")
    build(tmp_path / "copy")
    assert books.contents(folder / ".concordance") == before
    assert [row["name"] for row in ask("symbols", "a.py", "--repo", tmp_path / "copy")] == ["elsewhere"]
    (tmp_path / "precious").write_text("mine")
    (folder / ".concordance/lock").unlink()
    (folder / ".concordance/lock").hardlink_to(tmp_path / "precious")
    write(folder, {"b.py": "x = 1\n"})
    build(folder)
    assert (tmp_path / "precious").read_text() == "mine"


def test_times_that_no_database_holds(folder: Path) -> None:
    write(folder, {"a.py": "def f(): pass\n", "b.py": "def g(): pass\n"})
    os.utime(folder / "a.py", (2**34, 2**34))
    os.utime(folder / "b.py", (-(2**31), -(2**31)))
    assert build(folder)["files"] == 2
    assert build(folder)["read"] == 0


@pytest.mark.parametrize("name", ["a\\u0000_docs.md", "\\ud800_docs.md"])
def test_a_manifest_with_names_that_no_file_has(folder: Path, name: str) -> None:
    write(folder, {"a.py": "x = 1\n"})
    build(folder)
    book = folder / ".concordance/book"
    before = books.contents(book)
    listed = (book / "manifest.json").read_text()
    (book / "manifest.json").write_text(listed.replace('"a.py_docs.md"', f'"{name}"'))
    concord("check", "--repo", folder, code=None)
    build(folder)
    assert books.contents(book) == before


@pytest.mark.parametrize("name", [".git", ".git/commondir"])
def test_a_path_of_git_with_a_nul(folder: Path, name: str) -> None:
    write(folder, {"a.py": "x = 1\n"})
    if name != ".git":
        program.git(folder, "init", "-q")
    (folder / name).write_bytes(b"gitdir: x\0y\n")
    done = concord("build", folder, code=None)
    assert "Traceback" not in done.stderr


def test_a_repository_whose_path_is_not_text(tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/na\xffme"))
    root.mkdir()
    write(root, {"a.py": "def f(): pass\n"})
    done = concord("build", root, code=2)
    assert "not valid UTF-8" in done.stderr and "--store" in done.stderr
    concord("build", root, "--store", tmp_path / "store")
    assert ask("search", "f", "--repo", root, "--store", tmp_path / "store")


FREED = """
import signal, time
from concordance import cli
class Freed:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
received = cli._end_on_signals()
try:
    Freed()
    time.sleep(60)
except KeyboardInterrupt:
    print("ended by", received[0])
"""


def test_a_signal_while_an_object_is_freed_is_not_lost() -> None:
    """Python drops exceptions raised in such a callback, and prints a traceback."""
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, timeout=50, check=False)
    assert (done.stdout, done.stderr) == (f"ended by {int(signal.SIGTERM)}\n", "")
