"""The census of a repository some of whose files were read again: what is the same is kept.

In: a census, the store as it is now, and the files whose symbols are others, or have other ids (`Refiled`). Out: the
same tables that a new census would have, for what a few files cost. A file whose symbols are others has them at ids
behind all others; those that it had stand for nothing any more.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from concordance.base.model import Term
from concordance.facts.read import Facts
from concordance.facts.store_delta import Aspect, band
from concordance.query.answers import clean
from concordance.query.index.census import Census, Listed, listed
from concordance.query.index.updates.reads import Touched

Terms = tuple[str, tuple[Term, ...], tuple[Term, ...]]  # a file, its terms before, and now


class Refiled(NamedTuple):
    """A file whose symbols are others, or have other ids."""

    path: str
    old: range  # the ids that it and its symbols had …
    new: range  # … and have
    symbols: list[tuple[int, str, str, int, int]]  # id, key, kind, whether it is only declared, whether it is a test

    @property
    def is_moved(self) -> bool:
        """Whether its ids are others."""
        return self.old.start != self.new.start


class Recounted(NamedTuple):
    """What is other than it was."""

    names: set[str]  # that have other symbols, or symbols of other ids
    terms: list[Terms]
    used: set[str] | None  # files whose symbols are used by others, or have other ids; None where it may be any


def _path(file: Listed) -> str:
    return file.path


def take_out(found: dict[str, list[int]], key: str, file: Refiled, path_of: Callable[[int], str]) -> None:
    """Takes a file's symbols out of a list that follows the paths; where none is left, the list, too."""
    ids = found.get(key, [])
    first = bisect_left(ids, file.path, key=path_of)
    last = first
    while last < len(ids) and ids[last] in file.old:
        last += 1
    del ids[first:last]
    if not ids:
        found.pop(key, None)


def put_in(found: dict[str, list[int]], key: str, identity: int, path_of: Callable[[int], str]) -> None:
    """Puts a symbol into such a list."""
    insort(found.setdefault(key, []), identity, key=lambda one: (path_of(one), one))


