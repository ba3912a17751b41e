"""Ranks the files and functions that a bug report is most likely about.

In: a report's text. Out: `Suspect`s, best first, each with its reasons. Every statement of the report that can be found
in the repository is a piece of evidence: a frame of a trace, a path, a name, an error message and the line that raises
it, an option or string and the line that contains it, and the words. A piece removes a share of the remaining doubt, so
that several weak ones add up. Evidence that fits several files is divided among them. Then one step along the graph:
what the named functions call or override, what a named test runs, and what changed together with the best file.

The shares are few and round on purpose: their order matters (a frame is worth more than a name, a name more than a
word), their exact value does not.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

from concordance.base.errors import UserError
from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Kind, Trust
from concordance.facts.fulltext.words import CHUNK
from concordance.facts.read import SymbolPlace
from concordance.query.answers import full_name, split_key
from concordance.query.index.repository import Index
from concordance.query.names.call_graph import callees
from concordance.query.names.resolver import resolve_symbols
from concordance.query.search import ranking
from concordance.query.search.bug_report import BugReport, StackFrame
from concordance.query.search.error_messages import find_raising_lines
from concordance.query.search.fault_weights import EXCEPTION, FaultWeights
from concordance.query.search.finder import paths_by_name

# The share of doubt that each kind of evidence removes.
_FRAME = 0.9  # the innermost frame in the repository; those further out are worth less
_WORDS = 0.8  # the file that full-text search finds best; the others in proportion
_TITLE_WORDS = 0.4  # the same for the title alone, which sums up the report
_MENTIONED = 0.6  # a path
_RAISES = 0.6
_CONTAINS = 0.5  # an option or a string
_NAMED = 0.4
_BEST_FUNCTION, _FIT_POWER = 0.4, 4  # the file of the function that fits best; others by a power of their best fit
_FUNCTION_WORDS = 0.6  # the function whose text fits best
_STEP = 0.2  # of the evidence for what is one step away
# Factors of evidence.
_IN_TITLE = 1.5  # what the title names
_SYMPTOM = 0.25  # an exception says what happened; its definition is seldom at fault

_SOURCE = 0.5  # weight of a category above which it is the project's own code
_MAX_FILES = 40  # files that full-text search adds
_MAX_SCANNED = 12  # files whose functions are ranked by words
_MAX_NAMES, _MAX_MESSAGES, _MAX_LITERALS = 60, 8, 20  # of a report; more add cost but little information
_MAX_SEEDS, _MAX_TOGETHER = 8, 3  # functions and files from which one step is taken
_AMBIGUOUS = 4  # files that define a name or contain a string, above which it identifies none
_ROW = 4  # words in a row that identify a string
_MAX_REASONS = 5
_ITS_FILE = "its file: "
_DECLARES_OPTION = re.compile(r"(?i:add_?(?:argument|option)|\boption|\bflag)\w*\([^()]*$")
_OPTION_LINES = 4  # of a call that declares an option, up to its name
_NOISE = 0.2  # of the best score; what has less for its words alone is not shown
_IN_NAME, _IN_OWNER = 1.0, 0.25  # bonus of a word in the name of a function, and of its class
_MEAN_LINES = 30  # length of a function; longer ones need a word more often
_QUOTE = 60  # letters of a quotation
_TEST_MACROS = ("TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P")  # of googletest
_CODE = EXECUTABLE_KINDS | TYPE_KINDS | {Kind.CONSTANT, Kind.VARIABLE, Kind.TYPE}
_SEPARATOR = re.compile(r"\.|::|#")
_TEST_MODULES = frozenset(("test", "tests"))
_ONLY_WORDS = re.compile(r"(?:its file: )?words\b|changed together")
_VALUE = re.compile(r"\S*[\d/\\'\"=<>(){}\[\]]\S*")  # part of a printed line that was filled in


class Suspect(NamedTuple):
    """A file or function that may need the change."""

    path: str
    line: int
    symbol: SymbolPlace | None  # None for a file
    score: float
    reasons: list[str]


class _Evidence:
    """The doubt that is left about each file and function, and the reasons."""

    def __init__(self, index: Index) -> None:
        self.index, self.weights = index, FaultWeights(index)
        self.doubt: dict[tuple[str, int], float] = {}  # by path and symbol id; 0 for the file as a whole
        self.reasons: dict[tuple[str, int], dict[str, float]] = {}
        self.lines: dict[str, tuple[float, int]] = {}  # the line of each file's strongest evidence

    @cached_property
    def own_packages(self) -> frozenset[str]:
        """The names of the repository's folders and files, without suffixes."""
        return frozenset(part.partition(".")[0] for path in self.index.categories for part in path.split("/"))

    def add(self, path: str, share: float, reason: str, symbol: int = 0, line: int = 0) -> None:
        """Add a piece of evidence for a file and, if it is about one, for a symbol in it."""
        for key in {(path, 0), (path, symbol)}:
            had = self.reasons.setdefault(key, {})
            if had.get(reason, 0.0) < share:  # stating it twice does not make it twice as certain
                self.doubt[key] = self.doubt.get(key, 1.0) / (1 - had.get(reason, 0.0)) * (1 - share)
                had[reason] = share
        if line and share > self.lines.get(path, (0.0, 0))[0]:
            self.lines[path] = (share, line)

    def add_line(self, path: str, line: int, share: float, reason: str) -> None:
        """Add a piece of evidence for a line: for its file, and for the function around it."""
        function = _function_at(self.index, path, line)
        self.add(path, share, reason, function.id if function is not None else 0, line)

    def score(self, path: str, symbol: int = 0) -> float:
        return (1 - self.doubt.get((path, symbol), 1.0)) * math.sqrt(self.weights.of(path))

    def reasons_for(self, path: str, symbol: int = 0) -> list[str]:
        reasons = self.reasons.get((path, symbol), {})
        return sorted(reasons, key=lambda reason: (-reasons[reason], reason))[:_MAX_REASONS]


