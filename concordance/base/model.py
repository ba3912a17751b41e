"""Every data type that passes between stages; nothing here computes.

Rows are NamedTuples: cheap to make by the million, and the store and the cache take them as they
are. What configures the program is a frozen dataclass. Lines and columns are 1-based, columns
count code points, and a byte order mark is no column.

Facts about a file depend on its content and language alone, never on its path, so that they can
be cached by content: a symbol's `key` is the part of its id behind `path#`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from concordance.base.kinds import KINDS as KINDS
from concordance.base.kinds import ROLES as ROLES
from concordance.base.kinds import RUN as RUN
from concordance.base.kinds import TYPES as TYPES
from concordance.base.kinds import Category as Category
from concordance.base.kinds import Given as Given
from concordance.base.kinds import Kind as Kind
from concordance.base.kinds import Op as Op
from concordance.base.kinds import Origin as Origin
from concordance.base.kinds import Role as Role
from concordance.base.kinds import Severity as Severity
from concordance.base.kinds import Skip as Skip
from concordance.base.kinds import Trust as Trust


@dataclass(frozen=True)
class Language:
    """How files of one language are recognised and named; each language's file holds its own."""

    name: str  # as it is stored: "cpp"
    title: str  # as people write it: "C++"
    extensions: tuple[str, ...] = ()  # with the dot, lower case; ".d.ts" is longer than ".ts" and wins
    filenames: tuple[str, ...] = ()  # whole names or globs: "BUILD", "Dockerfile.*"
    interpreters: tuple[str, ...] = ()  # of a "#!" line, without a version: "python"
    separator: str = "."  # between the parts of a qualified name
    has_macros: bool = False  # whether its reader is told the repository's macros
    has_prototypes: bool = False  # whether what is declared in one file is defined in another


class ListedFile(NamedTuple):
    """A file as the walk finds it, before it is opened."""

    path: str  # relative, "/" between parts; undecodable bytes as surrogate escapes
    size: int
    changed: int  # modification time in nanoseconds
    skip: Skip = Skip.NONE  # SYMLINK or SUBMODULE, where the walk can tell
    note: str = ""  # where a symlink points, which commit a submodule is at
    blob: str = ""  # git's object id, where the source is a revision
    altered: int = 0  # change time in nanoseconds: when its content, owner or permissions were last set; -1: not known
    inode: int = 0


class Form(NamedTuple):
    """What a look at a file's name and bytes says of it."""

    language: str
    category: Category
    encoding: str  # "" where it is binary
    type: str  # for people: "Python source", "PNG image"
    skip: Skip
    note: str = ""  # the reason behind `skip`, or what is odd about the encoding


class File(NamedTuple):
    """One line of the ledger."""

    path: str
    language: str
    category: str
    type: str
    encoding: str
    size: int
    lines: int
    digest: str
    skip: str
    note: str
    changed: int  # modification time in nanoseconds, which anybody can set …
    altered: int = 0  # … and change time and inode, which not: by all three and the size an edit is recognised
    inode: int = 0


class FileHistory(NamedTuple):
    """A file's history."""

    path: str
    commits: int
    authors: tuple[tuple[str, int], ...]  # most active first
    first: int  # seconds since the epoch
    last: int
    together: tuple[tuple[str, int], ...]  # files changed in the same commits, most often first


class Parameter(NamedTuple):
    """One parameter of a function, as written."""

    name: str
    kind: str  # "positional-only", "positional", "*", "keyword-only", "**"; "" where there is but one kind
    annotation: str = ""
    default: str = ""


class Symbol(NamedTuple):
    """A definition or declaration."""

    key: str  # "Outer.inner"; the second of a name has "+2" behind it
    kind: str
    name: str
    parent: int  # its place among the file's symbols, -1 for none
    line: int  # of the name
    col: int
    start_line: int  # of the whole, decorators and template header included
    end_line: int
    signature: str = ""
    doc: str = ""
    public: bool = True
    declaration: bool = False  # declared here, defined elsewhere
    condition: str = ""  # "#ifdef USE_CUDA", "if TYPE_CHECKING", "except ImportError"
    modifiers: tuple[str, ...] = ()  # decorators and specifiers: "staticmethod", "__global__", "async"
    bases: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    returns: str = ""


class Scope(NamedTuple):
    """A stretch of text in which names are bound. The first of a file is the file itself."""

    kind: str  # "module", "namespace", "class", "function", "lambda", "comprehension", "block"
    parent: int  # its place among the file's scopes, -1 for the file itself
    symbol: int  # the symbol whose scope it is, -1 for none
    line: int
    end_line: int


