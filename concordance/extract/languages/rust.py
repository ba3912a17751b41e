"""Rust: items, members of `impl` blocks, use trees, attributes and conditions.

In: the text of a Rust file. Out: a `Draft`. A method belongs to the type it is implemented for, wherever the `impl`
block is.

Attributes and documentation comments are siblings of the item they belong to, not its children, so `Attributes`
chains them by where each of them ends.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable
from functools import partial

from tree_sitter import Node

from concordance.base.kinds import FUNCTION_KINDS, INLINE_MODULE
from concordance.base.model import (
    DocMarkup,
    FileFacts,
    Kind,
    Language,
    Parameter,
    Role,
    RunnerFiles,
    TestConventions,
    VariableAccess,
)
from concordance.extract.documents.comments import strip_markers
from concordance.extract.reading import trees, typed_flow
from concordance.extract.reading.draft import ROLE_CODES, Definition, Draft, innermost
from concordance.extract.reading.value_syntax import type_name
from concordance.extract.rust import macros
from concordance.extract.rust.values import RustValueSyntax
from concordance.extract.text.source_text import Source

_LONG = 100  # a longer value, or one of several lines, is left out of the signature
_WORD = re.compile(rb"\b[a-z_]\w*")
_SPACE = re.compile(rb"\s*")
_DOC_ATTRIBUTE = re.compile(r'doc\s*=\s*r?#*"(.*)"#*', re.S)


def describe(source: Source, node: Node, definition: Definition) -> None:
    """Complete a definition with the details of its syntax node."""
    kind = node.type
    modifiers: list[str] = []
    definition.public = kind == "enum_variant"
    for child in node.children:
        if child.type == "visibility_modifier":
            words = trees.one_line(trees.text(child))
            definition.public = words == "pub"
            if words != "pub":
                modifiers.append(words)
        elif child.type == "function_modifiers":
            modifiers.extend(trees.one_line(trees.text(m)) for m in child.children)
        elif child.type in ("unsafe", "mutable_specifier"):
            modifiers.append(trees.text(child))
        elif child.type in ("identifier", "type_identifier", "field_identifier"):
            break
    definition.modifiers = tuple(modifiers)
    if kind in ("function_item", "function_signature_item"):
        result = node.child_by_field_name("return_type")
        definition.returns = trees.one_line(trees.text(result)) if result is not None else ""
        definition.parameters = _parameters(node)
    elif kind in ("const_item", "static_item"):
        value = node.child_by_field_name("value")
        if value is not None and (len(words := trees.text(value)) > _LONG or "\n" in words):
            definition.signature = trees.signature(source, node, ("value",))
    elif kind == "macro_definition":
        definition.signature = f"macro_rules! {definition.name}"
        definition.nests = False
    elif kind == "mod_item":
        definition.declaration = node.child_by_field_name("body") is None
    else:
        _describe_type(source, node, definition)
    if kind in ("const_item", "static_item", "field_declaration", "type_item"):
        typed = node.child_by_field_name("type")
        definition.returns = trees.one_line(trees.text(typed)) if typed is not None else ""


def _describe_type(source: Source, node: Node, definition: Definition) -> None:
    body = node.child_by_field_name("body")
    if body is not None and body.type == "ordered_field_declaration_list":
        definition.signature = trees.signature(source, node, ())
    elif body is not None:
        definition.opens = (body.start_byte, node.end_byte)
    bounds = node.child_by_field_name("bounds")
    if bounds is not None and node.type == "trait_item":
        definition.bases = tuple(
            trees.one_line(trees.text(b)) for b in bounds.named_children if b.type not in ("lifetime", "line_comment")
        )


def _parameters(node: Node) -> tuple[Parameter, ...]:
    listed = node.child_by_field_name("parameters")
    parameters = []
    for child in listed.named_children if listed is not None else ():
        if child.type == "self_parameter":
            words = trees.one_line(trees.text(child))
            parameters.append(Parameter("self", "", words if words != "self" else ""))
        elif child.type == "parameter":
            name, kind = child.child_by_field_name("pattern"), child.child_by_field_name("type")
            annotation = trees.one_line(trees.text(kind)) if kind is not None else ""
            parameters.append(Parameter(trees.one_line(trees.text(name)) if name is not None else "", "", annotation))
        elif child.type == "variadic_parameter":
            parameters.append(Parameter("...", ""))
    return tuple(parameters)


class Attributes:
    """The attributes and documentation comments of a file, looked up by the item that follows them."""

    def __init__(self, draft: Draft, captures: dict[str, list[Node]]) -> None:
        self.draft = draft
        self.source = draft.source
        self._outer = {node.start_byte for node in captures.get("outer", ())}
        self._before: dict[int, tuple[int, int, bool]] = {}  # by the next item's start: start, end, is attribute
        for start, end in draft.comments:
            self._chain(start, end, False)
        for node in captures.get("attribute", ()):
            self._chain(node.start_byte, node.end_byte, True)

    def _chain(self, start: int, end: int, attribute: bool) -> None:
        match = _SPACE.match(self.source.data, end)
        self._before[match.end() if match else end] = (start, end, attribute)

    def above(self, start: int) -> tuple[int, list[str], list[str]]:
        """Return the item's start including its attributes, the attributes, and the documentation between them."""
        attributes: list[str] = []
        documents: list[str] = []
        first = at = start
        while at in self._before:
            at, end, attribute = self._before[at]
            if attribute:
                first = at
                words = trees.one_line(self.source.slice(at, end))[2:-1].strip()
                doc = _DOC_ATTRIBUTE.fullmatch(words)
                if doc:
                    documents.append(doc[1])
                else:
                    attributes.append(words)
            elif at in self._outer:
                documents.append(self.source.slice(at, end).rstrip("\r\n"))
        return first, attributes[::-1], documents[::-1]

    def condition(self, start: int) -> str:
        """Return the condition given by an item's `cfg` attributes."""
        return " and ".join(words for words in self.above(start)[1] if words.startswith("cfg("))

    def note_definitions(self, definitions: list[Definition]) -> None:
        """Add attributes, conditions and documentation to each definition."""
        for d in definitions:
            if d.start not in self._before:
                continue
            d.start, attributes, documents = self.above(d.start)
            d.condition = " and ".join(words for words in attributes if words.startswith("cfg("))
            d.modifiers = (*(words for words in attributes if not words.startswith("cfg(")), *d.modifiers)
            d.public = d.public or (d.kind == Kind.MACRO and any(w.startswith("macro_export") for w in attributes))
            d.doc = _document(documents) or d.doc

    def note_file(self, captures: dict[str, list[Node]]) -> None:
        """Add inner documentation (`//!`, `#![doc = …]`) to the definition or file that contains it."""
        data = self.draft.source.data
        docs: dict[int, list[str]] = {}
        nodes = sorted(
            [*captures.get("inner", ()), *captures.get("attribute.inner", ())], key=lambda node: node.start_byte
        )
        definitions = sorted(self.draft.definitions, key=lambda d: (d.start, -d.end))
        spans = [(0, len(data) + 1, -1), *((d.start, d.end, place) for place, d in enumerate(definitions))]
        places = innermost([node.start_byte for node in nodes], spans)
        for node, around in zip(nodes, places, strict=True):
            words = trees.text(node).rstrip("\r\n")
            if node.type == "inner_attribute_item":
                match = _DOC_ATTRIBUTE.fullmatch(trees.one_line(words)[3:-1].strip())
                if not match:
                    continue
                words = match[1]
            docs.setdefault(around, []).append(words)
        for place, words_of_place in docs.items():
            if place >= 0:
                definitions[place].doc = _document(words_of_place)
            else:
                self.draft.doc = _document(words_of_place)


