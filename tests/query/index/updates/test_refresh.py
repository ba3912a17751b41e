"""An index that is kept between updates equals a new one, table by table, and its book equals that of a clean build."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from concordance.base.config import Book
from concordance.base.progress import ignore_progress
from concordance.facts.read import Facts
from concordance.facts.symbol_ids import IdOwners, SymbolIds
from concordance.facts.updates.delta import Aspect, without_times
from concordance.facts.updates.reads import Shared
from concordance.query.folders.folder_tree import folders
from concordance.query.index.census import Census
from concordance.query.index.columns import IdsByText, StringColumn
from concordance.query.index.repository import Index
from concordance.query.index.updates.refresh import refresh_index
from concordance.query.index.updates.tables import table_digests
from concordance.query.names import alphabet, shards
from concordance.query.search.related_files import Neighbours
from concordance.workflow.stages import pages
from concordance.workflow.watch.watch import CurrentBook
from tests.support import editrepo, edits
from tests.support.editsteps import EDITS, Desk
from tests.support.program import write

# Edits that give symbols other names most of all, and those that add, remove and move files.
WHAT = (*("add", "drop", "rename", "create", "delete", "move") * 3, *("move_folder", "become", "tested", "signature", "body", "top", "docstring", "exports", "bases", "decorate"),
        *("imports", "relocate", "macro", "finding", "prose", "several", "revert"))  # fmt: skip
SEQUENCES, STEPS = 8, 7
# What is no table, or holds the index and the store themselves.
ASIDE = frozenset(("facts", "reads", "cache", "summaries", "open_files", "_open_bytes", "reused_letters", "root", "book",
                   "skipped_pages", "runners", "text_shards", "words", "of_pages", "other", "paths", "_tables"))  # fmt: skip


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], edits.Bench]]:
    home = tmp_path_factory.mktemp("renewal")
    made: dict[int, edits.Bench] = {}

    def of(seed: int) -> edits.Bench:
        other = seed % 4 == 3
        if other not in made:
            made[other] = edits.Bench(home / str(other), editrepo.OTHERS if other else editrepo.FILES)
        return made[other]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", f"{home}/cache")
        yield of


def _tables(kind: type) -> list[str]:
    return [name for name, one in vars(kind).items() if isinstance(one, cached_property | Shared) and name not in ASIDE]


def _all_made(index: Index) -> None:
    """Compute every value that is kept, so that updates apply to all of them."""
    for name in _tables(Index):
        getattr(index, name)
    for of, kind in ((index.census, Census), (index.neighbours, Neighbours)):
        for name in _tables(kind):
            getattr(of, name)


def _plain(value: object) -> object:
    """Return a value in comparable form: an object's attributes, without references to the store."""
    if isinstance(value, StringColumn):
        return list(value)
    if type(value) is tuple:
        return tuple(map(_plain, value))
    if isinstance(value, IdsByText):  # of many ids it may have any two
        texts = {value._text_of(one & 0xFFFFFFFF) for one in value._numbers} | value._added.keys()
        return {text: found[0] if len(found) == 1 else -1 for text in texts if text and (found := value.get(text))}
    if isinstance(value, alphabet.Alphabet):
        concepts = {text: paths for text in {*value._places, *value._changed} if (paths := value.files_of(text))}
        assert len(concepts) == value.concept_count
        return {"concepts": concepts, "long forms": value._long_forms, "shards": _plain(value.shards)}
    if type(value).__module__.startswith("concordance.query") and hasattr(value, "__dict__"):
        inside = {key: _plain(one) for key, one in vars(value).items() if key not in ASIDE and key != "_census"}
        return inside if not isinstance(value, dict) else dict.copy(value)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, SymbolIds | IdOwners):
        return list(value) if isinstance(value, SymbolIds) else (value.starts, value.owners)
    return vars(value) if type(value).__name__ in ("TestedFiles", "LinkGraph") else value


