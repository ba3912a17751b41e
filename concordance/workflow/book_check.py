"""Checks a whole book: what its pages claim, where their links lead, what is missing and what is too many.

In: a repository and the folder of its book; no store is needed, so that a book that is committed with its source can be
checked anywhere. Out: every problem, with its page and line. Pages are checked in forked workers, as they are written.
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
from concordance.render.output.manifest import ManifestPage
from concordance.render.summary import BookDifference, BookSummary, Problem, StalePage, VerifyResult
from concordance.render.verify import CheckedBook, Checker, PageCheck
from concordance.workflow.workers import forked, pool

CHANGES, APPEARS, VANISHES = "changes", "appears", "vanishes"
_NAMED = 3  # files that a reason names
_ASKED = 100  # paths that git is asked about at once
_DOCS, _KEYWORDS = "_docs.md", "_kw.md"
BATCH = 1_000_000  # bytes of pages


def check(pages: list[str]) -> PageCheck:
    """Checks some pages."""
    checker: Checker = forked.desk()
    found = PageCheck()
    for page in pages:
        checker.check(page, found)
    return found


def verify(root: str, out: str, config: Config, progress: Callable[[int, int], None]) -> VerifyResult:
    """Checks the book in a folder."""
    written, unfinished, _ = manifest.read(out)
    if not written and not unfinished:
        raise UserError(f"{out} holds no book", "Write it with `concord build`, or say where it is with --out")
    ground = CheckedBook(os.path.realpath(root), os.path.realpath(out), written, frozenset(manifest.files(out)))
    result = VerifyResult(pages=len(written))
    if unfinished:
        why = "the last build was stopped before its end; build again"
        result.problems.append(Problem(own_output.MANIFEST, 0, "", why))
    result.problems += _of_the_whole(root, out, ground, config)
    sections: set[int] = set()
    wants: dict[tuple[str, ...], array[int]] = {}
    for pages, found in _checked(list(written), ground, config, progress):
        result.problems += found.problems
        result.claims += found.claims
        result.links += found.links
        sections.update(found.has)
        wants[pages] = found.wants
    lost = set().union(*wants.values()) - sections
    if lost:
        doubtful = [page for pages, wanted in wants.items() if not lost.isdisjoint(wanted) for page in pages]
        ground.known = frozenset(sections)
        for _, found in _checked(doubtful, ground, config, lambda done, total: None):
            result.problems += found.problems
    result.problems.sort()
    return result


def _checked(
    pages: list[str], ground: CheckedBook, config: Config, progress: Callable[[int, int], None]
) -> Iterator[tuple[tuple[str, ...], PageCheck]]:
    """Checks pages in parallel."""
    batches = pool.batches(pages, lambda page: ground.written[page].size, BATCH)
    done = 0
    for result in forked.each(Checker(ground), _named, batches, config.jobs, config.patience):
        if isinstance(result, pool.FailedItem):
            problem = Problem(result.item, 0, "", f"the page could not be checked: {result.reason}")
            yield (result.item,), PageCheck([problem])
            done += 1
        else:
            yield result
            done += len(result[0])
        progress(done, len(pages))


def _named(pages: list[str]) -> tuple[tuple[str, ...], PageCheck]:
    return tuple(pages), check(pages)


def _of_the_whole(root: str, out: str, ground: CheckedBook, config: Config) -> Iterator[Problem]:
    """Files without a page, and pages that no manifest knows."""
    paths = [entry.path for entry in path_patterns.chosen(walk.walk(root), config)[0]]
    addresses = Addresses(paths, root, out)
    for path in paths:
        page = addresses.page(Ref(To.FILE, path))
        if page not in ground.written:
            yield Problem(page, 0, "", f"{path} has no page")
    claimed = {claims_of(page) for page, row in ground.written.items() if row.claims}
    for path in sorted(ground.there - ground.written.keys() - claimed):
        if own_output.is_page(path) and own_output.is_written(os.path.join(out, path)):
            yield Problem(path, 0, "", "a page of this program that the manifest does not name")


# ---
# Says why a book is not as it would be written now.
#
# In: what writing it would change, the book's manifest, and the store. Out: each page with what would happen to it,
# and why, as far as manifest and store can tell: its file is not the one that it was written of, somebody edited it,
# another version of the program wrote it, git ignores it, so that it was not committed.


def is_there(out: str) -> bool:
    """Whether a folder holds a book."""
    pages, unfinished, _ = manifest.read(out)
    return bool(pages) or unfinished


def explained(root: str, folder: str, out: str, made: BookSummary) -> BookDifference:
    """What is not as it would be, with the reasons that can be found."""
    found = BookDifference(out, pages=made.pages, failed=made.failed)
    if not (made.changed or made.gone or made.listing):
        return found
    listed, unfinished, _ = manifest.read(out)
    with Facts(folder) as facts:
        digests = {file.path: file.digest for file in facts.files()}
    addresses = Addresses(digests, root, out)
    subjects = {addresses.page(Ref(to, path)): path for to in (To.FILE, To.KEYWORDS) for path in digests}
    found.sources = _sources(listed, subjects, digests)
    general = _general(found.sources, unfinished, manifest.version(out))
    touched = set(manifest.edited(out, (listed[page] for page in made.changed if page in listed)))
    missing = {page for page in made.changed if not os.path.lexists(os.path.join(out, page))}
    ignored = _ignored(root, out, sorted(missing))
    for page in made.changed:
        what = found.sources.get(subjects.get(page, ""))
        if page in ignored:
            why = "git ignores it, so it is not committed with the others: git add --force"
        elif what is not None:
            why = f"{subjects[page]} is new" if what == "new" else f"{subjects[page]} changed"
        elif page in touched:
            why = "it is listed, and is not there" if page in missing else "the page itself was edited"
        else:
            why = general
        found.stale.append(StalePage(page, APPEARS if page in missing else CHANGES, why))
    found.stale += [StalePage(page, VANISHES, _gone(page, found.sources)) for page in made.gone]
    if not found.stale:
        found.stale.append(StalePage(own_output.MANIFEST, CHANGES, "it does not list the pages as they are"))
    found.stale.sort()
    return found


def _sources(listed: dict[str, ManifestPage], subjects: dict[str, str], digests: dict[str, str]) -> dict[str, str]:
    """The files that are not those that the book was written of."""
    found = {}
    for page, path in subjects.items():
        if page.endswith(_DOCS):
            row = listed.get(page)
            if row is None:
                found[path] = "new"
            elif row.inputs != digests[path]:
                found[path] = "changed"
    for page, row in listed.items():
        if row.kind == "file" and page not in subjects and page.endswith(_DOCS):
            found[page.removesuffix(_DOCS)] = "gone"
    return dict(sorted(found.items()))


def _gone(page: str, sources: dict[str, str]) -> str:
    path = next((page.removesuffix(end) for end in (_DOCS, _KEYWORDS) if page.endswith(end)), "")
    return f"{path} is gone" if sources.get(path) == "gone" else ""


def _general(sources: dict[str, str], unfinished: bool, version: str) -> str:
    """Why a page may differ whose own file is as it was."""
    if unfinished:
        return "the last build was stopped before its end"
    if version != VERSION:
        return f"Concordance {version} wrote it, this is {VERSION}"
    if not sources:
        return "no file differs: another installation or other options made it"
    named = ", ".join(list(sources)[:_NAMED])
    more = f" and {len(sources) - _NAMED:,} more" if len(sources) > _NAMED else ""
    return f"by what changed elsewhere: {named}{more}"


def _ignored(root: str, out: str, pages: Iterable[str]) -> set[str]:
    """The pages that git would not take along with the rest."""
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
        except ToolFailed:  # so git says "none of them"
            continue
        found.update(asked[os.fsdecode(path)] for path in said.split(b"\0") if path)
    return found


def _parts(paths: Iterable[str]) -> Iterator[list[str]]:
    """Paths in parts that a pipe holds: git answers while it is asked."""
    left = iter(paths)
    while part := list(islice(left, _ASKED)):
        yield part
