"""Questions over a workspace: names that lead from one repository into another, and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from concordance.base.errors import UserError
from concordance.query.workspace.versions import satisfies
from tests.support.workspaces import REPOSITORIES, Opened, build, make_workspace


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    workspace = make_workspace(tmp_path_factory.mktemp("team"))
    assert not build(workspace).failed
    opened = Opened(workspace)
    yield opened
    opened.workspace.close()


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("shop:shop/till.py:2:20", "ledger src/ledger/books.py 1"),  # from ledger import Book
        ("shop:shop/till.py:7:12", "ledger src/ledger/books.py 1"),  # Book()
        ("shop:shop/till.py:9:19", "ledger src/ledger/books.py 6"),  # ledger.total
        ("shop:shop/till.py:1:8", "ledger src/ledger/__init__.py 1"),  # import ledger
        ("shop:shop/till.py:3:18", "ledger src/ledger/books.py 1"),  # passed on by mint under another name
        ("shop:shop/till.py:8:5", "mint mint/__init__.py 4"),
        ("shop:shop/fast.cpp:1:12", "scales include/scales/weigh.h 1"),
        ("page.js:index.js:1:9", "tags.js lib/tag.js 1"),
        ("page.js:index.js:4:10", "tags.js lib/tag.js 1"),
        ("ledger.Book", "ledger src/ledger/books.py 1"),
        ("tag", "tags.js lib/tag.js 1"),
        ("ledger:total", "ledger src/ledger/books.py 6"),
    ],
)
def test_define_leads_into_other_repositories(team: Opened, asked: str, expected: str) -> None:
    assert team.ask("define", asked)[:1] == [expected]


def test_trust_says_what_the_manifests_say(team: Opened) -> None:
    assert team.ask("define", "page.js:index.js:4:10", "trust", "by") == ["via_import package tags 1.2.0"]
    wrong = team.ask("define", "shop:shop/till.py:7:12", "trust", "by")
    assert wrong == ["via_import shop wants ledger >=3 (pyproject.toml:5), here is 2.1.0"]
    unasked = team.ask("define", "shop:shop/fast.cpp:1:12", "trust", "by")
    assert unasked == ["unique_name only repository with such a module; shop names no package of it"]


def test_refs_come_from_all_repositories(team: Opened) -> None:
    rows = team.ask("refs", "ledger.Book", "repository", "path", "line", "role")
    assert "ledger src/ledger/books.py 6 type" in rows
    assert [row for row in rows if row.startswith(("mint", "shop"))] == [
        "mint mint/__init__.py 1 import", "mint mint/__init__.py 1 import", "mint mint/__init__.py 4 type",
        "mint mint/__init__.py 5 call",
        "shop shop/till.py 2 import", "shop shop/till.py 7 call",
    ]  # fmt: skip
    assert team.ask("refs", "tags.js:tag")[-2:] == ["page.js index.js 1", "page.js index.js 4"]
    assert team.ask("refs", "scales:include/scales/weigh.h") == ["shop shop/fast.cpp 1"]
    assert team.ask("refs", "shop:shop/till.py:7:12") == team.ask("refs", "ledger.Book")


def test_callers_and_impact_cross_repositories(team: Opened) -> None:
    assert "shop shop.till.sell" in team.ask("callers", "ledger.total", "repository", "called")
    rows = team.ask("impact", "ledger.total", "repository", "called", "distance")
    assert "shop shop.till.sell 1" in rows
    assert "shop shop.till.close 2" in rows


def test_a_path_crosses_repositories(team: Opened) -> None:
    rows = team.ask("path", "shop.till.close ledger.total", "repository", "name", "how", "to_repository", "to")
    assert rows == ["shop shop.till.close calls shop shop.till.sell", "shop shop.till.sell calls ledger ledger.total"]
    assert team.ask("path", "ledger.total shop.till.close") == []


def test_search_finds_names_of_all_repositories(team: Opened) -> None:
    assert team.ask("search", "book", "repository", "called")[0] == "ledger ledger.Book"
    assert team.ask("search", "tag", "repository", "called")[0] == "tags.js tag"
    assert team.ask("search", "nothing-of-this") == []


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("shop/till.py:1:1", "may be in any repository"),
        ("nothing", "no repository of the workspace exports nothing"),
        ("shop:shop/nothing.py:1:1", "has no file"),
        ("  ", "needs an argument"),
    ],
)
def test_wrong_questions_are_told_what_to_do(team: Opened, asked: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        team.ask("define", asked)


def test_one_of_two_providers_is_a_guess(tmp_path: Path) -> None:
    twice = {
        "one": {"setup.cfg": "[metadata]\nname = one\n", "tool/__init__.py": "def run(): pass\n"},
        "two": {"setup.cfg": "[metadata]\nname = two\n", "tool/__init__.py": "def run(): pass\n"},
        "user": {"main.py": "from tool import run\nrun()\n"},
        "asker": {"setup.cfg": "[options]\ninstall_requires = two\n", "main.py": "from tool import run\nrun()\n"},
    }
    workspace = make_workspace(tmp_path, twice)
    build(workspace)
    opened = Opened(workspace)
    guess = "candidate one of 2 repositories with a module tool"
    assert opened.ask("define", "user:main.py:2:1", "repository", "trust", "by") == [f"one {guess}", f"two {guess}"]
    assert opened.ask("define", "asker:main.py:2:1", "repository", "trust") == ["two via_import"]
    opened.workspace.close()


def test_stores_are_opened_on_demand_and_few_stay_open(tmp_path: Path) -> None:
    many = {f"part{n}": {"setup.cfg": f"[metadata]\nname = part{n}\n", f"part{n}.py": f"def make{n}(): pass\n"} for n in range(6)}
    workspace = make_workspace(tmp_path, many)
    build(workspace)
    opened = Opened(workspace)
    opened.workspace.most_open = 2
    assert not opened.workspace._open
    for number in range(6):
        assert opened.ask("define", f"make{number}") == [f"part{number} part{number}.py 1"]
        assert len(opened.workspace._open) <= 2
    opened.workspace.close()


@pytest.mark.parametrize(
    ("ecosystem", "version", "wanted", "expected"),
    [
        ("pypi", "2.1.0", ">=2,<3", True), ("pypi", "2.1.0", "~=2.0", True), ("pypi", "2.1.0", "~=2.0.1", False),
        ("pypi", "2.1", "==2.1.*", True), ("pypi", "3.0", "!=3.0", False), ("pypi", "2.0rc1", ">=1", None),
        ("pypi", "1.0", "", True), ("npm", "1.2.3", "^1.0.0", True), ("npm", "2.0.0", "^1.0.0", False),
        ("npm", "0.3.0", "^0.2.3", False), ("npm", "1.2.9", "~1.2.3", True), ("npm", "1.3.0", "~1.2.3", False),
        ("npm", "1.4.0", "1.x || 2.x", True), ("npm", "3.0.0", "1.2 - 2.3", False), ("npm", "1.0.0", "workspace:*", None),
        ("npm", "2.1.0", "2", True), ("cargo", "1.4.2", "1.2", True), ("cargo", "0.5.0", "0.4", False),
        ("go", "v1.9.0", "v1.8.1", True), ("maven", "1.0", "[1,2)", None), ("cmake", "0.3", "0.4", False),
    ],
)  # fmt: skip
def test_versions(ecosystem: str, version: str, wanted: str, expected: bool | None) -> None:
    assert satisfies(ecosystem, version, wanted) is expected


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ["sum = sum", "left = right\nright = left", "sum = sum.sum", "sum = sum()"])
def test_a_name_bound_to_itself_comes_from_no_import(text: str, tmp_path: Path) -> None:
    page = f"from ledger import Book\n\n\nclass Page:\n    Book = Book\n\n\n{text}\nleft.add(1)\nsum.add(1)\n"
    workspace = make_workspace(tmp_path, {"ledger": REPOSITORIES["ledger"], "page": {"page.py": page}})
    build(workspace)
    opened = Opened(workspace)
    assert "page page.py 1" in opened.ask("refs", "ledger.Book")
    opened.workspace.close()
