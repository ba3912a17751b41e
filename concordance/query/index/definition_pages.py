"""Decides which definitions get a page of their own on the site: classes and functions that other files use.

In: a path. Out: the positions (in the file's list of symbols) of those that have such a page. If a symbol is defined in
one file and declared in another, uses of the declaration count for the definition too, because readers look for the
page there.
"""

from __future__ import annotations

from concordance.base.model import EXECUTABLE_KINDS, KINDS, TYPE_KINDS, Kind, Trust
from concordance.extract.registry import language_of
from concordance.facts.updates.reads import memoised
from concordance.query.index.repository import Index

PAGE_KINDS = (EXECUTABLE_KINDS | TYPE_KINDS | {Kind.OPERATOR}) - {Kind.MACRO}


@memoised(64)
def symbol_users(index: Index, path: str) -> list[tuple[int, int]]:
    """Return the uses of a file with trust unique_name or better: (symbol's position, -1 for the file; user's id)."""
    ids, rows = index.facts.ids(path), index.facts.users_of_file(path)
    return [(ids.place_of(target), user) for target, user, _, trust, _ in rows if trust >= Trust.UNIQUE_NAME]


@memoised(64)
def symbols_with_pages(index: Index, path: str) -> frozenset[int]:
    """Return the positions of a file's symbols that have pages of their own."""
    file = index.open_file(path)
    ids = file.ids
    places = [place for place, symbol in enumerate(file.symbols) if symbol.kind in PAGE_KINDS]
    own = index.facts.used_from_elsewhere((ids.id_at(place) for place in places), ids.file)
    with_page = {ids.place_of(identity) for identity in own}
    if language_of(file.file.language).has_prototypes:
        declared: dict[int, list[int]] = {}
        for place in places:
            if place not in with_page and not file.symbols[place].declaration:
                for namesake in index.namesakes(file.symbols[place].key, True):
                    declared.setdefault(namesake, []).append(place)
        there = index.facts.used_from_elsewhere(declared, ids.file)
        with_page.update(place for identity in there for place in declared[identity])
    return frozenset(with_page)


def has_page(index: Index, identity: int) -> bool:
    """True if the symbol with this id has a page of its own."""
    path = index.path_of(identity)
    if not index.keys[identity] or KINDS[index.kinds[identity]] not in PAGE_KINDS:
        return False
    file = index.owners[identity]
    used = index.facts.used_from_elsewhere((identity,), file)
    if not used and language_of(index.language_of(path)).has_prototypes and not index.declared[identity]:
        used = index.facts.used_from_elsewhere(index.namesakes(index.keys[identity], True), file)
    return bool(used)
