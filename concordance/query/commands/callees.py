"""`concord callees`: list what a function, method or class calls."""

from __future__ import annotations

from collections import Counter

from concordance.base.blocks import count_noun
from concordance.facts.read import SymbolPlace
from concordance.query.answers import TRUST, Answer, AnswerPage, Row, paginate, requested_trust
from concordance.query.index.repository import Index
from concordance.query.names.call_graph import call_row, callees
from concordance.query.names.display_names import display_name
from concordance.query.names.resolver import resolve_symbols

HELP = """List what the body of a function, method or class calls, each callee once, in source order.

Only callees defined in the repository are listed; other calls are counted.

\b
concord callees torch.nn.functional.relu
concord callees torch/nn/modules/module.py#Module.register_buffer --json
"""
ARGUMENT = "NAME"
OPTIONS = (TRUST,)

_MAX_DEFINITIONS = 20  # definitions of one name whose bodies are searched


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per callee."""
    rows: dict[int, Row] = {}
    unknown: Counter[str] = Counter()
    symbols = [place for place in resolve_symbols(index, argument) if not place.declaration]
    for symbol in symbols[:_MAX_DEFINITIONS]:
        calls, names = callees(index, symbol, requested_trust(page))
        unknown.update(names)
        for call in calls:
            rows.setdefault(call.place.id, call_row(index, call))
    answered = paginate(list(rows.values()), ("path", "line", "called", "trust", "by"), page)
    return answered._replace(note=_note(index, symbols, len(rows), unknown))


def _note(index: Index, symbols: list[SymbolPlace], resolved: int, unknown: Counter[str]) -> str:
    """Return a note on calls that are not listed and definitions that were not searched."""
    parts = []
    if len(symbols) > _MAX_DEFINITIONS:
        parts.append(
            f"searched the first {_MAX_DEFINITIONS} of {len(symbols):,} definitions: qualify the name for the others"
        )
    if unknown:
        most = ", ".join(name for name, _ in unknown.most_common(5))
        count = sum(unknown.values())
        parts.append(f"{count_noun(count, 'call')} without a known definition in the repository: {most}")
    elif not resolved:
        parts.append(
            f"no calls in {', '.join(display_name(index, symbol) for symbol in symbols[:3]) or 'a declaration'}"
        )
    return "; ".join(parts)
