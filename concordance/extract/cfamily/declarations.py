"""Walks the declarations in a C-family syntax tree and records each as a definition.

In: a tree, and the file's scanned lines. Out: definitions in a `Draft`, with parameters, return types and modifiers
read from the original text. The walk enters only what can contain declarations (namespaces, classes, conditionals,
linkage blocks), never the statements of a function, so it is short; it keeps its own stack, so deep nesting cannot
break it. It is built up in three classes: types, then functions and variables, then the walk itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

from concordance.base.model import Kind
from concordance.extract.cfamily.declarators import (
    SPECIFIERS,
    DeclarationContext,
    DeclarationState,
    DeclaredName,
    fix_conversion_operator,
    parameters,
    unwrap,
)
from concordance.extract.reading.draft import Definition
from concordance.extract.reading.trees import one_line

# Types: classes, structs, unions, enums and their members, typedefs, aliases. Members of an unnamed type get the name
# of the variable or alias that it is the type of.


_LIST_OF_NAMES = re.compile(rb"[ \t\\\r\n]+\w+[ \t]*(?:=[^,\n]*)?,")  # the body of a macro
_ENUM_CLASS = re.compile(rb"enum\s+(?:class|struct)\b")


class TypeDeclarations(DeclarationState):
    """The part of the walk that handles types."""

    __slots__ = ()

    def _specifier(
        self, node: Node, outer: Node, context: DeclarationContext, alone: bool = False, alias: str = ""
    ) -> None:
        """Record a class, struct, union or enum; `outer` is the declaration that it is part of."""
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

    def _open(self, definition: Definition, declared: DeclaredName) -> None:
        """Extend a template's scope to its parameters, which precede its name; the name itself stays outside."""
        definition.opens = (definition.start, definition.end)
        self.draft.holes.append((declared.outer, declared.end))

    def _bases(self, node: Node) -> tuple[str, ...]:
        bases = []
        for child in node.named_children:
            if child.type == "base_class_clause":
                words = self.draft.source.slice(child.start_byte, child.end_byte).lstrip(": \t\r\n")
                bases += [one_line(part) for part in _split(words) if part.strip()]
        return tuple(bases)

    def _members(self, body: Node, owner: str, kind: str, context: DeclarationContext) -> None:
        access = "private" if kind == Kind.CLASS else context.access if owner == context.owner else ""
        for child in body.named_children:
            if child.type == "access_specifier":
                specifier = self.draft.source.slice(child.start_byte, child.end_byte).rstrip(": \t")
                access = "" if specifier == "public" else specifier
            else:
                self.stack.append(
                    (child, DeclarationContext(owner, access, hidden=context.hidden, broken=context.broken))
                )

    def _enumerators(self, body: Node, context: DeclarationContext) -> None:
        """Record enumerators; a macro at the end that stands for several (`#define COMMON A, B`) is none."""
        source = self.draft.source
        pending = list(body.named_children)
        last = pending[-1] if pending else None
        while pending:
            node = pending.pop()
            if node.type == "enumerator":
                name = node.child_by_field_name("name")
                words = source.slice(name.start_byte, name.end_byte) if name is not None else ""
                if name is not None and not (node == last and self._is_list_of_names(words)):
                    value = self._head(node.start_byte, node.end_byte)
                    inner = context.inner()
                    self._define(Kind.ENUMERATOR, words, name.start_byte, node, inner, signature=value)
            elif node.type.startswith("preproc_"):
                pending.extend(node.named_children)

    def _is_list_of_names(self, name: str) -> bool:
        """True if the file defines a macro of this name whose body is a list of names."""
        data, written = self.draft.source.data, name.encode()
        at = data.find(b"define " + written)
        return at >= 0 and _LIST_OF_NAMES.match(data, at + len(b"define ") + len(written)) is not None

    def _typedef(self, node: Node, context: DeclarationContext) -> None:
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

    def _alias(self, node: Node, context: DeclarationContext) -> None:
        self.seen.add(node.start_byte)
        name = node.child_by_field_name("name")
        if name is not None:
            start = self._start(node, context)
            text = self.draft.source.slice(name.start_byte, name.end_byte)
            self._define(Kind.TYPE, text, name.start_byte, node, context, signature=self._head(start, node.end_byte))


def _split(words: str) -> list[str]:
    """Split text at its commas, except those inside brackets."""
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


