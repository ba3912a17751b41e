"""CPP-LOOPCOPY: a loop that copies each element without changing the copy."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "CPP-LOOPCOPY"
TITLE = "Loop variable copies each element"
CATEGORY = "performance"
SEVERITY = Severity.INFO
LANGUAGES = ("cpp", "cuda", "objcpp")
TESTS = False
WORDS = (b"(std::", b"(const std::")
WHY = (
    "Each iteration copies a string or container, and allocates memory for it, only to read it. `const auto&` "
    "refers to the element without a copy."
)
BAD = "for (std::string name : names)\n  use(name);"
GOOD = "for (const std::string& name : names)\n  use(name);"


_KINDS = (b"string", b"vector", b"map", b"unordered_map", b"set", b"unordered_set", b"function", b"shared_ptr", b"list",
          b"deque")  # fmt: skip
_HEAD = re.compile(rb"for(?<!\wfor)\s*\(\s*(?:const\s+)?std::(?:%s)\b[^;&]{0,300}?\s:\s" % b"|".join(_KINDS))


def find(context: RuleContext) -> Iterator[Match]:
    """Find loops over strings or containers by value that do not change the copy."""
    for match in _HEAD.finditer(context.data):
        loop = next((node for node in reversed(context.path(match.start())) if node.type == "for_range_loop"), None)
        if loop is None or loop.start_byte != match.start():
            continue
        kind, name, body, right = (loop.child_by_field_name(f) for f in ("type", "declarator", "body", "right"))
        if kind is None or name is None or body is None or right is None or name.type != "identifier":
            continue
        if right.type != "initializer_list" and not _is_changed(context.text(body), re.escape(context.text(name))):
            words = f"each `{context.short(kind)}` in `{context.short(right)}` is copied to `{context.text(name)}`"
            yield context.at(loop.children[0], words)


def _is_changed(body: str, name: str) -> bool:
    """True if the copy is changed or handed to other code, so that it is needed."""
    signs = rf"\b{name}\s*(?:[-+*/|&^]?=(?!=)|\+\+|--|\[[^\]]*\]\s*=(?!=))|(?:\+\+|--|>>\s*){name}\b"
    verbs = r"push_\w+|erase|insert|append|resize|clear|pop_\w+|replace|begin|swap|emplace\w*|assign|reset"
    calls = rf"\b{name}\s*\.\s*(?:{verbs})\b"
    return re.search(f"{signs}|{calls}|move\\(\\s*{name}\\b|&{name}\\b|\\[&", body) is not None
