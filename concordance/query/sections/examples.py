"""Picks real examples of how a file's public names are used, cut from call sites so that they can be copied.

In: a file. Out: a few examples, one for each of its most used names. The symbol's own documentation is preferred, then
examples and documents, tests, and other callers; short before long, certain before likely. The store knows who uses
what, so that no more than three other files are opened, chosen by category and size.

An example is the whole function if it is short, else the statement with the lines directly around it; in prose, it is
the code block. Brackets are counted and nothing is parsed: the lines were written to be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from concordance.base.model import Category, Import, Kind, Role, Symbol, Trust
from concordance.extract.documents.markdown_blocks import find_fences
from concordance.extract.registry import language_of
from concordance.facts.updates.reads import compared
from concordance.query.index.file_model import CALL, IMPORT, INHERIT, MENTION, TYPE, FileModel, model_of
from concordance.query.index.open_file import OpenFile
from concordance.query.index.repository import Index
from concordance.query.markup.lines import doctest_end
from concordance.query.names.references import uses_in_file

EXAMPLES = "examples"  # the name under which it is recorded that a page shows them
Excerpt = tuple[int, int, str]  # first line, last line, text
_WHOLE = 15  # lines of a function that is shown whole
_AROUND = 12  # lines of a paragraph of code that is shown whole
_NARROW = 120  # characters of an import line
_MAX_LINE_LENGTH = 200  # characters of a line that can still be read
_STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_BRACE = re.compile(r"[()\[\]{}]")
_OPEN = re.compile(r"[(\[]")
_CLOSE = re.compile(r"[)\]]")
_TO_RUNNER = re.compile(r">>> *# *(?:xdoctest|doctest)\b")  # directives for the runner of doctests


class Example(NamedTuple):
    """One use of a symbol, with what is needed to copy it."""

    key: str  # of the symbol that is used
    path: str
    first: int
    last: int
    code: str
    language: str
    kind: str  # "example", "documentation", "test", "caller"
    trust: int
    imports: tuple[int, ...] = ()  # the lines of that file that import the name


_MAX_EXAMPLES = 4  # examples for one file
_MAX_FILES = 3  # files that are opened
_LARGE = 1 << 16  # bytes above which a file is opened only if there is no smaller one
_MAX_SYMBOLS = 12  # symbols whose users are considered
_BRIEF = 30  # a line with fewer characters shows little …
_WORDLESS = 20  # … and is preferred only to examples that are this many lines longer
_KINDS: dict[str, tuple[int, str]] = {
    Category.EXAMPLE: (0, "example"), Category.DOCUMENTATION: (1, "documentation"), Category.BENCHMARK: (2, "example"),
    Category.TEST: (3, "test"), Category.SOURCE: (4, "caller"), Category.BUILD: (5, "caller"),
    Category.CONFIGURATION: (5, "caller"), Category.GENERATED: (7, "caller"), Category.VENDORED: (8, "caller"),
}  # fmt: skip
_EXAMPLE_KINDS = frozenset(
    (Kind.CLASS, Kind.STRUCT, Kind.FUNCTION, Kind.METHOD, Kind.MACRO, Kind.INTERFACE, Kind.TARGET, Kind.TYPE,
     Kind.CONSTANT, Kind.ENUM)
)  # fmt: skip
_OUTER = frozenset((Kind.CLASS, Kind.STRUCT, Kind.NAMESPACE, Kind.INTERFACE, Kind.MODULE, Kind.ENUM))


class ExampleSite(NamedTuple):
    """A file that uses a symbol; sorts by how suitable it is for an example."""

    rank: int  # by its category, language and size
    doubt: int
    calls: int  # 0 if it calls the symbol, 1 if it only names it
    size: int  # approximate
    path: str


@compared(EXAMPLES)
def find_examples(index: Index, path: str) -> list[Example]:
    """Return a few real uses of a file's public names, starting with the names that are used most."""
    model = model_of(index, path)
    examples: list[Example] = []
    left: dict[int, list[ExampleSite]] = {}
    for place in _symbols_by_use(model):
        own = _doc_example(model, place)
        if own is not None:
            examples.append(own)
        elif sites := _sites(model, place):
            left[place] = sites
        if len(examples) == _MAX_EXAMPLES or len(left) == _MAX_SYMBOLS:
            break
    for user, places in _choose(left, _MAX_EXAMPLES - len(examples)).items():
        if len(examples) < _MAX_EXAMPLES:
            examples += _examples_in(model, index.open_file(user), places, _MAX_EXAMPLES - len(examples))
    order = {example.key: number for number, example in enumerate(examples)}
    return sorted(examples, key=lambda example: (_RANKS[example.kind], order[example.key]))


