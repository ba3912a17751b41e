"""Search: names first, words and their parts, phrases, typing errors, folders and kinds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import concordance
from concordance.errors import UserError

FILES = {
    "app/server.py": 'class HttpServer:\n    """Answers requests on a socket."""\n\n    def accept_connection(self):\n        """Waits for the next client and opens a channel."""\n',
    "app/cache.py": "def evict_oldest(entries):\n    # throw away the least recently used entry\n    entries.pop(0)\n",
    "tests/test_server.py": "from app.server import HttpServer\n\ndef test_accept_connection():\n    HttpServer().accept_connection()\n",
    "docs/guide.md": "# The guide\n\nHow to answer requests on a socket.\n",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> concordance.api.Repository:  # type: ignore[name-defined]
    root = tmp_path_factory.mktemp("search")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with concordance.open(root) as found:
        yield found


def paths(rows: list[dict[str, object]]) -> list[object]:
    return [row["path"] for row in rows]


def test_an_exact_name_comes_first(repository) -> None:  # type: ignore[no-untyped-def]
    first = repository.search("HttpServer")[0]
    assert (first["path"], first["line"], first["symbol"], first["kind"]) == ("app/server.py", 1, "HttpServer", "class")


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("HttpSer", "app/server.py"),  # a beginning
        ("http server", "app/server.py"),  # parts of a name
        ("httpserver", "app/server.py"),
        ("HtpServer", "app/server.py"),  # a typing error
        ("least recently used", "app/cache.py"),
        ('"opens a channel"', "app/server.py"),
        ("accepting connections of clients", "app/server.py"),  # other endings; source before tests
        ("server.accept_connection", "app/server.py"),
        ("cache.py", "app/cache.py"),
    ],
)
def test_words_find_files(repository, question: str, path: str) -> None:  # type: ignore[no-untyped-def]
    assert paths(repository.search(question))[0] == path


def test_tests_come_first_when_asked_for(repository) -> None:  # type: ignore[no-untyped-def]
    assert paths(repository.search("test accept connection"))[0] == "tests/test_server.py"
    assert set(paths(repository.search("server", **{"in": "tests"}))) == {"tests/test_server.py"}


def test_a_phrase_must_stand_together(repository) -> None:  # type: ignore[no-untyped-def]
    assert repository.search('"channel opens"') == []


def test_a_kind_is_kept_to(repository) -> None:  # type: ignore[no-untyped-def]
    rows = repository.search("accept", kind="method")
    assert rows and {row["kind"] for row in rows} == {"method"}


@pytest.mark.parametrize("question", ['"', "a AND", "x:", "*", "\\", "((", "ZZZQQQ", "path:app", "-", "日本語"])
def test_hostile_questions_are_only_words(repository, question: str) -> None:  # type: ignore[no-untyped-def]
    try:
        assert isinstance(repository.search(question), list)
    except UserError as error:
        assert "nothing to search" in str(error)


def test_nothing_to_search_for_is_said(repository) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError, match="nothing to search"):
        repository.search("  ")
    with pytest.raises(UserError, match="no folder"):
        repository.search("server", **{"in": "nowhere"})


def test_an_edit_is_found_and_a_lost_index_comes_back(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def first(): ...\n")
    with concordance.open(tmp_path) as found:
        assert paths(found.search("first")) == ["a.py"]
    (tmp_path / "b.py").write_text("def turquoise_elephant(): ...\n")
    (tmp_path / "a.py").unlink()
    with concordance.open(tmp_path) as found:
        assert paths(found.search("turquoise elephant")) == ["b.py"]
        assert found.search("first") == []
    shutil.rmtree(tmp_path / ".concordance" / "text")
    with concordance.open(tmp_path) as found:
        assert paths(found.search("turquoise elephant")) == ["b.py"]
