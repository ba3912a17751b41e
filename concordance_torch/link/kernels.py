"""Resolves a kernel's name in a table or registration to a C++ function, choosing among overloads by the schema.

In: a name as written (`add_sparse`, `custom::add`), an operator schema, and the namespaces to search. Out: the
definitions, each with its trust. The types of the schema and of C++ are normalised to one spelling and compared:
`int[]` is `IntArrayRef`, `Tensor?` is `const c10::optional<Tensor>&`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from concordance.base.kinds import C_FAMILY, FUNCTION_KINDS
from concordance.base.model import ONLY_DEFINITION, Kind, Trust
from concordance.facts.read import SymbolPlace
from concordance.link.bridge_context import BridgeContext, LinkedName
from concordance_torch.extract.operator_schema import Schema

_NUMBER = re.compile(r"\+\d+$")
_QUALIFIERS = re.compile(r"\b(?:const|struct|class|typename|at|c10|std|torch)\b|::|[&\s]|\bMaterialized(?=I)")
_WRAPPED = re.compile(r"(\w+)<(.*)>")
_LISTS = ("ArrayRef", "vector", "array", "List", "IListRef", "initializer_list")
_SPELLINGS = {
    "int64_t": "int", "SymInt": "int", "int32_t": "int", "size_t": "int", "double": "float", "string_view": "str",
    "string": "str", "IntArrayRef": "int[]", "SymIntArrayRef": "int[]", "IntList": "int[]", "SymIntList": "int[]",
    "TensorList": "Tensor[]", "ITensorListRef": "Tensor[]", "IOptTensorListRef": "Tensor?[]",
    "OptionalTensorRef": "Tensor?", "OptionalIntArrayRef": "int[]?", "OptionalSymIntArrayRef": "int[]?",
    "DimnameList": "Dimname[]", "TensorBase": "Tensor", "SparseTensor": "Tensor", "Variable": "Tensor",
}  # fmt: skip
_OPTIONS = ("ScalarType", "Layout", "Device", "bool")  # the four parameters that one `TensorOptions` replaces


class Kernels:
    """Finds the definitions of C++ functions."""

    def __init__(self, context: BridgeContext) -> None:
        self._context = context
        self._parameter_lists: dict[
            tuple[str, str], dict[int, str]
        ] = {}  # by path and name, then by index among the overloads
        for stated in context.ends("overloads"):
            number = int(stated.end.more[0][1])
            self._parameter_lists.setdefault((stated.file.path, stated.end.name), {})[number] = stated.end.text

    def of(
        self, name: str, spaces: Iterable[tuple[str, ...]], schema: Schema | None = None, anywhere: bool = True
    ) -> list[LinkedName]:
        """Return the definitions of a name in the first namespace that has any.

        If none has and `anywhere` is set: the definitions elsewhere that accept the schema, if they all are in one
        place.
        """
        parts = name.split("::")
        defined = [
            symbol
            for symbol in self._context.symbols_named(parts[-1], C_FAMILY)
            if symbol.kind in FUNCTION_KINDS and not symbol.declaration
        ]
        for space in spaces:
            wanted = (*space, *parts[:-1])
            symbols = [symbol for symbol in defined if enclosing_namespaces(symbol) == wanted]
            if symbols:
                return self._choose_overload(symbols, schema, f"in namespace {'::'.join(wanted)}")
        outside = [
            symbol
            for symbol in defined
            if symbol.kind == Kind.FUNCTION and _ends(enclosing_namespaces(symbol), parts[:-1])
        ]
        if schema is not None:
            outside = [symbol for symbol in outside if match_score(schema.types, self._parameter_types(symbol))]
        if anywhere and len({(symbol.path, enclosing_namespaces(symbol)) for symbol in outside}) == 1:
            chosen = self._choose_overload(outside, schema, "")
            by = ONLY_DEFINITION
            return [target._replace(trust=min(target.trust, Trust.UNIQUE_NAME), by=by) for target in chosen]
        return []

    def matching_schema(self, targets: list[LinkedName], schema: Schema | None) -> list[LinkedName]:
        """Return the linker's targets of a name, without the overloads whose parameters differ from the schema's."""
        if len(targets) < 2 or schema is None:
            return targets
        places = [self._context.symbol(target.target) for target in targets]
        scores = [match_score(schema.types, self._parameter_types(place)) if place else 0 for place in places]
        best = max(scores)
        matching = (
            [target for target, score in zip(targets, scores, strict=True) if score == best] if best > 0 else targets
        )
        if len(matching) > 1:
            return matching
        return [LinkedName(matching[0].target, Trust.EXACT, "definition whose parameters match the schema")]

    def definitions_of(self, targets: list[LinkedName]) -> list[LinkedName]:
        """Return the same targets with declarations replaced by their definitions, where those are found."""
        definitions: list[LinkedName] = []
        for target in targets:
            place = self._context.symbol(target.target)
            others = self._definitions_of_declaration(place) if place is not None and place.declaration else []
            definitions.extend(target._replace(target=other.id) for other in others)
            if not others:
                definitions.append(target)
        return list(dict.fromkeys(definitions))

    def _definitions_of_declaration(self, declared: SymbolPlace) -> list[SymbolPlace]:
        """Return the definitions of a declared function: same name, same namespace."""
        rows = self._context.symbols_named(declared.name, C_FAMILY)
        rows = [symbol for symbol in rows if not symbol.declaration and symbol.kind in FUNCTION_KINDS]
        return [symbol for symbol in rows if enclosing_namespaces(symbol) == enclosing_namespaces(declared)]

    def _parameter_types(self, symbol: SymbolPlace) -> list[str]:
        """Return the types of a function's parameters as they are written; empty if they are unknown."""
        stated = self._parameter_lists.get((symbol.path, symbol.name))
        if stated is None:
            return []
        beside = [row for row in self._context.symbols_named(symbol.name, C_FAMILY) if row.path == symbol.path]
        own = [row.id for row in beside if row.kind in FUNCTION_KINDS and not row.declaration]
        number = own.index(symbol.id) if symbol.id in own else -1
        return stated.get(number, "").split(";")

    def _choose_overload(self, candidates: list[SymbolPlace], schema: Schema | None, where: str) -> list[LinkedName]:
        """Choose among overloads by their parameters."""
        if len(candidates) == 1:
            return [LinkedName(candidates[0].id, Trust.EXACT, f"only definition {where}".strip())]
        by = f"one of {len(candidates)} definitions {where}".strip()
        if schema is not None:
            scores = [(match_score(schema.types, self._parameter_types(symbol)), symbol) for symbol in candidates]
            best = max(score for score, _ in scores)
            if best > 0:
                candidates = [symbol for score, symbol in scores if score == best]
                if len(candidates) == 1:
                    return [
                        LinkedName(
                            candidates[0].id, Trust.EXACT, f"definition {where} whose parameters match the schema"
                        )
                    ]
                by = f"one of {len(candidates)} definitions {where} whose parameters match the schema"
                if (
                    len({enclosing_namespaces(symbol) for symbol in candidates}) == 1
                    and len({self._normalised_parameters(symbol) for symbol in candidates}) == 1
                ):
                    # A program cannot have two functions of one form: the build picks one, by `#if` or by its list of
                    # files.
                    by = f"one of {len(candidates)} definitions {where} with the same parameters; a build has one"
                    return [LinkedName(symbol.id, Trust.UNIQUE_NAME, by) for symbol in candidates]
        return [LinkedName(symbol.id, Trust.CANDIDATE, by) for symbol in candidates]

    def _normalised_parameters(self, symbol: SymbolPlace) -> tuple[str, ...]:
        """Return the types of a function's parameters, normalised."""
        return tuple(normalise_type(part) for part in self._parameter_types(symbol) if part.strip())


