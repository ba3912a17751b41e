"""One-line summaries of what a file defines, implements for other files, or re-exports.

In: a file and its outline. Out: pieces such as "defines the classes `A`, `B` and 3 more, and 12 functions". The names
shown are those that other code uses most; private names are shown only if there are no public ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from concordance.base.blocks import Mono, Piece, Ref, To, count_noun, join_in_sentence
from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, File, Kind
from concordance.extract.registry import language_of
from concordance.facts.codec import FileOutline, SymbolHead
from concordance.facts.updates.delta import Aspect
from concordance.query.answers import separator_of, split_key
from concordance.query.descriptions.overloads import implementation
from concordance.query.index.repository import Index

_GROUPS = (  # in the order in which a summary lists them
    (frozenset((Kind.CLASS,)), "class", "classes"),
    (frozenset((Kind.STRUCT, Kind.UNION)), "struct", "structs"),
    (frozenset((Kind.INTERFACE,)), "interface", "interfaces"),
    (frozenset((Kind.ENUM,)), "enum", "enums"),
    (frozenset((Kind.FUNCTION,)), "function", "functions"),
    (frozenset((Kind.MACRO,)), "macro", "macros"),
    (frozenset((Kind.TYPE,)), "type", "types"),
    (frozenset((Kind.OPERATOR,)), "operator", "operators"),
    (frozenset((Kind.TARGET,)), "target", "targets"),
    (frozenset((Kind.CONSTANT,)), "constant", "constants"),
    (frozenset((Kind.VARIABLE,)), "variable", "variables"),
)
_WHOLE = frozenset((Kind.CLASS, Kind.STRUCT, Kind.INTERFACE, Kind.ENUM, Kind.FUNCTION))
_OPEN = frozenset((Kind.NAMESPACE, Kind.MODULE))
_VALUES = frozenset((Kind.CONSTANT, Kind.VARIABLE))
_ONLY_IN_TESTS = re.compile(r"cfg\((?:test|all\(test\b)")
_MAX_BESIDE_WHOLE = 6
_MAX_NAMES = (3, 2)  # names shown of the first and of the second group
_DECLARATION_FILES = (".d.ts", ".d.mts", ".d.cts")
_SCRIPTS = frozenset(("shell", "make"))
_PACKAGE_FILES = {
    "python": ("__init__",), "javascript": ("index",), "typescript": ("index",), "rust": ("mod", "lib"),
}  # fmt: skip
_MARKED_EXPORTS = frozenset(("javascript", "typescript", "rust"))  # where an import is an export only if marked as one
_HELP_FIELDS = ("help", "description")
_STRING = re.compile(r"\"([^\"\\\n]*+)\"|'([^'\\\n]*+)'")
_STRINGS = re.compile(r"\(?\s*+(?:(?:\"[^\"\\\n]*+\"|'[^'\\\n]*+')\s*+)++\)?")
_LOGGER = re.compile(r"_*log(?:ger|ging)?_*\Z", re.I)


def top_level_symbols(facts: FileOutline) -> list[tuple[int, SymbolHead]]:
    """Return the definitions at the top level or directly in namespaces, with their positions.

    Methods count even if their class is in the file; the types and constants of a Rust `impl` do not.
    """
    symbols = facts.symbols
    types = {symbol.key for symbol in symbols if symbol.kind in TYPE_KINDS}
    return [
        (place, symbol) for place, symbol in enumerate(symbols)
        if symbol.kind not in _OPEN and (symbol.parent < 0 or _is_open(symbols, symbol.parent))
        and (symbol.kind in EXECUTABLE_KINDS or not _is_in_implementation(symbol, types))
    ]  # fmt: skip


def _is_in_implementation(symbol: SymbolHead, types: Collection[str]) -> bool:
    """True for the types and constants of a Rust `impl`, also of a type that is defined in another file."""
    owner = symbol.key.rpartition(".")[0]
    return owner in types or (bool(owner) and symbol.parent < 0 and symbol.kind in (Kind.TYPE, Kind.CONSTANT))


def _is_open(symbols: Sequence[SymbolHead], place: int) -> bool:
    while place >= 0:
        if symbols[place].kind not in _OPEN:
            return False
        place = symbols[place].parent
    return True


_TYPE_VARIABLE = re.compile(r"=\s*(?:\w+\.)?(?:TypeVar|ParamSpec|TypeVarTuple)\(")


def is_switch(name: str, kind: str, signature: str) -> bool:
    """True for a macro without a value: a header guard or a conditional-compilation switch."""
    return kind == Kind.MACRO and not signature.partition(name)[2].strip()


def is_logger(name: str, kind: str, signature: str) -> bool:
    """True for the variable through which a file writes its log, which nobody looks for."""
    return kind in (Kind.VARIABLE, Kind.CONSTANT) and (_LOGGER.match(name) is not None or "getLogger(" in signature)


def is_type_variable(name: str, kind: str, signature: str) -> bool:
    """True for `T = TypeVar("T")`, a parameter of types."""
    return kind in (Kind.VARIABLE, Kind.CONSTANT, Kind.TYPE) and _TYPE_VARIABLE.search(signature) is not None


def _is_notable(symbol: SymbolHead) -> bool:
    described = symbol.name, symbol.kind, symbol.signature
    is_aside = is_switch(*described) or is_logger(*described) or is_type_variable(*described)
    return not (symbol.name.startswith("__") or is_aside)


def notable_definitions(index: Index, file: File, facts: FileOutline) -> list[tuple[int, SymbolHead]]:
    """Return the definitions worth naming, the most used first: the public ones, or all if there are none.

    If only values are public, the types are added that other files use.
    """
    ids = index.facts.ids(file.path)
    declares = file.path.endswith(_DECLARATION_FILES)
    rows = [
        (place, symbol) for place, symbol in top_level_symbols(facts)
        if _is_notable(symbol) and (declares or not symbol.declaration)
    ]  # fmt: skip
    rows = [row for row in rows if not _ONLY_IN_TESTS.match(row[1].condition)] or rows
    public = [row for row in rows if row[1].public]
    has_code = any(symbol.kind not in _VALUES | {Kind.METHOD} for _, symbol in public)
    uses: dict[int, int] = {}
    index.reads.note(Aspect.USED_BY, file.path)
    for place, symbol in rows:
        users = index.graph.users(ids.id_at(place))
        away = sum(user not in ids for user, _ in users)
        is_shared = not has_code and symbol.kind in TYPE_KINDS and away > 0  # Rust's `pub(crate)`, in a program
        if symbol.public or not public or is_shared:
            spoken = implementation(facts.symbols, place)
            uses[spoken] = uses.get(spoken, 0) + len(users) + 100 * away
    return sorted((row for row in rows if row[0] in uses), key=lambda row: (-uses[row[0]], row[0]))


def main_definition(index: Index, file: File, facts: FileOutline) -> SymbolHead | None:
    """Return a file's main definition: the one with the file's name, a class that fills most of it, or the only one."""
    public = [symbol for _, symbol in notable_definitions(index, file, facts) if symbol.public]
    stem = _letters(file.path.rpartition("/")[2].partition(".")[0])
    rows = [symbol for symbol in public if symbol.kind in _WHOLE]
    named = [symbol for symbol in public if _letters(symbol.name) == stem and symbol.kind in _WHOLE | {Kind.TYPE}]
    if named:
        return named[0]
    classes = [symbol for symbol in rows if symbol.kind != Kind.FUNCTION]
    owners = _objects(facts)
    objects = [symbol for symbol in public if symbol.key in owners]
    if len(objects) == 1 and not classes:
        return objects[0]
    if len(classes) == 1 and classes[0].end_line - classes[0].start_line > 0.5 * facts.metrics.lines:
        return classes[0]
    return rows[0] if len(rows) == 1 else None


def help_text(facts: FileOutline, main: SymbolHead) -> tuple[str, SymbolHead] | None:
    """Return the text that a class shows its users as its help, and the field that holds it; None if it has none."""
    for symbol in facts.symbols:
        if symbol.kind == Kind.FIELD and symbol.name in _HELP_FIELDS and facts.symbols[symbol.parent] is main:
            value = _STRINGS.fullmatch(symbol.signature.partition(" = ")[2])
            if value is not None:
                words = "".join(double or single for double, single in _STRING.findall(value[0]))
                return " ".join(words.split()), symbol
    return None


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def group_by_kind(rows: Sequence[tuple[int, SymbolHead]]) -> list[tuple[str, str, list[SymbolHead]]]:
    """Group definitions by kind, each name once: classes and the like in the order of the given rows,
    then the others by kind."""
    groups = []
    for kinds, one, many in _GROUPS:
        names: dict[str, SymbolHead] = {}
        for _, symbol in rows:
            if symbol.kind in kinds:
                names.setdefault(symbol.name, symbol)
        if names:
            groups.append((one, many, list(names.values())))
    types = [group for group in groups if group[0] in ("class", "struct", "interface")]
    order = {symbol.key: place for place, (_, symbol) in enumerate(rows)}
    return [
        *sorted(types, key=lambda group: order[group[2][0].key]),
        *(group for group in groups if group not in types),
    ]


def definition_summary(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return what a file defines or re-exports; nothing if it does neither."""
    groups = group_by_kind(notable_definitions(index, file, facts))
    heavy = [group for group in groups if group[0] not in ("constant", "variable")]
    reexports: list[Piece] = []
    if not groups or not heavy or is_package_file(file):
        own = 2 * sum(len(group[2]) for group in heavy)
        reexports = reexport_summary(index, file, facts, own)
        if reexports and not defines_much(facts):
            return reexports
    if (
        language_of(file.language).has_prototypes
        and sum(len(group[2]) for group in heavy) < max(3, sum(_implemented(facts).values()))
        and (done := implementation_summary(file, facts))
        and (all(group[0] == "macro" for group in heavy) or done[0] == "implements ")
    ):
        return done
    objects = _objects(facts)
    groups = [(one, many, [s for s in some if s.key not in objects]) for one, many, some in groups]
    groups = [group for group in groups if group[2]]
    if ([group[0] for group in groups] == ["variable"] and not objects) or (not heavy and file.language in _SCRIPTS):
        return []  # a script: its variables do not describe it
    parts: list[list[Piece]] = []
    for key, times in objects.most_common(2):
        owner = next(symbol for symbol in facts.symbols if symbol.key == key)
        name = Ref(To.SYMBOL, file.path, key, owner.name)
        parts.append(["the object ", name, f" with {count_noun(times, 'method')}"])
    for number, (one, many, symbols) in enumerate(groups[:4]):
        shown = _MAX_NAMES[number] if number < len(_MAX_NAMES) else 0
        parts.append(_name_group(file.path, one, many, symbols, shown))
    if not parts:
        return reexports
    pieces: list[Piece] = ["defines "]
    for number, part in enumerate(parts):
        pieces += ([", and " if number == len(parts) - 1 else ", "] if number else []) + part
    return [*pieces, *(["; ", *reexports] if reexports else [])]


