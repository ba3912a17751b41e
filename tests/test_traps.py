"""Nothing of a repository runs, whatever it holds and however the program is started in it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import program

from concordance import startup


def test_the_current_folder_is_no_place_to_import_from(tmp_path: Path, monkeypatch) -> None:
    inside, outside = tmp_path / "repo", tmp_path / "other"
    monkeypatch.chdir(tmp_path)
    path = ["", "relative", str(inside), str(inside / "src"), str(outside), os.path.dirname(os.__file__)]
    home = str(program.TREE)
    kept = startup.import_path(path, f":{outside}", str(inside))
    assert kept == [os.path.dirname(os.__file__), str(outside), home], "those of PYTHONPATH come last"
    assert startup.import_path([str(tmp_path), home], ":/elsewhere", "") == [home], "an empty entry is the current folder"


def test_an_installation_inside_a_repository_is_kept(tmp_path: Path, monkeypatch) -> None:
    packages = str(tmp_path / ".venv" / "lib" / "python" / "site-packages")
    monkeypatch.setattr(startup.site, "getsitepackages", lambda: [packages])
    assert startup.import_path([packages, str(tmp_path)], "", str(tmp_path)) == [packages, str(program.TREE)]


def test_the_current_folder_is_no_place_for_programs(tmp_path: Path) -> None:
    joined = os.pathsep.join(["", ".", "bin", str(tmp_path / "bin"), "/usr/bin", str(tmp_path), ""])
    assert startup.search_path(joined, str(tmp_path)) == "/usr/bin"
    assert startup.search_path(str(tmp_path), "/") == str(tmp_path), "all is inside the root of the file system"


def test_a_child_has_no_relative_entry(monkeypatch) -> None:
    monkeypatch.setattr(sys, "path", ["", "src", "/lib"])
    assert startup.child_path() == ["/lib", str(program.TREE)]


def test_no_module_of_the_repository_is_imported(repo: Path) -> None:
    fired = repo.parent / "fired"
    for number in range(20):  # more than are read without a fork server
        (repo / f"m{number}.py").write_text(f"def f{number}(): pass\n")
    (repo / "selectors.py").write_text(f"open({str(fired)!r}, 'w')\n")
    done = program.concord("build", ".", cwd=repo)
    assert not fired.exists()
    assert done.stderr == ""
