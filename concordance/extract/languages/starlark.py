"""Starlark (Bazel, Buck): functions, top-level names, and the targets that rule calls declare.

A top-level call with `name = "…"` declares a target; a call inside a function does so only when the function is
called, so it gives no symbol. `load` imports each of its names. A label of the same package (`":lib"`) is a read of
the target it names.
"""

from __future__ import annotations

from tree_sitter import Node

from concordance.base.model import Category, DocMarkup, Kind, Language, Parameter, Role
from concordance.extract.documents.docstrings import clean_docstring
from concordance.extract.reading import trees, typed_flow
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "starlark",
    "Starlark",
    unseen="labels made by macros",
    extensions=(".bzl", ".star", ".bazel", ".buck", ".build"),
    filenames=("BUILD", "BUILD.*", "*.BUILD", "WORKSPACE", "WORKSPACE.*", "MODULE.bazel", "BUCK", "TARGETS"),
    category=Category.BUILD,
    aliases=("bzl",),
    is_indented=True,
    doc_markup=DocMarkup.REST,
    doc_inside=True,
)

DEFINITIONS = """
(function_definition name: (identifier) @name) @definition.function
(module (expression_statement (assignment left: (identifier) @name) @definition.variable))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @definition.variable))
(module (expression_statement (assignment left: (tuple_pattern (identifier) @name)) @definition.variable))
(module (expression_statement
  (call arguments: (argument_list (keyword_argument name: (identifier) @_key value: (string) @name)))
  @definition.target)
  (#eq? @_key "name"))
"""

NAMES = """
["if" "elif" "for" "and" "or"] @branch
(comment) @comment
(identifier) @read
(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call))
(attribute attribute: (identifier) @member)
(keyword_argument name: (identifier) @key)
(assignment left: (identifier) @write @local)
(assignment left: (pattern_list (identifier) @write @local))
(assignment left: (tuple_pattern (identifier) @write @local))
(augmented_assignment left: (identifier) @write)
(for_statement left: (identifier) @write @local)
(for_statement left: (pattern_list (identifier) @write @local))
(for_in_clause left: (identifier) @write @local)
(for_in_clause left: (pattern_list (identifier) @write @local))
(for_in_clause left: (tuple_pattern (identifier) @write @local))
(parameters (identifier) @write @local)
(parameters (default_parameter name: (identifier) @write @local))
(parameters (list_splat_pattern (identifier) @write @local))
(parameters (dictionary_splat_pattern (identifier) @write @local))
(lambda_parameters (identifier) @write @local)
(lambda_parameters (default_parameter name: (identifier) @write @local))
(lambda) @scope
(list_comprehension) @comprehension
(dictionary_comprehension) @comprehension
(module (expression_statement (call function: (identifier) @_load arguments: (argument_list) @load))
  (#eq? @_load "load"))
((string (string_content) @label) (#match? @label "^:[A-Za-z0-9_.+/=,@~-]+$"))
"""

_MADE = frozenset(("rule", "repository_rule", "aspect", "provider", "macro", "tag_class", "module_extension"))
_STARS = {"list_splat_pattern": "*", "dictionary_splat_pattern": "**"}


def _describe(source: Source, node: Node, definition: Definition) -> None:
    definition.public = not definition.name.startswith("_")
    if node.type == "function_definition":
        definition.parameters = _parameters(node.child_by_field_name("parameters"))
        definition.doc = _docstring(node.child_by_field_name("body"))
    elif node.type == "assignment":
        definition.nests = False
        definition.kind = Kind.CONSTANT if definition.name.isupper() else Kind.VARIABLE
        words = trees.one_line(source.slice(node.start_byte, min(node.end_byte, node.start_byte + 800)))
        definition.signature = words if len(words) <= 200 else words[:200] + " …"
        _describe_made(node.child_by_field_name("right"), definition)
    else:
        function = node.child_by_field_name("function")
        definition.signature = f"{trees.text(function) if function is not None else ''}(name = {definition.name})"
        plain = definition.name[:1] in "\"'" and definition.name[:3] not in ('"""', "'''")
        definition.name = definition.name[1:-1] if plain else ""
        definition.at += 1
        definition.public = True


