"""The command line: builds, asks questions, prints answers. Nothing else in the package prints.

In: arguments. Out: text for people on a terminal or, with `--json`, one JSON array and nothing else on standard output.

Exit codes: 2 if the user's input is wrong, 1 if the program failed, 128 plus the signal's number if a signal ended it
(130 on Ctrl-C, 143 on SIGTERM, 129 on SIGHUP). A signal that was already ignored when the program started (`nohup`, a
background job) stays ignored.

Our own modules are imported inside the functions that need them, so that `concord --version` imports almost nothing.
"""

from __future__ import annotations

import gc
import io
import json
import os
import re
import shlex
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from concordance.base.characters import escape_hidden
from concordance.base.version import VERSION

if TYPE_CHECKING:
    from concordance.api import Repository, Workspace
    from concordance.query.answers import Answer, Option

TASKS = "concordance.tasks"
QUESTIONS = "concordance.query.commands"
_GROUPS = ("Build", "Ask", "Check", "Share")  # of commands, in the order of `--help`
_GROUP_OF_TASK = {"build": "Build", "init": "Build", "watch": "Build", "show": "Ask", "batch": "Ask", "check": "Check",
                  "diff": "Check", "verify": "Check", "workspace": "Build"}  # fmt: skip
_LONGEST_NAME = 60  # letters of what was typed that an error repeats
_CALLBACK_SECONDS = 0.05  # after this time, the callback in which Python dropped a signal has ended
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the signals that end the program


class Commands(click.Group):
    """One command for each file in `tasks` and each file in `query/commands`, plus `batch`."""

    def list_commands(self, context: click.Context) -> list[str]:
        from concordance.base import plugins

        return [*plugins.names(TASKS), *plugins.names(QUESTIONS), "batch"]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name == "batch":
            return batch
        from concordance.base import plugins

        if name in plugins.names(TASKS):
            task: click.Command = plugins.load(TASKS, name).command
            return task
        _collect_seldom()
        try:
            return _question(name, plugins.load(QUESTIONS, name))
        except KeyError:
            return None

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in groups. Nothing is imported for it: each is described by its module's first line."""
        from concordance.base import plugins

        groups: dict[str, list[tuple[str, str]]] = {group: [] for group in _GROUPS}
        for package, other in ((TASKS, "Share"), (QUESTIONS, "Ask")):
            for name in plugins.names(package):
                groups[_GROUP_OF_TASK.get(name, other)].append((name, plugins.summary(package, name)))
        groups[_GROUP_OF_TASK["batch"]].append(("batch", "Answer many questions, one JSON object per line."))
        widest = max(len(name) for rows in groups.values() for name, _ in rows)
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(widest), text) for name, text in sorted(rows)])

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            raise click.UsageError(error.message + _did_you_mean(args[0], self.list_commands(context))) from None


def _collect_seldom() -> None:
    """Search for garbage seldom: what a question loads and reads is needed until its end, and looking through it took a
    fifth of the time on PyTorch."""
    gc.set_threshold(1_000_000, 50, 1000)


def _did_you_mean(name: str, names: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, names, 1)
    return f" Did you mean `{near[0]}`?" if near else ""


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="concord")
def cli() -> None:
    """Document a whole repository: every file, every folder, every keyword, checked against the source.

    \b
    concord build                        # read the repository, write its book
    concord search "read the settings"   # find files and definitions
    concord define main                  # where is it defined?
    concord serve                        # all of it in a browser

    `concord COMMAND --help` explains a command, with examples.
    """


def _open_repository(repo: str | None, no_update: bool, store: str | None, yes: bool) -> Repository:
    from concordance import api
    from concordance.workflow import store_location, terminal
    from concordance.workflow.store_location import use_store

    use_store(store)
    repo = store_location.root_of(repo, yes)
    _collect_seldom()
    with terminal.ProgressBars() as bar:
        return api.Repository(repo, not no_update, bar.show)


