"""CPython's C API: Python names, and the functions, types and values that tables and calls bind to them."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge
from concordance.link.bridge_context import BridgeContext
from concordance.link.python.bindings import resolver


def join(crossing: BridgeContext) -> Iterator[Bridge]:
    """Join bindings with their Python users and with the stubs that declare them."""
    yield from resolver.join(crossing, "cpython")
