"""Work that needs what the build holds in memory, shared out to forked workers.

In: a desk (whatever every worker needs), a function, and batches of items. Out: each batch's result as it is done, or
the item that could not be worked on. Workers are forked when the desk is laid, so nothing is copied to them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain
from typing import Any

from concordance.base import forks
from concordance.workflow.workers import pool as workers_pool
from concordance.workflow.workers.pool import FailedItem, Item, Result


@cache
def _desks() -> list[Any]:
    """What is laid here before workers are forked is on every worker's desk."""
    return []


def desk() -> Any:
    """What the build laid out for its workers."""
    return _desks()[0]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Leaves the collector out: what is made here is kept until the end, and to look through millions of names again
    and again takes a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _start() -> None:
    """Makes a forked process a worker, which may not take all of the machine's memory."""
    forks.limit_memory(forks.most_memory())
    gc.disable()


@contextmanager
def _workers(laid: object, jobs: int, patience: float) -> Iterator[workers_pool.Pool | None]:
    """Workers that have something on their desk; None where none can be forked."""
    _desks()[:] = [laid]
    gc.freeze()  # what is not touched by the collector stays shared with the workers
    pool = workers_pool.Pool(
        jobs, _start, [], lambda items: patience * (1 + len(items)), lambda dead, items: None, True
    )
    try:
        yield pool if pool.begin() else None
        pool.close()
    except BaseException:
        pool.kill()
        raise
    finally:
        gc.unfreeze()
        _desks().clear()


def each(
    laid: object, work: Callable[[list[Item]], Result], batches: Iterable[list[Item]], jobs: int, patience: float
) -> Iterator[Result | FailedItem[Item]]:
    """Runs all batches in forked workers; `patience` is what an item may take, in seconds."""
    source = iter(batches)
    first = next(source, None)
    if first is None:  # nobody is forked for nothing
        return
    every = chain([first], source)
    with _workers(laid, jobs, patience) as pool:
        yield from (
            workers_pool.batches_here(work, every, patience) if pool is None else workers_pool.each(pool, work, every)
        )
