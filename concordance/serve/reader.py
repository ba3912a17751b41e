"""A reader process of the server: owns an index, renders pages, answers commands and follows updates of the store.

In: requests from the server, one at a time, until it closes the connection. Out: answers. If something goes wrong, the
answer says so and has a message for the log, and the next request is answered as usual.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import socket
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus

from concordance.base import plugins
from concordance.base.config import Book
from concordance.base.errors import ConcordanceError, StoreBroken
from concordance.collect.blame import quick_head_commit
from concordance.facts.read import Facts
from concordance.facts.updates.delta import Aspect
from concordance.query.index.repository import Index
from concordance.query.index.updates.refresh import refresh_index
from concordance.render.site.files import JSON, Site, open_site
from concordance.render.site.preview import SitePreview
from concordance.serve.front_page import cache_front_page, version_of
from concordance.serve.http_api import More, answer_request
from concordance.serve.messages import READING, Question, ReaderReply, encode_message, read_question

_MIN_COMPRESSED = 500  # bytes; smaller answers are not compressed
_LEVEL = 5  # of compression; a higher one takes twice the time to save a twentieth
_LARGE, _FAST = 2_000_000, 1  # bytes from which on compression is fast rather than good, since the client waits for it
_MAX_PATHS = 1000  # most changed paths that are listed


class QuestionReader:
    """Answers the requests of a server, one at a time."""

    version = ""  # of what answers come from

    def serve(self, end: socket.socket) -> None:
        """Answer requests until the server closes the connection."""
        gc.set_threshold(100_000, 50, 1000)
        while (question := read_question(end)) is not None:
            end.sendall(encode_message(self.answer(question)))

    def answer(self, question: Question) -> ReaderReply:
        """Answer one request."""
        try:
            reply = self._answer(question)
        except ConcordanceError as error:
            reply = ReaderReply(HTTPStatus.INTERNAL_SERVER_ERROR, fault=str(error))
        except Exception as error:  # an error in one answer must not prevent the next
            what = f"{question.kind} {os.fsdecode(question.what)}"
            place = traceback.extract_tb(error.__traceback__)[-1]
            message = f"{what}: {type(error).__name__}: {error} ({os.path.basename(place.filename)}:{place.lineno})"
            reply = ReaderReply(HTTPStatus.INTERNAL_SERVER_ERROR, fault=message)
        return reply._replace(version=self.version)

    def _answer(self, question: Question) -> ReaderReply:
        raise NotImplementedError


class StoreReader(QuestionReader):
    """One repository, open for reading."""

    def __init__(
        self, root: str, folder: str, book_options: Callable[[], Book], more: More, live: bool,
        open_preview: Callable[[], SitePreview] | None = None,
    ) -> None:  # fmt: skip
        """Create a reader. `book_options` returns the settings of the book and is called whenever the store is opened,
        since they may have changed; `live`: pages listen for changes; `open_preview` returns what to show until there
        is a store, if one is being built."""
        self.root, self.folder, self.book_options, self.more, self.live = root, folder, book_options, more, live
        self._open_preview = open_preview
        self._preview: SitePreview | None = None
        self._index: Index | None = None
        self._site: Site | None = None
        self._warming: Iterator[object] = iter(())

    def _answer(self, question: Question) -> ReaderReply:
        if question.kind == "renew":
            with _without_gc():
                return self._renew()
        if question.kind == "warm":
            with _without_gc():
                return ReaderReply(int(next(self._warming, None) is not None))
        if self._site is None or self._index is None:
            return self._answer_without_store(question)
        if question.kind == "head":
            return ReaderReply(HTTPStatus.OK, data=quick_head_commit(self.root).encode())
        if question.kind == "ask":
            return compress_reply(answer_request(self._site, os.fsdecode(question.what), question.more, self.more))
        page = self._site.answer(os.fsdecode(question.what))
        return (
            ReaderReply(HTTPStatus.NOT_FOUND)
            if page is None
            else compress_reply(ReaderReply(HTTPStatus.OK, page.type, page.data))
        )

    def _answer_without_store(self, question: Question) -> ReaderReply:
        """Answer while the repository is read for the first time."""
        if question.kind == "ask":
            error = {"error": "the repository is being read for the first time", "hint": "Try again in a while"}
            return ReaderReply(HTTPStatus.SERVICE_UNAVAILABLE, JSON, json.dumps(error).encode() + b"\n")
        if self._preview is None or question.kind != "page":
            return ReaderReply(HTTPStatus.SERVICE_UNAVAILABLE)
        page, is_ready = self._preview.answer(os.fsdecode(question.what), question.more)
        status = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
        return compress_reply(ReaderReply(status, page.type, page.data))

    # --- the store

    def _renew(self) -> ReaderReply:
        """Switch to the current store; the answer lists the changed paths, or is empty if they are not known."""
        try:
            facts = Facts(self.folder)
        except StoreBroken:
            if self._open_preview is None or self._index is not None:
                raise
            self._preview = self._preview or self._open_preview()
            self.version = READING
            return ReaderReply(HTTPStatus.OK)
        self._preview = None
        version = version_of(self.root, facts.meta(), self.live)
        book = self.book_options()
        if version == self.version:
            facts.close()
            return ReaderReply(HTTPStatus.OK)
        index, paths = self._index, ""
        if index is not None and index.book == book:
            touched = facts.touched_since(int(index.facts.meta().get("update", "0")))
            changed = sorted(touched[Aspect.TEXT] | touched[Aspect.PATHS])
            paths = json.dumps([path.encode("utf-8", "replace").decode() for path in changed[:_MAX_PATHS]])
        if index is None or index.book != book or not refresh_index(index, facts):
            before, index = index, Index(facts, self.root, book)
            self._open(index)
            if before is not None:  # other readers answer until this one is ready
                before.facts.close()
                for _ in self._warming:
                    pass
        else:
            self._open(index)
        self.version = version
        return ReaderReply(HTTPStatus.OK, data=paths.encode())

    def _open(self, index: Index) -> None:
        out = os.path.join(self.folder, "book")
        self._index, self._site = index, open_site(index, out, self.live, True, tuple(self.more))
        self._warming = warm_up(index, self._site)


@contextmanager
def _without_gc() -> Iterator[None]:
    """Disable the garbage collector while much long-lived data is created, and exclude that data from then on."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def warm_up(index: Index, site: Site) -> Iterator[object]:
    """Compute, step by step, what pages and commands need from the whole repository."""
    yield index.text_shards
    yield index.ranks, index.categories
    yield index.keys
    yield site.answer("index.html")
    some = [row[1] for row in index.file_rows][:: len(index.file_rows) // 3 + 1]
    for path in some:
        yield site.answer(f"{site.addresses.stem(path)}_docs.html")
    for kind in ("folder", "keywords", "subtree", "letters"):
        module = plugins.load("concordance.query.pages", kind)
        subject = some[0] if kind == "keywords" and some else ""
        yield list(zip(module.pages(index, subject), range(1), strict=False))


def save_front_page(index: Index, folder: str) -> None:
    """Cache the front page for a future server, at a moment when most of what it needs is in memory."""
    for live in (False, True):
        site = open_site(index, os.path.join(folder, "book"), live, True)
        page = site.answer("index.html")
        if page is not None:
            reply = compress_reply(ReaderReply(HTTPStatus.OK, page.type, page.data))
            version = version_of(index.root, index.facts.meta(), live)
            cache_front_page(index.root, version, live, reply._replace(version=version))


def compress_reply(reply: ReaderReply) -> ReaderReply:
    """Return an answer as it is sent: with a tag, and gzipped if that is worthwhile."""
    tag = hashlib.blake2b(reply.data, digest_size=12).hexdigest()
    if len(reply.data) < _MIN_COMPRESSED:
        return reply._replace(tag=tag)
    packer = zlib.compressobj(_LEVEL if len(reply.data) < _LARGE else _FAST, wbits=31)
    return reply._replace(data=packer.compress(reply.data) + packer.flush(), packed=True, tag=tag)
