"""`concord verify` finds nothing right after a build, and afterwards exactly what has changed."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest

from concordance.base.blocks import Page
from concordance.render import claims, page_links
from concordance.render.addresses import Addresses, claims_of
from concordance.render.formats import RenderedPage, markdown
from concordance.render.output import manifest
from concordance.render.summary import Fault, Problem
from concordance.workflow import builds
from tests.support import books, falsify, program


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sample repository with its book inside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
        root = books.copied(tmp_path_factory.mktemp("made"))
        books.write(root, root / "site")
    return root, root / "site"


@pytest.fixture
def mine(made: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """A copy of both that a test may change."""
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
        assert Counter(unquote(page_links.unescape_target(link)) for _, link in scanned.links) == books.links(text), (
            page
        )
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


def _edited(lines: list[str], chance: random.Random) -> list[str]:
    at = chance.randrange(len(lines))
    return [
        lambda: [*lines[:at], lines[at] + " x", *lines[at + 1 :]],
        lambda: [*lines[:at], *lines[at + 1 :]],
        lambda: [*lines[:at], "x", *lines[at:]],
        lambda: [*lines[:at], "  " + lines[at], *lines[at + 1 :]],
        lambda: [*lines[:at], lines[chance.randrange(len(lines))], *lines[at + 1 :]],
    ][chance.randrange(5)]()


@pytest.mark.parametrize("seed", range(3))
def test_exactly_the_pages_that_became_false_are_named(mine: tuple[Path, Path], seed: int) -> None:
    root, out = mine
    chance = random.Random(seed)
    for path in chance.sample(sorted(p for p in books.sources(root, out) if not p.endswith((".png", ".typed"))), 4):
        text = (root / path).read_text()
        (root / path).write_text("\n".join(_edited(text.split("\n"), chance)))
    before, found = books.contents(out), books.problems(root, out)
    books.write(root, out)
    after = books.contents(out)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} - {"manifest.json"}
    pages = {row.page for row in manifest.read(str(out)).pages.values()} | {problem.page for problem in found}
    assert {problem.page for problem in found} == {page for page in pages if {page, claims_of(page)} & changed}
    assert {problem.fault for problem in found} == {Fault.BOOK}
    assert books.problems(root, out) == []


def test_the_right_text_is_given_for_each_line(mine: tuple[Path, Path]) -> None:
    root, out = mine
    page = out / "abacus/ledger.py_docs.md"
    lines = page.read_text().split("\n")
    changed = [line.replace("1,799 bytes", "1,798 bytes").replace("L63](", "L64](") for line in lines]
    page.write_text("\n".join(changed))
    found = books.problems(root, out)
    places = [number for number, (a, b) in enumerate(zip(lines, changed, strict=True), 1) if a != b]
    assert [problem.line for problem in found] == places and len(places) == 2
    for problem in found:
        assert f"“{lines[problem.line - 1]}” should be here" in problem.problem


# --- each kind of problem


def _only(found: list[Problem], page: str) -> str:
    reported = [problem for problem in found if problem.page == page]
    assert len(reported) == 1 and reported[0].fault is Fault.BOOK, found
    return reported[0].problem


def test_pages(mine: tuple[Path, Path]) -> None:
    root, out = mine
    (out / "sub.md").unlink()
    with (out / "doc.md").open("a") as file:
        file.write("\nMore. [gone](nowhere.md) [none](index.md#no-such-section) [x][y]\n")
    (out / claims_of("abacus/ledger.py_docs.md")).unlink()
    claimed = out / claims_of("abacus/rounding.py_docs.md")
    claimed.write_bytes(claimed.read_bytes() + b"\n")
    shutil.copy(out / "index.md", out / "stray_docs.md")
    found = books.problems(root, out)
    assert _only(found, "sub.md") == "the page is missing"
    assert _only(found, "doc.md").endswith("should not be there; the page was changed by hand since it was written")
    assert _only(found, "abacus/ledger.py_docs.md").startswith("its claims are missing")
    assert _only(found, "abacus/rounding.py_docs.md").startswith("its claims were changed")
    assert "manifest does not list" in _only(found, "stray_docs.md")
    assert len(found) == 5


def test_files(mine: tuple[Path, Path]) -> None:
    root, out = mine
    (root / "abacus/ledger.py").unlink()
    (root / "new.py").write_text("x = 1\n")
    (root / "notes.txt").write_text("")
    found = books.problems(root, out)
    assert _only(found, "new.py_docs.md") == "the page is missing; it is not in the manifest"
    assert _only(found, "abacus/ledger.py_docs.md") == "the repository no longer has what this page describes"
    reported = [problem.problem for problem in found if problem.page == "notes.txt_docs.md"]
    assert reported[0].endswith("; notes.txt has changed since it was written")
    assert {problem.fault for problem in found} == {Fault.BOOK}


@pytest.mark.parametrize("text", ["[]", "{", '{"claims": [[1, 2]]}', '{"claims": {"a.py": [[1]]}}', "[" * 100_000])
def test_claims_that_are_nonsense(text: str) -> None:
    with pytest.raises(ValueError):
        claims.decode_claims(text.encode())


def test_claims(mine: tuple[Path, Path]) -> None:
    root, out = mine
    page = "abacus/ledger.py_docs.md"
    beside = out / claims_of(page)
    text = beside.read_text()
    beside.write_text("{")
    assert "cannot be read" in _only(books.problems(root, out), page)
    beside.write_text(re.sub(r'(?m)^(\[\d+),19,"', r'\1,18,"', text, count=1))
    reported = {problem.problem for problem in books.problems(root, out)}
    assert reported == {
        "abacus/ledger.py, line 18: this should not be cited",
        "abacus/ledger.py, line 19: this should be cited",
    }


def test_the_manifest(mine: tuple[Path, Path]) -> None:
    root, out = mine
    path = out / "manifest.json"
    lines = path.read_text().split("\n")
    at = next(number for number, line in enumerate(lines) if '"abacus/ledger.py_docs.md"' in line)
    lines[at] = lines[at].replace('"file"', '"folder"')
    path.write_text("\n".join(lines))
    (problem,) = books.problems(root, out)
    assert (problem.page, problem.line) == ("manifest.json", at + 1)
    path.write_text("\n".join(lines).replace('"version": "', '"version": "9.'))
    (problem,) = books.problems(root, out)
    assert problem.problem.startswith("written by Concordance 9.")


def test_falsified_pages(mine: tuple[Path, Path]) -> None:
    """`python -m bench falsify` does the same with 300 pages."""
    root, out = mine
    chance, taken = random.Random(17), set[str]()
    done = [falsify.falsify(out, kind, taken, chance) for kind in 2 * falsify.ALL_KINDS]
    falsify.make_manifest_fit(out, taken)
    places: dict[str, list[int]] = {}
    for problem in books.problems(root, out):
        assert problem.fault is Fault.BOOK
        places.setdefault(problem.page, []).append(problem.line)
    assert places.keys() == taken
    for one in done:
        assert one is not None and any(abs(line - one.line) <= 1 for line in places[one.page]), one


# --- what is at fault


def test_a_store_that_is_wrong(mine: tuple[Path, Path]) -> None:
    root, out = mine
    wrong = "UPDATE symbol SET line = 12 WHERE key = 'Ledger.add' AND file = (SELECT id FROM file WHERE path = 'abacus/ledger.py')"
    program.alter_store(root, wrong)
    (problem,) = books.problems(root, out)
    assert (problem.page, problem.fault) == ("abacus/ledger.py_docs.md", Fault.STORE)
    assert problem.problem == "the store is wrong about abacus/ledger.py: its symbols should be different"
    program.alter_store(root, "UPDATE file SET lines = 71 WHERE path = 'abacus/ledger.py'")
    assert "lines is 71, and 70 by the source" in " ".join(problem.problem for problem in books.problems(root, out))


def test_a_book_written_from_a_store_that_is_wrong(mine: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root, out = mine
    program.alter_store(root, "UPDATE file SET lines = 71 WHERE path = 'abacus/ledger.py'")
    shutil.rmtree(out)
    books.write(root, out)
    found = books.problems(root, out)
    assert {problem.fault for problem in found} == {Fault.STORE}
    on_page = [problem for problem in found if problem.page == "abacus/ledger.py_docs.md" and problem.line]
    assert [problem.claim for problem in on_page] == ["Lines: 71 (50 code, 1 comment, 19 blank)"]


def test_a_program_that_is_wrong(mine: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root, out = mine
    right = markdown.render

    def render(page: Page, addresses: Addresses) -> RenderedPage:
        found = right(page, addresses)
        text = found.text.replace("L63](", "L64](").replace("`class Overflow(V", "`class Overflow(W")
        text = text.replace("1,799 bytes", "1,798 bytes").replace("total = error = 0.0", "total = error = 1.0")
        return found._replace(text=text.replace("rounding.py_docs.md#def-Rounding)", "rounding.py_docs.md#def-R)"))

    monkeypatch.setattr(markdown, "render", render)
    books.write(root, out)
    found = books.problems(root, out)
    assert {problem.fault for problem in found} == {Fault.PROGRAM}
    reported = [problem.problem for problem in found if problem.page == "abacus/ledger.py_docs.md"]
    assert reported[:4] == [
        "abacus/ledger.py: the file has 1,799 bytes",
        "abacus/ledger.py: line 64 of the source is not copied as it is",
        "abacus/ledger.py: the signature has the word WalueError, which is not in the file",
        "abacus/ledger.py: line 64 of the file does not name _sum",
    ]
    assert reported[4].endswith("is broken: abacus/rounding.py_docs.md has no such section")


# --- the command


def test_the_command(repo: Path) -> None:
    out = repo / "docs"
    told = program.concord("verify", "--repo", repo, "--out", out, code=2).stderr
    assert "contains no book" in told and "concord build" in told
    program.concord("build", repo, "--out", out)
    said = program.concord("verify", "--repo", repo, "--out", out).stdout
    assert said.startswith("0 problems: ") and said.rstrip().endswith("links checked; store compared")
    assert json.loads(program.concord("verify", "--out", "docs", "--json", cwd=repo).stdout) == []
    (repo / "a.py").write_text("import os\n")
    rows = json.loads(program.concord("verify", "--out", "docs", "--json", cwd=repo, code=1).stdout)
    assert rows and all(list(row) == ["page", "line", "claim", "problem", "fault"] for row in rows)
    assert (
        program.concord("verify", "--out", "docs", cwd=repo, code=1)
        .stdout.rstrip()
        .split("\n")[-2]
        .startswith(f"{len(rows)} problems")
    )


def test_it_needs_no_store(mine: tuple[Path, Path]) -> None:
    root, out = mine
    shutil.rmtree(root / ".concordance")
    assert books.problems(root, out) == []
    assert not os.path.exists(root / ".concordance")


def test_a_sample(mine: tuple[Path, Path]) -> None:
    root, out = mine
    page = out / "abacus/ledger.py_docs.md"
    page.write_text(page.read_text().replace("1,799 bytes", "1,798 bytes"))
    checked = builds.verify(str(root), str(out), 1, sample=10_000)
    assert [problem.page for problem in checked.problems] == ["abacus/ledger.py_docs.md"]
    some = builds.verify(str(root), str(out), 1, sample=5)
    assert 5 <= some.pages < some.total == checked.pages and some.store_compared
    program.remove_store(root / ".concordance")
    assert builds.verify(str(root), str(out), 1, sample=5).pages >= 5
    assert not os.path.exists(root / ".concordance")
    books.write(root, out)
    program.alter_store(root, "UPDATE file SET note = 'x' WHERE path = 'abacus/ledger.py'")
    found = builds.verify(str(root), str(out), 1, sample=10_000).problems
    assert [(problem.page, problem.fault) for problem in found] == [("abacus/ledger.py_docs.md", Fault.STORE)]


def test_a_site(made: tuple[Path, Path], tmp_path: Path) -> None:
    root, out = made[0], tmp_path / "pages"
    builds.write_book(str(root), str(out), form="html")
    assert books.problems(root, out) == []
    page = out / "abacus/ledger.py_docs.html"
    page.write_text(page.read_text().replace("1,799 bytes", "1,798 bytes"))
    found = books.problems(root, out)
    assert {problem.page for problem in found} == {"abacus/ledger.py_docs.html"}
    assert found[0].line and "1,799 bytes" in found[0].problem
