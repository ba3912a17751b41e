"""One-line descriptions of files: the author's own words, or else a summary of the file's facts.

In: an index and a path. Out: pieces for a table cell or a list item: the author's first sentence in quotation marks, or
a phrase without a full stop ("defines the class `A` and 3 functions"). What a README says about a file counts as the
author's words too. A file with only a few words of its own gets both.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection

from concordance.base.blocks import Cite, Mono, Piece, Pieces, Ref, To, count_noun, format_size, join_in_sentence
from concordance.base.model import TYPE_KINDS, Category, File, Kind, Skip
from concordance.extract.documents import opening_comment
from concordance.extract.documents.legal_text import without_licence
from concordance.extract.registry import is_prose, language_of
from concordance.facts.codec import FileOutline, SymbolHead
from concordance.facts.updates.reads import memoised
from concordance.query.descriptions import overloads
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
    is_instruction,
    is_statement,
    plain_text,
    quote_sentence,
    sentence_pieces,
)
from concordance.query.index.ledger import ledger, outline
from concordance.query.index.repository import Index
from concordance.query.search.related_files import stem_of

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
    found = _by_facts(index, file, facts)
    return [*words, *([", "] if words and found else []), *found] or _by_form(index, file, facts)


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
        if is_statement(sentence) and not _is_about_parameter(sentence, main):
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
    found: list[Piece] = []
    if title is not None:
        found += [Ref(To.SYMBOL, file.path, title.key, title.name, code=False), Cite(file.path, title.line)]
    if quoted:
        found += [": "] if found else []
        found += quoted
    elif title is not None and (beside := [head for head in heads if head.parent < 0])[1:]:  # the first is no title
        found = ["sections ", *join_in_sentence([found[0], *_other_titles(file, beside[1:])]), *found[1:]]
    elif (sections := len(heads) - (title is not None)) > 1:
        found += [f", in {count_noun(sections, 'section')}"]
    return found


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
    found: list[Piece] = [f"{file.type}, {count_noun(file.lines, 'line')}"]
    if facts.imports and not _is_prose(file):
        found += _imports(file, facts)
    users = _users(index, file.path)
    if users:
        same = len({path.rpartition("/")[2] for path in users[:2]}) < len(users[:2])
        names: list[Piece] = [Ref(To.FILE, path, "", path if same else path.rpartition("/")[2]) for path in users[:2]]
        more = [count_noun(len(users) - 2, "more file", "more files")] if len(users) > 2 else []
        found += [", used by ", *join_in_sentence([*names, *more])]
    elif _is_prose(file):
        first = first_line(index, file.path)
        if first:
            found += [", begins “", *sentence_pieces(first), "”", cite_words(index, file.path, first)]
    return found


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


# --- one-line summaries of test files: how many tests, in which classes or suites, and the file they test
# In: a file and its outline. Out: pieces such as "34 tests in `TestLinear` and 2 more, of `linear.py`". The tested file
# is the one with the same stem, or else one that this test uses much and few other files use.


SUITE_PATTERN = "Test suite"  # the pattern that marks `describe("title", …)`
_MAX_TITLES = 3
_SUITE = re.compile(r"(?=\w*TEST)\w++\s*+\(\s*(\w+)\s*,\s*\w+\s*\)")
_ABOUT = frozenset((Category.SOURCE, Category.GENERATED, Category.BUILD))
_MIN_LEAD = 1.2  # least ratio of a test's uses of a file to the number of its users (both logarithmic)


def summarize_tests(index: Index, file: File, facts: FileOutline) -> list[Piece]:
    """Return a summary of the tests in a file; nothing if it contains none."""
    number = ledger(index).tests[file.path]
    about, is_named = file_under_test(index, file.path) if number or index.is_whole_test(file.path) else ("", False)
    titles = {} if number else suite_titles(index, file)
    verb = " of " if is_named else " that uses " if 1 in (number, len(titles)) else " that use "
    tested: list[Piece] = [verb, Ref(To.FILE, about)] if about else []
    if not number:
        return [f"test suite{'s' if len(titles) > 1 else ''} ", *_quoted_titles(titles), *tested] if titles else []
    names, inside = _suites(index, file.path, facts)
    found: list[Piece] = [count_noun(number, "test")]
    of_classes = bool(names) and inside == number and not is_named
    found += [] if of_classes else tested
    if names:
        shown: list[Piece] = [*names[:2]]
        more = [f"{len(names) - 2} more"] if len(names) > 2 else []
        found += [
            f", {inside} of them in " if inside < number else " in ",
            *join_in_sentence(
                [
                    Ref(To.SYMBOL, file.path, n.partition("\0")[2], n.partition("\0")[0]) if "\0" in n else Mono(n)
                    for n in map(str, shown)
                ]
                + [*more]
            ),
        ]
    return [*found, *tested] if of_classes else found


def suite_titles(index: Index, file: File) -> dict[str, int]:
    """Return the titles of the suites of a test file whose tests have titles instead of names, with their lines."""
    if not index.is_whole_test(file.path):
        return {}
    rows = [row for row in index.open_file(file.path).facts.patterns if row.pattern == SUITE_PATTERN]
    return {row.subject: row.line for row in reversed(rows) if row.subject}


def _quoted_titles(titles: Collection[str]) -> list[Piece]:
    names: list[Piece] = [f"“{title}”" for title in list(titles)[::-1][:_MAX_TITLES]]
    left = len(titles) - len(names)
    return join_in_sentence([*names, *([f"{left} more"] if left else [])])


def _suites(index: Index, path: str, facts: FileOutline) -> tuple[list[str], int]:
    """Return the classes with tests, each with its key after a NUL, or else suite names from macros, largest first; and
    the number of tests in them."""
    ids = index.facts.ids(path)
    tests = (facts.symbols[ids.place_of(test)] for test in index.tests_in.get(path, ()))
    inside: Counter[int] = Counter(test.parent for test in tests if test.kind == Kind.METHOD)
    if inside:
        names = [f"{facts.symbols[p].name}\0{facts.symbols[p].key}" for p, _ in inside.most_common() if p >= 0]
        return names, inside.total()
    suites = Counter(match[1] for s in facts.symbols if (match := _SUITE.match(s.name)))
    return [name for name, _ in suites.most_common()], suites.total()


def file_under_test(index: Index, path: str) -> tuple[str, bool]:
    """Return the file that a test file tests, and whether their names match; "" if no file stands out."""
    uses = index.neighbours.uses_of(index.file_id(path))
    stem = stem_of(path).lower()
    rows = []
    for target, times in uses.items():
        other = index.path_of_file(target)
        if not other or index.category_of(other) not in _ABOUT or "test" in other.rpartition("/")[0]:
            continue
        alike = stem_of(other).lower() == stem
        weight = (1 + math.log2(times)) / math.log2(2 + index.neighbours.rounded_user_count(target))
        rows.append((alike, weight, other))
    rows.sort(key=lambda row: (not row[0], -row[1], row[2]))
    if not rows or not (rows[0][0] or rows[0][1] > _MIN_LEAD):
        return "", False
    return rows[0][2], rows[0][0]


# --- one-line summaries of configuration and build files: their jobs, targets or keys
# In: a file and its outline. Out: pieces such as "workflow `pull`, on push: the jobs `a`, `b` and 12 more". If the file
# has a key for its description, that is the author's own text and is quoted instead.


_MAX_NAMES = 3
_DESCRIBED = frozenset(("description", "about", "summary"))


def config_summary(file: File, facts: FileOutline) -> list[Piece]:
    """Return a summary of a configuration or build file; nothing if it has no keys and no targets."""
    way: Callable[[File, FileOutline], list[Piece]]
    if file.language == "cmake":
        way = _cmake
    elif file.language in ("make", "starlark", "dockerfile"):
        way = _targets
    else:
        way = _workflow if _jobs(facts) else _keys
    return way(file, facts)


def _top(facts: FileOutline, *kinds: str) -> list[SymbolHead]:
    return [symbol for symbol in facts.symbols if symbol.parent < 0 and (not kinds or symbol.kind in kinds)]


def _below(facts: FileOutline, name: str) -> list[SymbolHead]:
    """Return the keys directly below a top-level key."""
    place = next((n for n, s in enumerate(facts.symbols) if s.parent < 0 and s.name == name), -1)
    return [symbol for symbol in facts.symbols if symbol.parent == place] if place >= 0 else []


def _value(symbol: SymbolHead) -> str:
    return symbol.signature.partition(" = ")[2].strip().strip("\"'")


def _names(path: str, symbols: list[SymbolHead]) -> list[Piece]:
    """Return a list of names: all if there are few, else the first ones and how many more there are."""
    distinct = list({symbol.name: symbol for symbol in symbols}.values())
    few = distinct[: _MAX_NAMES + (len(distinct) == _MAX_NAMES + 1)]
    left = len(distinct) - len(few)
    names: list[Piece] = [Ref(To.SYMBOL, path, symbol.key, symbol.name) for symbol in few]
    return join_in_sentence([*names, *([f"{left:,} more"] if left else [])])


# --- YAML, JSON, TOML, INI


def _jobs(facts: FileOutline) -> bool:
    return bool(_below(facts, "jobs"))


def _workflow(file: File, facts: FileOutline) -> list[Piece]:
    """Return a workflow's name, events and jobs."""
    jobs = _below(facts, "jobs")
    named = next((s for s in _top(facts) if s.name == "name" and _value(s)), None)
    events = _below(facts, "on") or _below(facts, "true")  # in YAML 1.1, `on` means true
    on = next((s for s in _top(facts) if s.name == "on"), None)
    found: list[Piece] = ["workflow"]
    if named is not None:
        found += [" ", Mono(_value(named)), Cite(file.path, named.line)]
    if events:
        found += [", on ", *join_in_sentence([Mono(symbol.name) for symbol in events])]
    elif on is not None and re.fullmatch(r"[\w-]+", _value(on)):
        found += [", on ", Mono(_value(on))]
    return [*found, f": the job{'s' if len(jobs) > 1 else ''} ", *_names(file.path, jobs)]


