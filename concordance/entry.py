"""Where the program `concord` begins.

In: nothing. Out: the command line's `main`, imported after the module path is rid of the current folder.
"""

from __future__ import annotations

from concordance import startup

startup.harden()

from concordance.cli import main as main  # noqa: E402 - the path first
