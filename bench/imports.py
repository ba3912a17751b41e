"""Imports beside programs that others wrote: Python's beside ruff's graph, C's beside a compiler's search.

    python -m bench.imports CORPUS      a checkout, or a folder of checkouts

In: checkouts and their stores. Out, for Python: precision and recall of the pairs (file, file that it
imports) of files that both read, and the cause of each difference. For C and C++: how many includes that the
compiler's rule finds in the tree lead to the same file here. The rule is a plain function over include
roots, which are read here from the build files and not taken from the linker; libclang then takes the same roots and
tells of a sample of files what it opened. Last, what it costs to resolve all imports of all languages.
"""

from __future__ import annotations

import glob
import json
import keyword
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from clang import cindex

from concordance.base import plugins
from concordance.base.model import File, Import, Origin, Target
from concordance.facts.read import Facts
from concordance.link.cfamily.system_headers import standard_group
from concordance.link.languages import c as c_family
from concordance.link.languages import python
from concordance.link.paths.tree import Tree
from concordance.link.python.module_finder import STANDARD_MODULES, ModuleFinder
from concordance.workflow.store_location import FOLDER

CORPORA = ("pytorch", "torch-wheel", "django", "numpy")
_OPTIONS = 0x200 | 0x40 | 0x02 | 0x01  # go on behind a missing header, skip bodies, incomplete, note all directives
Rows = dict[str, list[Import]]
Pair = tuple[str, str]


def rows(root: Path) -> tuple[Tree, Rows]:
    """Return a checkout's tree and what its files import, from its store."""
    with Facts(str(root / FOLDER)) as facts:
        files: list[File] = list(facts.files())
        found = {file.path: list(facts.of(file.path).imports) for file in files if not file.skip}
    return Tree(str(root), files), {path: listed for path, listed in found.items() if listed}


# --- Python


@dataclass
class Compared:
    """Our pairs and the oracle's."""

    both: int = 0
    ours: int = 0
    theirs: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    samples: dict[str, Pair] = field(default_factory=dict)

    def note(self, cause: str, pair: Pair) -> None:
        """Count a difference."""
        self.causes[cause] += 1
        self.samples.setdefault(cause, pair)

    @property
    def precision(self) -> float:
        """Return the share of our pairs that the oracle has."""
        return self.both / max(1, self.ours)

    @property
    def recall(self) -> float:
        """Return the share of the oracle's pairs that we have."""
        return self.both / max(1, self.theirs)


def graph(root: Path) -> dict[str, list[str]]:
    """Return what each Python file imports according to ruff, without the checkout's own settings."""
    ruff = str(Path(sys.executable).parent / "ruff")
    command = [ruff, "analyze", "graph", "--isolated", "--preview", "."]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = json.loads(said)
    return found


def pairs(tree: Tree, imports: Rows) -> dict[Pair, tuple[Import, Target]]:
    """Return every file of the repository that a Python file imports; of `from a import b` the module b, if it is one.
    """
    resolve, modules = python.imports(tree), tree.once(ModuleFinder)
    found: dict[Pair, tuple[Import, Target]] = {}
    for path, listed in imports.items():
        for one in listed if tree.language(path) == "python" else ():
            target = resolve(path, one)
            if one.name not in ("", "*"):
                inner = modules.repository_target(path, _whole(one))
                target = inner if inner is not None and inner.paths else target
            if target.origin == Origin.REPOSITORY:
                for file in target.paths:
                    found.setdefault((path, file), (one, target))
    return found


def _whole(one: Import) -> str:
    return one.module + one.name if one.module.endswith(".") else f"{one.module}.{one.name}"


