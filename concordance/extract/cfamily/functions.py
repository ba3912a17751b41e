"""Functions, variables and fields of a C-family file, defined or declared.

In: the nodes that declare them. Out: definitions with parameters, what they return, and the words
that qualify them, read from the original text.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from concordance.base.model import Kind
from concordance.extract.cfamily.classes import Classes
from concordance.extract.cfamily.declaration_walk import SPECIFIERS, Context
from concordance.extract.cfamily.declarators import Declared, conversion, parameters, unwrap
from concordance.extract.trees import one_line

_MODIFIER = re.compile(
    r"\b(?:static|extern|inline|constexpr|consteval|constinit|virtual|explicit|friend|mutable|register|thread_local|"
    r"_Thread_local|__thread|__inline__|__inline|__forceinline__|__forceinline|__noinline__|_Noreturn|"
    r"__global__|__device__|__host__|__constant__|__shared__|__managed__)\b"
)
_TAIL = re.compile(
    r"\b(?:const|volatile|override|final|noexcept)\b|=\s*(?:0|default|delete)|&&?(?=\s*(?:const|noexcept|override|final|=|\{|$))"
)
_NOISE = re.compile(
    r"\b(?:typedef|extern\s*\"C(?:\+\+)?\"|__attribute__\s*\(\(.*?\)\)|__extension__|__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\))|\[\[.*?\]\]"
)
_CONSTANT = re.compile(rb"\b(?:constexpr|constinit)\b|\bconst\b[^*&]*$|[*]\s*const\s*$")
_LINKAGE = 'extern "C"'


class Functions(Classes):
    """The part of the walk that knows functions and variables."""

    __slots__ = ()

    def _function(self, node: Node, context: Context) -> None:
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
            self._callable(node, conversion(self.draft.source, kind, declared), context, end, declaration=pure)

    def _hidden_class(self, node: Node, kind: Node, declared: Declared, context: Context) -> None:
        """`class UNKNOWN Name {`, which the grammar takes for a function."""
        body = node.child_by_field_name("body")
        end = body.start_byte if body is not None else node.end_byte
        head = self._head(self._start(node, context), end)
        self._define(SPECIFIERS[kind.type], declared.name, declared.at, node, context, signature=head)

    def _is_call(self, declared: Declared, context: Context) -> bool:
        """Whether something without a type is a macro's call, and no constructor or old function of C."""
        if declared.within or not declared.plain or declared.name == context.owner:
            return False
        return not (self.plain_c and declared.name.islower())

    def _by_macros(self, kind: Node, declared: Declared) -> bool:
        """Two macro calls in a row, which the grammar takes for a type and a function."""
        return kind.type == "macro_type_specifier" and declared.name.isupper()

    def _made_by_macro(self, node: Node, declared: Declared, context: Context, end: int) -> None:
        """`TEST(Suite, name) {`: what it defines is known to the macro alone, so it is named as it is written."""
        function = declared.function
        listed = function.child_by_field_name("parameters") if function is not None else None
        stop = listed.end_byte if listed is not None else end
        words = self._head(declared.at, stop)
        inner = context._replace(start=declared.at)
        self._define(Kind.FUNCTION, words, declared.at, node, inner, signature=words, occurs=False)

    def _callable(self, node: Node, declared: Declared, context: Context, end: int, declaration: bool) -> None:
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
                said = self.draft.source.slice(child.start_byte, child.end_byte)
                return one_line(said.lstrip().removeprefix("->"))
        return one_line(_MODIFIER.sub("", _NOISE.sub("", words))).rstrip(" (")

    def _declaration(self, node: Node, context: Context) -> None:
        """Variables, fields, prototypes, and types declared on the way."""
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
                    self._callable(node, conversion(self.draft.source, kind, declared), context, end, not empty)
            else:
                self._variable(node, kind, declarators, place, declared, context)

    def _variable(
        self, node: Node, kind: Node | None, declarators: list[Node], place: int, declared: Declared, context: Context
    ) -> None:
        source = self.draft.source
        declarator = declarators[place]
        only = len(declarators) == 1
        body = kind.child_by_field_name("body") if kind is not None and kind.type in SPECIFIERS else None
        named = body is not None and kind is not None and kind.child_by_field_name("name") is not None
        whole = place == 0 and not named  # a type with a name is a definition of its own beside this one
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
        if definition is not None and self.plain_c and "static" in modifiers:
            definition.public = False
