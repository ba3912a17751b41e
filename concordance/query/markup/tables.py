"""Converts the tables of documentation comments, in reST or Markdown, to Markdown tables.

In: the lines of a table. Out: one block: a Markdown table if every row consists of plain cells, else the original lines
as code, because Markdown has no cells that span columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from concordance.query.markup.inline import InlineReader
from concordance.query.markup.markdown_shapes import MarkdownBlock, code_block

_GRID = re.compile(r"\+(?:[-=]+\+)+")
_RULE = re.compile(r"=+(?:[ ]+=+)+")
_PIPES = re.compile(r"\|?[ ]*:?-+:?[ ]*(?:\|[ ]*:?-+:?[ ]*)*\|?")


def table_end(lines: Sequence[str], at: int) -> int:
    """Return the line after a table that begins at `at`, or `at` if none begins there."""
    text = lines[at].strip()
    end = at
    if _GRID.fullmatch(text):
        while end < len(lines) and lines[end].lstrip()[:1] in ("+", "|"):
            end += 1
        return end if end > at + 2 else at
    if _RULE.fullmatch(text):
        rules = 0
        while end < len(lines):
            line = lines[end].strip()
            if _RULE.fullmatch(line):
                rules += 1
                behind = lines[end + 1].strip() if end + 1 < len(lines) else ""
                if rules >= 2 and not behind:
                    return end + 1
            elif not line and rules >= 3:
                return end
            end += 1
        return end if rules >= 2 and _RULE.fullmatch(lines[-1].strip()) else at
    if "|" in text and at + 1 < len(lines):
        under = lines[at + 1].strip()
        if "-" in under and "|" in under and _PIPES.fullmatch(under):
            while end < len(lines) and "|" in lines[end]:
                end += 1
            return end
    return at


def table(words: InlineReader, lines: Sequence[str]) -> MarkdownBlock:
    """Return the table in the given lines, or the lines as code if Markdown cannot express it."""
    first = lines[0].strip()
    if first.startswith("+"):
        rows, head = _grid([line.strip() for line in lines])
    elif _RULE.fullmatch(first):
        rows, head = _simple(lines)
    else:
        cells = [re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|")) for line in lines]
        rows, head = [[cell.strip().replace("\\|", "|") for cell in row] for row in (cells[:1] + cells[2:])], True
    if not rows or not rows[0]:
        return code_block(lines)
    width = len(rows[0])
    if any(len(row) > width for row in rows):
        return code_block(lines)
    shown = [[_cell(words, cell) for cell in row] + [""] * (width - len(row)) for row in rows]
    header = shown.pop(0) if head else [""] * width
    grid = [header, ["---"] * width, *shown]
    return MarkdownBlock("table", "\n".join(f"| {' | '.join(row)} |" for row in grid))


def _cell(words: InlineReader, text: str) -> str:
    return words.markdown(" ".join(text.split())).replace("|", "\\|")


def _grid(lines: Sequence[str]) -> tuple[list[list[str]], bool]:
    """Return the rows of a reST grid table and whether it has a header; no rows if a cell spans several columns."""
    width = lines[0].count("+") - 1
    rows: list[list[str]] = []
    head, fresh = False, True
    for line in lines[1:]:
        if line.startswith("+"):
            if not _GRID.fullmatch(line) or line.count("+") - 1 != width:
                return [], False
            head = head or ("=" in line and len(rows) == 1)
            fresh = True
            continue
        cells = line.strip("|").split("|")
        if len(cells) != width:
            return [], False
        if fresh:
            rows.append([""] * width)
        rows[-1] = [f"{have} {more.strip()}".strip() for have, more in zip(rows[-1], cells, strict=True)]
        fresh = False
    return rows, head


def _simple(lines: Sequence[str]) -> tuple[list[list[str]], bool]:
    """Return the rows of a reST simple table (ruled with `=`) and whether it has a header."""
    starts = [match.start() for match in re.finditer(r"=+", lines[0])]
    spans = [*pairwise(starts), (starts[-1], 1 << 20)]
    rows: list[list[str]] = []
    head, after_blank = False, True
    for line in lines[1:]:
        text = line.strip()
        if _RULE.fullmatch(text) or re.fullmatch(r"-+(?:[ ]+-+)*", text):
            head = head or (_RULE.fullmatch(text) is not None and bool(rows) and line is not lines[-1] and not head)
            after_blank = True
        elif not text:
            after_blank = True
        else:
            cells = [line[start:end].strip() for start, end in spans]
            if any(end < len(line) and line[end - 1 : end].strip() for _, end in spans[:-1]):
                return [], False
            if not cells[0] and rows and not after_blank:
                rows[-1] = [f"{have} {more}".strip() for have, more in zip(rows[-1], cells, strict=True)]
            else:
                rows.append(cells)
            after_blank = False
    return rows, head
