"""Extracts the opening paragraphs of a document: the first that say what it is about.

In: the path of a document, or of a source file with documentation. Out: the text of its first paragraphs and lists,
with their line numbers. The opening of a README is used as the description of its repository or folder, so badges,
slogans, lists of links, licences, calls for donations and remarks about the document itself are passed over. A slogan
is used if there is nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from concordance.base.blocks import Block, Cite, Doc, Picture, Quote, Ref
from concordance.extract.documents.markdown_blocks import find_fences
from concordance.extract.registry import is_prose
from concordance.facts.updates.reads import memoised
from concordance.query.descriptions.quotations import find_lines, is_statement
from concordance.query.index.file_model import FileModel
from concordance.query.index.ledger import ledger, outline
from concordance.query.index.repository import Index
from concordance.query.markup import markdown
from concordance.query.markup.documents.markdown_reader import DocumentPart, DocumentText
from concordance.query.markup.documents.rendered import document_parts, join_parts

_MAX_LENGTH = 700  # characters after which no further paragraph is added
_MAX_BYTES = 300_000  # bytes of a document that are read
_PICTURE = re.compile(
    r"!?\[!?\[?[^\]]{0,400}\]?\([^()]*+\)\]?(?:\([^()]*+\))?|!\[[^\]]{0,400}+\]\[[^\]]{0,400}+\]|"
    r"\[!\[.{0,400}?\]\]?\[[^\]]{0,400}+\]|\[!\[[^\]]{0,400}+\]\[[^\]]{0,400}+\]\]\([^()]*+\)"
)
_SKIPPED = re.compile(r"\s*(?:[-*+] \[[ xX]\] |<|\||:?-{3,}|={3,}|\.\. |\[[^\]]+\]:|#|\+-|```|~~~|\{%|:\w+:)")
_ATX = re.compile(r"\s{0,3}#{1,6}\s")
_OUTLINE = re.compile(r"\*+ \w[^.:;!?]*")
_RULE = re.compile(r"([=~^#*+\"'`_-])\1{2,}\s*\Z")


_ASIDE = re.compile(
    r"\W*+(?:we(?:'re|\u2019re| are) .{0,30}\bto (?:announce|introduce|release)\b|announcing\b|"
    r"(?:dual[- ]?)?licen[cs]ed\b|copyright\b|(?:\S++ ){1,6}(?:is|are) (?:dual[- ]?)?(?:licen[cs]ed|released|"
    r"distributed|covered) (?:under|by)\b|(?:this|the) \w+ is (?:currently |still |now )?(?:under|in) "
    r"(?:\w+ )?development\b|(?:this|the) (?:readme|document|page|file)\b|(?:please )?(?:consider )?"
    r"(?:donat|sponsor|support(?:ing)? (?:us|me|the (?:project|development)|this project))|.{0,80}\b(?:become a "
    r"(?:sponsor|backer|patron)|github sponsors|open ?collective|patreon|buy me a coffee|tidelift)\b|(?:looking for|"
    r"see|read|visit|check out|view|browse|join|follow|star|click|note that|for (?:more|full|detailed|the latest))\b"
    r"(?! (?:is|was|has|can|will|lets|makes|provides|offers|allows|helps|gives|supports)\b))",  # a project named Click
    re.I,
)
_BYLINE = re.compile(r"\s*(?:-{2,3}|[\u2013\u2014]) ?[A-Z]")  # -- Jane Doe
_INTRODUCES = re.compile(r"\bwhat(?: is|'s|\u2019s)\b|^\W*(?:about|introduction|overview|description)\W*\Z", re.I)
_SPONSORS = re.compile(r"\W*(?:\w+ ){0,2}(?:sponsors|backers)\W*", re.I)
_DATE = re.compile(r"\W*(?:[A-Z][a-z]+\.? )?(?:\d{1,2}(?:st|nd|rd|th)?,? )?(?:[A-Z][a-z]+\.? )?\d{4}(?:-\d\d){0,2}\W*")
_TWO_WORDS = re.compile(r"\w\W+\w")
_LINK = re.compile(r"\[[^\[\]]*\]\([^()\s]*\)|<https?:[^<>]*>")
# Links that follow a sentence or a line and are in none: badges, and a bar of links.
_LINK_BAR = re.compile(r"(?:(?<=[.!?])[ \xa0]+|(?<=\n)|\A)(?:\[[^\[\]]*\]\([^()\s]*\)[\s·•|,]*)+\Z")
# What a quotation below the title is, if not what the whole is: a note, or somebody's words.
_NOTE_OR_VOICE = re.compile(r"\A\s*(?:\*\*|[\"“„«])|\n {0,8}(?:[—–]|--? )")
_QUOTE_MARK = re.compile(r"^> ?", re.M)
_SENTENCE_END = re.compile(r"[.:!?…][)\"'”*_`]*\s*\Z|[。：！？]\s*\Z")


class DocumentOpening(NamedTuple):
    """The opening paragraphs of a document."""

    path: str
    text: str
    first: int
    last: int
    pieces: Sequence[str | Ref | Cite | Picture]

    def block(self) -> Block:
        """Return the text as a quotation."""
        return Quote([Doc(self.pieces)])

    def cite(self) -> Cite:
        """Return a citation of its lines."""
        return Cite(self.path, self.first, self.last)


@memoised(256)
def read_opening(index: Index, path: str) -> DocumentOpening | None:
    """Return the first paragraphs of a document or of a source file's documentation, None if there are none."""
    file = ledger(index).files[path]
    if file.language == "markdown":
        return _of_parts(path, document_parts(FileModel(index, path)))
    if is_prose(file.language):
        text = index.runners.text(path, _MAX_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
        return _of_document(path, text, file.language)
    words = outline(index, path).doc
    if not words:
        return None
    short = _first_paragraphs(words)
    first, last = find_lines(index, path, short)
    return DocumentOpening(path, short, first, last, markdown(short, file.language))


def _of_parts(path: str, parts: Sequence[DocumentPart]) -> DocumentOpening | None:
    """Return the opening of a document that was read into parts."""
    parts, quoted = _with_quoted_description(_without_sponsors(parts))
    starts = [place for place, part in enumerate(parts) if _is_description(part)]
    if not starts:
        return None
    # A sentence is better than a tagline, but not one under a later heading, which is about something else, unless the
    # heading says that what it is follows.
    headings = [place for place, part in enumerate(parts) if part.kind == "heading"]
    later = (place for place in headings[1:] if place > starts[0] and not _introduces(parts[place]))
    end = next(later, len(parts))
    whole = [place for place in starts if place < end and _SENTENCE_END.search(_plain_text(parts[place]))]
    whole = [quoted] if quoted in starts else whole
    kept = [parts[min(whole[:1] or starts)]]
    for part in parts[parts.index(kept[0]) + 1 :]:
        announced = _plain_text(kept[-1]).rstrip().endswith(":")
        is_short = sum(len(_plain_text(one)) for one in (*kept, part)) <= _MAX_LENGTH
        is_more = _is_description(part) or (part.kind == "list" and announced)
        if not is_more or not (is_short or announced):
            break
        kept.append(part)
    while len(kept) > 1 and _plain_text(kept[-1]).rstrip().endswith(":"):
        kept.pop()  # what it announces is not text: a picture, code
    pieces = join_parts("", [part._replace(text=_without_link_bar(part.text)) for part in kept])
    text = "".join(piece if isinstance(piece, str) else getattr(piece, "label", "") for piece in pieces)
    return DocumentOpening(path, text, kept[0].first, kept[-1].last, [p for p in pieces if not isinstance(p, Cite)])


def _with_quoted_description(parts: list[DocumentPart]) -> tuple[list[DocumentPart], int]:
    """Take the quotation below the title for text, if no text precedes it; return the parts and its place, or -1."""
    headings = 0
    for place, part in enumerate(parts):
        headings += part.kind == "heading"
        if headings > 1 or _is_description(part):
            break
        words = _QUOTE_MARK.sub("", _plain_text(part)) if part.kind == "quote" else ""
        if words and not _NOTE_OR_VOICE.search(words):
            text = tuple(_QUOTE_MARK.sub("", one) if isinstance(one, str) else one for one in part.text)
            return [*parts[:place], part._replace(kind="text", text=text), *parts[place + 1 :]], place
    return parts, -1


def _without_sponsors(parts: Sequence[DocumentPart]) -> list[DocumentPart]:
    """Return the parts without those that a line announces as sponsors, up to the next heading or in the same part."""
    remaining: list[DocumentPart] = []
    inside = False
    for part in parts:
        words = "".join(piece for piece in (part.heading or part.text) if isinstance(piece, str)).strip()
        first, _, rest = words.partition("\n")
        announces = _SPONSORS.fullmatch(first) is not None
        if not (announces or (inside and part.kind != "heading")):
            remaining.append(part)
        inside = (announces and not rest) or (inside and part.kind != "heading")
    return remaining


def _introduces(heading: DocumentPart) -> bool:
    """True if what follows a heading says what the whole is."""
    return _INTRODUCES.search("".join(piece for piece in heading.heading if isinstance(piece, str))) is not None


def _without_link_bar(text: DocumentText) -> DocumentText:
    last = text[-1] if text else ""
    return (*text[:-1], _LINK_BAR.sub("", last)) if isinstance(last, str) else text


def _is_description(part: DocumentPart) -> bool:
    """True if a part may say what something is: it has words of its own, also beside links to headings and files."""
    own = "".join(piece for piece in part.text if isinstance(piece, str))
    return part.kind == "text" and bool(_TWO_WORDS.search(own)) and _describes(_plain_text(part))


def _plain_text(part: DocumentPart) -> str:
    """Return the text of a part without our links and pictures."""
    shown = (piece.label if isinstance(piece, Ref) else piece for piece in part.text)
    return "".join(piece for piece in shown if isinstance(piece, str))


def _describes(words: str) -> bool:
    """True if a paragraph may say what something is: it has words of its own beside links, and is not an aside."""
    return is_statement(_LINK.sub("", words)) and not (
        _ASIDE.match(words) or _BYLINE.match(words) or _DATE.fullmatch(words.strip())
    )


def _first_paragraphs(words: str) -> str:
    """Return as many whole paragraphs from the start as fit."""
    paragraphs = ""
    for paragraph in re.split(r"\n[ \t]*\n", words.strip()):
        if paragraphs and len(paragraphs) + len(paragraph) > _MAX_LENGTH and not paragraphs.rstrip().endswith(":"):
            break
        paragraphs = f"{paragraphs}\n\n{paragraph}" if paragraphs else paragraph
    return paragraphs


def _of_document(path: str, text: str, language: str) -> DocumentOpening | None:
    lines = text.split("\n")
    kept: list[str] = []
    first = last = 0
    for number, paragraph in _paragraphs(lines):
        words = "\n".join(paragraph)
        if kept and _is_heading(paragraph):
            break
        if not _is_prose(paragraph):
            if kept and not kept[-1].rstrip().endswith(":"):
                break
            continue
        if not kept and not _describes(_PICTURE.sub("", words)):
            continue
        if kept and sum(map(len, kept)) + len(words) > _MAX_LENGTH and not kept[-1].rstrip().endswith(":"):
            break
        kept.append(words)
        first, last = first or number, number + len(paragraph) - 1
    if not kept:
        return None
    text = "\n\n".join(kept)
    return DocumentOpening(path, text, first, last, markdown(text, "markdown" if language == "text" else language))


def _paragraphs(lines: list[str]) -> list[tuple[int, list[str]]]:
    """Return the paragraphs, each with the number of its first line, without fenced code and comments."""
    paragraphs: list[tuple[int, list[str]]] = []
    code = {number for fence in find_fences(lines) for number in range(fence.first + 1, fence.last + 2)}
    comment = False
    for number, line in enumerate(lines, 1):
        comment = (comment or "<!--" in line) and "-->" not in line
        if number in code or comment or not line.strip() or line.strip().endswith("-->"):
            paragraphs.append((0, []))
            continue
        begins = not paragraphs or not paragraphs[-1][1] or _ATX.match(line) or _ATX.match(paragraphs[-1][1][-1])
        if begins or (_RULE.match(line.strip()) and len(paragraphs[-1][1]) > 1):
            paragraphs.append((number, []))
        paragraphs[-1][1].append(line.rstrip())
    return [row for row in paragraphs if row[1]]


def _is_heading(paragraph: list[str]) -> bool:
    """True if a paragraph is a heading: also a lone line with a star, as in an outline, since no list has one item."""
    if len(paragraph) == 1:
        return paragraph[0].lstrip().startswith("#") or _OUTLINE.fullmatch(paragraph[0]) is not None
    return paragraph[0].lstrip().startswith("#") or _RULE.match(paragraph[1].strip()) is not None


def _is_prose(paragraph: list[str]) -> bool:
    if _is_heading(paragraph) or _SKIPPED.match(paragraph[0]) or _RULE.match(paragraph[0].strip()):
        return False
    return bool(re.search(r"\w", _PICTURE.sub("", " ".join(paragraph))))
