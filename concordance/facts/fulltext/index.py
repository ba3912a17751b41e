"""The full-text index next to the store: every file as a whole, and in pieces of some lines.

In: a file's text and facts, split into words by a worker (`file_words`). Out: `REPO/.concordance/text/`, which holds
tantivy indexes, and `IndexShard`s to query them. Whole files have fields (path, names, documentation, text); pieces
have only text, with positions for phrases. Source is in a shard of its own, so that the frequency of a word in tests
does not affect its weight in source. A first index is written next to its place and
renamed; a reader sees what was last committed.

Index and store cannot be committed at the same moment. So before the index is changed, it records which store it was
made from, which one it is made for, and the paths that differ between them: this reveals a build that was killed in
between, and the next build updates those paths. When everything is written, the digests of all files are recorded
(`checksums`).
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, NamedTuple

import msgspec
import tantivy

from concordance.base.confined_folder import remove_tree
from concordance.base.errors import StoreBroken, StoreFailed
from concordance.base.model import Category
from concordance.facts.fulltext import file_words
from concordance.facts.fulltext import words as fulltext_words
from concordance.facts.fulltext.file_words import PreparedFile, decode_prepared, is_text
from concordance.facts.integrity import checksums

SHARDS = ("source", "other")
FIELDS = ("base", "dir", "names", "docs", "body")  # split into words; "defs" and "dotted" hold unsplit names
PURPOSES = tuple(Category)  # a file's category is stored as an index into this list
_ON_SOURCE = frozenset((Category.SOURCE, Category.BUILD))
# Messages of tantivy if files of an index are missing, damaged, or left by a killed build.
_DAMAGED = re.compile("FileDoesNotExist|FileAlreadyExists|[Cc]orrupt|InvalidData|UnexpectedEof")
_ABANDONED = re.compile(r"text\.\d+(?:\.old)?\.new")  # folders left by killed builds
_DESCRIPTION_FILE = "made"  # the file in which an index describes itself
_HEAP = 50_000_000  # bytes of memory for a writer
# tantivy merges an index as soon as it has this many segments with at most this many documents each.
_MERGED_SEGMENTS, _SMALL_SEGMENT = 8, 10_000
_MAX_SIMILAR = 8  # files of each shard that define a similar name
_FILLER = "\0"  # the path of a document that only makes a segment


def number(path: str) -> int:
    """Return a file's number in the index."""
    return int.from_bytes(hashlib.blake2b(os.fsencode(path), digest_size=8).digest(), "big") >> 1


