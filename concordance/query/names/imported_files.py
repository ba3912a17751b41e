"""Which file an import means.

In: what the link stage found for an import. Out: a path. `from a import b` means the file of `b`
where `b` is a module, and that of `a` where `b` is a name in it.
"""

from __future__ import annotations

from concordance.base.model import Target
from concordance.query.index.repository import Index


def target_of(index: Index, target: Target | None, named: int) -> str:
    """The path of the file that an import means; "" where it is none of the repository's."""
    if named:
        path = index.path_of_base(named)
        if path:
            return path
    return target.paths[0] if target is not None and target.paths else ""
