"""Our Python reader agrees with CPython's `ast` and `symtable` on the whole standard library."""

from __future__ import annotations

import os

import pytest

from tests.support import python

LIBRARY = python.python_files(os.path.dirname(os.__file__))[::8]  # all of it takes longer than it tells more: the bench reads it
PARTS = 2


@pytest.mark.parametrize("part", range(PARTS))
def test_standard_library(part: int) -> None:
    found = python.total(map(python.compare_file, LIBRARY[part::PARTS]))
    assert found.definitions > 1000
    assert not found.examples


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\nclass A:\n    x = x\n    def f(self): return x\n    y = [x for _ in range(3)]\n",
        "def f(a, b=(lambda q: q)(1), *c, d: int = 2, **e):\n    return [a for a in b if (last := a)], last\n",
        "class C:\n    __p = 1\n    def m(self): return __p, self.__p\n    class __I: pass\n",
        "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n        def h():\n            global x\n            x = 3\n    return g\n",
        "match p:\n    case A.B | {'k': [u, *v], **w} as z if z: pass\n    case C(q, r=s): pass\n    case _: pass\n",
        "try:\n    import a.b.c\nexcept (E, F) as e:\n    from . import d as f\nelse:\n    del e\n",
        "(x): int\ny: int\nz.w: int = 1\ntype(z).v = 2\n",
        "with a as (b, [c, *d]), e as f.g, h as i[j]: pass\nfor k, l.m in n: pass\n",
        "async def f():\n    async with a as b: return [c async for c in d]\n    await b\n",
        "def f():\n        (bar.\n    baz)\n        return 1\ndef g(): pass\n",
        "ｗｉｄｔｈ = 1\nprint(width)\n",
        "class A:\n    def f(self):\n        pass\n    # a comment behind\n\n# and one outside\nx = 1\n",
        "from a.\\\n  b import (c,\n  d as e)\nimport f, g.h as i\n",
        "@a.b(c)\n@d\nclass E(F, metaclass=G): x: int; y, z = 1, 2\n",
        "lambda a, *b, c=d, **e: (a, b, c, e, f)\n",
        "{k: v for k, v in z.items() for w in k}\n",
    ],
)
def test_small(text: str) -> None:
    found = python.compare(text, "small")
    assert found.files == 1
    assert not found.examples
