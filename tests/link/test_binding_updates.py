"""After an edit, the bindings and the names that ask for them equal those of a clean build.

The repositories are those of literate cases; each edit is one that a bridge could miss: a function that moves, a name
that is bound again, a module that is passed elsewhere, an import that leads further, a stub, a library.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from test_bridges import CASES

from tests.support.bridges import joined
from tests.support.cases import examples

EDITS = {
    "pybind/library": [
        ("src/ledger.cpp", "double total(const Account& a, const Account& b)", "double sum(const Account& a, const Account& b)"),
        ("src/ledger.cpp", "double sum(", "\n\ndouble total("),
        ("python/module.cpp", 'sums.def("total"', 'sums.def("totals"'),
        ("python/module.cpp", "  init_accounts(m);\n  py::module_ sums", "  py::module_ sums"),
        ("python/module.cpp", "  sums.def", "  init_accounts(sums);\n  sums.def"),
        ("src/ledger/__init__.py", "from ._ledger import Account", "from ._ledger.sums import Account"),
        ("include/ledger.hpp", "double rate() const", "double interest() const"),
        ("CMakeLists.txt", "quickledger python/quick.cpp", "other python/quick.cpp"),
    ],
    "cpython/spread": [
        ("tool/__init__.py", "native.ready", "native.steady"),
        ("core/parts.cpp", "return table;", "return nullptr;"),
        ("core/parts.h", '"Part"', '"Piece"'),
        ("core/module.cpp", '"tool._C"', '"tool._D"'),
    ],
    "ctypes/plain": [
        ("src/engine.h", 'extern "C" int engine_stop', "int engine_stop"),
        ("drive/core.py", "_LIB = _open()", "_OTHER = _open()"),
    ],
    "cython/plain": [
        ("tide/_waves.pyx", "def total(", "def whole("),
        ("src/waves.c", "double wave_mean", "double wave_median"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_edits(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    case = next(case for case in CASES if f"{case.parent.name}/{case.stem}" == name)
    root, clean = tmp_path / "repository", tmp_path / "clean"
    for one in examples(case):
        (root / one.name).parent.mkdir(parents=True, exist_ok=True)
        (root / one.name).write_text(one.text)
    rows = joined(root)
    for path, old, new in EDITS[name]:
        text = (root / path).read_text()
        assert old in text, (path, old)
        (root / path).write_text(text.replace(old, new))
        after = joined(root)
        shutil.rmtree(clean, ignore_errors=True)
        shutil.copytree(root, clean, ignore=shutil.ignore_patterns(".concordance"))
        assert after == joined(clean), f"{path}: {new}"
        assert after != rows, f"{path}: nothing changed"
        rows = after
