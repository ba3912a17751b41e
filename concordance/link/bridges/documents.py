"""Documents, and the symbols and files that they document, mention or show.

In: names as written in documents. Out: a row to the symbol of each name that the repository defines. A Python name is
looked up in the current module of its document first, as Sphinx does, then as a full name; a C++ name is accepted if
only one definition has its qualified name; a path is relative to the repository's root or to the document's folder.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Bridge, Trust
from concordance.facts.read import SymbolPlace
from concordance.link.bridge_context import BridgeContext, StatedEnd
from concordance.link.paths.tree import join_path
from concordance.link.python.documented_names import DocumentedName, DocumentedNames


def join(crossing: BridgeContext) -> Iterator[Bridge]:
    """Join documents with code."""
    stated = crossing.ends("documents", "documents", "mentions", "shows")
    if not stated:
        return
    names = DocumentedNames(crossing)
    for one in stated:
        more = dict(one.end.more)
        if more["how"] == "path":
            found = _path(crossing, one)
        elif more["how"] == "qualified":
            found = _qualified(crossing, one.end.text)
        else:
            asked = names.module if more["how"] == "module" else names.meant
            module = more.get("module", "")
            found = (asked(f"{module}.{one.end.text}") if module else None) or asked(one.end.text)
        if found is not None and crossing.file_with(found.id).path != one.file.path:
            yield one.to(found.id, found.trust, found.by)


def _path(crossing: BridgeContext, one: StatedEnd) -> DocumentedName | None:
    """Return a file by its path."""
    homes = ("", one.file.path.rpartition("/")[0])
    for home in homes if not one.end.text.startswith(".") else homes[::-1]:
        path = join_path(home, one.end.text)
        row = crossing.file_of.get(path) if path is not None else None
        if row is not None:
            return DocumentedName(row.base, Trust.EXACT, "path")
    return None


def _qualified(crossing: BridgeContext, written: str) -> DocumentedName | None:
    """Return the definition of a C++ name if there is only one; overloads count as one."""
    parts = written.split("::")

    def fits(place: SymbolPlace) -> bool:
        home = [part.partition("+")[0] for part in place.home.split(".")] if place.home else []
        heads = [part for part in parts[:-1] if part]
        return home[len(home) - len(heads) :] == heads if heads else True

    found = [place for place in crossing.named(parts[-1], C_FAMILY) if fits(place)]
    found = [place for place in found if not place.declaration] or found
    if len({(place.path, place.home) for place in found}) != 1:
        return None
    return DocumentedName(found[0].id, Trust.UNIQUE_NAME, "only definition of this name")
