"""Resolves a name that a person typed to symbols.

In: a bare name (`Module`), a qualified one (`torch.nn.Module`, `at::Tensor::add`) or the end of one (`nn.Module`), an
id (`path#Outer.inner`), or PATH:LINE:COL. Out: symbols, best first: definitions before declarations, public before
private, source before tests, shallow paths before deep ones. A dotted name may pass through modules that only re-export
what others define; a public name resolves to the symbol that has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.blocks import count_noun
from concordance.base.errors import UserError
from concordance.base.model import (
    ONLY_DEFINITION,
    TYPE_KINDS,
    Bridge,
    File,
    Kind,
    Skip,
    SymbolRelation,
    Trust,
    unpack_column,
)
from concordance.facts.read import SymbolPlace
from concordance.facts.updates.reads import ANY_UPDATE, shared_until
from concordance.query.answers import category_rank, separator_of, split_key
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index, UnknownPath
from concordance.query.names.at_position import (
    POSITION,
    Resolution,
    ResolvedQuestion,
    name_written_at,
    resolve_position,
)
from concordance.query.names.display_names import public_names
from concordance.query.names.import_trail import Hop, TrailFinder
from concordance.query.search.absence import unread_languages
from concordance.query.search.entities import ENTITIES, DefinitionRole

_LINE = re.compile(r"(?P<path>.+[^:]):(?P<line>\d+)")
_TEMPLATE = re.compile(r"<[^<>]*>")
_PROSE = frozenset((Kind.HEADING, Kind.LABEL, Kind.KEY))
_NOT_CODE = "a heading or key of this name"
_VALUE_KINDS = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD, Kind.ENUMERATOR))
_MAX_MODULES = 40  # modules of one name that are searched


class UnknownName(UserError):
    """The repository has no definition of this name."""


class _Match(NamedTuple):
    place: SymbolPlace
    group: int  # 0: full name, 1: end of the name, 2: below a folder of that name; plus 10 if oddly spelled
    hops: tuple[Hop, ...] = ()


def resolve_symbols(index: Index, question: str) -> list[SymbolPlace]:
    """Return the symbols of a NAME, an id or PATH:LINE:COL, best first; raise a UserError if there are none.

    Worse matches are left out: a question about `torch.nn.Module` is not about another `nn::Module`.
    """
    resolved = resolve_question(index, question)
    places = [resolution.place for resolution in resolved.resolutions if resolution.place.id and resolution.best]
    if not places:
        raise UnknownName(
            resolved.note or f"{question} is a variable inside a function", "Give the name of a definition"
        )
    return places


def resolve_subject(index: Index, question: str) -> File | list[SymbolPlace]:
    """Return the file that a PATH refers to, or the symbols of a NAME, best first."""
    file = index.facts.file(question)
    if file is not None:
        return file
    try:
        return resolve_symbols(index, question)
    except UnknownName:
        if POSITION.fullmatch(question):
            raise  # its file is known
        if "/" not in question and index.facts.file(question) is None and not re.search(r"\.\w{1,5}$", question):
            raise
        try:
            return index.file(question)
        except UnknownPath as error:
            if "/" in question:
                raise error from None
        raise


def resolve_question(index: Index, question: str) -> ResolvedQuestion:
    """Return all resolutions of a question, best first; raise UnknownName if there are none."""
    if not question.strip():
        raise UnknownName("the question is empty", "Give a NAME or PATH:LINE:COL")
    if POSITION.fullmatch(question):
        resolved = resolve_position(index, question)
        written = "" if resolved.resolutions else name_written_at(index, question)
        across = list(_of_entities(index, written)) if written else []
        return ResolvedQuestion(across) if across else resolved
    begun = _begun_at(index, question)
    if begun:
        return ResolvedQuestion([Resolution(place, Trust.EXACT, "definition") for place in begun])
    try:
        question.encode()
    except UnicodeEncodeError:
        raise UnknownName("the question is not valid text", "Give a NAME or PATH:LINE:COL") from None
    if "#" in question and index.facts.file(question.partition("#")[0]) is not None:
        return ResolvedQuestion(_by_id(index, question))
    matches = _by_name(index, question)
    if not matches:
        across = list(_across_languages(index, question))
        if across:
            return ResolvedQuestion(across)
        raise _unknown(index, question)
    code = [match for match in matches if match.place.kind not in _PROSE] or matches
    full, all_ = (_count(match for match in code if match.group <= group) for group in (0, 99))
    best = matches[0].group
    resolutions = [
        (_resolution(match, full, all_) if match in code else Resolution(match.place, Trust.CANDIDATE, _NOT_CODE))
        ._replace(best=match.group == best)
        for match in matches
    ]  # fmt: skip
    return ResolvedQuestion(_by_role(index, question, resolutions))


def _begun_at(index: Index, question: str) -> list[SymbolPlace]:
    """Return the definitions that begin on a line, as answers give it (`PATH:LINE`), without those inside of others."""
    line = _LINE.fullmatch(question)
    if line is None:
        return []
    try:
        path = index.file(line["path"]).path
    except UnknownPath:
        return []
    places = [place for place in index.facts.symbols_in(path) if place.line == int(line["line"])]
    keys = {place.key for place in places}
    return [place for place in places if place.parent_key not in keys]


def _by_role(index: Index, question: str, resolutions: list[Resolution]) -> list[Resolution]:
    """Sort resolutions by their roles, and add declarations, if the name means something that is not a symbol."""
    roles: dict[int, DefinitionRole] = {}
    for kind in plugins.load_defining(ENTITIES, "definitions"):
        roles |= kind.definition_roles(index, question)
    known = {resolution.place.id for resolution in resolutions}
    more = (
        [resolution for resolution in _of_entities(index, question) if resolution.place.id not in known]
        if roles
        else []
    )
    return sorted(
        (*resolutions, *more),
        key=lambda resolution: (not resolution.best, roles.get(resolution.place.id, DefinitionRole.OTHER)),
    )


def _count(matches: Iterable[_Match]) -> int:
    """Count the distinct definitions among some matches; overloads count as one."""
    places = [match.place for match in matches if not _is_declared(match.place)]
    return len({(place.path, place.parent_key, place.name) for place in places})


def _resolution(match: _Match, full: int, count: int) -> Resolution:
    if match.group == 0 and match.hops:
        return Resolution(match.place, Trust.VIA_IMPORT, "import", match.hops)
    if match.group == 0 and full <= 1:
        return Resolution(match.place, Trust.EXACT, "full name")
    if count <= 1:
        return Resolution(match.place, Trust.UNIQUE_NAME, ONLY_DEFINITION)
    return Resolution(match.place, Trust.CANDIDATE, f"one of {count:,} definitions of this name")


# --- by id


def _by_id(index: Index, question: str) -> list[Resolution]:
    path, _, key = question.partition("#")
    symbols = index.facts.of(path).symbols
    places = [n for n, symbol in enumerate(symbols) if symbol.key == key]
    places = places or [
        n for n, symbol in enumerate(symbols) if split_key(symbol.key) == key.replace("::", ".").split(".")
    ]
    if not places:
        near = _nearest(key, (symbol.key for symbol in symbols))
        hint = f"List its definitions with: concord symbols {path}"
        if near:
            hint = f"Nearest: {', '.join(f'{path}#{one}' for one in near)}"
        raise UnknownName(f"{path} has no definition of {key}", hint)
    ids = index.facts.ids(path)
    places_by_id = index.facts.places(ids.id_at(place) for place in places)
    return [
        Resolution(places_by_id[ids.id_at(place)], Trust.EXACT, "id")
        for place in places
        if ids.id_at(place) in places_by_id
    ]


# --- by name


def _by_name(index: Index, question: str) -> list[_Match]:
    parts = _split_question(question)
    whole = [_Match(place, 1) for place in index.facts.symbols_named(question)]
    if len(parts) < 2:
        matches = whole or [_Match(place, 1) for place in index.facts.symbols_named(parts[0])] if parts else whole
        return _sort_matches(matches) or _modules(index, parts, ".")
    separator = "::" if "::" in question else "."
    matches = whole + _by_end(index, parts) + _by_module(index, parts, separator)
    matches = _with_public_names(index, parts, matches) if separator == "." else matches
    matches = matches or _inherited(index, parts, separator) or _only_below(index, parts)
    matches = matches or _modules(index, parts, separator)
    best: dict[int, _Match] = {}
    for match in matches:
        had = best.get(match.place.id)
        if had is None or match.group < had.group:
            best[match.place.id] = match
    return _sort_matches([_rank_by_separator(match, separator) for match in best.values()])


def _split_question(question: str) -> list[str]:
    """Split a qualified name into its parts."""
    text = question.strip().removesuffix("()")
    before, operator, sign = text.partition("operator")
    if operator and sign and not (sign[0].isalnum() or sign[0] == "_"):  # its symbol may contain any character
        return [*filter(None, _split_question(before)), operator + sign]
    while _TEMPLATE.search(text):
        text = _TEMPLATE.sub("", text)
    return [part for part in re.split(r"::|\.", text) if part]


def _rank_by_separator(match: _Match, separator: str) -> _Match:
    """Move a match behind all others if its language does not use this separator."""
    return match if separator_of(match.place.language) == separator else match._replace(group=match.group + 10)


def _sort_matches(matches: Iterable[_Match]) -> list[_Match]:
    """Sort matches, best first."""

    def key(match: _Match) -> tuple[object, ...]:
        place = match.place
        order = (
            place.kind in _PROSE, _is_declared(place), not place.public, category_rank(place.category),
            place.kind in _VALUE_KINDS,
        )  # fmt: skip
        return (
            match.group, *order, place.parent_key.count(".") + bool(place.parent_key), place.path.count("/"),
            place.path, place.place,
        )  # fmt: skip

    return sorted(matches, key=key)


def _is_declared(place: SymbolPlace) -> bool:
    """True if a symbol is only declared, as everything in a stub file is."""
    return place.declaration or ".pyi" in place.path


def _by_end(index: Index, parts: list[str]) -> list[_Match]:
    """Return symbols whose qualified name, with or without the module of their file, ends with these parts."""
    heads, matches = parts[:-1], []
    named = index.facts.symbols_named(parts[-1])
    # A symbol defined by a macro contains a name: `KERNEL(add)` is found by `add` if nothing else is.
    for place in named or index.facts.symbols_named_by_macro(parts[-1]):
        parent_names = split_key(place.parent_key)
        before = heads[: len(heads) - len(parent_names)]
        if parent_names[-len(heads) :] == heads:
            matches.append(_Match(place, 0 if parent_names == heads else 1))
        elif heads[len(before) :] == parent_names and _ends(_module_of(place.path), before):
            matches.append(_Match(place, 0))
    return matches


def _with_public_names(index: Index, parts: list[str], matches: list[_Match]) -> list[_Match]:
    """Add the symbols that have this public name, and rank all other matches below them."""
    places: dict[int, SymbolPlace] = {}
    for path, names in public_names(index).matching(parts):
        inside = index.facts.symbols_in(path)
        exported = [place for place in inside if split_key(place.key) == names]  # all overloads
        if not exported and len(names) > 1:
            inherited = next((place for place in inside if split_key(place.key) == names[:1]), None)
            for name in names[1:]:
                inherited = _member(index, inherited, name, set()) if inherited is not None else None
            exported = [inherited] if inherited is not None else []
        places.update((place.id, place) for place in exported)
    if not places:
        return matches
    ways = [match for match in matches if match.place.id in places and match.group == 0]
    best = {match.place.id: match for match in reversed(ways)}  # of several ways to a symbol, the first is the best
    others = [match._replace(group=max(1, match.group)) for match in matches if match.place.id not in places]
    return [best.get(identity, _Match(place, 0)) for identity, place in places.items()] + others


def _ends(parts: list[str], end: list[str]) -> bool:
    return bool(end) and parts[-len(end) :] == end


def _modules(index: Index, parts: list[str], separator: str) -> list[_Match]:
    """Return files whose dotted module name ends with these parts, in languages with this separator, best first."""
    matches = []
    for number in _by_last_part(index).get(parts[-1], ()) if parts else ():
        identity, path, language, category = index.file_rows[number]
        if separator_of(language) == separator and _ends(_module_of(path), parts):
            place = SymbolPlace(identity, "", "file", path, -1, 1, False, 1, True, "", language, category)
            matches.append(_Match(place, 0))
    return _sort_matches(matches)


def _by_module(index: Index, parts: list[str], separator: str) -> list[_Match]:
    """Return what modules export under a name, wherever it is defined."""
    for count in range(len(parts) - 1, 0, -1):
        matches = []
        for module in _modules(index, parts[:count], separator)[:_MAX_MODULES]:
            way = TrailFinder(index).of_name(module.place.path, parts[count])
            place = index.facts.place(way.target) if way else None
            for name in parts[count + 1 :]:
                place = _member(index, place, name, set()) if place is not None else None
            if place is not None and way is not None:
                matches.append(_Match(place, 0, way.hops))
        if matches:
            return matches
    return []


def _member(index: Index, owner: SymbolPlace, name: str, seen: set[int]) -> SymbolPlace | None:
    """Return a member of a class or module, searching base classes if need be."""
    if owner.place < 0:
        way = TrailFinder(index).of_name(owner.path, name)
        return index.facts.place(way.target) if way else None
    seen.add(owner.id)
    owner_names = [*split_key(owner.parent_key), owner.name]
    for place in index.facts.symbols_in(owner.path):
        if place.name == name and split_key(place.parent_key) == owner_names:
            return place
    file = index.open_file(owner.path)
    given = zip(
        unpack_column(file.flow.given_symbol), file.flow.given_what, unpack_column(file.flow.given_value), strict=True
    )
    for symbol, what, value in given:
        if (symbol, what) == (owner.place, SymbolRelation.BASE):
            for claim in file.linked_targets(value)[:1]:
                base = index.facts.place(claim.target) if claim.target not in seen else None
                member = _member(index, base, name, seen) if base is not None else None
                if member is not None:
                    return member
    return None


def _inherited(index: Index, parts: list[str], separator: str) -> list[_Match]:
    """Return the member that the best class of the name before it inherits: `Flask.route` is defined in a base."""
    for owner in _by_name(index, separator.join(parts[:-1])):
        if owner.place.kind in TYPE_KINDS:
            member = _member(index, owner.place, parts[-1], set())
            return [_Match(member, owner.group % 10)] if member is not None else []
    return []


def _only_below(index: Index, parts: list[str]) -> list[_Match]:
    """Return the only symbol of this name below a folder or file of the name before it; empty if there are several."""
    heads, matches = parts[:-1], []
    for place in index.facts.symbols_named(parts[-1]):
        inside = [*_module_of(place.path), *split_key(place.parent_key)]
        if any(inside[n : n + len(heads)] == heads for n in range(len(inside))):
            matches.append(_Match(place, 2))
    return matches if _count(matches) == 1 else []


def _across_languages(index: Index, question: str) -> Iterator[Resolution]:
    """Yield what other languages have under a name: what is bound to it, or what defines an entity of that name."""
    rows = [row for row in bridges_of(index).named(question) if row.target and row.says in _BOUND]
    yield from _resolved(index, rows) if rows else _of_entities(index, question)


def _of_entities(index: Index, question: str) -> Iterator[Resolution]:
    kinds = plugins.load_defining(ENTITIES, "definitions")
    return _resolved(index, (row for kind in kinds for row in kind.definitions(index, question)))


def _resolved(index: Index, rows: Iterable[Bridge]) -> Iterator[Resolution]:
    for row in rows:
        place = index.facts.place(row.target)
        if place is not None:
            yield Resolution(place, Trust(row.trust), f"{row.name}: {row.by}")


_BOUND = ("binds", "declares")


# --- unknown names


def _unknown(index: Index, question: str) -> UnknownName:
    parts = _split_question(question)
    file = index.facts.file(question)
    if file is not None and file.skip == Skip.SUBMODULE:
        return UnknownName(f"{question} is another repository", "Ask in that repository")
    if file is not None:
        return UnknownName(f"{question} is a file", "Give a NAME, or PATH:LINE:COL in that file")
    line = _LINE.fullmatch(question)
    path = line["path"] if line is not None else question
    try:
        path = index.file(path).path
    except UnknownPath as error:
        if line is not None or _is_like_path(index, question):
            return UnknownName(error.message, error.what_to_do)
    if line is not None:
        return UnknownName(f"no definition begins at {path}:{line['line']}", "For a name on that line: PATH:LINE:COL")
    last = parts[-1] if parts else question
    there = _sort_matches(_Match(place, 1) for place in index.facts.symbols_named(last)) if len(parts) > 1 else []
    if there:
        listed = ", ".join(
            f"{match.place.path}#{'.'.join([*split_key(match.place.parent_key), last])}" for match in there[:3]
        )
        more = f" and {len(there) - 3:,} more" if len(there) > 3 else ""
        return UnknownName(f"no definition of {question} found", f"{last} is defined: {listed}{more}")
    near = similar_names(index, last)
    unread = unread_languages(index)
    searched = f"{count_noun(index.facts.symbol_count(), 'definition')} searched" + (f"; {unread}" if unread else "")
    return UnknownName(f"no definition of {question} found", f"Nearest: {', '.join(near)}" if near else searched)


def _is_like_path(index: Index, question: str) -> bool:
    """True if a question ends like a file of the repository, and has a folder, or no name before the ending."""
    stem, _, ending = question.rpartition(".")
    names = [row[1].rpartition("/")[2] for row in index.file_rows if row[1].endswith(f".{ending}")]
    if not stem or not names:
        return False
    return "/" in question or question in names or not index.facts.symbols_named(stem.rpartition(".")[2])


def similar_names(index: Index, name: str) -> list[str]:
    """Return the known names that are most similar to an unknown one."""
    return _nearest(name, _near_names(index, name))


def _near_names(index: Index, name: str) -> Iterable[str]:
    """Yield names with a similar beginning and length: few enough to compare."""
    firsts = {letter for first in name[:2] for letter in (first.lower(), first.upper(), "_")}
    reach = max(1, len(name) // 3)
    for first in sorted(firsts):
        yield from index.facts.distinct_names(first, len(name) - reach, len(name) + reach)


def _nearest(name: str, candidates: Iterable[str]) -> list[str]:
    """Return the three names that are most similar."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(name.lower())
    scored = []
    for other in set(candidates):
        matcher.set_seq1(other.lower())
        if matcher.real_quick_ratio() >= _LIKE and matcher.quick_ratio() >= _LIKE and matcher.ratio() >= _LIKE:
            scored.append((-matcher.ratio(), other))
    return [other for _, other in sorted(scored)[:3]]


_LIKE = 0.7


_MODULAR = frozenset(("python", "cython", "javascript", "typescript", "rust", "starlark"))  # where a file is a module
_FOLDER_FILES = frozenset(("__init__", "index", "mod", "lib", "main"))  # files that represent their folder


def _module_of(path: str) -> list[str]:
    """Return a file's dotted name in parts: its folders and its stem, unless the file represents its folder."""
    folders, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return [*filter(None, folders.split("/")), *([] if stem in _FOLDER_FILES else [stem])]


@shared_until(ANY_UPDATE)
def _by_last_part(index: Index) -> dict[str, list[int]]:
    """Return the positions in `file_rows` of the files that are modules, by the last part of their dotted names."""
    places: dict[str, list[int]] = {}
    for number, (_, path, language, _) in enumerate(index.file_rows):
        if language in _MODULAR:
            folder, _, name = path.rpartition("/")
            stem = name.partition(".")[0]
            last = folder.rpartition("/")[2] if stem in _FOLDER_FILES else stem
            if last:
                places.setdefault(last, []).append(number)
    return places
