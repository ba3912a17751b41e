"""The pass stage: run the whole-repository analyses after all files are linked, and store their results.

In: the edges between symbols and the files that each file loads, as the link stage gives them. Out: rows of the store.
Analyses identify files by their position in path order, so that the same repository gives the same results in whatever
order it was read; the store identifies them by id.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from concordance.base.model import Category
from concordance.extract.registry import is_prose, language_of
from concordance.facts import codec
from concordance.facts.links import graph
from concordance.facts.links.graph import EdgeKind, Pair
from concordance.facts.symbol_ids import IdOwners, owner_by_id
from concordance.facts.updates.delta import Delta
from concordance.facts.write import StoreWriter
from concordance.link.languages import loading_languages
from concordance.passes import clusters, cycles, layers, rank, test_reach
from concordance.workflow.workers.forked import without_gc

_NO_USERS = frozenset((Category.TEST, Category.EXAMPLE, Category.BENCHMARK, Category.DOCUMENTATION))
_PROSE = frozenset(("jupyter", "html"))  # languages of documents without a reader


class _File(NamedTuple):
    id: int
    path: str
    language: str
    category: str


def run(writer: StoreWriter, bridges: Collection[int]) -> None:
    """Run all analyses; `bridges` are call edges between languages."""
    with without_gc():
        _run(writer, bridges)


def _run(writer: StoreWriter, bridges: Collection[int]) -> None:
    edges, loads = writer.queries.edges_and_loads()
    whole = graph.join_graph(edges, writer.top)
    files = _files(writer)
    # How close files are to each other depends on what they use directly, so bridges are added afterwards.
    pairs = sorted(graph.LinkGraph(whole).files(writer.owners))
    whole = graph.patch_graph(whole, (), list(bridges), writer.top)
    walked = graph.LinkGraph(whole)
    writer.put_analysis("graph", whole)
    writer.put_analysis("pairs", graph.pack_pairs(pairs))
    _put_files(writer, files, pairs, loads)
    _put_tests(writer, files, walked)


def update(writer: StoreWriter) -> None:
    """Run the analyses whose results an update may have changed."""
    with without_gc():
        _update(writer, writer.delta)


def _update(writer: StoreWriter, delta: Delta) -> None:
    changed = [(old, new) for old, new in delta.links.values() if (old.edges, old.loads) != (new.edges, new.loads)]
    calls = delta.removed_calls or delta.added_calls
    if not changed and not calls and not delta.files_changed and not delta.tests_changed:
        return
    own_gone = [one for old, new in changed for one in _without(old.edges, new.edges)]
    own_come = [one for old, new in changed for one in _without(new.edges, old.edges)]
    pairs, other = _pairs(writer, own_gone, own_come)
    removed, added = [*own_gone, *delta.removed_calls], [*own_come, *delta.added_calls]
    whole = graph.patch_graph(writer.queries.analysis_result("graph"), removed, added, writer.top)
    writer.put_analysis("graph", whole)
    writer.put_analysis("pairs", pairs)
    if other or delta.files_changed or any(old.loads != new.loads for old, new in changed):
        _put_files(writer, _files(writer), graph.unpack_pairs(pairs), writer.queries.loads())
    was, now = (Counter(one for one in some if graph.is_executing(one)) for some in (removed, added))
    if delta.files_changed or delta.tests_changed or was != now:
        _put_tests(writer, _files(writer), graph.LinkGraph(whole))


def _files(writer: StoreWriter) -> list[_File]:
    return [_File(*row) for row in writer.files()]


def _without(one: bytes, other: bytes) -> set[int]:
    return set(array("Q", one)) - set(array("Q", other))


def _pairs(writer: StoreWriter, removed: Sequence[int], added: Sequence[int]) -> tuple[bytes, bool]:
    """Return how much each file uses each other one now, and whether any of these changed its order of magnitude."""
    delta: Counter[tuple[int, int]] = Counter()
    for sign, edges in ((-1, removed), (1, added)):
        for one in edges:
            target, user = (writer.owners[end] for end in graph.ends_of(one))
            delta[user, target] += sign
    had = graph.Pairs(writer.queries.analysis_result("pairs"))
    times = {(user, target): count for user, target, count in had.take({user for user, _ in delta})}
    other = False
    for pair, count in delta.items():
        if count and pair[0] != pair[1]:
            before = times.pop(pair, 0)
            other |= before.bit_length() != (before + count).bit_length()
            if before + count:
                times[pair] = before + count
    had.put((*pair, count) for pair, count in times.items())
    return had.packed(), other


def _put_files(writer: StoreWriter, by_id: Sequence[_File], pairs: Sequence[Pair], loads: Mapping[int, bytes]) -> None:
    """Run the analyses that only need files."""
    needs = graph.unpack_loads(loads)
    writer.put_analysis("loads", graph.pack_pairs(needs))
    files = sorted(by_id, key=lambda file: file.path)
    number = {file.id: place for place, file in enumerate(files)}
    every = sorted((number[a], number[b], times) for a, b, times in pairs)
    ranks = rank.compute_ranks([file.category for file in files], every)
    writer.put_ranks((one, file.id) for one, file in zip(ranks, files, strict=True))
    used = [pair for pair in every if not _is_prose(files[pair[0]].language)]
    _put_order(writer, files, used, sorted((number[a], number[b]) for a, b, _ in needs))
    found = clusters.find_clusters(len(files), used)
    rows = [(files[one.key].id, [files[member].id for member in one.members]) for one in found]
    writer.put_analysis("clusters", codec.encode_rows(rows))


def _is_prose(language: str) -> bool:
    return is_prose(language) or language in _PROSE


def _put_order(
    writer: StoreWriter, files: Sequence[_File], used: Sequence[Pair], needs: Sequence[tuple[int, int]]
) -> None:
    """Find cycles and layers. A file needs what it loads, or in languages without imports of files, what it uses."""
    count = len(files)
    rings = [one for one in cycles.strongly_connected_components(count, needs) if len(one) > 1]
    named = [[files[place].id for place in ring] for ring in sorted(rings, key=lambda ring: (-len(ring), ring))]
    writer.put_analysis("cycles", codec.encode_rows(named))
    loading = loading_languages()
    unnamed = [(user, target) for user, target, _ in used if files[user].language not in loading]
    every = [*needs, *unnamed]
    counts = [file.category not in _NO_USERS for file in files]
    found = layers.compute_layers(cycles.strongly_connected_components(count, every), every, counts)
    writer.put_analysis("layers", codec.encode_rows({file.id: one for file, one in zip(files, found, strict=True)}))


def _put_tests(writer: StoreWriter, every: Sequence[_File], walked: graph.LinkGraph) -> None:
    """Find the tests of each file, both test symbols and files that are tests as a whole."""
    files = sorted(every, key=lambda file: file.path)
    number = {file.id: place for place, file in enumerate(files, 1)}
    runnable, tests = writer.queries.runnable()
    ranges = zip(writer.owners.starts, writer.owners.owners, strict=True)
    owner = owner_by_id(IdOwners((start, number.get(file, 0)) for start, file in ranges), writer.top)
    leads = walked.forward(EdgeKind.LOADS)
    ids = sorted(tests, key=lambda one: owner[one])  # within a file they are in order
    ids += _whole_file_tests(files, owner, walked, leads)
    runs = array("I", bytes(4 * writer.top))
    for one in runnable:
        runs[one] = owner[one]
    found = test_reach.find_reaching_tests(ids, leads, runs, graph.STEPS)
    rows = {files[place].id: (one.near, one.farther) for place, one in sorted(found.items())}
    writer.put_analysis("tests", codec.pack_tests(rows))


def _whole_file_tests(
    files: Sequence[_File], owner: Sequence[int], walked: graph.LinkGraph, leads: dict[int, list[int]]
) -> list[int]:
    """Return files that are tests as a whole; adds to `leads` what each of them reaches when it is loaded."""
    tests = (file for file in files if file.category == Category.TEST)
    found = [file.id for file in tests if language_of(file.language).tests.whole_files]
    whole = set(found)
    for target, user in walked.by_way(EdgeKind.LOADS) if whole else ():
        file = files[owner[user] - 1].id
        if file in whole:
            leads.setdefault(file, []).append(target)
    return found
