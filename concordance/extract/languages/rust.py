"""Rust: items, the members that `impl` blocks give a type, use trees, attributes and conditions.

In: the text of a Rust file. Out: a `Draft`. A method belongs to the type it is implemented for,
wherever the `impl` block stands; inside a macro there are only tokens, so what stands there is a
call where a bracket follows it, a mention where the macro itself is written, and else a read.
"""

from __future__ import annotations

from bisect import bisect_right

from tree_sitter import Node

from concordance.base.model import Language, Role
from concordance.extract import trees, typed_flow
from concordance.extract.draft import CODE, Definition, Draft
from concordance.extract.rust_items import Attributes, describe, note_members, note_nesting, note_uses
from concordance.extract.text.source_text import Source

LANGUAGE = Language("rust", "Rust", extensions=(".rs",), separator="::")

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
(use_declaration) @use
(extern_crate_declaration) @crate
"""

GRAMMAR = trees.Grammar("tree_sitter_rust", DEFINITIONS, NAMES, describe=describe)


def read(source: Source) -> Draft:
    """One Rust file."""
    draft, _, found = trees.read(source, GRAMMAR)
    draft.definitions = [d for d in draft.definitions if d.name != "_"]  # `const _: () = …` names nothing
    _note_names(draft, found)
    _note_scopes(draft, found)
    attributes = Attributes(draft, found)
    attributes.note_file(found)
    attributes.note_definitions(draft.definitions)
    around = note_members(draft, found, attributes)
    note_nesting(draft, around)
    note_uses(draft, found, attributes)
    draft.weave = typed_flow.weave
    return draft


def _note_names(draft: Draft, found: dict[str, list[Node]]) -> None:
    data = draft.source.data
    write, read_ = CODE[Role.WRITE], CODE[Role.READ]
    for node in found.get("pattern", ()):
        start, end = node.start_byte, node.end_byte
        draft.ends[start] = end
        # By the compiler's own naming rules, a capital in a pattern is a constant or a variant, not a new name.
        if data[start : start + 1].isupper():
            draft.roles[start] = read_
        else:
            draft.roles[start] = write
            draft.bound.add(start)
    draft.forget(node.start_byte for node in found.get("nothing", ()))
    _note_tokens(draft, found)
    draft.forget([at for at, end in draft.ends.items() if end - at == 4 and data[at:end] == b"Self"])


def _note_tokens(draft: Draft, found: dict[str, list[Node]]) -> None:
    """Names inside of macros and attributes, where no syntax tells them apart."""
    data = draft.source.data
    attributes = sorted(
        (node.start_byte, node.end_byte) for what in ("attribute", "attribute.inner") for node in found.get(what, ())
    )
    macros = sorted((node.start_byte, node.end_byte) for node in found.get("macro", ()))
    call, mention = CODE[Role.CALL], CODE[Role.MENTION]
    nothing = []
    for node in found.get("token", ()):
        start, end = node.start_byte, node.end_byte
        attribute = _around(attributes, start)
        if attribute is not None:
            draft.roles[start] = mention
            if not data.startswith(b"#[derive", attribute[0]):
                nothing.append(start)
        elif _around(macros, start) is not None:
            draft.roles[start] = mention
        elif data[end : end + 1] == b"(" or data[end : end + 2] in (b"!(", b"![", b"!{"):
            draft.roles[start] = call
        if data[start - 1 : start] in (b".", b":"):
            draft.members.add(start)
    draft.forget(nothing)


def _around(spans: list[tuple[int, int]], at: int) -> tuple[int, int] | None:
    place = bisect_right(spans, (at, at)) - 1
    return spans[place] if place >= 0 and at < spans[place][1] else None


def _note_scopes(draft: Draft, found: dict[str, list[Node]]) -> None:
    bodies = {node.start_byte for node in found.get("body", ())}
    draft.scopes.extend(
        (node.start_byte, node.end_byte, "block") for node in found.get("block", ()) if node.start_byte not in bodies
    )
    draft.scopes.extend((node.start_byte, node.end_byte, "block") for node in found.get("impl", ()))
    draft.scopes.extend((node.start_byte, node.end_byte, "lambda") for node in found.get("lambda", ()))
    ends: dict[int, Definition] = {d.at + len(d.name.encode()): d for d in draft.definitions}
    for node in found.get("generic", ()):
        owner = ends.get(node.start_byte)
        if owner is not None:
            draft.scopes.append((node.start_byte, owner.end, "block"))
