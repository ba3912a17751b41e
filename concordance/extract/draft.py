"""A file's facts in the making: what a language's reader throws in flat comes out nested.

In: definitions, scopes, names and imports with byte offsets, in any order. Out: `FileFacts`, with
parents found by which stretch lies in which, names assigned to the innermost scope around them,
and every bare name bound to the scope of this file that declares it. Readers of all languages
share this, so a language states what it sees and never keeps a stack.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from concordance.model import (
    ROLES,
    DocPart,
    FileFacts,
    Finding,
    Import,
    Kind,
    Occurrences,
    Parameter,
    Role,
    Scope,
    Severity,
    Symbol,
)

from .source import Source

CODE = {role: place for place, role in enumerate(ROLES)}
_DEFINE = CODE[Role.DEFINE]
_DECLARE = CODE[Role.DECLARE]

# The scope that a symbol of a kind opens; the other kinds open none.
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
    """A name as a part of a symbol's key, in which `.`, `#` and `+` mean something."""
    return name.translate(_ESCAPES)


@dataclass(slots=True, eq=False)
class Definition:
    """A symbol in the making. Offsets are bytes; `start` to `end` is the whole of it."""

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
    doc_parts: tuple[DocPart, ...] = ()
    within: tuple[str, ...] = ()  # names written before this one: ("A",) of `void A::f() {}`
    opens: tuple[int, int] | None = None  # the stretch of its scope; by default from its name to its end
    occurs: bool = True  # whether the name stands at `at`; a made-up name ("constructor") does not
    place: int = -1  # among the file's symbols, known when all are there
    nests: bool = True  # whether what lies inside it is its own
    owner: Definition | None = None  # its parent, where that is not the definition around it


