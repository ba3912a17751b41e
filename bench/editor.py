"""How fast and how exact the language server is: a real client over standard input and output.

In: a repository with a store, and how many positions to ask about (`python -m bench editor REPO [COUNT]`, 1,000 unless
told). Out: how many definitions equal those of `concord define` at the same position, the latency of definition and
hover, and how long the server takes to start. Positions are drawn at random from the names of all files, each on the
file's own text; the first fifty warm the server up and are compared, but not timed.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from concordance.api import Repository
from concordance.base.errors import UserError

_WARM = 50
_PER_FILE = 5
Position = tuple[str, int, int]


def draw_positions(repository: Repository, count: int) -> list[Position]:
    """Return names of files drawn at random, at most a few of one file: path, line and column, which begin at 1."""
    index, chance = repository._index, random.Random(20)
    paths = [row[1] for row in index.file_rows]
    found: list[Position] = []
    while len(found) < count:
        path = chance.choice(paths)
        file = index.open_file(path)
        lines = file.lines()
        places = file.places_on(1, len(lines)) if lines else range(0)
        for place in chance.sample(places, min(_PER_FILE, len(places))):
            spot = file.position_of(place)
            found.append((path, spot.line, spot.col))
    return found[:count]


def define(repository: Repository, position: Position) -> list[tuple[str, int]]:
    """Return the answer of `concord define`."""
    path, line, col = position
    try:
        return [(row["path"], row["line"]) for row in repository.ask("define", f"{path}:{line}:{col}", 500).rows]
    except UserError:
        return []


async def ask_all(root: Path, positions: list[tuple[Position, int]]) -> tuple[float, list[Any], list[float], list[float]]:
    """Return the start-up time, every answer, and the seconds of definitions and hovers; columns are those of an
    editor."""
    concord = str(Path(sys.executable).parent / "concord")
    client = LanguageClient("bench", "1")
    began = time.perf_counter()
    await client.start_io(concord, "lsp", str(root), "--no-update")
    await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=root.as_uri()))
    client.initialized(lsp.InitializedParams())
    started = time.perf_counter() - began
    found, defining, hovering = [], [], []
    for (path, line, _), character in positions:
        where = lsp.TextDocumentIdentifier((root / path).as_uri()), lsp.Position(line - 1, character)
        began = time.perf_counter()
        found.append(await client.text_document_definition_async(lsp.DefinitionParams(*where)) or [])
        defining.append(time.perf_counter() - began)
        began = time.perf_counter()
        await client.text_document_hover_async(lsp.HoverParams(*where))
        hovering.append(time.perf_counter() - began)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return started, found, defining[_WARM:], hovering[_WARM:]


def latency(seconds: list[float]) -> str:
    """Return median, 95th percentile and maximum in milliseconds."""
    ordered = sorted(1000 * one for one in seconds)
    return f"p50 {ordered[len(ordered) // 2]:.1f} ms, p95 {ordered[int(len(ordered) * 0.95)]:.1f} ms, slowest {ordered[-1]:.0f} ms"


def main(args: list[str]) -> None:
    """Print the table."""
    root, count = Path(args[0]).resolve(), int(args[1]) if args[1:] else 1000
    with Repository(str(root), update=False) as repository:
        positions = draw_positions(repository, count)
        asked = []
        for path, line, col in positions:
            text = (repository._index.open_file(path).lines() or [])[line - 1][: col - 1]
            asked.append(((path, line, col), len(text.encode("utf-16-le", "surrogatepass")) // 2))
        started, answers, defining, hovering = asyncio.run(ask_all(root, asked))
        differ = 0
        for position, answer in zip(positions, answers, strict=True):
            ours = [(unquote(one.uri)[len(root.as_uri()) + 1 :], one.range.start.line + 1) for one in answer]
            theirs = define(repository, position)
            if ours != theirs:
                differ += 1
                print(f"    {position}: {ours[:3]} and {theirs[:3]}")
    answered = sum(bool(one) for one in answers)
    print(f"| what ({root.name}) | bar | measured |\n|---|---|---|")
    print(f"| definitions of the editor and of `concord define` | equal | {differ} of {count:,} differ, {answered:,} have an answer |")
    print(f"| definition | p95 <= 100 ms | {latency(defining)} |")
    print(f"| hover | p95 <= 100 ms | {latency(hovering)} |")
    print(f"| started | <= 2 s | {started:.2f} s |")


if __name__ == "__main__":
    main(sys.argv[1:])
