"""Reads the settings of Python projects: where packages are, what is required, and what a build generates.

In: a tree. Out: a `Project` for each folder with a `pyproject.toml`, `setup.py`, `setup.cfg` or a test runner's
settings, and the distributions that the repository requires. Settings are read, never run: in a `setup.py`, only
literals and names that are assigned a literal count.
"""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from concordance.link.paths.tree import Tree, join_path

_SETTINGS = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", ".pytest.ini", "tox.ini", "mypy.ini")
# A requirement, up to its name: `name[extra]>=1.0`
_REQUIREMENT = re.compile(
    r"[ \t]*+([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?+)[ \t]*+(?:\[[^\]]*+\][ \t]*+)?(?:[<>=!~;@(#,].*)?$"
)
_MAX_SCRIPT_LENGTH = 500_000  # characters of a script; nobody writes a longer one
_SETUP = re.compile(r"\bsetup\s*\(")
_EGG = re.compile(r"#egg=([A-Za-z0-9][\w.-]*)")
_VERSION_FILES = (  # settings of tools that write a version into the tree
    ("setuptools_scm", "write_to"), ("setuptools_scm", "version_file"), ("setuptools-git-versioning", "version_file"),
)  # fmt: skip
_EXTENSIONS = ("Extension", "CppExtension", "CUDAExtension", "Pybind11Extension", "RustExtension", "CMakeExtension")


@dataclass
class Project:
    """The settings of one folder."""

    folder: str
    name: str = ""
    roots: list[str] = field(default_factory=list)  # folders that modules are imported from
    package_dirs: dict[str, str] = field(default_factory=dict)  # packages that are in a folder of another name
    requires: list[tuple[str, str]] = field(default_factory=list)  # a distribution, and the file that names it
    extensions: list[str] = field(default_factory=list)  # modules that are compiled
    generated_files: list[str] = field(default_factory=list)  # files that a build writes into the tree


