"""`python -m bench edits`: random edits of a small repository, each update compared with a clean build."""

from __future__ import annotations

from tests.support.edits import main as main
