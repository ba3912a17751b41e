"""The folders that a repository's build files pass to the compiler as include roots.

In: a tree. Out: each folder that a CMake, Bazel, Buck, Make, Meson or Python build file names as a root, with the
folders of those files; and the roots from the configuration. Build files are read, not run: a variable counts if every
such tool has it, or if the same file sets it to one plain value. After an unknown variable, the rest of the path is
used if exactly one folder of the repository ends in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.link.paths.tree import Tree, join_path

_COMMAND = re.compile(r"^[ \t]*(include_directories|target_include_directories|set|list)\s*\(([^()]*)\)", re.M | re.I)
_CMAKE_COMMENT = re.compile(r"#[^\n]*")
_WORD = re.compile(r'"([^"]*)"|([^\s"]+)')
_KEYWORDS = frozenset(("PUBLIC", "PRIVATE", "INTERFACE", "SYSTEM", "BEFORE", "AFTER", "APPEND", "PREPEND", "CACHE"))
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$\((\w+)\)|\$<(?:BUILD_INTERFACE|INSTALL_INTERFACE):([^<>]*)>")
_FLAG = re.compile(r"""-(?:I|isystem|iquote|idirafter)[ \t]*+(?:=[ \t]*+)?"?([^\s"',;)]+(?:\)[^\s"',;)]*)*)""")
# An attribute of a Bazel rule that names include folders
_BAZEL = re.compile(r"\b(?:includes|strip_include_prefix|include_prefix|header_path_prefix|public_include_directories|"
                    r"include_directories|include_dirs)\s*+=\s*+(\[[^\[\]]*\]|\"[^\"\n]*\")")  # fmt: skip
_TEXT = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'")
_MESON = re.compile(r"\binclude_directories\s*\(([^()]*)\)")
# Include folders in a `setup.py`: `include_dirs=[…]`
_PYTHON = re.compile(r"\binclude_dirs\s*+(?:=|\+=|\.append\(|\.extend\()\s*+(\[[^\[\]]*\]|[\"'][^\"'\n]*[\"'])")
_HERE = frozenset(
    ("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR", "src", "srcdir", "CURDIR", "SRCDIR", "abs_srcdir", "PWD")
)
_TOP = frozenset(("CMAKE_SOURCE_DIR", "srctree", "top_srcdir", "abs_top_srcdir", "TOPDIR", "TOP_DIR", "ROOT_DIR"))
_BUILD_FOLDER = re.compile(r"BINARY_DIR|BUILD_DIR|objtree|builddir|INSTALL|GENDIR|OUTPUT", re.I)
_MAKE_NAMES = ("Makefile", "GNUmakefile", "makefile", "Kbuild", "Makefile.am", "Makefile.in")


class IncludeRoots:
    """`named` maps each root to the folders of the build files that name it, with its position among their roots."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.roots: dict[str, dict[str, int]] = {root: {"": place} for place, root in enumerate(tree.roots.c)}
        for path, file in tree.files.items():
            base, language = path.rpartition("/")[2], file.language
            if language == "cmake":
                self._add(path, self._cmake(path))
            elif language in ("starlark", "buck"):
                self._add(path, self._bazel(path))
            elif language == "make" or base in _MAKE_NAMES:
                self._add(path, self._flags(path))
            elif base == "meson.build":
                self._add(path, self._listed_folders(path, _MESON))
            elif base == "setup.py":
                self._add(path, self._listed_folders(path, _PYTHON))

    def _add(self, path: str, roots: Iterator[str]) -> None:
        folder = path.rpartition("/")[0]
        for place, root in enumerate(roots):
            self.roots.setdefault(root, {}).setdefault(folder, place)

    def _folder(self, folder: str, words: str, variables: dict[str, str]) -> Iterator[str]:
        """Yield the folder that a path in a build file refers to; nothing if that cannot be determined."""
        base = folder
        for _ in range(4):  # variables may contain variables
            match = _VARIABLE.search(words)
            if match is None:
                break
            name, rest = match[1] or match[2] or "", words[match.end() :]
            if match[3] is not None or name in variables:
                words = words[: match.start()] + (match[3] or variables.get(name, "")) + rest
            elif name in _HERE:
                words = f".{rest}"
            elif name in _TOP or name.endswith("_SOURCE_DIR"):
                base, words = self._top(folder), f".{rest}"
            elif _BUILD_FOLDER.search(name):
                return
            else:
                yield from self._unique_folder(rest.strip("/"))
                return
        folders = self._existing(base, words) if "$" not in words and not words.startswith(("-", "/")) else None
        if folders is not None:
            yield folders

    def _top(self, folder: str) -> str:
        """Return the top of the source: the outermost folder on the way with a CMake file, else the repository root."""
        parts = folder.split("/") if folder else []
        ways = ("/".join(parts[:end]) for end in range(len(parts) + 1))
        return next((way for way in ways if f"{way}/CMakeLists.txt".lstrip("/") in self._tree.paths), "")

    def _existing(self, folder: str, words: str) -> str | None:
        path = join_path(folder, words)
        return self._tree.folder(path) if path is not None else None

    def _unique_folder(self, rest: str) -> Iterator[str]:
        """Yield the folder whose path ends in `rest`, if there is only one."""
        if rest and "$" not in rest:
            ending = self._tree.folders_by_name.get(rest.rpartition("/")[2], ())
            folders = [folder for folder in ending if folder == rest or folder.endswith(f"/{rest}")]
            if len(folders) == 1:
                yield folders[0]

    def _cmake(self, path: str) -> Iterator[str]:
        folder, text = path.rpartition("/")[0], self._tree.text(path)
        if "include" not in text.lower():
            return
        known: dict[str, str] = {}
        for command, inside in _COMMAND.findall(_CMAKE_COMMENT.sub("", text)):
            words = [quoted or plain for quoted, plain in _WORD.findall(inside)]
            name = command.lower()
            subject = "".join(words[1:2] if name == "list" else words[:1])
            if name == "set" and len(words) == 2:
                known.setdefault(subject, words[1])
            if name in ("set", "list") and "INCLUDE" not in subject.upper():
                continue
            for word in words if name == "include_directories" else words[1:]:
                if word not in _KEYWORDS:
                    yield from self._folder(folder, word, known)

    def _bazel(self, path: str) -> Iterator[str]:
        folder, text = path.rpartition("/")[0], self._tree.text(path)
        for listed in _BAZEL.findall(text):
            for double, single in _TEXT.findall(listed):
                if double or single:
                    yield from self._folder(folder, double or single, {})
        yield from self._flags(path)

    def _flags(self, path: str) -> Iterator[str]:
        folder, text = path.rpartition("/")[0], self._tree.text(path)
        if "-I" not in text and "-isystem" not in text:
            return
        for match in _FLAG.finditer(text):
            word, line = match[1], text.rfind("\n", 0, match.start()) + 1
            if "HOST" in text[line : match.start()]:  # for programs that the build itself runs
                continue
            folders = list(self._folder(folder, word.replace("$(srctree)/$(src)", "$(src)"), {}))
            # The compiler may run at the top of the repository.
            yield from folders or self._folder("", word, {})

    def _listed_folders(self, path: str, lists: re.Pattern[str]) -> Iterator[str]:
        """Yield the folders that strings name in the lists that a pattern finds in a build file."""
        folder, text = path.rpartition("/")[0], self._tree.text(path)
        for listed in lists.findall(text):
            for double, single in _TEXT.findall(listed):
                yield from self._folder(folder, double or single, {})
