"""SH-EVAL: a variable that is run as code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "SH-EVAL"
TITLE = "`eval` of a variable"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = ("shell",)
TESTS = False
NAMES = ("eval",)
WHY = (
    "The shell parses the variable's value as code: a space, a `;` or a `$(…)` in it takes effect. An array "
    '(`"${command[@]}"`) runs a command with exactly the words stored in it.'
)
BAD = 'eval "$command"'
GOOD = '"${command[@]}"'

_VARIABLE = re.compile(r"[\"']?\\?\$\{?[A-Za-z_@*1-9]")


def find(context: RuleContext) -> Iterator[Match]:
    """Find `eval` of words that contain a variable.

    Output of another program that is meant to be evaluated, and arguments reordered by `getopt`, are left out.
    """
    for at in context.places("eval"):
        command = next((node for node in reversed(context.path(at)) if node.type == "command"), None)
        if command is None or command.start_byte != at:
            continue
        words = [context.text(node) for node in command.named_children[1:]]
        if any("$(" in word or "`" in word for word in words) or words[:2] == ["set", "--"]:
            continue
        cause = next(
            (word for word in words if _VARIABLE.match(word) or re.search(r"(?<!\\)\$\{?[A-Za-z_@*1-9]", word)), None
        )
        if cause is not None and not cause.startswith("'"):
            yield context.at(command, f"`eval` runs the value of `{cause[:60]}` as code")