# Functions, variables and fields, defined or declared.


_MODIFIER = re.compile(
    r"\b(?:static|extern|inline|constexpr|consteval|constinit|virtual|explicit|friend|mutable|register|thread_local|"
    r"_Thread_local|__thread|__inline__|__inline|__forceinline__|__forceinline|__noinline__|_Noreturn|"
    r"__global__|__device__|__host__|__constant__|__shared__|__managed__)\b"
)
# Modifiers behind the parameters of a function
_TAIL = re.compile(
    r"\b(?:const|volatile|override|final|noexcept)\b|=\s*(?:0|default|delete)|&&?(?=\s*(?:const|noexcept|override|final|=|\{|$))"
)
# What is left out of the type that a declaration states
_NOISE = re.compile(
    r"\b(?:typedef|extern\s*\"C(?:\+\+)?\"|__attribute__\s*\(\(.*?\)\)|__extension__|__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\))|\[\[.*?\]\]"
)
_CONSTANT = re.compile(rb"\b(?:constexpr|constinit)\b|\bconst\b[^*&]*$|[*]\s*const\s*$")
_LINKAGE = 'extern "C"'
_CAPITALS = re.compile(rb"[A-Z][A-Z0-9_]+")


class Functions(TypeDeclarations):
    """The part of the walk that handles functions and variables."""

    __slots__ = ()

    def _function(self, node: Node, context: DeclarationContext) -> None:
        body = node.child_by_field_name("body")
        if body is not None:
            self.bodies.add(body.start_byte)
        kind = node.child_by_field_name("type")
        if kind is not None and kind.type in SPECIFIERS:
            self._specifier(kind, node, context)
        declared = unwrap(self.draft.source, node.child_by_field_name("declarator"))
        if declared is None:
            return
        if declared.function is None:
            if kind is not None and kind.type in SPECIFIERS and declared.plain and not declared.within:
                self._hidden_class(node, kind, declared, context)
            elif kind is not None and body is not None and (end := self._end_of_macro_with_name(kind, node)):
                self.draft.forget([declared.at])  # the name in the call refers to nothing
                words = self._head(kind.start_byte, end)
                self._define(Kind.FUNCTION, words, kind.start_byte, node, context, signature=words, occurs=False)
            return
        end = body.start_byte if body is not None else node.end_byte
        for child in node.named_children:
            if child.type in ("field_initializer_list", "try_statement"):
                end = min(end, child.start_byte)
                if child.type == "try_statement":
                    self.bodies.add(child.start_byte)
        if (kind is None or self._by_macros(kind, declared)) and self._is_call(declared, context):
            if body is not None and b"=" not in self.draft.source.data[declared.function.end_byte : body.start_byte]:
                self._made_by_macro(node, declared, context, end)
        else:
            pure = any(child.type == "pure_virtual_clause" for child in node.named_children)
            self._callable(
                node, fix_conversion_operator(self.draft.source, kind, declared), context, end, declaration=pure
            )

    def _hidden_class(self, node: Node, kind: Node, declared: DeclaredName, context: DeclarationContext) -> None:
        """Record `class UNKNOWN Name {`, which the grammar takes for a function."""
        body = node.child_by_field_name("body")
        end = body.start_byte if body is not None else node.end_byte
        head = self._head(self._start(node, context), end)
        self._define(SPECIFIERS[kind.type], declared.name, declared.at, node, context, signature=head)

    def _is_call(self, declared: DeclaredName, context: DeclarationContext) -> bool:
        """True if a declarator without a type is a macro call, not a constructor or an old-style C function."""
        if declared.within or not declared.plain or declared.name == context.owner:
            return False
        return not (self.plain_c and declared.name.islower())

    def _by_macros(self, kind: Node, declared: DeclaredName) -> bool:
        """True for two macro calls in a row, which the grammar takes for a type and a function."""
        return kind.type == "macro_type_specifier" and declared.name.isupper()

    def _end_of_macro_with_name(self, kind: Node, node: Node) -> int:
        """Return the end of `TEST(name)`, which the grammar of C takes for a type and a name in brackets; else 0."""
        declarator = node.child_by_field_name("declarator")
        if declarator is None or declarator.type != "parenthesized_declarator" or kind.type != "type_identifier":
            return 0
        return declarator.end_byte if _CAPITALS.fullmatch(kind.text or b"") else 0

    def _made_by_macro(self, node: Node, declared: DeclaredName, context: DeclarationContext, end: int) -> None:
        """Record `TEST(Suite, name) {` under its text as written, because only the macro knows what it defines."""
        function = declared.function
        listed = function.child_by_field_name("parameters") if function is not None else None
        stop = listed.end_byte if listed is not None else end
        words = self._head(declared.at, stop)
        inner = context._replace(start=declared.at)
        self._define(Kind.FUNCTION, words, declared.at, node, inner, signature=words, occurs=False)

    def _callable(
        self, node: Node, declared: DeclaredName, context: DeclarationContext, end: int, declaration: bool
    ) -> None:
        source = self.draft.source
        start = self._start(node, context)
        function = declared.function
        assert function is not None  # noqa: S101  only called with one
        member = bool(context.owner or declared.within) and not context.friend
        before = source.slice(node.start_byte, declared.outer)
        words = self.blanked.data[node.start_byte : declared.outer].decode("utf-8", "replace")
        tail = source.slice(function.end_byte, node.end_byte) if node.end_byte - function.end_byte < 200 else ""
        listed = function.child_by_field_name("parameters")
        tail = (
            source.slice(listed.end_byte, function.end_byte) + " " + tail.partition("{")[0]
            if listed is not None
            else tail
        )
        modifiers = [
            *_MODIFIER.findall(before),
            *(one_line(m) for m in _TAIL.findall(tail.partition("->")[0].partition(":")[0])),
        ]
        if context.linkage:
            modifiers.insert(0, _LINKAGE)
        if context.friend:
            modifiers.insert(0, "friend")
        definition = self._define(
            Kind.METHOD if member else Kind.FUNCTION, declared.name, declared.at, node, context,
            signature=self._head(start, end), declaration=declaration, within=declared.within,
            modifiers=tuple(dict.fromkeys(modifiers)), parameters=parameters(source, function),
            returns=self._returns(words, function),
        )  # fmt: skip
        self.draft.qualifiers.update(declared.qualifiers)
        if definition is None:
            return
        if not declared.plain:
            self.draft.ends[declared.at] = declared.end
        if self.plain_c and "static" in modifiers:
            definition.public = False
        if context.start >= 0:
            self._open(definition, declared)

    def _returns(self, words: str, function: Node) -> str:
        for child in function.named_children:
            if child.type == "trailing_return_type":
                written = self.draft.source.slice(child.start_byte, child.end_byte)
                return one_line(written.lstrip().removeprefix("->"))
        return one_line(_MODIFIER.sub("", _NOISE.sub("", words))).rstrip(" (")

    def _declaration(self, node: Node, context: DeclarationContext) -> None:
        """Record variables, fields, prototypes, and types declared along with them."""
        kind = node.child_by_field_name("type")
        declarators = node.children_by_field_name("declarator")
        names = [unwrap(self.draft.source, d) for d in declarators]
        if kind is not None and kind.type in SPECIFIERS:
            alias = next((d.name for d in names if d is not None), "")
            self._specifier(kind, node, context, alone=not declarators, alias=alias)
            context = context.inner()
        if context.broken and not context.owner:
            return
        for place, declared in enumerate(names):
            if declared is None:
                continue
            if declared.function is not None:
                if kind is not None or not self._is_call(declared, context):
                    value = node.child_by_field_name("default_value")
                    empty = value is not None and value.type == "initializer_list"  # `void f() override{}`
                    end = value.start_byte if empty and value is not None else node.end_byte
                    self._callable(
                        node, fix_conversion_operator(self.draft.source, kind, declared), context, end, not empty
                    )
            else:
                self._variable(node, kind, declarators, place, declared, context)

    def _variable(
        self,
        node: Node,
        kind: Node | None,
        declarators: list[Node],
        place: int,
        declared: DeclaredName,
        context: DeclarationContext,
    ) -> None:
        source = self.draft.source
        declarator = declarators[place]
        only = len(declarators) == 1
        body = kind.child_by_field_name("body") if kind is not None and kind.type in SPECIFIERS else None
        named = body is not None and kind is not None and kind.child_by_field_name("name") is not None
        whole = place == 0 and not named  # a named type is a definition of its own
        head = body.start_byte if body is not None else declarators[0].start_byte
        value = declarator.child_by_field_name("value") or (node.child_by_field_name("default_value") if only else None)
        stop = declarator.end_byte
        if value is not None:
            stop = value.end_byte if source.data.find(b"\n", value.start_byte, value.end_byte) < 0 else value.start_byte
        before = source.data[node.start_byte : head] + source.data[declarator.start_byte : declared.outer]
        modifiers = _MODIFIER.findall(before.decode("utf-8", "replace"))
        if context.linkage:
            modifiers.insert(0, _LINKAGE)
        definition = self._define(
            Kind.FIELD if context.owner else Kind.CONSTANT if _CONSTANT.search(before) else Kind.VARIABLE,
            declared.name, declared.at, node if whole else declarator, context if whole else context.inner(),
            end=node.end_byte if whole and only else declarator.end_byte, within=declared.within,
            signature=f"{self._head(self._start(node, context), head)} {self._head(declarator.start_byte, stop)}",
            declaration="extern" in modifiers and value is None, modifiers=tuple(dict.fromkeys(modifiers)),
        )  # fmt: skip
        self.draft.qualifiers.update(declared.qualifiers)
        if definition is not None and self.plain_c and "static" in modifiers:
            definition.public = False


