"""The link stage: resolves names in every file, or, after an update, only in files whose links may have changed.

In: a store that is being written. Out: its tables of links. Many files are linked in workers. These are forked from the
build once it has loaded the names of the whole repository, so nothing has to be copied to them; they read flows from a
file that the build has written. Workers of a cluster are sent all flows once, and load the names themselves. A few
files are linked in the build itself, which reads only what they refer to.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from concordance.base.config import Roots
from concordance.base.kinds import C_FAMILY
from concordance.base.model import File, Flow, Import, Target
from concordance.facts import codec
from concordance.facts.codec import unpack_flow, unpack_imports
from concordance.facts.links.reads import FlowFile
from concordance.facts.links.rows import LinkedFile
from concordance.facts.records import Linkable, PreviousFile
from concordance.facts.updates.delta import Aspect
from concordance.facts.write import StoreWriter
from concordance.link.cfamily.linker import CFamilyLinker
from concordance.link.cfamily.resident_tables import CFamilyState, table_files
from concordance.link.invalidation import ALWAYS_FOLLOWED_FILES, FAMILY_SHARE, Invalidation
from concordance.link.linker import Linker
from concordance.link.paths.tree import Tree
from concordance.workflow.resident import StoreState
from concordance.workflow.workers import forked, pool
from concordance.workflow.workers.executor import FailedItem
from concordance.workflow.workers.machine_files import FILES, repository_files
from concordance.workflow.workers.ray_executor import RayExecutor

BATCH_BYTES = 400_000  # of flows per batch: a tenth of a second of work
_MAX_BYTES_LINKED_HERE = 1_000_000  # of flows; up to this size, linking here is faster than forking workers
MAX_FILES_LINKED_HERE = 16  # up to this number, a cluster is not asked, as for extracting files
_MAX_BYTES_PRELOADED = 100_000_000  # of the C family's flows; PyTorch has a quarter of it, and takes half a second
_SETTINGS = "settings"  # key under which the settings files that affect imports are stored


def link(linker: Linker, numbers: list[int]) -> list[LinkedFile]:
    """Link the given files."""
    return [linker.link(number) for number in numbers]


@dataclass
class Linking:
    """Links the files of one repository."""

    root: str
    writer: StoreWriter
    jobs: int
    patience: float
    progress: Callable[[int, int], None]
    failed: Callable[[str, str], None]  # called for each file that could not be linked
    roots: Roots
    state: StoreState  # what the last update left; afterwards what this one leaves
    cluster: RayExecutor | None = None  # where all files are linked, if they are many; None for processes
    linked_all: bool = False  # all files were linked

    def link_all(self) -> Tree:
        """Link every file, and return the tree of files by which imports were resolved."""
        writer, state = self.writer, self.state
        self.linked_all, state.tables = True, None
        state.rows = writer.linkable()
        state.tree = Tree(self.root, writer.ledger(), self.roots)
        linker = Linker(state.tree, state.rows, writer.queries.flow)
        numbers = [number for number, row in enumerate(linker.world.files) if row.size]
        writer.put_links(self._in_workers(linker, numbers))
        writer.put_analysis(_SETTINGS, codec.pack_paths(linker.world.tree.files_read))
        state.tables = _tables_to_keep(linker)
        return state.tree

    def preload(self) -> None:
        """Build what the first update that changes a file of the C family would have to wait for; not if that takes
        long, as others wait for the store meanwhile, and memory that such an edit may never need."""
        state, queries = self.state, self.writer.queries
        state.rows = state.rows or self.writer.linkable()
        size = sum(row.size for row in state.rows if row.language in C_FAMILY)
        if state.tables is not None or not 0 < size <= _MAX_BYTES_PRELOADED:
            return
        state.tree = state.tree or Tree(self.root, self.writer.ledger(), self.roots)
        linker = Linker(state.tree, state.rows, queries.flow, queries.symbols_named, queries.flows_in)
        self._reuse_includes(linker, {}, {})
        _c_names(linker)
        state.tables = _tables_to_keep(linker)

    def link_changed(self) -> Tree:
        """Link the files that an update may affect, and return the tree."""
        writer, queries, state = self.writer, self.writer.queries, self.state
        delta = writer.delta
        before = {path: had for path, had in delta.previous.items() if not self._is_same_to_linker(had)}
        delta.flows_changed.update(before)
        settings = set(codec.unpack_paths(queries.analysis_result(_SETTINGS)))
        settings_changed = any((Aspect.TEXT.value, path) in delta.aspects for path in settings)
        if settings_changed:
            delta.add(Aspect.SETTINGS, [""])
        imports_may_move = delta.files_changed or settings_changed
        if imports_may_move:
            state.tree = state.tables = None
        if state.tree is None:
            state.tree = Tree(self.root, _ledger(writer), self.roots)
        else:
            state.tree.replace_files(map(writer.file, delta.previous))
        rows = None if delta.files_changed else state.rows
        if before or imports_may_move:
            state.rows = writer.linkable(rows)
            self._link_changed(before, state.tree, settings, imports_may_move)
        elif rows is not None:
            state.rows = writer.linkable(rows)
        return state.tree

    def _link_changed(
        self, before: dict[str, PreviousFile], tree: Tree, settings: set[str], imports_may_move: bool
    ) -> None:
        """Link after an update.

        `before`: files that changed for the linker; `imports_may_move`: imports may have new targets.
        """
        writer, queries = self.writer, self.writer.queries
        linker = Linker(tree, self.state.rows or [], queries.flow, queries.symbols_named, queries.flows_in)
        world = linker.world
        if len(before) + len(writer.delta.added) > max(ALWAYS_FOLLOWED_FILES, len(world.files) // FAMILY_SHARE):
            self.link_all()  # for example another branch: comparing so much would cost more
            return
        retargeted = self._retargeted_files(linker, before) if imports_may_move else {}
        if not imports_may_move:
            self._reuse_import_targets(linker, before)
        c_tables, self.state.tables = self.state.tables, None
        if c_tables is None or c_tables.files != table_files(world):
            self._reuse_includes(linker, before, retargeted)
        else:
            _reuse_c_tables(linker, before, c_tables)
        invalidation = Invalidation(world, queries, before, writer.delta.added, lambda: _c_names(linker))
        numbers = invalidation.find(retargeted)
        removed_ids = [had.id for had in before.values() if had.path not in world.number or not _size(linker, had.path)]
        lost = _lost_ids(linker, before)
        linked_to_lost = queries.files_linked_to_symbols(lost) - set(removed_ids) if lost else set()
        numbers |= {invalidation.number_of[file] for file in linked_to_lost}
        writer.relink(self._link_some(linker, sorted(numbers)), removed_ids)
        if not world.tree.files_read <= settings:
            writer.put_analysis(_SETTINGS, codec.pack_paths(settings | world.tree.files_read))
        of_c = any(had.language in C_FAMILY for had in before.values())
        self.state.tables = _tables_to_keep(linker) or (None if of_c else c_tables)

    def _is_same_to_linker(self, previous: PreviousFile) -> bool:
        """True if a file that was extracted again is the same to the linker."""
        asked = self.writer.queries
        if asked.language(previous.id) != previous.language or tuple(asked.keys(previous.id)) != previous.keys:
            return False
        flow = asked.flow(previous.id)
        return flow == previous.flow or (
            bool(flow and previous.flow) and _flow_without_positions(flow) == _flow_without_positions(previous.flow)
        )

    def _reuse_import_targets(self, linker: Linker, before: dict[str, PreviousFile]) -> None:
        """Reuse the targets of imports of files whose imports have not changed."""
        world, asked = linker.world, self.writer.queries
        for path, had in before.items():
            number = world.number[path]
            imports = world.imports(number)
            if imports and had.flow and _without_positions(imports) == _without_positions(unpack_imports(had.flow)):
                targets = asked.links(had.id).imports
                if len(targets) == len(imports) and "?" not in repr(targets):  # "?": undecodable bytes of a path
                    world.set_import_targets(number, targets)

    def _retargeted_files(self, linker: Linker, before: Iterable[str]) -> dict[int, tuple[Target, ...]]:
        """Return files whose imports resolve differently although their text is the same, with the old targets."""
        asked, skipped = self.writer.queries, {*before, *self.writer.delta.added}
        was = asked.imports()
        linker.world.use_flow_source(asked.copy_flows().flow)
        retargeted = {}
        for number, row in enumerate(linker.world.files):
            if row.size and row.path not in skipped and linker.import_targets_digest(number) != was.get(row.id):
                retargeted[number] = asked.links(row.id).imports
        return retargeted

    def _reuse_includes(
        self, linker: Linker, before: dict[str, PreviousFile], retargeted: Mapping[int, object]
    ) -> None:
        """Reuse the includes of files of the C family that have not changed."""
        world = linker.world
        number = {row.id: number for number, row in enumerate(world.files)}
        for file, ids in self.writer.queries.included().items():
            own, numbers = number.get(file), [number.get(one) for one in array("I", ids)]
            if own is None or world.files[own].path in before or own in retargeted or None in numbers:
                continue
            world.included[own] = [one for one in numbers if one is not None]

    def _link_some(self, linker: Linker, numbers: list[int]) -> Iterator[LinkedFile]:
        files = linker.world.files
        if sum(files[number].size for number in numbers) > _MAX_BYTES_LINKED_HERE:
            yield from self._in_workers(linker, numbers)
            return
        for done, result in enumerate(pool.map_here(linker.link, numbers, self.patience)):
            self.progress(done, len(numbers))
            if isinstance(result, FailedItem):
                self._report_failed(files[result.item], result.reason)
            else:
                yield result

    def _report_failed(self, row: Linkable, reason: str) -> None:
        """Leave a file without links: its old links belong to another text."""
        self.failed(row.path, reason)
        if not self.linked_all:
            self.writer.relink((), [row.id])

    def _in_workers(self, linker: Linker, numbers: list[int]) -> Iterator[LinkedFile]:
        """Link files in parallel. Everything from the disk or the store is read before workers are forked."""
        files = linker.world.files
        linker.world.tree.files  # noqa: B018  read here, because a worker must not read the store
        flows = self.writer.queries.copy_flows()
        linker.world.use_flow_source(flows.flow)
        linker.prepare({files[number].language for number in numbers})
        for number in numbers:
            linker.import_targets_digest(number)
        wanted = sorted(numbers, key=lambda number: -files[number].size)
        batches = pool.batches(wanted, lambda number: files[number].size, BATCH_BYTES)
        done = 0
        results: Iterable[list[LinkedFile] | FailedItem[int]]
        if self.cluster is not None and self.linked_all and len(wanted) > MAX_FILES_LINKED_HERE:
            self.cluster.patience = lambda batch: self.patience * (1 + len(batch))
            sent = [repository_files(self.root, linker.world.tree.files.values())]
            results = self.cluster.map_batches(_link_remotely, _RemoteLinker(linker, wanted, flows), batches, sent)
        else:
            results = forked.map_forked(linker, link, batches, self.jobs, self.patience)
        for result in results:
            if isinstance(result, FailedItem):
                self._report_failed(files[result.item], result.reason)
                continue
            done += len(result)
            self.progress(done, len(wanted))
            yield from result


class _RemoteLinker:
    """What workers on other machines link with: all flows and the targets of all imports, from which each worker builds
    the tables of its linker; and copies of the repository's files, because settings files are read when needed."""

    def __init__(self, linker: Linker, numbers: list[int], flows: FlowFile) -> None:
        world, tree = linker.world, linker.world.tree
        self._files, self._roots = [*tree.files.values()], tree.roots
        self._rows = world.files
        self._targets = {number: world.targets_of(number) for number in numbers}
        self._flows = {world.files[number].id: flows.flow(world.files[number].id) for number in numbers}

    def use_files(self, folders: Mapping[str, str]) -> None:
        """Make the linker of this worker, with the copies of this machine."""
        tree = Tree(folders[FILES], self._files, self._roots)
        self.linker = Linker(tree, self._rows, self._flows.__getitem__)
        for number, targets in self._targets.items():
            self.linker.world.set_import_targets(number, targets)
        self.linker.prepare()


