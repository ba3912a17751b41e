"""Scripts of the repository that other files run.

In: words of command lines. Out: a row to each file that a word names. The working directory of a command is not known:
a path is tried from the root, as in CI workflows, from the folder of the file that contains the command, and from the
folders above. A path after a variable is tried there too, and then by its end, if only one file has it. A word that
names no file of the repository gives no row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Bridge, Role, Trust
from concordance.link.bridge_context import BridgeContext, StatedEnd
from concordance.link.paths.tree import enclosing_folders, join_path

_VARIABLE = re.compile(r".*(?:\$\{\{.*?\}\}|\$\{[^{}]*\}|\$\([^)]*\)+|\$\w+|%\w+%|\{[\w.]*\})[/\\]?", re.S)
# Words of a path that say that it is relative to the script itself
_AT_FILE = re.compile(
    r"dirname|BASH_SOURCE|\$0|CMAKE_CURRENT_(?:SOURCE|LIST)_DIR|SCRIPT_?(?:DIR|PATH|PARENT)|%~dp0|\bDIR\b|here", re.I
)


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join commands with scripts."""
    files = _Files(context)
    for stated in context.ends("runs"):
        for path, trust, by in files.scripts_named(stated):
            if path != stated.file.path:
                yield stated.to(context.files_by_path[path].id, trust, by, role=Role.CALL)


class _Files:
    """Finds scripts."""

    def __init__(self, context: BridgeContext) -> None:
        self._context = context
        self._paths = context.files_by_path
        self._by_name: dict[str, list[str]] = {}
        for path in self._paths:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
        self._modules: dict[str, str] | None = None

    def scripts_named(self, stated: StatedEnd) -> Iterator[tuple[str, Trust, str]]:
        """Yield the files that a word names."""
        if dict(stated.end.more).get("is") == "module":
            yield from self._resolve_module(stated.end.text)
            return
        word = stated.end.text.partition("::")[0].replace("\\", "/")
        folder = stated.file.path.rpartition("/")[0]
        variable = _VARIABLE.match(word)
        if variable is None:
            yield from self._resolve_path(word, folder, "after" in dict(stated.end.more))
        else:
            yield from self._resolve_after_variable(word[variable.end() :], variable[0], folder)

    def _resolve_path(self, word: str, folder: str, moved: bool) -> Iterator[tuple[str, Trust, str]]:
        """Resolve a path; `moved` if the command may run in another folder."""
        if word.startswith(("/", "~")) or not word:
            return
        seen = dict.fromkeys(join_path(base, word) for base in ("", folder, *enclosing_folders(folder)))
        files = [path for path in seen if path is not None and path in self._paths]
        if not files:
            return
        if moved and "/" not in word:
            yield files[0], Trust.CANDIDATE, "path, but the folder was changed before"
        elif moved or len(files) > 1:
            yield files[0], Trust.VIA_IMPORT, f"path from {files[0].removesuffix(word).rstrip('/') or 'the root'}"
        else:
            yield files[0], Trust.EXACT, "path"

    def _resolve_after_variable(self, end: str, variable: str, folder: str) -> Iterator[tuple[str, Trust, str]]:
        """Resolve the part of a path after a variable."""
        end = end.lstrip(")/")
        if not end:
            return
        at_file = bool(_AT_FILE.search(variable))
        folders = [folder, "", *enclosing_folders(folder)] if at_file else ["", folder, *enclosing_folders(folder)]
        for folder_ in dict.fromkeys(folders):
            path = join_path(folder_, end)
            if path is not None and path in self._paths:
                sure = at_file and folder_ == folder
                yield (
                    path,
                    Trust.EXACT if sure else Trust.UNIQUE_NAME,
                    f"after a variable, from {folder_ or 'the root'}",
                )
                return
        plain = end.removeprefix("../").removeprefix("./")
        alike = [path for path in self._by_name.get(plain.rpartition("/")[2], ()) if f"/{path}".endswith(f"/{plain}")]
        if len(alike) == 1:
            yield alike[0], Trust.UNIQUE_NAME, "the only file whose path ends like this"

    def _resolve_module(self, name: str) -> Iterator[tuple[str, Trust, str]]:
        """Resolve a Python module, or the `__main__` of a package."""
        if self._modules is None:
            python = [row.path for row in self._context.files if row.language == "python" and row.path.endswith(".py")]
            self._modules = {}
            for path in python:
                self._modules.setdefault(self._context.module_of(path), path)
        for dotted in (f"{name}.__main__", name):
            module_file = self._modules.get(dotted)
            if module_file is not None:
                yield module_file, Trust.EXACT, "module"
                return
