"""The standard library's containers and pointers, as far as they lead from one type of the repository to another.

`std::vector<Node*> nodes; nodes[0]->name` names a member of Node: no file of the repository says so, the
language's standard does.
"""

from __future__ import annotations

from concordance.link.cfamily.scopes import Home, Type

POINTERS = frozenset((
    "shared_ptr", "unique_ptr", "weak_ptr", "optional", "reference_wrapper", "auto_ptr", "atomic", "propagate_const",
    "iterator", "const_iterator",
))  # fmt: skip
_SEQUENCES = frozenset((
    "vector", "array", "deque", "list", "forward_list", "set", "multiset", "unordered_set", "unordered_multiset",
    "initializer_list", "span", "valarray", "queue", "stack", "priority_queue",
))  # fmt: skip
_MAPS = frozenset(("map", "multimap", "unordered_map", "unordered_multimap"))
_OTHERS = frozenset(("pair", "tuple", "function", "future", "promise", "shared_future", "variant"))
ELEMENT = frozenset((
    "at", "front", "back", "value", "get", "lock", "top", "load", "value_or", "data", "begin", "end", "cbegin", "cend",
    "rbegin", "rend", "find", "emplace_back", "release", "operator*", "lower_bound", "upper_bound",
))  # fmt: skip
PARTS = {"first": 0, "second": 1}


class Outside:
    """Homes of types that no file of the repository defines."""

    def __init__(self) -> None:
        names = POINTERS | _SEQUENCES | _MAPS | _OTHERS
        self.homes = {name: Home(name, None, True) for name in names}

    def named(self, name: str) -> Type | None:
        """The type of a name."""
        home = self.homes.get(name)
        return (home, ()) if home is not None else None

    def element(self, value: Type, each: bool) -> Type | None:
        """What a subscript, a loop or a look into it gives."""
        home, args = value[0], value[1]
        if not args:
            return None
        if home.name in _MAPS:
            if each:
                return (self.homes["pair"], args[:2])
            return args[1] if len(args) > 1 else None
        if home.name in _OTHERS and home.name not in ("future", "shared_future"):
            return None
        first: Type | None = args[0]
        return first
