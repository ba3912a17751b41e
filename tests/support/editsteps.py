"""Edits as people make them, at random: each changes a few files of a small repository.

In: a `Desk` (the folder, and a clock for the times of files) and a random number generator. Out: changed files. An edit
chooses its subject among the files that exist, so any edit of a sequence can be left out and the rest still makes
sense. `EDITS` has all of them by name.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

BOOK = "booklet"  # where the second book is written
_BEGAN = 1_600_000_000_000_000_000
_PYTHON, _C, _WEB = (".py",), (".h", ".cpp"), (".ts", ".js", ".rs", ".go", ".java", ".proto", ".bzl")
_CODE = _PYTHON + _C + _WEB
_DEFINED = re.compile(
    r"\b(?:def|class|function|interface|struct|const|#define|fn|func|type|message|trait|mod) (\w+)|\b(\w+)\([^()]*\) (?:const )?\{"
)
_PY_BLOCK = re.compile(r"^( *)(?:async )?(def|class) (\w+)")
_C_BLOCK = re.compile(r"^()(?:[\w:<>&*]+ )+(\*?&?)([\w:+]+)\(.*\{$")
_WEB_BLOCK = re.compile(
    r"^( *)(?:export |default |pub |public |static |async )*(function|class|interface|fn|func|struct|trait|impl|message|int|void|def)"
    r"(?: \([^()]*\))? (\w+).*[{:]$"
)
_FRESH = ("apple", "branch", "seed", "peel", "stalk", "core_of", "Orchard", "Blossom", "Root", "Leaf")
_WORDS = ("ripe", "sweet", "green", "heavy", "old", "wild", "early", "late")
GIT = {
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
}  # fmt: skip


@dataclass
class Desk:
    """A repository that is being edited."""

    root: Path
    clock: int = 0
    was: dict[str, bytes] = field(default_factory=dict)  # what deleted and edited files said, for those who revert

    def paths(self, *endings: str) -> list[str]:
        """Return the plain files of the repository, in order."""
        found = []
        for top, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in (".git", ".concordance", BOOK)]
            inside = os.path.relpath(top, self.root)
            found += [os.path.normpath(os.path.join(inside, name)) for name in names if name.endswith(endings or ("",))]
        return sorted(path for path in found if not (self.root / path).is_symlink())

    def links(self) -> list[str]:
        """Return the symbolic links of the repository, in order."""
        top = (path for path in self.root.rglob("*") if path.is_symlink() and ".git" not in path.parts)
        return sorted(str(path.relative_to(self.root)) for path in top)

    def text(self, path: str) -> str:
        """Return the content of a file."""
        return (self.root / path).read_bytes().decode("utf-8", "surrogateescape")

    def put(self, path: str, content: str | bytes) -> None:
        """Write a file with a time of its own: a build reads recently written files twice, which would hide a change
        that it missed."""
        target = self.root / path
        if target.is_symlink() or target.is_dir() or any(up.is_file() or up.is_symlink() for up in self._above(path)):
            return
        if target.exists():
            self.was.setdefault(path, target.read_bytes())
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
        self.touch(path)

    def _above(self, path: str) -> list[Path]:
        return [self.root / up for up in Path(path).parents if str(up) != "."]

    def touch(self, path: str) -> None:
        """Give a file a time that no other file has."""
        self.clock += 1
        when = _BEGAN + self.clock * 1_000_000_000
        os.utime(self.root / path, ns=(when, when), follow_symlinks=False)

    def move(self, old: str, new: str) -> None:
        """Move a file if the target is free."""
        if not (self.root / new).exists() and not any(up.is_file() or up.is_symlink() for up in self._above(new)):
            self.was.setdefault(old, (self.root / old).read_bytes())
            (self.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.root / old).rename(self.root / new)

    def git(self, *words: str) -> None:
        """Run git."""
        subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True, env={**os.environ, **GIT})

    def names(self) -> list[str]:
        """Return names that are defined somewhere."""
        found = {one or two for path in self.paths(*_CODE) for one, two in _DEFINED.findall(self.text(path))}
        return sorted(found) or ["nothing"]


def blocks(path: str, text: str) -> list[tuple[int, int, str, str]]:
    """Return the definitions of a file: first line, the line behind the last, indent and name."""
    pattern = _PY_BLOCK if path.endswith(_PYTHON) else _C_BLOCK if path.endswith(_C) else _WEB_BLOCK
    lines, found = text.split("\n"), []
    for number, line in enumerate(lines):
        match = pattern.match(line)
        if match:
            indent, end = match[1], number + 1
            while end < len(lines) and (lines[end].startswith(f"{indent} ") or not lines[end].strip()):
                end += 1
            if not path.endswith(_PYTHON):
                end = min(end + 1, len(lines)) if not path.endswith(".bzl") else end
            while end > number + 1 and not lines[end - 1].strip():
                end -= 1
            found.append((number, end, indent, match[3]))
    return found


def _file(desk: Desk, chance: random.Random, *endings: str) -> str:
    return chance.choice(desk.paths(*endings) or ["new.py"])


def _block(desk: Desk, chance: random.Random, *endings: str) -> tuple[str, list[str], tuple[int, int, str, str]] | None:
    """Return a random definition: its file, the file's lines, and its place in them."""
    every = [(path, one) for path in desk.paths(*endings) for one in blocks(path, desk.text(path))]
    if not every:
        return None
    path, one = chance.choice(every)
    return path, desk.text(path).split("\n"), one


