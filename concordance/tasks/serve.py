"""`concord serve`: shows the book in a browser, from the store.

The code that makes pages is loaded only in the processes that make them, so the server itself is ready long before.
"""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial

import click

from concordance.base import forks
from concordance.base.characters import escape_hidden
from concordance.base.config import core_count
from concordance.base.errors import ConcordanceError, StoreBroken
from concordance.collect.walk import find_root
from concordance.facts.store import Store
from concordance.serve import front_page, server
from concordance.serve.reader_pool import End
from concordance.workflow import store_location
from concordance.workflow.store_location import check_store, use_store

_GRACE = 10.0  # seconds that the updating process may take to end


@click.command("serve")
@click.argument("repo", required=False, type=click.Path(readable=False))
@click.option(
    "--port", type=click.IntRange(0, 65535), help=f"Port to listen on (default: {server.PORT}, or a free one)."
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; by default, only this machine can connect.",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--watch", is_flag=True, help="Keep the pages up to date while files change.")
@click.option("--no-update", is_flag=True, help="Serve the store without updating it.")
@click.option("--readers", type=click.IntRange(1, 64), help="Number of processes that render pages (default: 2).")
@click.option(
    "--store",
    type=click.Path(),
    help="The folder of the store (default: .concordance in the repository, or CONCORDANCE_STORE).",
)
@click.option("--yes", "-y", is_flag=True, help="Read a folder even if it is neither a repository nor indexed.")
def command(
    repo: str | None, port: int | None, host: str, no_browser: bool, watch: bool, no_update: bool, readers: int | None,
    store: str | None, yes: bool,
) -> None:  # fmt: skip
    """Browse and search a repository in a web browser.

    Serves from the existing store at once, and updates it in the background; if there is none, it is built first. Only
    the store is written. Ctrl-C stops it.

    \b
    concord serve
    concord serve ~/src/pytorch --port 8000 --watch
    """
    use_store(store)
    root = os.path.abspath(repo) if repo is not None else find_root(".")
    if repo is None:
        store_location.ask_first(root, yes)
    folder = check_store(root)
    meta = _meta(root, folder, no_update)
    socket = server.open_socket(host, port)
    # The updating process is forked before the readers, so that it does not inherit their sockets.
    with closing(socket), _updating(root, watch, socket, no_update):
        number = readers or min(2, core_count())
        web = server.Server(
            root, os.path.join(folder, "index.db"), partial(_read, root, watch), number, host, watch, _log
        )
        version = front_page.version_of(root, meta, watch)
        web.begin_with(version, front_page.cached_front_page(root, version, watch))
        address = server.address_of(host, socket)
        click.echo(f"{address} shows {escape_hidden(root)}; Ctrl-C stops it")
        if not no_browser:  # some browsers return only when they are closed
            forks.Process(target=webbrowser.open, args=(address,), daemon=True).start()
        received = server.run(web, socket)
    click.echo("stopped", err=True)
    sys.exit(128 + received)


def _read(root: str, live: bool, end: End) -> None:
    """Run a reader process."""
    from concordance.workflow.watch import server_processes

    server_processes.run_reader(root, live, end)


@contextmanager
def _updating(root: str, watch: bool, socket: End, no_update: bool) -> Iterator[None]:
    """Keep the store up to date in another process, unless `no_update` is set."""
    if no_update:
        yield
        return
    process = forks.Process(target=_keep, args=(root, watch, socket))
    try:
        process.start()
        yield
    finally:
        for end in (process.terminate, process.kill):
            if process.is_alive():
                end()
                process.join(_GRACE)


def _keep(root: str, watch: bool, socket: End) -> None:
    """Run the process that keeps the store up to date. Errors are reported, and the existing store is served."""
    from concordance.workflow.watch import server_processes

    socket.close()
    try:
        server_processes.keep_current(root, watch, _log)
    except (ConcordanceError, OSError) as error:
        _log(f"{str(error).rstrip('.')}. Serving the existing store")
    except KeyboardInterrupt:  # the server is ending
        pass


def _meta(root: str, folder: str, no_update: bool) -> dict[str, str]:
    """Return the metadata of the store; build it if there is none."""
    try:
        with Store(folder) as known:
            return known.meta()
    except StoreBroken:
        if no_update:
            raise
    from concordance.workflow import builds, terminal

    with terminal.ProgressBars() as bar:
        builds.build(root, None, bar.show)
    with Store(folder) as known:
        return known.meta()


def _log(word: str) -> None:
    click.echo(f"concord: {escape_hidden(word)}", err=True)
