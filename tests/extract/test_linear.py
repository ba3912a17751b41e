"""Reading a file takes time linear in its size, whatever it contains."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest

import concordance.extract
import concordance.query
import concordance_torch.extract.bridges
from concordance.base import plugins
from concordance.base.model import FileFacts
from concordance.extract import bridges, engine, languages, rules
from concordance.extract.patterns import find_patterns
from concordance.extract.reading.draft import Draft
from concordance.extract.reading.pattern_context import PatternContext
from concordance.extract.text import highlight
from concordance.extract.text.repetition import without_repetition
from concordance.extract.text.source_text import Source
from tests.support import patterns

SIZE = 12_000  # characters: a linear pattern takes about a millisecond for so many, a quadratic one 0.1 s and more
SECONDS = 0.04  # of processor time
TRIES = 3  # of which the fastest counts: another process can make one slow, but not all

_READERS = ("cmake", "dockerfile", "ini", "json", "make", "markdown", "rst", "shell", "text", "toml", "yaml")
_SHARED = (
    "patterns.build_files", "patterns.c_family", "patterns.python", "patterns.scripts", "reading.pattern_context", "reading.trees", "documents.comments", "documents.docstrings", "documents.keyed", "documents.markdown_blocks",
    "documents.prose", "text.terms", "text.word_split", "text.repetition",
)  # fmt: skip
_PAGES = (
    "book.glossary", "descriptions", "descriptions.document_opening", "descriptions.guide_entries", "descriptions.quotations",
    "index.test_commands", "markup.blocks", "markup.doxygen", "markup.inline",
    "markup.markdown_shapes", "markup.sections", "markup.summary", "names.file_keywords",
)  # fmt: skip
_TORCH = ("keyed_records", "operator_schema", "python_operators", "registrations")
# Quadratic, but only ever asked about a short text, or behind a check that it cannot search in vain.
_GUARDED = {
    "rst._INLINE": "`_spans` ends it at the last place at which a literal can end",
    "rst._MARKUP": "`plain` hands it titles and first paragraphs with few signs",
    "docstrings.WORD_BEFORE": "asked about 40 characters",
    "launch._LAST_NAME": "asked about 200 bytes",
    "operator_schema._ARGUMENT": "asked about `_LONGEST` characters",
    "operator_schema._ALIAS": "asked about `_LONGEST` characters",
    "opnames._NAMES": "asked about names, which `_CALLED` bounds",
    "stubs._NAME": "asked about the arguments of a macro, which `_LONGEST` bounds",
    "stubs._KERNEL": "asked about the arguments of a macro, which `_LONGEST` bounds",
    "stubs._CALL": "asked about 160 bytes",
    "stubs._BEFORE": "asked about 160 bytes",
    "c_malloc._TARGET": "asked about 200 bytes",
    "c_realloc._NEXT": "asked about `_FARTHEST` bytes",
    "document_opening._PICTURE": "looks at 400 characters from each place, which is slow, but linear",
    "scripts._SHELL": "asked about `_WINDOW` bytes",
    "scripts._ECMA": "asked about `_WINDOW` bytes",
    "scripts._GO": "asked about `_WINDOW` bytes",
    "scripts._RUST": "asked about `_WINDOW` bytes",
    "scripts.TABLES": "asked about `_WINDOW` bytes",
    "c_family._LAUNCHED": "asked about 400 characters",
    "summary._LOOSE": "asked about words with one space between them",
    "summary._TOKEN": "asked about `_FARTHEST` characters",
    "summary.WORD_BEFORE": "asked about 40 characters",
    "summary._BLOCK_TAG": "asked for its first place",
}


def modules() -> list[str]:
    """Return the modules that read text of any language, documents, settings and build files."""
    names = [f"{languages.__name__}.{name}" for name in _READERS]
    names += [f"{concordance.extract.__name__}.{name}" for name in _SHARED]
    names += [f"{concordance.query.__name__}.{name}" for name in _PAGES]
    names += [f"{concordance_torch.extract.__name__}.{name}" for name in _TORCH]
    every = (bridges, rules, concordance_torch.extract.bridges)
    return names + [module.name for package in every for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")]


def held(value: Any) -> Iterator[re.Pattern[Any]]:
    """Return the patterns in a value of a module."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (list, tuple, frozenset)):
        for one in value:
            yield from held(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from held(one)
    elif isinstance(value, FunctionType) and value.__name__ in ("find", "inside"):  # made for a pattern
        for cell in value.__closure__ or ():
            yield from held(cell.cell_contents)


def seconds(pattern: re.Pattern[Any], text: str, anchored: bool) -> float:
    """Return the processor time for searching a text with a pattern."""
    data = text.encode() if isinstance(pattern.pattern, bytes) else text
    fastest = 1e9
    for _ in range(TRIES):
        began = time.process_time()
        if anchored:
            pattern.match(data)
        else:
            for _match in pattern.finditer(data):
                pass
        fastest = min(fastest, time.process_time() - began)
        if fastest < SECONDS:
            break
    return fastest


def is_anchored(module: ModuleType, name: str) -> bool:
    """True if a module only matches a pattern at given positions, as code does that looks at the beginnings of lines.
    """
    if module.__name__.startswith(find_patterns.__module__):
        return name not in ("_WORD", "_FILLS", "_EMPTY", "_RAII", "_ATTRIBUTE")
    with open(str(module.__file__), encoding="utf-8") as file:
        asked = re.findall(rf"\b{name}\.(\w+)\(", file.read())
    return bool(asked) and set(asked) <= {"match", "fullmatch"}


@pytest.mark.parametrize("path", modules())
def test_patterns_are_linear(path: str) -> None:
    """No text made of a pattern's own characters makes it take quadratic time."""
    module = importlib.import_module(path)
    for name, value in list(vars(module).items()):
        if f"{path.rpartition('.')[2]}.{name}" in _GUARDED:
            continue
        anchored = is_anchored(module, name)
        for pattern in set(held(value)):
            for text in patterns.hostile(pattern, SIZE):
                assert seconds(pattern, text, anchored) < SECONDS, (name, pattern.pattern, text[:40])


def repeated(piece: str, size: int = 60_000) -> str:
    """Return a text that repeats a piece."""
    return piece * (size // len(piece))


# What cost from five seconds to minutes each, by the language of its reader.
COSTLY = [
    ("cpp", "#define ENDED() } " + "INTERNAL_CATCH_" * 2 + "(x)\n"),  # a macro that seems to close something
    ("ini", " " * 60_000 + "x"),
    ("markdown", "# a" + " " * 60_000 + "b"),
    ("markdown", "# a {" + repeated("#a")),
    ("markdown", "[a](" + " " * 20_000 + "b"),
    ("markdown", "[a]: " + " " * 60_000),
    ("markdown", repeated("`a`é ", 150_000)),
    ("markdown", "`` " + repeated("a ", 120_000) + "`"),
    ("rst", repeated("````\n")),
    ("rst", "`a` " + repeated(":a")),
    ("rst", repeated("`a`é ", 150_000)),
    ("text", repeated("(ABC) ", 400_000)),
    ("yaml", "a: [\n" + repeated("{% a } ")),
    ("yaml", repeated("---\n", 120_000)),
    ("toml", repeated("*a")),
    ("toml", "".join(f"*a{number}" for number in range(20_000))),
    ("toml", "[" + ".".join("a" * 40_000) + "]\nb = 1\n"),
    ("make", "x = $(" + "a" * 60_000),
    ("make", repeated(" a") + ": b\n" + repeated("\tc\n")),
    ("make", repeated(".PHONY ") + ": " + repeated("b ") + "\n"),
    ("make", "a" + " " * 60_000 + "b"),
    ("dockerfile", "FROM a\n" + repeated("RUN <<x\n", 200_000)),
    ("dockerfile", repeated("FROM a\n", 200_000)),
    ("dockerfile", "FROM a\nENV" + repeated(" a=b")),
    ("dockerfile", "FROM a\nRUN" + repeated(" --mount=a").replace(" ", "")),
    ("cmake", repeated("#[[\n") + "add_library(a b)\n"),
    ("cmake", "add_library(a b)\n" + "add_" * 20_000),
    ("cmake", "add_custom_target(a COMMAND" + " " * 60_000 + "b"),
    ("shell", repeated(") ")),
    ("shell", "".join(f"{number}) <" for number in range(8_000))),
    ("shell", "if a; then " * 6_000 + "fi; " * 6_000),
    ("shell", "python " + "$(a)" * 15_000 + "\n"),
    ("shell", 'python "' + "$(a)" * 30 + "\n"),
    ("shell", "python " + "-m pdb " * 8_000 + "\n"),
    ("c", "/*" + "*" * 60_000 + " a\nint x;\n"),
    ("c", "int a; /*b*/ " * 5_000),
]


@pytest.mark.parametrize(("language", "text"), COSTLY, ids=lambda value: repr(value[:12]))
def test_costly_texts_are_read_in_linear_time(language: str, text: str) -> None:
    """The limit is many times what these texts take now, and a fraction of what they took."""
    engine.extract("a\n", language)
    began = time.process_time()
    facts = engine.extract(text, language)
    assert time.process_time() - began < 2.5
    assert not [finding for finding in facts.findings if finding.by in ("reader", "rules")]


# What cost seconds each to look for patterns in.
PATTERNS = [
    ("cpp", repeated("/* ")),
    ("python", repeated('x \\"""')),
    ("python", "x:" + " " * 30_000 + "Lock("),
    ("cuda", "__shared__" + " " * 3_000 + "("),
    ("cpp", "REGISTER_" * 6_000),
    ("make", "%" * 60_000),
    ("shell", "trap" + " " * 3_000 + "x"),
    ("go", repeated("make(chan x\n", 240_000)),
    ("rust", "impl" + " " * 3_000 + "x"),
    ("python", "".join(f"t{number} = {{}}\nimport m{number}\n" for number in range(8_000))),
    ("python", "def f():\n" + "    yield 1\n    t[1] = lock = threading.Lock()\n" * 4_000),
    ("javascript", "".join(f"useA{number}();\n" for number in range(8_000))),
]


@pytest.mark.parametrize(("language", "text"), PATTERNS, ids=lambda value: repr(value[:12]))
def test_patterns_of_costly_texts_are_found_in_linear_time(language: str, text: str) -> None:
    """The same for patterns, in a file with a syntax tree and in one without."""
    draft = plugins.load(engine.LANGUAGES, language).read(Source(without_repetition(text)[0], language))
    facts = draft.facts()
    began = time.process_time()
    find_patterns(PatternContext(draft, facts))
    find_patterns(PatternContext(Draft(Source(text, language)), FileFacts()))
    assert time.process_time() - began < 1


def test_what_is_not_parsed_is_said() -> None:
    """A script or settings file that the grammar would skip token by token is not parsed, and a finding says so."""
    text = "".join(f") *a{number} " for number in range(8_000))  # what repeats exactly is blanked before
    for language in ("shell", "toml"):
        (finding,) = engine.extract(text, language).findings
        assert finding.message.startswith("not read: ")
        began = time.process_time()
        assert highlight.highlight_spans(text, language) == []
        assert time.process_time() - began < 2.5


def test_valid_toml_in_long_arrays_is_read() -> None:
    """Pieces of an array look like errors, but the whole is valid."""
    lines = "".join(f"  {{ name = 'a{number}', hash = 'b' }},\n" for number in range(4000))
    facts = engine.extract(f"[tool]\nlist = [\n{lines}]\n", "toml")
    assert not facts.findings
    assert len(facts.symbols) > 100


def test_a_long_document_in_a_script_is_no_part_of_it() -> None:
    """The content of a here-document does not make the script around it unreadable."""
    text = "f() {\n  cat <<EOF\n" + ") < | ;; ( &&\n" * 3000 + "EOF\n}\n"
    facts = engine.extract(text, "shell")
    assert [symbol.name for symbol in facts.symbols] == ["f"]


def test_blanks_in_a_broken_title_stay() -> None:
    """Unpaired backticks put plain words between two of them; the spaces around these words are kept."""
    (heading,) = engine.extract("By `one`` and ``two`` it\n========================\n", "rst").symbols
    assert heading.name == "By one and two` it"
