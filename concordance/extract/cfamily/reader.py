"""The reader for C, C++, CUDA, Objective-C and Objective-C++.

In: a source, the grammar to parse it with, and the repository's macros. Out: a `Draft`. The steps: scan the lines
(without a grammar), blank what hides the syntax, parse, repair what the parser fails on, then record declarations and
names, always from the original text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial

from tree_sitter import Node, Parser, Query

from concordance.base.model import Kind
from concordance.extract.cfamily import directives, flow, macro_functions, macros, objective_c, occurrences
from concordance.extract.cfamily import (
    repair as cfamily_repair,
)
from concordance.extract.cfamily.declarations import DeclarationWalk
from concordance.extract.cfamily.macros import Macros, macros_in
from concordance.extract.reading import trees
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.text.source_text import Source

C = "tree_sitter_c"
CPP = "tree_sitter_cpp"
CUDA = "tree_sitter_cuda"


@dataclass(frozen=True)
class Tools:
    """A parser and its queries."""

    parser: Parser
    names: Query
    errors: Query
    plain_c: bool


@dataclass(slots=True)
class ParsedFile:
    """A file after parsing and repair."""

    kit: Tools
    blanked: macros.Blanked
    objects: objective_c.Objects | None
    versions: list[cfamily_repair.ParsedVersion]
    cost: float  # of the remaining errors


@cache
def tools(package: str) -> Tools:
    """Return the tools for a grammar; created once per process."""
    syntax = trees.load_language(package, "language")
    words = occurrences.C_NAMES if package == C else occurrences.NAMES
    errors = Query(syntax, "(ERROR) @error (MISSING) @missing")
    return Tools(Parser(syntax), Query(syntax, words + occurrences.SHARED), errors, package == C)


def read(source: Source, package: str, known: Macros | None = None, objects: bool = False) -> Draft:
    """Read one file; `objects` says that it may contain Objective-C."""
    draft = Draft(source, sees_members=True)
    lines = directives.scan(source.data)
    known = macros_in(source.data, {}) if known is None else known
    parsed = _parse(lines, package, known, objects)
    if parsed.cost and package == C and b"__cplusplus" in source.data:
        other = _parse(lines, CPP, known, objects)  # a header for both languages, with classes in its C++ part
        parsed = other if other.cost < parsed.cost else parsed
    calls: list[Node] = []
    for version in parsed.versions:
        calls += _state(draft, lines, parsed, version)
    blanked = parsed.blanked
    draft.forget(blanked.masked)
    occurrences.add_directives(draft, lines)
    for start, end in blanked.taken:
        occurrences.add_words(draft, start, end)
    for start, end, name in blanked.namespaces:
        draft.define(Kind.NAMESPACE, name, start, start, end, signature=f"namespace {name}", occurs=False)
    if parsed.objects is not None:
        parsed.objects.state(draft, lines)
    macro_functions.add_macro_functions(draft)
    draft.blanked_bytes = blanked.size
    draft.weave = partial(flow.build_c_flow, lists=occurrences.argument_lists(source.data, calls))
    return draft


def _parse(lines: directives.ScannedLines, package: str, known: Macros, objects: bool) -> ParsedFile:
    kit = tools(package)
    blanked = macros.blank_macros(lines, known)
    met = objective_c.Transformer(lines, blanked).run() if objects else None
    tree = kit.parser.parse(bytes(blanked.data))
    if not tree.root_node.has_error:
        return ParsedFile(kit, blanked, met, [cfamily_repair.ParsedVersion(tree)], 0.0)
    repair = cfamily_repair.Repair(lines, blanked, kit.parser, kit.errors, known)
    versions = repair.run(tree)
    return ParsedFile(kit, blanked, met, versions, repair.cost)


def _state(
    draft: Draft, lines: directives.ScannedLines, parsed: ParsedFile, version: cfamily_repair.ParsedVersion
) -> list[Node]:
    """Record what one tree contains and no other tree covers; return the argument lists of its calls."""
    kit = parsed.kit
    root = version.tree.root_node
    main = not version.stretches
    target = draft if main else Draft(draft.source)
    if main:
        draft.root = root
        trees.note_errors(draft, version.tree, kit.errors)
    walk = DeclarationWalk(target, lines, parsed.blanked, kit.plain_c)
    walk.run(root)
    found = trees.captures(kit.names, root)
    walk.run_local(found.get("late", []))
    branches = (node.start_byte for node in found.get("branch", ()))
    draft.branches += branches if main else filter(version.speaks_for, branches)
    occurrences.add_occurrences(draft, found, walk.bodies, None if main else version.speaks_for)
    calls = found.get("arguments", [])
    if main:
        return calls
    _join(draft, target, version)
    return [node for node in calls if version.speaks_for(node.start_byte)]


def _join(draft: Draft, other: Draft, version: cfamily_repair.ParsedVersion) -> None:
    """Add the definitions from a branch that the main tree does not contain, each under its parent there."""
    nowhere = Definition("", "", 0, 0, 0)  # the parent of definitions that have none
    known = {(d.at, d.name): d for d in draft.definitions}
    around: list[Definition] = []
    for one in sorted(other.definitions, key=lambda d: (d.start, -d.end, d.at)):
        while around and (around[-1].end < one.end or around[-1].end <= one.start):
            around.pop()
        parent = around[-1] if around else nowhere
        if one.nests:
            around.append(one)
        if version.speaks_for(one.at):
            one.owner = known.get((parent.at, parent.name), parent)
            one.nests = False  # because it overlaps definitions of the main tree
            draft.definitions.append(one)
