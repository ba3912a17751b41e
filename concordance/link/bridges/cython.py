"""Cython: Python names that `.pyx` files define, and the C functions that they declare from headers.

A Cython file has no symbols in the store, so a name leads to the file, and its end to the line.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Bridge, Role, Trust, role_bit
from concordance.link.bridge_context import BridgeContext, StatedEnd
from concordance.link.python.packages import STUBS_AND_TEMPLATES

_CALL, _IMPORT = (role_bit(role) for role in (Role.CALL, Role.IMPORT))
_BY = "defined in Cython"


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join the names that Cython defines with their users and stubs, and its declarations with C functions."""
    known: dict[str, StatedEnd] = {}
    for stated in context.ends("cython", "binds"):
        if stated.file.path.endswith((".pxd", ".pxi")):
            continue
        name = f"{context.module_of(stated.file.path)}.{stated.end.name}"
        known.setdefault(name, stated)
        yield stated.to(stated.file.id, Trust.EXACT, "defined here", name=name, more=stated.end.more)
    for name in sorted(known):
        for ask in context.uses_of_foreign_name(name):
            role = Role.IMPORT if ask.roles & _IMPORT else Role.MENTION if ask.roles & _CALL else Role.READ
            yield Bridge("cython", "asks", name, ask.user, -1, known[name].file.id, Trust.VIA_IMPORT, _BY, role)
    for row in context.files if known else ():
        if row.path.endswith(STUBS_AND_TEMPLATES):
            module = context.module_of(row.path.removesuffix(".in"))
            for symbol in context.symbols(row):
                class_place = known.get(f"{module}.{symbol.key.partition('+')[0]}")
                if class_place is not None:
                    name = f"{module}.{class_place.end.name}"
                    yield Bridge("cython", "declares", name, symbol.id, -1, class_place.file.id, Trust.VIA_IMPORT, _BY)
    for stated in context.ends("cython", "declares"):
        yield from _functions(context, stated)


def _functions(context: BridgeContext, stated: StatedEnd) -> Iterator[Bridge]:
    """Join a declaration with its C function, if only one has its name; trusted more if the declared header has it."""
    name = stated.end.name.rpartition("::")[2]
    header = dict(stated.end.more).get("header", "")
    functions = [place for place in context.symbols_named(name, C_FAMILY) if place.kind in ("function", "macro")]
    shown = bool(header) and any(place.path.endswith(header) for place in functions)
    defined = [place for place in functions if not place.declaration] or functions
    own = [place for place in defined if not place.category.startswith("test")]
    if len(own or defined) == 1:
        trust, by = (Trust.VIA_IMPORT, "in the header") if shown else (Trust.UNIQUE_NAME, "only function of this name")
        yield stated.to((own or defined)[0].id, trust, by)._replace(says="uses")
