"""Flow of the C family: receivers of members, declared types, and names that `using` brings into scope.

In: the names of a file with their scopes, and where its calls are. Out: the file's flow, with these conventions for the
linker:

A name that a function binds for itself is a NAME. Any other name is a LOOKUP in the innermost scope that matters for
it: a class, a namespace, the file, a function that contains `using`, or a function defined outside of its class (all
functions of one class share the first one's scope, because they look names up alike). A name before "::" can only be a
namespace or type, and one after `struct` cannot be a variable: both are marked by adding the number of scopes to the
LOOKUP's scope. `this` is a LOOKUP, too. A called name is a CALL of the name, with the number of arguments plus one: as
a name it is the callee, as a value what the callee returns.

A value declared `const` is an OF_TYPE with 1 on its right; `const auto` gives a CAST of the value.

`using namespace x` binds x to the variable "using namespace" of its scope, `using x::y` binds x::y to "using". Template
parameters are bound to PARAMETERs of their symbol. Recorded for symbols are: the type of a variable or field, or the
target of an alias (TYPE), what a function returns (RETURNS), and the bases of a class (BASE). `symbol_flags` adds what
else the linker needs to know about symbols.
"""

from __future__ import annotations

import re

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import Kind, Op, Role, SymbolRelation
from concordance.extract.cfamily import symbol_flags
from concordance.extract.cfamily.expressions import (
    CALL,
    EACH,
    LOOKUP,
    MEMBER,
    NAME,
    OF_TYPE,
    PART,
    Calls,
    CExpressions,
    opening_bracket,
    strip_qualifiers,
)
from concordance.extract.reading.draft import ROLE_CODES, Draft, innermost
from concordance.extract.reading.flow import FlowBuilder

_SYMBOL, _PARAMETER, _CAST = int(Op.SYMBOL), int(Op.PARAMETER), int(Op.CAST)
_CALLED, _WRITTEN, _TYPE = ROLE_CODES[Role.CALL], ROLE_CODES[Role.WRITE], ROLE_CODES[Role.TYPE]
_FIRST_USE = _CALLED  # the roles with lower codes define or declare
_HOLDERS = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD))
_CLASSES = frozenset((Kind.CLASS, Kind.STRUCT, Kind.UNION))
_NO_USERS = frozenset((Kind.NAMESPACE, Kind.MACRO))
_PLAIN_SEPARATORS = frozenset((b" ", b"& ", b"* ", b" &", b" *", b"&& ", b" const& ", b" const* "))
_BEGINS = re.compile(rb"\s*(=|:(?!:)|\{|\()")
_BRACKET = re.compile(rb"\bauto[\s&]*\[\s*\Z")
_END_OF_BRACKET = re.compile(rb"[^\]=;]*\]\s*(=|:|\{|\()")
_USING = re.compile(rb"using\s+namespace\s+[\w:\s]*?(\w+)\s*;")
_TAGS = (b"struct ", b"union ", b"enum ", b"class ")
_LONGEST = 400  # most bytes between a type and the name that it declares


def build_c_flow(draft: Draft, builder: FlowBuilder, lists: list[tuple[int, int, int]]) -> None:
    """Build a file's flow; `lists` are the argument lists of its calls: start, end, number of arguments."""
    _CFlow(draft, builder, lists).run()


