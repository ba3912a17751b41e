"""The members of a C-family type, found through base classes and through classes that act as pointers.

In: types, and the targets of expressions. Out: members, each with the type that has it. All questions that may depend
on themselves (an expression's target or type, the bases and inherited members of a class, what `using` brings in) go
through one `Solver`, so that no answer depends on what was asked before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from concordance.base.model import SymbolRelation
from concordance.link.cfamily.include_graph import IncludeGraph
from concordance.link.cfamily.scopes import (
    BASES,
    INHERITED,
    MASK,
    SHIFT,
    CScope,
    FileScope,
    Question,
    ResolvedName,
    ScopeMember,
    Start,
    Type,
)
from concordance.link.cfamily.symbol_table import SymbolTable
from concordance.link.solver import Solver
from concordance.link.world import LinkWorld

POINTERS = frozenset((
    "shared_ptr", "unique_ptr", "weak_ptr", "optional", "reference_wrapper", "auto_ptr", "atomic", "propagate_const",
    "iterator", "const_iterator",
))  # fmt: skip
_SEQUENCES = frozenset((
    "vector", "array", "deque", "list", "forward_list", "set", "multiset", "unordered_set", "unordered_multiset",
    "initializer_list", "span", "valarray", "queue", "stack", "priority_queue",
))  # fmt: skip
_MAPS = frozenset(("map", "multimap", "unordered_map", "unordered_multimap"))
_OTHERS = frozenset(("pair", "tuple", "function", "future", "promise", "shared_future", "variant"))
ELEMENT_ACCESSORS = frozenset((
    "at", "front", "back", "value", "get", "lock", "top", "load", "value_or", "data", "begin", "end", "cbegin", "cend",
    "rbegin", "rend", "find", "emplace_back", "release", "operator*", "lower_bound", "upper_bound",
))  # fmt: skip
# Members of strings, containers, smart pointers and exceptions of the standard library: of a value whose type is not
# known, one of these is as likely as the only class of the repository that has such a member.
STANDARD_MEMBERS = frozenset((
    "at", "back", "begin", "c_str", "clear", "count", "data", "empty", "end", "erase", "first", "front", "get",
    "insert", "length", "load", "pop_back", "push_back", "reset", "second", "size", "store", "str", "swap", "what",
))  # fmt: skip
PAIR_PARTS = {"first": 0, "second": 1}
_MAX_POINTERS = 4  # smart pointers that are followed to find a member
_MAX_NESTING = 4  # nesting of template arguments in the types of a cycle


class Members(ABC):
    """Finds members; subclasses resolve names and the types of values."""

    def __init__(self, world: LinkWorld, table: SymbolTable, includes: IncludeGraph) -> None:
        self.world, self.table, self.includes = world, table, includes
        self.standard_types = StandardTypes()
        self.views: dict[int, FileScope] = {}
        self.solver: Solver[Question, Any] = Solver(self._answer, self._store, None, _advance)
        self.evaluators: dict[int, Callable[[Any, Any], Any]] = {INHERITED: self._inherited, BASES: self._bases}

    def view(self, number: int) -> FileScope:
        """Return a file's view."""
        view = self.views.get(number)
        if view is None:
            scopes = self.table.symbol_scopes.get(number) or [self.table.root]
            view = self.views[number] = FileScope(
                self.world.load(number), scopes, self.includes, self.table.with_caches
            )
        return view

    def drop_file(self, number: int) -> None:
        """Drop a file that is never included, and the results for it, because they are rarely needed again."""
        if number not in self.includes.headers:
            self.views.pop(number, None)
            self.world.unload_file(number)

    @abstractmethod
    def named(self, view: FileScope, expression: int) -> ResolvedName | None:
        """Return what an expression names."""

    @abstractmethod
    def type_named(self, view: FileScope, expression: int) -> Type | None:
        """Return the type that an expression names."""

    @abstractmethod
    def start(self, view: FileScope, scope: int) -> Start:
        """Return where the names of a scope are looked up."""

    def symbols(self, entry: ScopeMember) -> Iterator[tuple[FileScope, int]]:
        """Yield the symbols of a member, each with its file's view."""
        for code in entry.codes:
            yield self.view(code >> SHIFT), code & MASK

    def _answer(self, question: Question) -> Any:
        kind, about, what = question
        return self.evaluators[kind](about, what)

    def _store(self, question: Question, answer: Any) -> None:
        kind, about, what = question
        if kind == INHERITED:
            about.inherited[what] = answer
            self.table.with_caches.append(about)
        elif kind == BASES:
            about.bases = answer
            self.table.with_caches.append(about)
        else:
            about.answers[kind][what] = answer

    # --- Members

    def find_member(self, owner: Type, name: str) -> tuple[ScopeMember, Type] | None:
        """Return a member of a type, found through bases and smart pointers, and the type that has it."""
        scope, args = owner
        for _ in range(_MAX_POINTERS):
            if scope is None:
                return None
            entry = scope.member(name)
            if entry is not None:
                return entry, (scope, args)
            inherited = self.inherited(scope, name)
            if inherited is not None:
                return inherited[0], substitute_arguments(inherited[1], scope, args) or inherited[1]
            if not args or args[0] is None or not self.acts_as_pointer(scope):
                return None
            scope, args = args[0]
        return None

    def acts_as_pointer(self, scope: CScope) -> bool:
        """True if objects of a class act as pointers."""
        if scope.parent is None:
            return scope.name in POINTERS
        return "operator->" in scope.members or self.inherited(scope, "operator->") is not None

    def inherited(self, scope: CScope, name: str) -> tuple[ScopeMember, Type] | None:
        """Return a member of a class's bases, and the base that has it."""
        if name in scope.inherited:
            return scope.inherited[name]
        inherited: tuple[ScopeMember, Type] | None = self.solver.ask((INHERITED, scope, name))
        return inherited

    def _inherited(self, scope: CScope, name: str) -> tuple[ScopeMember, Type] | None:
        for base in self.bases(scope):
            above, args = base
            if above is None:
                continue
            entry = above.member(name)
            if entry is not None:
                return entry, base
            inherited = self.inherited(above, name)
            if inherited is not None:
                return inherited[0], substitute_arguments(inherited[1], above, args) or inherited[1]
        return None

    def bases(self, scope: CScope) -> Sequence[Type]:
        """Return the bases of a class, as types."""
        return scope.bases if scope.bases is not None else self.solver.ask((BASES, scope, None)) or ()

    def _bases(self, scope: CScope, _: None) -> tuple[Type, ...]:
        bases: dict[Type, None] = {}
        for code in scope.codes:
            view = self.view(code >> SHIFT)
            for value in view.file.related_expressions(code & MASK, SymbolRelation.BASE):
                base = self.type_named(view, value)
                if base is not None and base[0] is not scope:
                    bases[base] = None
        return tuple(bases)


