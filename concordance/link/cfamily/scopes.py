"""A namespace, class or enum of the C family as names are looked up in it, and a name in it.

In: symbols, each as one number. Out: `CScope`s and their `ScopeMember`s, which keep what was found out of them. A large
repository has millions: what most have nothing of is made when it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from concordance.base.model import KINDS, Kind, Op, Trust
from concordance.link.world import LoadedFlow

NAME, MEMBER, CALL, ITEM, EACH, PART = (int(op) for op in (Op.NAME, Op.MEMBER, Op.CALL, Op.ITEM, Op.EACH, Op.PART))
OF_TYPE, LOOKUP, SYMBOL, PARAMETER, CAST = (int(op) for op in (Op.OF_TYPE, Op.LOOKUP, Op.SYMBOL, Op.PARAMETER, Op.CAST))
# Kinds of questions: about a file's view and an expression, home or entry (the first five); about a class.
NAMED, TYPE_NAMED, TYPE_OF, NOMINATED, ALIASED, INHERITED, BASES = range(7)
Question = tuple[int, Any, Any]
SHIFT = 20  # a symbol is one number here: its file's, and its place in the file
MASK = (1 << SHIFT) - 1
_PLACE = {kind: place for place, kind in enumerate(KINDS)}
MACRO, NAMESPACE, ENUM, ENUMERATOR, TYPE, METHOD = (
    _PLACE[k] for k in (Kind.MACRO, Kind.NAMESPACE, Kind.ENUM, Kind.ENUMERATOR, Kind.TYPE, Kind.METHOD)
)
OTHER_NAME = len(KINDS)  # of a namespace: `namespace a = b;`
CLASSES = frozenset(_PLACE[k] for k in (Kind.CLASS, Kind.STRUCT, Kind.UNION, Kind.INTERFACE))
FUNCTIONS = frozenset(_PLACE[k] for k in (Kind.FUNCTION, Kind.METHOD))
OPENS = CLASSES | {NAMESPACE, ENUM}
_SEVERAL = 8


class Entity(NamedTuple):
    """One entity: all of its declarations and definitions, definitions first."""

    codes: tuple[int, ...]
    defined: int  # how many of them are definitions
    least: int  # the arguments that it takes
    most: int
    local: int  # the file that alone sees it, -1 where others can
    special: bool  # a template for some arguments only
    form: int  # what tells a function from its overloads, 0 for everything else

    @property
    def callable(self) -> bool:
        """Whether it is a function."""
        return self.form != 0


class ResolvedName(NamedTuple):
    """What a name was found to be."""

    entry: ScopeMember
    by: str
    trust: Trust  # at best


# A type: its home and the arguments of its template; without a home, a parameter of a template: whose, and which.
Type = tuple[Any, ...]


NO_IDS: dict[int, tuple[int, ...]] = {}


class ScopeMember:
    """One name in one home."""

    __slots__ = ("codes", "exact", "files", "groups", "home", "ids", "kind", "name")

    def __init__(self, home: CScope, name: str, kind: int) -> None:
        self.home, self.name, self.kind = home, name, kind
        self.codes: Sequence[int] = ()  # most have one: a list for each would take half of all memory
        self.exact: ResolvedName | None = None  # that it was found in its home
        self.files = 0  # a bit for each file that it stands in, where they are many and were asked for
        self.groups: tuple[Entity, ...] | None = None
        self.ids = NO_IDS  # by number of arguments, where all files mean the same by it

    def add(self, code: int) -> None:
        """Adds a symbol."""
        if not self.codes:
            self.codes = (code,)
        elif isinstance(self.codes, list):
            self.codes.append(code)
        else:
            self.codes = [*self.codes, code]

    def keep(self, count: int, ids: tuple[int, ...]) -> None:
        """Keeps what is meant by it with so many arguments."""
        if self.ids is NO_IDS:
            self.ids = {}
        self.ids[count] = ids

    def seen(self, sees: int) -> bool:
        """Whether one of its symbols is in some files, given as bits."""
        codes = self.codes
        if len(codes) == 1:
            return bool(sees >> (codes[0] >> SHIFT) & 1)
        if len(codes) > _SEVERAL:
            return bool(sees & self.bits())
        for code in codes:  # noqa: SIM110  `any` would cost twice as much
            if sees >> (code >> SHIFT) & 1:
                return True
        return False

    def bits(self) -> int:
        """A bit for each file that it stands in."""
        if not self.files:
            for number in {code >> SHIFT for code in self.codes}:
                self.files |= 1 << number
        return self.files

    def forget(self) -> None:
        """Forgets what was found out of its symbols."""
        self.groups = None
        self.ids = NO_IDS

    def sight(self) -> ResolvedName:
        """That a name was found where it was looked for."""
        if self.exact is None:
            self.exact = ResolvedName(self, self.home.explained(), Trust.EXACT)
        return self.exact


_NO_HOMES: dict[str, CScope] = {}
_NO_ENTRIES: dict[str, ScopeMember] = {}
_NO_DIRECTIVES: dict[int, list[int]] = {}
_NONE_BROUGHT: dict[str, list[tuple[int, int]]] = {}


class CScope:
    """A namespace, class or enum."""

    __slots__ = (
        "around", "bases", "brought", "chains", "codes", "directives", "inner", "is_class", "members", "name",
        "other_names", "seen",
    )  # fmt: skip

    def __init__(self, name: str, around: CScope | None, is_class: bool) -> None:
        self.name, self.around, self.is_class = name, around, is_class
        self.members: dict[str, ScopeMember] = {}
        self.inner: dict[str, CScope] = _NO_HOMES
        self.codes: list[int] = []  # of a class: the symbols that say what it is
        self.bases: tuple[Type, ...] | None = None  # found when first asked for
        self.other_names: dict[str, ScopeMember] = _NO_ENTRIES  # of namespaces
        self.directives: dict[int, list[int]] = _NO_DIRECTIVES  # `using namespace`: expressions by file
        self.brought: dict[str, list[tuple[int, int]]] = _NONE_BROUGHT  # `using x::y`: by y
        self.chains: dict[str, tuple[ScopeMember, ...]] = {}  # of a namespace: what names mean from here outward
        self.seen: dict[str, tuple[ScopeMember, Type] | None] = {}  # members of its bases, where they were asked for

    def forget(self) -> None:
        """Forgets what was found out by names."""
        self.bases = None
        self.chains.clear()
        self.seen.clear()

    def opened(self, name: str, is_class: bool) -> CScope:
        """The home of a name in this one."""
        found = self.inner.get(name)
        if found is None:
            found = CScope(name, self, is_class)
            self.open(name, found)
        elif is_class:
            found.is_class = True
        return found

    def open(self, name: str, home: CScope) -> None:
        """Takes a home for what a name means in here."""
        if self.inner is _NO_HOMES:
            self.inner = {}
        self.inner[name] = home

    def rename(self, name: str, entry: ScopeMember) -> None:
        """Takes another name of a namespace."""
        if self.other_names is _NO_ENTRIES:
            self.other_names = {}
        self.other_names[name] = entry

    def direct(self, number: int, value: int) -> None:
        """Takes what a file's `using namespace` names."""
        if self.directives is _NO_DIRECTIVES:
            self.directives = {}
        self.directives.setdefault(number, []).append(value)

    def bring(self, name: str, number: int, value: int) -> None:
        """Takes what a file's `using x::name` names."""
        if self.brought is _NONE_BROUGHT:
            self.brought = {}
        self.brought.setdefault(name, []).append((number, value))

    def member(self, name: str) -> ScopeMember | None:
        """What a name means in here; a class's own name means the class, not its constructors."""
        found = self.members.get(name)
        if found is not None and name == self.name and found.kind in FUNCTIONS and self.around is not None:
            return self.around.members.get(name, found)
        return found

    def explained(self) -> str:
        """Why something was found: because it is in here."""
        parts = []
        home: CScope | None = self
        while home is not None and home.around is not None:
            parts.append(home.name)
            home = home.around
        path = "::".join(reversed(parts))
        return f"class {path}" if self.is_class else f"namespace {path}" if path else "file scope"


