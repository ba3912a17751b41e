"""Documents, and the symbols and files that they document, mention or show.

In: names as written in documents. Out: a row to the symbol of each name that the repository defines. A Python name is
looked up in the current module of its document first, as Sphinx does, then as a full name; a C++ name is accepted if
only one definition has its qualified name; a path is relative to the repository's root or to the document's folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from concordance.base.kinds import C_FAMILY
from concordance.base.model import ONLY_DEFINITION, Bridge, Trust
from concordance.facts.read import SymbolPlace
from concordance.link.bridge_context import BridgeContext, BridgeFile, StatedEnd
from concordance.link.paths.tree import join_path


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join documents with code."""
    ends = context.ends("documents", "documents", "mentions", "shows")
    if not ends:
        return
    names = DocumentedNames(context)
    for stated in ends:
        more = dict(stated.end.more)
        if more["how"] == "path":
            documented = _path(context, stated)
        elif more["how"] == "qualified":
            documented = _qualified(context, stated.end.text)
        else:
            asked = names.module if more["how"] == "module" else names.resolve
            module = more.get("module", "")
            documented = (asked(f"{module}.{stated.end.text}") if module else None) or asked(stated.end.text)
            if more["how"] == "definition" and documented is not None and context.symbol(documented.id) is None:
                documented = None  # an attribute that has the name of a module is not the module
        if documented is not None and context.file_containing(documented.id).path != stated.file.path:
            yield stated.to(documented.id, documented.trust, documented.by)


def _path(context: BridgeContext, stated: StatedEnd) -> DocumentedName | None:
    """Return a file by its path."""
    bases = ("", stated.file.path.rpartition("/")[0])
    for base in bases if not stated.end.text.startswith(".") else bases[::-1]:
        path = join_path(base, stated.end.text)
        row = context.files_by_path.get(path) if path is not None else None
        if row is not None:
            return DocumentedName(row.id, Trust.EXACT, "path")
    return None


def _qualified(context: BridgeContext, written: str) -> DocumentedName | None:
    """Return the definition of a C++ name if there is only one; overloads count as one."""
    parts = written.split("::")

    def fits(place: SymbolPlace) -> bool:
        enclosing = [part.partition("+")[0] for part in place.parent_key.split(".")] if place.parent_key else []
        heads = [part for part in parts[:-1] if part]
        return enclosing[len(enclosing) - len(heads) :] == heads if heads else True

    definitions = [place for place in context.symbols_named(parts[-1], C_FAMILY) if fits(place)]
    definitions = [place for place in definitions if not place.declaration] or definitions
    if len({(place.path, place.parent_key) for place in definitions}) != 1:
        return None
    return DocumentedName(definitions[0].id, Trust.UNIQUE_NAME, ONLY_DEFINITION)


# --- resolve a dotted Python name as documents write it: under the module from which users import it
# In: a name like `torch.nn.Module.forward`. Out: the symbol, or the file of a module, with its trust. The longest
# prefix that is a module is searched: its definitions, its imports by name, and its star imports. A name that another
# language defines is not found, even if some submodule defines one like it.


_MAX_REEXPORTS = 12  # modules through which a name is re-exported
_ENDINGS = (".py", ".pyx", ".pyi")


class DocumentedName(NamedTuple):
    """The target of a documented name."""

    id: int
    trust: Trust
    by: str


