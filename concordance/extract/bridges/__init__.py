"""Bridge plug-ins: one file per bridge finds the places where a file refers to another language.

In: the draft of a file, with its syntax tree still available. Out: `End`s in the order of the text. A plug-in runs only
if one of the words that it looks for occurs in the file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from types import ModuleType
from typing import NamedTuple, Protocol

from concordance.base import plugins
from concordance.base.model import End, Symbol
from concordance.extract.reading.rule_context import RuleContext

PACKAGE = "concordance.extract.bridges"
# The most ends that one plug-in may find in a file: a fixed number, and more in a larger file. A makefile rule yields
# its targets times its prerequisites, which can explode; real files stay far below the limit.
_MAX_ENDS = 5000
_BYTES_PER_END = 32


class BridgeEnd(NamedTuple):
    """What a plug-in found, and at which byte offset; for a name known to the linker, that of its last part."""

    at: int
    says: str
    name: str
    text: str = ""
    more: tuple[tuple[str, str], ...] = ()


class BridgeReader(Protocol):
    """Reads one file's ends of a bridge. What the ends mean is found in `link/bridges`, by the plug-in of that name."""

    @property
    def LANGUAGES(self) -> Collection[str]:
        """The languages that it reads; empty for all."""

    @property
    def WORDS(self) -> Sequence[bytes]:
        """A file that has none of these is not read."""

    def ends(self, context: RuleContext) -> Iterable[BridgeEnd]:
        """Yield what the file states."""


PROTOCOL = BridgeReader


@cache
def _plugins_for(language: str) -> tuple[tuple[str, ModuleType, tuple[bytes, ...]], ...]:
    """Return the plug-ins for a language, each with its name and the words it looks for."""
    modules = [(name, plugins.load(PACKAGE, name)) for name in plugins.names(PACKAGE)]
    return tuple((n, m, m.WORDS) for n, m in modules if not m.LANGUAGES or language in m.LANGUAGES)


def find_bridge_ends(context: RuleContext) -> tuple[End, ...]:
    """Return the ends that all bridges find in a file."""
    source, data, facts = context.source, context.data, context.facts
    asked = [
        (name, module) for name, module, words in _plugins_for(source.language) if any(word in data for word in words)
    ]
    if not asked:
        return ()
    starts = [symbol.start_line for symbol in facts.symbols]
    ends = []
    most = _MAX_ENDS + len(data) // _BYTES_PER_END
    for name, module in asked:
        for number, bridge_end in enumerate(module.ends(context)):
            if number == most:
                raise ValueError(f"{name} found more than {most:,} in one file")
            line, col = source.position(bridge_end.at)
            around = _innermost_symbol(facts.symbols, starts, line)
            ends.append(
                (
                    bridge_end.at,
                    End(name, bridge_end.says, bridge_end.name, line, col, around, bridge_end.text, bridge_end.more),
                )
            )
    return tuple(end for _, end in sorted(dict.fromkeys(ends)))


def _innermost_symbol(symbols: tuple[Symbol, ...], starts: list[int], line: int) -> int:
    """Return the index of the innermost symbol around a line, -1 if there is none."""
    place = bisect_right(starts, line) - 1
    while place >= 0 and symbols[place].end_line < line:
        place = symbols[place].parent if symbols[place].parent < place else place - 1
    return place
