"""Finds the files that are related to a file, with reasons.

In: a file. Out: other files, best first, each with its reasons: one uses the other, the same files use both, they
changed in the same commits, they have the same name (a test or a header), they define the same rare names, they are in
the same folder. The score is a probability that grows with each reason by a share of the remaining doubt, so that
several weak reasons add up to a strong one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from concordance.base.model import File, Kind
from concordance.facts.links.graph import iterate_pairs
from concordance.facts.updates.delta import Aspect, round_to_power
from concordance.query.index.census import IdTables

_USERS = 200  # users of a file that are considered; more would add no information
_NAMES = 60  # symbols whose names are looked up
_RARE = 6  # files that define a rare name, at most
_FOLDER = 40  # files of a folder with a single subject, at most
_MIN_SCORE = 0.02  # the least score of an answer
_TEST = re.compile(r"^(?:test_|test-|tests_)|(?:_test|_tests|-test|\.test|\.spec|_spec|_unittest|Tests?|Spec)$")
_FOLDERS_OF_TESTS = frozenset(
    ("test", "tests", "testing", "__tests__", "spec", "specs", "unit", "unittests", "unit_tests", "integration", "src",
     "lib", "python", "cpp", "java", "main", "pkg", "internal")
)  # fmt: skip
_DEFINES = frozenset((Kind.CLASS, Kind.STRUCT, Kind.FUNCTION, Kind.INTERFACE, Kind.ENUM, Kind.TYPE, Kind.MACRO))


class Relation(IntEnum):
    """Why a file is related to another (a closed list)."""

    USED = 0  # by the file that was asked about
    USES = 1
    BOTH = 2  # other files use both
    CHANGED = 3  # in the same commits
    TEST = 4  # of the same name
    NAMED = 5  # with the same name
    DEFINES = 6  # the same rare names
    SAME_FOLDER = 7  # in the same folder


class Reason(NamedTuple):
    """One reason, with the number of times it applies."""

    why: Relation
    times: int = 0
    names: tuple[str, ...] = ()

    def describe(self, name: str) -> str:
        """Return the reason in words, for a question about a file of this name."""
        times = "" if self.times == 1 else f", {self.times} times"
        more = f" and {len(self.names) - 2} more" if len(self.names) > 2 else ""
        return (
            f"{name} uses it{times}",
            f"it uses {name}{times}",
            f"{self.times} files use both",
            f"changed together {self.times} times",
            "test of the same name",
            "same name",
            f"also defines {', '.join(self.names[:2])}{more}",
            "same folder",
        )[self.why]


class RelatedFile(NamedTuple):
    """A file that is related to the one that was asked about."""

    path: str
    reasons: list[Reason]
    score: float


class Neighbours:
    """Which files use which, and which have similar names."""

    def __init__(self, tables: IdTables) -> None:
        self._tables, self.paths, self.reads = tables, tables.paths_by_id, tables.reads
        # Unrecorded tables, for those who read all of it. A row is never modified.
        self.all_uses: dict[int, dict[int, int]] = {}
        self.all_users: dict[int, dict[int, int]] = {}
        same = {path: path for path in self.paths}  # one object for each id: there are many more pairs than files
        for user, target, times in iterate_pairs(tables.facts.analysis_result("pairs")):
            self.all_uses.setdefault(same[user], {})[same[target]] = times
            self.all_users.setdefault(same[target], {})[same[user]] = times
        self.fan_in = {file: round_to_power(len(users)) for file, users in self.all_users.items()}
        self.fan_out = {file: round_to_power(len(used)) for file, used in self.all_uses.items()}

    def uses_of(self, file: int) -> dict[int, int]:
        """Return how often a file uses each other one, by ids."""
        self.reads.note("uses", self.paths.get(file, ""))
        return self.all_uses.get(file, {})

    def users_of(self, file: int) -> dict[int, int]:
        """Return how often each other file uses a file, by ids."""
        self.reads.note("users", self.paths.get(file, ""))
        return self.all_users.get(file, {})

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {path: identity for identity, path in self.paths.items()}

    @cached_property
    def _stems(self) -> dict[str, list[int]]:
        """The files of each stem, in the order of paths."""
        files: dict[str, list[int]] = {}
        for path in sorted(self._ids):
            files.setdefault(stem_of(path), []).append(self._ids[path])
        return files

    @cached_property
    def _folders(self) -> dict[str, list[int]]:
        files: dict[str, list[int]] = {}
        for identity, path in self.paths.items():
            files.setdefault(path.rpartition("/")[0], []).append(identity)
        return files

    def of(self, file: File, history: bool = True) -> list[RelatedFile]:
        """Return the files related to one, best first; files that changed together count only if `history` is True."""
        me = self._ids[file.path]
        doubt: dict[int, float] = {}
        reasons: dict[int, list[Reason]] = {}
        for other, share, reason in self._reasons(me, file.path, history):
            if other != me:
                doubt[other] = doubt.get(other, 1.0) * (1 - share)
                reasons.setdefault(other, []).append(reason)
        rows = [RelatedFile(self.paths[one], reasons[one], round(1 - left, 3)) for one, left in doubt.items()]
        return sorted((row for row in rows if row.score >= _MIN_SCORE), key=lambda row: (-row.score, row.path))

    def _reasons(self, file: int, path: str, history: bool) -> Iterator[tuple[int, float, Reason]]:
        yield from self._direct_uses(file)
        yield from self._used_together(file)
        if history:
            yield from self._changed(path)
        yield from self._same_stem(file, path)
        yield from self._same_definitions(file, path)
        yield from self._same_folder(path)

    def _direct_uses(self, file: int) -> Iterator[tuple[int, float, Reason]]:
        """One uses the other: worth more the more uses there are, and the fewer other files have such uses."""
        for other, times in self.uses_of(file).items():
            yield other, _share_of_uses(times, self.rounded_user_count(other)), Reason(Relation.USED, times)
        for other, times in self.users_of(file).items():
            self.reads.note("fan out", self.paths[other])
            yield other, _share_of_uses(times, self.fan_out.get(other, 0)), Reason(Relation.USES, times)

    def _used_together(self, me: int) -> Iterator[tuple[int, float, Reason]]:
        """The same files use both."""
        all_users = self.users_of(me)  # ids depend on how the store was built, so paths decide
        users = sorted(all_users, key=lambda file: (len(self._files_used(file)), self.paths[file]))[:_USERS]
        shared: Counter[int] = Counter()
        for user in users:
            shared.update(self._files_used(user))
        for other, count in shared.items():
            if count > 1:  # checked first: a file that uses thousands makes thousands of pairs
                alike = min(1.0, count / math.sqrt(len(users) * self.rounded_user_count(other)))
                if alike > 0.05:
                    yield other, 0.5 * alike, Reason(Relation.BOTH, count)

    def _files_used(self, file: int) -> Collection[int]:
        """Return the files that a file uses; how often it does is recorded only where it counts."""
        self.reads.note("files used", self.paths[file])
        return self.all_uses.get(file, {}).keys()

    def rounded_user_count(self, file: int) -> int:
        """Return a rounded number of users; an exact one would make many files' results depend on every new user."""
        self.reads.note("fan in", self.paths[file])
        return self.fan_in.get(file, 0)

    def _changed(self, path: str) -> Iterator[tuple[int, float, Reason]]:
        self.reads.note(Aspect.HISTORY, path)
        change = self._tables.facts.change(path)
        for other, times in change.together if change is not None else ():
            self.reads.note(Aspect.PATHS, other)
            identity = self._ids.get(other)
            if identity is not None and change is not None:
                yield identity, 0.6 * min(1.0, times / (change.commits + 2)), Reason(Relation.CHANGED, times)

    def _same_stem(self, file: int, path: str) -> Iterator[tuple[int, float, Reason]]:
        """The test or the header of a source: equal names, apart from what marks a test.

        A name alone may be a coincidence: one must use the other, or their folders must have the same name.
        """
        stem, same = stem_of(path), self._stems[stem_of(path)]
        self.reads.note("stem", stem)
        if stem in _COMMON_NAMES or len(same) > 24:
            return
        for other in same:
            there = self.paths[other]
            if not (self._are_linked(file, other) or _last_folder(path) == _last_folder(there)):
                continue
            mine, theirs = is_named_as_test(path), is_named_as_test(there)
            if mine and theirs and _name(path) != _name(there):
                continue  # `x-test.c` does not test `test-x.h`
            shared = len(_folders(path) & _folders(there)) / (1 + max(len(_folders(path)), len(_folders(there))))
            reason = Reason(Relation.TEST if theirs and not mine else Relation.NAMED)
            yield other, (0.5 if mine or theirs else 0.4) * (0.4 + 0.6 * shared), reason

    def with_stem_of(self, path: str) -> list[str]:
        """Return the files whose names are equal, apart from endings and what marks a test, in the order of paths."""
        self.reads.note("stem", stem_of(path))
        return [self.paths[number] for number in self._stems[stem_of(path)]]

    def _are_linked(self, file: int, other: int) -> bool:
        """True if one of two files uses the other."""
        return other in self.uses_of(file) or other in self.users_of(file)

    def _same_definitions(self, file: int, path: str) -> Iterator[tuple[int, float, Reason]]:
        """Both define the same names, which few other files do: at least two names, or one uses the other."""
        self.reads.note(Aspect.TEXT, path)
        symbols = [symbol for symbol in self._tables.facts.symbols_in(path)
                   if symbol.kind in _DEFINES and not symbol.parent_key and not symbol.declaration]  # fmt: skip
        names = dict.fromkeys(symbol.name for symbol in symbols[:_NAMES] if len(symbol.name) > 3)
        for name in names:
            self.reads.note(Aspect.SYMBOLS_NAMED, name)
        defining = self._tables.facts.files_defining(names)
        shared: dict[int, list[str]] = {}
        for name in names:
            files = defining.get(name, ())
            for there in files if 1 < len(files) <= _RARE else ():
                shared.setdefault(there, []).append(name)
        for other, common in shared.items():
            if len(common) > 1 or self._are_linked(file, other):
                yield other, 0.3 * (1 - 0.6 ** len(common)), Reason(Relation.DEFINES, names=tuple(common))

    def _same_folder(self, path: str) -> Iterator[tuple[int, float, Reason]]:
        folder = path.rpartition("/")[0]
        self.reads.note("folder", folder)
        beside = self._folders[folder]
        if len(beside) <= _FOLDER:
            yield from ((other, 0.05, Reason(Relation.SAME_FOLDER)) for other in beside)


