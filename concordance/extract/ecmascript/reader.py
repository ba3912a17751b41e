"""The reader for JavaScript and TypeScript, which share nearly all of their syntax.

In: text, and the grammar of one of the two. Out: a `Draft`. A function is a definition if it is declared, bound to a
name, or made a member of a class, a prototype, `exports` or an object literal of the module; any other function is only
a scope.
"""

from __future__ import annotations

import re
from functools import partial

from tree_sitter import Node

from concordance.base.kinds import WHOLE_MODULE
from concordance.base.model import DocMarkup, Kind, Language, Parameter, VariableAccess
from concordance.extract.ecmascript import test_conventions
from concordance.extract.ecmascript.modules import default_exports, note_exports, note_imports
from concordance.extract.reading import trees, typed_flow
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.reading.value_syntax import ValueSyntax
from concordance.extract.text.source_text import Source

_VARIABLE = rb"(?:\.\s*(?P<name>[A-Za-z_]\w*)|\[\s*[\"'`](?P<other>\w+)[\"'`]\s*\])"
_ENVIRONMENT = (
    VariableAccess("sets", rb"\bprocess\.env\s*" + _VARIABLE + rb"\s*=(?![=>])"),
    VariableAccess("reads", rb"\bprocess\.env\s*" + _VARIABLE + rb"(?!\w|\s*=(?![=>]))"),
    VariableAccess("reads", rb"\bimport\.meta\.env\s*\.\s*(?P<name>[A-Z]\w*)\b(?!\s*=(?!=))"),
)
# What JavaScript and TypeScript have in common.
describe_language = partial(
    Language,
    unseen="paths made at run time, globals of other scripts",
    tests=test_conventions.CONVENTIONS,
    reexports=True,
    doc_markup=DocMarkup.COMMANDS | DocMarkup.MARKDOWN,
    environment=_ENVIRONMENT,
    environment_marks=(b".env",),
)
_WORDS = frozenset(
    ("static", "async", "get", "set", "*", "readonly", "abstract", "declare", "accessor", "const", "override",
     "accessibility_modifier", "override_modifier")
)  # fmt: skip
_LONG = 100  # a value that is longer, or has several lines, is left out of signatures
_FUNCTIONS = frozenset(("arrow_function", "function_expression", "generator_function"))
_KEYWORD = re.compile(rb"(?:\b(?:const|let|var)\s+)\Z")
_SPACE = re.compile(rb"(?:\s|/\*.*?\*/|//[^\n]*\n)*", re.S)
_GLOBAL = frozenset(("exports", "module.exports", "window", "global", "globalThis", "self", "root"))
_SIGNATURES = frozenset(("function_signature", "method_signature"))
_MEMBERS = frozenset(("method_definition", "method_signature", "abstract_method_signature", "pair"))
_LITERALS = frozenset(("string", "number", "object", "array", "template_string", "new_expression", "true", "false"))


def describe(source: Source, node: Node, definition: Definition) -> None:
    """Complete a definition from its node; if it turns out not to be one, its kind is set to ""."""
    kind = node.type
    _name(node, definition)
    if kind == "variable_declarator":
        _describe_variable(source, node, definition)
    elif kind == "assignment_expression":
        _describe_assignment(source, node, definition)
    elif kind in _FUNCTIONS or kind in ("class", "object"):
        _describe_default(source, node, definition)
    else:
        modifiers, start = read_head(node)
        definition.modifiers = modifiers
        body = node.child_by_field_name("value" if kind == "pair" else "body")
        definition.signature = _signature(source, node, start, body)
        if definition.kind in (Kind.CLASS, Kind.INTERFACE):
            definition.bases = bases(node)
            if body is not None:
                definition.opens = (body.start_byte, node.end_byte)
        elif kind == "pair" and body is not None and definition.kind == Kind.METHOD:
            definition.modifiers = read_head(body)[0]
            definition.signature = _signature(source, node, start, body.child_by_field_name("body"))
            _describe_function(body, definition)
        elif kind in _MEMBERS or definition.kind == Kind.FUNCTION:
            _describe_function(node, definition)
            definition.declaration = kind in _SIGNATURES
            if "get" in modifiers or "set" in modifiers:
                definition.kind = Kind.PROPERTY
        else:
            _describe_field(source, node, definition, start)


