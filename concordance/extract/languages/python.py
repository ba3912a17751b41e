"""Python and its stub files: definitions, imports, name bindings and docstrings.

In: the text of a module. Out: a draft whose definitions and imports equal those of CPython's `ast` and whose
bindings equal those of its `symtable` (the tests compare with both) for every file that CPython can parse. Of any
other file (newer syntax, Python 2, a file in the middle of an edit) it holds as much as can be read. The same parser
is used for both kinds of file, because two readers could disagree.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Sequence
from functools import partial

from tree_sitter import Tree

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import (
    DocMarkup,
    FileFacts,
    Import,
    Kind,
    Language,
    RunnerFiles,
    Symbol,
    TestConventions,
    VariableAccess,
)
from concordance.extract.python import definitions, flow, occurrences
from concordance.extract.reading import trees
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

# How tests are recognised and run. The end of a test file itself (`run_tests()`) decides first how it is run, then the
# settings of pytest, `unittest.main()`, then the scripts of projects that have their own runner.

_FRAMEWORKS = frozenset(("pytest", "unittest", "hypothesis", "nose"))
_WHOLE = 4_000_000  # bytes of a test file that are read
_HEAD = 20_000  # bytes of it at its start (imports) and at its end (`__main__`) that say how it is run
_MIXIN = re.compile(r"Test\w*(?:Mixin|Base|er|Suite)$|(?:Base|Abstract|Common)\w*Test")  # tests for others to inherit
_DEVICE_CLASSES = re.compile(rb"^[ \t]*instantiate_device_type_tests\(\s*(\w+)", re.M)
_PARAMETRISED = re.compile(
    rb"^[ \t]+@parametrize\w*\((?:[^\n]*\n)(?:(?![ \t]*(?:def|class)\b)[^\n]*\n)*?[ \t]+def (test\w*)", re.M
)
_MAIN = re.compile(rb"""^if __name__ == ["']__main__["']:[ \t]*(?:#.*)?\n((?:[ \t]+.*\n?|\s*\n)+)""", re.M)
_OWN_MAIN = re.compile(rb"\brun_tests\s*\(")
_UNITTEST_MAIN = re.compile(rb"\b(?:run_tests|unittest\.main|absltest\.main|TestProgram)\s*\(")
# PyTorch's way to say that the tests of a file are run by a script that imports them.
_OTHER_MAIN = re.compile(rb"""(?:raise_on_run_directly\(\s*["']|use:[\\nt]*python )([\w./-]+\.py)\b""")
_PYTEST_FILES = (("pytest.ini", b""), (".pytest.ini", b""), ("pyproject.toml", b"[tool.pytest"),
                 ("tox.ini", b"[pytest]"), ("setup.cfg", b"[tool:pytest]"), ("conftest.py", b""))  # fmt: skip
_MENTIONS = ("pyproject.toml", "tox.ini", "setup.cfg", "setup.py", "noxfile.py", "Makefile", "requirements.txt",
             "requirements-dev.txt", "dev-requirements.txt", "test-requirements.txt")  # fmt: skip
_SCRIPTS = (("runtests.py", "python {}"), ("manage.py", "python {} test"))


def _tests(facts: FileFacts, path: str) -> list[int]:
    symbols = facts.symbols
    extended = {base.rpartition(".")[2] for symbol in symbols for base in symbol.bases}
    tests = [place for place, symbol in enumerate(symbols) if _is_test(symbol, symbols, extended)]
    return tests if _is_collected(facts, path) else [place for place in tests if symbols[place].kind == Kind.METHOD]


def _is_test(symbol: Symbol, symbols: tuple[Symbol, ...], extended: Collection[str]) -> bool:
    """True for a test function or method; a class of methods may run only where a subclass, here or in another file,
    inherits them."""
    is_fixture = any("fixture" in modifier for modifier in symbol.modifiers)
    if symbol.kind not in FUNCTION_KINDS or not symbol.name.startswith("test") or is_fixture:
        return False
    around = symbols[symbol.parent] if symbol.parent >= 0 else None
    if around is None or around.kind != Kind.CLASS:
        return around is None
    return bool(around.bases or around.name.startswith("Test") or around.name in extended or _MIXIN.search(around.name))


def _is_test_class(name: str, bases: Sequence[str]) -> bool:
    """True if pytest or unittest runs the tests of a class: unittest by its base, pytest also by its name."""
    is_named = name.startswith("Test") and not name.endswith(("Mixin", "Base"))
    return is_named or any(base.partition("[")[0].endswith(("TestCase", "TestBase")) for base in bases)


def _is_collected(facts: FileFacts, path: str) -> bool:
    """True if a test runner collects functions of this file; a `tests.py` may also be ordinary code about tests."""
    name = path.rpartition("/")[2]
    if name.startswith("test_") or name.endswith("_test.py"):
        return True
    return any(imported.module.partition(".")[0] in _FRAMEWORKS for imported in facts.imports)


def _test_command(files: RunnerFiles, path: str) -> Callable[[str], str] | None:
    text = files.text(path, _WHOLE)
    main = _MAIN.search(text[-_HEAD:])
    has_pytest = _has_pytest(files, path) or b"import pytest" in text[:_HEAD]

    def with_pytest(name: str) -> str:
        return f"pytest {shlex.quote('::'.join([path, *filter(None, name.split('.'))]))}"

    other = _OTHER_MAIN.search(main.group(1)) if main is not None else None
    script = other.group(1).decode() if other is not None else path
    pattern = _OWN_MAIN if _is_configured(files, path) else _UNITTEST_MAIN
    if (other is not None and files.text(script)) or (main is not None and pattern.search(main.group(1))):
        generated = _generated_tests(text)

        def with_main(name: str) -> str:
            if "." not in name:  # `unittest` runs no functions outside of classes, and another script runs other files
                return f"python {shlex.quote(path)}" if not name and script == path else with_pytest(name)
            return f"python {shlex.quote(script)} {generated(name) or name}"

        return with_main
    if has_pytest:
        return with_pytest
    for script, started in _SCRIPTS:
        for config in files.nearest(path, script):
            inside = path[len(config) - len(script) :]
            return lambda name: f"{started.format(config)} {_dotted(inside, name)}"
    if re.search(rb"^\s*(?:import|from) unittest\b", text[:_HEAD], re.M):
        return lambda name: f"python -m unittest {_dotted(path, name)}"
    return None


def _generated_tests(text: bytes) -> Callable[[str], str]:
    """Return a function from the name of a test that PyTorch makes others from to the option that selects those.

    A class given to `instantiate_device_type_tests` becomes one class per device: `TestNN` has the tests `TestNNCPU`
    `.test_relu_cpu_float32` and so on. A test under `parametrize` becomes one test per value, in the same class.
    """
    classes = {name.decode() for name in _DEVICE_CLASSES.findall(text)}
    parametrised = (
        {name.decode() for name in _PARAMETRISED.findall(text)} if b"instantiate_parametrized" in text else ()
    )

    def option(name: str) -> str:
        owner, _, test = name.rpartition(".")
        if owner in classes:
            return f"-k '*.{owner}CPU.{test}_cpu*'"
        return f"-k '*.{owner}.{test}_*'" if test in parametrised else ""

    return option


def _has_pytest(files: RunnerFiles, path: str) -> bool:
    """True if pytest is configured for a file, or a file in the repository's root mentions it."""
    return _is_configured(files, path) or any(re.search(rb"\bpytest\b", files.text(name)) for name in _MENTIONS)


def _is_configured(files: RunnerFiles, path: str) -> bool:
    """True if pytest is configured for a file."""
    return any(word in files.text(config) for name, word in _PYTEST_FILES for config in files.nearest(path, name))


def _dotted(path: str, name: str) -> str:
    return ".".join(filter(None, [*path.removesuffix(".py").split("/"), name]))


def _write_import(imported: Import) -> str:
    alias = f" as {imported.alias}" if imported.alias and imported.alias != imported.name else ""
    if imported.name:
        return f"from {imported.module} import {imported.name}{alias}"
    return f"import {imported.module}{alias}"


_ENVIRONMENT = (
    VariableAccess("sets", rb"environ\s*\[\s*LITERAL\s*\]\s*(?:=(?!=)|\+=)", b"environ["),
    VariableAccess("removes", rb"del\s+(?:os\.)?environ\s*\[\s*LITERAL\s*\]", b"environ["),
    VariableAccess("reads", rb"environ\s*\[\s*LITERAL\s*\](?!\s*(?:=(?!=)|\+=))", b"environ["),
    VariableAccess("reads", rb"environ\s*\.\s*get\s*\(\s*LITERAL\s*[,)]", b"environ."),
    VariableAccess("removes", rb"environ\s*\.\s*pop\s*\(\s*LITERAL\s*[,)]", b"environ."),
    VariableAccess("sets", rb"environ\s*\.\s*setdefault\s*\(\s*LITERAL\s*,", b"environ."),
    VariableAccess("reads", rb"getenvb?\s*\(\s*LITERAL\s*[,)]", b"getenv"),
    VariableAccess("sets", rb"putenv\s*\(\s*LITERAL\s*,", b"putenv"),
    VariableAccess("removes", rb"unsetenv\s*\(\s*LITERAL\s*\)", b"unsetenv"),
    VariableAccess(
        "reads", rb"[\"'](?P<name>[A-Za-z_]\w*)[\"']\s+(?:not\s+)?in\s+(?:os\s*\.\s*)?environ\b", b"environ"
    ),
)

LANGUAGE = Language(
    "python",
    "Python",
    unseen="names made at run time",
    extensions=(".py", ".pyi", ".pyw", ".py3"),
    filenames=("SConstruct", "SConscript", "wscript"),
    interpreters=("python", "pypy"),
    aliases=("py", "python3", "pycon"),
    tests=TestConventions(
        find=_tests,
        command=_test_command,
        is_test_class=_is_test_class,
        settings=(*(name for name, _ in _PYTEST_FILES), *_MENTIONS, *(name for name, _ in _SCRIPTS)),
    ),
    is_indented=True,
    imports_by_name=True,
    reexports=True,
    orders_bases=True,
    constructor="__init__",
    has_private=False,
    doc_markup=DocMarkup.REST,
    doc_inside=True,
    doc_code="python",
    write_import=_write_import,
    environment=_ENVIRONMENT,
    environment_marks=(b"env", b"ENV", b"Env"),
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
    captures = trees.captures(tools.names, tree.root_node)
    draft.comments.extend((node.start_byte, node.end_byte) for node in captures.get("comment", ()))
    occurrences.add_names(draft, captures)
    occurrences.add_imports(draft, captures)
    definitions.add_definitions(draft, tree.root_node, captures)
    occurrences.normalise_names(draft)
    draft.branches = [node.start_byte for node in captures.get("branch", ())]
    draft.root = tree.root_node
    draft.build_flow = partial(flow.build_python_flow, root=tree.root_node, captures=captures)
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
        text, removed = remove_unclosed(data)
        without = tools.parser.parse(text) if removed else tree
        if removed and trees.error_bytes(without, tools.errors) < trees.error_bytes(tree, tools.errors):
            tree = without
            for start, end in removed:
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
    removed: list[tuple[int, int]] = []
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
                removed.append((opened[0], piece.start()))
                opened.clear()
            if not opened:
                line = piece.end()
    if opened:
        removed.append((opened[0], len(data)))
    for start, end in removed:
        result[start:end] = re.sub(rb"[^\r\n]", b" ", data[start:end])
    return bytes(result), removed
