"""What stands in the head of a JavaScript or TypeScript definition.

In: a definition's node. Out: its modifiers and decorators, its parameters, its bases.
"""

from __future__ import annotations

from tree_sitter import Node

from concordance.base.model import Parameter
from concordance.extract import trees

_WORDS = frozenset(
    ("static", "async", "get", "set", "*", "readonly", "abstract", "declare", "accessor", "const", "override",
     "accessibility_modifier", "override_modifier")
)  # fmt: skip


def head(node: Node) -> tuple[tuple[str, ...], int]:
    """Modifiers and decorators, and where the definition goes on behind its decorators."""
    words: list[str] = []
    start = node.start_byte
    for child in node.children:
        kind = child.type
        if kind == "decorator":
            words.append(trees.one_line(trees.text(child)))
            start = _after(child, node)
        elif kind in _WORDS:
            words.append(trees.text(child))
        elif kind not in ("function", "class", "enum", "comment"):
            break
    return tuple(words), start


def _after(child: Node, node: Node) -> int:
    following = child.next_sibling
    return following.start_byte if following is not None else node.end_byte


def parameters(node: Node) -> tuple[Parameter, ...]:
    """A function's parameters; one that is taken apart has its pattern for a name."""
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
    """What a class or interface extends and implements, as written."""
    found: list[str] = []
    for child in node.named_children:
        if child.type == "extends_type_clause":
            found.extend(trees.one_line(trees.text(c)) for c in child.named_children if c.type != "comment")
        elif child.type == "class_heritage":
            for part in child.named_children:
                if part.type == "extends_clause":
                    words = "".join(trees.text(c) for c in part.named_children if c.type != "comment")
                    found.append(trees.one_line(words))
                elif part.type == "implements_clause":
                    found.extend(trees.one_line(trees.text(c)) for c in part.named_children if c.type != "comment")
                elif part.type != "comment":
                    found.append(trees.one_line(trees.text(part)))
    return tuple(found)
