"""The page of a note: a long comment with a title, and every place that refers to it by that title.

In: the slug of a title, or "" for the list of all notes. Out: one page with the author's text. Notes of one title in
several files share a page. The list also has the standards and issues that comments cite, each with every place; their
text is not in the repository, so none is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from concordance.base.blocks import (
    Block,
    Cite,
    Doc,
    Heading,
    Item,
    Items,
    Line,
    Page,
    Piece,
    Pieces,
    Quote,
    Ref,
    Strong,
    Table,
    Text,
    To,
    count_noun,
)
from concordance.base.model import Bridge
from concordance.query.index.file_model import ref_of
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index
from concordance.query.markup import markdown
from concordance.query.sections.citations import (
    NOTES,
    anchor_of,
    citations,
    note_named,
    note_title,
    notes_by_slug,
    title_of_group,
)

TO = NOTES  # what links to these pages say
LISTED = ("Notes", "long comments that others refer to by title; standards and issues that comments cite")

_MAX_LINES = 400  # lines of a note
_OPENING = re.compile(r"\s*(?P<mark>#+|//+!?|/\*+|\*+|--+|;+|%+|[rRbBuU]?\"\"\"|[rRbBuU]?''')?")
_CLOSING = re.compile(r"\*/|\"\"\"|'''")
_STAR = re.compile(r"\s*\*(?: |$)")
_UNDERLINE = re.compile(r"\s*[~=\-*^_]{3,}\s*")
_OTHER_NOTE = re.compile(r"\s*(?:NOTE|Note):?\s*\[[^\]]+\]\s*[:.]?\s*$|\s*\[(?:NOTE|Note):[^\]]+\]\s*$")


def subjects(index: Index) -> list[str]:
    """Return "" for the list, and every note; nothing if there are neither notes nor references."""
    notes = list(notes_by_slug(index))
    return ["", *notes] if notes or citations(index) else []


def subject_named(index: Index, name: str) -> str:
    """The note that the name of a bridge means; "" for none."""
    return note_named(index, name)


def label(index: Index, subject: str) -> str:
    """The text of links to a note."""
    return notes_by_slug(index)[subject][0].name


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the page of one note, or the list."""
    if not subject:
        yield Page(Ref(TO, ""), ["Notes"], _list(index))
    elif subject in notes_by_slug(index):
        rows = notes_by_slug(index)[subject]
        yield Page(Ref(TO, subject), [f"Note: {note_title(rows[0])}"], list(_blocks(index, rows)))


def _list(index: Index) -> list[Block]:
    by_slug = notes_by_slug(index)
    rows: list[list[Pieces]] = []
    for subject, notes in by_slug.items():
        title, path = note_title(notes[0]), index.path_of(notes[0].source)
        times = f"{len(_mentions(index, notes)):,}"
        rows.append([[Ref(TO, subject, "", title, False)], [Ref(To.FILE, path, "", path)], [times]])
    sentence = f"{count_noun(len(by_slug), 'note')}: comments with a title that other comments refer to."
    blocks: list[Block] = [Text([sentence]), Table(["Note", "File", "Mentions"], rows, sorts=True)] if by_slug else []
    groups: dict[str, list[Item]] = {}
    for name, cites in citations(index).items():
        pieces = [piece for item in _places(index, cites, False) for piece in ["; ", *item.text]][1:]
        groups.setdefault(title_of_group(name), []).append(Item([Strong(name), ": ", *pieces], [], anchor_of(name)))
    for group, items in groups.items():
        blocks += [Heading(2, [group]), Items(items)]
    return blocks


def _mentions(index: Index, notes: Sequence[Bridge]) -> list[Bridge]:
    names = dict.fromkeys(row.name for row in notes)
    return [row for name in names for row in bridges_of(index).named(name) if row.says == "refers to"]


def _blocks(index: Index, notes: Sequence[Bridge]) -> Iterator[Block]:
    for row in notes:
        path, line = index.path_of(row.source), bridges_of(index).line(row)
        file = index.open_file(path)
        last, text = note_text(file.lines() or [], line)
        yield Text(["In ", Ref(To.FILE, path, "", path), " ", Line(path, line, last)])
        if text:
            words = markdown(text, file.file.language)
            yield Quote([Doc([Cite(path, line, last), *words])])
    mentions = _mentions(index, notes)
    yield Heading(2, ["Mentioned in"])
    if mentions:
        yield Items(_places(index, mentions))
    else:
        yield Text(["No comment or document refers to it by its title."])


def _places(index: Index, rows: Sequence[Bridge], named: bool = True) -> list[Item]:
    """Return the places that state the given rows, by file: their lines and, if `named`, what contains them."""
    by_path: dict[str, list[Bridge]] = {}
    for row in rows:
        by_path.setdefault(index.path_of(row.source), []).append(row)
    items = []
    for path in sorted(by_path):
        pieces: list[Piece] = []
        for row in sorted(by_path[path], key=bridges_of(index).line):
            line = bridges_of(index).line(row)
            pieces += [", " if pieces else "", Line(path, line)]
            if named and index.keys[row.source]:
                pieces += [" in ", ref_of(index, row.source, short=True)]
        items.append(Item([Ref(To.FILE, path, "", path), ": ", *pieces]))
    return items


def note_text(lines: Sequence[str], first: int) -> tuple[int, str]:
    """Return the last line of the note whose title is in the given line, and its text without comment marks."""
    opening = _OPENING.match(lines[first - 1]) if 0 < first <= len(lines) else None
    if opening is None:
        return first, ""
    mark = opening["mark"] or ""
    is_line_comment = mark.startswith(("#", "//", "--", ";", "%"))
    indent = len(lines[first - 1]) - len(lines[first - 1].lstrip())
    note: list[str] = []
    last = first
    for line in lines[first : first + _MAX_LINES]:
        closing = None
        if is_line_comment:
            if not line.strip().startswith(mark[:2]):
                break
            text = line.strip().removeprefix(mark).removeprefix(" ")
        else:
            closing = _CLOSING.search(line)
            inside = line[: closing.start()] if closing is not None else line
            if not mark and inside.strip() and len(inside) - len(inside.lstrip()) < indent:
                break
            text = _STAR.sub("", inside) if _STAR.match(inside) else inside[indent:]
        if _OTHER_NOTE.match(text):
            break
        last += 1
        if note or not _UNDERLINE.fullmatch(text):
            note.append(text)
        if closing is not None:
            break
    while note and not note[-1].strip():
        note.pop()
        last -= 1
    return last, "\n".join(note).strip("\n")
