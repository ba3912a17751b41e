"""Which rules speak in a book, and where: what the owners of a repository have turned off, or allow, is not said.

In: an index, whose `book` has their wishes. Out: the rules that are asked, of a language or of one file, and the
findings of a file that are shown. Facts know all findings, so that another wish needs no reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from concordance.base.model import Finding, Rule
from concordance.collect.path_patterns import Patterns
from concordance.extract import ruleset
from concordance.extract.ruleset import rules
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import shared

SYNTAX = "syntax"  # what readers say of stretches that they could not parse


class ActiveRules:
    """The rules as one book has them."""

    def __init__(self, index: Index) -> None:
        self._facts = index.facts
        self._off = frozenset(index.book.rules_off)
        self._allowed = {rule: Patterns(globs) for rule, globs in index.book.allowed}

    def said(self, path: str, findings: Iterable[Finding]) -> list[Finding]:
        """What of some findings is said of a file."""
        return [finding for finding in findings if self._speaks(finding.by, path)]

    def checked(self, language: str, path: str = "") -> list[Rule]:
        """What is looked for in files of a language; with a path, in that file."""
        return [rule for rule in ruleset.checked(language) if self._speaks(rule.id, path)]

    def findings(self, path: str) -> list[Finding]:
        """What is said of a file."""
        return self.said(path, self._facts.findings(path))

    def _speaks(self, rule: str, path: str) -> bool:
        if rule in self._off:
            return False
        allowed = self._allowed.get(rule) if path else None
        return allowed is None or allowed.last(path) < 0


@shared
def ruled(index: Index) -> ActiveRules:
    """The rules of the book that is made."""
    return ActiveRules(index)


# ---
# What the rules found, over the whole: of each rule, in which files and how often.
#
# In: an index. Out: counts, made once. Line numbers stay on the pages of the files themselves.


@shared
def findings_by_rule(index: Index) -> dict[str, Counter[str]]:
    """By rule (and under `SYNTAX` by reader), how often it was found in which files, in the order of paths."""
    known, said = rules(), ruled(index)

    def counted(path: str) -> list[tuple[str, int]]:
        return list(Counter(one.by for one in said.findings(path) if one.by in known or one.by == SYNTAX).items())

    found: dict[str, Counter[str]] = {}
    for path, rows in index.summaries.of("findings", sorted(row[1] for row in index.bases), counted).items():
        for rule, times in rows:
            found.setdefault(rule, Counter())[path] = times
    return found