# Where a scope's names are looked up first, and what `using` in functions adds: whether it names one thing, and what.
Start = tuple[CScope, tuple[tuple[bool, int], ...]]


# ---
# One C-family file as names are looked up in it.
#
# In: a file's flow. Out: a `FileScope`, which keeps what was found out of its expressions.


class FileScope:
    """One file."""

    __slots__ = (
        "aliased", "answers", "bound", "directed", "file", "homes", "left", "named", "names", "nominated", "number",
        "op", "right", "scopes", "sees", "starts", "types", "values",
    )  # fmt: skip

    def __init__(self, file: LoadedFlow, homes: list[CScope | None], sees: int) -> None:
        self.file, self.homes, self.number = file, homes, file.number
        self.sees = sees  # a bit for each file whose text is part of this one
        self.names, self.op, self.left, self.right, self.bound = file.names, file.op, file.left, file.right, file.values
        self.scopes = len(file.scope_parent)
        self.named: dict[int, ResolvedName | None] = {}  # by expression: what it names
        self.types: dict[int, Type | None] = {}  # … the type it names
        self.values: dict[int, Type | None] = {}  # … the type of its value
        self.starts: dict[int, Start] = {}  # by scope
        self.directed: dict[CScope, bool] = {}  # whether `using namespace` has a say in a home
        self.nominated: dict[CScope, tuple[CScope, ...]] = {}  # what `using namespace` brings into a home
        self.aliased: dict[ScopeMember, CScope | None] = {}  # the namespace that `namespace a = b;` means
        # By kind of question.
        self.answers: tuple[dict[Any, Any], ...] = (self.named, self.types, self.values, self.nominated, self.aliased)

    def includes(self, code: int) -> bool:
        """Whether this file sees a symbol."""
        return bool(self.sees >> (code >> SHIFT) & 1)
