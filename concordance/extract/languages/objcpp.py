"""Objective-C++: Objective-C and C++ in one file."""

from __future__ import annotations

from concordance.base.model import Language
from concordance.extract import cfamily
from concordance.extract.draft import Draft
from concordance.extract.macros import Macros
from concordance.extract.source import Source

LANGUAGE = Language(
    "objcpp", "Objective-C++", extensions=(".mm",), separator="::", has_macros=True, has_prototypes=True
)


def read(source: Source, macros: Macros | None = None) -> Draft:
    """One Objective-C++ file."""
    return cfamily.read(source, cfamily.CPP, macros, objects=True)
