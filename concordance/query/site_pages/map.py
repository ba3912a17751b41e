"""The treemaps of a folder: its files and subfolders as areas, by lines, by changes and by rank.

In: a folder ("" for the root). Out: one page with three maps. Parts too small to be seen are merged, within their
folder, into one area labelled with their number. A folder's area links to the folder's own map.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from concordance.base.blocks import Block, Heading, Mono, Page, Ref, Text, Tile, To, Treemap, count_noun
from concordance.base.paths import parent_folders
from concordance.facts.updates.reads import ANY_UPDATE, shared_until, unrecorded_copy
from concordance.query.folders.folder_tree import Folders, folders
from concordance.query.folders.project_name import name_of
from concordance.query.index.history import commits_by_path, history_note
from concordance.query.index.repository import Index

_MIN_SHARE = 1 / 1500  # the smallest share of a map that gets an area of its own
_MIN_NESTED_SHARE = 1 / 80  # the share above which a folder's contents are drawn inside its area


def subjects(index: Index) -> list[str]:
    """Return every folder that has files below it."""
    return index.folders


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the maps of one folder."""
    words = "Each area is a file, linked to its page, or a folder with its contents, linked to its map."
    blocks: list[Block] = [Text([words])]
    for weight in _weights(index):
        blocks.append(Heading(2, [weight.title]))
        blocks += _map(index, subject, weight)
    yield Page(Ref(To.MAP, subject), ["Map: ", Mono(subject or name_of(index))], blocks)


class Weight(NamedTuple):
    """A measure that determines the size of areas."""

    title: str
    column: str
    words: str  # the sentence above the map
    missing: str  # the phrase for files without a value: "no lines of text"
    files: Mapping[str, float]
    folders: Mapping[str, float]  # the sums over all files below each folder
    is_share: bool = False  # True if a value is meaningful only as a share of the total

    def describe(self, value: float) -> str:
        """Return a value in words."""
        if self.is_share:
            whole = self.folders[""] or 1.0
            return f"{100 * value / whole:.2g} % of the total rank"
        return count_noun(int(value), self.column)


@shared_until(ANY_UPDATE)
def _weights(index: Index) -> list[Weight]:
    lines = {path: float(file.lines) for path, file in unrecorded_copy(index.files).items()}
    known = commits_by_path(index)
    times = {path: float(known.get(path, 0)) for path in lines}
    ranks = {path: index.ranks.get(path, 0.0) for path in lines}
    limits = f" The history is incomplete: {history_note(index)}." if history_note(index) else ""
    size = Weight("By size", "line", "The area shows the number of lines.", "no lines of text", lines, _sums(lines))
    changes = Weight(
        "By changes", "change", f"The area shows the number of commits to a file.{limits}",
        "no change recorded by git", times, _sums(times),
    )  # fmt: skip
    rank = Weight(
        "By rank", "rank", "The area shows the rank: how much the rest of the repository uses a file, directly and "
        "indirectly.", "no rank", ranks, _sums(ranks), True,
    )  # fmt: skip
    return [size, changes, rank] if known else [size, rank]


def _sums(files: Mapping[str, float]) -> dict[str, float]:
    sums: dict[str, float] = {"": 0.0}
    for path, value in files.items():
        for folder in parent_folders(path):
            sums[folder] = sums.get(folder, 0.0) + value
    return sums


def _map(index: Index, folder: str, weight: Weight) -> list[Block]:
    tree = folders(index)
    total = weight.folders.get(folder, 0.0)
    if not total:
        return [Text([f"Nothing to draw: its {count_noun(tree.all[folder].count, 'file')} have {weight.missing}."])]
    without = sum(1 for path in tree.below(folder) if not weight.files[path])
    words = weight.words
    if without:
        words += f" {count_noun(without, 'file')} with {weight.missing} {'is' if without == 1 else 'are'} not shown."
    column = "Share of rank" if weight.is_share else f"{weight.column.capitalize()}s"
    return [Text([words]), Treemap(column, _tiles(index, tree, folder, weight, total))]


def _tiles(index: Index, tree: Folders, folder: str, weight: Weight, total: float) -> list[Tile]:
    """Return the areas of a folder's parts, largest first; very small ones are merged into one."""
    here = tree.all[folder]
    parts = [(weight.folders[inner], inner, True) for inner in here.folders if weight.folders.get(inner)]
    parts += [(weight.files[file], file, False) for file in here.files if weight.files[file]]
    parts.sort(key=lambda row: (-row[0], row[1]))
    tiles: list[Tile] = []
    small = [row for row in parts if row[0] < total * _MIN_SHARE]
    for value, path, is_folder in parts[: len(parts) - len(small)] if len(small) > 1 else parts:
        name = path.rpartition("/")[2]
        if is_folder:
            inside = _tiles(index, tree, path, weight, total) if value > total * _MIN_NESTED_SHARE else []
            most = max(tree.all[path].category_lines.items(), key=lambda row: (row[1], row[0]), default=("", 0))[0]
            tiles.append(Tile(f"{name}/", value, weight.describe(value), Ref(To.MAP, path), most, inside))
        else:
            kind = index.category_of(path)
            tiles.append(Tile(name, value, weight.describe(value), Ref(To.FILE, path), kind))
    if len(small) > 1:
        rest = sum(value for value, *_ in small)
        tiles.append(Tile(f"{len(small):,} smaller items", rest, weight.describe(rest), Ref(To.INDEX, folder)))
    return tiles
