"""Documentation and the code that it refers to.

In: a document, in reST or Markdown. Out: an end for each code name: names that a directive documents ("documents"),
that a role or literal gives in full or as a path ("mentions"), and that examples call ("shows"), with the current
module if the name may be relative to it. Python files are read for the names that a package re-exports ("hands on"),
because documents refer to symbols where users import them from. Which names belong to the repository is only known
after all files have been read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from concordance.base.model import Kind
from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext

LANGUAGES = ("rst", "markdown", "text", "python")
WORDS = (b"`", b">>>", b"::", b"\nfrom .", b"from .", b"__all__")
# The module that what follows is in: `.. currentmodule:: torch.nn`
_CURRENT = re.compile(r"^[ \t]*(?:\.\.[ \t]+|```\{|:::\{)(?:py:)?(?:current)?module(?:::|\})[ \t]+([\w.]+)", re.M)
# A reference to Python code: ``:func:`name` ``, ``{func}`name` ``
_ROLE = re.compile(
    r"(?::(?:py:)?(?:func|class|meth|mod|attr|obj|data|exc|const):|\{(?:py:)?(?:func|class|meth|mod|attr|obj|data|exc)\})"
    r"`(?P<text>[^`\n]+)`"
)
# A reference to C++ code: ``:cpp:class:`Name` ``, `.. doxygenclass:: Name`
_CPP = re.compile(
    r"(?::cpp:(?:any|class|struct|func|member|type|enum|expr):`~?(?:[^`<\n]*<)?"
    r"|^[ \t]*\.\.[ \t]+doxygen(?:class|struct|function|enum|typedef)::[ \t]+)(?P<name>(?:\w+::)*~?\w+)", re.M
)  # fmt: skip
# Inline code that may be a name: `` `name` ``, ``` ``name()`` ```
_LITERAL = re.compile(r"(?<![`\w:}])(`{1,2})(?P<text>[A-Za-z_.~][\w./:+-]*)(?:\([^`\n]*\))?\1(?![`_\w])")
_DOTTED = re.compile(r"~?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z")
_QUALIFIED = re.compile(r"(?:[A-Za-z_]\w*::)+~?[A-Za-z_]\w*\Z")
_PATH = re.compile(r"\.{0,2}/?(?:[\w.+-]+/)+[\w.+-]+\Z")
# A fenced block of Python in Markdown
_FENCE = re.compile(
    r"^([ \t]*)(```+|~~~+)[ \t]*\{?(?:code-block\}[ \t]*)?(python3?|py|pycon|ipython|testcode)\b[^\n]*\n(.*?)^\1\2",
    re.M | re.S,
)
_PROMPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)[ \t](.*)$", re.M)
# A block of code in reST: the directive or the paragraph that ends in `::`, and its indented lines
_BLOCK = re.compile(
    r"^([ \t]{0,40}+)(?:\.\.[ \t]+(?:(?:source)?code|code-block|testcode)::[ \t]*(?:python3?|py|pycon)?|[^\n]*[^:\n]::)"
    r"\s*?\n"
    r"((?:[ \t]*\n|\1[ \t]+[^\n]*\n?)+)", re.M
)  # fmt: skip
_IMPORT = re.compile(r"^[ \t>.]*import[ \t]+([\w.]+)(?:[ \t]+as[ \t]+(\w+))?", re.M)
_FROM = re.compile(r"^[ \t>.]*from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?([^\n#)]*)", re.M)
_USE = re.compile(r"(?<![\w.\"'])([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)*)[ \t]*(?=\()")
# What a module imports from another, to hand it on: `from .a import b, c`
_HANDED = re.compile(
    rb"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(\((?:[^()#]|#[^\n]*+)*+\)|(?:[^\n\\#]|\\\r?\n)*)", re.M
)
_NAME = re.compile(rb"(\*)|([A-Za-z_]\w*)(?:\s+as\s+([A-Za-z_]\w*))?|#[^\n]*")
# A definition that a document describes: `.. py:function:: name`
_MANUAL = re.compile(
    rb"^([ \t]*)\.\. (?:py:)?(class|function|method|attribute|property|classmethod|staticmethod|exception|data"
    rb"|decorator|autoclass|autofunction|automethod|automodule|autoexception|autodata)::[ \t]+([A-Za-z_][\w.]*)", re.M
)  # fmt: skip
_MARKED = re.compile(r"^[ \t]*\.\. [\w:-]+::|:[a-z]+:`", re.M)  # reST markup, whatever the file's extension
_AUTO = ("auto",)
_DOCUMENTED = frozenset((Kind.FUNCTION, Kind.CLASS, Kind.METHOD, Kind.PROPERTY, Kind.FIELD, Kind.VARIABLE))
_LONGEST = 2_000_000  # longer documents are not searched (characters)


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the code names in a document, or the names that a package re-exports."""
    if context.language == "python":
        yield from _reexports(context)
        return
    text = context.source.text
    if len(text) > _LONGEST or (context.language == "text" and not _MARKED.search(text)):
        return
    seen = set()
    for at, says, name, how, module in _code_references(context, text):
        if at not in seen:
            seen.add(at)
            more = (("how", how), ("module", module)) if module else (("how", how),)
            yield BridgeEnd(at, says, name, name, more)


_Spoken = Iterator[tuple[int, str, str, str, str]]


