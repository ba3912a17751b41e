"""The page of an operator: how it is called, its kernels, derivative, tests and documentation.

In: an operator's name without the overload, or "" for the index of all operators. Out: one page; none if the repository
defines no operators. What was not found is listed as such, with what was searched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from concordance.base.blocks import (
    Block,
    Cite,
    Diagram,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Node,
    Page,
    Piece,
    Pieces,
    Ref,
    Strong,
    Table,
    Text,
    To,
    count_noun,
    join_in_sentence,
    join_with_commas,
)
from concordance.base.model import Bridge, Category, Trust
from concordance.facts.updates.delta import Aspect
from concordance.query.descriptions.quotations import first_sentence, quote_sentence
from concordance.query.index.file_model import ref_of
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index
from concordance.query.sections.structure import folder_counts
from concordance_torch.link.operator_tables import SCHEMA_BRIDGES
from concordance_torch.query.operators import (
    CALLED,
    CALLS,
    COLUMNS,
    DOCSTRING,
    DOCUMENTED,
    FORMULA,
    IMPLICIT,
    KERNEL,
    OPERATOR,
    OPINFO,
    PART_TITLES,
    PYTHON,
    OperatorInfo,
    bridge_detail,
    called_in_python,
    coverage_of,
    is_operator,
    names,
    operator,
    without_overload,
)

TO = OPERATOR  # what links to these pages say
LISTED = ("Operators", "kernels, derivatives, tests and documents of each")
_USERS = 12  # files that call an operator, named one by one
_BOXES = 5  # kernels in a diagram
_LINES = 200  # lines searched for the end of a docstring
_DOCSTRING = re.compile(r'[^\n]*\n?[^\n]*?"{3}(?P<words>.*?)"{3}', re.S)
_QUIET = frozenset(("schema", "func", "dispatch", "variants"))  # fields of a schema that other columns show


def subjects(index: Index) -> list[str]:
    """Return "" for the index, and every operator; nothing if there are no operators."""
    operator_names = names(index)
    return ["", *operator_names] if operator_names else []


def subject_named(index: Index, name: str) -> str:
    """The operator that a bridge's name refers to, with or without an overload; "" for none."""
    base = without_overload(name) if "::" in name else ""
    return base if base and is_operator(index, base) else ""


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the page of one operator, or the index."""
    if not subject:
        for bridge in SCHEMA_BRIDGES:
            index.reads.note(Aspect.BRIDGES, bridge)
        yield Page(Ref(TO, ""), ["Operators"], _all_operators(index))
        return
    info = operator(index, subject)
    if info is not None:
        yield Page(Ref(TO, subject), ["Operator ", Mono(subject)], list(_blocks(index, info)))


def _all_operators(index: Index) -> list[Block]:
    """Return a table of every operator and what it has."""
    rows: list[list[Pieces]] = []
    counts: Counter[str] = Counter()
    every = names(index)
    for name in every:
        info = operator(index, name)
        if info is None:
            continue
        coverage = coverage_of(info)
        counts.update(column for column in COLUMNS if coverage[column])
        label = name.removeprefix("aten::")
        rows.append([[Ref(TO, name, "", label)], *([coverage[column] or "–"] for column in COLUMNS)])
    head = f"{count_noun(len(every), 'operator')} with a schema in this repository. Found for them: "
    counted: list[Piece] = [f"{column} {counts[column]:,}" for column in COLUMNS]
    return [Text([head, *join_in_sentence(counted), "."]), Table(["Operator", *COLUMNS], rows, sorts=True)]


def _blocks(index: Index, info: OperatorInfo) -> Iterator[Block]:
    yield from _quoted_summary(index, info)
    yield Text(_schema_files(index, info))
    yield from _python_names(info)
    yield from _diagram(index, info)
    yield Heading(2, ["Overloads"])
    yield _overloads(index, info)
    yield Heading(2, ["Kernels"])
    yield from _kernels(index, info)
    yield Heading(2, ["Autograd"])
    yield from _autograd(index, info)
    for says, title in PART_TITLES.items():
        rows = info.rows_outside_tests(says)
        if rows:
            yield Heading(2, [title])
            yield Items([Item(_statement(index, info, row)) for row in rows])
    yield Heading(2, ["Tests"])
    yield from _tests(index, info)
    yield Heading(2, ["Documentation"])
    rows = info.rows_saying(DOCSTRING, DOCUMENTED)
    yield Items([Item(_statement(index, info, row)) for row in rows]) if rows else Text([_none("documentation")])
    yield from _users(index, info)
    yield from _missing(index, info)
    yield Heading(2, ["Cross-References"])
    yield Items([Item([Ref(TO, "", "", "All operators", False)])])


def _quoted_summary(index: Index, info: OperatorInfo) -> Iterator[Block]:
    """Yield the first sentence of its documentation, preferring the docstring of its Python function."""
    plain = called_in_python(info)[0]
    for row in sorted(info.rows.get(DOCSTRING, ()), key=lambda row: bridge_detail(row, "as") != plain):
        path, line = index.path_of(row.source), bridges_of(index).line(row)
        match = _DOCSTRING.match("\n".join((index.open_file(path).lines() or [])[line - 1 : line + _LINES]))
        words = first_sentence(match["words"], "python", info.name) if match is not None else ""
        if words:
            yield Text(quote_sentence(index, path, words, words, line))
            return


def _schema_files(index: Index, info: OperatorInfo) -> list[Piece]:
    paths = dict.fromkeys(index.path_of(overload.row.source) for overload in info.overloads)
    pieces = [f"{count_noun(len(info.overloads), 'schema', 'schemas')} in "]
    return [*pieces, *join_in_sentence([Ref(To.FILE, path, "", path) for path in paths]), "."]


def _python_names(info: OperatorInfo) -> Iterator[Block]:
    asked = Counter(bridge_detail(row, "as") for row in info.rows.get(PYTHON, ()))
    items = [
        Item([Mono(way), f", used in {count_noun(asked[way], 'place')}" if asked[way] else ""])
        for way in called_in_python(info)
    ]
    yield Text(["From Python, according to its schemas:"])
    yield Items(items)


def _diagram(index: Index, info: OperatorInfo) -> Iterator[Diagram]:
    """Yield a diagram from the Python name to the kernels and the derivative."""
    keys = info.keys()
    targets: dict[int, list[str]] = {}
    for key, rows in keys.items():
        for row in rows:
            if row.target and key not in targets.setdefault(row.target, []):
                targets[row.target].append(key)
    if not targets:
        return
    me = info.name
    nodes = [Node("python", called_in_python(info)[0]), Node(me, me, "", True)]
    edges = [("python", me, "")]
    for place, (target, on) in enumerate(list(targets.items())[:_BOXES]):
        ref = ref_of(index, target)
        nodes.append(Node(f"kernel {place}", ref.label, "", False, ref))
        edges.append((me, f"kernel {place}", ", ".join(on[:3])))
    formulas = info.rows.get(FORMULA, ())
    if formulas:
        nodes.append(Node("formula", "derivative", "", False, ref_of(index, formulas[0].source)))
        edges.append((me, "formula", "autograd"))
    yield Diagram(nodes, edges)


def _overloads(index: Index, info: OperatorInfo) -> Table:
    rows: list[list[Pieces]] = []
    for overload in info.overloads:
        path = index.path_of(overload.row.source)
        where = [Line(path, bridges_of(index).line(overload.row))]
        more = [f"{key}: {value}" for key, value in overload.fields.items() if key not in _QUIET]
        rows.append([[Mono(overload.schema)], [overload.fields.get("variants", "")], ["; ".join(more)], where])
    return Table(["Schema", "Variants", "Other fields", "Line"], rows)


def _kernels(index: Index, info: OperatorInfo) -> Iterator[Block]:
    keys = info.keys()
    if not keys:
        yield Text([_none("kernel")])
        return
    rows: dict[tuple[str, str, int, str], list[Pieces]] = {}
    for key, bridges in keys.items():
        for row in bridges:
            name = bridge_detail(row, "kernel")
            cell: list[Piece] = [ref_of(index, row.target)] if row.target else [Mono(name)]
            where: list[Piece] = [Ref(To.FILE, index.path_of(row.target))] if row.target else []
            cells: list[Pieces] = [[key], [Mono(row.name.rpartition("::")[2])], cell, where, _evidence(row, index)]
            rows.setdefault((key, row.name, row.target, name if not row.target else ""), cells)
    yield Table(["Dispatch key", "Overload", "Kernel", "File", "By"], list(rows.values()))
    tests = dict.fromkeys(index.path_of(row.source) for row in info.rows_saying(KERNEL) if row in info.from_tests)
    if tests:
        yield Text(["Tests register more kernels: ", *join_in_sentence([Ref(To.FILE, path) for path in tests]), "."])


def _evidence(row: Bridge, index: Index) -> list[Piece]:
    line = bridges_of(index).line(row)
    pieces: list[Piece] = [row.by]
    if row.target:
        pieces.append(f" ({Trust(row.trust).name.lower().replace('_', ' ')})")
    return [*pieces, Cite(index.path_of(row.source), line)] if line else pieces


def _autograd(index: Index, info: OperatorInfo) -> Iterator[Block]:
    rows = info.rows.get(FORMULA, [])
    if not rows:
        implicit = coverage_of(info)["Autograd"]
        composite = {row.name for row in info.keys().get(IMPLICIT, ())}
        is_whole = all(overload.name in composite for overload in info.overloads)
        composed = "it is" if is_whole else "some of its overloads are"
        sentences = {
            "implicit": f"No formula: {composed} composed of operators that have one (CompositeImplicitAutograd).",
            "kernel": "No formula: a separate kernel is registered for autograd.",
        }.get(implicit, _none("formula"))
        yield Text([sentences])
        return
    cells: list[list[Pieces]] = []
    for row in dict.fromkeys(rows):
        where = [Line(index.path_of(row.source), bridges_of(index).line(row))]
        for name, formula in row.more:
            cells.append([[Mono(row.name.rpartition("::")[2])], [Mono(name)], [Mono(formula)], where])
    yield Table(["Overload", "Variable", "Formula", "Line"], cells)
    called = dict.fromkeys(row.target for row in info.rows.get(CALLS, ()) if row.target)
    if called:
        yield Text(
            ["Functions in the formulas: ", *join_with_commas([ref_of(index, target) for target in called]), "."]
        )


def _statement(index: Index, info: OperatorInfo, row: Bridge) -> list[Piece]:
    """Return a link to what a bridge row connects the operator with: the definition on the other side if the row comes
    from the operator's own entry, else the place that states it."""
    entries = {overload.row.source for overload in info.overloads}
    if row.source in entries and row.target not in (0, row.source):
        path = index.path_of(row.target)
        return [ref_of(index, row.target), " in ", Ref(To.FILE, path), *_overload(row)]
    path, line = index.path_of(row.source), bridges_of(index).line(row)
    pieces: list[Piece] = [ref_of(index, row.source)]
    if row.source != index.file_id(path):
        pieces += [" in ", Ref(To.FILE, path)]
    pieces += [" ", Line(path, line)] if line else []
    kind = bridge_detail(row, "class") or bridge_detail(row, "as")
    return [*pieces, f", {kind}" if kind else "", *_overload(row)]


