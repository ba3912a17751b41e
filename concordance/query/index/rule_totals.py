"""What the rules found, over the whole: of each rule, in which files and how often.

In: an index. Out: counts, made once. Line numbers stay on the pages of the files themselves.
"""

from __future__ import annotations

from collections import Counter

from concordance.extract.ruleset import rules
from concordance.query.index.findings import ruled
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import shared

SYNTAX = "syntax"  # what readers say of stretches that they could not parse


@shared
def findings(index: Index) -> dict[str, Counter[str]]:
    """By rule (and under `SYNTAX` by reader), how often it was found in which files, in the order of paths."""
    known, said = rules(), ruled(index)

    def counted(path: str) -> list[tuple[str, int]]:
        return list(Counter(one.by for one in said.findings(path) if one.by in known or one.by == SYNTAX).items())

    found: dict[str, Counter[str]] = {}
    for path, rows in index.summaries.of("findings", sorted(row[1] for row in index.bases), counted).items():
        for rule, times in rows:
            found.setdefault(rule, Counter())[path] = times
    return found
