"""Bridge plug-ins: one file per bridge finds the places where a file refers to another language."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from concordance.extract.bridge_ends import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext


class BridgeReader(Protocol):
    """Reads one file's ends of a bridge. What the ends mean is found in `link/bridges`, by the plug-in of that name."""

    @property
    def LANGUAGES(self) -> Collection[str]:
        """The languages that it reads; empty for all."""

    @property
    def WORDS(self) -> Sequence[bytes]:
        """A file that has none of these is not read."""

    def ends(self, look: RuleContext) -> Iterable[BridgeEnd]:
        """Yield what the file states."""


PROTOCOL = BridgeReader
