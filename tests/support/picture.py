"""Draws `docs/symbols.svg`, the README's picture: a real answer in a terminal's colours."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

from concordance.api import Repository
from concordance.render.answer_layout import layout

PICTURE = Path(__file__).parents[2] / "docs" / "symbols.svg"
ASKED = "abacus/ledger.py"
_WIDTH = 116


def draw(root: Path) -> str:
    """Return the symbols of a file of the built sample as an SVG picture without external fonts, whatever the
    environment says about the terminal."""
    with Repository(root, update=False) as repository:
        answer = repository.ask("symbols", ASKED)
    terminal = {"TERM": "xterm-256color"}
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True, _environ=terminal)
    console.print(Text(f"$ concord symbols {ASKED}", "bold"))
    for line in layout(answer, _WIDTH, colours=True):
        console.print(Text.from_ansi(line))
    drawn = console.export_svg(title="concord", unique_id="concord")
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S).replace("Fira Code", "DejaVu Sans Mono")
