"""What a question is answered with, and the questions' common parts: options and pages.

In: what a person typed. Out: rows that are printed as a table or as JSON; both show the same.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import unquote

from concordance.base.errors import UserError
from concordance.base.model import Category, Symbol, Trust
from concordance.extract.registry import language_of
from concordance.facts.codec import SymbolHead
from concordance.facts.read import Place

Row = dict[str, object]


@dataclass(frozen=True)
class Option:
    """One of a command's own options."""

    name: str  # "kind" for --kind
    help: str
    type: type = str  # str, int, or bool for one that is on or off
    default: str | int | bool | None = None
    short: str = ""  # "n" for -n
    choices: tuple[str, ...] = ()  # the only values that there are
    least: int | None = None


class AnswerPage(NamedTuple):
    """Which part of a long answer is wanted, and how."""

    limit: int = 1000
    cursor: str = ""
    options: Mapping[str, Any] = {}  # the command's own, by name; all of them where the page comes from `page_for`


class Answer(NamedTuple):
    """Rows, best first."""

    rows: list[Row]
    columns: tuple[str, ...]  # those that a table shows
    total: int
    cursor: str = ""  # asks for the rows behind these; "" where there are none
    note: str = ""  # what a person should know of it besides


TRUST = Option(
    "trust", "The least trust: candidate lists guesses, too.", default=Trust.UNIQUE_NAME.name.lower(),
    choices=tuple(trust.name.lower() for trust in Trust),
)  # fmt: skip


def least_of(page: AnswerPage) -> Trust:
    """The least trust that is asked for."""
    return Trust[page.options[TRUST.name].upper()]


class WrongCursor(UserError):
    """No answer to this question ends here."""

    def __init__(self, cursor: str) -> None:
        super().__init__(f"--cursor {cursor} is none of this question's", "Take the one that the last answer gave")


def options_of(command: ModuleType) -> tuple[Option, ...]:
    """A command's own options."""
    found: tuple[Option, ...] = getattr(command, "OPTIONS", ())
    return found


def page_for(command: ModuleType, limit: int, cursor: str, given: Mapping[str, Any]) -> AnswerPage:
    """A page with every option of a command, as given or its default; a UserError where a value is none of its."""
    known = {option.name: option for option in options_of(command)}
    for name, value in given.items():
        if name not in known:
            raise UserError(f"there is no option {name}", f"There are: {', '.join(known) or 'none'}, limit, cursor")
        option = known[name]
        if option.choices and value is not None and value not in option.choices:
            raise UserError(f"{name} cannot be {value}", f"It is one of: {', '.join(option.choices)}")
    if limit < 1:
        raise UserError(f"a limit of {limit} leaves nothing", "Ask for at least one")
    return AnswerPage(limit, cursor, {name: given.get(name, option.default) for name, option in known.items()})


def start_of(page: AnswerPage, total: int = sys.maxsize) -> int:
    """Where a page begins among so many rows, by a cursor that is a number."""
    cursor = page.cursor
    if cursor and not (cursor.isascii() and cursor.isdecimal() and int(cursor[:18]) <= total):
        raise WrongCursor(cursor)
    return int(cursor[:18] or 0)


def paged(rows: list[Row], columns: tuple[str, ...], page: AnswerPage) -> Answer:
    """The part of all rows that was asked for."""
    start = start_of(page, len(rows))
    end = start + page.limit
    return Answer(rows[start:end], columns, len(rows), str(end) if end < len(rows) else "")


def clean(key: str) -> list[str]:
    """The names in a symbol's key."""
    if "+" not in key and "%" not in key:
        return key.split(".") if key else []
    return [unquote(part.partition("+")[0]) for part in key.split(".")] if key else []


def qualified(symbol: Symbol | SymbolHead, separator: str) -> str:
    """A symbol's name with those of what it stands in."""
    return separator.join(clean(symbol.key))


@cache
def separator_of(language: str) -> str:
    """What stands between the parts of a language's qualified names."""
    return language_of(language).separator


def full_name(place: Place) -> str:
    """The qualified name of a symbol in the store; a file's is its path."""
    if not place.home:
        return place.name or place.path
    return separator_of(place.language).join([*clean(place.home), place.name])


def name_of(place: Place) -> str:
    """A symbol's name; a file's is the last part of its path."""
    return place.name or place.path.rpartition("/")[2]


# Files for people before what is made, borrowed or only tries it.
_ORDER: dict[str, int] = {
    Category.SOURCE: 0, Category.BUILD: 1, Category.CONFIGURATION: 1, Category.GENERATED: 2, Category.EXAMPLE: 3,
    Category.BENCHMARK: 3, Category.TEST: 4, Category.VENDORED: 5, Category.DOCUMENTATION: 6, Category.DATA: 6,
}  # fmt: skip


def rank_of(category: str) -> int:
    """Where files of a category stand in an answer: source before tests."""
    return _ORDER.get(category, 6)
