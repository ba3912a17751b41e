"""High-Level Overview: the central definitions, the way through the file, and where to find what belongs to it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from concordance.base.blocks import (
    Block,
    Cite,
    Item,
    Items,
    Line,
    Mono,
    Piece,
    Ref,
    Strong,
    Text,
    To,
    count_noun,
    join_in_sentence,
)
from concordance.base.kinds import Section
from concordance.base.model import Category, Kind, Skip
from concordance.extract.registry import language_of, readers
from concordance.query.descriptions.definitions import is_package_file, reexport_summary
from concordance.query.descriptions.documentation_pages import documentation_page
from concordance.query.descriptions.files import is_brief, own_description
from concordance.query.descriptions.overloads import documented
from concordance.query.descriptions.quotations import as_sentence
from concordance.query.descriptions.suites import suite_titles
from concordance.query.index.file_model import FileModel
from concordance.query.index.graphs.bridges import bridges_from, bridges_of
from concordance.query.index.graphs.test_directness import file_words
from concordance.query.index.ledger import outline
from concordance.query.markup import first_sentence
from concordance.query.search.absence import not_analysed
from concordance.query.search.related_files import may_test, stem_of
from concordance.query.sections.call_sequence import call_sequence
from concordance.query.sections.central_definitions import CentralDefinition, explain, rank_definitions
from concordance.query.sections.structure import count_kind, folder_counts

TITLE = Section.OVERVIEW.value
ORDER = 20

_HEADER = re.compile(r"\.(?:h|hh|hpp|hxx|h\+\+|cuh|inl|inc|ipp|tpp|pxd)(?:\.in|\.src)?\Z")
_OUTLINE_KINDS = frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL))
_MAX_CENTRAL = 5  # definitions with a line of their own
_MAX_OTHERS = 20  # further definitions that are named
_MAX_STEPS = 12  # calls of the main function that are listed
_MAX_INPUTS = 12  # options or variables that are named


def blocks(model: FileModel) -> list[Block]:
    """Return the blocks of the section."""
    rows = rank_definitions(model)
    blocks = _definitions(model, rows)
    if reexports := _reexports(model):
        blocks.append(Text(as_sentence(reexports)))
    if rows:
        blocks += _way_through(model, rows[0].place)
    belongs = [*_inputs(model), *_places(model)]
    if belongs:
        blocks.append(Items([Item(pieces) for pieces in belongs]))
    users = _users(model)
    if users:
        blocks.append(Text(users))
    titles = suite_titles(model.index, model.file)
    if titles:
        blocks = [*_suites(model, titles), *blocks]
    return blocks or [Text([_nothing_found(model)])]


def _reexports(model: FileModel) -> list[Piece]:
    """Return what a package offers of its modules, if File Purpose has the words of its author instead."""
    words = own_description(model.file, model.facts.doc)
    if not is_package_file(model.file) or not words or is_brief(model.file, words):
        return []
    return reexport_summary(model.index, model.file, outline(model.index, model.path))


def _suites(model: FileModel, titles: dict[str, int]) -> list[Block]:
    """Return the suites of a file whose tests have titles."""
    shown = sorted(titles.items(), key=lambda row: row[1])[:_MAX_OTHERS]
    items = [Item([f"“{title}” ", Line(model.path, line)]) for title, line in shown]
    left = len(titles) - len(shown)
    return [Text(["Test suites:"]), Items([*items, *([Item([f"{left:,} more"])] if left else [])])]


def _nothing_found(model: FileModel) -> str:
    if not model.file.size:
        return "Empty."
    is_read = model.file.skip == Skip.NONE and model.file.language in ("", "text", *readers())
    type_ = f"{model.file.type[:1].upper()}{model.file.type[1:]}"
    return "No definitions found." if is_read else not_analysed(model.file) or f"{type_}: not analysed."


def _definitions(model: FileModel, rows: list[CentralDefinition]) -> list[Block]:
    """Return the central definitions with what they are, and the names of the others."""
    if not rows:
        kinds: Counter[str] = Counter(symbol.kind for symbol in model.symbols if symbol.kind in _OUTLINE_KINDS)
        counts: list[Piece] = [count_kind(kind, number) for kind, number in kinds.most_common()]
        return [Text([*join_in_sentence(counts), "."])] if counts else []
    shown = [row for row in rows if not row.is_private or row.files] or rows
    central = [row for row in shown if not row.is_plain][:_MAX_CENTRAL]
    blocks: list[Block] = [Items([_central_item(model, row) for row in central])] if central else []
    others = [row for row in shown if row not in central]
    names: list[Piece] = [model.own(row.place) for row in others[:_MAX_OTHERS]]
    left = len(others) - len(names)
    names += [f"{left:,} more"] if left else []
    hidden: Counter[str] = Counter(model.symbols[row.place].kind for row in rows[len(shown) :])
    names += [count_kind(kind, number).replace(" ", " private ", 1) for kind, number in hidden.most_common()]
    return [*blocks, Text(["Also " if blocks else "Defines ", *join_in_sentence(names), "."])] if names else blocks


def _central_item(model: FileModel, row: CentralDefinition) -> Item:
    words = explain(model, row.place)
    if not row.files:
        return Item([model.own(row.place), *words])
    number = count_noun(row.files, "file") + (", counting its members" if row.is_through_members else "")
    if not words:
        return Item([model.own(row.place), f", used by {number}."])
    return Item([*as_sentence([model.own(row.place), *words]), f" Used by {number}."])


def _way_through(model: FileModel, centre: int) -> list[Block]:
    """Return the calls of the main function of a file that orchestrates others, as a numbered list."""
    sequence = call_sequence(model, centre)
    if sequence is None:
        return []
    items = [Item([model.ref(step), *_step_words(model, step)]) for step in sequence.steps[:_MAX_STEPS]]
    left = len(sequence.steps) - len(items)
    blocks: list[Block] = [
        Text([model.own(sequence.place), " calls, in the order of the text:"]),
        Items(items, ordered=True),
    ]
    return [*blocks, Text([f"{left} more in Code Structure."])] if left else blocks


def _step_words(model: FileModel, step: int) -> list[Piece]:
    """Return the first sentence about a step that is defined in this file, or else the name of its file."""
    if not model.is_own(step):
        path = model.index.path_of(step)
        return [" in ", Ref(To.FILE, path, "", path.rpartition("/")[2])]
    symbol = model.symbols[documented(model.symbols, model.ids.place_of(step))]
    sentence = first_sentence(symbol.doc, model.file.language, symbol.name) if symbol.doc else ""
    return [f" — {sentence}"] if sentence else []


def _inputs(model: FileModel) -> Iterator[list[Piece]]:
    """Yield the options of the command line that the file declares, and the environment variables that it reads."""
    options = {
        place.subject: place.line for place in model.facts.patterns if place.pattern == "Options" and place.subject
    }
    table = bridges_of(model.index)
    rows = [row for row in bridges_from(model) if row.bridge == "environment" and row.says == "reads"]
    variables: dict[str, int] = {}
    for line, name in sorted((table.line(row), row.name) for row in rows):
        variables.setdefault(name, line)
    is_build = language_of(model.file.language).category is Category.BUILD  # what these read may be an option
    variables = {name: line for name, line in variables.items() if name not in options}
    for label, names in (("Options", options), ("Variables" if is_build else "Environment", variables)):
        if names:
            shown = list(names.items())[:_MAX_INPUTS]
            pieces: list[Piece] = [Mono(name) for name, _ in shown]
            left = len(names) - len(shown)
            pieces += [f"{left} more"] if left else []
            yield [
                Strong(label),
                ": ",
                *join_in_sentence(pieces),
                *(Cite(model.path, line) for _, line in shown if line),
            ]


def _places(model: FileModel) -> Iterator[list[Piece]]:
    """Yield the document about the file, its header or implementation, and its main test."""
    page = documentation_page(model.index, model.path)
    if page is not None:
        yield [Strong("Documentation"), ": ", Ref(To.FILE, page.path, "", page.path)]
    twin = _twin(model)
    if twin:
        yield twin
    test, label = _main_test(model)
    if test:
        yield [Strong(label), ": ", Ref(To.FILE, test, "", test)]


def _twin(model: FileModel) -> list[Piece]:
    """Return the file that defines most of what this one declares, or declares most of what it defines."""
    paths: Counter[tuple[str, str]] = Counter()
    is_header = _HEADER.search(model.path) is not None
    for place, other in model.counterparts.items():
        path, declared = model.index.path_of(other), model.symbols[place].declaration
        if is_header == declared and is_header != (_HEADER.search(path) is not None):
            paths["Implementation" if declared else "Header", path] += 1
    if not paths:
        return []
    label, path = min(paths, key=lambda row: (stem_of(row[1]) != stem_of(model.path), -paths[row], row))
    return [Strong(label), ": ", Ref(To.FILE, path, "", path)]


def _main_test(model: FileModel) -> tuple[str, str]:
    """Return the test that uses the file and has its name, or else the one that uses most of its definitions, and what
    that is."""
    index = model.index
    if model.file.category == Category.TEST:
        return "", ""
    users = index.neighbours.users_of(model.ids.file)
    rows = [(index.path_of_file(user), times) for user, times in users.items()]
    tests = [row for row in rows if index.category_of(row[0]) == Category.TEST]
    name = file_words(model.path)

    def is_namesake(path: str) -> bool:
        return file_words(path) == name and may_test(path, model.path)

    used: Counter[str] = Counter()
    for uses in model.users.values():
        used.update({index.path_of(use.id) for use in uses})
    tests.sort(key=lambda row: (not is_namesake(row[0]), -used[row[0]], -row[1], row[0]))
    path = next((path for path, _ in tests if index.has_tests_in(path)), "")
    return path, "Main test" if is_namesake(path) else "Test that uses it most"


def _users(model: FileModel) -> list[Piece]:
    index = model.index
    paths = Counter(index.path_of_file(user) for user in index.neighbours.users_of(model.ids.file))
    if not paths:
        return []
    if len(paths) <= 3:
        refs: list[Piece] = [Ref(To.FILE, path, "", path) for path in sorted(paths)]
        return ["Used by ", *join_in_sentence(refs), "."]
    folders = folder_counts(paths)
    if len(folders) == 2:  # a single folder and its number
        return [f"Used by {len(paths):,} files in ", folders[0], "."]
    return [f"Used by {len(paths):,} files: ", *folders, "."]
