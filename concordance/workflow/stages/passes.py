"""The pass stage: runs the whole-repository analyses after all files are linked, and stores their results.

In: the edges between symbols and the files that each file loads, as the link stage gives them. Out: rows of the store.
Analyses identify files by their position in path order, so that the same repository gives the same results in whatever
order it was read; the store identifies them by id.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from concordance.base.model import EXECUTABLE_KINDS, Category
from concordance.extract.registry import is_prose, language_of
from concordance.facts import codec
from concordance.facts.links import graph
from concordance.facts.links.bridge_rows import call_edges, unpack_parts
from concordance.facts.links.graph import EdgeKind, Pair
from concordance.facts.symbol_ids import IdOwners, owner_by_id
from concordance.facts.updates.delta import Delta
from concordance.facts.write import StoreWriter
from concordance.link.languages import loading_languages
from concordance.passes import clusters, cycles, layers, rank, test_reach
from concordance.workflow.stages.bridges import CALLS

_NO_USERS = frozenset((Category.TEST, Category.EXAMPLE, Category.BENCHMARK, Category.DOCUMENTATION))
_PROSE = frozenset(("jupyter", "html"))  # languages of documents without a reader
# Up to so many files, and symbols in them, the tests of affected files are found one by one; measured on PyTorch: 10
# files take a fiftieth of the time of all, 200 a third.
_MAX_AFFECTED_FILES, _MAX_AFFECTED_SYMBOLS = 300, 10_000


class _File(NamedTuple):
    id: int
    path: str
    language: str
    category: str


def run(writer: StoreWriter, bridges: Collection[int]) -> None:
    """Run all analyses; `bridges` are call edges between languages."""
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
    delta = writer.delta
    changed = [(old, new) for old, new in delta.links.values() if (old.edges, old.loads) != (new.edges, new.loads)]
    calls = delta.removed_calls or delta.added_calls
    if not changed and not calls and not delta.files_changed and not delta.tests_changed:
        return
    own_gone = [edge for old, new in changed for edge in _without(old.edges, new.edges)]
    own_come = [edge for old, new in changed for edge in _without(new.edges, old.edges)]
    pairs, other = _pairs(writer, own_gone, own_come)
    removed, added = [*own_gone, *delta.removed_calls], [*own_come, *delta.added_calls]
    whole = graph.patch_graph(writer.queries.analysis_result("graph"), removed, added, writer.top)
    writer.put_analysis("graph", whole)
    writer.put_analysis("pairs", pairs)
    if other or delta.files_changed or any(old.loads != new.loads for old, new in changed):
        _put_files(writer, _files(writer), graph.unpack_pairs(pairs), writer.queries.loads())
    walked = graph.LinkGraph(whole)
    affected = None if delta.files_changed else _affected_files(writer, delta, removed, added)
    if affected is None:
        _put_tests(writer, _files(writer), walked)
    elif affected:
        _update_tests(writer, affected, walked)


def _files(writer: StoreWriter) -> list[_File]:
    return [_File(*row) for row in writer.files()]


def _without(one: bytes, other: bytes) -> set[int]:
    return set(array("Q", one)) - set(array("Q", other))


def _pairs(writer: StoreWriter, removed: Sequence[int], added: Sequence[int]) -> tuple[bytes, bool]:
    """Return how much each file uses each other one now, and whether any of these changed its order of magnitude."""
    delta: Counter[tuple[int, int]] = Counter()
    for sign, edges in ((-1, removed), (1, added)):
        for edge in edges:
            target, user = (writer.owners[end] for end in graph.unpack_edge(edge)[:2])
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
    edges = sorted((number[a], number[b], times) for a, b, times in pairs)
    ranks = rank.compute_ranks([file.category for file in files], edges)
    writer.put_ranks((file_rank, file.id) for file_rank, file in zip(ranks, files, strict=True))
    used = [pair for pair in edges if not _is_prose(files[pair[0]].language)]
    _put_order(writer, files, used, sorted((number[a], number[b]) for a, b, _ in needs))
    groups = clusters.find_clusters(len(files), used)
    rows = [(files[cluster.key].id, [files[member].id for member in cluster.members]) for cluster in groups]
    writer.put_analysis("clusters", codec.encode_rows(rows))


def _is_prose(language: str) -> bool:
    return is_prose(language) or language in _PROSE


def _put_order(
    writer: StoreWriter, files: Sequence[_File], used: Sequence[Pair], needs: Sequence[tuple[int, int]]
) -> None:
    """Find cycles and layers. A file needs what it loads, or in languages without imports of files, what it uses."""
    count = len(files)
    rings = [component for component in cycles.strongly_connected_components(count, needs) if len(component) > 1]
    named = [[files[place].id for place in ring] for ring in sorted(rings, key=lambda ring: (-len(ring), ring))]
    writer.put_analysis("cycles", codec.encode_rows(named))
    loading = loading_languages()
    unnamed = [(user, target) for user, target, _ in used if files[user].language not in loading]
    edges = [*needs, *unnamed]
    counts = [file.category not in _NO_USERS for file in files]
    order = layers.compute_layers(cycles.strongly_connected_components(count, edges), edges, counts)
    writer.put_analysis("layers", codec.encode_rows({file.id: layer for file, layer in zip(files, order, strict=True)}))


def _put_tests(writer: StoreWriter, by_id: Sequence[_File], walked: graph.LinkGraph) -> None:
    """Find the tests of each file, both test symbols and files that are tests as a whole."""
    files = sorted(by_id, key=lambda file: file.path)
    number = {file.id: place for place, file in enumerate(files, 1)}
    ranges = zip(writer.owners.starts, writer.owners.owners, strict=True)
    owner = owner_by_id(IdOwners((start, number.get(file, 0)) for start, file in ranges), writer.top)
    leads = walked.forward(EdgeKind.LOADS)
    whole = _whole_file_tests(files)
    for target, user in walked.by_way(EdgeKind.LOADS) if whole else ():
        file = files[owner[user] - 1].id
        if file in whole:
            leads.setdefault(file, []).append(target)
    runs = array("I", bytes(4 * writer.top))
    for symbol in writer.queries.runnable():
        runs[symbol] = owner[symbol]
    ids = [*sorted(writer.queries.tests(), key=lambda symbol: owner[symbol]), *whole]  # within a file they are in order
    reached = test_reach.find_reaching_tests(ids, leads, runs, graph.STEPS)
    rows = {files[place].id: (reaching.near, reaching.farther) for place, reaching in sorted(reached.items())}
    writer.put_analysis("tests", codec.pack_tests(rows))


def _whole_file_tests(files: Iterable[_File]) -> dict[int, None]:
    """Return the files that are tests as a whole, in the given order: what they call when they are loaded is tested."""
    return {file.id: None for file in files if language_of(file.language).tests.is_test_file(file.category, file.path)}


def _affected_files(writer: StoreWriter, delta: Delta, removed: Sequence[int], added: Sequence[int]) -> set[int] | None:
    """Return the files that other tests may reach now: those to which a removed edge led, or a new one leads, and those
    of tests that were added, removed or moved. None if these are very many."""
    removed, added = _without_renamed(writer, delta, removed, added)
    if not delta.tests_changed and not removed and not added:
        return set()
    whole, affected = _whole_file_tests(_files(writer)), set[int]()
    calls = call_edges(unpack_parts(writer.queries.analysis_result(CALLS)))
    old_tests, tests = set[int](), set[int]()
    for path in delta.tests_changed:
        had = delta.previous[path]
        old_tests.update(identity for identity, (_, is_test) in zip(had.ids, had.kinds, strict=True) if is_test)
        tests.update(writer.queries.tests(had.id))
        affected.add(had.id)
    old_edges = {file: change.before.edges for file, change in delta.links.items()}
    for leads, edges, starts in (
        (_Leads(writer, calls - delta.added_calls | delta.removed_calls, old_edges, whole), removed, old_tests),
        (_Leads(writer, calls, {}, whole), added, tests),
    ):
        heads = {
            target for target, user, way in map(graph.unpack_edge, edges)
            if way < EdgeKind.LOADS or (way == EdgeKind.LOADS and writer.owners[user] in whole)
        }  # fmt: skip
        reached = test_reach.reached_within(heads | starts, leads, graph.STEPS, _MAX_AFFECTED_SYMBOLS)
        if reached is None:
            return None
        affected |= {writer.owners[identity] for identity in reached}
    return affected if len(affected) <= _MAX_AFFECTED_FILES else None


def _without_renamed(
    writer: StoreWriter, delta: Delta, removed: Iterable[int], added: Iterable[int]
) -> tuple[list[int], list[int]]:
    """Return the removed and added edges by which code is executed, without those that differ only by the new id of a
    symbol that was renamed: a new symbol of the same file that leads to the same."""
    removed, added = (list(filter(graph.is_executing, edges)) for edges in (removed, added))
    led, leads = _links_of_symbols(removed), _links_of_symbols(added)
    renamed: dict[int, int] = {}  # by new id, the old one
    for path, had in delta.previous.items():
        ids = writer.ids(path)
        known = zip(had.ids, had.kinds, strict=True)
        removed_symbols = {
            identity: (kind in EXECUTABLE_KINDS, test)
            for identity, (kind, test) in known
            if ids is None or identity not in ids
        }
        if removed_symbols and ids is not None and path not in delta.tests_changed:
            run = {*writer.queries.runnable(had.id)}
            old = {(*facts, led[identity]): identity for identity, facts in removed_symbols.items()}
            new = {
                identity: old.get((identity in run, False, leads[identity]))
                for identity in ids
                if identity not in had.ids
            }
            renamed.update((identity, other) for identity, other in new.items() if other is not None)
    if len(set(renamed.values())) < len(renamed):
        return removed, added  # several new symbols would be the same old one
    ends = map(graph.unpack_edge, added)
    old_edges = [graph.edge(renamed.get(target, target), renamed.get(user, user), way) for target, user, way in ends]
    same = {*removed}.intersection(old_edges)
    new_edges = zip(old_edges, added, strict=True)
    return [edge for edge in removed if edge not in same], [edge for old, edge in new_edges if old not in same]


def _links_of_symbols(edges: Iterable[int]) -> defaultdict[int, frozenset[tuple[int, int]]]:
    """Return by symbol what it leads to, with the kinds of these edges; a symbol's links to itself as those to 0."""
    links_by_user: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
    for target, user, way in map(graph.unpack_edge, edges):
        links_by_user[user].add((target if target != user else 0, way))
    return defaultdict(frozenset, {user: frozenset(links) for user, links in links_by_user.items()})


