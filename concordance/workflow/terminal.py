"""Terminal output: answers, progress bars, summaries, and the ranges of options in help texts.

In: answers and progress of a build. Out: text on a terminal, or tab-separated lines if the output is not a terminal.
Heavy imports are inside the functions that need them, so that commands start quickly.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from concordance.base.blocks import count_noun
from concordance.base.characters import escape_hidden
from concordance.base.progress import BuildSummary, Totals
from concordance.query.answers import Answer
from concordance.render import answer_layout
from concordance.render.summary import BookDifference, BookSummary, VerifyResult
from concordance.workflow.store_location import store_path

_CHANGES = {"changes": "would change", "appears": "would appear", "vanishes": "would vanish"}
_ANCHOR = re.compile(r'<a id="[^"]*"></a>')
_HYPERLINK = re.compile(r"\x1b\]8;[^\x1b]*\x1b\\")  # the targets are pages of the book, which terminals cannot find
_MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.M | re.S)
_NODE = re.compile(r'^\s*(\w+)\["(.*?)"\]$', re.M)
_ARROW = re.compile(r'^\s*(\w+(?: & \w+)*) (?:-- "(.*?)" )?--> (\w+(?: & \w+)*)$', re.M)
_MAX_STALE_PAGES = 200  # most stale pages that are listed
_AT_ONCE = 0.4  # seconds before a bar is drawn
_REDRAW = 0.1  # seconds between two redraws
_MAX_PAGES_OF_UPDATE = 8  # most pages of an update that are listed


class IntRange(click.IntRange):
    """A range of numbers for an option, described in words in help and errors."""

    name = "number"  # the error says that 'x' is not a valid one

    def _describe_range(self) -> str:
        return f"{self.min} or more" if self.max is None else f"{self.min} to {self.max}"


class ProgressBars:
    """Progress bars on a terminal, one for each step, with rate and remaining time; nothing if there is no terminal."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._tasks: dict[str, Any] = {}
        self._since = 0.0
        self._last_drawn = 0.0  # when the bars were last drawn

    def __enter__(self) -> ProgressBars:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove the bars."""
        if self._progress is not None:
            self._progress.stop()
        self._progress = None
        self._tasks.clear()
        self._since = 0.0

    def show(self, step: str, done: int, total: int, message: str) -> None:
        """Update one step; a step without a known number of items has a total of 0 or 1."""
        if step == "say":
            click.echo(escape_hidden(message), err=True)
            return
        if not sys.stderr.isatty():
            return
        if self._progress is None:
            self._since = self._since or time.monotonic()
            if time.monotonic() - self._since < _AT_ONCE:  # short work, as most queries are, needs no bar
                return
            self._progress = _bars()
            self._progress.start()
        if step not in self._tasks:
            for before in self._tasks.values():  # a step may only ever have reported that it began
                self._progress.update(before, total=1, completed=1)
            self._tasks[step] = self._progress.add_task(step, total=None, count="")
        if total > 1:
            task = self._progress.tasks[self._progress.task_ids.index(self._tasks[step])]
            seconds = task.elapsed or 0.0
            rate = f"  {done / seconds:,.0f} {'pages' if step == 'pages' else 'files'}/s" if done and seconds else ""
            self._progress.update(task.id, completed=done, total=total, count=f"{done:,}/{total:,}{rate}")
        if time.monotonic() - self._last_drawn > _REDRAW or done == total:
            self._last_drawn = time.monotonic()
            self._progress.refresh()


def _bars() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Time(ProgressColumn):
        """How long a step took, or will still take."""

        def render(self, task: Task) -> Text:
            if task.finished:
                return Text(f"{task.finished_time or 0.0:.1f} s", "cyan")
            left = task.time_remaining
            return Text("" if left is None else f"{left // 60:.0f}:{left % 60:02.0f} left", "cyan")

    columns = (TextColumn("{task.description:>8}"), BarColumn(), TextColumn("{task.fields[count]}", "green"), Time())
    # Automatic refresh would use a thread, and a process with threads may not fork its workers.
    return Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)


def _join_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items() if number)


def print_seconds(summary: BuildSummary) -> None:
    """Print how long each step took."""
    for step, seconds in summary.seconds.items():
        click.echo(f"  {step:<8} {seconds:7.2f} s")


def print_summary(
    repo: str, summary: BuildSummary, totals: Totals, book: BookSummary | None, seconds: float, verbose: bool
) -> None:
    """Print what a build did, and what the store and the book contain now."""
    did = [f"{summary.read:,} read"] if summary.read else []
    did += [f"{summary.cached:,} of them from the cache"] if summary.cached else []
    did += [f"{summary.unchanged:,} unchanged"] if summary.unchanged else []
    did += [f"{summary.removed:,} deleted"] if summary.removed else []
    _line("files", summary.files, did or ["there is nothing to read yet"] * (not summary.files))
    if summary.skipped:
        _line("", None, [f"not read as text: {_join_counts(summary.skipped)}"])
    if summary.left_out:
        _line("", None, [f"excluded by the settings: {sum(summary.left_out.values()):,}"])
    if summary.broken:
        _line("", None, [f"read with syntax errors: {summary.broken:,}"])
    _line("symbols", totals.symbols, [])
    _line("links", sum(totals.links.values()), [_join_counts(totals.links)])
    if totals.unresolved:
        reason = "built-in, external or not resolved"
        _line("", None, [f"no link for {count_noun(totals.unresolved, 'use')} of names ({reason})"])
    _line("findings", sum(totals.findings.values()), [_join_counts(totals.findings)])
    if book is not None:
        did = [f"{book.written:,} written", f"{book.pages - book.written:,} unchanged"]
        did += [f"{book.removed:,} removed"] if book.removed else []
        did += [f"{book.bytes / 1e6:,.1f} MB", *([count_noun(book.claims, "claim")] if book.claims else [])]
        _line("pages", book.pages, did)
    _line("time", None, [f"{seconds:.1f} s"])
    if verbose:
        print_seconds(summary)
    _line("store", None, [os.path.join(store_path(repo), "index.db")])
    if book is not None:
        _line("book", None, [os.path.join(book.out, book.front)])


def _line(name: str, number: int | None, about: list[str]) -> None:
    """Print one line of a summary."""
    shown = f"{number:>9,}  " if number is not None else " " * 11 if not name else ""
    click.echo(f"{name:<8} {shown}{', '.join(filter(None, about))}".rstrip())


def print_update(
    repo: str, summary: BuildSummary, book: BookSummary, seconds: float, is_first: bool, verbose: bool
) -> None:
    """Print what one update of `concord watch` did."""
    did = [f"{count_noun(summary.read, 'file')} read"]
    if summary.removed:
        did.append(f"{summary.removed:,} deleted")
    did += [f"{count_noun(summary.named, 'name')} linked", f"{count_noun(book.written, 'page')} written"]
    if book.removed:
        did.append(f"{book.removed:,} removed")
    pages = sorted(book.changed, key=lambda page: (not page.endswith("_docs.md"), page))  # pages of files first
    pages += [f"{page} (removed)" for page in book.gone]
    if is_first:
        root = os.path.realpath(repo)
        counts = f"{count_noun(summary.files, 'file')}, {count_noun(book.pages, 'page')}"
        click.echo(f"watching {root}: {counts}; Ctrl-C stops it")
        click.echo(os.path.join(book.out, "index.md"))
        pages = []
    click.echo(f"{time.strftime('%H:%M:%S')}  {', '.join(did)}; {seconds:.2f} s")
    shown = pages if verbose else pages[:_MAX_PAGES_OF_UPDATE]
    for page in shown:
        click.echo(f"          {escape_hidden(page)}")
    if len(pages) > len(shown):
        click.echo(f"          and {len(pages) - len(shown):,} more; --verbose lists all")
    if verbose:
        print_seconds(summary)


def print_difference(difference: BookDifference, repo: str | None, out: str | None) -> None:
    """Print whether a book is current, and what is not; `repo` and `out` are the command's arguments, if given."""
    named = [shlex.quote(repo)] if repo else []
    build = " ".join(["concord build", *named, *(["--out", shlex.quote(out)] if out else [])])
    if difference.missing:
        click.echo(f"{difference.out} contains no book. To write it: {build}")
        return
    if not difference.is_stale:
        click.echo(f"{difference.out} is current: {count_noun(difference.pages, 'page')}")
        return
    count = Counter(page.change for page in difference.stale)
    parts = [f"{count_noun(count[change], 'page')} {word}" for change, word in _CHANGES.items() if count[change]]
    click.echo(f"{difference.out} is stale: {', '.join(parts)}")
    for page, change, why in difference.stale[:_MAX_STALE_PAGES]:
        click.echo(escape_hidden(f"  {change:<8}  {page}" + (f"  ({why})" if why else "")))
    if len(difference.stale) > _MAX_STALE_PAGES:
        click.echo(f"  and {len(difference.stale) - _MAX_STALE_PAGES:,} more; --json lists all")
    for page, reason in difference.failed:
        click.echo(escape_hidden(f"  {page} could not be rendered: {reason}"))
    click.echo(f"To update it: {build}")


