"""Which program of a CMake file is made of a source.

In: the commands of a `CMakeLists.txt` and the path of a source below its folder. Out: the program's name, found
directly, through variables that list sources, through globs, or through a loop that makes a program of each; "" where
none is, and then the variables that hold the source, for a file further up may use them.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable

_COMMAND = re.compile(r"^[ \t]*(\w+)[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.M)
_WORD = re.compile(r'"[^"]*"|[^\s"]+')
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_MAKE = frozenset(("add_executable", "add_test_executable", "cc_test", "cuda_add_executable", "ament_add_gtest",
                   "gtest_add_executable"))  # fmt: skip
_LIST = frozenset(("set", "list", "file", "foreach", "get_filename_component"))
_HOPS = 3  # variables that are made of others

Command = tuple[str, list[str]]


def cmake_commands(text: str) -> list[Command]:
    """The commands of a CMake file that lead from sources to programs."""
    found = _COMMAND.findall(re.sub(r"#.*", "", text))
    return [(name.lower(), _words(inside)) for name, inside in found if name.lower() in _MAKE | _LIST]


def _words(inside: str) -> list[str]:
    return [word.strip('"') for word in _WORD.findall(inside)]


def cmake_target(commands: list[Command], source: str, held: Iterable[str] = ()) -> tuple[str, frozenset[str]]:
    """The program that is made of a source, and the variables that hold it; `held` are known to."""
    holders = set(held)
    for _ in range(_HOPS):
        for name, words in commands:
            if name in ("set", "list", "file") and len(words) > 1:
                variable, listed = (words[0], words[1:]) if name == "set" else (words[1], words[2:])
                if _lists(listed, source, holders):
                    holders.add(variable)
    for name, words in commands:
        if name == "foreach" and words and _lists(words[1:], source, holders):
            holders.add(words[0])
    for name, words in commands:
        if name in _MAKE and words and _lists(words[1:], source, holders):
            made = _expanded(words[0], commands, source)
            if "$" not in made:
                return made, frozenset(holders)
    return "", frozenset(holders)


def _expanded(made: str, commands: list[Command], source: str) -> str:
    """A name with its variables filled in, as far as they are plain or the source's own name."""
    values: dict[str, str] = {}
    for name, words in commands:
        if name == "get_filename_component" and "NAME_WE" in words:
            values[words[0]] = source.rpartition("/")[2].partition(".")[0]
        elif name == "set" and len(words) == 2:
            values.setdefault(*words)
    for _ in range(_HOPS):
        made = _VARIABLE.sub(lambda match: values.get(match.group(1), match.group()), made)
    return made


def _lists(words: list[str], source: str, holders: set[str]) -> bool:
    """Whether some words name a source: as it is, by a pattern, or by a variable that holds it."""
    for word in words:
        if word in holders or (word.startswith("${") and word[2:-1] in holders):
            return True
        bare = word.rpartition("}/")[2] if word.startswith("${") else word
        if bare and (source == bare or source.endswith(f"/{bare}") or ("*" in bare and _fits(source, bare))):
            return True
    return False


def _fits(source: str, pattern: str) -> bool:
    return fnmatch.fnmatch(source, pattern) or fnmatch.fnmatch(source.rpartition("/")[2], pattern)
