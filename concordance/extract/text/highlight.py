"""Syntax highlighting: which parts of a text are comments, strings, numbers and keywords, for display only.

In: text and its language. Out: non-overlapping character ranges in order, each with a letter for its kind. Python
and the C family are split by regular expressions, which also work where the syntax is broken. Other languages use
their grammars, whose node names tell the kinds. A language that only has a reader of its own shows its comments, and
keywords and strings if there are expressions for them. A multi-line string that is never closed is not treated as a
string, because it would cover the rest of the file. Names are not classified here: the store knows them.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from tree_sitter import Node, Query, QueryCursor

from concordance.base import plugins
from concordance.extract.cfamily import directives
from concordance.extract.engine import DEEPEST, bracket_depth
from concordance.extract.reading import trees
from concordance.extract.reading.draft import Draft
from concordance.extract.registry import LANGUAGES, is_analysed, readers
from concordance.extract.text.repetition import without_repetition
from concordance.extract.text.source_text import Source

_ESCAPED = r"\\(?:\r\n|.)"
_HOLE = r"\{(?>[^{}\r\n]+|\{[^{}\r\n]*\})*+\}"
_PYTHON_FORMED = r"(?>[^Q\\\r\n{]+|" + _ESCAPED + r"|\{\{|" + _HOLE + r")*+Q"
_PYTHON_SHORT = rf"(?<=[fF]Q){_PYTHON_FORMED}|(?<=[fF][rR]Q){_PYTHON_FORMED}|(?<=Q)(?>[^Q\\\r\n]+|{_ESCAPED})*+Q"
_PYTHON_LONG = r"(?<=Q)QQ(?>[^Q\\]+|\\.|Q(?!QQ))*+QQQ"
_PYTHON_NUMBER = (
    r"(?<!\w)(?:0[xX][\da-fA-F_]+|0[bBoO][\d_]+"
    r"|(?:\d[\d_]*(?:\.(?:\d[\d_]*)?)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?)"
)
_C_NUMBER = r"(?<![\w.])(?:0[xX][\da-fA-F'.]+(?:[pP][+-]?\d+)?\w*|\.?\d[\d'.]*(?:[eE][+-]?\d+)?\w*)"
HOLE = re.compile(r"\{\{|" + _HOLE)  # code inside a string, or an escaped brace
_PYTHON = " ".join(keyword.kwlist)
_CYTHON = "cdef cpdef cimport ctypedef nogil gil inline extern struct union enum cppclass include DEF IF ELIF ELSE"
_STARLARK = "and break continue def elif else for if in lambda load not or pass return True False None"
_C = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Alignas "
    "_Alignof _Atomic _Bool _Complex _Generic _Noreturn _Static_assert _Thread_local NULL"
)
_CPP = (
    "alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class compl concept consteval "
    "constexpr constinit const_cast co_await co_return co_yield decltype delete dynamic_cast explicit export false "
    "final friend mutable namespace new noexcept not not_eq nullptr operator or or_eq override private protected "
    "public reinterpret_cast requires static_assert static_cast template this thread_local throw true try typeid "
    "typename using virtual wchar_t xor xor_eq"
)
_CUDA = "__global__ __device__ __host__ __shared__ __constant__ __launch_bounds__ __restrict__ __forceinline__"
_OBJECTS = "self super nil Nil YES NO BOOL id SEL IMP instancetype"
_PROTO = (
    "syntax edition import weak public package option message enum service rpc returns stream extend extensions "
    "reserved to max oneof map group optional required repeated true false"
)
WORDS = {
    "python": _PYTHON, "cython": f"{_PYTHON} {_CYTHON}", "starlark": _STARLARK, "buck": _STARLARK, "c": _C,
    "cpp": f"{_C} {_CPP}", "cuda": f"{_C} {_CPP} {_CUDA}", "objc": f"{_C} {_OBJECTS}",
    "objcpp": f"{_C} {_CPP} {_OBJECTS}", "metal": f"{_C} {_CPP}", "proto": _PROTO,
}  # fmt: skip
C_FAMILY = frozenset(("c", "cpp", "cuda", "objc", "objcpp", "metal"))
_PYTHONS = frozenset(("python", "cython", "starlark", "buck"))
_STRING = re.compile(r"(?P<s>\"(?>[^\"\\]+|\\.)*+\")", re.S)
_IN_CMAKE = (
    "if elseif else endif foreach endforeach while endwhile function endfunction macro endmacro return break continue"
)
COMMENT, STRING, NUMBER, KEYWORD, DIRECTIVE = "c", "s", "n", "k", "p"
Span = tuple[int, int, str]
LARGEST = 3_000_000  # characters; a longer text was not written by people and takes too long to read
_MOST_LEXED = 500_000  # characters that Pygments is given: it reads about as many in a second
_LEXED = (
    (DIRECTIVE, "Token.Comment.Preproc"), (COMMENT, "Token.Comment"), (COMMENT, "Token.Literal.String.Doc"),
    (STRING, "Token.Literal.String"), (NUMBER, "Token.Literal.Number"), (KEYWORD, "Token.Keyword"),
)  # fmt: skip
_LEXERS = {  # names that Pygments has for our languages, if they differ
    "assembly": "gas", "common_lisp": "common-lisp", "standard_ml": "sml", "visual_basic": "vb.net",
    "webassembly": "wast", "device_tree": "devicetree", "opencl": "c", "metal": "c++",
}  # fmt: skip
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


def highlight_spans(text: str, language: str, begin: int = 0, end: int = LARGEST) -> list[Span]:
    """Return the highlighted ranges of a text.

    Finding keywords and numbers takes most of the time, so the regular expressions search for them only between the
    offsets `begin` and `end`. Grammars and readers ignore these limits.
    """
    if not text or len(text) > LARGEST:
        return []
    if language in readers():
        text, _ = without_repetition(text)
    rules = lexical_rules(language)
    if language in C_FAMILY and rules is not None:
        return _c_family(text, language, rules, begin, end)
    if language not in readers():
        return list(_by_expressions(text, rules, begin, end)) if rules is not None else list(_by_lexer(text, language))
    if rules is not None and rules.holes:
        return list(_by_expressions(text, rules, begin, end))
    source = Source(text, language)
    reader = plugins.load(LANGUAGES, language)
    grammar = getattr(reader, "GRAMMAR", None)
    if bracket_depth(source.data) > DEEPEST or getattr(reader, "is_unreadable", _never)(source):
        return []
    if grammar is not None:
        return _in_points(source, _flatten(_by_grammar(source, grammar)))
    return _by_reader(source, rules)


def _by_lexer(text: str, language: str) -> Iterator[Span]:
    """Yield the spans that Pygments finds in a language that has no reader here."""
    if len(text) > _MOST_LEXED or is_analysed(language):
        return
    # Loaded only here: it takes longer than most pages to render.
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        lexer = get_lexer_by_name(_LEXERS.get(language, language))
    except ClassNotFound:
        return
    kinds: dict[str, str] = {}
    last: Span = (0, 0, "")
    for at, token, value in lexer.get_tokens_unprocessed(text):
        name = str(token)
        if name not in kinds:
            kinds[name] = next((kind for kind, prefix in _LEXED if name.startswith(prefix)), "")
        if not kinds[name] or at < last[1] or not value.strip():
            continue
        if at == last[1] and kinds[name] == last[2]:  # the quotation mark before a string is a token of its own
            last = (last[0], at + len(value), last[2])
            continue
        if last[2]:
            yield last
        last = (at, at + len(value), kinds[name])
    if last[2]:
        yield last


def _never(_: Source) -> bool:
    return False


# Highlighting by regular expressions.


def _by_expressions(text: str, rules: Lexical, begin: int, limit: int) -> Iterator[Span]:
    """Yield comments and strings, and the keywords and numbers between them."""
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
            yield from _format_string(text, start, end, rules) if formed else ((start, end, STRING),)
    yield from _words(text, max(at, begin), min(len(text), limit), rules)


def _words(text: str, start: int, end: int, rules: Lexical) -> Iterator[Span]:
    for match in rules.words.finditer(text, start, end):
        first, last = match.span()
        yield first, last, NUMBER if text[first] in "0123456789." else KEYWORD


def _format_string(text: str, start: int, end: int, rules: Lexical) -> Iterator[Span]:
    """Yield the parts of a string with code in it: `f"{this}"`."""
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
    spans: list[Span] = [(start, end, COMMENT) for start, end in lines.comments]
    spans += [(start, end, STRING) for start, end in lines.quoted if source.data[end - 1] in b"\"'"]
    for line in lines.directives:
        spans.append((line.start, line.rest, DIRECTIVE))
        spans += _in_directive(source.data, line)
    points = _in_points(source, _flatten(spans))
    gaps = ((max(start, begin), min(end, limit)) for start, end in _gaps(points, len(text)))
    words = [span for start, end in gaps if start < end for span in _words(text, start, end, rules)]
    return sorted(points + words) if words else points


def _in_directive(data: bytes, line: directives.Directive) -> Iterator[Span]:
    """Yield the strings on a preprocessor line."""
    included = _INCLUDED.match(data, line.rest, line.end) if line.word in (b"include", b"import") else None
    if included:
        yield included.start(1), included.end(1), STRING
    elif data.find(b'"', line.rest, line.end) >= 0 or data.find(b"'", line.rest, line.end) >= 0:
        for match in _QUOTED.finditer(data, line.rest, line.end):
            yield match.start(), match.end(), STRING


def _gaps(spans: list[Span], end: int) -> Iterator[tuple[int, int]]:
    """Return the ranges between spans."""
    edges = [(0, 0, ""), *spans, (end, end, "")]
    return ((before[1], behind[0]) for before, behind in pairwise(edges) if before[1] < behind[0])


# Highlighting by grammars and language readers.


@cache
def _query(package: str, function: str) -> Query:
    """Build a query for the nodes of a grammar whose names tell their kind."""
    syntax = trees.load_language(package, function)
    kinds = {
        (syntax.node_kind_for_id(n) or "", syntax.node_kind_is_named(n))
        for n in range(syntax.node_kind_count)
        if syntax.node_kind_is_visible(n)
    }
    asked = []
    for letter, names in _NODES:
        matching = sorted(name for name, named in kinds if named and names.fullmatch(name))
        asked += [f"({name}) @{letter or 'hole'}" for name in matching]
    words = sorted(name for name, named in kinds if not named and name.isalpha() and name.isascii())
    return Query(syntax, "\n".join([*asked, *(f'"{word}" @{KEYWORD}' for word in words)]))


def _by_grammar(source: Source, grammar: trees.Grammar) -> list[Span]:
    tree = trees.compile_grammar(grammar).parser.parse(source.data)
    broken = tree.root_node.has_error
    spans: list[Span] = []
    for name, nodes in QueryCursor(_query(grammar.package, grammar.function)).captures(tree.root_node).items():
        letter = "" if name == "hole" else name
        sure = nodes if not broken or letter != STRING else [node for node in nodes if not _is_doubtful(node)]
        spans += [(node.start_byte, node.end_byte, letter) for node in sure]
    return spans


def _is_doubtful(node: Node) -> bool:
    """True if a multi-line string is probably an artefact of a syntax error."""
    if node.start_point[0] == node.end_point[0]:
        return False
    around: Node | None = node
    while around is not None and not around.is_error:
        if around is node and around.has_error:
            return True
        around = around.parent
    return around is not None


def _by_reader(source: Source, rules: Lexical | None) -> list[Span]:
    """Return the comments that a language's reader finds, and the strings, keywords and numbers between them."""
    draft: Draft = plugins.load(LANGUAGES, source.language).read(source)
    spans = _in_points(source, _flatten([(start, end, COMMENT) for start, end in draft.comments]))
    if rules is None:
        return spans
    more = []
    for start, end in list(_gaps(spans, len(source.text))):
        at = start
        for match in rules.pieces.finditer(source.text, start, end):
            more += [*_words(source.text, at, match.start(), rules), (*match.span(), STRING)]
            at = match.end()
        more += _words(source.text, at, end, rules)
    return sorted(spans + more)


