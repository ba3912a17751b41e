"""The files that every page of the site loads: styles and scripts, as they lie in `assets`.

In: a file's name. Out: its bytes and type. The list is what lies there and nothing else, so no name leads out of it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

FOLDER = "assets"  # in the site, and here
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@cache
def assets() -> dict[str, tuple[bytes, str]]:
    """All of them by their addresses in the site: bytes and type."""
    found = {}
    for one in sorted(files("concordance.render").joinpath(FOLDER).iterdir(), key=lambda one: one.name):
        kind = _TYPES.get("." + one.name.rpartition(".")[2])
        if kind is not None:
            found[f"{FOLDER}/{one.name}"] = one.read_bytes(), kind
    return found
