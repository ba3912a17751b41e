"""Reads literate cases (`tests/cases/README.md`): Markdown with fenced files and expectations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from concordance.base.model import FileFacts, Symbol
from concordance.extract.engine import extract

HOME = Path(__file__).parents[1] / "cases"
_FENCE = re.compile(r"^(`{3,}|~{3,})[ \t]*(\S*)[ \t]*(.*?)[ \t]*\n(.*?)^\1[ \t]*$", re.M | re.S)
_CARETS = re.compile(r"^[ \t]*(?:#|//|--|;|%|\.\.|<!--|/\*|rem)?[ \t]*(\^+)[ \t]+(.*?)(?:[ \t]*(?:-->|\*/))?$")
_LISTS = ("symbols", "imports", "errors", "docs", "details", "parts", "terms", "bridges")
_PARAMETER_SEPARATOR = ", "


@dataclass
class Example:
    """One fenced file with its expectations."""

    language: str
    name: str
    text: str
    pointed: list[tuple[int, int, str]] = field(default_factory=list)  # line, column, expectation
    lists: dict[str, list[str]] = field(default_factory=dict)


def examples(case: Path) -> list[Example]:
    """Return the files of a case."""
    found: list[Example] = []
    for _, info, name, body in _FENCE.findall(case.read_text()):
        if info in _LISTS:
            found[-1].lists[info] = [line.strip() for line in body.splitlines() if line.strip()]
        else:
            found.append(_example(info, name, body))
    return found


def _example(language: str, name: str, body: str) -> Example:
    example = Example(language, name, "")
    kept: list[str] = []
    for line in body.splitlines(keepends=True):
        match = _CARETS.match(line.rstrip("\r\n"))
        if match:
            column = _under(kept[-1], line.index("^"), line)
            example.pointed += [(len(kept), column, part.strip()) for part in match[2].split(";")]
        else:
            kept.append(line)
    example.text = "".join(kept)
    return example


def _under(code: str, at: int, line: str) -> int:
    """Return the column of the code above a caret; either line may contain tabs."""
    wanted = len(line[:at].expandtabs(4))
    return next((n + 1 for n in range(len(code)) if len(code[:n].expandtabs(4)) == wanted), 0)


def qualified(symbol: Symbol) -> str:
    """Return a symbol's name with those of the symbols around it."""
    return ".".join(unquote(part.partition("+")[0]) for part in symbol.key.split("."))


def problems(example: Example) -> list[str]:
    """Return the differences between the facts and the expectations."""
    facts = extract(example.text, example.language)
    wrong = [f"reader: {f.message}" for f in facts.findings if f.by == "reader"]
    for line, column, expected in example.pointed:
        seen = _at(facts, line, column)
        if expected not in seen:
            wrong.append(f"{example.name}:{line}:{column}: expected `{expected}`, found {sorted(seen)}")
    for what, expected_lines in example.lists.items():
        wrong += _compare(example.name, what, facts, expected_lines)
    return wrong


def _at(facts: FileFacts, line: int, column: int) -> set[str]:
    """Return all descriptions that fit the position."""
    seen = set()
    for s in facts.symbols:
        if s.line == line and s.col == column:
            seen.add(f"{'declare ' if s.declaration else ''}{s.kind} {qualified(s)}")
    for o in facts.occurrences.rows():
        if o.line == line and o.col == column:
            seen |= {o.role.value, f"{o.role.value} -> {_scope(facts, o.bound)}"}
    return seen


def _scope(facts: FileFacts, place: int) -> str:
    if place < 0:
        return "nothing"
    scope = facts.scopes[place]
    if place == 0:
        return "file"
    return qualified(facts.symbols[scope.symbol]) if scope.symbol >= 0 else scope.kind


def _compare(name: str, what: str, facts: FileFacts, expected: list[str]) -> list[str]:
    if what == "terms":
        have = {t.text for t in facts.terms} | {f"{t.text} = {t.stands_for}" for t in facts.terms if t.stands_for}
        wanted = [e for e in expected if (e[3:] in have if e.startswith("no ") else e not in have)]
        return [f"{name}: term `{e}`; there are {sorted(have)}" for e in wanted]
    found = sorted(_LISTERS[what](facts))
    if what == "symbols":
        found = [f if any(f == e for e in expected) else f.split(" : ")[0] for f in found]
    if what in ("docs", "details"):
        asked = {e.split(":")[0] for e in expected}
        found = [f for f in found if f.split(":")[0] in asked]
    missing = [f"{name}: {what}: missing `{e}`" for e in expected if e not in found]
    return missing + [f"{name}: {what}: unexpected `{f}`" for f in found if f not in expected]


def _symbols(facts: FileFacts) -> list[str]:
    return [
        f"{s.line} {'declare ' if s.declaration else ''}{s.kind} {qualified(s)} : {s.signature}" for s in facts.symbols
    ]


def _imports(facts: FileFacts) -> list[str]:
    return [
        f"{i.line} {i.module}{' ' + i.name if i.name else ''}{' as ' + i.alias if i.alias else ''}" for i in facts.imports
    ]


def _docs(facts: FileFacts) -> list[str]:
    docs = [(qualified(s), s.doc) for s in facts.symbols] + [("file", facts.doc)]
    return [f"{name}: {doc.replace(chr(10), ' / ')}".rstrip() for name, doc in docs]


def _details(facts: FileFacts) -> list[str]:
    rows = []
    for s in facts.symbols:
        for name in ("bases", "modifiers", "condition", "returns", "parameters", "public"):
            value = getattr(s, name)
            if name == "parameters":
                value = [_parameter(*p) for p in value]
            shown = _PARAMETER_SEPARATOR.join(value) if isinstance(value, list | tuple) else str(value)
            rows.append(f"{qualified(s)} {name}: {shown}".rstrip())
    return rows


def _parameter(name: str, kind: str, annotation: str, default: str) -> str:
    star = kind if kind in ("*", "**") else ""
    words = f"{star}{name}" + (f": {annotation}" if annotation else "") + (f" = {default}" if default else "")
    return words + ({"positional-only": " /", "keyword-only": " (keyword)"}.get(kind, ""))


_LISTERS = {
    "symbols": _symbols,
    "imports": _imports,
    "errors": lambda facts: sorted({str(f.line) for f in facts.findings if f.by == "syntax"}),
    "docs": _docs,
    "details": _details,
}
