"""C-MALLOC: allocated memory that is used before the allocation is checked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Call, Match, RuleContext

ID = "C-MALLOC"
TITLE = "Unchecked allocation"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = True
NAMES = ("malloc", "calloc", "strdup", "aligned_alloc")
WHY = (
    "These functions return a null pointer if no memory is left. The next use reads or writes through it, and "
    "where an attacker controls the offset, at an address of their choice."
)
BAD = "int* a = malloc(n * sizeof(int));\na[0] = 1;"
GOOD = "int* a = malloc(n * sizeof(int));\nif (a == NULL)\n  return -1;\na[0] = 1;"

_TARGET = re.compile(
    rb"\b([A-Za-z_]\w*+)\s*=\s*(?:\(\s*[\w\s:<>]+\**\s*\)\s*|(?:static|reinterpret)_cast<[^;]*?>\s*\(\s*)?$"
)
_USED = (
    rb"(?:\*\s*%s\b(?!\s*[=!]=)|\b%s\s*(?:\[|->)|\bmem(?:cpy|set|move)\s*\(\s*%s\s*,|\bstr(?:cpy|cat)\s*\(\s*%s\s*,)"
)
_STATEMENT = re.compile(rb"\s*+\)*+\s*+;")


def find(context: RuleContext) -> Iterator[Match]:
    """Find results assigned to a variable that the next statement about it dereferences."""
    for call in context.library_calls(*NAMES):
        name = _target(context, call)
        if name and _first_use(context, call.node, name):
            yield context.at(
                call.node, f"`{name.decode()}` is used without checking whether `{call.name}` returned null"
            )


def _target(context: RuleContext, call: Call) -> bytes:
    """Return the variable that a result is assigned to; empty if it is tested, returned or stored elsewhere at once."""
    before = context.data[max(0, call.node.start_byte - 200) : call.node.start_byte]
    match = _TARGET.search(before)
    behind = context.data[call.node.end_byte : call.node.end_byte + 40]
    if match is None or not _STATEMENT.match(behind) or before[: match.start()].rstrip().endswith((b".", b"->", b"(")):
        return b""
    return match[1]


def _first_use(context: RuleContext, node: Node, name: bytes) -> bool:
    """True if the first statement that mentions a variable dereferences it and does not test it."""
    rest = context.data[node.end_byte : node.end_byte + 1500]
    rest = re.sub(rb"//[^\n]*|/\*.*?\*/", b"", rest, flags=re.S).partition(b"\n}")[0]
    match = re.search(rb"\b%s\b" % re.escape(name), rest)
    if match is None:
        return False
    start = max(rest.rfind(sign, 0, match.start()) for sign in (b";", b"{", b"}")) + 1
    end = rest.find(b";", match.end())
    statement = rest[start : end if end >= 0 else len(rest)]
    if re.search(rb"\b(?:if|while|assert\w*|[A-Z][A-Z_]{2,}|return)\b\s*\(?", statement[: match.start() - start]):
        return False
    words = re.escape(name)
    return re.search(_USED % (words, words, words, words), statement) is not None
