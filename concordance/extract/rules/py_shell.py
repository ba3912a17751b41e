"""PY-SHELL: a shell command that is built at run time."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import LITERALS, PYTHON, Call, Match, RuleContext

ID = "PY-SHELL"
TITLE = "Shell command built at run time"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = PYTHON
TESTS = False
NAMES = ("system", "popen", "run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput",
         "create_subprocess_shell")  # fmt: skip
WHY = (
    "The shell parses the whole command line, so a space, a quote or a `;` in a part that came from elsewhere is "
    "treated as syntax. A list of arguments without `shell=True` needs no shell."
)
BAD = 'subprocess.run(f"tar xf {name}", shell=True)'
GOOD = 'subprocess.run(["tar", "xf", name])'

_ALWAYS = frozenset(("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput",
                     "asyncio.create_subprocess_shell"))  # fmt: skip


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls that use a shell, always or because of `shell=True`, with a command that is not a literal."""
    for function, call in context.imported_calls(*NAMES):
        if function in _ALWAYS or (
            function.startswith("subprocess.") and context.text(call.keyword("shell")) == "True"
        ):
            line = _line(call)
            if line is not None and not _is_fixed(context, line):
                yield context.at(call.node, f"`{function}` passes `{context.short(line)}` to a shell")


def _line(call: Call) -> Node | None:
    first = call.arguments[0] if call.arguments else None
    if first is None or first.type == "keyword_argument":
        return call.keyword("args") or call.keyword("cmd")
    return first


def _is_fixed(context: RuleContext, line: Node) -> bool:
    """True if the command is a literal without parts to fill in, or a list of such literals."""
    if line.type == "list":
        return all(_is_fixed(context, node) for node in line.named_children)
    text = context.text(line)
    return line.type in LITERALS and not ("{" in text and text.lstrip("rR")[:1] in "fF")
