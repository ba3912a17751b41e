"""Walks the declarations of a C-family syntax tree and states each as a definition.

In: a tree, and the file's scan. Out: definitions in a `Draft`. Only what can hold declarations is
entered (namespaces, classes, conditionals, linkage blocks), never a function's statements, so the
walk is short; it keeps its own stack, so no depth of nesting breaks it.
"""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node

from concordance.base.model import Kind
from concordance.extract.cfamily.declaration_walk import SPECIFIERS, Context
from concordance.extract.cfamily.functions import Functions


class Walk(Functions):
    """One walk over one tree."""

    __slots__ = ()

    def run(self, root: Node) -> None:
        """Visits everything that can be declared under a node."""
        self.stack.append((root, Context()))
        self._drain()

    def run_local(self, nodes: list[Node]) -> None:
        """Visits types that functions declare for themselves."""
        for node in sorted(nodes, key=lambda n: n.start_byte):  # captures come in no fixed order; the outer first
            if node.start_byte not in self.seen:
                self.stack.append((node, Context()))
                self._drain()

    def _drain(self) -> None:
        stack = self.stack
        while stack:
            node, context = stack.pop()
            kind = node.type
            visit = _VISITS.get(kind)
            if visit is not None:
                visit(self, node, context)
            elif kind in SPECIFIERS:
                self._specifier(node, node, context, alone=True)
            elif kind in _TRANSPARENT:
                self._inside(node, context)

    def _namespace(self, node: Node, context: Context) -> None:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        head = self._head(node.start_byte, body.start_byte if body is not None else node.end_byte)
        hidden = context.hidden
        if name is None:
            hidden = True
            at = node.start_byte
            self._define(Kind.NAMESPACE, "(anonymous)", at, node, context,
                         signature=head, occurs=False, nests=False, opens=(at, at))  # fmt: skip
        else:
            parts = [name] if name.type == "namespace_identifier" else _flat(name)
            modifiers = ("inline",) if head.startswith("inline") else ()
            for place, part in enumerate(parts):
                start = context.start if place == 0 else part.start_byte
                inner = Context(context.owner, context.access, start, hidden=hidden)
                text = self.draft.source.slice(part.start_byte, part.end_byte)
                self._define(Kind.NAMESPACE, text, part.start_byte, node, inner, signature=head, modifiers=modifiers)
        if body is not None:
            self._inside(body, Context(linkage=context.linkage, hidden=hidden, broken=context.broken))

    def _alias_namespace(self, node: Node, context: Context) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            text = self.draft.source.slice(name.start_byte, name.end_byte)
            at = name.end_byte
            self._define(
                Kind.NAMESPACE,
                text,
                name.start_byte,
                node,
                context,
                signature=self._head(node.start_byte, node.end_byte),
                opens=(at, at),
            )

    def _linkage(self, node: Node, context: Context) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        listed = body.type == "declaration_list"
        inner = context._replace(start=-1 if listed else node.start_byte, linkage=True)
        if listed:
            self._inside(body, inner)
        else:
            self.stack.append((body, inner))

    def _template(self, node: Node, context: Context) -> None:
        inner = context._replace(start=self._start(node, context))
        self.stack.extend((child, inner) for child in node.named_children if child.type != "template_parameter_list")

    def _friend(self, node: Node, context: Context) -> None:
        inner = context._replace(owner="", access="", start=self._start(node, context), friend=True)
        self.stack.extend((c, inner) for c in node.named_children if c.type in ("declaration", "function_definition"))


def _flat(name: Node) -> list[Node]:
    """The parts of `a::b::c`."""
    parts: list[Node] = []
    pending = [name]
    while pending:
        node = pending.pop()
        if node.type == "namespace_identifier":
            parts.append(node)
        else:
            pending.extend(reversed(node.named_children))
    return sorted(parts, key=lambda part: part.start_byte)


_TRANSPARENT = frozenset((
    "translation_unit", "declaration_list", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif",
    "preproc_elifdef", "field_declaration_list",
))  # fmt: skip
_VISITS: dict[str, Callable[[Walk, Node, Context], None]] = {
    "namespace_definition": Walk._namespace,
    "namespace_alias_definition": Walk._alias_namespace,
    "linkage_specification": Walk._linkage,
    "template_declaration": Walk._template,
    "friend_declaration": Walk._friend,
    "type_definition": Walk._typedef,
    "alias_declaration": Walk._alias,
    "concept_definition": Walk._alias,
    "function_definition": Walk._function,
    "inline_method_definition": Walk._function,
    "declaration": Walk._declaration,
    "field_declaration": Walk._declaration,
    "ERROR": Walk._error,
}
