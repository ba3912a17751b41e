"""The extract stage, as run by one worker on one batch of files.

In: entries of the walk. Out: `ExtractedFile`s, ready for the writer. A worker opens each file once: language, category
and encoding are detected from the same bytes that are then parsed. The results are bytes and plain rows, which are
cheap to send between processes.
"""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import threading
from contextlib import suppress
from functools import cache
from typing import NamedTuple, Protocol

import msgspec

from concordance.base import forks
from concordance.base.config import Config
from concordance.base.errors import Unreadable
from concordance.base.model import File, FileFacts, Finding, Form, ListedFile, Severity, Skip
from concordance.collect import walk
from concordance.collect.classify import Classifier
from concordance.extract import engine, registry
from concordance.extract.cfamily import macros
from concordance.facts.cache import Cache, CachedFile, CachedFileDecoder, encode_cached_file
from concordance.facts.codec import pack, unpack
from concordance.facts.fulltext.file_words import check_content_words, content_words, prepare_file
from concordance.facts.fulltext.words import WordNormalizer
from concordance.facts.records import ExtractedFile


class Job(NamedTuple):
    """The settings of a build, which all its batches share."""

    root: str
    config: Config
    cache_folder: str  # "" to use no cache
    readers: str  # version of all code that extracts facts
    headers: str  # language of headers that could be of several
    scratch: str  # this build's temporary folder: the macros, and the file that each worker is reading
    shared_cache: str = ""  # address of a cache that several machines share


class FreshFacts(NamedTuple):
    """Facts that this build has extracted."""

    digest: str  # of the file's content
    key: bytes
    size: int  # of the file


GIVEN_UP = "given up: "  # begins the note of a file that is not tried again before it changes


def start(memory: int) -> None:
    """Turn a process into a worker: interrupts are left to the parent, and garbage collection is switched off."""
    forks.ignore_terminal_signals()
    forks.kill_with_parent(os.getppid())
    threading.Thread(target=forks.exit_with_parent, daemon=True).start()  # its parent may be a fork server
    forks.limit_memory(forks.memory_limit(memory))
    gc.disable()


def has_digest(root: str, entry: ListedFile, digest: str) -> bool:
    """True if a file still has the content with this digest."""
    return bool(digest) and _digest(root, entry) == digest


def _digest(root: str, entry: ListedFile) -> str:
    """Return the digest of a file as it is now; "" if it cannot be read."""
    now = hashlib.sha256()
    try:
        for piece in walk.read_in_pieces(root, entry):
            now.update(piece)
    except Unreadable:
        return ""
    return now.hexdigest()


class FactsByKey(Protocol):
    """Facts that were extracted earlier: the cache, or those that were sent along with a file."""

    def get(self, key: bytes) -> bytes | None:
        """Return the facts of a key; None if there are none."""


class ExtractState(NamedTuple):
    """What a worker keeps from batch to batch."""

    classifier: Classifier
    cache: FactsByKey
    macros: macros.Macros
    with_macros: frozenset[str]
    words: WordNormalizer  # normalised words that this worker has met
    decoder: CachedFileDecoder
    note: int = -1  # descriptor of the file that names what this worker is reading


def extract_state(job: Job, cache: FactsByKey, table: macros.Macros) -> ExtractState:
    """Return the state of a worker that has read nothing yet."""
    with_macros = frozenset(language.name for language in registry.languages() if language.has_macros)
    return ExtractState(_classifier(job), cache, table, with_macros, WordNormalizer(), CachedFileDecoder())


def _classifier(job: Job) -> Classifier:
    return Classifier(registry.languages(), job.config.largest, job.headers, job.config.categories)