class Recount:
    """Brings one census up to date."""

    def __init__(self, census: Census, files: Sequence[Refiled]) -> None:
        self._census, self._known, self._files = census, census.__dict__, files
        self._names: set[str] = set()

    def before(self, path_of: Callable[[int], str]) -> None:
        """Forgets the symbols that were; `path_of` says whose they were."""
        census, known = self._census, self._known
        for file in self._files if "names" in known else ():
            ids = [one for one in file.old if census.names[one]]
            names = {census.names[one] for one in ids}
            self._names |= names
            for name in names if "by_name" in known else ():
                take_out(census.by_name, name, file, path_of)
            for table in ("names", "kinds") if "kinds" in known else ("names",):
                known[table][file.old.start : file.old.stop] = [""] * len(file.old)
            self._count(file.path, -len(ids))

    def after(
        self, facts: Facts, bases: list[tuple[int, str, str, str]], touched: Touched, path_of: Callable[[int], str]
    ) -> Recounted:
        """Learns those that are; `path_of` says whose they are."""
        census, known = self._census, self._known
        census.facts, census.bases = facts, bases
        for file in self._files if "names" in known else ():
            self._add(file, path_of)
        moved = [file for file in self._files if file.is_moved]
        if moved and "files" in known:
            self._list(moved)
        for path in touched[Aspect.TEXT] if "read_paths" in known else ():
            (census.read_paths.add if facts.is_read(path) else census.read_paths.discard)(path)
        known.pop("read", None)
        for text in touched[Aspect.TERM] if "spread" in known else ():
            census.spread.pop(text, None)
            census.spread.update((one, band(files)) for one, files in facts.files_with([text]).items())
        terms = [*self._terms(touched[Aspect.TEXT])] if "terms" in known else []
        return Recounted(self._names, terms, self._uses(touched, moved))

    def _add(self, file: Refiled, path_of: Callable[[int], str]) -> None:
        census, known = self._census, self._known
        for table in ("names", "kinds") if "kinds" in known else ("names",):
            rows: list[str] = known[table]
            rows.extend([""] * (file.new.stop - len(rows)))
        for identity, key, kind, _, _ in file.symbols:
            name = census.names[identity] = clean(key)[-1]
            self._names.add(name)
            if "kinds" in known:
                census.kinds[identity] = kind
            if "by_name" in known:
                put_in(census.by_name, name, identity, path_of)
        self._count(file.path, len(file.symbols))

    def _count(self, path: str, more: int) -> None:
        """Counts symbols in the folders around a file."""
        while path and "defined" in self._known:
            path = path.rpartition("/")[0]
            self._census.defined[path] += more

    def _list(self, moved: Sequence[Refiled]) -> None:
        """Lists files that moved; of those that stood before them, and now do, the last id is another, too."""
        census, bases = self._census, self._census.bases
        starts = [row[0] for row in bases]
        places = {bisect_right(starts, one) - 1 for file in moved for one in (file.old.start, file.new.start)}
        places |= {place - 1 for place in places} | {len(bases) - 1}
        for place in places & set(range(len(bases))):
            file = listed(bases[place : place + 2], len(census.names))[0]
            census.files[bisect_left(census.files, file.path, key=_path)] = file
            if "folders" in self._known:
                inside = census.folders[file.path.rpartition("/")[0]].files
                inside[bisect_left(inside, file.path, key=_path)] = file

    def _terms(self, paths: Collection[str]) -> Iterable[Terms]:
        census = self._census
        had = {file.path: file.old.start for file in self._files}
        for path in paths:
            base = census.facts.base(path)
            before = census.terms.pop(had.get(path, base), ())
            after = census.facts.terms_of(path)
            if after:
                census.terms[base] = after
            yield path, before, after

    # --- uses

    def _uses(self, touched: Touched, moved: Sequence[Refiled]) -> set[str] | None:
        """Counts uses anew; gives the files whose symbols are used otherwise."""
        if "outside" not in self._known or "names" not in self._known:
            self._known.pop("outside", None)
            self._known.pop("used_by", None)
            return None
        census = self._census
        again = {*touched[Aspect.USES], *(file.path for file in moved)}
        starts = [row[0] for row in census.bases]
        ends = [*starts[1:], len(census.names)]
        had = {file.path: file.old.start for file in moved}
        other: set[int] = set()
        done: set[int] = set()
        for (base, path, _, _), end in zip(census.bases, ends, strict=True):
            if path in again:
                done.add(base)
                used = [one for one in census.facts.used_from(path) if not base <= one < end]
                other |= self._swap(had.get(path, base), base, array("I", sorted(used)))
        for base, targets in self._aimed(moved, starts).items():
            if base not in done:
                left = census.outside[base][:]
                for file in moved:
                    del left[bisect_left(left, file.old.start) : bisect_left(left, file.old.stop)]
                left.extend(sorted(targets))  # they lie behind all others
                other |= self._swap(base, base, left)
        if "used_by" in self._known and any(one in census.used_by for file in moved for one in file.old):
            del self._known["outside"], self._known["used_by"]  # it is not as it must be: all is counted anew
            return None
        return had.keys() | {census.bases[bisect_right(starts, one) - 1][1] for one in other}

    def _aimed(self, moved: Iterable[Refiled], starts: Sequence[int]) -> dict[int, set[int]]:
        """What each file uses of those that moved, by the file's id."""
        found: dict[int, set[int]] = {}
        for file in moved:
            for user, target in self._census.facts.used_pairs_into(file.new.start, file.new.stop - 1):
                found.setdefault(starts[bisect_right(starts, user) - 1], set()).add(target)
        return found

    def _swap(self, old: int, new: int, targets: array[int]) -> set[int]:
        """Puts what a file uses in place of what it used, and gives what is only in one of them."""
        outside, known = self._census.outside, "used_by" in self._known
        before = outside.pop(old)
        outside[new] = targets
        now = {*targets}
        other = now.symmetric_difference(before)
        for one in other if known else ():
            times = self._census.used_by.pop(one, 0) + (1 if one in now else -1)
            if times:
                self._census.used_by[one] = times
        return other
