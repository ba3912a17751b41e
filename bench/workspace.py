"""`python -m bench workspace SOURCES FOLDER [N]`: a workspace of real packages, or of N made ones.

In: SOURCES, a folder with the unpacked releases of `PACKAGES` (sdists; npm packages with `.js` behind their names), and
FOLDER, where the workspace is made. Out: how many of a sample of imports from one package into another lead to what
Python, Node and the include folders of a compiler find; the time of `refs` over all; what an update of one repository
costs. With N, SOURCES is filled with N small packages that import one another, and the build and the server are
measured instead. The oracle for Python imports the packages: run this only on packages that you trust.
"""

from __future__ import annotations

import ast
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from concordance.base.errors import ConcordanceError
from concordance.facts import catalogue as rows
from concordance.query.workspace import workspace_file
from concordance.query.workspace.commands import WorkspaceQuestions
from concordance.query.workspace.repositories import OpenWorkspace
from concordance.workflow.stages import catalogue

PACKAGES = """
anyio attrs blinker certifi charset_normalizer click contourpy cppy flask h11 httpcore httpx idna iniconfig itsdangerous
jinja2 kiwisolver markdown_it_py markupsafe mdurl packaging pluggy pybind11 pygments pytest requests rich sniffio
starlette urllib3 uvicorn werkzeug
accepts.js bcrypt.js body-parser.js bytes.js debug.js depd.js ee-first.js express.js finalhandler.js http-errors.js
iconv-lite.js mime-db.js mime-types.js ms.js nan.js negotiator.js node-addon-api.js on-finished.js parseurl.js qs.js
raw-body.js send.js serve-static.js sqlite3.js statuses.js
""".split()  # noqa: SIM905
_SAMPLE = 200
_SKIPPED = frozenset(("docs", "examples", "benchmarks", "scripts", "node_modules"))
_REQUIRE = re.compile(r"^(?:const|let|var)\s+(\w+)\s*=\s*require\(['\"]([^'\"./][^'\"]*)['\"]\)\s*;?\s*$", re.M)
_INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"]([\w./-]+)[>\"]", re.M)
# Says for lines `module name` on standard input where Python finds that: a file, and a line if it is a definition.
_PYTHON_ORACLE = """
import importlib, inspect, json, sys
for line in sys.stdin:
    module, _, name = line.strip().partition(" ")
    try:
        found = importlib.import_module(module)
        if name:
            try:
                found = getattr(found, name)
            except AttributeError:
                found = importlib.import_module(f"{module}.{name}")
        value = inspect.unwrap(found) if callable(found) else found
        if inspect.ismodule(value):
            print(json.dumps([value.__file__, 1]))
        elif inspect.isclass(value) or inspect.isfunction(value):
            lines, first = inspect.getsourcelines(value)
            print(json.dumps([inspect.getsourcefile(value), first, first + len(lines)]))
        else:
            print(json.dumps(["", 0]))
    except BaseException as error:
        print(json.dumps(None))
    sys.stdout.flush()
"""


class ImportPlace(NamedTuple):
    """An import of one package in another, and what it must lead to."""

    repository: str
    path: str
    line: int
    col: int
    asked: str
    truth: tuple[str, int, int]  # a file, and the first and last line; no file: anything that is called so