_REPO = click.Option(
    ["--repo"], metavar="DIR", help="The repository (default: the repository that contains the current folder)."
)
_NO_UPDATE = click.Option(["--no-update"], is_flag=True, help="Answer from the store without updating it first.")
_STORE = click.Option(
    ["--store"], type=click.Path(), metavar="DIR",
    help="The folder of the store (default: .concordance in the repository, or CONCORDANCE_STORE).",
)  # fmt: skip
_YES = click.Option(["--yes", "-y"], is_flag=True, help="Read a folder even if it is neither a repository nor indexed.")
_WORKSPACE = click.Option(
    ["--workspace"], metavar="DIR", help="Ask all repositories of a workspace (see `concord workspace`)."
)
_OVER_WORKSPACES = ("callers", "define", "impact", "path", "refs", "search")
_TEXT = "[FILE]"  # the argument of a question about a text
# Options of `concord batch`, not of a question in it.
_BATCH_OPTIONS = ("as_json", "no_update", "repo", "store", "workspace", "yes")


def _question(name: str, module: Any) -> click.Command:
    """Build the click command for one file of `query/commands`."""
    from concordance.query.answers import options_of
    from concordance.workflow.terminal import IntRange

    def run(repo: str | None, as_json: bool, no_update: bool, store: str | None, yes: bool, **parameters: Any) -> None:
        if module.ARGUMENT == _TEXT:
            parameters["argument"] = _read_text(parameters["argument"] or "-")
        workspace = parameters.pop("workspace", None) or (_workspace_around(repo) if name in _OVER_WORKSPACES else None)
        if workspace is not None:
            from concordance.api import Workspace

            with Workspace(workspace) as opened:
                _print(_ask(opened, name, parameters), workspace, as_json)
            return
        if store is None and name not in _OVER_WORKSPACES and _workspace_around(repo) is not None:
            from concordance.base.errors import UserError

            advice = f"Name one with --repo. Over a workspace: {', '.join(_OVER_WORKSPACES)}"
            raise UserError(f"this folder is a workspace, and `{name}` is about one repository", advice)
        with _open_repository(repo, no_update, store, yes) as repository:
            _print(_ask(repository, name, parameters), repository.root, as_json)

    takes_words = module.ARGUMENT.rstrip("]").endswith("...")
    is_required = not module.ARGUMENT.startswith("[")
    argument = click.Argument(
        ["argument"], required=is_required, metavar=module.ARGUMENT, nargs=-1 if takes_words else 1
    )
    definitions: list[click.Parameter] = [
        *([argument] if module.ARGUMENT else []),
        *map(_option, options_of(module)),
        _REPO,
        click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON array."),
        click.Option(
            ["--limit"], type=IntRange(1), metavar="N", default=1000, show_default=True, help="Show at most N results."
        ),
        click.Option(["--cursor"], metavar="CURSOR", default="", help="Continue after the previous answer."),
        _NO_UPDATE,
        _STORE,
        _YES,
        *([_WORKSPACE] if name in _OVER_WORKSPACES else []),
    ]
    return click.Command(name, params=definitions, callback=run, help=module.HELP)


def _read_text(path: str) -> str:
    """Return the text of a file, or of standard input for "-"."""
    if path == "-" and (sys.stdin is None or sys.stdin.isatty()):
        raise click.UsageError("Give a FILE, or pipe a text into the command.")
    try:
        with click.open_file(path, "rb") as file:
            return bytes(file.read()).decode("utf-8", "replace")
    except OSError as error:
        shown = path if len(path) <= _LONGEST_NAME else f"{path[:_LONGEST_NAME]}…"
        what = f"Cannot read {shlex.quote(shown)}: {error.strerror}."
        raise click.UsageError(f"{what}{_instead_of_a_file(path)}") from None


def _instead_of_a_file(text: str) -> str:
    """Return advice to somebody who typed a name or a sentence where a file is expected."""
    if re.fullmatch(r"[\w.]+(::\w+)*", text) and not os.path.lexists(text):
        return f" If it is a name, try `concord define {text}`."
    return " If it is a text, pipe it into the command." if " " in text.strip() else ""


