"""A static site: every link is valid, files of others are not touched, a second run changes nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from concordance.base.errors import UserError
from concordance.collect import own_output, walk
from concordance.render.output import manifest
from concordance.workflow import builds
from tests.support import books, golden_files, program
from tests.support.program import concord, write
from tests.support.stopping import stopped


class Links(HTMLParser):
    """The links of a page, and the anchors that links can point to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.inline: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.ids.add(known.get("id") or "")
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action", "xlink:href")]
        self.inline += [name for name, _ in attrs if name == "style" or name.startswith("on")]
        self.inline += [tag] if tag == "style" or (tag == "script" and "src" not in known) else []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the sample repository, extended by files with unusual names."""
    patch = pytest.MonkeyPatch()
    patch.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
    root = books.copied(tmp_path_factory.mktemp("repo"))
    odd = ["a b#c?d%41.py", "<b>&\"'.py", "](x).md", "index.html", "tree.js", "ünï.py", "x_docs.html", "search.html"]
    write(root, {f"odd/{name}": "def odd():\n    return 1\n" for name in odd})
    taken = ("a.py_source.html", "a.py_defs", "a.py_docs.html", "tree.js", "map.html", "index.html", "assets")
    write(root, {"taken/a.py": "def a(): ...\n", **{f"taken/{name}/def-a": "x\n" for name in taken}})
    write(root, {"search.html/x.py": "y = 1\n", "assets/site.css": "p {}\n", "llms.txt/z.py": "z = 1\n"})
    write(root, {"odd/use.py": "from abacus.ledger import Ledger\n\nLedger()\n"})
    out = tmp_path_factory.mktemp("out") / "site"
    _, written = builds.write_book(str(root), str(out), jobs=1, form="html")
    assert not written.failed
    assert written.pages == written.written == len([path for path in out.rglob("*") if path.is_file()]) - 1
    patch.undo()
    return out


def test_every_link_leads_somewhere(site: Path) -> None:
    pages = {str(path.relative_to(site)): Links(path.read_text()) for path in site.rglob("*.html") if path.is_file()}
    assert len(pages) > 150
    wrong = []
    for page, found in pages.items():
        assert not found.inline, page
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto"):
                continue
            assert not parts.scheme and not parts.netloc, (page, link)
            there = os.path.normpath(os.path.join(os.path.dirname(page), unquote(parts.path))) if parts.path else page
            at = re.sub(r"^(L\d+)-L\d+$", r"\1", unquote(parts.fragment))
            if not (site / there).is_file() or (at and there in pages and at not in pages[there].ids):
                wrong.append((page, link))
    assert not wrong


def test_it_needs_no_server(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text()
        assert "data-api" not in text
        assert "data-live" not in text
    assert (site / "search" / "names.js").read_text().startswith("concordance.take(")
    assert not (site / "openapi.json").exists()
    assert "openapi" not in (site / "llms.txt").read_text()


def test_pages_are_there_as_markdown_too(site: Path) -> None:
    text = (site / "abacus" / "ledger.py_docs.md").read_text()
    tokens = books.PARSER.parse(text)
    links = [str(one.attrs["href"]) for one in books.inline(tokens) if one.type == "link_open"]
    assert any("_source.html#L" in link for link in links)
    for link in links:
        path = unquote(urlsplit(link).path)
        assert urlsplit(link).scheme or not path or (site / "abacus" / path).resolve().is_file(), link


def test_every_page_is_there_as_markdown_at_the_same_address(site: Path) -> None:
    pages = [path for path in site.rglob("*.html") if path.is_file() and path != site / "search.html"]
    assert [path for path in pages if not path.with_suffix(".md").is_file()] == []
    ledger = (site / "abacus" / "ledger.py_source.md").read_text()
    assert (golden_files.SAMPLE / "abacus" / "ledger.py").read_text() in ledger
    names = [path.name for path in (site / "abacus" / "ledger.py_defs").glob("*.md")]
    assert "def-Ledger.md" in names
    for page in ("abacus/ledger.py_defs/def-Ledger.md", "abacus/map.md"):
        for one in books.inline(books.PARSER.parse((site / page).read_text())):
            path = unquote(urlsplit(str(one.attrs["href"])).path) if one.type == "link_open" else ""
            assert not path or (site / page).parent.joinpath(path).resolve().is_file(), (page, path)


def test_llms_txt_has_the_form_of_the_convention(site: Path) -> None:
    """By the rules of llmstxt.org: a title, a quotation, text without headings, then sections that hold only links."""
    text = (site / "llms.txt").read_text()
    head, *sections = re.split(r"^## ", text, flags=re.M)
    assert re.fullmatch(r"# [^\n]+\n\n> [^\n]+\n\n[^#\n]+\n\n", head)
    titles = {}
    for section in sections:
        title, _, lines = section.partition("\n\n")
        titles[title] = [line for line in lines.split("\n") if line]
        for line in titles[title]:
            link = re.fullmatch(r"- \[[^\]]+\]\(([^)]+\.md)\): .+", line)
            assert link, line
            assert (site / unquote(link[1])).is_file(), line
    assert list(titles) == ["Start", "Chapters", "Folders", "Optional"]
    sized = re.compile(r"\): \d[^.]* files?, \d[\d,]* lines?\. ")
    assert all(sized.search(line) for line in (*titles["Chapters"], *titles["Folders"]) if "odd" not in line and "taken" not in line)


def test_a_second_run_changes_what_changed(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a.py": "def a(): ...\n", "b.py": "from a import a\n", "gone.py": "x = 1\n"})
    out = tmp_path / "site"
    first = json.loads(concord("build", folder, "--format", "html", "--out", out, "--json").stdout)["book"]
    assert first["written"] == first["pages"]
    (out / "CNAME").write_text("docs.example\n")
    page = out / "gone.py_kw.html"
    page.write_text(page.read_text().replace("</h1>", "</h1><p>edited by somebody"))
    _, again = builds.write_book(str(folder), str(out), jobs=1, form="html")
    assert again.changed == ["gone.py_kw.html"]
    (folder / "gone.py").unlink()
    (out / "gone.py_docs.md").write_text("replaced by somebody\n")
    _, last = builds.write_book(str(folder), str(out), jobs=1, form="html")
    assert last.removed
    assert not (out / "gone.py_docs.html").exists()
    assert (out / "gone.py_docs.md").read_text() == "replaced by somebody\n"
    assert (out / "CNAME").exists()
    assert (out / "a.py_docs.html").exists()
    assert not (out / ".claims").exists()


def test_a_folder_that_holds_other_things_is_left(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a.py": "x = 1\n"})
    out = tmp_path / "site"
    write(out, {"thesis.tex": "years of work\n"})
    with pytest.raises(UserError, match=r"did not write \(thesis.tex\)"):
        builds.write_book(str(folder), str(out), jobs=1, form="html")
    assert [path.name for path in out.iterdir()] == ["thesis.tex"]
    book = tmp_path / "book"
    books.write(folder, book)
    with pytest.raises(UserError, match="contains a book in Markdown"):
        builds.write_book(str(folder), str(book), jobs=1, form="html")


@pytest.mark.parametrize("name", ["a.py_docs.html", "a.py_docs.md", "search/names.js", "tree.js", "assets/site.css", "llms.txt"])
def test_files_and_links_of_others_are_not_written_through(folder: Path, tmp_path: Path, name: str) -> None:
    write(folder, {"a.py": "x = 1\n"})
    out, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    builds.write_book(str(folder), str(out), jobs=1, form="html")
    whole = books.contents(out)
    (out / name).unlink()
    (out / name).symlink_to(elsewhere)
    with pytest.raises(UserError, match=re.escape(name)):
        builds.write_book(str(folder), str(out), jobs=1, form="html")
    assert not elsewhere.exists()
    (out / name).unlink()
    theirs = "<!doctype html>\n<p>theirs" if name.endswith(".html") else "theirs"
    if name != "assets/site.css":  # nothing in it tells who wrote it
        (out / name).write_text(theirs)
        with pytest.raises(UserError, match=f"did not write.*{re.escape(name)}"):
            builds.write_book(str(folder), str(out), jobs=1, form="html")
        assert (out / name).read_text() == theirs
        (out / name).unlink()
    builds.write_book(str(folder), str(out), jobs=1, form="html")
    assert books.contents(out) == whole


def test_a_folder_that_is_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a.py": "x = 1\n", "sub/b.py": "y = 1\n"})
    out, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    builds.write_book(str(folder), str(out), jobs=1, form="html")
    (out / "sub").rename(elsewhere)
    (out / "sub").symlink_to(elsewhere)
    before = books.contents(elsewhere)
    with pytest.raises(UserError, match="sub"):
        builds.write_book(str(folder), str(out), jobs=1, form="html")
    (folder / "sub/b.py").unlink()
    builds.write_book(str(folder), str(out), jobs=1, form="html")
    assert books.contents(elsewhere) == before


def test_a_list_that_somebody_made_up_removes_nothing_elsewhere(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a.py": "x = 1\n"})
    out = tmp_path / "site"
    names = ("precious_docs.html", "assets/precious.css", "llms.txt", "precious.txt")
    write(tmp_path, dict.fromkeys(names, "x"))
    write(out, {"mine.txt": "x", "mine_docs.html": "x"})
    (out / "linked").symlink_to(tmp_path)
    pages = [*(f"{start}{name}" for name in names for start in ("../", f"{tmp_path}/", "linked/")), "mine.txt", "mine_docs.html"]
    rows = {page: [manifest.digest(b"x"), 1] for page in pages}
    head = {"generator": "Concordance", "site": True, "columns": ["checksum", "size"]}
    write(out, {"manifest.json": json.dumps({**head, "pages": rows}, indent=1)})
    assert not builds.write_book(str(folder), str(out), jobs=1, form="html")[1].removed
    assert all((tmp_path / name).exists() for name in names)
    assert (out / "mine.txt").exists() and (out / "mine_docs.html").exists()


def test_an_updated_site_equals_a_clean_one(folder: Path, tmp_path: Path) -> None:
    """Class diagrams used to show the numbers of symbols, which depend on the history of a store."""
    heirs = "".join(f"class H{number}(B): pass\n" for number in range(30))
    write(folder, {"a.py": "class A: pass\nclass B(A): pass\nclass C(B): pass\n", "b.py": f"from a import B\n{heirs}"})
    out = tmp_path / "site"
    builds.write_book(str(folder), str(out), jobs=1, form="html")
    write(folder, {"a.py": "class Z: pass\nclass A(Z): pass\nclass B(A): pass\nclass C(B): pass\n"})
    builds.write_book(str(folder), str(out), jobs=1, form="html")
    shutil.rmtree(folder / ".concordance")
    builds.write_book(str(folder), str(tmp_path / "clean"), jobs=1, form="html")
    assert books.contents(out) == books.contents(tmp_path / "clean")


def test_a_site_of_an_earlier_version_is_updated(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a.py": "x = 1\n", "gone.py": "y = 1\n"})
    out = tmp_path / "site"
    builds.write_book(str(folder), str(out), jobs=1, form="html")
    listed = json.loads((out / "manifest.json").read_text())
    pages = {page: row[1:3] for page, row in listed["pages"].items()} | {"assets/old.css": [manifest.digest(b"p {}"), 4]}
    head = {"generator": "Concordance", "version": "0.0.9", "site": True, "columns": ["checksum", "size"]}
    write(out, {"manifest.json": json.dumps({**head, "pages": pages}, indent=1), "assets/old.css": "p {}", "assets/site.css": "q {}"})
    (folder / "gone.py").unlink()
    _, written = builds.write_book(str(folder), str(out), jobs=1, form="html")
    assert "assets/site.css" in written.changed and "a.py_source.html" not in written.changed
    builds.write_book(str(folder), str(tmp_path / "clean"), jobs=1, form="html")
    assert books.contents(out) == books.contents(tmp_path / "clean")
    assert concord("verify", "--repo", folder, "--out", out).stdout.startswith("0 problems")


def test_a_run_that_was_killed_is_finished_by_the_next(folder: Path) -> None:
    program.crowd(folder, 40, 2)
    out = folder / "site"
    stopped("a page is there without its claims", "build", folder, "--format", "html", "--out", out)
    assert b'"unfinished": true' in (out / "manifest.json").read_bytes()
    left = [path for path in manifest.files(str(out)) if path.endswith("_docs.html")]
    (folder / left[0].removesuffix("_docs.html")).unlink()
    write(out, {".claims/4711.new": "half a pa", "assets/site.css": "of another version"})
    builds.write_book(str(folder), str(out), jobs=1, form="html")
    clean = folder.parent / "clean" / folder.name
    shutil.copytree(folder, clean, ignore=shutil.ignore_patterns("site", ".concordance"))
    builds.write_book(str(clean), str(clean / "site"), jobs=1, form="html")
    assert books.contents(out) == books.contents(clean / "site")


def test_every_file_has_a_name_that_is_known_as_ours(site: Path) -> None:
    listed = json.loads((site / "manifest.json").read_text())["pages"]
    assert manifest.read(str(site)).pages.keys() == listed.keys()
    unsigned = [page for page in listed if not own_output.is_own_content((site / page).read_bytes(), page)]
    assert unsigned == [page for page in listed if own_output.is_unsigned(page)]


def test_the_server_is_not_needed() -> None:
    code = "import sys, concordance.workflow.stages.site; print([name for name in sys.modules if name.startswith('concordance.serve')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_site_in_the_repository_is_no_part_of_it(folder: Path) -> None:
    write(folder, {"a.py": "x = 1\n", "site/mine.html": "<p>mine</p>\n"})
    (folder / "site" / "mine.html").unlink()
    builds.write_book(str(folder), str(folder / "site"), jobs=1, form="html")
    write(folder, {"site/mine.html": "<p>mine</p>\n"})
    assert [entry.path for entry in walk.walk_with_counts(str(folder))[0]] == ["a.py", "site/mine.html"]
    _, again = builds.write_book(str(folder), str(folder / "site"), jobs=1, form="html")
    assert not again.failed
    assert (folder / "site" / "mine.html").exists()
    assert not (folder / "site" / "site").joinpath("index.html_docs.html").exists()
