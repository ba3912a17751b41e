"""Compares two revisions of a repository, in parallel and without checking them out.

In: an open index (its store is that of the work tree), and revisions as people type them. Out: a report. Only
files that differ are extracted; nothing is checked out. Files that are equal on both sides but differ from the store
are read for their imports only. Contents come from git's objects, or from the disk if a side is the work tree; facts
come from the cache if the content was ever extracted. Workers are forked once it is known what there is to do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import msgspec

from concordance.base import plugins
from concordance.base.blocks import Ref
from concordance.base.config import Config, cache_folder
from concordance.base.errors import ToolFailed, Unreadable
from concordance.base.model import FileFacts, Finding, Import, ListedFile, Skip
from concordance.collect import ruff, walk
from concordance.collect.classify import header_language
from concordance.collect.revisions import Blobs, Side, differing_files, is_same, sides
from concordance.extract import registry, ruleset
from concordance.extract.cfamily import macros
from concordance.facts import code_versions
from concordance.facts.cache import Cache
from concordance.facts.codec import unpack
from concordance.query.answers import Row
from concordance.query.diff import moves
from concordance.query.diff.comparison import Comparison, FilePair, ReadFile, Unread
from concordance.query.diff.dependencies import waits
from concordance.query.diff.moves import UnpairedSymbols
from concordance.query.diff.report import DiffReport, all_rows, build_report
from concordance.query.diff.report import page as report_page
from concordance.query.diff.review import Review, build_review, review_page
from concordance.query.diff.rows import ChangeRow
from concordance.query.diff.symbol_pairs import ChangedSymbol, differing_aspects, pair_symbols
from concordance.query.diff.symbols import ComparableSymbol, comparable_symbols, line_digests, outside, split_lines
from concordance.query.index.repository import Index
from concordance.query.pages import PAGES, kinds
from concordance.query.sections.structure import plain_files
from concordance.render.addresses import Addresses, PrintedAddresses
from concordance.render.formats import markdown
from concordance.render.output import manifest
from concordance.workflow.stages import extract
from concordance.workflow.workers import forked, pool
from concordance.workflow.workers.executor import FailedItem
from concordance.workflow.workers.temp_folder import folder as own_folder

BATCH_BYTES = 200_000
_MANY = 5000  # files on one side only; with more, their lines are not kept
Progress = Callable[[int, int], None]
Pair = tuple[ListedFile | None, ListedFile | None]


def compare_revisions(
    index: Index, revisions: tuple[str, ...], out: str, config: Config, progress: Progress
) -> tuple[list[Row], str]:
    """Return what changed between two revisions, as rows and as a page."""
    report, addresses = _report(index, revisions, out, config, progress)
    pages = {ref: addresses.page(ref) for ref, _ in report.pages}
    rows: list[Row] = [row._asdict() for row in all_rows(report, pages)]
    return rows, markdown.render(report_page(report), _printed(index, report, out)).text


def review_change(
    index: Index, revisions: tuple[str, ...], out: str, config: Config, progress: Progress
) -> tuple[list[Row], str]:
    """Return what a reviewer of a change looks at besides the change itself, as rows and as a page."""
    review = _review(index, revisions, out, config, progress)
    printed = _printed(index, review.report, out)
    return [row._asdict() for row in review.rows()], markdown.render(review_page(review), printed).text


def review_work_tree(index: Index, out: str, config: Config) -> list[Row]:
    """Return what the uncommitted changes may break, for a coding agent. Starts no processes: servers call this."""
    here = replace(config, jobs=0)
    return _review(index, (), out, here, lambda done, total: None).rows_for_agents()


def _review(index: Index, revisions: tuple[str, ...], out: str, config: Config, progress: Progress) -> Review:
    report, addresses = _report(index, revisions, out, config, progress)
    statements, note = find_false_statements(index, [ref for ref, _ in report.pages], addresses, out)
    return build_review(index, report, statements, [note] if note else [])


def _report(
    index: Index, revisions: tuple[str, ...], out: str, config: Config, progress: Progress
) -> tuple[DiffReport, Addresses]:
    with open_comparison(index, revisions, config, progress) as comparison:
        report = build_report(index, comparison)
    return report, Addresses(report.comparison.sides[1].entries, index.root, out, plain_files(index))


def _printed(index: Index, report: DiffReport, out: str) -> Addresses:
    """Return the addresses for a report that is printed."""
    return PrintedAddresses(report.comparison.sides[1].entries, index.root, out, plain_files(index))


# --- statements of the book that a change made false


_MAX_PAGES = 60  # pages of the book that are compared
_LINK = re.compile(r"\[([^\]\n]*)\](?:\([^)\s]*\)|\[\d+\])")
_MARKUP = re.compile(r'(`+) ?(?P<code>.+?) ?\1|<a id="[^"]*"></a>|\*+|\\(?P<escaped>[^\w\s])')
_LINES = re.compile(r"\b(?:L|lines? )\d+(?:[–-]L?\d+)?")  # a definition that only moved is still there
_FENCE = re.compile(r"\s*(`{3,})")
_NO_STATEMENT = re.compile(r"\s*(?:#|\[\d+\]: |— \[L\d|\|[ -|]*$|\*Generated by |---|$)")
_METADATA = "## File Metadata"  # sizes and digests change with every edit


def find_false_statements(index: Index, refs: list[Ref], addresses: Addresses, out: str) -> tuple[list[ChangeRow], str]:
    """Return the statements in a book that its pages would no longer make, for some pages; and a note on what was not
    compared. The book is that of the last build: if it has been brought up to date since the change, there are none."""
    listed = manifest.read(out)
    if not listed.pages or listed.site:
        return [], f"There is no book in {out}, so its statements were not compared."
    before, index.book = index.book, manifest.with_options(index.book, listed.options)
    rows: list[ChangeRow] = []
    try:
        for ref in refs[:_MAX_PAGES]:
            page = addresses.page(ref)
            written = manifest.read_regular_file(os.path.join(out, page)) if page in listed.pages else None
            if written is None:
                continue
            now = _rendered(index, ref, addresses)
            left = {_normalised(line) for _, line in _statements(now)}
            for number, line in _statements(written.decode("utf-8", "replace")):
                if _normalised(line) not in left:
                    text = _without_markup(line)
                    old: dict[str, object] = {"line": number, "text": text}
                    rows.append(ChangeRow("no longer holds", "statement", page, "", old, None, text))
    finally:
        index.book = before
    more = len(refs) - _MAX_PAGES
    return rows, f"{more:,} more pages of the book may have changed and were not compared." if more > 0 else ""


def _rendered(index: Index, ref: Ref, addresses: Addresses) -> str:
    """Return the text of a page as it would be written now; "" if there is nothing to write about any more."""
    kind = next(name for name, to in kinds().items() if to == ref.to)
    try:
        pages = list(plugins.load(PAGES, kind).pages(index, ref.path))
    except KeyError:  # the file is not in the store
        return ""
    return markdown.render(pages[0], addresses).text if pages else ""


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page that say something, without code and without metadata."""
    fence, aside = "", False
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and line.strip() == fence else fence
        elif mark:
            fence = mark[1]
        elif line.startswith("## "):
            aside = line == _METADATA
        elif not aside and not _NO_STATEMENT.match(line):
            yield number, line


