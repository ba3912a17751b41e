"""The flow of languages whose types are written beside the names: Java, Go, Rust, TypeScript, JavaScript."""

from __future__ import annotations

import re

from concordance.base.model import ROLES, Op, Role, SymbolRelation, pack_column
from concordance.extract.reading.draft import Draft, innermost
from concordance.extract.reading.flow import _IMPORT, _INHERIT, _TYPE, BindingSite, FlowBuilder
from concordance.extract.reading.value_syntax import WRAPPERS, ValueSyntax, typed_value, value_of

_TYPED_BINDS = frozenset(ROLES.index(role) for role in (Role.WRITE, Role.DEFINE))
_TYPES = frozenset(ROLES.index(role) for role in (Role.TYPE, Role.CALL))
_BEHIND = re.compile(rb"[ \t]*\??!?:?[ \t]*(?:[&*]|mut |dyn |const |impl |readonly )*$")  # f: &mut C, s *S
_BEFORE = re.compile(rb"(?:\[\])?(?:\.\.\.)?[ \t]+$")  # Base b
_NEW = re.compile(rb"[ \t]*:?=[ \t]*(?:new[ \t]+|&)$")  # x = new Foo, x := &S{
_SELF = re.compile(rb"(?:\bthis|\bself)[ \t]*\??(?:\.|->)[ \t]*$|\bSelf::$")
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

    def receiver(place: int) -> int:
        before = data[max(0, names.starts[place] - 12) : names.starts[place]]
        around = _class_around(woven, names.scope[place])
        if around >= 0 and _SELF.search(before):
            return woven.expression(Op.OF_TYPE, woven.expression(Op.SYMBOL, around))
        if around >= 0 and _SUPER.search(before):
            return woven.expression(Op.SUPER, around + 1)
        return syntax.receiver(woven, data, names.starts[place], around) if syntax is not None else 0

    woven.weave(receiver, nested=draft.sees_members)
    if syntax is not None and syntax.macros:
        _mark_macros(data, woven)
    woven.define()
    woven.bring_in()
    _imports(draft, woven)
    _types(data, woven)
    if syntax is not None:
        _values(len(data), woven, syntax)
    _bases(draft, woven)


def _mark_macros(data: bytes, woven: FlowBuilder) -> None:
    """Tell names of macros that the file does not bind (`name!(…)`) from other names."""
    names = woven.names
    for place, end in enumerate(names.ends):
        is_macro = data[end : end + 1] == b"!" and data[end + 1 : end + 2] in (b"(", b"[", b"{", b" ")
        if is_macro and not names.bound[place] and not names.hangs[place]:
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
        if not value and syntax.rebinds:
            value = woven.expression(Op.PART, 0, 1)  # of no known type, which may differ from that of another value
        variable = woven.variable(names.bound[place] - 1, names.name[place])
        woven.sites.setdefault(variable, []).append(BindingSite(names.starts[place], value, (0, length + 1)))
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
    woven.symbols = tuple(
        s._replace(parent=places.get(s.key.rpartition(".")[0], -1)) if s.parent < 0 else s for s in woven.symbols
    )


def _class_around(woven: FlowBuilder, scope: int) -> int:
    """Return the class that a scope lies in; in an `impl` block, the class of the methods."""
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
