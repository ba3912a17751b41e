"""TeX formulas as MathML, which browsers show without a script.

In: a formula as an author wrote it. Out: MathML, or "" if a part of it is not understood; the page then shows the TeX.
A library parses the formula. What it returns is written anew with known elements and attributes only, and all text is
escaped, because its own output passes markup in a formula through.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from xml.etree.ElementTree import Element

from concordance.base.characters import escape_hidden

try:
    from latex2mathml import converter, exceptions  # type: ignore[import-not-found,unused-ignore]
except ImportError:  # like ruff, the library may be missing where somebody packs the program: formulas stay TeX
    converter = exceptions = None  # type: ignore[assignment,unused-ignore]

_LONGEST = 4_000  # characters of a formula
_DEEPEST = 60  # nested elements
_ELEMENTS = frozenset(
    ("math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup",
     "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mfenced", "mstyle", "mpadded", "mphantom", "menclose")
)  # fmt: skip
_ATTRIBUTES = frozenset(
    ("display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "fence", "form", "separator", "accent",
     "movablelimits", "linethickness", "width", "height", "depth", "lspace", "rspace", "columnalign", "minsize",
     "maxsize", "notation")
)  # fmt: skip
_VALUE = re.compile(r"[\w.+% -]{0,40}")
_ESCAPED = re.compile(r"\\([_%&#${} ])")  # what TeX wants escaped in `\text{…}`
_ENVIRONMENTS = re.compile(r"\\(begin|end)\{(?:align|aligned|gather|gathered|eqnarray|equation|multline)\*?\}")
_ERRORS = tuple(var for var in vars(exceptions or re).values() if isinstance(var, type) and issubclass(var, Exception))


class _UnknownMarkupError(Exception):
    """The formula has a part that is not understood."""


@lru_cache(512)
def tex_to_mathml(formula: str, is_block: bool = False) -> str:
    """Return a formula as MathML; "" if it cannot be converted."""
    text = _ENVIRONMENTS.sub(r"\\\1{split}", formula).strip()
    if not text or len(text) > _LONGEST or converter is None:
        return ""
    try:
        return _write(converter.convert_to_element(text, display="block" if is_block else "inline"), 0)
    except (_UnknownMarkupError, StopIteration, LookupError, ValueError, TypeError, AttributeError, RecursionError):
        return ""
    except _ERRORS:
        return ""


def _write(element: Element, depth: int) -> str:
    name = element.tag.rpartition("}")[2]
    if name not in _ELEMENTS or depth > _DEEPEST:
        raise _UnknownMarkupError
    given = [(key, value) for key, value in element.attrib.items() if key in _ATTRIBUTES and _VALUE.fullmatch(value)]
    inside = "".join(_write(child, depth + 1) for child in element)
    text = unescape(element.text or "").strip("\n")
    if name == "mtext":
        plain, text = _ESCAPED.sub("", text), _ESCAPED.sub(r"\1", text)
        if "\\" in plain or "$" in plain:  # a command or a formula inside `\text{…}`, which the library garbles
            raise _UnknownMarkupError
    elif "\\" in text or text == "&":
        raise _UnknownMarkupError
    attributes = "".join(f' {key}="{value}"' for key, value in given)
    return f"<{name}{attributes}>{escape(escape_hidden(text), False)}{inside}</{name}>"
