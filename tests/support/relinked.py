"""Generated repositories whose links are updated edit by edit, and computed anew for comparison, in this process."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from concordance.base.config import Config
from concordance.base.model import ListedFile, unpack_column
from concordance.extract.cfamily import macros
from concordance.facts import schema
from concordance.facts.codec import PUBLIC, TestedFiles, unpack_clusters, unpack_cycles, unpack_layers, unpack_links
from concordance.facts.links.bridge_rows import unpack_bridges
from concordance.facts.links.graph import LinkGraph, unpack_pairs
from concordance.facts.links.rows import LinkedFile
from concordance.facts.read import Facts
from concordance.facts.records import ExtractedFile
from concordance.facts.updates.delta import Delta
from concordance.facts.write import StoreWriter
from concordance.link.linker import Linker
from concordance.workflow.resident import StoreState
from concordance.workflow.stages import bridges as stages_bridges
from concordance.workflow.stages import extract, public_names
from concordance.workflow.stages import passes as stages_passes
from concordance.workflow.stages.link import Linking


class _Here(Linking):
    """Links in this process, whatever the number of files, and records which."""

    linked: set[str] | None = None

    def _link_some(self, linker: Linker, numbers: list[int]) -> Iterator[LinkedFile]:
        self.linked = {linker.world.files[number].path for number in numbers}
        return super()._link_some(linker, numbers)

    def _in_workers(self, linker: Linker, numbers: list[int]) -> Iterator[LinkedFile]:
        linker.world.use_flow_source(self.writer.queries.copy_flows().flow)
        linker.prepare({linker.world.files[number].language for number in numbers})
        for number in [n for n, row in enumerate(linker.world.files) if row.size]:
            linker.import_targets_digest(number)
        yield from map(linker.link, numbers)


class Book:
    """A repository, a store that is updated, and one that is built anew."""

    def __init__(self, home: Path, files: Mapping[str, str], keeps: bool = True) -> None:
        """`keeps`: state is kept from one edit to the next, as in a long-running process."""
        self.home, self.root, self.keeps = home, home / "repo", keeps
        self.state = StoreState()
        self.files: dict[str, str] = {}
        self.known: dict[tuple[str, str], ExtractedFile] = {}
        self.linked: set[str] = set()  # by the last edit
        self.delta = Delta()  # of the last edit
        (home / "scratch").mkdir(parents=True)
        (home / "kept").mkdir()
        extract.save_macros(str(home / "scratch"), macros.merge([]))
        self.job = extract.Job(str(self.root), Config(), str(home / "cache"), "", "cpp", str(home / "scratch"))
        self._write(files)
        self._bring_up(home / "kept", {**files}, set(), fresh=True)

    def edit(self, files: Mapping[str, str]) -> None:
        """Give the repository other files, and update the store."""
        changed = {path: text for path, text in files.items() if self.files.get(path) != text}
        gone = self.files.keys() - files.keys()
        self._write(files)
        self._bring_up(self.home / "kept", changed, gone, fresh=False)

    def differences(self) -> list[str]:
        """Return what differs between the updated store and one that is built anew."""
        anew = self.home / "anew"
        shutil.rmtree(anew, ignore_errors=True)
        anew.mkdir()
        self._bring_up(anew, self.files, set(), fresh=True)
        kept, made = said(self.home / "kept"), said(anew)
        found = []
        for what, rows in made.items():
            if rows != kept[what]:
                missing = [row for row in rows if row not in kept[what]]
                more = [row for row in kept[what] if row not in rows]
                found += [f"{what}: missing {missing[:3]}, too much {more[:3]}"]
        return found

    def _write(self, files: Mapping[str, str]) -> None:
        for path in self.files.keys() - files.keys():
            (self.root / path).unlink()
        for path, text in files.items():
            if self.files.get(path) != text:
                (self.root / path).parent.mkdir(parents=True, exist_ok=True)
                (self.root / path).write_text(text)
        self.files = dict(files)

    def _read(self, path: str, text: str) -> ExtractedFile:
        if (path, text) not in self.known:
            entry = ListedFile(path, len(text.encode()), 1)
            self.known[path, text] = extract.extract_bytes(self.job, entry, text.encode())[0]
        return self.known[path, text]

    def _bring_up(self, folder: Path, changed: Mapping[str, str], gone: set[str], fresh: bool) -> None:
        state = self.state if not fresh and self.keeps else StoreState()
        writer = StoreWriter(str(folder), fresh, state.rows)
        try:
            writer.put(self._read(path, text) for path, text in changed.items())
            for path in gone:
                writer.remove(path)
            work = _Here(str(self.root), writer, 1, 60.0, lambda done, total: None, _raise, Config().roots, state)
            tree = work.link_all() if fresh else work.link_changed()
            writer.index()
            if work.linked_all:
                calls = stages_bridges.run(writer, tree, _raise)
                stages_passes.run(writer, calls)
                public_names.run(writer)
            else:
                stages_bridges.update(writer, tree, _raise)
                stages_passes.update(writer)
                public_names.update(writer)
            if not fresh:
                self.linked, self.delta = work.linked or set(), writer.delta
                self.state, state.tree = state, tree if tree.is_loaded else None
            writer.commit({"started": "0"})
        except BaseException:
            writer.abandon()
            raise


def ids(folder: Path) -> dict[str, int]:
    """Return the ids of files and symbols, by path and key."""
    with closing(sqlite3.connect(folder / "index.db")) as run:
        found = {str(schema.path_from(path)): one for one, path in run.execute("SELECT id, path FROM file")}
        query = "SELECT symbol.id, path, symbol.key FROM symbol JOIN file ON symbol.file = file.id"
        return found | {f"{schema.path_from(path)}#{key}": one for one, path, key in run.execute(query)}


def _raise(path: str, reason: str) -> None:
    raise AssertionError(f"{path}: {reason}")


def said(folder: Path) -> dict[str, list[Any]]:
    """Return everything that a store says about links, by paths and keys."""
    with closing(sqlite3.connect(folder / "index.db")) as run, Facts(str(folder)) as facts:
        names = {one: str(schema.path_from(path)) for one, path in run.execute("SELECT id, path FROM file")}
        query = "SELECT symbol.id, path, symbol.key FROM symbol JOIN file ON symbol.file = file.id"
        names |= {one: f"{schema.path_from(path)}#{key}" for one, path, key in run.execute(query)}
        ask = run.execute
        links = []
        for path, packed, named, resolved in ask(
            "SELECT path, link.packed, named, resolved FROM link JOIN linked USING (file) JOIN file ON id = link.file"
        ):
            one = unpack_links(packed)
            rows = zip(unpack_column(one.use), unpack_column(one.target), one.trust, one.by, strict=True)
            links += [(path, use, names[to], trust, one.resolvers[by]) for use, to, trust, by in rows]
            links += [(path, "imports", one.imports, named, resolved)]
        graph = LinkGraph(facts.analysis_result("graph"))
        tests = TestedFiles(facts.analysis_result("tests"))
        passes: list[Any] = [("pair", names[a], names[b], n) for a, b, n in unpack_pairs(facts.analysis_result("pairs"))]
        passes += [("load", names[a], names[b]) for a, b, _ in unpack_pairs(facts.analysis_result("loads"))]
        passes += [("cycle", [names[one] for one in ring]) for ring in unpack_cycles(facts.analysis_result("cycles"))]
        passes += [("layer", names[one], s) for one, s in unpack_layers(facts.analysis_result("layers")).items()]
        passes += [("group", names[k], sorted(names[o] for o in m)) for k, m in unpack_clusters(facts.analysis_result("clusters"))]
        passes += [("rank", *row) for row in facts.ranks().items()]
        passes += [("offered", facts.analysis_result(public_names.EXPORTS)), ("public", facts.analysis_result(PUBLIC))]
        near = {path: tests.of(base) for base, path in names.items() if "#" not in path}
        passes += [("tests", p, [(names[t], n) for t, n in one.near], one.farther) for p, one in near.items()]
        return {
            "links": sorted(links, key=repr),
            "used": sorted((names[t], names[u], *row) for t, u, *row in ask("SELECT * FROM used")),
            "missed": sorted(ask("SELECT * FROM missed")),
            "override": sorted((names[a], names[b], trust) for a, b, trust in ask("SELECT * FROM override")),
            "extends": sorted((names[a], names[b]) for a, b in ask("SELECT * FROM extends")),
            "graph": sorted((names[t], names.get(u, "?"), way) for t in names for u, way in graph.users(t)),
            "mention": sorted(ask("SELECT path, names FROM mention JOIN file ON id = file")),
            "passes": sorted(passes, key=repr),
            "bridges": [
                (*row._replace(source=0, target=0, end=0), names[row.source], names.get(row.target))
                for row in unpack_bridges(facts.analysis_result("bridges"))
            ],
        }