def _keys(file: File, facts: FileOutline) -> list[Piece]:
    """Return the description key of a file of settings or data, or else its top-level keys."""
    top = _top(facts)
    for symbol in [*top, *_below(facts, "project"), *_below(facts, "package"), *_below(facts, "metadata")]:
        if symbol.name.lower() in _DESCRIBED and is_statement(_value(symbol)):
            return ["“", *sentence_pieces(_value(symbol)), "”", Cite(file.path, symbol.line)]
    if not top:
        return []
    title = language_of(file.language).title
    times = re.search(r"\((\d+) times\)", top[0].signature)
    if times:
        return [f"{title}, {times[1]} entries of ", Ref(To.SYMBOL, file.path, top[0].key, top[0].name)]
    count = len({symbol.name for symbol in top})
    return [f"{title} with {'the key' if count == 1 else 'the keys'} ", *_names(file.path, top)]


# --- builds


def _cmake(file: File, facts: FileOutline) -> list[Piece]:
    """Return what a CMake file builds, defines, adds or sets."""
    parts: list[list[Piece]] = []
    targets = _top(facts, Kind.TARGET)
    if targets:
        parts.append(["builds ", *_names(file.path, targets)])
    functions = [s for s in facts.symbols if s.kind in (Kind.FUNCTION, Kind.MACRO)]
    if functions:
        parts.append(["defines ", *_names(file.path, functions)])
    added = [row for row in facts.imports if "subdirectory" in row.form or row.module.endswith("/CMakeLists.txt")]
    if added:
        parts.append([f"adds {count_noun(len(added), 'subfolder')}"])
    options = [s for s in facts.symbols if s.kind == Kind.VARIABLE and s.signature.lower().startswith("option(")]
    if options:
        parts.append([f"offers {count_noun(len(options), 'option')}"])
    if not parts:
        variables = [s for s in facts.symbols if s.kind == Kind.VARIABLE]
        if variables:
            parts.append(["sets ", *_names(file.path, variables)])
    return _joined(parts[:3])


