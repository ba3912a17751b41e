"""Bases and members of Python classes.

In: a class and a name. Out: a `Place`: a symbol of a file, a file itself, or the dotted name of something outside the
repository. Classes are searched in Python's method resolution order (C3).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

from concordance.base.model import Kind, Op, SymbolRelation
from concordance.link.python.builtin_types import CLASS, EXTERNAL, MODULE, Values
from concordance.link.python.reexports import Place, ReexportResolver
from concordance.link.solver import Solver
from concordance.link.world import LinkWorld, LoadedFlow

Order = list[tuple[LoadedFlow, int]]
_WITHOUT_ATTRIBUTES = ("abc.", "builtins.", "enum.", "typing.", "typing_extensions.")  # or with few and known ones
_MAX_ANCESTORS = 200  # ancestors of a class; nobody writes a class with more

# A question to the solver: the value of a file's expression, its type (with the expression's complement), or the bases
# of a class (with its id, and no file).
Question = tuple[LoadedFlow | None, int]
Answer = tuple[Any, ...]  # `Values`, or ids of classes


class ClassTable:
    """Bases and members of classes, each computed once."""

    def __init__(self, world: LinkWorld) -> None:
        self.world = world
        self.reexports = ReexportResolver(world)
        self._bases: dict[int, tuple[int, ...]] = {}
        self._members: dict[tuple[int, str, int], Place | None] = {}

    def connect(self, evaluate: Callable[[LoadedFlow, int], Values], solver: Solver[Question, Answer]) -> None:
        """Connect the evaluator of expressions: bases depend on the values of expressions, and values on bases."""
        self.evaluate, self._solver = evaluate, solver
        self._orders = MethodOrders(self.world, self.bases, lambda: solver.provisional)

    # --- Names of expressions

    def last_name(self, file: LoadedFlow, expression: int) -> str:
        """Return the last name of an expression, as written where it was defined: `List` for `typing.List[int]`."""
        op, left, right = file.op[expression], file.left[expression], file.right[expression]
        if op == Op.MEMBER:
            return file.names[right]
        if op == Op.LOOKUP:
            return file.names[left]
        if op in (Op.CALL, Op.ITEM):
            return self.last_name(file, left)
        if op == Op.NAME:
            for value in file.values[left]:
                if file.op[value] == Op.IMPORT:
                    row = file.flow.imports[file.left[value]]
                    return row.name or row.module.rpartition(".")[2]
            return file.names[file.variable_name[left]]
        return ""

    def alias(self, file: LoadedFlow, expression: int) -> tuple[LoadedFlow, list[int]] | None:
        """Return the file and the values that a type alias is bound to; None if the expression is not an alias."""
        place: Place | None = None
        if file.op[expression] == Op.NAME:
            place = self.reexports.of_variable(file, file.left[expression])
        elif file.op[expression] == Op.MEMBER:
            for value in self.evaluate(file, file.left[expression]):
                if value.tag == MODULE and isinstance(value.id, int):
                    place = self.reexports.exported(self.world.load(value.id), file.names[file.right[expression]])
        if place is None or isinstance(place, str) or place[1] < 0:
            return None
        owner, symbol = place
        if owner.kind(symbol) not in (Kind.VARIABLE, Kind.CONSTANT, Kind.TYPE) or owner.symbol_parent[symbol]:
            return None
        variable = owner.variables.get((0, owner.symbol_name[symbol]))
        if variable is None:
            return None
        return owner, [value for value in owner.values[variable] if owner.op[value] != Op.SYMBOL]

    # --- Classes

    def bases(self, file: LoadedFlow, symbol: int) -> tuple[int, ...]:
        """Return the ids of a class's bases that are in the repository."""
        identity = file.id(symbol)
        bases = self._bases.get(identity)
        return bases if bases is not None else self._solver.ask((None, identity))

    def store_bases(self, identity: int, bases: tuple[int, ...]) -> None:
        """Store the bases of a class."""
        self._bases[identity] = bases

    def find_bases(self, identity: int) -> tuple[int, ...]:
        """Compute the bases of a class."""
        file, symbol = self.world.owner(identity)
        bases = list[int]()
        for value in file.related_expressions(symbol, SymbolRelation.BASE):
            classes = [v.id for v in self.evaluate(file, value) if v.tag == CLASS and isinstance(v.id, int)]
            bases += [base for base in classes if base != identity][:1]
        return tuple(bases)

    def has_outside_base(self, identity: int) -> bool:
        """True if a class inherits attributes from a class outside the repository."""
        return any(
            base.tag == EXTERNAL and not str(base.id).startswith(_WITHOUT_ATTRIBUTES)
            for file, symbol in self.order(identity)
            for value in file.related_expressions(symbol, SymbolRelation.BASE)
            for base in self.evaluate(file, value)
        )

    def order(self, identity: int) -> Order:
        """Return a class and its ancestors, in the order in which Python searches them."""
        return self._orders.of(identity)

    def member(self, identity: int, name: str, skip: int = 0) -> Place | None:
        """Return where a class's member is defined."""
        key = (identity, name, skip)
        if key in self._members:
            return self._members[key]
        before = self._solver.provisional
        place = self._find_member(identity, name, skip)
        if self._solver.provisional == before:
            self._members[key] = place
        return place

    def _find_member(self, identity: int, name: str, skip: int) -> Place | None:
        for file, symbol in self.order(identity)[skip:]:
            word = file.name_index.get(name)
            members = file.members.get(symbol, {}).get(word) if word is not None else None
            if members:
                return file, members[0]
            scope = file.scope_of_symbol.get(symbol)
            variable = file.variables.get((scope, word)) if word is not None and scope is not None else None
            if variable is not None and not file.variable_symbol[variable]:
                place = self.reexports.of_variable(file, variable)
                if place is not None:
                    return place
        return None