def find_examples_of(index: Index, path: str, place: int, limit: int) -> list[Example]:
    """Return a few real uses of one symbol: from its own documentation, and one from each of the best files."""
    model = model_of(index, path)
    own = _doc_example(model, place)
    examples = [own] if own is not None else []
    for site in _sites(model, place)[: limit + 1]:
        if len(examples) < limit:
            examples += _examples_in(model, index.open_file(site.path), [place], 1)
    return examples


_RANKS = {"documentation": 0, "example": 0, "test": 1, "caller": 2}
_PREFERRED_KINDS = frozenset((Kind.CLASS, Kind.FUNCTION, Kind.STRUCT, Kind.MACRO))


def _symbols_by_use(model: FileModel) -> list[int]:
    """Return the public symbols with users or doctests: classes and functions first, then the most used. If there are
    none, it is those that other files use all the same, as in a program."""
    users, symbols = model.users, model.symbols
    used = [place for place, symbol in enumerate(symbols) if place in users or ">>>" in symbol.doc]
    places = [place for place in used if _is_offered(symbols, symbols[place])] or [
        place for place in used if symbols[place].kind in _EXAMPLE_KINDS and symbols[place].parent < 0
    ]
    return sorted(
        places, key=lambda place: (symbols[place].kind not in _PREFERRED_KINDS, -len(users.get(place, ())), place)
    )


def _sites(model: FileModel, place: int) -> list[ExampleSite]:
    """Return the files that use a symbol in an instructive way, best first."""
    index = model.index
    wanted = _INFORMATIVE_ROLES.get(model.symbols[place].kind, ~IMPORT)
    best: dict[int, tuple[int, int]] = {}
    for use in model.users.get(place, ()):
        if use.roles & wanted:
            file = index.owners[use.id]
            sure = (Trust.EXACT - use.trust, int(not use.roles & CALL))
            if file not in best or sure < best[file]:
                best[file] = sure
    sites = []
    for file, (doubt, calls) in best.items():
        path = index.paths_by_id[file]
        language, category = index.language_of(path), index.category_of(path)
        kind = _kind_of(category, language)
        if path == model.path or kind is None:
            continue
        size = index.weight_of(path)
        foreign = language != model.file.language and category != Category.DOCUMENTATION
        sites.append(ExampleSite(kind[0] + foreign + 4 * (size > _LARGE), doubt, calls, size, path))
    return sorted(sites)[:8]


def _kind_of(category: str, language: str) -> tuple[int, str] | None:
    """Return the rank and label of a file's category for examples; a program among the documents is only a caller."""
    is_program = category == Category.DOCUMENTATION and not language_of(language).is_markup
    return _KINDS.get(Category.SOURCE if is_program else category)


_NAMED = CALL | INHERIT | TYPE | MENTION
_INFORMATIVE_ROLES: dict[str, int] = {  # the roles of a use that shows how a symbol is used
    Kind.FUNCTION: CALL | MENTION, Kind.METHOD: CALL | MENTION, Kind.CLASS: _NAMED, Kind.STRUCT: _NAMED,
    Kind.INTERFACE: _NAMED,
}  # fmt: skip


def _is_offered(symbols: Sequence[Symbol], symbol: Symbol) -> bool:
    """True if a symbol is public, and so is everything that contains it."""
    if symbol.kind not in _EXAMPLE_KINDS or not symbol.public or symbol.name.startswith("_"):
        return False
    parent = symbol.parent
    while parent >= 0:
        around = symbols[parent]
        if not around.public or around.kind not in _OUTER:
            return False
        parent = around.parent
    return True


