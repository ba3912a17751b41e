"""Which of a file's symbols are tests, by what test runners look for.

In: a file's symbols and imports, its language and path. Out: the places of the tests. Whether the file is one of tests
at all is its category's to say, but in Rust, whose tests stand beside what they test. In JavaScript a test has no name
of its own: there the file is the test.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from concordance.base.model import Category, FileFacts, Kind, Symbol

WHOLE = frozenset(("javascript", "typescript"))  # languages in which a file is a test
_FUNCTIONS = frozenset((Kind.FUNCTION, Kind.METHOD))
_FRAMEWORKS = frozenset(("pytest", "unittest", "hypothesis", "nose"))
_C_MACRO = re.compile(r"(?:[A-Z]+_)*TEST(?:_[A-Z]+)*\s*\(|(?:SCENARIO|SUBCASE)\s*\(")
_GO = re.compile(r"(?:Test|Fuzz|Example)(?![a-z])")
_JAVA = re.compile(r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b")
_RUST = re.compile(r"(?:^|::)(?:test|rstest|test_case|quickcheck|proptest)\b")


def places(facts: FileFacts, language: str, category: str, path: str) -> list[int]:
    """The places of a file's tests."""
    rule = _RULES.get(language)
    if rule is None or (category != Category.TEST and language != "rust"):
        return []
    if language == "python" and not _is_collected(facts, path):
        return [place for place in rule(facts.symbols) if facts.symbols[place].kind == Kind.METHOD]
    return rule(facts.symbols)


def _is_collected(facts: FileFacts, path: str) -> bool:
    """Whether a runner takes functions of a file for tests: `tests.py` may as well be what a package calls tests."""
    name = path.rpartition("/")[2]
    if name.startswith("test_") or name.endswith("_test.py"):
        return True
    return any(one.module.partition(".")[0] in _FRAMEWORKS for one in facts.imports)


def _python(symbols: Sequence[Symbol]) -> list[int]:
    found = []
    for place, symbol in enumerate(symbols):
        is_fixture = any("fixture" in modifier for modifier in symbol.modifiers)
        if symbol.kind in _FUNCTIONS and symbol.name.startswith("test") and not is_fixture:
            around = symbols[symbol.parent] if symbol.parent >= 0 else None
            if around is None or (around.kind == Kind.CLASS and (around.bases or around.name.startswith("Test"))):
                found.append(place)
    return found


def _c(symbols: Sequence[Symbol]) -> list[int]:
    return [n for n, symbol in enumerate(symbols) if symbol.kind == Kind.FUNCTION and _C_MACRO.match(symbol.name)]


def _go(symbols: Sequence[Symbol]) -> list[int]:
    return [n for n, symbol in enumerate(symbols) if symbol.kind in _FUNCTIONS and _GO.match(symbol.name)]


def _java(symbols: Sequence[Symbol]) -> list[int]:
    found = []
    for place, symbol in enumerate(symbols):
        if symbol.kind == Kind.METHOD and symbol.parent >= 0:
            old = symbol.name.startswith("test") and any("TestCase" in base for base in symbols[symbol.parent].bases)
            if old or any(map(_JAVA.match, symbol.modifiers)):
                found.append(place)
    return found


def _rust(symbols: Sequence[Symbol]) -> list[int]:
    return [n for n, s in enumerate(symbols) if s.kind in _FUNCTIONS and any(map(_RUST.search, s.modifiers))]


_RULES = {"python": _python, "c": _c, "cpp": _c, "cuda": _c, "objcpp": _c, "go": _go, "java": _java, "rust": _rust}
