"""Compact tables over all symbols say what a list and a dictionary would."""

from __future__ import annotations

import random

from concordance.query.index import columns
from concordance.query.index.columns import IdsByText, StringColumn


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
    assert columns.crc32(b"plumless") == columns.crc32(b"buckeroo")
    texts = {1: "plumless", 2: "buckeroo", 3: "plumless"}
    table = IdsByText(((text, identity) for identity, text in texts.items()), texts.__getitem__)
    assert sorted(table.get("plumless")) == [1, 3]
    assert table.get("buckeroo") == [2]
