"""Error messages: the lines that raise, throw, check or warn with a text.

In: a file of a programming language. Out: an end for each such call, whose `text` is the message with a placeholder
for each inserted value (`expected … but got …`) and whose `name` is what is raised or called. These ends are not
joined with a symbol: `query/search/error_messages.py` uses them to find the line that produces a given message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from concordance.base.kinds import C_FAMILY
from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import SCRIPTS, RuleContext, arguments
from concordance.extract.text.message_templates import (
    LONGEST,
    PLACEHOLDER,
    insert_placeholders,
    join_lines,
    read_message,
    unescape,
)

LANGUAGES = (*C_FAMILY, *SCRIPTS, "python", "cython", "rust", "go", "java", "cmake")
WORDS = (
    b"rror", b"ERROR", b"throw", b"CHECK", b"ASSERT", b"ssert", b"raise", b"panic", b"ENFORCE", b"arn", b"WARN",
    b"stderr", b"Stderr", b"eprint", b"FATAL", b"atal", b"ail", b"abort", b"die", b"nsure", b"xpect", b"xception",
    b"PyErr", b"_err", b"Err(", b"REQUIRE", b"with_context",
)  # fmt: skip
_SHOUTED = rb"(?:CHECK|ENFORCE|ASSERT|REQUIRE|VERIFY|WARN|ERROR|FATAL|THROW|FAIL|PANIC|BUG|LOG)"
# Each pattern begins with a fixed word and is only searched if the file contains that word: matching a whole name at
# every letter of a large file costs more than parsing it. Letters before the match belong to the name.
_C = (
    (b"", re.compile(_SHOUTED + rb"\w{0,80}\s*+[({]")),
    (b"throw", re.compile(rb"throw\s++(?:new\s++)?[\w:]++(?:<[^;(){}]{0,300}>)?\s*+[({]")),
    (b"PyErr_", re.compile(rb"PyErr_(?:SetString|Format|WarnEx|WarnFormat)\s*\(")),
    (b"rror", re.compile(rb"rror\w{0,80}\s*+[({]")),
    (b"THPUtils_", re.compile(rb"THPUtils_(?:assert|invalidArguments)\w{0,80}\s*+\(")),
    (b"_err", re.compile(rb"_err(?:_\w{1,80})?\s*+\(")),
    (b"stderr", re.compile(rb"fprintf\s*+\((?=\s*+stderr\b)")),
    (b"_warn", re.compile(rb"_warn(?:ing)?(?:_\w{1,80})?\s*+\(")),
    *((word, re.compile(word + rb"\s*\(")) for word in (b"fatal", b"panic", b"die", b"errx", b"warnx", b"assert")),
)
# Macros and methods that fail with a message: `panic!(`, `.expect(`, `MyError::Invalid(`
_RUST = re.compile(
    rb"\b(?P<called>(?:panic|bail|ensure|anyhow|unreachable|unimplemented|todo|(?:debug_)?assert(?:_eq|_ne)?|eyre|error|warn"
    rb"|compile_error|eprintln|eprint|(?:\w+_)?err)!|expect|context|Err"
    rb"|(?:with_context|chain_err(?:or)?|map_err)\s*\(\s*\|[^|\n]{0,80}\|\s*(?:\{\s*)?(?:\w+\(\s*)?(?:format!)?"
    rb"|[A-Z]\w*Error::\w+|[A-Z]\w*Error)\s*(?P<open>[(\[{])"
)
# `errors.New(`, `t.Fatalf(`, `panic(`
_GO = re.compile(
    rb"\b(?P<called>errors\.(?:New|Errorf|Wrapf?|WithMessagef?)|\w+\.(?:Errorf?|Fatalf?|Fatalln|Panicf?|Warnf?|Warningf?)"
    rb"|panic|\w*[eE]rrorf|fmt\.Fprint(?:f|ln)?(?=\(os\.Stderr\b))(?P<open>\()"
)
# `throw new Error(`, `console.warn(`, `log.error(`
_ECMA = re.compile(
    rb"\b(?:throw\s+(?:new\s+)?(?P<thrown>[\w.]+)|(?P<called>new\s+\w*Error|console\.(?:error|warn)|invariant|assert(?:\.\w+)?"
    rb"|reject)|\.(?P<verb>error|fail|fatal|warn))\s*(?P<open>\()"
)
# `throw new IllegalStateException(`, `checkArgument(`, `log.warn(`
_JAVA = re.compile(
    rb"\b(?:throw\s+new\s+(?P<thrown>[\w.]+)(?:<[^>]*>)?|(?P<called>(?:check(?:Argument|State|NotNull)|require\w*|fail"
    rb"|new\s+\w*(?:Exception|Error)))|\.(?P<verb>error|warn|severe|fatal))\s*(?P<open>\()"
)
# `message(FATAL_ERROR `
_CMAKE = re.compile(rb"\b(?P<called>(?i:message)\s*\(\s*(?:FATAL_ERROR|SEND_ERROR|WARNING|AUTHOR_WARNING))(?P<open>\s)")
_PATTERNS = {
    **dict.fromkeys(SCRIPTS, _ECMA), "rust": _RUST, "go": _GO, "java": _JAVA,
    "cmake": _CMAKE,
}  # fmt: skip
_PYTHON = (
    (b"raise", re.compile(rb"raise\s+[A-Za-z_][\w.]*\s*\(")),
    (b"assert", re.compile(rb"assert(?=[\s(])")),
    (b"warn", re.compile(rb"warn(?:ing|_once|_explicit)?\s*\(")),
    *((word, re.compile(word + rb"\s*\(")) for word in (b"error", b"fail", b"fatal", b"critical", b"exception")),
)  # fmt: skip
_TEXTS = frozenset(("comment", "string_content", "string_literal", "raw_string_literal", "line_comment",
                    "block_comment", "template_string", "string_fragment", "string"))  # fmt: skip
_TRANSLATE = frozenset(("_", "gettext", "gettext_lazy", "ugettext", "ngettext", "ngettext_lazy", "pgettext", "N_",
                        "dedent", "textwrap.dedent", "str", "cleandoc", "inspect.cleandoc"))  # fmt: skip
_QUOTE = re.compile(r"(?s)[rbufRBUF]*(\"\"\"|'''|\"|')(.*)\1\Z")
_BACK = 3000  # bytes before a call in which an assignment to the variable with its message is searched


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield every message of a file."""
    if context.language in ("python", "cython"):
        messages = _python(context) if context.draft.root is not None else iter(())
    elif context.language in C_FAMILY:
        messages = _of_c(context)
    else:
        messages = _call_messages(context, _PATTERNS[context.language])
    for at, name, message in messages:
        cut = (("cut", "yes"),) if len(message) > LONGEST else ()
        yield BridgeEnd(at, "raises", name, message[:LONGEST], cut)


