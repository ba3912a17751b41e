"""`concord diff`: report what changed between two revisions."""

from __future__ import annotations

import json

import click

from concordance import api
from concordance.workflow import book_options, builds, terminal


@click.command("diff")
@click.argument("revisions", metavar="[REV1 [REV2]]", nargs=-1)
@book_options.REPO
@book_options.with_store
@click.option("--review", is_flag=True, help="Report what the change may break, and what to run and read first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@click.option("--no-update", is_flag=True, help="Do not update the store first.")
def command(revisions: tuple[str, ...], repo: str | None, review: bool, as_json: bool, no_update: bool) -> None:
    """Report what changed for a reader between two revisions: definitions, files, dependencies, tests, pages.

    One revision is compared with the work tree; without one, HEAD is. `A..B` is the same as `A B`, and `A...B` starts
    at the merge base of the two. Nothing is checked out. With --review: changed definitions, references to them from
    code that did not change, tests to run first as commands, documents that mention them, owners, and statements of the
    book that no longer hold.

    \b
    concord diff
    concord diff main
    concord diff v1.0 v1.1 --json
    concord diff main...my-branch
    concord diff --review
    """
    builds.check_revisions(repo, revisions)
    with terminal.ProgressBars() as bar:
        repository = api.Repository(repo, not no_update, bar.show)
        with repository:
            rows, text = repository.compared(*revisions, progress=bar.show, review=review)
    if as_json:
        click.echo(json.dumps(rows))
    else:
        terminal.print_pages([text])
