"""Links the names of C-family files: the targets of each expression, their trust, and the reason.

In: a file. Out: `NameTarget`s: for each expression, the definition first, then the declarations. If the language's
look-up leaves one entity, the link is exact; among overloads with the same number of arguments, or if only the name
matches, it is weaker. A member of a value of unknown type is a candidate if few classes have such a member.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from concordance.base.kinds import C_FAMILY
from concordance.base.model import MAX_CANDIDATES, ONLY_DEFINITION, Role, SymbolRelation, Trust, role_bit, unpack_column
from concordance.extract.cfamily.symbol_flags import DECLARES, VIRTUAL
from concordance.link.cfamily.expression_types import TYPES
from concordance.link.cfamily.include_graph import IncludeGraph
from concordance.link.cfamily.members import STANDARD_MEMBERS
from concordance.link.cfamily.resident_tables import CFamilyState, table_files, update_tables
from concordance.link.cfamily.resolver import ExpressionResolver
from concordance.link.cfamily.scopes import (
    CALL,
    FUNCTIONS,
    HOLDERS,
    LOOKUP,
    MACRO,
    MASK,
    MEMBER,
    METHOD,
    NAME,
    NAMESPACE,
    OF_TYPE,
    SHIFT,
    SYMBOL,
    Entity,
    FileScope,
    ResolvedName,
    ScopeMember,
)
from concordance.link.cfamily.symbol_table import SymbolTable
from concordance.link.language_linker import LanguageLinker
from concordance.link.paths.tree import shared_prefix_length
from concordance.link.world import LinkWorld, LoadedFlow, NameTarget

_LINKED_LATER = FUNCTIONS | HOLDERS  # what may be declared in one file and defined in another
_MAX_MEMBERS_EXAMINED = 12  # members of one name that are examined; most may be local to other files
_BY_COUNT = tuple(f"overload by {n} argument{'s' if n != 1 else ''}" for n in range(256))
_MAX_TARGETS = 4  # the most definitions and declarations that are listed for one name


_TYPE = role_bit(Role.TYPE)
_WORD = re.compile(r"\w+")


class CFamilyLinker(LanguageLinker):
    """The linker of C-family names."""

    def __init__(self, world: LinkWorld) -> None:
        super().__init__(world)
        numbers = [number for number, row in enumerate(world.files) if row.language in C_FAMILY and row.size]
        state = update_tables(world, *world.previous_c_tables) if world.previous_c_tables is not None else None
        world.previous_c_tables = None
        if state is None:
            world.prefetch_flows(C_FAMILY)
            includes = IncludeGraph.of(world, numbers)
            state = CFamilyState(table_files(world), SymbolTable(world, numbers, includes.headers), includes)
        self.state, self.table, self.includes = state, state.table, state.includes
        self.resolver = ExpressionResolver(world, self.table, self.includes)
        self._members_by_name: dict[str, tuple[list[ScopeMember], list[ScopeMember]]] = {}
        self._ids = [row.ids.ids for row in world.files]
        self._visible = -1, 0  # the file that `_is_needed` was last asked about, and the files that it sees, as bits

    def resolve_file(self, file: LoadedFlow) -> list[NameTarget]:
        """Return the targets of a file's expressions; for each expression, the best first."""
        view = self.resolver.view(file.number)
        used = set(unpack_column(file.flow.used))
        at = file.op.find(SYMBOL)
        while at >= 0:
            used.add(at)
            at = file.op.find(SYMBOL, at + 1)
        rows: list[NameTarget] = []
        op, left, right = file.op, file.left, file.right
        macro_arguments = _macro_arguments(file)
        named = self.resolver.named
        has_name = self.table.has_name
        foreign = [not has_name(name) for name in file.names]  # nothing in the repository has this name
        for use in sorted(used):
            kind = op[use]
            if kind == SYMBOL:
                self._declaration(view, use, left[use], rows)
                continue
            count = -1
            at = use
            if kind == CALL:
                count, at = right[use] - 1, left[use]
                kind = op[at]
            if (kind == LOOKUP and foreign[left[at]]) or (kind == MEMBER and foreign[right[at]]):
                continue
            resolved = named(view, at)
            if resolved is None:
                self._link_unscoped(view, use, at, count, rows)
                continue
            entry, by, trust = resolved
            if use in macro_arguments and entry.kind in FUNCTIONS:
                continue
            ids = entry.ids.get(count)
            if ids is None:
                ids = self._targets_for_all_files(entry, count)
                entry.cache_ids(count, ids)
                self.table.with_caches.append(entry)
            if not ids:
                self._choose(view, use, at, resolved, count, rows)
                continue
            if len(ids) < len(entry.codes) and count >= 0 and entry.kind in FUNCTIONS:
                by = _BY_COUNT[min(count, len(_BY_COUNT) - 1)]
            rows += [NameTarget(use, target, trust, by) for target in ids]
        return rows

    def release(self, file: LoadedFlow) -> None:
        """Drop what is rarely needed once a file is linked: the file if it is never included, and everything that was
        unpacked and computed if that is too much."""
        self.resolver.drop_file(file.number)
        if self.world.exceeds_memory_limit:
            self.resolver.views.clear()
            self.table.clear_caches()
            self.table.macros.clear_cache()
            self._members_by_name.clear()
            self.world.unload(C_FAMILY)

    def included(self, number: int) -> list[int]:
        """Return the numbers of the files that one includes, in order."""
        return self.includes.included[number]

    def needed(self, file: LoadedFlow, targets: set[int]) -> set[int]:
        """Return those targets of a file's names without whose files the file could not be compiled or linked."""
        return {target for target in targets if self._is_needed(file, target)}

    def _is_needed(self, file: LoadedFlow, target: int) -> bool:
        """True if a file that names a symbol needs the symbol's file.

        A namespace belongs to every file that opens it, and a forward declaration stands in for a type that is defined
        elsewhere. Functions and variables can be defined in a file that is not included; anything else must be seen.
        """
        other, symbol = self.world.owner(target)
        if symbol < 0 or other.number == file.number or other.language not in C_FAMILY:
            return True
        kind, flags = other.symbol_kind[symbol], other.flow.symbol_flags[symbol]
        if kind == NAMESPACE or (kind in TYPES and flags & DECLARES):
            return False
        if self._visible[0] != file.number:
            self._visible = file.number, self.includes.visible_files(file.number)
        return kind in _LINKED_LATER or bool(self._visible[1] >> self.includes.bit_of[other.number] & 1)

    def bases(self, file: LoadedFlow, symbol: int) -> Sequence[int]:
        """Return the ids of a class's bases that are in the repository; a forward declaration has none."""
        view = self.resolver.view(file.number)
        scope = view.symbol_scopes[symbol + 1] if symbol >= 0 else None
        if scope is None:
            return []
        # Only those that this definition states: one of the same name in another file may be a class of its own.
        stated = [
            self.resolver.type_named(view, value) for value in file.related_expressions(symbol, SymbolRelation.BASE)
        ]
        above = dict.fromkeys(base[0] for base in stated if base is not None and base[0] is not scope)
        return [self._id(self._definition(base.codes)) for base in above if base is not None and base.codes]

    def _flags(self, code: int) -> int:
        return self.world.load(code >> SHIFT).flow.symbol_flags[code & MASK]

    def _definition(self, codes: Sequence[int]) -> int:
        """Return the symbol that defines something, or else the first that declares it."""
        return next((code for code in codes if not self._flags(code) & DECLARES), codes[0])

    def overrides(self, file: LoadedFlow) -> Iterator[tuple[int, int, int]]:
        """Yield the methods of a file that override a virtual method of a base with the same parameters."""
        first = file.number << SHIFT
        scopes = self.table.symbol_scopes.get(file.number, [])
        for symbol, kind in enumerate(file.symbol_kind):
            if kind != METHOD:
                continue
            code = first | symbol
            scope = self.table.out_of_class_scopes.get(code) or scopes[file.symbol_parent[symbol]]
            name = file.names[file.symbol_name[symbol]]
            inherited = self.resolver.inherited(scope, name) if scope is not None and scope.is_class else None
            if inherited is None or scope is None:
                continue
            own = next((g for g in self.table.groups(scope.members[name]) if code in g.codes), None)
            above = self._overridden(own, inherited[0]) if own is not None else None
            if above is not None:
                yield self._id(code), self._id(above), int(Trust.EXACT)

    def _overridden(self, method: Entity, above: ScopeMember) -> int | None:
        """Return the method of a base that another overrides, as it is declared in the base."""
        groups = [g for g in self.table.groups(above) if g.form == method.form]
        if not groups:  # the same types may be spelt differently
            groups = [g for g in self.table.groups(above) if g.callable and g.most == method.most]
        if len(groups) != 1 or not any(self._flags(code) & VIRTUAL for code in (*method.codes, *groups[0].codes)):
            return None
        return next(
            (code for code in groups[0].codes if code not in self.table.out_of_class_scopes), groups[0].codes[0]
        )

    def _id(self, code: int) -> int:
        return self._ids[code >> SHIFT][code & MASK]

    def _add_targets(self, use: int, codes: Sequence[int], trust: Trust, by: str, rows: list[NameTarget]) -> None:
        rows += [NameTarget(use, self._id(code), trust, by) for code in codes[:_MAX_TARGETS]]

    def _declaration(self, view: FileScope, use: int, symbol: int, rows: list[NameTarget]) -> None:
        """Link a definition with its declarations, and the other way round."""
        file = view.file
        code = view.number << SHIFT | symbol
        # symbols inside functions have only one declaration
        scope = self.table.out_of_class_scopes.get(code) or view.symbol_scopes[file.symbol_parent[symbol]]
        entry = scope.members.get(view.names[file.symbol_name[symbol]]) if scope is not None else None
        if entry is None or len(entry.codes) < 2 or entry.kind == NAMESPACE:
            return
        for group in self.table.groups(entry):
            if len(group.codes) > 1 and code in group.codes:
                first = self._order_definitions(view, group)
                codes = [*first, *(other for other in group.codes if other not in first)]
                self._add_targets(use, codes, Trust.EXACT, "declaration", rows)

    def _targets_for_all_files(self, entry: ScopeMember, count: int) -> tuple[int, ...]:
        """Return the targets that a name with that many arguments has in every file, best first; () if files differ."""
        codes: Sequence[int] = entry.codes
        if len(codes) > 1:
            if entry.kind == NAMESPACE:
                return ()
            groups = self.resolver.overloads_by_count(self.table.groups(entry), count)
            if len(groups) != 1 or groups[0].defined > 1 or any(g.local >= 0 for g in self.table.groups(entry)):
                return ()
            codes = groups[0].codes
            if entry.kind in TYPES and groups[0].defined:
                codes = codes[:1]  # a forward declaration is not what a name refers to
            else:
                declaring = {code >> SHIFT for code in codes[groups[0].defined :]}
                if len(declaring) > 1 or not declaring <= self.includes.headers or self._is_in_class(codes[0]):
                    return ()  # which of them a file means depends on what it includes
        return tuple(map(self._id, codes[:_MAX_TARGETS]))

    def _choose(
        self, view: FileScope, use: int, at: int, resolved: ResolvedName, count: int, rows: list[NameTarget]
    ) -> None:
        """Choose among the entities that a name may refer to."""
        entry, by, trust = resolved
        codes = entry.codes
        if entry.kind == NAMESPACE:
            # Files were entered in the order of their numbers: take this one, or else the first one it includes.
            seen = view.visible & entry.files_in(view).bits
            number = view.number if entry.is_in(view) else self.includes.first_of(seen) if seen else 0
            self._add_targets(use, (codes[bisect_left(codes, number << SHIFT)],), trust, by, rows)
            return
        groups = self.resolver.matching_overloads(view, entry, count)
        if len(groups) == 1:
            group = groups[0]
            if count >= 0 and entry.kind in FUNCTIONS and len(self.table.groups(entry)) > 1:
                by = _BY_COUNT[min(count, len(_BY_COUNT) - 1)]
            self._add_targets(use, self._order_definitions(view, group), trust, by, rows)
            return
        if entry.kind == MACRO:
            here = [g for g in groups if any(code >> SHIFT == view.number for code in g.codes)]
            if len(here) == 1:
                self._add_targets(use, here[0].codes, trust, by, rows)
                return
        pair = len({g.form >> 1 for g in groups}) == 1
        if pair and view.op[at] == MEMBER:
            const = self.resolver.is_const(view, view.left[at], entry.name)
            groups = [g for g in groups if g.form & 1 == const] or groups
            if len(groups) == 1:
                self._add_targets(use, self._order_definitions(view, groups[0]), trust, "overload by const", rows)
                return
        least = Trust.UNIQUE_NAME if pair else Trust.CANDIDATE
        for group in sorted(groups, key=lambda g: -g.defined)[:MAX_CANDIDATES]:
            self._add_targets(
                use,
                self._order_definitions(view, group)[:1],
                min(trust, least),
                f"one of {len(groups)} overloads",
                rows,
            )

    def _order_definitions(self, view: FileScope, group: Entity) -> Sequence[int]:
        """Return what a use of an entity refers to: its definitions, nearest first, then the declarations it can see.

        A definition in a file that is not included is meant only if no other is visible: two programs, or two files
        with a type of their own, may use one name. If there are several, the one beside the declaration is meant, or
        else only the declaration is certain. A type is never its forward declarations if it is defined.
        """
        codes = group.codes
        if len(codes) == 1:
            return codes
        definitions: Sequence[int] = codes[: group.defined]
        declarations = [code for code in codes[group.defined :] if view.can_see(code)]
        seen = [code for code in definitions if view.can_see(code)]
        if seen:
            seen.sort(key=lambda code: code >> SHIFT != view.number)
            return seen if self.table.kind(codes[0]) in TYPES else [*seen, *declarations]
        path, files = view.file.path, self.world.files
        definitions = [code for code in definitions if not (declarations and self._is_in_class(code))]
        if len(definitions) > 1 and declarations:
            stems = {_stem(files[code >> SHIFT].path) for code in declarations}
            beside = [code for code in definitions if _stem(files[code >> SHIFT].path) in stems]
            definitions = beside if len(beside) == 1 else []
        nearest = sorted(definitions, key=lambda code: -shared_prefix_length(path, files[code >> SHIFT].path))
        if nearest and self.table.kind(codes[0]) in TYPES:
            return nearest
        return [*nearest, *declarations] or codes

    def _is_in_class(self, code: int) -> bool:
        """True if a symbol is written inside a class, so that only files that see the class can refer to it."""
        if code in self.table.out_of_class_scopes:
            return False
        scope = self.table.scope_of(code)
        return scope is not None and scope.is_class

    def _link_unscoped(self, view: FileScope, use: int, at: int, count: int, rows: list[NameTarget]) -> None:
        """Link a name that no scope explains to what has the name, if few do.

        A plain name probably belongs to another library if no included file has it.
        """
        if view.op[at] == LOOKUP:
            name = view.names[view.left[at]]
            entries = (
                [entry for entry in self._members_named(name)[0] if entry.is_visible(view)] if name != "std" else []
            )
            self._link_by_name_only(view, use, at, entries, count, rows)
        elif view.op[at] == MEMBER:
            members = self._members_named(view.names[view.right[at]])[1]
            left = view.left[at]
            if not members or self.resolver.is_outside(view, left) or self.resolver.named(view, left) is not None:
                return
            if self._is_of_outside_type(view, left):
                return
            owner = self.resolver.owner(view, left)
            if owner is None or owner[0] is None:
                self._link_by_name_only(view, use, at, members, count, rows)

    def _is_of_outside_type(self, view: FileScope, expression: int) -> bool:
        """True if a variable is declared with a type that the repository does not define: `const std::string& name`,
        or an alias of one.

        A type with arguments may be a pointer to a type of the repository.
        """
        values = view.bindings[view.left[expression]] if view.op[expression] == NAME else ()
        types = [view.left[value] for value in values if view.op[value] == OF_TYPE]
        resolver = self.resolver
        return any(
            (view.op[type_] == MEMBER and resolver.is_outside(view, type_)) or resolver.is_outside_alias(view, type_)
            for type_ in types
        )

    def _members_named(self, name: str) -> tuple[list[ScopeMember], list[ScopeMember]]:
        """Return what has a name outside classes, and as a member; empty if too many do."""
        known = self._members_by_name.get(name)
        if known is None:
            entries = self.table.members_named(name)
            if len(entries) > _MAX_MEMBERS_EXAMINED:
                entries = []
            macro = self.table.macros.get(name)
            outer = [entry for entry in entries if not entry.scope.is_class]
            if macro is not None:
                outer.append(macro)
            known = self._members_by_name[name] = (outer, [entry for entry in entries if entry.scope.is_class])
        return known

    def _link_by_name_only(
        self, view: FileScope, use: int, at: int, entries: list[ScopeMember], count: int, rows: list[NameTarget]
    ) -> None:
        """Choose by the name alone: the only one that the file includes, or a few candidates."""
        if not entries:
            return
        resolver = self.resolver
        entries = [entry for entry in entries if not resolver.is_hidden(view, entry)]
        seen = [entry for entry in entries if entry.is_visible(view)]
        if len(seen) == 1:
            # A member of this name that only another file defines may just as well be meant, or one of a container.
            is_guess = view.op[at] == MEMBER and (len(entries) > 1 or seen[0].name in STANDARD_MEMBERS)
            by = ONLY_DEFINITION if len(entries) == 1 else "only one that is included"
            trust = Trust.CANDIDATE if is_guess else Trust.UNIQUE_NAME
            self._choose(view, use, at, ResolvedName(seen[0], by, trust), count, rows)
            return
        for entry in seen or entries if len(seen or entries) <= MAX_CANDIDATES else ():
            groups = resolver.matching_overloads(view, entry, count)
            self._add_targets(use, self._order_definitions(view, groups[0])[:1], Trust.CANDIDATE, "has this name", rows)


def _macro_arguments(file: LoadedFlow) -> set[int]:
    """Return the names in the head of what a macro defines, `META_FUNC(add) (…) {`, that are used nowhere else there.

    The grammar takes them for types. A type may be the fixture of a test; of a function, only the name is meant.
    """
    names = [file.names[name] for name in file.symbol_name]
    heads = {symbol + 1: set(_WORD.findall(name)) for symbol, name in enumerate(names) if name.endswith(")")}
    arguments: set[int] = set()
    other: set[int] = set()
    rows = zip(*map(unpack_column, (file.flow.user, file.flow.used, file.flow.roles)), strict=True) if heads else ()
    for user, used, roles in rows:
        is_named = file.op[used] == LOOKUP and file.names[file.left[used]] in heads.get(user, ())
        (arguments if roles == _TYPE and is_named else other).add(used)
    return arguments - other


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]
