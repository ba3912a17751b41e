"""What pytest fills in by name: which parameters a test asks for, and which function offers them.

In: a file's symbols. Out: of each test and fixture the names that it asks for (its parameters in their order, then
those of `usefixtures`) and what its decorators hand to it (`parametrize`), and of each fixture the name that it is
asked for by; "*" where it comes unasked.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from concordance.base.model import Given, Kind, Op, Symbol
from concordance.extract.flow import Weave

_FIXTURE = re.compile(r"(?:^|[.\w])fixture\b")
_NAME = re.compile(r"""\bname\s*=\s*["'](\w+)["']""")
_AUTOUSE = re.compile(r"\bautouse\s*=\s*True\b")
_USED = re.compile(r"""["'](\w+)["']""")
_FUNCTIONS = (Kind.FUNCTION, Kind.METHOD)


def say(woven: Weave) -> None:
    """Notes it in a file's flow."""
    for place, symbol in enumerate(woven.symbols):
        if symbol.kind not in _FUNCTIONS:
            continue
        made = _made(symbol)
        if made is None and not symbol.name.startswith("test"):
            continue
        for name in (*(parameter.name for parameter in symbol.parameters), *_used(symbol)):
            woven.say(place, Given.ASKS, woven.expression(Op.LITERAL, woven.word(name)))
        if made is not None:
            named = _NAME.search(made)
            offered = (named.group(1) if named else symbol.name, *("*" for _ in _AUTOUSE.findall(made)))
            for name in offered:
                woven.say(place, Given.OFFERS, woven.expression(Op.LITERAL, woven.word(name)))


def hand(woven: Weave, symbol: int, start: int, end: int) -> None:
    """Notes the names inside of a test's or fixture's decorator."""
    row = woven.symbols[symbol]
    if row.kind in _FUNCTIONS and (row.name.startswith("test") or _made(row) is not None):
        starts = woven.names.starts
        for place in range(bisect_left(starts, start), bisect_left(starts, end)):
            woven.say(symbol, Given.HANDS, woven.use[place])


def _made(symbol: Symbol) -> str | None:
    """The decorator that makes a function a fixture."""
    return next((one for one in symbol.modifiers if _FIXTURE.search(one.partition("(")[0])), None)


def _used(symbol: Symbol) -> list[str]:
    """The fixtures that a decorator asks for."""
    return [name for one in symbol.modifiers if "usefixtures(" in one for name in _USED.findall(one)]
