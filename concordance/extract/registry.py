"""The languages: the names of those with a reader, and the description of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from concordance.base import plugins
from concordance.base.model import Category, DocMarkup, Language
from concordance.collect import file_types

LANGUAGES = "concordance.extract.languages"
# Languages without a reader are read as plain text. Of some, the usual markup of comments is known.
_UNREAD = Language("text", "Plain text")
_COMMENTED = replace(_UNREAD, doc_markup=DocMarkup.COMMANDS)
_MARKED = replace(_UNREAD, doc_markup=DocMarkup.MARKDOWN)
_BOTH = replace(_UNREAD, doc_markup=DocMarkup.COMMANDS | DocMarkup.MARKDOWN)
_DESCRIBED = MappingProxyType(
    {
        "cython": replace(_UNREAD, is_indented=True, doc_markup=DocMarkup.REST, doc_inside=True, doc_code="python"),
        **dict.fromkeys(("csharp", "groovy", "php", "scala"), _COMMENTED),
        **dict.fromkeys(("elixir", "julia", "zig"), _MARKED),
        **dict.fromkeys(("dart", "kotlin", "swift"), _BOTH),
    }
)
# What most questions need of languages: loading a reader takes longer than answering.
_SEPARATORS = MappingProxyType(
    {
        **dict.fromkeys(("go", "java", "javascript", "python", "typescript"), "."),
        **dict.fromkeys(("c", "cpp", "cuda", "objc", "objcpp", "rust"), "::"),
    }
)
_TITLES = MappingProxyType(
    {
        "c": "C", "cmake": "CMake", "cpp": "C++", "cuda": "CUDA", "dockerfile": "Dockerfile", "go": "Go", "ini": "INI",
        "java": "Java", "javascript": "JavaScript", "json": "JSON", "make": "Make", "markdown": "Markdown",
        "objc": "Objective-C", "objcpp": "Objective-C++", "proto": "Protocol Buffers", "python": "Python",
        "rst": "reStructuredText", "rust": "Rust", "shell": "Shell", "starlark": "Starlark", "text": "Plain text",
        "toml": "TOML", "typescript": "TypeScript", "yaml": "YAML",
    }
)  # fmt: skip
_PROSE = frozenset(("markdown", "rst", "text"))


@cache
def readers() -> tuple[str, ...]:
    """Return the names of the languages with a reader of their own; all other text is read as plain text."""
    return plugins.names(LANGUAGES)


def languages() -> tuple[Language, ...]:
    """Return the `Language` description of every reader, which says how its files are recognised."""
    return tuple(plugins.load(LANGUAGES, name).LANGUAGE for name in readers())


@cache
def language_of(name: str) -> Language:
    """Return the description of a language; one without a reader is described as plain text of unknown purpose."""
    if name not in readers():
        language = _DESCRIBED.get(name, _UNREAD)
        return language if is_analysed(name) else replace(language, title=_programming_languages()[name])
    reader: Language = plugins.load(LANGUAGES, name).LANGUAGE
    return reader


def separator_of(name: str) -> str:
    """Return the separator of a language's qualified names, such as `.` or `::`."""
    return _SEPARATORS.get(name) or language_of(name).separator


def title_of(name: str) -> str:
    """Return the title of a language, such as `C++`."""
    return _TITLES.get(name) or language_of(name).title


def is_analysed(name: str) -> bool:
    """False for a programming language without a reader: only its words are indexed, so nothing follows from what was
    not found in its files."""
    return name in readers() or name not in _programming_languages()


@cache
def _programming_languages() -> Mapping[str, str]:
    """Return the titles of the programming languages that no reader claims, by name."""
    named = {row.name: row.title for row in file_types.OTHERS if row.kind is Category.SOURCE}
    return MappingProxyType(named)


@cache
def aliases() -> Mapping[str, str]:
    """Return the names of the languages by their other names, as on fenced code blocks."""
    return MappingProxyType({alias: language.name for language in languages() for alias in language.aliases})


def is_prose(name: str) -> bool:
    """True if the files of a language with a reader are usually documents."""
    return name in _PROSE if name in _TITLES else language_of(name).category is Category.DOCUMENTATION


@cache
def macro_extensions() -> tuple[str, ...]:
    """Return the extensions of files that can define macros for others."""
    return tuple(e for language in languages() if language.has_macros for e in language.extensions)
