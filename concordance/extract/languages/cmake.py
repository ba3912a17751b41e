"""CMake: functions, macros, targets, options, variables and included files.

The lexer is written by hand and follows CMake's own rules: line and bracket comments; quoted, bracket and unquoted
arguments; command names in any case. A symbol's condition is the innermost `if()` around it. Composed names
(`${prefix}_FLAGS`) are kept as written. A variable set in a function is local to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from concordance.base.model import (
    Category,
    DocMarkup,
    Kind,
    Language,
    Parameter,
    Role,
    VariableAccess,
)
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.reading.trees import one_line
from concordance.extract.text.source_text import Source

_ENVIRONMENT = (
    VariableAccess("sets", rb"\b(?i:set)\s*\(\s*ENV\{(?P<name>\w+)\}\s*[^\s)]"),
    VariableAccess("removes", rb"\b(?i:unset)\s*\(\s*ENV\{(?P<name>\w+)\}"),
    VariableAccess("reads", rb"\$ENV\{(?P<name>\w+)\}"),
    VariableAccess("reads", rb"\b(?:DEFINED|NOT|AND|OR|if\s*\(|elseif\s*\()\s*ENV\{(?P<name>\w+)\}"),
)

LANGUAGE = Language(
    "cmake",
    "CMake",
    unseen="paths and targets in variables",
    extensions=(".cmake", ".cmake.in"),
    filenames=("CMakeLists.txt",),
    category=Category.BUILD,
    doc_markup=DocMarkup.REST,
    environment=_ENVIRONMENT,
    environment_marks=(b"ENV{",),
)

# A token of CMake: a comment, a bracket argument, a quoted or a plain one, a parenthesis
_TOKEN = re.compile(
    rb"(?P<comment>#\[(?P<c>=*)\[.*?(?:\](?P=c)\]|\Z)|#[^\r\n]*)"
    rb"|(?P<bracket>\[(?P<b>=*)\[.*?(?:\](?P=b)\]|\Z))"
    rb'|(?P<quoted>"(?:[^"\\]|\\.)*(?:"|\Z))'
    rb"|(?P<open>\()|(?P<close>\))"
    rb'|(?P<word>(?:[^\s()#"\\]|\\.)(?:[^\s()#"\\]|\\.|"[^"\r\n]*")*)',
    re.S,
)
_COMMAND = re.compile(rb"[A-Za-z_]\w*\Z")
_LINE_COMMAND = re.compile(rb"[ \t]*[a-z_]\w*[ \t]*\(")
_USE = re.compile(rb"(?<!\\)\$\{([\w./+-]+)\}")
_NAME = re.compile(rb"[A-Za-z_][\w.+-]*\Z")
_LIBRARY = re.compile(rb"[A-Za-z_][\w.+-]*(?:::[\w.+-]+)*\Z")
_FLOW = frozenset(
    (
        "if",
        "elseif",
        "else",
        "endif",
        "foreach",
        "endforeach",
        "while",
        "endwhile",
        "function",
        "endfunction",
        "macro",
        "endmacro",
        "block",
        "endblock",
        "break",
        "continue",
        "return",
    )
)
_TESTS = frozenset(
    b"NOT AND OR COMMAND POLICY TARGET TEST EXISTS IS_NEWER_THAN IS_DIRECTORY IS_SYMLINK IS_ABSOLUTE MATCHES LESS "
    b"GREATER EQUAL LESS_EQUAL GREATER_EQUAL STRLESS STRGREATER STREQUAL STRLESS_EQUAL STRGREATER_EQUAL "
    b"VERSION_LESS VERSION_GREATER VERSION_EQUAL VERSION_LESS_EQUAL VERSION_GREATER_EQUAL IN_LIST DEFINED "
    b"PATH_EQUAL ON OFF TRUE FALSE YES NO Y N IGNORE NOTFOUND".split()
)
_LINKING = frozenset(
    b"PUBLIC PRIVATE INTERFACE LINK_PUBLIC LINK_PRIVATE LINK_INTERFACE_LIBRARIES debug optimized general".split()
)
_IMPORTS = frozenset(("include", "add_subdirectory", "find_package", "configure_file"))
_TARGETS = frozenset(("add_library", "add_executable", "add_custom_target"))
_TARGET_WORDS = frozenset(
    (
        "STATIC",
        "SHARED",
        "MODULE",
        "OBJECT",
        "INTERFACE",
        "IMPORTED",
        "ALIAS",
        "EXCLUDE_FROM_ALL",
        "GLOBAL",
        "WIN32",
        "MACOSX_BUNDLE",
        "ALL",
    )
)
# Subcommands of `list` that only read.
_READING_SUBCOMMANDS = frozenset((b"LENGTH", b"GET", b"JOIN", b"SUBLIST", b"FIND"))
_SHOWN = 200


class Argument(NamedTuple):
    """One argument of a command; its extent excludes quotes and brackets."""

    start: int
    end: int
    form: str  # "word", "quoted", "bracket"


@dataclass(slots=True)
class Command:
    """One command; its arguments are in one flat list, including those in inner parentheses."""

    name: str
    start: int
    end: int = 0
    arguments: list[Argument] = field(default_factory=list)


def read(source: Source) -> Draft:
    """Parse one CMake file into a `Draft`."""
    draft = Draft(source)
    commands, closed = _commands(draft, resume=False)
    if not closed:
        draft.comments.clear()
        draft.findings.clear()
        commands, _ = _commands(draft, resume=True)
    reading = _Reading(draft)
    for command in commands:
        reading.command(command)
    reading.finish(len(source.data))
    return draft


def _commands(draft: Draft, resume: bool) -> tuple[list[Command], bool]:
    """Return all commands, and whether every one is closed.

    A second run with `resume`, for files in which a command is never closed, starts over at each line that looks
    like a command.
    """
    data = draft.source.data
    commands: list[Command] = []
    word: re.Match[bytes] | None = None  # possibly a command's name
    depth = 0
    for match in _TOKEN.finditer(data):
        kind = match.lastgroup or ""
        if kind == "comment":
            draft.comments.append(match.span())
        elif depth and resume and kind == "word" and _starts_line(data, match.start()):
            _unclosed(draft, commands[-1], match.start())
            depth, word = 0, match
        elif depth == 0:
            if kind == "open" and word is not None:
                commands.append(Command(word[0].decode().lower(), word.start()))
                depth, word = 1, None
                continue
            if word is not None or kind != "word":
                at = word or match
                excerpt = one_line(at[0][:60].decode("utf-8", "replace"))
                draft.problem(at.start(), at.end(), f"syntax error at `{excerpt}`")
            word = match if kind == "word" and _COMMAND.match(match[0]) else None
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
            commands[-1].end = match.end()
        else:
            commands[-1].arguments.append(_argument(match, kind))
    if depth:
        _unclosed(draft, commands[-1], len(data))
    return commands, depth == 0


def _starts_line(data: bytes, at: int) -> bool:
    line = max(data.rfind(b"\n", 0, at), data.rfind(b"\r", 0, at)) + 1
    return not data[line:at].strip() and _LINE_COMMAND.match(data, line) is not None


def _unclosed(draft: Draft, command: Command, at: int) -> None:
    command.end = command.arguments[-1].end if command.arguments else min(at, command.start + len(command.name))
    draft.problem(command.start, command.end, f"syntax error: `{command.name}` is not closed")


def _without_comment(match: re.Match[bytes]) -> bytes:
    return b"" if match.lastgroup == "comment" else match[0]


def _argument(match: re.Match[bytes], kind: str) -> Argument:
    start, end = match.span()
    if kind == "quoted":
        return Argument(start + 1, max(start + 1, end - match[0][1:].endswith(b'"')), kind)
    if kind == "bracket":
        width = len(match["b"]) + 2
        return Argument(start + width, max(start + width, end - width), kind)
    return Argument(start, end, kind)


@dataclass(slots=True)
class _Reading:
    draft: Draft
    conditions: list[str] = field(default_factory=list)
    open: list[Definition] = field(default_factory=list)  # functions and macros that are not closed yet

    def command(self, command: Command) -> None:
        name, start = command.name, command.start
        reader: Callable[[Command], None] | None = None
        if name in ("function", "macro"):
            reader = self._function
        elif name in _TARGETS:
            reader = self._target
        elif name in ("option", "cmake_dependent_option", "set", "project"):
            reader = self._setting
        elif name in _IMPORTS:
            reader = self._import
        if name not in _FLOW:
            self.draft.add_names([(start, start + len(name))], Role.CALL)
        self._uses(command)
        if reader is not None and command.arguments:
            reader(command)
        elif name in ("endfunction", "endmacro") and self.open:
            self.open.pop().end = command.end
        elif name in _FLOW:
            self._flow(command)

    def finish(self, end: int) -> None:
        """End functions and macros that are still open, and report them."""
        for definition in self.open:
            definition.end = end
            self.draft.problem(definition.start, definition.at, "syntax error: its end is missing")

    def _text(self, argument: Argument) -> str:
        return self.draft.source.slice(argument.start, argument.end)

    def _raw(self, argument: Argument) -> bytes:
        return self.draft.source.data[argument.start : argument.end]

    def _signature(self, command: Command) -> str:
        raw = self.draft.source.data[command.start : min(command.end, command.start + 4 * _SHOWN)]
        words = one_line(_TOKEN.sub(_without_comment, raw).decode("utf-8", "replace"))
        return words if len(words) <= _SHOWN else words[:_SHOWN] + " …"

    def _condition(self) -> str:
        return self.conditions[-1] if self.conditions else ""

    def _define(self, kind: Kind, command: Command, **details: object) -> Definition | None:
        first = command.arguments[0]
        if first.end <= first.start:
            return None
        return self.draft.define(
            kind, self._text(first), first.start, command.start, command.end, signature=self._signature(command),
            condition=self._condition(), **details,
        )  # fmt: skip

    def _function(self, command: Command) -> None:
        _, *rest = command.arguments
        parameters = tuple(Parameter(self._text(argument), "") for argument in rest)
        kind = Kind.FUNCTION if command.name == "function" else Kind.MACRO
        definition = self._define(kind, command, parameters=parameters)
        if definition is not None:
            self.open.append(definition)
            self.draft.add_names(((a.start, a.end) for a in rest), Role.WRITE)
            if kind == Kind.FUNCTION:
                self.draft.bound.update(a.start for a in rest)

    def _target(self, command: Command) -> None:
        words = [self._text(argument) for argument in command.arguments[1:]]
        modifiers = tuple(word for word in words[:4] if word in _TARGET_WORDS)
        bases = tuple(words[1:2]) if words[:1] == ["ALIAS"] else ()
        self._define(Kind.TARGET, command, modifiers=modifiers, bases=bases)
        if bases:
            aliased = command.arguments[2]
            self.draft.add_names([(aliased.start, aliased.end)], Role.READ)

    def _setting(self, command: Command) -> None:
        first, *rest = command.arguments
        words = [self._text(argument) for argument in rest]
        if command.name == "project":
            self._define(Kind.NAMESPACE, command, nests=False)
        elif command.name in ("option", "cmake_dependent_option"):
            self._define(Kind.VARIABLE, command, modifiers=("option",), doc=one_line(words[0]) if words else "")
        elif self._raw(first).startswith(b"ENV{"):
            return
        elif "CACHE" in words:
            at = words.index("CACHE")
            doc = words[at + 2] if len(words) > at + 2 else ""
            self._define(Kind.VARIABLE, command, modifiers=tuple(words[at : at + 2]), doc=one_line(doc))
        elif any(definition.kind == Kind.FUNCTION for definition in self.open):
            self.draft.add_names([(first.start, first.end)], Role.WRITE)
            if "PARENT_SCOPE" not in words:
                self.draft.bound.add(first.start)
        else:
            self._define(Kind.VARIABLE, command)

    def _import(self, command: Command) -> None:
        first = command.arguments[0]
        if first.end > first.start:
            self.draft.add_import(first.start, self._text(first), condition=self._condition(), form=command.name)

    def _flow(self, command: Command) -> None:
        name, arguments = command.name, command.arguments
        if name in ("if", "elseif", "while"):
            words = [a for a in arguments if a.form == "word" and _NAME.match(self._raw(a))]
            self.draft.add_names(((a.start, a.end) for a in words if self._raw(a) not in _TESTS), Role.READ)
        if name == "if":
            self.conditions.append(self._signature(command))
        elif name == "elseif" and self.conditions:
            self.conditions[-1] = self._signature(command)
        elif name == "else" and self.conditions:
            self.conditions[-1] = f"else of {self.conditions[-1].removeprefix('else of ')}"
        elif name == "endif" and self.conditions:
            self.conditions.pop()
        elif name == "foreach" and arguments:
            self.draft.add_names([(arguments[0].start, arguments[0].end)], Role.WRITE)
            self.draft.bound.add(arguments[0].start)

    def _uses(self, command: Command) -> None:
        data, name, arguments = self.draft.source.data, command.name, command.arguments
        for argument in arguments:
            if argument.form != "bracket":
                self.draft.add_names((m.span(1) for m in _USE.finditer(data, argument.start, argument.end)), Role.READ)
        if name in ("target_link_libraries", "add_dependencies"):
            named = arguments
        elif name.startswith("target_") or name == "set_target_properties":
            named = arguments[:1]
        elif (name == "list" and len(arguments) > 1) or (name == "unset" and arguments):
            written = arguments[1 if name == "list" else 0]
            role = Role.READ if self._raw(arguments[0]) in _READING_SUBCOMMANDS else Role.WRITE
            if _NAME.match(self._raw(written)):
                self.draft.add_names([(written.start, written.end)], role)
            return
        else:
            return
        words = [a for a in named if _LIBRARY.match(self._raw(a)) and self._raw(a) not in _LINKING]
        self.draft.add_names(((a.start, a.end) for a in words), Role.READ)
