"""The rules of a `CODEOWNERS` file: the last pattern that matches a path names its owners."""

from __future__ import annotations

import re
from typing import NamedTuple

CODEOWNERS_PATHS = (
    ".github/CODEOWNERS",
    "CODEOWNERS",
    "docs/CODEOWNERS",
    ".gitlab/CODEOWNERS",
)  # the first that exists counts
_WILD = re.compile(r"/\*\*/|\*\*/|/\*\*|\*+|\?|[^*?/]+|/")
_WORD = re.compile(r"(?:\\.|\S)+")


# ---
# The rules of a `CODEOWNERS` file: the last pattern that fits a path names its owners.
#
# In: the file's text. Out: rules. Patterns are those of `.gitignore` without negation and sets: one with a slash that
# is not its last letter is seen from the root, `*` stays in a folder, `**` does not, and what fits a folder fits all
# in it. A pattern without owners says that nobody owns it.


class OwnerRule(NamedTuple):
    """One line of a `CODEOWNERS` file: a path pattern and the owners of what it matches."""

    fits: re.Pattern[str]
    owners: tuple[str, ...]
    line: int


def found(rules: list[OwnerRule], path: str) -> OwnerRule | None:
    """Return the last rule that matches a path."""
    return next((rule for rule in reversed(rules) if rule.fits.match(path)), None)


def parse_codeowners(text: str) -> list[OwnerRule]:
    """Parse the rules of a file; GitLab's section headers, negations and patterns that start with a set are skipped."""
    rules: list[OwnerRule] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = _WORD.findall(line)
        if not words or words[0].startswith(("#", "[", "^[", "!")):
            continue
        owners: list[str] = []
        for word in words[1:]:
            if word.startswith("#"):
                break
            owners.append(word)
        rules.append(OwnerRule(_pattern(words[0].replace("\\ ", " ").replace("\\#", "#")), tuple(owners), number))
    return rules


def _pattern(glob: str) -> re.Pattern[str]:
    inside = glob.rstrip("/")
    start = "" if "/" in inside else "(?:.*/)?"
    body = "".join(_step(part) for part in _WILD.findall(inside.lstrip("/")))
    if glob.endswith("/"):
        end = "/.*"
    elif inside.endswith("/*"):  # matches the files of a folder, not those of its subfolders
        end = ""
    else:
        end = "(?:/.*)?"
    return re.compile(f"{start}{body}{end}\\Z", re.S)


def _step(part: str) -> str:
    if part == "/**/":
        return "/(?:.*/)?"
    if part == "**/":
        return "(?:.*/)?"
    if part == "/**":
        return "/.*"
    if part.startswith("*"):
        return "[^/]*"
    return "[^/]" if part == "?" else re.escape(part)
