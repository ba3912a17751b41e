"""Directives of Sphinx in Markdown: what a fence brings in from elsewhere.

In: a fenced block whose language is in braces (```` ```{toctree} ````), or a stretch of reST in one
(`{eval-rst}`). Out: imports whose form is the directive's name, as the reader of reST makes them: documents, included
files, Python modules and names, these together with the module that a directive before made the current one.
"""

from __future__ import annotations

import re

from concordance.extract.documents.prose import is_relative
from concordance.extract.draft import Draft
from concordance.extract.text.source_text import Source

_FIRST = re.compile(r"[\s>]*[`~]{3,}[ \t]*\{([\w:.-]+)\}[ \t]*(.*)$")
_NESTED = re.compile(r"\s*\.\.[ \t]+([\w:.-]+)::[ \t]*(.*)$")
_OPTION = re.compile(r"\s*(?::[\w-]+:|[\w-]+:\s|---)")
_TITLED = re.compile(r"<([^<>`]+)>\s*$")
_FILES = frozenset(("include", "literalinclude", "image", "figure"))
_LISTS = frozenset(("toctree", "autosummary"))


class Directives:
    """Reads the fences of one file, in their order."""

    def __init__(self, draft: Draft, lines: list[str]) -> None:
        self._draft = draft
        self._source: Source = draft.source
        self._lines = lines
        self._module = ""  # the current one
        self._list = ""  # the directive whose entries follow

    def read(self, first: int, last: int) -> None:
        """One block, its fence included."""
        match = _FIRST.match(self._lines[first])
        if match is None:
            return
        self._list = ""
        if match[1] != "eval-rst":
            self._directive(first, match[1], match[2].strip())
        for number in range(first + 1, last):
            line = self._lines[number]
            nested = _NESTED.match(line)
            if nested:
                self._directive(number, nested[1], nested[2].strip())
            elif self._list and line.strip() and not _OPTION.match(line):
                titled = _TITLED.search(line)
                self._add(number, titled[1] if titled else line.strip().lstrip("~"), self._list)

    def _directive(self, number: int, name: str, argument: str) -> None:
        short = name.rpartition(":")[2]
        self._list = short if short in _LISTS else ""
        if short in ("currentmodule", "module") and argument:
            self._module = "" if argument == "None" else argument
            self._add(number, self._module, short)
        elif short in _FILES or (short.startswith("auto") and not self._list):
            self._add(number, argument.partition("(")[0].strip(), short)
            self._module = argument if short == "automodule" and argument else self._module

    def _add(self, number: int, words: str, form: str) -> None:
        code = form.startswith("auto")
        if not words or not (code or is_relative(words)):
            return
        raw = self._lines[number]
        start = max(0, raw.find(words))
        at = self._source.line_bytes[number] + len(raw[:start].encode("utf-8", "replace"))
        named = code and form != "automodule" and self._module and not words.startswith(f"{self._module}.")
        self._draft.add_import(at, self._module if named else words, name=words if named else "", form=form)