def _document(parts: list[str]) -> str:
    """Return the documentation's text; consecutive line comments are cleaned as one text."""
    block = [part for part in parts if part.startswith("/*")]
    return "\n".join(strip_markers(part) for part in parts) if block else strip_markers("\n".join(parts))


def note_members(draft: Draft, captures: dict[str, list[Node]], attributes: Attributes) -> list[tuple[int, int, str]]:
    """Assign `impl` members to their type, and mark foreign items as declarations.

    Return the extents of `impl` blocks that have a condition, with the condition.
    """
    places = {d.at: d for d in draft.definitions}
    types = {d.name: d for d in draft.definitions if d.kind in (Kind.STRUCT, Kind.ENUM, Kind.UNION, Kind.TYPE)}
    around: list[tuple[int, int, str]] = []
    for node in captures.get("impl", ()):
        owner, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
        name = trees.one_line(trees.text(type_name(owner))) if owner is not None else ""
        base = trees.one_line(trees.text(trait)) if trait is not None else ""
        condition = attributes.condition(node.start_byte)
        if condition:
            around.append((node.start_byte, node.end_byte, condition))
        if base and name in types and base not in types[name].bases:
            types[name].bases += (base,)
        for d in _items(node, places):
            d.within = (name,)
            d.kind = Kind.METHOD if d.kind == Kind.FUNCTION else d.kind
            if base:
                d.modifiers += (f"impl {base}",)
                d.public = True
    for node in captures.get("foreign", ()):
        for d in _items(node, places):
            d.declaration = True
    for node in captures.get("tuple", ()):
        _note_tuple(draft, node)
    return around


