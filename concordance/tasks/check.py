"""`concord check`: tell whether the book is up to date, or the store damaged."""

from __future__ import annotations

import json
import sys

import click

from concordance.base.characters import escape_hidden
from concordance.collect.walk import find_root
from concordance.workflow import book_options, builds, terminal


@click.command("check")
@book_options.REPO
@book_options.with_book_options
@click.option("--store", is_flag=True, help="Check the store, text index and cache for damage instead.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(repo: str | None, options: book_options.BookOptions, store: bool, as_json: bool) -> None:
    """Check whether the book is up to date: whether `concord build` with the same options would change it.

    Exit code 1 if it would, or if there is no book; each stale page is listed, with the reason if known. The book is
    not changed.

    With --store, read everything that is stored for the repository and compare it with its checksums: the store, the
    full-text index, the page records, and the cache of facts. Exit code 1 if anything is damaged.

    \b
    concord check --out docs
    concord check --repo ~/src/pytorch --json
    concord check --store
    """
    root = repo if repo is not None else find_root(".")
    if store:
        _check_store(root, as_json)
        return
    with terminal.ProgressBars() as bar:
        difference = builds.check(root, options.out, options.of(root), options.jobs, bar.show)
    if as_json:
        stale = [page._asdict() for page in difference.stale]
        current = not difference.is_stale
        click.echo(json.dumps({**difference.__dict__, "stale": stale, "current": current}))
    else:
        terminal.print_difference(difference, repo, options.out)
    if difference.is_stale:
        sys.exit(1)


def _check_store(root: str, as_json: bool) -> None:
    with terminal.ProgressBars() as bar:
        problems = builds.audit_store(root, bar.show)
    if as_json:
        click.echo(json.dumps({"sound": not problems, "damaged": [damage._asdict() for damage in problems]}))
    else:
        for damage in problems:
            click.echo(escape_hidden(f"{damage.path}: {damage.problem}. {damage.advice}."))
        click.echo(
            f"{len(problems):,} damaged" if problems else "No damage found: all stored data matches its checksums."
        )
    if problems:
        sys.exit(1)
