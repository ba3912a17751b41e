"""Builds flow expressions for C-family code from the offset where an expression ends.

In: offsets, and the expressions of the names that end there. Out: expression numbers, 0 if unknown. A syntax tree would
give the same at a higher cost: what precedes a "." is a name, a call with known brackets, a subscript, a cast or
`this`, and its last byte says which.
"""

from __future__ import annotations

import re

from concordance.base.model import Op
from concordance.extract.reading.flow import FlowBuilder

NAME, MEMBER, CALL, ITEM, EACH, PART = (int(op) for op in (Op.NAME, Op.MEMBER, Op.CALL, Op.ITEM, Op.EACH, Op.PART))
OF_TYPE, PAIR, LOOKUP = int(Op.OF_TYPE), int(Op.PAIR), int(Op.LOOKUP)
CASTS = frozenset(("static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"))
_WORDY = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_SPACE = frozenset(b" \t\r\n")
_STARTS = re.compile(rb"(?:\s|[*&]|\bnew\b|\bco_await\b)*")
_WORD = re.compile(rb"(?:::)?[A-Za-z_]\w*")
_JOINT = re.compile(rb"\s*(?:\.|->|::)\s*(?:template\s+)?~?[A-Za-z_]\w*")
_STOPS = frozenset(b";),:}]{")
_CAST = re.compile(rb"\(\s*(?:const\s+)?(?:struct\s+)?[A-Za-z_][\w:<>, ]*[\s*&]*\)")
_TYPE_QUALIFIERS = (b"const", b"volatile", b"__restrict__", b"__restrict", b"restrict")
_OPERAND = re.compile(rb"\s*[A-Za-z_0-9(\"'*&~!]")
_FARTHEST = 2000  # most bytes to search for a matching bracket
_DEEPEST = 40


class Calls:
    """The calls of a file: their brackets and numbers of arguments."""

    def __init__(self, data: bytes, lists: list[tuple[int, int, int]]) -> None:
        """`lists`: start, end and number of arguments of each bracketed argument list."""
        self.data = data
        self.ends: dict[int, int] = {}  # end of the brackets, by their start
        self.callee: dict[int, tuple[int, int]] = {}  # by a call's end: where its callee ends, number of arguments
        self.counts: dict[int, int] = {}  # number of arguments, by where the callee's name ends
        self.behind: dict[int, int] = {}  # end of the template arguments, by where the callee's name ends
        for start, end, count in lists:
            at = start
            while at and data[at - 1] in _SPACE:
                at -= 1
            self.ends[start] = end
            self.callee[end] = (at, count)
            if at and data[at - 1] == 62:  # ">"
                launch = data.rfind(b"<<<", max(0, at - _FARTHEST), at) if data.endswith(b">>>", 0, at) else -1
                named = at if launch < 0 or b";" in data[launch:at] else launch  # `>>>` also ends nested templates
                if named > 0 and data[named - 1] == 62:
                    named = opening_bracket(data, named, 60, 62)
                self.behind[named] = at
                at = named
            self.counts[at] = count


def strip_qualifiers(text: bytes) -> bytes:
    """Return the text before a declared name without qualifiers such as `const`, `*` and `&`."""
    text = text.rstrip(b" *&\n\t\r.")
    while text and text[-1] in b"tet_/":
        for word in _TYPE_QUALIFIERS:
            if text.endswith(word):
                text = text[: -len(word)].rstrip(b" *&\n\t\r.")
                break
        else:
            if not text.endswith(b"*/") or (start := text.rfind(b"/*")) < 0:
                break
            text = text[:start].rstrip(b" *&\n\t\r.")
    return text


