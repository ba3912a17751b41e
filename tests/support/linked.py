"""A repository in memory, read and linked: what each name in it refers to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from concordance.base.model import Category, File, FileFacts, Trust, unpack_column
from concordance.extract import engine, registry
from concordance.extract.cfamily import macros
from concordance.facts.codec import pack, unpack_links
from concordance.facts.links.rows import LinkedFile
from concordance.facts.records import Linkable
from concordance.facts.symbol_ids import SymbolIds
from concordance.link.linker import Linker
from concordance.link.paths.tree import Tree


class Repository:
    """Files by path, each with its language and text."""

    def __init__(self, root: Path, files: dict[str, tuple[str, str]], backwards: bool = False) -> None:
        for path, (_, text) in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        told = {language.name for language in registry.languages() if language.has_macros}
        learned = [macros.read_defines(text.encode(), path) for path, (language, text) in files.items() if language in told]
        table = macros.merge(learned)
        self.facts: dict[str, FileFacts] = {
            path: engine.extract(text, language, table if language in told else None)
            for path, (language, text) in sorted(files.items())
        }
        rows, ledger, number = [], [], 1
        flows: dict[int, bytes] = {}
        for path, facts in self.facts.items():
            language, text = files[path]
            flows[number] = pack(facts.flow) if facts.flow is not None else b""
            ids = SymbolIds.unpack(number, len(facts.symbols), None)
            rows.append(Linkable(number, ids, path, language, Category.SOURCE, len(flows[number])))
            ledger.append(File(path, language, Category.SOURCE, "", "utf-8", len(text), 1, "", "", "", 0))
            number += 1 + len(facts.symbols)
        self.rows, self._root, self._ledger, self._flows = rows, str(root), ledger, flows
        self.numbers = [number for number, row in enumerate(rows) if row.size]
        self.links = self.link([self.numbers[::-1] if backwards else self.numbers])

    def link(self, batches: Iterable[Iterable[int]]) -> dict[str, LinkedFile]:
        """Links files in some order, each batch by a linker that knows nothing yet, as in a process of its own."""
        found: dict[str, LinkedFile] = {}
        for batch in batches:
            linker = Linker(Tree(self._root, self._ledger), self.rows, self._flows.__getitem__)
            linker.prepare()
            found |= {self.rows[number].path: linker.link(number) for number in batch}
        return found

    def said(self, identity: int) -> str:
        """An id for people: path#key, or the path of a file."""
        row = max((row for row in self.rows if row.id <= identity), key=lambda row: row.id)
        place = row.ids.place_of(identity)
        return row.path if place < 0 else f"{row.path}#{self.facts[row.path].symbols[place].key}"

    def at(self, path: str, line: int, column: int) -> list[str]:
        """What the name at a place leads to, best first: `path#key TRUST`."""
        facts = self.facts[path]
        links = unpack_links(self.links[path].links)
        rows = list(zip(unpack_column(links.use), unpack_column(links.target), links.trust, links.by, strict=True))
        for one, use in zip(facts.occurrences.rows(), unpack_column(facts.occurrences.use), strict=True):
            if one.line == line and one.col <= column < one.col + len(one.name):
                return [f"{self.said(t)} {Trust(trust).name.lower()}" for u, t, trust, _ in rows if u == use - 1]
        return ["no name stands there"]

    def overrides(self) -> set[tuple[str, str]]:
        """Which methods stand in for which."""
        return {(self.said(a), self.said(b)) for one in self.links.values() for a, b, _ in one.overrides}
