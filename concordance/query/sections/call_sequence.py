"""The way through a file that orchestrates others: the calls of its main function, in the order of the text.

In: the model of a file and its most central definition. Out: the function, and what it calls, each once. A file has
such a function if one of its functions calls several others of the repository, some of them in the same file: `main`
and the like, or else the central definition or a method of it that has a tenth of the lines; of several, the one that
other files use most.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from concordance.base.model import EXECUTABLE_KINDS, ROLES, TYPE_KINDS, Category, Kind, Role
from concordance.query.answers import split_key
from concordance.query.index.file_model import CALL, FileModel
from concordance.query.index.graphs.ancestors import ancestors_of
from concordance.query.sections.central_definitions import is_private

_MIN_STEPS = 5  # fewer are a helper, not a way through the file
_MIN_SHARE = 10  # a function with less than this share of the lines (one in N) does not lead through the file
_ENTRIES = frozenset(("main", "run", "handle", "cli", "execute"))
_CALL = ROLES.index(Role.CALL)
_STEP_KINDS = frozenset((*EXECUTABLE_KINDS, *TYPE_KINDS)) - {Kind.MACRO}


class CallSequence(NamedTuple):
    """A function and the ids of what it calls, in the order of the text."""

    place: int
    steps: list[int]


def call_sequence(model: FileModel, centre: int) -> CallSequence | None:
    """Return the calls of the function that leads through a file; None if no function does.

    `centre` is the place of its most central definition.
    """
    if model.file.category == Category.TEST or not model.opened.uses:
        return None
    rows = []
    for place, symbol in enumerate(model.symbols):
        if symbol.kind in (Kind.FUNCTION, Kind.METHOD) and not symbol.declaration and _may_lead(model, place, centre):
            called = [
                use.id
                for use in model.uses.get(place, {}).values()
                if use.roles & CALL and _is_step(model, place, use.id)
            ]
            own = sum(model.is_own(target) for target in called)
            is_entry = symbol.name in _ENTRIES
            if (len(called) >= _MIN_STEPS and own > 2) or (is_entry and len(called) > 2 and own):
                others = sum(not model.is_own(use.id) for use in model.users.get(place, ()))
                rows.append((not is_entry, -others, -own, -len(called), place))
    if not rows:
        return None
    place = min(rows)[-1]
    steps = _calls_in_order(model, place)
    return CallSequence(place, steps) if len(steps) > 2 else None


def _may_lead(model: FileModel, place: int, centre: int) -> bool:
    """True for a function that readers may start with: an entry, or the central definition or a method of it."""
    symbol = model.symbols[place]
    if symbol.name in _ENTRIES:
        return True
    if symbol.name.startswith("_") or symbol.key.split(".")[-2:-1] == [symbol.name] or is_private(model, place):
        return False
    is_large = _MIN_SHARE * (symbol.end_line - symbol.start_line + 1) >= model.file.lines
    return is_large and centre in (place, symbol.parent)


def _is_step(model: FileModel, place: int, target: int) -> bool:
    """True if a call is a step on the way: of a function or class, not of itself, and not only to raise an error."""
    key = model.index.key_of(target)
    if not key or target == model.ids.id_at(place):
        return False
    kind = model.index.kind_of(target)
    return kind in _STEP_KINDS and split_key(key)[-1] != "_" and not (kind in TYPE_KINDS and _is_error(model, target))


def _is_error(model: FileModel, target: int) -> bool:
    """True for the class of an error: it or a class that it inherits from is called so."""
    classes = [target, *(ancestor.id for ancestor in ancestors_of(model.index, target))]
    names = (split_key(model.index.key_of(one))[-1] for one in classes)
    return any(name.endswith(("Error", "Exception", "Warning")) for name in names)


def _calls_in_order(model: FileModel, place: int) -> list[int]:
    """Return what a function calls, each once, in the order of the text."""
    symbol, opened = model.symbols[place], model.opened
    offsets, starts = opened.columns[0], opened.starts
    first = bisect_left(offsets, starts[symbol.start_line - 1])
    last = bisect_left(offsets, starts[min(symbol.end_line, len(starts) - 1)])
    calls: dict[int, None] = {}
    for number in range(first, last):
        if opened.roles[number] == _CALL:
            target = model.best_targets.get(opened.expression(number))
            if target is not None and _is_step(model, place, target[0]):
                calls.setdefault(target[0])
    return list(calls)
