"""ctypes and cffi: the C function that Python calls in a library, found by name.

A function keeps its name in C, and in C++ if it is declared `extern "C"` there or in a header. Anything else of that
name is only a candidate.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Bridge, Role, Trust
from concordance.link.bridge_context import BridgeContext, StatedEnd

_ROLES = {"calls": Role.CALL, "reads": Role.READ, "declares": ""}
_MAX_CANDIDATES = 3


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join calls with the functions of the repository."""
    plain = {stated.end.name for stated in context.ends("ctypes", "plain")}
    loaded = {(context.module_of(stated.file.path), stated.end.name) for stated in context.ends("ctypes", "library")}
    for stated in context.ends("ctypes", *_ROLES):
        library = dict(stated.end.more).get("library", "")
        if ":" in library and _imported(context, stated, library) not in loaded:
            continue
        yield from _functions(context, stated, plain)


def _imported(context: BridgeContext, stated: StatedEnd, library: str) -> tuple[str, str]:
    """Return the module and the name from which a library is imported, in full."""
    module, _, name = library.partition(":")
    dots = len(module) - len(module.lstrip("."))
    if dots:
        package = context.module_of(stated.file.path).split(".")
        up = dots - stated.file.path.rpartition("/")[2].startswith("__init__.")
        module = ".".join(filter(None, [*package[: len(package) - up], module[dots:]]))
    return module, name


def _functions(context: BridgeContext, stated: StatedEnd, plain: set[str]) -> Iterator[Bridge]:
    name = stated.end.name
    functions = [place for place in context.symbols_named(name, C_FAMILY) if place.kind == "function"]
    defined = [place for place in functions if not place.declaration] or functions
    keeping = [place for place in defined if place.language == "c" or name in plain]
    for place in (keeping or defined)[: _MAX_CANDIDATES + 1] if len(keeping or defined) <= _MAX_CANDIDATES else ():
        alone = len(keeping) == 1
        by = "only C function of this name" if alone else "a function of this name"
        yield stated.to(place.id, Trust.UNIQUE_NAME if alone else Trust.CANDIDATE, by, role=_ROLES[stated.end.says])
