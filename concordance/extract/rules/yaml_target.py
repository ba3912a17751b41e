"""YAML-TARGET: a workflow that runs a stranger's code with the repository's secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "YAML-TARGET"
TITLE = "Untrusted code checked out with access to secrets"
CATEGORY = "security"
SEVERITY = Severity.ERROR
LANGUAGES = ("yaml",)
TESTS = True
WORDS = (b"pull_request_target",)
WHY = (
    "`pull_request_target` runs with the repository's secrets and a token that may have write access. Checking out "
    "the pull request's head brings in untrusted files, and building or testing them runs them."
)
BAD = (
    "on: pull_request_target\njobs:\n  test:\n    steps:\n      - uses: actions/checkout@v4\n        with:\n"
    "          ref: ${{ github.event.pull_request.head.sha }}"
)
GOOD = "on: pull_request\njobs:\n  test:\n    steps:\n      - uses: actions/checkout@v4"

_HEAD = re.compile(
    rb"^[ \t]*+(?:-\s*+)?ref:\s*+"
    rb"[\"']?(?:\$\{\{[^}\n]*(?:pull_request\.head\.(?:sha|ref)|github\.head_ref)|refs/pull/\$\{\{)[^\n]*",
    re.M,
)


def find(context: RuleContext) -> Iterator[Match]:
    """Find checkouts of the head in a workflow that `pull_request_target` triggers."""
    target = re.search(rb"^(?:on|\"on\"|'on'|true)\s*:[^#]*?\bpull_request_target\b", context.data, re.M | re.S)
    jobs = re.search(rb"^jobs\s*:", context.data, re.M)
    if target is None or jobs is None or target.end() > jobs.start() > target.start():
        return
    for match in _HEAD.finditer(context.data, jobs.start()):
        if not context.in_comment(match.start()):
            start = match.end() - len(match[0].lstrip())
            yield Match(
                start,
                match.end(),
                "the head of a pull request is checked out in a workflow triggered by `pull_request_target`, which "
                "has access to secrets",
            )