def schema_of(pieces: bool) -> tantivy.Schema:
    """Return the schema for whole files, or for pieces."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("path", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("folder", tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("file", fast=True)
    builder.add_integer_field("size", fast=True)
    builder.add_integer_field("purpose", fast=True)
    if pieces:
        builder.add_integer_field("line", fast=True)
        builder.add_text_field("text", tokenizer_name="words", index_option="position")
    else:
        for field in (*FIELDS, "defs", "dotted"):
            builder.add_text_field(field, tokenizer_name="words", index_option="freq")
    return builder.build()


def _utf8_path(path: str) -> str:
    """Return a path as the library takes it: in UTF-8, whatever the locale is; a store has no other path."""
    return os.fsencode(path).decode()


def open_index(folder: str, pieces: bool) -> tantivy.Index:
    """Open an index on disk; create it if there is none."""
    os.makedirs(folder, exist_ok=True)
    index = tantivy.Index(schema_of(pieces), path=_utf8_path(folder))
    index.register_tokenizer("words", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    return index


class TextWriter:
    """Writes the index of one build. End it with `finish` and `place_it`, or with `abandon`."""

    def __init__(self, folder: str, store: str | None) -> None:
        """`store` identifies the store that the build starts from; None if there is none."""
        self.folder = os.path.join(folder, "text")
        self.is_new = store is None or outdated_paths(folder, store) is None
        self._store = store or ""
        self._changed_paths: set[str] = set()
        self.target = f"{self.folder}.{os.getpid()}.new" if self.is_new else self.folder
        if self.is_new:
            for left in os.listdir(folder):  # left by killed builds
                if _ABANDONED.fullmatch(left):
                    remove_tree(os.path.join(folder, left))
        self._writers: dict[tuple[str, bool], tantivy.IndexWriter] = {}
        with self._guarded():
            if self.is_new:
                os.mkdir(self.target)  # fails if something is there: nothing is written through a link
            for shard_key in ((shard, pieces) for shard in SHARDS for pieces in (False, True)):
                self._writers[shard_key] = open_index(_shard_folder(self.target, *shard_key), shard_key[1]).writer(
                    _HEAP, 1
                )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Abandon the build if the index cannot be written, and raise an error that says why."""
        try:
            yield
        except (OSError, ValueError, RuntimeError) as error:
            self.abandon()
            if not self.is_new and _DAMAGED.search(str(error)):
                with suppress(OSError):  # without this file it is not an index
                    os.remove(os.path.join(self.folder, _DESCRIPTION_FILE))
                raise StoreBroken(f"the full-text index {self.folder} is damaged: {error}", "Build again") from error
            advice = "Free some space on that disk, and build again; the last complete store is unchanged"
            raise StoreFailed(f"the full-text index {self.folder} could not be written: {error}", advice) from error

    def put(self, path: str, category: str, size: int, packed: bytes) -> None:
        """Add a file, replacing what was indexed for it."""
        with self._guarded():
            if not self.is_new:
                self._remove(path)
            if packed:
                self._put(path, category, size, decode_prepared(packed))

    def _put(self, path: str, category: str, size: int, row: PreparedFile) -> None:
        purpose = Category.TEST if row.tests and category in _ON_SOURCE else Category(category)
        shard = SHARDS[purpose not in _ON_SOURCE]
        folders, at, content = [path], path, row.content
        while "/" in at:
            at = at.rpartition("/")[0]
            folders.append(at)
        shared = {
            "path": path, "folder": folders, "file": number(path), "size": size, "purpose": PURPOSES.index(purpose)
        }  # fmt: skip
        whole = tantivy.Document(
            **shared, base=row.base, dir=row.dir, names=content.names, defs=row.defs, dotted=row.dotted,
            docs=content.docs, body=" ".join(words for _, words in content.chunks),
        )  # fmt: skip
        self._writers[shard, False].add_document(whole)
        pieces = self._writers[shard, True]
        for line, words in content.chunks:
            pieces.add_document(tantivy.Document(**shared, line=line, text=words))

    def remove(self, path: str) -> None:
        """Remove a file."""
        with self._guarded():
            self._remove(path)

    def _remove(self, path: str) -> None:
        if is_text(path):
            self._changed_paths.add(path)
            for writer in self._writers.values():
                writer.delete_documents_by_term("path", path)

    def finish(self, store: str) -> None:
        """Write everything to disk and end the writers' threads; `store` identifies the store that it is made for."""
        with self._guarded(), watch_call(f"the full-text index {self.target} to be written"):
            _write_note(
                self.target, _Note(_version(), "" if self.is_new else self._store, store, sorted(self._changed_paths))
            )
            with ThreadPoolExecutor(len(self._writers)) as threads:  # tantivy works without the interpreter's lock
                list(threads.map(_end_writer, self._writers.values()))
            self._writers.clear()
            checksums.note_files(self.target, _DESCRIPTION_FILE)

    def place_it(self) -> None:
        """Make this the index."""
        if self.is_new:
            old = f"{self.folder}.{os.getpid()}.old.new"
            with suppress(FileNotFoundError):
                os.rename(self.folder, old)
            os.rename(self.target, self.folder)
            remove_tree(old)

    def abandon(self) -> None:
        """Discard this build; the index stays unchanged."""
        for writer in self._writers.values():
            what = f"the full-text index {self.target} to be rolled back"
            with suppress(ValueError, RuntimeError), watch_call(what):  # RuntimeError: it had already ended
                writer.rollback()
        self._writers.clear()
        if self.is_new:
            remove_tree(self.target)


def _end_writer(writer: tantivy.IndexWriter) -> None:
    """Write what was added to disk, and wait until the writer's threads have ended."""
    writer.commit()
    writer.wait_merging_threads()


class _Segment(msgspec.Struct):
    """A segment of an index, as tantivy lists it."""

    max_doc: int  # the number of its documents, including deleted ones


class _IndexMeta(msgspec.Struct):
    """The part of tantivy's `meta.json` that is read here."""

    segments: list[_Segment]


def merge_in_advance(folder: str) -> None:
    """Merge the segments that the next update would have to merge, which takes a second for some thousand files.

    Call this while nobody is waiting. The caller must hold the lock of the store.
    """
    note = _note(folder)
    place = os.path.join(folder, "text")
    due = [
        index_folder for index_folder in _index_folders(place) if note is not None and _is_merge_due(index_folder[0])
    ]
    if note is None or not due:
        return
    with watch_call(f"the full-text index {place} to be merged"):
        _write_note(place, note._replace(before=note.after, paths=[]))  # if this is killed, the index is still usable
        for index_folder, pieces in due:
            for fill in (True, False):
                writer = open_index(index_folder, pieces).writer(_HEAP, 1)
                if fill:
                    writer.add_document(tantivy.Document(path=_FILLER))
                else:
                    writer.delete_documents_by_term("path", _FILLER)
                _end_writer(writer)
        checksums.note_files(place, _DESCRIPTION_FILE)


