"""The server of the Model Context Protocol: `AgentTools` over the official SDK, on standard input and output or HTTP.

In: requests of a client. Out: tool results with structured content and text, and pages as resources
(`concord://page/PATH`). An error of the caller is a result that says what to do; nothing ends the server.

Over HTTP, the SDK checks `Host` and `Origin`, so that no web page can talk to it through a browser. Beyond loopback
every request must carry the token that is printed at the start.
"""

from __future__ import annotations

import hmac
import logging
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

import anyio
import mcp_types as types
import uvicorn
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from concordance.base.errors import ConcordanceError, UserError
from concordance.base.version import VERSION
from concordance.serve.agent_tools import MAX_NOTE, TOOLS, AgentTools, cut_middle

INSTRUCTIONS = (
    "Answers about one repository, read from its index: exact places instead of whole files. Start with `explain` of "
    "`.`, or `find`. `trust` says how certain a link is. An answer without rows says what was searched."
)
SCHEME = "concord://page/"
_PROGRAM_FAILED = "the program failed on this call: "
_READ_ONLY = types.ToolAnnotations(read_only_hint=True)
_PAUSE = 0.01  # seconds between two steps of preparing, for requests that have come in
LOOPBACK = ("127.0.0.1", "localhost", "::1")

_App = Callable[..., Awaitable[None]]


def make_server(tools: AgentTools, listed: Callable[[], None] = lambda: None) -> Server[Any]:
    """Return a server that offers the tools and the pages; it calls `listed` when a client has asked for the tools."""

    async def list_tools(context: ServerRequestContext[Any], params: object) -> types.ListToolsResult:
        listed()
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name, description=tool.description, input_schema=tool.schema, annotations=_READ_ONLY
                )
                for tool in TOOLS
            ]
        )

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            answer = tools.call(params.name, params.arguments or {})
        except ConcordanceError as error:
            return _failed(str(error))
        except Exception as error:  # one call must not end the server
            return _failed(f"{_PROGRAM_FAILED}{type(error).__name__}: {error}")
        content: list[Any] = [types.TextContent(type="text", text=answer.text)]
        return types.CallToolResult(content=content, structured_content=answer.structured)

    async def list_templates(context: ServerRequestContext[Any], params: object) -> types.ListResourceTemplatesResult:
        about = "The page of a file, folder or name: purpose, structure, users, tests"
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name="page", uri_template=SCHEME + "{+target}", description=about, mime_type="text/markdown"
                )
            ]
        )

    async def list_resources(context: ServerRequestContext[Any], params: object) -> types.ListResourcesResult:
        front = types.Resource(name="repository", uri=SCHEME + ".", mime_type="text/markdown")
        return types.ListResourcesResult(resources=[front])

    async def read_resource(
        context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            if not uri.startswith(SCHEME):
                raise UserError(f"there is no resource {uri}", f"Pages begin with {SCHEME}")
            text = tools.page(unquote(uri.removeprefix(SCHEME)))
        except ConcordanceError as error:
            raise MCPError(types.INVALID_PARAMS, str(error), {"uri": uri}) from None
        except Exception as error:  # one request must not end the server
            raise MCPError(types.INTERNAL_ERROR, f"{_PROGRAM_FAILED}{type(error).__name__}: {error}") from None
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/markdown", text=text)]
        )

    return Server(
        "concordance", version=VERSION, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool,
        on_list_resources=list_resources, on_list_resource_templates=list_templates, on_read_resource=read_resource,
    )  # fmt: skip


def _failed(error: str) -> types.CallToolResult:
    message = cut_middle(error, MAX_NOTE)
    content: list[Any] = [types.TextContent(type="text", text=message)]
    return types.CallToolResult(content=content, structured_content={"error": message}, is_error=True)


def run_stdio(tools: AgentTools) -> None:
    """Serve one client on standard input and output until it closes them."""

    async def run() -> None:
        listed = anyio.Event()
        server = make_server(tools, listed.set)
        async with anyio.create_task_group() as tasks, stdio_server() as (read, write):
            tasks.start_soon(_prepare, tools, listed)
            await server.run(read, write, server.create_initialization_options())
            tasks.cancel_scope.cancel()

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)  # standard output belongs to the protocol
    anyio.run(run)


async def _prepare(tools: AgentTools, listed: anyio.Event) -> None:
    """Prepare the tools while the agent reads their descriptions."""
    await listed.wait()
    with suppress(ConcordanceError):  # whoever asks will be told
        for _ in tools.prepare():
            await anyio.sleep(_PAUSE)


def http_app(tools: AgentTools, host: str, port: int, token: str) -> _App:
    """Return the application that serves clients over HTTP at `/mcp`; a `token` is demanded of every request."""
    names = [*LOOPBACK[:2], "[::1]", *([f"[{host}]" if ":" in host else host] if host not in LOOPBACK else [])]
    security = TransportSecuritySettings(
        allowed_hosts=[f"{name}:{port}" for name in names],
        allowed_origins=[f"http://{name}:{port}" for name in names],
    )
    app = make_server(tools).streamable_http_app(transport_security=security, host=host, json_response=True)
    return _demand_token(app, token) if token else app


def _demand_token(app: _App, token: str) -> _App:
    """Refuse requests without the token."""

    async def checked(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        given = dict(scope.get("headers") or ()).get(b"authorization", b"")
        if scope["type"] == "http" and not hmac.compare_digest(given, f"Bearer {token}".encode()):
            headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b"send the token as `Authorization: Bearer TOKEN`\n"})
            return
        await app(scope, receive, send)

    return checked


def run_http(app: _App, host: str, port: int) -> None:
    """Serve clients over HTTP until a signal ends it."""
    uvicorn.run(app, host=host, port=port, log_level="warning")
