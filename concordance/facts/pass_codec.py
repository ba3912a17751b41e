"""What analyses over the whole give, as bytes and back, in types.

In: rows that name files and symbols by their ids. Out: MessagePack, as all that is packed; ids of many symbols are a
column.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from concordance.base.model import packed, unpacked

_Tested = dict[int, tuple[list[tuple[int, bytes]], int]]


class Tested(NamedTuple):
    """The tests that reach a file."""

    near: list[tuple[int, int]]  # ids and steps, nearest first: those of a step or two, or else the nearest
    farther: int = 0  # how many others reach it in more steps


def encoded(rows: Any) -> bytes:
    """Plain rows as bytes."""
    return msgspec.msgpack.encode(rows)


def packed_tested(rows: Mapping[int, tuple[Sequence[tuple[int, Sequence[int]]], int]]) -> bytes:
    """The tests of files by the files' ids: by steps the tests' ids, and the number of the others."""
    return encoded({
        base: ([(steps, packed(list(ids))) for steps, ids in near], farther) for base, (near, farther) in rows.items()
    })  # fmt: skip


def moved_tested(data: bytes, moved: Mapping[int, int]) -> bytes:
    """The tests of files with the ids that files and tests have now."""
    rows = msgspec.msgpack.decode(data, type=_Tested) if data else {}
    for near, _ in rows.values():
        for place, (steps, column) in enumerate(near):
            ids = unpacked(column)
            if not moved.keys().isdisjoint(ids):
                near[place] = (steps, packed([moved.get(one, one) for one in ids]))
    return encoded({moved.get(base, base): row for base, row in rows.items()})


class TestedFiles:
    """The tests of all files; those of one are unpacked when they are asked for."""

    def __init__(self, data: bytes) -> None:
        self.rows = msgspec.msgpack.decode(data, type=_Tested) if data else {}

    def of(self, base: int) -> Tested:
        """The tests of a file by its id."""
        near, farther = self.rows.get(base, ([], 0))
        return Tested([(one, steps) for steps, column in near for one in unpacked(column)], farther)


def cycles_from(data: bytes) -> list[list[int]]:
    """The files that need one another, by their ids."""
    return msgspec.msgpack.decode(data, type=list[list[int]]) if data else []


def standings_from(data: bytes) -> dict[int, tuple[int, int]]:
    """The height and depth of files by their ids."""
    return msgspec.msgpack.decode(data, type=dict[int, tuple[int, int]]) if data else {}


def clusters_from(data: bytes) -> list[tuple[int, list[int]]]:
    """Groups of files by their ids, each with its key file."""
    return msgspec.msgpack.decode(data, type=list[tuple[int, list[int]]]) if data else []


def looked_up_from(data: bytes) -> tuple[list[str], list[int]]:
    """What bridges were joined by: names whose carriers were asked for, and ids whose users were."""
    return msgspec.msgpack.decode(data, type=tuple[list[str], list[int]]) if data else ([], [])


def paths_from(data: bytes) -> list[str]:
    """Some paths."""
    return [os.fsdecode(path) for path in msgspec.msgpack.decode(data, type=list[bytes])] if data else []


def packed_paths(paths: Iterable[str]) -> bytes:
    """Some paths as bytes, in whatever encoding their names are."""
    return encoded([os.fsencode(path) for path in sorted(paths)])
