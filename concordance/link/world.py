"""The whole repository as the linker sees it: files by number, with their flows unpacked on first use.

In: the list of files, with each file's flow as bytes. Out: `LoadedFlow` objects, and the target of each import.
Unpacked flows are cached, because the imports of most files lead to the same few files.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from concordance.base.model import KINDS, Flow, Import, Kind, Op, SymbolRelation, Target, Trust, unpack_column
from concordance.facts.codec import unpack_flow_names, unpack_flow_without_names, unpack_imports
from concordance.facts.records import Linkable
from concordance.facts.symbol_ids import IdOwners
from concordance.link.paths.tree import Tree

_MAX_UNPACKED_BYTES = 25_000_000  # of packed flows to keep unpacked, in each process: they grow four- to ninefold


class NameTarget(NamedTuple):
    """One claim of the linker: an expression of a file refers to a symbol."""

    use: int
    target: int  # the symbol's id
    trust: Trust
    by: str


class LoadedFlow:
    """One file's flow, unpacked into lists."""

    def __init__(self, number: int, row: Linkable, flow: Flow, names: bytes = b"") -> None:
        """`names` are the names as they are encoded, if `flow` is without them."""
        self.number, self.file_id, self.ids = number, row.id, row.ids
        self.path, self.language = row.path, row.language
        self.flow = flow
        self._encoded_names = names
        self.op = flow.op
        self.variable_scope = unpack_column(flow.variable_scope)
        self.variable_name = unpack_column(flow.variable_name)
        self.variable_symbol = unpack_column(flow.variable_symbol)
        self.symbol_kind = flow.symbol_kind
        self.symbol_name = unpack_column(flow.symbol_name)
        self.symbol_parent = unpack_column(flow.symbol_parent)
        self.scope_symbol = unpack_column(flow.scope_symbol)
        self.scope_parent = unpack_column(flow.scope_parent)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The distinct names in the file; most files are only asked about their symbols' kinds and parameters."""
        return unpack_flow_names(self._encoded_names) or self.flow.names

    @cached_property
    def left(self) -> list[int]:
        """The left operand of each expression."""
        return unpack_column(self.flow.left).tolist()

    @cached_property
    def right(self) -> list[int]:
        """The right operand of each expression."""
        return unpack_column(self.flow.right).tolist()

    @cached_property
    def results(self) -> list[Any]:
        """A slot for each expression, in which the linker of a language caches its result."""
        return [None] * len(self.op)

    def kind(self, symbol: int) -> Kind:
        """Return a symbol's kind."""
        return KINDS[self.symbol_kind[symbol]]

    def id(self, symbol: int) -> int:
        """Return a symbol's id in the repository; -1 stands for the file."""
        return self.ids.ids[symbol] if symbol >= 0 else self.file_id

    def free_name(self, expression: int) -> str:
        """Return the name that an expression ends in if this file does not bind it, else ""."""
        op = self.op[expression]
        if op == Op.CALL:  # in C, a name and its call are one expression
            expression = self.left[expression]
            op = self.op[expression]
        if op == Op.MEMBER:
            return self.names[self.right[expression]]
        return self.names[self.left[expression]] if op == Op.LOOKUP else ""

    @cached_property
    def name_index(self) -> dict[str, int]:
        """The index of each name in `names`."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def values(self) -> list[list[int]]:
        """The expressions that are bound to each variable."""
        values: list[list[int]] = [[] for _ in self.variable_scope]
        flow = self.flow
        for variable, value in zip(unpack_column(flow.bound_variable), unpack_column(flow.bound_value), strict=True):
            values[variable].append(value)
        return values

    @cached_property
    def variables(self) -> dict[tuple[int, int], int]:
        """The variables that hold everything bound under their name, by scope and name."""
        rows = zip(self.variable_scope[: self.flow.whole], self.variable_name, strict=False)
        return {row: place for place, row in enumerate(rows)}

    @cached_property
    def scope_of_symbol(self) -> dict[int, int]:
        """The scope that each symbol opens."""
        return {symbol - 1: scope for scope, symbol in enumerate(self.scope_symbol) if symbol}

    @cached_property
    def relations(self) -> dict[tuple[int, int], list[int]]:
        """The expressions that describe symbols (bases, decorators, types, ...), by symbol and `SymbolRelation`."""
        relations: dict[tuple[int, int], list[int]] = {}
        flow = self.flow
        rows = zip(unpack_column(flow.given_symbol), flow.given_what, unpack_column(flow.given_value), strict=True)
        for symbol, what, value in rows:
            relations.setdefault((symbol, what), []).append(value)
        return relations

    @cached_property
    def members(self) -> dict[int, dict[int, list[int]]]:
        """The symbols inside each symbol (-1: the file), by name."""
        members: dict[int, dict[int, list[int]]] = {}
        for symbol, (parent, name) in enumerate(zip(self.symbol_parent, self.symbol_name, strict=True)):
            members.setdefault(parent - 1, {}).setdefault(name, []).append(symbol)
        return members

    @cached_property
    def arity(self) -> Sequence[int]:
        """The number of arguments that each symbol takes, where the language has such a number."""
        return unpack_column(self.flow.symbol_arity)

    @cached_property
    def within(self) -> Sequence[int]:
        """The name of the qualifier where each symbol is defined, plus one, where a language has such qualifiers."""
        return unpack_column(self.flow.symbol_within)

    @cached_property
    def form(self) -> Sequence[int]:
        """What distinguishes each symbol from its overloads, where the language has overloads."""
        return unpack_column(self.flow.symbol_form)

    def related_expressions(self, symbol: int, relation: SymbolRelation) -> list[int]:
        """Return the expressions that describe one aspect of a symbol."""
        return self.relations.get((symbol, relation), [])


class LoadedSymbol(NamedTuple):
    """A symbol of a loaded file, or the file itself."""

    file: LoadedFlow
    symbol: int  # -1 for the file itself

    @property
    def is_file(self) -> bool:
        """True if it is the file itself."""
        return self.symbol < 0

    @property
    def id(self) -> int:
        """The id in the repository."""
        return self.file.id(self.symbol)

    @property
    def kind(self) -> Kind:
        """The kind of the symbol."""
        return self.file.kind(self.symbol)


Resolve = Callable[[str, Import], Target]
# Returns the ids of symbols, given their name, their language, their kinds, and the largest number of results.
SymbolsByName = Callable[[str, str, Iterable[str], int], list[int]]


class LinkWorld:
    """All files of the repository."""

    def __init__(
        self, tree: Tree, files: list[Linkable], flows: Callable[[int], bytes],
        resolvers: dict[str, Callable[[Tree], Resolve]], symbols_by_name: SymbolsByName | None,
        flows_of_languages: Callable[[Iterable[str]], dict[int, bytes]] | None,
    ) -> None:  # fmt: skip
        """`flows` returns a file's flow by the file's id, and `flows_of_languages` those of all files of the given
        languages. `resolvers` maps a language to a factory of its import resolver. `symbols_by_name`, if given, returns
        the symbols that have a name, so that not every file has to be searched for it."""
        self.tree, self.files, self.symbols_by_name = tree, files, symbols_by_name
        self._flows, self._flows_of_languages = flows, flows_of_languages
        self.number = {row.path: number for number, row in enumerate(files)}
        self._resolvers = resolvers
        self._resolve: dict[str, Resolve] = {}
        self._loaded: dict[int, LoadedFlow] = {}
        self._unpacked = 0  # bytes of the packed flows of `_loaded`
        self._targets: dict[int, tuple[Target, ...]] = {}
        # for files of the C family: the files they include, where that is known
        self.included: dict[int, list[int]] = {}
        # The C family's tables from the last update, with the changed files as they were then (see
        # `cfamily.resident_tables`).
        self.previous_c_tables: tuple[Any, Mapping[int, tuple[Linkable, Flow]]] | None = None

    def use_flow_source(self, flows: Callable[[int], bytes]) -> None:
        """Replace the source of flows by one that does not read the store, which worker processes must not use."""
        self._flows, self._flows_of_languages = flows, None

    def prefetch_flows(self, languages: Iterable[str]) -> None:
        """Fetch the flows of all files of the given languages at once, rather than one by one."""
        if self._flows_of_languages is not None:
            flows, flow_of = self._flows_of_languages(languages), self._flows
            self._flows = lambda file: flows[file] if file in flows else flow_of(file)

    def load(self, number: int) -> LoadedFlow:
        """Return a file, unpacked."""
        loaded = self._loaded.get(number)
        if loaded is None:
            row = self.files[number]
            flow, names = unpack_flow_without_names(self._flows(row.id)) if row.size else (Flow(), b"")
            loaded = self._loaded[number] = LoadedFlow(number, row, flow, names)
            self._unpacked += row.size
        return loaded

    @property
    def exceeds_memory_limit(self) -> bool:
        """True if the unpacked flows take more memory than they should."""
        return self._unpacked > _MAX_UNPACKED_BYTES

    def unload(self, languages: Container[str]) -> None:
        """Drop the unpacked files of the given languages; they are unpacked again when needed.

        Only for languages whose linker keeps no reference to them.
        """
        self._loaded = {number: flow for number, flow in self._loaded.items() if flow.language not in languages}
        self._unpacked = sum(self.files[number].size for number in self._loaded)

    def unload_file(self, number: int) -> None:
        """Drop one unpacked file, on the same condition."""
        if self._loaded.pop(number, None) is not None:
            self._unpacked -= self.files[number].size

    def imports(self, number: int) -> tuple[Import, ...]:
        """Return the imports of a file, without unpacking its whole flow for them."""
        loaded, row = self._loaded.get(number), self.files[number]
        if loaded is not None:
            return loaded.flow.imports
        return unpack_imports(self._flows(row.id)) if row.size else ()

    def targets(self, file: LoadedFlow) -> tuple[Target, ...]:
        """Return the target of each import of a file."""
        return self.targets_of(file.number)

    def targets_of(self, number: int) -> tuple[Target, ...]:
        """Return the target of each import of a file, given by number."""
        targets = self._targets.get(number)
        if targets is None:
            row = self.files[number]
            resolve = self._resolver(row.language)
            targets = (
                tuple(resolve(row.path, imported) for imported in self.imports(number)) if resolve is not None else ()
            )
            self._targets[number] = targets
        return targets

    def set_import_targets(self, number: int, targets: tuple[Target, ...]) -> None:
        """Set the targets of a file's imports when they are already known."""
        self._targets[number] = targets

    def _resolver(self, language: str) -> Resolve | None:
        if language not in self._resolve and language in self._resolvers:
            self._resolve[language] = self._resolvers[language](self.tree)
        return self._resolve.get(language)

    @cached_property
    def _owners(self) -> IdOwners[int]:
        """The numbers of files, by their ids and those of their symbols."""
        rows = enumerate(self.files)
        return IdOwners(sorted((start, number) for number, row in rows for start in row.ids.range_starts()))

    def file_number(self, identity: int) -> int:
        """Return the number of the file that an id belongs to."""
        return self._owners[identity]

    def owner(self, identity: int) -> LoadedSymbol:
        """Return the symbol or file that an id belongs to."""
        number = self._owners[identity]
        return LoadedSymbol(self.load(number), self.files[number].ids.place_of(identity))
