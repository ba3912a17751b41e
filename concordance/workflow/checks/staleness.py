"""Explains why a book is stale.

In: a repository, the folder of its book, and which pages differ from what would be written now. Out: the reason for
each, as far as manifest and store can tell: the source file has changed, somebody edited the page, another version of
the program wrote it, or git ignores it, so that it was not committed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice

from concordance.base.blocks import Ref, To
from concordance.base.errors import ToolFailed
from concordance.base.version import VERSION
from concordance.collect import own_output, subprocesses, walk
from concordance.facts.read import Facts
from concordance.render.addresses import Addresses
from concordance.render.output import manifest
from concordance.render.output.manifest import Manifest, ManifestPage
from concordance.render.site.addresses import SiteAddresses
from concordance.render.summary import BookDifference, BookSummary, StalePage

CHANGES, APPEARS, VANISHES = "changes", "appears", "vanishes"
_MAX_FILES_NAMED = 3  # most files that a reason lists
_PATHS_PER_CALL = 100  # paths per call of git
_DOCS, _KEYWORDS = "_docs", "_kw"


def has_book(out: str) -> bool:
    """True if a folder contains a book."""
    listed = manifest.read(out)
    return bool(listed.pages) or listed.unfinished


def explain_difference(root: str, folder: str, out: str, summary: BookSummary) -> BookDifference:
    """Return the pages that are not current, with the reasons that can be found."""
    difference = BookDifference(out, pages=summary.pages, failed=summary.failed)
    if not (summary.changed or summary.gone or summary.listing):
        return difference
    there = manifest.read(out)
    listed = there.pages
    with Facts(folder) as facts:
        digests = {file.path: file.digest for file in facts.files()}
    addresses = addresses_of(digests, root, out, there)
    subjects = {addresses.page(Ref(to, path)): path for to in (To.FILE, To.KEYWORDS) for path in digests}
    difference.sources = _sources(listed, subjects, digests)
    general = _general_reason(difference.sources, there.unfinished, manifest.version(out))
    touched = set(manifest.find_differing_pages(out, (listed[page] for page in summary.changed if page in listed)))
    missing = {page for page in summary.changed if not os.path.lexists(os.path.join(out, page))}
    ignored = _ignored_pages(root, out, sorted(missing))
    for page in summary.changed:
        what = difference.sources.get(subjects.get(page, ""))
        if page in ignored:
            why = "git ignores it, so it was not committed: use git add --force"
        elif what is not None:
            why = f"{subjects[page]} is new" if what == "new" else f"{subjects[page]} changed"
        elif page in touched:
            why = "it is listed in the manifest, but missing" if page in missing else "the page itself was edited"
        else:
            why = general
        difference.stale.append(StalePage(page, APPEARS if page in missing else CHANGES, why))
    difference.stale += [StalePage(page, VANISHES, _removal_reason(page, difference.sources)) for page in summary.gone]
    if not difference.stale:
        difference.stale.append(StalePage(own_output.MANIFEST, CHANGES, "it does not match the pages"))
    difference.stale.sort()
    return difference


def addresses_of(paths: Iterable[str], root: str, out: str, manifest_now: Manifest) -> Addresses:
    """Return the addresses of a site, or of a book in the format of its pages."""
    if manifest_now.site:
        return SiteAddresses(paths, root, out)
    return Addresses(paths, root, out, ending=manifest.ending(manifest_now.pages))


def _sources(listed: dict[str, ManifestPage], subjects: dict[str, str], digests: dict[str, str]) -> dict[str, str]:
    """Return the files that have changed since the book was written."""
    changes = {}
    for page, path in subjects.items():
        if _file_of(page, _DOCS):
            row = listed.get(page)
            if row is None:
                changes[path] = "new"
            elif row.inputs != digests[path]:
                changes[path] = "changed"
    for page, row in listed.items():
        if row.kind == "file" and page not in subjects and _file_of(page, _DOCS):
            changes[_file_of(page, _DOCS)] = "gone"
    return dict(sorted(changes.items()))


def _file_of(page: str, end: str) -> str:
    """Return the file that a page is about, by the page's name; "" if the name does not end so before its ending."""
    name = page.rpartition(".")[0]
    return name.removesuffix(end) if name.endswith(end) else ""


def _removal_reason(page: str, sources: dict[str, str]) -> str:
    path = _file_of(page, _DOCS) or _file_of(page, _KEYWORDS)
    return f"{path} no longer exists" if sources.get(path) == "gone" else ""


def _general_reason(sources: dict[str, str], unfinished: bool, version: str) -> str:
    """Return why a page may differ although its own file has not changed."""
    if unfinished:
        return "the last build was interrupted"
    if version != VERSION:
        return f"written by Concordance {version}, this is {VERSION}"
    if not sources:
        return "no file differs: written by another installation or with other options"
    named = ", ".join(list(sources)[:_MAX_FILES_NAMED])
    more = f" and {len(sources) - _MAX_FILES_NAMED:,} more" if len(sources) > _MAX_FILES_NAMED else ""
    return f"changes elsewhere: {named}{more}"


def _ignored_pages(root: str, out: str, pages: Iterable[str]) -> set[str]:
    """Return the pages that git ignores."""
    inside = os.path.relpath(os.path.realpath(out), os.path.realpath(root)).replace(os.sep, "/")
    if inside.split("/")[0] in ("..", walk.OWN_FOLDER) or not walk.is_in_git(root):
        return set()
    asked = {page if inside == "." else f"{inside}/{page}": page for page in pages}
    ignored_pages: set[str] = set()
    for part in _batches(asked):
        try:
            with subprocesses.running_git(root, "check-ignore", "-z", "--stdin", "--no-index") as git:
                git.say(b"".join(os.fsencode(path) + b"\0" for path in part))
                git.input.close()
                ignored = git.output.read()
                git.end()
        except ToolFailed:  # git exits with an error if it ignores none of them
            continue
        ignored_pages.update(asked[os.fsdecode(path)] for path in ignored.split(b"\0") if path)
    return ignored_pages


def _batches(paths: Iterable[str]) -> Iterator[list[str]]:
    """Yield paths in parts that fit into a pipe: git answers while it still reads."""
    left = iter(paths)
    while part := list(islice(left, _PATHS_PER_CALL)):
        yield part
