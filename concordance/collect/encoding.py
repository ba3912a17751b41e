"""Finds the encoding of a file's text and decodes it.

In: bytes. Out: the text without a byte order mark and with its line ends unchanged, the name of a codec, and a note if
something is odd; or None if the bytes are not text.

Encodings are tried from certain to likely: a byte order mark, the file's own declaration (a coding line, an XML
declaration), UTF-8, UTF-16 without a mark, and finally Windows-1252, with a note that names the first byte that is not
UTF-8. A declaration is honoured only for codecs that decode text in linear time; others (`punycode`, `unicode_escape`)
can be abused.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

HEAD_BYTES = 8192  # bytes that are examined for content that only binary files have

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, because its mark starts with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# A declared encoding: `# -*- coding: latin-1 -*-`, `<?xml … encoding="…"`, `@charset "…"`
_DECLARED = re.compile(
    rb"""(?:[^\n]*\n)?[ \t\f]*(?:\#|//|/\*|;|%|<!--|")[^\n]*?coding[:=][ \t]*["']?([-\w.]{2,40})"""
    rb"""|\s*<\?xml[^>]*?encoding[ \t]*=[ \t]*["']([-\w.]{2,40})"""
    rb"""|.{0,1000}?<meta[^>]*?charset=["']?([-\w.]{2,40})""",
    re.DOTALL,
)
_TRUSTED = re.compile(
    r"utf-8|ascii|iso8859-\d+|cp\d+|koi8-[rut]|mac-\w+|shift_jis\w*|euc_\w+|euc-\w+|iso2022_\w+|gb2312|gbk|gb18030"
    r"|big5\w*|johab|tis-620|hz|ptcp154|hp-roman8"
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b") | {127})
_PLAIN = bytes(set(range(256)) - set(_CONTROLS))
_MAX_NULS = 16  # maximum number of NUL bytes in a source file


class DecodedText(NamedTuple):
    """A decoded text, its encoding, and a note if something is odd."""

    text: str
    encoding: str
    note: str = ""


def decode(data: bytes, encoding: str) -> str:
    """Decode bytes whose encoding is known; invalid bytes become U+FFFD."""
    return data.decode(encoding or "utf-8", "replace").removeprefix("\ufeff")


def read(data: bytes, named: bool) -> DecodedText | None:
    """Decode a file's bytes; None if they are binary. `named`: the file's name indicates text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _by_byte_order_mark(data, encoding, named)
    head = data[:HEAD_BYTES]
    nuls = head.count(0)
    if nuls:
        wide = _wide(data, head)
        if wide is not None:
            return wide
        if not named or nuls > min(_MAX_NULS, 1 + len(head) // 50):
            return None
    if len(head.translate(None, _PLAIN)) - nuls > len(head) // 10:
        return None
    text = _narrow(data, head)
    if text is not None and (nuls or b"\0" in data):
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        text = text._replace(note="; ".join(filter(None, (text.note, f"NUL byte in line {line}"))))
    return text


def _by_byte_order_mark(data: bytes, encoding: str, named: bool) -> DecodedText | None:
    try:
        return DecodedText(data.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        # A UTF-16 byte order mark also starts some sound and image files.
        if encoding != "utf-8-sig" and not named:
            return None
        return DecodedText(
            decode(data, encoding), encoding, f"not valid {encoding}: undecodable byte at offset {error.start}"
        )


def _wide(data: bytes, head: bytes) -> DecodedText | None:
    """Decode UTF-16 without a mark: in ASCII text, every other byte is NUL."""
    half = len(head) // 2
    even, odd = head[::2].count(0), head[1::2].count(0)
    for encoding, high, low in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if high > half * 0.7 and low <= half * 0.05 and half:
            try:
                return DecodedText(data.decode(encoding), encoding, "UTF-16 without a byte order mark")
            except UnicodeDecodeError:
                return None
    return None


def _narrow(data: bytes, head: bytes) -> DecodedText | None:
    declared = _declared_codec(head)
    doubt = ""
    if declared and declared not in ("utf-8", "ascii"):
        try:
            return DecodedText(data.decode(declared), declared)
        except UnicodeError:
            doubt = f"declares the encoding {declared}, but cannot be decoded as such"
    try:
        return DecodedText(data.decode("utf-8"), "utf-8", doubt)
    except UnicodeDecodeError as error:
        if len(head.translate(None, _PLAIN)) > len(head) // 50:
            return None
        odd = f"byte 0x{data[error.start]:02X} in line {data.count(10, 0, error.start) + 1} is not UTF-8"
    try:
        return DecodedText(data.decode("cp1252"), "cp1252", f"{odd}; read as Windows-1252")
    except UnicodeDecodeError:
        return DecodedText(data.decode("latin-1"), "latin-1", f"{odd}; read as Latin-1")


def _declared_codec(head: bytes) -> str:
    """Return the codec that the first lines declare, if it is safe; otherwise ""."""
    start = head[:1024]
    if b"coding" not in start and b"charset" not in start:
        return ""
    match = _DECLARED.match(start)
    if match is None:
        return ""
    name = next(group for group in match.groups() if group).decode("ascii", "replace")
    try:
        codec = codecs.lookup(name.removesuffix("-unix").removesuffix("-dos")).name
    except LookupError:
        return ""
    return codec if _TRUSTED.fullmatch(codec) else ""
