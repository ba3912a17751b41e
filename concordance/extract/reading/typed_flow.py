"""The flow of languages whose types are written beside the names: Java, Go, Rust, TypeScript, JavaScript.

In: names in the order of the text. Out: a flow with members, imports, bases, and the declared type of a name where
one stands beside it (`Base b`, `s *S`, `f: C`, `x = new Foo`), recognised by the text between two neighbouring names.
"""

from __future__ import annotations

import re

from concordance.base.model import ROLES, Op, Role, SymbolRelation, pack_column
from concordance.extract.reading.draft import Draft, innermost
from concordance.extract.reading.flow import (
    IMPORT_ROLE,
    INHERIT_ROLE,
    TYPE_ROLE,
    BindingSite,
    FlowBuilder,
    argument_range,
)
from concordance.extract.reading.value_syntax import WRAPPERS, Values, ValueSyntax, type_name, typed_value, value_of

_TYPED_BINDS = frozenset(ROLES.index(role) for role in (Role.WRITE, Role.DEFINE))
_TYPES = frozenset(ROLES.index(role) for role in (Role.TYPE, Role.CALL))
_BEHIND = re.compile(rb"[ \t]*\??!?:?[ \t]*(?:[&*]|mut |dyn |const |impl |readonly )*$")  # f: &mut C, s *S
_BEFORE = re.compile(rb"(?:\[\])?(?:\.\.\.)?[ \t]+$")  # Base b
_NEW = re.compile(rb"[ \t]*:?=[ \t]*(?:new[ \t]+|&)$")  # x = new Foo, x := &S{
_BRACKETS = re.compile(rb"[(){}]")
_MEMBER_FOLLOWS = re.compile(rb"\s*\??\.")
_LONGEST_MAKING = 4096  # bytes after the name of what is made in which its brackets are looked for
_SELF = re.compile(rb"(?:\bthis|\bself)[ \t]*\??(?:\.|->)[ \t]*$|\bSelf::$")
_PATH = re.compile(rb"\b(?:crate|self|super(?: *:: *super)*) *:: *$")
_SUPER = re.compile(rb"\bsuper[ \t]*\.[ \t]*$")
_CLASSES = ("class", "struct", "interface", "enum", "union")


def build_typed_flow(draft: Draft, builder: FlowBuilder, syntax: ValueSyntax | None = None) -> None:
    """Build the flow of a file; `syntax` has its calls, bindings and results."""
    data = draft.source.data
    names = builder.names
    _attach_outside_methods(builder)
    if syntax is not None and syntax.overloads:
        builder.more["symbol_arity"] = pack_column([argument_range(symbol) for symbol in builder.symbols])

    def receiver(place: int) -> int:
        before = data[max(0, names.starts[place] - 24) : names.starts[place]]
        around = _class_around(builder, names.scope[place])
        if around >= 0 and _SELF.search(before):
            return builder.expression(Op.OF_TYPE, builder.expression(Op.SYMBOL, around))
        if around >= 0 and _SUPER.search(before):
            return builder.expression(Op.SUPER, around + 1)
        if syntax is not None and syntax.rust:
            path = _PATH.search(before)
            if path is not None:
                return _module_path(builder, names.scope[place], path[0].decode().replace(" ", "").split("::")[:-1])
            if around < 0 and _SELF.search(before):
                return syntax.implemented_type(builder, names.starts[place])
        return syntax.receiver(builder, data, names.starts[place], around) if syntax is not None else 0

    calls = syntax.argument_counts() if syntax is not None else None
    builder.add_name_expressions(receiver, nested=draft.sees_members, calls=calls)
    if syntax is not None and syntax.rust:
        _mark_macros(data, builder)
    builder.define()
    builder.bring_in()
    _imports(draft, builder)
    if syntax is None or not syntax.rust:
        _types(data, builder)
    if syntax is not None:
        _values(len(data), builder, syntax)
        places = {definition.at: definition.place for definition in draft.definitions}
        for exported, name in syntax.defaults:
            place = places.get(name.start_byte)
            value = builder.expression(Op.SYMBOL, place) if place is not None else builder.ending(name.end_byte)
            builder.bind(0, builder.name_index(exported), value)
    _bases(draft, builder)


def _module_path(builder: FlowBuilder, scope: int, parts: list[str]) -> int:
    """Return the module that a path starts at: `crate`, `self`, or `super` once or more; a file is its own `self`."""
    around = []
    while scope >= 0:
        symbol = builder.scopes[scope].symbol
        if symbol >= 0 and builder.symbols[symbol].kind == "namespace":
            around.append(symbol)
        scope = builder.scopes[scope].parent
    if parts[0] == "crate":
        return builder.expression(Op.LOOKUP, builder.name_index("crate"))
    above = parts.count("super")
    if above < len(around):
        return builder.expression(Op.SYMBOL, around[above])
    module = builder.expression(Op.LOOKUP, builder.name_index("super" if above > len(around) else "self"))
    for _ in range(above - len(around) - 1):
        module = builder.expression(Op.MEMBER, module, builder.name_index("super"))
    return module


