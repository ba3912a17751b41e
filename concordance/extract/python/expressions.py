"""Translates Python's expressions into those of a file's flow.

In: a node of the tree. Out: the number of an expression, 0 if nothing is known about its value. Only what can lead to a
definition is recorded: a call's function and first argument, a container's first element, and for arithmetic the method
that implements it.
"""

from __future__ import annotations

import ast

from tree_sitter import Node

from concordance.base.model import Op
from concordance.extract.reading.draft import innermost
from concordance.extract.reading.flow import FlowBuilder
from concordance.extract.text.source_text import Source

_OPERATORS = {
    "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "//": "__floordiv__", "%": "__mod__",
    "@": "__matmul__", "**": "__pow__", "&": "__and__", "^": "__xor__", "<<": "__lshift__", ">>": "__rshift__",
}  # fmt: skip
_SIGNS = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_PLAIN = {
    "string": "str", "concatenated_string": "str", "integer": "int", "float": "float", "true": "bool", "false": "bool",
    "comparison_operator": "bool", "not_operator": "bool",
}  # fmt: skip
_HOLDERS = {
    "list": "list", "set": "set", "tuple": "tuple", "expression_list": "tuple", "list_comprehension": "list",
    "set_comprehension": "set", "generator_expression": "Iterator",
}  # fmt: skip
_DEEPEST = 60  # most nesting that is followed; deeper expressions do not help a reader


