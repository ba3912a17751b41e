"""The store: what a second build reads, and that an updated store equals that of a first build."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from concordance.base.config import Config
from concordance.base.progress import BuildSummary
from concordance.facts.fulltext import index
from concordance.facts.read import Facts
from concordance.workflow.pipeline import Build
from tests.support import program
from tests.support.program import age, build, dump, git, ledger, write


def rebuilt(folder: Path) -> dict[str, object]:
    """Return the store's content after a first build of the same files with an empty cache."""
    with tempfile.TemporaryDirectory() as cache, pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", cache)
        shutil.move(folder / ".concordance", f"{cache}/store")
        try:
            Build(str(folder), Config(jobs=1)).run()
            return dump(folder)
        finally:
            program.remove_store(folder / ".concordance")
            shutil.move(f"{cache}/store", folder / ".concordance")


def run(folder: Path) -> BuildSummary:
    return Build(str(folder), Config(jobs=1)).run()


def newly_read(summary: BuildSummary) -> int:
    """Return how many files were parsed."""
    return summary.read - summary.cached


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / ".concordance/index.db").read_bytes()).hexdigest()


def test_nothing_changed(repo: Path) -> None:
    first = build(repo)
    assert (first["files"], first["read"], first["cached"]) == (6, 6, 0)
    before = digest(repo)
    second = build(repo)
    assert (second["files"], second["read"], second["unchanged"]) == (6, 0, 6)
    assert digest(repo) == before
    assert not list((repo / ".concordance").glob("*.new*"))
    assert git(repo, "status", "--porcelain") == ""


def test_one_edited_file_is_read_alone(repo: Path) -> None:
    run(repo)
    write(repo, {"a.py": "def other(): pass\n"})
    summary = run(repo)
    assert (summary.read, summary.cached, summary.unchanged) == (1, 0, 5)
    assert dump(repo) == rebuilt(repo)


def test_an_edit_keeps_the_history_of_the_file(repo: Path) -> None:
    run(repo)
    write(repo, {"a.py": "def other(): pass\n"})
    run(repo)
    with Facts(str(repo / ".concordance")) as facts:
        change = facts.change("a.py")
    assert change is not None
    assert (change.commits, change.authors) == (1, (("Ada", 1),))


def test_an_edit_of_the_same_size_in_the_same_moment(folder: Path) -> None:
    """File times have a resolution; an edit within it is noticed by reading recently written files once more."""
    write(folder, {"a.py": "one = 1\n"})
    stamp = time.time_ns()
    os.utime(folder / "a.py", ns=(stamp, stamp))
    run(folder)
    write(folder, {"a.py": "two = 2\n"})
    os.utime(folder / "a.py", ns=(stamp, stamp))
    assert run(folder).read == 1
    with Facts(str(folder / ".concordance")) as facts:
        assert [s.name for s in facts.of("a.py").symbols] == ["two"]


def test_a_file_from_the_future_is_not_read_again_for_ever(folder: Path) -> None:
    write(folder, {"a.py": "one = 1\n"})
    stamp = time.time_ns() + 10**15
    os.utime(folder / "a.py", ns=(stamp, stamp))
    run(folder)
    assert run(folder).read == 0
    write(folder, {"a.py": "two = 2\n"})
    assert run(folder).read == 1


def test_touched(repo: Path) -> None:
    run(repo)
    os.utime(repo / "a.py", ns=(10**18, 10**18))
    summary = run(repo)
    assert (summary.read, summary.unchanged) == (0, 6), "its digest is the same"
    assert dump(repo) == rebuilt(repo)


def test_deleted_renamed_added(repo: Path) -> None:
    run(repo)
    (repo / "plain.cpp").unlink()
    (repo / "a.py").rename(repo / "tree.py")
    write(repo, {"new/x.go": "package x\n\nfunc Do() {}\n"})
    summary = run(repo)
    assert (summary.files, summary.read, summary.cached, summary.removed) == (6, 2, 1, 2)
    assert sorted(ledger(repo)) == ["README.md", "lib/api.h", "lib/b.py", "lib/leaf.cpp", "new/x.go", "tree.py"]
    assert dump(repo) == rebuilt(repo)


def test_ledger_is_what_git_lists(repo: Path) -> None:
    write(repo, {".gitignore": "*.log\nout/\n", "x.log": "no", "out/y.py": "no", "out/kept.py": "yes = 1\n"})
    write(repo, {"new.py": "x = 1\n", ".github/workflows/ci.yml": "on: push\n", "image.png": b"\x89PNG\r\n\x1a\n\0\0"})
    git(repo, "add", "-f", "out/kept.py")
    (repo / "lib/b.py").unlink()
    run(repo)
    tracked = set(git(repo, "ls-files", "-z").split("\0")[:-1])
    untracked = set(git(repo, "ls-files", "-z", "--others", "--exclude-standard").split("\0")[:-1])
    assert set(ledger(repo)) == (tracked | untracked) - {"lib/b.py"}
    assert {"out/kept.py", "new.py", "image.png"} <= set(ledger(repo))


