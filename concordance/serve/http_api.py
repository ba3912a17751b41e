"""The commands for programs over HTTP: `/api/<command>?q=…` is what the command prints with `--json`.

In: a command's name and the parameters of the address, which are a stranger's. Out: the same rows as JSON; how many
there are in all, how to ask for more of them and what else a person should know stand in headers, so that the content
is the rows and nothing else. What is wrong with a question is said as JSON, too, with what to do.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from concordance.base import plugins
from concordance.base.blocks import Ref, To
from concordance.base.config import cache_folder
from concordance.base.errors import ConcordanceError, UserError
from concordance.query.answers import Option, Row, options_of
from concordance.query.dispatch import COMMANDS, ask
from concordance.query.index.definition_pages import has_page
from concordance.query.index.repository import Index, UnknownPath
from concordance.query.names.resolver import UnknownName
from concordance.render.site.files import JSON, Site
from concordance.render.site.openapi import LONGEST, ROWS
from concordance.serve.messages import ReaderReply

_ON, _OFF = ("", "1", "true", "yes", "on"), ("0", "false", "no", "off")

More = Mapping[str, Callable[[Index, str], list[Row]]]  # questions that are no commands, by their names


def answered(site: Site, command: str, given: Mapping[str, str], more: More) -> ReaderReply:
    """The answer to one question."""
    try:
        if command not in (*plugins.names(COMMANDS), *more):
            known = ", ".join((*plugins.names(COMMANDS), *more))
            return _wrong(HTTPStatus.NOT_FOUND, f"there is no command {command}", f"There are: {known}")
        long = next((name for name, value in given.items() if len(value) > LONGEST), None)
        if long is not None:
            return _wrong(HTTPStatus.BAD_REQUEST, f"{long} is too long", f"At most {LONGEST:,} characters")
        if command in more:
            return _shown(site.index, command, given, more)
        return _rows(site, command, dict(given))
    except (UnknownPath, UnknownName) as error:
        return _refused(HTTPStatus.NOT_FOUND, site.index.root, error)
    except UserError as error:
        return _refused(HTTPStatus.BAD_REQUEST, site.index.root, error)
    except ConcordanceError as error:  # of the store: where that is concerns nobody else
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        found = _wrong(status, "this could not be answered", "The log of the server says why")
        return found._replace(fault=str(error))


def _rows(site: Site, command: str, given: dict[str, str]) -> ReaderReply:
    asked, cursor = given.pop("q", None), given.pop("cursor", "")
    with_addresses = given.pop("addresses", "0").lower() in _ON
    limit = _number("limit", given.pop("limit", str(ROWS)), 1, ROWS)
    known = {option.name: option for option in options_of(plugins.load(COMMANDS, command))}
    short = {option.short: option.name for option in known.values() if option.short}
    options = {name: _value(known.get(name), name, value) for name, value in _long(given, short).items()}
    answer = ask(site.index, command, asked, limit, cursor, **options)
    headers = {"X-Total-Count": str(answer.total)}
    if answer.note:
        headers["X-Note"] = quote(without_places(answer.note, site.index.root), " ,;:!?()[]{}'\"=<>@&+$#*|~^`")
    if answer.cursor:
        again = {"q": asked, **given, "limit": str(limit), "cursor": answer.cursor}
        said = {name: value for name, value in again.items() if value is not None}
        headers["X-Cursor"] = quote(answer.cursor, ",%")
        headers["Link"] = f'<?{urlencode(said, errors="replace")}>; rel="next"'
    rows = [{**row, "address": _address(site, row)} for row in answer.rows] if with_addresses else answer.rows
    return ReaderReply(HTTPStatus.OK, JSON, _packed(rows), more=headers)


def _address(site: Site, row: Row) -> str | None:
    """Where what a row names stands on the site: a definition's own page, else its line; a file's is its page."""
    path, line = row.get("path"), row.get("line")
    if not isinstance(path, str) or path not in site.index.categories:
        return None
    if not isinstance(line, int) or row.get("kind") == "file":
        return site.addresses.link("", Ref(To.FILE, path)).removeprefix("./")
    key = _defined(site.index, path, line, str(row.get("symbol") or row.get("qualified") or ""))
    if key:
        return site.addresses.link("", Ref(To.DEFINITION, path, key)).removeprefix("./")
    return site.addresses.source("", path, line).removeprefix("./")


def _defined(index: Index, path: str, line: int, name: str) -> str:
    """The key of what is defined on a line under a name, if it has a page of its own."""
    file = index.opened(path)
    for place, symbol in enumerate(file.symbols):
        if symbol.line == line and name.endswith(symbol.name):
            return symbol.key if has_page(index, file.base + 1 + place) else ""
    return ""


def _shown(index: Index, command: str, given: Mapping[str, str], more: More) -> ReaderReply:
    if "q" not in given or len(given) > 1:
        return _wrong(HTTPStatus.BAD_REQUEST, f"{command} is asked about one thing", f"/api/{command}?q=…")
    rows = more[command](index, given["q"])
    return ReaderReply(HTTPStatus.OK, JSON, _packed(rows), more={"X-Total-Count": str(len(rows))})


def _long(given: Mapping[str, str], short: Mapping[str, str]) -> dict[str, str]:
    return {short.get(name, name): value for name, value in given.items()}


def _value(option: Option | None, name: str, value: str) -> Any:
    """What a parameter says, as the command wants it; one that it does not know is refused there."""
    if option is None or option.type is str:
        return value
    if option.type is bool:
        if value.lower() not in (*_ON, *_OFF):
            raise UserError(f"{name} cannot be {value}", "It is true or false")
        return value.lower() in _ON
    return _number(name, value, option.least if option.least is not None else -(10**9), ROWS)


def _number(name: str, value: str, least: int, most: int) -> int:
    if not (value.isascii() and value.lstrip("-").isdecimal() and len(value) < 10 and least <= int(value) <= most):
        raise UserError(f"{name} cannot be {value}", f"It is a number from {least} to {most:,}")
    return int(value)


def _packed(rows: object) -> bytes:
    return json.dumps(rows).encode() + b"\n"


def _refused(status: HTTPStatus, root: str, error: UserError) -> ReaderReply:
    return _wrong(status, without_places(error.message, root), without_places(error.what_to_do, root))


def without_places(text: str, root: str) -> str:
    """A message without the places of this machine: who asks over a network is not told who runs the server, or where.
    A path of the repository is shown as the repository has it."""
    for place in sorted({root, os.path.abspath(root), os.path.realpath(root)} - {"/", "."}, key=len, reverse=True):
        text = text.replace(place + os.sep, "").replace(place, "the repository")
    for place in (cache_folder(), os.path.expanduser("~"), tempfile.gettempdir()):
        text = text.replace(place, "…") if len(place) > 1 else text
    return text


def _wrong(status: HTTPStatus, error: str, advice: str) -> ReaderReply:
    return ReaderReply(status, JSON, _packed({"error": error, "hint": advice}))
