"""How well `concord search` finds the file that is meant, beside two plain ways to rank files.

In: git directories of projects with a history, and folders of Python sources (`python -m bench.search DIR...`; what is
a git directory is asked about its commits, anything else about its documentation). Out: a table.

History: the title and first paragraph of a commit, without paths, file names, addresses and numbers, should lead to the
1 to 4 source files that it changed; 500 commits drawn from the newest 3,000 that fit, all of whose source files are
still there. The files are laid out as they are in the newest commit, without the history, so that no message can be
read from it. Documentation: the first sentence of a Python function's docstring, without the function's name, should
lead to its file; once with the docstrings where they are, once with those that are asked about taken out.

Plain: bm25 over a file's words. Floor: bm25 with identifiers split into their parts, over whole files and over pieces
of 80 lines, the two ranks fused. Both rank source files alone, or (behind the slash) all files, as `concord search`
does. recall@10: the share of the meant files among the first ten, by question. MRR: one over the first one's place.
"""

from __future__ import annotations

import ast
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import concordance
from concordance.collect import walk

COMMITS, SENTENCES, NEWEST = 500, 1000, 3000
_CODE = (
    "py|pyx|pxd|pyi|go|rs|c|cc|cpp|cxx|h|hpp|hh|cu|cuh|java|kt|scala|js|jsx|ts|tsx|mjs|cjs|vue|m|mm|rb|sh|ps1|psm1|cs|lua|tcl|proto|"
    "y|l|tp|src"
)
_NAMED = _CODE + "|rst|md|txt|json|ya?ml|toml|cfg|ini|html|css|xml|po|in|lock|mod|sum"
_TAKEN_OUT = (
    re.compile(r"https?://\S+"),
    re.compile(r"(?im)^\s*(?:signed-off-by|co-authored-by|reviewed-by|change-id|refs?|fixes|closes|see|pr-url|cc|reviewers?)\s*:.*$"),
    re.compile(r"\S*/\S*\.\w+\S*"),
    re.compile(r"(?<!\w)[\w.-]+(?:/[\w.-]+)+/?"),
    re.compile(rf"\b[\w.-]+\.(?:{_NAMED})\b"),
    re.compile(r"\b\d+(?:\.\d+)*\b"),
)
_SOURCE = re.compile(rf".+\.(?:{_CODE})", re.I)
_APART = re.compile(
    r"test[^.]*|testing|__tests__|e2e|spec|playground|jmh-benchmarks|docs?|documentation|examples?|benchmarks|bench|benches|asv_bench\w*|"
    r"third_party|vendor|vendored|deps|node_modules|tutorials|galleries|locale|release|docs_src",
    re.I,
)
_TEST_NAME = re.compile(r"^test_|_tests?\.|\.test\.|\.spec\.|^tests?\.|Tests?\.(?:java|scala|kt)$|TestCase\.java$|conftest")
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")


class Question(NamedTuple):
    """Words, and the files that they should lead to."""

    text: str
    files: list[str]


class Score(NamedTuple):
    """The quality of some rankings."""

    recall: float
    mrr: float

    def over(self, other: Score) -> str:
        """Return in words by how much this score is better than another."""
        return f"{self.recall / other.recall - 1:+.1%} and {self.mrr / other.mrr - 1:+.1%}"


def is_source(path: str) -> bool:
    """True if a path is the program's own source: code, but not tests, examples, documentation or vendored code."""
    *folders, name = path.split("/")
    return bool(_SOURCE.fullmatch(name)) and not any(map(_APART.fullmatch, folders)) and not _TEST_NAME.search(name)


# --- the questions


def from_history(git: Path, root: Path) -> list[Question]:
    """Return commits as questions."""
    form = "--format=%x01%an%x02%B%x02"
    command = ["git", "--git-dir", str(git), "log", "--no-merges", "--no-renames", "--name-only", "-z", form, "-n", "20000"]
    said = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    found = []
    for commit in said.split("\x01")[1:]:
        author, message, names = commit.split("\x02", 2)
        files = [path for path in (name.strip("\n") for name in names.split("\0")) if path and is_source(path)]
        if "[bot]" in author or not 1 <= len(files) <= 4 or not all((root / path).exists() for path in files):
            continue
        text = _first_of(message)
        if len(re.findall(r"[A-Za-z]{3,}", text)) >= 3:
            found.append(Question(text, files))
    newest = found[:NEWEST]
    random.Random(7).shuffle(newest)
    return newest[:COMMITS]


def _first_of(message: str) -> str:
    """Return a message's title and first paragraph, without what would give the answer away."""
    paragraphs = re.split(r"\n\s*\n", message.strip())
    text = paragraphs[0] if "\n" in paragraphs[0] else "\n".join(paragraphs[:2])
    for pattern in _TAKEN_OUT:
        text = pattern.sub(" ", text)
    return " ".join(text.split())


