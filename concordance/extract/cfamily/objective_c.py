"""Objective-C for a C++ parser: reads what only Objective-C has, and rewrites it to look like C++.

In: a blanked file and its scanned lines. Out: definitions of classes, protocols, methods and properties, the selectors
of messages, and a buffer of the same length in which `[receiver keep:value]` reads `(receiver     ,value)`. No grammar
knows Objective-C and C++ together, and most .mm files contain both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from concordance.base.model import Kind, Parameter, Role
from concordance.extract.cfamily.directives import ScannedLines
from concordance.extract.cfamily.macros import KEYWORDS, Blanked, to_spaces
from concordance.extract.reading.draft import ROLE_CODES, Definition, Draft
from concordance.extract.reading.trees import one_line

_TOKEN = re.compile(rb"[A-Za-z_]\w*|\"+|[0-9][\w.]*|->|::|[^\s\w]")
_NAME = re.compile(rb"[A-Za-z_]\w*")
# `@interface Name (Category) : Base <Protocol>`
_HEAD = re.compile(
    rb"@(interface|implementation|protocol)\s+([A-Za-z_]\w*)\s*(?:\(\s*(\w*)\s*\))?\s*(?::\s*([A-Za-z_]\w*))?\s*(<[^>{};]*>)?"
)
_METHOD = re.compile(rb"^[ \t]*([-+])[ \t]*(?=[(A-Za-z_])", re.M)
# One part of a method's selector, with type and name of its parameter: `with:(int)count`
_PART = re.compile(
    rb"([A-Za-z_]\w*)?\s*:\s*(?:\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\))?\s*(?:__unused\s+)?([A-Za-z_]\w*)"
)
# The type that a method returns, in parentheses
_RETURNS = re.compile(rb"\s*\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")
_PROPERTY = re.compile(rb"@property\s*(\([^()]*(?:\([^()]*\)[^()]*)*\))?([^;]*);")
_FORWARD = re.compile(rb"@(class|protocol)\s+([\w\s,]+);")
# Words after `@` that are blanked for the C++ parser, with what belongs to them
_LINE_WORDS = re.compile(
    rb"@(?:end|optional|required|public|private|protected|package|autoreleasepool|finally)\b|@(?:synthesize|dynamic|import|compatibility_alias)\b[^;]*;?"
)
# `@selector(…)` and similar, and empty literals
_VALUES = re.compile(rb"@(?:selector|encode|protocol|available)\s*\(((?:[^()]|\([^()]*\))*)\)|@(?:\[\s*\]|\{\s*\})")
# Qualifiers and macros that a C++ parser does not know
_QUALIFIERS = re.compile(
    rb"\b(?:__weak|__strong|__block|__bridge(?:_transfer|_retained)?|__unsafe_unretained|__autoreleasing|__kindof|_Nullable|"
    rb"_Nonnull|__nullable|__nonnull|_Null_unspecified|IBOutlet|IBAction|NS_ASSUME_NONNULL_(?:BEGIN|END)|"
    rb"NS_(?:DESIGNATED_INITIALIZER|REQUIRES_SUPER|UNAVAILABLE))\b"
)
_ENUM = re.compile(rb"\btypedef(\s+NS_(?:ENUM|OPTIONS|CLOSED_ENUM)\s*\(\s*[\w ]+,\s*)\w+\s*(\))")
_EACH = re.compile(rb"\bfor\s*\([^;()]*\s(in)\s")
_KEEPS = {b"@try": b" try", b"@catch": b" catch", b"@throw": b" throw", b"@synchronized": b"if           "}
_WORDY = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")


@dataclass(slots=True)
class Objects:
    """What Objective-C adds to a file."""

    definitions: list[Definition] = field(default_factory=list)
    names: list[tuple[int, int, Role]] = field(default_factory=list)
    members: list[int] = field(default_factory=list)
    bound: list[int] = field(default_factory=list)
    scopes: list[tuple[int, int, str]] = field(default_factory=list)

    def state(self, draft: Draft, lines: ScannedLines) -> None:
        """Add everything to a draft."""
        for definition in self.definitions:
            definition.condition = lines.condition(definition.at)
        draft.definitions.extend(self.definitions)
        for start, end, role in self.names:
            draft.ends[start] = end
            draft.roles[start] = ROLE_CODES[role]
        draft.members.update(self.members)
        draft.bound.update(self.bound)
        draft.scopes.extend(self.scopes)


class Transformer:
    """Rewrites one file."""

    def __init__(self, lines: ScannedLines, blanked: Blanked) -> None:
        self.lines = lines
        self.data = blanked.data
        self.objects = Objects()
        code = bytearray(blanked.data)
        for start, end in lines.comments:
            code[start:end] = to_spaces(code[start:end])
        for start, end in lines.quoted:
            code[start:end] = bytes(c if c in b"\r\n" else 34 for c in code[start:end])
        for line in lines.directives:
            code[line.start : line.end] = to_spaces(code[line.start : line.end])
        self.code = bytes(code)

    def run(self) -> Objects:
        """Rewrite the file, and return what was found."""
        self._containers()
        for match in _FORWARD.finditer(self.code):
            self._forward(match)
        for match in _LINE_WORDS.finditer(self.code):
            self._blank(*match.span())
        for match in _VALUES.finditer(self.code):
            self._value(match)
        for match in _QUALIFIERS.finditer(self.code):
            self._blank(*match.span())
        for match in _ENUM.finditer(self.code):
            self.data[match.start() : match.end(1)] = b"enum" + to_spaces(self.code[match.start() + 4 : match.end(1)])
            self.data[match.start(2) : match.end(2)] = b" "
        for match in _EACH.finditer(self.code):
            self.data[match.start(1) : match.end(1)] = b": "
        for word, instead in _KEEPS.items():
            for match in re.finditer(word + rb"\b", self.code):
                self.data[match.start() : match.end()] = instead
        self._brackets()
        return self.objects

    def _blank(self, start: int, end: int) -> None:
        self.data[start:end] = to_spaces(self.data[start:end])

    def _text(self, start: int, end: int) -> str:
        return one_line(self.lines.data[start:end].decode("utf-8", "replace"))

    # --- classes, protocols and their members

    def _containers(self) -> None:
        for match in _HEAD.finditer(self.code):
            word = match[1]
            stop = self.code.find(b"@end", match.end())
            semicolon = _FORWARD.match(self.code, match.start())
            if semicolon or stop < 0:
                continue
            bases = [match[4]] if match[4] else []
            bases += [p.strip() for p in (match[5] or b"<>")[1:-1].split(b",") if p.strip()]
            head = self._text(*match.span())
            owner = Definition(
                Kind.INTERFACE if word == b"protocol" else Kind.CLASS, match[2].decode(), match.start(2), match.start(),
                stop + 4, signature=head, bases=tuple(base.decode() for base in bases), nests=False,
            )  # fmt: skip
            self.objects.definitions.append(owner)
            for group in (4, 5):
                if match[group]:
                    for name in _NAME.finditer(self.code, match.start(group), match.end(group)):
                        self.objects.names.append((name.start(), name.end(), Role.INHERIT))
            self._blank(*match.span())
            members = len(self.objects.definitions)
            at = self._fields(match.end(), stop)
            self._properties(at, stop)
            self._methods(at, stop)
            for member in self.objects.definitions[members:]:
                member.owner = owner  # anything else between @implementation and @end does not belong to the class

    def _fields(self, at: int, stop: int) -> int:
        """Record instance variables in braces after a class's head; return where they end."""
        opening = re.compile(rb"\s*\{").match(self.code, at, stop)
        if opening is None:
            return at
        end = self._matching(opening.end() - 1, stop)
        for match in re.finditer(
            rb"[^;{}]*?([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?(?::\s*\d+\s*)?;", self.code[opening.end() : end]
        ):
            start = opening.end() + match.start(1)
            whole = opening.end() + match.start() + len(match[0]) - len(match[0].lstrip())
            self.objects.definitions.append(Definition(
                Kind.FIELD, match[1].decode(), start, whole, opening.end() + match.end(),
                signature=self._text(whole, opening.end() + match.end() - 1),
            ))  # fmt: skip
        self._blank(opening.start(), end)
        return end

    def _matching(self, at: int, stop: int) -> int:
        depth = 0
        for match in re.finditer(rb"[{}]", self.code[at:stop]):
            depth += 1 if match[0] == b"{" else -1
            if depth == 0:
                return at + match.end()
        return stop

    def _properties(self, at: int, stop: int) -> None:
        for match in _PROPERTY.finditer(self.code, at, stop):
            block = re.search(rb"\(\s*\^\s*(\w+)\s*\)", match[2])
            words = list(_NAME.finditer(re.sub(rb"\b(?:NS|API)_\w+(?:\([^()]*\))?\s*$", b"", match[2])))
            if not words:
                continue
            name = block[1] if block else words[-1][0]
            start = match.start(2) + (block.start(1) if block else words[-1].start())
            self.objects.definitions.append(Definition(
                Kind.PROPERTY, name.decode(), start, match.start(), match.end(),
                signature=self._text(match.start(), match.end() - 1),
                modifiers=tuple(w.strip().decode() for w in (match[1] or b"()")[1:-1].split(b",") if w.strip()),
            ))  # fmt: skip
            for word in words[:-1]:
                if word[0] not in KEYWORDS:
                    self.objects.names.append((match.start(2) + word.start(), match.start(2) + word.end(), Role.TYPE))
            self._blank(*match.span())

    def _methods(self, at: int, stop: int) -> None:
        reached = at
        for match in _METHOD.finditer(self.code, at, stop):
            if match.start() < reached:
                continue
            semicolon, brace = self.code.find(b";", match.end(), stop), self.code.find(b"{", match.end(), stop)
            declared = brace < 0 or 0 <= semicolon < brace
            head = semicolon if declared else brace
            if head < 0:
                continue
            end = semicolon + 1 if declared else self._matching(brace, stop)
            self._method(match.start(1), match.end(), head, end, declared)
            reached = end

    def _method(self, start: int, at: int, head: int, end: int, declared: bool) -> None:
        code = self.code
        returned = _RETURNS.match(code, at, head)
        first = returned.end() if returned else at
        parts = list(_PART.finditer(code, first, head))
        parameters = []
        spans = []
        for part in parts:
            if part[1]:
                spans.append(part.span(1))
            parameters.append(Parameter(part[3].decode(), "", one_line((part[2] or b"").decode("utf-8", "replace"))))
            self.objects.names.append((*part.span(3), Role.WRITE))
            self.objects.bound.append(part.start(3))
            if part[2]:
                self._types(*part.span(2))
        if not parts:
            only = _NAME.search(code, first, head)
            if only is None:
                return
            spans.append(only.span())
        name = "".join(f"{(p[1] or b'').decode()}:" for p in parts) or code[spans[0][0] : spans[0][1]].decode()
        if returned:
            self._types(*returned.span(1))
        whole = spans[0][0] if spans else first
        self.objects.definitions.append(Definition(
            Kind.METHOD, name, whole, start, end, signature=self._text(start, head), declaration=declared,
            modifiers=("static",) if code[start] == 43 else (), parameters=tuple(parameters),
            returns=one_line(returned[1].decode("utf-8", "replace")) if returned else "", occurs=not parts,
            opens=(first, end),
        ))  # fmt: skip
        for span in spans:
            self.objects.names.append((*span, Role.DECLARE if declared else Role.DEFINE))
            self.objects.members.append(span[0])
        self._blank(start, head + 1 if declared else head)

    def _types(self, start: int, end: int) -> None:
        for word in _NAME.finditer(self.code, start, end):
            if word[0] not in KEYWORDS:
                self.objects.names.append((word.start(), word.end(), Role.TYPE))

    def _forward(self, match: re.Match[bytes]) -> None:
        kind = Kind.CLASS if match[1] == b"class" else Kind.INTERFACE
        for name in _NAME.finditer(self.code, match.start(2), match.end(2)):
            self.objects.definitions.append(Definition(
                kind, name[0].decode(), name.start(), name.start(), name.end(),
                signature=f"@{match[1].decode()} {name[0].decode()}", declaration=True,
            ))  # fmt: skip
        self._blank(*match.span())

    # --- expressions

    def _value(self, match: re.Match[bytes]) -> None:
        self._blank(*match.span())
        self.data[match.start() : match.start() + 1] = b"0"
        if match[0].startswith((b"@selector", b"@protocol")):
            for word in _NAME.finditer(self.code, match.start(1), match.end(1)):
                self.objects.names.append((word.start(), word.end(), Role.MENTION))
                self.objects.members.append(word.start())

    def _brackets(self) -> None:
        """Rewrite messages, literals and blocks in one pass over the tokens."""
        code = self.code
        tokens = [(m.start(), m.end()) for m in _TOKEN.finditer(code)]
        # Brackets that are open: their token, the tokens directly inside, and the "@" of a literal.
        opened: list[tuple[int, list[int], bytes]] = [(-1, [], b"")]
        for place, (start, _end) in enumerate(tokens):
            sign = code[start]
            if sign == 94 and self.data[start] == 94:  # "^", unless it has been blanked
                self._block(tokens, place)
            before = code[tokens[place - 1][0]] if place else 0
            if sign == 64:  # "@"
                self.data[start : start + 1] = (
                    b" " if self.data[start : start + 1] == b"@" else self.data[start : start + 1]
                )
                continue
            if sign in b"[({":
                opened[-1][1].append(place)
                literal = b"@" if before == 64 and sign in b"[{" else b""
                opened.append((place, [], literal))
            elif sign in b"])}" and len(opened) > 1:
                first, inside, literal = opened.pop()
                opens_with = code[tokens[first][0]]
                if self.data[tokens[first][0]] != opens_with:
                    continue
                if literal:
                    self._literal(tokens, first, place, inside)
                elif opens_with == 91:
                    self._message(tokens, first, place, inside)
            else:
                opened[-1][1].append(place)

    def _literal(self, tokens: list[tuple[int, int]], first: int, last: int, inside: list[int]) -> None:
        if not inside:
            return
        self.data[tokens[first][0] : tokens[first][1]] = b"("
        self.data[tokens[last][0] : tokens[last][1]] = b")"
        asked = 0
        for place in inside:
            start, end = tokens[place]
            sign = self.code[start:end]
            asked += sign == b"?"
            if sign == b":":
                if asked:
                    asked -= 1
                else:
                    self.data[start:end] = b","
        if self.code[tokens[inside[-1]][0]] == 44:  # a trailing comma
            self._blank(*tokens[inside[-1]])

    def _operand(self, token: tuple[int, int]) -> bool:
        sign = self.code[token[0]]
        return sign in _WORDY or sign in b'"[({' or 48 <= sign <= 57

    def _message(self, tokens: list[tuple[int, int]], first: int, last: int, inside: list[int]) -> None:
        code = self.code
        parts: list[int] = []  # indices in `inside`
        for place in range(1, len(inside)):
            start, end = tokens[inside[place]]
            word = code[start:end]
            if code[start] not in _WORDY or (word in KEYWORDS and word not in (b"class", b"new", b"delete", b"retain")):
                continue
            generic = code[tokens[inside[place - 1]][0]] == 62 and place > 3 and code[tokens[inside[1]][0]] == 60
            if not generic and not self._operand(tokens[inside[place - 1]]):
                continue
            if generic:
                self._blank(tokens[inside[1]][0], tokens[inside[place - 1]][1])
            colon = place + 1 < len(inside) and code[tokens[inside[place + 1]][0]] == 58
            if colon or not parts or code[tokens[inside[parts[-1]] + 1][0]] != 58:
                if parts and not (parts and code[tokens[inside[parts[-1]] + 1][0]] == 58):
                    parts.pop()  # what looked like the selector was the receiver after a cast
                parts.append(place)
        if not parts:
            return
        self.data[tokens[first][0] : tokens[first][1]] = b"("
        self.data[tokens[last][0] : tokens[last][1]] = b")"
        for part in parts:
            start, end = tokens[inside[part]]
            self.objects.names.append((start, end, Role.CALL))
            self.objects.members.append(start)
            self._blank(start, end)
            following = tokens[inside[part] + 1]
            if code[following[0]] == 58:
                if code[following[1] : following[1] + 2] == b"^{":
                    self.data[following[0] - 1 : following[0]] = b","
                else:
                    self.data[following[0] : following[1]] = b","

    def _block(self, tokens: list[tuple[int, int]], place: int) -> None:
        """Rewrite `^(int x) {` to `[]       {`, and a block type `(^name)` to a pointer's."""
        code = self.code
        start = tokens[place][0]
        before = code[tokens[place - 1][0]] if place else 0
        after = code[tokens[place + 1][0]] if place + 1 < len(tokens) else 0
        if before == 40 and (after in _WORDY or after == 41):
            self.data[start : start + 1] = b"*"
            return
        if self._is_operand_before(tokens, place):
            return
        end = start + 1
        first = place + 1
        while after != 40 and first < min(len(tokens), place + 12) and (after in _WORDY or after in b"*&<>:,"):
            first += 1  # the block's return type
            after = code[tokens[first][0]] if first < len(tokens) else 0
        if after == 40:
            depth = 0
            for further in range(first, min(len(tokens), place + 400)):
                depth += (code[tokens[further][0]] == 40) - (code[tokens[further][0]] == 41)
                if depth == 0:
                    end = tokens[further][1]
                    break
            for word in _NAME.finditer(code, start + 1, end):
                if word[0] not in KEYWORDS:
                    last = code[word.end() : word.end() + 1] in (b",", b")")
                    self.objects.names.append((*word.span(), Role.WRITE if last else Role.TYPE))
                    if last:
                        self.objects.bound.append(word.start())
            self._blank(start, end)
            self.data[start : start + 2] = b"[]"
        elif after == 123 and first == place + 1 and start and code[start - 1 : start] in (b" ", b":", b"\t"):
            self.data[start - 1 : start + 1] = b"[]"

    def _is_operand_before(self, tokens: list[tuple[int, int]], place: int) -> bool:
        if place == 0:
            return False
        start, end = tokens[place - 1]
        word = self.code[start:end]
        return (word[:1].isalnum() or word[:1] in (b"_", b")", b"]", b'"')) and word not in KEYWORDS
