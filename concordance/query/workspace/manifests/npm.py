"""Packages of Node: `package.json`."""

from __future__ import annotations

import json
import re

from concordance.query.workspace.manifests import Lines, NamedVersion, PackageManifest, table

FILES = ("package.json",)
_TABLES = ("dependencies", "peerDependencies", "optionalDependencies", "devDependencies")


def read(path: str, text: str) -> PackageManifest:
    """Return what a manifest says."""
    if "node_modules" in path.split("/"):
        return PackageManifest()
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return PackageManifest()
    lines = Lines(text)
    name, version = table(data).get("name"), table(data).get("version", "")
    packages = (NamedVersion(name, str(version), lines.of(r'"name"\s*:')),) if isinstance(name, str) and name else ()
    requirements: dict[str, NamedVersion] = {}
    for group in _TABLES:
        for other, wanted in table(data, group).items():
            line = lines.of(rf'"{group}"\s*:', rf'"{re.escape(other)}"\s*:')
            requirements.setdefault(other, NamedVersion(other, wanted if isinstance(wanted, str) else "", line))
    return PackageManifest(packages, tuple(requirements.values()))
