"""YAML-BRANCH: an action taken from a branch, whose content can change at any time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "YAML-BRANCH"
TITLE = "Action pinned to a branch"
CATEGORY = "security"
SEVERITY = Severity.INFO
LANGUAGES = ("yaml",)
TESTS = True
WORDS = (b"@main", b"@master", b"@develop")
WHY = (
    "The workflow runs whatever the branch currently contains, with the workflow's token. A full commit hash pins "
    "the version that was reviewed."
)
BAD = "uses: example/action@main"
GOOD = "uses: example/action@8f4b7f84864484a7bf31766abe9204da3cbe65b3"

_USES = re.compile(rb"^[ \t]*(?:-[ \t]+)?uses:[ \t]*[\"']?([\w.-]+/[\w./-]+)@(main|master|develop)\b", re.M)


def find(context: RuleContext) -> Iterator[Match]:
    """Find `uses:` of a branch.

    Actions in a `.github` folder are skipped, because they mostly belong to the same people.
    """
    for match in _USES.finditer(context.data):
        if b"/.github/" not in match[1] and not context.in_comment(match.start(1)):
            words = f"`{match[1].decode()}` follows its branch `{match[2].decode()}`"
            yield Match(match.start(1), match.end(), words)
