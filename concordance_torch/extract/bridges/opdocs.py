"""Documentation of operators: `add_docstr(torch.add, …)` in Python, and Sphinx directives in documents.

The directives are `.. autofunction:: torch.add`, `.. automethod::`, and the lists of `.. autosummary::`; names are
relative to `.. currentmodule::`. In Markdown, the same directives may also be in MyST syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = ("python", "rst", "markdown")
WORDS = (b"add_docstr", b"autosummary", b"autofunction", b"automethod")
_ADDERS = re.compile(rb"\b(_?add_docstr\w*)\s*\(")
_DIRECTIVE = re.compile(
    r"^(\s*)(?:\.\.\s+|[`:]{3,}\{)(currentmodule|module|py:module|autosummary|autofunction|automethod|py:function)"
    r"(?:::|\})\s*(\S*)"
)
_ENTRY = re.compile(r"\s+~?([A-Za-z_][\w.]*)\s*$")
_QUOTED = re.compile(r"[rRuU]?[\"']([A-Za-z_]\w*)[\"']")
_NAME = re.compile(r"~?([A-Za-z_][\w.]*)")


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield an end for each name that a file documents."""
    return _python(context) if context.language == "python" else _rest_ends(context)


def _python(context: RuleContext) -> Iterator[BridgeEnd]:
    for call in context.calls(*{match[1].decode() for match in _ADDERS.finditer(context.data)}):
        first = call.arguments[0] if call.arguments else None
        if first is None:
            continue
        if first.type == "string":
            name = _QUOTED.fullmatch(context.text(first))
            if name is not None:
                yield BridgeEnd(first.start_byte, "docstring", f"torch.Tensor.{name[1]}", name[1])
        elif first.type == "attribute":
            last = first.child_by_field_name("attribute")
            dotted = context.dotted(first)
            if dotted and last is not None:
                yield BridgeEnd(last.start_byte, "docstring", dotted, context.text(first))


def _rest_ends(context: RuleContext) -> Iterator[BridgeEnd]:
    module, listing, at = "", -1, 0
    for line in context.source.slice(0, len(context.data)).split("\n"):
        size = len(line.encode()) + 1
        directive = _DIRECTIVE.match(line)
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= listing:
            listing = -1
        if directive is not None:
            kind, name = directive[2], _NAME.match(directive[3])
            if kind in ("currentmodule", "module", "py:module"):
                module = directive[3]
            elif kind == "autosummary":
                listing = len(directive[1])
            elif name is not None:
                yield BridgeEnd(at + len(line[: directive.start(3)].encode()), "documented", name[1], module)
        elif listing >= 0:
            entry = _ENTRY.match(line)
            if entry is not None:
                yield BridgeEnd(at + len(line[: entry.start(1)].encode()), "documented", entry[1], module)
        at += size
