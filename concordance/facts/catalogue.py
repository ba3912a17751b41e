"""The catalogue of a workspace: what each repository provides to others, and what it uses of others.

In: one `CatalogueEntry` for each repository, which depends on that repository alone. Out: look-ups over all of them.
Nothing in the catalogue says what a use refers to: that is decided when a question is asked, in the store of the
repository that provides it. So an entry never depends on another one, and when a repository changes, only its own rows
are replaced.

The file is written anew, in the order of its keys, and then renamed. So its bytes do not depend on the order in which
repositories were added or updated, readers keep the version that they have opened, and a build that is killed changes
nothing. It has checksums like a store; if it is damaged, it can be derived from the stores again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from typing import Any, NamedTuple, Self

from concordance.base.errors import StoreBroken, StoreFailed
from concordance.facts import schema
from concordance.facts.integrity import checksums
from concordance.facts.integrity.failures import FAILURES

FOLDER, FILE = "catalogue", "catalogue.db"
VERSION = "1"  # changes when the tables do, or what entries contain; a catalogue of another version is derived again
_ADVICE = "Derive it from the stores again with: concord workspace build"


class ProvidedPackage(NamedTuple):
    """A package that a repository contains the source of."""

    ecosystem: str  # "pypi", "npm", …: the name of the plug-in that read the manifest
    name: str  # in the ecosystem's normal form
    version: str  # "" if the manifest does not say
    path: str
    line: int


class Requirement(NamedTuple):
    """A package that a manifest requires."""

    ecosystem: str
    name: str
    wanted: str  # the versions, as written; "" for any
    path: str
    line: int


class ModuleHead(NamedTuple):
    """The beginning of module names by which others import from a repository: `flask`, `@babel/core`, `fmt`."""

    family: str  # the plug-in of `link.languages` that resolves such imports
    head: str


class ExportedName(NamedTuple):
    """A definition that others can name."""

    name: str  # the last part of the qualified name
    qualified: str
    kind: str
    path: str
    key: str
    line: int


class ExternalUse(NamedTuple):
    """What one file uses of a module that its repository does not contain."""

    family: str
    head: str
    last: str  # the last part of `name`, "" for the module itself
    module: str
    name: str  # from the module on, with dots; "" for the module itself
    path: str
    line: int  # of the import
    roles: int  # one bit for each index into ROLES
    times: int


class CatalogueEntry(NamedTuple):
    """Everything that the catalogue has of one repository."""

    packages: Collection[ProvidedPackage] = ()
    requirements: Collection[Requirement] = ()
    heads: Collection[ModuleHead] = ()
    names: Collection[ExportedName] = ()
    uses: Collection[ExternalUse] = ()


_TABLES: dict[str, Any] = {
    "package": ProvidedPackage, "requirement": Requirement, "head": ModuleHead, "name": ExportedName,
    "use": ExternalUse,
}  # fmt: skip
_COLUMNS = {table: [*row._fields, "repository"] for table, row in _TABLES.items()}
_VALUES = frozenset(("version", "line", "roles", "times", "kind"))  # columns that are not part of a row's key
_SCHEMA = ";".join(
    f"CREATE TABLE {table} ({', '.join(columns)}, "
    f"PRIMARY KEY ({', '.join(column for column in columns if column not in _VALUES)})) WITHOUT ROWID"
    for table, columns in _COLUMNS.items()
)


class Catalogue:
    """A catalogue that is open for reading, from one snapshot."""

    def __init__(self, workspace: str, alone: bool = False) -> None:
        """Open the catalogue of a workspace; raise StoreBroken if it is missing or damaged. `alone`: the caller holds
        the lock of its folder."""
        self.path = path_of(workspace)
        if not schema.is_ours(self.path):
            raise StoreBroken(
                f"the workspace {workspace} has no catalogue yet", "Build it with: concord workspace build"
            )
        try:
            checksums.require_intact(self.path, alone)
            self._connection = schema.connect(self.path, "immutable")
            if _version(self.path) != VERSION:
                raise StoreBroken(f"{self.path} was written by another version", _ADVICE)
        except FAILURES as error:
            raise StoreBroken(f"{self.path} is damaged", _ADVICE) from error
        except StoreBroken as error:
            raise StoreBroken(error.message, _ADVICE) from error

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(query, values).fetchall()
        except FAILURES as error:
            checksums.distrust(self.path)
            raise StoreBroken(f"{self.path} is damaged", _ADVICE) from error

    def _select(self, table: str, where: str, *values: object) -> list[tuple[Any, ...]]:
        order = ", ".join(_COLUMNS[table])
        return self._rows(f"SELECT {order} FROM {table} WHERE {where} ORDER BY {order}", *values)  # noqa: S608

    # --- packages

    def packages(self, repository: str) -> list[ProvidedPackage]:
        """Return the packages that a repository provides."""
        rows = self._select("package", "repository = ?", repository)
        return [ProvidedPackage(*row[:-1])._replace(path=_path(row[3])) for row in rows]

    def requirements(self, repository: str) -> list[Requirement]:
        """Return the packages that a repository needs."""
        rows = self._select("requirement", "repository = ?", repository)
        return [Requirement(*row[:-1])._replace(path=_path(row[3])) for row in rows]

    def dependencies(self) -> list[tuple[str, str, Requirement, ProvidedPackage]]:
        """Return who requires a package of whom: the two repositories, the requirement, and the package."""
        rows = self._rows(
            "SELECT r.repository, p.repository, r.ecosystem, r.name, r.wanted, r.path, r.line, p.version, "
            "p.path, p.line FROM requirement r JOIN package p ON p.ecosystem = r.ecosystem AND p.name = r.name "
            "WHERE p.repository != r.repository ORDER BY 1, 2, 3, 4, 5, 6, 7, 9, 10"
        )
        return [
            (str(user), str(provider), Requirement(ecosystem, name, wanted, _path(path), line),
             ProvidedPackage(ecosystem, name, version, _path(manifest), at))
            for user, provider, ecosystem, name, wanted, path, line, version, manifest, at in rows
        ]  # fmt: skip

    def shared_packages(self) -> list[tuple[str, str, list[str]]]:
        """Return the packages that several repositories provide: ecosystem, name, and the repositories."""
        rows = self._rows(
            "SELECT ecosystem, name, group_concat(repository, ' ') FROM (SELECT DISTINCT ecosystem, name, "
            "repository FROM package ORDER BY 1, 2, 3) GROUP BY ecosystem, name HAVING count(*) > 1 "
            "ORDER BY ecosystem, name"
        )
        return [(str(row[0]), str(row[1]), str(row[2]).split(" ")) for row in rows]

    # --- modules and names

    def providers(self, family: str, head: str) -> list[str]:
        """Return the repositories that provide modules whose names begin with a head."""
        query = "SELECT repository FROM head WHERE family = ? AND head = ? ORDER BY repository"
        return [str(row[0]) for row in self._rows(query, family, head)]

    def heads(self, repository: str) -> list[ModuleHead]:
        """Return the beginnings of the names of a repository's modules."""
        return [ModuleHead(str(row[0]), str(row[1])) for row in self._select("head", "repository = ?", repository)]

    def named(self, name: str) -> list[tuple[str, ExportedName]]:
        """Return the exported definitions whose name ends with this part, each with its repository."""
        return [_exported(row) for row in self._select("name", "name = ?", name)]

    def names_like(self, words: Collection[str], limit: int) -> list[tuple[str, ExportedName]]:
        """Return exported definitions whose qualified names contain all of some words; short names first."""
        where = " AND ".join("qualified LIKE ? ESCAPE '\\'" for _ in words) or "0"
        like = (f"%{word.translate(_ESCAPES)}%" for word in words)
        order = "length(name), name, length(qualified), qualified, repository, path, key"
        query = f"SELECT {', '.join(_COLUMNS['name'])} FROM name WHERE {where} ORDER BY {order} LIMIT ?"  # noqa: S608
        return [_exported(row) for row in self._rows(query, *like, limit)]

    # --- uses

    def uses(self, family: str, head: str, last: str) -> list[tuple[str, ExternalUse]]:
        """Return the uses of names with this last part, from modules with this head, each with the using repository."""
        return [_use(row) for row in self._select("use", "family = ? AND head = ? AND last = ?", family, head, last)]

    def uses_by(self, repository: str) -> list[ExternalUse]:
        """Return everything that a repository uses of others."""
        return [_use(row)[1] for row in self._select("use", "repository = ?", repository)]

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of rows of each repository, by table."""
        counts: dict[str, dict[str, int]] = {}
        for table in _TABLES:
            query = f"SELECT repository, count(*) FROM {table} GROUP BY repository"  # noqa: S608
            counts[table] = {str(row[0]): int(str(row[1])) for row in self._rows(query)}
        return counts

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the catalogue."""
        self._connection.close()