def _mark_macros(data: bytes, builder: FlowBuilder) -> None:
    """Tell names of macros that the file does not define (`name!(…)`) from other names."""
    names = builder.names
    defined = {symbol.name for symbol in builder.symbols if symbol.kind == "macro"}
    for place, end in enumerate(names.ends):
        is_macro = data[end : end + 1] == b"!" and data[end + 1 : end + 2] in (b"(", b"[", b"{", b" ")
        is_own = names.bound[place] and names.table[names.name[place]] in defined
        if is_macro and not names.receivers[place] and not is_own:
            builder.use[place] = builder.expression(Op.LOOKUP, names.name[place], 1)


def _values(length: int, builder: FlowBuilder, syntax: ValueSyntax) -> None:
    """Bind variables to their values, and functions to what they return."""
    names = builder.names
    for name, node, part in syntax.bindings():
        place = builder.by_end.get(name.end_byte)
        if place is None or not names.bound[place] or names.receivers[place]:
            continue
        value = value_of(builder, _class_around(builder, names.scope[place]), node)
        if value and part:
            value = builder.expression(Op.PART, value, part + 1)
        variable = builder.variable(names.bound[place] - 1, names.name[place])
        builder.sites.setdefault(variable, []).append(BindingSite(names.starts[place], value, (0, length + 1)))
    _pattern_values(builder, syntax)
    for name, node in syntax.elements():
        place = builder.by_end.get(name.end_byte)
        if place is not None and names.bound[place] and not names.receivers[place]:
            value = value_of(builder, _class_around(builder, names.scope[place]), node)
            if value:
                builder.bind(names.bound[place] - 1, names.name[place], builder.expression(Op.ITEM, value))
    for name, typed in syntax.typed():
        place = builder.by_end.get(name.end_byte)
        if place is not None and names.bound[place] and not names.receivers[place]:
            value = typed_value(builder, _class_around(builder, names.scope[place]), typed)
            builder.bind(names.bound[place] - 1, names.name[place], value)
    for alias, name in syntax.aliases():
        builder.bind(
            0, builder.name_index((alias.text or b"").decode("utf-8", "replace")), builder.ending(name.end_byte)
        )
    for member, named in syntax.properties():
        builder.bind(0, builder.name_index(member.decode("utf-8", "replace")), builder.ending(named.end_byte))
    for name, typed in syntax.results():
        symbol = builder.defined.get(name.start_byte)
        if symbol is not None:
            parent = builder.symbols[symbol].parent
            around = parent if parent >= 0 and builder.symbols[parent].kind in _CLASSES else -1
            builder.relate(symbol, SymbolRelation.RETURNS, typed_value(builder, around, typed))


def _pattern_values(builder: FlowBuilder, syntax: ValueSyntax) -> None:
    """Bind the names in patterns, the parameters of types, and the fields of tuples."""
    names = builder.names
    unknown = builder.expression(Op.PART, 0, 1) if syntax.rust else 0  # it may differ from the type of another value
    for name, evaluate in syntax.patterns():
        place = builder.by_end.get(name.end_byte)
        if place is not None and names.bound[place] and not names.receivers[place]:
            value = evaluate(Values(builder, _class_around(builder, names.scope[place])))
            builder.bind(names.bound[place] - 1, names.name[place], value or unknown)
    for name, bound in syntax.bounds():
        place = builder.by_end.get(name.end_byte)
        if place is not None and names.bound[place] and not names.receivers[place]:
            builder.bind(names.bound[place] - 1, names.name[place], typed_value(builder, -1, bound))
    scopes = {scope.symbol: place for place, scope in enumerate(builder.scopes) if scope.symbol >= 0}
    for name, types in syntax.fields():
        symbol = builder.defined.get(name.start_byte)
        for place, typed in enumerate(types) if symbol is not None else ():
            value = typed_value(builder, symbol if symbol is not None else -1, typed)
            if symbol is not None:
                builder.relate(symbol, SymbolRelation.TYPE, value or unknown)
                if symbol in scopes:
                    builder.bind(scopes[symbol], builder.name_index(str(place)), value)
    classes = {symbol.name: place for place, symbol in enumerate(builder.symbols) if symbol.kind in _CLASSES}
    for typed, trait in syntax.implementations():
        word = builder.by_end.get(type_name(typed).end_byte)
        symbol = classes.get(names.table[names.name[word]]) if word is not None else None
        if symbol is not None:
            builder.relate(symbol, SymbolRelation.BASE, builder.ending(type_name(trait).end_byte))


