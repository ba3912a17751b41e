"""Functions that macros of a file make: `UNARY(abs);` below `#define UNARY(op) Tensor op##_sparse(…) { … }`.

In: a draft of a C-family file, whose definitions are known. Out: functions in it, named as they are when the macro is
filled in, that stand where it is used. Only macros that the file defines itself are filled in, and only uses outside of
functions and classes; of a body, only what stands outside of braces is looked at.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from concordance.base.model import Kind, Parameter
from concordance.extract.reading.draft import Draft

_DEFINE = re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)\(([^)\n]*)\)((?:[^\n\\]|\\\r?\n|\\.)*)", re.S)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_WORD = re.compile(r"[A-Za-z_]\w*")
_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[A-Za-z_]\w*|\s+|::|->|.", re.S)
_PASTE = re.compile(r"\s*##\s*")
_NO_NAMES = frozenset(("if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignas", "noexcept"))
_TAIL = frozenset(("const", "noexcept", "override", "final", "mutable"))
_BODIES = frozenset((Kind.FUNCTION, Kind.METHOD, Kind.CLASS, Kind.STRUCT, Kind.UNION, Kind.ENUM))
_DEEPEST = 6  # macros that are filled in inside one another
_LONGEST = 40_000  # characters of a text that is filled in …
_ROOM = 4_000_000  # … and of all that are in a file


class Macro(NamedTuple):
    parameters: tuple[str, ...]
    body: str


class _Made(NamedTuple):
    name: str
    head: str
    parameters: str


def enter(draft: Draft) -> None:
    """Enters the functions that are made by macros of the file itself."""
    data = draft.source.data
    if b"define" not in data:
        return
    macros = _macros(data)
    if not any("{" in macro.body for macro in macros.values()):
        return
    inside, filling = _Outside(draft), MacroExpander(macros)
    names = b"|".join(re.escape(name.encode()) for name in sorted(macros))
    for match in re.finditer(rb"(?m)^[ \t]*(" + names + rb")[ \t]*\(", data):
        at = match.start(1)
        if draft.ends.get(at) != match.end(1) or at in inside:
            continue
        found = _arguments(data[match.end() - 1 : match.end() + _LONGEST].decode("utf-8", "replace"))
        if found is None:
            continue
        given, size = found
        end = match.end() - 1 + size
        text = filling.filled(match[1].decode(), given)
        if filling.is_full:
            draft.problem(at, end, "what macros make is not read from here on: it is too long")
            return
        for made in _functions(text):
            draft.define(
                Kind.FUNCTION, made.name, at, at, end, signature=made.head, occurs=False, nests=False,
                parameters=tuple(_parameters(made.parameters)),
            )  # fmt: skip


def _macros(data: bytes) -> dict[str, Macro]:
    found = {}
    for match in _DEFINE.finditer(data):
        body = _COMMENT.sub(" ", match[3].decode("utf-8", "replace").replace("\\\r\n", "\n").replace("\\\n", "\n"))
        if "{" in body or "(" in body:
            parameters = tuple(part.strip() for part in match[2].decode("utf-8", "replace").split(","))
            found[match[1].decode()] = Macro(parameters, body)
    return found


class _Outside:
    """Whether an offset lies in a function, a class or a directive."""

    def __init__(self, draft: Draft) -> None:
        stretches = [(d.start, d.end) for d in draft.definitions if d.kind in _BODIES and not d.declaration]
        stretches += [(match.start(), match.end()) for match in _DEFINE.finditer(draft.source.data)]
        self._starts, self._ends = list[int](), list[int]()
        for start, end in sorted(stretches):
            if not self._ends or end > self._ends[-1]:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, at: int) -> bool:
        place = bisect_right(self._starts, at) - 1
        return place >= 0 and at < self._ends[place]


def _arguments(text: str) -> tuple[list[str], int] | None:
    """What stands between brackets that open at the start of a text, parted by commas, and how long all of it is."""
    depth, begin, given, at = 0, 1, list[str](), 0
    for match in _TOKEN.finditer(text):
        sign = match[0]
        at = match.start()
        if sign in ("(", "[", "{"):
            depth += 1
        elif sign in (")", "]", "}"):
            depth -= 1
            if not depth:
                return [*given, text[begin:at].strip()], at + 1
        elif sign == "," and depth == 1:
            given.append(text[begin:at].strip())
            begin = at + 1
    return None


class MacroExpander:
    """Fills macros in, as long as what comes out is no longer than any real file needs it to be."""

    def __init__(self, macros: dict[str, Macro], room: int = _ROOM) -> None:
        self._macros, self._room = macros, room

    @property
    def is_full(self) -> bool:
        """Whether no room is left."""
        return self._room < 0

    def filled(self, name: str, given: list[str], deep: int = _DEEPEST) -> str:
        """A macro's body with its arguments in it, and the macros in it filled in, too; "" where no room is left."""
        macro = self._macros[name]
        if len(given) > len(macro.parameters) and macro.parameters[-1:] == ("...",):
            rest = len(macro.parameters) - 1
            given = [*given[:rest], ", ".join(given[rest:])]
        names = ("__VA_ARGS__" if one == "..." else one for one in macro.parameters)
        words = dict(zip(names, given, strict=False))
        self._room -= len(macro.body) + 20  # a body that is empty costs something, too
        if self._room < 0 or len(macro.body) > _LONGEST or sum(map(len, given)) > _LONGEST:
            return ""
        body = _WORD.sub(lambda match: words.get(match[0], match[0]), macro.body)
        body = _PASTE.sub("", body)
        self._room -= len(body)
        return self._nested(body, deep) if deep and len(body) < _LONGEST else body

    def _nested(self, body: str, deep: int) -> str:
        parts, at = [], 0
        for match in _WORD.finditer(body):
            if match.start() < at or match[0] not in self._macros:
                continue
            opened = match.end()
            while body[opened : opened + 1].isspace():
                opened += 1
            found = _arguments(body[opened:]) if body[opened : opened + 1] == "(" else None
            if found is not None:
                given, size = found
                parts += [body[at : match.start()], self.filled(match[0], given, deep - 1)]
                at = opened + size
        return "".join([*parts, body[at:]])


