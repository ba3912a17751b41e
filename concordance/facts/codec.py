"""Facts as bytes and back: what the store, the cache and the workers hand around.

In: `FileFacts`. Out: MessagePack, typed when it is read, so that a store made by somebody else can
be wrong but cannot do harm.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import msgspec

from concordance.base.model import Ask, End, FileFacts, Finding, Flow, Import, Links, Metrics, Scope, Target, Term


class Columns(NamedTuple):
    """`Occurrences` with the same fields in the same order, of which the names themselves are still packed."""

    names: msgspec.Raw = msgspec.Raw()
    name: bytes = b""
    step: bytes = b""
    role: bytes = b""
    scope: bytes = b""
    bound: bytes = b""
    receiver: bytes = b""
    lengths: bytes = b""
    use: bytes = b""


class Named(NamedTuple):
    """A file's names and scopes: `FileFacts` with the same fields in the same order, all others still packed."""

    symbols: msgspec.Raw
    scopes: tuple[Scope, ...] = ()
    occurrences: Columns = Columns()
    imports: msgspec.Raw = msgspec.Raw()
    terms: msgspec.Raw = msgspec.Raw()
    findings: msgspec.Raw = msgspec.Raw()
    metrics: msgspec.Raw = msgspec.Raw()
    doc: msgspec.Raw = msgspec.Raw()
    exports: msgspec.Raw = msgspec.Raw()
    complexity: msgspec.Raw = msgspec.Raw()
    ends: msgspec.Raw = msgspec.Raw()
    flow: msgspec.Raw = msgspec.Raw()


class Defined(msgspec.Struct, array_like=True, frozen=True):
    """The first fields of `Symbol`, in the same order; the others are passed over."""

    key: str
    kind: str
    name: str
    parent: int
    line: int
    col: int
    start_line: int
    end_line: int
    signature: str = ""
    doc: str = ""
    public: bool = True
    declaration: bool = False


class Outline(msgspec.Struct, array_like=True, frozen=True):
    """What a file defines and says of itself: `FileFacts` with the same fields in the same order, others packed."""

    symbols: tuple[Defined, ...] = ()
    scopes: msgspec.Raw = msgspec.Raw()
    occurrences: msgspec.Raw = msgspec.Raw()
    imports: tuple[Import, ...] = ()
    terms: msgspec.Raw = msgspec.Raw()
    findings: msgspec.Raw = msgspec.Raw()
    metrics: Metrics = Metrics()
    doc: str = ""
    exports: tuple[str, ...] | None = None


class Judged(NamedTuple):
    """What is said of a file: `FileFacts` with the same fields in the same order, all others still packed."""

    symbols: msgspec.Raw
    scopes: msgspec.Raw = msgspec.Raw()
    occurrences: msgspec.Raw = msgspec.Raw()
    imports: msgspec.Raw = msgspec.Raw()
    terms: msgspec.Raw = msgspec.Raw()
    findings: tuple[Finding, ...] = ()
    metrics: msgspec.Raw = msgspec.Raw()
    doc: msgspec.Raw = msgspec.Raw()
    exports: msgspec.Raw = msgspec.Raw()
    complexity: bytes = b""
    ends: msgspec.Raw = msgspec.Raw()
    flow: msgspec.Raw = msgspec.Raw()


@cache
def _encoder() -> msgspec.msgpack.Encoder:
    return msgspec.msgpack.Encoder()


@cache
def _decoder() -> msgspec.msgpack.Decoder[FileFacts]:
    return msgspec.msgpack.Decoder(FileFacts)


@cache
def _flow_decoder() -> msgspec.msgpack.Decoder[Flow]:
    return msgspec.msgpack.Decoder(Flow)


@cache
def _links_decoder() -> msgspec.msgpack.Decoder[Links]:
    return msgspec.msgpack.Decoder(Links)


@cache
def _named_decoder() -> msgspec.msgpack.Decoder[Named]:
    return msgspec.msgpack.Decoder(Named)


