"""What a build reports: its steps while it runs, and a summary at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

# the step, how much of it is done, the total, and a short message
Progress = Callable[[str, int, int, str], None]
FAILED = "failed"  # the step that a build reports when it ends without a store


@dataclass
class BuildSummary:
    """Counts of what a build did."""

    files: int = 0
    unchanged: int = 0
    removed: int = 0
    read: int = 0
    cached: int = 0  # of those read, how many had their facts in the cache
    skipped: dict[str, int] = field(default_factory=dict)  # of those read, by reason
    broken: int = 0  # files with syntax errors
    symbols: int = 0
    bytes: int = 0
    named: int = 0  # distinct expressions that name something …
    resolved: int = 0  # … and how many of them resolve to a definition in the repository
    passed: dict[str, int] = field(default_factory=dict)  # the program's own pages that were ignored, by folder
    left_out: dict[str, int] = field(default_factory=dict)  # files excluded by the settings, by pattern
    failed: list[tuple[str, str]] = field(default_factory=list)  # path and reason
    seconds: dict[str, float] = field(default_factory=dict)  # by step


def ignore_progress(step: str, done: int, total: int, message: str) -> None:
    """Report nothing."""


class Totals(NamedTuple):
    """Totals of a store."""

    symbols: int
    links: dict[str, int]  # by trust, the most certain first
    unresolved: int  # uses of names that could not be resolved
    findings: dict[str, int]  # by severity, the worst first