def compare_python(root: Path, tree: Tree, imports: Rows) -> Compared:
    """Compare our pairs with ruff's, in files that both read."""
    theirs, ours = graph(root), pairs(tree, imports)
    read = {path for path in theirs if tree.language(path) == "python" and path in tree.paths}
    known = {(path, file) for path in read for file in theirs[path]}
    mine = {pair for pair in ours if pair[0] in read and pair[1].endswith((".py", ".pyi"))}
    found = Compared(len(known & mine), len(mine), len(known))
    modules = tree.once(ModuleFinder)
    for pair in sorted(mine - known):
        found.note(f"ours: {_why_ours(modules, pair, *ours[pair], theirs[pair[0]])}", pair)
    for pair in sorted(known - mine):
        found.note(f"ruff: {_why_theirs(tree, modules, pair, imports.get(pair[0], []))}", pair)
    unread = Counter("Cython" if file.endswith(".pyx") else "other" for path, file in ours if path in read)
    found.causes["left out: to Cython, which ruff does not read"] = unread["Cython"]
    found.causes["left out: from files that only ruff reads (notebooks, links)"] = sum(
        len(files) for path, files in theirs.items() if path not in read
    )
    found.causes["left out: from files that only we read (templates, scripts)"] = sum(path not in theirs for path, _ in ours)
    return found


def _last(file: str) -> str:
    """Return the name of a module's file, or of its package's folder."""
    stem = file.rpartition("/")[0] if "/__init__." in file else re.sub(r"\.pyi?$", "", file)
    return stem.rpartition("/")[2]


def _why_ours(modules: ModuleFinder, pair: Pair, one: Import, target: Target, theirs: list[str]) -> str:
    path, file = pair
    folder = path.rpartition("/")[0]
    if any(map(keyword.iskeyword, file.removesuffix(".py").split("/"))):
        return "a folder is called like a keyword"
    if one.module.startswith(".") and f"{folder}/__init__.py" not in modules.tree.paths:
        return "relative import in a folder without __init__.py"
    if target.by.startswith(("beside", "folder")):
        return "root of a script or of tests"
    if "namespace" in target.by or not modules.module_files(path, one.module.partition(".")[0]):
        return "namespace package"
    if any(file.startswith(f"{to}/") or file == to for to in modules.tree.links.values()):
        return "through a symbolic link"
    if any(_last(other) == _last(file) for other in theirs):
        return "a nearer root than ruff's"
    return "other" if theirs else "a file that ruff cannot parse"


def _why_theirs(tree: Tree, modules: ModuleFinder, pair: Pair, listed: list[Import]) -> str:
    path, file = pair
    last = _last(file)
    resolve = python.imports(tree)
    for one in listed:
        words = (f"{one.module}.{one.name}" if one.name else one.module).split(".")
        relative = one.module.startswith(".")
        if last not in words and not relative:
            continue
        target = resolve(path, one)
        if target.origin in (Origin.UNRESOLVED, Origin.GENERATED) and (last in words or relative):
            return "the package around a module that is not there"
        if target.origin == Origin.STANDARD and words[0] in STANDARD_MODULES:
            return "a module named like the standard library's"
        if target.origin == Origin.THIRD_PARTY and last in words:
            return "a required distribution's name"
        if target.paths and target.paths[0] != file and last in words:
            return "a farther root than ours"
    return "other"


# --- C and C++