def _name(node: Node, definition: Definition) -> None:
    """Normalise a name that is quoted, computed or qualified, and thus not written as a name in the text."""
    if definition.name[:1] in ("'", '"', "[", "`") or definition.name[:1].isdigit():
        definition.occurs = False
        if definition.name[0] in "'\"`":
            definition.name = definition.name[1:-1]
        else:
            definition.name = trees.one_line(definition.name)
    elif node.type == "index_signature":
        definition.name = trees.one_line(trees.text(node).partition("]")[0]) + "]"
        definition.occurs = False
    elif node.type in ("internal_module", "module") and "." in definition.name:
        *outer, definition.name = "".join(definition.name.split()).split(".")
        definition.within = tuple(outer)
        definition.occurs = False


def _describe_function(node: Node, definition: Definition) -> None:
    """Fill in what a function node says, whatever it is bound to."""
    definition.parameters = parameters(node)
    returned = node.child_by_field_name("return_type")
    if returned is not None:
        definition.returns = trees.one_line(trees.text(returned)).removeprefix(":").strip()
    first = node.child_by_field_name("type_parameters") or node.child_by_field_name("parameters")
    if node.type in _FUNCTIONS:
        definition.opens = (node.start_byte, node.end_byte)
    elif first is not None:
        definition.opens = (first.start_byte, node.end_byte)


def _describe_class(value: Node, definition: Definition) -> None:
    definition.kind = Kind.CLASS
    definition.bases = bases(value)
    definition.opens = (value.start_byte, value.end_byte)


def _signature(source: Source, node: Node, start: int, body: Node | None) -> str:
    end = body.start_byte if body is not None else node.end_byte
    return trees.one_line(source.slice(start, end)).removesuffix("=>").rstrip(" {:;=,")


def _bound_signature(source: Source, node: Node, value: Node) -> str:
    """Return the signature of a name that is bound to a function or a class."""
    return _signature(source, node, node.start_byte, value.child_by_field_name("body"))


def _describe_variable(source: Source, node: Node, definition: Definition) -> None:
    value = node.child_by_field_name("value")
    while value is not None and value.type == "parenthesized_expression" and value.named_child_count:
        value = value.named_children[-1]
    keyword = _KEYWORD.search(source.data, max(0, node.start_byte - 12), node.start_byte)
    before = f"{keyword[0].decode().strip()} " if keyword else ""
    if keyword:
        definition.start = keyword.start()
    kind = node.child_by_field_name("type")
    definition.returns = trees.one_line(trees.text(kind)).removeprefix(":").strip() if kind is not None else ""
    if value is not None and value.type in _FUNCTIONS:
        definition.kind = Kind.FUNCTION
        definition.modifiers = read_head(value)[0]
        definition.signature = before + _bound_signature(source, node, value)
        _describe_function(value, definition)
    elif value is not None and value.type == "class":
        definition.signature = before + _bound_signature(source, node, value)
        _describe_class(value, definition)
    else:
        if value is not None and _is_require(value):
            definition.kind = ""
        definition.signature = before + _value_signature(source, node, value, node.start_byte)


def _value_signature(source: Source, node: Node, value: Node | None, start: int) -> str:
    if value is not None and (value.end_byte - value.start_byte > _LONG or b"\n" in (value.text or b"")):
        return _signature(source, node, start, value)
    return trees.one_line(source.slice(start, node.end_byte)).rstrip(" ;,")


def _is_require(value: Node) -> bool:
    while value.type == "member_expression":
        inner = value.child_by_field_name("object")
        if inner is None:
            return False
        value = inner
    called = value.child_by_field_name("function") if value.type == "call_expression" else None
    return called is not None and called.text == b"require"