class _CFlow:
    def __init__(self, draft: Draft, builder: FlowBuilder, lists: list[tuple[int, int, int]]) -> None:
        self.draft, self.builder = draft, builder
        self.data = draft.source.data
        self.calls = Calls(self.data, lists)
        self.values = CExpressions(builder, self.data, self.calls)
        self.within = {d.place: d.within for d in draft.definitions if d.within}
        self.fixtures = symbol_flags.fixtures(draft)
        self.classes = {d.end: d.place for d in draft.definitions if d.kind in _CLASSES}  # by their end
        self.using = self._directives()
        self.enclosing_scope = self._enclosing_scopes()
        self.declared: list[int] = []  # indices of names that are declared where they occur
        self.places: dict[int, int] = {}  # index of each symbol's name
        self.types: dict[int, int] = {}  # the value found for a declared name, by its index

    def run(self) -> None:
        """Build names first, then the facts about them."""
        builder = self.builder
        self._names()
        self._parameters()
        for symbol, place in self.places.items():
            self._symbol(symbol, place)
        for place in self.declared:
            self._local(place)
        self._bind_using()
        builder.users = self._users()
        builder.more = symbol_flags.columns(self.draft, builder.symbols, self._special(), builder.name_index)

    def _users(self) -> dict[int, int]:
        """Return the definition around each name that is in no scope but a namespace's: a return type, a base, a value.

        The definition uses it, not the namespace.
        """
        builder, names = self.builder, self.builder.names
        is_loose: list[bool] = []
        for scope in builder.scopes:
            if scope.symbol >= 0:
                is_loose.append(builder.symbols[scope.symbol].kind == Kind.NAMESPACE)
            else:
                is_loose.append(scope.parent < 0 or is_loose[scope.parent])
        places = [place for place, scope in enumerate(names.scope) if is_loose[scope]]
        spans = sorted(
            (d.start, d.end, d.place) for d in self.draft.definitions if d.place >= 0 and d.kind not in _NO_USERS
        )
        scopes = innermost([names.starts[place] for place in places], [(0, len(self.data) + 1, -1), *spans])
        return {place: symbol for place, symbol in zip(places, scopes, strict=True) if symbol >= 0}

    # --- names -------------------------------------------------------------------------------

    def _directives(self) -> list[int]:
        """Return the indices of the names that `using namespace` statements end with."""
        by_end = self.builder.by_end
        ends = (by_end.get(match.end(1)) for match in _USING.finditer(self.data))
        return [place for place in ends if place is not None]

    def _enclosing_scopes(self) -> list[int]:
        """Return for each scope the scope in which its names are looked up."""
        names = self.builder.names
        imported = ROLE_CODES[Role.IMPORT]
        used = {names.scope[place] for place in self.using}
        if imported in names.role:
            used |= {scope for scope, role in zip(names.scope, names.role, strict=True) if role == imported}
        scopes: list[int] = []
        first: dict[tuple[int, tuple[str, ...]], int] = {}
        for place, scope in enumerate(self.builder.scopes):
            if scope.parent < 0 or scope.kind in ("class", "namespace") or place in used:
                scopes.append(place)
            elif scope.kind == "function" and (around := self._class_around(scope.symbol)):
                scopes.append(first.setdefault((scopes[scope.parent], around), place))
            else:
                scopes.append(scopes[scope.parent])
        return scopes

    def _class_around(self, symbol: int) -> tuple[str, ...]:
        """Return the names of the class that a function is defined for: a method outside it, or a test of a fixture."""
        return self.within.get(symbol) or self.fixtures.get(symbol, ())

    def _names(self) -> None:
        """Give every name its expression; the local tables save the cost of calling `expression` for repeated parts."""
        builder, names = self.builder, self.builder.names
        use, expression, scope_of, counts = builder.use, builder.expression, self.enclosing_scope, self.calls.counts
        own, declared, defined, data = self.draft.bound, self.declared, builder.defined, self.data
        width, qualifies = len(names.table) + 1, len(builder.scopes)
        local = [False, *(scope.kind in ("function", "block", "lambda") for scope in builder.scopes)]
        bound_here: dict[int, int] = {}  # by binding scope and name
        looked_up: dict[int, int] = {}  # by scope and name
        members: dict[int, int] = {}  # by receiver and name
        called: dict[int, int] = {}  # by callee and number of arguments
        rows = zip(
            names.starts, names.ends, names.name, names.role, names.scope, names.bound, names.receivers, strict=True
        )
        value = 0
        for place, (start, end, name, role, scope, bound, receiver_kind) in enumerate(rows):
            if role < _FIRST_USE and start in defined:
                self.places[defined[start]] = place
                value = expression(_SYMBOL, defined[start])
                use.append(value)
                continue
            if receiver_kind:
                key = (value if receiver_kind == 1 else self._receiver(place)) * width + name
                if key not in members:
                    members[key] = expression(MEMBER, key // width, name)
                value = members[key]
            else:
                key = bound * width + name
                written = role == _WRITTEN and bound and start in own
                tagged = role == _TYPE and data.endswith(_TAGS, 0, start)
                if written or ((local[bound] or key in bound_here) and not tagged):
                    if key not in bound_here:
                        bound_here[key] = expression(NAME, builder.variable(bound - 1, name))
                    value = bound_here[key]
                    if written:
                        declared.append(place)
                else:
                    around = scope_of[scope] + qualifies if tagged or data.startswith(b"::", end) else scope_of[scope]
                    key = around * width + name
                    if key not in looked_up:
                        looked_up[key] = expression(LOOKUP, name, around)
                    value = looked_up[key]
            if role == _CALLED and end in counts:
                key = value << 16 | counts[end] & 0xFFFF
                if key not in called:
                    called[key] = expression(CALL, value, (key & 0xFFFF) + 1)
                value = called[key]
            use.append(value)
        builder.private.update(bound_here.values())
        self._local_symbols(local)

    def _local_symbols(self, local: list[bool]) -> None:
        """Bind the names of types that functions declare for themselves, so that they can be linked to."""
        builder, names = self.builder, self.builder.names
        for symbol, place in self.places.items():
            bound = names.bound[place]
            if local[bound] and builder.symbols[symbol].kind not in _HOLDERS:
                builder.bind(bound - 1, names.name[place], builder.expression(_SYMBOL, symbol))
                builder.private.discard(builder.expression(NAME, builder.variable(bound - 1, names.name[place])))

    def _receiver(self, place: int) -> int:
        """Return the receiver of a name that does not follow a name directly."""
        names, data = self.builder.names, self.data
        start = names.starts[place]
        at = start
        while data[at - 1] in b" \t\r\n~":
            at -= 1
        scope = self.enclosing_scope[names.scope[place]]
        sign = data[at - 1]
        if sign == 58:  # "::"
            value = self.values.ending(at - 2, scope) if at > 2 and data[at - 3] == 62 else 0
            return value or self.builder.expression(LOOKUP, self.builder.name_index("::"), 0)
        if sign == 46:  # "."
            return self.values.ending(at - 1, scope)
        if sign == 62 and data[at - 2] == 45:  # "->"
            return self.values.ending(at - 2, scope)
        return self.builder.ending(at) if place and at == names.ends[place - 1] else 0  # [receiver message]

    def _parameters(self) -> None:
        """Bind template parameters: the names declared before the template's own name, in its scope."""
        builder, names = self.builder, self.builder.names
        count: dict[int, int] = {}
        for place in self.declared:
            scope = names.scope[place]
            symbol = builder.scopes[scope].symbol
            if symbol < 0 or symbol not in self.places or names.starts[place] > names.starts[self.places[symbol]]:
                continue
            n = count[scope] = count.get(scope, -1) + 1
            builder.bind(scope, names.name[place], builder.expression(_PARAMETER, symbol, n))
            self.types[place] = -1

    # --- what is declared --------------------------------------------------------------------

    def _local(self, place: int) -> None:
        """Bind a variable or parameter to a value of its type."""
        if place in self.types:
            return
        names = self.builder.names
        value = self.types[place] = self._declared_value(place, place, self.enclosing_scope[names.scope[place]])
        if value:
            self.builder.bind(names.bound[place] - 1, names.name[place], value)

    def _declared_value(self, first: int, place: int, scope: int) -> int:
        """Return the value of the declared name at `place`; `first` is where its qualified form begins."""
        names, data = self.builder.names, self.data
        start, before = names.starts[first], names.ends[first - 1] if first else 0
        between = data[before:start] if start - before < _LONGEST else b";"
        text = b"" if between in _PLAIN_SEPARATORS else strip_qualifiers(between)
        if not text:
            return self.values.of_name(first - 1) if first else 0
        sign = text[-1]
        if sign == 62:  # ">"
            return self.values.of_type(before + len(text), scope)
        if sign == 125:  # "}"
            symbol = self.classes.get(before + len(text))
            return (
                self.builder.expression(OF_TYPE, self.builder.expression(_SYMBOL, symbol)) if symbol is not None else 0
            )
        if sign == 41 and data[opening_bracket(data, before + len(text), 40, 41) - 1] == 58:  # load:(Type*)name
            return self.values.of_type(before + len(text) - 1, scope)
        if sign == 111 and text.endswith(b"auto"):
            value = self._initial_value(place, scope)
            const = text[:-4].rstrip().endswith(b"const")
            return self.builder.expression(_CAST, value) if value and const else value
        if sign == 44 and text == b"," and first - 1 in self.types:
            return self._next_part(first - 1)
        if sign == 91 and _BRACKET.search(text):
            return self._first_part(place, scope)
        if sign in b"[,":
            return self._captured_value(place, scope)
        return 0

    def _initial_value(self, place: int, scope: int) -> int:
        """Return the value that initialises an `auto` variable."""
        end = self.builder.names.ends[place]
        match = _BEGINS.match(self.data, end)
        if match is None:
            return 0
        value = self.values.chain(match.end(), scope)
        return self.builder.expression(EACH, value) if value and match[1] == b":" else value

    def _captured_value(self, place: int, scope: int) -> int:
        """Return the value of a lambda's init-capture."""
        match = _BEGINS.match(self.data, self.builder.names.ends[place])
        return self.values.chain(match.end(), scope) if match is not None and match[1] == b"=" else 0

    def _first_part(self, place: int, scope: int) -> int:
        """Return the value of `a` in `auto [a, b] = …`."""
        match = _END_OF_BRACKET.match(self.data, self.builder.names.ends[place])
        value = self.values.chain(match.end(), scope) if match is not None else 0
        if value and match is not None and match[1] == b":":
            value = self.builder.expression(EACH, value)
        return self.builder.expression(PART, value, 0) if value else 0

    def _next_part(self, before: int) -> int:
        """Return the value of the next name in `A a, b` or `auto [a, b]`."""
        value = self.types[before]
        if value > 0 and self.builder.ops[value] == PART:
            return self.builder.expression(PART, self.builder.left[value], self.builder.right[value] + 1)
        return value if value > 0 and self.builder.ops[value] == OF_TYPE else 0

    def _symbol(self, symbol: int, place: int) -> None:
        """Record what a symbol's declaration says about it."""
        builder, names = self.builder, self.builder.names
        row = builder.symbols[symbol]
        kind = row.kind
        scope = self.enclosing_scope[names.scope[place]]
        if kind in FUNCTION_KINDS:
            first = place
            while first and names.receivers[first]:
                first -= 1
            builder.relate(symbol, SymbolRelation.RETURNS, self._returned(first, scope))
        elif kind in _HOLDERS:
            builder.relate(symbol, SymbolRelation.TYPE, self._declared_value(place, place, scope))
        elif kind in _CLASSES:
            if row.bases:
                self._bases(symbol, place)
        elif kind == Kind.TYPE or (kind == Kind.NAMESPACE and "=" in row.signature):
            builder.relate(symbol, SymbolRelation.TYPE, self._alias_target(place, scope))

    def _returned(self, first: int, scope: int) -> int:
        names, data = self.builder.names, self.data
        start, before = names.starts[first], names.ends[first - 1] if first else 0
        text = strip_qualifiers(data[before:start]) if start - before < _LONGEST else b";"
        if not text:
            return self.values.of_name(first - 1) if first else 0
        return self.values.of_type(before + len(text), scope) if text[-1] == 62 else 0

    def _bases(self, symbol: int, place: int) -> None:
        at = self.builder.names.ends[place]
        end = self.data.find(b"{", at)
        start = self.data.find(b":", at, end)
        while start > 0 and self.data[start + 1] == 58:
            start = self.data.find(b":", start + 2, end)
        if start < 0:
            return
        self._outward(place + 1, end)
        scope, depth = self.enclosing_scope[self.builder.names.scope[place]], 0
        for here in range(start, end + 1):
            sign = self.data[here]
            depth += sign in b"<("
            depth -= sign in b">)"
            if (sign == 44 and not depth) or here == end:
                self.builder.relate(symbol, SymbolRelation.BASE, self.values.type(here, scope))

    def _outward(self, place: int, end: int) -> None:
        """Look up the names in a class's head in the scope around the class, because they name its bases."""
        builder, names = self.builder, self.builder.names
        use = builder.use
        while place < len(use) and names.starts[place] < end:
            if names.receivers[place] == 1:
                use[place] = builder.expression(MEMBER, use[place - 1], names.name[place])
            elif builder.ops[use[place]] == LOOKUP:
                scope = self.enclosing_scope[max(0, builder.scopes[names.scope[place]].parent)]
                if builder.right[use[place]] >= len(builder.scopes):
                    scope += len(builder.scopes)
                use[place] = builder.expression(LOOKUP, names.name[place], scope)
            place += 1

    def _alias_target(self, place: int, scope: int) -> int:
        """Return the target of an alias: what follows "=", or what precedes the name in a typedef."""
        match = _BEGINS.match(self.data, self.builder.names.ends[place])
        if match is not None and match[1] == b"=":
            end = self.data.find(b";", match.end())
            return self.values.type(end, scope) if 0 < end < match.end() + _LONGEST else 0
        value = self._returned(place, scope)
        return self.builder.left[value] if value else 0

    def _bind_using(self) -> None:
        """Bind what `using` brings into a scope."""
        builder, names = self.builder, self.builder.names
        for place in self.using:
            builder.bind(names.scope[place], builder.name_index("using namespace"), builder.use[place])
        imported = ROLE_CODES[Role.IMPORT]
        at = names.role.find(imported)
        directives = set(self.using)
        while at >= 0:
            if at not in directives:
                builder.bind(names.scope[at], builder.name_index("using"), builder.use[at])
            at = names.role.find(imported, at + 1)

    def _special(self) -> set[int]:
        """Return the symbols that are template specialisations: those with "<" after their name."""
        ends, data = self.builder.names.ends, self.data
        return {symbol for symbol, place in self.places.items() if data.startswith(b"<", ends[place])}
