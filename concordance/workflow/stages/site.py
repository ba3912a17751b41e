"""Write the site as files, for any web server or none.

In: a current store, and the folder of the site. Out: every address of the site as a file, and a manifest. Unlike those
of the book, all files are rendered each time, since what the pages that only the site has read is not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

from concordance.base.config import Book, Config
from concordance.facts.read import Facts
from concordance.query.index.repository import Index
from concordance.render.output import manifest
from concordance.render.output.page_sink import PageSink
from concordance.render.site.files import open_site
from concordance.render.site.routes import OF_REST, OF_SHARDS, Route
from concordance.render.summary import BookSummary
from concordance.workflow.stages.page_writer import PageFile, PageWriter, opened_folder
from concordance.workflow.workers import forked


def publish(
    root: str, folder: str, out: str, book: Book, config: Config, progress: Callable[[int, int], None]
) -> BookSummary:
    """Write the whole site; files that would not change are left alone."""
    summary = BookSummary(out, front="index.html")
    with opened_folder(root, folder, out, True) as confined, forked.without_gc(), closing(Facts(folder)) as facts:
        site = open_site(Index(facts, root, book), out)

        def render(kind: str, subject: str) -> Iterator[PageFile]:
            for address, file in site.files_of(Route(kind, subject)):
                yield PageFile(address, file.data)

        sink = PageSink(confined, manifest.read(out), site=True)
        sink.tidy()
        routes = list(site.places.all_routes())
        work = [(route.kind, route.subject) for route in routes]
        planned = [site.address(route) for route in routes if route.kind not in (OF_SHARDS, OF_REST)]
        PageWriter(site.index, render, sink, summary, config, progress).write(work, planned, (), {}, True)
    return summary