def _advance(old: Any, new: Any) -> Any:
    """Return the next answer in a cycle; types must not grow without end (`using T = std::vector<T>`)."""
    is_type = isinstance(new, tuple) and len(new) == 2 and isinstance(new[0], CScope) and isinstance(new[1], tuple)
    return _shallow(new, _MAX_NESTING) if is_type else new


def _shallow(type_: Type | None, depth: int) -> Type | None:
    if type_ is None or type_[0] is None or not type_[1]:
        return type_
    return type_[0], tuple(_shallow(arg, depth - 1) for arg in type_[1]) if depth else ()


def substitute_arguments(type_: Type | None, template: object, args: tuple[Type | None, ...]) -> Type | None:
    """Return a type with a template's parameters replaced by the given arguments."""
    if type_ is None or not args:
        return type_
    if type_[0] is None:
        owner, place = type_[1]
        if owner is not template and owner != template:
            return type_
        return args[place] if place < len(args) else None
    return (type_[0], tuple(substitute_arguments(arg, template, args) for arg in type_[1])) if type_[1] else type_


# --- Containers and pointers of the standard library


class StandardTypes:
    """Types of the standard library, as far as they lead from one type of the repository to another.

    `std::vector<Node*> nodes; nodes[0]->name` names a member of Node. No file of the repository says so; the language's
    standard does.
    """

    def __init__(self) -> None:
        names = POINTERS | _SEQUENCES | _MAPS | _OTHERS
        self.scopes = {name: CScope(name, None, True) for name in names}

    def type_named(self, name: str) -> Type | None:
        """Return the type of a name, or None."""
        scope = self.scopes.get(name)
        return (scope, ()) if scope is not None else None

    def element(self, value: Type, each: bool) -> Type | None:
        """Return the type of a subscript, a loop variable (`each`) or an accessor's result."""
        scope, args = value[0], value[1]
        if not args:
            return None
        if scope.name in _MAPS:
            if each:
                return (self.scopes["pair"], args[:2])
            return args[1] if len(args) > 1 else None
        if scope.name in _OTHERS and scope.name not in ("future", "shared_future"):
            return None
        first: Type | None = args[0]
        return first
