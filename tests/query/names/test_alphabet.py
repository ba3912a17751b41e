"""The alphabet after updates."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from concordance.base.model import Term
from concordance.query.index.census import Census, CensusFile
from concordance.query.names.alphabet import Alphabet


def test_an_update_keeps_only_the_concepts_that_it_changes() -> None:
    """A process that follows edits would otherwise keep the files of every word in every edited file."""
    before = (Term("tensor", "word", 3, 1), Term("graph", "word", 1, 2), Term("MLP", "acronym", 1, 3, "multilayer perceptron"))
    after = (Term("tensor", "word", 5, 9), Term("node", "word", 1, 2), Term("MLP", "acronym", 2, 4, "master list page"))
    facts = SimpleNamespace(ids_by_name=lambda *ends: [], ids_named=lambda names: {})
    files = [CensusFile("a.py", 1), CensusFile("b.py", 2)]
    terms = {1: before, 2: (Term("tensor", "word", 1, 1),)}
    known = Alphabet(cast(Census, SimpleNamespace(files=files, terms=terms, facts=facts, path_of=None, order_of=None)))
    known.renew((), [("a.py", before, after)])
    assert [known.files_of(name) for name in ("tensor", "graph", "node")] == [["a.py", "b.py"], [], ["a.py"]]
    assert [entry.stands_for for entry in known.entries(["MLP"])] == ["master list page"]
    assert known._changed.keys() == {"graph", "node", "MLP"}
