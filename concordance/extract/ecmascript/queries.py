"""Tree-sitter queries for JavaScript and TypeScript.

Out: the queries that both languages share, and those that only one of them needs. The two grammars use mostly the same
node names; where they differ, each language has its own query.
"""

from __future__ import annotations

_FUNCTION = "[(arrow_function) (function_expression) (generator_function)]"
_MEMBERS = f"""(method_definition name: (_) @name) @definition.method
  (pair key: (_) @name value: {_FUNCTION}) @definition.method"""
_OBJECT = f"(object [{_MEMBERS} (pair value: (object [{_MEMBERS}]))])"
_HOLDER = f"""(object (pair key: (_) @name
  value: (object [(method_definition) (pair value: {_FUNCTION})])) @definition.field)"""


def _in_each(body: str) -> str:
    """Return a pattern for each place in which an object literal acts like a class."""
    return f"""
(program (lexical_declaration (variable_declarator name: (identifier) value: {body})))
(program (variable_declaration (variable_declarator name: (identifier) value: {body})))
(export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) value: {body})))
(export_statement value: {body})
(program (expression_statement (assignment_expression left: (member_expression) right: {body})))
"""


def _values(around: str) -> str:
    """Return patterns for the variables of a module or namespace."""
    return "\n".join(
        around.replace("…", pattern)
        for pattern in (
            '(lexical_declaration "const" (variable_declarator name: (identifier) @name) @definition.constant)',
            '(lexical_declaration "let" (variable_declarator name: (identifier) @name) @definition.variable)',
            "(variable_declaration (variable_declarator name: (identifier) @name) @definition.variable)",
        )
    )


DEFINITIONS = f"""
(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(class_declaration name: (_) @name) @definition.class
(class_body (method_definition name: (_) @name) @definition.method)
(variable_declarator name: (identifier) @name value: {_FUNCTION}) @definition.function
(variable_declarator name: (identifier) @name value: (parenthesized_expression {_FUNCTION})) @definition.function
(variable_declarator name: (identifier) @name value: (class)) @definition.class
{_values("(program …)")}
{_values("(export_statement declaration: …)")}
(export_statement value: [(function_expression) (generator_function) (arrow_function)] @definition.function)
(export_statement value: (class) @definition.class)
(export_statement value: (object) @definition.constant)
(assignment_expression left: (member_expression property: (_) @name)
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @definition.method
(program (expression_statement (assignment_expression
  left: (member_expression property: (_) @name)) @definition.method))
(program (expression_statement (assignment_expression right: (assignment_expression
  left: (member_expression property: (_) @name)) @definition.method)))
{_in_each(_OBJECT)}
{_in_each(_HOLDER)}
"""

JAVASCRIPT_DEFINITIONS = """
(class_body (field_definition property: (_) @name) @definition.field)
"""

NAMES = """
[(if_statement) (for_statement) (for_in_statement) (while_statement) (do_statement) (switch_case) (catch_clause)
  (ternary_expression)] @branch
(binary_expression operator: ["&&" "||" "??"] @branch)
(comment) @comment
(identifier) @read
(shorthand_property_identifier) @read
[(property_identifier) (private_property_identifier)] @read
(member_expression property: [(property_identifier) (private_property_identifier)] @member)
(call_expression function: [(identifier) @call (member_expression property: (_) @call)])
(new_expression constructor: [(identifier) @call (member_expression property: (_) @call)])
(decorator [(identifier) @call (member_expression property: (_) @call)])
(pair key: (property_identifier) @write @member)
(pair_pattern key: (property_identifier) @member)
(assignment_expression left: [(identifier) @write (member_expression property: (_) @write)])
(augmented_assignment_expression left: [(identifier) @write (member_expression property: (_) @write)])
(update_expression argument: [(identifier) @write (member_expression property: (_) @write)])
(shorthand_property_identifier_pattern) @write @local
(pair_pattern value: (identifier) @write @local)
(array_pattern (identifier) @write @local)
(assignment_pattern left: (identifier) @write @local)
(rest_pattern (identifier) @write @local)
(arrow_function parameter: (identifier) @write @local)
(variable_declarator name: (identifier) @write @local)
(variable_declaration (variable_declarator name: [(identifier) @hoist
  (object_pattern (shorthand_property_identifier_pattern) @hoist)]))
(catch_clause parameter: (identifier) @write @local)
(for_in_statement left: (identifier) @write)
(for_in_statement kind: _ left: (identifier) @local)
(function_expression name: (identifier) @write @local)
(assignment_expression left: [(object_pattern) (array_pattern)] @assigned)
(for_in_statement !kind left: [(object_pattern) (array_pattern)] @assigned)
(import_clause (identifier) @import @local)
(namespace_import (identifier) @import @local)
(import_specifier !alias name: (identifier) @import @local)
(import_specifier name: (identifier) @import @member alias: (identifier) @import @local)
(export_specifier alias: (identifier) @alias @member)
(namespace_export (identifier) @import @member)
[(for_statement) (for_in_statement) (catch_clause) (switch_body) (class_static_block)] @scope
(statement_block) @block
[(function_declaration body: (_) @body) (generator_function_declaration body: (_) @body)
 (function_expression body: (_) @body) (generator_function body: (_) @body) (arrow_function body: (_) @body)
 (method_definition body: (_) @body) (catch_clause body: (_) @body) (class_static_block body: (_) @body)]
[(arrow_function) (function_expression) (generator_function)] @lambda
(object (method_definition) @lambda)
(class) @class
(lexical_declaration "const" (variable_declarator name: [(object_pattern) (array_pattern)]) @constant)
(program (lexical_declaration (variable_declarator name: [(object_pattern) (array_pattern)]) @pattern))
(program (variable_declaration (variable_declarator name: [(object_pattern) (array_pattern)]) @pattern))
(export_statement declaration: (_ (variable_declarator name: [(object_pattern) (array_pattern)]) @pattern))
(program (expression_statement (assignment_expression) @top))
(program (expression_statement (assignment_expression right: (assignment_expression) @top)))
(program (expression_statement (assignment_expression left: (member_expression) right: (object)) @object))
(import_statement) @import.statement
[(call_expression) (new_expression)] @value.call
(export_statement !source (export_clause (export_specifier name: (_) alias: (_)) @value.alias))
(export_statement "default" [value: (identifier) @value.default declaration: (_ name: (_) @value.default)])
(program [(lexical_declaration (variable_declarator name: (identifier) value: (object)) @value.object)
  (variable_declaration (variable_declarator name: (identifier) value: (object)) @value.object)
  (export_statement (lexical_declaration (variable_declarator name: (identifier) value: (object)) @value.object))])
(variable_declarator name: (identifier) value: (_)) @value.bind
(export_statement) @export
((variable_declarator value: (call_expression function: (identifier) @_require
  arguments: (arguments . (string) .))) @require.declarator (#eq? @_require "require"))
((variable_declarator value: (member_expression object: (call_expression function: (identifier) @_require
  arguments: (arguments . (string) .)))) @require.declarator (#eq? @_require "require"))
((call_expression function: (identifier) @_require arguments: (arguments . (string) .)) @require
  (#eq? @_require "require"))
(call_expression function: (import) arguments: (arguments . (string) @dynamic))
((assignment_expression left: (member_expression object: (_) @_object property: (property_identifier) @export.name))
  (#match? @_object "^(module[.])?exports$"))
"""

