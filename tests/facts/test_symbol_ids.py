"""Ids of symbols: decoding a packed list, and finding the file that an id belongs to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concordance.facts.symbol_ids import IdOwners, SymbolIds, owner_by_id

_IDS = st.lists(st.integers(2, 400), unique=True, max_size=30)


@given(_IDS)
def test_ids_survive_packing(ids: list[int]) -> None:
    made = SymbolIds(1, ids)
    read = SymbolIds.unpack(1, len(ids), made.pack())
    assert list(read) == ids
    assert [read.id_at(read.place_of(one)) for one in ids] == ids
    assert read.place_of(1) == -1 and read.id_at(-1) == 1
    assert all((one in read) == (one in ids or one == 1) for one in range(402))
    for other in {0, 401} - set(ids):
        with pytest.raises((LookupError, ValueError)):
            read.place_of(other)


@given(_IDS)
def test_ranges_are_as_few_as_possible(ids: list[int]) -> None:
    every = {1, *ids}
    assert list(SymbolIds(1, ids).range_starts()) == sorted(one for one in every if one - 1 not in every)


@given(st.integers(1, 1000), st.integers(0, 30))
def test_consecutive_ids_take_no_space(file: int, count: int) -> None:
    made = SymbolIds(file, range(file + 1, file + 1 + count))
    assert made.pack() is None
    assert [made.place_of(one) for one in (file, *made)] == list(range(-1, count))
    assert list(made.range_starts()) == [file]


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), max_size=8))
def test_every_id_has_its_file(parts: list[list[int]]) -> None:
    """Files get ids in turns, in several ranges each."""
    owned: dict[int, list[int]] = {}
    top = 1
    for turn in range(3):
        for number, sizes in enumerate(parts):
            if turn < len(sizes):
                count = sizes[turn] + (not turn)
                owned.setdefault(number, []).extend(range(top, top + count))
                top += count
    files = {ids[0]: SymbolIds(ids[0], ids[1:]) for ids in owned.values()}
    owners = IdOwners(sorted((start, file) for file, ids in files.items() for start in ids.range_starts()))
    by_id = owner_by_id(owners, top)
    for file, ids in files.items():
        assert all(owners[one] == by_id[one] == file for one in (file, *ids))
