"""Questions: what they answer, in which order and with which trust, and the errors for wrong ones."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import concordance
from concordance.api import COMMANDS, Repository
from concordance.base import plugins
from concordance.base.errors import UserError
from concordance.base.model import FileFacts, Occurrences, Trust
from concordance.facts.codec import Columns, FileScopes
from tests.support import program
from tests.support.program import ask, build, concord, write

FILES = {
    "pkg/__init__.py": 'from .core import Tree, grow as plant\nfrom .star import *\nfrom . import sub\n\n__all__ = ["Tree", "plant"]\n',
    "pkg/core.py": '''\
"""Trees."""

LIMIT = 3


class Plant:
    def water(self, litres):
        total = litres * LIMIT
        return total


class Tree(Plant):
    """A tree."""

    def __init__(self, size: int = 1) -> None:
        self.size = size

    def climb(self, to: int) -> "Tree":
        if to > self.size:
            return self
        return self.climb(to + 1)


def grow(tree: Tree) -> Tree:
    tree.water(2)
    return Tree(tree.size + 1)


def _unused() -> None:
    pass
''',
    "pkg/star.py": '__all__ = ["leaf"]\n\n\ndef leaf():\n    return lambda shade: shade\n',
    "pkg/sub/__init__.py": "",
    "pkg/sub/deep.py": "def grow():\n    pass\n",
    "app.py": """\
import os
import pkg.core as core
from pkg import Tree, plant, sub
from pkg import leaf


def main(thing):
    tree = Tree(5)
    plant(tree).climb(2)
    core.grow(tree)
    leaf()
    thing.climb(1)
    thing.vanish()
    os.getcwd()


main(None)
""",
    "tests/test_app.py": "from pkg import plant, Tree\nfrom app import main\n\n\ndef test_plant():\n    assert plant(Tree())\n    main(1)\n",
    "native/api.h": "namespace wood {\nint cut(int depth);\nstruct Saw { void run(int n); };\n}\n",
    "native/api.cpp": '#include "api.h"\nnamespace wood {\nint cut(int depth) { return depth; }\nvoid Saw::run(int n) { cut(n); }\n}\n',
    "tool.c": "static int helper(void) { return 1; }\nint main(void) { return helper(); }\n",
    "other.c": "static int helper(void) { return 2; }\nint other(void) { return helper(); }\n",
    "notes.md": "# Trees\n\nA tree grows.\n",
    "image.png": b"\x89PNG\r\n\x1a\n" + bytes(64),
    "empty.py": "",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with its store; no test here changes it."""
    root = tmp_path_factory.mktemp("questions")
    program.git(root, "init", "-q", "-b", "main")
    write(root, FILES)
    program.age(root)
    concord("build", root, env={"CONCORDANCE_CACHE": str(tmp_path_factory.mktemp("cache"))})
    return root


@pytest.fixture(scope="module")
def repository(made: Path) -> Iterator[Repository]:
    with concordance.open(made, update=False) as opened:
        yield opened


def places(rows: list[dict[str, Any]]) -> list[str]:
    return [f"{row['path']}:{row['line']}" for row in rows]


def spot(path: str, text: str, name: str | None = None, nth: int = 0) -> str:
    """Return PATH:LINE:COL of a name in the nth line that contains a text."""
    lines = str(FILES[path]).split("\n")
    line = [n for n, one in enumerate(lines) if text in one][nth]
    col = lines[line].index(text) + (text.index(name) if name else 0)
    return f"{path}:{line + 1}:{col + 1}"


# --- define


def test_define_follows_imports(repository: Repository) -> None:
    (row,) = repository.define(spot("app.py", "plant(tree)"))
    assert row == {
        "path": "pkg/core.py", "line": 24, "col": 5, "name": "grow", "qualified": "grow", "kind": "function",
        "trust": "via_import", "by": "import",
        "via": [{"path": "app.py", "line": 3}, {"path": "pkg/__init__.py", "line": 1}], "called": "pkg.plant",
    }  # fmt: skip


def test_define_through_a_star(repository: Repository) -> None:
    (row,) = repository.define(spot("app.py", "leaf()"))
    assert (row["path"], row["line"], row["name"]) == ("pkg/star.py", 4, "leaf")
    assert row["via"] == [{"path": "app.py", "line": 4}, {"path": "pkg/__init__.py", "line": 2}]


