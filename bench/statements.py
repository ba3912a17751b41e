"""`python -m bench statements REPO… PACKAGE… [COUNT]`: are the sentences on pages true?

In: repositories with a built book, names of packages that `tests_map` knows, and how many statements to draw of each
repository (1,000). Out: the table of `python -m bench`: for each kind of statement how many were drawn and how many an
oracle contradicts, and the first of those in words.

| kind | oracle |
|---|---|
| structure, dependencies, calls, used by, purpose, run commands | the repository's files as text, without the program's store, reader or linker: the line of a definition has its name; the line of an import has the module's last part; a callee's name stands in the lines of its caller; a file that is said to use, call, extend or import something has its name; a quotation stands in the file; a test that a command names is in its file |
| absence: tests, absence: uses | text, too: no other file has the file's dotted name, or its name if no other file has the same, unless the page lists that file |
| Python uses | pyrefly, if it is installed: what a name leads to, at trust unique name or better; a name that leads outside contradicts a link into the repository |
| C++ uses | libclang, if it is installed, on 30 files: the same |
| tests: first five, tests: none, commands | of packages: coverage.py with one context a test, and `pytest --collect-only`; see `tests_map` |

What an oracle does not decide is not counted.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from bench import pynames, tests_map
from concordance.facts.read import Facts
from concordance.workflow.store_location import FOLDER

_DEFINITION = re.compile(r'<a id="def-(?P<key>[^"]*)"></a>(?:\w+ )?(?P<ticks>`+)(?P<told>.*?)(?P=ticks) \[?L(?P<line>\d+)(?:\](?:\([^)]*\)|\[\d+\]))?(?:–(?P<last>\d+))?')
_LINK = re.compile(r"\[`(?P<label>[^`]+)`\](?:\((?P<to>[^)\s]+)\)|\[(?P<ref>[^\]]*)\])?")
_REFERENCE = re.compile(r"^\[(?P<label>[^\]]+|`[^`]+`)\]: (?P<to>\S+)$", re.M)
_IMPORT = re.compile(r"^- \[?`(?P<module>[^`]+)`.*? L(?P<line>\d+)$", re.M)
_QUOTED = re.compile(r"“([^”]{12,})”")
_PYTEST = re.compile(r"^(?:python -m )?pytest (?P<what>\S+)$", re.M)
_WORD = re.compile(r"[A-Za-z_]\w+")
_USES = re.compile(r"(?:^|· )\s*(?P<verb>calls|called by|used by|extended by|extends|overridden by) (?P<who>.*?)(?= · |$)")
_NO_TEST = re.compile(r"No test found that runs it")
_NO_USER = re.compile(r"No (?:direct )?reference to it was found|No references found")
_PATH = re.compile(r"[\w./-]*\w\.\w+")  # a path, a file name or a dotted name
_MANIFEST = 500  # a file that names more files than this lists them, and uses none
_PYTHON_FILES, _CPP_FILES = 100, 30  # files whose names are held against pyrefly's and libclang's
_TEST_PATH = re.compile(r"(?:^|/)tests?/|(?:^|/)test_|_test\.")


class Statement(NamedTuple):
    """One statement of a page."""

    kind: str
    page: str
    words: str
    holds: bool


class Repository:
    """The files of a repository as text, and its pages."""

    def __init__(self, root: Path) -> None:
        self.root, self.book = root, root / FOLDER / "book"
        self._texts: dict[str, str] = {}

    def text(self, path: str) -> str:
        """Return a file's text; empty if there is none."""
        if path not in self._texts:
            try:
                self._texts[path] = (self.root / path).read_bytes().decode("utf-8", "replace")
            except OSError:
                self._texts[path] = ""
        return self._texts[path]

    def pages(self) -> list[str]:
        """Return the paths of files that have a page."""
        found = []
        for top, _, names in os.walk(self.book):
            home = os.path.relpath(top, self.book)
            found += [os.path.normpath(os.path.join(home, name[:-8])) for name in names if name.endswith("_docs.md")]
        return sorted(path for path in found if (self.root / path).is_file())


def statements(of: Repository, path: str) -> Iterator[Statement]:
    """Return the statements of one file's page that text can contradict."""
    page = (of.book / f"{path}_docs.md").read_text()
    before, _, rest = page.partition("\n## Original Source\n")
    after = rest.partition("\n## High-Level Overview\n")[2]
    references = {match["label"].strip("`"): match["to"] for match in _REFERENCE.finditer(page)}
    lines = of.text(path).split("\n")
    structure = after.partition("\n## Detailed Analysis\n")[2].partition("\n## Architecture & Design\n")[0]
    yield from _of_structure(of, path, lines, structure, references)
    dependencies = after.partition("\n### Import Dependencies\n")[2].partition("\n### ")[0].partition("\n## ")[0]
    for match in _IMPORT.finditer(dependencies):
        last = re.split(r"[./:]", match["module"].removesuffix(".h").strip("./"))[-1]
        there = "\n".join(lines[int(match["line"]) - 1 : int(match["line"]) + 40])
        yield Statement("dependencies", path, match[0], not last or last in there)
    for words in _QUOTED.findall(before):
        yield Statement("purpose", path, words, _says(of, path, page, words))
    for match in _PYTEST.finditer(after):
        yield Statement("run commands", path, match[0], _has_test(of, match["what"]))


