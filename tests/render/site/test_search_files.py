"""The search of a static site: typing the beginning of any part of a name finds it, and loads little."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concordance.facts.read import Facts
from concordance.query.index.repository import Index
from concordance.render.site import search_files
from concordance.render.site.files import open_site
from concordance.render.site.search_files import keys, shards
from concordance.workflow import store_update
from tests.support import books


def written(root: Path) -> tuple[Index, dict[str, Any]]:
    store_update.build(str(root), 1)
    index = Index(Facts(str(root / ".concordance")), str(root))
    site = open_site(index, str(root / ".concordance/book"))
    found = {}
    for address, text in shards(index, site.addresses):
        name, data = json.loads("[" + text.removeprefix("concordance.take(").removesuffix(");\n") + "]")
        assert address not in found, name
        found[address] = data
    return index, found


def typed(found: dict[str, Any], group: str, word: str) -> set[str]:
    """Return the names that are loaded for a word: those of each prefix, and what follows the last prefix."""
    known = found["search/names.js"]["groups"][group]
    names: set[str] = set()
    for length in range(1, len(word) + 1):
        start = word[:length]
        if start not in known:
            break
        files = known[start][1] if isinstance(known[start], list) else 1
        for place in range(files):
            names.update(row[0] for row in found[f"search/{search_files._file(group, start, place)}"]["e"])
    return names


def test_documents_are_found_by_their_titles_and_first_paragraphs(tmp_path: Path) -> None:
    _, found = written(books.copied(tmp_path))
    kinds = found["search/names.js"]["kinds"]
    rows = {row[0]: row[3] for address, data in found.items() if address.startswith("search/p-") for row in data["e"]}
    assert "Abacus" in typed(found, "p", "abacus") & typed(found, "p", "cuda")  # README.md: title, first paragraph
    assert (kinds[rows["Abacus"][0]], rows["Abacus"][4]) == ("document", "README.md_docs.html")
    assert kinds[rows["include"][0]] == "folder"
    assert found["search/names.js"]["pages"][:3] == ["keyword", "document", "folder"]


@pytest.mark.parametrize("size", [200, 24_000])
def test_every_name_is_found_by_each_of_its_parts(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_files, "_SIZE", size)  # of a file: small ones are shared out as those of large repositories
    index, found = written(books.copied(tmp_path))
    kinds = found["search/names.js"]["kinds"]
    named = (data for address, data in found.items() if "e" in data and not address.startswith("search/p-"))
    by_kind = {row[0]: kinds[row[3][0]] for data in named for row in data["e"]}
    for name, _ in index.facts.ids_by_name():
        group = "k" if by_kind[name] in ("key", "heading", "label") else "n"
        for key in keys(name):
            assert name in typed(found, group, key), (name, key)
    files = {path.rpartition("/")[2] for path in index.categories}
    assert {row[0] for address, data in found.items() if address.startswith("search/f-") for row in data["e"]} == files
    sizes = [len(json.dumps(data)) for address, data in found.items() if address != "search/names.js"]
    assert max(sizes) < 3 * max(size, 2000)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("BatchNorm2d", {"batchnorm2d", "norm2d", "bn"}),
        ("FullyShardedDataParallel", {"fullyshardeddata", "shardeddataparal", "dataparallel", "parallel", "fsdp"}),
        ("test_add", {"testadd", "add", "ta"}),
        ("HTTPServer", {"httpserver", "server", "hs"}),
        ("__init__", {"init"}),
        ("operator()", {"operator"}),
        ("x", {"x"}),
        ("ключ", {"ключ"}),
        ("()", {"()"}),
    ],
)
def test_keys(name: str, wanted: set[str]) -> None:
    assert keys(name) == wanted


@given(st.text(max_size=40))
def test_every_text_has_keys(name: str) -> None:
    assert bool(keys(name)) == bool(name)
    assert all(0 < len(key) <= 16 for key in keys(name))
