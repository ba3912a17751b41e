"""The sections of a file's page in page order.

It stands apart from `file_page` because the settings of a repository name sections: reading them, which every question
does, must not load what builds pages.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

from concordance.base import plugins

SECTIONS = "concordance.query.sections.file_page"


@cache
def ordered_sections() -> tuple[ModuleType, ...]:
    """Return the plug-ins of all sections in page order."""
    return tuple(sorted(plugins.load_all(SECTIONS), key=lambda module: (module.ORDER, module.__name__)))


@cache
def titles() -> tuple[str, ...]:
    """Return the titles of all sections in page order."""
    return tuple(module.TITLE for module in ordered_sections())
