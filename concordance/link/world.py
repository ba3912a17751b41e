"""The whole repository as the linker sees it: files by number, their flows unpacked when first needed.

In: the ledger with each file's flow as bytes. Out: `LoadedFlow` files, and where each import leads. A
worker keeps what it has unpacked, for most files lead to the same few.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from concordance.base.model import KINDS, Flow, Given, Import, Kind, Op, Target, Trust, unpacked
from concordance.facts.codec import unpack_flow, unpack_imports
from concordance.facts.records import Linkable
from concordance.link.paths.tree import Tree

_ROOM = 60_000_000  # bytes of flows that are held unpacked, which take some ten times as much: more than most have


class NameTarget(NamedTuple):
    """One claim: what an expression of a file names."""

    use: int
    target: int  # an id
    trust: Trust
    by: str


class LanguageLinker(Protocol):
    """What a language's linker can do."""

    def found(self, file: LoadedFlow) -> list[NameTarget]:
        """What the expressions of a file name; of one expression, the best first."""

    def bases(self, file: LoadedFlow, symbol: int) -> Sequence[int]:
        """The ids of a class's bases that are in the repository."""


class LoadedFlow:
    """One file's flow in lists."""

    def __init__(self, number: int, row: Linkable, flow: Flow) -> None:
        self.number, self.base, self.path, self.language = number, row.base, row.path, row.language
        self.flow = flow
        self.names = flow.names
        self.op = flow.op
        self.variable_scope = unpacked(flow.variable_scope)
        self.variable_name = unpacked(flow.variable_name)
        self.variable_symbol = unpacked(flow.variable_symbol)
        self.symbol_kind = flow.symbol_kind
        self.symbol_name = unpacked(flow.symbol_name)
        self.symbol_parent = unpacked(flow.symbol_parent)
        self.scope_symbol = unpacked(flow.scope_symbol)
        self.scope_parent = unpacked(flow.scope_parent)

    @cached_property
    def left(self) -> list[int]:
        """The left of each expression."""
        return unpacked(self.flow.left).tolist()

    @cached_property
    def right(self) -> list[int]:
        """The right of each expression."""
        return unpacked(self.flow.right).tolist()

    @cached_property
    def worked_out(self) -> list[Any]:
        """What a language's linker found of each expression."""
        return [None] * len(self.op)

    def kind(self, symbol: int) -> Kind:
        """A symbol's kind."""
        return KINDS[self.symbol_kind[symbol]]

    def id(self, symbol: int) -> int:
        """A symbol's id in the repository."""
        return self.base + 1 + symbol

    def free_name(self, expression: int) -> str:
        """The name that an expression ends in, where nothing in this file binds it; "" where something does."""
        op = self.op[expression]
        if op == Op.CALL:  # of C: a name as it is called
            expression = self.left[expression]
            op = self.op[expression]
        if op == Op.MEMBER:
            return self.names[self.right[expression]]
        return self.names[self.left[expression]] if op == Op.LOOKUP else ""

    @cached_property
    def word(self) -> dict[str, int]:
        """The place of each name among the names."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def values(self) -> list[list[int]]:
        """What is bound to each variable."""
        found: list[list[int]] = [[] for _ in self.variable_scope]
        flow = self.flow
        for variable, value in zip(unpacked(flow.bound_variable), unpacked(flow.bound_value), strict=True):
            found[variable].append(value)
        return found

    @cached_property
    def variables(self) -> dict[tuple[int, int], int]:
        """The whole variables by scope and name."""
        rows = zip(self.variable_scope[: self.flow.whole], self.variable_name, strict=False)
        return {row: place for place, row in enumerate(rows)}

    @cached_property
    def opened(self) -> dict[int, int]:
        """The scope that each symbol opens."""
        return {symbol - 1: scope for scope, symbol in enumerate(self.scope_symbol) if symbol}

    @cached_property
    def given(self) -> dict[tuple[int, int], list[int]]:
        """What expressions say of symbols: by the symbol and a `Given`."""
        found: dict[tuple[int, int], list[int]] = {}
        flow = self.flow
        rows = zip(unpacked(flow.given_symbol), flow.given_what, unpacked(flow.given_value), strict=True)
        for symbol, what, value in rows:
            found.setdefault((symbol, what), []).append(value)
        return found

    @cached_property
    def members(self) -> dict[int, dict[int, list[int]]]:
        """The symbols inside each symbol (-1: the file), by their names."""
        found: dict[int, dict[int, list[int]]] = {}
        for symbol, (parent, name) in enumerate(zip(self.symbol_parent, self.symbol_name, strict=True)):
            found.setdefault(parent - 1, {}).setdefault(name, []).append(symbol)
        return found

    @cached_property
    def arity(self) -> Sequence[int]:
        """How many arguments each symbol takes, where the language says so."""
        return unpacked(self.flow.symbol_arity)

    @cached_property
    def form(self) -> Sequence[int]:
        """What tells each symbol from its overloads, where the language has them."""
        return unpacked(self.flow.symbol_form)

    def said(self, symbol: int, what: Given) -> list[int]:
        """The expressions that say something of a symbol."""
        return self.given.get((symbol, what), [])


Resolve = Callable[[str, Import], Target]
Carriers = Callable[[str, str, Iterable[str], int], list[int]]  # a name, a language, kinds of symbols, how many matter


class LinkWorld:
    """All files."""

    def __init__(
        self, tree: Tree, files: list[Linkable], flows: Callable[[int], bytes],
        resolvers: dict[str, Callable[[Tree], Resolve]], carriers: Carriers | None = None,
        all_in: Callable[[Iterable[str]], dict[int, bytes]] | None = None,
    ) -> None:  # fmt: skip
        """`flows` gives a file's flow by its id, `all_in` those of languages; `resolvers` makes, by language, what says
        where an import leads; `carriers`, where it is given, knows who has a name, so that not every file need be
        looked at for it."""
        self.tree, self.files, self._flows, self._all_in, self.carriers = tree, files, flows, all_in, carriers
        self.number = {row.path: number for number, row in enumerate(files)}
        self._resolvers = resolvers
        self._resolve: dict[str, Resolve] = {}
        self._loaded: dict[int, LoadedFlow] = {}
        self._unpacked = 0  # bytes of the flows that were unpacked since some were forgotten
        self._targets: dict[int, tuple[Target, ...]] = {}
        self.included: dict[int, list[int]] = {}  # what files of the C family include, where that is known
        # The tables of the C family that the last update left (`ckept`), with its files that changed, as they were.
        self.kept: tuple[Any, Mapping[int, tuple[Linkable, Flow]]] | None = None

    def hold(self, flows: Callable[[int], bytes]) -> None:
        """Takes what gives all flows without the store, which a worker must not ask."""
        self._flows, self._all_in = flows, None

    def gather(self, languages: Iterable[str]) -> None:
        """Takes the flows of all files of some languages at once, where they would be asked for one by one."""
        if self._all_in is not None:
            flows, one = self._all_in(languages), self._flows
            self._flows = lambda file: flows[file] if file in flows else one(file)

    def load(self, number: int) -> LoadedFlow:
        """A file, unpacked."""
        found = self._loaded.get(number)
        if found is None:
            row = self.files[number]
            flow = unpack_flow(self._flows(row.id)) if row.size else Flow()
            found = self._loaded[number] = LoadedFlow(number, row, flow)
            self._unpacked += row.size
        return found

    @property
    def is_full(self) -> bool:
        """Whether so much is unpacked that some of it should be forgotten."""
        return self._unpacked > _ROOM

    def forget(self, languages: Container[str]) -> None:
        """Forgets the files of some languages, which are unpacked again when they are needed. Only for languages whose
        linker holds on to none."""
        self._loaded = {number: one for number, one in self._loaded.items() if one.language not in languages}
        self._unpacked = 0

    def imports(self, number: int) -> tuple[Import, ...]:
        """The imports of a file, which is not unpacked for them alone."""
        loaded, row = self._loaded.get(number), self.files[number]
        if loaded is not None:
            return loaded.flow.imports
        return unpack_imports(self._flows(row.id)) if row.size else ()

    def targets(self, file: LoadedFlow) -> tuple[Target, ...]:
        """Where each import of a file leads."""
        return self.targets_of(file.number)

    def targets_of(self, number: int) -> tuple[Target, ...]:
        """The same, of a file by its number."""
        found = self._targets.get(number)
        if found is None:
            row = self.files[number]
            resolve = self._resolver(row.language)
            found = tuple(resolve(row.path, one) for one in self.imports(number)) if resolve is not None else ()
            self._targets[number] = found
        return found

    def lead(self, number: int, targets: tuple[Target, ...]) -> None:
        """Takes it as known where the imports of a file lead."""
        self._targets[number] = targets

    def _resolver(self, language: str) -> Resolve | None:
        if language not in self._resolve and language in self._resolvers:
            self._resolve[language] = self._resolvers[language](self.tree)
        return self._resolve.get(language)

    @cached_property
    def _bases(self) -> list[tuple[int, int]]:
        return sorted((row.base, number) for number, row in enumerate(self.files))

    def base(self, identity: int) -> int:
        """The base of the file of an id."""
        return self._bases[bisect_right(self._bases, (identity, len(self.files))) - 1][0]

    def number_of_base(self, base: int) -> int:
        """The number of the file that has a base."""
        return self._bases[bisect_right(self._bases, (base, len(self.files))) - 1][1]

    def owner(self, identity: int) -> tuple[LoadedFlow, int]:
        """The file of an id, and the symbol's place in it (-1: the file itself)."""
        base, number = self._bases[bisect_right(self._bases, (identity, len(self.files))) - 1]
        return self.load(number), identity - base - 1
