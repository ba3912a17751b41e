"""Python and its stub files: definitions, imports, name bindings and docstrings.

In: the text of a module. Out: a draft whose definitions and imports equal those of CPython's `ast` and whose
bindings equal those of its `symtable` (the tests compare with both) for every file that CPython can parse. Of any
other file (newer syntax, Python 2, a file in the middle of an edit) it holds as much as can be read. The same parser
is used for both kinds of file, because two readers could disagree.
"""

from __future__ import annotations

import re
from functools import partial

from tree_sitter import Tree

from concordance.base.model import Language
from concordance.extract.python import definitions, flow, occurrences
from concordance.extract.reading import trees
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "python",
    "Python",
    extensions=(".py", ".pyi", ".pyw", ".py3"),
    filenames=("SConstruct", "SConscript", "wscript"),
    interpreters=("python", "pypy"),
)

_NAMES = """
(identifier) @name
(comment) @comment
(class_definition) @class
(function_definition) @function
(decorated_definition) @decorated
(lambda) @lambda
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @comprehension
(attribute attribute: (identifier) @member)
(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call))
(class_definition superclasses: (argument_list (identifier) @inherit))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @inherit)))
(class_definition superclasses: (argument_list (subscript value: (identifier) @inherit)))
(class_definition superclasses: (argument_list (subscript value: (attribute attribute: (identifier) @inherit))))
(keyword_argument name: (identifier) @keyword)
(assignment left: (_) @target) @assignment
(augmented_assignment left: (_) @target) @augmented
(for_statement left: (_) @target)
(for_in_clause left: (_) @target)
(as_pattern_target (_) @target)
(named_expression name: (identifier) @walrus)
(delete_statement (_) @target)
(global_statement (identifier) @global)
(nonlocal_statement (identifier) @nonlocal)
(import_statement) @import.statement
(import_from_statement) @import.statement
(future_import_statement) @import.statement
(case_pattern (dotted_name . (identifier) @capture .))
(union_pattern (dotted_name . (identifier) @capture .))
(keyword_pattern (identifier) (dotted_name . (identifier) @capture .))
(keyword_pattern . (identifier) @keyword)
(case_pattern (as_pattern (_) . (identifier) @capture .))
(splat_pattern (identifier) @capture)
(dotted_name (identifier) (identifier) @member)
(assignment left: (tuple_pattern (identifier) @declared) type: (_) !right)
(type) @type
(type (string) @quoted)
(type_alias_statement) @alias
(attribute object: [(call) (subscript) (parenthesized_expression) (string) (list) (dictionary) (tuple)
  (concatenated_string) (list_comprehension)] @receiver)
[(for_statement) (for_in_clause)] @loop
(as_pattern) @as
(named_expression) @named
(block) @block
(with_statement body: (block) @run)
(return_statement) @return
(yield) @yield
["if" "elif" "for" "while" "except" "and" "or"] @branch
(case_clause (case_pattern (_))) @branch
"""

GRAMMAR = trees.Grammar("tree_sitter_python", names=_NAMES)


def read(source: Source) -> Draft:
    """Parse one Python file into a `Draft`."""
    tools = trees.compile_grammar(GRAMMAR)
    draft = Draft(source)
    tree = _tree(tools, draft)
    found = trees.captures(tools.names, tree.root_node)
    draft.comments.extend((node.start_byte, node.end_byte) for node in found.get("comment", ()))
    occurrences.add_names(draft, found)
    occurrences.add_imports(draft, found)
    definitions.add_definitions(draft, tree.root_node, found)
    occurrences.normalise_names(draft)
    draft.branches = [node.start_byte for node in found.get("branch", ())]
    draft.root = tree.root_node
    draft.weave = partial(flow.build_python_flow, root=tree.root_node, found=found)
    return draft


def _tree(tools: trees.Compiled, draft: Draft) -> Tree:
    """Return the syntax tree with the fewest errors, and record the remaining errors in the draft.

    If the text does not parse, it is parsed again after repairs: with lines joined, or without brackets that are
    never closed.
    """
    data = draft.source.data
    tree = tools.parser.parse(data)
    if tree.root_node.has_error:
        joined = tools.parser.parse(join_brackets(data))
        if not joined.root_node.has_error:
            return joined
        text, gone = remove_unclosed(data)
        without = tools.parser.parse(text) if gone else tree
        if gone and trees.error_bytes(without, tools.errors) < trees.error_bytes(tree, tools.errors):
            tree = without
            for start, end in gone:
                draft.problem(start, end, "syntax error: a bracket is never closed")
    trees.note_errors(draft, tree, tools.errors)
    return tree


# --- repairs Python text that the grammar fails on
# In: a file's bytes. Out: bytes of the same length that parse better, so that offsets still fit the original text. Used
# only if the first parse has errors.
#
# There are two repairs. One replaces line ends inside brackets with spaces: indentation there means nothing to Python,
# but ends a block for the grammar. The other removes statements whose bracket is never closed: a line that starts with
# `def` or `class` cannot be inside brackets, and would otherwise be lost in them.


_PIECES = re.compile(
    rb"""(?P<string>[rRbBuUfFtT]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'))"""
    rb"""|(?P<comment>\#[^\r\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>[\r\n]+)""",
    re.S,
)
_FUTURE_STAR = re.compile(rb"__future__(?=\s+import\s*\*)")
_STATEMENT = re.compile(
    rb"[ \t]*(?:@[A-Za-z_]|(?:async[ \t]+)?def[ \t]+\w+[ \t]*[\[(]|class[ \t]+\w+[ \t]*[(:\[]|import[ \t]+\w|"
    rb"from[ \t]+[\w.]+[ \t]+import\b|return\b|raise\b|pass\b|with[ \t]|while[ \t]|try[ \t]*:|del[ \t]|assert[ \t])"
)


def join_brackets(data: bytes) -> bytes:
    """Return the text with each bracketed range on one line."""
    result = bytearray(_FUTURE_STAR.sub(b"__Future__", data))
    depth = 0
    for piece in _PIECES.finditer(data):
        kind = piece.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif depth and kind in ("comment", "end"):
            result[piece.start() : piece.end()] = b" " * (piece.end() - piece.start())
    return bytes(result)


def remove_unclosed(data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Return the text without the statements whose bracket is never closed, and where they were."""
    result = bytearray(data)
    gone: list[tuple[int, int]] = []
    opened: list[int] = []
    line = 0  # start of the logical line
    for piece in _PIECES.finditer(data):
        kind = piece.lastgroup
        if kind == "open":
            opened.append(line)
        elif kind == "close" and opened:
            opened.pop()
        elif kind == "end":
            if opened and _STATEMENT.match(data, piece.end()):
                gone.append((opened[0], piece.start()))
                opened.clear()
            if not opened:
                line = piece.end()
    if opened:
        gone.append((opened[0], len(data)))
    for start, end in gone:
        result[start:end] = re.sub(rb"[^\r\n]", b" ", data[start:end])
    return bytes(result), gone
