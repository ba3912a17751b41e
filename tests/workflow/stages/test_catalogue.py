"""`concord workspace`: what a build writes, what it leaves alone, and what it says of bad input."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from concordance.base.errors import StoreBroken, UserError
from concordance.facts import catalogue
from concordance.query.workspace import workspace_file
from tests.support.program import concord, remove_store
from tests.support.workspaces import REPOSITORIES, Opened, build, make_workspace


def _bytes(workspace: Path) -> bytes:
    return Path(catalogue.path_of(str(workspace))).read_bytes()


def test_the_catalogue_is_the_same_in_any_order(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    build(workspace)
    whole = _bytes(workspace)
    shutil.rmtree(workspace / catalogue.FOLDER)
    for name in sorted(REPOSITORIES, reverse=True):
        build(workspace, name)
    assert _bytes(workspace) == whole
    file = tmp_path / "ledger" / "src" / "ledger" / "books.py"
    text = file.read_text()
    file.write_text(f"{text}\n\ndef more() -> None: ...\n")
    assert build(workspace).updated == ["ledger"]
    assert _bytes(workspace) != whole
    file.write_text(text)
    assert build(workspace).updated == ["ledger"]
    assert _bytes(workspace) == whole


def test_an_update_costs_no_other_repository(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    build(workspace)
    stores = {name: os.stat(tmp_path / name / ".concordance" / "index.db").st_mtime_ns for name in REPOSITORIES}
    before, written = _bytes(workspace), os.stat(catalogue.path_of(str(workspace))).st_mtime_ns
    assert build(workspace).updated == []
    assert os.stat(catalogue.path_of(str(workspace))).st_mtime_ns == written
    (tmp_path / "mint" / "mint" / "__init__.py").write_text("def strike() -> int:\n    return 1\n")
    done = build(workspace, "mint")
    assert (done.updated, done.unchanged) == (["mint"], [])
    for name, when in stores.items():
        assert (os.stat(tmp_path / name / ".concordance" / "index.db").st_mtime_ns == when) == (name != "mint")
    assert _bytes(workspace) != before
    opened = Opened(workspace)
    assert opened.ask("refs", "ledger.Book", "repository")[-1] == "shop"
    assert not [row for row in opened.ask("refs", "ledger.Book", "repository") if row == "mint"]
    opened.workspace.close()


def test_a_repository_that_vanished_loses_nothing(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    build(workspace)
    before = _bytes(workspace)
    (tmp_path / "ledger").rename(tmp_path / "away")
    said = concord("workspace", "build", "--workspace", workspace, code=1)
    assert "ledger: " in said.stderr
    assert "is not a folder: its last entry in the catalogue is kept" in said.stderr
    assert "5 unchanged" in said.stdout
    assert _bytes(workspace) == before
    assert "ledger: missing" in concord("workspace", "status", "--workspace", workspace, code=1).stdout
    opened = Opened(workspace)
    assert opened.ask("search", "Book", "repository")[0] == "ledger"
    answer = opened.questions.ask("define", "shop:shop/till.py:8:5")
    assert [row["repository"] for row in answer.rows] == ["mint"]
    lost = opened.questions.ask("define", "shop:shop/till.py:7:12")
    assert "ledger could not be asked: the repository ledger is missing" in lost.note
    with pytest.raises(UserError, match=r"the repository ledger is missing.* concord workspace remove ledger"):
        opened.questions.ask("refs", "ledger.Book")
    opened.workspace.close()
    (tmp_path / "away").rename(tmp_path / "ledger")
    assert not build(workspace).failed
    assert _bytes(workspace) == before


def test_a_damaged_catalogue_is_noticed_and_derived_again(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    build(workspace)
    path, whole = Path(catalogue.path_of(str(workspace))), _bytes(workspace)
    for damaged in (whole[:5000] + b"\xff" * 200 + whole[5200:], whole[:4096], b"", b"no database"):
        path.write_bytes(damaged)
        said = concord("define", "ledger.Book", "--workspace", workspace, code=1).stderr
        assert "concord workspace build" in said
        assert build(workspace, "mint").failed == {}
        assert _bytes(workspace) == whole
    path.unlink()
    assert "no catalogue yet" in concord("define", "ledger.Book", "--workspace", workspace, code=1).stderr
    build(workspace)
    assert _bytes(workspace) == whole


def test_a_damaged_store_is_built_again(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    build(workspace)
    store = tmp_path / "mint" / ".concordance" / "index.db"
    store.write_bytes(store.read_bytes()[:3000])
    opened = Opened(workspace)
    assert "mint could not be asked" in opened.questions.ask("define", "shop:shop/till.py:8:5").note
    with pytest.raises(StoreBroken, match=r"is damaged.* concord workspace build mint"):
        opened.workspace.open("mint")
    opened.workspace.close()
    assert not build(workspace).failed
    remove_store(tmp_path / "mint" / ".concordance")
    assert not build(workspace).failed


def test_repositories_come_and_go(tmp_path: Path) -> None:
    make_workspace(tmp_path)
    team = tmp_path / "other"
    concord("workspace", "init", team)
    assert "is a workspace already" in concord("workspace", "init", team, code=2).stderr
    concord("workspace", "add", tmp_path / "ledger", tmp_path / "shop", cwd=team)
    concord("workspace", "add", tmp_path / "mint", "--name", "coins", cwd=team)
    assert "../ledger" in (team / workspace_file.FILE).read_text()
    concord("workspace", "build", cwd=team)
    rows = json.loads(concord("workspace", "status", "--json", cwd=team).stdout)
    assert [row["repository"] for row in rows if "path" in row and "name" in row] == ["coins", "ledger", "shop"]
    assert [row["says"] for row in rows if row["problem"] == "version"] == [
        "wants ledger >=3 (pyproject.toml:5), but ledger has 2.1.0"
    ]
    assert "--repo" in concord("callees", "ledger:ledger.Book", cwd=team, code=2).stderr
    assert "REPOSITORY" not in concord("search", "", cwd=team, code=2).stderr
    found = json.loads(concord("define", "ledger.Book", "--json", cwd=team).stdout)
    assert found[0]["repository"] == "ledger"
    concord("workspace", "remove", "ledger", cwd=team)
    done = json.loads(concord("workspace", "build", "--json", cwd=team).stdout)
    assert done["removed"] == ["ledger"]
    assert "no repository" in concord("define", "ledger.Book", cwd=team, code=2).stderr


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    team = tmp_path / "team"
    assert "is not in a workspace" in concord("workspace", "build", cwd=tmp_path, code=2).stderr
    assert "is not a workspace" in concord("workspace", "build", "--workspace", tmp_path, code=2).stderr
    concord("workspace", "init", team)
    for place, says in ((tmp_path / "none", "is not a folder"), (team / workspace_file.FILE, "is not a folder")):
        assert says in concord("workspace", "add", place, cwd=team, code=2).stderr
    assert "is the workspace itself" in concord("workspace", "add", ".", cwd=team, code=2).stderr
    (tmp_path / "api").mkdir()
    (tmp_path / "é x").mkdir()
    assert "cannot be called api" in concord("workspace", "add", tmp_path / "api", cwd=team, code=2).stderr
    assert "cannot be called" in concord("workspace", "add", tmp_path / "é x", cwd=team, code=2).stderr
    (tmp_path / "two" / "api").mkdir(parents=True)
    concord("workspace", "add", tmp_path / "api", "--name", "one", cwd=team)
    said = concord("workspace", "add", tmp_path / "two" / "api", "--name", "one", cwd=team, code=2).stderr
    assert "one is the repository" in said
    assert "no repository nothing" in concord("workspace", "build", "nothing", cwd=team, code=2).stderr
    assert "CONCORDANCE_STORE is set" in concord(
        "workspace", "build", cwd=team, code=2, env={"CONCORDANCE_STORE": str(tmp_path / "store")}
    ).stderr  # fmt: skip
    (team / workspace_file.FILE).write_text("[repositories\n")
    assert "cannot be read" in concord("workspace", "status", cwd=team, code=2).stderr


def test_two_repositories_may_provide_one_package(tmp_path: Path) -> None:
    twice = {"a": {"setup.cfg": "[metadata]\nname = tool\n"}, "b": {"setup.cfg": "[metadata]\nname = tool\n"}}
    workspace = make_workspace(tmp_path, twice)
    assert not build(workspace).failed
    said = concord("workspace", "status", "--workspace", workspace).stdout
    assert "a: provides the package tool (pypi), and so does b" in said
