"""reST directives as Markdown: notes and versions as labelled paragraphs, code and formulas as fences.

In: a directive's name, argument and body. Out: blocks. What only speaks to Sphinx (tables of contents, index entries)
gives none; a directive that is not known shows its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from concordance.query.markup.inline import code, linked
from concordance.query.markup.markdown_shapes import Made, evened, fenced, language_of, led, listed
from concordance.query.markup.sections import Reader

_OPTION = re.compile(r":[\w-]+:(?:\s|$)")
_NOTES = {
    "note": "Note", "warning": "Warning", "caution": "Caution", "danger": "Danger", "tip": "Tip", "hint": "Hint",
    "important": "Important", "attention": "Attention", "error": "Error", "seealso": "See also", "todo": "To do",
    "impl-detail": "Implementation detail", "availability": "Availability",
}  # fmt: skip
_VERSIONS = {
    "versionadded": "New in version", "versionchanged": "Changed in version", "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version", "deprecated-removed": "Deprecated, removed in version",
    "versionmodified": "Changed in version",
}  # fmt: skip
_CODE = frozenset(
    ("code-block", "code", "sourcecode", "testcode", "parsed-literal", "prompt", "doctest", "ipython", "testoutput",
     "plot", "productionlist", "graphviz", "digraph", "mermaid", "jupyter-execute", "testsetup")
)  # fmt: skip
_SILENT = frozenset(
    ("toctree", "currentmodule", "module", "index", "highlight", "contents", "include", "raw", "role", "default-role",
     "automodule", "py:module", "py:currentmodule", "tocdepth", "title", "meta", "sectnum", "literalinclude",
     "cssclass",
     "testcleanup", "sectionauthor", "moduleauthor", "codeauthor", "no-index", "inheritance-diagram", "bibliography",
     "date", "target-notes", "highlightlang")
)  # fmt: skip
_OPEN = frozenset(("container", "only", "compound", "pull-quote", "epigraph", "highlights", "class", "tab-set", "grid"))
_DEFINED = frozenset(
    ("function", "class", "method", "attribute", "data", "exception", "decorator", "classmethod", "staticmethod",
     "property", "autofunction", "autoclass", "automethod", "autoattribute", "autodata", "autoexception", "envvar",
     "option", "cmdoption", "describe", "type", "macro", "member", "struct", "enum", "enumerator", "var", "object")
)  # fmt: skip
_SUMMARY = frozenset(("autosummary", "hlist"))


def directive(reader: Reader, name: str, argument: str, body: Sequence[str]) -> list[Made]:
    """What a directive says."""
    name = name.lower()
    options, lines = _options(body)
    if name in _NOTES:
        return led(f"**{_NOTES[name]}:**", reader.convert([argument, *lines] if argument else lines))
    if name in _VERSIONS:
        version, _, words = argument.partition(" ")
        blocks = reader.convert([words.strip(" :"), *lines])
        label = f"**{_VERSIONS[name]} {reader.words.markdown(version)}{':' if blocks else '.'}**"
        return led(label, blocks)
    if name in _CODE:
        return _code(reader, name, argument, lines)
    if name == "math":
        return [fenced([argument, *lines] if argument else lines, "math")]
    if name in ("image", "figure"):
        shown = linked(options.get("alt", "") or argument.rpartition("/")[2] or "image", argument)
        return [Made("text", f"Image: {shown}"), *(reader.convert(lines) if name == "figure" else [])]
    if name in _SILENT:
        return []
    if name in (
        "admonition",
        "topic",
        "sidebar",
        "rubric",
        "table",
        "list-table",
        "dropdown",
        "versionnote",
        "centered",
    ):
        return led(reader.words.label(argument), reader.convert(lines)) if argument else reader.convert(lines)
    if name == "csv-table":
        return [*([Made("text", reader.words.label(argument))] if argument else []), fenced(lines)]
    if name in _SUMMARY:
        return listed(
            [[Made("text", reader.words.code(line.split()[0].lstrip("*-")))] for line in lines if line.strip()]
        )
    bare = name.rpartition(":")[2]
    if bare in _DEFINED:
        return [Made("text", code(argument)), *reader.convert(lines)] if argument else reader.convert(lines)
    if name in _OPEN:
        return reader.convert(lines)
    return led(f"**{reader.words.markdown(name)}:**", reader.convert([argument, *lines] if argument else lines))


def _options(body: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """A directive's options, and the lines behind them."""
    lines = evened(body)
    options = {}
    at = 0
    while at < len(lines) and _OPTION.match(lines[at]):
        name, _, value = lines[at][1:].partition(":")
        options[name] = value.strip()
        at += 1
    return options, evened(lines[at:]) if at else lines


def _code(reader: Reader, name: str, argument: str, lines: Sequence[str]) -> list[Made]:
    if not any(line.strip() for line in lines):
        return []
    stated = argument.split()[0] if argument and name in ("code-block", "code", "sourcecode") else ""
    if name in ("graphviz", "digraph"):
        stated = "dot"
    return [fenced(lines, stated.lower() or language_of("\n".join(lines), reader.language))]
