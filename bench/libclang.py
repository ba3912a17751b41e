"""Lets libclang judge the differences between our C, C++ and CUDA definitions and those of ctags.

In: a repository, and the differences that `bench.ctags` finds. Out: who is right about a number of them, drawn with a
fixed seed. libclang follows the includes that it finds under the repository's usual roots; a place that the
preprocessor leaves out, or that libclang did not understand because of an error beside it, is undecided. A function `=
default` or `= delete` counts as defined, as the language says (a function body may be either); libclang's
`is_definition` asks for a body in braces.
"""

from __future__ import annotations

import argparse
import glob
import random
import re
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from clang import cindex

from tests.support import ctags

Job = tuple[str, str, str, list[tuple[str, bool, ctags.Place]]]  # root, path, language, differences
Judged = tuple[str, bool, ctags.Place, str]
ROOTS = (
    ".",
    "aten/src",
    "torch/csrc/api/include",
    "torch/csrc",
    "torch/lib",
    "c10",
    "caffe2",
    "third_party",
    "include",
    "src",
)
_GROUPS = {
    "class": "CLASS_DECL STRUCT_DECL UNION_DECL CLASS_TEMPLATE CLASS_TEMPLATE_PARTIAL_SPECIALIZATION",
    "struct": "CLASS_DECL STRUCT_DECL UNION_DECL CLASS_TEMPLATE CLASS_TEMPLATE_PARTIAL_SPECIALIZATION",
    "union": "UNION_DECL CLASS_TEMPLATE",
    "enum": "ENUM_DECL",
    "function": "FUNCTION_DECL CXX_METHOD CONSTRUCTOR DESTRUCTOR CONVERSION_FUNCTION FUNCTION_TEMPLATE",
    "macro": "MACRO_DEFINITION",
    "namespace": "NAMESPACE",
    "typedef": "TYPEDEF_DECL TYPE_ALIAS_DECL TYPE_ALIAS_TEMPLATE_DECL",
}
KINDS = {group: frozenset(names.split()) for group, names in _GROUPS.items()}
_CUDA = [
    f"-D{word}=" for word in ("__global__", "__device__", "__host__", "__shared__", "__constant__", "__forceinline__")
]
_PARTS = re.compile(r"\s+|<.*>$")


def arguments(root: Path, path: str, language: str) -> list[str]:
    """Return the compiler's flags for a file."""
    flags = [
        "-x",
        "c" if language == "c" else "c++",
        "-std=c11" if language == "c" else "-std=c++17",
        "-ferror-limit=0",
        "-w",
    ]
    flags += [f"-I{root / folder}" for folder in ROOTS if (root / folder).is_dir()]
    flags += [f"-I{(root / path).parent}"]
    for pattern in (
        "/usr/lib/gcc/*/1*/include",
        "/usr/include/c++/1*",
        "/usr/include/*-linux-gnu/c++/1*",
        "/usr/include/*-linux-gnu",
    ):
        flags += [f"-isystem{folder}" for folder in sorted(glob.glob(pattern))[-1:]]
    return [*flags, "-isystem/usr/include", *(_CUDA if language == "cuda" else [])]


def judge(job: Job) -> list[Judged]:
    """Judge the differences of one file, each as "ours", "ctags" or "undecided"."""
    root, path, language, differ = job
    name = str(Path(root) / path)
    options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | 0x200 | cindex.TranslationUnit.PARSE_INCOMPLETE
    try:
        unit = cindex.Index.create().parse(name, arguments(Path(root), path, language), options=options)
    except cindex.TranslationUnitLoadError:
        return [(*one, "undecided") for one in differ]
    here: dict[int, list[tuple[str, str, bool]]] = {}
    covered: set[int] = set()
    pending = [c for c in unit.cursor.get_children() if c.location.file is not None and c.location.file.name == name]
    while pending:
        cursor = pending.pop()
        line = cursor.location.line
        kind = cursor.kind.name
        if not kind.startswith("MACRO_") or kind == "MACRO_DEFINITION":
            covered.update((line, cursor.extent.start.line, cursor.extent.end.line))
        defined = cursor.is_definition() or kind in KINDS["macro"] | KINDS["namespace"] | KINDS["typedef"]
        if not defined and kind in KINDS["function"]:
            defined = cursor.is_default_method() or cursor.is_deleted_method()
        here.setdefault(line, []).append((kind, _plain(cursor.spelling), defined))
        pending.extend(cursor.get_children())
    wrong = {
        d.location.line
        for d in unit.diagnostics
        if d.severity >= 3 and d.location.file and d.location.file.name == name
    }
    return [(why, mine, place, _verdict(place, mine, here, covered, wrong)) for why, mine, place in differ]


