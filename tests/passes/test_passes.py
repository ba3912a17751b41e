"""Analyses: which test reaches what, the impact of a change, clusters, and the rank of a file."""

from __future__ import annotations

import random
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

import concordance
from concordance.base.model import Category
from concordance.collect.line_diff import changed_lines
from concordance.extract.cfamily.test_conventions import cmake_commands, cmake_target
from concordance.extract.engine import extract
from concordance.extract.registry import language_of
from concordance.facts.links.graph import (
    RUNS,
    EdgeKind,
    LinkGraph,
    edge,
    join_graph,
    pack_edges,
    pack_pairs,
    unpack_pairs,
)
from concordance.facts.symbol_ids import IdOwners
from concordance.facts.updates.reads import ReadRecorder
from concordance.passes import test_reach
from concordance.passes.clusters import find_clusters
from concordance.passes.cycles import strongly_connected_components
from concordance.passes.layers import compute_layers
from concordance.passes.rank import compute_ranks
from concordance.query.index.graphs.file_graph import Band, Layer, cluster_centres, folder_edges
from concordance.query.index.graphs.reachability import find_reaching, functions_in
from concordance.query.index.test_commands import RunnerCommands, join_commands
from concordance.query.pages import file as file_pages
from tests.support import program

# --- what is a test


@pytest.mark.parametrize(
    ("language", "path", "text", "names"),
    [
        ("python", "tests/test_a.py", "def test_one(): pass\ndef helper(): pass\n", ["test_one"]),
        ("python", "tests/test_a.py", "class TestA:\n    def test_m(self): pass\n    def other(self): pass\n", ["TestA.test_m"]),
        ("python", "tests/test_a.py", "class A(TestCase):\n    def test_m(self): pass\n", ["A.test_m"]),
        ("python", "tests/test_a.py", "class A:\n    def test_m(self): pass\n", []),  # no runner collects it
        ("python", "tests/test_a.py", "import pytest\n@pytest.fixture\ndef test_client(): pass\n", []),
        ("python", "tests/test_a.py", "def test_a():\n    def test_inner(): pass\n", ["test_a"]),
        ("python", "src/pkg/tests.py", "def test_odd(value): return value % 2\n", []),  # what a package calls tests
        ("python", "app/tests.py", "import pytest\ndef test_odd(): pass\n", ["test_odd"]),
        ("cpp", "test/a.cpp", "TEST(Suite, Name) { run(); }\nTEST_F(Fix, Other) { }\nint helper() { return 1; }\nTEST(Suite, DISABLED_Old) { }\n",
         ["TEST(Suite, Name)", "TEST_F(Fix, Other)"]),
        ("cpp", "test/b.cpp", "TEST_SUBMODULE(ring, m) { run(); }\nTEST_P(Fix, Rings) { run(); }\n",
         ["TEST_P(Fix, Rings)"]),
        ("cpp", "test/c.cpp", "JSONTEST_FIXTURE_LOCAL(Fix, Rings) { run(); }\nLATER(Fix, Rings) { run(); }\n",
         ["JSONTEST_FIXTURE_LOCAL(Fix, Rings)"]),
        ("go", "a_test.go", "package a\nfunc TestAdd(t *testing.T) {}\nfunc Testify() {}\nfunc BenchmarkAdd() {}\n", ["TestAdd"]),
        ("rust", "src/a.rs", "fn add() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {}\n}\n", ["tests.works"]),
        ("java", "src/test/ATest.java", "class ATest {\n  @Test void adds() {}\n  void other() {}\n}\n", ["ATest.adds"]),
    ],
)  # fmt: skip
def test_what_is_a_test(language: str, path: str, text: str, names: list[str]) -> None:
    facts = extract(text, language)
    category = "source" if language == "rust" else "test"
    assert [facts.symbols[place].key for place in language_of(language).tests.tests_in(facts, category, path)] == names


# --- the graph


def test_the_graph_gives_users_and_walks_back() -> None:
    parts = [
        pack_edges([edge(5, 7, EdgeKind.CALLS), edge(7, 9, EdgeKind.READS), edge(5, 8, EdgeKind.TYPES)]),
        pack_edges([edge(9, 11, EdgeKind.ASKS), edge(5, 7, EdgeKind.CALLS)]),
    ]
    graph = LinkGraph(join_graph(parts, 12))
    assert len(graph) == 5
    assert sorted(set(graph.users(5))) == [(7, EdgeKind.CALLS), (8, EdgeKind.TYPES)]
    assert graph.users(99) == []
    walk = graph.back([5], RUNS, frozenset(), 10, 1000, int)
    assert walk.whole
    assert walk.steps == {5: (0, 0, 0), 7: (1, 5, EdgeKind.CALLS), 9: (2, 7, EdgeKind.READS), 11: (3, 9, EdgeKind.ASKS)}
    assert graph.back([5], RUNS, frozenset({int(EdgeKind.TYPES)}), 1, 1000, int).steps.keys() == {5, 7, 8}
    assert not graph.back([5], RUNS, frozenset(), 10, 1, int).whole
    twice = LinkGraph(
        join_graph(
            [pack_edges([edge(1, 3, EdgeKind.LOADS), edge(2, 3, EdgeKind.MAKES), edge(3, 4, EdgeKind.CALLS)])], 9
        )
    )
    assert (
        4 in twice.back([1, 2], RUNS, frozenset({int(EdgeKind.LOADS)}), 10, 1000, int).steps
    )  # it is gone on from by MAKES
    assert LinkGraph(b"").users(1) == []


def test_the_graph_between_files() -> None:
    edges = [
        edge(11, 2, EdgeKind.CALLS),
        edge(12, 2, EdgeKind.CALLS),
        edge(12, 3, EdgeKind.READS),
        edge(13, 12, EdgeKind.CALLS),
        edge(3, 2, EdgeKind.CALLS),
    ]
    graph = LinkGraph(join_graph([pack_edges(edges)], 20))
    pairs = graph.files(IdOwners([(1, 1), (10, 10)]))
    assert pairs == [(1, 10, 3)]
    assert unpack_pairs(pack_pairs(pairs)) == pairs