def _describe_made(value: Node | None, definition: Definition) -> None:
    """Complete the definition of a rule, an aspect or a provider, which build files call like a function."""
    function = value.child_by_field_name("function") if value is not None and value.type == "call" else None
    if value is None or function is None or trees.text(function) not in _MADE:
        return
    definition.kind = Kind.FUNCTION
    definition.signature = f"{definition.name} = {trees.text(function)}(…)"
    given = value.child_by_field_name("arguments")
    for argument in given.named_children if given is not None else ():
        name, text = argument.child_by_field_name("name"), argument.child_by_field_name("value")
        if name is not None and text is not None and trees.text(name) == "doc" and text.type == "string":
            definition.doc = clean_docstring(trees.text(text))


def _parameters(node: Node | None) -> tuple[Parameter, ...]:
    parameters: list[Parameter] = []
    named_only = False
    for child in node.named_children if node is not None else ():
        name = child.child_by_field_name("name") or child
        default = child.child_by_field_name("value")
        star = _STARS.get(child.type, "")
        if child.type == "comment":
            continue
        if child.type in ("keyword_separator", "positional_separator"):
            named_only = named_only or child.type == "keyword_separator"
            continue
        kind = star or ("keyword-only" if named_only else "positional")
        named_only = named_only or star == "*"
        words = trees.one_line(trees.text(default)) if default is not None else ""
        parameters.append(Parameter(trees.text(name).lstrip("*"), kind, "", words))
    return tuple(parameters)


def _docstring(body: Node | None) -> str:
    statements = (child for child in (body.named_children if body is not None else ()) if child.type != "comment")
    first = next(statements, None)
    if first is not None and first.type == "expression_statement" and first.named_child_count:
        first = first.named_child(0)
    if first is None or first.type != "string":
        return ""
    return clean_docstring(trees.text(first))


GRAMMAR = trees.Grammar("tree_sitter_starlark", DEFINITIONS, NAMES, describe=_describe)


def read(source: Source) -> Draft:
    """Parse one Starlark file into a `Draft`."""
    draft, tree, captures = trees.read(source, GRAMMAR)
    draft.doc = _docstring(tree.root_node)
    keys = captures.get("key", ())  # a parameter of the called function, never a name of this file
    draft.members.update(node.start_byte for node in keys)
    draft.add_names(((node.start_byte, node.end_byte) for node in keys), Role.MENTION)
    draft.scopes.extend((n.start_byte, n.end_byte, "comprehension") for n in captures.get("comprehension", ()))
    draft.add_names(((node.start_byte + 1, node.end_byte) for node in captures.get("label", ())), Role.READ)
    for node in captures.get("load", ()):
        _load(draft, node)
    draft.build_flow = typed_flow.build_typed_flow
    return draft


def _load(draft: Draft, arguments: Node) -> None:
    module = ""
    for place, node in enumerate(child for child in arguments.named_children if child.type != "comment"):
        alias = node.child_by_field_name("name") if node.type == "keyword_argument" else None
        value = node.child_by_field_name("value") if alias is not None else node
        if value is None or value.type != "string":
            continue
        start, end = value.start_byte + 1, value.end_byte - 1
        words = draft.source.slice(start, end)
        if place == 0:
            module = words
            continue
        draft.add_import(node.start_byte, module, name=words, alias=trees.text(alias) if alias is not None else "")
        draft.add_names([(start, end)], Role.IMPORT)
        if alias is None:
            draft.bound.add(start)
        else:
            draft.members.discard(alias.start_byte)
            draft.members.add(start)
            draft.add_names([(alias.start_byte, alias.end_byte)], Role.IMPORT)
            draft.bound.add(alias.start_byte)