_BAZEL_MODULE = re.compile(r"(?:^|/)(?:MODULE\.bazel|WORKSPACE(?:\.\w+)?)$")  # a module and what it depends on


def _targets(file: File, facts: FileOutline) -> list[Piece]:
    """Return what a Make, Bazel, Buck or Docker file builds, defines or sets."""
    parts: list[list[Piece]] = []
    targets = [s for s in facts.symbols if s.kind == Kind.TARGET]
    if targets:
        verb = "builds the stages " if file.language == "dockerfile" and len(targets) > 1 else "builds "
        verb = "declares " if _BAZEL_MODULE.search(file.path) else verb
        parts.append([verb, *_names(file.path, targets)])
    functions = [s for s in _top(facts) if s.kind in (Kind.FUNCTION, Kind.MACRO)]
    if functions:
        parts.append(["defines ", *_names(file.path, functions)])
    if not parts:
        variables = [s for s in _top(facts) if s.kind in (Kind.VARIABLE, Kind.CONSTANT)]
        if variables:
            parts.append(["sets ", *_names(file.path, variables)])
    return _joined(parts[:3])


def _joined(parts: list[list[Piece]]) -> list[Piece]:
    found: list[Piece] = []
    for number, part in enumerate(parts):
        found += ([" and " if len(parts) == 2 else ", "] if number else []) + part
    return found