def _comment(path: str) -> str:
    return "#" if path.endswith((".py", ".sh", ".toml", ".ini", ".yml", ".mk", "Makefile", ".txt")) else "//"


# --- code


def body(desk: Desk, chance: random.Random) -> None:
    """Add a line to a function."""
    found = _block(desk, chance, *_CODE)
    if found:
        path, lines, (_, end, indent, _) = found
        name = chance.choice((*desk.names(), *_FRESH))  # one that is not there yet, too
        made = f"{indent}    {name}()" if path.endswith(_PYTHON) else f"  {name}();"
        at = end if path.endswith(_PYTHON) else end - 1
        desk.put(path, "\n".join([*lines[:at], made, *lines[at:]]))


def top(desk: Desk, chance: random.Random) -> None:
    """Add lines at the top."""
    path = _file(desk, chance, *_CODE)
    mark = _comment(path)
    made = "".join(f"{mark} {chance.choice(_WORDS)}\n" for _ in range(chance.randrange(1, 4)))
    desk.put(path, made + desk.text(path) if (desk.root / path).exists() else made)


def add(desk: Desk, chance: random.Random) -> None:
    """Add a function, class or method."""
    path, name = _file(desk, chance, *_CODE), chance.choice(_FRESH)
    text, other = desk.text(path) if (desk.root / path).exists() else "", chance.choice((*desk.names(), *_FRESH))
    if path.endswith(_PYTHON):
        classes = re.findall(r"^class (\w+)", "\n".join(map(desk.text, desk.paths(".py"))), re.M) or ["object"]
        made = chance.choice((
            f'\n\ndef {name}(one, two=1):\n    """Makes `{other}`.\n\n    >>> {name}(1)\n    """\n    return {other}(one)\n',
            f'\n\nclass {name}({chance.choice(classes)}):\n    """Like `{other}`."""\n\n    def area(self):\n        return {other}\n',
            f"\n    def {name}(self):\n        return self.{other}()\n",
            f"\n\ndef test_{name}(tree):\n    assert {other}(tree)\n",
            f"\n\n@pytest.fixture\ndef {name}():\n    return {other}()\n",
            f"\n\nasync def {name}():\n    from pear import {other}\n    return await {other}()\n",
        ))  # fmt: skip
    elif path.endswith(_C):
        made = chance.choice((
            f"\nint {name}(int a) {{\n  return {other}(a);\n}}\n",
            f"\nnamespace pear {{\nint dot(int {name});\nstruct {name} : public {other} {{\n  int area();\n}};\n}}\n",
            f"\ntemplate <typename T>\nT {name}(T a) {{\n  return {other}(a);\n}}\n",
        ))  # fmt: skip
    else:
        made = {
            "rs": f"\npub fn {name}(a: u32) -> u32 {{\n    {other}(a)\n}}\n", "go": f"\nfunc {name}(a int) {{\n\t{other}(a)\n}}\n",
            "java": f"\nclass {name} extends {other} {{\n  int size() {{\n    return 1;\n  }}\n}}\n",
            "proto": f"\nmessage {name} {{\n  {other} one = 1;\n}}\n", "bzl": f"\ndef {name}(one):\n    {other}(one)\n",
        }.get(path.rpartition(".")[2], f"\nexport function {name}(a) {{\n  return {other}(a);\n}}\n")  # fmt: skip
    desk.put(path, text + made)