def _items(node: Node, places: dict[int, Definition]) -> list[Definition]:
    body = node.child_by_field_name("body")
    names = (child.child_by_field_name("name") for child in (body.named_children if body is not None else ()))
    return [places[name.start_byte] for name in names if name is not None and name.start_byte in places]


def _note_tuple(draft: Draft, node: Node) -> None:
    """Define the fields of a tuple struct, named by their index."""
    public, place = False, 0
    for child in node.named_children:
        if child.type == "visibility_modifier":
            public = trees.text(child) == "pub"
        elif child.type not in ("attribute_item", "line_comment", "block_comment"):
            words = trees.one_line(trees.text(child))
            draft.define(
                Kind.FIELD, str(place), child.start_byte, child.start_byte, child.end_byte,
                signature=words, returns=words, public=public, occurs=False,
            )  # fmt: skip
            public, place = False, place + 1


def note_nesting(draft: Draft, around: list[tuple[int, int, str]]) -> None:
    """Propagate to nested definitions what they inherit: conditions, and the visibility of a trait or enum."""
    whole = " and ".join(m[1].decode("utf-8", "replace") for m in _FILE_CONDITION.finditer(draft.source.data))
    rows: list[tuple[int, int, str, Definition | None]] = [(d.start, d.end, d.condition, d) for d in draft.definitions]
    rows.extend((start, end, condition, None) for start, end, condition in around)
    rows.sort(key=lambda row: (row[0], -row[1]))
    stack: list[tuple[int, str, Definition | None]] = []
    for start, end, condition, d in rows:
        while stack and stack[-1][0] <= start:
            stack.pop()
        outer, parent = (stack[-1][1], stack[-1][2]) if stack else (whole, None)
        full = " and ".join(part for part in (outer, condition) if part)
        if d is not None:
            d.condition = full
            if parent is not None and not d.within and parent.kind in (Kind.INTERFACE, Kind.ENUM, Kind.ENUMERATOR):
                d.public = parent.public
                d.kind = Kind.METHOD if d.kind == Kind.FUNCTION and parent.kind == Kind.INTERFACE else d.kind
        stack.append((end, full, d))


_FILE_CONDITION = re.compile(rb"^#!\[(cfg\(.*\))\]", re.M)


def note_uses(draft: Draft, captures: dict[str, list[Node]], attributes: Attributes) -> None:
    """Record imports: each leaf of a use tree, `extern crate`, and `mod name;`, which includes a file."""
    written = (d for d in draft.definitions if d.kind == Kind.NAMESPACE and not d.declaration)
    modules = sorted((d.start, d.end, d.name) for d in written)
    for node in captures.get("use", ()):
        tree = node.child_by_field_name("argument")
        if tree is not None:
            exported = any(c.type == "visibility_modifier" for c in node.children)
            around = [name for start, end, name in modules if start <= node.start_byte < end]
            form = INLINE_MODULE + "::".join(around) if around else "export" if exported else ""
            _note_tree(draft, tree, form, attributes.condition(node.start_byte))
    for node in captures.get("crate", ()):
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is not None:
            other = trees.text(alias) if alias is not None else ""
            condition = attributes.condition(node.start_byte)
            form = "export" if any(c.type == "visibility_modifier" for c in node.children) else "crate"
            draft.add_import(name.start_byte, trees.text(name), alias=other, form=form, condition=condition)
    outer: list[Definition] = []
    for d in sorted((d for d in draft.definitions if d.kind == Kind.NAMESPACE), key=lambda d: (d.start, -d.end)):
        while outer and outer[-1].end <= d.start:
            outer.pop()
        if d.declaration:  # its file is in a folder for each enclosing module
            draft.add_import(d.at, "::".join([*(o.name for o in outer), d.name]), form="mod", condition=d.condition)
        else:
            outer.append(d)


