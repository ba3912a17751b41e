"""The history page of a folder: when it was changed, which files changed most, and who changed them.

In: a folder ("" for the root). Out: one page. It covers the files that exist now, as far as git records their history,
and says where that history is incomplete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from concordance.base.blocks import Block, Heading, Mono, Page, Piece, Pieces, Plot, Ref, Table, Text, To, count_noun
from concordance.query.folders.folder_tree import folders
from concordance.query.folders.project_name import name_of
from concordance.query.index import history
from concordance.query.index.repository import Index

_FILES, _AUTHORS = 50, 50  # rows of a table; the page also gives the total number


def subjects(index: Index) -> list[str]:
    """Return every folder that has files below it."""
    return index.folders


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the history page of one folder."""
    known = history.folder_history(index, subject)
    title: list[Piece] = ["History: ", Mono(subject or name_of(index))]
    blocks = _blocks(index, subject, known) if known.files else [_nothing(index, subject)]
    yield Page(Ref(To.HISTORY, subject), title, blocks)


def _nothing(index: Index, folder: str) -> Block:
    why = history.history_note(index)
    many = count_noun(folders(index).all[folder].count, "file")
    return Text([f"No record of when its {many} changed{': ' + why if why else ''}."])


def _blocks(index: Index, folder: str, summary: history.FolderHistory) -> list[Block]:
    total, changes = folders(index).all[folder].count, sum(row[0] for row in summary.files.values())
    first, last = min(row[1] for row in summary.files.values()), max(row[2] for row in summary.files.values())
    words = f"{count_noun(changes, 'change')} to {count_noun(len(summary.files), 'file')} "
    days = [history.day_of(first), history.day_of(last)]
    when = f"from {days[0]} to {days[1]}" if days[0] != days[1] else f"on {days[0]}"
    words += f"by {count_noun(len(summary.authors), 'author')}, {when}. "
    words += "Each commit to a file counts as one change; merges are not counted."
    if len(summary.files) < total:
        words += f" For {count_noun(total - len(summary.files), 'other file')} git records no change."
    if history.history_note(index):
        words += f" The history is incomplete: {history.history_note(index)}."
    blocks: list[Block] = [Text([words])]
    if not folder:
        blocks += _commits(index)
    additions = Counter(history.month_of(row[1]) for row in summary.files.values())
    changed = Counter(history.month_of(row[2]) for row in summary.files.values())
    blocks += _plot("Files by last change", changed, "the number of files last changed then")
    blocks += _plot("Files by first change", additions, "the number of current files first changed then")
    return [*blocks, *_most_changed(folder, summary), *_authors(summary)]


def _commits(index: Index) -> list[Block]:
    months = history.commits_by_month(index)
    if months is None:
        return [Heading(2, ["Commits"]), Text(["The store has no commit dates; the next build adds them."])]
    return _plot("Commits", Counter(dict(months)), "the number of commits, without merges") if months else []


def _plot(title: str, counts: Counter[str], words: str) -> list[Block]:
    bars = history.fill_months(counts)
    unit = "year" if len(bars[0][0]) == 4 else "month"
    if len(bars) == 1:
        what = "commit" if title == "Commits" else "file"
        return [Heading(2, [title]), Text([f"{count_noun(bars[0][1], what)} in {bars[0][0]}."])]
    column = "Commits" if title == "Commits" else "Files"
    return [Heading(2, [title]), Text([f"By {unit}, {words}."]), Plot(title, (unit.capitalize(), column), bars)]


def _most_changed(folder: str, summary: history.FolderHistory) -> list[Block]:
    ordered = sorted(summary.files.items(), key=lambda row: (-row[1][0], row[0]))
    if len(ordered) > _FILES and ordered[0][1][0] == 1:
        return [Heading(2, ["Most changed files"]), Text(["No file was changed more than once."])]
    start = len(folder) + 1 if folder else 0
    rows: list[list[Pieces]] = [
        [[Ref(To.FILE, path, "", path[start:])], [f"{times:,}"], [history.day_of(first)], [history.day_of(last)]]
        for path, (times, first, last) in ordered[:_FILES]
    ]
    blocks: list[Block] = [Heading(2, ["Most changed files"])]
    if len(ordered) > _FILES:
        blocks.append(Text([f"The top {_FILES} of {len(ordered):,} files; the map shows all of them by changes."]))
    return [*blocks, Table(["File", "Changes", "First", "Last"], rows)]


def _authors(summary: history.FolderHistory) -> list[Block]:
    ordered = sorted(summary.authors.items(), key=lambda row: (-row[1], row[0]))
    rows: list[list[Pieces]] = [
        [[name], [f"{times:,}"], [f"{summary.files_by_author[name]:,}"]] for name, times in ordered[:_AUTHORS]
    ]
    blocks: list[Block] = [Heading(2, ["Authors"])]
    if len(ordered) > _AUTHORS:
        rest = sum(times for _, times in ordered[_AUTHORS:])
        left = len(ordered) - _AUTHORS
        blocks.append(
            Text([f"The top {_AUTHORS} of {len(ordered):,}; the other {left:,} made {count_noun(rest, 'change')}."])
        )
    return [*blocks, Table(["Author", "Changes", "Files"], rows)]
