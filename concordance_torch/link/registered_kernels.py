"""The functions that registrations name as kernels of operators, in C++ and in Python.

In: the ends of registrations. Out: for each, the functions that it refers to; the operator's schema selects among
overloads. An anonymous function is represented by the symbol around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from concordance.base.model import Kind, Trust
from concordance.extract.cfamily.macro_functions import Macro, MacroExpander
from concordance.extract.cfamily.tokens import Tokens
from concordance.link.bridge_context import BridgeContext, BridgeFile, LinkedName, StatedEnd
from concordance_torch.extract.registrations import find_registrations
from concordance_torch.link.kernels import Kernels, enclosing_namespaces
from concordance_torch.link.operator_tables import Tables, shared_folder_count

_TEXT = re.compile(r"(?<!#)#\s*([A-Za-z_]\w*)")  # a macro parameter that is turned into a string
_MAX_EXPANSION = 100_000  # characters that one use of a macro may expand to
BRIDGES = ("registry", "library")


class RegisteredKernels:
    """All registrations of kernels."""

    def __init__(self, context: BridgeContext) -> None:
        self._context, self._tables = context, context.once(Tables)
        self._kernels = context.once(Kernels)
        self._functions_by_end: dict[int, dict[str, Macro]] = {}  # by file
        self._macros: dict[str, list[StatedEnd]] = {}
        for stated in context.ends("registry", "macro"):
            self._macros.setdefault(stated.end.name, []).append(stated)
        ends = [end for bridge in BRIDGES for end in context.ends(bridge, "kernel", "meta")]
        ends += [end for stated in context.ends("registry", "uses") for end in self._expanded(stated)]
        # Every registration of a kernel, with the functions it refers to.
        self.all: list[tuple[StatedEnd, list[LinkedName]]] = [(stated, self._functions(stated)) for stated in ends]

    def _visible_macros(self, file: BridgeFile) -> dict[str, Macro]:
        """Return the macros that a file may use: of several with one name, its own, else the nearest."""
        macros = {}
        for name, ends in self._macros.items():
            best = max(
                ends, key=lambda stated: (stated.file.id == file.id, shared_folder_count(stated.file.path, file.path))
            )
            parameters = tuple(part.strip() for part in best.end.more[0][1].split(","))
            macros[name] = Macro(parameters, _TEXT.sub(r'"\1"', best.end.text))
        return macros

    def _expanded(self, stated: StatedEnd) -> Iterator[StatedEnd]:
        """Yield the registrations that a macro expands to, as if they were written where it is used."""
        if stated.end.name not in self._macros:
            return
        known = self._functions_by_end.get(stated.file.id)
        if known is None:
            known = self._functions_by_end[stated.file.id] = self._visible_macros(stated.file)
        more = dict(stated.end.more)
        tokens = Tokens(
            MacroExpander(known, _MAX_EXPANSION).filled(stated.end.name, stated.end.text.split("\x1f")).encode()
        )
        for registrations in find_registrations(tokens, (0, len(tokens)), more["holder"], more["space"], more["key"]):
            if registrations.says == "kernel":
                end = stated.end._replace(
                    says="kernel", name=registrations.name, text=registrations.text, more=registrations.more
                )
                yield stated._replace(end=end)

    @cached_property
    def by_name(self) -> dict[str, list[tuple[StatedEnd, list[LinkedName]]]]:
        """The same registrations, by operator name."""
        registered: dict[str, list[tuple[StatedEnd, list[LinkedName]]]] = {}
        for stated, functions in self.all:
            registered.setdefault(stated.end.name, []).append((stated, functions))
        return registered

    def _functions(self, stated: StatedEnd) -> list[LinkedName]:
        """Return the decorated function, an anonymous one, or the targets of the name where the registration is."""
        if stated.end.text.startswith("[]"):
            return [LinkedName(stated.id, Trust.EXACT, "function without a name")]
        place, is_python = self._context.symbol(stated.id), stated.end.bridge == "library"
        if is_python and place is not None and place.name == stated.end.text and place.line == stated.end.line:
            return [LinkedName(stated.id, Trust.EXACT, "function that is registered")]
        targets = [
            row
            for row in self._context.targets_of(stated)
            if row.target != stated.id and not self._is_macro(row.target)
        ]
        if is_python:
            return targets
        operator = self._tables.named(stated.end.name, stated.file.path)
        schema = operator.schema if operator and operator.schema.types else None
        if targets:
            return self._kernels.matching_schema(self._kernels.definitions_of(targets), schema)
        around = enclosing_namespaces(place) if place is not None else ()
        spaces = [around[:depth] for depth in range(len(around), -1, -1)]
        return self._kernels.of(stated.end.text, [*spaces, ("at", "native")], schema)

    def _is_macro(self, target: int) -> bool:
        """True if a target is a macro that contains a registration; what it registers is found by name instead."""
        place = self._context.symbol(target)
        return place is not None and place.kind == Kind.MACRO
