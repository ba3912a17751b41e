"""`concord callers`: list what calls a function, method or class."""

from __future__ import annotations

from concordance.base.blocks import count_noun
from concordance.base.model import Trust
from concordance.facts.read import SymbolPlace
from concordance.query.answers import TRUST, Answer, AnswerPage, requested_trust
from concordance.query.index.repository import Index
from concordance.query.names.call_graph import add_constructed_classes, call_row, callers, callers_page
from concordance.query.names.declarations import with_counterparts
from concordance.query.names.display_names import display_name
from concordance.query.names.references import add_unresolved_note
from concordance.query.names.resolver import resolve_symbols
from concordance.query.search.absence import searched

HELP = """List the functions, classes and files that call a name, each once.

`path` and `line` are where the caller is defined; `concord refs` lists the line of each call.

\b
concord callers torch.nn.functional.relu
concord callers Module.register_buffer --trust candidate
"""
ARGUMENT = "NAME"
OPTIONS = (TRUST,)


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per caller."""
    symbols = add_constructed_classes(index, with_counterparts(index, resolve_symbols(index, argument)))
    rows, total, cursor = callers_page(index, symbols, requested_trust(page), page)
    note = add_unresolved_note(index, "" if total else _none(index, symbols[0]), [symbols[0].name], "calls")
    return Answer(
        [call_row(index, call) for call in rows], ("path", "line", "called", "trust", "by"), total, cursor, note
    )


def _none(index: Index, symbol: SymbolPlace) -> str:
    """Return a note on what was searched, and on the overridden methods that may be called instead."""
    parts = [f"no callers of {display_name(index, symbol)}: {searched(index, symbol.language)}"]
    above = index.facts.places(target for target, _ in index.facts.overridden(symbol.id))
    for place in above.values():
        count = len(callers(index, [place], Trust.UNIQUE_NAME))
        parts.append(f"it overrides {display_name(index, place)}, which has {count_noun(count, 'caller')}")
    return "; ".join(parts)
