"""Infers the type of a C-family expression's value, or the type that an expression names.

In: expressions, and the targets of their names. Out: types. A type is given only if every step to it is known; results
that depend on an ambiguous overload, an unknown template or a macro stay unknown. A template's parameters are replaced
by the arguments it was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concordance.base.model import SymbolRelation
from concordance.link.cfamily.include_graph import IncludeGraph
from concordance.link.cfamily.members import ELEMENT_ACCESSORS, PAIR_PARTS, Members, substitute_arguments
from concordance.link.cfamily.scopes import (
    CALL,
    CAST,
    CLASSES,
    EACH,
    ENUM,
    FUNCTIONS,
    ITEM,
    LOOKUP,
    MACRO,
    MASK,
    MEMBER,
    NAME,
    NAMESPACE,
    NAMESPACE_ALIAS,
    OF_TYPE,
    PARAMETER,
    PART,
    SHIFT,
    SYMBOL,
    TYPE,
    TYPE_NAMED,
    TYPE_OF,
    CScope,
    Entity,
    FileScope,
    ScopeMember,
    Type,
)
from concordance.link.cfamily.symbol_table import SymbolTable, last_name
from concordance.link.world import LinkWorld

TYPES = CLASSES | {ENUM, TYPE}
_NO_VALUES = TYPES | FUNCTIONS | {NAMESPACE, NAMESPACE_ALIAS, MACRO}
_ABSENT: Type = ()


class ExpressionTypes(Members):
    """Infers types; subclasses resolve names."""

    def __init__(self, world: LinkWorld, table: SymbolTable, includes: IncludeGraph) -> None:
        super().__init__(world, table, includes)
        self.evaluators |= {TYPE_NAMED: self._type_named, TYPE_OF: self._type_of}

    def owner(self, view: FileScope, left: int) -> Type | None:
        """Return the class in which members of an expression are looked up: the one it names, or the class of its
        value."""
        if view.op[left] in (LOOKUP, MEMBER, NAME, SYMBOL, ITEM):
            named = self.type_named(view, left)
            if named is not None:
                return named
        return self.type_of(view, left)

    # --- Types

    def type_named(self, view: FileScope, expression: int) -> Type | None:
        """Return the type that an expression names."""
        type_ = view.types.get(expression, _ABSENT)
        return type_ if type_ is not _ABSENT else self.solver.ask((TYPE_NAMED, view, expression))

    def _type_named(self, view: FileScope, expression: int) -> Type | None:
        op, left = view.op[expression], view.left[expression]
        if op == ITEM:
            base = self.type_named(view, left)
            if base is None or base[0] is None:
                return None
            args = self._arguments(view, view.right[expression])
            return (base[0], args) if args else base
        if op == CALL:
            return self.type_named(view, left)
        if op == NAME:
            values = [value for value in view.bindings[left] if view.op[value] in (PARAMETER, SYMBOL)]
            if not values:
                return None
            if view.op[values[0]] == PARAMETER:
                return self._parameter(view, values[0])
        resolved = self.named(view, expression)
        if resolved is None:
            return self.standard_types.type_named(last_name(view.file, expression)) if op in (LOOKUP, MEMBER) else None
        entry = resolved.entry
        if entry.kind == TYPE:
            return self._alias(view, expression, entry)
        scope = entry.scope.inner_scopes.get(entry.name) if entry.kind in TYPES else None
        return (scope, ()) if scope is not None else None

    def _parameter(self, view: FileScope, value: int) -> Type:
        """Return a template parameter of a class or function."""
        symbol = view.left[value]
        scope = view.symbol_scopes[symbol + 1]
        return (None, (scope if scope is not None else view.number << SHIFT | symbol, view.right[value]))

    def _arguments(self, view: FileScope, right: int) -> tuple[Type | None, ...]:
        arguments: list[Type | None] = []
        while right:
            pair = right - 1
            arguments.append(self.type_named(view, view.left[pair]) if view.left[pair] else None)
            right = view.right[pair]
        return tuple(arguments)

    def is_outside(self, view: FileScope, expression: int) -> bool:
        """True if a qualified name begins with a namespace or type that the repository does not define: `std::a::b`."""
        while view.op[expression] in (MEMBER, ITEM):
            expression = view.left[expression]
        if view.op[expression] != LOOKUP or view.right[expression] < view.scopes:
            return False
        first = self.named(view, expression)
        return first is None or first.entry is self.table.root.members.get("std")

    def is_outside_alias(self, view: FileScope, expression: int) -> bool:
        """True if a name is an alias of a type of another library, in one of the branches that define it.

        Smart pointers and containers of the standard library may lead to a type of the repository, as may any template
        of another library.
        """
        resolved = self.named(view, expression) if view.op[expression] in (LOOKUP, MEMBER) else None
        if resolved is None or resolved.entry.kind != TYPE:
            return False
        rows = list(self._aliased(resolved.entry))
        return self._depends(rows) or any(self._names_outside(*row) for row in rows)

    def _depends(self, rows: list[tuple[FileScope, int]]) -> bool:
        """True if only some branches make an alias a type of another library."""
        return len(rows) > 1 and len({self.is_outside(*row) for row in rows}) > 1

    def _names_outside(self, view: FileScope, expression: int) -> bool:
        if not self.is_outside(view, expression) or self.type_named(view, expression) is not None:
            return False
        if view.op[expression] != ITEM:
            return True
        while view.op[expression] in (MEMBER, ITEM):
            expression = view.left[expression]
        return view.names[view.left[expression]] == "std"

    def _aliased(self, entry: ScopeMember) -> Iterator[tuple[FileScope, int]]:
        """Yield the expressions that an alias stands for, one for each branch that defines it."""
        for other, place in self.symbols(entry):
            for value in other.file.related_expressions(place, SymbolRelation.TYPE):
                yield other, value

    def _alias(self, view: FileScope, expression: int, entry: ScopeMember) -> Type | None:
        """Return the type that an alias refers to; None if only some conditions make it one of the repository."""
        rows = list(self._aliased(entry))
        if self._depends(rows):
            return None
        for other, value in rows:
            aliased = self.type_named(other, value)
            if aliased is None:
                continue
            if view.op[expression] == MEMBER and (aliased[0] is None or aliased[1]):
                receiver = self._receiver(view, expression, entry)
                return substitute_arguments(aliased, *receiver) if receiver is not None else aliased
            return aliased
        scope = entry.scope.inner_scopes.get(entry.name)  # a type without a name of its own
        return (scope, ()) if scope is not None else None

    # --- Values

    def type_of(self, view: FileScope, expression: int) -> Type | None:
        """Return the type of an expression's value."""
        type_ = view.values.get(expression, _ABSENT)
        return type_ if type_ is not _ABSENT else self.solver.ask((TYPE_OF, view, expression))

    def _type_of(self, view: FileScope, expression: int) -> Type | None:
        op, left = view.op[expression], view.left[expression]
        if op == NAME:
            for value in view.bindings[left]:
                if view.op[value] not in (PARAMETER, SYMBOL):
                    return self.type_of(view, value)
        elif op == OF_TYPE:
            return self.type_named(view, left)
        elif op == CAST:
            return self.type_of(view, left)
        elif op == CALL:
            return self._call_type(view, left, view.right[expression] - 1)
        elif op in (LOOKUP, MEMBER):
            return self._value_type(view, expression)
        elif op in (ITEM, EACH, PART):
            value_type = self.type_of(view, left)
            if value_type is None or value_type[0] is None:
                return None
            if op != PART:
                return self._element(value_type, op == EACH)
            args = value_type[1]
            return args[view.right[expression]] if view.right[expression] < len(args) else None
        return None

    def is_const(self, view: FileScope, expression: int, name: str) -> bool | None:
        """Return whether a member is accessed on a const variable; None if its declaration does not say."""
        if view.op[expression] not in (NAME, LOOKUP, MEMBER):
            return None
        receiver = self.type_of(view, expression)
        scope: CScope | None = receiver[0] if receiver is not None else None
        if (
            scope is not None
            and scope.member(name) is None
            and self.inherited(scope, name) is None
            and self.acts_as_pointer(scope)
        ):
            return False  # the pointer is const, what it points to is not
        if view.op[expression] != NAME:
            return self._is_const_field(view, expression) or None
        for value in view.bindings[view.left[expression]]:
            if view.op[value] == OF_TYPE:
                return bool(view.right[value])
            if view.op[value] == CAST:
                return True
        return None

    def _is_const_field(self, view: FileScope, expression: int) -> bool:
        """True if a field is declared const; if it is not, the object that it belongs to may be."""
        resolved = self.named(view, expression)
        if resolved is None or resolved.entry.kind in _NO_VALUES:
            return False
        return any(
            other.op[value] == OF_TYPE and bool(other.right[value])
            for other, place in self.symbols(resolved.entry)
            for value in other.file.related_expressions(place, SymbolRelation.TYPE)
        )

    def _value_type(self, view: FileScope, expression: int) -> Type | None:
        """Return the type of a variable, a field or `this`."""
        if view.op[expression] == LOOKUP and view.names[view.left[expression]] == "this":
            around, _ = self.start(view, view.right[expression] % view.scopes)
            return (around, ()) if around.is_class else None
        resolved = self.named(view, expression)
        if resolved is None:
            return self._standard_member_type(view, expression) if view.op[expression] == MEMBER else None
        entry = resolved.entry
        if entry.kind in _NO_VALUES:
            return None
        receiver = self._receiver(view, expression, entry)
        codes = entry.codes if len(entry.codes) == 1 else sorted(entry.codes, key=lambda code: not view.can_see(code))
        for code in codes:
            other = self.view(code >> SHIFT)
            for value in other.file.related_expressions(code & MASK, SymbolRelation.TYPE):
                member_type = self.type_of(other, value)
                return substitute_arguments(member_type, *receiver) if receiver is not None else member_type
        scope = entry.scope.inner_scopes.get(entry.name)  # a type without a name of its own
        return (scope, ()) if scope is not None and scope.is_class else None

    def _receiver(self, view: FileScope, expression: int, entry: ScopeMember) -> Type | None:
        """Return the type whose member an expression names, with its template arguments."""
        if view.op[expression] != MEMBER or not entry.scope.is_class:
            return None
        owner = self.owner(view, view.left[expression])
        member = self.find_member(owner, entry.name) if owner is not None else None
        return member[1] if member is not None else None

    def _standard_member_type(self, view: FileScope, expression: int) -> Type | None:
        """Return the type of a member of a standard container or pointer."""
        owner = self.owner(view, view.left[expression])
        if owner is None or owner[0] is None or owner[0].parent is not None:
            return None
        name = view.names[view.right[expression]]
        if name in ELEMENT_ACCESSORS:
            return self.standard_types.element(owner, False)
        place = PAIR_PARTS.get(name, len(owner[1]))
        part: Type | None = owner[1][place] if place < len(owner[1]) else None
        return part

    def _call_type(self, view: FileScope, callee: int, count: int) -> Type | None:
        """Return the type of a call's result."""
        args: tuple[Type | None, ...] = ()
        name = callee
        if view.op[callee] == ITEM:
            args = self._arguments(view, view.right[callee])
            name = view.left[callee]
        resolved = self.named(view, name)
        makes = bool(args) and view.op[name] in (LOOKUP, MEMBER) and last_name(view.file, name).startswith("make_")
        if resolved is None:
            if makes:
                return args[0]
            if view.op[name] == MEMBER:
                return self._standard_member_type(view, name)
            return self.type_named(view, callee) or self._functor(view, name, count)
        entry = resolved.entry
        if entry.kind in TYPES:
            return self.type_named(view, callee)
        if entry.kind not in FUNCTIONS:
            return self._functor(view, name, count)
        result = self.return_type(view, entry, count, self._receiver(view, name, entry), args)
        return args[0] if makes and (result is None or result[0] is None) else result

    def _functor(self, view: FileScope, callee: int, count: int) -> Type | None:
        """Return the type of the result of calling an object."""
        value = self.type_of(view, callee)
        operator = self.find_member(value, "operator()") if value is not None and value[0] is not None else None
        return self.return_type(view, operator[0], count, operator[1], ()) if operator is not None else None

    def return_type(
        self, view: FileScope, entry: ScopeMember, count: int, receiver: Type | None, args: tuple[Type | None, ...]
    ) -> Type | None:
        """Return what a function returns; None if its overloads differ."""
        result: Type | None = None
        for group in self.matching_overloads(view, entry, count):
            returned: Type | None = None
            for code in group.codes:
                other = self.view(code >> SHIFT)
                for value in other.file.related_expressions(code & MASK, SymbolRelation.RETURNS):
                    returned = self.type_of(other, value)
                    if receiver is not None:
                        returned = substitute_arguments(returned, *receiver)
                    returned = substitute_arguments(returned, code, args)
                if returned is not None:
                    break
            if returned is None or (result is not None and result != returned):
                return None
            result = returned
        return result

    def matching_overloads(self, view: FileScope, entry: ScopeMember, count: int) -> Sequence[Entity]:
        """Return the overloads that take that many arguments (-1: not a call); visible ones take precedence."""
        groups: Sequence[Entity] = self.table.groups(entry)
        if len(groups) > 1:
            groups = self.overloads_by_count([g for g in groups if g.local < 0 or view.can_see_file(g.local)], count)
            if len(groups) > 1:
                groups = [g for g in groups if any(map(view.can_see, g.codes))] or groups
        return groups

    @staticmethod
    def overloads_by_count(groups: Sequence[Entity], count: int) -> Sequence[Entity]:
        """Return the entities that take that many arguments; all if none does."""
        if len(groups) > 1:
            groups = [g for g in groups if not g.special] or groups
            groups = [g for g in groups if g.callable == (count >= 0)] or groups  # C: `struct stat` and `stat()`
            groups = [g for g in groups if count < 0 or g.least <= count <= g.most] or groups
        return groups

    def _element(self, value: Type, each: bool) -> Type | None:
        """Return the type of a subscript or of a loop variable."""
        scope: CScope = value[0]
        if scope.parent is None:
            return self.standard_types.element(value, each)
        operator = self.find_member(value, "begin" if each else "operator[]")
        if operator is None:
            return None if each else value  # a pointer's subscript
        view = self.view(operator[0].codes[0] >> SHIFT)
        result = self.return_type(view, operator[0], 0 if each else 1, operator[1], ())
        if each and result is not None and result[0] is not None:
            star = self.find_member(result, "operator*")
            if star is not None:
                return self.return_type(view, star[0], 0, star[1], ())
        return result