@pytest.mark.parametrize(
    ("asked", "path", "qualified"),
    [
        (spot("app.py", "core.grow", "grow"), "pkg/core.py", "grow"),
        (spot("app.py", "tree).climb", "climb"), "pkg/core.py", "Tree.climb"),
        (spot("pkg/core.py", "tree.water", "water"), "pkg/core.py", "Plant.water"),
        (spot("pkg/core.py", "to > self.size", "size"), "pkg/core.py", "Tree.size"),
        (spot("pkg/core.py", "self.climb", "climb"), "pkg/core.py", "Tree.climb"),
        (spot("app.py", "plant, sub", "sub"), "pkg/sub/__init__.py", "pkg/sub/__init__.py"),
        (spot("app.py", "pkg.core as", "core"), "pkg/core.py", "pkg/core.py"),
    ],
)  # fmt: skip
def test_define_a_use(repository: Repository, asked: str, path: str, qualified: str) -> None:
    row = repository.define(asked)[0]
    assert (row["path"], row["qualified"]) == (path, qualified)
    assert row["trust"] in ("exact", "via_import")


def test_a_definition_answers_itself(repository: Repository) -> None:
    (row,) = repository.define(spot("pkg/core.py", "class Tree", "Tree"))
    assert (row["path"], row["line"], row["col"], row["trust"], row["via"]) == ("pkg/core.py", 12, 7, "exact", [])


@pytest.mark.parametrize(
    ("asked", "line", "col", "kind", "qualified"),
    [
        (spot("app.py", "plant(tree)", "tree"), 8, 5, "variable", "main.tree"),
        (spot("app.py", "thing.climb"), 7, 10, "parameter", "main.thing"),
        (spot("pkg/core.py", "return total", "total"), 8, 9, "variable", "Plant.water.total"),
        (spot("pkg/star.py", ": shade", "shade"), 5, 19, "parameter", "leaf.shade"),
    ],
)
def test_define_a_local(repository: Repository, asked: str, line: int, col: int, kind: str, qualified: str) -> None:
    (row,) = repository.define(asked)
    assert (row["line"], row["col"], row["kind"], row["qualified"]) == (line, col, kind, qualified)
    assert (row["trust"], row["by"]) == ("exact", "scope")


def test_what_is_not_known_is_said(repository: Repository) -> None:
    assert "vanish" in repository.ask("define", spot("app.py", "vanish")).note
    assert repository.define(spot("app.py", "vanish")) == []
    said = repository.ask("define", spot("app.py", "os.getcwd")).note
    assert "line 1 imports it from os" in said
    assert "there is no name at" in repository.ask("define", "app.py:5:1").note
    assert "; the line has pkg (column 8), core (column 12), core (column 20)" in repository.ask("define", "app.py:2:1").note
    guess = repository.define(spot("app.py", "thing.climb", "climb"))
    assert [row["trust"] for row in guess] in (["unique_name"], ["candidate"])


@pytest.mark.parametrize(
    ("asked", "first", "trust"),
    [
        ("Tree", "pkg/core.py:12", "unique_name"),
        ("pkg.Tree", "pkg/core.py:12", "via_import"),
        ("pkg.plant", "pkg/core.py:24", "via_import"),
        ("pkg.leaf", "pkg/star.py:4", "via_import"),
        ("pkg.core.Tree", "pkg/core.py:12", "exact"),
        ("core.Tree.climb", "pkg/core.py:18", "exact"),
        ("Tree.climb", "pkg/core.py:18", "exact"),
        ("pkg.Tree.climb", "pkg/core.py:18", "via_import"),
        ("pkg.Tree.water", "pkg/core.py:7", "via_import"),
        ("pkg/core.py#Tree.climb", "pkg/core.py:18", "exact"),
        ("pkg.core", "pkg/core.py:1", "exact"),
        ("pkg.sub", "pkg/sub/__init__.py:1", "via_import"),
        ("wood::Saw::run", "native/api.cpp:4", "exact"),
        ("Saw::run", "native/api.cpp:4", "unique_name"),
        ("cut()", "native/api.cpp:3", "unique_name"),
    ],
)
def test_names(repository: Repository, asked: str, first: str, trust: str) -> None:
    rows = repository.define(asked)
    assert places(rows)[0] == first
    assert rows[0]["trust"] == trust


