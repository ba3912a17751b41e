"""Determines what a file is from its name and bytes: language, category, encoding, text or binary.

In: the languages of the plug-ins, and the path and bytes of each file. Out: a `Form`, and with it the decoded text,
because the encoding is known only after decoding.

The language is determined by the first of these that succeeds: the whole file name, a glob, the longest known extension
(and the content, if languages share it), the same without a template suffix (`setup.py.in`), the "#!" line, an editor's
modeline, the first characters of the file. Anything else is plain text. A plug-in takes precedence over the table of
other types.

A `.h` file counts as C unless its code contains something that exists only in C++ or Objective-C. Comments and strings
do not count, and neither does text under `#ifdef __cplusplus`, because that is how a C header makes itself usable from
C++.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from concordance.base.model import Category, Form, Language, Skip
from concordance.collect import binary_types, encoding
from concordance.collect.category import SCRIPTS, Categories, Globs
from concordance.collect.file_types import (
    ALIASES,
    CASED_EXTENSIONS,
    OTHERS,
    TEMPLATE_SUFFIXES,
    TEXT,
    UNKNOWN_TEXT,
    FileType,
    from_plugin,
)

# --- language by content


HEAD_CHARACTERS = 8192  # characters of a file that are examined


def _signs(*rows: tuple[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((word, re.compile(pattern)) for word, pattern in rows)


def _word(word: str, behind: str = "") -> tuple[str, str]:
    return word, rf"{word}(?<!\w{word})\b{behind}"


# Each pattern is tried only if its word occurs, and starts with a fixed text if possible: so most headers cost a few
# searches for words, and no search that stops at every character.
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
# A comment or a literal of C++, in which `__cplusplus` and the like say nothing
_COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|R"(\w*)\(.*?(?:\)\1"|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_CONDITION = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)")
_FIRST_LOOK = 2048


def header_content_language(head: str, undecided: str) -> str:
    """Return the language of a `.h` file; `undecided` if its content does not show it."""
    head = "\n" + head
    objc, cuda = _holds(_OBJC, head), _holds(_CUDA, head)
    if not (objc or cuda or _holds(_CPP, head)):
        return undecided
    code = _code(head[:_FIRST_LOOK])  # most C++ headers show it near the beginning
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
    """Return the text without comments, strings and the parts that only a C++ compiler sees."""
    return _without_cplusplus(_COMMENT_OR_STRING.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    """Return the replacement of a comment or string; `extern "C"` and include paths stay, because they identify C++."""
    text = match.group()
    return text if text.startswith('"') and len(text) < 80 and ("." in text or text == '"C"') else " "


def _without_cplusplus(code: str) -> str:
    """Return the text without the parts that only a C++ compiler sees."""
    if "__cplusplus" not in code:
        return code
    kept: list[str] = []
    conditions: list[bool] = []  # for each open #if: True if its current branch is for C++ only
    for line in code.split("\n"):
        match = _CONDITION.match(line) if "#" in line else None
        if match is None:
            if not any(conditions):
                kept.append(line)
            continue
        word, about = match.groups()
        if word.startswith("if"):
            conditions.append("__cplusplus" in about and word != "ifndef" and "!" not in about)
        elif word == "endif":
            conditions[-1:] = []
        elif conditions:
            conditions[-1] = False
    return "\n".join(kept)


# A text with an underlined title, and a directive, a target or a role: reStructuredText, whatever its extension.
_REST_DOCUMENT = re.compile(
    r"\A(?=[\s\S]*?^\S.*\n([=~#*^\"-])\1{2,}[ \t]*$)"
    r"(?=[\s\S]*?(?:^[ \t]*\.\. (?:_[\w. -]+:[ \t]*$|[a-z][\w:-]*::)|:[a-z]+(?::[a-z]+)?:`[^`\n]+`))",
    re.M,
)


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
        ".txt": (("rst", _REST_DOCUMENT),),
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
        ".pro": (
            ("proguard", re.compile(r"^-(?:keep|dont|optimi|assume|if |include|adapt|verbose)", re.M)),
            ("prolog", re.compile(r"^[a-z]\w*\([^\n]*\)\s*:-|^:-\s", re.M)),
        ),
    }
)
AMBIGUOUS = frozenset(_SIGNS)


def pick_by_content(extension: str, head: str) -> str:
    """Return which of the languages that share an extension it is; "" for the usual one."""
    return next((language for language, sign in _SIGNS[extension] if sign.search(head)), "")


_SHEBANG = re.compile(r"#![ \t]*(\S+)[ \t]*([^\n]*)")
_VERSION = re.compile(r"[-\d.]+$")
_VIM = re.compile(r"\b(?:vim?|ex):.*\b(?:ft|filetype|syntax)=([\w+-]+)")
_EMACS = re.compile(r"-\*-\s*(?:.*\bmode:\s*([\w+-]+).*|([\w+-]+)\s*)-\*-", re.I)


def script_interpreter(head: str) -> tuple[str, str]:
    """Return the program that a "#!" line names, as written and without its version."""
    match = _SHEBANG.match(head)
    if match is None:
        return "", ""
    program, arguments = match.groups()
    name = program.rpartition("/")[2]
    if name == "env":
        words = (word.removeprefix("-S") for word in arguments.split())
        name = next((word for word in words if word and word[0] != "-" and "=" not in word), "")
        name = name.rpartition("/")[2]
    return name, _VERSION.sub("", name)


def language_by_modeline(text: str) -> str:
    """Return the language that an editor's modeline in the first or last five lines names."""
    lines = [line[:300] for line in (*text[:2000].split("\n")[:5], *text[-2000:].split("\n")[-5:])]
    for line in lines:
        if match := _EMACS.search(line) or _VIM.search(line):
            return next(name for name in match.groups() if name).lower()
    return ""


