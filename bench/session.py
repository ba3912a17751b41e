"""An agent's ten questions about PyTorch, asked over MCP, each answer held against the source.

In: a checkout of PyTorch with a store (`python -m bench session REPO [COUNT]`). Out: for every question the tokens of its
answer, how long it took, and whether the answer is right; then the totals, and with a COUNT the latency of every tool on
so many definitions drawn at random, with the number of answers that exceed their budget. The questions are those of somebody who wants
to change a layer: what is this, where is it, what does it end in, who uses it, what tests it, what breaks.

An answer is right if the files say so: the check of each question opens the files that the answer cites and reads the
lines by itself. Tokens are those of the text, by the upper estimate that the server uses for its budgets.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from bench.editor import latency
from concordance.api import Repository
from concordance.serve.agent_tools import DEFAULT_TOKENS, count_tokens

Answer = dict[str, Any]
_TRACE = '''Traceback (most recent call last):
  File "train.py", line 12, in <module>
    net = Net()
  File "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", line 1215, in __setattr__
    raise AttributeError(
AttributeError: cannot assign module before Module.__init__() call
'''


class Source:
    """The files of the checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def line(self, row: Answer) -> str:
        """Return the line that a row cites."""
        return (self.root / row["path"]).read_text(errors="replace").split("\n")[row["line"] - 1]

    def body(self, row: Answer, name: str) -> bool:
        """True if a name is called within the definition that begins at a row's line, up to the next definition at its
        depth."""
        lines = (self.root / row["path"]).read_text(errors="replace").split("\n")[row["line"] - 1 :]
        depth = len(lines[0]) - len(lines[0].lstrip())
        for number, line in enumerate(lines):
            if number > 400 or (number and line.strip() and len(line) - len(line.lstrip()) <= depth and re.match(r"\s*(?:def|class|@)\b", line)):
                return False
            if re.search(rf"\b{name}\b", line) and number:
                return True
        return False


class Question(NamedTuple):
    """A question, and how its answer is checked."""

    words: str
    tool: str
    arguments: dict[str, Any]
    check: Callable[[Answer, str, Source], bool]


def _every(rows: list[Answer], holds: Callable[[Answer], object]) -> bool:
    return bool(rows) and all(holds(row) for row in rows)


def _readme(answer: Answer, text: str, source: Source) -> bool:
    """The quotation is in the README, and every part that is named exists."""
    quoted = re.search(r"> ([^\n]{40,})", text)
    words = re.findall(r"\w+", quoted[1])[:8] if quoted else []
    readme = re.findall(r"\w+", (source.root / "README.md").read_text())
    return bool(words) and any(readme[at : at + len(words)] == words for at in range(len(readme)))


def _subclasses(answer: Answer, text: str, source: Source) -> bool:
    """Every row is a class that names the base, and every such class of the folder is a row, or reported as left out.
    """
    files = sorted((source.root / "torch/optim").glob("*.py"))
    theirs = {name for path in files for name in re.findall(r"^class (\w+)\(Optimizer\)", path.read_text(), re.M)}
    ours = {row["qualified"].rpartition(".")[2] for row in answer["rows"]}
    return _every(answer["rows"], lambda row: re.search(r"class \w+.*Optimizer", source.line(row))) and ("more" in answer or theirs <= ours)


def _chain(answer: Answer, text: str, source: Source) -> bool:
    """Each step's line names what the step leads to; the last one is the kernel."""
    rows = answer["rows"]
    named = _every(rows, lambda row: re.search(rf"\b{re.split(r'[.:]', row['to'])[-1]}\b", source.line(row)))
    return named and rows[-1]["to"].endswith("native::linear")


