"""One file as its pages see it: its facts, who uses each of its symbols, and what each of them uses.

In: an index and a path. Out: `FileModel`. Both pages of a file read it, and what is worked out is kept, so each
question is put to the store once a file, and never once a symbol. What is read of other files for it is `recorded`, so
that both pages note it; what is made of the file's own facts and links alone is noted by whoever asks `about`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from concordance.base.blocks import Ref, To
from concordance.base.model import ROLES, RUN, TYPES, FileFacts, Finding, Import, Role, Symbol, Target, Trust, unpacked
from concordance.extract.registry import language_of
from concordance.facts.updates.store_delta import Aspect
from concordance.query.answers import clean, separator_of
from concordance.query.index.findings import ruled
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import recorded

_BITS = {role: 1 << place for place, role in enumerate(ROLES)}
CALL, INHERIT, IMPORT, TYPE, MENTION = (
    _BITS[role] for role in (Role.CALL, Role.INHERIT, Role.IMPORT, Role.TYPE, Role.MENTION)
)


class UsePair(NamedTuple):
    """One end of uses: who uses, or what is used."""

    id: int
    roles: int  # bits, as above
    trust: int
    times: int


class FileModel:
    """A file that pages are made of."""

    def __init__(self, index: Index, path: str) -> None:
        self.index, self.path, self.reads = index, path, index.reads
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
    def meant(self) -> dict[int, int]:
        """The types that a file declares and also defines: the place of each declaration, and of its definition."""
        defined = {
            tuple(clean(symbol.key)): place
            for place, symbol in enumerate(self.symbols)
            if symbol.kind in TYPES and not symbol.declaration
        }
        found: dict[int, int] = {}
        for place, symbol in enumerate(self.symbols):
            if symbol.declaration and symbol.kind in TYPES:
                there = defined.get(tuple(clean(symbol.key)))
                if there is not None:
                    found[place] = there
        return found

    @property
    @recorded
    def users(self) -> dict[int, list[UsePair]]:
        """Who uses each of its symbols, by place (-1: the file itself), of trust unique_name and above.

        What uses itself is left out, and so is what stands inside of it.
        """
        found: dict[int, list[UsePair]] = {}
        self.index.reads.note(Aspect.INTO, self.path)
        base, symbols = self.base, self.symbols
        last = base + len(symbols)
        for target, user, roles, trust, times in self.index.facts.users_of_file(self.path):
            place = self.meant.get(target - base - 1, target - base - 1)
            if trust < Trust.UNIQUE_NAME or user == target:
                continue
            if base < user <= last and place >= 0 and self._is_inside(user - base - 1, place):
                continue
            found.setdefault(place, []).append(UsePair(user, roles, trust, times))
        self._named(use.id for uses in found.values() for use in uses)
        for uses in found.values():  # ids are in the order of reading; paths are the same everywhere
            uses.sort(key=lambda use: self._order(use.id))
        return found

    def _is_inside(self, inner: int, outer: int) -> bool:
        while inner >= 0:
            if inner == outer:
                return True
            inner = self.symbols[inner].parent
        return False

    @property
    @recorded
    def uses(self) -> dict[int, dict[int, UsePair]]:
        """What each of its symbols uses, by place (-1: the file itself) and by id, of trust unique_name and above."""
        flow, links = self.opened.flow, self.opened.links
        best: dict[int, tuple[int, int]] = {}
        rows = zip(unpacked(links.use), unpacked(links.target), links.trust, strict=True)
        for expression, target, trust in rows:  # the first of an expression is its best
            if trust >= Trust.UNIQUE_NAME and expression not in best:
                best[expression] = (target, trust)
        found: dict[int, dict[int, UsePair]] = {}
        times = unpacked(flow.times) if flow.times else [1] * len(flow.roles)
        columns = zip(unpacked(flow.user), unpacked(flow.used), unpacked(flow.roles), times, strict=False)
        for user, used, roles, often in columns:
            link = best.get(used)
            if link is None or link[0] == self.base + user:
                continue
            inside = found.setdefault(user - 1, {})
            had = inside.get(link[0])
            if had is None:
                inside[link[0]] = UsePair(link[0], roles, link[1], often)
            else:
                inside[link[0]] = UsePair(link[0], had.roles | roles, max(had.trust, link[1]), had.times + often)
        self._named(one for inside in found.values() for one in inside)
        return found

    def _named(self, ids: Iterable[int]) -> None:
        """Notes that the page may say what some symbols are."""
        for path in {self.index.path_of(one) for one in ids}:
            self.index.reads.note(Aspect.NAMES, path)

    @cached_property
    def bases(self) -> dict[int, list[int]]:
        """What its classes extend: ids, by place, in the order of the text."""
        found: dict[int, list[int]] = {}
        for symbol, target in self.index.facts.bases_of(*self._own):
            found.setdefault(symbol - self.base - 1, []).append(target)
        return found

    @property
    @recorded
    def heirs(self) -> dict[int, list[int]]:
        """What extends its classes: ids, by place."""
        self.index.reads.note(Aspect.INTO, self.path)
        return self._by_place((target, symbol) for symbol, target in self.index.facts.heirs_of(*self._own))

    @cached_property
    def overridden(self) -> dict[int, list[int]]:
        """What its methods override: ids, by place."""
        return self._by_place(self.index.facts.overrides(*self._own))

    @property
    @recorded
    def overriding(self) -> dict[int, list[int]]:
        """What overrides its methods: ids, by place."""
        self.index.reads.note(Aspect.INTO, self.path)
        return self._by_place((target, symbol) for symbol, target in self.index.facts.overridings(*self._own))

    @property
    def _own(self) -> tuple[int, int]:
        """The ids of its first symbol and of its last."""
        return self.base + 1, self.base + len(self.symbols)

    def _by_place(self, pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
        """Ids by the place of the symbol of this file that they are paired with, in the order of paths: ids are in the
        order of reading, which differs from build to build."""
        found: dict[int, list[int]] = {}
        for own, other in pairs:
            found.setdefault(own - self.base - 1, []).append(other)
        for others in found.values():
            others.sort(key=self._order)
        return found

    def _order(self, identity: int) -> tuple[str, int]:
        return self.index.path_of(identity), identity

    @property
    @recorded
    def counterparts(self) -> dict[int, int]:
        """Where what is only declared here is defined, and what is defined here is declared: ids, by place. Only what
        is sure: of one name, one declaration and one definition in other files."""
        if not language_of(self.file.language).has_prototypes:
            return {}
        found: dict[int, int] = {}
        for place, symbol in enumerate(self.symbols):
            if symbol.kind in RUN or symbol.kind in TYPES:
                others = [
                    one for one in self.index.namesakes(symbol.key, not symbol.declaration) if not self.is_own(one)
                ]
                if len(others) == 1:
                    found[place] = others[0]
        return found

    @cached_property
    def imports(self) -> list[tuple[Import, Target | None, int]]:
        """Each import, what it leads to, and the id that the imported name itself has (0: none is known)."""
        return self.opened.imports

    @property
    @recorded
    def importers(self) -> list[str]:
        """The files that import it or a name of it."""
        index = self.index
        paths = {index.path_of(use.id) for uses in self.users.values() for use in uses if use.roles & IMPORT}
        return sorted(paths - {self.path})

    @cached_property
    def complexity(self) -> Sequence[int]:
        """How many ways lead through each of its symbols; 0 for what is no function."""
        return unpacked(self.facts.complexity) if self.facts.complexity else ()

    @property
    @recorded
    def findings(self) -> list[Finding]:
        """What rules found in it."""
        return ruled(self.index).findings(self.path)

    @property
    def lines(self) -> list[str] | None:
        """Its lines; None where the file is no longer as it was read."""
        return self.opened.lines()

    @property
    def title(self) -> str:
        """What people call its language, or its type."""
        return language_of(self.file.language).title if self.file.language else self.file.type

    def lines_of(self, words: str, start: int = 1, end: int = 0) -> tuple[int, int] | None:
        """The lines on which some words of the file stand, at or behind a line: by their first and last line."""
        lines = self.lines
        parts = [part.strip() for part in words.strip().split("\n") if part.strip()]
        if lines is None or not parts:
            return None
        first = next((n for n in range(start, min(end or len(lines), len(lines)) + 1) if parts[0] in lines[n - 1]), 0)
        if not first:
            return None
        last = first
        for part in parts[1:]:
            found = next((n for n in range(last + 1, min(last + 6, len(lines)) + 1) if part in lines[n - 1]), 0)
            last = found or last
        return first, last

    def lines_of_doc(self, place: int) -> tuple[int, int] | None:
        """The lines on which the words about a symbol stand: above it, or in a string at its beginning."""
        symbol = self.symbols[place]
        if self.file.language in _INSIDE:
            return self.lines_of(symbol.doc, symbol.line, symbol.end_line)
        height = symbol.doc.count("\n") + 6
        return self.lines_of(symbol.doc, max(1, symbol.start_line - height), symbol.end_line)

    # --- names

    def is_own(self, identity: int) -> bool:
        """Whether an id is of this file or one of its symbols."""
        return self.base <= identity <= self.base + len(self.symbols)

    def ref(self, identity: int) -> Ref:
        """A link to what an id is of: a definition or a file."""
        return ref_of(self.index, identity)

    def own(self, place: int, label: str = "") -> Ref:
        """A link to one of the file's own definitions."""
        symbol = self.symbols[place]
        return Ref(To.SYMBOL, self.path, symbol.key, label or self.name(place))

    def name(self, place: int) -> str:
        """The name of one of its symbols, with that of what it stands in."""
        return separator_of(self.file.language).join(clean(self.symbols[place].key)[-_PARTS:])


def about(index: Index, path: str) -> FileModel:
    """A file as its pages see it; the last is kept, for the pages of a file are made one after the other."""
    last: FileModel | None = index.worked_out.get(FileModel)
    if last is None or last.path != path:
        last = index.worked_out[FileModel] = FileModel(index, path)
    else:
        index.opened(path)  # whoever is given what was opened before has read it, too
    return last


def ref_of(index: Index, identity: int, short: bool = False) -> Ref:
    """A link to what an id is of: a definition by its name and that of what it stands in (or its own alone), a file by
    its path."""
    key = index.keys[identity]
    path = index.path_of(identity)
    index.reads.note(Aspect.NAMES, path)
    if not key:
        return Ref(To.FILE, path, "", path.rpartition("/")[2] if short else path)
    names = clean(key)
    return Ref(
        To.SYMBOL, path, key, names[-1] if short else separator_of(index.language_of(path)).join(names[-_PARTS:])
    )


_PARTS = 2  # of a qualified name that a link shows: the rest is in the address
_INSIDE = frozenset(("python", "cython", "starlark"))  # languages whose words stand inside of what they are about
