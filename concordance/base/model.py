"""Every data type that passes between stages; nothing here computes.

Rows are NamedTuples: cheap to create by the million, and the store and the cache take them as they are. Configuration
is held in frozen dataclasses. Lines and columns are 1-based; columns count code points, and a byte order mark is not a
column.

Facts about a file depend only on its content and language, never on its path, so that they can be cached by content.
That is why a symbol's `key` is only the part of its id behind `path#`.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, Protocol, TypeVar

from concordance.base.kinds import EXECUTABLE_KINDS as EXECUTABLE_KINDS
from concordance.base.kinds import KINDS as KINDS
from concordance.base.kinds import MAX_CANDIDATES as MAX_CANDIDATES
from concordance.base.kinds import ONLY_DEFINITION as ONLY_DEFINITION
from concordance.base.kinds import ROLES as ROLES
from concordance.base.kinds import TYPE_KINDS as TYPE_KINDS
from concordance.base.kinds import Category as Category
from concordance.base.kinds import DocMarkup as DocMarkup
from concordance.base.kinds import Kind as Kind
from concordance.base.kinds import Op as Op
from concordance.base.kinds import Origin as Origin
from concordance.base.kinds import Role as Role
from concordance.base.kinds import Severity as Severity
from concordance.base.kinds import Skip as Skip
from concordance.base.kinds import SymbolRelation as SymbolRelation
from concordance.base.kinds import Trust as Trust

Parsed = TypeVar("Parsed")


class RunnerFiles(Protocol):
    """The files of a repository, for whoever looks up how its tests are run."""

    def text(self, path: str, limit: int = ...) -> bytes:
        """Return the first bytes of a file, or the last if `limit` is negative; empty if there is no such file."""

    def parsed(self, path: str, parse: Callable[[bytes], Parsed]) -> Parsed:
        """Return what `parse` makes of a file; the result is cached."""

    def nearest(self, path: str, *names: str) -> Iterator[str]:
        """Yield the files with the given names in a file's folder and those above, nearest first."""

    def named(self, name: str) -> Sequence[str]:
        """Return the paths of all files of a name, sorted."""


@dataclass(frozen=True)
class TestConventions:
    """How the tests of a language are recognised and run."""

    # The indices of the symbols that are tests, given a file's facts and its path; None: its tests are not recognised.
    find: Callable[[FileFacts, str], list[int]] | None = None
    beside_code: bool = False  # True if tests are also in the files that they test, False if only in test files
    # If tests have no names of their own, so that a whole file counts as one: True if the file of a path is a test.
    is_whole_test: Callable[[str], bool] | None = None
    # Given the path of a test file, a function from a test's qualified name, or "" for the whole file, to the command
    # that runs it; None if no file says how to run it.
    command: Callable[[RunnerFiles, str], Callable[[str], str] | None] | None = None
    # The command that runs all tests of the repository from its root; "" if no file there says how to run them.
    command_for_all: Callable[[RunnerFiles], str] | None = None
    settings: tuple[str, ...] = ()  # names of the files that `command` reads, and endings: ".cmake"
    # True if a class is run by itself, given its name and its bases as written; the tests of others run in subclasses.
    is_test_class: Callable[[str, Sequence[str]], bool] | None = None

    def is_test_file(self, category: str, path: str) -> bool:
        """True if a file counts as a test as a whole."""
        return category == Category.TEST and self.is_whole_test is not None and self.is_whole_test(path)

    def tests_in(self, facts: FileFacts, category: str, path: str) -> list[int]:
        """Return the indices of a file's symbols that are tests, by the rules that test runners use."""
        if self.find is None or (category != Category.TEST and not self.beside_code):
            return []
        return self.find(facts, path)


class VariableAccess(NamedTuple):
    """One way in which the programs of a language access an environment variable."""

    says: str  # "reads", "sets" or "removes"
    # A regular expression over a file's bytes. Its group `name` is the variable; LITERAL stands for a string literal or
    # the name of a constant, VALUE for a literal alone. Matches in strings and comments do not count.
    pattern: bytes
    mark: bytes = b""  # occurs in every text that matches


