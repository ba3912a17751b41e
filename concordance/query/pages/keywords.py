"""The keyword index of a file: every name that it defines, imports or mentions, and the concepts it is about.

In: a path. Out: one page. An entry is one line: the name, linked to its definition on the file's page, its line number,
and how often it is used here and in other files; members are grouped under what they belong to. The map at the end
lists which sections of the file's page contain which keywords.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from concordance.base.blocks import (
    Block,
    Cite,
    Doc,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Page,
    Picture,
    Piece,
    Quote,
    Ref,
    Strong,
    Table,
    Text,
    To,
    count_noun,
    join_with_commas,
)
from concordance.base.kinds import Section
from concordance.base.model import Kind, Skip, Term
from concordance.facts.updates.reads import memoised_in_object
from concordance.query.index.file_model import FileModel, model_of
from concordance.query.index.open_file import innermost_symbol
from concordance.query.index.repository import Index
from concordance.query.names import file_keywords
from concordance.query.names.display_names import public_name
from concordance.query.names.file_keywords import DefinedName, ImportedName, MentionedName, Usage
from concordance.query.search.absence import not_analysed
from concordance.query.sections.file_page import sections
from concordance.query.sections.section_order import titles

TO = To.KEYWORDS  # what links to these pages say

_MAX_NAMES = 12  # names of a section that the map lists one by one
_PURPOSE, _OVERVIEW, _DESIGN, _DEPENDENCIES = (
    section.value for section in (Section.PURPOSE, Section.OVERVIEW, Section.DESIGN, Section.DEPENDENCIES)
)
_FIRST_SECTIONS = frozenset((_PURPOSE, _OVERVIEW, _DESIGN, _DEPENDENCIES))  # sections that the map lists first
# Sections whose remarks are about the code around a line.
_REMARK_SECTIONS = frozenset((Section.PATTERNS.value, Section.PERFORMANCE.value, Section.SECURITY.value))
_CODE_SPAN = re.compile(r"`([^`]+)`")


def subjects(index: Index) -> list[str]:
    """Return every file of the ledger."""
    return [row[1] for row in index.file_rows]


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the keyword index of a file."""
    yield Page(Ref(To.KEYWORDS, subject), ["Keyword Index: ", Mono(subject)], _blocks(model_of(index, subject)))


def _blocks(model: FileModel) -> list[Block]:
    model.index.reads.note("words", model.path)
    groups, uses = file_keywords.defined_names(model.symbols), file_keywords.count_usage(model)
    imports = file_keywords.imported_names(model)
    is_code = model.index.census.has_code_symbol
    mentioned = file_keywords.mentioned_names(model.facts, is_code, file_keywords.names_in_code_samples(model))
    concepts = file_keywords.concepts(
        model.facts.terms, model.index.census.files_per_term, model.index.census.file_count_band
    )
    blocks: list[Block] = [Heading(2, ["File Information"]), _information(model), Heading(2, ["Keywords Extracted"])]
    if not (groups or imports or mentioned or concepts):
        return [*blocks, Text([_no_keywords(model)])]
    for title, names in groups.items():
        blocks += [Heading(3, [title]), _group(model, names, uses)]
    if imports:
        blocks += [Heading(3, [_imports_title(imports)]), Items([_import(row) for row in imports])]
    if mentioned:
        blocks += [Heading(3, [file_keywords.IDENTIFIERS]), Items(_identifiers(model, mentioned))]
    if concepts:
        blocks += [Heading(3, [file_keywords.CONCEPTS]), Items([_concept(term) for term in concepts])]
    return [
        *blocks,
        Heading(2, ["Keyword → Section Map"]),
        Items(list(_map(model, groups, imports, bool(mentioned), concepts))),
    ]


def _information(model: FileModel) -> Items:
    folder, _, name = model.path.rpartition("/")
    rows: list[tuple[str, Ref]] = [
        ("Original File", Ref(To.SOURCE, model.path, "", model.path, False)),
        ("Documentation", Ref(To.FILE, model.path, "", f"{name}_docs.md")),
        ("Folder", Ref(To.INDEX, folder, "", folder or ".")),
    ]
    # The index is derived from the whole file: citing each line would make the list of claims as long as the file.
    items = [Item([Strong(title), ": ", ref]) for title, ref in rows]
    return Items([Item([*items[0].text, Cite(model.path)]), *items[1:]])


