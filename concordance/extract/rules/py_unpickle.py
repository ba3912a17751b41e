"""PY-UNPICKLE: data that may run code when it is read."""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import PYTHON, Match, RuleContext

ID = "PY-UNPICKLE"
TITLE = "Unpickling of data"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = PYTHON
TESTS = False
NAMES = ("load", "loads", "Unpickler", "read_pickle")
WHY = (
    "Loading a pickle can call any function, so anyone who can write the file or the message can run code here. "
    "JSON, or a tensor format without code, does not have this problem."
)
BAD = "pickle.load(file)"
GOOD = "json.load(file)"

_PICKLES = frozenset(("pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "pickle5"))


def find(context: RuleContext) -> Iterator[Match]:
    """Find calls that unpickle, always or because of `allow_pickle=True`, except data pickled in the same call."""
    for function, call in context.imported_calls(*NAMES):
        module, _, name = function.rpartition(".")
        if (module.rpartition(".")[2] in _PICKLES and name != "read_pickle") or function == "pandas.read_pickle":
            if call.arguments and "dumps(" not in context.text(call.arguments[0]):
                yield context.at(call.node, f"`{function}` lets the data run code")
        elif function == "numpy.load" and context.text(call.keyword("allow_pickle")) == "True":
            yield context.at(call.node, "`numpy.load` with `allow_pickle=True` lets the file run code")
