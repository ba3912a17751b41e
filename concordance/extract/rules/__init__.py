"""The rules that look for what is slow or unsafe, one file each; the file's presence is the registration.

A rule's module says what it is in capitals (`ID`, `TITLE`, `CATEGORY`, `SEVERITY`, `LANGUAGES`, `NAMES` or `WORDS`,
`WHY`, `BAD`, `GOOD`) and has `find(look)`, which yields what `look.at(…)` makes. `find` is called only where one of
`NAMES` stands among the file's names, or one of `WORDS` in its bytes. `LANGUAGES` is empty for every text.
`TESTS` says whether the rule speaks of tests and benchmarks, too: what is slow there is mostly meant to be, and what
they read they have written themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from concordance.extract.reading.rule_context import Match, RuleContext


class RuleModule(Protocol):
    """A rule; the module's docstring says what each name is."""

    ID: str
    TITLE: str
    WHY: str
    BAD: str
    GOOD: str
    TESTS: bool
    LANGUAGES: frozenset[str] | tuple[str, ...]

    def find(self, look: RuleContext) -> Iterable[Match]:
        """Yield every place that the rule speaks of."""


PROTOCOL = RuleModule
