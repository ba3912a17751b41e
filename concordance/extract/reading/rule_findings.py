"""Applies our own rules to a file.

In: a file's draft and facts. Out: the findings in it. A rule runs only on files that contain one of its names or words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.model import Finding, Symbol
from concordance.extract.reading.rule_context import RuleContext
from concordance.extract.ruleset import MAX_COLUMN, PACKAGE, enclosing_key

# Comments by which authors mark a line of Python as reviewed, for any tool.
_SILENCED = {
    "security": re.compile(r"#\s*(?:noqa(?!\s*:)|nosec\b|noqa:[^#]*\bS\d)"),
    "performance": re.compile(r"#\s*(?:noqa(?!\s*:)|noqa:[^#]*\bPERF\d)"),
}


class RuleTable(NamedTuple):
    """The rules for one language, by the names and words that trigger them."""

    names: dict[str, tuple[ModuleType, ...]]
    words: tuple[tuple[bytes, ModuleType], ...]


@cache
def _table(language: str) -> RuleTable:
    names: dict[str, list[ModuleType]] = {}
    words: list[tuple[bytes, ModuleType]] = []
    for module in plugins.load_all(PACKAGE):
        if module.LANGUAGES and language not in module.LANGUAGES:
            continue
        for name in getattr(module, "NAMES", ()):
            names.setdefault(name, []).append(module)
        words += [(word, module) for word in getattr(module, "WORDS", ())]
    return RuleTable({name: tuple(modules) for name, modules in names.items()}, tuple(words))


def findings(context: RuleContext) -> tuple[Finding, ...]:
    """Return the findings of our rules in a file."""
    table, facts = _table(context.language), context.facts
    asked = {module: None for name in table.names.keys() & facts.occurrences.names for module in table.names[name]}
    asked.update((module, None) for word, module in table.words if word in context.data)
    if not asked:
        return ()
    return tuple(sorted({row for module in asked for row in _rule_matches(context, module, facts.symbols)}, key=_place))


def _rule_matches(context: RuleContext, module: ModuleType, symbols: tuple[Symbol, ...]) -> Iterator[Finding]:
    source = context.source
    silenced = _SILENCED.get(module.CATEGORY) if source.language == "python" else None
    for start, end, message, severity in module.find(context):
        line, col = source.position(start)
        if col > MAX_COLUMN:  # a minified or generated file: nobody could find or fix the place
            continue
        if silenced is not None and silenced.search(source.line_text(line)):
            continue
        last = source.line(max(start, end - 1))
        yield Finding(
            module.ID, severity or module.SEVERITY, message, line, col, last, enclosing_key(symbols, line), module.TESTS
        )


def _place(finding: Finding) -> tuple[int, int, str]:
    return finding.line, finding.col, finding.by
