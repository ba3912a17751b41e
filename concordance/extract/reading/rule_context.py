"""A file as a rule sees it: where names occur, how functions are called, and which calls are in a loop.

In: the draft of a file, with its syntax tree still available. Out: calls, each with the nodes around it. A rule runs
only if a name that it looks for occurs in the file, so this module does work only for those few occurrences: it walks
from the root of the tree down to the name, which costs one step per level and nothing for the rest of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

from tree_sitter import Node

from concordance.base.model import FileFacts
from concordance.extract.reading.draft import Draft

Value = TypeVar("Value")
SCRIPTS = ("javascript", "typescript")
PYTHON = ("python",)

_JOINED = frozenset(("attribute", "qualified_identifier", "field_expression", "member_expression",
                     "template_function", "template_method"))  # fmt: skip
_CALLS = frozenset(("call", "call_expression", "new_expression"))
_LOOPS = frozenset(("for_statement", "while_statement", "do_statement", "for_range_loop", "for_in_statement",
                    "list_comprehension", "set_comprehension", "dictionary_comprehension",
                    "generator_expression"))  # fmt: skip
_ONCE = ("initializer", "left", "right", "alternative", "type", "declarator")  # fields of a loop that run only once
_BLOCKS = frozenset(("block", "compound_statement", "statement_block"))
_LEAVES = frozenset(("return_statement", "break_statement", "raise_statement", "throw_statement"))
_FUNCTIONS = frozenset(("function_definition", "lambda", "class_definition", "lambda_expression", "class_specifier",
                        "function_declaration", "function_expression", "arrow_function", "method_definition",
                        "struct_specifier"))  # fmt: skip
LITERALS = frozenset(("string", "string_literal", "concatenated_string", "raw_string_literal", "number_literal",
                      "integer", "float", "char_literal", "number", "true", "false", "none", "null"))  # fmt: skip

_WORDY = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")


class Match(NamedTuple):
    """A place in the text that a rule reports."""

    start: int
    end: int
    message: str
    severity: str = ""  # the rule's own severity if empty


@dataclass(slots=True)
class Call:
    """A call, with the nodes around it, outermost first."""

    name: str
    node: Node
    function: Node
    arguments: list[Node]
    around: list[Node]

    @property
    def is_member(self) -> bool:
        """True if the function is called on an object."""
        return self.function.type in ("attribute", "field_expression", "member_expression")

    @property
    def loop(self) -> Node | None:
        """The innermost loop of the same function that repeats this call."""
        return loop_around([*self.around, self.node])

    @property
    def body(self) -> Node:
        """The innermost function or class around the call, or the file."""
        return next((node for node in reversed(self.around) if node.type in _FUNCTIONS), self.around[0])

    def keyword(self, name: str) -> Node | None:
        """Return the value of a keyword argument (Python)."""
        for argument in self.arguments:
            if argument.type == "keyword_argument" and argument.child_by_field_name("name").text == name.encode():  # type: ignore[union-attr]
                return argument.child_by_field_name("value")
        return None

    @property
    def receiver(self) -> Node | None:
        """The object that a method is called on."""
        return self.function.child_by_field_name("object") or self.function.child_by_field_name("argument")


def loop_around(path: list[Node]) -> Node | None:
    """Return the innermost loop in the same function that repeats the last node of a path.

    A node whose block ends by leaving the function or the loop runs only once.
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
    if loop.type.endswith(("comprehension", "generator_expression")):  # the first iterable is evaluated once
        first = next((c for c in loop.named_children if c.type == "for_in_clause"), None)
        return first is None or child != first
    if loop.type == "while_statement" and child.type == "else_clause":
        return False
    return all(loop.child_by_field_name(field) != child for field in _ONCE)


