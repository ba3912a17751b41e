"""Brings a repository's store up to date: what every question needs, without what only books and sites need.

In: a repository. Out: a current store and a summary. `builds` adds books and sites; it also imports the page kinds and
the formats, which a question does not need.
"""

from __future__ import annotations

import os
from dataclasses import replace

from concordance.base import config_file
from concordance.base.config import Book, Config
from concordance.base.progress import BuildSummary, Progress, ignore_progress
from concordance.collect.walk import WalkResult
from concordance.extract import ruleset
from concordance.query.sections.section_order import titles
from concordance.workflow.pipeline import Build
from concordance.workflow.resident import ResidentState, StoreState
from concordance.workflow.store_location import store_path

MARKDOWN, HTML = "markdown", "html"  # the format of a book by default, and the one word for a site


def read_settings(root: str) -> config_file.Settings:
    """Return the settings of a repository."""
    return config_file.read(root, ruleset.rules, titles)


def book_settings(
    root: str, source: bool | None = None, history: bool | None = None, generated: bool | None = None
) -> Book:
    """Return what the book contains: the arguments, else the settings of the repository."""
    found = read_settings(root).book
    return replace(
        found, source=found.source if source is None else source,
        history=found.history if history is None else history,
        generated=found.generated if generated is None else generated,
    )  # fmt: skip


def book_folder(root: str, out: str | None = None) -> str:
    """Return the folder of the book: `out`, else the one in the settings of the repository."""
    return out or default_folder(root, read_settings(root))


def default_folder(root: str, settings: config_file.Settings, form: str = MARKDOWN) -> str:
    """Return the folder of a book in a format: in the store, or where the settings say."""
    if form != MARKDOWN:
        return os.path.join(store_path(root), "site" if form == HTML else f"book-{form}")
    in_store = settings.out == config_file.BOOK
    return os.path.join(store_path(root), "book") if in_store else os.path.join(root, settings.out)


def with_jobs(settings: config_file.Settings, jobs: int | None) -> Config:
    """Return the configuration of a repository, with another number of workers if one is given."""
    return replace(settings.config, jobs=jobs) if jobs else settings.config


def build(
    root: str, jobs: int | None = None, progress: Progress = ignore_progress, listing: WalkResult | None = None,
    resident: ResidentState | None = None,
) -> BuildSummary:  # fmt: skip
    """Update a repository's store, and report what could not be read completely. `listing` are its files, if they are
    known; `resident` keeps state for a process that does this repeatedly."""
    return update_store(root, with_jobs(read_settings(root), jobs), progress, listing, resident)


def update_store(
    root: str,
    config: Config,
    progress: Progress,
    listing: WalkResult | None = None,
    resident: ResidentState | None = None,
) -> BuildSummary:
    """Update a repository's store with this configuration instead of the one in its settings."""
    state = resident.store if resident is not None else StoreState()
    is_single = listing is None and resident is None
    summary = Build(root, config, progress, listing=listing, previous_state=state, records_status=is_single).run()
    for path, reason in summary.failed:
        progress("say", 0, 0, f"{path}: {reason}; it is listed, but nothing could be extracted")
    return summary
