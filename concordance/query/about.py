"""One file as its pages see it: its facts, who uses each of its symbols, and what each of them uses.

In: an index and a path. Out: `About`. Both pages of a file read it, and what is worked out is kept, so each question
is put to the store once a file, and never once a symbol.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import NamedTuple

from concordance.blocks import Ref, To
from concordance.model import ROLES, FileFacts, Import, Kind, Role, Symbol, Target, Trust, unpacked

from .answers import clean, separator_of
from .index import Index

_BITS = {role: 1 << place for place, role in enumerate(ROLES)}
CALL, INHERIT, IMPORT, TYPE = (_BITS[role] for role in (Role.CALL, Role.INHERIT, Role.IMPORT, Role.TYPE))
READ, WRITE, MENTION = _BITS[Role.READ], _BITS[Role.WRITE], _BITS[Role.MENTION]


class Use(NamedTuple):
    """One end of uses: who uses, or what is used."""

    id: int
    roles: int  # bits, as above
    trust: int
    times: int


class About:
    """A file that pages are made of."""

    def __init__(self, index: Index, path: str) -> None:
        self.index, self.path = index, path
        self.opened = index.opened(path)
        self.file, self.base = self.opened.file, self.opened.base

    @cached_property
    def facts(self) -> FileFacts:
        """All that the file says by itself."""
        return self.opened.facts

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """All that it defines or declares."""
        return self.facts.symbols

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The places of the symbols directly inside of each; those inside of none are under -1."""
        found: dict[int, list[int]] = {}
        for place, symbol in enumerate(self.symbols):
            found.setdefault(symbol.parent, []).append(place)
        return found

    @cached_property
    def users(self) -> dict[int, list[Use]]:
        """Who uses each of its symbols, by place (-1: the file itself), of trust unique_name and above.

        What uses itself is left out, and so is what stands inside of it.
        """
        found: dict[int, list[Use]] = {}
        base, symbols = self.base, self.symbols
        last = base + len(symbols)
        for target, user, roles, trust, times in self.index.facts.users_of_file(self.path):
            place = target - base - 1
            if trust < Trust.UNIQUE_NAME or user == target:
                continue
            if base < user <= last and place >= 0 and self._is_inside(user - base - 1, place):
                continue
            found.setdefault(place, []).append(Use(user, roles, trust, times))
        return found

    def _is_inside(self, inner: int, outer: int) -> bool:
        while inner >= 0:
            if inner == outer:
                return True
            inner = self.symbols[inner].parent
        return False

    @cached_property
    def uses(self) -> dict[int, dict[int, Use]]:
        """What each of its symbols uses, by place (-1: the file itself) and by id, of trust unique_name and above."""
        flow, links = self.opened.flow, self.opened.links
        best: dict[int, tuple[int, int]] = {}
        rows = zip(unpacked(links.use), unpacked(links.target), links.trust, strict=True)
        for expression, target, trust in rows:  # the first of an expression is its best
            if trust >= Trust.UNIQUE_NAME and expression not in best:
                best[expression] = (target, trust)
        found: dict[int, dict[int, Use]] = {}
        times = unpacked(flow.times) if flow.times else [1] * len(flow.roles)
        columns = zip(unpacked(flow.user), unpacked(flow.used), unpacked(flow.roles), times, strict=False)
        for user, used, roles, often in columns:
            link = best.get(used)
            if link is None or link[0] == self.base + user:
                continue
            inside = found.setdefault(user - 1, {})
            had = inside.get(link[0])
            if had is None:
                inside[link[0]] = Use(link[0], roles, link[1], often)
            else:
                inside[link[0]] = Use(link[0], had.roles | roles, max(had.trust, link[1]), had.times + often)
        return found

    @cached_property
    def imports(self) -> list[tuple[Import, Target | None, int]]:
        """Each import, what it leads to, and the id that the imported name itself has (0: none is known)."""
        return self.opened.imports

    # --- names

    def is_own(self, identity: int) -> bool:
        """Whether an id is of this file or one of its symbols."""
        return self.base <= identity <= self.base + len(self.symbols)

    def ref(self, identity: int, short: bool = False) -> Ref:
        """A link to what an id is of: a definition or a file."""
        return ref_of(self.index, identity, short)

    def own(self, place: int, label: str = "") -> Ref:
        """A link to one of the file's own definitions."""
        symbol = self.symbols[place]
        return Ref(To.SYMBOL, self.path, symbol.key, label or self.name(place))

    def name(self, place: int) -> str:
        """The qualified name of one of its symbols."""
        return separator_of(self.file.language).join(clean(self.symbols[place].key))


@lru_cache(1)  # the pages of a file are made one after the other
def about(index: Index, path: str) -> About:
    """A file as its pages see it."""
    return About(index, path)


def ref_of(index: Index, identity: int, short: bool = False) -> Ref:
    """A link to what an id is of: a definition by its qualified name (or its last part), a file by its path."""
    key = index.keys[identity] if identity < len(index.keys) else ""
    path = index.path_of(identity)
    if not key:
        return Ref(To.FILE, path, "", path.rpartition("/")[2] if short else path)
    names = clean(key)
    label = names[-1] if short else separator_of(index.language_of(path)).join(names)
    return Ref(To.SYMBOL, path, key, label)


TYPES = frozenset((Kind.CLASS, Kind.STRUCT, Kind.UNION, Kind.ENUM, Kind.INTERFACE))
RUNS = frozenset((Kind.FUNCTION, Kind.METHOD, Kind.PROPERTY, Kind.MACRO))
