"""Takes C-family declarators apart: the declared name, its qualifiers, and whether it is a function.

In: the declarator node of a declaration. Out: `DeclaredName`. C writes types around names, so the name in
`int (*table[3])(void)` is found by unwrapping layer by layer; the layer next to the name says whether it is a function.

The base class of the walk in `declarations.py` is here, too. It holds the walk's state and records
definitions in a `Draft`, each with its condition, access and start, including macros that the parser did not see.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node

from concordance.base.model import Kind, Parameter
from concordance.extract.cfamily.directives import ScannedLines
from concordance.extract.cfamily.macros import KEYWORDS, Blanked
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.reading.trees import one_line
from concordance.extract.text.source_text import Source

SPECIFIERS = {
    "class_specifier": Kind.CLASS,
    "struct_specifier": Kind.STRUCT,
    "union_specifier": Kind.UNION,
    "enum_specifier": Kind.ENUM,
}
_WORDS = frozenset(word.decode() for word in KEYWORDS)  # never a declared name, however broken the tree
_UNSAID = re.compile(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n\\]|\\.)*', re.S | re.M)
_NAMES = frozenset(("identifier", "field_identifier", "type_identifier", "namespace_identifier", "primitive_type"))
_NAMED = frozenset((
    "qualified_identifier", "destructor_name", "operator_name", "operator_cast", "template_function", "template_method",
    "template_type", "dependent_name",
))  # fmt: skip
_SPACES = re.compile(r"\s+")
_OPERATOR = re.compile(r"operator\s*")
_ARGUMENTS = re.compile(r"<.*>", re.S)


@dataclass(slots=True)
class DeclaredName:
    """One declared name."""

    name: str
    at: int
    end: int
    within: tuple[str, ...]
    outer: int  # where the qualified name starts
    function: Node | None  # the function declarator, if it is a function
    plain: bool  # whether the name is a plain identifier
    qualifiers: tuple[int, ...] = ()  # where the names before it start, and the class's name in a destructor's


def unwrap(source: Source, node: Node | None) -> DeclaredName | None:
    """Return the name inside a declarator, or None if there is none."""
    function: Node | None = None
    nearest = ""  # the innermost layer so far
    while node is not None:
        kind = node.type
        if kind in _NAMES or kind in _NAMED:
            return _unwrap_name(source, node, function if nearest == "function_declarator" else None)
        if kind == "function_declarator":
            function, nearest = node, kind
        elif kind != "parenthesized_declarator" and kind != "attributed_declarator" and kind != "init_declarator":
            nearest = kind
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (
                    c
                    for c in node.named_children
                    if c.type in _NAMES or c.type.endswith(("declarator", "_identifier", "_name", "_function"))
                ),
                None,
            )
        node = inner
    return None


def _unwrap_name(source: Source, node: Node, function: Node | None) -> DeclaredName | None:
    outer = node.start_byte
    within: list[str] = []
    qualifiers: list[int] = []
    while node.type == "qualified_identifier":
        scope = node.child_by_field_name("scope")
        if scope is not None:
            within.append(_scope_name(source, scope))
            qualifiers.append(scope.start_byte)
        inner = node.child_by_field_name("name")
        if inner is None:
            return None
        node = inner
    at, end = node.start_byte, node.end_byte
    plain = node.type in _NAMES
    if plain:
        name = source.slice(at, end)
    elif node.type in ("template_function", "template_method", "template_type", "dependent_name"):
        inner = node.child_by_field_name("name") or (node.named_children[0] if node.named_children else None)
        if inner is None:
            return None
        at, end, name = inner.start_byte, inner.end_byte, source.slice(inner.start_byte, inner.end_byte)
        name = _operator(name) if inner.type == "operator_name" else name
        plain = True
    elif node.type == "operator_cast":
        pending = list(node.named_children)
        while pending and pending[-1].type != "abstract_function_declarator":
            pending.extend(pending.pop().named_children)
        function = pending[-1] if pending else node
        listed = function.child_by_field_name("parameters")
        end = at + len(source.data[at : listed.start_byte if listed is not None else end].rstrip())
        name = one_line(source.slice(at, end))
        if "::" in name.partition("operator")[0]:  # the grammar keeps `A::operator bool` in one piece
            before, _, rest = name.partition("operator")
            within += [_ARGUMENTS.sub("", part).strip() for part in before.split("::") if part.strip()]
            at += len(source.slice(at, end).partition("operator")[0].encode())
            name = "operator" + rest
    elif node.type == "operator_name":
        name = _operator(source.slice(at, end))
    else:
        name = _SPACES.sub("", source.slice(at, end))
    if node.type == "destructor_name":
        qualifiers += [child.start_byte for child in node.named_children]
    parts = tuple(part for part in within if part)
    return DeclaredName(name, at, end, parts, outer, function, plain, tuple(qualifiers)) if name else None


def _scope_name(source: Source, node: Node) -> str:
    """Return a scope's name without its template arguments."""
    return _SPACES.sub("", _ARGUMENTS.sub("", source.slice(node.start_byte, node.end_byte)))


