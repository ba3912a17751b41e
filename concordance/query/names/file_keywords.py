"""The keywords of one file: the names it defines, imports and mentions, and the concepts it is about.

In: a file. Out: groups of `DefinedName`s, `ImportedName`s, names of code that its prose mentions (`MentionedName`), and
its concepts, the most characteristic first. The keyword page shows them and the terminal lists them.

Names of code are recognised in text by their spelling: like types and constants (`GraphModule`, `FULL_SHARD`), or with
a capital where only a name can stand (`nn.Module`, `Dict[`, `Tensor(`), so that the first word of a sentence does not
count. In code samples, names that they import or define count too, and names spelled like functions (`a_b`) if the
repository has them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from concordance.base.blocks import Ref, To
from concordance.base.model import ROLES, FileFacts, Kind, Role, Symbol, Term, unpack_column
from concordance.extract.documents.markdown_blocks import find_fences
from concordance.extract.registry import is_prose
from concordance.extract.text.english import GENERAL, STOP, VERBS
from concordance.extract.text.terms import weight
from concordance.query.answers import separator_of
from concordance.query.index.file_model import FileModel, ref_of

_SESSION = re.compile(r"^\s*(?:>>>|\.\.\.) ")
_NAME = re.compile(r"(?<![\w@/-])[A-Za-z_]\w*")
_PLAIN = re.compile(r"_*[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+_*|_+[A-Za-z]\w*|[a-z0-9]+[A-Z]\w*")
_SAMPLE_IMPORT = re.compile(r"^\s*(?:>>> )?(?:from\s+[\w.]+\s+)?import\s+(.*)")
_DEFINED = re.compile(r"\b(?:class|def|struct|enum|interface|func|fn|trait)\s+([A-Za-z_]\w*)\s*[(:{<\[]")
_SPEECH = frozenset(("", "text", "txt", "console", "output", "diff", "log", "mermaid", "markdown", "md", "rst"))
_MAX_NAME_LENGTH = 60  # longer names were not written by people
_CODE_LIKE_NAME = re.compile(
    r"(?<![\w/@#$%\\-])_*(?:"
    r"[A-Z][A-Za-z0-9]*_+[A-Za-z0-9]\w*"  # FULL_SHARD
    r"|[A-Z]\w*?[a-z0-9][A-Z]\w*"  # GraphModule
    r"|[A-Z]{2,}(?!s\b)[a-z]\w*"  # DTensor, but not GPUs
    r"|[A-Z]\w*(?=[\[(<]|::|\.[A-Za-z_])"  # Dict[, Tensor(, Foo::bar, Kind.CLASS
    r"|(?<=\.)[A-Z]\w*|(?<=::)[A-Z]\w*"  # nn.Module
    r")"
)
_MARKS = frozenset(("TODO", "FIXME", "XXX", "HACK", "NOTE", "NB", "BUG", "None", "True", "False"))
FoundNames = dict[str, tuple[int, int]]  # by name: first line and number of occurrences
GROUPS: dict[str, str] = {
    Kind.CLASS: "Classes", Kind.STRUCT: "Structs", Kind.UNION: "Unions", Kind.ENUM: "Enums",
    Kind.INTERFACE: "Interfaces", Kind.FUNCTION: "Functions", Kind.METHOD: "Methods", Kind.PROPERTY: "Properties",
    Kind.FIELD: "Fields", Kind.VARIABLE: "Variables", Kind.CONSTANT: "Constants", Kind.ENUMERATOR: "Enumerators",
    Kind.TYPE: "Types", Kind.MACRO: "Macros", Kind.NAMESPACE: "Namespaces", Kind.MODULE: "Modules",
    Kind.TARGET: "Targets", Kind.OPERATOR: "Operators", Kind.HEADING: "Headings", Kind.KEY: "Keys",
    Kind.LABEL: "Labels",
}  # fmt: skip
IMPORTS, LINKS, IDENTIFIERS, CONCEPTS = "Imports", "Links", "Identifiers", "Concepts"
PURPOSE, SOURCE, ANALYSIS, DEPENDENCIES = "File Purpose", "Original Source", "Detailed Analysis", "Dependencies"
_IMPORT = ROLES.index(Role.IMPORT)
_MENTION = ROLES.index(Role.MENTION)
_COMMON_TERM_SHARE = 8  # a term found in more than one file out of this many characterises none of them …
_SMALL_REPOSITORY = 64  # … unless there are fewer files than this
_COMMON_WORDS = STOP | VERBS | GENERAL
INCLUDED = frozenset(("system", "local"))  # headers: their names occur nowhere else in the text
LINKED = frozenset(("link", "image"))
_WORDS = re.compile(r"\w+")
GROUPING_KINDS = frozenset((Kind.NAMESPACE, Kind.MODULE))  # containers whose contents are not their members

UNNESTED_KINDS = frozenset((Kind.HEADING, Kind.LABEL, Kind.KEY))  # kinds listed by name alone, wherever they are nested


class DefinedName(NamedTuple):
    """A name, and the positions of all symbols of one kind that have it."""

    name: str
    places: list[int]


class ImportedName(NamedTuple):
    """A module or header, and the names imported from it."""

    module: str
    line: int
    ref: Ref | None  # the file it resolves to, if it is in the repository
    alias: str
    times: int  # how often it is used in this file by its name
    form: str  # as `Import.form`
    names: list[tuple[str, Ref | None, int]]  # each with its target and how often this file uses it


class MentionedName(NamedTuple):
    """A name of code that the prose of the file mentions."""

    name: str
    line: int
    times: int


class Usage(NamedTuple):
    """How often a symbol is used, in its own file and elsewhere."""

    here: int  # uses in its own file
    there: Counter[str]  # uses in other files, by path


def count_usage(model: FileModel) -> dict[int, Usage]:
    """Return how often each symbol of a file is used, by position."""
    counts: dict[int, Usage] = {}
    path_of, ids = model.index.path_of, model.ids
    for place, uses in model.users.items():
        here = 0
        there: Counter[str] = Counter()
        for identity, _, _, times in uses:
            if identity in ids:
                here += times
            else:
                there[path_of(identity)] += times
        counts[place] = Usage(here, there)
    return counts


def name_key(text: str) -> tuple[str, str]:
    """A sort key for names from A to Z that ignores case."""
    return text.lower(), text


def defined_names(symbols: tuple[Symbol, ...]) -> dict[str, list[DefinedName]]:
    """Return what a file defines, grouped by kind, from A to Z."""
    kinds: dict[str, dict[str, list[int]]] = {}
    for place, symbol in enumerate(symbols):
        kinds.setdefault(symbol.kind, {}).setdefault(symbol.name, []).append(place)
    return {
        title: [DefinedName(name, kinds[kind][name]) for name in sorted(kinds[kind], key=name_key)]
        for kind, title in GROUPS.items()
        if kind in kinds
    }


def member_of(model: FileModel, place: int) -> int:
    """Return the position of the symbol that a symbol is a member of; -1 at the top level or in a namespace."""
    parent = model.symbols[place].parent
    return (
        -1
        if parent < 0 or model.symbols[parent].kind in GROUPING_KINDS or model.symbols[place].kind in UNNESTED_KINDS
        else parent
    )


def qualified_name(model: FileModel, place: int) -> str:
    """Return a symbol's name, qualified by what it is a member of."""
    parts: list[str] = []
    while place >= 0:
        parts.append(model.symbols[place].name)
        place = member_of(model, place)
    return separator_of(model.file.language).join(reversed(parts))


