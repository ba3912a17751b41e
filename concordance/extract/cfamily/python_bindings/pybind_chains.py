"""pybind11 and nanobind: what a file binds in chains of `.def(…)` on modules and classes.

In: the tokens of a file, and the modules and classes that its variables hold. Out: `BridgeEnd`s; for a lambda, also
those of the functions that it calls. A Python name that is not a string literal is unknown and yields nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.extract.bridges import BridgeEnd
from concordance.extract.cfamily.python_bindings.bound_objects import BoundObject, BoundObjects
from concordance.extract.cfamily.tokens import TokenRange, Tokens

_FUNCTIONS = frozenset(("def", "def_static", "def_readwrite", "def_readonly", "def_readwrite_static", 
                        "def_readonly_static", "def_rw", "def_ro", "def_rw_static", "def_ro_static"))  # fmt: skip
_PROPERTIES = frozenset(("def_property", "def_property_readonly", "def_property_static", "def_property_readonly_static",
                         "def_prop_rw", "def_prop_ro", "def_prop_rw_static", "def_prop_ro_static"))  # fmt: skip
_FIELDS = frozenset(
    function for function in _FUNCTIONS if "read" in function or function.startswith(("def_rw", "def_ro"))
)
_NO_CALLS = frozenset((
    "if", "for", "while", "switch", "return", "sizeof", "catch", "throw", "move", "forward", "get", "make_tuple",
    "make_pair", "static_cast", "reinterpret_cast", "dynamic_cast", "const_cast", "decltype",
    "alignof", "noexcept", "typeid",
    "defined",
))  # fmt: skip
_MOST_CALLS = 8  # a lambda with more calls does more than wrap a function


class PybindChains:
    """Collects what chains of calls bind."""

    def __init__(self, tokens: Tokens, objects: BoundObjects) -> None:
        self._tokens, self._objects = tokens, objects
        self.ends: list[BridgeEnd] = []
        self._lambdas: dict[tuple[BoundObject, str], int] = {}
        self._recorded_calls: set[int] = set()

    def record_call(self, owner: BoundObject, name: int, opened: int) -> None:
        """Record the binding made by a call on an object, once per call."""
        if name in self._recorded_calls:
            return
        self._recorded_calls.add(name)
        tokens, word = self._tokens, self._tokens.text[name]
        arguments = tokens.within(opened)
        if word == "export_values" or not arguments:
            if word == "export_values":
                self._record(name, "exports", owner, "", ".".join(owner.path))
            return
        text = self._objects.label(arguments[0])
        if text is None:
            if word == "def" and owner.kind != "module":
                self._constructor(owner, arguments[0])
        elif not text.isidentifier() and "{" not in text:
            return  # a name that is filled in at run time, or that only getattr() can reach
        elif word == "def_submodule":
            self._record(arguments[0][0], "binds", owner, text, "module", "module")
        elif word == "value" and owner.kind == "enum" and len(arguments) > 1:
            self._bind(owner, text, arguments[1], arguments[0], "value")
        elif word in _FUNCTIONS and len(arguments) > 1:
            self._bind(owner, text, arguments[1], arguments[0], "field" if word in _FIELDS else "function")
        elif word in _PROPERTIES:
            read_only = "readonly" in word or "_ro" in word
            for place, kind in ((1, "getter"), (2, "setter"))[: 1 if read_only else 2]:
                if place < len(arguments) and self._may_bind(arguments[place]):
                    self._bind(owner, text, arguments[place], arguments[0], kind)

    def record_class(self, owner: BoundObject) -> None:
        """Record a class or enumeration under its name."""
        if owner.of >= 0:
            enclosing = owner._replace(path=owner.path[:-1])
            self._record(owner.of, "binds", enclosing, owner.path[-1], qualified_name(self._tokens, owner.of), "class")

    def _record(
        self, place: int, says: str, owner: BoundObject, name: str, text: str, kind: str = "", which: str = ""
    ) -> None:
        path = ".".join((*owner.path, name) if name else owner.path)
        more = tuple((key, value) for key, value in (("in", owner.root), ("as", kind), ("lambda", which)) if value)
        self.ends.append(BridgeEnd(self._tokens.at[place], says, path, text, more))

    def _may_bind(self, stretch: TokenRange) -> bool:
        """True if an argument can be a function, not documentation, `py::arg` or a policy."""
        tokens = self._tokens
        if tokens.literal(stretch) is not None or tokens.text[stretch[0]] == "nullptr":
            return False
        words = {tokens.text[place] for place in range(stretch[0], min(stretch[0] + 4, stretch[1]))}
        return words.isdisjoint(("arg", "return_value_policy", "rv_policy", "call_guard", "keep_alive", "sig"))

    def _constructor(self, owner: BoundObject, stretch: TokenRange) -> None:
        tokens, (start, end) = self._tokens, stretch
        names = [place for place in range(start, min(start + 3, end)) if tokens.kind[place] == "name"]
        if not names or tokens.text[names[-1]] not in ("init", "init_implicit") or owner.of < 0:
            return
        behind = names[-1] + 1
        if tokens.is_(behind, "<"):
            self._record(owner.of, "binds", owner, "__init__", tokens.text[owner.of], "constructor")
        elif tokens.is_(behind, "("):
            arguments = tokens.within(behind)
            if arguments:
                self._bind(owner, "__init__", arguments[0], (names[-1], behind), "function")
            else:
                self._record(owner.of, "binds", owner, "__init__", tokens.text[owner.of], "constructor")

    def _bind(self, owner: BoundObject, name: str, value: TokenRange, literal: TokenRange, kind: str) -> None:
        tokens = self._tokens
        body = self._lambda(value)
        if body is not None:
            count = self._lambdas[owner, name] = self._lambdas.get((owner, name), 0) + 1
            self._record(literal[0], "binds", owner, name, "lambda", kind, str(count))
            calls = {tokens.text[place]: place for place in self._calls(body)}
            for place in calls.values() if len(calls) <= _MOST_CALLS else ():
                self._record(place, "wraps", owner, name, qualified_name(tokens, place), kind, str(count))
            return
        place = pointed_function(tokens, value)
        if place >= 0:
            self._record(place, "binds", owner, name, qualified_name(tokens, place), kind)

    def _lambda(self, stretch: TokenRange) -> TokenRange | None:
        """Return the body of the lambda that an argument contains, None if it contains none."""
        tokens = self._tokens
        for place in range(*stretch):
            if tokens.text[place] == "[" and place + 1 < stretch[1]:
                before = tokens.text[place - 1]
                if place == stretch[0] or before in ("(", ",", "="):
                    for inner in range(tokens.closed(place), stretch[1]):
                        if tokens.text[inner] == "{" and tokens.partner[inner] > 0:
                            return inner + 1, tokens.partner[inner]
                    return place, place
        return None

    def _calls(self, body: TokenRange) -> Iterator[int]:
        """Yield the tokens of the functions that a range calls."""
        tokens = self._tokens
        for place in tokens.names(body):
            behind = place + 1
            if tokens.is_(behind, "<"):
                behind = max(behind, tokens.template(behind))
            if tokens.is_(behind, "(") and tokens.text[place] not in _NO_CALLS:
                yield place


def pointed_function(tokens: Tokens, stretch: TokenRange) -> int:
    """Return the token of the function or member that an expression points at; -1 if there is none.

    It is the name after the last `&`, or else the last name; for a template instance, the template's name.
    """
    start, end = stretch
    marked = [
        place
        for place in range(start, end)
        if tokens.text[place] == "&"
        and tokens.is_name(_skipped(tokens, place + 1))
        and (place == start or tokens.text[place - 1] in ("(", ",", ")", "<", ">"))
    ]
    if marked:
        place = _skipped(tokens, marked[-1] + 1)
        while tokens.is_(place + 1, "::") and tokens.is_name(place + 2) and place + 2 < end:
            place += 2
        while tokens.is_(place + 1, "<"):  # &Class<T>::method
            behind = tokens.template(place + 1)
            if behind < 0 or not tokens.is_(behind, "::") or not tokens.is_name(behind + 1) or behind + 1 >= end:
                break
            place = behind + 1
        return place
    function_place, place = -1, start
    while place < end:
        if tokens.kind[place] == "name":
            function_place = place
            behind = tokens.template(place + 1) if tokens.is_(place + 1, "<") else -1
            if 0 < behind <= end:
                place = behind - 1
        place += 1
    return function_place


def qualified_name(tokens: Tokens, place: int) -> str:
    """Return a name with its qualifiers: `a::b::f`."""
    words = [tokens.text[place]]
    if words[0] == "operator":
        end = place + 1
        while end < len(tokens) and tokens.kind[end] == "sign" and tokens.text[end] not in (",", ";", "{"):
            if tokens.text[end] == ")" and tokens.text[end - 1] != "(":
                break
            words[0] += tokens.text[end]
            end += 1
    while tokens.is_(place - 1, "::") and tokens.is_name(place - 2):
        place -= 2
        words.insert(0, tokens.text[place])
    return "::".join(words)


def _skipped(tokens: Tokens, place: int) -> int:
    return place + 1 if tokens.is_(place, "::") else place