class DocumentedNames:
    """Resolves documented names of one repository."""

    def __init__(self, context: BridgeContext) -> None:
        self._context = context
        self._modules: dict[str, str] = {}
        self._name_of: dict[str, str] = {}
        rows = [row for row in context.files if row.path.endswith(_ENDINGS)]
        for row in sorted(rows, key=lambda file: (_ENDINGS.index("." + file.path.rpartition(".")[2]), file.path)):
            name = context.module_of(row.path)
            if name:
                self._modules.setdefault(name, row.path)
                self._name_of[row.path] = name
        self._reexports: dict[str, list[StatedEnd]] = {}
        for stated in context.ends("documents", "hands on"):
            self._reexports.setdefault(stated.file.path, []).append(stated)
        self._keys: dict[str, dict[str, int]] = {}
        self._resolved: dict[str, DocumentedName | None] = {}

    def module(self, dotted: str) -> DocumentedName | None:
        """Return the module of a name."""
        path = self._modules.get(dotted)
        return DocumentedName(self._row(path).id, Trust.EXACT, "module of this name") if path is not None else None

    def resolve(self, dotted: str) -> DocumentedName | None:
        """Return the target of a dotted name; None if it is not known.

        A name that a package re-exports hides the submodule of the same name.
        """
        if dotted not in self._resolved:
            parts = dotted.split(".")
            around = self._modules.get(".".join(parts[:-1])) if dotted in self._modules else None
            inner = self._in_module(around, parts[-1:], 0) if around is not None else None
            self._resolved[dotted] = inner or self._resolve_parts(parts)
        return self._resolved[dotted]

    def _resolve_parts(self, parts: list[str]) -> DocumentedName | None:
        for count in range(len(parts), 0, -1):
            path = self._modules.get(".".join(parts[:count]))
            if path is None:
                continue
            if count == len(parts):
                return self.module(".".join(parts))
            return self._in_module(path, parts[count:], 0)
        return None

    def _row(self, path: str) -> BridgeFile:
        return self._context.files_by_path[path]

    def _symbols(self, path: str) -> dict[str, int]:
        """Return the symbols of a file by their qualified names."""
        if path not in self._keys:
            symbols: dict[str, int] = {}
            for place in self._context.symbols(self._row(path)):
                symbols.setdefault(f"{place.parent_key}.{place.name}" if place.parent_key else place.name, place.id)
            self._keys[path] = symbols
        return self._keys[path]

    def _in_module(self, path: str, rest: list[str], depth: int) -> DocumentedName | None:
        """Resolve a name in a module."""
        own = self._symbols(path).get(".".join(rest))
        if own is not None:
            return DocumentedName(
                own, Trust.VIA_IMPORT if depth else Trust.EXACT, "re-exported" if depth else "full name"
            )
        if depth > _MAX_REEXPORTS:
            return None
        for stated in self._reexports.get(path, ()):
            documented = None
            if stated.end.name == rest[0]:
                documented = self._by_import(stated, rest[1:], depth)
            elif stated.end.name == "*":
                documented = self._all_of(path, stated.end.text, rest, depth)
            if documented is not None:
                return documented
        return None

    def _by_import(self, stated: StatedEnd, rest: list[str], depth: int) -> DocumentedName | None:
        """Return the linker's target of an imported name, or a member of it."""
        for target in self._context.targets_of(stated)[:1]:
            place = self._context.symbol(target.target)
            if place is None:
                if not rest:
                    return DocumentedName(target.target, Trust.VIA_IMPORT, "re-exported")
                return self._in_module(self._context.file_containing(target.target).path, rest, depth + 1)
            if not rest:
                return DocumentedName(place.id, min(target.trust, Trust.VIA_IMPORT), "re-exported")
            key = ".".join(filter(None, (place.parent_key, place.name, *rest)))
            own = self._symbols(place.path).get(key)
            return DocumentedName(own, Trust.VIA_IMPORT, "re-exported") if own is not None else None
        return None

    def _all_of(self, path: str, written: str, rest: list[str], depth: int) -> DocumentedName | None:
        """Resolve a name through a star import."""
        name = written
        if written.startswith("."):
            level = len(written) - len(written.lstrip("."))
            around = self._name_of.get(path, "").split(".")
            if "/__init__." not in f"/{path}":
                around = around[:-1]
            scope = around[: len(around) - level + 1]
            name = ".".join(filter(None, (*scope, written.lstrip("."))))
        other = self._modules.get(name)
        return self._in_module(other, rest, depth + 1) if other is not None and other != path else None
