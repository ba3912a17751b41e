"""Code blocks on the site, with syntax highlighting.

In: text and the name of its language, as in a fence. Out: HTML in which comments, strings, numbers and keywords are
marked as on source pages. The block can take the keyboard focus, so that it can be scrolled without a mouse.
"""

from __future__ import annotations

import re
from html import escape

from concordance.base.characters import escape_hidden
from concordance.extract.text.highlight import highlight_spans

_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")
_READ_AS = {  # names used in fences, where the highlighter has another
    "py": "python", "python3": "python", "pycon": "python", "bash": "shell", "sh": "shell", "zsh": "shell",
    "c++": "cpp", "cxx": "cpp", "cc": "cpp", "h": "cpp", "hpp": "cpp", "cu": "cuda", "objective-c": "objc",
    "objective-c++": "objcpp", "js": "javascript", "ts": "typescript", "rs": "rust", "golang": "go", "yml": "yaml",
    "makefile": "make", "protobuf": "proto", "bzl": "starlark",
}  # fmt: skip
_LARGEST = 20_000  # characters; longer code is not highlighted, because it would take too long


def render_code(text: str, language: str = "") -> str:
    """Return the HTML of a code block."""
    text = escape_hidden(text)
    if not _LANGUAGE.fullmatch(language):
        return f'<pre tabindex="0"><code>{escape(text, False)}</code></pre>\n'
    name = language.lower()
    name = _READ_AS.get(name, name)
    told = highlight_spans(text, name) if len(text) <= _LARGEST else []
    out: list[str] = []
    place = 0
    for start, end, letter in told:
        out += (escape(text[place:start], False), f'<i class="{letter}">', escape(text[start:end], False), "</i>")
        place = end
    out.append(escape(text[place:], False))
    return f'<pre tabindex="0"><code class="language-{language}">{"".join(out)}</code></pre>\n'
