"""`concord serve`: browse and search a repository in a web browser.

The code that makes pages is loaded only in the processes that make them, so the server itself is ready long before.
"""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import click

from concordance.base import forks
from concordance.base.characters import escape_hidden
from concordance.base.config import Book, core_count, site_book
from concordance.base.errors import StoreBroken, UserError
from concordance.facts.store import Store
from concordance.query.workspace import workspace_file
from concordance.serve import front_page, server
from concordance.serve.reader_pool import End
from concordance.workflow.store_location import check_store, make_store, store_path
from concordance.workflow.terminal import IntRange
from concordance.workflow.watch import service

if TYPE_CHECKING:
    from concordance.query.answers import Row
    from concordance.query.index.repository import Index
    from concordance.render.site.preview import SitePreview


@click.command("serve")
@click.option(
    "--port",
    type=IntRange(0, 65535),
    metavar="N",
    help=f"Port to listen on (default: {server.PORT}, or a free one).",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; by default, only this machine can connect.",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--watch", is_flag=True, help="Keep the pages up to date while files change.")
@click.option(
    "--readers", type=IntRange(1, 64), metavar="N", help="Number of processes that render pages (default: 2)."
)
@click.option(
    "--base-url",
    metavar="URL",
    default="",
    help="The address under which a proxy publishes the site (docs/workspaces.md).",
)
@click.option("--workspace", metavar="DIR", help="Serve all repositories of a workspace, as they were last built.")
@service.with_service_options
def command(
    repo: str | None, port: int | None, host: str, no_browser: bool, watch: bool, no_update: bool, readers: int | None,
    store: str | None, yes: bool, base_url: str, workspace: str | None,
) -> None:  # fmt: skip
    """Browse and search a repository in a web browser.

    Serves from the existing store at once, and updates it in the background. While there is none, it shows folders and
    sources, and how far reading them is. Only the store is written. Ctrl-C stops it.

    \b
    concord serve
    concord serve ~/src/pytorch --port 8000 --watch
    concord serve --workspace ~/team --base-url https://code.example.org/docs/
    """
    if not server.is_public_url(base_url):
        raise UserError(f"--base-url cannot be {base_url}", "Write it as https://code.example.org/docs/")
    if workspace is not None:
        if watch or repo is not None or store is not None:
            advice = "Leave out REPO, --store and --watch; `concord workspace build` updates it, beside the server"
            raise UserError("a workspace is served as it was last built", advice)
        _serve_workspace(os.path.abspath(workspace), port, host, no_browser, readers, base_url)
    # A folder named on the command line is read without asking; the current folder only after a confirmation.
    root = service.find_repository(repo, store, yes or repo is not None)
    folder = check_store(root)
    meta = _meta(root, folder, no_update)
    progress_from, progress_to = os.pipe() if meta is None else (-1, -1)
    socket = server.open_socket(host, port)
    # The updating process is forked before the readers, so that it does not inherit their sockets.
    with closing(socket), _updating(root, watch, socket, no_update, progress_to):
        number = readers or min(2, core_count())
        web = server.Server(
            root, os.path.join(folder, "index.db"), partial(_run_reader, root, watch, meta is None), number, host,
            watch, service.log, base_url, progress_from,
        )  # fmt: skip
        if meta is not None:
            version = front_page.version_of(root, meta, watch)
            web.set_front_page(version, front_page.cached_front_page(root, version, watch))
        received = _run(web, socket, host, root, no_browser)
    sys.exit(128 + received)


def _run(web: server.Server, socket: End, host: str, shown: str, no_browser: bool) -> int:
    """Serve until a signal arrives, and return its number."""
    address = server.address_of(host, socket)
    click.echo(f"{address} shows {escape_hidden(shown)}; Ctrl-C stops it")
    if not no_browser:  # some browsers return only when they are closed
        forks.Process(target=webbrowser.open, args=(address,), daemon=True).start()
    received = server.run(web, socket)
    click.echo("stopped", err=True)
    return received


def _serve_workspace(
    folder: str, port: int | None, host: str, no_browser: bool, readers: int | None, base_url: str
) -> NoReturn:
    """Serve a workspace; nothing is written."""
    from concordance.facts.catalogue import Catalogue, path_of
    from concordance.serve.workspace_server import WorkspaceServer

    workspace_file.read_repositories(folder)
    Catalogue(folder).close()  # a problem is reported here, not by every reader
    socket = server.open_socket(host, port)
    with closing(socket):
        target = partial(_run_workspace_reader, folder)
        number = readers or core_count()
        web = WorkspaceServer(folder, path_of(folder), target, number, host, False, service.log, base_url)
        received = _run(web, socket, host, folder, no_browser)
    sys.exit(128 + received)


def _run_workspace_reader(folder: str, end: End) -> None:
    """Run a reader process of a workspace."""
    from concordance.serve.workspace_reader import WorkspaceReader
    from concordance.workflow.stages.catalogue import repository_settings

    os.chdir(folder)
    WorkspaceReader(folder, repository_settings).serve(end)


def _run_reader(root: str, live: bool, is_first: bool, end: End) -> None:
    """Run a reader process: an index belongs to one process."""
    from concordance.serve.reader import StoreReader

    os.chdir(root)  # paths in requests are relative to the repository, wherever the server was started
    more: dict[str, Callable[[Index, str], list[Row]]] = {"show": partial(_show, root)}
    preview = partial(_open_preview, root) if is_first else None
    StoreReader(root, store_path(root), partial(site_settings, root), more, live, preview).serve(end)


def _open_preview(root: str) -> SitePreview:
    from concordance.render.site.preview import open_preview
    from concordance.workflow.book_options import read_settings

    return open_preview(root, os.path.join(store_path(root), "book"), read_settings(root).config)


def site_settings(root: str) -> Book:
    """Return the current settings for the pages of a site."""
    from concordance.workflow.book_options import read_settings

    return site_book(read_settings(root).book)


def _show(root: str, index: Index, subject: str) -> list[Row]:
    from concordance.workflow.show import show_pages

    return show_pages(root, index, subject)


def _updating(root: str, watch: bool, socket: End, no_update: bool, progress_to: int) -> AbstractContextManager[None]:
    """Keep the store up to date in another process; not with `no_update`."""
    if no_update:
        return nullcontext()
    from concordance.workflow.watch.background import updating

    return updating(root, watch, service.log, socket.close, progress_to)


def _meta(root: str, folder: str, no_update: bool) -> dict[str, str] | None:
    """Return the metadata of the store; None if there is none, and one can be built."""
    try:
        with Store(folder) as known:
            return known.meta()
    except StoreBroken:
        if no_update:
            raise
    from concordance.collect.walk import require_folder
    from concordance.workflow.book_options import read_settings

    require_folder(root)
    read_settings(root)
    make_store(root)
    service.log(f"reading {root} for the first time; its store is {folder}")
    return None
