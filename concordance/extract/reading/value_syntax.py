"""What calls, bindings and results say about the types of values, in languages that write types beside names.

In: the syntax nodes of calls, of declarations with a value, and of functions with a result type. Out: expressions of
the flow: the value of a call is what the function returns, the value of a variable is what it is bound to. The linker
follows them, so that `r.Route().Path()` leads to the method of what `Route` returns, in whatever file that is.
`Option`, `Result` and `Promise` are built-in types around an element (`Op.LITERAL`), which `?`, `await` and `unwrap`
take out (`Op.ITEM`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tree_sitter import Node

from concordance.base.kinds import CLOSURE
from concordance.base.model import Op
from concordance.extract.reading.flow import FlowBuilder

_CALLS = {"call_expression": "function", "method_invocation": "name"}  # kinds of nodes, and the field of what is called
_NEW = {"object_creation_expression": "type", "new_expression": "constructor"}
_LITERALS = {"composite_literal": "type", "struct_expression": "name"}
_CASTS = frozenset(
    ("type_assertion_expression", "type_cast_expression", "cast_expression", "as_expression", "satisfies_expression")
)
_INSIDE = frozenset(
    ("parenthesized_expression", "reference_expression", "unary_expression", "non_null_expression", "expression_list",
     "mutable_specifier")
)  # fmt: skip
_TAKEN_OUT = frozenset(("try_expression", "await_expression"))
_NAMES = frozenset(
    ("identifier", "selector_expression", "field_expression", "scoped_identifier", "field_access", "member_expression",
     "generic_function")
)  # fmt: skip
_MEMBER_NAMES = frozenset(("shorthand_property_identifier", "identifier"))
_SELVES = frozenset((b"self", b"this"))
_REFERENCES = frozenset(
    ("pointer_type", "reference_type", "dynamic_type", "abstract_type", "type_annotation", "type_elem")
)
_TYPE_NAMES = frozenset(
    ("type_identifier", "qualified_type", "scoped_type_identifier", "nested_type_identifier", "identifier")
)
_TRANSPARENT = frozenset(  # what is inside has the methods that are called
    (b"Box", b"Rc", b"Arc", b"Cow", b"Ref", b"RefMut", b"MutexGuard", b"RefCell", b"Mutex", b"RwLock", b"Pin",
     b"LazyLock", b"OnceLock", b"ManuallyDrop")
)  # fmt: skip
_AROUND = frozenset(  # what is inside has to be taken out
    (b"Option", b"Result", b"Promise", b"Vec", b"VecDeque", b"HashSet", b"BTreeSet", b"BinaryHeap")
)
_PROMISE = frozenset((b"Promise",))  # in TypeScript; in Java, a class `Box` is none of Rust's
_ITERATORS = frozenset((b"Iterator", b"IntoIterator", b"DoubleEndedIterator", b"ExactSizeIterator"))
_BRANCHES = frozenset(("block", "if_expression", "match_expression", "else_clause", "unsafe_block"))
_LISTS = {"slice_type": "element", "array_type": "element", "map_type": "value"}  # the field of what is inside
_ITEMS = {"index_expression": "operand", "subscript_expression": "object"}
WRAPPERS = frozenset(name.decode() for name in _TRANSPARENT | _AROUND)
_JOINT = re.compile(rb"(\?|!)?\s*(?:\?\.|\.|::)\s*$")  # between a value and its member
_REACH = 200  # bytes before a member in which its joint is looked for


class ValueSyntax:
    """The values of one file, by the text."""

    overloads = False  # methods of one name are told apart by their parameters
    rust = False  # names are bound by patterns, `name!` is a macro, and paths start at `crate`, `self` or `super`

    def __init__(self, captures: dict[str, list[Node]]) -> None:
        self._calls = {node.end_byte: node for node in captures.get("value.call", ())}
        self._binds = captures.get("value.bind", [])
        self._results = captures.get("value.result", [])
        self._typed = captures.get("value.typed", [])
        self._ranges = captures.get("value.range", [])
        self._aliases = captures.get("value.alias", [])
        self._objects = captures.get("value.object", [])
        self.defaults: list[tuple[str, Node]] = []  # names of the file that are all that it exports

    def receiver(self, builder: FlowBuilder, data: bytes, start: int, around: int) -> int:
        """Return the value whose member starts at an offset: what a call returns; 0 if unknown."""
        before = data[max(0, start - _REACH) : start]
        joint = _JOINT.search(before)
        if joint is None:
            return 0
        end = start - len(before) + joint.start()
        awaited = data.endswith(b".await", 0, end)
        node = self._calls.get(end - len(b".await") if awaited else end)
        value = Values(builder, around).of(node) if node is not None else 0
        return builder.expression(Op.ITEM, value) if value and (awaited or joint[1] == b"?") else value

    def bindings(self) -> Iterator[tuple[Node, Node, int]]:
        """Yield each name that is bound without a declared type, its value, and which part of the value it is."""
        for node in self._binds:
            if node.child_by_field_name("type") is not None:
                continue
            name = node.child_by_field_name("name") or node.child_by_field_name("pattern")
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            left = node.child_by_field_name("left")
            if left is not None and value is not None:  # a, b := f()  or  a, b := f(), g()
                names, values = left.named_children, value.named_children
                for place, one in enumerate(names):
                    if len(values) == len(names):
                        yield one, values[place], 0
                    elif len(values) == 1:
                        yield one, values[0], place
            elif name is not None and value is not None:
                while name.type in ("mut_pattern", "ref_pattern") and name.named_child_count:
                    name = name.named_children[-1]
                yield name, value, 0

    def argument_counts(self) -> dict[int, int]:
        """Return the number of arguments plus one, by the start of the name that is called."""
        return {}

    def patterns(self) -> Iterator[tuple[Node, Evaluate]]:
        """Yield each name that a pattern binds, and what returns its value."""
        return iter(())

    def bounds(self) -> Iterator[tuple[Node, Node]]:
        """Yield each type parameter, and a type that it is bound by."""
        return iter(())

    def fields(self) -> Iterator[tuple[Node, list[Node]]]:
        """Yield the name of each type whose fields have no names, and the types of these."""
        return iter(())

    def implementations(self) -> Iterator[tuple[Node, Node]]:
        """Yield each type and an interface that it implements elsewhere than where it is defined."""
        return iter(())

    def implemented_type(self, builder: FlowBuilder, start: int) -> int:
        """Return a value of the type that methods around an offset are for, if it is in another file; 0 if none is."""
        return 0

    def elements(self) -> Iterator[tuple[Node, Node]]:
        """Yield each name that a loop binds to the elements of a value, and the value."""
        for node in self._ranges:
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None and left.named_child_count == 2:
                yield left.named_children[1], right

    def aliases(self) -> Iterator[tuple[Node, Node]]:
        """Yield each name under which a file exports something of its own, and the name that this has in the file."""
        for node in self._aliases:
            alias, name = node.child_by_field_name("alias"), node.child_by_field_name("name")
            if alias is not None and name is not None:
                yield alias, name

    def properties(self) -> Iterator[tuple[bytes, Node]]:
        """Yield `object.name` for each member of an object of the file that is a name, and the node of that name."""
        for node in self._objects:
            owner, literal = node.child_by_field_name("name"), node.child_by_field_name("value")
            for child in literal.named_children if owner is not None and literal is not None else ():
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if child.type == "shorthand_property_identifier":
                    key = value = child
                if owner is not None and key is not None and value is not None and value.type in _MEMBER_NAMES:
                    yield b"%s.%s" % (owner.text or b"", key.text or b""), value

    def typed(self) -> Iterator[tuple[Node, Node]]:
        """Yield each name with a type that has others inside, and the type."""
        for node in self._typed:
            typed = node.child_by_field_name("type")
            names = node.children_by_field_name("name") or node.children_by_field_name("pattern")
            for name in names if typed is not None else ():
                if name.is_named and typed is not None:
                    yield name, typed

    def results(self) -> Iterator[tuple[Node, Node]]:
        """Yield the name of each function and the type of what it returns."""
        for node in self._results:
            name = node.child_by_field_name("name") or node.child_by_field_name("property")
            function = node.child_by_field_name("value") or node  # const f = (): T => ...
            typed = function.child_by_field_name("result") or function.child_by_field_name("return_type")
            if typed is None and node is function:
                typed = node.child_by_field_name("type")
            if name is not None and typed is not None:
                yield name, typed


class TypeSite(NamedTuple):
    """Where a value or a type is written."""

    builder: FlowBuilder
    around: int  # the class around it, -1 if none


class Values(TypeSite):
    """Turns nodes into expressions."""

    def of(self, node: Node) -> int:
        """Return the expression of a value, 0 if it says nothing about a type."""
        while (node.type in _INSIDE and node.named_child_count == 1) or node.type == "reference_expression":
            node = node.named_children[-1]
        kind, builder = node.type, self.builder
        if kind in _BRANCHES:
            return next((value for value in map(self.of, _results(node)) if value), 0)
        if kind in _CALLS:
            inside = self._wrapped(node)
            if inside:
                return inside
            called = node.child_by_field_name(_CALLS[kind])
            if called is not None and called.type == "generic_function":
                called = called.child_by_field_name("function")
            if called is not None and called.text == b"new":  # in Go, new(T) has a type as its argument
                given = node.child_by_field_name("arguments")
                first = given.named_children[0] if given is not None and given.named_child_count == 1 else None
                if first is not None and first.type in ("type_identifier", "qualified_type"):
                    return self.of_type(first)
            target = builder.ending(called.end_byte) if called is not None else 0
            if target and builder.ops[target] == Op.CALL:
                return target
            return builder.expression(Op.CALL, target) if target else 0
        if kind in _NEW or kind in _LITERALS:
            typed = node.child_by_field_name(_NEW.get(kind) or _LITERALS[kind])
            return self.of_type(typed) if typed is not None else 0
        if kind in _TAKEN_OUT:
            inner = self.of(node.named_children[0]) if node.named_child_count else 0
            return builder.expression(Op.ITEM, inner) if inner else 0
        if kind in _ITEMS:
            operand = node.child_by_field_name(_ITEMS[kind]) or node.named_children[0]
            inner = self.of(operand)
            is_slice = node.named_children[-1].type == "range_expression"
            return builder.expression(Op.ITEM, inner) if inner and not is_slice else inner
        if kind == "closure_expression":
            body = node.child_by_field_name("body")
            inner = self.of(body) if body is not None else 0
            return builder.expression(Op.LITERAL, builder.name_index(CLOSURE), inner + 1) if inner else 0
        if kind in _CASTS:
            typed = node.child_by_field_name("type") or (node.named_children[-1] if node.named_child_count else None)
            return self.of_type(typed) if typed is not None else 0
        if node.text in _SELVES:
            return self._own_instance()
        if kind == "field_expression" and node.named_children[-1].type == "integer_literal":  # self.0
            inner = self.of(node.named_children[0])
            word = (node.named_children[-1].text or b"").decode()
            return builder.expression(Op.MEMBER, inner, builder.name_index(word)) if inner else 0
        return builder.ending(node.end_byte) if kind in _NAMES else 0

    def _wrapped(self, node: Node) -> int:
        """Return the value of `Some(x)`, `Ok(x)`, `Box::new(x)`."""
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if called is None or given is None or given.named_child_count != 1:
            return 0
        first, _, last = (called.text or b"").rpartition(b"::")
        if not first and last in (b"Some", b"Ok"):
            value = self.of(given.named_children[0])
            return self.builder.expression(Op.LITERAL, self.builder.name_index("Option"), value + 1) if value else 0
        return self.of(given.named_children[0]) if last == b"new" and first in _TRANSPARENT else 0

    def of_type(self, node: Node) -> int:
        """Return the expression of a value whose type is written, 0 if the type has no name here."""
        kind, builder = node.type, self.builder
        if kind == "parameter_list":  # Go's several results
            types = [one.child_by_field_name("type") for one in node.named_children for _ in _named_results(one)]
            return self._pairs([one for one in types if one is not None])
        if kind == "intersection_type":  # Store<S> & Extension, of which the first is the known one
            return next((value for value in map(self.of_type, node.named_children) if value), 0)
        if kind == "bounded_type":  # dyn Trait + 'a
            return self.of_type(node.named_children[0])
        if kind in _REFERENCES:
            inner = node.child_by_field_name("type") or node.child_by_field_name("trait")
            inner = inner or (node.named_children[-1] if node.named_child_count else None)
            return self.of_type(inner) if inner is not None else 0
        if kind in _LISTS:
            typed = node.child_by_field_name(_LISTS[kind])
            value = self.of_type(typed) if typed is not None else 0
            return builder.expression(Op.LITERAL, builder.name_index("[]"), value + 1) if value else 0
        if kind == "tuple_type":
            return self._pairs(node.named_children)
        if kind in ("generic_type", "generic_type_with_turbofish"):
            return self._generic(node)
        if node.text == b"Self" or kind == "this_type":
            return self._own_instance()
        name = builder.ending(node.end_byte) if kind in _TYPE_NAMES else 0
        return builder.expression(Op.OF_TYPE, name) if name else 0

    def _pairs(self, types: list[Node]) -> int:
        """Return the expression of several values together."""
        pairs, builder = 0, self.builder
        for typed in reversed(types):
            part = self.of_type(typed) or builder.expression(Op.PART, 0, 1)
            pairs = builder.expression(Op.PAIR, part, pairs + 1 if pairs else 0)
        return pairs

    def _generic(self, node: Node) -> int:
        head = node.child_by_field_name("type") or node.child_by_field_name("name") or node.named_children[0]
        inside = node.child_by_field_name("type_arguments") or node.named_children[-1]
        name = (head.text or b"").rpartition(b"::")[2]
        if name in _ITERATORS:
            bound = (child for child in inside.named_children if child.type == "type_binding")
            typed = next((one.child_by_field_name("type") for one in bound), None)
            value = self.of_type(typed) if typed is not None else 0
            return self.builder.expression(Op.LITERAL, self.builder.name_index("[]"), value + 1) if value else 0
        if name in (_TRANSPARENT | _AROUND if node.child_by_field_name("type") is not None else _PROMISE):
            typed = next((child for child in inside.named_children if child.type != "lifetime"), None)
            value = self.of_type(typed) if typed is not None else 0
            if not value or name in _TRANSPARENT:
                return value
            return self.builder.expression(Op.LITERAL, self.builder.name_index(name.decode()), value + 1)
        return self.of_type(head)

    def _own_instance(self) -> int:
        builder = self.builder
        return builder.expression(Op.OF_TYPE, builder.expression(Op.SYMBOL, self.around)) if self.around >= 0 else 0


Evaluate = Callable[[Values], int]  # returns the expression of a value


def _named_results(node: Node) -> list[Node | None]:
    """Return the names that a declaration gives to results of one type, or one None."""
    return [*node.children_by_field_name("name")] or [None]


def _results(node: Node) -> list[Node]:
    """Return the values of a block's or a conditional's branches."""
    if node.type == "if_expression":
        fields = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"))
        return [field for field in fields if field is not None]
    if node.type == "match_expression":
        body = node.child_by_field_name("body")
        arms = (arm.child_by_field_name("value") for arm in (body.named_children if body is not None else ()))
        return [one for one in arms if one is not None]
    last = node.named_children[-1:]
    return [one for one in last if not one.type.endswith(("_statement", "_declaration", "_item"))]


def value_of(builder: FlowBuilder, around: int, node: Node) -> int:
    """Return the expression of a value, inside a class or not (-1)."""
    return Values(builder, around).of(node)


def typed_value(builder: FlowBuilder, around: int, node: Node) -> int:
    """Return the expression of a value of a written type, inside a class or not (-1)."""
    return Values(builder, around).of_type(node)


def type_name(node: Node) -> Node:
    """Return the node of a type's own name, without its arguments, references and path."""
    while True:
        field = "type" if node.type in ("generic_type", "reference_type") else "name"
        inner = node.child_by_field_name(field)
        if inner is None or node.type not in ("generic_type", "reference_type", "scoped_type_identifier"):
            return node
        node = inner
