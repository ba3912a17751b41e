"""Make: targets with their prerequisites, variables, included files.

Files are read line by line, as make does: a backslash joins lines, a line that starts with a tab after a rule is a
recipe, and `define` runs to its `endef`. Colons and equals signs inside `$( )` are ignored. Recipes are shell code;
only their uses of make variables are recorded. `.PHONY` marks targets and is not a target itself. A `##` comment
after a rule is the target's help text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from concordance.base.model import Category, Kind, Language, Role
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.reading.trees import one_line
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "make",
    "Make",
    unseen="paths in variables",
    extensions=(".mk", ".mak", ".make"),
    filenames=("Makefile", "makefile", "GNUmakefile", "Makefile.*", "*.Makefile", "Kbuild"),
    interpreters=("make", "gmake"),
    category=Category.BUILD,
    aliases=("makefile",),
    fence="makefile",
)

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_COMMENT = re.compile(rb"(?<!\\)(?:\\\\)*#")
_WORD = re.compile(rb"\S+")
_REFERENCE = re.compile(rb"\$[({][^(){}$]*[)}]")
_INNER = re.compile(rb"\([^(){}$]*\)|\{[^(){}$]*\}")
_DEFINE = re.compile(rb"\s*((?:(?:override|export|private)\s+)*)define\s+([^\s=:?+!#]+)")
_ENDEF = re.compile(rb"\s*endef\b")
_NESTED = re.compile(rb"\s*define\b")
_CONDITION = re.compile(rb"\s*(ifeq|ifneq|ifdef|ifndef|else|endif)\b(.*)", re.S)
_INCLUDE = re.compile(rb"\s*(-include|sinclude|include)\s")
# A variable that is assigned: `export NAME := value`
_ASSIGN = re.compile(
    rb"\s*((?:(?:export|override|private|unexport)\s+)*)([^\s:=#+?!]+(?:[+?!][^\s:=#+?!]+)*)\s*(:{0,3}=|\+=|\?=|!=)"
)
_EXPORT = re.compile(rb"\s*(?:export|unexport)\b")
_RULE = re.compile(rb"([^:=#]*[^:=#\s&])\s*(&?::?)(?!=)")
_USE = re.compile(rb"(?<!\$)(?:\$\$)*\$[({]\s*(?:call\s+([\w.-]+)|((?=\d*+[A-Za-z_.-])[\w.-]++)\s*+(?=[)}:]))")
_TESTED = re.compile(rb"\s*([\w.-]+)")
_NAME = re.compile(rb"[^$%*?()\[\]{}\"'`]+\Z")
_SPECIAL = frozenset(
    b".PHONY .SUFFIXES .DEFAULT .PRECIOUS .INTERMEDIATE .NOTINTERMEDIATE .SECONDARY .SECONDEXPANSION "
    b".DELETE_ON_ERROR .IGNORE .LOW_RESOLUTION_TIME .SILENT .EXPORT_ALL_VARIABLES .NOTPARALLEL .ONESHELL .POSIX "
    b".WAIT".split()
)


def read(source: Source) -> Draft:
    """Parse one makefile into a `Draft`."""
    reading = _Reading(Draft(source))
    text = bytearray()
    start = 0
    for match in _LINE.finditer(source.data):
        raw = match[0]
        if not raw:
            break
        start = start if text else match.start()
        text += raw
        bare = raw.rstrip(b"\r\n")
        if (len(bare) - len(bare.rstrip(b"\\"))) % 2 == 0:
            reading.line(start, bytes(text))
            text.clear()
    if text:
        reading.line(start, bytes(text))
    reading.finish()
    return reading.draft


def _masked(line: bytes) -> bytes:
    """Return a line with the inside of variable references and its line joints blanked out."""
    line = line.replace(b"\\\r\n", b"   ").replace(b"\\\n", b"  ")
    if b"$" not in line:
        return line
    for _ in range(20):  # each turn removes the innermost level; nobody nests deeper than this
        plain = _REFERENCE.sub(lambda m: b"x" * len(m[0]), line)
        if plain == line and (b"$(" in line or b"${" in line):
            plain = _INNER.sub(lambda m: b"x" * len(m[0]), line)
        if plain == line:
            break
        line = plain
    return line


@dataclass(slots=True)
class _Reading:
    draft: Draft
    rule: list[Definition] = field(default_factory=list)  # the targets whose recipe may follow
    recipe_end: int = 0  # end of the recipe read so far
    in_rule: bool = False
    conditions: list[str] = field(default_factory=list)
    block: Definition | None = None  # the open `define`
    depth: int = 0  # nesting depth of `define`
    phony: set[str] = field(default_factory=set)

    def line(self, at: int, raw: bytes) -> None:
        end = at + len(raw.rstrip())
        if self.block is not None:
            self._in_define(self.block, at, raw, end)
        elif raw.startswith(b"\t") and self.in_rule:
            if raw.strip():
                self.recipe_end = end
                if not raw.lstrip().startswith(b"#"):
                    self._uses(at, raw)
        elif raw.strip():
            self._statement(at, raw)

    def finish(self) -> None:
        """Mark phony targets, and report a `define` that is not closed."""
        self._close_rule()
        for definition in self.draft.definitions:
            if definition.kind == Kind.TARGET and definition.name in self.phony:
                definition.modifiers = ("phony",)
        if self.block is not None:
            self.draft.problem(self.block.start, self.block.at, "syntax error: `endef` is missing")

    def _close_rule(self) -> None:
        """Extend the targets of the current rule over its recipe."""
        for definition in self.rule:
            definition.end = max(definition.end, self.recipe_end)
        self.rule = []

    def _in_define(self, block: Definition, at: int, raw: bytes, end: int) -> None:
        if _NESTED.match(raw):
            self.depth += 1
        elif _ENDEF.match(raw):
            self.depth -= 1
            block.end = end
            if self.depth == 0:
                self.block = None
        else:
            block.end = max(block.end, end)
            self._uses(at, raw)

    def _statement(self, at: int, raw: bytes) -> None:
        line = _masked(raw)
        comment = _COMMENT.search(line)
        help_text = b""
        if comment:
            cut = comment.end() - 1
            words = raw[cut:].rstrip()
            self.draft.comments.append((at + cut, at + cut + len(words)))
            help_text = words[2:].strip() if words.startswith(b"##") else b""
            line, raw = line[:cut], raw[:cut]
        if not line.strip():
            return
        self._uses(at, raw)
        if self._directive(at, raw, line):
            return
        self.in_rule = False
        assign = _ASSIGN.match(line)
        rule = _RULE.match(line) if assign is None else None
        if assign:
            self._variable(at, raw, assign, at)
        elif rule:
            self._rule(at, raw, line, rule, help_text.decode("utf-8", "replace"))
        elif _EXPORT.match(line):
            spans = [m.span() for m in _WORD.finditer(line)][1:]
            self.draft.add_names(((at + a, at + b) for a, b in spans if _NAME.match(raw[a:b])), Role.READ)

    def _directive(self, at: int, raw: bytes, line: bytes) -> bool:
        """Read a conditional, an include or a `define`; return True if the line was one."""
        define = _DEFINE.match(raw)
        if define:
            self.in_rule = False
            name = define[2].decode("utf-8", "replace")
            start = at + len(raw) - len(raw.lstrip())
            self.block = self.draft.define(
                Kind.VARIABLE, name, at + define.start(2), start, at + len(raw.rstrip()), signature=self._short(raw),
                condition=self._condition(), modifiers=(*define[1].decode("utf-8", "replace").split(), "define"),
            )  # fmt: skip
            self.depth = 1
            return True
        condition = _CONDITION.match(line)
        if condition and not _ASSIGN.match(line):
            self._turn(at, raw, condition)
            return True
        include = _INCLUDE.match(line)
        if include and not _ASSIGN.match(line):
            self.in_rule = False
            for word in _WORD.finditer(line, include.end()):
                module = raw[word.start() : word.end()].decode("utf-8", "replace")
                self.draft.add_import(at + word.start(), module, condition=self._condition(), form=include[1].decode())
            return True
        return False

    def _turn(self, at: int, raw: bytes, match: re.Match[bytes]) -> None:
        word = match[1].decode()
        words = one_line(raw.decode("utf-8", "replace"))
        if word == "endif":
            if self.conditions:
                self.conditions.pop()
            else:
                self.draft.problem(at, at + len(raw), "syntax error: `endif` without a condition")
        elif word == "else":
            if self.conditions:
                first = self.conditions[-1].removeprefix("else of ")
                self.conditions[-1] = words.removeprefix("else ") if words != "else" else f"else of {first}"
        else:
            self.conditions.append(words)
        if word in ("ifdef", "ifndef"):
            name = _TESTED.match(raw, match.start(2))
            if name:
                self.draft.add_names([(at + name.start(1), at + name.end(1))], Role.READ)

    def _variable(self, at: int, raw: bytes, match: re.Match[bytes], start: int) -> None:
        begin, end = match.span(2)
        name = raw[begin:end].decode("utf-8", "replace")
        self.draft.define(
            Kind.VARIABLE, name, at + begin, start + len(raw[start - at :]) - len(raw[start - at :].lstrip()),
            at + len(raw.rstrip()), signature=self._short(raw), condition=self._condition(),
            modifiers=tuple(match[1].decode("utf-8", "replace").split()),
        )  # fmt: skip

    def _rule(self, at: int, raw: bytes, line: bytes, match: re.Match[bytes], help_text: str) -> None:
        specific = _ASSIGN.match(line, match.end())
        if specific:  # target-specific variable
            self._variable(at, raw, specific, at + match.end())
            words = [w.span() for w in _WORD.finditer(line, 0, match.end(1))]
            self.draft.add_names(((at + a, at + b) for a, b in words if _NAME.match(raw[a:b])), Role.READ)
            return
        self.in_rule = True
        recipe = line.find(b";", match.end())
        head = recipe if recipe >= 0 else len(line)
        end = at + len(raw.rstrip())
        signature = self._short(raw[:head])
        needed = [w.span() for w in _WORD.finditer(line, match.end(), head)]
        needed = [(a, b) for a, b in needed if _NAME.match(raw[a:b]) and raw[a:b] not in (b"|", b":")]
        self.draft.add_names(((at + a, at + b) for a, b in needed), Role.READ)
        self._close_rule()
        start = at + len(raw) - len(raw.lstrip())
        targets = [raw[word.start() : word.end()] for word in _WORD.finditer(line, 0, match.end(1))]
        if b".PHONY" in targets:
            self.phony.update(raw[c:d].decode("utf-8", "replace") for c, d in needed)
        for word, written in zip(_WORD.finditer(line, 0, match.end(1)), targets, strict=True):
            if written in _SPECIAL:
                continue
            name = written.decode("utf-8", "replace")
            target = self.draft.define(
                Kind.TARGET, name, at + word.start(), start, end, signature=signature, doc=help_text,
                condition=self._condition(), nests=False,
            )  # fmt: skip
            self.rule.append(target)

    def _uses(self, at: int, raw: bytes) -> None:
        uses = [(m.span(1), Role.CALL) if m[1] else (m.span(2), Role.READ) for m in _USE.finditer(raw)]
        for (start, end), role in uses:
            self.draft.add_names([(at + start, at + end)], role)

    def _condition(self) -> str:
        return self.conditions[-1] if self.conditions else ""

    @staticmethod
    def _short(raw: bytes) -> str:
        words = one_line(raw.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").decode("utf-8", "replace"))
        return words if len(words) <= 200 else words[:200] + " …"
