"""`concord verify`: check every page of the book against the source."""

from __future__ import annotations

import json
import sys

import click

from concordance.workflow import book_options, builds, terminal


@click.command("verify")
@book_options.REPO
@book_options.with_store
@click.option(
    "--out",
    type=click.Path(),
    metavar="DIR",
    help="The folder of the book (default: .concordance/book in the repository).",
)
@click.option(
    "--jobs", type=terminal.IntRange(1), metavar="N", help="Number of worker processes (default: one for each core)."
)
@click.option("--sample", type=terminal.IntRange(1), metavar="N", help="Check only this many pages, chosen at random.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def command(repo: str | None, out: str | None, jobs: int | None, sample: int | None, as_json: bool) -> None:
    """Check the book against the source: read every file anew, render every page again, and compare.

    Each problem has a page, a line, and what is at fault: the book (the page is not what the source says), the store
    (it does not say what the source says) or the program (the page is what it writes, but the source contradicts it).
    This takes about as long as a first build; nothing is changed. Exit code 1 if there is a problem.

    With --sample, pages are rendered from the store instead, after bringing it up to date, and only the files that
    these pages are about are read anew.

    \b
    concord verify
    concord verify --sample 100
    concord verify --repo ~/src/pytorch --out docs --json
    """
    with terminal.ProgressBars() as bar:
        result = builds.verify(repo, out, jobs, bar.show, sample or 0)
    if as_json:
        click.echo(json.dumps([problem._asdict() for problem in result.problems]))
    else:
        terminal.print_problems(result)
        if result.problems:
            click.echo("Run `concord build` if the source has changed since the book was written.")
    if result.problems:
        sys.exit(1)
