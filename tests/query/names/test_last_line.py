"""A last line without a line end is a line like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

import concordance
from tests.support.program import write

FILES = {
    "a.py": "def f():\n    pass\nf()",
    "only.py": "import a",
    "empty.py": "",
    "bound.cpp": '#include <pybind11/pybind11.h>\nint my_sum(int x) { return x; }\nPYBIND11_MODULE(q, m) {\n'
    '  m.def("other", &my_sum); } void g() { my_sum(1); }',
}  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> concordance.api.Repository:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    write(tmp_path / "repo", FILES)
    return concordance.open(str(tmp_path / "repo"))


def test_what_is_on_the_last_line_is_found(repository: concordance.api.Repository) -> None:
    assert [(row["path"], row["line"], row["text"]) for row in repository.refs("f")] == [("a.py", 3, "f()")]
    assert [row["line"] for row in repository.define("a.py:3:1")] == [1]
    assert [row["path"] for row in repository.define("only.py:1:8")] == ["a.py"]


def test_a_bridge_that_is_stated_on_the_last_line(repository: concordance.api.Repository) -> None:
    rows = repository._index.facts.analysis_result("bridges")
    assert b"q.other" in rows
    assert [row["line"] for row in repository.refs("my_sum") if row["path"] == "bound.cpp"] == [4, 4]
