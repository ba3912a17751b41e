"""ANY-KEY: a private key in the repository."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "ANY-KEY"
TITLE = "Private key in the repository"
CATEGORY = "security"
SEVERITY = Severity.ERROR
LANGUAGES: tuple[str, ...] = ()
TESTS = True
WORDS = (b"PRIVATE KEY-----",)
WHY = (
    "Whoever can read the repository, now or in its history, can speak and sign as the key's owner. A key that only "
    "tests use is best made by the tests."
)
BAD = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn" * 2 + "\n…"
GOOD = "key = os.environ['SERVICE_KEY']"

_BLOCK = re.compile(
    rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?:\\n|\\r|[\"'\s+,\\]|[\w-]++: [\w,-]++)*+[A-Za-z0-9+/=]{48}"
)


def find(look: RuleContext) -> Iterator[Match]:
    """Find key headers that are followed by a line of key material."""
    for match in _BLOCK.finditer(look.data):
        yield Match(match.start(), match.start() + 30, "a private key stands here in plain text")
