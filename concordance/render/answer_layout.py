"""Lays out an answer for a terminal of any width.

In: an answer and the width of the terminal. Out: lines of text. Every result starts with `path:line`, which terminals
and editors recognise as a place to open; it is never shortened. Where all columns fit side by side, the answer is a
table whose last column, a line of source, is cut at the right edge. Where they do not, a table would squeeze every
column; so each result is a line of its own fields, continued with an indent, and the source follows on the next line.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from unicodedata import combining, east_asian_width
from urllib.parse import quote

from concordance.base.characters import escape_hidden
from concordance.query.answers import Answer, Row

# Parameters of the escape sequences that set colours. The colour of a name repeats what the word beside it says.
_BOLD, _DIM = "1", "2"
_RED, _GREEN, _YELLOW, _BLUE, _MAGENTA, _CYAN = "31", "32", "33", "34", "35", "36"
_COLOURS = {
    "class": _MAGENTA, "struct": _MAGENTA, "interface": _MAGENTA, "enum": _MAGENTA, "function": _CYAN, "method": _CYAN,
    "property": _CYAN, "macro": _RED, "constant": _YELLOW, "variable": _YELLOW, "field": _GREEN, "enumerator": _GREEN,
    "heading": _BOLD, "import": _BLUE, "exact": _GREEN, "via_import": _GREEN, "unique_name": _YELLOW, "candidate": _RED,
}  # fmt: skip
_NAMES = frozenset(("called", "qualified", "keyword", "name", "symbol"))
_PALE = frozenset(("scope", "by", "via"))
_UNSHOWN = frozenset(("section",))  # of the page in the book, which is of use to programs
_NUMBERS = frozenset(("uses", "distance", "score", "count", "chain"))
# Fields whose values do not say what they are without a heading, and what is written before them instead.
_LABELS = {**{column: f"{column} " for column in (*_NUMBERS, "via", "alias", "by")}, "scope": "in "}
_COMMANDS = frozenset(("run",))  # which are to be copied, so they stay whole
_LOCATION = ("path", "line", "col")
_HEADINGS = {"called": "name"}  # where a field of the answer has another name than a reader would give it
_SOURCE = frozenset(("signature", "text", "snippet"))  # a line of source
_GAP, _INDENT = "  ", "    "
_LEAST_SOURCE = 30  # columns below which a line of source gets a line of its own


class _Result(NamedTuple):
    """One row of an answer as text."""

    path: str  # "" if the row has none
    location: str  # path:line:col
    fields: list[str]  # one for each column between location and source
    styles: list[str]
    source: str


class _Pen(NamedTuple):
    """Adds colours and links to text, if they are wanted."""

    colours: bool
    root: str  # the folder of the files that locations link to; "" for no links

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.colours and style and text else text

    def locate(self, result: _Result, before: _Result | None) -> str:
        """Return a result's location, pale if it is in the file of the result before."""
        shown = self.paint(result.location, _DIM if before is not None and before.path == result.path else "")
        if not (self.root and result.path):
            return shown
        target = quote(os.path.abspath(os.path.join(self.root, result.path)), errors="surrogateescape")
        return f"\x1b]8;;file://{target}\x1b\\{shown}\x1b]8;;\x1b\\"


def layout(answer: Answer, width: int, colours: bool = False, root: str = "") -> Iterator[str]:
    """Yield the lines of an answer; with `root`, locations are links to files below it."""
    besides = [column for column in answer.columns if column not in (*_LOCATION, *_SOURCE, *_UNSHOWN)]
    columns = [column for column in besides if any(row[column] not in (None, "", []) for row in answer.rows)]
    source = next((column for column in answer.columns if column in _SOURCE), "")
    place = [column for column in _LOCATION if column in answer.columns]
    results = [_result(row, place, columns, source) for row in answer.rows]
    pen = _Pen(colours, root)
    headings = [":".join(place), *map(heading, columns)]
    widths = [len(title) for title in headings]
    for result in results:
        widths = [max(size, _width(text)) for size, text in zip(widths, (result.location, *result.fields), strict=True)]
    room = width - sum(widths) - len(_GAP) * (len(widths) - 1)  # for the source and the gap before it
    needed = min(_LEAST_SOURCE, max(_width(result.source) for result in results)) + len(_GAP) if source else 0
    if room >= needed:
        yield from _table(results, [*headings, source], widths, room - len(_GAP), pen)
    else:
        yield from _stacked(results, columns, width, pen)