def imported_names(model: FileModel) -> list[ImportedName]:
    """Return what a file imports, from A to Z, with names grouped under their modules."""
    modules: dict[str, ImportedName] = {}
    times = _times(model.facts)
    for row, target, identity in model.imports:
        had = modules.get(row.module)
        if had is None:
            path = target.paths[0] if target is not None and target.paths else ""
            ref = Ref(To.FILE, path, "", row.module) if path else None
            modules[row.module] = had = ImportedName(row.module, row.line, ref, "", 0, row.form, [])
        if not row.name or row.name == "*":
            called = row.alias or row.module.partition(".")[0]
            count = had.times or times[called, row.scope]
            modules[row.module] = had._replace(alias=had.alias or row.alias, times=count)
        elif all(row.name != name for name, _, _ in had.names):
            ref = ref_of(model.index, identity)._replace(label=row.name) if identity else None
            had.names.append((row.name, ref, times[row.alias or row.name, row.scope]))
    for had in modules.values():
        had.names.sort(key=lambda row: name_key(row[0]))
    return [modules[name] for name in sorted(modules, key=name_key)]


def _times(facts: FileFacts) -> Counter[tuple[str, int]]:
    """Count the uses of each imported name, by name and by the scope that binds it."""
    called = {row.alias or row.name or row.module.partition(".")[0] for row in facts.imports}
    occurrences = facts.occurrences
    wanted = {number for number, name in enumerate(occurrences.names) if name in called}
    if not wanted:
        return Counter()
    columns = zip(unpack_column(occurrences.name), unpack_column(occurrences.bound), occurrences.role, strict=True)
    counts = Counter([(name, bound) for name, bound, role in columns if name in wanted and role != _IMPORT])
    return Counter({(occurrences.names[name], bound - 1): count for (name, bound), count in counts.items()})


