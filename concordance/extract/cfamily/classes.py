"""Types of a C-family file: classes, structs, unions, enums and their members, typedefs, aliases.

In: the nodes that declare them. Out: definitions. A type without a name lends its members the name
of what it is the type of.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from concordance.base.model import Kind
from concordance.extract.cfamily.declaration_walk import SPECIFIERS, Context, Level
from concordance.extract.cfamily.declarators import Declared, unwrap
from concordance.extract.draft import Definition
from concordance.extract.trees import one_line

_ENUM_CLASS = re.compile(rb"enum\s+(?:class|struct)\b")


class Classes(Level):
    """The part of the walk that knows types."""

    __slots__ = ()

    def _specifier(self, node: Node, outer: Node, context: Context, alone: bool = False, alias: str = "") -> None:
        """A class, struct, union or enum; `outer` is the declaration that it is part of."""
        self.seen.add(node.start_byte)
        body = node.child_by_field_name("body")
        if body is None and (not alone or context.friend):
            return
        name = node.child_by_field_name("name")
        declared = unwrap(self.draft.source, name) if name is not None else None
        kind = SPECIFIERS[node.type]
        start = self._start(outer, context)
        if node.start_byte in self.blanked.instantiations or (context.broken and body is None):
            return
        if declared is not None:
            definition = self._define(
                kind, declared.name, declared.at, outer, context, end=node.end_byte,
                signature=self._head(start, body.start_byte if body is not None else node.end_byte),
                declaration=body is None, within=declared.within, bases=self._bases(node),
            )  # fmt: skip
            scoped = kind != Kind.ENUM or _ENUM_CLASS.match(self.draft.source.data, node.start_byte)
            if definition is not None and not scoped:
                definition.opens = (declared.end, declared.end)
            elif definition is not None and context.start >= 0 and body is not None:
                self._open(definition, declared)
        elif body is not None and alias:
            self.draft.scopes.append((body.start_byte, body.end_byte, "class"))
        if body is not None and kind == Kind.ENUM:
            self._enumerators(body, context)
        elif body is not None:
            self._members(body, declared.name if declared else alias or context.owner or "?", kind, context)

    def _open(self, definition: Definition, declared: Declared) -> None:
        """A template's parameters stand before its name, in its scope; the name itself does not."""
        definition.opens = (definition.start, definition.end)
        self.draft.holes.append((declared.outer, declared.end))

    def _bases(self, node: Node) -> tuple[str, ...]:
        bases = []
        for child in node.named_children:
            if child.type == "base_class_clause":
                words = self.draft.source.slice(child.start_byte, child.end_byte).lstrip(": \t\r\n")
                bases += [one_line(part) for part in _split(words) if part.strip()]
        return tuple(bases)

    def _members(self, body: Node, owner: str, kind: str, context: Context) -> None:
        access = "private" if kind == Kind.CLASS else context.access if owner == context.owner else ""
        for child in body.named_children:
            if child.type == "access_specifier":
                said = self.draft.source.slice(child.start_byte, child.end_byte).rstrip(": \t")
                access = "" if said == "public" else said
            else:
                self.stack.append((child, Context(owner, access, hidden=context.hidden, broken=context.broken)))

    def _enumerators(self, body: Node, context: Context) -> None:
        source = self.draft.source
        pending = list(body.named_children)
        while pending:
            node = pending.pop()
            if node.type == "enumerator":
                name = node.child_by_field_name("name")
                if name is not None:
                    words = source.slice(name.start_byte, name.end_byte)
                    value = self._head(node.start_byte, node.end_byte)
                    inner = context.inner()
                    self._define(Kind.ENUMERATOR, words, name.start_byte, node, inner, signature=value)
            elif node.type.startswith("preproc_"):
                pending.extend(node.named_children)

    def _typedef(self, node: Node, context: Context) -> None:
        self.seen.add(node.start_byte)
        declarators = node.children_by_field_name("declarator")
        kind = node.child_by_field_name("type")
        names = [unwrap(self.draft.source, d) for d in declarators]
        if kind is not None and kind.type in SPECIFIERS:
            alias = next((d.name for d in names if d is not None), "")
            self._specifier(kind, node, context, alias=alias)
        body = kind.child_by_field_name("body") if kind is not None and kind.type in SPECIFIERS else None
        anonymous = body is not None and kind is not None and kind.child_by_field_name("name") is None
        for place, (declarator, declared) in enumerate(zip(declarators, names, strict=True)):
            if declared is None:
                continue
            whole = place == 0 and (body is None or anonymous)
            outer = node if whole else declarator
            definition = self._define(
                Kind.TYPE,
                declared.name,
                declared.at,
                outer,
                context if whole else context.inner(),
                end=node.end_byte if whole and len(declarators) == 1 else declarator.end_byte,
            )
            if definition is not None and body is not None and kind is not None:
                head = self._head(node.start_byte, body.start_byte)
                definition.signature = f"{head} {self._head(declarator.start_byte, declarator.end_byte)}"
            elif definition is not None:
                definition.signature = self._head(node.start_byte, node.end_byte)

    def _alias(self, node: Node, context: Context) -> None:
        self.seen.add(node.start_byte)
        name = node.child_by_field_name("name")
        if name is not None:
            start = self._start(node, context)
            text = self.draft.source.slice(name.start_byte, name.end_byte)
            self._define(Kind.TYPE, text, name.start_byte, node, context, signature=self._head(start, node.end_byte))


def _split(words: str) -> list[str]:
    """Text at its commas, those inside brackets left alone."""
    parts, depth, last = [], 0, 0
    for at, sign in enumerate(words):
        if sign in "<([{":
            depth += 1
        elif sign in ">)]}":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(words[last:at])
            last = at + 1
    return [*parts, words[last:]]