def _no_keywords(model: FileModel) -> str:
    file = model.file
    if file.skip != Skip.NONE:
        note = f", {file.note}" if file.note not in ("", file.type) else ""
        return f"{file.type}, {count_noun(file.size, 'byte')}, not read as text{note}."
    if not file.size:
        return "The file is empty."
    if not_analysed(file):
        return f"{not_analysed(file)} No distinctive words found."
    return f"{file.type}, {count_noun(file.lines, 'line')}: no definitions, imports, names or distinctive words found."


def _times(times: int) -> str:
    return f" {times:,}×" if times > 1 else ""


def _group(model: FileModel, names: list[DefinedName], uses: dict[int, Usage]) -> Items:
    """Return the names of one kind: first those outside of any type, then members, grouped by what they belong to."""
    items: list[Item] = []
    members: dict[int, list[Item]] = {}
    for name, places in names:
        if len(places) == 1:
            owner = file_keywords.member_of(model, places[0])
            (items if owner < 0 else members.setdefault(owner, [])).append(_definition(model, name, places, uses))
            continue
        inside: dict[int, list[int]] = {}
        for place in places:
            inside.setdefault(file_keywords.member_of(model, place), []).append(place)
        for owner, some in inside.items():
            (items if owner < 0 else members.setdefault(owner, [])).append(_definition(model, name, some, uses))
    owners = sorted((file_keywords.name_key(file_keywords.qualified_name(model, owner)), owner) for owner in members)
    for _, owner in owners:
        public = public_name(model.index, model.path, model.symbols[owner].key)
        items.append(
            Item([model.own(owner, public or file_keywords.qualified_name(model, owner))], [Items(members[owner])])
        )
    return Items(items)


def _definition(model: FileModel, name: str, places: list[int], uses: dict[int, Usage]) -> Item:
    """Return a name, the lines where it is defined, and where it is used.

    To save a third of the page, some names are not linked: a member that no other file uses and a key inside another
    key are found through the link of what contains them, and a namespace is nothing but its members.
    """
    users = _users([uses[place] for place in places if place in uses])
    first = model.symbols[places[0]]
    alone = file_keywords.member_of(model, places[0]) < 0 and first.kind not in file_keywords.GROUPING_KINDS
    inner = first.kind == Kind.KEY and first.parent >= 0
    linked = (alone and not inner) or any(type(piece) is Ref for piece in users)
    shown = next((place for place in places if not model.symbols[place].declaration), places[0])
    pieces: list[Piece] = [model.own(shown, name) if linked else Mono(name), f" L{first.line}"]
    pieces += [f", L{model.symbols[place].line}" for place in places[1:]]
    return Item(pieces + users)


def _users(usages: list[Usage]) -> list[Piece]:
    """Return how often a name is used in its own file and in which other files."""
    if not usages:
        return []
    here = sum(use.here for use in usages)
    there = usages[0].there if len(usages) == 1 else sum((use.there for use in usages), Counter())
    if not there:
        return [f" {here:,}×"] if here else []
    most = sorted(there, key=lambda path: (-there[path], path))
    counts = f"{f' · {here:,}× here,' if here else ' ·'} {there.total():,}× in "
    pieces: list[Piece] = [f"{counts}{len(most):,} files, most in " if len(most) > 2 else counts, _file(most[0])]
    if len(most) == 2:
        pieces += [", ", _file(most[1])]
    return pieces


def _file(path: str) -> Ref:
    return Ref(To.FILE, path, "", path.rpartition("/")[2])


def _import(row: ImportedName) -> Item:
    pieces: list[Piece] = [
        row.ref if row.ref and row.form not in file_keywords.INCLUDED else Mono(row.module),
        f" L{row.line}",
    ]
    if row.alias:
        pieces += [" as ", Mono(row.alias)]
    if row.times:
        pieces.append(f" {row.times:,}×")
    for number, (name, ref, times) in enumerate(row.names):
        pieces += [", " if number else ": ", ref or Mono(name), f" {times:,}×" if times else ""]
    return Item(pieces)


def _identifiers(model: FileModel, rows: list[MentionedName]) -> list[Item]:
    """Return the mentioned names, linked to what they refer to."""
    mentions = file_keywords.MentionResolver(model)
    return [Item([mentions.ref(row.name) or Mono(row.name), f" L{row.line}", _times(row.times)]) for row in rows]


def _imports_title(imports: list[ImportedName]) -> str:
    """Return the title for a file's imports; the imports of a prose document are its links."""
    return (
        file_keywords.LINKS
        if imports and all(row.form in file_keywords.LINKED for row in imports)
        else file_keywords.IMPORTS
    )


def _concept(term: Term) -> Item:
    return Item([Strong(file_keywords.with_long_form(term)), f" L{term.line}", _times(term.times)])


