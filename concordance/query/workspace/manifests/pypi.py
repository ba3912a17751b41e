"""Python distributions: `pyproject.toml`, `setup.cfg`, `setup.py`, requirements files, and `PKG-INFO` of a release."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
import warnings

from concordance.link.python.project_settings import normalise_distribution
from concordance.query.workspace.manifests import Lines, NamedVersion, PackageManifest, table, texts

FILES = ("pyproject.toml", "setup.cfg", "setup.py", "PKG-INFO", "requirements*.txt")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*\(?([^;#)]*)")
_HEADER = re.compile(r"^(Name|Version|Requires-Dist): (.*)$", re.M)


def read(path: str, text: str) -> PackageManifest:
    """Return what a manifest says."""
    name = path.rpartition("/")[2]
    if name == "pyproject.toml":
        return _read_pyproject(text)
    if name == "setup.cfg":
        return _read_setup_cfg(text)
    if name == "setup.py":
        return _read_script(text)
    if name == "PKG-INFO":
        return _read_release(text)
    rows = (
        (number, line) for number, line in enumerate(text.splitlines(), 1) if not line.lstrip().startswith(("#", "-"))
    )
    return PackageManifest((), tuple(dependency for number, line in rows for dependency in _requirement(line, number)))


def _requirement(text: str, line: int) -> list[NamedVersion]:
    match = _REQUIREMENT.match(text)
    if match is None or "://" in text.partition("#")[0].partition(";")[0].partition("@")[0]:
        return []
    wanted = "" if "@" in match[2] else "".join(match[2].split())
    if wanted and not wanted.startswith(("==", "!=", "~=", "<", ">")):
        return []
    return [NamedVersion(normalise_distribution(match[1]), wanted, line)]


def _package(name: object, version: object, line: int) -> tuple[NamedVersion, ...]:
    if not isinstance(name, str) or not name:
        return ()
    known = version if isinstance(version, str) and re.match(r"v?\d", version) else ""
    return (NamedVersion(normalise_distribution(name), known, line),)


def _read_pyproject(text: str) -> PackageManifest:
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return PackageManifest()
    lines = Lines(text)
    project, poetry = table(data, "project"), table(data, "tool", "poetry")
    own = project if project.get("name") else poetry
    at = lines.of(r"^\[(?:project|tool\.poetry)\]", r"^\s*name\s*=")
    listed = [*texts(project.get("dependencies"))]
    for group in table(project, "optional-dependencies").values():
        listed += texts(group)
    requirements = [
        dependency for words in listed for dependency in _requirement(words, lines.of(rf"[\"'](?={re.escape(words)})"))
    ]
    for name, wanted in table(poetry, "dependencies").items():
        if name != "python":
            version = wanted if isinstance(wanted, str) else table(wanted).get("version", "")
            line = lines.of(r"^\[tool\.poetry\.dependencies\]", rf"^\"?{re.escape(name)}\"?\s*=")
            requirements.append(NamedVersion(normalise_distribution(name), str(version).replace("*", ""), line))
    return PackageManifest(_package(own.get("name"), own.get("version"), at), tuple(dict.fromkeys(requirements)))


def _read_setup_cfg(text: str) -> PackageManifest:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError):
        return PackageManifest()
    lines = Lines(text)
    name, version = (parser.get("metadata", key, fallback="") for key in ("name", "version"))
    extras = parser.items("options.extras_require") if parser.has_section("options.extras_require") else []
    blocks = [parser.get("options", "install_requires", fallback=""), *(value for _, value in extras)]
    asked = [line.strip() for block in blocks for line in re.split(r"[\n]", block) if line.strip()]
    requirements = (
        dependency
        for words in asked
        for dependency in _requirement(words, lines.of(r"^\[options", rf"[\s=](?={re.escape(words)})"))
    )
    return PackageManifest(_package(name, version, lines.of(r"^\[metadata\]", r"^name\s*=")), tuple(requirements))


def _read_script(text: str) -> PackageManifest:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return PackageManifest()
    assigned = {
        node.targets[0].id: node.value for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }  # fmt: skip
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and getattr(called, "id", getattr(called, "attr", "")) == "setup":
            given = {word.arg: _value(word.value, assigned) for word in node.keywords}
            name, version, needs = given.get("name"), given.get("version"), given.get("install_requires")
            packages = _package(_constant(name), _constant(version), getattr(name, "lineno", node.lineno))
            items = needs.elts if isinstance(needs, ast.List | ast.Tuple) else []
            requirements = (
                dependency for item in items for dependency in _requirement(str(_constant(item) or "-"), item.lineno)
            )
            return PackageManifest(packages, tuple(requirements))
    return PackageManifest()


def _value(node: ast.expr, assigned: dict[str, ast.expr]) -> ast.expr:
    return assigned.get(node.id, node) if isinstance(node, ast.Name) else node


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _read_release(text: str) -> PackageManifest:
    head = text.partition("\n\n")[0]
    rows = [(match[1], match[2], head.count("\n", 0, match.start()) + 1) for match in _HEADER.finditer(head)]
    fields = {key: (value, line) for key, value, line in reversed(rows)}
    name, line = fields.get("Name", ("", 1))
    needs = (dependency for key, value, at in rows if key == "Requires-Dist" for dependency in _requirement(value, at))
    return PackageManifest(_package(name, fields.get("Version", ("", 1))[0], line), tuple(needs))
