"""Edges of the run graph of one file, including code that runs although no name in the text refers to it.

In: a linked file. Out: the edges from which tests and impact are computed: every use that is better than a candidate,
and what runs implicitly with it: a function inside another, a class's constructor, and what the language's own rules
add (`LanguageLinker.runs`). Also, the files that a file needs when it is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from concordance.base.model import TYPE_KINDS, Import, Kind, Op, Trust, unpack_column
from concordance.facts.links.graph import BY_ROLES, EdgeKind, edge, pack_edges
from concordance.link.language_linker import Edge, LanguageLinker
from concordance.link.languages import loading_languages
from concordance.link.world import LinkWorld, LoadedFlow, NameTarget

DEFERRING_SCOPES = frozenset(("function", "lambda"))
UNLOADED_CONDITION = re.compile(r"if (?:\w+\.)?TYPE_CHECKING(?: and .*)?$|.*__name__")
FUNCTIONS = frozenset((Kind.FUNCTION, Kind.METHOD, Kind.PROPERTY))
_CANDIDATE, _CALL, _MEMBER = int(Trust.CANDIDATE), int(Op.CALL), int(Op.MEMBER)
_GTEST_MACROS = ("TEST_F(", "TEST_P(", "TYPED_TEST(", "TYPED_TEST_P(")


def pack_run_edges(
    file: LoadedFlow, targets: list[NameTarget], uses: Sequence[tuple[int, int, int, int]], linker: LanguageLinker
) -> bytes:
    """Return a file's edges, packed; `uses` are rows of target, user, roles and trust."""
    receivers = _only_before_dot(file, targets) if linker.PASSES_RECEIVERS else set()
    loading = _run_at_load(file)
    rows: set[int] = set()
    called: set[tuple[int, int]] = set()
    needed = linker.needed(file, {target for target, _, _, trust in uses if trust > _CANDIDATE})
    for target, user, roles, trust in uses:
        if trust > _CANDIDATE and target in needed:
            way = BY_ROLES[roles]
            if way <= EdgeKind.READS:
                way = EdgeKind.LOADS if user in loading else EdgeKind.PASSES if (target, user) in receivers else way
                if way is EdgeKind.CALLS:
                    called.add((target, user))
            rows.add(edge(target, user, way))
    rows.update(edge(*row) for row in _language_neutral_edges(file))
    rows.update(edge(*run) for run in linker.runs(file, called))
    return pack_edges(rows)


def _run_at_load(file: LoadedFlow) -> set[int]:
    """Return the ids of what runs when the file is loaded: the file itself, and its classes outside functions."""
    identities = {file.file_id}
    for symbol, around in enumerate(file.symbol_parent):
        if file.id(around - 1) in identities and file.kind(symbol) not in FUNCTIONS:
            identities.add(file.id(symbol))
    return identities


def _only_before_dot(file: LoadedFlow, resolved: list[NameTarget]) -> set[tuple[int, int]]:
    """Return the pairs of target and user where the target is only named before a dot."""
    flow = file.flow
    rows = list(zip(*map(unpack_column, (flow.user, flow.used, flow.times)), strict=True))
    before: dict[tuple[int, int], int] = {}
    for user, used, times in rows:
        member = file.left[used] if file.op[used] == _CALL else used
        if file.op[member] == _MEMBER:
            key = user, file.left[member]
            before[key] = before.get(key, 0) + times
    targets: dict[int, list[int]] = {}
    for row in resolved:
        targets.setdefault(row.use, []).append(row.target)
    only: dict[tuple[int, int], bool] = {}
    for user, used, times in rows:
        for target in targets.get(used, ()):
            key = target, file.id(user - 1)
            only[key] = only.get(key, True) and before.get((user, used), 0) >= times
    return {key for key, is_receiver in only.items() if is_receiver}


def _language_neutral_edges(file: LoadedFlow) -> Iterator[Edge]:
    """Yield the edges that are the same in every language."""
    for symbol, around in enumerate(file.symbol_parent):
        if file.kind(symbol) not in FUNCTIONS:
            continue
        name = file.names[file.symbol_name[symbol]]
        if around:
            kind = file.kind(around - 1)
            if kind in FUNCTIONS:
                yield file.id(symbol), file.id(around - 1), EdgeKind.HOLDS
            elif kind in TYPE_KINDS and name in ("constructor", file.names[file.symbol_name[around - 1]]):
                yield file.id(symbol), file.id(around - 1), EdgeKind.MAKES
        if name.startswith(_GTEST_MACROS):
            yield from _gtest_fixture(file, symbol, name)


def _gtest_fixture(file: LoadedFlow, symbol: int, name: str) -> Iterator[Edge]:
    """Yield the fixture class of a googletest test, with its set-up and tear-down methods."""
    called = name.partition("(")[2].partition(",")[0].strip()
    for place, word in enumerate(file.symbol_name):
        if file.names[word] == called and file.kind(place) in TYPE_KINDS:
            yield file.id(place), file.id(symbol), EdgeKind.ASKS
            for hook in ("SetUp", "TearDown"):
                for member in file.members.get(place, {}).get(file.name_index.get(hook, -1), ()):
                    yield file.id(member), file.id(symbol), EdgeKind.SETS_UP


# --- Files that a file needs when it is loaded


def loaded_files(world: LinkWorld, file: LoadedFlow, targets: list[NameTarget]) -> list[int]:
    """Return the ids of the files that a file needs when it is loaded, in the order of its imports.

    Those are its imports and includes, except the ones that do not run at load time: an import inside a function runs
    only when the function is called; one under `TYPE_CHECKING`, of types alone, or in a stub never runs; one under
    `__name__ == "__main__"` runs only when the file is not imported. `from a import b` needs `b` if that is a file,
    else `a`. Languages whose files see one another without being named (the files of a Go or Java package) have no such
    files.
    """
    if file.language not in loading_languages() or not file.flow.imports or file.path.endswith(".pyi"):
        return []
    named: dict[int, int] = {}
    for row in targets:
        if file.op[row.use] == Op.IMPORT:
            named.setdefault(file.left[row.use], row.target)
    ids: dict[int, None] = {}
    for place, (imported, target) in enumerate(zip(file.flow.imports, world.targets(file), strict=True)):
        if not target.paths or _is_deferred(file, imported):
            continue
        number = world.number.get(target.paths[0])
        if place in named and imported.name:
            owner, symbol = world.owner(named[place])
            number = owner.number if symbol < 0 else number
        if number is not None and number != file.number:
            ids[world.files[number].id] = None
    return list(ids)


def _is_deferred(file: LoadedFlow, imported: Import) -> bool:
    if imported.form == "type" or UNLOADED_CONDITION.match(imported.condition):
        return True
    scope = imported.scope
    while scope > 0:
        if file.flow.scope_kind[scope] in DEFERRING_SCOPES:
            return True
        scope = file.scope_parent[scope] - 1
    return False
