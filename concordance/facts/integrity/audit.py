"""Everything that is kept of a repository, checked by all of its checksums.

In: the folder of its store, and that of the user's cache. Out: what is damaged, and what to do about it. A question
checks only what has another status than when it was last found good; here every page, file and value is read.
"""

from __future__ import annotations

import glob
import os
from contextlib import closing
from typing import NamedTuple

from concordance.facts.cache import Cache
from concordance.facts.fulltext import index
from concordance.facts.integrity import checksums

_BUILD = "concord build makes it anew"


class Damage(NamedTuple):
    """Something that is not as it was written."""

    path: str
    problem: str
    advice: str


def audit(folder: str, cache: str, largest: int) -> list[Damage]:
    """What is damaged, in the order in which it is read. The caller holds the lock of the folder."""
    found = []
    for home in (folder, os.path.join(folder, "generated")):
        databases = [os.path.join(home, "index.db"), *sorted(glob.glob(os.path.join(glob.escape(home), "pages-*.db")))]
        for path in filter(os.path.lexists, databases):
            if problem := checksums.damage(path):
                checksums.doubt(path)
                found.append(Damage(path, problem, _BUILD))
        if os.path.lexists(text := os.path.join(home, "text")):
            wrong = [os.path.join(text, name) for name in index.damaged(home)]
            found += [Damage(path, "it is not as it was written", _BUILD) for path in wrong]
    with closing(Cache(cache, largest)) as facts:
        if facts.was_replaced:
            found.append(Damage(facts.path, "it was no database of ours", "It was made anew, and builds fill it"))
        elif not facts.is_open:
            advice = "Remove it, or name another cache (CONCORDANCE_CACHE)"
            found.append(Damage(facts.path, "it cannot be opened", advice))
        bad, total = facts.drop_damaged()
        if bad:
            problem = f"{bad:,} of {total:,} values were not as they were written"
            found.append(Damage(facts.path, problem, "They were dropped, and are made again when they are needed"))
    return found