def find_suspects(index: Index, report: BugReport, limit: int) -> list[Suspect]:
    """Return the files and functions that a report is about, best first; a file comes before its functions."""
    evidence = _Evidence(index)
    _add_frames(index, report, evidence)
    _add_paths(index, report, evidence)
    _add_lines(index, report, evidence)
    _add_names(index, report, evidence)
    _add_tests(index, report, evidence)
    _add_messages(index, report, evidence)
    _add_literals(index, report, evidence)
    _add_output(index, report, evidence)
    _add_neighbours(index, evidence)
    query, title = (ranking.parse_question(text, "", index.words) for text in (report.words, report.title))
    _add_words(index, query, _WORDS, "words of the report", evidence)
    _add_words(index, title, _TITLE_WORDS, "words of the title", evidence)
    _add_changed_together(index, evidence)
    return _ranked(index, report, query, evidence, limit)


def is_by_words_alone(suspects: Iterable[Suspect]) -> bool:
    """True if nothing that a report says was found in the repository but words."""
    return all(_ONLY_WORDS.match(reason) for suspect in suspects for reason in suspect.reasons)


# --- evidence


def _add_frames(index: Index, report: BugReport, evidence: _Evidence) -> None:
    for trace in report.traces:
        depth = 0.0
        for frame in trace:
            bare = _only_function(index, frame.function) if not frame.path else None
            for path in [bare.path] if bare is not None else _matching_paths(index, frame.path)[:1]:
                if _is_of_another_file(index, path, frame):
                    continue
                symbol = bare or _function_of_frame(index, path, frame)
                identity, line = (symbol.id, symbol.line) if symbol is not None else (0, frame.line)
                where = [*([f"line {frame.line}"] if frame.line else []), *([frame.function] if frame.function else [])]
                reason = f"frame of the trace: {' in '.join(where)}"
                weight = evidence.weights.of(path)
                evidence.add(path, _FRAME / (1 + depth / 2) * weight, reason, identity, line)
                depth += weight  # what is not the project's own source is not to blame


