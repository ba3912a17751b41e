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
    elements: tuple[Values, ...] = ()  # the values it holds or gives, by position


Values = tuple[PythonValue, ...]
# new in Python 3.13; added so that every Python version links alike
_NEWER = {"PythonFinalizationError", "_IncompleteInputError"}
_SITE = {"copyright", "credits", "exit", "help", "license", "quit"}
_MODULE = {"__file__", "__name__", "__doc__", "__path__", "__spec__", "reveal_type"}
BUILTIN_NAMES = frozenset(dir(builtins)) | _NEWER | _SITE | _MODULE

# Members of objects that most programs get from libraries: files, matches, threads, processes, sockets, loggers, dates,
# paths, futures, cursors, mocks, caught exceptions and responses of servers. Where nothing is known of the receiver,
# they are no sign of a class of the repository that has a member of the same name.
LIBRARY_MEMBER_NAMES = frozenset(
    ("read", "readline", "readlines", "write", "writelines", "close", "closed", "flush", "seek", "tell", "truncate",
     "fileno", "isatty", "getvalue", "group", "groups", "groupdict", "start", "end", "span", "match", "search",
     "fullmatch", "findall", "finditer", "sub", "acquire", "release", "wait", "notify", "set", "is_set", "run",
     "is_alive", "put", "get_nowait", "put_nowait", "communicate", "kill", "terminate", "poll", "returncode", "stdin",
     "stdout", "stderr", "pid", "send", "sendall", "recv", "connect", "bind", "listen", "accept", "debug", "info",
     "warning", "error", "critical", "exception", "log", "date", "time", "year", "month", "day", "hour", "minute",
     "second", "isoformat", "strftime", "timestamp", "exists", "is_file", "is_dir", "mkdir", "open", "read_text",
     "write_text", "glob", "parent", "stem", "suffix", "resolve", "name", "value", "submit", "result", "shutdown",
     "cancel", "done", "cursor", "execute", "executemany", "fetchone", "fetchall", "commit", "rollback", "add_argument",
     "parse_args", "called", "call_args", "call_count", "return_value", "side_effect", "message", "next", "status_code",
     "headers", "content", "cookies")
)  # fmt: skip

