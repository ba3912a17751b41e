"""What a process that stays keeps of a repository's store from one build to the next.

In: what a build leaves when its store is complete. Out: the same for the next build, where the store is still that one.
A build takes it out before it changes the store, so one that fails leaves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from concordance.base.model import File
from concordance.extract.cfamily.macros import Macros
from concordance.facts.records import Learned, Linkable
from concordance.facts.updates.last_build import LastBuild
from concordance.link.cfamily import resident_tables


@dataclass
class StoreState:
    """What was left."""

    started: str = ""  # when the build began that left it, as its store says
    known: LastBuild | None = None  # the store's ledger and notes
    macros: Macros | None = None  # the table of all files' macros
    rows: list[Linkable] | None = None  # the files as the linker needs them
    tables: resident_tables.CFamilyState | None = None  # of the C family's names

    def take(self, started: str) -> StoreState:
        """What the build left that made the store; it is here no more."""
        found = replace(self) if started and started == self.started else StoreState()
        self.forget()
        return found

    def now(
        self, before: LastBuild | None, meta: dict[str, str], seen: Iterable[File], gone: Iterable[str],
        learned: Iterable[tuple[str, Learned]],
    ) -> None:  # fmt: skip
        """Notes what the store is when a build has changed it; nothing of one that was made anew, which is seldom."""
        self.started, self.known = meta["started"], None
        if before is not None:
            files, macros = {**before.files, **{file.path: file for file in seen}}, dict(before.macros)
            macros.update(learned)
            for path in gone:
                files.pop(path, None)
                macros.pop(path, None)
            said = [(path, one) for path, one in macros.items() if one]
            self.known = LastBuild(files, {**before.meta, **meta}, said)

    def leave(self, other: StoreState) -> None:
        """Takes what a build leaves."""
        self.__dict__.update(other.__dict__)

    def forget(self) -> None:
        """Lets go of all."""
        self.leave(StoreState())