def _note_tree(draft: Draft, tree: Node, form: str, condition: str) -> None:
    pending: list[tuple[Node, str]] = [(tree, "")]
    while pending:
        node, before = pending.pop()
        path = node.child_by_field_name("path")
        alias = node.child_by_field_name("alias")
        if node.type in ("use_list", "scoped_use_list"):
            listed = node.child_by_field_name("list") if node.type == "scoped_use_list" else node
            prefix = _join_path(before, trees.text(path)) if path is not None else before
            pending.extend((child, prefix) for child in (listed.named_children if listed is not None else ()))
        elif node.type == "use_wildcard":
            inside = trees.text(node.named_children[0]) if node.named_child_count else ""
            draft.add_import(node.start_byte, _join_path(before, inside), name="*", form=form, condition=condition)
        elif node.type in ("use_as_clause", "identifier", "scoped_identifier", "self", "crate", "super"):
            leaf = path if node.type == "use_as_clause" and path is not None else node
            full = _join_path(before, trees.text(leaf))
            module, _, name = full.rpartition("::")
            if not module:
                module, name = name, ""
            elif name == "self":
                name = ""
            other = trees.text(alias) if alias is not None else ""
            draft.add_import(leaf.start_byte, module, name=name, alias=other, form=form, condition=condition)


def _join_path(before: str, after: str) -> str:
    after = "".join(after.split())
    return f"{before}::{after}" if before and after else before or after


_WHOLE_FILE = re.compile(rb"^#!\[cfg\((.*)\)\]", re.M)
_FEATURE = re.compile(rb"\bfeature\s*=\s*\"([\w-]+)\"")
_NOT = re.compile(rb"\bnot\((?:[^()]|\([^()]*\))*\)")
_EXPANDED = re.compile(rb"#\[(?:\w+::)*(?:rstest|test_case|case|quickcheck)\b|proptest!")
_TEST = re.compile(r"(?:^|::)(?:test|rstest|test_case|quickcheck|proptest)\b")


def _tests(facts: FileFacts, path: str) -> list[int]:
    symbols = enumerate(facts.symbols)
    return [n for n, s in symbols if s.kind in FUNCTION_KINDS and any(map(_TEST.search, s.modifiers))]


def _features(text: bytes) -> str:
    """Return the option for the features without which a whole file is left out: `#![cfg(feature = "x")]`."""
    whole = b" ".join(_WHOLE_FILE.findall(text))
    names = [name.decode() for name in _FEATURE.findall(_NOT.sub(b"", whole))] if b"any(" not in whole else []
    return f" --features {','.join(names)}" if names else ""


