"""Joins the ends of bridges between languages after all files are linked, and stores the result.

In: the ends that files declare, and the names that they look up in other languages. Out: `Bridge` rows, in an order
that does not depend on the order in which files were read, and edges for bridges through which code is called. What
each bridge read is recorded (`link.bridge_context`); after an update, only bridges that read something that changed are
joined again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from concordance.base import plugins
from concordance.base.model import Bridge, End, Role, Trust
from concordance.facts.codec import unpack_ends
from concordance.facts.links.bridge_rows import call_edges, pack_bridges, pack_parts, unpack_bridge, unpack_parts
from concordance.facts.links.graph import EdgeKind, edge, pack_edges
from concordance.facts.symbol_ids import SymbolIds
from concordance.facts.updates.delta import Aspect, Delta, slot_of
from concordance.facts.updates.reads import WHOLE_TABLE, pack_slots, slot_array
from concordance.facts.write import StoreWriter
from concordance.link.bridge_context import BridgeContext
from concordance.link.paths.tree import Tree

BRIDGES = "concordance.link.bridges"
# Exceptions that an error in a bridge, or unexpected text, may cause.
_FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
Failed = Callable[[str, str], None]
_ROWS, _READS = "bridges", "reads of bridges"
CALLS = "calls"  # key in the store of the call edges between languages


def run(writer: StoreWriter, tree: Tree, failed: Failed) -> set[int]:
    """Join all bridges and return the edges of those through which code is called (see `facts.links.graph`).

    A bridge that fails is passed to `failed` and loses only its own rows.
    """
    return _join(writer, tree, failed, plugins.names(BRIDGES))


def update(writer: StoreWriter, tree: Tree, failed: Failed) -> None:
    """Join those bridges again that an update may have changed."""
    _record_changed_ends(writer)
    changed, reads = _changed_slots(writer.delta), unpack_parts(writer.queries.analysis_result(_READS))
    names = plugins.names(BRIDGES)
    stale = [name for name in names if name not in reads or not changed.isdisjoint(slot_array(reads[name]))]
    if stale:
        _join(writer, tree, failed, stale)


def _join(writer: StoreWriter, tree: Tree, failed: Failed, stale: Collection[str]) -> set[int]:
    """Join the given bridges, store the result beside that of the others, and return the call edges of all."""
    stored = {key: writer.queries.analysis_result(key) for key in (_ROWS, CALLS, _READS)}
    rows, calls, reads = map(unpack_parts, stored.values())
    had = call_edges(calls)
    context = BridgeContext(writer.bridge_queries, tree)
    differing: set[Bridge] = set()
    for name in stale:
        with context.reads.recording() as slots:
            joined = _join_one(name, context, failed)
        before = set(unpack_bridge(rows.get(name, b"")))
        differing |= before.symmetric_difference(joined or ())
        rows[name] = pack_bridges(joined or ())
        calls[name] = pack_edges({edge(r.target, r.source, EdgeKind.CALLS) for r in joined or () if _is_call(r)})
        reads[name] = pack_slots(slots)
        if joined is None:
            del reads[name]  # it is tried again at the next update
    for removed in rows.keys() - set(plugins.names(BRIDGES)):
        differing.update(unpack_bridge(rows.pop(removed)))
        del calls[removed]
        reads.pop(removed, None)
    for key, parts in ((_ROWS, rows), (CALLS, calls), (_READS, reads)):
        packed = pack_parts(dict(sorted(parts.items())))
        if packed != stored[key]:
            writer.put_analysis(key, packed)
    _record_differing(writer, differing)
    now = call_edges(calls)
    writer.delta.removed_calls, writer.delta.added_calls = had - now, now - had
    return now


def _join_one(name: str, context: BridgeContext, failed: Failed) -> list[Bridge] | None:
    """Return the rows of a bridge, each once; None if joining failed."""
    try:
        return list(dict.fromkeys(plugins.load(BRIDGES, name).join(context)))
    except _FAULTS as error:
        failed(f"the bridge {name}", f"{type(error).__name__}: {error}")
        return None


def _record_differing(writer: StoreWriter, rows: Collection[Bridge]) -> None:
    """Record which kinds, names and files have bridges that were added or removed."""
    delta = writer.delta
    delta.add(Aspect.BRIDGES, {row.bridge for row in rows})
    # Rows also count for the name before the first dot: the row of an overload belongs to its operator, too.
    delta.add(Aspect.BRIDGES_OF_NAME, {name for row in rows for name in (row.name, row.name.partition(".")[0])})
    ids = {identity for row in rows for identity in (row.source, row.target) if identity}
    delta.add(Aspect.BRIDGES_OF_FILE, set(map(writer.owner, ids)))
    delta.add(Aspect.USED_BY, {writer.owner(row.target) for row in rows if _is_call(row)})


def _is_call(row: Bridge) -> bool:
    """True if calling one end of the bridge executes the other."""
    return row.role == Role.CALL and row.trust > Trust.CANDIDATE and row.target not in (0, row.source)


def _changed_slots(delta: Delta) -> set[int]:
    """Return the slots of what the update has changed so far."""
    slots = {slot_of(aspect, key) for aspect, key in delta.aspects}
    return slots | {slot_of(aspect, WHOLE_TABLE) for aspect, _ in delta.aspects}


def _record_changed_ends(writer: StoreWriter) -> None:
    """Record the bridges whose ends changed."""
    delta, store = writer.delta, writer.bridge_queries
    for path in (*delta.previous, *delta.added):
        had, ids = delta.previous.get(path), writer.ids(path)
        was = _placed_ends(unpack_ends(had.ends), had.ids) if had is not None and had.ends else set()
        now = _placed_ends(store.ends_of(ids.file), ids) if ids is not None else set()
        delta.add(Aspect.ENDS, {end.bridge for _, _, end in was ^ now})


_PlacedEnd = tuple[int, int, End]  # the index among the ends of its file, the id of the symbol around it, and the end


def _placed_ends(ends: Iterable[End], ids: SymbolIds) -> set[_PlacedEnd]:
    """Return the ends of a file as bridges see them: without positions, which any line above changes."""
    return {(number, ids.id_at(end.symbol), end._replace(line=0, col=0, symbol=-1)) for number, end in enumerate(ends)}