def _is_merge_due(index_folder: str) -> bool:
    """True if the next commit of an index would start to merge it."""
    with open(os.path.join(index_folder, "meta.json"), "rb") as file:
        meta = msgspec.json.decode(file.read(), type=_IndexMeta)
    return sum(segment.max_doc <= _SMALL_SEGMENT for segment in meta.segments) == _MERGED_SEGMENTS - 1


def _index_folders(place: str) -> list[tuple[str, bool]]:
    """Return the folders of all indexes, and whether each is of pieces."""
    return [(_shard_folder(place, shard, pieces), pieces) for shard in SHARDS for pieces in (False, True)]


def _shard_folder(place: str, shard: str, pieces: bool) -> str:
    return os.path.join(place, shard, "pieces" if pieces else "files")


class _Note(NamedTuple):
    """An index's description of itself."""

    version: str  # of the program that made it
    before: str  # identifies the store that it was made from, "" if the index is new …
    after: str  # … and the store that it is made for
    paths: list[str]  # paths in which it may differ from either, until the latter is the store


def _write_note(place: str, note: _Note) -> None:
    checksums.write_record(os.path.join(place, _DESCRIPTION_FILE), note, durable=True)


def _note(folder: str) -> _Note | None:
    """Return the index's description of itself; None if there is no intact index made by this program version."""
    place = os.path.join(folder, "text")
    note = checksums.read_record(os.path.join(place, _DESCRIPTION_FILE), _Note)
    if note is None or note.version != _version() or _has_links(place):
        return None
    is_complete = all(
        os.path.isfile(os.path.join(index_folder, "meta.json")) for index_folder, _ in _index_folders(place)
    )
    return note if is_complete and not checksums.damaged_files(place, _DESCRIPTION_FILE) else None


def damaged_index_files(folder: str) -> list[str]:
    """Return the files of an index that do not match their checksums; reads all of them."""
    place = os.path.join(folder, "text")
    if checksums.read_record(os.path.join(place, _DESCRIPTION_FILE), _Note) is None:
        return [_DESCRIPTION_FILE]
    return checksums.damaged_files(place, _DESCRIPTION_FILE, trusting=False)


def _has_links(place: str) -> bool:
    """True if an index contains a link: a repository may contain an index that somebody else made."""
    tops = os.walk(place)
    return os.path.islink(place) or any(
        os.path.islink(os.path.join(top, name)) for top, folders, names in tops for name in (*folders, *names)
    )


def is_intact(folder: str) -> bool:
    """True if there is an intact index, made by this program version."""
    return _note(folder) is not None


def outdated_paths(folder: str, store: str) -> frozenset[str] | None:
    """Return the paths in which the index may differ from a store; None if it may differ in any."""
    note = _note(folder)
    if note is None or store not in (note.before, note.after) or not store:
        return None
    return frozenset(note.paths if note.after != store else ())  # the build that it was made for was stopped


@cache
def _version() -> str:
    """Changes with the code that makes and writes words, so that nobody has to increase a number."""
    digest = hashlib.sha256(tantivy.tantivy.__version__.encode())
    for path in (__file__, file_words.__file__, fulltext_words.__file__):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:24]


# --- reading


class FieldQuery(NamedTuple):
    """Some words to be found in a field."""

    field: str
    words: tuple[str, ...]  # several are a phrase: in this order, with at most one other word between them
    weight: float
    flat: bool = False  # True if the weight is the score, however often and wherever they occur


class FileHit(NamedTuple):
    """A file that matches a query."""

    number: int
    size: int
    purpose: Category
    score: float
    at: Any  # the position of its document


class PieceHit(NamedTuple):
    """A range of lines that matches a query."""

    number: int
    line: int  # its first line
    score: float
    at: Any


