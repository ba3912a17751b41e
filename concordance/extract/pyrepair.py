"""A second look at Python text that the grammar stumbles over although CPython reads it.

In: a file's bytes. Out: bytes of the same length with line ends inside brackets made spaces, so
that an indentation there, which means nothing to Python, cannot end a block. Tried only where the
first parse has errors; offsets stay those of the original text.
"""

from __future__ import annotations

import re

_PIECES = re.compile(
    rb"""(?P<string>[rRbBuUfFtT]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'))"""
    rb"""|(?P<comment>\#[^\r\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>[\r\n]+)""",
    re.S,
)
_FUTURE_STAR = re.compile(rb"__future__(?=\s+import\s*\*)")


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
