"""Draws `docs/symbols.svg`, the README's picture: a real answer in a terminal's colours."""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from concordance.api import Repository
from concordance.render.answer_layout import layout
from tests.support import golden_files

PICTURE = Path(__file__).parents[2] / "docs" / "symbols.svg"
ASKED = "abacus/ledger.py"
_WIDTH = 116


def draw() -> str:
    """The symbols of a file of the sample as an SVG picture, without fonts from elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        root = golden_files.built(Path(folder))
        with Repository(root, update=False) as repository:
            answer = repository.ask("symbols", ASKED)
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ concord symbols {ASKED}", "bold"))
    for line in layout(answer, _WIDTH, colours=True):
        console.print(Text.from_ansi(line))
    drawn = console.export_svg(title="concord", unique_id="concord")
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S).replace("Fira Code", "DejaVu Sans Mono")


if __name__ == "__main__":
    PICTURE.write_text(draw())
