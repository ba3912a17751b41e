"""Assembles the answer of `concord diff --review`: what a reviewer looks at besides the change itself.

In: a `DiffReport` and the store of the work tree. Out: rows and a page: changed definitions, references to them from
code that the change leaves alone, the tests to run first as commands, documents that mention what changed, and owners.
Statements of the book that no longer hold are passed in, because this package cannot render pages.

A definition that was removed or renamed is not in the store any more, so nothing links to it. What still names it is
found in the text of the files that import its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from concordance.base.blocks import (
    Block,
    Code,
    Item,
    Line,
    Mono,
    Page,
    Piece,
    Ref,
    Text,
    To,
    count_noun,
    join_with_commas,
)
from concordance.base.model import Category
from concordance.extract.registry import is_prose
from concordance.facts.read import SymbolPlace
from concordance.query.answers import Row, category_rank, full_name
from concordance.query.commands import ask
from concordance.query.diff.report import DiffReport, definition_blocks, section, truncated_list
from concordance.query.diff.rows import ChangeRow
from concordance.query.index.graphs.reachability import test_command
from concordance.query.index.graphs.test_directness import same_name_tests
from concordance.query.index.owners import code_owners
from concordance.query.index.repository import Index
from concordance.query.index.test_commands import join_commands
from concordance.query.names.declarations import class_of_constructor
from concordance.query.names.display_names import display_name

FIRST_TESTS = 20  # tests in the commands to run first
_MAX_REFERENCES = 1000  # references to one definition that are read
_MAX_MENTIONS = 5  # lines of one document that are listed
_INTERFACE = ("removed", "renamed", "moved", "signature", "value")  # what users of a definition notice, worst first
_ORDER = (*_INTERFACE, "body")
_CLAUSES = {"removed": "which was removed", "renamed": "which was renamed", "moved": "which was moved",
            "signature": "whose signature changed", "value": "whose value changed",
            "body": "whose body changed"}  # fmt: skip
_DUNDER = re.compile(r"__\w+__")
_HISTORY = re.compile(  # documents of the past, which stay as they are
    r"(?:^|/)(?:changes|change-?log|history|news|release[-_]?notes?)\b[^/]*$|(?:^|/)releases/", re.IGNORECASE
)
_CODE_LIKE = re.compile(r"\w*(?:_\w|[a-z][A-Z])\w*")  # names that no prose has by chance


class Review(NamedTuple):
    """The complete answer, by section."""

    report: DiffReport
    callers: list[ChangeRow]
    commands: list[ChangeRow]
    documents: list[ChangeRow]
    owners: list[ChangeRow]
    statements: list[ChangeRow]
    notes: list[str]

    def rows(self) -> list[ChangeRow]:
        """Return all rows, in the order of the page."""
        return [
            *self.report.files, *self.report.symbols, *self.callers, *self.commands, *self.report.touched,
            *self.report.may_run, *self.documents, *self.owners, *self.statements,
        ]  # fmt: skip

    def rows_for_agents(self) -> list[Row]:
        """Return the rows that a coding agent needs, the most important first, each with a line and one reason."""
        every = (*self.report.symbols, *self.commands, *self.callers, *self.documents, *self.owners, *self.statements)
        rows: list[Row] = []
        for row in every:
            line = (row.after or row.before or {}).get("line", 0)
            why = row.qualified if row.kind == "command" else row.why
            name = "" if row.kind == "command" else row.qualified
            rows.append(
                {"path": row.path, "line": line, "kind": row.kind, "change": row.change, "qualified": name, "why": why}
            )
        return rows


class _ChangedName(NamedTuple):
    """A definition that was changed or removed: its name before, and its place in the store."""

    name: str  # qualified, as users wrote it; the class of a constructor
    now: str  # its name now, which links in the store name
    change: str
    path: str
    asked: str  # `path#key` in the store of what users name; "" if it is gone
    words: tuple[str, ...]  # how documents may name it, without confusing it with another definition
    is_class: bool  # True if the constructor of the named class was changed

    def described(self, name: str) -> str:
        """Return a name of it, with how it was changed."""
        clause = _CLAUSES[self.change]
        if self.is_class:
            clause = clause.replace("whose", "whose constructor's").replace("which", "whose constructor")
        elif self.change == "renamed" and name == self.now:
            clause += f" from {self.name}"
        return f"{name}, {clause}"


def build_review(index: Index, report: DiffReport, statements: list[ChangeRow], notes: list[str]) -> Review:
    """Compute the answer."""
    changed = list(_changed_names(index, report))
    references = _references(index, report, changed, remarks := list(notes))
    commands = join_commands(_first_tests(index, report, references))
    return Review(
        report, references, [ChangeRow("run first", "command", "", command) for command in commands],
        list(_documents(index, report, changed)), list(_owners(index, report)), statements, remarks,
    )  # fmt: skip


def _first_tests(index: Index, report: DiffReport, references: list[ChangeRow]) -> list[str]:
    """Return the commands of the tests to run first: those that were changed or added, those that name what is gone,
    then the most direct others."""
    own = [place for row in report.touched if (place := _place_of(index, row)) is not None]
    gone = _gone(report)
    lines = ((row.path, int(str(row.after["line"]))) for row in references if row.after and row.after["of"] in gone)
    broken = (place for path, line in lines for place in _tests_at(index, path, line))
    near = [str(row.after["run"]) for row in report.may_run if row.after]
    candidates = (*(test_command(index, place) for place in (*own, *broken)), *near)
    commands = [command for command in dict.fromkeys(candidates) if command][:FIRST_TESTS]
    return commands or list(_of_same_name(index, report))


def _of_same_name(index: Index, report: DiffReport) -> Iterator[str]:
    """Yield the commands of the test files that have the names of changed files: for when no test is found to run what
    changed, because it is called through a value or an interface."""
    paths = dict.fromkeys(row.path for row in report.files if row.path in index.categories)
    for test in dict.fromkeys(test for path in paths for test in same_name_tests(index, path)):
        command = index.runners.command(test, index.language_of(test), "")
        yield from [command] if command else []


def _gone(report: DiffReport) -> set[str]:
    """Return the names that definitions do not have any more."""
    renamed = {row.why.removeprefix("from ") for row in report.symbols if row.change == "renamed"}
    return renamed | {row.qualified for row in report.symbols if row.change == "removed"}


def _tests_at(index: Index, path: str, line: int) -> Iterator[SymbolPlace]:
    """Yield the tests around a line."""
    tests = set(index.tests_in.get(path, ()))
    file = index.open_file(path)
    place = file.symbol_at(line)
    while place >= 0:
        identity = file.ids.id_at(place)
        test = index.facts.place(identity) if identity in tests else None
        if test is not None:
            yield test
        place = file.defined[place].parent


def _place_of(index: Index, row: ChangeRow) -> SymbolPlace | None:
    """Return the definition of a row in the store; None if it is not there."""
    if row.after is None or index.facts.file(row.path) is None:
        return None
    line, name = row.after["line"], re.split(r"\.|::", row.qualified)[-1]
    return next(
        (symbol for symbol in index.facts.symbols_in(row.path) if symbol.line == line and symbol.name == name), None
    )


def _changed_names(index: Index, report: DiffReport) -> Iterator[_ChangedName]:
    """Yield the definitions that code elsewhere may notice, each once, with the change that matters most."""
    best: dict[tuple[str, str], _ChangedName] = {}
    for row in report.symbols:
        if row.change not in _ORDER:
            continue
        own = _place_of(index, row)
        place = class_of_constructor(index, own) if own is not None else None
        is_class = place is not None and place != own
        now = full_name(place) if place is not None and is_class else row.qualified
        old = row.why.removeprefix("from ") if row.change == "renamed" else now
        asked = f"{place.path}#{place.key}" if place is not None else ""
        shown = display_name(index, place) if place is not None and row.change != "renamed" else old
        name = _ChangedName(old, now, row.change, row.path, asked, _words(index, shown), is_class)
        known = best.get((row.path, row.qualified))
        if known is None or _ORDER.index(row.change) < _ORDER.index(known.change):
            best[row.path, row.qualified] = name
    yield from sorted(best.values(), key=lambda changed: (_ORDER.index(changed.change), changed.path, changed.name))


def _words(index: Index, name: str) -> tuple[str, ...]:
    """Return how a document may name a definition: by its name alone if no other has it, else with what contains it."""
    parts = re.split(r"\.|::", name)
    if _DUNDER.fullmatch(parts[-1]):
        return ()
    if len(index.facts.symbols_named(parts[-1])) <= 1:
        return (parts[-1],)
    return (".".join(parts[-2:]), "::".join(parts[-2:])) if len(parts) > 1 else ()


# --- references from outside of the change


def _references(index: Index, report: DiffReport, changed: list[_ChangedName], notes: list[str]) -> list[ChangeRow]:
    """Return the references to changed definitions from code that did not change, interface changes first; add a note
    if there are more."""
    inside = _changed_ranges(report)
    callers: list[ChangeRow] = []
    seen: set[tuple[object, ...]] = set()
    for changed_name in changed:
        rows: list[tuple[Row, str]] = []
        if changed_name.asked:
            answer = ask(index, "refs", changed_name.asked, _MAX_REFERENCES)
            rows += ((row, changed_name.now) for row in answer.rows)
            if answer.total > _MAX_REFERENCES:
                notes.append(
                    f"Of {answer.total:,} references to {changed_name.name}, {_MAX_REFERENCES:,} were looked at."
                )
        if changed_name.change in ("removed", "renamed"):
            rows += ((row, changed_name.name) for row in _lines_naming(index, changed_name))
        rows.sort(key=lambda row: _reference_order(index, row[0]))
        for row, name in rows:
            path, line = str(row["path"]), int(str(row["line"]))
            place = (path, line, name)
            if place in seen or any(first <= line <= last for first, last in inside.get(path, ())):
                continue
            seen.add(place)
            after = {"line": line, "of": name, "trust": row["trust"], "text": row["text"]}
            why = f"{row['role']} of {changed_name.described(name)}"
            callers.append(ChangeRow("outside", "caller", path, str(row["scope"] or ""), None, after, why))
    return callers


def _reference_order(index: Index, row: Row) -> tuple[object, ...]:
    return category_rank(index.category_of(str(row["path"]))), row["path"], row["line"]


def _changed_ranges(report: DiffReport) -> dict[str, list[tuple[int, int]]]:
    """Return the lines of changed and added definitions, by path; all lines of an added file."""
    ranges: dict[str, list[tuple[int, int]]] = {
        row.path: [(1, 1 << 30)] for row in report.files if row.change == "added"
    }
    for row in report.symbols:
        if row.after is not None:
            lines = int(str(row.after["line"])), int(str(row.after["end_line"]))
            ranges.setdefault(row.path, []).append(lines)
    return ranges


def _lines_naming(index: Index, changed: _ChangedName) -> Iterator[Row]:
    """Yield the lines of other files that name a definition which is gone: files that import its file, or that the
    linker knows no definition for."""
    last = re.split(r"\.|::", changed.name)[-1]
    if _DUNDER.fullmatch(last):
        return  # every class may have one
    language = index.language_of(changed.path) if changed.path in index.ids_by_path else ""
    if any(language in ("", place.language) for place in index.facts.symbols_named(last)):
        return  # another definition has the name, so a mention of it may mean that one
    pattern = re.compile(rf"(?<!\w){re.escape(last)}(?!\w)")
    importers = {index.path_of(user) for _, user, _, _, _ in index.facts.users_of_file(changed.path)}
    for path in sorted(importers - {changed.path}):
        file = index.open_file(path)
        for number, line in enumerate(file.lines() or (), 1):
            if pattern.search(line):
                place = index.facts.place(file.ids.id_at(file.symbol_at(number)))
                known: Row = {"path": path, "line": number, "role": "mention", "trust": "candidate"}
                yield {**known, "scope": full_name(place) if place is not None else "", "text": line.strip()}


# --- documents and owners


def _documents(index: Index, report: DiffReport, changed: list[_ChangedName]) -> Iterator[ChangeRow]:
    """Yield the lines of documents that mention what changed: as code, or by a name that no prose has by chance."""
    names: dict[str, _ChangedName] = {}
    for changed_name in changed:
        for word in changed_name.words:
            names.setdefault(word, changed_name)
    files = {row.path for row in report.files if row.change in ("removed", "renamed")}
    files |= {str(row.before["path"]) for row in report.files if row.change == "renamed" and row.before}
    if not names and not files:
        return
    parts = sorted(map(re.escape, (*names, *files)), key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w/-])(?:{'|'.join(parts)})(?![\w/-])")
    own = {row.path for row in report.files}
    for _, path, language, category in sorted(index.file_rows, key=lambda row: row[1]):
        if category != Category.DOCUMENTATION or not is_prose(language) or path in own or _HISTORY.search(path):
            continue
        shown = 0
        for number, line in enumerate(index.open_file(path).lines() or (), 1):
            for match in pattern.finditer(line):
                word = match[0]
                if shown == _MAX_MENTIONS or (word not in files and not _is_as_code(line, match)):
                    continue
                shown += 1
                what = names[word].described(names[word].name) if word in names else f"the file {word}"
                after = {"line": number, "of": names[word].name if word in names else word, "text": line.strip()}
                yield ChangeRow("mentions", "document", path, "", None, after, f"mentions {what}")
                break


def _is_as_code(line: str, match: re.Match[str]) -> bool:
    """True if a name in a document is written as code, or cannot be a word of prose."""
    before, after = line[: match.start()], line[match.end() :]
    return (
        "." in match[0]
        or "::" in match[0]
        or _CODE_LIKE.fullmatch(match[0]) is not None
        or after.startswith("(")
        or before.endswith((".", "::", "def ", "class "))
        or before.count("`") % 2 == 1
    )


def _owners(index: Index, report: DiffReport) -> Iterator[ChangeRow]:
    """Yield the owners of the changed files."""
    known = code_owners(index)
    for path in sorted({row.path for row in report.files}):
        rule = known.rule_of(path)
        if rule is not None and rule.owners:
            after = {"owners": list(rule.owners), "path": known.path, "line": rule.line}
            yield ChangeRow("owns", "owner", path, "", None, after, f"{known.path} line {rule.line}: {rule.pattern}")


# --- the page


def review_page(review: Review) -> Page:
    """Return the page for people."""
    one, other = review.report.comparison.sides
    blocks: list[Block] = [Text([note]) for note in (*review.report.notes[:1], *review.notes)]
    blocks += section("Changed Definitions", definition_blocks(review.report))
    blocks += section("References from Outside", _reference_blocks(review))
    blocks += section("Run First", _command_blocks(review))
    blocks += section("Documents That Mention It", truncated_list([_item(row) for row in review.documents]))
    blocks += section("Owners", truncated_list(list(_owner_items(review.owners))))
    false = truncated_list([_statement(row) for row in review.statements])
    blocks += section("Statements of the Book That No Longer Hold", false)
    title: list[Piece] = ["Review: ", Mono(one.name), " → ", Mono(other.name)]
    return Page(Ref(To.INDEX, ""), title, blocks)


def _item(row: ChangeRow) -> Item:
    place = row.after or {}
    line = int(str(place["line"]))
    scope = f" in {row.qualified}" if row.qualified else ""
    return Item([Line(row.path, line, label=f"{row.path}:{line}"), f"{scope}: {row.why}"])


def _reference_blocks(review: Review) -> list[Block]:
    if not review.callers:
        return [Text(["None found by links of trust unique_name or better."])] if review.report.symbols else []
    return truncated_list([_item(row) for row in review.callers])


def _command_blocks(review: Review) -> list[Block]:
    tests = len(review.report.may_run)
    if not review.commands and tests:
        how = "it is run" if tests == 1 else "they are run"
        note = f"{count_noun(tests, 'test')} may run what changed; no file says how {how}."
        return [Text([note]), *truncated_list([_item(row) for row in review.report.may_run])]
    if not review.commands:
        return [Text(["No test found that may run what changed."])] if review.report.symbols else []
    if not tests and not review.report.touched:
        note = "No test found that may run what changed; these have the name of a changed file or name what is gone."
        return [Code("\n".join(row.qualified for row in review.commands) + "\n", "bash"), Text([note])]
    more = f"The most direct {FIRST_TESTS} of {count_noun(tests, 'test')} that may run what changed."
    commands = Code("\n".join(row.qualified for row in review.commands) + "\n", "bash")
    return [commands, Text([more])] if tests > FIRST_TESTS else [commands]


def _owner_items(rows: Iterable[ChangeRow]) -> Iterator[Item]:
    by_owner: dict[str, list[str]] = {}
    for row in rows:
        owners = (row.after or {})["owners"]
        for owner in owners if isinstance(owners, list) else ():
            by_owner.setdefault(str(owner), []).append(row.path)
    for owner, paths in by_owner.items():
        yield Item([f"{owner}: ", *join_with_commas([Mono(path) for path in paths])])


def _statement(row: ChangeRow) -> Item:
    return Item([Mono(f"{row.path}:{(row.before or {})['line']}"), f": {row.why}"])
