"""Real examples of how a file's public names are used: call sites that were written by people, chosen and cut to copy.

In: a file. Out: a few examples, one for each of its most used names: from its own documentation, an example or a
document before a test, a test before a caller, short before long, sure before likely. The store says who uses what, so
that no more than three other files are opened, and those are chosen by what they are for and how small they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from concordance.base.model import Category, Import, Kind, Role, Symbol, Trust
from concordance.facts.updates.store_delta import Aspect
from concordance.query.index.file_model import CALL, IMPORT, INHERIT, MENTION, TYPE, FileModel, about
from concordance.query.index.open_file import OpenFile
from concordance.query.index.repository import Index
from concordance.query.markup.lines import doctest_end
from concordance.query.names.references import uses_in

Cut = tuple[int, int, str]  # first line, last line, text
_WHOLE = 15  # lines of a function that is shown whole
_AROUND = 12  # lines of a paragraph of code that is shown whole
_NARROW = 120  # signs of an import's line
_WIDE = 200  # signs of a line that is still read
_STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_BRACE = re.compile(r"[()\[\]{}]")
_OPEN = re.compile(r"[(\[]")
_CLOSE = re.compile(r"[)\]]")
_TO_RUNNER = re.compile(r">>> *# *(?:xdoctest|doctest)\b")  # lines that only speak to who runs examples
_INDENTED = frozenset(("python", "cython", "starlark", "yaml"))  # where a block is what is indented


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


class ExampleSite(NamedTuple):
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
    left: dict[int, list[ExampleSite]] = {}
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


def _ordered(one: FileModel) -> list[int]:
    """The public symbols that are used or show their use: classes and functions first, and of those the most used."""
    users, symbols = one.users, one.symbols
    places = [
        place for place, symbol in enumerate(symbols)
        if (place in users or ">>>" in symbol.doc) and _is_offered(symbols, symbol)
    ]  # fmt: skip
    return sorted(places, key=lambda place: (symbols[place].kind not in _FIRST, -len(users.get(place, ())), place))


def _sites(one: FileModel, place: int) -> list[ExampleSite]:
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
        found.append(ExampleSite(kind[0] + foreign + 4 * (size > _LARGE), doubt, calls, size, path))
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


def _chosen(sites: dict[int, list[ExampleSite]], most: int) -> dict[str, list[int]]:
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


def _own(one: FileModel, place: int) -> Example | None:
    """The example that a symbol's own documentation shows."""
    symbol = one.symbols[place]
    if ">>>" not in symbol.doc or one.lines is None:
        return None
    span = doctest(one.lines, symbol.line, symbol.end_line)
    if span is None:
        return None
    first, last, code = span
    return Example(symbol.key, one.path, first, last, code, "python", "documentation", Trust.EXACT)


def _taken(one: FileModel, file: OpenFile, places: Sequence[int], most: int) -> Iterator[Example]:
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
    file: OpenFile, lines: Sequence[str], spots: Sequence[tuple[int, int, int]], shown: set[int]
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


def _imports(file: OpenFile, lines: Sequence[str], spot: int, path: str) -> tuple[list[str], tuple[int, ...]]:
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


# ---
# Cutting an example out of a file: the lines around a use that can be copied as they are.
#
# In: a file's lines and the line of a use. Out: first and last line, and the text between without its margin: the
# whole function where it is short, else the statement with what stands right around it; in prose, the code block that
# the use stands in. Brackets are counted, nothing is parsed: the lines were written to be read.


def cut(lines: Sequence[str], line: int, language: str, around: tuple[int, int] | None) -> Cut | None:
    """The lines to copy for a use; `around` are the lines of the function that it stands in."""
    if around is not None and around[1] - around[0] < _WHOLE and around[1] > around[0]:
        return _text(lines, *around)
    top, bottom = around if around is not None else (1, len(lines))
    first, last = _statement(lines, line, language, top, bottom)
    last = _with_block(lines, first, last, bottom, language)
    if not last or last - first >= _WHOLE:
        return None
    wide_first, wide_last = first, last
    margin = _margin(lines[first - 1])
    while wide_first - 1 > top and _belongs(lines[wide_first - 2], margin) and wide_last - wide_first < _AROUND:
        wide_first -= 1
    while wide_last < bottom and _belongs(lines[wide_last], margin) and wide_last - wide_first < _AROUND:
        wide_last += 1
    ends = lines[wide_last - 1].rstrip()
    whole = (
        wide_last - wide_first < _AROUND
        and not ends.endswith((":", "\\"))
        and _is_closed(lines[wide_first - 1 : wide_last])
    )
    return _text(lines, wide_first, wide_last) if whole else _text(lines, first, last)


def _with_block(lines: Sequence[str], first: int, last: int, bottom: int, language: str) -> int:
    """The last line of the block that a statement opens, if it opens one; 0 where that goes on for too long."""
    end = lines[last - 1].partition("//")[0].rstrip()
    if language in _INDENTED:
        if not end.endswith(":"):
            return last
        margin = _margin(lines[first - 1])
        header = last
        while last < bottom and last - first < _WHOLE and (not lines[last].strip() or _margin(lines[last]) > margin):
            last += 1
        is_whole = last >= bottom or last - first < _WHOLE
        while last > header and (not is_whole or lines[last - 1].lstrip()[:1] in ("", "#")):
            is_whole = _is_closed(lines[first - 1 : last - 1]) and not lines[last - 2].rstrip().endswith(
                (":", "\\", ",")
            )
            last -= 1
        return last if last > header else 0
    while last < bottom and last - first < _WHOLE and "{" in end and not _is_closed(lines[first - 1 : last]):
        last += 1
    return last if last - first < _WHOLE else 0