def defines_much(facts: FileOutline) -> bool:
    """True if classes and functions of its own fill more than a third of a file."""
    own = (symbol for _, symbol in top_level_symbols(facts) if symbol.kind in _WHOLE and symbol.parent < 0)
    lines = {line for symbol in own for line in range(symbol.start_line, symbol.end_line + 1)}
    return len(lines) > facts.metrics.lines / 3


def _objects(facts: FileOutline) -> Counter[str]:
    """Return the keys of the variables that hold an object, with the number of methods that the file gives it."""
    values = {symbol.key for symbol in facts.symbols if symbol.kind in (Kind.VARIABLE, Kind.CONSTANT)}
    owners = (s.key.rpartition(".")[0] for s in facts.symbols if s.kind == Kind.METHOD and s.parent < 0)
    return Counter(owner for owner in owners if owner in values)


def _name_group(path: str, one: str, many: str, symbols: Sequence[SymbolHead], limit: int) -> list[Piece]:
    """Return `the classes A, B and 3 more`, or `5 functions` if no names are to be shown."""
    if not limit:
        return [count_noun(len(symbols), one, many)]
    names: list[Piece] = [Ref(To.SYMBOL, path, s.key, s.name) for s in symbols[: limit + (len(symbols) == limit + 1)]]
    left = len(symbols) - len(names)
    if path.endswith(".rs") and one == "interface":
        one, many = "trait", "traits"
    return [
        f"the {one if len(symbols) == 1 else many} ",
        *join_in_sentence([*names, *([f"{left:,} more"] if left else [])]),
    ]


