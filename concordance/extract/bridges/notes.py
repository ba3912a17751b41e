"""Notes: long comments with a title that other comments refer to by name.

In: a file of any language. Out: an end for each place that writes `Note [Fake Tensor Dispatch Keys]`, `NOTE: [ … ]` or
`[Note: …]` in a comment, a docstring or a document. The note itself is where the title is a heading: alone in its line,
with text below it. Every other place mentions it; there the title may be broken into two lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext
from concordance.extract.registry import is_prose

LANGUAGES = ()
WORDS = (b"Note [", b"NOTE [", b"Note: [", b"NOTE: [", b"[Note:", b"[NOTE:", b"note [", b"note: [", b"[note:")
EXPLAINS, REFERS = "explains", "refers to"
_MARK = rb"[ \t]*+(?:\#|//++!?+|/\*++|\*|--|;++|%|\"\"\"|''')?+[ \t]*+"
_TITLE = rb"(?P<title>[^\[\]\n]{3,100}+(?:\n" + _MARK + rb"[^\[\]\n]{1,100}+)?+)"
# A reference to a note: `Note [Title]`
_NOTE = re.compile(
    rb"(?<![\w`])(?:(?:NOTE|Note|note):?+[ \t]*+\[[ \t]*+(?:NOTE:|Note:)?+" + _TITLE + rb"\]"
    rb"|\[(?:NOTE|Note|note):[ \t]*+" + _TITLE.replace(b"<title>", b"<other>") + rb"\])"
)
_BROKEN = re.compile(rb"\r?\n" + _MARK)
# The sign of a comment before a note's title
_OPENING = re.compile(
    rb"[ \t]*+(?P<mark>\#++|//++!?+|/\*++|\*|--|;++|%|[rRbB]?+\"\"\"|[rRbB]?+'''|=++|\.\.)?+[ \t]*+(?:\*\*)?+"
    rb"(?P<text>[^\n]*+)"
)
_ENDS_HERE = re.compile(rb"[ \t]*+[:.]?+[ \t]*+(?:\*\*)?+[ \t]*+\r?+\n")
_SENTENCE_GOES_ON = re.compile(rb"[\w,(]\Z")
_TEXTS = ("comment", "string", "line_comment", "block_comment")


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield every note and every mention of one."""
    data = context.data
    for match in _NOTE.finditer(data):
        at = match.start()
        if not (is_prose(context.language) or _is_text(context, at)):
            continue
        title = b" ".join(_BROKEN.sub(b" ", match["title"] or match["other"]).split()).decode("utf-8", "replace")
        if not re.search(r"[A-Za-z]{2}", title):
            continue
        broken = b"\n" in (match["title"] or match["other"])
        is_note = not broken and _is_heading(data, at, match.end())
        yield BridgeEnd(at, EXPLAINS if is_note else REFERS, title)


def _is_heading(data: bytes, start: int, end: int) -> bool:
    """True if a title is a heading: alone in its line, with more of the comment below it, and not the end of a sentence
    that begins in the line above."""
    line = data.rfind(b"\n", 0, start) + 1
    opening, ending = _OPENING.match(data, line, start), _ENDS_HERE.match(data, end)
    if opening is None or opening["text"] or ending is None:
        return False
    mark = opening["mark"] or b""
    below = _OPENING.match(data, ending.end())
    in_block = not mark or mark.startswith((b"/*", b"*", b"'", b'"')) or mark[1:2] in (b"'", b'"')
    if below is None or not (in_block or below["mark"] == mark) or not (below["mark"] or below["text"].strip()):
        return in_block and below is not None and not below["text"].strip()
    above = _OPENING.match(data, data.rfind(b"\n", 0, max(0, line - 1)) + 1, max(0, line - 1)) if line else None
    same = above is not None and (in_block or above["mark"] == mark)
    return not (same and above is not None and _SENTENCE_GOES_ON.search(above["text"].rstrip()))


def _is_text(context: RuleContext, at: int) -> bool:
    """True if the text at an offset is a comment or a string, such as a docstring."""
    return context.in_comment(at) or any(node.type.startswith(_TEXTS) for node in context.path(at)[-4:])