@dataclass(frozen=True)
class Language:
    """What the program needs to know about one language besides how to parse it; each language's plug-in defines its
    own. The first fields say how its files are recognised, the others how they are linked and shown."""

    name: str  # as stored: "cpp"
    title: str  # as people write it: "C++"
    extensions: tuple[str, ...] = ()  # with the dot, lower case; the longest match wins: ".d.ts" before ".ts"
    filenames: tuple[str, ...] = ()  # whole names or globs: "BUILD", "Dockerfile.*"
    interpreters: tuple[str, ...] = ()  # of a "#!" line, without a version: "python"
    separator: str = "."  # between the parts of a qualified name
    has_macros: bool = False  # True if its reader is given the repository's macros
    has_prototypes: bool = False  # True if something can be declared in one file and defined in another
    category: Category = Category.SOURCE  # the usual purpose of its files
    aliases: tuple[str, ...] = ()  # other names for it, in modelines and on fenced code blocks
    fence: str = ""  # its name on a fenced code block, if that is not `name`
    tests: TestConventions = TestConventions()
    environment: tuple[VariableAccess, ...] = ()
    environment_marks: tuple[bytes, ...] = ()  # a file without any of these accesses no environment variable
    is_indented: bool = False  # True if its blocks are marked by indentation
    has_semicolons: bool = False  # True if its statements end with a semicolon
    is_markup: bool = False  # True if its files are documents with headings, links and code blocks
    is_keyed: bool = False  # True if its files are data, and its symbols their keys
    imports_folders: bool = False  # True if an import refers to all files of a folder
    imports_by_name: bool = False  # True if what is imported is a name, and linked as one
    import_verb: str = "imports"
    base_verb: str = "extends"  # what a type does with its bases
    heir_verb: str = "extended"  # what is done to a base
    heir_noun: tuple[str, str] = ("subclass", "subclasses")  # a type that does so, and several
    write_import: Callable[[Import], str] | None = None  # an import as one would write it for one name
    reexports: bool = False  # True if a file can offer what it imports under its own name
    orders_bases: bool = False  # True if a class has a method resolution order
    constructor: str = ""  # the method that calling a class calls
    # What a search for uses of its files cannot see, in words; "" if imports and names of the language are not linked.
    unseen: str = ""
    has_private: bool = True  # False if only a leading underscore makes a name private
    doc_markup: DocMarkup = DocMarkup.NONE
    doc_inside: bool = False  # True if documentation is inside of what it documents
    doc_code: str = ""  # the language, on a fence, of code in documentation that does not name it


class ListedFile(NamedTuple):
    """A file as the walk finds it, before it is opened."""

    path: str  # relative, "/" between parts; undecodable bytes as surrogate escapes
    size: int
    changed: int  # modification time in nanoseconds
    skip: Skip = Skip.NONE  # SYMLINK or SUBMODULE, if the walk can tell
    note: str = ""  # target of a symlink, or commit of a submodule
    blob: str = ""  # git's object id, if the source is a revision
    altered: int = 0  # change time in nanoseconds (content, owner or permissions last changed); -1 if not known
    inode: int = 0


class Form(NamedTuple):
    """What a file's name and bytes reveal about it."""

    language: str
    category: Category
    encoding: str  # "" if the file is binary
    type: str  # for people: "Python source", "PNG image"
    skip: Skip
    note: str = ""  # the reason behind `skip`, or what is odd about the encoding


class File(NamedTuple):
    """One row of the ledger, which lists every file of the repository."""

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
    altered: int = 0  # … change time and inode, which cannot be set: all three and the size together reveal an edit
    inode: int = 0


