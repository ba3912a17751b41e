"""Takes out of a C-family file, for the parser's eyes only, the words that hide its syntax.

In: bytes, the scan of their lines, the macros that they mention. Out: `Blanked`: a buffer of the same
length with the same line ends in which those words are spaces, and where they stood. Facts are
always reported from the original text; nothing moves by a byte. Preprocessor lines go too: the scan
has read them, a grammar allows them in few of the places where people write them, and the branches
of most conditionals parse well one after the other (`crepair` sees to the others).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from concordance.extract.cfamily.directives import Lines
from concordance.extract.cfamily.macros import ATTRIBUTE, BLANK, CLOSES, MAYBE, OPENS, PASSES, QUOTES, TYPE, Macros

_TO_SPACE = bytes(c if c in b"\n\r" else 32 for c in range(256))
_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_LAST_WORD = re.compile(rb"\w+$")
_ENDING = frozenset(bytes([c]) for c in b",)=].+-/%|^?<>:};") | {b""}
_EXPECTING = frozenset(
    (b"return", b"case", b"goto", b"sizeof", b"else", b"throw", b"new", b"delete", b"in", b"typename")
)
_NEXT = re.compile(rb"(?:\s|//[^\n]*|/\*.*?\*/)*", re.S)
_BRACKET = re.compile(rb"[()]")
# `class SOME_API Name {` with a macro that no #define of the repository explains.
_CLASS_HEAD = re.compile(
    rb"(?:class|struct|union)\s+([A-Z][A-Z0-9_]+\b(?:\s*\([^()]*\))?)\s+(?:\w+::)*(?!final\b)[A-Za-z_]\w*\s*"
    rb"(?:<[^;{}]*>\s*)?(?:final\s*)?[:{](?!:)"
)
# `container_of(x, struct name, member)`: a type among arguments.
_STRUCT_ARGUMENT = re.compile(
    rb"struct(?:(?<=,struct)|(?<=, struct)|(?<=\tstruct))\s+\w+\s*[,)]|struct(?<=\(struct)\s+\w+\s*,"
)
# `[=] __device__ (int n) {`
_LAMBDA = re.compile(rb"\]\s*(__(?:host|device)__(?:\s*__(?:host|device)__)?)(?=\s*[({])")
# `static DEFINE_MUTEX(lock);`
_STATIC_CALL = re.compile(rb"static\s+(?:const\s+)?[A-Z_][A-Z0-9_]+\s*\(")
# `template class Name<int>;` asks for code to be made of a template and declares nothing.
_INSTANTIATION = re.compile(rb"(template)\s+(?:class|struct|union)\b[^;{}()]*;")


def to_spaces(data: bytes | bytearray) -> bytes:
    """The same length of nothing, line ends kept."""
    return bytes(data.translate(_TO_SPACE))


@dataclass(slots=True)
class Blanked:
    """A file as the parser sees it."""

    data: bytearray
    taken: list[tuple[int, int]] = field(default_factory=list)  # stretches made spaces, or given a ";" at their end
    namespaces: list[tuple[int, int, str]] = field(
        default_factory=list
    )  # opened and closed by macros: start, end, name
    instantiations: list[int] = field(default_factory=list)  # where the class of an explicit one starts
    specifiers: dict[int, int] = field(default_factory=dict)  # where specifiers among them start, by their ends
    written: list[int] = field(default_factory=list)  # where a byte was written over white space
    masked: list[int] = field(default_factory=list)  # words of the language made to look like names
    size: int = 0  # bytes changed

    def erase(self, start: int, end: int) -> None:
        """Makes a stretch spaces."""
        before = self.data[start:end]
        after = before.translate(_TO_SPACE)
        self.size += sum(a != b for a, b in zip(before, after, strict=True))
        self.data[start:end] = after
        self.taken.append((start, end))

    def put(self, at: int, what: bytes) -> None:
        """Writes over a few bytes."""
        self.size += len(what)
        self.written.append(at)
        self.data[at : at + len(what)] = what


def closing(lines: Lines, at: int, limit: int = 200_000) -> int:
    """Behind the bracket that closes the one at an offset; -1 where none does."""
    depth = 0
    for match in _BRACKET.finditer(lines.data, at, at + limit):
        if lines.in_code(match.start()):
            depth += 1 if match[0] == b"(" else -1
            if depth == 0:
                return match.end()
    return -1


def blank(lines: Lines, macros: Macros) -> Blanked:
    """A file without the macros that are known to stand in the parser's way."""
    result = Blanked(bytearray(lines.data))
    for start, end in lines.dead:
        result.data[start:end] = result.data[start:end].translate(_TO_SPACE)
    for line in lines.directives:
        result.data[line.start : line.end] = to_spaces(result.data[line.start : line.end])
    marks: list[tuple[int, int, str]] = []
    opening = any(role[:1] == OPENS for role in macros.values())
    for name, role in macros.items():
        if role != MAYBE and (role != CLOSES or opening):
            for at in _uses(lines, name):
                _take(lines, result, at, at + len(name), role, marks)
    for match in _CLASS_HEAD.finditer(result.data):
        if lines.in_code(match.start()) and (not match.start() or result.data[match.start() - 1] not in _WORD_BYTES):
            result.erase(*match.span(1))
    for match in _INSTANTIATION.finditer(result.data):
        if lines.in_code(match.start(1)):
            start = match.start(1)
            before = lines.data[max(0, start - 40) : start].rstrip()
            if before.endswith(b"extern"):
                start = max(0, start - 40) + len(before) - 6
            result.erase(start, match.end(1))
            result.instantiations.append(following(lines.data, match.end(1)))
    for match in _LAMBDA.finditer(result.data):
        result.erase(*match.span(1))
    for match in _STRUCT_ARGUMENT.finditer(result.data):
        if lines.in_code(match.start()):
            result.erase(match.start(), match.start() + 6)
    for match in _STATIC_CALL.finditer(result.data):
        end = closing(lines, match.end() - 1) if lines.in_code(match.start()) else -1
        if end > 0 and lines.data[following(lines.data, end) :][:1] == b";":
            result.erase(match.start(), match.start() + 6)
    _pair(result, marks)
    return result


