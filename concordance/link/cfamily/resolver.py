"""Resolves the names in C-family expressions.

In: a file's expressions and the table of all scopes. Out: for each expression, the `ScopeMember` it names. Names are
looked up as the language does: from their scope outward, in classes through their bases, in namespaces through `using`;
what a file includes takes precedence over what it does not. A macro is in every scope of the files that include it.
"""

from __future__ import annotations

from concordance.base.model import SymbolRelation, Trust
from concordance.extract.cfamily.symbol_flags import fixture_of
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

    def __init__(self, world: LinkWorld, table: SymbolTable, includes: IncludeGraph) -> None:
        super().__init__(world, table, includes)
        self._headers_by_scope: dict[CScope, list[int]] = {}
        self.evaluators |= {
            NAMED: self._find_named,
            NOMINATED: self._find_nominated_namespaces,
            ALIASED: self._find_aliased_namespace,
        }

    def named(self, view: FileScope, expression: int) -> ResolvedName | None:
        """Return what an expression names."""
        resolved = view.named.get(expression, _ABSENT)
        if resolved is not _ABSENT:
            return resolved
        while view.op[expression] in (CALL, ITEM):
            expression = view.left[expression]
        return view.named[expression] if expression in view.named else self.solver.ask((NAMED, view, expression))

    def _find_named(self, view: FileScope, expression: int) -> ResolvedName | None:
        op, left = view.op[expression], view.left[expression]
        resolved: ResolvedName | None = None
        if op == LOOKUP:
            resolved = self._look_up(view, view.names[left], view.right[expression])
        elif op == MEMBER:
            resolved = self._member(view, left, view.names[view.right[expression]])
        elif op == SYMBOL:
            resolved = self._symbol(view, left)
        elif op == NAME:
            for value in view.bindings[left]:
                if view.op[value] == SYMBOL:
                    resolved = self._symbol(view, view.left[value])
        return resolved

    def _symbol(self, view: FileScope, symbol: int) -> ResolvedName | None:
        name = view.names[view.file.symbol_name[symbol]]
        if view.file.symbol_kind[symbol] == MACRO:
            macro = self.table.macros.get(name)
            return ResolvedName(macro, "macro", Trust.EXACT) if macro is not None else None
        scope = self.table.scope_of(view.number << SHIFT | symbol)
        entry = scope.members.get(name) if scope is not None else None
        return ResolvedName(entry, "function scope", Trust.EXACT) if entry is not None else None

    # --- Look-up

    def start(self, view: FileScope, scope: int) -> Start:
        """Return the scope in which names are looked up first, and what `using` in functions adds to it."""
        start = view.starts.get(scope)
        if start is None:
            start = view.starts[scope] = self._start(view, scope)
        return start

    def _start(self, view: FileScope, scope: int) -> Start:
        file = view.file
        using: list[tuple[bool, int]] = []
        at = scope
        while True:
            symbol = file.scope_symbol[at]
            start = view.symbol_scopes[symbol] if symbol or not at else None
            if start is None and symbol:
                start = self.table.out_of_class_scopes.get(view.number << SHIFT | symbol - 1)
            if start is not None:
                return start, tuple(using)
            fixture = self._fixture(view, symbol - 1) if symbol else -1
            if fixture >= 0:
                using.append((False, fixture))
            for word in ("using namespace", "using"):
                place = file.name_index.get(word)
                variable = file.variables.get((at, place)) if place is not None else None
                if variable is not None:
                    using += [(word == "using", value) for value in view.bindings[variable]]
            at = file.scope_parent[at] - 1

    @staticmethod
    def _fixture(view: FileScope, symbol: int) -> int:
        """Return an expression for the class whose members a googletest sees: `TEST_F(Class, name)`; -1 if none."""
        fixture = fixture_of(view.names[view.file.symbol_name[symbol]])
        if not fixture:
            return -1
        variable = view.fixtures.get(fixture)
        if variable is None:
            word = view.file.name_index.get(fixture)
            rows = enumerate(zip(view.op, view.left, strict=True))
            named = (place for place, (op, left) in rows if op == LOOKUP and left == word)
            variable = view.fixtures[fixture] = next(named, -1)
        return variable

    def _look_up(self, view: FileScope, name: str, scope: int) -> ResolvedName | None:
        """Look up a name in a scope; a scope number plus the number of scopes restricts it to namespaces and types."""
        macro = self.table.macros.get(name)
        if macro is not None and macro.is_visible(view):
            return ResolvedName(macro, "macro", Trust.EXACT)
        qualifies = scope >= view.scopes
        start, using = self.start(view, scope - view.scopes if qualifies else scope)
        if using or self._has_using_directive(view, start):
            return self._look_up_with_using(view, name, start, using, qualifies)
        unseen: ScopeMember | None = None
        at: CScope | None = start
        while at is not None and at.is_class:
            resolved = self._look_up_in_scope(view, at, name)
            if resolved is not None and not (qualifies and resolved.entry.kind not in _QUALIFIERS):
                return resolved
            at = at.parent
        chain = at.lookup_chains.get(name) if at is not None else ()
        if chain is None and at is not None:
            chain = at.lookup_chains[name] = self._chain(at, name)
            self.table.with_caches.append(at)
        for entry in chain or ():
            if qualifies and entry.kind not in _QUALIFIERS:
                continue
            if entry is DEPENDS_ON_USING:
                return self._look_up_with_using(view, name, start, using, qualifies)
            if entry.is_visible(view):
                return entry.exact or entry.resolved()
            if unseen is None and not self.is_hidden(view, entry):
                unseen = entry
        return ResolvedName(unseen, _NOT_INCLUDED, Trust.CANDIDATE) if unseen is not None else None

    def _chain(self, scope: CScope, name: str) -> tuple[ScopeMember, ...]:
        """Return what a name can refer to from a namespace outward; a marker if visible `using`s decide."""
        entries: list[ScopeMember] = []
        at: CScope | None = scope
        while at is not None:
            if name in at.using_declarations:
                return (DEPENDS_ON_USING,)
            if at is not self.table.standard:
                entries += [entry for entry in (at.member(name), at.aliases.get(name)) if entry is not None]
            at = at.parent
        return tuple(entries)

    def _has_using_directive(self, view: FileScope, scope: CScope) -> bool:
        """True if `using namespace` affects a scope or one around it."""
        known = view.has_directives.get(scope)
        if known is None:
            at: CScope | None = scope
            known = False
            before = self.solver.provisional
            while at is not None and not known:
                known = bool(at.directives) and bool(self._nominated_namespaces(view, at))
                at = at.parent
            if self.solver.provisional == before:
                view.has_directives[scope] = known
        return known

    def _look_up_with_using(
        self, view: FileScope, name: str, scope: CScope, using: tuple[tuple[bool, int], ...], qualifies: bool
    ) -> ResolvedName | None:
        """Look up a name that `using` may bring in, from a scope outward."""
        for declares, value in using:
            resolved = self._look_up_local_using(view, value, name, declares)
            if resolved is not None:
                return resolved
        unseen: ScopeMember | None = None
        at: CScope | None = scope
        while at is not None:
            resolved = self._look_up_in_scope(view, at, name)
            if resolved is not None and not (qualifies and resolved.entry.kind not in _QUALIFIERS):
                if resolved.trust == Trust.EXACT:
                    return resolved
                unseen = unseen or resolved.entry
            at = at.parent
        return ResolvedName(unseen, _NOT_INCLUDED, Trust.CANDIDATE) if unseen is not None else None

    def _look_up_local_using(self, view: FileScope, value: int, name: str, declares: bool) -> ResolvedName | None:
        """Look up a name that `using` in a function may bring in."""
        if declares:
            resolved = self.named(view, value) if last_name(view.file, value) == name else None
            return ResolvedName(resolved.entry, "using", resolved.trust) if resolved is not None else None
        scope = self._scope_named(view, value)
        resolved = self._look_up_in_scope(view, scope, name) if scope is not None else None
        if resolved is None or resolved.trust != Trust.EXACT:
            return None
        return ResolvedName(resolved.entry, "using namespace", Trust.EXACT)

    def _look_up_in_scope(self, view: FileScope, scope: CScope, name: str) -> ResolvedName | None:
        """Look up a name in a namespace or class, through `using` and bases."""
        if scope is self.table.standard:
            return None
        entry = scope.member(name)
        unseen: ResolvedName | None = None
        if entry is not None:
            if entry.is_visible(view):
                return entry.exact or entry.resolved()
            if not self.is_hidden(view, entry):
                unseen = ResolvedName(entry, _NOT_INCLUDED, Trust.CANDIDATE)
        other_name = scope.aliases.get(name)
        if other_name is not None and other_name.is_visible(view):
            return other_name.exact or other_name.resolved()
        if name in scope.using_declarations:
            resolved = self._look_up_using_declaration(view, scope, name)
            if resolved is not None and resolved.entry is not entry:
                return ResolvedName(resolved.entry, "using", resolved.trust)
        if scope.is_class:
            inherited = self.inherited(scope, name)
            if inherited is not None:
                return inherited[0].exact or inherited[0].resolved()
        elif scope.directives:
            for other in self._nominated_namespaces(view, scope):
                entry = other.members.get(name)
                if entry is not None and entry.is_visible(view):
                    return ResolvedName(entry, "using namespace", Trust.EXACT)
                resolved = self._look_up_using_declaration(view, other, name)
                if resolved is not None:
                    return ResolvedName(resolved.entry, "using namespace", resolved.trust)
        return unseen

    def _look_up_using_declaration(self, view: FileScope, scope: CScope, name: str) -> ResolvedName | None:
        """Look up a name that `using x::name` brings into a scope, in a file that this one sees."""
        for number, value in scope.using_declarations.get(name, ()):
            resolved = self.named(self.view(number), value) if view.can_see_file(number) else None
            if resolved is not None:
                return resolved
        return None

    def _nominated_namespaces(self, view: FileScope, scope: CScope) -> tuple[CScope, ...]:
        """Return the namespaces that visible `using namespace` directives bring into a namespace, nearest first."""
        known = view.nominated.get(scope)
        return known if known is not None else self.solver.ask((NOMINATED, view, scope)) or ()

    def _find_nominated_namespaces(self, view: FileScope, scope: CScope) -> tuple[CScope, ...]:
        waiting = [scope]
        for at in waiting:
            numbers = [n for n in self._headers_of(at) if n != view.number and view.can_see_file(n)]
            for number in (view.number, *numbers) if at.directives else ():
                for value in at.directives.get(number, ()):
                    other = self._directive_namespace(self.view(number), value, waiting)
                    if other is not None and other not in waiting:
                        waiting.append(other)
        return tuple(waiting[1:])

    def _directive_namespace(self, view: FileScope, expression: int, scopes: list[CScope]) -> CScope | None:
        """Return the namespace that a directive names: as written, or in one that another directive has brought in.

        Other directives are not followed to find it, to keep directives from being resolved through one another.
        """
        if self._is_root(view, expression):
            return self.table.root
        name = last_name(view.file, expression)
        if view.op[expression] == MEMBER:
            left = self._directive_namespace(view, view.left[expression], scopes)
            inside = [left, *self._nominated_namespaces(view, left)] if left is not None else []
            return next(
                (namespace for scope in inside if (namespace := self._inner_namespace(view, scope, name)) is not None),
                None,
            )
        at: CScope | None
        at, _ = self.start(view, view.right[expression] % view.scopes)
        while at is not None:
            namespace = self._inner_namespace(view, at, name)
            if namespace is not None:
                return namespace
            at = at.parent
        return next(
            (namespace for scope in scopes if (namespace := self._inner_namespace(view, scope, name)) is not None), None
        )

    def _inner_namespace(self, view: FileScope, scope: CScope, name: str) -> CScope | None:
        entry = scope.members.get(name)
        if entry is None or entry.kind != NAMESPACE:
            entry = scope.aliases.get(name)
        return self._namespace(view, entry) if entry is not None else None

    def _headers_of(self, scope: CScope) -> list[int]:
        """Return the included files with `using namespace` in a scope."""
        known = self._headers_by_scope.get(scope)
        if known is None:
            known = self._headers_by_scope[scope] = [n for n in scope.directives if n in self.includes.headers]
        return known

    def is_hidden(self, view: FileScope, entry: ScopeMember) -> bool:
        """True if all entities of a member are local to other files."""
        return all(group.local >= 0 and not view.can_see_file(group.local) for group in self.table.groups(entry))

    # --- Qualified names and members

    def _scope_named(self, view: FileScope, expression: int) -> CScope | None:
        """Return the namespace or class that an expression names."""
        if self._is_root(view, expression):
            return self.table.root
        resolved = self.named(view, expression)
        if resolved is None:
            return None
        if resolved.entry.kind in _NAMESPACES:
            return self._namespace(view, resolved.entry)
        named = self.type_named(view, expression)
        return named[0] if named is not None else None

    def _is_root(self, view: FileScope, expression: int) -> bool:
        """True if a name has only "::" before it."""
        return view.op[expression] == LOOKUP and view.names[view.left[expression]] == "::"

    def _namespace(self, view: FileScope, entry: ScopeMember) -> CScope | None:
        """Return the namespace of a name or alias; an alias is resolved in the viewing file first, then in its
        includes."""
        if entry.kind == NAMESPACE:
            return entry.scope.inner_scopes.get(entry.name)
        if entry in view.aliased:
            return view.aliased[entry]
        namespace: CScope | None = self.solver.ask((ALIASED, view, entry))
        return namespace

    def _find_aliased_namespace(self, view: FileScope, entry: ScopeMember) -> CScope | None:
        for code in sorted(entry.codes, key=lambda code: (code >> SHIFT != view.number, not view.can_see(code))):
            other = self.view(code >> SHIFT)
            for value in other.file.related_expressions(code & MASK, SymbolRelation.TYPE):
                namespace = self._directive_namespace(other, value, [])
                if namespace is not None:
                    return namespace
        return None

    def _member(self, view: FileScope, left: int, name: str) -> ResolvedName | None:
        """Look up a member of what an expression names or evaluates to."""
        if view.op[left] in (LOOKUP, MEMBER, NAME, SYMBOL):
            if self._is_root(view, left):
                return self._look_up_in_scope(view, self.table.root, name)
            resolved = self.named(view, left)
            if resolved is not None and resolved.entry.kind in _NAMESPACES:
                scope = self._namespace(view, resolved.entry)
                return self._look_up_in_scope(view, scope, name) if scope is not None else None
            if resolved is None and view.op[left] == LOOKUP and view.right[left] >= view.scopes:
                return None  # std::name, or another library's namespace
        owner = self.owner(view, left)
        seen = self.find_member(owner, name) if owner is not None else None
        return seen[0].exact or seen[0].resolved() if seen is not None else None