def _without_markup(line: str) -> str:
    """Return a statement as people read it; what stands in code keeps its asterisks."""
    plain = _MARKUP.sub(lambda mark: mark["code"] or mark["escaped"] or "", _LINK.sub(r"\1", line))
    return " ".join(plain.split()).removeprefix("- ")


def _normalised(line: str) -> str:
    """Return a statement without the addresses of its links and without line numbers."""
    return " ".join(_LINES.sub("L", _LINK.sub(r"\1", line)).split())


@contextmanager
def open_comparison(
    index: Index, revisions: tuple[str, ...], config: Config, progress: Progress
) -> Iterator[Comparison]:
    """Compare two revisions; git stays available until the context ends."""
    one, other, here = sides(index.root, revisions, config)
    with closing(RevisionReader(index.root, (one, other), config)) as reader:
        yield _Comparer(index, config, progress).run(reader, here)


@dataclass
class _Comparer:
    """One comparison."""

    index: Index
    config: Config
    progress: Progress
    unread: list[Unread] = field(default_factory=list)

    def run(self, reader: RevisionReader, work_tree: Side) -> Comparison:
        """Read both sides."""
        one, other = reader.sides
        pairs = list(differing_files(one, other))
        settled = _unchanged_paths(self.index, one, other, work_tree)
        unchanged_elsewhere = {
            path: entry for path, entry in other.entries.items()
            if path not in settled and path in one.entries and is_same(one.entries[path], entry)
        }  # fmt: skip
        exact = _exact(pairs)
        scanned = self._scan(reader, pairs, exact, unchanged_elsewhere)
        renamed = exact | _similar(pairs, exact, scanned)
        slim = sum(None in pair for pair in pairs) > _MANY
        with own_folder() as scratch:
            shared = [learned for path, learned in self.index.facts.macros() if path in settled]
            shared += [row.learned for row in scanned if row.path in unchanged_elsewhere]
            reader.jobs = tuple(self._job(scratch, reader.sides[side], side, scanned, shared) for side in (0, 1))
            matched = _join_renamed(pairs, renamed)
            read = [self._pair_in_store(pair, exact, work_tree) for pair in matched]
            same = {n for n, (before, _) in enumerate(matched) if before is not None and before.path in exact}
            works = [
                FilePairTask(n, None if n in same else before, after, n not in same, slim)
                for n, (before, after) in enumerate(matched) if read[n] is None
            ]  # fmt: skip
            works += [
                FilePairTask(len(matched) + n, None, entry, False)
                for n, entry in enumerate(unchanged_elsewhere.values())
            ]
            compared = self._compare(reader, works)
            to_check = [compared[n] for n in range(len(matched)) if n in compared and n not in same]
            remarks, problem = self._remarks(scratch, reader, to_check)
        rows = [row or _row(compared[n], matched[n]) for n, row in enumerate(read) if row or n in compared]
        rows = [_with_remarks(row, remarks) for row in rows]
        others = (
            compared[number].after
            for number in range(len(matched), len(matched) + len(unchanged_elsewhere))
            if number in compared
        )
        others_by_path = {read.file.path: read for read in others if read is not None}
        return Comparison(
            (one, other), work_tree, rows, renamed, others_by_path, settled, self.unread, problem, slim, reader.data,
            self.config.roots,
        )  # fmt: skip

    def _scan(
        self,
        reader: RevisionReader,
        pairs: list[Pair],
        exact: dict[str, str],
        unchanged_elsewhere: dict[str, ListedFile],
    ) -> list[ScannedFile]:
        """Collect the macros of files that differ, and the lines of files on one side only."""
        endings = registry.macro_extensions()
        items = [
            (1, entry)
            for entry in unchanged_elsewhere.values()
            if entry.path.endswith(endings) and entry.skip is Skip.NONE
        ]
        both = all(any(pair[side] and not pair[1 - side] for pair in pairs) for side in (0, 1))
        taken = {*exact, *exact.values()}
        for pair in pairs:
            for side, entry in enumerate(pair):
                alone = both and pair[1 - side] is None
                if entry is None or entry.skip is not Skip.NONE:
                    continue
                if entry.path.endswith(endings) or (alone and entry.path not in taken):
                    items.append((side, entry))
        files: list[ScannedFile] = []
        batches = pool.batches(items, lambda item: item[1].size, 4 * BATCH_BYTES)
        for result in forked.map_forked(reader, scan, batches, self.config.jobs, self.config.patience):
            if not isinstance(result, FailedItem):  # comparing it reports the error
                files += result
        return files

    def _job(
        self, scratch: str, side: Side, number: int, scanned: list[ScannedFile], shared: list[macros.MacroDefinitions]
    ) -> extract.Job:
        """Return what the extraction of one side needs."""
        own = [row.learned for row in scanned if row.side == number]
        folder = os.path.join(scratch, str(number))
        os.mkdir(folder)
        extract.save_macros(folder, macros.merge([*shared, *own]))
        headers = header_language(side.entries)
        return extract.Job(self.index.root, self.config, cache_folder(), code_versions.readers(), headers, folder)

    def _pair_in_store(self, pair: Pair, exact: dict[str, str], work_tree: Side) -> FilePair | None:
        """Return a file that was only renamed, from the store; None if the store does not have it."""
        before, after = pair
        if before is None or after is None or exact.get(before.path) != after.path:
            return None
        file, entry = self.index.files.get(after.path), work_tree.entries.get(after.path)
        if file is None or entry is None or not is_same(entry, after):
            return None
        named = self.index.facts.names_in(after.path)
        imports = msgspec.msgpack.decode(named.imports, type=tuple[Import, ...]) if named.imports else ()
        dependencies = tuple((imported, waits(imported, named.scopes)) for imported in imports)
        return FilePair(
            ReadFile(file._replace(path=before.path), dependencies),
            ReadFile(file, dependencies),
            [],
            UnpairedSymbols([], []),
            False,
        )

    def _compare(self, reader: RevisionReader, works: list[FilePairTask]) -> dict[int, ComparedPair]:
        """Compare all pairs in parallel; return the results by number."""
        pairs_by_number: dict[int, ComparedPair] = {}
        batches = pool.batches(works, _size, BATCH_BYTES)
        with closing(Cache(cache_folder(), self.config.cache_bytes)) as cache:
            for result in forked.map_forked(reader, compare, batches, self.config.jobs, self.config.patience):
                if isinstance(result, FailedItem):
                    entry = result.item.after or result.item.before
                    self.unread.append(Unread(entry.path if entry else "", result.reason))
                    continue
                cache.put([row for compared in result for row in compared.fresh])
                pairs_by_number.update((compared.number, compared._replace(fresh=[])) for compared in result)
                self.progress(len(pairs_by_number), len(works))
        return pairs_by_number

    # --- ruff's findings: it reads files, so those of a revision are written to a temporary folder

    def _remarks(
        self, scratch: str, reader: RevisionReader, compared_pairs: list[ComparedPair]
    ) -> tuple[dict[tuple[int, str], tuple[Finding, ...]], str]:
        rules = {rule.id: rule for rule in ruleset.RUFF_RULES}
        rows: dict[tuple[int, str], tuple[Finding, ...]] = {}
        for side in (0, 1):
            folder = os.path.join(scratch, f"python-{side}")
            os.mkdir(folder)
            paths: dict[str, str] = {}
            for compared in compared_pairs:
                read = (compared.before, compared.after)[side]
                if read is None:
                    continue
                file = read.file
                if file.language == "python" and not file.skip and file.category not in ruleset.TEST_CATEGORIES:
                    paths[f"{len(paths)}{'.pyi' if file.path.endswith('.pyi') else '.py'}"] = file.path
            self._write_files(folder, reader, side, paths)
            try:
                for name, diagnostics in ruff.check(folder, list(paths), list(rules), []) if paths else ():
                    relevant = [row for row in diagnostics if ruleset.REQUIRED_WORDS.get(row.rule, "") in row.message]
                    rows[side, paths[name]] = tuple(
                        Finding(r, rules[r].severity, m, line, col, end, "", False) for r, m, line, col, end in relevant
                    )
            except ToolFailed as error:
                return {}, str(error)
        return rows, ""

    def _write_files(self, folder: str, reader: RevisionReader, side: int, paths: dict[str, str]) -> None:
        for name, path in paths.items():
            try:
                data = reader.data(side, reader.sides[side].entries[path])
            except Unreadable:
                continue
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)


