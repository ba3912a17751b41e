"""A minimal HTTP/1.1 server protocol for a read-only site: strict parsing of requests, and writing of replies.

In: the two streams of a connection. Out: `Request`s, one after the other; `Reply`s are written. No library is used: a
request without a body is a few lines of text, the server is ready a quarter of a second sooner, and the time that a
slow client may take for its headers is limited here (common servers do not limit it). Anything that is not exactly a
request is refused and its connection closed, so that no proxy in between can interpret it differently.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

LONGEST = 16 * 1024  # bytes of a request with its headers
HEADERS = 10.0  # seconds that a client may take to send them
IDLE = 30.0  # seconds that a connection may wait for the next request
READING = 60.0  # seconds that a client may take to read a reply
_LINE = re.compile(rb"([A-Z]{1,16}) (/[!-~]*) HTTP/1\.([01])")
_HEADER = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*?)[ \t]*")
_BODIES = ("content-length", "transfer-encoding")

# A page may load only its own files, and inline scripts do not run.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SAFETY = {
    "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}  # fmt: skip


class BadRequest(Exception):
    """A request that is not valid, with the status to reply."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Request(NamedTuple):
    """A parsed request."""

    method: str
    path: str  # without the query, decoded once; bytes that are not UTF-8 are kept as `os.fsdecode` does
    query: str  # as it was sent
    headers: Mapping[str, str]  # names in lower case
    stays: bool  # the client wants to keep the connection open


class Reply(NamedTuple):
    """A reply to a client."""

    status: HTTPStatus
    data: bytes = b""
    type: str = "text/plain; charset=utf-8"
    more: Mapping[str, str] = {}  # further headers
    packed: bool = False  # the data is gzipped


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Read the next request; None if the client has gone or is silent for too long."""
    try:
        async with asyncio.timeout(IDLE):
            first = await reader.readexactly(1)
        async with asyncio.timeout(HEADERS):
            text = first + await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except TimeoutError:
        return None
    except asyncio.LimitOverrunError:
        raise BadRequest(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The request is too long.") from None
    return parse_request(text[:-4])


def parse_request(text: bytes) -> Request:
    """Parse the lines of a request."""
    if len(text) > LONGEST:
        raise BadRequest(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The request is too long.")
    first, *lines = text.split(b"\r\n")
    line = _LINE.fullmatch(first)
    if line is None:
        raise BadRequest(HTTPStatus.BAD_REQUEST, "This is not a valid HTTP request.")
    headers: dict[str, str] = {}
    for one in lines:
        match = _HEADER.fullmatch(one)
        if match is None:
            raise BadRequest(HTTPStatus.BAD_REQUEST, "A header of the request is malformed.")
        name = match[1].decode("ascii").lower()
        if name in headers and name in ("host", *_BODIES):
            raise BadRequest(HTTPStatus.BAD_REQUEST, f"The request has the header {name} twice.")
        headers[name] = match[2].decode("latin-1")
    if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
        raise BadRequest(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Requests must not have a body.")
    path, _, query = line[2].decode("ascii").partition("?")
    connection = headers.get("connection", "").lower()
    stays = "close" not in connection if line[3] == b"1" else "keep-alive" in connection
    decoded = unquote_to_bytes(path).decode("utf-8", "surrogateescape")
    return Request(line[1].decode("ascii"), decoded, query.partition("#")[0], headers, stays)


async def send(writer: asyncio.StreamWriter, reply: Reply, head: bool = False, stays: bool = True) -> None:
    """Send a reply, or with `head` only its headers."""
    writer.write(reply_head(reply, stays) + (b"" if head else reply.data))
    async with asyncio.timeout(READING):
        await writer.drain()


def reply_head(reply: Reply, stays: bool, length: bool = True) -> bytes:
    """Return the status line and headers of a reply."""
    headers = {**SAFETY, **reply.more}
    if reply.status is not HTTPStatus.NOT_MODIFIED:
        headers["Content-Type"] = reply.type
        if length:
            headers["Content-Length"] = str(len(reply.data))
        if reply.packed:
            headers["Content-Encoding"] = "gzip"
    headers["Connection"] = "keep-alive" if stays else "close"
    lines = [f"HTTP/1.1 {reply.status.value} {reply.status.phrase}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
