"""Writing a book: what stays untouched, what is removed, and that the result depends on the repository alone."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from concordance import api
from concordance.base import confined_folder
from concordance.base.blocks import (
    Cite,
    Code,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Page,
    Quote,
    Ref,
    Strong,
    Table,
    Text,
    To,
)
from concordance.base.characters import escape_hidden
from concordance.base.errors import BookFailed
from concordance.query.pages import file as file_pages
from concordance.query.sections.file_page import dependencies
from concordance.render import page_links
from concordance.render.addresses import Addresses, claims_of
from concordance.render.formats import markdown
from concordance.render.output import manifest
from concordance.workflow import builds
from tests.support import books, program
from tests.support.stopping import stopped

# --- what is not ours


def test_documents_of_the_project_stay(repo: Path) -> None:
    mine = {"docs/guide.md": "# Guide\n", "docs/lib/notes_docs.txt": "x", "docs/book/own.md": "# Own\n"}
    books.write(repo, repo / "docs")
    program.write(repo, mine)
    books.write(repo, repo / "docs")
    (repo / "a.py").unlink()
    shutil.rmtree(repo / "lib")
    books.write(repo, repo / "docs")
    assert {path: (repo / path).read_text() for path in mine} == mine
    assert not (repo / "docs/a.py_docs.md").exists() and not (repo / "docs/.claims/a.py_docs.md.json").exists()
    assert sorted(os.listdir(repo / "docs/lib")) == ["notes_docs.txt"]


@pytest.mark.parametrize("name", ["index.md", "a.py_docs.md", "lib/b.py_kw.md", "manifest.json", "keywords.md", "lib", "keywords/t.md", "book/lib.md"])
def test_a_name_that_is_taken_is_refused_before_anything_is_written(repo: Path, name: str) -> None:
    listed = {} if name == "manifest.json" else {"docs/manifest.json": '{"generator": "Concordance", "pages": {}}'}
    program.write(repo, {**listed, f"docs/{name}": "# The project's own\n", "docs/other.md": "x"})
    before = books.contents(repo / "docs")
    told = program.concord("build", repo, "--out", repo / "docs", code=2).stderr
    assert name in told and "--out" in told
    assert books.contents(repo / "docs") == before


def test_a_manifest_that_names_others_files_gives_no_power_over_them(repo: Path) -> None:
    books.write(repo, repo / "docs")
    text = (repo / "docs/manifest.json").read_text()
    row = text[text.index('"a.py_docs.md": ') + len('"a.py_docs.md": ') :].split("\n")[0]
    more = "".join(f'  "{page}": {row}\n' for page in ("mine_docs.md", "../a.py", "../../out_docs.md"))
    (repo / "docs/manifest.json").write_text(text.replace('"pages": {\n', '"pages": {\n' + more))
    program.write(repo, {"docs/mine_docs.md": "# Mine\n", "docs/index.md": "# I wrote this over a page\n"})
    (repo.parent / "out_docs.md").write_text("# Elsewhere\n")
    (repo / "a.py").write_text("x = 2\n")
    assert "index.md" in program.concord("build", repo, "--out", repo / "docs", code=2).stderr
    (repo / "docs/index.md").unlink()
    books.write(repo, repo / "docs")
    assert (repo / "docs/mine_docs.md").read_text() == "# Mine\n"
    assert (repo.parent / "out_docs.md").exists() and (repo / "a.py").read_text() == "x = 2\n"


def test_links_in_the_folder_of_the_book_are_not_followed(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo / "docs").mkdir()
    (repo / "docs/lib").symlink_to(tmp_path / "elsewhere")
    assert "lib" in program.concord("build", repo, "--out", repo / "docs", code=2).stderr
    (repo / "docs/lib").unlink()
    (repo / "docs/index.md").symlink_to(tmp_path / "elsewhere/index.md")
    assert "index.md" in program.concord("build", repo, "--out", repo / "docs", code=2).stderr
    assert not os.listdir(tmp_path / "elsewhere")


def test_a_folder_of_the_book_that_is_a_link_itself(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "deep/real").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep/real")
    books.write(repo, tmp_path / "link")
    assert books.problems(repo, tmp_path / "link") == []
    assert (tmp_path / "deep/real/a.py_docs.md").exists()
    assert books.write(repo, tmp_path / "link").written == 0


# --- disks


def test_a_folder_that_may_not_be_written(repo: Path) -> None:
    (repo / "docs").mkdir(mode=0o555)
    told = program.concord("build", repo, "--out", repo / "docs", code=2, preexec_fn=program.bound).stderr
    assert "cannot be written" in told and "--out" in told


def test_a_folder_that_is_a_file(repo: Path) -> None:
    (repo / "docs").write_text("x")
    assert "docs" in program.concord("build", repo, "--out", repo / "docs", code=2).stderr
    assert (repo / "docs").read_text() == "x"


def test_a_full_disk(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    books.write(repo, repo / "docs")
    first = books.contents(repo / "docs")
    (repo / "a.py").write_text("class Tree:\n    pass\n")

    renamed = os.rename

    def full(source: str, target: str, **more: int) -> None:
        if more:  # in a folder that is confined
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target)
        renamed(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(confined_folder.os, "rename", full)  # also in the workers, which are forked
        with pytest.raises(BookFailed, match=r"No space left.*Free some space"):
            books.write(repo, repo / "docs")
    assert books.contents(repo / "docs") == first
    books.write(repo, repo / "docs")
    assert books.problems(repo, repo / "docs") == []


# --- runs that are stopped, and runs at once


def test_a_run_that_was_killed_is_finished_by_the_next(folder: Path, tmp_path: Path) -> None:
    program.crowd(folder, 40, 2)
    out = folder / "docs"
    stopped("a page is there without its claims", "build", folder, "--out", out)
    assert b'"unfinished": true' in (out / "manifest.json").read_bytes()
    left = [path for path in manifest.files(str(out)) if path.endswith("_docs.md")]
    gone = left[0].removesuffix("_docs.md")
    (folder / gone).unlink()
    (out / ".claims").mkdir(exist_ok=True)
    (out / ".claims/4711.new").write_text("half a pa")
    books.write(folder, out)
    now = books.contents(out)
    assert left[0] not in now and ".claims/4711.new" not in now and b"unfinished" not in now["manifest.json"]
    assert books.problems(folder, out) == []
    clean = folder.parent / "clean"
    shutil.copytree(folder, clean, ignore=shutil.ignore_patterns("docs", ".concordance"))
    books.write(clean, clean / "docs")
    assert books.contents(clean / "docs") == now


def test_two_runs_at_once(folder: Path) -> None:
    program.crowd(folder, 40, 5)
    out = folder / "docs"
    runs = [program.started("build", folder, "--out", out) for _ in range(2)]
    for run in runs:
        said, told = run.communicate(timeout=120)
        assert run.returncode == 0, said + told
    assert books.problems(folder, out) == []


# --- the same bytes


def test_the_same_bytes_with_another_number_of_processes_hash_seed_and_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for number, (jobs, seed) in enumerate((("1", "0"), ("2", "1"), ("3", "4242"))):
        root = books.copied(tmp_path / str(number))
        program.concord("build", root, "--out", root / "pages", "--jobs", jobs, env={"PYTHONHASHSEED": seed})
        found.append(books.contents(root / "pages"))
    root = books.copied(tmp_path / "order")
    listed, scanned = os.listdir, os.scandir

    class Shuffled:
        def __init__(self, path: Any) -> None:
            with scanned(path) as inside:
                self.items = list(inside)
            random.Random(7).shuffle(self.items)

        def __enter__(self) -> Iterator[Any]:
            return self

        def __iter__(self) -> Iterator[Any]:
            return self

        def __next__(self) -> Any:
            if not self.items:
                raise StopIteration
            return self.items.pop()

        def __exit__(self, *_: object) -> None:
            pass

        close = __exit__

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", Shuffled)
        patch.setattr(os, "listdir", lambda path=".": sorted(listed(path), reverse=True))
        books.write(root, root / "pages", jobs=2)
    found.append(books.contents(root / "pages"))
    for other in found[1:]:
        assert {path for path in found[0].keys() | other.keys() if found[0].get(path) != other.get(path)} == set()


def test_a_change_of_one_file_changes_few_pages(repo: Path) -> None:
    books.write(repo, repo / "docs")
    before = books.contents(repo / "docs")
    (repo / "plain.cpp").write_text("int answer() { return 43; }\n")
    books.write(repo, repo / "docs")
    after = books.contents(repo / "docs")
    changed = {path for path in before if before[path] != after.get(path) and path.endswith("_docs.md")}
    assert changed == {"plain.cpp_docs.md"}


# --- sources of every kind in their fences

HOSTILE = {
    "fence.md": "# A\n\n```\ncode\n```\n\n````\n```\n````\n\n~~~\nx\n~~~\n",
    "open.md": "```python\nnever closed\n",
    "ticks.py": 's = """\n`````\n```\n"""\n',
    "crlf.py": "a = 1\r\nb = 2\r\n",
    "cr.txt": "one\rtwo\rthree",
    "nul.c": "int a;\0\nint b;\n",
    "noend.py": "x = 1",
    "space.txt": "   \n\t\n  ",
    "newlines.txt": "\n\n\n",
    "one.txt": "\n",
    "indent.txt": "    four\n\tone\n  two\n",
    "bom.py": "\ufeffx = 1\n",
    "latin.c": "/* caf\xe9 */\n".encode("latin-1"),
    "wide.txt": "wide\ntext\n".encode("utf-16"),
    "html.html": "<html><script>alert(1)</script>\n</details>\n<!-- \n",
    "list.md": "- ```\n  x\n  ```\n> ```\n> y\n",
    "feed.py": "a = 1\n\f\nb = 2\x0b\n",
    "sep.txt": "a\u2028b\u2029c\x85d\n",
    "emptied.py": "",
}


def test_every_source_stands_whole_in_its_fence(folder: Path) -> None:
    program.write(folder, HOSTILE)
    shutil.copytree(books.copied(folder.parent / "s"), folder / "sample")
    books.write(folder, folder / "out")
    seen = 0
    for path, page in books.file_pages(folder, folder / "out"):
        data = (folder / path).read_bytes()
        if not data or path.endswith(".png"):
            continue
        assert books.source_of(page) == books.as_parsed(data), path
        seen += 1
    assert seen > len(HOSTILE) + 20
    assert books.problems(folder, folder / "out") == []


def test_a_source_that_is_too_large_for_a_page_stands_on_parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_pages, "LARGEST", 60_000)
    text = "".join(f"value_{n} = {n}  # ```\n" + f"# {'a long word ' * 60}\n" * 4 for n in range(35))
    program.write(folder, {"large.py": text})
    books.write(folder, folder / "out")
    pages = books.pages(folder / "out")
    parts = [pages[f"large.py_docs.{n}.md"] for n in range(2, 5) if f"large.py_docs.{n}.md" in pages]
    assert len(parts) > 1
    fences = [[t.content for t in books.PARSER.parse(part) if t.type == "fence"] for part in parts]
    assert "".join(fence[0] for fence in fences) == text
    assert all(f"large.py_docs.{n + 2}.md" in pages["large.py_docs.md"] for n in range(len(parts)))
    assert books.problems(folder, folder / "out") == []


def test_data_with_very_many_keys_lists_the_outer_ones(folder: Path) -> None:
    rows = {f"row{n}": {f"key{m}": m for m in range(10)} for n in range(90)}
    program.write(folder, {"large.json": json.dumps(rows, indent=1)})
    books.write(folder, folder / "out")
    page = books.pages(folder / "out")["large.json_docs.md"]
    assert "990 keys, of which the outermost 90 keys:" in page
    assert "`row89` L1070 (10 keys)" in page
    assert "`key9`" not in page.partition("## Detailed Analysis")[2]
    assert books.problems(folder, folder / "out") == []


def test_very_many_links_across_languages_are_on_pages_of_their_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dependencies, "_MAX_BRIDGES_OF_PART", 600)
    monkeypatch.setattr(file_pages, "LARGEST", 6_000)
    names = [f"op{n:03}" for n in range(410)]
    table = "\n".join(f"- func: {name}(Tensor self) -> Tensor\n  dispatch:\n    CPU: {name}_cpu\n" for name in names)
    kernels = "\n".join(f"Tensor {name}_cpu(const Tensor& self) {{ return self; }}" for name in names)
    program.write(folder, {"ops.yaml": table, "native/ops.cpp": f"namespace at {{ namespace native {{\n{kernels}\n}}}}\n"})
    books.write(folder, folder / "out")
    pages = books.pages(folder / "out")
    page = pages["native/ops.cpp_docs.md"]
    assert "Implements: 410 names" in page
    assert "The names are on [part 1](ops.cpp_docs.3.md) and [part 2](ops.cpp_docs.4.md)." in page
    listed = pages["native/ops.cpp_docs.3.md"] + pages["native/ops.cpp_docs.4.md"]
    assert all(f"aten::{name}" in listed for name in names)
    fences = [t.content for t in books.PARSER.parse(pages["native/ops.cpp_docs.5.md"]) if t.type == "fence"]
    assert fences[0].startswith("namespace at"), "the source follows"
    assert "| Page | Entries |" in pages["ops.yaml_docs.md"], "a table of operators"
    assert "`op409` L" in pages["ops.yaml_docs.md"]
    assert books.problems(folder, folder / "out") == []


# --- what is not ours is shown, not obeyed

EVIL = [
    "<script>alert(1)</script>", "](javascript:alert(1))", "[x](javascript:alert(1))", "![x](http://evil.example/a.png)",
    "<img src=x onerror=y>", '<a id="def-x">', "`", "``` ", "|", "a|b", "$x$", "$$", "*a*", "_a_", "~~a~~", "# a", "- a", "1. a", "> a",
    "&lt;", "&#x3c;", "\\", "\\[", "<!-- x", "<https://evil.example>", "[a][b]", "[a]", "[a]: b", "---", "===", "+ x", "\u202eabc", "\u2066a", "a\u2028b",
    "<details>", "</a>", "x\u200fy", "[^1]", ":tada:", "@someone", "    four", "\ta", "a  ", "`a``b`", "``", "\x1b[31m", "[ ] todo", "a\\",
]  # fmt: skip


def _shown(text: str) -> str:
    """Return the words of a page, according to the parser, as one line."""
    kinds = ("text", "code_inline", "text_special")
    return " ".join(" ".join(t.content for t in books.inline(books.PARSER.parse(text)) if t.type in kinds).split())


@pytest.mark.parametrize("evil", EVIL)
def test_text_is_shown_as_it_is(evil: str) -> None:
    addresses = Addresses(["a.py", f"{evil.replace('/', '')}.py"], "/r", "/r/out")
    named = f"{evil.replace('/', '')}.py"
    blocks = [
        Heading(2, [evil]), Heading(3, [Mono(evil)], "key"), Text([evil]), Text(["before ", evil, " behind"]), Text([Mono(evil)]),
        Items([Item([evil]), Item([Strong(evil), ": ", Mono(evil)], [Quote([Text([evil])])], evil)]),
        Table(["a", "b"], [[[evil], [Mono(evil)]], [[Ref(To.FILE, "a.py", "", evil)], [Ref(To.FILE, "a.py", evil, evil, False)]]]),
        Text([Ref(To.FILE, named, "", evil)]), Text([Ref(To.FILE, named, "", evil)]), Text([Ref(To.SYMBOL, "a.py", evil, evil)]),
        Text([Line("a.py", 1, 2), Cite("a.py")]), Code(evil), Quote([Code(f"{evil}\n\n{evil}")]),
    ]  # fmt: skip
    page = markdown.render(Page(Ref(To.FILE, "a.py"), ["Title ", evil], blocks), addresses).text
    assert books.is_safe(page) == []
    scanned = page_links.scan(page)
    assert sorted(map(page_links.unescape_target, (link for _, link in scanned.links))) and not scanned.undefined
    tokens = books.PARSER.parse(page)
    assert [t.tag for t in tokens if t.type == "heading_open"] == ["h1", "h2", "h3"]
    assert sum(t.type == "table_open" for t in tokens) == 1 and sum(t.type == "tr_open" for t in tokens) == 3
    assert sum(t.type == "td_open" for t in tokens) == 4
    assert [t.content.rstrip("\n") for t in tokens if t.type == "fence"] == [evil.rstrip("\n"), f"{evil}\n\n{evil}".rstrip("\n")]
    word = " ".join(escape_hidden(evil).split())
    shown = _shown(page)
    assert f"before {word} behind".replace(" ", "") in shown.replace(" ", "")
    assert shown.replace(" ", "").count(word.replace(" ", "")) >= 12


def test_nothing_in_a_repository_becomes_markup(folder: Path) -> None:
    files: dict[str, str | bytes] = {}
    for number, evil in enumerate(EVIL):
        name = evil.replace("/", "").replace("\0", "")
        files[f"n{number}/{name or 'x'}.py"] = f'"""{evil}\n\n{evil} and {evil}\n\n.. note:: {evil}\n"""\n\n\nclass A:\n    r"""{evil}\n\n    Args:\n        x: {evil}\n    """\n\n    x: "{evil!r}" = 1\n'
        files[f"m{number}.md"] = f"# {evil}\n\n{evil}\n\n## {evil} `{evil}`\n\n- {evil}\n"
        files[f"k{number}.json"] = '{"%s": {"a": "%s"}}' % ((evil.replace("\\", "\\\\").replace('"', '\\"').replace("\t", " ").replace("\x1b", ""),) * 2)
        files[f"c{number}.h"] = f"/** {evil}\n * @param x {evil}\n */\nint f{number}(int x); // {evil}\n#define M{number} \"{evil}\"\n"
        files[f"r{number}.rst"] = f"{evil}\n{'=' * 80}\n\n{evil}\n\n.. _x: {evil}\n"
        files[f"y{number}.yml"] = f"? '{evil}'\n: '{evil}'\n"
    program.write(folder, files)
    books.write(folder, folder / "out", jobs=2)
    assert books.problems(folder, folder / "out") == []
    for page, text in books.pages(folder / "out").items():
        assert books.is_safe(text) == [], page
        behind = text[text.rindex("Generated by Concordance" if page == "llms.txt" else "\n---\n\n*Generated by") :]
        assert books.links(text) is not None and "\u202e" not in text.replace(behind, "").split("## Original Source")[0], page


def test_claims_lie_beside_their_pages(repo: Path) -> None:
    books.write(repo, repo / "docs")
    for page, row in manifest.read(str(repo / "docs")).pages.items():
        assert (repo / "docs" / claims_of(page)).exists() == bool(row.claims)


def test_the_default_place(repo: Path) -> None:
    _, written = builds.write_book(str(repo))
    assert written.out == str(repo / ".concordance/book")
    assert api.Repository(str(repo)).verify() == []


def test_a_file_that_a_killed_run_left_is_removed_by_one_that_writes_nothing(repo: Path) -> None:
    _, written = builds.write_book(str(repo))
    left = Path(written.out, ".claims", "123.new")
    left.write_text("half")
    _, again = builds.write_book(str(repo))
    assert not again.written
    assert not left.exists()


def test_empty_files_share_a_page_and_keep_their_own(folder: Path) -> None:
    program.write(folder, {"a/__init__.py": "", "a/b/__init__.py": "", "a/b/c.py": "x = 1\n", "a/py.typed": ""})
    books.write(folder, folder / "out")
    pages = books.pages(folder / "out")
    shared = pages["book/empty_files/index.md"]
    assert "3 empty files, by folder." in shared
    for path in ("a/__init__.py", "a/b/__init__.py", "a/py.typed"):
        assert f"](../../{path}_docs.md)" in shared
        own = pages[f"{path}_docs.md"]
        assert "- **Size**: 0 bytes" in own and "book/empty_files/index.md)" in own and "## Original Source" not in own
        assert "The file is empty." in pages[f"{path}_kw.md"]
        assert f"[`{path}`]({path}_docs.md)" in pages["verification_report.md"], "its line in the ledger"
    assert books.problems(folder, folder / "out") == []


def test_identical_files_are_listed_and_show_their_source_once(folder: Path) -> None:
    files = {f"{name}/key.py": "SECRET_HANDSHAKE = 1\n" for name in ("a", "b", "c", "d", "e")}
    program.write(folder / "repo", {**files, "a/other.py": "x = 1\n"})
    books.write(folder / "repo", folder / "out")
    pages = books.pages(folder / "out")
    shared = pages["book/empty_files/index.md"]
    assert "5 files in 1 group" in shared and shared.count("key.py_docs.md") == 5
    assert "```python\nSECRET_HANDSHAKE = 1" in pages["a/key.py_docs.md"]
    copy = pages["d/key.py_docs.md"]
    assert "```python" not in copy and "The same as that of [`a/key.py`]" in copy
    assert "[1 other file](../book/empty_files/index.md#identical)" in copy
    assert "Identical to" not in pages["a/other.py_docs.md"]
    assert not books.problems(folder / "repo", folder / "out")
    (folder / "repo/a/key.py").write_text("SECRET_HANDSHAKE = 2\n")  # now the second is the first
    books.write(folder / "repo", folder / "out")
    assert "```python\nSECRET_HANDSHAKE = 1" in books.pages(folder / "out")["b/key.py_docs.md"]


def test_without_empty_files_there_is_no_page_of_them(folder: Path) -> None:
    program.write(folder, {"a.py": "x = 1\n"})
    books.write(folder, folder / "out")
    assert not (folder / "out/book/empty_files").exists()


def test_an_address_that_occurs_often_is_written_once() -> None:
    addresses = Addresses(["far/away/deep/a.py", "b.py"], "/r", "/r/book")
    far, near = Ref(To.FILE, "far/away/deep/a.py", "", "a.py"), Ref(To.FILE, "b.py", "", "b")
    page = Page(Ref(To.FILE, "b.py"), ["B"], [Text([far, " ", near, " ", far._replace(label="the same")])])
    text = markdown.render(page, addresses).text
    assert "\n[`a.py`][1] [`b`](b.py_docs.md) [`the same`][1]\n" in text
    assert text.count("far/away/deep/a.py_docs.md") == 1 and text.endswith("\n[1]: far/away/deep/a.py_docs.md\n")
