"""Operators named through `torch.ops` in Python: `torch.ops.aten.add.Tensor(…)`, or through an alias of a namespace.

Names of the package itself (`torch.add`) are resolved by the linker. Names under `torch.ops` are only looked up at
run time, so they are reported here.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import PYTHON, RuleContext
from concordance_torch.extract.python_operators import OperatorNamespaces

LANGUAGES = PYTHON
WORDS = (b"torch.ops.", b"aten.", b"torch.ops import", b"torch._ops.ops.")
_LOADING = frozenset(("load_library", "loaded_libraries", "import_module"))


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the operators that a file names; for a method called on an operator, the operator."""
    spaces, names = OperatorNamespaces(context), context.draft.ends
    for match in spaces.written.finditer(context.data):
        written = match[0].decode()
        at = match.start(2) if match[2] else match.start(1)
        operators = spaces.named(written)
        if operators and match.start(1) in names and match[1].decode() not in _LOADING:
            called = context.data[match.end() : match.end() + 1] == b"("
            yield BridgeEnd(at, "calls" if called else "names", operators[0].name, written)
