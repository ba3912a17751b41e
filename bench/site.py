"""How fast the site is: `python -m bench site REPO`, for a repository that has a store.

In: a repository. Out: rows of a table. The server is started as a user starts it (`--no-update`: the store is only
read), and asked over HTTP as browsers ask: gzipped, one connection for each reader. The clients run on the same machine
and take their share of it.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from concordance.facts.read import Facts
from concordance.render.site.addresses import SiteAddresses
from concordance.workflow.store_location import FOLDER
from tests.support import measure

CONCORD = str(Path(sys.executable).parent / "concord")
FILES, READERS, EVERY, SECONDS, RATE, QUESTIONS = 300, 200, 5.0, 60.0, 20, 400

Row = Callable[[str, str, str], None]


class Got(NamedTuple):
    """One reply."""

    status: int
    seconds: float
    size: int  # bytes that were sent


class Server:
    """A server of a repository."""

    def __init__(self, root: str, *options: str) -> None:
        self.began = time.perf_counter()
        command = [CONCORD, "serve", root, "--no-browser", "--no-update", "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().split("/")[2].rpartition(":")[2])

    def get(self, address: str) -> Got:
        """Request one page, on a connection of its own."""
        began = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("GET", f"/{address}", headers={"Accept-Encoding": "gzip"})
        reply = connection.getresponse()
        data = reply.read()
        connection.close()
        return Got(reply.status, time.perf_counter() - began, len(data))

    def settled(self) -> None:
        """Wait until everything is computed that is computed once."""
        before = -1.0
        while (now := self.worked()) - before > 0.05:
            before = now
            time.sleep(1.5)

    def worked(self) -> float:
        """Return the processor seconds of all its processes."""
        total = 0
        for pid in measure.process_tree(self.process.pid):
            text = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(text[11]) + int(text[12])
        return total / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Return the megabytes of all its processes; shared memory counts once."""
        return sum(map(measure.memory_of, measure.process_tree(self.process.pid))) / 2**20

    def end(self) -> None:
        """Stop it."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)


def run(root: str, row: Row) -> None:
    """Measure everything."""
    dice = random.Random(7)
    with Facts(os.path.join(root, FOLDER)) as facts:
        files = sorted(facts.files())
        names = sorted(facts.distinct_names("", 4, 30))
    addresses = SiteAddresses([file.path for file in files], root, root)
    stems = [quote(os.fsencode(addresses.stem(file.path))) for file in files]
    largest = max(files, key=lambda file: file.lines if file.language == "python" else 0)
    first(root, row)
    server = Server(root)
    try:
        server.get("index.html")
        server.settled()
        chosen = dice.sample(stems, min(FILES, len(stems)))
        for what, end in (("file page", "_docs.html"), ("source page", "_source.html"), ("keywords of a file", "_kw.html")):
            row(f"{what}, {len(chosen)} random files", "p95 <= 60 ms", _times([server.get(one + end) for one in chosen]))
        stem = quote(os.fsencode(addresses.stem(largest.path)))
        for end in ("_source.html", "_docs.html"):
            got = server.get(stem + end)
            row(f"{largest.path}{end}, {largest.lines:,} lines", "<= 400 ms", f"{1000 * got.seconds:.0f} ms, {got.size / 1000:.0f} kB")
        for page in ("index.html", "keywords.html", "sub.html", "comprehensive_book.html", "map.html", "search.html"):
            got = server.get(page)
            row(f"{page}, transferred", "<= 150 kB", f"{got.size / 1000:.0f} kB ({got.status})")
        row(f"search, {RATE} a second", "p95 <= 50 ms", _times(asyncio.run(searched(server, dice.sample(names, 200)))))
        before, worked = server.memory(), server.worked()
        found = asyncio.run(crowd(server, dice.sample(stems, min(4000, len(stems)))))
        row(f"{READERS} readers, a page every {EVERY:.0f} s each, {SECONDS:.0f} s", "no error, p99 <= 1 s", _times(found))
        row("work of all processes of the server meanwhile", "", f"{server.worked() - worked:.1f} s, {1000 * (server.worked() - worked) / len(found):.0f} ms a page")
        row("memory before and after", "flat", f"{before:.0f} MB, {server.memory():.0f} MB")
        again = asyncio.run(crowd(server, dice.sample(stems, min(4000, len(stems)))))
        row("the same once more", "flat", f"{_times(again)}; {server.memory():.0f} MB")
    finally:
        server.end()


def first(root: str, row: Row) -> None:
    """Measure from the start of the program to the front page, cached and not."""
    for what in ("unknown", "known"):
        for path in Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "concordance", "front").glob("*"):
            if what == "unknown":
                path.unlink()
        server = Server(root)
        got = server.get("index.html")
        row(f"start to front page, {what} to the cache", "<= 1 s", f"{time.perf_counter() - server.began:.2f} s ({got.status})")
        server.end()


async def searched(server: Server, names: list[str]) -> list[Got]:
    """Measure answers while typing, at a fixed rate, whoever still waits."""
    typed = [name[:length] for name in names for length in (len(name) // 2 + 1, len(name))][:QUESTIONS]
    tasks = []
    for question in typed:
        tasks.append(asyncio.create_task(_got(server.port, f"api/search?addresses=1&number=12&q={quote(question)}")))
        await asyncio.sleep(1 / RATE)
    return list(await asyncio.gather(*tasks))


async def crowd(server: Server, stems: list[str]) -> list[Got]:
    """Measure many readers at once, each on a persistent connection."""
    end = time.perf_counter() + SECONDS
    dice = random.Random(11)

    async def reader(number: int) -> list[Got]:
        await asyncio.sleep(number * EVERY / READERS)
        streams = await asyncio.open_connection("127.0.0.1", server.port)
        found = []
        while time.perf_counter() < end:
            began = time.perf_counter()
            found.append(await _asked(streams, dice.choice(stems) + dice.choice(("_docs.html", "_docs.html", "_source.html"))))
            await asyncio.sleep(max(0.0, EVERY - (time.perf_counter() - began)))
        streams[1].close()
        return found

    rows = await asyncio.gather(*(reader(number) for number in range(READERS)))
    return [got for part in rows for got in part]


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _got(port: int, address: str) -> Got:
    streams = await asyncio.open_connection("127.0.0.1", port)
    try:
        return await _asked(streams, address)
    finally:
        streams[1].close()


async def _asked(streams: Streams, address: str) -> Got:
    reader, writer = streams
    began = time.perf_counter()
    writer.write(f"GET /{address} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    await reader.readexactly(length)
    return Got(int(head.split()[1]), time.perf_counter() - began, length)


def _times(found: list[Got]) -> str:
    times = sorted(1000 * got.seconds for got in found)
    cuts = statistics.quantiles(times, n=100) if len(times) > 1 else times * 99
    errors = sum(got.status != 200 for got in found)
    sizes = sorted(got.size for got in found)
    said = f"p50 {cuts[49]:.0f} ms, p95 {cuts[94]:.0f} ms, p99 {cuts[98]:.0f} ms, at most {times[-1]:.0f} ms"
    return f"{said}; {errors} errors of {len(found):,}; p95 of sizes {sizes[int(0.95 * len(sizes))] / 1000:.0f} kB, largest {sizes[-1] / 1000:.0f} kB"


def main(given: list[str]) -> None:
    """Print the rows for a repository."""

    def row(what: str, bar: str, measured: str) -> None:
        sys.stdout.write(f"| {what} | {bar} | {measured} |\n")
        sys.stdout.flush()

    run(os.path.abspath(given[0]), row)

