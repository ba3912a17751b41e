"""What Rust's patterns, loops, closures and bounds say about the types of names.

In: the syntax nodes of a file. Out: for each name that a pattern binds, a function that returns its value as an
expression of the flow. `Some(x)` and `Ok(x)` take the element out of the matched value, a tuple struct or a variant has
the declared types of its fields (`SymbolRelation.TYPE`, one for each), a loop binds elements, and so does a closure
that is passed to a method of `Option`, `Result` or an iterator. A type parameter has the members of its bounds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from tree_sitter import Node

from concordance.base.model import Op
from concordance.extract.reading.flow import FlowBuilder
from concordance.extract.reading.value_syntax import Evaluate, Values, ValueSyntax, type_name

_TAKES_ELEMENT = frozenset((b"Some", b"Ok"))
_NO_TRAITS = frozenset(("lifetime", "removed_trait_bound", "higher_ranked_trait_bound"))
_AROUND_PATTERN = frozenset(
    ("mut_pattern", "ref_pattern", "reference_pattern", "match_pattern", "parenthesized_pattern")
)
# methods of the standard library that pass the element of an `Option`, a `Result` or an iterator to a closure
_PASSES_ELEMENT = frozenset(
    (b"map", b"and_then", b"for_each", b"filter", b"any", b"all", b"find", b"position", b"map_or", b"map_or_else",
     b"is_some_and", b"is_ok_and", b"retain", b"filter_map", b"flat_map", b"take_while", b"skip_while", b"inspect",
     b"max_by_key", b"min_by_key", b"sort_by_key", b"partition", b"find_map", b"map_while", b"try_for_each",
     b"retain_mut", b"sort_unstable_by_key", b"is_none_or")
)  # fmt: skip
_PASSES_ELEMENTS = frozenset((b"sort_by", b"sort_unstable_by", b"max_by", b"min_by", b"reduce"))  # two of them


def _unknown(values: Values) -> int:
    return 0


class RustValueSyntax(ValueSyntax):
    """The values of one file of Rust."""

    rust = True

    def __init__(self, captures: dict[str, list[Node]]) -> None:
        super().__init__(captures)
        self._found = captures
        self._fields: dict[int, Node] = {}  # the value of each field access, by the start of the field's name
        for node in captures.get("value.field", ()):
            field, value = node.child_by_field_name("field"), node.child_by_field_name("value")
            if field is not None and value is not None:
                self._fields[field.start_byte] = value
        impls = captures.get("impl", ())
        self._impls = [(node.start_byte, node.end_byte, node.child_by_field_name("type")) for node in impls]

    def receiver(self, builder: FlowBuilder, data: bytes, start: int, around: int) -> int:
        """Return the value whose member starts at an offset; 0 if unknown."""
        node = self._fields.get(start)
        return Values(builder, around).of(node) if node is not None else super().receiver(builder, data, start, around)

    def implemented_type(self, builder: FlowBuilder, start: int) -> int:
        """Return a value of the type that the `impl` block around an offset is for; 0 if there is none."""
        place = bisect_right(self._impls, start, key=lambda row: row[0]) - 1
        if place < 0 or start >= self._impls[place][1]:
            return 0
        typed = self._impls[place][2]
        return Values(builder, -1).of_type(typed) if typed is not None else 0

    def argument_counts(self) -> dict[int, int]:
        """Return the number of arguments plus one of each call of a method: a field may have the same name."""
        counts = {}
        for node in self._found.get("value.call", ()):
            called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if called is not None and called.type == "generic_function":
                called = called.child_by_field_name("function")
            name = called.child_by_field_name("field") if called is not None else None
            if name is not None and given is not None:
                counts[name.start_byte] = 1
        return counts

    def bindings(self) -> Iterator[tuple[Node, Node, int]]:
        """Yield nothing: all names are bound by patterns."""
        return iter(())

    def patterns(self) -> Iterator[tuple[Node, Evaluate]]:
        """Yield each name that a pattern binds without a declared type, and what returns its value."""
        for node in self._found.get("value.let", ()):
            pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
            if pattern is not None and value is not None and node.child_by_field_name("type") is None:
                yield from _destructure(pattern, value, _value_of(value))
        for node in self._found.get("value.match", ()):
            value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
            for arm in body.named_children if value is not None and body is not None else ():
                pattern = arm.child_by_field_name("pattern")
                if pattern is not None and value is not None:
                    yield from _destructure(pattern, value, _value_of(value))
        for node in self._found.get("value.for", ()):
            pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
            if pattern is not None and value is not None:
                yield from _loop(pattern, value)
        for node in self._found.get("value.closure", ()):
            yield from _closures(node)

    def bounds(self) -> Iterator[tuple[Node, Node]]:
        """Yield each type parameter, and a trait that it is bound by.

        Many types leave the bounds to their `impl` blocks; there, a parameter usually has the same name.
        """
        parameters: dict[tuple[bytes, bytes], Node] = {}  # by the names of the type and the parameter
        for node in self._found.get("value.generic", ()):
            owner, listed = node.child_by_field_name("name"), node.child_by_field_name("type_parameters")
            for parameter in listed.named_children if owner is not None and listed is not None else ():
                name = parameter.child_by_field_name("name")
                if owner is not None and name is not None:
                    parameters[owner.text or b"", name.text or b""] = name
        for node in self._found.get("value.bound", ()):
            name = node.child_by_field_name("name") or node.child_by_field_name("left")
            bounds = node.child_by_field_name("bounds")
            around = node.parent.parent if node.parent is not None else None
            typed = around.child_by_field_name("type") if around is not None and around.type == "impl_item" else None
            implemented = type_name(typed).text if typed is not None else None
            for bound in bounds.named_children if name is not None and bounds is not None else ():
                if name is not None and bound.type not in _NO_TRAITS:
                    yield name, bound
                    there = parameters.get((implemented or b"", name.text or b""))
                    if there is not None:
                        yield there, bound

    def fields(self) -> Iterator[tuple[Node, list[Node]]]:
        """Yield the name of each tuple struct, variant and alias of a type, and the types of its fields."""
        for node in self._found.get("value.tuple", ()):
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is not None:
                yield name, (body or node).children_by_field_name("type")

    def implementations(self) -> Iterator[tuple[Node, Node]]:
        """Yield each type and a trait that it implements."""
        for node in self._found.get("impl", ()):
            typed, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
            if typed is not None and trait is not None:
                yield typed, trait


def _value_of(node: Node) -> Evaluate:
    return lambda values: values.of(node)


def _wrapped(op: Op, inner: Evaluate, right: int = 0) -> Evaluate:
    def evaluate(values: Values) -> int:
        value = inner(values)
        return values.builder.expression(op, value, right) if value else 0

    return evaluate


def _destructure(pattern: Node, node: Node | None, value: Evaluate) -> Iterator[tuple[Node, Evaluate]]:
    """Yield the names of a pattern with their values; `node` is the matched value, if it is written out."""
    waiting: list[tuple[Node, Node | None, Evaluate]] = [(pattern, node, value)]
    while waiting:
        pattern, node, value = waiting.pop()
        kind, inside = pattern.type, pattern.named_children
        if kind in ("identifier", "shorthand_field_identifier"):
            yield pattern, value
        elif kind in _AROUND_PATTERN and inside:
            first = inside[0] if kind == "match_pattern" else inside[-1]  # a condition may follow
            waiting.append((first, node, value))
        elif kind == "captured_pattern" and inside:
            waiting.extend((inner_pattern, node, value) for inner_pattern in inside)
        elif kind == "or_pattern":
            waiting.extend((inner_pattern, None, value) for inner_pattern in inside)
        elif kind == "tuple_pattern":
            parts = node.named_children if node is not None and node.type == "tuple_expression" else []
            for place, inner_pattern in enumerate(inside):
                part = parts[place] if len(parts) == len(inside) else None
                whole = _unknown if parts else _wrapped(Op.PART, value, place + 1)
                waiting.append((inner_pattern, part, _value_of(part) if part is not None else whole))
        elif kind == "tuple_struct_pattern" and inside:
            waiting.extend(
                (inner_pattern, None, _field(inside[0], place, value)) for place, inner_pattern in enumerate(inside[1:])
            )
        elif kind == "struct_pattern":
            waiting.extend((inner_pattern, None, member) for inner_pattern, member in _members(pattern))


def _field(typed: Node, place: int, value: Evaluate) -> Evaluate:
    """Return the value of a field of a tuple struct or variant."""
    if (typed.text or b"") in _TAKES_ELEMENT:
        return _wrapped(Op.ITEM, value)

    def evaluate(values: Values) -> int:
        name = values.builder.ending(typed.end_byte)
        return values.builder.expression(Op.PART, name, place + 1) if name else 0

    return evaluate


def _members(pattern: Node) -> Iterator[tuple[Node, Evaluate]]:
    """Yield the patterns of the fields of `Name { field, other: pattern }`, each with the field as its value."""
    typed = pattern.child_by_field_name("type")
    for field in pattern.named_children if typed is not None else ():
        name = field.child_by_field_name("name") if field.type == "field_pattern" else None
        if name is not None and typed is not None:
            inner = field.child_by_field_name("pattern")

            def evaluate(values: Values, name: Node = name, typed: Node = typed) -> int:
                owner = values.of_type(typed) if typed.text == b"Self" else values.builder.ending(typed.end_byte)
                word = (name.text or b"").decode("utf-8", "replace")
                return values.builder.expression(Op.MEMBER, owner, values.builder.name_index(word)) if owner else 0

            yield inner if inner is not None else name, evaluate


def _loop(pattern: Node, node: Node) -> Iterator[tuple[Node, Evaluate]]:
    """Yield the names that a loop binds."""
    called = node.child_by_field_name("function") if node.type == "call_expression" else None
    method = called.child_by_field_name("field") if called is not None and called.type == "field_expression" else None
    if method is not None and called is not None and method.text == b"enumerate":
        inner = called.child_by_field_name("value")
        if inner is not None and pattern.type == "tuple_pattern" and pattern.named_child_count == 2:
            yield from _destructure(pattern.named_children[1], None, _wrapped(Op.EACH, _value_of(inner)))
        return
    yield from _destructure(pattern, None, _wrapped(Op.EACH, _value_of(node)))


def _closures(call: Node) -> Iterator[tuple[Node, Evaluate]]:
    """Yield the parameters of closures that a method call passes elements to."""
    called, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if called is not None and called.type == "generic_function":
        called = called.child_by_field_name("function")
    method = called.child_by_field_name("field") if called is not None else None
    value = called.child_by_field_name("value") if called is not None else None
    if method is None or value is None or arguments is None:
        return
    count = 1 if method.text in _PASSES_ELEMENT else 2 if method.text in _PASSES_ELEMENTS else 0
    closures = [node for node in arguments.named_children if node.type == "closure_expression"]
    parameters = closures[-1].child_by_field_name("parameters") if closures else None
    if parameters is not None and parameters.named_child_count == count:
        for node in parameters.named_children:
            if node.type != "parameter":  # those have their type written
                yield from _destructure(node, None, _wrapped(Op.EACH, _value_of(value)))
