"""CPP-ENDL: a loop that flushes the stream after each line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext, loop_around

ID = "CPP-ENDL"
TITLE = "`std::endl` in a loop"
CATEGORY = "performance"
SEVERITY = Severity.INFO
LANGUAGES = ("cpp", "cuda", "objcpp")
TESTS = False
NAMES = ("endl",)
WHY = (
    "`std::endl` ends the line and flushes the stream, which costs a system call per line. `'\\n'` only ends the line."
)
BAD = "for (auto& row : rows)\n  out << row << std::endl;"
GOOD = "for (auto& row : rows)\n  out << row << '\\n';"

_ERRORS = re.compile(r"(?:std::)?(?:cerr|clog)\b|LOG\(|VLOG\(|[A-Z_]{4,}")


def find(context: RuleContext) -> Iterator[Match]:
    """Find uses in a loop, except on streams that are unbuffered anyway or write to memory."""
    for at in context.places("endl"):
        path = context.path(at)
        if loop_around(path) is None:
            continue
        statement = next((n for n in reversed(path) if n.type in ("expression_statement", "return_statement")), None)
        whole = next((n for n in path if n.type == "binary_expression"), None)
        stream = context.text(whole if whole is not None else statement)
        first = re.match(r"\s*([\w:.>()-]+)", stream)
        if statement is None or _ERRORS.match(stream) or (first and _is_text(context, first[1])):
            continue
        yield context.at(
            path[-2] if path[-2].type == "qualified_identifier" else path[-1],
            "`std::endl` flushes the stream in each iteration of the loop",
        )


def _is_text(context: RuleContext, stream: str) -> bool:
    """True if a stream writes to memory, where a flush does nothing."""
    if not stream.isidentifier():
        return False
    return re.search(rb"stringstream\s*&?\s*%s\b" % stream.encode(), context.data) is not None
