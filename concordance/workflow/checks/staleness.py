"""Check a whole book: verify its claims and links, find missing and surplus pages, and explain why pages are stale.

In: a repository and the folder of its book. `verify` needs no store, so that a book that is committed with its source
can be checked anywhere. Out: every problem, with its page and line. Pages are checked in forked workers, just as they
are written. `explain_difference` says why a book differs from what would be written now, as far as manifest and store
can tell: the source file has changed, somebody edited the page, another version of the program wrote it, or git ignores
it, so that it was not committed.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from concordance.base.blocks import Ref, To
from concordance.base.config import Config
from concordance.base.errors import ToolFailed, UserError
from concordance.base.version import VERSION
from concordance.collect import own_output, path_patterns, subprocesses, walk
from concordance.facts.read import Facts
from concordance.render.addresses import Addresses, claims_of
from concordance.render.output import manifest
from concordance.render.output.manifest import Manifest, ManifestPage
from concordance.render.site.addresses import SiteAddresses
from concordance.render.summary import BookDifference, BookSummary, Problem, StalePage, VerifyResult
from concordance.render.verify import CheckedBook, Checker, PageCheck
from concordance.workflow.workers import forked, pool

CHANGES, APPEARS, VANISHES = "changes", "appears", "vanishes"
_MAX_FILES_NAMED = 3  # most files that a reason lists
_PATHS_PER_CALL = 100  # paths per call of git
_DOCS, _KEYWORDS = "_docs", "_kw"
BATCH = 1_000_000  # of pages per batch


def check(checker: Checker, pages: list[str]) -> tuple[tuple[str, ...], PageCheck]:
    """Check pages; return them with what was found."""
    found = PageCheck()
    for page in pages:
        checker.check(page, found)
    return tuple(pages), found


def verify(root: str, out: str, config: Config, progress: Callable[[int, int], None]) -> VerifyResult:
    """Check the book in a folder."""
    listed = manifest.read(out)
    written = listed.pages
    if not written and not listed.unfinished:
        raise UserError(f"{out} contains no book", "Write it with `concord build`, or give its folder with --out")
    ground = CheckedBook(os.path.realpath(root), os.path.realpath(out), written, frozenset(manifest.files(out)))
    result = VerifyResult(pages=len(written))
    if listed.unfinished:
        why = "the last build was interrupted; build again"
        result.problems.append(Problem(own_output.MANIFEST, 0, "", why))
    paths = [entry.path for entry in path_patterns.select_entries(walk.walk(root), config)[0]]
    result.problems += _missing_and_unlisted(_addresses(paths, root, out, listed), paths, ground)
    sections: set[int] = set()
    wants: dict[tuple[str, ...], array[int]] = {}
    for pages, found in _check_in_parallel(list(written), ground, config, progress):
        result.problems += found.problems
        result.claims += found.claims
        result.links += found.links
        sections.update(found.has)
        wants[pages] = found.wants
    lost = set().union(*wants.values()) - sections
    if lost:
        doubtful = [page for pages, wanted in wants.items() if not lost.isdisjoint(wanted) for page in pages]
        ground.sections = frozenset(sections)
        for _, found in _check_in_parallel(doubtful, ground, config, lambda done, total: None):
            result.problems += found.problems
    result.problems.sort()
    return result


def _check_in_parallel(
    pages: list[str], ground: CheckedBook, config: Config, progress: Callable[[int, int], None]
) -> Iterator[tuple[tuple[str, ...], PageCheck]]:
    """Check pages in parallel."""
    batches = pool.batches(pages, lambda page: ground.pages[page].size, BATCH)
    done = 0
    for result in forked.map_forked(Checker(ground), check, batches, config.jobs, config.patience):
        if isinstance(result, pool.FailedItem):
            problem = Problem(result.item, 0, "", f"the page could not be checked: {result.reason}")
            yield (result.item,), PageCheck([problem])
            done += 1
        else:
            yield result
            done += len(result[0])
        progress(done, len(pages))


def _missing_and_unlisted(addresses: Addresses, paths: list[str], ground: CheckedBook) -> Iterator[Problem]:
    """Yield files without a page, and pages that are not in the manifest."""
    for path in paths:
        page = addresses.page(Ref(To.FILE, path))
        if page not in ground.pages:
            yield Problem(page, 0, "", f"{path} has no page")
    claimed = {claims_of(page) for page, row in ground.pages.items() if row.claims}
    for path in sorted(ground.files - ground.pages.keys() - claimed):
        if own_output.is_own_name(path) and own_output.is_own_page(os.path.join(ground.out, path)):
            yield Problem(path, 0, "", "a page written by Concordance that the manifest does not list")


def _addresses(paths: Iterable[str], root: str, out: str, manifest_now: Manifest) -> Addresses:
    """Return the addresses of a site, or of a book in the format of its pages."""
    if manifest_now.site:
        return SiteAddresses(paths, root, out)
    return Addresses(paths, root, out, ending=manifest.ending(manifest_now.pages))


# --- why a book is stale


def has_book(out: str) -> bool:
    """True if a folder contains a book."""
    found = manifest.read(out)
    return bool(found.pages) or found.unfinished


def explain_difference(root: str, folder: str, out: str, summary: BookSummary) -> BookDifference:
    """Return the pages that are not current, with the reasons that can be found."""
    found = BookDifference(out, pages=summary.pages, failed=summary.failed)
    if not (summary.changed or summary.gone or summary.listing):
        return found
    there = manifest.read(out)
    listed = there.pages
    with Facts(folder) as facts:
        digests = {file.path: file.digest for file in facts.files()}
    addresses = _addresses(digests, root, out, there)
    subjects = {addresses.page(Ref(to, path)): path for to in (To.FILE, To.KEYWORDS) for path in digests}
    found.sources = _sources(listed, subjects, digests)
    general = _general_reason(found.sources, there.unfinished, manifest.version(out))
    touched = set(manifest.find_differing_pages(out, (listed[page] for page in summary.changed if page in listed)))
    missing = {page for page in summary.changed if not os.path.lexists(os.path.join(out, page))}
    ignored = _ignored_pages(root, out, sorted(missing))
    for page in summary.changed:
        what = found.sources.get(subjects.get(page, ""))
        if page in ignored:
            why = "git ignores it, so it was not committed: use git add --force"
        elif what is not None:
            why = f"{subjects[page]} is new" if what == "new" else f"{subjects[page]} changed"
        elif page in touched:
            why = "it is listed in the manifest, but missing" if page in missing else "the page itself was edited"
        else:
            why = general
        found.stale.append(StalePage(page, APPEARS if page in missing else CHANGES, why))
    found.stale += [StalePage(page, VANISHES, _removal_reason(page, found.sources)) for page in summary.gone]
    if not found.stale:
        found.stale.append(StalePage(own_output.MANIFEST, CHANGES, "it does not match the pages"))
    found.stale.sort()
    return found


def _sources(listed: dict[str, ManifestPage], subjects: dict[str, str], digests: dict[str, str]) -> dict[str, str]:
    """Return the files that have changed since the book was written."""
    found = {}
    for page, path in subjects.items():
        if _file_of(page, _DOCS):
            row = listed.get(page)
            if row is None:
                found[path] = "new"
            elif row.inputs != digests[path]:
                found[path] = "changed"
    for page, row in listed.items():
        if row.kind == "file" and page not in subjects and _file_of(page, _DOCS):
            found[_file_of(page, _DOCS)] = "gone"
    return dict(sorted(found.items()))


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
    found: set[str] = set()
    for part in _parts(asked):
        try:
            with subprocesses.running_git(root, "check-ignore", "-z", "--stdin", "--no-index") as git:
                git.say(b"".join(os.fsencode(path) + b"\0" for path in part))
                git.input.close()
                said = git.output.read()
                git.end()
        except ToolFailed:  # git exits with an error if it ignores none of them
            continue
        found.update(asked[os.fsdecode(path)] for path in said.split(b"\0") if path)
    return found


def _parts(paths: Iterable[str]) -> Iterator[list[str]]:
    """Yield paths in parts that fit into a pipe: git answers while it still reads."""
    left = iter(paths)
    while part := list(islice(left, _PATHS_PER_CALL)):
        yield part
