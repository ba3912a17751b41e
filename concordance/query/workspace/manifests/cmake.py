"""CMake packages: the projects of a repository, and what `find_package` requires."""

from __future__ import annotations

import re

from concordance.query.workspace.manifests import NamedVersion, PackageManifest

FILES = ("CMakeLists.txt", "*.cmake", "*-config.cmake.in", "*Config.cmake.in")
_PROJECT = re.compile(r"^[ \t]*project\s*\(\s*([\w.+-]+)(?:[^()]*?\bVERSION\s+([\d.]+))?", re.M | re.I)
_WANTED = re.compile(r"^[ \t]*(?:find_package|find_dependency)\s*\(\s*([\w.+-]+)(?:\s+(\d[\d.]*))?", re.M | re.I)


def read(path: str, text: str) -> PackageManifest:
    """Return what a manifest says. Only a build file defines a project; names are compared in lower case."""

    def rows(pattern: re.Pattern[str]) -> tuple[NamedVersion, ...]:
        matches = pattern.finditer(text)
        return tuple(
            NamedVersion(match[1].lower(), match[2] or "", text.count("\n", 0, match.start(1)) + 1) for match in matches
        )

    return PackageManifest(rows(_PROJECT) if path.endswith("CMakeLists.txt") else (), rows(_WANTED))
