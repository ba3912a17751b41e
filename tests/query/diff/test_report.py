"""`concord diff`: what changed between two revisions, for small histories whose changes are known."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from concordance import api
from concordance.base.config import Config
from concordance.base.errors import NotARepository, UnknownRevision, UserError
from concordance.collect import revisions
from concordance.extract import engine
from concordance.query.diff.dependencies import (
    DependencyGraph,
    DependencySite,
    changed_cycles,
    changed_file_dependencies,
    changed_folder_dependencies,
)
from concordance.query.diff.moves import UnpairedSymbols, find_moves, pair_equal_files, pair_similar_files
from concordance.query.diff.symbol_pairs import differing_aspects, pair_symbols
from concordance.query.diff.symbols import ComparableSymbol, comparable_symbols, line_digests
from concordance.workflow import store_update
from tests.support import program

Row = dict[str, Any]

FIRST = {
    "app/__init__.py": "",
    "app/shapes.py": '''"""Shapes."""

import os
from app.sizes import scale

LIMIT = 10


class Circle:
    """A circle."""

    def area(self, exact=False):
        """The area."""
        return 3.14 * self.radius * self.radius

    def grow(self, by):
        self.radius += by
        self.radius = scale(self.radius, by)
        return self.radius


def plain(first, second):
    """Adds."""
    total = first + second
    if total > LIMIT:
        raise ValueError("too large")
    return total


def leaves(here, there):
    walked = os.path.join(here, there)
    for name in os.listdir(walked):
        if name.endswith(".txt"):
            yield name


def stays(value):
    return value


def goes(value):
    return value * 2
''',
    "app/sizes.py": "def scale(value, by):\n    return value * by\n\n\ndef helper(a, b, c):\n    return a * b * c\n",
    "app/old_name.py": "".join(f"def part_{n}(x):\n    return x + {n}\n\n\n" for n in range(12)),
    "core/engine.h": "int start(int speed);\nint stop();\n",
    "core/engine.cpp": '#include "engine.h"\nint start(int speed) {\n  return speed * 2;\n}\nint stop() { return 0; }\n',
    "tests/test_shapes.py": "from app.shapes import plain\n\n\ndef test_plain():\n    assert plain(1, 2) == 3\n",
    "notes.md": "# Notes\n\n## Use\n\nSome words.\n",
    "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR1",
    "Case.txt": "a file whose name changes by its case alone, which some file systems do not tell apart\n",
}
SECOND = {
    "app/shapes.py": '''"""Shapes, and more."""

from app.sizes import scale

LIMIT = 12


class Circle:
    """A circle."""

    def area(self, exact=False, digits=2):
        """The area."""
        return 3.14 * self.radius * self.radius

    def grow(self, by):
        """Makes it larger."""
        self.radius += by
        self.radius = scale(self.radius, by)
        return self.radius


def summed(first, second):
    """Adds."""
    total = first + second
    if total > LIMIT:
        raise ValueError("too large")
    return total


def stays(value):
    # a word more
    return value + 0


def comes(value, other=None):
    eval(value)
    return value, other
''',
    "app/sizes.py": """from app import shapes


def scale(value, by):
    return value * by


def leaves(here, there):
    import os

    walked = os.path.join(here, there)
    for name in os.listdir(walked):
        if name.endswith(".txt"):
            yield name


def helper(a, b, c):
    return a * b * c
