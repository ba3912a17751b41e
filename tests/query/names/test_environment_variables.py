"""Environment variables and build options can be looked up by name, although no file defines them."""

from __future__ import annotations

import pytest

from concordance import api
from concordance.query.names.resolver import UnknownName
from concordance.workflow import store_update

FILES = {
    "CMakeLists.txt": 'option(USE_FAST "the fast one" ON)\nif(USE_FAST)\nendif()\n',
    "run.py": 'import os\n\n\ndef start():\n    return os.environ["TOOL_HOME"], os.getenv("USE_FAST")\n',
    "README.md": "# Use\n\nSet `TOOL_HOME` and `USE_FAST`.\n",
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> api.Repository:
    root = tmp_path_factory.mktemp("variables")
    for path, text in FILES.items():
        (root / path).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        store_update.build(str(root))
    return api.Repository(str(root))


def test_define(asked: api.Repository) -> None:
    (row,) = asked.define("TOOL_HOME")
    assert (row["path"], row["line"], row["kind"]) == ("run.py", 5, "environment variable")
    assert [(row["path"], row["kind"]) for row in asked.define("USE_FAST")] == [("CMakeLists.txt", "variable")]
    with pytest.raises(UnknownName):
        asked.define("TOOL_AWAY")


def test_refs(asked: api.Repository) -> None:
    rows = asked.refs("TOOL_HOME")
    assert [(row["path"], row["line"], row["role"]) for row in rows] == [("run.py", 5, "read"), ("README.md", 3, "mention")]
    rows = asked.refs("USE_FAST", trust="candidate")
    assert [(row["path"], row["line"]) for row in rows] == [("run.py", 5), ("CMakeLists.txt", 2), ("README.md", 3)]


def test_pages_of_refs(asked: api.Repository) -> None:
    first = asked.ask("refs", "USE_FAST", limit=2, trust="candidate")
    rest = asked.ask("refs", "USE_FAST", limit=2, cursor=first.cursor, trust="candidate")
    assert [len(first.rows), len(rest.rows), first.total, rest.total, rest.cursor] == [2, 1, 3, 3, ""]


def test_keywords(asked: api.Repository) -> None:
    kinds = {row["keyword"]: row["kind"] for row in asked.keywords("run.py")}
    assert kinds["TOOL_HOME"] == "environment variable"
    assert kinds["USE_FAST"] == "build option"
