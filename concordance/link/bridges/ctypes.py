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
    plain = {one.end.name for one in context.ends("ctypes", "plain")}
    loaded = {(context.module_of(one.file.path), one.end.name) for one in context.ends("ctypes", "library")}
    for one in context.ends("ctypes", *_ROLES):
        library = dict(one.end.more).get("library", "")
        if ":" in library and _imported(context, one, library) not in loaded:
            continue
        yield from _functions(context, one, plain)


def _imported(context: BridgeContext, one: StatedEnd, library: str) -> tuple[str, str]:
    """Return the module and the name from which a library is imported, in full."""
    module, _, name = library.partition(":")
    dots = len(module) - len(module.lstrip("."))
    if dots:
        package = context.module_of(one.file.path).split(".")
        up = dots - one.file.path.rpartition("/")[2].startswith("__init__.")
        module = ".".join(filter(None, [*package[: len(package) - up], module[dots:]]))
    return module, name


def _functions(context: BridgeContext, one: StatedEnd, plain: set[str]) -> Iterator[Bridge]:
    name = one.end.name
    found = [place for place in context.symbols_named(name, C_FAMILY) if place.kind == "function"]
    defined = [place for place in found if not place.declaration] or found
    keeping = [place for place in defined if place.language == "c" or name in plain]
    for place in (keeping or defined)[: _MAX_CANDIDATES + 1] if len(keeping or defined) <= _MAX_CANDIDATES else ():
        alone = len(keeping) == 1
        by = "only C function of this name" if alone else "a function of this name"
        yield one.to(place.id, Trust.UNIQUE_NAME if alone else Trust.CANDIDATE, by, role=_ROLES[one.end.says])
