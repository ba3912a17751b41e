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
from enum import IntEnum, StrEnum
from itertools import accumulate
from typing import NamedTuple


class Kind(StrEnum):
    """What a symbol is, over all languages (a closed list)."""

    MODULE = "module"
    NAMESPACE = "namespace"  # C++ namespace, Go or Java package, Rust mod, proto package
    CLASS = "class"
    STRUCT = "struct"  # also a proto message
    UNION = "union"
    ENUM = "enum"
    ENUMERATOR = "enumerator"
    INTERFACE = "interface"  # also a Rust trait, Objective-C protocol, proto service
    FUNCTION = "function"
    METHOD = "method"  # also constructors, destructors, operators of a class, a proto rpc
    PROPERTY = "property"
    FIELD = "field"
    VARIABLE = "variable"
    CONSTANT = "constant"
    TYPE = "type"  # typedef, using, type alias
    MACRO = "macro"
    TARGET = "target"  # what a build file builds: Make, CMake, Bazel; a Dockerfile's stage
    OPERATOR = "op"
    HEADING = "heading"
    LABEL = "label"  # an anchor that prose can be linked at: reST target, YAML anchor
    KEY = "key"  # a key or table of a configuration or data file


class Role(StrEnum):
    """What an occurrence of a name does there (a closed list)."""

    DEFINE = "define"
    DECLARE = "declare"
    CALL = "call"
    READ = "read"
    WRITE = "write"
    IMPORT = "import"
    INHERIT = "inherit"
    OVERRIDE = "override"
    TYPE = "type"
    MENTION = "mention"


ROLES: tuple[Role, ...] = tuple(Role)  # an occurrence stores its role as a place in this list


class Category(StrEnum):
    """What a file is for in its repository."""

    SOURCE = "source"
    TEST = "test"
    EXAMPLE = "example"
    BENCHMARK = "benchmark"
    BUILD = "build"
    CONFIGURATION = "configuration"
    DOCUMENTATION = "documentation"
    DATA = "data"
    GENERATED = "generated"
    VENDORED = "vendored"


class Skip(StrEnum):
    """Why a file was not read as text; it stays in the ledger."""

    NONE = ""
    BINARY = "binary"
    TOO_LARGE = "too_large"
    OWN_PAGE = "own_page"  # written by this program
    SYMLINK = "symlink"  # documented where it points to, if that is in the repository
    SUBMODULE = "submodule"  # another repository
    UNREADABLE = "unreadable"


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Trust(IntEnum):
    """How sure a link is."""

    CANDIDATE = 0
    UNIQUE_NAME = 1
    VIA_IMPORT = 2
    EXACT = 3


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


class Entry(NamedTuple):
    """A file as the walk finds it, before it is opened."""

    path: str  # relative, "/" between parts; undecodable bytes as surrogate escapes
    size: int
    changed: int  # modification time in nanoseconds
    skip: Skip = Skip.NONE  # SYMLINK or SUBMODULE, where the walk can tell
    note: str = ""  # where a symlink points, which commit a submodule is at
    blob: str = ""  # git's object id, where the source is a revision


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
    changed: int


class Change(NamedTuple):
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


class DocPart(NamedTuple):
    """One entry of a structured documentation comment."""

    section: str  # "parameter", "returns", "yields", "raises", "attribute"
    name: str
    type: str
    text: str


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
    doc_parts: tuple[DocPart, ...] = ()


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
    subject: str = ""


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
