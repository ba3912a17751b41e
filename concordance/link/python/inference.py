"""Evaluates Python expressions: to a module, a class, an instance, a function, or something external.

In: an expression of a file's flow. Out: a tuple of `PythonValue`s, empty if nothing is known. Annotations take
precedence over assignments; a call evaluates to the function's declared return type, or to what the function returns.

Values that depend on one another in a cycle are computed together (see `solver`), so that a value does not depend on
what was asked before.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, repeat, zip_longest

from concordance.base.model import Kind, Op, SymbolRelation
from concordance.link.python.builtin_types import (
    BUILTIN_CLASS,
    BUILTIN_INSTANCE,
    BUILTIN_NAMES,
    CLASS,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MODELLED_TYPES,
    MODULE,
    SUPER,
    TYPING_FORMS,
    PythonValue,
    Values,
    call_external,
    element_values,
    yielded_values,
)
from concordance.link.python.classes import Answer, ClassTable, Question
from concordance.link.python.fixtures import Fixtures
from concordance.link.python.reexports import Place
from concordance.link.solver import Solver
from concordance.link.world import LoadedFlow

_MAX_VALUES = 6  # values of one name; with more, it could be anything
_MAX_NESTING = 2  # nesting of containers in the values of a cycle
_PROPERTY = (PythonValue(BUILTIN_INSTANCE, "property"),)


class Evaluator:
    """Evaluates expressions, each once."""

    def __init__(self, classes: ClassTable) -> None:
        self.classes = classes
        self._solver: Solver[Question, Answer] = Solver(self._answer, self._store, (), _advance)
        self._types: dict[tuple[int, int], Values] = {}
        classes.connect(self.value, self._solver)
        self.world = classes.world
        self.fixtures = Fixtures(classes)

    def value(self, file: LoadedFlow, expression: int) -> Values:
        """Return an expression's value."""
        values: Values | None = file.results[expression]
        return values if values is not None else self._solver.ask((file, expression))

    def instances_of_type(self, file: LoadedFlow, expression: int) -> Values:
        """Return a value of the type that an expression names."""
        values = self._types.get((file.number, expression))
        return values if values is not None else self._solver.ask((file, ~expression))

    def _answer(self, question: Question) -> Answer:
        file, what = question
        if file is None:
            return self.classes.find_bases(what)
        if what < 0:
            return self._find_instances_of_type(file, ~what)
        return _EVALUATORS[file.op[what]](self, file, file.left[what], file.right[what])

    def _store(self, question: Question, answer: Answer) -> None:
        file, what = question
        if file is None:
            self.classes.store_bases(what, answer)
        elif what < 0:
            self._types[file.number, ~what] = answer
        else:
            file.results[what] = answer

    # --- Names

    def _unknown(self, file: LoadedFlow, left: int, right: int) -> Values:
        return ()

    def _name(self, file: LoadedFlow, left: int, right: int) -> Values:
        bound = file.values[left]
        if bound and all(
            file.op[value] == Op.SYMBOL and file.kind(file.left[value]) == Kind.PROPERTY for value in bound
        ):
            return _PROPERTY  # in the class body, the name is the property object, not what it returns
        return self.variable(file, left)

    def variable(self, file: LoadedFlow, variable: int) -> Values:
        """Return the value of a variable: of its declared type, else everything bound to it."""
        bound = file.values[variable]
        declared = [value for value in bound if file.op[value] == Op.OF_TYPE]
        for value in declared:
            values = self.value(file, value)
            if values:
                return values
        return _join_values([self.value(file, value) for value in bound])

    def _lookup(self, file: LoadedFlow, left: int, right: int) -> Values:
        name = file.names[left]
        place = self.classes.reexports.star_import_target(file, name)
        if place is not None:
            return self.value_at(place)
        if name in MODELLED_TYPES:
            return (PythonValue(BUILTIN_CLASS, name),)
        return (PythonValue(EXTERNAL, f"builtins.{name}"),) if name in BUILTIN_NAMES else ()

    def _symbol(self, file: LoadedFlow, left: int, right: int) -> Values:
        return self.of_symbol(file, left)

    def of_symbol(self, file: LoadedFlow, symbol: int) -> Values:
        """Return the value of what a symbol defines."""
        kind = file.kind(symbol)
        if kind in (Kind.FUNCTION, Kind.METHOD):
            return (PythonValue(FUNCTION, file.id(symbol)),)
        if kind == Kind.CLASS:
            return (PythonValue(CLASS, file.id(symbol)),)
        if kind == Kind.PROPERTY:
            return self.return_values(file, symbol)
        scope = file.scope_of_symbol.get(file.symbol_parent[symbol] - 1, 0) if file.symbol_parent[symbol] else 0
        variable = file.variables.get((scope, file.symbol_name[symbol]))
        return self.variable(file, variable) if variable is not None else ()

    def value_at(self, place: Place) -> Values:
        """Return the value at a resolved place."""
        if isinstance(place, str):
            last = place.rpartition(".")[2]
            return (PythonValue(BUILTIN_CLASS, last),) if last in MODELLED_TYPES else (PythonValue(EXTERNAL, place),)
        file, symbol = place
        return (PythonValue(MODULE, file.number),) if symbol < 0 else self.of_symbol(file, symbol)

    def _import(self, file: LoadedFlow, left: int, right: int) -> Values:
        place = self.classes.reexports.import_target(file, left)
        return self.value_at(place) if place is not None else ()

    def _package(self, file: LoadedFlow, left: int, right: int) -> Values:
        place = self.classes.reexports.package(file, left, right)
        return self.value_at(place) if place is not None else ()

    # --- Members

    def _member(self, file: LoadedFlow, left: int, right: int) -> Values:
        name = file.names[right]
        return _join_values([self.member(value, name) for value in self.value(file, left)])

    def member(self, value: PythonValue, name: str) -> Values:
        """Return the value of a value's member."""
        if value.tag == EXTERNAL:
            return (PythonValue(EXTERNAL, f"{value.id}.{name}"),)
        if value.tag == BUILTIN_INSTANCE:
            return (PythonValue(EXTERNAL, f"builtins.{value.id}.{name}", value.elements),)
        if value.tag == INSTANCE and name == "__class__":
            return (PythonValue(CLASS, value.id),)
        place = self.find_member(value, name)
        if place is None:
            return ()
        values = self.value_at(place)
        if value.tag in (INSTANCE, SUPER) and len(values) == 1 and values[0].tag == FUNCTION:
            return (PythonValue(FUNCTION, values[0].id, ((value,),)),)  # a bound method carries its receiver
        return values

    def find_member(self, value: PythonValue, name: str) -> Place | None:
        """Return where a value's member is defined."""
        if value.tag == MODULE and isinstance(value.id, int):
            return self.classes.reexports.exported(self.world.load(value.id), name)
        if value.tag in (CLASS, INSTANCE) and isinstance(value.id, int):
            return self.classes.member(value.id, name)
        if value.tag == SUPER and isinstance(value.id, int):
            return self.classes.member(value.id, name, skip=1)
        return None

    def _super(self, file: LoadedFlow, left: int, right: int) -> Values:
        return (PythonValue(SUPER, file.id(left - 1)),) if left else ()

    def _parameter(self, file: LoadedFlow, left: int, right: int) -> Values:
        """Evaluate a parameter: a method's first is its instance or class; a test's are filled by fixtures."""
        owner = file.symbol_parent[left] - 1
        if right or owner < 0 or file.kind(owner) != Kind.CLASS:
            fixture = self.fixtures.of_parameter(file, left, right)
            return (
                _join_values([yielded_values(value) for value in self.return_values(*fixture)])
                if fixture is not None
                else ()
            )
        decorators = {
            self.classes.last_name(file, value) for value in file.related_expressions(left, SymbolRelation.DECORATOR)
        }
        if "staticmethod" in decorators:
            return ()
        of_class = "classmethod" in decorators or file.names[file.symbol_name[left]] in ("__new__", "__init_subclass__")
        return (PythonValue(CLASS if of_class else INSTANCE, file.id(owner)),)

    # --- Calls

    def _call(self, file: LoadedFlow, left: int, right: int) -> Values:
        arguments = self.value(file, right - 1) if right else ()
        return _join_values([self.call_result(value, arguments, file, right) for value in self.value(file, left)])

    def call_result(self, value: PythonValue, arguments: Values, file: LoadedFlow, argument: int) -> Values:
        """Return the result of a call."""
        if value.tag == CLASS:
            return (PythonValue(INSTANCE, value.id),)
        if value.tag == FUNCTION and isinstance(value.id, int):
            owner, symbol = self.world.owner(value.id)
            values = self.return_values(owner, symbol)
            on = value.elements[0] if value.elements else ()
            if (on or (arguments and not values)) and self._returns_first(owner, symbol):
                values = on or arguments
            return self._context_manager(owner, symbol, values)
        if value.tag == INSTANCE:
            place = self.find_member(value, "__call__")
            return (
                _join_values([self.call_result(v, (), file, 0) for v in self.value_at(place)])
                if place is not None
                else ()
            )
        if value.tag == BUILTIN_CLASS:
            return (PythonValue(BUILTIN_INSTANCE, value.id, tuple(element_values(v) for v in arguments[:1])),)
        if value.tag == EXTERNAL and isinstance(value.id, str):
            if value.id in ("typing.cast", "typing_extensions.cast") and argument:
                return self.instances_of_type(file, argument - 1)
            return call_external(value.id, value.elements, arguments)
        return ()

    def _returns_first(self, file: LoadedFlow, symbol: int) -> bool:
        """True if a function returns its first argument, a method its receiver: by `Self`, or `return self`."""
        for value in file.related_expressions(symbol, SymbolRelation.RETURNS):
            if file.op[value] == Op.OF_TYPE:
                if self.classes.last_name(file, file.left[value]) == "Self":
                    return True
            elif file.op[value] == Op.NAME:
                bound = file.values[file.left[value]]
                if bound and all(file.op[b] == Op.PARAMETER and not file.right[b] for b in bound):
                    return True
        return False

    def _context_manager(self, file: LoadedFlow, symbol: int, returned: Values) -> Values:
        """Return a context manager that holds what the function yields, if a decorator makes it one."""
        for value in file.related_expressions(symbol, SymbolRelation.DECORATOR):
            if self.classes.last_name(file, value) in ("contextmanager", "asynccontextmanager"):
                return (
                    PythonValue(
                        BUILTIN_INSTANCE, "contextmanager", (_join_values([element_values(v) for v in returned]),)
                    ),
                )
        return returned

    def return_values(self, file: LoadedFlow, symbol: int) -> Values:
        """Return what a function is declared to return, or what it returns."""
        return _join_values(
            [self.value(file, value) for value in file.related_expressions(symbol, SymbolRelation.RETURNS)]
        )

    # --- Containers

    def _item(self, file: LoadedFlow, left: int, right: int) -> Values:
        items: list[Values] = []
        for value in self.value(file, left):
            if value.tag in (CLASS, BUILTIN_CLASS, EXTERNAL):
                items.append((value,))  # a class with type parameters
            else:
                items.append(self._special(value, "__getitem__") or element_values(value, -1))
        return _join_values(items)

    def _special(self, value: PythonValue, name: str) -> Values:
        """Return the result of a special method."""
        if value.tag != INSTANCE:
            return ()
        return _join_values([self.call_result(v, (), self.world.load(0), 0) for v in self.member(value, name)])

    def _element(self, file: LoadedFlow, left: int, right: int) -> Values:
        return _join_values([self._elements_of(value) for value in self.value(file, left)])

    def _elements_of(self, value: PythonValue) -> Values:
        if value.tag != INSTANCE:
            return element_values(value)
        for name in ("__iter__", "__aiter__"):
            for over in self._special(value, name):
                return self._special(over, "__next__") or self._special(over, "__anext__") or element_values(over)
        return self._special(value, "__getitem__")

    def _part(self, file: LoadedFlow, left: int, right: int) -> Values:
        parts = []
        for value in self.value(file, left):
            if value.tag == BUILTIN_INSTANCE and value.id == "tuple":
                parts.append(value.elements[right] if right < len(value.elements) else ())
            else:
                parts.append(self._elements_of(value))
        return _join_values(parts)

    def _enter(self, file: LoadedFlow, left: int, right: int) -> Values:
        entered = []
        for value in self.value(file, left):
            if value.tag == BUILTIN_INSTANCE and value.id == "contextmanager":
                entered.append(value.elements[0] if value.elements else ())
            elif value.tag == INSTANCE:
                entered.append(self._special(value, "__enter__") or self._special(value, "__aenter__"))
            elif value.tag == EXTERNAL:
                entered.append((value,))  # `with open(…) as f`: what it is, is not known, but it is from outside
        return _join_values(entered)

    def _either_value(self, file: LoadedFlow, left: int, right: int) -> Values:
        return _join_values([self.value(file, left), self.value(file, right)])

    def _literal(self, file: LoadedFlow, left: int, right: int) -> Values:
        name = file.names[left]
        if not right:
            return (PythonValue(BUILTIN_INSTANCE, name),)
        if name in ("tuple", "dict"):
            return (
                PythonValue(
                    BUILTIN_INSTANCE, name, tuple(self.value(file, part) for part in _pair_parts(file, right - 1))
                ),
            )
        return (PythonValue(BUILTIN_INSTANCE, name, (self.value(file, right - 1),)),)

    # --- Types

    def _of_type(self, file: LoadedFlow, left: int, right: int) -> Values:
        return self.instances_of_type(file, left)

    def _find_instances_of_type(self, file: LoadedFlow, expression: int) -> Values:
        op, left, right = file.op[expression], file.left[expression], file.right[expression]
        if op == Op.EITHER:
            return _join_values([self.instances_of_type(file, left), self.instances_of_type(file, right)])
        if op == Op.ITEM:
            return self._parameterised(file, left, _pair_parts(file, right - 1) if right else [])
        if op in (Op.LITERAL, Op.CALL, Op.UNKNOWN):
            return ()
        alias = self.classes.alias(file, expression)
        if alias is not None:
            return _join_values([self.instances_of_type(alias[0], value) for value in alias[1]])
        return _join_values([_instance_of(value) for value in self.value(file, expression)])

    def _parameterised(self, file: LoadedFlow, base: int, parts: list[int]) -> Values:
        """Return a value of a type with parameters."""
        name = self.classes.last_name(file, base)
        if name in TYPING_FORMS:
            wanted = parts[:1] if TYPING_FORMS[name] == 1 else parts
            return _join_values([self.instances_of_type(file, part) for part in wanted])
        if name in ("Type", "type"):
            return tuple(
                PythonValue(CLASS, v.id) for p in parts for v in self.instances_of_type(file, p) if v.tag == INSTANCE
            )
        elements = tuple(self.instances_of_type(file, part) for part in parts)
        return _join_values([_instance_of(value, elements) for value in self.value(file, base)])


