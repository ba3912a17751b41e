"""Compares our C, C++ and CUDA definitions with those of universal-ctags, file by file.

In: a repository. Out: for each kind, the definitions that both have, those that only one has, and the counted causes of
the differences. Definitions are compared by file, kind, name and line of the name; those without a name are left out.
What a macro call defines (`TEST(A, b) {`) has the written name in our facts and the macro's name in those of ctags; it
is compared by the macro. What macros define under names that are not written down is left out. ctags reads CUDA as C++,
because its own CUDA reader knows neither classes nor namespaces.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from concordance.collect import classify
from concordance.extract import engine
from concordance.extract.cfamily import macros
from concordance.extract.languages import c, cpp, cuda
from concordance.extract.text.source_text import Source

EXTENSIONS = {
    **dict.fromkeys(c.LANGUAGE.extensions, "c"),
    **dict.fromkeys(cpp.LANGUAGE.extensions, "cpp"),
    **dict.fromkeys(cuda.LANGUAGE.extensions, "cuda"),
}
READERS = {"c": c, "cpp": cpp, "cuda": cuda}
KINDS = ("class", "struct", "union", "enum", "function", "macro", "namespace", "typedef")
_OURS = {"method": "function", "type": "typedef"}
_SPACES = re.compile(r"\s+")


class Place(NamedTuple):
    """One definition."""

    path: str
    kind: str
    name: str
    line: int


class Result(NamedTuple):
    """The facts of one file."""

    path: str
    language: str
    places: list[Place]
    causes: dict[Place, str]  # why ctags may not have it
    broken: tuple[tuple[int, int], ...]  # lines of syntax errors
    size: int
    errors: int
    blanked: int
    seconds: float


def files(root: Path) -> list[tuple[str, str]]:
    """Return the repository's files in these languages, with their language."""
    found = []
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if name != ".git")
        found += [os.path.relpath(os.path.join(folder, name), root) for name in sorted(names)]
    found = [path for path in found if Path(path).suffix.lower() in EXTENSIONS and (root / path).is_file()]
    undecided = classify.header_language(found)
    rows = []
    for path in found:
        language = EXTENSIONS[Path(path).suffix.lower()]
        if path.endswith(".h"):
            language = classify.header_content_language((root / path).read_bytes()[:100_000].decode("utf-8", "replace"), undecided)
        if language in READERS:
            rows.append((path, language))
    return rows


def table(root: Path, paths: list[str]) -> macros.Macros:
    """Return the repository's macro table."""
    return macros.merge(macros.read_defines((root / path).read_bytes(), path) for path in paths)


def read(job: tuple[str, str, str, macros.Macros]) -> Result:
    """Read one file."""
    root, path, language, known = job
    gc.disable()
    data = (Path(root) / path).read_bytes()
    text = data.decode("utf-8", "replace")
    started = time.perf_counter()
    source = Source(text, language)
    draft = READERS[language].read(source, known)
    facts = engine._complete(source, draft)
    seconds = time.perf_counter() - started
    gc.enable()
    places, causes, lines = [], {}, text.splitlines()
    for symbol in facts.symbols:
        kind = _OURS.get(symbol.kind, symbol.kind)
        if (
            symbol.declaration
            or kind not in KINDS
            or symbol.name == "(anonymous)"
            or (symbol.signature.startswith("namespace ")
            and "=" in symbol.signature)
        ):
            continue
        name = symbol.name
        if kind == "function" and not _written(lines[symbol.line - 1], name):
            continue
        made = kind == "function" and "(" in name and not name.startswith("operator")
        place = Place(path, kind, _SPACES.sub("", name.split("(")[0] if made else name), symbol.line)
        places.append(place)
        if {"= default", "= delete"} & set(symbol.modifiers):
            causes[place] = "defaulted or deleted function"
        elif made:
            causes[place] = "made by a macro's call"
    broken = tuple((f.line, max(f.line, f.end_line)) for f in facts.findings if f.by == "syntax")
    return Result(
        path, language, places, causes, broken, len(data), facts.metrics.errors, facts.metrics.blanked, seconds
    )


def _written(line: str, name: str) -> bool:
    """True if a name is written in a line; no reader of text sees what a macro defines under another name."""
    return name.split("(")[0].split(" ")[0].lstrip("~") in line


def ctags(root: Path, paths: list[str]) -> tuple[list[Place], float]:
    """Return what ctags finds in the same files."""
    started = time.perf_counter()
    command = ["ctags", "-L", "-", "--output-format=json", "--fields=+nK", "-f", "-", "--sort=no",
               "--languages=C,C++", "--langmap=C++:+.cu.cuh.hip.inc.ipp.tpp.tcc.txx.ixx.cppm"]  # fmt: skip
    done = subprocess.run(command, cwd=root, input="\n".join(paths).encode(), capture_output=True, check=True)
    seconds = time.perf_counter() - started
    places = []
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        if tag.get("kind") in KINDS and not tag["name"].startswith("__anon"):
            places.append(Place(tag["path"], tag["kind"], _SPACES.sub("", tag["name"]), tag["line"]))
    return places, seconds


