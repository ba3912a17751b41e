"""The names by which users import what Python files define, as bytes and back.

In: by path, the public names of what a file defines at its top, and its classes, whose members are named after them.
Out: MessagePack, each file's part by itself, so that one name costs one file; and questions to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import msgspec

PUBLIC = "public"  # the name of this value in the store


class Public(NamedTuple):
    """A public name."""

    dotted: str
    by: str  # the module that hands it on, or the document that has it; "" where it is its own module's


class Named(NamedTuple):
    """The public names of one file."""

    names: dict[str, Public]  # of what it defines at its top
    classes: list[str]  # by their qualified names, those inside of others too


NOTHING = Public("", "")


def packed_names(rows: Mapping[str, Named]) -> bytes:
    """Public names as bytes."""
    encode = msgspec.msgpack.encode
    return encode({path: encode(row) for path, row in rows.items()})


class PublicNames:
    """The public names of a repository."""

    def __init__(self, data: bytes) -> None:
        self.rows = msgspec.msgpack.decode(data, type=dict[str, bytes]) if data else {}
        self._known: dict[str, Named] = {}

    def of(self, path: str, parts: list[str]) -> Public:
        """The public name of a symbol by the names in its key; an empty one where it has none."""
        row = self._row(path) if path in self.rows else None
        top = row.names.get(parts[0]) if row is not None and parts else None
        if row is None or top is None:
            return NOTHING
        if len(parts) > 1 and ".".join(parts[:-1]) not in row.classes:
            return NOTHING  # what stands inside of a function is nobody's to name
        return Public(".".join([top.dotted, *parts[1:]]), top.by)

    def _row(self, path: str) -> Named:
        found = self._known.get(path)
        if found is None:
            found = self._known[path] = msgspec.msgpack.decode(self.rows[path], type=Named)
        return found

    def meant(self, parts: list[str]) -> list[tuple[str, list[str]]]:
        """The files, each with the names in a symbol's key, that a public name may mean: its longest beginning that is
        one of a definition at the top of a file, and behind it members."""
        for count in range(len(parts), 0, -1):
            found = self._by_name.get(".".join(parts[:count]))
            if found:
                return [(path, [name, *parts[count:]]) for path, name in found]
        return []

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        for path in sorted(self.rows):
            for name, public in self._row(path).names.items():
                found.setdefault(public.dotted, []).append((path, name))
        return found
