"""A file's facts under construction: language readers add them flat and in any order, they come out nested.

In: definitions, scopes, names and imports with byte offsets. Out: `FileFacts`, in which a symbol's parent is the
definition whose range contains it, every name is assigned to the innermost scope around it, and every bare name is
bound to the scope of this file that declares it. All language readers share this, so none has to maintain a stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from operator import sub

from tree_sitter import Node

from concordance.base.model import (
    ROLES,
    FileFacts,
    Finding,
    Flow,
    Import,
    Kind,
    Occurrences,
    Parameter,
    Role,
    Scope,
    Severity,
    Symbol,
    pack_column,
)
from concordance.extract.reading.flow import FlowBuilder, NameColumns
from concordance.extract.text.source_text import Source

ROLE_CODES = {role: place for place, role in enumerate(ROLES)}
_DEFINE = ROLE_CODES[Role.DEFINE]
_DECLARE = ROLE_CODES[Role.DECLARE]

# The kind of scope that a symbol opens; kinds not listed open none.
_OPENS = {
    Kind.CLASS: "class",
    Kind.STRUCT: "class",
    Kind.UNION: "class",
    Kind.INTERFACE: "class",
    Kind.ENUM: "class",
    Kind.NAMESPACE: "namespace",
    Kind.MODULE: "namespace",
    Kind.FUNCTION: "function",
    Kind.METHOD: "function",
    Kind.PROPERTY: "function",
}
_ESCAPES = str.maketrans({c: f"%{ord(c):02X}" for c in "%.#+\n\r\t"})


def escape(name: str) -> str:
    """Return a name escaped for use in a symbol's key, in which `.`, `#` and `+` are separators."""
    return name if name.isidentifier() else name.translate(_ESCAPES)


@dataclass(slots=True, eq=False)
class Definition:
    """A symbol under construction. Offsets are in bytes; `start` to `end` covers the whole definition."""

    kind: str
    name: str
    at: int
    start: int
    end: int
    signature: str = ""
    doc: str = ""
    public: bool = True
    declaration: bool = False
    condition: str = ""
    modifiers: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    within: tuple[str, ...] = ()  # qualifiers written before the name: ("A",) in `void A::f() {}`
    opens: tuple[int, int] | None = None  # range of its scope; by default from the end of its name to its end
    occurs: bool = True  # whether the name is written at `at`; a synthetic name ("constructor") is not
    place: int = -1  # index among the file's symbols, set once all are collected
    nests: bool = True  # whether definitions inside its range are its children
    binds: bool = True  # whether its name stands for it in the scope around it; that of a constructor does not
    owner: Definition | None = None  # its parent, if that is not the enclosing definition


