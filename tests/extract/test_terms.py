"""Terms: what the literate cases in `tests/cases/terms/` do not cover."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concordance.base.model import FileFacts, Term
from concordance.extract.engine import extract
from concordance.extract.text.english import GENERAL, MODIFIERS, STOP, VERBS, singular
from concordance.extract.text.terms import extract_terms, weight
from concordance.extract.text.word_split import split_name, tokenize


def entries(text: str, language: str = "text") -> dict[str, Term]:
    return {term.text: term for term in extract(text, language).terms}


def test_times_and_first_line() -> None:
    found = entries("Nothing here.\n\nA tensor cache.\nThe tensor cache, two tensors.\n")
    assert found["tensor cache"] == Term("tensor cache", "phrase", 2, 3)
    assert found["tensor"].times == 3


def test_a_phrase_goes_over_the_end_of_a_line_but_not_of_a_sentence() -> None:
    found = entries("The gradient\nbucket. View gradient\nbuckets: rebuild. Memory. Pool. Memory. Pool.\n")
    assert "gradient bucket" in found
    assert "memory pool" not in found


def test_names_count_every_time_they_are_used() -> None:
    source = "package a\n\n// A shard.\nfunc shardAll() { shardOne() }\n\nfunc shardOne() { shardOne() }\n"
    assert entries(source, "go")["shard"] == Term("shard", "word", 5, 3)


def test_kinds() -> None:
    found = entries("GPU memory, GPU memory. FlatParamHandle. Memory!")
    assert {t.text: t.kind for t in found.values()} == {
        "GPU": "acronym",
        "GPU memory": "phrase",
        "memory": "word",
        "FlatParamHandle": "name",
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("FullyShardedDataParallel", ("fully", "sharded", "data", "parallel")),
        ("state_dict", ("state", "dict")),
        ("HTTPServer", ("HTTP", "server")),
        ("MAX_BUCKET_SIZE", ("max", "bucket", "size")),
        ("_flat_params", ("flat", "param")),
        ("conv2d", ("conv2d",)),
        ("__init__", ("",)),
        ("größe_tabelle", ("größe", "tabelle")),
        ("", ()),
        ("_", ()),
    ],
)
def test_names_are_split(name: str, words: tuple[str, ...]) -> None:
    assert split_name(name) == words


@pytest.mark.parametrize(
    ("chunk", "found"),
    [
        ("Tensors,", ("tensor", "")),
        ("(FSDP)", ("", "FSDP", "")),
        ("GPUs", ("GPU",)),
        ("the", ("",)),
        ("model's", ("model",)),
        ("all-gathers", ("all-gather",)),
        ("CPU/GPU", ("CPU", "", "GPU")),
        (":class:`~torch.nn.Module`.", ("torch.nn.Module", "")),
        ("`dim`", ("",)),
        ("https://a.b/c", ("",)),
        ("0xff", ("",)),
        ("1.2.3", ("",)),
        ("utils.py", ("",)),
        ("e.g.", ("", "")),
        ("PyTorch", ("PyTorch",)),
        ("NOTE:", ("", "")),
        ("[graph](http://x.y)", ("", "graph", "")),
    ],
)
def test_text_is_split(chunk: str, found: tuple[str, ...]) -> None:
    assert tokenize(chunk) == found


def test_lists_of_words_do_not_overlap() -> None:
    lists = (STOP, VERBS, GENERAL, MODIFIERS)
    assert sum(map(len, lists)) == len(frozenset().union(*lists))
    assert all(word == word.lower() for words in lists for word in words)


@pytest.mark.parametrize(
    ("plural", "one"),
    [("tensors", "tensor"), ("classes", "class"), ("caches", "cache"), ("batches", "batch"), ("sizes", "size"),
     ("indices", "index"), ("policies", "policy"), ("bias", "bias"), ("axis", "axis"), ("status", "status"),
     ("process", "process"), ("semantics", "semantics"), ("scenarios", "scenario"), ("gas", "gas")],
)  # fmt: skip
def test_singular(plural: str, one: str) -> None:
    assert singular(plural) == one


def test_weight_tells_files_apart() -> None:
    assert weight(5, 2, 1000) > weight(5, 200, 1000) > weight(5, 1000, 1000) >= 0
    assert weight(5, 2, 1000) > weight(1, 2, 1000)
    assert weight(10, 5, 100) - weight(9, 5, 100) < weight(2, 5, 100) - weight(1, 5, 100)


@given(st.text(max_size=400))
def test_never_raises_and_every_line_is_in_the_file(text: str) -> None:
    facts = extract(text, "text")
    assert not [f for f in facts.findings if f.by == "reader"]
    assert all(1 <= term.line <= max(1, facts.metrics.lines) for term in facts.terms)


@pytest.mark.parametrize(
    "text",
    ["(" * 100_000, "a " * 100_000, "A" * 200_000, "`" * 100_001, "<a" * 100_000, "x (AB " * 50_000, "*a" * 100_000,
     "-".join(["ab"] * 50_000), "\n" * 200_000, "FSDP (" * 50_000, "ab cd ef gh " * 30_000,
     " ".join(f"alpha w{chr(97 + n % 26)}{n}x beta{n}ab." for n in range(5000)) * 2,
     " ".join(f"A{chr(65 + n % 26)}{chr(65 + n // 26 % 26)}{chr(65 + n // 676)}" for n in range(15_000)) * 2],
)  # fmt: skip
def test_hostile_text_takes_no_time(text: str) -> None:
    start = time.process_time()
    extract_terms(FileFacts(), [], [(1, text)])
    assert time.process_time() - start < 3
