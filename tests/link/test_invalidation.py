"""Updated links equal those of a clean build, and no more files are linked again than necessary."""

from __future__ import annotations

from pathlib import Path

import pytest

from concordance.link import invalidation
from tests.support.madeup import Repository
from tests.support.relinked import Book, ids

PYTHON = {
    "pkg/__init__.py": "from .base import *\nfrom .tools import make as build\n",
    "pkg/base.py": "__all__ = ['Base', 'Leaf']\n\n\nclass Base:\n    def grow(self):\n        return Leaf()\n\n\n"
    "class Leaf(Base):\n    def fall(self):\n        pass\n",
    "pkg/tools.py": "from .base import Leaf\n\n\ndef make():\n    leaf = Leaf()\n    return leaf\n\n\ndef other():\n    return 1\n",
    "user.py": "import pkg\nfrom pkg import build, Leaf\n\n\ndef run():\n    one = build()\n    one.grow().fall()\n"
    "    return pkg.base.Base()\n",
    "far.py": "from user import run\n\nrun().grow()\n",
    "alone.py": "def unseen():\n    return 1\n",
    "wood.py": "from pkg.base import Leaf\n\n\nclass Needle(Leaf):\n    def grow(self):\n        return 2\n",
}
C = {
    "include/a.h": "#pragma once\nnamespace n {\nclass A { public: virtual void go(); A* next(); };\n}\n",
    "include/b.h": '#include "a.h"\nnamespace n {\nclass B : public A { public: void go(); int size; };\nB* make();\n}\n',
    "src/b.cpp": '#include "b.h"\nnamespace n {\nvoid B::go() {}\nB* make() { return nullptr; }\n}\n',
    "src/user.cpp": '#include "b.h"\nusing namespace n;\nvoid use() { auto b = make(); b->go(); b->next()->go(); }\n',
    "src/alone.cpp": "static int alone() { return 1; }\nint other() { return alone(); }\n",
}


def _changed(files: dict[str, str], path: str, old: str, new: str) -> dict[str, str]:
    assert old in files[path]
    return {**files, path: files[path].replace(old, new)}


def _moved(files: dict[str, str], old: str, new: str) -> dict[str, str]:
    return {new + path.removeprefix(old) if path.startswith(old) else path: text for path, text in files.items()}


