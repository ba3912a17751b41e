"""One-line summaries of configuration and build files: their jobs, targets or keys.

In: a file and its outline. Out: pieces such as "workflow `pull`, on push: the jobs `a`, `b` and 12 more". If the file
has a key for its description, that is the author's own text and is quoted instead.
"""

from __future__ import annotations

import re

from concordance.base.blocks import Cite, Mono, Piece, Ref, To, count_noun, join_in_sentence
from concordance.base.model import File, Kind
from concordance.extract.registry import language_of
from concordance.facts.codec import FileOutline, SymbolHead
from concordance.query.descriptions.quotations import is_statement, sentence_pieces

_MAX_NAMES = 3
_DESCRIBED = frozenset(("description", "about", "summary"))


def config_summary(file: File, facts: FileOutline) -> list[Piece]:
    """Return a summary of a configuration or build file; nothing if it has no keys and no targets."""
    if file.language == "cmake":
        return _cmake(file, facts)
    if file.language in ("make", "starlark", "dockerfile"):
        return _targets(file, facts)
    return _workflow(file, facts) if _below(facts, "jobs") else _keys(file, facts)


def _top(facts: FileOutline, *kinds: str) -> list[SymbolHead]:
    return [symbol for symbol in facts.symbols if symbol.parent < 0 and (not kinds or symbol.kind in kinds)]


def _below(facts: FileOutline, name: str) -> list[SymbolHead]:
    """Return the keys directly below a top-level key."""
    place = next((n for n, s in enumerate(facts.symbols) if s.parent < 0 and s.name == name), -1)
    return [symbol for symbol in facts.symbols if symbol.parent == place] if place >= 0 else []


def _value(symbol: SymbolHead) -> str:
    return symbol.signature.partition(" = ")[2].strip().strip("\"'")


def _names(path: str, symbols: list[SymbolHead]) -> list[Piece]:
    """Return a list of names: all if there are few, else the first ones and how many more there are."""
    distinct = list({symbol.name: symbol for symbol in symbols}.values())
    few = distinct[: _MAX_NAMES + (len(distinct) == _MAX_NAMES + 1)]
    left = len(distinct) - len(few)
    names: list[Piece] = [Ref(To.SYMBOL, path, symbol.key, symbol.name) for symbol in few]
    return join_in_sentence([*names, *([f"{left:,} more"] if left else [])])


# --- YAML, JSON, TOML, INI


def _workflow(file: File, facts: FileOutline) -> list[Piece]:
    """Return a workflow's name, events and jobs."""
    jobs = _below(facts, "jobs")
    named = next((s for s in _top(facts) if s.name == "name" and _value(s)), None)
    events = _below(facts, "on") or _below(facts, "true")  # in YAML 1.1, `on` means true
    on = next((s for s in _top(facts) if s.name == "on"), None)
    pieces: list[Piece] = ["workflow"]
    if named is not None:
        pieces += [" ", Mono(_value(named)), Cite(file.path, named.line)]
    if events:
        pieces += [", on ", *join_in_sentence([Mono(symbol.name) for symbol in events])]
    elif on is not None and re.fullmatch(r"[\w-]+", _value(on)):
        pieces += [", on ", Mono(_value(on))]
    return [*pieces, f": the job{'s' if len(jobs) > 1 else ''} ", *_names(file.path, jobs)]


def _keys(file: File, facts: FileOutline) -> list[Piece]:
    """Return the description key of a file of settings or data, or else its top-level keys."""
    top = _top(facts)
    for symbol in [*top, *_below(facts, "project"), *_below(facts, "package"), *_below(facts, "metadata")]:
        if symbol.name.lower() in _DESCRIBED and is_statement(_value(symbol)):
            return ["“", *sentence_pieces(_value(symbol)), "”", Cite(file.path, symbol.line)]
    if not top:
        return []
    title = language_of(file.language).title
    times = re.search(r"\((\d+) times\)", top[0].signature)
    if times:
        return [f"{title}, {times[1]} entries of ", Ref(To.SYMBOL, file.path, top[0].key, top[0].name)]
    count = len({symbol.name for symbol in top})
    return [f"{title} with {'the key' if count == 1 else 'the keys'} ", *_names(file.path, top)]


# --- builds


def _cmake(file: File, facts: FileOutline) -> list[Piece]:
    """Return what a CMake file builds, defines, adds or sets."""
    parts: list[list[Piece]] = []
    targets = _top(facts, Kind.TARGET)
    if targets:
        parts.append(["builds ", *_names(file.path, targets)])
    functions = [s for s in facts.symbols if s.kind in (Kind.FUNCTION, Kind.MACRO)]
    if functions:
        parts.append(["defines ", *_names(file.path, functions)])
    added = [row for row in facts.imports if "subdirectory" in row.form or row.module.endswith("/CMakeLists.txt")]
    if added:
        parts.append([f"adds {count_noun(len(added), 'subfolder')}"])
    options = [s for s in facts.symbols if s.kind == Kind.VARIABLE and s.signature.lower().startswith("option(")]
    if options:
        parts.append([f"offers {count_noun(len(options), 'option')}"])
    if not parts:
        variables = [s for s in facts.symbols if s.kind == Kind.VARIABLE]
        if variables:
            parts.append(["sets ", *_names(file.path, variables)])
    return _joined(parts[:3])


_BAZEL_MODULE = re.compile(r"(?:^|/)(?:MODULE\.bazel|WORKSPACE(?:\.\w+)?)$")  # a module and what it depends on


def _targets(file: File, facts: FileOutline) -> list[Piece]:
    """Return what a Make, Bazel, Buck or Docker file builds, defines or sets."""
    parts: list[list[Piece]] = []
    targets = [s for s in facts.symbols if s.kind == Kind.TARGET]
    if targets:
        verb = "builds the stages " if file.language == "dockerfile" and len(targets) > 1 else "builds "
        verb = "declares " if _BAZEL_MODULE.search(file.path) else verb
        parts.append([verb, *_names(file.path, targets)])
    functions = [s for s in _top(facts) if s.kind in (Kind.FUNCTION, Kind.MACRO)]
    if functions:
        parts.append(["defines ", *_names(file.path, functions)])
    if not parts:
        variables = [s for s in _top(facts) if s.kind in (Kind.VARIABLE, Kind.CONSTANT)]
        if variables:
            parts.append(["sets ", *_names(file.path, variables)])
    return _joined(parts[:3])


def _joined(parts: list[list[Piece]]) -> list[Piece]:
    pieces: list[Piece] = []
    for number, part in enumerate(parts):
        pieces += ([" and " if len(parts) == 2 else ", "] if number else []) + part
    return pieces
