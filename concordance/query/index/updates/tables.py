"""Digests of the tables that pages share: a row whose digest changed is stale for the pages that read it.

In: an index, the digests of the last build, and what the store says has changed since. Out: the digests as they are
now, and the slots of everything that changed. Digests of tables that depend only on unchanged data are taken over. The
names of the tables are those under which look-ups are recorded (`reads`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from zlib import crc32

from concordance.base.config import Note
from concordance.base.model import Category, unpack_column
from concordance.base.paths import parent_folders
from concordance.facts.codec import PUBLIC
from concordance.facts.updates.delta import Aspect, round_to_power, slot_of
from concordance.facts.updates.page_reads import Digests
from concordance.facts.updates.reads import (
    ANYTHING,
    BELOW,
    NAMES_BELOW,
    TERMS_BELOW,
    WHOLE_TABLE,
    TouchedKeys,
    shared_until,
)
from concordance.query.answers import split_key
from concordance.query.book.chapter_sections import dependency_sentences
from concordance.query.book.chapters import chapter_of, plan
from concordance.query.descriptions.guide_entries import GUIDES, guide_entries_by_path
from concordance.query.folders.definition_uses import packed_uses, unpack_uses
from concordance.query.folders.project_name import name_of
from concordance.query.index.findings import findings_by_rule
from concordance.query.index.graphs.test_directness import loads_folder
from concordance.query.index.ledger import identical_files
from concordance.query.index.owners import code_owners
from concordance.query.index.repository import Index
from concordance.query.index.test_commands import affects_test_commands
from concordance.query.names.display_names import public_names
from concordance.query.search.related_files import stem_of

# Tables by path; a change in one of them also makes the pages of the enclosing folders stale.
_AFFECTING_FOLDERS = frozenset(("ranks", "tests", "uses", "users", "used definitions", "command"))
_OF_LINKS = (
    "uses", "files used", "users", "fan in", "fan out", "edges", "bands", "ranks", "layers", "cycles", "clusters",
    "tests", "used definitions",
)  # fmt: skip


def table_digests(index: Index, before: Mapping[str, Digests], touched: TouchedKeys | None) -> dict[str, Digests]:
    """Return the digests of all tables; `touched` is None if nothing is known about the last build."""
    with index.reads.not_recording():
        tables = _path_tables(index, before, touched)
        tables["passes"] = {**index.marks, "files": _files_mark(index)}
        same = (
            touched is not None and before.get("passes") == tables["passes"]
            and not touched.get(Aspect.USED_BY) and not touched.get(Aspect.SYMBOLS_NAMED)
        )  # fmt: skip
        tables |= {name: before[name] for name in _OF_LINKS} if same else link_tables(index).of(index)
        folders = index.folders
        tables["chapter"] = {folder: digest_of(chapter_of(index, folder)) for folder in folders}
        tables["chapters"] = _chapters(index)
        tables["findings"] = {rule: digest_of(list(files.items())) for rule, files in findings_by_rule(index).items()}
        tables["title"] = {"": digest_of(name_of(index))}
        tables["owners"] = {"": digest_of((code_owners(index).path, code_owners(index).rules))}
        tables["notes"] = _notes(index)
        tables["copies"] = {path: digest_of(paths) for path, paths in identical_files(index).items()}
        tables["all tests"] = {"": digest_of(index.has_tests)}
        tables["read"] = {"": index.census.file_count_band}
        tables[PUBLIC] = {path: crc32(row) for path, row in public_names(index).rows.items()}
        renamed = touched is None or touched[Aspect.SYMBOLS_NAMED] or touched[Aspect.CONCEPT]
        if renamed or "shard" not in before or "alphabet" in vars(index):
            tables["shard"] = index.alphabet.shards.marks
            tables["shards"] = {"": digest_of(list(tables["shard"]))}
        else:
            tables |= {"shard": before["shard"], "shards": before["shards"]}
            index.reused_letters = list(before["shard"])
        return tables


@shared_until(Aspect.PATHS)
def _files_mark(index: Index) -> int:
    return digest_of(index.file_rows)


def _chapters(index: Index) -> Digests:
    """Return a digest of each chapter's relation to the others."""
    ordered = plan(index).ordered
    names = ["", *(chapter.name for chapter in ordered), ""]
    inside = [[other.name for other in ordered if other.folder.startswith(f"{chapter.folder}/")] for chapter in ordered]
    return {
        chapter.name: digest_of(
            (names[place], names[place + 2], inside[place], chapter.sections, dependency_sentences(index, chapter))
        )
        for place, chapter in enumerate(ordered)
    }