def include_roots(tree: Tree) -> dict[str, list[str]]:
    """Return the include roots that build files name, by the folder of the build file: CMake's, Bazel's, Make's and
    setup.py's. A folder called `include` is what a package installs; its users name it."""
    found: dict[str, list[str]] = {"": [folder for folder in sorted(tree.folders) if folder.rpartition("/")[2] == "include"]}
    for path, file in tree.files.items():
        base, home = path.rpartition("/")[2], path.rpartition("/")[0]
        words: list[str] = []
        if file.language == "cmake":
            text = re.sub(r"#[^\n]*", "", tree.text(path))
            for inside in re.findall(r"(?i)include_directories\s*\(([^()]*)\)", text):
                words += inside.replace('"', " ").split()
            for inside in re.findall(r"(?i)(?:set|list)\s*\(\s*(?:APPEND\s+)?\w*INCLUDE\w*\s([^()]*)\)", text):
                words += inside.replace('"', " ").split()
        elif file.language == "starlark" or base == "setup.py":
            text = tree.text(path)
            for inside in re.findall(r"(?:includes|include_dirs|strip_include_prefix)\s*=\s*(\[[^\]]*\]|\"[^\"]*\")", text):
                words += re.findall(r"[\"']([^\"']+)[\"']", inside)
        elif file.language == "make":
            words += re.findall(r"-I\s*(\S+)", tree.text(path))
        for word in words:
            plain = re.sub(r"\$<[A-Z_]+:|>", "", word)
            for start in (home, ""):
                folder = os.path.normpath(re.sub(r"\$[{(]\w+[)}]/?", "", f"{start}/{plain}").lstrip("/") or ".")
                folder = "" if folder == "." else folder
                if folder in tree.folders and "BINARY" not in word and folder not in found.setdefault(home, []):
                    found[home].append(folder)
    return found


def search(tree: Tree, roots: dict[str, list[str]], path: str, one: Import) -> str:
    """Search as a compiler does: for quotes the folder of the file, then the roots of the build files around it, the
    innermost first, then the repository, then all other roots."""
    folder = path.rpartition("/")[0]
    homes = [folder] if one.form == "local" else []
    around = folder
    while True:
        homes += roots.get(around, [])
        if not around:
            break
        around = around.rpartition("/")[0]
    homes += ["", *(root for home in sorted(roots) for root in roots[home])]
    for home in homes:
        file = os.path.normpath(f"{home}/{one.module}".lstrip("/"))
        if file in tree.paths:
            return file
    return ""


@dataclass
class Includes:
    """Our answers and the compiler's."""

    asked: int = 0
    same: int = 0
    only_ours: int = 0  # found here, and below no root that a build file names
    samples: list[tuple[str, int, str, str, str]] = field(default_factory=list)


def compare_includes(tree: Tree, imports: Rows) -> Includes:
    """Compare our includes with the search over the roots that build files name, without system headers."""
    found, roots, resolve = Includes(), include_roots(tree), c_family.imports(tree)
    for path, listed in imports.items():
        for one in listed if tree.language(path) in c_family.LANGUAGES else ():
            if not one.form or standard_group(one.module):
                continue
            wanted, target = search(tree, roots, path, one), resolve(path, one)
            ours = target.paths[0] if target.origin == Origin.REPOSITORY and target.paths else ""
            if not wanted and ours:
                found.only_ours += 1
                continue
            found.asked += 1
            found.same += wanted == ours
            if wanted != ours:
                found.samples.append((path, one.line, one.module, wanted, ours))
    return found


def compare_opened(root: Path, tree: Tree, imports: Rows, count: int = 60) -> Includes:
    """Compare our includes with what libclang opens, for sampled files."""
    roots = include_roots(tree)
    listed = sorted({folder for folders in roots.values() for folder in folders})
    flags = ["-x", "c++", "-std=c++17", "-ferror-limit=0", "-w", f"-I{root}"]
    system = [*glob.glob("/usr/include/c++/1*"), *glob.glob("/usr/include/*-linux-gnu/c++/1*")]
    system += [*glob.glob("/usr/include/*-linux-gnu"), *glob.glob("/usr/lib/gcc/*/1*/include"), "/usr/include"]
    paths = sorted(path for path in imports if tree.language(path) in ("c", "cpp"))
    sample = random.Random(7).sample(paths, min(count, len(paths)))
    found, resolve, index = Includes(), c_family.imports(tree), cindex.Index.create()
    for path in sample:
        around = [folder for home in _around(path) for folder in roots.get(home, [])]
        own = [f"-I{root / folder}" for folder in dict.fromkeys([*around, *listed])]
        try:
            args = [*flags, *own, *(f"-isystem{one}" for one in system)]
            unit = index.parse(str(root / path), args=args, options=_OPTIONS)
        except cindex.TranslationUnitLoadError:
            continue
        by_line = {one.line: one for one in imports[path]}
        for cursor in unit.cursor.get_children():
            if cursor.kind != cindex.CursorKind.INCLUSION_DIRECTIVE or str(cursor.location.file) != str(root / path):
                continue
            one = by_line.get(cursor.location.line)
            try:
                file = os.path.normpath(str(cursor.get_included_file()))
            except AssertionError:  # it found none
                continue
            if one is None or not file.startswith(f"{root}/"):
                continue
            target = resolve(path, one)
            wanted = os.path.relpath(os.path.realpath(file), root)
            found.asked += 1
            found.same += wanted in target.paths[:1]
            if wanted not in target.paths[:1]:
                found.samples.append((path, one.line, one.module, wanted, " ".join(target.paths)))
    return found


