"""Usage examples: which ones are chosen, and which lines are quoted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from concordance.base.model import Import
from concordance.extract.documents.markdown_blocks import find_fences
from concordance.facts.read import Facts
from concordance.query.index.repository import Index
from concordance.query.sections.examples import (
    Example,
    cut_example,
    find_code_block,
    find_doctest,
    find_examples,
    import_line,
)
from tests.support import program
from tests.support.program import concord, write

FILES = {
    "forest/__init__.py": "",
    "forest/trees.py": '''\
"""Trees."""


class Tree:
    """A tree.

    Example:
        >>> # doctest: +SKIP
        >>> tree = Tree(3)
        >>> tree.size
        3

    More words.
    """

    def __init__(self, size):
        self.size = size


def plant(tree):
    """Plants."""
    return tree


def water(tree, litres, hose=None):
    return tree


def prune(tree):
    return tree


def _hidden(tree):
    return tree


def unused():
    pass
''',
    "forest/care.py": """\
from .trees import plant, prune, _hidden, water


def care(tree):
    first = _hidden(tree)
    second = plant(first)

    a = 1
    b = 2
    c = 3
    d = 4
    e = 5
    f = 6
    g = 7

    pruned = prune(
        second,
    )
    done = water(pruned, 1)

    return done, a, b, c, d, e, f, g
""",
    "examples/garden.py": """\
import sys
from forest import trees as t


def main():
    if sys.argv:
        t.plant(None)


main()
""",
    "tests/test_trees.py": """\
from forest.trees import (
    plant,
    water,
)


def test_water():
    wet = water(plant(None), 2)
    assert wet is None
""",
    "native/saw.h": "#pragma once\nint cut(int depth);\n#define SAW_MAX 12\n",
    "native/saw.c": '#include "saw.h"\nint cut(int depth) { return depth; }\n',
    "native/use.c": """\
#include "saw.h"

