"""Join the ends of bridges between languages after all files are linked, and store the result.

In: the ends that files declare, and the names that they look up in other languages. Out: `Bridge` rows, in an order
that does not depend on the order in which files were read, and edges for bridges through which code is called. After an
update everything is joined again if an end, a looked-up name or anything else that was used for joining has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from concordance.base import plugins
from concordance.base.config import Roots
from concordance.base.model import Bridge, End, Role, Trust
from concordance.facts import codec
from concordance.facts.codec import unpack_ends
from concordance.facts.links.bridge_rows import BridgeReads, pack_bridges, unpack_bridges
from concordance.facts.links.graph import EdgeKind, edge
from concordance.facts.links.rows import rows_of
from concordance.facts.updates.delta import Aspect
from concordance.facts.write import StoreWriter
from concordance.link.bridge_context import BridgeContext
from concordance.link.paths.tree import Tree

BRIDGES = "concordance.link.bridges"
# Exceptions that an error in a bridge, or unexpected text, may cause.
_FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
Failed = Callable[[str, str], None]
_ROWS, _LOOKED_UP = "bridges", "bridges hang on"


def run(writer: StoreWriter, root: str, roots: Roots, failed: Failed) -> set[int]:
    """Join all bridges and return the edges of those through which code is called (see `facts.links.graph`).

    A bridge that fails is passed to `failed` and loses only its own rows.
    """
    crossed, delta = writer.bridge_queries, writer.delta
    before = unpack_bridges(writer.queries.analysis_result(_ROWS))
    rows = list(_join_bridges(crossed, Tree(root, writer.ledger(), roots), failed))
    if rows != before or not before:
        writer.put_analysis(_ROWS, pack_bridges(rows))
        delta.add(Aspect.BRIDGES, [""])
    writer.put_analysis(_LOOKED_UP, codec.encode_rows(crossed.queried))
    other = {*before} ^ {*rows}
    # Rows also count for the name before the first dot: the row of an overload belongs to its operator, too.
    delta.add(Aspect.BRIDGES_OF_NAME, {name for row in other for name in (row.name, row.name.partition(".")[0])})
    delta.add(
        Aspect.BRIDGES_OF_FILE, {writer.owner(one) for row in other for one in (row.source, row.target) if one}
    )
    delta.add(Aspect.USED_BY, {writer.owner(row.target) for row in other if _is_run(row)})
    had, now = ({edge(r.target, r.source, EdgeKind.CALLS) for r in some if _is_run(r)} for some in (before, rows))
    delta.removed_calls, delta.added_calls = had - now, now - had
    return now


def _is_run(row: Bridge) -> bool:
    """True if calling one end of the bridge executes the other."""
    return row.role == Role.CALL and row.trust > Trust.CANDIDATE and row.target not in (0, row.source)


def update(writer: StoreWriter, root: str, roots: Roots, failed: Failed) -> None:
    """Join all bridges again if an update may have changed any of them."""
    names, targets = codec.unpack_lookups(writer.queries.analysis_result(_LOOKED_UP))
    if _may_differ(writer, frozenset(names), frozenset(targets)):
        run(writer, root, roots, failed)


def _join_bridges(crossed: BridgeReads, tree: Tree, failed: Failed) -> Iterator[Bridge]:
    """Yield the rows of all bridges, each in its own order."""
    crossing = BridgeContext(crossed, tree)
    for name in plugins.names(BRIDGES):
        try:
            yield from list(dict.fromkeys(plugins.load(BRIDGES, name).join(crossing)))
        except _FAULTS as error:
            failed(f"the bridge {name}", f"{type(error).__name__}: {error}")


def _may_differ(writer: StoreWriter, names: frozenset[str], targets: frozenset[int]) -> bool:
    """True if the result may differ; `names` and `targets` are what it was computed from."""
    crossed = writer.bridge_queries
    delta = writer.delta
    if delta.added or delta.foreign_names_changed:
        return True
    for had in delta.previous.values():
        if not crossed.is_there(had.id):  # bridges may point to the file itself
            return True
        now = crossed.ends_of(had.id)
        if bool(now) != bool(had.ends) or (
            had.ends and _without_positions(unpack_ends(had.ends)) != _without_positions(now)
        ):
            return True
        other = {*had.keys} ^ {*crossed.keys(had.id)}
        if not names.isdisjoint(key.rpartition(".")[2].partition("+")[0] for key in other):
            return True
    joined = _joined_bridges()
    if any(end.bridge in joined for file in delta.links for end in crossed.ends_of(file)):
        return True
    for old, new in delta.links.values() if targets else ():
        if old.uses != new.uses:
            other_uses = {*rows_of(old.uses)} ^ {*rows_of(new.uses)}
            if not targets.isdisjoint(row[0] for row in other_uses):
                return True
    return False


@cache
def _joined_bridges() -> frozenset[str]:
    """Return the bridges whose ends are joined: by the plug-in of that name, or by another that `READS` them."""
    names = plugins.names(BRIDGES)
    return frozenset(names).union(*(getattr(plugins.load(BRIDGES, name), "READS", ()) for name in names))


def _without_positions(ends: Iterable[End]) -> list[End]:
    """Return ends without positions, which any line above changes; unjoined ones count only by their presence."""
    joined = _joined_bridges()
    plain = (end if end.bridge in joined else end._replace(name="", text="", more=()) for end in ends)
    return [end._replace(line=0, col=0) for end in plain]
