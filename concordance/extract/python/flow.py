"""Flow of Python: what is bound to each name, so that the linker can resolve attributes.

In: the captures of the Python query, and the names with their scopes. Out: bindings by assignment, annotation, loop,
`with`, parameter, `isinstance` and `self`, and the returns, bases and decorators of symbols. A name that is bound more
than once refers to what was bound to it last before the place where it is read.

pytest passes arguments by name, so these are recorded, too: the names that each test and fixture asks for (its
parameters in order, then those of `usefixtures`), the values that its decorators pass to it (`parametrize`), and the
name that each fixture provides, plus "*" if it applies without being asked for (`autouse`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator

from tree_sitter import Node

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import Op, Symbol, SymbolRelation
from concordance.extract.python.expressions import PythonExpressions
from concordance.extract.python.occurrences import Captures
from concordance.extract.reading.draft import Draft, innermost
from concordance.extract.reading.flow import BindingSite, FlowBuilder

_FIXTURE = re.compile(r"(?:^|[.\w])fixture\b")
_NAME = re.compile(r"""\bname\s*=\s*["'](\w+)["']""")
_AUTOUSE = re.compile(r"\bautouse\s*=\s*True\b")
_USED = re.compile(r"""["'](\w+)["']""")
_CLOSED = frozenset(("return_statement", "raise_statement", "continue_statement", "break_statement"))
_PATTERNS = frozenset(("pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list"))

# A binding: the offset from which it holds, the variable, a function that makes its value once all names have their
# expressions, whether it holds inside its block only, and that block.
Pending = tuple[int, int, Callable[[], int], bool, tuple[int, int] | None]


def build_python_flow(draft: Draft, builder: FlowBuilder, root: Node, captures: Captures) -> None:
    """Build a file's flow."""
    flow = _PythonFlow(draft, builder, root, captures)
    flow.run()
    # The values refer to the flow, which lists them; workers run without a garbage collector, so such a cycle would
    # keep the file's whole draft for ever.
    flow.pending.clear()
    flow.members.clear()
    flow.defaults.clear()


class _PythonFlow:
    def __init__(self, draft: Draft, builder: FlowBuilder, root: Node, captures: Captures) -> None:
        self.draft, self.builder, self.root, self.captures = draft, builder, root, captures
        self.values = PythonExpressions(builder, draft.source)
        self.pending: list[Pending] = []
        self.members: list[tuple[int, int, Callable[[], int]]] = []  # class scope, name, value
        self.defaults: list[tuple[int, Node]] = []  # function, and the default of a parameter

    def run(self) -> None:
        """Collect bindings without values, then build the names, then the values."""
        captures, builder = self.captures, self.builder
        for node in captures.get("assignment", ()):
            self._assignment(node)
        for node in captures.get("loop", ()):
            self._loop(node)
        for node in captures.get("as", ()):
            self._record_as(node)
        for node in captures.get("named", ()):
            self._named_expression(node)
        functions = self._functions()
        for node, symbol in functions:
            self._parameters(node, symbol)
        self._narrowings()
        self._place()
        receivers = {node.end_byte: node for node in captures.get("receiver", ())}
        builder.add_name_expressions(lambda place: self._receiver(receivers, place), builder.reaching)
        builder.define()
        builder.bring_in()
        self._modules()
        self._fill()
        self._classes()
        self._returns(functions)
        record_fixtures(builder)

    # --- where names are bound ---------------------------------------------------------------

    def _variable(self, node: Node) -> int | None:
        """Return the variable of a name that a statement binds."""
        place = self.builder.by_end.get(node.end_byte)
        if place is None or not self.builder.names.bound[place]:
            return None
        return self.builder.variable(self.builder.names.bound[place] - 1, self.builder.names.name[place])

    def _bind(self, target: Node, at: int, value: Callable[[], int]) -> None:
        """Record that a target is bound from an offset on; a pattern binds its parts."""
        kind = target.type
        if kind == "identifier":
            variable = self._variable(target)
            if variable is not None:
                self.pending.append((at, variable, value, False, None))
        elif kind == "attribute":
            self._bind_member(target, value)
        elif kind in _PATTERNS:
            for n, part in enumerate(target.named_children):
                self._bind(part, at, lambda n=n: self._part(value(), n))  # type: ignore[misc]
        elif kind in ("parenthesized_expression", "as_pattern_target") and target.named_child_count == 1:
            self._bind(target.named_children[0], at, value)
        elif kind in ("list_splat_pattern", "list_splat"):
            self._bind(target.named_children[0], at, lambda: 0)

    def _part(self, value: int, n: int) -> int:
        return self.builder.expression(Op.PART, value, n) if value else 0

    def _bind_member(self, target: Node, value: Callable[[], int]) -> None:
        """Record `self.x = …` in a method as binding a member of its class."""
        receiver, name = target.child_by_field_name("object"), target.child_by_field_name("attribute")
        if receiver is None or name is None or receiver.type != "identifier":
            return
        place = self.builder.by_end.get(receiver.end_byte)
        if place is None or not self.builder.names.bound[place]:
            return
        scope = self.builder.scopes[self.builder.names.bound[place] - 1]
        if scope.kind != "function" or scope.symbol < 0 or scope.parent < 0:
            return
        method = self.builder.symbols[scope.symbol]
        around = self.builder.scopes[scope.parent]
        if around.kind != "class" or not method.parameters or "staticmethod" in method.modifiers:
            return
        if method.parameters[0].name == self.builder.names.table[self.builder.names.name[place]]:
            member = self.builder.names.name[self.builder.by_end[name.end_byte]]
            self.members.append((scope.parent, member, value))

    def _assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        typed = node.child_by_field_name("type")
        if left is None or (right is None and typed is None):
            return
        self._bind(left, node.end_byte, lambda: self._assigned_value(typed, right))

    def _assigned_value(self, typed: Node | None, right: Node | None) -> int:
        values = self.values
        if typed is not None:
            declared = values.of_type(typed)
            if declared:
                return declared
        if right is not None and right.type == "assignment":  # a = b = c
            inner = right.child_by_field_name("right")
            return self._assigned_value(None, inner)
        return values.value(right)

    def _loop(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None:
            at = right.end_byte if node.type == "for_statement" else 0
            self._bind(left, at, lambda: self.values.each(right))

    def _record_as(self, node: Node) -> None:
        """Record the binding of `with x as y` or `except E as y`."""
        if node.named_child_count < 2:
            return
        value, target = node.named_children[0], node.named_children[-1]
        around = node.parent
        caught = around is not None and around.type in ("except_clause", "except_group_clause")
        make = self.values.caught if caught else self.values.entered
        self._bind(target, target.end_byte, lambda: make(value))

    def _named_expression(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None:
            self._bind(name, node.end_byte, lambda: self.values.value(value))

    def _functions(self) -> list[tuple[Node, int]]:
        """Return the functions' nodes with their symbols."""
        functions = []
        for node in self.captures.get("function", ()):
            name = node.child_by_field_name("name")
            symbol = self.builder.defined.get(name.start_byte) if name is not None else None
            if symbol is not None:
                functions.append((node, symbol))
        return functions

    def _parameters(self, node: Node, symbol: int) -> None:
        parameters = node.child_by_field_name("parameters")
        count = 0
        for child in parameters.named_children if parameters is not None else ():
            kind = child.type
            default = child.child_by_field_name("value")
            if default is not None:
                self.defaults.append((symbol, default))
            if kind in ("keyword_separator", "positional_separator", "comment"):
                continue
            name = child
            while name.type != "identifier" and name.named_child_count:
                name = name.child_by_field_name("name") or name.named_children[0]
            variable = self._variable(name)
            if variable is not None:
                value = self._parameter(child, symbol, count)
                self.pending.append((name.end_byte, variable, value, False, (node.start_byte, node.end_byte)))
            count += 1

    def _parameter(self, child: Node, symbol: int, place: int) -> Callable[[], int]:
        typed, default = child.child_by_field_name("type"), child.child_by_field_name("value")
        first = child.named_children[0] if child.named_child_count else child
        star = child.type if child.type.endswith("_splat_pattern") else first.type
        if typed is not None:
            return lambda: self.values.starred(star, self.values.of_type(typed)) or self._unsaid(symbol, place)
        if star.endswith("_splat_pattern"):
            return lambda: self.values.starred(star, 0)
        if default is not None:
            return lambda: self.values.value(default) or self._unsaid(symbol, place)
        return lambda: self._unsaid(symbol, place)

    def _unsaid(self, symbol: int, place: int) -> int:
        return self.builder.expression(Op.PARAMETER, symbol, place)

    # --- narrowing ---------------------------------------------------------------------------

    def _narrowings(self) -> None:
        """Record that `isinstance(x, C)` narrows x wherever the test must have succeeded."""
        data = self.draft.source.data
        at = data.find(b"isinstance(")
        while at >= 0:
            name = self.root.descendant_for_byte_range(at, at + 10)
            call = name.parent if name is not None and name.type == "identifier" else None
            if call is not None and call.type == "call":
                self._narrowing(call)
            at = data.find(b"isinstance(", at + 11)

    def _narrowing(self, call: Node) -> None:
        arguments = call.child_by_field_name("arguments")
        if arguments is None or arguments.named_child_count < 2 or arguments.named_children[0].type != "identifier":
            return
        variable = self._variable(arguments.named_children[0])
        if variable is None:
            return
        kind = arguments.named_children[1]
        for block in _guarded_ranges(call):
            self.pending.append((block[0], variable, lambda: self.values.instance(kind), True, block))

    # --- from bindings to values -------------------------------------------------------------

    def _place(self) -> None:
        """Store the bindings of each variable in the order of the text, each with the block that it is in."""
        self.pending.sort(key=lambda row: row[0])
        blocks = [(0, len(self.draft.source.data) + 1, 0)]
        spans = sorted((node.start_byte, node.end_byte) for node in self.captures.get("block", ()))
        transparent = self._transparent()
        opaque = [span for span in spans if span not in transparent]
        blocks += [(start, end, n + 1) for n, (start, end) in enumerate(opaque)]
        inside = innermost([max(0, row[0] - 1) for row in self.pending], blocks)
        for (at, variable, _, narrows, block), place in zip(self.pending, inside, strict=True):
            stretch = block or blocks[place][:2]
            self.builder.sites.setdefault(variable, []).append(BindingSite(at, 0, stretch, narrows))

    def _transparent(self) -> set[tuple[int, int]]:
        """Return the blocks that run whenever the code around them does."""
        return {(node.start_byte, node.end_byte) for node in self.captures.get("run", ())}

    def _fill(self) -> None:
        reached: dict[int, int] = {}
        for _, variable, value, _, _ in self.pending:
            n = reached[variable] = reached.get(variable, -1) + 1
            sites = self.builder.sites[variable]
            sites[n] = sites[n]._replace(value=value())
        for scope, name, value in self.members:
            self.builder.bind(scope, name, value())

    def _receiver(self, receivers: dict[int, Node], place: int) -> int:
        names = self.builder.names
        data = self.draft.source.data
        end = data.rfind(b".", names.ends[place - 1] if place else 0, names.starts[place])
        while end > 0 and data[end - 1] in b" \t\r\n\\":
            end -= 1
        node = receivers.get(end)
        return self.values.value(node) if node is not None else 0

    def _modules(self) -> None:
        """Give names in import statements the module or member that they refer to."""
        builder = self.builder
        at = 0
        starts = [start for start, _ in sorted(self.draft.imports, key=lambda pair: pair[0])]
        for n, (row, start) in enumerate(zip(builder.imports, starts, strict=True)):
            at = max(at, start) if n and starts[n - 1] == start else start
            if row.name:
                if n == 0 or starts[n - 1] != start:
                    at = self._package_parts(n, row.module.lstrip("."), start)
                if row.name != "*":
                    at = self._named_in(row.name, at, self.builder.expression(Op.IMPORT, n))
            else:
                at = self._package_parts(n, row.module, at)
            if row.alias:
                at = self._named_in(row.alias, at, self.builder.expression(Op.IMPORT, n))

    def _named_in(self, name: str, at: int, value: int) -> int:
        """Give an expression to the next occurrence of a name after an offset; return the offset after it."""
        for place in self._places(at):
            if self.builder.names.table[self.builder.names.name[place]].endswith(name):
                self.builder.use[place] = value
                return self.builder.names.ends[place]
        return at

    def _places(self, at: int) -> Iterator[int]:
        first = bisect_left(self.builder.names.starts, at)
        return iter(range(first, min(first + 64, len(self.builder.names.starts))))

    def _package_parts(self, n: int, module: str, at: int) -> int:
        for count, part in enumerate(module.split(".") if module else (), 1):
            at = self._named_in(part, at, self.builder.expression(Op.PACKAGE, n, count))
        return at

    def _classes(self) -> None:
        for node in self.captures.get("class", ()):
            name = node.child_by_field_name("name")
            symbol = self.builder.defined.get(name.start_byte) if name is not None else None
            if symbol is None:
                continue
            bases = node.child_by_field_name("superclasses")
            for base in bases.named_children if bases is not None else ():
                if base.type not in ("keyword_argument", "comment"):
                    self.builder.relate(symbol, SymbolRelation.BASE, self.values.value(base))
            self._decorators(node, symbol)

    def _decorators(self, node: Node, symbol: int) -> None:
        around = node.parent
        if around is None or around.type != "decorated_definition":
            return
        for child in around.named_children:
            if child.type == "decorator" and child.named_child_count:
                self.builder.relate(symbol, SymbolRelation.DECORATOR, self.values.value(child.named_children[0]))
                record_decorator_names(self.builder, symbol, child.start_byte, child.end_byte)

    def _returns(self, functions: list[tuple[Node, int]]) -> None:
        """Record what each function returns: as declared, or else the values of its `return` and `yield`."""
        builder, values = self.builder, self.values
        for function, default in self.defaults:
            if default.type in ("identifier", "attribute", "call") and (value := values.value(default)):
                builder.relate(function, SymbolRelation.HANDS, value)
        unsaid: dict[int, list[int]] = {}
        for node, symbol in functions:
            typed = node.child_by_field_name("return_type")
            if builder.symbols[symbol].modifiers:
                self._decorators(node, symbol)
            if typed is not None:
                builder.relate(symbol, SymbolRelation.RETURNS, values.of_type(typed))
            else:
                unsaid[symbol] = []
        nodes = sorted((*self.captures.get("return", ()), *self.captures.get("yield", ())), key=lambda n: n.start_byte)
        for node, scope in zip(nodes, innermost([n.start_byte for n in nodes], builder.intervals), strict=True):
            symbol = builder.scopes[scope].symbol
            if symbol in unsaid and node.named_child_count:
                value = values.value(node.named_children[-1])
                if node.type == "yield" and value:
                    value = builder.expression(Op.LITERAL, builder.name_index("Iterator"), value + 1)
                unsaid[symbol].append(value)
        for symbol, returned in unsaid.items():
            builder.relate(symbol, SymbolRelation.RETURNS, builder.either(returned))


def _guarded_ranges(call: Node) -> Iterator[tuple[int, int]]:
    """Yield the ranges of text that are reached only if a condition holds."""
    node, around, positive = call, call.parent, True
    while around is not None and around.type in ("boolean_operator", "not_operator", "parenthesized_expression"):
        if around.type == "not_operator":
            positive = not positive
        elif around.type == "boolean_operator":
            joined = around.child_by_field_name("operator")
            if joined is None or (joined.type == "and") is not positive:
                return
            if positive and around.named_children[0] == node:
                yield node.end_byte, around.end_byte
        node, around = around, around.parent
    if around is None:
        return
    if around.type in ("if_statement", "elif_clause", "while_statement", "conditional_expression"):
        body = around.child_by_field_name("consequence") or around.child_by_field_name("body")
        if around.type == "conditional_expression":
            body = around.named_children[0]
        if body is not None and positive and body != node:
            yield body.start_byte, body.end_byte
        elif body is not None and around.type == "if_statement" and _leaves(body) and around.parent is not None:
            yield around.end_byte, around.parent.end_byte
    elif around.type == "assert_statement" and positive and around.parent is not None:
        yield around.end_byte, around.parent.end_byte


def _leaves(body: Node) -> bool:
    """True if a block ends by leaving the block around it."""
    return bool(body.named_child_count) and body.named_children[-1].type in _CLOSED


# pytest's tests and fixtures (see the module docstring).


def record_fixtures(builder: FlowBuilder) -> None:
    """Record the fixtures that the tests and fixtures of a file request and provide."""
    for place, symbol in enumerate(builder.symbols):
        if symbol.kind not in FUNCTION_KINDS:
            continue
        decorator = _fixture_decorator(symbol)
        if decorator is None and not symbol.name.startswith("test"):
            continue
        used = _used_fixtures(symbol)
        if decorator is None and symbol.parent >= 0:  # of a class, the fixtures are for each of its tests
            used += _used_fixtures(builder.symbols[symbol.parent])
        for name in (*(parameter.name for parameter in symbol.parameters), *used):
            builder.relate(place, SymbolRelation.ASKS, builder.expression(Op.LITERAL, builder.name_index(name)))
        if decorator is not None:
            named = _NAME.search(decorator)
            offered = (named.group(1) if named else symbol.name, *("*" for _ in _AUTOUSE.findall(decorator)))
            for name in offered:
                builder.relate(place, SymbolRelation.OFFERS, builder.expression(Op.LITERAL, builder.name_index(name)))


def record_decorator_names(builder: FlowBuilder, symbol: int, start: int, end: int) -> None:
    """Record the names inside a decorator of a test or fixture."""
    row = builder.symbols[symbol]
    if row.kind in FUNCTION_KINDS and (row.name.startswith("test") or _fixture_decorator(row) is not None):
        starts = builder.names.starts
        for place in range(bisect_left(starts, start), bisect_left(starts, end)):
            builder.relate(symbol, SymbolRelation.HANDS, builder.use[place])


def _fixture_decorator(symbol: Symbol) -> str | None:
    """Return the decorator that makes a function a fixture."""
    return next((modifier for modifier in symbol.modifiers if _FIXTURE.search(modifier.partition("(")[0])), None)


def _used_fixtures(symbol: Symbol) -> list[str]:
    """Return the fixtures that the decorators of a function or class request."""
    return [name for modifier in symbol.modifiers if "usefixtures(" in modifier for name in _USED.findall(modifier)]
