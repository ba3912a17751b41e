"""Finds the words and phrases of one file that deserve an entry in an index.

In: a file's facts, its comments and its prose, each with its line. Out: `Term`s, sorted by text. No list is cut;
instead, a term must earn its entry. It earns

- 4 points for each use in comments, documentation or prose (6 in a text without code that has fewer than 150
  different words),
- 3 for each name defined in the file that contains it, 2 for each other name in the file's code,
- 6 if it is a heading, is emphasised, or is in the first sentence of the documentation of the file or of a class;
  for an acronym that is explained; for each mention of a code name in the text,

and needs 6: for example two uses in text, one use in text and one in a name, or occurrence in two definitions or
three names. This leaves out words that are only part of one local variable's name, or that a comment uses in
passing. Points of a longer phrase do not count again for the words in it: if "fully sharded data parallel" is always
written in full, "sharded data" is not an entry (an acronym still is). Stop words, verbs and nouns that would fit any
file ("value", "type") are not entries on their own (see `english.py`).

Code names mentioned in the text are entries of kind "name" if the file's code does not contain them. How well a term
distinguishes a file from others depends on the other files, so `weight` is called later.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate, chain, pairwise

from concordance.base.model import FileFacts, Kind, Term, unpack_column
from concordance.extract.documents.docstrings import opens_fence, summary
from concordance.extract.documents.legal_text import is_legal
from concordance.extract.text.english import GENERAL, IMPERATIVES, MODIFIERS, STOP, VERBS
from concordance.extract.text.word_split import LONGEST, is_acronym, is_word, name_ngrams, tokenize

_IN_BRACKETS = re.compile(r"\(([A-Z][A-Za-z0-9]{1,9}?)s?[,;)]")
_BEFORE_BRACKETS = re.compile(
    r"\b([A-Z][A-Z0-9]{1,9})s?[\s\"'`*]*(?:\(|is short for |stands for |[—–-]{1,2} )([^()]{4,90})"
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Za-z][a-z']*|\d+")
_CAMEL_WORDS = re.compile(r"[A-Z][a-z0-9]+")
_WELL_KNOWN = frozenset((
    "API", "CPU", "GPU", "TPU", "URL", "URI", "XML", "CSV", "SQL", "PDF", "RAM", "CLI", "GUI", "IDE", "SDK", "TCP",
    "UDP", "HTTP", "HTML", "JSON", "YAML", "UTF", "AST", "DNS", "SSL", "TLS", "SSH", "FTP", "USB", "PNG", "GIF", "MIT",
))  # fmt: skip
# Points of a term, see above.
_IN_TEXT = 4
_EMPHASISED = 6
_DEFINED = 3  # in a name that the file defines
_USED = 2  # in another name of its code
_ENOUGH = 6  # for an entry
_SHORT_TEXT = 150  # different words of a text without code, up to which each use counts as much as an emphasised one
_CLASSES = frozenset((Kind.CLASS, Kind.STRUCT, Kind.INTERFACE, Kind.ENUM))
_EMPHASIS = re.compile(r"\*\*([^*\n]{3,60})\*\*|(?<![\w*`])\*([^*\s][^*\n]{1,58})\*(?![\w*])")
_ORDINARY = VERBS | GENERAL | STOP
_NOUNS_ALL_THE_SAME = frozenset(
    ("seed", "embed", "speed", "feed", "shed", "bed", "thread", "spread", "testbed", "size", "prize", "resize")
)
_ABLE_NOUNS = frozenset(("table", "variable", "executable", "callable", "iterable", "cable", "awaitable", "hashtable"))
_LY_NOUNS = frozenset(("assembly", "anomaly", "family", "reply", "poly", "multiply", "supply", "butterfly"))


def extract_terms(facts: FileFacts, comments: list[tuple[int, str]], prose: list[tuple[int, str]]) -> tuple[Term, ...]:
    """Return the index entries of a file."""
    tokens = TextTokens(collect_text(facts, comments, prose))
    tokens.settle_capitals()
    index = _Index(tokens, facts)
    index.count_names()
    index.count_prose()
    stands_for = expand_acronyms(tokens.lines, tokens.counts, set(index.acronyms.values()), facts)
    index.emphasise(prose, stands_for)
    return index.entries(index.chosen(), stands_for)


def weight(times: float, files_with_it: int, files: int) -> float:
    """Return how well a term distinguishes a file: frequent in it, rare in other files.

    The tenth mention means less than the second, so frequency saturates. A term that every file has means nothing.
    Rarity counts by its logarithm: being in ten times fewer files does not make a term ten times as telling.
    """
    rarity = math.log(1 + (files - files_with_it + 0.5) / (files_with_it + 0.5))
    return times * 2.2 / (times + 1.2) * max(rarity, 0.0)


class _Index:
    """The candidates of a file, each with its points, its count, and the first name that contains it."""

    def __init__(self, tokens: TextTokens, facts: FileFacts) -> None:
        self.tokens = tokens
        self.facts = facts
        self.rows: dict[str, list[int]] = {}  # points, times, index of the first name or -1
        self.emphasis: Counter[str] = Counter()  # points for emphasis, not deducted from the words in a phrase
        self.acronyms = {token.lower(): token for token in tokens.counts if is_acronym(token)}

    def count_names(self) -> None:
        """Count the words that names consist of, and runs of such words."""
        occurrences = self.facts.occurrences
        used = Counter(unpack_column(occurrences.name))
        defined = {symbol.name for symbol in self.facts.symbols if symbol.kind not in (Kind.HEADING, Kind.LABEL)}
        rows, acronyms = self.rows, self.acronyms
        for number, name in enumerate(occurrences.names):
            points = _DEFINED if name in defined else _USED
            count = used[number]
            for gram in name_ngrams(name):
                row = rows.get(gram)
                if row is None:
                    rows[gram] = [points, count, number]
                else:
                    row[0] += points
                    row[1] += count
        if any(lower in rows for lower in acronyms):  # `fsdp_state` refers to FSDP
            for gram in [gram for gram in rows if not acronyms.keys().isdisjoint(gram.split(" "))]:
                self._move(gram, " ".join([acronyms.get(word, word) for word in gram.split(" ")]))

    def _move(self, gram: str, to: str) -> None:
        points, times, number = self.rows.pop(gram)
        row = self.rows.setdefault(to, [0, 0, number])
        row[:] = row[0] + points, row[1] + times, min(row[2], number)

    def _add(self, gram: str, points: int, times: int) -> None:
        row = self.rows.get(gram)
        if row is None:
            self.rows[gram] = [points, times, -1]
        else:
            row[0] += points
            row[1] += times

    def count_prose(self) -> None:
        """Count the words in text, and runs of words that occur twice or are also in a name."""
        words, counts, rows = self.tokens.tokens, self.tokens.counts, self.rows
        short = not self.facts.occurrences.names and len(counts) < _SHORT_TEXT
        points = _EMPHASISED if short else _IN_TEXT
        pairs = Counter(pairwise(words))
        good = {}
        # The lists only know English, so in another language they do not show where a phrase ends.
        foreign = sum([count for token, count in counts.items() if not token.isascii()]) * 30 > len(words)
        for pair, count in pairs.items() if not foreign else ():
            one, two = pair
            if one and two and (count > 1 or f"{one} {two}" in rows) and is_word(one) and is_word(two):
                good[pair] = f"{one} {two}"
        for token, count in counts.items():
            if token:
                self._add(token, (points if is_word(token) else _EMPHASISED) * count, count)
        for pair, gram in good.items():
            self._add(gram, points * pairs[pair], pairs[pair])
        starts = [place for place, pair in enumerate(pairwise(words)) if pair in good] if good else []
        for length in range(3, LONGEST + 1):
            following = set(starts)
            starts = [place for place in starts if place + 1 in following]
            for run, count in Counter([" ".join(words[place : place + length]) for place in starts]).items():
                self._add(run, points * count, count)

    def emphasise(self, prose: list[tuple[int, str]], stands_for: dict[str, str]) -> None:
        """Give extra points to headings, emphasised phrases, opening sentences and acronyms that are explained."""
        facts = self.facts
        for acronym in stands_for:
            self._add(acronym, _EMPHASISED, 0)
        opening = [summary(facts.doc)] if facts.doc else []
        for symbol in facts.symbols:
            if symbol.kind == Kind.HEADING:
                opening.append(symbol.name)
            elif symbol.kind in _CLASSES and symbol.doc and symbol.public:
                opening.append(summary(symbol.doc))
        for _, text in prose:
            if "*" in text:
                opening.extend(match[1] or match[2] for match in _EMPHASIS.finditer(text))
        for sentence in opening:
            run: list[str] = []
            chunks = sentence.split()
            if chunks and sentence.endswith(".") and chunks[0].endswith("s"):
                del chunks[0]  # "Holds …": the verb of a docstring's first sentence
            for token in [*chain.from_iterable(map(tokenize, chunks)), ""]:
                if is_word(token):
                    run.append(self.acronyms.get(token, token))
                    continue
                if run and len(run) <= LONGEST and (gram := _trimmed(run)):
                    self._add(gram, _EMPHASISED, 0)
                    self.emphasis[gram] += _EMPHASISED
                run = []

    def chosen(self) -> list[str]:
        """Return the candidates that have earned an entry, longer phrases first."""
        covered: dict[str, int] = {}
        kept = []
        rows = self.rows
        earned = [(-gram.count(" "), gram) for gram, row in rows.items() if row[0] >= _ENOUGH and _is_entry(gram)]
        for _, gram in sorted(earned):
            own = rows[gram][0] - covered.get(gram, 0)
            if own < _ENOUGH and not is_acronym(gram):
                continue
            words = gram.split(" ")
            if len(gram) > 3 or gram in self.tokens.counts:  # no abbreviations that are only in names
                kept.append(gram)
            taken = max(0, own - self.emphasis[gram])
            for length in range(1, len(words)):
                for start in range(len(words) - length + 1):
                    inner = " ".join(words[start : start + length])
                    covered[inner] = covered.get(inner, 0) + taken
        return kept

    def entries(self, chosen: list[str], stands_for: dict[str, str]) -> tuple[Term, ...]:
        """Return the terms for the chosen candidates, each with the line of its first occurrence."""
        names = frozenset(self.facts.occurrences.names)
        first_lines = self._first_in_text(chosen)
        named = self._first_in_code({self.rows[gram][2] for gram in chosen} - {-1})
        terms = []
        for gram in chosen:
            _, times, number = self.rows[gram]
            if " " in gram:
                kind = "phrase"
            elif is_word(gram):
                kind = "acronym" if is_acronym(gram) else "word"
            elif gram in names or gram.rpartition(".")[2].rpartition(":")[2] in names:
                continue  # the code contains it, so it has an entry as a symbol
            else:
                kind = "name"
            lines = ([named[number]] if number >= 0 else []) + (
                [self.tokens.line_of(first_lines[gram])] if gram in first_lines else []
            )
            terms.append(Term(gram, kind, max(1, times), min(lines, default=1), stands_for.get(gram, "")))
        return tuple(sorted(terms))

    def _first_in_text(self, chosen: list[str]) -> dict[str, int]:
        """Return the index of the token at which each entry first occurs in the text."""
        left = set(chosen)
        first_words = Counter(gram.partition(" ")[0] for gram in chosen)
        firsts: dict[str, int] = {}
        words = self.tokens.tokens
        for place, word in enumerate(words):
            if word in first_words:
                for length in range(1, LONGEST + 1):
                    gram = " ".join(words[place : place + length])
                    if gram in left:
                        left.discard(gram)
                        firsts[gram] = place
                        first_words[word] -= 1
                if not first_words[word]:
                    del first_words[word]
        return firsts

    def _first_in_code(self, wanted: set[int]) -> dict[int, int]:
        """Return the line on which each name first occurs; names are numbered in order of appearance."""
        if not wanted:
            return {}
        occurrences = self.facts.occurrences
        ids = unpack_column(occurrences.name)
        steps = unpack_column(occurrences.step)
        starts = [0, *accumulate(unpack_column(occurrences.lengths))]
        lines = {}
        at, offset = 0, steps[0]
        for number in sorted(wanted):
            before, at = at, ids.index(number, at)
            offset += sum(steps[before + 1 : at + 1])
            lines[number] = bisect_right(starts, offset)
        return lines


def _trimmed(run: list[str]) -> str:
    """Return a run without the words that it cannot start or end with; "" if there is a verb inside."""
    while run and (run[0] in IMPERATIVES or not _is_inside(run[0])):
        run = run[1:]
    while run and not _is_last(run[-1]):
        run = run[:-1]
    return " ".join(run) if all(map(_is_inside, run)) else ""


@lru_cache(maxsize=1 << 16)
def _is_inside(word: str) -> bool:
    """True if a word can be part of a noun phrase: it is neither a verb nor an adverb."""
    return word not in VERBS and (not word.endswith("ly") or word in _LY_NOUNS or word in MODIFIERS)


@lru_cache(maxsize=1 << 16)
def _is_last(word: str) -> bool:
    """True if a noun phrase can end with a word: it is a noun, as far as lists and endings tell."""
    if word in MODIFIERS or word == "return" or not _is_inside(word):
        return False
    if word.endswith("ing"):
        stem = word[:-3]
        return not any(form in _ORDINARY for form in (stem, stem + "e", stem[:-1]))
    if word.endswith("able"):
        return word in _ABLE_NOUNS
    return not (word.endswith(("ed", "ize", "ify")) and word not in _NOUNS_ALL_THE_SAME)


def _is_entry(gram: str) -> bool:
    if " " not in gram:
        return not is_word(gram) or (gram not in GENERAL and _is_last(gram) and (len(gram) > 2 or is_acronym(gram)))
    words = gram.split(" ")
    if words[0] in IMPERATIVES or not _is_last(words[-1]) or len(set(words)) < len(words):
        return False
    return all(map(_is_inside, words)) and not all(word in GENERAL or word in MODIFIERS for word in words)


# Acronyms and their expansions, if the file itself gives them: either in the text ("Fully Sharded Data Parallel
# (FSDP)", "FSDP (Fully Sharded Data Parallel)"), or in a name: FSDP are the initials of `FullyShardedDataParallel`. An
# acronym of two letters, or one that everybody knows, matches too many names by chance and must be explained in the
# text; so must an acronym that matches several names. No outside knowledge is used.


def expand_acronyms(
    lines: list[tuple[int, str]], counts: Mapping[str, int], acronyms: set[str], facts: FileFacts
) -> dict[str, str]:
    """Return the expansion of each acronym, taken from the text or from names in the code or text."""
    if not acronyms:
        return {}
    long_forms: dict[str, str] = {}
    previous = ""
    for _, line in lines:
        if "(" in line or "stands for" in line or "short for" in line:
            _from_text(line, previous, acronyms, long_forms)
        previous = line
    left = {a for a in acronyms if a not in long_forms and len(a) > 2 and a not in _WELL_KNOWN}
    if left:
        _from_names(left, counts, facts, long_forms)
    return long_forms


def _from_text(line: str, previous: str, acronyms: set[str], long_forms: dict[str, str]) -> None:
    refused: set[tuple[str, str]] = set()  # so that a line that repeats itself is not searched over and over
    for match in _IN_BRACKETS.finditer(line):
        acronym = match[1].upper()
        if acronym in acronyms and acronym not in long_forms:
            before = f"{previous[-100:]} {line[max(0, match.start() - 160) : match.start()]}"[-160:]
            if (acronym, before) in refused:
                continue
            words = _spelled_before(acronym, before)
            if words:
                long_forms[acronym] = words
            else:
                refused.add((acronym, before))
    for match in _BEFORE_BRACKETS.finditer(line):
        acronym = match[1]
        if acronym in acronyms and acronym not in long_forms:
            words = _spelled_after(acronym, match[2])
            if words:
                long_forms[acronym] = words


def _spelled_before(acronym: str, text: str) -> str:
    """Return the words at the end of a text whose initials are the acronym, as written."""
    words = list(_WORD.finditer(text.rstrip(" \"'`*_")))
    at = len(words) - 1
    start = -1
    for letter in reversed(acronym):
        while at >= 0 and words[at][0][0].upper() != letter:
            if words[at][0].lower() not in STOP or start < 0:
                return ""
            at -= 1
        if at < 0:
            return ""
        start = at
        at -= 1
    if len(words[start][0]) < 2:
        return ""
    return re.sub(r"\s+", " ", text[words[start].start() :]).strip(" \"'`*_:")


def _spelled_after(acronym: str, text: str) -> str:
    """Return the words at the start of a text whose initials are the acronym, as written."""
    rest = list(acronym)
    for word in _WORD.finditer(text):
        if not rest:
            break
        if word[0][0].upper() == rest[0]:
            rest.pop(0)
            if not rest:
                return re.sub(r"\s+", " ", text[: word.end()]).strip(" \"'`*_:")
        elif word[0].lower() not in STOP or len(rest) == len(acronym):
            return ""
    return ""


def _from_names(left: set[str], counts: Mapping[str, int], facts: FileFacts, long_forms: dict[str, str]) -> None:
    aliased = {row.alias: row.name for row in facts.imports if row.alias in left and row.name}
    fitting: dict[str, list[str]] = {}
    mentioned = [token.rpartition(".")[2] for token in counts if not token.islower()]
    for name in dict.fromkeys([*facts.occurrences.names, *mentioned]):
        if name[:1].isupper() or name[:1] == "_":
            humps = _CAMEL_WORDS.findall(name)
            initials = "".join([hump[0] for hump in humps])
            if initials in left and "".join(humps) == name.lstrip("_"):
                fitting.setdefault(initials, []).append(name)
    for acronym, names in fitting.items():
        if aliased.get(acronym) in names:
            long_forms[acronym] = aliased[acronym]
        elif len(names) == 1:
            long_forms[acronym] = names[0]


# --- the natural-language text of a file (comments, documentation, prose) as one sequence of tokens with their lines
# In: the comments and prose of a file, each with its line, and its facts. Out: `TextTokens`. Licences, code samples,
# markup and instructions to tools are left out. Documentation that is also a comment is taken once.


_SPACED_CODE = re.compile(r"``[^`\s]*+\s[^`]*+``|(?<!`)`[^`\s]*+\s[^`]*+`(?!`)|<[a-zA-Z!/][^<>]*>")
_TO_TOOLS = re.compile(r"\b(?:noqa|(?:type|pyrefly|mypy|pyre|pylint|ruff|eslint|lint)[-\w]{0,40}:\s*ignore|NOLINT).*")
_TODO_BY = re.compile(r"\b(?:TODO|FIXME|NB|XXX)\s*\([^()]*\)")


def collect_text(
    facts: FileFacts, comments: list[tuple[int, str]], prose: list[tuple[int, str]]
) -> list[tuple[int, str]]:
    """Return all text of a file, without the licence and without documentation that is already there as a comment."""
    pieces = sorted(comments + prose) if prose else list(comments)
    legal: set[int] = set()
    start = 0  # the licence is in the first comments, possibly one per line
    while start < len(pieces) and pieces[start][0] <= 80:
        end = start + 1
        while end < len(pieces) and pieces[end][0] == pieces[end - 1][0] + 1 and "\n" not in pieces[end - 1][1]:
            end += 1
        if not is_legal("\n".join(text for _, text in pieces[start:end][:60])):
            start = end
        elif prose and len(pieces) - len(legal) == 1:
            break
        else:
            legal.update(range(start, end))
            start = end
    pieces = [piece for place, piece in enumerate(pieces) if place not in legal] if legal else pieces
    seen = {text.partition("\n")[0].strip() for _, text in comments}
    seen.update(text.strip().partition("\n")[0].strip() for _, text in prose)
    missing = [(s.line, s.doc) for s in facts.symbols if s.doc and s.doc.partition("\n")[0].strip() not in seen]
    if facts.doc and facts.doc.partition("\n")[0].strip() not in seen and not prose:
        missing.append((1, facts.doc))
    return sorted(pieces + missing) if missing else pieces


class TextTokens:
    """The tokens of all text, in order, and their lines."""

    def __init__(self, pieces: list[tuple[int, str]]) -> None:
        self.lines: list[tuple[int, str]] = []
        last = 0
        for line, text in pieces:
            if line > last + 1:
                self.lines.append((line, ""))
            if "\n" in text:
                self._add_lines(line, text)
                last = line + text.count("\n")
            else:
                self.lines.append((line, text))
                last = line
        split = [_chunks(text) for _, text in self.lines]
        table = {chunk: tokenize(chunk) for chunk in set(chain.from_iterable(split))}
        self.tokens: list[str] = []
        self.ends: list[int] = []  # index after each line's last token
        for chunks in split:
            self.tokens.extend(chain.from_iterable(map(table.__getitem__, chunks)))
            self.ends.append(len(self.tokens))
        self.counts = Counter(self.tokens)

    def _add_lines(self, line: int, text: str) -> None:
        """Add the lines of a text, leaving out code samples."""
        add = self.lines.append
        skip = -1  # lines indented deeper than this belong to a code sample
        fence = ""
        for number, raw in enumerate(text.split("\n"), line):
            bare = raw.strip()
            if not bare:
                add((number, ""))
                continue
            indent = len(raw) - len(raw.lstrip())
            if fence:
                fence = "" if bare.startswith(fence) else fence
            elif opens_fence(bare, self.lines[-1][1] if number > line else ""):
                fence = bare[:3]
                add((number, ""))
            elif skip < 0 or indent <= skip:
                skip = -1
                if bare.startswith((">>>", "... ", "$ ", ".. code", "|---", "+--")):
                    skip = indent if bare.startswith(".. code") else -1
                    continue
                skip = indent if bare.endswith("::") and not bare.startswith("..") else -1
                add((number, bare))

    def settle_capitals(self) -> None:
        """Merge spellings that differ in case: `FSDP` with `fsdp`, `PyTorch` with `pytorch`, `NOTE` with `note`."""
        counts = self.counts
        change = {}
        for token in [t for t in counts if not t.islower() and t.isalnum()]:
            lower = token.lower()
            if counts.get(lower, 0) > counts[token] and token.isupper():
                change[token] = lower
            elif lower in counts:
                change[lower] = token
        if change:
            self.tokens = [change.get(token, token) for token in self.tokens]
            self.counts = Counter(self.tokens)

    def line_of(self, place: int) -> int:
        """Return the line of the token with index `place`."""
        return self.lines[min(bisect_right(self.ends, place), len(self.lines) - 1)][0]


def _chunks(text: str) -> list[str]:
    """Split a line at spaces.

    A line of code gives a single "|", which has no meaning but ends a phrase.
    """
    if not text or text[-1] in ";{}\\" or (
        " = " in text or "==" in text or " += " in text or "(self" in text or "&& " in text
        or " || " in text or "->" in text or "();" in text
    ):  # fmt: skip
        return ["|"]
    if "`" in text or "<" in text or "TODO" in text or "noqa" in text or "ignore" in text or "LINT" in text:
        text = _without_markup(text)
    return text.split()


def _without_markup(text: str) -> str:
    """Return a line without code samples, tags, names after TODO and the like, and instructions to tools."""
    return _TO_TOOLS.sub("", _SPACED_CODE.sub(" | ", _TODO_BY.sub("", text)))
