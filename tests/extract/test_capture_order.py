"""Facts do not depend on the order in which the parser library returns the nodes of a capture."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tree_sitter import QueryCursor

from concordance.extract.engine import extract
from concordance.extract.reading import trees
from concordance.extract.text import highlight
from tests.support import cases

_SHARED = """
template <typename T> void first() { a<b<c<int>>>(x); launch<<<1, 2>>>(f(1), g(2, 3)); }
template <typename T> void second() { d<e<f<int>>>(y, z); h(i<j<k<int>>>(u, v)); }
void third(Iterator& iter) {
  if (complex(iter)) {
#if JIT()
    static const auto name = stringify(template <typename T> T run(T x) { return std::abs(x); });
    DISPATCH(kHalf, type, "one", [&]() { jitted<
        /*name=*/name,
        /*type=*/scalar,
        /*arity=*/1>(iter, name); });
#else
    DISPATCH(kHalf, type, "two", [&]() { kernel(iter, Functor<scalar>()); });
#endif
  } else {
    DISPATCH(kHalf, "three", [&]() { kernel(iter, Functor<scalar>()); });
  }
}
"""


class _Shuffled:
    """A query cursor that shuffles the nodes of each capture."""

    def __init__(self, query: Any) -> None:
        self._cursor = QueryCursor(query)

    def captures(self, node: Any) -> dict[str, list[Any]]:
        chance = random.Random(len(node.text or b""))
        found = list(self._cursor.captures(node).items())
        chance.shuffle(found)
        return {name: chance.sample(nodes, len(nodes)) for name, nodes in found}

    def matches(self, node: Any) -> list[Any]:
        return self._cursor.matches(node)


def _texts() -> list[tuple[str, str]]:
    texts = [("cuda", _SHARED), ("cpp", _SHARED)]
    for case in sorted(cases.HOME.rglob("*.md")):
        texts += [(example.language, example.text) for example in cases.examples(case)]
    return texts


def test_the_order_of_captures_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = _texts()
    assert {"c", "cpp", "cuda", "python", "go", "rust", "java", "typescript", "yaml"} <= {language for language, _ in texts}
    before = [(extract(text, language), highlight.highlight_spans(text, language)) for language, text in texts]
    for module in (trees, highlight):
        monkeypatch.setattr(module, "QueryCursor", _Shuffled)
    for (language, text), expected in zip(texts, before, strict=True):
        assert (extract(text, language), highlight.highlight_spans(text, language)) == expected, (language, text)
