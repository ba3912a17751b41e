"""`concord refs`: list where a name is used."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Trust
from concordance.extract.registry import language_of
from concordance.facts.read import SymbolPlace
from concordance.query.answers import TRUST, Answer, AnswerPage, Row, full_name, page_start, paginate, requested_trust
from concordance.query.index.open_file import LinkedTarget
from concordance.query.index.repository import Index
from concordance.query.names.at_position import Resolution, ResolvedQuestion
from concordance.query.names.declarations import with_counterparts
from concordance.query.names.display_names import display_name
from concordance.query.names.environment_variables import use_rows
from concordance.query.names.references import Reference, add_unresolved_note, uses_of
from concordance.query.names.resolver import UnknownName, resolve_question
from concordance.query.search.absence import searched

HELP = """List where a name is used: the defining file first, source before tests, files with most uses first.

Imports count as uses, the definition itself does not. `scope` is the function or class that contains the use.

\b
concord refs torch.nn.Module
concord refs torch/nn/modules/linear.py:9:21 --limit 20
concord refs Module.forward --trust candidate --json
"""
ARGUMENT = "PATH:LINE:COL or NAME"
OPTIONS = (TRUST,)

_MAX_NAMES = 3  # of one language, in a note
_COLUMNS = ("path", "line", "col", "role", "scope", "text", "trust", "by")


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per use: first the uses of symbols, then those of an environment variable of the same name."""
    variable = use_rows(index, argument, requested_trust(page))
    try:
        resolved = resolve_question(index, argument)
    except UnknownName:
        if not variable:
            raise
        return paginate(variable, _COLUMNS, page)
    if not resolved.resolutions:
        return Answer([], _COLUMNS, 0, note=resolved.note)
    if resolved.resolutions[0].scope >= 0:
        return _local_uses(index, resolved.resolutions[0], page)
    if not variable:
        return _symbol_uses(index, resolved, page)
    return _symbol_and_variable_uses(index, resolved, variable, page)


def _symbol_and_variable_uses(
    index: Index, question: ResolvedQuestion, variable: list[Row], page: AnswerPage
) -> Answer:
    """Return the uses of symbols, then those of a variable. Cursors among the latter begin with "v"."""
    if page.cursor.startswith("v"):
        behind = paginate(variable, _COLUMNS, page._replace(cursor=page.cursor[1:]))
        first = _symbol_uses(index, question, page._replace(cursor="", limit=1))
        return behind._replace(total=first.total + len(variable), cursor=behind.cursor and f"v{behind.cursor}")
    first = _symbol_uses(index, question, page)
    total, room = first.total + len(variable), page.limit - len(first.rows)
    if first.cursor:
        return first._replace(total=total)
    cursor = f"v{room}" if room < len(variable) else ""
    note = first.note if first.total else ""
    return first._replace(rows=[*first.rows, *variable[:room]], total=total, cursor=cursor, note=note)


def _symbol_uses(index: Index, question: ResolvedQuestion, page: AnswerPage) -> Answer:
    symbols = with_counterparts(index, [resolution.place for resolution in question.resolutions if resolution.best])
    uses = uses_of(index, symbols, requested_trust(page), page)
    first = symbols[0]
    note = "" if uses.total else f"no uses of {display_name(index, first)}: {searched(index, first.language)}"
    note = "; ".join(filter(None, (_languages_note(index, symbols), note)))
    note = add_unresolved_note(index, note, [first.name], "uses")
    return Answer(list(_rows(index, uses.rows)), _COLUMNS, uses.total, uses.cursor, note)


def _languages_note(index: Index, symbols: list[SymbolPlace]) -> str:
    """Say which definitions are meant if they are of several languages."""
    names: dict[str, dict[str, None]] = {}
    for symbol in symbols:
        names.setdefault(language_of(symbol.language).title, {}).setdefault(
            display_name(index, symbol) or full_name(symbol)
        )
    if len(names) < 2:
        return ""
    parts = []
    for language, of in names.items():
        more = f" and {len(of) - _MAX_NAMES:,} more" if len(of) > _MAX_NAMES else ""
        parts.append(f"{language} ({', '.join(list(of)[:_MAX_NAMES])}{more})")
    return f"uses of the definitions in {', '.join(parts)}; for one of them, give its full name or PATH:LINE:COL"


def _local_uses(index: Index, resolution: Resolution, page: AnswerPage) -> Answer:
    """Return the other occurrences of a local variable in its scope."""
    file = index.open_file(resolution.place.path)
    claim = LinkedTarget(0, Trust.EXACT, "scope")
    uses = [Reference(file, place, claim) for place in file.bound_in(resolution.scope, resolution.place.name)]
    uses = [use for use in uses if file.position_of(use.place)[:2] != (resolution.place.line, resolution.place.col)]
    start = page_start(page, len(uses))
    end = start + page.limit
    return Answer(list(_rows(index, uses[start:end])), _COLUMNS, len(uses), str(end) if end < len(uses) else "")


def _rows(index: Index, uses: list[Reference]) -> Iterator[Row]:
    scopes: dict[tuple[str, int], int] = {}  # by file and scope: the id of the enclosing symbol
    rows = [use.file.position_of(use.place) for use in uses]
    for use, row in zip(uses, rows, strict=True):
        if (use.file.path, row.scope) not in scopes:
            scopes[use.file.path, row.scope] = use.file.ids.id_at(use.file.around(row.scope))
    around = index.facts.places(identity for identity in scopes.values() if not index.path_of_file(identity))
    for use, row in zip(uses, rows, strict=True):
        symbol = around.get(scopes[use.file.path, row.scope])
        yield {
            "path": use.file.path,
            "line": row.line,
            "col": row.col,
            "role": str(row.role),
            "trust": use.claim.trust.name.lower(),
            "by": use.claim.by,
            "scope": full_name(symbol) if symbol is not None else None,
            "text": use.file.line(row.line),
        }
