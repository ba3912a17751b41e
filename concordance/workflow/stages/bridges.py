"""Join the ends of bridges between languages after all files are linked, and store the result.

In: the ends that files declare, and the names that they look up in other languages. Out: `Bridge` rows, in an order
that does not depend on the order in which files were read, and edges for bridges through which code is called. What
each bridge read is recorded (`link.bridge_context`); after an update, only bridges that read something that changed are
joined again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import NamedTuple

import msgspec

from concordance.base import plugins
from concordance.base.model import Bridge, End, Role, Trust
from concordance.facts.codec import unpack_ends
from concordance.facts.links.bridge_rows import pack_bridges, unpack_bridges
from concordance.facts.links.graph import EdgeKind, edge, pack_edges
from concordance.facts.symbol_ids import SymbolIds
from concordance.facts.updates.delta import Aspect, Delta, slot_of
from concordance.facts.updates.reads import WHOLE_TABLE, holds_any, pack_slots
from concordance.facts.write import StoreWriter
from concordance.link.bridge_context import BridgeContext
from concordance.link.paths.tree import Tree

BRIDGES = "concordance.link.bridges"
# Exceptions that an error in a bridge, or unexpected text, may cause.
_FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
Failed = Callable[[str, str], None]
_ROWS, _READS = "bridges", "reads of bridges"
CALLS = "calls"  # key in the store of the call edges between languages


class JoinedBridge(NamedTuple):
    """The rows of one bridge, and the slots that were read to join it; None if joining failed."""

    rows: list[Bridge]
    slots: bytes | None  # packed


def run(writer: StoreWriter, tree: Tree, failed: Failed) -> set[int]:
    """Join all bridges and return the edges of those through which code is called (see `facts.links.graph`).

    A bridge that fails is passed to `failed` and loses only its own rows.
    """
    return _join(writer, tree, failed, unpack_bridges(writer.queries.analysis_result(_ROWS)), {})


def update(writer: StoreWriter, tree: Tree, failed: Failed) -> None:
    """Join those bridges again that an update may have changed."""
    _record_changed_ends(writer)
    changed, reads = _changed_slots(writer.delta), _stored_reads(writer)
    valid = {name for name, (_, slots) in reads.items() if slots is not None and not holds_any(slots, changed)}
    if valid != set(plugins.names(BRIDGES)):
        rows = unpack_bridges(writer.queries.analysis_result(_ROWS))
        left = iter(rows)
        before = {name: JoinedBridge(list(islice(left, count)), slots) for name, (count, slots) in reads.items()}
        _join(writer, tree, failed, rows, {name: before[name] for name in valid})


def _join(
    writer: StoreWriter, tree: Tree, failed: Failed, before: list[Bridge], valid: Mapping[str, JoinedBridge]
) -> set[int]:
    """Join all bridges but those that are still valid, and store the result; `before` are the rows stored so far."""
    delta = writer.delta
    context = BridgeContext(writer.bridge_queries, tree)
    joined = {name: valid.get(name) or _join_one(name, context, failed) for name in plugins.names(BRIDGES)}
    rows = [row for one in joined.values() for row in one.rows]
    if rows != before:
        writer.put_analysis(_ROWS, pack_bridges(rows))
    reads = {name: (len(one.rows), one.slots) for name, one in joined.items()}
    writer.put_analysis(_READS, msgspec.msgpack.encode(reads))
    differing = {*before} ^ {*rows}
    delta.add(Aspect.BRIDGES, {row.bridge for row in differing})
    # Rows also count for the name before the first dot: the row of an overload belongs to its operator, too.
    delta.add(Aspect.BRIDGES_OF_NAME, {name for row in differing for name in (row.name, row.name.partition(".")[0])})
    ids = {one for row in differing for one in (row.source, row.target) if one}
    delta.add(Aspect.BRIDGES_OF_FILE, set(map(writer.owner, ids)))
    delta.add(Aspect.USED_BY, {writer.owner(row.target) for row in differing if _is_call(row)})
    had, now = ({edge(r.target, r.source, EdgeKind.CALLS) for r in some if _is_call(r)} for some in (before, rows))
    delta.removed_calls, delta.added_calls = had - now, now - had
    if had != now or not had:
        writer.put_analysis(CALLS, pack_edges(now))
    return now


def _join_one(name: str, context: BridgeContext, failed: Failed) -> JoinedBridge:
    with context.reads.recording() as slots:
        try:
            rows = list(dict.fromkeys(plugins.load(BRIDGES, name).join(context)))
            return JoinedBridge(rows, pack_slots(slots))
        except _FAULTS as error:
            failed(f"the bridge {name}", f"{type(error).__name__}: {error}")
            return JoinedBridge([], None)


def _stored_reads(writer: StoreWriter) -> dict[str, tuple[int, bytes | None]]:
    """Return the number of rows of each bridge, and the slots that were read to join it."""
    packed = writer.queries.analysis_result(_READS)
    return msgspec.msgpack.decode(packed, type=dict[str, tuple[int, bytes | None]]) if packed else {}


def _is_call(row: Bridge) -> bool:
    """True if calling one end of the bridge executes the other."""
    return row.role == Role.CALL and row.trust > Trust.CANDIDATE and row.target not in (0, row.source)


def _changed_slots(delta: Delta) -> set[int]:
    """Return the slots of what the update has changed so far."""
    found = {slot_of(aspect, key) for aspect, key in delta.aspects}
    return found | {slot_of(aspect, WHOLE_TABLE) for aspect, _ in delta.aspects}


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
