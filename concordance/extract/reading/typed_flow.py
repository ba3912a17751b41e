"""The flow of languages whose types are written beside the names: Java, Go, Rust, TypeScript, JavaScript."""

from __future__ import annotations

import re

from concordance.base.model import ROLES, Op, Role, SymbolRelation, pack_column
from concordance.extract.reading.draft import Draft, innermost
from concordance.extract.reading.flow import _IMPORT, _INHERIT, _TYPE, BindingSite, FlowBuilder, argument_range
from concordance.extract.reading.value_syntax import WRAPPERS, Values, ValueSyntax, type_name, typed_value, value_of

_TYPED_BINDS = frozenset(ROLES.index(role) for role in (Role.WRITE, Role.DEFINE))
_TYPES = frozenset(ROLES.index(role) for role in (Role.TYPE, Role.CALL))
_BEHIND = re.compile(rb"[ \t]*\??!?:?[ \t]*(?:[&*]|mut |dyn |const |impl |readonly )*$")  # f: &mut C, s *S
_BEFORE = re.compile(rb"(?:\[\])?(?:\.\.\.)?[ \t]+$")  # Base b
_NEW = re.compile(rb"[ \t]*:?=[ \t]*(?:new[ \t]+|&)$")  # x = new Foo, x := &S{
_SELF = re.compile(rb"(?:\bthis|\bself)[ \t]*\??(?:\.|->)[ \t]*$|\bSelf::$")
_PATH = re.compile(rb"\b(?:crate|self|super(?: *:: *super)*) *:: *$")
_SUPER = re.compile(rb"\bsuper[ \t]*\.[ \t]*$")
_CLASSES = ("class", "struct", "interface", "enum", "union")


# ---
# The flow of languages whose types are written beside the names: Java, Go, Rust, TypeScript, JavaScript.
#
# In: names in the order of the text. Out: a flow with members, imports, bases, and the declared type of a name where
# one stands beside it (`Base b`, `s *S`, `f: C`, `x = new Foo`). What is between two names tells.


def build_typed_flow(draft: Draft, woven: FlowBuilder, syntax: ValueSyntax | None = None) -> None:
    """Build the flow of a file; `syntax` has its calls, bindings and results."""
    data = draft.source.data
    names = woven.names
    _attach_outside_methods(woven)
    if syntax is not None and syntax.overloads:
        woven.more["symbol_arity"] = pack_column([argument_range(symbol) for symbol in woven.symbols])

    def receiver(place: int) -> int:
        before = data[max(0, names.starts[place] - 24) : names.starts[place]]
        around = _class_around(woven, names.scope[place])
        if around >= 0 and _SELF.search(before):
            return woven.expression(Op.OF_TYPE, woven.expression(Op.SYMBOL, around))
        if around >= 0 and _SUPER.search(before):
            return woven.expression(Op.SUPER, around + 1)
        if syntax is not None and syntax.rust:
            path = _PATH.search(before)
            if path is not None:
                return _module_path(woven, names.scope[place], path[0].decode().replace(" ", "").split("::")[:-1])
            if around < 0 and _SELF.search(before):
                return syntax.implemented_type(woven, names.starts[place])
        return syntax.receiver(woven, data, names.starts[place], around) if syntax is not None else 0

    calls = syntax.argument_counts() if syntax is not None else None
    woven.weave(receiver, nested=draft.sees_members, calls=calls)
    if syntax is not None and syntax.rust:
        _mark_macros(data, woven)
    woven.define()
    woven.bring_in()
    _imports(draft, woven)
    if syntax is None or not syntax.rust:
        _types(data, woven)
    if syntax is not None:
        _values(len(data), woven, syntax)
    _bases(draft, woven)


def _module_path(woven: FlowBuilder, scope: int, parts: list[str]) -> int:
    """Return the module that a path starts at: `crate`, `self`, or `super` once or more; a file is its own `self`."""
    around = []
    while scope >= 0:
        symbol = woven.scopes[scope].symbol
        if symbol >= 0 and woven.symbols[symbol].kind == "namespace":
            around.append(symbol)
        scope = woven.scopes[scope].parent
    if parts[0] == "crate":
        return woven.expression(Op.LOOKUP, woven.name_index("crate"))
    above = parts.count("super")
    if above < len(around):
        return woven.expression(Op.SYMBOL, around[above])
    found = woven.expression(Op.LOOKUP, woven.name_index("super" if above > len(around) else "self"))
    for _ in range(above - len(around) - 1):
        found = woven.expression(Op.MEMBER, found, woven.name_index("super"))
    return found


