"""Markdown: headings with their sections, anchors, relative links and images, and the code that the prose mentions.

In: a file. Out:

- a symbol for each heading, extending to the next one of the same or a higher level; its name is without markup,
  its signature as written
- a label for each anchor (`{#id}`, `<a name="id">`)
- an import of form "link" or "image" for each relative target, to be resolved at a later stage
- an import for each file that a Sphinx directive includes (```` ```{include} ````); its form is the directive's name
- a mention for each code span that is a name, and for each dotted name in other code spans

Code blocks, comments and front matter are not prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Category, DocMarkup, Kind, Language, Role
from concordance.extract.documents.markdown_blocks import Block, Directives, split_blocks
from concordance.extract.documents.prose import (
    NAME_IN_CODE,
    ByteOffsets,
    DocumentHeading,
    add_headings,
    byte_length,
    code_names,
    is_relative,
    opening_paragraph,
)
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "markdown",
    "Markdown",
    unseen="links made by a site generator",
    extensions=(".md", ".markdown", ".mdx", ".mkd", ".rmd", ".qmd"),
    category=Category.DOCUMENTATION,
    is_markup=True,
    doc_markup=DocMarkup.MARKDOWN,
)

_LINE_END = re.compile(r"\r\n|\r|\n")
_TICKS = re.compile(r"(?<!\\)`+")
_SIGNS = re.compile(r"\\.|!\[|\[|\]|<[a-zA-Z!/][^<>]*>", re.S)
_DESTINATION = re.compile(
    r"\(\s*+(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?:\s++(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*+\)"
)
_DEFINITION = re.compile(r"^[ >]{0,6}\[(?!\^)((?:[^\[\]\\]|\\.)+)\]:[ \t]*+\n?[ \t]*+(?:<([^<>\n]*)>|(\S+))", re.M)
_REFERENCE = re.compile(r"\[([^\[\]]+)\](?:\[\])?(?![(\[:])")
_ID = re.compile(r"#([\w:.-]+)")
_ATTRIBUTE = re.compile(r"\b(name|id|href|src)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.I)
_TARGET = re.compile(r"^[ \t]*\(([\w:.-]+)\)=[ \t]*$", re.M)
# The search for pairs of delimiters takes time in proportion to the length of the text times the number of unclosed
# delimiters, so both are limited.
_LONGEST = 5_000  # characters of a heading or first paragraph
_MOST_SIGNS = 100  # delimiters in such a text that may open markup
_OPENING_SIGN = re.compile(r"(?<!\w)(?:[*_]|~~)|<!--")
_IMAGE = re.compile(r"!\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])")
_ALT = re.compile(r"<img\b[^<>]*?\balt=[\"']([^\"']*)", re.I)
_LINKED_ITEM = re.compile(r"[*+-] +\[")  # an entry of a table of contents
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKUP = re.compile(
    r"!\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])|\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])|<!--.*?-->|</?[A-Za-z][^<>]*>|(\\[!-/:-@\[-`{-~])|"
    r"(?<!\w)(\*{1,3}|_{1,3}|~~)(?=\S)(.+?)(?<=\S)\4(?!\w)"
)


def read(source: Source) -> Draft:
    """Parse one Markdown file into a `Draft`."""
    draft = Draft(source)
    lines = _LINE_END.split(source.text)
    blocks = split_blocks(lines)
    headings = [_heading(source, lines, block) for block in blocks if block.kind == "heading"]
    add_headings(draft, headings)
    for heading, block in zip(headings, (b for b in blocks if b.kind == "heading"), strict=True):
        draft.prose.append((block.first + 1, heading.name))
        name, column, _ = _explicit_id(lines[block.first]) if block.first == block.last else ("", 0, 0)
        if name:
            at = heading.start + byte_length(lines[block.first][:column])
            draft.define(Kind.LABEL, name, at, at, at + byte_length(name))
    directives = Directives(draft, lines)
    for block in blocks:
        if block.kind == "code" and block.text.startswith("{"):
            directives.read(block.first, block.last)
        start, end = source.line_bytes[block.first], _end(source, block.last)
        if block.kind == "comment":
            draft.comments.append((start, end))
        elif block.kind in ("prose", "heading", "html"):
            text = "\n".join(lines[block.first : block.last + 1])
            place = ByteOffsets(source, lines, block.first)
            _inline(draft, place, text, raw=block.kind == "html")
            if block.kind == "prose":
                draft.prose.append((block.first + 1, text))
    opening = opening_paragraph(_block_text(lines, block) for block in blocks if block.kind == "prose")
    draft.doc = _without_references(opening, source.text)
    return draft


def _without_references(words: str, text: str) -> str:
    """Return words without the brackets of links whose addresses are elsewhere in the text: `[name]`."""
    if "[" not in words:
        return words
    labels = {" ".join(match[1].split()).lower() for match in _DEFINITION.finditer(text)}
    return _REFERENCE.sub(lambda match: match[1] if match[1].lower() in labels else match[0], words)


def strip_markup(text: str) -> str:
    """Return inline text without its markup; code spans keep their content unchanged."""
    if len(text) > _LONGEST or sum(1 for _ in _OPENING_SIGN.finditer(text)) > _MOST_SIGNS:
        return " ".join(text.split())
    codes: list[str] = []
    if "`" in text:
        blanked, spans = _code_spans(text)
        codes = [code.strip() or code for _, code in spans]
        text = re.sub("\x00+", "\x00", blanked)
    for _ in range(3):  # emphasis can contain a link that contains emphasis
        bare = _MARKUP.sub(lambda m: next((g for g in (m[1], m[2], m[3], m[5]) if g is not None), ""), text)
        if bare == text:
            break
        text = bare
    text = _ESCAPED.sub(r"\1", text)
    unused = iter(codes)
    text = re.sub("\x00", lambda mark: next(unused, mark[0]), text)
    return " ".join(text.split())


def _block_text(lines: list[str], block: Block) -> str:
    text = "\n".join(line.strip().lstrip("> ") for line in lines[block.first : block.last + 1])
    return "" if _DEFINITION.match(text) or _LINKED_ITEM.match(text) else strip_markup(_IMAGE.sub("", text))


def _heading(source: Source, lines: list[str], block: Block) -> DocumentHeading:
    text = block.text[: _explicit_id(block.text)[2]]
    name = strip_markup(_IMAGE.sub("", text)) or strip_markup(text) or _alternative_text(text)
    raw = lines[block.first]
    first = text.split("\n")[0].strip()
    column = max(raw.find(first), 0) if first else 0
    start = source.line_bytes[block.first]
    return DocumentHeading(block.level, name, " ".join(text.split()), start + byte_length(raw[:column]), start)


def _alternative_text(text: str) -> str:
    """Return the `alt` of a heading that is only a picture in HTML, or the text as it is."""
    match = _ALT.search(text)
    return match[1].strip() if match and match[1].strip() else text.strip()


def _explicit_id(text: str) -> tuple[str, int, int]:
    """Return the `{#id}` that ends a heading, its offset, and the offset at which the text before the braces ends."""
    bare = text.rstrip(" \t")
    start, end = bare.rfind("{"), len(bare) - 1
    if start < 0 or bare[-1] != "}" or "}" in bare[start:end]:
        return "", 0, len(text)
    ids = list(_ID.finditer(bare, start, end))
    return (ids[-1][1], ids[-1].start(1), len(bare[:start].rstrip(" \t"))) if ids else ("", 0, len(text))


def _end(source: Source, line: int) -> int:
    return source.line_bytes[line + 1] if line + 1 < len(source.line_bytes) else len(source.data)


def _inline(draft: Draft, place: ByteOffsets, text: str, raw: bool) -> None:
    """Record what a piece of prose contains: code spans, links, images, anchors."""
    events: list[tuple[int, str, str]] = []  # offset, kind, text
    if "`" in text and not raw:
        text, spans = _code_spans(text)
        events += [(at, "mention", name) for start, code in spans for at, name in code_names(start, code)]
    if "[" in text and not raw:
        events += _links(text)
        events += [
            (m.start(2) if m[2] is not None else m.start(3), "link", m[2] if m[2] is not None else m[3])
            for m in _DEFINITION.finditer(text)
        ]
    if "<" in text:
        events += _attributes(text)
    if ")=" in text:
        events += [(match.start(1), "label", match[1]) for match in _TARGET.finditer(text)]
    for offset, what, words in sorted(events):
        at = place(offset)
        if what == "mention":
            draft.add_names([(at, at + byte_length(words))], Role.MENTION)
        elif what == "label":
            draft.define(Kind.LABEL, words, at, at, at + byte_length(words))
        elif is_relative(words):
            draft.add_import(at, words, form=what)


def _code_spans(text: str) -> tuple[str, list[tuple[int, str]]]:
    """Return the text with its code spans blanked out, and the spans.

    Each run of backticks closes at the next run of the same length.
    """
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(text)]
    later: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        start, end = runs[number]
        later.setdefault(end - start, []).append(number)
    pieces, spans = [], []
    done = number = 0
    while number < len(runs):
        start, end = runs[number]
        same = later[end - start]
        while same and same[-1] <= number:
            same.pop()
        if same:
            closing = same[-1]
            spans.append((end, text[end : runs[closing][0]]))
            pieces += [text[done:start], "\x00" * (runs[closing][1] - start)]
            done = runs[closing][1]
            number = closing
        number += 1
    return "".join([*pieces, text[done:]]), spans


def _links(text: str) -> Iterator[tuple[int, str, str]]:
    openers: list[bool] = []
    for match in _SIGNS.finditer(text):
        sign = match[0]
        if sign in ("[", "!["):
            openers.append(sign == "![")
        elif sign == "]" and openers:
            image = openers.pop()
            destination = _DESTINATION.match(text, match.end())
            if destination:
                group = 1 if destination[1] is not None else 2
                yield destination.start(group), "image" if image else "link", destination[group]


def _attributes(text: str) -> Iterator[tuple[int, str, str]]:
    for tag in re.finditer(r"<([a-zA-Z][\w-]*)\s([^<>]*)>", text):
        for match in _ATTRIBUTE.finditer(text, tag.start(2), tag.end(2)):
            group = next(number for number in (2, 3, 4) if match[number] is not None)
            value, key = match[group], match[1].lower()
            if key == "id" or (key == "name" and tag[1].lower() == "a"):
                if value and NAME_IN_CODE.search(value) is not None and " " not in value:
                    yield match.start(group), "label", value
            elif key == "href":
                yield match.start(group), "link", value
            elif key == "src" and value:
                yield match.start(group), "image", value
