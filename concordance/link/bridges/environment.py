"""Environment variables and build options: where each is read, set, declared and documented.

In: names, as stated in files. Out: a row for each place, by the variable's name, so that it can be looked up. A build
file that reads a name reads the option of that name; any other place is joined with an option by its name alone. A name
in capitals in a document counts if it is known to be a variable or an option: read, set or declared somewhere. If only
one place reads a variable, the document is joined with that place.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.model import Bridge, Trust
from concordance.link.bridge_context import BridgeContext, StatedEnd

_FUNCTIONS = frozenset(("function", "method", "macro", "class", "struct", "variable", "constant"))


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join all places of all variables."""
    ends = context.ends("environment")
    options: dict[str, list[StatedEnd]] = {}
    for stated in ends:
        if stated.end.says == "declares":
            options.setdefault(stated.end.name, []).append(stated)
    claims = [claim for stated in ends for claim in _claims(context, stated, options)]
    in_environment = {stated.end.name for stated, trust, _ in claims if trust == Trust.EXACT}
    claims = [claim for claim in claims if not _is_scripts_own(context, claim, in_environment)]
    known = {stated.end.name for stated, _, _ in claims}
    readers: dict[str, set[int]] = {}
    for stated, _, _ in claims:
        if stated.end.says == "reads":
            readers.setdefault(stated.end.name, set()).add(stated.id)
    for stated, trust, by in claims:
        if trust == Trust.CANDIDATE and stated.end.name in in_environment:
            sure, reason = Trust.UNIQUE_NAME, f"{by}, and in the environment elsewhere"
        else:
            sure, reason = trust, by
        yield _row(stated, sure, reason, options.get(stated.end.name, []))
    for stated in ends:
        if stated.end.says == "documents" and stated.end.name in known:
            yield _documented(stated, options.get(stated.end.name, []), readers.get(stated.end.name, set()))


def _claims(
    context: BridgeContext, stated: StatedEnd, options: dict[str, list[StatedEnd]]
) -> Iterator[tuple[StatedEnd, Trust, str]]:
    """Yield what an end states by itself: that a variable is read, set or declared there."""
    more = dict(stated.end.more)
    if stated.end.says == "documents":
        return
    if stated.end.says == "declares":
        yield stated, Trust.EXACT, "build option" if more.get("what") == "option" else "declared as one"
    elif more.get("what") == "option":
        if stated.end.name in options:
            yield stated, Trust.EXACT, "variable of the build"
    elif more.get("by") in ("shell", "sourcing"):
        yield stated, Trust.CANDIDATE, "never assigned in this script"
    elif "by" in more:
        for target in context.targets_of(stated)[:1]:
            place = context.symbol(target.target)
            if place is not None and place.kind in _FUNCTIONS:
                yield stated, target.trust, f"through {more['by']}"
    else:
        yield stated, Trust.EXACT, "named explicitly"


def _is_scripts_own(context: BridgeContext, claim: tuple[StatedEnd, Trust, str], in_environment: set[str]) -> bool:
    """True if a name that a script reads may belong to another script, and nothing puts it into the environment.

    The other script is one that it sources, or one that assigns the name.
    """
    stated, trust, _ = claim
    by = dict(stated.end.more).get("by")
    if trust != Trust.CANDIDATE or by not in ("shell", "sourcing"):
        return False
    if context.targets_of(stated):
        return True
    elsewhere = by == "sourcing" or bool(context.symbols_named(stated.end.name, ("shell",)))
    return elsewhere and stated.end.name not in in_environment


def _row(stated: StatedEnd, trust: Trust, by: str, options: list[StatedEnd]) -> Bridge:
    """Return a place, joined with the option of its name."""
    others = _nearest(stated, [option for option in options if option != stated])
    if stated.end.says == "declares" or not others:
        return stated.to(0, trust, by)
    if _is_option(stated):
        sure = Trust.VIA_IMPORT if len({option.id for option in options}) == 1 else Trust.CANDIDATE
        reason = "the build option of this name" if sure > Trust.CANDIDATE else f"one of {len(options)} with this name"
        return stated.to(others[0].id, sure, reason)
    if not _is_option(others[0]):
        return stated.to(others[0].id, min(trust, Trust.UNIQUE_NAME), f"{by}; declared there")
    return stated.to(others[0].id, min(trust, Trust.CANDIDATE), f"{by}; a build option has the same name")


def _is_option(stated: StatedEnd) -> bool:
    """True if a name is declared as a build option, not as an entry of a document."""
    return dict(stated.end.more).get("what") == "option"


def _nearest(stated: StatedEnd, options: list[StatedEnd]) -> list[StatedEnd]:
    """Return the options of a name: those of the same file first, then by depth of their path."""

    def order(option: StatedEnd) -> tuple[bool, int, str, int]:
        path = option.file.path
        return path != stated.file.path, path.count("/"), path, option.end.line

    return sorted(options, key=order)


def _documented(stated: StatedEnd, options: list[StatedEnd], readers: set[int]) -> Bridge:
    """Return the row of a document: to the option, or to the only place that reads the variable."""
    option = _nearest(stated, options)
    if option:
        sure = Trust.UNIQUE_NAME if len(options) == 1 else Trust.CANDIDATE
        return stated.to(
            option[0].id, sure, "a build option has this name" if _is_option(option[0]) else "declared there"
        )
    if len(readers) == 1:
        return stated.to(next(iter(readers)), Trust.UNIQUE_NAME, "the only place that reads it")
    return stated.to(0, Trust.UNIQUE_NAME, f"read at {len(readers)} places" if readers else "set elsewhere")