def _mark_macros(data: bytes, woven: FlowBuilder) -> None:
    """Tell names of macros that the file does not define (`name!(…)`) from other names."""
    names = woven.names
    defined = {symbol.name for symbol in woven.symbols if symbol.kind == "macro"}
    for place, end in enumerate(names.ends):
        is_macro = data[end : end + 1] == b"!" and data[end + 1 : end + 2] in (b"(", b"[", b"{", b" ")
        is_own = names.bound[place] and names.table[names.name[place]] in defined
        if is_macro and not names.hangs[place] and not is_own:
            woven.use[place] = woven.expression(Op.LOOKUP, names.name[place], 1)


def _values(length: int, woven: FlowBuilder, syntax: ValueSyntax) -> None:
    """Bind variables to their values, and functions to what they return."""
    names = woven.names
    for name, node, part in syntax.bindings():
        place = woven.by_end.get(name.end_byte)
        if place is None or not names.bound[place] or names.hangs[place]:
            continue
        value = value_of(woven, _class_around(woven, names.scope[place]), node)
        if value and part:
            value = woven.expression(Op.PART, value, part)
        variable = woven.variable(names.bound[place] - 1, names.name[place])
        woven.sites.setdefault(variable, []).append(BindingSite(names.starts[place], value, (0, length + 1)))
    _pattern_values(woven, syntax)
    for name, node in syntax.elements():
        place = woven.by_end.get(name.end_byte)
        if place is not None and names.bound[place] and not names.hangs[place]:
            value = value_of(woven, _class_around(woven, names.scope[place]), node)
            if value:
                woven.bind(names.bound[place] - 1, names.name[place], woven.expression(Op.ITEM, value))
    for name, typed in syntax.typed():
        place = woven.by_end.get(name.end_byte)
        if place is not None and names.bound[place] and not names.hangs[place]:
            value = typed_value(woven, _class_around(woven, names.scope[place]), typed)
            woven.bind(names.bound[place] - 1, names.name[place], value)
    for alias, name in syntax.aliases():
        woven.bind(0, woven.name_index((alias.text or b"").decode("utf-8", "replace")), woven.ending(name.end_byte))
    for name, typed in syntax.results():
        symbol = woven.defined.get(name.start_byte)
        if symbol is not None:
            parent = woven.symbols[symbol].parent
            around = parent if parent >= 0 and woven.symbols[parent].kind in _CLASSES else -1
            woven.relate(symbol, SymbolRelation.RETURNS, typed_value(woven, around, typed))


def _pattern_values(woven: FlowBuilder, syntax: ValueSyntax) -> None:
    """Bind the names in patterns, the parameters of types, and the fields of tuples."""
    names = woven.names
    unknown = woven.expression(Op.PART, 0, 1) if syntax.rust else 0  # it may differ from the type of another value
    for name, evaluate in syntax.patterns():
        place = woven.by_end.get(name.end_byte)
        if place is not None and names.bound[place] and not names.hangs[place]:
            value = evaluate(Values(woven, _class_around(woven, names.scope[place])))
            woven.bind(names.bound[place] - 1, names.name[place], value or unknown)
    for name, bound in syntax.bounds():
        place = woven.by_end.get(name.end_byte)
        if place is not None and names.bound[place] and not names.hangs[place]:
            woven.bind(names.bound[place] - 1, names.name[place], typed_value(woven, -1, bound))
    scopes = {scope.symbol: place for place, scope in enumerate(woven.scopes) if scope.symbol >= 0}
    for name, types in syntax.fields():
        symbol = woven.defined.get(name.start_byte)
        for place, typed in enumerate(types) if symbol is not None else ():
            value = typed_value(woven, symbol if symbol is not None else -1, typed)
            if symbol is not None:
                woven.relate(symbol, SymbolRelation.TYPE, value or unknown)
                if symbol in scopes:
                    woven.bind(scopes[symbol], woven.name_index(str(place)), value)
    classes = {symbol.name: place for place, symbol in enumerate(woven.symbols) if symbol.kind in _CLASSES}
    for typed, trait in syntax.implementations():
        word = woven.by_end.get(type_name(typed).end_byte)
        symbol = classes.get(names.table[names.name[word]]) if word is not None else None
        if symbol is not None:
            woven.relate(symbol, SymbolRelation.BASE, woven.ending(type_name(trait).end_byte))


