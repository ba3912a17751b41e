"""How the tests of JavaScript and TypeScript are run: as the nearest `package.json` says.

Tests have no names of their own (`it("adds", …)`), so a whole test file counts as one test.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable

from concordance.base.model import RunnerFiles, TestConventions

_MANIFEST = "package.json"
_TOOLS = (("jest", "npx jest"), ("vitest", "npx vitest run"), ("mocha", "npx mocha"), ("ava", "npx ava"))


def _command(files: RunnerFiles, path: str) -> Callable[[str], str] | None:
    for manifest in files.nearest(path, _MANIFEST):
        tool = _tool(files.text(manifest))
        if tool:
            folder = manifest.rpartition("/")[0]
            inside = shlex.quote(path[len(folder) + 1 if folder else 0 :])
            return lambda name: f"{f'cd {shlex.quote(folder)} && ' if folder else ''}{tool} {inside}"
    return None


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


def _keys(value: object) -> list[str]:
    return [str(key) for key in value] if isinstance(value, dict) else []


CONVENTIONS = TestConventions(whole_files=True, command=_command, settings=(_MANIFEST,))
