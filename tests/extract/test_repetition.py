"""Files that repeat one token are read in linear time, and the ledger says what was not read."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from concordance.base.model import FileFacts
from concordance.extract import engine
from concordance.extract.text import highlight
from concordance.extract.text.repetition import without_repetition
from tests.support.repetition import TOKENS, content

CODE = (
    "c",
    "cpp",
    "cuda",
    "objc",
    "objcpp",
    "javascript",
    "typescript",
    "java",
    "go",
    "rust",
    "python",
    "starlark",
    "proto",
)
# Each took seconds at this size, in some grammar or in a reader of ours, before repetition was taken out.
SLOW = ("->", "-->", "'", "/* ", "<>", "x => ", "#if x\n", '{ "', "é")


@pytest.mark.parametrize("token", TOKENS)
def test_a_repeated_token_is_blanked(token: str) -> None:
    text = content(token, 16)
    left, stretches = without_repetition(text)
    assert len(left) == len(text)
    assert [(at, sign) for at, sign in enumerate(left) if sign in "\r\n"] == [
        (at, sign) for at, sign in enumerate(text) if sign in "\r\n"
    ]
    assert bool(stretches) is (not token[:500].isspace())
    assert sum(not sign.isspace() for sign in left) <= 2 * (16 + len(token.strip()))


def test_a_combination_of_tokens_is_blanked() -> None:
    for count in (2, 5, 20, 60, 150):
        tokens = [token for token in TOKENS if len(token) < 20]
        text = content("".join(tokens[:: len(tokens) // count]), 64)
        assert sum(not sign.isspace() for sign in without_repetition(text)[0]) < 1000


def test_what_people_write_stays() -> None:
    for path in Path(engine.__file__).parent.rglob("*.py"):
        text = path.read_text()
        assert without_repetition(text) == (text, [])
    table = ", ".join(str(number * number) for number in range(5000))
    assert without_repetition(table) == (table, [])


@pytest.mark.parametrize("language", CODE)
def test_reading_is_linear(language: str) -> None:
    """Counts calls, not seconds; the work inside a call is bounded by processor time, with a wide margin."""
    for token in SLOW:
        small, large = _read(content(token, 16), language), _read(content(token, 64), language)
        assert large[0] < 5 * small[0] + 500, token
        assert any("not read" in finding.message for finding in large[1].findings), token


def _read(text: str, language: str) -> tuple[int, FileFacts]:
    """Return the number of function calls while a file is read and highlighted, and its facts."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    began = time.process_time()
    sys.setprofile(counted)
    try:
        facts = engine.extract(text, language)
        highlight.highlight_spans(text, language)
    finally:
        sys.setprofile(None)
    assert time.process_time() - began < 5
    return count, facts


def test_what_stands_around_a_repetition_is_read() -> None:
    text = "int before();\n" + ";\n" * 4000 + "int between() { return 1; }\n" + "'\"" * 9000 + "\nint after();\n"
    facts = engine.extract(text, "cpp")
    assert [(symbol.name, symbol.line) for symbol in facts.symbols] == [("before", 1), ("between", 4002)]
    unread = [(f.line, f.end_line, f.message) for f in facts.findings if "not read" in f.message]
    assert unread == [
        (9, 3993, "7,970 characters of repetitive text: not read"),
        (4003, 4003, "17,968 characters of repetitive text: not read"),
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("c", "int f();\n/*" + "*" * 9000 + "*/\nint table[] = {" + "0, " * 6000 + "0};\nint g() { return 1; }\n"),
        ("python", "def f(): pass\n#" + "=" * 9000 + "\ntable = [" + "0, " * 6000 + "0]\ndef g(): pass\n"),
        ("typescript", "function f() {}\n//" + "/" * 9000 + "\nconst table = [" + "0,\n" * 6000 + "0];\nfunction g() {}\n"),
        ("go", "package p\nfunc f() {}\nvar table = []int{" + "0, " * 6000 + "0}\nvar s = `" + "x" * 5000 + "`\nfunc g() {}\n"),
    ],
)  # fmt: skip
def test_a_comment_and_a_table_still_close(language: str, text: str) -> None:
    facts = engine.extract(text, language)
    assert {"f", "g", "table"} <= {symbol.name for symbol in facts.symbols}
    assert all("not read" in finding.message for finding in facts.findings if finding.by == "syntax")


@pytest.mark.parametrize("language", CODE)
def test_blank_lines_are_linear(language: str) -> None:
    """White space used to be parsed: 64,000 lines took half a minute in TypeScript."""
    began = time.process_time()
    for blank in ("\n", " \n", "\t", " "):
        engine.extract("// x\n" + blank * 64_000 + "x\n", language)
    assert time.process_time() - began < 5


def test_a_line_without_end_is_read_as_text() -> None:
    """The C++ grammar makes a node of every space in a character literal, and a query took seconds for them."""
    facts = engine.extract("int f() {}\n" + content("'", 300), "cpp")
    assert not facts.symbols
    assert [finding.message for finding in facts.findings] == ["307,168 characters of repetitive text: not read"]


def test_lines_that_are_not_read_still_count() -> None:
    facts = engine.extract("def same(x):\n    return same(x)\n\n" * 3000, "python")
    assert facts.findings
    assert (facts.metrics.lines, facts.metrics.code, facts.metrics.blank) == (9000, 6000, 3000)
