"""Converts sections of documentation comments (parameters, results, errors) to lists under a bold label.

In: the lines of a section in the conventions of Google, NumPy, reST field lists or kernel-doc. Out: blocks. The label
is the same for all conventions ("Parameters" for `Args:` and `:param:`); a section of plain prose keeps its title.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from concordance.query.markup.inline import InlineReader, escape_text
from concordance.query.markup.markdown_shapes import MarkdownBlock, dedent_lines, list_block, with_label


class BlockReader(Protocol):
    """A parser for blocks, as `markup.blocks.BlockParser` is; a protocol, because that module imports this one."""

    words: InlineReader
    language: str
    members: str  # the label of kernel-doc's entries: parameters, or the members of a structure

    def convert(self, lines: Sequence[str]) -> list[MarkdownBlock]:
        """Return the blocks of the given lines."""


class SectionItem(NamedTuple):
    """One entry of a section: a name, its type, and the lines about it."""

    name: str
    type: str
    lines: list[str]


ITEMS = {  # sections that list names, with the label for each
    "args": "Parameters", "arg": "Parameters", "arguments": "Parameters", "parameters": "Parameters",
    "parameter": "Parameters", "params": "Parameters", "param": "Parameters", "kwargs": "Keyword parameters",
    "keyword args": "Keyword parameters", "keyword arguments": "Keyword parameters",
    "keyword parameters": "Keyword parameters", "other parameters": "Other parameters",
    "other arguments": "Other parameters", "inputs": "Inputs", "outputs": "Outputs", "raises": "Raises",
    "raise": "Raises",
    "exceptions": "Raises", "throws": "Raises", "warns": "Warns", "attributes": "Attributes", "methods": "Methods",
    "members": "Members", "fields": "Fields", "properties": "Properties", "options": "Options",
    "variables": "Variables",
    "env": "Environment", "environment": "Environment", "receives": "Receives", "see also": "See also",
    "optional args": "Optional parameters", "optional arguments": "Optional parameters",
}  # fmt: skip
VALUES = {  # sections about one value
    "returns": "Returns", "return": "Returns", "yields": "Yields", "yield": "Yields", "result": "Returns",
    "return value": "Returns", "return values": "Returns", "rtype": "Type",
}  # fmt: skip
PROSE = {
    "note": "Note", "notes": "Notes", "warning": "Warning", "warnings": "Warnings", "example": "Example",
    "examples": "Examples", "usage": "Usage", "references": "References", "reference": "Reference", "todo": "To do",
    "shape": "Shape", "shapes": "Shapes", "tip": "Tip", "hint": "Hint", "caution": "Caution", "danger": "Danger",
    "important": "Important", "attention": "Attention", "context": "Context", "description": "Description",
    "deprecated": "Deprecated", "locking": "Locking", "summary": "", "overview": "Overview", "caveats": "Caveats",
    "limitations": "Limitations", "side effects": "Side effects", "preconditions": "Preconditions",
    "output": "Output", "input": "Input", "since": "Since", "history": "History", "details": "Details",
}  # fmt: skip
_ALL = {**ITEMS, **VALUES, **PROSE}
_HEADER = re.compile(r"([A-Za-z][a-z]*(?: [A-Za-z]+)?)[ ]?(::?)(?:[ ]+(\S.*))?$", re.S)
_NAME = r"(?:\\?\*){0,2}[\w$.-]+(?:\[[\w.: ]*\])?"
_ITEM = re.compile(
    rf"(?:[-*+•][ ]+)?(?:(?P<quote>`{{1,2}}|\*\*|')(?P<quoted>[^`*'\n]{{1,120}}?)(?P=quote)|"
    rf":\w+:`(?P<role>[^`\n]{{1,120}})`|"
    rf"(?P<names>{_NAME}(?:\s*[,/]\s*{_NAME})*))\s*(?=[(:–—]|--?\s)"
)
_MARK = re.compile(r"\s*(?::(?!:)|[–—]|--?(?=\s))\s*")
_TYPE_FIRST = re.compile(
    r"((?:[\w.~|,&*?\[\]'\" -]|\([^()]*+\)|:\w++:`[^`]++`|`++[^`]++`++){1,120}?)(?<![\s,]):[ ]++(?=\S)"
)


def section_header(text: str) -> tuple[str, str] | None:
    """Return the key of the section that a line such as `Args:` opens, and the text after it; None if it opens none."""
    if ":" not in text[:40]:
        return None
    match = _HEADER.match(text)
    if match is None:
        return None
    key = match[1].lower()
    return (key, match[3] or "") if key in _ALL and (match[1][0].isupper() or not match[3]) else None


def section_of_title(title: str) -> str:
    """Return the key of the section that an underlined title names, "" if it names none."""
    key = title.strip().rstrip(":").lower()
    return key if key in _ALL else ""


def google_section(reader: BlockReader, key: str, inline: str, body: Sequence[str]) -> list[MarkdownBlock]:
    """Convert a section in Google style, with its body indented below the header."""
    lines = dedent_lines(body)
    if key in PROSE:
        blocks = reader.convert([inline, *lines] if inline else lines)
        return with_label(f"**{PROSE[key]}:**", blocks) if PROSE[key] and blocks else blocks
    if key in VALUES:
        return _value(reader, VALUES[key], [inline, *lines] if inline else lines)
    items, before = _items([inline, *lines] if inline else lines)
    if not items:
        return with_label(f"**{ITEMS[key]}:**", reader.convert(before))
    return [MarkdownBlock("text", f"**{ITEMS[key]}:**"), *reader.convert(before), *item_list(reader, items)]


def numpy_section(reader: BlockReader, key: str, body: Sequence[str]) -> list[MarkdownBlock]:
    """Convert a section in NumPy style: under its title, a name and type on one line, its text indented below."""
    label = ITEMS.get(key) or VALUES[key]
    items: list[SectionItem] = []
    lines = dedent_lines(body)
    for place, line in enumerate(lines):
        if line[:1].strip():
            below = lines[place + 1 : place + 2]
            name, colon, stated = line.partition(" :") if " :" in line else line.partition(": ")
            described = bool(below and below[0].startswith(" "))
            if items and not described and not colon and (lines[place - 1].startswith(" ") or " " in line.strip()):
                items[-1].lines.append(line)
            elif key in ITEMS and (colon or described or " " not in line.strip()):
                if key == "see also" and colon:
                    items.append(SectionItem(name.strip(), "", [stated.strip()]))
                else:
                    items.append(SectionItem(name.strip().strip("`") or name, stated.strip(), []))
            elif key in VALUES and colon and " " not in name.strip() and name.strip():
                items.append(SectionItem(name.strip(), stated.strip(), []))
            elif key in VALUES and described:
                items.append(SectionItem("", line.strip(), []))
            elif items:
                items[-1].lines.append(line)
            else:
                return with_label(f"**{label}:**", reader.convert(lines))
        elif items:
            items[-1].lines.append(line)
    return [MarkdownBlock("text", f"**{label}:**"), *item_list(reader, items)] if items else []


def item_list(reader: BlockReader, items: Sequence[SectionItem]) -> list[MarkdownBlock]:
    """Return entries as a list."""
    return list_block([_entry(reader, item) for item in items])


def _entry(reader: BlockReader, item: SectionItem) -> list[MarkdownBlock]:
    name = f"**{escape_text(item.name)}**" if item.name else ""
    stated = reader.words.markdown(" ".join(item.type.split())) if item.type else ""
    head = f"{name} ({stated})" if name and stated else name or stated
    blocks = [block for block in reader.convert(dedent_following(item.lines)) if block.kind != "text" or block.text]
    if not blocks:
        return [MarkdownBlock("text", head)] if head else []
    return with_label(f"{head}:", blocks) if head else blocks


def dedent_following(lines: Sequence[str]) -> list[str]:
    """Return lines without the margin of all but the first, which followed a name and has no margin."""
    if not lines:
        return []
    if not lines[0].strip() or lines[0][0] == " ":
        return dedent_lines(lines)
    gap = [""] if len(lines) > 1 and not lines[1].strip() else []
    return [lines[0], *gap, *dedent_lines(lines[1:])]


def _items(lines: Sequence[str]) -> tuple[list[SectionItem], list[str]]:
    """Return the entries `name (type): text`, and the lines before the first."""
    items: list[SectionItem] = []
    before: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        item = None
        if line[:1].strip():
            item, taken = _item(lines, at - 1)
            at += taken
        if item is not None:
            items.append(item)
        elif items:
            items[-1].lines.append(line)
        else:
            before.append(line)
    return items, before


def _item(lines: Sequence[str], at: int) -> tuple[SectionItem | None, int]:
    """Return the entry that a line opens, or None, and how many further lines its type takes."""
    text, more = lines[at], 0
    match = _ITEM.match(text)
    if match is None:
        return None, 0
    name = match["quoted"] or (match["role"] or "").lstrip("~!.") or match["names"]
    rest, stated = text[match.end() :], ""
    if rest[:1] == "(":
        close = _closing(rest)
        while close < 0 and more < 6 and at + more + 1 < len(lines) and lines[at + more + 1].strip():
            more += 1
            rest = f"{rest} {lines[at + more].strip()}"
            close = _closing(rest)
        if close < 0:
            return None, 0
        stated, rest = rest[1:close].strip(), rest[close + 1 :]
    mark = _MARK.match(rest)
    if mark is None:
        return (SectionItem(name.replace("\\*", "*"), stated, []), more) if stated and not rest.strip() else (None, 0)
    return SectionItem(name.replace("\\*", "*"), stated, [rest[mark.end() :]]), more


def _closing(text: str) -> int:
    """Return the position of the bracket that closes the one at the start of a text, -1 if there is none."""
    depth = 0
    for match in re.finditer(r"[()\[\]{}]", text):
        depth += 1 if match[0] in "([{" else -1
        if depth == 0:
            return match.start()
    return -1


def _value(reader: BlockReader, label: str, lines: Sequence[str], known: str = "") -> list[MarkdownBlock]:
    """Convert a section about a returned value: its text, after its type if one is named."""
    lines = dedent_following(lines)
    stated = reader.words.markdown(known) if known else ""
    match = _TYPE_FIRST.match(lines[0]) if lines and not known else None
    if (
        match is not None
        and len(match[1].split()) <= 5
        and not match[1].lower().startswith(("if ", "a ", "the ", "an "))
    ):
        stated = reader.words.markdown(match[1].strip())
        lines = [lines[0][match.end() :], *lines[1:]]
    blocks = reader.convert(lines)
    if not blocks:
        return [MarkdownBlock("text", f"**{label}:** {stated}")] if stated else []
    return with_label(f"**{label}:**" + (f" {stated} –" if stated else ""), blocks)


_ALIGNED = re.compile(r"([\w.*,$-]+)[ ]+:[ ]+(?=\S)")


def aligned_items(lines: Sequence[str], margin: int) -> list[SectionItem]:
    """Return the entries `name : text`, one per line that is not indented; none if a line has another form."""
    if " : " not in lines[0]:
        return []
    items: list[SectionItem] = []
    for line in lines:
        if line[margin : margin + 1].isspace():
            items[-1].lines.append(line)
            continue
        match = _ALIGNED.match(line, margin)
        if match is None:
            return []
        items.append(SectionItem(match[1], "", [line[match.end() :]]))
    return items if len(items) > 1 else []


# --- reST field lists: ":param int x: text"

_FIELD = re.compile(
    r":(?P<what>[A-Za-z][\w-]*+)(?:[ ]++(?P<of>[^:`]*+(?:`[^`]*+`[^:`]*+)*+))?:(?:[ ]+(?P<words>.*)|$)", re.S
)
_NAMED = {
    "param": "Parameters", "parameter": "Parameters", "arg": "Parameters", "argument": "Parameters",
    "key": "Parameters",
    "keyword": "Parameters", "kwarg": "Parameters", "kwparam": "Parameters", "raises": "Raises", "raise": "Raises",
    "except": "Raises", "exception": "Raises", "throws": "Raises", "var": "Attributes", "ivar": "Attributes",
    "cvar": "Attributes", "vartype": "Attributes", "type": "Parameters",
}  # fmt: skip


def is_field(text: str) -> bool:
    """True if a line opens a field."""
    match = _FIELD.match(text) if text[:1] == ":" else None
    return match is not None and (match["what"] in _NAMED or match["what"].lower() in _ALL or not match["of"])


def field_list(reader: BlockReader, groups: Sequence[Sequence[str]]) -> list[MarkdownBlock]:
    """Convert the fields of a field list, each given as its lines."""
    items_by_label: dict[str, list[SectionItem]] = {}
    types: dict[str, str] = {}
    fields: list[list[MarkdownBlock]] = []
    returned: list[str] = []
    for lines in groups:
        match = _FIELD.match(lines[0])
        if match is None:
            continue
        what, of = match["what"], (match["of"] or "").strip()
        body = dedent_following([match["words"] or "", *lines[1:]])
        if what in ("type", "vartype") and of:
            types[of] = " ".join(" ".join(body).split())
        elif what in _NAMED:
            stated, _, name = of.rpartition(" ")
            items_by_label.setdefault(_NAMED[what], []).append(SectionItem(name, stated.strip(), body))
        elif what.lower() == "rtype":
            types[""] = " ".join(" ".join(body).split())
        elif VALUES.get(what.lower()) == "Returns":
            returned = [*returned, *body]
        elif what.lower() in VALUES:
            fields.append(_value(reader, VALUES[what.lower()], body))
        else:
            fields.append(
                with_label(f"**{escape_text(what.capitalize() + (' ' + of if of else ''))}:**", reader.convert(body))
            )
    result: list[MarkdownBlock] = []
    for label, items in items_by_label.items():
        typed = [item._replace(type=item.type or types.get(item.name, "")) for item in items]
        if label != "Raises":
            result += [MarkdownBlock("text", f"**{label}:**"), *item_list(reader, typed)]
    result += _value(reader, "Returns", returned, types.get("", ""))
    result += [block for blocks in fields for block in blocks]
    if "Raises" in items_by_label:
        result += [MarkdownBlock("text", "**Raises:**"), *item_list(reader, items_by_label["Raises"])]
    return result
