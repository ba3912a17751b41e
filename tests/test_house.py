"""The rules of the house: what `docs/contributing.md` promises about the code, checked in the code."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "concordance"
FILES = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "concordance_torch").rglob("*.py")])
STAGES = ("base", "collect", "extract", "facts", "link", "passes", "query", "render", "serve", "workflow", "api", "tasks", "cli", "entry")
ORDER = {name: place for place, name in enumerate(STAGES)}
PLUG_INS = ("extract/languages", "extract/rules", "extract/patterns", "extract/bridges", "link/languages", "link/bridges", "passes",
            "query/commands", "query/search/entities",
            "query/workspace/manifests", "query/pages", "query/sections/file_page", "query/site_pages", "render/formats", "tasks")  # fmt: skip
FENCES = {  # module: the packages that may import it
    "sqlite3": ("facts",),
    "tree_sitter": ("extract",),
    "tantivy": ("facts",),
    "subprocess": ("collect", "workflow"),
    "http": ("serve",),
    "socket": ("serve",),
    "asyncio": ("serve",),
}
BROAD = ("extract/engine.py", "serve/mcp_server.py", "workflow/workers/pool.py", "workflow/workers/forked.py",
         "workflow/workers/ray_driver.py", "workflow/pipeline.py",
         "workflow/watch/watch.py", "serve/server.py", "serve/reader.py", "cli.py")  # fmt: skip
HIDING = ("cli.py", "api.py", "__init__.py")  # what a question need not load is imported in functions there, and in tasks
MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
CHANGING = ("append", "extend", "insert", "update", "add", "pop", "clear", "setdefault", "remove", "discard")
CACHE = re.compile(r"(functools\.)?(lru_)?cache\b")
CHANGEABLE = re.compile(r"(list|dict|set|defaultdict|Counter|deque|bytearray|Any|object)\b")  # a `Mapping` is checked by mypy
LIGHT = {"str", "int", "bool", "bytes"}  # types of arguments that cost nothing to keep
CACHED = {  # what a process has once, however it is passed around
    ("base/forks.py", "_permanent_threads"),  # facts about the process's own threads
    ("extract/reading/trees.py", "compile_grammar"),  # grammars are constants
    ("render/output/manifest.py", "_line"),  # rows of the manifest, which a run has in memory anyway
    ("workflow/stages/extract.py", "_worker_state"),  # ends with the worker, which has one job
    ("workflow/workers/ray_driver.py", "_last_shared"),  # the same, in a cluster
}
ENTRIES = 15  # files and folders in one folder of the package, plug-in folders aside
LINES = 700
# Private words for what the field has names for.
UNCLEAR = frozenset(("meaning", "said", "meant", "sight", "home", "holder", "shelf", "again", "moved", "refiled", "kept", "memory", "tray",
                     "shown", "crew", "desk", "beside", "told", "handed", "passed", "packed", "past", "look", "tried", "wishes", "known",
                     "named", "utils", "helpers", "common", "misc"))  # fmt: skip


# Not for local values either: the reader would have to look for the assignment to know what they are.
UNCLEAR_VALUES = frozenset(("found", "said", "told", "meant", "handed", "shelf", "shelves", "tray", "crew", "desk", "wishes"))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT)).removeprefix("concordance/")


def _stage(path: Path) -> str:
    return path.relative_to(ROOT).parts[1].removesuffix(".py")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _imported(node: ast.AST) -> list[str]:
    """Return the names that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert not node.level, "imports are absolute"
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(_tree(path)):
        for name in _imported(node):
            yield node.lineno, name  # type: ignore[attr-defined]


def test_imports_go_leftward() -> None:
    wrong = []
    for path in FILES:
        here = _stage(path)
        for line, name in _imports(path):
            parts = name.split(".")
            if parts[0] == "concordance" and len(parts) > 1 and parts[1] != here and here != "__init__":
                wrong += [f"{_name(path)}:{line} imports {name}"] if ORDER[parts[1]] >= ORDER[here] else []
    assert not wrong