def _link_remotely(shared: _RemoteLinker, numbers: list[int]) -> list[LinkedFile]:
    return link(shared.linker, numbers)


def _ledger(writer: StoreWriter) -> Iterator[File]:
    """Yield the files, which are only read when the first is needed."""
    yield from writer.ledger()


def _flow_without_positions(flow: bytes) -> Flow:
    """Return a flow without the positions of imports: they do not matter, and a line at the top changes them all."""
    unpacked = unpack_flow(flow)
    return unpacked._replace(imports=_without_positions(unpacked.imports))


def _without_positions(imports: Iterable[Import]) -> tuple[Import, ...]:
    return tuple(row._replace(line=0, col=0) for row in imports)


def _reuse_c_tables(linker: Linker, before: dict[str, PreviousFile], tables: CFamilyState) -> None:
    """Pass the C family's tables to the linker, which updates them."""
    world = linker.world
    read = {world.number[path]: had for path, had in before.items() if had.language in C_FAMILY}
    was = {
        number: (Linkable(had.id, had.ids, had.path, had.language, "", len(had.flow)), unpack_flow(had.flow))
        for number, had in read.items() if had.flow
    }  # fmt: skip
    world.included = {number: others for number, others in tables.includes.included.items() if number not in was}
    world.previous_c_tables = tables, was


def _tables_to_keep(linker: Linker) -> CFamilyState | None:
    """Return the C family's tables, if they were built, without the files' flows, which need not be kept."""
    for language_linker in linker.created_linkers():
        if isinstance(language_linker, CFamilyLinker):
            del language_linker.table.world
            return language_linker.state
    return None


def _c_names(linker: Linker) -> CFamilyLinker:
    return cast(CFamilyLinker, linker.language_linker("cpp"))


def _lost_ids(linker: Linker, before: Mapping[str, PreviousFile]) -> set[int]:
    """Return the ids of files and symbols that no longer exist."""
    lost: set[int] = set()
    for path, had in before.items():
        number = linker.world.number.get(path)
        if number is None:
            lost |= {had.id, *had.ids}
        else:
            lost |= {*had.ids} - {*linker.world.files[number].ids}
    return lost


def _size(linker: Linker, path: str) -> int:
    return linker.world.files[linker.world.number[path]].size
