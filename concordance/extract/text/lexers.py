"""How the texts of some languages are cut into comments, strings, numbers and words, by expressions alone.

In: nothing. Out: a `Lexical` for each language whose pieces can be told without a grammar: that holds where the syntax
is broken, and takes half the time. In front of an expression for pieces stands one class of signs, so that a search
passes over whatever cannot begin one.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from functools import cache

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


@dataclass(frozen=True)
class Lexical:
    """What a text is cut by."""

    pieces: re.Pattern[str]  # comments, strings, and what is neither but must be passed over
    words: re.Pattern[str]  # keywords and numbers, between them
    holes: bool = False  # whether there may be code inside of strings: f"{this}"


def _words(words: str, number: str) -> re.Pattern[str]:
    found = sorted(words.split(), key=lambda word: (-len(word), word))
    return re.compile(rf"(?<![\w$@])(?:{'|'.join(map(re.escape, found))})(?!\w)|{number}")


def _python(words: str) -> Lexical:
    """What is never closed is no string: one of a line is passed over to its end, a long one by its first signs."""
    long, short = (form.replace("Q", '"') + "|" + form.replace("Q", "'") for form in (_PYTHON_LONG, _PYTHON_SHORT))
    never = r"(?<=\")\"\"|(?<=')''"
    pieces = rf"[#\"'](?:(?P<c>(?<=#)[^\r\n]*)|(?P<s>{long})|{never}|(?P<t>{short})|(?<=[\"'])[^\r\n]*)"
    return Lexical(re.compile(pieces, re.S), _words(words, _PYTHON_NUMBER), True)


HOLE = re.compile(r"\{\{|" + _HOLE)  # code inside of a string, or a brace that is none
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


@cache
def lexical(language: str) -> Lexical | None:
    """How a language's texts are cut; None where a grammar is needed."""
    if language == "cmake":
        commands = _IN_CMAKE.replace(" ", "|")
        return Lexical(_STRING, re.compile(rf"(?<!\w)(?:(?i:{commands})(?=\s*\()|(?:AND|OR|NOT)(?!\w))"))
    words = WORDS.get(language)
    if words is None:
        return None
    if language in _PYTHONS:
        return _python(words)
    return Lexical(_STRING, _words(words, _C_NUMBER))