@cache
def _outline_decoder() -> msgspec.msgpack.Decoder[Outline]:
    return msgspec.msgpack.Decoder(Outline)


def unpack_outline(data: bytes) -> Outline:
    """What a file defines and says of itself, for a fifth of what all of its facts cost."""
    return _outline_decoder().decode(data)


@cache
def _judged_decoder() -> msgspec.msgpack.Decoder[Judged]:
    return msgspec.msgpack.Decoder(Judged)


def unpack_findings(data: bytes) -> tuple[Finding, ...]:
    """The findings in a file's facts, for a fraction of what all of them cost."""
    return _judged_decoder().decode(data).findings


@cache
def _remarks_decoder() -> msgspec.msgpack.Decoder[tuple[Finding, ...]]:
    return msgspec.msgpack.Decoder(tuple[Finding, ...])


def unpack_remarks(data: bytes) -> tuple[Finding, ...]:
    """What an outside checker says of a file."""
    return _remarks_decoder().decode(data)


def unpack_named(data: bytes) -> Named:
    """The names in a file's facts, for a tenth of what all of them cost."""
    return _named_decoder().decode(data)


def unpack_names(occurrences: Columns) -> tuple[str, ...]:
    """The different names in a file."""
    if not occurrences.role:
        return ()
    return msgspec.msgpack.decode(occurrences.names, type=tuple[str, ...])


def unpack_terms(data: bytes) -> tuple[Term, ...]:
    """The terms in a file's facts, and no more of them."""
    terms = unpack_named(data).terms
    return msgspec.msgpack.decode(terms, type=tuple[Term, ...]) if terms else ()


def unpack_flow(data: bytes) -> Flow:
    """Bytes as a file's flow."""
    return _flow_decoder().decode(data)


@cache
def _imports_decoder() -> msgspec.msgpack.Decoder[Any]:
    """Of a flow with the same fields in the same order, of which all but the imports are still packed."""
    wanted, other = (tuple[Import, ...], msgspec.field(default=())), (msgspec.Raw, msgspec.field(default=msgspec.Raw()))
    fields = [(name, *(wanted if name == "imports" else other)) for name in Flow._fields]
    return msgspec.msgpack.Decoder(msgspec.defstruct("Imports", fields, array_like=True, frozen=True))


def unpack_imports(data: bytes) -> tuple[Import, ...]:
    """The imports in a file's flow, for a fraction of what all of it costs."""
    found: tuple[Import, ...] = _imports_decoder().decode(data).imports
    return found


@cache
def _ends_decoder() -> msgspec.msgpack.Decoder[tuple[End, ...]]:
    return msgspec.msgpack.Decoder(tuple[End, ...])


def unpack_ends(data: bytes) -> tuple[End, ...]:
    """Bytes as a file's ends of bridges."""
    return _ends_decoder().decode(data)


def unpack_links(data: bytes) -> Links:
    """Bytes as a file's links."""
    return _links_decoder().decode(data)


def pack(facts: FileFacts | Flow | Links | tuple[End, ...]) -> bytes:
    """Facts as bytes. A lone surrogate, which a string literal can spell, is no text: it becomes "?"."""
    try:
        return _encoder().encode(facts)
    except UnicodeEncodeError:
        return _encoder().encode(_text_only(facts))


def packed_asks(asks: list[Ask]) -> bytes:
    """The names that a file asks other languages for, as bytes."""
    return _encoder().encode(asks)


def unpack_asks(data: bytes) -> list[Ask]:
    """The names that a file asks other languages for."""
    return msgspec.msgpack.decode(data, type=list[Ask])


def pack_targets(targets: list[Target]) -> bytes:
    """Where imports lead as bytes; a path in no encoding is spelt out."""
    try:
        return _encoder().encode(targets)
    except UnicodeEncodeError:
        return repr(targets).encode("ascii", "backslashreplace")


def unpack(data: bytes) -> FileFacts:
    """Bytes as facts; msgspec.ValidationError or DecodeError where they are none."""
    return _decoder().decode(data)


def _text_only(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, tuple):
        return [_text_only(item) for item in value]
    return value
