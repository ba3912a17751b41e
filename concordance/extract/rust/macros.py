"""Rust's macros: what they are called with, and the tests that they make.

In: the text of a file. Out: a tree in which the arguments of macros are syntax, and definitions of tests. The grammar
only sees tokens in what a macro is called with. Most macros are called with expressions, so each call is read as a call
of a function if it parses as one. In the others, and where macros are defined, a name is a call if a bracket follows
it, a mention if it is in a macro definition, and otherwise a read.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from tree_sitter import Node, Tree

from concordance.base.model import Kind, Role
from concordance.extract.reading import trees
from concordance.extract.reading.draft import ROLE_CODES, Draft
from concordance.extract.text.source_text import Source

_MACRO_CALLS = trees.Grammar("tree_sitter_rust", names="(macro_invocation (token_tree) @tokens) @macro")
_MAX_NESTED_MACROS = 8  # macros called in the arguments of macros; deeper ones stay tokens


def parse_macro_arguments(source: Source, grammar: trees.Grammar) -> Tree:
    """Return the tree of a file in which macros are called like functions, where that parses.

    The text is parsed again with a space for `!` and round brackets, so that all offsets stay; a call that is no
    expression then (`matches!(x, A { .. })`, `lazy_static! { … }`) is turned back. Arguments may call macros again,
    which are only seen in the new tree, so this is repeated.
    """
    tools = trees.compile_grammar(grammar)
    query = trees.compile_grammar(_MACRO_CALLS).names
    tree = written = tools.parser.parse(source.data)
    data, rejected = bytearray(source.data), set[int]()
    for _ in range(_MAX_NESTED_MACROS):
        calls = []
        for match in trees.matches(query, tree.root_node):
            macro, tokens = match["macro"][0], match["tokens"][0]
            is_item = macro.parent is not None and macro.parent.type == "declaration_list"  # takes no expressions
            if macro.start_byte not in rejected and not is_item and tokens.children[0].type != "{":
                calls.append((macro.start_byte, tokens))
        if not calls:
            break
        for start, tokens in calls:
            _blank_macro(data, start, tokens)
        tree = tools.parser.parse(bytes(data))
        errors = trees.captures(tools.errors, tree.root_node).get("error", ()) if tree.root_node.has_error else ()
        spans = sorted((node.start_byte, node.end_byte) for node in errors)
        wrong = [(start, tokens) for start, tokens in calls if not _is_call(tree, start, tokens.end_byte, spans)]
        for start, tokens in wrong:
            rejected.add(start)
            data[start : tokens.end_byte] = source.data[start : tokens.end_byte]
        tree = tools.parser.parse(bytes(data)) if wrong else tree
    return written if tree.root_node.has_error and not written.root_node.has_error else tree


def _blank_macro(data: bytearray, start: int, tokens: Node) -> None:
    """Turn `name![a; b]` into `name (a, b)`."""
    data[data.rfind(b"!", start, tokens.start_byte)] = ord(" ")
    data[tokens.start_byte], data[tokens.end_byte - 1] = ord("("), ord(")")
    for child in tokens.children if tokens.children[0].type == "[" else ():
        if child.type == ";":
            data[child.start_byte] = ord(",")


def _is_call(tree: Tree, start: int, end: int, errors: list[tuple[int, int]]) -> bool:
    """True if a range of the text is one call, and no error is in it or around it."""
    node = tree.root_node.descendant_for_byte_range(start, end)
    whole = node is not None and node.type == "call_expression" and (node.start_byte, node.end_byte) == (start, end)
    return whole and node is not None and not node.has_error and _enclosing_span(errors, start) is None


def note_tokens(draft: Draft, captures: dict[str, list[Node]]) -> None:
    """Assign roles to names inside macros and attributes, where there is no syntax to tell them apart."""
    data = draft.source.data
    attributes = sorted(
        (node.start_byte, node.end_byte) for what in ("attribute", "attribute.inner") for node in captures.get(what, ())
    )
    macros = sorted((node.start_byte, node.end_byte) for node in captures.get("macro", ()))
    call, mention = ROLE_CODES[Role.CALL], ROLE_CODES[Role.MENTION]
    nothing = []
    for node in captures.get("token", ()):
        start, end = node.start_byte, node.end_byte
        attribute = _enclosing_span(attributes, start)
        if attribute is not None:
            draft.roles[start] = mention
            if not data.startswith(b"#[derive", attribute[0]):
                nothing.append(start)
        elif _enclosing_span(macros, start) is not None:
            draft.roles[start] = mention
        elif data[end : end + 1] == b"(" or data[end : end + 2] in (b"!(", b"![", b"!{"):
            draft.roles[start] = call
        if data[start - 1 : start] in (b".", b":"):
            draft.members.add(start)
    draft.forget(nothing)


def _enclosing_span(spans: list[tuple[int, int]], at: int) -> tuple[int, int] | None:
    place = bisect_right(spans, (at, at)) - 1
    return spans[place] if place >= 0 and at < spans[place][1] else None


_MADE = re.compile(rb"(\w+)\s*!\s*[({\[]\s*([a-z_]\w*)\s*,")
_MAKES_TEST = re.compile(rb"#\[test\][^{}]*?\bfn\s+\$(\w+)")
_FIRST_IDENT = re.compile(rb"[({\[]\s*(?:\$\()?\s*\$(\w+)\s*:\s*ident\b")


def note_made_tests(draft: Draft, captures: dict[str, list[Node]]) -> None:
    """Define the tests that macros make: `rgtest!(name, …)`.

    A macro makes tests if its definition in the file says so, or, if that is elsewhere, if its name has `test` in it.
    """
    data = draft.source.data
    makes: dict[bytes, bool] = {}
    for node in captures.get("macro", ()):
        name = node.child_by_field_name("name")
        test_item, first = _MAKES_TEST.search(node.text or b""), _FIRST_IDENT.search(node.text or b"")
        if name is not None:
            makes[name.text or b""] = test_item is not None and first is not None and test_item[1] == first[1]
    for node in captures.get("made", ()):
        match = _MADE.match(data, node.start_byte, node.end_byte)
        if match is not None and makes.get(match[1], b"test" in match[1]):
            macro, test = match[1].decode(), match[2].decode()
            draft.define(
                Kind.FUNCTION, test, match.start(2), node.start_byte, node.end_byte, public=False,
                signature=f"{macro}!({test})", modifiers=(f"test by {macro}!",),
            )  # fmt: skip
