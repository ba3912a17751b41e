"""What the stages of a build need from whatever runs their work in parallel.

In: a function, data that every batch needs, and batches of items. Out: the result of each batch as it is completed, or
the item that failed. `pool.Pool` runs the work in processes of this machine, `ray_executor.RayExecutor` on the machines
of a Ray cluster. Which one it was does not show in the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Shared = TypeVar("Shared")


class FailedItem(Generic[Item]):
    """An item that killed its worker twice, took too long, or raised an error."""

    def __init__(self, item: Item, reason: str, out_of_memory: bool = False) -> None:
        self.item = item
        self.reason = reason
        self.out_of_memory = out_of_memory


class Executor(Protocol):
    """Runs batches in parallel."""

    reads_files: bool  # True if workers can read the files of this machine; otherwise items must contain what they need
    patience: Callable[[list[Any]], float]  # returns how many seconds of processor time a batch may take

    def map_batches(
        self, work: Callable[[Shared, list[Item]], Result], shared: Shared, batches: Iterable[list[Item]]
    ) -> Iterator[Result | FailedItem[Item]]:
        """Run `work(shared, batch)` for all batches; yield results in the order of completion."""

    def close(self) -> None:
        """End the workers when they are done."""

    def kill(self) -> None:
        """End the workers at once."""
