"""Write the site as files, for any web server or none.

In: a current store, and the folder of the site. Out: every address of the site as a file, and a manifest. As for the
book, workers are forked from a process that has loaded what all pages need; everything about one file is rendered by
the same worker, since it needs the same data.
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
from concordance.render.site.files import SCRIPT, Site, SiteFile, open_site
from concordance.render.site.folder import SiteEntry, SiteFolder
from concordance.render.site.routes import Route
from concordance.render.summary import BookSummary
from concordance.serve import reader
from concordance.workflow.workers import forked, pool

BATCH = 24  # routes per batch: some tenths of a second of work
SHARDS, REST = "shards", "rest"  # what is written besides pages


@dataclass
class _SiteWorkerState:
    """The data of a worker, inherited from the process that forked it."""

    site: Site
    tray: SiteFolder
    opened_by: int = field(default_factory=os.getpid)  # the process that opened the store


Done = list[tuple[str, SiteEntry, bool]]  # address, manifest row, and whether the file changed


def write_routes(at: _SiteWorkerState, batch: list[Route]) -> Done:
    """Render and write some files."""
    if at.opened_by != os.getpid():
        at.site.index.facts.reopen()
        at.opened_by = os.getpid()
    return [
        (address, *at.tray.put(address, found.data))
        for meant in batch
        for address, found in _route_files(at.site, meant)
    ]


def _route_files(site: Site, meant: Route) -> Iterator[tuple[str, SiteFile]]:
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
    """Write the whole site; files that would not change are left alone."""
    summary, tray = BookSummary(out, front="index.html"), SiteFolder(out, (root, folder))
    with forked.without_gc(), closing(Facts(folder)) as facts:
        site = open_site(Index(facts, root, book), out)
        work = [Route(SHARDS, ""), Route(REST, ""), *site.places.all()]
        tray.begin(site.address(meant) for meant in work[2:])
        for _ in reader.warm_up(site.index, site):  # so that workers inherit what pages need from the whole
            pass
        rows: dict[str, SiteEntry] = {}
        for result in forked.map_forked(
            _SiteWorkerState(site, tray), write_routes, _batches(work), config.jobs, config.patience
        ):
            if isinstance(result, pool.FailedItem):
                summary.failed.append((f"{result.item.kind} {result.item.subject}", result.reason))
                continue
            for address, row, changed in result:
                rows[address] = row
                summary.changed += [address] if changed else []
            progress(len(rows), max(len(rows), len(work)))
        if summary.failed:  # keep the old files of routes that failed
            rows = {**tray.before, **rows}
        summary.removed = tray.finish(rows)
    summary.pages, summary.bytes = len(rows), sum(row.size for row in rows.values())
    summary.written, summary.made = len(summary.changed), len(work)
    return summary


def _batches(work: list[Route]) -> Iterator[list[Route]]:
    """Yield batches: routes of one file go to the same worker, and the slowest go first."""
    yield from ([one] for one in work[:2])
    # Files of the same folder need the same other files.
    yield from pool.batches_by_subject(work[2:], lambda one: one.subject.partition("#")[0], BATCH)
