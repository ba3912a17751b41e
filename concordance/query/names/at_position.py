"""What the name at a line and column means.

In: `PATH:LINE:COL`. Out: `Resolution`s, best first: a definition means itself, a linked name what its links
say, a variable of a function the first place that binds it. Where nothing is known, the reason is.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

from concordance.base.errors import UserError
from concordance.base.model import Occurrence, Op, Origin, Role, Trust, unpacked
from concordance.extract.registry import language_of
from concordance.facts.read import Place
from concordance.query.index.open_file import OpenFile
from concordance.query.index.repository import Index
from concordance.query.names.declarations import joined, together
from concordance.query.names.import_trail import Hop, TrailFinder

POSITION = re.compile(r"(?P<path>.+):(?P<line>\d{1,9}):(?P<col>\d{1,9})", re.DOTALL)
BINDS = frozenset((Role.DEFINE, Role.DECLARE, Role.WRITE, Role.IMPORT))
_WHENCE = {
    Origin.STANDARD: "the language's own library",
    Origin.THIRD_PARTY: "outside of the repository",
    Origin.GENERATED: "what the repository's build makes",
    Origin.REPOSITORY: "the repository, which defines no such name",
    Origin.UNRESOLVED: "what was not found",
}


class WrongPlace(UserError):
    """There is no such line or column."""


class Resolution(NamedTuple):
    """One thing that a question may mean."""

    place: Place  # a variable without a symbol has the id 0
    trust: Trust
    by: str
    via: tuple[Hop, ...] = ()
    scope: int = -1  # of a variable without a symbol: the scope that binds it
    best: bool = True  # whether nothing fits the question better


class ResolvedQuestion(NamedTuple):
    """All that a question means, and what is to be known of it."""

    meant: list[Resolution]
    note: str = ""


def at(index: Index, asked: str) -> ResolvedQuestion:
    """What the name at PATH:LINE:COL means."""
    file, row, place = _name_at(index, asked)
    if row is None:
        return ResolvedQuestion([], f"no name stands at {asked}")
    if row.role in (Role.DEFINE, Role.DECLARE):
        here = [s for s in index.facts.symbols_in(file.path) if (s.line, s.col) == (row.line, row.col)]
        if here:
            return ResolvedQuestion([Resolution(symbol, Trust.EXACT, "definition") for symbol in here])
    expression = file.expression(place)
    claims = file.claims(expression)
    places = index.facts.places(claim.target for claim in claims)
    found = [
        Resolution(
            places[claim.target], claim.trust, claim.by, _via(index, file, expression, claim.target, claim.trust)
        )
        for claim in claims
        if claim.target in places
    ]
    if found:
        return ResolvedQuestion(found)
    return _local(index, file, row) or ResolvedQuestion([], _why_not(index, file, row, expression))


def with_definitions(index: Index, found: list[Resolution], warm: bool = False) -> list[Resolution]:
    """Puts before declarations what defines them, and behind all what declares them again. Who asks for many names has
    the table of all at hand, and is `warm`."""
    known = {one.place.id for one in found}
    before: list[Resolution] = []
    behind: list[Resolution] = []
    for one in found:
        if one.place.declaration:
            same = joined(index, one.place) if warm else together(index, [one.place])
            others = [place for place in same if place.id not in known]
            defined = [place for place in others if not place.declaration]
            trust = min(one.trust, Trust.EXACT if len(defined) == 1 else Trust.CANDIDATE)
            before += [Resolution(place, trust, "definition of a declaration", one.via) for place in defined]
            behind += [Resolution(place, one.trust, "declared again", one.via) for place in others if place.declaration]
            known.update(place.id for place in others)
    return before + found + behind


def _name_at(index: Index, asked: str) -> tuple[OpenFile, Occurrence | None, int]:
    """The name at a position, and its place; none where none stands there."""
    matched = POSITION.fullmatch(asked)
    if matched is None:
        raise WrongPlace(f"{asked} is no place", "Write PATH:LINE:COL")
    file = index.opened(index.file(matched["path"]).path)
    line, col = int(matched["line"]), int(matched["col"])
    if file.file.skip:
        reason = file.file.note or file.file.skip
        raise WrongPlace(f"{file.path} is not read as text: {reason}", "Name a file that `concord symbols` can read")
    last = max(1, len(file.starts) - 1)
    if not 1 <= line <= last:
        raise WrongPlace(f"{file.path} has no line {line}: it has {last:,}", "Lines are counted from 1")
    columns = file.starts[line] - file.starts[line - 1] if line < len(file.starts) else 0
    if not 1 <= col <= max(1, columns):
        raise WrongPlace(f"line {line} of {file.path} has no column {col}", "Columns are counted from 1, in characters")
    place = file.at(line, col) if columns else None
    return file, file.row(place) if place is not None else None, place if place is not None else -1


def _via(index: Index, file: OpenFile, expression: int, target: int, trust: Trust) -> tuple[Hop, ...]:
    """The imports and aliases between a name and what it means."""
    way = TrailFinder(index, target).of_expression(file, expression) if trust > Trust.CANDIDATE else None
    return way.hops if way else ()


def _local(index: Index, file: OpenFile, row: Occurrence) -> ResolvedQuestion | None:
    """A variable that is no symbol: where it is first bound."""
    if row.bound < 0:
        return None
    rows = map(file.row, file.bound_in(row.bound, row.name))
    first = next((one for one in rows if one.role in BINDS), None)
    if first is None or first.role == Role.IMPORT:
        return None
    around = file.around(row.bound)
    inside = index.facts.place(file.base + 1 + around) if around >= 0 else None
    key = f"{inside.key}.{row.name}" if inside is not None else row.name
    kind = local_kind(file, row.bound, row.name)
    found = Place(
        0, row.name, kind, file.path, -2, first.line, False, first.col, False, key, file.file.language,
        file.file.category,
    )  # fmt: skip
    return ResolvedQuestion([Resolution(found, Trust.EXACT, "scope", (), row.bound)])


def local_kind(file: OpenFile, scope: int, name: str) -> str:
    """Whether a name that a scope binds is a parameter or another variable."""
    around, kind = file.around(scope), file.scope_kind(scope)
    if kind != "function" or around < 0:
        return "parameter" if kind == "lambda" else "variable"
    told = any(parameter.name.lstrip("*&") == name for parameter in file.symbols[around].parameters)
    return "parameter" if told else "variable"


def _why_not(index: Index, file: OpenFile, row: Occurrence, expression: int) -> str:
    """Why nothing is known of a name."""
    imported = ImportOrigins(file).of(expression)
    if imported:
        return imported
    if row.receiver != -1:
        carry = len(index.facts.named(row.name))
        if not carry:
            return f"nothing in the repository defines {row.name} ({index.searched(file.file.language)})"
        many = f"{carry:,} definitions carry" if carry > 1 else "one definition carries"
        return f"it is not known what {row.name} hangs on; {many} the name ({index.searched(file.file.language)})"
    title = language_of(file.file.language).title
    return f"{row.name} is not defined in this repository as far as {title} says"


class ImportOrigins:
    """Says where names of a file come from that imports bring in from elsewhere."""

    def __init__(self, file: OpenFile) -> None:
        self.file, flow = file, file.flow
        self._op, self._left, self._values = flow.op, unpacked(flow.left), unpacked(flow.bound_value)

    @cached_property
    def _first(self) -> dict[int, int]:
        """The row of what is first bound to each variable."""
        found: dict[int, int] = {}
        for row, variable in enumerate(unpacked(self.file.flow.bound_variable)):
            found.setdefault(variable, row)
        return found

    def of(self, expression: int) -> str:
        """The import that an expression comes from, in words; "" where there is none."""
        for _ in range(16):
            op = self._op[expression] if 0 <= expression < len(self._op) else Op.UNKNOWN
            if op in (Op.IMPORT, Op.PACKAGE):
                row, target, _ = self.file.imports[self._left[expression]]
                whence = _WHENCE.get(Origin(target.origin), "") if target is not None else ""
                package = f" ({target.package})" if target is not None and target.package else ""
                return f"line {row.line} imports it from {row.module}: {whence or 'not linked'}{package}"
            if op == Op.NAME:
                bound = self._first.get(self._left[expression], -1)
                expression = self._values[bound] if bound >= 0 else -1
            elif op == Op.MEMBER:
                expression = self._left[expression]
            else:
                break
        return ""
