"""Operator registrations in Python: `torch.library.Library`, `define`, `impl`, `custom_op` and its methods.

The file's own names for libraries (`lib = Library("ns", "DEF")`) and operators (`@custom_op("ns::op")` on a
function) are followed within the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import PYTHON, Call, RuleContext
from concordance_torch.extract.operator_schema import DEFAULT_NAMESPACE, full_name, parse_schema
from concordance_torch.extract.python_operators import OperatorNamespaces

LANGUAGES = PYTHON
WORDS = (b"torch.library", b"Library(", b"custom_op(", b"triton_op(")
_MAKING = ("custom_op", "triton_op")
_HANGING = ("register_kernel", "register_fake", "impl_abstract", "impl")
_CALLS = ("Library", "define", "impl", *_MAKING, "register_kernel", "register_fake", "impl_abstract")
_BARE = re.compile(rb"(?m)^[ \t]*@(\w+)\.(?:register_fake|impl_abstract)[ \t]*\r?$")
_TEXT = re.compile(r"[rRuU]?(\"\"\"|'''|\"|')(.*?)\1", re.S)


@dataclass(slots=True)
class _File:
    context: RuleContext
    spaces: OperatorNamespaces
    libraries: dict[str, tuple[str, str]] = field(default_factory=dict)  # by variable: namespace, dispatch key
    operators: dict[str, str] = field(default_factory=dict)  # by the function that defines it


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the operators that a file registers, and their kernels."""
    if not any("torch" in target for target in context.bound.values()):
        return
    file = _File(context, OperatorNamespaces(context))
    calls = list(context.calls(*_CALLS))
    for call in calls:
        if call.name == "Library":
            _library(file, call)
    for call in calls:
        if call.name in _MAKING:
            yield from _custom_operator(file, call)
        elif call.name == "define":
            yield from _schema_ends(file, call)
        elif call.name in _HANGING:
            yield from _kernel(file, call)
    for match in _BARE.finditer(context.data):
        yield from _shape(file, match)


def _library(file: _File, call: Call) -> None:
    given = [_text(file, argument) for argument in call.arguments if argument.type != "keyword_argument"]
    outer = call.around[-1] if call.around else None
    left = outer.child_by_field_name("left") if outer is not None and outer.type == "assignment" else None
    if left is not None and given and given[0]:
        file.libraries[file.context.text(left)] = given[0], given[2] if len(given) > 2 else ""


def _custom_operator(file: _File, call: Call) -> Iterator[BridgeEnd]:
    name = full_name(_text(file, call.arguments[0])) if call.arguments else ""
    function = _decorated(call)
    if not name or function is None:
        return
    word = file.context.text(function)
    file.operators[word] = name
    schema = call.keyword("schema")
    written = _text(file, schema) if schema is not None else ""
    yield BridgeEnd(function.start_byte, "schema", name, name + written, (("schema", name + written), ("python", word)))
    devices = call.keyword("device_types")
    key = _text(file, devices) if devices is not None else ""
    yield BridgeEnd(function.start_byte, "kernel", name, word, (("key", key or "CompositeExplicitAutograd"),))


def _schema_ends(file: _File, call: Call) -> Iterator[BridgeEnd]:
    given = call.arguments
    receiver = file.context.text(call.receiver)
    if receiver in file.libraries and given:
        space, written, at = file.libraries[receiver][0], _text(file, given[0]), given[0]
    elif given and file.context.text(given[0]) in file.libraries and len(given) > 1:
        space, written, at = file.libraries[file.context.text(given[0])][0], _text(file, given[1]), given[1]
    elif receiver.endswith("library") and len(given) > 1:
        space, written, at = "", _text(file, given[0]) + _text(file, given[1]), given[0]
    else:
        return
    schema = parse_schema(written)
    name = full_name(
        schema.local if schema else written, (schema.namespace if schema else "") or space or DEFAULT_NAMESPACE
    )
    if name:
        yield BridgeEnd(at.start_byte, "schema", name, written, (("schema", written),))


def _kernel(file: _File, call: Call) -> Iterator[BridgeEnd]:
    context, given = file.context, [argument for argument in call.arguments if argument.type != "keyword_argument"]
    receiver = context.text(call.receiver)
    library = file.libraries.get(receiver) or (file.libraries.get(context.text(given[0])) if given else None)
    function = _decorated(call)
    if receiver in file.operators:
        name, rest = file.operators[receiver], given
    elif library is not None:
        rest = given if receiver in file.libraries else given[1:]
        name = _operator(file, rest[0], library[0]) if rest else ""
        rest = rest[1:]
    else:
        name, rest = (_operator(file, given[0], ""), given[1:]) if given else ("", [])
        if "::" not in context.text(given[0] if given else None):
            return
    if function is None and rest and rest[0].type in ("identifier", "attribute"):
        function, rest = rest[0], rest[1:]
    if not name or function is None:
        return
    key = _text(file, rest[0]) if rest and rest[0].type == "string" else library[1] if library else ""
    says = "meta" if call.name in ("register_fake", "impl_abstract") or key == "Meta" else "kernel"
    last = function.child_by_field_name("attribute") or function
    yield BridgeEnd(last.start_byte, says, name, context.text(function), (("key", key or "CompositeImplicitAutograd"),))


def _shape(file: _File, match: re.Match[bytes]) -> Iterator[BridgeEnd]:
    """Yield the function decorated with a bare `@op.register_fake`, without brackets."""
    name = file.operators.get(match[1].decode(), "")
    nodes = reversed(file.context.path(match.start(1)))
    around = next((node for node in nodes if node.type == "decorated_definition"), None)
    definition = around.child_by_field_name("definition") if around is not None else None
    function = definition.child_by_field_name("name") if definition is not None else None
    if name and function is not None:
        yield BridgeEnd(function.start_byte, "meta", name, file.context.text(function), (("key", "Meta"),))


def _operator(file: _File, node: Node, space: str) -> str:
    """Return the full name of an operator given as a string or as an attribute of `torch.ops`."""
    if node.type == "string":
        return full_name(_text(file, node), space or DEFAULT_NAMESPACE)
    operators = file.spaces.named(file.context.text(node))
    return operators[0].name if len(operators) == 1 else ""


def _decorated(call: Call) -> Node | None:
    """Return the name node of the function that the call decorates."""
    if len(call.around) > 1 and call.around[-1].type == "decorator":
        definition = call.around[-2].child_by_field_name("definition")
        return definition.child_by_field_name("name") if definition is not None else None
    return None


def _text(file: _File, node: Node | None) -> str:
    """Return the value of a string literal or of several joined ones; "" for any other expression."""
    written = file.context.text(node)
    if node is None or node.type not in ("string", "concatenated_string", "parenthesized_expression"):
        return ""
    return "".join(match[2] for match in _TEXT.finditer(written))
