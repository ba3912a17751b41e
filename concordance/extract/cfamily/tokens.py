"""A tokeniser for C-family files that needs no grammar.

In: a file's bytes. Out: tokens, with matching brackets, argument lists and string values. C++ is bound to Python in
call chains and in tables interrupted by `#ifdef` and macros, where a parser gives up on the whole statement; with
tokens each piece can still be read. All branches of `#if` and `#else` are read.

Macros of the same file that turn an argument into a string (`#define VS(n) def(#n, &T::n)`, a common way to shorten
long lists of bindings) or that hold table rows are expanded. Expanded tokens have the position of the call, arguments
their own position. Macros that paste names with `##` are not expanded.
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
# A macro that is a row of a table: `#define ROW {"name", …`
_ROWS = re.compile(rb"#\s*define\s+(\w+)\s+((?:\\\s)*\{\s*(?:\\\s)*(?:\(char\s*\*\)\s*)?\".*)", re.S)
_UNDEFINED = re.compile(rb"#\s*undef\s+(\w+)")
# A parameter that a macro turns into a string: `#name`
_TEXT = re.compile(rb"(?<!#)#\s*([A-Za-z_]\w*)")
_MARK = "__text_of__"  # prefix of a parameter's name that marks it as stringised
_LONGEST_EXPANSION = 4000  # most bytes of a macro that is expanded
_DEFINED = re.compile(rb"#\s*define\s+(\w+)\s+(\"(?:[^\"\\\n]|\\.)*\")\s*$")
_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
_ESCAPE = re.compile(r"\\(.)", re.S)
_PLAIN = {"n": "\n", "t": "\t", "0": "\0", "r": "\r"}
_LONGEST = 400  # most tokens in a list of template arguments
TokenRange = tuple[int, int]  # a range of token indices, end exclusive


class Tokens:
    """The tokens of a file: offset, kind, text and matching bracket, as parallel lists."""

    def __init__(self, data: bytes) -> None:
        self.at: list[int] = []
        self.kind: list[str] = []
        self.text: list[str] = []
        self.partner: list[int] = []
        self.around: list[int] = []  # the opening brace around each token, -1 for none
        self.spells: dict[str, tuple[str, int]] = {}  # macros defined as a string, and where
        self._templates: dict[int, int] = {}
        self._read(data)

    def __len__(self) -> int:
        return len(self.at)

    def _read(self, data: bytes) -> None:
        stack: list[int] = []
        branches: list[list[int]] = []
        for kind, text, at in tokenise(data):
            if kind == "directive":
                directive = text.encode("utf-8", "replace")
                stack = _branched(directive, stack, branches)
                defined = _DEFINED.match(directive)
                if defined is not None:
                    spelled = _spelled(defined[2].decode("utf-8", "replace"), "string")
                    self.spells[defined[1].decode()] = (spelled, at + defined.start(1))
                continue
            place = len(self.at)
            self.at.append(at)
            self.kind.append(kind)
            self.text.append(text)
            self.partner.append(-1)
            top = stack[-1] if stack else -1
            self.around.append(top if top < 0 or self.text[top] == "{" else self.around[top])
            if kind != "sign":
                continue
            if text in _OPEN:
                stack.append(place)
            elif text in _CLOSE and stack and self.text[stack[-1]] == _CLOSE[text]:
                opened = stack.pop()
                self.partner[opened], self.partner[place] = place, opened

    def is_(self, place: int, text: str) -> bool:
        """True if the token at an index has this text."""
        return 0 <= place < len(self.text) and self.text[place] == text

    def is_name(self, place: int) -> bool:
        """True if the token at an index is a name."""
        return 0 <= place < len(self.text) and self.kind[place] == "name"

    def closed(self, place: int) -> int:
        """Return the index after the bracket that matches an opening one; the next index if it is unmatched."""
        return self.partner[place] + 1 if self.partner[place] > place else place + 1

    def template(self, place: int) -> int:
        """Return the index after the `>` that closes a list of template arguments; -1 if `<` does not open one."""
        if place not in self._templates:
            self._templates[place] = self._template(place)
        return self._templates[place]

    def _template(self, place: int) -> int:
        depth, end = 0, min(len(self.text), place + _LONGEST)
        while place < end:
            text = self.text[place]
            if text == "<":
                depth += 1
            elif text == ">":
                depth -= 1
                if not depth:
                    return place + 1
            elif text in (";", "{", "}", ")", "]"):
                return -1
            elif text in ("(", "["):
                place = self.closed(place) - 1
            place += 1
        return -1

    def split(self, start: int, end: int) -> list[TokenRange]:
        """Split a range at its commas, keeping brackets and template arguments whole."""
        ranges, begin, place = [], start, start
        while place < end:
            text = self.text[place]
            if text == ",":
                ranges.append((begin, place))
                begin = place + 1
            elif text in _OPEN:
                place = self.closed(place) - 1
            elif text == "<" and self.is_name(place - 1):
                behind = self.template(place)
                if 0 < behind <= end:
                    place = behind - 1
            place += 1
        if begin < end:
            ranges.append((begin, end))
        return ranges

    def within(self, opened: int) -> list[TokenRange]:
        """Return the arguments or elements in the brackets that open at an index."""
        closed = self.partner[opened]
        return self.split(opened + 1, closed) if closed > opened else []

    def names(self, stretch: TokenRange) -> Iterator[int]:
        """Return the indices of the names in a range."""
        return (place for place in range(*stretch) if self.kind[place] == "name")

    def literal(self, stretch: TokenRange) -> str | None:
        """Return the string that a range of literals spells, after an optional cast; None if it is not a string."""
        text = self.label(stretch)
        return text if text is not None and "{" not in text else None

    def label(self, stretch: TokenRange) -> str | None:
        """Like `literal`, but unknown names, which may be macros from another file, appear as "{NAME}"."""
        start, end = stretch
        if start < end and self.text[start] == "(" and self.closed(start) < end:
            start = self.closed(start)
        if start >= end or any(self.kind[place] not in ("string", "raw", "name") for place in range(start, end)):
            return None
        return "".join(self._spelled(place) for place in range(start, end))

    def _spelled(self, place: int) -> str:
        text, kind = self.text[place], self.kind[place]
        if kind == "name":
            return self.spells.get(text, (f"{{{text}}}", 0))[0]
        return _spelled(text, kind)

    def written(self, stretch: TokenRange) -> str:
        """Return the text of a range without white space."""
        return "".join(self.text[stretch[0] : stretch[1]])


def _branched(directive: bytes, stack: list[int], branches: list[list[int]]) -> list[int]:
    """Return the open brackets after a directive: each branch of a condition starts with those before its `#if`."""
    word = directive[1:].lstrip()
    if word.startswith(b"if"):
        branches.append(list(stack))
    elif word.startswith(b"el") and branches:
        return list(branches[-1])
    elif word.startswith(b"endif") and branches:
        branches.pop()
    return stack


def _spelled(text: str, kind: str) -> str:
    inner = text[text.index('"') + 1 : -1]
    if kind == "raw":
        return inner.partition("(")[2].rpartition(")")[0]
    return _ESCAPE.sub(lambda match: _PLAIN.get(match[1], match[1]), inner)


# Tokenising and macro expansion (see the module docstring).


class Token(NamedTuple):
    """A token: a name, literal, sign or directive."""

    kind: str
    text: str
    at: int


class _Macro(NamedTuple):
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]


def tokenise(data: bytes) -> Iterator[Token]:
    """Yield all tokens except white space and comments, macros expanded; a directive is one token."""
    macros: dict[str, _Macro] = {}
    read = list(_unexpanded_tokens(data))
    place = 0
    while place < len(read):
        one = read[place]
        place += 1
        if one.kind == "directive":
            _record_macro(one.text.encode("utf-8", "replace"), macros)
            yield one
        elif one.kind == "name" and one.text in macros:
            macro = macros[one.text]
            if macro.parameters is None:
                yield from (token._replace(at=one.at) for token in macro.body)
            elif place < len(read) and read[place].text == "(":
                given, place = _arguments(read, place)
                yield from _expand(macro, given, one.at)
            else:
                yield one
        else:
            yield one


def _unexpanded_tokens(data: bytes) -> Iterator[Token]:
    for match in _TOKEN.finditer(data):
        kind = match.lastgroup or ""
        if kind != "blank":
            yield Token(kind, match[0].decode("utf-8", "replace"), match.start())


def _record_macro(directive: bytes, macros: dict[str, _Macro]) -> None:
    """Record a macro that is worth expanding, or forget one that is undefined."""
    undefined = _UNDEFINED.match(directive)
    if undefined is not None:
        macros.pop(undefined[1].decode(), None)
    if len(directive) > _LONGEST_EXPANSION or b"##" in directive:
        return
    rows = _ROWS.match(directive)
    if rows is not None:
        macros[rows[1].decode()] = _Macro(None, _body(rows[2]))
        return
    match = _MACRO.match(directive)
    if match is not None and _TEXT.search(match[3]):
        parameters = tuple(part.strip().decode() for part in match[2].split(b","))
        body = _body(_TEXT.sub(_MARK.encode() + rb"\1", match[3]))
        macros[match[1].decode()] = _Macro(parameters, body)


def _body(text: bytes) -> tuple[Token, ...]:
    return tuple(token for token in _unexpanded_tokens(text) if token.text != "\\")


def _arguments(read: list[Token], opened: int) -> tuple[list[list[Token]], int]:
    """Return the arguments of a macro call, and the index after it."""
    given: list[list[Token]] = [[]]
    depth, place = 0, opened
    while place < len(read):
        token = read[place]
        depth += (token.text in "([{") - (token.text in ")]}") if token.kind == "sign" else 0
        place += 1
        if not depth:
            break
        if depth == 1 and token.text == ",":
            given.append([])
        elif place - 1 > opened:
            given[-1].append(token)
    return given, place


def _expand(macro: _Macro, arguments: list[list[Token]], at: int) -> Iterator[Token]:
    table = dict(zip(macro.parameters or (), arguments, strict=False))
    for one in macro.body:
        if one.kind == "name" and one.text in table:
            yield from table[one.text]
        elif one.kind == "name" and one.text.removeprefix(_MARK) in table:
            part = table[one.text.removeprefix(_MARK)]
            text = "".join(token.text for token in part).replace("\\", "\\\\").replace('"', '\\"')
            yield Token("string", f'"{text}"', part[0].at if part else at)
        else:
            yield one._replace(at=at)
