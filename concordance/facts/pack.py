"""Facts as bytes and back: what the store, the cache and the workers hand around.

In: `FileFacts`. Out: MessagePack, typed when it is read, so that a store made by somebody else can
be wrong but cannot do harm.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from concordance.model import FileFacts


@cache
def _encoder() -> msgspec.msgpack.Encoder:
    return msgspec.msgpack.Encoder()


@cache
def _decoder() -> msgspec.msgpack.Decoder[FileFacts]:
    return msgspec.msgpack.Decoder(FileFacts)


def pack(facts: FileFacts) -> bytes:
    """Facts as bytes. A lone surrogate, which a string literal can spell, is no text: it becomes "?"."""
    try:
        return _encoder().encode(facts)
    except UnicodeEncodeError:
        return _encoder().encode(_text_only(facts))


def unpack(data: bytes) -> FileFacts:
    """Bytes as facts; msgspec.ValidationError or DecodeError where they are none."""
    return _decoder().decode(data)


def _text_only(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, tuple):
        return [_text_only(item) for item in value]
    return value