def _choose(sites: dict[int, list[ExampleSite]], limit: int) -> dict[str, list[int]]:
    """Choose the files to open, each with the symbols that it is to show: few files, each the best for its symbols."""
    chosen: dict[str, list[int]] = {}
    wanted = list(sites)[: limit * 3]
    for place in wanted:
        if sum(map(len, chosen.values())) >= limit * 2:
            break
        rows = sites[place]
        known = next((site for site in rows if site.path in chosen and site.rank <= rows[0].rank), None)
        if known is None and len(chosen) < _MAX_FILES:
            known = rows[0]
        if known is not None:
            chosen.setdefault(known.path, []).append(place)
    return chosen


def _doc_example(model: FileModel, place: int) -> Example | None:
    """Return the example in a symbol's own documentation."""
    symbol = model.symbols[place]
    if ">>>" not in symbol.doc or model.lines is None:
        return None
    span = find_doctest(model.lines, symbol.line, symbol.end_line)
    if span is None:
        return None
    first, last, code = span
    return Example(symbol.key, model.path, first, last, code, "python", "documentation", Trust.EXACT)


def _examples_in(model: FileModel, file: OpenFile, places: Sequence[int], limit: int) -> Iterator[Example]:
    """Yield the examples of the given symbols that a file contains."""
    lines = file.lines()
    if lines is None:
        return
    targets = {model.ids.id_at(place): place for place in places}
    spots: dict[int, list[tuple[int, int, int]]] = {}
    for spot, claim in uses_in_file(file, frozenset(targets), Trust.UNIQUE_NAME).items():
        occurrence = file.position_of(spot)
        if occurrence.role != Role.IMPORT:
            doubt = Trust.EXACT - claim.trust
            spots.setdefault(targets[claim.target], []).append((int(occurrence.role != Role.CALL), doubt, spot))
    kind = (_kind_of(file.file.category, file.file.language) or _KINDS[Category.SOURCE])[1]
    shown: set[int] = set()
    for place in places:
        example = _shortest(file, lines, sorted(spots.get(place, ()))[:6], shown)
        if example is None or limit <= 0:
            continue
        first, last, code, spot, trust = example
        shown.update(range(first, last + 1))
        needed, numbers = _imports(file, lines, spot, model.path)
        limit -= 1
        text = "\n".join([*needed, *([""] if needed and "\n" in code else []), code])
        yield Example(
            model.symbols[place].key, file.path, first, last, text + "\n", file.file.language, kind, trust, numbers
        )


def _shortest(
    file: OpenFile, lines: Sequence[str], spots: Sequence[tuple[int, int, int]], shown: set[int]
) -> tuple[int, int, str, int, int] | None:
    """Return the best use to copy: the shortest of the most certain ones, and none that is already shown."""
    best: tuple[tuple[int, int, int], int, int, str, int, int] | None = None
    prose = language_of(file.file.language).is_markup
    for role, doubt, spot in spots:
        line = file.position_of(spot).line
        if line in shown or line > len(lines):
            continue
        if prose:
            span = find_code_block(lines, line, file.file.language)
        else:
            around = file.symbol_at(line)
            symbol = file.symbols[around] if around >= 0 else None
            span = cut_example(
                lines, line, file.file.language, (symbol.start_line, symbol.end_line) if symbol else None
            )
        if span is None:
            continue
        first, last, code = span
        weight = (role, doubt, last - first + (_WORDLESS if "\n" not in code and len(code) < _BRIEF else 0))
        if best is None or weight < best[0]:
            best = weight, first, last, code, spot, Trust.EXACT - doubt
    return best[1:] if best else None


def _imports(file: OpenFile, lines: Sequence[str], place: int, path: str) -> tuple[list[str], tuple[int, ...]]:
    """Return the import of the name that an expression begins with, as one would write it, and its line number."""
    row = file.row(place)
    while row.receiver >= 0:
        row = file.row(row.receiver)
    statement: Import | None = None
    for imported, target in file.import_targets:
        if _bound_name(imported) == row.name or (imported.form and target is not None and path in target.paths):
            statement = imported
            break
        if not imported.name and not imported.alias and imported.module.split(".")[0] == row.name:
            statement = statement or imported
    line = import_line(statement, file.file.language, lines) if statement is not None else ""
    return ([line], (statement.line,)) if statement is not None and line else ([], ())


