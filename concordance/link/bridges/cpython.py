"""CPython's C API: names of Python and the functions, types and values that tables and calls give them."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge
from concordance.link.bridge_context import BridgeContext
from concordance.link.python.bindings import resolver


def join(crossing: BridgeContext) -> Iterator[Bridge]:
    """What is bound, who asks for it, and which stub declares it."""
    yield from resolver.join(crossing, "cpython")
