"""Runs the analyses over the whole when all files are linked, and lays what they give in the store.

In: the edges between symbols and what each file loads, as linking gives them. Out: rows of the store. Analyses know
files by their places in the order of paths, so that the same repository gives the same answers in whatever order it
was read; the store knows them by their ids.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from concordance.extract.tested import WHOLE
from concordance.facts import graph, passed
from concordance.facts.graph import Pair, Way
from concordance.facts.write import Writer
from concordance.link.loading import BY_FILE
from concordance.model import Category
from concordance.passes import clusters, cycles, layers, rank, tested

_NO_USERS = frozenset((Category.TEST, Category.EXAMPLE, Category.BENCHMARK, Category.DOCUMENTATION))
_PROSE = frozenset(("markdown", "rst", "text", "jupyter", "html"))


class _File(NamedTuple):
    base: int
    id: int
    path: str
    language: str
    category: str


def run(writer: Writer, edges: Sequence[bytes], loads: Mapping[int, bytes]) -> None:
    """All analyses."""
    whole = graph.joined(edges, writer.top)
    walked = graph.Graph(whole)
    by_base = [_File(*row) for row in writer.bases()]
    pairs = walked.files([file.base for file in by_base])
    needs = graph.unpacked_loads(loads)
    writer.put_pass("graph", whole)
    writer.put_pass("pairs", graph.packed_pairs(pairs))
    writer.put_pass("loads", graph.packed_pairs(needs))
    ranks = rank.ranks({file.base: file.category for file in by_base}, pairs)
    writer.put_ranks((ranks[file.base], file.id) for file in by_base)

    files = sorted(by_base, key=lambda file: file.path)
    number = {file.base: place for place, file in enumerate(files)}
    used = sorted((number[a], number[b], times) for a, b, times in pairs if files[number[a]].language not in _PROSE)
    _put_order(writer, files, used, sorted((number[a], number[b]) for a, b, _ in needs))
    found = clusters.clusters(len(files), used)
    rows = [(files[one.key].base, [files[member].base for member in one.members]) for one in found]
    writer.put_pass("clusters", passed.encoded(rows))
    _put_tests(writer, files, number, walked)


def _put_order(writer: Writer, files: Sequence[_File], used: Sequence[Pair], needs: Sequence[tuple[int, int]]) -> None:
    """Cycles and layers: what a file needs is what it loads, or what it uses where files see one another unnamed."""
    count = len(files)
    rings = [one for one in cycles.components(count, needs) if len(one) > 1]
    named = [[files[place].base for place in ring] for ring in sorted(rings, key=lambda ring: (-len(ring), ring))]
    writer.put_pass("cycles", passed.encoded(named))
    unnamed = [(user, target) for user, target, _ in used if files[user].language not in BY_FILE]
    every = [*needs, *unnamed]
    counts = [file.category not in _NO_USERS for file in files]
    found = layers.standings(cycles.components(count, every), every, counts)
    writer.put_pass("layers", passed.encoded({file.base: one for file, one in zip(files, found, strict=True)}))


def _put_tests(writer: Writer, files: Sequence[_File], number: Mapping[int, int], walked: graph.Graph) -> None:
    """The tests of each file: of symbols that are tests, and of files that as a whole are one."""
    runnable, tests = writer.runnable()
    owner = array("I", bytes(4 * writer.top))
    bases = sorted(number)
    for base, end in zip(bases, [*bases[1:], writer.top], strict=False):
        owner[base:end] = array("I", [number[base] + 1]) * (end - base)
    leads = walked.forward(Way.LOADS)
    ids = sorted(tests, key=lambda one: (owner[one], one))
    ids += _whole(files, owner, walked, leads)
    runs = array("I", bytes(4 * writer.top))
    for one in runnable:
        runs[one] = owner[one]
    found = tested.tested(ids, leads, runs, graph.STEPS)
    rows = {files[place].base: (one.near, one.farther) for place, one in sorted(found.items())}
    writer.put_pass("tests", passed.packed_tested(rows))


def _whole(files: Sequence[_File], owner: Sequence[int], walked: graph.Graph, leads: dict[int, list[int]]) -> list[int]:
    """The files that as a whole are tests; `leads` is told whom each leads to when it is loaded."""
    found = [file.base for file in files if file.language in WHOLE and file.category == Category.TEST]
    whole = set(found)
    for target, user in walked.by_way(Way.LOADS) if whole else ():
        base = files[owner[user] - 1].base
        if base in whole:
            leads.setdefault(base, []).append(target)
    return found
