"""The page of a definition that other files use: its signature, class hierarchy, callers, uses, tests and examples.

In: `path#key` of a class, function or method. Out: its page, and further pages if it has too many uses for one. The
counts equal those of `concord refs`, `callers` and `tests`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concordance.base.blocks import (
    Block,
    Code,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Page,
    Piece,
    Ref,
    Strong,
    Table,
    Text,
    To,
    count_noun,
)
from concordance.base.model import TYPE_KINDS, Category, Trust
from concordance.facts.read import SymbolPlace
from concordance.query.answers import AnswerPage as Asked
from concordance.query.index.definition_pages import symbols_with_pages
from concordance.query.index.file_model import FileModel, model_of, ref_of
from concordance.query.index.graphs.reachability import (
    explain_paths,
    places,
    reach_symbols,
    test_command,
)
from concordance.query.index.graphs.test_directness import NOT_FOLLOWED, symbol_subject
from concordance.query.index.repository import Index
from concordance.query.names.call_graph import add_constructed_classes, callers
from concordance.query.names.declarations import cached_counterparts
from concordance.query.names.display_names import display_name
from concordance.query.names.references import MAX_EXACT_FILES, add_unresolved_note, uses_in_file, uses_of, using_files
from concordance.query.sections.class_family import (
    bases,
    definition_link,
    hierarchy_diagram,
    list_by_file,
    members,
    overrides,
    subclass_blocks,
)
from concordance.query.sections.examples import find_examples_of
from concordance.query.sections.structure import Structure

_FIRST, _NEXT = 150, 600  # uses on the first page and on each further one; the uses in one file stay on one page
_CALLERS = 200  # callers listed; the list of uses has every call
_TESTS = 40  # tests listed, each with the reason
_EXAMPLES = 3  # examples shown
_NAMESAKES = 20  # other definitions of the same name listed


def subjects(index: Index) -> Iterator[str]:
    """Yield every definition that has a page."""
    for path in sorted(row[1] for row in index.file_rows):
        symbols = index.open_file(path).symbols
        for place in sorted(symbols_with_pages(index, path)):
            yield f"{path}#{symbols[place].key}"


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the pages of one definition; none if it does not get a page."""
    number = 1
    while (page := part(index, subject, number)) is not None:
        yield page
        number += 1


def part(index: Index, subject: str, number: int) -> Page | None:
    """Return one page of a definition without building the pages before it; None if there is no such page."""
    path, _, key = subject.partition("#")
    model = model_of(index, path)
    place = next((place for place in symbols_with_pages(index, path) if model.symbols[place].key == key), -1)
    if place < 0:
        return None
    return _Definition(model, place).page(number)


