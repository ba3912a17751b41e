"""`concord mcp`: answer coding agents over the Model Context Protocol."""

from __future__ import annotations

import os
import secrets
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
    from concordance.query.answers import Row
    from concordance.query.index.repository import Index

_PATIENCE = 5.0  # seconds that an answer waits for an edit to be indexed


@click.command("mcp")
@click.argument("repo", required=False, type=click.Path(readable=False))
@click.option(
    "--port", type=click.IntRange(1, 65535), metavar="N",
    help="Serve over HTTP on this port (default: standard input and output).",
)  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on, with --port.")
@click.option("--no-update", is_flag=True, help="Answer from the store without updating it.")
@click.option(
    "--store", type=click.Path(), metavar="DIR",
    help="The folder of the store (default: .concordance in the repository, or CONCORDANCE_STORE).",
)  # fmt: skip
@click.option("--yes", "-y", is_flag=True, help="Read a folder even if it is neither a repository nor indexed.")
def command(repo: str | None, port: int | None, host: str, no_update: bool, store: str | None, yes: bool) -> None:
    """Answer coding agents: six tools to find, read and explain code, and to follow its references.

    Agents start it themselves (see docs/agents.md). The store is kept up to date while it runs. Over HTTP, only this
    machine can connect unless --host says otherwise; then a token is required, which is printed at the start, or taken
    from CONCORDANCE_TOKEN.

    \b
    concord mcp
    concord mcp ~/src/pytorch --port 8765
    """
    try:
        from concordance.serve import mcp_server
    except ModuleNotFoundError as error:
        advice = "Install it with: pip install 'repo-concordance[mcp]'"
        raise UserError(f"`concord mcp` needs the extra `mcp`: {error.name} is not installed", advice) from None
    from concordance.serve.agent_tools import AgentTools
    from concordance.serve.current_index import CurrentIndex
    from concordance.workflow.watch.background import following

    use_store(store)
    root = os.path.abspath(repo) if repo is not None else find_root(".")
    if repo is None:
        store_location.ask_first(root, yes)
    with following(root, not no_update, _log):
        os.chdir(root)  # paths in requests are relative to the repository
        index = CurrentIndex(root, store_path(root), partial(_book, root), 0.0 if no_update else _PATIENCE)
        tools = AgentTools(index, partial(_show, root))
        if port is None:
            mcp_server.run_stdio(tools)
            return
        token = "" if host in mcp_server.LOOPBACK else os.environ.get("CONCORDANCE_TOKEN") or secrets.token_urlsafe(24)
        _log(f"http://{host}:{port}/mcp answers about {root}" + (f"; token: {token}" if token else ""))
        mcp_server.run_http(mcp_server.http_app(tools, host, port, token), host, port)


def _book(root: str) -> Book:
    from concordance.workflow.store_update import read_settings

    return read_settings(root).book


def _show(root: str, index: Index, subject: str) -> list[Row]:
    from concordance.workflow import show

    return show.render_pages(index, subject, os.path.join(store_path(root), "book"))


def _log(message: str) -> None:
    click.echo(f"concord: {escape_hidden(message)}", err=True)
