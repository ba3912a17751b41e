"""The full-text index beside the store: every file as a whole, and in pieces of some lines.

In: a file's text and facts, made into words by a worker (`prepared`). Out: `REPO/.concordance/text/`, indexes of
tantivy, and `IndexShard`s to ask them. Whole files have fields (path, names, documentation, text), pieces only text,
with positions for phrases. Source lies on another shelf than the rest, so that how common a word is among tests does
not count for source. A first index is written beside its place and renamed; a reader sees what was last committed.

Index and store cannot be committed in one moment. So the index notes which store it was made from and which it is made
for, and the paths that differ between them, before it is changed: a build that was killed in between is known by it,
and the next one puts these paths right. When all is written, the digests of all files are noted (`filesums`).
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
import tantivy

from concordance.base.confined_folder import remove_tree
from concordance.base.errors import StoreBroken, StoreFailed
from concordance.base.model import Category, FileFacts, Kind
from concordance.base.watchdog import watched
from concordance.facts.fulltext import words as fulltext_words
from concordance.facts.fulltext.words import WordNormalizer
from concordance.facts.integrity import checksums

SHELVES = ("source", "other")
FIELDS = ("base", "dir", "names", "docs", "body")  # split into words; "defs" and "dotted" are names as they are
PURPOSES = tuple(Category)  # a file's category is stored as a place in this list
_ON_SOURCE = frozenset((Category.SOURCE, Category.BUILD))
_UNNAMED = frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL))
_FUNCTIONS = frozenset((Kind.FUNCTION, Kind.METHOD))
# How tantivy says that an index is not as it left it, or that a build that was killed had begun to write the same.
_DAMAGED = re.compile("FileDoesNotExist|FileAlreadyExists|[Cc]orrupt|InvalidData|UnexpectedEof")
_LEFT = re.compile(r"text\.\d+(?:\.old)?\.new")  # folders of builds that were killed
_MADE = "made"  # the file in which an index says of itself what it is
_HEAP = 50_000_000  # bytes of a writer
_PACKAGE_FILES = ("__init__", "mod", "index", "lib")  # named by the folder they are in


class PreparedFile(NamedTuple):
    """A file's words."""

    base: str
    dir: str
    names: str
    defs: str
    dotted: str
    docs: str
    tests: bool  # whether most of its functions are tests, wherever it lies
    chunks: tuple[tuple[int, str], ...]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(PreparedFile)


def prepared(path: str, text: str, facts: FileFacts, words: WordNormalizer) -> bytes:
    """A file's words, packed; made by a worker, which has the text at hand. None of a file whose path is no text."""
    if not _is_text(path):
        return b""
    stem = re.sub(r"\.\w+$", "", path)
    folder, _, base = stem.rpartition("/")
    code = [symbol for symbol in facts.symbols if symbol.kind not in _UNNAMED]
    lower = [symbol.name.lower() for symbol in code]
    home = base.lower() if base.lower() not in _PACKAGE_FILES else folder.rpartition("/")[2].lower()
    parts = [part.lower() for part in stem.split("/")]
    parents = [facts.symbols[s.parent].name.lower() if s.parent >= 0 else "" for s in code]
    dotted = [f"{parent}.{name}" for parent, name in zip(parents, lower, strict=True)]
    dotted += [f"{home}.{name}" for name in lower]
    dotted += [f"{one}.{other}" for one, other in pairwise(parts)]
    docs = " ".join((facts.doc, *(symbol.doc for symbol in facts.symbols if symbol.doc)))
    row = PreparedFile(
        words.of(base), words.of(folder), words.of(" ".join(symbol.name for symbol in code)),
        _names(lower), _names(dict.fromkeys(dotted)),
        words.of(docs), _is_of_tests(facts), tuple(words.chunks(text)),
    )  # fmt: skip
    return _ENCODER.encode(row)


