"""Options, paging and answers that all commands share; `query.commands.ask` runs a command by name.

In: a command's name, its argument and its options, from a terminal, a program or a browser. Out: an `Answer`, whose
rows are printed as a table or as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import unquote

from concordance.base.errors import UserError
from concordance.base.model import Category, Symbol, Trust
from concordance.extract.registry import separator_of as separator_of
from concordance.facts.codec import SymbolHead
from concordance.facts.read import SymbolPlace

Row = dict[str, object]


@dataclass(frozen=True)
class Option:
    """An option that belongs to one command."""

    name: str  # "kind" for --kind
    help: str
    type: type = str  # str, int, or bool for a flag
    default: str | int | bool | None = None
    short: str = ""  # "n" for -n
    choices: tuple[str, ...] = ()  # the allowed values; empty if any value is allowed
    least: int | None = None  # the smallest value allowed, for an int
    metavar: str = ""  # what the help shows as its value, "FOLDER"; "" for that of its type


class AnswerPage(NamedTuple):
    """Which part of a long answer is requested, and the command's options."""

    limit: int = 1000
    cursor: str = ""
    options: Mapping[str, Any] = {}  # the command's own options by name; `page_for` fills in every one of them


class Answer(NamedTuple):
    """One page of a command's result, best rows first."""

    rows: list[Row]
    columns: tuple[str, ...]  # the keys that a table shows, in order
    total: int  # how many rows there are on all pages
    cursor: str = ""  # requests the next page; "" on the last one
    note: str = ""  # a remark for the reader, such as what was searched
    corrects: bool = False  # True if the remark says what was asked instead: it comes before the rows


TRUST = Option(
    "trust", "Minimum trust of the links shown; candidate includes guesses.", default=Trust.UNIQUE_NAME.name.lower(),
    choices=tuple(trust.name.lower() for trust in Trust),
)  # fmt: skip


def requested_trust(page: AnswerPage) -> Trust:
    """Return the lowest trust that the query accepts."""
    return Trust[page.options[TRUST.name].upper()]


class WrongCursor(UserError):
    """The cursor was not issued by this query."""

    def __init__(self, cursor: str) -> None:
        super().__init__(f"--cursor {cursor} does not belong to this query", "Use the cursor of the previous answer")


def options_of(command: ModuleType) -> tuple[Option, ...]:
    """Return the options of a command's module, none if it has none."""
    options: tuple[Option, ...] = getattr(command, "OPTIONS", ())
    return options


def page_for(command: ModuleType, limit: int, cursor: str, options: Mapping[str, Any]) -> AnswerPage:
    """Return a page with every option of a command, given or default; raise UserError for an unknown name or value."""
    known = {option.name: option for option in options_of(command)}
    for name, value in options.items():
        if name not in known:
            raise UserError(f"there is no option {name}", f"Options: {', '.join(known) or 'none'}, limit, cursor")
        option = known[name]
        if option.choices and value is not None and value not in option.choices:
            raise UserError(f"{name} cannot be {value}", f"Use one of: {', '.join(option.choices)}")
    if limit < 1:
        raise UserError(f"a limit of {limit} is too small", "Use a limit of at least 1")
    return AnswerPage(limit, cursor, {name: options.get(name, option.default) for name, option in known.items()})


def page_start(page: AnswerPage, total: int) -> int:
    """Return the index of a page's first row, from a numeric cursor; raise WrongCursor if it is beyond `total`."""
    cursor = page.cursor
    if cursor and not (cursor.isascii() and cursor.isdecimal() and int(cursor[:18]) <= total):
        raise WrongCursor(cursor)
    return int(cursor[:18] or 0)


def paginate(rows: list[Row], columns: tuple[str, ...], page: AnswerPage) -> Answer:
    """Return the requested page of a complete list of rows."""
    start = page_start(page, len(rows))
    end = start + page.limit
    return Answer(rows[start:end], columns, len(rows), str(end) if end < len(rows) else "")


def split_key(key: str) -> list[str]:
    """Return the names in a symbol's key, without escapes and without the numbers that tell namesakes apart."""
    if "+" not in key and "%" not in key:
        return key.split(".") if key else []
    return [unquote(part.partition("+")[0]) for part in key.split(".")] if key else []


def qualified(symbol: Symbol | SymbolHead, separator: str) -> str:
    """Return a symbol's qualified name: the names of its enclosing symbols and its own."""
    return separator.join(split_key(symbol.key))


def full_name(place: SymbolPlace) -> str:
    """Return the qualified name of a symbol in the store; a file's is its path."""
    if not place.parent_key:
        return place.name or place.path
    return separator_of(place.language).join([*split_key(place.parent_key), place.name])


def name_of(place: SymbolPlace) -> str:
    """Return a symbol's name; a file's is the last part of its path."""
    return place.name or place.path.rpartition("/")[2]


# Hand-written source first, then generated code, examples, tests, and vendored code.
_CATEGORY_ORDER: dict[str, int] = {
    Category.SOURCE: 0, Category.BUILD: 1, Category.CONFIGURATION: 1, Category.GENERATED: 2, Category.EXAMPLE: 3,
    Category.BENCHMARK: 3, Category.TEST: 4, Category.VENDORED: 5, Category.DOCUMENTATION: 6, Category.DATA: 6,
}  # fmt: skip


def category_rank(category: str) -> int:
    """Return the sort key of a file category in an answer: source before tests."""
    return _CATEGORY_ORDER.get(category, 6)
