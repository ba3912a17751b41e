"""Finds plug-ins: a plug-in is a module in a known folder, found by its file name.

In: the name of one of our packages (`concordance.extract.languages`). Out: its modules, by name. There is no registry
to edit when a language or a command is added: the presence of the file registers it.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType


@cache
def names(package: str) -> tuple[str, ...]:
    """Return the names of the plug-ins in a package, sorted."""
    home = importlib.import_module(package)
    return tuple(sorted(m.name for m in pkgutil.iter_modules(home.__path__) if not m.name.startswith("_")))


def load(package: str, name: str) -> ModuleType:
    """Import and return one plug-in's module; raise KeyError if there is none of that name."""
    if name not in names(package):
        raise KeyError(name)
    return importlib.import_module(f"{package}.{name}")
