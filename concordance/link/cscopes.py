"""Every namespace and class of a repository's C-family files, with what is declared in each, over all files.

In: the files' flows. Out: a `Table`: `Home`s (namespaces, classes, enums; the root is the global namespace) and in
each the `Entry`s of its names. A namespace that is opened in a hundred files is one home; a member that is defined
outside of its class is that class's. What an entry's symbols have to do with one another (a declaration and its
definition, overloads, the same name in two programs) is worked out when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from concordance.extract.cmarks import ALIAS, DECLARES, FRIEND, INLINE, LOCAL, SCOPED, SPECIAL
from concordance.model import KINDS, Kind, Op, Trust, unpacked

from .world import Loaded, World

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
_FUNCTION = 1 << 32  # marks a function's form: nothing else has one
_MEMBER, _ITEM, _LOOKUP = int(Op.MEMBER), int(Op.ITEM), int(Op.LOOKUP)


class Group(NamedTuple):
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


class Sight(NamedTuple):
    """What a name was found to be."""

    entry: Entry
    by: str
    trust: Trust  # at best


# What is defined outside of its class: its code, where it stands, what is written before its name, its name, its kind.
Outside = tuple[int, "Home", str, str, int]
# A type: its home and the arguments of its template; without a home, a parameter of a template: whose, and which.
Type = tuple[Any, ...]


class Entry:
    """One name in one home."""

    __slots__ = ("codes", "exact", "files", "groups", "home", "ids", "kind", "name")

    def __init__(self, home: Home, name: str, kind: int) -> None:
        self.home, self.name, self.kind = home, name, kind
        self.codes: list[int] = []
        self.exact: Sight | None = None  # that it was found in its home
        self.files = 0  # a bit for each file that it stands in, where they are many and were asked for
        self.groups: tuple[Group, ...] | None = None
        self.ids: dict[int, tuple[int, ...]] = {}  # by number of arguments, where all files mean the same by it

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
        self.ids.clear()

    def sight(self) -> Sight:
        """That a name was found where it was looked for."""
        if self.exact is None:
            self.exact = Sight(self, self.home.explained(), Trust.EXACT)
        return self.exact


class Home:
    """A namespace, class or enum."""

    __slots__ = (
        "around", "bases", "brought", "chains", "codes", "directives", "inner", "is_class", "members", "name",
        "other_names", "seen",
    )  # fmt: skip

    def __init__(self, name: str, around: Home | None, is_class: bool) -> None:
        self.name, self.around, self.is_class = name, around, is_class
        self.members: dict[str, Entry] = {}
        self.inner: dict[str, Home] = {}
        self.codes: list[int] = []  # of a class: the symbols that say what it is
        self.bases: list[Type] | None = None  # found when first asked for
        self.other_names: dict[str, Entry] = {}  # of namespaces
        self.directives: dict[int, list[int]] = {}  # `using namespace`: expressions by file
        self.brought: dict[str, list[tuple[int, int]]] = {}  # `using x::y`: by y
        self.chains: dict[str, tuple[Entry, ...]] = {}  # of a namespace: what names mean from here outward
        self.seen: dict[str, tuple[Entry, Type] | None] = {}  # members of its bases, where they were asked for

    def forget(self) -> None:
        """Forgets what was found out by names."""
        self.bases = None
        self.chains.clear()
        self.seen.clear()

    def opened(self, name: str, is_class: bool) -> Home:
        """The home of a name in this one."""
        found = self.inner.get(name)
        if found is None:
            found = self.inner[name] = Home(name, self, is_class)
        elif is_class:
            found.is_class = True
        return found

    def member(self, name: str) -> Entry | None:
        """What a name means in here; a class's own name means the class, not its constructors."""
        found = self.members.get(name)
        if found is not None and name == self.name and found.kind in FUNCTIONS and self.around is not None:
            return self.around.members.get(name, found)
        return found

    def explained(self) -> str:
        """Why something was found: because it is in here."""
        parts = []
        home: Home | None = self
        while home is not None and home.around is not None:
            parts.append(home.name)
            home = home.around
        path = "::".join(reversed(parts))
        return f"class {path}" if self.is_class else f"namespace {path}" if path else "file scope"


