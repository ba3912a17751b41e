"""Every name and concept of a repository in alphabetical order, divided into index pages.

In: the census. Out: `Alphabet`, with the parts and what each contains. After an update only the entries of names and
terms that changed are computed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

from concordance.base.model import Term
from concordance.query.index.census import Census
from concordance.query.names.shards import MAX_FILES, PAGE_BYTES, NameChange, NameEntry, Shards


class Alphabet:
    """Every name and concept of a repository, and how they are divided into pages."""

    def __init__(self, census: Census) -> None:
        self._census = census
        self._files: dict[str, list[str]] = {}
        self._long_forms: dict[str, Counter[str]] = {}  # by acronym, how often each long form is given
        for file in census.files:
            for term in census.terms.get(file.id, ()):
                if term.kind != "name":
                    self._files.setdefault(term.text, []).append(file.path)
                if term.stands_for:
                    self._long_forms.setdefault(term.text, Counter())[term.stands_for] += 1
        self._widths = self._sizes(census.by_name, self._files)
        self.shards = Shards(self._widths)

    @property
    def concepts(self) -> int:
        """The number of concepts."""
        return len(self._files)

    def renew(self, names: Iterable[str], terms: Iterable[tuple[str, tuple[Term, ...], tuple[Term, ...]]]) -> None:
        """Update after names whose symbols changed, and files whose terms changed (path, before, after)."""
        texts: set[str] = set()
        for path, before, after in terms:
            for term in before:
                self._count_term(path, term, -1)
            for term in after:
                self._count_term(path, term, 1)
            texts.update(term.text for term in (*before, *after) if before != after)
        other = texts.union(names)
        by_name, files = self._census.by_name, self._files
        sizes = self._sizes([one for one in other if one in by_name], [one for one in other if one in files])
        changes: dict[str, NameChange] = {}
        for name in other:
            change = NameChange(self._widths.pop(name, None), sizes.get(name))
            self._widths.update({name: change.after} if change.after is not None else {})
            if change.before != change.after:
                changes[name] = change
        self.shards.renew(changes, self._widths)

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

    def entry(self, name: str) -> NameEntry:
        """Return the entry of a name."""
        meant: Mapping[str, int] = self._long_forms.get(name, {})
        stands_for = min(meant, key=lambda one: (-meant[one], one), default="")
        return NameEntry(name, self._census.by_name.get(name, ()), self._files.get(name, ()), stands_for)

    def pages(self, part: str) -> list[list[str]]:
        """Return the names of a part on one page, or on several if it is too long and cannot be divided by prefix."""
        found: list[list[str]] = [[]]
        size = 0
        for name in self.shards.names[part]:
            if found[-1] and size + self._widths[name] > 2 * PAGE_BYTES:
                found.append([])
                size = 0
            found[-1].append(name)
            size += self._widths[name]
        return found

    def _sizes(self, names: Iterable[str], concepts: Iterable[str]) -> dict[str, int]:
        """Estimate the lengths of the entries of the given names and concepts."""
        path_of, by_name = self._census.path_of, self._census.by_name
        sizes: dict[str, int] = {}
        for name in names:
            paths = [path_of(one) for one in by_name[name]]
            if len(paths) > 4 * MAX_FILES:
                sizes[name] = 60 * len({path.rpartition("/")[0] for path in paths})
            else:
                sizes[name] = len(name) + 40 * len(paths) + sum(map(len, paths))
        for name in concepts:
            sizes[name] = sizes.get(name, len(name)) + 60 * min(len(self._files[name]), MAX_FILES)
        return sizes
