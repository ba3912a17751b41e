"""Dockerfile: stages, build arguments, environment variables, labels, and the images that stages are based on.

The text is read instruction by instruction. A line that ends in the escape character continues on the next line,
skipping comment lines and blank lines, and a here-document continues up to its terminator. `FROM` and `COPY --from=`
are imports; if they name a stage of this file, their form is "stage" and the name is also recorded as a read. Each
file that `COPY` and `ADD` take from the build context is an import of form "copy".
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from concordance.base.model import Category, Kind, Language, Role
from concordance.extract.documents.keyed import pair_signature
from concordance.extract.documents.prose import is_relative
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.reading.trees import one_line
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "dockerfile",
    "Dockerfile",
    unseen="paths in variables",
    extensions=(".dockerfile", ".containerfile"),
    filenames=("Dockerfile", "Dockerfile.*", "Containerfile", "Containerfile.*", "*.Dockerfile"),
    category=Category.BUILD,
)

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_ESCAPE = re.compile(rb"\A(?:[ \t]*#[^\r\n]*\r?\n)*?[ \t]*#[ \t]*escape[ \t]*=[ \t]*`", re.I)
_INSTRUCTION = re.compile(rb"[ \t]*([A-Za-z]+)(?=\s|\Z)")
_HEREDOC = re.compile(rb"(?<!<)<<-?([\"']?)([A-Za-z_][\w.]*)\1")
_DIRECTIVE = re.compile(rb"#[ \t]*(?:syntax|escape|check)[ \t]*=", re.I)
_FROM = re.compile(rb"\s+(?:--\S+\s+)*([^\s#][^\s]*)(?:\s+[aA][sS]\s+(\S+))?")
# One `NAME=value` of `ENV`, `ARG` or `LABEL`
_PAIR = re.compile(rb"\s+((?:\"[^\"]*\"|[\w.${}/-])+)(?:=((?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.|[^\s\"'\\])*))?", re.S)
_SPACED = re.compile(rb"\s+([\w.-]+)[ \t]+(\S[^\r\n]*)")
_USE = re.compile(rb"(?<!\\)\$(?:\{([A-Za-z_]\w*)|([A-Za-z_]\w*))")
_SOURCE = re.compile(rb"--from=[\"']?([^\s\"']+)|--mount=(?:(?!--mount=)\S)*?\bfrom=([^\s,\"']+)")
_COPIED = re.compile(rb"\"[^\"]*\",?|[^\s\[\]]+")
_EXPANDED = frozenset(
    b"ADD COPY ENV EXPOSE FROM LABEL STOPSIGNAL USER VOLUME WORKDIR ONBUILD RUN CMD ENTRYPOINT ARG".split()
)
_WORDS = _EXPANDED | frozenset(b"HEALTHCHECK MAINTAINER SHELL".split())


def read(source: Source) -> Draft:
    """Parse one Dockerfile into a `Draft`."""
    reading = _Reading(Draft(source))
    for start, lines, body in _instructions(source.data, reading.draft.comments):
        reading.instruction(start, lines, body)
    reading.close(len(source.data.rstrip()))
    return reading.draft


def _instructions(data: bytes, comments: list[tuple[int, int]]) -> list[tuple[int, bytes, int]]:
    """Return each instruction's offset, its text and its end including here-documents.

    Comments and line joints are blanked out in the text, so that offsets still match.
    """
    sign = b"`" if _ESCAPE.match(data) else b"\\"
    instructions: list[tuple[int, bytes, int]] = []
    text = bytearray()
    start = 0
    terminators: deque[bytes] = deque()  # terminators of the here-documents that follow
    last_lines = _last_lines(data)
    for match in _LINE.finditer(data):
        raw = match[0]
        words = raw.strip()
        if terminators:
            if words == terminators[0]:
                terminators.popleft()
            if raw and not terminators:
                instructions[-1] = (*instructions[-1][:2], match.end())
            continue
        if words.startswith(b"#"):
            at = match.start() + raw.index(words)
            if instructions or text or not _DIRECTIVE.match(words):
                comments.append((at, at + len(words)))
            text += b" " * len(raw) if text else b""
            continue
        if not words and not text:
            continue
        start = start if text else match.start()
        bare = raw.rstrip()
        if (bare.endswith(sign) or not words) and raw:
            text += (bare[:-1] if words else b"").ljust(len(raw))
            continue
        text += raw
        instructions.append((start, bytes(text), start + len(text)))
        if bytes(text.lstrip()[:4]).upper() in (b"RUN ", b"COPY", b"ADD "):
            terminators.extend(heredoc[2] for heredoc in _HEREDOC.finditer(text))
            if terminators and last_lines.get(terminators[-1], -1) < match.end():
                terminators.clear()  # a bit shift, or a here-document without an end
        text = bytearray()
    if text.strip():
        instructions.append((start, bytes(text), start + len(text)))
    return instructions


def _last_lines(data: bytes) -> dict[bytes, int]:
    """Map the content of each line, without leading tabs, to the offset of its last occurrence.

    The result is empty if the file cannot contain a here-document.
    """
    if b"<<" not in data:
        return {}
    offsets, at = {}, 0
    for line in data.split(b"\n"):
        offsets[line.lstrip(b"\t").removesuffix(b"\r")] = at
        at += len(line) + 1
    return offsets


@dataclass(slots=True)
class _Reading:
    draft: Draft
    stage: Definition | None = None
    stages: set[str] = field(default_factory=set)

    def instruction(self, start: int, text: bytes, end: int) -> None:
        head = _INSTRUCTION.match(text)
        word = head[1].upper() if head else b""
        if head is None or word not in _WORDS:
            first = one_line(text.decode("utf-8", "replace"))[:60]
            self.draft.problem(start, start + len(text.rstrip()), f"syntax error at `{first}`: no such instruction")
            return
        at = head.end()
        first_key = at if word != b"ONBUILD" else 0
        if word == b"ONBUILD":
            inner = _INSTRUCTION.match(text, at)
            word, at = (inner[1].upper(), inner.end()) if inner else (word, at)
        if word == b"FROM":
            self._start_stage(start, text, at, end)
        elif word in (b"ARG", b"ENV", b"LABEL"):
            self._pairs(word, start, text, at, first_key)
        elif word in (b"COPY", b"ADD", b"RUN"):
            taken = False
            for match in _SOURCE.finditer(text, at):
                self._import(start, match, 1 if match[1] else 2)
                taken = True
            if word != b"RUN" and not taken:
                self._copied(start, text, at)
        if word in _EXPANDED:
            # Names before "=" are written, not read; `_USE` only matches names that start with "$".
            uses = [(m.start(1), m.end(1)) if m[1] else (m.start(2), m.end(2)) for m in _USE.finditer(text, at)]
            self.draft.add_names(((start + a, start + b) for a, b in uses), Role.READ)

    def close(self, at: int) -> None:
        """End the current stage, at the start of the next one or at the end of the file."""
        if self.stage is not None:
            self.stage.end = max(self.stage.end, at)
        self.stage = None

    def _start_stage(self, start: int, text: bytes, at: int, end: int) -> None:
        match = _FROM.match(text, at)
        data, before = self.draft.source.data, start
        while before and data[before - 1 : before].isspace():
            before -= 1
        self.close(before)
        if match is None:
            self.draft.problem(start, end, "syntax error: FROM names no image")
            return
        self._import(start, match, 1)
        if match[2]:
            name = match[2].decode("utf-8", "replace")
            words = one_line(text.decode("utf-8", "replace"))
            begin = start + len(text) - len(text.lstrip())
            last = start + len(text.rstrip())
            self.stage = self.draft.define(Kind.TARGET, name, start + match.start(2), begin, last, signature=words)
            self.stages.add(name.lower())

    def _import(self, start: int, match: re.Match[bytes], group: int) -> None:
        module = match[group].decode("utf-8", "replace")
        local = module.lower() in self.stages or module.isdigit()
        self.draft.add_import(start + match.start(group), module, form="stage" if local else "")
        if local and not module.isdigit():
            self.draft.add_names([(start + match.start(group), start + match.end(group))], Role.READ)

    def _copied(self, start: int, text: bytes, at: int) -> None:
        """Record the files copied from the build context: every argument except the last, which is the destination."""
        words = [match for match in _COPIED.finditer(text, at) if not match[0].startswith((b"--", b"<<"))]
        for match in words[:-1]:
            module = match[0].strip(b"\"',").decode("utf-8", "replace")
            if is_relative(module):
                at = start + match.start() + len(match[0]) - len(match[0].lstrip(b"\"'"))
                self.draft.add_import(at, module, form="copy")

    def _pairs(self, word: bytes, start: int, text: bytes, at: int, first: int) -> None:
        """Define the variables or labels of an instruction.

        `first` is the offset at which the instruction's keyword ends, or 0 if the instruction follows ONBUILD.
        """
        spaced = _SPACED.match(text, at) if word != b"ARG" else None
        if spaced and b"=" not in spaced[1]:
            self._define(word, start, text, spaced.span(1), spaced.span(2), at == first)
            return
        while (match := _PAIR.match(text, at)) is not None:
            value = (match.start(2), match.end(2)) if match[2] is not None else (0, 0)
            if match[2] is not None or word == b"ARG":
                self._define(word, start, text, match.span(1), value, at == first)
            at = match.end()

    def _define(
        self, word: bytes, start: int, text: bytes, key: tuple[int, int], value: tuple[int, int], is_first: bool
    ) -> None:
        name = text[key[0] : key[1]].decode("utf-8", "replace")
        at = start + key[0]
        if name.startswith('"'):
            name, at = name.strip('"'), at + 1
        # Only the first pair starts with the instruction's keyword; a comment above the instruction documents that
        # pair.
        begin = start + len(text) - len(text.lstrip()) if is_first else at
        words = pair_signature(
            self.draft.source, name, (start + value[0], start + value[1]), "scalar" if value[1] else ""
        )
        kind = Kind.KEY if word == b"LABEL" else Kind.VARIABLE
        last = start + max(key[1], value[1])
        self.draft.define(kind, name, at, begin, last, signature=f"{word.decode()} {words}", modifiers=(word.decode(),))