def _overload(row: Bridge) -> list[Piece]:
    return [", for ", Mono(row.name.rpartition("::")[2])] if "." in row.name else []


def _tests(index: Index, info: OperatorInfo) -> Iterator[Block]:
    rows = info.rows.get(OPINFO, [])
    if rows:
        yield Items([Item(_statement(index, info, row)) for row in rows])
    tests = Counter(
        path for row in info.rows.get(PYTHON, ())
        if index.category_of(path := index.path_of(row.source)) == Category.TEST
    )  # fmt: skip
    if tests:
        yield Text([f"Called in {count_noun(len(tests), 'test file')}: ", *_files(tests), "."])
    if not rows and not tests:
        yield Text([_none("test")])


def _files(counts: Counter[str]) -> list[Piece]:
    ordered = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    refs: list[Piece] = [Ref(To.FILE, path) for path, _ in ordered[:_USERS]]
    left = len(ordered) - _USERS
    if left > 0:
        rest = Counter(path for path, _ in ordered[_USERS:])
        return [*join_in_sentence(refs), f" and {count_noun(left, 'other file')} in ", *folder_counts(rest)]
    return join_in_sentence(refs)


def _users(index: Index, info: OperatorInfo) -> Iterator[Block]:
    yield Heading(2, ["Callers"])
    has_users = False
    for says, language in ((PYTHON, "Python"), (CALLED, "C++")):
        paths = (index.path_of(row.source) for row in info.rows.get(says, ()))
        users = Counter(path for path in paths if index.category_of(path) != Category.TEST)
        if users:
            has_users = True
            yield Text([f"{count_noun(len(users), 'file')} in {language}: ", *_files(users), "."])
    if not has_users:
        yield Text(["No calls by its full name found outside tests."])


def _missing(index: Index, info: OperatorInfo) -> Iterator[Block]:
    """Yield which columns of the operator table are empty for this operator."""
    coverage = coverage_of(info)
    lacking = [column for column in COLUMNS if not coverage[column]]
    yield Heading(2, ["Missing Parts"])
    if not lacking:
        yield Text([f"None. {_searched(index)}"])
        return
    named: list[Piece] = [Strong(column) for column in lacking]
    yield Text(["Not found: ", *join_in_sentence(named), f". {_searched(index)}"])


def _none(noun: str) -> str:
    return f"No {noun} found."


def _searched(index: Index) -> str:
    return f"Searched all files of the repository; {count_noun(len(names(index)), 'operator')} found in total."
