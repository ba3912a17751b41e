"""What people see: tables, progress, the summary of a build.

In: answers and steps of the work. Out: text on a terminal, or lines with tabs where nobody looks.
Heavy imports stand in the functions that draw.
"""

from __future__ import annotations

import os
import sys
from typing import Any
from urllib.parse import quote

import click

from concordance.pipeline import FOLDER, Summary
from concordance.query.answers import Answer, Row
from concordance.render.summary import BookSummary, Verified

# What a row is shows in its colour; the word beside it says the same without.
_COLOURS = {
    "class": "magenta", "struct": "magenta", "interface": "magenta", "enum": "magenta", "function": "cyan",
    "method": "cyan", "property": "cyan", "macro": "red", "constant": "yellow", "variable": "yellow", "field": "green",
    "enumerator": "green", "heading": "bold", "import": "blue", "exact": "green", "via_import": "green",
    "unique_name": "yellow", "candidate": "red",
}  # fmt: skip
_NUMBERS = frozenset(("line", "uses", "col", "distance", "score", "count"))
_LONG = frozenset(("signature", "text", "snippet"))  # cut at the terminal's edge
_PALE = frozenset(("signature", "section", "scope", "by", "via", "snippet"))
_NAMES = frozenset(("qualified", "keyword", "name", "symbol"))


class Bar:
    """Progress on a terminal: a bar for each step, with files a second and the time left."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, step: str, done: int, total: int, word: str) -> None:
        """Draws one step of the work."""
        if step == "say":
            click.echo(word, err=True)
            return
        if not sys.stderr.isatty():
            return
        if self._progress is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("{task.description:>8}"), BarColumn(), MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"), TimeRemainingColumn(), console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self._progress.start()
        if step not in self._tasks:
            self._tasks[step] = self._progress.add_task(step, total=total, rate="")
        task = self._tasks[step]
        speed = self._progress.tasks[self._progress.task_ids.index(task)].speed
        self._progress.update(task, completed=done, total=total, rate=f"{speed:,.0f} files/s" if speed else "")


def print_summary(repo: str, summary: Summary, verbose: bool) -> None:
    """What a build did."""

    def count(number: int, one: str, many: str = "") -> str:
        return f"{number:,} {one if number == 1 else many or one + 's'}"

    parts = [count(summary.files, "file")]
    if summary.read:
        parts.append(f"{summary.read:,} read ({summary.cached:,} known from the cache)")
    if summary.unchanged:
        parts.append(f"{summary.unchanged:,} unchanged")
    if summary.removed:
        parts.append(f"{summary.removed:,} gone")
    click.echo(", ".join(parts))
    if summary.read:
        click.echo(f"{count(summary.symbols, 'symbol')}, {count(summary.broken, 'file')} with syntax errors")
    if summary.skipped:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in sorted(summary.skipped.items()))
        click.echo(f"in the ledger but not read as text: {reasons}")
    if verbose:
        for step, seconds in summary.seconds.items():
            click.echo(f"  {step:<8} {seconds:6.2f} s")
    click.echo(f"store: {os.path.join(repo, FOLDER, 'index.db')}")


def print_book(book: BookSummary) -> None:
    """What was written."""
    changed = f"{book.written:,} written" if book.written else "none had to be written"
    gone = f", {book.removed:,} removed" if book.removed else ""
    click.echo(f"book: {book.pages:,} pages, {changed}{gone}, {book.bytes / 1e6:,.1f} MB, {book.claims:,} claims")
    click.echo(os.path.join(book.out, "index.md"))


def print_verified(found: Verified) -> None:
    """What checking a book found: a line for each problem, and how much was checked."""
    for page, line, claim, problem in found.problems:
        click.echo(f"{page}:{line}: {problem}" + (f" [{claim}]" if claim else ""))
    number = len(found.problems)
    click.echo(
        f"{number:,} {'problem' if number == 1 else 'problems'}: {found.pages:,} pages, {found.claims:,} claims, "
        f"{found.links:,} links checked"
    )


def print_pages(pages: list[str]) -> None:
    """Pages, drawn on a terminal; as they are where nobody looks."""
    if not sys.stdout.isatty():
        click.echo("\n".join(pages), nl=False)
        return
    import re

    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True, links=True):
        for page in pages:
            console.print(Markdown(re.sub(r'<a id="[^"]*"></a>', "", page)))


def table(answer: Answer, root: str = "") -> Any:
    """An answer as a table for people; with the repository's folder, its paths are links."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for column in answer.columns:
        long = column in _LONG
        justify: Any = "right" if column in _NUMBERS else "left"
        drawn.add_column(column, justify=justify, overflow="ellipsis" if long else "fold", no_wrap=long)
    for row in answer.rows:
        drawn.add_row(*(Text(cell(row[column]), _style(column, row, root)) for column in answer.columns))
    return drawn


def cell(value: object) -> str:
    """A value as people read it."""
    if isinstance(value, dict):
        located = {"path", "line"} <= set(value)
        return f"{value['path']}:{value['line']}" if located else ", ".join(map(cell, value.values()))
    if isinstance(value, list | tuple):
        return ", ".join(map(cell, value))
    return "" if value is None else str(value)


def _style(column: str, row: Row, root: str) -> str:
    if column in _NAMES:
        return _COLOURS.get(str(row.get("kind", "")), "")
    if column in ("path", "target") and root and row[column]:
        return f"link file://{quote(os.path.abspath(os.path.join(root, str(row[column]))), errors='surrogateescape')}"
    if column in ("trust", "role"):
        return _COLOURS.get(str(row[column]), "")
    return "blue" if column == "module" else "dim" if column in _PALE else ""


def print_table(answer: Answer, root: str) -> None:
    """An answer for people, or for a pipe."""
    if not answer.rows:
        click.echo("none")
        return
    if not sys.stdout.isatty():  # nobody to wrap lines for: a line a row, tabs between
        click.echo("\t".join(answer.columns))
        for row in answer.rows:
            click.echo("\t".join(" ".join(cell(row[column]).split()) for column in answer.columns))
        return
    from rich.console import Console

    Console().print(table(answer, root))
