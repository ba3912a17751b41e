"""The section about bridges to other languages: bindings, kernels, scripts that a file runs.

In: the model of a file. Out: blocks; empty if no bridge begins or ends in the file. Operators have pages of their own,
so that a file that states or implements many of them only names and links them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from concordance.base.blocks import (
    Block,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Piece,
    Ref,
    Text,
    count_noun,
    join_in_sentence,
)
from concordance.base.model import KINDS, Bridge, Kind, Trust
from concordance.query.index.file_model import FileModel, ref_of
from concordance.query.index.graphs.bridges import bridges_of, verbs
from concordance.query.pages import kinds_with

_OTHERS = 6  # other ends that are listed one by one


def bridge_blocks(one: FileModel) -> list[Block]:
    """Return the bridges from and to the file."""
    table = bridges_of(one.index)
    out, into = table.out_of(one.path), table.into(one.path)
    if not out and not into:
        return []
    found: list[Block] = [Heading(3, ["Across Languages"])]
    for says, rows in _by_word(out).items():
        found += [Text([f"It {verbs(says)[0]}:"]), Items(list(_stated(one, rows)))]
    for says, rows in _by_word(into).items():
        found += [Text([f"It {verbs(says)[1]}:"]), Items(list(_met(one, rows)))]
    return found


def _by_word(rows: Iterable[Bridge]) -> dict[str, list[Bridge]]:
    """Group rows by what they state."""
    found: dict[str, list[Bridge]] = {}
    for row in rows:
        found.setdefault(row.says, []).append(row)
    return dict(sorted(found.items()))


def _stated(one: FileModel, rows: list[Bridge]) -> Iterator[Item]:
    """Yield an item for each name that is stated in this file, in the order of the text."""
    table = bridges_of(one.index)
    groups: dict[str, list[Bridge]] = {}
    for row in rows:
        groups.setdefault(_named(one, row), []).append(row)
    lines = {name: sorted({table.line(row) for row in found} - {0}) for name, found in groups.items()}
    for name, found in sorted(groups.items(), key=lambda group: (lines[group[0]][:1], group[0])):
        told: list[Piece] = [_name(one, name)]
        targets = _targets(one, found)
        told += [": ", *targets] if targets else []
        if lines[name]:
            told += [" ", *join_in_sentence([Line(one.path, line) for line in lines[name]])]
        else:
            told += [" in ", *_sources(one, found)]
        yield Item(told)


def _sources(one: FileModel, rows: list[Bridge]) -> list[Piece]:
    sources = dict.fromkeys(row.source for row in rows)
    refs: list[Piece] = [ref_of(one.index, source) for source in list(sources)[:_OTHERS]]
    left = len(sources) - len(refs)
    return join_in_sentence([*refs, count_noun(left, "other place")] if left > 0 else refs)


def _targets(one: FileModel, rows: list[Bridge]) -> list[Piece]:
    best = max(row.trust for row in rows)
    found = dict.fromkeys(row.target for row in rows if row.trust == best and not _is_entry(one, row.target))
    refs: list[Piece] = [ref_of(one.index, target) for target in found]
    guess = best == Trust.CANDIDATE and len(found) > 1
    return [*join_in_sentence(refs, "or"), " (one of these)"] if guess else join_in_sentence(refs)


def _is_entry(one: FileModel, identity: int) -> bool:
    """True if there is no symbol, or only an operator's entry in a table: the operator itself is named instead."""
    return not identity or KINDS[one.index.kinds[identity]] == Kind.KEY


def _met(one: FileModel, rows: list[Bridge]) -> Iterator[Item]:
    """Yield an item for each definition of this file that bridges lead to."""
    groups: dict[int, list[Bridge]] = {}
    for row in rows:
        groups.setdefault(row.target, []).append(row)
    for target, found in sorted(groups.items()):  # ids within a file are in the order of the text
        named = dict.fromkeys(_named(one, row) for row in found)
        names: list[Piece] = [_name(one, name) for name in list(named)[:_OTHERS]]
        more = len(named) - len(names)
        names += [count_noun(more, "other name")] if more > 0 else []
        told: list[Piece] = [ref_of(one.index, target, short=True), ": ", *join_in_sentence(names)]
        others = [row for row in found if not _is_entry(one, row.source)]
        yield Item([*told, ", ", *_sources(one, others)] if others else told)


def _named(one: FileModel, row: Bridge) -> str:
    """Return the name of a bridge, or that of the page about it: an overload has the page of its operator."""
    ref = _page_named(one, row.name)
    return ref.path if ref is not None else row.name


def _name(one: FileModel, name: str) -> Piece:
    ref = _page_named(one, name)
    return ref if ref is not None and ref.path == name else Mono(name)


def _page_named(one: FileModel, name: str) -> Ref | None:
    """The page that is about what a bridge's name means; None where no kind of page has one."""
    for kind in kinds_with("subject_named"):
        if subject := kind.subject_named(one.index, name):
            return Ref(kind.TO, subject, "", subject)
    return None
