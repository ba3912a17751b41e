"""The rules of the house: what `docs/architecture.md` promises of the code, checked in the code."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "concordance"
FILES = sorted(PACKAGE.rglob("*.py"))
STAGES = ["base", "collect", "extract", "facts", "link", "passes", "query", "render", "serve", "workflow", "api", "tasks", "cli",
          "entry"]  # fmt: skip
ORDER = {name: place for place, name in enumerate(STAGES)}
PLUG_INS = ("extract/languages", "extract/rules", "extract/bridges", "link/languages", "link/bridges", "passes", "query/commands",
            "query/pages", "query/site_pages", "render/formats", "tasks")  # fmt: skip
FENCES = {  # module: where it may be imported
    "sqlite3": ("facts",),
    "tree_sitter": ("extract",),
    "tantivy": ("facts",),
    "subprocess": ("collect", "workflow"),
    "http": ("serve",),
    "socket": ("serve",),
    "asyncio": ("serve",),
}
BROAD = ("extract/engine.py", "workflow/workers/pool.py", "workflow/workers/forked.py", "workflow/pipeline.py",
         "workflow/watch/watch.py", "serve/server.py", "serve/reader.py", "cli.py")  # fmt: skip
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


def _name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def _stage(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imported(node: ast.AST, path: Path) -> list[str]:
    """The absolute names of what a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        home = node.module or ""
        if node.level:
            parts = ("concordance", *path.relative_to(PACKAGE).parts[:-1])
            base = parts[: len(parts) - node.level + 1]
            home = ".".join([*base, home] if home else base)
        return [f"{home}.{alias.name}" for alias in node.names]
    return []


def _every(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text())))


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_imports_go_leftward(path: Path) -> None:
    here = _stage(path)
    for node in _every(path):
        for name in _imported(node, path):
            parts = name.split(".")
            if parts[0] != "concordance" or len(parts) < 2 or parts[1] == here or here == "__init__":
                continue
            assert parts[1] in ORDER, f"{name} is in no stage"
            assert ORDER[parts[1]] < ORDER[here], f"{_name(path)}:{node.lineno} imports {name} from its right"  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_no_hidden_imports(path: Path) -> None:
    if _name(path) in ("cli.py", "api.py", "__init__.py") or _stage(path) == "tasks":
        return
    for function in _every(path):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                ours = [n for n in _imported(node, path) if n.startswith("concordance")]
                assert not ours, f"{_name(path)}:{function.lineno} hides an import of {ours}"
        if isinstance(function, ast.If):
            assert "TYPE_CHECKING" not in ast.dump(function.test), f"{_name(path)}:{function.lineno}"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_plug_ins_do_not_know_one_another(path: Path) -> None:
    folder = next((f for f in PLUG_INS if _name(path).startswith(f + "/")), None)
    if folder is None:
        return
    package = "concordance." + folder.replace("/", ".")
    for node in _every(path):
        others = [n for n in _imported(node, path) if n.startswith(package)]
        assert not others, f"{_name(path)} imports {others}"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_fences(path: Path) -> None:
    for node in _every(path):
        for name in _imported(node, path):
            allowed = FENCES.get(name.split(".")[0])
            assert allowed is None or _stage(path) in allowed, f"{_name(path)} imports {name}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            pytest.fail(f"{_name(path)}:{node.lineno} prints")


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_no_global_state(path: Path) -> None:
    """A module's list or dictionary in capitals is a table, and nothing changes it; a lower-case one is state."""
    tree = ast.parse(path.read_text())
    tables = set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(getattr(node, "value", None), MUTABLE):
                assert target.id.strip("_").isupper(), f"{_name(path)}:{node.lineno} {target.id} is global state"
                tables.add(target.id)
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            pytest.fail(f"{_name(path)}:{node.lineno} global {node.names}")
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in tables:
            changes = not isinstance(node.ctx, ast.Load) or getattr(node, "attr", "") in ("append", "update", "add", "pop")
            assert not changes, f"{_name(path)}:{node.lineno} changes {node.value.id}"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_broad_except(path: Path) -> None:
    for node in _every(path):
        if isinstance(node, ast.ExceptHandler) and _name(path) not in BROAD:
            kind = ast.unparse(node.type) if node.type else "BaseException"
            reraises = isinstance(node.body[-1], ast.Raise)
            assert reraises or not re.search(r"\b(Base)?Exception\b", kind), f"{_name(path)}:{node.lineno} except {kind}"


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_size_and_docstring(path: Path) -> None:
    text = path.read_text()
    tree = ast.parse(text)
    assert ast.get_docstring(tree), f"{_name(path)} has no docstring"
    assert text.count("\n") <= 700, f"{_name(path)} has {text.count(chr(10))} lines"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 60, f"{_name(path)}:{node.lineno} {node.name} has {length} lines"
    assert path.stem not in ("utils", "helpers", "common", "misc"), path


def test_every_grammar_that_is_installed_is_used() -> None:
    declared = set(re.findall(r'"(tree-sitter-[a-z]+)', (PACKAGE.parent / "pyproject.toml").read_text()))
    used = {name.replace("_", "-") for path in FILES for name in re.findall(r'"(tree_sitter_[a-z]+)"', path.read_text())}
    assert declared == used


@pytest.mark.parametrize("path", sorted((PACKAGE.parent / "bench").glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_every_benchmark_can_be_imported(path: Path) -> None:
    """Nothing else runs them before somebody measures."""
    importlib.import_module(f"bench.{path.stem}")
