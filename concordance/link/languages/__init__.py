"""Plug-ins, one for each language family: how it resolves imports, and which linker resolves its names."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from types import ModuleType
from typing import Protocol

from concordance.base import plugins
from concordance.base.model import Import, Target
from concordance.link.paths.tree import Tree


class ImportLinker(Protocol):
    """Resolves the imports of one family of languages.

    One that also resolves names has `names(world)`, which returns a `link.language_linker.LanguageLinker`. Two more
    parts are optional, and False by default: `LOADS_IMPORTS` is True if a file needs the files that it imports when it
    is loaded, `TRACKS_VALUES` if links follow values, because any name may hold anything; other languages declare types
    by name.
    """

    @property
    def LANGUAGES(self) -> Collection[str]:
        """The languages whose imports it resolves."""

    def imports(self, tree: Tree) -> Callable[[str, Import], Target | list[Target]]:
        """Return a function that maps the path of the importing file and one `Import` to its target."""


PROTOCOL = ImportLinker


def import_linkers() -> dict[str, ModuleType]:
    """Return the plug-in of each language that has one; the languages of a family share it."""
    return {language: module for module in plugins.load_all(__name__) for language in module.LANGUAGES}


@cache
def loading_languages() -> frozenset[str]:
    """Return the languages in which a file needs the files that it imports when it is loaded."""
    return _languages_where("LOADS_IMPORTS")


@cache
def value_tracking_languages() -> frozenset[str]:
    """Return the languages in which links follow values."""
    return _languages_where("TRACKS_VALUES")


def _languages_where(part: str) -> frozenset[str]:
    return frozenset(language for language, module in import_linkers().items() if getattr(module, part, False))
