"""JS-HTML: text that is inserted into the page as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import LITERALS, SCRIPTS, Match, RuleContext

ID = "JS-HTML"
TITLE = "Text inserted as HTML"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = SCRIPTS
TESTS = False
NAMES = ("innerHTML", "outerHTML", "insertAdjacentHTML", "write", "writeln")
WHY = "Tags and event handlers in the text become part of the page and run. `textContent` inserts the text literally."
BAD = "element.innerHTML = name;"
GOOD = "element.textContent = name;"


def find(context: RuleContext) -> Iterator[Match]:
    """Find assignments and calls whose value is more than a literal."""
    for at in context.places("innerHTML", "outerHTML"):
        path = context.path(at)
        node = path[-3] if len(path) > 2 else None
        if node is None or node.type not in ("assignment_expression", "augmented_assignment_expression"):
            continue
        value = node.child_by_field_name("right")
        if node.child_by_field_name("left") == path[-2] and value is not None and not _is_fixed(context, value):
            yield context.at(node, f"`{context.short(value)}` is inserted as HTML")
    for call in context.calls("insertAdjacentHTML", "write", "writeln"):
        known = call.name == "insertAdjacentHTML" or context.text(call.receiver) in ("document", "window.document")
        if known and call.arguments and not _is_fixed(context, call.arguments[-1]):
            yield context.at(call.node, f"`{context.short(call.arguments[-1])}` is inserted as HTML")


def _is_fixed(context: RuleContext, value: Node) -> bool:
    """True if a value consists of literals and plain names (mostly constants), or its text mentions sanitising."""
    text = context.text(value)
    if value.type in LITERALS or (value.type == "template_string" and "${" not in text):
        return True
    if re.search(r"(?i)saniti[sz]e|escape|purify|\.innerHTML$", text):
        return True
    bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", "", text)
    return value.type == "binary_expression" and re.fullmatch(r"[\s+\w$]*", bare) is not None
