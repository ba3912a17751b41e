"""Go: packages, functions, methods with their receiver, types, fields, constants.

In: the text of a Go file. Out: a `Draft`. A method belongs to its receiver's type. An embedded type is both a base
and a field. A build constraint is the condition of the whole file.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from functools import partial

from tree_sitter import Node

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import (
    DocMarkup,
    FileFacts,
    Kind,
    Language,
    Parameter,
    RunnerFiles,
    TestConventions,
    VariableAccess,
)
from concordance.extract.documents.comments import Comments
from concordance.extract.reading import trees, typed_flow
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.reading.value_syntax import ValueSyntax
from concordance.extract.text.source_text import Source

_TEST = re.compile(r"(?:Test|Fuzz|Example)(?![a-z])")


_NOT_RUN = "example without output"  # the modifier of an example that is compiled, but not run


def _tests(facts: FileFacts, path: str) -> list[int]:
    return [
        place for place, symbol in enumerate(facts.symbols)
        if symbol.kind in FUNCTION_KINDS and _TEST.match(symbol.name) and _NOT_RUN not in symbol.modifiers
        and not any(parameter.annotation == "*testing.M" for parameter in symbol.parameters)  # it runs the tests
    ]  # fmt: skip


_MAX_MODULES = 4  # modules whose tests are worth a line each


def _all_tests(files: RunnerFiles) -> str:
    """Return a command for each module: `./...` ends where another module begins."""
    folders = [path.rpartition("/")[0] for path in files.named("go.mod")]
    if "" not in folders or len(folders) > _MAX_MODULES:
        return ""
    inner = sorted(filter(None, folders))
    return "\n".join(["go test ./...", *(f"go -C {shlex.quote(folder)} test ./..." for folder in inner)])


def _test_command(files: RunnerFiles, path: str) -> Callable[[str], str] | None:
    module = next(files.nearest(path, "go.mod"), None)
    if module is None:
        return None
    module_folder, folder = module.rpartition("/")[0], path.rpartition("/")[0]
    inside = folder[len(module_folder) :].strip("/")
    before = f"go -C {shlex.quote(module_folder)}" if module_folder else "go"
    wanted = f"{before} test ./{inside}".removesuffix("/")
    return lambda name: f"{wanted} -run '^{name.rpartition('.')[2]}$'" if name else wanted


_ENVIRONMENT = (
    VariableAccess("reads", rb"\bos\.(?:Getenv|LookupEnv)\(\s*LITERAL\s*\)"),
    VariableAccess("sets", rb"\.Setenv\(\s*LITERAL\s*,"),
    VariableAccess("removes", rb"\bos\.Unsetenv\(\s*LITERAL\s*\)"),
)

LANGUAGE = Language(
    "go",
    "Go",
    unseen="reflection, calls through interfaces",
    extensions=(".go",),
    aliases=("golang",),
    tests=TestConventions(find=_tests, command=_test_command, command_for_all=_all_tests, settings=("go.mod",)),
    imports_folders=True,
    base_verb="embeds",
    heir_verb="embedded",
    heir_noun=("type that embeds it", "types that embed it"),
    doc_markup=DocMarkup.GODOC | DocMarkup.BRACKET_LINKS,
    doc_code="go",
    environment=_ENVIRONMENT,
    environment_marks=(b"env",),
)

DEFINITIONS = """
(source_file (package_clause (package_identifier) @name) @definition.namespace)
(function_declaration name: (identifier) @name) @definition.function
(method_declaration name: (field_identifier) @name) @definition.method
(method_elem name: (field_identifier) @name) @definition.method
(type_spec name: (type_identifier) @name) @definition.type
(type_alias name: (type_identifier) @name) @definition.type
(field_declaration name: (field_identifier) @name) @definition.field
(field_declaration !name type: (type_identifier) @name) @definition.field
(field_declaration !name type: (qualified_type name: (type_identifier) @name)) @definition.field
(field_declaration !name type: (generic_type type: (type_identifier) @name)) @definition.field
(field_declaration !name type: (generic_type type: (qualified_type name: (type_identifier) @name))) @definition.field
(source_file (const_declaration (const_spec (identifier) @name) @definition.constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @definition.variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @definition.variable)))
"""

NAMES = """
["if" "for" "case" "&&" "||"] @branch
(comment) @comment
(identifier) @read
(type_identifier) @type
(field_identifier) @read
(package_identifier) @read
(label_name) @mention @member
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression field: (field_identifier) @call))
(call_expression function: (parenthesized_expression (identifier) @call))
(type_instantiation_expression type: (type_identifier) @read)
(selector_expression field: (field_identifier) @member)
(qualified_type name: (type_identifier) @member)
(composite_literal type: [(type_identifier) (qualified_type) (generic_type)]
  body: (literal_value (keyed_element key: (literal_element (identifier) @member))))
