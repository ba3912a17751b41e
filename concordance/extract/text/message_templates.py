"""Message templates: the fixed words of a message that code assembles, `"got ", x, " of {}"` gives `got … of …`.

In: the text of a call's arguments, in a language with C-like brackets and quotes. Out: the message with a
placeholder for each value, or "" if it has too few words to be recognised. Adjacent literals are joined. Calls that
make strings (`str`, `format`) are read inside; any other call counts as a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

PLACEHOLDER = "…"
LONGEST = 400
_FARTHEST = 300  # tokens of a call that are read
# A token of any language that assembles messages: C++, Rust, Go, JavaScript, Java, Python
_TOKEN = re.compile(
    rb"(?P<raw>R\"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)\"|r#*\".*?\"#*(?!\w))"
    rb"|(?P<text>(?:u8|[LuU@b$])?\"(?:[^\"\\]|\\.)*\")"
    rb"|(?P<template>`(?:[^`\\]|\\.)*`)"
    rb"|(?P<letter>'(?:[^'\\]|\\.)*')"
    rb"|(?P<comment>//[^\n]*|/\*.*?\*/)"
    rb"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)|(?P<end>;)"
    rb"|(?P<name>[A-Za-z_]\w*)|(?P<stream><<)|(?P<plus>\+)|(?P<choice>[?:](?!:))|(?P<colons>::)|(?P<other>[^\s\\])",
    re.S,
)
_MAKERS = frozenset(
    b"str string format to_string StrCat strcat concat Format sprintf Sprintf f _ N_ gettext tr cat join make_string "
    b"StringPrintf stringPrintf absl std fmt c10 at torch String format_args concat_string PyUnicode_FromFormat".split()
)
# A placeholder of `printf`: `%5.2lf`
_PRINTED = re.compile(r"%[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[zjtL])?[diouxXeEfFgGaAcspvwqTtUrR](?![a-z])")
# A named placeholder of Python: `%(name)s`
_NAMED = re.compile(r"%\(\w+\)[#0 +-]*\d*(?:\.\d+)?[a-zA-Z]")
_BRACED = re.compile(r"\$?\{[^{}\s]*(?:\{[^{}]*\}[^{}]*)*\}|\$\{[^{}]*\}")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{1,3}|\r?\n|.)", re.S)
_ESCAPED = {"\\n": " ", "\\t": " ", "\\r": " ", '\\"': '"', "\\'": "'", "\\\\": "\\", "\\`": "`"}
_WORD = re.compile(r"[^\W\d_]{2,}")


def join_lines(parts: Iterable[str]) -> str:
    """Join the parts of a message into one line, merging adjacent placeholders; "" if it has fewer than two words."""
    text = re.sub(
        rf"\s*{PLACEHOLDER}(?:\s*{PLACEHOLDER})*", lambda match: _gap(match[0]), " ".join("".join(parts).split())
    )
    text = text.strip(f" {PLACEHOLDER}")
    return text if len(_WORD.findall(text)) >= 2 and " " in text else ""


def _gap(written: str) -> str:
    return f" {PLACEHOLDER}" if written[0].isspace() else PLACEHOLDER


def insert_placeholders(text: str) -> str:
    """Return a literal's text with a placeholder for each inserted value."""
    text = text.replace("{{", "\0").replace("}}", "\1")
    if "{" in text:
        text = _BRACED.sub(PLACEHOLDER, text)
    if "%" in text:
        text = _NAMED.sub(PLACEHOLDER, _PRINTED.sub(PLACEHOLDER, text.replace("%%", "\2"))).replace("\2", "%")
    return text.replace("\0", "{").replace("\1", "}")


def unescape(text: str) -> str:
    """Return the inside of a literal with its escapes replaced."""
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[0], " "), text) if "\\" in text else text


def read_message(data: bytes, at: int, streams: bool = False, singles: bool = False) -> tuple[str, int]:
    """Return the message in a call's arguments, including what is streamed to the call afterwards, and the call's end.

    `at` is the offset after the opening bracket; with `singles`, single quotes enclose texts, not a letter. The end is
    only as far as the call was read.
    """
    end = at
    parts: list[str] = []
    open_: list[bool] = []  # per open bracket: whether it belongs to a call that makes a string
    before = b""
    fresh, skip = True, False  # at the start of an argument; in an argument that is not a message
    depth_end = False
    for token in islice(_TOKEN.finditer(data, at, min(len(data), at + 6000)), _FARTHEST):
        kind, word, end = token.lastgroup or "", token[0], token.end()
        if kind == "comment":
            continue
        if kind == "mark":
            kind = "raw"
        if kind == "letter" and singles:
            kind = "text"
        if depth_end and kind not in ("stream", "raw", "text", "name", "open", "close", "colons", "other", "comma"):
            break
        if kind == "open":
            open_.append(word == b"(" and (before in _MAKERS or not re.match(rb"\w|>|\]", before[-1:])))
            parts.append("" if open_[-1] or skip else PLACEHOLDER)
        elif kind == "close":
            if not open_:
                if not streams:
                    break
                depth_end = True
                parts = parts if join_lines(parts) else []
                skip = False
            else:
                open_.pop()
        elif kind == "end":
            break
        elif kind == "comma" and not open_:
            if singles and join_lines(parts):
                break  # in JavaScript, what follows is a code or options, not a further part
            fresh, skip = True, False
            before = word
            continue
        elif kind in ("text", "raw", "template"):
            if skip:
                pass
            elif all(open_) and before not in (b"?", b":", b"==", b"["):
                parts.append(_literal(kind, word))
            else:
                parts.append(PLACEHOLDER)
        elif kind in ("name", "letter", "choice", "other") and not (kind == "name" and word in _MAKERS):
            if fresh and not any(parts):
                skip = True  # a condition or a location: its literals are not part of the message
            parts.append("" if skip else PLACEHOLDER)
        fresh = fresh and (kind in ("colons", "open") or word in _MAKERS)
        before = word
    return join_lines(parts), end


def _literal(kind: str, word: bytes) -> str:
    text = word.decode("utf-8", "replace")
    if kind == "raw":
        return insert_placeholders(
            text[text.index("(") + 1 : text.rindex(")")] if text.startswith("R") else text.strip('r#"')
        )
    return insert_placeholders(unescape(text[text.index(text[-1]) + 1 : -1]))