def _is_closed(lines: Sequence[str]) -> bool:
    """Whether all that lines open they close: brackets, braces and long strings."""
    text = "\n".join(lines)
    if text.count('"""') % 2 or text.count("'''") % 2:
        return False
    text = _STRINGS.sub("", text)
    depth = 0
    for sign in _BRACE.findall(text):
        depth += 1 if sign in "([{" else -1
        if depth < 0:
            return False
    return depth == 0


def _belongs(line: str, margin: int) -> bool:
    """Whether a line is of the same paragraph of code."""
    return bool(line.strip()) and _margin(line) >= margin


def _statement(lines: Sequence[str], line: int, language: str, top: int, bottom: int) -> tuple[int, int]:
    """The lines of the statement around a line."""
    first = line
    depth = 0
    for number in range(line - 1, max(top, line - _WHOLE) - 1, -1):
        if not lines[number - 1].strip():
            break
        depth += _balance([lines[number - 1]])
        if depth > 0:
            first, depth = number, 0
    last = first
    while last < bottom and last - first < _WHOLE and (last < line or _goes_on(lines[first - 1 : last], language)):
        last += 1
    return first, last


def _goes_on(lines: Sequence[str], language: str) -> bool:
    if _balance(lines) > 0 or lines[-1].rstrip().endswith("\\"):
        return True
    if language in _INDENTED:
        return False
    end = lines[-1].partition("//")[0].rstrip()[-1:]
    return end not in (";", "{", "}", ":", ",") and language in ("c", "cpp", "cuda", "java", "objc", "objcpp")


def _balance(lines: Sequence[str]) -> int:
    """How many brackets are opened more than closed, those in strings left out."""
    text = "\n".join(line[:_WIDE] for line in lines)
    if '"' in text or "'" in text:
        text = _STRINGS.sub("", text)
    return len(_OPEN.findall(text)) - len(_CLOSE.findall(text))


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _text(lines: Sequence[str], first: int, last: int) -> Cut | None:
    """Lines without their margin; None where they are too wide to have been written by people."""
    kept = [line.rstrip().expandtabs(4) for line in lines[first - 1 : last]]
    if any(len(line) > _WIDE for line in kept):
        return None
    margin = min((_margin(line) for line in kept if line.strip()), default=0)
    return first, last, "\n".join(line[margin:] for line in kept)


def doctest(lines: Sequence[str], first: int, last: int) -> Cut | None:
    """The first example that the documentation between two lines shows."""
    begin = next((n for n in range(first, min(last, len(lines)) + 1) if lines[n - 1].lstrip().startswith(">>> ")), 0)
    if not begin:
        return None
    margin = _margin(lines[begin - 1])
    closing = next((n for n in range(begin, last) if '"""' in lines[n] or "'''" in lines[n]), last)
    end = begin - 1 + doctest_end(lines[begin - 1 : closing], 0, margin)
    if end - begin > _WHOLE + 5:  # the first of several, or up to the last answer that is shown whole
        asked = [n for n in range(begin + 1, begin + _WHOLE + 5) if lines[n].lstrip().startswith(">>>")]
        apart = [n for n in asked if not lines[n - 1].strip()]
        end = (apart or asked or [begin])[-1]
    while end > begin and not lines[end - 1].strip():
        end -= 1
    made = _text(lines, begin, end)
    if made is None:
        return None
    code = "\n".join(line for line in made[2].split("\n") if not _TO_RUNNER.match(line))
    return (begin, end, code + "\n") if code.strip() else None


def sample(lines: Sequence[str], line: int, language: str) -> Cut | None:
    """The code block of a document that a line stands in; None where it stands in prose."""
    if language == "markdown":
        fences = [n for n, text in enumerate(lines, 1) if text.lstrip().startswith(("```", "~~~"))]
        inside = [pair for pair in zip(fences[::2], fences[1::2], strict=False) if pair[0] < line < pair[1]]
        if not inside or inside[0][1] - inside[0][0] > 2 * _WHOLE:
            return None
        return _text(lines, inside[0][0] + 1, inside[0][1] - 1)
    margin = _margin(lines[line - 1])
    first = last = line
    while first > 1 and (not lines[first - 2].strip() or _margin(lines[first - 2]) >= max(1, margin)):
        first -= 1
    while last < len(lines) and (not lines[last].strip() or _margin(lines[last]) >= max(1, margin)):
        last += 1
    opened = lines[first - 2].rstrip() if first > 1 else ""
    is_code = opened.endswith("::") or "code" in opened or lines[line - 1].lstrip().startswith((">>>", "..."))
    if not margin or not is_code or last - first > 2 * _WHOLE:
        return None
    while not lines[first - 1].strip():
        first += 1
    while not lines[last - 1].strip():
        last -= 1
    return _text(lines, first, last)


def import_line(imported: Import, language: str, lines: Sequence[str]) -> str:
    """An import as one would write it for one name; "" where it takes more than a line."""
    alias = f" as {imported.alias}" if imported.alias and imported.alias != imported.name else ""
    if language in ("python", "cython"):
        if imported.name:
            return f"from {imported.module} import {imported.name}{alias}"
        return f"import {imported.module}{alias}"
    written = lines[imported.line - 1].strip() if imported.line <= len(lines) else ""
    return (
        written
        if len(written) <= _NARROW and imported.module in written and written.count("{") == written.count("}")
        else ""
    )
