"""One-line descriptions of files: the author's own words, or else a summary of the file's facts.

In: an index and a path. Out: pieces for a table cell or a list item: the author's first sentence in quotation marks, or
a phrase without a full stop ("defines the class `A` and 3 functions"). What a README says about a file counts as the
author's words too. A file with only a few words of its own gets both.
"""

from __future__ import annotations

from concordance.base.blocks import Cite, Mono, Piece, Pieces, Ref, To, counted, listed
from concordance.base.model import Category, File, Kind, Skip
from concordance.extract.registry import language_of
from concordance.facts.codec import FileOutline
from concordance.query.descriptions.config_files import settings
from concordance.query.descriptions.definitions import defines, hands_on, implements, main_definition, speaks_for_folder
from concordance.query.descriptions.guide_entries import entry
from concordance.query.descriptions.quotations import (
    cited,
    first_line,
    first_sentence,
    is_statement,
    plain,
    quote,
    spoken,
)
from concordance.query.descriptions.test_files import tests
from concordance.query.index.counts.ledger import ledger, outline, size_of
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import kept

_FEW = 30  # characters up to which a sentence is no more than a title
_TO_THE_READER = ("If ", "Please ", "See ", "You ", "Note ", "Warning")  # instructions, not descriptions
_PROSE = frozenset(("markdown", "rst", "text", "asciidoc"))
_KEYED = frozenset(("yaml", "json", "toml", "ini", "settings", "plist", "xml"))


@kept(32768)  # a description appears on the pages of the file, of its folder and of its chapter
def describe(index: Index, path: str) -> Pieces:
    """Return a one-line description of a file."""
    file = ledger(index).files[path]
    if file.skip:
        return _unread(index, file)
    if not file.size:
        return _empty(file)
    facts = outline(index, path)
    words = _own_words(index, file, facts)
    if words and (isinstance(words[0], Ref) or len(plain(words)) > _FEW):
        return words
    found = _by_facts(index, file, facts)
    return [*words, *([", "] if words and found else []), *found] or _by_form(index, file, facts)


def _own_words(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return what its author says about it: in the file, in a README's list, or in its main definition's comment."""
    if file.language in ("markdown", "rst"):
        return _of_prose(index, file, facts)
    sentence = first_sentence(facts.doc, file.language) if _is_read(file) else ""
    if is_statement(sentence) and not sentence.startswith(_TO_THE_READER):
        return quote(index, file.path, sentence, facts.doc)
    said = entry(index, file.path)
    if said:
        return list(said)
    if file.language in _KEYED:
        return []
    aside = file.category == Category.TEST or (speaks_for_folder(file.path) and hands_on(index, file, facts))
    main = None if aside else main_definition(index, file, facts)
    if main is not None:
        sentence = first_sentence(main.doc, file.language, main.name)
        if is_statement(sentence):
            name = Ref(To.SYMBOL, file.path, main.key, main.name)
            return [name, ": ", *quote(index, file.path, sentence, main.doc, main.start_line)]
    return []


def _is_read(file: File) -> bool:
    """True if the extracted text of a file is prose; for a language without an extractor it may be code."""
    prose = file.type == "Plain text" or file.category == Category.DOCUMENTATION
    return prose or language_of(file.language).name != "text"


def _of_prose(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return the title of a document and its first sentence."""
    heads = [symbol for symbol in facts.symbols if symbol.kind == Kind.HEADING]
    title = heads[0] if heads and heads[0].parent < 0 and heads[0].start_line < 40 else None
    sentence = first_sentence(facts.doc, file.language)
    found: list[Piece] = []
    if title is not None:
        found += [Ref(To.SYMBOL, file.path, title.key, title.name, code=False), Cite(file.path, title.line)]
    if is_statement(sentence):
        found += [": "] if found else []
        found += quote(index, file.path, sentence, facts.doc)
    elif len(heads) > 1:
        found += [f", in {counted(len(heads), 'section')}"]
    return found


def _by_facts(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return a summary of what a file defines; nothing if it defines nothing."""
    if file.language in _KEYED or file.language in ("dockerfile", "cmake", "make", "starlark"):
        return settings(index, file, facts)
    if file.language in _PROSE:
        return []
    if file.category == Category.TEST or ledger(index).tests[file.path]:
        found = tests(index, file, facts)
        if found:
            return found
    return defines(index, file, facts) or implements(file, facts)


def _by_form(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return a file's type and length, what it imports, and which files use it or, for prose, its first line."""
    found: list[Piece] = [f"{file.type}, {counted(file.lines, 'line')}"]
    if facts.imports and file.language not in _PROSE:
        found += _brings_in(index, file, facts)
    users = _users(index, file.path)
    if users:
        names: list[Piece] = [Ref(To.FILE, path, "", path.rpartition("/")[2]) for path in users[:2]]
        more = [counted(len(users) - 2, "more file", "more files")] if len(users) > 2 else []
        found += [", used by ", *listed([*names, *more])]
    elif file.language in _PROSE:
        first = first_line(index, file.path)
        if first:
            found += [", begins “", *spoken(first), "”", cited(index, file.path, first)]
    return found


def _users(index: Index, path: str) -> list[str]:
    """Return the files that use a file, sorted by path."""
    return sorted(map(index.path_of_base, index.neighbours.users.get(index.base_of(path), ())))


def _brings_in(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return what is imported by a file that defines nothing itself."""
    modules = list(dict.fromkeys(row.module for row in facts.imports if row.module))
    if not modules:
        return []
    names: list[Piece] = [Mono(module) for module in modules[:2]]
    more = [counted(len(modules) - 2, "more")] if len(modules) > 2 else []
    verb = "includes" if file.language in ("c", "cpp", "cuda", "objc", "objcpp") else "imports"
    return [f", {verb} ", *listed([*names, *(one.removesuffix("s") for one in more)])]


def _empty(file: File) -> list[Piece]:
    folder, _, name = file.path.rpartition("/")
    if name == "__init__.py" and folder:
        return ["empty; makes ", Mono(folder.rpartition("/")[2]), " a package"]
    return ["empty file"]


def _unread(index: Index, file: File) -> list[Piece]:
    """Return a description of a file that was not read as text."""
    if file.skip == Skip.SYMLINK:
        return ["symbolic link", *([" to ", Mono(to)] if (to := file.note.removeprefix("points to ")) else [])]
    if file.skip == Skip.SUBMODULE:
        return [f"another repository, as a submodule{f' ({file.note})' if file.note else ''}"]
    if file.skip == Skip.BINARY:
        return [f"{file.type}, {size_of(file.size)}", *_named_by(index, file)]
    why = {Skip.TOO_LARGE: "too large to be read", Skip.OWN_PAGE: "a page of this book"}.get(
        Skip(file.skip), "unreadable"
    )
    return [f"{file.type}, {size_of(file.size)}, {why}", *([f" ({file.note})"] if file.note else [])]


def _named_by(index: Index, file: File) -> list[Piece]:
    """Return which files refer to one that cannot be read."""
    users = _users(index, file.path)
    if not users:
        return []
    path = users[0]
    more = f" and {counted(len(users) - 1, 'more file', 'more files')}" if len(users) > 1 else ""
    return [", shown in " if file.category == Category.DOCUMENTATION else ", used by ", Ref(To.FILE, path), more]
