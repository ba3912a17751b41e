"""Paths inside a repository: relative, with `/` between their parts, `""` for the root."""

from __future__ import annotations

from collections.abc import Iterator


def parent_folders(path: str) -> Iterator[str]:
    """Yield the folders that contain a path, the nearest first, the root last."""
    while path:
        path = path.rpartition("/")[0]
        yield path
