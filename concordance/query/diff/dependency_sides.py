"""The dependencies of both sides, as far as they can differ.

In: a `Comparison` and the store. Out: for each side a `Web`. The files that differ are resolved on their own side; a
file that is the same on both is resolved on both where an import of it names, by some word, a file that came, went or
moved: it may lead elsewhere now. What all others need is as the store says.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from concordance.base.errors import Unreadable
from concordance.base.model import File, Import
from concordance.link.load_dependencies import BY_FILE
from concordance.query.diff.comparison import Comparison, Read
from concordance.query.diff.dependencies import Imports, Named, Resolver, SideTree, Web, loads_of, waits
from concordance.query.index.repository import Index


class Depends:
    """Both sides of one comparison."""

    def __init__(self, index: Index, comparison: Comparison) -> None:
        self._index, self._comparison = index, comparison
        self._named = Named(path for pair in comparison.pairs for path in _moved(pair.before, pair.after))
        self._unsure = {
            path for path, read in comparison.beside.items() if any(self._named.by(one) for one, _ in read.imports)
        }

    def webs(self) -> tuple[Web, Web]:
        """Who needs whom before and after."""
        resolvers = [self._resolver(side, self._ledger(side)) for side in (0, 1)]
        before, after = self._webs(resolvers, self._doubtful())
        return before, after

    def _read(self, side: int) -> dict[str, Read]:
        pairs = self._comparison.pairs
        found = {read.file.path: read for pair in pairs if (read := pair.after if side else pair.before) is not None}
        return {**self._comparison.beside, **found}

    def _ledger(self, side: int) -> dict[str, File]:
        files = self._index.files
        found = {path: files[path] for path in self._comparison.settled}
        found.update((path, read.file) for path, read in self._read(side).items())
        return found

    def _resolver(self, side: int, ledger: dict[str, File]) -> Resolver:
        compared = self._comparison
        entries = compared.sides[side].entries

        def other(path: str) -> str | None:
            """What a file says that is not as on the disk; None of one that is."""
            if path in compared.settled:
                return None
            file, entry = ledger.get(path), entries.get(path)
            if file is None or entry is None or file.skip:
                return ""
            try:
                return compared.data(side, entry).decode(file.encoding or "utf-8", "replace").removeprefix("\ufeff")
            except (Unreadable, LookupError):
                return ""

        return Resolver(SideTree(self._index.root, ledger.values(), compared.roots, other))

    def _webs(self, resolvers: Sequence[Resolver], doubtful: dict[str, Imports]) -> list[Web]:
        """Both sides. Of a file that is the same on both, only the imports that may lead elsewhere were resolved: what
        they lead to takes the place of what the store says of them."""
        stored, beside, settled = self._index.loads.needs, self._comparison.beside, self._comparison.settled
        mine = [
            {path: resolver.needs(path, resolver.tree.language(path), imports) for path, imports in doubtful.items()}
            for resolver in resolvers
        ]
        webs = []
        for side, resolver in enumerate(resolvers):
            there = resolver.tree.files
            files = dict(mine[side])
            loads = {
                path: [one for one in targets if one in there] for path, targets in stored.items() if path in settled
            }
            for path in doubtful:
                either = mine[0][path].keys() | mine[1][path].keys()
                kept = [one for one in loads.get(path, ()) if one not in either]
                loads[path] = kept + loads_of(mine[side][path], resolver.tree.language(path), path)
            for path, read in self._read(side).items():
                needs = resolver.needs(path, read.file.language, read.imports)
                loads[path] = loads_of(needs, read.file.language, path)
                if path not in beside or path in self._unsure:
                    files[path] = needs
            webs.append(Web(files, loads))
        return webs

    def _doubtful(self) -> dict[str, Imports]:
        """The imports that may lead elsewhere now, of files that are the same on both sides and as in the store."""
        found: dict[str, Imports] = {}
        for path in sorted(self._comparison.settled) if self._named else ():
            file = self._index.files[path]
            if file.language not in BY_FILE or file.skip:
                continue
            named = self._index.facts.names_in(path)
            imports = msgspec.msgpack.decode(named.imports, type=tuple[Import, ...]) if named.imports else ()
            meant = [one for one in imports if self._named.by(one)]
            if meant:
                found[path] = tuple((one, waits(one, named.scopes)) for one in meant)
        return found


def _moved(before: Read | None, after: Read | None) -> list[str]:
    """The paths of a file that is no longer, or only now, where it is."""
    if before is not None and after is not None and before.file.path == after.file.path:
        return []
    return [read.file.path for read in (before, after) if read is not None]