# Types with one kind of element, and those whose first parameter is a key.
_COLLECTION_TYPES = frozenset(
    ("list", "set", "frozenset", "deque", "List", "Set", "FrozenSet", "Deque", "Iterator", "Iterable", "Sequence",
     "MutableSequence", "Collection", "Container", "AbstractSet", "MutableSet", "KeysView", "ValuesView", "Generator",
     "AsyncIterator", "AsyncIterable", "AsyncGenerator", "Reversible", "OrderedSet", "Queue", "Counter")
)  # fmt: skip
_MAPPING_TYPES = frozenset(
    ("dict", "Dict", "defaultdict", "DefaultDict", "OrderedDict", "Mapping", "MutableMapping", "ChainMap", "ItemsView",
     "WeakValueDictionary", "WeakKeyDictionary", "MappingProxyType")
)  # fmt: skip
_SCALAR_TYPES = frozenset(
    ("str", "int", "float", "bool", "bytes", "complex", "bytearray", "slice", "range", "property")
)
_OTHER_TYPES = frozenset(("tuple", "Tuple", "contextmanager", "ContextManager", "AbstractContextManager", "Callable"))
_ITERATOR_TYPES = frozenset(("Iterator", "Iterable", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator"))
MODELLED_TYPES = _COLLECTION_TYPES | _MAPPING_TYPES | _SCALAR_TYPES | _OTHER_TYPES

# Typing forms that are equivalent to their parameters: to all of them (0), or to the first (1).
TYPING_FORMS = {
    "Optional": 0, "Union": 0, "ClassVar": 1, "Final": 1, "Annotated": 1, "Required": 1, "NotRequired": 1,
    "ReadOnly": 1, "Awaitable": 1, "TypeGuard": 1, "InitVar": 1, "Unpack": 1,
}  # fmt: skip

# Functions that return their first argument, or something like it.
_IDENTITY_FUNCTIONS = frozenset(
    ("copy.copy", "copy.deepcopy", "dataclasses.replace", "functools.wraps", "weakref.proxy")
)
_ITERATOR_FUNCTIONS = frozenset(
    ("builtins.iter", "builtins.sorted", "builtins.reversed", "builtins.filter", "itertools.islice", "builtins.list",
     "builtins.set", "builtins.tuple", "builtins.frozenset")
)  # fmt: skip
_WRAPPING_MANAGERS = frozenset(("contextlib.closing", "contextlib.aclosing", "contextlib.nullcontext"))
_ELEMENT_FUNCTIONS = frozenset(("builtins.next", "builtins.max", "builtins.min", "random.choice", "builtins.anext"))


def element_values(value: PythonValue, place: int = 0) -> Values:
    """Return what iterating over a value gives, or, with place -1, what indexing it gives."""
    if value.tag != BUILTIN_INSTANCE or not value.elements:
        return ()
    if value.id in _COLLECTION_TYPES:
        return value.elements[0]
    if value.id in _MAPPING_TYPES:
        return value.elements[-1 if place else 0] if len(value.elements) > 1 or not place else ()
    if value.id in ("tuple", "Tuple"):
        elements = [values for values in value.elements if values]
        if place:  # which element is not known
            return tuple(dict.fromkeys(one for values in elements for one in values))
        return elements[0] if elements and all(values == elements[0] for values in elements) else ()
    return ()


def yielded_values(value: PythonValue) -> Values:
    """Return what a generator yields; any other value is returned as it is."""
    return element_values(value) if value.tag == BUILTIN_INSTANCE and value.id in _ITERATOR_TYPES else (value,)


def call_external(name: str, elements: tuple[Values, ...], arguments: Values) -> Values:
    """Return the result of calling an external function or method."""
    if name in _IDENTITY_FUNCTIONS:
        return arguments
    if name == "builtins.type":
        return tuple(PythonValue(CLASS, value.id) for value in arguments if value.tag == INSTANCE)
    if name in _ITERATOR_FUNCTIONS:
        return (PythonValue(BUILTIN_INSTANCE, "list", tuple(element_values(value) for value in arguments[:1])),)
    if name in _ELEMENT_FUNCTIONS:
        return element_values(arguments[0]) if arguments else ()
    if name in _WRAPPING_MANAGERS:
        return (PythonValue(BUILTIN_INSTANCE, "contextmanager", (arguments,)),)
    if name == "builtins.enumerate":
        pair = PythonValue(BUILTIN_INSTANCE, "tuple", ((), element_values(arguments[0]) if arguments else ()))
        return (PythonValue(BUILTIN_INSTANCE, "Iterator", ((pair,),)),)
    if elements and name.startswith("builtins.") and name.count(".") == 2:
        _, kind, last = name.split(".")
        return _of_container(kind, last, elements)
    unsaid = name.endswith("TypeVar") or name in ("builtins.getattr", "builtins.super")
    return () if unsaid else (PythonValue(EXTERNAL, name),)


def _of_container(kind: str, name: str, elements: tuple[Values, ...]) -> Values:
    if kind in _MAPPING_TYPES and len(elements) > 1:
        if name == "items":
            return (
                PythonValue(
                    BUILTIN_INSTANCE,
                    "Iterator",
                    ((PythonValue(BUILTIN_INSTANCE, "tuple", (elements[0], elements[1])),),),
                ),
            )
        if name in ("keys", "values"):
            return (PythonValue(BUILTIN_INSTANCE, "Iterator", (elements[name == "values"],)),)
        if name in ("get", "pop", "setdefault"):
            return elements[1]
    if kind in _COLLECTION_TYPES and name in ("pop", "popleft", "get", "get_nowait"):
        return elements[0]
    return (
        (PythonValue(BUILTIN_INSTANCE, kind, elements),)
        if name in ("copy", "union", "difference", "intersection")
        else ()
    )
