"""Definitions in Python: classes, functions, and the variables of modules, classes and instances.

In: the captures of the Python query. Out: definitions in the draft, with parameters, decorators, bases, documentation
and `__all__`. A variable of a module or class is defined where it is first assigned, one of an instance where a method
first assigns it to `self`.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from concordance.base.model import Kind, Parameter
from concordance.extract.documents import docstrings
from concordance.extract.python.occurrences import (
    Captures,
    add_mention,
    bind_parameters,
    condition_of,
    is_alias,
    starts_line,
    targets,
)
from concordance.extract.reading.draft import Definition, Draft, innermost
from concordance.extract.reading.trees import one_line, text

_ENUM = re.compile(r"(?:^|\.)(?:\w*Enum|\w*Flag)$")
_PROPERTY = re.compile(r"property$|\.(?:setter|getter|deleter)$")
_CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*$")
_OPENING = re.compile(rb"[(\s]*[A-Za-z]{0,2}(?:\"\"\"|'''|\"|')(?:\s|\\\r?\n)*")
_STRING_BELOW = re.compile(rb"[ \t]*\r?\n[ \t]*[rRuU]?(?:\"\"\"|'''|\"|')")
# A value that is a type, so that the name is an alias: `Union[…]`, `Callable[…]`
_TYPING = re.compile(
    r"(?:typing\.|t\.|te\.|typing_extensions\.)?(?:Union|Optional|Callable|Dict|List|Tuple|Type|Literal|Annotated|Set|"
    r"FrozenSet|Sequence|Mapping|Iterable|Iterator|Any)\b(?:\[|$)|(?:typing\.|t\.)?(?:TypeVar|ParamSpec|TypeVarTuple|NewType)\("
)


def add_definitions(draft: Draft, root: Node, captures: Captures) -> None:
    """Add all definitions of a module."""
    around = {child.start_byte: node for node in captures.get("decorated", ()) for child in node.named_children[-1:]}
    draft.doc = docstring(draft, root) or _assigned_docstring(draft, root)
    comments = {end: start for start, end in draft.comments}
    for node in captures.get("class", ()):
        _class(draft, node, around.get(node.start_byte), _end(draft, node, comments))
    for node in captures.get("function", ()):
        _function(draft, node, around.get(node.start_byte), _end(draft, node, comments))
    for node in filter(is_alias, captures.get("alias", ())):
        _alias(draft, node)
    draft.definitions.sort(key=lambda d: (d.start, -d.end))
    _place(draft)
    _variables(draft, captures)
    _exports(draft, captures)
    _publish(draft)


def docstring(draft: Draft, node: Node) -> str:
    """Return the docstring of a module, class or function: the string that is its first statement."""
    body = node if node.type == "module" else node.child_by_field_name("body")
    if body is None:
        return ""
    for place in range(body.named_child_count):  # one by one: a body may be long, and only its first statement matters
        statement = body.named_child(place)
        if statement is None or statement.type == "comment":
            continue
        if statement.type != "expression_statement" or statement.named_child_count != 1:
            return ""
        value = statement.named_child(0)
        while value is not None and value.type == "parenthesized_expression":
            value = next((child for child in value.named_children if child.type != "comment"), None)
        doc = _literal(value) if value is not None else ""
        if doc:
            opening = _OPENING.match(draft.source.data, statement.start_byte)
            at = opening.end() if opening is not None else statement.start_byte  # skips blank first lines
            draft.prose.append((draft.source.line(at), doc))
        return doc
    return ""


def _assigned_docstring(draft: Draft, root: Node) -> str:
    """Return the text that a module assigns to `__doc__`; "" if it assigns none."""
    if b"__doc__" not in draft.source.data:
        return ""
    for statement in root.named_children:
        value = statement.named_child(0) if statement.type == "expression_statement" else None
        if value is not None and value.type == "assignment":
            left, right = value.child_by_field_name("left"), value.child_by_field_name("right")
            if left is not None and right is not None and left.text == b"__doc__" and (doc := _literal(right)):
                draft.prose.append((draft.source.line(right.start_byte), doc))
                return doc
    return ""


def _literal(node: Node) -> str:
    if node.type == "string":
        return docstrings.clean_docstring(text(node)) if _is_text(node) else ""
    if node.type == "concatenated_string":
        pieces = [child for child in node.named_children if child.type == "string"]
        if all(map(_is_text, pieces)):
            return docstrings.clean_docstring(" ".join(map(text, pieces)))
    return ""


def _is_text(node: Node) -> bool:
    """True if a string literal is plain text: neither bytes nor formatted."""
    prefix = text(node)[:4].partition('"')[0].partition("'")[0].lower()
    return "b" not in prefix and "f" not in prefix and "t" not in prefix


def _end(draft: Draft, node: Node, comments: dict[int, int]) -> int:
    """Return the end of a definition's last statement; the tree includes comments after it."""
    end, data = node.end_byte, draft.source.data
    while end in comments:
        end = comments[end]
        end -= len(data[max(0, end - 4096) : end]) - len(data[max(0, end - 4096) : end].rstrip())
    return end