ELEMENT_NAMES = """
(jsx_opening_element name: (identifier) @call @tag)
(jsx_self_closing_element name: (identifier) @call @tag)
(jsx_closing_element name: (identifier) @tag)
(jsx_attribute (property_identifier) @member)
"""

JAVASCRIPT_NAMES = """
(formal_parameters (identifier) @write @local)
(class_heritage [(identifier) @inherit (member_expression property: (_) @inherit)])
"""

TYPESCRIPT_DEFINITIONS = f"""
(abstract_class_declaration name: (_) @name) @definition.class
(class_body (public_field_definition name: (_) @name) @definition.field)
(class_body (method_signature name: (_) @name) @definition.method)
(class_body (abstract_method_signature name: (_) @name) @definition.method)
(class_body (index_signature) @definition.field)
(function_signature name: (identifier) @name) @definition.function
(interface_declaration name: (_) @name) @definition.interface
(interface_body [(property_signature name: (_) @name) @definition.field
  (method_signature name: (_) @name) @definition.method (index_signature) @definition.field])
(type_alias_declaration value: (object_type [(property_signature name: (_) @name) @definition.field
  (method_signature name: (_) @name) @definition.method]))
(enum_declaration name: (identifier) @name) @definition.enum
(enum_body name: (_) @name @definition.enumerator)
(enum_body (enum_assignment name: (_) @name) @definition.enumerator)
(type_alias_declaration name: (type_identifier) @name) @definition.type
(internal_module name: (_) @name) @definition.namespace
(module name: (_) @name) @definition.namespace
{_values("(internal_module body: (statement_block …))")}
{_values("(module body: (statement_block …))")}
{_values("(ambient_declaration …)")}
(method_definition parameters: (formal_parameters
  (_ [(accessibility_modifier) "readonly" (override_modifier)] pattern: (identifier) @name) @definition.field))
"""

TYPESCRIPT_NAMES = """
(export_statement "=" (identifier) @value.whole)
(type_identifier) @type
(nested_type_identifier module: (_) name: (type_identifier) @member)
(nested_identifier property: (property_identifier) @member)
(extends_clause value: [(identifier) @inherit (member_expression property: (_) @inherit)])
(implements_clause [(type_identifier) @inherit (generic_type name: (type_identifier) @inherit)
  (nested_type_identifier name: (type_identifier) @inherit)
  (generic_type name: (nested_type_identifier name: (type_identifier) @inherit))])
(extends_type_clause type: [(type_identifier) @inherit (generic_type name: (type_identifier) @inherit)
  (nested_type_identifier name: (type_identifier) @inherit)
  (generic_type name: (nested_type_identifier name: (type_identifier) @inherit))])
(required_parameter pattern: (identifier) @write @local)
(optional_parameter pattern: (identifier) @write @local)
(index_signature name: (identifier) @write @local)
(mapped_type_clause name: (type_identifier) @local)
(infer_type . (type_identifier) @local)
(type_parameter name: (type_identifier) @local)
(import_require_clause (identifier) @import @local)
(import_alias . (identifier) @write @local)
[(function_type) (constructor_type) (call_signature) (construct_signature) (index_signature) (conditional_type)
 (object_type (method_signature))] @scope
[(class_declaration type_parameters: (_) @generic) (abstract_class_declaration type_parameters: (_) @generic)
 (interface_declaration type_parameters: (_) @generic) (type_alias_declaration type_parameters: (_) @generic)]
(class_body (decorator) @decorator)
(ambient_declaration) @ambient
[(function_declaration return_type: (_)) (function_signature return_type: (_)) (method_definition return_type: (_))
 (method_signature return_type: (_)) (abstract_method_signature return_type: (_))] @value.result
(variable_declarator value: (arrow_function return_type: (_))) @value.result
(public_field_definition value: (arrow_function return_type: (_))) @value.result
(internal_module body: (_) @body)
(module body: (_) @body)
"""