def drop(desk: Desk, chance: random.Random) -> None:
    """Remove a definition."""
    found = _block(desk, chance, *_CODE)
    if found:
        path, lines, (first, end, _, _) = found
        desk.put(path, "\n".join([*lines[:first], *lines[end:]]))


def rename(desk: Desk, chance: random.Random) -> None:
    """Rename a definition, alone or with all that use it."""
    found = _block(desk, chance, *_CODE)
    if found:
        path, lines, (first, _, _, name) = found
        new = chance.choice((*_FRESH, *desk.names()))
        name = name.rpartition("::")[2]
        if chance.random() < 0.5:
            lines[first] = re.sub(rf"\b{re.escape(name)}\b", new, lines[first])
            desk.put(path, "\n".join(lines))
        else:
            for one in desk.paths():
                text = desk.text(one)
                changed = re.sub(rf"\b{re.escape(name)}\b", new, text)
                if changed != text:
                    desk.put(one, changed)


def signature(desk: Desk, chance: random.Random) -> None:
    """Add or remove a parameter."""
    found = _block(desk, chance, *_CODE)
    if found:
        path, lines, (first, _, _, _) = found
        more = {"py": "extra=None", "cpp": "int extra", "h": "int extra"}.get(path.rpartition(".")[2], "extra")
        line = lines[first]
        without = re.sub(r",? ?(?:int )?extra(?:=None)?", "", line)
        lines[first] = (
            without
            if without != line
            else re.sub(r"\(", f"({more}, " if "()" not in line else f"({more}", line, count=1)
        )
        desk.put(path, "\n".join(lines))


def docstring(desk: Desk, chance: random.Random) -> None:
    """Change a docstring or comment; the new one may name something."""
    found = _block(desk, chance, *_CODE)
    if found:
        path, lines, (first, _, indent, _) = found
        said = f"The {chance.choice(_WORDS)} one: `{chance.choice(desk.names())}`."
        if path.endswith(_PYTHON):
            at, there = first + 1, first + 1 < len(lines) and '"""' in lines[first + 1]
            until = at + 1 if there and lines[at].count('"""') > 1 else at
            lines[at:until] = [f'{indent}    """{said}"""']
        else:
            lines.insert(first, f"/// {said}")
        desk.put(path, "\n".join(lines))


def exports(desk: Desk, chance: random.Random) -> None:
    """Change the names in `__all__`."""
    path = chance.choice(["src/pear/__init__.py", "src/pear/shapes.py", _file(desk, chance, ".py")])
    if not (desk.root / path).is_file():
        return
    text = desk.text(path)
    names = sorted(set(chance.sample(desk.names(), min(3, len(desk.names())))))
    listed = f"__all__ = [{', '.join(map(repr, names))}]"
    changed = re.sub(r"^__all__ = .*$", chance.choice((listed, "")), text, flags=re.M)
    desk.put(path, changed if changed != text else f"{text}\n{listed}\n")


