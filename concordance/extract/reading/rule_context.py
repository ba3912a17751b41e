"""One file as a rule sees it: where names stand, what is called with what, and what repeats.

In: the draft of a file, with its tree still at hand. Out: calls, with what stands around each. A rule is
asked only where a name that it speaks of occurs, so what is worked out here is worked out for few places:
from the root of the tree down to a name, which costs a step per level and nothing per file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from tree_sitter import Node

from concordance.base.model import Import
from concordance.extract.reading.draft import Draft

C_FAMILY = ("c", "cpp", "cuda", "objc", "objcpp")
SCRIPTS = ("javascript", "typescript")
PYTHON = ("python",)

_JOINED = frozenset(("attribute", "qualified_identifier", "field_expression", "member_expression",
                     "template_function", "template_method"))  # fmt: skip
_CALLS = frozenset(("call", "call_expression", "new_expression"))
_LOOPS = frozenset(("for_statement", "while_statement", "do_statement", "for_range_loop", "for_in_statement",
                    "list_comprehension", "set_comprehension", "dictionary_comprehension",
                    "generator_expression"))  # fmt: skip
_ONCE = ("initializer", "left", "right", "alternative", "type", "declarator")  # what of a loop is not repeated
_BLOCKS = frozenset(("block", "compound_statement", "statement_block"))
_LEAVES = frozenset(("return_statement", "break_statement", "raise_statement", "throw_statement"))
_FUNCTIONS = frozenset(("function_definition", "lambda", "class_definition", "lambda_expression", "class_specifier",
                        "function_declaration", "function_expression", "arrow_function", "method_definition",
                        "struct_specifier"))  # fmt: skip
LITERALS = frozenset(("string", "string_literal", "concatenated_string", "raw_string_literal", "number_literal",
                      "integer", "float", "char_literal", "number", "true", "false", "none", "null"))  # fmt: skip

_WORDY = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")


class Match(NamedTuple):
    """What a rule has to say of a stretch of the text."""

    start: int
    end: int
    message: str
    severity: str = ""  # the rule's own where it is empty


@dataclass(slots=True)
class Call:
    """A call, with the nodes around it, the outermost first."""

    name: str
    node: Node
    function: Node
    arguments: list[Node]
    around: list[Node]

    @property
    def is_member(self) -> bool:
        """Whether it is called on an object."""
        return self.function.type in ("attribute", "field_expression", "member_expression")

    @property
    def loop(self) -> Node | None:
        """The innermost loop of the same function that repeats it."""
        return loop_around([*self.around, self.node])

    @property
    def body(self) -> Node:
        """The function around it, or the file."""
        return next((node for node in reversed(self.around) if node.type in _FUNCTIONS), self.around[0])

    def keyword(self, name: str) -> Node | None:
        """The value of a keyword argument of Python."""
        for one in self.arguments:
            if one.type == "keyword_argument" and one.child_by_field_name("name").text == name.encode():  # type: ignore[union-attr]
                return one.child_by_field_name("value")
        return None

    @property
    def receiver(self) -> Node | None:
        """What a method is called on."""
        return self.function.child_by_field_name("object") or self.function.child_by_field_name("argument")


def loop_around(path: list[Node]) -> Node | None:
    """The innermost loop that repeats the last node of a path, in the same function.

    What is followed by the end of the function or the loop in its own block happens once.
    """
    broken = False
    for place in range(len(path) - 2, -1, -1):
        node, child = path[place], path[place + 1]
        if node.type in _FUNCTIONS:
            return None
        if node.type in _BLOCKS and node.named_children:
            last = node.named_children[-1].type
            if last in _LEAVES and (
                last != "break_statement" or node.parent is None or node.parent.type != "case_statement"
            ):
                if last != "break_statement":
                    return None
                broken = True
        if node.type in _LOOPS and _repeats(node, child):
            if not broken:
                return node
            broken = False
    return None


def _repeats(loop: Node, child: Node) -> bool:
    if loop.type.endswith(("comprehension", "generator_expression")):  # what the first `for` goes over is made once
        first = next((c for c in loop.named_children if c.type == "for_in_clause"), None)
        return first is None or child != first
    if loop.type == "while_statement" and child.type == "else_clause":
        return False
    return all(loop.child_by_field_name(field) != child for field in _ONCE)


class RuleContext:
    """A file and its tree."""

    def __init__(self, draft: Draft, imports: tuple[Import, ...]) -> None:
        self.draft = draft
        self.source = draft.source
        self.data = draft.source.data
        self.language = draft.source.language
        self.imports = imports

    def at(self, node: Node, message: str, severity: str = "") -> Match:
        """A finding on a node."""
        return Match(node.start_byte, node.end_byte, message, severity)

    def text(self, node: Node | None) -> str:
        """A node as it is written, whatever the parser was shown in its place."""
        return self.source.slice(node.start_byte, node.end_byte) if node is not None else ""

    def short(self, node: Node | None) -> str:
        """The same on one line, and no longer than fits in a sentence."""
        words = re.sub(r"\s+", " ", self.text(node))
        return words if len(words) <= 60 else words[:57] + "…"

    def places(self, *names: str) -> list[int]:
        """Where names stand, in the order of the text."""
        found = []
        ends = self.draft.ends
        for name in names:
            word = name.encode()
            at = self.data.find(word)
            while at >= 0:
                if ends.get(at) == at + len(word):
                    found.append(at)
                at = self.data.find(word, at + 1)
        return sorted(found)

    def path(self, at: int) -> list[Node]:
        """The nodes around an offset, the outermost first."""
        root = self.draft.root
        if root is None:
            return []
        cursor = root.walk()
        path = [root]
        while cursor.goto_first_child_for_byte(at) is not None:
            node = cursor.node
            if node is None or node.start_byte > at:
                break
            path.append(node)
        return path

    def calls(self, *names: str) -> Iterator[Call]:
        """The calls of functions and methods of some names."""
        for at in self.places(*names):
            yield from self._called(at, names)

    def _called(self, at: int, names: tuple[str, ...]) -> Iterator[Call]:
        """The call whose function's name stands at an offset."""
        path = self.path(at)
        place = len(path) - 1
        name = path[place] if path else None
        if name is None or name.start_byte != at or name.named_child_count:
            return
        while place > 1 and path[place - 1].type in _JOINED and _is_last(path[place - 1], path[place]):
            place -= 1
        call, function = path[place - 1], path[place]
        if call.type not in _CALLS:
            return
        called = call.child_by_field_name("function") or call.child_by_field_name("constructor")
        if called == function:
            word = self.text(name)
            if word not in names:  # imported under another name
                word = self.bound[word].rpartition(".")[2]
            yield Call(word, call, function, arguments(call), path[: place - 1])

    @cached_property
    def bound(self) -> dict[str, str]:
        """What each name of a Python file that is imported stands for: "np" is "numpy"."""
        table = {}
        for row in self.imports:
            if row.name:
                table[row.alias or row.name] = f"{row.module}.{row.name}"
            elif row.alias:
                table[row.alias] = row.module
            else:
                first = row.module.partition(".")[0]
                table[first] = first
        return table

    def dotted(self, node: Node) -> str:
        """What a dotted name of Python means by the imports: "torch.load"; "" where they do not say."""
        if node.type == "identifier":
            return self.bound.get(self.text(node), "")
        if node.type == "attribute":
            left, right = node.child_by_field_name("object"), node.child_by_field_name("attribute")
            home = self.dotted(left) if left is not None else ""
            return f"{home}.{self.text(right)}" if home else ""
        return ""

    def imported_calls(self, *names: str) -> Iterator[tuple[str, Call]]:
        """The calls of a Python file whose function is imported, or hangs on what is, with what it means.

        What stands before a name is looked at first: most calls of `load` or `append` hang on a variable.
        """
        bound = self.bound
        wanted = {*names, *(alias for alias, meaning in bound.items() if meaning.rpartition(".")[2] in names)}
        for at in self.places(*wanted):
            if self._first(at) in bound:
                for call in self._called(at, names):
                    meaning = self.dotted(call.function)
                    if meaning:
                        yield meaning, call

    def _first(self, at: int) -> str:
        """The first part of the dotted name that ends in the name at an offset."""
        data, start = self.data, at
        while start and data[start - 1] in _WORDY:
            start -= 1
        end = start
        while data[end : end + 1].isalnum() or data[end : end + 1] == b"_":
            end += 1
        return data[start:end].decode("utf-8", "replace")

    def imports_any(self, *packages: str) -> bool:
        """Whether a Python file imports from one of some packages."""
        return any(meaning.partition(".")[0] in packages for meaning in self.bound.values())

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names of what the file defines."""
        return frozenset(d.name for d in self.draft.definitions)

    def library_calls(self, *names: str) -> Iterator[Call]:
        """The calls of the C library's functions, which the file does not define itself."""
        for call in self.calls(*names):
            known = self.text(call.function) in (call.name, f"std::{call.name}", f"::{call.name}")
            if known and call.name not in self.defined:
                yield call

    def is_rare(self, call: Call, loop: Node) -> bool:
        """Whether a loop of Python calls something every so many turns only, to log."""
        inside = [node for node in call.around if node.type == "if_statement" and node.start_byte > loop.start_byte]
        return any("%" in self.text(node.child_by_field_name("condition")) for node in inside)

    def holds_literal(self, value: str) -> bool:
        """Whether a C file gives a variable a literal text, or a table that a value is taken from its texts."""
        name = re.match(r"[A-Za-z_]\w*", value)
        if name is None:
            return False
        if name[0] != value:
            return value[name.end() :].lstrip().startswith("[") and self._is_table(name[0].encode())
        word = name[0].encode()
        given = rb"\b%s\s*(?:\[\s*\w*\s*\])?\s*=\s*(?:[^;\"]{0,200}\?\s*)?(?:\w+\()?\s*(?:[LuU]?(\")|(\w+)\s*\[)" % word
        return any(match[1] or self._is_table(match[2]) for match in re.finditer(given, self.data))

    def _is_table(self, name: bytes) -> bool:
        """Whether a C file fills a table itself."""
        return re.search(rb"\b%s\s*(?:\[[^\]]*\])+\s*=\s*(?:/\*.*?\*/\s*)?\{" % name, self.data, re.S) is not None

    def is_bounded(self, call: Call, text: str) -> bool:
        """Whether the function has measured or compared a text of C before, or written a bounded or fixed one there."""
        before = self.source.slice(call.body.start_byte, call.node.start_byte)
        word = re.escape(text)
        measured = rf"(?:strlen|strnlen|wcslen)\s*\(\s*{word}|str\w*(?:cmp|eq)\s*\(\s*{word}\s*,\s*\""
        written = (
            rf"\b(?:\w*n\w*printf|str[lns]\w*cpy|memcpy)\s*\(\s*{word}\s*,|\b(?:strcpy|sprintf)\s*\(\s*{word}\s*,\s*\""
        )
        cut = rf"\b{word}\s*,\s*sizeof\s*\(?\s*{word}|{word}\s*\[[^\]]*\]\s*=\s*(?:'\\0'|0)\s*;"
        return re.search(f"{measured}|{written}|{cut}", before) is not None

    def in_comment(self, at: int) -> bool:
        """Whether an offset lies in a comment."""
        place = bisect_right(self._comment_starts, at) - 1
        return place >= 0 and at < self._comment_ends[place]

    @cached_property
    def _comment_starts(self) -> list[int]:
        return sorted(start for start, _ in self.draft.comments)

    @cached_property
    def _comment_ends(self) -> list[int]:
        """For each start, the farthest end of the comments up to it."""
        return list(accumulate((end for _, end in sorted(self.draft.comments)), max))


def _is_last(joined: Node, name: Node) -> bool:
    """Whether a name is what a joined name ends in."""
    return joined.end_byte == name.end_byte or joined.child_by_field_name("name") == name


def arguments(call: Node) -> list[Node]:
    """What a call hands over, as it is written."""
    given = call.child_by_field_name("arguments")
    if given is None:
        return []
    if given.type == "generator_expression":
        return [given]
    return [node for node in given.named_children if node.type != "comment"]
