"""Documentation comments: their text and their first sentence."""

from __future__ import annotations

import ast
import inspect
import io
import sysconfig
import time
import tokenize
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concordance.extract.documents.docstrings import clean_docstring, summary

STANDARD_LIBRARY = Path(sysconfig.get_paths()["stdlib"])


# --- clean_docstring


def literals(path: Path) -> list[tuple[str, str]]:
    """Return every docstring of a file: its literal, and its value according to Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            text = path.read_bytes().decode()
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return []
    strings = {
        token.start: token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.STRING
    }
    lines = text.split("\n")
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                value = first.value
                column = len(lines[value.lineno - 1].encode()[: value.col_offset].decode())
                literal = strings.get((value.lineno, column), "")
                whole = (value.end_lineno or 0) - value.lineno == literal.count("\n")
                if isinstance(value.value, str) and whole and literal.endswith(text_end(lines, value)):
                    found.append((literal, value.value))
    return found


def text_end(lines: list[str], value: ast.Constant) -> str:
    return lines[(value.end_lineno or 1) - 1].encode()[: value.end_col_offset].decode()[-1:]


def test_docstrings_of_the_standard_library_are_as_python_gives_them() -> None:
    seen = 0
    for path in sorted(STANDARD_LIBRARY.glob("*.py")) + sorted(STANDARD_LIBRARY.glob("[a-k]*/*.py")):
        for literal, value in literals(path):
            seen += 1
            assert clean_docstring(literal) == inspect.cleandoc(value), (path, literal)
    assert seen > 5000


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("'''one'''", "one"),
        ('"""a\n    b\n      c\n    """', "a\nb\n  c"),
        ('r"""\\alpha"""', "\\alpha"),
        ('"""tab\\there \\x41\\u00e9\\N{BULLET}\\101 \\d"""', "tab     here Aé•A \\d"),
        ('"""a\\\n    b"""', "a    b"),
        ('"""a\r\n    b\r\n    """', "a\nb"),
        ('u"x"', "x"),
        ('b"x"', "x"),
        ('"""never closed', "never closed"),
        ("", ""),
        ("no literal", "no literal"),
        ('"\\N{NO SUCH NAME} \\Uffffffff"', "\\N{NO SUCH NAME} \\Uffffffff"),
    ],
)
def test_clean_docstring(literal: str, text: str) -> None:
    assert clean_docstring(literal) == text


# --- summary


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        ("", ""),
        ("One sentence. Another.", "One sentence."),
        ("Works with Python 3.11 and torch.nn e.g. on Linux, i.e. here. More.",
         "Works with Python 3.11 and torch.nn e.g. on Linux, i.e. here."),
        ("add(x, o, *, out=None) -> Tensor\n\nAdds :attr:`o` to it.\n\nArgs:\n  x: y", "Adds :attr:`o` to it."),
        ("L.count(value) -> integer -- return number of values.", "return number of values."),
        ("f(a,\n  b) -> int\nf(a) -> str\n\nDoes f. Yes.", "Does f."),
        ("print(x) is a call. Yes.", "print(x) is a call."),
        ("Over\ntwo lines\n\nand a paragraph.", "Over two lines"),
        ("See :class:`~a.b. C` for it. No.", "See :class:`~a.b. C` for it."),
        ("Title\n=====\n\nThe text. More.", "The text."),
        ("Title\n=====\n", "Title"),
        ("@brief Does it. More.", "Does it."),
        ("Args:\n    x: only that", ""),
        (":param x: only that", ""),
        (".. note:: hm\n\nText here.", "Text here."),
        ("Is it? It is.", "Is it?"),
        ("(It is so.) Yes.", "(It is so.)"),
        ("テンソル。二番。", "テンソル。"),
        ("Cats, dogs, etc. and more. End.", "Cats, dogs, etc. and more."),
        ("Text\n@param x y", "Text"),
    ],
)  # fmt: skip
def test_summary(doc: str, sentence: str) -> None:
    assert summary(doc) == sentence


# --- hostile input

HOSTILE = [
    "(" * 200_000,
    "Args:\n" + "  x (" * 50_000,
    "Args:\n" + "  x (\n" * 50_000,
    ":param " + " " * 200_000,
    ":param " + "a " * 100_000,
    "@param " + "{" * 200_000,
    "`" * 200_001 + " x. y",
    "\n" * 200_000 + "x",
    "Parameters\n---\n" + "x\n" * 100_000,
    "Returns:\n" + "a" * 200_000,
    "Returns:\n" + "a: " * 100_000,
    "Args:\n\n" * 50_000,
    "@param\n" * 50_000,
    "@param x\n\n" * 50_000,
    "f(\n" * 100_000,
    "f()\n" * 100_000,
    ". " * 100_000,
    "e.g. " * 100_000,
    ":raises " + "A, " * 50_000 + ": x",
    "Args:\n  " + "x, " * 100_000 + ": y",
    "Args:\n  " + "x" * 200_000,
    "x::\n" * 100_000,
    "\t" * 100_000,
    "Args:\n" + " x: " + ":class:`" * 50_000,
    "'''" + "\\" * 200_000 + "'''",
    "'''" + "\\N{" * 100_000 + "'''",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_input_takes_no_time(number: int) -> None:
    start = time.process_time()
    for read in (summary, clean_docstring):
        read(HOSTILE[number])
    assert time.process_time() - start < 3


@given(st.text(alphabet="Args:Returns\n \t-@\\:param x(){}[],.`'\"*é", max_size=300))
def test_never_raises(text: str) -> None:
    for read in (summary, clean_docstring):
        read(text)
