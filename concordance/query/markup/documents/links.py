"""Where the links, pictures and names in a document lead.

In: the model of a document. Out: a `Ref` or a `Picture` for a target as written. Links and pictures lead where the
linker says, names of code where the bridge from documents to code says, so a page shows a link only to what the
repository has, and is made again when that changes.
"""

from __future__ import annotations

import re
from functools import cached_property
from urllib.parse import unquote

from concordance.base.blocks import Picture, Ref, To
from concordance.base.model import Kind, Trust
from concordance.facts.updates.delta import Aspect
from concordance.query.index.file_model import FileModel
from concordance.query.index.graphs.bridges import bridges_from
from concordance.query.index.ledger import outline
from concordance.query.names.mentions import MentionedNames
from concordance.query.names.references import import_target

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".ico", ".avif")
_LABEL_LINES = 4  # from a label to its heading at most
_SLUG = re.compile(r"[^\w\- ]")


class DocumentLinks:
    """Resolves what one document refers to."""

    def __init__(self, model: FileModel) -> None:
        self.model = model
        self._names = MentionedNames(model)

    @cached_property
    def _files(self) -> dict[str, str]:
        """The files that the document links to, shows or includes, by the target as written."""
        files: dict[str, str] = {}
        for row, target, _ in self.model.imports:
            path = import_target(self.model.index, target, 0)
            if path:
                files.setdefault(row.module or row.name, path)
        return files

    @cached_property
    def _code(self) -> dict[str, int]:
        """The definitions that the document names, by name; 0 if a name stands for several."""
        definitions: dict[str, int] = {}
        for row in bridges_from(self.model):
            if row.bridge == "documents" and row.target and row.trust >= Trust.UNIQUE_NAME:
                definitions[row.name] = row.target if definitions.get(row.name, row.target) == row.target else 0
        return definitions

    def name(self, name: str) -> Ref | None:
        """Return a link to the definition that a name stands for; None if that is not certain."""
        identity = self._code.get(name)
        if identity:
            return self.model.ref(identity)._replace(label=name)
        ref = self._names.ref(name)
        return None if ref is not None and ref.path == self.model.path else ref

    def file(self, target: str, label: str) -> Ref | None:
        """Return a link to the file or section that a target as written leads to; None if there is none."""
        path, _, section = target.partition("#")
        if not path:
            at = self._section(self.model.path, section)
            return Ref(To.FILE, self.model.path, at, label, False) if at else None
        ref = self._files.get(target) or self._files.get(path)
        if ref is None:
            return None
        return Ref(To.FILE, ref, self._section(ref, section) if section else "", label, False)

    def document(self, name: str) -> tuple[Ref, str] | None:
        """Return a link to a document named as in Sphinx (`/topics/models`), and its title; None if there is none."""
        path = self._files.get(name)
        if path is None:
            return None
        return Ref(To.FILE, path, "", title_of(self.model, path), False), path

    def section(self, name: str) -> Ref | None:
        """Return a link to the section below the label `.. _name:` of some document, labelled with its title; None if
        there is no such section, or several."""
        index = self.model.index
        index.reads.note(Aspect.SYMBOLS_NAMED, name)
        labels = [one for one in index.facts.symbols_named(name) if one.kind == Kind.LABEL and one.language == "rst"]
        for label in labels if len(labels) == 1 else ():
            for symbol in outline(index, label.path).symbols:
                if symbol.kind == Kind.HEADING and 0 < symbol.line - label.line <= _LABEL_LINES:
                    return Ref(To.FILE, label.path, symbol.name, symbol.name, False)
        return None

    def picture(self, target: str, label: str) -> Picture | None:
        """Return the picture at a target as written; None if the repository does not have it."""
        path = self._files.get(target) or self._files.get(target.partition("?")[0].partition("#")[0])
        is_picture = path is not None and path.lower().endswith(_PICTURES)
        return Picture(path, label or path.rpartition("/")[2]) if path is not None and is_picture else None

    def _section(self, path: str, fragment: str) -> str:
        """Return the heading that a fragment leads to; "" if the document has none of this name."""
        wanted = unquote(fragment).lower()
        for symbol in outline(self.model.index, path).symbols:
            if symbol.kind == Kind.HEADING and heading_slug(symbol.name) == wanted:
                return symbol.name
        return ""


def heading_slug(title: str) -> str:
    """Return the id that forges give to a heading."""
    return _SLUG.sub("", title.lower()).replace(" ", "-")


def title_of(model: FileModel, path: str) -> str:
    """Return the title of a document, or else its file name."""
    heads = (symbol.name for symbol in outline(model.index, path).symbols if symbol.kind == Kind.HEADING)
    return next(heads, "") or path.rpartition("/")[2]
