"""Exchanges facts with the cache that several machines share: before files are extracted, and after.

In: the files to extract. Out: what the shared cache has of them, in the local cache, where the extract stage finds it;
and afterwards new facts in the shared cache. Both run in worker processes of this machine, many files at a time. The
shared cache is never essential: if it fails, the build says so once and goes on without it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import cache, partial
from typing import NamedTuple

from concordance.base.blocks import count_noun
from concordance.base.errors import Unreadable
from concordance.base.model import ListedFile, Skip
from concordance.collect import walk
from concordance.facts.cache import Cache
from concordance.facts.integrity.shared_cache import (
    CachedBlock,
    SharedCache,
    SharedCacheFailed,
    missing_folder,
    public_address,
)
from concordance.workflow.stages.extract import FreshFacts, Job
from concordance.workflow.workers import pool
from concordance.workflow.workers.executor import FailedItem, Item, Result

MIN_BYTES = 200_000  # of changed files: for less, asking takes longer than extracting
_FETCHED_BYTES = 4 << 20  # compressed bytes that a task fetches
_WRITTEN_BYTES = 4 << 20  # bytes of files whose facts a task writes
_HASHED_BYTES = 8 << 20


class _Wanted(NamedTuple):
    """A block to fetch."""

    block: CachedBlock
    size: int


class SharedCacheStage:
    """The shared cache, during one build."""

    def __init__(self, job: Job, address: str, workers: pool.Pool, report: Callable[[str], None]) -> None:
        self._job, self._workers, self._report = job._replace(shared_cache=address), workers, report
        self._address = address
        self.failed = False

    def fetch(self, changed: list[ListedFile]) -> None:
        """Copy the facts of changed files into the local cache."""
        readable = [entry for entry in changed if entry.skip is Skip.NONE]
        if sum(entry.size for entry in readable) < MIN_BYTES:
            return
        index: dict[bytes, list[tuple[bytes, CachedBlock]]] = {}
        for decoded in self._run(_read_index, [[_Wanted(CachedBlock("", 0, 0, 0), 0)]]):
            index = decoded
        digests = set[bytes]()
        if index:
            for hashed in self._run(_hash_files, pool.batches(readable, lambda entry: entry.size, _HASHED_BYTES)):
                digests.update(hashed)
        present = digests & index.keys()
        with closing(Cache(self._job.cache_folder, self._job.config.cache_bytes)) as local:
            blocks = {block for digest in present for key, block in index[digest] if not local.has(key)}
        wanted = [_Wanted(block, block.size) for block in sorted(blocks)]
        damaged = 0
        for count in self._run(_fetch, pool.batches(wanted, lambda count: count.size, _FETCHED_BYTES)):
            damaged += count
        if damaged:
            what = count_noun(damaged, "damaged or missing entry", "damaged or missing entries")
            self._report(f"the shared cache has {what}; the files are parsed")

    def store(self, fresh: list[FreshFacts]) -> None:
        """Copy new facts into the shared cache."""
        if sum(fresh_facts.size for fresh_facts in fresh) >= MIN_BYTES:
            folder = missing_folder(self._address)
            if folder and not self.failed:
                advice = "If it belongs to a network share, check that the share is mounted"
                self._report(f"the folder of the shared cache, {folder}, does not exist and is created now. {advice}")
            self._run(_write, pool.batches(fresh, lambda fresh_facts: fresh_facts.size, _WRITTEN_BYTES))

    def _run(self, work: Callable[[Job, list[Item]], Result], batches: Iterable[list[Item]]) -> list[Result]:
        """Run tasks until the first failure, which is reported."""
        results: list[Result] = []
        if self.failed:
            return results
        try:
            for result in pool.map_batches(self._workers, partial(work, self._job), batches):
                if isinstance(result, FailedItem):
                    where = public_address(self._address)
                    raise SharedCacheFailed(f"the shared cache {where} cannot be used: {result.reason}")
                results.append(result)
        except SharedCacheFailed as error:
            self.failed = True
            self._report(f"{error.message}; the build goes on without it")
        return results


# --- in a worker


@cache
def _connected(address: str, version: str) -> SharedCache:
    """Return the connection of this worker."""
    return SharedCache(address, version)


def _shared(job: Job) -> SharedCache:
    return _connected(job.shared_cache, job.readers)


def _read_index(job: Job, wanted: list[_Wanted]) -> dict[bytes, list[tuple[bytes, CachedBlock]]]:
    return _shared(job).read_index()


def _hash_files(job: Job, entries: list[ListedFile]) -> list[bytes]:
    hashes = []
    for entry in entries:
        try:
            hashes.append(hashlib.sha256(walk.read(job.root, entry, job.config.largest)).digest())
        except Unreadable:
            continue  # the extract stage reports it
    return hashes


def _fetch(job: Job, wanted: list[_Wanted]) -> int:
    rows, damaged = _shared(job).read_blocks([wanted_block.block for wanted_block in wanted])
    with closing(Cache(job.cache_folder, job.config.cache_bytes)) as local:
        local.put(rows)
    return damaged


def _write(job: Job, fresh: list[FreshFacts]) -> int:
    with closing(Cache(job.cache_folder, job.config.cache_bytes)) as local:
        rows = (
            (bytes.fromhex(fresh_facts.digest), fresh_facts.key, local.get(fresh_facts.key)) for fresh_facts in fresh
        )
        return _shared(job).write((digest, key, facts) for digest, key, facts in rows if facts is not None)