def _decorators(decorated: Node | None) -> tuple[str, ...]:
    if decorated is None:
        return ()
    return tuple(one_line(text(c)[1:]) for c in decorated.named_children if c.type == "decorator")


def _class(draft: Draft, node: Node, decorated: Node | None, end: int) -> None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None:
        return
    whole = decorated or node
    bases = node.child_by_field_name("superclasses")
    arguments = [c for c in bases.named_children if c.type != "comment"] if bases is not None else []
    generic = node.child_by_field_name("type_parameters")
    opens = (body.start_byte, body.end_byte) if body is not None else (node.end_byte, node.end_byte)
    if generic is not None:
        _bind_type_parameters(draft, generic)
        opens = (generic.start_byte, opens[1])
    written = [one_line(text(c)) for c in arguments]
    doc = docstring(draft, node)
    draft.define(
        Kind.CLASS,
        text(name),
        name.start_byte,
        whole.start_byte,
        end,
        signature=f"class {text(name)}{text(generic) if generic is not None else ''}"
        + (f"({', '.join(written)})" if written else ""),
        doc=doc,
        condition=condition_of(draft.source, whole),
        modifiers=_decorators(decorated),
        bases=tuple(w for w, c in zip(written, arguments, strict=True) if c.type != "keyword_argument"),
        opens=opens,
    )


def _function(draft: Draft, node: Node, decorated: Node | None, end: int) -> None:
    name, parameters = node.child_by_field_name("name"), node.child_by_field_name("parameters")
    if name is None or parameters is None:
        return
    whole = decorated or node
    generic, returned = node.child_by_field_name("type_parameters"), node.child_by_field_name("return_type")
    opens = (parameters.start_byte, node.end_byte)
    if generic is not None:  # the annotations of a generic function see its type parameters
        _bind_type_parameters(draft, generic)
        opens = (generic.start_byte, node.end_byte)
    elif returned is not None:
        draft.holes.append((returned.start_byte, returned.end_byte))
    declared = _parameters(draft, parameters, holes=generic is None)
    is_async = node.child_count > 0 and node.children[0].type == "async"
    returns = one_line(text(returned)) if returned is not None else ""
    doc = docstring(draft, node)
    draft.define(
        Kind.FUNCTION,
        text(name),
        name.start_byte,
        whole.start_byte,
        end,
        signature=f"{'async ' if is_async else ''}def {text(name)}{text(generic) if generic is not None else ''}"
        f"({_format_parameters(declared)}){f' -> {returns}' if returns else ''}",
        doc=doc,
        condition=condition_of(draft.source, whole),
        modifiers=(("async",) if is_async else ()) + _decorators(decorated),
        parameters=declared,
        returns=returns,
        opens=opens,
    )


def _bind_type_parameters(draft: Draft, generic: Node) -> None:
    for parameter in generic.named_children:
        name = parameter
        while name.type != "identifier" and name.named_child_count:
            name = name.named_children[0]
        if name.type == "identifier":
            draft.bound.add(name.start_byte)


def _parameters(draft: Draft, node: Node, holes: bool) -> tuple[Parameter, ...]:
    named = {child.start_byte: name for child, name in bind_parameters(draft, node)}
    parameters: list[Parameter] = []
    kind = "positional"
    for child in node.named_children:
        if child.type == "positional_separator":
            parameters = [p._replace(kind="positional-only") for p in parameters]
            continue
        if child.type == "keyword_separator":
            kind = "keyword-only"
            continue
        name = named.get(child.start_byte)
        if name is None:
            continue
        annotation, default = child.child_by_field_name("type"), child.child_by_field_name("value")
        if annotation is not None and holes:
            draft.holes.append((annotation.start_byte, annotation.end_byte))
        star = {"*": "*", "**": "**"}.get(draft.source.slice(child.start_byte, name.start_byte).strip(), "")
        parameters.append(
            Parameter(
                text(name),
                star or kind,
                one_line(text(annotation)) if annotation is not None else "",
                one_line(text(default)) if default is not None else "",
            )
        )
        if star == "*":
            kind = "keyword-only"
    return tuple(parameters)


