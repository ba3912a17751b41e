"""The command line: builds, asks, prints; the only place that prints.

In: arguments. Out: text for people on a terminal, or with `--json` one JSON array and nothing
else. Exit code 2 where the question is wrong, 1 where the program failed, 130 on Ctrl-C. Our own
modules are imported in the functions that need them: `concord --version` needs none.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from concordance.pipeline import Summary
    from concordance.query.answers import Answer, Page

COMMANDS = "concordance.query.commands"
VERSION = "0.1.0"


class Commands(click.Group):
    """`build`, and one command for each file in `query/commands`."""

    def list_commands(self, context: click.Context) -> list[str]:
        from concordance import plugins

        return ["build", *plugins.names(COMMANDS)]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name == "build":
            return build
        from concordance import plugins

        try:
            return _question(name, plugins.load(COMMANDS, name))
        except KeyError:
            return None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(context), 1)
            raise click.UsageError(f"{error.message} Did you mean `{near[0]}`?" if near else error.message) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="concord")
def cli() -> None:
    """Documents a whole repository: every file, every folder, every keyword, checked against the source."""


@click.command()
@click.argument("repo", default=".", type=click.Path(readable=False))
@click.option("--jobs", type=click.IntRange(1), help="Worker processes (default: one for each core).")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--verbose", "-v", is_flag=True, help="Say how long each step took.")
def build(repo: str, jobs: int | None, as_json: bool, verbose: bool) -> None:
    """Read every file of a repository and store what each says.

    \b
    concord build
    concord build ~/src/pytorch --verbose
    """
    summary = _build(repo, jobs)
    if as_json:
        click.echo(json.dumps(summary.__dict__))
    else:
        _print_summary(repo, summary, verbose)


def _build(repo: str, jobs: int | None = None) -> Summary:
    """Brings the store up to date, and says what could not be read whole."""
    from dataclasses import replace

    from concordance.config import Config
    from concordance.pipeline import Build

    config = replace(Config(), jobs=jobs) if jobs else Config()
    with _Bar() as bar:
        summary = Build(repo, config, bar.show).run()
    for path, reason in summary.failed:
        click.echo(f"{path}: {reason}; it is in the ledger, without facts", err=True)
    return summary


class _Bar:
    """Progress on a terminal: a bar for each step, with files a second and the time left."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> _Bar:
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


def _print_summary(repo: str, summary: Summary, verbose: bool) -> None:
    from concordance.pipeline import FOLDER

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


def _question(name: str, module: Any) -> click.Command:
    """A command made from its file."""
    from concordance.query.answers import Page

    optional = module.ARGUMENT.startswith("[")
    flags: dict[str, str] = getattr(module, "FLAGS", {})

    def run(
        argument: str | None, repo: str | None, as_json: bool, limit: int, cursor: str, no_update: bool, **on: bool
    ) -> None:
        page = Page(limit, cursor, frozenset(flag for flag in flags if on[flag]))
        _answer(module, argument, repo, as_json, page, no_update)

    parameters: list[click.Parameter] = [
        click.Argument(["argument"], required=not optional, metavar=module.ARGUMENT),
        click.Option(["--repo"], help="The repository (default: the one around the current folder)."),
        click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON array."),
        click.Option(["--limit"], type=click.IntRange(1), default=1000, show_default=True, help="At most so many."),
        click.Option(["--cursor"], default="", help="Go on behind the last answer."),
        click.Option(["--no-update"], is_flag=True, help="Answer from the store as it is."),
        *(click.Option([f"--{flag}"], is_flag=True, help=said) for flag, said in flags.items()),
    ]
    return click.Command(name, params=parameters, callback=run, help=module.HELP)


def _answer(module: Any, asked: str | None, repo: str | None, as_json: bool, page: Page, no_update: bool) -> None:
    from concordance.collect.source import find_root
    from concordance.facts.read import Facts
    from concordance.pipeline import FOLDER
    from concordance.query.answers import find_file

    root = repo if repo is not None else find_root(os.getcwd())
    folder = os.path.join(root, FOLDER)
    if not no_update or not os.path.exists(os.path.join(folder, "index.db")):
        _build(root)
    with Facts(folder) as facts:
        file = find_file(facts, root, asked) if asked is not None else None
        answer = module.answer(facts, file, page)
    if as_json:
        click.echo(json.dumps(answer.rows))
    else:
        _print_table(answer)
        if answer.note:
            click.echo(answer.note, err=True)
    if answer.cursor:
        more = f"go on with --cursor {shlex.quote(answer.cursor)}"
        click.echo(f"{len(answer.rows):,} of {answer.total:,}; {more}", err=True)


# What a row is shows in its colour; the word beside it says the same without.
_COLOURS = {
    "class": "magenta", "struct": "magenta", "interface": "magenta", "enum": "magenta", "function": "cyan",
    "method": "cyan", "property": "cyan", "macro": "red", "constant": "yellow", "variable": "yellow", "field": "green",
    "enumerator": "green", "heading": "bold", "import": "blue",
}  # fmt: skip


def table(answer: Answer) -> Any:
    """An answer as a table for people."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for column in answer.columns:
        long = column == "signature"
        justify: Any = "right" if column in ("line", "uses") else "left"
        drawn.add_column(column, justify=justify, overflow="ellipsis" if long else "fold", no_wrap=long)
    for row in answer.rows:
        colour = _COLOURS.get(str(row.get("kind", "")), "")
        styles = {"qualified": colour, "keyword": colour, "module": "blue", "signature": "dim", "section": "dim"}
        drawn.add_row(*(Text("" if row[c] is None else str(row[c]), styles.get(c, "")) for c in answer.columns))
    return drawn


def _print_table(answer: Answer) -> None:
    if not answer.rows:
        click.echo("none")
        return
    if not sys.stdout.isatty():  # nobody to wrap lines for: a line a row, tabs between
        click.echo("\t".join(answer.columns))
        for row in answer.rows:
            cells = ("" if row[column] is None else str(row[column]) for column in answer.columns)
            click.echo("\t".join(" ".join(cell.split()) for cell in cells))
        return
    from rich.console import Console

    Console().print(table(answer))


def main() -> None:
    """The program `concord`."""
    from concordance.errors import ConcordanceError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file's name need not be text
    try:
        cli(standalone_mode=False)
        if sys.stdout is not None:  # closed by the caller
            sys.stdout.flush()
    except ConcordanceError as error:
        click.echo(f"concord: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("concord: stopped; the last complete store is as it was, and what was read is kept", err=True)
        sys.exit(130)
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except OSError as error:  # a full disk, a current folder that is gone
        _drop_output()
        click.echo(f"concord: {error}", err=True)
        sys.exit(1)


def _drop_output() -> None:
    """Lets what is still to be written go nowhere: Python would complain about it at its end."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