class _Leads:
    """What each symbol leads to when it runs; read file by file, because an update seldom leads far."""

    def __init__(
        self, writer: StoreWriter, calls: Iterable[int], edges: Mapping[int, bytes], whole: Collection[int]
    ) -> None:
        """`calls` are call edges between languages, `edges` those of the files whose edges are not the stored ones."""
        self._writer, self._edges, self._whole = writer, edges, whole
        self._files: dict[int, defaultdict[int, list[int]]] = {}
        self._calls: defaultdict[int, list[int]] = defaultdict(list)
        for target, user, _ in map(graph.unpack_edge, calls):
            self._calls[user].append(target)

    def __call__(self, symbol: int) -> list[int]:
        file = self._writer.owners[symbol]
        if file not in self._files:
            self._files[file] = self._read(file)
        return [*self._files[file].get(symbol, ()), *self._calls.get(symbol, ())]

    def _read(self, file: int) -> defaultdict[int, list[int]]:
        leads: defaultdict[int, list[int]] = defaultdict(list)
        edges = self._edges[file] if file in self._edges else self._writer.queries.edges(file)
        for target, user, way in graph.unpack_edges(edges):
            if way < EdgeKind.LOADS:
                leads[user].append(target)
            elif way == EdgeKind.LOADS and file in self._whole:
                leads[file].append(target)
        return leads


def _update_tests(writer: StoreWriter, affected: set[int], walked: graph.LinkGraph) -> None:
    """Find the tests of the given files again."""
    files = sorted(_files(writer), key=lambda file: file.path)
    order = {file.id: place for place, file in enumerate(files)}
    whole, owners = _whole_file_tests(files), writer.owners

    def callers(symbol: int) -> list[int]:
        tests = walked.users_by(symbol, 0, EdgeKind.LOADS - 1)
        if whole:
            loading = (owners[user] for user in walked.users_by(symbol, EdgeKind.LOADS, EdgeKind.LOADS))
            tests += [file for file in loading if file in whole]
        return tests

    ids = [*sorted(writer.queries.tests(), key=lambda test: order[owners[test]]), *whole]
    code = {file: writer.queries.runnable(file) for file in affected}
    tests = test_reach.find_tests_of_files(ids, callers, code, graph.STEPS)
    rows = {file: (reaching.near, reaching.farther) for file, reaching in tests.items()}
    packed = codec.patch_tests(writer.queries.analysis_result("tests"), affected, rows, order)
    writer.put_analysis("tests", packed)
