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
        self.standard = self.root.inner_scope("std", False)  # belongs to the compiler, whatever files add to it
        self.macros = Macros(self.root, self._file)
        self._is_complete = False  # True once all files have been entered
        self._members_by_name: dict[str, ScopeMember | list[ScopeMember]] = {}
        self._alias_names: set[str] = set()  # names of namespace aliases
        # by file: the scope that each symbol opens, by index plus one; the first is the root
        self.symbol_scopes: dict[int, list[CScope | None]] = {}
        self.local_scopes: dict[int, CScope] = {}  # of a function: its local declarations
        self.out_of_class_scopes: dict[int, CScope] = {}  # of a function that is defined outside its class: the class
        self.members_of_file: dict[int, list[ScopeMember]] = {}  # by file: the members it contributes to
        self._current_members: list[ScopeMember] = []  # the same for the file being entered
        self.with_caches: list[ScopeMember | CScope] = []  # scopes and members with cached answers
        outside: list[OutOfClassDefinition] = []
        brings: list[int] = []
        for number in numbers:
            file = world.load(number)
            self.enter(file, outside)
            if not _USING.isdisjoint(file.names):
                brings.append(number)
            if world.exceeds_memory_limit:
                world.unload(C_FAMILY)
        self.enter_out_of_class(outside)
        self.macros.build_index()
        self._is_complete = True
        for number in brings:
            self.enter_using(world.load(number))
        if world.exceeds_memory_limit:
            world.unload(C_FAMILY)

    def _file(self, number: int) -> LoadedFlow:
        """Return a file of the current world."""
        return self.world.load(number)

    def has_name(self, name: str) -> bool:
        """True if anything in the repository has this name."""
        return name in self._members_by_name or name in self._alias_names or self.macros.get(name) is not None

    def members_named(self, name: str) -> list[ScopeMember]:
        """Return the members that have a name, without macros."""
        members = self._members_by_name.get(name)
        return [] if members is None else members if isinstance(members, list) else [members]

    def set_members_named(self, name: str, entries: list[ScopeMember]) -> None:
        """Replace the members that have a name, or their order."""
        if entries:
            self._members_by_name[name] = entries if len(entries) > 1 else entries[0]
        else:
            self._members_by_name.pop(name, None)

    def clear_caches(self) -> None:
        """Drop all answers that are cached in scopes and members."""
        for table in self.with_caches:
            table.clear_caches()
        self.with_caches.clear()

    def remove(self, entry: ScopeMember) -> None:
        """Remove a member that has no symbols left."""
        scope, name = entry.scope, entry.name
        for some in (scope.members, scope.aliases):
            if some.get(name) is entry:
                del some[name]
        self.set_members_named(name, [member for member in self.members_named(name) if member is not entry])

    def kind(self, code: int) -> int:
        """Return the kind of a symbol."""
        return self.world.load(code >> SHIFT).symbol_kind[code & MASK]

    def enter_out_of_class(self, rows: Iterable[OutOfClassDefinition]) -> None:
        """Enter what is defined outside its class, once all classes are known."""
        known: dict[tuple[int, str], CScope] = {}
        for code, scope, within, name, kind in rows:
            key = (id(scope), within)
            owner = known.get(key)
            if owner is None:
                owner = known[key] = self._qualified(scope, within)
            self.out_of_class_scopes[code] = owner
            self._current_members = self.members_of_file[code >> SHIFT]
            self._add(owner, name, kind, code)

    def enter(self, file: LoadedFlow, outside: list[OutOfClassDefinition]) -> None:
        """Enter a file's declarations; definitions outside their class are collected in `outside`."""
        self._current_members = self.members_of_file[file.number] = []
        flow, names = file.flow, file.names
        root = self.root
        symbol_scopes: list[CScope | None] = [root]
        self.symbol_scopes[file.number] = symbol_scopes
        first = file.number << SHIFT
        within = unpack_column(flow.symbol_within)
        parents = set(file.symbol_parent)
        rows = zip(flow.symbol_kind, file.symbol_name, file.symbol_parent, flow.symbol_flags, within, strict=True)
        for place, (kind, named, parent, flags, inside) in enumerate(rows):
            name = names[named]
            scope = symbol_scopes[parent]
            opens: CScope | None = None
            if kind == MACRO:
                if self._is_complete:
                    self._current_members.append(self.macros.add(name, first | place))
                else:
                    self.macros.enter(name, first | place)
            elif scope is None:  # inside a function
                local = self.local_scopes.get(first | parent - 1)
                if local is None:
                    local = self.local_scopes[first | parent - 1] = CScope(
                        "", self._enclosing_scope(symbol_scopes, file, parent), False
                    )
                self._add(local, name, NAMESPACE_ALIAS if flags & ALIAS else kind, first | place, False)
                if kind in SCOPE_KINDS and not flags & ALIAS:
                    opens = local.inner_scope(name, True)
                    opens.codes.append(first | place)
            elif kind == NAMESPACE and not flags & ALIAS:
                opens = self._namespace(scope, name, flags, first | place)
            else:
                if flags & FRIEND:
                    while scope.is_class and scope.parent is not None:
                        scope = scope.parent
                if inside and kind not in SCOPE_KINDS:
                    outside.append((first | place, scope, names[inside - 1], name, kind))
                else:
                    if inside:
                        scope = self._qualified(scope, names[inside - 1])
                    if flags & ALIAS:
                        self._enter_alias(scope, name, first | place)
                    else:
                        self._add(scope, name, kind, first | place)
                    if kind in SCOPE_KINDS and not flags & ALIAS:
                        opens = scope.inner_scope(name, True)
                        opens.codes.append(first | place)
                    elif (
                        kind == ENUMERATOR and scope.parent is not None and not self._scoped(flow.symbol_flags, parent)
                    ):
                        self._add(scope.parent, name, kind, first | place)
                    elif kind not in FUNCTIONS and place + 1 in parents:
                        opens = scope.inner_scope(name, True)  # its type has no name of its own
            symbol_scopes.append(opens)

    @staticmethod
    def _scoped(flags: bytes, parent: int) -> bool:
        return bool(parent and flags[parent - 1] & SCOPED)

    def _enclosing_scope(self, symbol_scopes: list[CScope | None], file: LoadedFlow, parent: int) -> CScope:
        """Return the scope around a function's local type."""
        while parent and symbol_scopes[parent] is None:
            parent = file.symbol_parent[parent - 1]
        return symbol_scopes[parent] or self.root

    def _namespace(self, scope: CScope, name: str, flags: int, code: int) -> CScope | None:
        if name == "(anonymous)":
            return scope
        for part in name.split("::"):
            self._add(scope, part, NAMESPACE, code)
            if flags & INLINE and part not in scope.inner_scopes:
                scope.set_inner_scope(part, scope)
            scope = scope.inner_scope(part, False)
        return scope

    def _enter_alias(self, scope: CScope, name: str, code: int) -> None:
        """Enter `namespace a = b;`, kept apart because another file may use the name for a namespace of its own."""
        entry = scope.aliases.get(name)
        if entry is None:
            entry = ScopeMember(scope, name, NAMESPACE_ALIAS)
            scope.add_alias(name, entry)
            self._alias_names.add(name)
        entry.add(code)
        self._current_members.append(entry)

    def _add(self, scope: CScope, name: str, kind: int, code: int, is_global: bool = True) -> None:
        entry = scope.members.get(name)
        if entry is None:
            others = self._members_by_name.get(name)
            if others is not None:  # share its text: the name of a field may belong to thousands of structures
                name = others[0].name if isinstance(others, list) else others.name
            entry = scope.members[name] = ScopeMember(scope, name, kind)
            if is_global and scope is not self.standard:
                if others is None:
                    self._members_by_name[name] = entry
                elif isinstance(others, list):
                    others.append(entry)
                else:
                    self._members_by_name[name] = [others, entry]
        elif entry.kind not in SCOPE_KINDS and (kind in CLASSES or kind == NAMESPACE):
            entry.kind = kind  # a class and its constructor function or typedef of the same name
        entry.add(code)
        self._current_members.append(entry)

    def _qualified(self, scope: CScope, within: str) -> CScope:
        """Return the scope that `A::B::` before a definition refers to; created if no file declares it."""
        parts = within.split("::")
        at: CScope | None = scope
        while at is not None:
            inner: CScope | None = at
            for part in parts:
                inner = inner.inner_scopes.get(part) if inner is not None else None
            if inner is not None:
                return inner
            at = at.parent
        for part in parts:
            scope = scope.inner_scope(part, True)
        return scope

    def enter_using(self, file: LoadedFlow) -> None:
        """Enter what `using` in namespaces and classes brings in, for all files that see this one."""
        directive, declaration = (file.name_index.get(word, -1) for word in ("using namespace", "using"))
        kinds, scopes = file.flow.scope_kind, self.symbol_scopes[file.number]
        for variable, (scope, name) in enumerate(zip(file.variable_scope, file.variable_name, strict=True)):
            if name in (directive, declaration) and (not scope or kinds[scope] in ("namespace", "class")):
                target = scopes[file.scope_symbol[scope]]
                if target is None:
                    continue
                for value in file.values[variable]:
                    if name == directive:
                        target.add_using_directive(file.number, value)
                    elif not _constructors(file, value):
                        target.add_using_declaration(last_name(file, value), file.number, value)

    def groups(self, entry: ScopeMember) -> tuple[Entity, ...]:
        """Return the entities behind a name."""
        if entry.groups is None:
            entry.groups = self._groups(entry)
            self.with_caches.append(entry)
        return entry.groups

    def scope_of(self, code: int) -> CScope | None:
        """Return the scope of a symbol."""
        file = self.world.load(code >> SHIFT)
        parent = file.symbol_parent[code & MASK]
        scope = self.out_of_class_scopes.get(code) or self.symbol_scopes[file.number][parent]
        return scope or self.local_scopes.get((code & ~MASK) | parent - 1)

    def _groups(self, entry: ScopeMember) -> tuple[Entity, ...]:
        load = self.world.load
        # codes with their numbers of arguments, by form and file
        by_form: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        for code in entry.codes:
            file, place = load(code >> SHIFT), code & MASK
            flags = file.flow.symbol_flags[place]
            kind = file.symbol_kind[place]
            alone = file.number if flags & LOCAL or kind == MACRO else -1
            form = arity = 0
            if kind in FUNCTIONS:
                form, arity = file.form[place] | _FUNCTION, file.arity[place]
            by_form.setdefault((form, alone), []).append(
                (2 if flags & DECLARES else bool(flags & SPECIAL), code, arity)
            )
        if len(by_form) > 1:
            _join(by_form)
        headers = self.headers
        return tuple([_group(rows, form, -1 if alone in headers else alone) for (form, alone), rows in by_form.items()])


