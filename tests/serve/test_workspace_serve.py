"""`concord serve --workspace`: one site for all repositories, few open stores, health and figures."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import zlib
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest

from concordance.serve import workspace_reader
from concordance.serve.messages import Question, ReaderReply
from concordance.serve.metrics import ServerMetrics
from concordance.serve.workspace_reader import WorkspaceReader
from concordance.workflow.stages import catalogue
from tests.support.program import concord, started, wait_for
from tests.support.workspaces import REPOSITORIES, build, make_workspace


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = make_workspace(tmp_path_factory.mktemp("served"))
    assert not build(workspace).failed
    return workspace


@pytest.fixture
def reader(team: Path) -> WorkspaceReader:
    found = WorkspaceReader(str(team), catalogue.repository_settings)
    assert found.answer(Question("renew")).status == HTTPStatus.OK
    return found


def _page(reader: WorkspaceReader, address: str, **more: str) -> str:
    found = reader.answer(Question("page", address.encode(), more))
    assert found.status == HTTPStatus.OK, f"{address}: {found.status} {found.fault}"
    return _text(found)


def _text(found: ReaderReply) -> str:
    return (zlib.decompress(found.data, wbits=31) if found.packed else found.data).decode()


def test_the_front_page_lists_all_and_every_link_leads_somewhere(reader: WorkspaceReader) -> None:
    for address in ("index.html", "map.html"):
        text = _page(reader, address)
        assert "<script>" not in text
        for link in re.findall(r'href="([^"#]+)', text):
            if not link.startswith("assets/"):
                _page(reader, link)
    front = _page(reader, "index.html")
    assert all(f'href="{name}/index.html"' in front for name in REPOSITORIES)
    assert "ledger &gt;=3; 2.1.0" in front
    assert "2.1.0" in front


def test_the_search_leads_to_lines(reader: WorkspaceReader) -> None:
    text = _page(reader, "search.html", q="Book")
    assert 'href="ledger/src/ledger/books.py_source.html#L1"' in text
    assert 'href="../../../index.html">All repositories' in _page(reader, "ledger/src/ledger/books.py_source.html")
    assert "<script>" not in _page(reader, "search.html", q="<script>alert(1)</script>")


def test_questions_about_one_or_all(reader: WorkspaceReader) -> None:
    rows = json.loads(_text(reader.answer(Question("ask", b"refs", {"q": "ledger.Book"}))))
    assert {row["repository"] for row in rows} == {"ledger", "mint", "shop"}
    rows = json.loads(_text(reader.answer(Question("ask", b"shop/define", {"q": "sell"}))))
    assert rows[0]["path"] == "shop/till.py"
    for what, status in ((b"nothing", 404), (b"shop/nothing", 404), (b"nothing/define", 404), (b"callees", 400)):
        assert reader.answer(Question("ask", what, {"q": "sell"})).status == status
    found = reader.answer(Question("ask", b"define", {"q": "shop/till.py:1:1"}))
    assert (found.status, "REPOSITORY:" in _text(found)) == (400, True)


@pytest.mark.parametrize("address", ["nothing/index.html", "shop/nothing.html", "shop/../team/workspace.toml", "nothing"])
def test_what_is_not_there(reader: WorkspaceReader, address: str) -> None:
    assert reader.answer(Question("page", address.encode())).status == HTTPStatus.NOT_FOUND


def test_a_repository_that_cannot_be_read(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    build(workspace)
    reader = WorkspaceReader(str(workspace), catalogue.repository_settings)
    reader.answer(Question("renew"))
    assert "mint" in _page(reader, "mint/index.html")
    (tmp_path / "shop" / ".concordance" / "index.db").write_bytes(b"\x07" * 5000)
    (tmp_path / "mint").rename(tmp_path / "gone")
    for name, says in (("shop", "concord workspace build shop"), ("mint", "concord workspace remove mint")):
        found = reader.answer(Question("page", f"{name}/index.html".encode()))
        assert (found.status, says in found.why, says in found.fault) == (HTTPStatus.SERVICE_UNAVAILABLE, True, True)
        assert str(tmp_path) not in found.why
        found = reader.answer(Question("ask", f"{name}/define".encode(), {"q": "sell"}))
        assert (found.status, says in _text(found)) == (HTTPStatus.SERVICE_UNAVAILABLE, True)
    assert "ledger" in _page(reader, "ledger/index.html")
    said = concord("workspace", "status", "--workspace", workspace, code=1).stdout
    assert "build it: concord workspace build shop" in said
    (tmp_path / "gone").rename(tmp_path / "mint")
    assert not build(workspace).failed
    concord("workspace", "status", "--workspace", workspace)
    assert "till" in _page(reader, "shop/index.html")


def test_few_sites_stay_open(reader: WorkspaceReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_reader, "MOST_SITES", 2)
    for name in (*REPOSITORIES, *REPOSITORIES):
        _page(reader, f"{name}/index.html")
        assert len(reader._sites) <= 2


def test_a_new_catalogue_is_noticed(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    build(workspace)
    reader = WorkspaceReader(str(workspace), catalogue.repository_settings)
    reader.answer(Question("renew"))
    before = reader.version
    (tmp_path / "mint" / "mint" / "__init__.py").write_text("def forge(): pass\n")
    build(workspace, "mint")
    reader.answer(Question("renew"))
    assert reader.version != before
    assert "mint.forge" in _page(reader, "search.html", q="forge")


def test_figures_are_in_the_format_of_prometheus() -> None:
    metrics = ServerMetrics()
    metrics.count(HTTPStatus.OK, 0.02)
    metrics.count(HTTPStatus.NOT_FOUND, 20.0)
    text = metrics.text({"readers": 2})
    line = re.compile(r"# (HELP|TYPE) concordance_\w+ .+|concordance_\w+(\{\w+=\"[^\"]*\"\})? [0-9.]+")
    assert all(line.fullmatch(one) for one in text.splitlines())
    assert 'concordance_http_requests_total{code="404"} 1' in text
    assert 'concordance_http_request_seconds_bucket{le="0.025"} 1' in text
    assert "concordance_http_request_seconds_count 2" in text


@pytest.fixture(scope="module")
def port(team: Path) -> Iterator[int]:
    server = started(
        "serve", "--workspace", team, "--port", "0", "--no-browser", "--readers", "1",
        "--base-url", "https://code.example.org/docs/",
    )  # fmt: skip
    assert server.stdout is not None
    number = int(server.stdout.readline().partition("127.0.0.1:")[2].partition("/")[0])
    try:
        wait_for(lambda: _get(number, "/healthz")[0] == HTTPStatus.OK)
        yield number
    finally:
        server.terminate()
        server.communicate(timeout=300)


def _get(port: int, address: str, host: str = "") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    with contextlib.closing(connection):
        connection.request("GET", address, headers={"Host": host} if host else {})
        found = connection.getresponse()
        return found.status, found.read().decode()


def test_behind_a_proxy(port: int) -> None:
    for address in ("/", "/docs/", "/docs/shop/index.html", "/shop/index.html", "/docs/shop/assets/site.css", "/assets/site.css"):
        assert _get(port, address, "code.example.org")[0] == HTTPStatus.OK, address
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    with contextlib.closing(connection):
        connection.request("GET", "/docs/shop")
        found = connection.getresponse()
        assert (found.status, found.headers["Location"]) == (HTTPStatus.PERMANENT_REDIRECT, "shop/")
    assert _get(port, "/", "evil.example.org")[0] == HTTPStatus.MISDIRECTED_REQUEST
    status, text = _get(port, "/docs/nothing/x.html")
    assert (status, 'href="/docs/assets/site.css"' in text) == (HTTPStatus.NOT_FOUND, True)
    assert _get(port, "/docs/search.html?q=Book")[1].count("books.py") >= 1
    assert json.loads(_get(port, "/docs/api/define?q=ledger.Book")[1])[0]["repository"] == "ledger"
    assert json.loads(_get(port, "/shop/api/define?q=sell")[1])[0]["path"] == "shop/till.py"


def test_health_and_figures(port: int) -> None:
    assert _get(port, "/healthz") == (HTTPStatus.OK, "ok\n")
    text = _get(port, "/metrics")[1]
    assert "concordance_readers_ready 1" in text
    assert 'concordance_http_requests_total{code="200"}' in text


def test_what_cannot_be_served_is_told(tmp_path: Path, team: Path) -> None:
    assert "is not a workspace" in concord("serve", "--workspace", tmp_path, "--no-browser", code=2).stderr
    empty = make_workspace(tmp_path, {})
    assert "no catalogue yet" in concord("serve", "--workspace", empty, "--no-browser", code=1).stderr
    assert "as it was last built" in concord("serve", "--workspace", team, "--watch", "--no-browser", code=2).stderr
