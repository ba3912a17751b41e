"""Resolves the names of Python files: the target of each expression, with its trust and the rule that found it.

In: a file's flow. Out: `NameTarget` rows. A name is followed through scopes, imports and re-exports; a member through
the value of its receiver. A member of an unknown value is linked only if the repository defines its name once (unique
name) or a few times (candidates).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from concordance.base.model import (
    KINDS,
    MAX_CANDIDATES,
    ONLY_DEFINITION,
    ForeignName,
    Kind,
    Op,
    Trust,
    unpack_column,
)
from concordance.link.language_linker import Edge, LanguageLinker
from concordance.link.python.builtin_types import (
    BUILTIN_CLASS,
    BUILTIN_INSTANCE,
    CLASS,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    LIBRARY_MEMBER_NAMES,
    MODULE,
    SUPER,
    Values,
)
from concordance.link.python.classes import ClassTable
from concordance.link.python.implicit_calls import ImplicitCalls
from concordance.link.python.inference import Evaluator
from concordance.link.python.reexports import Place
from concordance.link.python.unresolved_names import UnresolvedNames
from concordance.link.world import LinkWorld, LoadedFlow, NameTarget

_MEMBER_KINDS = (Kind.METHOD, Kind.PROPERTY, Kind.FIELD, Kind.ENUMERATOR)
_MEMBERS = frozenset(place for place, kind in enumerate(KINDS) if kind in _MEMBER_KINDS)
_COMMON_MEMBER_NAMES = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float, object, type, Exception) for name in dir(kind)
)
_TEST_PATH = re.compile(r"(?:^|/)(?:tests?/|test_[^/]*$|conftest\.py$)|_tests?\.py$")
_TEST_MODULE = re.compile(r"(?:^|/)(?:test_[^/]*|tests|[^/]*_tests?)\.py$")
_KNOWN_RECEIVERS = frozenset((MODULE, EXTERNAL, BUILTIN_INSTANCE, BUILTIN_CLASS, FUNCTION, SUPER))
_RULES = {
    MODULE: ("module", Trust.VIA_IMPORT), CLASS: ("class", Trust.EXACT), SUPER: ("super", Trust.EXACT),
    INSTANCE: ("type of the receiver", Trust.EXACT),
}  # fmt: skip


def _top(path: str) -> str:
    """Return the folder of a path that is right below the repository; "" for a file beside it."""
    return path.partition("/")[0] if "/" in path else ""


class PythonLinker(LanguageLinker):
    """Links Python files."""

    PASSES_RECEIVERS = True

    def __init__(self, world: LinkWorld) -> None:
        super().__init__(world)
        self.classes = ClassTable(world)
        self.values = Evaluator(self.classes)
        self._unresolved = UnresolvedNames(self.values)
        self._members_by_name: dict[str, list[int]] = {}
        self._members: dict[str, list[int]] | None = None

    def prepare(self) -> None:
        """Index the members of all classes by name, if the store does not provide such an index."""
        if self._members is None:
            self._members = self._index_members()

    def _index_members(self) -> dict[str, list[int]]:
        """Return the members of all classes by name, leaving out names that many have."""
        ids_by_name: dict[str, list[int]] = {}
        for number, row in enumerate(self.world.files):
            if row.language != "python" or not row.size:
                continue
            file = self.world.load(number)
            for symbol, kind in enumerate(file.symbol_kind):
                if kind in _MEMBERS:
                    members = ids_by_name.setdefault(file.names[file.symbol_name[symbol]], [])
                    if len(members) <= MAX_CANDIDATES:
                        members.append(file.id(symbol))
        return {
            name: ids
            for name, ids in ids_by_name.items()
            if len(ids) <= MAX_CANDIDATES and name not in _COMMON_MEMBER_NAMES
        }

    def members_named(self, name: str) -> list[int]:
        """Return the members of a name in all classes, or none if many have it."""
        symbols_by_name = self.world.symbols_by_name
        if self._members is None and symbols_by_name is None:
            self.prepare()
        if self._members is not None:
            return self._members.get(name, [])
        places = self._members_by_name.get(name)
        if places is None:
            members = (
                symbols_by_name(name, "python", _MEMBER_KINDS, MAX_CANDIDATES)
                if symbols_by_name is not None and name not in _COMMON_MEMBER_NAMES
                else []
            )
            places = self._members_by_name[name] = members if len(members) <= MAX_CANDIDATES else []
        return places

    def bases(self, file: LoadedFlow, symbol: int) -> Sequence[int]:
        """Return the ids of a class's bases."""
        return self.classes.bases(file, symbol)

    def runs(self, file: LoadedFlow, called: set[tuple[int, int]]) -> Iterator[Edge]:
        """Yield the edges for code that runs although no name refers to it; `called` are pairs of callee and caller."""
        return ImplicitCalls(self.values).edges(file, called)

    def foreign_names(self, file: LoadedFlow, targets: list[NameTarget]) -> list[ForeignName]:
        """Return the names that another language may define."""
        return self._unresolved.of(file, targets)

    def resolve_file(self, file: LoadedFlow) -> list[NameTarget]:
        """Return the targets of a file's expressions."""
        rows: list[NameTarget] = []
        for use in sorted(set(unpack_column(file.flow.used))):
            op = file.op[use]
            if op == Op.MEMBER:
                rows += self._member(file, use)
                continue
            place: Place | None = None
            rule, trust = "import", Trust.VIA_IMPORT
            if op == Op.NAME:
                variable = file.left[use]
                place = self.classes.reexports.of_variable(file, variable)
                if place is not None and place[0] is file:
                    rule, trust = "scope", Trust.EXACT
            elif op == Op.LOOKUP:
                place = self.classes.reexports.star_import_target(file, file.names[file.left[use]])
                rule = "import *"
            elif op == Op.IMPORT:
                place = self.classes.reexports.import_target(file, file.left[use])
            elif op == Op.PACKAGE:
                place = self.classes.reexports.package(file, file.left[use], file.right[use])
            elif op == Op.SYMBOL:
                place, rule, trust = (file, file.left[use]), "scope", Trust.EXACT
            if place is not None and not isinstance(place, str):
                rows.append(NameTarget(use, place[0].id(place[1]), trust, rule))
        return rows

    def _member(self, file: LoadedFlow, use: int) -> list[NameTarget]:
        name = file.names[file.right[use]]
        values = self.values.value(file, file.left[use])
        rows: list[NameTarget] = []
        for value in values:
            place = self.values.find_member(value, name)
            if place is not None and not isinstance(place, str):
                rule, trust = _RULES[value.tag]
                rows.append(NameTarget(use, place[0].id(place[1]), trust, rule))
        rows = list({row.target: row for row in reversed(rows)}.values())[::-1]  # the first row of each target
        if len(rows) > 1:
            rows = [row._replace(trust=min(row.trust, Trust.UNIQUE_NAME)) for row in rows]
        is_guessed = not rows and not (name.startswith("__") and name.endswith("__"))  # the language itself has those
        if is_guessed and not self._is_receiver_known(values):
            ids = self._visible(file, self.members_named(name))
            is_foreign = name in LIBRARY_MEMBER_NAMES or self._is_inherited(file, file.left[use])
            is_unique = len(ids) == 1 and not is_foreign
            trust = Trust.UNIQUE_NAME if is_unique else Trust.CANDIDATE
            rule = ONLY_DEFINITION if len(ids) == 1 else f"one of {len(ids)} definitions of this name"
            rows = [NameTarget(use, identity, trust, rule) for identity in ids]
        return rows

    def _visible(self, file: LoadedFlow, ids: list[int]) -> list[int]:
        """Return the members that a file may use: those below its own top folder or one that it imports from.

        A program does not use its tests, nor the scripts of another part of the repository; and of the members that a
        test module defines, no other module uses any unless it imports that module.
        """
        if not ids:
            return ids
        targets = self.world.targets(file)
        tops = {_top(file.path)} | {_top(path) for target in targets for path in target.paths}
        is_test = _TEST_PATH.search(file.path) is not None
        paths = {identity: self.world.files[self.world.file_number(identity)].path for identity in ids}
        near = {file.path, *(path for target in targets for path in target.paths)}
        return [
            identity
            for identity in ids
            if _top(paths[identity]) in tops
            and (is_test or not _TEST_PATH.search(paths[identity]))
            and (paths[identity] in near or not _TEST_MODULE.search(paths[identity]))
        ]

    def _is_inherited(self, file: LoadedFlow, receiver: int) -> bool:
        """True if a receiver is an attribute that only a class outside the repository can define: `self.client`."""
        if file.op[receiver] != Op.MEMBER:
            return False
        name = file.names[file.right[receiver]]
        return any(
            value.tag == INSTANCE and self.values.find_member(value, name) is None
            and isinstance(value.id, int) and self.classes.has_outside_base(value.id)
            for value in self.values.value(file, file.left[receiver])
        )  # fmt: skip

    def _is_receiver_known(self, values: Values) -> bool:
        """True if the receiver's value is known: then the member is not defined anywhere else."""
        return any(value.tag in _KNOWN_RECEIVERS for value in values)