def enclosing_namespaces(symbol: SymbolPlace) -> tuple[str, ...]:
    """Return the namespaces around a symbol, without anonymous ones."""
    return tuple(_NUMBER.sub("", part) for part in symbol.parent_key.split(".") if part and not part.startswith("("))


def _ends(spaces: tuple[str, ...], wanted: list[str]) -> bool:
    return not wanted or list(spaces[-len(wanted) :]) == wanted


def match_score(schema: Iterable[str], written: list[str]) -> int:
    """Return how well the parameters of a function match the types of a schema; 0 if they do not."""
    wanted = [re.sub(r"\[\d+\]", "[]", type_) for type_ in schema]
    wanted = ["int" + type_[6:] if type_.startswith("SymInt") else type_ for type_ in wanted]
    types = [normalise_type(type_) for type_ in written if type_.strip()]
    if "TensorOptions" in types:
        wanted = _with_options(wanted)
    if len(wanted) != len(types):
        return 0
    score = 1
    for type_, other in zip(wanted, types, strict=True):
        if type_ == other:
            score += 2
        elif type_.replace("?", "") == other.replace("?", ""):
            score += 1
        else:
            return 0
    return score


def _with_options(types: list[str]) -> list[str]:
    for at in range(len(types) - 3):
        if tuple(type_.rstrip("?") for type_ in types[at : at + 4]) == _OPTIONS:
            return [*types[:at], "TensorOptions", *types[at + 4 :]]
    return types


def normalise_type(written: str) -> str:
    """Return a C++ type in the spelling of a schema."""
    plain = _QUALIFIERS.sub("", written.strip())
    wrapped = _WRAPPED.fullmatch(plain)
    if wrapped is None:
        return _SPELLINGS.get(plain, plain)
    inside = normalise_type(wrapped[2].split(",")[0] if wrapped[1] == "array" else wrapped[2])
    if wrapped[1] == "optional":
        return inside + "?"
    return inside + "[]" if wrapped[1] in _LISTS else plain
