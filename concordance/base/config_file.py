"""Reads a repository's settings: `concordance.toml` at its root, or `[tool.concordance]` in `pyproject.toml`.

In: a repository's folder. Out: `Settings`, which hold a `Config` and a `Book`; nothing else reads the file. Anything
that is not understood is an error that names the key, its line, and the nearest known name.

Nothing in the file is trusted, because it may come with a clone: it is read as data, its size and its lists are
bounded, and every path in it must stay inside the repository. Only the command line may write elsewhere, or use more
processes than there are cores.

The standard library's TOML parser does not report line numbers. `key_lines` finds them with a small scanner; it can be
much shorter than a parser, because `tomllib` has already accepted the text.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import NamedTuple

from concordance.base.config import Book, Config, Note, Roots, core_count
from concordance.base.confined_folder import NotRegularFile, open_regular_file
from concordance.base.errors import UserError
from concordance.base.kinds import Category

Path = tuple[str | int, ...]
_SPACE = re.compile(r"[ \t]*+")
_BETWEEN = re.compile(r"(?:[ \t\n]|#[^\n]*+)*+")
_BARE = re.compile(r"[A-Za-z0-9_-]++")
_STRINGS = (
    re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}', re.S), re.compile(r"'''(?:[^']|'(?!''))*+'{3,5}"),
    re.compile(r'"(?:[^"\\]|\\.)*+"'), re.compile(r"'[^']*+'"),
)  # fmt: skip
_PLAIN = re.compile(r"[^,\]}#\n]*+")
FILE, SHARED = "concordance.toml", "pyproject.toml"
TABLE = ("tool", "concordance")  # our table in the shared file
LARGEST = (1_000, 100_000_000)  # the range of `largest`
JOBS = 256
BOOK = ".concordance/book"  # the book's default folder
_BYTES, _COLUMNS = 256 * 1024, 10_000  # limits of a settings file and of one line: the parser's time is quadratic
_SHARED_BYTES = 8 << 20  # limit of the shared file, in which our table is searched
_PATTERNS, _PATTERN = 200, 300  # patterns in a list, and characters of one
# The head of a table that has our settings in `pyproject.toml`: `[tool.concordance`
_OURS = re.compile(rb"^[ \t]*+\[+[ \t]*+[\"']?tool[\"']?[ \t]*+\.[ \t]*+[\"']?concordance[\"']?[ \t]*+[\].]", re.M)
_CONTROL = frozenset((".git", ".hg", ".svn", ".bzr", ".jj", ".concordance"))


@dataclass(frozen=True)
class Settings:
    """The settings of one repository."""

    config: Config = field(default_factory=Config)
    book: Book = field(default_factory=Book)
    out: str = BOOK  # the book's folder, in the repository
    remarks: tuple[str, ...] = ()  # warnings to the owners about their settings


class _File(NamedTuple):
    """A settings file."""

    name: str
    title: str  # its name in messages
    lines: dict[Path, KeyLines]

    def at(self, path: Path) -> KeyLines:
        return self.lines.get(path, KeyLines(1, 1))


class _Value(NamedTuple):
    """A value and its position."""

    file: _File
    path: Path
    value: object

    def place(self) -> str:
        return f"{self.file.title}, line {self.file.at(self.path).first}"

    def wrong(self, wanted: str) -> UserError:
        return UserError(
            f"`{_join_keys(self.path)}` in {self.place()}, must be {wanted}, not {_format_value(self.value)}"
        )

    def table(self) -> dict[str, _Value]:
        if not isinstance(self.value, dict):
            raise self.wrong("a table")
        return {key: _Value(self.file, (*self.path, key), value) for key, value in self.value.items()}

    def of(self, known: Iterable[str]) -> dict[str, _Value]:
        """Return the values of a table; raise UserError if it has a key that is not known."""
        table, names = self.table(), list(known)
        for key, entry in table.items():
            if key not in names:
                raise entry.unknown("key", _join_keys(entry.path), [_join_keys((*self.path, name)) for name in names])
        return table

    def unknown(self, what: str, word: str, known: Collection[str]) -> UserError:
        near = difflib.get_close_matches(word.lower(), {name.lower(): name for name in known}, 1, 0.5)
        name = next((name for name in known if near and name.lower() == near[0]), "")
        advice = f"did you mean `{name}`?" if name else f"choose one of: {', '.join(known)}"
        return UserError(f"unknown {what} `{_printable(word)}` in {self.place()}; {advice}")

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("a quoted string")
        return self.value

    def one_of(self, what: str, known: Collection[str]) -> str:
        text = self.text()
        if text not in known:
            raise self.unknown(what, text, list(known))
        return text

    def switch(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def number(self, least: int, most: int) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not least <= self.value <= most:
            raise self.wrong(f"a whole number from {least:,} to {most:,}")
        return self.value

    def each(self) -> list[_Value]:
        if not isinstance(self.value, list):
            raise self.wrong("a list in brackets")
        if len(self.value) > _PATTERNS:
            raise UserError(f"`{_join_keys(self.path)}` in {self.place()}, has more than {_PATTERNS} entries")
        return [_Value(self.file, (*self.path, number), value) for number, value in enumerate(self.value)]

    def pattern(self, may_negate: bool = False) -> str:
        return self.as_pattern(self.text(), may_negate)

    def as_pattern(self, text: str, may_negate: bool = False) -> str:
        """Check and return a pattern of files, in the syntax of `.gitignore`."""
        parts = text.strip("/").split("/")
        if not text.strip("/!") or len(text) > _PATTERN or not text.isprintable() or ".." in parts:
            wanted = f"a pattern of files in the repository, of at most {_PATTERN} characters"
            raise self._replace(value=text).wrong(wanted)
        if text.startswith("!") and not may_negate:
            raise self._replace(value=text).wrong("a pattern without `!` (list unwanted files in `exclude`)")
        return text

    def folder(self) -> str:
        """Check and return a path that stays inside the repository; "" for its root."""
        text = self.text()
        parts = [part for part in text.split("/") if part not in ("", ".")]
        if text.startswith(("/", "~")) or ".." in parts or not text.isprintable() or "\\" in text or not text:
            raise self.wrong("a path inside the repository, such as `src/lib`")
        return "/".join(parts)


def read(root: str, rules: Callable[[], Collection[str]], sections: Callable[[], Collection[str]]) -> Settings:
    """Return a repository's settings, or the defaults if it has none.

    `rules` returns the ids of all rules, `sections` the titles of all sections; both take long, and few settings need
    them.
    """
    own, shared = _read(root, FILE), _read(root, SHARED)
    remarks: list[str] = []
    if own is not None and shared is not None:
        remarks.append(f"both {FILE} and [{'.'.join(TABLE)}] of {SHARED} contain settings; those in {FILE} are used")
    top = own or shared
    return _Reader(root, rules, sections, remarks).settings(top) if top is not None else Settings()


def has_settings(root: str, name: str) -> bool:
    """True if a file of a repository holds settings."""
    return _read(root, name) is not None


def _read(root: str, name: str) -> _Value | None:
    """Return the settings of a file, unchecked; None if there are none."""
    data = _bytes(root, os.path.join(root, name), name)
    if data is None or (name == SHARED and b"concordance" not in data):
        return None
    try:
        table, lines = _parsed(name, data)
    except UserError:
        if name == SHARED and not _OURS.search(data):  # not our file: whatever is wrong with it, we do not report it
            return None
        raise
    if name == FILE:
        return _Value(_File(FILE, FILE, lines), (), table)
    tool = table.get("tool")
    ours = tool.get("concordance") if isinstance(tool, dict) else None
    inner = {path[2:]: row for path, row in lines.items() if path[:2] == TABLE}
    return _Value(_File(SHARED, f"[{'.'.join(TABLE)}] of {SHARED}", inner), (), ours) if ours is not None else None


def _parsed(name: str, data: bytes) -> tuple[dict[str, object], dict[Path, KeyLines]]:
    """Parse a settings file; return its content and the lines of its keys."""
    if len(data) > _BYTES or any(len(line) > _COLUMNS for line in data.split(b"\n")):
        limit = f"the limits are {_BYTES:,} bytes, and {_COLUMNS:,} per line"
        raise UserError(f"{name} is too large for a settings file: {limit}", "Split long lines")
    try:
        text = data.decode("utf-8-sig")
        return tomllib.loads(text), key_lines(text)
    except UnicodeDecodeError as error:
        raise UserError(f"{name} is not UTF-8, as TOML must be: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise UserError(f"{name} is nested too deeply to be read") from error
    except ValueError as error:
        raise UserError(f"{name} is not valid TOML: {_printable(str(error))}", "Correct it there") from error


def _bytes(root: str, path: str, name: str) -> bytes | None:
    """Return the content of a file, or its beginning if it is too large; None if there is none.

    A link may not lead out of the repository.
    """
    inside = os.path.join(os.path.realpath(root), "")
    if os.path.islink(path) and not os.path.realpath(path).startswith(inside):
        if name == SHARED:
            return None
        raise UserError(f"{name} is a link that leads out of the repository", "Replace it with a regular file")
    try:
        with open_regular_file(path) as file:
            return file.read(_SHARED_BYTES if name == SHARED else _BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        # The shared file need not contain our settings. An unreadable folder gets another message, with what to do.
        if name == SHARED or not os.access(root, os.X_OK):
            return None
        if isinstance(error, NotRegularFile):
            raise UserError(f"{name} is not a regular file", "Remove it, or write settings into it") from error
        raise UserError(f"{name} cannot be read: {error.strerror}", "Check its permissions") from error


class _Reader:
    """Turns the values of a file into settings."""

    def __init__(
        self,
        root: str,
        rules: Callable[[], Collection[str]],
        sections: Callable[[], Collection[str]],
        remarks: list[str],
    ) -> None:
        self.root, self.rules, self.sections, self.remarks = root, rules, sections, remarks

    def settings(self, top: _Value) -> Settings:
        given = top.of(KEYS)
        config, book = Config(), Book()
        if "include" in given:
            config = replace(config, include=tuple(value.pattern() for value in given["include"].each()))
        if "exclude" in given:
            config = replace(config, exclude=tuple(value.pattern(True) for value in given["exclude"].each()))
        if "categories" in given:
            config = replace(config, categories=self._categories(given["categories"]))
        if "roots" in given:
            config = replace(config, roots=self._roots(given["roots"]))
        if "largest" in given:
            config = replace(config, largest=given["largest"].number(*LARGEST))
        if "jobs" in given:  # only the command line may ask for more
            config = replace(config, jobs=min(given["jobs"].number(1, JOBS), core_count()))
        if "source" in given:
            book = replace(book, source=given["source"].one_of("value", ("full", "link")) == "full")
        if "history" in given:
            book = replace(book, history=given["history"].switch())
        if "include_generated" in given:
            book = replace(book, generated=given["include_generated"].switch())
        if "rules" in given:
            book = self._rules(given["rules"], book)
        if "sections" in given:
            book = replace(book, sections_off=self._sections(given["sections"]))
        if "note" in given:
            book = replace(book, notes=self._notes(given["note"]), settings=top.file.name)
        out = self._output_folder(given["out"]) if "out" in given else BOOK
        return Settings(config, book, out, tuple(self.remarks))

    def _output_folder(self, value: _Value) -> str:
        try:
            out = value.folder()
        except UserError as error:
            raise UserError(error.message, "To write elsewhere, use --out on the command line") from error
        inside = os.path.realpath(self.root)
        target = os.path.realpath(os.path.join(inside, out))
        if target != inside and not target.startswith(os.path.join(inside, "")):
            advice = "A link leads out of it; to write elsewhere, use --out on the command line"
            raise UserError(value.wrong("a folder inside the repository").message, advice)
        if out.partition("/")[0].lower() in _CONTROL and out != BOOK:
            raise value.wrong("a folder for documentation")
        return out

    def _categories(self, value: _Value) -> tuple[tuple[str, str], ...]:
        known = [category.value for category in Category]
        rows = value.table()
        if len(rows) > _PATTERNS:
            raise UserError(f"`categories` in {value.place()}, has more than {_PATTERNS} entries")
        return tuple((one.as_pattern(glob), one.one_of("category", known)) for glob, one in rows.items())

    def _roots(self, value: _Value) -> Roots:
        given = value.of(Roots._fields)
        return Roots(**{name: tuple(map(self._root, one.each())) for name, one in given.items()})

    def _root(self, value: _Value) -> str:
        folder = value.folder()
        if not os.path.isdir(os.path.join(self.root, folder)):
            self.remarks.append(
                f"`{_join_keys(value.path[:-1])}` in {value.place()}, names {folder}, which is not a folder"
            )
        return folder

    def _rules(self, value: _Value, book: Book) -> Book:
        given = value.of(("off", "on", "allowed"))
        off = {rule for one in given["off"].each() for rule in self._ids(one)} if "off" in given else set()
        on = {rule for one in given["on"].each() for rule in self._ids(one)} if "on" in given else set()
        allowed = []
        for rule, one in given["allowed"].table().items() if "allowed" in given else ():
            if rule not in self.rules():
                raise one.unknown("rule", rule, sorted(self.rules()))
            allowed.append((rule, tuple(glob.pattern() for glob in one.each())))
        return replace(book, rules_off=tuple(sorted(off - on)), allowed=tuple(allowed))

    def _ids(self, value: _Value) -> list[str]:
        """Return the rules that match an id or a glob of ids."""
        matching = [rule for rule in self.rules() if fnmatchcase(rule, value.text())]
        if not matching:
            raise value.unknown("rule", value.text(), sorted(self.rules()))
        return matching

    def _sections(self, value: _Value) -> tuple[str, ...]:
        given = value.of(("off",))
        return tuple(sorted({one.one_of("section", self.sections()) for one in given["off"].each()})) if given else ()

    def _notes(self, value: _Value) -> tuple[Note, ...]:
        notes = []
        if isinstance(value.value, dict):
            raise UserError(f"`note` in {value.place()}, needs double brackets, because there may be several: [[note]]")
        for item in value.each():
            given = item.of(("path", "text"))
            for name in ("path", "text"):
                if name not in given:
                    raise UserError(f"the [[note]] in {item.place()}, has no `{name}`")
            path, text = given["path"].folder(), given["text"].text()
            if not text.strip():
                raise given["text"].wrong("Markdown")
            if not os.path.lexists(os.path.join(self.root, path)):
                self.remarks.append(f"the [[note]] in {item.place()}, is about {path}, which does not exist")
            notes.append(Note(path, text, *item.file.at(given["text"].path)))
        return tuple(notes)


KEYS = ("include", "exclude", "out", "source", "history", "include_generated", "jobs", "largest", "roots", "categories",
        "rules", "sections", "note")  # fmt: skip


def _join_keys(path: Path) -> str:
    """Return a key as it is written: `rules.off`; for an entry of a list, the key of the list."""
    words = [part for part in path if isinstance(part, str)]
    return ".".join(word if re.fullmatch(r"[\w-]+", word) else f'"{_printable(word)}"' for word in words)


def _printable(text: str) -> str:
    """Return a text that is safe to print on a terminal, shortened to 100 characters."""
    plain = "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in text[:100])
    return plain + ("…" if len(text) > 100 else "")


def _format_value(value: object) -> str:
    """Return a value roughly as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{_printable(value)}"'
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    return _printable(str(value))


