"""Acronyms joined to what they stand for, where the file itself says it.

In: the lines and words of what is said, the acronyms of a file, its names. Out: what each stands for. Either the text
says it ("Fully Sharded Data Parallel (FSDP)", "FSDP (Fully Sharded Data Parallel)") or a name does: of
`FullyShardedDataParallel` FSDP are the initials. Two letters, or an acronym that everybody knows, fit too
many names by chance and need the text; so does one that several names fit. Nothing is known from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from concordance.base.model import FileFacts
from concordance.extract.terms.english import STOP

_IN_BRACKETS = re.compile(r"\(([A-Z][A-Za-z0-9]{1,9}?)s?[,;)]")
_BEFORE_BRACKETS = re.compile(
    r"\b([A-Z][A-Z0-9]{1,9})s?[\s\"'`*]*(?:\(|is short for |stands for |[—–-]{1,2} )([^()]{4,90})"
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Za-z][a-z']*|\d+")
_HUMPS = re.compile(r"[A-Z][a-z0-9]+")
_WELL_KNOWN = frozenset((
    "API", "CPU", "GPU", "TPU", "URL", "URI", "XML", "CSV", "SQL", "PDF", "RAM", "CLI", "GUI", "IDE", "SDK", "TCP",
    "UDP", "HTTP", "HTML", "JSON", "YAML", "UTF", "AST", "DNS", "SSL", "TLS", "SSH", "FTP", "USB", "PNG", "GIF", "MIT",
))  # fmt: skip


def expansions(
    lines: list[tuple[int, str]], said: Mapping[str, int], acronyms: set[str], facts: FileFacts
) -> dict[str, str]:
    """What each acronym stands for; names in the code and among what is said can tell."""
    if not acronyms:
        return {}
    found: dict[str, str] = {}
    previous = ""
    for _, line in lines:
        if "(" in line or "stands for" in line or "short for" in line:
            _from_text(line, previous, acronyms, found)
        previous = line
    left = {a for a in acronyms if a not in found and len(a) > 2 and a not in _WELL_KNOWN}
    if left:
        _from_names(left, said, facts, found)
    return found


def _from_text(line: str, previous: str, acronyms: set[str], found: dict[str, str]) -> None:
    for match in _IN_BRACKETS.finditer(line):
        acronym = match[1].upper()
        if acronym in acronyms and acronym not in found:
            before = f"{previous[-100:]} {line[max(0, match.start() - 160) : match.start()]}"[-160:]
            words = _spelled_before(acronym, before)
            if words:
                found[acronym] = words
    for match in _BEFORE_BRACKETS.finditer(line):
        acronym = match[1]
        if acronym in acronyms and acronym not in found:
            words = _spelled_after(acronym, match[2])
            if words:
                found[acronym] = words


def _spelled_before(acronym: str, text: str) -> str:
    """The words at the end of a text whose initials are the acronym, as written."""
    words = list(_WORD.finditer(text.rstrip(" \"'`*_")))
    at = len(words) - 1
    start = -1
    for letter in reversed(acronym):
        while at >= 0 and words[at][0][0].upper() != letter:
            if words[at][0].lower() not in STOP or start < 0:
                return ""
            at -= 1
        if at < 0:
            return ""
        start = at
        at -= 1
    if len(words[start][0]) < 2:
        return ""
    return re.sub(r"\s+", " ", text[words[start].start() :]).strip(" \"'`*_:")


def _spelled_after(acronym: str, text: str) -> str:
    """The words at the start of a text whose initials are the acronym, as written."""
    rest = list(acronym)
    for word in _WORD.finditer(text):
        if not rest:
            break
        if word[0][0].upper() == rest[0]:
            rest.pop(0)
            if not rest:
                return re.sub(r"\s+", " ", text[: word.end()]).strip(" \"'`*_:")
        elif word[0].lower() not in STOP or len(rest) == len(acronym):
            return ""
    return ""


def _from_names(left: set[str], said: Mapping[str, int], facts: FileFacts, found: dict[str, str]) -> None:
    aliased = {row.alias: row.name for row in facts.imports if row.alias in left and row.name}
    fitting: dict[str, list[str]] = {}
    mentioned = [token.rpartition(".")[2] for token in said if not token.islower()]
    for name in dict.fromkeys([*facts.occurrences.names, *mentioned]):
        if name[:1].isupper() or name[:1] == "_":
            humps = _HUMPS.findall(name)
            initials = "".join([hump[0] for hump in humps])
            if initials in left and "".join(humps) == name.lstrip("_"):
                fitting.setdefault(initials, []).append(name)
    for acronym, names in fitting.items():
        if aliased.get(acronym) in names:
            found[acronym] = aliased[acronym]
        elif len(names) == 1:
            found[acronym] = names[0]
