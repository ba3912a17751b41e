"""The central definitions of a file: those that other files use most, not those that happen to stand first.

In: the model of a file. Out: its definitions at the top level or in namespaces, the most used first. Uses of a member
count for its class, and what only tests use comes after what source files use. Among definitions that no other file
uses, the one with the file's name comes first, then types and functions before values, and large ones before small
ones. The variable that a log is written through is never one of them.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import NamedTuple

from concordance.base.blocks import Mono, Piece, join_in_sentence
from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Category, Kind, Symbol, Trust
from concordance.extract.registry import language_of
from concordance.facts.updates.reads import memoised_in_object
from concordance.query.answers import split_key
from concordance.query.descriptions.definitions import is_logger, is_switch, is_type_variable
from concordance.query.descriptions.overloads import describes_branch, documented, implementation
from concordance.query.descriptions.quotations import is_aside
from concordance.query.index.file_model import IMPORT, FileModel
from concordance.query.index.ledger import outline
from concordance.query.markup import first_sentence

_LISTED_KINDS = frozenset((*TYPE_KINDS, *EXECUTABLE_KINDS, Kind.TYPE, Kind.CONSTANT, Kind.TARGET, Kind.VARIABLE))
_TEST_SETUP = frozenset(
    ("setUp", "tearDown", "setUpClass", "tearDownClass", "setUpTestData", "setup_method", "teardown_method")
)
_FIRST_WORD = re.compile(r"[\s@\\*]*(\w+)")
_ACCESS = re.compile(r"\b(?:public|protected|private|virtual)\s+")
_OWNER_KINDS = TYPE_KINDS | {Kind.TYPE}
_OPEN_KINDS = (Kind.NAMESPACE, Kind.MODULE)
_BUILT_IN_OWNER = re.compile(r"(?:.*\.)?[\[(&*].*\.\w+\Z")  # in Rust, methods of slices, tuples and references
_NUMBER = re.compile(r"\+\d+(?=\.|$)")  # tells definitions of one name apart
_MAX_BASES = 3  # bases that are named
_MAX_MEMBERS = 4  # members of an undocumented class that are named
_MAX_SIGNATURE = 100  # characters of a signature that is shown in place of a missing description


class CentralDefinition(NamedTuple):
    """A definition of a file, and how many other files use it."""

    place: int
    files: int  # including those that use only its members
    is_through_members: bool  # some of the files do
    is_private: bool
    is_plain: bool  # a value, or a test that a macro defines, without documentation and not used by other files


def rank_definitions(model: FileModel) -> list[CentralDefinition]:
    """Return the definitions of a file, the central ones first: what other files use before the rest, and of both the
    public ones before the private ones."""
    users, direct = _files_by_definition(model)
    source = {path for paths in users.values() for path in paths if model.index.category_of(path) != Category.TEST}
    if model.file.category == Category.TEST:  # code does not use its tests: these are coincidences of names
        users, source = {place: paths - source for place, paths in users.items()}, set()
    stem = _letters(model.path.rpartition("/")[2].partition(".")[0])
    definitions: dict[str, CentralDefinition] = {}
    for place in _top_level(model):
        symbol = model.symbols[place]
        files = len(users.get(place, ()))
        plain = (_is_value(symbol) or "(" in symbol.name) and not files and not symbol.doc
        is_through_members = files > len(users.get(place, set()) & direct.get(place, set()))
        row = CentralDefinition(place, files, is_through_members, is_private(model, place), plain)
        key = _NUMBER.sub("", symbol.key)
        had = definitions.get(key)
        if had is None or (had.files, not model.symbols[had.place].declaration) < (files, not symbol.declaration):
            definitions[key] = row

    def order(row: CentralDefinition) -> tuple[object, ...]:
        symbol = model.symbols[row.place]
        size = symbol.end_line - symbol.start_line
        kind = 0 if symbol.kind in TYPE_KINDS else 1 if symbol.kind in EXECUTABLE_KINDS else 2
        named = _letters(symbol.name) != stem
        return (
            row.is_private + 2 * (not row.files),
            -len(users.get(row.place, set()) & source),
            -row.files,
            named,
            kind,
            -size,
        )

    rows = sorted(definitions.values(), key=lambda row: (*order(row), row.place))
    return [row._replace(place=implementation(model.symbols, row.place)) for row in rows]


def _is_value(symbol: Symbol) -> bool:
    """True for variables, constants and macros without parameters."""
    if symbol.kind == Kind.MACRO:
        return f"{symbol.name}(" not in symbol.signature
    return symbol.kind in (Kind.VARIABLE, Kind.CONSTANT)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _top_level(model: FileModel) -> list[int]:
    """Return the places of the definitions at the top level or in namespaces, without forward declarations."""
    symbols: list[int] = []
    left, owners = model.children.get(-1, [])[::-1], _types_by_key(model)
    while left:
        place = left.pop()
        symbol = model.symbols[place]
        if symbol.kind in _OPEN_KINDS:
            left += reversed(model.children.get(place, []))
        elif _is_listed(symbol) and symbol.key.rpartition(".")[0] not in owners:
            symbols.append(place)
    return symbols


@memoised_in_object
def _types_by_key(model: FileModel) -> dict[str, int]:
    """Return the types of a file by key: in Go, Rust and C++, members may be defined outside of their type."""
    return {
        symbol.key: place for place, symbol in enumerate(model.symbols)
        if symbol.kind in _OWNER_KINDS and not (symbol.declaration and symbol.kind in TYPE_KINDS)
    }  # fmt: skip


def _members(model: FileModel, place: int) -> list[int]:
    """Return the members of a type, wherever in the file they are defined."""
    key, inside = model.symbols[place].key, model.children.get(place, [])
    outside = [
        other for other, symbol in enumerate(model.symbols)
        if symbol.parent != place and symbol.key.rpartition(".")[0] == key
    ]  # fmt: skip
    return [*inside, *outside]


def _is_listed(symbol: Symbol) -> bool:
    if symbol.kind not in _LISTED_KINDS or (symbol.declaration and symbol.kind in TYPE_KINDS):
        return False
    described = symbol.name, symbol.kind, symbol.signature
    is_aside = is_logger(*described) or is_switch(*described) or is_type_variable(*described)
    return not is_aside and not _is_special(symbol) and _BUILT_IN_OWNER.match(symbol.key) is None


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_special(symbol: Symbol) -> bool:
    """True for constructors, destructors and operators, which say nothing about what a class is for."""
    name, owner = symbol.name, split_key(symbol.key)[-2:-1]
    return _is_dunder(name) or name.startswith(("~", "operator")) or owner == [name] or name in _TEST_SETUP


def is_private(model: FileModel, place: int) -> bool:
    """True if the language or a leading underscore makes a definition private."""
    symbol = model.symbols[place]
    if symbol.name.startswith("_") and not _is_dunder(symbol.name):
        return True
    return not symbol.public and language_of(model.file.language).has_private


def _files_by_definition(model: FileModel) -> tuple[dict[int, set[str]], dict[int, set[str]]]:
    """Return the users of the file that use each definition at the top level or anything inside of it, and those that
    use the definition itself. A file that only imports a definition, to re-export it for example, does not use it."""
    index = model.index
    users = {index.path_of_file(user) for user in index.neighbours.users_of(model.ids.file)}
    files: dict[int, set[str]] = {}
    direct: dict[int, set[str]] = {}
    owners = _types_by_key(model)
    for place, uses in model.users.items():
        top = place
        while top >= 0:
            parent = model.symbols[top].parent
            if parent < 0 or model.symbols[parent].kind in _OPEN_KINDS:
                parent = owners.get(model.symbols[top].key.rpartition(".")[0], -1)
            if parent < 0:
                break
            top = parent
        least = Trust.UNIQUE_NAME if top == place else Trust.VIA_IMPORT  # members often share their names with others'
        if top >= 0:
            paths = {
                index.path_of(use.id)
                for use in uses
                if use.trust >= least and use.roles != IMPORT and not model.is_own(use.id)
            }
            files.setdefault(top, set()).update(paths & users)
            if top == place:
                direct[top] = paths & users
    return files, direct


def explain(model: FileModel, place: int) -> list[Piece]:
    """Return what a definition is, after a dash: its author's sentence, or else its bases and members or signature."""
    symbol, doc = model.symbols[place], model.symbols[documented(model.symbols, place)].doc
    doc = "" if describes_branch(model.symbols, place) else doc or _declared_doc(model, place)
    sentence = first_sentence(doc, model.file.language, symbol.name) if doc else ""
    first = _FIRST_WORD.match(doc)
    about_parameter = first is not None and first[1] in {parameter.name for parameter in symbol.parameters}
    if sentence and not about_parameter and not is_aside(sentence):
        return [f" — {sentence}"]
    if symbol.kind in _OWNER_KINDS:
        return _bases_and_members(model, place)
    signature = " ".join(symbol.signature.split())
    return [" — ", Mono(signature)] if symbol.parameters and len(signature) <= _MAX_SIGNATURE else []


