"""The pool of reader processes of the server, and the scheduling of requests among them.

In: requests. Out: answers. An index belongs to one process and does one thing at a time, so there are several
processes: while one renders a long page, another answers a search. Searches go before pages, and pages before work
that only warms up caches. After an update of the store the readers switch to it one after the other, so that there is
always one that answers. A reader that dies or takes too long is replaced, so a bad request affects only its client; if
it dies, its request is given to another reader, once.
"""

from __future__ import annotations

import asyncio
import gc
import heapq
import os
import signal
import socket
import time
import weakref
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import count as count_from

from concordance.base import forks
from concordance.serve.messages import Question, ReaderReply, encode_message, read_reply

PATIENCE = 30.0  # seconds that an answer may take
OPENING = 120.0  # seconds that opening or renewing an index may take
MOST = 1000  # requests that may wait
_RESTING = 5.0  # seconds to wait before replacing a reader that died soon after its start
_REAPING = 200  # hundredths of a second that a killed reader may take to exit
SEARCH, PAGE, LATER = 0, 1, 2  # priorities, the most urgent first

End = socket.socket
Target = Callable[[End], None]  # what a reader runs until its end of the socket is closed
Renewed = Callable[[str, str], None]  # called when the store has a new version: with the version, and the changed paths


class Busy(Exception):
    """Too many requests are waiting."""


class ReaderLost(Exception):
    """The reader that was working on the request died or took too long."""