def test_all_matches_best_first(repository: Repository) -> None:
    rows = repository.define("grow")
    assert places(rows) == ["pkg/core.py:24", "pkg/sub/deep.py:1"]
    assert {row["trust"] for row in rows} == {"candidate"}


def test_a_declaration_answers_its_definition_first(repository: Repository) -> None:
    for asked in ("wood::cut", spot("native/api.h", "cut(int")):
        assert places(repository.define(asked)) == ["native/api.cpp:3", "native/api.h:2"], asked
    assert places(repository.define(spot("native/api.cpp", "cut(int"))) == ["native/api.cpp:3"]


def test_what_is_private_to_its_file_is_another(repository: Repository) -> None:
    assert places(repository.define(spot("tool.c", "int helper", "helper"))) == ["tool.c:1"]


# --- refs


def test_refs(repository: Repository) -> None:
    rows = repository.refs("pkg.plant")
    assert [(row["path"], row["line"], row["col"], row["role"], row["scope"]) for row in rows] == [
        ("app.py", 3, 23, "import", None),
        ("app.py", 9, 5, "call", "main"),
        ("app.py", 10, 10, "call", "main"),
        ("pkg/__init__.py", 1, 25, "import", None),
        ("pkg/__init__.py", 1, 33, "import", None),
        ("pkg/__init__.py", 5, 21, "mention", None),
        ("tests/test_app.py", 1, 17, "import", None),
        ("tests/test_app.py", 6, 12, "call", "test_plant"),
    ]
    assert list(rows[0]) == ["path", "line", "col", "role", "trust", "by", "scope", "text"]
    call = next(row for row in rows if row["role"] == "call")
    assert call["text"] == "plant(tree).climb(2)"


def test_refs_are_those_of_its_definition_wherever_it_is_asked(repository: Repository) -> None:
    by_name = repository.refs("pkg/core.py#grow")
    assert by_name
    for asked in (spot("app.py", "plant(tree)"), spot("pkg/core.py", "def grow", "grow"), "pkg.core.grow"):
        assert repository.refs(asked) == by_name
    for row in by_name:
        target = repository.define(f"{row['path']}:{row['line']}:{row['col']}")
        assert places(target)[0] == "pkg/core.py:24"


def test_a_function_that_uses_itself(repository: Repository) -> None:
    rows = repository.refs("Tree.climb")
    assert ("pkg/core.py", 21, "Tree.climb") in [(row["path"], row["line"], row["scope"]) for row in rows]
    assert "Tree.climb" in [row["qualified"] for row in repository.callers("Tree.climb")]


def test_refs_of_a_local(repository: Repository) -> None:
    rows = repository.refs(spot("app.py", "tree = Tree", "tree"))
    assert [(row["line"], row["col"], row["role"], row["scope"]) for row in rows] == [
        (9, 11, "read", "main"), (10, 15, "read", "main"),
    ]  # fmt: skip


def test_guesses_only_when_asked_for(repository: Repository) -> None:
    sure = repository.refs("Tree.climb")
    all_ = repository.refs("Tree.climb", trust="candidate")
    assert all(Trust[str(row["trust"]).upper()] >= Trust.UNIQUE_NAME for row in sure)
    assert [row for row in all_ if row["trust"] != "candidate"] == sure
    strict = repository.refs("Tree.climb", trust="exact")
    assert [row for row in sure if row["trust"] == "exact"] == strict


def test_pages_of_refs_join_to_the_whole(repository: Repository) -> None:
    whole = repository.refs("Tree")
    joined, cursor = [], ""
    while True:
        answer = repository.ask("refs", "Tree", limit=2, cursor=cursor)
        assert answer.total == len(whole)
        joined += answer.rows
        cursor = answer.cursor
        if not cursor:
            break
    assert joined == whole
    for wrong in ("x", "-1", "99999999", "9" * 5000):
        with pytest.raises(UserError):
            repository.ask("refs", "Tree", cursor=wrong)


def test_none_says_what_was_searched(repository: Repository) -> None:
    answer = repository.ask("refs", "_unused")
    assert answer.rows == []
    assert "8 Python files searched" in answer.note
    assert "no callers" in repository.ask("callers", "_unused").note
    assert "no calls" in repository.ask("callees", "_unused").note
    assert "no imports of notes.md found" in repository.ask("importers", "notes.md").note


