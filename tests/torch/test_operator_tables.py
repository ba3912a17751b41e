"""Schemas of operators, the C++ types that match them, and updates of the rows that are joined by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from concordance_torch.extract.operator_schema import full_name, parse_schema
from concordance_torch.link.kernels import match_score, normalise_type
from tests.support.bridges import joined
from tests.support.cases import examples

CASES = Path(__file__).parents[1] / "cases" / "bridges"


def test_a_schema_has_a_name_types_and_returns() -> None:
    schema = parse_schema("aten::add.out(Tensor self, Tensor(a!)[] many, int[2] size=[1, 2], *, Tensor(b!) out) -> Tensor(b!)")
    assert schema is not None
    assert (schema.name, schema.base, schema.overload) == ("aten::add.out", "add", "out")
    assert schema.types == ("Tensor", "Tensor[]", "int[2]", "Tensor")
    assert schema.names == ("self", "many", "size", "out")
    assert schema.is_out
    assert schema.returns == "Tensor(b!)"


@pytest.mark.parametrize("text", ["", "not a schema", "add(Tensor self", "add.Tensor", "f(x) + g(y)", "1(Tensor self) -> Tensor"])
def test_other_texts_are_no_schemas(text: str) -> None:
    assert parse_schema(text) is None


def test_a_schema_that_writes_in_place_is_no_out() -> None:
    schema = parse_schema("add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
    assert schema is not None
    assert not schema.is_out


def test_names_have_a_namespace() -> None:
    assert full_name("add.Tensor") == "aten::add.Tensor"
    assert full_name("mine::add") == "mine::add"
    assert full_name("add", "mine") == "mine::add"
    assert full_name("add(") == ""


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        ("const at::Tensor&", "Tensor"),
        ("const c10::optional<Tensor>&", "Tensor?"),
        ("std::optional<at::Tensor> const &", "Tensor?"),
        ("at::IntArrayRef", "int[]"),
        ("c10::SymIntArrayRef", "int[]"),
        ("at::OptionalIntArrayRef", "int[]?"),
        ("const c10::List<c10::optional<Tensor>>&", "Tensor?[]"),
        ("ArrayRef<Scalar>", "Scalar[]"),
        ("std::array<bool, 3>", "bool[]"),
        ("int64_t", "int"),
        ("double", "float"),
        ("c10::string_view", "str"),
    ],
)
def test_types_of_cpp_as_a_schema_writes_them(written: str, schema: str) -> None:
    assert normalise_type(written) == schema


def test_parameters_fit_or_do_not() -> None:
    types = ("Tensor", "SymInt[2]", "Scalar?")
    assert match_score(types, ["const Tensor&", "IntArrayRef", "const optional<Scalar>&"]) > match_score(
        types, ["const Tensor&", "IntArrayRef", "const Scalar&"]
    )
    assert match_score(types, ["const Tensor&", "IntArrayRef", "const Scalar&"]) > 0
    assert match_score(types, ["const Tensor&", "IntArrayRef"]) == 0
    assert match_score(types, ["const Tensor&", "int64_t", "const Scalar&"]) == 0
    assert match_score(("int[]", "ScalarType?", "Layout?", "Device?", "bool?"), ["IntArrayRef", "TensorOptions"]) > 0


EDITS = [
    ("ops/kernels.cpp", "int64_t dim) {", "Dimname dim, int64_t other) {"),  # an overload that no schema has
    ("ops/kernels.cpp", "Tensor twice_sparse(", "Tensor twice_nowhere("),  # a kernel under another name
    ("ops/kernels.cpp", "TORCH_IMPL_FUNC(half_out)", "TORCH_IMPL_FUNC(third_out)"),
    ("ops/kernels.cpp", "namespace at {", "// moved\n\nnamespace at {"),
    ("ops/functions.yaml", "    Meta: twice_nowhere\n", ""),
    ("ops/functions.yaml", "twice.Tensor(", "double.Tensor("),
]


def test_an_update_joins_what_a_build_from_nothing_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = {one.name: one.text for one in examples(CASES / "operators" / "table.md")}
    root = tmp_path / "repository"
    _write(root, files)
    joined(root)
    for number, (name, old, new) in enumerate(EDITS):
        assert old in files[name]
        files[name] = files[name].replace(old, new)
        _write(root, files)
        fresh = tmp_path / f"fresh{number}"
        _write(fresh, files)
        assert joined(root) == joined(fresh), (name, old, new)


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
