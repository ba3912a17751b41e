"""Finds regular expressions that take more than linear time, with texts made from the expression itself.

In: a compiled pattern. Out: texts of a given size that repeat what the pattern consists of: each of its characters,
pairs of them, and beginnings of its matches, repeated or followed by a run of one character. A pattern that can try
every place of a text against all that follows takes quadratic time on one of these.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_CATEGORIES = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "x"}
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


def hostile(pattern: re.Pattern[Any], size: int) -> Iterator[str]:
    """Return texts of a size."""
    chance = random.Random(str(pattern.pattern))
    tree = parser.parse(pattern.pattern, pattern.flags)
    signs = list(dict.fromkeys([*_signs(tree), " ", "\n", "x"]))[:16]
    samples = sorted({_sample(tree, chance, {}) for _ in range(4)} - {""})
    beginnings = [sample[: chance.randint(1, len(sample))] for sample in samples for _ in range(2)]
    pieces = [*signs, *samples, *beginnings, *(chance.choice(signs) + chance.choice(signs) for _ in range(8))]
    pieces += [one + chance.choice(signs) for one in beginnings]
    yield from (piece * (size // len(piece)) for piece in dict.fromkeys(pieces))
    for one in dict.fromkeys(beginnings):
        yield from (one + sign * size + "\x01" for sign in dict.fromkeys((one[-1], " ")))


def _signs(tree: Any) -> Iterator[str]:
    """Return a character of each literal and class in a pattern."""
    for code, value in tree:
        if code is codes.LITERAL:
            yield chr(value)
        elif code is codes.IN:
            yield from filter(None, (_member(one) for one in value))
        else:
            yield from (sign for inner in _inner(code, value) for sign in _signs(inner))


def _inner(code: Any, value: Any) -> list[Any]:
    """Return the subpatterns of a part of a pattern."""
    if code is codes.BRANCH:
        return list(value[1])
    if code is codes.SUBPATTERN:
        return [value[3]]
    if code in _REPEATS:
        return [value[2]]
    if code is codes.ATOMIC_GROUP:
        return [value]
    return [value[1]] if code in (codes.ASSERT, codes.ASSERT_NOT) else []


def _member(one: Any) -> str:
    code, value = one
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.RANGE:
        return chr(value[0])
    return _CATEGORIES.get(str(value), "-") if code is codes.CATEGORY else ""


def _sample(tree: Any, chance: random.Random, groups: dict[int, str]) -> str:
    """Return a text that a pattern approximately matches; look-around is ignored."""
    text = ""
    for code, value in tree:
        if code is codes.LITERAL:
            text += chr(value)
        elif code in (codes.ANY, codes.NOT_LITERAL):
            text += "x"
        elif code is codes.IN:
            text += "x" if value[0][0] is codes.NEGATE else _member(chance.choice(value))
        elif code is codes.GROUPREF:
            text += groups.get(value, "")
        elif code is codes.BRANCH:
            text += _sample(chance.choice(value[1]), chance, groups)
        elif code in _REPEATS:
            times = min(value[0], 20) + (chance.random() < 0.6 if value[1] > value[0] else 0)
            text += "".join(_sample(value[2], chance, groups) for _ in range(times))
        elif code in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
            inner = _sample(value[3] if code is codes.SUBPATTERN else value, chance, groups)
            text += inner
            if code is codes.SUBPATTERN:
                groups[value[0]] = inner
    return text
