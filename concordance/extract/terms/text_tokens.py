"""The natural-language text of a file (comments, documentation, prose) as one sequence of tokens with their lines.

In: the comments and prose of a file, each with its line, and its facts. Out: `TextTokens`. Licences, code samples,
markup and instructions to tools are left out. Documentation that is also a comment is taken once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from itertools import chain

from concordance.base.model import FileFacts
from concordance.extract.documents.comments import is_legal
from concordance.extract.terms.word_split import tokenize

_SPACED_CODE = re.compile(r"``[^`\s]*+\s[^`]*+``|(?<!`)`[^`\s]*+\s[^`]*+`(?!`)|<[a-zA-Z!/][^<>]*>")
_TO_TOOLS = re.compile(r"\b(?:noqa|(?:type|pyrefly|mypy|pyre|pylint|ruff|eslint|lint)[-\w]{0,40}:\s*ignore|NOLINT).*")
_TODO_BY = re.compile(r"\b(?:TODO|FIXME|NB|XXX)\s*\([^()]*\)")


def collect_text(
    facts: FileFacts, comments: list[tuple[int, str]], prose: list[tuple[int, str]]
) -> list[tuple[int, str]]:
    """Return all text of a file, without the licence and without documentation that is already there as a comment."""
    found = sorted(comments + prose) if prose else list(comments)
    legal: set[int] = set()
    start = 0  # the licence is in the first comments, possibly one per line
    while start < len(found) and found[start][0] <= 80:
        end = start + 1
        while end < len(found) and found[end][0] == found[end - 1][0] + 1 and "\n" not in found[end - 1][1]:
            end += 1
        if not is_legal("\n".join(text for _, text in found[start:end][:60])):
            start = end
        elif prose and len(found) - len(legal) == 1:
            break
        else:
            legal.update(range(start, end))
            start = end
    found = [piece for place, piece in enumerate(found) if place not in legal] if legal else found
    heard = {text.partition("\n")[0].strip() for _, text in comments}
    heard.update(text.strip().partition("\n")[0].strip() for _, text in prose)
    missing = [(s.line, s.doc) for s in facts.symbols if s.doc and s.doc.partition("\n")[0].strip() not in heard]
    if facts.doc and facts.doc.partition("\n")[0].strip() not in heard and not prose:
        missing.append((1, facts.doc))
    return sorted(found + missing) if missing else found


class TextTokens:
    """The tokens of all text, in order, and their lines."""

    def __init__(self, found: list[tuple[int, str]]) -> None:
        self.lines: list[tuple[int, str]] = []
        last = 0
        for line, text in found:
            if line > last + 1:
                self.lines.append((line, ""))
            if "\n" in text:
                self._add_lines(line, text)
                last = line + text.count("\n")
            else:
                self.lines.append((line, text))
                last = line
        split = [_chunks(text) for _, text in self.lines]
        table = {chunk: tokenize(chunk) for chunk in set(chain.from_iterable(split))}
        self.tokens: list[str] = []
        self.ends: list[int] = []  # index after each line's last token
        for chunks in split:
            self.tokens.extend(chain.from_iterable(map(table.__getitem__, chunks)))
            self.ends.append(len(self.tokens))
        self.counts = Counter(self.tokens)

    def _add_lines(self, line: int, text: str) -> None:
        """Add the lines of a text, leaving out code samples."""
        add = self.lines.append
        skip = -1  # lines indented deeper than this belong to a code sample
        fence = ""
        for number, raw in enumerate(text.split("\n"), line):
            bare = raw.strip()
            if not bare:
                add((number, ""))
                continue
            indent = len(raw) - len(raw.lstrip())
            if fence:
                fence = "" if bare.startswith(fence) else fence
            elif bare.startswith(("```", "~~~")):
                fence = bare[:3]
                add((number, ""))
            elif skip < 0 or indent <= skip:
                skip = -1
                if bare.startswith((">>>", "... ", "$ ", ".. code", "|---", "+--")):
                    skip = indent if bare.startswith(".. code") else -1
                    continue
                skip = indent if bare.endswith("::") and not bare.startswith("..") else -1
                add((number, bare))

    def settle_capitals(self) -> None:
        """Merge spellings that differ in case: `FSDP` with `fsdp`, `PyTorch` with `pytorch`, `NOTE` with `note`."""
        counts = self.counts
        change = {}
        for token in [t for t in counts if not t.islower() and t.isalnum()]:
            lower = token.lower()
            if counts.get(lower, 0) > counts[token] and token.isupper():
                change[token] = lower
            elif lower in counts:
                change[lower] = token
        if change:
            self.tokens = [change.get(token, token) for token in self.tokens]
            self.counts = Counter(self.tokens)

    def line_of(self, place: int) -> int:
        """Return the line of the token with index `place`."""
        return self.lines[min(bisect_right(self.ends, place), len(self.lines) - 1)][0]


def _chunks(text: str) -> list[str]:
    """Split a line at spaces.

    A line of code gives a single "|", which has no meaning but ends a phrase.
    """
    if not text or text[-1] in ";{}\\" or (
        " = " in text or "==" in text or " += " in text or "(self" in text or "&& " in text
        or " || " in text or "->" in text or "();" in text
    ):  # fmt: skip
        return ["|"]
    if "`" in text or "<" in text or "TODO" in text or "noqa" in text or "ignore" in text or "LINT" in text:
        text = _without_markup(text)
    return text.split()


def _without_markup(text: str) -> str:
    """Return a line without code samples, tags, names after TODO and the like, and instructions to tools."""
    return _TO_TOOLS.sub("", _SPACED_CODE.sub(" | ", _TODO_BY.sub("", text)))