def test_the_rank_is_high_where_much_leads_and_source_counts_more() -> None:
    files = ["source", "source", "source", "test", "test"]
    found = compute_ranks(files, [(0, 1, 4), (2, 1, 1), (0, 2, 1), (3, 4, 9)])
    assert found[1] == 1.0
    assert min(found) == 0.0
    assert found[2] > found[0] > found[4]
    assert compute_ranks([], []) == []
    assert compute_ranks(["source"], []) == [1.0]


def test_the_rank_of_many_files_takes_less_than_a_second() -> None:
    random.seed(1)
    files = ["source"] * 20_000
    pairs = list({(random.randrange(20_000), int(random.paretovariate(1)) % 20_000, 3) for _ in range(150_000)})
    began = time.process_time()
    compute_ranks(files, pairs)
    assert time.process_time() - began < 2.0  # of which half a second on a quiet machine


# --- which test reaches what

LIBRARY: dict[str, str] = {
    "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n",
    "src/lib/__init__.py": "from lib.core import Engine\nfrom lib.tools import polish as shine\n",
    "src/lib/core.py": (
        "from lib import parts\n\n\nclass Base:\n    def __init__(self):\n        parts.weigh(self)\n\n    def turn(self):\n"
        "        return 0\n\n\nclass Engine(Base):\n    def start(self):\n        return self.spin()\n\n    def spin(self):\n"
        "        return parts.oil(self)\n\n    def turn(self):\n        return 1\n\n\ndef drive(base: Base):\n    return base.turn()\n"
    ),
    "src/lib/parts.py": "def weigh(x):\n    return x\n\n\ndef oil(x):\n    return x\n\n\ndef unused():\n    return 1\n",
    "src/lib/tools.py": "import functools\n\n\ndef timed(f):\n    @functools.wraps(f)\n    def around(*a):\n        return f(*a)\n    return around\n\n\ndef polish(x):\n    return x\n",
    "src/lib/only.py": "LIMIT = 3\n",
    "tests/conftest.py": "import pytest\nfrom lib import Engine\n\n\n@pytest.fixture\ndef engine():\n    yield Engine()\n",
    "tests/test_core.py": (
        "import pytest\nfrom lib import Engine, shine\nfrom lib.core import drive\nfrom lib.parts import oil\nfrom lib.only import LIMIT\n\n\n"
        "def test_fixture(engine):\n    assert engine.start()\n\n\ndef test_direct():\n    assert oil(1)\n\n\n"
        "class TestEngine:\n    def setup_method(self):\n        self.engine = Engine()\n\n    def test_nothing(self):\n        pass\n\n\n"
        "def test_dispatch():\n    drive(Engine())\n\n\n@pytest.mark.parametrize('f', [shine])\ndef test_handed(f):\n    f(1)\n"
    ),
    "examples/run.py": "from lib.parts import oil\n\noil(2)\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> concordance.Repository:
    folder = tmp_path_factory.mktemp("library")
    program.write(folder, LIBRARY)
    return concordance.open(folder)


def _names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["name"] for row in rows]


def test_a_test_reaches_by_call_fixture_setup_and_parameter(library: Any) -> None:
    rows = {row["name"]: row for row in library.tests("oil")}
    assert rows.keys() == {"test_direct", "test_fixture"}
    assert rows["test_direct"]["why"] == "calls oil"
    assert rows["test_fixture"]["why"] == "calls Engine.start → Engine.spin → oil"
    assert rows["test_direct"]["run"] == "pytest tests/test_core.py::test_direct"
    assert (rows["test_direct"]["path"], rows["test_direct"]["line"]) == ("tests/test_core.py", 12)
    whys = {row["name"]: row["why"] for row in library.tests("weigh")}
    assert whys.keys() == {"TestEngine.test_nothing", "test_dispatch", "test_fixture"}
    assert whys["TestEngine.test_nothing"].startswith("is set up by TestEngine.setup_method → Engine")
    assert whys["test_fixture"].startswith("requests the fixture engine → Engine")
    assert _names(library.tests("polish")) == ["test_handed"]


def test_the_nearest_come_first(library: Any) -> None:
    assert _names(library.tests("src/lib/parts.py"))[0] == "test_direct"


def test_a_method_that_overrides_is_reached_through_what_it_overrides(library: Any) -> None:
    (row,) = library.tests("Engine.turn")
    assert (row["name"], row["why"]) == ("test_dispatch", "calls drive → Base.turn, overridden by Engine.turn")


def test_the_most_direct_come_first(folder: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\n",
        "src/cart.py": "def add_item(x):\n    return x\n\n\ndef total(x):\n    return add_item(x)\n",
        "src/shop.py": "import cart\n\n\ndef sell(x):\n    return cart.total(x)\n",
        "src/hidden.py": "TABLE = {}\n\n\ndef unseen():\n    return TABLE\n",
        "src/lonely.py": "def unseen():\n    return 1\n",
        "tests/test_all.py": "import cart, shop, hidden\n\n\ndef test_sale():\n    shop.sell(1)\n\n\ndef test_two():\n    def inner():\n        cart.total(1)\n    inner()\n\n\n"
        "def test_add_item_later():\n    shop.sell(1)\n\n\ndef test_table():\n    assert hidden.TABLE\n",
        "tests/test_cart.py": "import shop\n\n\ndef test_sell():\n    shop.sell(2)\n",
        "tests/test_lonely.py": "def test_nothing():\n    pass\n",
    }
    program.write(folder, files)
    with concordance.open(folder) as repository:
        rows = [(row["name"], row["how"], row["distance"]) for row in repository.tests("src/cart.py")]
        assert rows == [
            ("test_sell", "same_name", 2), ("test_add_item_later", "names", 2), ("test_two", "calls", 2), ("test_sale", "reaches", 2),
        ]  # fmt: skip
        rows = [(row["name"], row["how"], row["distance"]) for row in repository.tests("total")]
        assert rows == [
            ("test_sell", "same_name", 2),
            ("test_two", "calls", 2),
            ("test_sale", "reaches", 2),
            ("test_add_item_later", "reaches", 2),
        ]
        # What no test was found to run, but names, imports, or has the name of.
        rows = [(row["path"], row["name"], row["how"], row["distance"]) for row in repository.tests("src/hidden.py")]
        assert rows == [("tests/test_all.py", "", "names", None), ("tests/test_all.py", "test_table", "names", None)]
        (row,) = repository.tests("src/lonely.py")
        assert (row["path"], row["how"], row["distance"], row["run"]) == (
            "tests/test_lonely.py",
            "same_name",
            None,
            "pytest tests/test_lonely.py",
        )
        assert "computed names" in repository.ask("tests", "src/lonely.py").note


