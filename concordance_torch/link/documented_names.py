"""Names of operators for questions, which must not load the linker.

In: the fields of an operator's entry in a table. Out: the names by which users call it in Python.
"""

from __future__ import annotations

from collections.abc import Iterator

STRUCTURED_META = "structured meta"  # from an operator to the function that gives its shape; "meta" is from a function


def documented_python_names(base: str, variants: str, module: str) -> Iterator[str]:
    """Yield the names under which users call an operator of a table, according to its entry.

    The functions of a module have its name as a prefix that Python does not repeat: `linalg_svd` is `torch.linalg.svd`.
    """
    if "function" in variants:
        if not module:
            yield f"torch.{base}"
        elif base.startswith(f"{module}_"):
            yield f"torch.{module}.{base.removeprefix(f'{module}_')}"
        else:
            yield f"torch._C._{module}.{base}"
    if "method" in variants:
        yield f"torch.Tensor.{base}"