def _of_structure(
    of: Repository, path: str, lines: list[str], text: str, references: dict[str, str]
) -> Iterator[Statement]:
    name, first, last = "", 0, 0
    for line in text.split("\n"):
        for match in _DEFINITION.finditer(line):
            key = re.sub(r"\+\d+$", "", match["key"]).rpartition(".")[2]
            names = _WORD.findall(match["told"])
            name = key if key in names else ""
            first, last = int(match["line"]), int(match["last"] or match["line"])
            around = " ".join(lines[first - 1 : first + 2])
            if name:
                yield Statement("structure", path, f"{name} L{first}", name in around)
        for told in _USES.finditer(line) if name and not line.lstrip().startswith(">") else ():
            for link in _LINK.finditer(told["who"]):
                yield from _use(of, path, told["verb"], name, (first, last), link, lines, references)


def _use(
    of: Repository, path: str, verb: str, name: str, at: tuple[int, int], link: re.Match[str], lines: list[str],
    references: dict[str, str],
) -> Iterator[Statement]:  # fmt: skip
    other = re.split(r"[.:]+", link["label"])[-1]
    said = f"{name} {verb} {link['label']}"
    if verb in ("calls", "extends"):
        inside = "\n".join(lines[at[0] - 1 : at[1]])
        bare = re.sub(r"\W.*", "", other.removeprefix("operator"))
        special = not bare or bare.startswith("__") or bare in ("init", name)
        yield Statement("calls" if verb == "calls" else "structure", path, said, special or bare in inside)
        return
    target = link["to"] or references.get(link["ref"] or link["label"], "")
    where = _file_of(path, target.partition("#")[0]) if not target.startswith("#") else path
    if where and (of.root / where).is_file():
        special = name.startswith(("__", "operator", "~"))
        yield Statement("used-by", path, said, special or name in of.text(where))


def _file_of(path: str, address: str) -> str:
    """Return the file that a link from a file's page is about; "" if it is about something else."""
    there = os.path.normpath(os.path.join(os.path.dirname(path), unquote(address)))
    return there.removesuffix("_docs.md") if there.endswith("_docs.md") else ""


def _says(of: Repository, path: str, page: str, words: str) -> bool:
    """True if a quotation is in the file, or in one that the page cites or links."""
    wanted = _letters(words)
    if wanted in _letters(of.text(path)):
        return True
    addresses = [match["to"] for pattern in (_LINK, _REFERENCE) for match in pattern.finditer(page) if match["to"]]
    linked = {_file_of(path, address.partition("#")[0]) for address in addresses}
    return any(wanted in _letters(of.text(one)) for one in linked if one)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", re.sub(r":\w+:|&\w+;", "", text).lower())


def _has_test(of: Repository, what: str) -> bool:
    path, *parts = what.split("::")
    text = of.text(path)
    return bool(text) and all(re.search(rf"\b(?:class|def)\s+{re.escape(part)}\b", text) for part in parts)


def absences(of: Repository, drawn: list[str]) -> Iterator[Statement]:
    """Compare what pages say was not found with the words and paths in all other files."""
    names = Counter(path.rpartition("/")[2] for path in of.pages())
    mentions: dict[str, set[str]] = {}
    for path in of.pages():
        found = set(_PATH.findall(of.text(path)))
        if sum(name.rpartition("/")[2] in names for name in found) > _MANIFEST:
            continue
        for name in found:
            mentions.setdefault(name.rpartition("/")[2], set()).add(path)
            mentions.setdefault(name, set()).add(path)
    for path in drawn:
        after = (of.book / f"{path}_docs.md").read_text().partition("\n## High-Level Overview\n")[2]
        name, dotted = path.rpartition("/")[2], path.rpartition(".")[0].replace("/", ".").removeprefix("src.")
        others = mentions.get(dotted, set()) | (mentions.get(name, set()) if names[name] == 1 else set())
        others = {one for one in others if one != path and one not in after}
        for pattern, kind in ((_NO_TEST, "absence: tests"), (_NO_USER, "absence: uses")):
            said = pattern.search(after)
            if said is not None:
                some = {one for one in others if kind == "absence: uses" or _TEST_PATH.search(one)}
                yield Statement(kind, path, f"{said[0]} ({', '.join(sorted(some)[:2])})", not some)