def _code_references(context: RuleContext, text: str) -> _Spoken:
    """Yield each name with its offset, its relation, the kind of reference, and the current module."""
    offset = _offsets(context, text)
    modules = list(_CURRENT.finditer(text))
    current = [(match.start(), match[1]) for match in modules]
    starts = [at for at, _ in current]

    def module(at: int) -> str:
        place = bisect_right(starts, at) - 1
        return current[place][1] if place >= 0 else ""

    for at, row in context.draft.imports:
        if row.form.startswith(_AUTO):
            name = row.name.partition("(")[0].strip()
            how = "module" if row.form == "automodule" else "directive"
            yield at, "documents", name or row.module, how, row.module if name else ""
    for match in modules:
        if "currentmodule" not in match[0]:
            yield offset(match.start(1)), "documents", match[1], "module", ""
    for at, name in _directives(context):
        yield at, "documents", name, "definition", module(context.source.offset(at))
    for match in _ROLE.finditer(text):
        target, at = _target(match)
        if target:
            how = "module" if match[0].startswith((":mod:", ":py:mod:", "{mod}", "{py:mod}")) else "role"
            yield offset(at), "mentions", target, how, module(at)
    for match in _CPP.finditer(text):
        says = "documents" if "doxygen" in match[0] else "mentions"
        yield offset(match.start("name")), says, match["name"], "qualified", ""
    for match in _LITERAL.finditer(text):
        word = match["text"].lstrip("~").rstrip(".:")
        how = _reference_kind(word)
        if how:
            yield offset(match.start("text")), "mentions", word, how, ""
    for start, name in _examples(text):
        yield offset(start), "shows", name, "code", ""


def _reference_kind(word: str) -> str:
    if "/" in word:
        return "path" if _PATH.match(word) else ""
    return "qualified" if _QUALIFIED.match(word) else "dotted" if _DOTTED.match(word) else ""


def _offsets(context: RuleContext, text: str) -> Callable[[int], int]:
    """Return a function that converts character offsets to byte offsets."""
    if len(text) == len(context.data):
        return lambda at: at
    starts, lengths = [0], [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
        lengths.append(lengths[-1] + len(line.encode("utf-8", "replace")))

    def turned(at: int) -> int:
        place = bisect_right(starts, at) - 1
        return lengths[place] + len(text[starts[place] : at].encode("utf-8", "replace"))

    return turned


def _target(match: re.Match[str]) -> tuple[str, int]:
    """Return the target of a role and its offset; handles `title <target>`, `~shortened` and `!not-a-link`."""
    text = match["text"]
    if text.startswith("!"):
        return "", 0
    inner = re.search(r"<([^<>]+)>\s*$", text)
    word = inner[1] if inner else text
    at = match.start("text") + (inner.start(1) if inner else 0)
    bare = word.lstrip("~.").partition("(")[0].strip()
    return (bare, at + len(word) - len(word.lstrip("~."))) if re.fullmatch(r"[A-Za-z_][\w.]*", bare) else ("", 0)


def _directives(context: RuleContext) -> Iterator[tuple[int, str]]:
    """Yield what directives document by hand: `.. function:: f(x)`; a method is qualified with its class."""
    if context.language == "text":
        yield from _directives_in_text(context.data)
    if context.language != "rst":
        return
    qualified = dict(_directives_in_text(context.data))
    for definition in context.draft.definitions:
        if definition.kind in _DOCUMENTED and b"::" in context.data[definition.start : definition.at]:
            yield definition.at, qualified.get(definition.at, definition.name)


def _directives_in_text(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield what directives document in reST, a member with the class around it, whoever wrote its documentation."""
    classes: list[tuple[int, str]] = []  # open classes: indentation, name
    for match in _MANUAL.finditer(data):
        name, depth = match[3].decode(), len(match[1])
        classes = [pair for pair in classes if pair[0] < depth]
        inner = match[2] in (b"method", b"attribute", b"property", b"classmethod", b"staticmethod")
        yield match.start(3), f"{classes[-1][1]}.{name}" if inner and classes and "." not in name else name
        if match[2] in (b"class", b"autoclass", b"exception"):
            classes.append((depth, name))


def _examples(text: str) -> Iterator[tuple[int, str]]:
    """Yield the calls in examples whose first name is imported by one of the document's examples."""
    blocks = [match.span(4) for match in _FENCE.finditer(text)] + [match.span(2) for match in _BLOCK.finditer(text)]
    blocks += [match.span(1) for match in _PROMPT.finditer(text)]
    if not blocks:
        return
    known: dict[str, str] = {}
    for start, end in sorted(blocks):
        code = text[start:end]
        for match in _IMPORT.finditer(code):
            known[match[2] or match[1].partition(".")[0]] = match[1] if match[2] else match[1].partition(".")[0]
        for match in _FROM.finditer(code):
            for part in match[2].split(","):
                name, _, alias = (word.strip() for word in part.partition(" as "))
                if re.fullmatch(r"\w+", name):
                    known[alias or name] = f"{match[1]}.{name}"
    for start, end in sorted(blocks) if known else ():
        for match in _USE.finditer(text, start, end):
            if match[1] in known:
                yield match.start(), known[match[1]] + match[2]


def _reexports(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the names that a module imports at its top level, if it looks like a package's `__init__.py`."""
    data = context.data
    if b"__all__" not in data and b"\nfrom ." not in data and not data.startswith(b"from ."):
        return
    lines = {row.line for row in context.imports if not row.scope}
    for match in _HANDED.finditer(data):
        if context.source.line(match.start(1)) not in lines:
            continue
        for name in _NAME.finditer(data, *match.span(2)):
            if name[1]:
                yield BridgeEnd(match.start(1), "hands on", "*", match[1].decode())
            elif name[2]:
                group = 3 if name[3] else 2
                yield BridgeEnd(name.start(group), "hands on", name[group].decode(), match[1].decode())