# Repetitions before the identifying word are possessive ("*+"): otherwise a hostile file could make the pattern
# backtrack through every combination.
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


def language_by_opening(head: str) -> str:
    """Return the language that the first characters of a file identify."""
    return next((language for language, start in _OPENINGS if start.match(head)), "")


# --- the classifier


_LFS = "version https://git-lfs.github.com/spec/"
_LFS_NOTE = "a pointer to content in Git LFS"
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".cuh", ".h++")
_CPP_SOURCES = (".cpp", ".cc", ".cxx", ".cu", ".mm", ".hpp", ".hh", ".hip")
_UNREAD_TYPES = MappingProxyType(
    {Skip.SYMLINK: "symbolic link", Skip.SUBMODULE: "git submodule", Skip.UNREADABLE: "unreadable file"}
)


def header_language(paths: Iterable[str]) -> str:
    """Return the language of `.h` files whose content does not show it: that of most source files in the repository."""
    cpp = c = 0
    for path in paths:
        cpp += path.endswith(_CPP_SOURCES)
        c += path.endswith(".c")
    return "cpp" if cpp > c else "c"


class Classifier:
    """Classifies the files of one repository; holds the look-up tables that all of them share."""

    def __init__(
        self, languages: Sequence[Language], largest: int, headers: str = "c",
        categories: Sequence[tuple[str, str]] = (),
    ) -> None:  # fmt: skip
        """`largest`: maximum size in bytes of text that is read. `headers`: the language of a `.h` file whose content
        does not show it. `categories`: patterns of paths, and the owners' category for those files."""
        self.largest = largest
        self._headers = headers
        self._categories = Categories(categories)
        claims = [
            (from_plugin(language), language.extensions, language.filenames, language.interpreters)
            for language in languages
        ] + [
            (one, tuple(one.extensions.split()), tuple(one.filenames.split()), tuple(one.interpreters.split()))
            for one in (TEXT, *OTHERS)
        ]
        self._aliases = {**ALIASES, **{alias: language.name for language in languages for alias in language.aliases}}
        self._types: dict[str, FileType] = {}
        self._extensions: dict[str, FileType] = {}
        self._interpreters: dict[str, FileType] = {}
        for file_type, extensions, _, interpreters in claims:
            self._types.setdefault(file_type.name, file_type)
            for extension in extensions:
                self._extensions.setdefault(extension, file_type)
            for interpreter in interpreters:
                self._interpreters.setdefault(interpreter, file_type)
        for extension, name in CASED_EXTENSIONS.items():
            if name in self._types:
                self._extensions[extension] = self._types[name]
        self._names = Globs((glob, claim[0]) for claim in claims for glob in claim[2])

    def form(self, path: str, data: bytes, size: int = -1) -> Form:
        """Return what a file is; `size` is its whole size if `data` is only its beginning."""
        return self.read_text(path, data, size)[0]

    def read_text(self, path: str, data: bytes, size: int = -1) -> tuple[Form, str]:
        """Return what a file is, and its text; the text is "" if the file is skipped."""
        name = path.rpartition("/")[2]
        file_type, extension, is_template = self._by_name(name)
        size = max(size, len(data))
        binary_type = binary_types.type_of(data, extension)
        if binary_type:
            return self._binary(path, binary_type, data), ""
        too_large = size > self.largest
        text = encoding.read(_whole_lines(data) if too_large else data, file_type is not None)
        if text is None:
            return self._binary(path, binary_types.type_by_extension(extension), data), ""
        head = text.text[:HEAD_CHARACTERS]
        if head.startswith(_LFS) and not too_large:
            category = self._categories.of(path, Category.DATA)
            return Form("text", category, text.encoding, "Git LFS pointer", Skip.NONE, _LFS_NOTE), text.text
        settled = self._type_by_content(file_type, extension, head, text.text)
        top = "" if is_template or "templates/" in path else head  # templates describe the files made from them
        end = text.text.rstrip().rpartition("\n")[2] if name.endswith(SCRIPTS) else ""
        category = self._categories.of(path, settled.kind, top, end)
        type_name, note = _describe(settled, extension), text.note
        if too_large:
            note = f"{size:,} bytes of text, over the limit of {self.largest:,}"
            return Form(settled.name, category, text.encoding, type_name, Skip.TOO_LARGE, note), ""
        return Form(settled.name, category, text.encoding, type_name, Skip.NONE, note), text.text

    def unread(self, path: str, skip: Skip, note: str) -> Form:
        """Return the form of an entry that is not opened: a link, a submodule, an unreadable file."""
        file_type = self._by_name(path.rpartition("/")[2])[0]
        kind = file_type.kind if file_type else Category.SOURCE
        if skip is Skip.SUBMODULE:
            category = self._categories.from_settings(path, is_folder=True) or Category.VENDORED
        else:
            category = self._categories.of(path, kind)
        return Form("", category, "", _UNREAD_TYPES.get(skip, "file"), skip, note)

    def _binary(self, path: str, type_name: str, data: bytes) -> Form:
        category = self._categories.of(path, Category.DATA)
        size = binary_types.pixels(type_name, data)
        return Form("", category, "", type_name, Skip.BINARY, f"{type_name}, {size}" if size else type_name)

    def _by_name(self, name: str) -> tuple[FileType | None, str, bool]:
        """Return a file's type by its name, the extension used, and True if a template suffix was removed."""
        named = self._names.get(name)
        file_type, extension = self._by_extension(name)
        if named is not None:
            return named, extension, False
        for suffix in TEMPLATE_SUFFIXES:
            if name.endswith(suffix) and len(name) > len(suffix):
                rest, extension_of_rest = self._by_extension(name[: -len(suffix)])
                rest = self._names.get(name[: -len(suffix)]) or rest
                if rest is not None:
                    return rest, extension_of_rest, True
        return file_type, extension, False

    def _by_extension(self, name: str) -> tuple[FileType | None, str]:
        at = name.find(".", 1)
        while at > 0:
            for extension in (name[at:], name[at:].lower()):
                if extension in self._extensions:
                    return self._extensions[extension], extension
            at = name.find(".", at + 1)
        return None, name[name.rfind(".", 1) :].lower() if "." in name[1:] else ""

    def _type_by_content(self, file_type: FileType | None, extension: str, head: str, text: str) -> FileType:
        """Return a file's type after examining its content."""
        if file_type is None:
            return self._by_content(head, text)
        decided = ""
        if extension == ".h":
            decided = header_content_language(head, self._headers)
        elif extension in AMBIGUOUS:
            decided = pick_by_content(extension, head)
        return self._types.get(decided, file_type)

    def _by_content(self, head: str, text: str) -> FileType:
        if head.startswith("#!"):
            for name in script_interpreter(head):
                if name in self._interpreters:
                    return self._interpreters[name]
        name = language_by_modeline(text)
        file_type = self._types.get(self._aliases.get(name, name)) if name else None
        return file_type or self._types.get(language_by_opening(head)) or UNKNOWN_TEXT


def _whole_lines(data: bytes) -> bytes:
    """Return the beginning of a file that is not read completely, cut between characters."""
    head = data[: encoding.HEAD_BYTES]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16, in which a line end is not one byte
        return head
    return head[: head.rfind(b"\n") + 1] or head.rstrip(bytes(range(128, 256)))


def _describe(file_type: FileType, extension: str) -> str:
    title = file_type.title
    if extension in _HEADERS and file_type.kind is Category.SOURCE:
        return f"{title} header"
    last = title.rpartition(" ")[2]
    if title.endswith("file") or (last != title and last.islower()):
        return title
    if file_type.kind is Category.SOURCE:
        return f"{title} source"
    return f"{title} document" if file_type.kind is Category.DOCUMENTATION else f"{title} file"
