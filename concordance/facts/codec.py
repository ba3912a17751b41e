"""Encodes facts as bytes and decodes them, for the store, the cache and the workers.

In: `FileFacts` and other rows. Out: MessagePack. Decoding checks the types, so a store that somebody else made can be
wrong but cannot do harm. Partial decoders read only some fields of a file's facts, at a fraction of the cost.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple, get_type_hints

import msgspec

from concordance.base.model import (
    End,
    FileFacts,
    Finding,
    Flow,
    ForeignName,
    Import,
    Links,
    Metrics,
    Scope,
    Target,
    Term,
    pack_column,
    unpack_column,
)

# --- public names of Python definitions
# The names by which users import what Python files define. Each file is encoded separately, so that looking up one name
# decodes one file.


PUBLIC = "public"  # key of this value in the store


class PublicName(NamedTuple):
    """A public name."""

    dotted: str
    by: str  # the module that re-exports it, or the document that lists it; "" if it is its own module's


class FileNames(NamedTuple):
    """The public names of one file."""

    names: dict[str, PublicName]  # of its top-level definitions
    classes: list[str]  # qualified names of its classes, including nested ones


NOTHING = PublicName("", "")


def pack_names(rows: Mapping[str, FileNames]) -> bytes:
    """Encode public names."""
    encode = msgspec.msgpack.encode
    return encode({path: encode(row) for path, row in rows.items()})


class PublicNames:
    """The public names of a repository."""

    def __init__(self, data: bytes) -> None:
        self.rows = msgspec.msgpack.decode(data, type=dict[str, bytes]) if data else {}
        self._decoded: dict[str, FileNames] = {}

    def of(self, path: str, parts: list[str]) -> PublicName:
        """Return the public name of a symbol by the names in its key; an empty one if it has none."""
        row = self._row(path) if path in self.rows else None
        top = row.names.get(parts[0]) if row is not None and parts else None
        if row is None or top is None:
            return NOTHING
        if len(parts) > 1 and ".".join(parts[:-1]) not in row.classes:
            return NOTHING  # names inside a function are not public
        return PublicName(".".join([top.dotted, *parts[1:]]), top.by)

    def _row(self, path: str) -> FileNames:
        row = self._decoded.get(path)
        if row is None:
            row = self._decoded[path] = msgspec.msgpack.decode(self.rows[path], type=FileNames)
        return row

    def matching(self, parts: list[str]) -> list[tuple[str, list[str]]]:
        """Return the files, each with the names of a symbol's key, that a public name may refer to.

        The longest prefix that is the public name of a top-level definition is used; the rest are members.
        """
        for count in range(len(parts), 0, -1):
            names = self._by_name.get(".".join(parts[:count]))
            if names:
                return [(path, [name, *parts[count:]]) for path, name in names]
        return []

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[str, str]]]:
        rows: dict[str, list[tuple[str, str]]] = {}
        for path in sorted(self.rows):
            for name, public in self._row(path).names.items():
                rows.setdefault(public.dotted, []).append((path, name))
        return rows


# --- facts of a file


_Tested = dict[int, tuple[list[tuple[int, bytes]], int]]


class Columns(NamedTuple):
    """`Occurrences` with the same fields in the same order; the names themselves stay encoded."""

    names: msgspec.Raw = msgspec.Raw()
    name: bytes = b""
    step: bytes = b""
    role: bytes = b""
    scope: bytes = b""
    bound: bytes = b""
    receiver: bytes = b""
    lengths: bytes = b""
    use: bytes = b""


class FileScopes(NamedTuple):
    """A file's names and scopes: `FileFacts` with the same fields in the same order, all others still encoded."""

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
    patterns: msgspec.Raw = msgspec.Raw()
    ends: msgspec.Raw = msgspec.Raw()
    flow: msgspec.Raw = msgspec.Raw()


class SymbolHead(msgspec.Struct, array_like=True, frozen=True):
    """The first fields of `Symbol`, in the same order; the others are skipped."""

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
    condition: str = ""
    modifiers: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()


class FileOutline(msgspec.Struct, array_like=True, frozen=True):
    """A file's definitions and documentation: `FileFacts` with the same fields in the same order, others encoded."""

    symbols: tuple[SymbolHead, ...] = ()
    scopes: msgspec.Raw = msgspec.Raw()
    occurrences: msgspec.Raw = msgspec.Raw()
    imports: tuple[Import, ...] = ()
    terms: msgspec.Raw = msgspec.Raw()
    findings: msgspec.Raw = msgspec.Raw()
    metrics: Metrics = Metrics()
    doc: str = ""
    exports: tuple[str, ...] | None = None


class FileFindings(NamedTuple):
    """A file's findings: `FileFacts` with the same fields in the same order, all others still encoded."""

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
    patterns: msgspec.Raw = msgspec.Raw()
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
def _scopes_decoder() -> msgspec.msgpack.Decoder[FileScopes]:
    return msgspec.msgpack.Decoder(FileScopes)