def _format_parameters(parameters: tuple[Parameter, ...]) -> str:
    """Return a parameter list as it would be written."""
    pieces = []
    kinds = [p.kind for p in parameters]
    for n, p in enumerate(parameters):
        if p.kind == "keyword-only" and "*" not in kinds[:n] and "keyword-only" not in kinds[:n]:
            pieces.append("*")
        star = p.kind if p.kind in ("*", "**") else ""
        equals = " = " if p.annotation else "="
        annotation = f": {p.annotation}" if p.annotation else ""
        pieces.append(star + p.name + annotation + (f"{equals}{p.default}" if p.default else ""))
        if p.kind == "positional-only" and kinds[n + 1 : n + 2] != ["positional-only"]:
            pieces.append("/")
    return ", ".join(pieces)


def _alias(draft: Draft, node: Node) -> None:
    name = node.child_by_field_name("left")
    while name is not None and name.type != "identifier":
        name = name.named_children[0] if name.named_child_count else None
    if name is not None:
        draft.define(
            Kind.TYPE, text(name), name.start_byte, node.start_byte, node.end_byte,
            signature=one_line(text(node)), condition=condition_of(draft.source, node),
        )  # fmt: skip


def _place(draft: Draft) -> None:
    """Set each definition's owner, and tell methods and properties from functions."""
    around: list[Definition] = []
    for d in draft.definitions:
        while around and around[-1].end <= d.start:
            around.pop()
        if d.kind == Kind.FUNCTION and around and around[-1].kind == Kind.CLASS:
            d.kind = Kind.PROPERTY if any(map(_PROPERTY.search, d.modifiers)) else Kind.METHOD
        d.owner = around[-1] if around else None
        around.append(d)


def _variables(draft: Draft, captures: Captures) -> None:
    """Define the variables that a module or class assigns, and the attributes that methods assign."""
    owners = draft.definitions[:]
    spans = [(0, len(draft.source.data) + 1, -1)]
    spans += sorted((*(d.opens or (d.start, d.end)), n) for n, d in enumerate(owners))
    lambdas = [(n.start_byte, n.end_byte, -2) for c in ("lambda", "comprehension") for n in captures.get(c, ())]
    spans = spans[:1] + sorted(spans[1:] + lambdas, key=lambda s: (s[0], -s[1]))
    nodes = sorted(captures.get("assignment", ()), key=lambda node: node.start_byte)
    inside = innermost([node.start_byte for node in nodes], spans)
    seen = {(d.owner, d.name) for d in owners}
    attributes = []
    for node, place in zip(nodes, inside, strict=True):
        if place == -2:
            continue
        owner = owners[place] if place >= 0 else None
        left = node.child_by_field_name("left")
        if left is None:
            continue
        if owner is None or owner.kind == Kind.CLASS:
            for target in targets(left):
                if (owner, text(target)) not in seen and target.start_byte in draft.bound:
                    seen.add((owner, text(target)))
                    _variable(draft, node, target, owner)
        else:
            attributes += [(node, target, owner) for target in targets(left) if target.type == "attribute"]
    for node, left, owner in attributes:
        _attribute(draft, node, left, owner, seen)


_SEVERAL = frozenset(("pattern_list", "tuple_pattern", "tuple", "expression_list"))


def _variable(draft: Draft, node: Node, target: Node, owner: Definition | None) -> None:
    name = text(target)
    annotation, value = node.child_by_field_name("type"), node.child_by_field_name("right")
    typed = one_line(text(annotation)) if annotation is not None else ""
    written = text(value) if value is not None else ""
    if owner is not None:
        is_enum = any(map(_ENUM.search, owner.bases)) and value is not None and not name.startswith("_")
        kind = Kind.ENUMERATOR if is_enum else Kind.FIELD
    elif "TypeAlias" in typed or (not typed and not name.isupper() and _TYPING.match(written)):
        kind = Kind.TYPE
    else:
        kind = Kind.CONSTANT if _CONSTANT.match(name) or typed.startswith(("Final", "typing.Final")) else Kind.VARIABLE
    doc, end = _docstring_below(draft, node)
    draft.define(
        kind, name, target.start_byte, node.start_byte, end,
        signature=_assigned(node, target, typed), doc=doc,
        condition=condition_of(draft.source, node), returns=typed, nests=False, owner=owner,
    )  # fmt: skip


