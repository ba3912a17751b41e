"""Rules that look for slow or unsafe code, one per file; adding a file to this folder registers the rule.

A rule's module describes the rule in constants (`ID`, `TITLE`, `CATEGORY`, `SEVERITY`, `LANGUAGES`, `NAMES` or
`WORDS`, `WHY`, `BAD`, `GOOD`) and has a function `find(context)`, which yields matches, mostly made by `context.at(…)`.
`find` is called only if one of `NAMES` is among the file's names, or one of `WORDS` occurs in its bytes. An empty
`LANGUAGES` means every text file. `TESTS` says whether the rule also applies to tests and benchmarks: slow code
there is mostly intentional, and the data they read is usually their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from concordance.extract.reading.rule_context import Match, RuleContext


class RuleModule(Protocol):
    """A rule; the module's docstring says what each name is."""

    ID: str
    TITLE: str
    CATEGORY: str
    WHY: str
    BAD: str
    GOOD: str
    TESTS: bool

    @property
    def SEVERITY(self) -> str:
        """How much a finding matters: a `Severity`."""

    @property
    def LANGUAGES(self) -> Collection[str]:
        """The languages of the files that it checks; empty for every text file."""

    def find(self, context: RuleContext) -> Iterable[Match]:
        """Yield every place that the rule speaks of."""


PROTOCOL = RuleModule
