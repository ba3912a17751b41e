"""PY-STRGROW: a string that is copied as a whole each time it grows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Match, RuleContext, loop_around

ID = "PY-STRGROW"
TITLE = "String built by concatenation in a loop"
CATEGORY = "performance"
SEVERITY = Severity.INFO
LANGUAGES = PYTHON
TESTS = False
WORDS = (b"+= ",)
WHY = (
    "Strings are immutable: each concatenation creates a new string and may copy the whole old one. CPython avoids "
    "the copy only while nothing else refers to the string. Collect the pieces in a list and join them once."
)
BAD = 'page = ""\nfor line in lines:\n    page += f"<li>{line}"'
GOOD = 'page = "".join(f"<li>{line}" for line in lines)'

_HEAD = re.compile(rb"[ \t]+([A-Za-z_]\w*)[ \t]*\Z")
_TEXTS = (b'"', b"'", b'f"', b"f'")


def find(context: RuleContext) -> Iterator[Match]:
    """Find additions, in a loop, to a variable that held a string before the loop."""
    data = context.data
    at = data.find(b"+= ")
    while at >= 0:
        if data.startswith(_TEXTS, at + 3):
            line = data.rfind(b"\n", 0, at) + 1
            head = _HEAD.match(data[line:at])
            if head:
                yield from _added(context, line + head.start(1), head[1])
        at = data.find(b"+= ", at + 3)


def _added(context: RuleContext, at: int, name: bytes) -> Iterator[Match]:
    path = context.path(at)
    node = next((ancestor for ancestor in reversed(path) if ancestor.type == "augmented_assignment"), None)
    loop = loop_around(path)
    if node is not None and loop is not None and node.start_byte == at and _is_text_before(context, path, loop, name):
        yield context.at(node, f"`{name.decode()}` may be copied completely in each iteration of the loop")


def _is_text_before(context: RuleContext, path: list[Node], loop: Node, name: bytes) -> bool:
    """True if the function assigned a string to the variable before the loop and the loop does not reassign it."""
    body = next(
        (ancestor for ancestor in reversed(path) if ancestor.type in ("function_definition", "module")), path[0]
    )
    word = re.escape(name)
    before = re.search(
        rb"^\s*%s(?:\s*:\s*str)?\s*=\s*\(?\s*f?[\"']" % word, context.data[body.start_byte : loop.start_byte], re.M
    )
    assigned = re.search(rb"^\s*%s\s*=(?!=)" % word, context.data[loop.start_byte : loop.end_byte], re.M)
    return before is not None and assigned is None
