"""Decides whether a version satisfies a requirement.

In: a version and a requirement as the manifests write them. Out: True or False; None if either is written in a way that
is not understood, about which nothing is said. The operators of all ecosystems are understood together, as they agree
where they overlap, except for a bare version: in Python, Maven and NuGet it is not an operator that must hold exactly,
in Cargo it means `^`, in Go and CMake and Bazel it is a minimum.
"""

from __future__ import annotations

import re

Release = tuple[int, ...]
_VERSION = re.compile(r"[v=]?(\d+(?:\.\d+)*)(?:\.?(?:post|final|ga|release)\.?\d*)?(?:\+[\w.]+)?", re.I)
_TERM = re.compile(r"(===|==|!=|~=|>=|<=|>|<|\^|~>|~|=)?\s*v?(\d+(?:\.(?:\d+|[xX*]))*)(?![\w.*-])\s*")
_HYPHEN = re.compile(r"(\d[\d.]*)\s+-\s+(\d[\d.]*)")
_ANY = frozenset(("", "*", "x", "latest", "any"))
_BARE = {"npm": "==", "cargo": "^", "go": ">=", "cmake": ">=", "bazel": ">=", "maven": "", "nuget": ">=", "pypi": ""}


def satisfies(ecosystem: str, version: str, wanted: str) -> bool | None:
    """Return whether a version is one of those that a requirement asks for; None if that is not known."""
    match = _VERSION.fullmatch(version.strip())
    if match is None or wanted.strip().startswith("workspace:"):
        return None
    release = _release(match[1])
    choices = [_holds(ecosystem, release, part.strip()) for part in wanted.split("||")]
    return True if True in choices else None if None in choices else False


def _holds(ecosystem: str, release: Release, wanted: str) -> bool | None:
    """Return whether a version satisfies every term of a requirement."""
    if wanted in _ANY:
        return True
    wanted = _HYPHEN.sub(r">=\1 <=\2", wanted)
    at = 0
    results = []
    while at < len(wanted):
        match = _TERM.match(wanted, at)
        operator = (match[1] or _BARE.get(ecosystem, "")) if match is not None else ""
        if match is None or not operator:
            return None
        results.append(_compare(operator, release, match[2], ecosystem))
        at = match.end()
        while at < len(wanted) and wanted[at] in ", ":
            at += 1
    return all(results)


def _compare(operator: str, release: Release, written: str, ecosystem: str) -> bool:
    parts = re.split(r"\.", written)
    known = [part for part in parts if part not in ("x", "X", "*")]
    floor = _release(".".join(known))
    if len(known) < len(parts) or (ecosystem == "npm" and len(parts) < 3 and operator in ("=", "==")):  # 1.x, 1.*
        inside = release[: len(known)] == _padded(floor, len(known))
        return not inside if operator == "!=" else inside
    mine, theirs = _padded(release, 6), _padded(floor, 6)
    if operator in ("==", "===", "=", "!="):
        return (mine == theirs) != (operator == "!=")
    if operator in (">", ">=", "<", "<="):
        return {">": mine > theirs, ">=": mine >= theirs, "<": mine < theirs, "<=": mine <= theirs}[operator]
    if operator == "^":  # the first part that is not zero stays
        fixed = next((place for place, part in enumerate(known) if int(part)), len(known) - 1) + 1
    elif operator == "~":
        fixed = min(2, len(known))
    else:  # ~= and ~>: all but the last part stay
        fixed = max(1, len(known) - 1)
    return mine >= theirs and mine[:fixed] == theirs[:fixed]


def _release(text: str) -> Release:
    return tuple(int(part[:18]) for part in text.split(".") if part)


def _padded(release: Release, count: int) -> Release:
    return (*release, *(0,) * (count - len(release)))
