"""Pages that only the site has: maps and histories, including for files without data."""

from __future__ import annotations

import subprocess
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concordance.base.blocks import Diagram, Heading, Page, Plot, Ref, Table, Text, Tile, To, Treemap
from concordance.base.config import Book, Config
from concordance.query.index import history as index_history
from concordance.query.index.repository import Index
from concordance.query.pages import file as file_page
from concordance.query.sections.class_family import class_tree
from concordance.query.site_pages import history, map
from concordance.render.diagrams.bar_chart import plot
from concordance.render.diagrams.treemap import HEIGHT, WIDTH, areas, treemap
from concordance.render.formats import markdown
from concordance.render.site import html
from concordance.render.site.addresses import SiteAddresses
from concordance.workflow.pipeline import Build
from tests.support import webpages


def _commit(root: Path, day: str, author: str, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    when = f"{day}T12:00:00+0000"
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(
        ["git", "-c", f"user.name={author}", "-c", "user.email=a@example.org", "commit", "-qm", "x"], cwd=root, check=True,
        env={"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(root)},
    )  # fmt: skip


@pytest.fixture
def grown(folder: Path) -> Path:
    """A repository with a history of four months and three authors."""
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    _commit(folder, "2024-01-05", "Ada", a="one\n", pkg__b="x = 1\n", pkg__in__c="y = 2\n" * 9)
    _commit(folder, "2024-01-06", "Bob", a="two\n")
    _commit(folder, "2024-04-01", "Bob", a="three\n", pkg__b="x = 3\n")
    _commit(folder, "2024-04-02", "Eve & co", a="four\n")
    return folder


def _opened(root: Path) -> tuple[Index, SiteAddresses]:
    Build(str(root), Config(jobs=1)).run()
    return webpages.opened(root)


def _only(pages: object) -> Page:
    (page,) = pages  # type: ignore[misc]
    return page  # type: ignore[no-any-return]


def _words(page: Page) -> str:
    return " ".join(str(piece) for block in page.blocks if isinstance(block, Text) for piece in block.text)


# --- history


def test_history_is_what_git_says(grown: Path) -> None:
    index, addresses = _opened(grown)
    page = _only(history.pages(index, ""))
    plots = {block.title: list(block.bars) for block in page.blocks if isinstance(block, Plot)}
    assert plots["Commits"] == [("2024-01", 2), ("2024-02", 0), ("2024-03", 0), ("2024-04", 2)]
    assert plots["Files by last change"] == [("2024-01", 1), ("2024-02", 0), ("2024-03", 0), ("2024-04", 2)]
    files, authors = (block for block in page.blocks if isinstance(block, Table))
    assert next(iter(files.rows))[1:] == [["4"], ["2024-01-05"], ["2024-04-02"]]
    assert list(authors.rows) == [[["Ada"], ["3"], ["3"]], [["Bob"], ["3"], ["2"]], [["Eve & co"], ["1"], ["1"]]]
    assert "7 changes to 3 files by 3 authors, from 2024-01-05 to 2024-04-02" in _words(page)
    below = _only(history.pages(index, "pkg"))
    assert "3 changes to 2 files by 2 authors" in _words(below)
    read = webpages.Read(html.render(page, addresses).html)
    assert not read.wrong and "./pkg/history.html" not in read.hrefs and "Eve & co" in read.text
    assert addresses.page(page.ref) == "history.html" and addresses.page(below.ref) == "pkg/history.html"
    index.facts.close()


def test_history_of_a_build_without_commits_stays(grown: Path) -> None:
    index, _ = _opened(grown)
    index.facts.close()
    (grown / "a").write_text("five\n")
    index, _ = _opened(grown)
    assert dict(index_history.commits_by_month(index) or ()) == {"2024-01": 2, "2024-04": 2}
    index.facts.close()


def test_files_that_were_all_changed_once_are_not_listed(folder: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    _commit(folder, "2026-03-01", "Ann", **{f"a{n}.py": f"x = {n}\n" for n in range(60)})
    index, _ = _opened(folder)
    text = _words(_only(history.pages(index, "")))
    assert "No file was changed more than once." in text and "a7.py" not in text
    index.facts.close()


def test_no_history_is_said(folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\n")
    index, _ = _opened(folder)
    assert "No record of when" in _words(_only(history.pages(index, "")))
    assert "no git history" in _words(_only(history.pages(index, "")))
    drawn = _only(map.pages(index, ""))
    assert sum(isinstance(block, Treemap) for block in drawn.blocks) < 3
    titles = [str(block.text) for block in drawn.blocks if isinstance(block, Heading)]
    assert any("By size" in one for one in titles) and not any("By changes" in one for one in titles)
    index.facts.close()


def test_months_are_filled_and_many_are_years() -> None:
    assert index_history.fill_months({}) == []
    assert index_history.fill_months({"2023-12": 1, "2024-02": 2}) == [("2023-12", 1), ("2024-01", 0), ("2024-02", 2)]
    assert index_history.fill_months({"1990-01": 1, "2024-02": 2})[0] == ("1990", 1)
    assert len(index_history.fill_months({"1990-01": 1, "2024-02": 2})) == 35


# --- maps


def test_the_map_counts_every_line(grown: Path) -> None:
    index, addresses = _opened(grown)
    page = _only(map.pages(index, ""))
    by_size, by_changes, by_rank = (block for block in page.blocks if isinstance(block, Treemap))
    assert {tile.label: tile.description for tile in by_size.tiles} == {"a": "1 line", "pkg/": "10 lines"}
    assert {tile.label: tile.description for tile in by_changes.tiles} == {"a": "4 changes", "pkg/": "3 changes"}
    assert all(tile.description.endswith("% of the total rank") for tile in by_rank.tiles)
    inside = next(tile for tile in by_size.tiles if tile.label == "pkg/").tiles
    assert {tile.label for tile in inside} == {"b", "in/"}
    read = webpages.Read(html.render(page, addresses).html)
    assert not read.wrong and {"a_docs.html", "pkg/map.html"} <= set(read.hrefs)
    text = markdown.render(page, SiteAddresses([row[1] for row in index.file_rows], str(grown), str(grown / "x")).in_markdown()).text
    assert "[`pkg/`]" in text and "| 10 lines |" in text
    index.facts.close()


def test_small_parts_are_counted_together(folder: Path) -> None:
    (folder / "large.txt").write_text("x\n" * 40_000)
    for number in range(30):
        (folder / f"small{number}.txt").write_text("y\n")
    index, _ = _opened(folder)
    tiles = next(block for block in _only(map.pages(index, "")).blocks if isinstance(block, Treemap)).tiles
    assert [(tile.label, tile.description) for tile in tiles] == [("large.txt", "40,000 lines"), ("30 smaller items", "30 lines")]
    index.facts.close()


def _folder(tiles: list[Tile]) -> Tile:
    return Tile("f/", sum(tile.value for tile in tiles), "s", None, "test", tiles)


LEAVES = st.integers(1, 10**6).map(lambda value: Tile(f"<{value}>", value / 7, "x"))
FOLDERS = st.lists(LEAVES, min_size=1, max_size=6).map(_folder)
TILES = st.one_of(LEAVES, FOLDERS, st.lists(FOLDERS, min_size=1, max_size=3).map(_folder))


@settings(max_examples=80, deadline=None)
@given(st.lists(TILES, min_size=1, max_size=8))
def test_areas_fill_the_map_and_do_not_meet(tiles: list[Tile]) -> None:
    found = areas(tiles)
    near = 0.01
    total = sum(tile.value for tile in tiles)
    first = [area for area in found if area.depth == 1]
    assert len(first) == len(tiles)
    for area in found:
        assert area.x >= -near and area.y >= -near
        assert area.x + area.width <= WIDTH + near and area.y + area.height <= HEIGHT + near
    for area in first:
        assert area.width * area.height == pytest.approx(WIDTH * HEIGHT * area.tile.value / total, rel=0.01, abs=1)
    for one, other in combinations(first, 2):
        across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
        down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
        assert across <= near or down <= near
    assert not webpages.Read(treemap(Treemap("Lines", tiles), lambda ref: "x")).wrong


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=10), st.integers(0, 10**7)), max_size=300))
def test_plots_show_every_number(bars: list[tuple[str, int]]) -> None:
    made = plot(Plot("Commits <b>", ("Month", "Commits"), bars))
    read = webpages.Read(made)
    assert not read.wrong
    if any(value for _, value in bars):
        assert read.tags["rect"] == len(bars) and all(f"{value:,}" in read.text for _, value in bars)


