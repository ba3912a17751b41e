"""Cutting an example out of a file: the lines around a use that can be copied as they are.

In: a file's lines and the line of a use. Out: first and last line, and the text between without its margin: the whole
function where it is short, else the statement with what stands right around it; in prose, the code block that the use
stands in. Brackets are counted, nothing is parsed: the lines were written to be read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from concordance.base.model import Import
from concordance.query.markup.lines import doctest_end

Cut = tuple[int, int, str]  # first line, last line, text

_WHOLE = 15  # lines of a function that is shown whole
_AROUND = 12  # lines of a paragraph of code that is shown whole
_NARROW = 120  # signs of an import's line
_WIDE = 200  # signs of a line that is still read
_STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_BRACE = re.compile(r"[()\[\]{}]")
_OPEN = re.compile(r"[(\[]")
_CLOSE = re.compile(r"[)\]]")
_TO_RUNNER = re.compile(r">>> *# *(?:xdoctest|doctest)\b")  # lines that only speak to who runs examples
_INDENTED = frozenset(("python", "cython", "starlark", "yaml"))  # where a block is what is indented


def cut(lines: Sequence[str], line: int, language: str, around: tuple[int, int] | None) -> Cut | None:
    """The lines to copy for a use; `around` are the lines of the function that it stands in."""
    if around is not None and around[1] - around[0] < _WHOLE and around[1] > around[0]:
        return _text(lines, *around)
    top, bottom = around if around is not None else (1, len(lines))
    first, last = _statement(lines, line, language, top, bottom)
    last = _with_block(lines, first, last, bottom, language)
    if not last or last - first >= _WHOLE:
        return None
    wide_first, wide_last = first, last
    margin = _margin(lines[first - 1])
    while wide_first - 1 > top and _belongs(lines[wide_first - 2], margin) and wide_last - wide_first < _AROUND:
        wide_first -= 1
    while wide_last < bottom and _belongs(lines[wide_last], margin) and wide_last - wide_first < _AROUND:
        wide_last += 1
    ends = lines[wide_last - 1].rstrip()
    whole = (
        wide_last - wide_first < _AROUND
        and not ends.endswith((":", "\\"))
        and _is_closed(lines[wide_first - 1 : wide_last])
    )
    return _text(lines, wide_first, wide_last) if whole else _text(lines, first, last)


def _with_block(lines: Sequence[str], first: int, last: int, bottom: int, language: str) -> int:
    """The last line of the block that a statement opens, if it opens one; 0 where that goes on for too long."""
    end = lines[last - 1].partition("//")[0].rstrip()
    if language in _INDENTED:
        if not end.endswith(":"):
            return last
        margin = _margin(lines[first - 1])
        header = last
        while last < bottom and last - first < _WHOLE and (not lines[last].strip() or _margin(lines[last]) > margin):
            last += 1
        is_whole = last >= bottom or last - first < _WHOLE
        while last > header and (not is_whole or lines[last - 1].lstrip()[:1] in ("", "#")):
            is_whole = _is_closed(lines[first - 1 : last - 1]) and not lines[last - 2].rstrip().endswith(
                (":", "\\", ",")
            )
            last -= 1
        return last if last > header else 0
    while last < bottom and last - first < _WHOLE and "{" in end and not _is_closed(lines[first - 1 : last]):
        last += 1
    return last if last - first < _WHOLE else 0


def _is_closed(lines: Sequence[str]) -> bool:
    """Whether all that lines open they close: brackets, braces and long strings."""
    text = "\n".join(lines)
    if text.count('"""') % 2 or text.count("'''") % 2:
        return False
    text = _STRINGS.sub("", text)
    depth = 0
    for sign in _BRACE.findall(text):
        depth += 1 if sign in "([{" else -1
        if depth < 0:
            return False
    return depth == 0


def _belongs(line: str, margin: int) -> bool:
    """Whether a line is of the same paragraph of code."""
    return bool(line.strip()) and _margin(line) >= margin


def _statement(lines: Sequence[str], line: int, language: str, top: int, bottom: int) -> tuple[int, int]:
    """The lines of the statement around a line."""
    first = line
    depth = 0
    for number in range(line - 1, max(top, line - _WHOLE) - 1, -1):
        if not lines[number - 1].strip():
            break
        depth += _balance([lines[number - 1]])
        if depth > 0:
            first, depth = number, 0
    last = first
    while last < bottom and last - first < _WHOLE and (last < line or _goes_on(lines[first - 1 : last], language)):
        last += 1
    return first, last


