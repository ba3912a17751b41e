"""What the server and its readers say to one another: questions and answers, each a packed value behind its length.

In: values of the types below. Out: bytes for a socket, and back. The server waits for many at once (`asyncio`), a
reader for one at a time.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import msgspec

_LENGTH = struct.Struct("<I")
Value = TypeVar("Value")


class Question(NamedTuple):
    """What a reader is asked."""

    about: str  # page, ask, head, renew or warm
    what: bytes = b""  # an address, or a command's name
    more: Mapping[str, str] = {}


class ReaderReply(NamedTuple):
    """What a reader answers."""

    status: int
    type: str = ""
    data: bytes = b""
    packed: bool = False  # whether the data is gzipped
    tag: str = ""  # another where the data is another
    more: Mapping[str, str] = {}  # headers
    version: str = ""  # of the store that it was answered from
    fault: str = ""  # for the log


def framed(value: object) -> bytes:
    """A value as bytes that say how many they are."""
    data = msgspec.msgpack.encode(value)
    return _LENGTH.pack(len(data)) + data


async def next_found(reader: asyncio.StreamReader) -> ReaderReply:
    """The next answer of a reader."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    return msgspec.msgpack.decode(await reader.readexactly(length), type=ReaderReply)


def next_question(end: socket.socket) -> Question | None:
    """The next question to a reader; None where the server is gone."""
    head = _exactly(end, _LENGTH.size)
    data = _exactly(end, _LENGTH.unpack(head)[0]) if head else None
    return msgspec.msgpack.decode(data, type=Question) if data else None


def _exactly(end: socket.socket, size: int) -> bytes | None:
    parts = []
    while size:
        part = end.recv(size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
