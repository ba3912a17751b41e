"""`concord verify`: checks the book against the repository."""

from __future__ import annotations

import json
import sys

import click

from concordance.workflow import book_options, builds, terminal


@click.command("verify")
@book_options.REPO
@book_options.with_store
@click.option("--out", type=click.Path(), help="The folder of the book (default: .concordance/book in the repository).")
@click.option("--jobs", type=click.IntRange(1), help="Number of worker processes (default: one for each core).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def command(repo: str | None, out: str | None, jobs: int | None, as_json: bool) -> None:
    """Check the book against the current repository: its pages, their claims about lines, and their links.

    Exit code 1 if there is a problem.

    \b
    concord verify
    concord verify --repo ~/src/pytorch --out docs --json
    """
    with terminal.ProgressBars() as bar:
        found = builds.verify(repo, out, jobs, bar.show)
    if as_json:
        click.echo(json.dumps([problem._asdict() for problem in found.problems]))
    else:
        terminal.print_problems(found)
    if found.problems:
        sys.exit(1)
