"""The first sections of a file's page: what the file is for, what it defines, and its licence.

In: the model of a file. Out: blocks. The author's own words come first, quoted and cited; if there are none, the facts
are described.

A licence is recognised in a file's header by SPDX's identifier or by a sentence that is unique to it; a name that a
sentence gives ("BSD-style") is quoted as it is. A file without such a header is under the nearest licence file, in its
folder or above.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

from concordance.base.blocks import (
    Block,
    Cite,
    Doc,
    Item,
    Items,
    Line,
    Piece,
    Pieces,
    Quote,
    Ref,
    Text,
    To,
    count_noun,
    join_in_sentence,
)
from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, File, FileHistory, Kind, Skip
from concordance.query.descriptions import describe
from concordance.query.index.file_model import FileModel
from concordance.query.markup import first_sentence, markdown, without_licence
from concordance.query.names.mentions import MentionedNames
from concordance.query.sections.structure import count_kind, folder_counts

# --- licence


_HEAD = 6000  # characters that are searched for a header
_HINT = re.compile(r"licen[sc]e|redistribution|permission|public domain", re.I)
_SPDX = re.compile(r"SPDX-License-Identifier:[ \t]*([A-Za-z0-9.+-]+(?:[ \t]+(?:OR|AND|WITH)[ \t]+[A-Za-z0-9.+()-]+)*)")
_NAMED = re.compile(
    r"(?i:(?:licen[sc]ed|governed|released|distributed|available)\W+(?:under|by)\W+(?:the\W+terms\W+of\W+)?(?:the|an?))\W+"
    r"((?:New |Simplified |Modified |[23]-clause )?[A-Z]\w*(?:\.\w+)*"
    r"(?:[ -](?:[sS]tyle|[Cc]lause|v?[0-9][0-9.]*[0-9]|[0-9]))*)"
    r"\W+(?i:licen[sc]e)\b"
)


class Licence(NamedTuple):
    """The licence of a file, and where it is stated."""

    name: str  # of the licence, or the path of the licence file
    line: int = 0  # the line of the file itself that states it; 0 if another file does
    path: str = ""  # the licence file, if the file itself states none


def _licence_sentence(words: str) -> re.Pattern[str]:
    """Return a pattern for a sentence in a comment, where line ends and comment marks may separate the words."""
    return re.compile(r"\W+".join(re.escape(word) for word in words.split()), re.I)


_SENTENCES = tuple((_licence_sentence(words), name) for words, name in (
    ("Licensed under the Apache License Version 2 0", "Apache-2.0"),
    ("Permission is hereby granted free of charge to any person obtaining a copy of this software and", "MIT"),
    ("subject to the terms of the Mozilla Public License v 2 0", "MPL-2.0"),
    ("Distributed under the Boost Software License Version 1 0", "BSL-1.0"),
    ("Permission to use copy modify and or distribute this software for any purpose with or without fee", "ISC"),
    ("This is free and unencumbered software released into the public domain", "Unlicense"),
    ("Altered source versions must be plainly marked as such", "Zlib"),
))  # fmt: skip
_GNU = re.compile(
    r"\bGNU\W+(Lesser\W+|Library\W+|Affero\W+)?General\W+Public\W+License\W+as\W+published\W+by\W+the\W+Free\W+Software"
    r"\W+Foundation(?:.{0,60}?version\W+([0-9.]*[0-9]))?(.{0,60}?any\W+later\W+version)?",
    re.I | re.S,
)
_BSD = _licence_sentence("Redistribution and use in source and binary forms with or without modification are permitted")
_ENDORSE = _licence_sentence("to endorse or promote products derived from")
_FAMILY = {"lesser": "LGPL", "library": "LGPL", "affero": "AGPL"}


def licence(one: FileModel) -> Licence | None:
    """Return the licence of a file; None if none is stated."""
    lines = one.lines
    found = stated_licence("\n".join(lines[:200])[:_HEAD]) if lines else None
    if found is not None:
        return found
    folder = one.path
    while folder:
        folder = folder.rpartition("/")[0]
        path = one.index.licences.get(folder)
        if path is not None:
            return Licence(path, 0, path) if path != one.path else None
    return None


def stated_licence(head: str) -> Licence | None:
    """Return the licence that the beginning of a file states."""
    if not _HINT.search(head):
        return None
    match = _SPDX.search(head)
    if match:
        return Licence(match[1].strip(), _line(head, match.start()))
    for sentence, name in _SENTENCES:
        match = sentence.search(head)
        if match:
            return Licence(name, _line(head, match.start()))
    match = _GNU.search(head)
    if match:
        family = _FAMILY.get((match[1] or "").strip().lower(), "GPL")
        version = f"-{match[2] if '.' in match[2] else match[2] + '.0'}" if match[2] else ""
        return Licence(f"{family}{version}{'-or-later' if match[3] and version else ''}", _line(head, match.start()))
    match = _BSD.search(head)
    if match:
        return Licence("BSD-3-Clause" if _ENDORSE.search(head) else "BSD-2-Clause", _line(head, match.start()))
    match = _NAMED.search(head)
    return Licence(match[1], _line(head, match.start())) if match else None


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


# --- purpose and overview


_UNREAD = {
    Skip.BINARY: "binary", Skip.TOO_LARGE: "too large to be parsed", Skip.SYMLINK: "a symbolic link",
    Skip.SUBMODULE: "a submodule", Skip.UNREADABLE: "unreadable",
}  # fmt: skip
_SHOWN = frozenset(
    (*TYPE_KINDS, *EXECUTABLE_KINDS, Kind.TYPE, Kind.CONSTANT, Kind.TARGET, Kind.VARIABLE, Kind.NAMESPACE)
)
_OUTLINE = frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL))


def skip_reason(file: File) -> str:
    """Return the reason why a file is not shown."""
    why = _UNREAD.get(Skip(file.skip), file.skip)
    return f"{file.type}, {why}{f', {file.note}' if file.note else ''}."


def purpose(one: FileModel) -> list[Block]:
    """Return what the file is for: its author's words, or a description of the facts."""
    words = without_licence(one.facts.doc)
    if words and first_sentence(words, one.file.language):
        quoted = Doc(markdown(words, one.file.language, MentionedNames(one).ref))
        lines = one.lines_of(words)
        source: list[Piece] = [Line(one.path, *lines)] if lines else [Ref(To.SOURCE, one.path, "", one.path)]
        return [Quote([quoted]), Text(["— ", *source])]
    return [Text(_sentence(describe(one.index, one.path)))]


