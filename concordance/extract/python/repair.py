"""Repairs Python text that the grammar fails on.

In: a file's bytes. Out: bytes of the same length that parse better, so that offsets still fit the original text. Used
only if the first parse has errors.

There are two repairs. One replaces line ends inside brackets with spaces: indentation there means nothing to Python,
but ends a block for the grammar. The other removes statements whose bracket is never closed: a line that starts with
`def` or `class` cannot be inside brackets, and would otherwise be lost in them.
"""

from __future__ import annotations

import re

_PIECES = re.compile(
    rb"""(?P<string>[rRbBuUfFtT]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'))"""
    rb"""|(?P<comment>\#[^\r\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>[\r\n]+)""",
    re.S,
)
_FUTURE_STAR = re.compile(rb"__future__(?=\s+import\s*\*)")
_STATEMENT = re.compile(
    rb"[ \t]*(?:@[A-Za-z_]|(?:async[ \t]+)?def[ \t]+\w+[ \t]*[\[(]|class[ \t]+\w+[ \t]*[(:\[]|import[ \t]+\w|"
    rb"from[ \t]+[\w.]+[ \t]+import\b|return\b|raise\b|pass\b|with[ \t]|while[ \t]|try[ \t]*:|del[ \t]|assert[ \t])"
)


def join_brackets(data: bytes) -> bytes:
    """Return the text with each bracketed range on one line."""
    result = bytearray(_FUTURE_STAR.sub(b"__Future__", data))
    depth = 0
    for piece in _PIECES.finditer(data):
        kind = piece.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif depth and kind in ("comment", "end"):
            result[piece.start() : piece.end()] = b" " * (piece.end() - piece.start())
    return bytes(result)


def remove_unclosed(data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Return the text without the statements whose bracket is never closed, and where they were."""
    result = bytearray(data)
    gone: list[tuple[int, int]] = []
    opened: list[int] = []
    line = 0  # start of the logical line
    for piece in _PIECES.finditer(data):
        kind = piece.lastgroup
        if kind == "open":
            opened.append(line)
        elif kind == "close" and opened:
            opened.pop()
        elif kind == "end":
            if opened and _STATEMENT.match(data, piece.end()):
                gone.append((opened[0], piece.start()))
                opened.clear()
            if not opened:
                line = piece.end()
    if opened:
        gone.append((opened[0], len(data)))
    for start, end in gone:
        result[start:end] = re.sub(rb"[^\r\n]", b" ", data[start:end])
    return bytes(result), gone
