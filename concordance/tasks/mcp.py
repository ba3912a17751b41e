"""`concord mcp`: answer coding agents over the Model Context Protocol."""

from __future__ import annotations

import os
import secrets
from functools import partial

import click

from concordance.query.answers import Row
from concordance.query.index.repository import Index
from concordance.workflow.terminal import IntRange
from concordance.workflow.watch import service

_PATIENCE = 5.0  # seconds that an answer waits for an edit to be indexed


@click.command("mcp")
@click.option(
    "--port", type=IntRange(1, 65535), metavar="N",
    help="Serve over HTTP on this port (default: standard input and output).",
)  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on, with --port.")
@service.with_service_options
def command(repo: str | None, port: int | None, host: str, no_update: bool, store: str | None, yes: bool) -> None:
    """Answer coding agents: six tools to find, read and explain code, and to follow its references.

    Agents start it themselves (see docs/agents.md). The store is kept up to date while it runs. Over HTTP, only this
    machine can connect unless --host says otherwise; then a token is required, which is printed at the start, or taken
    from CONCORDANCE_TOKEN.

    \b
    concord mcp
    concord mcp ~/src/pytorch --port 8765
    """
    with service.importing_extra("mcp"):
        from concordance.serve import mcp_server
    from concordance.serve.agent_tools import AgentTools
    from concordance.workflow import book_options
    from concordance.workflow.diff import review_work_tree
    from concordance.workflow.show import show_pages
    from concordance.workflow.watch.background import current_index

    root = service.find_repository(repo, store, yes)

    def review(index: Index) -> list[Row]:
        return review_work_tree(index, book_options.book_folder(root), book_options.read_settings(root).config)

    with current_index(root, not no_update, 0.0 if no_update else _PATIENCE, service.log) as index:
        tools = AgentTools(index, partial(show_pages, root), review)
        if port is None:
            mcp_server.run_stdio(tools)
            return
        token = "" if host in mcp_server.LOOPBACK else os.environ.get("CONCORDANCE_TOKEN") or secrets.token_urlsafe(24)
        service.log(f"http://{host}:{port}/mcp answers about {root}" + (f"; token: {token}" if token else ""))
        mcp_server.run_http(mcp_server.http_app(tools, host, port, token), host, port)