@cache
def _worker_state(job: Job) -> ExtractState:
    """Return the state of this worker; it ends with the worker."""
    with open(os.path.join(job.scratch, "macros"), "rb") as file:
        table: macros.Macros = pickle.load(file)  # noqa: S301 (this build's own temporary file)
    note = os.open(_note_of(job.scratch, os.getpid()), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
    return extract_state(job, Cache(job.cache_folder, job.config.cache_bytes), table)._replace(note=note)


def save_macros(scratch: str, table: macros.Macros) -> None:
    """Write the macros where workers find them; sending the table with each batch would cost more."""
    with open(os.path.join(scratch, "macros"), "wb") as file:
        pickle.dump(table, file)


def _note_of(scratch: str, worker: int) -> str:
    return os.path.join(scratch, f"worker-{worker}")


def last_path(scratch: str, worker: int) -> str:
    """Return the path that a worker was reading when it died; "" if there was none."""
    try:
        with open(_note_of(scratch, worker), "rb") as file:
            return os.fsdecode(file.read().partition(b"\0")[0])
    except FileNotFoundError:
        return ""


def learn_macros(job: Job, entries: list[ListedFile]) -> list[tuple[str, macros.MacroDefinitions]]:
    """Return the macros that the given files define."""
    learned = []
    for entry in entries:
        try:
            learned.append(
                (entry.path, macros.read_defines(walk.read(job.root, entry, job.config.largest), entry.path))
            )
        except Unreadable:
            continue  # reading it as a file reports why
    return learned


def extract_files(job: Job, entries: list[ListedFile]) -> list[ExtractedFile]:
    """Extract the facts of the given files."""
    state = _worker_state(job)
    return [_extract_one(job, state, entry) for entry in entries]


def failed_file(job: Job, entry: ListedFile, reason: str) -> ExtractedFile:
    """Return the entry of a file whose extraction crashed its worker or did not end."""
    form = _classifier(job).unread(entry.path, Skip.UNREADABLE, GIVEN_UP + reason)
    return _skipped_file(entry, form, _digest(job.root, entry))  # so that the next build recognises it


def _extract_one(job: Job, state: ExtractState, entry: ListedFile) -> ExtractedFile:
    with suppress(OSError):  # a full disk: this is only needed for a message
        os.pwrite(state.note, os.fsencode(entry.path) + b"\0", 0)
    data = read_file(job, state.classifier, entry)
    return data if isinstance(data, ExtractedFile) else extract_content(job, state, entry, data)


def read_file(job: Job, classifier: Classifier, entry: ListedFile) -> bytes | ExtractedFile:
    """Return the bytes of a file, or its entry if it is not parsed."""
    if entry.skip is not Skip.NONE:
        return _skipped_file(entry, classifier.unread(entry.path, entry.skip, entry.note), "")
    try:
        if entry.size > classifier.largest:
            return _unparsed_file(job, classifier, entry)
        data = walk.read(job.root, entry, classifier.largest + 1)
        if len(data) > classifier.largest:  # it has grown since the walk
            return _unparsed_file(job, classifier, entry)
    except Unreadable as error:
        return _skipped_file(entry, classifier.unread(entry.path, Skip.UNREADABLE, error.reason), "")
    return data


def extract_content(job: Job, state: ExtractState, entry: ListedFile, data: bytes) -> ExtractedFile:
    """Return what is extracted from a file's bytes."""
    return _extract_data(job, state, entry, data)[0]


def cached_facts(job: Job, state: ExtractState, entry: ListedFile, data: bytes) -> bytes:
    """Return the facts that the cache has of a file's bytes; empty if it has none."""
    form, _ = state.classifier.read_text(entry.path, data)
    if form.skip is not Skip.NONE:
        return b""
    digest = hashlib.sha256(data).hexdigest()
    return state.cache.get(_facts_key(job, form, digest, _macros_used(state, form, data))) or b""


def extract_bytes(job: Job, entry: ListedFile, data: bytes) -> tuple[ExtractedFile, str]:
    """Return what is extracted from given bytes, for example of a revision, and their text."""
    state = _worker_state(job)
    if entry.skip is not Skip.NONE:
        return _skipped_file(entry, state.classifier.unread(entry.path, entry.skip, entry.note), ""), ""
    return _extract_data(job, state, entry, data)


def _extract_data(job: Job, state: ExtractState, entry: ListedFile, data: bytes) -> tuple[ExtractedFile, str]:
    """Return what is extracted from a file's bytes, and their text; "" if they are not text."""
    digest = hashlib.sha256(data).hexdigest()
    form, text = state.classifier.read_text(entry.path, data)
    if form.skip is not Skip.NONE:
        return _skipped_file(entry, form, digest), ""
    used = _macros_used(state, form, data)
    key = _facts_key(job, form, digest, used)
    value = state.cache.get(key)
    if value is not None:
        with suppress(ValueError, msgspec.MsgspecError):  # a damaged cache
            known = state.decoder.decode(value)
            check_content_words(known.words)
            reading = _extracted_file(entry, form, digest, unpack(known.facts), known, state.words)
            return reading._replace(key=key, cached=True), text
    facts = engine.extract(text, form.language, used)
    if form.note:
        facts = facts._replace(findings=(*facts.findings, Finding("encoding", Severity.INFO, form.note, 1)))
    flow = pack(facts.flow) if facts.flow is not None else b""
    ends = pack(facts.ends) if facts.ends else b""
    packed = pack(facts._replace(flow=None, ends=()))
    facts = unpack(packed)
    new = CachedFile(packed, flow, ends, content_words(text, facts, state.words))
    reading = _extracted_file(entry, form, digest, facts, new, state.words)
    return reading._replace(key=key, cache_value=encode_cached_file(new)), text


def _macros_used(state: ExtractState, form: Form, data: bytes) -> macros.Macros:
    return macros.macros_in(data, state.macros) if form.language in state.with_macros else {}


def _facts_key(job: Job, form: Form, digest: str, used: macros.Macros) -> bytes:
    """Return the key under which a cache has the facts of a file."""
    parts = (job.readers, form.language, form.encoding, digest, macros.digest(used))
    return hashlib.sha256("\0".join(parts).encode()).digest()


def _extracted_file(
    entry: ListedFile, form: Form, digest: str, facts: FileFacts, encoded: CachedFile, words: WordNormalizer
) -> ExtractedFile:
    tests = set(registry.language_of(form.language).tests.tests_in(facts, form.category, entry.path))
    symbols = tuple(
        (s.name, s.kind, n, s.line, s.declaration, s.col, s.public, s.key, n in tests)
        for n, s in enumerate(facts.symbols)
    )
    problems = sum(1 for finding in facts.findings if finding.by in ("reader", "syntax"))
    return ExtractedFile(
        _file(entry, form, digest, facts.metrics.lines),
        encoded.facts,
        encoded.flow,
        prepare_file(entry.path, encoded.words, facts, words),
        symbols,
        tuple({term.text: None for term in facts.terms}),
        b"",
        problems,
        False,
        encoded.ends,
    )


def _unparsed_file(job: Job, classifier: Classifier, entry: ListedFile) -> ExtractedFile:
    """Return the entry of a file too large to parse; it is read in pieces for its digest and number of lines."""
    head = walk.read(job.root, entry, classifier.largest)
    form = classifier.form(entry.path, head, entry.size)
    digest, lines, last = hashlib.sha256(), 0, b"\n"
    for piece in walk.read_in_pieces(job.root, entry):
        digest.update(piece)
        lines += piece.count(b"\n")
        last = piece[-1:]
    lines += last != b"\n"
    reading = _skipped_file(entry, form, digest.hexdigest())
    return reading._replace(file=reading.file._replace(lines=lines if form.skip is Skip.TOO_LARGE else 0))


def _skipped_file(entry: ListedFile, form: Form, digest: str) -> ExtractedFile:
    return ExtractedFile(_file(entry, form, digest, 0), b"", b"", b"", (), (), b"", 0, False)


def _file(entry: ListedFile, form: Form, digest: str, lines: int) -> File:
    return File(
        entry.path, form.language, form.category, form.type, form.encoding, entry.size, lines, digest, form.skip,
        storable_note(form.note), entry.changed, entry.altered, entry.inode,
    )  # fmt: skip


def storable_note(note: str) -> str:
    """Return a note that can be stored: undecodable bytes, for example of a link's target, are escaped."""
    return note.encode("utf-8", "backslashreplace").decode()