class Occurrence(NamedTuple):
    """A name as it stands in the text."""

    line: int
    col: int
    name: str
    role: Role
    scope: int  # the scope it stands in
    bound: int  # the scope of this file that binds it, -1 where none does or it hangs on a receiver
    receiver: int  # the place of the occurrence it hangs on (`a` for `b` in `a.b`), -1 for none, -2 for an expression


class Occurrences(NamedTuple):
    """All of a file's occurrences in the order of the text, packed in columns.

    Ten million rows are read a file at a time and never looked up singly, so each file's are one
    value in the store. A column is an array of the narrowest type that holds it (`packed`). Offsets
    are code points; `starts` turns them into lines and columns.
    """

    names: tuple[str, ...] = ()  # distinct
    name: bytes = b""  # places in `names`
    step: bytes = b""  # how far the occurrence stands behind the one before
    role: bytes = b""  # places in ROLES
    scope: bytes = b""
    bound: bytes = b""  # plus one, so that none is 0
    receiver: bytes = b""  # how it hangs on a receiver: 0 not, 1 on the occurrence before, 2 on an expression
    lengths: bytes = b""  # of the lines, their ends included
    use: bytes = b""  # the expression of the file's flow that it ends, plus one; empty where there is no flow

    def rows(self) -> Iterator[Occurrence]:
        """Each occurrence, unpacked."""
        count = len(self.role)
        starts = [0, *accumulate(unpacked(self.lengths))]
        columns = zip(
            unpacked(self.name, count), accumulate(unpacked(self.step, count)), self.role, unpacked(self.scope, count),
            unpacked(self.bound, count), self.receiver, strict=True,
        )  # fmt: skip
        for place, (name, offset, role, scope, bound, hangs) in enumerate(columns):
            line = bisect_right(starts, offset)
            receiver = -1 if not hangs else place - 1 if hangs == 1 else -2
            yield Occurrence(
                line, offset - starts[line - 1] + 1, self.names[name], ROLES[role], scope, bound - 1, receiver
            )

    def names_and_roles(self) -> Iterator[tuple[int, int]]:
        """Each occurrence's places in `names` and in ROLES."""
        return zip(unpacked(self.name, len(self.role)), self.role, strict=True)


def packed(values: list[int]) -> bytes:
    """Numbers of 0 and above in an array of the narrowest type; its last byte is the type's letter."""
    top = max(values, default=0)
    kind = "B" if top < 1 << 8 else "H" if top < 1 << 16 else "I"
    return array(kind, values).tobytes() + kind.encode()


def unpacked(column: bytes, count: int = -1) -> array[int]:
    """The numbers of a column; ValueError where there are not as many as there should be."""
    values = array(chr(column[-1]) if column else "B", column[:-1])
    if 0 <= count != len(values):
        raise ValueError(f"a column of {len(values)} in place of {count}")
    return values


class Import(NamedTuple):
    """One name, or one whole module, brought in from elsewhere, as written."""

    line: int
    col: int
    module: str  # "..nn", "ATen/ATen.h"
    name: str = ""  # "" for the module itself, "*" for all of its names
    alias: str = ""
    scope: int = 0
    condition: str = ""
    form: str = ""  # "system" for #include <…>, "local" for #include "…", "export" for JavaScript's export … from


class Flow(NamedTuple):
    """What a file's names are made of, for the linker: each different expression once, in columns.

    The occurrences of a name say which expression they end (`Occurrences.use`), so what is found
    out of an expression holds for all places where it stands. A variable is a name in a scope. The
    first `whole` variables hold all that is bound under their name; the others only what reaches
    some stretch of the text.
    """

    names: tuple[str, ...] = ()
    op: bytes = b""  # the expressions: an Op, left and right
    left: bytes = b""
    right: bytes = b""
    whole: int = 0
    variable_scope: bytes = b""
    variable_name: bytes = b""
    variable_symbol: bytes = b""  # the symbol that it is, plus one
    bound_variable: bytes = b""  # what is bound to variables, in the order of the text
    bound_value: bytes = b""
    scope_kind: tuple[str, ...] = ()
    scope_parent: bytes = b""  # plus one
    scope_symbol: bytes = b""  # plus one
    symbol_kind: bytes = b""  # places in KINDS
    symbol_name: bytes = b""
    symbol_parent: bytes = b""  # plus one
    given_symbol: bytes = b""  # what expressions say of symbols
    given_what: bytes = b""
    given_value: bytes = b""
    user: bytes = b""  # the symbol around, plus one …
    used: bytes = b""  # … and an expression that stands in it as a name …
    roles: bytes = b""  # … and what it does there: bits by place in ROLES
    imports: tuple[Import, ...] = ()
    exports: tuple[str, ...] | None = None
    # Of symbols, where declarations and definitions stand in different files; empty elsewhere:
    symbol_flags: bytes = b""  # bits, by the language's weave
    symbol_within: bytes = b""  # what qualifies the name where it is defined, plus one: "A::B" of `void A::B::f() {}`
    symbol_arity: bytes = b""  # the fewest arguments, plus 256 times the most
    symbol_form: bytes = b""  # a digest of the parameters' types
    times: bytes = b""  # how often each pair of `user` and `used` stands in the file