""",
    "core/engine.cpp": '#include "engine.h"\n#include <vector>\nint start(int speed) {\n  return speed * 3;\n}\nint stop() { return 0; }\n',
    "tests/test_shapes.py": "from app.shapes import summed\n\n\ndef test_plain():\n    assert summed(1, 2) == 3\n\n\ndef test_more():\n    pass\n",
    "notes.md": "# Notes\n\n## Use\n\nOther words.\n\n## More\n\nMore words.\n",
    "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR2",
}


def commit(folder: Path, files: dict[str, str | bytes], *gone: str) -> None:
    for path in gone:
        program.git(folder, "rm", "-q", path)
    program.write(folder, files)
    program.git(folder, "add", "-A")
    program.git(folder, "commit", "-q", "--allow-empty", "-m", "change")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A repository with two commits, `one` and `two`, and its store."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
        for name, value in program.GIT.items():
            patch.setenv(name, value)
        folder = tmp_path_factory.mktemp("history")
        program.git(folder, "init", "-q", "-b", "main")
        commit(folder, FIRST)
        program.git(folder, "tag", "one")
        program.git(folder, "mv", "app/old_name.py", "app/new_name.py")
        program.git(folder, "mv", "Case.txt", "case.txt")
        commit(folder, {**SECOND, "app/new_name.py": str(FIRST["app/old_name.py"]) + "\nLAST = 1\n"})
        program.git(folder, "tag", "two")
        program.age(folder)
        store_update.build(str(folder))
        yield folder


@pytest.fixture(scope="module")
def rows(history: Path) -> list[Row]:
    with api.Repository(history) as repository:
        return repository.diff("one", "two")


def of(rows: list[Row], **wanted: str) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def names(rows: list[Row], change: str, path: str = "") -> set[str]:
    symbols = {"function", "method", "class", "constant", "variable", "heading", "field"}
    return {row["qualified"] for row in of(rows, change=change) if row["kind"] in symbols and path in row["path"]}


def test_files(rows: list[Row]) -> None:
    files = {(row["change"], row["path"]) for row in of(rows, kind="file")}
    assert ("renamed", "app/new_name.py") in files
    assert ("renamed", "case.txt") in files
    assert ("changed", "picture.png") in files
    assert not {change for change, _ in files} & {"added", "removed", "not compared"}


def test_definitions(rows: list[Row]) -> None:
    assert names(rows, "added", ".py") == {"comes", "test_more", "LAST"}
    assert names(rows, "removed", ".py") == {"goes"}
    assert names(rows, "moved") == {"leaves"}
    assert names(rows, "renamed") == {"summed"}
    assert names(rows, "signature") == {"Circle.area"}
    assert names(rows, "value") == {"LIMIT"}
    assert names(rows, "doc") == {"Circle.grow"}
    assert names(rows, "body") == {"stays", "start", "test_plain", "leaves", "Notes.Use"}
    assert names(rows, "added", "notes.md") == {"Notes.More"}


def test_both_sides_have_lines(rows: list[Row]) -> None:
    (moved,) = of(rows, change="moved")
    assert (moved["before"]["path"], moved["before"]["line"]) == ("app/shapes.py", 30)
    assert (moved["after"]["path"], moved["after"]["line"]) == ("app/sizes.py", 8)
    (signature,) = of(rows, change="signature")
    assert signature["before"]["signature"] == "def area(self, exact=False)"
    assert signature["after"]["signature"] == "def area(self, exact=False, digits=2)"


def test_dependencies_and_cycles(rows: list[Row]) -> None:
    (gained,) = of(rows, kind="dependency")
    assert (gained["change"], gained["qualified"]) == ("gained", "app/sizes.py → app/shapes.py")
    (cycle,) = of(rows, kind="cycle")
    assert cycle["change"] == "gained"
    assert cycle["after"]["files"] == ["app/shapes.py", "app/sizes.py"]


def test_tests_findings_and_pages(rows: list[Row]) -> None:
    touched = {(row["change"], row["qualified"]) for row in of(rows, kind="test", path="tests/test_shapes.py")}
    assert touched == {("changed", "test_plain"), ("added", "test_more")}
    (finding,) = of(rows, kind="finding")
    assert (finding["change"], finding["path"]) == ("gained", "app/shapes.py")
    pages = [row["path"] for row in of(rows, kind="page")]
    assert pages[0] == "app/shapes.py"
    assert {"app", "tests/test_shapes.py", "app/sizes.py"} <= set(pages)


def test_backwards_is_the_other_way_round(history: Path, rows: list[Row]) -> None:
    with api.Repository(history) as repository:
        back = repository.diff("two", "one")
    assert names(back, "added") == names(rows, "removed")
    assert names(back, "removed") == names(rows, "added")
    assert {row["change"] for row in of(back, kind="cycle")} == {"lost"}
    assert {row["change"] for row in of(back, kind="finding")} == {"lost"}


def test_ways_to_name_revisions(history: Path, rows: list[Row]) -> None:
    with api.Repository(history) as repository:
        assert repository.diff("one..two") == rows
        assert repository.diff("one...two") == rows
        assert repository.diff("one..") == rows
        here = repository.diff("one")
        assert [row for row in here if row["kind"] != "page"] == [row for row in rows if row["kind"] != "page"]
        assert repository.diff() == repository.diff("HEAD") == repository.diff("two", "two") == []


def test_the_work_tree_counts_as_it_is(history: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(history, folder)
    program.write(
        folder, {"app/sizes.py": "def scale(value):\n    return value\n", "untracked.py": "def fresh(): pass\n"}
    )
    (folder / "app/shapes.py").unlink()
    before = program.git(folder, "status", "--porcelain")
    rows = program.ask("diff", cwd=folder)
    assert ("removed", "app/shapes.py") in {(row["change"], row["path"]) for row in of(rows, kind="file")}
    assert ("added", "untracked.py") in {(row["change"], row["path"]) for row in of(rows, kind="file")}
    assert names(rows, "signature") == {"scale"}
    assert program.git(folder, "status", "--porcelain") == before
    text = program.concord("diff", cwd=folder).stdout
    assert "# What changed: `HEAD` → `the work tree`" in text
    assert "def scale(value, by)` → `def scale(value)" in text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["on"], "Nearest: one"),
        (["app"], "is a path, not a revision"),
        (["nowhere", "two"], "git log"),
        (["--upload-pack=x"], "not a git revision"),
        (["one", "two", "one"], "at most two"),
        ([""], "not a git revision"),
    ],
)
def test_wrong_revisions(history: Path, asked: list[str], said: str) -> None:
    done = program.concord("diff", "--repo", history, "--", *asked, code=2)
    assert said in done.stderr


def test_no_git_and_no_commit(folder: Path) -> None:
    program.write(folder, {"a.py": "x = 1\n"})
    with pytest.raises(NotARepository, match="not in a git repository"):
        revisions.sides(str(folder), ["HEAD"], Config())
    program.git(folder, "init", "-q")
    with pytest.raises(UnknownRevision, match="no commit yet"):
        revisions.sides(str(folder), [], Config())


def test_shallow_clones_and_no_common_ancestor(history: Path, tmp_path: Path) -> None:
    program.git(tmp_path, "clone", "-q", "--depth", "1", f"file://{history}", "shallow")
    with pytest.raises(UnknownRevision, match="shallow"):
        revisions.sides(str(tmp_path / "shallow"), ["HEAD~1"], Config())
    folder = tmp_path / "apart"
    shutil.copytree(history, folder)
    program.git(folder, "checkout", "-q", "--orphan", "other")
    commit(folder, {"a.py": "x = 1\n"})
    with pytest.raises(UserError, match="no common ancestor"):
        revisions.sides(str(folder), ["one...other"], Config())
    one, other, _ = revisions.sides(str(folder), ["one..other"], Config())
    assert len(list(revisions.differing_files(one, other))) > 3


def test_partial_clones_and_line_ends(repo: Path, tmp_path: Path) -> None:
    program.git(repo, "config", "uploadpack.allowFilter", "true")
    program.git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repo}", "partial")
    with pytest.raises(UserError, match="partial clone"):
        revisions.sides(str(tmp_path / "partial"), [], Config())
    program.git(repo, "config", "core.autocrlf", "true")
    (repo / "a.py").unlink()
    program.git(repo, "checkout", "-q", "--", ".")
    assert b"\r\n" in (repo / "a.py").read_bytes()
    os.utime(repo / "a.py")
    one, other, _ = revisions.sides(str(repo), [], Config())
    assert list(revisions.differing_files(one, other)) == []


def test_odd_files(repo: Path) -> None:
    """Names that are not text, links, submodules, files that change their type, and files above the size limit."""
    odd = os.fsdecode(b"odd-\xff.py")
    (repo / "link").symlink_to("a.py")
    for number, text in (("1", "def old(): pass\n"), ("2", "def new(x): return x\n")):
        program.write(repo, {odd: text, "turns.py": "def was(): pass\n" if number == "1" else b"\0\1\2" * 100})
        program.git(repo, "add", "-A")
        program.git(repo, "update-index", "--add", "--cacheinfo", f"160000,{number * 40},sub")
        program.git(repo, "commit", "-q", "-m", "odd")
        (repo / "link").unlink()
        (repo / "link").symlink_to("plain.cpp")
    rows = json.loads(program.concord("diff", "HEAD~1", "HEAD", "--json", cwd=repo).stdout)
    kinds = {row["path"]: row["kind"] for row in rows if row["change"] == "changed"}
    assert kinds["sub"] == "submodule"
    assert kinds["link"] == "symlink"
    assert kinds["turns.py"] == "file"
    assert names(rows, "removed") == {"was", "old"}
    assert names(rows, "added") == {"new"}
    assert "binary" in next(row["why"] for row in rows if row["path"] == "turns.py" and row["kind"] == "file")
    program.concord("diff", "HEAD~1", "HEAD", cwd=repo)


# --- the rules, one by one


def made(path: str, text: str, language: str = "python") -> list[ComparableSymbol]:
    return comparable_symbols(path, language, engine.extract(text, language, {} if language == "cpp" else None), text, frozenset())


def changes(before: str, after: str, language: str = "python") -> dict[str, tuple[str, ...]]:
    found = pair_symbols(made("a", before, language), made("a", after, language))
    return {one.qualified: what for one, other in found.pairs if (what := differing_aspects(one, other))}


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("def f(a, b):\n    return a\n", "def f(\n    a,\n    b,\n):\n    return a\n", {}),
        ("def f(a):\n    return a\n", "def f(a, b):\n    return a\n", {"f": ("signature",)}),
        ("def f(a):\n    return a\n", "@cached\ndef f(a):\n    return a\n", {"f": ("signature",)}),
        ('def f():\n    """A."""\n    return 1\n', 'def f():\n    """B."""\n    return 1\n', {"f": ("doc",)}),
        ('def f():\n    """A."""\n    return 1\n', "def f():\n    return 1\n", {"f": ("doc",)}),
        ("class A:\n    def f(self):\n        return 1\n", "class A:\n    def f(self):\n        return 2\n", {"A.f": ("body",)}),
        ("def f():\n    return 1\n", "\n\n# more\ndef f():\n    return 1\n", {"f": ("doc",)}),
        ("def f():\n    return g(1,2)\n", "def f():\n    return g(1, 2)\n", {}),
        ("def f():\n    return g('a b')\n", "def f():\n    return g('a  b')\n", {"f": ("body",)}),
        ("def f():\n    if a:\n        b()\n        c()\n", "def f():\n    if a:\n        b()\n    c()\n", {"f": ("body",)}),
        ("X = 1\n", "X = 2\n", {"X": ("value",)}),
        ("class A(B): pass\n", "class A(C): pass\n", {"A": ("signature",)}),
        ("if a:\n    def f(): return 1\nelse:\n    def f(): return 2\n", "if a:\n    def f(): return 1\nelse:\n    def f(): return 3\n", {"f": ("body",)}),
    ],
)  # fmt: skip
def test_what_differs(before: str, after: str, what: dict[str, tuple[str, ...]]) -> None:
    assert changes(before, after) == what


def test_layout_of_code_in_braces_does_not_count() -> None:
    assert changes("int f(int a) { return a + 1; }\n", "int f(int a)\n{\n    return a+1;\n}\n", "cpp") == {}


def test_overloads_are_told_apart() -> None:
    before = "int f(int a) { return 1; }\nint f(long a) { return 2; }\nvoid A::m() { x(); }\nvoid B::m() { y(); }\n"
    after = "int f(long a) { return 3; }\nint f(int a) { return 1; }\nvoid A::m() { x(); }\nvoid B::m() { z(); }\n"
    assert changes(before, after, "cpp") == {"f": ("body",), "B::m": ("body",)}


LONG = "".join(f"        total += self.value_{n} * factor\n" for n in range(6))


def found(before: dict[str, str], after: dict[str, str]) -> tuple[set[str], set[str]]:
    """Return what was moved and what was renamed, from where to where."""
    gone = []
    for path in sorted(before.keys() | after.keys()):
        one = pair_symbols(made(path, before.get(path, "")), made(path, after.get(path, "")))
        gone.append(UnpairedSymbols(one.removed, one.added))
    result = find_moves(gone, {})
    told = [
        {f"{a.path}#{a.qualified} {b.path}#{b.qualified}" for a, b in rows} for rows in (result.moved, result.renamed)
    ]
    return told[0], told[1]


def test_moved_and_renamed() -> None:
    method = f"    def total(self, factor):\n        total = 0\n{LONG}        return total\n"
    one, other = f"class A:\n{method}", f"class B:\n{method}"
    assert found({"a": one}, {"b": one}) == ({"a#A b#A"}, set())  # with all that is in it
    assert found({"a": one}, {"a": other}) == (set(), {"a#A a#B"})
    assert found({"a": f"class A(Base):\n{method}"}, {"a": f"class Base:\n{method}\n\nclass A(Base):\n    pass\n"}) == (
        {"a#A.total a#Base.total"}, set(),
    )  # fmt: skip
    nested = (
        f"def outer():\n    def inner(self, factor):\n        total = 0\n{LONG}        return total\n    return 1\n"
    )
    freed = "def _freed(self, factor):\n    total = 0\n" + LONG.replace("        ", "    ") + "    return total\n"
    assert found({"a": nested}, {"a": f"def outer():\n    return 1\n\n\n{freed}"}) == (
        set(),
        {"a#outer.inner a#_freed"},
    )
    assert found({"a": "def f(): pass\n"}, {"a": "def g(): pass\n"}) == (set(), set())  # too short to be sure
    assert found({"a": "def main():\n    one_thing(1)\n    more(2)\n"}, {"b": "def main():\n    another(3)\n    last(4)\n"}) == (
        set(), set(),
    )  # fmt: skip


def test_a_class_of_the_same_members_is_the_same_class() -> None:
    def members(word: str) -> str:
        return "".join(f"    def step_{n}(self):\n        return {word}({n}).run()\n\n" for n in range(5))

    moved, renamed = found({"a": f"class Old:\n{members('first')}"}, {"a": f"class New:\n{members('second')}"})
    assert (moved, renamed) == (set(), {"a#Old a#New"})


def test_renamed_files() -> None:
    assert pair_equal_files({"a/x.py": "1", "b/y.py": "1"}, {"c/y.py": "1", "c/z.py": "1"}) == [
        ("a/x.py", "c/z.py"),
        ("b/y.py", "c/y.py"),
    ]
    lines = [tuple(line_digests([f"line number {n} of {word}" for n in range(20)])) for word in ("one", "two")]
    assert pair_similar_files({"a": lines[0], "b": lines[1]}, {"c": (*lines[1], 7), "d": lines[0][:15]}) == [
        ("a", "d"),
        ("b", "c"),
    ]
    assert pair_similar_files({"a": lines[0]}, {"c": lines[1]}) == []


def test_cycles_that_grow_and_fall_apart() -> None:
    def web(*edges: str) -> DependencyGraph:
        loads: dict[str, list[str]] = {}
        for edge in edges:
            loads.setdefault(edge[0], []).append(edge[1])
        return DependencyGraph({one: {to: DependencySite(1, False) for to in targets} for one, targets in loads.items()}, loads)

    def turned(before: DependencyGraph, after: DependencyGraph) -> list[tuple[bool, tuple[str, ...], tuple[str, ...]]]:
        return [(one.gained, one.members, one.before) for one in changed_cycles(before, after, {})]

    ring, grown = web("ab", "ba"), web("ab", "bc", "ca")
    assert turned(web("ab"), ring) == [(True, ("a", "b"), ())]
    assert turned(ring, web("ab")) == [(False, (), ("a", "b"))]
    assert turned(ring, grown) == [(True, ("a", "b", "c"), ("a", "b"))]
    assert turned(grown, ring) == [(False, ("a", "b"), ("a", "b", "c"))]
    assert turned(ring, ring) == []
    assert changed_cycles(ring, web("xb", "bx"), {"a": "x"}) == []
    assert changed_file_dependencies(ring, web("xb", "bx"), {"a": "x"}) == []
    assert [(one.gained, one.members) for one in changed_folder_dependencies(web("ab"), web(), {})] == []