class Table:
    """All homes."""

    def __init__(self, world: World, numbers: Iterable[int], headers: set[int]) -> None:
        """`headers` are the files that others include."""
        self.world, self.headers = world, headers
        self.root = Home("", None, False)
        self.standard = self.root.opened("std", False)  # what is in it is the compiler's, whatever files add to it
        self.macros: dict[str, Entry] = {}
        self.by_name: dict[str, list[Entry]] = {}
        self._others: set[str] = set()  # names of other things
        self.homes: dict[int, list[Home | None]] = {}  # by file: of its symbols, plus one; the first is the root
        self.own: dict[int, Home] = {}  # of a function: what it declares for itself
        self.inside: dict[int, Home] = {}  # of a function that is defined outside of its class: the class
        self.entered: dict[int, list[Entry]] = {}  # by file: what it has a part in
        self._into: list[Entry] = []  # … that of the file at hand
        self.filled: list[Entry | Home] = []  # what answers were kept at
        outside: list[Outside] = []
        for number in numbers:
            self.enter(world.load(number), outside)
        self.enter_outside(outside)
        for number in self.homes:
            self.using(world.load(number))

    def is_word(self, name: str) -> bool:
        """Whether anything is called so."""
        return name in self.by_name or name in self.macros or name in self._others

    def forget(self) -> None:
        """Forgets all answers that were kept at homes and entries."""
        for one in self.filled:
            one.forget()
        self.filled.clear()

    def remove(self, entry: Entry) -> None:
        """Takes out an entry that no symbol is left of."""
        home, name = entry.home, entry.name
        for some in (self.macros, home.members, home.other_names):
            if some.get(name) is entry:
                del some[name]
        carriers = self.by_name.get(name, [])
        if entry in carriers:
            carriers.remove(entry)
            if not carriers:
                del self.by_name[name]

    def kind(self, code: int) -> int:
        """The kind of a symbol."""
        return self.world.load(code >> SHIFT).symbol_kind[code & MASK]

    def enter_outside(self, rows: Iterable[Outside]) -> None:
        """Enters what is defined outside of its class, when all classes are known."""
        known: dict[tuple[int, str], Home] = {}
        for code, home, within, name, kind in rows:
            key = (id(home), within)
            found = known.get(key)
            if found is None:
                found = known[key] = self._qualified(home, within)
            self.inside[code] = found
            self._into = self.entered[code >> SHIFT]
            self._add(found, name, kind, code)

    def enter(self, file: Loaded, outside: list[Outside]) -> None:
        """Enters what a file declares; what it defines outside of its class waits in `outside`."""
        self._into = self.entered[file.number] = []
        flow, names = file.flow, file.names
        root = self.root
        homes: list[Home | None] = [root]
        self.homes[file.number] = homes
        first = file.number << SHIFT
        within = unpacked(flow.symbol_within)
        holding = set(file.symbol_parent)
        rows = zip(flow.symbol_kind, file.symbol_name, file.symbol_parent, flow.symbol_flags, within, strict=True)
        for place, (kind, named, parent, flags, inside) in enumerate(rows):
            name = names[named]
            home = homes[parent]
            opens: Home | None = None
            if kind == MACRO:
                entry = self.macros.get(name)
                if entry is None:
                    entry = self.macros[name] = Entry(root, name, MACRO)
                entry.codes.append(first | place)
                self._into.append(entry)
            elif home is None:  # inside of a function
                around = self.own.get(first | parent - 1)
                if around is None:
                    around = self.own[first | parent - 1] = Home("", self._around(homes, file, parent), False)
                self._add(around, name, OTHER_NAME if flags & ALIAS else kind, first | place, False)
                if kind in OPENS and not flags & ALIAS:
                    opens = around.opened(name, True)
                    opens.codes.append(first | place)
            elif kind == NAMESPACE and not flags & ALIAS:
                opens = self._namespace(home, name, flags, first | place)
            else:
                if flags & FRIEND:
                    while home.is_class and home.around is not None:
                        home = home.around
                if inside and kind not in OPENS:
                    outside.append((first | place, home, names[inside - 1], name, kind))
                else:
                    if inside:
                        home = self._qualified(home, names[inside - 1])
                    if flags & ALIAS:
                        self._other_name(home, name, first | place)
                    else:
                        self._add(home, name, kind, first | place)
                    if kind in OPENS and not flags & ALIAS:
                        opens = home.opened(name, True)
                        opens.codes.append(first | place)
                    elif kind == ENUMERATOR and home.around is not None and not self._scoped(flow.symbol_flags, parent):
                        self._add(home.around, name, kind, first | place)
                    elif kind not in FUNCTIONS and place + 1 in holding:
                        opens = home.opened(name, True)  # its type has no name of its own
            homes.append(opens)

    @staticmethod
    def _scoped(flags: bytes, parent: int) -> bool:
        return bool(parent and flags[parent - 1] & SCOPED)

    def _around(self, homes: list[Home | None], file: Loaded, parent: int) -> Home:
        """The home around a function's own type."""
        while parent and homes[parent] is None:
            parent = file.symbol_parent[parent - 1]
        return homes[parent] or self.root

    def _namespace(self, home: Home, name: str, flags: int, code: int) -> Home | None:
        if name == "(anonymous)":
            return home
        for part in name.split("::"):
            self._add(home, part, NAMESPACE, code)
            if flags & INLINE:
                home.inner.setdefault(part, home)
            home = home.opened(part, False)
        return home

    def _other_name(self, home: Home, name: str, code: int) -> None:
        """`namespace a = b;`, which another file may well use for a namespace of its own."""
        entry = home.other_names.get(name)
        if entry is None:
            entry = home.other_names[name] = Entry(home, name, OTHER_NAME)
            self._others.add(name)
        entry.codes.append(code)
        self._into.append(entry)

    def _add(self, home: Home, name: str, kind: int, code: int, known: bool = True) -> None:
        entry = home.members.get(name)
        if entry is None:
            entry = home.members[name] = Entry(home, name, kind)
            if known and home is not self.standard:
                self.by_name.setdefault(name, []).append(entry)
        elif entry.kind not in OPENS and (kind in CLASSES or kind == NAMESPACE):
            entry.kind = kind  # a class and its constructor function or typedef of the same name
        entry.codes.append(code)
        self._into.append(entry)

    def _qualified(self, home: Home, within: str) -> Home:
        """The home that `A::B::` means in front of a definition; made up where no file shows it."""
        parts = within.split("::")
        at: Home | None = home
        while at is not None:
            found: Home | None = at
            for part in parts:
                found = found.inner.get(part) if found is not None else None
            if found is not None:
                return found
            at = at.around
        for part in parts:
            home = home.opened(part, True)
        return home

    def using(self, file: Loaded) -> None:
        """What `using` in namespaces and classes brings, for all who see this file."""
        names = file.names
        directive = names.index("using namespace") if "using namespace" in names else -1
        declaration = names.index("using") if "using" in names else -1
        if directive < 0 and declaration < 0:
            return
        kinds, homes = file.flow.scope_kind, self.homes[file.number]
        for variable, (scope, name) in enumerate(zip(file.variable_scope, file.variable_name, strict=True)):
            if name in (directive, declaration) and (not scope or kinds[scope] in ("namespace", "class")):
                home = homes[file.scope_symbol[scope]]
                for value in file.values[variable] if home is not None else ():
                    if name == directive:
                        home.directives.setdefault(file.number, []).append(value)  # type: ignore[union-attr]
                    elif not _constructors(file, value):
                        last = last_name(file, value)
                        home.brought.setdefault(last, []).append((file.number, value))  # type: ignore[union-attr]

    def groups(self, entry: Entry) -> tuple[Group, ...]:
        """The entities behind a name."""
        if entry.groups is None:
            entry.groups = self._groups(entry)
            self.filled.append(entry)
        return entry.groups

    def holder(self, code: int) -> Home | None:
        """The home of a symbol."""
        file = self.world.load(code >> SHIFT)
        parent = file.symbol_parent[code & MASK]
        found = self.inside.get(code) or self.homes[file.number][parent]
        return found or self.own.get((code & ~MASK) | parent - 1)

    def _groups(self, entry: Entry) -> tuple[Group, ...]:
        load = self.world.load
        made: dict[tuple[int, int], list[tuple[int, int, int]]] = {}  # codes with how many arguments, by form and file
        for code in entry.codes:
            file, place = load(code >> SHIFT), code & MASK
            flags = file.flow.symbol_flags[place]
            kind = file.symbol_kind[place]
            alone = file.number if flags & LOCAL or kind == MACRO else -1
            form = arity = 0
            if kind in FUNCTIONS:
                form, arity = file.form[place] | _FUNCTION, file.arity[place]
            made.setdefault((form, alone), []).append((2 if flags & DECLARES else bool(flags & SPECIAL), code, arity))
        if len(made) > 1:
            _join(made)
        headers = self.headers
        return tuple([_group(rows, form, -1 if alone in headers else alone) for (form, alone), rows in made.items()])