class Sentence(NamedTuple):
    """A question from a docstring, and the lines of the docstring."""

    question: Question
    start: int
    end: int


def from_documentation(root: Path, count: int) -> list[Sentence]:
    """Return first sentences of docstrings as questions."""
    found = []
    for path in sorted(root.rglob("*.py")):
        inside = str(path.relative_to(root))
        try:
            tree = ast.parse(path.read_text())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree) if is_source(inside) else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                text = _without(_sentence(ast.get_docstring(node) or ""), node.name)
                if len(re.findall(r"[A-Za-z]{2,}", text)) >= 3:
                    said = node.body[0]
                    found.append(Sentence(Question(text, [inside]), said.lineno, said.end_lineno or said.lineno))
    random.Random(3).shuffle(found)
    return found[:count]


def _sentence(doc: str) -> str:
    first = " ".join(doc.strip().split("\n\n")[0].split())
    ended = re.match(r"(.+?[.!?])(?:\s|$)", first)
    return ended[1] if ended else first


def _without(text: str, name: str) -> str:
    return " ".join(re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text).split())


# --- the files


def lay_out(git: Path, root: Path) -> None:
    """Write the files of the newest commit; what the git directory lacks is skipped."""
    listed = subprocess.run(["git", "--git-dir", str(git), "ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True).stdout
    process = subprocess.Popen(["git", "--git-dir", str(git), "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    for row in filter(None, listed.split(b"\0")):
        (mode, kind, blob), _, name = row.partition(b"\t")[0].split(), b"", row.partition(b"\t")[2]
        if kind != b"blob" or mode == b"120000":
            continue
        process.stdin.write(blob + b"\n")
        process.stdin.flush()
        head = process.stdout.readline().split()
        if head[1] != b"missing":
            data = process.stdout.read(int(head[2]) + 1)[:-1]
            target = os.path.join(os.fsencode(root), name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            Path(os.fsdecode(target)).write_bytes(data)
    process.stdin.close()
    process.wait()


def copy(origin: Path, root: Path, cut: Iterable[Sentence] = ()) -> None:
    """Copy the files of a folder without some docstrings; their lines stay, empty."""
    lines: dict[str, list[Sentence]] = {}
    for one in cut:
        lines.setdefault(one.question.files[0], []).append(one)
    for entry in walk.walk(str(origin)):
        place = origin / entry.path
        if not place.is_file() or place.is_symlink():
            continue
        data = place.read_bytes()
        if entry.path in lines:
            rows = data.split(b"\n")
            for one in lines[entry.path]:
                rows[one.start - 1 : one.end] = [b""] * (one.end - one.start + 1)
            data = b"\n".join(rows)
        target = root / entry.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def texts(root: Path) -> dict[str, str]:
    """Return the text files of a folder."""
    found = {}
    for entry in walk.walk(str(root)):
        data = (root / entry.path).read_bytes() if (root / entry.path).is_file() else b"\0"
        if b"\0" not in data[:8192] and len(data) < 16_000_000:
            found[entry.path] = data.decode("utf-8", "replace")
    return found


# --- plain and floor


def plain_words(text: str) -> list[str]:
    """Return words as they are, in lower case; "_" separates them, as in most engines."""
    return re.findall(r"[a-z0-9]+", text.lower())


class Splitter(dict[str, list[str]]):
    """Splits each written word into its parts, and keeps the whole if it has several."""

    def __missing__(self, word: str) -> list[str]:
        parts = [part.lower() for part in _PART.findall(word)]
        whole = word.lower()
        found = self[word] = parts if parts == [whole] else [*parts, whole]
        return found

    def __call__(self, text: str) -> list[str]:
        return [part for word in _WORD.findall(text) for part in self[word]]


class Ranked:
    """Ranks texts by bm25, each with the name it stands for."""

    def __init__(self, documents: Iterable[tuple[str, str]], words: Callable[[str], list[str]]) -> None:
        self.words = words
        self.names: list[str] = []
        self.postings: dict[str, tuple[array[int], array[int]]] = {}
        self.lengths = array("I")
        for number, (name, text) in enumerate(documents):
            counted = Counter(words(text))
            self.names.append(name)
            self.lengths.append(sum(counted.values()))
            for word, times in counted.items():
                numbers, often = self.postings.setdefault(word, (array("I"), array("I")))
                numbers.append(number)
                often.append(times)
        mean = sum(self.lengths) / max(1, len(self.lengths)) or 1
        self.norms = [1.2 * (0.25 + 0.75 * length / mean) for length in self.lengths]

    def rank(self, question: str, most: int) -> list[str]:
        """Return the names of the best texts, each once."""
        total, scores, norms = len(self.names), [0.0] * len(self.names), self.norms
        for word, asked in Counter(self.words(question)).items():
            numbers, often = self.postings.get(word, (array("I"), array("I")))
            if numbers:
                rare = asked * 2.2 * math.log(1 + (total - len(numbers) + 0.5) / (len(numbers) + 0.5))
                for number, times in zip(numbers, often, strict=True):
                    scores[number] += rare * times / (times + norms[number])
        best = sorted(range(total), key=lambda number: (-scores[number], number))[:most]
        return list(dict.fromkeys(self.names[number] for number in best if scores[number] > 0))


def pieces(files: dict[str, str]) -> Iterable[tuple[str, str]]:
    """Return files in pieces of 80 lines."""
    for path, text in files.items():
        lines = text.split("\n")
        for start in range(0, len(lines), 80):
            yield path, "\n".join(lines[start : start + 80])


def fused(*ranks: list[str]) -> list[str]:
    """Fuse rankings by reciprocal ranks."""
    scores: dict[str, float] = {}
    for rank in ranks:
        for place, name in enumerate(rank[:100]):
            scores[name] = scores.get(name, 0.0) + 1 / (61 + place)
    return sorted(scores, key=lambda name: (-scores[name], name))


def baselines(files: dict[str, str], questions: list[Question]) -> tuple[Score, Score]:
    """Rank with plain and floor over some files."""
    plain = Ranked(files.items(), plain_words)
    first = scored([plain.rank(one.text, 100) for one in questions], questions)
    del plain
    split = Splitter()
    whole, parts = Ranked(files.items(), split), Ranked(pieces(files), split)
    ranks = [fused(whole.rank(one.text, 100), parts.rank(one.text, 400)) for one in questions]
    return first, scored(ranks, questions)


# --- the measure


def scored(ranks: list[list[str]], questions: list[Question]) -> Score:
    """Return recall@10 and MRR."""
    recall = mrr = 0.0
    for rank, question in zip(ranks, questions, strict=True):
        recall += len(set(rank[:10]) & set(question.files)) / len(question.files)
        mrr += next((1 / place for place, name in enumerate(rank, 1) if name in question.files), 0.0)
    return Score(recall / len(questions), mrr / len(questions))


class Ours(NamedTuple):
    """The results of `concord search`."""

    score: Score
    half: float  # milliseconds
    most: float  # 95 % take no longer


def ours(root: Path, questions: list[Question]) -> Ours:
    """Return our rankings: one row for each file, in the order of the answer."""
    ranks, times = [], []
    with tempfile.TemporaryDirectory() as cache:
        os.environ["CONCORDANCE_CACHE"] = cache
        with concordance.open(root) as repository:
            repository.search(questions[0].text)  # opening the store is no part of an answer
            for question in questions:
                began = time.perf_counter()
                rows = repository.search(question.text, number=50)
                times.append(1000 * (time.perf_counter() - began))
                ranks.append(list(dict.fromkeys(str(row["path"]) for row in rows)))
    times.sort()
    return Ours(scored(ranks, questions), times[len(times) // 2], times[int(0.95 * len(times))])


def row(what: str, root: Path, questions: list[Question]) -> None:
    """Measure one set of questions, and print a line."""
    found = ours(root, questions)
    files = texts(root)
    plain, floor = baselines({path: text for path, text in files.items() if is_source(path)}, questions)
    _, easy = baselines(files, questions)
    print(
        f"| {what} | {len(questions)} | {plain.recall:.3f} {plain.mrr:.3f} | {floor.recall:.3f} {floor.mrr:.3f} / "
        f"{easy.recall:.3f} {easy.mrr:.3f} | {found.score.recall:.3f} {found.score.mrr:.3f} | {found.score.over(floor)} / "
        f"{found.score.over(easy)} | {found.half:.0f}, {found.most:.0f} ms |",
        flush=True,
    )


def main(folders: list[str]) -> None:
    """Print the table."""
    print("| questions | | plain: recall@10, MRR | floor: source / all files | search | over the floor: source / all files | p50, p95 (50 rows) |")
    print("|---|---|---|---|---|---|---|")
    for folder in map(Path, folders):
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch, "files")
            if (folder / "HEAD").exists():
                lay_out(folder, root)
                row(f"{folder.parent.name} history", root, from_history(folder, root))
                continue
            sentences = from_documentation(folder, SENTENCES)
            questions = [one.question for one in sentences]
            copy(folder, root)
            row(f"{folder.name} documentation", root, questions)
        with tempfile.TemporaryDirectory() as scratch:
            copy(folder, Path(scratch), sentences)
            row(f"{folder.name} documentation, taken out", Path(scratch), questions)


if __name__ == "__main__":
    main(sys.argv[1:])
