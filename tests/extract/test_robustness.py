"""Every reader survives text that is not in its language.

The input is random characters, random bytes, and the examples of `tests/cases` with bytes flipped, pieces removed,
repeated or cut off, and brackets inserted. The facts must be consistent whatever the input.
"""

from __future__ import annotations

import gc
import random
import re
import string
import time
from functools import cache

import pytest

from concordance.base.model import ROLES, Category, FileFacts, Kind, Role
from concordance.extract import engine, registry
from concordance.extract.cfamily import macros
from concordance.extract.text.source_text import Source
from concordance.facts.codec import pack, unpack
from tests.support import cases

LANGUAGES = registry.readers()
SEED = 20240229
SECONDS = 5.0  # of processor time, for 100 kB

# What languages are made of: a random mixture of these reaches deeper than random characters.
PIECES = [
    *"()[]{}<>:;,.=+-*/%&|^!~?@#$\\\"'`_ \t\n", "\r\n", "\r", "\n\n", "\n    ", "\n\t", "//", "/*", "*/", "<!--",
    "-->", '"""', "'''", "```", "#!", "::", "->", "=>", "...", "${", "$(", "{{", "}}", "%%", "def ", "class ",
    "struct ", "enum ", "fn ", "func ", "function ", "import ", "from ", "#include ", "#define ", "#if ", "#endif",
    "template <", "namespace ", "typedef ", "using ", "extern ", "public ", "static ", "const ", "let ", "var ",
    "return ", "if ", "else ", "for ", "while ", "switch ", "case ", "try ", "lambda ", "async ", "await ", "yield ",
    "match ", "impl ", "trait ", "mod ", "use ", "package ", "interface ", "message ", "service ", "syntax ", "FROM ",
    "RUN ", "COPY ", "ARG ", "load(", "rule(", "set(", "macro(", "endif()", "target:", "%.o:", ".PHONY", "include ",
    "key: ", "- ", "? ", "&anchor ", "*anchor", "|\n", ">\n", "---\n", "[section]\n", "[[table]]\n", "a.b = ", "# ",
    "## ", "====\n", ".. note::\n", "__all__ = ", "@property\n", "@overload\n", "global x\n", "nonlocal x\n",
    "operator", "~", "0x1f", "1e9", "\\\n", "\\u", "\\x", "\ufeff", "\0", "é", "名前", "\U0001f600", "\u2028", "\x0c",
    "\x1a", "\x1b", "name", "Name", "x", "TORCH_API ",
]  # fmt: skip


@cache
def seeds(language: str) -> list[str]:
    """Return the examples of a language, or of another language if it has none yet."""
    own, others = [], []
    for case in sorted(cases.HOME.rglob("*.md")):
        if case.name != "README.md":
            for example in cases.examples(case):
                (own if example.language == language else others).append(example.text)
    return own or others[:5]


def jumble(chance: random.Random, length: int) -> str:
    made: list[str] = []
    while length > 0:
        made.append(chance.choice(PIECES) if chance.random() < 0.8 else chance.choice(string.printable))
        length -= len(made[-1])
    return "".join(made)


def mutated(chance: random.Random, text: str) -> str:
    """Return a text with a few random mutations."""
    data = bytearray(text.encode("utf-8", "replace"))
    for _ in range(chance.randrange(1, 12)):
        at = chance.randrange(len(data) + 1)
        far = min(len(data), at + chance.randrange(1, 60))
        kind = chance.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del data[at:far]
        elif kind == 2:
            data[at:at] = data[at:far] * chance.randrange(1, 4)
        elif kind == 3 and chance.random() < 0.3:
            del data[at:]
        elif kind == 4:
            data[at:at] = chance.choice("()[]{}<>\"'`").encode() * chance.choice((1, 1, 2, 50))
        elif kind == 5:
            data[at:at] = chance.choice(PIECES).encode()
        else:
            other = chance.randrange(len(data) + 1)
            data[at:at] = data[other : other + 80]
    return data.decode("utf-8", "replace") if chance.random() < 0.8 else data.decode("latin-1")


