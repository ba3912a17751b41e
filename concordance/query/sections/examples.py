"""Real examples of how a file's public names are used: call sites that were written by people, chosen and cut to copy.

In: a file. Out: a few examples, one for each of its most used names: from its own documentation, an example or a
document before a test, a test before a caller, short before long, sure before likely. The store says who uses what, so
that no more than three other files are opened, and those are chosen by what they are for and how small they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from concordance.base.model import Category, Import, Kind, Role, Symbol, Trust
from concordance.facts.store_delta import Aspect
from concordance.query.index.file_model import CALL, IMPORT, INHERIT, MENTION, TYPE, About, about
from concordance.query.index.open_file import Opened
from concordance.query.index.repository import Index
from concordance.query.names.references import uses_in
from concordance.query.sections.example_snippets import cut, doctest, import_line, sample


class Example(NamedTuple):
    """One use, with what is needed to copy it."""

    key: str  # of the symbol that is used
    path: str
    first: int
    last: int
    code: str
    language: str
    kind: str  # "example", "documentation", "test", "caller"
    trust: int
    imports: tuple[int, ...] = ()  # the lines of that file that bind the name


_MOST = 4  # examples of one file
_FILES = 3  # that are opened for them
_LARGE = 1 << 16  # bytes of a file that is not opened where there is another
_LOOKED_AT = 12  # symbols whose users are looked at
_BRIEF = 30  # signs of a line that shows little …
_WORDLESS = 20  # … and is taken only before one of so many lines more
_KINDS: dict[str, tuple[int, str]] = {
    Category.EXAMPLE: (0, "example"), Category.DOCUMENTATION: (1, "documentation"), Category.BENCHMARK: (2, "example"),
    Category.TEST: (3, "test"), Category.SOURCE: (4, "caller"), Category.BUILD: (5, "caller"),
    Category.CONFIGURATION: (5, "caller"), Category.GENERATED: (7, "caller"), Category.VENDORED: (8, "caller"),
}  # fmt: skip
_SHOWN = frozenset(
    (Kind.CLASS, Kind.STRUCT, Kind.FUNCTION, Kind.METHOD, Kind.MACRO, Kind.INTERFACE, Kind.TARGET, Kind.TYPE,
     Kind.CONSTANT, Kind.ENUM)
)  # fmt: skip
_OUTER = frozenset((Kind.CLASS, Kind.STRUCT, Kind.NAMESPACE, Kind.INTERFACE, Kind.MODULE, Kind.ENUM))


class Site(NamedTuple):
    """A file that uses a symbol."""

    rank: int  # what it is for
    doubt: int
    calls: int  # 0 where it calls, 1 where it but names it
    size: int  # about
    path: str


def examples(index: Index, path: str) -> list[Example]:
    """A few real uses of a file's public names, the most used first."""
    one = about(index, path)
    found: list[Example] = []
    left: dict[int, list[Site]] = {}
    for place in _ordered(one):
        own = _own(one, place)
        if own is not None:
            found.append(own)
        elif sites := _sites(one, place):
            left[place] = sites
        if len(found) == _MOST or len(left) == _LOOKED_AT:
            break
    for user, places in _chosen(left, _MOST - len(found)).items():
        if len(found) < _MOST:
            found += _taken(one, index.opened(user), places, _MOST - len(found))
    order = {example.key: number for number, example in enumerate(found)}
    return sorted(found, key=lambda example: (_RANKS[example.kind], order[example.key]))


def examples_of(index: Index, path: str, place: int, most: int) -> list[Example]:
    """A few real uses of one symbol: what its own documentation shows, and one from each of the best files."""
    one = about(index, path)
    own = _own(one, place)
    found = [own] if own is not None else []
    for site in _sites(one, place)[: most + 1]:
        if len(found) < most:
            found += _taken(one, index.opened(site.path), [place], 1)
    return found


_RANKS = {"documentation": 0, "example": 0, "test": 1, "caller": 2}
_FIRST = frozenset((Kind.CLASS, Kind.FUNCTION, Kind.STRUCT, Kind.MACRO))


def _ordered(one: About) -> list[int]:
    """The public symbols that are used or show their use: classes and functions first, and of those the most used."""
    users, symbols = one.users, one.symbols
    places = [
        place for place, symbol in enumerate(symbols)
        if (place in users or ">>>" in symbol.doc) and _is_offered(symbols, symbol)
    ]  # fmt: skip
    return sorted(places, key=lambda place: (symbols[place].kind not in _FIRST, -len(users.get(place, ())), place))


def _sites(one: About, place: int) -> list[Site]:
    """The files that use a symbol in a way to learn from, best first."""
    starts, bases = one.index.starts, one.index.bases
    wanted = _TELLING.get(one.symbols[place].kind, ~IMPORT)
    best: dict[int, tuple[int, int]] = {}
    for use in one.users.get(place, ()):
        if use.roles & wanted:
            number = bisect_right(starts, use.id) - 1
            sure = (Trust.EXACT - use.trust, int(not use.roles & CALL))
            if number not in best or sure < best[number]:
                best[number] = sure
    found = []
    for number, (doubt, calls) in best.items():
        base, path, language, category = bases[number]
        kind = _kind_of(category, language)
        if base == one.base or kind is None:
            continue
        one.index.reads.note(Aspect.NAMES, path)
        size = one.index.weight_of(path)
        foreign = language != one.file.language and category != Category.DOCUMENTATION
        found.append(Site(kind[0] + foreign + 4 * (size > _LARGE), doubt, calls, size, path))
    return sorted(found)[:8]