def _describe_field(source: Source, node: Node, definition: Definition, start: int) -> None:
    value = node.child_by_field_name("value")
    if value is not None and value.type in _FUNCTIONS and definition.kind == Kind.FIELD:
        definition.kind = Kind.METHOD
        definition.modifiers += read_head(value)[0]
        definition.signature = _signature(source, node, start, value.child_by_field_name("body"))
        _describe_function(value, definition)
        return
    kind = node.child_by_field_name("type")
    definition.returns = trees.one_line(trees.text(kind)).removeprefix(":").strip() if kind is not None else ""
    if node.type != "pair" and definition.kind != Kind.ENUM and definition.kind != Kind.NAMESPACE:
        definition.signature = _value_signature(source, node, value, start)


def _describe_assignment(source: Source, node: Node, definition: Definition) -> None:
    """Handle `Thing.prototype.name = function …` and the like; the value must be new, not an alias."""
    left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    receiver = left.child_by_field_name("object") if left is not None else None
    if value is None or receiver is None or not definition.name.replace("$", "_").isidentifier():
        definition.kind = ""
        return
    path = "".join(trees.text(receiver).split())
    exported = path in ("exports", "module.exports") or (path == "module" and definition.name == "exports")
    if value.type not in _FUNCTIONS and value.type != "class":
        definition.kind = Kind.VARIABLE if exported and value.type in _LITERALS and path != "module" else ""
        if path.endswith(".prototype") and value.type in ("identifier", "assignment_expression"):
            definition.kind = Kind.METHOD
            definition.within = tuple(path.removesuffix(".prototype").split("."))
        definition.signature = _value_signature(source, node, value, node.start_byte)
        return
    definition.signature = _bound_signature(source, node, value)
    definition.modifiers = read_head(value)[0]
    definition.kind = Kind.FUNCTION if exported or path in _GLOBAL else Kind.METHOD
    if definition.kind == Kind.METHOD:
        if not re.fullmatch(r"[\w$]+(?:\.[\w$]+)*", path) or path == "this":
            definition.kind = ""
            return
        definition.within = tuple(part for part in path.split(".") if part != "prototype")
    if path == "module":
        own = value.child_by_field_name("name")
        definition.name = trees.text(own) if own is not None else WHOLE_MODULE
        definition.occurs = False
    if value.type == "class":
        _describe_class(value, definition)
    else:
        _describe_function(value, definition)


def _describe_default(source: Source, node: Node, definition: Definition) -> None:
    """Handle the value of an `export default` without a declaration."""
    own = node.child_by_field_name("name")
    definition.name = trees.text(own) if own is not None else "default"
    definition.occurs = False
    if node.type == "object":
        definition.signature = "default"
        return
    definition.modifiers, start = read_head(node)
    definition.signature = _signature(source, node, start, node.child_by_field_name("body"))
    if node.type == "class":
        _describe_class(node, definition)
    else:
        _describe_function(node, definition)


def read(source: Source, grammar: trees.Grammar) -> Draft:
    """Read one file of JavaScript or TypeScript."""
    draft, _, captures = trees.read(source, grammar)
    draft.definitions = _chosen(draft, captures)
    _note_patterns(draft, captures)
    _note_scopes(draft, captures)
    _note_decorators(draft, captures)
    note_imports(draft, captures)
    offered = note_exports(draft, captures)
    _note_nesting(draft, offered)
    syntax = ValueSyntax(captures)
    syntax.defaults = default_exports(draft, captures)
    draft.build_flow = partial(typed_flow.build_typed_flow, syntax=syntax)
    return draft


def _chosen(draft: Draft, captures: dict[str, list[Node]]) -> list[Definition]:
    """Return each definition once, as one may match both as a function and as a constant; drop false matches.

    A function that is assigned as a member inside another function is a definition only if the receiver is the
    module, a prototype, or a function or class of this file; otherwise it is just a value.
    """
    top = {node.start_byte for node in captures.get("top", ())}
    own = {d.name for d in draft.definitions if d.kind in (Kind.FUNCTION, Kind.CLASS)}
    seen: set[int] = set()
    kept = []
    for d in draft.definitions:
        if not d.kind or d.at in seen:
            continue
        if d.within and d.kind in (Kind.METHOD, Kind.CLASS) and d.start not in top:
            path = d.signature.partition("=")[0]
            if d.within[0] not in own and ".prototype." not in path:
                continue
        seen.add(d.at)
        kept.append(d)
    return kept


