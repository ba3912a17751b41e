"""Writes `docs/architecture.md` from the modules' own docstrings, so that it cannot fall behind them."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "concordance"
PAGE = ROOT / "docs" / "architecture.md"

STAGES = ("base", "collect", "extract", "facts", "link", "passes", "query", "render", "serve", "workflow", "tasks")
OPENING = """# Architecture

*Made from the modules' docstrings by `make golden`; a test checks it.*

The packages sort in the order in which the data flows, and a package imports only packages to its left:

    base → collect → extract → facts → link → passes → query → render → serve → workflow → api → tasks → cli

Three narrow waists keep the parts apart: `FileFacts` (between the languages and the rest), `Facts` (between the store and
its readers), `Block` (between what a page says and how it looks). `tests/test_house.py` checks these rules.
"""


def page() -> str:
    """The page's text: every package, and in it every module with the first line of its docstring."""
    parts = [OPENING, "## Entry points\n", *map(_module, sorted(PACKAGE.glob("*.py")))]
    for stage in STAGES:
        parts += _folder(PACKAGE / stage, 2)
    return "\n".join(parts) + "\n"


def _folder(folder: Path, level: int) -> list[str]:
    name = folder.relative_to(PACKAGE)
    parts = [f"\n{'#' * level} {name}\n", f"{_docstring(folder / '__init__.py')}\n"]
    parts += map(_module, sorted(path for path in folder.glob("*.py") if path.name != "__init__.py"))
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        parts += _folder(inner, min(level + 1, 4))
    return parts


def _module(path: Path) -> str:
    return f"- [`{path.stem}`](../{path.relative_to(ROOT)}): {_docstring(path).splitlines()[0]}"


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text())) or ""
