"""Every namespace and class of a repository's C-family files, with its members from all files.

In: the files' flows. Out: a `SymbolTable`: `CScope`s (namespaces, classes, enums; the root is the global namespace),
each with the `ScopeMember`s of its names. A namespace that is opened in a hundred files is one scope; a member that is
defined outside its class belongs to that class. How the symbols of a member relate to one another (a declaration and
its definition, overloads, the same name in two programs) is computed on first use.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Op, unpack_column
from concordance.extract.cfamily.symbol_flags import ALIAS, DECLARES, FRIEND, INLINE, LOCAL, SCOPED, SPECIAL
from concordance.link.cfamily.scopes import (
    CLASSES,
    ENUMERATOR,
    FUNCTIONS,
    MACRO,
    MASK,
    NAMESPACE,
    NAMESPACE_ALIAS,
    SCOPE_KINDS,
    SHIFT,
    CScope,
    Entity,
    ScopeMember,
)
from concordance.link.world import LinkWorld, LoadedFlow

_USING = frozenset(("using namespace", "using"))
_FUNCTION = 1 << 32  # marks a function's form; nothing else has one
_MEMBER, _ITEM, _LOOKUP = int(Op.MEMBER), int(Op.ITEM), int(Op.LOOKUP)
# A definition outside its class: its code, the scope it is in, the qualifier before its name, its name, its kind.
OutOfClassDefinition = tuple[int, CScope, str, str, int]


class SymbolTable:
    """All scopes of the C family."""

    def __init__(self, world: LinkWorld, numbers: Iterable[int], headers: set[int]) -> None:
        """`headers` are the files that others include."""
        self.world, self.headers = world, headers
        self.root = CScope("", None, False)
        self.standard = self.root.opened("std", False)  # belongs to the compiler, whatever files add to it
        self.macros = Macros(self.root, self._file)
        self._settled = False  # True once all files have been entered
        self._carriers: dict[str, ScopeMember | list[ScopeMember]] = {}
        self._others: set[str] = set()  # names of namespace aliases
        # by file: the scope that each symbol opens, by index plus one; the first is the root
        self.homes: dict[int, list[CScope | None]] = {}
        self.own: dict[int, CScope] = {}  # of a function: its local declarations
        self.inside: dict[int, CScope] = {}  # of a function that is defined outside its class: the class
        self.entered: dict[int, list[ScopeMember]] = {}  # by file: the members it contributes to
        self._into: list[ScopeMember] = []  # the same for the file being entered
        self.filled: list[ScopeMember | CScope] = []  # scopes and members with cached answers
        outside: list[OutOfClassDefinition] = []
        brings: list[int] = []
        for number in numbers:
            file = world.load(number)
            self.enter(file, outside)
            if not _USING.isdisjoint(file.names):
                brings.append(number)
            if world.exceeds_memory_limit:
                world.unload(C_FAMILY)
        self.enter_outside(outside)
        self.macros.settle()
        self._settled = True
        for number in brings:
            self.using(world.load(number))

    def _file(self, number: int) -> LoadedFlow:
        """Return a file of the current world."""
        return self.world.load(number)

    def is_word(self, name: str) -> bool:
        """True if anything in the repository has this name."""
        return name in self._carriers or name in self._others or self.macros.get(name) is not None

    def carriers(self, name: str) -> list[ScopeMember]:
        """Return the members that have a name, without macros."""
        found = self._carriers.get(name)
        return [] if found is None else found if isinstance(found, list) else [found]

    def put_carriers(self, name: str, entries: list[ScopeMember]) -> None:
        """Replace the members that have a name, or their order."""
        if entries:
            self._carriers[name] = entries if len(entries) > 1 else entries[0]
        else:
            self._carriers.pop(name, None)

    def forget(self) -> None:
        """Drop all answers that are cached in scopes and members."""
        for one in self.filled:
            one.forget()
        self.filled.clear()

    def remove(self, entry: ScopeMember) -> None:
        """Remove a member that has no symbols left."""
        home, name = entry.home, entry.name
        for some in (home.members, home.other_names):
            if some.get(name) is entry:
                del some[name]
        self.put_carriers(name, [one for one in self.carriers(name) if one is not entry])

    def kind(self, code: int) -> int:
        """Return the kind of a symbol."""
        return self.world.load(code >> SHIFT).symbol_kind[code & MASK]

    def enter_outside(self, rows: Iterable[OutOfClassDefinition]) -> None:
        """Enter what is defined outside its class, once all classes are known."""
        known: dict[tuple[int, str], CScope] = {}
        for code, home, within, name, kind in rows:
            key = (id(home), within)
            found = known.get(key)
            if found is None:
                found = known[key] = self._qualified(home, within)
            self.inside[code] = found
            self._into = self.entered[code >> SHIFT]
            self._add(found, name, kind, code)

    def enter(self, file: LoadedFlow, outside: list[OutOfClassDefinition]) -> None:
        """Enter a file's declarations; definitions outside their class are collected in `outside`."""
        self._into = self.entered[file.number] = []
        flow, names = file.flow, file.names
        root = self.root
        homes: list[CScope | None] = [root]
        self.homes[file.number] = homes
        first = file.number << SHIFT
        within = unpack_column(flow.symbol_within)
        holding = set(file.symbol_parent)
        rows = zip(flow.symbol_kind, file.symbol_name, file.symbol_parent, flow.symbol_flags, within, strict=True)
        for place, (kind, named, parent, flags, inside) in enumerate(rows):
            name = names[named]
            home = homes[parent]
            opens: CScope | None = None
            if kind == MACRO:
                if self._settled:
                    self._into.append(self.macros.add(name, first | place))
                else:
                    self.macros.enter(name, first | place)
            elif home is None:  # inside a function
                around = self.own.get(first | parent - 1)
                if around is None:
                    around = self.own[first | parent - 1] = CScope("", self._around(homes, file, parent), False)
                self._add(around, name, NAMESPACE_ALIAS if flags & ALIAS else kind, first | place, False)
                if kind in SCOPE_KINDS and not flags & ALIAS:
                    opens = around.opened(name, True)
                    opens.codes.append(first | place)
            elif kind == NAMESPACE and not flags & ALIAS:
                opens = self._namespace(home, name, flags, first | place)
            else:
                if flags & FRIEND:
                    while home.is_class and home.around is not None:
                        home = home.around
                if inside and kind not in SCOPE_KINDS:
                    outside.append((first | place, home, names[inside - 1], name, kind))
                else:
                    if inside:
                        home = self._qualified(home, names[inside - 1])
                    if flags & ALIAS:
                        self._other_name(home, name, first | place)
                    else:
                        self._add(home, name, kind, first | place)
                    if kind in SCOPE_KINDS and not flags & ALIAS:
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

    def _around(self, homes: list[CScope | None], file: LoadedFlow, parent: int) -> CScope:
        """Return the scope around a function's local type."""
        while parent and homes[parent] is None:
            parent = file.symbol_parent[parent - 1]
        return homes[parent] or self.root

    def _namespace(self, home: CScope, name: str, flags: int, code: int) -> CScope | None:
        if name == "(anonymous)":
            return home
        for part in name.split("::"):
            self._add(home, part, NAMESPACE, code)
            if flags & INLINE and part not in home.inner:
                home.open(part, home)
            home = home.opened(part, False)
        return home

    def _other_name(self, home: CScope, name: str, code: int) -> None:
        """Enter `namespace a = b;`, kept apart because another file may use the name for a namespace of its own."""
        entry = home.other_names.get(name)
        if entry is None:
            entry = ScopeMember(home, name, NAMESPACE_ALIAS)
            home.rename(name, entry)
            self._others.add(name)
        entry.add(code)
        self._into.append(entry)

    def _add(self, home: CScope, name: str, kind: int, code: int, known: bool = True) -> None:
        entry = home.members.get(name)
        if entry is None:
            entry = home.members[name] = ScopeMember(home, name, kind)
            if known and home is not self.standard:
                others = self._carriers.setdefault(name, entry)
                if isinstance(others, list):
                    others.append(entry)
                elif others is not entry:
                    self._carriers[name] = [others, entry]
        elif entry.kind not in SCOPE_KINDS and (kind in CLASSES or kind == NAMESPACE):
            entry.kind = kind  # a class and its constructor function or typedef of the same name
        entry.add(code)
        self._into.append(entry)

    def _qualified(self, home: CScope, within: str) -> CScope:
        """Return the scope that `A::B::` before a definition refers to; created if no file declares it."""
        parts = within.split("::")
        at: CScope | None = home
        while at is not None:
            found: CScope | None = at
            for part in parts:
                found = found.inner.get(part) if found is not None else None
            if found is not None:
                return found
            at = at.around
        for part in parts:
            home = home.opened(part, True)
        return home

    def using(self, file: LoadedFlow) -> None:
        """Enter what `using` in namespaces and classes brings in, for all files that see this one."""
        directive, declaration = (file.name_index.get(word, -1) for word in ("using namespace", "using"))
        kinds, homes = file.flow.scope_kind, self.homes[file.number]
        for variable, (scope, name) in enumerate(zip(file.variable_scope, file.variable_name, strict=True)):
            if name in (directive, declaration) and (not scope or kinds[scope] in ("namespace", "class")):
                home = homes[file.scope_symbol[scope]]
                if home is None:
                    continue
                for value in file.values[variable]:
                    if name == directive:
                        home.direct(file.number, value)
                    elif not _constructors(file, value):
                        home.bring(last_name(file, value), file.number, value)

    def groups(self, entry: ScopeMember) -> tuple[Entity, ...]:
        """Return the entities behind a name."""
        if entry.groups is None:
            entry.groups = self._groups(entry)
            self.filled.append(entry)
        return entry.groups

    def holder(self, code: int) -> CScope | None:
        """Return the scope of a symbol."""
        file = self.world.load(code >> SHIFT)
        parent = file.symbol_parent[code & MASK]
        found = self.inside.get(code) or self.homes[file.number][parent]
        return found or self.own.get((code & ~MASK) | parent - 1)

    def _groups(self, entry: ScopeMember) -> tuple[Entity, ...]:
        load = self.world.load
        # codes with their numbers of arguments, by form and file
        made: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
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
    """Join a declaration with a definition if each is the only one with that number of arguments."""
    declared = [key for key, rows in made.items() if all(row[0] == 2 for row in rows)]
    defined = [key for key, rows in made.items() if all(row[0] < 2 for row in rows)]
    for key in declared:
        most = made[key][0][2] >> 8
        same = [other for other in defined if made[other][0][2] >> 8 == most and other[1] == key[1]]
        rivals = [other for other in declared if other in made and made[other][0][2] >> 8 == most]
        if len(same) == 1 and len(rivals) == 1:
            made[key] += made.pop(same[0])
            defined.remove(same[0])


