"""Converts authors' documentation comments to safe Markdown, with links to the symbols they name.

In: a docstring or the text of a documentation comment, and a function that resolves names to symbols. Out: the pieces
of a `blocks.Doc`: Markdown, with a `Ref` for each name that was resolved. Whatever the author wrote, a CommonMark
parser finds no HTML in the result, no links except to http, https and mail addresses, no headings and no unclosed
fences: text that is not recognised as markup is escaped and shown as written. Characters that are invisible or change
the direction of text are replaced by their escapes.
"""

from __future__ import annotations

import re

from concordance.base.blocks import Picture, Ref
from concordance.base.characters import HIDDEN, may_have_hidden_characters
from concordance.base.kinds import DocMarkup
from concordance.extract.registry import language_of
from concordance.query.markup.blocks import BlockParser, Dialect
from concordance.query.markup.doxygen import html_to_markdown, single_member_text
from concordance.query.markup.inline import InlineReader, LinkResolver
from concordance.query.markup.lines import collect_targets
from concordance.query.markup.markdown_shapes import join_blocks
from concordance.query.markup.summary import first_sentence as first_sentence

_PLAIN = re.compile(r"[A-Za-z](?:[\w ,;'\"/?%^=+-]|\.(?! )|[.:!)] (?=[A-Za-z])|[.)]$|\((?![)]))*+", re.A)
_REST = re.compile(
    r"^[ ]*(?:\.\. (?:\w[\w:-]*::|\[\w+\] )|:(?:param|returns?|type|rtype|raises|arg)\b[^:\n]*:)|:\w+:`", re.M
)
_COMMANDS = re.compile(
    r"^[ ]*[@\\](?:param|returns?|brief|type|throws?|raises|note|see|code|todo|deprecated|details|file|since|package"
    r")\b",
    re.M,
)
_TOOL_LINE = re.compile(  # lines that are instructions to tools
    r"^[ ]*(?:NOLINT\w*|clang-format (?:on|off)|IWYU pragma|@ts-\w+|eslint-\w+|pylint:|flake8:|mypy:|noqa\b|"
    r"type: ignore|pragma: no cover|fmt: (?:on|off)|-\*-|vim?:[ ]|prettier-ignore).*$",
    re.M,
)
_TAGS = re.compile(r"</?[a-zA-Z]\w*[^<>]*>|&\w+;|&#\d+;")


def _no_link(_: str) -> None:
    return None


def markdown(doc: str, language: str, link: LinkResolver = _no_link) -> tuple[str | Ref | Picture, ...]:
    """Return a documentation comment as pieces of Markdown and links; `link` resolves a name to its page."""
    doc = show_hidden(doc).strip("\n")
    if len(doc) < 200 and "\n" not in doc and _PLAIN.fullmatch(doc) and "_ " not in doc and "__" not in doc:
        return (doc,)
    usual = language_of(language).doc_markup
    dialect = _dialect(doc, usual)
    words = InlineReader(
        link, rest=dialect.rest, commands=dialect.commands, intra=DocMarkup.BRACKET_LINKS in usual,
        calls=DocMarkup.CALL_LINKS in usual, arguments=DocMarkup.KERNEL_DOC in usual,
    )  # fmt: skip
    if (dialect.commands or dialect.headings) and _TAGS.search(doc):
        doc = show_hidden(html_to_markdown(doc))
    if DocMarkup.MEMBERS in usual and doc.startswith("@"):
        doc = single_member_text(doc)
    lines = [line.rstrip() for line in doc.expandtabs(8).split("\n")]
    if _TOOL_LINE.search(doc):
        lines = [line for line in lines if not _TOOL_LINE.match(line)]
    if dialect.rest and ".. " in doc:
        lines = collect_targets(lines, words)
    text = join_blocks(BlockParser(words, language, dialect).convert(lines))
    if not words.refs:
        return (text,) if text else ()
    pieces = text.split("\0")
    return tuple(words.refs[int(piece)] if place % 2 else piece for place, piece in enumerate(pieces) if piece)


def show_hidden(text: str) -> str:
    """Return text with escapes in place of hidden characters, and with uniform line ends."""
    if "\r" in text or "\f" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    return HIDDEN.sub(_escape, text) if may_have_hidden_characters(text) else text


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] in ("\ufeff", "\0"):
        return ""
    return f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}"


def _dialect(doc: str, usual: DocMarkup) -> Dialect:
    """Return the markup conventions to recognise: those usual in the language, and those that the text itself uses."""
    marked = DocMarkup.MARKDOWN in usual
    godoc = DocMarkup.GODOC in usual
    kernel_type = DocMarkup.KERNEL_DOC in usual and doc.startswith(("struct ", "union ", "enum "))
    return Dialect(
        rest=DocMarkup.REST in usual or (":" in doc and _REST.search(doc) is not None),
        commands=DocMarkup.COMMANDS in usual or (("@" in doc or "\\" in doc) and _COMMANDS.search(doc) is not None),
        indented=1 if godoc else 4 if marked else 0,
        headings=marked or godoc,
        fence="rust" if DocMarkup.RUSTDOC in usual else "",
        members="Members" if kernel_type else "Parameters",
    )
