"""Reads everything that a C-family file exposes to Python, in one pass for both bridges: pybind11 and the C API.

In: a file. Out: `BridgeEnd`s, each with the bridge that it belongs to. Names are visited in the order of the text, so
that the object a name is bound to is known by the time the name is used. Calls that pass a module to another function
are recorded, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.extract.bridges import BridgeEnd
from concordance.extract.cfamily.python_bindings.bound_objects import (
    MODULES,
    WRAPPERS,
    BoundObject,
    BoundObjects,
    functions_of,
)
from concordance.extract.cfamily.python_bindings.cpython_tables import TableReader, parameter_names
from concordance.extract.cfamily.python_bindings.pybind_chains import PybindChains
from concordance.extract.cfamily.tokens import Tokens
from concordance.extract.reading.rule_context import RuleContext

PYBIND, CPYTHON = "pybind", "cpython"
PYBIND_WORDS = (b"pybind11", b"py::", b"nb::", b"nanobind", b"NB_MODULE")
CPYTHON_WORDS = (b"PyObject", b"PyMethodDef", b"PyModuleDef", b"PyTypeObject", b"PyInit_", b"Py_InitModule")
_MODULE_MACROS = frozenset(("PYBIND11_MODULE", "PYBIND11_EMBEDDED_MODULE", "NB_MODULE", "PYBIND11_PLUGIN"))
_KEYWORDS = frozenset(("return", "if", "else", "while", "for", "new", "delete", "throw", "case", "goto", "sizeof"))
_BEFORE_NAMES = frozenset((">", "*", "&"))


def find_bindings(context: RuleContext) -> tuple[tuple[str, BridgeEnd], ...]:
    """Return the ends in a file, each with its bridge; `RuleContext.once` keeps it for the second of two bridges."""
    return tuple(_Reader(context).all())


class _Reader:
    def __init__(self, context: RuleContext) -> None:
        self._tokens = Tokens(context.data)
        definitions = context.draft.definitions
        self._objects = BoundObjects(self._tokens, functions_of(definitions), len(context.data))
        self._chains = PybindChains(self._tokens, self._objects)
        self._tables = TableReader(self._tokens, self._objects, {d.at: d.place for d in definitions})
        self._other = CPYTHON if any(word in context.data for word in CPYTHON_WORDS) else PYBIND  # for modules

    def all(self) -> Iterator[tuple[str, BridgeEnd]]:
        tokens = self._tokens
        for place, kind in enumerate(tokens.kind):
            if kind == "name":
                for end in self._tables.at(place):
                    yield CPYTHON, end
                for end in self._name(place):
                    yield self._other, end
            elif tokens.text[place] == "[":
                self._lambda(place)
            elif tokens.text[place] == "=":
                self._assignment(place)
        for end in self._chains.ends:
            yield PYBIND, end
        for name, (text, at) in tokens.spells.items():
            yield self._other, BridgeEnd(at, "spells", name, text)

    def _name(self, place: int) -> Iterator[BridgeEnd]:
        tokens, word = self._tokens, self._tokens.text[place]
        if word in _MODULE_MACROS and tokens.is_(place + 1, "("):
            yield from self._module(place)
            return
        if word.startswith("PyInit_"):
            if tokens.is_(place + 1, "("):
                yield from self._initialises(place, word.removeprefix("PyInit_"))
            return
        before = tokens.text[place - 1] if place else ""
        if before in (".", "->") or (before == "::" and tokens.is_name(place - 2)):
            return
        self._primary(place)
        yield from self._passed_objects(place)

    def _primary(self, place: int) -> None:
        """Read the expression that begins at a name, and what chains on it bind."""
        tokens = self._tokens
        end = min(len(tokens), place + 100_000)
        owner, behind = self._objects.primary(place, end)
        if owner is None:
            return
        if owner.of >= 0 and owner.path:
            self._chains.record_class(owner)
            self._variable(place, behind, owner)
        if tokens.is_(behind, ".") or tokens.is_(behind, "->"):
            self._chains_on(owner, behind, end)

    def _variable(self, place: int, behind: int, owner: BoundObject) -> None:
        """Handle `py::class_<T> name(module, "Name");`."""
        tokens = self._tokens
        opened = tokens.partner[behind - 1]
        if opened > place and tokens.is_name(opened - 1) and tokens.is_(opened - 2, ">"):
            self._objects.bind(tokens.text[opened - 1], owner, self._objects.block(place))

    def _chains_on(self, owner: BoundObject, behind: int, end: int) -> None:
        tokens = self._tokens
        if not tokens.is_name(behind + 1):
            return
        result, after = self._objects.chain(owner, behind, end, self._chains.record_call)
        is_set = tokens.is_(after, "=") and not tokens.is_(after + 1, "=")
        if result is not None and is_set and len(result.path) > len(owner.path):  # m.attr("X") = …
            enclosing = result._replace(path=result.path[:-1])
            more = (("in", enclosing.root), ("as", "attribute"))
            at = tokens.at[behind + 3] if tokens.is_(behind + 2, "(") else tokens.at[behind]
            self._chains.ends.append(BridgeEnd(at, "binds", ".".join(result.path), "value", more))

    def _assignment(self, place: int) -> None:
        """Handle `auto m = …;`: bind the name to the value from here on."""
        tokens = self._tokens
        if tokens.is_(place + 1, "=") or not tokens.is_name(place - 1) or place < 2:
            return
        before = tokens.text[place - 2]
        if before in (".", "->", "::"):
            return
        end = place + 1
        while end < len(tokens) and tokens.text[end] not in (";", ",", ")", "}"):
            if tokens.text[end] == "<" and tokens.is_name(end - 1):
                end = max(end + 1, tokens.template(end))
            else:
                end = tokens.closed(end) if tokens.text[end] in ("(", "[", "{") else end + 1
        owner = self._objects.value((place + 1, end))
        name = tokens.text[place - 1]
        declared = before in _BEFORE_NAMES or (tokens.kind[place - 2] == "name" and before not in _KEYWORDS)
        if owner is None and not declared:
            return
        function = None if declared else self._objects.function(tokens.at[place])
        stretch = (function.start, function.end) if function is not None else self._objects.block(place)
        self._objects.bind(name, owner, stretch)

    def _lambda(self, place: int) -> None:
        """Record that a lambda's parameters hide outer names."""
        tokens = self._tokens
        behind = tokens.closed(place)
        if not tokens.is_(behind, "(") or tokens.is_name(place - 1) or tokens.is_(place - 1, ")"):
            return
        inner = tokens.closed(behind)
        while inner < len(tokens) and tokens.text[inner] not in ("{", ";", ")", ","):
            inner += 1
        if tokens.is_(inner, "{") and tokens.partner[inner] > 0:
            for name in parameter_names(tokens, behind):
                if name:
                    self._objects.bind(name, None, (tokens.at[behind], tokens.at[tokens.partner[inner]]))

    def _module(self, place: int) -> Iterator[BridgeEnd]:
        """Handle `PYBIND11_MODULE(name, m) { … }`."""
        tokens = self._tokens
        arguments = tokens.within(place + 1)
        behind = tokens.closed(place + 1)
        if not arguments:
            return
        name = tokens.literal(arguments[0]) or tokens.written(arguments[0])
        yield BridgeEnd(tokens.at[arguments[0][0]], "initialises", name, name, (("in", f"init:{name}"),))
        if len(arguments) > 1 and tokens.is_(behind, "{") and tokens.partner[behind] > 0:
            stretch = (tokens.at[behind], tokens.at[tokens.partner[behind]])
            self._objects.bind(tokens.text[arguments[1][0]], BoundObject(f"init:{name}"), stretch)

    def _initialises(self, place: int, name: str) -> Iterator[BridgeEnd]:
        """Record the function that Python calls to create a module; the module may be made by a function it calls."""
        tokens = self._tokens
        function = self._objects.function(tokens.at[place])
        if function is None or not name:
            return
        yield BridgeEnd(
            tokens.at[place], "initialises", name, name, (("in", f"init:{name}"), ("symbol", str(function.place)))
        )

    def _passed_objects(self, place: int) -> Iterator[BridgeEnd]:
        """Record calls that pass a module or a class to a function."""
        tokens, last = self._tokens, place
        if tokens.text[place] in _KEYWORDS:
            return
        behind = last + 1
        while True:  # a::b<T>::f<U>
            if tokens.is_(behind, "<"):
                behind = tokens.template(behind)
            if not tokens.is_(behind, "::") or not tokens.is_name(behind + 1):
                break
            last, behind = behind + 1, behind + 2
        if not tokens.is_(behind, "(") or tokens.text[last].startswith("Py") or tokens.text[last].endswith(WRAPPERS):
            return
        if place and (tokens.kind[place - 1] == "name" and tokens.text[place - 1] not in _KEYWORDS):
            self._construction(last, behind)
            return
        given = tokens.within(behind)
        for number, (start, end) in enumerate(given):
            owner = self._objects.value((start, end)) if end - start <= 12 else None
            if owner is not None and tokens.text[place] not in ("py", "pybind11", "nb", "nanobind"):
                literals = [(f"@{one}", tokens.literal(part)) for one, part in enumerate(given)]
                texts = tuple((key, text) for key, text in literals if text)
                more = (("in", owner.root), ("path", ".".join(owner.path)), ("argument", str(number)), *texts)
                yield BridgeEnd(
                    tokens.at[last], "hands", tokens.text[last], "", tuple(pair for pair in more if pair[1])
                )

    def _construction(self, name: int, opened: int) -> None:
        """Handle `Pointer module(PyModule_New("name"));`."""
        tokens = self._tokens
        arguments = tokens.within(opened)
        owner = self._objects.value(arguments[0]) if len(arguments) == 1 else None
        if tokens.text[name - 1] in MODULES and arguments:  # py::module m("name", "what it is");
            text = tokens.literal(arguments[0])
            owner = BoundObject(f"init:{text}") if text else owner
        if owner is not None:
            self._objects.bind(tokens.text[name], owner, self._objects.block(name))
