"""The OpenAPI 3.1 description of the server's HTTP API.

In: the commands and what each declares about itself. Out: the description; a new command is included automatically.
"""

from __future__ import annotations

import json
from typing import Any

from concordance.base import plugins
from concordance.base.version import VERSION
from concordance.query.answers import Option, options_of
from concordance.query.commands import COMMANDS

ADDRESS = "openapi.json"
ROWS = 1000  # per page of an answer
LONGEST = 2000  # characters of one parameter
_TYPES = {str: "string", int: "integer", bool: "boolean"}
_ERROR = {"$ref": "#/components/schemas/Error"}


def text(more: tuple[str, ...]) -> str:
    """Return the description as JSON; `more` are endpoints that are not commands."""
    paths = {f"/api/{name}": {"get": _command(name)} for name in plugins.names(COMMANDS)}
    paths |= {f"/api/{name}": {"get": _describe_page(name)} for name in more}
    error = {
        "type": "object", "required": ["error", "hint"],
        "properties": {
            "error": {"type": "string", "description": "What is wrong with the request."},
            "hint": {"type": "string", "description": "What to do about it."},
        },
    }  # fmt: skip
    described = {
        "openapi": "3.1.0",
        "info": {
            "title": "Concordance", "version": VERSION, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "Questions about one repository. Each answer is what the command prints with --json.",
        },
        "servers": [{"url": "."}],
        "paths": paths,
        "components": {"schemas": {"Error": error}},
    }  # fmt: skip
    return json.dumps(described, indent=1)


def _command(name: str) -> dict[str, Any]:
    module = plugins.load(COMMANDS, name)
    help_ = module.HELP.partition("\b")[0].strip()
    asked = module.ARGUMENT.strip("[]").removesuffix("...")
    parameters = []
    if module.ARGUMENT:
        needed = not module.ARGUMENT.startswith("[")
        schema = {"type": "string", "maxLength": LONGEST}
        parameters.append({"name": "q", "in": "query", "required": needed, "description": asked, "schema": schema})
    parameters += [_option(option) for option in options_of(module)]
    limit = {"type": "integer", "minimum": 1, "maximum": ROWS, "default": ROWS}
    parameters += [
        {"name": "limit", "in": "query", "description": "Return at most this many rows.", "schema": limit},
        {"name": "cursor", "in": "query", "description": "Continue after the previous answer: its X-Cursor.",
         "schema": {"type": "string", "maxLength": LONGEST}},
        {"name": "addresses", "in": "query", "description": "Add to each row its address on this site.",
         "schema": {"type": "boolean", "default": False}},
    ]  # fmt: skip
    return {
        "operationId": name, "summary": help_.partition("\n")[0], "description": help_, "parameters": parameters,
        "responses": _responses("Rows, best first; [] if there are no results."),
    }  # fmt: skip


def _describe_page(name: str) -> dict[str, Any]:
    schema = {"type": "string", "maxLength": LONGEST}
    return {
        "operationId": name, "summary": "The page of a file, folder or name, as Markdown.",
        "parameters": [{"name": "q", "in": "query", "required": True, "description": "PATH or NAME", "schema": schema}],
        "responses": _responses("The pages: path, page and text of each."),
    }  # fmt: skip


def _responses(description: str) -> dict[str, Any]:
    headers = {
        "X-Total-Count": {"description": "Total number of rows.", "schema": {"type": "integer"}},
        "X-Cursor": {"description": "Cursor for the rows after these, percent-encoded.", "schema": {"type": "string"}},
        "X-Note": {"description": "A note on the answer, percent-encoded.", "schema": {"type": "string"}},
        "Link": {"description": 'The next rows: rel="next".', "schema": {"type": "string"}},
    }
    rows = {"type": "array", "items": {"type": "object"}}
    wrong = {"content": {"application/json": {"schema": _ERROR}}}
    return {
        "200": {"description": description, "headers": headers, "content": {"application/json": {"schema": rows}}},
        "400": {"description": "The request is not valid.", **wrong},
        "404": {"description": "There is no such file or name.", **wrong},
    }


def _option(option: Option) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _TYPES[option.type]}
    if option.choices:
        schema["enum"] = list(option.choices)
    if option.least is not None:
        schema["minimum"] = option.least
    if option.type is int:
        schema["maximum"] = ROWS
    if option.default is not None:
        schema["default"] = option.default
    return {"name": option.name, "in": "query", "description": option.help, "schema": schema}
