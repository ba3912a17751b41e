"""Whose a file is.

In: an index and a path. Out: the owners that the repository's `CODEOWNERS` names, with the line that says so.
"""

from __future__ import annotations

from concordance.blocks import Cite, Piece, Ref, To

from .codeowners import found
from .index import Index


def owner(index: Index, path: str) -> list[Piece] | None:
    """Who owns a file, and where that is said; None where nobody does."""
    place, rules = index.owners
    rule = found(rules, path)
    if rule is None or not rule.owners:
        return None
    return [", ".join(rule.owners), " by ", Ref(To.FILE, place, "", place), Cite(place, rule.line)]
