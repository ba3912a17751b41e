"""The files that every page loads: styles and scripts, which come with the program.

In: nothing. Out: their bytes by name, read once from a fixed folder; no request names a file of the disk.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from concordance import render

FOLDER = "assets"
_TYPES = {
    ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
    ".png": "image/png", ".ico": "image/x-icon", ".woff2": "font/woff2",
}  # fmt: skip


@cache
def assets() -> dict[str, tuple[bytes, str]]:
    """Bytes and type of each, by its address in the site."""
    found = {}
    for path in sorted(Path(os.path.dirname(render.__file__), FOLDER).iterdir()):
        if path.suffix in _TYPES and path.is_file():
            found[f"{FOLDER}/{path.name}"] = path.read_bytes(), _TYPES[path.suffix]
    return found
