"""The alphabetical index of names: what each name is, and in which files it is defined.

In: names with the symbols that have them. Out: entries of one line each, grouped by letter. Equal names share an entry.
An entry with very many files lists their folders with the number of files in each; the pages of the folders have the
details.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest, nsmallest

from concordance.base.blocks import Block, Heading, Item, Items, Mono, Piece, Ref, Strong, Table, To
from concordance.base.model import KINDS, TYPES, Kind, Term
from concordance.query.index.census import Census
from concordance.query.index.file_model import ref_of
from concordance.query.index.repository import Index
from concordance.query.names.public_names import public_name
from concordance.query.names.shards import LARGEST, MANY, NameChange, NameEntry, Shards

_FEW = 8  # files that an entry for a namespace lists one by one: namespaces spread over files
_ORDER: dict[str, int] = {kind: number for number, kind in enumerate(KINDS)}


def lettered(groups: dict[str, list[str]], level: int, entry: Callable[[str], Item]) -> list[Block]:
    """Return a heading for each letter, followed by its entries."""
    blocks: list[Block] = []
    for letter, names in groups.items():
        blocks += [Heading(level, [letter]), Items([entry(name) for name in names])]
    return blocks


class EntryWriter:
    """Formats entries for a page; `folder` is the one that the page is about."""

    def __init__(self, index: Index, folder: str = "", short: bool = False) -> None:
        self.index, self.folder, self.short = index, folder, short
        self._cut = len(folder) + 1 if folder else 0
        self._most = MANY if short else 8 * MANY  # no other page lists what a folder's page leaves out

    def entry(self, entry: NameEntry) -> Item:
        """Return a name with each kind of symbol that has it, and where."""
        census, path_of = self.index.census, self.index.path_of
        kinds: dict[str, dict[str, list[int]]] = {}
        for identity in entry.ids:
            kinds.setdefault(census.kinds[identity], {}).setdefault(path_of(identity), []).append(identity)
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

    def _files(self, kind: str, found: dict[str, list[int]]) -> list[Piece]:
        if len(found) > (_FEW if kind == Kind.NAMESPACE else self._most):
            return self._folders(found)
        pieces: list[Piece] = []
        for path, ids in found.items():
            label = self._label(path, found)
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
        if kind not in TYPES and kind not in _MEMBERS:
            self.index.reads.note("linked", self.index.path_of(identity))
        return kind in TYPES or (kind not in _MEMBERS and identity in self.index.census.used_by)

    def _concept(self, paths: Sequence[str]) -> list[Piece]:
        if len(paths) > self._most:
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
            label = folder[self._cut :] or folder.rpartition("/")[2] or "."
            pieces += [" · " if len(pieces) > 1 else "", Ref(to, folder, "", label), f" ×{count:,}"]
        return pieces

    def _label(self, path: str, others: Iterable[str]) -> str:
        """Return a short path: relative to the page's folder, or the file name, with its folder if it is ambiguous."""
        if not self.short:
            return path[self._cut :]
        folder, _, name = path.rpartition("/")
        alike = sum(1 for other in others if other.endswith(name) and other.rpartition("/")[2] == name)
        return f"{folder.rpartition('/')[2]}/{name}" if alike > 1 or name in _ANY else name


_MEMBERS = frozenset((Kind.METHOD, Kind.FIELD, Kind.PROPERTY, Kind.ENUMERATOR, Kind.KEY))
_ANY = frozenset(("__init__.py", "index.js", "index.ts", "mod.rs", "README.md", "CMakeLists.txt", "BUILD.bazel"))


def ranking(index: Index, ids: Iterable[int], counts: Counter[int], most: int, folder: str = "") -> list[Block]:
    """Return a table of the symbols that most files use; empty if none is used. Paths are relative to the folder."""
    kinds, names, path_of = index.census.kinds, index.census.names, index.path_of
    cut = len(folder) + 1 if folder else 0
    some = [identity for identity in ids if counts.get(identity) and kinds[identity]]
    least = min(nlargest(most, map(counts.__getitem__, some)), default=0)  # the others are not compared by name
    rest = [one for one in some if counts[one] >= least]
    best = nsmallest(most, rest, key=lambda one: (-counts[one], names[one], path_of(one), one))
    rows: list[list[list[Piece]]] = [
        [[_called(index, one)], [kinds[one]], [Mono(path_of(one)[cut:])], [f"{counts[one]:,}"]] for one in best
    ]
    return [Table(["Name", "Kind", "File", "Files that use it"], rows)] if rows else []


