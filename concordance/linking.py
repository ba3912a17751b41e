"""What one worker does to link files, and how the build hands them out.

In: the files as the store has them. Out: `LinkedFile`s. Every worker needs the whole repository's
flows, so workers are forked from the build when it holds them: nothing is copied to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from concordance import forked, parallel
from concordance.facts.write import Linkable, LinkedFile
from concordance.link.linker import Linker
from concordance.link.tree import Tree
from concordance.model import File

BATCH_BYTES = 400_000  # of flows: a tenth of a second's work


def link(numbers: list[int]) -> list[LinkedFile]:
    """Links files."""
    linker: Linker = forked.desk()
    return [linker.link(number) for number in numbers]


def linked(
    root: str, ledger: list[File], files: list[Linkable], jobs: int, patience: float,
    progress: Callable[[int, int], None], failed: Callable[[str, str], None],
) -> Iterator[LinkedFile]:  # fmt: skip
    """Links all files, in parallel; `failed` is told of each file that could not be."""
    linker = Linker(Tree(root, ledger), files)
    linker.prepare()
    wanted = sorted((n for n, row in enumerate(files) if row.flow), key=lambda number: -len(files[number].flow))
    batches = parallel.batches(wanted, lambda number: len(files[number].flow), BATCH_BYTES)
    done = 0
    for result in forked.each(linker, link, batches, jobs, patience):
        if isinstance(result, parallel.Failed):
            failed(files[result.item].path, result.reason)
            continue
        done += len(result)
        progress(done, len(wanted))
        yield from result