@cache
def _outline_decoder() -> msgspec.msgpack.Decoder[FileOutline]:
    return msgspec.msgpack.Decoder(FileOutline)


def unpack_outline(data: bytes) -> FileOutline:
    """Decode a file's definitions and documentation, at a fifth of the cost of all of its facts."""
    outline, none = _outline_decoder().decode(data), msgspec.Raw()
    # An encoded field refers to all of the data, which is many times larger than the outline that is kept.
    return msgspec.structs.replace(outline, scopes=none, occurrences=none, terms=none, findings=none)


def unpack_bases(data: bytes) -> dict[str, tuple[str, ...]]:
    """Return the bases that the classes of a file state, by key."""
    return {symbol.key: symbol.bases for symbol in _outline_decoder().decode(data).symbols if symbol.bases}


@cache
def _findings_decoder() -> msgspec.msgpack.Decoder[FileFindings]:
    return msgspec.msgpack.Decoder(FileFindings)


def unpack_findings(data: bytes) -> tuple[Finding, ...]:
    """Decode the findings in a file's facts, at a fraction of the cost of all facts."""
    return _findings_decoder().decode(data).findings


@cache
def _remarks_decoder() -> msgspec.msgpack.Decoder[tuple[Finding, ...]]:
    return msgspec.msgpack.Decoder(tuple[Finding, ...])


def unpack_remarks(data: bytes) -> tuple[Finding, ...]:
    """Decode the remarks of an external checker about a file."""
    return _remarks_decoder().decode(data)


def unpack_scopes(data: bytes) -> FileScopes:
    """Decode the names in a file's facts, at a tenth of the cost of all facts."""
    return _scopes_decoder().decode(data)


def unpack_names(occurrences: Columns) -> tuple[str, ...]:
    """Decode the distinct names in a file."""
    if not occurrences.role:
        return ()
    return msgspec.msgpack.decode(occurrences.names, type=tuple[str, ...])


def unpack_terms(data: bytes) -> tuple[Term, ...]:
    """Decode only the terms in a file's facts."""
    return decode_terms(unpack_scopes(data).terms)


def terms_in(data: bytes) -> bytes:
    """Return the terms in a file's facts, still encoded; empty if there are none."""
    terms = bytes(unpack_scopes(data).terms)
    return terms if terms != pack_terms(()) else b""


def pack_terms(terms: tuple[Term, ...]) -> bytes:
    """Encode terms."""
    return _encoder().encode(terms)


def decode_terms(terms: bytes | msgspec.Raw) -> tuple[Term, ...]:
    """Decode terms that `terms_in` returned."""
    return _terms_decoder().decode(terms) if terms else ()


@cache
def _terms_decoder() -> msgspec.msgpack.Decoder[tuple[Term, ...]]:
    return msgspec.msgpack.Decoder(tuple[Term, ...])


def unpack_flow(data: bytes) -> Flow:
    """Decode a file's flow."""
    return _flow_decoder().decode(data)


@cache
def _flow_without_names_decoder() -> msgspec.msgpack.Decoder[Any]:
    """Return a decoder for a flow with the same fields in the same order, in which the names stay encoded."""
    types = {**get_type_hints(Flow), "names": msgspec.Raw}
    defaults = {**Flow._field_defaults, "names": msgspec.Raw()}
    fields = [(name, types[name], msgspec.field(default=defaults[name])) for name in Flow._fields]
    return msgspec.msgpack.Decoder(msgspec.defstruct("FlowWithoutNames", fields, array_like=True, frozen=True))


def unpack_flow_without_names(data: bytes) -> tuple[Flow, bytes]:
    """Decode a file's flow except its names, and return these as they are encoded: decoded they take more memory than
    everything else."""
    _, *columns = msgspec.structs.astuple(flow := _flow_without_names_decoder().decode(data))
    return Flow((), *columns), bytes(flow.names)


def unpack_flow_names(names: bytes) -> tuple[str, ...]:
    """Decode the names that `unpack_flow_without_names` returned."""
    return msgspec.msgpack.decode(names, type=tuple[str, ...]) if names else ()


@cache
def _imports_decoder() -> msgspec.msgpack.Decoder[Any]:
    """Return a decoder for a flow with the same fields in the same order, in which all but the imports stay encoded."""
    wanted, other = (tuple[Import, ...], msgspec.field(default=())), (msgspec.Raw, msgspec.field(default=msgspec.Raw()))
    fields = [(name, *(wanted if name == "imports" else other)) for name in Flow._fields]
    return msgspec.msgpack.Decoder(msgspec.defstruct("Imports", fields, array_like=True, frozen=True))