@dataclass(slots=True)
class Draft:
    """Collects one file's facts."""

    source: Source
    sees_members: bool = False  # whether a bare name in a method can refer to a member of its class
    definitions: list[Definition] = field(default_factory=list)
    scopes: list[tuple[int, int, str]] = field(default_factory=list)  # further scopes: start, end, kind
    holes: list[tuple[int, int]] = field(default_factory=list)  # ranges in a scope that belong to the one around it
    qualifiers: set[int] = field(default_factory=set)  # names that only say which class a definition belongs to
    ends: dict[int, int] = field(default_factory=dict)  # the end of each name, by its start
    roles: dict[int, int] = field(default_factory=dict)  # the code of each name's role, by its start
    members: set[int] = field(default_factory=set)  # starts of names that follow a receiver
    bound: set[int] = field(default_factory=set)  # starts of names that are declared where they occur
    sent: dict[int, str] = field(default_factory=dict)  # names in a "global" or "nonlocal" statement, or "hoist"
    private: dict[int, bytes] = field(default_factory=dict)  # by start, the name it is really bound under
    methods: set[int] = field(default_factory=set)  # starts of names that can only be a method: never a local variable
    imports: list[tuple[int, Import]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)  # start, end
    prose: list[tuple[int, str]] = field(default_factory=list)  # line and words that are neither names nor comments
    error_bytes: int = 0
    blanked_bytes: int = 0
    doc: str = ""
    exports: tuple[str, ...] | None = None
    build_flow: Callable[[Draft, FlowBuilder], None] | None = None  # builds the flow, for languages that have names
    branches: list[int] = field(default_factory=list)  # offsets of branches in control flow
    root: Node | None = None  # of the syntax tree, if there is one: for the rules

    def define(self, kind: str, name: str, at: int, start: int, end: int, **details: object) -> Definition:
        """Add a symbol."""
        definition = Definition(kind, name, at, start, end, **details)  # type: ignore[arg-type]
        self.definitions.append(definition)
        return definition

    def add_names(self, starts_ends: Iterable[tuple[int, int]], role: Role) -> None:
        """Add names that occur in the text, all with one role."""
        code = ROLE_CODES[role]
        for start, end in starts_ends:
            self.ends[start] = end
            self.roles[start] = code

    def forget(self, starts: Iterable[int]) -> None:
        """Remove names that turned out not to be names."""
        for start in starts:
            self.ends.pop(start, None)
            self.roles.pop(start, None)
            self.bound.discard(start)
            self.members.discard(start)

    def add_import(self, at: int, module: str, **details: object) -> None:
        """Add an import written at a byte offset."""
        line, col = self.source.position(at)
        self.imports.append((at, Import(line, col, module, **details)))  # type: ignore[arg-type]

    def problem(self, at: int, end: int, message: str) -> None:
        """Record that a range of the text could not be read."""
        line, col = self.source.position(at)
        last = self.source.line(max(at, end - 1))
        self.findings.append(Finding("syntax", Severity.ERROR, message, line, col, last))

    def facts(self) -> FileFacts:
        """Return the finished facts; the engine adds comments, terms and metrics."""
        # Parsers insert empty names where one is missing; only in a data file can an empty key really be written.
        self.definitions = [d for d in self.definitions if d.name or d.kind == Kind.KEY]
        self.definitions.sort(key=lambda d: (d.start, -d.end, d.at))
        symbols = self._symbols()
        scopes, intervals = self._scopes()
        occurrences, names = self._occurrences(scopes, intervals)
        self.imports.sort(key=lambda pair: pair[0])
        places = innermost([at for at, _ in self.imports], intervals)
        imports = tuple(row._replace(scope=place) for (_, row), place in zip(self.imports, places, strict=True))
        flow: Flow | None = None
        if self.build_flow is not None:
            defined = {d.at: d.place for d in self.definitions if d.occurs}
            builder = FlowBuilder(names, scopes, intervals, symbols, imports, defined)
            self.build_flow(self, builder)
            occurrences = occurrences._replace(use=pack_column([used + 1 for used in builder.use]))
            flow = builder.flow(self.exports)
        elif imports:
            flow = Flow(imports=imports)
        return FileFacts(
            symbols,
            tuple(scopes),
            occurrences,
            imports,
            findings=tuple(self.findings),
            doc=self.doc,
            exports=self.exports,
            flow=flow,
            complexity=self._complexity(),
        )

    def _complexity(self) -> bytes:
        """Return each symbol's cyclomatic complexity: 1 plus its number of branches; 0 if it is not a function."""
        bodies = [d for d in self.definitions if _OPENS.get(d.kind) == "function" and not d.declaration]  # type: ignore[call-overload]
        if not bodies:
            return b""
        branch_counts = [0] * len(self.definitions)
        for d in bodies:
            branch_counts[d.place] = 1
        stretches = [(0, len(self.source.data) + 1, -1), *((d.at, d.end, d.place) for d in bodies)]
        # The range starts at the name, so that conditions in decorators do not count.
        for place in innermost(sorted(self.branches), stretches):
            if place >= 0:
                branch_counts[place] += 1
        return pack_column(branch_counts)

    def _symbols(self) -> tuple[Symbol, ...]:
        source = self.source
        symbols: list[Symbol] = []
        seen: dict[str, int] = {}
        around: list[Definition] = []
        for d in self.definitions:
            while (around and around[-1].end < d.end) or (around and around[-1].end <= d.start):
                around.pop()
            parent = d.owner.place if d.owner is not None else around[-1].place if around else -1
            parts = [symbols[parent].key] if parent >= 0 else []
            parts.extend(escape(name) for name in d.within)
            parts.append(escape(d.name))
            key = ".".join(parts)
            count = seen[key] = seen.get(key, 0) + 1
            if count > 1:
                key = f"{key}+{count}"
            line, col = source.position(d.at)
            d.place = len(symbols)
            symbols.append(
                Symbol(
                    key, str(d.kind), d.name, parent, line, col,
                    source.line(d.start), source.line(max(d.start, d.end - 1)),
                    d.signature, d.doc, d.public, d.declaration, d.condition, d.modifiers, d.bases, d.parameters,
                    d.returns,
                )
            )  # fmt: skip
            if d.nests:
                around.append(d)
        return tuple(symbols)

    def _scopes(self) -> tuple[list[Scope], list[tuple[int, int, int]]]:
        """Return the scopes, and the ranges of the text with the scope that each belongs to."""
        source = self.source
        spans: list[tuple[int, int, str, int]] = [(start, end, kind, -1) for start, end, kind in self.scopes]
        for d in self.definitions:
            kind = _OPENS.get(d.kind)  # type: ignore[call-overload]
            if kind is None:
                continue
            start, end = d.opens or (d.at + (len(d.name.encode()) if d.occurs else 0), d.end)
            spans.append((start, end, kind, d.place))
        spans.extend((start, end, "", -1) for start, end in self.holes)
        # If a default value is itself a lambda, hole and lambda have the same range: the hole goes outside.
        spans.sort(key=lambda s: (s[0], -s[1], s[2] != "", s[3]))
        scopes = [Scope("module", -1, -1, 1, max(1, source.line_count))]
        intervals = [(0, len(source.data) + 1, 0)]
        around: list[tuple[int, int]] = [(len(source.data) + 1, 0)]  # end, scope
        for start, end, kind, place in spans:
            while around[-1][0] <= start and len(around) > 1:
                around.pop()
            inside = around[-1][1]
            if kind:
                scopes.append(Scope(kind, inside, place, source.line(start), source.line(max(start, end - 1))))
                here = len(scopes) - 1
            else:
                here = max(0, scopes[inside].parent)
            intervals.append((start, end, here))
            around.append((end, here))
        return scopes, intervals

    def _occurrences(
        self, scopes: list[Scope], intervals: list[tuple[int, int, int]]
    ) -> tuple[Occurrences, NameColumns]:
        ends, roles = self.ends, self.roles
        for d in self.definitions:
            if d.occurs:
                ends.setdefault(d.at, d.at + len(d.name.encode()))
                roles[d.at] = _DECLARE if d.declaration else _DEFINE
        for start in self.qualifiers:
            if start in ends:
                roles[start] = _DECLARE
        data = self.source.data
        starts = sorted([start for start, end in ends.items() if end > start])
        if not self.source.ascii:  # some parsers cut names in the middle of a character
            starts = [s for s in starts if not (_is_inside_character(data, s) or _is_inside_character(data, ends[s]))]
        stops = list(map(ends.__getitem__, starts))
        places = innermost(starts, intervals)
        words = [data[start:stop] for start, stop in zip(starts, stops, strict=True)]
        table = {word: number for number, word in enumerate(dict.fromkeys(words))}
        names = list(map(table.__getitem__, words))
        written = tuple([name.decode("utf-8", "replace") for name in table])
        keys = names
        if self.private:
            private = self.private
            keys = [
                table.setdefault(private[s], len(table)) if s in private else n
                for s, n in zip(starts, names, strict=True)
            ]
        offsets = self.source.offsets(starts)
        role = bytes(map(roles.__getitem__, starts))
        bound, receivers = self._bindings(scopes, starts, places, keys), self._receivers(starts)
        table_now = [name.decode("utf-8", "replace") for name in table]
        columns = NameColumns(starts, stops, keys, role, places, bound, receivers, table_now)
        return Occurrences(
            written,
            pack_column(names),
            pack_column(list(map(sub, offsets, chain((0,), offsets)))),
            role,
            pack_column(places),
            pack_column(bound),
            receivers,
            pack_column(self.source.line_lengths),
        ), columns

    def _bindings(self, scopes: list[Scope], starts: list[int], places: list[int], names: list[int]) -> list[int]:
        """Return for each name the scope that binds it, plus one: the innermost enclosing scope that declares it."""
        width = max(names, default=0) + 1  # scope and name packed into one number: half the cost of a tuple
        declared, globals_ = self._declared_names(scopes, starts, places, names, width)
        outward = []  # per scope, the next scope to search for a name it does not declare
        for scope in scopes:
            parent = scope.parent
            while parent > 0 and scopes[parent].kind == "class" and not self.sees_members:
                parent = scopes[parent].parent
            outward.append(parent)
        known: dict[int, int] = {}
        members, methods = self.members, self.methods
        bound = []
        for start, scope_around, name in zip(starts, places, names, strict=True):
            if start in members:
                bound.append(0)
                continue
            place = scope_around
            while start in methods and place > 0 and scopes[place].kind != "class":
                place = scopes[place].parent
            key = place * width + name
            binding = known.get(key)
            if binding is None:
                at, visited = place, []
                while binding is None and at >= 0 and key not in declared:
                    visited.append(key)
                    at = 0 if key in globals_ else outward[at]
                    key = at * width + name
                    binding = known.get(key)
                if binding is None:
                    binding = known[key] = at + 1
                for key in visited:  # so that a name used at every level of a deep nest is looked up once
                    known[key] = binding
            bound.append(binding)
        return bound

    def _declared_names(
        self, scopes: list[Scope], starts: list[int], places: list[int], names: list[int], width: int
    ) -> tuple[set[int], set[int]]:
        """Return the names that each scope declares, and those that it declares global."""
        bind = (d for d in self.definitions if d.occurs and d.binds and not d.within)
        own = {d.at for d in bind if d.at not in self.members} | self.bound
        sent = self.sent
        globals_, nonlocals = set(), set()
        declared: set[int] = set()
        if sent:
            for start, place, name in zip(starts, places, names, strict=True):
                statement = sent.get(start)
                if statement == "global" and place:
                    globals_.add(place * width + name)
                    declared.add(name)
                elif statement == "nonlocal":
                    nonlocals.add(place * width + name)
        for start, place, name in zip(starts, places, names, strict=True):
            if start in own:
                binding = place
                if start in sent:  # `:=` binds outside of the comprehension, `var` outside of its block
                    while scopes[binding].kind in ("comprehension", "block"):
                        binding = scopes[binding].parent
                key = binding * width + name
                if key not in globals_ and key not in nonlocals:
                    declared.add(key)
        return declared, globals_

    def _receivers(self, starts: list[int]) -> bytes:
        """Return how each name follows a receiver: 0 not at all, 1 directly after a name, 2 after an expression."""
        receivers = bytearray(len(starts))
        members = self.members
        if members:
            data, ends = self.source.data, self.ends
            before = 0
            for place, start in enumerate(starts):
                if start in members:
                    between = data[before:start]
                    receivers[place] = 1 if place and (between in _JOINTS or between.strip() in _JOINTS) else 2
                before = ends[start]
        return bytes(receivers)


_JOINTS = frozenset((b".", b"->", b"::", b"?.", b"&.", b"!."))


def _is_inside_character(data: bytes, at: int) -> bool:
    return at < len(data) and data[at] & 0xC0 == 0x80


def innermost(starts: list[int], intervals: list[tuple[int, int, int]]) -> list[int]:
    """Return for each of the ascending offsets the value (third item) of the innermost interval around it.

    Intervals are (start, end, value), sorted; the first one contains all others.
    """
    result: list[int] = []
    around: list[tuple[int, int]] = []
    end, here = len(intervals) and intervals[0][1], intervals[0][2]
    upcoming = iter(intervals[1:])
    following = next(upcoming, None)
    opens = following[0] if following is not None else end + 1
    for start in starts:
        while following is not None and opens <= start:
            while around and end <= opens:
                end, here = around.pop()
            around.append((end, here))
            end, here = following[1], following[2]
            following = next(upcoming, None)
            opens = following[0] if following is not None else start + 1
        while around and end <= start:
            end, here = around.pop()
        result.append(here)
    return result
