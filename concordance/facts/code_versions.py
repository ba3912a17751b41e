"""Versions of the code that makes facts, links and pages, so that results of other code are made again.

In: this installation. Out: short strings that change whenever the code, the types that it fills or a grammar changes.
They are digests of the files themselves, so nobody has to remember to increase a number. A process computes each once:
it keeps running the code that it has loaded, even if the files change.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.util import find_spec

from concordance.base import plugins

_CACHED_WITH_FACTS = ("facts/cache.py", "facts/fulltext/file_words.py", "facts/fulltext/words.py")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@cache
def readers() -> str:
    """Return the version of the code that reads files, and of all else that decides what the cache has of them."""
    return _digest(
        ["base/kinds.py", "base/model.py", "workflow/stages/extract.py", *_CACHED_WITH_FACTS],
        ["collect", "extract"],
        " ".join(_parsers()),
    )


@cache
def linkers() -> str:
    """Return the version of the code that computes links and analyses from facts."""
    return _digest(
        ["base/paths.py", "workflow/stages/link.py", "workflow/stages/bridges.py", "workflow/stages/passes.py"],
        ["facts", "link", "passes"],
        "",
    )


@cache
def pages() -> str:
    """Return the version of the code that makes pages, including languages and bridges, which describe themselves."""
    stage = ["workflow/stages/page_writer.py", "workflow/stages/pages.py"]
    own = ["base/blocks.py", "base/characters.py", "base/paths.py", "base/version.py", *stage]
    return _digest(own, ["extract", "link/bridges", "query", "render"], "")


@cache
def site() -> str:
    """Return the version of the code that makes the site's pages, including the extractors, which colour source."""
    own = ["base/blocks.py", "base/characters.py", "base/paths.py", "base/version.py"]
    return _digest(own, ["extract", "link/bridges", "query", "render", "serve"], "")


def installed_files() -> list[str]:
    """Return all modules of the program and its extensions, and their folders."""
    files = []
    for package in (_PACKAGE, *_extensions()):
        for folder, folders, names in os.walk(package):
            folders[:] = [name for name in folders if name != "__pycache__"]
            files += [folder, *(os.path.join(folder, name) for name in names if name.endswith(".py"))]
    return sorted(files)


def _digest(files: list[str], stages: list[str], more: str) -> str:
    digest = hashlib.sha256()
    for path in _sources(files, stages):
        with open(path, "rb") as file:
            digest.update(file.read())
    digest.update(more.encode())
    return digest.hexdigest()[:24]


def _sources(files: list[str], stages: list[str]) -> list[str]:
    paths = [os.path.join(_PACKAGE, name) for name in files]
    for package in (_PACKAGE, *_extensions()):
        for stage in stages:
            for folder, _, names in os.walk(os.path.join(package, stage)):
                paths += [os.path.join(folder, name) for name in names if name.endswith(".py")]
    return sorted(paths)


def _extensions() -> list[str]:
    """The folders of the packages that extend the program."""
    specs = [find_spec(name) for name in plugins.extensions()]
    return [folder for spec in specs if spec is not None for folder in spec.submodule_search_locations or ()]


def _parsers() -> list[str]:
    """Return the installed grammars and the stemmer: the names of their folders contain their versions."""
    spec = find_spec("tree_sitter")
    if spec is None or spec.origin is None:
        return []
    names = os.listdir(os.path.dirname(os.path.dirname(spec.origin)))
    return sorted(name for name in names if "tree_sitter" in name or name.startswith("tantivy"))
