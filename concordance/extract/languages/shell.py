"""Shell (sh, bash, zsh, ksh, bats): functions, global variables, sourced files, commands that are run.

A variable is defined by the first assignment outside functions; later assignments are writes. A variable in capitals
or marked readonly is a constant. An assignment before a command (`A=1 make`) only applies to that command and is not
a definition. A bats test is a function named by its description; `load` in a file of tests sources a file.
"""

from __future__ import annotations

import copy
import re
import shlex
from collections.abc import Callable

from tree_sitter import Node

from concordance.base.model import FileFacts, Kind, Language, RunnerFiles, TestConventions
from concordance.extract.reading import trees, typed_flow
from concordance.extract.reading.draft import Draft, innermost
from concordance.extract.text.repetition import NOT_READ, TOO_DEEP, is_too_deep, is_unparsable
from concordance.extract.text.source_text import Source

_BATS = "@test"  # the modifier of a bats test


def _tests(facts: FileFacts, path: str) -> list[int]:
    return [place for place, symbol in enumerate(facts.symbols) if _BATS in symbol.modifiers]


def _test_command(files: RunnerFiles, path: str) -> Callable[[str], str] | None:
    if not path.endswith(".bats"):
        return None
    whole = f"bats {shlex.quote(path)}"
    return lambda name: f"{whole} --filter {shlex.quote(f'^{_SPECIAL.sub(_ESCAPED, name)}$')}" if name else whole


_SPECIAL, _ESCAPED = re.compile(r"[][\\.^$*+?(){}|]"), r"\\\g<0>"

