"""PY-YAML: a YAML document that may create any object when it is read."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Match, RuleContext

ID = "PY-YAML"
TITLE = "Unsafe YAML loader"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = PYTHON
TESTS = False
NAMES = ("load", "load_all", "unsafe_load", "unsafe_load_all")
WHY = (
    "A tag in the document can name a class or function, and the unsafe loaders instantiate or call it. The safe "
    "loader creates plain values only."
)
BAD = "yaml.load(file, Loader=yaml.Loader)"
GOOD = "yaml.safe_load(file)"

_UNSAFE = frozenset(f"yaml.{name}" for name in ("Loader", "UnsafeLoader", "CLoader", "CUnsafeLoader"))


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls of PyYAML's own functions without a loader, or with one known to create objects."""
    for function, call in context.imported_calls(*NAMES):
        if function in ("yaml.unsafe_load", "yaml.unsafe_load_all"):
            yield context.at(call.node, f"`{function}` lets the document create any object")
        elif function in ("yaml.load", "yaml.load_all"):
            loader = call.keyword("Loader") or (call.arguments[1] if len(call.arguments) > 1 else None)
            if loader is None and not any(argument.type == "dictionary_splat" for argument in call.arguments):
                yield context.at(
                    call.node,
                    f"`{function}` without a loader lets the document create any object in old versions of PyYAML",
                )
            elif loader is not None and context.dotted(loader) in _UNSAFE:
                yield context.at(call.node, f"`{context.text(loader)}` lets the document create any object")
