"""Generated repositories, and edits of them: with few names, so that each is ambiguous.

A file is a list of blocks (an import, a class, a function …). An edit adds, removes, replaces or moves blocks, renames
a name in one file or in all, or adds, removes and moves files.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Protocol

Files = dict[str, list[str]]

_NAMES = ["alpha", "beta", "gamma", "delta", "make", "run"]
_TYPES = ["Ant", "Bee", "Cat", "Dog"]
_MEMBERS = ["grow", "eat", "size", "next", "make"]


class PythonMaker:
    paths = ("a.py", "b.py", "pkg/__init__.py", "pkg/c.py", "pkg/d.py", "pkg/sub/__init__.py", "pkg/sub/e.py",
             "tests/test_f.py", "conftest.py", "tests/conftest.py", "lib/g.pyi", "pkg/sub/h.py")  # fmt: skip
    modules = ("a", "b", "pkg", "pkg.c", "pkg.d", "pkg.sub", "pkg.sub.e", ".", ".c", ".d", "..d", "lib.g", ".sub")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def name(self) -> str:
        return self.rng.choice([*_NAMES, *_TYPES])

    def value(self, depth: int = 0) -> str:
        r = self.rng
        kind = r.randrange(9 if depth < 3 else 3)
        inner = self.value(depth + 1) if kind > 2 else ""
        return [self.name(), f"{self.name()}()", "self", f"{inner}.{r.choice(_MEMBERS)}", f"{inner}.{r.choice(_MEMBERS)}()",
                f"[{inner}]", f"{inner}[0]", f"{r.choice(_TYPES)}({inner})", f"{inner}()"][kind]  # fmt: skip

    def method(self) -> str:
        r = self.rng
        name = r.choice([*_MEMBERS, "__init__", "__call__", "__getitem__", "__iter__", "__enter__", "test_it", "setUp"])
        says = f" -> {self.rng.choice(_TYPES)}" if not r.randrange(4) else ""
        how = r.choice(["", "", "", "    @property\n", "    @staticmethod\n", "    @classmethod\n"])
        body = [f"self.{r.choice(_MEMBERS)} = {self.value()}", f"x = {self.value()}", f"return {self.value()}", "pass",
                f"for y in {self.value()}:\n            y.{r.choice(_MEMBERS)}()", f"super().{r.choice(_MEMBERS)}()"]  # fmt: skip
        lines = "".join(f"        {r.choice(body)}\n" for _ in range(r.randint(1, 3)))
        return f"{how}    def {name}(self, a{r.choice(['', f': {self.name()}'])}){says}:\n{lines}"

    def block(self) -> str:
        r = self.rng
        kind = r.randrange(13)
        if kind == 0:
            return (
                f"import {r.choice([m for m in self.modules if m[0] != '.'])}{r.choice(['', ' as ' + self.name()])}\n"
            )
        if kind in (1, 2):
            return f"from {r.choice(self.modules)} import {self.name()}{r.choice(['', '', ' as ' + self.name()])}\n"
        if kind == 3:
            return f"from {r.choice(self.modules)} import *\n"
        if kind == 4:
            return f"from {r.choice(self.modules)} import {r.choice(['c', 'd', 'e', 'sub', 'g'])}\n"
        if kind in (5, 6, 7):
            bases = ", ".join({self.name() for _ in range(r.randrange(3))})
            return f"class {r.choice(_TYPES)}({bases}):\n" + "".join(self.method() for _ in range(r.randint(1, 3)))
        if kind == 8:
            return f"{self.name()} = {self.value()}\n"
        if kind == 9:
            return f"__all__ = {sorted({self.name() for _ in range(r.randint(1, 4))})}\n"
        if kind == 10:
            use = r.choice(["", "(autouse=True)"])
            return f"import pytest\n@pytest.fixture{use}\ndef {self.name()}():\n    return {self.value()}\n"
        if kind == 11:
            return (
                f"def test_{self.name()}({self.name()}, {self.name()}2=1):\n    {self.name()}.{r.choice(_MEMBERS)}()\n"
            )
        how = r.choice(["", "", f"@{self.name()}\n"])
        inner = f"    def {self.name()}():\n        return {self.value()}\n" if not r.randrange(3) else ""
        return f"{how}def {self.name()}(x: {self.name()} = None):\n{inner}    y = {self.value()}\n    return {r.choice(['y', self.value()])}\n"


class CMaker:
    paths = ("x.h", "y.h", "inc/z.h", "inc/w.h", "m.cpp", "n.cpp", "src/o.cpp", "src/p.cpp", "q.inl")
    headers = ("x.h", "y.h", "z.h", "inc/z.h", "w.h", "q.inl", "vector")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def name(self) -> str:
        return self.rng.choice(_NAMES)

    def type(self) -> str:
        r = self.rng
        return r.choice([*_TYPES, *_TYPES, "int", f"one::{r.choice(_TYPES)}", f"one::two::{r.choice(_TYPES)}", "auto"])

    def line(self) -> str:
        r = self.rng
        return r.choice([
            f"{self.type()} v; v.{r.choice(_MEMBERS)}();", f"{self.name()}({r.choice(['', '1', '1, 2'])});",
            f"auto u = {self.name()}(); u.{r.choice(_MEMBERS)}; u->{r.choice(_MEMBERS)}();", f"return {self.name()}();",
            f"this->{r.choice(_MEMBERS)}();", f"{r.choice(_MEMBERS)}();", f"ONE({self.name()});", "using namespace one;",
            f"{r.choice(_TYPES)}::{r.choice(_MEMBERS)}();", f"for (auto& e : {self.name()}()) e.{r.choice(_MEMBERS)}();",
        ])  # fmt: skip

    def member(self) -> str:
        r = self.rng
        return r.choice([
            f"{r.choice(['', 'virtual ', 'static '])}{self.type()} {r.choice(_MEMBERS)}({r.choice(['', 'int a'])});",
            f"{self.type()} {r.choice(_MEMBERS)};", f"{self.type()} {r.choice(_MEMBERS)}() {{ {self.line()} }}",
            f"{r.choice(_TYPES)}* operator->();", f"{r.choice(_TYPES)} begin();", f"using {r.choice(_TYPES)} = {self.type()};",
            f"using {r.choice(_TYPES)}::{r.choice(_MEMBERS)};",
        ])  # fmt: skip

    def inner(self) -> str:
        r = self.rng
        kind = r.randrange(9)
        if kind in (0, 1):
            base = r.choice(["", f" : public {self.type()}"])
            return (
                f"class {r.choice(_TYPES)}{base} {{ public: "
                + " ".join(self.member() for _ in range(r.randint(0, 3)))
                + " };"
            )
        if kind == 2:
            return f"{r.choice(['class', 'struct'])} {r.choice(_TYPES)};"
        if kind == 3:
            return f"{r.choice(['', 'static '])}{self.type()} {self.name()}({r.choice(['', 'int a'])});"
        if kind in (4, 5):
            return f"{r.choice(['', 'static '])}{self.type()} {self.name()}({r.choice(['', 'int a'])}) {{ {self.line()} {self.line()} }}"
        if kind == 6:
            return f"{self.type()} {r.choice(_TYPES)}::{r.choice(_MEMBERS)}() {{ {self.line()} }}"
        if kind == 7:
            return f"typedef {self.type()} {r.choice(_TYPES)};"
        return f"{self.type()} {self.name()};"

    def block(self) -> str:
        r = self.rng
        kind = r.randrange(10)
        if kind in (0, 1):
            name = r.choice(self.headers)
            return f"#include <{name}>\n" if r.randrange(2) else f'#include "{name}"\n'
        if kind == 2:
            return r.choice(["using namespace one;\n", "using namespace one::two;\n", f"using one::{self.name()};\n",
                             f"using one::{r.choice(_TYPES)};\n", "#define ONE(x) x\n", "namespace un = one;\n"])  # fmt: skip
        if kind in (3, 4, 5):
            space = r.choice(["one", "one", "one::two", "", "two", "one"])
            line = "inline " if not r.randrange(12) else ""
            return f"{line}namespace {space} {{\n" + "\n".join(self.inner() for _ in range(r.randint(1, 3))) + "\n}\n"
        return self.inner() + "\n"


class EcmaMaker:
    paths = ("web/a.ts", "web/b.ts", "web/c.js", "web/in/index.ts", "web/in/d.ts", "tsconfig.json")
    modules = ("./a", "./b", "./c", "./in", "../b", "./d", "./in/d", "@/a", "react")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def name(self) -> str:
        return self.rng.choice([*_NAMES, *_TYPES])

    def block(self) -> str:
        r = self.rng
        m = r.choice(self.modules)
        return r.choice([
            f"import {{ {self.name()} }} from '{m}';\n", f"import * as {self.name()} from '{m}';\n", f"export * from '{m}';\n",
            f"export {{ {self.name()} as {self.name()} }} from '{m}';\n", f"import {self.name()} from '{m}';\n",
            f"export class {r.choice(_TYPES)} extends {self.name()} {{\n  {r.choice(_MEMBERS)}(): {r.choice(_TYPES)} {{ return this.{r.choice(_MEMBERS)}(); }}\n}}\n",
            f"export function {self.name()}(x: {r.choice(_TYPES)}) {{ x.{r.choice(_MEMBERS)}(); {self.name()}(); }}\n",
            f"export const {self.name()}: {r.choice(_TYPES)} = {self.name()};\n", f"{self.name()}.{r.choice(_MEMBERS)}();\n",
        ])  # fmt: skip


class GoMaker:
    paths = ("go.mod", "g/one.go", "g/two.go", "h/three.go", "h/four.go")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def block(self) -> str:
        r = self.rng
        one, two, member = r.choice(_TYPES), r.choice(_TYPES), r.choice(_MEMBERS).title()
        return r.choice([
            'import "example.org/it/g"\n', 'import "example.org/it/h"\n', f"type {one} struct {{ {two}\n {member} {two} }}\n",
            f"func (x *{one}) {member}() {two} {{ return x.{r.choice(_MEMBERS).title()}() }}\n",
            f"func {one}{two}(a {one}) {{ a.{member}(); g.{two}{one}(a); h.{one}{two}(a) }}\n", f"var {two}{one} {one}\n",
        ])  # fmt: skip


class JavaMaker:
    paths = ("src/org/one/Ant.java", "src/org/one/Bee.java", "src/org/two/Cat.java", "src/org/two/Dog.java")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def block(self) -> str:
        r = self.rng
        one, two, member, other = r.choice(_TYPES), r.choice(_TYPES), r.choice(_MEMBERS), r.choice(_MEMBERS)
        return r.choice([
            f"import org.{r.choice(['one', 'two'])}.{r.choice([one, '*'])};\n",
            f"class {one} extends {two} {{ {two} {member}() {{ return this.{other}(); }} {one} {other}; }}\n",
            f"interface {one} {{ {two} {member}(); }}\n",
            f"class {one} {{ void {member}({two} x) {{ x.{other}(); new {two}().{member}(); {one}.{other}(); }} }}\n",
        ])  # fmt: skip


class RustMaker:
    paths = ("Cargo.toml", "src/lib.rs", "src/a.rs", "src/b/mod.rs", "src/b/c.rs")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def block(self) -> str:
        r = self.rng
        one, two, member, name = r.choice(_TYPES), r.choice(_TYPES), r.choice(_MEMBERS), r.choice(_NAMES)
        way = r.choice(["crate::a", "crate::b", "crate::b::c", "super", "self::c", "crate"])
        return r.choice([
            f"mod {r.choice(['a', 'b', 'c'])};\n", f"use {way}::{r.choice([one, name, '*'])};\n", f"pub use {way}::{one};\n",
            f"pub struct {one} {{ {member}: {two} }}\n", f"pub fn {name}(x: {one}) -> {two} {{ x.{member}(); {one}::{member}() }}\n",
            f"impl {one} {{ pub fn {member}(&self) -> {two} {{ self.{r.choice(_MEMBERS)}() }} }}\n",
        ])  # fmt: skip


class ShellMaker:
    paths = ("bin/a.sh", "bin/b.sh", "c.sh", "api/d.proto", "api/e.proto")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def block(self) -> str:
        r = self.rng
        one, two, name = r.choice(_TYPES), r.choice(_TYPES), r.choice(_NAMES)
        return r.choice([
            f"source {r.choice(['bin/a.sh', './b.sh', '../c.sh', '$HERE/a.sh'])}\n", f"{name}() {{\n  {r.choice(_NAMES)}\n}}\n",
            f"{name} now\n", f'import "{r.choice(["api/d.proto", "e.proto"])}";\n', f"message {one} {{ {two} {name} = 1; }}\n",
        ])  # fmt: skip


class BoundMaker:
    """Generates C++ that other languages call, and that calls operators."""

    paths = ("ext/a.cpp", "ext/b.cpp", "ext/c.cu", "ext/d.h")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def block(self) -> str:
        r = self.rng
        one, two, kind = r.choice(_NAMES), r.choice(_NAMES), r.choice(_TYPES)
        return r.choice([
            f"Tensor {one}(const Tensor& self) {{ return at::{two}(self); }}\n",
            f"namespace at {{ namespace native {{\nTensor {one}(const Tensor& self) {{ return {two}(self); }}\n}} }}\n",
            f"__global__ void {one}(float* x) {{}}\nvoid {two}() {{ {one}<<<1, 2>>>(0); }}\n",
            f'PYBIND11_MODULE(_C, m) {{\n  m.def("{one}", &{two});\n  init_{kind}(m);\n}}\n',
            f'void init_{kind}(py::module& m) {{\n  py::class_<{kind}>(m, "{kind}").def("{one}", &{kind}::{two});\n}}\n',
            f"struct {kind} {{ int {one}() {{ return 1; }} }};\n",
            f'static PyMethodDef methods[] = {{{{"{one}", (PyCFunction){two}, METH_NOARGS, nullptr}}, {{nullptr}}}};\n',
            f'TORCH_LIBRARY_IMPL(aten, CUDA, m) {{\n  m.impl("{one}", TORCH_FN({two}));\n}}\n',
            f'TORCH_LIBRARY(mine, m) {{\n  m.def("{one}(Tensor x) -> Tensor", &{two});\n}}\n',
            f'const char* {one}_of() {{ return std::getenv("{two.upper()}_HOME"); }}\n',
            f"DECLARE_DISPATCH(void (*)(int), {one}_stub);\nDEFINE_DISPATCH({one}_stub);\n",
            f"REGISTER_DISPATCH({one}_stub, &{two});\n", '#include "d.h"\n', "TORCH_IMPL_FUNC(" + one + ")(int x) {}\n",
        ])  # fmt: skip


class TableMaker:
    """Generates tables of operators, and their derivatives."""

    paths = ("ext/ops.yaml", "ext/derived.yaml", "other/ops.yaml")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def block(self) -> str:
        r = self.rng
        one, two, three = (r.choice(_NAMES) for _ in range(3))
        return r.choice([
            f"- func: {one}(Tensor self) -> Tensor\n  variants: function, method\n",
            f"- func: {one}.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
            f"  dispatch:\n    CPU, CUDA: {two}\n    MPS: {three}\n",
            f"- func: {one}.x(Tensor self, int dim) -> Tensor\n  structured_delegate: {two}.out\n",
            f"- func: {one}(Tensor self) -> Tensor\n  dispatch:\n    CPU: {two}\n",
            f"- name: {one}(Tensor self) -> Tensor\n  self: {two}(grad)\n",
        ])  # fmt: skip


class AskingMaker:
    """Generates Python that uses what other languages define."""

    paths = ("pkg/__init__.py", "pkg/use.py", "pkg/more.py", "pkg/_C.pyi", "tests/test_use.py")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def block(self) -> str:
        r = self.rng
        one, two, kind = r.choice(_NAMES), r.choice(_NAMES), r.choice(_TYPES)
        return r.choice([
            "import pkg._C\n", "from pkg import _C\n", "from . import _C\n", f"from pkg._C import {one}\n", "import torch\n",
            "import os\n", f"def {one}():\n    return pkg._C.{two}()\n", f"def {one}(x):\n    return _C.{two}(x)\n",
            f"class {kind}(_C.{r.choice(_TYPES)}):\n    def {one}(self):\n        return _C.{kind}().{two}()\n",
            f"def {one}(x):\n    return torch.ops.mine.{two}(x), torch.ops.aten.{one}(x), torch.{two}(x)\n",
            f"def test_{one}():\n    assert {two}(1)\n", f'{one} = os.environ.get("{two.upper()}_HOME")\n',
            f"@register_decomposition(aten.{one})\ndef {two}(x):\n    return x\n", f"def {one}(x: int) -> int: ...\n",
        ])  # fmt: skip


class Maker(Protocol):
    """Generates blocks of one language for the files of some paths."""

    paths: tuple[str, ...]

    def block(self) -> str: ...


MAKERS: dict[str, Callable[[random.Random], Maker]] = {
    "python": PythonMaker, "c": CMaker, "ecma": EcmaMaker, "go": GoMaker, "java": JavaMaker, "rust": RustMaker,
    "shell": ShellMaker, "bound": BoundMaker, "table": TableMaker, "asking": AskingMaker,
}  # fmt: skip
_WHOLE = {
    "tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["web/*"]}}}\n',
    "go.mod": "module example.org/it\n",
    "Cargo.toml": '[package]\nname = "it"\nedition = "2021"\n',
}
_STARTS = {".go": "package it\n", ".proto": 'syntax = "proto3";\n'}


class Repository:
    """Files of one or several languages."""

    def __init__(self, seed: int, kinds: tuple[str, ...]) -> None:
        self.rng = random.Random(seed)
        self.makers = [MAKERS[kind](self.rng) for kind in kinds]
        self.files: Files = {}
        self.done = ""
        for maker in self.makers:
            for path in maker.paths:
                self.files[path] = [maker.block() for _ in range(self.rng.randint(1, 5))]

    def text(self) -> dict[str, str]:
        found = {}
        for path, blocks in self.files.items():
            last = path.rpartition("/")[2]
            start = next((start for end, start in _STARTS.items() if path.endswith(end)), "")
            found[path] = _WHOLE[last] if last in _WHOLE else start + "".join(blocks)
        return found

    def edit(self) -> None:
        """Make one edit, or a few at once."""
        self.done = ""
        for _ in range(self.rng.choice([1, 1, 1, 2, 3])):
            self._edit()

    def _edit(self) -> None:
        r = self.rng
        path = r.choice(sorted(self.files))
        maker = next(m for m in self.makers if _kin(path, m.paths))
        blocks = self.files[path]
        kind = r.choice(["add", "add", "take", "replace", "replace", "move", "rename", "rename all", "line", "order",
                         "new file", "drop file", "move file", "move folder"])  # fmt: skip
        self.done += f"{kind} {path}; "
        if kind == "add":
            blocks.insert(r.randint(0, len(blocks)), maker.block())
        elif kind == "line":
            blocks.insert(0, "\n")
        elif kind == "order":
            r.shuffle(blocks)
        elif kind in ("take", "replace", "move") and blocks:
            block = blocks.pop(r.randrange(len(blocks)))
            if kind == "replace":
                blocks.append(maker.block())
            elif kind == "move":
                others = [other for other in sorted(self.files) if _kin(other, maker.paths)]
                self.files[r.choice(others)].append(block)
        elif kind.startswith("rename"):
            pool = r.choice([_NAMES, _TYPES, _MEMBERS])
            old, new = r.choice(pool), r.choice([*pool, "fresh"])
            for other in sorted(self.files) if kind == "rename all" else [path]:
                self.files[other] = [re.sub(rf"\b{old}\b", new, block) for block in self.files[other]]
        elif kind == "new file":
            folder = r.choice(sorted(self.files)).rpartition("/")[0]
            name = (
                r.choice(["new", "c", "fresh", "Ant", "make", "__init__", "conftest", "x"])
                + f".{path.rpartition('.')[2]}"
            )
            new = f"{folder}/{name}".lstrip("/")
            self.files.setdefault(new, [maker.block() for _ in range(r.randint(0, 4))])
        elif kind == "drop file" and len(self.files) > 3:
            del self.files[path]
        elif kind == "move file":
            folder = r.choice([*sorted(self.files), "odd/x"]).rpartition("/")[0]
            new = f"{folder}/{path.rpartition('/')[2]}".lstrip("/")
            if new not in self.files:
                self.files[new] = self.files.pop(path)
        elif kind == "move folder" and "/" in path:
            old = path.rpartition("/")[0]
            new = r.choice(["pkg", "moved", "lib", old + "2"])
            for other in [other for other in sorted(self.files) if other.startswith(f"{old}/")]:
                self.files.setdefault(f"{new}{other[len(old) :]}", self.files.pop(other))


def _kin(path: str, paths: tuple[str, ...]) -> bool:
    """True if a file is in one of the languages of some others."""
    ends = {other.rpartition(".")[2] for other in paths}
    return path.rpartition(".")[2] in ends