# --- Method resolution order


class MethodOrders:
    """Method resolution orders of classes, by their ids.

    Bases are merged as in Python (C3); in a cycle of classes, which Python would reject, the nearest come first. The
    obvious recursion over bases fails, because a chain of classes can be longer than Python's stack. Instead, all
    ancestors are collected first and ordered from the top down, which also gives the order of every ancestor.
    """

    def __init__(
        self, world: LinkWorld, bases: Callable[[LoadedFlow, int], Iterable[int]], provisional_count: Callable[[], int]
    ) -> None:
        """`bases` returns the bases of a class; `provisional_count` counts how often these were only provisional."""
        self.world, self._bases, self._provisional_count = world, bases, provisional_count
        self._orders: dict[int, Order] = {}
        self._cyclic: set[int] = set()  # classes in a cycle of bases, or derived from such a class

    def of(self, identity: int) -> Order:
        """Return a class and its ancestors in order."""
        order = self._orders.get(identity)
        return order if order is not None else self._compute_order(identity)

    def _compute_order(self, identity: int) -> Order:
        above, provisional = self._collect_ancestors(identity)
        waits = {class_id: sum(base in above for base in bases) for class_id, bases in above.items()}
        below: dict[int, list[int]] = {}
        for class_id, bases in above.items():
            for base in bases:
                below.setdefault(base, []).append(class_id)
        ready = [class_id for class_id, count in waits.items() if not count]
        orders: dict[int, Order] = {}
        for class_id in ready:  # grows during the loop
            bases = above[class_id]
            if not self._cyclic.isdisjoint(bases):
                self._cyclic.add(class_id)
            if not provisional.isdisjoint(bases):
                provisional.add(class_id)
            orders[class_id] = (
                self._nearest_first(class_id, above)
                if class_id in self._cyclic
                else self._merge_bases(class_id, bases, orders)
            )
            for other in below.get(class_id, ()):
                waits[other] -= 1
                if not waits[other]:
                    ready.append(other)
        cyclic = above.keys() - orders.keys()  # what is left waits for itself
        orders.update((class_id, self._nearest_first(class_id, above)) for class_id in cyclic)
        if provisional:  # whether it really is a cycle may only be known later
            provisional |= cyclic
            self._cyclic -= provisional
        else:
            self._cyclic |= cyclic
        self._orders.update((class_id, order) for class_id, order in orders.items() if class_id not in provisional)
        return orders[identity]

    def _collect_ancestors(self, identity: int) -> tuple[dict[int, list[int]], set[int]]:
        """Return the ancestors whose order is not known yet, with their bases; and those with provisional bases."""
        above: dict[int, list[int]] = {}
        provisional = set[int]()
        waiting = [identity]
        while waiting:
            class_id = waiting.pop()
            if class_id not in above and class_id not in self._orders:
                before = self._provisional_count()
                above[class_id] = list(dict.fromkeys(self._bases(*self.world.owner(class_id))))
                if self._provisional_count() != before:
                    provisional.add(class_id)
                waiting += above[class_id]
        return above, provisional

    def _merge_bases(self, identity: int, bases: list[int], orders: dict[int, Order]) -> Order:
        lists = [orders[base] if base in orders else self._orders[base] for base in bases]
        owner = self.world.owner(identity)
        if len(lists) == 1:
            return [owner, *lists[0][:_MAX_ANCESTORS]]
        return [owner, *_merge_c3([*lists, [self.world.owner(base) for base in bases]])]

    def _nearest_first(self, identity: int, above: dict[int, list[int]]) -> Order:
        """Return a class and its ancestors, each once, nearest first."""
        owners = {identity: self.world.owner(identity)}
        waiting = deque([identity])
        while waiting:
            class_id = waiting.popleft()
            for base in above[class_id] if class_id in above else self._bases(*owners[class_id]):
                if base not in owners and len(owners) <= _MAX_ANCESTORS:
                    owners[base] = self.world.owner(base)
                    waiting.append(base)
        return list(owners.values())


def _merge_c3(lists: list[Order]) -> Order:
    """Merge by C3: take the first head that is in no other list's tail.

    If there is none, in which case Python would reject the class, take the first head.
    """
    rests = Counter(pair for order in lists for pair in order[1:])
    heads = [0] * len(lists)
    merged: dict[tuple[LoadedFlow, int], None] = {}
    while len(merged) < _MAX_ANCESTORS:
        open_ = [order[head] for order, head in zip(lists, heads, strict=True) if head < len(order)]
        if not open_:
            break
        merged[next((pair for pair in open_ if not rests[pair]), open_[0])] = None
        for place, order in enumerate(lists):
            while heads[place] < len(order) and order[heads[place]] in merged:
                heads[place] += 1
                if heads[place] < len(order):
                    rests[order[heads[place]]] -= 1
    return list(merged)
