"""`concord build`: brings the store up to date and writes the book."""

from __future__ import annotations

import json

import click

from concordance import api, terminal
from concordance.config import Book


@click.command("build")
@click.argument("repo", default=".", type=click.Path(readable=False))
@click.option("--out", type=click.Path(), help="The folder of the book (default: .concordance/book in the repository).")
@click.option(
    "--source",
    type=click.Choice(("full", "link")),
    default="full",
    show_default=True,
    help="Whether pages hold the source, or link it.",
)
@click.option("--history", is_flag=True, help="Say on pages when and by whom files were changed.")
@click.option("--include-generated", is_flag=True, help="Write pages of the book's own pages, too.")
@click.option("--no-book", is_flag=True, help="Only bring the store up to date.")
@click.option("--jobs", type=click.IntRange(1), help="Worker processes (default: one for each core).")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--verbose", "-v", is_flag=True, help="Say how long each step took.")
def command(
    repo: str, out: str | None, source: str, history: bool, include_generated: bool, no_book: bool, jobs: int | None,
    as_json: bool, verbose: bool,
) -> None:  # fmt: skip
    """Read every file of a repository, store what each says, and write the book of it.

    \b
    concord build
    concord build ~/src/pytorch --out docs --verbose
    """
    written = None
    with terminal.Bar() as bar:
        if no_book:
            summary = api.build(repo, jobs, bar.show)
        else:
            summary, written = api.book(repo, out, Book(source == "full", history, include_generated), jobs, bar.show)
    if as_json:
        click.echo(json.dumps({**summary.__dict__, **({"book": written.__dict__} if written else {})}))
    else:
        terminal.print_summary(repo, summary, verbose)
        if written is not None:
            terminal.print_book(written)