def _bound_name(imported: Import) -> str:
    """Return the name that an import binds."""
    return imported.alias or imported.name or (imported.module if "." not in imported.module else "")


# --- cutting lines out of a file


def cut_example(lines: Sequence[str], line: int, language: str, around: tuple[int, int] | None) -> Excerpt | None:
    """Return the lines to copy for a use; `around` is the range of the function that contains it."""
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
    """Return the last line of the block that a statement opens, if any; 0 if the block is too long."""
    end = lines[last - 1].partition("//")[0].rstrip()
    if language_of(language).is_indented:
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
    """True if lines close everything that they open: brackets, braces and long strings."""
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
    """True if a line belongs to the same paragraph of code."""
    return bool(line.strip()) and _margin(line) >= margin


def _statement(lines: Sequence[str], line: int, language: str, top: int, bottom: int) -> tuple[int, int]:
    """Return the first and last line of the statement that contains a line."""
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
    if language_of(language).is_indented:
        return False
    end = lines[-1].partition("//")[0].rstrip()[-1:]
    return end not in (";", "{", "}", ":", ",") and language_of(language).has_semicolons


def _balance(lines: Sequence[str]) -> int:
    """Return how many more brackets are opened than closed, outside of strings."""
    text = "\n".join(line[:_MAX_LINE_LENGTH] for line in lines)
    if '"' in text or "'" in text:
        text = _STRINGS.sub("", text)
    return len(_OPEN.findall(text)) - len(_CLOSE.findall(text))


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _text(lines: Sequence[str], first: int, last: int) -> Excerpt | None:
    """Return lines without their common indentation; None if one is too wide to be hand-written."""
    kept = [line.rstrip().expandtabs(4) for line in lines[first - 1 : last]]
    if any(len(line) > _MAX_LINE_LENGTH for line in kept):
        return None
    margin = min((_margin(line) for line in kept if line.strip()), default=0)
    return first, last, "\n".join(line[margin:] for line in kept)


def find_doctest(lines: Sequence[str], first: int, last: int) -> Excerpt | None:
    """Return the first doctest in the documentation between two lines."""
    begin = next((n for n in range(first, min(last, len(lines)) + 1) if lines[n - 1].lstrip().startswith(">>> ")), 0)
    if not begin:
        return None
    margin = _margin(lines[begin - 1])
    closing = next((n for n in range(begin, last) if '"""' in lines[n] or "'''" in lines[n]), last)
    end = begin - 1 + doctest_end(lines[begin - 1 : closing], 0, margin)
    if end - begin > _WHOLE + 5:  # cut at the last paragraph, or else the last prompt, that fits
        prompts = [n for n in range(begin + 1, begin + _WHOLE + 5) if lines[n].lstrip().startswith(">>>")]
        paragraph_starts = [n for n in prompts if not lines[n - 1].strip()]
        end = (paragraph_starts or prompts or [begin])[-1]
    while end > begin and not lines[end - 1].strip():
        end -= 1
    text = _text(lines, begin, end)
    if text is None:
        return None
    code = "\n".join(line for line in text[2].split("\n") if not _TO_RUNNER.match(line))
    return (begin, end, code + "\n") if code.strip() else None


def find_code_block(lines: Sequence[str], line: int, language: str) -> Excerpt | None:
    """Return the code block of a document that contains a line; None if the line is prose."""
    if language == "markdown":
        fence = next((one for one in find_fences(lines) if one.first < line - 1 < one.last < len(lines)), None)
        if fence is None or fence.last - fence.first > 2 * _WHOLE:
            return None
        return _text(lines, fence.first + 2, fence.last)
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
    """Return an import as one would write it for one name; "" if it takes more than one line."""
    write = language_of(language).write_import
    if write is not None:
        return write(imported)
    written = lines[imported.line - 1].strip() if imported.line <= len(lines) else ""
    return (
        written
        if len(written) <= _NARROW and imported.module in written and written.count("{") == written.count("}")
        else ""
    )
