"""What the rules found, over the whole: of each rule, in which files and how often.

In: an index. Out: counts, made once. Line numbers stay on the pages of the files themselves.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from concordance.extract.rulebook import rules

from .index import Index

SYNTAX = "syntax"  # what readers say of stretches that they could not parse


@lru_cache(1)
def findings(index: Index) -> dict[str, Counter[str]]:
    """By rule (and under `SYNTAX` by reader), how often it was found in which files, in the order of paths."""
    known = rules()
    found: dict[str, Counter[str]] = {}
    for path in sorted(row[1] for row in index.bases):
        for finding in index.facts.findings(path):
            if finding.by in known or finding.by == SYNTAX:
                found.setdefault(finding.by, Counter())[path] += 1
    return found
