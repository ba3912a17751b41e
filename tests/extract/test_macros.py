"""How macros are collected, and how the C reader uses them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from concordance.extract.cfamily import directives, macros
from concordance.extract.engine import extract

HEADER = b"""
#ifdef _WIN32
#define API_EXPORT __declspec(dllexport)
#else
#define API_EXPORT __attribute__((visibility("default")))
#endif
#define API API_EXPORT
#define BOTH API inline
#define MAYBE_INLINE inline
#define LOOP for (;;)
#define NUMBER 3
#define DEPRECATED(why) [[deprecated(why)]]
#define NOTHING(x)
#define DECLARE(x) int x(); \\
  int x##_more();
#define BEGIN_LIB namespace lib { namespace inner {
#define END_LIB } }
#define RETURNS(type) extern API type
#define STRINGS(...) #__VA_ARGS__
#define STACK_OF(type) struct stack_##type
#define TABLE_ENTRY(a) { a, 1 }
"""


def test_roles() -> None:
    table = macros.merge([macros.read_defines(HEADER)])
    assert {name.decode(): role for name, role in table.items()} == {
        "API_EXPORT": macros.BLANK,
        "API": macros.BLANK,
        "BOTH": macros.BLANK,
        "MAYBE_INLINE": macros.BLANK,
        "DEPRECATED": macros.ATTRIBUTE,
        "NOTHING": macros.MAYBE,
        "DECLARE": macros.DECLARES,
        "BEGIN_LIB": macros.OPENS + "lib::inner",
        "END_LIB": macros.CLOSES,
        "STRINGS": macros.QUOTES,
        "STACK_OF": macros.TYPE,
    }


def test_chains_hold_across_files_in_any_order() -> None:
    files = [b"#define A B\n", b"#define B C D\n", b"#define C\n", b"#define D __attribute__((x))\n"]
    learned = [macros.read_defines(data) for data in files]
    table = macros.merge(learned)
    assert set(table) == {b"A", b"B", b"C", b"D"}
    assert macros.merge(reversed(learned)) == table
    assert macros.digest(macros.merge(reversed(learned))) == macros.digest(table)


def test_a_name_with_two_meanings_is_only_a_maybe() -> None:
    learned = [macros.read_defines(b"#define WORD\n"), macros.read_defines(b"#define WORD do_it(3) + 1\n")]
    assert macros.merge(learned) == {b"WORD": macros.MAYBE}


def test_what_a_source_file_defines_is_its_own() -> None:
    assert macros.read_defines(b"#define vector\n", "a/b.c") == ()
    assert macros.read_defines(b"#define vector\n", "a/b.h") == ((b"vector", "e"),)
    table = macros.merge([macros.read_defines(b"#define API\n#define LOCAL\n", "x.h")])
    used = macros.macros_in(b"#define LOCAL 1 + x\n#define MINE API\nMINE int f(); LOCAL", table)
    assert used == {b"API": macros.BLANK, b"MINE": macros.BLANK}


def test_language_words_are_never_taken_out() -> None:
    assert macros.read_defines(b"#define inline\n#define private public\n") == ()


def test_mentioned_and_digest() -> None:
    table = macros.merge([macros.read_defines(HEADER)])
    used = macros.macros_in(b"class API X {}; // NOTHINGNESS", table)
    assert used == {b"API": macros.BLANK}
    assert macros.digest(used) != macros.digest(table)
    assert macros.digest({}) == ""


@pytest.mark.parametrize(
    "line",
    ["x = p->API;", "x.API = 1;", "enum { API, OTHER };", "f(API, 2);", "return API;", '"API";', "// API", "#if API"],
)
def test_the_same_word_as_a_name_stays(line: str) -> None:
    data = line.encode()
    result = macros.blank_macros(directives.scan(data), {b"API": macros.BLANK})
    assert result.size == 0


def test_blanking_moves_nothing() -> None:
    table = macros.merge([macros.read_defines(HEADER)])
    data = b'API class DEPRECATED("a\\")b") X {\r\n  BOTH\tvoid f();\n};\nDECLARE(a)\nint g();\n' + HEADER
    result = macros.blank_macros(directives.scan(data), table)
    assert len(result.data) == len(data)
    assert [i for i, c in enumerate(data) if c == 10][:3] == [i for i, c in enumerate(result.data) if c == 10][:3]
    assert b"API" not in result.data and b"DEPRECATED" not in result.data
    assert b"DECLARE(a);int g();" in result.data


def test_facts_come_from_the_original_text() -> None:
    table = macros.merge([macros.read_defines(HEADER)])
    facts = extract("class API Tensor {\n  API int rank();\n};\n", "cpp", table)
    assert [(s.key, s.signature) for s in facts.symbols] == [
        ("Tensor", "class API Tensor"),
        ("Tensor.rank", "API int rank()"),
    ]
    assert [o.name for o in facts.occurrences.rows()] == ["API", "Tensor", "API", "rank"]
    assert facts.metrics.blanked == 6


@pytest.mark.parametrize("language", ["c", "cpp", "cuda", "objc", "objcpp"])
def test_hostile_input(language: str) -> None:
    rng = random.Random(5)
    cases = sorted((Path(__file__).parents[1] / "cases" / language).glob("*.md"))
    good = "".join(part for case in cases for part in case.read_text().split("```")[1::2])
    texts = ["", "\0", "#", '"', "'", "/*", "#if 0", "#else\n#endif", "@", "^("]
    texts += [sign * 2000 for sign in ("[", "{", "(", "a::")]
    texts += [bytes(rng.randrange(256) for _ in range(400)).decode("latin-1") for _ in range(20)]
    texts += [good[: rng.randrange(len(good))] for _ in range(12)]
    for _ in range(20):
        at = rng.randrange(len(good))
        wrong = rng.choice(["{", "}", "(", ")", "#if X\n", "\0", "<", "é", ""])
        texts.append(good[:at] + wrong + good[at + rng.randrange(3) :])
    for text in texts:
        facts = extract(text, language)
        assert not [f for f in facts.findings if f.by == "reader"], text[:200]