def test_a_changed_file_shows_no_line_that_it_had(repo: Path) -> None:
    build(repo)
    write(repo, {"lib/b.py": "# moved\n" * 40})
    rows = ask("refs", "Tree", "--no-update", cwd=repo)
    assert [row["text"] for row in rows if row["path"] == "lib/b.py"]
    assert {row["text"] for row in rows if row["path"] == "lib/b.py"} == {None}


# --- callers and callees, imports and importers


def test_callers(repository: Repository) -> None:
    rows = repository.callers("pkg.core.grow")
    assert [(row["path"], row["line"], row["qualified"]) for row in rows] == [
        ("app.py", 7, "main"), ("tests/test_app.py", 5, "test_plant"),
    ]  # fmt: skip
    assert list(rows[0]) == ["path", "line", "name", "qualified", "trust", "by", "called"]
    assert {"main", "test_plant", "grow"} == {row["qualified"] for row in repository.callers("Tree.__init__")}
    module = repository.callers("app.main")
    assert (module[0]["path"], module[0]["qualified"]) == ("app.py", "app.py")


def test_callees(repository: Repository) -> None:
    answer = repository.ask("callees", "app.main")
    assert [row["qualified"] for row in answer.rows if row["trust"] != "unique_name"] == ["Tree", "grow", "Tree.climb", "leaf"]
    assert "vanish" in answer.note
    assert {"Plant.water", "Tree"} == {row["qualified"] for row in repository.callees("pkg.core.grow")}


def test_imports_lead_to_files(repository: Repository) -> None:
    rows = repository.imports("app.py")
    assert [(row["module"], row["name"], row["target"], row["origin"]) for row in rows] == [
        ("os", None, None, "standard"),
        ("pkg.core", None, "pkg/core.py", "repository"),
        ("pkg", "Tree", "pkg/__init__.py", "repository"),
        ("pkg", "plant", "pkg/__init__.py", "repository"),
        ("pkg", "sub", "pkg/sub/__init__.py", "repository"),
        ("pkg", "leaf", "pkg/__init__.py", "repository"),
    ]
    assert list(rows[0]) == ["module", "name", "alias", "line", "target", "origin", "package", "by", "path"]


def test_importers_are_the_other_way_round(repository: Repository) -> None:
    assert repository.importers("pkg/__init__.py") == [
        {"path": "app.py", "line": 3, "names": ["Tree", "plant"]},
        {"path": "app.py", "line": 4, "names": ["leaf"]},
        {"path": "tests/test_app.py", "line": 1, "names": ["plant", "Tree"]},
    ]
    for path in FILES:
        for row in repository.importers(path):
            targets = [r["target"] for r in repository.imports(str(row["path"])) if r["line"] == row["line"]]
            assert path in targets
    assert places(repository.importers("pkg/sub/__init__.py")) == ["app.py:3", "pkg/__init__.py:3"]


# --- wrong questions


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("app.py:99:1", "app.py has no line 99"),
        ("app.py:0:1", "has no line 0"),
        ("app.py:1:99", "has no column 99"),
        ("app.py:1:0", "has no column 0"),
        ("/etc/passwd:1:1", "outside the repository"),
        ("../x.py:1:1", "outside the repository"),
        ("ap.py:1:1", "Nearest: app.py"),
        ("deep.py:1:1", "Nearest: pkg/sub/deep.py"),
        ("image.png:1:1", "not read as text"),
        ("Treee", "Nearest: Tree"),
        ("tere", "Nearest: Tree"),
        ("pkg.Bush", "no definition of pkg.Bush found"),
        ("pkg.sub.Tree", "Tree is defined: pkg/core.py#Tree"),
        ("pkg/core.py#Tree.clim", "Nearest: pkg/core.py#Tree.climb"),
        ("app.py", "is a file"),
        ("", "the question is empty"),
        ("::", "no definition of"),
        ("x" * 5000, "no definition of"),
        ("app.py:1", "no definition begins at app.py:1. For a name on that line: PATH:LINE:COL"),
        ("ap.py:1", "the repository has no file ap.py. Nearest: app.py"),
        ("pkg/sub/deeep.py", "the repository has no file pkg/sub/deeep.py. Nearest: pkg/sub/deep.py"),
        ("deep.py", "the repository has no file deep.py. Nearest: pkg/sub/deep.py"),
        ("apq.py", "the repository has no file apq.py. Nearest: app.py"),
    ],
)  # fmt: skip
def test_wrong_questions(made: Path, repository: Repository, asked: str, said: str) -> None:
    for command in ("define", "refs"):
        with pytest.raises(UserError) as raised:
            repository.ask(command, asked)
        assert said in str(raised.value)
    if len(asked) < 100:
        done = concord("define", "--json", "--no-update", "--", asked, cwd=made, code=2)
        assert said in done.stderr
        assert done.stdout == ""


