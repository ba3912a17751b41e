"""Patterns of shell scripts, JavaScript, TypeScript, Go, Rust and Java, one small function each.

In: a `PatternContext`. Out: the places that show each pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Kind
from concordance.extract.reading.pattern_context import Finder, PatternContext, Place

_WINDOW = 500  # bytes of a node's text that are looked at


def _tree(types: str, pattern: str, *words: bytes) -> Finder:
    """Return a finder for nodes of the syntax tree that have one of the types and start with one of the words.

    The text from there on must match the pattern; its first group, or else the whole match, names the place.
    """
    wanted = re.compile(pattern)

    def find(file: PatternContext) -> Iterator[Place]:
        for node in file.nodes(tuple(types.split()), *words):
            match = wanted.match(file.data[node.start_byte : node.start_byte + _WINDOW].decode("utf-8", "replace"))
            if match is not None:
                yield Place(file.line(node), -1, match[1] or match[0].strip())

    return find


def _declaration_finder(types: str, field: str, *words: bytes) -> Finder:
    """Return a finder for declarations of some types around the given words, named by a field."""

    def find(file: PatternContext) -> Iterator[Place]:
        for word in words:
            at = file.data.find(word)
            while at >= 0:
                node = next((node for node in reversed(file.path(at)) if node.type in types.split()), None)
                named = file.field(node, field)
                if node is not None and named is not None:
                    yield Place(file.line(node), -1, file.short(named))
                at = file.data.find(word, at + len(word))

    return find


def _implementations(file: PatternContext) -> Iterator[Place]:
    for node in file.nodes(("impl_item",), b"impl", b"unsafe impl"):
        trait, target = file.field(node, "trait"), file.field(node, "type")
        if trait is not None:
            yield Place(file.line(node), -1, f"{file.short(trait)} for {file.short(target)}")


def _modified(pattern: str, *kinds: str) -> Finder:
    """Return a finder for symbols that have a modifier, optionally of certain kinds only."""
    wanted = re.compile(pattern)

    def find(file: PatternContext) -> Iterator[Place]:
        for place, symbol in enumerate(file.symbols):
            if (not kinds or symbol.kind in kinds) and any(map(wanted.search, symbol.modifiers)):
                yield file.symbol(place)

    return find


def _of_kind(*kinds: str) -> Finder:
    def find(file: PatternContext) -> Iterator[Place]:
        return (file.symbol(n) for n, s in enumerate(file.symbols) if s.kind in kinds and not s.declaration)

    return find


def _asynchronous(file: PatternContext) -> Iterator[Place]:
    for place, symbol in file.functions:
        if "async" in symbol.modifiers or re.match(
            r"(?:export\s+|default\s+|static\s+|pub(?:\([^)]*\))?\s+)*async\b", symbol.signature
        ):
            yield file.symbol(place)


def _errors(file: PatternContext) -> Iterator[Place]:
    for place, base in file.classes_with_base(re.compile(r"(?:Error|Exception)$").search):
        yield file.symbol(place, f"extends {base}")


def _go_init(file: PatternContext) -> Iterator[Place]:
    return (file.symbol(place) for place, symbol in file.functions if symbol.name == "init" and symbol.parent < 0)


def _builders(file: PatternContext) -> Iterator[Place]:
    return (file.symbol(place) for place, symbol in file.classes if symbol.name.endswith("Builder"))


_SHELL: tuple[tuple[str, Finder], ...] = (
    ("Stops at the first error",
     _tree("command", r"set\s+(-(?=[a-z]*e)[a-z]+(?:[ \t]+(?:-o[ \t]+)?pipefail)?)", b"set ")),
    ("Cleans up on exit", _tree("command", r"trap\s+(.+?)[ \t]+(?:EXIT|0|ERR|INT|TERM)\b", b"trap ")),
    ("Options", _tree("command", r"(getopts\b[^;\n]*)", b"getopts")),
    ("Variable defaults", _tree("expansion", r"\$\{(\w+):?=", b"${")),
    ("Here document", _tree("heredoc_redirect", r"<<-?[ \t]*[\"']?([A-Z_]+)", b"<<")),
)  # fmt: skip
_ECMA: tuple[tuple[str, Finder], ...] = (
    ("Default export",
     _tree("export_statement", r"export\s+default\s+(?:async\s+)?(?:function\b|class\b)?\s*(\w*+)(?![.\[]|\s*\?)",
           b"export default")),
    ("Interfaces", _of_kind(Kind.INTERFACE)), ("Asynchronous functions", _asynchronous), ("Custom errors", _errors),
    ("React hooks", _tree("call_expression", r"(use[A-Z]\w*)[(<]", b"use")),
    ("Generator", _tree("generator_function_declaration", r"function\s*\*\s*(\w+)", b"function")),
    ("Test suite",
     _tree("call_expression", r"(?:describe|suite)(?:\.\w+)?\(\s*[\"'`]([^\"'`\n]+)", b"describe", b"suite")),
)  # fmt: skip
_GO: tuple[tuple[str, Finder], ...] = (
    ("Interfaces", _of_kind(Kind.INTERFACE)), ("Runs on load", _go_init),
    ("Goroutines", _tree("go_statement", r"go\s+([\w.]+)", b"go ")),
    ("Deferred calls", _tree("defer_statement", r"defer\s+([\w.]+)", b"defer ")),
    ("Channels", _tree("call_expression", r"make\((chan\s[^,)]+)", b"make(chan")),
    ("Locks", _declaration_finder("field_declaration var_spec", "name", b"sync.Mutex", b"sync.RWMutex")),
    ("Once", _declaration_finder("field_declaration var_spec", "name", b"sync.Once")),
    ("Table of test cases", _declaration_finder("short_var_declaration", "left", b"[]struct")),
)  # fmt: skip
_UNSAFE_ITEMS = _tree("function_modifiers impl_item", r"unsafe\s+(fn\s+\w+|impl\b(?:<[^<>]*>)?\s*[\w:]+)", b"unsafe")


def _unsafe(file: PatternContext) -> Iterator[Place]:
    """Yield unsafe functions and implementations, and unsafe blocks, which have no name."""
    blocks = _tree("unsafe_block", r"unsafe\s*(\{)", b"unsafe")
    places = [*_UNSAFE_ITEMS(file), *(Place(place.line, -1, "", "block") for place in blocks(file))]
    yield from sorted(places, key=lambda place: place.line)


_RUST: tuple[tuple[str, Finder], ...] = (
    ("Traits", _of_kind(Kind.INTERFACE)), ("Trait implementation", _implementations),
    ("Derived traits", _tree("attribute_item", r"#\[derive\(([^)]+)\)", b"#[derive(")),
    ("Macros", _of_kind(Kind.MACRO)),
    ("Unsafe code", _unsafe),
    ("Asynchronous functions", _asynchronous),
    ("Conditional compilation",
     _tree("attribute_item inner_attribute_item", r"#!?\[cfg\(((?!test\))[^\]\n]+)\)\]", b"#[cfg(", b"#![cfg(")),
    ("Tests beside the code", _tree("attribute_item", r"#\[cfg\((test)\)\]", b"#[cfg(test")),
)  # fmt: skip
_JAVA: tuple[tuple[str, Finder], ...] = (
    ("Interfaces", _of_kind(Kind.INTERFACE)), ("Abstract class", _modified(r"^abstract$", Kind.CLASS)),
    ("Builder", _builders),
    ("Custom exceptions", _errors), ("Overrides", _modified(r"^@Override\b")),
    ("Native methods", _modified(r"^native$")),
    ("Synchronised", _modified(r"^synchronized$")),
    ("Parametrised tests", _modified(r"^@ParameterizedTest\b")),
)  # fmt: skip
TABLES = {"shell": _SHELL, "javascript": _ECMA, "typescript": _ECMA, "go": _GO, "rust": _RUST, "java": _JAVA}
