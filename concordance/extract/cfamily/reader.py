"""The reader for C, C++, CUDA, Objective-C and Objective-C++.

In: a source, the grammar to parse it with, and the repository's macros. Out: a `Draft`. The steps: scan the lines
(without a grammar), blank what hides the syntax, parse, repair what the parser fails on, then record declarations and
names, always from the original text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from tree_sitter import Node, Parser, Query

from concordance.base.model import Kind, Language, Role, VariableAccess
from concordance.extract.cfamily import directives, flow, macro_functions, macros, objective_c
from concordance.extract.cfamily import (
    repair as cfamily_repair,
)
from concordance.extract.cfamily.declarations import DeclarationWalk
from concordance.extract.cfamily.directives import Directive, ScannedLines, directive_text
from concordance.extract.cfamily.macros import KEYWORDS, Macros, macros_in
from concordance.extract.reading import trees
from concordance.extract.reading.draft import ROLE_CODES, Definition, Draft
from concordance.extract.reading.trees import one_line
from concordance.extract.text.source_text import Source

# A test of googletest: `TEST_F(Suite, Name)`
_TEST = re.compile(
    rb"^[ \t]*(?:TYPED_)?TEST(?P<fixture>_F|_P)?[ \t]*\(\s*(?P<suite>\w+)\s*,\s*(?P<name>\w+)\s*\)", re.M
)
C = "tree_sitter_c"
CPP = "tree_sitter_cpp"
CUDA = "tree_sitter_cuda"

_ENVIRONMENT = (
    VariableAccess("reads", rb"getenv(?:_s)?\s*\(\s*LITERAL\s*\)", b"getenv"),
    VariableAccess("reads", rb"dupenv_s\s*\([^;\"]{0,200},\s*VALUE\s*\)", b"dupenv_s"),
    VariableAccess("sets", rb"\b_?(?:setenv|putenv_s)\s*\(\s*LITERAL\s*,", b"env"),
    VariableAccess(
        "sets", rb"\b_?putenv\s*\(\s*(?:\(char\s*\*\)\s*|const_cast<char\s*\*>\()?\"(?P<name>[A-Za-z_]\w*)=", b"putenv"
    ),
    VariableAccess("removes", rb"unsetenv\s*\(\s*LITERAL\s*\)", b"unsetenv"),
)
# What the languages of this family have in common.
describe_language = partial(
    Language,
    separator="::",
    has_macros=True,
    has_prototypes=True,
    has_semicolons=True,
    import_verb="includes",
    unseen="indirect and virtual calls, overloaded operators, names made by macros, generated headers, lists of "
    "sources in variables",
    environment=_ENVIRONMENT,
    environment_marks=(b"env", b"ENV", b"Env"),
)


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
    words = C_NAMES if package == C else NAMES
    errors = Query(syntax, "(ERROR) @error (MISSING) @missing")
    return Tools(Parser(syntax), Query(syntax, words + SHARED), errors, package == C)


def read(source: Source, package: str, macros_: Macros | None, objects: bool = False) -> Draft:
    """Read one file; `objects` says that it may contain Objective-C."""
    draft = Draft(source, sees_members=True)
    lines = directives.scan(source.data)
    macros_ = macros_in(source.data, {}) if macros_ is None else macros_
    parsed = _parse(lines, package, macros_, objects)
    if parsed.cost and package == C and b"__cplusplus" in source.data:
        other = _parse(lines, CPP, macros_, objects)  # a header for both languages, with classes in its C++ part
        parsed = other if other.cost < parsed.cost else parsed
    calls: list[Node] = []
    for version in parsed.versions:
        calls += _state(draft, lines, parsed, version)
    blanked = parsed.blanked
    draft.forget(blanked.masked)
    draft.forget(_test_names(source.data))
    add_directives(draft, lines)
    for start, end in blanked.taken:
        add_words(draft, start, end)
    for start, end, name in blanked.namespaces:
        draft.define(Kind.NAMESPACE, name, start, start, end, signature=f"namespace {name}", occurs=False)
    if parsed.objects is not None:
        parsed.objects.state(draft, lines)
    macro_functions.add_macro_functions(draft)
    draft.blanked_bytes = blanked.size
    draft.build_flow = partial(flow.build_c_flow, lists=argument_lists(source.data, calls))
    return draft


def _test_names(data: bytes) -> list[int]:
    """Return the offsets of the names that googletest's macros make a test from: they refer to nothing."""
    starts: list[int] = []
    for match in _TEST.finditer(data) if b"TEST" in data else ():
        starts += [match.start("name")] if match["fixture"] else [match.start("suite"), match.start("name")]
    return starts


