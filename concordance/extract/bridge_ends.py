"""The ends of bridges in one file: what it says to other languages, by the plug-ins in `bridges/`.

In: the draft of a file, with its tree still at hand. Out: `End`s in the order of the text. A plug-in is asked only
where a word that it speaks of stands in the file.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from types import ModuleType
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.model import End, FileFacts, Symbol
from concordance.extract.reading.draft import Draft
from concordance.extract.reading.rule_context import RuleContext

PACKAGE = "concordance.extract.bridges"
# The ends that one plug-in may find in a file: so many in any, and one for so many bytes. A rule of a makefile has as
# many as its targets times its prerequisites; real files stay far below.
_MOST = 5000
_BYTES_PER_END = 32


class BridgeEnd(NamedTuple):
    """What a plug-in has found at a byte offset: of a name that the linker knows, where its last part begins."""

    at: int
    says: str
    name: str
    text: str = ""
    more: tuple[tuple[str, str], ...] = ()


@cache
def _asked(language: str) -> tuple[tuple[str, ModuleType, tuple[bytes, ...]], ...]:
    """The plug-ins for a language, each with its name and its words."""
    modules = [(name, plugins.load(PACKAGE, name)) for name in plugins.names(PACKAGE)]
    return tuple((n, m, m.WORDS) for n, m in modules if not m.LANGUAGES or language in m.LANGUAGES)


def ends(draft: Draft, facts: FileFacts) -> tuple[End, ...]:
    """What all bridges read in a file."""
    source, data = draft.source, draft.source.data
    asked = [(name, module) for name, module, words in _asked(source.language) if any(word in data for word in words)]
    if not asked:
        return ()
    look = RuleContext(draft, facts.imports)
    starts = [symbol.start_line for symbol in facts.symbols]
    found = []
    most = _MOST + len(data) // _BYTES_PER_END
    for name, module in asked:
        for number, said in enumerate(module.ends(look)):
            if number == most:
                raise ValueError(f"{name} would find more than {most:,} in one file")
            line, col = source.position(said.at)
            around = _around(facts.symbols, starts, line)
            found.append((said.at, End(name, said.says, said.name, line, col, around, said.text, said.more)))
    return tuple(end for _, end in sorted(dict.fromkeys(found)))


def _around(symbols: tuple[Symbol, ...], starts: list[int], line: int) -> int:
    """The place of the innermost symbol around a line, -1 for none."""
    place = bisect_right(starts, line) - 1
    while place >= 0 and symbols[place].end_line < line:
        place = symbols[place].parent if symbols[place].parent < place else place - 1
    return place
