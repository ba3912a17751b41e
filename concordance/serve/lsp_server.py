"""The language server: questions of an editor, answered from the index, across languages.

In: requests of the Language Server Protocol (`pygls`). Out: places, hover texts, hierarchies and code lenses. Each one
is a question of `query`, so an editor shows what `concord define`, `refs`, `callers` and `tests` print.

The index knows files as they were saved. While a buffer has unsaved edits, lines are translated between the two; where
a line was edited, the name under the cursor is looked up by its spelling instead.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from concordance.base.blocks import count_noun
from concordance.base.errors import UserError
from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Kind, Origin, Trust
from concordance.base.version import VERSION
from concordance.facts.read import SymbolPlace
from concordance.query.answers import Row, full_name
from concordance.query.commands import ask
from concordance.query.commands.tests import nearest_tests
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index
from concordance.query.names.declarations import class_of_constructor, with_counterparts
from concordance.query.names.resolver import resolve_question

_ROWS = 500  # places in one answer
_SYMBOLS = 100  # results of a search for symbols
_LONG_LINE = 10_000  # beyond the end of a line
_TESTS = 5  # tests in a hover text
_TEST_EDGES = 5_000  # edges that the search for them follows: an editor waits for it
_SELF = frozenset(("self", "cls", "this", "Self", "super"))
_NAME = re.compile(r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*")
_KINDS = {
    Kind.CLASS: lsp.SymbolKind.Class, Kind.STRUCT: lsp.SymbolKind.Struct, Kind.UNION: lsp.SymbolKind.Struct,
    Kind.ENUM: lsp.SymbolKind.Enum, Kind.INTERFACE: lsp.SymbolKind.Interface, Kind.FUNCTION: lsp.SymbolKind.Function,
    Kind.METHOD: lsp.SymbolKind.Method, Kind.PROPERTY: lsp.SymbolKind.Property, Kind.FIELD: lsp.SymbolKind.Field,
    Kind.CONSTANT: lsp.SymbolKind.Constant, Kind.VARIABLE: lsp.SymbolKind.Variable, Kind.MACRO: lsp.SymbolKind.Constant,
    Kind.NAMESPACE: lsp.SymbolKind.Namespace, Kind.ENUMERATOR: lsp.SymbolKind.EnumMember, Kind.KEY: lsp.SymbolKind.Key,
    Kind.HEADING: lsp.SymbolKind.String,
}  # fmt: skip


class _Spot(NamedTuple):
    """A position in an indexed file."""

    path: str
    line: int
    col: int
    name: str  # the name under the cursor, if its line was edited since the file was indexed

    @property
    def question(self) -> str:
        return self.name or f"{self.path}:{self.line}:{self.col}"


class LineMap:
    """Translates lines between the indexed text of a file and an unsaved buffer."""

    def __init__(self, indexed: list[str], buffer: list[str]) -> None:
        self.buffer = buffer
        self._to_index: dict[int, int] = {}
        for tag, first, last, start, _ in difflib.SequenceMatcher(None, indexed, buffer, False).get_opcodes():
            if tag == "equal":
                self._to_index |= {start + n + 1: first + n + 1 for n in range(last - first)}
        self._to_buffer = {line: own for own, line in self._to_index.items()}

    def to_index(self, line: int) -> int:
        """Return the indexed line of a line of the buffer; 0 if it was edited."""
        return self._to_index.get(line, 0)

    def to_buffer(self, line: int) -> int:
        """Return the line of the buffer for an indexed line: the nearest one before it, if it was edited."""
        while line > 1 and line not in self._to_buffer:
            line -= 1
        return self._to_buffer.get(line, 1)


class Answers:
    """Answers the requests of an editor about one repository."""

    def __init__(self, root: str, index: Callable[[], Index], buffer: Callable[[str], list[str] | None]) -> None:
        """`buffer` returns the lines of an open document by its path; None if it is not open."""
        self.root, self._current_index, self._buffer = root, index, buffer
        self.index = index()

    def renew(self) -> None:
        """Use the newest index from now on."""
        self.index = self._current_index()

    # --- positions

    def path_of(self, uri: str) -> str | None:
        """Return the path of a document in the repository; None if it is not indexed."""
        place = unquote(urlsplit(uri).path)
        path = os.path.relpath(os.path.realpath(place), os.path.realpath(self.root)).replace(os.sep, "/")
        return path if self.index.facts.file(path) is not None else None

    def uri_of(self, path: str) -> str:
        return "file://" + quote(os.path.join(os.path.realpath(self.root), path))

    def _lines(self, path: str) -> tuple[list[str], LineMap | None]:
        """Return the lines as the editor shows them, and the map to those of the index if they differ."""
        indexed, buffer = self.index.open_file(path).lines() or [], self._buffer(path)
        if buffer is None or buffer == indexed:
            return indexed, None
        return buffer, LineMap(indexed, buffer)

    def spot(self, uri: str, position: lsp.Position) -> _Spot | None:
        """Return the indexed position for one of the editor."""
        path = self.path_of(uri)
        if path is None:
            return None
        lines, changed = self._lines(path)
        if position.line >= len(lines):
            return None
        text = lines[position.line]
        col = _from_utf16(text, position.character)
        line = changed.to_index(position.line + 1) if changed is not None else position.line + 1
        if line:
            return _Spot(path, line, col + 1, "")
        return _Spot(path, 0, 0, self._spelled(path, _name_at(text, col), position.line + 1, changed))

    def _spelled(self, path: str, name: str, line: int, changed: LineMap | None) -> str:
        """Return a question about a name on an edited line that has an answer: about the member of the class around
        it, or the dotted name, or its last part, unless that is a member of something outside the repository."""
        head, *rest = re.split(r"\.|::", name)
        questions = [name]
        if rest and head in _SELF and changed is not None:
            above = next((changed.to_index(one) for one in range(line, 0, -1) if changed.to_index(one)), 1)
            file = self.index.open_file(path)
            place = file.symbol_at(above)
            while place >= 0 and file.defined[place].kind not in TYPE_KINDS:
                place = file.defined[place].parent
            if place >= 0:
                owner = full_name(self.index.facts.places([file.ids.id_at(place)])[file.ids.id_at(place)])
                questions.insert(0, f"{owner}{name[len(head) :]}")
        if rest and not self._is_foreign(path, head):
            questions.append(rest[-1])
        for question in questions:
            with suppress(UserError):
                if any(resolution.place.id for resolution in resolve_question(self.index, question).resolutions):
                    return question
        return name

    def _is_foreign(self, path: str, name: str) -> bool:
        """True if a file imports a name from outside the repository."""
        return any(
            name in (row.alias, row.name or row.module.split(".")[0])
            and (target is None or target.origin != Origin.REPOSITORY)
            for row, target, _ in self.index.open_file(path).imports
        )

    def location(self, path: str, line: int, col: int = 1, length: int = 0) -> lsp.Location:
        """Return a place as the editor understands it."""
        lines, changed = self._lines(path) if path in self.index.categories else ([], None)
        row = (changed.to_buffer(line) if changed is not None else line) - 1
        text = lines[row] if 0 <= row < len(lines) else ""
        start, end = (_to_utf16(text, column) for column in (col - 1, col - 1 + length))
        return lsp.Location(self.uri_of(path), lsp.Range(lsp.Position(row, start), lsp.Position(row, end)))

    def of_row(self, row: Row) -> lsp.Location:
        name = str(row.get("name") or "")
        return self.location(str(row["path"]), int(str(row["line"])), int(str(row.get("col") or 1)), len(name))

    # --- requests

    def rows(self, command: str, spot: _Spot | None, **options: object) -> list[Row]:
        """Return the rows of a question about a position; none if there is no answer."""
        if spot is None or not spot.question:
            return []
        try:
            return ask(self.index, command, spot.question, _ROWS, "", **options).rows
        except UserError:
            return []

    def definitions(self, spot: _Spot | None) -> list[lsp.Location]:
        return [self.of_row(row) for row in self.rows("define", spot)]

    def symbols_at(self, spot: _Spot | None) -> list[SymbolPlace]:
        """Return the symbols that a position refers to, best first."""
        if spot is None or not spot.question:
            return []
        try:
            resolutions = resolve_question(self.index, spot.question).resolutions
        except UserError:
            return []
        return [resolution.place for resolution in resolutions if resolution.place.id and resolution.place.place >= 0]

    def declarations(self, spot: _Spot | None) -> list[lsp.Location]:
        rows = self.rows("define", spot)
        declared = {
            (symbol.path, symbol.line)
            for row in rows
            for symbol in self.index.facts.symbols_in(str(row["path"]))
            if symbol.declaration
        }
        return [self.of_row(row) for row in rows if (row["path"], row["line"]) in declared] or [
            self.of_row(row) for row in rows
        ]

    def implementations(self, spot: _Spot | None) -> list[lsp.Location]:
        """Return overriding methods, subclasses and what an operator runs; the definitions if there are none."""
        near = [symbol for place in self.symbols_at(spot) for symbol in self._heirs(place)]
        return [self.of_place(place) for place in near] or self.definitions(spot)

    def _heirs(self, place: SymbolPlace) -> list[SymbolPlace]:
        ids = [identity for identity, _ in self.index.facts.overriding(place.id)] + self.index.facts.subclasses_of(
            place.id
        )
        if not ids:
            ids = [row.target for row in bridges_of(self.index).runs_from(place.id) if row.trust >= Trust.UNIQUE_NAME]
        known = self.index.facts.places(ids)
        return [known[identity] for identity in sorted(ids, key=self.index.order_of) if identity in known]

    def of_place(self, place: SymbolPlace) -> lsp.Location:
        return self.location(place.path, place.line, place.col, len(place.name))

    def references(self, spot: _Spot | None, with_definition: bool) -> list[lsp.Location]:
        names = [place.name for place in self.symbols_at(spot)[:1]]
        length = len(names[0]) if names else 0
        uses = [
            self.location(str(row["path"]), int(str(row["line"])), int(str(row["col"])), length)
            for row in self.rows("refs", spot)
        ]
        return (self.definitions(spot)[:1] if with_definition else []) + uses

    def hover(self, spot: _Spot | None) -> str:
        """Return signature, documentation, tests and trust of what a position refers to."""
        rows = self.rows("define", spot)
        if not rows:
            return ""
        first = rows[0]
        path, line = str(first["path"]), int(str(first["line"]))
        file = self.index.open_file(path)
        symbol = next((head for head in file.defined if head.line == line and head.name == first["name"]), None)
        language = file.file.language
        parts = [
            f"```{language}\n{symbol.signature or symbol.name}\n```" if symbol is not None else f"`{first['name']}`"
        ]
        if symbol is not None and symbol.doc:
            parts.append(symbol.doc.strip())
        parts.append(f"{first['called']} · {path}:{line} · {first['trust']} ({first['by']})")
        if len(rows) > 1:
            parts.append(f"{count_noun(len(rows) - 1, 'further definition')}")
        tests = self._tests(f"{path}#{symbol.key}") if symbol is not None else []
        if tests:
            parts.append(
                "Tests: " + ", ".join(f"{row['name']} ({row['path']}:{row['line']})" for row in tests[:_TESTS])
            )
        return "\n\n".join(parts)

    def _tests(self, name: str) -> list[Row]:
        return nearest_tests(self.index, self.symbols_at(_Spot("", 0, 0, name)), _TESTS, _TEST_EDGES)

    def outline(self, path: str) -> list[lsp.DocumentSymbol]:
        """Return the definitions of a file as a tree."""
        file = self.index.open_file(path)
        top: list[lsp.DocumentSymbol] = []
        inside: dict[int, list[lsp.DocumentSymbol]] = {}  # the children of each symbol
        for place, head in enumerate(file.defined):
            start = self.location(path, head.start_line).range.start
            end = self.location(path, head.end_line, _LONG_LINE).range.end
            name = self.location(path, head.line, head.col, len(head.name)).range
            kind = _KINDS.get(Kind(head.kind), lsp.SymbolKind.Variable)
            children = inside[place] = []
            symbol = lsp.DocumentSymbol(
                head.name or "?", kind, lsp.Range(start, end), name, head.signature, None, None, children
            )
            inside.get(head.parent, top).append(symbol)
        return top

    def search(self, query: str) -> list[lsp.WorkspaceSymbol]:
        """Return the definitions that fit a query."""
        if not query.strip():
            return []
        rows = ask(self.index, "search", query, _SYMBOLS, number=_SYMBOLS).rows
        return [
            lsp.WorkspaceSymbol(
                self._named_at(str(row["path"]), int(str(row["line"])), str(row["symbol"])),
                str(row["called"] or row["symbol"]), _KINDS.get(Kind(str(row["kind"])), lsp.SymbolKind.Variable),
                container_name=str(row["path"]),
            )
            for row in rows
            if row["symbol"] and row["kind"] in frozenset(Kind)
        ]  # fmt: skip

    def _named_at(self, path: str, line: int, symbol: str) -> lsp.Location:
        """Return where a line defines a symbol: its name, as far as the line has it."""
        for head in self.index.open_file(path).defined:
            if head.line == line and head.name and symbol.endswith(head.name):
                return self.location(path, line, head.col, len(head.name))
        return self.location(path, line)

    def highlights(self, spot: _Spot | None) -> list[lsp.DocumentHighlight]:
        """Return the uses in the same file."""
        if spot is None:
            return []
        names = [place.name for place in self.symbols_at(spot)[:1]] or [""]
        rows = [row for row in (*self.rows("define", spot), *self.rows("refs", spot)) if row["path"] == spot.path]
        return [
            lsp.DocumentHighlight(
                self.location(
                    spot.path, int(str(row["line"])), int(str(row["col"])), len(str(row.get("name") or names[0]))
                ).range
            )
            for row in rows
        ]

    def lenses(self, path: str) -> list[lsp.CodeLens]:
        """Return, above each class and function, how many files use it and the tests that reach it."""
        file = self.index.open_file(path)
        ids = [file.ids.id_at(place) for place, _ in enumerate(file.defined)]
        users: dict[int, set[int]] = {}
        for target, user, _, trust, *_ in self.index.facts.users_of(ids):
            if trust:
                users.setdefault(target, set()).add(self.index.owners[user])
        lenses: list[lsp.CodeLens] = []
        for place, symbol in enumerate(file.defined):
            if symbol.kind not in EXECUTABLE_KINDS | TYPE_KINDS or symbol.declaration:
                continue
            at = self.location(path, symbol.line).range
            count = len(users.get(ids[place], ()))
            title = f"used by {count_noun(count, 'file')}" if count else "no references found"
            lenses.append(lsp.CodeLens(at, lsp.Command(title, "concord.references", arguments=[path, symbol.key])))
            lenses.append(lsp.CodeLens(at, data={"path": path, "key": symbol.key}))
        return lenses

    def resolve_lens(self, lens: lsp.CodeLens) -> lsp.CodeLens:
        """Count the tests of a definition, which takes a search for each: editors ask for those on the screen."""
        data: Any = lens.data
        if not data:
            return lens  # it has its command
        tests = self._tests(f"{data['path']}#{data['key']}")
        runs = [str(row["run"]) for row in tests if row.get("run")]
        title = f"run {count_noun(len(runs), 'test')}" if runs else "no tests found"
        lens.command = lsp.Command(title, "concord.runTests", arguments=runs)
        return lens

    def links(self, path: str) -> list[lsp.DocumentLink]:
        """Return the imports of a file that lead to another file of the repository."""
        links = []
        indexed = self.index.open_file(path).lines() or []
        for row in ask(self.index, "imports", path, _ROWS).rows:
            target, line = row.get("target"), int(str(row["line"]))
            if target and row["origin"] == "repository":
                text = indexed[line - 1] if line <= len(indexed) else ""
                written = str(row.get("module") or "")
                at = max(0, text.find(written)) if written else 0
                links.append(
                    lsp.DocumentLink(self.location(path, line, at + 1, len(written)).range, self.uri_of(str(target)))
                )
        return links

    # --- hierarchies

    def call_item(self, place: SymbolPlace) -> lsp.CallHierarchyItem:
        at = self.of_place(place)
        kind = _KINDS.get(Kind(place.kind), lsp.SymbolKind.Function) if place.name else lsp.SymbolKind.File
        target = f"{place.path}#{place.key}" if place.key else place.path
        name = full_name(place) or place.path
        return lsp.CallHierarchyItem(name, kind, at.uri, at.range, at.range, detail=place.path, data=target)

    def type_item(self, place: SymbolPlace) -> lsp.TypeHierarchyItem:
        at = self.of_place(place)
        return lsp.TypeHierarchyItem(
            full_name(place), _KINDS.get(Kind(place.kind), lsp.SymbolKind.Class), at.uri, at.range, at.range,
            detail=place.path, data=f"{place.path}#{place.key}",
        )  # fmt: skip

    def calls(self, item: lsp.CallHierarchyItem, command: str) -> list[tuple[lsp.CallHierarchyItem, list[lsp.Range]]]:
        """Return the callers or callees of an item, each with the calls in the text of the caller."""
        own = self.symbols_at(_Spot("", 0, 0, str(item.data)))[:1]
        try:
            rows = ask(self.index, command, str(item.data), _ROWS).rows
        except UserError:
            return []
        calls = []
        for row in rows:
            path, line = str(row["path"]), row["line"]
            place = next(
                (
                    symbol
                    for symbol in self.index.facts.symbols_in(path)
                    if symbol.line == line and symbol.name == row["name"]
                ),
                None,
            )
            if place is not None:
                other = self.call_item(place)
                ends = [(place, symbol) if command == "callers" else (symbol, place) for symbol in own]
                ranges = [at for caller, callee in ends for at in self._call_ranges(caller, callee)]
                calls.append((other, ranges or [other.range if command == "callers" else item.range]))
        return calls

    def _call_ranges(self, caller: SymbolPlace, callee: SymbolPlace) -> list[lsp.Range]:
        """Return where a definition names another; nothing if it is called by another name, or is a whole file."""
        file = self.index.open_file(caller.path)
        if not 0 <= caller.place < len(file.defined):
            return []
        symbol, ranges = file.defined[caller.place], []
        for place in file.places_on(symbol.start_line, symbol.end_line):
            row = file.row(place)
            if row.name == callee.name and any(
                claim.target == callee.id for claim in file.linked_targets(file.expression(place))
            ):
                ranges.append(self.location(caller.path, row.line, row.col, len(row.name)).range)
        return ranges

    def types_at(self, spot: _Spot | None) -> list[SymbolPlace]:
        """Return the classes that a position refers to, of a constructor its class: definitions first, because only
        they have bases and subclasses."""
        constructed = [class_of_constructor(self.index, place) for place in self.symbols_at(spot)]
        classes = with_counterparts(self.index, [symbol for symbol in constructed if symbol.kind in TYPE_KINDS])
        return sorted(classes, key=lambda symbol: symbol.declaration)

    def types(self, item: lsp.TypeHierarchyItem, above: bool) -> list[lsp.TypeHierarchyItem]:
        """Return the bases or the subclasses of an item."""
        facts = self.index.facts
        items: list[lsp.TypeHierarchyItem] = []
        for place in self.types_at(_Spot("", 0, 0, str(item.data)))[:1]:
            ids = facts.bases_of(place.id) if above else facts.subclasses_of(place.id)
            known = facts.places(ids)
            items += [
                self.type_item(known[identity])
                for identity in sorted(ids, key=self.index.order_of)
                if identity in known
            ]
        return items


def _name_at(text: str, col: int) -> str:
    """Return the dotted name around a column, up to the part that the column is in."""
    for match in _NAME.finditer(text):
        if match.start() <= col <= match.end():
            rest = re.compile(r"\w*").match(text, col)
            return text[match.start() : max(rest.end() if rest is not None else col, col)]
    return ""


def _from_utf16(text: str, units: int) -> int:
    """Return the number of characters in some UTF-16 units, in which editors count."""
    if text.isascii():
        return min(units, len(text))
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore"))


def _to_utf16(text: str, characters: int) -> int:
    if text.isascii():
        return min(characters, len(text)) if text else characters
    return len(text[:characters].encode("utf-16-le", "surrogatepass")) // 2


def make_server(root: str, index: Callable[[], Index]) -> LanguageServer:
    """Return the server; it answers from `index`, which returns the newest one."""
    server = LanguageServer("concordance", VERSION)

    def buffer(path: str) -> list[str] | None:
        uri = "file://" + quote(os.path.join(os.path.realpath(root), path))
        document = server.workspace.text_documents.get(uri)
        return document.source.splitlines() if document is not None else None

    answers = Answers(root, index, buffer)
    _offer_places(server, answers)
    _offer_documents(server, answers)
    _offer_hierarchies(server, answers)
    return server


def _spot_of(answers: Answers, params: Any) -> _Spot | None:
    answers.renew()
    return answers.spot(params.text_document.uri, params.position)


def _path_of(answers: Answers, params: Any) -> str | None:
    answers.renew()
    return answers.path_of(params.text_document.uri)


def _offer_places(server: LanguageServer, answers: Answers) -> None:
    """Answer requests about a position."""

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        return answers.definitions(_spot_of(answers, params))

    @server.feature(lsp.TEXT_DOCUMENT_DECLARATION)
    def declaration(params: lsp.DeclarationParams) -> list[lsp.Location]:
        return answers.declarations(_spot_of(answers, params))

    @server.feature(lsp.TEXT_DOCUMENT_IMPLEMENTATION)
    def implementation(params: lsp.ImplementationParams) -> list[lsp.Location]:
        return answers.implementations(_spot_of(answers, params))

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        return answers.references(_spot_of(answers, params), params.context.include_declaration)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        text = answers.hover(_spot_of(answers, params))
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text)) if text else None


def _offer_documents(server: LanguageServer, answers: Answers) -> None:
    """Answer requests about a document, and about the workspace."""

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbol(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        path = _path_of(answers, params)
        return answers.outline(path) if path is not None else []

    @server.feature(lsp.WORKSPACE_SYMBOL)
    def workspace_symbol(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        answers.renew()
        return answers.search(params.query)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        return answers.highlights(_spot_of(answers, params))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=True))
    def code_lens(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        path = _path_of(answers, params)
        return answers.lenses(path) if path is not None else []

    @server.feature(lsp.CODE_LENS_RESOLVE)
    def resolve(lens: lsp.CodeLens) -> lsp.CodeLens:
        return answers.resolve_lens(lens)

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_LINK)
    def document_link(params: lsp.DocumentLinkParams) -> list[lsp.DocumentLink]:
        path = _path_of(answers, params)
        return answers.links(path) if path is not None else []


def _offer_hierarchies(server: LanguageServer, answers: Answers) -> None:
    """Answer requests about callers, callees, bases and subclasses."""

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    def prepare_calls(params: lsp.CallHierarchyPrepareParams) -> list[lsp.CallHierarchyItem]:
        return [answers.call_item(place) for place in answers.symbols_at(_spot_of(answers, params))[:1]]

    @server.feature(lsp.CALL_HIERARCHY_INCOMING_CALLS)
    def incoming(params: lsp.CallHierarchyIncomingCallsParams) -> list[lsp.CallHierarchyIncomingCall]:
        return [lsp.CallHierarchyIncomingCall(item, at) for item, at in answers.calls(params.item, "callers")]

    @server.feature(lsp.CALL_HIERARCHY_OUTGOING_CALLS)
    def outgoing(params: lsp.CallHierarchyOutgoingCallsParams) -> list[lsp.CallHierarchyOutgoingCall]:
        return [lsp.CallHierarchyOutgoingCall(item, at) for item, at in answers.calls(params.item, "callees")]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_TYPE_HIERARCHY)
    def prepare_types(params: lsp.TypeHierarchyPrepareParams) -> list[lsp.TypeHierarchyItem]:
        return [answers.type_item(place) for place in answers.types_at(_spot_of(answers, params))[:1]]

    @server.feature(lsp.TYPE_HIERARCHY_SUPERTYPES)
    def supertypes(params: lsp.TypeHierarchySupertypesParams) -> list[lsp.TypeHierarchyItem]:
        return answers.types(params.item, True)

    @server.feature(lsp.TYPE_HIERARCHY_SUBTYPES)
    def subtypes(params: lsp.TypeHierarchySubtypesParams) -> list[lsp.TypeHierarchyItem]:
        return answers.types(params.item, False)
