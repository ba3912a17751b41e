"""`concord diff --review`: what a reviewer looks at besides the change itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import books, program
from tests.support.program import concord

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "def total(prices, tax):\n    return sum(prices) * tax\n\n\ndef empty_cart():\n    return []\n\n\ndef same():\n    return 1\n",
    "shop/desk.py": "from shop.cart import empty_cart, total\n\n\ndef pay():\n    return total(empty_cart(), 2)\n\n\ndef idle():\n    return 0\n",
    "tests/test_cart.py": "from shop.cart import same, total\n\n\ndef test_total():\n    assert total([1], 2) == 2\n\n\ndef test_same():\n    assert same() == 1\n",
    "native/cart.c": "int empty_cart(void) {\n  return 0;\n}\n",  # of another language: no Python file means it
    "README.md": "# Shop\n\nThe total is what people pay. Call `total` with prices, or empty_cart for none.\n",
    "CODEOWNERS": "shop/ @till\n",
    "pyproject.toml": "[tool.pytest.ini_options]\n",
}
CHANGED = "def total(prices, tax, tip=0):\n    return sum(prices) * tax + tip\n\n\ndef same():\n    return 1\n"


@pytest.fixture
def rows(folder: Path) -> list[dict[str, Any]]:
    """The review of a change that alters the signature of one function and removes another."""
    program.write(folder, FILES)
    program.git(folder, "init", "-q")
    program.git(folder, "add", "-A")
    program.git(folder, "commit", "-qm", "first")
    books.write(folder, folder / ".concordance" / "book")
    (folder / "shop/cart.py").write_text(CHANGED)
    found: list[dict[str, Any]] = json.loads(concord("diff", "--review", "--json", "--repo", folder).stdout)
    return found


def test_a_review_lists_what_the_change_leaves_behind(rows: list[dict[str, Any]]) -> None:
    def of(kind: str) -> list[tuple[Any, ...]]:
        return [(row["path"], (row["after"] or row["before"] or {}).get("line"), row["why"]) for row in rows if row["kind"] == kind]

    assert {(row["change"], row["qualified"]) for row in rows if row["kind"] == "function"} == {("signature", "total"), ("body", "total"), ("removed", "empty_cart")}
    gone, changed = "mention of empty_cart, which was removed", "total, whose signature changed"
    assert of("caller") == [
        ("shop/desk.py", 1, gone),
        ("shop/desk.py", 5, gone),
        ("shop/desk.py", 1, f"import of {changed}"),
        ("shop/desk.py", 5, f"call of {changed}"),
        ("tests/test_cart.py", 1, f"import of {changed}"),
        ("tests/test_cart.py", 5, f"call of {changed}"),
    ]
    assert [row["qualified"] for row in rows if row["kind"] == "command"] == ["pytest tests/test_cart.py::test_total"]
    assert [row[:2] for row in of("document")] == [("README.md", 3)]
    assert [(row["path"], row["after"]["owners"]) for row in rows if row["kind"] == "owner"] == [("shop/cart.py", ["@till"])]


def test_the_page_for_people_keeps_asterisks_and_links_from_the_root(folder: Path) -> None:
    starred = FILES["shop/cart.py"].replace("def same():", "def same(*names, **options):")
    program.write(folder, {**FILES, "shop/cart.py": starred, "pyproject.toml": ""})
    program.git(folder, "init", "-q")
    program.git(folder, "add", "-A")
    program.git(folder, "commit", "-qm", "first")
    books.write(folder, folder / ".concordance" / "book")
    (folder / "shop/cart.py").write_text(starred.replace("*names", "first, *names"))
    page = concord("diff", "--review", "--repo", folder).stdout
    assert r"def same(\*names, \*\*options)" in page
    assert "(tests/test_cart.py#L1)" in page
    assert "../" not in page
    assert "1 test may run what changed; no file says how it is run." in page


def test_a_test_that_names_what_is_gone_runs_first(folder: Path) -> None:
    test = "from shop import cart\n\n\ndef test_empty():\n    assert cart.empty_cart() == []\n"
    program.write(folder, FILES | {"tests/test_empty.py": test, "CHANGES.md": "Added `empty_cart`.\n"})
    program.git(folder, "init", "-q")
    program.git(folder, "add", "-A")
    program.git(folder, "commit", "-qm", "first")
    (folder / "shop/cart.py").write_text(FILES["shop/cart.py"].replace("def empty_cart", "def no_cart"))
    found = json.loads(concord("diff", "--review", "--json", "--repo", folder).stdout)
    commands = [row["qualified"] for row in found if row["kind"] == "command"]
    assert commands[0].startswith("pytest tests/test_empty.py::test_empty")
    assert "test_empty" in {row["qualified"] for row in found if row["kind"] == "caller"}
    assert "CHANGES.md" not in {row["path"] for row in found if row["kind"] == "document"}  # it tells of the past


TILL = "class Drawer:\n    def __init__(self, coins):\n        self.coins = coins\n\n    def open(self):\n        return self.coins\n"
USES = "from shop.till import Drawer\n\n" + "".join(f"\n\ndef test_{number}():\n    assert Drawer(1).open() == 1\n" for number in range(22))
NAMED = "from shop.till import Drawer\n\n\ndef test_opens_drawer():\n    assert Drawer(1).open() == 1\n"
TILL_FILES = {"shop/__init__.py": "", "shop/till.py": TILL, "tests/test_a.py": USES, "tests/test_z.py": NAMED, "README.md": "# Shop\n\nCall `Drawer(coins)`.\n",
              "pyproject.toml": "[tool.pytest.ini_options]\n"}


def _review_of_till(folder: Path, till: str) -> list[dict[str, Any]]:
    program.write(folder, TILL_FILES)
    program.git(folder, "init", "-q")
    program.git(folder, "add", "-A")
    program.git(folder, "commit", "-qm", "first")
    (folder / "shop/till.py").write_text(till)
    found: list[dict[str, Any]] = json.loads(concord("diff", "--review", "--json", "--repo", folder).stdout)
    return found


def test_the_tests_that_are_named_after_the_class_of_a_changed_method_run_first(folder: Path) -> None:
    found = _review_of_till(folder, TILL.replace("return self.coins", "return self.coins + 0"))
    may_run = [row["qualified"] for row in found if row["change"] == "may run"]
    assert (len(may_run), may_run[:2]) == (23, ["test_opens_drawer", "test_0"])
    commands = [row["qualified"] for row in found if row["kind"] == "command"]
    assert commands[0].startswith("pytest tests/test_z.py::test_opens_drawer tests/test_a.py::test_0 ")


def test_references_of_a_changed_constructor_name_the_class(folder: Path) -> None:
    found = _review_of_till(folder, TILL.replace("self.coins = coins", "self.coins = coins + 0"))
    why = "Drawer, whose constructor's body changed"
    of = {(row["path"], row["after"]["line"]): row["why"] for row in found if row["kind"] in ("caller", "document")}
    assert of["tests/test_z.py", 1] == f"import of {why}"
    assert of["tests/test_z.py", 5] == f"call of {why}"
    assert of["README.md", 3] == f"mentions {why}"


def test_a_line_with_the_new_name_of_what_was_renamed(folder: Path) -> None:
    program.write(folder, {"shop/till.py": TILL, "shop/desk.py": "from shop.till import Drawer, Till\n"})
    program.git(folder, "init", "-q")
    program.git(folder, "add", "-A")
    program.git(folder, "commit", "-qm", "first")
    (folder / "shop/till.py").write_text(TILL.replace("Drawer", "Till"))
    found = json.loads(concord("diff", "--review", "--json", "--repo", folder).stdout)
    whys = [row["why"] for row in found if row["kind"] == "caller"]
    assert whys == ["import of Till, which was renamed from Drawer", "mention of Drawer, which was renamed"]


def test_without_a_test_that_runs_the_change_those_of_the_same_name(folder: Path) -> None:
    test = "import shop.desk\n\n\ndef test_desk():\n    assert getattr(shop.desk, 'id' + 'le')() == 0\n"
    program.write(folder, FILES | {"tests/test_desk.py": test})
    program.git(folder, "init", "-q")
    program.git(folder, "add", "-A")
    program.git(folder, "commit", "-qm", "first")
    (folder / "shop/desk.py").write_text(FILES["shop/desk.py"].replace("return 0", "return 1 - 1"))
    text = concord("diff", "--review", "--repo", folder).stdout
    assert "pytest tests/test_desk.py\n" in text
    assert "No test found that may run what changed; these have the name of a changed file" in text


def test_statements_of_the_book_that_no_longer_hold(rows: list[dict[str, Any]]) -> None:
    said = {(row["path"], row["why"]) for row in rows if row["kind"] == "statement"}
    assert any(page == "shop/cart.py_docs.md" and "def total(prices, tax)" in text for page, text in said)
    assert any("empty_cart" in text for _, text in said)
    assert not any("def same" in text for _, text in said)  # it only moved


def test_the_page_and_a_repository_without_changes(folder: Path) -> None:
    program.write(folder, FILES)
    program.git(folder, "init", "-q")
    program.git(folder, "add", "-A")
    program.git(folder, "commit", "-qm", "first")
    assert json.loads(concord("diff", "--review", "--json", "--repo", folder).stdout) == []
    (folder / "shop/cart.py").write_text(CHANGED)
    text = concord("diff", "--review", "--repo", folder).stdout
    for title in ("Changed Definitions", "References from Outside", "Run First", "Documents That Mention It", "Owners"):
        assert f"## {title}\n" in text
    assert "There is no book in" in text
