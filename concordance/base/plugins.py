"""Finds plug-ins: a plug-in is a module in a known folder, found by its file name.

In: one of our plug-in packages (`concordance.extract.languages`). Out: its modules by name. No registry is edited to
add a language or a command: the file is the registration.

Other distributions extend the program in the same way. A package that is named by an entry point of the group
`concordance.plugins` mirrors our folders: the modules of `its_package.query.commands` are commands as those of
`concordance.query.commands` are. Each plug-in package names the `Protocol` that its modules implement as `PROTOCOL`; a
module that lacks a part of it, or cannot be imported, is reported by name when it is loaded.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import find_spec
from types import ModuleType

from concordance.base.errors import BrokenPlugin

GROUP = "concordance.plugins"  # of entry points
_OURS = "concordance"
# What a module may raise while it is imported, if it is faulty or made for another version.
_FAULTS = (ImportError, SyntaxError, NameError, AttributeError, TypeError, ValueError)


@cache
def extensions() -> tuple[str, ...]:
    """Return the names of the installed packages that extend the program, sorted."""
    # Not by `importlib.metadata`: importing it takes a tenth of the time of a question.
    packages: set[str] = set()
    for folder in sys.path:
        with suppress(OSError):
            for name in os.listdir(folder):
                if name.endswith((".dist-info", ".egg-info")):
                    packages.update(_entry_points(os.path.join(folder, name, "entry_points.txt")))
    return tuple(sorted(packages))


def _entry_points(path: str) -> Iterator[str]:
    """Yield the packages that a distribution names under our group."""
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        group = ""
        for line in file:
            text = line.strip()
            if text.startswith("["):
                group = text.strip("[] ")
            elif group == GROUP and "=" in text and not text.startswith(("#", ";")):
                yield text.partition("=")[2].strip()


@cache
def names(package: str) -> tuple[str, ...]:
    """Return the names of all plug-ins in a package and in its mirrors in extensions, sorted."""
    return tuple(sorted({*_names_in(package), *_extended(package)}))


@cache
def load(package: str, name: str) -> ModuleType:
    """Import a plug-in and check it against the package's protocol; KeyError if there is none of that name."""
    if name in _names_in(package):
        package_name = package
    elif name in _extended(package):
        package_name = _extended(package)[name]
    else:
        raise KeyError(name)
    try:
        module = importlib.import_module(f"{package_name}.{name}")
    except _FAULTS as error:
        reason = f"{type(error).__name__}: {error}"
        raise BrokenPlugin(
            f"the plug-in {package_name}.{name} cannot be imported: {reason}", "Update or remove it"
        ) from error
    protocol = getattr(importlib.import_module(package), "PROTOCOL", None)
    missing = [part for part in _required_names(protocol) if not hasattr(module, part)]
    if missing:
        raise BrokenPlugin(
            f"the plug-in {module.__name__} lacks {', '.join(missing)}", f"See {package}.{_protocol_name(protocol)}"
        )
    return module


def summary(package: str, name: str) -> str:
    """Return what the first line of a plug-in's docstring says after its name, as a sentence."""
    about = _source(package, name).partition("\n")[0].strip('"').partition(": ")[2]
    return about[:1].upper() + about[1:]


@cache
def load_defining(package: str, part: str) -> tuple[ModuleType, ...]:
    """Import the plug-ins of a package that define an optional part of its protocol, and no others."""
    defined = re.compile(rf"^(?:def )?{part}\b", re.M)
    return tuple(load(package, name) for name in names(package) if defined.search(_source(package, name)))


@cache
def load_all(package: str) -> tuple[ModuleType, ...]:
    """Import all plug-ins of a package, in the order of their names."""
    return tuple(load(package, name) for name in names(package))


@cache
def _names_in(package: str) -> frozenset[str]:
    return frozenset(
        module.name for module in pkgutil.iter_modules(_folders(package)) if not module.name.startswith("_")
    )


def _source(package: str, name: str) -> str:
    """The source of a plug-in, which is not imported: importing all of a package would load most of the program."""
    spec = PathFinder.find_spec(name, _folders(package if name in _names_in(package) else _extended(package)[name]))
    loader = spec.loader if spec is not None else None
    return (loader.get_source(name) if isinstance(loader, SourceFileLoader) else None) or ""


def _folders(package: str) -> list[str]:
    """The folders of a package, which is not imported."""
    spec = find_spec(package)
    return list(spec.submodule_search_locations or ()) if spec is not None else []


@cache
def _extended(package: str) -> Mapping[str, str]:
    """The plug-ins of extensions that ours do not hide: for each name the package that holds it."""
    packages_by_name: dict[str, str] = {}
    for extension in extensions():
        mirrored = extension + package.removeprefix(_OURS)
        try:
            there = find_spec(mirrored) is not None
        except ModuleNotFoundError:  # a folder above it is missing
            there = False
        for name in sorted(_names_in(mirrored) - _names_in(package)) if there else ():
            packages_by_name.setdefault(name, mirrored)
    return packages_by_name


def _required_names(protocol: type | None) -> list[str]:
    """The names that a protocol requires."""
    if protocol is None:
        return []
    stated = (name for name, value in vars(protocol).items() if callable(value) or isinstance(value, property))
    return [name for name in (*vars(protocol).get("__annotations__", ()), *stated) if not name.startswith("_")]


def _protocol_name(protocol: type | None) -> str:
    return protocol.__name__ if protocol is not None else ""