(literal_element (literal_value (keyed_element key: (literal_element (identifier) @member))))
(short_var_declaration left: (expression_list (identifier) @write @local))
(range_clause left: (expression_list (identifier) @write))
(range_clause left: (expression_list (identifier) @local) ":=")
(receive_statement left: (expression_list (identifier) @write))
(receive_statement left: (expression_list (identifier) @local) ":=")
(type_switch_statement alias: (expression_list (identifier) @write @local))
(parameter_declaration name: (identifier) @write @local)
(variadic_parameter_declaration name: (identifier) @write @local)
(type_parameter_declaration name: (identifier) @write @local)
(method_declaration receiver: (parameter_list (parameter_declaration
  type: (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @local))))))
(method_declaration receiver: (parameter_list (parameter_declaration
  type: (pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @local)))))))
(const_spec (identifier) @write @local)
(var_spec name: (identifier) @write @local)
(import_spec name: (package_identifier) @import @local)
(assignment_statement left: (expression_list (identifier) @write))
(assignment_statement left: (expression_list (selector_expression field: (field_identifier) @write)))
(inc_statement [(identifier) @write (selector_expression field: (field_identifier) @write)])
(dec_statement [(identifier) @write (selector_expression field: (field_identifier) @write)])
(field_declaration !name type: [(type_identifier) @inherit (qualified_type name: (type_identifier) @inherit)
  (generic_type type: (type_identifier) @inherit)])
(interface_type (type_elem . [(type_identifier) @inherit (qualified_type name: (type_identifier) @inherit)
  (generic_type type: (type_identifier) @inherit)] .))
[(if_statement) (for_statement) (expression_switch_statement) (type_switch_statement) (expression_case) (type_case)
 (default_case) (communication_case) (function_type)] @scope
(if_statement consequence: (block) @scope)
(if_statement alternative: (block) @scope)
(for_statement body: (block) @scope)
(statement_list (block) @scope)
(func_literal) @lambda
(type_spec type_parameters: (_) @generic)
(type_alias type_parameters: (_) @generic)
(import_spec) @import.spec
[(call_expression) (index_expression) (type_assertion_expression) (parenthesized_expression)
 (composite_literal)] @value.call
