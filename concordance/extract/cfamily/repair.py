"""Repairs what a C-family parser fails on, one small edit at a time, and keeps only the edits that help.

In: a blanked file and its syntax tree with errors. Out: a tree with fewer errors, plus trees for branches of
conditionals that do not fit into a single tree. No macro table explains every macro (many come from headers outside of
the repository) and no grammar knows every construct, so for each error the likely causes are tried in turn, from
common and cheap (one byte) to the last resort (a whole call). Edits never change the length of the text, and an
edit that does not remove its error is undone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from tree_sitter import Parser, Query, Tree

from concordance.extract.cfamily.directives import ConditionalGroup, ScannedLines
from concordance.extract.cfamily.macros import KEYWORDS, MAYBE, Blanked, Macros, closing_paren, next_token, to_spaces
from concordance.extract.reading import trees

# The likely causes of a syntax error. Each returns edits that would fix the error, none if it does not apply.


Edit = tuple[int, int, bytes]  # start, end, replacement
_CONTEXT_BYTES = 2000  # bytes around an error in which to look for its cause
_BRACKET_PAIRS = re.compile(rb"[{}()]")
# Words that may be macros: `API`, `MY_HEAD`, `__declspec`
_CAPITALS = re.compile(rb"\b(?:[A-Z_][A-Z0-9_]{2,}|[A-Za-z]\w*_(?:HEAD|API|EXPORT|INLINE)\w*|__\w+)\b")
_WORDS = re.compile(rb"[A-Za-z_]\w*")
# A macro that gives a type: `PyObject(x) *f`
_TYPE_CALL = re.compile(rb"\b[A-Za-z_]\w*[A-Z]\w*\s*(\([^()]*\))(?=\s*[*\w])")
# An argument that is a built-in type: `va_arg(list, unsigned int)`
_TYPE_ARGUMENT = re.compile(
    rb"[(,]\s*((?:(?:unsigned|signed|long|short|const|volatile|int|char|void|float|double|bool|_Bool|u?int\d+_t|size_t)\b\s*)+\**)"
    rb"(?=\s*[,)])"
)
_EXPLAINED = frozenset((b"NULL", b"TRUE", b"FALSE", b"EOF", b"FILE", b"BOOL", b"DWORD", b"HANDLE"))
# What the grammar does not know, or knows only in simpler places. Blanking it costs no name.
_GAPS = re.compile(
    b"|".join(
        (
            rb"\bextern\s+(?=template\b)",  # an explicit instantiation
            rb"\$\{[^}\n]*\}",  # a placeholder of a template, as the next and the last
            rb"\$\w+",
            rb"__attribute__\s*(?=\(\()",  # attributes, of which the arguments stay as parentheses
            rb"__declspec\s*(?=\()",
            rb"_Pragma\s*(?=\()",
            rb"__pragma\s*(?=\()",
            rb"__extension__",  # qualifiers
            rb"__restrict(?:__)?\b",
            rb"\b_Nullable\b",
            rb"\b_Nonnull\b",
            rb"\[\[[^\]]*\]\]",  # `[[nodiscard]]`
            rb"=\s*(?:delete|default)\b(?=\s*;)",  # `= delete;`
            rb"(?<=[\w>&*])\s*\.\.\.(?=\s*[),>])",  # a parameter pack: `Args...`
            rb"(?<=operator\(\))\s*<[^;{}()]*>",  # `operator()<int>`
            rb"(?<=->)\s*template\b",  # `a->template f<int>()`
            rb"(?<=\.)\s*template\b",
            rb"(?<=\])\s*(?:__(?:host|device)__\s*)+(?=[({])",  # a lambda of CUDA: `[=] __device__ (int i)`
            rb"\balignas\s*(?=\()",
            rb"\b(?:__)?(?:stdcall|cdecl|fastcall|vectorcall)\b",  # calling conventions
            rb"\bco_(?:await|yield)\b",
            rb"\btypename\b",
            rb"[*&]\s*=\s*(?:nullptr|0|NULL)(?=\s*[,>)])",  # a default of a parameter without a name: `T* = nullptr`
            rb"(?<=[.>])~",  # a destructor that is called: `p->~T()`
            rb"->(?=\*)",  # pointers to members: `p->*f`
            rb"\.(?=\*)",
            rb"\bdecltype(?=\s*\([^()]*\)\s*\{)",  # `decltype(x){}`
            rb"(?:\w+(?:<[^<>]*>)?::)+(?=\s*\*)",  # the class of a pointer to a member: `int A<B>::* p`
            rb"(?<=\bif)\s+[A-Z_]\w+\s*(?=\()",  # a macro in a condition: `if CONSTEXPR (x)`
            rb"\b_*asm\s*\{[^}]*\}",  # a block of assembly
            rb"(?<=\))\s*(?:const|noexcept|volatile|&&?)+(?=\s*[>,)])",  # the type of a method: `void() const`
            rb"(?<=[,(])\s*(?:struct|union|enum)(?=\s+\w+\s*\**\s*[,)])",  # `struct node *` as an argument
            rb"(?<=\w)\s*\.\.\.\s*[\w']+(?=\s*:)",  # a range of cases: `case 1 ... 5:`
            rb"\s\.\.\.[^\],;]*(?=\])",  # a range of indices: `[0 ... 9] = x`
            rb"(?<=enum)\s*:\s*[\w:]+(?=\s*\{)",  # the type behind an unnamed enum: `enum : int {`
            rb"\b\w+\s*:\s*\d+\s*;",  # a bit field: `flag : 1;`
            rb"__(?:volatile|signed|const)(?:__)?\b",
            rb"\brequires\s*(?=\()",
            rb"\bnoexcept\s*(?=\()",
            rb"\bexport\b",
            rb"@\w+@",  # a placeholder of CMake
        )
    )
)
# Type words in the arguments of a call, and pointers that end one: `alloc(struct node *, int)`
_TYPES = re.compile(
    rb"\b(?:const|unsigned|signed|struct|enum|union|class|volatile)\b(?=\s+\w)|"
    rb"\b(int|char|float|double|bool|long|short|void|size_t|u?int(?:8|16|32|64)_t|unsigned|auto)\b|[*&]+(?=\s*[,)])"
)
# An operator that is called by its name: `a.operator+(b)`
_NAMED_OPERATOR = re.compile(rb"(?:(?<=[.>;{}\s(])|(?<=return ))operator\s*(\[\]|\(\)|[-+*/=<>!&|]+)(?=\s*\()")
_ATOMIC = re.compile(rb"\b(_Atomic\s*\()[^()]*\)")
# A macro in the place of `struct`: `PACKED_STRUCT(x) name {`
_STRUCT_MACRO = re.compile(rb"\b[A-Z_]*(?:STRUCT|CLASS)[A-Z_]*\([^()]*\)(?=\s+\w+\s+\w*\s*\{)")
# A call that may have types or statements as arguments: `FOR_EACH(`, `va_arg(`
_MACRO_CALL = re.compile(rb"\b([A-Z_][A-Z0-9_]{2,}|[A-Z]\w*_[A-Z0-9_]+|va_arg|offsetof|__builtin_\w+)\s*\(")
# Braces as a default value or an argument: `f(int a = {})`
_DEFAULT_BRACES = re.compile(rb"(=\s*|,\s*|\(\s*)\{([^{}]*)\}(?=\s*[,)])")


class SyntaxErrorSpot:
    """One syntax error: its byte range, its first and last line, and the token that is missing, if any."""

    __slots__ = ("end", "first", "last", "missing", "start")

    def __init__(self, start: int, end: int, first: int, last: int, missing: str) -> None:
        self.start, self.end, self.first, self.last, self.missing = start, end, first, last, missing


class ErrorCauses:
    """A file, with what is needed to look for the causes of errors."""

    def __init__(self, lines: ScannedLines, blanked: Blanked, known: Macros) -> None:
        self.lines = lines
        self.blanked = blanked
        self.maybe = frozenset(name for name, role in known.items() if role == MAYBE)
        self.base = bytes(blanked.data)
        self.code = self._code()
        self.starts = [0, *(m.end() for m in re.finditer(rb"\n", lines.data)), len(lines.data) + 1]
        self.resolved: list[ConditionalGroup] = []  # conditionals for which one branch was chosen

    def _code(self) -> bytes:
        """Return the text without comments, literals and preprocessor lines."""
        code = bytearray(self.base)
        for start, end in (*self.lines.comments, *self.lines.quoted):
            code[start:end] = to_spaces(code[start:end])
        for at in self.blanked.written:  # the original line ends must stay visible
            code[at] = self.lines.data[at]
        return bytes(code)

    def _resolve(self, group: ConditionalGroup, keep: int = 0) -> list[Edit]:
        """Return edits that remove all branches of a group but one."""
        data = self.blanked.data
        stretches = [b for place, b in enumerate(group.branches(len(data))) if place != keep]
        return [(start, end, to_spaces(data[start:end])) for start, end in sorted(stretches)]

    def _window(self, spot: SyntaxErrorSpot, before: int = 1, after: int = 0) -> tuple[int, int]:
        first = max(0, spot.first - before)
        while (
            first > 0 and spot.first - first < 30 and not self.code[self.starts[first] : self.starts[first + 1]].strip()
        ):
            first -= 1
        last = min(spot.last if spot.last - spot.first < 12 else spot.first, len(self.starts) - 2)
        start, end = self.starts[first], self.starts[min(last + 1 + after, len(self.starts) - 1)] - 1
        # A line may be as long as the file: the cost of looking around an error must not grow with it.
        return max(start, spot.start - _CONTEXT_BYTES), min(end, spot.start + _CONTEXT_BYTES)

    def _conditional(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: preprocessor lines in the middle of an expression or a declaration's head."""
        start, end = self._window(spot, 2, 1)
        near = [
            g for g in self.lines.groups
            if g not in self.resolved and not g.guard and any(start <= line.start < end for line in g.lines)
            and g.lines[-1].end - g.lines[0].start < 20_000
        ]  # fmt: skip
        if not near:
            return []
        group = min(near, key=lambda g: min(abs(line.start - spot.start) for line in g.lines))
        self.resolved.append(group)
        return self._resolve(group)

    def _semicolon(self, spot: SyntaxErrorSpot, commas: bool = False) -> list[Edit]:
        """Cause: a macro that ends a declaration or statement without a semicolon."""
        start, end = self._window(spot, 2)
        edits: list[Edit] = []
        end = max(end, self.starts[min(spot.last + 1, spot.first + 40, len(self.starts) - 1)])
        for match in re.finditer(
            rb"^[ \t]*([A-Za-z_]\w*)[ \t]*(\(|$)", self.code[start:end].replace(b"\r", b" "), re.M
        ):
            word = match[1]
            at = start + match.end(1)
            if match[2] == b"(":
                at = closing_paren(self.lines, start + match.end() - 1)
            elif not _CAPITALS.fullmatch(word):
                continue
            if word in KEYWORDS or word.startswith(b"__"):
                continue
            if at < 0 or at >= len(self.code) or self.code[at : at + 1] not in (b" ", b"\n", b"\r", b"\t"):
                continue
            after = self._next_token(at)
            if after.isalpha() or after in (b"_", b"}", b"#", b"~", b"", b"[") or (commas and after in (b'"', b"&")):
                edits.append((at, at + 1, b";"))
        return edits

    def _next_token(self, at: int) -> bytes:
        after = next_token(self.base, at)
        return self.base[after : after + 1]

    def _missing(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: the missing semicolon that the parser reports, which a macro provides."""
        if spot.missing != ";":
            return []
        at = len(self.code[: spot.start].rstrip())
        return [(at, at + 1, b";")] if self.base[at : at + 1] in (b" ", b"\t", b"\r", b"\n") else []

    def _comma(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: a macro that ends in a comma."""
        return [(start, end, b",") for start, end, _ in self._semicolon(spot, commas=True)]

    def _first_specifier(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: one attribute or export macro before a type, which may be in capitals too."""
        return self._specifier(spot)[:1]

    def _specifier(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: attribute or export macros before a type or a name."""
        start, end = self._window(spot)
        edits: list[Edit] = []
        for match in _WORDS.finditer(self.code, start, end):
            if match[0] not in self.maybe and not _CAPITALS.fullmatch(match[0]):
                continue
            at, stop = match.span()
            if match[0] in _EXPLAINED or self.code[stop : stop + 2] == b"::":
                continue
            after = next_token(self.base, stop)
            if self.code[after : after + 1] == b"(":
                inner = closing_paren(self.lines, after)
                behind = next_token(self.base, inner) if inner > 0 else len(self.code)
                if self.code[behind : behind + 1].isalpha() or self.code[behind : behind + 1] == b"_":
                    edits.append((at, inner, to_spaces(self.code[at:inner])))
            elif (
                self.code[after : after + 1].isalpha()
                or self.code[after : after + 1] in (b"_", b"~", b"[")
                or (
                    match[0] in self.maybe
                    or (match[0].startswith(b"__") and self.code[after : after + 1] in (b"*", b"=", b";", b",", b")"))
                )
            ):
                edits.append((at, stop, b" " * (stop - at)))
        return edits

    def _gap(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: a construct that the grammar does not know."""
        start, end = self._window(spot, 1, 1)
        edits: list[Edit] = []
        for match in _GAPS.finditer(self.code, start, end):
            at, stop = match.span()
            after = next_token(self.base, stop)
            if (
                self.code[after : after + 1] == b"("
                and match[0].rstrip().endswith((b"_", b"c", b"a", b"s", b"t"))
                and match[0][:1] != b"$"
            ):
                stop = max(stop, closing_paren(self.lines, after))
            edits.append((at, stop, to_spaces(self.code[at:stop])))
        for match in _DEFAULT_BRACES.finditer(self.code, start, end):
            at, stop = match.end(1), match.end()
            inner = match[2].strip()
            what = b"(" + self.base[at + 1 : stop - 1] + b")" if inner else b"0" + b" " * (stop - at - 1)
            edits.append((at, stop, what))
        edits += [(*m.span(1), b"_" * len(m[1])) for m in _NAMED_OPERATOR.finditer(self.code, start, end)]
        for match in _ATOMIC.finditer(self.code, start, end):
            edits.append((match.start(), match.end(1), to_spaces(self.code[match.start() : match.end(1)])))
            edits.append((match.end() - 1, match.end(), b" "))
        edits += [(*m.span(), b"struct" + to_spaces(m[0][6:])) for m in _STRUCT_MACRO.finditer(self.code, start, end)]
        return edits

    def _type_call(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: a macro with arguments that expands to a type; without its arguments it parses as one."""
        start, end = self._window(spot, 1, 1)
        return [(*m.span(1), to_spaces(m[1])) for m in _TYPE_CALL.finditer(self.code, start, end)]

    def _whole_call(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: like `_call`, but its semicolon goes too, because C has no empty declarations."""
        edits = []
        for at, _, stop in self._calls(spot):
            behind = next_token(self.base, stop)
            end = behind + 1 if self.base[behind : behind + 1] == b";" else stop
            edits.append((at, end, to_spaces(self.code[at:end])))
        return edits

    def _calls(self, spot: SyntaxErrorSpot) -> list[tuple[int, int, int]]:
        """Return macro calls around an error: where the name starts, where the bracket opens, and where it ends."""
        start, end = self._window(spot, 1, 1)
        calls: list[tuple[int, int, int]] = []
        for match in _MACRO_CALL.finditer(self.code, start, end):
            stop = closing_paren(self.lines, match.end() - 1)
            if stop > 0 and not (calls and match.start() < calls[-1][2]):
                calls.append((match.start(), match.end() - 1, stop))
        around = self._enclosing_call(spot.start)
        return [around, *(f for f in calls if f[1] > around[2] or f[2] <= around[0])] if around else calls

    def _enclosing_call(self, at: int) -> tuple[int, int, int] | None:
        """Return the innermost macro call around an offset, even if it starts further up."""
        depth = 0
        first = max(0, at - 4000)
        for match in reversed(list(_BRACKET_PAIRS.finditer(self.code, first, at))):
            sign = match[0]
            depth += sign in b")}"
            depth -= sign in b"({"
            if depth < 0:
                depth = 0
                if sign == b"{":
                    return None
                head = self.code[max(0, match.start() - 80) : match.end()]
                named = [m for m in _MACRO_CALL.finditer(head) if m.end() == len(head)]
                stop = closing_paren(self.lines, match.start())
                if named and stop > at:
                    return match.end() - len(head) + named[0].start(), match.start(), stop
        return None

    def _types(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: types among the arguments of a macro call, which are disguised as names."""
        edits: list[Edit] = []
        for _, opening, stop in self._calls(spot):
            for match in _TYPES.finditer(self.code, opening, stop):
                word = match[0]
                edits.append((*match.span(), word[:-1] + b"_" if match[1] else b" " * len(word)))
        return edits

    def _type_arguments(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: a macro used as a statement, whose name does not look like a macro's."""
        start, end = self._window(spot, 1, 1)
        return [
            (*m.span(1), b"0" + to_spaces(m[1][1:])) for m in _TYPE_ARGUMENT.finditer(self.code, start, end)
        ]  # fmt: skip

    def _arguments(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: macro arguments that are not expressions."""
        return [(at + 1, stop - 1, to_spaces(self.code[at + 1 : stop - 1])) for _, at, stop in self._calls(spot)]

    def _call(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: a macro call where the grammar does not allow one, such as among enumerators."""
        return [(at, stop, to_spaces(self.code[at:stop])) for at, _, stop in self._calls(spot)]

    def _statement(self, spot: SyntaxErrorSpot) -> list[Edit]:
        """Cause: a macro call together with what follows it up to the semicolon."""
        start, end = self._window(spot, 0)
        match = re.search(rb"^[ \t]*([A-Z_][A-Z0-9_]{2,})\s*(\(|)", self.code[start:end], re.M)
        if match is None:
            return []
        at = start + match.start(1)
        stop = self.code.find(b";", at)
        if stop < 0 or stop - at > 400 or b"{" in self.code[at:stop] or b"}" in self.code[at:stop]:
            return []
        return [(at, stop, to_spaces(self.code[at:stop]))]


CAUSES: tuple[Callable[[ErrorCauses, SyntaxErrorSpot], list[Edit]], ...] = (
    ErrorCauses._semicolon,
    ErrorCauses._first_specifier,
    ErrorCauses._specifier,
    ErrorCauses._gap,
    ErrorCauses._missing,
    ErrorCauses._conditional,
    ErrorCauses._types,
    ErrorCauses._type_call,
    ErrorCauses._type_arguments,
    ErrorCauses._comma,
    ErrorCauses._arguments,
    ErrorCauses._call,
    ErrorCauses._whole_call,
    ErrorCauses._statement,
)


# Applying the edits.


_WORD = re.compile(rb"[A-Za-z_]\w*")
_ROUNDS = 8
_MAX_ERROR_LINES = 60  # lines; a longer error says nothing about its cause
_BRACKETS = re.compile(rb"[{}()]")


@dataclass(slots=True)
class ParsedVersion:
    """A tree, and the ranges of the file that it is used for; if there are none, the whole file."""

    tree: Tree
    stretches: list[tuple[int, int]] = field(default_factory=list)

    def speaks_for(self, at: int) -> bool:
        """True if this tree is the one to use at an offset."""
        return not self.stretches or any(start <= at < end for start, end in self.stretches)


class Repair(ErrorCauses):
    """The repair of one file."""

    def __init__(self, lines: ScannedLines, blanked: Blanked, parser: Parser, errors: Query, known: Macros) -> None:
        super().__init__(lines, blanked, known)
        self.parser = parser
        self.errors = errors
        self.cost = 0.0
        self.kept: list[Edit] = []  # the edits in effect, each with the original text

    def run(self, tree: Tree) -> list[ParsedVersion]:
        """Repair the file, and return the trees to read, the main one first."""
        tree = self._split_groups(tree)
        spots, cost = self._spots(tree)
        tried: set[tuple[str, int]] = set()
        rounds = _ROUNDS if len(self.base) < 1_000_000 and len(spots) < 1000 else 3
        while spots and rounds:
            rounds -= 1
            edits = self._propose(spots, tried)
            if not edits:
                break
            before = [(start, end, bytes(self.blanked.data[start:end])) for _, (start, end, _) in edits]
            for _, edit in edits:
                self._apply(edit)
            mended = self._parse()
            left, now = self._spots(mended)
            rows = {row for s in left if s.last - s.first < _MAX_ERROR_LINES for row in range(s.first, s.last + 1)}
            failed = [place for place, (row, _) in enumerate(edits) if row in rows]
            if now >= cost:
                failed = list(range(len(edits)))
            for place in reversed(failed):
                self._apply(before[place])
            if len(failed) == len(edits):
                continue  # the text is what it was, and so are its tree and errors
            if failed:
                mended = self._parse()
                left, now = self._spots(mended)
            undone = set(failed)
            self.kept += [row for place, row in enumerate(before) if place not in undone]
            tree, spots, cost = mended, left, now
        self.cost = cost
        self._account()
        return [ParsedVersion(tree), *self._alternatives()]

    # --- errors

    def _parse(self) -> Tree:
        return self.parser.parse(bytes(self.blanked.data))

    def _row(self, at: int) -> int:
        return bisect_right(self.starts, at) - 1

    def _spots(self, tree: Tree) -> tuple[list[SyntaxErrorSpot], float]:
        """Return the errors of a tree, without very long ones if there are others, and how bad they are in total."""
        if not tree.root_node.has_error:
            return [], 0.0
        captures = trees.captures(self.errors, tree.root_node)
        spots = [
            SyntaxErrorSpot(
                n.start_byte, n.end_byte, self._row(n.start_byte), self._row(n.end_byte), n.type * n.is_missing
            )
            for capture in ("error", "missing")
            for n in captures.get(capture, ())
        ]
        spots.sort(key=lambda s: (s.start, -s.end))
        cost, reached = 0.0, -1
        for spot in spots:
            if spot.start >= reached:
                reached = spot.end
                cost += 1 + (spot.end - spot.start) / 200
            else:
                cost += 0.1
        inner = [s for s in spots if s.last - s.first < _MAX_ERROR_LINES]
        return inner or spots, cost

    def _apply(self, edit: Edit) -> None:
        start, end, what = edit
        self.blanked.data[start:end] = what

    # --- conditionals

    def _split_groups(self, tree: Tree) -> Tree:
        """Choose one branch of every group whose branches have unbalanced brackets, if that reduces the errors."""
        size = len(self.base)
        chosen = [
            g for g in self.lines.groups
            if not g.guard and any(not self._balanced(start, end) for start, end in g.branches(size))
        ]  # fmt: skip
        if not chosen:
            return tree
        before = bytes(self.blanked.data)
        _, cost = self._spots(tree)
        for group in chosen:
            for edit in self._resolve(group):
                self._apply(edit)
        mended = self._parse()
        if self._spots(mended)[1] < cost:
            self.resolved += chosen
            return mended
        self.blanked.data[:] = before
        return tree

    def _balanced(self, start: int, end: int) -> bool:
        depth = {40: 0, 123: 0}
        for match in _BRACKETS.finditer(self.code, start, end):
            sign = match[0][0]
            if sign in depth:
                depth[sign] += 1
            else:
                depth[sign - 1 if sign == 41 else sign - 2] -= 1
                if min(depth.values()) < 0:
                    return False
        return not any(depth.values())

    def _hides(self, group: ConditionalGroup) -> bool:
        """True if the main tree lacks branches of a group; the choice of a branch may have been undone."""
        return any(
            self.base[start:end].strip() and not self.blanked.data[start:end].strip()
            for start, end in group.branches(len(self.base))[1:]
        )

    def _alternatives(self) -> list[ParsedVersion]:
        """Return trees for the branches that the main tree lacks."""
        size = len(self.base)
        branched = [g for g in self.resolved if self._hides(g)]
        versions = []
        for keep in range(1, max((len(g.branches(size)) for g in branched), default=1)):
            data = bytearray(self.blanked.data)
            shown: list[tuple[int, int]] = []
            for group in branched:
                branches = group.branches(size)
                if keep < len(branches) and not any(a <= branches[0][0] < b for a, b in shown):
                    start, end = branches[0]
                    data[start:end] = to_spaces(data[start:end])
                    start, end = branches[keep]
                    data[start:end] = self.base[start:end]
                    shown.append((start, end))
            versions.append(ParsedVersion(self.parser.parse(bytes(data)), shown))
        return versions

    # --- proposing edits

    def _propose(self, spots: list[SyntaxErrorSpot], tried: set[tuple[str, int]]) -> list[tuple[int, Edit]]:
        edits: list[tuple[int, Edit]] = []
        taken: set[int] = set()
        for spot in spots:
            for step in CAUSES:
                key = (step.__name__, spot.first)
                if key in tried:
                    continue
                fixes = [e for e in step(self, spot) if self.blanked.data[e[0] : e[1]] != e[2]]
                if any(not taken.isdisjoint(range(start, end)) for start, end, _ in fixes):
                    break  # another error's edit may help here too; if not, try again in the next round
                tried.add(key)
                if fixes:
                    edits += [(spot.first, edit) for edit in fixes]
                    taken.update(at for start, end, _ in fixes for at in range(start, end))
                    break
        return edits

    def _account(self) -> None:
        """Record what the kept edits removed."""
        for start, end, before in self.kept:
            after = self.blanked.data[start:end]
            self.blanked.size += sum(a != b for a, b in zip(before, after, strict=True))
            if after.endswith(b"_") and not before.endswith(b"_"):
                self.blanked.masked.append(start)
            if not after.strip():
                self.blanked.taken.append((start, end))
                if _WORD.fullmatch(before):
                    self.blanked.specifiers[end] = start
