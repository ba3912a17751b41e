"""Patterns of shell scripts, JavaScript, TypeScript, Go, Rust and Java, one small function each.

In: a `PatternFile`. Out: the places that show each pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from concordance.base.model import Kind
from concordance.query.sections.patterns.file_view import PatternFile, PatternPlace

_Find = Callable[[PatternFile], Iterator[PatternPlace]]


def _text(pattern: str, *words: str, hashed: bool = False) -> _Find:
    """Return a finder for lines that contain one of the given words and match a pattern from their beginning."""
    wanted = re.compile(pattern, re.M)

    def find(seen: PatternFile) -> Iterator[PatternPlace]:
        for line, match in seen.found(wanted, seen.hashed if hashed else seen.slashed, *words):
            if not seen.lines[line - 1].lstrip().startswith(("//", "*")):
                yield PatternPlace(line, -1, match[1] if match.re.groups and match[1] else match[0].strip())

    return find


def _modified(pattern: str, *kinds: str) -> _Find:
    """Return a finder for symbols that have a modifier, optionally of certain kinds only."""
    wanted = re.compile(pattern)

    def find(seen: PatternFile) -> Iterator[PatternPlace]:
        for place, symbol in enumerate(seen.symbols):
            if (not kinds or symbol.kind in kinds) and any(map(wanted.search, symbol.modifiers)):
                yield seen.shown(place)

    return find


def _of_kind(*kinds: str) -> _Find:
    def find(seen: PatternFile) -> Iterator[PatternPlace]:
        return (seen.shown(n) for n, s in enumerate(seen.symbols) if s.kind in kinds and not s.declaration)

    return find


def _asynchronous(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.functions:
        if "async" in symbol.modifiers or re.match(
            r"(?:export\s+|default\s+|static\s+|pub(?:\([^)]*\))?\s+)*async\b", symbol.signature
        ):
            yield seen.shown(place)


def _errors(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.classes:
        base = next((base for base in symbol.bases if re.search(r"(?:Error|Exception)$", base)), "")
        if base:
            yield seen.shown(place, f"extends {base}")


def _go_init(seen: PatternFile) -> Iterator[PatternPlace]:
    return (seen.shown(place) for place, symbol in seen.functions if symbol.name == "init" and symbol.parent < 0)


def _builders(seen: PatternFile) -> Iterator[PatternPlace]:
    return (seen.shown(place) for place, symbol in seen.classes if symbol.name.endswith("Builder"))


_SHELL: tuple[tuple[str, _Find], ...] = (
    ("Stops at the first error",
     _text(r"^[ \t]*set[ \t]++(-(?=[a-z]*e)[a-z]++(?:[ \t]+(?:-o[ \t]+)?pipefail)?)\b", "set ", hashed=True)),
    ("Cleans up on exit",
     _text(r"^[ \t]*trap[ \t]++(.+?)(?<![ \t])[ \t]++(?:EXIT|0|ERR|INT|TERM)\b", "trap ", hashed=True)),
    ("Options", _text(r"^[ \t]*while[ \t]+(getopts\b[^;\n]*)", "getopts", hashed=True)),
    ("Variable defaults", _text(r"^[ \t]*:[ \t]+\"?\$\{(\w+):?=", "${", hashed=True)),
    ("Here document", _text(r"[^#\n]*?<<-?[ \t]*[\"']?([A-Z_]+)[\"']?[ \t]*(?:>.*)?$", "<<", hashed=True)),
)  # fmt: skip
_ECMA: tuple[tuple[str, _Find], ...] = (
    ("Default export",
     _text(r"^export[ \t]+default[ \t]+(?:async[ \t]+)?(?:function|class)?[ \t]*(\w*)", "\nexport default")),
    ("Interfaces", _of_kind(Kind.INTERFACE)), ("Asynchronous functions", _asynchronous), ("Custom errors", _errors),
    ("React hooks", _text(r"^[ \t]*(?:const|let)[ \t].*=[ \t]*(use[A-Z]\w*)[(<]", "= use")),
    ("Generator", _text(r"^[ \t]*(?:export[ \t]+)?function\*[ \t]*(\w+)", "function*")),
    ("Test suite", _text(r"^[ \t]*(?:describe|suite)(?:\.\w+)?\([ \t]*[\"'`]([^\"'`\n]+)", "describe", "suite")),
)  # fmt: skip
_GO: tuple[tuple[str, _Find], ...] = (
    ("Interfaces", _of_kind(Kind.INTERFACE)), ("Runs on load", _go_init),
    ("Goroutines", _text(r"^[ \t]*go[ \t]+(func\b|[\w.]+)\(?", "go ")),
    ("Deferred calls", _text(r"^[ \t]*defer[ \t]+([\w.]+)\(", "defer ")),
    ("Channels", _text(r"[^\n]*?\bmake\((chan[ \t][^,)]{1,400})", "make(chan")),
    ("Locks", _text(r"^[ \t]*(\w+)[ \t]+sync\.(?:RW)?Mutex\b", "Mutex")),
    ("Once", _text(r"^[ \t]*(?:var[ \t]+)?(\w+)[ \t]+sync\.Once\b", "sync.Once")),
    ("Table of test cases",
     _text(r"^[ \t]*(?:for[ \t].*range[ \t]++)?(\w++)[ \t]*:=[ \t]*\[\]struct[ \t]*\{", "[]struct")),
)  # fmt: skip
_RUST: tuple[tuple[str, _Find], ...] = (
    ("Traits", _of_kind(Kind.INTERFACE)),
    ("Trait implementation",
     _text(r"^[ \t]*(?:unsafe[ \t]+)?impl(?:<[^{\n]{0,400}?>)?[ \t]++"
           r"([\w:<>, ]{1,400}?(?<! )[ \t]++for[ \t]++[\w:<>']+)", "impl")),
    ("Derived traits", _text(r"^[ \t]*#\[derive\(([^)\n]+)\)\]", "#[derive(")), ("Macros", _of_kind(Kind.MACRO)),
    ("Unsafe code", _text(r"^[^/\n\"]*\bunsafe[ \t]+(\{|fn[ \t]+\w+|impl\b)", "unsafe ")),
    ("Asynchronous functions", _asynchronous),
    ("Conditional compilation", _text(r"^[ \t]*#!?\[cfg\(((?!test\))[^\]\n]+)\)\]", "[cfg(")),
    ("Tests beside the code", _text(r"^[ \t]*#\[cfg\((test)\)\]", "cfg(test)")),
)  # fmt: skip
_JAVA: tuple[tuple[str, _Find], ...] = (
    ("Interfaces", _of_kind(Kind.INTERFACE)), ("Abstract class", _modified(r"^abstract$", Kind.CLASS)),
    ("Builder", _builders),
    ("Custom exceptions", _errors), ("Overrides", _modified(r"^@Override\b")),
    ("Native methods", _modified(r"^native$")),
    ("Synchronised", _modified(r"^synchronized$")),
    ("Parametrised tests", _modified(r"^@ParameterizedTest\b")),
)  # fmt: skip
TABLES = {"shell": _SHELL, "javascript": _ECMA, "typescript": _ECMA, "go": _GO, "rust": _RUST, "java": _JAVA}