def _instance_of(value: PythonValue, elements: tuple[Values, ...] = ()) -> Values:
    """Return an instance of a class."""
    if value.tag == CLASS:
        return (PythonValue(INSTANCE, value.id, elements),)
    if value.tag == BUILTIN_CLASS:
        return (PythonValue(BUILTIN_INSTANCE, value.id, elements),)
    if value.tag == EXTERNAL and isinstance(value.id, str):
        last = value.id.rpartition(".")[2]
        if last in MODELLED_TYPES:
            return (PythonValue(BUILTIN_INSTANCE, last, elements),)
        return () if last in ("Any", "TypeVar", "Self", "object") else (value,)
    return ()


def _pair_parts(file: LoadedFlow, expression: int) -> list[int]:
    """Return the expressions of a sequence of pairs."""
    parts = []
    while file.op[expression] == Op.PAIR:
        parts.append(file.left[expression])
        if not file.right[expression]:
            return parts
        expression = file.right[expression] - 1
    return [*parts, expression]


def _join_values(many: list[Values]) -> Values:
    if len(many) == 1:
        return many[0]
    joined = tuple(dict.fromkeys(value for values in many for value in values))
    # many values may be few containers of many kinds
    return joined if len(joined) <= _MAX_VALUES else _merge_values((), joined, _MAX_NESTING)


