"""The tables of the C family that a process keeps equal newly built ones after every edit."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from concordance.link.cfamily import linker, resident_tables
from concordance.link.cfamily.include_graph import IncludeGraph
from concordance.link.cfamily.scopes import MACRO, CScope, ScopeMember
from concordance.link.cfamily.symbol_table import SymbolTable
from concordance.link.world import LinkWorld
from tests.support.madeup import Repository
from tests.support.relinked import Book

FILES = {
    "include/a.h": "#pragma once\nnamespace n {\nclass A { public: virtual void go(); A* next(); enum E { X, Y }; };\n}\n"
    "#define LOUD 1\nenum Colour { RED, GREEN };\n",
    "include/b.h": '#include "a.h"\nnamespace n {\nclass B : public A { public: void go(); int size; };\nB* make();\n'
    "namespace { int hidden; }\ninline namespace v1 { void versioned(); }\n}\nnamespace short_n = n;\n",
    "src/a.cpp": '#include "a.h"\nnamespace n {\nvoid A::go() {}\nA* A::next() { return this; }\n}\nvoid n::Lost::go() {}\n',
    "src/b.cpp": '#include "b.h"\nusing n::make;\nnamespace n {\nvoid B::go() { struct Own { int go; }; }\n'
    "B* make() { return nullptr; }\nstruct B::Inner { int size; };\n}\n",
    "src/user.cpp": '#include "b.h"\nusing namespace n;\nvoid use() { auto b = make(); b->go(); b->next()->go(); }\n',
    "src/c.c": "#define LOUD 2\nint make(void) { return 1; }\nint main(void) { return make(); }\n",
    "src/d.c": "struct go { int size; };\nint size(void);\nint main(void) { return size(); }\n",
}
LINES = (
    "int make(int a);", "int make(int a) { return a; }", "static int go() { return 1; }", "struct go { int next; };",
    "namespace n { int size; void go(int); }", "void n::A::go() {}", "enum { RED, X };", "enum class Y { RED };",
    "#define LOUD 3", "#define go 4", "using n::A;", "using namespace n;", "void n::Lost::next() {}",
    "namespace n::n { int n; }", "int size = 2;", "void local() { struct A { void go(); }; int make; }",
    "namespace make = n;", "class Lost;", '#include "b.h"', "struct n::Lost { int size; };", "// words",
)  # fmt: skip


def laid_out(table: SymbolTable) -> dict[str, Any]:
    """Return all of a table as plain values, with scopes by their paths from the root."""
    label: dict[int, str] = {}
    found: dict[str, Any] = {}

    def entries(some: dict[str, ScopeMember]) -> dict[str, Any]:
        for entry in some.values():
            assert entry.groups is None
            assert not entry.ids
            assert entry.files is None
        return {name: (entry.kind, list(entry.codes)) for name, entry in some.items()}

    def walk(home: CScope, way: str) -> None:
        if id(home) in label:
            return
        label[id(home)] = way
        assert home.bases is None
        assert not home.lookup_chains
        assert not home.inherited
        for name, inner in home.inner_scopes.items():
            walk(inner, f"{way}::{name}")
        found[way] = (
            home.name, home.is_class, home.codes, list(home.directives.items()), home.using_declarations, entries(home.members),
            entries(home.aliases), {name: label[id(inner)] for name, inner in home.inner_scopes.items()},
        )  # fmt: skip

    walk(table.root, "")
    for code, home in sorted(table.local_scopes.items()):
        walk(home, str(code))
    names = {name for home in list(found.values()) for name in home[5]}
    files = map(table.world.load, table.symbol_scopes)
    macros = {one.names[name] for one in files for kind, name in zip(one.symbol_kind, one.symbol_name, strict=True) if kind == MACRO}
    found["macros"] = entries({name: entry for name in sorted(macros | {"LOUD", "go"}) if (entry := table.macros.get(name))})
    found["carriers"] = {name: [(label[id(e.scope)], list(e.codes)) for e in table.members_named(name)] for name in names}
    found["inside"] = {code: label[id(home)] for code, home in table.out_of_class_scopes.items()}
    found["around"] = {code: label[id(home.parent)] for code, home in table.local_scopes.items()}
    found["homes"] = {n: [home and label[id(home)] for home in homes] for n, homes in table.symbol_scopes.items()}
    found["entered"] = {
        n: [(label[id(entry.scope)], entry.name, list(entry.codes)) for entry in some if entry.kind != MACRO] for n, some in table.members_of_file.items()
    }
    found["words"] = {
        name for some in table.members_of_file.values() for entry in some for name in [entry.name] if entry.kind != MACRO and table.has_name(name)
    }
    found["headers"] = table.headers
    return found


def checked(real: Callable[..., resident_tables.CFamilyState | None], told: list[bool]) -> Callable[..., resident_tables.CFamilyState | None]:
    """Wrap `renewed` so that its tables are compared with new ones."""

    def renewed(world: LinkWorld, kept: resident_tables.CFamilyState, before: Any) -> resident_tables.CFamilyState | None:
        found = real(world, kept, before)
        told.append(found is not None)
        if found is not None:
            numbers = [n for n, row in enumerate(world.files) if row.language in linker.C_FAMILY and row.size]
            known, world.included = world.included, {}
            reach = IncludeGraph.of(world, numbers)
            world.included = known
            assert (found.includes.included, found.includes.headers) == (reach.included, reach.headers)
            assert [found.includes.visible_files(n) for n in numbers] == [reach.visible_files(n) for n in numbers]
            new, old = laid_out(SymbolTable(world, numbers, reach.headers)), laid_out(found.table)
            for part in new.keys() | old.keys():
                assert old.get(part) == new.get(part), part
        return found

    return renewed


@pytest.mark.parametrize("seed", range(12))
def test_kept_tables_are_new_ones(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are added and removed at random, in one or two files at a time."""
    chosen, told, texts = random.Random(seed), list[bool](), dict(FILES)
    monkeypatch.setattr(linker, "update_tables", checked(resident_tables.update_tables, told))
    book = Book(tmp_path, texts)
    for _ in range(60):
        for path in chosen.sample(sorted(texts), chosen.choice((1, 1, 2))):
            lines = texts[path].splitlines(keepends=True)
            if chosen.random() < 0.6 or not lines:
                lines.insert(chosen.randrange(len(lines) + 1), chosen.choice(LINES) + "\n")
            else:
                lines.pop(chosen.randrange(len(lines)))
            texts[path] = "".join(lines)
        book.edit(texts)
    assert book.differences() == []
    assert sum(told) > 10


@pytest.mark.parametrize("seed", range(8))
def test_kept_tables_of_made_up_files(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, names and files are added and removed at random."""
    told: list[bool] = []
    monkeypatch.setattr(linker, "update_tables", checked(resident_tables.update_tables, told))
    made = Repository(seed, ("c",))
    book = Book(tmp_path, made.text())
    for _ in range(30):
        made.edit()
        book.edit(made.text())
        assert book.differences() == []
