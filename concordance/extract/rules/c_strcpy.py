"""C-STRCPY: copies that stop only at the end of the source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Call, Match, RuleContext

ID = "C-STRCPY"
TITLE = "Unbounded string copy"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = True
NAMES = ("strcpy", "strcat", "stpcpy", "wcscpy", "wcscat", "gets", "lstrcpy", "lstrcat")
WHY = (
    "The copy continues until the source ends, no matter how small the destination is. A source that is longer "
    "than expected overwrites the memory after the destination."
)
BAD = "strcpy(name, argv[1]);"
GOOD = 'snprintf(name, sizeof(name), "%s", argv[1]);'


_OUTSIDE = re.compile(r"\bargv\s*\[|^optarg$|\bgetenv\s*\(|\.c_str\(\)$|\bd_name$")


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls whose source comes from the caller or from outside the program.

    They are left out if the function checks the source's length or allocates the destination to fit.
    """
    for call in context.library_calls(*NAMES):
        if call.name == "gets":
            if len(call.arguments) == 1:
                yield context.at(
                    call.node, f"`gets` reads a line of any length into `{context.short(call.arguments[0])}`"
                )
        elif len(call.arguments) == 2:
            to, source = map(context.text, call.arguments)
            if (
                _is_given(context, call, source)
                and not _is_made_for_it(context, call, to)
                and not context.is_bounded(call, source)
            ):
                to, source = map(context.short, call.arguments)
                yield context.at(call.node, f"`{call.name}` copies `{source}` into `{to}` without checking its size")


def _is_given(context: RuleContext, call: Call, source: str) -> bool:
    """True if a text may have any length: a parameter, a program argument, an environment variable."""
    if not source.isidentifier() or _OUTSIDE.search(source):
        return _OUTSIDE.search(source) is not None
    head = context.text(call.body).partition("{")[0]
    return re.search(rf"[*&\s]{source}\s*(?:\[\s*\])?\s*[,)]", head) is not None


def _is_made_for_it(context: RuleContext, call: Call, to: str) -> bool:
    """True if the function has allocated the destination before, or used its size."""
    base = re.match(r"[\s(&]*([\w>.-]+)", to)
    before = context.source.slice(call.body.start_byte, call.node.start_byte)
    allocation = r"\b%s\s*=[^;]*(?:alloc\w*|ALLOC\w*|dup\w*\s*\(|\bnew\b|STACK)|sizeof\s*\(\s*%s"
    return base is not None and re.search(allocation % (re.escape(base[1]), re.escape(base[1])), before) is not None
