"""Path patterns in the syntax of `.gitignore`, and the selection of a repository's files by them.

In: patterns. Out: which of them decides about a path. A pattern with a slash other than at its end is relative to the
root, any other matches at every depth. `*`, `?` and `[a-z]` match within one name, `**` matches any number of folders.
A pattern that ends in a slash matches only folders; a pattern that matches a folder matches everything in it. Names are
matched by the standard library's `fnmatch`, whose time does not grow with the number of stars: patterns may come with a
clone. The tests compare with `git check-ignore`.

The patterns of a `CODEOWNERS` file are the same but for two things: `[` is a plain character, and a pattern that ends
in `/*` matches the files of a folder, but not its subfolders.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from functools import cache
from typing import NamedTuple

from concordance.base.config import Config
from concordance.base.model import ListedFile, Skip

OTHERS = ""  # stands for "not matched by `include`" among the patterns that left files out
_ESCAPED = re.compile(r"\\(.)|\[\^", re.S)
_BRACKET = re.compile(r"\\?\[")
_SPECIAL = ("*", "?", "[")  # characters that are literal only in brackets
_Combine = Callable[[int, int], int]  # combines the result for a folder with that of the folders around it


class _Pattern(NamedTuple):
    parts: tuple[re.Pattern[str] | None, ...]  # None: any number of folders
    folders: bool  # True if it matches only folders …
    files: bool  # … or only files
    negated: bool
    depth: int  # number of names in a matching path; 0 if that varies
    any_depth: re.Pattern[str] | None  # what the last name must match, if nothing else matters


def _pattern(text: str, codeowners: bool) -> _Pattern:
    text = _BRACKET.sub(r"\\[", text) if codeowners else text
    negated = text.startswith("!")
    body = text.removeprefix("!") if negated else text
    folders = body.endswith("/")
    body = body.removesuffix("/")
    names = body.removeprefix("/").split("/")
    if "/" not in body:
        names = ["**", *names]
    if names[-1] == "**" and len(names) > 1:  # everything inside the folder, but not the folder itself
        names.append("*")
    parts = tuple(None if name == "**" else _name(name) for name in names)
    any_depth = parts[1] if len(parts) == 2 and parts[0] is None else None
    files = codeowners and not folders and body.endswith("/*")
    return _Pattern(parts, folders, files, negated, 0 if None in parts else len(parts), any_depth)


@cache
def _name(glob: str) -> re.Pattern[str]:
    plain = _ESCAPED.sub(lambda match: f"[{match[1]}]" if match[1] in _SPECIAL else match[1] or "[!", glob)
    return re.compile(translate(plain))


def _matches_names(pattern: _Pattern, names: Sequence[str]) -> bool:
    """True if a pattern matches a path.

    `**` tries the fewest folders first; backtracking to the latest `**` is enough, so the time stays bounded.
    """
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
    """A list of patterns; results for folders are cached."""

    def __init__(self, texts: Iterable[str], codeowners: bool = False) -> None:
        """`codeowners`: the patterns are those of a `CODEOWNERS` file."""
        self._patterns = [_pattern(text, codeowners) for text in texts]
        # The last pattern first, because the last match wins.
        rows = list(enumerate(self._patterns))[::-1]
        self._of_folders = [row for row in rows if not row[1].files]
        self._of_files = [row for row in rows if not row[1].folders]
        # Few names match any of the name-only patterns: one combined search rules out most.
        names = [pattern.any_depth.pattern for pattern in self._patterns if pattern.any_depth is not None]
        self._names = re.compile("|".join(names)) if names else None
        self._results: dict[str, int] = {"": -1}
        self._last: dict[str, int] = {"": -1}

    def deciding(self, path: str, is_folder: bool = False) -> int:
        """Return the index of the pattern by which git would ignore a path, -1 if it would not.

        That is the last match, or the pattern that ignores the outermost ignored folder.
        """
        names = path.split("/")
        deciding = self._result_of_folder(names, self._results, lambda above, own: above if above >= 0 else own)
        return deciding if deciding >= 0 or not self._patterns else self._matching_pattern(names, is_folder)

    def last(self, path: str, is_folder: bool = False) -> int:
        """Return the index of the last pattern that matches a path or a folder around it, -1 if none does."""
        if not self._patterns:
            return -1
        names = path.split("/")
        return max(self._result_of_folder(names, self._last, max), self._matching_pattern(names, is_folder))

    def matches(self, path: str, is_folder: bool = False) -> bool:
        """True if the last pattern that matches the path itself, not a folder around it, is not negated."""
        return self._matching_pattern(path.split("/"), is_folder) >= 0

    def _result_of_folder(self, names: Sequence[str], known: dict[str, int], joined: _Combine) -> int:
        """Return the result for the folder that contains a path."""
        folder = "/".join(names[:-1])
        if folder in known or not self._patterns:
            return known.get(folder, -1)
        deciding, way = -1, ""
        for depth in range(1, len(names)):
            way = f"{way}/{names[depth - 1]}" if way else names[depth - 1]
            if way not in known:
                known[way] = joined(deciding, self._matching_pattern(names[:depth], True))
            deciding = known[way]
        return deciding

    def _matching_pattern(self, names: Sequence[str], is_folder: bool) -> int:
        depth, name = len(names), names[-1]
        is_named = self._names is not None and self._names.match(name) is not None
        for place, pattern in self._of_folders if is_folder else self._of_files:
            if pattern.any_depth is not None:
                matches = is_named and pattern.any_depth.match(name) is not None
            else:
                matches = pattern.depth in (0, depth) and _matches_names(pattern, names)
            if matches:
                return -1 if pattern.negated else place
        return -1


def select_entries(entries: list[ListedFile], config: Config) -> tuple[list[ListedFile], dict[str, int]]:
    """Return the entries that the settings do not leave out, and how many entries each pattern left out."""
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
