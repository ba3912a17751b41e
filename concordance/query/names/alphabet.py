"""Every name and concept of a repository in alphabetical order, divided into index pages.

In: the census. Out: `Alphabet`, with the parts and what each contains. After an update only the entries of names and
terms that changed are computed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from string import ascii_uppercase

from concordance.base.model import Term
from concordance.query.index.census import Census
from concordance.query.index.columns import NumbersByText
from concordance.query.names.shards import MAX_FILES, PAGE_BYTES, NameEntry, Shards, by_letter, letter_of

# By letter, the first of its names and the first one after them, in upper and in lower case; and the names in between.
_RANGES = {
    letter: tuple((one, chr(ord(one) + 1)) for one in dict.fromkeys((letter, letter.lower())))
    for letter in (*ascii_uppercase, "_")
}
_REST = (("", "A"), ("[", "_"), ("`", "a"), ("{", ""))


class Alphabet:
    """Every name and concept of a repository, and how they are divided into pages."""

    def __init__(self, census: Census) -> None:
        self._census = census
        self._long_forms: dict[str, Counter[str]] = {}  # by acronym, how often each long form is given
        self._paths = [file.path for file in census.files]
        self._places = NumbersByText(self._concepts())  # of the files that each concept is a term of, in `_paths`
        self._changed: dict[str, list[str]] = {}  # the same as paths, for concepts that an update has changed
        self.shards = Shards(self._letters())

    def _concepts(self) -> Iterator[tuple[str, int]]:
        """Yield the concepts of all files, with the places of the files; count the long forms of acronyms as well."""
        for place, file in enumerate(self._census.files):
            for term in self._census.terms.get(file.id, ()):
                if term.kind != "name":
                    yield term.text, place
                if term.stands_for:
                    self._long_forms.setdefault(term.text, Counter())[term.stands_for] += 1

    def _letters(self) -> Iterator[tuple[str, dict[str, int]]]:
        """Yield the letters, each with the names and concepts that are listed under it, and the sizes of their
        entries."""
        ids_by_name = self._census.facts.ids_by_name
        others = by_letter(self._sizes(chain.from_iterable(ids_by_name(*ends) for ends in _REST)))
        concepts: dict[str, array[int]] = {}
        for place, name in enumerate(self._places):
            concepts.setdefault(letter_of(name), array("I")).append(place)
        for letter in sorted({*_RANGES, *others, *concepts}, key=str.lower):
            sizes = self._sizes(chain.from_iterable(ids_by_name(*ends) for ends in _RANGES.get(letter, ())))
            sizes.update(others.get(letter, {}))
            self._add_concepts(sizes, map(self._places.text_at, concepts.get(letter, ())))
            if sizes:
                yield letter, sizes

    def files_of(self, concept: str) -> list[str]:
        """Return the files that a concept is a term of, in the order of paths."""
        known = self._changed.get(concept) if self._changed else None
        return known if known is not None else [self._paths[place] for place in self._places.get(concept)]

    @property
    def concept_count(self) -> int:
        """The number of concepts."""
        changed = sum(bool(paths) - bool(self._places.get(text)) for text, paths in self._changed.items())
        return len(self._places) + changed

    def renew(self, names: Collection[str], terms: Iterable[tuple[str, tuple[Term, ...], tuple[Term, ...]]]) -> None:
        """Update after names whose symbols changed, and files whose terms changed (path, before, after)."""
        changed = set(names)
        for path, before, after in terms:
            was, now = (Counter(term._replace(times=0, line=0) for term in some) for some in (before, after))
            for times, differing in ((-1, was - now), (1, now - was)):
                for term in differing.elements():
                    self._count_term(path, term, times)
            changed |= _concepts(before) ^ _concepts(after)
        ids = self._census.facts.ids_named(changed)
        sizes = self._sizes(ids.items())
        self._add_concepts(sizes, [letter for letter in changed if self.files_of(letter)])
        self.shards.renew({name: sizes.get(name) for name in changed})

    def _count_term(self, path: str, term: Term, times: int) -> None:
        """Add a term of a file, or remove it (`times` is -1)."""
        if term.kind != "name":
            paths = self._changed[term.text] = list(self.files_of(term.text))
            at = bisect_left(paths, path)
            paths[at : at + (times < 0)] = [path] if times > 0 else []
        if term.stands_for:
            long_forms = self._long_forms.setdefault(term.text, Counter())
            long_forms[term.stands_for] += times
            if not long_forms[term.stands_for]:
                del long_forms[term.stands_for]
            if not long_forms:
                del self._long_forms[term.text]

    def entries(self, names: Iterable[str]) -> Iterator[NameEntry]:
        """Yield the entries of some names."""
        listed = list(names)
        symbols = self._census.facts.ids_named(listed)
        for name in listed:
            long_forms: Mapping[str, int] = self._long_forms.get(name, {})
            stands_for = min(long_forms, key=lambda form: (-long_forms[form], form), default="")
            ids = sorted(symbols.get(name, ()), key=self._census.order_of)
            yield NameEntry(name, ids, self.files_of(name), stands_for)

    def pages(self, part: str) -> list[list[str]]:
        """Return the names of a part on one page, or on several if it is too long and cannot be divided by prefix."""
        pages: list[list[str]] = [[]]
        total = 0
        for name, size in self.shards.names(part).items():
            if pages[-1] and total + size > 2 * PAGE_BYTES:
                pages.append([])
                total = 0
            pages[-1].append(name)
            total += size
        return pages

    def _sizes(self, names: Iterable[tuple[str, list[int]]]) -> dict[str, int]:
        """Estimate the lengths of the entries of the given names, with the ids of their symbols."""
        path_of = self._census.path_of
        sizes: dict[str, int] = {}
        for name, ids in names:
            paths = [path_of(identity) for identity in ids]
            if len(paths) > 4 * MAX_FILES:
                sizes[name] = 60 * len({path.rpartition("/")[0] for path in paths})
            else:
                sizes[name] = len(name) + 40 * len(paths) + sum(map(len, paths))
        return sizes

    def _add_concepts(self, sizes: dict[str, int], concepts: Iterable[str]) -> None:
        """Add the lengths that some concepts add to the entries."""
        for name in concepts:
            sizes[name] = sizes.get(name, len(name)) + 60 * min(len(self.files_of(name)), MAX_FILES)


def _concepts(terms: Iterable[Term]) -> set[str]:
    return {term.text for term in terms if term.kind != "name"}