def _parse(lines: directives.ScannedLines, package: str, macros_: Macros, objects: bool) -> ParsedFile:
    kit = tools(package)
    blanked = macros.blank_macros(lines, macros_)
    met = objective_c.Transformer(lines, blanked).run() if objects else None
    tree = kit.parser.parse(bytes(blanked.data))
    if not tree.root_node.has_error:
        return ParsedFile(kit, blanked, met, [cfamily_repair.ParsedVersion(tree)], 0.0)
    repair = cfamily_repair.Repair(lines, blanked, kit.parser, kit.errors, macros_)
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
    captures = trees.captures(kit.names, root)
    walk.run_local(captures.get("late", []))
    branches = (node.start_byte for node in captures.get("branch", ()))
    draft.branches += branches if main else filter(version.speaks_for, branches)
    add_occurrences(draft, captures, walk.bodies, None if main else version.speaks_for)
    calls = captures.get("arguments", [])
    if main:
        return calls
    _join(draft, target, version)
    return [node for node in calls if version.speaks_for(node.start_byte)]


def _join(draft: Draft, other: Draft, version: cfamily_repair.ParsedVersion) -> None:
    """Add the definitions from a branch that the main tree does not contain, each under its parent there."""
    nowhere = Definition("", "", 0, 0, 0)  # the parent of definitions that have none
    known = {(d.at, d.name): d for d in draft.definitions}
    around: list[Definition] = []
    for definition in sorted(other.definitions, key=lambda d: (d.start, -d.end, d.at)):
        while around and (around[-1].end < definition.end or around[-1].end <= definition.start):
            around.pop()
        parent = around[-1] if around else nowhere
        if definition.nests:
            around.append(definition)
        if version.speaks_for(definition.at):
            definition.owner = known.get((parent.at, parent.name), parent)
            definition.nests = False  # because it overlaps definitions of the main tree
            draft.definitions.append(definition)


# --- occurrences of names in a C-family file, and the role of each
# In: the captures of a syntax tree of the blanked text, and the scanned lines. Out: names, scopes and local bindings in
# a `Draft`. The tree tells types, variables and fields apart. Whether a name is called or follows a receiver is told by
# the bytes next to it, which is far cheaper than asking the tree.


