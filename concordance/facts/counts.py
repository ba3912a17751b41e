"""`Counts`: totals over the whole store, for the summary of a build.

In: the folder of a store. Out: numbers, computed from every file's packed values. That takes a tenth of a second for
ten thousand files, and leaves no counters that each update would have to maintain.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Finding, Trust
from concordance.facts import codec, schema
from concordance.facts.read import Facts, worth_reporting


class Counts(Facts):
    """A store that is opened for counting."""

    def all_findings(self) -> Iterator[tuple[str, list[Finding]]]:
        """Yield the path and findings of every file that has any."""
        query = (
            "SELECT path, category, facts.packed, remark.packed FROM file LEFT JOIN facts ON facts.file = file.id "
            "LEFT JOIN remark ON remark.file = file.id"
        )
        for path, category, own, theirs in self._rows(query):
            found = self._decoded(codec.unpack_findings, own) if own else ()
            found += self._decoded(codec.unpack_remarks, theirs) if theirs else ()
            if kept := worth_reporting(dict.fromkeys(found), category):
                yield schema.path_from(path), kept

    def links_by_trust(self) -> dict[Trust, int]:
        """Return the number of links by trust, most trusted first."""
        counts = dict.fromkeys(sorted(Trust, reverse=True), 0)
        for (packed,) in self._rows("SELECT packed FROM link"):
            trusts = self._decoded(codec.unpack_links, packed).trust
            for trust in counts:
                counts[trust] += trusts.count(trust)
        return counts