def _differing(index: Index, fresh: Index) -> list[str]:
    """Return the tables that differ from those of a new index."""
    _all_made(fresh)
    found = []
    for name, value in list(vars(index).items()):
        if name not in ASIDE:
            ours, theirs = (_unplaced(name, _plain(one)) for one in (value, getattr(fresh, name)))
            if isinstance(ours, dict) and isinstance(theirs, dict) and name in ("census", "alphabet", "neighbours"):
                found += [f"{name}.{one}" for one in ours if _unplaced(one, ours[one]) != _unplaced(one, theirs.get(one))]
            elif ours != theirs:
                found.append(name)
    found += ["the order of shards"] * (index.alphabet.shards.parts != fresh.alphabet.shards.parts)
    for key in {*index.keys} - {""}:
        for declared in (False, True):
            found += [f"namesakes of {key}"] * (index.namesakes(key, declared) != fresh.namesakes(key, declared))
    for folder, there in folders(fresh).all.items():
        found += [f"folder {folder}"] * (vars(folders(index).all[folder]) != vars(there))
    now, new = table_digests(index, {}, None), table_digests(fresh, {}, None)
    return found + [f"digests of {name}" for name in now.keys() | new.keys() if now.get(name) != new.get(name)]


def _unplaced(name: str, value: Any) -> Any:
    """Tables of neighbours by name list files in any order, and no page shows when a file was written."""
    if name == "files" and isinstance(value, dict):
        return {path: without_times(file) for path, file in value.items()}
    return {key: sorted(rows) for key, rows in value.items()} if name in ("_stems", "_folders") else value


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_an_index_that_goes_on_is_a_new_one(
    bench: Callable[[int], edits.Bench], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every kept table is compared after each edit, and the book in the end."""
    monkeypatch.setattr(shards, "PAGE_BYTES", 1500)  # so that letters are shared
    monkeypatch.setattr(alphabet, "PAGE_BYTES", 1500)
    went: list[tuple[Index, bool]] = []

    def heard(index: Index, facts: Facts) -> bool:
        _all_made(index)
        table_digests(index, {}, None)
        went.append((index, refresh_index(index, facts)))
        return went[-1][1]

    monkeypatch.setattr(pages, "refresh_index", heard)
    chance, one = random.Random(seed), bench(seed)
    one.run([], False)  # puts the repository back
    desk = Desk(one.root, 10_000)
    current = CurrentBook(str(one.root), None, Book, 1, ignore_progress)
    current.update((), True)
    for _ in range(STEPS):
        what = chance.choice(WHAT)
        EDITS[what](desk, chance)
        done = current.update((), True)
        if done is None or not went:
            continue
        index, went_on = went.pop()
        if went_on:
            with Facts(str(Path(index.facts.path).parent)) as facts:
                assert not _differing(index, Index(facts, index.root, index.book)), f"{what} of {seed}"
    one.compare(edits.BOOKS["kept"][0], Book())


def test_it_goes_on_where_a_function_is_added(bench: Callable[[int], edits.Bench]) -> None:
    one = bench(0)
    one.run([], False)
    store = str(one.root / ".concordance")
    index = Index(Facts(store), str(one.root))
    _all_made(index)
    before = list(index.symbol_ids[index.file_id("src/pear/core.py")])
    desk = Desk(one.root, 20_000)
    desk.put("src/pear/core.py", desk.text("src/pear/core.py") + "\n\ndef quite_fresh():\n    return grow()\n")
    edits.store_update.build(str(one.root), 1)
    facts = Facts(store)
    assert facts.touched_since(int(index.facts.meta()["update"]))[Aspect.SYMBOLS_NAMED] == {"quite_fresh"}
    assert refresh_index(index, facts)
    assert list(index.symbol_ids[index.file_id("src/pear/core.py")])[:-1] == before
    assert not _differing(index, Index(facts, index.root))


def test_it_goes_on_where_there_is_another_file(bench: Callable[[int], edits.Bench]) -> None:
    one = bench(0)
    one.run([], False)
    store = str(one.root / ".concordance")
    index = Index(Facts(store), str(one.root))
    _all_made(index)
    Desk(one.root, 30_000).put("src/pear/quite_new.py", "def fresh():\n    return 1\n")
    edits.store_update.build(str(one.root), 1)
    facts = Facts(store)
    assert refresh_index(index, facts)
    assert not _differing(index, Index(facts, index.root))


def test_it_goes_on_where_a_file_counts_for_less(bench: Callable[[int], edits.Bench]) -> None:
    """The rank of a file depends on its category, which can change while everybody uses the same files."""
    one = bench(0)
    one.run([], False)
    store = str(one.root / ".concordance")
    index = Index(Facts(store), str(one.root))
    _all_made(index)
    before = dict(index.ranks)
    desk = Desk(one.root, 40_000)
    desk.put("src/pear/core.py", "# Code generated by a tool. DO NOT EDIT.\n" + desk.text("src/pear/core.py"))
    edits.store_update.build(str(one.root), 1)
    facts = Facts(store)
    assert refresh_index(index, facts)
    assert index.category_of("src/pear/core.py") == "generated"
    assert index.ranks != before
    assert not _differing(index, Index(facts, index.root))


@pytest.mark.parametrize("seed", range(40))
def test_shards_that_go_on_are_new_ones(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are added, removed and used more often at random; the parts equal those made at once from all names."""
    monkeypatch.setattr(shards, "PAGE_BYTES", 300)
    chance = random.Random(seed)
    letters = "aAbBſ_1é"

    def name() -> str:
        return "".join(chance.choice(letters) for _ in range(chance.randrange(1, 5)))

    sizes = {name(): chance.randrange(1, 60) for _ in range(chance.randrange(120))}
    ours = shards.Shards(shards.by_letter(sizes).items())
    for _ in range(12):
        changes = {}
        for one in {chance.choice([*sizes, name()]) for _ in range(chance.randrange(6))}:
            after = changes[one] = chance.choice((None, chance.randrange(1, 60)))
            sizes.pop(one, None)
            sizes.update({one: after} if after is not None else {})
        ours.renew(changes)
        fresh = shards.Shards(shards.by_letter(sizes).items())
        assert ours.parts == fresh.parts
        assert all([*ours.names(part).items()] == [*fresh.names(part).items()] for part in ours.parts)
        assert ours.marks == fresh.marks


def test_another_function_among_tests_is_nothing_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "repo"
    tests = "from a import grow\n\n\ndef test_grow():\n    assert grow() == 1\n"
    write(root, {"a.py": "def grow():\n    return 1\n", "tests/test_a.py": tests})
    ids, numbers = [], []
    for more in ("", "\n\ndef helper():\n    pass\n", "\n\ndef test_more():\n    grow()\n"):
        write(root, {"tests/test_a.py": tests + more})
        edits.store_update.build(str(root), 1)
        with Facts(str(root / ".concordance")) as facts:
            index = Index(facts, str(root))
            ids.append(index.tests_of("a.py").near)
            numbers.append(table_digests(index, {}, None)["tests"]["a.py"])
    assert ids[0] == ids[1] != ids[2]
    assert numbers[0] == numbers[1] != numbers[2]


def test_a_table_that_was_made_alone(bench: Callable[[int], edits.Bench]) -> None:
    """Each table is computed in an index of its own; then a function is added, a file is added, and a file is removed.
    """
    one = bench(0)
    one.run([], False)
    store = str(one.root / ".concordance")
    alone: list[tuple[str, Index, Callable[[Index], object]]] = []
    for of, kind in ((None, Index), ("census", Census), ("neighbours", Neighbours)):
        for name in _tables(kind):
            if name in ("census", "alphabet", "neighbours"):
                continue  # of these, each table
            index = Index(Facts(store), str(one.root))

            def table(index: Index, of: str | None = of, name: str = name) -> object:
                return _unplaced(name, _plain(getattr(getattr(index, of) if of else index, name)))

            table(index)
            alone.append((f"{of or 'index'}.{name}", index, table))
    desk = Desk(one.root, 40_000)
    desk.put("src/pear/core.py", desk.text("src/pear/core.py") + "\n\ndef quite_fresh():\n    return grow()\n")
    desk.put("src/pear/quite_new.py", "from pear.core import quite_fresh\n\n\ndef newer():\n    return quite_fresh()\n")
    gone = next(path for path in desk.paths(".py") if path.startswith("tests/"))
    (one.root / gone).unlink()
    edits.store_update.build(str(one.root), 1)
    fresh = Index(Facts(store), str(one.root))
    wrong = []
    for name, index, table in alone:
        assert refresh_index(index, Facts(store))
        if table(index) != table(fresh):
            wrong.append(name)
    assert not wrong