def _is_of_another_file(index: Index, path: str, frame: StackFrame) -> bool:
    """True if a frame shares only the name of a file, such as `app.py`, which does not contain the line of source that
    the trace shows."""
    folder, _, name = frame.path.rpartition("/")
    if not frame.source or (folder and f"/{path}".endswith(f"/{folder.rpartition('/')[2]}/{name}")):
        return False
    return frame.source not in map(str.strip, index.open_file(path).lines() or ())


def _only_function(index: Index, name: str) -> SymbolPlace | None:
    """Return the function of a name if only one file defines it."""
    functions = [
        symbol
        for symbol in index.facts.symbols_named(name)
        if symbol.kind in EXECUTABLE_KINDS and not symbol.declaration
    ]
    return functions[0] if len({function.path for function in functions}) == 1 else None


def _add_tests(index: Index, report: BugReport, evidence: _Evidence) -> None:
    """Add what the tests that failed call: a report that names a test names what the test is about."""
    for test in report.tests[:_MAX_NAMES]:
        owner, _, name = test.rpartition(".")
        places = [symbol for symbol in index.facts.symbols_named(name) if owner in symbol.key or not owner]
        for macro in _TEST_MACROS if not places else ():
            places += index.facts.symbols_named(f"{macro}({owner}, {name})")
        if 0 < len({one.path for one in places}) <= _AMBIGUOUS:
            for place in places:
                near = [one.place for one in callees(index, place, Trust.UNIQUE_NAME)[0] if one.place.place >= 0]
                for other in near:
                    share = _NAMED / len(places) / math.sqrt(len(near)) * evidence.weights.of(other.path)
                    evidence.add(other.path, share, f"called by the failed test {test}", other.id, other.line)


def _function_of_frame(index: Index, path: str, frame: StackFrame) -> SymbolPlace | None:
    """Return the function of a frame: the one of that name nearest to the line, which may be of another version."""
    named = [
        symbol
        for symbol in index.facts.symbols_in(path)
        if symbol.name == frame.function and symbol.kind in EXECUTABLE_KINDS
    ]
    if named:
        return min(named, key=lambda one: (abs(one.line - frame.line), one.line))
    return _function_at(index, path, frame.line) if not frame.function else None


def _function_at(index: Index, path: str, line: int) -> SymbolPlace | None:
    """Return the innermost function around a line."""
    file = index.open_file(path)
    place = file.symbol_at(line)
    while place >= 0 and file.defined[place].kind not in EXECUTABLE_KINDS:
        place = file.defined[place].parent
    return index.facts.place(file.ids.id_at(place)) if place >= 0 else None


def _add_paths(index: Index, report: BugReport, evidence: _Evidence) -> None:
    for path in report.paths:
        paths = _matching_paths(index, path)
        for file in paths if len(paths) <= _AMBIGUOUS else ():
            evidence.add(file, _MENTIONED / len(paths) * evidence.weights.of(file), f"mentioned: {path}")


def _add_lines(index: Index, report: BugReport, evidence: _Evidence) -> None:
    for path, line in report.lines:
        paths = _matching_paths(index, path)
        for file in paths if len(paths) == 1 else ():
            evidence.add_line(file, line, _MENTIONED * evidence.weights.of(file), f"mentioned: {path} line {line}")


def _matching_paths(index: Index, path: str) -> list[str]:
    """Return the files that a path of another machine may refer to: those that share the most of its last parts.

    One part is enough for a bare name and for a file in the root, otherwise two: `/usr/lib/x/main.py` is not ours.
    """
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    best: list[str] = []
    most = 0
    for candidate in paths_by_name(index)[0].get(parts[-1], ()) if parts else ():
        there = candidate.split("/")
        shared = 0
        while shared < min(len(parts), len(there)) and parts[-1 - shared] == there[-1 - shared]:
            shared += 1
        if shared >= min(2, len(parts), len(there)) and shared >= most:
            best = [candidate] if shared > most else [*best, candidate]
            most = shared
    return best