def _uses(lines: Lines, name: bytes) -> list[int]:
    data = lines.data
    size = len(name)
    found = []
    at = data.find(name)
    while at >= 0:
        end = at + size
        if (
            (at == 0 or data[at - 1] not in _WORD_BYTES)
            and (end == len(data) or data[end] not in _WORD_BYTES)
            and lines.in_code(at)
        ):
            found.append(at)
        at = data.find(name, end)
    return found


def following(data: bytes | bytearray, at: int) -> int:
    """Where the next token stands."""
    match = _NEXT.match(data, at)
    return match.end() if match else at


def _take(lines: Lines, result: Blanked, at: int, end: int, role: str, marks: list[tuple[int, int, str]]) -> None:
    data = lines.data
    if role == BLANK:
        if _specifies(lines, at, end):
            result.erase(at, end)
            result.specifiers[end] = at
    elif role[:1] in (OPENS, CLOSES):
        after = following(data, end)
        if role[:1] == OPENS and data[after : after + 1] == b"(":
            end = max(end, closing(lines, after))
        result.erase(at, end)
        marks.append((at, end, role))
    else:
        after = following(data, end)
        if data[after : after + 1] != b"(":
            return
        end = closing(lines, after)
        if end < 0:
            return
        if role == QUOTES:
            result.data[after + 1 : end - 1] = to_spaces(data[after + 1 : end - 1])
        elif role == PASSES:
            result.erase(at, after + 1)
            result.erase(end - 1, end)
        elif role == TYPE:
            result.erase(after, end)
        elif role == ATTRIBUTE:
            result.erase(at, end)
            result.specifiers[end] = at
        elif _starts(lines, at):
            close(result, data, end)


def _specifies(lines: Lines, at: int, end: int) -> bool:
    """Whether a word stands where a specifier or attribute can: another file may use the same word as a name."""
    data = lines.data
    before = data[max(0, at - 200) : at].rstrip()
    if not before or not lines.in_code(max(0, at - 200) + len(before) - 1):
        return True
    sign = before[-1]
    if sign == 46 or before.endswith(b"->"):
        return False
    after = following(data, end)
    if data[after : after + 1] not in _ENDING:
        return sign not in b"=+-/%|^!?<"
    if sign in _WORD_BYTES:
        word = _LAST_WORD.search(before)
        return word is None or word[0] not in _EXPECTING
    return sign in b")]>*&}"


def _starts(lines: Lines, at: int) -> bool:
    """Whether a statement or declaration can start at an offset."""
    before = len(lines.data[max(0, at - 2000) : at].rstrip()) + max(0, at - 2000)
    if before == 0 or not lines.in_code(before - 1):
        return True
    sign = lines.data[before - 1]
    return sign in b";{}:" or (sign == 41 and lines.data.find(b"\n", before, at) >= 0)


def close(result: Blanked, data: bytes, end: int) -> bool:
    """Puts the ";" that a declaring macro does without, where a declaration or a bracket follows."""
    after = following(data, end)
    follows = data[after : after + 1]
    if after > end and (follows.isalpha() or follows in (b"_", b"}", b"#", b"~", b"")) and data[end] in b" \t\r\n":
        result.put(end, b";")
        return True
    return False


def _pair(result: Blanked, marks: list[tuple[int, int, str]]) -> None:
    """Joins the macros that open a namespace with those that close it."""
    opened: list[tuple[int, str]] = []
    for start, end, role in sorted(marks):
        if role[:1] == OPENS:
            opened.append((start, role[1:]))
        elif opened:
            first, name = opened.pop()
            if name:
                result.namespaces.append((first, end, name))
