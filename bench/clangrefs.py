"""What the names in a C++ file refer to, according to libclang.

In: a repository, a path, the include folders. Out: `Reference`s: the place of a name, and the place of the declaration
that libclang finds for it inside the repository; names declared elsewhere have no target. A name inside a macro's
arguments counts where it is spelled; a name that the preprocessor makes has no place and does not count. Headers that
the repository's build generates are not part of it: their folder can be given as an include folder, otherwise libclang
knows neither their declarations nor the names that depend on them.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

from clang import cindex

from bench import libclang

_LOCAL = frozenset((
    "PARM_DECL", "TEMPLATE_TYPE_PARAMETER", "TEMPLATE_NON_TYPE_PARAMETER", "TEMPLATE_TEMPLATE_PARAMETER", "LABEL_STMT",
))  # fmt: skip
_UNDECIDED = frozenset(("OVERLOADED_DECL_REF", "TRANSLATION_UNIT"))  # in a template: which one is not yet known
_FUNCTIONS = libclang.KINDS["function"] | {"LAMBDA_EXPR"}
_DEEPEST = 400


class Reference(NamedTuple):
    """One name of a file, and what it refers to."""

    line: int
    col: int  # 1-based, in code points
    name: str
    kind: str  # of what it refers to, as libclang calls it
    local: bool  # a parameter or something that is declared inside of a function
    targets: tuple[tuple[str, int], ...]  # path and line: what is referred to, then its other declarations; none outside
    qualified: str  # of a namespace, which is declared in many places


class _Spelling:
    """Asks libclang for the place where something is spelled; its Python binding only returns where a macro is
    expanded."""

    def __init__(self) -> None:
        self.ask: Any = cindex.conf.lib.clang_getSpellingLocation
        self.ask.argtypes = [
            cindex.SourceLocation, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint),
            ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_uint),
        ]  # fmt: skip
        self.ask.restype = None

    def __call__(self, cursor: Any) -> tuple[int, int]:
        """Return line and offset."""
        file, line, col, offset = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        self.ask(
            cursor.location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(col), ctypes.byref(offset)
        )
        return line.value, offset.value


def references(root: str, path: str, language: str, roots: Sequence[str]) -> list[Reference]:
    """Return the references of one file."""
    name = os.path.join(root, path)
    flags = libclang.arguments(Path(root), path, language) + [f"-I{folder}" for folder in roots]
    options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | 0x200 | cindex.TranslationUnit.PARSE_INCOMPLETE
    try:
        unit = cindex.Index.create().parse(name, flags, options=options)
    except cindex.TranslationUnitLoadError:
        return []
    data = Path(name).read_bytes()
    spelling = _Spelling()
    found: dict[tuple[int, int], Reference] = {}
    top = [c for c in unit.cursor.get_children() if c.location.file is not None and c.location.file.name == name]
    for cursor in _all(top):
        target = cursor.referenced
        if target is None or target == cursor or target.kind.name in _UNDECIDED:
            continue
        named = target.spelling.partition("<")[0]
        line, offset = spelling(cursor)
        size = len(named.encode())
        if not named or data[offset : offset + size] != named.encode() or _continues(data, offset, size):
            continue
        rows = tuple(_places(root, target))
        start = data.rfind(b"\n", 0, offset) + 1
        column = len(data[start:offset].decode("utf-8", "replace").removeprefix("\ufeff")) + 1
        one = Reference(line, column, named, target.kind.name, _is_local(target), rows, _qualified(target))
        had = found.get((line, column))
        if had is not None and had.targets != one.targets:
            one = had._replace(targets=tuple(dict.fromkeys((*had.targets, *rows))))
        found[line, column] = one
    return sorted(found.values())


def _all(top: list[Any]) -> Iterator[Any]:
    pending = [(cursor, 0) for cursor in reversed(top)]
    while pending:
        cursor, depth = pending.pop()
        yield cursor
        if depth < _DEEPEST:
            pending.extend((child, depth + 1) for child in cursor.get_children())


def _continues(data: bytes, offset: int, size: int) -> bool:
    """True if the character at an offset continues a longer name."""
    after = data[offset + size : offset + size + 1]
    before = data[offset - 1 : offset] if offset else b""
    return any(sign.isalnum() or sign == b"_" for sign in (before, after))


def _places(root: str, target: Any) -> Iterator[tuple[str, int]]:
    seen = set()
    definition = target.get_definition()
    for one in (target, definition, target.canonical):
        if one is None or one.location.file is None:
            continue
        where = os.path.realpath(one.location.file.name)
        row = (os.path.relpath(where, os.path.realpath(root)), one.location.line)
        if not row[0].startswith("..") and row not in seen:
            seen.add(row)
            yield row


def _is_local(target: Any) -> bool:
    if target.kind.name in _LOCAL:
        return True
    around = target.semantic_parent
    return around is not None and around.kind.name in _FUNCTIONS


def _qualified(target: Any) -> str:
    """Return the qualified name of a namespace; nothing for anything else."""
    parts: list[str] = []
    if target.kind.name not in ("NAMESPACE", "NAMESPACE_ALIAS"):
        return ""
    at = target
    while at is not None and not at.kind.is_translation_unit():
        if at.spelling:
            parts.append(at.spelling)
        at = at.semantic_parent
    return "::".join(reversed(parts))


def _alone(job: tuple[str, str, str, tuple[str, ...]]) -> list[Reference]:
    """Read one file in a process of its own: libclang may crash on code that it cannot understand."""
    with ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(references, *job).result(timeout=300)
        except (BrokenProcessPool, TookTooLong):
            return []


def many(root: str, files: list[tuple[str, str]], roots: Sequence[str], workers: int) -> Iterator[tuple[str, list[Reference]]]:
    """Return the references of several files, given with their languages."""
    jobs = [(root, path, language, tuple(roots)) for path, language in files]
    with ThreadPoolExecutor(workers) as pool:
        yield from zip((path for path, _ in files), pool.map(_alone, jobs), strict=True)
