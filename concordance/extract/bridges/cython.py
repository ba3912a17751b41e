"""Cython: what a file offers to Python, and the C functions that it declares from headers.

Files are read statement by statement: `def`, `cpdef` and classes by their indentation, and the functions in blocks
of `cdef extern from`. `cdef` functions are left out, because only C code can see them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = ("cython",)
WORDS = (b"def", b"class")
_EXTERN = re.compile(r"(?:cdef\s+)?extern\s+from\s+(?:[\"']([^\"']+)[\"']|\*)")
# A class or function that Python can use: `cdef class`, `cpdef`, `def`
_OFFERED = re.compile(r"(?:async\s+)?(?:(?P<class>(?:cdef\s+|cpdef\s+)?(?:public\s+|readonly\s+|final\s+)*class)|"
                      r"(?P<function>def)|cpdef)\s+(?P<rest>.*)", re.S)  # fmt: skip
_FUNCTION = re.compile(r"\b([A-Za-z_]\w*+)\s*+(?:[\"']([\w:]+)[\"']\s*+)?\(")
_NO_FUNCTION = re.compile(r"(?:cdef\s+)?(?:ctypedef|struct|union|enum|cppclass|packed|class|from|include|DEF|IF)\b")
_NAME = re.compile(r"[A-Za-z_]\w*")


class _Statement(NamedTuple):
    at: int  # character offset of the start
    indent: int
    text: str


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the names of a file that Python can see, and the C names that it declares."""
    outer: list[tuple[int, str]] = []  # enclosing classes, and "" for functions, by indentation
    extern: tuple[int, str] | None = None
    block = -1
    for statement in _statements(context.source.text):
        while outer and outer[-1][0] >= statement.indent:
            outer.pop()
        if extern is not None and statement.indent > extern[0]:
            block = statement.indent if block < 0 else block
            if statement.indent == block:
                yield from _c_declarations(context, statement, extern[1])
            continue
        extern, block = None, -1
        opened = _EXTERN.match(statement.text)
        if opened is not None:
            extern = (statement.indent, opened[1] or "")
            continue
        yield from _python_names(context, statement, outer)


def _python_names(context: RuleContext, statement: _Statement, outer: list[tuple[int, str]]) -> Iterator[BridgeEnd]:
    match = _OFFERED.match(statement.text)
    if match is None:
        if re.match(r"cdef\s.*\)\s*+(?:\w++\s*+)*+:|cdef\s.*:\s*$", statement.text, re.S):
            outer.append((statement.indent, ""))
        return
    called = _NAME.match(match["rest"]) if match["class"] or match["function"] else _FUNCTION.search(match["rest"])
    if called is None:
        return
    name = called[1] if called.re is _FUNCTION else called[0]
    enclosing = [name_of for _, name_of in outer]
    outer.append((statement.indent, name if match["class"] else ""))
    if all(enclosing):
        at = len(context.source.text[: statement.at + match.start("rest") + called.start()].encode("utf-8", "replace"))
        kind = "class" if match["class"] else "function"
        yield BridgeEnd(at, "binds", ".".join((*enclosing, name)), name, (("as", kind),))


def _c_declarations(context: RuleContext, statement: _Statement, header: str) -> Iterator[BridgeEnd]:
    match = _FUNCTION.search(statement.text)
    if (
        match is None
        or _NO_FUNCTION.match(statement.text)
        or match.start() == 0
        or "(*" in statement.text[: match.end()]
    ):
        return
    at = len(context.source.text[: statement.at + match.start()].encode("utf-8", "replace"))
    yield BridgeEnd(at, "declares", match[2] or match[1], match[1], (("header", header),) if header else ())


def _statements(text: str) -> Iterator[_Statement]:
    """Yield the statements of a file, each including the lines that its brackets span.

    Comments and the content of triple-quoted strings are blanked out.
    """
    at, begun, depth, quoted, parts = 0, -1, 0, "", list[str]()
    indent = 0
    for line in text.splitlines(keepends=True):
        if not depth and not quoted:
            bare = line.lstrip()
            begun, indent, parts = at + len(line) - len(bare), len(line) - len(bare), []
        code, quoted = _code(line, quoted)
        depth += sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))
        parts.append(code if parts else code.lstrip())
        if depth <= 0 and not quoted:
            depth = 0
            whole = "".join(parts)
            if whole.strip():
                yield _Statement(begun, indent, whole)
        at += len(line)


def _code(line: str, quoted: str) -> tuple[str, str]:
    """Return a line with its comment and the content of triple-quoted strings blanked out.

    Also return the quotes of a triple-quoted string that stays open.
    """
    pieces, place = [], 0
    while place < len(line):
        if quoted:
            end = line.find(quoted, place)
            stop = len(line) if end < 0 else end + 3
            pieces.append(" " * (stop - place))
            quoted, place = (quoted, stop) if end < 0 else ("", stop)
        elif line.startswith(('"""', "'''"), place):
            quoted, place = line[place : place + 3], place + 3
            pieces.append("   ")
        elif line[place] == "#":
            pieces.append(" " * (len(line) - place - 1) + "\n")
            break
        elif line[place] in "\"'":
            end = line.find(line[place], place + 1)
            stop = len(line) if end < 0 else end + 1
            pieces.append(line[place:stop] if "(" not in line[place:stop] else '"' + " " * (stop - place - 2) + '"')
            place = stop
        else:
            pieces.append(line[place])
            place += 1
    return "".join(pieces), quoted
