"""YAML-INJECT: a workflow script with text that a stranger controls."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "YAML-INJECT"
TITLE = "Untrusted input in a workflow script"
CATEGORY = "security"
SEVERITY = Severity.ERROR
LANGUAGES = ("yaml",)
TESTS = True
WORDS = (b"github.event.", b"github.head_ref")
WHY = (
    'The text is inserted into the script before the shell parses it, so a title such as `"; curl … | sh; "` is '
    "executed. Pass it in an environment variable, which the shell does not parse as code."
)
BAD = 'run: echo "${{ github.event.pull_request.title }}"'
GOOD = 'env:\n  TITLE: ${{ github.event.pull_request.title }}\nrun: echo "$TITLE"'

_TEXT = re.compile(
    rb"\$\{\{(?:[^}\n$]|\$(?!\{\{))*\b(github\.head_ref|github\.event\.(?:(?:issue|pull_request|discussion)\.(?:title|body)|(?:comment|review|review_comment)\.body|"
    rb"pull_request\.head\.(?:ref|label|repo\.\w+)|head_commit\.(?:message|author\.\w+)|commits\[?[^}]*message|pages[^}]*page_name))\b[^}\n]*\}\}"
)
_RUN = re.compile(rb"^([ \t]*)(?:-[ \t]+)?(?:run|script):[ \t]*([|>][-+\d]*)?", re.M)


def find(context: RuleContext) -> Iterator[Match]:
    """Find such text between `run:` and the next key of its step."""
    spans = []
    for match in _RUN.finditer(context.data):
        end = context.data.find(b"\n", match.end())
        if match[2]:
            indent = len(
                context.data[context.data.rfind(b"\n", 0, match.end()) + 1 : match.end()].partition(b":")[0]
            ) - len(
                context.data[context.data.rfind(b"\n", 0, match.end()) + 1 : match.end()]
                .partition(b":")[0]
                .lstrip(b" -")
            )
            stop = re.compile(rb"^[ ]{0,%d}[^\s#]" % indent, re.M).search(context.data, end + 1)
            end = stop.start() if stop else len(context.data)
        spans.append((match.end(), end if end >= 0 else len(context.data)))
    starts = [start for start, _ in spans]
    ends = list(accumulate((end for _, end in spans), max))
    for match in _TEXT.finditer(context.data):
        place = bisect_right(starts, match.start()) - 1
        if place >= 0 and match.start() < ends[place]:
            yield Match(
                match.start(), match.end(), f"`{match[1].decode()}` is inserted into a script, where it can run as code"
            )
