"""Build files: the Python extension modules that are built, and their sources.

These are `Extension("package.module", ["a.c"])` and similar names in setup.py, `extension_module('module', 'a.c',
subdir: 'package')` in Meson, and the CMake commands of pybind11 and nanobind. Names that are not literals are
unknown here. Python files with `from module import *` are reported, too, because the module may be an extension.
These ends are not joined with anything: the other bridges use them to find the full names of modules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = ()
WORDS = (b"import *", b"Extension(", b"extension_module", b"pybind11_add_module", b"nanobind_add_module")
_SETUP = re.compile(rb"\b\w*Extension\(\s*(?:name\s*=\s*)?[\"']([\w.]+)[\"']")
_MESON = re.compile(rb"\bextension_module\s*\(\s*'([\w.]+)'")
_CMAKE = re.compile(rb"\b(?:pybind11|nanobind)_add_module\s*\(\s*([\w.]++)((?:(?!_add_module)[^)])*+)\)", re.I)
_SUBDIR = re.compile(rb"\bsubdir\s*:\s*'([^']*)'")
_SOURCE = re.compile(rb"[\"']?(?<![\w./+-])([\w./+-]+\.(?:c|cc|cpp|cxx|cu|pyx|mm?))[\"'\s)]")
_LONGEST = 4000  # bytes of a call in which its sources are searched


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the extensions that a file builds, or the modules that it imports everything from."""
    data = context.data
    if context.language == "python":
        for match in _SETUP.finditer(data):
            if not context.in_comment(match.start()):
                yield _extension_end(match.start(1), match[1], _call(data, match.end()), b"")
        for row in context.imports:
            if row.name == "*":
                yield BridgeEnd(context.source.line_bytes[row.line - 1], "takes all", row.module, row.module)
    elif context.language == "cmake":
        for match in _CMAKE.finditer(data):
            yield _extension_end(match.start(1), match[1], match[2] + b" ", b"")
    elif b"extension_module" in data and context.source.language in ("meson", "text"):
        for match in _MESON.finditer(data):
            call = _call(data, match.end())
            subfolder = _SUBDIR.search(call)
            yield _extension_end(match.start(1), match[1], call, subfolder[1] if subfolder else b"")


def _call(data: bytes, start: int) -> bytes:
    """Return the text up to the bracket that closes a call."""
    depth = 1
    for at in range(start, min(len(data), start + _LONGEST)):
        depth += (data[at] in b"([{") - (data[at] in b")]}")
        if not depth:
            return data[start : at + 1]
    return data[start : start + _LONGEST]


def _extension_end(at: int, name: bytes, call: bytes, subfolder: bytes) -> BridgeEnd:
    sources = [("source", match[1].decode("utf-8", "replace")) for match in _SOURCE.finditer(call)]
    folder = subfolder.decode("utf-8", "replace").strip("/").replace("/", ".")
    full = ".".join(filter(None, (folder, name.decode())))
    return BridgeEnd(at, "builds", full, full, tuple(sources))