def _unchanged_paths(index: Index, one: Side, other: Side, work_tree: Side) -> frozenset[str]:
    """Return the paths whose content is that of the store on both sides."""
    return frozenset(
        path for path, entry in work_tree.entries.items() if path in index.files
        and all(path in side.entries and is_same(side.entries[path], entry) for side in (one, other))
    )  # fmt: skip


def _one_sided(pairs: Iterable[Pair], side: int) -> dict[str, ListedFile]:
    return {pair[side].path: pair[side] for pair in pairs if pair[side] is not None and pair[1 - side] is None}  # type: ignore[union-attr,misc]


def _exact(pairs: list[Pair]) -> dict[str, str]:
    """Return files with another path and the same content; empty files are left out, as they all match."""
    sets = [
        {path: entry.blob for path, entry in _one_sided(pairs, side).items() if entry.skip is Skip.NONE and entry.size}
        for side in (0, 1)
    ]
    return dict(moves.pair_equal_files(*sets))


def _similar(pairs: list[Pair], exact: dict[str, str], scanned: list[ScannedFile]) -> dict[str, str]:
    """Return files with another path and nearly the same content."""
    alone = [_one_sided(pairs, side) for side in (0, 1)]
    taken = {*exact, *exact.values()}
    sets = [
        {row.path: row.lines for row in scanned
         if row.side == side and row.path in alone[side] and row.path not in taken and row.lines}
        for side in (0, 1)
    ]  # fmt: skip
    return dict(moves.pair_similar_files(*sets))


