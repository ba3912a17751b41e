"""Which stretches of a text are comments, strings, numbers and words of its language, for eyes alone.

In: text and its language. Out: stretches of code points in their order, none over another, each with a letter. Python
and the C family are cut by expressions, which hold where the syntax is broken; the others by their grammars, of which
everything is taken from the names of their nodes; what has but a reader of its own shows its comments. A long string
that nobody closes is no string: it would make the rest of the file one. Names are not told here: the store knows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from tree_sitter import Node, Query, QueryCursor

from concordance.base import plugins
from concordance.extract import trees
from concordance.extract.cfamily import directives
from concordance.extract.draft import Draft
from concordance.extract.engine import DEEPEST, LANGUAGES, nesting, readers
from concordance.extract.text.lexers import C_FAMILY, HOLE, Lexical, lexical
from concordance.extract.text.repetition import without_repetition
from concordance.extract.text.source_text import Source

COMMENT, STRING, NUMBER, KEYWORD, DIRECTIVE = "c", "s", "n", "k", "p"
Span = tuple[int, int, str]
LARGEST = 3_000_000  # characters: what is longer was not written by people, and takes too long to read
_PREFIX = re.compile(r"(?<!\w)[rbufRBUF]{1,2}\Z")
_INCLUDED = re.compile(rb"\s*(<[^>\n]*>)")
_QUOTED = re.compile(rb"\"(?>[^\"\\\n]+|\\.)*+\"|'(?>[^'\\\n]+|\\.)++'")
_NODES = (
    (COMMENT, re.compile(r"(?:\w+_)?comment")),
    (
        STRING,
        re.compile(
            r"string|\w*string_literal|raw_string|ansi_c_string|template_string|regex|heredoc_body|char(?:acter)?_literal|"
            r"rune_literal|(?:double|single)_quote_scalar|block_scalar"
        ),
    ),
    (NUMBER, re.compile(r"number|integer|float|(?:\w+_)?(int(eger)?|float(ing_point)?|imaginary)_(literal|scalar)")),
    (KEYWORD, re.compile(r"true|false|null|nil|none|boolean|this|super|(?:boolean|null)_(?:scalar|literal)")),
    ("", re.compile(r"template_substitution|interpolation|expansion|simple_expansion|command_substitution")),
)  # fmt: skip


def spans(text: str, language: str, begin: int = 0, end: int = LARGEST) -> list[Span]:
    """The stretches of a text that are told apart; words and numbers are only looked for between two places, which is
    what takes time."""
    if not text or len(text) > LARGEST:
        return []
    if language in readers():
        text, _ = without_repetition(text)
    rules = lexical(language)
    if language in C_FAMILY and rules is not None:
        return _c_family(text, language, rules, begin, end)
    if language not in readers():
        return list(_cut(text, rules, begin, end)) if rules is not None else []
    if rules is not None and rules.holes:
        return list(_cut(text, rules, begin, end))
    source = Source(text, language)
    reader = plugins.load(LANGUAGES, language)
    grammar = getattr(reader, "GRAMMAR", None)
    if nesting(source.data) > DEEPEST or getattr(reader, "is_unreadable", _never)(source):
        return []
    if grammar is not None:
        return _in_points(source, _flat(_by_grammar(source, grammar)))
    return _by_reader(source, rules)


def _never(_: Source) -> bool:
    return False


# --- by expressions


def _cut(text: str, rules: Lexical, begin: int, limit: int) -> Iterator[Span]:
    """Comments and strings, and between them words and numbers."""
    at = 0
    for match in rules.pieces.finditer(text):
        start, end = match.span()
        kind = match.lastgroup
        if kind in ("s", "t") and (prefix := _PREFIX.search(text, max(at, start - 3), start)):
            start = prefix.start()
        if start > begin and at < limit:
            yield from _words(text, max(at, begin), min(start, limit), rules)
        at = end
        if kind == "c":
            yield start, end, COMMENT
        elif kind is not None:
            formed = rules.holes and text[start] in "fFrR" and "f" in text[start : start + 2].lower()
            yield from _formed(text, start, end, rules) if formed else ((start, end, STRING),)
    yield from _words(text, max(at, begin), min(len(text), limit), rules)


def _words(text: str, start: int, end: int, rules: Lexical) -> Iterator[Span]:
    for match in rules.words.finditer(text, start, end):
        first, last = match.span()
        yield first, last, NUMBER if text[first] in "0123456789." else KEYWORD


def _formed(text: str, start: int, end: int, rules: Lexical) -> Iterator[Span]:
    """A string with code in it: `f"{this}"`."""
    at = start
    for match in HOLE.finditer(text, start, end):
        if match[0] != "{{":
            yield at, match.start() + 1, STRING
            yield from _words(text, match.start() + 1, match.end() - 1, rules)
            at = match.end() - 1
    yield at, end, STRING


def _c_family(text: str, language: str, rules: Lexical, begin: int, limit: int) -> list[Span]:
    source = Source(text, language)
    lines = directives.scan(source.data)
    found: list[Span] = [(start, end, COMMENT) for start, end in lines.comments]
    found += [(start, end, STRING) for start, end in lines.quoted if source.data[end - 1] in b"\"'"]
    for line in lines.directives:
        found.append((line.start, line.rest, DIRECTIVE))
        found += _in_directive(source.data, line)
    points = _in_points(source, _flat(found))
    gaps = ((max(start, begin), min(end, limit)) for start, end in _gaps(points, len(text)))
    words = [span for start, end in gaps if start < end for span in _words(text, start, end, rules)]
    return sorted(points + words) if words else points


def _in_directive(data: bytes, line: directives.Directive) -> Iterator[Span]:
    """The texts on a preprocessor line."""
    included = _INCLUDED.match(data, line.rest, line.end) if line.word in (b"include", b"import") else None
    if included:
        yield included.start(1), included.end(1), STRING
    elif data.find(b'"', line.rest, line.end) >= 0 or data.find(b"'", line.rest, line.end) >= 0:
        for match in _QUOTED.finditer(data, line.rest, line.end):
            yield match.start(), match.end(), STRING


def _gaps(found: list[Span], end: int) -> Iterator[tuple[int, int]]:
    """What stands between stretches."""
    edges = [(0, 0, ""), *found, (end, end, "")]
    return ((before[1], behind[0]) for before, behind in pairwise(edges) if before[1] < behind[0])


# --- by grammars and readers


@cache
def _query(package: str, function: str) -> Query:
    """Asks a grammar's trees for the nodes whose names say what they are."""
    syntax = trees.syntax(package, function)
    kinds = {
        (syntax.node_kind_for_id(n) or "", syntax.node_kind_is_named(n))
        for n in range(syntax.node_kind_count)
        if syntax.node_kind_is_visible(n)
    }
    asked = []
    for letter, names in _NODES:
        found = sorted(name for name, named in kinds if named and names.fullmatch(name))
        asked += [f"({name}) @{letter or 'hole'}" for name in found]
    words = sorted(name for name, named in kinds if not named and name.isalpha() and name.isascii())
    return Query(syntax, "\n".join([*asked, *(f'"{word}" @{KEYWORD}' for word in words)]))


