"""Reads a Jupyter notebook into parts: its prose as Markdown, its code as code.

In: the text of a notebook, which is JSON. Out: the same parts as for a Markdown document, without lines, because a cell
is one string per line of JSON. Outputs are left out: they are results, often large, and not what the author wrote.
"""

from __future__ import annotations

import json
from typing import Any

from concordance.query.markup import show_hidden
from concordance.query.markup.documents.links import DocumentLinks
from concordance.query.markup.documents.markdown_reader import DocumentPart, read_markdown
from concordance.query.markup.markdown_shapes import code_block


def read_notebook(text: str, links: DocumentLinks) -> list[DocumentPart]:
    """Return the parts of a notebook; none if it is not one."""
    try:
        notebook: Any = json.loads(text)
        cells = notebook["cells"]
        language = str(notebook.get("metadata", {}).get("language_info", {}).get("name", "python"))
        rows = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []
    parts: list[DocumentPart] = []
    for kind, source in rows:
        if kind == "markdown":
            parts += (part._replace(first=0, last=0) for part in read_markdown(source, links))
        elif kind == "code" and source.strip():
            block = code_block(show_hidden(source).split("\n"), language)
            parts.append(DocumentPart("code", 0, (), (block.text,), 0, 0))
    return parts