def _option(option: Option) -> click.Option:
    names = [f"--{option.name}", option.name.replace("-", "_")] + ([f"-{option.short}"] if option.short else [])
    if option.type is bool:
        return click.Option(names, is_flag=True, default=option.default, help=option.help)
    kind: Any = click.Choice(option.choices) if option.choices else option.type
    if option.least is not None:
        from concordance.workflow.terminal import IntRange

        kind = IntRange(option.least)
    return click.Option(
        names, type=kind, metavar=option.metavar or ("N" if option.type is int else None), default=option.default,
        show_default=bool(option.default), help=option.help,
    )  # fmt: skip


def _workspace_around(repo: str | None) -> str | None:
    """Return the current folder if it is that of a workspace, and no repository was named."""
    from concordance.query.workspace.workspace_file import is_workspace

    return os.getcwd() if repo is None and is_workspace(".") else None


def _ask(opened: Repository | Workspace, command: str, parameters: dict[str, Any]) -> Answer:
    """Answer one question with the parameters that click has parsed. Several words are one argument."""
    options = dict(parameters)
    argument = options.pop("argument", None)
    return opened.ask(command, " ".join(argument) if isinstance(argument, tuple) else argument, **options)


def _print(answer: Answer, root: str, as_json: bool) -> None:
    from concordance.workflow import terminal

    if answer.corrects:
        click.echo(escape_hidden(answer.note), err=True)
    if as_json:
        click.echo(json.dumps(answer.rows))
    else:
        terminal.print_answer(answer, root)
    if answer.note and not answer.corrects:
        click.echo(escape_hidden(answer.note), err=True)
    if answer.cursor:
        more = f"continue with --cursor {shlex.quote(answer.cursor)}"
        click.echo(f"{len(answer.rows):,} of {answer.total:,}; {more}", err=True)


@click.command(params=[_REPO, _NO_UPDATE, _STORE, _YES])
def batch(repo: str | None, no_update: bool, store: str | None, yes: bool) -> None:
    """Answer many questions: one per line on standard input, as JSON, each with one line on standard output.

    A reply has `ok` and `result`, or `error`. If there are more results than the reply holds, it also has `total` and
    a `cursor` to ask for the rest. A `note`, if present, is a remark about the answer.

    \b
    echo '{"command": "define", "args": ["torch.nn.Module"]}' |
    concord batch
    """
    with _open_repository(repo, no_update, store, yes) as repository:
        if sys.stdin is not None and sys.stdin.isatty():
            click.echo("Reading questions, one JSON object per line, until Ctrl-D. Try: concord batch -h", err=True)
        gc.freeze()  # what is loaded now stays: scanning it again and again would slow down single answers
        commands: dict[str, click.Command] = {}
        for line in sys.stdin.buffer if sys.stdin is not None else ():  # None if the caller closed it
            sys.stdout.write(json.dumps(_reply(repository, commands, line)) + "\n")
            sys.stdout.flush()


def _reply(repository: Repository, commands: dict[str, click.Command], line: bytes) -> dict[str, Any]:
    """Return the reply to one line. An error becomes the reply, so that the next line is still read."""
    from concordance.base.errors import ConcordanceError

    try:
        answer = _parse_and_ask(repository, commands, line)
    except click.ClickException as error:
        return {"ok": False, "error": error.format_message()}
    except ConcordanceError as error:
        return {"ok": False, "error": str(error)}
    except Exception as error:
        return {"ok": False, "error": f"the program failed on this question: {type(error).__name__}: {error}"}
    more = {"total": answer.total, "cursor": answer.cursor} if answer.cursor else {}
    return {"ok": True, "result": answer.rows, **more, **({"note": answer.note} if answer.note else {})}


