"""A small repository with an example of everything that one file can state about another.

Out: `FILES`, content by path: Python packages with re-exports, `__all__`, star imports, class hierarchies, decorators,
doctests, tests and fixtures; C++ headers and sources with namespaces, overloads, templates and macros; modules of
JavaScript and TypeScript; documents that name all of them; and the settings that linkers and pages read. `OTHERS` is a
second repository in Rust, Go, Java, Protocol Buffers and Starlark. `TANGLED` is a third with cycles of imports, star
imports and includes, a class hierarchy as deep as there are modules, and names that are re-exported repeatedly.
`bench.edits` edits all three.
"""

from __future__ import annotations

_PYTHON = {
    "src/pear/__init__.py": '''"""Pears, and what is made of them."""

from .core import Tree, grow
from .shapes import *
from .sub import deep as deeper
from .units import kilo

__all__ = ["Tree", "deeper", "grow", "kilo"]
__version__ = "1.2"
''',
    "src/pear/core.py": '''"""Trees: `Tree` grows by `grow`, see also `shapes.Round`."""

import os
from functools import lru_cache

from pear.units import kilo, weigh

LIMIT = 10


class Tree:
    """A tree.

    :param height: in metres
    """

    limit = LIMIT

    def __init__(self, height=1):
        self.height = height
        self.fruits = []

    @property
    def tall(self) -> bool:
        """Whether it is taller than `LIMIT`."""
        return self.height > LIMIT

    def bear(self, count: int = 1) -> None:
        for _ in range(count):
            self.fruits.append(Fruit(self))

    @staticmethod
    def plant():
        return Tree()


class Fruit:
    """What a `Tree` bears."""

    def __init__(self, tree: Tree):
        self.tree = tree

    def weight(self):
        return weigh(self) + kilo(1)


@lru_cache
def grow(tree: Tree, by: int = 1) -> Tree:
    """Makes a tree grow.

    >>> grow(Tree(), 2).height
    3
    """
    tree.height += by
    if tree.tall:
        tree.bear(by)
    return tree


def _secret():
    return os.getpid()
''',
    "src/pear/shapes.py": '''"""Shapes of fruits."""

from abc import ABC, abstractmethod

from pear.core import Fruit

__all__ = ["Bottle", "Round"]


class Shape(ABC):
    """A shape."""

    @abstractmethod
    def area(self) -> float:
        """Its area."""

    def describe(self):
        return f"{self.area()}"


class Round(Shape):
    def area(self) -> float:
        return 3.14


class Bottle(Round, Fruit):
    """A pear has this shape."""

    def area(self) -> float:
        return super().area() * 2

    def describe(self):
        return "bottle " + super().describe()


def all_shapes():
    return [Round(), Bottle(None)]
''',
    "src/pear/units.py": '''"""Units: what `weigh` weighs in."""

from . import deco

KILO = 1000


def kilo(n):
    """So many thousand."""
    return n * KILO


@deco.traced
def weigh(thing, unit=KILO):
    return kilo(unit) and len(str(thing))
''',
    "src/pear/deco.py": '''import functools


def traced(function):
    """Says when a function is called."""

    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner
''',
    "src/pear/sub/__init__.py": "from .deep import Well\n",
    "src/pear/sub/deep.py": '''from ..core import Tree as Plant
from ..shapes import Shape, all_shapes


class Well(Shape):
    """A well, which is no `Plant`."""

    depth: int = 3

    def area(self):
        return float(self.depth)

    def water(self, plant: Plant):
        plant.bear(self.depth)
        return [one.describe() for one in all_shapes()]


def dig(depth):
    well = Well()
    well.depth = depth
    return well
''',
    "tests/conftest.py": '''import pytest

from pear import Tree


@pytest.fixture
def tree():
    """A tree of three metres."""
    return Tree(3)
''',
    "tests/test_core.py": """from pear import grow
from pear.core import Tree


def test_grow(tree):
    assert grow(tree).height == 4


class TestTree:
    def test_bear(self, tree):
        tree.bear(2)
        assert isinstance(tree, Tree)
""",
    "tests/test_shapes.py": """import unittest

import pear
from pear.sub.deep import dig


class ShapesTest(unittest.TestCase):
    def setUp(self):
        self.well = dig(2)

    def test_area(self):
        self.assertEqual(self.well.area(), pear.Round().area())


if __name__ == "__main__":
    unittest.main()
""",
}
_NATIVE = {
    "native/include/pear/export.h": """#pragma once
#define PEAR_API __attribute__((visibility("default")))
#define PEAR_MAX(a, b) ((a) > (b) ? (a) : (b))
""",
    "native/include/pear/vec.h": """#pragma once
#include <pear/export.h>

namespace pear {

/// A vector of two.
struct PEAR_API Vec {
  double x = 0, y = 0;
  double length() const;
  Vec operator+(const Vec& other) const;
};

/// The product of `Vec`s.
PEAR_API double dot(const Vec& a, const Vec& b);
PEAR_API double dot(const Vec& a, double factor);

template <typename T>
T largest(T a, T b) {
  return PEAR_MAX(a, b);
}

}  // namespace pear
""",
    "native/include/pear/matrix.h": """#pragma once
#include "vec.h"

namespace pear {

class PEAR_API Shape2 {
 public:
  virtual ~Shape2() = default;
  virtual double area() const = 0;
};

class PEAR_API Matrix : public Shape2 {
 public:
  Matrix();
  double area() const override;
  Vec apply(const Vec& v) const;

 private:
  Vec rows_[2];
};

}  // namespace pear
""",
    "native/src/vec.cpp": """#include <cmath>
#include "pear/vec.h"

namespace pear {

double Vec::length() const {
  return std::sqrt(dot(*this, *this));
}

Vec Vec::operator+(const Vec& other) const {
  return Vec{x + other.x, y + other.y};
}

double dot(const Vec& a, const Vec& b) {
  return a.x * b.x + a.y * b.y;
}

double dot(const Vec& a, double factor) {
  return largest(a.x, factor);
}

}  // namespace pear
""",
    "native/src/matrix.cpp": """#include "pear/matrix.h"

namespace pear {

static int helper(int n) {
  return PEAR_MAX(n, 1);
}

Matrix::Matrix() {
  rows_[0].x = helper(1);
}

double Matrix::area() const {
  return rows_[0].length() * rows_[1].length();
}

Vec Matrix::apply(const Vec& v) const {
  return Vec{dot(rows_[0], v), dot(rows_[1], v)};
}

}  // namespace pear
""",
    "native/test/vec_test.cpp": """#include <gtest/gtest.h>
#include "pear/matrix.h"

TEST(VecTest, Dot) {
  pear::Vec a, b;
  EXPECT_EQ(pear::dot(a, b), 0);
  pear::Matrix m;
  m.apply(a);
}
""",
    "native/CMakeLists.txt": """include_directories(include)
add_library(pear src/vec.cpp src/matrix.cpp)
add_executable(vec_test test/vec_test.cpp)
target_link_libraries(vec_test pear gtest_main)
add_test(NAME vec_test COMMAND vec_test)
""",
}
_WEB = {
    "web/model.ts": """/** What is shown. */
export interface Item {
  name: string;
  weight: number;
}

export class Basket {
  items: Item[] = [];

  /** Adds an item. */
  add(item: Item): void {
    this.items.push(item);
  }
}

export function total(basket: Basket): number {
  return basket.items.reduce((sum, item) => sum + item.weight, 0);
}
""",
    "web/index.ts": """import { Basket, total } from "./model";
export * from "./model";
import view from "./view.js";

export function show(basket: Basket): string {
  return view(total(basket));
}
""",
    "web/view.js": """export default function view(weight) {
  const half = halve(weight);
  return `<b>${half}</b>`;
}

export const halve = (n) => n / 2;
""",
    "web/view.test.js": """import view, { halve } from "./view.js";

test("halves", () => {
  expect(halve(4)).toBe(2);
  expect(view(2)).toContain("1");
});
""",
    "package.json": '{\n  "name": "pear",\n  "main": "web/index.ts",\n  "scripts": {"test": "jest"}\n}\n',
    "tsconfig.json": '{\n  "compilerOptions": {"baseUrl": ".", "paths": {"@web/*": ["web/*"]}}\n}\n',
}
_PROSE = {
    "README.md": """# Pear

A library of trees: `Tree`, `grow` and `pear.core.Fruit`; in C++ `pear::Vec` (see [vec.h](native/include/pear/vec.h)).

## Use

```python
from pear import Tree, grow
grow(Tree())
```

Run `make test`; the guide is [here](docs/guide.md#shapes).
""",
    "docs/guide.md": """# Guide

## Shapes

`Shape.area()` of `Round` and `Bottle`; `dig` makes a `Well`. Baskets: `Basket.add` and `total()`.

## Native

`Matrix::apply` uses `dot`, by `PEAR_MAX`. See `src/pear/core.py`.
""",
    "docs/api.rst": """Reference
=========

.. autoclass:: pear.core.Tree
   :members:

.. autofunction:: pear.units.kilo

Use :func:`pear.grow` and :class:`~pear.shapes.Round`.
""",
}
_SETTINGS = {
    "pyproject.toml": """[project]
name = "pear"
version = "1.2"
dependencies = ["requests"]

[project.scripts]
pear = "pear.core:grow"

[tool.setuptools.packages.find]
where = ["src"]
""",
    "pytest.ini": "[pytest]\ntestpaths = tests\n",
    "CODEOWNERS": "* @ada\n/native/ @bob\n*.ts @eve\n",
    "LICENSE": """MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files, to deal in the Software without restriction.
""",
    ".gitignore": "build/\n*.log\n",
    "Makefile": "include common.mk\n\ntest: lint\n\tpytest tests\n\nlint:\n\tsh tools/run.sh src\n",
    "common.mk": "VERSION = 1.2\n",
    ".github/workflows/ci.yml": "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make test\n",
    "tools/run.sh": '#!/bin/sh\nset -e\ncheck() {\n  python -m pear.core "$1"\n}\ncheck "$1"\n',
}
# What languages say to one another: a table of operators, kernels, a compiled module, scripts that run others.
_CROSSING = {
    "ops/functions.yaml": """- func: ripen.Tensor(Tensor self) -> Tensor
  variants: function, method
  dispatch:
    CPU: ripen_cpu
    CUDA: ripen_cuda

- func: ripen.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: ripen_out

- func: press(Tensor self) -> Tensor
""",
    "ops/derivatives.yaml": """- name: ripen.Tensor(Tensor self) -> Tensor
  self: ripen_backward(grad)
""",
    "ops/ripen.cpp": """#include "ripen.h"

namespace at { namespace native {
Tensor ripen_cpu(const Tensor& self) { return self; }
TORCH_IMPL_FUNC(ripen_out)(const Tensor& self, const Tensor& out) {}
Tensor press(const Tensor& self) { return at::ripen(self); }
Tensor ripen_backward(const Tensor& grad) { return press(grad); }
}}
""",
    "ops/ripen.h": """#pragma once
namespace at { struct Tensor {}; }
""",
    "ops/ripen.cu": """#include "ripen.h"
__global__ void ripen_kernel(float* x) {}

namespace at { namespace native {
Tensor ripen_cuda(const Tensor& self) {
  ripen_kernel<<<1, 32>>>(nullptr);
  return self;
}
}}
""",
    "ops/module.cpp": """#include <pybind11/pybind11.h>
#include "ripen.h"

int count(int x) { return x + 1; }
struct Basket { int size() { return 1; } };

PYBIND11_MODULE(_C, m) {
  m.def("count", &count);
  pybind11::class_<Basket>(m, "Basket").def("size", &Basket::size);
}
""",
    "src/pear/compiled.py": """import os

from pear import _C


def count(x):
    if os.environ.get("PEAR_SLOW"):
        raise RuntimeError("a basket holds at most {} pears".format(x))
    return _C.count(x)


class Basket(_C.Basket):
    def full(self):
        return _C.Basket().size() > count(1)
""",
    "tests/test_compiled.py": """from pear.compiled import count


def test_count():
    assert count(1) == 2
""",
    "tools/run.sh": """#!/bin/sh
python src/pear/compiled.py
PEAR_SLOW=1 python -m pear.compiled
""",
    "docs/compiled.md": """# Compiled parts

`PEAR_SLOW` makes `pear.compiled.count` slow; see [the table](../ops/functions.yaml).
""",
}

