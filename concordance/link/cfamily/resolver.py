"""Resolve the names in C-family expressions.

In: a file's expressions and the table of all scopes. Out: for each expression, the `ScopeMember` it names. Names are
looked up as the language does: from their scope outward, in classes through their bases, in namespaces through `using`;
what a file includes takes precedence over what it does not. A macro is in every scope of the files that include it.
"""

from __future__ import annotations

from concordance.base.model import SymbolRelation, Trust
from concordance.link.cfamily.expression_types import TYPES, ExpressionTypes
from concordance.link.cfamily.include_graph import IncludeGraph
from concordance.link.cfamily.scopes import (
    ALIASED,
    CALL,
    ITEM,
    LOOKUP,
    MACRO,
    MASK,
    MEMBER,
    NAME,
    NAMED,
    NAMESPACE,
    NAMESPACE_ALIAS,
    NOMINATED,
    SHIFT,
    SYMBOL,
    CScope,
    FileScope,
    ResolvedName,
    ScopeMember,
    Start,
)
from concordance.link.cfamily.symbol_table import SymbolTable, last_name
from concordance.link.world import LinkWorld

_NAMESPACES = frozenset((NAMESPACE, NAMESPACE_ALIAS))
_QUALIFIERS = TYPES | _NAMESPACES
DEPENDS_ON_USING = ScopeMember(CScope("", None, False), "", NAMESPACE)
_ABSENT = ResolvedName(ScopeMember(CScope("", None, False), "", MACRO), "", Trust.CANDIDATE)
_NOT_INCLUDED = "in scope, but not included"


