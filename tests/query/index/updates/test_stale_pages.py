"""The recorded reads of a page are everything that it depends on, whichever pages were made before it."""

from __future__ import annotations

import ast
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from concordance.base import plugins
from concordance.base.config import Book
from concordance.facts.read import Facts
from concordance.facts.updates.delta import Aspect, slot_of
from concordance.facts.updates.reads import Subject
from concordance.query.index.repository import Index
from concordance.query.pages import PAGES
from concordance.workflow import builds, store_update
from concordance.workflow.stages import page_writer
from tests.support import books, editrepo
from tests.support.program import TREE, write

Opened = Callable[[], Index]


@pytest.fixture(scope="module", params=["sample", "mixed"])
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Open a new index of a repository."""
    home = tmp_path_factory.mktemp("reads")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(home / "cache"))
        root = books.copied(home) if request.param == "sample" else home / "mixed"
        if request.param == "mixed":
            write(root, editrepo.OTHERS)
        store_update.build(str(root), 1)
        with Facts(str(root / ".concordance")) as facts:

            def index() -> Index:
                made = Index(facts, str(root), Book())
                made.reads.values = {}  # as when a book is written
                return made

            yield index


def _subjects(index: Index) -> list[Subject]:
    return [(kind, about) for kind in plugins.names(PAGES) for about in plugins.load(PAGES, kind).subjects(index)]


def _read(index: Index, subject: Subject) -> set[int]:
    kind, about = subject
    with index.reads.recording() as slots:
        for _ in plugins.load(PAGES, kind).pages(index, about):
            pass
    return slots


def _told(index: Index, slots: set[int]) -> list[tuple[str, str]]:
    """Return slots in readable form."""
    return sorted(asked for asked, number in index.reads._slots.items() if number in slots)


def test_the_reads_of_a_page_do_not_depend_on_what_was_made_before(opened: Opened) -> None:
    """Fails if a memo does not record again what was read for its value."""
    subjects = _subjects(opened())
    alone = {subject: _read(opened(), subject) for subject in subjects}
    for seed in range(3):
        order = list(subjects)
        random.Random(seed).shuffle(order)
        if seed == 2:  # both pages of a file, and whatever else is about the same, one after the other
            order.sort(key=lambda subject: subject[1])
        index = opened()
        for subject in (*order, *order[: len(order) // 3]):
            slots = _read(index, subject)
            assert slots == alone[subject], (
                f"{subject}: not noted {_told(index, alone[subject] - slots)}, "
                f"noted besides {_told(index, slots - alone[subject])}"
            )


def test_nor_on_pages_that_were_begun_while_nobody_listened(opened: Opened) -> None:
    """As happens before workers are forked: the pages made last are those that workers begin with."""
    subjects = _subjects(opened())
    chance = random.Random(5)
    for subject in chance.sample(subjects, 60):
        index = opened()
        page_writer.preload_kinds(index, [subject])
        again = _read(index, subject)
        assert again == _read(opened(), subject), subject


def test_a_page_that_was_looked_at_before_workers_were_forked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page made before the fork left the results of its questions about the whole repository to the worker, without
    the reads."""
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(page_writer, "MAX_PAGES_RENDERED_HERE", 0)  # workers are forked for every update, as for one of many pages
    root, out = tmp_path / "repo", tmp_path / "repo/.concordance/book"
    weird = "def weird():\n    return 1\n"
    write(root, {f"p{n % 6}/m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(60)})
    for more in ({}, {"x/one.py": weird}, {"y/two.py": weird}):
        write(root, more)
        builds.write_book(str(root), str(out), Book(), 2)
    ours = books.contents(out)
    assert "weird" in ours["x/one.py_docs.md"].decode()
    clean = tmp_path / "clean" / "repo"
    for path in books.sources(root, out):
        write(clean, {path: (root / path).read_text()})
    builds.write_book(str(clean), str(clean / ".concordance/book"), Book(), 2)
    assert [page for page, data in books.contents(clean / ".concordance/book").items() if data != ours[page]] == []


TESTED = {
    "shop/__init__.py": "",
    "shop/cart.py": 'def total():\n    """Return the sum.\n\n    >>> total()\n    0\n    """\n    return 0\n',
    "tests/cases.py": "import unittest\n\n\nclass Base(unittest.TestCase):\n    pass\n",
    "tests/test_cart.py": (
        "from shop.cart import total\nfrom tests.cases import Base\n\n\n"
        "class Checks(Base):\n    def test_total(self):\n        assert total() == 0\n"
    ),
}


def test_a_page_reads_of_its_tests_only_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not their text, but the bases of their classes, which say how they are run."""
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "repo"
    write(root, TESTED)
    builds.write_book(str(root), None, Book(), 1)
    page = root / ".concordance/book/shop/cart.py_docs.md"
    assert "Checks" in page.read_text()
    with Facts(str(root / ".concordance")) as facts:
        slots = _read(Index(facts, str(root), Book()), ("file", "shop/cart.py"))
    for path in ("tests/test_cart.py", "tests/cases.py"):
        assert slot_of(Aspect.TEXT, path) not in slots
        assert slot_of(Aspect.BASES, path) in slots
    write(root, {"tests/cases.py": "class Base:\n    pass\n"})
    builds.write_book(str(root), None, Book(), 1)
    updated = page.read_text()
    shutil.rmtree(root / ".concordance")
    builds.write_book(str(root), None, Book(), 1)
    assert updated == page.read_text()


RELATED = {
    "shop/__init__.py": "",
    "shop/cart.py": "def total(items):\n    return sum(items)\n",
    "shop/rate.py": "def rate(country):\n    return 0.2\n",
    "shop/apply.py": "from shop.cart import total\n\n\ndef apply(items):\n    return total(items)\n",
    "shop/till.py": (
        "from shop.cart import total\nfrom shop.rate import rate\n\n\n"
        "def pay(items):\n    return total(items) * (1 + rate('de'))\n"
    ),
}


def test_a_value_that_comes_out_equal_makes_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That one of its users uses one file less is read to find the files related to a file, but seldom changes them."""
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    root, made = tmp_path / "repo", list[Subject]()
    plain = page_writer.render_subject

    def render_subject(index: Index, render: page_writer.Render, subject: Subject) -> page_writer.RenderedSubject:
        made.append(subject)
        return plain(index, render, subject)

    monkeypatch.setattr(page_writer, "render_subject", render_subject)

    def pages(files: dict[str, str]) -> dict[str, bytes]:
        made.clear()
        write(root, files)
        builds.write_book(str(root), None, Book(), 1)
        book = root / ".concordance/book"
        return {str(page.relative_to(book)): page.read_bytes() for page in sorted(book.rglob("*.md"))}

    pages(RELATED)
    without = RELATED["shop/till.py"].replace(" * (1 + rate('de'))", "").replace("from shop.rate import rate\n", "")
    also = RELATED["shop/apply.py"].replace("def", "from shop.rate import rate\n\nrate('de')\n\n\ndef")
    for files, is_stale in (
        ({"shop/till.py": without}, False),
        ({"shop/till.py": RELATED["shop/till.py"]}, False),
        ({"shop/apply.py": f"{RELATED['shop/apply.py']}\n\ndef after():\n    return 1\n"}, False),  # is not quoted
        ({"shop/apply.py": f"# moved\n{RELATED['shop/apply.py']}"}, True),  # the lines of the example
        ({"shop/apply.py": also}, True),  # two files use both now
    ):
        updated = pages(files)
        assert {("file", one) for one in files} <= set(made)
        assert (("file", "shop/cart.py") in made) == is_stale, files
    assert b"2 files use both" in updated["shop/cart.py_docs.md"]
    shutil.rmtree(root / ".concordance")
    assert updated == pages({})


def test_no_function_of_an_index_is_memoised_for_the_whole_process() -> None:
    """`functools.cache` keeps a value without its reads, and longer than the index; that is only right for values that
    read nothing."""
    found = []
    for path in sorted((TREE / "concordance/query").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                called = mark.func if isinstance(mark, ast.Call) else mark
                if ast.unparse(called).rpartition(".")[2] in ("cache", "lru_cache"):
                    kinds = {ast.unparse(one.annotation) for one in node.args.args if one.annotation}
                    found += [f"{path}: {node.name}"] if not kinds <= {"str", "int", "bool"} else []
    assert not found
