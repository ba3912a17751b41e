"""SH-INSECURE: a download that does not check the server's certificate."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "SH-INSECURE"
TITLE = "Certificate verification disabled"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = ("shell", "dockerfile", "yaml", "make")
TESTS = True
WORDS = (b"curl ", b"wget ", b"sslVerify", b"SSL_NO_VERIFY", b"TLS_REJECT")
WHY = "Anyone between this machine and the server can impersonate the server and send different content."
BAD = "curl --insecure -O https://example.org/tool.tar.gz"
GOOD = "curl --cacert company.pem -O https://example.org/tool.tar.gz"

_UNCHECKED = re.compile(
    rb"\bcurl\s(?:\\\r?\n|[^|\n;&#]){0,400}?\s?(?<=\s)(?:--insecure|-[a-jl-zA-JL-Z]*k[a-zA-Z]*)(?=\s)|"
    rb"\bwget\s(?:\\\r?\n|[^|\n;&#]){0,400}?--no-check-certificate|http\.sslVerify[=\s]+[\"']?(?:false|0)|"
    rb"\bGIT_SSL_NO_VERIFY[=:]\s*[\"']?(?:1|true)|NODE_TLS_REJECT_UNAUTHORIZED[=:]\s*[\"']?0"
)


def find(context: RuleContext) -> Iterator[Match]:
    """Find options and variables that switch the check off."""
    for match in _UNCHECKED.finditer(context.data):
        if not context.in_comment(match.start()):
            yield Match(
                match.start(), match.end(), f"`{match[0].split()[0].decode()}` does not verify the server's certificate"
            )
