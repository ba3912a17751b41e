"""The linker's queries when it links a few files of many: flows, links of files, which files mention a name.

In: a store that is being written. Out: its current content, read on request.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from concordance.base.model import EXECUTABLE_KINDS, Links
from concordance.facts.codec import FileOutline, unpack_links, unpack_outline
from concordance.facts.links import rows as links_rows
from concordance.facts.links.graph import LinkGraph
from concordance.facts.symbol_ids import IdOwners

_MAX_PARAMETERS = 500


class LinkReads:
    """The linker's queries of the store."""

    def __init__(
        self, connection: sqlite3.Connection, guarded: Callable[[], AbstractContextManager[None]], folder: str,
        owners: Callable[[], IdOwners[int]],
    ) -> None:  # fmt: skip
        """`folder` is the folder of the store; `owners` returns which file each id belongs to."""
        self._run, self._guarded, self._folder, self._owners = connection, guarded, folder, owners
        self._mentions: list[tuple[int, bytes]] | None = None

    def language(self, file: int) -> str:
        """Return a file's language; "" if it has none, or if there is no such file."""
        with self._guarded():
            row = self._run.execute("SELECT language FROM file WHERE id = ?", (file,)).fetchone()
        return str(row[0]) if row else ""

    def flow(self, file: int) -> bytes:
        """Return a file's encoded flow; empty if it has none."""
        with self._guarded():
            row = self._run.execute("SELECT packed FROM flow WHERE file = ?", (file,)).fetchone()
        return row[0] if row else b""

    def outline(self, file: int) -> FileOutline:
        """Return a file's definitions and documentation."""
        with self._guarded():
            row = self._run.execute("SELECT packed FROM facts WHERE file = ?", (file,)).fetchone()
        return unpack_outline(row[0]) if row else FileOutline()

    def flows_in(self, languages: Iterable[str]) -> dict[int, bytes]:
        """Return the flows of all files in the given languages."""
        listed = sorted(languages)
        placeholders = ", ".join("?" * len(listed))
        query = f"SELECT flow.file, packed FROM flow JOIN file ON id = flow.file WHERE language IN ({placeholders})"  # noqa: S608
        with self._guarded():
            return dict(self._run.execute(query, listed))

    def included(self) -> dict[int, bytes]:
        """Return by C-family file the ids of the files that it included, in four bytes each."""
        with self._guarded():
            return dict(self._run.execute("SELECT file, included FROM led WHERE included IS NOT NULL"))

    def copy_flows(self) -> FlowFile:
        """Return all flows, copied to a temporary file."""
        with self._guarded():
            return FlowFile(self._folder, self._run.execute("SELECT file, packed FROM flow"))

    def symbols_named(self, name: str, language: str, kinds: Iterable[str], limit: int) -> list[int]:
        """Return the ids of the symbols that have a name, one of the given kinds and a language, in path order.

        At most one more than `limit`, which is enough to know that there are too many.
        """
        listed = ", ".join(f"'{kind}'" for kind in sorted(kinds))
        query = (
            f"SELECT symbol.id FROM symbol JOIN file ON symbol.file = file.id WHERE name = ? AND kind IN ({listed}) "  # noqa: S608
            "AND language = ? ORDER BY path, place LIMIT ?"
        )
        with self._guarded():
            return [row[0] for row in self._run.execute(query, (name, language, limit + 1))]

    def keys(self, file: int) -> list[str]:
        """Return the keys of a file's symbols, in text order."""
        with self._guarded():
            rows = self._run.execute("SELECT key FROM symbol WHERE file = ? ORDER BY place", (file,))
            return [row[0] for row in rows]

    def links(self, file: int) -> Links:
        """Return what a file's names resolved to when it was last linked."""
        with self._guarded():
            row = self._run.execute("SELECT packed FROM link WHERE file = ?", (file,)).fetchone()
        return unpack_links(row[0]) if row else Links()

    def imports(self) -> dict[int, bytes]:
        """Return by file a digest of where its imports led."""
        with self._guarded():
            return dict(self._run.execute("SELECT file, imports FROM linked"))

    def mentioning(self, names: Iterable[int]) -> list[int]:
        """Return the files that mention one of the names with the given digests."""
        if self._mentions is None:
            with self._guarded():
                self._mentions = self._run.execute("SELECT file, names FROM mention").fetchall()
        return list(links_rows.files_holding(self._mentions, names))

    def files_linked_to_symbols(self, ids: Iterable[int]) -> set[int]:
        """Return the files that linked to the given symbols, by name or otherwise."""
        wanted = sorted(ids)
        graph = LinkGraph(self.analysis_result("graph"))
        users = {user for target in wanted for user, _ in graph.users(target)}
        for begin in range(0, len(wanted), _MAX_PARAMETERS):
            part = wanted[begin : begin + _MAX_PARAMETERS]
            placeholders = ", ".join("?" * len(part))
            for table, user in (("used", "user"), ("override", "symbol"), ("extends", "symbol")):
                query = f"SELECT DISTINCT {user} FROM {table} WHERE target IN ({placeholders})"  # noqa: S608
                with self._guarded():
                    users.update(row[0] for row in self._run.execute(query, part))
        owners = self._owners()
        return {owners[user] for user in users}

    def analysis_result(self, name: str) -> bytes:
        """Return the packed result of a whole-repository analysis."""
        with self._guarded():
            row = self._run.execute("SELECT packed FROM pass WHERE name = ?", (name,)).fetchone()
        return bytes(row[0]) if row else b""

    def edges_and_loads(self) -> tuple[list[bytes], dict[int, bytes]]:
        """Return the edges of all files, and the files that each file loads."""
        with self._guarded():
            rows = self._run.execute("SELECT edges, file, loads FROM led").fetchall()
        return [row[0] for row in rows], {row[1]: row[2] for row in rows}

    def loads(self) -> dict[int, bytes]:
        """Return the files that each file loads."""
        with self._guarded():
            return dict(self._run.execute("SELECT file, loads FROM led"))

    def edges(self, file: int) -> bytes:
        """Return the packed edges of one file."""
        with self._guarded():
            row = self._run.execute("SELECT edges FROM led WHERE file = ?", (file,)).fetchone()
        return row[0] if row else b""

    def runnable(self, file: int | None = None) -> list[int]:
        """Return the ids of the executable symbols of all files, or of one, by file in the order of the text."""
        kinds = ", ".join(f"'{kind}'" for kind in sorted(EXECUTABLE_KINDS))
        return self._symbols_where(f"kind IN ({kinds})", file)

    def tests(self, file: int | None = None) -> list[int]:
        """Return the ids of the tests of all files, or of one, by file in the order of the text."""
        return self._symbols_where("test", file)

    def _symbols_where(self, condition: str, file: int | None) -> list[int]:
        query = f"SELECT id FROM symbol WHERE {condition}{'' if file is None else ' AND file = ?'} ORDER BY file, place"  # noqa: S608
        with self._guarded():
            return [row[0] for row in self._run.execute(query, () if file is None else (file,))]

    def expression_counts(self) -> tuple[int, int]:
        """Return how many expressions name something, and how many of them are resolved."""
        with self._guarded():
            row = self._run.execute("SELECT sum(named), sum(resolved) FROM linked").fetchone()
        return row[0] or 0, row[1] or 0


# --- flows in a temporary file
# Workers read flows from an unnamed file: in memory, those of a large repository would take more space than everything
# that is computed from them. The file is gone when the last process that has it open ends, however it ends.


class FlowFile:
    """Flows in a temporary file."""

    def __init__(self, folder: str, rows: Iterable[tuple[int, bytes]]) -> None:
        self._places: dict[int, tuple[int, int]] = {}
        with tempfile.TemporaryFile(dir=folder) as file:
            self._file = os.dup(file.fileno())
            weakref.finalize(self, os.close, self._file)
            at = 0
            for identity, flow in rows:
                file.write(flow)
                self._places[identity] = at, len(flow)
                at += len(flow)

    def flow(self, file: int) -> bytes:
        """Return a file's flow. Forked workers share the file's read position, so each read gives its own."""
        at, size = self._places[file]
        return os.pread(self._file, size, at)