QUESTIONS = (
    Question("What is this repository?", "explain", {"target": ".", "max_tokens": 1500}, _readme),
    Question(
        "Where is torch.nn.Linear defined?", "references",
        {"target": "torch.nn.Linear", "kind": "definitions", "max_tokens": 400},
        lambda answer, text, source: re.match(r"class Linear\b", source.line(answer["rows"][0])) is not None,
    ),
    Question(
        "What does its forward do?", "read", {"target": "torch.nn.Linear.forward", "max_tokens": 600},
        lambda answer, text, source: answer["source"] in (source.root / answer["path"]).read_text() and "F.linear(" in answer["source"],
    ),
    Question(
        "Which kernel does that end in?", "path",
        {"from": "torch.nn.Linear.forward", "to": "at::native::linear", "max_tokens": 800}, _chain,
    ),
    Question(
        "Which classes inherit from Optimizer?", "references",
        {"target": "torch.optim.Optimizer", "kind": "overrides", "max_tokens": 2500}, _subclasses,
    ),
    Question(
        "Who calls clip_grad_norm_?", "references",
        {"target": "torch.nn.utils.clip_grad_norm_", "kind": "callers", "max_tokens": 1000},
        lambda answer, text, source: _every(answer["rows"], lambda row: source.body(row, "clip_grad_norm_")),
    ),
    Question(
        "Which tests run SGD?", "references", {"target": "torch/optim/sgd.py", "kind": "tests", "max_tokens": 1500},
        lambda answer, text, source: _every(answer["rows"], lambda row: re.search(r"def test|TEST", source.line(row)) and row["name"].rpartition(".")[2] in row["run"]),
    ),
    Question(
        "What may break if register_buffer changes?", "impact",
        {"target": "torch.nn.Module.register_buffer", "max_tokens": 1500},
        lambda answer, text, source: answer["total"] > 100 and _every(answer["rows"], lambda row: source.line(row).strip() and row["run"]),
    ),
    Question(
        "Where does this error come from?", "find", {"query": _TRACE, "max_tokens": 1000},
        lambda answer, text, source: any(row["symbol"] == "Module.__setattr__" and re.search("def __setattr__", source.line(row)) for row in answer["rows"][:2]),
    ),
    Question(
        "Which files import linear.py?", "references",
        {"target": "torch/nn/modules/linear.py", "kind": "importers", "max_tokens": 800},
        lambda answer, text, source: _every(answer["rows"], lambda row: "linear" in source.line(row)),
    ),
)  # fmt: skip


async def ask_at_random(client: Client, repository: Repository, count: int) -> None:
    """Ask every tool about definitions drawn at random, and print a line for each tool."""
    index, chance = repository._index, random.Random(20)
    paths = [row[1] for row in index.file_rows if index.category_of(row[1]) == "source"]
    asked: list[tuple[str, str, str]] = []
    while len(asked) < count + 1:
        path = chance.choice(paths)
        symbols = [one for one in index.facts.symbols_in(path) if one.name]
        if symbols:
            one = chance.choice(symbols)
            asked.append((path, f"{path}#{one.key}", one.name))
    kinds = ("definitions", "uses", "callers", "callees", "tests", "overrides")
    seconds: dict[str, list[float]] = {}
    over = 0
    for (path, target, name), (_, other, _) in pairwise(asked):
        calls: list[tuple[str, dict[str, Any]]] = [
            ("find", {"query": name}), ("read", {"target": target}), ("explain", {"target": path}),
            ("explain", {"target": target}), ("impact", {"target": target}), ("path", {"from": target, "to": other}),
            *(("references", {"target": target, "kind": kind}) for kind in kinds),
        ]  # fmt: skip
        for tool, arguments in calls:
            began = time.perf_counter()
            result = await client.call_tool(tool, arguments)
            seconds.setdefault(tool, []).append(time.perf_counter() - began)
            over += count_tokens(result.content[0].text) > DEFAULT_TOKENS
    print("\n| tool | calls | latency |\n|---|---|---|")
    for tool, each in sorted(seconds.items()):
        print(f"| {tool} | {len(each)} | {latency(each)} |")
    every = [one for each in seconds.values() for one in each]
    print(f"| all | {len(every):,} | {latency(every)}; {over} answers exceed their budget |")


async def talk(root: Path, count: int) -> None:
    """Ask all questions in one session."""
    source, tokens, right, seconds = Source(root), 0, 0, []
    concord = str(Path(sys.executable).parent / "concord")
    server = StdioServerParameters(command=concord, args=["mcp", str(root), "--no-update"])
    print("| question | tool | tokens | ms | right |\n|---|---|---|---|---|")
    async with Client(server) as client:
        listed = (await client.list_tools()).tools
        described = sum(count_tokens(f"{tool.name} {tool.description} {tool.input_schema}") for tool in listed)
        for one in QUESTIONS:
            began = time.perf_counter()
            result = await client.call_tool(one.tool, one.arguments)
            seconds.append(time.perf_counter() - began)
            text = result.content[0].text
            size = count_tokens(text)
            good = not result.is_error and bool(one.check(result.structured_content, text, source))
            tokens, right = tokens + size, right + good
            print(f"| {one.words} | {one.tool} | {size:,} of {one.arguments['max_tokens']:,} | {1000 * seconds[-1]:.0f} | {'yes' if good else 'NO'} |", flush=True)
            if not good:
                print(text)
        if count:
            with Repository(str(root), update=False) as repository:
                await ask_at_random(client, repository, count)
    print(f"\n{right} of {len(QUESTIONS)} right; {tokens:,} tokens for the answers, {described:,} for the tools; slowest {1000 * max(seconds):.0f} ms")


def main(args: list[str]) -> None:
    """Print the table."""
    anyio.run(talk, Path(args[0]).resolve(), int(args[1]) if args[1:] else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
