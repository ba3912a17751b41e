"""The whole content of a store, in a form that does not depend on how it was built.

In: a repository's folder. Out: plain values. Ids depend on the order in which files were read, so symbols are named by
path and key instead; what has no order of its own is sorted. Two stores of the same files must be equal in this form,
whether they were built at once or by many updates.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from concordance.base.model import unpack_column
from concordance.facts import schema
from concordance.facts.codec import PUBLIC, PublicNames, TestedFiles, unpack_clusters, unpack_cycles, unpack_layers
from concordance.facts.fulltext.index import open_shards
from concordance.facts.links.bridge_rows import unpack_bridges
from concordance.facts.links.graph import LinkGraph, unpack_pairs
from concordance.facts.read import Facts
from concordance.facts.updates.delta import without_times
from concordance.passes.public_names import unpack_exports
from concordance.workflow.stages.public_names import EXPORTS


def dump(folder: Path) -> dict[str, Any]:
    """Return the content of a store, without the times of files."""
    home = folder / ".concordance"
    with Facts(str(home)) as facts:
        files = list(facts.files())
        said = {file.path: facts.of(file.path) for file in files}
        terms = {term.text for one in said.values() for term in one.terms}
        found = {
            "ledger": [without_times(file) for file in files],
            "facts": said,
            "findings": {file.path: facts.findings(file.path) for file in files},
            "flows": {file.path: facts.flow(file.path) for file in files},
            "history": {file.path: facts.change(file.path) for file in files},
            "symbols": [p._replace(id=0) for p in facts.symbols(("", "", -1), 1_000_000)],
            "terms": facts.files_with(sorted(terms)),
            "macros": facts.macros(),
        }
        connection = sqlite3.connect(f"file:{home / 'index.db'}?mode=ro", uri=True)
        try:
            found["all terms"] = dict(connection.execute("SELECT text, files FROM term"))
            names = _names(connection)
            found.update(_linked(facts, connection, names, [file.path for file in files]))
            found.update(_passed(facts, names))
        finally:
            connection.close()
    found["text"] = _texts(str(home))
    return found


def _names(connection: sqlite3.Connection) -> dict[int, str]:
    """Return what each id stands for; a file's id stands for the file."""
    rows = connection.execute("SELECT id, path FROM file").fetchall()
    found = {identity: str(schema.path_from(path)) for identity, path in rows}
    query = "SELECT symbol.id, path, symbol.key FROM symbol JOIN file ON symbol.file = file.id"
    for identity, path, key in connection.execute(query).fetchall():
        found[identity] = f"{schema.path_from(path)}#{key}"
    return found


def _linked(facts: Facts, connection: sqlite3.Connection, names: dict[int, str], paths: list[str]) -> dict[str, Any]:
    """Return the targets of names by symbol; an unused id is shown as it is."""

    def named(identity: int) -> str:
        return names.get(identity, f"nothing: {identity}")

    links = {}
    for path in paths:
        one = facts.links(path)
        columns = (unpack_column(one.use), unpack_column(one.target), one.trust, one.by)
        rows = [(use, named(to), trust, one.resolvers[by]) for use, to, trust, by in zip(*columns, strict=True)]
        links[path] = rows, one.imports
    asked = connection.execute
    return {
        "links": links,
        "used": sorted(
            (named(a), named(b), *row) for a, b, *row in asked("SELECT target, user, roles, trust, times FROM used")
        ),
        "missed": sorted(asked("SELECT name, calls, uses FROM missed").fetchall()),
        "overrides": sorted(
            (named(a), named(b), trust) for a, b, trust in asked("SELECT symbol, target, trust FROM override")
        ),
        "extends": _grouped(
            (named(a), named(b)) for a, b in asked("SELECT symbol, target FROM extends ORDER BY rowid")
        ),
    }


def _grouped(pairs: Any) -> dict[str, list[str]]:
    """Return the values of each key, in their order."""
    found: dict[str, list[str]] = {}
    for one, other in pairs:
        found.setdefault(one, []).append(other)
    return found


def _passed(facts: Facts, names: dict[int, str]) -> dict[str, Any]:
    """Return the results of the analyses."""

    def named(identity: int) -> str:
        return names.get(identity, f"nothing: {identity}")

    graph = LinkGraph(facts.analysis_result("graph"))
    users = {names[one]: sorted((named(user), way) for user, way in graph.users(one)) for one in names}
    tested = TestedFiles(facts.analysis_result("tests"))
    files = {row[0]: row[1] for row in facts.file_rows()}
    return {
        "graph": {name: rows for name, rows in users.items() if rows},
        "stray edges": len(graph) - sum(map(len, users.values())),
        "pairs": sorted((named(a), named(b), times) for a, b, times in unpack_pairs(facts.analysis_result("pairs"))),
        "loads": sorted((named(a), named(b), times) for a, b, times in unpack_pairs(facts.analysis_result("loads"))),
        "cycles": [[named(one) for one in ring] for ring in unpack_cycles(facts.analysis_result("cycles"))],
        "layers": {named(one): standing for one, standing in unpack_layers(facts.analysis_result("layers")).items()},
        "clusters": [
            (named(key), [named(one) for one in ring]) for key, ring in unpack_clusters(facts.analysis_result("clusters"))
        ],
        "tests": {
            path: ([(named(one), steps) for one, steps in tested.of(file).near], tested.of(file).farther)
            for file, path in files.items()
        },
        "ranks": facts.ranks(),
        "bridges": [
            (*row._replace(source=0, target=0), named(row.source), named(row.target) if row.target else "")
            for row in unpack_bridges(facts.analysis_result("bridges"))
        ],
        "offered": unpack_exports(facts.analysis_result(EXPORTS)),
        "public": PublicNames(facts.analysis_result(PUBLIC)).rows,
    }


def _texts(home: str) -> list[tuple[int, int]]:
    """Return how many documents the parts of the full-text index have."""
    return [(one._files.num_docs, one._pieces.num_docs) for one in open_shards(home)]