def unpack_imports(data: bytes) -> tuple[Import, ...]:
    """Decode the imports in a file's flow, at a fraction of the cost of the whole flow."""
    imports: tuple[Import, ...] = _imports_decoder().decode(data).imports
    return imports


@cache
def _ends_decoder() -> msgspec.msgpack.Decoder[tuple[End, ...]]:
    return msgspec.msgpack.Decoder(tuple[End, ...])


def unpack_ends(data: bytes) -> tuple[End, ...]:
    """Decode a file's ends of bridges."""
    return _ends_decoder().decode(data)


def unpack_links(data: bytes) -> Links:
    """Decode a file's links."""
    return _links_decoder().decode(data)


def pack(facts: FileFacts | Flow | Links | tuple[End, ...]) -> bytes:
    """Encode facts. A lone surrogate, which a string literal can contain, is not valid text: it becomes "?"."""
    try:
        return _encoder().encode(facts)
    except UnicodeEncodeError:
        return _encoder().encode(_text_only(facts))


def pack_foreign_names(asks: list[ForeignName]) -> bytes:
    """Encode the names that a file looks for in other languages."""
    return _encoder().encode(asks)


def unpack_foreign_names(data: bytes) -> list[ForeignName]:
    """Decode the names that a file looks for in other languages."""
    return msgspec.msgpack.decode(data, type=list[ForeignName])


def pack_targets(targets: list[Target]) -> bytes:
    """Encode the targets of imports; if a path cannot be encoded, fall back to its `repr`."""
    try:
        return _encoder().encode(targets)
    except UnicodeEncodeError:
        return repr(targets).encode("ascii", "backslashreplace")


def unpack(data: bytes) -> FileFacts:
    """Decode facts; raise msgspec.ValidationError or DecodeError if they are invalid."""
    return _decoder().decode(data)


def _text_only(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, tuple):
        return [_text_only(item) for item in value]
    return value


# --- results of whole-repository analyses
# Rows name files and symbols by their ids; the ids of many symbols are a column.


class FileTests(NamedTuple):
    """The tests that reach a file."""

    near: list[tuple[int, int]]  # ids and steps, nearest first: those within one or two steps, or else the nearest
    farther: int = 0  # number of other tests, which need more steps


def encode_rows(rows: Any) -> bytes:
    """Encode plain rows."""
    return msgspec.msgpack.encode(rows)


_TestRows = Mapping[int, tuple[Sequence[tuple[int, Sequence[int]]], int]]


def pack_tests(rows: _TestRows) -> bytes:
    """Encode the tests of files, by file id: the tests' ids by number of steps, and the number of other tests."""
    return encode_rows(_packed_tests(rows))


def _packed_tests(rows: _TestRows) -> _Tested:
    return {
        file: ([(steps, pack_column(list(ids))) for steps, ids in near], farther)
        for file, (near, farther) in rows.items()
    }


def patch_tests(packed: bytes, files: Collection[int], rows: _TestRows, order: Mapping[int, int]) -> bytes:
    """Replace the tests of some files in the encoded tests of all; `order` has the position of each file among all."""
    others = {file: row for file, row in TestedFiles(packed).rows.items() if file not in files}
    rows_by_file = {**others, **_packed_tests(rows)}
    return encode_rows({file: rows_by_file[file] for file in sorted(rows_by_file, key=order.__getitem__)})


class TestedFiles:
    """The tests of all files; those of a file are decoded on request."""

    def __init__(self, data: bytes) -> None:
        self.rows = msgspec.msgpack.decode(data, type=_Tested) if data else {}

    def of(self, file: int) -> FileTests:
        """Return the tests of a file by its id."""
        near, farther = self.rows.get(file, ([], 0))
        return FileTests([(test, steps) for steps, column in near for test in unpack_column(column)], farther)


def unpack_cycles(data: bytes) -> list[list[int]]:
    """Decode the dependency cycles, as ids of files."""
    return msgspec.msgpack.decode(data, type=list[list[int]]) if data else []


def unpack_layers(data: bytes) -> dict[int, tuple[int, int]]:
    """Decode the height and depth of files, by file id."""
    return msgspec.msgpack.decode(data, type=dict[int, tuple[int, int]]) if data else {}


def unpack_clusters(data: bytes) -> list[tuple[int, list[int]]]:
    """Decode groups of files, as ids, each with its key file."""
    return msgspec.msgpack.decode(data, type=list[tuple[int, list[int]]]) if data else []


def unpack_paths(data: bytes) -> list[str]:
    """Decode paths."""
    return [os.fsdecode(path) for path in msgspec.msgpack.decode(data, type=list[bytes])] if data else []


def pack_paths(paths: Iterable[str]) -> bytes:
    """Encode paths, whatever the encoding of their names."""
    return encode_rows([os.fsencode(path) for path in sorted(paths)])