def _is_of_tests(facts: FileFacts) -> bool:
    functions = [symbol.name for symbol in facts.symbols if symbol.kind in _FUNCTIONS]
    return len(functions) > 1 and sum(name.lower().startswith("test") for name in functions) * 2 > len(functions)


def _is_text(path: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in path)


def _names(names: Iterable[str]) -> str:
    """Names in a row; one with a space in it, or with what is no text, is none."""
    found = " ".join(name for name in names if " " not in name)
    return found.encode("utf-8", "replace").decode()


def number(path: str) -> int:
    """A file's number in the index."""
    return int.from_bytes(hashlib.blake2b(os.fsencode(path), digest_size=8).digest(), "big") >> 1


def schema_of(pieces: bool) -> tantivy.Schema:
    """The fields of whole files, or of pieces."""
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


def opened(folder: str, pieces: bool) -> tantivy.Index:
    """An index on the disk, made where there is none."""
    os.makedirs(folder, exist_ok=True)
    index = tantivy.Index(schema_of(pieces), path=folder)
    index.register_tokenizer("words", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    return index


class TextWriter:
    """Writes the index of one build. Leave it by `finish` and `place_it`, or by `abandon`."""

    def __init__(self, folder: str, store: str | None) -> None:
        """`store` is the mark of the store that the build starts from; None where there is none."""
        self.home = os.path.join(folder, "text")
        apart = None if store is None else astray(folder, store)
        self.fresh = apart is None
        self.astray = apart or frozenset()  # the paths that must be put or removed, besides what has changed
        self._store = store or ""
        self._touched: set[str] = set()
        self.target = f"{self.home}.{os.getpid()}.new" if self.fresh else self.home
        if self.fresh:
            for left in os.listdir(folder):  # of builds that were killed
                if _LEFT.fullmatch(left):
                    remove_tree(os.path.join(folder, left))
        self._writers: dict[tuple[str, bool], tantivy.IndexWriter] = {}
        with self._guarded():
            if self.fresh:
                os.mkdir(self.target)  # fails where something is there: nothing is written through a link
            for home in ((shelf, pieces) for shelf in SHELVES for pieces in (False, True)):
                self._writers[home] = opened(_home(self.target, *home), home[1]).writer(_HEAP, 1)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Leaves the index as it was where it cannot be written, and says why."""
        try:
            yield
        except (OSError, ValueError, RuntimeError) as error:
            self.abandon()
            if not self.fresh and _DAMAGED.search(str(error)):
                with suppress(OSError):  # without it, it is no index
                    os.remove(os.path.join(self.home, _MADE))
                raise StoreBroken(f"the full-text index {self.home} is damaged: {error}", "Build again") from error
            advice = "Free some space on that disk, and build again; the last complete store is as it was"
            raise StoreFailed(f"the full-text index {self.home} could not be written: {error}", advice) from error

    def put(self, path: str, category: str, size: int, packed: bytes) -> None:
        """Adds a file, in place of what was known of it."""
        with self._guarded():
            if not self.fresh:
                self._remove(path)
            if packed:
                self._put(path, category, size, _DECODER.decode(packed))

    def _put(self, path: str, category: str, size: int, row: PreparedFile) -> None:
        purpose = Category.TEST if row.tests and category in _ON_SOURCE else Category(category)
        shelf = SHELVES[purpose not in _ON_SOURCE]
        folders, at = [path], path
        while "/" in at:
            at = at.rpartition("/")[0]
            folders.append(at)
        shared = {
            "path": path, "folder": folders, "file": number(path), "size": size, "purpose": PURPOSES.index(purpose)
        }  # fmt: skip
        whole = tantivy.Document(
            **shared, base=row.base, dir=row.dir, names=row.names, defs=row.defs, dotted=row.dotted, docs=row.docs,
            body=" ".join(words for _, words in row.chunks),
        )  # fmt: skip
        self._writers[shelf, False].add_document(whole)
        pieces = self._writers[shelf, True]
        for line, words in row.chunks:
            pieces.add_document(tantivy.Document(**shared, line=line, text=words))

    def remove(self, path: str) -> None:
        """Takes a file out."""
        with self._guarded():
            self._remove(path)

    def _remove(self, path: str) -> None:
        if _is_text(path):
            self._touched.add(path)
            for writer in self._writers.values():
                writer.delete_documents_by_term("path", path)

    def finish(self, store: str) -> None:
        """Writes all to the disk, and ends the writers' threads; `store` is the mark of the store it is made for."""
        with self._guarded(), watched(f"the full-text index {self.target} to be written"):
            _keep(self.target, _Note(_version(), "" if self.fresh else self._store, store, sorted(self._touched)))
            for writer in self._writers.values():
                writer.commit()
                writer.wait_merging_threads()
            self._writers.clear()
            checksums.note(self.target, _MADE)

    def place_it(self) -> None:
        """Makes it the index."""
        if self.fresh:
            old = f"{self.home}.{os.getpid()}.old.new"
            with suppress(FileNotFoundError):
                os.rename(self.home, old)
            os.rename(self.target, self.home)
            remove_tree(old)

    def abandon(self) -> None:
        """Leaves the index as it was."""
        for writer in self._writers.values():
            what = f"the full-text index {self.target} to be left as it was"
            with suppress(ValueError, RuntimeError), watched(what):  # RuntimeError: it had already ended
                writer.rollback()
        self._writers.clear()
        if self.fresh:
            remove_tree(self.target)


def _home(place: str, shelf: str, pieces: bool) -> str:
    return os.path.join(place, shelf, "pieces" if pieces else "files")


class _Note(NamedTuple):
    """What an index says of itself."""

    version: str  # of the program that made it
    before: str  # the mark of the store that it was made from, "" where all of it was made anew …
    after: str  # … and of the one that it is made for
    paths: list[str]  # in what it may differ from either, until the latter is the store


def _keep(place: str, note: _Note) -> None:
    checksums.write_record(os.path.join(place, _MADE), note, durable=True)


def _note(folder: str) -> _Note | None:
    """What the index says of itself; None where there is none that is as this program made it."""
    place = os.path.join(folder, "text")
    homes: Iterable[str] = (_home(place, shelf, pieces) for shelf in SHELVES for pieces in (False, True))
    note = checksums.read_record(os.path.join(place, _MADE), _Note)
    if note is None or note.version != _version() or _has_links(place):
        return None
    there = all(os.path.isfile(os.path.join(home, "meta.json")) for home in homes)
    return note if there and not checksums.damaged(place, _MADE) else None


def damaged(folder: str) -> list[str]:
    """The files of an index that are not as they were written; all are read."""
    place = os.path.join(folder, "text")
    if checksums.read_record(os.path.join(place, _MADE), _Note) is None:
        return [_MADE]
    return checksums.damaged(place, _MADE, trusting=False)


def _has_links(place: str) -> bool:
    """Whether anything of an index leads elsewhere: a repository may come with one of its own making."""
    tops = os.walk(place)
    return os.path.islink(place) or any(
        os.path.islink(os.path.join(top, name)) for top, folders, names in tops for name in (*folders, *names)
    )


def is_whole(folder: str) -> bool:
    """Whether there is an index that can be read, made as this program makes it."""
    return _note(folder) is not None


def astray(folder: str, store: str) -> frozenset[str] | None:
    """The paths in which the index may say another thing than the store of a mark; None where it may in all of them."""
    note = _note(folder)
    if note is None or store not in (note.before, note.after) or not store:
        return None
    return frozenset(note.paths if note.after != store else ())  # the build that it was made for was stopped


@cache
def _version() -> str:
    """Changes with the code that makes words and writes them: no number that somebody has to raise."""
    digest = hashlib.sha256(version("tantivy").encode())
    for path in (__file__, fulltext_words.__file__):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:24]


