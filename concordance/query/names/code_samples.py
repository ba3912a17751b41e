"""Names of code as a text shows them: in its code, its comments and strings, and in the samples that prose gives.

In: a text. Out: names, each with its first line and how often it stands there. What counts is how a word is written:
as types and constants are (`GraphModule`, `FULL_SHARD`), or with a capital where only a name can stand (`nn.Module`,
`Dict[`, `Tensor(`); so a sentence's first word stays out. In samples, what they import or define counts too, and
what is written as functions are (`a_b`) where the repository knows it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})([^`]*)$")
_SESSION = re.compile(r"^\s*(?:>>>|\.\.\.) ")
_NAME = re.compile(r"(?<![\w@/-])[A-Za-z_]\w*")
_PLAIN = re.compile(r"_*[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+_*|_+[A-Za-z]\w*|[a-z0-9]+[A-Z]\w*")
_IMPORT = re.compile(r"^\s*(?:>>> )?(?:from\s+[\w.]+\s+)?import\s+(.*)")
_DEFINED = re.compile(r"\b(?:class|def|struct|enum|interface|func|fn|trait)\s+([A-Za-z_]\w*)\s*[(:{<\[]")
_SPEECH = frozenset(("", "text", "txt", "console", "output", "diff", "log", "mermaid", "markdown", "md", "rst"))
_LONGEST = 60  # letters of a name that somebody wrote
_WRITTEN = re.compile(
    r"(?<![\w/@#$%\\-])_*(?:"
    r"[A-Z][A-Za-z0-9]*_+[A-Za-z0-9]\w*"  # FULL_SHARD
    r"|[A-Z]\w*?[a-z0-9][A-Z]\w*"  # GraphModule
    r"|[A-Z]{2,}(?!s\b)[a-z]\w*"  # DTensor, but not GPUs
    r"|[A-Z]\w*(?=[\[(<]|::|\.[A-Za-z_])"  # Dict[, Tensor(, Foo::bar, Kind.CLASS
    r"|(?<=\.)[A-Z]\w*|(?<=::)[A-Z]\w*"  # nn.Module
    r")"
)
_MARKS = frozenset(("TODO", "FIXME", "XXX", "HACK", "NOTE", "NB", "BUG", "None", "True", "False"))

Found = dict[str, tuple[int, int]]  # first line and times, by name


def written(text: str) -> Found:
    """The names that are written as names of types and constants are."""
    starts: list[int] = []
    found: Found = {}
    for match in _WRITTEN.finditer(text):
        name = match[0]
        if name in found:
            found[name] = (found[name][0], found[name][1] + 1)
        elif len(name) <= _LONGEST and name not in _MARKS:
            if not starts:
                starts = [0, *(end.end() for end in re.finditer("\n", text))]
            found[name] = (bisect_right(starts, match.start()), 1)
    return found


def _code(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines of a text that are code, with their numbers."""
    end = ""
    is_code = False
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if end:
            if fence and fence[1].startswith(end) and not fence[2].strip():
                end = ""
            elif is_code:
                yield number, line
        elif fence:
            words = fence[2].strip(" {}").lower().split()
            end, is_code = fence[1], bool(words) and words[0] not in _SPEECH
        elif _SESSION.match(line):
            yield number, line


def named(lines: Iterable[str], is_known: Callable[[str], bool]) -> Found:
    """The names in the samples of a text."""
    code = list(_code(lines))
    if not code:
        return {}
    bound = _bound(line for _, line in code)
    taken = bound | written("\n".join(line for _, line in code)).keys()
    found: Found = {}
    for number, line in code:
        for name in _NAME.findall(line):
            if name in taken or (_PLAIN.fullmatch(name) and is_known(name)):
                first, times = found.get(name, (number, 0))
                found[name] = (first, times + 1)
    return found


def _bound(code: Iterable[str]) -> set[str]:
    """What samples import or define."""
    found: set[str] = set()
    is_open = False
    for line in code:
        match = _IMPORT.match(line)
        if match or is_open:
            names = match[1] if match else line
            found.update(_NAME.findall(names.partition("#")[0].replace(" as ", ", ")))
            is_open = ")" not in names and ("(" in names or is_open)
        found.update(_DEFINED.findall(line))
    return found