NAMES = """
(catch_clause) @branch
(binary_expression operator: ["and" "or"] @branch)
(identifier) @name
(field_identifier) @name
(namespace_identifier) @name
(type_identifier) @type
(base_class_clause (type_identifier) @inherit)
(base_class_clause (template_type name: (type_identifier) @inherit))
(base_class_clause (qualified_identifier name: (type_identifier) @inherit))
(base_class_clause (qualified_identifier name: (template_type name: (type_identifier) @inherit)))
(using_declaration (identifier) @import)
(using_declaration (qualified_identifier name: (identifier) @import))
(using_declaration (qualified_identifier name: (qualified_identifier name: (identifier) @import)))
(assignment_expression left: (identifier) @write)
(assignment_expression left: (field_expression field: (field_identifier) @write))
(assignment_expression left: (subscript_expression argument: (identifier) @write))
(update_expression argument: (identifier) @write)
(update_expression argument: (field_expression field: (field_identifier) @write))
(field_initializer (field_identifier) @write)
(template_function name: (identifier) @template)
(template_method name: (field_identifier) @template)
(structured_binding_declarator (identifier) @local)
(for_range_loop declarator: (identifier) @local)
(lambda_capture_initializer left: (identifier) @local)
(type_parameter_declaration (type_identifier) @local)
(optional_type_parameter_declaration name: (type_identifier) @local)
(variadic_type_parameter_declaration (type_identifier) @local)
(reference_declarator (identifier) @local)
(variadic_declarator (identifier) @local)
(optional_parameter_declaration declarator: (identifier) @local)
(lambda_expression) @lambda
(for_range_loop) @scope
(catch_clause) @scope
(alias_declaration) @late
(class_specifier body: (_)) @late
"""
SHARED = """
["if" "for" "while" "case" "?"] @branch
(binary_expression operator: ["&&" "||"] @branch)
(parameter_declaration declarator: (identifier) @local)
(pointer_declarator declarator: (identifier) @local)
(array_declarator declarator: (identifier) @local)
(init_declarator declarator: (identifier) @local)
(declaration declarator: (identifier) @local)
(compound_statement (declaration declarator: (function_declarator declarator: (identifier) @local)))
(compound_statement) @scope
(for_statement) @scope
(type_definition) @late
(struct_specifier body: (_)) @late
(union_specifier body: (_)) @late
(enum_specifier body: (_)) @late
(argument_list) @arguments
"""
C_NAMES = """
(identifier) @name
(field_identifier) @name
(type_identifier) @type
(assignment_expression left: (identifier) @write)
(assignment_expression left: (field_expression field: (field_identifier) @write))
(assignment_expression left: (subscript_expression argument: (identifier) @write))
(update_expression argument: (identifier) @write)
(update_expression argument: (field_expression field: (field_identifier) @write))
"""
_READ, _CALL, _TYPE, _WRITE = (ROLE_CODES[r] for r in (Role.READ, Role.CALL, Role.TYPE, Role.WRITE))
_TELLING = (
    ("write", _WRITE),
    ("template", _CALL),
    ("inherit", ROLE_CODES[Role.INHERIT]),
    ("import", ROLE_CODES[Role.IMPORT]),
)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_DEFINE = re.compile(rb"[ \t]*([A-Za-z_]\w*)(\([^)]*\))?")
_INCLUDE = re.compile(rb"[ \t]*(?:<([^>\n]+)>|\"([^\"\n]+)\"|([A-Za-z_]\w*))")
# Tokens of an argument in which only names are of interest, the only group
_INSIDE_QUOTES = re.compile(
    rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*.*?\*/|[0-9][\w.]*|([A-Za-z_]\w*)", re.S
)
_CONDITIONAL = frozenset((b"if", b"ifdef", b"ifndef", b"elif", b"elifdef", b"elifndef", b"undef"))
_JOINING = frozenset(b".>:")


def add_occurrences(
    draft: Draft, captures: dict[str, list[Node]], bodies: set[int], within: Callable[[int], bool] | None
) -> None:
    """Add the names of a tree, or of the part of it that `within` accepts."""
    data = draft.source.data + b"\0\0"  # so that the bytes after the last name can be read
    ends: dict[int, int] = {}
    roles: dict[int, int] = {}
    members = draft.members
    for node in captures.get("type", ()):
        start = node.start_byte
        ends[start], roles[start] = node.end_byte, _TYPE
        if data[start - 1] == 58:  # ":"
            members.add(start)
    for node in captures.get("name", ()):
        start, end = node.start_byte, node.end_byte
        ends[start] = end
        after = data[end]
        called = after == 40 or (after == 32 and data[end + 1] == 40) or (after == 60 and data[end + 2] == 60)
        roles[start] = _CALL if called else _READ  # "(", " (", "<<<"
        before = data[start - 1]
        if before in _JOINING and (before == 46 or data[start - 2] in b"-:"):  # ".", "->", "::"
            members.add(start)
    for capture, role in _TELLING:
        for node in captures.get(capture, ()):
            if capture != "template" or _is_called(data, node.end_byte):
                roles[node.start_byte] = role
    local = [node.start_byte for node in captures.get("local", ())]
    roles.update(dict.fromkeys(local, _WRITE))
    scopes = [(n.start_byte, n.end_byte, "block") for n in captures.get("scope", ()) if n.start_byte not in bodies]
    scopes += [(n.start_byte, n.end_byte, "lambda") for n in captures.get("lambda", ())]
    if within is not None:
        ends = {start: end for start, end in ends.items() if within(start)}
        roles = {start: roles[start] for start in ends}
        local = [start for start in local if within(start)]
        scopes = [scope for scope in scopes if within(scope[0])]
    draft.ends.update(ends)
    draft.roles.update(roles)
    draft.bound.update(local)
    draft.scopes.extend(scopes)


