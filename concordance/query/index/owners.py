"""Who owns a file according to the repository's `CODEOWNERS` file.

In a `CODEOWNERS` file, the last pattern that matches a path names its owners. A pattern without owners means that
nobody owns the path.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import NamedTuple

from concordance.collect.path_patterns import Patterns
from concordance.facts.updates.reads import ANY_UPDATE, shared_until
from concordance.query.index.repository import Index

# The first of these files that exists is used.
_CODEOWNERS = (
    ".github/CODEOWNERS",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".gitlab/CODEOWNERS",
)
_WORD = re.compile(r"(?:\\.|\S)+")


class OwnerRule(NamedTuple):
    """One line of a `CODEOWNERS` file: a path pattern and the owners of what it matches."""

    pattern: str
    owners: tuple[str, ...]
    line: int


class CodeOwners:
    """A `CODEOWNERS` file."""

    def __init__(self, path: str, text: str) -> None:
        """GitLab's section headers, negations and patterns that start with a set are skipped."""
        self.path = path
        self.rules: list[OwnerRule] = []
        for number, line in enumerate(text.splitlines(), 1):
            words = _WORD.findall(line)
            if words and not words[0].startswith(("#", "[", "^[", "!")):
                owners = takewhile(lambda word: not word.startswith("#"), words[1:])
                self.rules.append(OwnerRule(words[0], tuple(owners), number))
        self._patterns = Patterns((rule.pattern for rule in self.rules), codeowners=True)

    def rule_of(self, path: str) -> OwnerRule | None:
        """Return the last rule that matches a path."""
        place = self._patterns.last(path)
        return self.rules[place] if place >= 0 else None


@shared_until(ANY_UPDATE)
def code_owners(index: Index) -> CodeOwners:
    """Return the repository's `CODEOWNERS` file; one without rules if there is none."""
    path = next((path for path in _CODEOWNERS if path in index.files), "")
    return CodeOwners(path, index.runners.text(path).decode(errors="replace") if path else "")
