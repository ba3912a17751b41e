"""The tokens of a C file, with those macros written out that make a text of a name they are given.

In: the bytes. Out: tokens (kind, text, offset) and directives, in the order of the text. `#define VS(n) def(#n, &T::n)`
is how files say a long list of bindings in short; what is written out of such a macro stands where it is called, and
what it was given, where that is written. Only macros of the same file are known; those that paste names are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    rb"(?P<blank>\s+|//(?:[^\n\\]|\\.)*|/\*.*?(?:\*/|\Z))"
    rb"|(?P<raw>(?:u8|[uUL])?R\"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)\"|\Z))"
    rb"|(?P<string>(?:u8|[uUL])?\"(?:[^\"\\\n]|\\.)*\")"
    rb"|(?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')"
    rb"|(?P<name>[A-Za-z_]\w*)"
    rb"|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"
    rb"|(?P<directive>\#[ \t]*\w*(?:[^\n\\]|\\.)*)"
    rb"|(?P<sign>::|->|\.\.\.|.)",
    re.S,
)
_MACRO = re.compile(rb"#\s*define\s+(\w+)\(([^()]*)\)(.*)", re.S)
_ROWS = re.compile(rb"#\s*define\s+(\w+)\s+((?:\\\s)*\{\s*(?:\\\s)*(?:\(char\s*\*\)\s*)?\".*)", re.S)
_UNDEFINED = re.compile(rb"#\s*undef\s+(\w+)")
_TEXT = re.compile(rb"(?<!#)#\s*([A-Za-z_]\w*)")
_MARK = "__text_of__"  # before the name of a parameter: its text is meant
_LONGEST = 4000  # bytes of a macro that is written out


class Token(NamedTuple):
    """A word or a sign."""

    kind: str
    text: str
    at: int


class _Macro(NamedTuple):
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]


def tokens_of(data: bytes) -> Iterator[Token]:
    """All tokens but blanks and comments; a directive is one."""
    macros: dict[str, _Macro] = {}
    read = list(_plain(data))
    place = 0
    while place < len(read):
        one = read[place]
        place += 1
        if one.kind == "directive":
            _learn(one.text.encode("utf-8", "replace"), macros)
            yield one
        elif one.kind == "name" and one.text in macros:
            macro = macros[one.text]
            if macro.parameters is None:
                yield from (token._replace(at=one.at) for token in macro.body)
            elif place < len(read) and read[place].text == "(":
                given, place = _arguments(read, place)
                yield from _written(macro, given, one.at)
            else:
                yield one
        else:
            yield one


def _plain(data: bytes) -> Iterator[Token]:
    for match in _TOKEN.finditer(data):
        kind = match.lastgroup or ""
        if kind != "blank":
            yield Token(kind, match[0].decode("utf-8", "replace"), match.start())


def _learn(directive: bytes, macros: dict[str, _Macro]) -> None:
    """Notes a macro that is worth writing out."""
    gone = _UNDEFINED.match(directive)
    if gone is not None:
        macros.pop(gone[1].decode(), None)
    if len(directive) > _LONGEST or b"##" in directive:
        return
    rows = _ROWS.match(directive)
    if rows is not None:
        macros[rows[1].decode()] = _Macro(None, _body(rows[2]))
        return
    found = _MACRO.match(directive)
    if found is not None and _TEXT.search(found[3]):
        parameters = tuple(one.strip().decode() for one in found[2].split(b","))
        body = _body(_TEXT.sub(_MARK.encode() + rb"\1", found[3]))
        macros[found[1].decode()] = _Macro(parameters, body)


def _body(text: bytes) -> tuple[Token, ...]:
    return tuple(one for one in _plain(text) if one.text != "\\")


def _arguments(read: list[Token], opened: int) -> tuple[list[list[Token]], int]:
    """What a macro is given, and the place behind its call."""
    given: list[list[Token]] = [[]]
    depth, place = 0, opened
    while place < len(read):
        one = read[place]
        depth += (one.text in "([{") - (one.text in ")]}") if one.kind == "sign" else 0
        place += 1
        if not depth:
            break
        if depth == 1 and one.text == ",":
            given.append([])
        elif place - 1 > opened:
            given[-1].append(one)
    return given, place


def _written(macro: _Macro, given: list[list[Token]], at: int) -> Iterator[Token]:
    table = dict(zip(macro.parameters or (), given, strict=False))
    for one in macro.body:
        if one.kind == "name" and one.text in table:
            yield from table[one.text]
        elif one.kind == "name" and one.text.removeprefix(_MARK) in table:
            part = table[one.text.removeprefix(_MARK)]
            text = "".join(token.text for token in part).replace("\\", "\\\\").replace('"', '\\"')
            yield Token("string", f'"{text}"', part[0].at if part else at)
        else:
            yield one._replace(at=at)
