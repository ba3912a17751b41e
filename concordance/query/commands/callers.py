"""Who calls a function, method or class."""

from __future__ import annotations

from concordance.base.model import Trust
from concordance.facts.read import Place
from concordance.query.answers import TRUST, Answer, AnswerPage, least_of
from concordance.query.index.repository import Index
from concordance.query.names.call_graph import callers, callers_page, row_of, with_classes
from concordance.query.names.declarations import together
from concordance.query.names.public_names import called
from concordance.query.names.references import with_missed
from concordance.query.names.resolver import find

HELP = """Lists the functions, classes and files in which a name is called, each once.

`path` and `line` are where the caller is defined; `concord refs` has the line of each call.

\b
concord callers torch.nn.functional.relu
concord callers Module.register_buffer --trust candidate
"""
ARGUMENT = "NAME"
OPTIONS = (TRUST,)


def answer(index: Index, asked: str, page: AnswerPage) -> Answer:
    """One row a caller."""
    symbols = with_classes(index, together(index, find(index, asked)))
    found, total, cursor = callers_page(index, symbols, least_of(page), page)
    note = with_missed(index, "" if total else _none(index, symbols[0]), [symbols[0].name], "calls")
    return Answer([row_of(index, one) for one in found], ("path", "line", "called", "trust", "by"), total, cursor, note)


def _none(index: Index, symbol: Place) -> str:
    """What was searched, and what may be called in its place."""
    parts = [f"no callers of {called(index, symbol)}: {index.searched(symbol.language)}"]
    above = index.facts.places(target for target, _ in index.facts.overridden(symbol.id))
    for place in above.values():
        count = len(callers(index, [place], Trust.UNIQUE_NAME))
        parts.append(f"it overrides {called(index, place)}, which has {count:,} caller{'s' if count != 1 else ''}")
    return "; ".join(parts)
