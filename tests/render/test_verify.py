"""`concord verify`: nothing is wrong right after a build, and afterwards exactly what has changed."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest

from concordance.render import claims, page_links
from concordance.render.addresses import claims_of
from concordance.render.output import manifest
from concordance.render.summary import Problem
from concordance.render.verify import CheckedBook, Checker, PageCheck
from tests.support import books, program


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sample repository and its book, which lies in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
        root = books.copied(tmp_path_factory.mktemp("made"))
        books.write(root, root / "site")
    return root, root / "site"


@pytest.fixture
def mine(made: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """A copy of both that a test may spoil."""
    root = tmp_path / "sample"
    shutil.copytree(made[0], root, symlinks=True)
    return root, root / "site"


def test_nothing_is_wrong_after_a_build(made: tuple[Path, Path]) -> None:
    assert books.problems(*made) == []


def test_files_with_other_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    ends = {"cr": "\r", "crlf": "\r\n", "lf": "\n", "none": ""}
    files = {f"{name}.py": f"def one():{end or chr(10)}    pass{end}" for name, end in ends.items()}
    program.write(tmp_path / "repo", {path: text.encode() for path, text in files.items()})
    books.write(tmp_path / "repo", tmp_path / "book")
    assert books.problems(tmp_path / "repo", tmp_path / "book") == []


def test_links_and_anchors_are_those_of_a_parser(made: tuple[Path, Path]) -> None:
    for page, text in books.pages(made[1]).items():
        scanned = page_links.scan(text)
        assert Counter(unquote(page_links.unescape_target(link)) for _, link in scanned.links) == books.links(text), page
        assert Counter(scanned.anchors) == Counter(books.anchors(text)), page
        assert not scanned.undefined, page


HARD = [
    "- a\n\n  ```\n  [x](y)\n  ```\n\n  [z](w)\n",
    "> ```\n> [x](y)\n[z](w)\n",
    "~~~\n```\n[x](y)\n~~~\n[z](w)\n",
    "````\n```\n[x](y)\n```\n````\n[z](w)\n",
    "```a`b\n[x](y)\n",
    "a\n\n    [x](y)\n\n[z](w)\n",
    "- a\n\n      [x](y)\n\n  [z](w)\n",
    "- a\n    [x](y)\n",
    "`` [x](y) ` `` [z](w)\n",
    "`[x](y)\ngoes on` [z](w)\n",
    "a ` b [x](y)\n",
    "\\`[x](y)\\`\n",
    "\\[x](y) [z\\]](w)\n",
    "[a [b](c) d](e)\n",
    "[`]`](x)\n",
    "[a](<b c>) [d](e 'title') [f](g(h)i)\n",
    "[a]( b )\n[c][d]\n\n[d]: e\n",
    "[A  b][] and [a B]\n\n[a b]: c\n",
    "![a](b) [![c](d)](e)\n",
    "| a | b |\n| --- | --- |\n| `x \\| y` | [z](w) |\n| ` | [z](v) ` |\n",
    "# [a](b) `c` *d*\n# [a](b) `c` *d*\n## x_y &amp; z\n",
    '<a id="def-x"></a>[a](b) `<a id="no">`\n',
    "1. ```\n   [x](y)\n   ```\n2. [z](w)\n",
    "> - a\n>\n>   ```\n>   [x](y)\n>   ```\n> [z](w)\n",
    "[a\nb](c)\n",
    "text\n[a]: b\n\n[a]\n",
    "- x\n  - y\n\n    ```\n    [q](r)\n    ```\n  - [z](w)\n",
    "***\n[x](y)\n\n---\n",
    "[x]() [y](#z)\n",
]


@pytest.mark.parametrize("text", HARD)
def test_hard_cases_are_read_as_a_parser_does(text: str) -> None:
    scanned = page_links.scan(text)
    assert Counter(unquote(page_links.unescape_target(link)) for _, link in scanned.links) == books.links(text)
    assert Counter(scanned.anchors) == Counter(books.anchors(text))


# --- edits


def _claimed(out: Path) -> list[tuple[str, claims.Claimed]]:
    rows = [row for row in manifest.read(str(out)).pages.values() if row.claims]
    return [(row.page, one) for row in rows for one, _ in claims.decode_claims((out / claims_of(row.page)).read_bytes())]


def _cited(text: bytes, first: int, last: int) -> object:
    """What a claim rests on, by what `docs` promise: lines without the white space around them, or all bytes."""
    if not first:
        return text
    lines = text.decode().split("\n")
    if last > len(lines) - (not lines[-1]):
        return None
    said = [line.rstrip() for line in lines[first - 1 : last]]
    return said[0].strip() if first == last else said


def _edited(lines: list[str], chance: random.Random) -> list[str]:
    at = chance.randrange(len(lines))
    return [
        lambda: [*lines[:at], lines[at] + " x", *lines[at + 1 :]],
        lambda: [*lines[:at], *lines[at + 1 :]],
        lambda: [*lines[:at], "x", *lines[at:]],
        lambda: [*lines[:at], lines[at] + "  ", *lines[at + 1 :]],
        lambda: [*lines[:at], "  " + lines[at], *lines[at + 1 :]],
        lambda: [*lines[:at], lines[chance.randrange(len(lines))], *lines[at + 1 :]],
    ][chance.randrange(6)]()


def test_exactly_the_claims_whose_lines_changed_are_reported(made: tuple[Path, Path]) -> None:
    root, out = made
    files = {p: (root / p).read_bytes() for p in books.sources(root, out) if not p.endswith(".png")}
    written = manifest.read(str(out)).pages
    claimed = _claimed(out)
    ground = CheckedBook(str(root.resolve()), str(out.resolve()), written, frozenset(manifest.files(str(out))))
    for seed in range(60):
        chance = random.Random(seed)
        now = dict(files)
        for _ in range(10):
            path = chance.choice([p for p in sorted(files) if now[p]])
            now[path] = "\n".join(_edited(now[path].decode().split("\n"), chance)).encode()
        try:
            for path in files:
                if now[path] != files[path]:
                    (root / path).write_bytes(now[path])
            checker, found = Checker(ground), PageCheck()
            for page in written:
                checker.check(page, found)
        finally:
            for path in files:
                if now[path] != files[path]:
                    (root / path).write_bytes(files[path])
        expected = Counter(
            (page, one.line)
            for page, one in claimed
            if one.path in files
            and _cited(files[one.path], one.first, one.last) != _cited(now[one.path], one.first, one.last)
        )
        told = [problem for problem in found.problems if not problem.problem.startswith("the link ")]
        assert Counter((problem.page, problem.line) for problem in told) == expected, f"seed {seed}"


def test_lines_that_moved_are_found_again(mine: tuple[Path, Path]) -> None:
    root, out = mine
    path = root / "abacus/ledger.py"
    path.write_text("# one\n# two\n" + path.read_text())
    found = [p for p in books.problems(root, out) if p.problem.startswith("abacus/ledger.py, line")]
    assert found
    for problem in found:
        cited = int(problem.problem.split("line")[1].lstrip("s ").split("–")[0].split(":")[0])
        assert problem.problem.endswith(f"; now at line {cited + 2}"), problem


# --- each kind of problem


def _only(found: list[Problem], page: str) -> str:
    told = [problem.problem for problem in found if problem.page == page and not problem.problem.startswith("the link")]
    assert len(told) == 1, found
    return told[0]


def test_pages(mine: tuple[Path, Path]) -> None:
    root, out = mine
    (out / "sub.md").unlink()
    with (out / "doc.md").open("a") as file:
        file.write("\nMore. [gone](nowhere.md) [none](./index.md#no-such-section) [x][y]\n")
    (out / claims_of("abacus/ledger.py_docs.md")).unlink()
    claimed = out / claims_of("abacus/rounding.py_docs.md")
    claimed.write_bytes(claimed.read_bytes() + b"\n")
    shutil.copy(out / "index.md", out / "stray_docs.md")
    (out / "guide.md").write_text("# A guide of the project's own\n")
    found = books.problems(root, out)
    assert _only(found, "sub.md") == "the page is missing"
    assert _only(found, "doc.md").startswith("the page was changed by hand")
    assert _only(found, "abacus/ledger.py_docs.md").startswith("its claims are missing")
    assert _only(found, "abacus/rounding.py_docs.md").startswith("its claims were changed")
    assert "manifest does not list" in _only(found, "stray_docs.md")
    broken = [p for p in found if p.page == "doc.md" and p.problem.startswith("the link")]
    last = len((out / "doc.md").read_text().split("\n")) - 1
    assert [p.claim for p in broken if p.line == last] == ["More. gone none x"] * 3
    assert not [p for p in found if p.page == "guide.md"]


def test_files(mine: tuple[Path, Path]) -> None:
    root, out = mine
    (root / "abacus/ledger.py").unlink()
    (root / "new.py").write_text("x = 1\n")
    (root / "notes.txt").write_text("")
    found = books.problems(root, out)
    assert _only(found, "new.py_docs.md") == "new.py has no page"
    gone = [p.problem for p in found if p.page == "abacus/ledger.py_docs.md" and not p.problem.startswith("the link")]
    assert set(gone) == {"abacus/ledger.py no longer exists"}
    assert any(p.problem == "notes.txt has changed" for p in found if p.page == "notes.txt_docs.md")
    assert any(p.problem.startswith("the link ../../abacus/ledger.py") for p in found)


def test_claims_that_are_nonsense(mine: tuple[Path, Path]) -> None:
    root, out = mine
    page = "abacus/ledger.py_docs.md"
    for text in ("[]", "{", '{"claims": [[1, 2]]}', '{"paths": [1], "claims": []}', "[" * 100_000):
        (out / claims_of(page)).write_text(text)
        assert any("cannot be read" in p.problem for p in books.problems(root, out) if p.page == page)


def test_the_command(repo: Path) -> None:
    out = repo / "docs"
    told = program.concord("verify", "--repo", repo, "--out", out, code=2).stderr
    assert "contains no book" in told and "concord build" in told
    program.concord("build", repo, "--out", out)
    said = program.concord("verify", "--repo", repo, "--out", out).stdout
    assert said.startswith("0 problems: ") and said.rstrip().endswith("links checked")
    assert json.loads(program.concord("verify", "--out", "docs", "--json", cwd=repo).stdout) == []
    (repo / "a.py").write_text("import os\n")
    rows = json.loads(program.concord("verify", "--out", "docs", "--json", cwd=repo, code=1).stdout)
    assert rows and all(list(row) == ["page", "line", "claim", "problem"] for row in rows)
    assert program.concord("verify", "--out", "docs", cwd=repo, code=1).stdout.rstrip().split("\n")[-1].startswith(f"{len(rows)} problems")


def test_it_needs_no_store(mine: tuple[Path, Path]) -> None:
    root, out = mine
    shutil.rmtree(root / ".concordance")
    assert books.problems(root, out) == []
    assert not os.path.exists(root / ".concordance")
