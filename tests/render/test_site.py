"""The site as files: every link leads somewhere, nothing of others is touched, a second run changes nothing."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from concordance.base.errors import UserError
from concordance.collect import walk
from concordance.render.site.folder import SiteEntry, SiteFolder
from concordance.workflow import builds
from tests.support import books
from tests.support.program import concord, write


class Links(HTMLParser):
    """The links of a page, and what links can lead to in it."""

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
    """The site of the sample, with a few names that nobody would choose."""
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
    _, written = builds.site(str(root), str(out), jobs=1)
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


def test_a_second_run_changes_what_changed(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a.py": "def a(): ...\n", "b.py": "from a import a\n", "gone.py": "x = 1\n"})
    out = tmp_path / "site"
    first = json.loads(concord("build", folder, "--format", "html", "--out", out, "--json").stdout)["book"]
    assert first["written"] == first["pages"]
    (out / "CNAME").write_text("docs.example\n")
    (out / "gone.py_kw.html").write_text("edited by somebody\n")
    _, again = builds.site(str(folder), str(out), jobs=1)
    assert again.changed == ["gone.py_kw.html"]
    (folder / "gone.py").unlink()
    (out / "gone.py_docs.md").write_text("edited by somebody\n")
    _, last = builds.site(str(folder), str(out), jobs=1)
    assert last.removed
    assert not (out / "gone.py_docs.html").exists()
    assert (out / "gone.py_docs.md").read_text() == "edited by somebody\n"
    assert (out / "CNAME").exists()
    assert (out / "a.py_docs.html").exists()
    assert not (out / ".writing").exists()


def test_a_folder_that_holds_other_things_is_left(folder: Path, tmp_path: Path) -> None:
    write(folder, {"a.py": "x = 1\n"})
    out = tmp_path / "site"
    write(out, {"thesis.tex": "years of work\n"})
    with pytest.raises(UserError, match=r"did not write \(thesis.tex\)"):
        builds.site(str(folder), str(out), jobs=1)
    assert [path.name for path in out.iterdir()] == ["thesis.tex"]
    book = tmp_path / "book"
    books.write(folder, book)
    with pytest.raises(UserError, match="contains a book in Markdown"):
        builds.site(str(folder), str(book), jobs=1)


def test_files_and_links_of_others_are_not_written_through(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    tray = SiteFolder(str(out))
    tray.begin(["a.html"])
    assert tray.put("a.html", b"a")[1]
    assert not tray.put("a.html", b"a")[1]
    tray.finish({"a.html": SiteEntry("", 1)})
    (out / "theirs.html").write_text("theirs")
    (out / "linked").symlink_to(elsewhere)
    (out / "link.html").symlink_to(elsewhere / "target.html")
    tray = SiteFolder(str(out))
    for address in ("theirs.html", "linked/b.html", "link.html", "a.html/b.html"):
        with pytest.raises(UserError):
            tray.put(address, b"ours")
    assert not list(elsewhere.iterdir())
    assert (out / "theirs.html").read_text() == "theirs"


def test_a_list_that_somebody_made_up_removes_nothing_elsewhere(tmp_path: Path) -> None:
    out = tmp_path / "site"
    write(tmp_path, {"precious.txt": "x"})
    pages = {"../precious.txt": ["", 1], str(tmp_path / "precious.txt"): ["", 1], "linked/precious.txt": ["", 1]}
    write(out, {"manifest.json": json.dumps({"generator": "Concordance", "site": True, "pages": pages})})
    (out / "linked").symlink_to(tmp_path)
    checksum = SiteFolder(str(tmp_path / "other")).put("x", b"x")[0].checksum
    text = (out / "manifest.json").read_text().replace('""', json.dumps(checksum))
    (out / "manifest.json").write_text(text)
    SiteFolder(str(out)).finish({})
    assert (tmp_path / "precious.txt").exists()


def test_a_site_in_the_repository_is_no_part_of_it(folder: Path) -> None:
    write(folder, {"a.py": "x = 1\n", "site/mine.html": "<p>mine</p>\n"})
    (folder / "site" / "mine.html").unlink()
    builds.site(str(folder), str(folder / "site"), jobs=1)
    write(folder, {"site/mine.html": "<p>mine</p>\n"})
    assert [entry.path for entry in walk.walk_with_counts(str(folder))[0]] == ["a.py", "site/mine.html"]
    _, again = builds.site(str(folder), str(folder / "site"), jobs=1)
    assert not again.failed
    assert (folder / "site" / "mine.html").exists()
    assert not (folder / "site" / "site").joinpath("index.html_docs.html").exists()