class RuleContext:
    """A file's draft and syntax tree, with the lookups that rules and bridges share."""

    def __init__(self, draft: Draft, facts: FileFacts) -> None:
        self.draft, self.facts = draft, facts
        self.source = draft.source
        self.data = draft.source.data
        self.language = draft.source.language
        self.imports = facts.imports
        self._computed: dict[object, Any] = {}

    def once(self, compute: Callable[[RuleContext], Value]) -> Value:
        """Return what a function returns for this context; it is called once."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        value: Value = self._computed[compute]
        return value

    def at(self, node: Node, message: str, severity: str = "") -> Match:
        """Return a match that covers a node."""
        return Match(node.start_byte, node.end_byte, message, severity)

    def text(self, node: Node | None) -> str:
        """Return a node's text as written in the file, even where the parser was given something else."""
        return self.source.slice(node.start_byte, node.end_byte) if node is not None else ""

    def short(self, node: Node | None) -> str:
        """Return a node's text on one line, cut to fit in a sentence."""
        words = re.sub(r"\s+", " ", self.text(node))
        return words if len(words) <= 60 else words[:57] + "…"

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that occur in the file."""
        return frozenset(self.facts.occurrences.names)

    def places(self, *names: str) -> list[int]:
        """Return the offsets at which any of the names occurs, ascending."""
        matching = []
        ends = self.draft.ends
        for name in self.names.intersection(names):
            word = name.encode()
            at = self.data.find(word)
            while at >= 0:
                if ends.get(at) == at + len(word):
                    matching.append(at)
                at = self.data.find(word, at + 1)
        return sorted(matching)

    def path(self, at: int) -> list[Node]:
        """Return the nodes around an offset, outermost first."""
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
        """Yield the calls of functions and methods with any of these names."""
        for at in self.places(*names):
            yield from self._call_at(at, names)

    def _call_at(self, at: int, names: tuple[str, ...]) -> Iterator[Call]:
        """Yield the call whose function name starts at an offset, if there is one."""
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
            if word not in names:  # imported under an alias
                word = self.bound[word].rpartition(".")[2]
            yield Call(word, call, function, arguments(call), path[: place - 1])

    @cached_property
    def bound(self) -> dict[str, str]:
        """The dotted name that each imported name of a Python file refers to: "np" is "numpy"."""
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
        """Return a dotted Python name as resolved by the imports, e.g. "torch.load"; "" if they do not bind it."""
        if node.type == "identifier":
            return self.bound.get(self.text(node), "")
        if node.type == "attribute":
            left, right = node.child_by_field_name("object"), node.child_by_field_name("attribute")
            prefix = self.dotted(left) if left is not None else ""
            return f"{prefix}.{self.text(right)}" if prefix else ""
        return ""

    def imported_calls(self, *names: str) -> Iterator[tuple[str, Call]]:
        """Yield the calls of a Python file whose function is imported, or a member of an import, with its full name.

        The text before a name is checked first, because most calls of `load` or `append` are on a local variable.
        """
        bound = self.bound
        wanted = {*names, *(alias for alias, full_name in bound.items() if full_name.rpartition(".")[2] in names)}
        for at in self.places(*wanted):
            if self._first_part(at) in bound:
                for call in self._call_at(at, names):
                    full_name = self.dotted(call.function)
                    if full_name:
                        yield full_name, call

    def _first_part(self, at: int) -> str:
        """Return the first part of the dotted name that ends with the name at an offset."""
        data, start = self.data, at
        while start and data[start - 1] in _WORDY:
            start -= 1
        end = start
        while data[end : end + 1].isalnum() or data[end : end + 1] == b"_":
            end += 1
        return data[start:end].decode("utf-8", "replace")

    def imports_any(self, *packages: str) -> bool:
        """True if a Python file imports from any of the packages."""
        return any(full_name.partition(".")[0] in packages for full_name in self.bound.values())

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names that the file defines."""
        return frozenset(d.name for d in self.draft.definitions)

    def library_calls(self, *names: str) -> Iterator[Call]:
        """Yield the calls of C library functions, leaving out those that the file defines itself."""
        for call in self.calls(*names):
            known = self.text(call.function) in (call.name, f"std::{call.name}", f"::{call.name}")
            if known and call.name not in self.defined:
                yield call

    def is_rare(self, call: Call, loop: Node) -> bool:
        """True if a Python loop makes a call only every N iterations (`if step % n`), as for logging."""
        inside = [node for node in call.around if node.type == "if_statement" and node.start_byte > loop.start_byte]
        return any("%" in self.text(node.child_by_field_name("condition")) for node in inside)

    def holds_literal(self, value: str) -> bool:
        """True if a C file initialises the variable with a string literal, or from a table that it fills itself."""
        name = re.match(r"[A-Za-z_]\w*", value)
        if name is None:
            return False
        if name[0] != value:
            return value[name.end() :].lstrip().startswith("[") and self._is_table(name[0].encode())
        word = name[0].encode()
        given = rb"\b%s\s*(?:\[\s*\w*\s*\])?\s*=\s*(?:[^;\"]{0,200}\?\s*)?(?:\w+\()?\s*(?:[LuU]?(\")|(\w+)\s*\[)" % word
        return any(match[1] or self._is_table(match[2]) for match in re.finditer(given, self.data))

    def _is_table(self, name: bytes) -> bool:
        """True if a C file initialises the table itself."""
        return re.search(rb"\b%s\s*(?:\[[^\]]*\])+\s*=\s*(?:/\*.*?\*/\s*)?\{" % name, self.data, re.S) is not None

    def is_bounded(self, call: Call, text: str) -> bool:
        """True if, before the call, the function measures or compares the C string, or fills it in a bounded way."""
        before = self.source.slice(call.body.start_byte, call.node.start_byte)
        word = re.escape(text)
        measured = rf"(?:strlen|strnlen|wcslen)\s*\(\s*{word}|str\w*(?:cmp|eq)\s*\(\s*{word}\s*,\s*\""
        written = (
            rf"\b(?:\w*n\w*printf|str[lns]\w*cpy|memcpy)\s*\(\s*{word}\s*,|\b(?:strcpy|sprintf)\s*\(\s*{word}\s*,\s*\""
        )
        cut = rf"\b{word}\s*,\s*sizeof\s*\(?\s*{word}|{word}\s*\[[^\]]*\]\s*=\s*(?:'\\0'|0)\s*;"
        return re.search(f"{measured}|{written}|{cut}", before) is not None

    def in_comment(self, at: int) -> bool:
        """True if an offset is in a comment."""
        place = bisect_right(self._comment_starts, at) - 1
        return place >= 0 and at < self._comment_ends[place]

    @cached_property
    def _comment_starts(self) -> list[int]:
        return sorted(start for start, _ in self.draft.comments)

    @cached_property
    def _comment_ends(self) -> list[int]:
        """For each start, the farthest end of all comments up to and including that one."""
        return list(accumulate((end for _, end in sorted(self.draft.comments)), max))


def _is_last(joined: Node, name: Node) -> bool:
    """True if a name is the last part of a qualified name."""
    return joined.end_byte == name.end_byte or joined.child_by_field_name("name") == name


def arguments(call: Node) -> list[Node]:
    """Return the argument nodes of a call, without comments."""
    given = call.child_by_field_name("arguments")
    if given is None:
        return []
    if given.type == "generator_expression":
        return [given]
    return [node for node in given.named_children if node.type != "comment"]