class PythonExpressions:
    """Builds the expressions of one file."""

    def __init__(self, builder: FlowBuilder, source: Source) -> None:
        self.builder, self.source = builder, source
        self.depth = 0

    def value(self, node: Node | None) -> int:
        """Return the value of an expression."""
        if node is None or self.depth > _DEEPEST:
            return 0
        kind = node.type
        if kind in ("identifier", "attribute"):
            return self.builder.ending(node.end_byte)
        self.depth += 1
        try:
            return self._value(node, kind)
        finally:
            self.depth -= 1

    def _value(self, node: Node, kind: str) -> int:
        expression = self.builder.expression
        if kind == "call":
            return self._call(node)
        if kind == "subscript":
            base = self.value(node.child_by_field_name("value"))
            return expression(Op.ITEM, base, self._index(node) + 1) if base else 0
        if kind in ("await", "parenthesized_expression", "list_splat", "type", "expression_statement"):
            return self.value(node.named_children[0]) if node.named_child_count else 0
        if kind in _PLAIN:
            return expression(Op.LITERAL, self.builder.name_index(_PLAIN[kind]))
        if kind in _HOLDERS:
            return self._holder(node, kind)
        if kind in ("dictionary", "dictionary_comprehension"):
            return self._dictionary(node)
        if kind == "conditional_expression" and node.named_child_count == 3:
            return self.builder.either((self.value(node.named_children[0]), self.value(node.named_children[2])))
        if kind == "boolean_operator":
            sides = node.child_by_field_name("left"), node.child_by_field_name("right")
            return self.builder.either(map(self.value, sides))
        if kind in ("binary_operator", "unary_operator"):
            return self._operator(node, kind)
        if kind == "named_expression":
            return self.value(node.child_by_field_name("value"))
        return self.type(node) if kind in ("generic_type", "union_type", "member_type") else 0

    def _operator(self, node: Node, kind: str) -> int:
        sign = node.child_by_field_name("operator")
        written = sign.type if sign is not None else ""
        if kind == "unary_operator":
            side, method = self.value(node.child_by_field_name("argument")), _SIGNS.get(written, "")
        elif written == "|":  # union of types, or of values that support it
            sides = node.child_by_field_name("left"), node.child_by_field_name("right")
            return self.builder.either(map(self.value, sides))
        else:
            side, method = self.value(node.child_by_field_name("left")), _OPERATORS.get(written, "")
        if not side or not method:
            return 0
        member = self.builder.expression(Op.MEMBER, side, self.builder.name_index(method))
        return self.builder.expression(Op.CALL, member)

    def _call(self, node: Node) -> int:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None:
            return 0
        if function.type == "identifier" and function.text == b"super":
            return self._super(function)
        called = self.value(function)
        if not called:
            return 0
        first = _first_child(arguments) if arguments is not None and arguments.type == "argument_list" else None
        given = self.value(first) if first is not None and first.type != "keyword_argument" else 0
        return self.builder.expression(Op.CALL, called, given + 1 if given else 0)

    def _super(self, function: Node) -> int:
        place = self.builder.by_end.get(function.end_byte)
        scope = self.builder.names.scope[place] if place is not None else -1
        while scope >= 0 and self.builder.scopes[scope].kind != "class":
            scope = self.builder.scopes[scope].parent
        return self.builder.expression(Op.SUPER, self.builder.scopes[scope].symbol + 1) if scope >= 0 else 0

    def _index(self, node: Node) -> int:
        """Return the expression in the brackets of a subscript."""
        return self._pairs(node.children_by_field_name("subscript"))

    def _pairs(self, nodes: list[Node]) -> int:
        """Return the expression for one node, or for several in a row."""
        if len(nodes) == 1 and nodes[0].type != "tuple":
            return self.type(nodes[0])
        if len(nodes) == 1:
            nodes = nodes[0].named_children
        pairs = 0
        for node in reversed(nodes[:8]):  # nobody unpacks more by name
            pairs = self.builder.expression(Op.PAIR, self.type(node), pairs + 1 if pairs else 0)
        return pairs

    def _holder(self, node: Node, kind: str) -> int:
        expression, name = self.builder.expression, self.builder.name_index(_HOLDERS[kind])
        if kind in ("tuple", "expression_list"):
            pairs = 0
            for child in reversed(node.named_children[:8]):
                pairs = expression(Op.PAIR, self.value(child), pairs + 1 if pairs else 0)
            return expression(Op.LITERAL, name, pairs + 1 if pairs else 0)
        first = _first_child(node)
        value = self.value(first) if first is not None else 0
        return expression(Op.LITERAL, name, value + 1 if value else 0)

    def _dictionary(self, node: Node) -> int:
        expression = self.builder.expression
        pair = _first_child(node)
        content = 0
        if pair is not None and pair.type == "pair":
            key, value = self.value(pair.child_by_field_name("key")), self.value(pair.child_by_field_name("value"))
            if value or key:
                content = expression(Op.PAIR, key, expression(Op.PAIR, value) + 1)
        return expression(Op.LITERAL, self.builder.name_index("dict"), content + 1 if content else 0)

    # --- types -------------------------------------------------------------------------------

    def of_type(self, node: Node) -> int:
        """Return a value of the type that an annotation names."""
        named = self.type(node)
        return self.builder.expression(Op.OF_TYPE, named) if named else 0

    def type(self, node: Node) -> int:
        """Return the type that an annotation names."""
        kind = node.type
        if kind == "type" and node.named_child_count:
            return self.type(node.named_children[0])
        if kind == "generic_type" and node.named_child_count:
            base = self.value(node.named_children[0])
            arguments = [c for child in node.named_children[1:] for c in child.named_children]
            return self.builder.expression(Op.ITEM, base, self._pairs(arguments) + 1) if base else 0
        if kind == "union_type" or (kind == "binary_operator" and self._is_union(node)):
            return self.builder.either(map(self.type, node.named_children))
        if kind == "member_type":
            return self.builder.ending(node.end_byte)
        if kind == "string":
            return self._quoted(node)
        if kind == "none":
            return 0
        return self.value(node)

    @staticmethod
    def _is_union(node: Node) -> bool:
        sign = node.child_by_field_name("operator")
        return sign is not None and sign.type == "|"

    def _quoted(self, node: Node) -> int:
        """Return a type in quotes, whose names are looked up once everything is defined."""
        written = (node.text or b"").decode("utf-8", "replace").strip("rRuU").strip("\"'")
        if len(written) > 500:
            return 0
        try:
            tree = ast.parse(written.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return 0
        scope = self._scope_at(node.start_byte)
        return self._parsed(tree, scope)

    def _scope_at(self, at: int) -> int:
        return innermost([at], self.builder.intervals)[0]

    def _parsed(self, tree: ast.expr, scope: int) -> int:
        expression, word = self.builder.expression, self.builder.name_index
        if isinstance(tree, ast.Name):
            return expression(*self._looked_up(word(tree.id), scope))
        if isinstance(tree, ast.Attribute):
            base = self._parsed(tree.value, scope)
            return expression(Op.MEMBER, base, word(tree.attr)) if base else 0
        if isinstance(tree, ast.Subscript):
            base = self._parsed(tree.value, scope)
            parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
            parsed = 0
            if len(parts) == 1:
                parsed = self._parsed(parts[0], scope)
            else:
                for part in reversed(parts[:8]):
                    parsed = expression(Op.PAIR, self._parsed(part, scope), parsed + 1 if parsed else 0)
            return expression(Op.ITEM, base, parsed + 1) if base else 0
        if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
            return self.builder.either((self._parsed(tree.left, scope), self._parsed(tree.right, scope)))
        return 0

    def _looked_up(self, name: int, scope: int) -> tuple[int, int, int]:
        """Look up a name: the variable of the nearest scope that binds it, or a LOOKUP if none in this file does."""
        at = scope
        while at >= 0:
            if (at, name) in self.builder.variables and (at == scope or self.builder.scopes[at].kind != "class"):
                return Op.NAME, self.builder.variables[at, name], 0
            at = self.builder.scopes[at].parent
        return Op.LOOKUP, name, 0

    # --- what statements bind ----------------------------------------------------------------

    def each(self, node: Node) -> int:
        """Return the value of an element of an iterable."""
        value = self.value(node)
        return self.builder.expression(Op.EACH, value) if value else 0

    def entered(self, node: Node) -> int:
        """Return the value that `with` binds."""
        value = self.value(node)
        return self.builder.expression(Op.ENTER, value) if value else 0

    def caught(self, node: Node) -> int:
        """Return the value that `except` binds."""
        return self.instance(node)

    def instance(self, node: Node) -> int:
        """Return an instance of a class, or of any class in a tuple."""
        if node.type == "tuple":
            return self.builder.either(map(self.instance, node.named_children))
        named = self.type(node)
        return self.builder.expression(Op.OF_TYPE, named) if named else 0

    def starred(self, star: str, value: int) -> int:
        """Return the value of a `*` or `**` parameter; other parameters keep their value."""
        if not star.endswith("_splat_pattern"):
            return value
        container = "dict" if star == "dictionary_splat_pattern" else "tuple"
        expression = self.builder.expression
        content = value
        if value and container == "dict":
            content = expression(Op.PAIR, 0, expression(Op.PAIR, value) + 1)
        if value and container == "tuple":
            return expression(Op.LITERAL, self.builder.name_index("list"), content + 1)
        return expression(Op.LITERAL, self.builder.name_index(container), content + 1 if content else 0)


def _first_child(node: Node) -> Node | None:
    return node.named_child(0) if node.named_child_count else None