def cause(place: Place, ours: bool, result: Result, others: set[Place], lines: list[str]) -> str:
    """Guess why only one side has a definition."""
    if place in result.causes:
        return result.causes[place]
    if any(first <= place.line <= last for first, last in result.broken):
        return "inside a syntax error of ours"
    if any((o.name == place.name and o.kind == place.kind and abs(o.line - place.line) <= 3) for o in others):
        return "the same on a line nearby"
    if any(o.name == place.name and o.line == place.line for o in others):
        return "another kind"
    if any(o.line == place.line and o.kind == place.kind for o in others):
        return "another name on that line"
    text = lines[place.line - 1] if place.line <= len(lines) else ""
    if not ours and re.search(r"\b" + re.escape(place.name) + r"\s*\(", text) and place.name.isupper():
        return "a macro's call"
    return f"{place.kind} only {'ours' if ours else 'of ctags'}"


def run(root: Path, workers: int = 2) -> tuple[list[tuple[object, ...]], list[tuple[str, bool, Place]], list[Result]]:
    """Return rows for each kind (kind, ours, ctags, both, F1), all differences with their causes, and our facts."""
    listed = files(root)
    known = table(root, [path for path, _ in listed])
    jobs = [
        (str(root), path, language, macros.macros_in((root / path).read_bytes(), known)) for path, language in listed
    ]
    with ProcessPoolExecutor(workers) as pool:
        results = list(pool.map(read, jobs, chunksize=16))
    theirs, seconds = ctags(root, [path for path, _ in listed])
    print(f"ctags: {seconds:.1f} s; ours: {sum(r.seconds for r in results):.1f} s of one core", file=sys.stderr)
    mine = [place for result in results for place in result.places]
    a, b = Counter(mine), Counter(theirs)
    rows = []
    for kind in (*KINDS, "all"):
        x = Counter({p: n for p, n in a.items() if kind in (p.kind, "all")})
        y = Counter({p: n for p, n in b.items() if kind in (p.kind, "all")})
        both = sum((x & y).values())
        rows.append(
            (kind, sum(x.values()), sum(y.values()), both, 2 * both / max(1, sum(x.values()) + sum(y.values())))
        )
    return rows, differences(root, a, b, results), results


def differences(
    root: Path, ours: Counter[Place], theirs: Counter[Place], results: list[Result]
) -> list[tuple[str, bool, Place]]:
    """Return what only one side has: (cause, whether it is ours, where)."""
    by_path = {result.path: result for result in results}
    near: dict[str, list[Place]] = {}
    for place in {*ours, *theirs}:
        near.setdefault(place.path, []).append(place)
    found = []
    texts: dict[str, list[str]] = {}
    for place, mine in [(p, True) for p in (ours - theirs).elements()] + [
        (p, False) for p in (theirs - ours).elements()
    ]:
        if place.path not in texts:
            texts[place.path] = (root / place.path).read_text(errors="replace").split("\n")
        other = theirs if mine else ours
        others = {p for p in near[place.path] if p in other}
        found.append((cause(place, mine, by_path[place.path], others, texts[place.path]), mine, place))
    return sorted(found)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--show", type=int, default=0, help="examples of each cause")
    options = parser.parse_args()
    rows, differ, results = run(options.root)
    print(f"{'kind':12}{'ours':>9}{'ctags':>9}{'both':>9}{'F1':>9}")
    for kind, ours, theirs, both, score in rows:
        print(f"{kind:12}{ours:>9}{theirs:>9}{both:>9}{score:>9.4f}")
    print("\ncauses of difference (ours only, ctags only)")
    counts = Counter((why, mine) for why, mine, _ in differ)
    for why in sorted({why for why, _ in counts}, key=lambda w: -(counts[w, True] + counts[w, False])):
        print(f"{counts[why, True]:>7}{counts[why, False]:>7}  {why}")
        for side in (True, False):
            some = [p for w, mine, p in differ if w == why and mine == side]
            for place in some[:: max(1, len(some) // options.show)][: options.show] if options.show else ():
                print(f"{'':18}{'ours ' if side else 'ctags'} {place.path}:{place.line} {place.kind} {place.name}")
    print()
    for language in READERS:
        mine = [r for r in results if r.language == language]
        if mine:
            size = sum(r.size for r in mine)
            broken = sum(bool(r.broken) for r in mine)
            seconds = sum(r.seconds for r in mine)
            print(
                f"{language:5} {len(mine):6} files {size / 1e6:7.1f} MB  with errors {broken / len(mine):6.2%}"
                f"  bytes in errors {sum(r.errors for r in mine) / size:7.3%}"
                f"  blanked {sum(r.blanked for r in mine) / size:7.3%}  {size / 1e6 / seconds:.1f} MB/s a core"
            )


if __name__ == "__main__":
    main()
