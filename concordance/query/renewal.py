"""An index that goes on after an update: what is still right is kept, the rest is worked out again.

In: an index, and the store as it is now. Out: whether it could go on. A process that follows a repository makes a new
index only where there are other files, names or ids: to read all names again takes longer than all else.
"""

from __future__ import annotations

from concordance.facts.read import Facts
from concordance.facts.touched import Aspect

from .index import Index
from .reads import renewed

# What is worked out of what analyses gave.
_OF_PASSES = (
    "neighbours", "layers", "cycles", "loads", "clusters", "_folder_edges", "_tested", "graph", "ranks", "bands",
)  # fmt: skip


def renew(index: Index, facts: Facts) -> bool:
    """Goes on with a store that was updated meanwhile; False where that is not worth it."""
    before, now = index.facts.meta(), facts.meta()
    touched = facts.touched_since(int(before.get("update", "0")))
    other = touched[Aspect.NAME] | touched[Aspect.NAMES] | touched[Aspect.PATHS]
    if before.get("born") != now.get("born") or other or facts.bases() != index.bases:
        return False
    index.facts.close()
    index.facts = facts
    known = index.__dict__
    index.open.clear()  # they ask the store as it was
    for path in touched[Aspect.TEXT] if "files" in known else ():
        file = facts.file(path)
        if file is not None:
            dict.__setitem__(index.files, path, file)
    stale = ["runners", "_owners", "shelves", *(["alphabet"] if touched[Aspect.CONCEPT] else [])]
    if known.pop("marks", None) != index.marks:
        stale += _OF_PASSES
    for name in stale:
        known.pop(name, None)
    if "neighbours" in known:
        index.neighbours.facts = facts
    if "census" in known:
        index.census.renew(facts, touched)
    index.worked_out = renewed(index.worked_out, touched)
    index.known_letters = None
    return True
