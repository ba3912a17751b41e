"""Which definitions have pages of their own on the site: classes and functions that other files use.

In: a path. Out: the places of its symbols that have such a page. What is defined in one file and declared in another
has one where the definition stands, too, for that is where a reader comes to.
"""

from __future__ import annotations

from concordance.extract.engine import language_of
from concordance.model import RUN, TYPES, Kind, Trust

from .index import Index
from .reads import kept

OWN_PAGE = (RUN | TYPES | {Kind.OPERATOR}) - {Kind.MACRO}


@kept(64)
def users_in(index: Index, path: str) -> list[tuple[int, int]]:
    """Who uses what of a file: places of symbols (-1: the file) and users' ids, of trust unique_name and above."""
    base = index.base_of(path)
    rows = index.facts.users_of_file(path)
    return [(target - base - 1, user) for target, user, _, trust, _ in rows if trust >= Trust.UNIQUE_NAME]


@kept(64)
def with_pages(index: Index, path: str) -> frozenset[int]:
    """The places of a file's symbols that have pages of their own."""
    file = index.opened(path)
    base, symbols = file.base, file.symbols
    last = base + len(symbols)
    found = {place for place, user in users_in(index, path) if place >= 0 and not base <= user <= last}
    if language_of(file.file.language).has_prototypes:
        wanted: dict[int, list[int]] = {}
        for place, symbol in enumerate(symbols):
            if place not in found and not symbol.declaration and symbol.kind in OWN_PAGE:
                for one in index.namesakes(symbol.key, True):
                    wanted.setdefault(one, []).append(place)
        found.update(place for one in index.facts.used_from_elsewhere(wanted, base, last) for place in wanted[one])
    return frozenset(place for place in found if symbols[place].kind in OWN_PAGE)
