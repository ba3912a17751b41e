"""Runs work in forked workers that share the memory of the build.

In: shared data that every worker needs, a function, and batches of items. Out: the result of each batch as it is
completed, or the item that failed. Workers are forked when the shared data is complete, so nothing is copied to them.
"""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

from concordance.base import forks
from concordance.workflow.workers import pool as workers_pool
from concordance.workflow.workers.executor import FailedItem, Item, Result, Shared


@contextmanager
def without_gc() -> Iterator[None]:
    """Disable the garbage collector: what is created here stays until the end, and traversing millions of names again
    and again takes a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _start() -> None:
    """Set up a forked process as a worker, with limited memory."""
    forks.limit_memory(forks.memory_limit())
    gc.disable()


@contextmanager
def _workers(shared: object, jobs: int, patience: float) -> Iterator[workers_pool.Pool | None]:
    """Fork workers that share some data; None if this process may not fork."""
    forks.trim_memory()
    gc.freeze()  # objects that the collector does not touch stay shared with the workers
    pool = workers_pool.Pool(
        jobs, _start, [], lambda items: patience * (1 + len(items)), lambda dead, items: None, True, shared
    )
    try:
        yield pool if pool.begin() else None
        pool.close()
    except BaseException:
        pool.kill()
        raise
    finally:
        gc.unfreeze()


def _with_shared(work: Callable[[Any, list[Item]], Result], batch: list[Item]) -> Result:
    """Run a batch in a worker, with the data that its process was started with."""
    process: Any = multiprocessing.current_process()  # a `forks.Process`
    return work(process.shared, batch)


def map_forked(
    shared: Shared, work: Callable[[Shared, list[Item]], Result], batches: Iterable[list[Item]], jobs: int,
    patience: float,
) -> Iterator[Result | FailedItem[Item]]:  # fmt: skip
    """Run all batches in forked workers that share `shared`, or here if `jobs` is 0; `patience` is how many seconds an
    item may take."""
    source = iter(batches)
    first = next(source, None)
    if first is None:  # do not fork for nothing
        return
    all_batches = chain([first], source)
    if not jobs:
        yield from workers_pool.map_batches_here(partial(work, shared), all_batches, patience)
        return
    with _workers(shared, jobs, patience) as pool:
        yield from (
            workers_pool.map_batches_here(partial(work, shared), all_batches, patience)
            if pool is None
            else workers_pool.map_batches(pool, partial(_with_shared, work), all_batches)
        )
