"""`concord check`: whether a book is up to date, and why not; the book itself is not touched."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_yaml

from concordance.base.config import Book
from concordance.render.summary import BookDifference
from concordance.workflow import builds
from tests.support import books, program
from tests.support.program import concord, git

ROOT = Path(__file__).parents[2]


def _times(out: Path) -> dict[str, int]:
    """Return when each file and folder of a book was last changed."""
    found = {}
    for folder, _, names in os.walk(out):
        for name in (".", *names):
            found[os.path.join(folder, name)] = os.lstat(os.path.join(folder, name)).st_mtime_ns
    return found


def _checked(repo: Path, wishes: Book | None = None, folder: str = "docs") -> BookDifference:
    """Return what `check` finds, after checking that it changes nothing."""
    out = repo / folder
    before, times = books.contents(out), _times(out)
    found = builds.check(str(repo), str(out), wishes, 1)
    assert (books.contents(out), _times(out)) == (before, times)
    return found


def _stale(repo: Path) -> dict[str, tuple[str, str]]:
    """Return what `check` says about each page: what a build would do, and why."""
    return {page: (change, why) for page, change, why in _checked(repo).stale}


@pytest.fixture
def written(repo: Path) -> Path:
    """A repository with its book in `docs`, committed with it."""
    books.write(repo, repo / "docs")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "with its book")
    return repo


def test_a_book_that_is_current(written: Path) -> None:
    found = _checked(written)
    assert (found.is_stale, found.missing, found.stale, found.sources) == (False, False, [], {})
    assert found.pages == len(books.pages(written / "docs"))
    done = concord("check", "--out", "docs", cwd=written)
    assert re.fullmatch(r"docs is current: \d+ pages\n", done.stdout)
    assert done.stderr == ""


def test_a_book_that_is_not(written: Path) -> None:
    program.write(written, {"a.py": "def other(): pass\n", "lib/new.py": "def fresh(): pass\n"})
    (written / "plain.cpp").unlink()
    stale = _stale(written)
    assert stale["a.py_docs.md"] == ("changes", "a.py changed")
    assert stale["lib/new.py_docs.md"] == ("appears", "lib/new.py is new")
    assert stale["lib/new.py_kw.md"] == ("appears", "lib/new.py is new")
    assert stale["plain.cpp_docs.md"] == ("vanishes", "plain.cpp no longer exists")
    assert stale["index.md"] == ("changes", "changes elsewhere: a.py, lib/new.py, plain.cpp")
    assert _checked(written).sources == {"a.py": "changed", "lib/new.py": "new", "plain.cpp": "gone"}
    done = concord("check", "--out", "docs", cwd=written, code=1)
    assert "  changes   a.py_docs.md  (a.py changed)\n" in done.stdout
    assert done.stdout.endswith("To update it: concord build --out docs\n")
    concord("build", "--out", "docs", cwd=written)
    assert not _checked(written).is_stale


def test_what_is_said_is_what_a_build_does(written: Path) -> None:
    program.write(written, {"lib/b.py": "from a import Tree\n\n\ndef sow() -> Tree:\n    return Tree()\n"})
    before, stale = books.contents(written / "docs"), _stale(written)
    books.write(written, written / "docs")
    after = books.contents(written / "docs")
    pages = {
        path for path in before.keys() | after.keys() if path.endswith(".md") and before.get(path) != after.get(path)
    }
    assert stale.keys() == pages


def test_no_book(repo: Path) -> None:
    done = concord("check", "--out", "docs", cwd=repo, code=1)
    assert done.stdout == "docs contains no book. To write it: concord build --out docs\n"
    assert not (repo / "docs").exists()
    assert not (repo / ".concordance").exists()
    assert json.loads(concord("check", "--json", cwd=repo, code=1).stdout)["missing"]


def test_no_repository(tmp_path: Path) -> None:
    assert "does not exist" in concord("check", "--repo", tmp_path / "none", code=2).stderr


def test_json(written: Path) -> None:
    found = json.loads(concord("check", "--out", "docs", "--json", cwd=written).stdout)
    assert found == {
        "current": True,
        "failed": [],
        "missing": False,
        "out": "docs",
        "pages": found["pages"],
        "sources": {},
        "stale": [],
    }
    (written / "a.py").write_text("def other(): pass\n")
    found = json.loads(concord("check", "--out", "docs", "--json", cwd=written, code=1).stdout)
    assert found["sources"] == {"a.py": "changed"}
    assert {"page": "a.py_docs.md", "change": "changes", "why": "a.py changed"} in found["stale"]


@pytest.mark.parametrize("store", [True, False], ids=["with its store", "without"])
def test_pages_that_were_edited(written: Path, store: bool) -> None:
    """By one letter: neither length nor manifest shows it."""
    page = written / "docs/a.py_docs.md"
    page.write_text(page.read_text().replace("Tree", "Free", 1))
    if not store:
        shutil.rmtree(written / ".concordance")
    assert _stale(written) == {"a.py_docs.md": ("changes", "the page itself was edited")}


def test_pages_that_are_missing_or_too_many(written: Path) -> None:
    shutil.copy(written / "docs/a.py_docs.md", written / "docs/stray_docs.md")
    (written / "docs/lib/.claims/b.py_docs.md.json").unlink()
    (written / "docs/README.md_docs.md").unlink()
    stale = _stale(written)
    assert stale.keys() == {"stray_docs.md", "lib/b.py_docs.md", "README.md_docs.md"}
    assert stale["stray_docs.md"][0] == "vanishes"
    assert stale["README.md_docs.md"] == ("appears", "it is listed in the manifest, but missing")


def test_a_manifest_that_is_not_as_it_was(written: Path) -> None:
    manifest = written / "docs/manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": "', '"version": "0.0.'))
    assert _stale(written)["manifest.json"][0] == "changes"


def test_other_wishes(written: Path) -> None:
    found = _checked(written, Book(source=False))
    assert found.stale[0].why == "no file differs: written by another installation or with other options"
    assert not _checked(written).is_stale


def test_a_book_that_git_put_back(written: Path) -> None:
    """Pages and manifest are those of an earlier moment, so what is recorded beside the store does not apply to them.
    """
    program.write(written, {"a.py": "def other(): pass\n", "new.py": "def fresh(): pass\n"})
    books.write(written, written / "docs")
    new = books.contents(written / "docs")
    git(written, "checkout", "-q", "--", "docs")
    stale = _stale(written)
    assert stale["a.py_docs.md"] == ("changes", "a.py changed")
    assert "docs/new.py_docs.md_docs.md" not in stale  # the page that git left is no file of the repository
    books.write(written, written / "docs")
    assert books.contents(written / "docs") == new


def _clone(repo: Path, to: Path) -> Path:
    git(repo.parent, "clone", "-q", str(repo), str(to))
    return to


def test_a_committed_book_passes_in_a_fresh_clone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a store, with other file times, in another folder, with another history and another number of processes.
    """
    shutil.rmtree(folder)
    repo = books.copied(folder)
    git(repo, "init", "-q", "-b", "main")
    (repo / "link.py").symlink_to("abacus/rounding.py")
    (repo / "beside").symlink_to("../beside")
    (repo.parent / "beside").write_text("only here")
    (repo / "README.md").unlink()  # so that there is no name but the folder's
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "first")
    books.write(repo, repo / "docs/book", jobs=2)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "with its book")
    git(repo, "commit", "-q", "-m", "empty", "--allow-empty")
    git(repo, "checkout", "-q", "-b", "other")
    clone = _clone(repo, tmp_path / "else where" / "copy")
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "another cache"))
    assert _checked(clone, folder="docs/book").stale == []
    assert git(clone, "status", "--porcelain") == ""


