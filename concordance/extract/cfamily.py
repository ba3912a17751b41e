"""Reads a file of the C family: C, C++, CUDA, Objective-C, Objective-C++.

In: a source, the grammar to read it with, and what is known of the repository's macros. Out: a
`Draft`. The order: scan the lines (no grammar), take out what hides the syntax, parse, repair what
the parser trips over, then state declarations and names, always from the original text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tree_sitter import Parser, Query

from . import cblank, cdirectives, cnames, crepair, macros, trees
from .cdeclarations import Walk
from .draft import Draft
from .source import Source


@dataclass(frozen=True)
class Tools:
    """A parser and its queries."""

    parser: Parser
    names: Query
    errors: Query
    plain_c: bool


@cache
def tools(package: str) -> Tools:
    """Made once in a process."""
    syntax = trees.syntax(package, "language")
    words = cnames.C_NAMES if package == "tree_sitter_c" else cnames.NAMES
    return Tools(Parser(syntax), Query(syntax, words + cnames.SHARED), Query(syntax, "(ERROR) @error (MISSING) @missing"), package == "tree_sitter_c")


def read(source: Source, package: str, known: macros.Macros | None = None) -> Draft:
    """One file."""
    draft = Draft(source, sees_members=True)
    lines = cdirectives.scan(source.data)
    blanked = cblank.blank(lines, known or {})
    kit = tools(package)
    tree = kit.parser.parse(bytes(blanked.data))
    versions = [crepair.Version(tree)]
    if tree.root_node.has_error:
        versions = crepair.Repair(lines, blanked, kit.parser, kit.errors).run(tree)
    for version in versions:
        _state(draft, lines, blanked, kit, version)
    cnames.note_directives(draft, lines)
    for start, end in blanked.taken:
        cnames.note_words(draft, start, end)
    for start, end, name in blanked.namespaces:
        draft.define("namespace", name, start, start, end, signature=f"namespace {name}", occurs=False)
    draft.blanked_bytes = blanked.size
    return draft


def _state(draft: Draft, lines: cdirectives.Lines, blanked: cblank.Blanked, kit: Tools, version: crepair.Version) -> None:
    """Enters what one tree says, or the part of it that no other tree does."""
    root = version.tree.root_node
    within = version.speaks_for if version.stretches else None
    if within is None:
        trees.note_errors(draft, version.tree, kit.errors)
    walk = Walk(draft, lines, blanked, kit.plain_c, within)
    walk.run(root)
    found = trees.captures(kit.names, root)
    walk.run_local(found.get("late", []))
    cnames.note(draft, found, walk.bodies, within)
