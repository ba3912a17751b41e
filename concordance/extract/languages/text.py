"""Plain text, and every language that has no reader of its own: paragraphs without structure.

The file's description is its first paragraph that reads like prose, after an optional title; if there is no such
paragraph, it is the title. Lists, tables and logs give no description. In a programming language whose comments are
known, it is the comment that describes the file.
"""

from __future__ import annotations

import re

from concordance.base.model import Category, DocMarkup, Language
from concordance.extract.documents import opening_comment
from concordance.extract.documents.comments import reads_like_prose
from concordance.extract.documents.legal_text import is_legal
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "text",
    "Plain text",
    extensions=(".txt", ".text", ".log"),
    category=Category.DOCUMENTATION,
    doc_markup=DocMarkup.REST,
)

_LINE_END = re.compile(r"\r\n|\r|\n")
_TITLE = re.compile(r"[^\W\d_].{1,78}[^.,;:{}()=<>\s]$")
_RULE = re.compile(r"(\W)\1{2,}$")
_FIRST_LINES = 200  # a description is only looked for in this many lines


def read(source: Source) -> Draft:
    """Parse one text file into a `Draft`."""
    draft = Draft(source)
    start = 0
    lines = _LINE_END.split(source.text)
    for number, line in enumerate([*lines, ""]):
        if not line.strip():
            if start < number:
                draft.prose.append((start + 1, "\n".join(lines[start:number])))
            start = number + 1
    is_code = source.language in opening_comment.LANGUAGES
    draft.doc = opening_comment.opening_comment(source.text, source.language) if is_code else _opening(draft.prose)
    return draft


def _opening(paragraphs: list[tuple[int, str]]) -> str:
    title = ""
    for number, (line, paragraph) in enumerate(paragraphs):
        if line > _FIRST_LINES:
            break
        lines = [words for words in (words.strip() for words in paragraph.split("\n")) if not _RULE.match(words)]
        if all(words.startswith("#") for words in lines):  # a list of names with comments
            lines = [words.lstrip("# ") for words in lines]
        if number == 0 and len(lines) == 1 and _TITLE.match(lines[0]) and not is_legal(lines[0]):
            title = lines[0]
        elif reads_like_prose(lines) and not is_legal(paragraph):
            return " ".join(" ".join(lines).split())
    return title
