"""One-line descriptions of files: the author's own words, or else a summary of the file's facts.

In: an index and a path. Out: pieces for a table cell or a list item: the author's first sentence in quotation marks, or
a phrase without a full stop ("defines the class `A` and 3 functions"). What a README says about a file counts as the
author's words too. A file with only a few words of its own gets both.
"""

from __future__ import annotations

from concordance.base.blocks import Cite, Mono, Piece, Pieces, Ref, To, count_noun, join_in_sentence
from concordance.base.kinds import C_FAMILY
from concordance.base.model import Category, File, Kind, Skip
from concordance.extract.registry import language_of
from concordance.facts.codec import FileOutline
from concordance.query.descriptions.config_files import config_summary
from concordance.query.descriptions.definitions import (
    definition_summary,
    implementation_summary,
    is_package_file,
    main_definition,
    reexport_summary,
)
from concordance.query.descriptions.guide_entries import quote_guide_entry
from concordance.query.descriptions.quotations import (
    cite_words,
    first_line,
    first_sentence,
    is_statement,
    plain_text,
    quote_sentence,
    sentence_pieces,
)
from concordance.query.descriptions.test_files import summarize_tests
from concordance.query.index.counts.ledger import format_size, ledger, outline
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import memoised

_MAX_TITLE = 30  # characters up to which a sentence is no more than a title
_TO_THE_READER = ("If ", "Please ", "See ", "You ", "Note ", "Warning")  # instructions, not descriptions
_PROSE = frozenset(("markdown", "rst", "text", "asciidoc"))
_KEYED = frozenset(("yaml", "json", "toml", "ini", "settings", "plist", "xml"))


@memoised(32768)  # a description appears on the pages of the file, of its folder and of its chapter
def describe(index: Index, path: str) -> Pieces:
    """Return a one-line description of a file."""
    file = ledger(index).files[path]
    if file.skip:
        return _unread_description(index, file)
    if not file.size:
        return _empty(file)
    facts = outline(index, path)
    words = _author_description(index, file, facts)
    if words and (isinstance(words[0], Ref) or len(plain_text(words)) > _MAX_TITLE):
        return words
    found = _by_facts(index, file, facts)
    return [*words, *([", "] if words and found else []), *found] or _by_form(index, file, facts)


def _author_description(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return what its author says about it: in the file, in a README's list, or in its main definition's comment."""
    if file.language in ("markdown", "rst"):
        return _of_prose(index, file, facts)
    sentence = first_sentence(facts.doc, file.language) if _is_read(file) else ""
    if is_statement(sentence) and not sentence.startswith(_TO_THE_READER):
        return quote_sentence(index, file.path, sentence, facts.doc)
    said = quote_guide_entry(index, file.path)
    if said:
        return list(said)
    if file.language in _KEYED:
        return []
    aside = file.category == Category.TEST or (is_package_file(file.path) and reexport_summary(index, file, facts))
    main = None if aside else main_definition(index, file, facts)
    if main is not None:
        sentence = first_sentence(main.doc, file.language, main.name)
        if is_statement(sentence):
            name = Ref(To.SYMBOL, file.path, main.key, main.name)
            return [name, ": ", *quote_sentence(index, file.path, sentence, main.doc, main.start_line)]
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
        found += quote_sentence(index, file.path, sentence, facts.doc)
    elif len(heads) > 1:
        found += [f", in {count_noun(len(heads), 'section')}"]
    return found


def _by_facts(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return a summary of what a file defines; nothing if it defines nothing."""
    if file.language in _KEYED or file.language in ("dockerfile", "cmake", "make", "starlark"):
        return config_summary(index, file, facts)
    if file.language in _PROSE:
        return []
    if file.category == Category.TEST or ledger(index).tests[file.path]:
        found = summarize_tests(index, file, facts)
        if found:
            return found
    return definition_summary(index, file, facts) or implementation_summary(file, facts)


def _by_form(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return a file's type and length, what it imports, and which files use it or, for prose, its first line."""
    found: list[Piece] = [f"{file.type}, {count_noun(file.lines, 'line')}"]
    if facts.imports and file.language not in _PROSE:
        found += _imports(file, facts)
    users = _users(index, file.path)
    if users:
        names: list[Piece] = [Ref(To.FILE, path, "", path.rpartition("/")[2]) for path in users[:2]]
        more = [count_noun(len(users) - 2, "more file", "more files")] if len(users) > 2 else []
        found += [", used by ", *join_in_sentence([*names, *more])]
    elif file.language in _PROSE:
        first = first_line(index, file.path)
        if first:
            found += [", begins “", *sentence_pieces(first), "”", cite_words(index, file.path, first)]
    return found


def _users(index: Index, path: str) -> list[str]:
    """Return the files that use a file, sorted by path."""
    return sorted(map(index.path_of_base, index.neighbours.users.get(index.base_of(path), ())))


def _imports(file: File, facts: FileOutline) -> list[Piece]:
    """Return what is imported by a file that defines nothing itself."""
    modules = list(dict.fromkeys(row.module for row in facts.imports if row.module))
    if not modules:
        return []
    names: list[Piece] = [Mono(module) for module in modules[:2]]
    more = [count_noun(len(modules) - 2, "more")] if len(modules) > 2 else []
    verb = "includes" if file.language in C_FAMILY else "imports"
    return [f", {verb} ", *join_in_sentence([*names, *(one.removesuffix("s") for one in more)])]


def _empty(file: File) -> list[Piece]:
    folder, _, name = file.path.rpartition("/")
    if name == "__init__.py" and folder:
        return ["empty; makes ", Mono(folder.rpartition("/")[2]), " a package"]
    return ["empty file"]


def _unread_description(index: Index, file: File) -> list[Piece]:
    """Return a description of a file that was not read as text."""
    if file.skip == Skip.SYMLINK:
        return ["symbolic link", *([" to ", Mono(to)] if (to := file.note.removeprefix("points to ")) else [])]
    if file.skip == Skip.SUBMODULE:
        return [f"another repository, as a submodule{f' ({file.note})' if file.note else ''}"]
    if file.skip == Skip.BINARY:
        return [f"{file.type}, {format_size(file.size)}", *_named_by(index, file)]
    why = {Skip.TOO_LARGE: "too large to be read", Skip.OWN_PAGE: "a page of this book"}.get(
        Skip(file.skip), "unreadable"
    )
    return [f"{file.type}, {format_size(file.size)}, {why}", *([f" ({file.note})"] if file.note else [])]


def _named_by(index: Index, file: File) -> list[Piece]:
    """Return which files refer to one that cannot be read."""
    users = _users(index, file.path)
    if not users:
        return []
    path = users[0]
    more = f" and {count_noun(len(users) - 1, 'more file', 'more files')}" if len(users) > 1 else ""
    return [", shown in " if file.category == Category.DOCUMENTATION else ", used by ", Ref(To.FILE, path), more]