def test_another_checkout_is_served_by_the_cache(repo: Path, tmp_path: Path) -> None:
    run(repo)
    git(repo, "worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    summary = run(tmp_path / "other")
    assert summary.read == summary.cached == 6
    first, second = dump(repo), dump(tmp_path / "other")
    assert first == second
    git(repo, "checkout", "-q", "-b", "third")
    write(repo, {"a.py": "x = 1\n"})
    git(repo, "commit", "-qam", "edit")
    run(repo)
    git(repo, "checkout", "-q", "main")
    summary = run(repo)
    assert newly_read(summary) == 0
    assert dump(repo) == first


def test_a_macro_reaches_the_files_that_mention_it(repo: Path) -> None:
    run(repo)
    write(repo, {"lib/api.h": "#define LIB_API 7 + 7\nclass LIB_API Leaf { int size; };\n"})
    summary = run(repo)
    assert newly_read(summary) == 2, "the header, and leaf.cpp, which mentions LIB_API; not plain.cpp"
    assert summary.unchanged + summary.read == summary.files
    assert dump(repo) == rebuilt(repo)
    age(repo)
    run(repo)
    write(repo, {"lib/api.h": "#define LIB_API 7 + 7\nclass LIB_API Leaf { long size; };\n"})
    summary = run(repo)
    assert summary.read == 1, "the table of macros is the same: nobody else is looked at"
    assert dump(repo) == rebuilt(repo)


def test_a_macro_reaches_files_of_odd_names(repo: Path) -> None:
    text = program.SAMPLE["lib/leaf.cpp"]
    write(repo, {"STEM.CPP": text, "stem.cpp.in": text, "stem.C": text, "tool": "// -*- C++ -*-\n" + text})
    age(repo)
    run(repo)
    write(repo, {"lib/api.h": "#define LIB_API 7 + 7\n"})
    run(repo)
    assert dump(repo) == rebuilt(repo)


def test_an_untouched_header_keeps_its_macros(repo: Path) -> None:
    """A change of the macro table causes other headers to be read again, which must not lose their definitions."""
    write(repo, {"lib/more.h": "#define MORE_API __attribute__((noinline))\nclass MORE_API Root { };\n"})
    age(repo)
    run(repo)
    write(repo, {"lib/api.h": "int nothing;\n"})
    run(repo)
    age(repo)
    write(repo, {"lib/third.h": "#define THIRD_API __attribute__((cold))\n"})
    run(repo)
    assert dump(repo) == rebuilt(repo)


def test_permission_given_back(folder: Path) -> None:
    """Neither size nor time of a file shows that it has become readable."""
    write(folder, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    age(folder)
    (folder / "b.py").chmod(0)
    first = json.loads(program.concord("build", folder, "--json", preexec_fn=program.bound).stdout)
    assert (first["read"], first["skipped"]) == (2, {"unreadable": 1})
    second = json.loads(program.concord("build", folder, "--json", preexec_fn=program.bound).stdout)
    assert second["read"] == 0
    (folder / "b.py").chmod(0o644)
    third = json.loads(program.concord("build", folder, "--json", preexec_fn=program.bound).stdout)
    assert (third["read"], third["skipped"]) == (1, {})


def test_links_and_submodules_are_looked_at_again(repo: Path, tmp_path: Path) -> None:
    (repo / "link").symlink_to("target.py")
    write(tmp_path / "sub", {"x.py": "x = 1\n"})
    git(tmp_path / "sub", "init", "-q")
    git(tmp_path / "sub", "add", ".")
    git(tmp_path / "sub", "commit", "-qm", "first")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "sub"), "sub")
    age(repo)
    run(repo)
    assert "does not exist" in ledger(repo)["link"].note
    write(repo, {"target.py": ""})
    first = ledger(repo)["sub"].note
    git(repo / "sub", "commit", "-q", "--allow-empty", "-m", "second")
    git(repo, "add", "sub")
    run(repo)
    assert "does not exist" not in ledger(repo)["link"].note
    assert ledger(repo)["sub"].note != first


def test_head_alone_has_moved(repo: Path) -> None:
    run(repo)
    git(repo, "commit", "-q", "--allow-empty", "-m", "second")
    assert run(repo).read == 0
    assert run(repo).read == 0
    write(repo, {"a.py": "x = 1\n"})
    git(repo, "commit", "-qam", "third")
    run(repo)
    with Facts(str(repo / ".concordance")) as facts:
        change = facts.change("a.py")
        assert change is not None
        assert change.commits == 2