class FileHistory(NamedTuple):
    """The git history of one file."""

    path: str
    commits: int
    authors: tuple[tuple[str, int], ...]  # most active first
    first: int  # seconds since the epoch
    last: int
    together: tuple[tuple[str, int], ...]  # files changed in the same commits, most often first


class Parameter(NamedTuple):
    """One parameter of a function, as written."""

    name: str
    kind: str  # "positional-only", "positional", "*", "keyword-only", "**"; "" if the language has only one kind
    annotation: str = ""
    default: str = ""


class Symbol(NamedTuple):
    """A definition or declaration."""

    key: str  # "Outer.inner"; a second symbol of the same name gets the suffix "+2"
    kind: str
    name: str
    parent: int  # index into the file's symbols, -1 for none
    line: int  # of its name
    col: int
    start_line: int  # of the whole definition, including decorators and template header
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
    """A region of the text in which names are bound. The first scope of a file is the file itself."""

    kind: str  # "module", "namespace", "class", "function", "lambda", "comprehension", "block"
    parent: int  # index into the file's scopes, -1 for the file itself
    symbol: int  # the symbol that owns the scope, -1 for none
    line: int
    end_line: int


class Occurrence(NamedTuple):
    """A name at one place in the text."""

    line: int
    col: int
    name: str
    role: Role
    scope: int  # the scope that contains it
    bound: int  # the scope of this file that binds it, -1 if none does or if it has a receiver
    receiver: int  # index of its receiver (`a` for `b` in `a.b`), -1 for none, -2 if the receiver is an expression


class Occurrences(NamedTuple):
    """All occurrences of a file in text order, as columns.

    A repository can have ten million occurrences, which are read one file at a time and never looked up singly, so the
    occurrences of a file are one value in the store. A column is an array of the narrowest type that holds it
    (`pack_column`). Offsets count code points; the line lengths turn them into lines and columns.
    """

    names: tuple[str, ...] = ()  # without duplicates
    name: bytes = b""  # indexes into `names`
    step: bytes = b""  # distance from the start of the previous occurrence
    role: bytes = b""  # indexes into ROLES
    scope: bytes = b""
    bound: bytes = b""  # plus one, so that 0 means none
    receiver: bytes = b""  # 0: no receiver, 1: the previous occurrence, 2: an expression
    lengths: bytes = b""  # of the lines, including their line ends
    use: bytes = b""  # the expression of the file's flow that ends here, plus one; empty if there is no flow

    def rows(self) -> Iterator[Occurrence]:
        """Yield each occurrence, unpacked."""
        count = len(self.role)
        starts = [0, *accumulate(unpack_column(self.lengths))]
        columns = zip(
            unpack_column(self.name, count),
            accumulate(unpack_column(self.step, count)),
            self.role,
            unpack_column(self.scope, count),
            unpack_column(self.bound, count),
            self.receiver,
            strict=True,
        )
        for place, (name, offset, role, scope, bound, hangs) in enumerate(columns):
            line = bisect_right(starts, offset)
            receiver = -1 if not hangs else place - 1 if hangs == 1 else -2
            yield Occurrence(
                line, offset - starts[line - 1] + 1, self.names[name], ROLES[role], scope, bound - 1, receiver
            )

    def names_and_roles(self) -> Iterator[tuple[int, int]]:
        """Yield each occurrence's indexes into `names` and into ROLES."""
        return zip(unpack_column(self.name, len(self.role)), self.role, strict=True)


def is_overload(modifiers: tuple[str, ...]) -> bool:
    """True for a function that only declares one signature of another, by Python's `@overload`."""
    return any(modifier == "overload" or modifier.endswith(".overload") for modifier in modifiers)


def role_bit(role: Role) -> int:
    """Return the bit of a role in a set of roles, such as `Flow.roles`."""
    return 1 << ROLES.index(role)


