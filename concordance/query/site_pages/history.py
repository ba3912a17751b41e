"""The history of a folder: when it was changed, which files most, and by whom.

In: a folder ("" for the root). Out: one page. It says what git knows of the files that are there now; what is not known
is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from concordance.base.blocks import Block, Heading, Mono, Page, Piece, Pieces, Plot, Ref, Table, Text, To, counted
from concordance.query.folders import folders
from concordance.query.folders.repository import name_of
from concordance.query.index import history
from concordance.query.index.repository import Index

_FILES, _AUTHORS = 50, 50  # rows of a table; how many there are is said


def subjects(index: Index) -> list[str]:
    """Every folder that has files below it."""
    return index.folders


def pages(index: Index, subject: str) -> Iterator[Page]:
    """The history of one folder."""
    known = history.past(index, subject)
    title: list[Piece] = ["History: ", Mono(subject or name_of(index))]
    blocks = _blocks(index, subject, known) if known.files else [_nothing(index, subject)]
    yield Page(Ref(To.HISTORY, subject), title, blocks)


def _nothing(index: Index, folder: str) -> Block:
    why = history.note(index)
    many = counted(folders(index).all[folder].count, "file")
    return Text([f"Nothing is known of when its {many} were changed{': ' + why if why else ''}."])


def _blocks(index: Index, folder: str, known: history.FolderHistory) -> list[Block]:
    total, changes = folders(index).all[folder].count, sum(row[0] for row in known.files.values())
    first, last = min(row[1] for row in known.files.values()), max(row[2] for row in known.files.values())
    words = f"{counted(changes, 'change')} to {counted(len(known.files), 'file')} "
    days = [history.day_of(first), history.day_of(last)]
    when = f"from {days[0]} to {days[1]}" if days[0] != days[1] else f"on {days[0]}"
    words += f"by {counted(len(known.authors), 'author')}, {when}. "
    words += "A commit to a file is one change; merges do not count."
    if len(known.files) < total:
        words += f" Of {counted(total - len(known.files), 'other file')} git knows no change."
    if history.note(index):
        words += f" What is known is limited: {history.note(index)}."
    found: list[Block] = [Text([words])]
    if not folder:
        found += _commits(index)
    came = Counter(history.month_of(row[1]) for row in known.files.values())
    changed = Counter(history.month_of(row[2]) for row in known.files.values())
    found += _plot("Files by their last change", changed, "how many files were changed then for the last time")
    found += _plot("Files by their first change", came, "how many of the files that are there now came then")
    return [*found, *_most_changed(folder, known), *_authors(known)]


def _commits(index: Index) -> list[Block]:
    months = history.months(index)
    if months is None:
        return [Heading(2, ["Commits"]), Text(["The store does not say when commits were made: a new build notes it."])]
    return _plot("Commits", Counter(dict(months)), "how many commits were made, without merges") if months else []


def _plot(title: str, counts: Counter[str], words: str) -> list[Block]:
    bars = history.filled(counts)
    unit = "year" if len(bars[0][0]) == 4 else "month"
    if len(bars) == 1:
        what = "commits" if title == "Commits" else "files"
        return [Heading(2, [title]), Text([f"All {bars[0][1]:,} {what} in {bars[0][0]}."])]
    column = "Commits" if title == "Commits" else "Files"
    return [Heading(2, [title]), Text([f"By {unit}, {words}."]), Plot(title, (unit.capitalize(), column), bars)]


def _most_changed(folder: str, known: history.FolderHistory) -> list[Block]:
    ordered = sorted(known.files.items(), key=lambda row: (-row[1][0], row[0]))
    start = len(folder) + 1 if folder else 0
    rows: list[list[Pieces]] = [
        [[Ref(To.FILE, path, "", path[start:])], [f"{times:,}"], [history.day_of(first)], [history.day_of(last)]]
        for path, (times, first, last) in ordered[:_FILES]
    ]
    found: list[Block] = [Heading(2, ["Most changed files"])]
    if len(ordered) > _FILES:
        found.append(Text([f"{_FILES} of {len(ordered):,} files; the map shows all of them by their changes."]))
    return [*found, Table(["File", "Changes", "First", "Last"], rows)]


def _authors(known: history.FolderHistory) -> list[Block]:
    ordered = sorted(known.authors.items(), key=lambda row: (-row[1], row[0]))
    rows: list[list[Pieces]] = [
        [[name], [f"{times:,}"], [f"{known.touched[name]:,}"]] for name, times in ordered[:_AUTHORS]
    ]
    found: list[Block] = [Heading(2, ["Authors"])]
    if len(ordered) > _AUTHORS:
        rest = sum(times for _, times in ordered[_AUTHORS:])
        left = len(ordered) - _AUTHORS
        found.append(Text([f"{_AUTHORS} of {len(ordered):,}; the other {left:,} made {counted(rest, 'change')}."]))
    return [*found, Table(["Author", "Changes", "Files"], rows)]
