"""Draws `docs/symbols.svg`, the README's picture: a real answer in a terminal's colours."""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

import golden_files
from rich.console import Console
from rich.text import Text

from concordance.cli import table
from concordance.facts.read import Facts
from concordance.pipeline import FOLDER
from concordance.query.answers import Page, find_file
from concordance.query.commands import symbols

PICTURE = Path(__file__).parent.parent / "docs" / "symbols.svg"
ASKED = "abacus/ledger.py"


def draw() -> str:
    """The symbols of a file of the sample as an SVG picture, without fonts from elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        root = golden_files.built(Path(folder))
        with Facts(str(root / FOLDER)) as facts:
            answer = symbols.answer(facts, find_file(facts, str(root), ASKED), Page())
    console = Console(record=True, width=110, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ concord symbols {ASKED}", "bold"))
    console.print(table(answer))
    drawn = console.export_svg(title="concord", unique_id="concord")
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S).replace("Fira Code", "DejaVu Sans Mono")


if __name__ == "__main__":
    PICTURE.write_text(draw())