def test_history_of_names_in_no_encoding(repo: Path) -> None:
    for step in ("x", "y", "z"):
        write(repo, {os.fsdecode(b"caf\xe9.py"): f"{step} = 1\n", "a.py": f"{step} = 1\n"})
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", step)
    run(repo)
    with Facts(str(repo / ".concordance")) as facts:
        change = facts.change("a.py")
    assert change is not None
    assert change.together == ((os.fsdecode(b"caf\xe9.py"), 3),)


def test_other_readers(repo: Path) -> None:
    """A store that other versions of the readers wrote is built anew."""
    run(repo)
    program.alter_store(repo, "UPDATE meta SET value = 'others' WHERE key = 'readers'")
    summary = run(repo)
    assert (summary.read, summary.unchanged) == (6, 0)


def everything(repo: Path, cache: Path, seed: str, jobs: int) -> str:
    """Return a digest of a build's result, computed in a separate process."""
    script = (
        "import hashlib, sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]); from tests.support import program\n"
        "from concordance.base.config import Config; from concordance.workflow.pipeline import Build\n"
        "Build(sys.argv[1], Config(jobs=int(sys.argv[3]))).run()\n"
        "print(program.dump(Path(sys.argv[1])))"
    )
    env = program.environment(PYTHONHASHSEED=seed, CONCORDANCE_CACHE=str(cache))
    args = [sys.executable, "-c", script, str(repo), str(program.TREE), str(jobs)]
    return subprocess.run(args, env=env, capture_output=True, text=True, check=True).stdout


def test_the_same_whatever_the_jobs_and_the_hash_seed(repo: Path, tmp_path: Path) -> None:
    for path in (*program.TREE.glob("concordance/collect/*.py"), program.TREE / "pyproject.toml"):
        shutil.copy(path, repo / path.name)
    said = []
    for seed, jobs in (("0", 1), ("1", 3), ("2", 2)):
        said.append(everything(repo, tmp_path / f"cache{seed}", seed, jobs))
        program.remove_store(repo / ".concordance")
    assert said[0].count("Symbol(") > 100
    assert said[0] == said[1] == said[2]


# The property: whatever is done to the files, an update ends where a first build would.

NAMES = ("a.py", "b.py", "lib/api.h", "lib/more.hpp", "c.c", "d.cpp", "note.md", "data.json", "tool.sh", "blob.bin")
TEXTS = (
    "x = 1\n",
    "y = 2\n",
    "class Tree:\n    def grow(self): return tall_tree\n",
    "#define LIB_API __attribute__((cold))\nclass LIB_API Tree { int tall; };\n",
    "#define LIB_API 1 + 1\n",
    "#define LIB_API\n#define OTHER_API LIB_API\nint f(void);\n",
    "class LIB_API Leaf { OTHER_API void f(); };\nint g() { return 1; }\n",
    "# A tree\n\nTall trees grow. See FSDP (FullyShardedDataParallel).\n",
    '{"tree": {"tall": 1}, "leaf": "\\ud800"}\n',
    "#!/bin/sh\ngrow() { echo tree; }\n",
    b"\0\1\2\3" * 20,
    b"caf\xe9 tree\n",
    "",
)
STEPS = st.tuples(
    st.sampled_from(("write", "write", "write", "delete", "rename")),
    st.sampled_from(NAMES),
    st.sampled_from(TEXTS),
    st.sampled_from(NAMES),
)


def change(folder: Path, step: tuple[str, str, str | bytes, str]) -> None:
    what, name, text, other = step
    if what == "write":
        write(folder, {name: text})
    elif what == "delete":
        (folder / name).unlink(missing_ok=True)
    elif (folder / name).exists():
        (folder / other).parent.mkdir(exist_ok=True)
        (folder / name).rename(folder / other)


@settings(max_examples=3, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(STEPS, min_size=1, max_size=6), min_size=2, max_size=3))
def test_an_update_ends_where_a_first_build_would(rounds: list[list[tuple[str, str, str | bytes, str]]]) -> None:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        for steps in rounds:
            for step in steps:
                change(folder, step)
            run(folder)
        assert dump(folder) == rebuilt(folder)


def test_a_build_stopped_while_an_index_is_ended(tmp_path: Path) -> None:
    """A signal can arrive when a writer of the full-text index has ended but is still listed as open."""
    (tmp_path / "text").mkdir()
    writer = index.TextWriter(str(tmp_path), None)
    ended = next(iter(writer._writers.values()))
    ended.commit()
    ended.wait_merging_threads()
    writer.abandon()
    assert not os.path.exists(writer.target)


def test_rows_that_nobody_reads_to_the_end_outlive_their_connection(folder: Path) -> None:
    """An interrupt leaves such rows behind; ending them must not say that the store is damaged."""
    write(folder, {"a.py": "x = 1\ny = 2\n"})
    build(folder)
    facts = Facts(str(folder / ".concordance"))
    rows = facts._rows("SELECT key FROM meta")
    next(rows)
    facts.close()
    rows.close()
