"""The name of a repository: from its manifest, its remote or its README, in the README's spelling."""

from __future__ import annotations

from pathlib import Path

import pytest

import concordance
from concordance.collect.history import remote_name
from concordance.query.folders.project_name import name_of

MANIFESTS = {
    "pyproject.toml": '[project]\nname = "tool"\n[tool.x]\nname = "other"\n',
    "setup.cfg": "[flake8]\nname = other\n[metadata]\nname = tool\n",
    "setup.py": "from setuptools import setup\nsetup(\n    name='tool',\n)\n",
    "package.json": '{"name": "tool", "author": {"name": "other"}}\n',
    "Cargo.toml": '[package]\nname = "tool"\n[[bin]]\nname = "other"\n',
    "go.mod": "module github.com/other/tool/v2\n\ngo 1.20\n",
    "pom.xml": "<project><parent><artifactId>other</artifactId></parent><artifactId>other</artifactId>\n"
    "<name>tool</name></project>\n",
    "composer.json": '{"name": "other/tool"}\n',
    "DESCRIPTION": "Type: Package\nPackage: tool\n",
    "tool.cabal": "Cabal-Version: 2.0\nName:          tool\n",
    "tool-1.rockspec": 'package = "tool"\n',
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.1)\nproject(tool C CXX)\n",
}


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def name(home: Path, files: dict[str, str], remote: str = "") -> str:
    home = home / "folder"
    for path, text in files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
    if remote:
        (home / ".git").mkdir()
        (home / ".git/config").write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {remote}\n')
        assert remote_name(str(home))
    return name_of(concordance.open(str(home))._index)


@pytest.mark.parametrize("path", MANIFESTS)
def test_a_manifest_names_the_repository(tmp_path: Path, path: str) -> None:
    assert name(tmp_path, {path: MANIFESTS[path], "README.md": "# What is it?\n\nSomething else.\n"}) == "tool"


def test_a_parent_of_modules_is_named_as_they_are(tmp_path: Path) -> None:
    manifest = "<project><artifactId>tool-parent</artifactId><name>Tool Parent</name></project>\n"
    assert name(tmp_path, {"pom.xml": manifest}) == "Tool"


def test_a_gradle_parent_is_named_as_its_modules_are(tmp_path: Path) -> None:
    assert name(tmp_path, {"settings.gradle.kts": 'rootProject.name = "tool-parent"\n'}) == "tool"


def test_the_program_of_a_crate_is_what_its_readme_calls_it(tmp_path: Path) -> None:
    manifest = '[package]\nname = "fd-find"\n\n[[bin]]\nname = "fd"\npath = "src/main.rs"\n'
    assert name(tmp_path, {"Cargo.toml": manifest, "README.md": "# fd\n\n`fd` finds files; install fd-find.\n"}) == "fd"


def test_the_readme_decides_how_a_name_is_written(tmp_path: Path) -> None:
    files = {"pyproject.toml": '[project]\nname = "py-tool"\n', "README.md": "# Home\n\n`py-tool`: PyTool is good.\n"}
    assert name(tmp_path, files) == "PyTool"


def test_the_readme_decides_between_manifest_and_remote(tmp_path: Path) -> None:
    files = {"CMakeLists.txt": "project(Torch CXX)\n", "README.md": "![x](y)\n\nPyTorch has torch.\n"}
    assert name(tmp_path, files, "git@example.org:them/pytorch.git") == "PyTorch"


def test_the_title_of_the_readme_comes_before_a_remote_that_it_does_not_mention(tmp_path: Path) -> None:
    files = {"README.md": "Kilo\n====\n\nA small editor.\n", "kilo.c": "int main() { return 0; }\n"}
    assert name(tmp_path, files, "git@example.org:them/fork.git") == "Kilo"


def test_the_subject_of_the_readme_contains_the_name_of_the_package(tmp_path: Path) -> None:
    files = {"CMakeLists.txt": "project(Torch CXX)\n", "README.md": "PyTorch is a package with torch.\n"}
    assert name(tmp_path, files) == "PyTorch"


def test_the_private_package_of_a_monorepo_names_nothing(tmp_path: Path) -> None:
    files = {"package.json": '{"name": "x-monorepo", "private": true}\n', "README.md": "Text.\n"}
    assert name(tmp_path, files, "https://example.org/them/zest/") == "zest"


def test_the_crates_of_a_workspace_are_named_after_the_main_one(tmp_path: Path) -> None:
    assert name(tmp_path, {"Cargo.toml": '[workspace]\nmembers = ["tok-io", "tok", "x/tok_util"]\n'}) == "tok"


@pytest.mark.parametrize(
    ("title", "expected"),
    [("Tool", "Tool"), ("What is Redis?", "repository"), ("Table of contents", "repository"), ("", "repository")],
)
def test_a_readme_without_other_evidence(tmp_path: Path, title: str, expected: str) -> None:
    assert name(tmp_path, {"README.md": f"# {title}\n\nIt does something.\n"}) == expected


def test_the_folder_with_most_source_is_the_last_resort(tmp_path: Path) -> None:
    assert name(tmp_path, {"main/a.py": "x = 1\n", "main/b.py": "y = 1\n", "etc/c.py": "z = 1\n"}) == "main"


def test_broken_manifests_are_passed_over(tmp_path: Path) -> None:
    files = {"pyproject.toml": "[project\n", "package.json": "[1, 2]\n", "go.mod": "module tool\n"}
    assert name(tmp_path, files) == "tool"
