"""How the files of a repository stand to one another: layers, cycles, groups, and which folders use which.

In: what the analyses over the whole laid in the store, by ids. Out: the same by paths, in words that are true of any
repository. What is asked of one file is looked up; what needs all files is made once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from concordance.facts.links.graph import Pair

_MOSTLY = 0.6  # the share of a group's files that its folder holds, at least


class Band(StrEnum):
    """Where a file stands among those that need one another (a closed list)."""

    ALONE = "alone"  # it needs no file of the repository, and none but tests needs it
    BASE = "base"  # it needs none, and others need it
    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"
    TOP = "top"  # it needs others, and none but tests needs it


class Layer(NamedTuple):
    """How high a file stands."""

    height: int  # files in the longest chain of what it needs
    depth: int  # files in the longest chain of who needs it, tests and examples aside

    @property
    def band(self) -> Band:
        """Its layer in a word."""
        if not self.depth:
            return Band.TOP if self.height else Band.ALONE
        if not self.height:
            return Band.BASE
        share = self.height / (self.height + self.depth)
        return Band.LOW if share < 1 / 3 else Band.HIGH if share > 2 / 3 else Band.MIDDLE


class FileCluster(NamedTuple):
    """Files that use one another more than others."""

    name: str  # the folder that it is mostly about; with the key file where another is about the same, or none is
    key: str  # the file that it is about: used by most of it, and by few beside
    folders: tuple[tuple[str, int], ...]  # where its files lie, most first
    files: tuple[str, ...]


def clusters(rows: Iterable[tuple[int, list[int]]], paths: Mapping[int, str]) -> dict[str, FileCluster]:
    """The group of each file that is in one."""
    made: list[tuple[str, str, Counter[str], list[str]]] = []
    for key, ids in rows:
        members = [paths[one] for one in ids]
        folders = Counter(path.rpartition("/")[0] for path in members)
        made.append((_home(folders, len(members)), paths[key], folders, members))
    times = Counter(home for home, _, _, _ in made)
    found: dict[str, FileCluster] = {}
    for home, center, folders, members in made:
        name = home if home and times[home] == 1 else center
        rank = tuple(sorted(folders.items(), key=lambda row: (-row[1], row[0])))
        found.update(dict.fromkeys(members, FileCluster(name, center, rank, tuple(members))))
    return found


def _home(folders: Counter[str], size: int) -> str:
    """The deepest folder that holds most of some files; "" where only the root does."""
    inside: Counter[str] = Counter()
    for folder, count in folders.items():
        around = folder
        while around:
            inside[around] += count
            around = around.rpartition("/")[0]
    most = [folder for folder, count in inside.items() if count >= _MOSTLY * size]
    return max(most, key=lambda folder: (folder.count("/"), inside[folder], folder), default="")


class LoadGraph:
    """Which file needs which when it is loaded."""

    def __init__(self, pairs: Iterable[Pair], paths: Mapping[int, str]) -> None:
        self.needs: dict[str, list[str]] = {}
        self.needed: dict[str, list[str]] = {}
        for user, target, _ in pairs:
            self.needs.setdefault(paths[user], []).append(paths[target])
            self.needed.setdefault(paths[target], []).append(paths[user])

    def ring(self, path: str, within: Sequence[str]) -> tuple[str, ...]:
        """The shortest way from a file back to itself, through files of its cycle; of several, the first by paths."""
        inside = set(within)
        before: dict[str, str] = {}
        waiting = deque([path])
        while waiting:
            here = waiting.popleft()
            for there in sorted(self.needs.get(here, ())):
                if there == path:
                    way = [here]
                    while way[-1] != path:
                        way.append(before[way[-1]])
                    return tuple(reversed(way))
                if there in inside and there not in before:
                    before[there] = here
                    waiting.append(there)
        return ()


Edges = dict[str, dict[tuple[str, str], int]]


def folder_edges(pairs: Iterable[Pair], paths: Mapping[int, str]) -> Edges:
    """By folder, which of the files and folders right in it use which, and by how many pairs of files. A folder's name
    ends in a slash."""
    found: Edges = {}
    split = {one: path.rpartition("/") for one, path in paths.items()}
    known: dict[tuple[str, str], tuple[str, str, str]] = {}
    for user, target, _ in pairs:
        (here, _, name), (there, _, other) = split[user], split[target]
        key = (here, there)
        if key not in known:
            known[key] = _apart(here, there)
        folder, first, second = known[key]
        inside = found.setdefault(folder, {})
        edge = (first or name, second or other)
        inside[edge] = inside.get(edge, 0) + 1
    return found


def edges_after(edges: Edges, gone: Edges, come: Edges) -> Edges:
    """The same where some pairs are gone, and others have come; a folder's row is another where it changed."""
    found = dict(edges)
    for sign, more in ((-1, gone), (1, come)):
        for folder, rows in more.items():
            inside = dict(found.get(folder, {}))
            for edge, times in rows.items():
                inside[edge] = inside.get(edge, 0) + sign * times
            found[folder] = inside
    for folder in gone.keys() | come.keys():
        found[folder] = {edge: times for edge, times in found[folder].items() if times}
        if not found[folder]:
            del found[folder]
    return found


def _apart(here: str, there: str) -> tuple[str, str, str]:
    """The folder around two folders, and in which of its folders each lies; "" where it is that folder itself."""
    first, second = here.split("/") if here else [], there.split("/") if there else []
    shared = 0
    while shared < min(len(first), len(second)) and first[shared] == second[shared]:
        shared += 1
    one, other = (f"{parts[shared]}/" if shared < len(parts) else "" for parts in (first, second))
    return "/".join(first[:shared]), one, other
