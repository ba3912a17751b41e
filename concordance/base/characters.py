"""Signs that nobody sees, or that do something where they are shown; and those that end lines.

In: text of others. Out: the same, in which signs that drive a terminal, turn the direction of what follows or have no
width stand by their numbers, so that a name or a comment looks like what it is. Line ends and tabs stay.
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
    # Scripts and emoji join letters by these, and choose their forms; beside plain letters they only hide.
    f"|(?<![^\x00-\x7f])[{_JOINING}]|[{_JOINING}](?![^\x00-\x7f])"
    f"|(?<![^\x00-\x7f])(?<![0-9#*])[{_CHOOSING}]"
)
_PERHAPS = re.compile(f"[{_NEVER_SEEN}{_JOINING}{_CHOOSING}]")  # one class of signs: found twenty times as fast

_ENDS = re.compile("\r\n?|\n")


def lines(text: str) -> list[str]:
    """The lines of a text, as editors number them, without their ends; what is behind the last end is one, too."""
    return _ENDS.split(text) if "\r" in text else text.split("\n")


def hides(text: str) -> bool:
    """Whether a text has signs that nobody sees."""
    return _PERHAPS.search(text) is not None and HIDDEN.search(text) is not None


def visible(text: str) -> str:
    """Text in which every sign can be seen."""
    if (text.isascii() and text.isprintable()) or _PERHAPS.search(text) is None:
        return text
    return HIDDEN.sub(_by_number, text)


def _by_number(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
