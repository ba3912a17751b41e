"""Writes `docs/architecture.md` from the modules' own docstrings, so that it cannot fall behind them."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "concordance"
PAGE = ROOT / "docs" / "architecture.md"

OPENING = """# Architecture

*Made from the modules' docstrings by `make golden`; a test checks it.*

The packages sort in the order in which the data flows, and a stage imports only what stands left of it:

    collect → extract → facts → link → query

`model`, `errors`, `config` and `plugins` stand left of all stages; `batch`, `parallel`, `linking`, `pipeline`, `api`,
`terminal` and `cli` right of all. Three narrow waists keep the parts apart: `FileFacts` (between the languages and the
rest), `Facts` (between the store and its readers), `Answer` (between a question and how it is printed). To add a language
or a command is to add one file in `extract/languages`, `link/languages` or `query/commands`. `tests/test_house.py` checks
these rules.
"""

SECTIONS = [
    ("Left of all stages", ["base/startup.py", "base/regular_file.py", "base/kinds.py", "base/model.py", "base/errors.py", "base/confined_folder.py", "base/config.py", "base/plugins.py"]),
    ("collect: from a repository to its files", ["collect"]),
    ("extract: from one file's text to its facts", ["extract"]),
    ("facts: the store", ["facts"]),
    ("link: from names to what they mean", ["link"]),
    ("query: from a question to its answer", ["query"]),
    ("Right of all stages", ["workflow/stages/extract.py", "workflow/workers/launch.py", "workflow/workers/pool.py", "workflow/stages/link.py", "workflow/pipeline.py", "api.py", "workflow/terminal.py", "cli.py"]),
]


def page() -> str:
    """The page's text."""
    parts = [OPENING]
    for title, places in SECTIONS:
        parts.append(f"## {title}\n")
        for place in places:
            home = PACKAGE / place
            parts += map(_module, sorted(home.rglob("*.py")) if home.is_dir() else [home])
    return "\n".join(parts)


def _module(path: Path) -> str:
    said = ast.get_docstring(ast.parse(path.read_text())) or ""
    name = path.relative_to(ROOT)
    if name.name == "__init__.py":
        return f"{said}\n"
    if "languages" in name.parts:
        return f"- [`{name.stem}`](../{name}): {said.splitlines()[0]}\n"
    return f"### [`{name}`](../{name})\n\n{said}\n"