def _implemented(facts: FileOutline) -> Counter[str]:
    """Return how many methods a file defines for each class that is declared elsewhere, by the key of the class."""
    own = {symbol.key for symbol in facts.symbols if symbol.kind not in (Kind.METHOD, Kind.FUNCTION, Kind.FIELD)}
    rows = [s for _, s in top_level_symbols(facts) if s.kind == Kind.METHOD and not s.declaration]
    owners = (s.key.rpartition(".")[0] for s in rows)
    return Counter(key for key in owners if key and key not in own)


def implementation_summary(file: File, facts: FileOutline) -> list[Piece]:
    """Return the methods that a file defines for classes declared elsewhere, or else its private definitions, or what
    it only declares."""
    named = _implemented(facts).most_common()
    if not named:
        own = [s for _, s in top_level_symbols(facts) if s.kind in _WHOLE]
        defined = [s for s in own if not s.declaration]  # all private, or the file would be described by them
        return _kinds_in_words(file, defined, "defines ") if defined else _declaration_summary(file, own)
    separator = separator_of(file.language)
    pieces: list[Piece] = []
    for number, (key, times) in enumerate(named[:2]):
        short = separator.join(split_key(key)[-1:])
        pieces.append(f"{count_noun(times, 'method') if not number else times} of ")
        pieces += [Mono(short), ", "]
    pieces.pop()
    if len(named) > 2:
        pieces.append(f" and methods of {count_noun(len(named) - 2, 'more class', 'more classes')}")
    return ["implements ", *pieces]