# The walk itself.


class DeclarationWalk(Functions):
    """One walk over one tree."""

    __slots__ = ()

    def run(self, root: Node) -> None:
        """Record everything that is declared under a node."""
        self.stack.append((root, DeclarationContext()))
        self._drain()

    def run_local(self, nodes: list[Node]) -> None:
        """Record the types that functions declare locally."""
        for node in sorted(nodes, key=lambda n: n.start_byte):  # captures are unordered; outer types come first
            if node.start_byte not in self.seen:
                self.stack.append((node, DeclarationContext()))
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
                self._walk_children(node, context)

    def _namespace(self, node: Node, context: DeclarationContext) -> None:
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
            parts = [name] if name.type == "namespace_identifier" else _path_parts(name)
            modifiers = ("inline",) if head.startswith("inline") else ()
            for place, part in enumerate(parts):
                start = context.start if place == 0 else part.start_byte
                inner = DeclarationContext(context.owner, context.access, start, hidden=hidden)
                text = self.draft.source.slice(part.start_byte, part.end_byte)
                self._define(Kind.NAMESPACE, text, part.start_byte, node, inner, signature=head, modifiers=modifiers)
        if body is not None:
            self._walk_children(body, DeclarationContext(linkage=context.linkage, hidden=hidden, broken=context.broken))

    def _alias_namespace(self, node: Node, context: DeclarationContext) -> None:
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

    def _linkage(self, node: Node, context: DeclarationContext) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        listed = body.type == "declaration_list"
        inner = context._replace(start=-1 if listed else node.start_byte, linkage=True)
        if listed:
            self._walk_children(body, inner)
        else:
            self.stack.append((body, inner))

    def _template(self, node: Node, context: DeclarationContext) -> None:
        inner = context._replace(start=self._start(node, context))
        self.stack.extend((child, inner) for child in node.named_children if child.type != "template_parameter_list")

    def _friend(self, node: Node, context: DeclarationContext) -> None:
        inner = context._replace(owner="", access="", start=self._start(node, context), friend=True)
        self.stack.extend((c, inner) for c in node.named_children if c.type in ("declaration", "function_definition"))


def _path_parts(name: Node) -> list[Node]:
    """Return the parts of `a::b::c`."""
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
_VISITS: dict[str, Callable[[DeclarationWalk, Node, DeclarationContext], None]] = {
    "namespace_definition": DeclarationWalk._namespace,
    "namespace_alias_definition": DeclarationWalk._alias_namespace,
    "linkage_specification": DeclarationWalk._linkage,
    "template_declaration": DeclarationWalk._template,
    "friend_declaration": DeclarationWalk._friend,
    "type_definition": DeclarationWalk._typedef,
    "alias_declaration": DeclarationWalk._alias,
    "concept_definition": DeclarationWalk._alias,
    "function_definition": DeclarationWalk._function,
    "inline_method_definition": DeclarationWalk._function,
    "declaration": DeclarationWalk._declaration,
    "field_declaration": DeclarationWalk._declaration,
    "ERROR": DeclarationWalk._error,
}
