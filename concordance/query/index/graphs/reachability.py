"""Finds the tests and examples that may run a symbol, by walking the link graph backwards, and explains each path.

In: symbols or a file. Out: the tests (or examples) that may run them, nearest first, and for each row of the answer the
chain of names in between. A walk counts its steps: a call, a function passed on, a constructor behind a class, a
fixture behind a parameter. The number of edges it looks at is bounded, and the caller can see where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Category, File, Kind
from concordance.extract.registry import language_of
from concordance.facts.links.graph import RUNS, EdgeKind, GraphWalk
from concordance.facts.links.graph import STEPS as STEPS
from concordance.facts.read import SymbolPlace
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import memoised
from concordance.query.answers import full_name, name_of, split_key
from concordance.query.index.repository import Index
from concordance.query.names.declarations import with_counterparts

MAX_EDGES = 100_000  # edges that one walk looks at: about twenty milliseconds
CONTAINER_KINDS = TYPE_KINDS | {Kind.NAMESPACE}
_LOADS = frozenset((int(EdgeKind.LOADS),))
EDGE_VERBS = {
    EdgeKind.CALLS: "calls",
    EdgeKind.READS: "uses",
    EdgeKind.HOLDS: "contains",
    EdgeKind.MAKES: "creates",
    EdgeKind.ASKS: "requests the fixture",
    EdgeKind.SETS_UP: "is set up by",
    EdgeKind.IS_WRAPPED: "is wrapped in",
    EdgeKind.STANDS_FOR: "is another name for",
    EdgeKind.REPEATS: "is another definition of",
    EdgeKind.LOADS: "at load time uses",
    EdgeKind.PASSES: "names",
    EdgeKind.INHERITS: "extends",
    EdgeKind.TYPES: "is declared with",
    EdgeKind.WRITES: "writes",
    EdgeKind.IMPORTS: "imports",
    EdgeKind.MENTIONS: "mentions",
}
# Python runs these on an object without naming them, but not on every object that has them.
_RUN_ON_INSTANCES = frozenset(("__call__", "__enter__", "__exit__", "__aenter__", "__aexit__"))
_CHAIN_LENGTH = 5  # names of a chain that are shown; a longer one is cut in the middle


class ReachedSymbol(NamedTuple):
    """A test or example that reaches what was asked about; sorts by distance, then by path and line."""

    steps: int
    order: int
    id: int  # of a test, or of a file that as a whole is one
    reached_at: int  # the symbol of the walk at which it was found
    behind: str = ""  # what the start of the walk leads to in turn
    tests: int = 0  # of a file that stands for its tests: how many of them were reached


class ReachedSymbols(NamedTuple):
    """The tests or examples that reach what was asked about, nearest first, and the walk that found them."""

    rows: list[ReachedSymbol]
    walk: GraphWalk


def functions_in(index: Index, file: File) -> list[int]:
    """Return the functions of a file; its other code runs only once, when the file is imported."""
    return [symbol.id for symbol in index.facts.symbols_in(file.path) if symbol.kind in EXECUTABLE_KINDS]


def with_members(index: Index, places: Iterable[SymbolPlace]) -> list[int]:
    """Return symbols with their declarations and everything inside of them: a test that runs the wrapper in a decorator
    runs a part of it."""
    members: dict[int, None] = {}
    for place in with_counterparts(index, places):
        members[place.id] = None
        if place.kind in CONTAINER_KINDS | EXECUTABLE_KINDS:
            members.update((symbol.id, None) for symbol in members_of(index, place))
    return list(members)


def members_of(index: Index, place: SymbolPlace) -> Iterator[SymbolPlace]:
    """Yield the symbols inside of a symbol, at any depth."""
    names = [*split_key(place.parent_key), place.name]
    for symbol in index.facts.symbols_in(place.path):
        if split_key(symbol.parent_key)[: len(names)] == names:
            yield symbol


def around(index: Index, place: SymbolPlace) -> Iterator[SymbolPlace]:
    """Yield the symbols that directly contain a symbol."""
    names = split_key(place.parent_key)
    return (
        symbol for symbol in index.facts.symbols_in(place.path) if [*split_key(symbol.parent_key), symbol.name] == names
    )


def find_reaching(
    index: Index,
    starts: Collection[int],
    category: Category,
    limit: int = MAX_EDGES,
    ignored: Collection[tuple[int, int]] = (),
) -> ReachedSymbols:
    """Return the tests or examples that may run the given symbols; the walk looks at no more than `limit` edges.

    `ignored` are pairs of a symbol and a user that do not count.
    """
    walk = index.graph.back(starts, RUNS, _LOADS, STEPS, limit, index.order_of, ignored)
    steps, tests = walk.steps, index.tests
    if category is not Category.TEST:
        return ReachedSymbols(sorted(_files(index, walk, steps, category)), walk)
    rows = [
        ReachedSymbol(steps[identity][0], tests[identity], identity, identity)
        for identity in steps.keys() & tests.keys()
    ]
    # Only the languages of the test files that were reached: to load the readers of others takes longer than the walk.
    loading = [identity for identity, step in steps.items() if step[2] == EdgeKind.LOADS]
    with index.reads.not_recording():
        among_tests = {path for path in map(index.path_of, loading) if index.category_of(path) == Category.TEST}
        languages = set(map(index.language_of, among_tests))
    if any(language_of(language).tests.is_whole_test for language in languages):
        rows += _files(index, walk, loading, category)
    return ReachedSymbols(sorted(rows), walk)


def _files(index: Index, walk: GraphWalk, ids: Iterable[int], category: Category) -> list[ReachedSymbol]:
    """Return the files that as a whole are tests or examples."""
    reached: dict[int, ReachedSymbol] = {}
    for identity in ids:
        path = index.path_of(identity)
        steps = walk.steps[identity][0]
        if index.category_of(path) == category and (category is not Category.TEST or index.is_whole_test(path)):
            file = index.file_id(path)
            if file not in reached or reached[file].steps > steps:
                reached[file] = ReachedSymbol(steps, 0, file, identity)
    ordered = sorted(reached, key=index.path_of_file)
    return [reached[file]._replace(order=len(index.tests) + number) for number, file in enumerate(ordered)]


def reach_symbols(index: Index, symbols: Sequence[SymbolPlace], category: Category, most: int) -> list[ReachedSymbols]:
    """Return the tests or examples that may run the given symbols: by calls, and by calls of what they override.

    A test that creates an instance may run its overriding methods, but need not, so for a question about such a method
    both must be found (`_reach_by_override`, for the first `most` symbols).
    """
    methods = (place for place in symbols if place.kind in EXECUTABLE_KINDS and not place.name.startswith("__"))
    overriding = [place for place in methods if index.facts.overridden(place.id)]
    ignored = {(place.id, owner.id) for place in overriding for owner in around(index, place)}
    reached = [find_reaching(index, with_members(index, symbols), category, ignored=ignored)]
    return [*reached, *_reach_by_override(index, symbols[:most], category)]


def _reach_by_override(index: Index, places: Iterable[SymbolPlace], category: Category) -> Iterator[ReachedSymbols]:
    """Yield the tests that call what a method overrides and also create an instance of the overriding class."""
    for place in places:
        owner = next(around(index, place), None)
        above = [identity for identity, _ in index.facts.overridden(place.id)]
        if owner is None or not above or place.kind not in EXECUTABLE_KINDS:
            continue
        makes = {
            reached.id for reached in find_reaching(index, [owner.id, *_constructors(index, owner)], category).rows
        }
        rows, walk = find_reaching(index, above, category)
        behind = f"overridden by {full_name(place)}"
        yield ReachedSymbols(
            [row._replace(steps=row.steps + 1, behind=behind) for row in rows if row.id in makes], walk
        )


def _constructors(index: Index, owner: SymbolPlace) -> list[int]:
    return [
        symbol.id
        for symbol in members_of(index, owner)
        if symbol.name in ("__init__", "__new__", "constructor", owner.name)
    ]


def test_command(index: Index, place: SymbolPlace) -> str:
    """Return the command that runs a test."""
    return command_of(index, place.id) if place.name else index.runners.command(place.path, place.language, "")


def command_of(index: Index, test: int) -> str:
    """Return the command that runs a test, or a file that is one; an inherited test runs in a subclass."""
    path, key = index.path_of(test), index.key_of(test)
    rule = language_of(index.language_of(path)).tests.is_test_class
    owner = key.rpartition(".")[0]
    if owner and rule is not None and not rule(split_key(owner)[-1], ()):
        beside = index.symbol_ids[index.owners[test]]
        index.read_keys(beside)
        around_test = next((identity for identity in beside if index.key_of(identity) == owner), 0)
        command = _running_class(index, around_test, rule) if around_test else 0
        if not command:
            return ""
        path, key = index.path_of(command), f"{index.key_of(command)}.{key.rpartition('.')[2]}"
    return index.runners.command(path, index.language_of(path), ".".join(split_key(key)))


def _running_class(index: Index, identity: int, rule: Callable[[str, Sequence[str]], bool]) -> int:
    """Return the class in which a test runner runs the tests of a class: itself, or the nearest such subclass; or 0."""
    pending, met = [identity], {identity}
    while pending:
        now = pending.pop(0)
        if _is_run(index, now, rule, set()):
            return now
        index.reads.note(Aspect.USED_BY, index.path_of(now))
        heirs = sorted(set(index.facts.subclasses_of(now)) - met, key=index.order_of)
        met.update(heirs)
        pending += heirs
    return 0


def _is_run(index: Index, identity: int, rule: Callable[[str, Sequence[str]], bool], visited: set[int]) -> bool:
    """True if a test runner collects the class, by its own name or by one of its direct or indirect bases."""
    key = index.key_of(identity)
    name = "" if visited else split_key(key)[-1]  # the name of a base says nothing about its subclasses
    if rule(name, stated_bases(index, index.path_of(identity)).get(key, ())):
        return True
    visited.add(identity)
    above = [base for base in index.facts.bases_of(identity) if base not in visited and not index.path_of_file(base)]
    return any(_is_run(index, base, rule, visited) for base in above)


@memoised(1 << 16, weigh=lambda bases: 1 + len(bases))
def stated_bases(index: Index, path: str) -> dict[str, tuple[str, ...]]:
    """Return the bases that the classes of a file state, by key."""
    index.reads.note(Aspect.BASES, path)
    return index.facts.stated_bases(path)


def places(index: Index, ids: Iterable[int]) -> dict[int, SymbolPlace]:
    """Return the symbols and files with these ids."""
    wanted = set(ids)
    files = {identity: index.path_of_file(identity) for identity in wanted}
    places = index.facts.places(identity for identity in wanted if not files[identity])
    for identity, path in files.items():
        if path:
            language, category = index.language_of(path), index.category_of(path)
            places[identity] = SymbolPlace(identity, "", "file", path, -1, 1, False, 1, True, "", language, category)
    return places


# --- explanations


def explain_paths(index: Index, rows: Iterable[ReachedSymbol], walk: GraphWalk) -> list[str]:
    """Return for each row the reason why it is in the answer."""
    chains = [(_chain(walk, row.reached_at), row.behind) for row in rows]
    known = places(index, (identity for chain, _ in chains for identity, _ in chain if identity))
    return [_describe_chain(chain, known) + (f", {behind}" if behind else "") for chain, behind in chains]


def _chain(walk: GraphWalk, reached_at: int) -> list[tuple[int, int]]:
    """Return the chain from a test to what it reaches: symbols with the edges to them; (0, 0) marks a cut."""
    steps = walk.steps
    chain: list[tuple[int, int]] = []
    distance, following, way = steps[reached_at]
    while distance:
        if way != EdgeKind.REPEATS or not chain:
            chain.append((following, way))
        distance, following, way = steps[following]
    return chain if len(chain) <= _CHAIN_LENGTH else [*chain[:2], (0, 0), *chain[-2:]]


def may_run_on_instances(way: int, key: str) -> bool:
    """True if an edge says that an object is created on which Python may run the method with this key."""
    return way == EdgeKind.MAKES and key.rpartition(".")[2] in _RUN_ON_INSTANCES


def _describe_chain(chain: list[tuple[int, int]], places: dict[int, SymbolPlace]) -> str:
    """Describe a chain: the first edge as a verb, followed by names."""
    if not chain:
        return "defined here"
    description = last = ""
    for identity, way in chain:
        place = places.get(identity)
        name = (full_name(place) if place.name else name_of(place)) if place is not None else "…"
        may_run = place is not None and may_run_on_instances(way, place.key)
        if not description:
            description = f"{'creates an object that may run' if may_run else EDGE_VERBS[EdgeKind(way)]} {name}"
        elif name != last:
            description += f"{', which may run ' if may_run else ' → '}{name}"
        last = name
    return description
