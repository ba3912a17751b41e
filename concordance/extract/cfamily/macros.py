"""The repository's macros that hide C-family syntax from the parser: found in `#define`s, blanked in each file.

The problem: a parser that sees `class TORCH_API Tensor {` takes it for a function. No fixed list of such words could be
complete, because each repository defines its own.

First, the table. In: the bytes of every C-family file, one at a time; then the results are merged. Out: `Macros`, the
names whose uses a parser cannot handle without help, and what each of them does. The table is narrowed to the macros
that a file mentions, and a digest of these tells whether a cached file must be read again.

Then, blanking (`blank_macros`). In: a file's scanned lines and its macros. Out: `Blanked`, a buffer of the same length
and with the same line ends, in which those words are spaces. No offset changes, so facts are always reported from the
original text. Preprocessor lines are blanked too: the scan has already read them, grammars allow them in only a few
of the places where people write them, and the branches of most conditionals parse well one after the other
(`repair.py` deals with the rest).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from concordance.extract.cfamily.directives import ScannedLines

_TO_SPACE = bytes(c if c in b"\n\r" else 32 for c in range(256))
_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_LAST_WORD = re.compile(rb"\w+$")
_ENDING = frozenset(bytes([c]) for c in b",)=].+-/%|^?<>:};") | {b""}
_EXPECTING = frozenset(
    (b"return", b"case", b"goto", b"sizeof", b"else", b"throw", b"new", b"delete", b"in", b"typename")
)
_NEXT = re.compile(rb"(?:\s|//[^\n]*|/\*.*?\*/)*", re.S)
_BRACKET = re.compile(rb"[()]")
# `class SOME_API Name {` with a macro that the repository does not define. One for each word, because a pattern that
# begins with a word is searched fast.
_CLASS_HEADS = tuple(
    re.compile(
        word + rb"\s+([A-Z][A-Z0-9_]+\b(?:\s*\([^()]*\))?)\s+(?:\w+::)*(?!final\b)[A-Za-z_]\w*\s*"
        rb"(?:<[^;{}]*>\s*)?(?:final\s*)?[:{](?!:)"
    )
    for word in (b"class", b"struct", b"union", b"enum")
)
_ENUM_HEAD = re.compile(rb"enum(?<!\wenum)\b[^;{}()=,]*\{")  # a pattern that begins with a word is searched fast
_ENUMERATOR_END = re.compile(rb"[,(){}]")
_CAPITALS = re.compile(rb"[A-Z_][A-Z0-9_]+\b")
# `container_of(x, struct name, member)`: a type as an argument.
_STRUCT_ARGUMENT = re.compile(
    rb"struct(?:(?<=,struct)|(?<=, struct)|(?<=\tstruct))\s+\w+\s*[,)]|struct(?<=\(struct)\s+\w+\s*,"
)
# `[=] __device__ (int n) {`
_LAMBDA = re.compile(rb"\]\s*(__(?:host|device)__(?:\s*__(?:host|device)__)?)(?=\s*[({])")
# `static DEFINE_MUTEX(lock);`
_STATIC_CALL = re.compile(rb"static\s+(?:const\s+)?[A-Z_][A-Z0-9_]+\s*\(")
# `TEST_CASE("title", "[tag]") {`: a test of Catch2 or doctest; `TEST_SUITE("title") {` holds tests as a namespace does.
_TITLED_TEST = re.compile(
    rb"^[ \t]*((?:[A-Z0-9]+_)*(?:TEST_SUITE|TEST_CASE(?:_[A-Z]+)*|SCENARIO(?:_METHOD)?)(?:_SIG)?)[ \t]*\(", re.M
)
_STRING = re.compile(rb",?\s*\"")
# `template class Name<int>;` instantiates a template and declares nothing.
_INSTANTIATION = re.compile(rb"(template)\s+(?:class|struct|union)\b[^;{}()]*;")

# What a macro does, as one letter; some letters are followed by more.
BLANK = "b"  # expands to nothing, attributes or specifiers: can be removed
ATTRIBUTE = "a"  # the same, with arguments
DECLARES = "d"  # with arguments, ends in ";" or "}" itself: its use has no ";"
OPENS = "n"  # opens a namespace, whose name follows the letter; "$" stands for the macro's argument
VALUE = "v"  # stands for the name of a namespace, which follows the letter
CLOSES = "c"  # closes what another macro opened
PASSES = "p"  # expands to its argument, apart from attributes
TYPE = "t"  # with arguments, expands to a type
QUOTES = "q"  # stringises its arguments, which need not be code
MAYBE = "m"  # only some definitions are of the above; considered only where the parser fails
Macros = dict[bytes, str]

# One file's definitions: each name, and the form of its body: "e" if empty; "w" and the words to look up (none if there
# are only attributes); "x" for any other body; or a letter from above. A "(" in front says that the macro takes
# arguments.
MacroDefinitions = tuple[tuple[bytes, str], ...]

# `#define NAME(parameters) body`, with the lines that a backslash joins to it
_DEFINE = re.compile(rb"#[ \t]*define[ \t]+([A-Za-z_]\w*)(\((?:[^)\n\\]|\\\r?\n)*\))?([^\n\\]*(?:\\\r?\n?[^\n\\]*)*)")
_COMMENT = re.compile(rb"/\*.*?\*/|//.*", re.S)
_NESTED = rb"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
# One word or call of a body that consists of attributes only: it can be blanked
_ATTRIBUTES = re.compile(
    rb"(?:__attribute__|__attribute|__declspec|_Pragma|__pragma|alignas|_Alignas|__launch_bounds__|__align__|__asm__|"
    rb"noexcept|explicit|requires|throw|__nonnull|__cluster_dims__|__maxnreg__)\s*" + _NESTED + rb"|"
    rb"\[\[(?:[^\]]|\](?!\]))*\]\]|\\|\s+|"
    rb'extern\s+"C(?:\+\+)?"(?!\s*\{)'
    rb"|\b(?:inline|static|extern|const|constexpr|consteval|constinit|volatile|register|mutable|virtual|explicit|final|"
    rb"override|noexcept|restrict|__restrict__|__restrict|__inline__|__inline|__forceinline|__extension__|__const|"
    rb"__volatile__|__host__|__device__|__global__|__shared__|__constant__|__managed__|__noinline__|__forceinline__|"
    rb"__cdecl|__stdcall|__fastcall|__vectorcall|__thiscall|_Noreturn|_Thread_local|thread_local|__thread|WINAPI|"
    rb"APIENTRY|CALLBACK|__unsafe_unretained|__strong|__weak)\b"
)
_TYPE_BODY = re.compile(rb"(?:const\s+)?(?:struct|union|enum|class)\s+[\w#\s]+\**")
_CALLED = re.compile(rb"([A-Za-z_]\w*)\s*" + _NESTED)
_QUOTING = re.compile(rb"(?<!#)#\s*__VA_ARGS__")
_WORD = re.compile(rb"[A-Za-z_]\w*")
# A body that opens a namespace or a block of C linkage
_OPENING = re.compile(rb"(?:inline\s+)?namespace(?:\s+" + rb"([A-Za-z_][\w:]*))?\s*\{|extern\s+\"C(?:\+\+)?\"\s*\{")
_AROUND_OPENING = re.compile(rb"[A-Z][A-Z0-9_]*")  # of other macros: those that suppress warnings
_CLOSING = re.compile(rb"(?:[A-Z][A-Z0-9_]*+\s++)*+[}\s;]++(?:\s*+[A-Z][A-Z0-9_]*+)*+")
_VALUE = re.compile(rb"\s*(?:[-+~!(]*\s*)?(?:[0-9.\"']|L\"|L')")

_COMPILED = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", ".hip", ".m", ".mm")
_MAX_ARGUMENTS = 200_000  # bytes in which a closing bracket is searched for
_SPACED = bytes(c if (chr(c).isalnum() and c < 128) or c == 95 else 32 for c in range(256))

# Keywords: a repository may redefine them, but its code still reads as if it did not.
KEYWORDS = frozenset(
    b"alignas alignof and asm auto bool break case catch char class co_await co_return co_yield concept const "
    b"consteval constexpr constinit const_cast continue decltype default delete do double dynamic_cast else enum "
    b"explicit export extern false final float for friend goto if inline int long mutable namespace new noexcept not "
    b"nullptr operator or override private protected public register reinterpret_cast requires restrict return short "
    b"signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef "
    b"typeid typename union unsigned using virtual void volatile wchar_t while defined NULL ".split()
)


def read_defines(data: bytes, path: str = "") -> MacroDefinitions:
    """Return the `#define`s of a file that matter to other files; macros whose body is a number or string are left out.

    A file that is compiled on its own (judged by `path`) defines nothing for others.
    """
    return () if path.lower().endswith(_COMPILED) else _learn(data, with_values=False)


def _learn(data: bytes, with_values: bool) -> MacroDefinitions:
    macros = {}
    for match in _DEFINE.finditer(data):
        name, parameters, body = match.groups()
        value = _VALUE.match(body) is not None
        if (value and not with_values) or name in KEYWORDS:
            continue
        form = "x" if value else _form(body, parameters)
        macros[name, "(" + form if parameters is not None else form] = True
    return tuple(macros)


def _form(body: bytes, parameters: bytes | None) -> str:
    arguments = parameters is not None
    if b"/" in body:
        body = _COMMENT.sub(b" ", body)
    body = body.replace(b"\\\n", b" ").replace(b"\\\r\n", b" ").strip()
    if not body:
        return "e"
    if b"{" in body or b"}" in body:
        opened = _OPENING.findall(body)
        if opened and all(map(_AROUND_OPENING.fullmatch, _OPENING.sub(b"", body).split())):
            names = (b"$" if parameters and name == parameters.strip(b"() \t") else name for name in opened if name)
            return OPENS + "::".join(name.decode("ascii", "replace") for name in names)
        if _CLOSING.fullmatch(body):
            return CLOSES
    if arguments and b"__VA_ARGS__" in body and b"__VA_ARGS__" not in _QUOTING.sub(b"", body):
        return QUOTES
    if arguments and body[-1:] in b";}":
        return "x" if body.startswith(b"{") else DECLARES
    rest = _ATTRIBUTES.sub(b" ", body) if len(body) < 2000 else body
    rest = rest.strip()
    if parameters is not None and rest and rest == parameters.strip(b"() \t"):
        return PASSES
    if arguments and _TYPE_BODY.fullmatch(rest):
        return TYPE
    if b"(" in rest:
        rest = _CALLED.sub(rb"\1", rest)
    words = rest.split()
    return "w" + b" ".join(words).decode() if all(map(_WORD.fullmatch, words)) else "x"


def merge(learned: Iterable[MacroDefinitions]) -> Macros:
    """Return the macro table of the whole repository; the order of its files does not matter."""
    forms: dict[bytes, set[str]] = {}
    for definitions in learned:
        for name, form in definitions:
            forms.setdefault(name, set()).add(form)
    return _roles(forms, set())


def _roles(forms: dict[bytes, set[str]], blank: set[bytes]) -> Macros:
    blank, doubtful = _resolve(forms, blank)
    roles = {
        name: _role(forms[name], name in blank, name in doubtful) or _namespace_value(name, forms[name])
        for name in sorted(forms)
    }
    return {name: role for name, role in roles.items() if role}


def _resolve(forms: dict[bytes, set[str]], blank: set[bytes]) -> tuple[set[bytes], set[bytes]]:
    """Return the names with a body that vanishes, directly or through other names, and the inconsistent ones."""
    bodies = {
        name: [form.lstrip("(")[1:].encode().split() for form in expansions if form.lstrip("(")[:1] in "ew"]
        for name, expansions in forms.items()
    }
    pending = [name for name, expansions in bodies.items() if expansions]
    grew = True
    while grew:
        left = [name for name in pending if not any(blank.issuperset(body) for body in bodies[name])]
        grew = len(left) < len(pending)
        blank.update(set(pending).difference(left))
        pending = left
    return blank, {name for name in blank & bodies.keys() if not all(blank.issuperset(body) for body in bodies[name])}


def _role(expansions: set[str], blank: bool, doubtful: bool) -> str:
    bodies = {form.lstrip("(") for form in expansions}
    arguments = any(form.startswith("(") for form in expansions)
    firsts = {body[:1] for body in bodies}
    opened = sorted(body for body in bodies if body[:1] == OPENS)
    if opened:
        return max(opened, key=len) if firsts <= {OPENS, "w", "e"} else ""
    if CLOSES in firsts:
        return CLOSES if firsts <= {CLOSES, "w", "e"} else ""
    if blank:
        sure = firsts <= {"w", "e"} and not doubtful
        if not arguments:
            return BLANK if sure else MAYBE
        # A macro that is always empty may be used as a statement, which parses as it is.
        return ATTRIBUTE if sure and bodies != {"e"} else MAYBE
    for role in (QUOTES, PASSES, TYPE):
        if role in firsts and firsts <= {role, "e", "w"}:
            return role
    return DECLARES if DECLARES in firsts and arguments else ""


def _namespace_value(name: bytes, expansions: set[str]) -> str:
    """Return the role of a macro that is called a namespace and always stands for the same name; else ""."""
    words = (
        next(iter(expansions))[1:].split() if len(expansions) == 1 and next(iter(expansions)).startswith("w") else []
    )
    return VALUE + words[0] if b"NAMESPACE" in name and len(words) == 1 else ""


def macros_in(data: bytes, macros: Macros) -> Macros:
    """Return the part of the table that a file mentions; its own definitions take precedence."""
    words = set(data.translate(_SPACED).split())
    used = {name: macros[name] for name in macros.keys() & words}
    own: dict[bytes, set[str]] = {}
    for name, form in _learn(data, with_values=True):
        own.setdefault(name, set()).add(form)
    if own:
        vanishing = {name for name, role in used.items() if role in (BLANK, ATTRIBUTE, MAYBE) and name not in own}
        used = {name: role for name, role in used.items() if name not in own} | _roles(own, vanishing)
    return {name: used[name] for name in sorted(used)}


def digest(macros: Macros) -> str:
    """Return a short fingerprint of a table, the same on every machine."""
    lines = b"\n".join(name + b" " + role.encode() for name, role in sorted(macros.items()))
    return hashlib.sha256(lines).hexdigest()[:16] if lines else ""


# Blanking (see the module docstring).


def to_spaces(data: bytes | bytearray) -> bytes:
    """Return as many spaces, with line ends preserved."""
    return bytes(data.translate(_TO_SPACE))


@dataclass(slots=True)
class Blanked:
    """A file as the parser sees it."""

    data: bytearray
    taken: list[tuple[int, int]] = field(default_factory=list)  # ranges that were blanked
    # Namespaces that macros open and close: start, end, name.
    namespaces: list[tuple[int, int, str]] = field(default_factory=list)
    instantiations: list[int] = field(default_factory=list)  # where the class of each explicit instantiation starts
    specifiers: dict[int, int] = field(default_factory=dict)  # start of each blanked specifier, by its end
    written: list[int] = field(default_factory=list)  # where a byte was written over white space
    masked: list[int] = field(default_factory=list)  # keywords disguised as names
    size: int = 0  # number of bytes changed

    def erase(self, start: int, end: int) -> None:
        """Replace a range with spaces."""
        before = self.data[start:end]
        after = before.translate(_TO_SPACE)
        self.size += sum(a != b for a, b in zip(before, after, strict=True))
        self.data[start:end] = after
        self.taken.append((start, end))

    def put(self, at: int, what: bytes) -> None:
        """Overwrite a few bytes."""
        self.size += len(what)
        self.written.append(at)
        self.data[at : at + len(what)] = what


def closing_paren(lines: ScannedLines, at: int) -> int:
    """Return the offset after the bracket that closes the one at `at`; -1 if there is none."""
    depth = 0
    for match in _BRACKET.finditer(lines.data, at, at + _MAX_ARGUMENTS):
        if lines.in_code(match.start()):
            depth += 1 if match[0] == b"(" else -1
            if depth == 0:
                return match.end()
    return -1


def blank_macros(lines: ScannedLines, macros: Macros) -> Blanked:
    """Return a file without the macros that are known to confuse the parser."""
    result = Blanked(bytearray(lines.data))
    for start, end in lines.dead:
        result.data[start:end] = result.data[start:end].translate(_TO_SPACE)
    for line in lines.directives:
        result.data[line.start : line.end] = to_spaces(result.data[line.start : line.end])
    marks: list[tuple[int, int, str]] = []
    opening = any(role[:1] == OPENS for role in macros.values())
    for name, role in macros.items():
        if role != MAYBE and role[:1] != VALUE and (role != CLOSES or opening):
            for at in _uses(lines, name):
                _take(lines, result, at, at + len(name), role, marks, macros)
    for match in chain.from_iterable(head.finditer(result.data) for head in _CLASS_HEADS):
        if lines.in_code(match.start()) and (not match.start() or result.data[match.start() - 1] not in _WORD_BYTES):
            result.erase(*match.span(1))
    _erase_among_enumerators(lines, result)
    _erase_titles(lines, result)
    for match in _INSTANTIATION.finditer(result.data):
        if lines.in_code(match.start(1)):
            start = match.start(1)
            before = lines.data[max(0, start - 40) : start].rstrip()
            if before.endswith(b"extern"):
                start = max(0, start - 40) + len(before) - 6
            result.erase(start, match.end(1))
            result.instantiations.append(next_token(lines.data, match.end(1)))
    for match in _LAMBDA.finditer(result.data):
        result.erase(*match.span(1))
    for match in _STRUCT_ARGUMENT.finditer(result.data):
        if lines.in_code(match.start()):
            result.erase(match.start(), match.start() + 6)
    for match in _STATIC_CALL.finditer(result.data):
        end = closing_paren(lines, match.end() - 1) if lines.in_code(match.start()) else -1
        if end > 0 and lines.data[next_token(lines.data, end) :][:1] == b";":
            result.erase(match.start(), match.start() + 6)
    _pair(result, marks)
    return result


def _erase_titles(lines: ScannedLines, result: Blanked) -> None:
    """Erase the titles of tests and suites, so that the parser takes them for functions and namespaces."""
    for match in _TITLED_TEST.finditer(result.data) if b"TEST_" in result.data or b"SCENARIO" in result.data else ():
        end = closing_paren(lines, match.end() - 1) if lines.in_code(match.start(1)) else -1
        if end < 0 or lines.data[next_token(lines.data, end) :][:1] != b"{":
            continue
        title = _STRING.search(lines.data, match.end() - 1, end)
        if title is None:
            continue
        if match[1].endswith(b"TEST_SUITE"):
            result.erase(match.start(1), end)
            result.put(match.start(1), b"namespace")
        else:
            result.erase(title.start() + (lines.data[title.start()] == 40), end - 1)


def _erase_among_enumerators(lines: ScannedLines, result: Blanked) -> None:
    """Erase macros that stand for enumerators: a call without a comma behind it, a name alone in its line."""
    data = result.data
    for head in _ENUM_HEAD.finditer(data):
        at = head.end() if lines.in_code(head.start()) else -1
        while at >= 0:
            at = next_token(data, at)
            name = _CAPITALS.match(data, at)
            if name is not None:
                end = name.end()
                behind = next_token(data, end)
                is_call = data[behind : behind + 1] == b"("
                if is_call:
                    end = closing_paren(lines, behind)
                    behind = next_token(data, end) if end > 0 else len(data)
                follows = data[behind : behind + 1]
                is_alone = is_call or b"\n" in data[end:behind]
                if is_alone and (follows.isalpha() or follows == b"_" or (is_call and follows == b"}")):
                    result.erase(at, end)
                    at = behind
                    continue
            at = _next_enumerator(lines, data, at)


def _next_enumerator(lines: ScannedLines, data: bytearray, at: int) -> int:
    """Return the offset after the comma that ends an enumerator; -1 if it is the last one."""
    sign = _ENUMERATOR_END.search(data, at)
    while sign is not None:
        if not lines.in_code(sign.start()):
            at = sign.end()
        elif sign[0] == b"(":
            at = closing_paren(lines, sign.start())
            if at < 0:
                return -1
        else:
            return sign.end() if sign[0] == b"," else -1
        sign = _ENUMERATOR_END.search(data, at)
    return -1


def _uses(lines: ScannedLines, name: bytes) -> list[int]:
    data = lines.data
    size = len(name)
    starts = []
    at = data.find(name)
    while at >= 0:
        end = at + size
        if (
            (at == 0 or data[at - 1] not in _WORD_BYTES)
            and (end == len(data) or data[end] not in _WORD_BYTES)
            and lines.in_code(at)
        ):
            starts.append(at)
        at = data.find(name, end)
    return starts


def next_token(data: bytes | bytearray, at: int) -> int:
    """Return the offset of the next token."""
    match = _NEXT.match(data, at)
    return match.end() if match else at


def _take(
    lines: ScannedLines,
    result: Blanked,
    at: int,
    end: int,
    role: str,
    marks: list[tuple[int, int, str]],
    macros: Macros,
) -> None:
    data = lines.data
    if role == BLANK:
        if _specifies(lines, at, end):
            result.erase(at, end)
            result.specifiers[end] = at
    elif role[:1] in (OPENS, CLOSES):
        after = next_token(data, end)
        if data[after : after + 1] == b"(":
            end = max(end, closing_paren(lines, after))
        result.erase(at, end)
        if "$" in role:
            argument = data[after + 1 : end - 1].strip()
            role = role.replace("$", macros.get(argument, VALUE + argument.decode("ascii", "replace"))[1:])
        marks.append((at, end, role))
    else:
        after = next_token(data, end)
        if data[after : after + 1] != b"(":
            return
        end = closing_paren(lines, after)
        if end < 0:
            return
        if role == QUOTES:
            result.data[after + 1 : end - 1] = to_spaces(data[after + 1 : end - 1])
        elif role == PASSES:
            result.erase(at, after + 1)
            result.erase(end - 1, end)
        elif role == TYPE:
            result.erase(after, end)
        elif role == ATTRIBUTE:
            result.erase(at, end)
            result.specifiers[end] = at
        elif _starts(lines, at):
            add_semicolon(result, data, end)


def _specifies(lines: ScannedLines, at: int, end: int) -> bool:
    """True if a word is where a specifier or attribute can be: another file may use the same word as a name."""
    data = lines.data
    before = data[max(0, at - 200) : at].rstrip()
    if not before or not lines.in_code(max(0, at - 200) + len(before) - 1):
        return True
    sign = before[-1]
    if sign == 46 or before.endswith(b"->"):
        return False
    after = next_token(data, end)
    if data[after : after + 1] not in _ENDING:
        return sign not in b"=+-/%|^!?<"
    if sign in _WORD_BYTES:
        word = _LAST_WORD.search(before)
        return word is None or word[0] not in _EXPECTING
    return sign in b")]>*&}"


def _starts(lines: ScannedLines, at: int) -> bool:
    """True if a statement or declaration can start at an offset."""
    before = len(lines.data[max(0, at - 2000) : at].rstrip()) + max(0, at - 2000)
    if before == 0 or not lines.in_code(before - 1):
        return True
    sign = lines.data[before - 1]
    return sign in b";{}:" or (sign == 41 and lines.data.find(b"\n", before, at) >= 0)


def add_semicolon(result: Blanked, data: bytes, end: int) -> bool:
    """Insert the ";" that a declaring macro is used without, if a declaration or a closing brace follows."""
    after = next_token(data, end)
    follows = data[after : after + 1]
    if after > end and (follows.isalpha() or follows in (b"_", b"}", b"#", b"~", b"")) and data[end] in b" \t\r\n":
        result.put(end, b";")
        return True
    return False


def _pair(result: Blanked, marks: list[tuple[int, int, str]]) -> None:
    """Match the macros that open a namespace with those that close it."""
    opened: list[tuple[int, str]] = []
    for start, end, role in sorted(marks):
        if role[:1] == OPENS:
            opened.append((start, role[1:]))
        elif opened:
            first, name = opened.pop()
            if name:
                result.namespaces.append((first, end, name))
