"""`llms.txt`: an entry point for language models, in the format of llmstxt.org.

In: an index and the addresses of the site's Markdown pages. Out: the text of the file: the repository's name and
description, then links to Markdown pages: the book's chapters in reading order, the top-level folders, and the commands
that a server answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base import plugins
from concordance.base.blocks import Line, Pieces, Ref, To, count_noun
from concordance.base.characters import escape_hidden
from concordance.query.book.chapters import plan
from concordance.query.dispatch import COMMANDS
from concordance.query.folders import folders
from concordance.query.folders.description import describe_folder
from concordance.query.folders.repository import name_of
from concordance.query.index.repository import Index
from concordance.render.addresses import Addresses

ADDRESS = "llms.txt"
_MARKUP = re.compile(r"[\[\]<>]")


def text(index: Index, addresses: Addresses, has_api: bool) -> str:
    """Return the whole file."""
    return "\n".join(_lines(index, addresses, has_api)) + "\n"


def _lines(index: Index, addresses: Addresses, has_api: bool) -> Iterator[str]:
    def link(label: str, ref: Ref, said: str = "") -> str:
        return f"- [{_safe(label)}]({addresses.link(ADDRESS, ref)})" + (f": {said}" if said else "")

    root = folders(index).all[""]
    yield f"# {_safe(name_of(index))}"
    yield ""
    yield f"> {_plain(describe_folder(index, '')) or count_noun(root.count, 'file')}"
    yield ""
    yield "Every file, folder and name of this repository is documented from its source, with file and line."
    yield "Each page is also available as HTML: replace `.md` with `.html`. `<file>_docs.md` is the page of a file."
    yield ""
    yield "## Start"
    yield ""
    yield link("Contents", Ref(To.INDEX, ""), "what the repository is, how it is laid out, where to start")
    yield link("Book", Ref(To.BOOK, ""), "all chapters, in reading order")
    yield link("Keywords", Ref(To.LETTERS, ""), "every name from A to Z")
    yield link("Checks", Ref(To.REPORT, ""), "what was read, what was not, and what does not resolve")
    yield from ["", "## Chapters", ""]
    for chapter in plan(index).ordered:
        said = _plain(describe_folder(index, chapter.folder))
        yield link(chapter.folder or name_of(index), Ref(To.BOOK, chapter.name), said)
    if root.folders:
        yield from ["", "## Folders", ""]
        for folder in root.folders:
            yield link(folder, Ref(To.INDEX, folder), _plain(describe_folder(index, folder)))
    if has_api:
        yield from ["", "## Questions", ""]
        yield "- [OpenAPI](openapi.json): every command, its parameters and its answer"
        for name in plugins.names(COMMANDS):
            module = plugins.load(COMMANDS, name)
            first = module.HELP.strip().splitlines()[0]
            yield f"- [{name}](api/{name}): {_safe(first)}"


def _plain(pieces: Pieces) -> str:
    """Return the plain text of pieces."""
    said = []
    for piece in pieces:
        if isinstance(piece, Ref):
            said.append(piece.label or piece.at or piece.path)
        elif isinstance(piece, Line):
            said.append(piece.label)
        elif isinstance(piece, str):
            said.append(piece)
    return _safe(" ".join("".join(said).split()))


def _safe(words: str) -> str:
    return _MARKUP.sub("", escape_hidden(words))