def test_more_test_files_than_fit_are_on_a_page_of_their_own(folder: Path) -> None:
    files = {f"tests/test_{n:02}.py": "import tool\n\n\ndef test_it():\n    tool.use()\n" for n in range(20)}
    program.write(folder, {"tool.py": "def use():\n    return 1\n", "pytest.ini": "[pytest]\n", **files})
    with concordance.open(folder) as repository:
        first, second = file_pages.pages(repository._index, "tool.py")
        assert (first.ref.part, second.ref.part) == (1, 2)
        linked = [{path for path in files if f"'{path}'" in repr(page.blocks)} for page in (first, second)]
        assert [len(paths) for paths in linked] == [15, 20]
        assert "All 20 test files" in repr(first.blocks)


def test_methods_run_without_being_named(folder: Path) -> None:
    """A method that overrides another, a special method, and one that a base calls by a computed name."""
    files = {
        "src/base.py": "class Base:\n    def run(self):\n        return self.step()\n\n    def step(self):\n        return 0\n",
        "src/own.py": "from base import Base\nimport far\n\n\nclass Own(Base):\n    def step(self):\n        return far.help_step()\n\n"
        "    def __len__(self):\n        return far.help_len()\n\n    def visit_name(self):\n        return far.help_visit()\n\n"
        "    def other(self):\n        return far.help_other()\n",
        "src/far.py": "def help_step(): ...\ndef help_len(): ...\ndef help_visit(): ...\ndef help_other(): ...\n",
        "tests/test_own.py": "from own import Own\n\n\ndef test_run():\n    Own().run()\n\n\ndef test_nothing():\n    Own()\n",
        "pytest.ini": "[pytest]\n",
    }
    program.write(folder, files)
    with concordance.open(folder) as repository:
        for name in ("help_step", "help_len", "help_visit"):
            assert _names(repository.tests(name)) == ["test_run", "test_nothing"], name
        assert repository.tests("help_other") == []
        assert _names(repository.tests("Own.step")) == ["test_run"]  # it must also call what is overridden


def test_an_inherited_test_is_run_in_a_class_that_the_runner_collects(folder: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\n",
        "tool.py": "def use():\n    return 1\n",
        "tests/shared.py": "import tool\n\n\nclass Shared(object):\n    def test_use(self):\n        tool.use()\n\n\nclass Orphan(object):\n    def test_use(self):\n        tool.use()\n",
        "tests/test_tool.py": "import unittest\nfrom shared import Shared\n\n\nclass More(Shared): pass\n\n\nclass Case(unittest.TestCase, More): pass\n",
    }
    program.write(folder, files)
    with concordance.open(folder) as repository:
        rows = {row["name"]: row["run"] for row in repository.tests("use")}
        assert rows == {"Shared.test_use": "pytest tests/test_tool.py::Case::test_use", "Orphan.test_use": ""}


INHERITED: dict[str, str] = {
    "lib.py": "def plain(): ...\ndef fancy(): ...\n",
    "test_base.py": "import pytest\nimport lib\n\n\nclass TestBase:\n    @pytest.fixture\n    def maker(self):\n        return lib.plain()\n\n"
    "    @pytest.fixture\n    def thing(self, maker):\n        return maker\n\n    def test_thing(self, thing):\n        assert thing\n",
    "test_fancy.py": "import pytest\nimport lib\nfrom test_base import TestBase\n\n\nclass TestFancy(TestBase):\n    @pytest.fixture\n"
    "    def maker(self):\n        return lib.fancy()\n",
}


def test_a_class_requests_fixtures_for_its_tests(folder: Path) -> None:
    program.write(folder, {
        "lib.py": "def plain(): ...\n",
        "conftest.py": "import lib\nimport pytest\n\n\n@pytest.fixture\ndef maker(request):\n    request.cls.made = lib.plain()\n",
        "test_lib.py": "import pytest\n\n\n@pytest.mark.usefixtures('maker')\nclass TestLib:\n    def test_made(self):\n        assert self.made\n",
    })  # fmt: skip
    with concordance.open(folder) as repository:
        assert _names(repository.tests("plain")) == ["TestLib.test_made"]


def test_a_subclass_replaces_what_a_fixture_of_its_base_requests(folder: Path) -> None:
    program.write(folder, INHERITED)
    with concordance.open(folder) as repository:
        assert _names(repository.tests("plain")) == _names(repository.tests("fancy")) == ["TestBase.test_thing"]


def test_a_test_file_may_have_the_name_of_folder_and_file(folder: Path) -> None:
    test = "from shop.cart.writer import write\n\n\ndef test_{0}():\n    assert write()\n"
    program.write(folder, {
        "shop/__init__.py": "", "shop/cart/__init__.py": "", "shop/cart/writer.py": "def write():\n    return 1\n",
        "tests/test_a.py": test.format("writer_limit"), "tests/test_cart_writer.py": test.format("one"),
    })  # fmt: skip
    with concordance.open(folder) as repository:
        assert _names(repository.tests("shop/cart/writer.py")) == ["test_one", "test_writer_limit"]