def _goes_on(lines: Sequence[str], language: str) -> bool:
    if _balance(lines) > 0 or lines[-1].rstrip().endswith("\\"):
        return True
    if language in _INDENTED:
        return False
    end = lines[-1].partition("//")[0].rstrip()[-1:]
    return end not in (";", "{", "}", ":", ",") and language in ("c", "cpp", "cuda", "java", "objc", "objcpp")


def _balance(lines: Sequence[str]) -> int:
    """How many brackets are opened more than closed, those in strings left out."""
    text = "\n".join(line[:_WIDE] for line in lines)
    if '"' in text or "'" in text:
        text = _STRINGS.sub("", text)
    return len(_OPEN.findall(text)) - len(_CLOSE.findall(text))


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _text(lines: Sequence[str], first: int, last: int) -> Cut | None:
    """Lines without their margin; None where they are too wide to have been written by people."""
    kept = [line.rstrip().expandtabs(4) for line in lines[first - 1 : last]]
    if any(len(line) > _WIDE for line in kept):
        return None
    margin = min((_margin(line) for line in kept if line.strip()), default=0)
    return first, last, "\n".join(line[margin:] for line in kept)


def doctest(lines: Sequence[str], first: int, last: int) -> Cut | None:
    """The first example that the documentation between two lines shows."""
    begin = next((n for n in range(first, min(last, len(lines)) + 1) if lines[n - 1].lstrip().startswith(">>> ")), 0)
    if not begin:
        return None
    margin = _margin(lines[begin - 1])
    closing = next((n for n in range(begin, last) if '"""' in lines[n] or "'''" in lines[n]), last)
    end = begin - 1 + doctest_end(lines[begin - 1 : closing], 0, margin)
    if end - begin > _WHOLE + 5:  # the first of several, or up to the last answer that is shown whole
        asked = [n for n in range(begin + 1, begin + _WHOLE + 5) if lines[n].lstrip().startswith(">>>")]
        apart = [n for n in asked if not lines[n - 1].strip()]
        end = (apart or asked or [begin])[-1]
    while end > begin and not lines[end - 1].strip():
        end -= 1
    made = _text(lines, begin, end)
    if made is None:
        return None
    code = "\n".join(line for line in made[2].split("\n") if not _TO_RUNNER.match(line))
    return (begin, end, code + "\n") if code.strip() else None


def sample(lines: Sequence[str], line: int, language: str) -> Cut | None:
    """The code block of a document that a line stands in; None where it stands in prose."""
    if language == "markdown":
        fences = [n for n, text in enumerate(lines, 1) if text.lstrip().startswith(("```", "~~~"))]
        inside = [pair for pair in zip(fences[::2], fences[1::2], strict=False) if pair[0] < line < pair[1]]
        if not inside or inside[0][1] - inside[0][0] > 2 * _WHOLE:
            return None
        return _text(lines, inside[0][0] + 1, inside[0][1] - 1)
    margin = _margin(lines[line - 1])
    first = last = line
    while first > 1 and (not lines[first - 2].strip() or _margin(lines[first - 2]) >= max(1, margin)):
        first -= 1
    while last < len(lines) and (not lines[last].strip() or _margin(lines[last]) >= max(1, margin)):
        last += 1
    opened = lines[first - 2].rstrip() if first > 1 else ""
    is_code = opened.endswith("::") or "code" in opened or lines[line - 1].lstrip().startswith((">>>", "..."))
    if not margin or not is_code or last - first > 2 * _WHOLE:
        return None
    while not lines[first - 1].strip():
        first += 1
    while not lines[last - 1].strip():
        last -= 1
    return _text(lines, first, last)


def import_line(imported: Import, language: str, lines: Sequence[str]) -> str:
    """An import as one would write it for one name; "" where it takes more than a line."""
    alias = f" as {imported.alias}" if imported.alias and imported.alias != imported.name else ""
    if language in ("python", "cython"):
        if imported.name:
            return f"from {imported.module} import {imported.name}{alias}"
        return f"import {imported.module}{alias}"
    written = lines[imported.line - 1].strip() if imported.line <= len(lines) else ""
    return (
        written
        if len(written) <= _NARROW and imported.module in written and written.count("{") == written.count("}")
        else ""
    )
