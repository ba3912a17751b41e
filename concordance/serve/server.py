"""The web server: answers requests of browsers and programs.

In: connections. Out: replies. The server binds to this machine by default, only answers requests whose Host header is
one of its own names (otherwise a foreign page could reach it through a name of its own, known as DNS rebinding), only
reads, and caches the last answers, gzipped, until the store changes. Readers render the pages: the server only forwards
and waits, so that slow clients do not delay others.

Anyone who can connect can open connections and leave them idle; that must not keep others from their pages. Pages that
listen for changes are counted separately, and one too many closes the oldest of them, whose browser connects again. If
there are too many connections of any kind, the one that has been silent longest is closed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import re
import resource
import signal
import socket
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

from concordance.base import forks
from concordance.base.errors import UserError
from concordance.base.progress import FAILED
from concordance.render.site.addresses import BLAME
from concordance.render.site.files import assets
from concordance.render.site.page_frame import error_document
from concordance.serve import front_page, http_protocol
from concordance.serve.http_protocol import BadRequest, Reply, Request
from concordance.serve.messages import READING, Question, ReaderReply
from concordance.serve.metrics import HEALTH, METRICS, ServerMetrics
from concordance.serve.reader_pool import LATER, PAGE, SEARCH, Busy, ReaderLost, ReaderPool, Target

CACHE_BYTES = 64 << 20  # bytes of cached answers
CONNECTIONS = 1000
LISTENERS = 64  # connections that listen for changes; a browser has at most six
REQUESTS = 1000  # on one connection
FIELDS = 50  # parameters of a request
LONGEST = 4096  # characters of an address
WAITING = 90.0  # seconds that a client waits in total
_CHECK_SECONDS = 0.3  # seconds between checks whether the store has changed
_BREATH = 15.0  # seconds between keep-alive messages to listeners
_HTML = "text/html; charset=utf-8"
_LOOPBACK = ("localhost", "localhost.localdomain", "ip6-localhost")


class ReplyCache:
    """The last answers, as they are sent; limited in bytes."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes, self.size = max_bytes, 0
        self._replies: OrderedDict[str, ReaderReply] = OrderedDict()

    def get(self, address: str) -> ReaderReply | None:
        """Return the cached answer for an address."""
        reply = self._replies.get(address)
        if reply is not None:
            self._replies.move_to_end(address)
        return reply

    def put(self, address: str, reply: ReaderReply) -> None:
        """Cache an answer."""
        before = self._replies.pop(address, None)
        self.size += len(reply.data) - (len(before.data) if before is not None else 0)
        self._replies[address] = reply
        while self.size > self.max_bytes:
            self.size -= len(self._replies.popitem(last=False)[1].data)

    def clear(self) -> None:
        """Remove everything."""
        self._replies.clear()
        self.size = 0