class _Definition:
    def __init__(self, model: FileModel, place: int) -> None:
        self.model, self.index, self.place, self.symbol = model, model.index, place, model.symbols[place]
        here = model.index.facts.place(model.ids.id_at(place))
        self.places: list[SymbolPlace] = cached_counterparts(model.index, here) if here is not None else []
        self.name = display_name(model.index, self.places[0])
        self.files = _split_pages(using_files(model.index, self.places, Trust.UNIQUE_NAME))

    def page(self, number: int) -> Page | None:
        if not 1 <= number <= max(1, len(self.files)):
            return None
        ref = Ref(To.DEFINITION, self.model.path, self.symbol.key, part=number)
        title: list[Piece] = [f"{self.symbol.kind} ", Mono(self.name)]
        if number == 1:
            return Page(ref, title, list(self._blocks()))
        back = Ref(To.DEFINITION, self.model.path, self.symbol.key, self.name)
        blocks: list[Block] = [Text(["Further uses of ", back, "."]), *self._page_blocks(number), *self._uses(number)]
        return Page(ref, [*title, f", uses, part {number} of {len(self.files)}"], blocks)

    def _blocks(self) -> Iterator[Block]:
        yield from self._summary()
        if self.symbol.kind in TYPE_KINDS:
            yield from hierarchy_diagram(self.model, self.place)
            yield from bases(self.model, self.place)
            yield from members(self.model, self.place)
        yield from overrides(self.model, self.places)
        yield from self._examples()
        if self.symbol.kind in TYPE_KINDS:
            yield from subclass_blocks(self.model, self.place)
        yield from self._callers()
        yield from self._tests()
        yield from self._namesakes()
        yield Heading(2, ["Uses"])
        yield from self._count_sentence()
        yield from self._page_blocks(1)
        yield from self._uses(1)

    # --- the definition itself

    def _summary(self) -> Iterator[Block]:
        model, symbol = self.model, self.symbol
        if symbol.signature:
            yield Code(f"{' '.join(symbol.signature.split())}\n", model.file.language)
        yield Items(list(self._facts()))
        yield from Structure(model).words(self.place)

    def _facts(self) -> Iterator[Item]:
        model, symbol = self.model, self.symbol
        last = symbol.end_line if symbol.end_line > symbol.line else 0
        word = "Declared" if symbol.declaration else "Defined"
        location: list[Piece] = [Strong(word), ": ", Ref(To.FILE, model.path, "", model.path), ", "]
        location.append(Line(model.path, symbol.line, last))
        if symbol.condition:
            location += [" under ", Mono(symbol.condition)]
        yield Item(location)
        if symbol.parent >= 0:
            yield Item([Strong("In"), ": ", definition_link(self.index, model.ids.id_at(symbol.parent))])
        for other in self.places[1:]:
            word = "Also declared" if other.declaration else "Also defined"
            yield Item([Strong(word), ": ", Line(other.path, other.line, 0, f"{other.path}:{other.line}")])
        if symbol.modifiers:
            yield Item([Strong("Modifiers"), ": ", Mono(", ".join(symbol.modifiers))])

    # --- examples, callers and tests

    def _examples(self) -> Iterator[Block]:
        rows = find_examples_of(self.index, self.model.path, self.place, _EXAMPLES)
        if rows:
            yield Heading(2, ["Examples"])
        for row in rows:
            own = row.path == self.model.path
            yield Text([("From its own documentation, " if own else f"{row.kind.capitalize()}: "),
                        Line(row.path, row.first, row.last, f"{row.path}:{row.first}")])  # fmt: skip
            yield Code(row.code, row.language)

    def _callers(self) -> Iterator[Block]:
        calls = callers(self.index, add_constructed_classes(self.index, self.places), Trust.UNIQUE_NAME)
        if not calls:
            return
        yield Heading(2, ["Callers"])
        if len(calls) > _CALLERS:
            sentence = f"The first {_CALLERS} of {len(calls):,} callers; every call is listed among the uses below."
        else:
            sentence = f"{count_noun(len(calls), 'caller')}."
        yield Text([sentence])
        yield list_by_file(self.index, calls[:_CALLERS])

    def _tests(self) -> Iterator[Block]:
        index = self.index
        reached = reach_symbols(index, self.places[:1], Category.TEST, 1)
        rows = {row.id: (row, walk) for rows, walk in reversed(reached) for row in reversed(rows)}
        ranked = symbol_subject(index, self.places[:1]).rank((row.id, row.steps) for row, _ in rows.values())
        nearest = [rows[test.id] for test in ranked]
        yield Heading(2, ["Tests"])
        if not nearest:
            yield Text([f"No test found that reaches it; {NOT_FOLLOWED}."])
            return
        if not all(walk.whole for _, walk in reached):
            yield Text([f"More tests may run it than could be searched; the most direct {_TESTS} found are listed."])
        elif len(nearest) > _TESTS:
            yield Text([f"{len(nearest):,} tests may run it; the most direct {_TESTS} are listed."])
        else:
            yield Text([f"{count_noun(len(nearest), 'test')} may run it."])
        known = places(index, (row.id for row, _ in nearest[:_TESTS]))
        rows_ = []
        for row, walk in nearest[:_TESTS]:
            why = explain_paths(index, [row], walk)[0]
            rows_.append(([ref_of(index, row.id)], [Mono(known[row.id].path)], [why]))
        yield Table(("Test", "File", "Why"), rows_)
        first = test_command(index, known[nearest[0][0].id])
        if first:
            yield Code(f"{first}\n", "bash")

    def _namesakes(self) -> Iterator[Block]:
        own = {place.id for place in self.places}
        alike = (self.symbol.kind, self.model.file.language)
        named = self.index.facts.symbols_named(self.symbol.name)
        others = [place for place in named if place.id not in own and (place.kind, place.language) == alike]
        if not others:
            return
        yield Heading(2, ["Other definitions of this name"])
        if len(others) > _NAMESAKES:
            files = count_noun(len({place.path for place in others}), "file")
            sentence = f"{len(others):,} more in {files}: "
            yield Text([sentence, Mono(f"concord define {self.symbol.name}"), " lists them."])
        else:
            yield list_by_file(self.index, [place.id for place in others])

    # --- every use

    def _count_sentence(self) -> Iterator[Block]:
        files = sum(map(len, self.files))
        total = uses_of(self.index, self.places, Trust.UNIQUE_NAME, Asked(1)).total
        about_ = "about " if len(self.places) > 1 and files > MAX_EXACT_FILES else ""
        sentence = f"{about_}{count_noun(total, 'use')} in {count_noun(files, 'file')}" if total else "no uses found"
        sentence = add_unresolved_note(self.index, sentence, [self.symbol.name], "uses")
        yield Text([f"{sentence[0].upper()}{sentence[1:]}."])

    def _page_blocks(self, number: int) -> Iterator[Block]:
        if len(self.files) > 1:
            refs: list[Piece] = []
            for other in range(1, len(self.files) + 1):
                label = f"part {other}"
                ref = Ref(To.DEFINITION, self.model.path, self.symbol.key, label, False, other)
                refs += [" · " if refs else "", Strong(label) if other == number else ref]
            yield Text([f"{len(self.files)} pages: ", *refs])

    def _uses(self, number: int) -> Iterator[Block]:
        targets = frozenset(place.id for place in self.places)
        items = []
        for path, _ in self.files[number - 1] if self.files else ():
            file = self.index.open_file(path)
            rows = []
            for place, claim in uses_in_file(file, targets, Trust.UNIQUE_NAME).items():
                spot = file.position_of(place)
                around = file.around(spot.scope)
                scope: Sequence[Piece] = [ref_of(self.index, file.ids.id_at(around))] if around >= 0 else []
                trust = f"{claim.trust.name.lower().replace('_', ' ')}, {claim.by}"
                text = file.line(spot.line)
                shown: Piece = Mono(text) if text else "the file has changed since it was read"
                rows.append(([Line(path, spot.line)], [str(spot.role)], scope, [shown], [trust]))
            if rows:
                items.append(Item([Ref(To.FILE, path, "", path), f": {len(rows):,}"],
                                  [Table(("Line", "Role", "In", "Text", "Trust"), rows)]))  # fmt: skip
        if items:
            yield Items(items)


def _split_pages(files: list[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Split files with their numbers of uses into pages: `_FIRST` uses on the first, `_NEXT` on each further one."""
    pages: list[list[tuple[str, int]]] = []
    room = 0
    for path, times in files:
        if not pages or times > room:
            if not pages or pages[-1]:
                pages.append([])
            room = _FIRST if len(pages) == 1 else _NEXT
        pages[-1].append((path, times))
        room -= times
    return pages