def bases(desk: Desk, chance: random.Random) -> None:
    """Add or remove a base class."""
    path = _file(desk, chance, ".py", ".h")
    text = desk.text(path) if (desk.root / path).exists() else ""
    if path.endswith(".h"):
        new = chance.choice((r"\1 {", rf"\1 : public {chance.choice(desk.names())} {{"))
        changed = re.sub(
            r"^((?:class|struct) [\w ]+?)(?: : public \w+)? \{", new, text, count=chance.randrange(2), flags=re.M
        )
    else:
        new = chance.choice(
            (r"\1:", rf"\1({chance.choice(desk.names())}):", rf"\1(\2, {chance.choice(desk.names())}):")
        )
        changed = re.sub(r"^(class \w+)\((.*)\):", new, text, count=chance.randrange(2), flags=re.M)
    desk.put(path, changed)


def decorate(desk: Desk, chance: random.Random) -> None:
    """Add or remove a decorator."""
    found = _block(desk, chance, ".py")
    if found:
        path, lines, (first, _, indent, _) = found
        if first and lines[first - 1].strip().startswith("@"):
            del lines[first - 1]
        else:
            lines.insert(first, indent + chance.choice(("@property", "@staticmethod", "@traced", "@classmethod")))
        desk.put(path, "\n".join(lines))


def imports(desk: Desk, chance: random.Random) -> None:
    """Add or remove an import or include."""
    path = _file(desk, chance, *_CODE)
    lines = desk.text(path).split("\n") if (desk.root / path).exists() else []
    there = [
        number
        for number, line in enumerate(lines)
        if re.match(r"(?:from|import|export \*|#include|use|pub use|mod|pub mod|load)\b", line)
    ]
    if there and chance.random() < 0.5:
        del lines[chance.choice(there)]
    else:
        other, name = _file(desk, chance, path[path.rindex(".") :]), chance.choice(desk.names())
        dotted = other.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if path.endswith(_PYTHON):
            made = (f"from {dotted} import {name}", f"from {dotted} import *", f"import {dotted} as {name}",
                    f"from {dotted} import {name} as {chance.choice(_FRESH)}", f"from . import {name}", f"import {dotted}")  # fmt: skip
        elif path.endswith(_C):
            made = (f'#include "{other.rpartition("/")[2]}"', f"#include <{other.removeprefix('native/include/')}>",
                    '#include "missing.h"', "using namespace pear;")  # fmt: skip
        else:
            stem = other.rpartition("/")[2].partition(".")[0]
            made = {
                ".rs": (f"use crate::{stem}::{name};", f"mod {stem};", f"pub use super::{name};"), ".bzl": (f'load("//tools:{stem}.bzl", "{name}")',),
                ".go": (f'import "example.org/quince/{other.rpartition("/")[0]}"',), ".proto": (f'import "{other}";',),
                ".java": (f"import org.quince.{stem};", "import org.quince.*;"),
            }.get(path[path.rindex(".") :], (f'import {{ {name} }} from "./{other.rpartition("/")[2]}";', f'export * from "@{other}";'))  # fmt: skip
        lines.insert(chance.choice((0, len(lines), *(at + 1 for at in there))), chance.choice(made))
    desk.put(path, "\n".join(lines))


def relocate(desk: Desk, chance: random.Random) -> None:
    """Move a definition to another file, which the first may then import."""
    found = _block(desk, chance, *_CODE)
    if found:
        path, lines, (first, end, indent, name) = found
        other = _file(desk, chance, path[path.rindex(".") :])
        if other != path and not indent:
            left = [f"from {other.removeprefix('src/').removesuffix('.py').replace('/', '.')} import {name}"]
            keeps = left if path.endswith(_PYTHON) and chance.random() < 0.5 else []
            desk.put(other, desk.text(other) + "\n" + "\n".join(lines[first:end]) + "\n")
            desk.put(path, "\n".join([*lines[:first], *keeps, *lines[end:]]))


