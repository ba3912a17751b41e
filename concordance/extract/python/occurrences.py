"""Occurrences of names in Python: the role of each, and which statement binds it.

In: the captures of the Python query. Out: roles, scopes, bindings and imports in the draft. These follow the language's
rules: defaults, annotations and a comprehension's first iterable belong to the enclosing scope, and an assignment
expression binds outside of the comprehension it is in.
"""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Iterable, Iterator
from operator import attrgetter

from tree_sitter import Node

from concordance.base.model import Kind, Role
from concordance.extract.reading.draft import ROLE_CODES, Draft, innermost
from concordance.extract.reading.trees import one_line, text
from concordance.extract.text.source_text import Source

Captures = dict[str, list[Node]]
_START = attrgetter("start_byte")

# Patterns that bind the names inside them; an attribute or subscript as a target binds nothing.
_PATTERNS = frozenset(
    ("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "tuple", "list", "list_splat",
     "expression_list", "parenthesized_expression", "as_pattern_target")
)  # fmt: skip


def add_names(draft: Draft, captures: Captures) -> None:
    """Add every identifier with its role, and the scopes that belong to no definition."""
    ends, roles = draft.ends, draft.roles
    for node in captures.get("name", ()):
        ends[node.start_byte] = node.end_byte
    roles.update(dict.fromkeys(ends, ROLE_CODES[Role.READ]))
    _types(draft, captures)
    roles.update(dict.fromkeys(_starts(captures, "call"), ROLE_CODES[Role.CALL]))
    roles.update(dict.fromkeys(_starts(captures, "inherit"), ROLE_CODES[Role.INHERIT]))
    write = ROLE_CODES[Role.WRITE]
    for node in captures.get("target", ()):
        for target in targets(node):
            _set(draft, target)
    for capture in ("capture", "walrus"):
        for start in _starts(captures, capture):
            if draft.source.data[start : ends[start]] != b"_" or capture == "walrus":
                roles[start] = write
                draft.bound.add(start)
    draft.bound.difference_update(_starts(captures, "declared"))  # `(x): int` binds nothing
    draft.sent.update(dict.fromkeys(_starts(captures, "walrus"), "hoist"))
    for statement in ("global", "nonlocal"):
        for start in _starts(captures, statement):
            roles[start] = ROLE_CODES[Role.DECLARE]
            draft.sent[start] = statement
    draft.members.update(_starts(captures, "member"))
    for start in _starts(captures, "keyword"):
        roles[start] = ROLE_CODES[Role.MENTION]
        draft.members.add(start)
    for node in captures.get("quoted", ()):
        if _is_type(node):
            _quoted(draft, node)
    _further_scopes(draft, captures)


def _is_type(node: Node) -> bool:
    """True if a string in an annotation is a type, not a value of `Literal` or a note of `Annotated`."""
    around = node.parent.parent if node.parent is not None else None
    form = around.parent if around is not None and around.type == "type_parameter" else None
    if around is None or form is None or not form.named_child_count:
        return True
    name = text(form.named_children[0]).rpartition(".")[2]
    return name != "Literal" and (name != "Annotated" or around.named_children[0] == node.parent)


