"""What a question is answered with, and the questions' common parts: paths and pages.

In: what a person typed. Out: rows that are printed as a table or as JSON; both show the same.
"""

from __future__ import annotations

import difflib
import os
from typing import NamedTuple
from urllib.parse import unquote

from concordance.errors import UserError
from concordance.facts.read import Facts
from concordance.model import File, Symbol

Row = dict[str, object]


class Page(NamedTuple):
    """Which part of a long answer is wanted."""

    limit: int = 1000
    cursor: str = ""
    flags: frozenset[str] = frozenset()  # those of the command's own that are on


class Answer(NamedTuple):
    """Rows, best first."""

    rows: list[Row]
    columns: tuple[str, ...]  # those that a table shows
    total: int
    cursor: str = ""  # asks for the rows behind these; "" where there are none
    note: str = ""  # what a person should know of it besides


class UnknownPath(UserError):
    """No file of the repository has this path."""


class WrongCursor(UserError):
    """No answer to this question ends here."""

    def __init__(self, cursor: str) -> None:
        super().__init__(f"--cursor {cursor} is none of this question's", "Take the one that the last answer gave")


def paged(rows: list[Row], columns: tuple[str, ...], page: Page) -> Answer:
    """The part of all rows that was asked for."""
    if page.cursor and not (page.cursor.isascii() and page.cursor.isdecimal() and int(page.cursor[:18]) <= len(rows)):
        raise WrongCursor(page.cursor)
    start = int(page.cursor or 0)
    end = start + page.limit
    return Answer(rows[start:end], columns, len(rows), str(end) if end < len(rows) else "")


def find_file(facts: Facts, root: str, asked: str) -> File:
    """The file that a path means: relative to the repository, to the current folder, or absolute."""
    inside = os.path.normpath(asked).replace(os.sep, "/")
    file = facts.file(inside)
    if file is None:
        folder, name = os.path.split(asked)
        inside = os.path.relpath(os.path.join(os.path.realpath(folder or "."), name), os.path.realpath(root))
        if inside == ".." or inside.startswith("../"):
            raise UnknownPath(f"{asked} is outside of the repository {root}", "Name a file inside of it")
        file = facts.file(inside.replace(os.sep, "/"))
    if file is None:
        paths = [known.path for known in facts.files()]
        below = sum(1 for path in paths if path.startswith(f"{inside}/"))
        if below or inside == ".":
            raise UnknownPath(f"{asked} is a folder", "Name a file in it")
        near = difflib.get_close_matches(asked, paths, 3, 0.6) or [p for p in paths if p.endswith("/" + asked)][:3]
        hint = f"Nearest: {', '.join(near)}" if near else "`git ls-files` lists what is there"
        raise UnknownPath(f"the repository has no file {asked}", hint)
    return file


def qualified(symbol: Symbol, separator: str) -> str:
    """A symbol's name with those of what it stands in."""
    return separator.join(unquote(part.partition("+")[0]) for part in symbol.key.split("."))