def test_a_line_means_the_definition_that_begins_there(repository: Repository) -> None:
    for row in repository.symbols("pkg/core.py"):
        first, *_ = repository.define(f"pkg/core.py:{row['line']}")
        assert (first["line"], first["trust"]) == (row["line"], "exact")


def test_names_of_any_kind_answer_or_are_refused(repository: Repository) -> None:
    for asked in ("a b", "#", "x#y", "app.py#", ":", "1:1", "app.py:1:1:1", "\0", "é", "operator==", "a::operator()", "<", "-x", "..", "/", "%"):
        for command in ("define", "refs", "callers", "callees"):
            with pytest.raises(UserError):
                repository.ask(command, asked)


def test_an_empty_file_has_one_empty_line(repository: Repository) -> None:
    assert repository.define("empty.py:1:1") == []
    with pytest.raises(UserError, match="no line 2"):
        repository.define("empty.py:2:1")


# --- a store that others build


@contextmanager
def held(root: Path) -> Iterator[None]:
    """Hold the lock of a running build."""
    with open(root / ".concordance/lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_a_running_build_is_waited_for_and_said(repo: Path) -> None:
    build(repo)
    write(repo, {"a.py": "def fresh(): pass\n"})
    with held(repo):
        began = time.monotonic()
        done = concord("define", "Tree", "--json", cwd=repo)
        assert 2 < time.monotonic() - began < 120
    assert json.loads(done.stdout)[0]["path"] == "a.py"
    assert "a build of this repository is running; waiting" in done.stderr
    assert "last complete store" in done.stderr
    assert "no definition of Tree found" in concord("define", "Tree", cwd=repo, code=2).stderr


def test_a_build_that_ends_in_time_is_used(repo: Path) -> None:
    build(repo)
    with held(repo):
        asked = program.started("define", "Tree", "--json", cwd=repo)
        line = asked.stderr.readline() if asked.stderr else ""
    out, err = asked.communicate(timeout=120)
    assert "waiting" in line
    assert "last complete store" not in err
    assert json.loads(out)


def test_without_a_complete_store_the_build_is_waited_for(repo: Path) -> None:
    build(repo)
    (repo / ".concordance/index.db").write_bytes(b"made by nobody")
    with held(repo):
        asked = program.started("define", "Tree", "--json", cwd=repo)
        lines = [asked.stderr.readline() for _ in range(2)] if asked.stderr else []
        assert "no complete store" in lines[1]
        assert asked.poll() is None
    out, _ = asked.communicate(timeout=120)
    assert json.loads(out)


# --- batch


def batch(root: Path, *lines: str | bytes) -> list[dict[str, Any]]:
    done = subprocess.run(
        [program.CONCORD, "batch", "--no-update"], cwd=root, env=program.environment(), capture_output=True, check=True,
        input=b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines),
    )  # fmt: skip
    assert b"Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_batch(made: Path, repository: Repository) -> None:
    asked = [("define", ["pkg.Tree"]), ("refs", ["Tree", "--limit", "2"]), ("symbols", ["pkg/core.py"]), ("keywords", [])]
    replies = batch(made, *(json.dumps({"command": command, "args": args}) for command, args in asked))
    assert [reply["ok"] for reply in replies] == [True] * 4
    assert replies[0] == {"ok": True, "result": repository.define("pkg.Tree")}
    assert len(replies[1]["result"]) == 2
    assert replies[1]["total"] == len(repository.refs("Tree"))
    assert replies[1]["cursor"]
    assert replies[2]["result"] == repository.symbols("pkg/core.py")


