"""Checks a whole book: what its pages claim, where their links lead, what is missing and what is too many.

In: a repository and the folder of its book; no store is needed, so that a book that is committed with its source can be
checked anywhere. Out: every problem, with its page and line. Pages are checked in forked workers, as they are written.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator

from concordance.base.blocks import Ref, To
from concordance.base.config import Config
from concordance.base.errors import UserError
from concordance.collect import own_output, path_patterns, walk
from concordance.render import manifest
from concordance.render.addresses import Addresses, claims_of
from concordance.render.summary import Problem, Verified
from concordance.render.verify import Checked, Checker, Ground
from concordance.workflow.workers import forked, pool

BATCH = 1_000_000  # bytes of pages


def check(pages: list[str]) -> Checked:
    """Checks some pages."""
    checker: Checker = forked.desk()
    found = Checked()
    for page in pages:
        checker.check(page, found)
    return found


def verify(root: str, out: str, config: Config, progress: Callable[[int, int], None]) -> Verified:
    """Checks the book in a folder."""
    written, unfinished, _ = manifest.read(out)
    if not written and not unfinished:
        raise UserError(f"{out} holds no book", "Write it with `concord build`, or say where it is with --out")
    ground = Ground(os.path.realpath(root), os.path.realpath(out), written, frozenset(manifest.files(out)))
    result = Verified(pages=len(written))
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
    pages: list[str], ground: Ground, config: Config, progress: Callable[[int, int], None]
) -> Iterator[tuple[tuple[str, ...], Checked]]:
    """Checks pages in parallel."""
    batches = pool.batches(pages, lambda page: ground.written[page].size, BATCH)
    done = 0
    for result in forked.each(Checker(ground), _named, batches, config.jobs, config.patience):
        if isinstance(result, pool.Failed):
            problem = Problem(result.item, 0, "", f"the page could not be checked: {result.reason}")
            yield (result.item,), Checked([problem])
            done += 1
        else:
            yield result
            done += len(result[0])
        progress(done, len(pages))


def _named(pages: list[str]) -> tuple[tuple[str, ...], Checked]:
    return tuple(pages), check(pages)


def _of_the_whole(root: str, out: str, ground: Ground, config: Config) -> Iterator[Problem]:
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
