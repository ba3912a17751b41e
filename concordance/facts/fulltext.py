"""The full-text index beside the store: every file as a whole, and in pieces of some lines.

In: a file's text and facts, made into words by a worker (`prepared`). Out: `REPO/.concordance/text/`, an index of
tantivy. Whole files have fields (path, names, documentation, text), pieces only text, with positions for
phrases. Source lies on another shelf than the rest, so that how common a word is among tests does not
count for source. A first index is written beside its place and renamed; a reader sees what was last committed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import NamedTuple

import msgspec
import tantivy

from concordance.errors import StoreFailed
from concordance.model import Category, FileFacts

from .textwords import Words

SHELVES = ("source", "other")
FIELDS = ("base", "dir", "names", "docs", "body")  # split into words; "defs" and "dotted" are names as they are
_ON_SOURCE = frozenset((Category.SOURCE, Category.BUILD))
_UNNAMED = frozenset(("heading", "key", "label"))
_TRIES = 40
_HEAP = 50_000_000  # bytes of a writer
_PACKAGE_FILES = ("__init__", "mod", "index", "lib")  # named by the folder they are in


class Prepared(NamedTuple):
    """A file's words."""

    base: str
    dir: str
    names: str
    defs: str
    dotted: str
    docs: str
    chunks: tuple[tuple[int, str], ...]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Prepared)


def prepared(path: str, text: str, facts: FileFacts, words: Words) -> bytes:
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
    row = Prepared(
        words.of(base), words.of(folder), words.of(" ".join(symbol.name for symbol in code)),
        _names(lower), _names(dict.fromkeys(dotted)),
        words.of(docs), tuple(words.chunks(text)),
    )  # fmt: skip
    return _ENCODER.encode(row)


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

    def __init__(self, folder: str, fresh: bool) -> None:
        self.home = os.path.join(folder, "text")
        self.fresh = fresh or not is_whole(folder)
        self.target = f"{self.home}.{os.getpid()}.new" if self.fresh else self.home
        if self.fresh:
            for left in os.listdir(folder):  # of builds that were killed
                if left.startswith("text.") and left.endswith(".new"):
                    shutil.rmtree(os.path.join(folder, left), ignore_errors=True)
        homes = [(shelf, pieces) for shelf in SHELVES for pieces in (False, True)]
        self._writers: dict[tuple[str, bool], tantivy.IndexWriter] = {}
        with self._guarded():
            for home in homes:
                self._writers[home] = opened(_home(self.target, *home), home[1]).writer(_HEAP, 1)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Leaves the index as it was where it cannot be written, and says why."""
        try:
            yield
        except (OSError, ValueError, RuntimeError) as error:
            self.abandon()
            advice = "Free some space on that disk, and build again; the last complete store is as it was"
            raise StoreFailed(f"the full-text index {self.home} could not be written: {error}", advice) from error

    def put(self, path: str, category: str, size: int, packed: bytes) -> None:
        """Adds a file, in place of what was known of it."""
        if not self.fresh:
            self.remove(path)
        if not packed:
            return
        row = _DECODER.decode(packed)
        shelf = SHELVES[category not in _ON_SOURCE]
        folders, at = [path], path
        while "/" in at:
            at = at.rpartition("/")[0]
            folders.append(at)
        shared = {"path": path, "folder": folders, "file": number(path), "size": size}
        whole = tantivy.Document(
            **shared, base=row.base, dir=row.dir, names=row.names, defs=row.defs, dotted=row.dotted, docs=row.docs,
            body=" ".join(words for _, words in row.chunks),
        )  # fmt: skip
        with self._guarded():
            self._writers[shelf, False].add_document(whole)
            pieces = self._writers[shelf, True]
            for line, words in row.chunks:
                pieces.add_document(tantivy.Document(**shared, line=line, text=words))

    def remove(self, path: str) -> None:
        """Takes a file out."""
        for writer in self._writers.values() if _is_text(path) else ():
            writer.delete_documents_by_term("path", path)

    def finish(self) -> None:
        """Writes all to the disk, and ends the writers' threads."""
        with self._guarded():
            for writer in self._writers.values():
                writer.commit()
                writer.wait_merging_threads()
        self._writers.clear()

    def place_it(self) -> None:
        """Makes it the index."""
        if self.fresh:
            old = f"{self.home}.{os.getpid()}.old.new"
            with suppress(FileNotFoundError):
                os.rename(self.home, old)
            os.rename(self.target, self.home)
            shutil.rmtree(old, ignore_errors=True)

    def abandon(self) -> None:
        """Leaves the index as it was."""
        for writer in self._writers.values():
            with suppress(ValueError, RuntimeError, OSError):
                writer.rollback()
        self._writers.clear()
        for _ in range(_TRIES if self.fresh else 0):
            shutil.rmtree(self.target, ignore_errors=True)
            if not os.path.lexists(self.target):
                return
            time.sleep(0.05)  # a writer's thread is at its last file


def _home(place: str, shelf: str, pieces: bool) -> str:
    return os.path.join(place, shelf, "pieces" if pieces else "files")


def is_whole(folder: str) -> bool:
    """Whether there is an index that can be read."""
    place = os.path.join(folder, "text")
    homes: Iterable[str] = (_home(place, shelf, pieces) for shelf in SHELVES for pieces in (False, True))
    return not os.path.islink(place) and all(os.path.isfile(os.path.join(home, "meta.json")) for home in homes)


class Shelf(NamedTuple):
    """One shelf, open for reading."""

    files: tantivy.Searcher
    pieces: tantivy.Searcher
    file_schema: tantivy.Schema
    piece_schema: tantivy.Schema


def shelves(folder: str) -> list[Shelf]:
    """The index, open for reading; none where there is none."""
    if not is_whole(folder):
        return []
    place = os.path.join(folder, "text")
    found = []
    for shelf in SHELVES:
        files, pieces = (opened(_home(place, shelf, one), one) for one in (False, True))
        found.append(Shelf(files.searcher(), pieces.searcher(), schema_of(False), schema_of(True)))
    return found
