"""The licence of a file.

A licence is recognised in a file's header by SPDX's identifier or by a sentence that is unique to it; a name that a
sentence gives ("BSD-style") is quoted as it is. A file without such a header is under the nearest licence file, in its
folder or above.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from concordance.base.paths import parent_folders
from concordance.query.index.file_model import FileModel

_HEADER_LENGTH = 6000  # characters that are searched for a header
_HINTS = ("license", "licence", "redistribution", "permission", "public domain")
_SPDX = re.compile(r"SPDX-License-Identifier:[ \t]*([A-Za-z0-9.+-]+(?:[ \t]+(?:OR|AND|WITH)[ \t]+[A-Za-z0-9.+()-]+)*)")
_NAMED_LICENCE = re.compile(
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


def licence(model: FileModel) -> Licence | None:
    """Return the licence of a file; None if none is stated."""
    lines = model.lines
    stated = stated_licence("\n".join(lines[:200])[:_HEADER_LENGTH]) if lines else None
    if stated is not None:
        return stated
    for folder in parent_folders(model.path):
        path = model.index.licences.get(folder)
        if path is not None:
            return Licence(path, 0, path) if path != model.path else None
    return None


def stated_licence(head: str) -> Licence | None:
    """Return the licence that the beginning of a file states."""
    lower = head.lower()
    if not any(hint in lower for hint in _HINTS):
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
    match = _NAMED_LICENCE.search(head)
    return Licence(match[1], _line(head, match.start())) if match else None


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
