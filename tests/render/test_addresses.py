"""Every page has an address of its own, whatever the files are called."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from urllib.parse import unquote

import pytest

from concordance.base.blocks import Ref, To
from concordance.render.addresses import Addresses, anchor, claims_of, slug
from tests.support import books, program

WHOLE = [Ref(To.LETTERS, ""), Ref(To.BOOK, ""), Ref(To.REPORT, "")]


def _all(paths: list[str]) -> dict[Ref, str]:
    addresses = Addresses(paths, "/r", "/r/docs")
    refs = [Ref(to, path) for path in paths for to in (To.FILE, To.KEYWORDS)]
    refs += [Ref(to, folder) for folder in addresses.folders for to in (To.INDEX, To.FOLDER, To.SUBTREE)]
    return {ref: addresses.page(ref) for ref in [*refs, *WHOLE]}


LONG = "n" * 252
CROWDS = [
    ["book", "keywords", "index.md", "doc.md", "sub.md", "manifest.json", "comprehensive_book.md", ".claims"],
    ["book/a.py", "keywords/a.py", "keywords.md/x", "index.md/y", ".claims/z", "comprehensive_book.md/w", "sub.md/v"],
    ["a/index", "a/index.md", "a/doc.md/x.py", "a/sub.md/x.py", "a/.claims/x.py"],
    ["x", "x_docs.md", "x_docs.md_docs.md", "x_kw.md", "x_docs", "x_docs.2.md"],
    ["x", "x_docs.md/y", "x_kw.md/z"],
    ["A.py", "a.py", "lib/B.py", "Lib/b.py", "LIB/b.py", "lib"],
    [unicodedata.normalize("NFC", "é.py"), unicodedata.normalize("NFD", "é.py"), "É.py"],
    [f"{LONG}.py", f"{LONG}.pa", LONG + "p.y", f"{LONG}/x.py", f"{'é' * 126}.py"],
    ["ß", "ss", "SS", "ﬁ", "fi", "K", "k", "ı", "i", "I"],
    ["a-b/c.py", "a/b-c.py", "a/b/c.py", "a-b-c.py"],
    ["\udcff.py", "\udcfe.py", "\\udcff.py"],
    ["a b.py", "a%20b.py", "a#b.py", "a?b.py", "a\nb.py", "a)b(.py", "a[b].py", "<a>.py"],
]


@pytest.mark.parametrize("paths", CROWDS, ids=lambda paths: paths[0][:20])
def test_no_two_pages_meet(paths: list[str]) -> None:
    found = _all(paths)
    folded = [unicodedata.normalize("NFC", page).casefold() for page in found.values()]
    assert len(set(folded)) == len(folded)
    folders = {folder for page in folded for n in range(page.count("/")) for folder in [page.rsplit("/", n + 1)[0]]}
    assert not folders & set(folded)
    for page in found.values():
        for name in (*page.split("/"), *claims_of(page).split("/")):
            assert len(name.encode("utf-8", "surrogateescape")) <= 255
        assert not {"manifest.json", ".claims"} & {page, *page.split("/")}


@pytest.mark.parametrize("paths", CROWDS, ids=lambda paths: paths[0][:20])
def test_addresses_do_not_depend_on_the_order(paths: list[str]) -> None:
    assert _all(paths) == {ref: _all(paths[::-1])[ref] for ref in _all(paths)}


@pytest.mark.parametrize("paths", CROWDS, ids=lambda paths: paths[0][:20])
def test_links_lead_to_the_page_that_is_meant(paths: list[str]) -> None:
    import posixpath

    addresses = Addresses(paths, "/r", "/r/docs")
    found = _all(paths)
    for page in found.values():
        for ref, target in found.items():
            link = addresses.link(page, ref)
            path = unquote(link.partition("#")[0], errors="surrogateescape")
            assert posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) == target if path else page == target
            assert not set(link) & set(" ()<>[]`|\n")
        for path in paths:
            source = unquote(addresses.source(page, path, 3, 5), errors="surrogateescape")
            assert source.endswith("#L3-L5")
            there = posixpath.join("/r/docs", posixpath.dirname(page), source[: -len("#L3-L5")])
            assert posixpath.normpath(there) == posixpath.normpath(f"/r/{path}")


@pytest.mark.parametrize("paths", CROWDS, ids=lambda paths: paths[0][:20])
def test_a_book_of_them_can_be_written_and_holds(paths: list[str], folder: Path) -> None:
    made = []
    for path in paths:
        try:
            program.write(folder, {path: f"# {len(made)}\n"})
            made.append(path)
        except OSError:  # beside a file of that name, or too long a name
            continue
    books.write(folder, folder / "out")
    assert books.problems(folder, folder / "out") == []
    told = {page.split("\n")[0] for page in books.pages(folder / "out").values()}
    assert len([title for title in told if title.startswith("# Documentation: ")]) >= len(set(made)) - 1


def test_anchors_are_safe_and_their_own() -> None:
    keys = ["a", "a b", "a~b", "a%b", 'a"b', "a<b>", "a~20b", "é", "x" * 500, "x" * 501, "operator()", "operator[]", "A.b", "a.B", "+2"]
    found = [anchor(key) for key in keys]
    assert len({name.casefold() for name in found}) == len(found) - len({"A.b"} & set(keys)) or len(set(found)) == len(found)
    for name in found:
        assert not set(name) & set(" \"'<>&()[]`|#\n") and len(name) <= 160


def test_slugs_are_those_of_forges() -> None:
    assert slug("Architecture & Design") == "architecture--design"
    assert slug("Keyword → Section Map") == "keyword--section-map"
    assert slug("snake_case and `code`") == "snake_case-and-code"


def test_no_name_is_taken_for_a_scheme() -> None:
    addresses = Addresses(["javascript:alert(1)/a.py", "http:/b.py", "c.py"], "/r", "/r/docs")
    for page in ("index.md", "javascript:alert(1)/index.md"):
        for ref in (Ref(To.INDEX, "javascript:alert(1)"), Ref(To.FILE, "http:/b.py"), Ref(To.SOURCE, "javascript:alert(1)/a.py")):
            assert ":" not in addresses.link(page, ref)


def test_a_book_elsewhere_leads_to_its_source_whatever_is_between() -> None:
    addresses = Addresses(["c.py"], "/a b (c)/x:y/r", "/out")
    assert addresses.source("index.md", "c.py") == "../a%20b%20%28c%29/x%3Ay/r/c.py"


def test_folders_too_deep_for_a_system_have_pages() -> None:
    paths = [f"{'n' * 200}/" * depth + "a.py" for depth in (1, 14, 15, 18, 19)]
    found = _all(paths)
    assert len(set(found.values())) == len(found)
    assert max(len(page) for page in found.values()) < 3300
    assert found[Ref(To.FILE, paths[4])].startswith("book/far/")
