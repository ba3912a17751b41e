"""Code on a page of the site.

In: text and the name of its language. Out: HTML. Whoever has only a keyboard can reach it, to move sideways in it.
"""

from __future__ import annotations

import re
from html import escape

from concordance.signs import visible

_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")


def code(text: str, language: str = "") -> str:
    """Text that is shown letter by letter."""
    named = f' class="language-{language}"' if _LANGUAGE.fullmatch(language) else ""
    return f'<pre tabindex="0"><code{named}>{escape(visible(text), False)}</code></pre>\n'
