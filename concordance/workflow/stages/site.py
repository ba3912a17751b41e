"""Writes the site as files, for any web server or none.

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
from concordance.render.site.files import Site, open_site
from concordance.render.site.routes import OF_REST, OF_SHARDS, Route
from concordance.render.summary import BookSummary
from concordance.workflow.stages.page_writer import PageFile, PageWriter, Renderer, opened_folder
from concordance.workflow.workers import forked
from concordance.workflow.workers.ray_executor import RayExecutor


def publish(
    root: str, folder: str, out: str, book: Book, config: Config, progress: Callable[[int, int], None],
    cluster: RayExecutor | None = None,
) -> BookSummary:  # fmt: skip
    """Write the whole site; files that would not change are left alone."""
    summary = BookSummary(out, front="index.html")
    with opened_folder(root, folder, out, True) as confined, forked.without_gc(), closing(Facts(folder)) as facts:
        site = open_site(Index(facts, root, book), out)
        sink = PageSink(confined, manifest.read(out), site=True, book=book)
        sink.tidy()
        renderer = _renderer(site)
        planned = [site.address(Route(*subject)) for subject in renderer.work if subject[0] not in (OF_SHARDS, OF_REST)]
        writer = PageWriter(site.index, renderer.render, sink, summary, config, progress, cluster)
        writer.write(renderer.work, planned, (), {}, True)
    return summary


def site_renderer(index: Index, out: str) -> Renderer:
    """Return the renderer of all files of a site."""
    return _renderer(open_site(index, out))


def _renderer(site: Site) -> Renderer:
    work = [(route.kind, route.subject) for route in site.places.all_routes()]
    return Renderer(site.index, _SiteRenderer(site), work)


class _SiteRenderer:
    """Renders the files of a site. On another machine it opens the site again, with the same addresses."""

    def __init__(self, site: Site) -> None:
        self._site: Site | None = site
        self._addresses = site.addresses

    def __getstate__(self) -> dict[str, object]:
        return {"_site": None, "_addresses": self._addresses}

    def __call__(self, index: Index, kind: str, subject: str) -> Iterator[PageFile]:
        """Yield the files of a route."""
        self._site = self._site or Site(index, self._addresses)
        for address, file in self._site.files_of(Route(kind, subject)):
            yield PageFile(address, file.data)