class _Reader:
    """A reader process, as seen by the server."""

    def __init__(self, pid: int, end: socket.socket) -> None:
        self.pid, self.end, self.since = pid, end, time.monotonic()
        self.version = ""
        self.stale = False  # the store may have changed since this reader opened it
        self.is_warm = False
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, question: Question, patience: float) -> ReaderReply:
        """Send a request and return the answer."""
        if self._streams is None:
            self._streams = await asyncio.open_unix_connection(sock=self.end)
        reader, writer = self._streams
        writer.write(encode_message(question))
        async with asyncio.timeout(patience):
            return await read_reply(reader)

    def end_it(self) -> None:
        """Kill the process."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            for _ in range(_REAPING):  # a killed process exits at once, unless it hangs in the kernel
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    break
                time.sleep(0.01)
        if self._streams is not None:
            self._streams[1].close()
        else:
            self.end.close()


class ReaderPool:
    """All reader processes."""

    def __init__(self, number: int, target: Target, on_renewal: Renewed, log: Callable[[str], None]) -> None:
        self.version = ""  # of the store that answers come from
        self._target, self._on_renewal, self._log = target, on_renewal, log
        self._waiting: list[tuple[int, int, Question, asyncio.Future[ReaderReply]]] = []
        self._repeated = weakref.WeakSet[asyncio.Future[ReaderReply]]()  # requests whose first reader died
        self._order = count_from()
        self._idle: list[_Reader] = []
        self._readers: list[_Reader] = []
        self._renewing: _Reader | None = None
        self._warming: _Reader | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        for _ in range(number):
            self._begin()

    # --- for the server

    async def ask(self, question: Question, order: int) -> ReaderReply:
        """Return the answer to a request; `order` is its priority."""
        if len(self._waiting) >= MOST:
            raise Busy
        future: asyncio.Future[ReaderReply] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (order, next(self._order), question, future))
        self._match()
        return await future

    @property
    def count(self) -> int:
        """The number of readers."""
        return len(self._readers)

    @property
    def ready(self) -> int:
        """The number of readers that have the current store open."""
        return sum(bool(reader.version) and reader.version == self.version for reader in self._readers)

    @property
    def waiting(self) -> int:
        """The number of requests that wait for a reader."""
        return len(self._waiting)

    def renew(self) -> None:
        """Let every reader check whether the store has changed."""
        for reader in self._readers:
            reader.stale = True
        self._match()

    def start(self) -> None:
        """Let every reader open the store."""
        self.renew()

    def close(self) -> None:
        """Kill all readers."""
        for task in self._tasks:
            task.cancel()
        for reader in self._readers:
            reader.end_it()
        self._readers.clear()

    # --- scheduling

    def _begin(self) -> None:
        ours, theirs = socket.socketpair()
        pid = forks.fork()
        if pid == 0:
            _run_reader(theirs, self._target)
        theirs.close()
        ours.setblocking(False)
        reader = _Reader(pid, ours)
        reader.stale = True
        self._readers.append(reader)
        self._idle.append(reader)

    def _match(self) -> None:
        """Give every idle reader something to do, if there is something."""
        if (
            self._readers
            and len(self._idle) == len(self._readers)
            and not any(reader.stale or reader.version for reader in self._readers)
        ):
            for *_, future in self._waiting:  # no reader could open the store: the log says why
                if not future.done():
                    future.set_exception(ReaderLost())
            self._waiting.clear()
        for reader in list(self._idle):
            fresh = not reader.version or reader.version != self.version
            if reader.stale and (fresh or self._renewing is None):
                self._renewing = reader if not fresh else self._renewing
                self._do(reader, self._renew(reader))
            elif self._waiting and not fresh and (reader is not self._warming or not self._has_others(reader)):
                _, _, question, future = heapq.heappop(self._waiting)
                self._do(reader, self._answer(reader, question, future))
            elif not reader.is_warm and not fresh and self._warming in (None, reader):  # one at a time
                self._warming = reader
                self._do(reader, self._warm(reader))

    def _has_others(self, reader: _Reader) -> bool:
        """True if a reader other than this one can answer."""
        return any(other is not reader and other.version == self.version for other in self._readers)

    def _do(self, reader: _Reader, work: Coroutine[object, object, None]) -> None:
        self._idle.remove(reader)
        self._begun(work)

    def _begun(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _request(self, reader: _Reader, question: Question, patience: float) -> ReaderReply | None:
        """Return the answer of a reader; None if it died or took too long."""
        try:
            reply = await reader.ask(question, patience)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            late = isinstance(error, TimeoutError)
            what = os.fsdecode(question.what)
            self._log(f"a reader {'took too long' if late else 'died'} on {question.kind} {what}; replacing it")
            self._begun(self._replace(reader))
            return None
        if reply.fault:
            self._log(reply.fault)
        return reply

    async def _answer(self, reader: _Reader, question: Question, future: asyncio.Future[ReaderReply]) -> None:
        if future.cancelled():
            self._set_idle(reader)
            return
        started = time.monotonic()
        reply = await self._request(reader, question, PATIENCE)
        if reply is not None:
            self._set_idle(reader)
        elif not future.done() and future not in self._repeated and time.monotonic() - started < PATIENCE:
            self._repeated.add(future)  # once: the reader may have died of this request
            heapq.heappush(self._waiting, (SEARCH, next(self._order), question, future))
            self._match()
            return
        self._repeated.discard(future)
        if not future.done():
            if reply is None:
                future.set_exception(ReaderLost())
            else:
                future.set_result(reply)

    async def _warm(self, reader: _Reader) -> None:
        reply = await self._request(reader, Question("warm"), OPENING)
        if reply is None or reply.status == 0:
            self._warming = None
        if reply is not None:
            reader.is_warm = reply.status == 0
            self._set_idle(reader)

    async def _renew(self, reader: _Reader) -> None:
        reader.stale = False
        reply = await self._request(reader, Question("renew"), OPENING)
        if self._renewing is reader:
            self._renewing = None
        if reply is None:
            return
        if reply.version and reply.version != reader.version:
            reader.version, reader.is_warm = reply.version, False
            if reader.version != self.version:
                self.version = reader.version
                self._on_renewal(self.version, reply.data.decode())
                for other in self._readers:
                    other.stale = other.stale or other.version != self.version
        self._set_idle(reader)

    def _set_idle(self, reader: _Reader) -> None:
        self._idle.append(reader)
        self._match()

    async def _replace(self, reader: _Reader) -> None:
        """Start a reader in place of another."""
        self._readers.remove(reader)
        reader.end_it()
        if time.monotonic() - reader.since < _RESTING:
            await asyncio.sleep(_RESTING)
        while forks.other_threads():  # threads of others, never ours: forking beside them is not safe
            await asyncio.sleep(_RESTING)
        self._begin()
        self._match()


def _run_reader(end: socket.socket, target: Target) -> None:
    """Turn this forked process into a reader; never returns. All other descriptors are closed, above all the server's
    connections, whose numbers may soon belong to something else."""
    status = 1
    try:
        gc.freeze()
        own = end.fileno()
        os.closerange(3, own)
        os.closerange(own + 1, 65536)
        target(end)
        status = 0
    finally:
        os._exit(status)
