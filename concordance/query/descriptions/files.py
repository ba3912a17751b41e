"""One-line descriptions of files: the author's own words, or else a summary of the file's facts.

In: an index and a path. Out: pieces for a table cell or a list item: the author's first sentence in quotation marks, or
a phrase without a full stop ("defines the class `A` and 3 functions"). What a README says about a file counts as the
author's words too. A file with only a few words of its own gets both.
"""

from __future__ import annotations

import re

from concordance.base.blocks import Cite, Mono, Piece, Pieces, Ref, To, count_noun, format_size, join_in_sentence
from concordance.base.model import TYPE_KINDS, Category, File, Kind, Skip
from concordance.extract.documents import opening_comment
from concordance.extract.documents.legal_text import without_licence
from concordance.extract.registry import is_prose, language_of
from concordance.facts.codec import FileOutline, SymbolHead
from concordance.facts.updates.reads import memoised
from concordance.query.descriptions import overloads
from concordance.query.descriptions.configuration import config_summary
from concordance.query.descriptions.conventional_documents import describe_changes, describe_licence, is_licence
from concordance.query.descriptions.definitions import (
    defines_much,
    definition_summary,
    help_text,
    implementation_summary,
    is_package_file,
    main_definition,
    reexport_summary,
)
from concordance.query.descriptions.document_opening import read_opening
from concordance.query.descriptions.documentation_pages import quote_documentation
from concordance.query.descriptions.guide_entries import quote_guide_entry
from concordance.query.descriptions.quotations import (
    cite_words,
    first_line,
    first_sentence,
    is_aside,
    is_instruction,
    is_statement,
    plain_text,
    quote_sentence,
    sentence_pieces,
)
from concordance.query.descriptions.suites import summarize_tests
from concordance.query.index.ledger import ledger, outline
from concordance.query.index.repository import Index

_MAX_TITLE = 30  # characters up to which a sentence of two or three words is no more than a title
_TO_THE_READER = ("If ", "Please ", "To get ", "See ", "You ", "Note ", "Warning")  # instructions, not descriptions
_SECTION = re.compile(r"getting started|quick ?start|install(?:ing|ation)?|usage|features|examples?", re.I)
_CONTENTS = re.compile(r"(?:table of )?contents|toc|index", re.I)
_README = re.compile(r"(?:^|/)readme[^/]*$", re.I)
_KEYED = frozenset(("settings", "plist", "xml"))  # data formats without a reader


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
    if words and (isinstance(words[0], Ref) or not _is_title(plain_text(words))):
        return words
    by_facts = _by_facts(index, file, facts)
    return [*words, *([", "] if words and by_facts else []), *by_facts] or _by_form(index, file, facts)


def _is_title(sentence: str) -> bool:
    return len(sentence) <= _MAX_TITLE and sentence.count(" ") < 3


def describe_by_facts(index: Index, path: str) -> list[Piece]:
    """Return a summary of what a file defines, without its author's words; nothing if it defines nothing."""
    file = ledger(index).files[path]
    return _by_facts(index, file, outline(index, path)) if not file.skip and file.size else []


