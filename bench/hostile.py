"""`python -m bench hostile [CASE …]`: hostile repositories at full size, each built with its book."""

from __future__ import annotations

from tests.support.hostile import main as main