def pack_column(values: list[int]) -> bytes:
    """Encode non-negative integers as an array of the narrowest type; the last byte is the type's letter."""
    try:
        return bytes(values) + b"B"
    except ValueError:  # one of them is too large; trying is cheaper than searching for the largest first
        pass
    with suppress(struct.error):
        return struct.pack(f"{len(values)}H", *values) + b"H"
    return struct.pack(f"{len(values)}I", *values) + b"I"


def unpack_column(column: bytes, count: int = -1) -> array[int]:
    """Decode a column; raise ValueError if it does not have the expected number of values."""
    values = array(chr(column[-1]) if column else "B", column[:-1])
    if 0 <= count != len(values):
        raise ValueError(f"a column has {len(values)} values instead of {count}")
    return values


class Import(NamedTuple):
    """One name, or one whole module, imported from elsewhere, as written."""

    line: int
    col: int
    module: str  # "..nn", "ATen/ATen.h"
    name: str = ""  # "" for the module itself, "*" for all of its names
    alias: str = ""
    scope: int = 0
    condition: str = ""
    form: str = ""  # "system" for #include <…>, "local" for #include "…", "export" for JavaScript's export … from


class Flow(NamedTuple):
    """The expressions that a file's names are part of, for the linker: each distinct expression once, as columns.

    An occurrence of a name says which expression it ends (`Occurrences.use`), so what the linker finds out about an
    expression holds wherever it occurs. A variable is a name in a scope. The first `whole` variables hold everything
    that is bound to their name; the others hold only what reaches a certain region of the text.
    """

    names: tuple[str, ...] = ()
    op: bytes = b""  # the expressions: an Op and its two operands, left and right
    left: bytes = b""
    right: bytes = b""
    whole: int = 0
    variable_scope: bytes = b""
    variable_name: bytes = b""
    variable_symbol: bytes = b""  # the symbol that the variable is, plus one
    bound_variable: bytes = b""  # the values bound to variables, in text order
    bound_value: bytes = b""
    scope_kind: tuple[str, ...] = ()
    scope_parent: bytes = b""  # plus one
    scope_symbol: bytes = b""  # plus one
    symbol_kind: bytes = b""  # indexes into KINDS
    symbol_name: bytes = b""
    symbol_parent: bytes = b""  # plus one
    given_symbol: bytes = b""  # what expressions say about symbols: see `Given`
    given_what: bytes = b""
    given_value: bytes = b""
    user: bytes = b""  # the enclosing symbol, plus one …
    used: bytes = b""  # … an expression that is used in it as a name …
    roles: bytes = b""  # … and the roles it has there, one bit for each index into ROLES
    imports: tuple[Import, ...] = ()
    exports: tuple[str, ...] | None = None
    # Of symbols, for languages that declare and define in different files; empty for other languages:
    symbol_flags: bytes = b""  # bits whose meaning is up to the language
    symbol_within: bytes = b""  # the qualifier where it is defined, plus one: "A::B" of `void A::B::f() {}`
    symbol_arity: bytes = b""  # the minimum number of arguments, plus 256 times the maximum
    symbol_form: bytes = b""  # a digest of the parameters' types
    times: bytes = b""  # how often each pair of `user` and `used` occurs in the file


class Target(NamedTuple):
    """What an import resolves to, and how that was found out."""

    origin: str
    paths: tuple[str, ...] = ()  # files of the repository, best first (a stub after its source)
    package: str = ""  # the distribution, module or header family, if it is not part of the repository
    by: str = ""  # how it was found, for readers: "relative import", "source root src", "include root aten/src"


class Links(NamedTuple):
    """What the names of a file refer to: claims, each with its trust and the resolver that made it.

    Files and symbols have numbers as ids, which `facts/symbol_ids.py` gives them.
    """

    use: bytes = b""  # an expression of the file's flow, ascending; if it has several rows, the best target is first
    target: bytes = b""  # an id
    trust: bytes = b""
    by: bytes = b""  # indexes into `resolvers`
    resolvers: tuple[str, ...] = ()
    imports: tuple[Target, ...] = ()  # one for each import of the file


