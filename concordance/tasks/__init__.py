"""The commands that are not questions: one file each. Each defines `command`, for `cli.py`."""

from __future__ import annotations

from typing import Protocol

import click


class Task(Protocol):
    """A command that is not a question."""

    command: click.Command


PROTOCOL = Task
