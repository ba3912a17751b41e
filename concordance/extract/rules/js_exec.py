"""JS-EXEC: a shell command that is built at run time."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import SCRIPTS, Match, RuleContext

ID = "JS-EXEC"
TITLE = "Shell command built at run time"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = SCRIPTS
TESTS = False
NAMES = ("exec", "execSync")
WHY = (
    "The shell parses the whole command line, so a space, a quote or a `;` in a part that came from elsewhere is "
    "treated as syntax. `execFile` takes a list of arguments and needs no shell."
)
BAD = "exec(`git log ${path}`);"
GOOD = 'execFile("git", ["log", path]);'


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls whose command is assembled from parts, in files that load `child_process`."""
    if b"child_process" not in context.data:
        return
    for call in context.calls(*NAMES):
        line = call.arguments[0] if call.arguments else None
        joined = line is not None and (
            (line.type == "template_string" and "${" in context.text(line)) or (line.type == "binary_expression")
        )
        if joined and context.text(call.receiver) not in ("re", "regex", "pattern"):
            yield context.at(call.node, f"`{call.name}` passes `{context.short(line)}` to a shell")