def normalise_distribution(name: str) -> str:
    """Return a distribution's name in normalised form, as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_projects(tree: Tree) -> dict[str, Project]:
    """Return every project by its folder."""
    projects: dict[str, Project] = {}
    for name in _SETTINGS:
        for path in tree.by_name.get(name, ()):
            folder = path.rpartition("/")[0]
            text = tree.text(path)
            if name == "setup.py" and not _SETUP.search(text):
                continue  # a module that happens to have this name
            project = projects.setdefault(folder, Project(folder))
            if name == "pyproject.toml":
                _Toml(project, path).read(text)
            elif name == "setup.py":
                _read_script(project, path, text)
            else:
                _read_ini(project, path, text)
    return projects


def required_distributions(tree: Tree, projects: dict[str, Project]) -> dict[str, tuple[str, str]]:
    """Return the required distributions by normalised name: the name as written, and the file that requires it."""
    named: dict[str, tuple[str, str]] = {}
    listed = [path for path, file in tree.files.items() if file.language == "python_requirements"]
    for path in sorted(listed, key=lambda path: (path.count("/"), path)):
        for line in tree.text(path).splitlines():
            for name in _requirement(line):
                named.setdefault(normalise_distribution(name), (name, path))
    for folder in sorted(projects, key=lambda folder: (folder.count("/"), folder)):
        for name, path in projects[folder].requires:
            named.setdefault(normalise_distribution(name), (name, path))
    return named


def _requirement(line: object) -> Iterator[str]:
    """Yield the distribution that a requirement names."""
    if not isinstance(line, str):
        return
    egg = _EGG.search(line)
    match = _REQUIREMENT.match(line)
    if egg:
        yield egg[1]
    elif match:
        yield match[1]


class _Toml:
    """Reads a `pyproject.toml`; anything of an unexpected shape is ignored."""

    def __init__(self, project: Project, path: str) -> None:
        self.project = project
        self.path = path
        self.data: dict[str, Any] = {}

    def at(self, *keys: str) -> Any:
        """Return the value at some keys; None if there is none."""
        value: Any = self.data
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def table(self, *keys: str) -> dict[str, Any]:
        """Return the table at some keys; an empty one if there is none."""
        value = self.at(*keys)
        return value if isinstance(value, dict) else {}

    def texts(self, *keys: str) -> list[str]:
        """Return the strings at some keys: one, or a list of them."""
        return _texts(self.at(*keys))

    def read(self, text: str) -> None:
        """Add all settings to the project."""
        try:
            self.data = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError):
            return
        name = self.at("project", "name") or self.at("tool", "poetry", "name")
        self.project.name = name if isinstance(name, str) else ""
        self._roots()
        self._requirements()
        self._generated_files()

    def _roots(self) -> None:
        _add_package_dirs(self.project, self.table("tool", "setuptools").get("package-dir"))
        folders = self.texts("tool", "setuptools", "packages", "find", "where")
        folders += self.texts("tool", "pdm", "build", "package-dir")
        folders += self.texts("tool", "maturin", "python-source")
        folders += " ".join(self.texts("tool", "pytest", "ini_options", "pythonpath")).split()
        for mypy_path in self.texts("tool", "mypy", "mypy_path"):
            folders += re.split(r"[,:\s]+", mypy_path.replace("$MYPY_CONFIG_FILE_DIR", "."))
        folders += self.texts("tool", "pyright", "extraPaths")
        build = self.table("tool", "hatch", "build")
        targets = build.get("targets")
        wheel = targets.get("wheel") if isinstance(targets, dict) else None
        for part in (build, wheel if isinstance(wheel, dict) else {}):
            folders += [package.rstrip("/").rpartition("/")[0] for package in _texts(part.get("packages"))]
            folders += _texts(part.get("sources"))
        packages = self.at("tool", "poetry", "packages")
        for package in packages if isinstance(packages, list) else ():
            if isinstance(package, dict) and isinstance(package.get("from"), str):
                folders.append(package["from"])
        for folder in folders:
            root = join_path(self.project.folder, folder)
            if root is not None and root not in self.project.roots:
                self.project.roots.append(root)

    def _requirements(self) -> None:
        lists = [self.at("project", "dependencies"), self.at("build-system", "requires")]
        lists += self.table("project", "optional-dependencies").values()
        lists += self.table("dependency-groups").values()
        for lines in lists:
            for line in _texts(lines):
                self.project.requires += ((name, self.path) for name in _requirement(line))
        poetry = self.table("tool", "poetry")
        groups = poetry.get("group")
        tables = [poetry.get("dependencies"), poetry.get("dev-dependencies")]
        tables += [group.get("dependencies") for group in _tables(groups)]
        for table in tables:
            names = table if isinstance(table, dict) else {}
            self.project.requires += ((name, self.path) for name in names if name != "python")

    def _generated_files(self) -> None:
        files = [self.at("tool", *keys) for keys in _VERSION_FILES]
        files += [self.at("tool", "hatch", "build", "hooks", "vcs", "version-file")]
        files += [self.at("tool", "pdm", "version", "write_to")]
        self.project.generated_files += (path for path in files if isinstance(path, str))
        module = self.at("tool", "maturin", "module-name")
        self.project.extensions += [module] if isinstance(module, str) else []
        listed = self.at("tool", "setuptools", "ext-modules")
        named = [item.get("name") for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        self.project.extensions += [name for name in named if isinstance(name, str)]


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _tables(value: object) -> list[dict[str, Any]]:
    return [item for item in value.values() if isinstance(item, dict)] if isinstance(value, dict) else []


def _add_package_dirs(project: Project, package_dirs: object) -> None:
    """Add a `package_dir`: "" is a root, a name is a package that is elsewhere."""
    for package, location in package_dirs.items() if isinstance(package_dirs, dict) else ():
        folder = join_path(project.folder, location) if isinstance(location, str) else None
        if folder is None or not isinstance(package, str):
            continue
        name = package.rpartition(".")[2]
        if not package:
            project.roots.append(folder)
        elif folder.rpartition("/")[2] == name:
            project.roots.append(folder.removesuffix(package.replace(".", "/")).rstrip("/"))
        else:
            project.package_dirs[package] = folder


def _read_ini(project: Project, path: str, text: str) -> None:
    """Read `setup.cfg`, `pytest.ini`, `tox.ini` or `mypy.ini`."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except (configparser.Error, AttributeError):  # AttributeError: a key without a value has a continuation line
        return
    base = path.rpartition("/")[2]

    def words(section: str, key: str) -> list[str]:
        value = parser.get(section, key, fallback="") if parser.has_section(section) else ""
        return [word for word in re.split(r"[,\s]+", value or "") if word]

    roots = [*words("options.packages.find", "where"), *words("tool:pytest", "pythonpath")]
    roots += [*words("pytest", "pythonpath"), *words("pytest", "python_paths"), *words("tool:pytest", "python_paths")]
    roots += re.split(":", ":".join(words("mypy", "mypy_path")).replace("$MYPY_CONFIG_FILE_DIR", "."))
    folders = (join_path(project.folder, folder) for folder in roots if folder)
    project.roots += [root for root in folders if root is not None and root not in project.roots]
    if base != "setup.cfg":
        return
    if parser.has_section("options"):
        placed = parser.get("options", "package_dir", fallback="") or ""
        pairs = (line.partition("=") for line in placed.splitlines() if "=" in line)
        _add_package_dirs(project, {key.strip(): value.strip() for key, _, value in pairs})
    lines = (parser.get("options", "install_requires", fallback="") or "") if parser.has_section("options") else ""
    extras = dict(parser.items("options.extras_require")) if parser.has_section("options.extras_require") else {}
    for line in "\n".join([lines, *(value or "" for value in extras.values())]).splitlines():
        project.requires += ((name, path) for name in _requirement(line))
    if not project.name and parser.has_section("metadata"):
        project.name = parser.get("metadata", "name", fallback="") or ""