def _add_names(index: Index, report: BugReport, evidence: _Evidence) -> None:
    for name, weight in list(report.names.items())[:_MAX_NAMES]:
        counts = weight * (_IN_TITLE if name in report.title else 1.0) * (_SYMPTOM if EXCEPTION.search(name) else 1.0)
        places = _definitions(evidence, report, name)
        files = {place.path for place in places}
        if 0 < len(files) <= _AMBIGUOUS:
            for place in places:
                share = _NAMED * counts / len(files) * evidence.weights.of(place.path)
                evidence.add(place.path, share, f"defines {place.name}", place.id, place.line)
        elif not places and "." in name:
            for path in _module_files(index, name):
                evidence.add(path, _MENTIONED * weight * evidence.weights.of(path), f"mentioned: {name}")


def _definitions(evidence: _Evidence, report: BugReport, name: str) -> list[SymbolPlace]:
    """Return what a report's name may refer to: definitions of code in source, else anywhere."""
    index = evidence.index
    if _SEPARATOR.search(name):
        places: list[SymbolPlace] = []
        with suppress(UserError):
            places = resolve_symbols(index, name)
        *_, owner, last = _SEPARATOR.split(name)
        if not places:
            places = list(_inherited(index, owner, last))
        if not places and not _is_foreign(evidence, report, _SEPARATOR.split(name)[0]):
            places = [symbol for symbol in index.facts.symbols_named(last) if symbol.kind in FUNCTION_KINDS]
    else:
        places = index.facts.symbols_named(name)
    places = [place for place in places if place.kind in _CODE and place.place >= 0]
    source = [place for place in places if _is_at_fault(evidence, place)] or places
    return [place for place in source if not place.declaration] or source


def _is_at_fault(evidence: _Evidence, place: SymbolPlace) -> bool:
    """True if a symbol is the project's own code, not a test nor inside of one, nor in a module of tests such as Rust's
    `mod tests`."""
    if evidence.weights.of(place.path) <= _SOURCE or place.id in evidence.index.tests:
        return False
    return not any(name in _TEST_MODULES or name.startswith("test_") for name in split_key(place.parent_key))


def _is_foreign(evidence: _Evidence, report: BugReport, package: str) -> bool:
    """True if a name begins with the name of a package that is not in the repository."""
    is_package = package in report.imported or package in sys.stdlib_module_names
    return is_package and package not in evidence.own_packages


def _inherited(index: Index, owner: str, name: str) -> Iterator[SymbolPlace]:
    """Yield the methods of a name that a class has from its bases, nearest first."""
    named = index.facts.symbols_named(owner)
    waiting = [one for one in named if one.kind in TYPE_KINDS and not one.declaration][:_AMBIGUOUS]
    seen = {one.id for one in waiting}
    while waiting:
        above = index.facts.places(base for one in waiting for base in index.facts.bases_of(one.id))
        waiting = [one for one in above.values() if one.id not in seen]
        seen |= above.keys()
        places = [
            symbol
            for base in waiting
            for symbol in index.facts.symbols_in(base.path)
            if symbol.parent_key == base.key and symbol.name == name
        ]
        if places:
            yield from places
            return


def _module_files(index: Index, name: str) -> list[str]:
    """Return the file of a dotted module name."""
    path = name.replace(".", "/")
    return [file for file in _matching_paths(index, f"{path}.py") if "/" in path]


