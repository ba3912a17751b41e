"""`python -m bench.bindings ROOT [PREFIX] [COUNT] [SEED]`: names that Python and C share, drawn to be judged by reading.

In: a repository with a store, and the dotted name of a compiled module ("torch._C"), or "-" for none. Out: COUNT (150)
`binds` rows drawn at random, each with the line that binds and the line that it leads to; then COUNT different names
below the prefix that Python code uses, drawn at random, each with where it leads, and how many lead nowhere. The names
are read with `ast` by this file's own rules, independent of the linker's.
"""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from concordance.base.model import Bridge, Trust
from concordance.facts.links.bridge_rows import unpack_bridges
from concordance.facts.read import Facts
from concordance.workflow.store_location import FOLDER

_BRIDGES = ("pybind", "cpython", "ctypes", "cython")
_OF_PYTHON = {"__doc__", "__dict__", "__name__", "__module__", "__class__", "__members__", "__qualname__"}


def bound(tree: ast.Module, package: str) -> dict[str, str]:
    """Return the names that a file's imports bind."""
    table = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                table[alias.asname or alias.name.split(".")[0]] = alias.name if alias.asname else alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            home = ".".join(filter(None, [*parts[: len(parts) - node.level + 1], node.module or ""]))
            for alias in node.names:
                table[alias.asname or alias.name] = f"{home if node.level else node.module}.{alias.name}"
    return table


def used(root: Path, prefix: str) -> set[str]:
    """Return the dotted names below a prefix that Python files use, each as long as it is written."""
    found: set[str] = set()
    for path in sorted(root.rglob("*.py")):
        try:
            tree = ast.parse(path.read_text(errors="replace"))
        except (SyntaxError, ValueError):
            continue
        inner = path.relative_to(root).with_suffix("").parts
        table = bound(tree, ".".join(inner[:-1]))
        found.update(name for name in table.values() if name.startswith(f"{prefix}."))
        found.update(name for name in _chains(tree, table) if name.startswith(f"{prefix}."))
    shorter = {".".join(p for p in name.split(".") if p not in _OF_PYTHON) for name in found if not name.endswith("*")}
    return {name for name in shorter if name.startswith(f"{prefix}.")}


def _chains(tree: ast.Module, table: dict[str, str]) -> Iterator[str]:
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            parts: list[str] = []
            at: ast.expr = node
            while isinstance(at, ast.Attribute):
                parts.insert(0, at.attr)
                at = at.value
            if isinstance(at, ast.Name) and at.id in table:
                yield ".".join([table[at.id], *parts])


class Reader:
    """Prints rows with their lines."""

    def __init__(self, root: Path) -> None:
        self.root, self.facts = root, Facts(str(root / FOLDER))
        self.rows = [row for row in unpack_bridges(self.facts.analysis_result("bridges")) if row.bridge in _BRIDGES]

    def line(self, path: str, line: int, count: int = 1) -> str:
        """Return some lines of a file."""
        lines = (self.root / path).read_text(errors="replace").splitlines()
        return " ".join(" ".join(lines[line - 1 : line - 1 + count]).split())[:150]

    def target(self, row: Bridge) -> str:
        """Return the target of a row."""
        place = self.facts.place(row.target) if row.target else None
        return "nothing" if place is None else f"{place.path}:{place.line} {place.key} | {self.line(place.path, place.line)}"

    def show(self, row: Bridge) -> None:
        """Print one row."""
        source = self.facts.place(row.source)
        if source is None:
            return
        end = self.facts.ends(source.path)[row.end] if row.end >= 0 else None
        line = end.line if end is not None else source.line
        print(f"{row.bridge} {row.says} {row.name} [{Trust(row.trust).name.lower()}, {row.by}]")
        print(f"    {source.path}:{line} {self.line(source.path, max(1, line - 1), 3)}")
        print(f"    -> {self.target(row)}")


def main() -> None:
    """Draw the rows, and print them."""
    root, prefix = Path(sys.argv[1]), (sys.argv[2] if len(sys.argv) > 2 else "-")
    count, seed = int((*sys.argv[3:4], "150")[0]), int((*sys.argv[4:5], "7")[0])
    reader = Reader(root)
    binds = [row for row in reader.rows if row.says == "binds"]
    for number, row in enumerate(random.Random(seed).sample(binds, min(count, len(binds))), 1):
        print(f"{number}. ", end="")
        reader.show(row)
    if prefix == "-":
        return
    names = sorted(used(root, prefix))
    asked: dict[str, list[Bridge]] = {}
    for row in unpack_bridges(reader.facts.analysis_result("bridges")):
        if row.end < 0 and row.target:
            asked.setdefault(dict(row.more).get("as", row.name), []).append(row)  # an operator's under Python's name
    drawn = random.Random(seed).sample(names, min(count, len(names)))
    led = [name for name in drawn if name in asked]
    for name in drawn:
        print(f"{name} -> {reader.target(asked[name][0]) if name in asked else 'NOWHERE'}")
    print(f"{len(names)} names, {len(drawn)} drawn, {len(led)} lead somewhere: {len(led) / max(1, len(drawn)):.3f}")
    everywhere = sum(name in asked for name in names)
    print(f"of all: {everywhere} of {len(names)}: {everywhere / max(1, len(names)):.3f}")


if __name__ == "__main__":
    main()
