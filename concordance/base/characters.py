"""Makes invisible and control characters visible, and splits text into lines.

In: text from others. Out: the same text, with characters that control a terminal, change the writing direction or have
no width replaced by their escapes, so that a name or a comment looks like what it is. Line ends and tabs stay.
"""

from __future__ import annotations

import re

_NEVER_SEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
)
_JOINING, _CHOOSING = "\u200c\u200d", "\ufe00-\ufe0f\U000e0100-\U000e01ef"
HIDDEN = re.compile(
    f"[{_NEVER_SEEN}]"
    # These join letters of scripts and emoji, or choose their forms; next to plain letters they only hide.
    f"|(?<![^\x00-\x7f])[{_JOINING}]|[{_JOINING}](?![^\x00-\x7f])"
    f"|(?<![^\x00-\x7f])(?<![0-9#*])[{_CHOOSING}]"
)
_PERHAPS = re.compile(f"[{_NEVER_SEEN}{_JOINING}{_CHOOSING}]")  # a single character class: twenty times as fast

_ENDS = re.compile("\r\n?|\n")


def lines(text: str) -> list[str]:
    """Split a text into lines without their ends, as editors count them; text after the last end is a line, too."""
    return _ENDS.split(text) if "\r" in text else text.split("\n")


def line_starts(text: str) -> list[int]:
    """Return the offset at which each line begins."""
    return [0, *(end.end() for end in _ENDS.finditer(text) if end.end() < len(text))]


def has_hidden_characters(text: str) -> bool:
    """True if a text contains invisible or control characters."""
    return may_have_hidden_characters(text) and HIDDEN.search(text) is not None


def may_have_hidden_characters(text: str) -> bool:
    """False if a text contains no invisible or control characters, as far as that can be told quickly."""
    if text.isascii() and (text.isprintable() or text.replace("\n", "").isprintable()):
        return False
    return _PERHAPS.search(text) is not None


def escape_hidden(text: str) -> str:
    """Return a text with its invisible and control characters escaped."""
    return HIDDEN.sub(_escape, text) if may_have_hidden_characters(text) else text


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
