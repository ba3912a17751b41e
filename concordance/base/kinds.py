"""The closed lists: kinds of symbols, roles of names, operations of expressions, and other enumerations.

Nothing here computes. `base/model.py` re-exports most of them next to the rows that use them.
"""

from __future__ import annotations

from enum import Flag, IntEnum, StrEnum, auto


class Kind(StrEnum):
    """What a symbol is, across all languages (a closed list)."""

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
    TARGET = "target"  # what a build file builds: Make, CMake, Bazel; a stage of a Dockerfile
    OPERATOR = "op"
    HEADING = "heading"
    LABEL = "label"  # an anchor that text can link to: reST target, YAML anchor
    KEY = "key"  # a key or table of a configuration or data file


FUNCTION_KINDS = frozenset((Kind.FUNCTION, Kind.METHOD))
TYPE_KINDS = frozenset((Kind.CLASS, Kind.STRUCT, Kind.UNION, Kind.ENUM, Kind.INTERFACE))  # kinds that have members
EXECUTABLE_KINDS = frozenset((Kind.FUNCTION, Kind.METHOD, Kind.PROPERTY, Kind.MACRO))  # kinds that can be executed
KINDS: tuple[Kind, ...] = tuple(Kind)  # a flow stores a symbol's kind as an index into this list


class Role(StrEnum):
    """What an occurrence of a name does at its place (a closed list)."""

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
    """The operation that combines the left and the right operand of an expression in a file's flow (a closed list).

    "plus one" makes room for 0, which means none. Nothing here says what an expression refers to: the linker finds that
    out.
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
    OF_TYPE = 9  # left: an expression that names a type; the result is a value of that type
    LITERAL = 10  # left: the name of a built-in type, right: its element: an expression plus one
    PAIR = 11  # left: an expression, right: the rest, an expression plus one      a, b
    SUPER = 12  # left: the enclosing class: a symbol plus one
    PARAMETER = 13  # left: a function: a symbol, right: which of its parameters
    SYMBOL = 14  # left: a symbol of this file
    IMPORT = 15  # left: an import of this file
    PACKAGE = 16  # left: an import of this file, right: how many parts of its module's dotted name
    LOOKUP = 17  # left: a name that nothing in this file binds, right: the scope it occurs in
    CAST = 18  # left: the expression that is cast, right: an expression that names its type


CLOSURE = "||"  # the built-in type (`Op.LITERAL`) of a closure, whose element is what it returns
# `Import.form` of an import inside a module that is written out in a file starts with this; the module's path follows
INLINE_MODULE = "inline "
WHOLE_MODULE = "module.exports"  # what a CommonJS module is, and the name of a function or class that has no other


class SymbolRelation(IntEnum):
    """What an expression says about a symbol."""

    BASE = 0
    DECORATOR = 1
    RETURNS = 2  # its value when it is called
    TYPE = 3  # of a field, variable or parameter list: its declared type
    ASKS = 4  # of a test: a parameter name (a literal) that the test runner fills in: pytest's fixtures
    OFFERS = 5  # of a fixture: the name by which tests request it
    HANDS = 6  # of a function: the defaults of its parameters; of a test or fixture, what its decorators pass to it


ROLES: tuple[Role, ...] = tuple(Role)  # an occurrence stores its role as an index into this list


class Category(StrEnum):
    """The purpose of a file in its repository."""

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
    """The titles of our sections of a file's page, in page order (see `query/sections/file_page`)."""

    PURPOSE = "File Purpose"
    OVERVIEW = "High-Level Overview"
    DESIGN = "Architecture & Design"
    DEPENDENCIES = "Dependencies"
    PATTERNS = "Code Patterns & Idioms"
    PERFORMANCE = "Performance Considerations"
    SECURITY = "Security & Safety"
    TESTING = "Testing & Usage"
    RELATED = "Related Files"


class DocMarkup(Flag):
    """The markup conventions that are usual in the documentation comments of a language."""

    NONE = 0
    REST = auto()  # reStructuredText
    COMMANDS = auto()  # `@param`, `\\brief`
    MARKDOWN = auto()
    GODOC = auto()  # a heading after `#`; what is indented is code
    RUSTDOC = auto()  # what is in a fence without a name is code of the language; so is what is in one called `no_run`
    BRACKET_LINKS = auto()  # `[Name]` refers to a definition
    CALL_LINKS = auto()  # `name()` refers to a definition
    MEMBERS = auto()  # a line `@name: text` describes a member or argument
    KERNEL_DOC = auto()  # the Linux kernel's: `@name` refers to an argument


class Skip(StrEnum):
    """Why a file was not read as text; it stays in the ledger all the same."""

    NONE = ""
    BINARY = "binary"
    TOO_LARGE = "too_large"
    OWN_PAGE = "own_page"  # written by this program
    SYMLINK = "symlink"  # documented at its target, if that is in the repository
    SUBMODULE = "submodule"  # another repository
    UNREADABLE = "unreadable"


class Origin(StrEnum):
    """Where an imported module or header comes from."""

    REPOSITORY = "repository"
    STANDARD = "standard"  # the language's own library, the compiler's headers
    THIRD_PARTY = "third_party"
    GENERATED = "generated"  # produced by the repository's own build, not in the tree
    UNRESOLVED = "unresolved"


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Trust(IntEnum):
    """How certain a link is."""

    CANDIDATE = 0
    UNIQUE_NAME = 1
    VIA_IMPORT = 2
    EXACT = 3


ONLY_DEFINITION = "only definition of this name"  # the reason of a link that nothing but the name decides
MAX_CANDIDATES = 5  # the most definitions of a name that are linked as candidates

C_FAMILY = ("c", "cpp", "cuda", "objc", "objcpp")  # languages that share headers
