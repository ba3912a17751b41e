"""The book: its plan, its chapters and their pages, the pages of rules, and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import concordance
from concordance.base.blocks import (
    Block,
    Cite,
    Diagram,
    Heading,
    Items,
    Page,
    Ref,
    Strong,
    Table,
    Text,
    To,
)
from concordance.extract.ruleset import rules
from concordance.query.book import glossary
from concordance.query.book.chapters import GLOSSARY, NAMES, PATHS, order_by_use, plan
from concordance.query.book.document_order import documents_in_order
from concordance.query.book.reading_paths import path_through_the_whole, reading_minutes, reading_path, time_in_words
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index
from concordance.query.pages import book, report, rule
from tests.support.indexed import make_index, plain, sample_index, texts

BODY = "".join(f"    total = total + {n}\n" for n in range(60))
FILES = {
    "README.md": "# Forest\n\nForest grows trees from seeds, and counts them.\n",
    "GLOSSARY.md": "# Glossary\n\n## Seed\n\nWhat a tree is made of, before it grows.\n",
    "docs/guide.md": "# Guide\n\n## Clearing\n\nA **clearing** is a place without any trees.\n\nRoots are deep.\n",
    "soil/__init__.py": '"""What all of it stands on."""\n',
    "soil/ground.py": f'"""The ground."""\n\n\nclass Ground:\n    """The earth that trees stand in."""\n\n\ndef dig(total):\n{BODY}    return Ground()\n',
    "trees/__init__.py": '"""Trees of many kinds."""\n',
    "trees/oak.py": f"from soil.ground import Ground, dig\n\n\nclass Oak(Ground):\n    pass\n\n\ndef grow(total):\n{BODY}    return dig(1), Oak()\n",
    "trees/ash.py": f"from soil.ground import Ground, dig\nfrom trees.oak import Oak, grow\n\n\ndef plant(total):\n{BODY}    return grow(1), Oak(), dig(2), Ground()\n",
    "tests/test_oak.py": "from trees.oak import grow\nfrom trees.ash import plant\n\n\ndef test_grow():\n    assert grow(1) and plant(1)\n",
}


def page_of(index: Index, subject: str) -> Page:
    (page,) = book.pages(index, subject)
    return page


def sections(page: Page, level: int = 2) -> list[str]:
    return [plain(block.text) for block in page.blocks if isinstance(block, Heading) and block.level == level]


@pytest.fixture(scope="module")
def forest(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return make_index(tmp_path_factory.mktemp("book") / "forest", FILES)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return sample_index(tmp_path_factory.mktemp("sample"))


# --- the plan


def test_what_is_used_comes_first() -> None:
    uses = Counter({(0, 1): 5, (1, 2): 3, (2, 0): 1})  # 0 uses 1, 1 uses 2, and 2 a little of 0
    assert order_by_use([0, 1, 2], uses) == [2, 1, 0]
    assert order_by_use([0, 1], Counter({(0, 1): 1})) == [1, 0]
    assert order_by_use([], Counter()) == []
    assert order_by_use([3, 4], Counter()) == [3, 4]


def test_every_file_is_in_one_chapter(forest: Index, sample: Index) -> None:
    for index in (forest, sample):
        covered = [path for chapter in plan(index).ordered for path in chapter.files]
        assert sorted(covered) == sorted(ledger(index).files)
        names = [chapter.name.lower() for chapter in plan(index).ordered]
        assert len(set(names)) == len(names) and not {GLOSSARY, NAMES, PATHS} & set(names)


def test_chapters_in_reading_order(forest: Index) -> None:
    folders = [chapter.folder for chapter in plan(forest).ordered]
    assert folders.index("soil") < folders.index("trees")
    assert plan(forest).uses("trees")[0][0] == "soil"
    assert "trees" in [folder for folder, _ in plan(forest).users("soil")]


def test_names_of_pages_do_not_collide(folder: Path) -> None:
    index = make_index(folder, {"glossary/a.py": f"def a(total):\n{BODY}", "b-c/d.py": f"def d(total):\n{BODY}",
                          "b/c/e.py": f"def e(total):\n{BODY}", "b/f.py": f"def f(total):\n{BODY}"})  # fmt: skip
    subjects = book.subjects(index)
    assert len({name.lower() for name in subjects}) == len(subjects)


# --- the pages


def test_every_page_can_be_made_and_leads_somewhere(forest: Index, sample: Index) -> None:
    for index in (forest, sample):
        subjects = set(book.subjects(index))
        for subject in subjects:
            page = page_of(index, subject)
            assert page.ref == Ref(To.BOOK, subject)
            assert page.blocks
            for said in texts(page.blocks):
                assert said.strip() and "…]" not in said and "  " not in said, said
            for ref in refs(page.blocks):
                if ref.to == To.BOOK:
                    assert ref.path in subjects, ref
                elif ref.to in (To.FILE, To.SYMBOL):
                    assert ref.path in ledger(index).files


def refs(blocks: Iterable[Block]) -> Iterator[Ref]:
    for block in blocks:
        if isinstance(block, Text | Heading):
            yield from (piece for piece in block.text if isinstance(piece, Ref))
        elif isinstance(block, Items):
            yield from (piece for item in block.items for piece in item.text if isinstance(piece, Ref))
        elif isinstance(block, Table):
            yield from (piece for row in block.rows for cell in row for piece in cell if isinstance(piece, Ref))


def test_the_front_page(forest: Index) -> None:
    page = page_of(forest, "")
    assert plain(page.title) == "Comprehensive Book: Forest"
    said = "\n".join(texts(page.blocks))
    assert "Chapters that others depend on come first" in said and "“Trees of many kinds.”" in said
    assert any(isinstance(block, Diagram) for block in page.blocks)
    listed = [ref.path for ref in refs(page.blocks) if ref.to == To.BOOK]
    assert set(book.subjects(forest)) - {""} == set(listed)


def test_a_chapter(forest: Index) -> None:
    page = page_of(forest, "soil")
    assert plain(page.title) == "Chapter: soil"
    assert sections(page)[0] == "Role"
    for wanted in ("Classes and Functions to Know", "Important Files", "Reading Path", "Further Reading"):
        assert wanted in sections(page)
    said = "\n".join(texts(page.blocks))
    assert "Ground | 2 | “The earth that trees stand in.”" in said
    assert "Used by: trees" in said


def test_reading_paths(forest: Index) -> None:
    steps = reading_path(forest, ["soil", "trees"])
    paths = [step.path for step in steps]
    assert paths.index("soil/ground.py") < paths.index("trees/oak.py") < paths.index("trees/ash.py")
    assert reading_minutes(forest, "soil/ground.py") == round(65 / 40)
    assert [time_in_words(n) for n in (1, 45, 60, 87)] == ["1 minute", "45 minutes", "1 hour", "1 hour 27 minutes"]
    assert [time_in_words(n) for n in (150, 640)] == ["2 hours 30 minutes", "11 hours"]
    assert "To understand soil, read" in "\n".join(texts(page_of(forest, PATHS).blocks))


def test_the_whole_passes_through_what_drives_the_parts(folder: Path) -> None:
    words = "Runs every task of the forest in the order in which they were planted. " * 6
    files = {
        "core/engine.py": f'class Engine:\n    """{words}"""\n\n    def run(self):\n        return 1\n\n\nengine = Engine()\n',
        "core/leaf.py": f'class Leaf:\n    """{words}"""\n',
        "core/sizes.py": f'class Size:\n    """{words}"""\n\n\nsmall = Size()\nlarge = Size()\n',
    }
    for part in ("ash", "birch", "oak", "yew"):
        files[f"{part}/grow.py"] = (
            "from core.engine import engine\nfrom core.leaf import Leaf\nfrom core.sizes import large, small\n\n\n"
            f"def grow_{part}(leaf: Leaf):\n    return engine.run(), small, large\n"
        )
        files[f"{part}/fall.py"] = f"from core.leaf import Leaf\n\n\ndef fall_{part}(leaf: Leaf):\n    return leaf, Leaf\n"
    index = make_index(folder, files)
    whole = path_through_the_whole(index)
    paths = [step.path for step in whole.steps]
    assert whole.instances == 1
    assert {"core/leaf.py", "core/engine.py"} <= set(paths)
    assert "core/sizes.py" not in paths  # it has two instances, and fewer users than the other type
    said = "\n".join(texts(page_of(index, PATHS).blocks))
    assert "and 1 documented type with a single instance that several chapters use" in said


def test_the_glossary(forest: Index) -> None:
    entries = {entry.term: entry for entry in glossary.glossary_entries(forest)}
    assert plain(entries["Seed"].words) == "“What a tree is made of, before it grows.”"
    assert Cite("GLOSSARY.md", 5) in entries["Seed"].words
    assert plain(entries["clearing"].words) == "“A clearing is a place without any trees.”"
    assert "Ground" in entries and "Roots" not in entries


def test_glossaries_in_rest(folder: Path) -> None:
    index = make_index(folder, {
        "docs/glossary.rst": "Glossary\n========\n\n.. glossary::\n\n    model\n        The source of data about trees.\n\n    view\n        What shows a model to its reader.\n",
    })  # fmt: skip
    assert [entry.term for entry in glossary.glossary_entries(index)] == ["model", "view"]


def test_the_index_of_names(forest: Index) -> None:
    said = list(texts(page_of(forest, NAMES).blocks))
    assert any(row.startswith("Ground in soil") for row in said)


# --- rules and report


def test_pages_of_rules(folder: Path) -> None:
    index = make_index(
        folder,
        {
            "a/load.py": "import pickle\n\n\ndef load(path):\n    with open(path, 'rb') as file:\n        return pickle.load(file)\n"
        },
    )
    assert set(rule.subjects(index)) == {"", *(one.id for one in rules().values() if not one.languages or "python" in one.languages)}
    for subject in rule.subjects(index):
        (page,) = rule.pages(index, subject)
        assert page.ref == Ref(To.RULE, subject)
    (page,) = rule.pages(index, "PY-UNPICKLE")
    said = "\n".join(texts(page.blocks))
    assert "1 place in 1 file of 1 folder." in said and "a | 1 | load.py" in said
    (page,) = rule.pages(index, "PY-TORCHLOAD")
    assert "No findings; 1 file searched." in list(texts(page.blocks))


def test_the_report(sample: Index) -> None:
    pages = list(report.pages(sample, ""))
    assert plain(pages[0].title) == "Verification Report"
    said = "\n".join(texts(pages[0].blocks))
    table = [block for block in pages[0].blocks if isinstance(block, Table)][-1]
    assert [plain(row[0]) for row in table.rows] == sorted(ledger(sample).files)
    assert f"{len(ledger(sample).files):,}, each with a page" in said
    assert "tools/broken.py" in said  # it has a syntax error


def test_a_long_ledger_is_parted(sample: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "_ROWS", 5)
    pages = [page for subject in report.subjects(sample) for page in report.pages(sample, subject)]
    assert [page.ref.part for page in pages] == list(range(1, len(pages) + 1))
    rows = sum(
        len(block.rows)
        for page in pages
        for block in page.blocks
        if isinstance(block, Table) and block.columns[-1] == "Status"
    )
    assert rows == len(ledger(sample).files)


def test_two_readings_say_the_same(forest: Index) -> None:
    again = concordance.open(forest.root, update=False)._index
    for subject in book.subjects(forest):
        assert page_of(forest, subject) == page_of(again, subject)
    assert list(report.pages(forest, "")) == list(report.pages(again, ""))
    assert (
        Strong("Files")
        in next(block for block in next(report.pages(again, "")).blocks if isinstance(block, Items)).items[0].text
    )


# --- documents in the order of their authors


def _outline(items: Items, depth: int = 0) -> list[str]:
    found = []
    for item in items.items:
        found.append("  " * depth + plain(item.text))
        for inner in item.blocks:
            assert isinstance(inner, Items)
            found += _outline(inner, depth + 1)
    return found


def _in_order(index: Index) -> list[str]:
    rows = [block for chapter in plan(index).ordered for block in documents_in_order(index, chapter)]
    return [line for block in rows if isinstance(block, Items) for line in _outline(block)]


def test_documents_follow_the_toctree(folder: Path) -> None:
    index = make_index(folder, {
        "docs/index.rst": "Home\n====\n\n.. toctree::\n   :maxdepth: 2\n\n   zoo\n   ant\n   gone\n",
        "docs/zoo.rst": "The Zoo\n=======\n\n.. toctree::\n\n   zebra\n   index\n",
        "docs/zebra.rst": "Zebras\n======\n",
        "docs/ant.rst": "Ants\n====\n",
        "docs/alone.rst": "Alone\n=====\n",
    })  # fmt: skip
    assert _in_order(index) == ["Home", "  The Zoo", "    Zebras", "  Ants"]  # though `zoo` names `index` as well


def test_documents_follow_the_nav(folder: Path) -> None:
    nav = "site_name: x\nnav:\n- Start: index.md\n- 'More':\n  - b.md\n  - gone.md\n- Lost: lost.md\n- \"\":\n  - a.md\ntheme: y\n"
    index = make_index(folder, {
        "mkdocs.yml": nav, "docs/index.md": "# Home\n", "docs/a.md": "# A\n", "docs/b.md": "# B\n",
    })  # fmt: skip
    assert _in_order(index) == ["Start", "More", "  B", "A"]
