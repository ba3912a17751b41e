"""`concord watch`: keep the book up to date while files change."""

from __future__ import annotations

import json

import click

from concordance.workflow import book_options, store_location, terminal
from concordance.workflow.watch import watch


@click.command("watch")
@click.argument("repo", required=False, type=click.Path(readable=False))
@book_options.with_book_options
@book_options.with_store
@book_options.YES
@click.option(
    "--poll", is_flag=True, help="Poll every few seconds, for file systems without change events (network drives)."
)
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for each update.")
@click.option("--verbose", "-v", is_flag=True, help="List every page, and report how long each step took.")
def command(
    repo: str | None, options: book_options.BookOptions, yes: bool, poll: bool, as_json: bool, verbose: bool
) -> None:
    """Update the store and the book whenever a file or the branch changes, until Ctrl-C.

    \b
    concord watch
    concord watch ~/src/pytorch --out book
    """
    folder = repo if repo is not None else "."
    if repo is None:
        store_location.ask_first(folder, yes)
    with terminal.ProgressBars() as bar:

        def report(update: watch.Update) -> None:
            bar.clear()
            if as_json:
                click.echo(json.dumps(watch.as_row(update)))
            else:
                done = (update.summary, update.book, update.seconds, update.is_first)
                terminal.print_update(folder, *done, verbose)

        current = watch.CurrentBook(folder, options.out, lambda: options.of(folder), options.jobs, bar.show)
        watch.Watch(current, poll, report).run()
