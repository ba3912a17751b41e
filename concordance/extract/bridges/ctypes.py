"""ctypes and cffi: the C functions that Python calls by name; in C++, the functions with C linkage.

A library is the result of `CDLL(…)`, `cdll.LoadLibrary(…)`, `ffi.dlopen(…)` and similar calls, held by a variable,
an attribute or a function that returns it; or `lib`, imported together with `ffi` from a module that cffi generated.
Matches in comments and strings are skipped, because the draft records no names there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.extract.bridges import BridgeEnd
from concordance.extract.cfamily.tokens import Tokens
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = ("python", *C_FAMILY)
WORDS = (b"ctypes", b"cffi", b"cdef", b'extern "C"')
_OPENS = rb"(?:CDLL|PyDLL|WinDLL|OleDLL|LoadLibrary|load_library|dlopen)"
_ASSIGNED_CALL = re.compile(rb"(?m)^[ \t]*([\w.]+)(?:[ \t]*+:[^=\n]++)?+[ \t]*+=[ \t]*(?:\w+\.)*?(\w+)\(([^\n]*)")
_OPENED = re.compile(rb"\b" + _OPENS + rb"\b")
_RETURNED_LIBRARY = re.compile(rb"\breturn[ \t]+(?:\w+\.)*(" + _OPENS + rb")[ \t]*\(")
_TEXT = re.compile(rb"[\"']([^\"'\n]*)[\"']")
_CDEF = re.compile(rb"\.cdef\(\s*[rfbuRFBU]?(\"\"\"|'''|\"|')(.*?)\1", re.S)
_DECLARED = re.compile(rb"\b([A-Za-z_]\w*+)\s*+\([^;{}()]*+(?:\([^;{}()]*+\)[^;{}()]*+)*+\)\s*+;")
_COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*", re.S)
_SYSTEM = re.compile(r"(?:lib)?(?:c|m|dl|rt|pthread|kernel32|user32|ntdll|advapi32|msvcrt|ucrtbase|System)(?:[.-].*)?$")
_DESCRIBES = (b".argtypes", b".restype", b".errcheck")


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the library functions that a Python file uses, or the C++ functions with C linkage."""
    if context.language != "python":
        yield from _plain_names(context)
        return
    libraries = _libraries(context)
    for variable, library in libraries.items():
        yield from _library_calls(context, variable, library)
    for match in _CDEF.finditer(context.data):
        text = _COMMENT.sub(lambda comment: b" " * len(comment[0]), match[2])
        for declared in _DECLARED.finditer(text):
            statement = text[: declared.start()].rpartition(b";")[2]
            if b"typedef" not in statement and b"(" not in statement.rpartition(b"}")[2]:
                name = declared[1].decode()
                yield BridgeEnd(match.start(2) + declared.start(), "declares", name, name, (("library", ""),))


def _libraries(context: RuleContext) -> dict[bytes, str]:
    """Return the names that hold a library, each with the library's file name if that is a literal."""
    data, names = context.data, context.draft.ends
    libraries: dict[bytes, str] = {}
    givers = {}
    for match in _RETURNED_LIBRARY.finditer(data):
        if match.start(1) in names:
            around = [d for d in context.draft.definitions if d.start <= match.start() < d.end and d.kind == "function"]
            if around:
                givers[max(around, key=lambda d: d.start).name.encode()] = _literal(data, match.end())
    for match in _ASSIGNED_CALL.finditer(data):
        if match.start(2) not in names:
            continue
        if _OPENED.fullmatch(match[2]):
            libraries[match[1]] = _literal(data, match.start(3))
        elif match[2] in givers:
            libraries[match[1]] = givers[match[2]]
    bound = context.bound
    for name, full_name in bound.items():
        module, _, last = full_name.rpartition(".")
        if last == "lib" and f"{module}.ffi" in bound.values():
            libraries[name.encode()] = ""
    for row in context.imports:  # a library that another file holds; that file is looked up after all have been read
        variable = (row.alias or row.name).encode()
        if row.name and row.name.lower().strip("_") in ("lib", "dll", "clib") and variable not in libraries:
            libraries[variable] = f"{row.module}:{row.name}"
    return libraries


def _literal(data: bytes, at: int) -> str:
    """Return the file name in a call's first argument; "" if that is not a literal."""
    text = _TEXT.match(data, at)
    return text[1].decode("utf-8", "replace").rpartition("/")[2] if text else ""


def _library_calls(context: RuleContext, variable: bytes, library: str) -> Iterator[BridgeEnd]:
    if _SYSTEM.match(library):
        return
    data, names = context.data, context.draft.ends
    more = (("library", library),)
    if ":" not in library:
        yield BridgeEnd(max(0, data.find(variable)), "library", variable.decode("utf-8", "replace"), library)
    for match in re.finditer(rb"(?<![\w.])" + re.escape(variable) + rb"\.([A-Za-z]\w*)", data):
        if match.start(1) in names:
            says = "declares" if data.startswith(_DESCRIBES, match.end()) else "calls"
            if says == "calls" and not data[match.end() : match.end() + 40].lstrip().startswith(b"("):
                says = "reads"
            yield BridgeEnd(match.start(1), says, match[1].decode(), match[0].decode("utf-8", "replace"), more)
    for match in re.finditer(rb"\bgetattr\(\s*" + re.escape(variable) + rb"\s*,\s*[\"'](\w+)[\"']", data):
        if match.start() in names:
            yield BridgeEnd(match.start(1), "reads", match[1].decode(), match[0].decode("utf-8", "replace"), more)


def _plain_names(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the functions that are declared or defined as `extern "C"`."""
    if context.language == "c" or b'extern "C"' not in context.data:
        return
    tokens = Tokens(context.data)
    spans = []
    for place in range(len(tokens) - 2):
        if tokens.text[place] == "extern" and tokens.text[place + 1] == '"C"':
            end = place + 2
            while end < len(tokens) and tokens.text[end] not in ("{", ";"):
                end += 1
            closed = tokens.partner[end] if end < len(tokens) and tokens.text[end] == "{" else end
            if closed > place and closed < len(tokens):
                spans.append((tokens.at[place], tokens.at[closed]))
    for definition in context.draft.definitions:
        if definition.kind == "function" and any(start <= definition.at < end for start, end in spans):
            yield BridgeEnd(definition.at, "plain", definition.name, definition.name)