def _join_renamed(pairs: list[Pair], renamed: dict[str, str]) -> list[Pair]:
    """Return the pairs, with renamed files joined into one."""
    come = _one_sided(pairs, 1)
    taken = set(renamed.values())
    joined: list[Pair] = []
    for before, after in pairs:
        if before is not None and after is None and before.path in renamed:
            joined.append((before, come[renamed[before.path]]))
        elif before is not None or (after is not None and after.path not in taken):
            joined.append((before, after))
    return joined


def _size(work: FilePairTask) -> int:
    return sum(entry.size for entry in (work.before, work.after) if entry is not None)


def _row(compared: ComparedPair, pair: Pair) -> FilePair:
    """Return a pair as it was read; of a file that was only renamed, one side was."""
    before = compared.before
    if before is None and compared.after is not None and pair[0] is not None:
        before = compared.after._replace(file=compared.after.file._replace(path=pair[0].path))
    return FilePair(before, compared.after, compared.changed, compared.gone, compared.outside)


def _with_remarks(row: FilePair, remarks: dict[tuple[int, str], tuple[Finding, ...]]) -> FilePair:
    """Return a pair with ruff's findings added."""
    both = []
    for side, read in enumerate((row.before, row.after)):
        more = remarks.get((side, read.file.path), ()) if read is not None else ()
        both.append(read._replace(findings=(*read.findings, *more)) if read is not None and more else read)
    return row._replace(before=both[0], after=both[1])