EDITS = {
    "a base class is removed": _changed(PYTHON, "pkg/base.py", "Leaf(Base)", "Leaf"),
    "a method is added to a base": _changed(
        PYTHON, "pkg/base.py", "class Base:", "class Base:\n    def fall(self): pass"
    ),
    "a constructor is added to a base": _changed(
        PYTHON, "pkg/base.py", "class Base:", "class Base:\n    def __init__(self): pass"
    ),
    "a method of a base is gone": _changed(PYTHON, "pkg/base.py", "def grow(self):", "def shrink(self):"),
    "what is returned changes": _changed(PYTHON, "pkg/tools.py", "return leaf", "return other()"),
    "what a local variable holds changes": _changed(PYTHON, "pkg/tools.py", "leaf = Leaf()", "leaf = other()"),
    "__all__ loses a name": _changed(PYTHON, "pkg/base.py", "['Base', 'Leaf']", "['Base']"),
    "__all__ is gone": _changed(PYTHON, "pkg/base.py", "__all__ = ['Base', 'Leaf']", ""),
    "a re-export has another name": _changed(PYTHON, "pkg/__init__.py", "as build", "as builds"),
    "a star is gone": _changed(PYTHON, "pkg/__init__.py", "from .base import *\n", ""),
    "a name moves between files": {
        **_changed(PYTHON, "pkg/tools.py", "def other():\n    return 1\n", ""),
        "pkg/base.py": PYTHON["pkg/base.py"] + "\n\ndef other():\n    return 1\n",
    },
    "a second definition of a member": {**PYTHON, "alone.py": "class Tree:\n    def fall(self): pass\n"},
    "a file is gone": {path: text for path, text in PYTHON.items() if path != "pkg/tools.py"},
    "a file hides another": {**PYTHON, "pkg/base/__init__.py": "class Base: pass\n"},
    "a folder is renamed": _moved(PYTHON, "pkg/", "lib/"),
    "a folder is renamed and named so": {
        path: text.replace("pkg", "lib") for path, text in _moved(PYTHON, "pkg/", "lib/").items()
    },
    "a setting names a root": {**PYTHON, "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["pkg"]\n'},
}
FIXTURES = {
    "lib.py": "def plain(): ...\ndef fancy(): ...\n",
    "test_base.py": "import pytest, lib\n\n\nclass TestBase:\n    @pytest.fixture\n    def maker(self):\n        return lib.plain()\n\n"
    "    @pytest.fixture\n    def thing(self, maker):\n        return maker\n\n    def test_thing(self, thing):\n        assert thing\n",
    "test_fancy.py": "import pytest, lib\nfrom test_base import TestBase\n\n\nclass TestFancy(TestBase):\n    @pytest.fixture\n"
    "    def maker(self):\n        return lib.fancy()\n",
}
FIXTURE_EDITS = {
    "a fixture requests another": _changed(FIXTURES, "test_base.py", "thing(self, maker)", "thing(self, other)"),
    "a test requests another": _changed(FIXTURES, "test_base.py", "test_thing(self, thing)", "test_thing(self)"),
    "a fixture has another name": _changed(FIXTURES, "test_fancy.py", "def maker", "def other"),
}
C_EDITS = {
    "a base class is removed": _changed(C, "include/b.h", " : public A", ""),
    "a header is split": {
        **_changed(C, "include/b.h", "B* make();\n", ""),
        "include/m.h": '#include "b.h"\nnamespace n {\nB* make();\n}\n',
    },
    "an include is gone": _changed(C, "include/b.h", '#include "a.h"\n', ""),
    "a return type changes": _changed(C, "include/b.h", "B* make()", "A* make()"),
    "an overload is added": _changed(C, "include/b.h", "B* make();", "B* make(); B* make(int a);"),
    "a namespace has another name": {path: text.replace("namespace n {", "namespace m {") for path, text in C.items()},
    "a method is added in between": _changed(C, "include/a.h", "virtual void go()", "void stop(); virtual void go()"),
    "a header moves": _moved(C, "include/a.h", "other/a.h"),
    "using namespace in a header": _changed(C, "include/b.h", "namespace n {", "using namespace n;\nnamespace n {"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_and_its_undoing_in_python(tmp_path: Path, name: str) -> None:
    _there_and_back(tmp_path, PYTHON, EDITS[name])


@pytest.mark.parametrize("name", FIXTURE_EDITS)
def test_an_edit_and_its_undoing_of_fixtures(tmp_path: Path, name: str) -> None:
    _there_and_back(tmp_path, FIXTURES, FIXTURE_EDITS[name])


@pytest.mark.parametrize("name", C_EDITS)
def test_an_edit_and_its_undoing_in_c(tmp_path: Path, name: str) -> None:
    _there_and_back(tmp_path, C, C_EDITS[name])


def _there_and_back(home: Path, files: dict[str, str], edited: dict[str, str]) -> None:
    book = Book(home, files)
    for version in (edited, files):
        book.edit(version)
        assert not book.differences()


@pytest.mark.parametrize("seed", range(24))
def test_edits_at_random(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        invalidation, "ALWAYS_FOLLOWED_FILES", 1000 if seed % 8 else 0
    )  # so that names are followed, however many ask for them
    kinds = [("python",), ("c",), ("ecma",), ("bound", "table", "asking"), ("go", "rust", "java"), ("python", "shell")]
    made = Repository(7000 + seed, kinds[seed % len(kinds)])
    book = Book(tmp_path, made.text(), keeps=seed % 4 > 0)
    for step in range(6):
        made.edit()
        book.edit(made.text())
        assert not book.differences(), f"seed {seed}, step {step}: {made.done}"


@pytest.mark.parametrize(
    ("files", "path", "old", "new"),
    [
        (PYTHON, "user.py", "    one = build()\n", "    one = build()\n    two = one\n    two.fall()\n"),
        (PYTHON, "pkg/base.py", "class Base:", "# a comment\nclass Base:"),
        (PYTHON, "pkg/base.py", "class Base:", "def fresh():\n    pass\n\n\nclass Base:"),
        (C, "include/a.h", "#pragma once\n", "#pragma once\n\n// a comment\n"),
        (C, "src/user.cpp", "b->go();", "b->go(); b->size;"),
        (C, "include/a.h", "class A", "void fresh();\nclass A"),
    ],
)  # fmt: skip
def test_what_nobody_else_asks_for_is_linked_alone(
    tmp_path: Path, files: dict[str, str], path: str, old: str, new: str
) -> None:
    book = Book(tmp_path, files)
    book.edit(_changed(files, path, old, new))
    assert book.linked <= {path}
    assert not book.differences()


def test_who_asks_for_a_name_is_linked_again(tmp_path: Path) -> None:
    book = Book(tmp_path, PYTHON)
    book.edit(_changed(PYTHON, "pkg/tools.py", "def make", "def made"))
    assert {"pkg/__init__.py", "user.py"} <= book.linked
    assert "alone.py" not in book.linked


def test_ids_stay_as_long_as_the_symbols_do(tmp_path: Path) -> None:
    """Neither a new symbol before others nor a removed file changes any other id."""
    book = Book(tmp_path, PYTHON)
    before = ids(tmp_path / "kept")
    book.edit(_changed(PYTHON, "pkg/tools.py", "def other", "def third(): pass\n\n\ndef other"))
    after = ids(tmp_path / "kept")
    assert after.pop("pkg/tools.py#third") > max(before.values())
    assert after == before
    book.edit({path: text for path, text in PYTHON.items() if path != "alone.py"})
    assert ids(tmp_path / "kept").items() < before.items()
    assert not book.differences()


JOINED = {
    "use.py": 'import ctypes\n\nlib = ctypes.CDLL("x.so")\n\n\ndef test_first():\n    return lib.my_sum(1)\n\n\ndef later():\n    pass\n',
    "sum.c": "int my_sum(int x) { return x; }\n",
    "two.cpp": "namespace a {\nint my_sum(int x) { return x; }\n}\nnamespace b {\nint my_sum(int x) { return x; }\n}\n",
    "odd/place/modx.py": "def func_one():\n    return 1\n",
    "README.md": "# Joined\n\nSee `modx.func_one` and `odd.place.modx.func_one`.\n\n## Started\n\nRun `sum.c`.\n",
    "pyproject.toml": '[project]\nname = "joined"\n',
}
BRIDGED_EDITS = {
    "the function around an end has another name": _changed(JOINED, "use.py", "test_first", "test_second"),
    "the functions around an end change places": _changed(
        _changed(JOINED, "use.py", "later", "test_zero"), "use.py", "test_first", "later"
    ),
    "the heading around an end has another name": _changed(JOINED, "README.md", "Started", "Begun"),
    "a setting gives modules other names": _changed(
        JOINED, "pyproject.toml", '"joined"\n', '"joined"\n\n[tool.setuptools.packages.find]\nwhere = ["odd/place"]\n'
    ),
    "symbols of one name change places": {
        **JOINED,
        "two.cpp": "namespace b {\nint my_sum(int x) { return x; }\n}\nnamespace a {\nint my_sum(int x) { return x; }\n}\n",
    },
}


@pytest.mark.parametrize("name", BRIDGED_EDITS)
def test_an_edit_and_its_undoing_across_languages(tmp_path: Path, name: str) -> None:
    _there_and_back(tmp_path, JOINED, BRIDGED_EDITS[name])
