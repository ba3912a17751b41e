"""Brings a repository's store up to date: what every question needs, without what only books and sites need.

In: a repository. Out: a current store and a summary. `builds` adds books and sites; it imports the page kinds and the
formats, which a question would load in vain.
"""

from __future__ import annotations

from dataclasses import replace

from concordance.base import config_file
from concordance.base.config import Config
from concordance.base.progress import BuildSummary, Progress, ignore_progress
from concordance.collect.walk import WalkResult
from concordance.extract import ruleset
from concordance.query.sections.section_order import titles
from concordance.workflow.pipeline import Build
from concordance.workflow.resident import ResidentState, StoreState


def read_settings(root: str) -> config_file.Settings:
    """Return the settings of a repository."""
    return config_file.read(root, ruleset.rules, titles)


def with_jobs(said: config_file.Settings, jobs: int | None) -> Config:
    """Return the configuration of a repository, with another number of workers if one is given."""
    return replace(said.config, jobs=jobs) if jobs else said.config


def build(
    root: str, jobs: int | None = None, progress: Progress = ignore_progress, walked: WalkResult | None = None,
    memory: ResidentState | None = None,
) -> BuildSummary:  # fmt: skip
    """Update a repository's store, and report what could not be read completely. `walked` are its files, if they are
    known; `memory` keeps state for a process that does this repeatedly."""
    return update_store(root, with_jobs(read_settings(root), jobs), progress, walked, memory)


def update_store(
    root: str, config: Config, progress: Progress, walked: WalkResult | None = None, memory: ResidentState | None = None
) -> BuildSummary:
    """Update a repository's store with this configuration instead of the one in its settings."""
    kept = memory.kept if memory is not None else StoreState()
    summary = Build(root, config, progress, walked=walked, kept=kept).run()
    for path, reason in summary.failed:
        progress("say", 0, 0, f"{path}: {reason}; it is listed, but nothing could be extracted")
    return summary