def _by_grammar(source: Source, grammar: trees.Grammar) -> list[Span]:
    tree = trees.compiled(grammar).parser.parse(source.data)
    broken = tree.root_node.has_error
    found: list[Span] = []
    for name, nodes in QueryCursor(_query(grammar.package, grammar.function)).captures(tree.root_node).items():
        letter = "" if name == "hole" else name
        sure = nodes if not broken or letter != STRING else [node for node in nodes if not _is_doubtful(node)]
        found += [(node.start_byte, node.end_byte, letter) for node in sure]
    return found


def _is_doubtful(node: Node) -> bool:
    """Whether a string of several lines is what the parser made of a text that it does not understand."""
    if node.start_point[0] == node.end_point[0]:
        return False
    around: Node | None = node
    while around is not None and not around.is_error:
        if around is node and around.has_error:
            return True
        around = around.parent
    return around is not None


def _by_reader(source: Source, rules: Lexical | None) -> list[Span]:
    """The comments that a language's reader finds, and what is told between them."""
    draft: Draft = plugins.load(LANGUAGES, source.language).read(source)
    found = _in_points(source, _flat([(start, end, COMMENT) for start, end in draft.comments]))
    if rules is None:
        return found
    more = []
    for start, end in list(_gaps(found, len(source.text))):
        at = start
        for match in rules.pieces.finditer(source.text, start, end):
            more += [*_words(source.text, at, match.start(), rules), (*match.span(), STRING)]
            at = match.end()
        more += _words(source.text, at, end, rules)
    return sorted(found + more)


# --- stretches


def _flat(found: list[Span]) -> list[Span]:
    """Stretches of which none lies over another: the inner one holds, and one that only meets another gives way."""
    found.sort(key=lambda span: (span[0], -span[1]))
    out: list[Span] = []
    around: list[Span] = []
    at = 0

    def paint(until: int) -> None:
        nonlocal at
        if around and until > at and around[-1][2]:
            out.append((at, until, around[-1][2]))
        at = max(at, until)

    for span in found:
        while around and around[-1][1] <= span[0]:
            paint(around[-1][1])
            around.pop()
        if around and (span[1] > around[-1][1] or around[-1][2] == COMMENT):
            continue
        paint(span[0])
        at = max(at, span[0])
        around.append(span)
    while around:
        paint(around[-1][1])
        around.pop()
    return out


def _in_points(source: Source, found: list[Span]) -> list[Span]:
    """Stretches of bytes as stretches of code points."""
    if source.ascii:
        return found
    return [(source.offset(start), source.offset(end), letter) for start, end, letter in found]