def _declared_doc(model: FileModel, place: int) -> str:
    """Return the documentation of the declaration of what is defined here, in its header."""
    declaration = model.counterparts.get(place)
    if declaration is None or model.symbols[place].declaration:
        return ""
    path, declared = model.index.order_of(declaration)
    return outline(model.index, path).symbols[declared].doc


def count_implemented(symbol: Symbol) -> int:
    """Return how many of a class's bases, at the end of the list, it implements: they follow the word in its head."""
    implemented = symbol.signature.partition(" implements ")[2]
    return sum(1 for _ in takewhile(implemented.__contains__, reversed(symbol.bases))) if implemented else 0


def base_verb(model: FileModel, place: int) -> str:
    """Return what a type does with its bases; `extends` if it implements only some of them."""
    symbol = model.symbols[place]
    all_implemented = bool(symbol.bases) and count_implemented(symbol) == len(symbol.bases)
    return "implements" if all_implemented else language_of(model.file.language).base_verb


def _bases_and_members(model: FileModel, place: int) -> list[Piece]:
    """Return what a class without documentation extends, and its most used public methods."""
    symbol = model.symbols[place]
    inside = [
        inner for inner in _members(model, place)
        if model.symbols[inner].kind in EXECUTABLE_KINDS and not is_private(model, inner)
        and not _is_special(model.symbols[inner]) and "friend" not in model.symbols[inner].modifiers
    ]  # fmt: skip
    inside.sort(key=lambda inner: (-len(model.users.get(inner, ())), inner))
    names = list({model.symbols[inner].name: inner for inner in reversed(inside)}.items())[::-1]
    pieces: list[Piece] = []
    if symbol.bases:
        names_of_bases = [_ACCESS.sub("", base) for base in symbol.bases]
        left = len(names_of_bases) - _MAX_BASES
        shown_bases: list[Piece] = [Mono(base) for base in names_of_bases[: _MAX_BASES + (left == 1)]]
        shown_bases += [f"{left} more"] if left > 1 else []
        pieces += [f", {base_verb(model, place)} ", *join_in_sentence(shown_bases)]
    if names:
        shown: list[Piece] = [model.own(inner, name) for name, inner in names[:_MAX_MEMBERS]]
        left = len(names) - len(shown)
        pieces += [": ", *join_in_sentence([*shown, *([f"{left} more"] if left else [])])]
    return pieces