# Spans.


def _flatten(spans: list[Span]) -> list[Span]:
    """Turn nested spans into non-overlapping ones.

    The innermost span wins, and a span that only partly overlaps an earlier one is dropped.
    """
    spans.sort(key=lambda span: (span[0], -span[1]))
    out: list[Span] = []
    around: list[Span] = []
    at = 0

    def paint(until: int) -> None:
        nonlocal at
        if around and until > at and around[-1][2]:
            out.append((at, until, around[-1][2]))
        at = max(at, until)

    for span in spans:
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


def _in_points(source: Source, spans: list[Span]) -> list[Span]:
    """Convert byte ranges to character ranges."""
    if source.ascii:
        return spans
    return [(source.offset(start), source.offset(end), letter) for start, end, letter in spans]


# Regular expressions for languages that can be split into comments, strings, numbers and keywords without a grammar.
# That works even where the syntax is broken, and takes half the time. Each pattern for pieces starts with a character
# class, so that the search can quickly skip characters that cannot start a piece.


@dataclass(frozen=True)
class Lexical:
    """The patterns that split a language's texts."""

    pieces: re.Pattern[str]  # comments, strings, and text to skip that is neither
    words: re.Pattern[str]  # keywords and numbers between the pieces
    holes: bool = False  # whether strings may contain code: f"{this}"


