"""What a build reports: its steps while it runs, and a summary at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

# the step, how much of it is done, of how much, and a word about it
Progress = Callable[[str, int, int, str], None]


@dataclass
class BuildSummary:
    """What a build did."""

    files: int = 0
    unchanged: int = 0
    removed: int = 0
    read: int = 0
    cached: int = 0  # of those read, how many were known from elsewhere
    skipped: dict[str, int] = field(default_factory=dict)  # by reason, of those read
    broken: int = 0  # files with syntax errors
    symbols: int = 0
    bytes: int = 0
    named: int = 0  # different expressions that name something …
    resolved: int = 0  # … of which so many lead to a definition in the repository
    passed: dict[str, int] = field(default_factory=dict)  # own pages that were passed over, by the book's folder
    left_out: dict[str, int] = field(default_factory=dict)  # files that the settings leave out, by pattern
    failed: list[tuple[str, str]] = field(default_factory=list)  # path and reason
    seconds: dict[str, float] = field(default_factory=dict)  # by step


def quiet(step: str, done: int, total: int, word: str) -> None:
    """Reports nothing."""


class Totals(NamedTuple):
    """What a store holds."""

    symbols: int
    links: dict[str, int]  # by trust, the surest first
    unresolved: int  # uses of names that lead nowhere that is known
    findings: dict[str, int]  # by severity, the worst first
