"""C-TMPNAM: a name for a temporary file that somebody else can take before the file is created."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "C-TMPNAM"
TITLE = "Temporary file named before it is made"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = True
NAMES = ("mktemp", "tmpnam", "tempnam", "tmpnam_r", "_mktemp")
WHY = (
    "Between the name and the file somebody else can make a file or a link of that name. `mkstemp` makes the file "
    "together with the name."
)
BAD = "char* path = tmpnam(NULL);"
GOOD = "int file = mkstemp(path);"


def find(look: RuleContext) -> Iterator[Match]:
    """Find all calls."""
    for call in look.library_calls(*NAMES):
        yield look.at(call.node, f"`{call.name}` names a file that it does not make")
