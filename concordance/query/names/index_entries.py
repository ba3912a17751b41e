"""The alphabetical index of names: what each name is, and in which files it is defined.

In: names with the symbols that have them. Out: entries of one line each, grouped by letter. Equal names share an entry.
An entry with very many files lists their folders with the number of files in each; the pages of the folders have the
details.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from concordance.base.blocks import Block, Item, Mono, Piece, Ref, Strong, Table, To
from concordance.base.model import KINDS, TYPE_KINDS, Kind
from concordance.query.folders.definition_uses import UsedDefinition
from concordance.query.index.file_model import ref_of
from concordance.query.index.repository import Index
from concordance.query.names.display_names import public_name
from concordance.query.names.shards import MAX_FILES, NameEntry

_MAX_NAMESPACE_FILES = 8  # files that an entry for a namespace lists one by one: namespaces spread over files
_ORDER: dict[str, int] = {kind: number for number, kind in enumerate(KINDS)}


class EntryWriter:
    """Formats the entries of the alphabet."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def entry(self, entry: NameEntry) -> Item:
        """Return a name with each kind of symbol that has it, and where."""
        census, path_of = self.index.census, self.index.path_of
        kinds: dict[str, dict[str, list[int]]] = {}
        for identity in entry.ids:
            kinds.setdefault(census.kind_of(identity), {}).setdefault(path_of(identity), []).append(identity)
        if len(kinds) == 1 and len(entry.ids) == 1 and not entry.files:
            ((kind, usage),) = kinds.items()
            (path,) = usage
            if kind not in TYPE_KINDS:
                return Item([Mono(entry.name), f" {kind}: ", *self._files(kind, usage)])
            name = Ref(To.SYMBOL, path, self.index.keys[entry.ids[0]], entry.name)
            return Item([name, f" {kind}: ", Mono(self._label(path, usage))])
        pieces: list[Piece] = [Mono(entry.name) if kinds else Strong(entry.name)]
        if entry.stands_for:
            pieces.append(f" ({entry.stands_for})")
        start = len(pieces)
        for kind in sorted(kinds, key=lambda kind: _ORDER[kind]):
            pieces += [f"{';' if len(pieces) > start else ''} {kind}: ", *self._files(kind, kinds[kind])]
        if entry.files:
            word = "; concept" if len(pieces) > start else " concept" if kinds else ""  # bold type says it already
            pieces += [f"{word}: ", *self._concept(entry.files)]
        return Item(pieces)

    def _files(self, kind: str, by_path: dict[str, list[int]]) -> list[Piece]:
        if len(by_path) > (_MAX_NAMESPACE_FILES if kind == Kind.NAMESPACE else MAX_FILES):
            return self._folders(by_path)
        pieces: list[Piece] = []
        for path, ids in by_path.items():
            label = self._label(path, by_path)
            pieces.append(" · " if pieces else "")
            if len(ids) == 1 and kind in TYPE_KINDS:
                pieces.append(Ref(To.SYMBOL, path, self.index.keys[ids[0]], label))
            else:  # the file's keyword page has its definitions; entries share the link to it, which keeps pages short
                pieces += [Ref(To.KEYWORDS, path, "", label), f" ×{len(ids)}" if len(ids) > 1 else ""]
        return pieces

    def _concept(self, paths: Sequence[str]) -> list[Piece]:
        if len(paths) > MAX_FILES:
            return self._folders(paths)
        pieces: list[Piece] = []
        for path in paths:
            pieces += [" · " if pieces else "", Ref(To.KEYWORDS, path, "", self._label(path, paths))]
        return pieces

    def _folders(self, paths: Iterable[str]) -> list[Piece]:
        """Summarise very many files by folder."""
        counts = Counter(path.rpartition("/")[0] for path in paths)
        pieces: list[Piece] = [f"in {counts.total():,} files: "]
        for folder, count in counts.most_common():
            ref = Ref(To.SUBTREE, folder, "", folder or ".")
            pieces += [" · " if len(pieces) > 1 else "", ref, f" ×{count:,}"]
        return pieces

    def _label(self, path: str, others: Iterable[str]) -> str:
        """Return the name of a file, with its folder if it is ambiguous."""
        folder, _, name = path.rpartition("/")
        alike = sum(1 for other in others if other.endswith(name) and other.rpartition("/")[2] == name)
        return f"{folder.rpartition('/')[2]}/{name}" if alike > 1 or name in _AMBIGUOUS_FILE_NAMES else name


_AMBIGUOUS_FILE_NAMES = frozenset(
    ("__init__.py", "index.js", "index.ts", "mod.rs", "README.md", "CMakeLists.txt", "BUILD.bazel")
)


def definitions_table(index: Index, definitions: Iterable[UsedDefinition], folder: str = "") -> list[Block]:
    """Return a table of definitions with the number of files that use each; empty if there are none. Paths are relative
    to the folder."""
    cut = len(folder) + 1 if folder else 0
    rows: list[list[list[Piece]]] = [
        [
            [_symbol_ref(index, definition.id)],
            [definition.kind],
            [Mono(definition.path[cut:])],
            [f"{definition.times:,}"],
        ]
        for definition in definitions
    ]
    return [Table(["Name", "Kind", "File", "Files that use it"], rows)] if rows else []


def _symbol_ref(index: Index, identity: int) -> Ref:
    """Return a link to a symbol, labelled with its public name if it has one."""
    ref = ref_of(index, identity)
    return ref._replace(label=public_name(index, ref.path, index.keys[identity]) or ref.label)
