"""How programs of each language ask for environment variables: patterns over a file's bytes.

In: a language. Out: for each way to ask, what is done ("reads", "sets", "removes") and a pattern with a group `name`, a
literal, or `constant`, the name of one that the file has. A pattern says where to look; whether it is code that stands
there, and no text or comment, is asked of the tree by who uses it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from concordance.extract.rule_context import C_FAMILY, SCRIPTS

READS, SETS, REMOVES = "reads", "sets", "removes"
_LITERAL = rb"(?:[rbuLU]*[\"'`](?P<name>[A-Za-z_]\w*)[\"'`]|(?P<constant>[A-Za-z_]\w*)(?:\.c_str\(\))?)"
_VALUE = rb"(?:[rbuLU]*[\"'`](?P<name>[A-Za-z_]\w*)[\"'`])"


class Way(NamedTuple):
    """One way to ask."""

    says: str
    pattern: re.Pattern[bytes]
    mark: bytes  # stands in every text that fits


def _way(says: str, pattern: bytes, mark: bytes = b"") -> Way:
    return Way(says, re.compile(pattern.replace(b"LITERAL", _LITERAL).replace(b"VALUE", _VALUE)), mark)


_PYTHON = (
    _way(SETS, rb"environ\s*\[\s*LITERAL\s*\]\s*(?:=(?!=)|\+=)", b"environ["),
    _way(REMOVES, rb"del\s+(?:os\.)?environ\s*\[\s*LITERAL\s*\]", b"environ["),
    _way(READS, rb"environ\s*\[\s*LITERAL\s*\](?!\s*(?:=(?!=)|\+=))", b"environ["),
    _way(READS, rb"environ\s*\.\s*get\s*\(\s*LITERAL\s*[,)]", b"environ."),
    _way(REMOVES, rb"environ\s*\.\s*pop\s*\(\s*LITERAL\s*[,)]", b"environ."),
    _way(SETS, rb"environ\s*\.\s*setdefault\s*\(\s*LITERAL\s*,", b"environ."),
    _way(READS, rb"getenvb?\s*\(\s*LITERAL\s*[,)]", b"getenv"),
    _way(SETS, rb"putenv\s*\(\s*LITERAL\s*,", b"putenv"),
    _way(REMOVES, rb"unsetenv\s*\(\s*LITERAL\s*\)", b"unsetenv"),
    _way(READS, rb"[\"'](?P<name>[A-Za-z_]\w*)[\"']\s+(?:not\s+)?in\s+(?:os\s*\.\s*)?environ\b", b"environ"),
)
_C = (
    _way(READS, rb"getenv(?:_s)?\s*\(\s*LITERAL\s*\)", b"getenv"),
    _way(READS, rb"dupenv_s\s*\([^;\"]{0,200},\s*VALUE\s*\)", b"dupenv_s"),
    _way(SETS, rb"\b_?(?:setenv|putenv_s)\s*\(\s*LITERAL\s*,", b"env"),
    _way(SETS, rb"\b_?putenv\s*\(\s*(?:\(char\s*\*\)\s*|const_cast<char\s*\*>\()?\"(?P<name>[A-Za-z_]\w*)=", b"putenv"),
    _way(REMOVES, rb"unsetenv\s*\(\s*LITERAL\s*\)", b"unsetenv"),
)
_MEMBER = rb"(?:\.\s*(?P<name>[A-Za-z_]\w*)|\[\s*[\"'`](?P<other>\w+)[\"'`]\s*\])"
_ECMA = (
    _way(SETS, rb"\bprocess\.env\s*" + _MEMBER + rb"\s*=(?![=>])"),
    _way(READS, rb"\bprocess\.env\s*" + _MEMBER + rb"(?!\w|\s*=(?![=>]))"),
    _way(READS, rb"\bimport\.meta\.env\s*\.\s*(?P<name>[A-Z]\w*)\b(?!\s*=(?!=))"),
)
_RUST = (
    _way(READS, rb"\benv\s*::\s*var(?:_os)?\s*\(\s*LITERAL\s*\)"),
    _way(READS, rb"\b(?:option_)?env!\s*\(\s*VALUE"),
    _way(SETS, rb"\benv\s*::\s*set_var\s*\(\s*LITERAL\s*,"),
    _way(REMOVES, rb"\benv\s*::\s*remove_var\s*\(\s*LITERAL\s*\)"),
)
_GO = (
    _way(READS, rb"\bos\.(?:Getenv|LookupEnv)\(\s*LITERAL\s*\)"),
    _way(SETS, rb"\.Setenv\(\s*LITERAL\s*,"),
    _way(REMOVES, rb"\bos\.Unsetenv\(\s*LITERAL\s*\)"),
)
_JAVA = (_way(READS, rb"\bSystem\s*\.\s*getenv\s*\(\s*LITERAL\s*\)"),)
_CMAKE = (
    _way(SETS, rb"\b(?i:set)\s*\(\s*ENV\{(?P<name>\w+)\}\s*[^\s)]"),
    _way(REMOVES, rb"\b(?i:unset)\s*\(\s*ENV\{(?P<name>\w+)\}"),
    _way(READS, rb"\$ENV\{(?P<name>\w+)\}"),
    _way(READS, rb"\b(?:DEFINED|NOT|AND|OR|if\s*\(|elseif\s*\()\s*ENV\{(?P<name>\w+)\}"),
)
WAYS: dict[str, tuple[Way, ...]] = {
    "python": _PYTHON, "cython": _PYTHON, "rust": _RUST, "go": _GO, "java": _JAVA, "cmake": _CMAKE,
    **dict.fromkeys(C_FAMILY, _C), **dict.fromkeys(SCRIPTS, _ECMA),
}  # fmt: skip
# Where none of these stands in a file, none of the patterns fits.
MARKS: dict[str, tuple[bytes, ...]] = {
    "python": (b"env", b"ENV", b"Env"), "cython": (b"env",), "rust": (b"env",), "go": (b"env",),
    "java": (b"getenv",), "cmake": (b"ENV{",), **dict.fromkeys(C_FAMILY, (b"env", b"ENV", b"Env")),
    **dict.fromkeys(SCRIPTS, (b".env",)),
}  # fmt: skip
# A function that is named after the environment, and given a name in capitals; what stands before is part of its name.
WRAPPER = re.compile(rb"(?:env|Env|ENV)\w{0,80}\s*\(\s*[rbuL]*[\"'](?P<name>[A-Z][A-Z0-9_]{2,})[\"']\s*[,)]")
DIRECT = frozenset((b"getenv", b"setenv", b"putenv", b"unsetenv", b"getenvb", b"secure_getenv", b"_putenv"))
CHANGING = re.compile(rb"(?i:^_*(?:set|put|with|temp|override|patch|mock|scoped|add)|setenv|putenv|guard)")
REMOVING = re.compile(rb"(?i:^_*(?:unset|del|remove|clear|pop))")