def _advance(old: Answer, new: Answer) -> Answer:
    """Return the next value in a cycle, in a form that cannot keep changing.

    Earlier values come first; containers of one type are merged into one, to a limited depth (`x = [x]`); and external
    values that are members of another are dropped (`x = x.next`).
    """
    return _merge_values(old, new, _MAX_NESTING) if new and isinstance(new[0], PythonValue) else new


def _merge_values(old: Values, new: Values, depth: int) -> Values:
    had = {(value.tag, value.id): value.elements for value in old}
    same: dict[tuple[int, int | str], list[tuple[Values, ...]]] = {key: [] for key in had}
    for value in new:
        same.setdefault((value.tag, value.id), []).append(value.elements)
    outer = [f"{id_}." for (tag, id_), holds in same.items() if tag == EXTERNAL and holds]
    merged = []
    for (tag, id_), holds in same.items():
        if holds and not (tag == EXTERNAL and any(str(id_).startswith(name) for name in outer)):
            places = zip_longest(*holds, fillvalue=()) if depth else ()
            before = chain(had.get((tag, id_), ()), repeat(()))
            joined = [tuple(value for values in place for value in values) for place in places]
            elements = [_merge_values(was, now, depth - 1) for was, now in zip(before, joined, strict=False)]
            merged.append(PythonValue(tag, id_, tuple(elements)))
    return tuple(merged) if len(merged) <= _MAX_VALUES else ()


_EVALUATORS: dict[int, Callable[[Evaluator, LoadedFlow, int, int], Values]] = {
    Op.UNKNOWN: Evaluator._unknown, Op.NAME: Evaluator._name, Op.MEMBER: Evaluator._member, Op.CALL: Evaluator._call,
    Op.ITEM: Evaluator._item, Op.EACH: Evaluator._element, Op.PART: Evaluator._part, Op.ENTER: Evaluator._enter,
    Op.EITHER: Evaluator._either_value, Op.OF_TYPE: Evaluator._of_type, Op.LITERAL: Evaluator._literal,
    Op.PAIR: Evaluator._unknown, Op.SUPER: Evaluator._super, Op.PARAMETER: Evaluator._parameter,
    Op.SYMBOL: Evaluator._symbol, Op.IMPORT: Evaluator._import, Op.PACKAGE: Evaluator._package,
    Op.LOOKUP: Evaluator._lookup, Op.CAST: Evaluator._unknown,
}  # fmt: skip
