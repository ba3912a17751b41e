"""How files relate to one another: layers, import cycles, clusters, and which folders use which.

In: the results of whole-repository analyses from the store, by file id. Out: the same by path, in terms that suit any
repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from concordance.facts.links.graph import Pair

_MAX_SPECIFIC = 40  # files of a cluster that is still about one thing


class Band(StrEnum):
    """The position of a file among those that need one another (a closed list)."""

    ALONE = "alone"  # it needs no file of the repository, and only tests need it, if any
    BASE = "base"  # it needs no other file, and others need it
    MIDDLE = "middle"
    TOP = "top"  # it needs others, and only tests need it, if any


class Layer(NamedTuple):
    """How far a file is above its dependencies and below its dependents."""

    height: int  # files in the longest chain of its dependencies
    depth: int  # files in the longest chain of its dependents, tests and examples aside

    @property
    def band(self) -> Band:
        """The layer in a word."""
        if not self.depth:
            return Band.TOP if self.height else Band.ALONE
        return Band.MIDDLE if self.height else Band.BASE


def cluster_centres(rows: Iterable[tuple[int, list[int]]], paths: Mapping[int, str]) -> dict[str, str]:
    """Return the central file of each file's cluster, if that is about one thing and in another folder."""
    centres: dict[str, str] = {}
    for key, ids in rows:
        if 1 < len(ids) <= _MAX_SPECIFIC:
            centre = paths[key]
            folder = centre.rpartition("/")[0]
            centres.update(
                (paths[identity], centre) for identity in ids if paths[identity].rpartition("/")[0] != folder
            )
    return centres


class LoadGraph:
    """Which file needs which when it is loaded."""

    def __init__(self, pairs: Iterable[Pair], paths: Mapping[int, str]) -> None:
        self.needs: dict[str, list[str]] = {}
        self.needed: dict[str, list[str]] = {}
        for user, target, _ in pairs:
            self.needs.setdefault(paths[user], []).append(paths[target])
            self.needed.setdefault(paths[target], []).append(paths[user])


FolderEdges = dict[str, dict[tuple[str, str], int]]


def folder_edges(pairs: Iterable[Pair], paths: Mapping[int, str]) -> FolderEdges:
    """Return, by folder, how many pairs of files connect each two files or subfolders directly in it.

    A subfolder's name ends in a slash.
    """
    edges: FolderEdges = {}
    split = {identity: path.rpartition("/") for identity, path in paths.items()}
    known: dict[tuple[str, str], tuple[str, str, str]] = {}
    for user, target, _ in pairs:
        (here, _, name), (there, _, other) = split[user], split[target]
        key = (here, there)
        if key not in known:
            known[key] = _common_parent(here, there)
        folder, first, second = known[key]
        inside = edges.setdefault(folder, {})
        edge = (first or name, second or other)
        inside[edge] = inside.get(edge, 0) + 1
    return edges


def _common_parent(here: str, there: str) -> tuple[str, str, str]:
    """Return the deepest folder that contains both folders, and for each the next folder on the way down to it.

    Instead of a next folder there is "" if the folder is itself the deepest one."""
    first, second = here.split("/") if here else [], there.split("/") if there else []
    shared = 0
    while shared < min(len(first), len(second)) and first[shared] == second[shared]:
        shared += 1
    one, other = (f"{parts[shared]}/" if shared < len(parts) else "" for parts in (first, second))
    return "/".join(first[:shared]), one, other
