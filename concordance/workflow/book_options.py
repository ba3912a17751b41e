"""What a book contains and where it is: by the options of a command, or else by the repository's settings.

In: a repository, or a click command. Out: its settings; the same command with `--out`, `--source`, `--history`,
`--include-generated` and `--jobs`, whose values it receives as `BookOptions`. A book is checked and kept current with
the options that it was built with, so there is only one list.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import click

from concordance.base import config_file
from concordance.base.config import Book
from concordance.extract import ruleset
from concordance.query.sections.section_order import titles
from concordance.workflow.store_location import store_path, use_store
from concordance.workflow.terminal import IntRange

MARKDOWN, HTML = "markdown", "html"  # the format of a book by default, and the one word for a site
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
        "--jobs", type=IntRange(1), metavar="N", help="Number of worker processes (default: one for each core)."
    ),
)  # fmt: skip


def read_settings(root: str) -> config_file.Settings:
    """Return the settings of a repository."""
    return config_file.read(root, ruleset.rules, titles)


def book_settings(
    root: str, source: bool | None = None, history: bool | None = None, generated: bool | None = None
) -> Book:
    """Return what the book contains: the arguments, else the settings of the repository."""
    book = read_settings(root).book
    return replace(
        book, source=book.source if source is None else source,
        history=book.history if history is None else history,
        generated=book.generated if generated is None else generated,
    )  # fmt: skip


def book_folder(root: str, out: str | None = None) -> str:
    """Return the folder of the book: `out`, else the one in the settings of the repository."""
    return out or default_folder(root, read_settings(root))


def default_folder(root: str, settings: config_file.Settings, form: str = MARKDOWN) -> str:
    """Return the folder of a book in a format: in the store, or where the settings say."""
    if form != MARKDOWN:
        return os.path.join(store_path(root), "site" if form == HTML else f"book-{form}")
    in_store = settings.out == config_file.BOOK
    return os.path.join(store_path(root), "book") if in_store else os.path.join(root, settings.out)


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
        return book_settings(repo, self.source, self.history, self.generated)


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