def _path_tables(index: Index, before: Mapping[str, Digests], touched: TouchedKeys | None) -> dict[str, Digests]:
    """Return the digests that depend on which files there are, and on the content of some of them."""
    paths = [row[1] for row in index.file_rows]
    texts: Collection[str] = touched[Aspect.TEXT] if touched is not None else paths
    recompute_all = touched is None or bool(touched[Aspect.PATHS])
    tables = {name: make(index) if recompute_all else before[name] for name, make in _BY_PATHS.items()}
    files = index.files
    tables["weight"] = _updated_table(
        before.get("weight", {}), paths, texts, recompute_all, lambda path: round_to_power(files[path].size)
    )
    packages = [path for path in paths if path.rpartition("/")[2] == "__init__.py"]
    tables["loading packages"] = _updated_table(
        before.get("loading packages", {}), packages, texts, recompute_all, lambda path: int(loads_folder(index, path))
    )
    guides = recompute_all or any(GUIDES.search(path) for path in texts)
    tables["entry"] = (
        {path: digest_of(row) for path, row in guide_entries_by_path(index).items()} if guides else before["entry"]
    )
    test_paths = [row[1] for row in index.file_rows if row[3] == Category.TEST or row[1] in index.tests_in]
    recompute = recompute_all or affects_test_commands(texts)

    def command(path: str) -> int:
        language = index.language_of(path)
        names = ["", *(".".join(split_key(index.keys[test])) for test in index.tests_in.get(path, ()))]
        return digest_of([index.runners.command(path, language, name) for name in names])

    tables["command"] = _updated_table(
        before.get("command", {}), test_paths, test_paths if recompute else texts, recompute, command
    )
    return tables


def _updated_table(
    before: Digests, keys: Iterable[str], changed: Collection[str], recompute: bool, compute: Callable[[str], int]
) -> Digests:
    """Return a table in which some keys are computed again."""
    stale = set(changed)
    return {key: compute(key) if recompute or key in stale or key not in before else before[key] for key in keys}


def _folder_lists(index: Index) -> Digests:
    return {folder: digest_of(index.files_in(folder)) for folder in index.folders}


def _stems(index: Index) -> Digests:
    stems: dict[str, list[str]] = {}
    for path in sorted(row[1] for row in index.file_rows):
        stems.setdefault(stem_of(path), []).append(path)
    return {stem: digest_of(paths) for stem, paths in stems.items()}


def _notes(index: Index) -> Digests:
    notes_by_path: dict[str, list[Note]] = {}
    for note in index.book.notes:
        notes_by_path.setdefault(note.path, []).append(note)
    return {path: digest_of((index.book.settings, notes)) for path, notes in notes_by_path.items()}


def _licences(index: Index) -> Digests:
    return {folder: digest_of(path) for folder, path in index.licences.items()}


_BY_PATHS: dict[str, Callable[[Index], Digests]] = {"folder": _folder_lists, "stem": _stems, "licences": _licences}


def changed_slots(
    index: Index,
    before: Mapping[str, Digests],
    current: Mapping[str, Digests],
    touched: TouchedKeys,
    has_other_changes: bool,
) -> set[int]:
    """Return the slots of everything that changed.

    If anything changed, they include the slot of pages that read everything. `has_other_changes` is True if something
    changed that has no slot of its own.
    """
    affected: set[str] = {*touched[Aspect.TEXT], *touched[Aspect.DISPLAY_NAMES], *touched[Aspect.PATHS]}
    renamed = {
        key for aspect in (Aspect.WORDS, Aspect.DISPLAY_NAMES, Aspect.PATHS, Aspect.USES) for key in touched[aspect]
    }
    slots = {slot_of(aspect, key) for aspect, keys in touched.items() for key in keys}
    words = _files_with_changed_words(index, before, current, touched)
    slots.update(slot_of("words", path) for path in words)
    affected.update(words)
    renamed.update(words)
    for name, table in current.items():
        old = before.get(name, {})
        if table is old or table == old:
            continue
        keys = [key for key in table if table[key] != old.get(key)] + [key for key in old if key not in table]
        slots.update(slot_of(name, key) for key in keys)
        if keys:
            slots.add(slot_of(name, WHOLE_TABLE))
        if name in _AFFECTING_FOLDERS:
            affected.update(keys)
        if name == "used definitions":
            renamed.update(keys)
    for below, paths in ((BELOW, affected), (NAMES_BELOW, renamed), (TERMS_BELOW, {*touched[Aspect.TERMS], *words})):
        slots.update(slot_of(below, folder) for folder in {folder for path in paths for folder in parent_folders(path)})
    slots.update(slot_of(aspect, WHOLE_TABLE) for aspect, keys in touched.items() if keys)
    if slots or has_other_changes:
        slots.add(slot_of(ANYTHING, ""))
    return slots