def _map(
    model: FileModel,
    groups: dict[str, list[DefinedName]],
    imports: list[ImportedName],
    mentioned: bool,
    concepts: list[Term],
) -> Iterator[Item]:
    """Yield each section of the file's page with the keywords it contains."""
    purpose = file_keywords.TextWords(_purpose_text(model))
    stated = [term.text for term in concepts if purpose.has(term.text)]
    first = _names_in(model, _PURPOSE)
    lowered = {name.lower() for name in first}
    besides = [file_keywords.IDENTIFIERS] if mentioned else []
    besides += [file_keywords.CONCEPTS] if len(stated) < len(concepts) else []
    rows: list[tuple[str, list[Piece]]] = [
        (
            _PURPOSE,
            join_with_commas([*map(Mono, first), *(text for text in stated if text.lower() not in lowered)]),
        ),
        (file_keywords.SOURCE, [", ".join(besides)]),
        (_OVERVIEW, _shorten_names(_names_in(model, _OVERVIEW), groups)),
        (file_keywords.ANALYSIS, [", ".join(groups)]),
        (_DESIGN, _shorten_names(_names_in(model, _DESIGN), groups)),
        (_DEPENDENCIES, [_imports_title(imports)] if imports else []),
    ]
    rows += [
        (title, _shorten_names(_names_in(model, title), groups)) for title in titles() if title not in _FIRST_SECTIONS
    ]
    for title, pieces in rows:
        if any(pieces) and title not in model.index.book.sections_off:
            yield Item([Strong(title), ": ", *pieces])


def _shorten_names(names: list[str], groups: dict[str, list[DefinedName]]) -> list[Piece]:
    """Return the names, replacing a group by its title if all of the group is among them."""
    left = set(names)
    pieces: list[Piece] = []
    for title, rows in groups.items():
        inside = {row.name for row in rows}
        if len(inside) > 2 and inside <= left:
            pieces.append(title)
            left -= inside
    if len(left) > _MAX_NAMES:
        return join_with_commas([*pieces, f"{len(left):,} {'more ' if pieces else ''}definitions"])
    return join_with_commas([*pieces, *(Mono(name) for name in names if name in left)])


# --- which of the file's own names each section of its page mentions


@memoised_in_object
def _own_names(model: FileModel) -> tuple[dict[str, str], set[str]]:
    names = {symbol.key: symbol.name for symbol in model.symbols}
    return names, set(names.values())


def _names_in(model: FileModel, title: str) -> list[str]:
    """Return the file's own definitions that a section names or remarks on, from A to Z."""
    own, names = _own_names(model)
    if not own:
        return []
    shown: set[str] = set()
    lines: set[int] = set()
    for piece in pieces_of(sections(model).get(title, [])):
        if type(piece) is Ref:
            if piece.to == To.SYMBOL and piece.path == model.path and piece.at in own:
                shown.add(own[piece.at])
        elif type(piece) is Mono:
            shown.update(names & {str(piece)})
        elif type(piece) is Line:
            if title in _REMARK_SECTIONS and piece.path == model.path:
                lines.add(piece.first)
        elif type(piece) is str and "`" in piece:
            shown.update(names.intersection(_CODE_SPAN.findall(piece)))
    shown.update(_names_around(model, lines))
    return sorted(shown, key=lambda name: (name.lower(), name))


def _names_around(model: FileModel, lines: set[int]) -> Iterator[str]:
    """Yield the name of the innermost definition that contains each line."""
    for line in lines:
        place = innermost_symbol(model.symbols, line)
        if place >= 0:
            yield model.symbols[place].name


def _purpose_text(model: FileModel) -> str:
    """Return the text of the section about the file's purpose, without formatting."""
    words: list[str] = []
    for piece in pieces_of(sections(model).get(_PURPOSE, [])):
        if isinstance(piece, str):
            words.append(piece)
        elif isinstance(piece, Ref):
            words.append(piece.label)
    return " ".join(words)


def pieces_of(blocks: Iterable[Block]) -> Iterator[Piece | Picture]:
    """Yield all pieces of text in the blocks, in order."""
    for block in blocks:
        if isinstance(block, Text | Heading | Doc):
            yield from block.text
        elif isinstance(block, Items):
            for item in block.items:
                yield from item.text
                if item.blocks:
                    yield from pieces_of(item.blocks)
        elif isinstance(block, Table):
            for row in block.rows:
                for cell in row:
                    yield from cell
        elif isinstance(block, Quote):
            yield from pieces_of(block.blocks)