_COMMON_NAMES = frozenset(
    ("__init__", "index", "main", "utils", "README", "CMakeLists", "setup", "conftest", "BUILD", "Makefile")
)


def _share_of_uses(times: int, rivals: int) -> float:
    sure: float = 1 - 0.5 ** (1 + math.log2(times))
    return 0.7 * sure / math.log2(2 + rivals / 4)


def _name(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0] or path.rpartition("/")[2]


def stem_of(path: str) -> str:
    """Return the name of a file without its ending and without what marks it as a test."""
    return _TEST.sub("", _name(path)) or _name(path)


def is_named_as_test(path: str) -> bool:
    """True if the name of a file marks it as a test."""
    return _name(path) != stem_of(path)


def _last_folder(path: str) -> str:
    return path.rpartition("/")[0].rpartition("/")[2]


def may_test(test: str, path: str) -> bool:
    """True if a test file of the same name may be the test of a file, by its folders: they are those of tests in
    general, or one of them has the name of a folder of the file."""
    special = {folder.lower() for folder in _folders(test)} - _FOLDERS_OF_TESTS
    own = {folder.lower() for folder in _folders(path)}
    return not special or any(name in other or other in name for name in special for other in own)


def _folders(path: str) -> set[str]:
    return set(path.split("/")[:-1])