def test_pages_that_git_ignores(repo: Path, tmp_path: Path) -> None:
    program.write(repo, {".gitignore": "build/\n", "src/build/made.py": "def made(): pass\n"})
    git(repo, "add", "-A", "-f")
    books.write(repo, repo / "docs")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "with its book")
    stale = _stale(_clone(repo, tmp_path / "clone"))
    assert stale["src/build/made.py_docs.md"] == (
        "appears",
        "git ignores it, so it was not committed: use git add --force",
    )


def test_the_hook_for_others_runs(written: Path) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    entry = re.search(r"^  entry: concord (.*)$", text, re.M)
    assert entry is not None
    concord(*entry[1].split(), "--out", "docs", cwd=written)
    assert re.findall(r"- id: (\S+)", text) == re.findall(r"- id: (\S+)", (ROOT / "docs/ci.md").read_text())


def test_yaml_of_the_documentation_is_valid() -> None:
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_yaml.language()))
    shown = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs/ci.md").read_text(), re.M | re.S)
    assert len(shown) == 3
    for text in (*shown, (ROOT / ".pre-commit-hooks.yaml").read_text()):
        assert not parser.parse(text.encode()).root_node.has_error, text
    assert parser.parse(b"a: [b\nc: d").root_node.has_error  # it can tell


def test_the_version_of_the_documentation_is_ours() -> None:
    from concordance.base.version import VERSION

    text = (ROOT / "docs/ci.md").read_text()
    assert f"--branch v{VERSION} " in text
    assert f"rev: v{VERSION}" in text
