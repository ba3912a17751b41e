"""Patterns of PyTorch's own code: network modules, autograd functions, dispatch stubs.

In: a `PatternContext`. Out: the places that show each pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.reading.pattern_context import Finder, PatternContext, Place

_STUB = re.compile(
    r"^[ \t]*((?:DECLARE|DEFINE|REGISTER)_(?:\w+_)?DISPATCH)[ \t]*\((?:[^,()\n]++,[ \t]*+|[ \t]*+)(\w+)", re.M
)
_TYPES = re.compile(r"[^\n#]*?\b(AT_DISPATCH_\w+|VML_DISPATCH\w*)[ \t]*\(", re.M)


def _module(file: PatternContext) -> Iterator[Place]:
    for place, symbol in file.classes:
        extends = any(base.rpartition(".")[2] in ("Module", "ScriptModule") for base in symbol.bases)
        if extends and "forward" in file.members_of(place):
            yield file.symbol(place)


def _autograd(file: PatternContext) -> Iterator[Place]:
    for place, symbol in file.classes:
        if any(base in ("Function", "torch.autograd.Function", "autograd.Function") for base in symbol.bases):
            own = file.members_of(place)
            if "forward" in own and "backward" in own:
                yield file.symbol(place)


def _torch_hooks(file: PatternContext) -> Iterator[Place]:
    return map(file.symbol, file.class_members("__torch_function__", "__torch_dispatch__"))


def _stubs(file: PatternContext) -> Iterator[Place]:
    verbs = {"DECLARE": "declared", "DEFINE": "defined", "REGISTER": "filled"}
    for line, match in file.matches(_STUB, "_DISPATCH"):
        word = verbs[match[1].partition("_")[0]]
        if word == "filled":
            inside = re.search(r"\([ \t]*(\w+)", match[0])
            yield Place(line, -1, inside[1] if inside else match[2], word)
        else:
            yield Place(line, -1, match[2], word)


def _type_dispatch(file: PatternContext) -> Iterator[Place]:
    for line, match in file.matches(_TYPES, "AT_DISPATCH_", "VML_DISPATCH"):
        place = file.function_at(line)
        if place >= 0:
            yield Place(line, place, "", match[1])


_PYTHON: tuple[tuple[str, Finder], ...] = (
    ("Network module", _module),
    ("Autograd function", _autograd),
    ("Torch overrides", _torch_hooks),
)
_CPP: tuple[tuple[str, Finder], ...] = (("Dispatch stubs", _stubs), ("Dispatch on element type", _type_dispatch))
TABLES = {"python": _PYTHON, "cpp": _CPP, "cuda": _CPP, "objcpp": _CPP}