int use(int n) {
  if (n > 3) {
    return cut(
        n);
  }
  return 0;
}
""",
    "lonely.py": "def alone():\n    pass\n",
    "notes.txt": "nothing\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = tmp_path_factory.mktemp("examples")
    program.git(root, "init", "-q", "-b", "main")
    write(root, FILES)
    program.age(root)
    concord("build", root, env={"CONCORDANCE_CACHE": str(tmp_path_factory.mktemp("cache"))})
    with Facts(str(root / ".concordance")) as facts:
        yield Index(facts, str(root))


def by_key(index: Index, path: str) -> dict[str, Example]:
    return {example.key: example for example in find_examples(index, path)}


def test_own_documentation_comes_first(index: Index) -> None:
    first = find_examples(index, "forest/trees.py")[0]
    assert (first.key, first.kind, first.path) == ("Tree", "documentation", "forest/trees.py")
    assert first.code == ">>> tree = Tree(3)\n>>> tree.size\n3\n"
    assert (first.first, first.last, first.language) == (8, 11, "python")


def test_an_example_before_a_test_before_a_caller(index: Index) -> None:
    found = by_key(index, "forest/trees.py")
    assert (found["plant"].kind, found["plant"].path) == ("example", "examples/garden.py")
    assert (found["water"].kind, found["water"].path) == ("test", "tests/test_trees.py")
    assert (found["prune"].kind, found["prune"].path) == ("caller", "forest/care.py")
    assert list(found) == ["Tree", "plant", "water", "prune"]
    assert "unused" not in found and "_hidden" not in found


def test_a_short_function_is_shown_whole_with_its_import(index: Index) -> None:
    found = by_key(index, "forest/trees.py")
    assert found["plant"].code == (
        "from forest import trees as t\n\ndef main():\n    if sys.argv:\n        t.plant(None)\n"
    )
    assert (found["plant"].first, found["plant"].last, found["plant"].imports) == (5, 7, (2,))
    assert found["water"].code.startswith("from forest.trees import water\n\ndef test_water():\n")
    assert found["water"].imports == (1,)  # the statement begins there


def test_of_a_long_function_the_statement_is_shown(index: Index) -> None:
    found = by_key(index, "forest/trees.py")["prune"]
    assert found.code == ("from .trees import prune\n\npruned = prune(\n    second,\n)\ndone = water(pruned, 1)\n")
    assert (found.first, found.last) == (16, 19)


def test_a_header_and_its_include(index: Index) -> None:
    found = by_key(index, "native/saw.h")
    assert found["cut"].path == "native/use.c"
    assert found["cut"].code.startswith('#include "saw.h"\n\nint use(int n) {\n')
    assert found["cut"].code.endswith("  return 0;\n}\n")


@pytest.mark.parametrize("path", ["lonely.py", "notes.txt", "forest/__init__.py", "examples/garden.py"])
def test_no_examples(index: Index, path: str) -> None:
    assert find_examples(index, path) == []


def test_few_files_are_opened(index: Index) -> None:
    index.open_files.clear()
    find_examples(index, "forest/trees.py")
    assert len(index.open_files) <= 4


# --- cutting


def test_blocks_are_not_cut_in_two() -> None:
    lines = [
        "def f():",
        "    x = 1",
        "",
        "    with a(x):",
        "        b = [",
        "            1,",
        "        ]",
        "",
        "    return b",
    ]
    assert cut_example(lines, 4, "python", None) == (4, 7, "with a(x):\n    b = [\n        1,\n    ]")
    endless = ["with a():", *["    b = ["] * 30]
    assert cut_example(endless, 1, "python", None) is None
    braces = ["void f() {", "", "  for (int i = 0; i < cut(3); i++) {", "    g(i);", "  }", "", "}"]
    assert cut_example(braces, 3, "cpp", None) == (3, 5, "for (int i = 0; i < cut(3); i++) {\n  g(i);\n}")


def test_statements_over_lines() -> None:
    lines = ["", "x = f(", "    a,", "    b,", ")", "", "y = 1"]
    assert cut_example(lines, 4, "python", None) == (2, 5, "x = f(\n    a,\n    b,\n)")
    assert cut_example(["x = '" + "y" * 500 + "'"], 1, "python", None) is None


def test_doctests() -> None:
    lines = ["def f():", '    """F.', "", "    >>> f()", "    1", "", "    >>> f()", "    2", '    """']
    assert find_doctest(lines, 1, 9) == (4, 8, ">>> f()\n1\n\n>>> f()\n2\n")
    assert find_doctest(["def f():", "    pass"], 1, 2) is None


def test_code_of_documents() -> None:
    lines = ["# A", "", "```python", "a()", "b()", "```", "", "a()"]
    assert find_code_block(lines, 5, "markdown") == (4, 5, "a()\nb()")
    assert find_code_block(lines, 8, "markdown") is None
    lines = ["So::", "", "    a()", "    b()", "", "Words of a()."]
    assert find_code_block(lines, 4, "rst") == (3, 4, "a()\nb()")
    assert find_code_block(lines, 6, "rst") is None


@pytest.mark.parametrize(
    ("text", "fences"),
    [
        ("a\n```py\nb\n```\nc", [(1, 3, "py")]),
        ("```npm install```\n\n```sh\nb\n```", [(2, 4, "sh")]),  # code in a line of its own is no fence
        ("````md\n```\nb\n```\n````", [(0, 4, "md")]),
        ("~~~\n```\n~~~", [(0, 2, "")]),
        ("- a\n\n  ```\n  b", [(2, 4, "")]),  # never closed
        ("Title\n~~~~~\n\nwords\n\nOther\n~~~~~\n", []),  # headings of reST
    ],
)
def test_fences(text: str, fences: list[tuple[int, int, str]]) -> None:
    assert list(find_fences(text.split("\n"))) == fences


def test_imports() -> None:
    assert import_line(Import(1, 1, "a.b", "c", "d"), "python", [""]) == "from a.b import c as d"
    assert import_line(Import(1, 1, "a.b", "", "d"), "python", [""]) == "import a.b as d"
    assert (
        import_line(Import(1, 1, "./a", "b"), "javascript", ["import { b } from './a';"]) == "import { b } from './a';"
    )
    assert import_line(Import(2, 1, "./a", "b"), "javascript", ["import {", "  b,", "} from './a';"]) == ""