def _join(made: dict[tuple[int, int], list[tuple[int, int, int]]]) -> None:
    """Joins a declaration with the only definition that takes as many arguments and has no other declaration."""
    declared = [key for key, rows in made.items() if all(row[0] == 2 for row in rows)]
    defined = [key for key, rows in made.items() if all(row[0] < 2 for row in rows)]
    for key in declared:
        most = made[key][0][2] >> 8
        same = [other for other in defined if made[other][0][2] >> 8 == most and other[1] == key[1]]
        rivals = [other for other in declared if other in made and made[other][0][2] >> 8 == most]
        if len(same) == 1 and len(rivals) == 1:
            made[key] += made.pop(same[0])
            defined.remove(same[0])


def _group(rows: list[tuple[int, int, int]], form: int, alone: int) -> Group:
    rows.sort()
    return Group(
        tuple([code for _, code, _ in rows]), sum([rank < 2 for rank, _, _ in rows]),
        min([arity & 255 for _, _, arity in rows]), max([arity >> 8 for _, _, arity in rows]), alone,
        rows[0][0] == 1, form,
    )  # fmt: skip


def _constructors(file: Loaded, value: int) -> bool:
    """Whether `using A::A` is meant, which brings in no name."""
    if file.op[value] != _MEMBER:
        return False
    left = file.left[value]
    if file.op[left] == _ITEM:
        left = file.left[left]
    return file.op[left] in (_MEMBER, _LOOKUP) and last_name(file, left) == last_name(file, value)


def last_name(file: Loaded, value: int) -> str:
    """The name that an expression ends in."""
    return file.names[file.right[value] if file.op[value] == _MEMBER else file.left[value]]
