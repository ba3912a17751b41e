"""pybind11 and nanobind: names of Python and what is bound to them in C++."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge
from concordance.link.bridge_context import BridgeContext
from concordance.link.python.bindings import resolver


def join(crossing: BridgeContext) -> Iterator[Bridge]:
    """What is bound, who asks for it, and which stub declares it."""
    yield from resolver.join(crossing, "pybind")
