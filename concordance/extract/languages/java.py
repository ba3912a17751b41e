"""Java: packages, types with their members, constants, records, annotations, imports.

In: the text of a Java file. Out: a `Draft`. The members of an anonymous class belong to a symbol named `new Type`,
so that they are not mistaken for members of the enclosing method.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from functools import partial

from tree_sitter import Node

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
from concordance.extract.reading import trees, typed_flow
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.reading.value_syntax import ValueSyntax
from concordance.extract.text.source_text import Source

_TEST = re.compile(r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b")
_CLASS_PATH = re.compile(r"(?:^|/)src/\w+/java/([\w/]+)\.java\Z")
_ON_DEVICE = re.compile(r"(?:^|/)src/androidTest/")
_BUILDS = ("pom.xml", "build.gradle", "build.gradle.kts")


def _tests(facts: FileFacts, path: str) -> list[int]:
    tests = []
    for place, symbol in enumerate(facts.symbols):
        if symbol.kind == Kind.METHOD and symbol.parent >= 0:
            bases = facts.symbols[symbol.parent].bases
            old = symbol.name.startswith("test") and any("TestCase" in base for base in bases)
            if old or any(map(_TEST.match, symbol.modifiers)):
                tests.append(place)
    return tests


def _all_tests(files: RunnerFiles) -> str:
    wrappers = files.named("mvnw"), files.named("gradlew")
    if files.text("pom.xml"):
        return "./mvnw test" if "mvnw" in wrappers[0] else "mvn test"
    if any(files.text(name) for name in (*_BUILDS[1:], "settings.gradle", "settings.gradle.kts")):
        return "./gradlew test" if "gradlew" in wrappers[1] else "gradle test"
    return ""


def _test_command(files: RunnerFiles, path: str) -> Callable[[str], str] | None:
    stem = path.rpartition("/")[2].partition(".")[0]
    if len(files.named(f"{stem}.java")) > 1 and (inside := _CLASS_PATH.search(path)):
        stem = inside[1].replace("/", ".")
    build = next(files.nearest(path, *_BUILDS), None)
    # The tests of an abstract class run in its subclasses, and those of an Android app on a device.
    abstract = rb"\babstract\s+(?:\w+\s+)*class\s+%s\b" % stem.rpartition(".")[2].encode()
    if build is None or _ON_DEVICE.search(path) or re.search(abstract, files.text(path)):
        return None
    if build.endswith("pom.xml"):
        maven = _maven(build.rpartition("/")[0], b"<module>" in files.text("pom.xml"))
        return lambda name: f"{maven} test -Dtest={stem}{f'#{_last(name)}' if name else ''}"
    gradle = "./gradlew" if "gradlew" in files.named("gradlew") else "gradle"
    module = build.rpartition("/")[0]
    gradle += f" -p {shlex.quote(module)}" if module else ""  # others have no such test, which Gradle calls an error
    return lambda name: f"{gradle} test --tests '{'' if '.' in stem else '*'}{stem}{f'.{_last(name)}' if name else ''}'"


def _maven(module: str, has_parent: bool) -> str:
    """Return the start of a command for a module; modules that it needs are built, too, and have no such tests."""
    if not module:
        return "mvn"
    if not has_parent:
        return f"mvn -f {shlex.quote(module)}"
    return f"mvn -pl {shlex.quote(module)} -am -Dsurefire.failIfNoSpecifiedTests=false"


def _last(name: str) -> str:
    return name.rpartition(".")[2]


_ENVIRONMENT = (VariableAccess("reads", rb"\bSystem\s*\.\s*getenv\s*\(\s*LITERAL\s*\)"),)

LANGUAGE = Language(
    "java",
    "Java",
    unseen="reflection and dependency injection",
    extensions=(".java",),
    tests=TestConventions(
        find=_tests, command=_test_command, command_for_all=_all_tests, settings=(*_BUILDS, "gradlew")
    ),
    has_semicolons=True,
    imports_folders=True,
    imports_by_name=True,
    doc_markup=DocMarkup.COMMANDS,
    doc_code="java",
    environment=_ENVIRONMENT,
    environment_marks=(b"getenv",),
)

DEFINITIONS = """
(package_declaration [(identifier) (scoped_identifier)] @name) @definition.namespace
(module_declaration name: (_) @name) @definition.module
(class_declaration name: (identifier) @name) @definition.class
(record_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(annotation_type_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(enum_constant name: (identifier) @name) @definition.enumerator
(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name) @definition.method
(compact_constructor_declaration name: (identifier) @name) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.constant
(record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @name) @definition.field))
(object_creation_expression type: (_) @name (class_body) @definition.class)
"""

NAMES = """
["if" "for" "while" "case" "catch" "&&" "||"] @branch
(ternary_expression) @branch
[(line_comment) (block_comment)] @comment
(identifier) @read
(type_identifier) @type
(method_invocation name: (identifier) @call @method)
(method_invocation object: (_) name: (identifier) @member)
(field_access field: (identifier) @member)
(method_reference (_) (identifier) @member)
(scoped_type_identifier (_) (type_identifier) @member)
(scoped_identifier name: (identifier) @member)
(object_creation_expression type: [(type_identifier) @call (generic_type (type_identifier) @call)
  (scoped_type_identifier (type_identifier) @call .)
  (generic_type (scoped_type_identifier (type_identifier) @call .))])
