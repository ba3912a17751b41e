"""Callers and callees of symbols.

In: symbols. Out: the symbols at the other end of each call, each once, with the trust of the link. A call belongs to
the innermost function, class or file that contains it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from concordance.base.model import Op, Role, Trust, role_bit, unpack_column
from concordance.extract.registry import language_of
from concordance.facts.read import SymbolPlace
from concordance.query.answers import AnswerPage, Row, category_rank, full_name, name_of, page_start, split_key
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.open_file import LinkedTarget, OpenFile
from concordance.query.index.repository import Index
from concordance.query.names.display_names import display_name

_MAX_SYMBOLS = 32  # symbols with one name above which classes are not looked up
_CALL = role_bit(Role.CALL)


class CallEnd(NamedTuple):
    """The symbol at the other end of a call, and the claim that it is called."""

    place: SymbolPlace
    claim: LinkedTarget


def add_constructed_classes(index: Index, symbols: Collection[SymbolPlace]) -> list[SymbolPlace]:
    """Add the class of each constructor such as `__init__`, because calling the class calls it."""
    classes = list(symbols)
    for symbol in symbols if len(symbols) < _MAX_SYMBOLS else ():
        if symbol.name == language_of(symbol.language).constructor:
            classes += [
                place
                for place in index.facts.symbols_in(symbol.path)
                if split_key(symbol.parent_key) == split_key(place.key)
            ]
    return classes


def callers(index: Index, symbols: Collection[SymbolPlace], least: int) -> list[int]:
    """Return the ids of all callers of the given symbols: same files first, then source before tests."""
    own = {symbol.path for symbol in symbols}
    users = dict.fromkeys(
        user
        for user, roles, trust, _ in index.facts.uses(symbol.id for symbol in symbols)
        if trust >= least and (roles & _CALL or not least)
    )
    if least != Trust.UNIQUE_NAME:  # the store merges a pair's roles, whatever the trust of each use
        users = dict.fromkeys(_claims(index, users, frozenset(symbol.id for symbol in symbols), least))
    users |= dict.fromkeys(_across_bridges(index, [symbol.id for symbol in symbols], least))
    order: dict[str, tuple[bool, int, str]] = {}

    def key(user: int) -> tuple[bool, int, str, int]:
        path = index.path_of(user)
        if path not in order:
            order[path] = (path not in own, category_rank(index.category_of(path)), path)
        return (*order[path], user)

    return sorted(users, key=key)


def _across_bridges(index: Index, targets: Iterable[int], least: int) -> dict[int, LinkedTarget]:
    """Return the callers of the given targets from other languages, with the bridge as the claim."""
    table, bridged = bridges_of(index), dict[int, LinkedTarget]()
    for row in (row for target in targets for row in table.runs_into(target)):
        had = bridged.get(row.source)
        if row.trust >= least and (had is None or had.trust < row.trust):
            bridged[row.source] = LinkedTarget(row.target, Trust(row.trust), f"{row.name}: {row.by}")
    return bridged


def _claims(index: Index, users: Iterable[int], targets: frozenset[int], least: int) -> dict[int, LinkedTarget]:
    """Return the best claim by which each of the given users calls one of the targets."""
    by_path: dict[str, list[int]] = {}
    for user in users:
        by_path.setdefault(index.path_of(user), []).append(user)
    best: dict[int, LinkedTarget] = {}
    for path, inside in by_path.items():
        file = index.open_file(path)
        claims = file.expressions_linked_to(targets, least)
        claimed = {claim[1:] for claim in claims.values()}
        if len(claimed) == 1 and least == Trust.UNIQUE_NAME:  # the store knows that they call, and all claims agree
            best.update(dict.fromkeys(inside, next(iter(claims.values()))))
            continue
        wanted = {file.ids.place_of(user) + 1 for user in inside}
        for caller, used in file.calls:
            if caller in wanted and used in claims:
                user = file.ids.id_at(caller - 1)
                if user not in best or best[user].trust < claims[used].trust:
                    best[user] = claims[used]
    return best


def callers_page(
    index: Index, symbols: Collection[SymbolPlace], least: int, page: AnswerPage
) -> tuple[list[CallEnd], int, str]:
    """Return one page of callers, their total number, and the cursor of the next page."""
    all_callers = callers(index, symbols, least)
    start = page_start(page, len(all_callers))
    end = start + page.limit
    shown = all_callers[start:end]
    places = index.facts.places(shown)
    targets = frozenset(symbol.id for symbol in symbols)
    claims = {**_across_bridges(index, targets, least), **_claims(index, shown, targets, least)}
    rows = [CallEnd(places[user], claims[user]) for user in shown if user in places and user in claims]
    return rows, len(all_callers), str(end) if end < len(all_callers) else ""


def callees(index: Index, symbol: SymbolPlace, least: int) -> tuple[list[CallEnd], list[str]]:
    """Return what a symbol's body calls, in the order of the text, and the names of calls that were not resolved."""
    file = index.open_file(symbol.path)
    inside = {symbol.place + 1, *(place + 1 for place in file.below(symbol.place))}
    best: dict[int, LinkedTarget] = {}
    open_: list[str] = []
    for user, used in file.calls:
        if user in inside or symbol.place < 0:
            claims = [claim for claim in file.linked_targets(used) if claim.trust >= least]
            for claim in claims:
                if claim.target not in best or best[claim.target].trust < claim.trust:
                    best[claim.target] = claim
            if not claims:
                open_.append(_name(file, used))
    for user in inside:
        for row in bridges_of(index).runs_from(file.ids.id_at(user - 1)):
            if row.trust >= least and row.target not in best:
                best[row.target] = LinkedTarget(row.target, Trust(row.trust), f"{row.name}: {row.by}")
    places = index.facts.places(best)
    return [CallEnd(places[target], claim) for target, claim in best.items() if target in places], open_


def _name(file: OpenFile, expression: int) -> str:
    flow = file.flow
    op, left, right = flow.op[expression], unpack_column(flow.left)[expression], unpack_column(flow.right)[expression]
    if op == Op.CALL:  # in some languages, a name and its call are one expression
        return _name(file, left)
    if op == Op.MEMBER:
        return flow.names[right]
    if op == Op.LOOKUP:
        return flow.names[left]
    return flow.names[unpack_column(flow.variable_name)[left]] if op == Op.NAME else ""


def call_row(index: Index, call: CallEnd) -> Row:
    """Return one end of a call as a row."""
    return {
        "path": call.place.path,
        "line": call.place.line,
        "name": name_of(call.place),
        "qualified": full_name(call.place),
        "trust": call.claim.trust.name.lower(),
        "by": call.claim.by,
        "called": display_name(index, call.place),
    }