class Server:
    """The server of one repository."""

    def __init__(
        self, root: str, store: str, target: Target, readers: int, host: str, live: bool, log: Callable[[str], None],
        base_url: str = "", progress_from: int = -1,
    ) -> None:  # fmt: skip
        """Create a server. `target` is what a reader runs, `store` the file that is checked for changes; `live`: pages
        listen for them; `base_url` is the address under which a proxy publishes the site. From the descriptor
        `progress_from`, a first build's progress is read."""
        self.root, self.store, self.live, self.log = root, store, live, log
        public = urlsplit(base_url)
        self.base = public.path.rstrip("/") + "/"
        self.names = host_names(host) | ({public.hostname} if public.hostname else set())
        self.metrics = ServerMetrics()
        self._progress_from, self._progress = progress_from, dict[str, str]()
        self.cache = ReplyCache(CACHE_BYTES)
        self._assets = {name: ReaderReply(HTTPStatus.OK, kind, data) for name, (data, kind) in assets().items()}
        self._listeners: dict[asyncio.Queue[str], asyncio.Task[None] | None] = {}  # oldest first
        self._connections: set[asyncio.Task[None]] = set()
        self._silent: dict[asyncio.Task[None], None] = {}  # waiting for their first or next request; oldest first
        # Every connection takes a file descriptor; without a free one nobody could connect, and no reader could start.
        self._max_connections = max(16, min(CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 128))
        self._blaming = asyncio.Lock()  # git may take seconds: at most one reader waits for it
        self.readers = ReaderPool(readers, target, self._on_renewal, log)

    def set_front_page(self, version: str, page: ReaderReply | None) -> None:
        """Set the version of the current store, and its front page if it is cached."""
        self.readers.version = version
        if page is not None:
            self.cache.put("index.html", page)

    async def run(self, listening: socket.socket, until: asyncio.Event) -> None:
        """Serve until the event is set."""
        server = await asyncio.start_server(self._accept, sock=listening, limit=http_protocol.LONGEST)
        self.readers.start()
        tasks = [asyncio.create_task(self._watch_store())]
        if self._progress_from >= 0:
            tasks.append(asyncio.create_task(self._follow_progress()))
        try:
            await until.wait()
        finally:
            for task in tasks:
                task.cancel()
            server.close()
            for task in self._connections:
                task.cancel()
            self.readers.close()

    # --- the store

    async def _watch_store(self) -> None:
        """Detect changes of the store, whoever made them."""
        watched = [self.store, f"{self.store}-wal", *(os.path.join(self.root, name) for name in front_page.SETTINGS)]
        last = _file_stamps(watched)
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            now = _file_stamps(watched)
            if now != last:
                last = now
                self.readers.renew()

    def _on_renewal(self, version: str, paths: str) -> None:
        self.cache.clear()
        self._announce(f'data: {{"version":"{version}","paths":{paths or "null"}}}')

    def _announce(self, event: str) -> None:
        for listener in self._listeners:
            listener.put_nowait(event)

    async def _follow_progress(self) -> None:
        """Announce the progress of a first build until there is a store."""
        lines = asyncio.StreamReader()
        pipe = os.fdopen(self._progress_from, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(lines), pipe
        )
        try:
            while self.readers.version in ("", READING) and self._progress.get("step") != FAILED:
                line = await lines.readline()
                step, done, total = json.loads(line) if line else (FAILED, 0, 0)
                if not line and os.path.exists(self.store):  # the build has ended well
                    break
                self._progress = {"step": step, "count": f"{done:,} of {total:,}" if total > 1 else ""}
                self._announce(f"event: progress\ndata: {json.dumps(self._progress)}")
        finally:
            transport.close()

    # --- connections

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
        try:
            if len(self._connections) > self._max_connections and not self._close_silent_connection():
                await http_protocol.send(
                    writer, _error_page(HTTPStatus.SERVICE_UNAVAILABLE, "Too many connections.", self.base), stays=False
                )
            else:
                await self._converse(reader, writer)
        except (ConnectionError, TimeoutError):
            writer.transport.abort()
        except asyncio.CancelledError:
            writer.transport.abort()
        except Exception as error:  # an error in one connection must not end the others
            self.log(f"a connection failed: {type(error).__name__}: {error}")
            writer.transport.abort()
        finally:
            writer.close()
            try:
                async with asyncio.timeout(http_protocol.READING):
                    await writer.wait_closed()
            except (OSError, TimeoutError, asyncio.CancelledError):  # the client does not read what is left
                writer.transport.abort()
            if task is not None:
                self._connections.discard(task)

    def _close_silent_connection(self) -> bool:
        """Close the connection that has been silent longest; False if there is none."""
        oldest = next(iter(self._silent), None)
        if oldest is not None:
            self._silent.pop(oldest)
            oldest.cancel()
        return oldest is not None

    async def _next(self, reader: asyncio.StreamReader) -> Request | None:
        """Read the next request of a connection, which counts as silent until the request is complete."""
        task = asyncio.current_task()
        if task is not None:
            self._silent[task] = None
        try:
            return await http_protocol.read_request(reader)
        finally:
            if task is not None:
                self._silent.pop(task, None)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for number in range(1, REQUESTS + 1):
            try:
                request = await self._next(reader)
                if request is None:
                    return
                self._check(request)
            except BadRequest as refused:
                more = {"Allow": "GET, HEAD"} if refused.status is HTTPStatus.METHOD_NOT_ALLOWED else {}
                reply = _error_page(refused.status, refused.why, self.base)._replace(more=more)
                await http_protocol.send(writer, reply, stays=False)
                return
            if request.path in ("/events", f"{self.base}events") and request.method == "GET":
                await self._send_events(reader, writer)
                return
            stays = request.stays and number < REQUESTS
            started = time.monotonic()
            reply = await self._reply(request)
            self.metrics.count(reply.status, time.monotonic() - started)
            await http_protocol.send(writer, reply, request.method == "HEAD", stays)
            if not stays:
                return

    def _check(self, request: Request) -> None:
        """Refuse requests that this server does not answer."""
        if request.method not in ("GET", "HEAD"):
            raise BadRequest(HTTPStatus.METHOD_NOT_ALLOWED, "This site is read-only: use GET or HEAD.")
        if not is_own_host(request.headers.get("host", ""), self.names):
            why = "This server is not known by that name. Use the address that it printed, or name it with --host."
            raise BadRequest(HTTPStatus.MISDIRECTED_REQUEST, why)
        if len(request.path) > LONGEST or len(request.query) > 2 * LONGEST:
            raise BadRequest(HTTPStatus.REQUEST_URI_TOO_LONG, "The address is too long.")

    async def _send_events(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Send changes to a page, for as long as it listens."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        queue.put_nowait(f'data: {{"version":"{self.readers.version}","paths":[]}}')
        self._listeners[queue] = asyncio.current_task()
        if len(self._listeners) > LISTENERS:
            oldest = self._listeners.pop(next(iter(self._listeners)))
            if oldest is not None:
                oldest.cancel()
        closed = asyncio.create_task(reader.read(1))
        try:
            start = Reply(HTTPStatus.OK, type="text/event-stream", more={"Cache-Control": "no-store"})
            writer.write(http_protocol.reply_head(start, False, length=False) + b"retry: 1000\n\n")
            while not closed.done():
                try:
                    async with asyncio.timeout(_BREATH):
                        event = f"{await queue.get()}\n\n"
                except TimeoutError:
                    event = ": still here\n\n"
                writer.write(event.encode())
                async with asyncio.timeout(http_protocol.READING):
                    await writer.drain()
        finally:
            closed.cancel()
            self._listeners.pop(queue, None)

    # --- answers

    async def _reply(self, request: Request) -> Reply:
        address = request.path.removeprefix(self.base).lstrip("/")  # a proxy may leave out its part of the address
        if address == HEALTH:
            return self._health()
        if address == METRICS:
            return Reply(HTTPStatus.OK, self.metrics.text(self._gauges()).encode(), more={"Cache-Control": "no-store"})
        try:
            async with asyncio.timeout(WAITING):
                reply = await self._answer(address, request.query)
        except Busy:
            return _error_page(
                HTTPStatus.SERVICE_UNAVAILABLE, "Too many requests are waiting. Try again in a moment.", self.base
            )
        except TimeoutError:
            return _error_page(HTTPStatus.SERVICE_UNAVAILABLE, "The store is not ready yet. Try again.", self.base)
        except ReaderLost:
            return _error_page(
                HTTPStatus.INTERNAL_SERVER_ERROR, "This could not be rendered: it took too long, or failed.", self.base
            )
        except Exception as error:  # logged; the client only learns that there was an error
            self.log(f"{request.path}: {type(error).__name__}: {error}")
            return _error_page(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                "The page could not be rendered. The server's log says why.",
                self.base,
            )
        return _reply_to(request, reply, self.base)

    def _health(self) -> Reply:
        """Say whether pages can be answered: a reader has opened the store."""
        ready = bool(self.readers.ready) and self.readers.version != READING
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        return Reply(status, b"ok\n" if ready else b"no reader is ready\n", more={"Cache-Control": "no-store"})

    def _gauges(self) -> dict[str, int]:
        return {
            "readers": self.readers.count, "readers_ready": self.readers.ready,
            "requests_waiting": self.readers.waiting, "connections": len(self._connections),
            "listeners": len(self._listeners), "reply_cache_bytes": self.cache.size,
        }  # fmt: skip

    async def _answer(self, address: str, query: str) -> ReaderReply:
        if address in self._assets:
            return self._assets[address]
        if address.startswith("api/"):
            return await self._ask("ask", address[4:], query)
        if not address or address.endswith("/"):
            address += "index.html"
        if address.endswith(BLAME):
            return await self._answer_blame(address)
        cached = self.cache.get(address)
        if cached is not None:
            return cached
        reply = await self.readers.ask(Question("page", os.fsencode(address), self._progress), PAGE)
        if reply.status == HTTPStatus.OK and reply.version == self.readers.version != READING:
            self.cache.put(address, reply)
            if address == "index.html":
                front_page.cache_front_page(self.root, reply.version, self.live, reply)
        return reply

    async def _ask(self, kind: str, what: str, query: str) -> ReaderReply:
        """Return the answer to a request with parameters."""
        if query.count("&") >= FIELDS:
            error = {"error": f"the request has more than {FIELDS} parameters", "hint": "Send fewer"}
            return ReaderReply(HTTPStatus.BAD_REQUEST, "application/json", json.dumps(error).encode() + b"\n")
        options = dict(parse_qsl(query, keep_blank_values=True, errors="replace"))
        return await self.readers.ask(Question(kind, os.fsencode(what), options), SEARCH)

    async def _answer_blame(self, address: str) -> ReaderReply:
        """Return the commits of a file's lines, cached until the store or the current commit changes."""
        at = await self.readers.ask(Question("head", os.fsencode(address)), PAGE)
        name = f"{address}\n{at.data.decode()}"  # a page's address never ends with a commit id
        async with self._blaming:
            reply = self.cache.get(name)
            if reply is None:
                reply = await self.readers.ask(Question("page", os.fsencode(address)), LATER)
                if reply.status == HTTPStatus.OK and reply.version == self.readers.version:
                    self.cache.put(name, reply)
        return reply


def _reply_to(request: Request, answer: ReaderReply, base: str) -> Reply:
    """Return the reply to a request, in a form that the client accepts."""
    status = HTTPStatus(answer.status)
    if answer.why:
        return _error_page(status, answer.why, base)
    if status is HTTPStatus.PERMANENT_REDIRECT:
        return Reply(status, more={"Location": f"{request.path.rpartition('/')[2]}/"})
    if not answer.data and status is not HTTPStatus.OK:
        why = _WHY.get(status, "The page could not be rendered. The server's log says why.")
        sought = _PAGE_ENDING.sub("", request.path.rstrip("/").rpartition("/")[2])
        return _error_page(status, why, base, sought if status is HTTPStatus.NOT_FOUND else "")
    more = {**answer.more, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    takes = "gzip" in request.headers.get("accept-encoding", "").lower()
    if answer.tag:
        more["ETag"] = f'"{answer.tag}"' if not answer.packed or takes else f'"{answer.tag}-plain"'
        tags = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
        if status is HTTPStatus.OK and more["ETag"] in tags:
            return Reply(HTTPStatus.NOT_MODIFIED, more=more)
    if answer.packed and not takes:
        return Reply(status, zlib.decompress(answer.data, wbits=31), answer.type, more)
    return Reply(status, answer.data, answer.type, more, answer.packed)


_PAGE_ENDING = re.compile(r"(?:_docs|_source)?\.(?:html|md)$")
_WHY = {
    HTTPStatus.NOT_FOUND: "There is no such page. The file may have been removed, or never existed.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The store is not ready yet. Try again in a moment.",
}


def _error_page(status: HTTPStatus, why: str, base: str, sought: str = "") -> Reply:
    """Return an error page; with `sought`, it offers to search for that."""
    text = error_document(f"{status.value} {status.phrase}", why, base, sought)
    return Reply(status, text.encode(), _HTML, {"Cache-Control": "no-store"})


# --- host names


def is_public_url(url: str) -> bool:
    """True if a proxy can publish a site under an address; also if there is none."""
    with suppress(ValueError):  # of a port, or of brackets
        parts = urlsplit(url)
        plain = not (parts.query or parts.fragment or parts.username) and parts.port != 0
        steps = parts.path.split("/")
        return not url or (parts.scheme in ("http", "https") and bool(parts.hostname) and plain
                           and not {".", ".."}.intersection(steps) and "" not in steps[1:-1])  # fmt: skip
    return False


def host_names(host: str) -> frozenset[str]:
    """Return the host names that the server answers to, besides loopback addresses."""
    everywhere = host in ("0.0.0.0", "::", "")  # noqa: S104
    mine = socket.gethostname().lower() if everywhere else host.lower()
    return frozenset((*_LOOPBACK, mine, f"{mine}.local", *(("*",) if everywhere else ())))


def is_own_host(header: str, names: frozenset[str]) -> bool:
    """True if a Host header is one of the names, or an IP address that no other name can resolve to."""
    host, _, port = header.rpartition(":") if not header.endswith("]") else (header, "", "")
    if not host:
        host, port = header, ""
    if port and not (port.isascii() and port.isdecimal()):
        return False
    host = host.lower().removesuffix(".")
    if host in names and host != "*":
        return True
    with suppress(ValueError):
        number = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
        return number.is_loopback or "*" in names
    return False


def _file_stamps(paths: list[str]) -> list[tuple[int, int, int] | None]:
    """Return values that change when one of the files is written."""
    stamps: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            stat = os.stat(path)
        except OSError:
            stamps.append(None)
        else:
            stamps.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return stamps


# --- open the server's socket, and run the server until a signal stops it
# In: a host, and optionally a port. Out: a listening socket, and the address to open in a browser.


PORT = 8177  # default port


def open_socket(host: str, port: int | None) -> socket.socket:
    """Return a listening socket: on the given port, else on the default port, else on any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = (port,) if port is not None else (PORT, 0)
    for number in tried:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(512)
        except OSError as error:
            listening.close()
            if number != tried[-1]:
                continue
            advice = "Try another --port or --host, or omit --port"
            raise UserError(f"cannot listen on {host}:{number}: {error.strerror or error}", advice) from error
        listening.setblocking(False)
        return listening
    raise UserError("no port is free", "Choose one with --port")


def address_of(host: str, listening: socket.socket) -> str:
    """Return the address to open in a browser on this machine."""
    shown = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{listening.getsockname()[1]}/"


def run(web: Server, listening: socket.socket) -> int:
    """Serve until a signal arrives, and return its number: Ctrl-C, SIGTERM or SIGHUP, except those that were ignored
    when the program was started."""
    return asyncio.run(_serve_until_signal(web, listening))


async def _serve_until_signal(web: Server, listening: socket.socket) -> int:
    until = asyncio.Event()
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        until.set()

    for number in forks.SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, stop, number)
    await web.run(listening, until)
    return received[0]
