"""Tells a language by a file's content, where its name leaves it open.

In: the first stretch of a file's text. Out: a language's name, or "" where the content does not tell.

A `.h` file counts as C unless something in it is C++ or Objective-C and nothing else: comments and
strings do not count, and neither does what stands under `#ifdef __cplusplus`, because that is how a
C header makes itself usable from C++.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

LOOK = 8192  # characters of a file that are looked at


def _signs(*rows: tuple[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((word, re.compile(pattern)) for word, pattern in rows)


def _word(word: str, behind: str = "") -> tuple[str, str]:
    return word, rf"{word}(?<!\w{word})\b{behind}"


# Each pattern is tried only where its word occurs, and starts with a fixed text where it can: so most
# headers cost a few searches for words, and no search that stops at every character.
_CPP = _signs(
    ("::", r"\w::\w"),
    ("namespace", r"\n[ \t]*(?:inline\s+)?namespace\b\s*(?:[\w:]+\s*)?(?:\{|\n)"),
    ("template", r"\n[ \t]*template\s*<"),
    ("class", r"\n[ \t]*(?:enum\s+)?class\s+[A-Za-z_]"),
    ("using", r"\n[ \t]*using\s+\w"),
    ("include", r'\n[ \t]*#[ \t]*include\s*(?:<[a-z_]+>|["<][^">\n]+\.(?:hpp|hh|hxx|cuh)[">])'),
    ("public", r"\n[ \t]*public\s*:(?!:)"),
    _word("constexpr"),
    _word("virtual", r"\s+[\w~]+[\s*&]+[\w~]+\("),
    _word("noexcept"),
    _word("nullptr"),
    _word("typename", r"\s+\w"),
    ("_cast", r"\b(?:static|const|reinterpret|dynamic)_cast\s*<"),
    _word("operator", r"\s*(?:\(\)|\[\]|[-+*/=<>!&|^%~]{1,3}|bool\b|new\b|delete\b)\s*\("),
    _word("const", r"\s+\w+\s*&\s*\w+\s*[,)]"),
    ('extern "C', r'extern "C'),
)
_OBJC = _signs(
    ("@", r"\n[ \t]*@(?:interface|protocol|implementation|class|end|import|property)\b"),
    ("import", r"\n[ \t]*#[ \t]*import\b"),
)
_CUDA = _signs(
    ("__global__", r"__global__\s+\w"), ("__shared__", r"__shared__\s+\w"), ("<<<", r"<<<[^;]{0,300}>>>\s*\(")
)
_COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|R"(\w*)\(.*?(?:\)\1"|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_CONDITION = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)")
_FIRST_LOOK = 2048


def header(head: str, undecided: str) -> str:
    """The language of a `.h` file; `undecided` where nothing in it tells."""
    head = "\n" + head
    objc, cuda = _holds(_OBJC, head), _holds(_CUDA, head)
    if not (objc or cuda or _holds(_CPP, head)):
        return undecided
    code = _code(head[:_FIRST_LOOK])  # most C++ headers say so at once
    if objc or cuda or not _holds(_CPP, code):
        code = _code(head)
    is_cpp = _holds(_CPP, code)
    if objc and _holds(_OBJC, code):
        return "objcpp" if is_cpp else "objc"
    if cuda and _holds(_CUDA, code):
        return "cuda"
    if is_cpp:
        return "cpp"
    return "c" if "__cplusplus" in head else undecided


def _holds(signs: tuple[tuple[str, re.Pattern[str]], ...], text: str) -> bool:
    return any(word in text and sign.search(text) for word, sign in signs)


def _code(text: str) -> str:
    """The text without comments, strings and what only a C++ compiler sees."""
    return _without_cplusplus(_COMMENT_OR_STRING.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    """What a comment or string leaves behind: `extern "C"` and includes stay telling."""
    text = match.group()
    return text if text.startswith('"') and len(text) < 80 and ("." in text or text == '"C"') else " "


def _without_cplusplus(code: str) -> str:
    """The text without the stretches that only a C++ compiler sees."""
    if "__cplusplus" not in code:
        return code
    kept: list[str] = []
    conditions: list[bool] = []  # for each open #if, whether its present branch is for C++ alone
    for line in code.split("\n"):
        found = _CONDITION.match(line) if "#" in line else None
        if found is None:
            if not any(conditions):
                kept.append(line)
            continue
        word, about = found.groups()
        if word.startswith("if"):
            conditions.append("__cplusplus" in about and word != "ifndef" and "!" not in about)
        elif word == "endif":
            conditions[-1:] = []
        elif conditions:
            conditions[-1] = False
    return "\n".join(kept)


_SIGNS: Mapping[str, tuple[tuple[str, re.Pattern[str]], ...]] = MappingProxyType(
    {
        ".m": (
            ("objc", re.compile(r"^[ \t]*(?:@\w+|#\s*(?:import|include|define|pragma|if))", re.M)),
            ("mathematica", re.compile(r"^\(\*|\bBeginPackage\[|:=.*\[", re.M)),
            ("matlab", re.compile(r"^[ \t]*(?:%|function\b|classdef\b|end\s*$|clear\b|clc\b)|\.\.\.\s*$", re.M)),
        ),
        ".pl": (
            ("perl", re.compile(r"^#!.*perl|^[ \t]*(?:use|my|our|sub|package)\s+[\w$@%:]", re.M)),
            ("prolog", re.compile(r"^[a-z]\w*(?:\([^\n]*\))?\s*:-|^:-\s", re.M)),
        ),
        ".inc": (
            ("php", re.compile(r"<\?php")),
            ("pascal", re.compile(r"^[ \t]*(?:\{\$\w|procedure\s|unit\s)", re.M | re.I)),
            ("assembly", re.compile(r"^[ \t]*(?:\.macro|\.equ|%macro|%define)\b", re.M)),
            ("make", re.compile(r"^\w+\s*[:+?]?=.*(?:\$\(|\\$)|^include\s", re.M)),
        ),
        ".v": (("coq", re.compile(r"^[ \t]*(?:Require|Theorem|Lemma|Definition|Inductive|Proof)\b", re.M)),),
        ".cl": (("common_lisp", re.compile(r"^[ \t]*\((?:def\w+|in-package)\b", re.M)),),
        ".ts": (("xml", re.compile(r"\A\s*<(?:\?xml|!DOCTYPE TS)")),),
        ".mm": (("xml", re.compile(r"\A\s*<map\b")),),
        ".cls": (
            ("visual_basic", re.compile(r"^(?:VERSION \d|Attribute VB_)", re.M)),
            ("apex", re.compile(r"^[ \t]*(?:public|private|global)\s+(?:\w+\s+){0,4}class\b", re.M | re.I)),
        ),
        ".fs": (("glsl", re.compile(r"^[ \t]*#version\b|\bgl_FragColor\b|\bvoid\s+main\s*\(", re.M)),),
        ".def": (
            ("module_definition", re.compile(r"^[ \t]*(?:EXPORTS|LIBRARY|NAME)\b", re.M)),
            ("cpp", re.compile(r"^[ \t]*(?:#\s*(?:if|define|undef|include)|//|/\*|[A-Z_][A-Z0-9_]*\()", re.M)),
        ),
        ".s": (("r", re.compile(r"^[ \t]*[\w.]+\s*<-\s*function\b", re.M)),),
        ".map": (("text", re.compile(r"\A\s*[^{)\s]")),),
        ".d": (("make", re.compile(r"^\S+\.o:\s", re.M)),),
        ".pro": (("prolog", re.compile(r"^[a-z]\w*\([^\n]*\)\s*:-|^:-\s", re.M)),),
    }
)
AMBIGUOUS = frozenset(_SIGNS)


def among(extension: str, head: str) -> str:
    """Which of the languages that share an extension; "" for the usual one."""
    return next((language for language, sign in _SIGNS[extension] if sign.search(head)), "")


_SHEBANG = re.compile(r"#![ \t]*(\S+)[ \t]*([^\n]*)")
_VERSION = re.compile(r"[-\d.]+$")
_VIM = re.compile(r"\b(?:vim?|ex):.*\b(?:ft|filetype|syntax)=([\w+-]+)")
_EMACS = re.compile(r"-\*-\s*(?:.*\bmode:\s*([\w+-]+).*|([\w+-]+)\s*)-\*-", re.I)


def interpreter(head: str) -> tuple[str, str]:
    """The program that a "#!" line names, as written and without its version."""
    found = _SHEBANG.match(head)
    if found is None:
        return "", ""
    program, arguments = found.groups()
    name = program.rpartition("/")[2]
    if name == "env":
        words = (word.removeprefix("-S") for word in arguments.split())
        name = next((word for word in words if word and word[0] != "-" and "=" not in word), "")
        name = name.rpartition("/")[2]
    return name, _VERSION.sub("", name)


def modeline(text: str) -> str:
    """The language that an editor's modeline in the first or last five lines names."""
    lines = [line[:300] for line in (*text[:2000].split("\n")[:5], *text[-2000:].split("\n")[-5:])]
    for line in lines:
        if found := _EMACS.search(line) or _VIM.search(line):
            return next(name for name in found.groups() if name).lower()
    return ""


