"""PY-LISTFIND: a growing list that is searched from the start in each iteration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Match, RuleContext, loop_around

ID = "PY-LISTFIND"
TITLE = "Growing list searched in a loop"
CATEGORY = "performance"
SEVERITY = Severity.INFO
LANGUAGES = PYTHON
TESTS = False
WORDS = (b"= []", b"= list()")
WHY = (
    "`in` compares with the elements of a list one by one, and the list grows with the loop, so n iterations make "
    "about n² / 2 comparisons. A set, or a dictionary if order matters, takes constant time per look-up."
)
BAD = "seen = []\nfor name in names:\n    if name not in seen:\n        seen.append(name)"
GOOD = "seen = dict.fromkeys(names)"


_BEGUN = re.compile(rb"[ \t]*([A-Za-z_]\w*)(?:[ \t]*+:[^=\n]++)?+[ \t]*+\Z")
_ENDS = (b"", b" ", b":", b")", b"]", b"}", b",", b"\n", b"\r")


def find(context: RuleContext) -> Iterator[Match]:
    """Find membership tests, in a loop, of lists that start empty and are appended to in the same loop."""
    data = context.data
    for name in sorted(_begun(data)):
        if name + b".append(" not in data:
            continue
        at = data.find(b" in " + name)
        while at >= 0:
            line = data[data.rfind(b"\n", 0, at) + 1 : at].lstrip()
            behind = data[at + 4 + len(name) : at + 5 + len(name)]
            if behind in _ENDS and not line.startswith((b"for ", b"#")):
                yield from _tested(context, at + 4, name)
            at = data.find(b" in " + name, at + 4)


def _begun(data: bytes) -> set[bytes]:
    """Return the names that are assigned an empty list anywhere in the file."""
    names = set()
    for sign in WORDS:
        at = data.find(sign)
        while at >= 0:
            match = _BEGUN.match(data[data.rfind(b"\n", 0, at) + 1 : at])
            if match:
                names.add(match[1])
            at = data.find(sign, at + 1)
    return names


def _tested(context: RuleContext, at: int, name: bytes) -> Iterator[Match]:
    path = context.path(at)
    test = next((ancestor for ancestor in reversed(path) if ancestor.type == "comparison_operator"), None)
    loop = loop_around(path)
    if test is not None and loop is not None and _grows(context, path, loop, re.escape(name)):
        words = f"`{name.decode()}` is searched linearly in each iteration of the loop that appends to it"
        yield context.at(test, words)


def _grows(context: RuleContext, path: list[Node], loop: Node, word: bytes) -> bool:
    """True if the list is created empty before the loop, in the same function, and appended to inside it."""
    body = next(
        (ancestor for ancestor in reversed(path) if ancestor.type in ("function_definition", "module")), path[0]
    )
    begun = rb"^[ \t]*%s(?:\s*:[^=\n]+)?\s*=\s*(?:\[\s*\]|list\(\))" % word
    inside = context.data[loop.start_byte : loop.end_byte]
    return (
        re.search(begun, context.data[body.start_byte : loop.start_byte], re.M) is not None
        and re.search(begun, inside, re.M) is None
        and re.search(rb"^[ \t]*%s\.append\(" % word, inside, re.M) is not None
    )