def _declaration_summary(file: File, declared: Sequence[SymbolHead]) -> list[Piece]:
    """Return what a file only declares: functions, or types if there are none, as forward declarations say little."""
    functions = [symbol for symbol in declared if symbol.kind == Kind.FUNCTION]
    return _kinds_in_words(file, functions or declared, "declares ")


def _kinds_in_words(file: File, symbols: Sequence[SymbolHead], verb: str) -> list[Piece]:
    groups = group_by_kind([(0, symbol) for symbol in symbols])
    if not groups:
        return []
    parts: list[Piece] = []
    for number, (one, many, some) in enumerate(groups[:2]):
        parts += ([" and "] if number else []) + _name_group(file.path, one, many, some, _MAX_NAMES[number])
    return [verb, *parts]


def is_package_file(file: File) -> bool:
    """True if a file is the one that is imported in the name of its folder, such as `__init__.py`."""
    return file.path.rpartition("/")[2].partition(".")[0] in _PACKAGE_FILES.get(file.language, ())


def reexport_summary(index: Index, file: File, facts: FileOutline, least: int = 0) -> list[Piece]:
    """Return what a file re-exports: the names that it imports from other files of the repository and offers; nothing
    if these are fewer than `least`, or it has too much of its own beside all names of other files."""
    if not language_of(file.language).reexports:
        return []
    if not is_package_file(file) and facts.exports is None:
        return []
    sources: Counter[str] = Counter()
    names, whole = set(), False
    offered = set(facts.exports) if facts.exports is not None else None
    for row, target in index.open_file(file.path).import_targets:
        name = row.alias or row.name
        if not row.name or target is None or not target.paths or (offered is not None and name not in offered | {"*"}):
            continue
        if offered is None and file.language in _MARKED_EXPORTS and row.form != "export":
            continue
        sources[target.paths[0]] += 1
        names.add(name)
        whole = whole or row.name == "*"
    if not sources:
        return []
    shown = 2 + (len(sources) == 3)
    most = [path for path, _ in sources.most_common(shown)]
    labels = Counter(map(_module, most))
    best: list[Piece] = [Ref(To.FILE, path, "", path if labels[_module(path)] > 1 else _module(path)) for path in most]
    modules = join_in_sentence([*best, *([f"{len(sources) - shown} more"] if len(sources) > shown else [])])
    number = len(names - {"*"})
    if number < least or (whole and least > _MAX_BESIDE_WHOLE):
        return []
    if whole:
        return [f"re-exports {'names' if number else 'all names'} of ", *modules]
    return [f"re-exports {count_noun(number, 'name')} of ", *modules]


def _module(path: str) -> str:
    """Return a file's module name: that of its folder for `__init__`, `mod` or `index`, of the crate for `lib`."""
    folders, name = path.split("/")[:-1], path.rpartition("/")[2].partition(".")[0]
    if folders[-1:] == ["src"] and name in ("lib", "index"):
        folders.pop()
    return folders[-1] if folders and any(name in names for names in _PACKAGE_FILES.values()) else name