def _word_pattern(words: str, number: str) -> re.Pattern[str]:
    ordered = sorted(words.split(), key=lambda word: (-len(word), word))
    return re.compile(rf"(?<![\w$@])(?:{'|'.join(map(re.escape, ordered))})(?!\w)|{number}")


def _python(words: str) -> Lexical:
    """Return the patterns for Python and similar languages.

    A string that is never closed is not a string: for a one-line string the rest of the line is skipped, for a
    triple-quoted one only the quotes.
    """
    long, short = (form.replace("Q", '"') + "|" + form.replace("Q", "'") for form in (_PYTHON_LONG, _PYTHON_SHORT))
    never = r"(?<=\")\"\"|(?<=')''"
    pieces = rf"[#\"'](?:(?P<c>(?<=#)[^\r\n]*)|(?P<s>{long})|{never}|(?P<t>{short})|(?<=[\"'])[^\r\n]*)"
    return Lexical(re.compile(pieces, re.S), _word_pattern(words, _PYTHON_NUMBER), True)


@cache
def lexical_rules(language: str) -> Lexical | None:
    """Return the patterns for a language; None if it has none, so that a grammar is needed."""
    if language == "cmake":
        commands = _IN_CMAKE.replace(" ", "|")
        return Lexical(_STRING, re.compile(rf"(?<!\w)(?:(?i:{commands})(?=\s*\()|(?:AND|OR|NOT)(?!\w))"))
    words = WORDS.get(language)
    if words is None:
        return None
    if language in _PYTHONS:
        return _python(words)
    return Lexical(_STRING, _word_pattern(words, _C_NUMBER))
