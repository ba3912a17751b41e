"""`concord keywords`: list the keywords of a file, or of the whole repository.

A file's keywords are what it defines, what it imports, the names it mentions, and the words and phrases that
distinguish it. The repository's are all definitions, from A to Z.
"""

from __future__ import annotations

import os
from collections import Counter
from urllib.parse import quote, unquote, unquote_to_bytes

from concordance.base.model import ROLES, FileFacts, Role
from concordance.facts.read import Facts, SymbolPlace
from concordance.facts.updates.delta import round_to_power
from concordance.query.answers import Answer, AnswerPage, Row, WrongCursor, paginate
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index
from concordance.query.names.environment_variables import variable_kind, variable_places
from concordance.query.names.file_keywords import (
    ANALYSIS,
    DEPENDENCIES,
    PURPOSE,
    SOURCE,
    TextWords,
    concepts,
    mentioned_names,
    with_long_form,
)

HELP = """List the keywords of a file (what it defines, imports and mentions), or of the whole repository.

`uses` counts the other occurrences of the keyword in the same file; it is null in the list of the whole repository.

\b
concord keywords torch/distributed/fsdp/api.py
concord keywords --limit 50
"""
ARGUMENT = "[PATH]"

_COLUMNS = ("path", "line", "keyword", "kind", "uses", "section")


def answer(index: Index, argument: str | None, page: AnswerPage) -> Answer:
    """Return definitions in source order, then imports, names that are only mentioned, environment variables, and
    concepts, best first; each with the section of the file's page that contains it."""
    facts = index.facts
    if argument is None:
        return _of_repository(facts, page)
    file = index.file(argument)
    keywords = facts.of(file.path)
    rows = _definitions(file.path, keywords) + _imports(file.path, keywords)
    rows += [
        _row(row.name, "name", file.path, row.line, row.times, SOURCE)
        for row in mentioned_names(keywords, index.census.has_code_symbol)
    ]
    rows += _variables(index, file.path)
    return paginate(rows + _concepts(facts, file.path, keywords), _COLUMNS, page)


def _row(keyword: str, kind: str, path: str, line: int, uses: int | None, section: str | None) -> Row:
    return {"keyword": keyword, "kind": kind, "path": path, "line": line, "uses": uses, "section": section}


def _uses(extracted: FileFacts, *besides: Role) -> Counter[str]:
    """Count how often each name occurs in the file in roles other than the given ones."""
    names, left_out = extracted.occurrences.names, [ROLES.index(role) for role in besides]
    return Counter(names[name] for name, role in extracted.occurrences.names_and_roles() if role not in left_out)


def _definitions(path: str, extracted: FileFacts) -> list[Row]:
    uses = _uses(extracted, Role.DEFINE, Role.DECLARE)
    return [_row(s.name, s.kind, path, s.line, uses[s.name], ANALYSIS) for s in extracted.symbols]


def _imports(path: str, extracted: FileFacts) -> list[Row]:
    lines: dict[str, int] = {}
    for imported in extracted.imports:
        lines.setdefault(imported.module, imported.line)
        if imported.name and imported.name != "*":
            lines.setdefault(imported.name, imported.line)
    uses = _uses(extracted, Role.IMPORT)
    return [_row(name, "import", path, line, uses[name], DEPENDENCIES) for name, line in lines.items()]


def _variables(index: Index, path: str) -> list[Row]:
    """Return the environment variables and build options in a file, each with the line of its first occurrence."""
    ends, variables = index.open_file(path).ends, dict[str, list[int]]()
    for row in bridges_of(index).out_of(path):
        if row.bridge == "environment" and 0 <= row.end < len(ends):
            variables.setdefault(row.name, []).append(ends[row.end].line)
    return [
        _row(name, variable_kind(variable_places(index, name)), path, min(lines), len(lines) - 1, SOURCE)
        for name, lines in sorted(variables.items(), key=lambda pair: (min(pair[1]), pair[0]))
    ]


def _concepts(facts: Facts, path: str, extracted: FileFacts) -> list[Row]:
    spread = {
        text: round_to_power(files) for text, files in facts.files_with(term.text for term in extracted.terms).items()
    }
    purpose = TextWords(extracted.doc)
    return [
        _row(with_long_form(t), t.kind, path, t.line, t.times, PURPOSE if purpose.has(t.text) else SOURCE)
        for t in concepts(extracted.terms, spread, round_to_power(facts.read_count()))
    ]


def _of_repository(facts: Facts, page: AnswerPage) -> Answer:
    after = _from_cursor(page.cursor) if page.cursor else ("", "", -1)
    symbols = facts.symbols(after, page.limit + 1)
    shown = symbols[: page.limit]
    rows = [_row(p.name, p.kind, p.path, p.line, None, ANALYSIS) for p in shown]
    behind = _cursor(shown[-1]) if len(symbols) > len(shown) else ""
    return Answer(rows, ("path", "line", "keyword", "kind"), facts.symbol_count(), behind)


def _cursor(last: SymbolPlace) -> str:
    """Encode the last row of a page as a cursor that can be typed."""
    return ",".join((quote(last.name), quote(os.fsencode(last.path)), str(last.place)))


def _from_cursor(cursor: str) -> tuple[str, str, int]:
    parts = cursor.split(",")
    if len(parts) != 3 or not (parts[2].isascii() and parts[2].isdecimal() and len(parts[2]) < 19):
        raise WrongCursor(cursor)
    return unquote(parts[0]), os.fsdecode(unquote_to_bytes(parts[1])), int(parts[2])