def _add_messages(index: Index, report: BugReport, evidence: _Evidence) -> None:
    for message in report.messages[:_MAX_MESSAGES]:
        raising = find_raising_lines(index, message, "", _AMBIGUOUS + 1)
        if not raising:
            _add_printed(index, message, evidence)
        for one in raising if len(raising) <= _AMBIGUOUS else ():
            share = _RAISES / len({other.path for other in raising}) * evidence.weights.of(one.path)
            evidence.add_line(one.path, one.end.line, share, f"raises “{one.end.text[:_QUOTE]}”")


def _add_literals(index: Index, report: BugReport, evidence: _Evidence) -> None:
    for literal in report.literals[:_MAX_LITERALS]:
        files: dict[str, int] = {}
        for path, starts in ranking.files_with_phrase(index.text_shards, literal, "", index.words).items():
            if path in index.categories and (line := _line_with(index, path, literal, starts)):
                files[path] = line
        source = {path: line for path, line in files.items() if evidence.weights.of(path) > _SOURCE}
        files = source or files  # what no source contains may be in an example or a build file
        if literal.startswith("-"):
            declaring = {path: line for path in files if (line := _line_declaring(index, path, literal))}
            files = declaring or files  # others only use the option
        for path, line in files.items() if len(files) <= _AMBIGUOUS else ():
            share = _CONTAINS * (_IN_TITLE if literal in report.title else 1.0) / len(files)
            weight = 1.0 if source else evidence.weights.of(path)
            evidence.add_line(path, line, share * weight, f"contains “{literal[:_QUOTE]}”")


def _add_output(index: Index, report: BugReport, evidence: _Evidence) -> None:
    for line in report.output[:_MAX_LITERALS]:
        _add_printed(index, line, evidence)


def _add_printed(index: Index, line: str, evidence: _Evidence) -> None:
    """Find the strings that a printed line was made of: a few words in a row, with values between them."""
    words = index.words.of(_VALUE.sub(" ", line)).split()
    for row in zip(*(words[n:] for n in range(_ROW)), strict=False):
        files = {
            path: starts[0]
            for path, starts in ranking.files_with_words(index.text_shards, row).items()
            if path in index.categories and evidence.weights.of(path) > _SOURCE
        }
        for path, start in files.items() if len(files) <= _AMBIGUOUS else ():
            number = _best_line(index, path, start, set(row))
            quoted = (index.open_file(path).line(number) or "").strip()[:_QUOTE]
            evidence.add_line(path, number, _CONTAINS / len(files), f"contains “{quoted}”")


def _best_line(index: Index, path: str, start: int, words: set[str]) -> int:
    """Return the line of a passage that has most of some words."""
    lines = (index.open_file(path).lines() or [])[start - 1 : start - 1 + CHUNK]
    counts = [len(words & set(index.words.of(line).split())) for line in lines]
    return start + counts.index(max(counts)) if counts else start


def _line_with(index: Index, path: str, text: str, starts: Iterable[int]) -> int:
    """Return the first line of some passages that contains a text as a whole; 0 if none does."""
    exact = re.escape(text)  # an option is a string by itself where it is defined
    whole = re.compile(rf"[\"'`]{exact}[\"'`=]" if text.startswith("-") else rf"(?<![\w-]){exact}(?![\w-])")
    lines = index.open_file(path).lines() or []
    for start in sorted(starts):
        for number in range(start, min(start + CHUNK, len(lines) + 1)):
            if whole.search(lines[number - 1]):
                return number
    return 0


def _line_declaring(index: Index, path: str, option: str) -> int:
    """Return the line that declares an option: within a call such as `add_argument(`; 0 if none does."""
    lines = index.open_file(path).lines() or []
    written = re.compile(rf"[\"'`]{re.escape(option)}[\"'`=]")
    for number, line in enumerate(lines, 1):
        if option in line and written.search(line):
            call = "\n".join(lines[max(0, number - _OPTION_LINES) : number])
            if _DECLARES_OPTION.search(call[: call.rindex(option)]):
                return number
    return 0


