"""`concord mcp`: the six tools, called by the SDK's own client in the process, over standard input, and over HTTP."""

from __future__ import annotations

import http.client
import json
import random
import re
import shutil
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from concordance.base.config import Book, Config
from concordance.base.errors import UserError
from concordance.serve.agent_tools import TOOLS, AgentTools, count_tokens
from concordance.serve.current_index import CurrentIndex
from concordance.workflow import diff, show
from concordance.workflow.store_location import store_path
from tests.support import program
from tests.support.program import TREE, build, wait_for

anyio = pytest.importorskip("anyio")
mcp = pytest.importorskip("mcp")
from mcp.client.stdio import StdioServerParameters  # noqa: E402

from concordance.serve import mcp_server  # noqa: E402

Ask = Callable[[str, dict[str, Any]], Any]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample repository, with a store."""
    folder = tmp_path_factory.mktemp("sample") / "repo"
    shutil.copytree(TREE / "tests" / "sample", folder)
    program.sample(folder, {})
    build(folder)
    return folder


@pytest.fixture
def tools(root: Path) -> Iterator[AgentTools]:
    folder = store_path(str(root))
    index = CurrentIndex(str(root), folder, Book, 0.0)
    book = f"{folder}/book"
    yield AgentTools(
        index, lambda one, subject: show.render_pages(one, subject, book),
        lambda one: diff.review_work_tree(one, book, Config()),
    )  # fmt: skip
    index().facts.close()


# --- what agents see


def test_six_tools_within_1500_tokens() -> None:
    described = json.dumps([{"name": t.name, "description": t.description, "inputSchema": t.schema} for t in TOOLS])
    assert len(TOOLS) == 6
    assert count_tokens(described) <= 1500  # an upper estimate of o200k_base


CALLS = {
    "find": {"query": "ledger"},
    "read": {"target": "abacus.Ledger"},
    "explain": {"target": "abacus/ledger.py"},
    "references": {"target": "abacus.Ledger", "kind": "uses"},
    "path": {"from": "test_adds", "to": "native/src/sum.cpp"},
    "impact": {"target": "abacus.Ledger"},
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("budget", [200, 400, 2000])
def test_every_answer_fits_its_budget(tools: AgentTools, name: str, budget: int) -> None:
    answer = tools.call(name, {**CALLS[name], "max_tokens": budget})
    assert count_tokens(answer.text) <= budget
    assert count_tokens(json.dumps(answer.structured, ensure_ascii=False)) <= budget
    assert answer.structured["current"] is True
    assert len(answer.structured["commit"]) == 12
    assert answer.structured["commit"] in answer.text


def test_what_was_asked_is_not_repeated_at_length(tools: AgentTools) -> None:
    word = "w" * 200_000
    answer = tools.call("find", {"query": word, "max_tokens": 300})
    assert count_tokens(answer.text) <= 300
    assert "searched" in answer.text
    messages: list[str] = []

    async def talk(client: Any) -> None:
        for name in ("references", "read", "explain", "impact"):
            reply = await client.call_tool(name, {"target": word, "max_tokens": 200} | ({"kind": "uses"} if name == "references" else {}))
            messages.append(reply.content[0].text)

    run(mcp_server.make_server(tools), talk)
    assert all(count_tokens(message) <= 200 for message in messages)


def test_what_a_filter_hides_is_said(tools: AgentTools) -> None:
    assert "without the filter: abacus/ledger.py" in tools.call("find", {"query": "Ledger", "in": "native"}).text


def test_what_is_dropped_is_said_and_can_be_had(tools: AgentTools) -> None:
    asked = {"target": "abacus.Ledger", "kind": "uses"}
    whole = tools.call("references", {**asked, "max_tokens": 20_000}).structured["rows"]
    found, cursor = [], ""
    for _ in range(len(whole)):
        answer = tools.call("references", {**asked, "max_tokens": 400, **({"cursor": cursor} if cursor else {})})
        found += answer.structured["rows"]
        if "more" not in answer.structured:
            break
        assert answer.structured["more"] in answer.text
        cursor = answer.structured["more"].partition('cursor="')[2].partition('"')[0]
    assert found == whole
    assert len(whole) > 3


def test_trust_and_where_nothing_is_found(tools: AgentTools) -> None:
    assert tools.call("references", {"target": "abacus.Ledger", "kind": "callers"}).structured["trust"] in ("exact", "via_import", "unique_name")
    nothing = tools.call("find", {"query": "zyxwvutsrq"})
    assert nothing.structured["rows"] == []
    assert "searched" in nothing.structured["note"]
    assert "searched" in nothing.text


@pytest.mark.parametrize("kind", ["definitions", "uses", "callers", "callees", "tests", "importers"])
def test_trust_is_where_the_documentation_says(tools: AgentTools, kind: str) -> None:
    target = "abacus/ledger.py" if kind == "importers" else "abacus.Ledger"
    rows = tools.call("references", {"target": target, "kind": kind}).structured["rows"]
    assert rows
    assert all(("trust" in row) is (kind not in ("tests", "importers")) for row in rows)


def test_find_takes_reports_too(tools: AgentTools) -> None:
    report = 'It fails:\nTraceback (most recent call last):\n  File "/x/abacus/ledger.py", line 40, in add\nValueError\n'
    answer = tools.call("find", {"query": report})
    assert answer.structured["rows"][0]["path"] == "abacus/ledger.py"
    assert any("frame" in reason for reason in answer.structured["rows"][0]["reasons"])


def test_impact_without_a_target_reviews_the_work_tree(tools: AgentTools, root: Path) -> None:
    assert tools.call("impact", {}).structured["rows"] == []
    path = root / "abacus/ledger.py"
    before = path.read_text()
    try:
        path.write_text(before.replace("def add(self, *numbers", "def add(self, /, *numbers"))
        build(root)
        rows = tools.call("impact", {}).structured["rows"]
    finally:
        path.write_text(before)
        build(root)
    assert (rows[0]["kind"], rows[0]["change"], rows[0]["qualified"]) == ("method", "signature", "Ledger.add")
    assert {"kind": "command", "why": "pytest tests/test_ledger.py::test_adds tests/test_ledger.py::TestOverflow::test_raises"}.items() <= rows[1].items()
    assert ("tests/test_ledger.py", "caller") in {(row["path"], row["kind"]) for row in rows}


def test_read_gives_lines_and_links(tools: AgentTools) -> None:
    whole = tools.call("read", {"target": "abacus.Ledger"}).structured
    assert "class Ledger" in whole["source"]
    part = tools.call("read", {"target": "abacus/ledger.py", "start": 1, "end": 3}).structured
    assert (part["start"], part["end"]) == (1, 3)
    assert part["source"] == "\n".join((TREE / "tests/sample/abacus/ledger.py").read_text().split("\n")[:3])
    links = tools.call("read", {"target": "tests/test_ledger.py"}).structured["links"]
    assert any(link["path"] == "abacus/ledger.py" for link in links)
    assert "is not text" in tools.call("read", {"target": "docs/logo.png"}).text
    after = tools.call("read", {"target": "abacus.Ledger.add", "start": 60}).structured
    assert (after["start"], after["by"]) == (60, "the file")


def test_answers_say_only_what_an_agent_needs(tools: AgentTools) -> None:
    page = tools.call("explain", {"target": "abacus/ledger.py", "max_tokens": 8000})
    assert "Generated by" not in page.text
    assert page.structured["by"]
    assert re.search(r"  \d steps?  ", tools.call("impact", {"target": "abacus.Ledger.add"}).text)
    nothing = tools.call("path", {"from": "abacus.Ledger.add", "to": "tests/test_ledger.py"}).text
    assert "a call whose target is not known is not followed" in nothing


def test_a_long_page_is_read_on_from_its_cursor(tools: AgentTools) -> None:
    asked = {"target": "abacus/ledger.py"}
    whole = tools.call("explain", {**asked, "max_tokens": 20_000}).structured["page"]
    parts, cursor = [], "0"
    while cursor:
        answer = tools.call("explain", {**asked, "max_tokens": 500, "cursor": cursor})
        parts.append(answer.structured["page"])
        cursor = answer.structured.get("more", "").partition('cursor="')[2].partition('"')[0]
    assert len(parts) > 2
    assert "\n".join(parts) == whole
    with pytest.raises(UserError, match="cursor cannot be 99999"):
        tools.call("explain", {**asked, "cursor": "99999"})


def test_an_operator_is_explained_by_its_kernels(tools: AgentTools) -> None:
    answer = tools.call("explain", {"target": "torch.tally"})
    assert "Operator" in answer.text.split("\n")[0] and "native/src/module.cpp" in answer.text


def test_everything_can_be_prepared(tools: AgentTools) -> None:
    assert len(list(tools.prepare())) == 3


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("look", {}, "Use one of: find"),
        ("find", {}, "needs the argument `query`"),
        ("find", {"query": 3}, "must be of type string"),
        ("find", {"query": "x", "limit": 3}, "Its arguments: query"),
        ("find", {"query": "x", "max_tokens": 5}, "from 200"),
        ("find", {"query": "x", "cursor": "there"}, "of a previous answer"),
        ("references", {"target": "Ledger", "kind": "friends"}, "Use one of: definitions"),
        ("references", {"target": "Leger", "kind": "uses"}, "Ledger"),
        ("read", {"target": "abacus/nothing.py"}, "no file"),
        ("read", {"target": "abacus/ledger.py", "start": 9000}, "Its lines are 1 to "),
        ("read", {"target": "abacus/ledger.py:9-3"}, "no lines 9 to 3"),
        ("read", {"target": "abacus/"}, "is a folder"),
        ("read", {"target": "abacus/ledger.py:27:6"}, "no name at abacus/ledger.py:27:6"),
        ("references", {"target": "abacus/ledger.py:9000:1", "kind": "uses"}, "has no line 9000"),
        ("references", {"target": "abacus.Ledger", "kind": "uses", "cursor": "99999"}, "The answer has "),
    ],
)
def test_a_wrong_argument_says_what_to_do(tools: AgentTools, name: str, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        tools.call(name, arguments)


# --- the SDK's client


def run(server: Any, talk: Callable[[Any], Awaitable[None]]) -> None:
    async def main() -> None:
        with anyio.fail_after(120):
            async with mcp.Client(server) as client:
                await talk(client)

    anyio.run(main)


def test_a_session_in_the_process(tools: AgentTools) -> None:
    async def talk(client: Any) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == list(CALLS)
        for name, arguments in CALLS.items():
            result = await client.call_tool(name, arguments)
            assert not result.is_error
            assert result.content[0].text
            assert result.structured_content["current"] is True
        wrong = await client.call_tool("references", {"target": "Leger", "kind": "uses"})
        assert wrong.is_error
        assert "Ledger" in wrong.content[0].text
        page = await client.read_resource("concord://page/abacus/ledger.py")
        assert "Ledger" in page.contents[0].text

    run(mcp_server.make_server(tools), talk)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("concord://page/abacus/leger.py", "abacus/ledger.py"),
        ("concord://page/Leger", "Ledger"),
        ("concord://pages/.", "Pages begin with concord://page/"),
    ],
)
def test_an_unknown_resource_says_what_to_do(
    tools: AgentTools, uri: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def talk(client: Any) -> None:
        with pytest.raises(mcp.MCPError, match=said) as failed:
            await client.read_resource(uri)
        assert failed.value.code == -32602  # invalid parameters

    run(mcp_server.make_server(tools), talk)
    assert "Traceback" not in caplog.text


def test_over_standard_input_an_edit_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    program.sample(folder)

    async def talk(client: Any) -> None:
        before = await client.call_tool("read", {"target": "a.py"})
        assert "class Tree" in before.structured_content["source"]
        (folder / "a.py").write_text("class Bush:\n    pass\n")
        for _ in range(20):  # the machine may be busy
            after = await client.call_tool("read", {"target": "a.py"})
            if "class Bush" in (after.structured_content or {}).get("source", ""):
                return
        pytest.fail(after.content[0].text)

    environment = program.environment()
    run(StdioServerParameters(command=program.CONCORD, args=["mcp", str(folder)], env=environment), talk)


def test_over_http_host_origin_and_token_are_checked(root: Path) -> None:
    port = _free_port()
    process = program.started("mcp", root, "--port", str(port), "--no-update")
    try:
        address = f"http://127.0.0.1:{port}/mcp"
        wait_for(lambda: _answers(port))

        async def talk(client: Any) -> None:
            result = await client.call_tool("find", {"query": "ledger"})
            assert result.structured_content["rows"]

        run(address, talk)
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("POST", "/mcp", b"{}", {"Content-Type": "application/json", **headers})
            assert connection.getresponse().status in (403, 421)
            connection.close()
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _free_port() -> int:
    """Return a free port that the system gives to nobody who asks for any port, as other tests do at the same time."""
    for port in random.sample(range(10_000, 32_000), 100):
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no free port")


def _answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def test_beyond_loopback_a_token_is_needed(tools: AgentTools) -> None:
    sent: list[dict[str, Any]] = []

    async def main(given: bytes) -> None:
        app = mcp_server.http_app(tools, "10.0.0.1", 8000, "secret")

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        headers = [(b"authorization", given)] if given else []
        await app({"type": "http", "headers": headers}, None, send)

    for given in (b"", b"Bearer wrong"):
        anyio.run(main, given)
        assert sent[0]["status"] == 401
        sent.clear()
