"""The glossary: terms of the repository with definitions quoted from its own files.

In: an index. Out: entries in alphabetical order, each quoted and cited. Sources are acronyms that are spelled out
somewhere, entries of documents that call themselves a glossary, terms that a document highlights and defines with
"is a …", and the most used classes with their documentation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from concordance.base.blocks import Cite, Piece, Ref, To
from concordance.base.model import Category
from concordance.extract.documents.markdown_blocks import find_fences
from concordance.extract.registry import is_prose
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import WHOLE_TABLE, memoised
from concordance.query.book.key_definitions import symbol_by_id
from concordance.query.descriptions.quotations import (
    first_sentence,
    is_instruction,
    is_statement,
    quote_sentence,
    sentence_pieces,
)
from concordance.query.folders.folder_tree import folder_definitions
from concordance.query.folders.terms import acronyms
from concordance.query.index.file_model import ref_of
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index

_MAX_BYTES = 300_000  # bytes of a document that are searched
_CLASSES = 80  # classes listed
_DEFINITION = re.compile(
    r"^(?:An?|The)?\s*(?:\*\*(?P<bold>[^*\n]{2,50})\*\*|\*(?P<slant>[^*\n]{2,50})\*|``?(?P<code>[^`\n]{2,50})``?|"
    r"(?P<name>[A-Z][\w.+-]*(?: [\w.+-]+){0,3}))\s+(?:\([^()]{1,40}\)\s+)?(?:is|are)\s+(?:an?|the|one|any)\s"
)
_HEADING = re.compile(r"^#{1,6}\s++((?=#*+$)|.*?(?<!\s)(?:(?=\s)|(?<!#)))(?:\s++#*+|#*+)$")
_FILE = re.compile(r"\.(?:py|md|rst|txt|sh|cpp|h|cu|yml|yaml|json|so|js|ts|go|rs)\Z")
_RULE = re.compile(r"^([=~^*+\"'`_-])\1{2,}\s*$")


class GlossaryEntry(NamedTuple):
    """A term and its definition."""

    term: str
    words: list[Piece]
    path: str  # the file that is quoted
    ref: Ref | None = None  # a link to the class, if the term is one


def glossary_entries(index: Index) -> list[GlossaryEntry]:
    """Return all terms; for a term with several definitions the first one, with glossaries before other sources."""
    entries: dict[str, GlossaryEntry] = {}
    for entry in (*_documents(index), *_acronyms(index), *_classes(index)):
        entries.setdefault(entry.term.lower(), entry)
    return sorted(entries.values(), key=lambda entry: (entry.term.lower(), entry.term))


def _acronyms(index: Index) -> Iterator[GlossaryEntry]:
    """Yield acronyms, each with the expansion that most files give."""
    index.reads.note(Aspect.CONCEPT, WHOLE_TABLE)
    for text, rows in acronyms(index).items():
        kept = [row for row in rows if index.category_of(row[1]) not in (Category.VENDORED, Category.DATA)]
        if not kept:
            continue
        counts = Counter(long_form.lower() for long_form, _, _ in kept)
        best = min(counts, key=lambda long_form: (-counts[long_form], long_form))
        long_form, path, line = next(row for row in kept if row[0].lower() == best)
        index.reads.note(Aspect.TEXT, path)  # for its line
        yield GlossaryEntry(text, ["“", *sentence_pieces(long_form), "”", Cite(path, line)], path)


def _classes(index: Index) -> Iterator[GlossaryEntry]:
    """Yield the most used classes that have a documentation comment."""
    number = 0
    for used in folder_definitions(index).all[""].used_types:
        symbol, path = symbol_by_id(index, used.id), used.path
        if symbol is None or index.category_of(path) == Category.TEST:
            continue
        sentence = first_sentence(symbol.doc, index.language_of(path), symbol.name)
        if is_statement(sentence) and not is_instruction(sentence):
            number += 1
            words = quote_sentence(index, path, sentence, symbol.doc, symbol.start_line)
            yield GlossaryEntry(symbol.name, words, path, ref_of(index, used.id, short=True))
        if number == _CLASSES:
            return


def _documents(index: Index) -> Iterator[GlossaryEntry]:
    """Yield terms defined in documents, glossaries first."""
    index.reads.note(Aspect.PATHS, WHOLE_TABLE)  # also covers changes of files' categories
    with index.reads.not_recording():
        paths = [
            path for path, file in ledger(index).files.items()
            if not file.skip and file.category == Category.DOCUMENTATION and is_prose(file.language)
        ]  # fmt: skip
    for path in sorted(paths, key=lambda path: ("glossary" not in path.lower(), path)):
        yield from _terms_of_document(index, path)


@memoised(1 << 16)
def _terms_of_document(index: Index, path: str) -> list[GlossaryEntry]:
    text = index.runners.text(path, _MAX_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    lines = text.split("\n")
    is_glossary = "glossary" in path.rpartition("/")[2].lower() or ".. glossary::" in text
    return list(_glossary_document(path, lines) if is_glossary else _defined_in_prose(path, lines))


def _glossary_document(path: str, lines: list[str]) -> Iterator[GlossaryEntry]:
    """Yield the entries of a glossary: headings with the text below them, or reST terms with indented definitions."""
    inside = -1  # the indentation of a reST glossary directive, -1 before one is found
    code = _code_lines(lines)
    for number, line in enumerate(lines):
        if line.strip() == ".. glossary::":
            inside = len(line) - len(line.lstrip())
            continue
        below = lines[number + 1] if number + 1 < len(lines) else ""
        heading = _HEADING.match(line)
        margin = len(line) - len(line.lstrip())
        if heading:
            yield from _entry(path, heading[1], lines, number + 1, code)
        elif 0 <= inside < margin < len(below) - len(below.lstrip()) and re.match(r"\s*[^\s:.]", line):
            yield from _entry(path, line.strip(), lines, number + 1, code)


def _entry(path: str, term: str, lines: list[str], at: int, code: set[int]) -> Iterator[GlossaryEntry]:
    """Yield a term with the first paragraph at or after a line, if that is a statement."""
    while at < len(lines) and not lines[at].strip():
        at += 1
    end = at
    while end < len(lines) and lines[end].strip() and not _HEADING.match(lines[end]) and end not in code:
        end += 1
    sentence = first_sentence("\n".join(lines[at:end]), "rst" if path.endswith(".rst") else "markdown")
    term = re.sub(r"[`*_]|\[([^\]]*)\]\([^()]*\)", r"\1", term).strip()
    if term and len(term) < 60 and is_statement(sentence):
        yield GlossaryEntry(
            term, ["“", *sentence_pieces(sentence), "”", Cite(path, at + 1, end if end > at + 1 else 0)], path
        )


def _defined_in_prose(path: str, lines: list[str]) -> Iterator[GlossaryEntry]:
    """Yield terms from paragraphs that begin with a term and "is a"; a plain name must occur in the heading above."""
    heading, code = "", _code_lines(lines)
    for number, line in enumerate(lines):
        underlined = _HEADING.match(line)
        if underlined or (number + 1 < len(lines) and line.strip() and _RULE.match(lines[number + 1])):
            heading = underlined[1] if underlined else line.strip()
            continue
        if number in code or not line or line[0].isspace() or (number and lines[number - 1].strip()):
            continue
        match = _DEFINITION.match(line)
        if match is None:
            continue
        term = match["bold"] or match["slant"] or match["code"] or match["name"]
        if match["name"] and _letters(term) not in _letters(heading):
            continue
        end = number
        while end < len(lines) and lines[end].strip() and end not in code:
            end += 1
        sentence = first_sentence("\n".join(lines[number:end]), "rst" if path.endswith(".rst") else "markdown")
        if is_statement(sentence) and term.lower() not in _EMPTY and not _FILE.search(term):
            yield GlossaryEntry(
                term,
                ["“", *sentence_pieces(sentence), "”", Cite(path, number + 1, end if end > number + 1 else 0)],
                path,
            )


_EMPTY = frozenset(
    ("this", "it", "there", "these", "here", "that", "below", "following", "note", "warning", "the following")
)


def _code_lines(lines: list[str]) -> set[int]:
    return {number for fence in find_fences(lines) for number in range(fence.first, fence.last + 1)}


def _letters(words: str) -> str:
    return re.sub(r"[\W_]+", "", words.lower())


def source_link(entry: GlossaryEntry) -> Ref:
    """Return a link to the file that defines a term."""
    return Ref(To.FILE, entry.path)
