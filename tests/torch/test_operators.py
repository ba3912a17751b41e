"""Pages of operators, their index, `concord op` and `concord path`, on a repository with a table of operators."""

from __future__ import annotations

from pathlib import Path

import pytest

import concordance
from concordance.base.blocks import Ref, Table
from concordance.base.errors import UserError
from concordance.facts.links.bridge_rows import pack_bridges
from concordance.query.commands import ask as ask_index
from concordance.query.index.file_model import FileModel
from concordance.query.index.graphs.bridges import Bridges, bridges_of
from concordance.query.index.repository import Index
from concordance.query.pages.keywords import pieces_of
from concordance.query.sections.file_page.dependencies import bridge_blocks
from concordance_torch.query.operators import coverage_of, names, operator
from concordance_torch.query.pages import operator as pages
from tests.support.indexed import make_index

FILES = {
    "ops.yaml": """\
- func: twice.Tensor(Tensor self) -> Tensor
  variants: function, method
  dispatch:
    CPU: twice_cpu
    CUDA: twice_cuda

- func: twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: twice_out

- func: four(Tensor self) -> Tensor
""",
    "native/twice.cpp": """\
namespace at { namespace native {
static Tensor work(const Tensor& x) { return x; }
Tensor twice_cpu(const Tensor& self) { return work(self); }
Tensor& twice_out(const Tensor& self, Tensor& out) { return out; }
Tensor four(const Tensor& self) { return at::twice(at::twice(self)); }
TORCH_IMPL_FUNC(five_out)(const Tensor& self, const Tensor& out) { work(self); }
}}
""",
    "native/twice.cu": """\
namespace at { namespace native {
Tensor twice_cuda(const Tensor& self) { return self; }
}}
""",
    "plain.py": "def alone():\n    return 1\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    home = tmp_path_factory.mktemp("operators")
    return make_index(home, FILES)


def ask(index: Index, command: str, asked: str, **options: object) -> list[dict[str, object]]:
    with concordance.open(Path(index.root)) as repository:
        return repository.ask(command, asked, **options).rows


def test_an_operator_answers_where_a_source_names_it_as_it_does_by_name(tmp_path: Path) -> None:
    used = "import torch\nimport torch.nn as nn\n\ntorch.twice(1)\ntorch.missing()\n"
    index = make_index(tmp_path, FILES | {"use.py": used})
    by_name = ask(index, "define", "torch.twice")
    assert [(row["path"], row["line"]) for row in by_name] == [("ops.yaml", 1), ("ops.yaml", 7)]
    assert ask(index, "define", "use.py:4:7") == by_name
    assert ask(index, "define", "use.py:5:7") == []


def test_a_search_finds_the_operator_before_the_rows_of_its_table(index: Index) -> None:
    rows = ask(index, "search", "torch.twice")
    assert (rows[0]["symbol"], rows[0]["kind"], rows[0]["path"]) == ("aten::twice", "operator", "ops.yaml")
    assert not [row for row in rows if row["kind"] == "key"]


def test_every_operator_has_a_page_and_every_overload_a_row(index: Index) -> None:
    assert names(index) == ["aten::four", "aten::twice"]
    assert pages.subjects(index) == ["", "aten::four", "aten::twice"]
    one = operator(index, "aten::twice")
    assert one is not None
    assert [overload.name for overload in one.overloads] == ["aten::twice.Tensor", "aten::twice.out"]
    assert list(one.keys()) == ["CPU", "CUDA"]
    (page,) = pages.pages(index, "aten::twice")
    schemas = next(block for block in page.blocks if isinstance(block, Table))
    assert [str(row[0][0]) for row in schemas.rows] == [
        "twice.Tensor(Tensor self) -> Tensor", "twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    ]  # fmt: skip


def test_what_is_missing_is_said(index: Index) -> None:
    one = operator(index, "aten::twice")
    assert one is not None
    found = coverage_of(one)
    assert (found["CPU"], found["CUDA"], found["MPS"], found["Autograd"]) == ("kernel", "kernel", "", "")
    four = operator(index, "aten::four")
    assert four is not None
    assert coverage_of(four)["CPU"] == "composite"
    assert coverage_of(four)["Autograd"] == "implicit"


def test_the_index_is_a_table_that_sorts(index: Index) -> None:
    (page,) = pages.pages(index, "")
    table = next(block for block in page.blocks if isinstance(block, Table))
    assert table.sorts
    assert [row[0][0] for row in table.rows] == [
        Ref("operator", "aten::four", "", "four"), Ref("operator", "aten::twice", "", "twice"),
    ]  # fmt: skip


def test_a_repository_without_operators_has_no_such_pages(tmp_path: Path) -> None:
    assert pages.subjects(make_index(tmp_path, {"a.py": "x = 1\n"})) == []
    with concordance.open(tmp_path) as repository, pytest.raises(UserError, match="no operators"):
        repository.ask("op", "add")


@pytest.mark.parametrize("asked", ["twice", "aten::twice", "torch.twice", "torch.Tensor.twice", "torch.ops.aten.twice"])
def test_op_by_any_of_its_names(index: Index, asked: str) -> None:
    rows = ask(index, "op", asked)
    assert {row["name"] for row in rows if row["says"] == "schema"} == {"aten::twice.Tensor", "aten::twice.out"}
    kernels = {(row["key"], row["target"], row["target_path"]) for row in rows if row["says"] == "kernel"}
    assert ("CUDA", "at::native::twice_cuda", "native/twice.cu") in kernels


def test_op_of_one_overload(index: Index) -> None:
    assert [row["name"] for row in ask(index, "op", "twice.out") if row["says"] == "schema"] == ["aten::twice.out"]


@pytest.mark.parametrize("asked", ["aten::twice.out", "torch.ops.aten.twice.out"])
def test_an_operator_is_a_name(index: Index, asked: str) -> None:
    (row,) = ask(index, "define", asked)
    assert (row["path"], row["line"]) == ("ops.yaml", 7)


def test_op_that_is_none(index: Index) -> None:
    with pytest.raises(UserError, match="no operator is called"):
        ask(index, "op", "thrice")


def test_a_path_crosses_languages(index: Index) -> None:
    rows = ask(index, "path", "at::native::four work")
    steps = [(row["path"], row["line"], row["name"], row["to"]) for row in rows]
    assert steps == [
        ("native/twice.cpp", 5, "at::native::four", "twice.Tensor"),
        ("ops.yaml", 4, "twice.Tensor", "at::native::twice_cpu"),
        ("native/twice.cpp", 3, "at::native::twice_cpu", "at::native::work"),
    ]


def test_a_path_to_a_full_name_ends_at_the_kernel(index: Index) -> None:
    """The full name of a kernel is also that of its operator in the table, which comes first."""
    rows = ask(index, "path", "at::native::four at::native::twice_cpu")
    assert [row["to"] for row in rows] == ["twice.Tensor", "at::native::twice_cpu"]


def test_callers_and_callees_cross_languages(index: Index) -> None:
    found = {(row["qualified"], row["by"]) for row in ask(index, "callers", "at::native::twice_cpu")}
    assert found == {("twice.Tensor", "aten::twice.Tensor: only definition in namespace at::native")}
    found = {(row["qualified"], row["trust"]) for row in ask(index, "callees", "at::native::four")}
    assert ("twice.Tensor", "unique_name") in found


def test_what_a_macro_defines_is_found_by_its_name(index: Index) -> None:
    (row,) = ask(index, "define", "at::native::five_out")
    assert (row["path"], row["line"]) == ("native/twice.cpp", 6)


def test_no_path_says_what_was_searched(index: Index) -> None:
    with concordance.open(Path(index.root)) as repository:
        answer = repository.ask("path", "alone work")
        assert not answer.rows
        assert "no chain found from alone to work" in answer.note
        with pytest.raises(UserError, match="needs two names"):
            repository.ask("path", "alone")


def test_a_file_says_what_crosses(index: Index) -> None:
    refs = [p for p in pieces_of(bridge_blocks(FileModel(index, "native/twice.cpp"))) if isinstance(p, Ref)]
    assert Ref("operator", "aten::twice", "", "aten::twice") in refs
    assert bridge_blocks(FileModel(index, "plain.py")) == []


LINALG = {
    "ops.yaml": """\
- func: svd(Tensor self) -> Tensor
  variants: function, method
  dispatch:
    CPU: svd_cpu

- func: linalg_svd(Tensor A) -> Tensor
  python_module: linalg
  variants: function
""",
    "native/svd.cpp": "namespace at { namespace native {\nTensor svd(const Tensor& self) { return self; }\n}}\n",
    "torch/linalg/__init__.py": '"""Linear algebra."""\n\n\ndef svd(A):\n    """Decompose."""\n    return A\n',
    "torch/__init__.py": "from torch import linalg\n",
    "torch/_decomp/decompositions.py": """\
from torch._decomp import register_decomposition

aten = torch.ops.aten


@register_decomposition(aten.svd)
def svd(self):
    return self
""",
    "tools/box.py": "class Box:\n    def svd(self):\n        return 1\n",
}


def test_python_does_not_repeat_the_name_of_a_module(tmp_path: Path) -> None:
    index = make_index(tmp_path, LINALG)
    (page,) = pages.pages(index, "aten::linalg_svd")
    said = [str(piece) for piece in pieces_of(page.blocks)]
    assert "torch.linalg.svd" in said
    assert "torch.linalg.linalg_svd" not in said


def test_definitions_are_in_the_order_of_their_roles(tmp_path: Path) -> None:
    index = make_index(tmp_path, LINALG)
    found = [(row["path"], row["trust"]) for row in ask(index, "define", "torch.linalg.svd")]
    assert found[:2] == [("torch/linalg/__init__.py", "exact"), ("ops.yaml", "exact")]
    order = [row["path"] for row in ask(index, "define", "svd")]
    assert order.index("ops.yaml") < order.index("tools/box.py") < order.index("torch/_decomp/decompositions.py")
    assert next(row["path"] for row in ask(index, "define", "at::svd")) == "ops.yaml"


def test_a_test_reaches_a_kernel_only_if_it_can_select_it(tmp_path: Path) -> None:
    test = "import torch\nfrom common import TestCase\n\n\nclass {}(TestCase):\n    def test_it(self):\n        torch.twice(1)\n"
    files = {
        "test/test_torch.py": test.format("TestTorch"),
        "test/test_cuda.py": test.format("TestAll"),
        "pytest.ini": "[pytest]\n",
        "torch/__init__.py": "",
    }
    index = make_index(tmp_path, {**FILES, **files})
    rows = {
        path: [row["path"] for row in ask_index(index, "tests", path).rows]
        for path in ("native/twice.cpp", "native/twice.cu")
    }
    assert rows == {
        "native/twice.cpp": ["test/test_cuda.py", "test/test_torch.py"],
        "native/twice.cu": ["test/test_cuda.py"],
    }
    lonely = make_index(tmp_path / "other", {**FILES, "test/test_torch.py": test.format("TestTorch"), "torch/__init__.py": ""})
    assert ask_index(lonely, "tests", "native/twice.cu").rows == []
    assert "other devices" in ask_index(lonely, "tests", "native/twice.cu").note


def test_bridges_do_not_depend_on_the_order_of_ids(index: Index) -> None:
    """A function that was renamed and named back has a new id."""
    table = bridges_of(index)
    other = Bridges(index, {"all": pack_bridges(table.rows[::-1])})
    paths = [row[1] for row in index.file_rows]
    assert [table.out_of(path) for path in paths] == [other.out_of(path) for path in paths]
    assert [table.into(path) for path in paths] == [other.into(path) for path in paths]
    assert [table.named(row.name) for row in table.rows] == [other.named(row.name) for row in table.rows]


def test_a_name_is_looked_up_without_decoding_other_bridges(index: Index) -> None:
    rows = bridges_of(index).rows
    one = rows[0]
    table = Bridges(index, {"other": b"\xc1", one.bridge: pack_bridges(row for row in rows if row.bridge == one.bridge)})
    assert one in table.named(one.name, one.bridge) == bridges_of(index).named(one.name, one.bridge)
    assert table.named("no such name") == []
