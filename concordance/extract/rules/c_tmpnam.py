"""C-TMPNAM: a name for a temporary file that somebody else can take before the file is created."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "C-TMPNAM"
TITLE = "Temporary file name chosen before the file is created"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = True
NAMES = ("mktemp", "tmpnam", "tempnam", "tmpnam_r", "_mktemp")
WHY = (
    "Between choosing the name and creating the file, someone else can create a file or a link with that name. "
    "`mkstemp` does both in one step."
)
BAD = "char* path = tmpnam(NULL);"
GOOD = "int file = mkstemp(path);"


def find(context: RuleContext) -> Iterator[Match]:
    """Find all calls."""
    for call in context.library_calls(*NAMES):
        yield context.at(call.node, f"`{call.name}` returns a file name without creating the file")