DEFAULTS: dict[str, str] = {
    "pytest.ini": "[pytest]\n",
    "nap.py": "def rest(seconds):\n    return seconds\n",
    "stop.py": "class Stop:\n    def __call__(self):\n        return True\n\n\nnever = Stop()\n",
    "tries.py": "from nap import rest\nfrom stop import never\n\n\nclass Tries:\n    def __init__(self, sleep: object = rest, stop: object = never):\n"
    "        self.sleep = sleep\n        self.stop = stop\n",
    "test_tries.py": "from tries import Tries\n\n\nclass Shared:\n    def test_shared(self):\n        assert self.tries()\n\n\n"
    "class TestTries(Shared):\n    def setup_method(self):\n        self.tries = Tries()\n",
}


def test_a_function_runs_the_defaults_of_its_parameters(folder: Path) -> None:
    program.write(folder, DEFAULTS)
    with concordance.open(folder) as repository:
        (row,) = repository.tests("nap.rest")
        assert _names(repository.tests("Stop.__call__")) == [row["name"]] == ["Shared.test_shared"]
        assert row["run"] == "pytest test_tries.py::TestTries::test_shared"


def test_what_no_test_reaches_says_what_was_searched(library: Any) -> None:
    assert library.ask("tests", "unused").rows == []
    assert "5 tests" in library.ask("tests", "unused").note
    (row,) = library.tests("src/lib/only.py")
    assert (row["path"], row["why"]) == ("tests/test_core.py", "imports src/lib/only.py")


def test_examples(library: Any) -> None:
    (row,) = library.tests("oil", examples=True)
    assert (row["path"], row["why"], row["name"]) == ("examples/run.py", "at load time uses oil", "")


def test_answers_come_in_pages(library: Any) -> None:
    first = library.ask("tests", "src/lib/core.py", limit=1)
    assert len(first.rows) == 1 < first.total
    second = library.ask("tests", "src/lib/core.py", limit=1, cursor=first.cursor)
    assert second.rows[0] != first.rows[0]


# --- cycles, layers, groups


def test_components_come_after_what_they_need() -> None:
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (4, 0), (5, 5)]
    found = strongly_connected_components(7, edges)
    assert sorted(found) == [[0, 1, 2], [3], [4], [5], [6]]
    assert found.index([3]) < found.index([0, 1, 2]) < found.index([4])
    chain = strongly_connected_components(50_000, [(number, number + 1) for number in range(49_999)])
    assert chain[0] == [49_999]  # longer than Python's stack


def test_components_agree_with_who_reaches_whom() -> None:
    random.seed(3)
    for _ in range(30):
        edges = [(random.randrange(12), random.randrange(12)) for _ in range(18)]
        reach = [{one} for one in range(12)]
        for _ in range(12):
            for user, target in edges:
                reach[user] |= reach[target]
        wanted = {tuple(b for b in range(12) if b in reach[a] and a in reach[b]) for a in range(12)}
        assert {tuple(one) for one in strongly_connected_components(12, edges)} == wanted


def test_a_file_stands_over_what_it_needs() -> None:
    edges = [(0, 1), (1, 2), (2, 1), (2, 3), (4, 0)]
    found = compute_layers(strongly_connected_components(6, edges), edges, [True, True, True, True, False, True])
    assert found == [(2, 0), (1, 1), (1, 1), (0, 2), (3, 0), (0, 0)]  # 4 is a test: it makes nothing deep
    bands = [Layer(*one).band for one in found]
    assert bands == [Band.TOP, Band.MIDDLE, Band.MIDDLE, Band.BASE, Band.TOP, Band.ALONE]


def test_the_longest_chain_decides() -> None:
    edges = [(0, 1), (1, 2), (0, 3), (4, 2)]
    found = compute_layers(strongly_connected_components(5, edges), edges, [True] * 5)
    assert found == [(2, 0), (1, 1), (0, 2), (0, 1), (1, 0)]


def test_files_that_use_one_another_are_a_group_with_its_key() -> None:
    inner = [(a, b, 4) for group in (range(5), range(5, 10)) for a in group for b in group if a != b and b == group[0]]
    ring = [(a, a + 1, 2) for a in (*range(4), *range(5, 9))]
    pairs = [*inner, *ring, (0, 9, 1)]
    found = find_clusters(12, pairs)
    assert found == find_clusters(12, pairs)
    assert [one.members for one in found] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert [one.key for one in found] == [0, 5]
    assert find_clusters(0, []) == []
    assert find_clusters(3, []) == []


def test_groups_of_many_files_take_about_a_second() -> None:
    random.seed(1)
    pairs = list({(random.randrange(20_000), int(random.paretovariate(1)) % 20_000, 3) for _ in range(150_000)})
    began = time.process_time()
    find_clusters(20_000, pairs)
    assert time.process_time() - began < 5.0  # of which one on a quiet machine


def test_the_centre_of_a_cluster_is_shown_for_files_of_other_folders() -> None:
    paths = {1: "a/x/1.py", 2: "a/x/2.py", 3: "a/y/3.py", 4: "b/1.py", 5: "b/2.py", 6: "b/3.py", 7: "b/4.py"}
    paths |= dict(zip(range(10, 60), (f"c/{number}.py" for number in range(50)), strict=True))
    assert cluster_centres([(2, [1, 2, 3]), (4, [4, 5]), (7, [6, 7]), (10, range(10, 60))], paths) == {
        "a/y/3.py": "a/x/2.py"
    }


def test_which_parts_of_a_folder_use_which() -> None:
    paths = {1: "a/x/1.py", 2: "a/x/d/2.py", 3: "a/y/3.py", 4: "main.py"}
    found = folder_edges([(1, 3, 5), (2, 3, 1), (1, 2, 1), (4, 1, 1), (3, 4, 1)], paths)
    assert found == {
        "a": {("x/", "y/"): 2}, "a/x": {("1.py", "d/"): 1}, "": {("main.py", "a/"): 1, ("a/", "main.py"): 1},
    }  # fmt: skip


