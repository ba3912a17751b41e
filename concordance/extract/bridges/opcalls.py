"""C++: calls of functions that a build makes from a table of operators, `at::add(…)` and `torch::add(…)`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.extract.bridging import Said
from concordance.extract.look import C_FAMILY, Look

LANGUAGES = C_FAMILY
WORDS = (b"at::", b"torch::")
_CALL = re.compile(rb"(?<![\w:])(?:::)?(?:at|torch)::([a-z_]\w*)\s*\(")


def ends(look: Look) -> Iterator[Said]:
    """Each name that is called so, where it is first called in each stretch of the text."""
    names = look.draft.ends
    for match in _CALL.finditer(look.data):
        at = match.start(1)
        if names.get(at) == match.end(1):  # of a comment or a text the reader makes no name
            yield Said(at, "calls", match[1].decode())