def python_uses(of: Repository) -> Iterator[Statement]:
    """Compare the targets of names in Python files with pyrefly's; nothing without pyrefly or Python."""
    if not (Path(sys.executable).parent / "pyrefly").exists() or not any(path.endswith(".py") for path in of.pages()):
        return
    said = pynames.report(of.root, ".", of.root / FOLDER / "glean")  # kept: pyrefly takes minutes
    with Facts(str(of.root / FOLDER)) as facts:
        ours = pynames.Ours(facts)
        paths = sorted(path for path in said.refs if facts.file(path) is not None)
        for path in random.Random(5).sample(paths, min(_PYTHON_FILES, len(paths))):
            data, starts, answers = (of.root / path).read_bytes(), said.lines[path], ours.answers(path)
            for (start, _), targets in sorted(pynames.final(said, said.refs[path]).items()):
                line = bisect_right(starts, start)
                col = len(data[starts[line - 1] : start].decode("utf-8", "replace")) + 1
                where, trust, by, _ = answers.get((line, col), (("", 0, 0, ""), "candidate", "", ""))
                wanted = pynames.wanted(said, targets)
                leads_outside = bool(targets) and all(file and file not in said.lines for file, _ in targets)
                if trust != "candidate" and by != "local" and (wanted or leads_outside):
                    holds = any(where[0] == file and where[1] <= spot <= where[2] for file, spot in wanted)
                    yield Statement("Python uses", path, f"L{line} {where[3]} -> {where[0]}:{where[2]}", holds)


def cpp_uses(of: Repository) -> Iterator[Statement]:
    """Compare the targets of names in C++ files with libclang's; nothing without libclang or C++."""
    if importlib.util.find_spec("clang") is None:
        return
    cppnames = importlib.import_module("bench.cppnames")
    with Facts(str(of.root / FOLDER)) as facts:
        files = cppnames.sampled(facts, _CPP_FILES, 5)
        judge = cppnames.Judge(cppnames.Built(facts))
        for path, references in cppnames.many(str(of.root), files, [], 2):
            for one in judge.answers(path, references):
                if one.trust not in ("", "candidate") and one.reference.targets:
                    words = f"L{one.reference.line} {one.reference.name} -> {one.said}"
                    yield Statement("C++ uses", path, words, one.right)


def package_tests(name: str) -> None:
    """Print what coverage.py and `--collect-only` say about the tests on the pages of a package."""
    scratch = tests_map.scratch_folder()
    first, _, _, none, commands = tests_map.measure_package(name, scratch)
    row = "| {}: {} | {} | {} of {} |"
    print(row.format(name, "tests: first five", "<= 10 % not executed", first.whole - first.part, first.whole))
    print(row.format(name, "tests: none", "<= 3 % executed", none.part, none.whole))
    print(row.format(name, "commands", "0 collect other tests", commands.whole - commands.part, commands.whole))


def main(arguments: list[str]) -> None:
    """Print the table."""
    count = next((int(one) for one in arguments if one.isdigit()), 1000)
    print("| what | bar | measured |\n|---|---|---|")
    names = [one for one in arguments if not one.isdigit()]
    for name in names:
        if name in tests_map.PACKAGES:
            package_tests(name)
    for root in (Path(one).resolve() for one in names if one not in tests_map.PACKAGES):
        of, chance = Repository(root), random.Random(5)
        paths = of.pages()
        chance.shuffle(paths)
        drawn: dict[str, list[Statement]] = {}
        for path in paths:
            for one in statements(of, path):
                drawn.setdefault(one.kind, []).append(one)
            if sum(map(len, drawn.values())) > 60 * count:
                break
        for one in chain(absences(of, paths[: 2 * count]), python_uses(of), cpp_uses(of)):
            drawn.setdefault(one.kind, []).append(one)
        share = count // max(1, len(drawn))
        picked = {kind: chance.sample(rows, min(share, len(rows))) for kind, rows in drawn.items()}
        wrong = [one for rows in picked.values() for one in rows if not one.holds]
        total, by_kind = sum(map(len, picked.values())), Counter(one.kind for one in wrong)
        for kind in sorted(picked):
            print(f"| {root.name}: {kind} | <= 1 % contradicted | {by_kind[kind]} of {len(picked[kind])} |")
        print(f"| {root.name}: all | <= 1 % contradicted | {len(wrong)} of {total} = {len(wrong) / max(1, total):.2%} |")
        for one in wrong[:40]:
            print(f"    {one.kind}: {one.page}: {one.words[:150]}")


if __name__ == "__main__":
    main(sys.argv[1:])
