"""One opened file: its names by position, what they resolve to, and its text.

In: a file's row of the ledger, and the store. Out: look-ups, each decoded when it is first used. A file has thousands
of names and a question is usually about one of them, so the columns stay packed and only the names that are asked for
become rows.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, Protocol

from concordance.base import characters
from concordance.base.errors import Unreadable
from concordance.base.model import (
    ROLES,
    End,
    File,
    FileFacts,
    Flow,
    Import,
    Links,
    ListedFile,
    Occurrence,
    Op,
    Role,
    Symbol,
    Target,
    Trust,
    role_bit,
    unpack_column,
)
from concordance.collect import walk
from concordance.facts.codec import FileScopes, SymbolHead, unpack_names
from concordance.facts.read import Facts
from concordance.facts.symbol_ids import SymbolIds
from concordance.facts.updates.delta import Aspect, between
from concordance.facts.updates.reads import ReadRecorder


class LinkedTarget(NamedTuple):
    """A target that an expression may refer to, according to a link."""

    target: int  # id of a symbol or file
    trust: Trust
    by: str


class NamePlace(NamedTuple):
    """Where a name occurs in the text, and in which role and scope."""

    line: int
    col: int
    role: Role
    scope: int


class FileSource(Protocol):
    """What an opened file needs of the index that opened it."""

    facts: Facts
    root: str
    reads: ReadRecorder

    def path_of(self, identity: int) -> str:
        """Return the path of the file that an id belongs to."""


class OpenFile:
    """One file of the repository, decoded on demand.

    Opening it is recorded as reading its text. What its names resolve to can change while the text stays the
    same, so that is recorded when it is asked for.
    """

    def __init__(self, source: FileSource, file: File, ids: SymbolIds) -> None:
        self.file, self.path, self.ids = file, file.path, ids
        self._source, self._facts, self._root = source, source.facts, source.root

    @cached_property
    def _scopes(self) -> FileScopes:
        return self._facts.names_in(self.path)

    @property
    def links(self) -> Links:
        """The resolved targets of the file's names and imports."""
        self._source.reads.note(Aspect.RESOLVED, self.path)
        return self._links

    @cached_property
    def _links(self) -> Links:
        return self._facts.links(self.path)

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """The ends of bridges to other languages that the file states."""
        return self._facts.ends(self.path)

    @cached_property
    def flow(self) -> Flow:
        """The expressions of the file and how they are used."""
        return self._facts.flow(self.path) or Flow()

    @cached_property
    def facts(self) -> FileFacts:
        """Everything that was extracted from the text of this file."""
        return self._facts.of(self.path)

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """All symbols of the file, with signatures and parameters."""
        return self.facts.symbols

    @cached_property
    def defined(self) -> tuple[SymbolHead, ...]:
        """The symbols in short form, which takes a third of the time to read."""
        return self._facts.outline(self.path).symbols

    # --- names by position

    @cached_property
    def starts(self) -> array[int]:
        """The offset of each line's start, followed by the end of the text."""
        return array("I", accumulate(unpack_column(self._scopes.occurrences.lengths), initial=0))

    @cached_property
    def _offsets(self) -> array[int]:
        return array("I", accumulate(unpack_column(self._scopes.occurrences.step)))

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return unpack_names(self._scopes.occurrences)

    @cached_property
    def _uses(self) -> array[int]:
        return unpack_column(self._scopes.occurrences.use)

    def at(self, line: int, col: int) -> int | None:
        """Return the number of the occurrence at a line and column; None if no name is there."""
        offset = self.starts[line - 1] + col - 1
        place = bisect_right(self._offsets, offset) - 1
        return place if place >= 0 and offset < self._offsets[place] + len(self.row(place).name) else None

    def places_on(self, first: int, last: int) -> range:
        """Return the numbers of the occurrences on some lines."""
        begin, end = (self.starts[min(line, len(self.starts) - 1)] for line in (first - 1, last))
        return range(bisect_left(self._offsets, begin), bisect_left(self._offsets, end))

    def position_of(self, place: int) -> NamePlace:
        """Return where an occurrence is in the text."""
        offset = self._offsets[place]
        line = bisect_right(self.starts, offset)
        role = ROLES[self._scopes.occurrences.role[place]]
        return NamePlace(line, offset - self.starts[line - 1] + 1, role, self._columns[1][place])

    def row(self, place: int) -> Occurrence:
        """Return one occurrence."""
        spot = self.position_of(place)
        name, bound = self._names[self._columns[0][place]], self._columns[2][place] - 1
        hangs = self._scopes.occurrences.receiver[place]
        receiver = -1 if not hangs else place - 1 if hangs == 1 else -2
        return Occurrence(spot.line, spot.col, name, spot.role, spot.scope, bound, receiver)

    @cached_property
    def _columns(self) -> tuple[array[int], array[int], array[int]]:
        columns = self._scopes.occurrences
        return unpack_column(columns.name), unpack_column(columns.scope), unpack_column(columns.bound)

    @property
    def columns(self) -> tuple[array[int], array[int], tuple[str, ...], array[int]]:
        """All occurrences as columns: offsets, indexes into the distinct names, the names, binding scopes plus one."""
        return self._offsets, self._columns[0], self._names, self._columns[2]

    @property
    def roles(self) -> bytes:
        """The role of each occurrence, as an index into ROLES."""
        return self._scopes.occurrences.role

    @property
    def uses(self) -> array[int]:
        """For each occurrence, the expression that it ends, plus one; empty if the file has no flow."""
        return self._uses

    def expression(self, place: int) -> int:
        """Return the expression that an occurrence ends; -1 if the file has no flow."""
        return self._uses[place] - 1 if self._uses else -1

    def occurrences_of(self, expressions: Collection[int]) -> list[int]:
        """Return the occurrences that end one of the expressions, in the order of the text, without definitions."""
        role = self._scopes.occurrences.role
        places = _all_of(self._uses, frozenset(expression + 1 for expression in expressions))
        return [place for place in places if role[place] not in _DEFINING_ROLES]

    def bound_in(self, scope: int, name: str) -> list[int]:
        """Return the occurrences of a name that is bound in a scope of this file."""
        if name not in self._names:
            return []
        wanted, bound = self._names.index(name), self._columns[2]
        return [place for place in _places_of(self._columns[0], wanted) if bound[place] == scope + 1]

    def around(self, scope: int) -> int:
        """Return the position of the innermost symbol that contains a scope; -1 for the file itself."""
        scopes = self._scopes.scopes
        while scope >= 0 and scopes[scope].symbol < 0:
            scope = scopes[scope].parent
        return scopes[scope].symbol if scope >= 0 else -1

    def symbol_at(self, line: int) -> int:
        """Return the position of the innermost symbol that contains a line; -1 for the file itself."""
        scopes = self._scopes.scopes
        if len(scopes) > 1:
            around = [n for n, scope in enumerate(scopes) if scope.line <= line <= scope.end_line]
            return self.around(min(around, key=lambda n: (scopes[n].end_line - scopes[n].line, -n), default=0))
        return innermost_symbol(self.symbols, line)

    def scope_kind(self, scope: int) -> str:
        """Return the kind of a scope."""
        return self._scopes.scopes[scope].kind

    # --- what names resolve to

    @cached_property
    def _linked_expressions(self) -> array[int]:
        return unpack_column(self._links.use)

    @cached_property
    def _targets(self) -> array[int]:
        return unpack_column(self._links.target)

    def linked_targets(self, expression: int) -> list[LinkedTarget]:
        """Return the possible targets of an expression, best first."""
        self._source.reads.note(Aspect.RESOLVED, self.path)
        return [self._linked_target(row) for row in _places_of(self._linked_expressions, expression)]

    def expressions_linked_to(self, targets: frozenset[int], least: int) -> dict[int, LinkedTarget]:
        """Return the expressions that refer to the given targets with at least this trust, each with its best claim."""
        for path in {self._source.path_of(target) for target in targets}:
            self._source.reads.note(Aspect.LINKS_BETWEEN, between(self.path, path))
        trust = self._links.trust
        linked: dict[int, LinkedTarget] = {}
        for row in _all_of(self._targets, targets):
            expression = self._linked_expressions[row]
            if trust[row] >= least and (expression not in linked or linked[expression].trust < trust[row]):
                linked[expression] = self._linked_target(row)
        return linked

    def _linked_target(self, row: int) -> LinkedTarget:
        links = self._links
        return LinkedTarget(self._targets[row], Trust(links.trust[row]), links.resolvers[links.by[row]])

    @cached_property
    def calls(self) -> list[tuple[int, int]]:
        """Pairs of a caller (position of a symbol plus one; 0: the file) and the expression that it calls."""
        flow = self.flow
        rows = zip(unpack_column(flow.user), unpack_column(flow.used), unpack_column(flow.roles), strict=True)
        return [(user, used) for user, used, roles in rows if roles & _CALL]

    def below(self, symbol: int) -> list[int]:
        """Return the positions of the symbols inside of a symbol, at any depth."""
        symbols = {symbol}
        for place, parent in enumerate(unpack_column(self.flow.symbol_parent)):
            if parent - 1 in symbols and parent:
                symbols.add(place)
        return sorted(symbols - {symbol})

    @property
    def import_targets(self) -> list[tuple[Import, Target | None]]:
        """Each import, and the file or symbol it resolves to."""
        self._source.reads.note(Aspect.IMPORTS, self.path)
        return self._imports

    @cached_property
    def _imports(self) -> list[tuple[Import, Target | None]]:
        flow = self.flow
        rows, targets = (flow.imports, self._links.imports) if flow.imports else (self.facts.imports, ())
        return [(row, targets[n] if n < len(targets) else None) for n, row in enumerate(rows)]

    @property
    def imports(self) -> list[tuple[Import, Target | None, int]]:
        """Each import, the file or symbol it resolves to, and the id of the imported name itself (0 if unknown)."""
        self._source.reads.note(Aspect.RESOLVED, self.path)
        return [(row, target, self._imported_names.get(n, 0)) for n, (row, target) in enumerate(self._imports)]

    @cached_property
    def _imported_names(self) -> dict[int, int]:
        """The ids of the names that imports bring in, by the number of the import."""
        names: dict[int, int] = {}
        left = unpack_column(self.flow.left)
        for expression in _places_of(array("B", self.flow.op), int(Op.IMPORT)):
            row = bisect_left(self._linked_expressions, expression)
            if row < len(self._targets) and self._linked_expressions[row] == expression:
                names[left[expression]] = self._targets[row]
        return names

    # --- text

    @cached_property
    def _text(self) -> str | None:
        """The text from which the facts were extracted; None if the file has changed since."""
        try:
            data = walk.read(self._root, ListedFile(self.path, self.file.size, self.file.changed))
            if hashlib.sha256(data).hexdigest() != self.file.digest:
                return None
            return data.decode(self.file.encoding or "utf-8", "replace").removeprefix("\ufeff")
        except (OSError, Unreadable, LookupError):
            return None

    def text(self) -> str | None:
        """Return the whole text; None if the file has changed since it was indexed."""
        return self._text

    def lines(self) -> list[str] | None:
        """Return the lines; None if the file has changed since it was indexed."""
        return self._lines

    @cached_property
    def _lines(self) -> list[str] | None:
        if self._text is None:
            return None
        lines = characters.lines(self._text)
        return lines if lines[-1] else lines[:-1]  # nothing follows the last line's end

    def line(self, number: int) -> str | None:
        """Return a line without surrounding white space, cut if it is very long; None if the file has changed since."""
        if self._text is None:
            return None
        stripped = self._text[self.starts[number - 1] : self.starts[number]].strip()
        return stripped if len(stripped) <= MAX_LINE_LENGTH else f"{stripped[:MAX_LINE_LENGTH]} …"


MAX_LINE_LENGTH = 400  # characters of a line that an answer shows; longer lines are usually generated
_CALL = role_bit(Role.CALL)
_DEFINING_ROLES = frozenset(place for place, role in enumerate(ROLES) if role in (Role.DEFINE, Role.DECLARE))


def innermost_symbol(symbols: Sequence[Symbol], line: int) -> int:
    """Return the position of the innermost of a file's symbols that spans a line; -1 if none does."""
    for place in range(len(symbols) - 1, -1, -1):  # the last to begin is the innermost
        if symbols[place].start_line <= line <= symbols[place].end_line:
            return place
    return -1


def _all_of(column: array[int], values: frozenset[int]) -> list[int]:
    """Return the ascending positions of the given values in a column."""
    if len(values) < 5:
        return sorted(place for value in values for place in _places_of(column, value))
    return [place for place, value in enumerate(column) if value in values]


def _places_of(column: array[int], value: int) -> list[int]:
    """Return the ascending positions of a value in a column."""
    places = []
    place = -1
    try:
        while True:
            place = column.index(value, place + 1)
            places.append(place)
    except ValueError:
        return places