# --- line numbers of keys


class KeyLines(NamedTuple):
    """The first and last line of a key and its value."""

    first: int
    last: int


def key_lines(text: str) -> dict[Path, KeyLines]:
    """Return the lines of every key, by its path; elements of arrays and tables of a list are numbered.

    The text must be valid TOML.
    """
    scan = _Scan(text.replace("\r\n", "\n"))
    scan.document()
    return scan.lines


class _Scan:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[Path, KeyLines] = {}
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._listed: dict[Path, int] = {}  # number of tables in each list of tables

    def document(self) -> None:
        """Scan the whole text."""
        table: Path = ()
        self._skip(_BETWEEN)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BETWEEN)

    def _line(self) -> int:
        return bisect_right(self._starts, self.at)

    def _skip(self, what: re.Pattern[str]) -> None:
        match = what.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _header(self) -> Path:
        line, in_list = self._line(), self.text.startswith("[[", self.at)
        self.at += 2 if in_list else 1
        keys = self._keys()
        self.at += 2 if in_list else 1
        path: Path = ()
        for place, key in enumerate(keys):
            path = (*path, key)
            if place + 1 == len(keys) and in_list:
                number = self._listed[path] = self._listed.get(path, -1) + 1
                self.lines.setdefault(path, KeyLines(line, line))
                path = (*path, number)
            elif path in self._listed:
                path = (*path, self._listed[path])
            self.lines.setdefault(path, KeyLines(line, line))
        return path

    def _keys(self) -> list[str]:
        """Parse a dotted key; return its parts, without quotation marks."""
        keys = []
        while True:
            self._skip(_SPACE)
            start = self.at
            self._skip(
                next((pattern for pattern in (_BARE, *_STRINGS[2:]) if pattern.match(self.text, self.at)), _BARE)
            )
            written = self.text[start : self.at]
            keys.append(tomllib.loads(f"key={written}")["key"] if written[0] in "\"'" else written)
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return keys
            self.at += 1

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = table
        for key in self._keys():
            path = (*path, key)
            self.lines.setdefault(path, KeyLines(line, line))
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)
        self.lines[path] = KeyLines(line, self._line())

    def _value(self, path: Path) -> None:
        begins = self.text[self.at]
        if begins == "[":
            self._array(path)
        elif begins == "{":
            self.at += 1
            self._skip(_BETWEEN)
            while self.text[self.at] != "}":
                self._pair(path)
                self._skip(_BETWEEN)
                self.at += self.text[self.at] == ","
                self._skip(_BETWEEN)
            self.at += 1
        else:
            self._skip(next((pattern for pattern in _STRINGS if pattern.match(self.text, self.at)), _PLAIN))

    def _array(self, path: Path) -> None:
        self.at += 1
        self._skip(_BETWEEN)
        number = 0
        while self.text[self.at] != "]":
            line = self._line()
            self._value((*path, number))
            self.lines[(*path, number)] = KeyLines(line, self._line())
            self._skip(_BETWEEN)
            self.at += self.text[self.at] == ","
            self._skip(_BETWEEN)
            number += 1
        self.at += 1