@dataclass(slots=True)
class Draft:
    """Collects one file's facts."""

    source: Source
    sees_members: bool = False  # whether a bare name in a method can mean a member of its class
    definitions: list[Definition] = field(default_factory=list)
    scopes: list[tuple[int, int, str]] = field(default_factory=list)  # further ones: start, end, kind
    holes: list[tuple[int, int]] = field(default_factory=list)  # inside a scope, but read in the one around it
    ends: dict[int, int] = field(default_factory=dict)  # of each name, by its start
    roles: dict[int, int] = field(default_factory=dict)  # a role's code, by the name's start
    members: set[int] = field(default_factory=set)  # starts of names that hang on a receiver
    bound: set[int] = field(default_factory=set)  # starts of names that are declared where they stand
    sent: dict[int, str] = field(default_factory=dict)  # starts in a "global" or "nonlocal" statement, or "hoist"
    private: dict[int, bytes] = field(default_factory=dict)  # starts of names that are bound under another name
    imports: list[tuple[int, Import]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)  # start, end
    prose: list[tuple[int, str]] = field(default_factory=list)  # line and words that are neither name nor comment
    error_bytes: int = 0
    blanked_bytes: int = 0
    doc: str = ""
    exports: tuple[str, ...] | None = None

    def define(self, kind: str, name: str, at: int, start: int, end: int, **details: object) -> Definition:
        """Adds a symbol."""
        definition = Definition(kind, name, at, start, end, **details)  # type: ignore[arg-type]
        self.definitions.append(definition)
        return definition

    def add_names(self, starts_ends: Iterable[tuple[int, int]], role: Role) -> None:
        """Adds names that stand in the text, all with one role."""
        code = CODE[role]
        for start, end in starts_ends:
            self.ends[start] = end
            self.roles[start] = code

    def forget(self, starts: Iterable[int]) -> None:
        """Takes out names that turned out to name nothing."""
        for start in starts:
            self.ends.pop(start, None)
            self.roles.pop(start, None)
            self.bound.discard(start)
            self.members.discard(start)

    def add_import(self, at: int, module: str, **details: object) -> None:
        """Adds an import written at a byte offset."""
        line, col = self.source.position(at)
        self.imports.append((at, Import(line, col, module, **details)))  # type: ignore[arg-type]

    def problem(self, at: int, end: int, message: str, by: str = "syntax") -> None:
        """Records that a stretch could not be read."""
        line, col = self.source.position(at)
        last = self.source.line(max(at, end - 1))
        self.findings.append(Finding(by, Severity.ERROR, message, line, col, last))

    def facts(self) -> FileFacts:
        """The finished facts; terms, metrics and comments are the engine's to add."""
        self.definitions.sort(key=lambda d: (d.start, -d.end, d.at))
        symbols = self._symbols()
        scopes, intervals = self._scopes()
        occurrences = self._occurrences(scopes, intervals)
        places = innermost([at for at, _ in self.imports], intervals, sort=True)
        imports = tuple(
            row._replace(scope=places[at]) for at, row in sorted(self.imports, key=lambda pair: pair[0])
        )
        return FileFacts(
            symbols, tuple(scopes), occurrences, imports, findings=tuple(self.findings), doc=self.doc, exports=self.exports
        )

    def _symbols(self) -> tuple[Symbol, ...]:
        source = self.source
        symbols: list[Symbol] = []
        seen: dict[str, int] = {}
        around: list[Definition] = []
        for d in self.definitions:
            while around and around[-1].end < d.end or around and around[-1].end <= d.start:
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
                    key, str(d.kind), d.name, parent, line, col, source.line(d.start), source.line(max(d.start, d.end - 1)),
                    d.signature, d.doc, d.public, d.declaration, d.condition, d.modifiers, d.bases, d.parameters,
                    d.returns, d.doc_parts,
                )
            )  # fmt: skip
            if d.nests:
                around.append(d)
        return tuple(symbols)

    def _scopes(self) -> tuple[list[Scope], list[tuple[int, int, int]]]:
        """The scopes, and the stretches of text with the scope that each is read in."""
        source = self.source
        spans: list[tuple[int, int, str, int]] = [(start, end, kind, -1) for start, end, kind in self.scopes]
        for d in self.definitions:
            kind = _OPENS.get(d.kind)  # type: ignore[call-overload]
            if kind is None:
                continue
            start, end = d.opens or (d.at + (len(d.name.encode()) if d.occurs else 0), d.end)
            spans.append((start, end, kind, d.place))
        spans.extend((start, end, "", -1) for start, end in self.holes)
        # A default that is itself a lambda fills its hole: the hole is around it.
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

    def _occurrences(self, scopes: list[Scope], intervals: list[tuple[int, int, int]]) -> Occurrences:
        ends, roles = self.ends, self.roles
        for d in self.definitions:
            if d.occurs:
                ends.setdefault(d.at, d.at + len(d.name.encode()))
                roles[d.at] = _DECLARE if d.declaration else _DEFINE
        starts = sorted(ends)
        place = innermost(starts, intervals)
        table: dict[bytes, int] = {}
        data = self.source.data
        ids = array("I", [table.setdefault(data[s : ends[s]], len(table)) for s in starts])
        keys = ids
        if self.private:
            keys = array("I", ids)
            for at, start in enumerate(starts):
                if start in self.private:
                    keys[at] = table.setdefault(self.private[start], len(table))
        bind = self._binder(scopes, place, dict(zip(starts, keys, strict=True)))
        members = self.members
        bound = array("i", [-1 if s in members else bind(place[s], n) for s, n in zip(starts, keys, strict=True)])
        return Occurrences(
            tuple(name.decode("utf-8", "replace") for name in table),
            ids.tobytes(),
            self.source.offsets(starts).tobytes(),
            bytes([roles[s] for s in starts]),
            array("I", [place[s] for s in starts]).tobytes(),
            bound.tobytes(),
            self._receivers(starts).tobytes(),
            self.source.offsets(self.source.line_bytes).tobytes(),
        )

    def _binder(
        self, scopes: list[Scope], place: dict[int, int], names: dict[int, int]
    ) -> Callable[[int, int], int]:
        """Finds the scope that binds a name: the innermost around it that declares it."""
        declared, outside = self._declared(scopes, place, names)
        outward = []  # per scope, the one in which a name unknown here is looked up next
        for scope in scopes:
            parent = scope.parent
            while parent > 0 and scopes[parent].kind == "class" and not self.sees_members:
                parent = scopes[parent].parent
            outward.append(parent)
        known: dict[tuple[int, int], int] = {}

        def bind(scope: int, name: int) -> int:
            found = known.get((scope, name))
            if found is None:
                found = scope
                while found >= 0 and (found, name) not in declared:
                    found = 0 if outside.get((found, name)) == "global" else outward[found]
                known[scope, name] = found
            return found

        return bind

    def _declared(
        self, scopes: list[Scope], place: dict[int, int], names: dict[int, int]
    ) -> tuple[set[tuple[int, int]], dict[tuple[int, int], str]]:
        """The names each scope declares, and those that a scope says are another's."""
        outside = {
            (place[at], names[at]): where for at, where in self.sent.items() if where != "hoist" and place[at]
        }
        declared = {(0, name) for (_, name), where in outside.items() if where == "global"}
        own = [d.at for d in self.definitions if d.occurs and not d.within and d.at not in self.members]
        for at in self.bound.union(own):
            scope = place[at]
            if at in self.sent:  # an assignment expression binds outside of the comprehension, a `var` outside of its block
                while scopes[scope].kind in ("comprehension", "block"):
                    scope = scopes[scope].parent
            if (scope, names[at]) not in outside:
                declared.add((scope, names[at]))
        return declared, outside

    def _receivers(self, starts: list[int]) -> array[int]:
        """For a name that hangs on another, how many places back that one stands."""
        back = array("i", bytes(4 * len(starts)))
        data = self.source.data
        for place, start in enumerate(starts):
            if start in self.members:
                between = data[self.ends[starts[place - 1]] : start].strip() if place else b" "
                back[place] = 1 if between in _JOINTS else -1
        return back


_JOINTS = frozenset((b".", b"->", b"::", b"?.", b"&.", b"!."))


def innermost(starts: list[int], intervals: list[tuple[int, int, int]], sort: bool = False) -> dict[int, int]:
    """For each ascending offset, what stands third in the innermost interval around it; the first is around all."""
    if sort:
        starts = sorted(starts)
    result: dict[int, int] = {}
    around: list[tuple[int, int]] = [(intervals[0][1], intervals[0][2])]
    upcoming = iter(intervals[1:])
    following = next(upcoming, None)
    for start in starts:
        while following is not None and following[0] <= start:
            while len(around) > 1 and around[-1][0] <= following[0]:
                around.pop()
            around.append((following[1], following[2]))
            following = next(upcoming, None)
        while len(around) > 1 and around[-1][0] <= start:
            around.pop()
        result[start] = around[-1][1]
    return result
