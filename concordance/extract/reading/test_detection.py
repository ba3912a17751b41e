"""Finds the tests among a file's symbols, by the rules that test runners use.

In: a file's symbols and imports, its language, category and path. Out: the indices of the tests. Only files of category
"test" have tests, except in Rust, where tests are in the same file as what they test. In JavaScript and TypeScript
tests have no names of their own, so the whole file counts as the test.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import Category, FileFacts, Kind, Symbol

WHOLE_FILE_LANGUAGES = frozenset(("javascript", "typescript"))  # languages in which the whole file is a test
_FRAMEWORKS = frozenset(("pytest", "unittest", "hypothesis", "nose"))
_C_MACRO = re.compile(r"(?:[A-Z]+_)*TEST(?:_[A-Z]+)*\s*\(|(?:SCENARIO|SUBCASE)\s*\(")
_GO = re.compile(r"(?:Test|Fuzz|Example)(?![a-z])")
_JAVA = re.compile(r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b")
_RUST = re.compile(r"(?:^|::)(?:test|rstest|test_case|quickcheck|proptest)\b")


def find_tests(facts: FileFacts, language: str, category: str, path: str) -> list[int]:
    """Return the indices of the symbols that are tests."""
    rule = _RULES.get(language)
    if rule is None or (category != Category.TEST and language != "rust"):
        return []
    if language == "python" and not _is_collected(facts, path):
        return [place for place in rule(facts.symbols) if facts.symbols[place].kind == Kind.METHOD]
    return rule(facts.symbols)


def _is_collected(facts: FileFacts, path: str) -> bool:
    """True if a test runner collects functions of this file; a `tests.py` may also be ordinary code about tests."""
    name = path.rpartition("/")[2]
    if name.startswith("test_") or name.endswith("_test.py"):
        return True
    return any(one.module.partition(".")[0] in _FRAMEWORKS for one in facts.imports)


def _python(symbols: Sequence[Symbol]) -> list[int]:
    found = []
    for place, symbol in enumerate(symbols):
        is_fixture = any("fixture" in modifier for modifier in symbol.modifiers)
        if symbol.kind in FUNCTION_KINDS and symbol.name.startswith("test") and not is_fixture:
            around = symbols[symbol.parent] if symbol.parent >= 0 else None
            if around is None or (around.kind == Kind.CLASS and (around.bases or around.name.startswith("Test"))):
                found.append(place)
    return found


def _c(symbols: Sequence[Symbol]) -> list[int]:
    return [n for n, symbol in enumerate(symbols) if symbol.kind == Kind.FUNCTION and _C_MACRO.match(symbol.name)]


def _go(symbols: Sequence[Symbol]) -> list[int]:
    return [n for n, symbol in enumerate(symbols) if symbol.kind in FUNCTION_KINDS and _GO.match(symbol.name)]


def _java(symbols: Sequence[Symbol]) -> list[int]:
    found = []
    for place, symbol in enumerate(symbols):
        if symbol.kind == Kind.METHOD and symbol.parent >= 0:
            old = symbol.name.startswith("test") and any("TestCase" in base for base in symbols[symbol.parent].bases)
            if old or any(map(_JAVA.match, symbol.modifiers)):
                found.append(place)
    return found


def _rust(symbols: Sequence[Symbol]) -> list[int]:
    return [n for n, s in enumerate(symbols) if s.kind in FUNCTION_KINDS and any(map(_RUST.search, s.modifiers))]


_RULES = {"python": _python, "c": _c, "cpp": _c, "cuda": _c, "objcpp": _c, "go": _go, "java": _java, "rust": _rust}
