"""Servers that tests run in processes of their own, which end with their standard input."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ended_with_input(process: subprocess.Popen[str], seconds: float) -> Iterator[None]:
    """Afterwards, close the process's standard input, and kill the process if it does not end in time."""
    try:
        yield
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
