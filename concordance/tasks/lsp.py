"""`concord lsp`: answer an editor over the Language Server Protocol."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import click

from concordance.base.characters import escape_hidden
from concordance.base.errors import UserError
from concordance.collect.walk import find_root
from concordance.workflow import store_location
from concordance.workflow.store_location import store_path, use_store

if TYPE_CHECKING:
    from concordance.base.config import Book


@click.command("lsp")
@click.argument("repo", required=False, type=click.Path(readable=False))
@click.option("--no-update", is_flag=True, help="Answer from the store without updating it.")
@click.option(
    "--store", type=click.Path(), metavar="DIR",
    help="The folder of the store (default: .concordance in the repository, or CONCORDANCE_STORE).",
)  # fmt: skip
@click.option("--yes", "-y", is_flag=True, help="Read a folder even if it is neither a repository nor indexed.")
def command(repo: str | None, no_update: bool, store: str | None, yes: bool) -> None:
    """Answer an editor on standard input and output: definitions, references, hover, hierarchies, code lenses.

    Editors start it themselves (see docs/editors.md). The store is kept up to date while it runs.

    \b
    concord lsp
    concord lsp ~/src/pytorch
    """
    try:
        from concordance.serve import lsp_server
    except ModuleNotFoundError as error:
        advice = "Install it with: pip install 'repo-concordance[lsp]'"
        raise UserError(f"`concord lsp` needs the extra `lsp`: {error.name} is not installed", advice) from None
    from concordance.serve.current_index import CurrentIndex
    from concordance.workflow.watch.background import following

    use_store(store)
    root = os.path.abspath(repo) if repo is not None else find_root(".")
    if repo is None:
        store_location.ask_first(root, yes)
    with following(root, not no_update, _log):
        os.chdir(root)  # paths in questions are relative to the repository
        lsp_server.make_server(root, CurrentIndex(root, store_path(root), partial(_book, root), 0.0)).start_io()


def _book(root: str) -> Book:
    from concordance.workflow.store_update import read_settings

    return read_settings(root).book


def _log(message: str) -> None:
    click.echo(f"concord: {escape_hidden(message)}", err=True)