class Target(NamedTuple):
    """What an import leads to. What it was found by is a few words that explain it to a reader."""

    origin: str
    paths: tuple[str, ...] = ()  # the repository's files, best first (a stub behind its source)
    package: str = ""  # the distribution, module or header family, where it is not the repository's
    by: str = ""  # "relative import", "source root src", "include root aten/src"


class Links(NamedTuple):
    """What a file's names mean: claims, each with how sure it is and which resolver made it.

    A symbol's id is a number: its file's base, plus one, plus its place among the file's symbols. A file's base is the
    id of the file itself.
    """

    use: bytes = b""  # an expression of the file's flow, rising; one with several rows has its best target first
    target: bytes = b""  # an id
    trust: bytes = b""
    by: bytes = b""  # places in `resolvers`
    resolvers: tuple[str, ...] = ()
    imports: tuple[Target, ...] = ()  # one for each import of the file


class Term(NamedTuple):
    """A word or phrase worth an index entry."""

    text: str
    kind: str  # "name", "word", "phrase", "acronym"
    times: int
    line: int  # where it first stands
    stands_for: str = ""  # of an acronym


class Finding(NamedTuple):
    """Something noticed about a stretch of a file."""

    by: str  # the rule or reader that says so
    severity: str
    message: str
    line: int
    col: int = 1
    end_line: int = 0
    subject: str = ""  # the key of the function or class around
    everywhere: bool = True  # whether it is worth saying in tests and benchmarks, too


@dataclass(frozen=True)
class Rule:
    """What is looked for in files, and why."""

    id: str  # "C-STRCPY"; ruff's as ruff writes it: "S301"
    title: str
    category: str  # "performance" or "security"
    severity: str
    why: str
    bad: str  # code that it finds …
    good: str  # … and what to write in its place
    languages: tuple[str, ...]  # empty for every text
    tool: str
    tests: bool  # whether it is looked for in tests and benchmarks, too


class End(NamedTuple):
    """One end of a bridge: where a file names what another language, a table or a program knows by that name."""

    bridge: str  # who reads it and joins it: "pybind"
    says: str  # what is said there, in a word of that bridge's own: "binds"
    name: str  # what both ends call it: "aten::add.Tensor"
    line: int
    col: int
    symbol: int = -1  # the innermost symbol around, -1 for none
    text: str = ""  # what stands for it on this side, as it is written: "THPModule_add"
    more: tuple[tuple[str, str], ...] = ()  # what else the bridge needs to know, by its own words


class Ask(NamedTuple):
    """A dotted name of Python that the repository's Python does not define: another language may."""

    name: str  # "torch._C._add"
    user: int  # the id of the symbol around, or of the file
    roles: int  # as bits by place in ROLES
    times: int


class Bridge(NamedTuple):
    """Two ends that were joined: a claim, as every link is."""

    bridge: str
    says: str
    name: str
    source: int  # the id of the symbol or file whose text says so
    end: int  # which of its file's ends that is, -1 where it is a name of Python that asks
    target: int  # the id of what is on the other side, 0 where that is not in the repository
    trust: int
    by: str  # why, in a few words
    role: str = ""  # a Role, where the source uses the target: of a call, who runs the one runs the other
    more: tuple[tuple[str, str], ...] = ()


class Metrics(NamedTuple):
    """Counts of one file."""

    lines: int = 0
    code: int = 0
    comment: int = 0
    blank: int = 0
    blanked: int = 0  # bytes of macros taken out before parsing
    errors: int = 0  # bytes inside stretches that the parser gave up on


class FileFacts(NamedTuple):
    """All that one file says, by itself."""

    symbols: tuple[Symbol, ...] = ()
    scopes: tuple[Scope, ...] = ()
    occurrences: Occurrences = Occurrences()
    imports: tuple[Import, ...] = ()
    terms: tuple[Term, ...] = ()
    findings: tuple[Finding, ...] = ()
    metrics: Metrics = Metrics()
    doc: str = ""  # what the file says of itself: module docstring, leading comment
    exports: tuple[str, ...] | None = None  # the names a file says it offers, where it says so
    complexity: bytes = b""  # per symbol, how many ways lead through a function, 0 for what is none; packed
    ends: tuple[End, ...] = ()  # stored apart, as the flow is: bridges are joined without the rest
    flow: Flow | None = None  # stored apart: the linker reads it without the rest