def _call_messages(context: RuleContext, pattern: re.Pattern[bytes]) -> Iterator[tuple[int, str, str]]:
    """Yield messages of calls in languages with C-like brackets; a call inside another call is part of that one."""
    until = 0
    singles = context.language in SCRIPTS
    for match in pattern.finditer(context.data):
        start = match.end()
        message, end = read_message(context.data, start, False, singles) if match.start() >= until else ("", until)
        until = end if message else until  # `Err(anyhow!("…"))`: the inner call has the message
        if message and not _is_text(context, match.start()):
            groups = match.groupdict()
            name = groups.get("thrown") or groups.get("called") or groups.get("verb") or b""
            yield match.start(), " ".join(name.decode("utf-8", "replace").split()), message


def _of_c(context: RuleContext) -> Iterator[tuple[int, str, str]]:
    """Yield messages of calls, macros and throw expressions in the C family."""
    data = context.data
    spans = {match.end(): match.start() for word, pattern in _C if word in data for match in pattern.finditer(data)}
    until = 0
    for opened, start in sorted(spans.items()):
        while start and (data[start - 1 : start].isalnum() or data[start - 1 : start] == b"_"):
            start -= 1  # noqa: PLW2901
        if start < until:
            continue
        message, until = read_message(data, opened, streams=True)
        if message and not _is_text(context, start) and not _is_defined(context, start):
            written = data[start : opened - 1].decode("utf-8", "replace")
            yield start, " ".join(written.removeprefix("throw").split()).removeprefix("new "), message


