"""Patterns of build and automation files: CMake, Make, Docker, GitHub workflows and Bazel.

In: a `PatternContext`. Out: the places that show each pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Kind
from concordance.extract.reading.pattern_context import Finder, PatternContext, Place

_TARGET = re.compile(r"\S++[ \t]*+")


def _text(pattern: str, flags: int = 0) -> Finder:
    """Return a finder for lines that match a pattern from their beginning; a place is named by the first group."""
    wanted = re.compile(pattern, re.M | flags)

    def find(file: PatternContext) -> Iterator[Place]:
        for line, match in file.matches(wanted):
            yield Place(line, -1, match[1].strip())

    return find


_STAGE = re.compile(r"^FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?", re.M | re.I)
_PHONY = re.compile(r"^\.PHONY[ \t]*:[ \t]*(.+)$", re.M)


def _stages(file: PatternContext) -> Iterator[Place]:
    """Yield the stages of a Dockerfile that has more than one."""
    stages = list(file.matches(_STAGE))
    for line, match in stages if len(stages) > 1 else ():
        yield Place(line, -1, match[2] or match[1], f"from {match[1]}" if match[2] else "")


def _phony(file: PatternContext) -> Iterator[Place]:
    for line, match in file.matches(_PHONY, ".PHONY"):
        for name in match[1].split():
            if name != "\\":
                yield Place(line, -1, name)


def _pattern_rules(file: PatternContext) -> Iterator[Place]:
    """Yield lines that begin with a word with `%` and a colon and are not assignments."""
    for number, line in enumerate(file.code.split("\n") if "%" in file.code else (), 1):
        at = line.find("%")
        colon = line.find(":", max(at, line.rfind("=")) + 1) if at >= 0 else -1
        if colon >= 0 and _TARGET.fullmatch(line, 0, colon):
            yield Place(number, -1, line.strip())


def _is_workflow(file: PatternContext) -> bool:
    """True if a YAML file has the keys of a GitHub workflow; its path is not known here."""
    return {"on", "jobs"} <= file.members_of(-1).keys()


def _workflow(pattern: str) -> Finder:
    """Return a finder for a pattern in workflows and actions only."""
    find = _text(pattern)

    def inside(file: PatternContext) -> Iterator[Place]:
        if _is_workflow(file) or "runs" in file.members_of(-1):
            yield from find(file)

    return inside


def _matrix(file: PatternContext) -> Iterator[Place]:
    """Yield the jobs with a matrix, and its dimensions."""
    for place, symbol in enumerate(file.symbols if _is_workflow(file) else ()):
        if symbol.kind == Kind.KEY and symbol.name == "matrix":
            inside = [file.symbols[member].name for member in file.members_of(place).values()]
            job = file.symbols[symbol.parent].parent if symbol.parent >= 0 else -1
            name = file.symbols[job].name if job >= 0 else "matrix"
            yield Place(symbol.line, -1, name, f"over {', '.join(inside)}" if inside else "")


def _macros(file: PatternContext) -> Iterator[Place]:
    """Yield the functions of Bazel that take the name of a target to declare."""
    for place, symbol in enumerate(file.symbols):
        names = [parameter.name for parameter in symbol.parameters]
        if symbol.kind == Kind.FUNCTION and "name" in names and symbol.public:
            yield Place(symbol.line, place, symbol.name)


_CMAKE: tuple[tuple[str, Finder], ...] = (
    ("Options", _text(r"^[ \t]*(?:cmake_dependent_)?option[ \t]*\([ \t\n]*(\w+)", re.I)),
    ("Libraries", _text(r"^[ \t]*\w*add_library[ \t]*\([ \t\n]*([^\s)]+)", re.I)),
    ("Programs", _text(r"^[ \t]*\w*add_executable[ \t]*\([ \t\n]*([^\s)]+)", re.I)),
    ("Functions", _text(r"^[ \t]*function[ \t]*\([ \t\n]*(\w+)", re.I)),
    ("Macros", _text(r"^[ \t]*macro[ \t]*\([ \t\n]*(\w+)", re.I)),
    ("Package lookups", _text(r"^[ \t]*find_package[ \t]*\([ \t\n]*([\w${}.-]+)", re.I)),
    ("Generated files", _text(r"^[ \t]*configure_file[ \t]*\([ \t\n]*([^\s)]+)", re.I)),
    ("Custom build steps",
     _text(r"^[ \t]*add_custom_(?:command|target)[ \t]*\([ \t\n]*(?:OUTPUT[ \t\n]+|TARGET[ \t\n]+)?([^\s)]+)", re.I)),
    ("Tests", _text(r"^[ \t]*add_test[ \t]*\([ \t\n]*(?:NAME[ \t\n]+)?([^\s)]+)", re.I)),
)  # fmt: skip
_MAKE: tuple[tuple[str, Finder], ...] = (
    ("Phony targets", _phony),
    ("Pattern rules", _pattern_rules),
    ("Included makefiles", _text(r"^-?s?include[ \t]+(.+)$")),
    ("Variable defaults", _text(r"^([A-Za-z_]\w*)[ \t]*\?=")),
    ("Functions", _text(r"^define[ \t]+(\w+)")),
)  # fmt: skip
_DOCKER: tuple[tuple[str, Finder], ...] = (
    ("Stages", _stages), ("Build arguments", _text(r"^ARG[ \t]+(\w+)", re.I)),
    ("Runs as a non-root user", _text(r"^USER[ \t]+((?!root\b|0\b)\S+)", re.I)),
    ("Entry point", _text(r"^(?:ENTRYPOINT|CMD)[ \t]+(.+)$", re.I)),
    ("Copies between stages", _text(r"^COPY[ \t]+--from=(\S+)", re.I)),
    ("Health check", _text(r"^HEALTHCHECK[ \t]+(.+)$", re.I)),
)  # fmt: skip
_YAML: tuple[tuple[str, Finder], ...] = (
    ("Job matrix", _matrix),
    ("Called by other workflows", _workflow(r"^[ \t]+(workflow_call)[ \t]*:")),
    ("Calls other workflows",
     _workflow(r"^[ \t]+uses:[ \t]+[\"']?((?:\.|[\w.-]+/[\w.-]+)/\.github/workflows/\S+?)[\"']?$")),
    ("Manual trigger", _workflow(r"^[ \t]+(workflow_dispatch)[ \t]*:")),
    ("Schedule", _workflow(r"^[ \t]+-[ \t]+cron:[ \t]*[\"']?([^\"'\n#]+)")),
    ("One run at a time", _workflow(r"^[ \t]*(concurrency)[ \t]*:")),
    ("Restricted permissions", _workflow(r"^[ \t]*(permissions)[ \t]*:")),
    ("Secrets", _workflow(r"^[^#\n]*\$\{\{[ \t]*secrets\.(\w+)")),
)  # fmt: skip
_BAZEL: tuple[tuple[str, Finder], ...] = (
    ("Macros", _macros), ("Custom rules", _text(r"^(\w+)[ \t]*=[ \t]*(?:repository_)?rule\(")),
    ("Configuration choices", _text(r"^[^#\n]*\b(select)\(\{")),
    ("File globs", _text(r"^[^#\n]*\bglob\(\[[ \t\n]*[\"']([^\"'\n]+)")),
    ("Visibility", _text(r"^[^#\n]*\bvisibility[ \t]*=[ \t]*\[[ \t\n]*[\"']([^\"'\n]+)")),
)  # fmt: skip
TABLES = {"cmake": _CMAKE, "make": _MAKE, "dockerfile": _DOCKER, "yaml": _YAML, "starlark": _BAZEL}