def _around(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(len(parts), -1, -1)]


# --- all languages


def cost(tree: Tree, imports: Rows) -> tuple[int, float, dict[str, Counter[str]]]:
    """Return how many imports there are, the processor seconds for resolving them, and their origins by language."""
    began = time.process_time()
    fresh = Tree(tree.root, tree.files.values())
    resolvers = {}
    for name in plugins.names("concordance.link.languages"):
        module = plugins.load("concordance.link.languages", name)
        resolvers.update(dict.fromkeys(module.LANGUAGES, module.imports(fresh)))
    count, origins = 0, dict[str, Counter[str]]()
    for path, listed in imports.items():
        language = fresh.language(path)
        resolve = resolvers.get(language)
        for one in listed if resolve is not None else ():
            origins.setdefault(language, Counter())[str(resolve(path, one).origin)] += 1
            count += 1
    return count, time.process_time() - began, origins


def run(root: Path) -> list[tuple[str, str, str]]:
    """Measure one checkout; return lines of a table, each with what, its bar and what was measured."""
    tree, imports = rows(root)
    name, table = root.name, []
    found = compare_python(root, tree, imports)
    if found.theirs:
        unknown = sum(count for cause, count in found.causes.items() if cause.endswith(": other"))
        measured = f"precision {found.precision:.4f}, recall {found.recall:.4f} ({found.theirs:,} pairs), {unknown} unexplained"
        table.append((f"{name}, Python import to file, beside ruff", ">= 0.995", measured))
        causes = "; ".join(f"{cause} {count}" for cause, count in sorted(found.causes.items()) if count)
        table.append((f"{name}, differences by cause", "explained", causes))
    included = compare_includes(tree, imports)
    if included.asked:
        measured = f"{included.same / included.asked:.4f} of {included.asked:,}; {included.only_ours:,} below no named root"
        table.append((f"{name}, C and C++ include to file, beside the compiler's rule", ">= 0.99", measured))
        opened = compare_opened(root, tree, imports)
        measured = f"{opened.same / max(1, opened.asked):.4f} of {opened.asked:,} that libclang opens, 60 files"
        table.append((f"{name}, the same beside libclang", ">= 0.99", measured))
    count, seconds, origins = cost(tree, imports)
    table.append((f"{name}, all imports resolved", "< 1.5 s", f"{count:,} in {seconds:.2f} s of one processor"))
    for language, by_origin in sorted(origins.items(), key=lambda item: -item[1].total()):
        listed = ", ".join(f"{origin} {number:,}" for origin, number in by_origin.most_common())
        table.append((f"{name}, {language}", "", listed))
    return table


def main() -> None:
    """Print the table for a checkout, or for those in a folder."""
    given = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CORPUS", "../corpus")).resolve()
    roots = [given] if (given / FOLDER).exists() else [given / name for name in CORPORA if (given / name / FOLDER).exists()]
    if not roots:
        sys.exit(f"{given} has no checkout with a store: concord build {given}")
    print("| what | bar | measured |\n|---|---|---|")
    for root in roots:
        for line in run(root):
            print("| " + " | ".join(line) + " |", flush=True)


if __name__ == "__main__":
    main()