def mentioned_names(
    facts: FileFacts, is_defined: Callable[[str], bool], more: Iterable[MentionedName] = ()
) -> list[MentionedName]:
    """Return names of code that the prose mentions and the file does not define, from A to Z.

    A plain word marked as code counts if the repository defines it or if it is not a common English word.
    """
    mentioned: dict[str, MentionedName] = {}
    for row in (*_names_in_prose(facts), *more):
        had = mentioned.get(row.name, row._replace(times=0))
        mentioned[row.name] = row._replace(line=min(had.line, row.line), times=had.times + row.times)
    bare = {name.strip("_") for name in mentioned}
    for term in facts.terms:
        if term.kind == "name" and term.text not in bare:
            mentioned.setdefault(term.text, MentionedName(term.text, term.line, term.times))
    here = {symbol.name for symbol in facts.symbols}
    names = [name for name in mentioned if name not in here and (name not in _COMMON_WORDS or is_defined(name))]
    return [mentioned[name] for name in sorted(names, key=name_key)]


def _names_in_prose(facts: FileFacts) -> Iterator[MentionedName]:
    """Yield the names that occur in prose marked as code."""
    occurrences = facts.occurrences
    if _MENTION not in occurrences.role:
        return
    first: dict[int, int] = {}
    numbers = unpack_column(occurrences.name)
    places = [place for place, role in enumerate(occurrences.role) if role == _MENTION]
    for place in places:
        first.setdefault(numbers[place], place)
    times = Counter([numbers[place] for place in places])
    offsets = list(accumulate(unpack_column(occurrences.step)))
    starts = [0, *accumulate(unpack_column(occurrences.lengths))]
    for number, place in first.items():
        yield MentionedName(occurrences.names[number], bisect_right(starts, offsets[place]), times[number])


def _used_names(model: FileModel) -> dict[str, int]:
    """Return what the file uses of others, by the last part of its name; 0 if the name is ambiguous."""
    names: dict[str, int] = {}
    name_of = model.index.census.name_of
    for inside in model.uses.values():
        for identity in inside:
            if not model.is_own(identity) and (name := name_of(identity)):
                names[name] = identity if names.get(name, identity) == identity else 0
    return names


def names_in_code_samples(model: FileModel) -> list[MentionedName]:
    """Return names of other files' code in the code samples of a prose document."""
    if not is_prose(model.file.language):
        return []
    names = names_in_samples(model.opened.lines() or (), model.index.census.has_code_symbol)
    return [MentionedName(name, line, times) for name, (line, times) in names.items()]