(short_var_declaration) @value.bind
(range_clause) @value.range
(field_declaration name: (_) type: [(slice_type) (array_type) (map_type)]) @value.typed
(parameter_declaration name: (_) type: [(slice_type) (array_type) (map_type)]) @value.typed
(var_spec name: (_) type: [(slice_type) (array_type) (map_type)]) @value.typed
(var_spec value: (_)) @value.bind
(function_declaration result: (_)) @value.result
(method_declaration result: (_)) @value.result
(method_elem result: (_)) @value.result
"""

_LONG = 100  # a longer value, or one of several lines, is left out of the signature
_OUTPUT = re.compile(r"//[ \t]*(?:unordered )?output:|/\*\s*(?:unordered )?output:", re.I)
_CONSTRAINT = re.compile(rb"^//[ \t]*(go:build|\+build)[ \t]+(.+?)[ \t]*$", re.M)
_DIRECTIVE = re.compile(r"^(?:go:[a-z]+|export|line|extern)\b.*\n?", re.M)
_DIRECTIVE_SIGNS = (b"//go:", b"//export ")


def _parameters(node: Node) -> tuple[Parameter, ...]:
    listed = node.child_by_field_name("parameters")
    parameters: list[Parameter] = []
    for child in listed.named_children if listed is not None else ():
        if child.type not in ("parameter_declaration", "variadic_parameter_declaration"):
            continue
        star = "*" if child.type.startswith("variadic") else ""
        kind = child.child_by_field_name("type")
        annotation = trees.one_line(trees.text(kind)) if kind is not None else ""
        names = [n for n in child.children_by_field_name("name") if n.is_named]
        parameters.extend(Parameter(trees.text(name), star, annotation) for name in names)
        if not names:
            parameters.append(Parameter("", star, annotation))
    return tuple(parameters)


def _embedded(body: Node, kind: str) -> tuple[str, ...]:
    """Return the names of the types that a struct or interface embeds."""
    if kind == "struct_type":
        listed = body.named_children[0].named_children if body.named_child_count else []
        rows = [c for c in listed if c.type == "field_declaration" and c.child_by_field_name("name") is None]
        types = [row.child_by_field_name("type") for row in rows]
    else:
        types = [
            c.named_children[0] for c in body.named_children
            if c.type == "type_elem" and c.named_child_count == 1 and c.named_children[0].type.endswith(_TYPE_NAMES)
        ]  # fmt: skip
    return tuple(trees.one_line(trees.text(t)) for t in types if t is not None)


_TYPE_NAMES = ("type_identifier", "qualified_type", "generic_type")


def _describe_type(source: Source, node: Node, definition: Definition) -> None:
    body = node.child_by_field_name("type")
    if body is None:
        return
    equals = "= " if node.type == "type_alias" else ""
    head = f"type {trees.one_line(source.slice(node.start_byte, body.start_byte)).removesuffix(' =')} {equals}"
    if body.type in ("struct_type", "interface_type"):
        kind = body.type.removesuffix("_type")
        if not equals:
            definition.kind = Kind.STRUCT if kind == "struct" else Kind.INTERFACE
        definition.signature = head + kind
        definition.bases = _embedded(body, body.type)
        definition.opens = (body.start_byte, node.end_byte)
    else:
        definition.signature = head + trees.one_line(trees.text(body))


def _describe_value(source: Source, node: Node, definition: Definition) -> None:
    """Complete the definition of a constant, variable or field.

    Several names may share one declaration; only the last of them can contain nested definitions.
    """
    names = [n for n in node.children_by_field_name("name") if n.is_named]
    definition.nests = not names or names[-1].start_byte == definition.at
    kind = node.child_by_field_name("type")
    if kind is not None:
        definition.returns = trees.one_line(trees.text(kind)) if kind.type != "struct_type" else "struct"
    if node.type == "field_declaration":
        definition.occurs = bool(names)
        if names and (len(names) > 1 or definition.returns == "struct"):
            definition.signature = f"{definition.name} {definition.returns}"
        return
    value = node.child_by_field_name("value")
    if value is not None and (len(words := trees.text(value)) > _LONG or "\n" in words):
        definition.signature = trees.signature(source, node, ("value",))
    definition.signature = f"{'const' if node.type == 'const_spec' else 'var'} {definition.signature}"


def _describe(source: Source, node: Node, definition: Definition) -> None:
    definition.public = definition.name[:1].isupper()
    kind = node.type
    if kind == "package_clause":
        definition.nests = False
        definition.public = True
    elif kind in ("type_spec", "type_alias"):
        _describe_type(source, node, definition)
    elif kind in ("const_spec", "var_spec", "field_declaration"):
        _describe_value(source, node, definition)
    else:
        definition.parameters = _parameters(node)
        result = node.child_by_field_name("result")
        definition.returns = trees.one_line(trees.text(result)) if result is not None else ""
        # A function without a body is implemented in assembly.
        definition.declaration = kind != "method_elem" and node.child_by_field_name("body") is None
        receiver = node.child_by_field_name("receiver")
        if receiver is not None:
            words = trees.text(receiver).strip("()").replace("*", " ").split("[")[0].replace("(", " ").split()
            definition.within = (words[-1],) if words else ()
            definition.opens = (receiver.start_byte, node.end_byte)


GRAMMAR = trees.Grammar("tree_sitter_go", DEFINITIONS, NAMES, describe=_describe)


def _note_imports(draft: Draft, specs: list[Node]) -> None:
    for node in specs:
        path = node.child_by_field_name("path")
        name = node.child_by_field_name("name")
        if path is not None:
            alias = trees.text(name) if name is not None else ""
            star = alias == "."
            draft.add_import(
                node.start_byte, trees.text(path).strip('"`'), name="*" if star else "", alias="" if star else alias
            )


def _note_directives(draft: Draft) -> None:
    """Move compiler directives (`//go:…`, `//export`) from a definition's documentation to its modifiers."""
    data = draft.source.data
    lines = {draft.source.line(start) for start, _ in draft.comments if data.startswith(_DIRECTIVE_SIGNS, start)}
    if not lines:
        return
    comments = Comments(draft.source, draft.comments)
    for definition in draft.definitions:
        line = draft.source.line(definition.start)
        if line - 1 in lines:
            comment = comments.above(line, tool_lines=True)
            definition.modifiers = tuple(match[0].strip() for match in _DIRECTIVE.finditer(comment))
            definition.doc = _DIRECTIVE.sub("", comment).strip()