# What may be repeated before the telling word is taken once and for all ("*+"): a hostile file would else
# have it tried in every combination.
_OPENINGS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("svg", re.compile(r"(?:<\?xml.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>|\s)*+<svg\b", re.S | re.I)),
    ("html", re.compile(r"(?:<!--.*?-->|\s)*+<(?:!doctype html|html)\b", re.S | re.I)),
    ("xml", re.compile(r"\s*<\?xml\b")),
    ("php", re.compile(r"\s*<\?php\b")),
    ("json", re.compile(r'\s*(?:\{\s*(?:"(?:[^"\\\n]|\\.)*"\s*:|\})|\[\s*(?:[{"\[\]]|-?\d+\s*[,\]]))')),
    ("diff", re.compile(r"(?:diff --git |Index: |--- \S.*\n\+\+\+ \S|From [0-9a-f]{40} )")),
    ("pem", re.compile(r"-----BEGIN [A-Z ]+-----")),
    ("yaml", re.compile(r"(?:#.*\n)*+(?:%YAML|---\s*\n\s*[\w-]+:\s)")),
    ("tex", re.compile(r"(?:%.*\n|\s)*+\\(?:documentclass|input|begin)\b")),
    ("roff", re.compile(r"(?:\.\\\".*\n|'\\\".*\n)*+\.(?:TH|Dd) ")),
    ("shell", re.compile(r"#(?:compdef|autoload)\b")),
    ("dockerfile", re.compile(r"(?:#.*\n|\s|ARG .*\n)*+FROM [\w./:-]+(?: (?:AS|as) \w+)?\s*\n")),
)


def opening(head: str) -> str:
    """The language that a file's first characters give away."""
    return next((language for language, start in _OPENINGS if start.match(head)), "")
