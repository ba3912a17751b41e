"""Public names: literate cases (`tests/cases/public`), and how commands and pages show and accept them.

The fenced files up to a block `public` are one repository; a line of the block is `PATH#KEY NAME`, or `nothing` if a
symbol has no public name.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import concordance
from concordance.facts.codec import PUBLIC, PublicNames
from concordance.facts.read import Facts
from tests.support import books, program
from tests.support.relinked import Book

HOME = Path(__file__).parents[1] / "cases" / "public"
_FENCE = re.compile(r"^```[ \t]*(\S*)[ \t]*(.*?)[ \t]*\n(.*?)^```[ \t]*$", re.M | re.S)


def repositories(case: Path) -> list[tuple[dict[str, str], list[str]]]:
    """Return the repositories of a case, each with the expected lines."""
    found: list[tuple[dict[str, str], list[str]]] = []
    files: dict[str, str] = {}
    for info, name, body in _FENCE.findall(case.read_text()):
        if info == "public":
            found.append((files, body.splitlines()))
            files = {}
        else:
            files[name] = body
    return found


EVERY = [(f"{case.stem} {n}", *one) for case in sorted(HOME.glob("*.md")) for n, one in enumerate(repositories(case), 1)]


@pytest.mark.parametrize(("files", "lines"), [row[1:] for row in EVERY], ids=[row[0] for row in EVERY])
def test_cases(tmp_path: Path, files: dict[str, str], lines: list[str]) -> None:
    Book(tmp_path, files)
    with Facts(str(tmp_path / "kept")) as facts:
        names = PublicNames(facts.analysis_result(PUBLIC))
    found = []
    for line in lines:
        path, _, key = line.partition(" ")[0].partition("#")
        found.append(f"{path}#{key} {names.of(path, key.split('.')).dotted or 'nothing'}")
    assert found == lines


FILES = {
    "pkg/__init__.py": "from .inner.core import Tree\n",
    "pkg/inner/__init__.py": "",
    "pkg/inner/core.py": "class Tree:\n    def grow(self):\n        return plant()\n\n\ndef plant():\n    return Tree()\n",
    "tests/test_tree.py": "from pkg import Tree\n\n\ndef test_tree():\n    Tree().grow()\n",
}


def test_every_command_takes_and_shows_a_public_name(folder: Path) -> None:
    program.write(folder, FILES)
    with concordance.open(folder) as repository:
        for name in ("pkg.Tree", "pkg.inner.core.Tree", "Tree"):
            assert [row["called"] for row in repository.define(name)] == ["pkg.Tree"]
        assert [row["called"] for row in repository.define("pkg.Tree.grow")] == ["pkg.Tree.grow"]
        assert [row["called"] for row in repository.callers("pkg.inner.core.plant")] == ["pkg.Tree.grow"]
        assert [row["called"] for row in repository.callees("pkg.Tree.grow")] == ["pkg.inner.core.plant"]
        assert [row["called"] for row in repository.symbols("pkg/inner/core.py")] == [
            "pkg.Tree", "pkg.Tree.grow", "pkg.inner.core.plant",
        ]  # fmt: skip
        assert repository.refs("pkg.Tree") == repository.refs("pkg/inner/core.py#Tree")
        assert repository.tests("pkg.Tree.grow")[0]["name"] == "test_tree"
        assert repository.search("pkg.Tree")[0]["called"] == "pkg.Tree"
        assert "pkg.Tree.grow" in {row["called"] for row in repository.impact("pkg.inner.core.plant")}


def test_a_public_name_says_who_gives_it(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from . import _a as a\nfrom ._b import B\nfrom .c import C\n",
        "pkg/_a.py": "class A: ...\n", "pkg/_b.py": "class B: ...\n", "pkg/c.py": "class C: ...\n\n\nclass D: ...\n",
        "docs/c.rst": ".. autoclass:: pkg.c.C\n",
    }  # fmt: skip
    Book(tmp_path, files)
    with Facts(str(tmp_path / "kept")) as facts:
        names = PublicNames(facts.analysis_result(PUBLIC))
    assert names.of("pkg/_a.py", ["A"]) == ("pkg.a.A", "pkg/__init__.py")
    assert names.of("pkg/_b.py", ["B"]) == ("pkg.B", "pkg/__init__.py")
    assert names.of("pkg/c.py", ["C"]) == ("pkg.c.C", "docs/c.rst")
    assert names.of("pkg/c.py", ["D"]) == ("pkg.c.D", "")


def test_overloads_have_one_name_together(folder: Path) -> None:
    stub = "class Box:\n    def open(self, n: int) -> int: ...\n    def open(self, n: str) -> str: ...\n"
    program.write(folder, {"pkg/__init__.pyi": "from ._box import Box as Box\n", "pkg/_box.pyi": stub})
    with concordance.open(folder) as repository:
        rows = repository.define("pkg.Box.open")
        assert [(row["line"], row["called"]) for row in rows] == [(2, "pkg.Box.open"), (3, "pkg.Box.open")]
        assert {row["trust"] for row in rows} <= {"exact", "via_import"}


def test_pages_follow_a_public_name(folder: Path) -> None:
    """A page shows a name that another file exports, and is made again when that export changes."""
    program.write(folder, FILES)
    out = folder / "book"
    for text, name in (("", "pkg.inner.core.Tree"), ("from .inner.core import Tree as Oak\n", "pkg.Oak")):
        books.write(folder, out)
        assert "imported as `pkg.Tree`" in books.pages(out)["pkg/inner/core.py_docs.md"]
        program.write(folder, {"pkg/__init__.py": text})
        books.write(folder, out)
        assert f"imported as `{name}`" in books.pages(out)["pkg/inner/core.py_docs.md"]
        assert f"[`{name}`]" in books.pages(out)["pkg/inner/core.py_kw.md"]
        assert not books.problems(folder, out)
        program.write(folder, {"pkg/__init__.py": FILES["pkg/__init__.py"]})
