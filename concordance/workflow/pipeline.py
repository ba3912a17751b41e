"""The steps of a build, in order, and which errors end it.

    collect   walk the repository                       fatal: there is no repository
    learn     collect the macros of C files             a file that cannot be read is skipped
    extract   extract every changed file, in parallel   a crash costs only its file, and is reported
    check     run ruff on the changed Python files      reported if ruff is missing or fails
    history   one run of `git log`, begun with extract  empty without git
    index     finish the full-text index
    link      resolve names, in parallel                a file that cannot be linked is reported, and has no links
    bridge    join calls between languages              a bridge that fails is reported
    pass      run whole-repository analyses
    store     commit the new store                      fatal: the disk is full; the previous store stays

In: a folder. Out: its current store, and a `BuildSummary`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial

from concordance.base.blocks import count_noun
from concordance.base.config import Config, cache_folder
from concordance.base.errors import ConcordanceError, StoreBroken, ToolFailed
from concordance.base.model import File, Finding, ListedFile
from concordance.base.progress import BuildSummary, Progress, ignore_progress
from concordance.collect import history, path_patterns, ruff, walk
from concordance.collect.classify import header_language
from concordance.extract import registry, ruleset
from concordance.extract.cfamily import macros
from concordance.facts import code_versions, write
from concordance.facts.cache import Cache
from concordance.facts.fulltext.index import TextWriter, outdated_paths
from concordance.facts.integrity import lock
from concordance.facts.read import Facts
from concordance.facts.records import ExtractedFile
from concordance.facts.schema import GENERATED
from concordance.facts.write import StoreWriter
from concordance.workflow import changed_files
from concordance.workflow.checks import freshness
from concordance.workflow.resident import LastBuild, StoreState, read_last_build
from concordance.workflow.stages import bridges as stages_bridges
from concordance.workflow.stages import extract, link, passes, public_names, remote_extract, shared_cache
from concordance.workflow.store_location import make_store
from concordance.workflow.workers import forked, temp_folder
from concordance.workflow.workers import pool as workers_pool
from concordance.workflow.workers.executor import Executor, FailedItem
from concordance.workflow.workers.ray_executor import RayExecutor

MIN_RENEWED = 100  # number of files with new times only, from which on storing the times is worthwhile
# Up to this many files are extracted by forked workers: they start at once, but load the readers of languages, unless
# this process already has them, because it has built before.
MAX_FORKED_FILES, MAX_FORKED_FILES_AGAIN = 16, 500
BATCH_BYTES = 300_000  # a tenth of a second of work: long compared with sending it, short compared with the whole


@dataclass
class _Inputs:
    """What a build starts from: the files that there are, the last build, and how they differ."""

    store: str  # the folder of the store
    entries: list[ListedFile]  # all files
    before: LastBuild | None  # None if everything is built anew
    changed: list[ListedFile]  # the files to extract
    removed: list[str]  # the paths of files that are gone
    renewed: dict[str, File]  # ledger rows of files with the same content, but other times
    head: str  # the commit, for which the history is stored

    @property
    def started_before(self) -> str:
        """When the last build began, as recorded in its store; "" if there is none."""
        return self.before.meta.get("started", "") if self.before is not None else ""


@dataclass
class Build:
    """One build of one repository."""

    root: str
    config: Config
    progress: Progress = ignore_progress
    summary: BuildSummary = field(default_factory=BuildSummary)
    pages: list[ListedFile] | None = None  # pages of the program, which are otherwise skipped: only these are read
    listing: walk.WalkResult | None = None  # the files, if a watcher already knows them
    # An empty folder to build the store in, apart from the repository's store and without the fact cache: every file is
    # then read anew.
    scratch_store: str = ""
    extracted_files: list[File] = field(default_factory=list)  # files that were read
    # No watcher follows: record the status of the files, so that a question sees quickly that nothing has changed.
    records_status: bool = False
    cluster: RayExecutor | None = None  # where many files are extracted and linked; None for processes
    # What the last build left, in a long-running process.
    previous_state: StoreState = field(default_factory=StoreState)
    _built_before: bool = False  # this process has built the repository before

    def run(self) -> BuildSummary:
        """Update the store."""
        with self._step("collect"):
            began = time.time_ns()
            entries = changed_files.drop_unreliable_times(self._list_files(), began)
            store = self.scratch_store or make_store(self.root, GENERATED if self.pages is not None else "")
        self.summary.files = len(entries)
        with lock.hold_lock(store, self._report):
            temp_folder.sweep_store(store)
            headers = header_language(entry.path for entry in entries)
            readers = code_versions.readers()
            before = read_last_build(store, f"{readers} {headers}", self.previous_state.last_build)
            try:
                self._update_if_changed(store, entries, before, readers, headers)
            except StoreBroken:  # it looked complete, but was not
                self.extracted_files.clear()
                self.summary = BuildSummary(len(entries), passed=self.summary.passed, left_out=self.summary.left_out)
                self._update_if_changed(store, entries, None, readers, headers)
            if self.records_status and not self.summary.passed:
                with Facts(store, alone=True) as facts:
                    started = facts.meta()["started"]
                freshness.record(os.path.realpath(self.root), store, started, entries, began)
        return self.summary

    def _list_files(self) -> list[ListedFile]:
        """Return the files to read, and count those that are passed over or left out."""
        if self.pages is not None:
            return self.pages
        entries, self.summary.passed = self.listing or walk.walk_with_counts(self.root)
        entries, self.summary.left_out = path_patterns.select_entries(entries, self.config)
        return entries

    def _update_if_changed(
        self, store: str, entries: list[ListedFile], before: LastBuild | None, readers: str, headers: str
    ) -> None:
        changed, renewed = self._delta(entries, before)
        removed = sorted(set(before.files if before else ()) - {entry.path for entry in entries})
        inputs = _Inputs(store, entries, before, changed, removed, renewed, history.history_key(self.root))
        if before is not None:
            made_by = {**self._given_metadata(), "head": inputs.head, "ruff": ruff.ruff_identity(self.root)}
            is_current = not changed and not removed and made_by.items() <= before.meta.items()
            outdated = outdated_paths(store, inputs.started_before)
            if is_current and outdated == frozenset():
                if len(renewed) > MIN_RENEWED:
                    write.renew_times(store, renewed.values())
                return
            inputs.changed, inputs.removed = _with_outdated_texts(entries, changed, removed, outdated)
            self.summary.unchanged = len(entries) - len(inputs.changed)
        with temp_folder.folder() as scratch_folder:
            # Absolute paths, as workers run in another folder.
            root, scratch = os.path.abspath(self.root), os.path.abspath(scratch_folder)
            cache = "" if self.scratch_store else cache_folder()
            if self.config.shared_cache and cache:
                cache = _usable_cache_folder(cache, scratch, self.config.cache_bytes)
            self._update(extract.Job(root, self.config, cache, readers, headers, scratch), inputs)

    @contextmanager
    def _workers(self, scratch: str, files: int) -> Iterator[tuple[workers_pool.Pool, Executor]]:
        """Start workers for a number of files: processes, forked ones if the files are few, and what extracts files,
        which is the same, or a cluster if the files are many and the settings say so."""
        few = files <= (MAX_FORKED_FILES_AGAIN if self._built_before else MAX_FORKED_FILES)
        jobs = min(self.config.jobs, files or 1) if few else self.config.jobs
        start, lost = partial(extract.start, self.config.memory), partial(self._report_lost_workers, scratch)
        pool = workers_pool.Pool(jobs, start, ["concordance.workflow.stages.extract"], self._patience, lost, fork=few)
        if self.cluster is not None:
            self.cluster.patience = self._patience
        try:
            if few and files:
                pool.begin()  # before the threads of the text index are running
            yield pool, pool if few or self.cluster is None else self.cluster
            pool.close()
        except BaseException:
            pool.kill()
            raise

    def _settings_metadata(self) -> dict[str, str]:
        return changed_files.settings_metadata(self.config, code_versions.linkers(), self.summary.left_out)

    def _given_metadata(self) -> dict[str, str]:
        """Return the metadata that does not depend on the files: the settings, and the name of the remote."""
        return {**self._settings_metadata(), "remote": history.remote_name(self.root)}

    def _patience(self, entries: list[ListedFile]) -> float:
        return self.config.patience * (1 + sum(entry.size for entry in entries) / 5_000_000)

    def _report(self, message: str) -> None:
        self.progress("say", 0, 0, message)

    def _report_lost_workers(self, scratch: str, dead: list[int], items: int) -> None:
        paths = ", ".join(filter(None, (extract.last_path(scratch, worker) for worker in dead)))
        what = (
            f"a worker was killed{f' while reading {paths}' if paths else ''}" if dead else "the workers do not respond"
        )
        self._report(f"{what}; reading {count_noun(items, 'file')} in progress again, one by one")

    def _delta(self, entries: list[ListedFile], before: LastBuild | None) -> tuple[list[ListedFile], dict[str, File]]:
        """Return the entries that differ from the store, and the ledger rows in which only the times have changed."""
        if before is None:
            return entries, {}
        changed, renewed = changed_files.find_changes(
            self.root, entries, before.files, changed_files.settings_changed(self.config, before.meta)
        )
        before.files.update(renewed)
        self.summary.unchanged = len(entries) - len(changed)
        return changed, renewed

    def _update(self, job: extract.Job, inputs: _Inputs) -> None:
        """Run the steps from `learn` to `store`."""
        started = str(time.time_ns() - 2_000_000_000)
        before = inputs.before
        self._built_before = bool(self.previous_state.started)
        state = self.previous_state.detach(inputs.started_before)
        with ExitStack() as stack:
            pool, executor = stack.enter_context(self._workers(job.scratch, len(inputs.changed)))
            with self._step("learn"):
                learned, table = self._learn(executor, job, inputs, state.macros)
            digest = macros.digest(table)
            extract.save_macros(job.scratch, table)
            if before is not None and before.meta.get("macros") != digest:
                inputs.changed = _with_macro_users(inputs.entries, inputs.changed, before)
                self.summary.unchanged = len(inputs.entries) - len(inputs.changed)
                pool.close()
                pool, executor = stack.enter_context(self._workers(job.scratch, len(inputs.changed)))
            is_same_history = before is not None and before.meta.get("head") == inputs.head
            reader = None if is_same_history else stack.enter_context(closing(history.HistoryReader(self.root)))
            writer, text = stack.enter_context(_opened_writers(inputs, state))
            with self._step("extract"), self._sharing(pool, job, inputs.changed) as fresh:
                fresh.extend(self._extract(executor, table, writer, text, job, inputs.changed))
            self._store_other_changes(writer, text, inputs, learned)
            if before is None:
                learned.clear()  # nothing below needs those of all files
            with self._step("check"):
                findings_meta = self._check(writer, before)
            history_meta = self._store_history(writer, reader) if reader is not None else {}
            with self._step("index"):
                text.finish(started)
            pool.close()  # the linker forks its own workers
            with self._step("link"):
                self._link(writer, before, state)
            with self._step("store"):
                meta = {**self._given_metadata(), "macros": digest, "head": inputs.head, "started": started}
                text.place_it()  # first: a store always has an index; one that is ahead of it is detected
                writer.commit({"readers": f"{job.readers} {job.headers}", **meta, **findings_meta, **history_meta})
            state.macros = table
            state.record_build(before, meta, self.extracted_files, inputs.removed, learned)
            self.previous_state.replace_with(state)

    def _store_other_changes(
        self, writer: StoreWriter, text: TextWriter, inputs: _Inputs,
        learned: list[tuple[str, macros.MacroDefinitions]],
    ) -> None:  # fmt: skip
        """Store what has changed besides the extracted files."""
        for path in inputs.removed:
            writer.remove(path)
            text.remove(path)
        self.summary.removed = len(inputs.removed)
        writer.renew(inputs.renewed.values())
        writer.put_macros(learned)

    def _store_history(self, writer: StoreWriter, reader: history.HistoryReader) -> dict[str, str]:
        """Store which commits changed each file; return what the store's metadata has of the history."""
        with self._step("history"):
            read = reader.result()
            writer.put_changes(read.changes)
        return {"months": json.dumps(read.months), "history note": read.note}

    def _learn(
        self, executor: Executor, job: extract.Job, inputs: _Inputs, table: macros.Macros | None
    ) -> tuple[list[tuple[str, macros.MacroDefinitions]], macros.Macros]:
        """Return the macros of changed files, and the merged table of all files: the old one if nothing has changed."""
        endings = registry.macro_extensions()
        fresh = [entry for entry in inputs.changed if entry.path.endswith(endings)]
        batches = _batches(fresh, 8 * BATCH_BYTES)
        learned: dict[str, macros.MacroDefinitions] = {entry.path: () for entry in fresh}
        done = 0
        for result in (
            executor.map_batches(extract.learn_macros, job, batches)
            if executor.reads_files
            else remote_extract.learn_macros(executor, job, batches)
        ):
            if not isinstance(result, FailedItem):
                learned.update(result)
                done += len(result)
            self.progress("learn", done, len(fresh), "")
        present = {entry.path for entry in inputs.entries}
        previous_macros = dict(inputs.before.macros) if inputs.before is not None else {}
        if (
            table is None
            or not previous_macros.keys() <= present
            or any(previous_macros.get(p, ()) != definitions for p, definitions in learned.items())
        ):
            unchanged = [
                definitions for path, definitions in previous_macros.items() if path not in learned and path in present
            ]
            table = macros.merge([*unchanged, *learned.values()])
        return list(learned.items()), table

    @contextmanager
    def _sharing(
        self, pool: workers_pool.Pool, job: extract.Job, changed: list[ListedFile]
    ) -> Iterator[list[extract.FreshFacts]]:
        """Fetch facts from the shared cache, if there is one, and afterwards store those that are put into the list."""
        fresh: list[extract.FreshFacts] = []
        if not (self.config.shared_cache and job.cache_folder and changed):
            yield fresh
            return
        stage = shared_cache.SharedCacheStage(job, self.config.shared_cache, pool, self._report)
        stage.fetch(changed)
        yield fresh
        stage.store(fresh)

    def _extract(
        self,
        executor: Executor,
        table: macros.Macros,
        writer: StoreWriter,
        text: TextWriter,
        job: extract.Job,
        changed: list[ListedFile],
    ) -> list[extract.FreshFacts]:
        """Extract changed files and store them; return which facts are new."""
        fresh_facts: list[extract.FreshFacts] = []
        batches = _batches(changed, BATCH_BYTES)
        with closing(Cache(job.cache_folder, self.config.cache_bytes)) as cache:
            for result in (
                executor.map_batches(extract.extract_files, job, batches)
                if executor.reads_files
                else remote_extract.extract_files(executor, job, table, batches)
            ):
                readings = self._failed_file(job, result) if isinstance(result, FailedItem) else result
                writer.put(readings)
                fresh = [reading for reading in readings if reading.cache_value]
                cache.put([(reading.key, reading.cache_value) for reading in fresh])
                fresh_facts += [
                    extract.FreshFacts(extracted.file.digest, extracted.key, extracted.file.size) for extracted in fresh
                ]
                for reading in readings:
                    self._count(reading)
                    text.put(reading.file.path, reading.file.category, reading.file.size, reading.words)
                self.progress("extract", self.summary.read, len(changed), readings[-1].file.path)
            cache.trim()
        return fresh_facts

    def _check(self, writer: StoreWriter, before: LastBuild | None) -> dict[str, str]:
        """Run ruff on the changed Python files, or on all if the last ruff was another one or failed."""
        now = ruff.ruff_identity(self.root)
        recheck = before is None or before.meta.get("ruff") != now or before.meta.get("ruff_problem", "") != ""
        paths = sorted(
            file.path for file in (writer.ledger() if recheck else self.extracted_files)
            if file.language == "python" and not file.skip and file.category not in ruleset.TEST_CATEGORIES
        )  # fmt: skip
        rules = {rule.id: rule for rule in ruleset.RUFF_RULES}
        rows, problem, crashed = [], "", list[str]()
        try:
            for path, diagnostics in ruff.check(self.root, paths, list(rules), crashed) if paths else ():
                relevant = [
                    remark for remark in diagnostics if ruleset.REQUIRED_WORDS.get(remark.rule, "") in remark.message
                ]
                findings = (
                    Finding(r, rules[r].severity, m, line, col, end, "", False) for r, m, line, col, end in relevant
                )
                rows.append((path, tuple(findings)))
        except ToolFailed as error:
            problem = str(error)
            self._report(f"{len(paths):,} Python files were not checked by ruff: {problem}")
        if crashed:
            problem = f"ruff crashes on {', '.join(sorted(crashed))}"
            self._report(f"{problem}: not checked")
        writer.put_remarks(rows, recheck)
        return {"ruff": now, "ruff_problem": problem}

    @forked.without_gc()
    def _link(self, writer: StoreWriter, before: LastBuild | None, state: StoreState) -> None:
        summary = self.summary

        def failed(path: str, reason: str) -> None:
            summary.failed.append((path, reason))

        config = self.config
        work = link.Linking(
            self.root, writer, config.jobs, config.patience, self._report_linked, failed, config.roots, state,
            self.cluster,
        )  # fmt: skip
        if before is None or before.meta.get("linkers") != self._settings_metadata()["linkers"]:
            tree = work.link_all()
        else:
            try:
                tree = work.link_changed()
            except ConcordanceError:
                raise
            except Exception as error:  # a bug here costs time, but no links
                self._report(f"updating the links failed ({error!r}); linking all files instead")
                tree = work.link_all()
        summary.named, summary.resolved = writer.queries.expression_counts()
        with self._step("bridge"):
            writer.index()
            if work.linked_all:
                calls = stages_bridges.run(writer, tree, failed)
            else:
                stages_bridges.update(writer, tree, failed)
            state.tree = tree if tree.is_loaded else None
        with self._step("pass"):
            if work.linked_all:
                passes.run(writer, calls)
                public_names.run(writer)
            else:
                passes.update(writer)
                public_names.update(writer)

    def _report_linked(self, done: int, total: int) -> None:
        self.progress("link", done, total, "")

    def _failed_file(self, job: extract.Job, failed: FailedItem[ListedFile]) -> list[ExtractedFile]:
        self.summary.failed.append((failed.item.path, failed.reason))
        return [extract.failed_file(job, failed.item, failed.reason)]

    def _count(self, reading: ExtractedFile) -> None:
        summary = self.summary
        self.extracted_files.append(reading.file)
        summary.read += 1
        summary.bytes += reading.file.size
        summary.cached += reading.cached
        summary.symbols += len(reading.symbols)
        summary.broken += reading.problems > 0
        if reading.file.skip:
            summary.skipped[reading.file.skip] = summary.skipped.get(reading.file.skip, 0) + 1

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        """Time a step, without the steps inside it, so that all of them add up to the whole."""
        began = time.perf_counter()
        seconds = self.summary.seconds
        seconds.setdefault(name, 0.0)  # keeps the order in which steps begin
        inner = sum(seconds.values())
        self.progress(name, 0, 0, "")
        yield
        seconds[name] += time.perf_counter() - began - (sum(seconds.values()) - inner)


