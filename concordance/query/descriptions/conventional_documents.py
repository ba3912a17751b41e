"""Descriptions of documents that every project has: the text of its licence, the list of its changes.

In: a file and its outline. Out: pieces, such as "text of the MIT licence", or the entries of a list of changes, first
and last. Their first sentences, which say nothing of the project, are not quoted.
"""

from __future__ import annotations

import re

from concordance.base.blocks import Cite, Piece, Ref, To, count_noun
from concordance.base.model import File, Kind
from concordance.facts.codec import FileOutline, SymbolHead
from concordance.query.index.repository import Index

_LICENCE_FILE = re.compile(r"(?:un)?licen[cs]e|copying", re.I)
_OPENING = 2_000  # bytes of a licence that are searched for its name
_LICENCES = tuple((re.compile(rf"\s*{pattern}", re.I), name) for pattern, name in (
    (r"(?:.*\n){0,5}?.*apache license\W+version 2\.0", "Apache License 2.0"),
    (r"(?:.*\n){0,5}?.*mozilla public license\W+version 2\.0", "Mozilla Public License 2.0"),
    (r"(?:.*\n){0,5}?.*gnu lesser general public license\W+version 3", "GNU Lesser General Public License 3"),
    (r"(?:.*\n){0,5}?.*gnu lesser general public license\W+version 2\.1", "GNU Lesser General Public License 2.1"),
    (r"(?:.*\n){0,5}?.*gnu affero general public license\W+version 3", "GNU Affero General Public License 3"),
    (r"(?:.*\n){0,5}?.*gnu general public license\W+version 3", "GNU General Public License 3"),
    (r"(?:.*\n){0,5}?.*gnu general public license\W+version 2", "GNU General Public License 2"),
    (r"(?:.*\n){0,5}?.*boost software license\W+version 1\.0", "Boost Software License 1.0"),
    (r"(?:.*\n){0,20}?.*permission is hereby granted, free of charge, to any\s+person obtaining", "MIT licence"),
    (r"(?:.*\n){0,20}?.*permission to use, copy, modify,? and(?:/or)? distribute this\s+software", "ISC licence"),
    (r"(?:.*\n){0,20}?.*redistribution and use in source and binary forms", "BSD licence"),
    (r"(?:.*\n){0,5}?.*this is free and unencumbered software", "Unlicense"),
    (r"(?:.*\n){0,5}?.*creative commons\b.*\bcc0\b", "CC0"),
))  # fmt: skip
_CHANGES_FILE = re.compile(r"(?:change[-_ ]?logs?|changes|history|news|release[-_ ]?notes|releases)\Z", re.I)
_ENTRY = re.compile(r"\d+\.\d+|\bunreleased\b|\b(?:19|20)\d\d\b", re.I)


def is_licence(file: File) -> bool:
    """True if a file is named like the text of a licence, which does not describe itself."""
    return _LICENCE_FILE.match(file.path.rpartition("/")[2]) is not None


def describe_licence(index: Index, file: File) -> list[Piece]:
    """Return the name of the licence whose text a file holds; nothing if it holds none that is known."""
    if not is_licence(file):
        return []
    text = index.runners.text(file.path).decode("utf-8", "replace")[:_OPENING]
    name = next((name for pattern, name in _LICENCES if pattern.match(text)), "")
    return [f"text of the {name}", Cite(file.path, 1)] if name else []


def describe_changes(file: File, facts: FileOutline) -> list[Piece]:
    """Return the title of a list of changes, and its first and last entry; nothing if a file is no such list."""
    heads = [symbol for symbol in facts.symbols if symbol.kind == Kind.HEADING]
    if not heads or not _CHANGES_FILE.match(file.path.rpartition("/")[2].partition(".")[0]):
        return []
    entries = [head for head in heads if _ENTRY.search(head.name)]
    named = heads[0] if heads[0] not in entries else None
    title: list[Piece] = ["list of changes"]
    if named is not None:
        title = [_heading(file, named), Cite(file.path, named.line)]
    if len(entries) < 2:
        return title
    ends: list[Piece] = [_heading(file, entries[0]), " to ", _heading(file, entries[-1])]
    return [*title, f", {count_noun(len(entries), 'entry', 'entries')}: ", *ends]


def _heading(file: File, head: SymbolHead) -> Ref:
    return Ref(To.SYMBOL, file.path, head.key, head.name, code=False)
