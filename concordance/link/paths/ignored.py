"""Which paths git is told to ignore, of files that are not there.

In: a tree. Out: for the path of a missing file, the `.gitignore` that names it. A file that is
imported, is not in the tree and is named there is one that a build makes. A pattern that also names files
which are in the tree says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import NamedTuple

from concordance.link.paths.tree import Tree, above

_MOST = 2_000  # lines that are read; people write a few dozen
_STARS = 6  # in one pattern: what has more takes for ever to match, and is a joke


class _Rule(NamedTuple):
    pattern: str
    ignores: bool
    whole: bool  # whether it speaks of the path, not of a name anywhere


class _Rules:
    """The lines of one file. Most paths match none, so all patterns are asked at once before each one is."""

    def __init__(self, lines: list[str], there: Callable[[str], Iterable[str]]) -> None:
        self.there = there  # the files in a folder, both relative to these lines' own
        self.rules = [rule for rule in map(_rule, lines[:_MOST]) if rule is not None]
        self.whole = _any(rule.pattern for rule in self.rules if rule.ignores and rule.whole)
        self.name = _any(rule.pattern for rule in self.rules if rule.ignores and not rule.whole)
        self.last_word = any(not rule.ignores for rule in self.rules)
        self.folders: dict[str, bool] = {"": False}

    def ignore(self, path: str) -> bool:
        """Whether they ignore a missing file, and no such file that is there."""
        folder, _, name = path.rpartition("/")
        if self._folder(folder):
            return True
        ending = f".{name.rpartition('.')[2]}"
        return self._one(path, "") and not any(self._one(one, "") for one in self.there(folder) if one.endswith(ending))

    def _folder(self, path: str) -> bool:
        said = self.folders.get(path)
        if said is None:
            around = self._folder(path.rpartition("/")[0])
            said = self.folders[path] = around or (not any(self.there(path)) and self._one(path, "/"))
        return said

    def _one(self, path: str, slash: str) -> bool:
        name = path.rpartition("/")[2]
        tried = {True: (path, path + slash), False: (name, name + slash)}
        hit = any(map(self.whole.fullmatch, tried[True])) or any(map(self.name.fullmatch, tried[False]))
        if not hit or not self.last_word:
            return hit
        said = False
        for rule in self.rules:
            if any(re.fullmatch(rule.pattern, one) for one in tried[rule.whole]):
                said = rule.ignores
        return said


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns) or r"(?!)")


class GitIgnore:
    """Asks all `.gitignore` files of a tree."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @cached_property
    def _rules(self) -> dict[str, _Rules]:
        found = {}
        for path in self._tree.by_name.get(".gitignore", ()):
            home = path.rpartition("/")[0]
            found[home] = _Rules(self._tree.text(path).splitlines(), partial(self._there, home))
        return found

    def _there(self, home: str, folder: str) -> Iterator[str]:
        """The files below a folder's own folder; one of a folder below where it has none itself."""
        start = len(home) + 1 if home else 0
        whole = f"{home}/{folder}".strip("/")
        for path in self._tree.by_folder.get(whole, ()):
            yield path[start:]
        if whole in self._tree.folders:
            yield f"{whole[start:]}/"

    def by(self, path: str) -> str:
        """The `.gitignore` that names a path or a folder around it; "" where none does."""
        rules = self._rules
        if not rules:
            return ""
        for home in above(path.rpartition("/")[0]):
            if home in rules and rules[home].ignore(path[len(home) + 1 :] if home else path):
                return f"{home}/.gitignore" if home else ".gitignore"
        return ""


def _rule(line: str) -> _Rule | None:
    """A line of a `.gitignore`, by git's rules."""
    line = line.rstrip()
    if not line or line.startswith("#") or line.count("*") > _STARS:
        return None
    ignores = not line.startswith("!")
    line = line.removeprefix("!").removeprefix("\\")
    whole = "/" in line.rstrip("/")
    text = _translated(line.lstrip("/"))
    try:
        re.compile(text)
    except re.error:
        return None
    return _Rule(text, ignores, whole)


def _translated(glob: str) -> str:
    made, at = "", 0
    while at < len(glob):
        sign = glob[at]
        if glob.startswith("**/", at):
            made, at = made + "(?:.*/)?", at + 3
        elif glob.startswith("**", at):
            made, at = made + ".*", at + 2
        elif sign == "*":
            made, at = made + "[^/]*", at + 1
        elif sign == "?":
            made, at = made + "[^/]", at + 1
        elif sign == "[" and "]" in glob[at + 2 :]:
            end = glob.index("]", at + 2)
            inner = glob[at + 1 : end].replace("\\", "\\\\")
            inner = f"^{inner[1:]}" if inner.startswith(("!", "^")) else inner
            made, at = made + f"[{inner}]", end + 1
        else:
            made, at = made + re.escape(sign), at + 1
    return made