# --- reading


class FieldQuery(NamedTuple):
    """Some words of a question, to be found in a field."""

    field: str
    words: tuple[str, ...]  # several are a phrase: in this order, with at most one other between
    weight: float
    flat: bool = False  # whether the weight is the score, however often and wherever they stand


class FileFound(NamedTuple):
    """A file that has some of what is wanted."""

    number: int
    size: int
    purpose: Category
    score: float
    at: Any  # where its path is


class PieceFound(NamedTuple):
    """A stretch of a file's lines that has some of what is wanted."""

    number: int
    line: int  # its first
    score: float
    at: Any


class IndexShard:
    """One shelf, open for reading."""

    def __init__(self, home: str) -> None:
        try:
            self._files = tantivy.Index.open(os.path.join(home, "files")).searcher()
            self._pieces = tantivy.Index.open(os.path.join(home, "pieces")).searcher()
        except (OSError, ValueError) as error:
            advice = "Remove that folder and build again: concord build"
            raise StoreBroken(f"the text index {home} is damaged: {error}", advice) from error
        self._schemas = schema_of(False), schema_of(True)
        self.count = self._files.num_docs

    def rare(self, field: str, word: str) -> float:
        """How much a word in a field tells: the fewer have it, the more; 0 where none has."""
        searcher = self._pieces if field == "text" else self._files
        have = searcher.doc_freq(field, word)
        return math.log(1 + (searcher.num_docs - have + 0.5) / (have + 0.5)) if have else 0.0

    def files(self, wanted: list[FieldQuery], folder: str, most: int) -> list[FileFound]:
        """The files that have most of what is wanted, below a folder."""
        found = self._searched(False, wanted, folder, most)
        places = [at for _, at in found]
        numbers, sizes, purposes = (self._files.fast_field_values(f, places) for f in ("file", "size", "purpose"))
        rows = zip(numbers, sizes, purposes, found, strict=True)
        return [FileFound(int(n or 0), int(s or 0), PURPOSES[int(p or 0)], score, at) for n, s, p, (score, at) in rows]

    def pieces(self, wanted: list[FieldQuery], folder: str, most: int) -> list[PieceFound]:
        """The stretches of lines that have most of what is wanted, below a folder."""
        found = self._searched(True, wanted, folder, most)
        places = [at for _, at in found]
        numbers, lines = (self._pieces.fast_field_values(f, places) for f in ("file", "line"))
        rows = zip(numbers, lines, found, strict=True)
        return [PieceFound(int(number or 0), int(line or 1), score, at) for number, line, (score, at) in rows]

    def path(self, found: FileFound | PieceFound) -> str:
        """The path of a file that was found."""
        searcher = self._files if isinstance(found, FileFound) else self._pieces
        return str(searcher.doc(found.at)["path"][0])

    def _searched(self, pieces: bool, wanted: list[FieldQuery], folder: str, most: int) -> list[tuple[float, Any]]:
        schema = self._schemas[pieces]
        if not wanted or not self.count:
            return []
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, _query(schema, one)) for one in wanted])
        if folder:
            within = tantivy.Query.const_score_query(tantivy.Query.term_query(schema, "folder", folder), 0.0)
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, within)])
        hits: list[tuple[float, Any]] = (self._pieces if pieces else self._files).search(query, most, count=False).hits
        return hits


def _query(schema: tantivy.Schema, wanted: FieldQuery) -> tantivy.Query:
    if len(wanted.words) == 1:
        query = tantivy.Query.term_query(schema, wanted.field, wanted.words[0], "freq")
    else:
        query = tantivy.Query.phrase_query(schema, wanted.field, list(wanted.words), 1)
    return (tantivy.Query.const_score_query if wanted.flat else tantivy.Query.boost_query)(query, wanted.weight)


def shelves(folder: str) -> list[IndexShard]:
    """The index, open for reading; none where there is none."""
    place = os.path.join(folder, "text")
    if is_whole(folder):
        return [IndexShard(os.path.join(place, shelf)) for shelf in SHELVES]
    if os.path.lexists(place):
        raise StoreBroken(f"the text index {place} is damaged", "Build again, which makes it anew: concord build")
    return []