def _note_patterns(draft: Draft, captures: dict[str, list[Node]]) -> None:
    """Define the names that destructuring patterns bind, and drop names that are not really names."""
    data = draft.source.data
    for node in captures.get("assigned", ()):
        draft.bound.difference_update([at for at in _pattern_names(draft, node) if at in draft.bound])
    required = {node.start_byte for node in captures.get("require.declarator", ())}
    constant = {node.start_byte for node in captures.get("constant", ())}
    for node in captures.get("pattern", ()):
        pattern = node.child_by_field_name("name")
        if pattern is None or node.start_byte in required:
            continue
        keyword = _KEYWORD.search(data, max(0, node.start_byte - 12), node.start_byte)
        kind = Kind.CONSTANT if node.start_byte in constant else Kind.VARIABLE
        for at in sorted(at for at in _pattern_names(draft, pattern) if at in draft.bound):
            name = draft.source.slice(at, draft.ends[at])
            start = keyword.start() if keyword else node.start_byte
            words = trees.one_line(trees.text(pattern))
            signature = f"{keyword[0].decode().strip() if keyword else ''} {words}".strip()
            draft.define(kind, name, at, start, node.end_byte, signature=signature, nests=False)
    draft.sent.update((node.start_byte, "hoist") for node in captures.get("hoist", ()))
    # A lower-case tag is an HTML element, not a name of the program.
    tags = [node.start_byte for node in captures.get("tag", ())]
    draft.forget(at for at in tags if data[at : at + 1].islower())


def _pattern_names(draft: Draft, node: Node) -> list[int]:
    """Return the starts of the names inside a pattern."""
    starts, pending = [], [node]
    while pending:
        here = pending.pop()
        if here.start_byte in draft.ends and here.end_byte == draft.ends[here.start_byte]:
            starts.append(here.start_byte)
        pending.extend(here.named_children)
    return starts


def _note_scopes(draft: Draft, captures: dict[str, list[Node]]) -> None:
    bodies = {node.start_byte for node in captures.get("body", ())}
    draft.scopes.extend(
        (node.start_byte, node.end_byte, "block") for node in captures.get("block", ()) if node.start_byte not in bodies
    )
    taken = {d.opens[0] for d in draft.definitions if d.opens is not None}
    for node in captures.get("lambda", ()):
        first: Node | None = node
        if node.type == "method_definition":
            first = node.child_by_field_name("type_parameters") or node.child_by_field_name("parameters")
        if first is not None and first.start_byte not in taken:
            draft.scopes.append((first.start_byte, node.end_byte, "lambda"))
    draft.scopes.extend(
        (node.start_byte, node.end_byte, "class") for node in captures.get("class", ()) if node.start_byte not in taken
    )
    ends = {d.at + len(d.name.encode()): d.end for d in draft.definitions} if "generic" in captures else {}
    for node in captures.get("generic", ()):
        if node.start_byte in ends:
            draft.scopes.append((node.start_byte, ends[node.start_byte], "block"))


def _note_decorators(draft: Draft, captures: dict[str, list[Node]]) -> None:
    """Add decorators, which TypeScript's grammar puts next to a method, and `declare`, which surrounds a definition."""
    before: dict[int, Node] = {}
    for node in captures.get("decorator", ()):
        match = _SPACE.match(draft.source.data, node.end_byte)
        before[match.end() if match else node.end_byte] = node
    ambient = {
        node.named_children[0].start_byte: node for node in captures.get("ambient", ()) if node.named_child_count
    }
    for d in draft.definitions if before or ambient else ():
        while d.start in before:
            node = before[d.start]
            d.start = node.start_byte
            d.modifiers = (trees.one_line(trees.text(node)), *d.modifiers)
        if d.start in ambient:
            d.start = ambient[d.start].start_byte
            d.modifiers = ("declare", *d.modifiers)
            d.declaration = True