def split(desk: Desk, chance: random.Random) -> None:
    """Split a header in two; the first may include the second."""
    headers = desk.paths(".h")
    if headers:
        path = chance.choice(headers)
        lines = desk.text(path).split("\n")
        cut = chance.randrange(len(lines) + 1)
        second = path.removesuffix(".h") + "_more.h"
        include = [f'#include "{second.rpartition("/")[2]}"'] if chance.random() < 0.7 else []
        desk.put(second, "\n".join(["#pragma once", *lines[cut:]]))
        desk.put(path, "\n".join([*lines[:cut], *include, ""]))


def macro(desk: Desk, chance: random.Random) -> None:
    """Add, change or remove a macro."""
    path = _file(desk, chance, ".h")
    text = desk.text(path) if (desk.root / path).exists() else ""
    if "#define PEAR_API" in text:
        new = chance.choice(
            ("", "#define PEAR_API", "#define PEAR_API 7 + 7", "#define PEAR_API __declspec(dllexport)")
        )
        text = re.sub(r"^#define PEAR_API.*$", new, text, flags=re.M)
    else:
        text += chance.choice(('#define PEAR_API __attribute__((visibility("default")))\n', "#define PEAR_MAX(a, b) a\n",
                               f"#define {chance.choice(desk.names())} {chance.choice(_FRESH)}\n", "#undef PEAR_MAX\n"))  # fmt: skip
    desk.put(path, text)


def finding(desk: Desk, chance: random.Random) -> None:
    """Add or remove something that a rule finds."""
    path = _file(desk, chance, *_CODE, ".sh", ".yml")
    mark = "eval(input())" if path.endswith(".py") else "strcpy(a, b);" if path.endswith(_C) else "eval(x)"
    made = chance.choice(
        (
            f"{mark}\n",
            "import os\nos.system(x)\n",
            "try:\n    pass\nexcept:\n    pass\n",
            f"{_comment(path)} TODO: {chance.choice(_WORDS)}\n",
        )
    )
    text = desk.text(path) if (desk.root / path).exists() else ""
    desk.put(path, text.replace(made, "") if made in text else f"{text}\n{made}")


# --- documents and settings


