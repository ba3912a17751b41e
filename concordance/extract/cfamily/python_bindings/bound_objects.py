"""Tracks the Python modules, classes and types that variables hold in C and C++ code.

In: the tokens of a file and its functions. Out: the `BoundObject` that an expression evaluates to: a root (a module's
name, the table that describes it, or a parameter that callers fill) and a path of names below it. A root's Python name
is known only once all files have been read; the linker's half of the bridge resolves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from concordance.base.model import Kind
from concordance.extract.cfamily.tokens import TokenRange, Tokens
from concordance.extract.reading.draft import Definition

MODULES = frozenset(("module", "module_"))  # pybind11's and nanobind's
_SPACES = frozenset(("py", "pybind11", "nb", "nanobind"))
_CREATES = frozenset(("PyModule_Create", "PyModule_Create2", "PyModuleDef_Init", "PyModule_FromDefAndSpec"))
_NAMED = frozenset(
    ("PyImport_ImportModule", "PyImport_AddModule", "PyImport_AddModuleRef", "PyModule_New", "import", "import_")
)
_OLD = frozenset(("Py_InitModule", "Py_InitModule3", "Py_InitModule4"))
_SPECS = frozenset(("PyType_FromSpec", "PyType_FromSpecWithBases", "PyType_FromModuleAndSpec", "PyType_FromMetaclass",
                    "PyStructSequence_NewType"))  # fmt: skip
_SAME = frozenset(("cast", "ptr", "get", "release", "borrow", "inc_ref"))  # return the same object
WRAPPERS = ("Ptr", "_ptr", "handle", "object", "borrow", "steal", "cast", "move", "PyModule_GetDict")
_DEEPEST = 20  # nested wrappers around a module
_BINDERS = ("class_", "enum_", "exception", "bind_vector", "bind_map")
_CASTS = frozenset(("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"))


class BoundObject(NamedTuple):
    """An object that names are bound on. `root` is a word for what is known about it, a colon, and its name."""

    root: str  # "is:torch._C", "init:_core", "def:moduledef", "parameter:12:0", "type:THPSizeType", "table:methods"
    path: tuple[str, ...] = ()
    kind: str = "module"  # or "class", "enum"
    of: int = -1  # the token of the C++ type that a class wraps

    def below(self, name: str, kind: str = "module", of: int = -1) -> BoundObject:
        """Return the object bound on this one under a name."""
        return BoundObject(self.root, (*self.path, name), kind, of)


# Called for each method call on an object, with the object and the tokens of the method's name and its "(".
ChainCallback = Callable[[BoundObject, int, int], None]


class BoundObjects:
    """The objects that the names of a file are bound to, by range of the text."""

    def __init__(self, tokens: Tokens, functions: Iterable[Definition], length: int) -> None:
        self.tokens, self._length = tokens, length
        self._deep = 0  # recursion depth of `value`
        self._bound: dict[str, list[tuple[int, int, BoundObject | None]]] = {}
        self.functions = list(functions)
        words = tokens.text
        self._aliases = {words[place + 1] for place in range(len(words) - 4) if words[place] == "using" and (
            words[place + 2] == "=" and "class_" in words[place + 3 : place + 6])}  # fmt: skip
        for definition in self.functions:
            self._parameters(definition)

    def _parameters(self, function: Definition) -> None:
        """Record the parameters that may receive a module or class; other parameters hide such names."""
        objects = [parameter for parameter in function.parameters if _is_object(parameter.annotation)]
        for place, parameter in enumerate(function.parameters):
            words = (
                parameter.annotation.replace("&", " ").replace("*", " ").replace("::", " ").replace("<", " ").split()
            )
            is_py = not _SPACES.isdisjoint(words) and not (MODULES | {"class_", "handle", "object"}).isdisjoint(words)
            alone = _is_object(parameter.annotation) and len(objects) == 1 and "PyObject" not in function.returns
            if parameter.name and (is_py or alone):
                owner = BoundObject(
                    f"parameter:{function.place}:{place}", kind="class" if "class_" in words else "module"
                )
                self.bind(parameter.name, owner, (function.start, function.end))
            elif parameter.name:
                self.bind(parameter.name, None, (function.start, function.end))

    def bind(self, name: str, owner: BoundObject | None, stretch: tuple[int, int]) -> None:
        """Bind a name to an object between two offsets; None hides an outer binding."""
        if owner is not None or name in self._bound:
            self._bound.setdefault(name, []).append((*stretch, owner))

    def object_at(self, name: str, at: int) -> BoundObject | None:
        """Return the object that a name is bound to at an offset; None if unknown."""
        for start, end, owner in reversed(self._bound.get(name, ())):
            if start <= at < end:
                return owner
        return None

    def block(self, place: int) -> tuple[int, int]:
        """Return the offsets of the braces around a token, or of the whole file."""
        around = self.tokens.around[place]
        if around < 0:
            return 0, self._length
        closed = self.tokens.partner[around]
        return self.tokens.at[around], self.tokens.at[closed] if closed > around else self._length

    def function(self, at: int) -> Definition | None:
        """Return the innermost function around an offset."""
        enclosing = None
        for definition in self.functions:
            if definition.start <= at < definition.end:
                enclosing = definition
        return enclosing

    def value(self, stretch: TokenRange) -> BoundObject | None:
        """Return the object that an expression evaluates to, looking through casts and wrappers; None if unknown."""
        tokens, (start, end) = self.tokens, stretch
        while start < end and tokens.text[start] in ("&", "*", "::", "("):
            behind = tokens.closed(start) if tokens.text[start] == "(" else start + 1
            start, end = (start + 1, end - 1) if behind >= end and tokens.text[start] == "(" else (behind, end)
        if self._deep > _DEEPEST:
            return None
        self._deep += 1
        owner, place = self.primary(start, end)
        if owner is not None:
            owner, place = self.chain(owner, place, end, None)
        self._deep -= 1
        return owner if place >= end else None

    def primary(self, start: int, end: int) -> tuple[BoundObject | None, int]:
        """Return the object that the first part of an expression evaluates to, and the index after it."""
        tokens = self.tokens
        if not tokens.is_name(start) or start >= end:
            return None, start
        last = start
        while last + 2 < end and tokens.text[last + 1] == "::" and tokens.kind[last + 2] == "name":
            last += 2
        behind = last + 1
        given: TokenRange = (0, 0)
        if behind < end and tokens.text[behind] == "<":
            closed = tokens.template(behind)
            if closed > 0:
                given, behind = (behind + 1, closed - 1), closed
        if given[1] and behind + 1 < end and tokens.kind[behind] == "name" and tokens.text[behind + 1] == "(":
            behind += 1  # py::class_<T> name(…)
        if behind < end and tokens.text[behind] in ("(", "{") and tokens.partner[behind] > 0:
            return self._object_from_call(start, last, given, behind), tokens.closed(behind)
        if last > start or given[1]:
            return None, behind
        return self.object_at(tokens.text[start], tokens.at[start]), behind

    def _object_from_call(self, start: int, last: int, given: TokenRange, opened: int) -> BoundObject | None:
        tokens, name = self.tokens, self.tokens.text[last]
        arguments = tokens.within(opened)
        if not arguments:
            return None
        if name in _CREATES:
            return self._variable("def", arguments[0])
        if name in _SPECS:
            spec = arguments[1 if name in ("PyType_FromModuleAndSpec", "PyType_FromMetaclass") else 0 :][:1]
            return self._variable("type", spec[0]) if spec else None
        text = tokens.literal(arguments[0])
        if text is not None:
            is_module = name in _OLD or (name in MODULES and tokens.text[start] in _SPACES)
            return BoundObject(f"is:{text}") if name in _NAMED else BoundObject(f"init:{text}") if is_module else None
        if given[1]:
            chained = tokens.is_(tokens.closed(opened), ".") or name in self._aliases
            owner = self._class(name, given, arguments) if chained or any(part in name for part in _BINDERS) else None
            if owner is not None:
                return owner
        if len(arguments) == 1 and (name.endswith(WRAPPERS) or tokens.text[start] in _SPACES or name in _CASTS):
            return self.value(arguments[0])
        return None

    def _class(self, name: str, given: TokenRange, arguments: list[TokenRange]) -> BoundObject | None:
        """Handle `py::class_<T>(module, "Name")`, or any template that is passed a module and a name."""
        tokens = self.tokens
        if len(arguments) < 2:
            return None
        text = self.label(arguments[1])
        enclosing = self.value(arguments[0]) if text else None
        if enclosing is None or not text:
            return None
        return enclosing.below(text, "enum" if "enum" in name else "class", self._type(tokens.split(*given)))

    def label(self, stretch: TokenRange) -> str | None:
        """Return a name as literal text, "{MACRO}", or "{@1}" if it is that parameter of the enclosing function."""
        tokens, (start, end) = self.tokens, stretch
        if end - start == 5 and tokens.text[start + 2 : end] == ["c_str", "(", ")"]:
            end = start + 1
        if end - start == 1 and tokens.is_name(start):
            function = self.function(tokens.at[start])
            names = [parameter.name for parameter in function.parameters] if function is not None else []
            if tokens.text[start] in names:
                return f"{{@{names.index(tokens.text[start])}}}"
        return tokens.label((start, end))

    def _type(self, given: list[TokenRange]) -> int:
        """Return the token that names the type in the first template argument."""
        if not given:
            return -1
        tokens, (start, end) = self.tokens, given[0]
        type_place, place = -1, start
        while place < end:
            if tokens.text[place] == "<":
                break
            if tokens.kind[place] == "name" and tokens.text[place] not in (
                "const",
                "struct",
                "class",
                "enum",
                "typename",
            ):
                type_place = place
            place += 1
        return type_place

    def _variable(self, root: str, stretch: TokenRange) -> BoundObject | None:
        names = list(self.tokens.names(stretch))
        return (
            BoundObject(f"{root}:{self.tokens.text[names[-1]]}", kind="class" if root == "type" else "module")
            if names
            else None
        )

    def chain(
        self, owner: BoundObject, place: int, end: int, chained: ChainCallback | None
    ) -> tuple[BoundObject | None, int]:
        """Return what a chain of calls on an object evaluates to, and the index after the chain."""
        tokens, now = self.tokens, owner
        while place + 1 < end and tokens.text[place] in (".", "->") and tokens.kind[place + 1] == "name":
            name, behind = place + 1, place + 2
            if tokens.is_(behind, "template"):
                behind += 1
            if tokens.is_(behind, "<"):
                behind = max(behind, tokens.template(behind))
            if not tokens.is_(behind, "(") or tokens.partner[behind] < 0:
                return None, behind
            word, arguments = tokens.text[name], tokens.within(behind)
            text = tokens.literal(arguments[0]) if arguments else None
            if word in ("def_submodule", "attr") and text:
                if chained is not None and word == "def_submodule":
                    chained(now, name, behind)
                now = now.below(text)
            elif word.startswith("def") or word in ("value", "export_values") or word in _SAME:
                if chained is not None:
                    chained(now, name, behind)
            else:
                return None, tokens.closed(behind)
            place = tokens.closed(behind)
        return now, place


def _is_object(annotation: str) -> bool:
    return annotation.replace(" ", "").replace("struct", "") == "PyObject*"


def functions_of(definitions: Iterable[Definition]) -> list[Definition]:
    """Return the functions that have a body, outer ones before inner ones."""
    kinds = (Kind.FUNCTION, Kind.METHOD)
    return sorted((d for d in definitions if d.kind in kinds and not d.declaration), key=lambda d: (d.start, -d.end))
