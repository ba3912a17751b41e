"""References to standards and issues: every place that cites one.

In: references, as stated in comments. Out: a row for each, without a target: what it refers to is not in the
repository.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge, Trust
from concordance.link.bridge_context import BridgeContext

VERBS = {"cites": ("cites", "is cited by")}


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Return every reference."""
    for stated in context.ends("references"):
        yield stated.to(0, Trust.EXACT, "named explicitly")
