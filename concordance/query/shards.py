"""The alphabet of a repository: every name and concept in order, shared out to pages of a bearable size.

In: the census. Out: `Alphabet`, which knows the parts and what each has. Nothing here depends on the order in which
files were read, so the parts are the same wherever the same repository is read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .census import Census

MANY = 24  # files that an entry names one by one
LARGEST = 300_000  # bytes of a page, about
DIGITS, OTHER = "0-9", "#"


class Entry(NamedTuple):
    """A name of the index."""

    name: str
    ids: Sequence[int]  # the symbols that have it …
    files: Sequence[str] = ()  # … and the files that it is a concept of
    stands_for: str = ""  # of an acronym


def letter_of(name: str) -> str:
    """The part of the alphabet that a name belongs to: its first letter, `_`, `0-9`, or `#` for other signs."""
    first = name[:1].upper()
    if first.isascii() and (first.isalpha() or first == "_"):
        return first
    return DIGITS if first.isdecimal() and first.isascii() else OTHER


def by_letter(names: Iterable[str]) -> dict[str, list[str]]:
    """Names in order, under the letters that they belong to."""
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: (name.lower(), name)):
        found.setdefault(letter_of(name), []).append(name)
    return {letter: found[letter] for letter in sorted(found, key=str.lower)}


class Shards:
    """The parts of a long alphabet, each of which fits a page: by the first letter, by more where one has too many.

    What a part is called is the beginning of its names, in lower case told apart, as the names of files are.
    """

    def __init__(self, sizes: dict[str, int]) -> None:
        self.names: dict[str, list[str]] = {}  # by part
        for letter, names in by_letter(sizes).items():
            if letter in (DIGITS, OTHER):
                self.names[letter] = names
            else:
                self._share(letter, names, sizes)
        self.names = {part: self.names[part] for part in sorted(self.names, key=lambda part: (part.lower(), part))}

    def _share(self, part: str, names: list[str], sizes: dict[str, int]) -> None:
        """Takes the largest beginnings out, each into a part of its own, until the rest fits a page."""
        total = sum(sizes[name] for name in names)
        following: dict[str, list[str]] = {}
        length = len(part) + 1
        for name in names if total > LARGEST else ():
            start = name.lower()[:length]
            if len(start) == length:
                following.setdefault(start, []).append(name)
        taken: set[str] = set()
        weights = {start: sum(sizes[name] for name in inside) for start, inside in following.items()}
        for start in sorted(weights, key=lambda start: (-weights[start], start)):
            if total <= LARGEST or weights[start] < LARGEST // 10:
                break
            total -= weights[start]
            taken.add(start)
            self._share(start[:1].upper() + start[1:], following[start], sizes)
        self.names[part] = [name for name in names if name.lower()[:length] not in taken]


class Alphabet:
    """Every name and concept of a repository, and the pages that share them."""

    def __init__(self, census: Census) -> None:
        self._ids = census.by_name
        self._files: dict[str, list[str]] = {}
        meant: dict[str, Counter[str]] = {}
        for file in census.files:
            for term in census.terms.get(file.base, ()):
                if term.kind != "name":
                    self._files.setdefault(term.text, []).append(file.path)
                if term.stands_for:
                    meant.setdefault(term.text, Counter())[term.stands_for] += 1
        self._stands_for = {text: min(found, key=lambda one: (-found[one], one)) for text, found in meant.items()}
        self.concepts = len(self._files)
        self._widths = self._sizes(census)
        self.shards = Shards(self._widths)

    def entry(self, name: str) -> Entry:
        """All that has a name."""
        return Entry(name, self._ids.get(name, ()), self._files.get(name, ()), self._stands_for.get(name, ""))

    def pages(self, part: str) -> list[list[str]]:
        """The names of a part, on one page, and on several where its names cannot be told apart by their letters."""
        found: list[list[str]] = [[]]
        size = 0
        for name in self.shards.names[part]:
            if found[-1] and size + self._widths[name] > 2 * LARGEST:
                found.append([])
                size = 0
            found[-1].append(name)
            size += self._widths[name]
        return found

    def _sizes(self, census: Census) -> dict[str, int]:
        """About how long each name's entry is."""
        files = sorted(census.files, key=lambda file: file.base)
        starts = [file.base for file in files]
        widths = [len(file.path) + 40 for file in files]
        folders = [file.path.rpartition("/")[0] for file in files]
        sizes: dict[str, int] = {}
        for name, ids in self._ids.items():
            places = [bisect_right(starts, one) - 1 for one in ids]
            if len(places) > 4 * MANY:
                sizes[name] = 60 * len({folders[place] for place in places})
            else:
                sizes[name] = len(name) + sum([widths[place] for place in places])
        for name, paths in self._files.items():
            sizes[name] = sizes.get(name, len(name)) + 60 * min(len(paths), MANY)
        return sizes
