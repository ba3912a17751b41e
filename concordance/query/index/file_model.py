"""One file as its pages need it: its facts, the users of each of its symbols, and what each of them uses.

In: an index and a path. Out: `FileModel`. Both pages of a file share it and it caches its results, so that the store is
queried once per file, not once per symbol. Results that depend on other files are memoised with what was read for them,
so that both pages record it; results that depend on the file alone are covered by the read that is recorded whenever a
page gets the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from concordance.base.blocks import Ref, To
from concordance.base.kinds import WHOLE_MODULE
from concordance.base.model import (
    EXECUTABLE_KINDS,
    TYPE_KINDS,
    FileFacts,
    Finding,
    Import,
    Kind,
    Role,
    Symbol,
    Target,
    Trust,
    role_bit,
    unpack_column,
)
from concordance.extract.registry import language_of
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import memoised_in_object
from concordance.query.answers import separator_of, split_key
from concordance.query.index.findings import active_rules
from concordance.query.index.repository import Index

CALL, INHERIT, IMPORT, TYPE, MENTION = map(role_bit, (Role.CALL, Role.INHERIT, Role.IMPORT, Role.TYPE, Role.MENTION))
DECLARE = role_bit(Role.DECLARE)


class UsePair(NamedTuple):
    """The other end of a use: a user, or what is used."""

    id: int
    roles: int  # a bit per role, as in `CALL`
    trust: int
    times: int


class FileModel:
    """A file that pages are written about."""

    def __init__(self, index: Index, path: str) -> None:
        self.index, self.path, self.reads = index, path, index.reads
        self.opened = index.open_file(path)
        self.file, self.ids = self.opened.file, self.opened.ids

    @cached_property
    def facts(self) -> FileFacts:
        """All facts that were extracted from this file alone."""
        return self.opened.facts

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """All symbols that it defines or declares."""
        return self.facts.symbols

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The positions of the symbols directly inside of each symbol; those at the top level are under -1."""
        children: dict[int, list[int]] = {}
        for place, symbol in enumerate(self.symbols):
            children.setdefault(symbol.parent, []).append(place)
        return children

    @cached_property
    def definition_of_declaration(self) -> dict[int, int]:
        """For types that the file declares and also defines: the definition's position, by the declaration's."""
        defined = {
            tuple(split_key(symbol.key)): place
            for place, symbol in enumerate(self.symbols)
            if symbol.kind in TYPE_KINDS and not symbol.declaration
        }
        definitions: dict[int, int] = {}
        for place, symbol in enumerate(self.symbols):
            if symbol.declaration and symbol.kind in TYPE_KINDS:
                there = defined.get(tuple(split_key(symbol.key)))
                if there is not None:
                    definitions[place] = there
        return definitions

    @property
    @memoised_in_object
    def users(self) -> dict[int, list[UsePair]]:
        """The users of each of its symbols with trust unique_name or better, by position (-1: the file itself).

        Uses of a symbol by itself, or by what it contains, are left out.
        """
        users: dict[int, list[UsePair]] = {}
        self.index.reads.note(Aspect.USED_BY, self.path)
        ids = self.ids
        for target, user, roles, trust, times in self.index.facts.users_of_file(self.path):
            place = ids.place_of(target)
            place = self.definition_of_declaration.get(place, place)
            if trust < Trust.UNIQUE_NAME or user == target:
                continue
            if place >= 0 and user in ids and self._is_inside(ids.place_of(user), place):
                continue
            users.setdefault(place, []).append(UsePair(user, roles, trust, times))
        self._record_names(use.id for uses in users.values() for use in uses)
        for uses in users.values():  # ids are in the order of reading, which varies; paths do not
            uses.sort(key=lambda use: self.index.order_of(use.id))
        return users

    def _is_inside(self, inner: int, outer: int) -> bool:
        while inner >= 0:
            if inner == outer:
                return True
            inner = self.symbols[inner].parent
        return False

    @cached_property
    def best_targets(self) -> dict[int, tuple[int, int]]:
        """The target and the trust of each expression that is resolved with trust unique_name or better."""
        links = self.opened.links
        best: dict[int, tuple[int, int]] = {}
        rows = zip(unpack_column(links.use), unpack_column(links.target), links.trust, strict=True)
        for expression, target, trust in rows:  # the first link of an expression is its best
            if trust >= Trust.UNIQUE_NAME and expression not in best:
                best[expression] = (target, trust)
        return best

    @property
    @memoised_in_object
    def uses(self) -> dict[int, dict[int, UsePair]]:
        """What each of its symbols uses with trust unique_name or better, by position (-1: the file) and by id."""
        flow, best = self.opened.flow, self.best_targets
        uses: dict[int, dict[int, UsePair]] = {}
        times = unpack_column(flow.times) if flow.times else [1] * len(flow.roles)
        columns = zip(
            unpack_column(flow.user), unpack_column(flow.used), unpack_column(flow.roles), times, strict=False
        )
        for user, used, roles, often in columns:
            link = best.get(used)
            if link is None or link[0] == self.ids.id_at(user - 1) or roles == DECLARE:
                continue
            inside = uses.setdefault(user - 1, {})
            had = inside.get(link[0])
            if had is None:
                inside[link[0]] = UsePair(link[0], roles, link[1], often)
            else:
                inside[link[0]] = UsePair(link[0], had.roles | roles, max(had.trust, link[1]), had.times + often)
        self._record_names(pair for inside in uses.values() for pair in inside)
        return uses

    def _record_names(self, ids: Iterable[int]) -> None:
        """Record that the page may show the names and kinds of the given symbols."""
        for path in {self.index.path_of(identity) for identity in ids}:
            self.index.reads.note(Aspect.DISPLAY_NAMES, path)

    @cached_property
    def bases(self) -> dict[int, list[int]]:
        """The ids of the classes that its classes extend, by position, in the order of the text."""
        bases: dict[int, list[int]] = {}
        for symbol, target in self.index.facts.bases_of_file(self.ids.file):
            bases.setdefault(self.ids.place_of(symbol), []).append(target)
        return bases

    @property
    @memoised_in_object
    def subclasses(self) -> dict[int, list[int]]:
        """The ids of the classes that extend its classes, by position."""
        self.index.reads.note(Aspect.USED_BY, self.path)
        return self._by_place((target, symbol) for symbol, target in self.index.facts.subclasses_of_file(self.ids.file))

    @cached_property
    def overridden(self) -> dict[int, list[int]]:
        """The ids of the methods that its methods override, by position."""
        return self._by_place(self.index.facts.overrides_of_file(self.ids.file))

    @property
    @memoised_in_object
    def overriding(self) -> dict[int, list[int]]:
        """The ids of the methods that override its methods, by position."""
        self.index.reads.note(Aspect.USED_BY, self.path)
        rows = self.index.facts.overridings_of_file(self.ids.file)
        return self._by_place((target, symbol) for symbol, target in rows)

    def _by_place(self, pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
        """Group ids by the position of the symbol of this file that they are paired with, in the order of paths.

        The order of ids is that of reading, which differs from build to build.
        """
        places: dict[int, list[int]] = {}
        for own, other in pairs:
            places.setdefault(self.ids.place_of(own), []).append(other)
        self._record_names(other for others in places.values() for other in others)
        for others in places.values():
            others.sort(key=self.index.order_of)
        return places

    @property
    @memoised_in_object
    def counterparts(self) -> dict[int, int]:
        """The definition of what is only declared here, and the declaration of what is defined here: ids, by position.

        Only unambiguous pairs are included: exactly one counterpart in other files.
        """
        if not language_of(self.file.language).has_prototypes:
            return {}
        counterparts: dict[int, int] = {}
        for place, symbol in enumerate(self.symbols):
            is_local = symbol.kind == Kind.FUNCTION and not symbol.public  # static, or in an unnamed namespace
            is_local = is_local or symbol.key == "main"  # each program has its own
            if (symbol.kind in EXECUTABLE_KINDS or symbol.kind in TYPE_KINDS) and not is_local:
                namesakes = self.index.namesakes(symbol.key, not symbol.declaration)
                others = [namesake for namesake in namesakes if not self.is_own(namesake)]
                twins = [other for other in others if _bare(self.index.path_of(other)) == _bare(self.path)]
                if len(others) == 1 or len(twins) == 1:
                    counterparts[place] = (twins or others)[0]
        return counterparts

    @cached_property
    def imports(self) -> list[tuple[Import, Target | None, int]]:
        """Each import, the file or symbol it resolves to, and the id of the imported name itself (0 if unknown)."""
        return self.opened.imports

    @property
    @memoised_in_object
    def importers(self) -> list[str]:
        """The files that import it, or a name from it by its path; a name that another file re-exports is not its."""
        index = self.index
        paths = {index.path_of(use.id) for use in self.users.get(-1, ()) if use.roles & IMPORT}
        return sorted(paths - {self.path})

    @cached_property
    def complexity(self) -> Sequence[int]:
        """The cyclomatic complexity of each symbol; 0 for what is not a function."""
        return unpack_column(self.facts.complexity) if self.facts.complexity else ()

    @property
    @memoised_in_object
    def findings(self) -> list[Finding]:
        """The findings to show for it."""
        return active_rules(self.index).findings(self.path)

    @property
    def lines(self) -> list[str] | None:
        """Its lines; None if the file has changed since it was indexed."""
        return self.opened.lines()

    @property
    def title(self) -> str:
        """The name of its language for people, or its file type."""
        return language_of(self.file.language).title if self.file.language else self.file.type

    def lines_of(self, words: str, start: int = 1, end: int = 0) -> tuple[int, int] | None:
        """Return the first and last line of a text in the file, at or after line `start`; None if it is not found."""
        lines = self.lines
        parts = [part.strip() for part in words.strip().split("\n") if part.strip()]
        if lines is None or not parts:
            return None
        first = next((n for n in range(start, min(end or len(lines), len(lines)) + 1) if parts[0] in lines[n - 1]), 0)
        if not first:
            return None
        last = first
        for part in parts[1:]:
            line = next((n for n in range(last + 1, min(last + 6, len(lines)) + 1) if part in lines[n - 1]), 0)
            last = line or last
        return first, last

    def lines_of_doc(self, place: int) -> tuple[int, int] | None:
        """Return the lines of a symbol's documentation: above the symbol, or in a string at its beginning."""
        symbol = self.symbols[place]
        if language_of(self.file.language).doc_inside:
            return self.lines_of(symbol.doc, symbol.line, symbol.end_line)
        height = symbol.doc.count("\n") + 6
        return self.lines_of(symbol.doc, max(1, symbol.start_line - height), symbol.end_line)

    # --- names

    def is_own(self, identity: int) -> bool:
        """True if an id belongs to this file or one of its symbols."""
        return identity in self.ids

    def ref(self, identity: int) -> Ref:
        """Return a link to the definition or file with this id; one that has the name of a definition of this file is
        shown with its module."""
        ref = ref_of(self.index, identity)
        if self.is_own(identity) or ref.label not in self._own_names:
            return ref
        module, own = _module_parts(ref.path), _module_parts(self.path)
        same = takewhile(bool, (one == other for one, other in zip(module, own, strict=False)))
        return ref._replace(label=".".join((*module[: sum(same) + 1][::-1], ref.label)))

    @cached_property
    def _own_names(self) -> frozenset[str]:
        """The names of definitions that a link to another file could be mistaken for, if each file is a module."""
        if not language_of(self.file.language).reexports:
            return frozenset()
        return frozenset(self.name(place) for place, symbol in enumerate(self.symbols) if symbol.parent < 0)

    def own(self, place: int, label: str = "") -> Ref:
        """Return a link to one of the file's own definitions."""
        symbol = self.symbols[place]
        return Ref(To.SYMBOL, self.path, symbol.key, label or self.name(place))

    def name(self, place: int) -> str:
        """Return the name of one of its symbols, with the name of what contains it; a macro is in nothing."""
        parts = 1 if self.symbols[place].kind == Kind.MACRO else _MAX_NAME_PARTS
        return separator_of(self.file.language).join(split_key(self.symbols[place].key)[-parts:])


def model_of(index: Index, path: str) -> FileModel:
    """Return the model of a file; the last one is cached, as the pages of a file are written one after the other."""
    last: FileModel | None = index.cache.get(FileModel)
    if last is None or last.path != path:
        last = index.cache[FileModel] = FileModel(index, path)
    else:
        index.open_file(path)  # records that this page reads the file too
    index.reads.note(Aspect.RESOLVED, path)  # what its names resolve to is cached in the model
    return last


def ref_of(index: Index, identity: int, short: bool = False) -> Ref:
    """Return a link to the definition or file with this id.

    A definition is shown with the name of what contains it (if `short`, without), a file with its path (its name), and
    a function that is a whole module with the name of its file.
    """
    key = index.key_of(identity)
    path = index.path_of(identity)
    index.reads.note(Aspect.DISPLAY_NAMES, path)
    if not key:
        return Ref(To.FILE, path, "", path.rpartition("/")[2] if short else path)
    names = split_key(key)
    if names == [WHOLE_MODULE]:
        names = [path.rpartition("/")[2]]
    parts = 1 if short or index.kind_of(identity) == Kind.MACRO else _MAX_NAME_PARTS
    return Ref(To.SYMBOL, path, key, separator_of(index.language_of(path)).join(names[-parts:]))


_MAX_NAME_PARTS = 2  # parts of a qualified name that a link shows: the rest is in the address


def _module_parts(path: str) -> list[str]:
    """Return the last part of a module's name, the one before it and so on."""
    folder, _, name = path.rpartition("/")
    parts = folder.split("/") if folder else []
    return parts[::-1] if name == "__init__.py" and parts else [name.partition(".")[0], *parts[::-1]]


def _bare(path: str) -> str:
    """Return the name of a file without its folder and its ending."""
    return path.rpartition("/")[2].rpartition(".")[0]
