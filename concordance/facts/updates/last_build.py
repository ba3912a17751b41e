"""What the last build left in a store, for the next build: its ledger, its notes about itself, and its macros."""

from __future__ import annotations

from typing import NamedTuple

from concordance.base.errors import StoreBroken
from concordance.base.model import File
from concordance.facts import schema
from concordance.facts.read import Facts
from concordance.facts.records import FileMacros

# ---
# What the last build left, for the next one: its ledger, its notes of itself, and its macros.
#
# In: the folder of a store. Out: `LastBuild`, or None where there is none, or it is another's or broken.


class LastBuild(NamedTuple):
    """What the last build left for the next one: its ledger, its metadata and its macros."""

    files: dict[str, File]
    meta: dict[str, str]
    macros: list[tuple[str, FileMacros]]


def read_last_build(folder: str, readers: str, kept: LastBuild | None = None) -> LastBuild | None:
    """Return the last build by these readers; `kept` may be a cached copy of it.

    None if there is none, if it is broken or made by other readers, or if a rebuild is better.
    """
    try:
        with Facts(folder, alone=True) as facts:
            meta = facts.meta()
            if meta.get("readers") != readers or schema.is_outgrown(meta):
                return None
            if kept is not None and kept.meta.get("started") == meta.get("started"):
                return kept._replace(meta=meta)
            return LastBuild({file.path: file for file in facts.files()}, meta, facts.macros())
    except StoreBroken:
        return None