# --- the workers


class FilePairTask(NamedTuple):
    """Two files to compare, or one that is only read."""

    number: int
    before: ListedFile | None
    after: ListedFile | None
    compares: bool = True
    slim: bool = False  # leave out the lines of symbols on one side only: there would be too many


class ScannedFile(NamedTuple):
    """What must be known of a file before any can be extracted: its macros and its lines."""

    side: int
    path: str
    learned: macros.MacroDefinitions
    lines: tuple[int, ...]


class ComparedPair(NamedTuple):
    """The result for a pair."""

    number: int
    before: ReadFile | None
    after: ReadFile | None
    changed: list[ChangedSymbol]
    gone: UnpairedSymbols
    outside: bool
    fresh: list[tuple[bytes, bytes]]  # for the cache


@dataclass
class RevisionReader:
    """The data of a worker, inherited from the process that forked it."""

    root: str
    sides: tuple[Side, Side]
    config: Config
    jobs: tuple[extract.Job, ...] = ()

    @cached_property
    def blobs(self) -> Blobs:
        """A running git that returns contents; each process has its own."""
        return Blobs(self.root)

    def close(self) -> None:
        """End git."""
        if "blobs" in self.__dict__:
            self.blobs.close()

    def data(self, side: int, entry: ListedFile) -> bytes:
        """Return a file's bytes; Unreadable if they are not available or too many."""
        if entry.size > self.config.largest:
            raise Unreadable(entry.path, f"{entry.size:,} bytes, over the limit of {self.config.largest:,}")
        if not self.sides[side].commit:
            return walk.read(self.root, entry)
        return self.blobs.get(entry.blob)