def _group(rows: list[tuple[int, int, int]], form: int, alone: int) -> Entity:
    rows.sort()
    return Entity(
        tuple([code for _, code, _ in rows]), sum([rank < 2 for rank, _, _ in rows]),
        min([arity & 255 for _, _, arity in rows]), max([arity >> 8 for _, _, arity in rows]), alone,
        rows[0][0] == 1, form,
    )  # fmt: skip


def _constructors(file: LoadedFlow, value: int) -> bool:
    """True for `using A::A`, which inherits constructors and brings in no name."""
    if file.op[value] != _MEMBER:
        return False
    left = file.left[value]
    if file.op[left] == _ITEM:
        left = file.left[left]
    return file.op[left] in (_MEMBER, _LOOKUP) and last_name(file, left) == last_name(file, value)


def last_name(file: LoadedFlow, value: int) -> str:
    """Return the name that an expression ends in."""
    return file.names[file.right[value] if file.op[value] == _MEMBER else file.left[value]]


# --- the macros of a repository's C-family files, by name
# In: the place of each definition. Out: a macro's `ScopeMember`. Hardware drivers define millions of macros that are
# never used, so an object for each would take too much memory. Instead, each takes two numbers, found by the hash of
# its name, and only those that are looked up become objects. Most names that are looked up are not macros: a Bloom
# filter, with one bit for each hash, rejects them at once.