class ExpressionResolver(ExpressionTypes):
    """Resolves expressions to the members they name."""

    def __init__(self, world: LinkWorld, table: SymbolTable, reach: IncludeGraph) -> None:
        super().__init__(world, table, reach)
        self._shared: dict[CScope, list[int]] = {}
        self.work |= {NAMED: self._named, NOMINATED: self._find_nominated, ALIASED: self._aliased}

    def named(self, view: FileScope, expression: int) -> ResolvedName | None:
        """Return what an expression names."""
        found = view.named.get(expression, _ABSENT)
        if found is not _ABSENT:
            return found
        while view.op[expression] in (CALL, ITEM):
            expression = view.left[expression]
        return view.named[expression] if expression in view.named else self.solver.ask((NAMED, view, expression))

    def _named(self, view: FileScope, expression: int) -> ResolvedName | None:
        op, left = view.op[expression], view.left[expression]
        found: ResolvedName | None = None
        if op == LOOKUP:
            found = self._looked_up(view, view.names[left], view.right[expression])
        elif op == MEMBER:
            found = self._member(view, left, view.names[view.right[expression]])
        elif op == SYMBOL:
            found = self._symbol(view, left)
        elif op == NAME:
            for value in view.bound[left]:
                if view.op[value] == SYMBOL:
                    found = self._symbol(view, view.left[value])
        return found

    def _symbol(self, view: FileScope, symbol: int) -> ResolvedName | None:
        name = view.names[view.file.symbol_name[symbol]]
        if view.file.symbol_kind[symbol] == MACRO:
            macro = self.table.macros.get(name)
            return ResolvedName(macro, "macro", Trust.EXACT) if macro is not None else None
        home = self.table.holder(view.number << SHIFT | symbol)
        entry = home.members.get(name) if home is not None else None
        return ResolvedName(entry, "function scope", Trust.EXACT) if entry is not None else None

    # --- Look-up

    def start(self, view: FileScope, scope: int) -> Start:
        """Return the scope in which names are looked up first, and what `using` in functions adds to it."""
        found = view.starts.get(scope)
        if found is None:
            found = view.starts[scope] = self._start(view, scope)
        return found

    def _start(self, view: FileScope, scope: int) -> Start:
        file = view.file
        using: list[tuple[bool, int]] = []
        at = scope
        while True:
            symbol = file.scope_symbol[at]
            home = view.homes[symbol] if symbol or not at else None
            if home is None and symbol:
                home = self.table.inside.get(view.number << SHIFT | symbol - 1)
            if home is not None:
                return home, tuple(using)
            for word in ("using namespace", "using"):
                place = file.name_index.get(word)
                variable = file.variables.get((at, place)) if place is not None else None
                if variable is not None:
                    using += [(word == "using", value) for value in view.bound[variable]]
            at = file.scope_parent[at] - 1

    def _looked_up(self, view: FileScope, name: str, scope: int) -> ResolvedName | None:
        """Look up a name in a scope; a scope number plus the number of scopes restricts it to namespaces and types."""
        macro = self.table.macros.get(name)
        if macro is not None and macro.seen(view.sees):
            return ResolvedName(macro, "macro", Trust.EXACT)
        qualifies = scope >= view.scopes
        home, using = self.start(view, scope - view.scopes if qualifies else scope)
        if using or self._is_directed(view, home):
            return self._followed(view, name, home, using, qualifies)
        unseen: ScopeMember | None = None
        at: CScope | None = home
        while at is not None and at.is_class:
            found = self._in_home(view, at, name)
            if found is not None and not (qualifies and found.entry.kind not in _QUALIFIERS):
                return found
            at = at.around
        chain = at.chains.get(name) if at is not None else ()
        if chain is None and at is not None:
            chain = at.chains[name] = self._chain(at, name)
            self.table.filled.append(at)
        for entry in chain or ():
            if qualifies and entry.kind not in _QUALIFIERS:
                continue
            if entry is DEPENDS_ON_USING:
                return self._followed(view, name, home, using, qualifies)
            if entry.seen(view.sees):
                return entry.exact or entry.sight()
            if unseen is None and not self.hidden(view, entry):
                unseen = entry
        return ResolvedName(unseen, _NOT_INCLUDED, Trust.CANDIDATE) if unseen is not None else None

    def _chain(self, home: CScope, name: str) -> tuple[ScopeMember, ...]:
        """Return what a name can refer to from a namespace outward; a marker if visible `using`s decide."""
        found: list[ScopeMember] = []
        at: CScope | None = home
        while at is not None:
            if name in at.brought:
                return (DEPENDS_ON_USING,)
            if at is not self.table.standard:
                found += [entry for entry in (at.member(name), at.other_names.get(name)) if entry is not None]
            at = at.around
        return tuple(found)

    def _is_directed(self, view: FileScope, home: CScope) -> bool:
        """True if `using namespace` affects a scope or one around it."""
        known = view.directed.get(home)
        if known is None:
            at: CScope | None = home
            known = False
            before = self.solver.provisional
            while at is not None and not known:
                known = bool(at.directives) and bool(self._nominated(view, at))
                at = at.around
            if self.solver.provisional == before:
                view.directed[home] = known
        return known

    def _followed(
        self, view: FileScope, name: str, home: CScope, using: tuple[tuple[bool, int], ...], qualifies: bool
    ) -> ResolvedName | None:
        """Look up a name that `using` may bring in, from a scope outward."""
        for declares, value in using:
            found = self._used(view, value, name, declares)
            if found is not None:
                return found
        unseen: ScopeMember | None = None
        at: CScope | None = home
        while at is not None:
            found = self._in_home(view, at, name)
            if found is not None and not (qualifies and found.entry.kind not in _QUALIFIERS):
                if found.trust == Trust.EXACT:
                    return found
                unseen = unseen or found.entry
            at = at.around
        return ResolvedName(unseen, _NOT_INCLUDED, Trust.CANDIDATE) if unseen is not None else None

    def _used(self, view: FileScope, value: int, name: str, declares: bool) -> ResolvedName | None:
        """Look up a name that `using` in a function may bring in."""
        if declares:
            found = self.named(view, value) if last_name(view.file, value) == name else None
            return ResolvedName(found.entry, "using", found.trust) if found is not None else None
        home = self._home(view, value)
        found = self._in_home(view, home, name) if home is not None else None
        if found is None or found.trust != Trust.EXACT:
            return None
        return ResolvedName(found.entry, "using namespace", Trust.EXACT)

    def _in_home(self, view: FileScope, home: CScope, name: str) -> ResolvedName | None:
        """Look up a name in a namespace or class, through `using` and bases."""
        if home is self.table.standard:
            return None
        entry = home.member(name)
        unseen: ResolvedName | None = None
        if entry is not None:
            if entry.seen(view.sees):
                return entry.exact or entry.sight()
            if not self.hidden(view, entry):
                unseen = ResolvedName(entry, _NOT_INCLUDED, Trust.UNIQUE_NAME)
        other_name = home.other_names.get(name)
        if other_name is not None and other_name.seen(view.sees):
            return other_name.exact or other_name.sight()
        if name in home.brought:
            found = self._brought(view, home, name)
            if found is not None and found.entry is not entry:
                return ResolvedName(found.entry, "using", found.trust)
        if home.is_class:
            inherited = self.inherited(home, name)
            if inherited is not None:
                return inherited[0].exact or inherited[0].sight()
        elif home.directives:
            for other in self._nominated(view, home):
                entry = other.members.get(name)
                if entry is not None and entry.seen(view.sees):
                    return ResolvedName(entry, "using namespace", Trust.EXACT)
                found = self._brought(view, other, name)
                if found is not None:
                    return ResolvedName(found.entry, "using namespace", found.trust)
        return unseen

    def _brought(self, view: FileScope, home: CScope, name: str) -> ResolvedName | None:
        """Look up a name that `using x::name` brings into a scope, in a file that this one sees."""
        for number, value in home.brought.get(name, ()):
            found = self.named(self.view(number), value) if view.sees >> number & 1 else None
            if found is not None:
                return found
        return None

    def _nominated(self, view: FileScope, home: CScope) -> tuple[CScope, ...]:
        """Return the namespaces that visible `using namespace` directives bring into a namespace, nearest first."""
        known = view.nominated.get(home)
        return known if known is not None else self.solver.ask((NOMINATED, view, home)) or ()

    def _find_nominated(self, view: FileScope, home: CScope) -> tuple[CScope, ...]:
        waiting = [home]
        for at in waiting:
            numbers = [n for n in self._headers_of(at) if view.sees >> n & 1 and n != view.number]
            for number in (view.number, *numbers) if at.directives else ():
                for value in at.directives.get(number, ()):
                    other = self._directed(self.view(number), value, waiting)
                    if other is not None and other not in waiting:
                        waiting.append(other)
        return tuple(waiting[1:])

    def _directed(self, view: FileScope, expression: int, homes: list[CScope]) -> CScope | None:
        """Return the namespace that a directive names: as written, or in one that another directive has brought in.

        Other directives are not followed to find it, to keep directives from being resolved through one another.
        """
        if self._is_root(view, expression):
            return self.table.root
        name = last_name(view.file, expression)
        if view.op[expression] == MEMBER:
            left = self._directed(view, view.left[expression], homes)
            inside = [left, *self._nominated(view, left)] if left is not None else []
            return next((found for home in inside if (found := self._inner(view, home, name)) is not None), None)
        at: CScope | None
        at, _ = self.start(view, view.right[expression] % view.scopes)
        while at is not None:
            found = self._inner(view, at, name)
            if found is not None:
                return found
            at = at.around
        return next((found for home in homes if (found := self._inner(view, home, name)) is not None), None)

    def _inner(self, view: FileScope, home: CScope, name: str) -> CScope | None:
        entry = home.members.get(name)
        if entry is None or entry.kind != NAMESPACE:
            entry = home.other_names.get(name)
        return self._namespace(view, entry) if entry is not None else None

    def _headers_of(self, home: CScope) -> list[int]:
        """Return the included files with `using namespace` in a scope."""
        known = self._shared.get(home)
        if known is None:
            known = self._shared[home] = [n for n in home.directives if n in self.reach.headers]
        return known

    def hidden(self, view: FileScope, entry: ScopeMember) -> bool:
        """True if all entities of a member are local to other files."""
        return all(group.local >= 0 and not view.sees >> group.local & 1 for group in self.table.groups(entry))

    # --- Qualified names and members

    def _home(self, view: FileScope, expression: int) -> CScope | None:
        """Return the namespace or class that an expression names."""
        if self._is_root(view, expression):
            return self.table.root
        found = self.named(view, expression)
        if found is None:
            return None
        if found.entry.kind in _NAMESPACES:
            return self._namespace(view, found.entry)
        named = self.type_named(view, expression)
        return named[0] if named is not None else None

    def _is_root(self, view: FileScope, expression: int) -> bool:
        """True if a name has only "::" before it."""
        return view.op[expression] == LOOKUP and view.names[view.left[expression]] == "::"

    def _namespace(self, view: FileScope, entry: ScopeMember) -> CScope | None:
        """Return the namespace of a name or alias; an alias is resolved in the viewing file first, then in its
        includes."""
        if entry.kind == NAMESPACE:
            return entry.home.inner.get(entry.name)
        if entry in view.aliased:
            return view.aliased[entry]
        found: CScope | None = self.solver.ask((ALIASED, view, entry))
        return found

    def _aliased(self, view: FileScope, entry: ScopeMember) -> CScope | None:
        for code in sorted(entry.codes, key=lambda code: (code >> SHIFT != view.number, not view.includes(code))):
            other = self.view(code >> SHIFT)
            for value in other.file.related_expressions(code & MASK, SymbolRelation.TYPE):
                meant = self._directed(other, value, [])
                if meant is not None:
                    return meant
        return None

    def _member(self, view: FileScope, left: int, name: str) -> ResolvedName | None:
        """Look up a member of what an expression names or evaluates to."""
        if view.op[left] in (LOOKUP, MEMBER, NAME, SYMBOL):
            if self._is_root(view, left):
                return self._in_home(view, self.table.root, name)
            found = self.named(view, left)
            if found is not None and found.entry.kind in _NAMESPACES:
                home = self._namespace(view, found.entry)
                return self._in_home(view, home, name) if home is not None else None
            if found is None and view.op[left] == LOOKUP and view.right[left] >= view.scopes:
                return None  # std::name, or another library's namespace
        owner = self.owner(view, left)
        seen = self.find(owner, name) if owner is not None else None
        return seen[0].exact or seen[0].sight() if seen is not None else None
