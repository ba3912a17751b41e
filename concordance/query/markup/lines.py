"""Finds where blocks end among the lines of a documentation comment.

In: lines, and the number of the line where a block opens. Out: the number of the line after it. reST targets and
substitutions, which may be defined anywhere and apply everywhere, are collected first (`collect_targets`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from concordance.extract.documents.docstrings import UNDERLINE
from concordance.query.markup import sections
from concordance.query.markup.inline import InlineReader

DIRECTIVE = re.compile(r"\.\.[ ]+(?:\|([^|\n]+)\|[ ]+)?([A-Za-z][\w:.+-]*?)[ ]?::(?:[ ]+(.*)|$)", re.S)
STARTS = re.compile(  # what may open a block in the middle of a paragraph
    r"[-*+•‣] |(?:\d{1,4}|#)[.)] |>>>|```|~~~|\.\. ?\S|:[A-Za-z]|[@\\][\w{}.]|[=\-~^\"'`#*+.:_|]{3,}|#+ "
)
_TARGET = re.compile(r"\.\.[ ]+_`?([^`:]+)`?:(?:[ ]+(\S.*)|$)")


def field_groups(lines: Sequence[str], at: int, indent: int) -> tuple[list[list[str]], int]:
    """Return the fields of a field list, each as its lines, and the line after the list."""
    groups: list[list[str]] = []
    end = at
    while end < len(lines):
        line = lines[end]
        text = line.lstrip()
        depth = len(line) - len(text)
        if text and depth == indent and sections.is_field(text):
            groups.append([text])
        elif not text or depth > indent:
            groups[-1].append(line)
        elif depth < indent or not lines[end - 1].strip() or STARTS.match(text):
            break
        else:
            groups[-1].append(line)
        end += 1
    return groups, end


def block_end(lines: Sequence[str], at: int, indent: int) -> int:
    """Return the line after those indented by more than `indent`, not counting blank lines at the end."""
    end = last = at
    while end < len(lines):
        line = lines[end]
        text = line.lstrip()
        if text:
            if len(line) - len(text) <= indent:
                break
            last = end + 1
        end += 1
    return last


def titled_end(lines: Sequence[str], at: int, indent: int) -> int:
    """Return the end of a section with an underlined title: the next title or directive, or a less indented line."""
    end = at
    while end < len(lines):
        line = lines[end]
        depth = len(line) - len(line.lstrip())
        below = lines[end + 1].strip() if end + 1 < len(lines) else ""
        opens = depth == indent and (UNDERLINE.fullmatch(below) or line.lstrip().startswith(".. "))
        if line.strip() and (depth < indent or opens):
            break
        end += 1
    return end


def doctest_end(lines: Sequence[str], at: int, indent: int) -> int:
    """Return the line after a run of doctests; blank lines inside of a printed value do not end it."""
    end = asked = at
    while end < len(lines):
        line = lines[end]
        text = line.lstrip()
        if text.startswith(">>>"):
            asked = end
        elif not text:
            behind = first_text(lines[end : end + 3], 0)
            if not behind.startswith(">>>"):
                prompt_lines = "".join(lines[asked:end])
                if not behind or end - asked > 80 or prompt_lines.count("[") <= prompt_lines.count("]"):
                    break
        elif len(line) - len(text) < indent:
            break
        end += 1
    return end


def flat_end(lines: Sequence[str], at: int) -> int:
    """Return the line after a section whose entries are not indented."""
    end = at
    while end < len(lines) and not sections.section_header(lines[end].strip()):
        if not lines[end].strip() and end > at:
            break
        end += 1
    return end


def first_text(lines: Sequence[str], at: int) -> str:
    """Return the first line at or after `at` that is not blank, stripped; "" if there is none."""
    return next((line.strip() for line in lines[at:] if line.strip()), "")


def collect_targets(lines: Sequence[str], words: InlineReader) -> list[str]:
    """Return the lines without reST targets and substitutions, which are stored in `words`; mark uses of targets."""
    kept = []
    for line in lines:
        text = line.lstrip()
        if text.startswith(".. _") and (target := _TARGET.match(text)):
            if target[2]:
                words.targets[" ".join(target[1].lower().split())] = target[2].strip()
            continue
        if text.startswith(".. |") and (match := DIRECTIVE.match(text)) and match[1]:
            words.substitutions[match[1]] = (match[3] or "").strip() if match[2] == "replace" else match[1]
            continue
        kept.append(line)
    simple = [name for name in words.targets if name.isidentifier()][:200]
    if simple:
        named = re.compile(rf"(?<![\w`])({'|'.join(simple)})_(?!\w)", re.I)
        kept = [named.sub(r"`\1`_", line) for line in kept]
    return kept


def item_lines(text: str, below: Sequence[str], margin: int) -> list[str]:
    """Return the lines of a list item without its margin; after `::`, deeper indentation is kept."""
    if text.endswith("::") and below:
        return [text, *(line[margin:] if not line[:margin].strip() else line.lstrip() for line in below)]
    return sections.dedent_following([text, *below])
