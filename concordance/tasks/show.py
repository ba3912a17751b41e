"""`concord show`: show the page of a file, folder or name."""

from __future__ import annotations

import gc
import json

import click

from concordance import api
from concordance.workflow import book_options, store_location, terminal


@click.command("show")
@click.argument("subject", metavar="PATH|NAME")
@book_options.REPO
@book_options.with_store
@book_options.YES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@click.option("--no-update", is_flag=True, help="Answer from the store without updating it first.")
def command(subject: str, repo: str | None, as_json: bool, no_update: bool, yes: bool) -> None:
    """Show the page of a file or folder, or the part about a name.

    \b
    concord show torch/nn/modules/linear.py
    concord show torch.nn.Linear
    """
    root = store_location.root_of(repo, yes)
    gc.set_threshold(100_000, 50, 1000)  # as for a question: what it reads stays to its end
    with terminal.ProgressBars() as bar:
        repository = api.Repository(root, not no_update, bar.show)
    with repository:
        rows = repository.show(subject)
    if as_json:
        click.echo(json.dumps(rows))
    else:
        terminal.print_pages([str(row["text"]) for row in rows])
