"""Python references compared with pyrefly's: does each name lead where a type checker says it does?

In: a checkout and its store; pyrefly's report for it (`pyrefly check --report-glean`). Out: precision and recall of
references and of call edges, by trust, with samples of what is missed. A reference is compared if pyrefly's target is
in the repository. pyrefly reports a reference once for each alias on the way; the last one counts. References for which
it gives no place (members that it only names) are left out.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from concordance.base.model import FileFacts, Role, Trust, unpack_column
from concordance.facts.read import Facts
from concordance.workflow.store_location import FOLDER

Spot = tuple[str, int]  # a file and a line


@dataclass
class Report:
    """What pyrefly reports, by file."""

    refs: dict[str, list[tuple[int, int, str, str]]] = field(default_factory=dict)  # start, length, file, name
    places: dict[tuple[str, str], list[tuple[str, int]]] = field(default_factory=dict)  # kind, start in bytes
    lines: dict[str, list[int]] = field(default_factory=dict)  # starts in bytes


def report(root: Path, folder: str, kept: Path | None = None) -> Report:
    """Run pyrefly on a folder of a checkout, or read a report of an earlier run."""
    with tempfile.TemporaryDirectory() as scratch:
        where = kept or Path(scratch) / "glean"
        if not where.exists():
            program = str(Path(sys.executable).parent / "pyrefly")
            command = [program, "check", "--search-path", str(root), "--report-glean", str(where), folder]
            subprocess.run(command, cwd=root, capture_output=True, check=False)
        found = Report()
        for path in sorted(where.iterdir()):
            for predicate in json.loads(path.read_bytes()):
                _take(found, predicate)
    return found


def _take(found: Report, predicate: dict[str, object]) -> None:
    name = str(predicate.get("predicate", ""))
    facts: list[dict[str, dict]] = predicate.get("facts", [])  # type: ignore[assignment, type-arg]
    for fact in facts:
        key = fact["key"]
        if name.startswith("python.xrefs.XRefsByFile"):
            rows = found.refs.setdefault(key["file"]["key"], [])
            for ref in key["xrefs"]:
                target, source = ref["target"], ref["source"]
                rows.append((source["start"], source["length"], target.get("file", {}).get("key", ""), target["name"]["key"]))
        elif name.startswith("python.DeclarationLocation"):
            (kind, said), = key["declaration"].items()
            named = said["key"].get("name") or said["key"]["as_name"]
            found.places.setdefault((key["file"]["key"], named["key"]), []).append((kind, key["span"]["start"]))
        elif name.startswith("src.FileLines"):
            found.lines[key["file"]["key"]] = [0, *accumulate(key["lengths"])]


@dataclass
class Score:
    """Counts by trust."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    missed: int = 0
    edges: dict[bool | None, set[tuple[str, str, int, str]]] = field(
        default_factory=lambda: {True: set(), False: set(), None: set()}
    )  # call edges that are right, wrong, missed: caller's path and key, callee's line and path

    def edge(self, good: bool | None, path: str, caller: str, wanted: set[Spot]) -> None:
        """Count a call once for its caller and callee."""
        file, line = min(wanted)
        self.edges[good].add((path, caller, line, file))


class Ours:
    """Our answers, a file at a time."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.known: dict[str, FileFacts] = {}
        self.symbols: dict[int, tuple[str, int, int, str]] = {}  # id: path, first line, line of the name, name

    def of(self, path: str) -> FileFacts:
        """Return a file's facts."""
        if path not in self.known:
            self.known[path] = self.facts.of(path)
        return self.known[path]

    def symbol(self, identity: int) -> tuple[str, int, int, str]:
        """Return where a symbol is."""
        if identity not in self.symbols:
            place = self.facts.place(identity)
            if place is None:
                self.symbols[identity] = ("", 0, 0, "")
            elif place.place < 0:
                self.symbols[identity] = (place.path, 1, 1, "")
            else:
                symbol = self.of(place.path).symbols[place.place]
                self.symbols[identity] = (place.path, symbol.start_line, symbol.line, symbol.name)
        return self.symbols[identity]

    def around(self, path: str, line: int) -> str:
        """Return the key of the innermost function around a line."""
        kinds = ("function", "method", "property")
        inside = [s for s in self.of(path).symbols if s.kind in kinds and s.start_line <= line <= s.end_line]
        return max(inside, key=lambda s: s.start_line).key if inside else ""

    def answers(self, path: str) -> dict[tuple[int, int], tuple[tuple[str, int, int, str], str, str, str]]:
        """Return by line and column the best answer (path, lines, name), its trust and rule, and the name's role."""
        facts = self.of(path)
        links = self.facts.links(path)
        best: dict[int, tuple[int, int, int]] = {}
        for use, target, trust, by in zip(unpack_column(links.use), unpack_column(links.target), links.trust, links.by, strict=True):
            best.setdefault(use, (target, trust, by))
        first: dict[tuple[int, str], int] = {}
        rows = list(zip(facts.occurrences.rows(), unpack_column(facts.occurrences.use), strict=True))
        for row, _ in rows:
            if row.bound >= 0 and row.role in (Role.WRITE, Role.DEFINE, Role.IMPORT):
                first.setdefault((row.bound, row.name), row.line)
        found = {}
        for row, use in rows:
            known = best.get(use - 1)
            if known is not None:
                where = self.symbol(known[0])
                found[row.line, row.col] = where, Trust(known[1]).name.lower(), links.resolvers[known[2]], row.role.value
            elif row.bound >= 0 and (row.bound, row.name) in first:
                line = first[row.bound, row.name]
                found[row.line, row.col] = (path, line, line, row.name), "exact", "local", row.role.value
        return found


