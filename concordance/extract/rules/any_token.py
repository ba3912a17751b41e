"""ANY-TOKEN: an access token of a service in the repository."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match, RuleContext

ID = "ANY-TOKEN"
TITLE = "Access token in the repository"
CATEGORY = "security"
SEVERITY = Severity.ERROR
LANGUAGES: tuple[str, ...] = ()
TESTS = True
WORDS = (b"AKIA", b"ghp_", b"github_pat_", b"xoxb-", b"AIza")  # each costs a search of every file
WHY = (
    "The token gives everyone who can read the repository, now or in its history, access to an account. It must be "
    "revoked, not only deleted."
)
BAD = "aws_access_key_id = AKIA" + "Q3EGRIPTJ5XNVW7K"
GOOD = "aws_access_key_id = ${AWS_ACCESS_KEY_ID}"

_TOKEN = re.compile(
    rb"(?<![A-Za-z0-9_/+])(?:AKIA[A-Z2-7]{16}|ghp_[A-Za-z0-9]{36}|github_pat_\w{82}|xoxb-[\w-]{20,}|AIza[\w-]{35})"
    rb"(?![A-Za-z0-9_/+])"
)


def find(context: RuleContext) -> Iterator[Match]:
    """Find tokens by the format that their service uses, each once.

    Placeholders that only show the format are left out.
    """
    for word, match in {match[0].decode(): match for match in reversed(list(_TOKEN.finditer(context.data)))}.items():
        if "EXAMPLE" not in word.upper() and "XXXX" not in word.upper() and _is_random(word):
            yield Match(match.start(), match.end(), f"`{word[:8]}…` looks like an access token")


def _is_random(word: str) -> bool:
    """True if a word's characters are distributed as in a random one (Shannon entropy above 3 bits per character)."""
    counts = Counter(word)
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts.values()) > 3.0
