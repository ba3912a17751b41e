"""Related Files: files that belong with the file, each with the reason."""

from __future__ import annotations

from collections.abc import Callable

from concordance.base.blocks import Block, Heading, Item, Items, Mono, Piece, Ref, Text, To, join_in_sentence
from concordance.base.kinds import Section
from concordance.facts.updates.reads import compared
from concordance.query.index.file_model import FileModel
from concordance.query.index.repository import Index
from concordance.query.search.related_files import Reason, Relation

TITLE = Section.RELATED.value
ORDER = 90

RELATED_FILES = "related files"  # the name under which it is recorded that a page names them
_MAX_RELATED = 6  # related files that are named
_MAX_IN_FOLDER = 10  # files of a folder that are listed one by one


@compared(RELATED_FILES)
def related_files(index: Index, path: str) -> list[tuple[str, list[Reason]]]:
    """Return the files that the page of a file names, with the reasons."""
    related = index.neighbours.of(index.files[path], index.book.history)  # history changes with every commit: optional
    named = [(row.path, row.reasons) for row in related if row.reasons != [Reason(Relation.SAME_FOLDER)]]
    return named[:_MAX_RELATED]


def blocks(model: FileModel) -> list[Block]:
    """Return the files of the same folder, then other related files with their reasons."""
    index, folder = model.index, model.path.rpartition("/")[0]
    beside = [path for path in index.files_in(folder) if path != model.path]
    blocks: list[Block] = [Heading(3, ["Related Files"])]
    location: Piece = Mono(folder) if folder else "the root"
    if beside and len(beside) <= _MAX_IN_FOLDER:
        refs: list[Piece] = [Ref(To.FILE, path, "", path.rpartition("/")[2]) for path in beside]
        blocks.append(Text(["In ", location, ": ", *join_in_sentence(refs), "."]))
    elif beside:
        blocks.append(
            Text(
                [f"{len(beside):,} other files in ", Ref(To.INDEX, folder, "", folder or "the root", bool(folder)), "."]
            )
        )
    rows = related_files(index, model.path)
    if rows:
        name = model.path.rpartition("/")[2]
        items = [
            Item([Ref(To.FILE, path, "", _relative_to(path, folder)), f" — {_reasons(name, reasons)}"])
            for path, reasons in rows
        ]
        blocks.append(Items(items))
    if len(blocks) == 1:
        blocks.append(Text(["No other file is directly in ", location, "; no related files found."]))
    return blocks


def _relative_to(path: str, folder: str) -> str:
    """Return a path relative to a folder, if it is below it."""
    return path.removeprefix(f"{folder}/") if folder else path


def _reasons(name: str, reasons: list[Reason]) -> str:
    """Return the reasons why a file is related to the one that the page is about."""
    words = [
        _WORDINGS[reason.why](reason) if reason.why in _WORDINGS else reason.describe(name)
        for reason in reasons
        if reason.why != Relation.SAME_FOLDER
    ]
    return "; ".join(words)


def _format_times(times: int) -> str:
    return "" if times == 1 else f" {times}×"


_WORDINGS: dict[Relation, Callable[[Reason], str]] = {  # shorter wordings for a page
    Relation.USED: lambda reason: f"used here{_format_times(reason.times)}",
    Relation.USES: lambda reason: f"uses this{_format_times(reason.times)}",
    Relation.BOTH: lambda reason: f"{reason.times} files use both",
    Relation.CHANGED: lambda reason: f"changed together {reason.times}×",
}
