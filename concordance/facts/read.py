"""`Facts`: every query that later stages make to the store.

In: the folder of a store. Out: rows of `base/model.py`. Read-only, and always from one complete build: a build that
ends in the meantime is seen when the store is opened the next time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, TypeVar

import msgspec

from concordance.base.model import (
    Category,
    End,
    File,
    FileFacts,
    FileHistory,
    Finding,
    Flow,
    Links,
    Term,
    Trust,
    unpack_column,
)  # fmt: skip
from concordance.facts import schema
from concordance.facts.cache import CachedFile
from concordance.facts.codec import (
    FileOutline,
    FileScopes,
    terms_in,
    unpack,
    unpack_bases,
    unpack_ends,
    unpack_findings,
    unpack_flow,
    unpack_links,
    unpack_outline,
    unpack_remarks,
    unpack_scopes,
    unpack_terms,
)
from concordance.facts.links.bridge_rows import SYMBOL, place_of
from concordance.facts.links.bridge_rows import SymbolPlace as SymbolPlace
from concordance.facts.links.rows import Columns
from concordance.facts.records import FileMacros
from concordance.facts.store import Store
from concordance.facts.symbol_ids import IdOwners, SymbolIds
from concordance.facts.updates.delta import Aspect

_HAS_KEY = "(name != '' OR key != '')"  # the key, which the index lacks, is read only if the name is empty
Value = TypeVar("Value")


class Facts(Store):
    """A store that is open for reading."""

    def touched_since(self, update: int) -> dict[str, set[str]]:
        """Return what changed since an update, by aspect; every aspect is a key."""
        touched: dict[str, set[str]] = {aspect.value: set() for aspect in Aspect}
        for aspect, key in self._rows("SELECT aspect, key FROM touched WHERE at > ?", (update,)):
            touched[aspect].add(os.fsdecode(key))
        return touched

    def files(self) -> Iterator[File]:
        """Yield the ledger, in path order."""
        query = f"SELECT {schema.FILE_COLUMNS} FROM file ORDER BY path"  # noqa: S608
        for row in self._rows(query):
            yield File(schema.path_from(row[0]), *row[1:])

    def file(self, path: str) -> File | None:
        """Return one row of the ledger; None if there is none."""
        query = f"SELECT {schema.FILE_COLUMNS} FROM file WHERE path = ?"  # noqa: S608
        row = self._row(query, schema.stored_path(path))
        return File(path, *row[1:]) if row else None

    def file_and_ids(self, path: str) -> tuple[File, SymbolIds] | None:
        """Return one row of the ledger, and the ids of the file and its symbols; None if there is none."""
        query = f"SELECT {schema.FILE_COLUMNS}, id, symbols, ids FROM file WHERE path = ?"  # noqa: S608
        row = self._row(query, schema.stored_path(path))
        return (File(path, *row[1:-3]), SymbolIds.unpack(*row[-3:])) if row else None

    def of(self, path: str) -> FileFacts:
        """Return a file's facts; empty if it was not read."""
        packed = self._packed("facts", path)
        return self._decoded(unpack, packed) if packed is not None else FileFacts()

    def cached_files(self) -> Iterator[CachedFile]:
        """Yield what the cache of facts contains for each file, without its key and its words."""
        query = (
            "SELECT facts.packed, flow.packed, ends.packed FROM facts "
            "LEFT JOIN flow ON flow.file = facts.file LEFT JOIN ends ON ends.file = facts.file"
        )
        for facts, flow, ends in self._rows(query):
            yield CachedFile(facts, flow or b"", ends or b"", b"")

    def outline(self, path: str) -> FileOutline:
        """Return a file's definitions and documentation; empty if it was not read."""
        packed = self._packed("facts", path)
        return self._decoded(unpack_outline, packed) if packed is not None else FileOutline()

    def stated_bases(self, path: str) -> dict[str, tuple[str, ...]]:
        """Return the bases that the classes of a file state, by key."""
        packed = self._packed("facts", path)
        return self._decoded(unpack_bases, packed) if packed is not None else {}

    def findings(self, path: str) -> list[Finding]:
        """Return the findings of our rules, the readers and ruff in a file, by line.

        In tests and benchmarks, only those that are worth reporting there.
        """
        query = (
            "SELECT category, facts.packed, remark.packed FROM file LEFT JOIN facts ON facts.file = file.id "
            "LEFT JOIN remark ON remark.file = file.id WHERE path = ?"
        )
        row = self._row(query, schema.stored_path(path))
        if row is None:
            return []
        findings = self._decoded(unpack_findings, row[1]) if row[1] else ()
        remarks = self._decoded(unpack_remarks, row[2]) if row[2] else ()
        reportable = reportable_findings({*findings, *remarks}, row[0])
        return sorted(reportable, key=lambda finding: (finding.line, finding.col, finding.by, finding.message))

    def ends(self, path: str) -> tuple[End, ...]:
        """Return the ends of bridges in a file."""
        packed = self._packed("ends", path)
        return self._decoded(unpack_ends, packed) if packed is not None else ()

    def names_in(self, path: str) -> FileScopes:
        """Return the names and scopes of a file; empty if it was not read."""
        packed = self._packed("facts", path)
        return self._decoded(unpack_scopes, packed) if packed is not None else FileScopes(msgspec.Raw())

    def symbols_named(self, name: str) -> list[SymbolPlace]:
        """Return every symbol of a name."""
        query = f"{SYMBOL} WHERE name = ? ORDER BY file.path, place"
        return [place_of(row) for row in self._all(query, (name,))]

    def files_defining(self, names: Iterable[str]) -> dict[str, set[int]]:
        """Return the ids of the files that define each of some names as a type, function or macro at the top level."""
        files: dict[str, set[int]] = {}
        query = (
            "SELECT DISTINCT name, file FROM symbol WHERE name IN (?...) AND NOT declaration "
            "AND ifnull(instr(key, '.'), 0) = 0 "
            "AND kind IN ('class', 'struct', 'function', 'interface', 'enum', 'type', 'macro')"
        )
        for name, file in self._rows_of_each(query, names):
            files.setdefault(name, set()).add(file)
        return files

    def symbols_named_by_macro(self, name: str) -> list[SymbolPlace]:
        """Return the symbols that a macro defines with the name as its first argument: `KERNEL(name)`."""
        query = f"{SYMBOL} WHERE name GLOB ? OR name GLOB ? ORDER BY file.path, place"
        literal = "".join(f"[{c}]" if c in "*?[" else c for c in name)
        return [place_of(row) for row in self._all(query, (f"*({literal})", f"*({literal},*)"))]

    def symbols(self, after: tuple[str, str, int], limit: int) -> list[SymbolPlace]:
        """Return symbols in name order, after the one at (name, path, place)."""
        query = f"{SYMBOL} WHERE (name, path, place) > (?, ?, ?) AND name >= ? ORDER BY name, path, place LIMIT ?"
        name, path, place = after
        values = (name, schema.stored_path(path), place, name, limit)
        return [place_of(row) for row in self._rows(query, values)]

    def symbols_starting_with(self, prefix: str, limit: int) -> list[SymbolPlace]:
        """Return the symbols whose names start with a prefix, shortest names first."""
        # First the names: looking up the files of everything that starts with `test` would take ten times as long.
        names = "SELECT DISTINCT name FROM symbol WHERE name > ? AND name < ? ORDER BY length(name), name LIMIT ?"
        query = f"{SYMBOL} WHERE name IN ({names}) ORDER BY length(name), name, file.path, place LIMIT ?"
        return [place_of(row) for row in self._rows(query, (prefix, prefix + "\U0010ffff", limit, limit))]

    def names_with_initials(self, letters: str) -> list[str]:
        """Return the names that contain some capital letters in this order, the first one at the beginning."""
        pattern = "".join(f"{letter}*" for letter in letters)
        query = "SELECT DISTINCT name FROM symbol WHERE name >= ? AND name < ? AND name GLOB ?"
        return [row[0] for row in self._rows(query, (letters[0], letters[0] + "\U0010ffff", pattern))]

    def terms_like(self, prefix: str, limit: int) -> list[str]:
        """Return the terms that start with a prefix, those in the most files first."""
        query = "SELECT text FROM term WHERE text >= ? AND text < ? ORDER BY files DESC, text LIMIT ?"
        return [row[0] for row in self._rows(query, (prefix, prefix + "\U0010ffff", limit))]

    def symbol_count(self) -> int:
        """Return the number of symbols."""
        return self._count("symbol")

    def flow(self, path: str) -> Flow | None:
        """Return a file's flow; None if it has none."""
        packed = self._packed("flow", path)
        return self._decoded(unpack_flow, packed) if packed is not None else None

    def links(self, path: str) -> Links:
        """Return what a file's names and imports resolve to."""
        packed = self._packed("link", path)
        return self._decoded(unpack_links, packed) if packed is not None else Links()

    def id(self, path: str) -> int:
        """Return the id of a file; 0 if there is no such file."""
        row = self._row("SELECT id FROM file WHERE path = ?", schema.stored_path(path))
        return int(row[0]) if row else 0

    def ids(self, path: str) -> SymbolIds:
        """Return the ids of a file and its symbols; the file's own is 0 if there is no such file."""
        row = self._row("SELECT id, symbols, ids FROM file WHERE path = ?", schema.stored_path(path))
        return SymbolIds.unpack(*row) if row else SymbolIds(0, ())

    def place(self, identity: int) -> SymbolPlace | None:
        """Return the symbol of an id; for the id of a file, a place with index -1, no name and line 1."""
        row = self._row(f"{SYMBOL} WHERE symbol.id = ?", identity)
        if row:
            return place_of(row)
        row = self._row("SELECT path, language, category FROM file WHERE id = ?", identity)
        if row is None:
            return None
        return SymbolPlace(identity, "", "file", schema.path_from(row[0]), -1, 1, False, 1, True, "", row[1], row[2])

    def places(self, identities: Iterable[int]) -> dict[int, SymbolPlace]:
        """Return the symbols and files of the given ids."""
        wanted = sorted(set(identities))
        rows = self._rows_of_each(f"{SYMBOL} WHERE symbol.id IN (?...)", wanted)
        places: dict[int, SymbolPlace] = {row[0]: place_of(row) for row in rows}
        files = ((identity, self.place(identity)) for identity in wanted if identity not in places)
        places.update((identity, place) for identity, place in files if place is not None)
        return places

    def symbols_in(self, path: str) -> list[SymbolPlace]:
        """Return every symbol of a file, in text order."""
        query = f"{SYMBOL} WHERE file.path = ? ORDER BY place"
        return [place_of(row) for row in self._rows(query, (schema.stored_path(path),))]

    def distinct_names(self, first: str, shortest: int, longest: int) -> list[str]:
        """Return the names of symbols that start with a letter and have a length in a range."""
        query = "SELECT DISTINCT name FROM symbol WHERE name >= ? AND name < ? AND length(name) BETWEEN ? AND ?"
        return [row[0] for row in self._rows(query, (first, first + "\U0010ffff", shortest, longest))]

    def file_rows(self) -> list[tuple[int, str, str, str]]:
        """Return each file's id, path, language and category, in the order of ids."""
        rows = self._all("SELECT id, path, language, category FROM file ORDER BY id")
        return [(row[0], schema.path_from(row[1]), row[2], row[3]) for row in rows]

    def symbol_ids(self) -> dict[int, SymbolIds]:
        """Return the ids of all files and their symbols, by the files' ids."""
        return {row[0]: SymbolIds.unpack(*row) for row in self._all("SELECT id, symbols, ids FROM file")}

    def owners(self) -> IdOwners[int]:
        """Return which file each id belongs to."""
        return IdOwners(self._all("SELECT start, file FROM id_range ORDER BY start"))

    def users(self, target: int) -> list[tuple[int, int, int]]:
        """Return what uses a symbol or file: the id of the enclosing symbol (or of the file), roles and the best trust.

        Roles are bits, one for each index into ROLES. Uses by the symbol itself are included.
        """
        query = "SELECT user, roles, trust FROM used WHERE target = ? ORDER BY user"
        return [(row[0], row[1], row[2]) for row in self._rows(query, (target,))]

    def uses(self, targets: Iterable[int]) -> list[tuple[int, int, int, int]]:
        """Return the uses of the given symbols or files: the id of the enclosing symbol, roles, best trust, and count.

        Guesses are included only if there is nothing better.
        """
        query = "SELECT user, roles, trust, times FROM used WHERE target IN (?...)"
        return list(self._rows_of_each(query, targets))

    def users_of(self, targets: Iterable[int]) -> list[tuple[int, int, int, int, int]]:
        """Return the uses of the given symbols: target, user, roles, trust, and count."""
        query = "SELECT target, user, roles, trust, times FROM used WHERE target IN (?...)"
        return list(self._rows_of_each(query, targets))

    def used_from_elsewhere(self, targets: Iterable[int], file: int) -> set[int]:
        """Return those symbols that something outside a file uses, with trust unique_name or better."""
        ids: set[int] = set()
        ranges = self._all("SELECT start, last FROM id_range WHERE file = ?", (file,))
        outside = " AND ".join(["user NOT BETWEEN ? AND ?"] * len(ranges))
        for part in _query_batches(targets):
            query = (
                f"WITH asked (id) AS (VALUES {', '.join(['(?)'] * len(part))}) SELECT id FROM asked WHERE EXISTS "  # noqa: S608
                f"(SELECT 1 FROM used WHERE target = id AND trust >= ? AND {outside})"
            )
            values = (*part, Trust.UNIQUE_NAME, *chain.from_iterable(ranges))
            ids.update(row[0] for row in self._all(query, values))
        return ids

    def analysis_result(self, name: str) -> bytes:
        """Return the packed result of a whole-repository analysis."""
        row = self._row("SELECT packed FROM pass WHERE name = ?", name)
        return bytes(row[0]) if row else b""

    def analysis_marks(self) -> dict[str, int]:
        """Return the checksums of all results of whole-repository analyses."""
        return dict(self._all("SELECT name, mark FROM pass"))

    def tests(self) -> list[tuple[int, int]]:
        """Return the ids of all tests, each after that of its file, of each file in the order of the text."""
        return self._all("SELECT file, id FROM symbol WHERE test ORDER BY file, place")

    def ranks(self) -> dict[str, float]:
        """Return how central each file is, from 0 to 1."""
        return {schema.path_from(path): rank or 0.0 for path, rank in self._rows("SELECT path, rank FROM file")}

    def unresolved_count(self, name: str) -> tuple[int, int]:
        """Return how often a name could not be resolved: in calls, and in total."""
        row = self._row("SELECT calls, uses FROM missed WHERE name = ?", name)
        return (row[0], row[1]) if row else (0, 0)

    def unresolved_total(self) -> tuple[int, int]:
        """Return how many calls, and how many uses in total, could not be resolved."""
        row = self._row("SELECT sum(calls), sum(uses) FROM missed")
        return (row[0] or 0, row[1] or 0) if row else (0, 0)

    def symbol_keys(self) -> Iterator[tuple[Any, ...]]:
        """Yield the id, key and kind of every symbol, and whether it is only declared, in the order of ids."""
        return self._rows("SELECT id, key, kind, declaration FROM symbol ORDER BY id")

    def keys_of(self, identities: Iterable[int]) -> dict[int, tuple[str, str, bool]]:
        """Return the key and kind of some symbols, and whether each is only declared, by id; files, and ids that
        nothing has, are left out."""
        query = "SELECT id, key, kind, declaration FROM symbol WHERE id IN (?...)"
        rows = self._rows_of_each(query, sorted(identities))
        return {identity: (key, kind, bool(declared)) for identity, key, kind, declared in rows}

    def ids_by_name(self, first: str = "", end: str = "") -> Iterator[tuple[str, list[int]]]:
        """Yield the names of all symbols that have keys, each with their ids, in the order of names and ids: those from
        `first` on, and before `end` if it is given."""
        where, values = ("name >= ? AND name < ?", (first, end)) if end else ("name >= ?", (first,))
        query = f"SELECT name, id FROM symbol INDEXED BY symbol_name WHERE {where} AND {_HAS_KEY} ORDER BY name, id"  # noqa: S608
        rows = self._rows(query, values)
        for name, group in groupby(rows, itemgetter(0)):
            yield name, [row[1] for row in group]

    def ids_named(self, names: Iterable[str]) -> dict[str, list[int]]:
        """Return the ids of the symbols of each of some names that have keys; names without symbols are left out."""
        ids: dict[str, list[int]] = {}
        query = f"SELECT name, id FROM symbol WHERE name IN (?...) AND {_HAS_KEY}"  # noqa: S608
        for name, identity in self._rows_of_each(query, names):
            ids.setdefault(name, []).append(identity)
        return ids

    def files_without_keys(self) -> set[int]:
        """Return the ids of the files in which a symbol has no key: its name is empty, and nothing is around it."""
        return {row[0] for row in self._rows("SELECT file FROM symbol WHERE name = '' AND key = ''")}

    def name_count(self) -> int:
        """Return the number of different names of symbols that have keys."""
        row = self._row(f"SELECT count(DISTINCT name) FROM symbol INDEXED BY symbol_name WHERE {_HAS_KEY}")  # noqa: S608
        return int(row[0]) if row else 0

    def symbols_of(self, path: str) -> list[tuple[int, str, str, int, int]]:
        """Return id, key and kind of a file's symbols, whether it is only declared, and whether it is a test."""
        query = (
            "SELECT symbol.id, key, kind, declaration, test FROM symbol JOIN file ON symbol.file = file.id "
            "WHERE path = ? ORDER BY place"
        )
        return self._all(query, (schema.stored_path(path),))

    def users_of_file(self, path: str) -> list[tuple[int, int, int, int, int]]:
        """Return the uses of a file or any symbol of it: target, user, roles, trust, and count."""
        query = (
            "SELECT target, user, roles, trust, times FROM file JOIN id_range ON id_range.file = file.id "
            "JOIN used ON target BETWEEN start AND last WHERE path = ? ORDER BY target"
        )
        return self._all(query, (schema.stored_path(path),))

    def overridden(self, symbol: int) -> list[tuple[int, int]]:
        """Return what a method overrides: ids and trust."""
        return [(r[0], r[1]) for r in self._rows("SELECT target, trust FROM override WHERE symbol = ?", (symbol,))]

    def overriding(self, symbol: int) -> list[tuple[int, int]]:
        """Return what overrides a method: ids and trust."""
        return [(r[0], r[1]) for r in self._rows("SELECT symbol, trust FROM override WHERE target = ?", (symbol,))]

    def overrides(self) -> list[tuple[int, int]]:
        """Return all methods that override another: pairs of overriding and overridden symbol, without guesses."""
        return [(r[0], r[1]) for r in self._rows("SELECT symbol, target FROM override WHERE trust > 0")]

    def overrides_of_file(self, file: int) -> list[tuple[int, int]]:
        """Return what the methods of a file override: pairs of overriding and overridden symbol, without guesses."""
        return self._pairs("override", "symbol", file, "AND trust > 0")

    def overridings_of_file(self, file: int) -> list[tuple[int, int]]:
        """Return what overrides the methods of a file: pairs as in `overrides_of_file`."""
        return self._pairs("override", "target", file, "AND trust > 0")

    def bases_of_file(self, file: int) -> list[tuple[int, int]]:
        """Return what the classes of a file extend: pairs of a class and a base, in text order."""
        return self._pairs("extends", "symbol", file)

    def subclasses_of_file(self, file: int) -> list[tuple[int, int]]:
        """Return what extends the classes of a file: pairs as in `bases_of_file`."""
        return self._pairs("extends", "target", file)

    def bases_of(self, symbol: int) -> list[int]:
        """Return what a class extends, in text order."""
        return [row[0] for row in self._rows("SELECT target FROM extends WHERE symbol = ? ORDER BY rowid", (symbol,))]

    def subclasses_of(self, symbol: int) -> list[int]:
        """Return what extends a class."""
        return [row[0] for row in self._rows("SELECT symbol FROM extends WHERE target = ?", (symbol,))]

    def _pairs(self, table: str, column: str, file: int, also: str = "") -> list[tuple[int, int]]:
        query = (
            f"SELECT symbol, target FROM id_range JOIN {table} ON {column} BETWEEN start AND last "  # noqa: S608
            f"WHERE file = ? {also} ORDER BY {table}.rowid"
        )
        return self._all(query, (file,))

    def files_with(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many files each term occurs; terms that do not occur are left out."""
        files = {}
        for term in terms:
            row = self._row("SELECT files FROM term WHERE text = ?", term)
            if row:
                files[term] = int(row[0])
        return files

    def used_from(self, path: str) -> set[int]:
        """Return the ids of what a file uses, including its own symbols, with trust via_import or better."""
        query = "SELECT uses FROM linked JOIN file ON linked.file = file.id WHERE path = ?"
        row = self._row(query, schema.stored_path(path))
        return self._decoded(_trusted_targets, row[0]) if row else set()

    def used_from_files(self) -> Iterator[tuple[int, set[int]]]:
        """Yield the id of each file that was linked, with the ids of what it uses, as `used_from` returns them."""
        for file, uses in self._rows("SELECT file, uses FROM linked"):
            yield file, self._decoded(_trusted_targets, uses)

    def term_files(self, least: int) -> Iterator[tuple[Any, ...]]:
        """Yield the terms that at least `least` files contain, with the number of these files."""
        return self._rows("SELECT text, files FROM term WHERE files >= ?", (least,))

    def all_terms(self) -> dict[int, bytes]:
        """Return the terms of every file that has any and is written by people, as `codec.pack_terms` encodes them, by
        the file's id."""
        rows = self._rows(
            "SELECT facts.file, packed FROM facts JOIN file ON file.id = facts.file WHERE category <> ?",
            (Category.GENERATED,),
        )
        return {file: terms for file, packed in rows if (terms := self._decoded(terms_in, packed))}

    def terms_of(self, path: str) -> tuple[Term, ...]:
        """Return the terms of a file, as `all_terms` does."""
        generated = self._row("SELECT category FROM file WHERE path = ?", schema.stored_path(path)) == (
            Category.GENERATED,
        )
        packed = self._packed("facts", path) if not generated else None
        return self._decoded(unpack_terms, packed) if packed is not None else ()

    def read_count(self) -> int:
        """Return the number of files that have facts."""
        return self._count("facts")

    def macros(self) -> list[tuple[str, FileMacros]]:
        """Return the macros of each file that has any."""
        query = "SELECT path, packed FROM macro JOIN file ON macro.file = file.id ORDER BY path"
        decode = msgspec.msgpack.Decoder(FileMacros).decode
        return [(schema.path_from(path), self._decoded(decode, packed)) for path, packed in self._rows(query)]

    def change(self, path: str) -> FileHistory | None:
        """Return a file's history; None if it has none."""
        row = self._row("SELECT packed FROM change WHERE path = ?", schema.stored_path(path))
        decode = msgspec.msgpack.Decoder(schema.StoredChange).decode
        return schema.change_from(path, self._decoded(decode, row[0])) if row else None

    def changes(self, folder: str = "") -> Iterator[FileHistory]:
        """Yield the history of every path below a folder, including removed files."""
        where, bounds = "", tuple[object, ...]()
        if folder:
            where = " WHERE path >= ? AND path < ? OR path >= ? AND path < ?"  # undecodable paths are stored as bytes
            start, end = f"{folder}/", f"{folder}0"  # "0" is the character after the slash
            bounds = (start, end, os.fsencode(start), os.fsencode(end))
        decode = msgspec.msgpack.Decoder(schema.StoredChange).decode
        for path, packed in self._rows(f"SELECT path, packed FROM change{where}", bounds):  # noqa: S608
            yield schema.change_from(schema.path_from(path), self._decoded(decode, packed))

    def _rows_of_each(self, query: str, values: Iterable[object]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query for many values, which `?...` stands for: one query takes only so many."""
        for batch in _query_batches(values):
            yield from self._all(query.replace("?...", ", ".join("?" * len(batch))), batch)

    # --- totals, computed from every file's packed values: a tenth of a second for ten thousand files

    def all_findings(self) -> Iterator[tuple[str, list[Finding]]]:
        """Yield the path and findings of every file that has any."""
        query = (
            "SELECT path, category, facts.packed, remark.packed FROM file LEFT JOIN facts ON facts.file = file.id "
            "LEFT JOIN remark ON remark.file = file.id"
        )
        for path, category, facts, remarks in self._rows(query):
            findings = self._decoded(unpack_findings, facts) if facts else ()
            findings += self._decoded(unpack_remarks, remarks) if remarks else ()
            if shown := reportable_findings(dict.fromkeys(findings), category):
                yield schema.path_from(path), shown

    def links_by_trust(self) -> dict[Trust, int]:
        """Return the number of links by trust, most trusted first."""
        counts = dict.fromkeys(sorted(Trust, reverse=True), 0)
        for (packed,) in self._rows("SELECT packed FROM link"):
            trusts = self._decoded(unpack_links, packed).trust
            for trust in counts:
                counts[trust] += trusts.count(trust)
        return counts


def reportable_findings(findings: Iterable[Finding], category: str) -> list[Finding]:
    """Return the findings, for tests and benchmarks only those that are worth reporting there."""
    trial = category in (Category.TEST, Category.BENCHMARK)
    return [finding for finding in findings if finding.everywhere or not trial]


def _trusted_targets(uses: bytes) -> set[int]:
    """Return the targets of encoded uses with trust via_import or better."""
    columns = msgspec.msgpack.decode(uses, type=Columns)
    if not columns:
        return set()
    rows = zip(unpack_column(columns[0]), unpack_column(columns[3]), strict=True)
    return {target for target, trust in rows if trust >= Trust.VIA_IMPORT}


def _query_batches(values: Iterable[Value]) -> Iterator[tuple[Value, ...]]:
    """Split values into parts that one query can take."""
    left = iter(values)
    while part := tuple(islice(left, 500)):
        yield part
