"""Works out the command that runs a test, to be run from the repository's root.

In: a test's path, name and language. Out: a command line; "" if no file says how to run it. Each language's description
has its own rules (`base.model.TestConventions`); this module gives them the files that they read.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from concordance.base.errors import Unreadable
from concordance.base.model import ListedFile, Parsed
from concordance.base.paths import parent_folders
from concordance.collect import walk
from concordance.extract.registry import language_of, languages
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import ReadRecorder

_MAX_BYTES = 2_000_000  # bytes that are read of a settings file


def affects_test_commands(paths: Collection[str]) -> bool:
    """True if one of the files may determine how the tests in other files are run."""
    settings = {name for language in languages() for name in language.tests.settings}
    endings = tuple(name for name in settings if name.startswith("."))
    return any(path.rpartition("/")[2] in settings or path.endswith(endings) for path in paths)


class RunnerCommands:
    """The test commands of one repository; what was found for a file or folder is cached."""

    def __init__(self, root: str, paths: Collection[str], reads: ReadRecorder) -> None:
        self._root, self._paths, self.reads = root, paths, reads
        self._texts: dict[str, bytes] = {}
        self._parsed: dict[tuple[str, Callable[[bytes], Any]], Any] = {}
        self._named: dict[str, list[str]] = {}
        self._commands: dict[str, Callable[[str], str] | None] = {}

    def command(self, path: str, language: str, name: str) -> str:
        """Return the command that runs one test; `name` is its qualified name, or "" for the whole file."""
        self.reads.note("command", path)
        if path not in self._commands:
            rule = language_of(language).tests.command
            with self.reads.not_recording():
                self._commands[path] = rule(self, path) if rule is not None else None
        command = self._commands[path]
        return command(name) if command is not None else ""

    def command_for_all(self, language: str) -> str:
        """Return the command that runs all tests of a language; "" if no file at the root says how."""
        rule = language_of(language).tests.command_for_all
        return rule(self) if rule is not None else ""

    def text(self, path: str, limit: int = _MAX_BYTES) -> bytes:
        """Return the first bytes of a file, or the last if `limit` is negative; empty if there is no such file.

        Settings files are cached, because many tests share them.
        """
        self.reads.note(Aspect.TEXT, path)
        if path not in self._paths:
            return b""
        if path in self._texts:
            return self._texts[path]
        try:
            data = walk.read(self._root, ListedFile(path, 0, 0), abs(limit), limit < 0)
        except Unreadable:
            data = b""
        if limit == _MAX_BYTES:
            self._texts[path] = data
        return data

    def parsed(self, path: str, parse: Callable[[bytes], Parsed]) -> Parsed:
        """Return the cached result of `parse` for a file."""
        if (path, parse) not in self._parsed:
            self._parsed[path, parse] = parse(self.text(path))
        parsed: Parsed = self._parsed[path, parse]
        return parsed

    def nearest(self, path: str, *names: str) -> Iterator[str]:
        """Yield the files with the given names in a file's folder and those above, nearest first."""
        for folder in parent_folders(path):
            for name in names:
                inside = f"{folder}/{name}" if folder else name
                if inside in self._paths:
                    yield inside

    def named(self, name: str) -> list[str]:
        """Return the paths of all files of a name, sorted."""
        if name not in self._named:
            self._named[name] = sorted(path for path in self._paths if path.rpartition("/")[2] == name)
        return self._named[name]


def join_commands(commands: Iterable[str]) -> list[str]:
    """Return commands that do the same as the given ones, with several tests in one command where its program can."""
    arguments: dict[tuple[str, str], list[str]] = {}  # by the start of a command, and what separates its arguments
    for command in dict.fromkeys(filter(None, commands)):
        start, _, name = command.rpartition(" ")
        separator = " "
        if "_filter=" in command:  # of googletest
            start, separator, name = command.partition("_filter=")
            start, separator, name = f"{start}_filter=", ":", name.strip("'")
        elif name.startswith("-Dtest="):  # of Maven
            start, separator, name = f"{start} -Dtest=", ",", name.removeprefix("-Dtest=")
        elif start.endswith(" -run"):  # of Go: one expression
            start, separator, name = f"{start} ", "|", name.strip("'^$")
        elif start.endswith(" -k"):  # an option that is repeated, and applies to all names
            separator = " -k "
        elif start not in ("pytest", "npx vitest run", "npx jest") and not start.startswith("python "):
            start, name = command, ""
        arguments.setdefault((start, separator), []).append(name)
    return [_join(start, separator, names) for (start, separator), names in arguments.items()]


def _join(start: str, separator: str, names: Sequence[str]) -> str:
    joined = separator.join(names)
    if separator == "|":
        return f"{start}'^{joined}$'" if len(names) == 1 else f"{start}'^({joined})$'"
    if separator == ",":
        return start + _join_methods(names)
    return start + shlex.quote(joined) if separator == ":" else f"{start} {joined}".rstrip()


def _join_methods(names: Sequence[str]) -> str:
    """Return the tests of Maven's plug-in Surefire, with the methods of one class in one place: `A#x+y,B`."""
    methods: dict[str, list[str]] = {}
    for name in names:
        owner, _, method = name.partition("#")
        methods.setdefault(owner, []).extend([method] if method else [])
    return ",".join(f"{owner}#{'+'.join(inside)}" if inside else owner for owner, inside in methods.items())