def _files_with_changed_words(
    index: Index, before: Mapping[str, Digests], current: Mapping[str, Digests], touched: TouchedKeys
) -> list[str]:
    """Return the files whose characteristic words may differ now, as words that many files share do not count."""
    common = set(touched[Aspect.TERM])
    everywhere = current["read"] != before.get("read")
    if not common and not everywhere:
        return []
    rows = index.census.terms.items()
    return [
        index.path_of_file(file) for file, terms in rows if everywhere or any(term.text in common for term in terms)
    ]


# Digests of the tables that depend on who uses what. A refreshed index keeps the last digests with the rows that they
# were computed from, and computes a digest again only if its row differs.


def digest_of(value: object) -> int:
    """Return a digest of a value."""
    return crc32(repr(value).encode("utf-8", "backslashreplace"))


class LinkTables:
    """The digests of one index's tables of links."""

    def __init__(self) -> None:
        self._rows: dict[str, Mapping[Any, Any]] = {}  # the rows that each table was computed from last
        self._digests: dict[str, Digests] = {}
        self._neighbours: object = None

    def of(self, index: Index) -> dict[str, Digests]:
        """Return all tables. The caller may keep them: a changed table is replaced, never modified."""
        if self._neighbours is not index.neighbours:
            self._neighbours = index.neighbours
            self._digest_analyses(index)
        uses = {path: rows for _, path, _, _ in index.file_rows if (rows := packed_uses(index, path))}

        def digest(packed: bytes) -> int:
            return digest_of([(-times, name, kind) for times, name, _, kind, _ in unpack_uses(index, packed)])

        self._update_table("used definitions", uses, digest)
        return dict(self._digests)

    def _update_table(
        self, name: str, rows: Mapping[Any, Any], make: Callable[[Any], int], path_of: Callable[[Any], str] = str
    ) -> None:
        """Compute the digests of a table again for the rows that changed."""
        before, known = self._rows.get(name, {}), self._digests.get(name, {})
        if rows is before:
            return
        self._rows[name] = rows
        digests: Digests = {}
        for key, row in rows.items():
            path, had = path_of(key), before.get(key)
            same = had is row or (had is not None and had == row)
            digests[path] = known[path] if same else make(row)
        self._digests[name] = digests

    def _digest_analyses(self, index: Index) -> None:
        """Compute the digests of the results of whole-repository analyses."""
        crc = {row[0]: crc32(row[1].encode("utf-8", "surrogateescape")) for row in index.file_rows}
        path_of, neighbours = index.path_of_file, index.neighbours

        def summed(row: dict[int, int]) -> int:
            return sum([(crc[other] * 1000003 ^ times * 8191) & 0xFFFFFFFF for other, times in row.items()])

        self._update_table("uses", neighbours.all_uses, summed, path_of)
        self._update_table("users", neighbours.all_users, summed, path_of)
        self._update_table("files used", neighbours.all_uses, lambda row: sum(crc[other] for other in row), path_of)
        for name, counts in (("fan in", neighbours.fan_in), ("fan out", neighbours.fan_out)):
            self._digests[name] = {path_of(one): count for one, count in counts.items()}
        edges = {folder: index.folder_edges(folder) for folder in index.folders}
        self._update_table("edges", edges, lambda row: digest_of(sorted(row.items())))
        for name in ("bands", "ranks", "layers", "cycles", "clusters"):
            self._update_table(name, getattr(index, name), digest_of)
        self._update_table("tests", index.tested_rows, _tests(index), path_of)


def _tests(index: Index) -> Callable[[tuple[list[tuple[int, bytes]], int]], int]:
    """Return a function that digests a file's tests by path and key, so that mere new ids change nothing."""
    known: dict[int, int] = {}

    def of(test: int) -> int:
        digest = known.get(test)
        if digest is None:
            digest = known[test] = digest_of((index.path_of(test), index.keys[test]))
        return digest

    def make(row: tuple[list[tuple[int, bytes]], int]) -> int:
        near, farther = row
        return digest_of(([(steps, sum(map(of, unpack_column(column)))) for steps, column in near], farther))

    return make


@shared_until()
def link_tables(index: Index) -> LinkTables:
    """Return the digests of an index, as far as they were computed."""
    return LinkTables()
