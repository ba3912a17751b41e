"""Runs outside programs, and git above all; the one place that starts a process.

In: a program's arguments and the folder to run in. Out: what it writes, in pieces as they come, or
`ToolFailed` with its own words.

A repository's `.git/config` is written by whoever made the repository, and git runs programs that it
names: a file-system monitor, hooks, a signature checker, an external diff, the transport of a lazy
fetch. All of these are switched off here, for every git command, and since nothing of a foreign
repository is run, git's refusal to read one that another user owns (usual in containers) is lifted.
Variables such as GIT_DIR, which git sets when it calls us from a hook, must not lead us to another
repository, so only those pass that say where git's own files are.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from concordance.errors import ToolFailed, ToolMissing, ToolStopped

_PIECE = 1 << 18

_SAFE = (
    "--no-pager",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "safe.directory=*",
    "-c", "log.showSignature=false",
    "-c", "diff.orderFile=/dev/null",
    "-c", "log.showRoot=true",
)  # fmt: skip
_PASSED = frozenset(
    {
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
    }
)
_SET = (
    ("LC_ALL", "C"),  # its messages are read
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),  # an older git does not know the line above
)


class Running:
    """A started program: its input and output, and its complaints once it has ended."""

    def __init__(self, args: Sequence[str], cwd: str, environment: Mapping[str, str] | None) -> None:
        self.name = args[0]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - no shell, and the arguments are our own
                args,
                cwd=cwd,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            if isinstance(error, FileNotFoundError) and error.filename != cwd:
                raise ToolMissing(f"{self.name} is not installed", f"Install {self.name}") from error
            raise ToolFailed(f"{self.name} does not start in {cwd}: {error.strerror}") from error
        self.input: IO[bytes] = _pipe(self._process.stdin)
        self.output: IO[bytes] = _pipe(self._process.stdout)
        self._complaints = b""
        # Read aside: a program that fills this pipe while we read the other would stop for ever.
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        self._complaints = _pipe(self._process.stderr).read()

    def say(self, line: bytes) -> None:
        """Write to the program; where it is gone, its output ends, and `end` tells why."""
        with suppress(BrokenPipeError):
            self.input.write(line)
            self.input.flush()

    def end(self) -> str:
        """Wait for the program and give its complaints; ToolFailed where it says that it failed."""
        code = self._process.wait()
        self._listener.join()
        said = os.fsdecode(self._complaints).strip()
        if code != 0:
            raise ToolFailed(f"{self.name} failed (exit code {code}): {said or 'it does not say why'}")
        return said

    def stop(self) -> None:
        """Stop the program, whatever it does: its output ends."""
        self._process.kill()

    def close(self) -> None:
        """Stop the program if it still runs, and let go of its pipes."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._listener.join()
        for pipe in (self.output, self._process.stderr):
            if pipe is not None:
                pipe.close()
        with suppress(BrokenPipeError):  # it may have ended before it read all that was written to it
            self.input.close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - all three are asked for above
    return pipe


@contextmanager
def running(args: Sequence[str], cwd: str, environment: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Start a program, and stop it at the end of the block whatever happens there."""
    program = Running(args, cwd, environment)
    try:
        yield program
    finally:
        program.close()


def run(args: Sequence[str], cwd: str, environment: Mapping[str, str] | None = None) -> Iterator[bytes]:
    """What a program writes, in pieces; ToolFailed after the last where it ends with an error."""
    with running(args, cwd, environment) as program:
        program.input.close()
        while piece := program.output.read(_PIECE):
            yield piece
        program.end()


def git(args: Iterable[str]) -> list[str]:
    """The command line of a git command, made safe for a repository that nobody vouches for."""
    return ["git", *_SAFE, *args]


def git_environment() -> dict[str, str]:
    """The variables that git is run with."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _PASSED}
    kept.update(_SET)
    return kept


def run_git(cwd: str, *args: str) -> Iterator[bytes]:
    """What a git command writes, in pieces."""
    return run(git(args), cwd, git_environment())


@contextmanager
def running_git(cwd: str, *args: str) -> Iterator[Running]:
    """A git command to talk with."""
    with running(git(args), cwd, git_environment()) as program:
        yield program


def bounded_git(cwd: str, seconds: float, most: int, *args: str) -> bytes:
    """All that a git command writes; ToolStopped where it takes longer, or writes more bytes, than it may."""
    found = bytearray()
    late = threading.Event()

    def stop() -> None:
        late.set()
        program.stop()

    with running_git(cwd, *args) as program:
        timer = threading.Timer(seconds, stop)
        timer.start()
        try:
            program.input.close()
            while len(found) <= most and (piece := program.output.read(_PIECE)):
                found += piece
            if len(found) > most:
                raise ToolStopped(f"git wrote more than {most:,} bytes")
            program.end()
        except ToolFailed as error:
            if late.is_set():
                raise ToolStopped(f"git took longer than {seconds:g} seconds") from error
            raise
        finally:
            timer.cancel()
    return bytes(found)
