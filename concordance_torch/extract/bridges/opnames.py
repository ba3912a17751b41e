"""Python registrations for operators: decompositions, references, meta functions, lowerings, symbolics.

Examples: `@register_decomposition(aten.add)`, `@register_meta([aten.max.default, …])`,
`@_onnx_symbolic("aten::add")`, `register_lowering(aten.add)(add)`, `eq = _make_elementwise_binary_reference(…)`. The
name of the registering function tells what is registered. Files of references or symbolics name operators by their
own functions, so the functions that such files export are reported, too. Whether they really are references or
symbolics depends on where the file lies, which is decided later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import PYTHON, Call, RuleContext
from concordance_torch.extract.python_operators import OperatorNamespaces

LANGUAGES = PYTHON
_WAYS = {
    "decomposition": r"(?:\w+_)?register_(?:\w+_)?decomposition(?:_\w+)?|register_decomp",
    "meta": r"register_(?:\w+_)?meta\w*|register_op_meta\w*",
    "lowering": r"\w*register_\w*lowering\w*|register_\w*pointwise\w*|make_fallback",
    "symbolic": r"\w*onnx_symbolic\w*|register_custom_op_symbolic|torch_op|onnx_impl",
    "reference": r"_?make_\w*reference\w*",
}
WORDS = (b"register_", b"onnx_symbolic", b"reference(", b"make_fallback(", b"torch_op(", b"onnx_impl(", b"out_wrapper",
         b"g.op(")  # fmt: skip
_NAMES = re.compile("|".join(f"(?P<{says}>{words})" for says, words in _WAYS.items()))
_CALLED = re.compile(rb"\b([A-Za-z_]\w{0,100}(?:register_|symbolic|reference|fallback|torch_op|onnx_impl)\w{0,100}|"
                     rb"(?:register_|torch_op|onnx_impl)\w{0,100})\s*\(")  # fmt: skip


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield what a file registers, and the functions that it exports as references or symbolics."""
    says = {}
    for name in {match[1].decode() for match in _CALLED.finditer(context.data)}:
        match = _NAMES.fullmatch(name)
        if match is not None and match.lastgroup:
            says[name] = match.lastgroup
    if "register_decomposition" in says and b"register_inplace(" in context.data:  # for in-place variants
        says["register_inplace"] = "decomposition"
    registered = set[int]()
    spaces = OperatorNamespaces(context) if says else None
    for call in context.calls(*says) if spaces else ():
        for end in _registered(context, call, says[call.name], spaces):  # type: ignore[arg-type]
            registered.add(end.at)
            yield end
    yield from _exported_functions(context, registered)


def _registered(context: RuleContext, call: Call, says: str, spaces: OperatorNamespaces) -> Iterator[BridgeEnd]:
    named = _definition(call)
    given = call.keyword("aten_op") if says == "reference" else call.arguments[0] if call.arguments else None
    at = named.start_byte if named is not None else call.node.start_byte
    name = context.text(named)
    if says == "reference" and (given is None or "." not in context.text(given)):
        if named is not None and context.text(given) != "None":
            yield BridgeEnd(at, "reference", name, name, (("by", call.name),))
        return
    operators = spaces.named(context.text(given)) if given is not None else []
    if named is None and _registered_function(call):
        at = _registered_function(call).start_byte  # type: ignore[union-attr]
        name = context.text(_registered_function(call))
    for operator in operators:
        yield BridgeEnd(
            at, says, operator.name, name, (("overload", "yes" if operator.overloaded else ""), ("by", call.name))
        )


def _definition(call: Call) -> Node | None:
    """Return the name of the decorated function, or of the variable that the call is assigned to."""
    around = call.around
    outer = around[-1] if around else None
    if outer is not None and outer.type == "decorator" and len(around) > 1:
        definition = around[-2].child_by_field_name("definition")
        return definition.child_by_field_name("name") if definition is not None else None
    if outer is not None and outer.type == "assignment":
        left = outer.child_by_field_name("left")
        return left if left is not None and left.type == "identifier" else None
    return None


def _registered_function(call: Call) -> Node | None:
    """Return the registered function: `f` in `register(op)(f)`, or the second argument."""
    outer = call.around[-1] if call.around else None
    given = [*call.arguments[1:2]]
    if outer is not None and outer.type == "call" and outer.child_by_field_name("function") == call.node:
        arguments = outer.child_by_field_name("arguments")
        given = arguments.named_children[:1] if arguments is not None else []
    return given[0] if given and given[0].type == "identifier" else None


def _exported_functions(context: RuleContext, registered: set[int]) -> Iterator[BridgeEnd]:
    """Yield top-level functions of files that look like collections of references or symbolics."""
    exports = set(context.draft.exports or ())
    references = b"out_wrapper" in context.data
    symbolics = b"g.op(" in context.data
    if not (references and exports) and not symbolics:
        return
    for definition in context.draft.definitions:
        if (
            definition.kind != "function"
            or definition.at in registered
            or context.data[definition.start : definition.start + 1].isspace()
        ):
            continue
        first = definition.parameters[0].name if definition.parameters else ""
        if symbolics and first == "g":
            yield BridgeEnd(definition.at, "symbolic", definition.name, definition.name, (("by", "offered"),))
        elif references and definition.name in exports:
            yield BridgeEnd(definition.at, "reference", definition.name, definition.name, (("by", "offered"),))
