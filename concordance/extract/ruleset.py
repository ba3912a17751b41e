"""The rules that files are checked by: ours, one file each in `rules/`, and those of ruff that we chose.

In: a language. Out: what is looked for in its files, and what is found in one of them. Pages name the rules,
so what was checked can be told from what was not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.model import Category, FileFacts, Finding, Kind, Rule, Symbol
from concordance.extract import ruff_rules
from concordance.extract.draft import Draft
from concordance.extract.rule_context import Look

PACKAGE = "concordance.extract.rules"
OWN = "Concordance"
WIDEST = 2000
TRIALS = frozenset((Category.TEST, Category.BENCHMARK))
_AROUND = frozenset((Kind.FUNCTION, Kind.METHOD, Kind.PROPERTY, Kind.CLASS, Kind.STRUCT))


# What authors write behind a line of Python that they have looked at, for any tool.
_SILENCED = {
    "security": re.compile(r"#\s*(?:noqa(?!\s*:)|nosec\b|noqa:[^#]*\bS\d)"),
    "performance": re.compile(r"#\s*(?:noqa(?!\s*:)|noqa:[^#]*\bPERF\d)"),
}


class Table(NamedTuple):
    """The rules of one language by what calls for them."""

    names: dict[str, tuple[ModuleType, ...]]
    words: tuple[tuple[bytes, ModuleType], ...]


@cache
def rules() -> dict[str, Rule]:
    """Every rule by its id: ours first, then ruff's."""
    own = {m.ID: _rule(m) for m in (plugins.load(PACKAGE, name) for name in plugins.names(PACKAGE))}
    return {**dict(sorted(own.items())), **{rule.id: rule for rule in ruff_rules.RULES}}


def checked(language: str, category: str = "") -> list[Rule]:
    """What is looked for in files of a language; in tests and benchmarks less than elsewhere."""
    asked = (rule for rule in rules().values() if not rule.languages or language in rule.languages)
    return [rule for rule in asked if rule.tests or category not in TRIALS]


def _rule(module: ModuleType) -> Rule:
    return Rule(
        module.ID, module.TITLE, module.CATEGORY, module.SEVERITY, module.WHY, module.BAD, module.GOOD,
        module.LANGUAGES, OWN, module.TESTS,
    )  # fmt: skip


@cache
def _table(language: str) -> Table:
    names: dict[str, list[ModuleType]] = {}
    words: list[tuple[bytes, ModuleType]] = []
    for one in plugins.names(PACKAGE):
        module = plugins.load(PACKAGE, one)
        if module.LANGUAGES and language not in module.LANGUAGES:
            continue
        for name in getattr(module, "NAMES", ()):
            names.setdefault(name, []).append(module)
        words += [(word, module) for word in getattr(module, "WORDS", ())]
    return Table({name: tuple(modules) for name, modules in names.items()}, tuple(words))


def findings(draft: Draft, facts: FileFacts) -> tuple[Finding, ...]:
    """What our rules say of a file."""
    table = _table(draft.source.language)
    data = draft.source.data
    asked = {module: None for name in table.names.keys() & facts.occurrences.names for module in table.names[name]}
    asked.update((module, None) for word, module in table.words if word in data)
    if not asked:
        return ()
    look = Look(draft, facts.imports)
    return tuple(sorted({row for module in asked for row in _found(look, module, facts.symbols)}, key=_place))


def _found(look: Look, module: ModuleType, symbols: tuple[Symbol, ...]) -> Iterator[Finding]:
    source = look.source
    silenced = _SILENCED.get(module.CATEGORY) if source.language == "python" else None
    for start, end, message, severity in module.find(look):
        line, col = source.position(start)
        if col > WIDEST:  # of a file made for machines: nobody finds the place, nor could mend it there
            continue
        if silenced is not None and silenced.search(source.line_text(line)):
            continue
        last = source.line(max(start, end - 1))
        yield Finding(
            module.ID, severity or module.SEVERITY, message, line, col, last, subject(symbols, line), module.TESTS
        )


def subject(symbols: tuple[Symbol, ...], line: int) -> str:
    """The key of the innermost function or class around a line, "" for none."""
    place = bisect_right(symbols, line, key=lambda s: s.start_line) - 1
    while place >= 0:
        one = symbols[place]
        if one.end_line >= line and one.kind in _AROUND:
            return one.key
        place = one.parent
    return ""


def _place(finding: Finding) -> tuple[int, int, str]:
    return finding.line, finding.col, finding.by