def line_lengths(text: str) -> list[int]:
    """Return the lengths of the lines as an editor counts them, without their ends."""
    return [len(line) for line in re.split(r"\r\n|\r|\n", text)]


def check(text: str, language: str, table: macros.Macros | None = None) -> FileFacts:
    """Read a text, and check that its facts are consistent."""
    facts = engine.extract(text, language, table)
    assert not [f for f in facts.findings if f.by == "reader"], [f.message for f in facts.findings if f.by == "reader"]
    text = Source(text, language).data.decode()  # half a surrogate pair is read as "?"
    lengths = line_lengths(text)
    _check_symbols(facts, lengths)
    _check_scopes(facts, lengths)
    _check_occurrences(facts, text)
    for one in facts.imports:
        assert 1 <= one.line <= len(lengths) and 1 <= one.col <= lengths[one.line - 1] + 1, one
        assert 0 <= one.scope < len(facts.scopes), one
    for finding in facts.findings:
        assert 1 <= finding.line <= len(lengths) and 1 <= finding.col <= lengths[finding.line - 1] + 1, finding
        assert finding.end_line <= len(lengths), finding
    for term in facts.terms:
        assert 1 <= term.line <= len(lengths) and term.times >= 1 and term.text.strip(), term
    assert len({(t.text, t.kind) for t in facts.terms}) == len(facts.terms)
    metrics = facts.metrics
    assert metrics.lines == len(lengths) - (not lengths[-1]), metrics
    assert min(metrics) >= 0, metrics
    assert unpack(pack(facts)) == facts
    return facts


def _check_symbols(facts: FileFacts, lengths: list[int]) -> None:
    keys = set()
    for place, symbol in enumerate(facts.symbols):
        assert -1 <= symbol.parent < place, symbol
        assert symbol.kind in set(Kind), symbol
        assert symbol.name or symbol.kind == Kind.KEY, symbol
        assert 1 <= symbol.start_line <= symbol.end_line <= len(lengths), symbol
        assert 1 <= symbol.line <= len(lengths) and 1 <= symbol.col <= lengths[symbol.line - 1] + 1, symbol
        assert symbol.key not in keys, symbol
        keys.add(symbol.key)


def _check_scopes(facts: FileFacts, lengths: list[int]) -> None:
    assert facts.scopes[0].kind == "module"
    assert facts.scopes[0].parent == -1
    for place, scope in enumerate(facts.scopes):
        assert place == 0 or 0 <= scope.parent < place, scope
        assert -1 <= scope.symbol < len(facts.symbols), scope
        assert 1 <= scope.line <= scope.end_line <= max(1, len(lengths)), scope


def _check_occurrences(facts: FileFacts, text: str) -> None:
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    last = (0, 0)
    for place, one in enumerate(facts.occurrences.rows()):
        assert (one.line, one.col) > last, one
        last = (one.line, one.col)
        rest = lines[one.line - 1][one.col - 1 :]
        if not rest.startswith(one.name):  # a name that goes on in the next line
            rest += "".join(lines[one.line : one.line + one.name.count("\n") + one.name.count("\r") + 1])
        assert rest.startswith(one.name) and one.name, (one, rest[:40])
        assert one.role in ROLES
        assert 0 <= one.scope < len(facts.scopes), one
        assert -1 <= one.bound < len(facts.scopes), one
        assert -2 <= one.receiver < place, one
        assert isinstance(one.role, Role)


