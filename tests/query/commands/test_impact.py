"""`concord impact` groups tests by file and follows decorators to what they decorate."""

from __future__ import annotations

from pathlib import Path

import concordance
from tests.support.program import write

FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    "shop/__init__.py": "",
    "shop/marks.py": "def logged(function):\n    def wrapper(*values):\n        return function(*values)\n\n    return wrapper\n\n\ndef tracked(cls):\n    return cls\n",
    "shop/cart.py": "from shop.marks import logged, tracked\n\n\n@logged\ndef pay(price):\n    return price\n\n\n@tracked\nclass Cart:\n    pass\n\n\ndef idle():\n    return 0\n",
    "tests/test_cart.py": "from shop.cart import Cart, idle, pay\n\n\ndef test_idle():\n    assert not idle()\n\n\ndef test_cart():\n    assert Cart()\n",
}
MANY = "from shop.cart import pay\n\n\n" + "\n\n".join(f"def test_{number:02}():\n    assert pay({number}) == {number}\n" for number in range(25))


def _rows(folder: Path, name: str, files: dict[str, str]) -> list[tuple[str, int, str, str]]:
    write(folder, files)
    with concordance.open(folder) as repository:
        return [(row["path"], row["distance"], row["called"], row["run"]) for row in repository.impact(name)]


def test_a_decorator_leads_to_what_it_decorates(tmp_path: Path) -> None:
    found = {name: distance for _, distance, name, _ in _rows(tmp_path, "shop.marks.logged", FILES)}
    assert found["shop.cart.pay"] == 1
    assert "shop.cart.idle" not in found


def test_a_decorator_of_a_class_leads_to_its_tests(tmp_path: Path) -> None:
    found = _rows(tmp_path, "shop.marks.tracked", FILES)
    assert ("tests/test_cart.py", 2, "test_cart", "pytest tests/test_cart.py::test_cart") in found
    assert "test_idle" not in {name for _, _, name, _ in found}


def test_tests_of_a_decorator_are_those_that_run_its_wrapper(tmp_path: Path) -> None:
    write(tmp_path, FILES | {"tests/test_many.py": MANY})
    with concordance.open(tmp_path) as repository:
        assert {row["path"] for row in repository.tests("shop.marks.logged")} == {"tests/test_many.py"}


def test_further_tests_are_one_row_for_each_file(tmp_path: Path) -> None:
    found = _rows(tmp_path, "shop.cart.pay", FILES | {"tests/test_many.py": MANY})
    assert [name for _, _, name, _ in found[:20]] == [f"test_{number:02}" for number in range(20)]
    rest = ("tests/test_cart.py", 1, "", "")  # it imports the function, but no test in it calls it
    assert found[20:] == [rest, ("tests/test_many.py", 1, "5 tests", "pytest tests/test_many.py")]


def test_a_decorator_inside_a_function_is_not_applied_at_load_time(tmp_path: Path) -> None:
    nested = "from shop.marks import logged\n\n\ndef test_nested():\n    @logged\n    def inner():\n        return 1\n\n    assert inner() == 1\n"
    found = _rows(tmp_path, "shop.marks.logged", FILES | {"tests/test_nested.py": nested})
    assert [name for path, _, name, _ in found if path == "tests/test_nested.py"] == ["test_nested"]