def test_nothing_imports_an_extension() -> None:
    wrong = [f"{_name(path)}:{line}" for path in FILES if path.is_relative_to(PACKAGE) for line, name in _imports(path) if name.startswith("concordance_")]
    assert not wrong


def test_no_modules_import_one_another() -> None:
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in FILES}
    needs: dict[str, set[str]] = {}
    for module, path in modules.items():
        every = [name for node in _tree(path).body for name in _imported(node)]
        needs[module] = {one for name in every for one in (name if name in modules else name.rpartition(".")[0],) if one in modules} - {module}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {error.args[1]}")


def test_no_hidden_imports() -> None:
    wrong = []
    for path in FILES:
        if _name(path) in HIDING or _stage(path) == "tasks":
            continue
        for function in ast.walk(_tree(path)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                ours = [n for node in ast.walk(function) for n in _imported(node) if n.startswith("concordance")]
                wrong += [f"{_name(path)}:{function.lineno} hides an import of {ours}"] if ours else []
            if isinstance(function, ast.If) and "TYPE_CHECKING" in ast.dump(function.test):
                wrong.append(f"{_name(path)}:{function.lineno} imports for types alone")
            if isinstance(function, ast.Call) and ast.unparse(function.func).endswith("import_module"):
                wrong += [] if _name(path) in ("base/plugins.py", "extract/reading/trees.py", "entry.py") else [f"{_name(path)}:{function.lineno}"]
    assert not wrong


def test_plug_ins_do_not_know_one_another() -> None:
    wrong = []
    for path in FILES:
        folder = next((f for f in PLUG_INS if str(path.relative_to(ROOT)).partition("/")[2].startswith(f + "/")), None)
        package = folder and f"concordance.{folder.replace('/', '.')}."
        wrong += [f"{_name(path)}:{line} imports {name}" for line, name in _imports(path) if package and name.count(".") > package.count(".") and name.startswith(package)]
    assert not wrong


def test_plug_ins_implement_their_protocols(tmp_path: Path) -> None:
    """A module can be assigned to a variable of a protocol's type, so the type checker compares every plug-in with its
    folder's. The last line is wrong on purpose: it shows that the checker looks."""
    imports, assigned = [], []
    for folder in PLUG_INS:
        package = f"concordance.{folder.replace('/', '.')}"
        protocol = getattr(importlib.import_module(package), "PROTOCOL", None)
        for path in FILES if protocol is not None else ():
            inside = path.relative_to(ROOT).with_suffix("").parts
            if "/".join(inside[1:-1]) == folder and inside[-1] != "__init__":
                imports.append(f"import {'.'.join(inside)}")
                assigned.append(f"plug_in_{len(assigned)}: {package}.{protocol.__name__} = {'.'.join(inside)}")
    assert len(assigned) > 150
    assigned.append("wrong: concordance.extract.rules.RuleModule = concordance.extract.languages.go")
    file = tmp_path / "plug_ins.py"
    file.write_text("\n".join([*imports, *assigned]) + "\n")
    done = subprocess.run([sys.executable, "-m", "mypy", file], cwd=ROOT, capture_output=True, text=True, timeout=280)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[1] for line in errors] == [str(len(imports) + len(assigned))], done.stdout + done.stderr


