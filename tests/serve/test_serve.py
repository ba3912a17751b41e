"""`concord serve`: its replies, the requests that it refuses, and how it survives a lost store or reader process."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import pytest

from concordance import api
from concordance.base import forks, plugins
from concordance.base.errors import ConcordanceError, StoreBroken, UserError
from concordance.facts.store import Store
from concordance.query.commands import COMMANDS
from concordance.query.index.repository import UnknownPath
from concordance.render.site import files, openapi
from concordance.serve import front_page, http_protocol
from concordance.serve import server as serve_server
from concordance.serve.http_api import answer_request
from concordance.serve.messages import Question, ReaderReply, encode_message, read_question
from concordance.serve.reader import StoreReader
from concordance.serve.reader_pool import PAGE, SEARCH, ReaderPool
from concordance.tasks.serve import site_settings
from concordance.workflow import builds, store_update
from tests.support import golden_files, program
from tests.support.program import concord, started, wait_for

LONG = 60  # seconds, on a machine that has other work
SAMPLE = golden_files.SAMPLE


class Got(NamedTuple):
    """A reply."""

    status: int
    headers: dict[str, str]
    data: bytes

    @property
    def text(self) -> str:
        return self.data.decode()


class Server:
    """A running server."""

    def __init__(self, root: Path, *options: str) -> None:
        self.root = root
        self.process = started("serve", root, "--no-browser", "--port", "0", *options)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("http://"), line + (self.process.stderr.read() if self.process.stderr else "")
        self.port = urlsplit(line.split()[0]).port or 0

    def get(self, path: str, method: str = "GET", **headers: str) -> Got:
        """Send one request on a new connection; the path is sent as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONG)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest(method, path, skip_host="Host" in named, skip_accept_encoding=True)
        for name, value in named.items():
            connection.putheader(name, value)
        connection.endheaders()
        reply = connection.getresponse()
        got = Got(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
        connection.close()
        return got

    def raw(self, data: bytes) -> bytes:
        """Send some bytes; return what comes back until the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=LONG) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            found = b""
            while part := client.recv(65536):
                found += part
        return found

    def ask(self, question: str) -> Any:
        """Return the rows of an answer."""
        return json.loads(self.get(f"/api/{question}").data)

    def readers(self) -> list[int]:
        """Return the server's own processes."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return sorted(map(int, listed.split()))

    def end(self, number: int = signal.SIGINT) -> str:
        """Stop the server; return what it printed."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, said = self.process.communicate(timeout=LONG)
        assert "Traceback" not in said, said
        return said


@pytest.fixture
def _may_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process fork although the test runner has a thread that waits for commands."""
    monkeypatch.setattr(forks, "require_fork_allowed", lambda: None)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with unusual file names and a link that leads out of it."""
    home = tmp_path_factory.mktemp("served")
    folder = home / "repo"
    (home / "secret.txt").write_text("a secret\n")
    subprocess.run(["cp", "-r", str(SAMPLE), str(folder)], check=True)
    subprocess.run(["rm", "-rf", str(folder / ".concordance")], check=True)
    (folder / "<script>alert(1)<.py").write_text("def odd(): ...\n")
    (folder / "sp ace#?%41.py").write_text("def spaced(): ...\n")
    (folder / "out").symlink_to(home / "secret.txt")
    (folder / "up").symlink_to(home)
    return folder


@pytest.fixture(scope="module")
def server(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    patch = pytest.MonkeyPatch()
    patch.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
    concord("build", root, "--no-book")
    running = Server(root, "--no-update")
    yield running
    running.end()
    patch.undo()


# What it answers


def test_pages_are_served(server: Server) -> None:
    for address, kind in {
        "/": "text/html", "/index.html": "text/html", "/abacus/": "text/html", "/abacus/ledger.py_docs.html": "text/html",
        "/abacus/ledger.py_source.html": "text/html", "/abacus/ledger.py_docs.md": "text/markdown", "/tree.js": "text/javascript",
        "/search.html": "text/html", "/assets/site.css": "text/css", "/llms.txt": "text/plain", "/openapi.json": "application/json",
        "/keywords.html": "text/html", "/comprehensive_book.html": "text/html", "/verification_report.html": "text/html",
        "/book/rules/index.html": "text/html", "/abacus/ledger.py_cards.js": "text/javascript",
        "/abacus/ledger.py_blame.js": "text/javascript",
    }.items():  # fmt: skip
        got = server.get(address)
        assert got.status == 200, address
        assert got.headers["content-type"].startswith(kind), address
        assert int(got.headers["content-length"]) == len(got.data) > 0
        assert got.headers["content-security-policy"] == http_protocol.POLICY
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["referrer-policy"] == "no-referrer"
        assert got.headers["x-frame-options"] == "DENY"
        assert got.headers["cross-origin-opener-policy"] == got.headers["cross-origin-resource-policy"] == "same-origin"


def test_a_page_that_does_not_exist_offers_a_search_for_its_name(server: Server) -> None:
    got = server.get("/abacus/%3Cb%3Eledgers.py_docs.html")
    assert got.status == 404
    assert '<a href="/search.html?q=%3Cb%3Eledgers.py">Search for <code>&lt;b&gt;ledgers.py</code></a>' in got.text


def test_what_is_known_is_not_sent_again(server: Server) -> None:
    plain = server.get("/abacus/ledger.py_docs.html")
    packed = server.get("/abacus/ledger.py_docs.html", Accept_Encoding="gzip, br")
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert packed.headers["etag"] != plain.headers["etag"]
    again = server.get("/abacus/ledger.py_docs.html", Accept_Encoding="gzip", If_None_Match=packed.headers["etag"])
    assert (again.status, again.data) == (304, b"")
    other = server.get("/abacus/ledger.py_docs.html", Accept_Encoding="gzip", If_None_Match='"other"')
    assert other.status == 200
    head = server.get("/abacus/ledger.py_docs.html", "HEAD")
    assert (head.status, head.data) == (200, b"")
    assert int(head.headers["content-length"]) == len(plain.data)


def test_names_of_files_stay_text(server: Server) -> None:
    for name in ("<script>alert(1)<.py", "sp ace#?%41.py"):
        stem = quote(name, safe="")
        page = server.get(f"/{quote(name)}_docs.html")
        assert page.status == 200
        assert "<script>alert" not in page.text
        assert server.get(f"/{stem.replace('%2F', '/')}_source.html").status == 200
    assert "<script>" not in server.get("/tree.js").text


# The API


QUESTIONS = {
    "op": "tally",
    "locate": "README.md",
    "path": "abacus/ledger.py abacus/rounding.py",
    "search": "Ledger", "define": "Ledger", "refs": "Ledger", "callers": "Ledger.add", "callees": "Ledger.add",
    "symbols": "abacus/ledger.py", "imports": "abacus/ledger.py", "importers": "abacus/ledger.py", "keywords": "abacus/ledger.py",
    "impact": "abacus/ledger.py", "related": "abacus/ledger.py", "tests": "abacus/ledger.py",
}  # fmt: skip


def test_every_command_answers_as_in_a_terminal(server: Server) -> None:
    assert set(QUESTIONS) == set(plugins.names(COMMANDS))
    for command, asked in QUESTIONS.items():
        with api.Repository(server.root, update=False) as repository:
            printed = repository.ask(command, asked).rows
        got = server.get(f"/api/{command}?q={quote(asked)}")
        assert got.status == 200, got.text
        assert got.headers["content-type"] == "application/json"
        assert json.loads(got.data) == printed
        assert int(got.headers["x-total-count"]) == len(printed)
    assert server.ask("show?q=abacus/ledger.py")[0]["path"] == "abacus/ledger.py"


def test_long_answers_are_paged(server: Server) -> None:
    whole = server.ask("keywords")
    rows, query = [], "keywords?limit=40"
    while query:
        got = server.get(f"/api/{query}")
        part = json.loads(got.data)
        assert len(part) <= 40
        assert int(got.headers["x-total-count"]) == len(whole)
        rows += part
        query = f"keywords{got.headers['link'][1:].partition('>')[0]}" if "link" in got.headers else ""
    assert rows == whole


@pytest.mark.parametrize(
    ("question", "status", "said"),
    [
        ("nothing?q=a", 404, "there is no command"),
        ("define", 400, "needs an argument"),
        ("define?q=NobodyHasThis", 404, ""),
        ("symbols?q=no/such.py", 404, "no file"),
        ("symbols?q=../../etc/passwd", 404, "outside"),
        ("symbols?q=/etc/passwd", 404, "outside"),
        ("symbols?q=a%00b", 404, "NUL"),
        ("symbols?q=up/secret.txt", 404, ""),
        ("search?q=%20%20", 400, "nothing to search"),
        (f"search?q={'a' * 2500}", 400, "too long"),
        ("search?q=a&limit=1001", 400, "limit"),
        ("search?q=a&limit=0", 400, "limit"),
        ("search?q=a&limit=-5", 400, "limit"),
        ("search?q=a&limit=x", 400, "limit"),
        ("search?q=a&number=999999999999", 400, "number"),
        ("search?q=a&kind=nonsense", 400, "kind"),
        ("search?q=a&nonsense=1", 400, "no option"),
        ("search?q=a&cursor=zzz", 400, "cursor"),
        ("search?" + "&".join(f"a{number}=1" for number in range(51)), 400, "parameters"),
        ("search?" + "&" * 2000, 400, "parameters"),
        ("refs?q=Ledger&trust=total", 400, "trust"),
        ("show", 400, "needs the parameter q"),
        ("batch?q=a", 404, "no command"),
        ("build?q=a", 404, "no command"),
        ("search/../search?q=Ledger", 404, "no command"),
    ],
)
def test_wrong_questions_are_told_what_to_do(server: Server, question: str, status: int, said: str) -> None:
    got = server.get(f"/api/{question}")
    assert got.status == status, got.text
    told = json.loads(got.data)
    assert said in told["error"]
    assert set(told) == {"error", "hint"}
    assert "Traceback" not in got.text
    assert str(server.root) not in got.text and "/tmp" not in got.text


def test_the_description_has_every_command(server: Server) -> None:
    told = json.loads(server.get("/openapi.json").data)
    assert told["openapi"].startswith("3.1")
    assert set(told["paths"]) == {f"/api/{name}" for name in (*plugins.names(COMMANDS), "show")}
    ids = [path["get"]["operationId"] for path in told["paths"].values()]
    assert len(ids) == len(set(ids))
    for path in told["paths"].values():
        names = [one["name"] for one in path["get"]["parameters"]]
        assert len(names) == len(set(names))
        for one in path["get"]["parameters"]:
            assert one["in"] == "query"
            assert one["schema"]["type"] in ("string", "integer", "boolean")
            default, choices = one["schema"].get("default"), one["schema"].get("enum")
            assert default is None or choices is None or default in choices
        assert {"200", "400", "404"} <= set(path["get"]["responses"])
        schema = path["get"]["responses"]["400"]["content"]["application/json"]["schema"]["$ref"]
        assert told["components"]["schemas"][schema.rpartition("/")[2]]["type"] == "object"
    limit = next(p for p in told["paths"]["/api/search"]["get"]["parameters"] if p["name"] == "limit")
    assert limit["schema"]["maximum"] == openapi.ROWS


def test_llms_txt_leads_to_markdown(server: Server) -> None:
    text = server.get("/llms.txt").text
    lines = text.splitlines()
    assert lines[0].startswith("# ")
    assert lines[2].startswith("> ")
    links = [line.partition("](")[2].partition(")")[0] for line in lines if line.startswith("- [")]
    assert len(links) > 10
    for link in links:
        if not link.startswith("api/"):
            got = server.get(f"/{link}")
            assert got.status == 200, link
            assert got.headers["content-type"].startswith(("text/markdown", "application/json")), link


def test_rows_say_where_they_stand(server: Server) -> None:
    for row in server.ask("search?q=Ledger&addresses=1"):
        address, _, at = row["address"].partition("#")
        page = server.get(f"/{address}")
        assert page.status == 200
        assert not at or f'id="{at}"' in page.text


# What it refuses


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt", "/../../../../etc/passwd", "/%2e%2e/secret.txt", "/%2e%2e%2fsecret.txt", "/..%2fsecret.txt", "/..%5csecret.txt",
        "/%252e%252e/secret.txt", "/..\\secret.txt", "/....//secret.txt", "/abacus/../../secret.txt", "/up/secret.txt", "/out",
        "/up/repo/README.md", "//etc/passwd", "/etc/passwd", "/.concordance/index.db", "/.git/config", "/README.md", "/abacus/ledger.py",
        "/index.html%00", "/%00", "/index.html/", "/index.html/..", "/./index.html", "/assets/../assets/site.css", "/assets/", "/assets",
        "/assets/..%2fshell.py", "/assets/%2e%2e/shell.py", "/%c0%ae%c0%ae/secret.txt", "/%ff%fe", "/%", "/%zz", "/CON", "/index.html::$DATA",
        "/index.1.html", "/index.0.html", "/index.2.html", "/index.99999999999999999999.html", "/abacus/ledger.py_docs.7.html",
        "/abacus/ledger.py_source.9.html", "/a" * 500, "/search/names.js", "/api", "/api/", "/manifest.json", "/events/../index.html",
    ],
)  # fmt: skip
def test_no_path_leaves_the_site(server: Server, path: str) -> None:
    got = server.get(path)
    assert got.status in (400, 404), got.text[:200]
    assert b"a secret" not in got.data
    assert b"root:" not in got.data
    assert b"Traceback" not in got.data


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_nothing_but_reading(server: Server, method: str) -> None:
    got = server.get("/index.html", method)
    assert got.status == 405
    assert got.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 421), ("evil.example:80", 421), ("127.0.0.1.evil.example", 421), ("localhost.evil.example", 421), ("", 421),
        ("10.0.0.1", 421), ("[::2]", 421), ("localhost:x", 421), ("*", 421), ("localhost", 200), ("LOCALHOST:1", 200), ("127.0.0.1", 200),
        ("127.0.0.1:9999", 200), ("[::1]:80", 200), ("localhost.", 200),
    ],
)  # fmt: skip
def test_only_by_its_own_names(server: Server, host: str, status: int) -> None:
    assert server.get("/index.html", Host=host).status == status


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 421),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", 413),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413),
        (b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET / HTTP/1.1\nHost: localhost\n\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n folded: x\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n", 400),
        (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 4000 + b"\r\n", 431),
        (b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
    ],
)
def test_what_is_no_request_is_refused(server: Server, data: bytes, status: int) -> None:
    found = server.raw(data)
    assert found.startswith(f"HTTP/1.1 {status} ".encode()), found[:200]
    assert found.count(b"HTTP/1.1 ") == 1
    assert b"\r\nConnection: close\r\n" in found


def test_requests_may_follow_one_another(server: Server) -> None:
    one = b"GET /assets/site.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = b"GET /assets/site.css HTTP/1.0\r\nHost: localhost\r\n\r\n"
    assert server.raw(one + one + last).count(b"HTTP/1.1 200 OK") == 3


# Under load


def test_slow_clients_hold_up_nobody(server: Server) -> None:
    idle = [socket.create_connection(("127.0.0.1", server.port), timeout=LONG) for _ in range(150)]
    for client in idle:
        client.sendall(b"GET /index.html HTTP/1.1\r\nHost: loc")
    with ThreadPoolExecutor(50) as pool:
        pages = ["/", "/abacus/ledger.py_docs.html", "/keywords.html", "/api/search?q=sum", "/abacus/index.html"] * 40
        found = list(pool.map(lambda path: server.get(path).status, pages))
    assert found == [200] * 200
    for client in idle:
        client.close()


def test_pages_that_listen_lock_nobody_out(server: Server) -> None:
    ask = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    listening = [socket.create_connection(("127.0.0.1", server.port), timeout=LONG) for _ in range(500)]
    try:
        for client in listening:
            client.sendall(ask)
        assert b"text/event-stream" in listening[-1].recv(65536)
        for path in ("/", "/assets/site.css", "/api/search?q=sum"):
            assert server.get(path).status == 200
        with listening[0].makefile("rb") as first:
            first.read()  # ends, for the oldest is closed
        listening[-1].setblocking(False)
        with pytest.raises(BlockingIOError):  # the newest is not
            while listening[-1].recv(65536):
                pass
    finally:
        for client in listening:
            client.close()


async def _answered_by(server: serve_server.Server, silent: int, requests: int) -> tuple[bytes, int]:
    """Return a server's reply to the last of some requests on one connection while others are connected and silent, and
    how many of those are still connected afterwards."""
    until = asyncio.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        port = listening.getsockname()[1]
        running = asyncio.create_task(server.run(listening, until))
        others = [await asyncio.open_connection("127.0.0.1", port) for _ in range(silent)]
        for _, writer in others:
            writer.write(b"GET /assets/site.css HT")
        while len(server._silent) < min(silent, server._max_connections):
            await asyncio.sleep(0.001)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(requests):
            writer.write(b"HEAD /assets/site.css HTTP/1.1\r\nHost: localhost\r\n\r\n")
            said = await reader.readuntil(b"\r\n\r\n")
        left = len(server._connections) - 1
        writer.close()
        until.set()
        await running
        for _, writer in others:
            writer.close()
    return said, left


def test_silent_connections_lock_nobody_out(tmp_path: Path) -> None:
    server = serve_server.Server(str(tmp_path), str(tmp_path / "index.db"), lambda end: None, 0, "127.0.0.1", False, lambda word: None)
    server._max_connections = 8
    said, left = asyncio.run(_answered_by(server, 20, 1))
    assert said.startswith(b"HTTP/1.1 200 OK")
    assert left < 8


def test_a_connection_ends_after_many_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve_server, "REQUESTS", 3)
    for requests, stays in ((2, b"keep-alive"), (3, b"close")):
        server = serve_server.Server(str(tmp_path), str(tmp_path / "index.db"), lambda end: None, 0, "127.0.0.1", False, lambda word: None)
        said, _ = asyncio.run(_answered_by(server, 0, requests))
        assert b"Connection: " + stays in said


def test_errors_say_nothing_of_this_machine(tmp_path: Path) -> None:
    repo, alias = tmp_path / "repo", tmp_path / "alias"
    repo.mkdir()
    alias.symlink_to(repo)

    def fails(error: ConcordanceError, index: object, asked: str) -> list[Any]:
        raise error

    place = f"{repo}/.concordance/index.db and {alias}/a.py, in {Path.home()}/x"
    for error, status in ((StoreBroken(place, place), 500), (UserError(place, place), 400), (UnknownPath(place, place), 404)):
        for root in (repo, alias):
            served: Any = SimpleNamespace(index=SimpleNamespace(root=str(root)))
            found = answer_request(served, "show", {"q": "x"}, {"show": partial(fails, error)})
            assert found.status == status
            assert str(repo) not in found.data.decode() and str(Path.home()) not in found.data.decode()
            assert (place in found.fault) == (status == 500)


def test_headers_must_come_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def waited() -> http_protocol.Request | None:
        reader = asyncio.StreamReader()
        reader.feed_data(b"GET / HT")
        return await http_protocol.read_request(reader)

    monkeypatch.setattr(http_protocol, "HEADERS", 0.05)
    assert asyncio.run(waited()) is None


def test_what_is_kept_is_bounded() -> None:
    cache = serve_server.ReplyCache(1000)
    for number in range(50):
        cache.put(str(number), ReaderReply(200, data=b"x" * 100))
        cache.put(str(number), ReaderReply(200, data=b"y" * 100))
    assert cache.size == 1000
    assert cache.get("39") is None
    assert cache.get("49") is not None
    cache.put("large", ReaderReply(200, data=b"z" * 5000))
    assert cache.get("large") is None
    assert cache.size <= 1000


def test_names_of_a_server() -> None:
    assert serve_server.is_own_host("docs.example:80", serve_server.host_names("docs.example"))
    assert not serve_server.is_own_host("other.example", serve_server.host_names("docs.example"))
    assert serve_server.is_own_host("10.1.2.3:8000", serve_server.host_names("0.0.0.0"))
    assert serve_server.is_own_host("[fe80::1]", serve_server.host_names("::"))
    assert not serve_server.is_own_host("rebound.example", serve_server.host_names("0.0.0.0"))
    assert not serve_server.is_own_host("10.1.2.3", serve_server.host_names("127.0.0.1"))


# What happens to it


@pytest.fixture
def own(folder: Path) -> Path:
    program.write(folder, program.SAMPLE)
    return folder


def _until(server: Server, path: str, word: str) -> None:
    wait_for(lambda: word in server.get(path).text)


def test_it_builds_where_there_is_no_store_and_follows_edits(own: Path) -> None:
    server = Server(own, "--watch")
    try:
        assert "Tree" in server.get("/a.py_docs.html").text
        # Before there is an answer, the page is a preview, and an edit becomes a part of the first build.
        wait_for(lambda: server.get("/api/define?q=Tree").status == 200)
        with socket.create_connection(("127.0.0.1", server.port), timeout=LONG) as listener:
            listener.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            said = b""
            while b'"version"' not in said:
                said += listener.recv(4096)
            assert b"text/event-stream" in said
            (own / "a.py").write_text(program.SAMPLE["a.py"] + "\n\ndef planted_now() -> int:\n    return 1\n")
            _until(server, "/a.py_docs.html", "planted_now")
            while b'"paths":["a.py"]' not in said:
                said += listener.recv(4096)
            (own / "seed.py").write_text("def seed(): ...\n")
            _until(server, "/seed.py_docs.html", "seed")
            (own / "seed.py").unlink()
            _until(server, "/seed.py_docs.html", "no such page")
        assert server.get("/a.py_docs.html").status == 200
    finally:
        said_last = server.end(signal.SIGTERM)
    assert server.process.returncode == 128 + signal.SIGTERM
    assert "stopped" in said_last


def test_a_build_beside_is_seen_and_a_dead_reader_is_replaced(own: Path) -> None:
    store_update.build(str(own), 1)
    server = Server(own, "--no-update")
    try:
        assert "Tree" in server.get("/a.py_docs.html").text
        (own / "a.py").write_text("class Shrub:\n    pass\n")
        store_update.build(str(own), 1)
        _until(server, "/a.py_docs.html", "Shrub")
        assert server.ask("search?q=Shrub")[0]["path"] == "a.py"
        for _ in range(2):
            os.kill(server.readers()[0], signal.SIGKILL)
            time.sleep(0.1)
            assert server.get("/lib/b.py_docs.html").status == 200  # another reader answers
        _until(server, "/lib/b.py_docs.html", "plant")
        for path in (own / ".concordance").glob("index.db*"):
            path.unlink()
        store_update.build(str(own), 1)
        (own / "a.py").write_text("class Bush:\n    pass\n")
        store_update.build(str(own), 1)
        _until(server, "/a.py_docs.html", "Bush")
        readers = server.readers()
    finally:
        said = server.end()
    assert server.process.returncode == 128 + signal.SIGINT
    assert "replacing it" in said
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in readers))


@pytest.mark.parametrize(
    "url", ["nonsense", "https://", "https://x/../y", "ftp://x/", "https://x:99999/", "https://u@x/", "https://x/?a", "https://x//y/"]
)
def test_an_address_that_no_proxy_publishes(own: Path, url: str) -> None:
    assert "--base-url cannot be" in program.concord("serve", own, "--no-browser", "--base-url", url, code=2).stderr


def test_the_front_page_is_kept_for_exactly_this_store(own: Path) -> None:
    store_update.build(str(own), 1)
    for text in (program.SAMPLE["README.md"], "# Other\n\nSomething else.\n"):
        (own / "README.md").write_text(text)
        store_update.build(str(own), 1)
        server = Server(own, "--no-update")
        try:
            assert text.split("\n")[0][2:] in server.get("/").text
        finally:
            server.end()
        with Store(str(own / ".concordance")) as store:
            kept = front_page.cached_front_page(str(own), front_page.version_of(str(own), store.meta(), False), False)
        assert kept is not None
        assert text.split("\n")[0][2:] in gzip.decompress(kept.data).decode()
        assert front_page.cached_front_page(str(own), "of another store", False) is None


def test_settings_that_are_wrong_are_told(own: Path) -> None:
    store_update.build(str(own), 1)
    (own / "concordance.toml").write_text('out = "docs')
    server = Server(own, "--no-update")
    try:
        assert server.get("/a.py_docs.html").status == 500
        (own / "concordance.toml").unlink()
        _until(server, "/a.py_docs.html", "Tree")
    finally:
        said = server.end()
    assert "concordance.toml" in said


def test_wrong_places_are_told(own: Path, tmp_path: Path) -> None:
    assert "not a store" in concord("serve", own, "--no-browser", "--no-update", code=1).stderr
    assert concord("serve", tmp_path / "nowhere", "--no-browser", code=2).stderr
    store_update.build(str(own), 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = concord("serve", own, "--no-browser", "--no-update", "--port", port, code=2).stderr
    assert "cannot listen on" in said


def test_a_build_leaves_the_front_page_that_a_reader_would_make(own: Path) -> None:
    builds.write_book(str(own), jobs=1)
    for live in (False, True):
        desk = StoreReader(str(own), str(own / ".concordance"), partial(site_settings, str(own)), {}, live)
        opened = desk.answer(Question("renew"))
        kept = front_page.cached_front_page(str(own), opened.version, live)
        assert kept is not None
        assert kept == desk.answer(Question("page", b"index.html"))
    (own / "a.py").write_text("class Other: ...\n")
    store_update.build(str(own), 1)
    assert desk.answer(Question("renew")).version != opened.version
    assert b"Other" in gzip.decompress(desk.answer(Question("page", b"a.py_docs.html")).data)
    assert front_page.cached_front_page(str(own), desk.version, True) is None


def test_a_fault_of_ours_is_an_answer(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store_update.build(str(own), 1)
    desk = StoreReader(str(own), str(own / ".concordance"), partial(site_settings, str(own)), {}, False)
    assert desk.answer(Question("page", b"index.html")).status == 503
    desk.answer(Question("renew"))

    def fails(*_: object) -> None:
        raise ZeroDivisionError("/home/somebody/secret")

    monkeypatch.setattr(files.Site, "answer", fails)
    found = desk.answer(Question("page", b"index.html"))
    assert (found.status, found.data) == (500, b"")
    assert "ZeroDivisionError" in found.fault


@pytest.mark.usefixtures("_may_fork")
def test_readers_do_what_goes_first_and_get_warm_one_after_the_other(tmp_path: Path) -> None:
    """A reader answers its second page when the search was begun: without an order, that would be never."""

    def reader(end: socket.socket) -> None:
        steps, pages = 3, 0
        while (question := read_question(end)) is not None:
            with open(tmp_path / "log", "a") as log:
                log.write(f"{os.getpid()} {question.kind} {os.fsdecode(question.what)}\n")
            steps -= question.kind == "warm"
            pages += question.kind == "page"
            if pages > 1:
                wait_for(lambda: "search" in (tmp_path / "log").read_text())
            end.sendall(encode_message(ReaderReply(max(0, steps) if question.kind == "warm" else 200, version="1")))

    async def asked() -> None:
        crew = ReaderPool(2, reader, lambda version, paths: None, lambda word: None)
        crew.start()
        pages = [asyncio.create_task(crew.ask(Question("page", b"page"), PAGE)) for _ in range(8)]
        await asyncio.sleep(0)
        search = asyncio.create_task(crew.ask(Question("ask", b"search"), SEARCH))
        await asyncio.gather(search, *pages)
        end = time.monotonic() + LONG
        while (tmp_path / "log").read_text().count("warm") < 6 and time.monotonic() < end:
            await asyncio.sleep(0.01)
        crew.close()

    asyncio.run(asked())
    warm = [line.split()[0] for line in (tmp_path / "log").read_text().splitlines() if "warm" in line]
    assert warm == [warm[0]] * 3 + [warm[-1]] * 3
    assert warm[0] != warm[-1]


@pytest.mark.usefixtures("_may_fork")
def test_commits_of_lines_are_kept_until_the_next_commit(tmp_path: Path) -> None:
    (tmp_path / "head").write_text("one")

    def reader(end: socket.socket) -> None:
        while (question := read_question(end)) is not None:
            with open(tmp_path / "log", "a") as log:
                log.write(f"{question.kind}\n")
            data = (tmp_path / "head").read_bytes() if question.kind == "head" else question.what
            end.sendall(encode_message(ReaderReply(200 if question.kind != "warm" else 0, data=data, version="1")))

    async def asked() -> None:
        server = serve_server.Server(str(tmp_path), str(tmp_path / "store"), reader, 2, "localhost", False, lambda word: None)
        server.readers.start()
        for head, times in (("one", 1), ("one", 1), ("two", 2), ("one", 2)):
            (tmp_path / "head").write_text(head)
            both = await asyncio.gather(*(server._answer("a_blame.js", "") for _ in range(3)))
            assert {found.data for found in both} == {b"a_blame.js"}
            assert (tmp_path / "log").read_text().count("page") == times
        server.readers.close()

    asyncio.run(asked())
