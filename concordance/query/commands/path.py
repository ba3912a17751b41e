"""`concord path`: show how one name or file reaches another, step by step.

In: the names or files where a chain begins and ends. Out: `PathStep`s over calls, imports and bridges. The search
begins at the end, because the store indexes uses by their target. Among equally short chains, those through source
files near the end come first, then those through files that others use most, so that the answer does not depend on the
order in which files were read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from concordance.base.blocks import count_noun
from concordance.base.errors import UserError
from concordance.base.model import Category, File, Trust
from concordance.base.paths import parent_folders
from concordance.facts.links.graph import EdgeKind, LinkGraph
from concordance.facts.read import SymbolPlace
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import FILE_USES, shared_until
from concordance.query.answers import Answer, AnswerPage, Option, Row, full_name, paginate
from concordance.query.index.graphs.bridges import bridges_of, verbs
from concordance.query.index.graphs.reachability import EDGE_VERBS as WAYS
from concordance.query.index.graphs.reachability import functions_in, may_run_on_instances, places, with_members
from concordance.query.index.repository import Index
from concordance.query.names.display_names import display_name
from concordance.query.names.references import import_target, uses_in_file
from concordance.query.names.resolver import resolve_subject

MAX_EDGES = 3_000_000  # edges that one search visits at most
_MAX_STEPS = 24  # steps in a chain at most
_EASY_EDGES = 50_000  # edges that are visited sooner than all edges are reversed
# The number of steps to the end, and the next symbols, each by symbol id.
_SearchResult = tuple[dict[int, int], dict[int, list[int]]]
HELP = """Show how one name or file reaches another: the shortest chain, each step with the line that shows it.

Steps are calls, imports and bridges between languages. Chains by which the first executes the last are preferred; then
chains in which a method that is called is overridden; then chains of any kind of use.

\b
concord path torch.nn.Linear at::native::addmm_out_cuda
concord path torch.nn.functional.relu aten/src/ATen/native/Activation.cpp
concord path Linear.forward linear --chains 3
"""
ARGUMENT = "FROM TO..."
OPTIONS = (Option("chains", "Show at most N chains, the shortest first.", int, 1, least=1),)
_COLUMNS = ("path", "line", "name", "how", "to", "trust", "by")


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per step."""
    words = [word for word in argument.split() if word not in ("to", "->", "→")]
    if len(words) != 2:
        raise UserError("a path needs two names or files", "Use: concord path FROM TO")
    begins, ends = (_starts(index, word) for word in words)
    search = find_chains(index, begins, ends, page.options["chains"])
    rows: list[Row] = [
        {
            "chain": number,
            "path": step.source.path,
            "line": step.line,
            "name": display_name(index, step.source) or full_name(step.source),
            "how": step.how,
            "to": display_name(index, step.target) or full_name(step.target),
            "to_path": step.target.path,
            "to_line": step.target.line,
            "trust": step.trust,
            "by": step.by,
        }
        for number, chain in enumerate(search.rows, 1)
        for step in chain
    ]
    note = ""
    if not rows:
        note = _overlap(words, set(begins), set(ends))
        searched = f"{count_noun(search.edges_visited, 'use')} searched by {search.edge_kinds}"
        searched += "; a call whose target is not known is not followed"
        note = note or f"no chain found from {words[0]} to {words[1]}: {searched}"
        note += "" if search.whole else "; the search stopped early"
    columns = _COLUMNS if len(search.rows) < 2 else ("chain", *_COLUMNS)
    return paginate(rows, columns, page)._replace(note=note)


def _overlap(words: list[str], begins: set[int], ends: set[int]) -> str:
    """Say how two subjects overlap; "" if they do not."""
    if begins == ends:
        return f"{words[0]} and {words[1]} are the same"
    if begins > ends:
        return f"{words[0]} contains {words[1]}"
    if begins < ends:
        return f"{words[1]} contains {words[0]}"
    return "" if begins.isdisjoint(ends) else f"{words[0]} and {words[1]} have parts in common"


def _starts(index: Index, argument: str) -> list[int]:
    """Return the ids of a name or file and of what it contains; a qualified name means only the symbols that
    have it, not the operator of the same name."""
    subject = resolve_subject(index, argument)
    if isinstance(subject, File):
        return [index.facts.id(subject.path), *functions_in(index, subject)]
    exact = [place for place in subject if full_name(place) == argument]
    return with_members(index, exact or subject)