def _attach_outside_methods(woven: FlowBuilder) -> None:
    """Move methods defined outside of their class (Go, Rust) into it; if it is in another file, record its name."""
    places = {symbol.key: place for place, symbol in enumerate(woven.symbols)}
    within = [0] * len(woven.symbols)
    for place, symbol in enumerate(woven.symbols):
        owner = symbol.key.rpartition(".")[0] if symbol.parent < 0 else ""
        if owner and owner not in places:
            within[place] = woven.name_index(owner.rpartition(".")[2]) + 1
    if any(within):
        woven.more["symbol_within"] = pack_column(within)
    inside = [places.get(s.key.rpartition(".")[0], -1) for s in woven.symbols]  # maybe a class in the same module
    woven.symbols = tuple(
        s._replace(parent=owner) if s.parent < 0 or owner > s.parent else s
        for s, owner in zip(woven.symbols, inside, strict=True)
    )


def _class_around(woven: FlowBuilder, scope: int) -> int:
    """Return the class around a scope; in an `impl` block, the class of the methods."""
    while scope >= 0:
        symbol = woven.scopes[scope].symbol
        while symbol >= 0:
            if woven.symbols[symbol].kind in _CLASSES:
                return symbol
            symbol = woven.symbols[symbol].parent
        scope = woven.scopes[scope].parent
    return -1


def _imports(draft: Draft, woven: FlowBuilder) -> None:
    """Give names in import statements the import that brings them in."""
    names = woven.names
    rows: dict[str, list[tuple[int, int]]] = {}
    for place, row in enumerate(woven.imports):
        for name in {row.name, row.alias} - {"", "*"}:
            rows.setdefault(name, []).append((row.line, place))
    for place, role in enumerate(names.role):
        if role == _IMPORT and names.table[names.name[place]] in rows:
            line = draft.source.line(names.starts[place])
            named = rows[names.table[names.name[place]]]
            _, best = min(named, key=lambda row: (row[0] > line, abs(line - row[0])))  # a statement may span lines
            woven.use[place] = woven.expression(Op.IMPORT, best)


def _types(data: bytes, woven: FlowBuilder) -> None:
    """Bind names to the types written next to them."""
    names, use = woven.names, woven.use
    for place in range(len(use)):
        if names.role[place] not in _TYPED_BINDS or not names.bound[place] or names.hangs[place]:
            continue
        typed = 0
        after = place + 1
        last = after
        while last + 1 < len(use) and names.hangs[last + 1] == 1:  # s *store.Store
            last += 1
        if last < len(use) and names.role[last] in _TYPES:
            between = data[names.ends[place] : names.starts[after]]
            is_type = (names.role[last] == _TYPE and _BEHIND.match(between)) or _NEW.match(between)
            if is_type and names.table[names.name[last]] not in WRAPPERS:
                typed = use[last]
        between = data[names.ends[place - 1] : names.starts[place]] if place else b""
        if not typed and place and names.role[place - 1] == _TYPE and _BEFORE.match(between):
            typed = use[place - 1]
        if typed:
            variable = woven.variable(names.bound[place] - 1, names.name[place])
            value = woven.expression(Op.OF_TYPE, typed)
            woven.sites.setdefault(variable, []).append(BindingSite(names.starts[place], value, (0, len(data) + 1)))


def _bases(draft: Draft, woven: FlowBuilder) -> None:
    """Record the bases of each class: the names in its head with the role `inherit`."""
    names = woven.names
    places = [place for place, role in enumerate(names.role) if role == _INHERIT]
    if not places:
        return
    spans = sorted((d.start, d.end, d.place) for d in draft.definitions if d.kind in _CLASSES)
    inside = innermost([names.starts[place] for place in places], [(0, len(draft.source.data) + 1, -1), *spans])
    for place, symbol in zip(places, inside, strict=True):
        if symbol >= 0 and not (place + 1 < len(woven.use) and names.hangs[place + 1] == 1):
            woven.relate(symbol, SymbolRelation.BASE, woven.use[place])
