"""placeholder"""
from __future__ import annotations
from concordance.model import FileFacts, Term
def terms(facts: FileFacts, comments: list[tuple[int, str]], prose: list[tuple[int, str]]) -> tuple[Term, ...]:
    return ()