def _called(index: Index, identity: int) -> Ref:
    """Return a link to a symbol, labelled with its public name if it has one."""
    ref = ref_of(index, identity)
    return ref._replace(label=public_name(index, ref.path, index.keys[identity]) or ref.label)


class Alphabet:
    """Every name and concept of a repository, and how they are divided into pages."""

    def __init__(self, census: Census) -> None:
        self._census = census
        self._files: dict[str, list[str]] = {}
        self._meant: dict[str, Counter[str]] = {}  # by acronym, how often each long form is given
        for file in census.files:
            for term in census.terms.get(file.base, ()):
                if term.kind != "name":
                    self._files.setdefault(term.text, []).append(file.path)
                if term.stands_for:
                    self._meant.setdefault(term.text, Counter())[term.stands_for] += 1
        self._widths = self._sizes(census.by_name, self._files)
        self.shards = Shards(self._widths)

    @property
    def concepts(self) -> int:
        """The number of concepts."""
        return len(self._files)

    def renew(self, names: Iterable[str], terms: Iterable[tuple[str, tuple[Term, ...], tuple[Term, ...]]]) -> None:
        """Update after names whose symbols changed, and files whose terms changed (path, before, after)."""
        texts: set[str] = set()
        for path, before, after in terms:
            for term in before:
                self._put(path, term, -1)
            for term in after:
                self._put(path, term, 1)
            texts.update(term.text for term in (*before, *after) if before != after)
        other = texts.union(names)
        by_name, files = self._census.by_name, self._files
        sizes = self._sizes([one for one in other if one in by_name], [one for one in other if one in files])
        changes: dict[str, NameChange] = {}
        for name in other:
            change = NameChange(self._widths.pop(name, None), sizes.get(name))
            self._widths.update({name: change.after} if change.after is not None else {})
            if change.before != change.after:
                changes[name] = change
        self.shards.renew(changes, self._widths)

    def _put(self, path: str, term: Term, times: int) -> None:
        """Add a term of a file, or remove it (`times` is -1)."""
        if term.kind != "name":
            paths = self._files.setdefault(term.text, [])
            at = bisect_left(paths, path)
            paths[at : at + (times < 0)] = [path] if times > 0 else []
            if not paths:
                del self._files[term.text]
        if term.stands_for:
            meant = self._meant.setdefault(term.text, Counter())
            meant[term.stands_for] += times
            if not meant[term.stands_for]:
                del meant[term.stands_for]
            if not meant:
                del self._meant[term.text]

    def entry(self, name: str) -> NameEntry:
        """Return the entry of a name."""
        meant: Mapping[str, int] = self._meant.get(name, {})
        stands_for = min(meant, key=lambda one: (-meant[one], one), default="")
        return NameEntry(name, self._census.by_name.get(name, ()), self._files.get(name, ()), stands_for)

    def pages(self, part: str) -> list[list[str]]:
        """Return the names of a part on one page, or on several if it is too long and cannot be divided by prefix."""
        found: list[list[str]] = [[]]
        size = 0
        for name in self.shards.names[part]:
            if found[-1] and size + self._widths[name] > 2 * LARGEST:
                found.append([])
                size = 0
            found[-1].append(name)
            size += self._widths[name]
        return found

    def _sizes(self, names: Iterable[str], concepts: Iterable[str]) -> dict[str, int]:
        """Estimate the lengths of the entries of some names and concepts."""
        bases, by_name = self._census.bases, self._census.by_name
        starts = [row[0] for row in bases]
        sizes: dict[str, int] = {}
        for name in names:
            paths = [bases[bisect_right(starts, one) - 1][1] for one in by_name[name]]
            if len(paths) > 4 * MANY:
                sizes[name] = 60 * len({path.rpartition("/")[0] for path in paths})
            else:
                sizes[name] = len(name) + 40 * len(paths) + sum(map(len, paths))
        for name in concepts:
            sizes[name] = sizes.get(name, len(name)) + 60 * min(len(self._files[name]), MANY)
        return sizes
