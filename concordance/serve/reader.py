"""What a reader does: it owns an index, makes pages of it, asks it, and goes over to the store as it is now.

In: questions from the server, one at a time, until it is gone. Out: answers. Whatever goes wrong with one of them is
its answer, and is said for the log; the next one is answered.
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
from concordance.base.errors import ConcordanceError
from concordance.collect.blame import head
from concordance.facts.read import Facts
from concordance.facts.updates.store_delta import Aspect
from concordance.query.index.repository import Index
from concordance.query.index.updates.refresh import renew
from concordance.render.site.files import Site, opened
from concordance.serve.front_page import keep, version_of
from concordance.serve.http_api import More, answered
from concordance.serve.messages import Question, ReaderReply, framed, next_question

_WORTH = 500  # bytes that are worth to be packed
_LEVEL = 5  # of packing: what more takes twice the time is a twentieth smaller
_LARGE, _FAST = 2_000_000, 1  # bytes that are packed with less care: who asks waits for it
_TOLD = 1000  # paths that changed which are named


class StoreReader:
    """One repository, open for reading."""

    def __init__(self, root: str, folder: str, wishes: Callable[[], Book], more: More, live: bool) -> None:
        """`wishes` is asked whenever the store is opened: the owners may have set something else meanwhile. `live` says
        whether pages are told of changes."""
        self.root, self.folder, self.wishes, self.more, self.live = root, folder, wishes, more, live
        self.version = ""
        self._index: Index | None = None
        self._site: Site | None = None
        self._warming: Iterator[object] = iter(())

    def serve(self, end: socket.socket) -> None:
        """Answers until the server is gone."""
        gc.set_threshold(100_000, 50, 1000)
        while (question := next_question(end)) is not None:
            end.sendall(framed(self.answer(question)))

    def answer(self, question: Question) -> ReaderReply:
        """One answer."""
        try:
            found = self._answer(question)
        except ConcordanceError as error:
            found = ReaderReply(HTTPStatus.INTERNAL_SERVER_ERROR, fault=str(error))
        except Exception as error:  # a fault of ours in one answer is not the end of the next
            what = f"{question.about} {os.fsdecode(question.what)}"
            place = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{what}: {type(error).__name__}: {error} ({os.path.basename(place.filename)}:{place.lineno})"
            found = ReaderReply(HTTPStatus.INTERNAL_SERVER_ERROR, fault=said)
        return found._replace(version=self.version)

    def _answer(self, question: Question) -> ReaderReply:
        if question.about == "renew":
            with _undisturbed():
                return self._renewed()
        if question.about == "warm":
            with _undisturbed():
                return ReaderReply(int(next(self._warming, None) is not None))
        if self._site is None or self._index is None:
            return ReaderReply(HTTPStatus.SERVICE_UNAVAILABLE)
        if question.about == "head":
            return ReaderReply(HTTPStatus.OK, data=head(self.root).encode())
        if question.about == "ask":
            return packed(answered(self._site, os.fsdecode(question.what), question.more, self.more))
        page = self._site.answer(os.fsdecode(question.what))
        return (
            ReaderReply(HTTPStatus.NOT_FOUND)
            if page is None
            else packed(ReaderReply(HTTPStatus.OK, page.type, page.data))
        )

    # --- the store

    def _renewed(self) -> ReaderReply:
        """Goes over to the store as it is now, and says which paths changed; "" where that is not known."""
        facts = Facts(self.folder)
        version = version_of(self.root, facts.meta(), self.live)
        book = self.wishes()
        if version == self.version:
            facts.close()
            return ReaderReply(HTTPStatus.OK)
        known, paths = self._index, ""
        if known is not None and known.book == book:
            touched = facts.touched_since(int(known.facts.meta().get("update", "0")))
            changed = sorted(touched[Aspect.TEXT] | touched[Aspect.PATHS])
            paths = json.dumps([path.encode("utf-8", "replace").decode() for path in changed[:_TOLD]])
        if known is None or known.book != book or not renew(known, facts):
            before, known = known, Index(facts, self.root, book)
            self._open(known)
            if before is not None:  # others answer until this one can
                before.facts.close()
                for _ in self._warming:
                    pass
        else:
            self._open(known)
        self.version = version
        return ReaderReply(HTTPStatus.OK, data=paths.encode())

    def _open(self, index: Index) -> None:
        out = os.path.join(self.folder, "book")
        self._index, self._site = index, opened(index, out, self.live, True, tuple(self.more))
        self._warming = warming(index, self._site)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Leaves the collector out while much is made that stays, and lets it pass over that from then on."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def warming(index: Index, site: Site) -> Iterator[object]:
    """Works out, step by step, what pages and questions ask of the whole."""
    yield index.shelves
    yield index.ranks, index.categories
    yield index.keys
    yield site.answer("index.html")
    some = [row[1] for row in index.bases][:: len(index.bases) // 3 + 1]
    for path in some:
        yield site.answer(f"{site.addresses.stem(path)}_docs.html")
    for kind in ("folder", "keywords", "subtree", "letters"):
        module = plugins.load("concordance.query.pages", kind)
        subject = some[0] if kind == "keywords" and some else ""
        yield list(zip(module.pages(index, subject), range(1), strict=False))


def leave_front(index: Index, folder: str) -> None:
    """Keeps the front page for a server to come, where much of what it says is known anyway."""
    for live in (False, True):
        site = opened(index, os.path.join(folder, "book"), live, True)
        page = site.answer("index.html")
        if page is not None:
            found = packed(ReaderReply(HTTPStatus.OK, page.type, page.data))
            version = version_of(index.root, index.facts.meta(), live)
            keep(index.root, version, live, found._replace(version=version))


def packed(found: ReaderReply) -> ReaderReply:
    """An answer as it is sent: with a tag, and gzipped where that is worth it."""
    tag = hashlib.blake2b(found.data, digest_size=12).hexdigest()
    if len(found.data) < _WORTH:
        return found._replace(tag=tag)
    packer = zlib.compressobj(_LEVEL if len(found.data) < _LARGE else _FAST, wbits=31)
    return found._replace(data=packer.compress(found.data) + packer.flush(), packed=True, tag=tag)