FILES: dict[str, str] = {**_PYTHON, **_NATIVE, **_WEB, **_PROSE, **_SETTINGS, **_CROSSING}
OTHERS: dict[str, str] = {
    "Cargo.toml": '[package]\nname = "quince"\nversion = "0.1.0"\n',
    "src/lib.rs": """//! Quinces.
pub mod fruit;
mod inner;

use crate::fruit::Fruit;
pub use inner::deep::dig;

/// Ripens a [`Fruit`].
pub fn ripen(fruit: &mut Fruit) -> u32 {
    fruit.weigh() + dig(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ripens() {
        assert_eq!(ripen(&mut Fruit::new()), 1);
    }
}
""",
    "src/fruit.rs": """pub trait Heavy {
    fn weigh(&self) -> u32;
}

pub struct Fruit {
    grams: u32,
}

impl Fruit {
    pub fn new() -> Self {
        Fruit { grams: 1 }
    }
}

impl Heavy for Fruit {
    fn weigh(&self) -> u32 {
        self.grams
    }
}
""",
    "src/inner/mod.rs": "pub mod deep;\n",
    "src/inner/deep.rs": "use crate::fruit::{Fruit, Heavy};\n\npub fn dig(n: u32) -> u32 {\n    Fruit::new().weigh() + n\n}\n",
    "go.mod": "module example.org/quince\n\ngo 1.21\n",
    "cmd/main.go": """package main

import "example.org/quince/basket"

// main fills a basket.
func main() {
	b := basket.New()
	b.Add("pear")
}
""",
    "basket/basket.go": """// Package basket holds fruits.
package basket

// Basket has items.
type Basket struct {
	items []string
}

// New makes one.
func New() *Basket {
	return &Basket{}
}

// Add puts an item in.
func (b *Basket) Add(item string) {
	b.items = append(b.items, clean(item))
}
""",
    "basket/clean.go": "package basket\n\nfunc clean(item string) string {\n\treturn item\n}\n",
    "basket/basket_test.go": """package basket

import "testing"

func TestAdd(t *testing.T) {
	New().Add("x")
}
""",
    "java/org/quince/Shelf.java": """package org.quince;

/** Holds {@link Jar}s. */
public class Shelf {
  private final Jar jar = new Jar();

  public int count() {
    return jar.size();
  }
}
""",
    "java/org/quince/Jar.java": "package org.quince;\n\npublic class Jar {\n  public int size() {\n    return 1;\n  }\n}\n",
    "proto/fruit.proto": 'syntax = "proto3";\npackage quince;\nimport "proto/unit.proto";\n\nmessage Crate {\n  Unit unit = 1;\n}\n',
    "proto/unit.proto": 'syntax = "proto3";\npackage quince;\n\nmessage Unit {\n  string name = 1;\n}\n',
    "BUILD.bazel": 'load("//tools:defs.bzl", "fruit_library")\n\nfruit_library(name = "quince", srcs = ["basket/basket.go"])\n',
    "tools/defs.bzl": 'def fruit_library(name, srcs):\n    """A library."""\n    native.filegroup(name = name, srcs = srcs)\n',
    "Dockerfile": "FROM golang:1.21 AS build\nCOPY cmd /src\nRUN go build ./cmd\n",
    "README.md": "# Quince\n\n`ripen` of `Fruit`; `Basket.Add`, `Shelf.count` and `Crate`. See [the crate](src/lib.rs).\n",
    ".gitignore": "target/\n",
    "CODEOWNERS": "* @ada\n/src/ @bob\n",
    "LICENSE": "Licensed under the Apache License, Version 2.0.\n",
}
_RING = 8
_PARTS = "abcdefgh"
TANGLED: dict[str, str] = {
    "pyproject.toml": '[project]\nname = "knot"\ndescription = "Everything leads to everything"\n',
    "README.md": "# Knot\n\n`knot.make` makes a `Strand7`; see [the ring](knot/ring_0.py) and `weave` in [c.h](net/c.h).\n",
    "knot/__init__.py": "from .ring_0 import *\nfrom .outer import make, Strand7 as Longest\nfrom . import inner\n",
    "knot/inner/__init__.py": "from ..outer import *\nfrom .. import ring_3\n",
    "knot/outer.py": "from .inner import ring_3\nfrom .ring_7 import Strand7, turn_7\n\n\ndef make():\n"
    "    \"\"\"Make the longest strand.\"\"\"\n    return Strand7().twist() or turn_7()\n",
    # A ring of star imports; each module extends the class of the one before, and calls the function of the one after.
    **{
        f"knot/ring_{n}.py": f"from .ring_{(n + 1) % _RING} import *\n"
        + (f"from .ring_{n - 1} import Strand{n - 1}\n" if n else "")
        + f"\n\nclass Strand{n}({f'Strand{n - 1}' if n else 'object'}):\n    \"\"\"Strand number {n}.\"\"\"\n\n"
        + (f"    def twist(self):\n        return super().twist() or turn_{(n + 1) % _RING}()\n" if n else "    def twist(self):\n        return self.tie()\n\n    def tie(self):\n        return None\n")
        + f"\n\ndef turn_{n}():\n    return Strand{n}().tie() or turn_{(n + 1) % _RING}()\n"
        for n in range(_RING)
    },
    "tests/test_knot.py": "from knot import Longest, make\nfrom knot.inner import ring_3\n\n\ndef test_make():\n"
    "    assert make() is Longest().tie()\n\n\ndef test_ring():\n    ring_3.turn_3()\n",
    # Headers that include one another, with namespaces that are aliases of one another.
    **{
        f"net/{one}.h": f'#ifndef NET_{one.upper()}_H\n#define NET_{one.upper()}_H\n#include "{other}.h"\n\nnamespace net_{one} {{\n'
        f"namespace next = net_{other};\nstruct Node_{one} {{ int weave(); struct Node_{other}* other; }};\nint pull_{one}(Node_{one}* node);\n}}\n#endif\n"
        for one, other in zip(_PARTS, _PARTS[1:] + _PARTS[0], strict=True)
    },
    **{
        f"net/{one}.cpp": f'#include "{one}.h"\nusing namespace net_{other};\n\nnamespace net_{one} {{\nint Node_{one}::weave() {{ return pull_{one}(this); }}\n'
        f"int pull_{one}(Node_{one}* node) {{ return node->weave() + pull_{other}(nullptr); }}\n}}\n"
        for one, other in zip(_PARTS, _PARTS[1:] + _PARTS[0], strict=True)
    },
    "web/index.ts": "export * from './left';\nexport * from './right';\n",
    "web/left.ts": "export * from './right';\nimport { right } from './index';\n\nexport function left(n: number): number {\n  return n > 0 ? right(n - 1) : 0;\n}\n",
    "web/right.ts": "export * from './left';\nexport * from './index';\nimport { left } from './index';\n\nexport const right = (n: number): number => left(n - 1);\n",
}
LINKS = {"docs/README.md": "../README.md", "tools/latest": "run.sh"}