def _attach_outside_methods(builder: FlowBuilder) -> None:
    """Move methods defined outside of their class (Go, Rust) into it; if it is in another file, record its name."""
    places = {symbol.key: place for place, symbol in enumerate(builder.symbols)}
    within = [0] * len(builder.symbols)
    for place, symbol in enumerate(builder.symbols):
        owner = symbol.key.rpartition(".")[0] if symbol.parent < 0 else ""
        if owner and owner not in places:
            within[place] = builder.name_index(owner.rpartition(".")[2]) + 1
    if any(within):
        builder.more["symbol_within"] = pack_column(within)
    inside = [places.get(s.key.rpartition(".")[0], -1) for s in builder.symbols]  # maybe a class in the same module
    builder.symbols = tuple(
        s._replace(parent=owner) if s.parent < 0 or owner > s.parent else s
        for s, owner in zip(builder.symbols, inside, strict=True)
    )


def _class_around(builder: FlowBuilder, scope: int) -> int:
    """Return the class around a scope; in an `impl` block, the class of the methods."""
    while scope >= 0:
        symbol = builder.scopes[scope].symbol
        while symbol >= 0:
            if builder.symbols[symbol].kind in _CLASSES:
                return symbol
            symbol = builder.symbols[symbol].parent
        scope = builder.scopes[scope].parent
    return -1


def _imports(draft: Draft, builder: FlowBuilder) -> None:
    """Give names in import statements the import that brings them in."""
    names = builder.names
    rows: dict[str, list[tuple[int, int]]] = {}
    for place, row in enumerate(builder.imports):
        for name in {row.name, row.alias} - {"", "*"}:
            rows.setdefault(name, []).append((row.line, place))
    for place, role in enumerate(names.role):
        if role == IMPORT_ROLE and names.table[names.name[place]] in rows:
            line = draft.source.line(names.starts[place])
            named = rows[names.table[names.name[place]]]
            _, best = min(named, key=lambda row: (row[0] > line, abs(line - row[0])))  # a statement may span lines
            builder.use[place] = builder.expression(Op.IMPORT, best)


def _types(data: bytes, builder: FlowBuilder) -> None:
    """Bind names to the types written next to them."""
    names, use = builder.names, builder.use
    for place in range(len(use)):
        if names.role[place] not in _TYPED_BINDS or not names.bound[place] or names.receivers[place]:
            continue
        between = data[names.ends[place - 1] : names.starts[place]] if place else b""
        typed = use[place - 1] if place and names.role[place - 1] == TYPE_ROLE and _BEFORE.match(between) else 0
        after = place + 1
        last = after
        while last + 1 < len(use) and names.receivers[last + 1] == 1:  # s *store.Store
            last += 1
        if not typed and last < len(use) and names.role[last] in _TYPES:
            between = data[names.ends[place] : names.starts[after]]
            is_declared = names.role[last] == TYPE_ROLE and _BEHIND.match(between)
            is_made = _NEW.match(between) and not _is_chained(data, names.ends[last])
            if (is_declared or is_made) and names.table[names.name[last]] not in WRAPPERS:
                typed = use[last]
        if typed:
            variable = builder.variable(names.bound[place] - 1, names.name[place])
            value = builder.expression(Op.OF_TYPE, typed)
            builder.sites.setdefault(variable, []).append(BindingSite(names.starts[place], value, (0, len(data) + 1)))


def _is_chained(data: bytes, end: int) -> bool:
    """True if a member of what is made is used at once: `new Builder(…).build()`, whose value is of another type."""
    depth = 0
    for match in _BRACKETS.finditer(data, end, end + _LONGEST_MAKING):
        depth += 1 if match[0] in b"({" else -1
        if depth <= 0:
            return _MEMBER_FOLLOWS.match(data, match.end()) is not None
    return False


def _bases(draft: Draft, builder: FlowBuilder) -> None:
    """Record the bases of each class: the names in its head with the role `inherit`."""
    names = builder.names
    places = [place for place, role in enumerate(names.role) if role == INHERIT_ROLE]
    if not places:
        return
    spans = sorted((d.start, d.end, d.place) for d in draft.definitions if d.kind in _CLASSES)
    inside = innermost([names.starts[place] for place in places], [(0, len(draft.source.data) + 1, -1), *spans])
    for place, symbol in zip(places, inside, strict=True):
        if symbol >= 0 and not (place + 1 < len(builder.use) and names.receivers[place + 1] == 1):
            builder.relate(symbol, SymbolRelation.BASE, builder.use[place])
