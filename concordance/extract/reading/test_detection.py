"""Finds the tests among a file's symbols, by the rules that test runners use.

In: a file's symbols and imports, its language, category and path. Out: the indices of the tests. Which symbols are
tests is part of each language's description (`base.model.TestConventions`).
"""

from __future__ import annotations

from concordance.base.model import Category, FileFacts
from concordance.extract.registry import language_of


def find_tests(facts: FileFacts, language: str, category: str, path: str) -> list[int]:
    """Return the indices of the symbols that are tests."""
    conventions = language_of(language).tests
    if conventions.find is None or (category != Category.TEST and not conventions.beside_code):
        return []
    return conventions.find(facts, path)