class MentionResolver:
    """Resolves names that a file mentions."""

    def __init__(self, model: FileModel) -> None:
        self._one, self._used = model, _used_names(model)

    def ref(self, name: str) -> Ref | None:
        """Return a link to what the file uses under this name, or to the only definition of it; else None."""
        last = re.split(r"\.|::", name)[-1].removesuffix("()")
        index = self._one.index
        identity = self._used.get(last) or index.census.unique_code_symbol(last)
        return ref_of(index, identity)._replace(label=name) if identity else None


def concepts(terms: Iterable[Term], spread: Mapping[str, int], files: int) -> list[Term]:
    """Return the words, phrases and acronyms that characterise a file, most characteristic first.

    `spread` is the number of files that have each term, out of `files`.
    """
    weighed = [
        (-weight(term.times, max(1, spread.get(term.text, 1)), max(1, files)), term.text, term)
        for term in terms
        if term.kind != "name" and is_characteristic(spread.get(term.text, 1), files)
    ]
    return [row[2] for row in sorted(weighed)]


def is_characteristic(spread: int, files: int) -> bool:
    """True if a term that occurs in `spread` of `files` files helps to tell files apart."""
    return files < _SMALL_REPOSITORY or spread * _COMMON_TERM_SHARE <= files


def with_long_form(term: Term) -> str:
    """Return a concept, followed by its long form if it is an acronym."""
    return f"{term.text} ({term.stands_for})" if term.stands_for else term.text


class TextWords:
    """The words of a text, to check which keywords it contains."""

    def __init__(self, text: str) -> None:
        self._words = f" {' '.join(_WORDS.findall(text.lower()))} "

    def has(self, text: str) -> bool:
        """True if the text contains a keyword, whatever its case and punctuation."""
        return f" {' '.join(_WORDS.findall(text.lower()))} " in self._words


# Names of code in a text, recognised by their spelling.


def names_by_spelling(text: str) -> FoundNames:
    """Return the names that are spelled like types and constants."""
    starts: list[int] = []
    names: FoundNames = {}
    for match in _CODE_LIKE_NAME.finditer(text):
        name = match[0]
        if name in names:
            names[name] = (names[name][0], names[name][1] + 1)
        elif len(name) <= _MAX_NAME_LENGTH and name not in _MARKS:
            if not starts:
                starts = [0, *(end.end() for end in re.finditer("\n", text))]
            names[name] = (bisect_right(starts, match.start()), 1)
    return names


def _code(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text that are code samples, with their numbers."""
    start = 0
    for first, last, info in (*find_fences(lines), (len(lines), len(lines), "")):
        yield from ((n, line) for n, line in enumerate(lines[start:first], start + 1) if _SESSION.match(line))
        words = info.strip(" {}").lower().split()
        if words and words[0] not in _SPEECH:
            yield from enumerate(lines[first + 1 : last], first + 2)
        start = last + 1


def names_in_samples(lines: Sequence[str], is_defined: Callable[[str], bool]) -> FoundNames:
    """Return the names in the code samples of a text."""
    code = list(_code(lines))
    if not code:
        return {}
    bound = _names_bound(line for _, line in code)
    taken = bound | names_by_spelling("\n".join(line for _, line in code)).keys()
    names: FoundNames = {}
    for number, line in code:
        for name in _NAME.findall(line):
            if name in taken or (_PLAIN.fullmatch(name) and is_defined(name)):
                first, times = names.get(name, (number, 0))
                names[name] = (first, times + 1)
    return names


def _names_bound(code: Iterable[str]) -> set[str]:
    """Return the names that code samples import or define."""
    bound: set[str] = set()
    is_open = False
    for line in code:
        match = _SAMPLE_IMPORT.match(line)
        if match or is_open:
            names = match[1] if match else line
            bound.update(_NAME.findall(names.partition("#")[0].replace(" as ", ", ")))
            is_open = ")" not in names and ("(" in names or is_open)
        bound.update(_DEFINED.findall(line))
    return bound
