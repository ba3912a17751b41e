"""Reads a Markdown document into blocks: its headings, and safe Markdown between them with our links and pictures.

In: the text of a document, and where its links lead. Out: `Heading`s and `Doc`s, each `Doc` with the lines it comes
from. A CommonMark parser splits the text into tokens, and this module writes them as Markdown again, in which nothing
is left that a page must not contain: raw HTML becomes the Markdown that means the same, or its text; a link leads to
the web, to a page of ours, or is only its label; a picture of the repository becomes a `Picture`, and another one a
link. The notes of GitHub, MkDocs and Docusaurus are quotations with a bold label. Rows of badges are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import unescape
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from concordance.base.blocks import Mono, Picture, Piece, Ref
from concordance.extract.documents.markdown_blocks import front_matter_length
from concordance.query.markup import show_hidden
from concordance.query.markup.documents.html_fragments import html_to_markdown
from concordance.query.markup.documents.links import DocumentLinks
from concordance.query.markup.inline import code, escape_line_starts, escape_text, inline_math, link_text
from concordance.query.markup.markdown_shapes import MarkdownBlock, code_block, join_blocks, list_block, quote_block

_OUTSIDE = re.compile(r"(?:https?://|mailto:)", re.I)
_MATH = re.compile(
    r"\$\$(?P<display>[^$]+?)\$\$|\$`(?P<quoted>[^`\n]+)`\$|\$(?=[^\s$\d])(?P<inline>[^$\n]*?[^\s$\\])\$(?![\w$])|"
    r"\$(?=\d)(?P<number>[^$\n]*[\\^_{][^$\n]*?[^\s$\\])\$(?![\w$])|"
    r"\\\\\((?P<round>.+?)\\\\\)|\\\\\[(?P<square>.+?)\\\\\]",
    re.S,
)
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)([^<>]*)>", re.S)
_ATTRIBUTE = re.compile(r"\b(href|src|alt)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.I)
_ALERT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*", re.I)
_MKDOCS = re.compile(
    r"(?P<margin> *)(?:!!!|\?\?\?\+?)[ ]+(?P<kind>[\w-]+)(?:[ ]+[\w-]+)*(?:[ ]+\"(?P<title>[^\"]*)\")?\s*$"
)
_BLOCK_NOTE = re.compile(
    r"(?P<margin> *)(?P<mark>/{3,}|:{3,})[ ]*\{?(?P<kind>[A-Za-z][\w-]*)\}?(?:\[(?P<name>[^\]]*)\])?[ ]*\|?[ ]*"
    r"(?P<title>.*?)\s*$"
)
_FENCE = re.compile(r"[ >]*(`{3,}|~{3,})")
_NOTES = frozenset(
    ("note", "tip", "info", "warning", "danger", "caution", "important", "hint", "example", "abstract", "success",
     "question", "failure", "bug", "quote", "check", "seealso", "admonition", "attention", "error", "details", "tabs",
     "tab", "steps")
)  # fmt: skip
_SAME = {"strong": "**", "em": "*", "s": "~~"}
_SAME_TAGS = {"b": "strong", "strong": "strong", "i": "em", "em": "em", "s": "s", "del": "s"}
_MAX_DEPTH = 12  # of nested HTML that is read as Markdown again


DocumentText = tuple[str | Ref | Picture, ...]


class DocumentPart(NamedTuple):
    """A heading, or text."""

    kind: str  # "heading", or that of the first block of Markdown in it
    level: int  # of the heading; 0 for text
    heading: tuple[Piece, ...]
    text: DocumentText
    first: int  # lines, counted from 1
    last: int


def read_markdown(text: str, links: DocumentLinks) -> list[DocumentPart]:
    """Return the parts of a document."""
    text = show_hidden(text).expandtabs(4)
    lines = text.split("\n")
    start = front_matter_length(lines)
    lines[:start] = [""] * start
    tokens = _parser().parse("\n".join(notes_as_quotes(lines)))
    return list(_Reader(links, lines).parts(tokens))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.inline.ruler.before("escape", "math", _math_rule)
    return parser


def _math_rule(state: StateInline, silent: bool) -> bool:
    """Read a formula, before its backslashes and underscores are taken for markup."""
    if state.src[state.pos] not in "$\\":
        return False
    match = _MATH.match(state.src, state.pos)
    if match is None or (state.pos and state.src[state.pos - 1] in "\\$"):
        return False
    if not silent:
        token = state.push("math", "", 0)
        token.content = next(filter(None, match.groups())).strip()
        token.info = "display" if match["display"] or match["square"] else ""
    state.pos = match.end()
    return True


def notes_as_quotes(lines: Sequence[str]) -> list[str]:
    """Return lines with the notes of documentation tools as quotations; each line stays where it is."""
    if not any(line.lstrip().startswith(("!!!", "???", "///", ":::")) for line in lines):
        return list(lines)
    output: list[str] = []
    fence = ""
    margin: int | None = None  # of an open MkDocs note
    marks: list[str] = []  # of open block notes
    for line in lines:
        opened = _FENCE.match(line)
        if opened is not None:
            fence = "" if fence and opened[1].startswith(fence) else fence or opened[1]
        text = line.lstrip()
        depth = len(line) - len(text)
        if margin is not None and text and depth < margin + 4:
            margin = None
        if margin is not None:
            output.append(f"{' ' * margin}> {line[margin + 4 :]}")
            continue
        prefix = "> " * len(marks)
        if not fence and (note := _MKDOCS.match(line)):
            margin = len(note["margin"])
            title = note["title"] if note["title"] is not None else note["kind"].capitalize()
            output.append(f"{prefix}{note['margin']}> **{title or note['kind'].capitalize()}:**")
        elif not fence and marks and text.rstrip() == marks[-1]:
            marks.pop()
            output.append(("> " * len(marks)).rstrip())
        elif not fence and (note := _BLOCK_NOTE.match(line)) and note["kind"].lower() in _NOTES:
            marks.append(note["mark"])
            title = note["name"] or note["title"] or note["kind"].capitalize()
            output.append(f"{prefix}> **{title.strip('{}')}:**")
        else:
            output.append(f"{prefix}{line}")
    return output


class _Reader:
    """Writes the tokens of one document as Markdown again."""

    def __init__(self, links: DocumentLinks, lines: Sequence[str]) -> None:
        self.links, self.lines = links, lines
        self.refs: list[Ref | Picture] = []
        self._depth = 0

    def parts(self, tokens: Sequence[Token]) -> Iterator[DocumentPart]:
        """Yield the headings, and the blocks between them."""
        at = 0
        while at < len(tokens):
            token = tokens[at]
            end = _closing(tokens, at)
            first, last = token.map or (0, 0)
            while last > first + 1 and not self.lines[last - 1].strip():
                last -= 1
            if token.type == "heading_open":
                words = self._heading(tokens[at + 1].children or [])
                if words:
                    yield DocumentPart("heading", int(token.tag[1]), words, (), first + 1, last)
            else:
                blocks = self._block(tokens, at, end)
                if blocks:
                    yield DocumentPart(blocks[0].kind, 0, (), self._text(blocks), first + 1, last)
            at = end + 1

    def _text(self, blocks: Sequence[MarkdownBlock]) -> DocumentText:
        pieces = join_blocks(blocks).split("\0")
        return tuple(self.refs[int(piece)] if place % 2 else piece for place, piece in enumerate(pieces) if piece)

    def _heading(self, tokens: Sequence[Token]) -> tuple[Piece, ...]:
        """Return the text of a heading; its links and pictures are only labels."""
        pieces: list[Piece] = []
        for token in tokens:
            if token.type == "code_inline":
                pieces.append(Mono(token.content))
            elif token.type in ("text", "math"):
                pieces.append(token.content)
            elif token.type in ("softbreak", "hardbreak"):
                pieces.append(" ")
        if pieces and type(pieces[-1]) is str:
            pieces[-1] = re.sub(r"\s*\{[#:.][^{}]*\}\s*\Z", "", pieces[-1]).rstrip()
        return tuple(pieces) if any(str(piece).strip() for piece in pieces) else ()

    # --- blocks

    def _blocks(self, tokens: Sequence[Token], at: int, end: int) -> list[MarkdownBlock]:
        """Return the blocks of the tokens from `at` up to `end`."""
        blocks: list[MarkdownBlock] = []
        while at < end:
            closing = _closing(tokens, at)
            blocks += self._block(tokens, at, closing)
            at = closing + 1
        return blocks

    def _block(self, tokens: Sequence[Token], at: int, end: int) -> list[MarkdownBlock]:
        token = tokens[at]
        kind = token.type
        if kind == "paragraph_open":
            return self._paragraph(tokens[at + 1].children or [])
        if kind == "heading_open":  # inside a quotation or list
            words = self.inline(tokens[at + 1].children or [])
            return [MarkdownBlock("text", f"**{words}**")] if words.strip() and "**" not in words else []
        if kind in ("fence", "code_block"):
            return self._code(token)
        if kind in ("bullet_list_open", "ordered_list_open"):
            return self._list(tokens, at, end)
        if kind == "blockquote_open":
            return self._quote(self._blocks(tokens, at + 1, end))
        if kind == "table_open":
            return [self._table(tokens[at : end + 1])]
        if kind == "html_block":
            return self._html(token.content)
        return [MarkdownBlock("text", "---")] if kind == "hr" else []

    def _paragraph(self, tokens: Sequence[Token]) -> list[MarkdownBlock]:
        if _is_badges(tokens):
            return []
        text = self.inline(tokens).strip()
        return [MarkdownBlock("text", escape_line_starts(text))] if text else []

    def _code(self, token: Token) -> list[MarkdownBlock]:
        lines = token.content.rstrip("\n").split("\n")
        named = re.match(r"\{?\.?([\w+#-]+)\}?[ ]*(.*)", token.info.strip())
        language, argument = (named[1], named[2]) if named else ("", "")
        if token.info.startswith("{") and language in ("code-block", "code", "sourcecode"):
            language = argument
        if language in ("math", "latex", "tex") and token.info.startswith(("{math", "math")):
            language = "math"
        return [code_block(lines, language.lower())] if any(line.strip() for line in lines) else []

    def _list(self, tokens: Sequence[Token], at: int, end: int) -> list[MarkdownBlock]:
        start = int(str(tokens[at].attrGet("start") or 1)) if tokens[at].type == "ordered_list_open" else -1
        items = []
        at += 1
        while at < end:
            closing = _closing(tokens, at)
            items.append(self._blocks(tokens, at + 1, closing))
            at = closing + 1
        return list_block(items, start)

    def _quote(self, blocks: list[MarkdownBlock]) -> list[MarkdownBlock]:
        if not blocks:
            return []
        alert = _ALERT.match(blocks[0].text.replace("\\", ""))
        if alert is not None:
            rest = blocks[0].text.replace("\\[", "[", 1)[alert.end() :].lstrip()
            blocks = [blocks[0]._replace(text=f"**{alert[1].capitalize()}:** {rest}".rstrip()), *blocks[1:]]
        return [quote_block(blocks)]

    def _table(self, tokens: Sequence[Token]) -> MarkdownBlock:
        rows: list[list[str]] = []
        for place, token in enumerate(tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                cell = " ".join(self.inline(tokens[place + 1].children or [], breaks=" ").split())
                rows[-1].append(re.sub(r"(?<!\\)\|", r"\\|", cell))
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, f"|{' --- |' * len(rows[0])}")
        return MarkdownBlock("table", "\n".join(lines))

    def _html(self, text: str) -> list[MarkdownBlock]:
        """Return raw HTML as the blocks that mean the same."""
        if self._depth >= _MAX_DEPTH:
            return []
        self._depth += 1
        tokens = [token for token in _parser().parse(html_to_markdown(text)) if token.type != "html_block"]
        blocks: list[MarkdownBlock] = []
        at = 0
        while at < len(tokens):
            end = _closing(tokens, at)
            blocks += self._block(tokens, at, end)
            at = end + 1
        self._depth -= 1
        return blocks

    # --- text

    def inline(self, tokens: Sequence[Token], breaks: str = "\n", linked: bool = False) -> str:
        """Return inline tokens as Markdown; `linked` if they are inside a link."""
        out: list[str] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            kind = token.type
            if kind == "text":
                out.append(escape_text(token.content))
            elif kind == "code_inline":
                out.append(self._name(token.content, linked))
            elif kind == "math":
                display = token.info and breaks != " " and "```" not in token.content
                out.append(f"\n\n```math\n{token.content}\n```\n\n" if display else inline_math(token.content))
            elif kind in ("softbreak", "hardbreak"):
                out.append(breaks if kind == "softbreak" or breaks == " " else "\\\n")
            elif kind == "image":
                out.append(self._image(str(token.attrGet("src") or ""), token.content, linked))
            elif kind == "link_open" or (kind == "html_inline" and _opens(token, "a")):
                end = _link_end(tokens, at)
                href = str(token.attrGet("href") or "") if kind == "link_open" else _attribute(token.content, "href")
                out.append(self._link(href, tokens[at + 1 : end], breaks, linked))
                at = end
            elif kind == "html_inline":
                out.append(self._tag(token.content, breaks, linked))
            elif token.tag in _SAME:
                out.append(_SAME[token.tag])
            at += 1
        return "".join(out)

    def _name(self, text: str, linked: bool) -> str:
        """Return inline code, with a link to the definition that it names."""
        name = text.strip().removesuffix("()")
        ref = self.links.name(name) if not linked and re.fullmatch(r"[\w.:~]{2,200}", name) else None
        return self._ref(ref._replace(label=text.strip(), code=True)) if ref is not None else code(text)

    def _ref(self, ref: Ref | Picture) -> str:
        self.refs.append(ref)
        return f"\0{len(self.refs) - 1}\0"

    def _link(self, href: str, inside: Sequence[Token], breaks: str, linked: bool) -> str:
        label = self.inline(inside, breaks, linked=True).strip()
        if linked or "\0" in label:  # pictures in it stand on their own
            return label
        if _OUTSIDE.match(href):
            plain = _plain_text(inside)
            return link_text(plain, unescape(href)) if plain.strip() else ""
        plain = " ".join(_plain_text(inside).split())
        ref = self.links.file(href, plain) if plain else None
        if ref is None:
            return label
        return self._ref(ref._replace(code=len(inside) == 1 and inside[0].type == "code_inline"))

    def _image(self, target: str, label: str, linked: bool) -> str:
        picture = None if _OUTSIDE.match(target) else self.links.picture(target, label)
        if picture is not None:
            return self._ref(picture)
        label = label.strip() or target.rpartition("/")[2]
        return escape_text(label) if linked or not _OUTSIDE.match(target) else link_text(label, target)

    def _tag(self, text: str, breaks: str, linked: bool) -> str:
        """Return what stands for a tag inside a paragraph."""
        tag = _TAG.match(text)
        name = tag[2].lower() if tag else ""
        if name == "br":
            return " " if breaks == " " else "\\\n"
        if name == "img":
            return self._image(_attribute(text, "src"), _attribute(text, "alt"), linked)
        return _SAME[_SAME_TAGS[name]] if name in _SAME_TAGS else ""


def _closing(tokens: Sequence[Token], at: int) -> int:
    """Return the position of the token that closes the one at `at`: itself if it opens nothing."""
    if tokens[at].nesting != 1:
        return at
    depth = 0
    for place in range(at, len(tokens)):
        depth += tokens[place].nesting
        if depth == 0:
            return place
    return len(tokens) - 1


def _opens(token: Token, name: str) -> bool:
    tag = _TAG.match(token.content)
    return tag is not None and tag[2].lower() == name and not tag[1]


def _link_end(tokens: Sequence[Token], at: int) -> int:
    """Return the position of the end of a link; the last token if it is not closed."""
    is_tag = tokens[at].type == "html_inline"
    for place in range(at + 1, len(tokens)):
        token = tokens[place]
        if (token.type == "link_close" and not is_tag) or (is_tag and token.content.lower().startswith("</a")):
            return place
    return len(tokens) - 1


def _attribute(tag: str, name: str) -> str:
    match = next((m for m in _ATTRIBUTE.finditer(tag) if m[1].lower() == name), None)
    return unescape(next(filter(None, match.groups()[1:]), "")) if match else ""


def _plain_text(tokens: Sequence[Token]) -> str:
    """Return inline tokens as plain text; code keeps its backticks if it is all there is."""
    if len(tokens) == 1 and tokens[0].type == "code_inline":
        return f"`{tokens[0].content}`" if "`" not in tokens[0].content else tokens[0].content
    parts = []
    for token in tokens:
        if token.type in ("text", "code_inline", "math"):
            parts.append(token.content)
        elif token.type == "image":
            parts.append(token.content or str(token.attrGet("src") or "").rpartition("/")[2])
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type == "html_inline" and _opens(token, "img"):
            parts.append(_attribute(token.content, "alt"))
    return "".join(parts)


def _is_badges(tokens: Sequence[Token]) -> bool:
    """True if a paragraph is nothing but pictures from the web, most of them linked: badges of a service."""
    pictures = depth = 0
    for token in tokens:
        if token.type == "link_open":
            depth += 1
        elif token.type == "link_close":
            depth -= 1
        elif token.type == "image" or (token.type == "html_inline" and _opens(token, "img")):
            source = str(token.attrGet("src") or "") if token.type == "image" else _attribute(token.content, "src")
            if not _OUTSIDE.match(source):
                return False
            pictures += 1
        elif token.type in ("text", "code_inline", "math") and re.search(r"\w", token.content):
            return False
    return pictures > 0