@contextmanager
def _opened_writers(inputs: _Inputs, state: StoreState) -> Iterator[tuple[StoreWriter, TextWriter]]:
    """Open the store and its text index for writing. If an error is raised, the last complete store stays."""
    writer = StoreWriter(inputs.store, inputs.before is None, state.rows)
    text: TextWriter | None = None
    try:
        text = TextWriter(inputs.store, inputs.started_before if inputs.before is not None else None)
        yield writer, text
    except BaseException:
        writer.abandon()
        if text is not None:
            text.abandon()
        raise


def _batches(entries: list[ListedFile], max_bytes: int) -> Iterator[list[ListedFile]]:
    """Yield entries in batches of about the same size, large files first, so that none is left for the end."""
    return workers_pool.batches(sorted(entries, key=lambda entry: -entry.size), lambda entry: entry.size, max_bytes)


def _usable_cache_folder(folder: str, scratch: str, largest: int) -> str:
    """Return the folder of the local cache; if it cannot be used, one that lasts as long as the build."""
    with closing(Cache(folder, largest)) as local:
        return folder if local.is_open else os.path.join(scratch, "cache")


def _with_outdated_texts(
    entries: list[ListedFile], changed: list[ListedFile], removed: list[str], outdated: frozenset[str] | None
) -> tuple[list[ListedFile], list[str]]:
    """Return the changed and deleted files, including those where the text index differs from the store; if the index
    was lost (None), all files, which are then mostly read from the cache."""
    if outdated is None:
        return entries, removed
    paths = {entry.path for entry in changed} | outdated
    with_outdated = [entry for entry in entries if entry.path in paths]
    return with_outdated, sorted({*removed, *(outdated - {entry.path for entry in with_outdated})})


def _with_macro_users(entries: list[ListedFile], changed: list[ListedFile], before: LastBuild) -> list[ListedFile]:
    """Return the changed entries and every file whose extraction depends on macros; most of those are in the cache."""
    languages = {language.name for language in registry.languages() if language.has_macros}
    paths = {entry.path for entry in changed}
    paths.update(file.path for file in before.files.values() if file.language in languages)
    return [entry for entry in entries if entry.path in paths]
