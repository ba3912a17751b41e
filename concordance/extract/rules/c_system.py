"""C-SYSTEM: a shell command that is built at run time."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Severity
from concordance.extract.reading.rule_context import LITERALS, Match, RuleContext

ID = "C-SYSTEM"
TITLE = "Shell command built at run time"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = False
NAMES = ("system", "popen", "_popen", "wsystem", "_wsystem")
WHY = (
    "The shell parses the whole command line, so a space, a quote or a `;` in a part that came from elsewhere is "
    "treated as syntax. `execve` and `posix_spawn` take a list of arguments and need no shell."
)
BAD = "system(command.c_str());"
GOOD = "posix_spawnp(&child, program, nullptr, nullptr, arguments, environ);"

_COUNT = {"popen": 2, "_popen": 2}


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls whose command is not a literal."""
    for call in context.library_calls(*NAMES):
        if len(call.arguments) == _COUNT.get(call.name, 1) and call.arguments[0].type not in LITERALS:
            line = context.text(call.arguments[0])
            if not line.isupper() and line not in ("NULL", "nullptr", "0"):
                yield context.at(call.node, f"`{call.name}` passes `{context.short(call.arguments[0])}` to a shell")