class PathStep(NamedTuple):
    """One step of a chain: how one symbol or file uses another."""

    source: SymbolPlace
    target: SymbolPlace
    line: int  # the line in the source's file that shows the step
    how: str
    trust: str
    by: str


class PathSearch(NamedTuple):
    """The result of a search for chains."""

    rows: list[list[PathStep]]  # the chains
    edges_visited: int  # how many edges were visited
    whole: bool  # False if the search stopped at its limit
    edge_kinds: str  # which kinds of edges were followed, in words


def find_chains(index: Index, begins: Collection[int], ends: Collection[int], limit: int) -> PathSearch:
    """Return the shortest chains in which the beginning runs the end; if there are none, chains in which it may run the
    end because a method is overridden; then chains of any kind of use."""
    looked, whole = 0, True
    overrides = OverridePairs(index.facts.overrides())
    for first_other, pairs, note in (
        (EdgeKind.LOADS, OverridePairs(()), "calls and bridges"),
        (EdgeKind.LOADS, overrides, "calls, overriding methods and bridges"),
        (EdgeKind.MENTIONS, overrides, "calls, overriding methods, imports, types, inheritance and bridges"),
    ):
        search = _Search(index, frozenset(begins), frozenset(ends), first_other, pairs)
        chains = search.chains() if search.meets() else None
        looked, whole = looked + search.edges_visited, whole and search.whole
        if chains is not None:
            rows = [_steps(index, chain) for chain in islice(_sort_chains(index, chains, begins, ends), limit)]
            return PathSearch(rows, looked, whole, note)
    return PathSearch([], looked, whole, note)


class OverridePairs:
    """Which methods override which: a call of a method may run those that override it."""

    def __init__(self, pairs: Iterable[tuple[int, int]]) -> None:
        """`pairs` are overriding methods with what they override."""
        self.above: dict[int, set[int]] = {}
        self.below: dict[int, set[int]] = {}
        for overriding, overridden in pairs:
            self.above.setdefault(overriding, set()).add(overridden)
            self.below.setdefault(overridden, set()).add(overriding)


class _Search:
    """A breadth-first search backwards from the end, and, if that takes long, forwards from the beginning as well.

    Most pairs of names are not connected, and then one of the two sides soon has nothing left to follow.
    """

    def __init__(
        self, index: Index, begins: frozenset[int], ends: frozenset[int], first_other: EdgeKind,
        overrides: OverridePairs,
    ) -> None:  # fmt: skip
        """`first_other` is the first kind of edge that is not followed."""
        self._index, self._first_other, self._overrides = index, first_other, overrides
        self._users = [set(ends)]  # by distance to the end: what leads there
        self._used = [set(begins)]  # by distance from the beginning: what it leads to
        self.edges_visited, self.whole = 0, True

    def meets(self) -> bool:
        """Search until both sides meet; False if they do not."""
        all_users, all_used = set(self._users[0]), set(self._used[0])
        while all_users.isdisjoint(all_used):
            self.whole = self.edges_visited <= MAX_EDGES
            steps = len(self._users) + len(self._used) - 2
            if not self.whole or steps == _MAX_STEPS or not self._users[-1] or not self._used[-1]:
                return False
            if self.edges_visited > _EASY_EDGES and len(self._used[-1]) < len(self._users[-1]):
                self._expand(graph_of_targets(self._index), self._overrides.below, self._used, all_used)
            else:
                self._expand(self._index.graph, self._overrides.above, self._users, all_users)
        return True

    def _expand(
        self, graph: LinkGraph, overrides: dict[int, set[int]], levels: list[set[int]], known: set[int]
    ) -> None:
        met, edges = graph.users_of(levels[-1], self._first_other)
        if overrides:
            met = met.union(*(overrides[identity] for identity in levels[-1] if identity in overrides))
        self.edges_visited += edges
        levels.append(met - known)
        known |= met

    def chains(self) -> _SearchResult:
        """Return the shortest chains: those through the places where both sides met."""
        middle = self._users[-1] & self._used[-1]
        distance = dict.fromkeys(middle, len(self._users) - 1)
        following: dict[int, list[int]] = {}
        targets = middle
        for level in reversed(self._used[:-1]):
            pairs = self._edges(targets, level)
            steps = distance[next(iter(targets))] + 1
            targets = {user for user, _ in pairs}
            distance |= dict.fromkeys(targets, steps)
            _add(following, pairs)
        users = middle
        for steps in reversed(range(len(self._users) - 1)):
            pairs = self._edges(self._users[steps], users)
            users = {target for _, target in pairs}
            distance |= dict.fromkeys(users, steps)
            _add(following, pairs)
        return distance, following

    def _edges(self, targets: set[int], users: set[int]) -> set[tuple[int, int]]:
        """Return the edges from some users to some targets."""
        return {
            (user, target)
            for target in targets
            for user, way in self._index.graph.users(target)
            if way < self._first_other and user in users
        } | {(user, target) for target in targets for user in self._overrides.above.get(target, set()) & users}


