"""The extract stage with workers that cannot read the repository, because they may run on other machines.

In: entries of the walk, and an executor. Out: the same results as those of `extract` in local processes. The build
reads each file, looks up its facts in its own cache, and sends both along; the macros are sent once. Links, files that
cannot be read and files that are too large to parse are not sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cached_property
from typing import NamedTuple

from concordance.base.errors import Unreadable
from concordance.base.model import ListedFile
from concordance.collect import walk
from concordance.extract.cfamily import macros
from concordance.facts.cache import Cache
from concordance.facts.records import ExtractedFile
from concordance.workflow.stages import extract
from concordance.workflow.workers.executor import Executor, FailedItem


class FileContent(NamedTuple):
    """A file on its way to a worker."""

    entry: ListedFile
    data: bytes
    cached: bytes = b""  # its facts, if they are in the build's cache

    @property
    def size(self) -> int:
        """The size of the file, which decides how long it may take."""
        return len(self.data)


class _SentFacts(NamedTuple):
    """The facts that were sent with one file, instead of a cache."""

    facts: bytes

    def get(self, key: bytes) -> bytes | None:
        """Return the facts, whose key the build has checked."""
        return self.facts or None


class RemoteJob:
    """What is the same for every batch of a build, in a worker."""

    def __init__(self, job: extract.Job, table: macros.Macros) -> None:
        self.job, self.macros = job, table

    @cached_property
    def state(self) -> extract.ExtractState:
        """What this worker keeps from batch to batch."""
        return extract.extract_state(self.job, _SentFacts(b""), self.macros)


def learn_macros(
    executor: Executor, job: extract.Job, batches: Iterable[list[ListedFile]]
) -> Iterator[list[tuple[str, macros.MacroDefinitions]] | FailedItem[ListedFile]]:
    """Yield the macros that files define, batch by batch."""

    def contents() -> Iterator[list[FileContent]]:
        for batch in batches:
            files = []
            for entry in batch:
                try:
                    files.append(FileContent(entry, walk.read(job.root, entry, job.config.largest)))
                except Unreadable:
                    continue  # reading it as a file reports why
            if files:
                yield files

    for result in executor.map_batches(_learn_macros, None, contents()):
        yield _failed(result) if isinstance(result, FailedItem) else result


def _learn_macros(shared: None, contents: list[FileContent]) -> list[tuple[str, macros.MacroDefinitions]]:
    return [(content.entry.path, macros.read_defines(content.data, content.entry.path)) for content in contents]


def extract_files(
    executor: Executor, job: extract.Job, table: macros.Macros, batches: Iterable[list[ListedFile]]
) -> Iterator[list[ExtractedFile] | FailedItem[ListedFile]]:
    """Yield what is extracted from files, batch by batch."""
    unsent: list[ExtractedFile] = []
    with closing(Cache(job.cache_folder, job.config.cache_bytes)) as cache:
        state = extract.extract_state(job, cache, table)

        def contents() -> Iterator[list[FileContent]]:
            for batch in batches:
                files = []
                for entry in batch:
                    data = extract.read_file(job, state.classifier, entry)
                    if isinstance(data, ExtractedFile):
                        unsent.append(data)
                    else:
                        files.append(FileContent(entry, data, extract.cached_facts(job, state, entry, data)))
                if files:
                    yield files

        for result in executor.map_batches(_extract_contents, RemoteJob(job, table), contents()):
            if isinstance(result, FailedItem):
                yield _failed(result)
                continue
            yield [*result, *unsent]
            unsent.clear()
    if unsent:
        yield unsent


def _extract_contents(shared: RemoteJob, contents: list[FileContent]) -> list[ExtractedFile]:
    job, state = shared.job, shared.state
    return [
        extract.extract_content(job, state._replace(cache=_SentFacts(content.cached)), content.entry, content.data)
        for content in contents
    ]


def _failed(failed: FailedItem[FileContent]) -> FailedItem[ListedFile]:
    return FailedItem(failed.item.entry, failed.reason, failed.out_of_memory)
