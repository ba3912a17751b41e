"""`python -m bench operators ROOT`: the operators, kernels, derivatives and tests that bridges found, compared with the
tables.

In: a repository with a store, whose tables of operators are where PyTorch's are or are named. Out: how many entries,
dispatch keys, derivatives and tests have a row, and how many kernels lead where ctags says. The oracles are this file's
own: tables are read line by line, tests with `ast`, and definitions with ctags, for names that it finds only once.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from concordance.base.model import Bridge
from concordance.facts.links.bridge_rows import unpack_bridges
from concordance.facts.read import Facts
from concordance.workflow.store_location import FOLDER

FUNCTIONS = "aten/src/ATen/native/native_functions.yaml"
DERIVATIVES = "tools/autograd/derivatives.yaml"
TESTS = "torch/testing/_internal"
SOURCES = "aten"
STRUCTURED = ("CPU", "CUDA", "MPS")  # the keys whose kernels a macro names
_ENTRY = re.compile(r"- (?:func|name):\s*(\w+(?:\.\w+)?)\(")
_KEY = re.compile(r"    ([A-Za-z, ]+):\s*([\w:]+)\s*(?:#.*)?$")
_FIELD = re.compile(r"  (\w+):\s*([^#]*)")


class Entry(NamedTuple):
    """An entry of the table of operators."""

    name: str
    fields: dict[str, str]
    kernels: list[tuple[str, str]]  # key, kernel


def table(path: Path) -> list[Entry]:
    """Return the entries of a table, read line by line."""
    found: list[Entry] = []
    field = ""
    for line in path.read_text().splitlines():
        entry = _ENTRY.match(line)
        if entry:
            found.append(Entry(entry[1], {}, []))
            field = ""
        elif found and (other := _FIELD.match(line)):
            field = other[1]
            found[-1].fields[field] = other[2].strip()
        elif found and field == "dispatch" and (kernel := _KEY.match(line)):
            found[-1].kernels.extend((key.strip(), kernel[2]) for key in kernel[1].split(","))
    return found


def definitions(root: Path) -> dict[str, list[tuple[str, int]]]:
    """Return where ctags finds functions of C++, including those that a macro names by its argument."""
    paths = [str(p.relative_to(root)) for p in sorted((root / SOURCES).rglob("*"))
             if p.suffix in (".cpp", ".cu", ".h", ".cuh", ".mm", ".cc")]  # fmt: skip
    command = ["ctags", "-L", "-", "--output-format=json", "--fields=+nK", "-f", "-", "--sort=no", "--languages=C++",
               "--langmap=C++:+.cu.cuh.mm"]  # fmt: skip
    done = subprocess.run(command, cwd=root, input="\n".join(paths).encode(), capture_output=True, check=True)
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    lines: dict[str, list[str]] = {}
    for row in done.stdout.splitlines():
        tag = json.loads(row)
        if tag.get("kind") != "function":
            continue
        name, path = tag["name"], tag["path"]
        if name in ("TORCH_IMPL_FUNC", "TORCH_META_FUNC"):
            if path not in lines:
                lines[path] = (root / path).read_text(errors="replace").splitlines()
            written = re.search(name + r"\s*\(\s*(\w+)", lines[path][tag["line"] - 1])
            name = f"{name}:{written[1]}" if written else name
        found[name].append((path, tag["line"]))
    return found


def tests(root: Path) -> list[tuple[str, dict[str, str]]]:
    """Return the first argument and the string keywords of every call of a class whose name ends like those of operator
    tests."""
    found = []
    for path in sorted((root / TESTS).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                first = node.args[0]
                if re.fullmatch(r"\w*(Op|Func|Ufunc|Ref)Info", node.func.id) and isinstance(first, ast.Constant):
                    words = {k.arg or "": k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)}
                    found.append((str(first.value), {"class": node.func.id, **{k: str(v) for k, v in words.items()}}))
    return found


def wanted(name: str, words: dict[str, str], bases: set[str]) -> str:
    """Return the operator that a test is for, by the rules of the tables; "" if it is for none."""
    plain = words.get("torch_opinfo_name", name).removeprefix("_refs.")
    tried = [words.get("aten_name", ""), plain, plain.replace(".", "_"), plain.removeprefix("nn.functional.")]
    if words["class"].startswith("Foreach"):
        tried.insert(0, f"_foreach_{plain}")
    return next((one for one in tried if one in bases), "")


def share(good: int, of: int) -> str:
    """Return a share, with what it is of."""
    return f"{good / max(of, 1):.4f} ({good:,} of {of:,})"


class Bench:
    """One store and its tables."""

    def __init__(self, root: Path) -> None:
        self.root, self.facts = root, Facts(str(root / FOLDER))
        self.rows: dict[str, list[Bridge]] = defaultdict(list)
        for row in unpack_bridges(self.facts.analysis_result("bridges")):
            self.rows[row.says].append(row)
        self.entries = table(root / FUNCTIONS)

    def kernels(self) -> None:
        """Compare dispatch entries with ctags."""
        truth = definitions(self.root)
        rows: dict[tuple[str, str, str], list[Bridge]] = defaultdict(list)
        for row in self.rows["kernel"]:
            more = dict(row.more)
            rows[row.name, more.get("key", ""), more.get("kernel", "")].append(row)
        found = right = wrong = asked = seen = 0
        for entry in self.entries:
            for key, kernel in entry.kernels:
                places = truth.get(kernel, [])
                if entry.fields.get("structured") == "True" and key in STRUCTURED:  # what other macros make it cannot see
                    places = truth.get(f"TORCH_IMPL_FUNC:{kernel}", [])
                given = [self.facts.place(row.target) for row in rows[f"aten::{entry.name}", key, kernel] if row.target]
                seen += bool(given)
                if len(places) != 1:
                    continue
                asked += 1
                hits = [one for one in given if one is not None and (one.path, one.line) == places[0]]
                near = [one for one in given if one is not None and one.path == places[0][0]
                        and abs(one.line - places[0][1]) <= 3]  # fmt: skip
                found += bool(given)
                right += bool(hits or near)
                wrong += bool(given) and not (hits or near)
                if not (hits or near):
                    print("   ", entry.name, key, kernel, places[0], [(one.path, one.line) for one in given if one])
        total = sum(len(entry.kernels) for entry in self.entries)
        print("dispatch entries with a kernel:", share(seen, total))
        print("of names that ctags has once, found:", share(found, asked), "right:", share(right, right + wrong))

    def operators(self) -> None:
        """Count entries with a row."""
        known = {row.name for row in self.rows["schema"]}
        print("operators:", share(sum(f"aten::{entry.name}" in known for entry in self.entries), len(self.entries)))

    def derivatives(self) -> None:
        """Count derivatives that lead to the entry of their name."""
        path = self.root / DERIVATIVES
        names = {entry.name for entry in self.entries}
        asked = [entry.name for entry in table(path) if entry.name in names]
        known = set()
        for row in self.rows["formula"]:
            place = self.facts.place(row.target) if row.target else None
            if place is not None and f"aten::{place.name}" == row.name:
                known.add(row.name)
        for name in asked:
            if f"aten::{name}" not in known:
                print("   ", name)
        print("derivatives:", share(sum(f"aten::{name}" in known for name in asked), len(asked)))

    def tests(self) -> None:
        """Count tests that lead to the operator of their name."""
        bases = {entry.name.partition(".")[0] for entry in self.entries}
        given: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in self.rows["opinfo"]:
            more = dict(row.more)
            given[more.get("test", ""), more.get("class", "")].add(row.name.removeprefix("aten::").partition(".")[0])
        asked = good = other = 0
        for name, words in tests(self.root):
            want = wanted(name, words, bases)
            got = given.get((name, words["class"]), set())
            other += bool(got) and not want
            if want:
                asked += 1
                good += want in got
                if want not in got:
                    print("   ", name, words["class"], want, got)
        print("tests of operators:", share(good, asked), "besides, of other names:", other)


def main(arguments: list[str]) -> None:
    """Print the figures."""
    bench = Bench(Path(arguments[0]))
    bench.operators()
    bench.kernels()
    bench.derivatives()
    bench.tests()
    bench.facts.close()


if __name__ == "__main__":
    main(sys.argv[1:])
