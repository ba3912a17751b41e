"""CPP-DELETE: an object that must be freed by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "CPP-DELETE"
TITLE = "Manual `delete`"
CATEGORY = "security"
SEVERITY = Severity.INFO
LANGUAGES = ("cpp", "cuda", "objcpp")
TESTS = False
WORDS = (b"delete ", b"delete[]")
WHY = (
    "An object that is freed with `delete` leaks if a return or an exception comes first, and is freed twice if "
    "two parts of the program consider it theirs. `std::unique_ptr` makes ownership explicit."
)
BAD = "delete table;"
GOOD = "std::unique_ptr<Table> table;"

_DELETE = re.compile(rb"\bdelete\b(?!\s*[;,)])")


def find(context: RuleContext) -> Iterator[Match]:
    """Find `delete` expressions.

    `delete this`, as in reference counting, and the deletion of a function's own parameter are left out.
    """
    for match in _DELETE.finditer(context.data):
        path = context.path(match.start())
        node = next((ancestor for ancestor in reversed(path) if ancestor.type == "delete_expression"), None)
        if node is None or node.start_byte != match.start() or not node.named_children:
            continue
        what = node.named_children[-1]
        words = context.text(what)
        is_plain = words != "this" and "_cast<" not in words and what.type != "cast_expression"
        if is_plain and not words.startswith("((") and not _is_handed(context, path, words):
            yield context.at(node, f"`{context.short(what)}` is deleted manually")


def _is_handed(context: RuleContext, path: list[Node], words: str) -> bool:
    """True if the object is a parameter of the enclosing function, which is then usually a deleter."""
    body = next(
        (ancestor for ancestor in reversed(path) if ancestor.type in ("function_definition", "lambda_expression")), None
    )
    if body is None or not words.isidentifier():
        return False
    head = context.text(body).partition("{")[0]
    return re.search(rf"[*&\s]{words}\s*[,)=]", head) is not None
