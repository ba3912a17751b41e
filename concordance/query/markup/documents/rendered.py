"""The document of a page: what a file of prose says, as its reader sees it.

In: the model of a file. Out: the blocks of the document, with its headings one level below the page's own; nothing for
a file that is not a document, or one that is too large for a page. Each text cites its lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from concordance.base.blocks import Block, Cite, Doc, Heading, Picture, Ref
from concordance.base.model import Skip
from concordance.facts.updates.reads import memoised_in_object
from concordance.query.index.file_model import FileModel
from concordance.query.markup.documents.links import DocumentLinks
from concordance.query.markup.documents.markdown_reader import DocumentPart, read_markdown
from concordance.query.markup.documents.notebook_reader import read_notebook
from concordance.query.markup.documents.rst_reader import read_rst

LONGEST = 500_000  # characters of a document on its page; the source of a longer one is shown instead
_READERS: dict[str, Callable[[FileModel, str], list[DocumentPart]]] = {
    "markdown": lambda model, text: read_markdown(text, DocumentLinks(model)),
    "rst": lambda model, text: read_rst(text, model.symbols, DocumentLinks(model)),
    "jupyter": lambda model, text: read_notebook(text, DocumentLinks(model)),
}


def is_document(model: FileModel) -> bool:
    """True if a file is a document that its page can show."""
    return model.file.language in _READERS and model.file.skip == Skip.NONE


@memoised_in_object
def document_parts(model: FileModel) -> list[DocumentPart]:
    """Return the parts of a document; none if the file is not a document, or is too large."""
    text = model.opened.text() if is_document(model) else None
    if not text or (len(text) > LONGEST and model.file.language != "jupyter"):
        return []
    return _READERS[model.file.language](model, text.replace("\r\n", "\n").replace("\r", "\n"))


def document_blocks(model: FileModel) -> list[Block]:
    """Return the blocks of a document."""
    blocks: list[Block] = []
    parts = document_parts(model)
    at = 0
    while at < len(parts):
        part = parts[at]
        if part.level:
            blocks.append(Heading(min(part.level + 1, 6), part.heading))
            at += 1
            continue
        end = next((place for place in range(at, len(parts)) if parts[place].level), len(parts))
        blocks.append(Doc(join_parts(model.path, parts[at:end])))
        at = end
    return blocks


def join_parts(path: str, parts: Sequence[DocumentPart]) -> list[str | Ref | Cite | Picture]:
    """Return the texts of parts as one, with a citation of their lines."""
    joined: list[str | Ref | Cite | Picture] = [Cite(path, parts[0].first, parts[-1].last)] if parts[0].first else []
    for number, part in enumerate(parts):
        joined += ["\n\n", *part.text] if number else part.text
    return joined
