"""Which test files of the same name count as tests of a file."""

from __future__ import annotations

import pytest

from concordance.query.search.related_files import may_test


@pytest.mark.parametrize(
    ("test", "path", "may"),
    [
        ("tests/test_linear.py", "torch/nn/modules/linear.py", True),
        ("test/nn/test_linear.py", "torch/nn/modules/linear.py", True),
        ("tests/utils_tests/test_html.py", "django/utils/html.py", True),
        ("src/test/java/org/x/UtilTest.java", "src/main/java/org/x/Util.java", True),
        ("test/quantization/core/experimental/test_linear.py", "torch/nn/modules/linear.py", False),
        ("test/distributed/test_linear.py", "torch/nn/modules/linear.py", False),
        ("test_linear.py", "linear.py", True),
    ],
)
def test_folders_tell_namesakes_apart(test: str, path: str, may: bool) -> None:
    assert may_test(test, path) is may
