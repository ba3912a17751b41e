"""Joins the ends of bridges between languages; one plug-in for each bridge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from concordance.base.model import Bridge
from concordance.link.bridge_context import BridgeContext


class BridgeJoiner(Protocol):
    """Joins the ends that `extract/bridges` read, under the same name or others; what it reads of the repository is
    recorded, so that an update knows when to join them again. `VERBS` says how pages speak of what the ends say, where
    that is a word of its own: {"binds": ("binds", "is bound by")}, from source to target and the other way round."""

    def join(self, context: BridgeContext) -> Iterable[Bridge]:
        """Yield every pair of ends that belong together, with how sure that is."""


PROTOCOL = BridgeJoiner