def _add_words(index: Index, query: ranking.SearchQuery, share: float, reason: str, evidence: _Evidence) -> None:
    hits = ranking.rank_files(index.text_shards, query, index.ranks, _MAX_FILES)
    for hit in hits:
        if hit.path in index.categories:
            factor = evidence.weights.beyond_category(hit.path)
            evidence.add(hit.path, share * factor * (hit.score / hits[0].score) ** 2, reason)


def _add_neighbours(index: Index, evidence: _Evidence) -> None:
    """Pass on a share of the evidence for a function to what it calls, overrides and is overridden by: the fault may be
    one step further in. The more neighbours, the less each one gets."""
    known = [(-round(1 - left, 6), index.order_of(one), one) for (_, one), left in evidence.doubt.items() if one]
    for negative, _, identity in sorted(known)[:_MAX_SEEDS]:
        place = index.facts.place(identity)
        if place is None or place.kind not in EXECUTABLE_KINDS:
            continue
        near = {one.place.id: f"called by {place.name}" for one in callees(index, place, Trust.UNIQUE_NAME)[0]}
        near |= {one: f"overrides {full_name(place)}" for one, _ in index.facts.overriding(identity)}
        near |= {one: f"overridden by {full_name(place)}" for one, _ in index.facts.overridden(identity)}
        for other in index.facts.places(near).values():
            if other.place >= 0:
                share = _STEP * -negative / math.sqrt(len(near)) * evidence.weights.of(other.path)
                evidence.add(other.path, share, near[other.id], other.id, other.line)


def _add_changed_together(index: Index, evidence: _Evidence) -> None:
    """Pass on a share of the evidence for the best files to those that changed in the same commits."""
    for path in _best_paths(evidence)[:_MAX_TOGETHER]:
        score, change = evidence.score(path), index.facts.change(path)
        for other, times in change.together if change is not None else ():
            if other in index.categories and change is not None:
                share = _STEP * score * times / (change.commits + 2) * evidence.weights.of(other)
                evidence.add(other, share, f"changed together with {path}, {times} times")


# --- ranking


def _ranked(
    index: Index, report: BugReport, query: ranking.SearchQuery, evidence: _Evidence, limit: int
) -> list[Suspect]:
    paths = _best_paths(evidence)
    functions = [
        function for path in paths[:_MAX_SCANNED] for function in _functions(index, path, _word_weights(index, query))
    ]
    best = max((one.fit for one in functions), default=0.0) or 1.0
    fits = _best_fits(evidence, functions)
    files = [_file_suspect(evidence, path, fits.get(path, 0.0) / best) for path in paths[: max(limit, _MAX_SCANNED)]]
    certain = sorted(files, key=_order)[:limit]
    spelled = _spellings(index, report)
    suspects: list[Suspect] = []
    for one in functions:
        reasons = evidence.reasons_for(one.place.path, one.place.id)
        if reasons or _is_at_fault(evidence, one.place):  # a test is named, or it is not at fault
            doubt = (1 - evidence.score(one.place.path, one.place.id)) * (1 - _FUNCTION_WORDS * one.fit / best)
            if one.words and (one.fit > best / 2 or not reasons):
                written = {text.lower(): text for text in (spelled.get(word, word) for word in reversed(one.words))}
                reasons.append(f"words: {', '.join(reversed(written.values()))}")
            reasons = reasons or [f"{_ITS_FILE}{reason}" for reason in evidence.reasons_for(one.place.path)[:1]]
            score = evidence.score(one.place.path) * (1 - doubt)
            suspects.append(Suspect(one.place.path, one.place.line, one.place, score, reasons))
    suspects.sort(key=_order)
    overloads: dict[tuple[str, str], Suspect] = {}  # the best of several definitions of one name stands for all
    for suspect in suspects:
        overloads.setdefault((suspect.path, full_name(suspect.symbol) if suspect.symbol is not None else ""), suspect)
    functions_shown = list(overloads.values())[:limit]
    return sorted([*_without_noise(certain), *_without_noise(functions_shown)], key=_order)


