"""The closed lists: kinds of symbols, roles of names, ways of expressions, and what else has a few values only.

Nothing here computes. `base/model.py` offers them together with the rows that hold them.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


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


TYPES = frozenset((Kind.CLASS, Kind.STRUCT, Kind.UNION, Kind.ENUM, Kind.INTERFACE))  # what has members
RUN = frozenset((Kind.FUNCTION, Kind.METHOD, Kind.PROPERTY, Kind.MACRO))  # what runs
KINDS: tuple[Kind, ...] = tuple(Kind)  # a flow stores a symbol's kind as a place in this list


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


class Op(IntEnum):
    """How an expression of a file's flow is made of a left and a right (a closed list).

    "plus one" makes room for 0, which is none. Nothing here says what an expression means: that is
    the linker's to find out.
    """

    UNKNOWN = 0
    NAME = 1  # left: a variable
    MEMBER = 2  # left: an expression, right: a name          a.b
    CALL = 3  # left: an expression, right: Python: the first argument's expression plus one; C: number of arguments
    ITEM = 4  # left: an expression, right: the index's expression plus one
    EACH = 5  # left: an expression that is iterated over
    PART = 6  # left: an expression that is unpacked, right: which part
    ENTER = 7  # left: an expression that `with` enters
    EITHER = 8  # left, right: expressions
    OF_TYPE = 9  # left: an expression that names a type: a value of that type
    LITERAL = 10  # left: the name of the language's own type, right: what it holds: an expression plus one
    PAIR = 11  # left: an expression, right: the rest, an expression plus one      a, b
    SUPER = 12  # left: the class around: a symbol plus one
    PARAMETER = 13  # left: a function: a symbol, right: which of its parameters
    SYMBOL = 14  # left: a symbol of this file
    IMPORT = 15  # left: an import of this file
    PACKAGE = 16  # left: an import of this file, right: so many parts of its module's dotted name
    LOOKUP = 17  # left: a name that nothing in this file binds, right: the scope it stands in
    CAST = 18  # left: an expression whose value is meant, right: an expression that names its type


class Given(IntEnum):
    """What an expression says of a symbol."""

    BASE = 0
    DECORATOR = 1
    RETURNS = 2  # its value when it is called
    TYPE = 3  # of a field, variable or parameter list: its declared type
    ASKS = 4  # of a test: a name (a literal) that whoever runs it fills in: pytest's fixtures
    OFFERS = 5  # of a fixture: the name that it is asked for by
    HANDS = 6  # of a test or fixture: what its decorators hand to it: the values of a parameter


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


class Section(StrEnum):
    """The sections of a file's page that can be left out of a book, by their titles, in their order."""

    PURPOSE = "File Purpose"
    OVERVIEW = "High-Level Overview"
    DESIGN = "Architecture & Design"
    DEPENDENCIES = "Dependencies"
    PATTERNS = "Code Patterns & Idioms"
    PERFORMANCE = "Performance Considerations"
    SECURITY = "Security & Safety"
    TESTING = "Testing & Usage"
    RELATED = "Related Files"


class Skip(StrEnum):
    """Why a file was not read as text; it stays in the ledger."""

    NONE = ""
    BINARY = "binary"
    TOO_LARGE = "too_large"
    OWN_PAGE = "own_page"  # written by this program
    SYMLINK = "symlink"  # documented where it points to, if that is in the repository
    SUBMODULE = "submodule"  # another repository
    UNREADABLE = "unreadable"


class Origin(StrEnum):
    """Where what an import names comes from."""

    REPOSITORY = "repository"
    STANDARD = "standard"  # the language's own library, the compiler's headers
    THIRD_PARTY = "third_party"
    GENERATED = "generated"  # made by the repository's own build, not in the tree
    UNRESOLVED = "unresolved"


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
