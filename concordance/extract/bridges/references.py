"""References in comments to what stands elsewhere: `PEP 484`, `RFC 7231`, `#1234`, the address of an issue.

In: a file of any language. Out: an end for each reference in a comment or a docstring, under one spelling. Documents
are not read: a list of changes is nothing but such references.

`#12` may be an ordinal, and `#123` or `#123456` a colour. So a bare number must have four or five digits; any other
must follow a word such as "issue" or "fixes".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext
from concordance.extract.registry import is_prose

LANGUAGES = ()
WORDS = (b"PEP", b"RFC", b" #", b"(#", b"github.com/")
CITES = "cites"
_STANDARD = re.compile(rb"(?P<kind>PEP|RFC)[ \t-]?(?P<number>\d{1,5})(?![\w-])")
_ISSUE = re.compile(rb"#(?P<number>\d{1,6})(?![\w-])")
_ADDRESS = re.compile(rb"github\.com/(?P<repository>[\w.-]+/[\w.-]+)/(?:issues|pull)/(?P<number>\d{1,6})(?!\w)")
# A word that makes `#12` an issue: `fixes #12`
_BEFORE = re.compile(
    rb"\b(?:issues?|bugs?|tickets?|PRs?|pulls?|pull requests?|GH|fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?)[ :\t]*\Z",
    re.I,
)
_LONGEST_WORD = 20  # characters before a number in which the word is looked for
_SEPARATE = b" \t([,"


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield every reference in comments and docstrings."""
    if is_prose(context.language):
        return
    data = context.data
    for match in _STANDARD.finditer(data) if b"PEP" in data or b"RFC" in data else ():
        at = match.start()
        if not data[max(0, at - 1) : at].isalnum() and _is_comment(context, at):
            number = match["number"].decode()
            # PEPs are written with and without zeros; a project's own RFC 0016 is not the RFC 16 of the internet.
            yield BridgeEnd(at, CITES, f"PEP {int(number)}" if match["kind"] == b"PEP" else f"RFC {number}")
    for match in _ISSUE.finditer(data):
        at = match.start()
        if _is_issue(data, at, len(match["number"])) and _is_comment(context, at) and _is_comment(context, at - 1):
            yield BridgeEnd(at, CITES, f"#{int(match['number'])}")
    for match in _ADDRESS.finditer(data):
        if _is_comment(context, match.start()):
            repository = match["repository"].decode("utf-8", "replace")
            yield BridgeEnd(match.start(), CITES, f"{repository}#{int(match['number'])}")


def _is_issue(data: bytes, at: int, digits: int) -> bool:
    """True if the number after a `#` is likely that of an issue."""
    if not at or data[at - 1] not in _SEPARATE:
        return False
    return digits in (4, 5) or _BEFORE.search(data, max(0, at - _LONGEST_WORD), at) is not None


def _is_comment(context: RuleContext, at: int) -> bool:
    """True if an offset is in a comment or a docstring."""
    if context.in_comment(at):
        return True
    return any(
        around.type == "expression_statement" and node.type == "string" for around, node in pairwise(context.path(at))
    )
