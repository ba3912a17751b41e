"""Reads a file by its syntax tree: a language is a grammar, two queries and a few hooks.

In: text and a `Grammar`. Out: a `Draft`. The capture names of the queries are the whole contract:

`definitions` (run as matches): `@definition.KIND` is the whole definition, `@name` its name.
`names` (run as captures): every identifier under its role: `@read`, `@call`, `@write`, `@type`, `@import`, `@inherit`,
`@mention`. If several match, the last in `_ROLE_ORDER` wins. In addition to a role, `@member` marks a name that follows
a receiver (`a.b`) and `@local` a name that is declared where it occurs. `@scope` is a further scope, `@branch` a branch
in a function's control flow, `@comment` a comment, and `@import.module` the name of a module that is imported as such.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import attrgetter

from tree_sitter import Language as Syntax
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from concordance.base.model import Role
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.text.source_text import Source

_ROLE_ORDER = (Role.MENTION, Role.READ, Role.WRITE, Role.TYPE, Role.CALL, Role.INHERIT, Role.IMPORT)
_NAMES = frozenset((*(role.value for role in Role), "name", "member", "local"))
_START, _END = attrgetter("start_byte"), attrgetter("end_byte")


@dataclass(frozen=True)
class Grammar:
    """A parser package and the queries to run on its trees."""

    package: str  # "tree_sitter_go"
    definitions: str = ""
    names: str = ""
    function: str = "language"  # the package's function that returns the grammar; some packages hold several
    sees_members: bool = False
    body: tuple[str, ...] = ("body",)  # fields that end a signature
    describe: Callable[[Source, Node, Definition], None] | None = None  # fills in a definition from its node


@dataclass(frozen=True)
class Compiled:
    """A grammar's parser and compiled queries."""

    parser: Parser
    definitions: Query
    names: Query
    errors: Query


@cache
def load_language(package: str, function: str) -> Syntax:
    """Return a grammar's language; loaded once per process."""
    return Syntax(getattr(importlib.import_module(package), function)())


@cache
def compile_grammar(grammar: Grammar) -> Compiled:
    """Return a grammar's parser and queries, compiled once per process, since a query costs as much as a large file."""
    language = load_language(grammar.package, grammar.function)
    return Compiled(
        Parser(language),
        Query(language, grammar.definitions),
        Query(language, grammar.names),
        Query(language, "(ERROR) @error (MISSING) @missing"),
    )


def matches(query: Query, node: Node) -> list[dict[str, list[Node]]]:
    """Return the captures of each match of a query, in the order of the text."""
    return [captured for _, captured in QueryCursor(query).matches(node)]


def captures(query: Query, node: Node) -> dict[str, list[Node]]:
    """Return the nodes of each capture in the order of the text; the library itself returns them in no order.

    Lists of names are left unsorted, because they are long and the draft sorts all names in the end.
    """
    captures = QueryCursor(query).captures(node)
    for name, nodes in captures.items():
        if name not in _NAMES:
            nodes.sort(key=_END, reverse=True)
            nodes.sort(key=_START)  # sorting is stable: of nodes that start together, the outer one comes first
    return captures


def read(source: Source, grammar: Grammar, tree: Tree | None = None) -> tuple[Draft, Tree, dict[str, list[Node]]]:
    """Read definitions and names; also return the tree and the captures, for what only one language needs.

    `tree`: the tree of the source, if it is already parsed.
    """
    tools = compile_grammar(grammar)
    tree = tree or tools.parser.parse(source.data)
    draft = Draft(source, sees_members=grammar.sees_members, root=tree.root_node)
    note_errors(draft, tree, tools.errors)
    for _, match in QueryCursor(tools.definitions).matches(tree.root_node):
        _define(draft, grammar, match)
    named = captures(tools.names, tree.root_node)
    note_names(draft, named)
    return draft, tree, named


def note_names(draft: Draft, captures: dict[str, list[Node]]) -> None:
    """Add captured names to the draft, each with its most specific role."""
    for role in _ROLE_ORDER:
        draft.add_names(((node.start_byte, node.end_byte) for node in captures.get(role.value, ())), role)
    draft.members.update(node.start_byte for node in captures.get("member", ()))
    draft.bound.update(node.start_byte for node in captures.get("local", ()))
    draft.scopes.extend((node.start_byte, node.end_byte, "block") for node in captures.get("scope", ()))
    draft.comments.extend((node.start_byte, node.end_byte) for node in captures.get("comment", ()))
    draft.branches.extend(node.start_byte for node in captures.get("branch", ()))
    for node in captures.get("import.module", ()):
        draft.add_import(node.start_byte, text(node).strip("\"'`<>"))


def note_errors(draft: Draft, tree: Tree, query: Query) -> None:
    """Record each range that the parser could not parse as a problem."""
    root = tree.root_node
    if not root.has_error:
        return
    broken = captures(query, root)
    reached = -1
    for node in sorted(broken.get("error", ()), key=lambda n: (n.start_byte, -n.end_byte)):
        if node.start_byte >= reached:  # an error inside another one adds nothing
            reached = node.end_byte
            draft.error_bytes += node.end_byte - node.start_byte
            words = one_line(draft.source.slice(node.start_byte, min(node.end_byte, node.start_byte + 60)))
            draft.problem(node.start_byte, node.end_byte, f"syntax error at `{words}`")
    for node in broken.get("missing", ()):
        if node.start_byte >= reached:
            draft.problem(node.start_byte, node.end_byte, f"syntax error: `{node.type}` is missing")


def error_bytes(tree: Tree, query: Query) -> int:
    """Return the number of bytes that the parser could not parse."""
    return sum(node.end_byte - node.start_byte for node in captures(query, tree.root_node).get("error", ()))


def _define(draft: Draft, grammar: Grammar, match: dict[str, list[Node]]) -> None:
    name = match["name"][0] if "name" in match else None
    for capture, nodes in match.items():
        if capture.startswith("definition."):
            node = nodes[0]
            at = name if name is not None else node
            definition = draft.define(
                capture.removeprefix("definition."),
                text(name) if name is not None else "",
                at.start_byte,
                node.start_byte,
                node.end_byte,
                signature=signature(draft.source, node, grammar.body),
            )
            if grammar.describe is not None:
                grammar.describe(draft.source, node, definition)
            if not definition.name:
                draft.definitions.remove(definition)


def text(node: Node) -> str:
    """Return a node's source text."""
    raw = node.text
    return raw.decode("utf-8", "replace") if raw is not None else ""


def signature(source: Source, node: Node, body: tuple[str, ...]) -> str:
    """Return a definition up to its body, on one line."""
    end = node.end_byte
    for field in body:
        inner = node.child_by_field_name(field)
        if inner is not None:
            end = min(end, inner.start_byte)
    return one_line(source.slice(node.start_byte, end)).rstrip(" {:;=")


def one_line(words: str) -> str:
    """Return the text with each run of white space replaced by one space."""
    return " ".join(words.split())
