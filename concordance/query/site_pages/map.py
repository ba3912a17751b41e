"""The map of a folder: what lies in it as areas, by its lines, its changes and its rank.

In: a folder ("" for the root). Out: one page with three maps. A part that would be too small to be seen is counted with
others of its folder, in one area that says how many they are; a folder's area leads to its own map.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from concordance.base.blocks import Block, Heading, Mono, Page, Ref, Text, Tile, To, Treemap, counted
from concordance.query.folders import Folders, above, folders
from concordance.query.folders.repository import name_of
from concordance.query.index.history import changes, note
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import plain, shared

_SEEN = 1 / 1500  # the share of a map that can be told apart
_LARGE = 1 / 80  # that of a folder in which more can be seen


def subjects(index: Index) -> list[str]:
    """Every folder that has files below it."""
    return index.folders


def pages(index: Index, subject: str) -> Iterator[Page]:
    """The map of one folder."""
    words = "Each area is a file, or a folder with what lies in it, and leads to its page or map."
    blocks: list[Block] = [Text([words])]
    for weight in _weights(index):
        blocks.append(Heading(2, [weight.title]))
        blocks += _map(index, subject, weight)
    yield Page(Ref(To.MAP, subject), ["Map: ", Mono(subject or name_of(index))], blocks)


class Weight(NamedTuple):
    """What areas are by."""

    title: str
    column: str
    words: str  # what is drawn
    missing: str  # what is said of those that have none of it
    files: Mapping[str, float]
    folders: Mapping[str, float]  # the sum of all below
    is_share: bool = False  # whether a value says nothing by itself, only as a part of all

    def said(self, value: float) -> str:
        """A value in words."""
        if self.is_share:
            whole = self.folders[""] or 1.0
            return f"{100 * value / whole:.2g} % of all rank"
        return counted(int(value), self.column)


@shared
def _weights(index: Index) -> list[Weight]:
    lines = {path: float(file.lines) for path, file in plain(index.files).items()}
    known = changes(index)
    times = {path: float(known.get(path, 0)) for path in lines}
    ranks = {path: index.ranks.get(path, 0.0) for path in lines}
    limits = f" It is {note(index)}." if note(index) else ""
    return [
        Weight("By size", "line", "Areas by lines of text.", "no lines of text", lines, _sums(lines)),
        Weight(
            "By changes", "change", f"Areas by changes: a commit to a file is one.{limits}", "no change that git knows",
            times, _sums(times),
        ),
        Weight(
            "By rank", "rank", "Areas by rank: how much the rest of the repository uses each, by itself and by way of "
            "others.", "no rank", ranks, _sums(ranks), True,
        ),
    ]  # fmt: skip


def _sums(files: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {"": 0.0}
    for path, value in files.items():
        for folder in above(path):
            found[folder] = found.get(folder, 0.0) + value
    return found


def _map(index: Index, folder: str, weight: Weight) -> list[Block]:
    every = folders(index)
    total = weight.folders.get(folder, 0.0)
    if not total:
        return [Text([f"Nothing to draw: its {counted(every.all[folder].count, 'file')} have {weight.missing}."])]
    without = sum(1 for path in every.below(folder) if not weight.files[path])
    words = weight.words
    if without:
        words += f" {counted(without, 'file')} with {weight.missing} {'is' if without == 1 else 'are'} not drawn."
    column = "Share of rank" if weight.is_share else f"{weight.column.capitalize()}s"
    return [Text([words]), Treemap(column, _tiles(index, every, folder, weight, total))]


def _tiles(index: Index, every: Folders, folder: str, weight: Weight, total: float) -> list[Tile]:
    """What lies in a folder, the largest first; the small ones together."""
    here = every.all[folder]
    parts = [(weight.folders[one], one, True) for one in here.folders if weight.folders.get(one)]
    parts += [(weight.files[one], one, False) for one in here.files if weight.files[one]]
    parts.sort(key=lambda row: (-row[0], row[1]))
    found: list[Tile] = []
    small = [row for row in parts if row[0] < total * _SEEN]
    for value, path, is_folder in parts[: len(parts) - len(small)] if len(small) > 1 else parts:
        name = path.rpartition("/")[2]
        if is_folder:
            inside = _tiles(index, every, path, weight, total) if value > total * _LARGE else []
            most = max(every.all[path].category_lines.items(), key=lambda row: (row[1], row[0]), default=("", 0))[0]
            found.append(Tile(f"{name}/", value, weight.said(value), Ref(To.MAP, path), most, inside))
        else:
            kind = index.category_of(path)
            found.append(Tile(name, value, weight.said(value), Ref(To.FILE, path), kind))
    if len(small) > 1:
        rest = sum(value for value, *_ in small)
        found.append(Tile(f"{len(small):,} smaller ones", rest, weight.said(rest), Ref(To.INDEX, folder)))
    return found