def print_problems(result: VerifyResult) -> None:
    """Print the problems found in a book, one per line, and how much was checked."""
    for page, line, claim, problem, fault in result.problems:
        shown = f"{page}:{line}: {fault}: {problem}" + (f" [{claim}]" if claim else "")
        click.echo(escape_hidden(shown))
    sampled = f"{result.pages:,} of " if result.pages < result.total else ""
    checked = f"{sampled}{count_noun(max(result.pages, result.total), 'page')}, {count_noun(result.claims, 'claim')}"
    store = "; store compared" if result.store_compared else ""
    click.echo(
        f"{count_noun(len(result.problems), 'problem')}: {checked}, {count_noun(result.links, 'link')} checked{store}"
    )


def print_pages(pages: list[str]) -> None:
    """Print pages, rendered on a terminal, or as Markdown if the output is not a terminal."""
    if not sys.stdout.isatty():
        click.echo("\n".join(pages), nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    styles = {"markdown.code": "cyan", "markdown.code_block": "cyan", "markdown.link_url": "none"}
    console = Console(theme=Theme(styles))
    with console.capture() as capture:
        for page in pages:
            console.print(Markdown(for_terminal(escape_hidden(page)), hyperlinks=True))
    os.environ.setdefault("LESS", "-FRX")  # as git does: show colours, and do not wait after a page that fits
    click.echo_via_pager(_HYPERLINK.sub("", capture.get()).rstrip("\n"))


def for_terminal(page: str) -> str:
    """Return a page without anchors, and with the arrows of its diagrams as a list."""
    return _MERMAID.sub(lambda match: _arrows(match[1]) or match[0], _ANCHOR.sub("", page))


def _arrows(diagram: str) -> str:
    """Return the arrows of a diagram as a list, an item for each node that has some; "" if there are none."""
    labels = dict(_NODE.findall(diagram))
    arrows: dict[str, list[str]] = {}
    for left, number, right in _ARROW.findall(diagram):
        used = [f"`{labels.get(part, part)}`{f' ({number})' if number else ''}" for part in right.split(" & ")]
        for node in left.split(" & "):
            arrows.setdefault(f"`{labels.get(node, node)}`", []).extend(used)
    return "".join(f"- {node} → {', '.join(used)}\n" for node, used in arrows.items())


def print_answer(answer: Answer, root: str) -> None:
    """Print an answer for people, or as tab-separated lines if the output is not a terminal."""
    if not answer.rows:
        click.echo("none")
    elif sys.stdout.isatty():
        is_dumb = os.environ.get("TERM") == "dumb"  # it would show escape sequences as text
        colours, width = not (is_dumb or os.environ.get("NO_COLOR")), shutil.get_terminal_size().columns
        for line in answer_layout.layout(answer, width, colours, "" if is_dumb else root):
            click.echo(line, color=True)
    else:
        click.echo("\t".join(map(answer_layout.heading, answer.columns)))
        for row in answer.rows:
            click.echo("\t".join(" ".join(answer_layout.cell(row[column]).split()) for column in answer.columns))
