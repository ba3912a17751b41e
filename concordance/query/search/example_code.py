"""Reads the example code of a bug report: which definitions of the project does it use, and by which names?

In: code in the reporter's language, mostly a script. Out: the dotted names in it as the project spells them. An
example says `xr.open_dataset(path)`, where `import xarray as xr` stands a line above, and `sch.validate(data)`, where
`sch` is a `Foo()` and `class Foo(Schema)` is its own class. So local names are replaced by what they stand for:
`xarray.open_dataset` and `marshmallow.Schema.validate`. What an example defines itself is no name of the project.

The code is read by pattern, not parsed: it is often a fragment, has prompts, or does not even compile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

DOTTED = re.compile(r"(?<![\w./\\-])[A-Za-z_]\w*(?:(?:\.|::|#)~?[A-Za-z_]\w*)+")
SEPARATOR = re.compile(r"\.|::|#")
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.|In \[\d+\]:|\.\.\.:|[>$#](?= ))[ \t]?", re.M)
_FROM = re.compile(r"^[ \t]*from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)", re.M)
_IMPORT = re.compile(
    r"^[ \t]*import[ \t]+([\w.]+(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[\w.]+(?:[ \t]+as[ \t]+\w+)?)*)", re.M
)
_AS = re.compile(r"^([\w.]+)(?:\s+as\s+(\w+))?$")
_NEW = re.compile(
    r"^[ \t]*(?:(?:const|let|var|auto|val)[ \t]+)?(\w+)[ \t]*:?=[ \t]*(?:await[ \t]+|new[ \t]+)?([A-Za-z_][\w.]*)\(",
    re.M,
)
_CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)[ \t]*\([ \t]*([A-Za-z_][\w.]*)", re.M)
_DEFINED = re.compile(
    r"\b(?:def|class|function|func|fn|struct|interface|let|const|var|val)\s+([A-Za-z_]\w*)"
    r"|^\s*(?:[>+-]\s*)?(\w+)\s*:?=(?!=)"
    r"|^(?!\s*(?:return|new|else|throw)\b)\s*(?:[\w:<>,*&]+[ \t]+)+[*&]?(\w+)\([^;()]*\)[ \t]*\{",  # of C++ and Java
    re.M,
)


class ExampleCode(NamedTuple):
    """What an example says about names."""

    stands_for: dict[str, str]  # a local name, and the dotted name that it was imported by or is an instance of
    own: frozenset[str]  # what it defines itself
    modules: frozenset[str]  # the first parts of what it imports

    def expand(self, name: str) -> str:
        """Return a dotted name as the project spells it; "" if the example says nothing about its first part but
        defines it."""
        parts, seen = SEPARATOR.split(name), set[str]()
        while parts[0] in self.stands_for and parts[0] not in seen:
            seen.add(parts[0])
            parts = [*self.stands_for[parts[0]].split("."), *parts[1:]]
        if parts[0] in self.own and not seen:
            return ""
        return ".".join(parts) if seen else name


def read_example(code: str) -> ExampleCode:
    """Read example code."""
    code = _PROMPT.sub("", code)
    stands_for: dict[str, str] = {}
    modules: set[str] = set()
    for module, names in _FROM.findall(code):
        modules.add(module.partition(".")[0])
        for name, local in _imported_names(names.strip("()")):
            stands_for[local or name] = f"{module}.{name}"
    for names in _IMPORT.findall(code):
        for name, local in _imported_names(names):
            modules.add(name.partition(".")[0])
            if local:
                stands_for[local] = name
    own = {name for names in _DEFINED.findall(code) for name in names if name} - stands_for.keys()
    for name, base in _CLASS.findall(code):
        if name not in stands_for and name != base:
            stands_for[name] = base
    for name, made in _NEW.findall(code):
        last = made.rpartition(".")[2]
        if name not in stands_for and (last[:1].isupper() or last in own) and name != made:
            stands_for[name] = made
    return ExampleCode(stands_for, frozenset(own), frozenset(modules - {""}))


def _imported_names(names: str) -> Iterator[tuple[str, str]]:
    for clause in names.replace("\\", " ").split(","):
        match = _AS.match(clause.strip())
        if match:
            yield match[1], match[2] or ""
