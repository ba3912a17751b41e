"""SH-CHMOD: a file or folder that everybody may write to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "SH-CHMOD"
TITLE = "World-writable file or folder"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = ("shell", "dockerfile", "yaml", "make")
TESTS = True
WORDS = (b"chmod",)
WHY = "Any user or program on the machine can then change it, and with it whatever is run from it."
BAD = "chmod 777 /opt/data"
GOOD = "chown service: /opt/data && chmod 750 /opt/data"

_OPEN = re.compile(
    rb"\bchmod\s+(?:-\w+\s+|--\w+\s+){0,10}(?:0?[0-7]?[0-7][0-7][2367]|[ugoa]*[oa][ugoa]*\+r?wx?X?|\+rwx)(?=\s)"
)


def find(context: RuleContext) -> Iterator[Match]:
    """Find modes that let others write, unless the sticky bit is set."""
    for match in _OPEN.finditer(context.data):
        line = context.data[context.data.rfind(b"\n", 0, match.start()) + 1 : match.start()].lstrip()
        sticky = re.search(rb"\s1\d\d\d$", match[0])
        if not context.in_comment(match.start()) and not line.startswith((b"#", b"echo")) and sticky is None:
            yield Match(match.start(), match.end(), f"`{match[0].decode()}` lets everyone write")