def argument_lists(data: bytes, nodes: list[Node]) -> list[tuple[int, int, int]]:
    """Return the range of each argument list, and its number of arguments."""
    ranges = []
    for node in nodes:
        start, end, count = node.start_byte, node.end_byte, node.named_child_count
        if count and data.find(b"/", start, end) >= 0:
            count = sum(child.type != "comment" for child in node.named_children)
        ranges.append((start, end, count))
    return ranges


def _is_called(data: bytes, at: int) -> bool:
    """True if the template arguments that start here are followed by a call's arguments."""
    depth = 0
    for place in range(at, min(len(data), at + 400)):
        sign = data[place]
        if sign == 60:
            depth += 1
        elif sign == 62:
            depth -= 1
            if depth == 0:
                return data[place + 1 : place + 20].lstrip().startswith((b"(", b"<<<"))
    return False


def add_words(draft: Draft, start: int, end: int) -> None:
    """Add the names in a range that no parser looked at."""
    data = draft.source.data
    for match in _INSIDE_QUOTES.finditer(data, start, end):
        word = match[1]
        if word and word not in KEYWORDS:
            called = data[match.end() : match.end() + 1] == b"("
            if data[match.start(1) - 2 : match.start(1)].endswith((b".", b"->", b"::")):
                draft.members.add(match.start(1))
            draft.ends[match.start(1)] = match.end(1)
            draft.roles[match.start(1)] = _CALL if called else _READ


def add_directives(draft: Draft, lines: ScannedLines) -> None:
    """Record the macros and includes of preprocessor lines, and the names that occur in them."""
    data = lines.data
    draft.comments.extend(lines.comments)
    dead = iter(lines.dead)
    ahead = next(dead, None)
    for line in lines.directives:
        while ahead is not None and ahead[1] <= line.start:
            ahead = next(dead, None)
        if ahead is not None and ahead[0] <= line.start:
            continue
        word = line.word
        if word == b"define":
            _macro(draft, lines, line.start, line.rest, line.end)
        elif word in (b"include", b"import", b"include_next"):
            match = _INCLUDE.match(data, line.rest, line.end)
            if match:
                form = "system" if match[1] else "local" if match[2] else ""
                header = (match[1] or match[2] or match[3]).decode("utf-8", "replace")
                draft.add_import(
                    match.start() + match[0].index(match[1] or match[2] or match[3]),
                    header,
                    form=form,
                    condition=lines.condition(line.start),
                )
        elif word in _CONDITIONAL:
            for match in _INSIDE_QUOTES.finditer(data, line.rest, line.end):
                if match[1] and match[1] not in KEYWORDS:
                    draft.ends[match.start(1)] = match.end(1)
                    draft.roles[match.start(1)] = _READ


def _macro(draft: Draft, lines: ScannedLines, start: int, rest: int, end: int) -> None:
    data = lines.data
    match = _DEFINE.match(data, rest, end)
    if match is None:
        return
    name = match[1].decode("utf-8", "replace")
    head = f"#define {name}" + (one_line(match[2].decode("utf-8", "replace")) if match[2] else "")
    body = data[match.end() : end]
    if not match[2] and b"\n" not in body:
        head = directive_text(data, Directive(start, end, b"define", rest))
    draft.define(
        Kind.MACRO, name, match.start(1), start, end, signature=head, condition=lines.condition(start), nests=False
    )
    if match[2]:
        draft.scopes.append((match.start(2), end, "block"))
        for inner in _WORD.finditer(data, match.start(2), match.end(2)):
            draft.ends[inner.start()] = inner.end()
            draft.roles[inner.start()] = _WRITE
            draft.bound.add(inner.start())
    add_words(draft, match.end(), end)
