"""`python -m bench repetition [LANGUAGE …] [--tokens T …] [--size KB …] [--deadline S] [--all]`: files of one repeated token."""

from __future__ import annotations

from tests.support.repetition import main as main