def _operator(written: str) -> str:
    sign = _OPERATOR.sub("", written, count=1).strip()
    sign = one_line(sign) if sign[:1].isalpha() else _SPACES.sub("", sign)
    return f"operator {sign}" if sign[:1].isalpha() else f"operator{sign}"


def parameters(source: Source, function: Node) -> tuple[Parameter, ...]:
    """Return a function's parameters, as written."""
    result: list[Parameter] = []
    listed = function.child_by_field_name("parameters")
    for node in listed.named_children if listed is not None else ():
        kind = node.type
        if kind in ("parameter_declaration", "optional_parameter_declaration", "variadic_parameter_declaration"):
            result.append(_parameter(source, node))
        elif kind in ("variadic_parameter", "..."):
            result.append(Parameter("...", "*"))
        elif kind == "identifier":  # K&R
            result.append(Parameter(source.slice(node.start_byte, node.end_byte), ""))
    if (
        listed is not None
        and not (result and result[-1].name == "...")
        and source.data[listed.start_byte : listed.end_byte].rstrip(b") \n\t").endswith(b"...")
    ):
        result.append(Parameter("...", "*"))
    if len(result) == 1 and result[0][:3] == ("", "", "void"):
        return ()
    return tuple(result)


def _parameter(source: Source, node: Node) -> Parameter:
    start, end = node.start_byte, node.end_byte
    default = node.child_by_field_name("default_value")
    value = ""
    if default is not None:
        value = one_line(source.slice(default.start_byte, default.end_byte))
        end = start + source.data[start : default.start_byte].rfind(b"=")
    declared = unwrap(source, node.child_by_field_name("declarator"))
    kind = "*" if node.type == "variadic_parameter_declaration" else ""
    if declared is None:
        return Parameter("", kind, one_line(source.slice(start, end)), value)
    before, after = source.slice(start, declared.outer), source.slice(declared.end, end)
    return Parameter(declared.name, kind, one_line(before + after), value)


def fix_conversion_operator(source: Source, kind: Node | None, declared: DeclaredName) -> DeclaredName:
    """Correct `inline A::operator bool()`, which the grammar reads as type `A::operator` and name `bool`."""
    if kind is None or kind.type != "qualified_identifier" or not source.data[: kind.end_byte].endswith(b"::operator"):
        return declared
    at = kind.end_byte - len(b"operator")
    scopes = source.slice(kind.start_byte, at)
    within = tuple(_SPACES.sub("", part) for part in _ARGUMENTS.sub("", scopes).split("::") if part.strip())
    name = one_line(source.slice(at, declared.end))
    return DeclaredName(name, at, declared.end, within, kind.start_byte, declared.function, False)


# The base of the walks over declarations (see the module docstring).


class DeclarationContext(NamedTuple):
    """What surrounds a declaration."""

    owner: str = ""  # the class whose body it is in
    access: str = ""
    start: int = -1  # of the template header or linkage specification before it
    linkage: bool = False
    hidden: bool = False  # in an anonymous namespace
    broken: bool = False  # inside a range that the parser could not parse
    friend: bool = False

    def inner(self) -> DeclarationContext:
        """Return the context for a part of the declaration, which has no start of its own."""
        return self._replace(start=-1)


@dataclass(slots=True)
class DeclarationState:
    """The state of one walk over one tree."""

    draft: Draft
    lines: ScannedLines
    blanked: Blanked
    plain_c: bool
    stack: list[tuple[Node, DeclarationContext]] = field(default_factory=list)
    bodies: set[int] = field(default_factory=set)  # starts of function bodies, which open no scope of their own
    seen: set[int] = field(default_factory=set)  # starts of types already seen as declarations

    def _walk_children(self, node: Node, context: DeclarationContext) -> None:
        self.stack.extend((child, context) for child in node.named_children)

    def _error(self, node: Node, context: DeclarationContext) -> None:
        broken = context._replace(start=-1, broken=True)
        self.stack.extend((child, broken) for child in node.named_children)

    def _define(
        self, kind: str, name: str, at: int, node: Node, context: DeclarationContext, **more: object
    ) -> Definition | None:
        start = self._start(node, context)
        end = more.pop("end", node.end_byte)
        if name in _WORDS:
            return None
        definition = self.draft.define(
            kind, name, at, start, end,  # type: ignore[arg-type]
            condition=self.lines.condition(at),
            public=not (context.hidden or context.access == "private"),
            **more,
        )  # fmt: skip
        if context.access in ("private", "protected"):
            definition.modifiers = (context.access, *definition.modifiers)
        return definition

    def _start(self, node: Node, context: DeclarationContext) -> int:
        """Return where a declaration starts, including macros before it that the parser did not see."""
        start = context.start if context.start >= 0 else node.start_byte
        specifiers = self.blanked.specifiers
        while specifiers:
            before = self.draft.source.data[max(0, start - 200) : start].rstrip()
            earlier = specifiers.get(max(0, start - 200) + len(before))
            if earlier is None:
                break
            start = earlier
        return start

    def _head(self, start: int, end: int) -> str:
        """Return a declaration on one line, without comments and directives."""
        words = self.draft.source.slice(start, end)
        if "#" in words or "/" in words:
            words = _UNSAID.sub(lambda match: match[1] or " ", words)
        return one_line(words).rstrip(" {:;=")