def _functions(text: str) -> Iterator[_Made]:
    """The functions that a text defines outside of braces."""
    tokens = [match[0] for match in _TOKEN.finditer(text) if not match[0].isspace()]
    depth, place, start = 0, 0, 0
    while place < len(tokens):
        sign = tokens[place]
        depth += (sign == "{") - (sign == "}")
        if not depth and sign in (";", "}"):
            start = place + 1
        if not depth and sign == "(" and place and _WORD.fullmatch(tokens[place - 1]):
            made, behind = _function(tokens, start, place)
            if made is not None:
                yield made
            place = behind
            continue
        place += 1


def _function(tokens: list[str], start: int, opened: int) -> tuple[_Made | None, int]:
    """The function whose parameters open at a place, None where it is none; and the place to go on from."""
    name = tokens[opened - 1]
    closed = _closed(tokens, opened)
    if closed < len(tokens) and tokens[closed] == "(" and name.isupper():  # MACRO(name)(parameters) {
        name = f"{name}({' '.join(tokens[opened + 1 : closed - 1]).replace(' ,', ',')})"
        opened, closed = closed, _closed(tokens, closed)
        start = opened  # what it returns is known to the macro
    behind = closed
    while behind < len(tokens) and (tokens[behind] in _TAIL or _WORD.fullmatch(tokens[behind])):
        behind += 1
    before = tokens[start : opened - 1] if "(" not in name else ["void"]
    if behind >= len(tokens) or tokens[behind] != "{" or name in _NO_NAMES or not before or before[-1] == "::":
        return None, closed
    head = " ".join([*before[: 0 if "(" in name else None], name, *tokens[opened:closed]])
    return _Made(name, _tidy(head), " ".join(tokens[opened + 1 : closed - 1])), behind


def _closed(tokens: list[str], opened: int) -> int:
    depth = 0
    for place in range(opened, len(tokens)):
        depth += (tokens[place] == "(") - (tokens[place] == ")")
        if not depth:
            return place + 1
    return len(tokens)


def _tidy(words: str) -> str:
    return re.sub(r"\( ", "(", re.sub(r" ([,)>&*(])", r"\1", re.sub(r" ?(::|<) ?", r"\1", words)))


def _parameters(text: str) -> Iterator[Parameter]:
    depth, begin = 0, 0
    for at, sign in enumerate(text + ","):
        depth += (sign in "(<[{") - (sign in ")>]}")
        if sign == "," and depth <= 0:
            written = text[begin:at].partition("=")[0].strip()
            begin = at + 1
            name = re.search(r"(?<![:\w])([A-Za-z_]\w*)$", written)
            kind = written[: name.start()].strip() if name else written
            if written:
                yield Parameter(name[1] if name and kind else "", "", _tidy(kind or written))
