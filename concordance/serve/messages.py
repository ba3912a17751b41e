"""Messages between the server and its reader processes: first the length, then the encoded value.

In: values of the types below. Out: bytes for a socket, and back. The server waits for many messages at once
(`asyncio`), a reader for one at a time.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

_LENGTH = struct.Struct("<I")
READING = "reading"  # the version of a site while its repository is read for the first time


class Question(NamedTuple):
    """A request to a reader."""

    kind: str  # page, ask, head, renew or warm
    what: bytes = b""  # an address, or a command's name
    more: Mapping[str, str] = {}


class ReaderReply(NamedTuple):
    """The answer of a reader."""

    status: int
    type: str = ""
    data: bytes = b""
    packed: bool = False  # the data is gzipped
    tag: str = ""  # changes with the data
    more: Mapping[str, str] = {}  # headers
    version: str = ""  # of the store that the answer comes from
    fault: str = ""  # error message for the log
    why: str = ""  # what the error page says


def encode_message(value: object) -> bytes:
    """Encode a value, prefixed with its length."""
    data = msgspec.msgpack.encode(value)
    return _LENGTH.pack(len(data)) + data


async def read_reply(reader: asyncio.StreamReader) -> ReaderReply:
    """Read the next answer of a reader."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    return msgspec.msgpack.decode(await reader.readexactly(length), type=ReaderReply)


def read_question(end: socket.socket) -> Question | None:
    """Read the next request to a reader; None if the server has closed the connection."""
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
