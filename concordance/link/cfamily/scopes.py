"""Scopes of the C family (namespaces, classes, enums, files), in which names are looked up, and their members.

In: symbols, each encoded as one number. Out: `CScope`s and their `ScopeMember`s, which cache what was computed about
them. A large repository has millions, so containers that are mostly empty are created only when needed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple

from concordance.base.model import KINDS, Kind, Op, Trust
from concordance.link.cfamily.include_graph import IncludeGraph
from concordance.link.world import LoadedFlow

NAME, MEMBER, CALL, ITEM, EACH, PART = (int(op) for op in (Op.NAME, Op.MEMBER, Op.CALL, Op.ITEM, Op.EACH, Op.PART))
OF_TYPE, LOOKUP, SYMBOL, PARAMETER, CAST = (int(op) for op in (Op.OF_TYPE, Op.LOOKUP, Op.SYMBOL, Op.PARAMETER, Op.CAST))
# Kinds of questions. The first five are about a file's view and an expression, scope or member; the rest about a class.
NAMED, TYPE_NAMED, TYPE_OF, NOMINATED, ALIASED, INHERITED, BASES = range(7)
Question = tuple[int, Any, Any]
SHIFT = 20  # a symbol's code is its file's number, shifted by this, and its index in the file
MASK = (1 << SHIFT) - 1
_KIND_CODES = {kind: place for place, kind in enumerate(KINDS)}
MACRO, NAMESPACE, ENUM, ENUMERATOR, TYPE, METHOD = (
    _KIND_CODES[k] for k in (Kind.MACRO, Kind.NAMESPACE, Kind.ENUM, Kind.ENUMERATOR, Kind.TYPE, Kind.METHOD)
)
NAMESPACE_ALIAS = len(KINDS)  # a namespace alias: `namespace a = b;`
CLASSES = frozenset(_KIND_CODES[k] for k in (Kind.CLASS, Kind.STRUCT, Kind.UNION, Kind.INTERFACE))
FUNCTIONS = frozenset(_KIND_CODES[k] for k in (Kind.FUNCTION, Kind.METHOD))
HOLDERS = frozenset(_KIND_CODES[k] for k in (Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD))
SCOPE_KINDS = CLASSES | {NAMESPACE, ENUM}
_MANY_CODES = 8


class Entity(NamedTuple):
    """One entity: all of its declarations and definitions, definitions first."""

    codes: tuple[int, ...]
    defined: int  # how many of them are definitions
    least: int  # the least number of arguments it takes
    most: int
    local: int  # the only file that sees it, or -1
    special: bool  # a template specialisation
    form: int  # what distinguishes a function from its overloads; 0 for everything else

    @property
    def callable(self) -> bool:
        """True if it is a function."""
        return self.form != 0


class ResolvedName(NamedTuple):
    """The result of looking up a name."""

    entry: ScopeMember
    by: str
    trust: Trust  # the highest trust possible


# A type: its scope and template arguments; or None and, for a template parameter, the template and an index.
Type = tuple[Any, ...]


NO_IDS: dict[int, tuple[int, ...]] = {}


class MemberFiles(NamedTuple):
    """The files that a member with many symbols has symbols in."""

    numbers: array[int]  # ascending
    bits: int  # those of them that other files can see, as in `IncludeGraph`


class ScopeMember:
    """One name in one scope."""

    __slots__ = ("codes", "exact", "files", "groups", "ids", "kind", "name", "scope")

    def __init__(self, scope: CScope, name: str, kind: int) -> None:
        self.scope, self.name, self.kind = scope, name, kind
        self.codes: Sequence[int] = ()  # most have one symbol: a list for each would take half of all memory
        self.exact: ResolvedName | None = None  # the result of finding it in its scope
        self.files: MemberFiles | None = None  # computed if there are many symbols
        self.groups: tuple[Entity, ...] | None = None
        self.ids = NO_IDS  # targets by number of arguments, if they are the same for all files

    def add(self, code: int) -> None:
        """Add a symbol."""
        if not self.codes:
            self.codes = (code,)
        elif isinstance(self.codes, list):
            self.codes.append(code)
        else:
            self.codes = [*self.codes, code]

    def cache_ids(self, count: int, ids: tuple[int, ...]) -> None:
        """Cache the targets for a number of arguments."""
        if self.ids is NO_IDS:
            self.ids = {}
        self.ids[count] = ids

    def is_visible(self, view: FileScope) -> bool:
        """True if a file sees one of its symbols."""
        codes = self.codes
        if len(codes) > _MANY_CODES:
            return bool(view.visible & self.files_in(view).bits) or self.is_in(view)
        visible, bit_of, own = view.visible, view.bit_of, view.number
        for code in codes:
            number = code >> SHIFT
            if number == own or visible >> bit_of[number] & 1:
                return True
        return False

    def files_in(self, view: FileScope) -> MemberFiles:
        """Return the files with one of its symbols."""
        if self.files is None:
            numbers = array("I", sorted({code >> SHIFT for code in self.codes}))
            self.files = MemberFiles(numbers, view.includes.bits_of(numbers))
            view.with_caches.append(self)
        return self.files

    def is_in(self, view: FileScope) -> bool:
        """True if one of its symbols is in a file."""
        numbers = self.files_in(view).numbers
        place = bisect_left(numbers, view.number)
        return place < len(numbers) and numbers[place] == view.number

    def clear_caches(self) -> None:
        """Drop what was computed from its symbols."""
        self.groups = None
        self.files = None
        self.ids = NO_IDS

    def resolved(self) -> ResolvedName:
        """Return the result of finding this member in its own scope."""
        if self.exact is None:
            self.exact = ResolvedName(self, self.scope.link_reason(), Trust.EXACT)
        return self.exact


_NO_SCOPES: dict[str, CScope] = {}
_NO_ENTRIES: dict[str, ScopeMember] = {}
_NO_DIRECTIVES: dict[int, list[int]] = {}
_NO_USING_DECLARATIONS: dict[str, list[tuple[int, int]]] = {}


class CScope:
    """A namespace, class or enum."""

    __slots__ = (
        "aliases", "bases", "codes", "directives", "inherited", "inner_scopes", "is_class", "lookup_chains", "members",
        "name", "parent", "using_declarations",
    )  # fmt: skip

    def __init__(self, name: str, parent: CScope | None, is_class: bool) -> None:
        self.name, self.parent, self.is_class = name, parent, is_class
        self.members: dict[str, ScopeMember] = {}
        self.inner_scopes: dict[str, CScope] = _NO_SCOPES
        self.codes: list[int] = []  # of a class: the symbols that define or declare it
        self.bases: tuple[Type, ...] | None = None  # computed on first use
        self.aliases: dict[str, ScopeMember] = _NO_ENTRIES  # namespace aliases
        self.directives: dict[int, list[int]] = _NO_DIRECTIVES  # `using namespace`: expressions by file
        self.using_declarations: dict[str, list[tuple[int, int]]] = _NO_USING_DECLARATIONS  # `using x::y`, by y
        self.lookup_chains: dict[str, tuple[ScopeMember, ...]] = {}  # of a namespace: what names mean from here outward
        self.inherited: dict[str, tuple[ScopeMember, Type] | None] = {}  # members of its bases that were looked up

    def clear_caches(self) -> None:
        """Drop what was computed about names."""
        self.bases = None
        self.lookup_chains.clear()
        self.inherited.clear()

    def inner_scope(self, name: str, is_class: bool) -> CScope:
        """Return the inner scope of a name, creating it if necessary."""
        inner = self.inner_scopes.get(name)
        if inner is None:
            inner = CScope(name, self, is_class)
            self.set_inner_scope(name, inner)
        elif is_class:
            inner.is_class = True
        return inner

    def set_inner_scope(self, name: str, scope: CScope) -> None:
        """Set the inner scope of a name."""
        if self.inner_scopes is _NO_SCOPES:
            self.inner_scopes = {}
        self.inner_scopes[name] = scope

    def add_alias(self, name: str, entry: ScopeMember) -> None:
        """Add a namespace alias."""
        if self.aliases is _NO_ENTRIES:
            self.aliases = {}
        self.aliases[name] = entry

    def add_using_directive(self, number: int, value: int) -> None:
        """Add a file's `using namespace`."""
        if self.directives is _NO_DIRECTIVES:
            self.directives = {}
        self.directives.setdefault(number, []).append(value)

    def add_using_declaration(self, name: str, number: int, value: int) -> None:
        """Add a file's `using x::name`."""
        if self.using_declarations is _NO_USING_DECLARATIONS:
            self.using_declarations = {}
        self.using_declarations.setdefault(name, []).append((number, value))

    def member(self, name: str) -> ScopeMember | None:
        """Return the member of a name; a class's own name is the class, not its constructors."""
        entry = self.members.get(name)
        if entry is not None and name == self.name and entry.kind in FUNCTIONS and self.parent is not None:
            return self.parent.members.get(name, entry)
        return entry

    def link_reason(self) -> str:
        """Return the reason stored with a link to something in this scope."""
        parts = []
        scope: CScope | None = self
        while scope is not None and scope.parent is not None:
            parts.append(scope.name)
            scope = scope.parent
        path = "::".join(reversed(parts))
        return f"class {path}" if self.is_class else f"namespace {path}" if path else "file scope"