def test_a_bad_line_is_answered_and_the_next_is_read(made: Path) -> None:
    bad: list[str | bytes] = [
        "", "{", "[]", "3", "null", '"define"', "{}", '{"command": 3}', '{"command": "define"}', '{"command": "nope", "args": []}',
        '{"command": "define", "args": "app.py:1:1"}', '{"command": "define", "args": [1]}',
        '{"command": "define", "args": ["a", "b"]}', '{"command": "define", "args": ["--nope"]}',
        '{"command": "define", "args": ["--help"]}', '{"command": "refs", "args": ["Tree", "--limit", "0"]}',
        '{"command": "refs", "args": ["Tree", "--trust", "blind"]}', '{"command": "define", "args": ["Bush"]}',
        '{"command": "define", "args": ["--repo", "/", "Tree"]}', '{"command": "build", "args": []}',
        '{"command": "batch", "args": []}', "[" * 100_000, b"\xff\xfe", b"\0", '{"command": "define", "args": ["\\ud800"]}',
    ]  # fmt: skip
    good = '{"command": "define", "args": ["Tree"]}'
    replies = batch(made, *(line for one in bad for line in (one, good)))
    assert [reply["ok"] for reply in replies] == [False, True] * len(bad)
    for line, reply in zip(bad, replies[::2], strict=True):
        assert reply["error"], line
        assert "the program failed" not in reply["error"], (line, reply)


