"""The alphabetical index of names: what each name is, and in which files it is defined.

In: names with the symbols that have them. Out: entries of one line each, grouped by letter. Equal names share an entry.
An entry with very many files lists their folders with the number of files in each; the pages of the folders have the
details.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest, nsmallest

from concordance.base.blocks import Block, Heading, Item, Items, Mono, Piece, Ref, Strong, Table, To
from concordance.base.model import KINDS, TYPE_KINDS, Kind
from concordance.query.index.file_model import ref_of
from concordance.query.index.repository import Index
from concordance.query.names.display_names import public_name
from concordance.query.names.shards import MAX_FILES, NameEntry

_MAX_NAMESPACE_FILES = 8  # files that an entry for a namespace lists one by one: namespaces spread over files
_ORDER: dict[str, int] = {kind: number for number, kind in enumerate(KINDS)}


def letter_blocks(groups: dict[str, list[str]], level: int, entry: Callable[[str], Item]) -> list[Block]:
    """Return a heading for each letter, followed by its entries."""
    blocks: list[Block] = []
    for letter, names in groups.items():
        blocks += [Heading(level, [letter]), Items([entry(name) for name in names])]
    return blocks


def initial_key(path: str, initial: str) -> str:
    """Return the key under which it is recorded which symbols of a file with this initial other files use: a page of
    the alphabet does not depend on the others."""
    return f"{path} {initial}"


class EntryWriter:
    """Formats entries for a page; `folder` is the one that the page is about."""

    def __init__(self, index: Index, folder: str = "", short: bool = False) -> None:
        self.index, self.folder, self.short = index, folder, short
        self._prefix_length = len(folder) + 1 if folder else 0
        self._max_files = MAX_FILES if short else 8 * MAX_FILES  # no other page lists what a folder's page leaves out

    def entry(self, entry: NameEntry) -> Item:
        """Return a name with each kind of symbol that has it, and where."""
        census, path_of = self.index.census, self.index.path_of
        kinds: dict[str, dict[str, list[int]]] = {}
        for identity in entry.ids:
            kinds.setdefault(census.kind_of(identity), {}).setdefault(path_of(identity), []).append(identity)
        if len(kinds) == 1 and len(entry.ids) == 1 and not entry.files:
            ((kind, found),) = kinds.items()
            (path,) = found
            if not self._is_linked(kind, entry.ids[0]):
                return Item([Mono(entry.name), f" {kind}: ", *self._files(kind, found)])
            name = Ref(To.SYMBOL, path, self.index.keys[entry.ids[0]], entry.name)
            return Item([name, f" {kind}: ", Mono(self._label(path, found))])
        pieces: list[Piece] = [Mono(entry.name) if kinds else Strong(entry.name)]
        if entry.stands_for:
            pieces.append(f" ({entry.stands_for})")
        start = len(pieces)
        for kind in sorted(kinds, key=lambda kind: _ORDER[kind]):
            pieces += [f"{';' if len(pieces) > start else ''} {kind}: ", *self._files(kind, kinds[kind])]
        if entry.files:
            pieces += [f"{';' if len(pieces) > start else ''} concept: ", *self._concept(entry.files)]
        return Item(pieces)

    def _files(self, kind: str, by_path: dict[str, list[int]]) -> list[Piece]:
        if len(by_path) > (_MAX_NAMESPACE_FILES if kind == Kind.NAMESPACE else self._max_files):
            return self._folders(by_path)
        pieces: list[Piece] = []
        for path, ids in by_path.items():
            label = self._label(path, by_path)
            pieces.append(" · " if pieces else "")
            if len(ids) == 1 and self._is_linked(kind, ids[0]):
                pieces.append(Ref(To.SYMBOL, path, self.index.keys[ids[0]], label))
            else:  # the file's keyword page tells them apart
                pieces += [Ref(To.KEYWORDS, path, "", label), f" ×{len(ids)}" if len(ids) > 1 else ""]
        return pieces

    def _is_linked(self, kind: str, identity: int) -> bool:
        """True if an entry links to the symbol itself: types, and symbols that other files use.

        The others, two thirds of all, are found on their file's keyword page, because the entries of a page can share
        links to files.
        """
        if kind not in TYPE_KINDS and kind not in _MEMBERS:
            initial = self.index.census.name_of(identity)[:1]
            self.index.reads.note("linked", initial_key(self.index.path_of(identity), initial))
        return kind in TYPE_KINDS or (kind not in _MEMBERS and identity in self.index.census.used_by)

    def _concept(self, paths: Sequence[str]) -> list[Piece]:
        if len(paths) > self._max_files:
            return self._folders(paths)
        pieces: list[Piece] = []
        for path in paths:
            pieces += [" · " if pieces else "", Ref(To.KEYWORDS, path, "", self._label(path, paths))]
        return pieces

    def _folders(self, paths: Iterable[str]) -> list[Piece]:
        """Summarise very many files by folder; the page's own folder links to its index."""
        counts = Counter(path.rpartition("/")[0] for path in paths)
        pieces: list[Piece] = [f"in {counts.total():,} files: "]
        for folder, count in counts.most_common():
            to = To.INDEX if folder == self.folder and not self.short else To.SUBTREE
            label = folder[self._prefix_length :] or folder.rpartition("/")[2] or "."
            pieces += [" · " if len(pieces) > 1 else "", Ref(to, folder, "", label), f" ×{count:,}"]
        return pieces

    def _label(self, path: str, others: Iterable[str]) -> str:
        """Return a short path: relative to the page's folder, or the file name, with its folder if it is ambiguous."""
        if not self.short:
            return path[self._prefix_length :]
        folder, _, name = path.rpartition("/")
        alike = sum(1 for other in others if other.endswith(name) and other.rpartition("/")[2] == name)
        return f"{folder.rpartition('/')[2]}/{name}" if alike > 1 or name in _AMBIGUOUS_FILE_NAMES else name


_MEMBERS = frozenset((Kind.METHOD, Kind.FIELD, Kind.PROPERTY, Kind.ENUMERATOR, Kind.KEY))
_AMBIGUOUS_FILE_NAMES = frozenset(
    ("__init__.py", "index.js", "index.ts", "mod.rs", "README.md", "CMakeLists.txt", "BUILD.bazel")
)


def most_used_table(
    index: Index, ids: Iterable[int], counts: Counter[int], limit: int, folder: str = ""
) -> list[Block]:
    """Return a table of the symbols that most files use; empty if none is used. Paths are relative to the folder."""
    kind_of, name_of, path_of = index.census.kind_of, index.census.name_of, index.path_of
    cut = len(folder) + 1 if folder else 0
    some = [identity for identity in ids if counts.get(identity) and kind_of(identity)]
    least = min(nlargest(limit, map(counts.__getitem__, some)), default=0)  # the others are not compared by name
    rest = [one for one in some if counts[one] >= least]
    best = nsmallest(limit, rest, key=lambda one: (-counts[one], name_of(one), *index.order_of(one)))
    rows: list[list[list[Piece]]] = [
        [[_symbol_ref(index, one)], [kind_of(one)], [Mono(path_of(one)[cut:])], [f"{counts[one]:,}"]] for one in best
    ]
    return [Table(["Name", "Kind", "File", "Files that use it"], rows)] if rows else []


def _symbol_ref(index: Index, identity: int) -> Ref:
    """Return a link to a symbol, labelled with its public name if it has one."""
    ref = ref_of(index, identity)
    return ref._replace(label=public_name(index, ref.path, index.keys[identity]) or ref.label)
