"""What the program is told to do: a file for each command that is no question. Each has `command`, for `cli.py`."""

from __future__ import annotations

from typing import Protocol

import click


class Task(Protocol):
    """A command that is not a question."""

    command: click.Command


PROTOCOL = Task
