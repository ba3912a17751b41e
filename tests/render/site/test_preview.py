"""What `concord serve` shows while a repository is read for the first time. A test that holds the lock of the store
decides when the build begins, so nothing here depends on how long it takes."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from concordance.base.config import Config
from concordance.facts.integrity import lock
from concordance.render.site.preview import SitePreview, open_preview
from concordance.serve.messages import READING, Question
from concordance.serve.reader import StoreReader
from concordance.tasks.serve import site_settings
from concordance.workflow import store_update
from concordance.workflow.store_location import make_store
from tests.support import browser, program
from tests.support.program import wait_for

SECRET = "the secret of another folder"
HOSTILE = "<script>alert(1)<.py"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "secret.txt").write_text(SECRET)
    root = tmp_path / "repo"
    program.write(root, {
        "a.py": "def plant():\n    return 'a tree'  # a comment\n", "part/b.c": "int <main>;\n",
        HOSTILE: "x = '</code><script>alert(2)</script>'\n", "dos.txt": "one\r\ntwo\rthree\n", "empty.py": "",
        "\u202eodd\n name.py": "pass\n",
    })  # fmt: skip
    (root / "out").symlink_to(tmp_path / "secret.txt")
    (root / "up").symlink_to(tmp_path)
    (root / "data.bin").write_bytes(b"\0\1\2\xff" * 50)
    os.mkfifo(root / "pipe")
    (root / "huge.py").write_text("x = 1\n" * 3_000_000)
    return root


def preview(root: Path) -> SitePreview:
    return open_preview(str(root), str(root / ".concordance/book"), Config())


def page(shown: SitePreview, address: str) -> str:
    found = shown.answer(address, {})
    assert found.is_ready
    return found.file.data.decode()


def test_folders_are_listed_and_sources_highlighted(repo: Path) -> None:
    shown = preview(repo)
    front = page(shown, "index.html")
    for said in ("part/", "1 file", "a.py", "data-reading", "Reading this repository for the first time"):
        assert said in front
    assert 'href="../index.html"' in page(shown, "part/index.html")
    for address in ("a.py_source.html", "a.py_docs.html"):
        assert '<i class="k">def</i> plant' in page(shown, address)
    assert "&lt;main&gt;;" in page(shown, "part/b.c_source.html")
    assert page(shown, "dos.txt_source.html").count('class="line"') == 3
    assert "The file is empty" in page(shown, "empty.py_source.html")
    tree = page(shown, "tree.js")
    assert "a.py_docs.html" in tree and "part" in tree and "../" not in tree


def test_a_long_source_has_parts_as_in_the_complete_site(repo: Path) -> None:
    (repo / "long.py").write_text("".join(f"x{number} = 1\n" for number in range(20_001)))
    shown = preview(repo)
    first, second = page(shown, "long.py_source.html"), page(shown, "long.py_source.2.html")
    assert 'id="L20000"' in first and 'id="L20001"' not in first
    assert second.count('class="line"') == 1 and 'id="L20001"' in second and "x20000" in second
    assert not shown.answer("long.py_source.3.html", {}).is_ready


def test_only_listed_files_are_read(repo: Path, tmp_path: Path) -> None:
    shown = preview(repo)
    for address in (
        "../secret.txt", "../secret.txt_source.html", "up/secret.txt_source.html", f"{tmp_path}/secret.txt_source.html",
        "part/../../secret.txt_source.html", ".concordance/index.db", "a.py", "nothing.py_source.html", "\0_source.html",
        "\udcff_source.html", "a.py_source.0.html", "a.py_source.99999.html", "search.html", "a.py_kw.html",
    ):  # fmt: skip
        found = shown.answer(address, {})
        assert not found.is_ready and SECRET not in found.file.data.decode(), address
    assert "symbolic link" in page(shown, "out_source.html") and SECRET not in page(shown, "out_source.html")
    assert "named pipe" in page(shown, "pipe_source.html")
    assert "binary" in page(shown, "data.bin_source.html")
    assert "too large" in page(shown, "huge.py_source.html")
    # What was a file when the repository was listed may be something else when it is read.
    (repo / "a.py").unlink()
    (repo / "a.py").symlink_to(tmp_path / "secret.txt")
    assert "now a symbolic link" in page(shown, "a.py_source.html")
    (repo / "part/b.c").rename(tmp_path / "b.c")
    (repo / "part").rmdir()
    (repo / "part").symlink_to(tmp_path)
    assert SECRET not in page(shown, "part/b.c_source.html")


def test_names_and_texts_are_escaped(repo: Path) -> None:
    shown = preview(repo)
    texts = [page(shown, "index.html")]
    texts += [page(shown, shown._addresses.stem(path) + "_source.html") for path in shown._entries]
    shown_texts = [re.sub(' data-path="[^"]*"', "", text) for text in texts]  # that attribute is not shown
    assert not any("<script>alert" in text or "\u202e" in text for text in shown_texts)
    progress = {"step": "<script>alert", "count": "<script>alert"}
    assert b"<script>alert" not in shown.answer("index.html", progress).file.data


def test_settings_leave_files_out(repo: Path) -> None:
    shown = open_preview(str(repo), "book", Config(exclude=("part/",)))
    assert "part/" not in page(shown, "index.html")
    assert not shown.answer("part/b.c_source.html", {}).is_ready


def test_progress_is_shown(repo: Path) -> None:
    shown = preview(repo)
    said = shown.answer("index.html", {"step": "extract", "count": "5 of 10"}).file.data.decode()
    assert '<li data-step="learn" class="done">' in said
    assert '<li data-step="extract" aria-current="step">Read the files <span>5 of 10</span>' in said
    assert '<p class="failure" hidden>' in said
    assert '<p class="failure">' in shown.answer("index.html", {"step": "failed"}).file.data.decode()


def test_a_reader_turns_to_the_store_when_there_is_one(repo: Path) -> None:
    folder = make_store(str(repo))
    options = partial(site_settings, str(repo))
    without = StoreReader(str(repo), folder, options, {}, False)
    assert without.answer(Question("renew")).status == 500
    reader = StoreReader(str(repo), folder, options, {}, False, lambda: preview(repo))
    assert reader.answer(Question("renew")).version == READING
    found = reader.answer(Question("page", b"a.py_source.html"))
    assert found.status == 200 and b"data-reading" in gzip.decompress(found.data)
    asked = reader.answer(Question("ask", b"define", {"q": "plant"}))
    assert asked.status == 503 and "being read" in json.loads(asked.data)["error"]
    for about in ("head", "warm"):
        assert not reader.answer(Question(about)).fault
    store_update.build(str(repo), 1)
    assert reader.answer(Question("renew")).version not in ("", READING)
    found = reader.answer(Question("page", b"a.py_source.html"))
    assert b"data-reading" not in gzip.decompress(found.data) and b'Documentation' in gzip.decompress(found.data)


# --- a running server


def _get(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=60) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_a_server_shows_sources_before_the_store_exists(repo: Path) -> None:
    with lock.hold_lock(make_store(str(repo)), print), browser.served(repo) as address:
        assert _get(f"{address}/healthz")[0] == 503
        assert "data-reading" in _get(f"{address}/")[1]
        assert "plant" in _get(f"{address}/a.py_docs.html")[1]
        assert _get(f"{address}/api/define?q=plant")[0] == 503
        assert _get(f"{address}/..%2fsecret.txt_source.html")[0] == 503
        with urllib.request.urlopen(f"{address}/events", timeout=60) as events:
            lines = [events.readline() for _ in range(3)]
        assert b'data: {"version":"reading","paths":[]}\n' in lines


def test_a_build_that_dies_is_reported(repo: Path) -> None:
    with lock.hold_lock(make_store(str(repo)), print):
        server = program.started("serve", repo, "--no-browser", "--port", "0")
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[0]
            assert '<p class="failure" hidden>' in _get(address)[1]
            children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
            os.kill(min(map(int, children)), signal.SIGKILL)  # the first that was started
            wait_for(lambda: '<p class="failure">' in _get(address)[1])
            assert "plant" in _get(f"{address}a.py_source.html")[1]
        finally:
            server.send_signal(signal.SIGINT)
            assert "Traceback" not in server.communicate(timeout=60)[1]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.chromium() as found:
        yield found


def test_an_open_page_turns_into_the_complete_one(repo: Path, chromium: Browser) -> None:
    with ExitStack() as building:
        building.enter_context(lock.hold_lock(make_store(str(repo)), print))
        with browser.served(repo) as address, browser.reading(chromium, address) as reader:
            shown = reader.open("a.py_docs.html")
            expect(shown.locator(".reading")).to_contain_text("for the first time")
            expect(shown.locator(".reading li[aria-current]")).to_have_count(1)
            expect(shown.locator("#tree [aria-current]")).to_have_text("a.py")
            expect(shown.locator("#L2 i.s")).to_have_text("'a tree'")
            assert reader.violations() == [] and reader.too_wide() == 0
            building.close()
            expect(shown.locator(".views")).to_contain_text("Documentation", timeout=120_000)
            expect(shown.locator(".reading")).to_have_count(0)
            wait_for(lambda: _get(f"{address}/healthz")[0] == 200)
