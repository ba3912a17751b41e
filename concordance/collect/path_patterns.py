"""Patterns of paths as `.gitignore` has them, and which files of a repository are chosen by them.

In: patterns. Out: which of them decides about a path. One with a slash that is not its last letter is seen from the
root, another fits at any depth; `*`, `?` and `[a-z]` stay in one name, `**` stands for any number of folders; with a
slash at its end it fits folders only; what fits a folder fits all in it. Names are matched by the standard library's
`fnmatch`, whose time does not grow with the number of stars: patterns may come with a clone. `git check-ignore` is what
the tests compare with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from functools import cache
from typing import NamedTuple

from concordance.base.config import Config
from concordance.base.model import ListedFile, Skip

OTHERS = ""  # stands for the files that no pattern of `include` fits, among the patterns that left files out
_ESCAPED = re.compile(r"\\(.)|\[\^", re.S)
_MEANT = ("*", "?", "[")  # what means itself only in brackets
_Joined = Callable[[int, int], int]  # what a folder and those around it say, as one


class _Pattern(NamedTuple):
    parts: tuple[re.Pattern[str] | None, ...]  # None: any number of folders
    folders: bool  # whether it fits folders only
    negated: bool
    depth: int  # how many names a path that it fits has; 0 where that is open
    any_depth: re.Pattern[str] | None  # what the last name must fit, where it is nothing else that counts


def _pattern(text: str) -> _Pattern:
    negated = text.startswith("!")
    body = text.removeprefix("!") if negated else text
    folders = body.endswith("/")
    body = body.removesuffix("/")
    names = body.removeprefix("/").split("/")
    if "/" not in body:
        names = ["**", *names]
    if names[-1] == "**" and len(names) > 1:  # all that is inside, and not the folder itself
        names.append("*")
    parts = tuple(None if name == "**" else _name(name) for name in names)
    any_depth = parts[1] if len(parts) == 2 and parts[0] is None else None
    return _Pattern(parts, folders, negated, 0 if None in parts else len(parts), any_depth)


@cache
def _name(glob: str) -> re.Pattern[str]:
    plain = _ESCAPED.sub(lambda match: f"[{match[1]}]" if match[1] in _MEANT else match[1] or "[!", glob)
    return re.compile(translate(plain))


def _fits(pattern: _Pattern, names: Sequence[str]) -> bool:
    """Whether a pattern fits a path. Of any number of folders the fewest are tried first; none need be tried twice."""
    parts = pattern.parts
    at = place = 0
    again = back = -1
    while at < len(names):
        part = parts[place] if place < len(parts) else None
        if place < len(parts) and part is None:
            again, back = place + 1, at
            place += 1
        elif part is not None and part.match(names[at]):
            place, at = place + 1, at + 1
        elif again >= 0:
            back += 1
            place, at = again, back
        else:
            return False
    return all(part is None for part in parts[place:])


class Patterns:
    """Some patterns; what is known of folders is kept."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._patterns = [_pattern(text) for text in texts]
        # The last first, for that is the one that counts.
        self._of_folders = list(enumerate(self._patterns))[::-1]
        self._of_files = [row for row in self._of_folders if not row[1].folders]
        # Few names fit any of those that look at a name alone: one look tells it of most.
        names = [one.any_depth.pattern for one in self._patterns if one.any_depth is not None]
        self._names = re.compile("|".join(names)) if names else None
        self._decided: dict[str, int] = {"": -1}
        self._last: dict[str, int] = {"": -1}

    def deciding(self, path: str, is_folder: bool = False) -> int:
        """The place of the pattern by which git would ignore a path, -1 where it would not: the last that fits, or
        that of the outermost folder that is ignored."""
        names = path.split("/")
        found = self._above(names, self._decided, lambda above, own: above if above >= 0 else own)
        return found if found >= 0 or not self._patterns else self._own(names, is_folder)

    def last(self, path: str, is_folder: bool = False) -> int:
        """The place of the last pattern that fits a path or a folder around it, -1 where none does."""
        if not self._patterns:
            return -1
        names = path.split("/")
        return max(self._above(names, self._last, max), self._own(names, is_folder))

    def _above(self, names: Sequence[str], known: dict[str, int], joined: _Joined) -> int:
        """What is said of the folder that a path lies in."""
        folder = "/".join(names[:-1])
        if folder in known or not self._patterns:
            return known.get(folder, -1)
        found, way = -1, ""
        for depth in range(1, len(names)):
            way = f"{way}/{names[depth - 1]}" if way else names[depth - 1]
            if way not in known:
                known[way] = joined(found, self._own(names[:depth], True))
            found = known[way]
        return found

    def _own(self, names: Sequence[str], is_folder: bool) -> int:
        depth, name = len(names), names[-1]
        is_named = self._names is not None and self._names.match(name) is not None
        for place, pattern in self._of_folders if is_folder else self._of_files:
            if pattern.any_depth is not None:
                fits = is_named and pattern.any_depth.match(name) is not None
            else:
                fits = pattern.depth in (0, depth) and _fits(pattern, names)
            if fits:
                return -1 if pattern.negated else place
        return -1


def chosen(entries: list[ListedFile], config: Config) -> tuple[list[ListedFile], dict[str, int]]:
    """The entries that the settings do not leave out, and how many each pattern left out."""
    if not config.include and not config.exclude:
        return entries, {}
    wanted, unwanted = Patterns(config.include), Patterns(config.exclude)
    kept: list[ListedFile] = []
    left: dict[str, int] = {}
    for entry in entries:
        is_folder = entry.skip is Skip.SUBMODULE
        if config.include and wanted.last(entry.path, is_folder) < 0:
            left[OTHERS] = left.get(OTHERS, 0) + 1
            continue
        place = unwanted.deciding(entry.path, is_folder)
        if place < 0:
            kept.append(entry)
        else:
            left[config.exclude[place]] = left.get(config.exclude[place], 0) + 1
    return kept, left
