"""`concord path` searches from both ends where that is shorter; the chains are the same as those of a search from the end alone."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import concordance
from concordance.facts.links.graph import EdgeKind, LinkGraph, edge, join_graph, pack_edges
from concordance.query.commands import path
from tests.support.program import write


def _chains(
    graph: LinkGraph, begins: frozenset[int], ends: frozenset[int], first_other: EdgeKind, overrides: path.OverridePairs
) -> set[tuple[int, ...]]:
    index: Any = SimpleNamespace(graph=graph)
    search = path._Search(index, begins, ends, first_other, overrides)
    if not search.meets():
        return set()
    distance, following = search.chains()
    least = min(distance[one] for one in begins if one in distance)
    found, unfinished = set(), [(one,) for one in begins if distance.get(one) == least]
    while unfinished:
        chain = unfinished.pop()
        unfinished += [(*chain, target) for target in following.get(chain[-1], ()) if distance[chain[-1]]]
        found |= {chain} if not distance[chain[-1]] else set()
    return found


def test_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path, "graph_of_targets", lambda index: index.graph.reversed())
    connected = 0
    for seed in range(300):
        draw = random.Random(seed)
        size = draw.randint(2, 30)
        edges = {edge(draw.randrange(size), draw.randrange(size), draw.choice((0, 0, 5, 9, 14, 15))) for _ in range(2 * size)}
        graph = LinkGraph(join_graph([pack_edges(edges)], size))
        begins, ends = (frozenset(draw.sample(range(size), draw.randint(1, 2))) for _ in range(2))
        overrides = path.OverridePairs((draw.randrange(size), draw.randrange(size)) for _ in range(seed % 4))
        for first_other in (EdgeKind.LOADS, EdgeKind.MENTIONS):
            monkeypatch.setattr(path, "_EASY_EDGES", 1_000_000)
            one = _chains(graph, begins, ends, first_other, overrides)
            monkeypatch.setattr(path, "_EASY_EDGES", -1)
            assert _chains(graph, begins, ends, first_other, overrides) == one
            connected += bool(one)
    assert connected > 100


def test_of_equally_short_chains_the_one_near_the_end_comes_first(tmp_path: Path) -> None:
    files = {
        "app.py": "from far.hack import run as hack\nfrom core.native.linear import run\n\n\ndef main():\n    hack()\n    run()\n",
        "far/hack.py": "from core.native.kernels import kernel\n\n\ndef run():\n    kernel()\n",
        "core/native/linear.py": "from core.native.kernels import kernel\n\n\ndef run():\n    kernel()\n",
        "core/native/kernels.py": "def kernel():\n    pass\n",
        "users.py": "from far.hack import run\n\nrun()\n",  # so that more files use the other one
    }
    write(tmp_path, files)
    with concordance.open(tmp_path) as repository:
        rows = repository.path("app.py core/native/kernels.py")
    assert [row["path"] for row in rows] == ["app.py", "core/native/linear.py"]


def test_a_call_of_a_method_may_run_what_overrides_it(tmp_path: Path) -> None:
    files = {
        "shapes.py": "class Shape:\n    def area(self):\n        return 0\n\n    def describe(self):\n        return self.area()\n",
        "square.py": "from shapes import Shape\n\n\ndef power(side):\n    return side * side\n\n\nclass Square(Shape):\n    def area(self):\n        return power(2)\n",
    }
    write(tmp_path, files)
    with concordance.open(tmp_path) as repository:
        rows = repository.path("Shape.describe power")
    assert [(row["path"], row["line"], row["how"]) for row in rows] == [
        ("shapes.py", 6, "calls"),
        ("shapes.py", 2, "is overridden by"),
        ("square.py", 10, "calls"),
    ]


def test_a_step_by_an_import_shows_the_line_of_the_import(tmp_path: Path) -> None:
    write(tmp_path, {"app.js": "'use strict';\nimport tools from './tools.js';\n", "tools.js": "export default {};\n"})
    with concordance.open(tmp_path) as repository:
        (row,) = repository.path("app.js tools.js")
    assert (row["line"], row["how"], row["by"]) == (2, "imports", "import")
