"""Every name and concept of a repository in alphabetical order, divided into index pages.

In: the census. Out: `Alphabet`, with the parts and what each contains. After an update only the entries of names and
terms that changed are computed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from concordance.base.model import Term
from concordance.query.index.census import Census
from concordance.query.names.shards import MAX_FILES, PAGE_BYTES, NameEntry, Shards


class Alphabet:
    """Every name and concept of a repository, and how they are divided into pages."""

    def __init__(self, census: Census) -> None:
        self._census = census
        self._files: dict[str, list[str]] = {}  # the files that each concept is a term of, in the order of paths
        self._long_forms: dict[str, Counter[str]] = {}  # by acronym, how often each long form is given
        for file in census.files:
            for term in census.terms.get(file.id, ()):
                if term.kind != "name":
                    self._files.setdefault(term.text, []).append(file.path)
                if term.stands_for:
                    self._long_forms.setdefault(term.text, Counter())[term.stands_for] += 1
        self.shards = Shards(self._sizes(census.facts.ids_by_name(), self._files))

    @property
    def concepts(self) -> int:
        """The number of concepts."""
        return len(self._files)

    def renew(self, names: Collection[str], terms: Iterable[tuple[str, tuple[Term, ...], tuple[Term, ...]]]) -> None:
        """Update after names whose symbols changed, and files whose terms changed (path, before, after)."""
        changed = set(names)
        for path, before, after in terms:
            for term in before:
                self._count_term(path, term, -1)
            for term in after:
                self._count_term(path, term, 1)
            changed |= _concepts(before) ^ _concepts(after)
        ids = self._census.facts.ids_named(changed)
        sizes = self._sizes(ids.items(), [one for one in changed if one in self._files])
        self.shards.renew({name: sizes.get(name) for name in changed})

    def _count_term(self, path: str, term: Term, times: int) -> None:
        """Add a term of a file, or remove it (`times` is -1)."""
        if term.kind != "name":
            paths = self._files.setdefault(term.text, [])
            at = bisect_left(paths, path)
            paths[at : at + (times < 0)] = [path] if times > 0 else []
            if not paths:
                del self._files[term.text]
        if term.stands_for:
            meant = self._long_forms.setdefault(term.text, Counter())
            meant[term.stands_for] += times
            if not meant[term.stands_for]:
                del meant[term.stands_for]
            if not meant:
                del self._long_forms[term.text]

    def entries(self, names: Iterable[str]) -> Iterator[NameEntry]:
        """Yield the entries of some names."""
        listed = list(names)
        symbols = self._census.facts.ids_named(listed)
        for name in listed:
            meant: Mapping[str, int] = self._long_forms.get(name, {})
            stands_for = min(meant, key=lambda one: (-meant[one], one), default="")
            ids = sorted(symbols.get(name, ()), key=self._census.order_of)
            yield NameEntry(name, ids, self._files.get(name, ()), stands_for)

    def pages(self, part: str) -> list[list[str]]:
        """Return the names of a part on one page, or on several if it is too long and cannot be divided by prefix."""
        found: list[list[str]] = [[]]
        total = 0
        for name, size in self.shards.names(part).items():
            if found[-1] and total + size > 2 * PAGE_BYTES:
                found.append([])
                total = 0
            found[-1].append(name)
            total += size
        return found

    def _sizes(self, names: Iterable[tuple[str, list[int]]], concepts: Iterable[str]) -> dict[str, int]:
        """Estimate the lengths of the entries of the given names, with the ids of their symbols, and concepts."""
        path_of = self._census.path_of
        sizes: dict[str, int] = {}
        for name, ids in names:
            paths = [path_of(one) for one in ids]
            if len(paths) > 4 * MAX_FILES:
                sizes[name] = 60 * len({path.rpartition("/")[0] for path in paths})
            else:
                sizes[name] = len(name) + 40 * len(paths) + sum(map(len, paths))
        for name in concepts:
            sizes[name] = sizes.get(name, len(name)) + 60 * min(len(self._files[name]), MAX_FILES)
        return sizes


def _concepts(terms: Iterable[Term]) -> set[str]:
    return {term.text for term in terms if term.kind != "name"}