def _quoted(draft: Draft, node: Node) -> None:
    """Add the names of a type in quotes."""
    content = node.named_children[1] if node.named_child_count == 3 else None
    raw = (content.text or b"") if content is not None and content.type == "string_content" else b""
    if content is None or len(raw) > 500 or b"\\" in raw or b"\n" in raw:
        return
    try:
        tree = ast.parse(raw, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for part in ast.walk(tree):
        if isinstance(part, ast.Name):
            add_mention(draft, content.start_byte + part.col_offset, content.start_byte + (part.end_col_offset or 0))
        elif isinstance(part, ast.Attribute):
            end = content.start_byte + (part.end_col_offset or 0)
            draft.members.add(end - len(part.attr.encode()))
            add_mention(draft, end - len(part.attr.encode()), end)


def add_mention(draft: Draft, start: int, end: int) -> None:
    """Add a name that is only mentioned in a string."""
    draft.ends[start] = end
    draft.roles[start] = ROLE_CODES[Role.MENTION]


def _starts(captures: Captures, capture: str) -> list[int]:
    return list(map(_START, captures.get(capture, ())))


def targets(node: Node) -> Iterator[Node]:
    """Yield the identifiers and attributes that a target sets, looking inside patterns."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.type in ("identifier", "attribute"):
            yield node
        elif node.type in _PATTERNS:
            stack.extend(reversed(node.named_children))


def _set(draft: Draft, target: Node) -> None:
    """Record that a name is written; the name of an attribute is not bound by any scope."""
    name = target if target.type == "identifier" else target.child_by_field_name("attribute")
    if name is not None:
        draft.roles[name.start_byte] = ROLE_CODES[Role.WRITE]
        if name is target:
            draft.bound.add(name.start_byte)


def _types(draft: Draft, captures: Captures) -> None:
    """Give the names inside annotations their role."""
    role = ROLE_CODES[Role.TYPE]
    reached = 0
    spans = []
    calls = [node for node in captures.get("alias", ()) if not is_alias(node)]
    for node in sorted(captures.get("type", []) + calls, key=lambda n: (n.start_byte, -n.end_byte)):
        if node.start_byte >= reached and node.type == "type_alias_statement":
            reached = node.end_byte
            _type_call(draft, node)
        elif node.start_byte >= reached:  # an annotation inside another is part of it
            reached = node.end_byte
            spans.append((node.start_byte, reached))
    if not spans:
        return
    upcoming = iter(spans)
    start, end = next(upcoming)
    for at in sorted(draft.ends):
        while at >= end:
            start, end = next(upcoming, (len(draft.source.data), len(draft.source.data) + 1))
        if at >= start:
            draft.roles[at] = role


def is_alias(node: Node) -> bool:
    """True if a type alias really is one: the grammar takes `type(x).y = z` for one, too."""
    left = node.child_by_field_name("left")
    return left is not None and left.named_children[0].type in ("identifier", "generic_type")


def _type_call(draft: Draft, node: Node) -> None:
    """Handle `type(x).y = z`: `type` is called, the attribute is set, and nothing is an annotation."""
    start = node.start_byte
    draft.ends[start] = start + len("type")
    draft.roles[start] = ROLE_CODES[Role.CALL]
    left = node.child_by_field_name("left")
    for target in targets(left.named_children[0]) if left is not None else ():
        _set(draft, target)


def _further_scopes(draft: Draft, captures: Captures) -> None:
    for node in captures.get("comprehension", ()):
        draft.scopes.append((node.start_byte, node.end_byte, "comprehension"))
        for child in node.named_children:
            if child.type == "for_in_clause":
                iterable = child.child_by_field_name("right")
                if iterable is not None:
                    # `in a, b` is several nodes, so the hole reaches to the end of the clause.
                    draft.holes.append((iterable.start_byte, child.end_byte))
                break
    for node in captures.get("lambda", ()):
        draft.scopes.append((node.start_byte, node.end_byte, "lambda"))
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            bind_parameters(draft, parameters)


def bind_parameters(draft: Draft, parameters: Node) -> list[tuple[Node, Node]]:
    """Bind each parameter's name; return the nodes of parameters and names."""
    pairs: list[tuple[Node, Node]] = []
    write = ROLE_CODES[Role.WRITE]
    for child in parameters.named_children:
        name = child
        while name.type != "identifier" and name.named_child_count:
            name = name.child_by_field_name("name") or name.named_children[0]
        default = child.child_by_field_name("value")
        if default is not None:
            draft.holes.append((default.start_byte, default.end_byte))
        if name.type == "identifier":
            draft.roles[name.start_byte] = write
            draft.bound.add(name.start_byte)
            pairs.append((child, name))
    return pairs


def add_imports(draft: Draft, captures: Captures) -> None:
    """Add the import statements and the names that they bind."""
    source = draft.source
    for node in captures.get("import.statement", ()):
        condition = condition_of(source, node)
        module_node = node.child_by_field_name("module_name")
        future = node.type == "future_import_statement"
        whole = node.type == "import_statement"
        module = "__future__" if future else ""
        if module_node is not None:
            module = _dotted(source.slice(module_node.start_byte, module_node.end_byte))
            _mark(draft, module_node, binds=None)
        for child in node.children_by_field_name("name"):
            name, alias = child, None
            if child.type == "aliased_import":
                name, alias = child.child_by_field_name("name") or child, child.child_by_field_name("alias")
            words = _dotted(text(name))
            first = name.named_child(0)
            _mark(draft, name, binds=first if alias is None else None)
            if alias is not None:
                _mark(draft, alias, binds=alias)
            draft.add_import(
                node.start_byte,
                words if whole else module,
                name="" if whole else words,
                alias=text(alias) if alias is not None else "",
                condition=condition,
            )
        if any(child.type == "wildcard_import" for child in node.children):
            draft.add_import(node.start_byte, module, name="*", condition=condition)


def _dotted(words: str) -> str:
    """Return a module's name without the white space and line continuations that may be in it."""
    return "".join(words.replace("\\", " ").split())


def _mark(draft: Draft, node: Node, binds: Node | None) -> None:
    """Give the identifiers of an import their role; at most one of them is bound here."""
    role = ROLE_CODES[Role.IMPORT]
    for name in [node] if node.type == "identifier" else _identifiers(node):
        draft.roles[name.start_byte] = role
        if binds is not None and name.start_byte == binds.start_byte:
            draft.bound.add(name.start_byte)
        else:
            draft.members.add(name.start_byte)


def _identifiers(node: Node) -> Iterable[Node]:
    for child in node.named_children:
        if child.type == "identifier":
            yield child
        elif child.type == "dotted_name":
            yield from child.named_children


def starts_line(source: Source, node: Node) -> bool:
    """True if a node is in the first column, as most statements of a module are; these need no look around."""
    return source.data[node.start_byte - 1 : node.start_byte] in (b"", b"\n", b"\r")


def condition_of(source: Source, node: Node) -> str:
    """Return the `if`, `try` or `except` that decides whether a statement runs, "" if none does."""
    if starts_line(source, node):
        return ""
    inner, around = node, node.parent
    while around is not None and around.type not in ("module", "function_definition", "class_definition"):
        kind = around.type
        if kind in ("if_statement", "elif_clause"):
            test = around.child_by_field_name("condition")
            return f"{'if' if kind == 'if_statement' else 'elif'} {one_line(text(test)) if test is not None else ''}"
        if kind == "else_clause":
            whole = around.parent
            test = whole.child_by_field_name("condition") if whole is not None else None
            return f"else of if {one_line(text(test))}" if test is not None else "else"
        if kind == "try_statement":
            return "try"
        if kind in ("except_clause", "except_group_clause", "finally_clause"):
            body = next((child for child in around.named_children if child.type == "block"), inner)
            return one_line(text(around)[: body.start_byte - around.start_byte]).rstrip(": ")
        inner, around = around, around.parent
    return ""


def normalise_names(draft: Draft) -> None:
    """Record names that are bound in another form: `__x` in a class is mangled, non-ASCII names are normalised."""
    data = draft.source.data
    if not draft.source.ascii:
        for start, end in draft.ends.items():
            written = data[start:end]
            if not written.isascii():
                draft.private[start] = unicodedata.normalize("NFKC", written.decode()).encode()
    starts = []
    at = data.find(b"__")
    while at >= 0:
        end = draft.ends.get(at, 0)
        if end and not data.endswith(b"__", at, end):
            starts.append(at)
        at = data.find(b"__", max(end, at + 2))
    classes = [d for d in draft.definitions if d.kind == Kind.CLASS and d.opens is not None]
    intervals = sorted((*(d.opens or (0, 0)), n) for n, d in enumerate(classes))
    for start, place in zip(starts, innermost(starts, [(0, len(data) + 1, -1), *intervals]), strict=True):
        owner = classes[place].name.lstrip("_").encode() if place >= 0 else b""
        if owner and start not in draft.members:
            draft.private[start] = b"_" + owner + data[start : draft.ends[start]]
