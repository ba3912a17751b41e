"""Go modules: `go.mod`."""

from __future__ import annotations

import re

from concordance.query.workspace.manifests import NamedVersion, PackageManifest

FILES = ("go.mod",)
_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.M)
_REQUIREMENT = re.compile(r"^[ \t]*(?:require[ \t]+)?\"?([\w~-]+\.[\w.~/-]+)\"?[ \t]+(v\d[^\s/]*)", re.M)


def read(path: str, text: str) -> PackageManifest:
    """Return what a manifest says."""

    def rows(pattern: re.Pattern[str]) -> tuple[NamedVersion, ...]:
        matches = pattern.finditer(text)
        return tuple(
            NamedVersion(match[1], "".join(match.groups()[1:]), text.count("\n", 0, match.start(1)) + 1)
            for match in matches
        )

    return PackageManifest(rows(_MODULE), rows(_REQUIREMENT))