class IndexShard:
    """One shard of the index, open for reading."""

    def __init__(self, folder: str) -> None:
        try:
            self._files, self._pieces = (
                tantivy.Index.open(_utf8_path(os.path.join(folder, part))).searcher() for part in ("files", "pieces")
            )
        except (OSError, ValueError) as error:
            advice = "Remove that folder and build again: concord build"
            raise StoreBroken(f"the text index {folder} is damaged: {error}", advice) from error
        self._schemas = schema_of(False), schema_of(True)
        self.count = self._files.num_docs

    def rare(self, field: str, word: str) -> float:
        """Return how specific a word in a field is: the fewer documents contain it, the higher; 0 if none does."""
        searcher = self._pieces if field == "text" else self._files
        have = searcher.doc_freq(field, word)
        return math.log(1 + (searcher.num_docs - have + 0.5) / (have + 0.5)) if have else 0.0

    def files(self, queries: list[FieldQuery], folder: str, limit: int) -> list[FileHit]:
        """Return the best matching files below a folder."""
        hits = self._searched(False, queries, folder, limit)
        places = [at for _, at in hits]
        numbers, sizes, purposes = (self._files.fast_field_values(f, places) for f in ("file", "size", "purpose"))
        rows = zip(numbers, sizes, purposes, hits, strict=True)
        return [FileHit(int(n or 0), int(s or 0), PURPOSES[int(p or 0)], score, at) for n, s, p, (score, at) in rows]

    def pieces(self, queries: list[FieldQuery], folder: str, limit: int) -> list[PieceHit]:
        """Return the best matching ranges of lines below a folder."""
        hits = self._searched(True, queries, folder, limit)
        places = [at for _, at in hits]
        numbers, lines = (self._pieces.fast_field_values(f, places) for f in ("file", "line"))
        rows = zip(numbers, lines, hits, strict=True)
        return [PieceHit(int(number or 0), int(line or 1), score, at) for number, line, (score, at) in rows]

    def paths_with_similar(self, field: str, word: str, distance: int, limit: int) -> list[str]:
        """Return files that have a word with up to `distance` wrong letters in a field, best first."""
        if not self.count:
            return []
        query = tantivy.Query.fuzzy_term_query(self._schemas[0], field, word, distance, True, False)
        return [str(self._files.doc(at)["path"][0]) for _, at in self._files.search(query, limit, count=False).hits]

    def path(self, hit: FileHit | PieceHit) -> str:
        """Return the path of a file that was found."""
        searcher = self._files if isinstance(hit, FileHit) else self._pieces
        return str(searcher.doc(hit.at)["path"][0])

    def _searched(self, pieces: bool, queries: list[FieldQuery], folder: str, limit: int) -> list[tuple[float, Any]]:
        schema = self._schemas[pieces]
        if not queries or not self.count:
            return []
        query = tantivy.Query.boolean_query(
            [(tantivy.Occur.Should, _query(schema, field_query)) for field_query in queries]
        )
        if folder:
            within = tantivy.Query.const_score_query(tantivy.Query.term_query(schema, "folder", folder), 0.0)
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, within)])
        hits: list[tuple[float, Any]] = (self._pieces if pieces else self._files).search(query, limit, count=False).hits
        return hits


def _query(schema: tantivy.Schema, part: FieldQuery) -> tantivy.Query:
    if len(part.words) == 1:
        query = tantivy.Query.term_query(schema, part.field, part.words[0], "freq")
    else:
        query = tantivy.Query.phrase_query(schema, part.field, list(part.words), 1)
    return (tantivy.Query.const_score_query if part.flat else tantivy.Query.boost_query)(query, part.weight)


def open_shards(folder: str) -> list[IndexShard]:
    """Open the index for reading; an empty list if there is none."""
    place = os.path.join(folder, "text")
    if is_intact(folder):
        return [IndexShard(os.path.join(place, shard)) for shard in SHARDS]
    if os.path.lexists(place):
        what = f"the text index {place} is damaged, or was written by another version of Concordance"
        raise StoreBroken(what, "Rebuild it with: concord build")
    return []


def files_with_similar(shards: list[IndexShard], name: str, field: str = "defs") -> list[str]:
    """Return some of the files that define a name within a wrong letter or two, nearest first, or that have it in
    another field.

    The index finds them in a fraction of a millisecond; comparing all names of a large repository takes a tenth of a
    second.
    """
    for distance in (1, 2) if len(name) >= 8 else (1,) if len(name) >= 4 else ():
        similar = [
            path for shard in shards for path in shard.paths_with_similar(field, name.lower(), distance, _MAX_SIMILAR)
        ]
        if similar:
            return list(dict.fromkeys(similar))
    return []


# --- watch calls into native libraries, which cannot be interrupted
# In: a description of what is being waited for. Out: nothing if the call returns in time. Otherwise a message says what
# is being waited for, and after a long time the program is ended with a message: only `kill -9` could end it otherwise,
# and the store is designed to survive that. The watching thread ends with the call, so that the process may fork again.


NOTICE = 60.0  # seconds between two notices
LIMIT = 1800.0  # seconds after which the program is ended


@contextmanager
def watch_call(task: str, notice: float = NOTICE, limit: float = LIMIT) -> Iterator[None]:
    """Watch the call that is made in the block."""
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(task, done, notice, limit), name="watchdog", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(task: str, done: threading.Event, notice: float, limit: float) -> None:
    waited = 0.0
    while not done.wait(notice):
        waited += notice
        if waited >= limit:
            _write_stderr(
                f"concord: gave up waiting for {task} after {waited:,.0f} s; the last complete store is unchanged"
            )
            os._exit(1)
        _write_stderr(f"still waiting for {task} after {waited:,.0f} s")


def _write_stderr(line: str) -> None:
    """Write a line to standard error by a direct system call: the main thread may hold any lock."""
    with suppress(OSError):
        os.write(2, f"{line}\n".encode("utf-8", "backslashreplace"))
