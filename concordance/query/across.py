"""What a file says to other languages, and what others say to it: bindings, kernels, scripts that it runs.

In: a file as its pages see it. Out: blocks, none where no bridge begins or ends in it. Operators have pages of their
own, so a file that states or implements many names them and leads there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from concordance.blocks import Block, Heading, Item, Items, Line, Mono, Piece, Ref, Text, To, counted, listed
from concordance.model import Bridge, Trust

from .about import About, ref_of
from .crossings import VERBS, crossings
from .operators import base_of, is_operator

_ONE_BY_ONE = 40  # of what one kind of bridge says; of more, names alone
_OTHERS = 6  # who is on the other side, named one by one


def across(one: About) -> list[Block]:
    """What crosses to or from the file."""
    table = crossings(one.index)
    out, into = table.out_of(one.path), table.into(one.path)
    if not out and not into:
        return []
    found: list[Block] = [Heading(3, ["Across Languages"])]
    for says, rows in _by_word(out).items():
        verb = VERBS.get(says, (says, says))[0]
        found += [Text([f"It {verb}:"]), Items(list(_stated(one, rows)))]
    for says, rows in _by_word(into).items():
        verb = VERBS.get(says, (says, says))[1]
        found += [Text([f"What {verb}:"]), Items(list(_met(one, rows)))]
    return found


def _by_word(rows: Iterable[Bridge]) -> dict[str, list[Bridge]]:
    """Rows by what they say, without guesses where there is better."""
    found: dict[str, list[Bridge]] = {}
    for row in rows:
        found.setdefault(row.says, []).append(row)
    return dict(sorted(found.items()))


def _stated(one: About, rows: list[Bridge]) -> Iterator[Item]:
    """What is stated in this file, name by name in the order of the text; of very many, those of one name together."""
    table = crossings(one.index)
    groups: dict[tuple[str, int], list[Bridge]] = {}
    for row in rows:
        groups.setdefault((_named(one, row), row.end), []).append(row)
    if len(groups) > _ONE_BY_ONE:
        merged: dict[str, list[Bridge]] = {}
        for (name, _), found in groups.items():
            merged.setdefault(name, []).extend(found)
        for name, found in merged.items():
            lines = list(dict.fromkeys(filter(None, (table.line(row) for row in found))))
            yield Item([_name(one, name), " ", *listed([Line(one.path, line) for line in lines])])
        return
    for (name, _), found in sorted(groups.items(), key=lambda group: (table.line(group[1][0]), group[0][0])):
        line = table.line(found[0])
        targets = _targets(one, found)
        told: list[Piece] = [_name(one, name)]
        told += [": ", *targets] if targets else []
        told += [" ", Line(one.path, line)] if line else []
        yield Item(told)


def _targets(one: About, rows: list[Bridge]) -> list[Piece]:
    best = max(row.trust for row in rows)
    found = dict.fromkeys(row.target for row in rows if row.target and row.trust == best)
    refs: list[Piece] = [ref_of(one.index, target) for target in found]
    guess = " (one of these)" if best == Trust.CANDIDATE and len(found) > 1 else ""
    return [*listed(refs, "or" if guess else "and"), guess] if guess else listed(refs)


def _met(one: About, rows: list[Bridge]) -> Iterator[Item]:
    """What leads to each definition of this file."""
    groups: dict[int, list[Bridge]] = {}
    for row in rows:
        groups.setdefault(row.target, []).append(row)
    for target, found in sorted(groups.items()):  # of one file: in the order of the text
        sources = dict.fromkeys(row.source for row in found)
        named = dict.fromkeys(_named(one, row) for row in found)
        refs: list[Piece] = [ref_of(one.index, source) for source in list(sources)[:_OTHERS]]
        left = len(sources) - len(refs)
        refs += [counted(left, "other")] if left > 0 else []
        head: list[Piece] = [ref_of(one.index, target, short=True), ": "]
        names: list[Piece] = [_name(one, name) for name in list(named)[:_OTHERS]]
        more = len(named) - len(names)
        names += [counted(more, "other name")] if more > 0 else []
        yield Item([*head, *listed(names), ", ", *listed(refs)])


def _named(one: About, row: Bridge) -> str:
    """The name of a bridge; of an operator's overload that of the operator, which has a page."""
    base = base_of(row.name) if "::" in row.name else row.name
    return base if base != row.name and is_operator(one.index, base) else row.name


def _name(one: About, name: str) -> Piece:
    return Ref(To.OPERATOR, name, "", name) if "::" in name and is_operator(one.index, name) else Mono(name)