def _note_nesting(draft: Draft, offered: frozenset[str] | None) -> None:
    """Decide what is public, and make a constructor's `private x` a member of the class."""
    stack: list[Definition] = []
    for d in sorted(draft.definitions, key=lambda d: (d.start, -d.end, d.at)):
        while stack and stack[-1].end <= d.start:
            stack.pop()
        parent = stack[-1] if stack else None
        hidden = d.name.startswith(("_", "#")) or "private" in d.modifiers or "protected" in d.modifiers
        if parent is None:
            top = d.within[0] if d.within else d.name
            quoted = d.kind == Kind.NAMESPACE and not d.occurs  # declare module "name"
            d.public = not hidden if offered is None else top in offered or quoted
        elif parent.kind == Kind.METHOD and d.kind == Kind.FIELD:
            d.owner = next((outer for outer in reversed(stack) if outer.kind == Kind.CLASS), None)
            d.public = not hidden
        elif parent.kind in (Kind.FUNCTION, Kind.METHOD, Kind.PROPERTY):
            d.public = False
        elif parent.kind == Kind.NAMESPACE:
            d.public = parent.declaration or "export" in d.modifiers
            d.declaration = parent.declaration or d.declaration
        else:
            d.public = not hidden
            d.declaration = d.declaration and not (d.kind == Kind.METHOD and parent.kind in (Kind.INTERFACE, Kind.TYPE))
            if d.kind == Kind.PROPERTY and parent.kind in (Kind.INTERFACE, Kind.TYPE):
                d.declaration = False
        if d.nests:
            stack.append(d)


# The head of a definition: its modifiers and decorators, its parameters, its bases.


def read_head(node: Node) -> tuple[tuple[str, ...], int]:
    """Return the modifiers and decorators, and where the definition starts after its decorators."""
    words: list[str] = []
    start = node.start_byte
    for child in node.children:
        kind = child.type
        if kind == "decorator":
            words.append(trees.one_line(trees.text(child)))
            start = _start_after(child, node)
        elif kind in _WORDS:
            words.append(trees.text(child))
        elif kind not in ("function", "class", "enum", "comment"):
            break
    return tuple(words), start


def _start_after(child: Node, node: Node) -> int:
    following = child.next_sibling
    return following.start_byte if following is not None else node.end_byte


def parameters(node: Node) -> tuple[Parameter, ...]:
    """Return a function's parameters; a destructured one has its pattern as its name."""
    single = node.child_by_field_name("parameter")
    if single is not None:
        return (Parameter(trees.text(single), ""),)
    listed = node.child_by_field_name("parameters")
    if listed is None:
        return ()
    return tuple(_parameter(child) for child in listed.named_children if child.type not in ("comment", "ERROR"))


def _parameter(node: Node) -> Parameter:
    name: Node | None = node
    default = annotation = star = ""
    if node.type in ("required_parameter", "optional_parameter"):
        name = node.child_by_field_name("pattern")
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        annotation = trees.one_line(trees.text(kind)).removeprefix(":").strip() if kind is not None else ""
        default = trees.one_line(trees.text(value)) if value is not None else ""
    elif node.type == "assignment_pattern":
        name = node.child_by_field_name("left")
        value = node.child_by_field_name("right")
        default = trees.one_line(trees.text(value)) if value is not None else ""
    if name is not None and name.type == "rest_pattern":
        star = "*"
        name = name.named_children[0] if name.named_child_count else name
    return Parameter(trees.one_line(trees.text(name)) if name is not None else "", star, annotation, default)


def bases(node: Node) -> tuple[str, ...]:
    """Return what a class or interface extends and implements, as written."""
    names: list[str] = []
    for child in node.named_children:
        if child.type == "extends_type_clause":
            names.extend(trees.one_line(trees.text(c)) for c in child.named_children if c.type != "comment")
        elif child.type == "class_heritage":
            for part in child.named_children:
                if part.type == "extends_clause":
                    words = "".join(trees.text(c) for c in part.named_children if c.type != "comment")
                    names.append(trees.one_line(words))
                elif part.type == "implements_clause":
                    names.extend(trees.one_line(trees.text(c)) for c in part.named_children if c.type != "comment")
                elif part.type != "comment":
                    names.append(trees.one_line(trees.text(part)))
    return tuple(names)