def _alone(job: Job) -> list[Judged]:
    """Read one file in a process of its own: libclang may crash on code it cannot understand."""
    with ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(judge, job).result()
        except BrokenProcessPool:
            return [(*one, "undecided") for one in job[3]]


def _plain(spelling: str) -> str:
    return _PARTS.sub("", spelling) if not spelling.startswith("operator") else re.sub(r"\s+", "", spelling)


def _verdict(
    place: ctags.Place, mine: bool, here: dict[int, list[tuple[str, str, bool]]], covered: set[int], wrong: set[int]
) -> str:
    found = here.get(place.line, [])
    if any(kind in KINDS[place.kind] and spelled == place.name and defined for kind, spelled, defined in found):
        return "ours" if mine else "ctags"
    expanded = any(kind == "MACRO_INSTANTIATION" and spelled == place.name for kind, spelled, _ in found)
    if mine and expanded and any(kind in KINDS["function"] and defined for kind, _, defined in found):
        return "ours"  # made by a macro's call
    if not mine and expanded:
        return "ours"  # it is a macro's call
    if place.line not in covered or any(abs(line - place.line) <= 3 for line in wrong):
        return "undecided"
    return "ctags" if mine else "ours"


def run(root: Path, count: int = 300, seed: int = 1, workers: int = 2) -> list[Judged]:
    """Judge a number of differences."""
    _, differ, results = ctags.run(root, workers)
    languages = {result.path: result.language for result in results}
    drawn = random.Random(seed).sample(differ, min(count, len(differ)))
    by_path: dict[str, list[tuple[str, bool, ctags.Place]]] = {}
    for one in drawn:
        by_path.setdefault(one[2].path, []).append(one)
    jobs = [(str(root), path, languages[path], found) for path, found in sorted(by_path.items())]
    judged = []
    with ThreadPoolExecutor(workers) as pool:
        for done in pool.map(_alone, jobs):
            judged += done
            print(f"\r{len(judged)} of {len(drawn)}", end="", file=sys.stderr)
    return judged


def main() -> None:
    """Print who is right, by cause."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--show", action="store_true", help="list where ctags is right")
    options = parser.parse_args()
    judged = run(options.root, options.count)
    verdicts = Counter((why, verdict) for why, _, _, verdict in judged)
    print(f"\n{'ours':>6}{'ctags':>6}{'undecided':>10}  cause")
    for why in sorted({why for why, _ in verdicts}):
        print(f"{verdicts[why, 'ours']:>6}{verdicts[why, 'ctags']:>6}{verdicts[why, 'undecided']:>10}  {why}")
    total = Counter(verdict for *_, verdict in judged)
    decided = total["ours"] + total["ctags"]
    share = total["ours"] / max(1, decided)
    print(f"{total['ours']:>6}{total['ctags']:>6}{total['undecided']:>10}  all; ours right in {share:.1%} of {decided}")
    for why, mine, place, verdict in judged if options.show else ():
        if verdict == "ctags":
            print(f"{'ours ' if mine else 'ctags'} {place.path}:{place.line} {place.kind} {place.name}  ({why})")


if __name__ == "__main__":
    main()
