"""What an update changes, as it passes from stage to stage: files, their links, bridges, and what pages read of them.

In: files before and after they were read, links before and after they were made. Out: a `Delta`, which each stage reads
and adds to. A result that equals the old one is not recorded, so a change ends where it has no effect. For pages, it is
recorded as pairs of an `Aspect` and a key (a path, a name), which the store keeps with the number of the update that
changed them last. A page that read none of what has changed since it was made is still current. Recording too much
costs an unnecessary page; recording too little leaves a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple
from zlib import crc32

from concordance.base.model import TYPE_KINDS, File, ForeignName, Links, unpack_column
from concordance.facts.codec import unpack_bases, unpack_links, unpack_terms
from concordance.facts.links.graph import unpack_edges
from concordance.facts.links.rows import FileLinks, rows_of
from concordance.facts.records import (
    KEY_COLUMN,
    KIND_COLUMN,
    NAME_COLUMN,
    TEST_COLUMN,
    PreviousFile,
    SymbolColumns,
    form_of,
)


class Aspect(StrEnum):
    """A part of the store that can be read by itself. Unless noted, the key is a path."""

    TEXT = "text"  # a file's ledger row, its facts, and checkers' remarks about it
    WORDS = "words of file"  # which words and symbols it has, and how often; not where
    TERMS = "terms of file"  # which of its words are terms other than names, and how often
    DISPLAY_NAMES = "display names"  # what other pages need of a file and its symbols when they name them
    USED_BY = "used by"  # what uses, extends or overrides it
    RESOLVED = "resolved"  # what its names and imports resolve to
    BASES = "bases of classes"  # which bases its classes state, and what these resolve to
    IMPORTS = "imports of file"  # where its imports lead
    LINKS_BETWEEN = "links between"  # the links of one file that lead to another; the key is `between` their paths
    USES = "uses of file"  # which symbols of other files it uses; not where, nor how often
    SYMBOLS_NAMED = "symbols named"  # which symbols have a name; the key is the name
    TERM = "term"  # roughly how many files contain a word; the key is the word
    CONCEPT = "concept"  # which files a word is a term of; the key is the word
    BRIDGES_OF_FILE = "bridges of file"  # which bridges start or end in it
    BRIDGES_OF_NAME = "bridges of name"  # which bridges have a name; the key is the name
    BRIDGES = "bridges"  # all bridges of a kind; the key is the kind
    ENDS = "ends"  # which ends of a bridge files state; the key is the bridge
    # Which symbols look for a name in other languages; the key is the name. Which such names there are that have a
    # certain part, or begin with it: the key is the part, with a dot in front or behind it.
    FOREIGN_NAMES = "foreign"
    HISTORY = "history"
    PATHS = "paths"  # that a file exists, and its language and category
    SETTINGS = "settings"  # the settings files by which imports are resolved; without a key


class StoredFile(NamedTuple):
    """A file as stored."""

    file: File
    packed: bytes
    # name, kind, place, line, declaration, column, public, key, True if it is a test
    symbols: Sequence[SymbolColumns]


def round_to_power(number: int) -> int:
    """Round a number down to a power of two, 0 to 0: pages that read a value in this form seldom see it change."""
    return 1 << number.bit_length() - 1 if number else 0


def between(path: str, target: str) -> str:
    """Return the key for what one file has to do with another; no path contains a NUL character."""
    return f"{path}\0{target}"


def slot_of(aspect: str, key: str) -> int:
    """Return a short number for what is read; two may share one, which costs an unnecessary page."""
    return crc32(f"{aspect} {key}".encode("utf-8", "surrogateescape"))


def without_times(file: File) -> File:
    """Return a ledger row without what differs between checkouts of the same content."""
    return file._replace(changed=0, altered=0, inode=0)


class LinkChange(NamedTuple):
    """The links of a file before and after it was linked again."""

    before: FileLinks
    after: FileLinks


class Delta:
    """What one update changes."""

    def __init__(self) -> None:
        self.added: set[str] = set()  # paths of new files
        self.previous: dict[str, PreviousFile] = {}  # files that were read again or removed, as they were
        self.flows_changed: set[str] = set()  # those of them that changed for the linker
        self.files_changed = False  # True if files were added or removed, or changed their kind
        self.tests_changed: set[str] = set()  # files whose tests or their order changed, or the kind of a symbol
        self.links: dict[int, LinkChange] = {}  # by the id of the file; only links that differ
        self.removed_calls: set[int] = set()  # call edges between languages, as in `links.graph`
        self.added_calls: set[int] = set()
        self.aspects: set[tuple[str, str]] = set()

    def add(self, aspect: Aspect, keys: Iterable[str]) -> None:
        """Record an aspect that changed, for some keys."""
        self.aspects.update((aspect.value, key) for key in keys)

    def add_new_file(self, path: str) -> None:
        """Record a file that was added."""
        self.added.add(path)
        self.files_changed = True

    def add_file(self, path: str, previous: PreviousFile, after: StoredFile | None) -> None:
        """Record a file that was read again, or removed (`after` is None)."""
        self.previous.setdefault(path, previous)
        if after is None:
            self.files_changed = True
            return
        self.files_changed |= previous.form != form_of(after.file) or previous.language != after.file.language
        if previous.is_other({row[KEY_COLUMN]: (row[KIND_COLUMN], row[TEST_COLUMN]) for row in after.symbols}):
            self.tests_changed.add(path)

    def add_foreign_names(self, before: Collection[ForeignName], after: Collection[ForeignName]) -> None:
        """Compare the names that a file looks for in other languages with those before."""
        was, now = ({(name.name, name.user, name.roles) for name in names} for names in (before, after))
        self.add(Aspect.FOREIGN_NAMES, {name for name, *_ in was ^ now})
        for dotted in {name.name for name in before} ^ {name.name for name in after}:
            parts = dotted.split(".")
            self.add(Aspect.FOREIGN_NAMES, {f"{parts[0]}.", *(f".{part}" for part in parts)})

    def compare_file(self, path: str, before: StoredFile | None, after: StoredFile | None) -> None:
        """Compare a file with its previous state; None if it did not exist, or no longer does."""
        if before is None or after is None:
            if before is not after:
                self.add(Aspect.TEXT, [path])
                self.add(Aspect.DISPLAY_NAMES, [path])
                self.add(Aspect.WORDS, [path])
                self.add(Aspect.TERMS, [path])
                self.add(Aspect.PATHS, [path])
                self.add(Aspect.BASES, [path])
                self.add(
                    Aspect.SYMBOLS_NAMED, [row[NAME_COLUMN] for file in (before, after) if file for row in file.symbols]
                )
                self.add(Aspect.CONCEPT, [text for text, _ in _concepts(before) ^ _concepts(after)])
            return
        was, now = before.file, after.file
        if without_times(was) == without_times(now) and before.packed == after.packed:
            return
        self.add(Aspect.TEXT, [path])
        if (was.language, was.category, was.skip) != (now.language, now.category, now.skip):
            self.add(Aspect.DISPLAY_NAMES, [path])
            self.add(Aspect.PATHS, [path])  # counts by these fields change
        old, new = ({row[KEY_COLUMN]: _display_fields(row) for row in file.symbols} for file in (before, after))
        kept = old.keys() & new.keys()
        # Other pages name symbols by their keys, in text order. A new or removed symbol is named elsewhere only through
        # a link, and links are compared separately.
        order = [[key for key in known if key in kept] for known in (old, new)]
        moved = order[0] != order[1]
        if moved or any(old[key] != new[key] for key in kept):
            self.add(Aspect.DISPLAY_NAMES, [path])
        self.add(Aspect.CONCEPT, [text for text, _ in _concepts(before) ^ _concepts(after)])
        has_other_terms = _terms(before) != _terms(after)
        if has_other_terms:
            self.add(Aspect.TERMS, [path])
        if has_other_terms or old != new or moved:
            self.add(Aspect.WORDS, [path])
        if _bases(before) != _bases(after):
            self.add(Aspect.BASES, [path])
        self.add(Aspect.SYMBOLS_NAMED, [name for _, name, *_ in _names(before) ^ _names(after)])
        if moved:  # symbols of one name are listed in the order of the text
            self.add(Aspect.SYMBOLS_NAMED, [old[key][0] for key, other in zip(*order, strict=True) if key != other])

    def add_links(self, file: int, before: FileLinks, after: FileLinks, owner: Callable[[int], str]) -> None:
        """Compare the links of a file with its previous ones; `owner` returns the path of the file that has an id."""
        if before == after:
            return
        self.links[file] = LinkChange(self.links[file].before if file in self.links else before, after)
        path = owner(file)
        if _resolved(before) != _resolved(after):
            self.add(Aspect.RESOLVED, [path])
        if before.rest.extends != after.rest.extends:
            self.add(Aspect.BASES, [path])
        self._compare_targets(path, before.links, after.links, owner)
        was, now = set(_uses(before)), set(_uses(after))
        if {(row[0], row[3:4]) for row in was} != {(row[0], row[3:4]) for row in now}:  # target and trust
            self.add(Aspect.USES, [path])
        targets = {row[0] for row in {*was, *_edges(before)} ^ {*now, *_edges(after)}}
        self.add(Aspect.USED_BY, {owner(target) for target in targets})

    def _compare_targets(self, path: str, before: bytes, after: bytes, owner: Callable[[int], str]) -> None:
        """Record where the imports of a file lead now, and the files to which other links lead than before."""
        if before == after:
            return
        was, now = (unpack_links(packed) if packed else Links() for packed in (before, after))
        if was.imports != now.imports:
            self.add(Aspect.IMPORTS, [path])
        targets = {target for _, target, *_ in {*_link_rows(was)} ^ {*_link_rows(now)}}
        self.add(Aspect.LINKS_BETWEEN, {between(path, owner(target)) for target in targets})


def _link_rows(links: Links) -> Iterator[tuple[int, int, int, str]]:
    """Yield the expression, target, trust and resolver of each link."""
    by = (links.resolvers[number] for number in links.by)
    return zip(unpack_column(links.use), unpack_column(links.target), links.trust, by, strict=True)


def _uses(part: FileLinks) -> Iterator[tuple[int, ...]]:
    """Yield which symbols of a file use, override or extend what."""
    yield from rows_of(part.uses)
    for symbol, target, *more in part.rest.overrides:
        yield target, symbol, -1, *more
    for symbol, target in part.rest.extends:
        yield target, symbol, -2


def _edges(part: FileLinks) -> Iterator[tuple[int, ...]]:
    for target, user, way in unpack_edges(part.edges):
        yield target, user, -3, way


def _resolved(part: FileLinks) -> object:
    """Return what a file's own names refer to."""
    return part.links, [row[:2] for row in part.rest.overrides], part.rest.extends


def _terms(stored: StoredFile) -> list[tuple[str, int, str]]:
    terms = unpack_terms(stored.packed) if stored.packed else ()
    return sorted((term.text, term.times, term.stands_for) for term in terms if term.kind != "name")


def _bases(stored: StoredFile) -> dict[str, tuple[str, ...]]:
    return unpack_bases(stored.packed) if any(kind in TYPE_KINDS for _, kind, *_ in stored.symbols) else {}


def _concepts(stored: StoredFile | None) -> set[tuple[str, str]]:
    terms = unpack_terms(stored.packed) if stored is not None and stored.packed else ()
    return {(term.text, term.stands_for) for term in terms if term.kind != "name"}


_Description = tuple[str, str, bool, bool, bool]


def _display_fields(row: SymbolColumns) -> _Description:
    name, kind, _, _, declaration, _, public, _, test = row
    return name, kind, bool(declaration), bool(public), bool(test)


def _names(stored: StoredFile) -> set[tuple[str, str, str, bool, bool, bool]]:
    return {(row[KEY_COLUMN], *_display_fields(row)) for row in stored.symbols}
