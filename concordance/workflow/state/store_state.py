"""State of a repository's store that a long-running process keeps between builds.

In: what a build leaves when its store is complete. Out: the same for the next build, if the store is still that one. A
build takes the state out before it changes the store, so a build that fails leaves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from concordance.base.model import File
from concordance.extract.cfamily.macros import Macros
from concordance.facts.records import FileMacros, Linkable
from concordance.facts.updates.last_build import LastBuild
from concordance.link.cfamily import resident_tables


@dataclass
class StoreState:
    """The state after a build."""

    started: str = ""  # when that build began, as recorded in its store
    known: LastBuild | None = None  # the ledger and metadata of the store
    macros: Macros | None = None  # the merged macros of all files
    rows: list[Linkable] | None = None  # the files, as the linker needs them
    tables: resident_tables.CFamilyState | None = None  # name tables of the C family

    def take(self, started: str) -> StoreState:
        """Remove and return the state, if it belongs to the store of the build that began at `started`."""
        found = replace(self) if started and started == self.started else StoreState()
        self.forget()
        return found

    def now(
        self, before: LastBuild | None, meta: dict[str, str], seen: Iterable[File], gone: Iterable[str],
        learned: Iterable[tuple[str, FileMacros]],
    ) -> None:  # fmt: skip
        """Record the store after a build; nothing after a full rebuild, which is rare."""
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
        """Adopt the state that a build leaves."""
        self.__dict__.update(other.__dict__)

    def forget(self) -> None:
        """Discard everything."""
        self.leave(StoreState())
