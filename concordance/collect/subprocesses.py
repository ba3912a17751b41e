"""Runs external programs, above all git; the only module that starts a process.

In: the arguments of a program and the folder to run in. Out: what it writes, in pieces as they arrive; `ToolFailed`
with the program's message if it fails, `ToolStopped` if it was silent for too long.

A repository's `.git/config` was written by whoever made the repository, and git runs programs that it names: a
file-system monitor, hooks, a signature checker, an external diff, the transport of a lazy fetch. All of these are
disabled for every git command. Since nothing of a foreign repository is run, git's refusal to read a repository that
another user owns (common in containers) is disabled, too. Filters and text converters cannot be disabled, so commands
that run them are not used. Variables such as GIT_DIR, which git sets when it calls us from a hook, must not lead us to
another repository, so only the variables that locate git's own files are passed on.

A repository may contain a file called `git`. PATH finds it if an entry is empty or relative (the current folder) or
lies in the repository, so such entries are ignored. Of the environment, a program gets only what it needs to find its
own files and libraries: any other variable might make it run another program.

Git opens its own files, and `.gitignore`, `.gitattributes` and `.mailmap`, without checking what they are, and waits
forever if one of them is a named pipe or a device. Files at known paths are checked before git runs. Files that can be
anywhere (a `.gitignore` in any folder, a loose object, a path in git's settings) are checked once git has been silent
for a while.

A program runs in its own session: nothing that it starts outlives it, and it cannot prompt on the terminal.
"""

from __future__ import annotations

import io
import os
import select
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from math import inf
from typing import IO

from concordance.base import confined_folder, startup
from concordance.base.errors import ToolFailed, ToolMissing, ToolStopped
from concordance.base.startup import SEARCH_PATHS, is_inside

_GIT_FILES = ("HEAD", "config", "config.worktree", "index", "packed-refs", "shallow", "commondir", "info/exclude",
        "info/attributes", "info/sparse-checkout", "info/grafts", "objects/info/alternates")  # fmt: skip
_IN_TREE = (".gitignore", ".gitattributes", ".mailmap")
_LARGEST = 1 << 16  # maximum bytes of the file that locates git's folder, or of settings
_MAX_FILES_CHECKED = 100_000  # maximum number of files to check
_PROGRAM_VARIABLES = ("LANG", "LANGUAGE", "LOGNAME", "RAYON_NUM_THREADS", "TZ", "USER")
_FOLDERS = ("DEVELOPER_DIR", "HOME", "TMPDIR", "XDG_CONFIG_HOME")  # passed only if they are absolute
SILENCE = 300.0  # seconds without output after which a program is stopped; the log of a large history starts late
_SILENCE_BEFORE_CHECK = 2.0  # seconds of silence after which the cause is searched
_END = 10.0  # seconds for the remains of a killed program to end
_PIECE = 1 << 18
_COMPLAINTS = 16 << 20  # maximum bytes of error messages to keep

_SAFE = (
    "--no-pager",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.attributesFile=/dev/null",  # this and the mailmap could name any file, even an endless one
    "-c", "mailmap.file=/dev/null",
    "-c", "safe.directory=*",
    "-c", "safe.bareRepository=explicit",  # a folder of the repository may look like one, with its own settings
    "-c", "log.showSignature=false",
    "-c", "diff.orderFile=/dev/null",
    "-c", "log.showRoot=true",
)  # fmt: skip
_INHERITED_VARIABLES = ("GIT_CEILING_DIRECTORIES", "GIT_CONFIG_NOSYSTEM", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_PLACES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_EXEC_PATH")  # passed only if they are outside the repository
_SET = (
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),  # these two change a history without a new commit
    ("GIT_GRAFT_FILE", os.devnull),
    ("GIT_ALLOW_PROTOCOL", "none"),  # for older versions of git, which ignore the variable above
)


class ProgramGroup:
    """The programs that another thread runs, so that they can be stopped."""

    def __init__(self) -> None:
        self._programs: list[RunningProgram] = []
        self._stopped = False

    def add(self, program: RunningProgram) -> None:
        """Add a program; it is stopped if the group has been stopped."""
        self._programs.append(program)
        if self._stopped:
            program.stop()

    def stop(self) -> None:
        """Kill those that are running, and all that are added later: their output ends."""
        self._stopped = True
        for program in self._programs:
            if program.is_running:
                program.stop()