def _is_text(context: RuleContext, at: int) -> bool:
    return context.in_comment(at) or any(node.type in _TEXTS for node in context.path(at)[-2:])


def _is_defined(context: RuleContext, at: int) -> bool:
    """True if a preprocessor directive on this line defines the name, so that it is not called."""
    line = context.data.rfind(b"\n", 0, at) + 1
    return context.data[line:at].lstrip().startswith((b"#define", b"#include", b"# define"))


def _python(context: RuleContext) -> Iterator[tuple[int, str, str]]:
    for word, pattern in _PYTHON:
        for match in pattern.finditer(context.data) if word in context.data else ():
            asserts = word == b"assert"
            path = context.path(match.start() if asserts else match.end() - 1)
            if any(node.type in ("string_content", "string", "comment") for node in path[-2:]):
                continue
            wanted = "assert_statement" if asserts else "call"
            node = next((ancestor for ancestor in reversed(path) if ancestor.type == wanted), None)
            if node is None or (asserts and node.start_byte != match.start()):
                continue
            message = _of_arguments(context, node.named_children[1:2] if asserts else arguments(node))
            if message:
                function = node.child_by_field_name("function")
                yield match.start(), "assert" if asserts else context.short(function), message


def _of_arguments(context: RuleContext, values: list[Node]) -> str:
    """Return the message in the first argument that has one."""
    for value in values[:3]:
        inner = value.child_by_field_name("value") if value.type == "keyword_argument" else value
        if inner is None:
            continue
        assigned = _assigned_value(context, inner) if inner.type == "identifier" else None
        message = join_lines(_string_parts(context, assigned or inner))
        if message:
            return message
    return ""


def _assigned_value(context: RuleContext, name: Node) -> Node | None:
    """Return the expression that was last assigned to a variable before its use."""
    start = max(0, name.start_byte - _BACK)
    word = re.escape(context.data[name.start_byte : name.end_byte])
    given = re.compile(rb"^[ \t]*%s[ \t]*=[ \t]*(?=[(\"'frbFRB_])" % word, re.M)
    last = None
    for match in given.finditer(context.data, start, name.start_byte):
        last = match
    if last is None:
        return None
    node = next((ancestor for ancestor in reversed(context.path(last.end())) if ancestor.type == "assignment"), None)
    return node.child_by_field_name("right") if node is not None else None


def _string_parts(context: RuleContext, node: Node, depth: int = 0) -> Iterator[str]:
    """Yield the parts of a Python expression that makes a string."""
    kind = node.type
    if kind == "string":
        yield from _string(context, node)
    elif depth > 60:
        yield PLACEHOLDER
    elif kind in ("concatenated_string", "parenthesized_expression"):
        for child in node.named_children:
            if child.type != "comment":
                yield from _string_parts(context, child, depth + 1)
    elif kind == "binary_operator":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if left is not None:
            yield from _string_parts(context, left, depth + 1)
        if right is not None and sign is not None and sign.type == "+":
            yield from _string_parts(context, right, depth + 1)
    elif kind == "call":
        yield from _of_call(context, node, depth)
    else:
        yield PLACEHOLDER


def _of_call(context: RuleContext, node: Node, depth: int) -> Iterator[str]:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "attribute" and context.text(function).endswith((".format", ".strip")):
        receiver = function.child_by_field_name("object")
        if receiver is not None:
            yield from _string_parts(context, receiver, depth + 1)
            return
    if function is not None and context.text(function) in _TRANSLATE and arguments(node):
        yield from _string_parts(context, arguments(node)[0], depth + 1)
    else:
        yield PLACEHOLDER


def _string(context: RuleContext, node: Node) -> Iterator[str]:
    """Yield a literal's text, with a placeholder for each interpolated value."""
    inside = [child for child in node.named_children if child.type == "interpolation"]
    text, at = "", node.start_byte
    for child in inside:
        text += context.source.slice(at, child.start_byte) + PLACEHOLDER
        at = child.end_byte
    text += context.source.slice(at, node.end_byte)
    written = _QUOTE.fullmatch(text)
    if written is not None:
        yield insert_placeholders(unescape(written[2]) if not text[:2].lower().startswith("r") else written[2])
