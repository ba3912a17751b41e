"""Descriptions of files and folders in READMEs and guides: "`c10` - core library files".

In: an index and a path. Out: the sentence that describes it, quoted, with a citation. An entry is a list item or a
table row that begins with a link to the path, or with its name as code, or a sentence whose subject is such a name
("The script `build.sh` builds all wheels").
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from concordance.base.blocks import Cite, Piece
from concordance.base.paths import parent_folders
from concordance.extract.documents.docstrings import opens_fence
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import RecordedTable, shared_until
from concordance.query.descriptions.quotations import first_sentence, is_instruction, is_statement, sentence_pieces
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index

GUIDES = re.compile(
    r"(?:^|/)(?:readme|contributing|architecture|hacking|develop\w*|structure|overview|layout|index|guide|codebase\w*)"
    r"[^/]*\.(?:md|markdown|rst|txt)$",
    re.I,
)
_HEAD = (
    r"(?:\*\*|__)?(?:\[`?(?P<label>[^\]`]+)`?\]\((?P<to>[^()\s]+)\)|``?(?P<code>[^`\s]+)``?|"
    r"(?P<bare>[\w.-]+/[\w./-]*))(?:\*\*|__)?"
)
_ITEM = re.compile(rf"^(?P<indent>\s*)(?:[-*+]|\d+[.)])\s+{_HEAD}(?:\*\*)?\s*(?:--?|–|—|:)+\s+(?P<text>\S.*)$")
_ROW = re.compile(rf"^(?P<indent>\s*)\|\s*{_HEAD}\s*\|\s*(?P<text>[^|]*\S)\s*(?:\|.*)?$")
_SENTENCE = re.compile(
    rf"(?:The\s+)?(?:(?:file|script|module|package|folder|directory|header|tool|program)\s+)?{_HEAD}"
    r"(?:\s+(?:file|script|module|package|folder|directory|header|tool|program|library|command))?\s+"
    r"(?:are|can|will|lets|[a-z]*[^\Ws]s)\s+\S"
)
# What ends an item of a list; any other line continues it, indented or not.
_NEW_BLOCK = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|#|\||```|~~~|<|\.\. )|(?:=|-|\*|_){3,}\s*$")
_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?])\s+)(?=\S)")
_MAX_LENGTH = 400_000  # characters of a guide that are searched


@shared_until(lambda touched: any(GUIDES.search(path) for path in touched[Aspect.TEXT]))
def guide_entries_by_path(index: Index) -> Mapping[str, tuple[str, int, int, str]]:
    """Return, by path, the guide that describes it, the first and last line, and the text. The nearest guide above the
    path is preferred; a guide elsewhere is used only if there is none."""
    entries: dict[str, tuple[tuple[int, str], tuple[str, int, int, str]]] = {}
    files = ledger(index).files
    known = files.keys() | {folder for path in files for folder in parent_folders(path) if folder}
    for guide in sorted(path for path, file in files.items() if not file.skip and GUIDES.search(path)):
        text = index.runners.text(guide).decode("utf-8", "replace")[:_MAX_LENGTH]
        base = guide.rpartition("/")[0]
        for named, first, last, words in (*_items(text), *_sentences(text)):
            path = _resolve_entry(named, base, known)
            sentence = first_sentence(words, "markdown")
            if not path or path == guide or not is_statement(sentence):
                continue
            if not any("/" in name or "." in name for name in named) and is_instruction(sentence):
                continue  # `test`: Run all tests: the name of a script, not of a folder
            is_above = not base or path == base or path.startswith(f"{base}/")
            rank = (-base.count("/") - bool(base) if is_above else 1, guide)
            if path not in entries or rank < entries[path][0]:
                entries[path] = (rank, (guide, first, last, words))
    return RecordedTable(index.reads, "entry", {path: row for path, (_, row) in entries.items()})


def _items(text: str) -> Iterator[tuple[tuple[str, ...], int, int, str]]:
    """Yield each entry: the names it may refer to, its first and last line, and its text."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = _ITEM.match(line) or _ROW.match(line)
        if match is None:
            continue
        words, last = match["text"], number
        while not line.lstrip().startswith("|") and last + 1 < len(lines):
            following = lines[last + 1]
            if not following.strip() or _NEW_BLOCK.match(following):
                break
            words, last = f"{words} {following.strip()}", last + 1
        named = tuple(name for name in (match["to"], match["code"], match["bare"], match["label"]) if name)
        yield named, number + 1, last + 1, words


def _sentences(text: str) -> Iterator[tuple[tuple[str, ...], int, int, str]]:
    """Yield each sentence of running text whose subject is a path, as `_items` does."""
    paragraph: list[str] = []
    fenced = False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        fenced ^= opens_fence(line.strip(), paragraph[-1] if paragraph else "")
        if line.strip() and not fenced and not _NOT_PROSE.match(line):
            paragraph.append(line.strip())
            continue
        words = " ".join(paragraph)
        for start in _SENTENCE_START.finditer(words) if "`" in words or "](" in words or "/" in words else ():
            match = _SENTENCE.match(words, start.end())
            if match is not None:
                named = tuple(name for name in (match["to"], match["code"], match["bare"], match["label"]) if name)
                yield named, number - len(paragraph), number - 1, words[start.end() :]
        paragraph = []


_NOT_PROSE = re.compile(r"\s*(?:[-*+] |\d+[.)] |\||#|>|<|\.\. |```|~~~)| {4}|\t")


def _resolve_entry(named: tuple[str, ...], folder: str, paths: set[str]) -> str:
    """Return the path that an entry names, relative to the guide's folder or to the root; "" if there is none."""
    for name in named:
        bare = name.partition("#")[0].strip()
        if not bare or "://" in bare or bare in (".", "./"):
            continue
        for base in dict.fromkeys((folder, "") if "/" in bare else (folder,)):
            path = posixpath.normpath(posixpath.join(base, bare.lstrip("/"))).strip("/")
            if path in paths:
                return path
    return ""


def quote_guide_entry(index: Index, path: str) -> list[Piece]:
    """Return what a guide says about a path, quoted; nothing if no guide does."""
    row = guide_entries_by_path(index).get(path)
    if row is None:
        return []
    guide, first, last, words = row
    return [
        "“",
        *sentence_pieces(first_sentence(words, "markdown")),
        "”",
        Cite(guide, first, last if last != first else 0),
    ]
