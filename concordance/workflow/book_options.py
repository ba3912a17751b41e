"""The options that say which book is meant, for every command that makes or compares one.

In: a click command. Out: the same with `--out`, `--source`, `--history`, `--include-generated` and `--jobs`, and what
was said as `BookOptions`. A book is checked and kept current with the options that it is built with, so there is one
list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from concordance.base.config import Book
from concordance.workflow import builds
from concordance.workflow.store_location import use_store

REPO = click.option("--repo", help="The repository (default: the one around the current folder).")
YES = click.option("--yes", "-y", is_flag=True, help="Read a folder that is neither a repository nor indexed.")

_OPTIONS = (
    click.option(
        "--out", type=click.Path(), help="The folder of the book (default: .concordance/book in the repository)."
    ),
    click.option(
        "--source", type=click.Choice(("full", "link")),
        help="Whether pages hold the source, or link it (default: full).",
    ),
    click.option(
        "--history/--no-history", default=None, help="Say on pages when and by whom files were changed (default: no)."
    ),
    click.option(
        "--include-generated/--no-include-generated", default=None,
        help="Write pages of the book's own pages, too (default: no).",
    ),
    click.option("--jobs", type=click.IntRange(1), help="Worker processes (default: one for each core)."),
)  # fmt: skip


@dataclass(frozen=True)
class BookOptions:
    """What was said of the book; None where nothing was."""

    out: str | None
    source: bool | None
    history: bool | None
    generated: bool | None
    jobs: int | None

    def of(self, repo: str) -> Book:
        """What the book shall hold: what was said, else what the repository's owners have set."""
        return builds.wishes_of(repo, self.source, self.history, self.generated)


def with_store(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option `--store DIR` to a command, and run the command with the store in that folder."""

    @wraps(command)
    def run(store: str | None, **more: Any) -> None:
        use_store(store)
        command(**more)

    return click.option(
        "--store", type=click.Path(),
        help="The folder of the store (default: .concordance in the repository, or CONCORDANCE_STORE).",
    )(run)  # fmt: skip


def of_a_book(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options to a command, which is given `wishes`."""

    @wraps(command)
    def run(
        out: str | None, source: str | None, history: bool | None, include_generated: bool | None, jobs: int | None,
        **more: Any,
    ) -> None:  # fmt: skip
        said = source == "full" if source else None
        command(wishes=BookOptions(out, said, history, include_generated, jobs), **more)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run
