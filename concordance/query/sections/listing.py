"""The source page of a file: its text, with a target for each name and remarks for each line.

In: a path and the number of a page. Out: a `Listing`: the text, highlighting, the names with their targets, and remarks
by line. The target of a name is the first answer of `concord define` at its position, but computed for all names of a
file at once: each expression is looked up once, and definitions in other files are fetched together.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from concordance.base.errors import Unreadable
from concordance.base.model import ROLES, Finding, Kind, ListedFile, Role, Skip, Trust, unpack_column
from concordance.collect import walk
from concordance.collect.blame import Blame, blame
from concordance.extract import ruleset
from concordance.extract.registry import language_of
from concordance.extract.text import highlight
from concordance.facts.read import SymbolPlace
from concordance.query.index.definition_pages import PAGE_KINDS, symbol_users, symbols_with_pages
from concordance.query.index.findings import active_rules
from concordance.query.index.open_file import LinkedTarget, OpenFile
from concordance.query.index.repository import Index
from concordance.query.names.at_position import BINDING_ROLES, ImportOrigins, Resolution, local_kind, with_definitions
from concordance.query.search.absence import skip_reason

PAGE_LINES = 20_000  # lines of a page; a longer file has several pages
_DEFINES = frozenset(ROLES.index(role) for role in (Role.DEFINE, Role.DECLARE))
_BINDS = frozenset(ROLES.index(role) for role in BINDING_ROLES)
_IMPORT = ROLES.index(Role.IMPORT)


class LinkTarget(NamedTuple):
    """The target of a name."""

    kind: str  # a symbol's kind, "file", "parameter" or "variable"; "" if it is outside the repository
    path: str = ""
    line: int = 0
    key: str = ""  # of the symbol; "" for a file and for a variable that is not a symbol
    trust: Trust = Trust.EXACT
    by: str = ""  # the reason of the link; for what is outside, where it is imported from
    own: bool = False  # True if the name is the definition itself
    page: bool = False  # True if the definition has a page of its own
    also: tuple[tuple[str, int], ...] = ()  # other possible definitions: paths and lines


class LineRemark(NamedTuple):
    """A finding about a line, or the number of tests that use a definition on it."""

    line: int
    finding: Finding | None = None
    has_rule_page: bool = False  # True if the finding's rule has a page
    tests: int = 0  # how many tests use the definition on this line …
    key: str = ""  # … which has this key


class Listing(NamedTuple):
    """One page of a source file."""

    path: str
    part: int
    parts: int
    first: int  # number of the first line
    text: str | None  # None if the file is not shown
    why: str = ""  # why it is not shown
    spans: Sequence[tuple[int, int, str]] = ()
    names: Sequence[tuple[int, int, int]] = ()  # start and end in the text, and the index in `goals`
    goals: Sequence[LinkTarget] = ()
    remarks: Sequence[LineRemark] = ()
    digest: str = ""  # of the file's bytes


def page_count(lines: int) -> int:
    """Return the number of pages for a file with this many lines."""
    return max(1, -(-lines // PAGE_LINES))


def build_listing(index: Index, path: str, part: int = 1) -> Listing:
    """Return one page of a file's source."""
    file = index.open_file(path)
    lines = max(file.file.lines, len(file.starts) - 1)
    parts, first = page_count(lines), (part - 1) * PAGE_LINES + 1
    text = file.text() if file.file.skip == Skip.NONE else None
    if text is None:
        why = skip_reason(file.file) if file.file.skip != Skip.NONE else "The file has changed since it was read."
        return Listing(path, part, parts, first, None, why)
    begin, end = _stretch(text, file, part, parts)
    spans = _headings(file, highlight.highlight_spans(text, file.file.language, begin, end))
    names = _Names(index, file)
    linked = list(names.between(begin, end))
    linked = sorted([*linked, *(name for name in names.included(text, linked) if begin <= name[0] < end)])
    return Listing(
        path, part, parts, first, text[begin:end], "", clip_spans(spans, begin, end),
        [(start - begin, stop - begin, goal) for start, stop, goal in linked], names.goals,
        [remark for remark in _remarks(index, file, names) if first <= remark.line < first + PAGE_LINES],
        file.file.digest,
    )  # fmt: skip