(marker_annotation name: [(identifier) @type (scoped_identifier name: (identifier) @type)])
(annotation name: [(identifier) @type (scoped_identifier name: (identifier) @type)])
(element_value_pair key: (identifier) @write @member)
(assignment_expression left: [(identifier) @write (field_access field: (identifier) @write)])
(update_expression [(identifier) @write (field_access field: (identifier) @write)])
(local_variable_declaration declarator: (variable_declarator name: (identifier) @write @local))
(formal_parameter name: (identifier) @write @local)
(spread_parameter (variable_declarator name: (identifier) @write @local))
(catch_formal_parameter name: (identifier) @write @local)
(enhanced_for_statement name: (identifier) @write @local)
(resource name: (identifier) @write @local)
(instanceof_expression name: (identifier) @write @local)
(type_pattern (identifier) @write @local)
(record_pattern_component (identifier) @write @local)
(record_pattern . (identifier) @type)
(inferred_parameters (identifier) @write @local)
(lambda_expression parameters: (identifier) @write @local)
(type_parameter (type_identifier) @local)
(labeled_statement . (identifier) @label)
(break_statement (identifier) @label)
(continue_statement (identifier) @label)
((type_identifier) @nothing (#eq? @nothing "var"))
(superclass [(type_identifier) @inherit (generic_type (type_identifier) @inherit)
  (scoped_type_identifier (type_identifier) @inherit .)
  (generic_type (scoped_type_identifier (type_identifier) @inherit .))])
(type_list [(type_identifier) @inherit (generic_type (type_identifier) @inherit)
  (scoped_type_identifier (type_identifier) @inherit .)
  (generic_type (scoped_type_identifier (type_identifier) @inherit .))])
(permits (type_list (type_identifier) @permitted))
(method_declaration type_parameters: (_) name: (identifier) @generic)
(constructor_declaration type_parameters: (_) name: (identifier) @generic)
(import_declaration) @import.declaration
(import_declaration [(identifier) @import @local (scoped_identifier name: (identifier) @import @local)] . ";")
[(for_statement) (enhanced_for_statement) (catch_clause) (try_with_resources_statement) (switch_block)
 (static_initializer)] @scope
(block) @block
(method_declaration body: (block) @body)
(compact_constructor_declaration body: (block) @body)
(static_initializer (block) @body)
(catch_clause body: (block) @body)
(lambda_expression body: (block) @body)
(lambda_expression) @lambda
[(method_invocation) (object_creation_expression) (parenthesized_expression (cast_expression))] @value.call
((local_variable_declaration type: (type_identifier) @_var declarator: (variable_declarator) @value.bind)
  (#eq? @_var "var"))
(method_declaration) @value.result
[(field_declaration type: (generic_type)) (local_variable_declaration type: (generic_type))
 (formal_parameter type: (generic_type)) (enhanced_for_statement type: (generic_type))
 (resource type: (generic_type))] @value.typed
"""

_LONG = 100  # a longer value, or one of several lines, is left out of the signature
_TYPES = frozenset((Kind.CLASS, Kind.INTERFACE, Kind.ENUM))
_CONSTRUCTORS = ("constructor_declaration", "compact_constructor_declaration")
_ANNOTATIONS = ("annotation", "marker_annotation")
_COMMENTS = ("line_comment", "block_comment")


def _modifiers(node: Node) -> tuple[tuple[str, ...], int]:
    """Return the modifiers and annotations, and the offset of the declaration after leading annotations."""
    first = node.children[0] if node.child_count else None
    if first is None or first.type != "modifiers":
        return (), node.start_byte
    words, after, plain = [], first.end_byte, False
    for child in first.children:
        if child.type in _COMMENTS:
            continue
        words.append(trees.one_line(trees.text(child)))
        if child.type not in _ANNOTATIONS and not plain:
            after, plain = child.start_byte, True
    return tuple(words), after


def _parameters(node: Node) -> tuple[Parameter, ...]:
    listed = node.child_by_field_name("parameters")
    parameters = []
    for child in listed.named_children if listed is not None else ():
        if child.type == "formal_parameter":
            name, kind = child.child_by_field_name("name"), child.child_by_field_name("type")
            if name is not None and kind is not None:
                parameters.append(Parameter(trees.text(name), "", trees.one_line(trees.text(kind))))
        elif child.type == "spread_parameter":
            parts = [c for c in child.named_children if c.type not in ("modifiers", *_COMMENTS)]
            if len(parts) > 1:
                parameters.append(Parameter(trees.text(parts[-1]), "*", trees.one_line(trees.text(parts[0]))))
    return tuple(parameters)


def _bases(node: Node) -> tuple[str, ...]:
    names: list[str] = []
    for child in node.named_children:
        if child.type == "superclass":
            names.extend(trees.one_line(trees.text(c)) for c in child.named_children)
        elif child.type in ("super_interfaces", "extends_interfaces"):
            names.extend(trees.one_line(trees.text(c)) for row in child.named_children for c in row.named_children)
    return tuple(names)


def _describe_value(source: Source, node: Node, definition: Definition) -> None:
    """Complete the definition of a field or constant.

    Several names may share one declaration; only the last of them can contain nested definitions.
    """
    declarators = node.children_by_field_name("declarator")
    definition.nests = not declarators or definition.at >= declarators[-1].start_byte
    kind = node.child_by_field_name("type")
    definition.returns = trees.one_line(trees.text(kind)) if kind is not None else ""
    if definition.kind == Kind.FIELD and "static" in definition.modifiers and "final" in definition.modifiers:
        definition.kind = Kind.CONSTANT
    mine = next((d for d in declarators if d.start_byte == definition.at), None)
    if mine is None or kind is None:
        return
    value = mine.child_by_field_name("value")
    words = trees.text(mine)
    if value is not None and (len(inner := trees.text(value)) > _LONG or "\n" in inner):
        words = source.slice(mine.start_byte, value.start_byte).rstrip(" =\n")
    head = source.slice(_modifiers(node)[1], kind.end_byte)
    definition.signature = trees.one_line(f"{head} {words}")


def _describe(source: Source, node: Node, definition: Definition) -> None:
    kind = node.type
    if kind in ("package_declaration", "module_declaration"):
        definition.nests = kind == "module_declaration"
        definition.occurs = False
        return
    if kind == "class_body":
        name = definition.name
        definition.name = f"new {trees.one_line(name)}"
        definition.signature = f"{definition.name}()"
        definition.bases = (trees.one_line(name),)
        definition.occurs = definition.public = False
        definition.opens = (node.start_byte, node.end_byte)
        return
    definition.modifiers, start = _modifiers(node)
    definition.public = "public" in definition.modifiers or kind in ("enum_constant", "constant_declaration")
    if kind in ("field_declaration", "constant_declaration"):
        _describe_value(source, node, definition)
        return
    body = node.child_by_field_name("body")
    definition.signature = trees.one_line(source.slice(start, body.start_byte if body else node.end_byte)).rstrip(" ;{")
    returned = node.child_by_field_name("type")
    definition.returns = trees.one_line(trees.text(returned)) if returned is not None else ""
    definition.parameters = _parameters(node)
    if definition.kind in _TYPES:
        definition.bases = _bases(node)
    elif kind == "formal_parameter":
        definition.modifiers += ("component",)
    elif kind in ("method_declaration", *_CONSTRUCTORS):
        definition.binds = kind not in _CONSTRUCTORS
        generic = node.child_by_field_name("type_parameters")
        if generic is not None:
            definition.opens = (generic.start_byte, node.end_byte)


GRAMMAR = trees.Grammar("tree_sitter_java", DEFINITIONS, NAMES, sees_members=True, describe=_describe)


def _note_imports(draft: Draft, nodes: list[Node]) -> None:
    for node in nodes:
        path = next((c for c in node.named_children if c.type in ("identifier", "scoped_identifier")), None)
        if path is None:
            continue
        words = "".join(trees.text(path).split())
        form = "static" if any(c.type == "static" for c in node.children) else ""
        if any(c.type == "asterisk" for c in node.children):
            draft.add_import(node.start_byte, words, name="*", form=form)
        else:
            module, _, name = words.rpartition(".")
            draft.add_import(node.start_byte, module, name=name, form=form)


def _note_nesting(draft: Draft) -> None:
    """Set the visibility that follows from nesting.

    Members of an interface are public by default; local definitions and members of anonymous classes are not.
    """
    stack: list[Definition] = []
    for d in sorted(draft.definitions, key=lambda d: (d.start, -d.end, d.at)):
        while stack and stack[-1].end <= d.start:
            stack.pop()
        if stack:
            parent = stack[-1]
            if parent.kind == Kind.INTERFACE and "private" not in d.modifiers:
                d.public = parent.public
            elif parent.kind in (Kind.METHOD, Kind.FUNCTION) or parent.name.startswith("new "):
                d.public = False
            elif d.kind == Kind.ENUMERATOR or "component" in d.modifiers:
                d.public = parent.public
        if d.nests:
            stack.append(d)


class JavaValueSyntax(ValueSyntax):
    """The values of one file of Java."""

    overloads = True

    def argument_counts(self) -> dict[int, int]:
        """Return the number of arguments plus one of each call of a method."""
        counts = {}
        for node in self._calls.values():
            name, given = node.child_by_field_name("name"), node.child_by_field_name("arguments")
            if name is not None and given is not None:
                counts[name.start_byte] = 1 + sum(child.type not in _COMMENTS for child in given.named_children)
        return counts

    def typed(self) -> Iterator[tuple[Node, Node]]:
        """Yield each name whose type has arguments (`Box<T> box`), and the type."""
        for node in self._typed:
            typed = node.child_by_field_name("type")
            for named in node.children_by_field_name("declarator") or [node]:
                name = named.child_by_field_name("name")
                if name is not None and typed is not None:
                    yield name, typed


def read(source: Source) -> Draft:
    """Parse one Java file into a `Draft`."""
    draft, _, captures = trees.read(source, GRAMMAR)
    draft.forget(node.start_byte for what in ("label", "nothing") for node in captures.get(what, ()))
    draft.add_names(((node.start_byte, node.end_byte) for node in captures.get("permitted", ())), Role.TYPE)
    draft.methods.update(node.start_byte for node in captures.get("method", ()))
    # A generic method's scope starts at its type parameters, which precede its name; but the name belongs to the class.
    draft.holes.extend((node.start_byte, node.end_byte) for node in captures.get("generic", ()))
    bodies = {node.start_byte for node in captures.get("body", ())}
    draft.scopes.extend(
        (node.start_byte, node.end_byte, "block") for node in captures.get("block", ()) if node.start_byte not in bodies
    )
    draft.scopes.extend((node.start_byte, node.end_byte, "lambda") for node in captures.get("lambda", ()))
    _note_imports(draft, captures.get("import.declaration", []))
    _note_nesting(draft)
    draft.build_flow = partial(typed_flow.build_typed_flow, syntax=JavaValueSyntax(captures))
    return draft