def test_fences() -> None:
    wrong = []
    for path in FILES:
        for line, name in _imports(path):
            allowed = FENCES.get(name.split(".")[0])
            wrong += [] if allowed is None or _stage(path) in allowed else [f"{_name(path)}:{line} imports {name}"]
        calls = (node for node in ast.walk(_tree(path)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
        wrong += [f"{_name(path)}:{node.lineno} prints" for node in calls if node.func.id == "print"]  # type: ignore[attr-defined]
    assert not wrong


def test_no_global_state() -> None:
    """A module's list or dictionary in capitals is a constant table that nothing changes; a lower-case one is state. So
    is a cached function's result if callers can change it, and an argument that the cache keeps alive."""
    wrong = []
    for path in FILES:
        tree = _tree(path)
        tables = set()
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
            for target in targets:
                if isinstance(target, ast.Name) and isinstance(getattr(node, "value", None), MUTABLE):
                    wrong += [] if target.id.strip("_").isupper() else [f"{_name(path)}:{node.lineno} {target.id} is global state"]
                    tables.add(target.id)
        for node in ast.walk(tree):
            wrong += [f"{_name(path)}:{node.lineno} global {node.names}"] if isinstance(node, ast.Global) else []
            if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in tables:
                changes = not isinstance(node.ctx, ast.Load) or getattr(node, "attr", "") in CHANGING
                wrong += [f"{_name(path)}:{node.lineno} changes {node.value.id}"] if changes else []
            if isinstance(node, ast.FunctionDef) and any(CACHE.match(ast.unparse(one)) for one in node.decorator_list):
                types = {ast.unparse(arg.annotation) for arg in node.args.args if arg.annotation}
                changeable = node.returns is None or CHANGEABLE.match(ast.unparse(node.returns))
                if (changeable or types - LIGHT) and (_name(path), node.name) not in CACHED:
                    wrong.append(f"{_name(path)}:{node.lineno} {node.name} keeps what can change")
    assert not wrong


def test_broad_except() -> None:
    wrong = []
    for path in FILES:
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ExceptHandler) and _name(path) not in BROAD:
                kind = ast.unparse(node.type) if node.type else "BaseException"
                broad = not isinstance(node.body[-1], ast.Raise) and re.search(r"\b(Base)?Exception\b", kind)
                wrong += [f"{_name(path)}:{node.lineno} except {kind}"] if broad else []
    assert not wrong


def test_size_and_docstring() -> None:
    wrong = []
    for path in FILES:
        tree = _tree(path)
        wrong += [] if ast.get_docstring(tree) else [f"{_name(path)} has no docstring"]
        lines = path.read_text().count("\n")
        wrong += [f"{_name(path)} has {lines} lines"] if lines > LINES else []
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (node.end_lineno or 0) - node.lineno >= 60:
                wrong.append(f"{_name(path)}:{node.lineno} {node.name} has more than 60 lines")
    assert not wrong


def test_folders_are_tables_of_contents() -> None:
    folders: dict[Path, set[str]] = defaultdict(set)
    for path in FILES:
        folders[path.parent].add(path.name)
        folders[path.parent.parent].add(path.parent.name)
    plug_ins = {root / folder for root in (PACKAGE, ROOT / "concordance_torch") for folder in PLUG_INS}
    crowded = {_name(folder): len(names) for folder, names in folders.items() if len(names) > ENTRIES and folder not in plug_ins and folder != ROOT}
    assert not crowded


def test_names() -> None:
    """A class is found by its name alone, and nothing has a name that only its author understands."""
    classes: Counter[str] = Counter()
    unclear = []
    for path in FILES:
        unclear += [_name(path)] if path.stem in UNCLEAR else []
        for node in _tree(path).body:
            if isinstance(node, ast.ClassDef):
                classes[node.name] += not node.name.startswith("_")
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name.lower() in UNCLEAR:
                unclear.append(f"{_name(path)}:{node.lineno} {node.name}")
        for node in ast.walk(_tree(path)):  # type: ignore[assignment]
            name = node.arg if isinstance(node, ast.arg) else node.id if isinstance(node, ast.Name) else ""
            unclear += [f"{_name(path)}:{node.lineno} {name}"] if name in UNCLEAR_VALUES else []  # type: ignore[attr-defined]
    assert not unclear
    assert not [name for name, times in classes.items() if times > 1]


def test_every_grammar_that_is_installed_is_used() -> None:
    declared = set(re.findall(r'"(tree-sitter-[a-z]+)', (ROOT / "pyproject.toml").read_text()))
    used = {name.replace("_", "-") for path in FILES for name in re.findall(r'"(tree_sitter_[a-z]+)"', path.read_text())}
    assert declared == used


@pytest.mark.parametrize("path", sorted((ROOT / "bench").glob("*.py")), ids=lambda path: path.stem)
def test_every_benchmark_can_be_imported(path: Path) -> None:
    """Otherwise nobody would notice until somebody measures."""
    importlib.import_module(f"bench.{path.stem}")