RING: dict[str, str] = {
    "pkg/__init__.py": "",
    "pkg/a.py": "from pkg import b\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pkg import top\n",
    "pkg/b.py": "from pkg.c import f\n",
    "pkg/c.py": "import pkg.a\n\n\ndef f():\n    from pkg import top\n    return top\n",
    "pkg/top.py": "from . import a\n",
    "pkg/stub.pyi": "from pkg import stub2\n",
    "pkg/stub2.pyi": "from pkg import stub\n",
    "src/a.h": '#include "b.h"\n',
    "src/b.h": '#include "a.h"\n',
    "src/c.cc": '#include "a.h"\n',
}


def test_cycles_and_layers_of_a_repository(folder: Path) -> None:
    program.write(folder, RING)
    with concordance.open(folder) as repository:
        index = repository._index
        python = ("pkg/a.py", "pkg/b.py", "pkg/c.py")
        assert index.cycles == {
            **dict.fromkeys(python, python),
            **dict.fromkeys(("src/a.h", "src/b.h"), ("src/a.h", "src/b.h")),
        }
        assert index.loads.needs["src/c.cc"] == ["src/a.h"]
        assert {path: index.layers[path] for path in ("pkg/a.py", "pkg/top.py", "src/c.cc", "pkg/__init__.py")} == {
            "pkg/a.py": Band.BASE, "pkg/top.py": Band.TOP, "src/c.cc": Band.TOP, "pkg/__init__.py": Band.ALONE,
        }  # fmt: skip
        assert {("a.h", "b.h"), ("c.cc", "a.h")} <= index.folder_edges("src").keys()


def test_the_tests_of_all_files_are_those_of_each(library: Any) -> None:
    index = library._index
    for path in LIBRARY:
        if not path.endswith(".py"):
            continue
        found = find_reaching(index, functions_in(index, index.file(path)), Category.TEST)
        wanted = [(row.id, row.steps) for row in found.rows]
        had = index.tests_of(path)
        assert had.near == wanted[: len(had.near)], path
        assert had.farther == len(wanted) - len(had.near)
    names = [index.facts.place(one).name for one, steps in index.tests_of("src/lib/parts.py").near if steps == 1]
    assert names == ["test_direct"]


def test_tests_in_several_batches() -> None:
    tests = list(range(10_000, 30_000))  # more than a batch
    leads = {**{test: [1] for test in tests}, 1: [2], 2: [3], 3: [4]}
    owner = [0, 1, 0, 2, 3, *([0] * 30_000)]
    found = test_reach.find_reaching_tests(tests, leads, owner, 10)
    assert found.keys() == {0, 1, 2}
    assert (found[0].near, found[0].farther) == ([(1, tests)], 0)
    assert (found[1].near, found[1].farther) == ([(3, tests)], 0)  # without any nearer, the nearest are named
    near = test_reach.find_reaching_tests([7, 8], {7: [1], 8: [2], 2: [3], 3: [1]}, [0, 1, 0, 0, 0, 0, 0, 0, 0], 10)
    assert (near[0].near, near[0].farther) == ([(1, [7])], 1)


@pytest.mark.parametrize("seed", range(40))
def test_the_tests_of_some_files_are_those_found_from_all_tests(seed: int) -> None:
    chance = random.Random(seed)
    count, files = chance.randrange(2, 40), chance.randrange(1, 8)
    owner = [0, *(chance.randrange(files + 1) for _ in range(count))]
    leads: dict[int, list[int]] = {}
    callers: dict[int, list[int]] = {}
    for _ in range(chance.randrange(3 * count)):
        user, target = chance.randrange(1, count + 1), chance.randrange(1, count + 1)
        leads.setdefault(user, []).append(target)
        callers.setdefault(target, []).append(user)
    tests, steps = chance.sample(range(1, count + 1), chance.randrange(1, count)), chance.randrange(6)
    every = test_reach.find_reaching_tests(tests, leads, owner, steps)
    some = chance.sample(range(files), chance.randrange(files + 1))
    code = {file: [symbol for symbol, number in enumerate(owner) if number == file + 1] for file in some}
    found = test_reach.find_tests_of_files(tests, lambda one: callers.get(one, ()), code, steps)
    assert found == {file: every[file] for file in some if file in every}


_CALLED = {
    "lib.py": "def far():\n    return 1\n\ndef near():\n    return far()\n",
    "other.py": "def alone():\n    return 2\n",
    "test_lib.py": "from lib import near\nfrom other import alone\n\ndef test_near():\n    assert near()\n\n"
    "def test_alone():\n    assert alone()\n",
}
_CALLED_EDITS = {
    "renamed with its uses": {path: re.sub(r"\bnear\b", "close", text) for path, text in _CALLED.items()},
    "renamed alone": {"lib.py": _CALLED["lib.py"].replace("near", "close")},
    "a call less": {"lib.py": _CALLED["lib.py"].replace("return far()", "return 3")},
    "a call more": {"other.py": "from lib import far\n\ndef alone():\n    return far()\n"},
    "a test more": {"test_lib.py": f"{_CALLED['test_lib.py']}\ndef test_both():\n    assert near() + alone()\n"},
    "a test less": {"test_lib.py": _CALLED["test_lib.py"].replace("def test_alone", "def help_alone")},
}  # fmt: skip