@pytest.mark.parametrize("language", LANGUAGES)
def test_random_text(language: str) -> None:
    chance = random.Random(f"{SEED}{language}")
    for length in (0, 1, 2, 10, 100, 1000, 1000, 1000, 4000, 8000):
        check(jumble(chance, length) if length else "", language)
        check("".join(chr(chance.randrange(0x20, 0x2FFF)) for _ in range(length // 4)), language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_random_bytes(language: str) -> None:
    chance = random.Random(f"{SEED}{language}")
    for length in (1, 10, 100, 1000, 5000):
        check(chance.randbytes(length).decode("latin-1"), language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_mutated_examples(language: str) -> None:
    chance = random.Random(f"{SEED}{language}")
    texts = seeds(language)
    for text in texts:
        check(text, language)
    end = time.process_time() + 0.8
    rounds = 0
    while time.process_time() < end and rounds < 150:
        check(mutated(chance, chance.choice(texts)), language, {b"TORCH_API": macros.BLANK, b"name": macros.DECLARES})
        rounds += 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_reading_leaves_no_garbage(language: str) -> None:
    """Workers run without a garbage collector, so a cycle of references would keep each file's draft forever."""
    texts = seeds(language)
    for text in texts:
        engine.extract(text, language)  # what is computed once stays
    gc.collect()
    gc.freeze()  # what the tests themselves have is not looked through again
    gc.disable()
    try:
        for text in texts:
            engine.extract(text, language)
        assert gc.collect() == 0
    finally:
        gc.enable()
        gc.unfreeze()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_beginning_of_an_example(language: str) -> None:
    """Editors save files in the middle of a word."""
    chance = random.Random(f"{SEED}{language}")
    text = "".join(seeds(language))[:6000]
    for end in sorted(chance.sample(range(len(text)), min(len(text), 40))):
        check(text[:end], language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hundred_thousand_characters(language: str) -> None:
    """No reader takes more than linear time; random text is the most expensive for the repair of syntax errors in C."""
    chance = random.Random(f"{SEED}{language}")
    own = "".join(seeds(language))
    for text in ((own * (100_000 // len(own) + 1))[:100_000], jumble(chance, 40_000)):
        began = time.process_time()
        check(text, language)
        assert time.process_time() - began < SECONDS


REPEATED = [
    "(", "[", "{", "<", "([{", "if (", "a(", "a.", "a::", "a->", "-", "!", "*", "x = ", "/*", "//", '"', "'", "`",
    "#", "\\\n", "\\", "a b ", "{a: ", "- ", "> ", "<a>", "lambda: ", "$(", "${", "/* \n", "#define a", "\n#if 1",
    "\n  ", "a,", "a = b\n", "__a__ ", "*/", "@a ", "x", "1", "[[", ":\n ", "def f():\n", "\u0301", "==\n", "|a",
    "1e", "&a ", "template <", "%{", "\r",
]  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_over_and_over(language: str) -> None:
    """A repeated opening bracket is the usual way to overflow a stack or to make a pattern backtrack without end."""
    for piece in REPEATED:
        began = time.process_time()
        check(piece * (3000 // len(piece)), language)
        assert time.process_time() - began < SECONDS, piece


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hundred_thousand_brackets(language: str) -> None:
    for opening, closing in ("()", "[]", "{}"):
        for text in (opening * 100_000, opening * 50_000 + closing * 50_000):
            began = time.process_time()
            check(text, language)
            assert time.process_time() - began < SECONDS, opening


@pytest.mark.parametrize("language", ["c", "cuda"])
def test_macros_of_hostile_headers(language: str) -> None:
    for text in (
        "#define " * 10_000, "#define A " + "/*" * 50_000, "#define A(" + "(" * 50_000, "#define A \\\n" * 10_000,
        "#define A __attribute__(" + "(" * 1900, "#define A __attribute__((((" * 70,
        "#define A [[" + "]" * 1000 + "[" * 900, "#define A " + "B " * 50_000,
        "".join(f"#define A{n} A{n + 1}\n" for n in range(3000)),
    ):  # fmt: skip
        began = time.process_time()
        table = macros.merge([macros.read_defines(text.encode())])
        check(text, language, macros.macros_in(text.encode(), table))
        assert time.process_time() - began < SECONDS


def test_separators_of_common_languages_are_those_of_their_readers() -> None:
    assert {name: registry.separator_of(name) for name in registry.readers()} == {name: registry.language_of(name).separator for name in registry.readers()}


def test_titles_and_prose_are_those_of_the_readers() -> None:
    names = (*registry.readers(), "ruby")
    assert {name: registry.title_of(name) for name in names} == {name: registry.language_of(name).title for name in names}
    prose = {name for name in names if registry.language_of(name).category is Category.DOCUMENTATION}
    assert {name for name in names if registry.is_prose(name)} == prose