def compare(root: Path, said: Report, facts: Facts) -> tuple[Score, dict[str, list[tuple[str, str]]]]:
    """Compare every reference of the report with our answer."""
    score = Score()
    ours = Ours(facts)
    misses: dict[str, list[tuple[str, str]]] = {}
    for path, refs in sorted(said.refs.items()):
        if facts.file(path) is None:
            continue
        data = (root / path).read_bytes()
        answers = ours.answers(path)
        for (start, length), targets in sorted(final(said, refs).items()):
            starts = said.lines[path]
            line = bisect_right(starts, start)
            word = data[start : start + length].decode("utf-8", "replace")
            if not word.isidentifier():
                continue
            col = len(data[starts[line - 1] : start].decode("utf-8", "replace")) + 1
            answer = answers.get((line, col))
            spots = wanted(said, targets)
            if not spots:
                continue
            called = data[start + length : start + length + 40].lstrip()[:1] == b"("
            caller = ours.around(path, line) if called else ""
            text = data[starts[line - 1] :].split(b"\n", 1)[0].decode("utf-8", "replace").strip()[:110]
            if answer is None:
                score.missed += 1
                if called:
                    score.edge(None, path, caller, spots)
                misses.setdefault("missed", []).append((f"{path}:{line}:{col} {word} -> {sorted(map(str, spots))[:2]}", text))
                continue
            (where, top, at, _), trust, by, _ = answer
            good = any(where == file and top <= said_line <= at for file, said_line in spots)
            if called and not trust.startswith("candidate"):
                score.edge(good, path, caller, spots)
            elif called:
                score.edge(None, path, caller, spots)
            key = f"{trust}: {by}"
            (score.right if good else score.wrong)[key] += 1
            if not good:
                misses.setdefault(key, []).append(
                    (f"{path}:{line}:{col} {word} -> {sorted(map(str, spots))[:2]}, ours {where}:{at}", text)
                )
    return score, misses


def final(said: Report, refs: list[tuple[int, int, str, str]]) -> dict[tuple[int, int], list[tuple[str, str]]]:
    """Return the targets of each reference that are not mere aliases."""
    found: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for start, length, file, name in refs:
        kinds = {kind for kind, _ in said.places.get((file, name), ())}
        if kinds != {"imp"}:
            found.setdefault((start, length), []).append((file, name))
    return found


def wanted(said: Report, targets: list[tuple[str, str]]) -> set[Spot]:
    """Return the places in the repository that a reference refers to; none if one of its ends is elsewhere."""
    placed: set[Spot] = set()
    for file, name in targets:
        if file and file not in said.lines:
            return set()
        for kind, start in said.places.get((file, name), ()):
            if kind != "imp":
                placed.add((file, 1 if kind == "module" else bisect_right(said.lines[file], start)))
    return placed


def main() -> None:
    """`python -m bench.pynames CHECKOUT FOLDER [REPORT]`."""
    root, folder = Path(sys.argv[1]), sys.argv[2]
    said = report(root, folder, Path(sys.argv[3]) if len(sys.argv) > 3 else None)
    with Facts(str(root / FOLDER)) as facts:
        score, misses = compare(root, said, facts)
    print_score(score, misses)


def print_score(score: Score, misses: dict[str, list[tuple[str, str]]], sample: int = 20) -> None:
    """Print the table, and a sample of the differences by kind."""
    for key in sorted(score.right | score.wrong):
        right, wrong = score.right[key], score.wrong[key]
        print(f"{key:45} {right + wrong:8,} {right / max(1, right + wrong):.4f}")
    firm = [k for k in score.right | score.wrong if not k.startswith("candidate")]
    right, wrong = sum(score.right[k] for k in firm), sum(score.wrong[k] for k in firm)
    sure = [k for k in firm if k.startswith(("exact", "via_import"))]
    right_sure, wrong_sure = sum(score.right[k] for k in sure), sum(score.wrong[k] for k in sure)
    total = sum(score.right.values()) + sum(score.wrong.values()) + score.missed
    print(f"references {total:,}: precision {right / max(1, right + wrong):.4f}, recall {right / max(1, total):.4f}, "
          f"exact or via import {right_sure / max(1, right_sure + wrong_sure):.4f}")
    hit, bad, lost = score.edges[True], score.edges[False] - score.edges[True], score.edges[None] - score.edges[True]
    print(f"call edges {len(hit | bad | lost):,}: precision {len(hit) / max(1, len(hit | bad)):.4f}, "
          f"recall {len(hit) / max(1, len(hit | bad | lost)):.4f}")
    chance = random.Random(1)
    for key, rows in sorted(misses.items()):
        print(f"--- {key}: {len(rows):,}")
        for where, text in sorted(chance.sample(rows, min(sample, len(rows)))):
            print(f"    {where}\n        {text}")


if __name__ == "__main__":
    main()