def scan(reader: RevisionReader, items: list[tuple[int, ListedFile]]) -> list[ScannedFile]:
    """Scan files before any are extracted."""
    files = []
    for side, entry in items:
        try:
            data = reader.data(side, entry)
        except Unreadable:
            continue  # comparing it reports why
        learned = macros.read_defines(data, entry.path) if entry.path.endswith(registry.macro_extensions()) else ()
        lines = () if b"\0" in data[:8192] else line_digests(split_lines(data.decode("utf-8", "replace")))
        files.append(ScannedFile(side, entry.path, learned, tuple(lines)))
    return files


def compare(reader: RevisionReader, works: list[FilePairTask]) -> list[ComparedPair]:
    """Extract and compare files."""
    return [_compare_files(reader, work) for work in works]


def _compare_files(reader: RevisionReader, work: FilePairTask) -> ComparedPair:
    halves = [_half(reader, side, entry) for side, entry in enumerate((work.before, work.after))]
    fresh = [half.fresh for half in halves if half is not None and half.fresh is not None]
    before, after = (half.read if half is not None else None for half in halves)
    if not work.compares:
        return ComparedPair(work.number, before, after, [], UnpairedSymbols([], []), False, fresh)
    sets = [half.parts() if half is not None else [] for half in halves]
    pair = pair_symbols(sets[0], sets[1])
    changed = [
        ChangedSymbol(_slim(one), _slim(other), what)
        for one, other in pair.pairs
        if (what := differing_aspects(one, other))
    ]
    loose = len({half.outside() for half in halves if half is not None}) > 1
    unpaired = UnpairedSymbols(pair.removed, pair.added)
    if work.slim:
        unpaired = UnpairedSymbols([_slim(part) for part in unpaired.removed], [_slim(part) for part in unpaired.added])
    return ComparedPair(work.number, before, after, changed, unpaired, loose, fresh)


def _slim(part: ComparableSymbol) -> ComparableSymbol:
    return part._replace(lines=())


class _Half(NamedTuple):
    read: ReadFile
    facts: FileFacts
    text: str
    tests: frozenset[int]
    fresh: tuple[bytes, bytes] | None

    def parts(self) -> list[ComparableSymbol]:
        return comparable_symbols(self.read.file.path, self.read.file.language, self.facts, self.text, self.tests)

    def outside(self) -> int:
        return outside(self.facts, self.text, self.read.file.language)


def _half(reader: RevisionReader, side: int, entry: ListedFile | None) -> _Half | None:
    if entry is None:
        return None
    data = b""
    try:
        if entry.skip is Skip.NONE:
            data = reader.data(side, entry)
    except Unreadable as error:
        entry = entry._replace(skip=Skip.UNREADABLE, note=error.reason)
    reading, text = extract.extract_bytes(reader.jobs[side], entry, data)
    if not reading.packed:
        return _Half(ReadFile(reading.file), FileFacts(), "", frozenset(), None)
    facts, file = unpack(reading.packed), reading.file
    imports = tuple((imported, waits(imported, facts.scopes)) for imported in facts.imports)
    findings = tuple(
        finding for finding in facts.findings if finding.everywhere or file.category not in ruleset.TEST_CATEGORIES
    )
    tests = frozenset(registry.language_of(file.language).tests.tests_in(facts, file.category, file.path))
    fresh = (reading.key, reading.cache_value) if reading.cache_value else None
    return _Half(ReadFile(file, imports, findings, len(facts.symbols), facts.doc.strip()), facts, text, tests, fresh)
