"""Python's built-in types, as far as they lead to other types: what containers hold and methods return.

In: a type's name and what it holds. Out: the result of iterating, indexing or calling a method. A member of such a type
is certainly not defined in the repository, so no candidates are listed for it.
"""

from __future__ import annotations

import builtins
from typing import NamedTuple

# Tags of a `PythonValue`. The last three are an instance and a class of Python's built-in types, and anything else from
# outside the repository, known by its dotted name.
MODULE, CLASS, INSTANCE, FUNCTION, SUPER, BUILTIN_INSTANCE, BUILTIN_CLASS, EXTERNAL = range(8)


class PythonValue(NamedTuple):
    """What an expression may evaluate to at run time."""

    tag: int
    id: int | str  # a module's number, the id of a definition in the repository, or the dotted name of anything else
    holds: tuple[Values, ...] = ()  # the values it holds or gives, by position


Values = tuple[PythonValue, ...]
# new in Python 3.13; added so that every Python version links alike
_NEWER = {"PythonFinalizationError", "_IncompleteInputError"}
_SITE = {"copyright", "credits", "exit", "help", "license", "quit"}
_MODULE = {"__file__", "__name__", "__doc__", "__path__", "__spec__", "reveal_type"}
BUILTIN_NAMES = frozenset(dir(builtins)) | _NEWER | _SITE | _MODULE

# Types with one kind of element, and those whose first parameter is a key.
_ONE = frozenset(
    ("list", "set", "frozenset", "deque", "List", "Set", "FrozenSet", "Deque", "Iterator", "Iterable", "Sequence",
     "MutableSequence", "Collection", "Container", "AbstractSet", "MutableSet", "KeysView", "ValuesView", "Generator",
     "AsyncIterator", "AsyncIterable", "AsyncGenerator", "Reversible", "OrderedSet", "Queue", "Counter")
)  # fmt: skip
_KEYED = frozenset(
    ("dict", "Dict", "defaultdict", "DefaultDict", "OrderedDict", "Mapping", "MutableMapping", "ChainMap", "ItemsView",
     "WeakValueDictionary", "WeakKeyDictionary", "MappingProxyType")
)  # fmt: skip
_PLAIN = frozenset(("str", "int", "float", "bool", "bytes", "complex", "bytearray", "slice", "range", "property"))
_OTHER = frozenset(("tuple", "Tuple", "contextmanager", "ContextManager", "AbstractContextManager", "Callable"))
_YIELDED = frozenset(("Iterator", "Iterable", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator"))
MODELLED_TYPES = _ONE | _KEYED | _PLAIN | _OTHER

# Typing forms that are equivalent to their parameters: to all of them (0), or to the first (1).
TYPING_FORMS = {
    "Optional": 0, "Union": 0, "ClassVar": 1, "Final": 1, "Annotated": 1, "Required": 1, "NotRequired": 1,
    "ReadOnly": 1, "Awaitable": 1, "TypeGuard": 1, "InitVar": 1, "Unpack": 1,
}  # fmt: skip

# Functions that return their first argument, or something like it.
_SAME = frozenset(("copy.copy", "copy.deepcopy", "dataclasses.replace", "functools.wraps", "weakref.proxy"))
_OVER = frozenset(("builtins.iter", "builtins.sorted", "builtins.reversed", "builtins.filter", "itertools.islice",
                   "builtins.list", "builtins.set", "builtins.tuple", "builtins.frozenset"))  # fmt: skip
_OUT_OF = frozenset(("builtins.next", "builtins.max", "builtins.min", "random.choice", "builtins.anext"))


def element_values(value: PythonValue, place: int = 0) -> Values:
    """Return what iterating over a value gives, or, with place -1, what indexing it gives."""
    if value.tag != BUILTIN_INSTANCE or not value.holds:
        return ()
    if value.id in _ONE:
        return value.holds[0]
    if value.id in _KEYED:
        return value.holds[-1 if place else 0] if len(value.holds) > 1 or not place else ()
    if value.id in ("tuple", "Tuple"):
        found = [held for held in value.holds if held]
        if place:  # which element is not known
            return tuple(dict.fromkeys(one for held in found for one in held))
        return found[0] if found and all(held == found[0] for held in found) else ()
    return ()


def yielded_values(value: PythonValue) -> Values:
    """Return what a generator yields; any other value is returned as it is."""
    return element_values(value) if value.tag == BUILTIN_INSTANCE and value.id in _YIELDED else (value,)


def call_external(name: str, holds: tuple[Values, ...], given: Values) -> Values:
    """Return the result of calling an external function or method."""
    if name in _SAME:
        return given
    if name == "builtins.type":
        return tuple(PythonValue(CLASS, value.id) for value in given if value.tag == INSTANCE)
    if name in _OVER:
        return (PythonValue(BUILTIN_INSTANCE, "list", tuple(element_values(value) for value in given[:1])),)
    if name in _OUT_OF:
        return element_values(given[0]) if given else ()
    if name == "builtins.enumerate":
        pair = PythonValue(BUILTIN_INSTANCE, "tuple", ((), element_values(given[0]) if given else ()))
        return (PythonValue(BUILTIN_INSTANCE, "Iterator", ((pair,),)),)
    if holds and name.startswith("builtins.") and name.count(".") == 2:
        _, kind, last = name.split(".")
        return _of_container(kind, last, holds)
    unsaid = name.endswith("TypeVar") or name in ("builtins.getattr", "builtins.super")
    return () if unsaid else (PythonValue(EXTERNAL, name),)


def _of_container(kind: str, name: str, holds: tuple[Values, ...]) -> Values:
    if kind in _KEYED and len(holds) > 1:
        if name == "items":
            return (
                PythonValue(
                    BUILTIN_INSTANCE, "Iterator", ((PythonValue(BUILTIN_INSTANCE, "tuple", (holds[0], holds[1])),),)
                ),
            )
        if name in ("keys", "values"):
            return (PythonValue(BUILTIN_INSTANCE, "Iterator", (holds[name == "values"],)),)
        if name in ("get", "pop", "setdefault"):
            return holds[1]
    if kind in _ONE and name in ("pop", "popleft", "get", "get_nowait"):
        return holds[0]
    return (
        (PythonValue(BUILTIN_INSTANCE, kind, holds),) if name in ("copy", "union", "difference", "intersection") else ()
    )
