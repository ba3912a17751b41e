"""Builds Markdown blocks: paragraphs, lists, code and labelled text.

In: text that is already Markdown, or verbatim code. Out: `MarkdownBlock`s, which `join_blocks` puts together with blank
lines between them. A fence is always longer than any fence inside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from concordance.extract.registry import is_prose, language_of

_TICKS = re.compile(r"^[ ]*(`{3,})", re.M)
_LANGUAGE = re.compile(r"[A-Za-z][\w+#-]{0,30}")
_PYTHON = re.compile(
    r"^[ ]*(?:>>>|import \w|from [\w.]+ import|def \w+\(|class \w+[:(]|@\w[\w.]*$|@\w[\w.]*\(|with .+:$|for .+ in .+:$|"
    r"if .+:$|return |[A-Za-z_][\w.]*(?:, *[A-Za-z_][\w.]*)* [-+*/]?= \S|[A-Za-z_][\w.]*\(.*\)$)",
    re.M,
)
_SIGNS = re.compile(r"[{}()\[\];=<>_/\\|+*&^%$#@\"]")
_ALIGNED = re.compile(r"\S {3,}\S|^\s*[|+]|[|+]$|^[\s|/\\^v+*-]+$|[─-╿]|-->|<--|--\+|\+--")


class MarkdownBlock(NamedTuple):
    """One block of Markdown."""

    kind: str  # "text", "list", "code", "table", "quote"
    text: str


def code_block(lines: Sequence[str], language: str = "") -> MarkdownBlock:
    """Return code in a fence, without its common margin."""
    kept = dedent_lines(lines)
    text = "\n".join(kept)
    fence = "`" * (max((len(m) for m in _TICKS.findall(text)), default=2) + 1)
    named = language if _LANGUAGE.fullmatch(language) else ""
    return MarkdownBlock("code", f"{fence}{named}\n{text}\n{fence}")


def dedent_lines(lines: Sequence[str]) -> list[str]:
    """Return lines without their common margin and without blank lines around them."""
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    margin = min((len(line) - len(line.lstrip()) for line in lines[first:last] if line.strip()), default=0)
    return [line[margin:] for line in lines[first:last]]


def list_block(items: Sequence[Sequence[MarkdownBlock]], first: int = -1) -> list[MarkdownBlock]:
    """Return a list of items, each made of blocks; numbered from `first` if that is not negative."""
    shown = [item for item in items if item]
    loose = any(len([b for b in item if b.kind != "list"]) > 1 for item in shown)
    lines = []
    for number, item in enumerate(shown, first):
        marker = f"{number}. " if first >= 0 else "- "
        lines.append(marker + indent_following(_join_item(item), len(marker)))
    return [MarkdownBlock("list", ("\n\n" if loose else "\n").join(lines))] if lines else []


def _join_item(blocks: Sequence[MarkdownBlock]) -> str:
    """Join the blocks of an item: a list directly follows its text, other blocks follow a blank line."""
    text = blocks[0].text
    for block in blocks[1:]:
        text += (
            "\n" if block.kind == "list" and len(blocks) == 2 and blocks[0].kind == "text" else "\n\n"
        ) + block.text
    return text


def indent_following(text: str, width: int) -> str:
    """Return text with all lines but the first indented."""
    return text.replace("\n", "\n" + " " * width).replace("\n" + " " * width + "\n", "\n\n") if "\n" in text else text


def with_label(label: str, blocks: Sequence[MarkdownBlock]) -> list[MarkdownBlock]:
    """Return blocks after a label; if the first is text, it goes on the label's line."""
    if blocks and blocks[0].kind == "text":
        return [MarkdownBlock("text", f"{label} {blocks[0].text}"), *blocks[1:]]
    return [MarkdownBlock("text", label), *blocks]


def join_blocks(blocks: Sequence[MarkdownBlock]) -> str:
    """Join blocks with blank lines between them."""
    return "\n\n".join(block.text for block in blocks)


def quote_block(blocks: Sequence[MarkdownBlock]) -> MarkdownBlock:
    """Return blocks as a quotation."""
    return MarkdownBlock("quote", "\n".join(f"> {line}".rstrip() for line in join_blocks(blocks).split("\n")))


def guess_language(code: str, language: str) -> str:
    """Guess the language of a block of code that does not name one; "" if unknown."""
    if ">>> " in code or code.startswith(">>>"):
        return "python"
    if code.lstrip().startswith("$ "):
        return "console"
    usual = language_of(language).doc_code
    if usual == "python" or not language or is_prose(language):
        return "python" if _PYTHON.search(code) else ""
    return usual if re.search(r"[;{}]\s*$", code, re.M) else ""


def fence_name(language: str) -> str:
    """Return the name, on a fence, of the code in a language's documentation."""
    return language_of(language).doc_code or language


def is_code(lines: Sequence[str]) -> bool:
    """True if indented lines look like code or a drawing rather than prose."""
    text = "\n".join(lines).strip()
    if not text:
        return False
    if is_drawing(lines) or text.startswith((">>>", "$ ", "#include", "%")):
        return True
    signs = len(_SIGNS.findall(text))
    words = len(re.findall(r"(?:^|\s)[A-Za-z][a-z']*[,.;:]?(?=\s|$)", text)) or 1
    return signs > words and signs * 14 > len(text)


def is_drawing(lines: Sequence[str]) -> bool:
    """True if lines are set in columns or form a drawing, so that their spaces matter."""
    odd = sum(1 for line in lines if _ALIGNED.search(line))
    return odd >= 2 and odd * 2 >= len(lines)