# Where a scope's names are looked up first, and the `using`s of functions: whether each names one thing, and its
# expression.
Start = tuple[CScope, tuple[tuple[bool, int], ...]]


# --- Files


class FileScope:
    """One C-family file as a scope; caches the results for its expressions."""

    __slots__ = (
        "aliased", "answers", "bindings", "bit_of", "file", "fixtures", "has_directives", "includes", "left", "named",
        "names", "nominated", "number", "op", "right", "scopes", "starts", "symbol_scopes", "types", "values",
        "visible", "with_caches",
    )  # fmt: skip

    def __init__(
        self, file: LoadedFlow, symbol_scopes: list[CScope | None], includes: IncludeGraph,
        with_caches: list[ScopeMember | CScope],
    ) -> None:  # fmt: skip
        """`with_caches` collects scopes and members with cached answers."""
        self.file, self.symbol_scopes, self.number = file, symbol_scopes, file.number
        self.includes, self.with_caches, self.bit_of = includes, with_caches, includes.bit_of
        self.visible = includes.visible_files(file.number)  # a bit for each file whose text is part of this one
        self.names, self.bindings = file.names, file.values
        self.op, self.left, self.right = file.op, file.left, file.right
        self.scopes = len(file.scope_parent)
        self.named: dict[int, ResolvedName | None] = {}  # by expression: what it names
        self.types: dict[int, Type | None] = {}  # by expression: the type it names
        self.values: dict[int, Type | None] = {}  # by expression: the type of its value
        self.starts: dict[int, Start] = {}  # by scope
        self.fixtures: dict[str, int] = {}  # by the name of a test's fixture: an expression that names it, or -1
        self.has_directives: dict[CScope, bool] = {}  # whether `using namespace` affects a scope
        self.nominated: dict[CScope, tuple[CScope, ...]] = {}  # what `using namespace` brings into a scope
        self.aliased: dict[ScopeMember, CScope | None] = {}  # the namespace of each alias `namespace a = b;`
        # By kind of question.
        self.answers: tuple[dict[Any, Any], ...] = (self.named, self.types, self.values, self.nominated, self.aliased)

    def can_see(self, code: int) -> bool:
        """True if this file sees a symbol."""
        return self.can_see_file(code >> SHIFT)

    def can_see_file(self, number: int) -> bool:
        """True if the text of a file is part of this one, or is this one."""
        return number == self.number or bool(self.visible >> self.bit_of[number] & 1)