@pytest.mark.parametrize("edit", _CALLED_EDITS)
def test_tests_are_found_again_only_where_they_may_differ(
    folder: Path, edit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tests_of_all() -> dict[str, list[tuple[str, int]]]:
        with concordance.open(folder) as repository:
            index = repository._index
            return {path: [(index.keys[one], steps) for one, steps in index.tests_of(path).near] for path in _CALLED}

    program.write(folder, _CALLED)
    before = tests_of_all()
    assert before["lib.py"] == [("test_near", 1)]
    program.write(folder, _CALLED_EDITS[edit])
    sought: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(test_reach, "find_reaching_tests", lambda *_: pytest.fail("the tests of all files were found"))
        some = test_reach.find_tests_of_files

        def counted(tests: Any, callers: Any, code: Any, steps: int) -> Any:
            sought.extend(code)
            return some(tests, callers, code, steps)

        patch.setattr(test_reach, "find_tests_of_files", counted)
        after = tests_of_all()
    assert bool(sought) == (edit != "renamed with its uses")
    assert sought or before == after
    shutil.rmtree(folder / ".concordance")
    assert after == tests_of_all()


def test_a_whole_file_is_a_test_in_javascript(folder: Path) -> None:
    program.write(
        folder, {"a.js": "export function f() { return 1 }\n", "a.test.js": "import { f } from './a.js'\nf()\n"}
    )
    with concordance.open(folder) as repository:
        index = repository._index
        assert index.tests_of("a.js").near == [(index.file_id("a.test.js"), 1)]


# --- what a change may break


def test_the_impact_of_a_symbol_and_of_a_file(library: Any) -> None:
    rows = library.impact("oil")
    assert [(row["qualified"], row["distance"]) for row in rows[:2]] == [
        ("test_direct", 1),
        ("test_fixture", 3),
    ]  # tests first
    assert ("Engine.spin", 1, "calls oil") in [(row["qualified"], row["distance"], row["why"]) for row in rows]
    distances = [row["distance"] for row in rows[2:]]
    assert distances == sorted(distances)
    assert {"src/lib/core.py", "tests/test_core.py", "examples/run.py"} <= {
        row["path"] for row in library.impact("src/lib/parts.py")
    }
    assert "no uses of unused found" in library.ask("impact", "unused").note


def test_the_impact_of_what_is_changed_in_the_work_tree(folder: Path) -> None:
    program.write(folder, LIBRARY)
    program.git(folder, "init", "-q")
    program.git(folder, "add", "-A")
    program.git(folder, "commit", "-q", "-m", "first")
    with concordance.open(folder) as repository:
        answer = repository.ask("impact")
        assert (answer.rows, answer.note) == ([], "nothing changed since the last commit")
    program.write(
        folder,
        {
            "src/lib/parts.py": LIBRARY["src/lib/parts.py"].replace(
                "def oil(x):\n    return x", "def oil(x):\n    return x + 1"
            )
        },
    )
    with concordance.open(folder) as repository:
        answer = repository.ask("impact")
    assert answer.note == "changed since the last commit: lib.parts.oil"
    assert [row["qualified"] for row in answer.rows[:2]] == ["test_direct", "test_fixture"]


def test_a_folder_without_a_commit_has_no_changes(folder: Path) -> None:
    program.write(folder, {"a.py": "x = 1\n"})
    done = program.concord("impact", "--repo", folder, "--yes", code=2)
    assert "no commit to compare with" in done.stderr


def test_changed_lines(folder: Path) -> None:
    program.git(folder, "init", "-q")
    program.write(folder, {"a.py": "1\n2\n3\n4\n", "b c.py": "1\n", "gone.py": "1\n", "ä.py": "1\n"})
    program.git(folder, "add", "-A")
    program.git(folder, "commit", "-q", "-m", "first")
    program.write(folder, {"a.py": "1\n++ b/x.py\n3\n", "b c.py": "1\n2", "new.py": "1\n", "ä.py": "2\n"})
    (folder / "gone.py").unlink()
    found = changed_lines(str(folder))
    assert found == {"a.py": [(2, 2), (3, 3)], "b c.py": [(2, 2)], "new.py": [(1, 1 << 30)], "ä.py": [(1, 1)]}


# --- which files belong together


def test_related_files(library: Any) -> None:
    rows = {row["path"]: row for row in library.related("src/lib/core.py")}
    assert rows["src/lib/parts.py"]["reasons"][0].startswith("core.py uses it, ")
    assert "test of the same name" in rows["tests/test_core.py"]["reasons"]
    scores = [row["score"] for row in library.related("src/lib/core.py")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_files_that_changed_together_are_related(folder: Path) -> None:
    program.git(folder, "init", "-q")
    for turn in range(3):
        program.write(folder, {"a.py": f"x = {turn}\n", "far/b.txt": f"{turn}\n"})
        program.git(folder, "add", "-A")
        program.git(folder, "commit", "-q", "-m", f"{turn}")
    with concordance.open(folder) as repository:
        (row,) = repository.related("a.py")
    assert (row["path"], row["reasons"]) == ("far/b.txt", ["changed together 3 times"])


# --- the commands that run tests


def _command(folder: Path, files: dict[str, str], path: str, language: str, name: str) -> str:
    program.write(folder, files)
    paths = [str(found.relative_to(folder)) for found in folder.rglob("*") if found.is_file()]
    return RunnerCommands(str(folder), paths, ReadRecorder()).command(path, language, name)


MAIN = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_b(self): pass\n\n\nif __name__ == '__main__':\n    {}\n"


@pytest.mark.parametrize(
    ("files", "path", "language", "name", "command"),
    [
        ({"pytest.ini": "[pytest]\n"}, "t/test_a.py", "python", "TestA.test_b", "pytest t/test_a.py::TestA::test_b"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "t/test_a.py", "python", "test_b", "pytest t/test_a.py::test_b"),
        ({"tox.ini": "[pytest]\n"}, "t/test_a.py", "python", "test_b", "pytest t/test_a.py::test_b"),
        ({"setup.cfg": "[tool:pytest]\n"}, "t/test_a.py", "python", "test_b", "pytest t/test_a.py::test_b"),
        ({"t/conftest.py": ""}, "t/test_a.py", "python", "test_b", "pytest t/test_a.py::test_b"),
        ({"t/conftest.py": ""}, "t/test_a.py", "python", "", "pytest t/test_a.py"),
        ({"t/test_a.py": "import unittest\n"}, "t/test_a.py", "python", "A.test_b", "python -m unittest t.test_a.A.test_b"),
        ({"t/test_a.py": MAIN.format("unittest.main()"), "pytest.ini": "[pytest]"}, "t/test_a.py", "python", "A.test_b",
         "pytest t/test_a.py::A::test_b"),
        ({"t/test_a.py": MAIN.format("run_tests()")}, "t/test_a.py", "python", "", "python t/test_a.py"),
        ({"t/test_a.py": MAIN.format("run_tests()")}, "t/test_a.py", "python", "test_b", "pytest t/test_a.py::test_b"),
        ({"t/test_a.py": "instantiate_device_type_tests(TestA, globals())\n" + MAIN.format("run_tests()")}, "t/test_a.py", "python",
         "TestA.test_b", "python t/test_a.py -k '*.TestACPU.test_b_cpu*'"),
        ({"t/test_a.py": "class A(B):\n    @parametrize('x', [\n        1])\n    @other\n    def test_b(self, x): pass\n\n    def test_c(self): pass\n\n"
          "instantiate_parametrized_tests(A)\n" + MAIN.format("run_tests()")}, "t/test_a.py", "python", "A.test_b",
         "python t/test_a.py -k '*.A.test_b_*'"),
        ({"t/d/test_a.py": MAIN.format("raise_on_run_directly('t/all.py')"), "t/all.py": "x"}, "t/d/test_a.py", "python", "A.test_b",
         "python t/all.py A.test_b"),
        ({"manage.py": "", "app/tests.py": ""}, "app/tests.py", "python", "A.test_b", "python manage.py test app.tests.A.test_b"),
        ({"tests/runtests.py": ""}, "tests/app/tests.py", "python", "A.test_b", "python tests/runtests.py app.tests.A.test_b"),
        ({"t/test_a.py": "x = 1\n"}, "t/test_a.py", "python", "test_b", ""),
        ({"CMakeLists.txt": "add_executable(check a.cpp\n  t/b.cpp)\n"}, "t/b.cpp", "cpp", "TEST(S, N)", "check --gtest_filter=S.N"),
        ({"t/CMakeLists.txt": "set(SRCS ${D}/b.cpp)\nadd_executable(check ${SRCS})\n"}, "t/b.cpp", "cpp", "TEST_F(S, N)",
         "check --gtest_filter=S.N"),
        ({"t/CMakeLists.txt": "add_executable(check b.cpp)\n"}, "t/b.cpp", "cpp", "a.b.TEST(S, N)", "check --gtest_filter=S.N"),
        ({"t/CMakeLists.txt": "add_executable(check b.cpp)\n"}, "t/b.cpp", "cpp", "TEST_P(S, N)", "check --gtest_filter='*/S.N/*'"),
        ({"CMakeLists.txt": "add_executable(check \"\")\ntarget_sources(check PRIVATE t/b.cpp)\n"}, "t/b.cpp", "cpp", "TEST(S, N)",
         "check --gtest_filter=S.N"),
        ({"CMakeLists.txt": "add_library(lib a.cpp)\ntarget_sources(lib PRIVATE t/b.cpp)\n"}, "t/b.cpp", "cpp", "TEST(S, N)", ""),
        ({"CMakeLists.txt": "add_executable(check t/b.cpp)\nadd_test(NAME all COMMAND check)\n"}, "t/b.cpp", "cpp", "TEST(S, N)",
         "check --gtest_filter=S.N"),
        ({"CMakeLists.txt": "add_executable(check t/b.cpp)\nadd_test(NAME all COMMAND check)\n"}, "t/b.cpp", "cpp", "TEST_CASE(n)",
         "ctest -R '^all$'"),
        ({"CMakeLists.txt": "add_executable(check t/b.cpp)\n"}, "t/b.cpp", "cpp", 'TEST_CASE("a title", "[tag]")', "check 'a title'"),
        ({"CMakeLists.txt": "add_executable(check t/b.cpp)\n", "t/b.cpp": '#include "doctest.h"\n'}, "t/b.cpp", "cpp",
         'TEST_CASE_FIXTURE(F, "title")', "check --test-case=title"),
        ({"CMakeLists.txt": "add_executable(check t/b.cpp)\ngtest_discover_tests(check)\n"}, "t/b.cpp", "cpp", "TEST(S, N)",
         "ctest -R '^S\\.N$'"),
        ({"CMakeLists.txt": "add_executable(check t/b.cpp)\ngtest_discover_tests(check)\n"}, "t/b.cpp", "cpp", "TEST_P(S, N)",
         "check --gtest_filter='*/S.N/*'"),
        ({"BUILD": 'cc_test(\n    name = "check",\n    srcs = ["t/b.cpp"],\n)\n'}, "t/b.cpp", "cpp", "TEST(S, N)",
         "bazel test //:check --test_filter=S.N"),
        ({"CMakeLists.txt": "add_library(x y.cpp)\n"}, "t/b.cpp", "cpp", "TEST(S, N)", ""),
        ({"go.mod": "module m\n"}, "pkg/a_test.go", "go", "TestA", "go test ./pkg -run '^TestA$'"),
        ({"sub/go.mod": "module m\n"}, "sub/a_test.go", "go", "TestA", "go -C sub test . -run '^TestA$'"),
        ({"Cargo.toml": '[package]\nname = "p"\n'}, "src/a.rs", "rust", "tests.works", "cargo test a::tests::works -- --exact"),
        ({"Cargo.toml": '[package]\nname = "p"\n', "src/lib.rs": "#[rstest]\nfn works() {}"}, "src/lib.rs", "rust", "works", "cargo test works"),
        ({"Cargo.toml": '[package]\nname = "p"\n'}, "tests/big.rs", "rust", "", "cargo test --test big"),
        ({"Cargo.toml": '[package]\nname = "p"\n'}, "src/lib.rs", "rust", "", ""),
        (
            {"Cargo.toml": "[package]\nname = \"p\"\n", "tests/all.rs": "mod inner {\n    mod one;\n}\nmod two;\n"},
            "tests/all/one.rs", "rust", "works", "cargo test --test all one::works",
        ),
        (
            {"Cargo.toml": "[package]\nname = \"p\"\n", "tests/all.rs": "mod two;\n",
             "tests/all/two.rs": "#![cfg(all(feature = \"big\", not(feature = \"small\")))]\n"},
            "tests/all/two.rs", "rust", "works", "cargo test --test all --features big two::works -- --exact",
        ),
        (
            {"Cargo.toml": '[package]\nname = "p"\nautotests = false\n[[test]]\nname = "all"\npath = "tests/tests.rs"\n'},
            "tests/misc.rs", "rust", "works", "cargo test --test all misc::works -- --exact",
        ),
        ({"p/Cargo.toml": '[package]\nname = "p"\n'}, "p/src/a.rs", "rust", "works", "cargo test -p p a::works -- --exact"),
        ({"pom.xml": ""}, "src/test/ATest.java", "java", "ATest.adds", "mvn test -Dtest=ATest#adds"),
        ({"m/pom.xml": ""}, "m/src/test/ATest.java", "java", "", "mvn -f m test -Dtest=ATest"),
        (
            {"pom.xml": "<modules><module>m</module></modules>", "m/pom.xml": ""},
            "m/src/test/ATest.java", "java", "", "mvn -pl m -am -Dsurefire.failIfNoSpecifiedTests=false test -Dtest=ATest",
        ),
        ({"build.gradle": "", "gradlew": ""}, "src/test/ATest.java", "java", "ATest.adds", "./gradlew test --tests '*ATest.adds'"),
        (
            {"settings.gradle": "", "m/build.gradle": ""}, "m/src/test/ATest.java", "java", "ATest.adds",
            "gradle -p m test --tests '*ATest.adds'",
        ),
        ({"build.gradle": "", "src/test/ATest.java": "public abstract class ATest {}"}, "src/test/ATest.java", "java", "", ""),
        ({"build.gradle": ""}, "src/androidTest/java/ATest.java", "java", "", ""),
        ({"package.json": '{"devDependencies": {"jest": "1"}}'}, "a.test.js", "javascript", "", "npx jest a.test.js"),
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "a.test.ts", "typescript", "", "npx vitest run a.test.ts"),
        ({"w/package.json": '{"scripts": {"test": "node x"}}'}, "w/a.test.js", "javascript", "", "cd w && npm test -- a.test.js"),
        ({"package.json": "{"}, "a.test.js", "javascript", "", ""),
        ({}, "a.lua", "lua", "", ""),
    ],
)  # fmt: skip
def test_the_command_that_runs_a_test(
    folder: Path, files: dict[str, str], path: str, language: str, name: str, command: str
) -> None:
    assert _command(folder, {path: "", **files}, path, language, name) == command


def test_commands_are_joined_where_the_program_takes_several_names() -> None:
    assert join_commands(["pytest a.py::b", "pytest a.py::c", "", "pytest a.py::b"]) == ["pytest a.py::b a.py::c"]
    assert join_commands(["python a.py A.b", "python c.py A.b", "python a.py A.d"]) == [
        "python a.py A.b A.d",
        "python c.py A.b",
    ]
    assert join_commands(["python a.py", "python b.py"]) == ["python a.py", "python b.py"]
    both = ["python a.py -k '*.A.b_*'", "python a.py A.c", "python a.py -k '*.A.d_*'"]
    assert join_commands(both) == ["python a.py -k '*.A.b_*' -k '*.A.d_*'", "python a.py A.c"]
    assert join_commands(["t --gtest_filter=S.a", "t --gtest_filter='*/P.a/*'"]) == ["t --gtest_filter='S.a:*/P.a/*'"]
    assert join_commands(["ctest -R '^A$'", "ctest -R '^B$'"]) == ["ctest -R '^A$'", "ctest -R '^B$'"]
    both = ["go test . -run '^A$'", "go test ./p -run '^A$'", "go test . -run '^B$'"]
    assert join_commands(both) == ["go test . -run '^(A|B)$'", "go test ./p -run '^A$'"]
    maven = [f"mvn test -Dtest={name}" for name in ("A#x", "B", "A#y")]
    assert join_commands(maven) == ["mvn test -Dtest=A#x+y,B"]


def test_a_program_is_found_through_lists_globs_and_loops() -> None:
    loop = (
        "file(GLOB_RECURSE ALL *.cpp)\nforeach(src ${ALL})\n  get_filename_component(stem ${src} NAME_WE)\n"
        '  set(name "x_${stem}")\n  add_executable(${name} "${src}")\nendforeach()\n'
    )
    assert cmake_target(cmake_commands(loop), "core/Device_test.cpp")[0] == "x_Device_test"
    listed = "list(APPEND PARTS a.cpp)\nset(SRCS ${PARTS} PARENT_SCOPE) # b.cpp\n"
    assert cmake_target(cmake_commands(listed), "a.cpp") == ("", frozenset({"PARTS", "SRCS"}))
    assert cmake_target(cmake_commands("add_executable(check ${SRCS})"), "t/a.cpp", {"SRCS"})[0] == "check"
    assert cmake_target(cmake_commands(listed), "b.cpp") == ("", frozenset())
    elsewhere = cmake_commands("file(GLOB ALL *.cpp)\nadd_executable(other ${ALL})")
    assert cmake_target(elsewhere, "t/a.cpp", {"SRCS"})[0] == "", "its pattern is about its own folder"


# --- other languages


def test_go_rust_cpp_and_javascript_tests_reach_what_they_call(folder: Path) -> None:
    program.write(folder, {
        "go.mod": "module m\n",
        "a.go": "package a\n\nfunc Add() int { return one() }\n\nfunc one() int { return 1 }\n",
        "a_test.go": 'package a\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) { Add() }\n',
        "src/m.h": "int twice(int x);\n",
        "src/m.cpp": '#include "m.h"\nint twice(int x) { return x + x; }\n',
        "test/CMakeLists.txt": "add_executable(m_test m_test.cpp)\n",
        "test/m_test.cpp": '#include "../src/m.h"\nTEST(M, Twice) { twice(2); }\n',
    })  # fmt: skip
    with concordance.open(folder) as repository:
        (go,) = repository.tests("a.go#one")
        assert (go["name"], go["why"], go["run"]) == ("TestAdd", "calls Add → one", "go test . -run '^TestAdd$'")
        (cpp,) = repository.tests("src/m.cpp")
        assert (cpp["why"], cpp["run"]) == ("calls twice", "m_test --gtest_filter=M.Twice")
