"""Look-up of the bridges between languages, by name and by the files in which they begin and end.

In: an index. Out: `Bridge` rows, and the line that states each one. Every look-up is recorded under its key (a name or
a path), so that a page is rebuilt when the bridges it read change.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from itertools import chain

from concordance.base import plugins
from concordance.base.model import Bridge, Role
from concordance.facts.links.bridge_rows import encode_text, unpack_bridge, unpack_parts
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import compared, memoised, memoised_in_object, shared_until
from concordance.query.index.file_model import FileModel
from concordance.query.index.repository import Index

_BRIDGES = "concordance.link.bridges"
# For each kind of statement that our bridges make, the verb that joins source to target, and the verb for the opposite
# direction. They stand here, not in the bridges, so that a question does not load the linker for them.
_VERBS = {
    "binds": ("binds", "is bound by"),
    "wraps": ("wraps", "is wrapped by"),
    "asks": ("uses", "is used from Python by"),
    "declares": ("declares", "is declared by"),
    "launches": ("launches", "is launched by"),
    "documents": ("documents", "is documented by"),
    "calls": ("calls the operator", "is called by"),
    "reads": ("reads", "is read by"),
    "sets": ("sets", "is set by"),
    "removes": ("removes", "is removed by"),
    "mentions": ("mentions", "is mentioned by"),
    "names": ("names", "is named in"),
    "shows": ("shows how to use", "is shown by"),
    "uses": ("uses", "is used as generated code by"),
    "builds": ("builds", "is built by"),
    "runs": ("runs", "is run by"),
    "generates": ("generates", "is generated from"),
}


_MAX_SEARCHES = 6  # look-ups by file or name that search all rows


@cache
def verbs(says: str) -> tuple[str, str]:
    """Return the verbs of a statement: from source to target, and in the opposite direction."""
    if says in _VERBS:
        return _VERBS[says]
    verb_tables = (getattr(bridge, "VERBS", {}) for bridge in plugins.load_all(_BRIDGES))
    pair: tuple[str, str] = next((verb_table[says] for verb_table in verb_tables if says in verb_table), (says, says))
    return pair


class Bridges:
    """All bridges of a repository, indexed by name, file and symbol."""

    def __init__(self, index: Index, parts: Mapping[str, bytes]) -> None:
        """`parts` are the encoded rows of each bridge. They are decoded when they are needed: a question seldom needs
        all."""
        self._index, self._packed, self._decoded = index, dict(parts), {part: list[Bridge]() for part in parts}
        self._searches = 0

    @cached_property
    def rows(self) -> list[Bridge]:
        """All bridges."""
        return list(self._decode())

    def _decode(self, *containing: bytes) -> Iterator[Bridge]:
        """Yield all rows of those bridges that contain some bytes, and of those that were decoded before."""
        for part, packed in list(self._packed.items()):
            if all(identity in packed for identity in containing):
                self._decoded[part] = unpack_bridge(self._packed.pop(part))
        return chain.from_iterable(self._decoded.values())

    def saying(self, says: str) -> list[Bridge]:
        """Return all bridges that make a statement, in no particular order. It is not recorded."""
        return [row for row in self._decode(encode_text(says)) if row.says == says]

    def of_kind(self, bridge: str) -> list[Bridge]:
        """Return all bridges of a kind, in no particular order."""
        self._index.reads.note(Aspect.BRIDGES, bridge)
        return [row for row in self._decode(encode_text(bridge)) if row.bridge == bridge]

    def named(self, name: str, bridge: str = "") -> list[Bridge]:
        """Return the bridges with this name, or only those of one kind."""
        self._index.reads.note(Aspect.BRIDGES_OF_NAME, name)
        if name.isprintable() and self._search_all():
            rows = [row for row in self._decode(encode_text(name), bridge.encode()) if row.name == name]
        else:
            rows = self._by_name.get(name, [])
        return self._in_order([row for row in rows if not bridge or row.bridge == bridge])

    def _in_order(self, rows: list[Bridge]) -> list[Bridge]:
        """Sort rows by path and key of both ends: ids depend on the edits that led to the store, and the order of the
        text changes with edits of other files."""
        if len(rows) < 2:
            return rows
        path_of, key_of = self._index.path_of, self._index.key_of
        self._index.read_keys(end for row in rows for end in (row.source, row.target) if end)

        def order(row: Bridge) -> tuple[str, str, str, str, str, int]:
            target = (path_of(row.target), key_of(row.target)) if row.target else ("", "")
            return path_of(row.source), key_of(row.source), row.name, *target, row.end

        return sorted(rows, key=order)

    @cached_property
    def _by_name(self) -> dict[str, list[Bridge]]:
        rows: dict[str, list[Bridge]] = {}
        for row in self.rows:
            rows.setdefault(row.name, []).append(row)
        return rows

    def out_of(self, path: str) -> list[Bridge]:
        """Return the bridges that are stated in a file."""
        self._index.reads.note(Aspect.BRIDGES_OF_FILE, path)
        ids = self._ids_of(path)
        if self._search_all():
            return self._in_order([row for row in self.rows if row.source in ids])
        return self._in_order([row for identity in ids for row in self._by_source.get(identity, ())])

    def into(self, path: str) -> list[Bridge]:
        """Return the bridges from other files whose target is a file or one of its symbols."""
        return self._in_order(self.unsorted_into(path))

    def unsorted_into(self, path: str) -> list[Bridge]:
        """Return the same bridges in no particular order."""
        self._index.reads.note(Aspect.BRIDGES_OF_FILE, path)
        ids = self._ids_of(path)
        if self._search_all():
            return [row for row in self.rows if row.target in ids and row.source not in ids]
        rows = [row for identity in ids for row in self._by_target.get(identity, ())]
        return [row for row in rows if row.source not in ids]

    def _search_all(self) -> bool:
        """True for the first few look-ups: a question about one file answers sooner without tables of all ends."""
        self._searches += 1
        return self._searches <= _MAX_SEARCHES

    def _ids_of(self, path: str) -> dict[int, None]:
        """Return the ids of a file and its symbols; none if there is no such file."""
        file = self._index.ids_by_path.get(path)
        return dict.fromkeys((file, *self._index.symbol_ids[file])) if file is not None else {}

    # By id rather than by file: finding the files of all ids takes ten times as long.

    @cached_property
    def _by_source(self) -> dict[int, list[Bridge]]:
        rows: dict[int, list[Bridge]] = {}
        for row in self.rows:
            rows.setdefault(row.source, []).append(row)
        return rows

    @cached_property
    def _by_target(self) -> dict[int, list[Bridge]]:
        rows: dict[int, list[Bridge]] = {}
        for row in self.rows:
            if row.target:
                rows.setdefault(row.target, []).append(row)
        return rows

    def runs_into(self, target: int) -> list[Bridge]:
        """Return the bridges through which a symbol is called."""
        self._index.reads.note(Aspect.BRIDGES_OF_FILE, self._index.path_of(target))
        return self._run[0].get(target, [])

    def runs_from(self, source: int) -> list[Bridge]:
        """Return the bridges through which a symbol calls another."""
        self._index.reads.note(Aspect.BRIDGES_OF_FILE, self._index.path_of(source))
        return self._run[1].get(source, [])

    @cached_property
    def _run(self) -> tuple[dict[int, list[Bridge]], dict[int, list[Bridge]]]:
        into, out = dict[int, list[Bridge]](), dict[int, list[Bridge]]()
        for row in self.rows:
            if row.role == Role.CALL and row.target not in (0, row.source):
                into.setdefault(row.target, []).append(row)
                out.setdefault(row.source, []).append(row)
        return into, out

    @cached_property
    def between(self) -> dict[tuple[int, int], Bridge]:
        """One bridge for each pair of source id and target id; a bridge that is a call is preferred."""
        rows: dict[tuple[int, int], Bridge] = {}
        for row in self.rows:
            pair = (row.source, row.target)
            if row.target and (pair not in rows or (row.role == Role.CALL) > (rows[pair].role == Role.CALL)):
                rows[pair] = row
        return rows

    def line(self, row: Bridge) -> int:
        """Return the line that states a bridge; 0 if no bridge end states it, because a Python name led to it."""
        if row.end < 0:
            return 0
        lines = lines_of_ends(self._index, self._index.path_of(row.source))
        return lines[row.end] if row.end < len(lines) else 0


LINES_OF_ENDS = "lines of ends"  # the name under which it is recorded that a page shows them


@compared(LINES_OF_ENDS)
@memoised(4096)  # the list of all notes cites hundreds of files, and is made again with each of them
def lines_of_ends(index: Index, path: str) -> array[int]:
    """Return the lines in which a file states the ends of bridges."""
    return array("I", [end.line for end in index.open_file(path).ends])


@memoised_in_object
def bridges_from(model: FileModel) -> list[Bridge]:
    """Return the bridges that are stated in a file."""
    return bridges_of(model.index).out_of(model.path)


@memoised_in_object
def bridges_to(model: FileModel) -> list[Bridge]:
    """Return the bridges from other files whose target is a file or one of its symbols."""
    return bridges_of(model.index).into(model.path)


@shared_until(Aspect.BRIDGES)
def bridges_of(index: Index) -> Bridges:
    """Return the bridges of a repository."""
    return Bridges(index, unpack_parts(index.facts.analysis_result("bridges")))
