"""How the tests of JavaScript and TypeScript are run: as the nearest `package.json` says.

Tests have no names of their own (`it("adds", …)`), so a whole test file counts as one test.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from itertools import dropwhile

from concordance.base.model import RunnerFiles, TestConventions

_MANIFEST = "package.json"
_TEST_NAME = re.compile(r"[.-](?:test|spec|test-d|cy|e2e)\.\w+\Z|(?:^|/)__tests__/")
# What lies among tests, but is none: data, stand-ins, and what prepares or supports them.
_SUPPORT = frozenset(
    ("fixture", "fixtures", "mock", "mocks", "stub", "stubs", "support", "helper", "helpers", "setup", "teardown",
     "bootstrap", "common", "globals", "register", "env")
)  # fmt: skip
# As a part of a name, as in `testUtils.ts`; `utils.js` alone may be the tests of utilities.
_SUPPORT_PARTS = _SUPPORT | {"util", "utils", "config", "data", "types", "runner"}
_FOLDERS = _SUPPORT_PARTS | {"testdata", "assets", "snapshots", "public", "lib", "views", "bench"}
_ROOTS = frozenset(("test", "tests", "spec", "specs", "e2e", "testsuite"))
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_MANAGERS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun run"}
_TOOLS = (("jest", "npx jest"), ("vitest", "npx vitest run"), ("mocha", "npx mocha"), ("ava", "npx ava"))


def _command(files: RunnerFiles, path: str) -> Callable[[str], str] | None:
    for manifest in files.nearest(path, _MANIFEST):
        tool = _tool(files.text(manifest))
        if tool and not _is_run(files.text(manifest), tool.split()[1], path[manifest.rfind("/") + 1 :]):
            return None
        if tool:
            folder = manifest.rpartition("/")[0]
            inside = shlex.quote(path[len(folder) + 1 if folder else 0 :])
            return lambda name: f"{f'cd {shlex.quote(folder)} && ' if folder else ''}{tool} {inside}"
    return None


def _all_tests(files: RunnerFiles) -> str:
    script = _script(files.text(_MANIFEST))
    if not script or "no test specified" in script:
        return ""
    lock = next((name for name in _MANAGERS if files.text(name, 1)), "")
    return f"{_MANAGERS.get(lock, 'npm')} test"


def _is_run(manifest: bytes, tool: str, path: str) -> bool:
    """False if the scripts of a package run a tool only on other files: `mocha test/unit/**/*.js`."""
    try:
        scripts = json.loads(manifest)["scripts"].values()
    except (ValueError, KeyError, TypeError, AttributeError):
        return True
    commands = (re.split(r"&&|\|\||;", str(script)) for script in scripts)
    ran = [part for parts in commands for part in parts if re.search(rf"(?:^|[\s/]){re.escape(tool)}\b", part)]
    places = [re.findall(r"(?<=[\s'\"])(?:\./)?([\w.-]+/[\w./-]*)", part.partition(tool)[2]) for part in ran]
    options = re.compile(r"\bnode_modules/|config")
    folders = [place for part in places for place in part if not options.search(place) and "support" not in place]
    return not folders or not all(places) or any(path.startswith(place) for place in folders)


def _script(manifest: bytes) -> str:
    """Return the command that a package gives for its tests."""
    try:
        scripts = json.loads(manifest)["scripts"]
        return str(scripts["test"])
    except (ValueError, KeyError, TypeError):
        return ""


def _tool(manifest: bytes) -> str:
    """Return the program that runs the tests of a package."""
    try:
        package = json.loads(manifest)
    except ValueError:
        return ""
    if not isinstance(package, dict):
        return ""
    scripts = package.get("scripts")
    script = str(scripts.get("test", "")) if isinstance(scripts, dict) else ""
    names = {name for key in ("dependencies", "devDependencies") for name in _keys(package.get(key))}
    names |= set(re.findall(r"[\w-]+", script)) | ({"jest"} if "jest" in package else set())
    return next((tool for word, tool in _TOOLS if word in names), "npm test --" if script else "")


def is_whole_test(path: str) -> bool:
    """True if a file among tests is one, by its name, as the programs that run tests find them."""
    *folders, name = path.split("/")
    words = _words(name.rpartition(".")[0])
    if _TEST_NAME.search(path):
        return True
    inside = list(dropwhile(lambda folder: folder.lower() not in _ROOTS, folders))[1:]
    if name.startswith(".") or any(not _FOLDERS.isdisjoint(_words(folder)) for folder in inside):
        return False
    if words == ["index"] and inside:
        return False
    return _SUPPORT.isdisjoint(words) if len(words) == 1 else _SUPPORT_PARTS.isdisjoint(words)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _keys(value: object) -> list[str]:
    return [str(key) for key in value] if isinstance(value, dict) else []


CONVENTIONS = TestConventions(
    is_whole_test=is_whole_test, command=_command, command_for_all=_all_tests, settings=(_MANIFEST,)
)