def prose(desk: Desk, chance: random.Random) -> None:
    """Change a document."""
    path = _file(desk, chance, ".md", ".rst")
    text = desk.text(path) if (desk.root / path).exists() else ""
    name, file = chance.choice(desk.names()), chance.choice(desk.paths())
    made = chance.choice((f"\nSee `{name}`.\n", f"\n## {chance.choice(_WORDS)} `{name}`\n", f"\n[file]({file})\n",
                          f"\n:func:`pear.{name}`\n", f"\n`{file}`\n", f"\n```python\nfrom pear import {name}\n{name}()\n```\n"))  # fmt: skip
    lines = text.split("\n")
    desk.put(path, text + made if chance.random() < 0.7 else "\n".join(lines[: len(lines) // 2]))


def settings(desk: Desk, chance: random.Random) -> None:
    """Change owners, licence, or the settings of build, tests and modules."""
    path, content = chance.choice((
        ("CODEOWNERS", "* @bob\n/src/ @ada @eve\n"), ("CODEOWNERS", "/docs/ @eve\n"), (".github/CODEOWNERS", "* @zoe\n"),
        ("LICENSE", "Licensed under the Apache License, Version 2.0.\n"), ("native/LICENSE", "Distributed under the Boost Software License, Version 1.0.\n"),
        ("pyproject.toml", '[project]\nname = "pear"\n\n[tool.setuptools]\npackage-dir = {"" = "lib"}\n'),
        ("pyproject.toml", '[project]\nname = "quince"\ndependencies = ["pear", "pytest"]\n\n[tool.pytest.ini_options]\n'),
        ("setup.py", 'from setuptools import setup\n\nsetup(name="pear", package_dir={"": "src"}, packages=["pear"])\n'),
        ("pytest.ini", "[pytest]\npythonpath = src\n"), ("pytest.ini", ""), ("tox.ini", "[testenv]\ncommands = pytest\n"),
        ("native/CMakeLists.txt", "include_directories(${CMAKE_SOURCE_DIR}/native)\nadd_executable(other test/vec_test.cpp)\n"),
        ("native/CMakeLists.txt", "file(GLOB SOURCES src/*.cpp)\nadd_library(pear ${SOURCES})\ntarget_include_directories(pear PUBLIC include src)\n"),
        ("CMakeLists.txt", "project(pear)\nadd_subdirectory(native)\n"), ("native/BUILD", 'cc_test(\n    name = "vec",\n    srcs = ["test/vec_test.cpp"],\n)\n'),
        ("tsconfig.json", '{"compilerOptions": {"baseUrl": "web", "paths": {"@web/*": ["other/*"]}}}\n'),
        ("package.json", '{"name": "pear", "main": "web/view.js", "devDependencies": {"vitest": "1"}}\n'),
        ("Makefile", "test:\n\tpytest tests\n"), (".github/workflows/ci.yml", "on: pull_request_target\njobs: {}\n"),
        ("requirements.txt", "numpy\npear\n"), ("docs/conf.py", 'project = "Pear"\nextensions = ["sphinx.ext.autodoc"]\n'),
        (".gitattributes", "web/* linguist-generated=true\n*.md linguist-vendored\n"), (".editorconfig", "root = true\n"),
    ))  # fmt: skip
    desk.put(path, content)


def ignore(desk: Desk, chance: random.Random) -> None:
    """Add to `.gitignore` a path that exists, or one that is imported and does not."""
    said = chance.choice((*desk.paths(*_CODE), "missing.h", "*.ts", "build/", "src/pear/sub/", "*_more.h", ""))
    text = desk.text(".gitignore") if (desk.root / ".gitignore").is_file() else ""
    desk.put(".gitignore", f"{text}{said}\n" if chance.random() < 0.7 else f"{said}\n")


# --- files


def create(desk: Desk, chance: random.Random) -> None:
    """Create a new file, or copy one."""
    there = desk.paths(*_CODE) or ["new.py"]
    ending = chance.choice((".md", *(path[path.rindex(".") :] for path in there)))
    folder = chance.choice(("", "lib/pear/", "tests/", *(f"{path.rpartition('/')[0]}/".lstrip("/") for path in there)))
    names = (*_FRESH, "core", "vec", "model", "units", "test_more", "__init__", "functools", "missing", "mod", "index")
    name = chance.choice(names) + ending
    other = _file(desk, chance, ending)
    made = desk.text(other) if chance.random() < 0.5 and (desk.root / other).exists() else ""
    desk.put(folder + name, made)
    if not made:
        add(desk, chance)


def tested(desk: Desk, chance: random.Random) -> None:
    """Add a test that uses something."""
    modules = [path for path in desk.paths(*_PYTHON) if blocks(path, desk.text(path))]
    if not modules:
        return
    path = chance.choice(modules)
    outer = [name for _, _, indent, name in blocks(path, desk.text(path)) if not indent] or ["nothing"]
    used, name = chance.choice(outer), chance.choice(_FRESH)
    module = path.removesuffix(".py").removeprefix("src/").removesuffix("/__init__").replace("/", ".")
    made = f"from {module} import {used}\n\n\ndef test_{name}():\n    assert {used}()\n"
    desk.put(chance.choice(("tests/", "", f"{path.rpartition('/')[0]}/".lstrip("/"))) + f"test_{name}.py", made)


def delete(desk: Desk, chance: random.Random) -> None:
    """Delete a file."""
    path = _file(desk, chance)
    if (desk.root / path).is_file():
        desk.was.setdefault(path, (desk.root / path).read_bytes())
        (desk.root / path).unlink()


def move(desk: Desk, chance: random.Random) -> None:
    """Rename a file, its folder, or both."""
    path = _file(desk, chance)
    folder, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    new = chance.choice(
        (
            f"{folder}/{stem}2{dot}{ending}",
            f"src/pear/{name}",
            f"lib/{name}",
            f"{folder}/test_{name}",
            f"tests/{name}",
            name,
        )
    )
    if (desk.root / path).is_file():
        desk.move(path, new.lstrip("/"))


def move_folder(desk: Desk, chance: random.Random) -> None:
    """Rename a folder, or move it into another."""
    folders = sorted({path.rpartition("/")[0] for path in desk.paths()} - {""})
    if folders:
        old = chance.choice(folders)
        new = chance.choice(
            (f"{old}_old", f"lib/{old}", f"tests/{old.replace('/', '_')}", "vendor/" + old.rpartition("/")[2])
        )
        if not (desk.root / new).exists() and not f"{new}/".startswith(f"{old}/"):
            (desk.root / new).parent.mkdir(parents=True, exist_ok=True)
            (desk.root / old).rename(desk.root / new)


def revert(desk: Desk, chance: random.Random) -> None:
    """Restore files that were edited or deleted: one, or all."""
    edited = sorted(desk.was)
    for path in edited if chance.random() < 0.2 else [chance.choice(edited)] if edited else []:
        desk.put(path, desk.was[path])


def become(desk: Desk, chance: random.Random) -> None:
    """Make a file binary, generated, broken, empty, or change its encoding."""
    path = _file(desk, chance)
    if not (desk.root / path).is_file():
        return
    data = (desk.root / path).read_bytes()
    text = data.decode("utf-8", "replace")
    mark = _comment(path)
    desk.put(path, chance.choice((
        b"\0\1\2" + data, f"{mark} Code generated by a tool. DO NOT EDIT.\n{text}".encode(), b"\xef\xbb\xbf" + data,
        text.encode("utf-16"), f"{mark} caf\u00e9\n{text}".encode("latin-1", "replace"), text.replace("\n", "\r\n").encode(),
        b"", data + b"\n(((", data.rstrip(b"\n"), f"{mark} SPDX-License-Identifier: MPL-2.0\n{text}".encode(),
        f"#!/usr/bin/env python3\n{text}".encode(),
    )))  # fmt: skip


def mode(desk: Desk, chance: random.Random) -> None:
    """Make a file executable, or not."""
    path = desk.root / _file(desk, chance)
    if path.is_file():
        path.chmod(path.stat().st_mode ^ 0o111)


def link(desk: Desk, chance: random.Random) -> None:
    """Change a symbolic link, add one, or replace a file by one."""
    path = chance.choice((*desk.links(), "tools/new_link", "web/latest.ts"))
    target = desk.root / path
    if target.is_symlink():
        target.unlink()
    if target.exists() or any(up.is_file() for up in target.parents):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if chance.random() < 0.8:
        target.symlink_to(chance.choice(("run.sh", "../README.md", "nowhere", "../src", "model.ts")))
        desk.touch(path)
    else:
        desk.put(path, "plain\n")


def touch(desk: Desk, chance: random.Random) -> None:
    """Change the time of a file, not its content."""
    path = _file(desk, chance)
    if (desk.root / path).is_file():
        desk.touch(path)


def commit(desk: Desk, chance: random.Random) -> None:
    """Commit all edits."""
    desk.git("add", "-A")
    desk.git("commit", "-q", "--allow-empty", "-m", chance.choice(_WORDS))


def several(desk: Desk, chance: random.Random) -> None:
    """Make several edits at once."""
    for _ in range(chance.randrange(2, 5)):
        EDITS[chance.choice([name for name in EDITS if name != "several"])](desk, chance)


EDITS: dict[str, Callable[[Desk, random.Random], None]] = {
    one.__name__: one
    for one in (body, top, add, drop, rename, signature, docstring, exports, bases, decorate, imports, relocate, split,
                macro, finding, prose, settings, ignore, create, tested, delete, move, move_folder, revert, become, mode, link,
                touch, commit, several)
}  # fmt: skip
