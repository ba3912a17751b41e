"""Builds a file's flow: every distinct expression that ends in a name, stored once.

In: the names of a file with their scopes and bindings, as collected by `Draft`. Out: a `Flow`, which the linker later
evaluates to find what each name refers to. Names, members of names, symbols and imports work the same way in every
language and are handled here. What else is bound to a variable is added by the language's own flow module, through
`bind` and `sites`, with expressions that it builds here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from concordance.base.model import (
    KINDS,
    ROLES,
    Flow,
    Import,
    Kind,
    Op,
    Role,
    Scope,
    Symbol,
    SymbolRelation,
    pack_column,
)

TYPE_ROLE, IMPORT_ROLE, INHERIT_ROLE = ROLES.index(Role.TYPE), ROLES.index(Role.IMPORT), ROLES.index(Role.INHERIT)
FIRST_VERSION = 1 << 30  # numbers from here on are versions of variables, renumbered once all variables are known
_MANY = 255  # arguments, or more
MAX_LOOKBACK = 16  # most bindings to look back at; with more of them in branches, the whole variable is meant


class NameColumns(NamedTuple):
    """The names of a file in the order of the text, as columns of equal length."""

    starts: list[int]
    ends: list[int]
    name: list[int]  # index into `table`; a private name has the name that it is bound under
    role: bytes
    scope: list[int]
    bound: list[int]  # the scope that binds it, plus one
    receivers: bytes  # what is before each name: 0 no receiver, 1 a name, 2 another expression
    table: list[str]


class BindingSite(NamedTuple):
    """A place where a variable is bound."""

    at: int  # the offset from which it holds
    value: int  # an expression
    block: tuple[int, int]  # range in which this binding is certain to have been executed
    narrows: bool = False  # whether it holds only inside its block


@dataclass(slots=True)
class FlowBuilder:
    """Builds the flow of one file."""

    names: NameColumns
    scopes: list[Scope]
    intervals: list[tuple[int, int, int]]  # ranges of the text with the scope that each belongs to
    symbols: tuple[Symbol, ...]
    imports: tuple[Import, ...]
    defined: dict[int, int]  # symbols by the start of their names
    ops: list[int] = field(default_factory=lambda: [Op.UNKNOWN])
    left: list[int] = field(default_factory=lambda: [0])
    right: list[int] = field(default_factory=lambda: [0])
    use: list[int] = field(default_factory=list)  # the expression of each name
    expressions: dict[tuple[int, int, int], int] = field(default_factory=dict)
    variables: dict[tuple[int, int], int] = field(default_factory=dict)  # (scope, name) -> whole variable
    versions: dict[tuple[int, ...], int] = field(default_factory=dict)  # (whole variable, *sites) -> version of it
    sites: dict[int, list[BindingSite]] = field(default_factory=dict)
    values: dict[int, list[int]] = field(default_factory=dict)  # by whole variable
    relations: list[tuple[int, int, int]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # all names; those that occur in the text come first
    name_indexes: dict[str, int] = field(default_factory=dict)  # index of each name in `texts`
    by_end: dict[int, int] = field(default_factory=dict)  # end of a name -> its index
    more: dict[str, bytes] = field(default_factory=dict)  # columns of the flow that only some languages have
    users: dict[int, int] = field(default_factory=dict)  # index of a name -> its user, if not its scope
    private: set[int] = field(default_factory=set)  # expressions that nothing outside of a function can refer to

    def __post_init__(self) -> None:
        self.texts = list(self.names.table)
        self.name_indexes = dict(zip(self.texts, range(len(self.texts)), strict=True))
        self.by_end = dict(zip(self.names.ends, range(len(self.names.ends)), strict=True))

    def name_index(self, name: str) -> int:
        """Return the index of a name in `texts`, adding it if it is new."""
        place = self.name_indexes.get(name)
        if place is None:
            place = self.name_indexes[name] = len(self.texts)
            self.texts.append(name)
        return place

    def expression(self, op: int, left: int, right: int = 0) -> int:
        """Return the number of an expression; equal parts give the same number."""
        key = (op, left, right)
        number = self.expressions.get(key)
        if number is None:
            number = self.expressions[key] = len(self.ops)
            self.ops.append(op)
            self.left.append(left)
            self.right.append(right)
        return number

    def variable(self, scope: int, name: int) -> int:
        """Return the variable for a name in a scope."""
        return self.variables.setdefault((scope, name), len(self.variables))

    def either(self, values: Iterable[int]) -> int:
        """Return an expression for any of the given ones; 0 if there is none."""
        alternatives = 0
        for value in dict.fromkeys(values):
            if value:
                alternatives = self.expression(Op.EITHER, alternatives, value) if alternatives else value
        return alternatives

    def bind(self, scope: int, name: int, value: int) -> None:
        """Add a value to a variable, valid wherever the variable is read."""
        values = self.values.setdefault(self.variable(scope, name), [])
        if value and value not in values:
            values.append(value)

    def relate(self, symbol: int, what: SymbolRelation, value: int) -> None:
        """Record a fact about a symbol (its base, type, …) as an expression."""
        if value:
            self.relations.append((symbol, what, value))

    def ending(self, end: int) -> int:
        """Return the expression of the name that ends at an offset, 0 if none does."""
        place = self.by_end.get(end)
        return self.use[place] if place is not None else 0

    def add_name_expressions(
        self, receiver: Callable[[int], int], version: Callable[[int, int], int] | None = None, nested: bool = False,
        calls: Mapping[int, int] | None = None,
    ) -> None:  # fmt: skip
        """Give every name its expression.

        `receiver` returns, for the index of a name that follows an expression, that expression. `version` returns, for
        the index of a name and a variable with several binding sites, the version of the variable that the name reads.
        With `nested`, names that nothing in this file binds keep their scope, because it matters for their lookup.
        `calls` has, by the start of a name that is called, the number of arguments plus one, in languages where this
        says which definition is meant: such a name and its call are one expression.
        """
        use, expression, variable = self.use, self.expression, self.variable
        names, sites = self.names, self.sites
        plain: dict[int, int] = {}  # expressions of names that mean the same wherever they are read
        width = len(names.table)
        rows = zip(names.name, names.scope, names.bound, names.receivers, strict=True)
        for place, (name, scope, bound, receiver_kind) in enumerate(rows):
            if receiver_kind == 1:
                use.append(expression(Op.MEMBER, use[-1], name))
            elif receiver_kind:
                on = receiver(place)
                # The name of a keyword argument means nothing if the called function is not known.
                use.append(expression(Op.MEMBER, on, name) if on or names.role[place] != _MENTION else 0)
            elif bound:
                key = bound * width + name  # half the cost of a tuple
                known = plain.get(key)
                if known is None:
                    whole = variable(bound - 1, name)
                    if version is not None and len(sites.get(whole, ())) > 1:
                        known = expression(Op.NAME, version(place, whole))
                    else:
                        known = plain[key] = expression(Op.NAME, whole)
                use.append(known)
            else:
                use.append(expression(Op.LOOKUP, name, scope if nested else 0))
            if calls and names.starts[place] in calls:
                use[-1] = expression(Op.CALL, use[-1], calls[names.starts[place]])

    def reaching(self, place: int, whole: int) -> int:
        """Return the version of a variable that a name reads: the bindings that can reach it (reaching definitions)."""
        sites = self.sites.get(whole)
        if sites is None or whole in self.values or self.names.role[place] in _BINDS:
            return whole
        scope, binding = self.names.scope[place], self.names.bound[place] - 1
        while scope != binding and self.scopes[scope].kind == "comprehension":
            scope = self.scopes[scope].parent
        if scope != binding:
            return whole  # read in another function, at an unknown time
        at = self.names.starts[place]
        last = bisect_right(sites, at, key=_site_offset) - 1
        reached: list[int] = []
        for n in range(last, max(-1, last - MAX_LOOKBACK), -1):
            inside = sites[n].block[0] <= at < sites[n].block[1]
            if inside or not sites[n].narrows:
                reached.append(n)
            if inside:
                break
        if not reached or len(reached) == len(sites) or len(reached) == MAX_LOOKBACK:
            return whole
        return self.versions.setdefault((whole, *sorted(reached)), FIRST_VERSION + len(self.versions))

    def define(self) -> None:
        """Bind symbols to their names."""
        names, defined = self.names, self.defined
        for place, start in enumerate(names.starts):
            if start in defined:
                symbol = defined[start]
                value = self.expression(Op.SYMBOL, symbol)
                kind, binding = self.symbols[symbol].kind, names.bound[place] - 1
                around = self.scopes[binding].symbol if binding >= 0 else -1
                outside = kind == Kind.METHOD and (around < 0 or around != self.symbols[symbol].parent)
                if binding >= 0 and not names.receivers[place] and kind not in _HOLDERS and not outside:
                    self.bind(names.bound[place] - 1, names.name[place], value)
                self.use[place] = value

    def bring_in(self) -> None:
        """Bind what imports bring in: under the alias, the name, or the first part of the module's name."""
        for place, row in enumerate(self.imports):
            bound = row.alias or row.name or row.module.rpartition("::")[2].split(".")[0]
            if bound == "*" or bound not in self.name_indexes:
                continue
            whole = row.name or row.alias
            value = self.expression(Op.IMPORT, place) if whole else self.expression(Op.PACKAGE, place, 1)
            scope = row.scope
            while scope >= 0 and (scope, self.name_indexes[bound]) not in self.variables:
                scope = self.scopes[scope].parent
            if scope >= 0:
                self.bind(scope, self.name_indexes[bound], value)

    def flow(self, exports: tuple[str, ...] | None) -> Flow:
        """Return the finished flow."""
        parts = sorted((version, key) for key, version in self.versions.items())
        whole = len(self.variables)
        shift = {version: whole + n for n, (version, _) in enumerate(parts)}
        lefts = self.left
        if shift:
            lefts = [shift.get(v, v) if op == Op.NAME else v for op, v in zip(self.ops, lefts, strict=True)]
        bindings = list(self.variables)
        bindings += [bindings[key[0]] for _, key in parts]
        owner = self._owners()
        pairs: list[tuple[int, int]] = []
        for variable in sorted(self.values.keys() | self.sites.keys()):
            pairs += [(variable, value) for value in self.values.get(variable, ())]
            sites = self.sites.get(variable, ())
            pairs += [(variable, site.value) for site in sites if not site.narrows and site.value]
        for version, key in parts:
            sites = self.sites[key[0]]
            pairs += [(shift[version], sites[n].value) for n in key[1:] if sites[n].value]
        users = self._users()
        used, codes = list(users), users.values()
        width = len(self.ops)
        return Flow(
            tuple(self.texts), bytes(self.ops), pack_column(lefts), pack_column(self.right), whole,
            pack_column([scope for scope, _ in bindings]), pack_column([name for _, name in bindings]),
            pack_column([owner.get(binding, -1) + 1 for binding in bindings]),
            pack_column([variable for variable, _ in pairs]), pack_column([value for _, value in pairs]),
            tuple(scope.kind for scope in self.scopes), pack_column([scope.parent + 1 for scope in self.scopes]),
            pack_column([scope.symbol + 1 for scope in self.scopes]),
            bytes([_KIND[symbol.kind] for symbol in self.symbols]),
            pack_column([self.name_indexes[symbol.name] for symbol in self.symbols]),
            pack_column([symbol.parent + 1 for symbol in self.symbols]),
            pack_column([symbol for symbol, _, _ in self.relations]), bytes([what for _, what, _ in self.relations]),
            pack_column([value for _, _, value in self.relations]),
            pack_column([key // width for key in used]), pack_column([key % width for key in used]),
            pack_column([row & _ROLES for row in codes]),
            self.imports, exports, times=pack_column([row >> _WIDTH for row in codes]), **self.more,
        )  # fmt: skip

    def _owners(self) -> dict[tuple[int, int], int]:
        """Return the symbol of each variable: the first one defined under its name in its scope."""
        opened = {scope.symbol: place for place, scope in enumerate(self.scopes) if scope.symbol >= 0}
        owners: dict[tuple[int, int], int] = {}
        for place, symbol in enumerate(self.symbols):
            name = self.name_index(symbol.name)
            if symbol.parent < 0 and symbol.kind != Kind.METHOD:  # such a method is one of a class in another file
                owners.setdefault((0, name), place)
            elif symbol.parent in opened:
                owners.setdefault((opened[symbol.parent], name), place)
        return owners

    def _users(self) -> dict[int, int]:
        """Return the expressions that each symbol uses, with roles (lower bits) and count (higher bits).

        A key is (symbol + 1) * number of expressions + expression: at half the cost of a tuple.

        Definitions and declarations do not count as uses of themselves; what is named to declare something else (`A` in
        `void A::f() {}`) has the role of a declaration, so that it is linked, but not counted.
        """
        width, ops, users = len(self.ops), self.ops, self.users
        around: list[int] = []  # by scope: the symbol around it, plus one, times the width
        for scope in self.scopes:
            own = scope.symbol >= 0 or scope.parent < 0
            around.append((scope.symbol + 1) * width if own else around[scope.parent])
        bases = [around[scope] for scope in self.names.scope]
        for place, user in users.items():
            bases[place] = (user + 1) * width
        uses: dict[int, int] = {}
        get, private = uses.get, self.private
        for base, used, role in zip(bases, self.use, self.names.role, strict=True):
            if used not in private and (role >= _FIRST_USE or (role == _DECLARE and ops[used] != Op.SYMBOL)):
                key = base + used
                uses[key] = (get(key, 0) | 1 << role) + 1 + _ROLES
        return uses


def _site_offset(site: BindingSite) -> int:
    return site.at


# Symbols of these kinds hold a value: their meaning is what is bound to them.
_HOLDERS = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD, Kind.ENUMERATOR, Kind.KEY))
_BINDS = frozenset(
    place for place, role in enumerate(Role) if role in (Role.DEFINE, Role.DECLARE, Role.WRITE, Role.IMPORT)
)
_WIDTH = len(Role)
_MENTION = tuple(Role).index(Role.MENTION)
_DECLARE = tuple(Role).index(Role.DECLARE)
_KIND = {str(kind): place for place, kind in enumerate(KINDS)}
_ROLES = (1 << len(Role)) - 1
_FIRST_USE = tuple(Role).index(Role.CALL)  # the roles before it define or declare


def argument_range(symbol: Symbol) -> int:
    """Return the fewest arguments that a function takes, plus 256 times the most."""
    least = most = 0
    for parameter in symbol.parameters:
        if parameter.kind == "*":
            most = _MANY
        else:
            most = min(most + 1, _MANY)
            least += not parameter.default
    return min(least, _MANY) | most << 8