LANGUAGE = Language(
    "shell",
    "Shell",
    unseen="paths in variables",
    extensions=(".sh", ".bash", ".zsh", ".ksh", ".bats", ".ebuild"),
    filenames=(
        ".bashrc", ".bash_profile", ".bash_aliases", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile",
        ".kshrc", "PKGBUILD", ".envrc",
    ),
    interpreters=("sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "bats"),
    aliases=("bash", "sh", "zsh", "shell-script"),
    fence="bash",
    tests=TestConventions(find=_tests, command=_test_command),
)  # fmt: skip

DEFINITIONS = """
(function_definition name: (word) @name) @definition.function
"""

NAMES = """
["if" "elif" "for" "while" "until" "&&" "||"] @branch
(case_item) @branch
(comment) @comment
(variable_name) @read
(command_name (word) @call)
(variable_assignment name: (variable_name) @write)
(variable_assignment name: (subscript name: (variable_name) @write))
(for_statement variable: (variable_name) @write)
(declaration_command ["local" "declare" "typeset"] (variable_name) @write @local)
(declaration_command ["local" "declare" "typeset"] (variable_assignment name: (variable_name) @write @local))
(command name: (command_name (word) @_source) . argument: (_) @import.path (#any-of? @_source "source" "."))
(command name: (command_name (word) @_load) . argument: (_) @import.load (#eq? @_load "load"))
(variable_assignment) @assignment
(command (variable_assignment) @prefix)
(declaration_command) @declaration
(if_statement) @condition
(elif_clause) @condition
(else_clause) @condition
"""

GRAMMAR = trees.Grammar("tree_sitter_bash", DEFINITIONS, NAMES)

_TEST = re.compile(rb"^([ \t]*)@test[ \t]+(?:([\"'])([^\r\n]*?)\2|([^\s\"'{][^\r\n{]*?))[ \t]*\{", re.M)
_DOCUMENT = re.compile(rb"<<-?[ \t]*[\"'\\]?(\w+)")
_ESCAPED_COMMAND = re.compile(rb"^([ \t]*)\\(\.|source)(?=[ \t])", re.M)
_READONLY = re.compile(rb"\s-\w*r")
_SHOWN = 200


def read(source: Source) -> Draft:
    """Parse one shell script into a `Draft`."""
    if is_unreadable(source):
        draft = Draft(source)
        draft.problem(0, len(source.data), NOT_READ)
        return draft
    plain, tests = _without_tests(_without_escapes(source))
    tree = trees.compile_grammar(GRAMMAR).parser.parse(plain.data)
    if is_too_deep(tree.root_node):
        draft = Draft(source)
        draft.problem(0, len(source.data), TOO_DEEP)
        return draft
    draft, _, captures = trees.read(plain, GRAMMAR, tree)
    draft.source = source
    draft.comments = [span for span in draft.comments if span[0] or not source.data.startswith(b"#!")]
    draft.forget([at for at, end in draft.ends.items() if end == at + 1 and source.data[at] in b".:["])
    for definition in draft.definitions:
        at = definition.at
        if at in tests:
            begin, end = tests[at]
            definition.at, definition.name, definition.modifiers = begin, source.slice(begin, end), ("@test",)
            definition.signature = trees.one_line(source.slice(definition.start, end + 1))
    for node in (*captures.get("import.path", ()), *(captures.get("import.load", ()) if tests else ())):
        draft.add_import(node.start_byte, trees.text(node).strip("\"'"))
    _variables(draft, captures)
    _conditions(draft, captures.get("condition", []))
    draft.build_flow = typed_flow.build_typed_flow
    return draft


def is_unreadable(source: Source) -> bool:
    """True if the grammar would skip most of the file, which takes far too long."""
    return is_unparsable(_without_documents(source.data), GRAMMAR)


def _without_documents(data: bytes) -> bytes:
    """Return the text without the lines of here-documents, whose content may be in any language."""
    if b"<<" not in data:
        return data
    lines = data.split(b"\n")
    last = {line.strip(): number for number, line in enumerate(lines)}
    kept, terminator = [], b""
    for number, line in enumerate(lines):
        if terminator:
            terminator = b"" if line.strip() == terminator else terminator
            continue
        kept.append(line)
        opened = _DOCUMENT.search(line)
        if opened and last.get(opened[1], 0) > number:
            terminator = opened[1]
    return b"\n".join(kept)


def _without_escapes(source: Source) -> Source:
    """Blank the backslash before a command that no alias is to replace (`\\. file`): the grammar joins such a line to
    the one before it."""
    if b"\\." not in source.data and b"\\source" not in source.data:
        return source
    plain = copy.copy(source)
    plain.data = _ESCAPED_COMMAND.sub(rb"\1 \2", source.data)
    return plain


def _without_tests(source: Source) -> tuple[Source, dict[int, tuple[int, int]]]:
    """Replace the head of each bats test by a function head of the same length.

    Return the changed source, and for each test's offset the extent of its description.
    """
    tests: dict[int, tuple[int, int]] = {}
    if b"@test" not in source.data:
        return source, tests

    def head(match: re.Match[bytes]) -> bytes:
        tests[match.end(1)] = match.span(3 if match[2] else 4)
        width = match.end() - match.end(1)
        return match[1] + b"t" * (width - 4) + b"() {"

    plain = copy.copy(source)
    plain.data = _TEST.sub(head, source.data)
    return plain, tests


def _variables(draft: Draft, captures: dict[str, list[Node]]) -> None:
    assignments = sorted(captures.get("assignment", ()), key=lambda n: n.start_byte)
    inside = _innermost_spans(draft, [(d.start, d.end) for d in draft.definitions], [n.start_byte for n in assignments])
    passing = {node.start_byte for node in captures.get("prefix", ())}
    declared: dict[int, Node] = {}
    for node in captures.get("declaration", ()):
        for child in node.named_children:
            if child.type in ("variable_assignment", "variable_name"):
                declared[child.start_byte] = node
    known = {}
    flags: dict[int, tuple[int, bool]] = {}  # how far a declaration was searched for a flag; whether it has one
    for node in assignments:
        name = node.child_by_field_name("name")
        if name is None or name.type != "variable_name" or node.start_byte in passing:
            continue
        if trees.text(name) in known or inside[node.start_byte] >= 0:
            continue
        whole = declared.get(node.start_byte)
        words, readonly = "", False
        if whole is not None:
            words = whole.children[0].type
            reached, flag = flags.get(whole.start_byte, (whole.start_byte, False))
            flag = flag or _READONLY.search(draft.source.data, reached, node.start_byte) is not None
            flags[whole.start_byte] = node.start_byte - 1, flag
            readonly = words == "readonly" or flag
        word = trees.text(name)
        known[word] = draft.define(
            Kind.CONSTANT if readonly or word.isupper() else Kind.VARIABLE, word, name.start_byte,
            whole.start_byte if whole is not None else node.start_byte, node.end_byte,
            signature=_short(draft.source.slice(node.start_byte, min(node.end_byte, node.start_byte + 4 * _SHOWN))),
            modifiers=(words,) if words else (), nests=False,
        )  # fmt: skip
    for at, node in declared.items():  # exported or made readonly after the assignment
        words = node.children[0].type
        end = draft.source.data[at : at + 200].split()[0] if words in ("export", "readonly") else b""
        definition = known.get(end.decode("utf-8", "replace"))
        if definition is not None and words not in definition.modifiers and definition.start < at:
            definition.modifiers = (*definition.modifiers, words)
            definition.kind = Kind.CONSTANT if words == "readonly" else definition.kind


def _short(words: str) -> str:
    first, _, rest = words.strip().partition("\n")
    return first[:_SHOWN].rstrip() + (" …" if rest or len(first) > _SHOWN else "")


def _innermost_spans(draft: Draft, spans: list[tuple[int, int]], starts: list[int]) -> dict[int, int]:
    """Map each start offset to the index of the innermost span around it, or -1."""
    intervals = [(start, end, place) for place, (start, end) in enumerate(spans)]
    intervals.sort(key=lambda interval: (interval[0], -interval[1]))
    starts = sorted(starts)
    places = innermost(starts, [(0, len(draft.source.data) + 1, -1), *intervals])
    return dict(zip(starts, places, strict=True))


def _conditions(draft: Draft, nodes: list[Node]) -> None:
    spans = [(node.start_byte, node.end_byte) for node in nodes]
    around = _innermost_spans(draft, spans, [definition.start for definition in draft.definitions])
    for definition in draft.definitions:
        place = around[definition.start]
        if place < 0:
            continue
        node = nodes[place]
        then = next((child.start_byte for child in node.children if child.type == "then"), node.start_byte)
        words = "else" if node.type == "else_clause" else draft.source.slice(node.start_byte, then)
        definition.condition = trees.one_line(words).rstrip("; ")
