"""The standards and issues that comments cite: `PEP 484`, `RFC 7231`, `#1234`, `owner/name#1234`.

In: an index. Out: each with every place that cites it, in the order of the list on the page of notes, and links to its
entry there.
"""

from __future__ import annotations

import re
from zlib import crc32

from concordance.base.blocks import Ref
from concordance.base.model import Bridge
from concordance.facts.updates.reads import memoised
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index

NOTES = "note"  # what links to the page of notes say
_GROUPS = {"PEP": "Python Enhancement Proposals", "RFC": "Requests for Comments", "": "Issues"}
_STANDARD = re.compile(r"(PEP|RFC) \d+")
_NOT_IN_ANCHORS = re.compile(r"[^a-z0-9]+")
_MAX_ANCHOR = 28  # characters of a key that is its own anchor


def citations(index: Index) -> dict[str, list[Bridge]]:
    """Return what comments cite, each with all places that cite it."""
    return _citations_of(index, "references")


@memoised(1)
def _citations_of(index: Index, bridge: str) -> dict[str, list[Bridge]]:
    found: dict[str, list[Bridge]] = {}
    for row in bridges_of(index).of_kind(bridge):
        found.setdefault(row.name, []).append(row)
    return {name: found[name] for name in sorted(found, key=_order)}


def _kind(name: str) -> str:
    standard = _STANDARD.fullmatch(name)
    return standard[1] if standard is not None else ""


def _order(name: str) -> tuple[int, str, int]:
    """A sort key: by kind, then by repository, then by number."""
    kind = _kind(name)
    start, _, number = name.rpartition(" " if kind else "#")
    return list(_GROUPS).index(kind), start, int(number)


def title_of_group(name: str) -> str:
    """Return the title of the list that an entry is in."""
    return _GROUPS[_kind(name)]


def link_to(name: str) -> Ref:
    """Return a link to an entry on the page of notes."""
    return Ref(NOTES, "", f"def-{anchor_of(name)}", name, False)


def anchor_of(name: str) -> str:
    """Return the key of an entry's anchor, short and plain."""
    plain = _NOT_IN_ANCHORS.sub("-", name.lower()).strip("-")
    plain = f"issue-{plain}" if name.startswith("#") else plain
    return plain if len(plain) <= _MAX_ANCHOR else f"{plain[: _MAX_ANCHOR - 9]}-{crc32(name.encode()):08x}"