def _note_examples(draft: Draft) -> None:
    """Mark the examples that have no comment with the output to compare: `go test` only compiles these."""
    for definition in draft.definitions:
        is_example = definition.kind == Kind.FUNCTION and _TEST.match(definition.name) and definition.name[0] == "E"
        if is_example and not _OUTPUT.search(draft.source.slice(definition.start, definition.end)):
            definition.modifiers = (*definition.modifiers, _NOT_RUN)


def _note_constraint(draft: Draft) -> None:
    package = next((d.start for d in draft.definitions if d.kind == Kind.NAMESPACE), 0)
    match = _CONSTRAINT.search(draft.source.data, 0, package)
    if match:
        condition = f"{match[1].decode()} {match[2].decode('utf-8', 'replace')}"
        for definition in draft.definitions:
            if definition.kind != Kind.NAMESPACE:
                definition.condition = condition
        draft.imports = [(at, row._replace(condition=condition)) for at, row in draft.imports]


def read(source: Source) -> Draft:
    """Parse one Go file into a `Draft`."""
    draft, _, captures = trees.read(source, GRAMMAR)
    data = source.data
    draft.forget([at for at, end in draft.ends.items() if end - at == 1 and data[at] == 95])  # the blank identifier
    draft.definitions = [d for d in draft.definitions if d.name != "_"]
    draft.scopes.extend((node.start_byte, node.end_byte, "lambda") for node in captures.get("lambda", ()))
    ends = {d.at + len(d.name.encode()): d.end for d in draft.definitions} if "generic" in captures else {}
    for node in captures.get("generic", ()):
        draft.scopes.append((node.start_byte, ends.get(node.start_byte, node.end_byte), "block"))
    _note_imports(draft, captures.get("import.spec", []))
    _note_directives(draft)
    _note_examples(draft)
    _note_constraint(draft)
    package = next((d for d in draft.definitions if d.kind == Kind.NAMESPACE), None)
    if package is not None:
        draft.doc = Comments(source, draft.comments).above(source.line(package.start))
    draft.build_flow = partial(typed_flow.build_typed_flow, syntax=ValueSyntax(captures))
    return draft
