"""Checks everything that is stored for a repository against its checksums.

In: the folder of its store, and that of the user's cache. Out: what is damaged, and what to do about it. A query checks
only files whose status changed since they were last verified; an audit reads every page, file and value.
"""

from __future__ import annotations

import glob
import os
from contextlib import closing
from typing import NamedTuple

from concordance.facts.cache import Cache
from concordance.facts.fulltext import index
from concordance.facts.integrity import checksums
from concordance.facts.schema import GENERATED

_BUILD = "Rebuild it with: concord build"


class Damage(NamedTuple):
    """Something that does not match its checksum."""

    path: str
    problem: str
    advice: str


def audit(folder: str, cache: str, largest: int) -> list[Damage]:
    """Return what is damaged, in the order in which it is read. The caller holds the lock of the folder."""
    damage = []
    for checked in (folder, os.path.join(folder, GENERATED)):
        databases = [
            os.path.join(checked, "index.db"),
            *sorted(glob.glob(os.path.join(glob.escape(checked), "pages-*.db"))),
        ]
        for path in filter(os.path.lexists, databases):
            if problem := checksums.find_damage(path):
                checksums.distrust(path)
                damage.append(Damage(path, problem, _BUILD))
        if os.path.lexists(text := os.path.join(checked, "text")):
            wrong = [os.path.join(text, name) for name in index.damaged_index_files(checked)]
            damage += [Damage(path, "its checksum does not match", _BUILD) for path in wrong]
    with closing(Cache(cache, largest)) as facts:
        if facts.was_replaced:
            damage.append(Damage(facts.path, "it was not a valid database", "It was replaced, and builds will fill it"))
        elif not facts.is_open:
            advice = "Remove it, or name another cache (CONCORDANCE_CACHE)"
            damage.append(Damage(facts.path, "it cannot be opened", advice))
        bad, total = facts.drop_damaged()
        if bad:
            problem = f"{bad:,} of {total:,} values did not match their checksums"
            damage.append(Damage(facts.path, problem, "They were deleted, and are computed again when needed"))
    return damage
