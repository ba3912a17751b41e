"""What CPython's own `ast` and `symtable` find in a Python file, and what our reader finds.

In: a file's text. Out: the differences, none if the two agree. Both are compared as multisets, so a definition that is
listed twice or left out is a difference.
"""

from __future__ import annotations

import ast
import symtable
import unicodedata
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote

from concordance.base.model import FileFacts, Role

FUNCTIONS = frozenset(("function", "method", "property"))


def parse(text: str) -> ast.Module | None:
    """Return the module's tree, or None if CPython cannot read it."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def definitions(tree: ast.Module) -> Counter[tuple[object, ...]]:
    """Return classes, functions and imports by line and nesting, according to `ast`."""
    found: Counter[tuple[object, ...]] = Counter()
    stack: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while stack:
        node, around, in_class = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                found["class", around + child.name, child.lineno, child.end_lineno] += 1
                stack.append((child, f"{around}{child.name}.", True))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                kind = "method" if in_class else "function"
                found[kind, around + child.name, child.lineno, child.end_lineno] += 1
                stack.append((child, f"{around}{child.name}.", False))
            else:
                found.update(_imports(child))
                stack.append((child, around, in_class and not isinstance(child, ast.Lambda)))
    return found


def _imports(node: ast.AST) -> Iterator[tuple[object, ...]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield "import", node.lineno, alias.name, "", alias.asname or ""
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield "import", node.lineno, "." * node.level + (node.module or ""), alias.name, alias.asname or ""


def our_definitions(facts: FileFacts) -> Counter[tuple[object, ...]]:
    """Return the same from our facts."""
    found: Counter[tuple[object, ...]] = Counter()
    for s in facts.symbols:
        if s.kind == "class" or s.kind in FUNCTIONS:
            name = ".".join(unquote(part.partition("+")[0]) for part in s.key.split("."))
            kind = "method" if s.kind == "property" else s.kind
            found[kind, name, s.line, s.end_line] += 1
    found.update(("import", i.line, i.module, i.name, i.alias) for i in facts.imports)
    return found


def bindings(text: str) -> Counter[tuple[object, ...]]:
    """Return every scope's names and where each is bound, according to `symtable`."""
    found: Counter[tuple[object, ...]] = Counter()
    stack = [symtable.symtable(text, "<text>", "exec")]
    while stack:
        table = stack.pop()
        names = frozenset(
            (s.get_name(), _where(table, s)) for s in table.get_symbols() if _stands_there(s) and not _implicit(s)
        )
        found[_kind(table), names] += 1
        stack.extend(table.get_children())
    return found


def _kind(table: symtable.SymbolTable) -> str:
    if table.get_name() == "lambda":
        return "lambda"
    iterates = table.get_type() == "function" and ".0" in table.get_identifiers()
    return "comprehension" if iterates else str(table.get_type())


def _stands_there(symbol: symtable.Symbol) -> bool:
    """True if the text of the scope contains the name; a closure cell that is only passed on has no flag."""
    return (
        symbol.is_referenced() or symbol.is_assigned() or symbol.is_parameter() or symbol.is_imported()
        or symbol.is_declared_global() or symbol.is_nonlocal() or symbol.is_annotated() or symbol.is_namespace()
    )  # fmt: skip


def _implicit(symbol: symtable.Symbol) -> bool:
    """Return the names that CPython adds: a comprehension's iterator, the class around a `super()`, the module's entry
    for what only a function declares global."""
    if symbol.get_name() in (".0", "__class__"):
        return True
    stands = symbol.is_referenced() or symbol.is_assigned() or symbol.is_imported() or symbol.is_annotated()
    return symbol.is_declared_global() and not stands


def _where(table: symtable.SymbolTable, symbol: symtable.Symbol) -> str:
    if table.get_type() == "module":
        return "here" if symbol.is_local() else "module"
    if symbol.is_free():
        return "around"
    return "here" if symbol.is_local() else "module"


def our_bindings(facts: FileFacts, future_annotations: bool) -> Counter[tuple[object, ...]]:
    """Return the same from our facts."""
    names: list[dict[str, str]] = [{} for _ in facts.scopes]
    for o in facts.occurrences.rows():
        if o.receiver != -1 or (future_annotations and o.role is Role.TYPE) or o.name == "__class__":
            continue
        if o.role is Role.MENTION or (o.role in (Role.IMPORT, Role.WRITE) and o.bound < 0):
            continue  # `(x): int` names x without binding or reading it
        where = "here" if o.bound == o.scope else "module" if o.bound <= 0 else "around"
        if o.role is Role.DECLARE and o.bound <= 0:
            continue  # only a statement about the name: it stands there when it is used
        name = _mangled(facts, o.scope, unicodedata.normalize("NFKC", o.name))
        names[o.scope][name] = where
        around = o.scope
        while facts.scopes[around].kind == "comprehension" and around != o.bound:
            around = facts.scopes[around].parent
        if o.role is Role.WRITE and around != o.scope and around:  # an assignment expression: CPython lists it outside, too
            names[around][name] = "here" if around == o.bound else "module" if o.bound <= 0 else "around"
    return Counter((scope.kind, frozenset(names[n].items())) for n, scope in enumerate(facts.scopes))


def _mangled(facts: FileFacts, scope: int, name: str) -> str:
    if not name.startswith("__") or name.endswith("__"):
        return name
    while scope >= 0:
        if facts.scopes[scope].kind == "class":
            owner = facts.symbols[facts.scopes[scope].symbol].name.lstrip("_")
            return f"_{owner}{name}" if owner else name
        scope = facts.scopes[scope].parent
    return name
