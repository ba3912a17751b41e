"""What a server shows while a repository is read for the first time: folders and sources, and how far the build is.

In: the files of a repository, and the progress of its build. Out: pages at the addresses that the complete site will
have, so that a page that is open turns into the complete one when it is loaded again. Only listed files are read, as a
build reads them: an address is looked up and never used as a path, and no link is followed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from html import escape
from typing import NamedTuple

from concordance.base.blocks import Ref, To, count_noun
from concordance.base.characters import escape_hidden, line_starts
from concordance.base.config import Config
from concordance.base.errors import Unreadable
from concordance.base.model import File, ListedFile, Skip
from concordance.base.progress import FAILED
from concordance.collect import path_patterns, walk
from concordance.collect.classify import Classifier, header_language
from concordance.extract import registry
from concordance.extract.text.highlight import highlight_spans
from concordance.query.search.absence import skip_reason
from concordance.query.sections.listing import PAGE_LINES, Listing, clip_spans, page_count
from concordance.render.site import html, page_frame, source_listing
from concordance.render.site.addresses import SiteAddresses
from concordance.render.site.files import HTML, SCRIPT, SiteFile, encode_page, folder_script, folders_and_files
from concordance.render.site.routes import OF_SOURCE, OF_TREE, PathRoutes

_STEPS = {
    "collect": "List the files", "learn": "Collect macros", "extract": "Read the files", "check": "Run ruff",
    "history": "Read the history", "index": "Index words", "link": "Resolve names", "bridge": "Join languages",
    "pass": "Analyse the whole", "store": "Write the store",
}  # fmt: skip
_TITLE = "Reading this repository for the first time"
_LATER = "This page is made when the repository has been read. It appears here by itself."
_WHAT_IS_SHOWN = "Until then, you can browse its folders and sources; open pages are then replaced by complete ones."
_FAILURE = "The repository could not be read completely; the server's log says why. Its folders and sources are shown."


class PreviewPage(NamedTuple):
    """A page, and whether it shows what its address will show; else it only says so."""

    file: SiteFile
    is_ready: bool = True


class SitePreview:
    """The folders and sources of a repository without a store."""

    def __init__(self, root: str, out: str, entries: list[ListedFile], config: Config) -> None:
        self.root, self.name = root, os.path.basename(os.path.realpath(root)) or "/"
        self._entries = {entry.path: entry for entry in entries}
        self._config = config
        self._addresses = SiteAddresses(self._entries, root, out)
        self._routes = PathRoutes(self._entries, self._addresses)

    def answer(self, address: str, progress: Mapping[str, str]) -> PreviewPage:
        """Return the page at an address."""
        route = self._routes.find(address)
        if route is not None and route.kind == OF_TREE:
            rows = folder_script(route.subject, self._folder_contents[route.subject], self._addresses)
            return PreviewPage(SiteFile(rows, SCRIPT))
        if route is not None and route.kind == "folder_index":
            ref = Ref(To.INDEX, route.subject)
            body = html.Body(route.subject or self.name, self._folder(address, route.subject), [])
            return PreviewPage(self._window(address, ref, body, progress))
        if route is not None and route.kind in (OF_SOURCE, "file"):
            listing = self._listing(self._entries[route.subject], route.part)
            if listing.part <= listing.parts:
                body = source_listing.render(listing, self._addresses)
                ref = Ref(To.SOURCE, route.subject)
                return PreviewPage(self._window(address, ref, body, progress))
        body = html.Body("Not ready yet", f"<h1>Not ready yet</h1>\n<p>{_LATER}</p>\n", [])
        return PreviewPage(self._window(address, Ref(To.INDEX, ""), body, progress), is_ready=False)

    # --- folders

    @cached_property
    def _folder_contents(self) -> dict[str, tuple[list[str], list[str]]]:
        return folders_and_files(self._addresses.folders, self._entries)

    @cached_property
    def _file_counts(self) -> dict[str, int]:
        """The number of files in each folder, at any depth."""
        counts = dict.fromkeys(self._addresses.folders, 0)
        for path in self._entries:
            folder = path
            while folder:
                folder = folder.rpartition("/")[0]
                counts[folder] += 1
        return counts

    def _folder(self, address: str, folder: str) -> str:
        """Return the list of what is in a folder."""
        start = len(folder) + 1 if folder else 0
        below, files = self._folder_contents[folder]
        rows = [(path, To.INDEX, "/", count_noun(self._file_counts[path], "file")) for path in below]
        rows += [(file, To.SOURCE, "", f"{self._entries[file].size:,} bytes") for file in files]
        cells = (
            f'<tr><td><a href="{escape(self._addresses.to(address, self._addresses.page(Ref(kind, path))))}">'
            f"<code>{escape(escape_hidden(path[start:]))}{end}</code></a></td><td>{size}</td></tr>\n"
            for path, kind, end, size in rows
        )
        name = escape(escape_hidden(folder or self.name))
        return (
            f'<h1 class="path"><code>{name}</code></h1>\n<div class="table"><table>\n'
            f"<thead><tr><th>Name</th><th>Size</th></tr></thead>\n<tbody>\n{''.join(cells)}</tbody></table></div>\n"
        )

    # --- sources

    @cached_property
    def _classifier(self) -> Classifier:
        config = self._config
        return Classifier(registry.languages(), config.largest, header_language(self._entries), config.categories)

    def _listing(self, entry: ListedFile, part: int) -> Listing:
        """Return one page of a file as it is now, highlighted, but without links."""
        classifier, text = self._classifier, ""
        if entry.skip is not Skip.NONE:
            form = classifier.unread(entry.path, entry.skip, entry.note)
        else:
            try:
                data = walk.read(self.root, entry, classifier.largest + 1)
                form, text = classifier.read_text(entry.path, data, max(len(data), entry.size))
            except Unreadable as error:
                form = classifier.unread(entry.path, Skip.UNREADABLE, error.reason)
        if form.skip is not Skip.NONE:
            file = File(
                entry.path, form.language, form.category, form.type, form.encoding, entry.size, 0, "", form.skip,
                form.note, entry.changed,
            )  # fmt: skip
            return Listing(entry.path, part, 1, 1, None, skip_reason(file))
        starts, first = [*line_starts(text), len(text)], (part - 1) * PAGE_LINES
        begin, end = (starts[min(line, len(starts) - 1)] for line in (first, first + PAGE_LINES))
        spans = clip_spans(highlight_spans(text, form.language, begin, end), begin, end)
        return Listing(entry.path, part, page_count(len(starts) - 1), first + 1, text[begin:end], "", spans)

    # --- the frame

    def _window(self, address: str, ref: Ref, body: html.Body, progress: Mapping[str, str]) -> SiteFile:
        links = page_frame.frame_links(self._addresses, self.name, address, ref, body.title)
        window = page_frame.Window(
            self.name, address, body.title, render_progress(progress) + body.html, kind=ref.to, path=ref.path,
            folders=links.folders, live=True, name=links.name, reading=True,
        )  # fmt: skip
        return SiteFile(encode_page(page_frame.render_document(window)), HTML)


def open_preview(root: str, out: str, config: Config) -> SitePreview:
    """List the files of a repository as a build does; `out` is the folder of its book, needed only for addresses."""
    return SitePreview(root, out, path_patterns.select_entries(walk.walk(root), config)[0], config)


def render_progress(progress: Mapping[str, str]) -> str:
    """Return the steps of the build, and which of them is running; a script keeps it up to date."""
    steps, now = list(_STEPS), progress.get("step", "")
    place = steps.index(now) if now in _STEPS else -1
    rows = []
    for number, (step, title) in enumerate(_STEPS.items()):
        state = ' class="done"' if number < place else ' aria-current="step"' if number == place else ""
        count = escape(progress.get("count", "")) if number == place else ""
        rows.append(f'<li data-step="{step}"{state}>{title} <span>{count}</span></li>')
    failure = f'<p class="failure"{"" if now == FAILED else " hidden"}>{_FAILURE}</p>'
    return (
        f'<aside class="reading" aria-label="{_TITLE}">\n<p><b>{_TITLE}.</b> {_WHAT_IS_SHOWN}</p>\n'
        f"<ol>{''.join(rows)}</ol>\n{failure}\n</aside>\n"
    )