def _sentence(pieces: Pieces) -> list[Piece]:
    """Turn pieces into a sentence with a capital letter and a full stop."""
    found = list(pieces)
    if found and type(found[0]) is str and found[0][:1].islower():
        found[0] = found[0][0].upper() + found[0][1:]
    last = next((piece for piece in reversed(found) if not isinstance(piece, Cite)), "")
    if not (type(last) is str and last.endswith((".", "!", "?", "”"))):
        found.append(".")
    return found


def history_line(change: FileHistory) -> str:
    """Return a file's history in one line."""
    first, last = (datetime.fromtimestamp(when, UTC).date().isoformat() for when in (change.first, change.last))
    who = ", ".join(name for name, _ in change.authors[:3])
    return f"{count_noun(change.commits, 'commit')} from {first} to {last}, most by {who}"


def overview(one: FileModel) -> list[Block]:
    """Return what the file defines and who uses it."""
    found: list[Block] = []
    told = [*_defines(one), *_used(one)]
    if told:
        found.append(Text(told))
    names = [place for place in one.children.get(-1, []) if _is_offered(one, place)]
    names = _opened_up(one, names)
    with_words, without = [], []
    for place in names:
        symbol = one.symbols[place]
        sentence = first_sentence(symbol.doc, one.file.language) if symbol.doc else ""
        if sentence:
            with_words.append(Item([one.own(place), f" — {sentence}"]))
        else:
            without.append(place)
    if with_words:
        found.append(Items(with_words))
    if without:
        found.append(
            Text(["Also " if with_words else "Offers ", *join_in_sentence([one.own(place) for place in without]), "."])
        )
    return found or [Text([f"{one.file.type}: no definitions, and no imports of it or links to it found."])]


def _opened_up(one: FileModel, places: list[int]) -> list[int]:
    """Replace namespaces by their contents, which are what the file provides."""
    found: list[int] = []
    left = places[::-1]
    while left:
        place = left.pop()
        if one.symbols[place].kind in (Kind.NAMESPACE, Kind.MODULE):
            left += [inside for inside in reversed(one.children.get(place, [])) if _is_offered(one, inside)]
        else:
            found.append(place)
    return found


def _is_offered(one: FileModel, place: int) -> bool:
    symbol = one.symbols[place]
    if symbol.declaration and symbol.kind in TYPE_KINDS:  # a forward declaration: the type is defined elsewhere
        return False
    return symbol.public and symbol.kind in _SHOWN


def _defines(one: FileModel) -> list[Piece]:
    kinds: Counter[str] = Counter(symbol.kind for symbol in one.symbols if not symbol.declaration)
    if not kinds:
        return []
    most: list[Piece] = [count_kind(kind, number) for kind, number in kinds.most_common()]
    hidden = sum(not symbol.public for symbol in one.symbols if not symbol.declaration)
    private = f", {hidden:,} of them private" if hidden else ""
    verb = "" if kinds.keys() <= _OUTLINE else "Defines "
    return [verb, *join_in_sentence(most), private, ". "]


def _used(one: FileModel) -> list[Piece]:
    paths: Counter[str] = Counter()
    for users in one.users.values():
        for use in users:
            if not one.is_own(use.id):
                paths[one.index.path_of(use.id)] += 1
    if not paths:
        return []
    if len(paths) <= 3:
        refs: list[Piece] = [Ref(To.FILE, path, "", path) for path in sorted(paths)]
        return ["Used by ", *join_in_sentence(refs), "."]
    return [f"Used by {len(paths):,} files: ", *folder_counts(paths), "."]


def no_structure(one: FileModel) -> str:
    """Return the reason why a file has no structure to show."""
    file = one.file
    if file.skip != Skip.NONE:
        return f"{file.type}: definitions are not extracted."
    if not file.lines:
        return "Empty."
    if one.facts.imports:
        return f"Imports only: {count_noun(len(one.facts.imports), 'import')}, no definitions."
    return f"{count_noun(file.lines, 'line')} of {file.type}, without definitions."
