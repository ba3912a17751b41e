"""Pairs the symbols of a file before and after a change, and says in what each pair differs.

In: the comparable symbols of both sides. Out: pairs, and symbols that are on one side only. Names decide. Several
symbols of one name (overloads, branches of a condition, a property's setter) are paired by signature and text, then by
signature, then by condition, and the rest in the order of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

from concordance.query.diff.symbols import VALUES, ComparableSymbol, bare_signature


class ChangedSymbol(NamedTuple):
    """A symbol that is on both sides, and in what it differs: "signature", "value", "doc", "body".

    `what` is empty for a pair that only moved or was renamed.
    """

    before: ComparableSymbol
    after: ComparableSymbol
    what: tuple[str, ...]


class PairedSymbols(NamedTuple):
    """The symbols of both sides, in pairs as far as they match."""

    pairs: list[tuple[ComparableSymbol, ComparableSymbol]]
    removed: list[ComparableSymbol]
    added: list[ComparableSymbol]


def pair_symbols(
    before: Sequence[ComparableSymbol], after: Sequence[ComparableSymbol], roots: tuple[int, int] = (-1, -1)
) -> PairedSymbols:
    """Pair the symbols inside of two corresponding symbols; (-1, -1): of two files."""
    old, new = _by_parent(before), _by_parent(after)
    pairs: list[tuple[ComparableSymbol, ComparableSymbol]] = []
    waiting = [roots]
    while waiting:
        one, other = waiting.pop()
        theirs = _by_name(new.get(other, ()))
        for name, mine in _by_name(old.get(one, ())).items():
            for pair in _pair_namesakes(mine, theirs.get(name, [])):
                pairs.append(pair)
                waiting.append((pair[0].place, pair[1].place))
    gone, come = {pair[0].place for pair in pairs}, {pair[1].place for pair in pairs}
    inside = [_descendants(side, root) for side, root in zip((before, after), roots, strict=True)]
    return PairedSymbols(
        pairs,
        [symbol for symbol in inside[0] if symbol.place not in gone],
        [symbol for symbol in inside[1] if symbol.place not in come],
    )


def _descendants(side: Sequence[ComparableSymbol], root: int) -> list[ComparableSymbol]:
    """Return everything inside of a symbol, at any depth; parents come before their members."""
    if root < 0:
        return list(side)
    within = {root}
    parts = []
    for part in side:
        if part.parent in within:
            within.add(part.place)
            parts.append(part)
    return parts


def _by_parent(side: Iterable[ComparableSymbol]) -> dict[int, list[ComparableSymbol]]:
    parts: dict[int, list[ComparableSymbol]] = {}
    for part in side:
        parts.setdefault(part.parent, []).append(part)
    return parts


def _by_name(side: Iterable[ComparableSymbol]) -> dict[str, list[ComparableSymbol]]:
    parts: dict[str, list[ComparableSymbol]] = {}
    for part in side:
        parts.setdefault(part.relative, []).append(part)
    return parts


def _signature_and_text(part: ComparableSymbol) -> Hashable:
    return bare_signature(part.signature), part.own


def _bare_signature(part: ComparableSymbol) -> Hashable:
    return bare_signature(part.signature)


def _condition(part: ComparableSymbol) -> Hashable:
    return part.condition, part.kind, part.declaration


def _kind(part: ComparableSymbol) -> Hashable:
    return part.kind, part.declaration


_ROUNDS: tuple[Callable[[ComparableSymbol], Hashable], ...] = (_signature_and_text, _bare_signature, _condition, _kind)


def _pair_namesakes(
    before: list[ComparableSymbol], after: list[ComparableSymbol]
) -> list[tuple[ComparableSymbol, ComparableSymbol]]:
    """Pair symbols of the same name."""
    if len(before) == len(after) == 1:
        return [(before[0], after[0])]
    pairs = []
    for sort in _ROUNDS:
        left: dict[Hashable, list[ComparableSymbol]] = {}
        for part in after:
            left.setdefault(sort(part), []).append(part)
        rest = []
        for part in before:
            partners = left.get(sort(part))
            if partners:
                pairs.append((part, partners.pop(0)))
            else:
                rest.append(part)
        taken = {pair[1].place for pair in pairs}
        before, after = rest, [part for part in after if part.place not in taken]
    return pairs


def differing_aspects(before: ComparableSymbol, after: ComparableSymbol) -> tuple[str, ...]:
    """Return in what two corresponding symbols differ, apart from their names and places."""
    what = []
    signatures = [_unnamed(part, before, after) for part in (before, after)]
    is_value = before.kind in VALUES and after.kind in VALUES
    if signatures[0] != signatures[1] or before.kind != after.kind:
        what.append("value" if is_value else "signature")
    if before.doc.split() != after.doc.split():
        what.append("doc")
    if before.own != after.own and "value" not in what:
        what.append("value" if is_value else "body")
    return tuple(what)


def _unnamed(part: ComparableSymbol, before: ComparableSymbol, after: ComparableSymbol) -> str:
    """Return a signature for comparison; without the symbol's name if the names differ."""
    signature = part.signature
    if before.name != after.name:
        signature = re.sub(rf"(?<!\w){re.escape(part.name)}(?!\w)", "\0", signature, count=1)
    return bare_signature(signature)
