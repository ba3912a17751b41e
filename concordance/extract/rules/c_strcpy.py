"""C-STRCPY: copies that stop only where the source does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.look import C_FAMILY, LITERALS, Call, Found, Look
from concordance.model import Severity

ID = "C-STRCPY"
TITLE = "Copy without a bound"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = C_FAMILY
TESTS = True
NAMES = ("strcpy", "strcat", "stpcpy", "wcscpy", "wcscat", "gets", "lstrcpy", "lstrcat")
WHY = (
    "The copy goes on until the source ends, however small the destination is. A source longer than its author thought "
    "of overwrites what lies behind the destination."
)
BAD = "strcpy(name, given);"
GOOD = 'snprintf(name, sizeof(name), "%s", given);'


def find(look: Look) -> Iterator[Found]:
    """Calls whose source is no literal, the length of which its author saw."""
    for call in look.library_calls(*NAMES):
        if call.name == "gets":
            if len(call.arguments) == 1:
                yield look.at(
                    call.node, f"`gets` reads a line into `{look.short(call.arguments[0])}`, however long it is"
                )
        elif len(call.arguments) == 2 and call.arguments[1].type not in LITERALS:
            to, source = map(look.text, call.arguments)
            if (
                not _is_known(look, source)
                and not _is_made_for_it(look, call, to)
                and not look.is_bounded(call, source)
            ):
                to, source = map(look.short, call.arguments)
                yield look.at(call.node, f"`{call.name}` copies `{source}` into `{to}` without a bound")


def _is_known(look: Look, source: str) -> bool:
    """Whether a source's length is its author's: a macro in capitals, a choice between literals, a name of one."""
    return source.isupper() or (source.count('"') >= 4 and "?" in source) or look.holds_literal(source)


def _is_made_for_it(look: Look, call: Call, to: str) -> bool:
    """Whether the function has allocated the destination before."""
    base = re.match(r"[\s(&]*([\w>.-]+)", to)
    before = look.source.slice(call.body.start_byte, call.node.start_byte)
    made = r"\b%s\s*=[^;]*(?:alloc\w*|ALLOC\w*|\bnew\b|STACK)"
    return base is not None and re.search(made % re.escape(base[1]), before) is not None
