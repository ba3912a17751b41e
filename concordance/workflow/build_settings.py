"""What a store notes of the settings that it was made by, so that the next build knows what others touch.

In: a `Config`. Out: rows of the store's notes; and, by the notes of the last build, which files must be read again.
What only pages depend on is no matter of the store: a book notes its own wishes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping

from concordance.base.config import Config
from concordance.base.model import Entry, Skip
from concordance.collect.category import Categories

LEFT_OUT = "left_out"  # the note that says how many files each pattern left out


def notes(config: Config, linkers: str, left_out: Mapping[str, int]) -> dict[str, str]:
    """What is noted. Roots and categories decide where names lead: where they are others, so are the linkers."""
    told = hashlib.sha256(repr((config.roots, config.categories)).encode()).hexdigest()[:16]
    return {
        "linkers": f"{linkers} {told}" if config.roots != Config.roots or config.categories else linkers,
        "largest": str(config.largest),
        "categories": json.dumps(config.categories),
        LEFT_OUT: json.dumps(left_out),
    }


def touched(config: Config, meta: Mapping[str, str]) -> Callable[[Entry], bool] | None:
    """Whether an unchanged file is to be read again by these settings, by its entry; None where no file is."""
    largest = int(meta.get("largest", Config.largest))
    given = [(pattern, category) for pattern, category in json.loads(meta.get("categories", "[]"))]
    least = min(largest, config.largest)
    before, now = Categories(given), Categories(config.categories)
    is_other = tuple(given) != config.categories
    if largest == config.largest and not is_other:
        return None

    def is_touched(entry: Entry) -> bool:
        folder = entry.skip is Skip.SUBMODULE
        if is_other and before.given(entry.path, folder) is not now.given(entry.path, folder):
            return True
        return largest != config.largest and entry.size > least

    return is_touched
