"""`concord build`: read a repository and write its book."""

from __future__ import annotations

import json
import re
import time

import click

from concordance.base.config import EXECUTORS, RAY, Workers
from concordance.base.errors import UserError
from concordance.workflow import book_options, builds, store_location, store_update, terminal


@click.command("build")
@click.argument("repo", required=False, type=click.Path(readable=False))
@book_options.with_book_options
@book_options.with_store
@book_options.YES
@click.option(
    "--format",
    "form",
    type=click.Choice(builds.formats()),
    default=book_options.MARKDOWN,
    show_default=True,
    help="Write the book in Markdown, or as a site for browsers (default folder: .concordance/site).",
)
@click.option(
    "--executor",
    type=click.Choice(EXECUTORS),
    envvar="CONCORDANCE_EXECUTOR",
    help="Extract files in processes of this machine, or in a Ray cluster (default: processes).",
)
@click.option(
    "--address",
    metavar="HOST:PORT",
    envvar="CONCORDANCE_RAY_ADDRESS",
    help="The Ray cluster (default: start one on this machine for the build).",
)
@click.option("--no-book", is_flag=True, help="Only update the store.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--verbose", "-v", is_flag=True, help="Report how long each step took.")
def command(
    repo: str | None,
    options: book_options.BookOptions,
    yes: bool,
    form: str,
    executor: str | None,
    address: str | None,
    no_book: bool,
    as_json: bool,
    verbose: bool,
) -> None:
    """Read every file of a repository, store the facts, and write the book.

    Options that are not given are taken from the repository's concordance.toml, or keep their defaults.

    \b
    concord build
    concord build ~/src/pytorch --out book --verbose
    concord build --format html --out site
    concord build --executor ray --address head.example.org:6379
    concord build /mnt/read-only --store ~/stores/project --out ~/books/project
    """
    if repo is None:
        repo = "."
        store_location.ask_first(repo, yes)
    if address and executor != RAY:
        raise UserError("--address is that of a Ray cluster", "Add `--executor ray`")
    if address and not _is_address(address):
        raise UserError(f"{address} is not the address of a Ray cluster", "Write HOST:PORT, or ray://HOST:PORT")
    workers = Workers(executor or "", address or "")
    began, written, wanted = time.perf_counter(), None, options.of(repo)
    with terminal.ProgressBars() as bar:
        if no_book:
            summary = store_update.build(repo, options.jobs, bar.show, workers=workers)
        else:
            summary, written = builds.write_book(
                repo, options.out, wanted, options.jobs, bar.show, form=form, workers=workers
            )
    totals = builds.totals(repo, wanted)
    seconds = time.perf_counter() - began
    if as_json:
        more = {"totals": totals._asdict(), "book": written.counts() if written else None, "time": round(seconds, 3)}
        click.echo(json.dumps({**summary.__dict__, **more}))
    else:
        terminal.print_summary(repo, summary, totals, written, seconds, verbose)


def _is_address(address: str) -> bool:
    """True if Ray can connect to an address, if there is a cluster."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    is_port = port.isascii() and port.isdecimal() and len(port) < 6 and 0 < int(port) < 65536
    return address in ("auto", "local") or (is_port and re.fullmatch(r"[\w.-]+|\[[0-9A-Fa-f:.]+\]", host) is not None)
