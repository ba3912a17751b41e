"""Applies the owners' rule settings: which rules are active in a book, and which findings of a file are shown.

In: an index, whose `book` lists the rules that are turned off and the paths where a rule is allowed to be broken. Out:
the active rules of a language or of one file, the findings to show, and their totals. The store holds all
findings, so that a change of settings does not require reading files again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from concordance.base.config import Book
from concordance.base.kinds import Severity
from concordance.base.model import Finding, Rule
from concordance.base.progress import Totals
from concordance.collect.path_patterns import Patterns
from concordance.extract import ruleset
from concordance.extract.ruleset import rules
from concordance.facts.read import Facts
from concordance.facts.updates.reads import ANY_UPDATE, shared_until
from concordance.query.index.repository import Index

SYNTAX = "syntax"  # the source of findings about text that could not be parsed


class ActiveRules:
    """The rules that are active in one book."""

    def __init__(self, index: Index) -> None:
        self._facts = index.facts
        self._off = frozenset(index.book.rules_off)
        self._allowed = {rule: Patterns(globs) for rule, globs in index.book.allowed}

    def visible(self, path: str, findings: Iterable[Finding]) -> list[Finding]:
        """Return those of the given findings that are shown for a file."""
        return [finding for finding in findings if self._is_active(finding.by, path)]

    def checked(self, language: str, path: str = "") -> list[Rule]:
        """Return the active rules for a language; with a path, those that are active in that file."""
        return [rule for rule in ruleset.rules_for(language) if self._is_active(rule.id, path)]

    def findings(self, path: str) -> list[Finding]:
        """Return the findings to show for a file."""
        return self.visible(path, self._facts.findings(path))

    def _is_active(self, rule: str, path: str) -> bool:
        if rule in self._off:
            return False
        allowed = self._allowed.get(rule) if path else None
        return allowed is None or allowed.last(path) < 0


@shared_until(ANY_UPDATE)
def active_rules(index: Index) -> ActiveRules:
    """Return the active rules of the book."""
    return ActiveRules(index)


@shared_until(ANY_UPDATE)
def findings_by_rule(index: Index) -> dict[str, Counter[str]]:
    """Count the findings by rule (and under `SYNTAX`, by reader) and by file, in the order of paths.

    Line numbers are left to the pages of the files themselves.
    """
    known, active = rules(), active_rules(index)

    def counted(path: str) -> list[tuple[str, int]]:
        return list(
            Counter(
                finding.by for finding in active.findings(path) if finding.by in known or finding.by == SYNTAX
            ).items()
        )

    counts: dict[str, Counter[str]] = {}
    for path, rows in index.summaries.of("findings", sorted(row[1] for row in index.file_rows), counted).items():
        for rule, times in rows:
            counts.setdefault(rule, Counter())[path] = times
    return counts


def count_totals(facts: Facts, root: str, book: Book) -> Totals:
    """Compute the totals of a repository; only findings that the book shows are counted."""
    ruled = ActiveRules(Index(facts, root, book))
    totals = Counter(
        finding.severity for path, findings in facts.all_findings() for finding in ruled.visible(path, findings)
    )
    return Totals(
        facts.symbol_count(),
        {trust.name.lower(): number for trust, number in facts.links_by_trust().items()},
        facts.unresolved_total()[1],
        {severity.value: totals[severity] for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO)},
    )