_ESCAPES = str.maketrans({"%": "\\%", "_": "\\_", "\\": "\\\\"})


def _path(value: str | bytes) -> str:
    return schema.path_from(value)


def _exported(row: tuple[Any, ...]) -> tuple[str, ExportedName]:
    return str(row[-1]), ExportedName(*row[:-1])._replace(path=_path(row[3]))


def _use(row: tuple[Any, ...]) -> tuple[str, ExternalUse]:
    return str(row[-1]), ExternalUse(*row[:-1])._replace(path=_path(row[5]))


def path_of(workspace: str) -> str:
    """Return the file of a workspace's catalogue."""
    return os.path.join(workspace, FOLDER, FILE)


def _version(path: str) -> str:
    with closing(schema.connect(path, "immutable")) as connection:
        return str(connection.execute("PRAGMA user_version").fetchone()[0])


def is_intact(workspace: str) -> bool:
    """True if a workspace has a catalogue that can be read; the caller holds the lock of its folder."""
    try:
        Catalogue(workspace, alone=True).close()
    except StoreBroken:
        return False
    return True


def update_catalogue(workspace: str, entries: Mapping[str, CatalogueEntry], unchanged: Collection[str]) -> None:
    """Write the catalogue: replace the rows of some repositories, and keep those of the `unchanged`, and no more."""
    path = path_of(workspace)
    aside, sorted_ = f"{path}.{os.getpid()}.new", f"{path}.{os.getpid()}.sorted"
    try:
        for stale in (aside, sorted_):
            with suppress(FileNotFoundError):
                os.remove(stale)
        if unchanged:
            shutil.copyfile(path, aside)
        with closing(schema.connect(aside)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN")
            for statement in () if unchanged else (*_SCHEMA.split(";"), f"PRAGMA user_version = {VERSION}"):
                connection.execute(statement)
            for table in _TABLES if unchanged else ():
                kept = ", ".join("?" * len(unchanged))
                connection.execute(f"DELETE FROM {table} WHERE repository NOT IN ({kept})", tuple(unchanged))  # noqa: S608
            for name, entry in sorted(entries.items()):
                for table, rows in zip(_TABLES, entry, strict=True):
                    placeholders = ", ".join("?" * len(_COLUMNS[table]))
                    query = f"INSERT OR IGNORE INTO {table} VALUES ({placeholders})"  # noqa: S608
                    connection.executemany(query, _stored(table, name, rows))
            connection.execute("COMMIT")
            connection.execute("PRAGMA schema_version = 1")  # it counts the copies that were made
            connection.execute("VACUUM INTO ?", (sorted_,))
        checksums.move_sealed(sorted_, path)
    except (*FAILURES, OSError) as error:
        raise StoreFailed(f"{path} cannot be written: {error}", "Free some space there, or allow writing") from error
    finally:
        for left in (aside, sorted_):
            with suppress(OSError):
                os.remove(left)


def _stored(table: str, repository: str, rows: Iterable[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
    """Yield rows as values of a table, sorted: of rows with the same key, the first one is stored."""
    at = _COLUMNS[table].index("path") if "path" in _COLUMNS[table] else -1
    for row in sorted(rows):
        if at >= 0:
            row = (*row[:at], schema.stored_path(str(row[at])), *row[at + 1 :])  # noqa: PLW2901
        yield (*row, repository)
