"""SH-PIPE: a script that is downloaded and run without inspection."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "SH-PIPE"
TITLE = "Download piped into an interpreter"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = ("shell", "dockerfile", "yaml", "make")
TESTS = True
WORDS = (b"curl ", b"wget ")
WHY = (
    "Anyone who controls the server, its domain or the connection can run code here, and there is no record of "
    "what was run. Download to a file, verify its checksum, then run it."
)
BAD = "curl -sSf https://example.org/install.sh | sh"
GOOD = "curl -sSfo install.sh https://example.org/install.sh\nsha256sum -c install.sha256 && sh install.sh"

_SHELL = rb"(?:sudo\s+(?:-\w+\s+|\w+=\S+\s+)*)?(?:/(?:usr/)?bin/)?(?:env\s+)?(?:ba|z|da|k)?sh|python[23]?|perl|ruby"
_PIPED = re.compile(
    rb"\b(?:curl|wget)\b(?:\\\r?\n|[^|\n;&\"'#]|\"[^\"\n]*\"|'[^'\n]*'|&(?!&))*\|\s*(?:\\\r?\n\s*)?(?:"
    + _SHELL
    + rb")(?![\w./-])(?!\s+-[cm]\b)|"
    rb"(?:(?:ba|z)?sh|source|\.)\s+<\(\s*(?:curl|wget)\b|"
    rb"\b(?:(?:ba|z)?sh\s+-\w*c|eval)\s+\"?\$\(\s*(?:curl|wget)\b"
)


def find(context: RuleContext) -> Iterator[Match]:
    """Find downloads that are piped or substituted into an interpreter."""
    for match in _PIPED.finditer(context.data):
        if not context.in_comment(match.start()) and not _is_quoted(context, match.start()):
            yield Match(match.start(), match.end(), "a script is downloaded and run without inspection")


def _is_quoted(context: RuleContext, at: int) -> bool:
    """True if the line only prints the command."""
    line = context.data[context.data.rfind(b"\n", 0, at) + 1 : at]
    return re.search(rb"\b(?:echo|printf|cat)\b[^;|&]*[\"']", line) is not None or line.lstrip().startswith(b"#")
