"""Compares our Python reader with CPython's `ast` and `symtable` on every Python file below some folders.

In: folders. Out: how many definitions, imports and names there are, and how many differ.
"""

from __future__ import annotations

import ast
import io
import os
import tokenize
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from concordance.extract.engine import extract
from tests.support import python_oracle as oracle


class Compared(NamedTuple):
    """The comparison of one file, or the sum of several."""

    files: int = 0
    unread: int = 0  # files that CPython cannot read
    definitions: int = 0
    missing: int = 0
    invented: int = 0
    names: int = 0
    scopes: int = 0
    scopes_differ: int = 0
    examples: tuple[str, ...] = ()


def python_files(folder: str) -> list[str]:
    """Return every Python file and stub below a folder."""
    found = []
    for home, folders, names in os.walk(folder):
        folders[:] = [f for f in folders if f not in (".git", "site-packages", ".concordance")]
        found += [os.path.join(home, name) for name in names if name.endswith((".py", ".pyi"))]
    return sorted(found)


def compare_file(path: str) -> Compared:
    """Compare what CPython and our reader find in a file."""
    warnings.simplefilter("ignore")  # of the files' own making: invalid escapes
    with open(path, "rb") as file:
        data = file.read()
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding).removeprefix("\ufeff")
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return Compared(unread=1)
    return compare(text, path)


def compare(text: str, path: str) -> Compared:
    """Compare what CPython and our reader find in a text."""
    tree = oracle.parse(text)
    if tree is None:
        return Compared(unread=1)
    facts = extract(text, "python")
    theirs, ours = oracle.definitions(tree), oracle.our_definitions(facts)
    examples = [f"{path}: missing {one}" for one in (theirs - ours).elements()]
    examples += [f"{path}: invented {one}" for one in (ours - theirs).elements()]
    result = Compared(
        1, 0, sum(theirs.values()), (theirs - ours).total(), (ours - theirs).total(), examples=tuple(examples[:5])
    )
    try:
        bound = oracle.bindings(text)
    except SyntaxError:  # `ast` is more lenient: a `return` outside of a function
        return result
    mine = oracle.our_bindings(facts, _postponed(tree))
    differ = [f"{path}: binding of {kind} {sorted(names)[:3]}" for kind, names in (bound - mine).elements()]
    return result._replace(
        names=sum(len(names) * count for (_, names), count in bound.items()),  # type: ignore[arg-type, misc]
        scopes=bound.total(),
        scopes_differ=(bound - mine).total(),
        examples=(*result.examples, *differ[:5]),
    )


def _postponed(tree: ast.Module) -> bool:
    """True if annotations are not evaluated: `symtable` then ignores the names in them."""
    return any(
        isinstance(node, ast.ImportFrom) and node.module == "__future__" and any(a.name == "annotations" for a in node.names)
        for node in tree.body
    )


def total(parts: Iterable[Compared]) -> Compared:
    """Return the sum of many files."""
    numbers = [0] * (len(Compared._fields) - 1)
    examples: list[str] = []
    for part in parts:
        numbers = [a + b for a, b in zip(numbers, part[:-1], strict=True)]
        examples += part.examples
    return Compared(*numbers, tuple(examples))


def run(folder: str, jobs: int = 2) -> Compared:
    """Compare all files below a folder."""
    with ProcessPoolExecutor(jobs) as pool:
        return total(pool.map(compare_file, python_files(folder), chunksize=16))
