"""Brings a repository's store up to date: what every question needs, without what only books and sites need.

In: a repository. Out: a current store and a summary. `builds` adds books and sites; it also imports the page kinds and
the formats, which a question does not need.
"""

from __future__ import annotations

from dataclasses import replace

from concordance.base import config_file
from concordance.base.config import ANY_WORKERS, Config, Workers
from concordance.base.progress import BuildSummary, Progress, ignore_progress
from concordance.collect.walk import WalkResult
from concordance.facts.integrity import lock
from concordance.facts.read import Facts
from concordance.facts.write import StoreWriter
from concordance.workflow.book_options import read_settings
from concordance.workflow.pipeline import Build
from concordance.workflow.resident import ResidentState, StoreState
from concordance.workflow.stages import link
from concordance.workflow.store_location import store_path
from concordance.workflow.workers.ray_executor import RayExecutor, opened_cluster


def with_workers(settings: config_file.Settings, jobs: int | None, workers: Workers = ANY_WORKERS) -> Config:
    """Return the configuration of a repository, with other workers if some are given."""
    given = {"jobs": jobs, **workers._asdict()}
    return replace(settings.config, **{name: value for name, value in given.items() if value})


def build(
    root: str, jobs: int | None = None, progress: Progress = ignore_progress, listing: WalkResult | None = None,
    resident: ResidentState | None = None, workers: Workers = ANY_WORKERS, cluster: RayExecutor | None = None,
) -> BuildSummary:  # fmt: skip
    """Update a repository's store, and report what could not be read completely. `listing` are its files, if they are
    known; `resident` keeps state for a process that does this repeatedly; `cluster` is one that is connected."""
    config = with_workers(read_settings(root), jobs, workers)
    if cluster is not None:
        return update_store(root, config, progress, listing, resident, cluster)
    with opened_cluster(config, lambda word: progress("say", 0, 0, word)) as cluster:
        return update_store(root, config, progress, listing, resident, cluster)


def update_store(
    root: str,
    config: Config,
    progress: Progress,
    listing: WalkResult | None = None,
    resident: ResidentState | None = None,
    cluster: RayExecutor | None = None,
) -> BuildSummary:
    """Update a repository's store with this configuration instead of the one in its settings; `cluster` may run what
    takes long."""
    state = resident.store if resident is not None else StoreState()
    is_single = listing is None and resident is None
    summary = Build(
        root, config, progress, listing=listing, previous_state=state, records_status=is_single, cluster=cluster
    ).run()
    for path, reason in summary.failed:
        progress("say", 0, 0, f"{path}: {reason}; it is listed, but nothing could be extracted")
    return summary


def preload(root: str, state: StoreState) -> None:
    """Compute in advance what the next update of a store needs from all files, unless another process is at work."""
    folder, config = store_path(root), read_settings(root).config
    with lock.hold_lock(folder, lambda message: None, 0.0):
        with Facts(folder, alone=True) as facts:
            started = facts.meta()["started"]
        known = state.detach(started)
        writer = StoreWriter(folder, False, known.rows)
        try:
            work = link.Linking(
                root, writer, config.jobs, config.patience, lambda done, total: None, lambda path, reason: None,
                config.roots, known,
            )  # fmt: skip
            work.preload()
        finally:
            writer.abandon()
        known.started = started
        state.replace_with(known)