def heading(column: str) -> str:
    """Return the heading of a column, on a terminal and in tab-separated lines."""
    return _HEADINGS.get(column, column)


def _result(row: Row, place: list[str], columns: list[str], source: str) -> _Result:
    return _Result(
        str(row["path"] or ""),
        ":".join(cell(row[part]) for part in place if row[part]),
        [cell(row[column]) for column in columns],
        [_style(column, row) for column in columns],
        " ".join(cell(row[source]).split()) if source else "",
    )


def _style(column: str, row: Row) -> str:
    if column in _NAMES:
        return _COLOURS.get(str(row.get("kind", "")), "")
    if column in ("trust", "role"):
        return _COLOURS.get(str(row[column]), "")
    return _BLUE if column == "module" else _DIM if column in _PALE else ""


def _table(results: list[_Result], headings: list[str], widths: list[int], room: int, pen: _Pen) -> Iterator[str]:
    """Yield a table: a heading for each column, numbers aligned on the right, the source cut to what room is left."""
    right = [title in _NUMBERS for title in headings]
    aligned = list(zip(widths, right, strict=False))
    titles = [_pad(pen.paint(text, _BOLD), text, *size) for text, size in zip(headings, aligned, strict=False)]
    yield _GAP.join([*titles, pen.paint(headings[-1], _BOLD)]).rstrip()
    for before, result in zip([None, *results], results, strict=False):
        shown = [_pad(pen.locate(result, before), result.location, widths[0], False)]
        for text, style, size in zip(result.fields, result.styles, aligned[1:], strict=True):
            shown.append(_pad(pen.paint(text, style), text, *size))
        yield _GAP.join([*shown, pen.paint(_cut(result.source, room), _DIM)]).rstrip()


def _stacked(results: list[_Result], columns: list[str], width: int, pen: _Pen) -> Iterator[str]:
    """Yield each result as a line of fields, continued below if need be, and a line of source. An empty line separates
    the results of two files, unless there is about one result in each file, or files alternate in another order."""
    files = 1 + sum(one.path != other.path for one, other in pairwise(results))
    apart = 2 * files <= len(results) and files == len({one.path for one in results})
    for before, result in zip([None, *results], results, strict=False):
        if apart and before is not None and before.path != result.path:
            yield ""
        line, used = pen.locate(result, before), _width(result.location)
        shown = [result.path, *result.fields]
        for column, field, style in zip(columns, result.fields, result.styles, strict=True):
            if not field or field == result.path or any(one.startswith(f"{field} ") for one in shown):
                continue  # "calls" beside "calls Cart.total"
            text = _LABELS.get(column, "") + field
            if used + len(_GAP) + _width(text) > width:
                yield line
                *above, text = [text] if column in _COMMANDS else _wrap(text, width - len(_INDENT))
                yield from (_INDENT + pen.paint(part, style) for part in above)
                line, used = _INDENT, len(_INDENT)
            else:
                line, used = line + _GAP, used + len(_GAP)
            line, used = line + pen.paint(text, style), used + _width(text)
        yield line
        if result.source:
            yield _INDENT + pen.paint(_cut(result.source, width - len(_INDENT)), _DIM)


def cell(value: object) -> str:
    """Return a value as text that is safe to print, whatever characters a file name has."""
    if isinstance(value, dict):
        located = {"path", "line"} <= set(value)
        return escape_hidden(f"{value['path']}:{value['line']}") if located else ", ".join(map(cell, value.values()))
    if isinstance(value, list | tuple):
        return ", ".join(map(cell, value))
    return "" if value is None else escape_hidden(str(value))


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1 for character in text)


def _pad(painted: str, text: str, size: int, right: bool) -> str:
    """Return a painted text with the spaces that bring it to a width."""
    spaces = " " * (size - _width(text))
    return spaces + painted if right else painted + spaces


def _wrap(text: str, size: int) -> list[str]:
    """Return a text as lines of a width; a word that is longer stays whole, since a cut name cannot be copied."""
    return textwrap.wrap(text, max(size, 1), break_long_words=False, break_on_hyphens=False) or [text]


def _cut(text: str, size: int) -> str:
    """Return a text that fits a width, with an ellipsis if something was cut off."""
    size = max(size, 1)
    if _width(text) <= size:
        return text
    text = text[: size - 1]
    while _width(text) >= size:
        text = text[:-1]
    return text + "…"
