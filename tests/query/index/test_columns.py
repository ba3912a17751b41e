"""Memory stays bounded: compact tables return what a list and a dictionary would, and caches are limited."""

from __future__ import annotations

import gc
import random
import tracemalloc
from pathlib import Path
from zlib import crc32

import pytest

from concordance.facts.links.graph import sorted_numbers
from concordance.facts.read import Facts
from concordance.facts.updates.delta import slot_of
from concordance.facts.updates.reads import ReadRecorder, memoised
from concordance.query.index import repository
from concordance.query.index.columns import IdsByText, NumbersByText, StringColumn
from concordance.query.index.repository import Index
from concordance.workflow import store_update
from tests.support.program import write


def test_a_column_is_a_list_of_strings() -> None:
    column = StringColumn([(1, "a"), (2, ""), (5, "Größe.π"), (6, "b")], 9)
    assert list(column) == ["", "a", "", "", "", "Größe.π", "b", "", ""]
    column[5], column[1] = "", "other"
    column.grow(11)
    column[10] = "new"
    assert list(column) == ["", "other", "", "", "", "", "b", "", "", "", "new"]
    column[5], column[1] = "Größe.π", "a"
    assert column[5] == "Größe.π" and column._changed == {10: "new"}


def test_ids_are_found_by_the_text_that_they_have_now() -> None:
    chance = random.Random(3)
    texts = {identity: chance.choice("abcdefgh") * chance.randrange(1, 4) for identity in range(200)}
    table = IdsByText(((text, identity) for identity, text in texts.items()), lambda one: texts[one])
    for _ in range(300):
        identity = chance.randrange(220)
        texts[identity] = chance.choice("abcdefghij") * chance.randrange(1, 4)
        table.add(texts[identity], identity)
        for text in {*texts.values(), "", "\udc80"}:
            assert sorted(table.get(text)) == [one for one in sorted(texts) if texts[one] == text]


def test_equal_checksums_are_told_apart() -> None:
    assert crc32(b"plumless") == crc32(b"buckeroo")
    texts = {1: "plumless", 2: "buckeroo", 3: "plumless"}
    table = IdsByText(((text, identity) for identity, text in texts.items()), texts.__getitem__)
    assert sorted(table.get("plumless")) == [1, 3]
    assert table.get("buckeroo") == [2]


def test_numbers_of_texts_are_those_of_a_dictionary() -> None:
    chance = random.Random(5)
    rows = [(f"{chance.randrange(3000):x}ß", number) for number in range(6000)]
    rows += [("plumless", 1), ("", 2), ("buckeroo", 3), ("plumless", 1), ("\udc80", 4)]
    known: dict[str, list[int]] = {}
    for text, number in rows:
        known.setdefault(text, []).append(number)
    table = NumbersByText(rows)
    assert list(table) == list(known) == [table.text_at(place) for place in range(len(table))]
    assert {text: list(table.get(text)) for text in known} == known
    assert not table.get("other") and not NumbersByText([]).get("")


def test_numbers_are_sorted_share_by_share() -> None:
    chance = random.Random(7)
    for bits in (6, 33, 64):
        numbers = [chance.getrandbits(bits) for _ in range(2000)]
        assert list(sorted_numbers(iter(numbers), bits)) == sorted(numbers)


class _Host:
    """The part of an index that memoised functions need."""

    def __init__(self) -> None:
        self.reads, self.cache = ReadRecorder(), dict[object, object]()


def test_memoised_values_are_kept_up_to_a_weight() -> None:
    made: list[str] = []

    @memoised(10, weigh=len)
    def value(host: _Host, key: str) -> str:
        made.append(key)
        host.reads.note("text", key)
        return key

    host = _Host()
    for key in ("aaaa", "bbb", "aaaa", "ccccc", "bbb", "aaaa"):  # the third makes the first leave
        assert value(host, key) == key
    assert made == ["aaaa", "bbb", "ccccc", "aaaa"]
    host.reads.mark_changed({slot_of("text", "ccccc")})
    value(host, "dd")
    value(host, "aaaa")
    assert made[4:] == ["dd"]
    value(host, "e" * 40)  # too heavy for any other to stay
    value(host, "dd")
    assert made[5:] == ["e" * 40, "dd"]


def test_few_large_files_stay_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(repository, "_MAX_OPEN_BYTES", 1000)
    write(tmp_path / "repo", {"large.py": "# " + "x" * 2000 + "\n"} | {f"m{n}.py": "x = 1\n" * 50 for n in range(6)})
    store_update.build(str(tmp_path / "repo"), 1)
    with Facts(str(tmp_path / "repo/.concordance")) as facts:
        index = Index(facts, str(tmp_path / "repo"))
        for path in ("m0.py", "m1.py", "m2.py", "m3.py", "m4.py"):
            index.open_file(path)
        assert list(index.open_files) == ["m2.py", "m3.py", "m4.py"]
        index.open_file("large.py")
        assert list(index.open_files) == ["large.py"]
        index.open_file("m5.py")
        assert list(index.open_files) == ["m5.py"]


def test_a_symbol_takes_few_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In all tables over all symbols together; an object for each symbol would take more than 100 bytes in each table.
    """
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    count = 8000
    for part in range(4):  # registers of a device, as drivers list them
        lines = [f"#define REG_{part}_{n:05}_MASK {n}\n" for n in range(count // 4)]
        write(tmp_path / "repo", {f"regs_{part}.h": "".join(lines)})
    store_update.build(str(tmp_path / "repo"), 1)
    with Facts(str(tmp_path / "repo/.concordance")) as facts:
        index = Index(facts, str(tmp_path / "repo"))
        assert facts.symbol_count() == count
        assert index.file_rows and index.owners and index.symbol_ids and index.census.terms is not None
        tracemalloc.start()
        try:
            tables = [index.symbol_columns, index.prototypes, index.census.code_symbols, index.census.used_by, index.alphabet]
            gc.collect()
            taken, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert tables and taken / count < 100
        assert index.keys[index.census.unique_code_symbol("REG_3_01999_MASK")] == "REG_3_01999_MASK"
