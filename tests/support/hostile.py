"""`python -m bench hostile [CASE …]`: hostile repositories at full size, each built with its book.

In: the names of cases (all by default). Out: a table with the result, the time and the memory of each. The tests make
the same repositories, smaller (`tests/workflow/test_hostile.py`). A case is a function that fills a folder.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.support import measure

CONCORD = str(Path(sys.executable).parent / "concord")
LEVELS = 60  # of headers that each include two of the next level: more ways than can be counted


class Case(NamedTuple):
    """A hostile repository."""

    make: Callable[[Path, int], None]
    small: int
    large: int


def put(folder: Path, path: str | bytes, text: str | bytes) -> None:
    """Write a file, whatever its name."""
    whole = os.path.join(os.fsencode(folder), os.fsencode(path))
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    with open(whole, "wb") as file:
        file.write(text.encode() if isinstance(text, str) else text)


def many_files(folder: Path, size: int) -> None:
    """Put all files in one folder."""
    for number in range(size):
        put(folder, f"all/m{number}.py", f"def f{number}():\n    return {number}\n")


def deep_folders(folder: Path, size: int) -> None:
    """Nest folders; every hundredth contains a file, so that pages meet on the way up."""
    here = "d/" * size
    put(folder, f"{here}last.py", "def last(): pass\n")
    for depth in range(100, size, 100):
        put(folder, f"{'d/' * depth}m{depth}.py", f"from last import last\n\n\ndef f{depth}(): last()\n")


def long_paths(folder: Path, size: int) -> None:
    """Use paths as long as the system allows; those of their pages are longer."""
    room = size - len(os.fsencode(folder)) - 1
    step = "n" * 200 + "/"
    path = step * (room // len(step))
    path += "e" * max(1, min(200, room - len(path) - 4)) + ".py"
    os.makedirs(folder, exist_ok=True)
    here = os.open(folder, os.O_RDONLY)
    try:
        for name in path.split("/")[:-1]:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=here)
            inner = os.open(name, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        handle = os.open(path.rpartition("/")[2], os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=here)
        os.write(handle, b"def far(): pass\n")
        os.close(handle)
    finally:
        os.close(here)
    put(folder, "near.py", "def near(): pass\n")


def many_includes(folder: Path, size: int) -> None:
    """One file includes all, and each header includes two others, down to one."""
    put(folder, "all.cpp", "".join(f'#include "h/h{number}.h"\n' for number in range(size)) + "int main() { return f0(); }\n")
    for number in range(size):
        put(folder, f"h/h{number}.h", f"#pragma once\nint f{number}();\n")
    for level in range(LEVELS):
        for side in "ab":
            lower = "".join(f'#include "{other}{level + 1}.h"\n' for other in "ab" if level < LEVELS - 1)
            put(folder, f"w/{side}{level}.h", f"{lower}int {side}{level}();\n")
    put(folder, "w/top.cpp", '#include "a0.h"\nint top() { return b59(); }\n')


def circles(folder: Path, size: int) -> None:
    """Make everything cyclic that can be."""
    for number in range(size):
        after = (number + 1) % size
        put(folder, f"py/m{number}.py", f"from m{after} import *\nfrom m{after} import name{after} as name{number}\nimport m{after}\n\n\nclass C{number}(m{after}.C{after}): pass\n")
        put(folder, f"c/h{number}.h", f'#include "h{after}.h"\n#define M{number} M{after}\nstruct S{number} : S{after} {{}};\ntypedef T{after} T{number};\n')
        put(folder, f"js/j{number}.js", f"export * from './j{after}.js';\nexport {{ k{after} as k{number} }} from './j{after}.js';\n")
        put(folder, f"ts/t{number}.ts", f"import {{ I{after} }} from './t{after}';\nexport interface I{number} extends I{after} {{}}\nexport type A{number} = A{after};\n")
        put(folder, f"go/g{number}/g.go", f'package g{number}\n\nimport "example.org/x/go/g{after}"\n\ntype T struct {{ g{after}.T }}\n')
        put(folder, f"rs/r{number}.rs", f"pub use crate::r{after}::*;\npub mod r{after};\npub type T = crate::r{after}::T;\n")
        put(folder, f"java/p/J{number}.java", f"package p;\nimport p.J{after};\npublic class J{number} extends J{after} {{}}\n")
        put(folder, f"proto/p{number}.proto", f'syntax = "proto3";\nimport "proto/p{after}.proto";\nmessage P{number} {{ P{after} p = 1; }}\n')
        put(folder, f"mk/m{number}.mk", f"include mk/m{after}.mk\nV{number} = $(V{after})\nt{number}: t{after}\n")
        put(folder, f"cm{number}/CMakeLists.txt", f"add_subdirectory(../cm{after})\ninclude(../cm{after}/CMakeLists.txt)\nadd_library(l{number} l{number}.c)\ntarget_link_libraries(l{number} l{after})\n")
        put(folder, f"rst/r{number}.rst", f"R{number}\n====\n\n.. include:: r{after}.rst\n\n.. toctree::\n\n   r{after}\n\n|a{number}|\n\n.. |a{number}| replace:: |a{after}|\n")
        put(folder, f"bzl/b{number}.bzl", f'load(":b{after}.bzl", "f{after}")\nf{number} = f{after}\n')
        put(folder, f"req/r{number}.txt", f"-r r{after}.txt\n")
        put(folder, f"y{number}.yml", f"a: &x{number}\n  b: *x{number}\n")
        put(folder, f"sh/s{number}.sh", f". ./s{after}.sh\nalias s{number}=s{after}\n")
    put(folder, "self.py", "from self import *\nfrom self import self\nfrom . import self\n\n\nclass A(A): pass\n")
    put(folder, "self.h", '#include "self.h"\n#define SELF SELF\nclass S : public S {};\nusing T = T;\nnamespace n = n;\n')
    put(folder, "go.mod", "module example.org/x\n")
    put(folder, "Dockerfile", "FROM a AS b\nFROM b AS a\nCOPY --from=a . .\n")


def odd_names(folder: Path, folders: int) -> None:
    """Use names that file systems accept and other programs do not; also for folders if wanted."""
    nfc, nfd = unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é")
    names: list[str | bytes] = [
        "README.md", "readme.md", "Readme.MD", "Lib", "lib.py", f"{nfc}.py", f"{nfd}.py", "ß.py", "ss.py", "ﬁ.py", "fi.py",
        "n" * 252 + ".py", "n" * 252 + ".md", "é" * 126 + ".py", "new\nline.py", "quote'.py", 'quotes".py', "hash#.py",
        "what?.py", "per%41cent.py", "per%cent.py", "back\\slash.py", b"caf\xe9.py", b"\xff\xfe.py", "index.md", "doc.md", "sub.md",
        "manifest.json", "a_docs.md", "a_kw.md", "a", "keywords.md", "comprehensive_book.md", "verification_report.md",
        "index.html", "CON", "aux.txt", "nul.", "trailing ", " leading", "-rf", "--help.py", "~", "~root.py", "$(reboot).py",
        "`reboot`.py", "a|b.py", "a<b>.py", "[x](y).py", "![x](y).png", "<script>.py", "&amp;.py", "*.py", "a:b.py",
        "\u202egnp.py", "zero\u200bwidth.py", "\x1b[31mred.py", "\x07bell.py", "\x7f.py", "tab\t.py", "...", "..a", "a..b",
        "1. a.py", "# a.py", "> a.py", "http:", "{{ x }}.py", "%s.py", "\u2028.py", "🎉.py", ".claims.py", "javascript:alert(1)",
    ]  # fmt: skip
    for place, name in enumerate(names):
        text = f"# Text {place}\n\nSome words.\n" if str(name).lower().endswith(("md", "md'")) else f"x{place} = {place}\n"
        put(folder, name, text)
        if folders:
            put(folder, b"in/" + os.fsencode(name) + b"/one.py", f"y{place} = {place}\n")
    for path in (".claims/x.py", "book/index.md", "keywords/a.md", "docs/.claims/a_docs.md.json", "LIB/a.py", "Lib_/b.py"):
        put(folder, path, "x = 1\n")


def deep_nesting(folder: Path, size: int) -> None:
    """Nest definitions in every language that can."""
    spaces = [" " * depth for depth in range(size)]
    put(folder, "a.json", '{"a":' * size + "1" + "}" * size)
    put(folder, "b.json", "[" * size + "]" * size)
    put(folder, "c.yml", "".join(f"{spaces[d]}k{d}:\n" for d in range(size)) + f"{' ' * size}v\n")
    put(folder, "f.yml", "{a: " * size + "1" + "}" * size)
    put(folder, "d.py", "".join(f"{spaces[d]}class C{d}:\n" for d in range(min(size, 95))) + f"{' ' * min(size, 95)}x = 1\n")
    put(folder, "e.py", "x = " + "lambda: " * min(size, 90) + "1\n")
    put(folder, "if.py", "".join(f"{spaces[d]}if x:\n" for d in range(min(size, 95))) + f"{' ' * min(size, 95)}x = 1\n")
    put(folder, "n.cpp", "".join(f"namespace n{d} {{\n" for d in range(size)) + "int f();\n" + "}\n" * size)
    put(folder, "c.cpp", "".join(f"struct C{d} {{\n" for d in range(size)) + "int f();\n" + "};\n" * size)
    put(folder, "t.cpp", f"{'A<' * size}int{'>' * size} x;\n")
    put(folder, "i.c", "#if X\n" * size + "int f();\n" + "#endif\n" * size)
    put(folder, "f.js", "".join(f"function f{d}() {{\n" for d in range(size)) + "}\n" * size)
    put(folder, "o.js", "export default " + "{a: " * size + "1" + "}" * size + ";\n")
    put(folder, "n.ts", "".join(f"namespace n{d} {{\n" for d in range(size)) + "}\n" * size)
    put(folder, "J.java", "".join(f"class J{d} {{\n" for d in range(size)) + "}\n" * size)
    put(folder, "m.rs", "".join(f"mod m{d} {{\n" for d in range(size)) + "}\n" * size)
    put(folder, "g.go", "package g\n\ntype T " + "struct { A " * size + "int" + "}" * size + "\n")
    put(folder, "p.proto", 'syntax = "proto3";\n' + "".join(f"message M{d} {{\n" for d in range(size)) + "}\n" * size)
    put(folder, "t.toml", "[" + ".".join("a" * 1 for _ in range(size)) + "]\nx = 1\n")
    put(folder, "q.md", "> " * size + "quote\n\n" + "".join(f"{'  ' * d}- item {d}\n" for d in range(size)) + "[" * size + "]" * size + "\n")
    put(folder, "h.md", "".join(f"{'#' * (d % 6 + 1)} Heading {d}\n\n" for d in range(size)))
    put(folder, "r.rst", "".join(f"{spaces[d]}.. note::\n\n" for d in range(size)) + f"{' ' * size}words\n")
    put(folder, "m.mk", "x = " + "$(a " * size + ")" * size + "\n" + "ifdef X\n" * size + "endif\n" * size)
    put(folder, "CMakeLists.txt", "if(X)\n" * size + "endif()\n" * size + "set(x " + "${" * size + "}" * size + ")\n")
    put(folder, "s.sh", "if true; then\n" * size + "fi\n" * size + "echo " + "$(" * size + ")" * size + "\n")
    put(folder, "b.bzl", "x = " + "[" * size + "]" * size + "\n")
    put(folder, "x.html", "<div>" * size + "</div>" * size + "\n")


def large_files(folder: Path, size: int) -> None:
    """A file and a line above the limits, a file just below, and a hundred definitions on one long line."""
    put(folder, "huge.txt", b"words and more words\n" * (size // 21))
    put(folder, "line.js", b"x=1;" * (size // 8))
    put(folder, "line.json", b"[" + b"123456," * (size // 14) + b"0]")
    put(folder, "line.md", b"word " * (size // 40))
    put(folder, "one.py", "; ".join(f"v{n} = {n}" for n in range(100)) + "\n# " + "x" * (size // 50) + "\n")
    put(folder, "zero.bin", b"\0" * (size // 4))


CASES = {
    "files in one folder": Case(many_files, 120, 10_000),
    "folders in one another": Case(deep_folders, 500, 500),
    "long paths": Case(long_paths, 4085, 4095),
    "includes": Case(many_includes, 60, 10_000),
    "circles": Case(circles, 3, 300),
    "odd names": Case(odd_names, 1, 1),
    "deep nesting": Case(deep_nesting, 300, 2000),
    "large files": Case(large_files, 400_000, 100_000_000),
}


def main(words: list[str]) -> None:
    """Print the table."""
    print("| repository | result |\n|---|---|")
    for name in words or CASES:
        case = CASES[name]
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch, "repo")
            case.make(root, case.large)
            env = {"CONCORDANCE_CACHE": os.path.join(scratch, "cache")}
            began = time.perf_counter()
            built = measure.run([CONCORD, "build", str(root), "--json"], env=env)
            seconds = time.perf_counter() - began
            summary = json.loads(built.output[built.output.index("{") :])
            verified = measure.run([CONCORD, "verify", "--repo", str(root)], env=env).output.strip().splitlines()[-1]
            said = f"{summary['files']:,} files, {summary['book']['pages']:,} pages, {seconds:.0f} s, {built.peak >> 20} MiB"
            print(f"| {name} ({case.large:,}) | {said}; failed: {len(summary['failed'])}; verify: {verified} |", flush=True)
