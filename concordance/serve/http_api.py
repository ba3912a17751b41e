"""The HTTP API: `/api/<command>?q=...` returns what the command prints with `--json`.

In: the name of a command and the query parameters, which are untrusted. Out: the same rows as JSON. The total number
of rows, the cursor for more of them and notes for people are sent as headers, so that the content is only the rows.
Errors are JSON too, with a hint on what to do.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from concordance.base import plugins
from concordance.base.blocks import Ref, To
from concordance.base.config import cache_folder
from concordance.base.errors import ConcordanceError, UserError
from concordance.query.answers import Answer, Option, Row, options_of
from concordance.query.commands import COMMANDS, ask
from concordance.query.index.definition_pages import has_page
from concordance.query.index.repository import Index, UnknownPath
from concordance.query.names.resolver import UnknownName
from concordance.query.search.entities import ENTITIES
from concordance.query.search.request import FILE, FOLDER
from concordance.query.workspace.commands import WorkspaceQuestions
from concordance.render.site.files import JSON, Site
from concordance.render.site.openapi import LONGEST, ROWS
from concordance.serve.messages import ReaderReply

_ON, _OFF = ("", "1", "true", "yes", "on"), ("0", "false", "no", "off")

More = Mapping[str, Callable[[Index, str], list[Row]]]  # endpoints that are not commands, by name


def answer_request(site: Site, command: str, parameters: Mapping[str, str], more: More) -> ReaderReply:
    """Return the answer to one request."""
    try:
        if command not in (*plugins.names(COMMANDS), *more):
            known = ", ".join((*plugins.names(COMMANDS), *more))
            return _wrong(HTTPStatus.NOT_FOUND, f"there is no command {command}", f"The commands are: {known}")
        long = next((name for name, value in parameters.items() if len(value) > LONGEST), None)
        if long is not None:
            return _wrong(HTTPStatus.BAD_REQUEST, f"{long} is too long", f"Use at most {LONGEST:,} characters")
        if command in more:
            return _answer_more(site.index, command, parameters, more)
        return _site_rows(site, command, dict(parameters))
    except (UnknownPath, UnknownName) as error:
        return _user_error(HTTPStatus.NOT_FOUND, site.index.root, error)
    except UserError as error:
        return _user_error(HTTPStatus.BAD_REQUEST, site.index.root, error)
    except ConcordanceError as error:  # from the store: its location is nobody else's business
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        reply = _wrong(status, "the request failed", "The server's log says why")
        return reply._replace(fault=str(error))


def answer_workspace(questions: WorkspaceQuestions, command: str, parameters: Mapping[str, str]) -> ReaderReply:
    """Return the answer to one request over all repositories of a workspace."""
    folder = questions.workspace.folder
    try:
        if command not in plugins.names(COMMANDS):
            known = ", ".join(plugins.names(COMMANDS))
            return _wrong(HTTPStatus.NOT_FOUND, f"there is no command {command}", f"The commands are: {known}")
        return _rows(questions.ask, command, dict(parameters), folder)
    except (UnknownPath, UnknownName) as error:
        return _user_error(HTTPStatus.NOT_FOUND, folder, error)
    except UserError as error:
        return _user_error(HTTPStatus.BAD_REQUEST, folder, error)


def _site_rows(site: Site, command: str, parameters: dict[str, str]) -> ReaderReply:
    with_addresses = parameters.pop("addresses", "0").lower() in _ON
    return _rows(partial(ask, site.index), command, parameters, site.index.root, site if with_addresses else None)


def _rows(
    answer_to: Callable[..., Answer], command: str, parameters: dict[str, str], root: str, site: Site | None = None
) -> ReaderReply:
    """Return the rows of an answer; with `site`, each with its address there."""
    asked, cursor = parameters.pop("q", None), parameters.pop("cursor", "")
    limit = _number("limit", parameters.pop("limit", str(ROWS)), 1, ROWS)
    defined = {option.name: option for option in options_of(plugins.load(COMMANDS, command))}
    short = {option.short: option.name for option in defined.values() if option.short}
    options = {name: _value(defined.get(name), name, value) for name, value in _long(parameters, short).items()}
    answer = answer_to(command, asked, limit, cursor, **options)
    headers = {"X-Total-Count": str(answer.total)}
    if answer.note:
        headers["X-Note"] = quote(without_local_paths(answer.note, root), " ,;:!?()[]{}'\"=<>@&+$#*|~^`")
    if answer.cursor:
        again = {"q": asked, **parameters, "limit": str(limit), "cursor": answer.cursor}
        given = {name: value for name, value in again.items() if value is not None}
        headers["X-Cursor"] = quote(answer.cursor, ",%")
        headers["Link"] = f'<?{urlencode(given, errors="replace")}>; rel="next"'
    rows = [{**row, "address": _address(site, row)} for row in answer.rows] if site is not None else answer.rows
    return ReaderReply(HTTPStatus.OK, JSON, _encode_json(rows), more=headers)


def _address(site: Site, row: Row) -> str | None:
    """Return the address of what a row names: a definition's own page, else its line; for all else, its page."""
    path, line, kind = row.get("path"), row.get("line"), row.get("kind")
    if kind == FOLDER or any(kind == page_kind.TO for page_kind in plugins.load_all(ENTITIES)):
        page = Ref(To.FOLDER, str(path)) if kind == FOLDER else Ref(str(kind), str(row["symbol"]))
        return site.addresses.link("", page)
    if not isinstance(path, str) or path not in site.index.categories:
        return None
    if not isinstance(line, int) or kind == FILE:
        return site.addresses.link("", Ref(To.FILE, path))
    key = _definition_key(site.index, path, line, str(row.get("symbol") or row.get("qualified") or ""))
    if key:
        return site.addresses.link("", Ref(To.DEFINITION, path, key))
    return site.addresses.source("", path, line)