class RunningProgram:
    """A running program: its input and output and, once it has ended, its error messages."""

    def __init__(
        self, args: Sequence[str], cwd: str, environment: Mapping[str, str] | None = None, title: str = "",
        deadline: float = inf, look: Callable[[str], str] | None = None,
    ) -> None:  # fmt: skip
        """`title` is its name in messages.

        It is stopped at the `deadline` (of the monotonic clock), or when it was silent for too long; `look` finds the
        file that it may be waiting for.
        """
        self.name = title or os.path.basename(args[0])
        self.cwd = os.path.abspath(cwd)
        self._deadline, self._look, self._silence = deadline, look, SILENCE
        program = args[0] if os.path.isabs(args[0]) else find_program(args[0], self.cwd)
        if not program:
            raise ToolMissing(f"{args[0]} is not installed", f"Install {args[0]}")
        try:
            self._process = subprocess.Popen(  # noqa: S603 - no shell, and the arguments are our own
                [program, *args[1:]],
                bufsize=0,
                cwd=cwd,
                env=minimal_environment(self.cwd) if environment is None else environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise ToolFailed(f"{self.name} cannot be started in {cwd}: {error.strerror}") from error
        self.input: IO[bytes] = _pipe(self._process.stdin)
        os.set_blocking(self.input.fileno(), False)
        self.output = io.BufferedReader(_Output(_pipe(self._process.stdout), self._wait), _PIECE)
        self._complaints = b""
        # In a thread: a program that fills this pipe while we read the other one would block forever.
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def is_running(self) -> bool:
        """True if the program has not ended."""
        return self._process.poll() is None

    def _listen(self) -> None:
        errors = _pipe(self._process.stderr)
        with suppress(OSError, ValueError):  # closed
            while piece := errors.read(_PIECE):
                if len(self._complaints) < _COMPLAINTS:
                    self._complaints += piece

    def _wait(self, pipe: IO[bytes], event: int) -> None:
        """Wait until a pipe can be read or written."""
        poll = select.poll()
        poll.register(pipe, event)
        now = time.monotonic()
        end = min(now + self._silence, self._deadline)
        if self._look is not None and now + _SILENCE_BEFORE_CHECK < end:
            if poll.poll(_SILENCE_BEFORE_CHECK * 1000):
                return
            blocking, self._look = self._look(self.cwd), None
            if blocking:
                self.stop()
                raise ToolStopped(f"{self.name} is waiting for {blocking}, which is not a regular file", "Remove it")
        if not poll.poll(max(0.0, end - time.monotonic()) * 1000):
            self._late()

    def _late(self) -> None:
        self.stop()
        if time.monotonic() >= self._deadline:
            raise ToolStopped(f"{self.name} took too long")
        advice = f"Run it in {self.cwd} to see what blocks it: a file system that does not answer, a damaged file"
        raise ToolStopped(f"{self.name} wrote nothing for {self._silence:g} seconds and was stopped", advice)

    def say(self, line: bytes) -> None:
        """Write to the program. If it has ended, its output ends too, and `end` raises the reason."""
        rest = memoryview(line)
        with suppress(BrokenPipeError):
            while rest:
                self._wait(self.input, select.POLLOUT)
                rest = rest[os.write(self.input.fileno(), rest[: select.PIPE_BUF]) :]

    def end(self) -> str:
        """Wait for the program and return its error messages; raise ToolFailed if its exit code is not 0."""
        try:
            code = self._process.wait(max(0.0, min(self._silence, self._deadline - time.monotonic())))
        except subprocess.TimeoutExpired:
            self._late()
        self._listener.join(_END)
        complaint = os.fsdecode(self._complaints).strip()
        if code != 0:
            raise ToolFailed(f"{self.name} failed (exit code {code}): {complaint or 'no error message'}")
        return complaint

    def stop(self) -> None:
        """Kill the program and everything it has started: its output ends."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the program if it is still running, and close its pipes."""
        if self.is_running:
            self.stop()
            self._process.wait()
        self._listener.join(_END)
        for pipe in (self.output, self._process.stderr, self.input):
            if pipe is not None:
                pipe.close()


class _Output(io.RawIOBase):
    """A pipe that waits, with a limit, until there is something to read."""

    def __init__(self, pipe: IO[bytes], wait: Callable[[IO[bytes], int], None]) -> None:
        self._pipe, self._wait = pipe, wait

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        self._wait(self._pipe, select.POLLIN)
        return os.readv(self._pipe.fileno(), [buffer])

    def close(self) -> None:
        self._pipe.close()
        super().close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - all three are asked for above
    return pipe


@contextmanager
def _closing(program: RunningProgram) -> Iterator[RunningProgram]:
    """Close a program at the end of the block, whatever happens there."""
    try:
        yield program
    finally:
        program.close()


def _read_output(program: RunningProgram) -> Iterator[bytes]:
    with _closing(program):
        program.input.close()
        while piece := program.output.read1(_PIECE):
            yield piece
        program.end()


def run(args: Sequence[str], cwd: str) -> Iterator[bytes]:
    """Yield what a program writes, in pieces; raise ToolFailed at the end if it failed."""
    yield from _read_output(RunningProgram(args, cwd))


def _git(cwd: str, args: Sequence[str], deadline: float = inf) -> RunningProgram:
    """Start a git command, made safe for an untrusted repository."""
    here = os.path.abspath(cwd)
    top = find_git_top(here) or here
    title = f"git {_command(args)}"
    if blocking := find_blocking_file(here):
        raise ToolStopped(f"{title} would wait for {blocking}, which is not a regular file", "Remove it")
    program = find_program("git", top)
    if not program:
        raise ToolMissing("git is not installed", "Install git")
    return RunningProgram([program, *_SAFE, *args], cwd, _git_environment(top), title, deadline, search_blocking_file)


def _command(args: Iterable[str]) -> str:
    return next((arg for arg in args if not arg.startswith("-")), "")


def _git_environment(repository: str) -> dict[str, str]:
    """Return the environment variables for git."""
    environment = minimal_environment(repository)
    environment |= {name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
    for name in _PLACES:
        place = os.environ.get(name, "")
        if os.path.isabs(place) and not is_inside(place, repository):
            environment[name] = place
    return {**environment, **dict(_SET)}


def run_git(cwd: str, *args: str, group: ProgramGroup | None = None) -> Iterator[bytes]:
    """Yield what a git command writes, in pieces. With a `group` another thread can stop it."""
    program = _git(cwd, args)
    if group is not None:
        group.add(program)
    yield from _read_output(program)


@contextmanager
def running_git(cwd: str, *args: str) -> Iterator[RunningProgram]:
    """Start a git command to exchange input and output with."""
    with _closing(_git(cwd, args)) as program:
        yield program


def bounded_git(cwd: str, seconds: float, max_bytes: int, *args: str) -> bytes:
    """Return all that a git command writes; raise ToolStopped if it takes too long or writes too much."""
    output = bytearray()
    for piece in _read_output(_git(cwd, args, time.monotonic() + seconds)):
        output += piece
        if len(output) > max_bytes:
            raise ToolStopped(f"git wrote more than {max_bytes:,} bytes")
    return bytes(output)


# --- finding programs


def find_program(name: str, repository: str) -> str:
    """Return the absolute path of a program outside the repository; "" if there is none."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        place = os.path.join(folder, name)
        is_there = os.path.isabs(folder) and os.access(place, os.X_OK) and os.path.isfile(place)
        if is_there and not startup.is_inside(folder, repository):
            return place
    return ""


def minimal_environment(repository: str) -> dict[str, str]:
    """Return the environment variables for an external program."""
    environment = {name: os.environ[name] for name in _PROGRAM_VARIABLES if name in os.environ}
    environment |= {name: os.environ[name] for name in _FOLDERS if os.path.isabs(os.environ.get(name, ""))}
    for name in SEARCH_PATHS:
        if name in os.environ:
            environment[name] = startup.search_path(os.environ[name], repository)
    environment["LC_ALL"] = "C"  # its messages are parsed
    return environment


# --- files that git would wait for


def find_git_top(folder: str) -> str:
    """Return the nearest folder, going up, that contains `.git`; "" if none does."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


def find_blocking_file(folder: str) -> str:
    """Return a file at a known path for which git would wait forever; "" if there is none."""
    top = find_git_top(folder)
    if not top:
        return ""
    for place in dict.fromkeys((top, folder)):
        for name in _IN_TREE:
            path = os.path.join(place, name)
            with suppress(OSError):
                if _is_endless(os.lstat(path)):  # git does not follow links here
                    return path
    for own in _own_folders(top):
        for name in _GIT_FILES:
            path = os.path.join(own, name)
            with suppress(OSError):
                if _is_endless(os.stat(path)):
                    return path
    return ""


def search_blocking_file(folder: str) -> str:
    """Return the first pipe or device at a path that git may read; "" if there is none. Walks the whole repository."""
    top = find_git_top(folder)
    for path, in_tree in islice(_candidates(top), _MAX_FILES_CHECKED) if top else ():
        with suppress(OSError):
            if (not in_tree or os.path.basename(path) in _IN_TREE) and _is_endless(os.stat(path)):
                return path
    return ""


def _candidates(top: str) -> Iterator[tuple[str, bool]]:
    """Yield paths that may be special files, and True if they lie in the work tree; and the paths in git's settings."""
    for own in _own_folders(top):
        for line in _text(os.path.join(own, "config")).splitlines():
            name = line.partition("=")[2].strip().strip('"')
            if name:
                yield os.path.join(own, os.path.expanduser(name)), False
                yield os.path.join(top, name), False
        for path in _special(own):
            yield path, False
    for path in _special(top):
        yield path, True


def _special(folder: str) -> Iterator[str]:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as inside:
                for item in inside:
                    if item.is_dir(follow_symlinks=False):
                        waiting.append(item.path)
                    elif not item.is_file(follow_symlinks=False):
                        yield item.path
        except OSError:
            continue


def _own_folders(top: str) -> list[str]:
    """Return git's folder, and the one that all work trees of a repository share."""
    own = os.path.join(top, ".git")
    if not os.path.isdir(own):
        file_text = _text(own)
        if not file_text.startswith("gitdir:"):
            return []
        own = os.path.join(top, file_text.removeprefix("gitdir:").strip())
    shared = _text(os.path.join(own, "commondir")).strip()
    return [own, os.path.join(own, shared)] if shared else [own]


def history_files(folder: str) -> list[str]:
    """Return the files, apart from commits, on which `git log` depends: names of authors, and the end of the clone."""
    top = find_git_top(folder)
    return [os.path.join(top, ".mailmap"), *(os.path.join(own, "shallow") for own in _own_folders(top))] if top else []


def state_files(folder: str) -> list[str]:
    """Return the files that decide what git lists, and which commit is the current one: git's own, its settings, and
    the program. Some of them may not exist."""
    top = find_git_top(folder)
    names = [*_GIT_FILES, "reftable/tables.list"]
    head = next(filter(None, (_text(os.path.join(own, "HEAD")) for own in _own_folders(top))), "")
    if head.startswith("ref:"):
        names.append(head.removeprefix("ref:").strip())
    link = os.path.join(top, ".git")  # of a linked work tree; a folder's times say nothing
    files = [find_program("git", top), *([link] if os.path.isfile(link) else [])]
    files += [os.path.join(own, name) for own in _own_folders(top) for name in names]
    settings = b"".join(run_git(top, "config", "--list", "--show-origin", "-z")).split(b"\0")
    user_folder = os.path.expanduser("~")
    more = os.environ.get("XDG_CONFIG_HOME") or os.path.join(user_folder, ".config")
    files += ["/etc/gitconfig", os.path.join(user_folder, ".gitconfig")]
    files += [os.path.join(more, "git", name) for name in ("config", "ignore")]
    for origin, setting in zip(settings[::2], settings[1::2], strict=False):
        if origin.startswith(b"file:"):
            files.append(os.path.join(top, os.fsdecode(origin[5:])))
        name, _, value = os.fsdecode(setting).partition("\n")
        if name.lower() == "core.excludesfile":
            files.append(os.path.join(top, os.path.expanduser(value)))
    return files


def git_configuration(folder: str) -> str:
    """Return git's configuration of the repository around a folder; "" if there is none."""
    top = find_git_top(folder)
    texts = [text for own in _own_folders(top) if (text := _text(os.path.join(own, "config")))] if top else []
    return texts[-1] if texts else ""


def _text(path: str) -> str:
    """Return the content of a small regular file; "" if there is none, or if it contains a NUL, as no path does."""
    try:
        with confined_folder.open_regular_file(path) as file:
            text = os.fsdecode(file.read(_LARGEST))
    except OSError:
        return ""
    return "" if "\0" in text else text


def _is_endless(status: os.stat_result) -> bool:
    if stat.S_ISCHR(status.st_mode):
        return status.st_rdev != os.stat(os.devnull).st_rdev  # which people link to on purpose
    return stat.S_ISFIFO(status.st_mode)