def workspace_of(sources: Path, folder: Path) -> dict[str, str]:
    """Write the workspace of all folders in SOURCES."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {one.name: str(one.resolve()) for one in sources.iterdir() if one.is_dir()}
    workspace_file.write_repositories(str(folder), found)
    return found


def _files(root: str, *endings: str) -> Iterator[tuple[str, str]]:
    for folder, names, files in os.walk(root):
        names[:] = sorted(one for one in names if not one.startswith(".") and one not in _SKIPPED)
        for name in sorted(files):
            if name.endswith(endings):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, root), Path(path).read_text(errors="replace")


def _python_roots(repositories: dict[str, str]) -> dict[str, tuple[str, str]]:
    """The top-level modules of the packages: repository, and the folder that they are imported from."""
    found: dict[str, tuple[str, str]] = {}
    for name, root in sorted(repositories.items()):
        for base in (os.path.join(root, "src"), root):
            inside = sorted(os.listdir(base)) if os.path.isdir(base) and not name.endswith(".js") else []
            for one in inside:
                package = os.path.join(base, one, "__init__.py")
                if os.path.exists(package) and one not in ("tests", "test", "testing", "docs"):
                    found.setdefault(one, (name, base))
                elif one.endswith(".py") and base.endswith("src"):
                    found.setdefault(one[:-3], (name, base))
    return found


def python_imports(repositories: dict[str, str]) -> list[ImportPlace]:
    """The imports of Python packages in one another, with what Python itself finds."""
    tops = _python_roots(repositories)
    asked = []
    for name, root in sorted(repositories.items()):
        for path, text in _files(root, ".py"):
            try:
                tree = ast.parse(text)
            except SyntaxError:
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and not node.level and node.module:
                    rows = [(node.module, one.name, one) for one in node.names if one.name != "*"]
                elif isinstance(node, ast.Import):
                    rows = [(one.name if one.asname else one.name.partition(".")[0], "", one) for one in node.names]
                else:
                    continue
                for module, member, alias in rows:
                    top = tops.get(module.partition(".")[0])
                    if top is not None and top[0] != name:
                        asked.append((name, path, alias.lineno, alias.col_offset + 1, module, member))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(base for _, base in tops.values()))}
    said = "".join(f"{module} {member}\n" for *_, module, member in asked)
    done = subprocess.run([sys.executable, "-c", _PYTHON_ORACLE], input=said, env=env, text=True, capture_output=True, check=True)
    found = []
    for row, line in zip(asked, done.stdout.splitlines(), strict=True):
        truth = json.loads(line)
        if truth is not None and not (truth[0] and not _inside(truth[0], repositories)):
            last = truth[2] if len(truth) > 2 else 10**9
            words = ".".join(filter(None, row[4:]))
            found.append(ImportPlace(*row[:4], words, (os.path.realpath(truth[0]) if truth[0] else "", truth[1], last)))
    return found


def _inside(path: str, repositories: dict[str, str]) -> bool:
    return any(os.path.realpath(path).startswith(root + os.sep) for root in repositories.values())


def node_imports(repositories: dict[str, str], scratch: Path) -> list[ImportPlace]:
    """The packages that JavaScript requires, with the file that Node loads."""
    modules = scratch / "node_modules"
    modules.mkdir(parents=True, exist_ok=True)
    for name, root in repositories.items():
        if name.endswith(".js") and not (modules / name[:-3]).is_symlink():
            (modules / name[:-3]).symlink_to(root)
    asked = []
    for name, root in sorted(repositories.items()):
        for path, text in _files(root, ".js") if name.endswith(".js") else ():
            for match in _REQUIRE.finditer(text):
                if f"{match[2].partition('/')[0]}.js" in repositories and match[2].partition("/")[0] != name[:-3]:
                    line = text.count("\n", 0, match.start()) + 1
                    asked.append((name, path, line, match.start(1) - text.rfind("\n", 0, match.start(1)), match[2]))
    script = "for (const m of JSON.parse(process.argv[1])) { let f = ''; try { f = require.resolve(m); } catch (e) {} console.log(f); }"
    done = subprocess.run(["node", "-e", script, json.dumps([row[4] for row in asked])], cwd=scratch, text=True, capture_output=True, check=True)
    lines = done.stdout.splitlines()
    rows = zip(asked, lines, strict=True)
    return [ImportPlace(*row, (os.path.realpath(line), 1, 10**9)) for row, line in rows if line.startswith("/")]


def c_includes(repositories: dict[str, str]) -> list[ImportPlace]:
    """The headers of other packages that C++ includes, found in the include folders that the packages document."""
    folders = {"pybind11": "include", "cppy": "cppy/include", "node-addon-api.js": "", "nan.js": ""}
    places = {name: os.path.join(repositories[name], inner) for name, inner in folders.items() if name in repositories}
    found = []
    for name, root in sorted(repositories.items()):
        for path, text in _files(root, ".cpp", ".cc", ".h", ".hpp"):
            for match in _INCLUDE.finditer(text):
                own = os.path.join(root, os.path.dirname(path), match[1])
                there = [os.path.join(one, match[1]) for other, one in places.items() if other != name]
                truth = next(filter(os.path.isfile, there), "")
                if truth and not os.path.exists(own):
                    line = text.count("\n", 0, match.start(1)) + 1
                    found.append(ImportPlace(name, path, line, 1, match[1], (os.path.realpath(truth), 1, 10**9)))
    return found


def is_right(one: ImportPlace, answers: list[dict[str, Any]], repositories: dict[str, str]) -> bool:
    """True if the first answer is what the import leads to."""
    if not answers:
        return False
    row = answers[0]
    path, line = os.path.realpath(os.path.join(repositories[str(row["repository"])], str(row["path"]))), int(row["line"])
    if not one.truth[0]:
        text = Path(path).read_text(errors="replace").splitlines()
        return row["kind"] != "module" and one.asked.rpartition(".")[2] in text[line - 1]
    return path == one.truth[0] and one.truth[1] <= line <= one.truth[2]


def measure(sources: Path, folder: Path) -> None:
    """Measure the workspace of real packages."""
    repositories = workspace_of(sources, folder)
    begun = time.process_time()
    done = catalogue.build(str(folder))
    spent = time.process_time() - begun
    size = os.path.getsize(rows.path_of(str(folder)))
    print(f"repositories {len(repositories)}; derived {len(done.updated)} in {spent:.1f} s of this process; catalogue {size:,} bytes")
    begun = time.process_time()
    done = catalogue.build(str(folder))
    print(f"nothing changed: {len(done.unchanged)} unchanged, {time.process_time() - begun:.2f} s")
    every = [*python_imports(repositories), *node_imports(repositories, folder / "node"), *c_includes(repositories)]
    sample = random.Random(0).sample(every, min(_SAMPLE, len(every)))
    with OpenWorkspace(str(folder), catalogue.repository_settings) as opened:
        questions = WorkspaceQuestions(opened)
        right = 0
        for one in sample:
            try:
                answers = questions.ask("define", f"{one.repository}:{one.path}:{one.line}:{one.col}").rows
            except ConcordanceError:
                answers = []
            good = is_right(one, answers, repositories)
            right += good
            if not good:
                shown = [f"{row['repository']}:{row['path']}:{row['line']}" for row in answers[:1]]
                print("  wrong:", one.repository, f"{one.path}:{one.line}:{one.col}", one.asked, one.truth, shown)
        kinds = {ending: sum(one.path.endswith(ending) for one in sample) for ending in (".py", ".js")}
        print(f"imports across repositories: {right} of {len(sample)} right ({kinds}; {len(every)} in all)")
        _refs(opened, questions)


def _refs(opened: OpenWorkspace, questions: WorkspaceQuestions) -> None:
    """Measure `refs` of definitions that other repositories use."""
    used = [(name, use) for name in opened.repositories for use in opened.catalogue.uses_by(name) if use.name]
    found: dict[tuple[str, str], str] = {}
    for user, use in used:
        for target in questions.links.targets(user, use.family, use.module, use.name):
            if target.place.place >= 0:
                found[target.repository, f"{target.place.path}#{target.place.key}"] = ""
    asked = random.Random(0).sample(sorted(found), min(200, len(found)))
    spent, most = [], 0
    for repository, identity in asked * 2:
        begun, wall = time.process_time(), time.perf_counter()
        answer = questions.ask("refs", f"{repository}:{identity}")
        spent.append((time.process_time() - begun, time.perf_counter() - wall))
        most = max(most, answer.total)
    warm = sorted(one for one, _ in spent[len(asked) :])
    cold = sorted(one for one, _ in spent[: len(asked)])
    wall = sorted(one for _, one in spent[len(asked) :])

    def at(values: list[float], share: float) -> str:
        return f"{values[int(len(values) * share)] * 1000:.1f} ms"

    print(f"refs of {len(asked)} definitions, up to {most:,} uses: processor p50 {at(warm, 0.5)}, p95 {at(warm, 0.95)}; "
          f"first time p95 {at(cold, 0.95)}; wall p95 {at(wall, 0.95)}")  # fmt: skip


# --- made repositories


def make(sources: Path, number: int) -> None:
    """Make small packages that import one another: three of four in Python, the others in JavaScript."""
    random_ = random.Random(0)
    for place in range(number):
        is_python = place % 4 != 3
        needs = sorted({other for other in random_.sample(range(number), min(4, number)) if (other % 4 != 3) == is_python} - {place})
        root = sources / f"package{place}"
        if is_python:
            _write(root / "pyproject.toml", _PYPROJECT.format(place=place, needs=", ".join(f'"package{n}>=1.0"' for n in needs)))
            lines = "".join(f"from package{n} import Part{n}, make{n}\n" for n in needs)
            calls = "".join(f"        self.p{n} = make{n}(Part{n}())\n" for n in needs)
            _write(root / f"package{place}" / "__init__.py", f"from package{place}.core import Part{place}, make{place}\n")
            _write(root / f"package{place}" / "core.py", _CORE.format(place=place, lines=lines, calls=calls))
            _write(root / "tests" / f"test_core{place}.py", _TEST.format(place=place))
        else:
            wanted = {f"package{n}": "^1.0.0" for n in needs}
            about = {"name": f"package{place}", "version": "1.0.0", "main": "index.js", "dependencies": wanted}
            _write(root / "package.json", json.dumps(about, indent=1))
            lines = "".join(f"const package{n} = require('package{n}')\n" for n in needs)
            calls = "".join(f"  package{n}.make{n}(value)\n" for n in needs)
            _write(root / "index.js", _INDEX.format(place=place, lines=lines, calls=calls))


_PYPROJECT = '[project]\nname = "package{place}"\nversion = "1.{place}"\ndependencies = [{needs}]\n'
_CORE = '''"""Parts of package {place}."""
{lines}

class Part{place}:
    """A part."""

    def __init__(self) -> None:
        self.size = {place}
{calls}
    def grow(self, by: int) -> int:
        """Return the size of a larger part."""
        return self.size + by


def make{place}(part: object) -> Part{place}:
    """Make a part."""
    return Part{place}()
'''
_TEST = "from package{place} import make{place}\n\n\ndef test_make() -> None:\n    assert make{place}(None).grow(1)\n"
_INDEX = """{lines}
function make{place} (value) {{
{calls}  return value
}}

module.exports = {{ make{place} }}
"""


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def measure_made(sources: Path, folder: Path, number: int) -> None:
    """Measure the build of many small repositories, and the server over them."""
    if not sources.exists():
        make(sources, number)
    workspace_of(sources, folder)
    begun = time.perf_counter(), time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = catalogue.build(str(folder))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    children = after.ru_utime + after.ru_stime - begun[2].ru_utime - begun[2].ru_stime
    spent = time.process_time() - begun[1] + children
    print(f"{len(done.updated)} updated, {len(done.unchanged)} unchanged, {len(done.failed)} failed: "
          f"{spent:.0f} s of processor time, {time.perf_counter() - begun[0]:.0f} s")  # fmt: skip
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"catalogue {os.path.getsize(rows.path_of(str(folder))):,} bytes; the builder's memory {most / 1024:,.0f} MB")


def main(arguments: list[str]) -> None:
    """Measure a workspace."""
    sources, folder, *number = arguments
    if number:
        measure_made(Path(sources), Path(folder), int(number[0]))
    else:
        measure(Path(sources), Path(folder))
