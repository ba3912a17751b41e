"""Turns names in an author's comments into links, by what the file and the repository define.

In: a file, the definition whose documentation it is, and a name as written (`Module`, `torch.nn.Module`, `~.forward`).
Out: a link, or None if the target is not certain. A name without a qualifier is looked up as the code around it would
be read: a parameter of the documented function is no link, then come members of its class and of the bases, then what
is at the top level of the file or of those that it uses. It never leads to a member of another class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from concordance.base.blocks import Ref, To
from concordance.base.model import TYPE_KINDS, Kind, Symbol, Trust
from concordance.extract.registry import language_of
from concordance.facts.codec import SymbolHead
from concordance.facts.updates.delta import Aspect
from concordance.query.answers import split_key
from concordance.query.index.file_model import FileModel
from concordance.query.index.graphs.ancestors import Ancestor, ancestors_of
from concordance.query.index.ledger import outline

_CONTAINERS = frozenset((Kind.NAMESPACE, Kind.MODULE))  # what is in them is at the top level
_CONSTRUCTORS = ("__init__", "__new__", "constructor")


class MentionedNames:
    """The names that the comments of a file may refer to."""

    def __init__(self, model: FileModel) -> None:
        self.model = model
        self._ancestors: dict[int, list[Ancestor]] = {}
        self._members: dict[str, dict[tuple[int, str], str]] = {}

    @cached_property
    def _qualified(self) -> dict[str, int]:
        """The definitions inside of others, by qualified name; the first of several."""
        symbols: dict[str, int] = {}
        for place, symbol in enumerate(self.model.symbols):
            if symbol.parent >= 0:
                symbols.setdefault(".".join(split_key(symbol.key)), place)
        return symbols

    @cached_property
    def _top_level(self) -> dict[str, int]:
        """The file's definitions that are inside of no class or function, by name; the first of several."""
        symbols: dict[str, int] = {}
        has_prototypes = language_of(self.model.file.language).has_prototypes
        for place, symbol in enumerate(self.model.symbols):
            if symbol.name not in symbols and _is_top_level(self.model.symbols, place, has_prototypes):
                symbols[symbol.name] = place
        return symbols

    @cached_property
    def _by_key(self) -> dict[str, int]:
        return {symbol.key: place for place, symbol in enumerate(self.model.symbols)}

    @cached_property
    def _members_by_name(self) -> dict[tuple[str, str], int]:
        """What each definition contains, by its key and by name; methods in Go are written outside of their type."""
        members: dict[tuple[str, str], int] = {}
        for place, symbol in enumerate(self.model.symbols):
            members.setdefault((symbol.key.rpartition(".")[0], symbol.name), place)
        return members

    @cached_property
    def _used_by_name(self) -> dict[str, list[int]]:
        """What the file uses of others, by name."""
        symbols: dict[str, list[int]] = {}
        for inside in self.model.uses.values():
            for use in inside.values():
                if use.trust >= Trust.VIA_IMPORT and not self.model.is_own(use.id):
                    ids = symbols.setdefault(self.last(use.id), [])
                    if use.id not in ids:
                        ids.append(use.id)
        return symbols

    def last(self, identity: int) -> str:
        """Return the last part of a symbol's name; "" for a file."""
        key = self.model.index.key_of(identity)
        return split_key(key)[-1] if key else ""

    def ref(self, name: str, documented: int = -1) -> Ref | None:
        """Return a link to what a name refers to; None if that is not certain.

        `documented`: the position of the definition whose documentation contains the name; -1 for the file.
        """
        bare = name.strip().lstrip("~!.").removesuffix("()").replace("::", ".")
        if not bare:
            return None
        parts = bare.split(".")
        if len(parts) == 1:
            ref = self._of_bare_name(bare, documented)
            return None if ref is None else ref._replace(label=name)
        place = self._qualified.get(bare, self._qualified.get(".".join(parts[-2:])))
        if place is not None:
            return self.model.own(place, name)
        used = self._used_by_name.get(parts[-1], [])
        return (
            self.model.ref(used[0])._replace(label=name)
            if len(used) == 1 and self._qualifier_fits(used[0], parts)
            else None
        )

    def _qualifier_fits(self, identity: int, parts: list[str]) -> bool:
        """True if the qualifier of a name agrees with where it is defined: `nn.Module` with torch/nn/…."""
        index = self.model.index
        around = {*split_key(index.key_of(identity))[:-1], *index.path_of(identity).rpartition(".")[0].split("/")}
        return parts[-2] in around

    def _of_bare_name(self, name: str, documented: int) -> Ref | None:
        symbols = self.model.symbols
        is_in_class = False
        for key, place in self._enclosing(documented):
            if place >= 0 and _has_parameter(symbols[place], name):
                return None
            is_class = place >= 0 and symbols[place].kind in TYPE_KINDS
            inner = self._members_by_name.get((key, name))
            is_of_outer_class = is_class and is_in_class
            if inner is not None and (not is_of_outer_class or symbols[inner].kind in TYPE_KINDS):
                return self.model.own(inner)
            if is_class and not is_in_class:
                inherited = self._inherited(place, name)
                if inherited is not None:
                    return inherited
                if place == documented and self._is_passed_to_constructor(place, name):
                    return None
            is_in_class = is_in_class or (is_class and place != documented)
        own = self._top_level.get(name)
        if own is not None:
            return self.model.own(own)
        used = [identity for identity in self._used_by_name.get(name, ()) if self._is_top_level_elsewhere(identity)]
        return self.model.ref(used[0]) if len(used) == 1 else None

    def _enclosing(self, place: int) -> Iterator[tuple[str, int]]:
        """Yield a definition and those around it, innermost first: keys and positions; -1 if it is in another file."""
        if place >= 0:
            key = self.model.symbols[place].key
            yield key, place
            while key := key.rpartition(".")[0]:
                yield key, self._by_key.get(key, -1)

    def _is_passed_to_constructor(self, place: int, name: str) -> bool:
        symbols = self.model.symbols
        constructors = (*_CONSTRUCTORS, symbols[place].name)
        inside = (symbols[inner] for inner in self.model.children.get(place, ()))
        return any(symbol.name in constructors and _has_parameter(symbol, name) for symbol in inside)

    def _inherited(self, place: int, name: str) -> Ref | None:
        """Return a link to the member of this name that a class inherits."""
        index = self.model.index
        if place not in self._ancestors:
            self._ancestors[place] = ancestors_of(index, self.model.ids.id_at(place))
        if self._ancestors[place]:
            index.reads.note(Aspect.SYMBOLS_NAMED, name)
        for base in self._ancestors[place]:
            if base.path not in self._members:
                self._members[base.path] = {
                    (symbol.parent, symbol.name): symbol.key for symbol in reversed(self._outline(base.path))
                }
            key = self._members[base.path].get((base.place, name))
            if key is not None:
                return Ref(To.SYMBOL, base.path, key, name)
        return None

    def _is_top_level_elsewhere(self, identity: int) -> bool:
        index = self.model.index
        if "." not in index.key_of(identity):
            return True
        path, place = index.order_of(identity)
        has_prototypes = language_of(index.language_of(path)).has_prototypes
        return _is_top_level(self._outline(path), place, has_prototypes)

    def _outline(self, path: str) -> Sequence[SymbolHead]:
        """Return the definitions of another file. The caller records what it depends on, which is less than all."""
        with self.model.index.reads.not_recording():
            return outline(self.model.index, path).symbols


def _has_parameter(symbol: Symbol, name: str) -> bool:
    return any(parameter.name.lstrip("*&.") == name for parameter in symbol.parameters)


def _is_top_level(symbols: Sequence[Symbol | SymbolHead], place: int, has_prototypes: bool) -> bool:
    """True if a definition can be named without that of a class or function; in C, so can enumerators."""
    symbol = symbols[place]
    if symbol.kind == Kind.MACRO:
        return True
    if symbol.kind == Kind.METHOD and "." in symbol.key:
        return False  # of a class that is elsewhere
    while symbol.parent >= 0:
        around = symbols[symbol.parent]
        is_enumerator = symbol.kind == Kind.ENUMERATOR and has_prototypes
        if around.kind not in _CONTAINERS and not is_enumerator:
            return False
        symbol = around
    return True