def _join(by_form: dict[tuple[int, int], list[tuple[int, int, int]]]) -> None:
    """Join a declaration with a definition if each is the only one with that number of arguments."""
    declared = [key for key, rows in by_form.items() if all(row[0] == 2 for row in rows)]
    defined = [key for key, rows in by_form.items() if all(row[0] < 2 for row in rows)]
    for key in declared:
        most = by_form[key][0][2] >> 8
        same = [other for other in defined if by_form[other][0][2] >> 8 == most and other[1] == key[1]]
        rivals = [other for other in declared if other in by_form and by_form[other][0][2] >> 8 == most]
        if len(same) == 1 and len(rivals) == 1:
            by_form[key] += by_form.pop(same[0])
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


_BITS_PER_MACRO = 16  # bits for each macro: of other names, one in sixteen is searched in vain
_SHARE_BITS = 6  # upper bits of hashes by which macros are distributed before they are sorted, to save memory
_WORD = 1 << 64


class Macros:
    """All macros of the repository."""

    def __init__(self, root: CScope, load: Callable[[int], LoadedFlow]) -> None:
        """`load` returns a file by its number."""
        self._root, self._load = root, load
        self._hashes, self._codes = array("Q"), array("Q")  # of definitions; sorted once all are entered
        self._bits, self._mask = bytearray(1), 0
        self._members: dict[str, ScopeMember] = {}  # macros that were looked up, or that files read again define
        self._replaced_files: set[int] = set()  # files that were read again: their definitions are in `_members`

    def enter(self, name: str, code: int) -> None:
        """Add a definition while the table is being filled."""
        self._hashes.append(hash(name) % _WORD)
        self._codes.append(code)

    def build_index(self) -> None:
        """Sort the definitions, once all are entered, so that they can be searched."""
        hashes, codes = self._hashes, self._codes
        shares = [array("I") for _ in range(1 << _SHARE_BITS)]
        for place, number in enumerate(hashes):
            shares[number >> 64 - _SHARE_BITS].append(place)
        self._hashes, self._codes = array("Q"), array("Q")
        for share in shares:
            rows = sorted([hashes[place] << 64 | codes[place] for place in share])
            self._hashes.extend([row >> 64 for row in rows])
            self._codes.extend([row % _WORD for row in rows])
        size = 1 << (_BITS_PER_MACRO * len(hashes) // 8 + 1).bit_length()
        self._bits, self._mask = bytearray(size), size - 1
        for digest in self._hashes:
            self._bits[digest >> 3 & self._mask] |= 1 << (digest & 7)

    def get(self, name: str) -> ScopeMember | None:
        """Return a macro, or None."""
        number = hash(name) % _WORD
        if not self._bits[number >> 3 & self._mask] >> (number & 7) & 1:
            return None
        macro = self._members.get(name)
        codes = self._definitions(name, number) if macro is None else []
        if codes:
            macro = self._members[name] = ScopeMember(self._root, name, MACRO)
            macro.codes = codes if len(codes) > 1 else (codes[0],)
        return macro

    def _definitions(self, name: str, number: int) -> list[int]:
        """Return the definitions of a name, in the order of their files; another name may have the same hash."""
        definitions: list[int] = []
        place = bisect_left(self._hashes, number)
        while place < len(self._hashes) and self._hashes[place] == number:
            code = self._codes[place]
            if code >> SHIFT not in self._replaced_files:
                file = self._load(code >> SHIFT)
                if file.names[file.symbol_name[code & MASK]] == name:
                    definitions.append(code)
            place += 1
        return definitions

    def add(self, name: str, code: int) -> ScopeMember:
        """Add a definition from a file that was read again."""
        macro = self.get(name)
        if macro is None:
            macro = self._members[name] = ScopeMember(self._root, name, MACRO)
            number = hash(name) % _WORD
            self._bits[number >> 3 & self._mask] |= 1 << (number & 7)
        macro.add(code)
        return macro

    def remove_file(self, number: int, names: Iterable[str]) -> list[ScopeMember]:
        """Remove a file's definitions, by their names; return the macros in use that other files also define."""
        self._replaced_files.add(number)
        remaining: list[ScopeMember] = []
        for name in names:
            member = self._members.get(name)
            if member is not None:
                member.codes = [code for code in member.codes if code >> SHIFT != number]
                if member.codes:
                    remaining.append(member)
                else:
                    del self._members[name]
        return remaining

    def clear_cache(self) -> None:
        """Drop the objects that can be rebuilt."""
        if not self._replaced_files:
            self._members.clear()