def opening_bracket(data: bytes, end: int, left: int, right: int) -> int:
    """Return the offset of the bracket whose partner ends at an offset; -1 if there is none."""
    at = data.rfind(left, max(0, end - _FARTHEST), end)
    if at < 0 or data.find(right, at, end - 1) < 0:
        return at
    depth = 0
    for at in range(end - 1, max(-1, end - _FARTHEST), -1):
        sign = data[at]
        if sign == right:
            if right == 62 and data[at - 1] == 45:  # "->"
                continue
            depth += 1
        elif sign == left:
            depth -= 1
            if not depth:
                return at
        elif sign == 59 and right == 62:  # ";"
            return -1
    return -1


def closing_bracket(data: bytes, start: int, left: int, right: int) -> int:
    """Return the offset after the bracket that closes the one at an offset; -1 if there is none."""
    at = data.find(right, start, start + _FARTHEST)
    if at < 0 or data.find(left, start + 1, at) < 0:
        return at + 1 if at >= 0 else -1
    depth = 0
    for at in range(start, min(len(data), start + _FARTHEST)):
        sign = data[at]
        if sign == left:
            depth += 1
        elif sign == right:
            depth -= 1
            if not depth:
                return at + 1
    return -1


class CExpressions:
    """Builds the expressions of one file."""

    def __init__(self, builder: FlowBuilder, data: bytes, calls: Calls) -> None:
        self.builder, self.data, self.calls = builder, data, calls
        self.expression = builder.expression
        self.depth = 0
        self.kept: dict[int, int] = {}  # types, by where they end
        self.heads: dict[int, int] = {}  # index of the name that each of these types begins with

    # --- values ------------------------------------------------------------------------------

    def ending(self, end: int, scope: int) -> int:
        """Return the value of the expression that ends at an offset; `scope` is the one for `this`."""
        data = self.data
        while end and data[end - 1] in _SPACE:
            end -= 1
        if not end or self.depth > _DEEPEST:
            return 0
        sign = data[end - 1]
        if sign in _WORDY:
            place = self.builder.by_end.get(end)
            if place is not None:
                return self.builder.use[place] if place < len(self.builder.use) else 0
            if data[end - 4 : end] == b"this":
                return self.expression(LOOKUP, self.builder.name_index("this"), scope)
            return 0
        self.depth += 1
        try:
            if sign == 41:  # ")"
                return self._call_or_bracket(end, scope)
            if sign == 93:  # "]"
                at = opening_bracket(data, end, 91, 93)
                base = self.ending(at, scope) if at > 0 else 0
                return self.expression(ITEM, base) if base else 0
            return self.template(end, scope) if sign == 62 else 0
        finally:
            self.depth -= 1

    def _call_or_bracket(self, end: int, scope: int) -> int:
        called = self.calls.callee.get(end)
        if called is None:
            return self._bracketed(end, scope)
        at, count = called
        builder = self.builder
        place = builder.by_end.get(at)
        if place is not None and place < len(builder.use):
            use = builder.use[place]
            return use if builder.ops[use] == CALL else self.expression(CALL, use, count + 1)
        if self.data[at - 1] == 62:
            less = opening_bracket(self.data, at, 60, 62)
            place = builder.by_end.get(less)
            if place is not None and builder.texts[builder.names.name[place]] in CASTS:
                return self.of_type(at - 1, scope)
        value = self.ending(at, scope)
        return self.expression(CALL, value, count + 1) if value else 0

    def _bracketed(self, end: int, scope: int) -> int:
        """Return the value of `(*a)`, `(a.b)` or `((A*)b)`."""
        start = opening_bracket(self.data, end, 40, 41)
        if start < 0:
            return 0
        cast = _CAST.match(self.data, start + 1, end)
        if cast is not None and cast.end() < end - 1 and start + 1 not in self.calls.ends:
            return self.of_type(cast.end() - 1, scope)
        return self.chain(start + 1, scope)

    def chain(self, at: int, scope: int) -> int:
        """Return the value of the expression starting at an offset; 0 if it is not just names, calls and subscripts."""
        data, calls = self.data, self.calls
        start = _STARTS.match(data, at)
        at = start.end() if start else at
        if at < len(data) and data[at] == 40:  # "("
            end = closing_bracket(data, at, 40, 41)
            cast = _CAST.match(data, at)
            if cast is not None and cast.end() == end and _OPERAND.match(data, end):
                return self.of_type(end - 1, scope)
        else:
            word = _WORD.match(data, at)
            end = word.end() if word else -1
        size = len(data)
        while 0 < end < size:
            sign = data[end]
            if sign == 40 and end in calls.ends:
                end = calls.ends[end]
            elif sign == 60 and end in calls.behind:
                end = calls.behind[end]
            elif sign == 91:
                end = closing_bracket(data, end, 91, 93)
            else:
                joint = _JOINT.match(data, end)
                if joint is None:
                    break
                end = joint.end()
        after = end
        while 0 < after < size and data[after] in _SPACE:
            after += 1
        if after < 0 or after >= size or data[after] not in _STOPS:
            return 0
        return self.ending(end, scope)

    # --- types -------------------------------------------------------------------------------

    def of_name(self, place: int) -> int:
        """Return a value of the type named at an index."""
        use = self.builder.use[place]
        named = self.builder.left[use] if self.builder.ops[use] == CALL else use
        return self.expression(OF_TYPE, named, self._const(place))

    def _const(self, place: int) -> int:
        """Return 1 if `const` precedes the type that ends with the name at an index, or directly follows it."""
        starts, ends, receivers = self.builder.names.starts, self.builder.names.ends, self.builder.names.receivers
        behind = self.data.startswith(b" const", ends[place])
        while receivers[place] == 1:
            place -= 1
        return int(behind or self.data.endswith(b"const ", 0, starts[place]))

    def of_type(self, end: int, scope: int) -> int:
        """Return a value of the type whose name ends at an offset."""
        named = self.type(end, scope)
        place = self.heads.get(end)
        return self.expression(OF_TYPE, named, self._const(place) if place is not None else 0) if named else 0

    def type(self, end: int, scope: int) -> int:
        """Return the expression that names the type ending at an offset, without pointer and reference signs."""
        data = self.data
        sign = data[end - 1] if end else 0
        if (sign not in _WORDY and sign != 62) or (sign == 116 and data[end - 5 : end] == b"const"):
            piece = data[max(0, end - 40) : end]
            end -= len(piece) - len(strip_qualifiers(piece))
            sign = data[end - 1] if end else 0
        if sign == 62:
            return self.template(end, scope)
        place = self.builder.by_end.get(end)
        if place is None:
            return 0
        use = self.builder.use[place]
        return self.builder.left[use] if self.builder.ops[use] == CALL else use

    def template(self, end: int, scope: int) -> int:
        """Return the template with its arguments whose closing bracket ends at an offset."""
        known = self.kept.get(end)
        if known is not None:
            return known
        self.kept[end] = 0
        data = self.data
        start = opening_bracket(data, end, 60, 62)
        while start > 0 and data[start - 1] in _SPACE:
            start -= 1
        base = self.type(start, scope) if start > 0 else 0
        if not base:
            return 0
        pairs = 0
        for last in reversed(_argument_ends(data, data.index(b"<", start), end)[:8]):
            pairs = self.expression(PAIR, self.type(last, scope), pairs + 1 if pairs else 0)
        expression = self.kept[end] = self.expression(ITEM, base, pairs + 1 if pairs else 0)
        place = self.builder.by_end.get(start)
        if place is not None:
            self.heads[end] = place
        return expression


def _argument_ends(data: bytes, start: int, end: int) -> list[int]:
    """Return the offsets at which the arguments of a template end."""
    if data.find(b",", start, end) < 0:
        return [end - 1]
    ends, depth = [], 0
    for at in range(start, end):
        sign = data[at]
        if sign in b"<([{":
            depth += 1
        elif sign in b">)]}":
            depth -= 1
            if not depth:
                ends.append(at)
        elif sign == 44 and depth == 1:
            ends.append(at)
    return ends