# --- classes


def test_classes_are_drawn_on_the_site_alone(folder: Path) -> None:
    (folder / "a.py").write_text("class A: pass\nclass B(A): pass\nclass C(A): pass\nclass D(B, C): pass\n")
    index, addresses = _opened(folder)
    page = _only(file_page.pages(index, "a.py"))
    (graph,) = (block for block in page.blocks if isinstance(block, Diagram))
    names = {node.name: node.label for node in graph.nodes}
    assert {(names[base], names[heir]) for base, heir, _ in graph.edges} == {("A", "B"), ("A", "C"), ("B", "D"), ("C", "D")}
    assert not webpages.Read(html.render(page, addresses).html).wrong
    index.book = Book()  # without `drawn`
    index.cache.clear()
    assert not any(isinstance(block, Diagram) for block in _only(file_page.pages(index, "a.py")).blocks)
    index.facts.close()


def test_one_arrow_is_not_worth_drawing() -> None:
    assert class_tree([1], {1: [2]}, {}, lambda one: Ref(To.FILE, "a.py")) == []


def test_many_subclasses_are_counted() -> None:
    found = class_tree([1], {1: [2]}, {1: list(range(10, 40))}, lambda one: Ref(To.FILE, "a.py", "", f"C{one}"))
    graph = found[0]
    assert isinstance(graph, Diagram)
    assert [node.label for node in graph.nodes] == ["C1", "C2", "30 subclasses"]


# --- addresses


def test_the_site_keeps_its_own_names() -> None:
    paths = ["map.html/a.py", "assets/b.js", "history.html/x", "index.html/y", "pkg/tree.js/z", "search/q"]
    site = SiteAddresses(paths, "/repo", "/repo/book")
    taken = {"map.html", "history.html", "index.html", "assets", "search", "pkg/tree.js"}
    for path in paths:
        folder = site.page(Ref(To.INDEX, path.rpartition("/")[0])).rpartition("/")[0]
        assert folder not in taken
        beside = site.in_markdown().page(Ref(To.FILE, path))
        assert beside == f"{site.page(Ref(To.FILE, path)).removesuffix('.html')}.md"
    assert site.page(Ref(To.MAP, "pkg")) == "pkg/map.html"