_SPARSE = 16  # bits for each macro: of other names, one in sixteen is searched in vain
_WORD = 1 << 64


class Macros:
    """All macros of the repository."""

    def __init__(self, root: CScope, load: Callable[[int], LoadedFlow]) -> None:
        """`load` returns a file by its number."""
        self._root, self._load = root, load
        self._hashes, self._codes = array("Q"), array("Q")  # of definitions; sorted once all are entered
        self._bits, self._mask = bytearray(1), 0
        self._made: dict[str, ScopeMember] = {}  # macros that were looked up, or that files read again define
        self._left: set[int] = set()  # files that were read again: their definitions are in `_made`

    def enter(self, name: str, code: int) -> None:
        """Add a definition while the table is being filled."""
        self._hashes.append(hash(name) % _WORD)
        self._codes.append(code)

    def settle(self) -> None:
        """Sort the definitions, once all are entered, so that they can be searched."""
        rows = sorted([one << 64 | code for one, code in zip(self._hashes, self._codes, strict=True)])
        for place, row in enumerate(rows):
            self._hashes[place], self._codes[place] = row >> 64, row % _WORD
        size = 1 << (_SPARSE * len(rows) // 8 + 1).bit_length()
        self._bits, self._mask = bytearray(size), size - 1
        for one in self._hashes:
            self._bits[one >> 3 & self._mask] |= 1 << (one & 7)

    def get(self, name: str) -> ScopeMember | None:
        """Return a macro, or None."""
        number = hash(name) % _WORD
        if not self._bits[number >> 3 & self._mask] >> (number & 7) & 1:
            return None
        found = self._made.get(name)
        codes = self._defined(name, number) if found is None else []
        if codes:
            found = self._made[name] = ScopeMember(self._root, name, MACRO)
            found.codes = codes if len(codes) > 1 else (codes[0],)
        return found

    def _defined(self, name: str, number: int) -> list[int]:
        """Return the definitions of a name, in the order of their files; another name may have the same hash."""
        found: list[int] = []
        place = bisect_left(self._hashes, number)
        while place < len(self._hashes) and self._hashes[place] == number:
            code = self._codes[place]
            if code >> SHIFT not in self._left:
                file = self._load(code >> SHIFT)
                if file.names[file.symbol_name[code & MASK]] == name:
                    found.append(code)
            place += 1
        return found

    def add(self, name: str, code: int) -> ScopeMember:
        """Add a definition from a file that was read again."""
        found = self.get(name)
        if found is None:
            found = self._made[name] = ScopeMember(self._root, name, MACRO)
            number = hash(name) % _WORD
            self._bits[number >> 3 & self._mask] |= 1 << (number & 7)
        found.add(code)
        return found

    def leave(self, number: int, names: Iterable[str]) -> list[ScopeMember]:
        """Remove a file's definitions, by their names; return the macros in use that other files also define."""
        self._left.add(number)
        left: list[ScopeMember] = []
        for name in names:
            made = self._made.get(name)
            if made is not None:
                made.codes = [code for code in made.codes if code >> SHIFT != number]
                if made.codes:
                    left.append(made)
                else:
                    del self._made[name]
        return left

    def forget(self) -> None:
        """Drop the objects that can be rebuilt."""
        if not self._left:
            self._made.clear()