def _definition_key(index: Index, path: str, line: int, name: str) -> str:
    """Return the key of the definition with a name on a line, if it has a page of its own."""
    file = index.open_file(path)
    for place, symbol in enumerate(file.symbols):
        if symbol.line == line and name.endswith(symbol.name):
            return symbol.key if has_page(index, file.ids.id_at(place)) else ""
    return ""


def _answer_more(index: Index, command: str, parameters: Mapping[str, str], more: More) -> ReaderReply:
    if "q" not in parameters or len(parameters) > 1:
        return _wrong(HTTPStatus.BAD_REQUEST, f"{command} needs the parameter q, and no other", f"/api/{command}?q=…")
    rows = more[command](index, parameters["q"])
    return ReaderReply(HTTPStatus.OK, JSON, _encode_json(rows), more={"X-Total-Count": str(len(rows))})


def _long(parameters: Mapping[str, str], short: Mapping[str, str]) -> dict[str, str]:
    return {short.get(name, name): value for name, value in parameters.items()}


def _value(option: Option | None, name: str, value: str) -> Any:
    """Convert a parameter to the type of the command's option; `ask` rejects unknown ones."""
    if option is None or option.type is str:
        return value
    if option.type is bool:
        if value.lower() not in (*_ON, *_OFF):
            raise UserError(f"{name} cannot be {value}", "Use true or false")
        return value.lower() in _ON
    return _number(name, value, option.least if option.least is not None else -(10**9), ROWS)


def _number(name: str, value: str, minimum: int, maximum: int) -> int:
    if not (value.isascii() and value.lstrip("-").isdecimal() and len(value) < 10 and minimum <= int(value) <= maximum):
        raise UserError(f"{name} cannot be {value}", f"Use a number from {minimum} to {maximum:,}")
    return int(value)


def _encode_json(rows: object) -> bytes:
    return json.dumps(rows).encode() + b"\n"


def _user_error(status: HTTPStatus, root: str, error: UserError) -> ReaderReply:
    return _wrong(status, without_local_paths(error.message, root), without_local_paths(error.what_to_do, root))


def without_local_paths(text: str, root: str) -> str:
    """Return a message without paths of this machine: clients on the network must not learn who runs the server, or
    where. Paths inside the repository are shown relative to it."""
    for place in sorted({root, os.path.abspath(root), os.path.realpath(root)} - {"/", "."}, key=len, reverse=True):
        text = text.replace(place + os.sep, "").replace(place, "the repository")
    for place in (cache_folder(), os.path.expanduser("~"), tempfile.gettempdir()):
        text = text.replace(place, "…") if len(place) > 1 else text
    return text


def unavailable(error: str, advice: str) -> ReaderReply:
    """Return the answer to a question about a repository that cannot be read."""
    return _wrong(HTTPStatus.SERVICE_UNAVAILABLE, error, advice)


def _wrong(status: HTTPStatus, error: str, advice: str) -> ReaderReply:
    return ReaderReply(status, JSON, _encode_json({"error": error, "hint": advice}))