def _stretch(text: str, file: OpenFile, part: int, parts: int) -> tuple[int, int]:
    """Return the offsets at which a page begins and ends."""
    if parts == 1 or len(file.starts) < 2:
        return 0, len(text)
    starts = file.starts
    begin = starts[min((part - 1) * PAGE_LINES, len(starts) - 1)]
    return begin, starts[part * PAGE_LINES] if part < parts and part * PAGE_LINES < len(starts) else len(text)


def clip_spans(spans: list[tuple[int, int, str]], begin: int, end: int) -> list[tuple[int, int, str]]:
    """Return the spans within a range of the text, relative to its start."""
    if not begin and (not spans or spans[-1][1] <= end):
        return spans
    inside = [span for span in spans if span[1] > begin and span[0] < end]
    return [(max(start, begin) - begin, min(stop, end) - begin, letter) for start, stop, letter in inside]


def _headings(file: OpenFile, spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Add the lines of headings, which the store knows, to the highlighting."""
    lines = {symbol.line for symbol in file.symbols if symbol.kind == Kind.HEADING}
    if not lines:
        return spans
    more = [(file.starts[line - 1], file.starts[line], "h") for line in lines if line < len(file.starts)]
    taken = [span for span in spans if not any(span[0] < end and span[1] > start for start, end, _ in more)]
    return sorted(taken + more)


# --- names


class _Names:
    """The names of a file and their targets."""

    def __init__(self, index: Index, file: OpenFile) -> None:
        self.index, self.file = index, file
        self.goals: list[LinkTarget] = []
        self._of_expression: dict[int, int] = {}
        self._elsewhere: dict[int, int] = {}
        self._of_local: dict[tuple[int, int], tuple[int, int]] = {}
        self._of_definition: dict[int, int] = {}

    def between(self, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the names within a range that have a target or are imported from outside."""
        file = self.file
        offsets, names, words, bounds = file.columns
        roles, uses = file.roles, file.uses
        lengths = list(map(len, words))
        known, bound_here, elsewhere = self._of_expression.get, self._of_local.get, self._elsewhere.get  # for speed
        for place in range(bisect_left(offsets, begin), bisect_right(offsets, end - 1)):
            word, start = names[place], offsets[place]
            goal: int | None
            if roles[place] in _DEFINES and start in self._symbols:
                goal = self._definition(start)
            else:
                expression = uses[place] - 1 if uses else -1
                goal = known(expression)
                if goal is None:
                    goal = self._expression(expression)
                if goal < 0 and bounds[place]:
                    variable = bound_here((bounds[place], word)) or self._local(bounds[place], word)
                    goal = variable[0] if variable[1] != start else -1  # the first binding does not link to itself
                if goal < 0:
                    goal = elsewhere(expression)
                    if goal is None:
                        goal = self._outside(expression)
            if goal >= 0:
                yield start, start + lengths[word], goal

    def included(self, text: str, spans: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
        """Yield links for paths of files, which are not names: `#include "a.h"`, `[this](that.md)`."""
        if language_of(self.file.file.language).imports_by_name:
            return
        starts, taken = self.file.starts, [name[0] for name in spans]
        done: set[int] = set()
        for row, target in self.file.import_targets:
            path = target.paths[0] if target is not None and target.paths else ""
            if target is None or path in ("", self.file.path) or not row.module or row.line >= len(starts):
                continue
            begin, end = starts[row.line - 1], starts[row.line]
            at = text.find(row.module, begin + row.col - 1, end)
            at = at if at >= 0 else text.find(row.module, begin, end)
            stop = at + len(row.module)
            behind = bisect_left(taken, stop)
            if at < 0 or at in done or (behind and spans[behind - 1][1] > at):
                continue
            done.add(at)
            also = tuple((other, 1) for other in target.paths[1:])
            trust = Trust.CANDIDATE if also else Trust.VIA_IMPORT
            yield at, stop, self._new(LinkTarget("file", path, 1, trust=trust, by=target.by, also=also))

    def _new(self, goal: LinkTarget) -> int:
        self.goals.append(goal)
        return len(self.goals) - 1

    # definitions

    @cached_property
    def _symbols(self) -> dict[int, list[int]]:
        """The positions of the symbols whose names are at an offset."""
        symbols: dict[int, list[int]] = {}
        starts = self.file.starts
        for place, symbol in enumerate(self.file.symbols):
            if symbol.line < len(starts):
                symbols.setdefault(starts[symbol.line - 1] + symbol.col - 1, []).append(place)
        return symbols

    def _definition(self, start: int) -> int:
        known = self._of_definition.get(start)
        if known is None:
            known = self._of_definition[start] = self._definition_target(self._symbols[start])
        return known

    def _definition_target(self, places: list[int]) -> int:
        file, first = self.file, self.file.symbols[places[0]]
        if first.declaration:
            here = [self._own_place(place) for place in places]
            target = self._best_first([Resolution(symbol, Trust.EXACT, "definition") for symbol in here])
            if target[0].place.id != here[0].id:
                return self._new(self._goal(target))
        page = next((file.symbols[place] for place in places if place in self.paged), None)
        if page is not None:
            return self._new(LinkTarget(page.kind, file.path, page.line, page.key, own=True, page=True))
        return self._new(LinkTarget(first.kind, file.path, first.line, first.key, own=True))

    def _own_place(self, place: int) -> SymbolPlace:
        symbol, file = self.file.symbols[place], self.file
        return SymbolPlace(
            file.ids.id_at(place), symbol.name, symbol.kind, file.path, place, symbol.line, symbol.declaration,
            symbol.col, symbol.public, symbol.key, file.file.language, file.file.category,
        )  # fmt: skip

    @cached_property
    def paged(self) -> frozenset[int]:
        """The positions of the symbols that have pages of their own."""
        return symbols_with_pages(self.index, self.file.path)

    @cached_property
    def tested(self) -> Counter[int]:
        """The number of tests that use each symbol, by position; a test does not count as its own user."""
        tests, ids = self.index.tests, self.file.ids
        rows = symbol_users(self.index, self.file.path)
        return Counter(place for place, user in set(rows) if user in tests and user != ids.id_at(place))

    # uses

    @cached_property
    def _claims(self) -> dict[int, list[LinkedTarget]]:
        links = self.file.links
        targets: dict[int, list[LinkedTarget]] = {}
        rows = zip(unpack_column(links.use), unpack_column(links.target), links.trust, links.by, strict=True)
        for use, target, trust, by in rows:
            targets.setdefault(use, []).append(LinkedTarget(target, Trust(trust), links.resolvers[by]))
        return targets

    @cached_property
    def _places(self) -> dict[int, SymbolPlace]:
        """The symbols and files that names of this file refer to."""
        index = self.index
        wanted = {claim.target for claims in self._claims.values() for claim in claims}
        files = {identity for identity in wanted if identity in index.paths_by_id}
        own = {identity for identity in wanted - files if identity in self.file.ids}
        places = index.facts.places(wanted - files - own)
        places.update((identity, self._own_place(self.file.ids.place_of(identity))) for identity in own)
        for number in files:
            path = index.paths_by_id[number]
            language, category = index.language_of(path), index.category_of(path)
            places[number] = SymbolPlace(number, "", "file", path, -1, 1, False, 1, True, "", language, category)
        return places

    def _expression(self, expression: int) -> int:
        known = -1
        claims = self._claims.get(expression, ())
        targets = [
            Resolution(self._places[target.target], target.trust, target.by)
            for target in claims
            if target.target in self._places
        ]
        if targets:
            known = self._new(self._goal(self._best_first(targets)))
        self._of_expression[expression] = known
        return known

    def _best_first(self, resolutions: list[Resolution]) -> list[Resolution]:
        """Return resolutions in the order of `define`; definitions are looked up only if there may be one elsewhere."""
        index = self.index
        for resolution in resolutions:
            place = resolution.place
            if place.declaration and any(other != place.id for other in index.namesakes(place.key, False)):
                return with_definitions(index, resolutions, warm=True)
        return resolutions

    def _goal(self, resolutions: list[Resolution]) -> LinkTarget:
        place = resolutions[0].place
        others = (
            resolution.place for resolution in resolutions[1:] if place.declaration or not resolution.place.declaration
        )
        also = dict.fromkeys((other.path, other.line) for other in others)
        return LinkTarget(
            place.kind, place.path, place.line, place.key, resolutions[0].trust, resolutions[0].by,
            also=tuple(pair for pair in also if pair != (place.path, place.line)),
        )  # fmt: skip

    # variables, and names from outside

    @cached_property
    def _first_bindings(self) -> dict[tuple[int, int], int]:
        """The first occurrence that binds each name in each scope; scopes are numbered from one."""
        file = self.file
        _, names, _, bounds = file.columns
        bindings: dict[tuple[int, int], int] = {}
        for place, (role, bound) in enumerate(zip(file.roles, bounds, strict=True)):
            if bound and role in _BINDS:
                bindings.setdefault((bound, names[place]), place)
        return bindings

    def _local(self, bound: int, word: int) -> tuple[int, int]:
        """Return the target of a variable that is not a symbol: its first binding, and the offset of that."""
        file, first = self.file, self._first_bindings.get((bound, word), -1)
        goal = -1
        if first >= 0 and file.roles[first] != _IMPORT:
            kind = local_kind(file, bound - 1, file.columns[2][word])
            goal = self._new(LinkTarget(kind, file.path, file.position_of(first).line, by="scope"))
        known = self._of_local[bound, word] = (goal, file.columns[0][first] if first >= 0 else -1)
        return known

    @cached_property
    def _whence(self) -> ImportOrigins:
        return ImportOrigins(self.file)

    def _outside(self, expression: int) -> int:
        origin = self._whence.of(expression) if expression >= 0 else ""
        known = self._elsewhere[expression] = self._new(LinkTarget("", by=origin)) if origin else -1
        return known


# --- remarks


def _remarks(index: Index, file: OpenFile, names: _Names) -> list[LineRemark]:
    """Return the findings, and the definitions that tests use."""
    rules = ruleset.rules()
    remarks = [
        LineRemark(finding.line, finding, finding.by in rules) for finding in active_rules(index).findings(file.path)
    ]
    for place, tests in names.tested.items():
        symbol = file.symbols[place] if 0 <= place < len(file.symbols) else None
        if symbol is not None and symbol.kind in PAGE_KINDS:
            remarks.append(LineRemark(symbol.line, tests=tests, key=symbol.key if place in names.paged else ""))
    return sorted(remarks, key=lambda remark: (remark.line, remark.finding is None))


# --- blame


def blame_lines(index: Index, path: str) -> Blame:
    """Return the commit that last changed each line, or a note if that is not known.

    The file must still be as the store knows it, because the line numbers of the page are those of the store.
    """
    opened = index.open_file(path)
    file, lines = opened.file, opened.lines()
    if file.skip != Skip.NONE:
        return Blame(note="the file is not shown")
    try:
        data = walk.read(index.root, ListedFile(path, file.size, file.changed))
    except (OSError, Unreadable):
        data = b""
    if lines is None or hashlib.sha256(data).hexdigest() != file.digest:
        return Blame(note="the file has changed since it was read")
    blamed = blame(index.root, path, data)
    if not blamed.note and sum(count for count, _ in blamed.ranges) != len(lines):
        return Blame(note="git splits its lines differently")
    return blamed