def _best_fits(evidence: _Evidence, functions: Iterable[_Function]) -> dict[str, float]:
    """Return by path how well the best function of a file fits."""
    fits: dict[str, float] = {}
    for one in functions:
        if _is_at_fault(evidence, one.place):
            fits[one.place.path] = max(one.fit, fits.get(one.place.path, 0.0))
    return fits


def _file_suspect(evidence: _Evidence, path: str, fit: float) -> Suspect:
    """Return a file with its score, to which its best function adds: a long file has any word, a function has not."""
    score = 1 - (1 - evidence.score(path)) * (1 - _BEST_FUNCTION * fit**_FIT_POWER)
    return Suspect(path, evidence.lines.get(path, (0.0, 1))[1], None, score, evidence.reasons_for(path))


def _without_noise(suspects: list[Suspect]) -> list[Suspect]:
    """Leave out what only shares words, or a file, with what the trace, message or names of a report point to."""
    if not suspects or is_by_words_alone(suspects):
        return suspects
    least = _NOISE * suspects[0].score
    own = [one for one in suspects if not one.reasons[0].startswith(_ITS_FILE)]
    return [
        one
        for one in own or suspects
        if one.score >= least or not all(reason.startswith("words") for reason in one.reasons)
    ]


def _order(one: Suspect) -> tuple[float, str, bool, int]:
    return -round(one.score, 6), one.path, one.symbol is not None, one.line


def _best_paths(evidence: _Evidence) -> list[str]:
    return sorted({path for path, _ in evidence.doubt}, key=lambda path: (-round(evidence.score(path), 6), path))


def _word_weights(index: Index, query: ranking.SearchQuery) -> dict[str, float]:
    """Return the weight of each word of a query: its place in the query, times how few passages contain it."""
    shards = index.text_shards[:1]  # that of source
    return {word: weight * sum(shard.rare("text", word) for shard in shards) for word, weight in query.weight.items()}


def _spellings(index: Index, report: BugReport) -> dict[str, str]:
    """Return the words of a report as they are written there, by the words of the index: by itself, if it is also part
    of a longer name."""
    split = [(text, index.words.of(text).split()) for text in dict.fromkeys(re.findall(r"\w+", report.words))]
    split.sort(key=lambda one: len(one[1]))
    spellings: dict[str, str] = {}
    for text, words in split:
        for word in words:
            spellings.setdefault(word, text)
    return spellings


class _Function(NamedTuple):
    place: SymbolPlace
    fit: float  # how well its text fits the words of the report
    words: list[str]  # those that contribute most


def _functions(index: Index, path: str, weights: dict[str, float]) -> Iterator[_Function]:
    """Yield the functions of a file with how well they fit: bm25, with a bonus for words in names."""
    file = index.open_file(path)
    lines = file.lines() or []
    places = {symbol.place: symbol for symbol in index.facts.symbols_in(path)}
    for number, head in enumerate(file.defined):
        if head.kind not in EXECUTABLE_KINDS or head.declaration or number not in places:
            continue
        body = lines[head.start_line - 1 : head.end_line]
        counts = Counter(index.words.of("\n".join(body)).split())
        owner = file.defined[head.parent].name if head.parent >= 0 else ""
        name, around = set(index.words.of(head.name).split()), set(index.words.of(owner).split())
        length = 0.5 + 0.5 * len(body) / _MEAN_LINES
        scores: dict[str, float] = {}
        for word, weight in weights.items():
            if word in counts or word in around:
                bonus = _IN_NAME * (word in name) + _IN_OWNER * (word in around)
                scores[word] = weight * (2 * counts[word] / (counts[word] + length) + bonus)
        best = sorted(scores, key=lambda word: (-scores[word], word))[:_MAX_REASONS]
        yield _Function(places[number], sum(scores.values()), best)
