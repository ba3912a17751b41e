"""Writes the site as files, for any web server, or for none.

In: a store, up to date, and the folder of the site. Out: every address of the site as a file, and a list of them.
Workers are forked from a process that knows the whole, as for the book; each makes what is about one file together, for
that asks for the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from concordance.base.config import Book, Config
from concordance.facts.read import Facts
from concordance.query.index.repository import Index
from concordance.render.site import search_files
from concordance.render.site.files import SCRIPT, Site, SiteFile, opened
from concordance.render.site.folder import SiteEntry, SiteFolder
from concordance.render.site.routes import Route
from concordance.render.summary import BookSummary
from concordance.serve import reader
from concordance.workflow.workers import forked, pool

BATCH = 24  # things to make: some tenths of a second's work
SHARDS, REST = "shards", "rest"  # what is made besides pages


@dataclass
class _Desk:
    """What every worker has at hand."""

    site: Site
    tray: SiteFolder
    opened_by: int = field(default_factory=os.getpid)  # the process that opened the store


Done = list[tuple[str, SiteEntry, bool]]  # addresses, what was put there, and whether it changed


def make(batch: list[Route]) -> Done:
    """Makes and writes some files."""
    at: _Desk = forked.desk()
    if at.opened_by != os.getpid():
        at.site.index.facts.reopen()
        at.opened_by = os.getpid()
    return [(address, *at.tray.put(address, found.data)) for meant in batch for address, found in _made(at.site, meant)]


def _made(site: Site, meant: Route) -> Iterator[tuple[str, SiteFile]]:
    if meant.kind == SHARDS:
        for address, text in search_files.shards(site.index, site.addresses):
            yield address, SiteFile(text.encode("utf-8", "backslashreplace"), SCRIPT)
    elif meant.kind == REST:
        yield from site.rest()
    else:
        yield from site.made(meant)


def publish(
    root: str, folder: str, out: str, book: Book, config: Config, progress: Callable[[int, int], None]
) -> BookSummary:
    """Writes all of it; files that are as they would be are left."""
    summary, tray = BookSummary(out, front="index.html"), SiteFolder(out, (root, folder))
    with forked.undisturbed(), closing(Facts(folder)) as facts:
        site = opened(Index(facts, root, book), out)
        work = [Route(SHARDS, ""), Route(REST, ""), *site.places.all()]
        tray.begin(site.address(meant) for meant in work[2:])
        for _ in reader.warming(site.index, site):  # what pages ask of the whole is then known to every worker
            pass
        rows: dict[str, SiteEntry] = {}
        for result in forked.each(_Desk(site, tray), make, _batches(work), config.jobs, config.patience):
            if isinstance(result, pool.FailedItem):
                summary.failed.append((f"{result.item.kind} {result.item.subject}", result.reason))
                continue
            for address, row, changed in result:
                rows[address] = row
                summary.changed += [address] if changed else []
            progress(len(rows), max(len(rows), len(work)))
        if summary.failed:  # what could not be made now may stay as it was
            rows = {**tray.before, **rows}
        summary.removed = tray.finish(rows)
    summary.pages, summary.bytes = len(rows), sum(row.size for row in rows.values())
    summary.written, summary.made = len(summary.changed), len(work)
    return summary


def _batches(work: list[Route]) -> Iterator[list[Route]]:
    """What is about one file goes to one worker; what takes longest goes first."""
    yield from ([one] for one in work[:2])
    # Files of one folder use the same others.
    yield from pool.together(work[2:], lambda one: one.subject.partition("#")[0], BATCH)
