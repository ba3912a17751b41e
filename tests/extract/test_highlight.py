"""Highlighting: comments, strings, numbers and keywords. For Python, its own tokenizer is the oracle."""

from __future__ import annotations

import io
import keyword
import random
import sysconfig
import tokenize
from pathlib import Path

import pytest

from concordance.extract.text.highlight import highlight_spans

LIBRARY = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
FILES = [path for path in LIBRARY if path.stat().st_size < 60_000]


Piece = tuple[int, int, str]


def _said(text: str) -> tuple[list[Piece], list[tuple[int, int]]]:
    """Return the tokens according to Python's tokenizer, and the places of strings that contain code, which it does not
    distinguish."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found, formed = [], []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begin, end = (starts[line - 1] + col for line, col in (token.start, token.end))
        if token.type == tokenize.STRING and "f" in token.string[:2].lower() and "{" in token.string:
            formed.append((begin, end))
        elif token.type in _LETTERS:
            found.append((begin, end, _LETTERS[token.type]))
        elif token.type == tokenize.NAME and keyword.iskeyword(token.string):
            found.append((begin, end, "k"))
    return found, formed


_LETTERS = {tokenize.COMMENT: "c", tokenize.STRING: "s", tokenize.NUMBER: "n"}


def _seen(text: str, language: str = "python") -> list[tuple[str, str]]:
    return [(letter, text[start:end]) for start, end, letter in highlight_spans(text, language)]


@pytest.mark.parametrize("path", random.Random(6).sample(FILES, min(len(FILES), 60)), ids=lambda path: path.name)
def test_python_as_the_interpreter_reads_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    if "\x0c" in text:
        text = text.replace("\x0c", "")  # a line's end to Python's own methods, but not to its reader
    said, formed = _said(text)
    inside = {place for begin, end in formed for place in range(begin, end)}
    seen = highlight_spans(text, "python")
    assert [piece for piece in seen if piece[0] not in inside] == said
    for begin, end in formed:  # from its first sign to its last
        parts = [piece for piece in seen if begin <= piece[0] < end]
        assert (parts[0][0], parts[0][2], parts[-1][1], parts[-1][2]) == (begin, "s", end, "s")


def test_stretches_rise_and_do_not_meet() -> None:
    for path in sorted((Path(__file__).parents[1] / "sample").rglob("*")):
        language = {".py": "python", ".cpp": "cpp", ".h": "cpp", ".go": "go", ".rs": "rust", ".java": "java",
                    ".ts": "typescript", ".js": "javascript", ".sh": "shell", ".toml": "toml", ".json": "json",
                    ".proto": "proto", ".cmake": "cmake", ".yml": "yaml", ".md": "markdown"}.get(path.suffix)  # fmt: skip
        if path.is_file() and language:
            text = path.read_text(errors="replace")
            at = 0
            for start, end, letter in highlight_spans(text, language):
                assert at <= start < end <= len(text), path
                assert letter in "csnkp", path
                at = end


@pytest.mark.parametrize(
    ("language", "text", "seen"),
    [
        ("python", 'x = f"a{y if z else "b"}c" # d\n', [("s", 'f"a{'), ("k", "if"), ("k", "else"), ("s", '}c"'), ("c", "# d")]),
        ("python", "f'{{}}' rb'\\''", [("s", "f'{{}}'"), ("s", "rb'\\''")]),
        ("python", "x = 0xE+1_0.5e-3j", [("n", "0xE"), ("n", "1_0.5e-3j")]),
        ("cpp", "#include <a.h>\n// é\nauto s = \"x\";\nint n = 0x1'0ull;",
         [("p", "#include"), ("s", "<a.h>"), ("c", "// é"), ("k", "auto"), ("s", '"x"'), ("k", "int"), ("n", "0x1'0ull")]),
        ("cpp", '#define A "x" // "y"\n', [("p", "#define"), ("s", '"x"'), ("c", '// "y"')]),
        ("cuda", "__global__ void k() { R\"(a\"b)\"; }", [("k", "__global__"), ("k", "void"), ("s", '"(a"b)"')]),
        ("c", "int class = 'c';", [("k", "int"), ("s", "'c'")]),
        ("javascript", "const a = `x${b}y`; // c", [("k", "const"), ("s", "`x"), ("s", "y`"), ("c", "// c")]),
        ("shell", 'if true; then echo "$a b"; fi # c', [("k", "if"), ("k", "then"), ("s", '"'), ("s", ' b"'), ("k", "fi"), ("c", "# c")]),
        ("json", '{"a": [1, true]}', [("s", '"a"'), ("n", "1"), ("k", "true")]),
        ("go", "package a // b", [("k", "package"), ("c", "// b")]),
        ("rust", "fn a<'b>() { 'c'; 1_u8 }", [("k", "fn"), ("s", "'c'"), ("n", "1_u8")]),
        ("yaml", "a: 'b' # c\nd: 1\n", [("s", "'b'"), ("c", "# c"), ("n", "1")]),
        ("cmake", 'if(A AND "b") # c\nendif()', [("k", "if"), ("k", "AND"), ("s", '"b"'), ("c", "# c"), ("k", "endif")]),
        ("proto", 'message A { string b = 1; } // "c"', [("k", "message"), ("n", "1"), ("c", '// "c"')]),
        ("make", "all: # c\n\techo x\n", [("c", "# c")]),
        ("text", "if 'a' # b", []),
    ],
)  # fmt: skip
def test_pieces(language: str, text: str, seen: list[tuple[str, str]]) -> None:
    assert _seen(text, language) == seen


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", 'x = 1\ns = """never closed\ndef f():\n    return 2\n'),
        ("python", "s = 'never closed\ndef f():\n    return 2\n"),
        ("cpp", 'char *s = "never closed;\nint f() { return 2; }\n'),
        ("javascript", "const s = `never closed\nfunction f() { return 2 }\n"),
        ("go", "var s = `never closed\nfunc f() int { return 2 }\n"),
        ("shell", 's="never closed\nf() { return 2; }\n'),
        ("rust", 'let s = "never closed\nfn f() -> i32 { return 2 }\n'),
    ],
)
def test_what_nobody_closes_does_not_paint_the_rest(language: str, text: str) -> None:
    assert not any(letter == "s" and "\n" in piece for letter, piece in _seen(text, language))


def test_huge_and_deep_texts_are_left_plain() -> None:
    assert highlight_spans("a" * 3_000_001, "python") == []
    assert highlight_spans("[" * 5000, "json") == []
    assert highlight_spans("", "python") == []
