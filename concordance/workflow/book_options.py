"""Command-line options that describe a book, shared by all commands that write or compare one.

In: a click command. Out: the same command with `--out`, `--source`, `--history`, `--include-generated` and `--jobs`,
whose values it receives as `BookOptions`. A book is checked and kept current with the options that it was built with,
so there is only one list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from concordance.base.config import Book
from concordance.workflow import store_update
from concordance.workflow.store_location import use_store

REPO = click.option(
    "--repo", metavar="DIR", help="The repository (default: the repository that contains the current folder)."
)
YES = click.option("--yes", "-y", is_flag=True, help="Read a folder even if it is neither a repository nor indexed.")

_OPTIONS = (
    click.option(
        "--out", type=click.Path(), metavar="DIR",
        help="The folder of the book (default: .concordance/book in the repository)."
    ),
    click.option(
        "--source", type=click.Choice(("full", "link")),
        help="Include the source in pages, or link to it (default: full).",
    ),
    click.option(
        "--history/--no-history", default=None, help="Show on pages when files were changed, and by whom (default: no)."
    ),
    click.option(
        "--include-generated/--no-include-generated", default=None,
        help="Also write pages about the book's own pages (default: no).",
    ),
    click.option(
        "--jobs", type=click.IntRange(1), metavar="N", help="Number of worker processes (default: one for each core)."
    ),
)  # fmt: skip


@dataclass(frozen=True)
class BookOptions:
    """The options of the book; None for those that were not given."""

    out: str | None
    source: bool | None
    history: bool | None
    generated: bool | None
    jobs: int | None

    def of(self, repo: str) -> Book:
        """Return what the book contains: the given options, else the settings of the repository."""
        return store_update.book_settings(repo, self.source, self.history, self.generated)


def with_store(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option `--store DIR` to a command, and run the command with the store in that folder."""

    @wraps(command)
    def run(store: str | None, **more: Any) -> None:
        use_store(store)
        command(**more)

    return click.option(
        "--store", type=click.Path(), metavar="DIR",
        help="The folder of the store (default: .concordance in the repository, or CONCORDANCE_STORE).",
    )(run)  # fmt: skip


def with_book_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a command, which receives them as `options`."""

    @wraps(command)
    def run(
        out: str | None, source: str | None, history: bool | None, include_generated: bool | None, jobs: int | None,
        **more: Any,
    ) -> None:  # fmt: skip
        with_source = source == "full" if source else None
        command(options=BookOptions(out, with_source, history, include_generated, jobs), **more)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run