def _kind_of(category: str, language: str) -> tuple[int, str] | None:
    """How good a file is for examples, and what it is called; a program that makes documents is but a caller."""
    is_program = category == Category.DOCUMENTATION and language not in _PROSE
    return _KINDS.get(Category.SOURCE if is_program else category)


_PROSE = ("markdown", "rst")
_NAMED = CALL | INHERIT | TYPE | MENTION
_TELLING: dict[str, int] = {  # the roles of a use that shows how a thing is used
    Kind.FUNCTION: CALL | MENTION, Kind.METHOD: CALL | MENTION, Kind.CLASS: _NAMED, Kind.STRUCT: _NAMED,
    Kind.INTERFACE: _NAMED,
}  # fmt: skip


def _is_offered(symbols: Sequence[Symbol], symbol: Symbol) -> bool:
    """Whether a symbol is for others: public, and so is all around it."""
    if symbol.kind not in _SHOWN or not symbol.public or symbol.name.startswith("_"):
        return False
    parent = symbol.parent
    while parent >= 0:
        around = symbols[parent]
        if not around.public or around.kind not in _OUTER:
            return False
        parent = around.parent
    return True


def _chosen(sites: dict[int, list[Site]], most: int) -> dict[str, list[int]]:
    """The files to open, each with the symbols that it is to show: few files, each the best for its symbols."""
    found: dict[str, list[int]] = {}
    wanted = list(sites)[: most * 3]
    for place in wanted:
        if sum(map(len, found.values())) >= most * 2:
            break
        rows = sites[place]
        known = next((site for site in rows if site.path in found and site.rank <= rows[0].rank), None)
        if known is None and len(found) < _FILES:
            known = rows[0]
        if known is not None:
            found.setdefault(known.path, []).append(place)
    return found


def _own(one: About, place: int) -> Example | None:
    """The example that a symbol's own documentation shows."""
    symbol = one.symbols[place]
    if ">>>" not in symbol.doc or one.lines is None:
        return None
    span = doctest(one.lines, symbol.line, symbol.end_line)
    if span is None:
        return None
    first, last, code = span
    return Example(symbol.key, one.path, first, last, code, "python", "documentation", Trust.EXACT)


def _taken(one: About, file: Opened, places: Sequence[int], most: int) -> Iterator[Example]:
    """The examples that a file gives of some symbols."""
    lines = file.lines()
    if lines is None:
        return
    targets = {one.base + 1 + place: place for place in places}
    spots: dict[int, list[tuple[int, int, int]]] = {}
    for spot, claim in uses_in(file, frozenset(targets), Trust.UNIQUE_NAME).items():
        where = file.spot(spot)
        if where.role != Role.IMPORT:
            doubt = Trust.EXACT - claim.trust
            spots.setdefault(targets[claim.target], []).append((int(where.role != Role.CALL), doubt, spot))
    kind = (_kind_of(file.file.category, file.file.language) or _KINDS[Category.SOURCE])[1]
    shown: set[int] = set()
    for place in places:
        made = _shortest(file, lines, sorted(spots.get(place, ()))[:6], shown)
        if made is None or most <= 0:
            continue
        first, last, code, spot, trust = made
        shown.update(range(first, last + 1))
        needed, numbers = _imports(file, lines, spot, one.path)
        most -= 1
        text = "\n".join([*needed, *([""] if needed and "\n" in code else []), code])
        yield Example(
            one.symbols[place].key, file.path, first, last, text + "\n", file.file.language, kind, trust, numbers
        )


def _shortest(
    file: Opened, lines: Sequence[str], spots: Sequence[tuple[int, int, int]], shown: set[int]
) -> tuple[int, int, str, int, int] | None:
    """The use that is best to copy: of the surest the shortest; none that is already shown."""
    best: tuple[tuple[int, int, int], int, int, str, int, int] | None = None
    prose = file.file.language in _PROSE
    for role, doubt, spot in spots:
        line = file.spot(spot).line
        if line in shown or line > len(lines):
            continue
        if prose:
            span = sample(lines, line, file.file.language)
        else:
            around = file.symbol_at(line)
            symbol = file.symbols[around] if around >= 0 else None
            span = cut(lines, line, file.file.language, (symbol.start_line, symbol.end_line) if symbol else None)
        if span is None:
            continue
        first, last, code = span
        weight = (role, doubt, last - first + (_WORDLESS if "\n" not in code and len(code) < _BRIEF else 0))
        if best is None or weight < best[0]:
            best = weight, first, last, code, spot, Trust.EXACT - doubt
    return best[1:] if best else None


def _imports(file: Opened, lines: Sequence[str], spot: int, path: str) -> tuple[list[str], tuple[int, ...]]:
    """The line that brings in the name that an expression begins with, as one would write it, and where it stands."""
    row = file.row(spot)
    while row.receiver >= 0:
        row = file.row(row.receiver)
    found: Import | None = None
    for imported, target, _ in file.imports:
        if _bound(imported) == row.name or (imported.form and target is not None and path in target.paths):
            found = imported
            break
        if not imported.name and not imported.alias and imported.module.split(".")[0] == row.name:
            found = found or imported
    made = import_line(found, file.file.language, lines) if found is not None else ""
    return ([made], (found.line,)) if found is not None and made else ([], ())


def _bound(imported: Import) -> str:
    """The name that an import binds."""
    return imported.alias or imported.name or (imported.module if "." not in imported.module else "")