def test_batch_replies_at_once(made: Path) -> None:
    running = subprocess.Popen(
        [program.CONCORD, "batch", "--no-update"], cwd=made, env=program.environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert running.stdin is not None
    assert running.stdout is not None
    for _ in range(3):
        running.stdin.write('{"command": "define", "args": ["Tree"]}\n')
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["ok"]
    running.stdin.close()
    assert running.wait(10) == 0
    running.stdout.close()


def test_batch_without_input(made: Path) -> None:
    for line in ("concord batch --no-update <&-", "concord batch --no-update </dev/null"):
        done = subprocess.run(
            ["bash", "-c", line.replace("concord", program.CONCORD)], cwd=made, env=program.environment(), capture_output=True, text=True
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# --- the Python API


def test_every_command_is_a_method(repository: Repository) -> None:
    assert set(plugins.names(COMMANDS)) <= set(dir(repository))
    for name in plugins.names(COMMANDS):
        assert callable(getattr(repository, name))
    with pytest.raises(AttributeError, match="available commands: "):
        repository.undo()
    with pytest.raises(UserError, match="no option"):
        repository.define("Tree", colour="red")
    with pytest.raises(UserError, match="needs an argument"):
        repository.define()
    with pytest.raises(UserError, match="trust cannot be blind"):
        repository.refs("Tree", trust="blind")
    with pytest.raises(UserError, match="limit of 0"):
        repository.refs("Tree", limit=0)


def test_open_brings_up_to_date(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with concordance.open(repo) as opened:
        assert places(opened.define("Tree")) == ["a.py:4"]
    write(repo, {"a.py": "class Tree: pass\n"})
    with concordance.open(repo, update=False) as opened:
        assert places(opened.define("Tree")) == ["a.py:4"]
    monkeypatch.chdir(repo / "lib")
    with concordance.open() as opened:
        assert places(opened.define("Tree")) == ["a.py:1"]


def test_the_api_is_silent(repo: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with concordance.open(repo) as opened:
        opened.define("Tree")
    assert capfd.readouterr() == ("", "")


def test_to_import_it_costs_nothing() -> None:
    line = "import sys, concordance; print([m for m in sys.modules if m.startswith(('concordance.', 'msgspec', 'click'))])"
    done = subprocess.run([os.sys.executable, "-c", line], env=program.environment(), capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_names_are_unpacked_as_facts_are_packed() -> None:
    assert FileScopes._fields == FileFacts._fields
    assert Columns._fields == Occurrences._fields


# --- for people


def test_people_see_a_table(made: Path) -> None:
    shown = concord("define", "pkg.Tree", "--no-update", cwd=made).stdout
    assert "pkg/core.py" in shown
    assert "pkg/__init__.py:1" in shown
    assert "none" in concord("callers", "_unused", "--no-update", cwd=made).stdout


def test_a_path_between_a_class_and_its_member(repository: Repository) -> None:
    assert repository.ask("path", "Tree Tree.climb").note == "Tree contains Tree.climb"
    assert repository.ask("path", "Tree.climb Tree").note == "Tree contains Tree.climb"
    assert repository.ask("path", "Tree Tree").note == "Tree and Tree are the same"


def test_a_step_of_a_path_cites_the_line_of_its_use(tmp_path: Path) -> None:
    code = "def low():\n    pass\n\n\ndef high():\n    def inner():\n        low()\n\n    return inner\n\n\ndef top():\n    x = 1\n    high()\n"
    write(tmp_path, {"a.py": code})
    with concordance.open(tmp_path) as repository:
        rows = repository.path("top low")
    lines = code.split("\n")
    assert [row["line"] for row in rows][:1] == [14]
    assert not [row for row in rows if row["how"] == "calls" and "(" not in lines[row["line"] - 1]]
    assert not [row for row in rows if row["how"] == "calls" and lines[row["line"] - 1].startswith("def")]


def test_refs_say_which_languages_they_answer_for(tmp_path: Path) -> None:
    write(tmp_path, {
        "a.py": "def plant():\n    pass\n\n\nplant()\n", "b.go": "package b\n\nfunc plant() {}\n\nfunc x() { plant() }\n"
    })  # fmt: skip
    with concordance.open(tmp_path) as repository:
        note = repository.ask("refs", "plant").note
        assert "Python (" in note and "Go (" in note and "full name" in note
        assert "Go" not in repository.ask("refs", "a.py#plant").note


def test_an_inherited_member_is_named_by_its_class_and_no_test_is_on_the_way(tmp_path: Path) -> None:
    files = {
        "src/web/__init__.py": "from .app import Web\n",
        "src/web/app.py": "from .base import Base\n\n\nclass Web(Base):\n    pass\n",
        "src/web/base.py": "class Base:\n    def route(self):\n        pass\n",
        "tests/apps/web.py": "from web import Web\n\nother = Web()\n",
    }
    write(tmp_path, files)
    with concordance.open(tmp_path) as repository:
        for name in ("Web.route", "web.Web.route"):
            (row,) = repository.define(name)
            assert (row["path"], row["line"]) == ("src/web/base.py", 2), name
            assert not [hop for hop in row["via"] if hop["path"].startswith("tests/")]


def test_one_file_is_not_called_files(folder: Path) -> None:
    write(folder, {"a.py": "x = 1\n"})
    with Repository(folder) as repository:
        asked = {"search": "qwzxv", "locate": "qwzxv", "importers": "a.py", "related": "a.py", "impact": "a.py"}
        for question, argument in asked.items():
            note = repository.ask(question, argument).note
            assert "1 file searched" in note, f"{question}: {note}"
        assert "1 line searched" in repository.ask("imports", "a.py").note


def test_a_special_method_that_no_text_names_may_run(tmp_path: Path) -> None:
    files = {
        "web.py": "class Context:\n    def __enter__(self):\n        push()\n\n    def __exit__(self, *args):\n        pass\n\n\n"
        "def push():\n    pass\n",
        "app.py": "from web import Context\n\n\ndef make():\n    return Context()\n",
        "test_app.py": "from app import make\nfrom web import Context\n\n\ndef test_make():\n    make()\n\n\n"
        "def test_context():\n    Context()\n",
    }
    write(tmp_path, files)
    with concordance.open(tmp_path) as repository:
        rows = repository.ask("path", "make push").rows
        assert [(row["how"], row["trust"]) for row in rows] == [
            ("creates an object that may run", "candidate"), ("calls", "exact"),
        ]  # fmt: skip
        whys = {row["name"]: row["why"] for row in repository.ask("tests", "push").rows}
        assert whys == {
            "test_make": "calls make, which may run Context.__enter__ → push",
            "test_context": "creates an object that may run Context.__enter__ → push",
        }


def test_impact_lists_the_tests_of_the_change_itself(repo: Path) -> None:
    """In Rust, unit tests are in the file that they test."""
    code = "pub fn pay() -> u32 { 3 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn pays() { assert_eq!(super::pay(), 3); }\n}\n"
    write(repo, {"src/lib.rs": code, "Cargo.toml": "[package]\nname = 'till'\n", "src/more.rs": "fn tip() { crate::pay(); }\n"})
    build(repo)
    for asked in ("src/lib.rs", "src/lib.rs#tests"):
        row = ask("impact", asked, cwd=repo)[0]
        assert (row["qualified"], row["distance"], row["why"]) == ("tests::pays", 0, "defined here")
        assert "pays" in row["run"]
    assert [row["qualified"] for row in ask("impact", "src/lib.rs#pay", cwd=repo)] == ["tests::pays", "tip"]
