"""Shared by the commands that answer until they are stopped: `lsp`, `mcp` and `serve`.

In: the options of such a command. Out: the repository that it is about. Messages go to standard error, as standard
output may carry a protocol.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from concordance.base.characters import escape_hidden
from concordance.base.errors import UserError
from concordance.workflow.store_location import root_of, use_store

Command = TypeVar("Command", bound=Callable[..., Any])
_OPTIONS = (
    click.argument("repo", required=False, type=click.Path(readable=False)),
    click.option("--no-update", is_flag=True, help="Answer from the store without updating it."),
    click.option(
        "--store", type=click.Path(), metavar="DIR",
        help="The folder of the store (default: .concordance in the repository, or CONCORDANCE_STORE).",
    ),
    click.option("--yes", "-y", is_flag=True, help="Read a folder even if it is neither a repository nor indexed."),
)  # fmt: skip


def with_service_options(command: Command) -> Command:
    """Decorate a command with its repository, `--no-update`, `--store` and `--yes`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@contextmanager
def importing_extra(name: str) -> Iterator[None]:
    """Import what needs an extra, or say how to install it; the command has the name of the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        advice = f"Install it with: pip install 'repo-concordance[{name}]'"
        raise UserError(f"`concord {name}` needs the extra `{name}`: {error.name} is not installed", advice) from None


def find_repository(repo: str | None, store: str | None, yes: bool) -> str:
    """Return the repository to answer about: the given one, else the one around the current folder, after asking."""
    use_store(store)
    return os.path.abspath(root_of(repo, yes))


def log(message: str) -> None:
    """Print a message on standard error."""
    click.echo(f"concord: {escape_hidden(message)}", err=True)
