"""Messages, enumerations and services of Protocol Buffers, and the users of the code generated from them.

In: names that files take from generated code, with the path of the `.proto` file. Out: a row to the symbol of that
name. The file is the one beside the user, or the only one whose path ends in the given path, so that code generated in
other projects is not mistaken for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Bridge, Kind, Role, Trust
from concordance.facts.read import SymbolPlace
from concordance.link.bridge_context import BridgeContext, StatedEnd
from concordance.link.paths.tree import join_path

_SERVICE = re.compile(r"(?:add_)?(\w+?)(?:Stub|Servicer|Servicer_to_server|Service)\Z")


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join uses with messages."""
    ends = context.ends("generated", "uses")
    if not ends:
        return
    files = _Files(context)
    for stated in ends:
        for written in dict(stated.end.more)["proto"].split():
            path = files.path(stated, written)
            place = files.symbol_named(path, stated.end.name) if path else None
            if place is not None:
                yield stated.to(place.id, Trust.VIA_IMPORT, f"generated from {path.rpartition('/')[2]}", role=Role.READ)
                break


class _Files:
    """The `.proto` files of the repository."""

    def __init__(self, context: BridgeContext) -> None:
        self._context = context
        self._by_name: dict[str, list[str]] = {}
        for row in context.files:
            if row.language == "proto":
                self._by_name.setdefault(row.path.rpartition("/")[2], []).append(row.path)
        self._symbols: dict[str, list[SymbolPlace]] = {}

    def path(self, stated: StatedEnd, written: str) -> str:
        """Return the path of the `.proto` file; "" if it is not in the repository or ambiguous."""
        folder = stated.file.path.rpartition("/")[0]
        beside = join_path(folder, written) or ""
        paths = self._by_name.get(written.rpartition("/")[2], [])
        if beside in paths or written.startswith("."):
            return beside if beside in paths else ""
        matching = [path for path in paths if f"/{path}".endswith(f"/{written}")]
        return matching[0] if len(matching) == 1 else ""

    def symbol_named(self, path: str, dotted: str) -> SymbolPlace | None:
        """Return what a file defines under a name: by its full name, as an enumeration's value, or as a generated
        service."""
        if path not in self._symbols:
            self._symbols[path] = self._context.symbols(self._context.files_by_path[path])
        symbols = self._symbols[path]
        parts = dotted.split(".")
        # generated members of a message (`FromString`) have no symbol: fall back to the message
        for count in range(len(parts), 0, -1):
            scope, last = ".".join(parts[: count - 1]), parts[count - 1]
            alike = [place for place in symbols if place.name == last]
            for place in alike:
                if place.parent_key == scope:
                    return place
            for place in alike:
                if place.kind == Kind.ENUMERATOR and place.parent_key.rpartition(".")[0] == scope:
                    return place
        service = _SERVICE.match(parts[0])
        for place in symbols if service else ():
            if service is not None and place.kind == Kind.INTERFACE and place.name == service[1]:
                return place
        return None