def _read_script(project: Project, path: str, text: str) -> None:
    """Read a `setup.py` without running it."""
    if len(text) > _MAX_SCRIPT_LENGTH:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    given: dict[str, ast.expr] = {}  # the values that names are assigned
    calls: list[ast.Call] = []
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            given.setdefault(node.targets[0].id, node.value)
        elif isinstance(node, ast.Call):
            calls.append(node)

    def value(node: ast.expr | None) -> Any:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "str" and node.args:
            node = node.args[0]
        if isinstance(node, ast.Name):
            node = given.get(node.id)
        try:
            return ast.literal_eval(node) if node is not None else None
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return _literals(node)

    for call in calls:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        keys = {key.arg: key.value for key in call.keywords if key.arg}
        if name == "setup":
            _read_setup(project, path, {key: value(node) for key, node in keys.items()})
        elif name in ("find_packages", "find_namespace_packages"):
            source_folder = value(keys.get("where") or (call.args[0] if call.args else None))
            root = join_path(project.folder, source_folder) if isinstance(source_folder, str) else None
            if root is not None and root not in project.roots:
                project.roots.append(root)
        elif name in _EXTENSIONS:
            distribution = value(keys.get("name") or (call.args[0] if call.args else None))
            project.extensions += [distribution] if isinstance(distribution, str) else []


def _literals(node: ast.expr | None) -> Any:
    """Return the strings of a list whose other elements are computed at run time."""
    if isinstance(node, ast.List | ast.Tuple):
        return [elt.value for elt in node.elts if isinstance(elt, ast.Constant) and isinstance(elt.value, str)]
    return None


def _read_setup(project: Project, path: str, arguments: dict[str, Any]) -> None:
    if isinstance(arguments.get("name"), str):
        project.name = arguments["name"]
    _add_package_dirs(project, arguments.get("package_dir"))
    lists = [arguments.get("install_requires"), arguments.get("tests_require"), arguments.get("setup_requires")]
    extras = arguments.get("extras_require")
    lists += extras.values() if isinstance(extras, dict) else []
    for listed in lists:
        lines = listed.splitlines() if isinstance(listed, str) else listed
        for line in lines if isinstance(lines, list | tuple) else ():
            project.requires += ((name, path) for name in _requirement(line))
