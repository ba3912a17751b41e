"""A second look at Python text that the grammar stumbles over.

In: a file's bytes. Out: bytes of the same length that parse better, so that offsets stay those of
the original text. Tried only where the first parse has errors.

`joined` makes line ends inside brackets spaces: an indentation there means nothing to Python, but
ends a block for the grammar. `unclosed` takes out statements whose bracket is never closed: a line
that starts with `def` or `class` cannot stand inside brackets, and would be lost to them.
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


def joined(data: bytes) -> bytes:
    """The text with each bracketed stretch on one line."""
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


def unclosed(data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """The text without the statements whose bracket is never closed, and where those stood."""
    result = bytearray(data)
    gone: list[tuple[int, int]] = []
    opened: list[int] = []
    line = 0  # where the logical line started
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