def _parse_and_ask(repository: Repository, commands: dict[str, click.Command], line: bytes) -> Answer:
    try:
        question = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"not valid JSON: {error}") from None
    name, args = (question.get("command"), question.get("args", [])) if isinstance(question, dict) else (None, [])
    if not isinstance(name, str) or not isinstance(args, list) or not all(isinstance(arg, str) for arg in args):
        raise click.UsageError('a question must look like {"command": "define", "args": ["a.py:3:7"]}')
    from concordance.base import plugins

    if name not in commands:
        names = list(plugins.names(QUESTIONS))
        if name not in names:
            raise click.UsageError(f"No such command '{name}'.{_did_you_mean(name, names)}")
        commands[name] = _question(name, plugins.load(QUESTIONS, name))
        commands[name].add_help_option = False
    options = commands[name].make_context(name, list(args)).params
    if options["repo"] is not None or options["store"] is not None:
        raise click.UsageError("A batch queries one repository: pass --repo and --store to `concord batch`")
    parameters = {key: value for key, value in options.items() if key not in _BATCH_OPTIONS}
    if parameters.get("argument") and plugins.load(QUESTIONS, name).ARGUMENT == _TEXT:
        if parameters["argument"] == "-":
            raise click.UsageError("Give a FILE: standard input holds the questions.")
        parameters["argument"] = _read_text(parameters["argument"])
    return _ask(repository, name, parameters)


def main() -> None:
    """Run the `concord` program: set up output and signals, run the command, exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file name need not be valid text
    received = _end_on_signals()
    try:
        _run()
    except BaseException as error:
        if isinstance(error, SystemExit) or not _is_interruption(error):
            raise
        click.echo("concord: stopped; the last complete store is unchanged, and files read so far are cached", err=True)
        sys.exit(128 + (received[0] if received else signal.SIGINT))
    finally:  # only Python's own shutdown is left, which a signal must not disturb
        gc.freeze()  # it would look through all objects for garbage: a third of a question's time on PyTorch
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)


def _is_interruption(error: BaseException) -> bool:
    """True if a signal caused an error: Python reports one that arrives while a class is made as a RuntimeError."""
    cause = error.__cause__ or error.__context__
    return isinstance(error, click.Abort | KeyboardInterrupt) or (cause is not None and _is_interruption(cause))


def _run() -> None:
    """Run a command; turn an error into a message and an exit code."""
    from concordance.base.errors import ConcordanceError

    try:
        cli(standalone_mode=False)
        if sys.stdout is not None and not sys.stdout.closed:  # a language server closes it
            sys.stdout.flush()
    except ConcordanceError as error:
        click.echo(escape_hidden(f"concord: {error}"), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except OSError as error:  # for example a full disk, or a current folder that was removed
        _drop_output()
        click.echo(escape_hidden(f"concord: {error}"), err=True)
        sys.exit(1)


def _end_on_signals() -> list[int]:
    """Make the signals that end a program raise `KeyboardInterrupt`, so that it can clean up.

    Return the list to which the numbers of received signals are appended. A second signal within a second, as shells
    send it, does not interrupt the handling of the first. Python drops an exception that is raised while it calls back
    for an object that is freed; the signal is then raised again, or it would be lost.
    """
    received: list[int] = []
    times: list[float] = []

    def end(number: int, frame: object) -> None:
        received.append(number)
        times.append(time.monotonic())
        if len(times) == 1 or times[-1] - times[-2] > 1:
            raise KeyboardInterrupt

    def end_after_callback(ignored: sys.UnraisableHookArgs) -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(ignored)
            return
        times.clear()
        number = received[-1] if received else signal.SIGTERM  # a child process has received no other
        import threading  # rarely needed

        threading.Timer(_CALLBACK_SECONDS, os.kill, (os.getpid(), number)).start()  # here it would be dropped, too

    sys.unraisablehook = end_after_callback
    for number in _SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
    return received


def _drop_output() -> None:
    """Discard output that is still buffered: Python would complain at exit that it cannot be written."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