class Term(NamedTuple):
    """A word or phrase worth an index entry."""

    text: str
    kind: str  # "name", "word", "phrase", "acronym"
    times: int
    line: int  # of its first occurrence
    stands_for: str = ""  # the expansion of an acronym


class Finding(NamedTuple):
    """Something worth reporting about a region of a file."""

    by: str  # the rule or reader that reported it
    severity: str
    message: str
    line: int
    col: int = 1
    end_line: int = 0
    subject: str = ""  # the key of the enclosing function or class
    everywhere: bool = True  # True if it is worth reporting in tests and benchmarks, too


@dataclass(frozen=True)
class Rule:
    """What to look for in files, and why."""

    id: str  # "C-STRCPY"; ruff's as ruff writes it: "S301"
    title: str
    category: str  # "performance" or "security"
    severity: str
    why: str
    bad: str  # code that the rule reports …
    good: str  # … and what to write instead
    languages: tuple[str, ...]  # empty: every text file
    tool: str
    tests: bool  # True if the rule also applies to tests and benchmarks


class End(NamedTuple):
    """One end of a bridge: a place that names something which another language, a table or a program knows by that
    name."""

    bridge: str  # the bridge that reads and joins it: "pybind"
    says: str  # what the place does, in a word of that bridge's vocabulary: "binds"
    name: str  # the name that both ends use: "aten::add.Tensor"
    line: int
    col: int
    symbol: int = -1  # the innermost enclosing symbol, -1 for none
    text: str = ""  # the name on this side, as written: "THPModule_add"
    more: tuple[tuple[str, str], ...] = ()  # further data that the bridge needs, by its own keys


class ForeignName(NamedTuple):
    """A dotted Python name that the repository's Python code does not define: another language may define it."""

    name: str  # "torch._C._add"
    user: int  # the id of the enclosing symbol, or of the file
    roles: int  # one bit for each index into ROLES
    times: int


class Bridge(NamedTuple):
    """Two ends that were joined. Like every link, it is a claim."""

    bridge: str
    says: str
    name: str
    source: int  # the id of the symbol or file in which it is written
    end: int  # the index of the end among its file's ends, -1 if the source is a Python name (`ForeignName`)
    target: int  # the id of the other side, 0 if that is not in the repository
    trust: int
    by: str  # why, in a few words
    role: str = ""  # a Role, if the source uses the target; CALL: running the source runs the target
    more: tuple[tuple[str, str], ...] = ()


class Metrics(NamedTuple):
    """Counts of one file."""

    lines: int = 0
    code: int = 0
    comment: int = 0
    blank: int = 0
    blanked: int = 0  # bytes of macros taken out before parsing
    errors: int = 0  # bytes inside regions that could not be parsed


class PatternPlace(NamedTuple):
    """A place that shows a design pattern or an idiom."""

    pattern: str
    line: int
    symbol: int = -1  # the position of the symbol concerned, -1 if it is not a symbol
    subject: str = ""  # the name of what is concerned if it is not a symbol
    detail: str = ""  # for instance "frozen"


class FileFacts(NamedTuple):
    """Everything that can be read from one file alone."""

    symbols: tuple[Symbol, ...] = ()
    scopes: tuple[Scope, ...] = ()
    occurrences: Occurrences = Occurrences()
    imports: tuple[Import, ...] = ()
    terms: tuple[Term, ...] = ()
    findings: tuple[Finding, ...] = ()
    metrics: Metrics = Metrics()
    doc: str = ""  # the file's description of itself: module docstring, leading comment
    exports: tuple[str, ...] | None = None  # the names that the file declares as its exports; None if it declares none
    complexity: bytes = b""  # per symbol: cyclomatic complexity of a function, 0 for anything else; packed
    patterns: tuple[PatternPlace, ...] = ()
    ends: tuple[End, ...] = ()  # stored separately, as the flow is: bridges are joined without reading the rest
    flow: Flow | None = None  # stored separately: the linker reads it without the rest
