"""`concord check`: says whether the book is as it would be written now."""

from __future__ import annotations

import json
import sys

import click

from concordance import api, options, terminal
from concordance.collect.source import find_root


@click.command("check")
@click.option("--repo", help="The repository (default: the one around the current folder).")
@options.of_a_book
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(repo: str | None, wishes: options.Wishes, as_json: bool) -> None:
    """Say whether the book is current: whether `concord build` with the same options would change anything in it.

    Exit code 1 where it would, or where there is no book; each page is named with the reason, where it is known.
    Nothing in the book is touched.

    \b
    concord check --out docs
    concord check --repo ~/src/pytorch --json
    """
    root = repo if repo is not None else find_root(".")
    with terminal.Bar() as bar:
        found = api.check(root, wishes.out, wishes.of(root), wishes.jobs, bar.show)
    if as_json:
        stale = [page._asdict() for page in found.stale]
        current = not found.is_stale
        click.echo(json.dumps({**found.__dict__, "stale": stale, "current": current}))
    else:
        terminal.print_compared(found, repo, wishes.out)
    if found.is_stale:
        sys.exit(1)
