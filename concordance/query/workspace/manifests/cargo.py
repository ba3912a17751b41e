"""Crates of Rust: `Cargo.toml`."""

from __future__ import annotations

import re
import tomllib

from concordance.query.workspace.manifests import Lines, NamedVersion, PackageManifest, table

FILES = ("Cargo.toml",)
_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


def read(path: str, text: str) -> PackageManifest:
    """Return what a manifest says."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return PackageManifest()
    lines = Lines(text)
    own = table(data, "package")
    name, version = own.get("name"), own.get("version")
    at = lines.of(r"^\[package\]", r"^\s*name\s*=")
    known = version if isinstance(version, str) else ""
    packages = (NamedVersion(name, known, at),) if isinstance(name, str) and name else ()
    groups = [(group, table(data, group)) for group in _TABLES]
    groups.append(("workspace.dependencies", table(data, "workspace", "dependencies")))
    requirements = []
    for group, rows in groups:
        for written, value in rows.items():
            package = table(value).get("package", written)
            wanted = value if isinstance(value, str) else table(value).get("version", "")
            line = lines.of(rf"^\[{re.escape(group)}(?:\]|\.(?={re.escape(written)}\]))", rf"{re.escape(written)}\b")
            requirements.append(NamedVersion(str(package), str(wanted), line))
    return PackageManifest(packages, tuple(requirements))
