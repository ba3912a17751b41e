"""Protocol Buffers (proto2, proto3, editions): messages, fields, enums, services.

The text is read token by token with a stack of open blocks; no declaration needs more than its own tokens. A field
that extends another message is defined where it is written, with that message as its base. Options, reserved ranges
and extension ranges give no symbols. A syntax error only loses the statement that contains it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from concordance.base.model import DocMarkup, Kind, Language, Parameter, Role
from concordance.extract.reading import typed_flow
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.reading.trees import one_line
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "proto",
    "Protocol Buffers",
    unseen="uses of generated code",
    extensions=(".proto", ".protodevel"),
    aliases=("protobuf",),
    fence="protobuf",
    doc_markup=DocMarkup.COMMANDS,
)

# A token of Protocol Buffers
_TOKEN = re.compile(
    rb"(?P<comment>//[^\r\n]*|/\*.*?(?:\*/|\Z))"
    rb"|(?P<text>\"(?:[^\"\\\r\n]|\\.)*\"?|'(?:[^'\\\r\n]|\\.)*'?)"
    rb"|(?P<name>\.?[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*)"
    rb"|(?P<number>[\d.][\w.]*(?:(?<=[eE])[+-]\d+)?)"
    rb"|(?P<sign>\S)",
    re.S,
)
_PART = re.compile(rb"[A-Za-z_]\w*")
_SCALARS = frozenset(
    b"double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string bytes "
    b"group".split()
)
_LABELS = frozenset((b"optional", b"required", b"repeated"))
_BLOCKS = {
    b"message": Kind.STRUCT,
    b"enum": Kind.ENUM,
    b"service": Kind.INTERFACE,
    b"oneof": Kind.UNION,
    b"extend": None,
}
_UNNAMED = frozenset((b"option", b"reserved", b"extensions", b"syntax", b"edition"))
_OPENING = {b"{": 1, b"[": 1, b"(": 1, b"}": -1, b"]": -1, b")": -1}


class ProtoToken(NamedTuple):
    """A word or sign with its offsets."""

    start: int
    end: int
    kind: str
    text: bytes


@dataclass(slots=True)
class _Block:
    word: bytes  # "message", "enum", …, or "skip" for a block without declarations
    definition: Definition | None
    extends: str = ""


def read(source: Source) -> Draft:
    """Parse one proto file into a `Draft`."""
    draft = Draft(source, sees_members=True)
    reading = _Reading(draft)
    statement: list[ProtoToken] = []
    depth = 0  # nesting depth of brackets inside a statement
    for match in _TOKEN.finditer(source.data):
        kind = match.lastgroup or ""
        if kind == "comment":
            draft.comments.append(match.span())
            continue
        token = ProtoToken(match.start(), match.end(), kind, match[0])
        if kind == "sign":
            value = token.text == b"{" and _holds_values(statement)
            if value or token.text in (b"[", b"(") or (depth and token.text in _OPENING):
                depth = max(0, depth + _OPENING[token.text])
            elif depth == 0 and token.text in (b";", b"{", b"}"):
                reading.statement(statement, token)
                statement = []
                continue
        statement.append(token)
    reading.finish(statement)
    draft.build_flow = typed_flow.build_typed_flow
    return draft


def _holds_values(statement: list[ProtoToken]) -> bool:
    """True if a brace after these tokens opens a value rather than a block of declarations."""
    return bool(statement) and (statement[0].text == b"option" or statement[-1].text in (b"=", b":"))


@dataclass(slots=True)
class _Reading:
    draft: Draft
    blocks: list[_Block] = field(default_factory=list)

    def statement(self, tokens: list[ProtoToken], end: ProtoToken) -> None:
        if end.text == b"}":
            if tokens:
                self._wrong(tokens)
            if not self.blocks:
                self.draft.problem(end.start, end.end, "syntax error at `}`: nothing is open")
                return
            block = self.blocks.pop()
            if block.definition is not None:
                block.definition.end = end.end
            return
        inner = self.blocks[-1].word if self.blocks else b""
        opened = self._declaration(tokens, end, inner) if tokens else None
        if end.text == b"{":
            self.blocks.append(opened or _Block(b"skip", None))

    def finish(self, tokens: list[ProtoToken]) -> None:
        """Report an unfinished statement and blocks that were never closed."""
        if tokens:
            self._wrong(tokens)
        for block in self.blocks:
            if block.definition is not None:
                block.definition.end = len(self.draft.source.data.rstrip())
                self.draft.problem(block.definition.start, block.definition.at, "syntax error: `}` is missing")

    def _wrong(self, tokens: list[ProtoToken]) -> None:
        first, last = tokens[0], tokens[-1]
        words = one_line(self.draft.source.slice(first.start, min(last.end, first.start + 60)))
        self.draft.error_bytes += last.end - first.start
        self.draft.problem(first.start, last.end, f"syntax error at `{words}`")

    def _declaration(self, tokens: list[ProtoToken], end: ProtoToken, inner: bytes) -> _Block | None:
        words = [token.text for token in tokens]
        word = words[0]
        named = len(tokens) > 1 and tokens[1].kind == "name"
        if inner == b"skip" or word in _UNNAMED:
            return None
        if inner == b"enum":
            self._field(tokens, end, Kind.ENUMERATOR, 0)
        elif word == b"rpc" and named:
            return self._rpc(tokens, end)
        elif word in _BLOCKS and named and end.text == b"{" and len(tokens) == 2:
            return self._block(tokens, end)
        elif word == b"package" and named and not inner:
            self._define(Kind.NAMESPACE, tokens[1], tokens, end, nests=False)
        elif word == b"import" and tokens[-1].kind == "text":
            form = words[1].decode("utf-8", "replace") if len(words) > 2 else ""
            self.draft.add_import(tokens[-1].start, words[-1].strip(b"\"'").decode("utf-8", "replace"), form=form)
        elif b"=" in words and inner in (b"message", b"oneof", b"extend", b"group"):
            return self._member(tokens, end)
        else:
            self._wrong(tokens)
        return None

    def _define(
        self, kind: Kind, name: ProtoToken, tokens: list[ProtoToken], end: ProtoToken, **details: object
    ) -> Definition:
        words = one_line(self.draft.source.slice(tokens[0].start, tokens[-1].end))
        return self.draft.define(
            kind, name.text.decode("utf-8", "replace"), name.start, tokens[0].start, end.end, signature=words, **details
        )

    def _block(self, tokens: list[ProtoToken], end: ProtoToken) -> _Block:
        word, name = tokens[0].text, tokens[1]
        kind = _BLOCKS[word]
        if kind is None:
            self._type(name)
            return _Block(word, None, name.text.decode("utf-8", "replace"))
        return _Block(word, self._define(kind, name, tokens, end))

    def _rpc(self, tokens: list[ProtoToken], end: ProtoToken) -> _Block:
        types = [token for token in tokens[2:] if token.kind == "name" and token.text not in (b"stream", b"returns")]
        for token in types:
            self._type(token)
        text = self.draft.source.slice(tokens[0].start, tokens[-1].end)
        sides = re.findall(r"\(([^)]*)\)", text)
        parameters = (Parameter("", "", one_line(sides[0])),) if sides else ()
        returns = one_line(sides[1]) if len(sides) > 1 else ""
        definition = self._define(Kind.METHOD, tokens[1], tokens, end, parameters=parameters, returns=returns)
        return _Block(b"skip", definition)

    def _member(self, tokens: list[ProtoToken], end: ProtoToken) -> _Block | None:
        """Define a field, a map, or a proto2 group, which is a field and a message in one."""
        at = 1 if tokens[0].text in _LABELS and len(tokens) > 3 else 0
        kind = tokens[at]
        if kind.text == b"group" and tokens[at + 1].kind == "name" and end.text == b"{":
            return _Block(b"group", self._define(Kind.STRUCT, tokens[at + 1], tokens, end, modifiers=("group",)))
        if kind.text == b"map" and tokens[at + 1].text == b"<":
            close = next((n for n, token in enumerate(tokens) if token.text == b">"), at)
            for token in tokens[at + 2 : close]:
                if token.kind == "name":
                    self._type(token)
        else:
            self._type(kind)
            close = at
        self._field(tokens, end, Kind.FIELD, close + 1)
        return None

    def _field(self, tokens: list[ProtoToken], end: ProtoToken, kind: Kind, at: int) -> None:
        if at + 1 >= len(tokens) or tokens[at].kind != "name" or tokens[at + 1].text != b"=":
            self._wrong(tokens)
            return
        options = next((n for n, token in enumerate(tokens) if token.text == b"["), len(tokens))
        label = tokens[0].text
        modifiers = (label.decode(),) if kind == Kind.FIELD and label in _LABELS else ()
        extends = self.blocks[-1].extends if self.blocks else ""
        returns = one_line(self.draft.source.slice(tokens[len(modifiers)].start, tokens[at].start)) if at else ""
        if any(token.text == b"deprecated" for token in tokens[options:]):
            modifiers = (*modifiers, "deprecated")
        self._define(
            kind, tokens[at], tokens[:options], end, modifiers=modifiers, bases=(extends,) if extends else (),
            returns=returns,
        )  # fmt: skip

    def _type(self, token: ProtoToken) -> None:
        """Record each part of a type's name."""
        if token.text in _SCALARS:
            return
        parts = [(token.start + m.start(), token.start + m.end()) for m in _PART.finditer(token.text)]
        self.draft.add_names(parts[:-1], Role.READ)
        self.draft.add_names(parts[-1:], Role.TYPE)
        self.draft.members.update(start for start, _ in parts[1:])