def _docstring_below(draft: Draft, node: Node) -> tuple[str, int]:
    """Return the string below an assignment that documents it, and the end of that, or else of the assignment."""
    if _STRING_BELOW.match(draft.source.data, node.end_byte) is None or node.parent is None:
        return "", node.end_byte
    below = node.parent.next_named_sibling
    value = below.named_child(0) if below is not None and below.named_child_count == 1 else None
    doc = _literal(value) if below is not None and below.type == "expression_statement" and value is not None else ""
    if not doc or below is None:
        return "", node.end_byte
    draft.prose.append((draft.source.line(below.start_byte), doc))
    return doc, below.end_byte


def _assigned(node: Node, target: Node, typed: str) -> str:
    """Return how a name is assigned: with its own value of several (`a, b = 1, 2`), or else with the whole statement
    (`a, b = f()`)."""
    left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and value is not None and left.type in _SEVERAL:
        targets, values = left.named_children, value.named_children if value.type in _SEVERAL else []
        spread = any(one.type.startswith("list_splat") for one in (*targets, *values))
        place = next((place for place, one in enumerate(targets) if one.id == target.id), -1)
        if place < 0 or len(targets) != len(values) or spread:
            return one_line(text(node))
        value = values[place]
    written = f" = {one_line(text(value))}" if value is not None else ""
    return text(target) + (f": {typed}" if typed else "") + written


def _attribute(
    draft: Draft, node: Node, left: Node, method: Definition, seen: set[tuple[Definition | None, str]]
) -> None:
    """Define an instance attribute where a method assigns it to its first parameter."""
    owner = method.owner
    receiver, name = left.child_by_field_name("object"), left.child_by_field_name("attribute")
    if owner is None or owner.kind != Kind.CLASS or not method.parameters or receiver is None or name is None:
        return
    if receiver.type != "identifier" or text(receiver) != method.parameters[0].name:
        return
    if "staticmethod" in method.modifiers:
        return
    if (owner, text(name)) in seen:
        return
    seen.add((owner, text(name)))
    annotation = node.child_by_field_name("type")
    typed = one_line(text(annotation)) if annotation is not None else ""
    doc, end = _docstring_below(draft, node)
    draft.define(
        Kind.FIELD, text(name), name.start_byte, node.start_byte, end,
        signature=_assigned(node, left, typed), doc=doc,
        condition=condition_of(draft.source, node), returns=typed, nests=False, owner=owner,
    )  # fmt: skip


def _exports(draft: Draft, captures: Captures) -> None:
    """Collect the names in `__all__`; `*m` means all names that a module `m` exports."""
    offered: list[str] | None = None
    if b"__all__" not in draft.source.data:
        return
    for node in sorted(captures.get("assignment", []) + captures.get("augmented", []), key=lambda n: n.start_byte):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None and left.text == b"__all__" and starts_line(draft.source, node):
            offered = (offered or []) if node.type == "augmented_assignment" else []
            offered += _strings(draft, right)
    for call in sorted(captures.get("call", ()), key=lambda n: n.start_byte):
        whole = call.parent.parent if call.text in (b"extend", b"append") and call.parent is not None else None
        if whole is not None and (whole.text or b"").startswith(b"__all__."):
            arguments = whole.child_by_field_name("arguments")
            offered = (offered or []) + (_strings(draft, arguments) if arguments is not None else [])
    draft.exports = tuple(dict.fromkeys(offered)) if offered is not None else None


def _strings(draft: Draft, value: Node) -> list[str]:
    strings, stack = [], [value]
    while stack:
        node = stack.pop()
        if node.type == "string":
            strings.append(docstrings.clean_docstring(text(node)))
            content = node.named_children[1] if node.named_child_count == 3 else None
            if content is not None and text(content) == strings[-1] and strings[-1].isidentifier():
                add_mention(draft, content.start_byte, content.end_byte)
        elif node.type == "attribute" and (node.text or b"").endswith(b".__all__"):
            strings.append("*" + text(node).removesuffix(".__all__"))
        elif node.type in ("list", "tuple", "binary_operator", "parenthesized_expression", "argument_list", "call",
                           "list_splat", "expression_list", "set"):  # fmt: skip
            stack.extend(reversed(node.named_children))
    return strings


def _publish(draft: Draft) -> None:
    """Decide which definitions are public: if there is an `__all__`, it decides at module level.

    Otherwise a name is public if it is not private. A member is public if it is not private and its class is public.
    """
    for d in sorted(draft.definitions, key=lambda d: (d.start, -d.end)):
        name = d.name
        hidden = name.startswith("_") and not (name.startswith("__") and name.endswith("__"))
        owner = d.owner
        if owner is None:
            d.public = name in draft.exports if draft.exports is not None else not hidden
        else:
            d.public = not hidden and owner.public and owner.kind == Kind.CLASS