def _add(following: dict[int, list[int]], pairs: set[tuple[int, int]]) -> None:
    for user, target in pairs:
        following.setdefault(user, []).append(target)


@shared_until(Aspect.USED_BY, FILE_USES)
def graph_of_targets(index: Index) -> LinkGraph:
    """Return the graph with all edges reversed."""
    return index.graph.reversed()


def _sort_chains(
    index: Index, result: _SearchResult, begins: Collection[int], ends: Collection[int]
) -> Iterator[list[int]]:
    """Yield the shortest chains: through source files first, then by nearness to the end, rank, path and key."""
    distance, following = result
    met = [identity for identity in begins if identity in distance]
    least = min(distance[identity] for identity in met)
    near = {folder for node in ends for folder in parent_folders(index.path_of(node))}

    def key(node: int) -> tuple[bool, int, float, str, str]:
        path = index.path_of(node)
        shared = sum(folder in near for folder in parent_folders(path))
        return index.category_of(path) != Category.SOURCE, -shared, -index.ranks.get(path, 0.0), path, index.keys[node]

    def on(chain: list[int]) -> Iterator[list[int]]:
        if not distance[chain[-1]]:
            yield chain
            return
        for target in sorted(following[chain[-1]], key=key):
            yield from on([*chain, target])

    for begin in sorted((node for node in met if distance[node] == least), key=key):
        yield from on([begin])


def _steps(index: Index, chain: list[int]) -> list[PathStep]:
    known = places(index, chain)
    return [_step(index, known[one], known[other]) for one, other in pairwise(chain)]


def _step(index: Index, source: SymbolPlace, target: SymbolPlace) -> PathStep:
    """Return how the source uses the target, with the line that shows it."""
    table = bridges_of(index)
    row = table.between.get((source.id, target.id))
    if row is not None:
        verb, line = verbs(row.says)[0], table.line(row) or source.line
        return PathStep(source, target, line, f"{verb} ({row.name})", Trust(row.trust).name.lower(), row.by)
    file = index.open_file(source.path)
    ways = [way for user, way in index.graph.users(target.id) if user == source.id]
    overriding = dict(index.facts.overriding(source.id))
    if target.id in overriding and min(ways, default=EdgeKind.INHERITS) >= EdgeKind.INHERITS:
        trust = Trust(overriding[target.id]).name.lower()
        return PathStep(source, target, source.line, "is overridden by", trust, "inheritance")
    how = WAYS[EdgeKind(min(ways))] if ways else "reaches"
    uses = uses_in_file(file, frozenset((target.id,)), Trust.UNIQUE_NAME)
    spots = [(file.position_of(at), claim) for at, claim in uses.items()]
    inside = [(spot, claim) for spot, claim in spots if file.around(spot.scope) == source.place or source.place < 0]
    if not inside and source.place >= 0:  # in a nested function, or in a decorator or base of the symbol
        own = file.defined[source.place]
        inside = [(spot, claim) for spot, claim in spots if own.start_line <= spot.line <= own.end_line]
    for spot, claim in inside[:1]:
        return PathStep(source, target, spot.line, how, claim.trust.name.lower(), claim.by)
    statements = [row for row, at, named in file.imports if import_target(index, at, named) == target.path]
    if target.place < 0 and statements:
        return PathStep(source, target, statements[0].line, how, Trust.EXACT.name.lower(), "import")
    if ways and may_run_on_instances(min(ways), target.key):
        how = "creates an object that may run"
        return PathStep(source, target, source.line, how, Trust.CANDIDATE.name.lower(), "special method")
    return PathStep(source, target, source.line, how, Trust.EXACT.name.lower(), "one contains the other")
