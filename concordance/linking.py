"""What one worker does to link files, and how the build hands them out.

In: the files as the store has them. Out: `LinkedFile`s. Every worker needs the whole repository's
flows, so workers are forked from the build when it holds them: nothing is copied to them.
"""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from functools import cache

from concordance import batch, parallel
from concordance.facts.write import Linkable, LinkedFile
from concordance.link.linker import Linker
from concordance.link.tree import Tree
from concordance.model import File

BATCH_BYTES = 400_000  # of flows: a tenth of a second's work


@cache
def _desk() -> list[Linker]:
    """What the build lays here before it forks is on every worker's desk."""
    return []


def start() -> None:
    """Makes a process a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    threading.Thread(target=batch.follow_parent, daemon=True).start()


def link(numbers: list[int]) -> list[LinkedFile]:
    """Links files."""
    linker = _desk()[0]
    return [linker.link(number) for number in numbers]


def linked(
    root: str, ledger: list[File], files: list[Linkable], jobs: int, patience: float,
    progress: Callable[[int, int], None], failed: Callable[[str, str], None],
) -> Iterator[LinkedFile]:  # fmt: skip
    """Links all files, in parallel; `failed` is told of each file that could not be."""
    linker = Linker(Tree(root, ledger), files)
    linker.prepare()
    _desk()[:] = [linker]
    gc.collect()
    gc.freeze()  # what is not touched by the collector stays shared with the workers
    pool = parallel.Pool(jobs, start, [], lambda numbers: patience * (1 + len(numbers)), lambda dead, items: None, True)
    done, wanted = 0, [number for number, row in enumerate(files) if row.flow]
    try:
        for result in parallel.each(pool, link, _batches(files, wanted)):
            if isinstance(result, parallel.Failed):
                failed(files[result.item].path, result.reason)
                continue
            done += len(result)
            progress(done, len(wanted))
            yield from result
        pool.close()
    except BaseException:
        pool.kill()
        raise
    finally:
        gc.unfreeze()
        _desk().clear()


def _batches(files: list[Linkable], wanted: list[int]) -> Iterator[list[int]]:
    now: list[int] = []
    size = 0
    for number in sorted(wanted, key=lambda number: -len(files[number].flow)):
        now.append(number)
        size += len(files[number].flow) + 2000
        if size >= BATCH_BYTES:
            yield now
            now, size = [], 0
    if now:
        yield now