def _author_description(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return what its author says about it: in the file, a README, its documentation, or its main definition."""
    if licence := describe_licence(index, file):
        return licence
    if language_of(file.language).is_markup:
        return describe_changes(file, facts) or _of_prose(index, file, facts)
    sentence = first_sentence(own_description(file, facts.doc), file.language, _stem(file))
    if is_statement(sentence) and not _is_to_the_reader(file, sentence):
        return quote_sentence(index, file.path, sentence, facts.doc)
    quoted = quote_guide_entry(index, file.path)
    if quoted:
        return list(quoted)
    if _is_keyed(file):
        return []
    if documented := quote_documentation(index, file.path):
        return documented
    passes_on = is_package_file(file) and not defines_much(facts) and reexport_summary(index, file, facts)
    aside = file.category == Category.TEST or passes_on
    main = None if aside else main_definition(index, file, facts)
    if file.category == Category.TEST:  # a class that is named like its file stands for all tests in it
        named = main_definition(index, file, facts)
        main = named if named is not None and named.kind in TYPE_KINDS and named.name == _stem(file) else None
    if main is not None:
        described = facts.symbols[overloads.documented(facts.symbols, facts.symbols.index(main))]
        sentence = first_sentence(described.doc, file.language, main.name)
        if is_statement(sentence) and not is_aside(sentence) and not _is_about_parameter(sentence, main):
            name = Ref(To.SYMBOL, file.path, main.key, main.name)
            return [name, ": ", *quote_sentence(index, file.path, sentence, described.doc, described.start_line)]
        if (shown := help_text(facts, main)) is not None and is_statement(shown[0]):
            cite = Cite(file.path, shown[1].line, shown[1].end_line if shown[1].end_line > shown[1].line else 0)
            words = sentence_pieces(first_sentence(shown[0], file.language))
            return [Ref(To.SYMBOL, file.path, main.key, main.name), ": “", *words, "”", cite]
    return []


def _is_about_parameter(sentence: str, function: SymbolHead) -> bool:
    """True if a sentence begins with the name of a parameter, so that it does not describe the function."""
    word = re.escape(sentence.partition(" ")[0])
    return re.search(rf"[(,]\s*\**{word}\s*[,:=)]", function.signature) is not None


def own_description(file: File, doc: str) -> str:
    """Return what a file says about itself, without legal text; "" if that is not a description of it."""
    is_sample = file.type == "Plain text" and file.category in (Category.TEST, Category.DATA)  # it describes nothing
    is_described = _is_read(file) and not is_sample and not is_licence(file)
    words = without_licence(doc) if is_described else ""
    return words if words and first_sentence(words, file.language, _stem(file)) else ""


def is_brief(file: File, words: str) -> bool:
    """True if a description is no more than one or two words or an instruction, so that readers need more."""
    sentence = first_sentence(words, file.language, _stem(file))
    return not is_statement(sentence) or _is_to_the_reader(file, sentence)


def _is_to_the_reader(file: File, sentence: str) -> bool:
    """True if a sentence says what readers should do; settings often come with such a comment."""
    return sentence.startswith(_TO_THE_READER) or (_is_keyed(file) and is_instruction(sentence))


def _stem(file: File) -> str:
    return file.path.rpartition("/")[2].partition(".")[0]


def _is_read(file: File) -> bool:
    """True if the extracted text of a file is prose; for a language without an extractor it may be code."""
    prose = file.type == "Plain text" or file.category == Category.DOCUMENTATION
    return prose or language_of(file.language).name != "text" or file.language in opening_comment.LANGUAGES


def _is_prose(file: File) -> bool:
    return is_prose(file.language) or file.language == "asciidoc"


def _is_keyed(file: File) -> bool:
    return language_of(file.language).is_keyed or file.language in _KEYED


def _of_prose(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return the title of a document and its first sentence."""
    heads = [symbol for symbol in facts.symbols if symbol.kind == Kind.HEADING]
    title = heads[0] if heads and heads[0].parent < 0 and heads[0].start_line < 40 else None
    title = None if title is not None and _CONTENTS.fullmatch(title.name) else title
    doc = facts.doc
    if _README.search(file.path) and (opening := read_opening(index, file.path)) is not None:
        doc = opening.text  # without badges and announcements
        title = None if title is not None and opening.first < title.line else title  # that of a section below
    sentence = first_sentence(doc, file.language)
    quoted = quote_sentence(index, file.path, sentence, doc) if is_statement(sentence) else []
    cites = [piece.first for piece in quoted if isinstance(piece, Cite)]
    if title is not None and cites and cites[0] < title.line:
        is_section = _SECTION.fullmatch(title.name) or sum(head.parent < 0 for head in heads) > 1
        title = None if is_section else title  # it heads a section after the opening
    pieces: list[Piece] = []
    if title is not None:
        pieces += [Ref(To.SYMBOL, file.path, title.key, title.name, code=False), Cite(file.path, title.line)]
    if quoted:
        pieces += [": "] if pieces else []
        pieces += quoted
    elif title is not None and (beside := [head for head in heads if head.parent < 0])[1:]:  # the first is no title
        pieces = ["sections ", *join_in_sentence([pieces[0], *_other_titles(file, beside[1:])]), *pieces[1:]]
    elif (sections := len(heads) - (title is not None)) > 1:
        pieces += [f", in {count_noun(sections, 'section')}"]
    return pieces


def _other_titles(file: File, heads: list[SymbolHead]) -> list[Piece]:
    refs: list[Piece] = [Ref(To.SYMBOL, file.path, head.key, head.name, code=False) for head in heads[:2]]
    return [*refs, *([f"{len(heads) - 2} more"] if len(heads) > 2 else [])]


def _by_facts(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return a summary of what a file defines; nothing if it defines nothing."""
    if _is_keyed(file) or language_of(file.language).category is Category.BUILD:
        return config_summary(file, facts)
    if _is_prose(file):
        return []
    tests = summarize_tests(index, file, facts)
    if tests and (file.category == Category.TEST or not language_of(file.language).tests.beside_code):
        return tests
    return definition_summary(index, file, facts) or implementation_summary(file, facts) or tests


def _by_form(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return a file's type and length, what it imports, and which files use it or, for prose, its first line."""
    pieces: list[Piece] = [f"{file.type}, {count_noun(file.lines, 'line')}"]
    if facts.imports and not _is_prose(file):
        pieces += _imports(file, facts)
    users = _users(index, file.path)
    if users:
        same = len({path.rpartition("/")[2] for path in users[:2]}) < len(users[:2])
        names: list[Piece] = [Ref(To.FILE, path, "", path if same else path.rpartition("/")[2]) for path in users[:2]]
        more = [count_noun(len(users) - 2, "more file", "more files")] if len(users) > 2 else []
        pieces += [", used by ", *join_in_sentence([*names, *more])]
    elif _is_prose(file):
        first = first_line(index, file.path)
        if first:
            pieces += [", begins “", *sentence_pieces(first), "”", cite_words(index, file.path, first)]
    return pieces


def _users(index: Index, path: str) -> list[str]:
    """Return the files that use a file, sorted by path."""
    return sorted(map(index.path_of_file, index.neighbours.users_of(index.file_id(path))))


def _imports(file: File, facts: FileOutline) -> list[Piece]:
    """Return what is imported by a file that defines nothing itself."""
    modules = list(dict.fromkeys(row.module for row in facts.imports if row.module))
    if not modules:
        return []
    names: list[Piece] = [Mono(module) for module in modules[:2]]
    more = [count_noun(len(modules) - 2, "more")] if len(modules) > 2 else []
    verb = language_of(file.language).import_verb
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