def _only_test_target(manifest: bytes) -> str:
    """Return the name and the path of the one test target of a crate that does not look for others; "" if none is."""
    try:
        settings = tomllib.loads(manifest.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return ""
    package, targets = settings.get("package"), settings.get("test")
    if not isinstance(package, dict) or package.get("autotests") is not False or not isinstance(targets, list):
        return ""
    named = [f"{target.get('name')} {target.get('path')}" for target in targets if isinstance(target, dict)]
    return named[0] if len(named) == 1 else ""


def _all_tests(files: RunnerFiles) -> str:
    if not files.text("Cargo.toml"):
        return ""
    return "cargo test --workspace" if b"[workspace]" in files.text("Cargo.toml") else "cargo test"


def _test_command(files: RunnerFiles, path: str) -> Callable[[str], str] | None:
    """Return the command for tests of a file, which `cargo test` selects by the module that the file is."""
    manifest = next(files.nearest(path, "Cargo.toml"), None)
    if manifest is None:
        return None
    named = re.search(rb'^\s*name\s*=\s*"([^"]+)"', files.text(manifest), re.M)
    package = f" -p {named.group(1).decode()}" if "/" in manifest and named else ""
    kind, *parts = path[len(manifest) - len("Cargo.toml") :].removesuffix(".rs").split("/")
    if kind in ("tests", "benches") and parts:
        target = _only_test_target(files.text(manifest)) if kind == "tests" else ""
        package += f" --{kind.removesuffix('s').removesuffix('e')} {target.partition(' ')[0] or parts[0]}"
        parts = parts[1:] if not target or target.endswith(f" tests/{parts[0]}.rs") else parts
    modules = [part for part in parts if part not in ("mod", "lib", "main")]
    is_expanded = _EXPANDED.search(files.text(path)) is not None  # macros add to the names of their tests
    if kind == "tests" and modules:  # a module that the target declares inside of another has a longer name
        root = files.text(path[: path.rindex("tests/")] + f"tests/{package.rpartition(' ')[2]}.rs")
        is_declared = re.search(rf"^(?:pub )?mod {modules[0]};".encode(), root, re.M) is not None
        is_expanded = is_expanded or (bool(root) and not is_declared)
    exact = "" if is_expanded else " -- --exact"
    package += _features(files.text(path))

    def command(name: str) -> str:
        if name:
            return f"cargo test{package} {'::'.join([*modules, *name.split('.')])}{exact}"
        inside = f" {'::'.join(modules)}::" if modules else ""
        return f"cargo test{package}{inside}" if inside or kind != "src" else ""

    return command


_ENVIRONMENT = (
    VariableAccess("reads", rb"\benv\s*::\s*var(?:_os)?\s*\(\s*LITERAL\s*\)"),
    VariableAccess("reads", rb"\b(?:option_)?env!\s*\(\s*VALUE"),
    VariableAccess("sets", rb"\benv\s*::\s*set_var\s*\(\s*LITERAL\s*,"),
    VariableAccess("removes", rb"\benv\s*::\s*remove_var\s*\(\s*LITERAL\s*\)"),
)

LANGUAGE = Language(
    "rust",
    "Rust",
    unseen="names made by macros",
    extensions=(".rs",),
    separator="::",
    aliases=("rs",),
    tests=TestConventions(
        find=_tests, beside_code=True, command=_test_command, command_for_all=_all_tests, settings=("Cargo.toml",)
    ),
    imports_by_name=True,
    reexports=True,
    base_verb="implements",
    heir_verb="implemented",
    heir_noun=("type that implements it", "types that implement it"),
    doc_markup=DocMarkup.MARKDOWN | DocMarkup.RUSTDOC | DocMarkup.BRACKET_LINKS,
    doc_code="rust",
    environment=_ENVIRONMENT,
    environment_marks=(b"env",),
)

DEFINITIONS = """
(mod_item name: (identifier) @name) @definition.namespace
(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(struct_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(enum_variant name: (identifier) @name) @definition.enumerator
(union_item name: (type_identifier) @name) @definition.union
(field_declaration name: (field_identifier) @name) @definition.field
(trait_item name: (type_identifier) @name) @definition.interface
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.variable
(type_item name: (type_identifier) @name) @definition.type
(associated_type name: (type_identifier) @name) @definition.type
(macro_definition name: (identifier) @name) @definition.macro
"""

NAMES = """
[(if_expression) (for_expression) (while_expression)] @branch
(match_arm pattern: (match_pattern (_))) @branch
(binary_expression operator: ["&&" "||"] @branch)
[(line_comment) (block_comment)] @comment
(line_comment (inner_doc_comment_marker)) @inner
(block_comment (inner_doc_comment_marker)) @inner
(line_comment (outer_doc_comment_marker)) @outer
(block_comment (outer_doc_comment_marker)) @outer
(identifier) @read
(type_identifier) @type
(field_identifier) @read
(shorthand_field_identifier) @pattern
(lifetime (identifier) @nothing)
(label (identifier) @nothing)
(attribute (identifier) @nothing)
(token_tree (identifier) @token)
(token_tree_pattern (identifier) @token)
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
(call_expression function: (scoped_identifier name: (identifier) @call))
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function: (scoped_identifier name: (identifier) @call)))
(call_expression function: (generic_function function: (field_expression field: (field_identifier) @call)))
(macro_invocation macro: (identifier) @call)
(macro_invocation macro: (scoped_identifier name: (identifier) @call))
(field_expression field: (field_identifier) @member)
(scoped_identifier path: (_) name: (identifier) @member)
(scoped_type_identifier path: (_) name: (type_identifier) @member)
(field_initializer field: (field_identifier) @member @write)
(field_pattern name: (field_identifier) @member)
(let_declaration pattern: (identifier) @pattern)
(let_condition pattern: (identifier) @pattern)
(for_expression pattern: (identifier) @pattern)
(parameter pattern: (identifier) @pattern)
(closure_parameters (identifier) @pattern)
(tuple_pattern (identifier) @pattern)
(tuple_struct_pattern type: (_) (identifier) @pattern)
(slice_pattern (identifier) @pattern)
(field_pattern pattern: (identifier) @pattern)
(captured_pattern . (identifier) @pattern)
(ref_pattern (identifier) @pattern)
(mut_pattern (identifier) @pattern)
(reference_pattern (identifier) @pattern)
(or_pattern (identifier) @pattern)
(match_pattern . (identifier) @pattern)
(type_parameter name: (type_identifier) @local)
(const_parameter name: (identifier) @write @local)
(use_declaration argument: [(identifier) @import @local (scoped_identifier name: (identifier) @import @local)])
(use_list [(identifier) @import @local (scoped_identifier name: (identifier) @import @local)])
(use_as_clause path: [(identifier) @import (scoped_identifier name: (identifier) @import)]
  alias: (identifier) @import @local)
(scoped_use_list path: [(identifier) @import @local (scoped_identifier name: (identifier) @import @local)]
  list: (use_list (self)))
(extern_crate_declaration !alias name: (identifier) @import @local)
(extern_crate_declaration name: (identifier) @import alias: (identifier) @import @local)
(impl_item trait: [(type_identifier) @inherit (scoped_type_identifier name: (type_identifier) @inherit)
  (generic_type type: [(type_identifier) @inherit (scoped_type_identifier name: (type_identifier) @inherit)])])
(trait_item bounds: (trait_bounds [(type_identifier) @inherit
  (scoped_type_identifier name: (type_identifier) @inherit) (generic_type type: (type_identifier) @inherit)]))
(assignment_expression left: [(identifier) @write (field_expression field: (field_identifier) @write)])
(compound_assignment_expr left: [(identifier) @write (field_expression field: (field_identifier) @write)])
[(match_arm) (if_expression) (while_expression) (for_expression)] @scope
(block) @block
(function_item body: (block) @body)
(closure_expression) @lambda
(impl_item) @impl
(struct_item body: (ordered_field_declaration_list) @tuple)
(foreign_mod_item) @foreign
(struct_item type_parameters: (_) @generic)
(enum_item type_parameters: (_) @generic)
(union_item type_parameters: (_) @generic)
(trait_item type_parameters: (_) @generic)
(type_item type_parameters: (_) @generic)
(associated_type type_parameters: (_) @generic)
(attribute_item) @attribute
(inner_attribute_item) @attribute.inner
(macro_definition) @macro
(source_file (expression_statement [(call_expression) (macro_invocation)] @made))
(source_file (macro_invocation) @made)
(declaration_list [(macro_invocation) @made (expression_statement (macro_invocation) @made)])
(use_declaration) @use
(extern_crate_declaration) @crate
(call_expression) @value.call
(field_expression) @value.field
[(let_declaration value: (_)) (let_condition)] @value.let
(match_expression) @value.match
(for_expression) @value.for
(call_expression arguments: (arguments (closure_expression))) @value.closure
(type_parameter bounds: (_)) @value.bound
(where_predicate left: (type_identifier)) @value.bound
[(struct_item) (enum_item)] @value.generic
(struct_item body: (ordered_field_declaration_list)) @value.tuple
(enum_variant body: (ordered_field_declaration_list)) @value.tuple
(type_item) @value.tuple
(field_declaration) @value.typed
(parameter pattern: (identifier)) @value.typed
(let_declaration pattern: (identifier) type: (_)) @value.typed
[(const_item) (static_item)] @value.typed
(function_item return_type: (_)) @value.result
(function_signature_item return_type: (_)) @value.result
"""

GRAMMAR = trees.Grammar("tree_sitter_rust", DEFINITIONS, NAMES, describe=describe)


def read(source: Source) -> Draft:
    """Parse one Rust file into a `Draft`."""
    draft, _, captures = trees.read(source, GRAMMAR, macros.parse_macro_arguments(source, GRAMMAR))
    draft.definitions = [d for d in draft.definitions if d.name != "_"]  # `const _: () = …` defines no name
    macros.note_made_tests(draft, captures)
    _note_names(draft, captures)
    _note_scopes(draft, captures)
    attributes = Attributes(draft, captures)
    attributes.note_file(captures)
    attributes.note_definitions(draft.definitions)
    around = note_members(draft, captures, attributes)
    note_nesting(draft, around)
    note_uses(draft, captures, attributes)
    draft.build_flow = partial(typed_flow.build_typed_flow, syntax=RustValueSyntax(captures))
    return draft


def _note_names(draft: Draft, captures: dict[str, list[Node]]) -> None:
    data = draft.source.data
    write, read_ = ROLE_CODES[Role.WRITE], ROLE_CODES[Role.READ]
    for node in captures.get("pattern", ()):
        start, end = node.start_byte, node.end_byte
        draft.ends[start] = end
        # By Rust's naming conventions, a capitalised name in a pattern is a constant or a variant, not a new binding.
        if data[start : start + 1].isupper():
            draft.roles[start] = read_
        else:
            draft.roles[start] = write
            draft.bound.add(start)
    draft.forget(node.start_byte for node in captures.get("nothing", ()))
    macros.note_tokens(draft, captures)
    draft.forget([at for at, end in draft.ends.items() if end - at == 4 and data[at:end] == b"Self"])


def _note_shadowing(draft: Draft, captures: dict[str, list[Node]]) -> None:
    """Open a scope where a name is bound again: from its pattern to the end of the block, but for its value.

    Without this, `let x = f(x)?;` would be one variable with two values.
    """
    patterns = sorted((node.start_byte, node.end_byte) for node in captures.get("pattern", ()))
    data = draft.source.data
    bound: dict[int, set[bytes]] = {}  # the names that are bound so far, by the block's start
    for node in captures.get("value.let", ()):
        pattern, value, block = node.child_by_field_name("pattern"), node.child_by_field_name("value"), node.parent
        if pattern is None or value is None or block is None:
            continue
        first = bisect_right(patterns, (pattern.start_byte,))
        last = bisect_right(patterns, (pattern.end_byte,))
        names = {data[start:end] for start, end in patterns[first:last]}
        used = set(_WORD.findall(data, value.start_byte, value.end_byte))
        if node.type == "let_condition":  # its scope is open already
            if names & used:
                draft.holes.append((value.start_byte, value.end_byte))
            continue
        before = bound.setdefault(block.start_byte, set())
        if names & before or names & used:
            draft.scopes.append((pattern.start_byte, block.end_byte, "block"))
            draft.holes.append((value.start_byte, value.end_byte))
        before |= names


def _note_scopes(draft: Draft, captures: dict[str, list[Node]]) -> None:
    bodies = {node.start_byte for node in captures.get("body", ())}
    draft.scopes.extend(
        (node.start_byte, node.end_byte, "block") for node in captures.get("block", ()) if node.start_byte not in bodies
    )
    draft.scopes.extend((node.start_byte, node.end_byte, "block") for node in captures.get("impl", ()))
    _note_shadowing(draft, captures)
    draft.scopes.extend((node.start_byte, node.end_byte, "lambda") for node in captures.get("lambda", ()))
    ends: dict[int, Definition] = {d.at + len(d.name.encode()): d for d in draft.definitions}
    for node in captures.get("generic", ()):
        owner = ends.get(node.start_byte)
        if owner is not None:
            draft.scopes.append((node.start_byte, owner.end, "block"))
