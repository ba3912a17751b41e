"""What runs a script of the repository: scripts, workflows, Dockerfiles, recipes, settings of tools, and programs.

In: a file that holds command lines, in a shell's own file, or as a value. Out: an end on each word that names a script
or a module. Where that lies is known when all files are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Kind
from concordance.extract.bridge_ends import Said
from concordance.extract.command_lines import Run, of_words, runs
from concordance.extract.rule_context import Look

LANGUAGES = ("shell", "yaml", "dockerfile", "make", "json", "ini", "toml", "cmake", "python")
WORDS = (b".py", b".sh", b".js", b".pl", b".rb", b".ts", b".bat", b".ps1", b"python", b"PYTHON", b"bash")
_KEYS = frozenset(("run", "script", "before_script", "after_script", "command", "entry", "commands", "cmd", "args",
                   "commands_pre", "commands_post", "test-command", "before-all", "before-build"))  # fmt: skip
_SCRIPTS = frozenset(("scripts", "tasks"))
_INSTRUCTION = re.compile(rb"^[ \t]*(?:RUN|CMD|ENTRYPOINT)\b[ \t]*(?P<rest>(?:[^\n\\]|\\\r?\n|\\.)*)", re.M | re.I)
_OPTIONS = re.compile(rb"(?:--\S+\s+)+")
_RECIPE = re.compile(rb"(?<!\\\n)^\t[ \t]*[@+-]*(?P<rest>(?:[^\n\\]|\\\r?\n|\\.)*)", re.M)
_SHELL = re.compile(rb"\$\(shell\s++((?:[^()]|\([^()]*+\))*+)\)")
_CMAKE = re.compile(
    rb"\bCOMMAND\s++(?P<rest>(?:[^()#]|\([^()]*+\))*?)"
    rb"(?=\b(?:COMMAND|WORKING_DIRECTORY|DEPENDS|(?:OUTPUT|ERROR|RESULT)_\w+|COMMENT|VERBATIM|BYPRODUCTS|ARGS)\b|\))"
)
_STARTED = re.compile(
    rb"(?P<verb>check_call|check_output|Popen|call|run|run_command|check_run|system)\s*\(\s*(?P<open>\[)?"
)
_LITERAL = re.compile(
    rb"\s*(?:[rbuf]*(?P<quote>[\"'])(?P<text>(?:[^\"'\\\n]|\\.)*)(?P=quote)|(?P<name>[\w.]+))\s*(?P<end>[,\])]|\Z)"
)
_MOVES = re.compile(rb"(?:^|[\s;&|(])(?:cd|pushd)\s|working-directory|WORKING_DIRECTORY|\bcwd\s*=")
_NEAR = 1500  # bytes before a command in which the folder may have been changed
_TEXT = re.compile(rb'"((?:[^"\\]|\\(?s:.)|\\\Z)*+)(?:"|\Z)')


def ends(look: Look) -> Iterator[Said]:
    """What a file runs."""
    seen = set()
    for one in _READERS[look.language](look):
        if one.at not in seen and not look.in_comment(one.at):
            seen.add(one.at)
            moved = _MOVES.search(look.data, max(0, one.at - _NEAR), one.at) is not None
            more = (("is", "module"),) if one.is_module else (("after", "cd"),) if moved else ()
            yield Said(one.at, "runs", one.word, one.word, more)


def _shell(look: Look) -> Iterator[Run]:
    yield from runs(look.data, 0, len(look.data))


def _yaml(look: Look) -> Iterator[Run]:
    """The values of keys that hold commands."""
    for one in look.draft.definitions:
        if one.kind == Kind.KEY and one.name in _KEYS:
            start = look.data.find(b":", one.at, one.end) + 1
            yield from _lines(look.data, start, one.end)


def _lines(data: bytes, start: int, end: int) -> Iterator[Run]:
    """A value of YAML: a line, a block, or a list of lines."""
    for match in re.finditer(rb"[^\r\n]+", data[start:end]):
        line = match[0]
        skip = re.match(rb"[ \t]*(?:-[ \t]+)?(?:[|>][+-]?\d*[ \t]*(?:#.*)?\Z)?", line)
        at = start + match.start() + (skip.end() if skip else 0)
        stop = start + match.end()
        if data[at : at + 1] in (b'"', b"'") and data[stop - 1 : stop] == data[at : at + 1]:
            at, stop = at + 1, stop - 1
        yield from runs(data, at, stop)


def _dockerfile(look: Look) -> Iterator[Run]:
    for match in _INSTRUCTION.finditer(look.data):
        start, end = match.span("rest")
        options = _OPTIONS.match(look.data, start, end)
        start = options.end() if options else start
        if look.data[start : start + 1] == b"[":
            texts = _TEXT.finditer(look.data, start, end)
            yield from of_words([(text.start(1), text[1].decode("utf-8", "replace")) for text in texts])
        else:
            yield from runs(look.data, start, end)


def _make(look: Look) -> Iterator[Run]:
    for match in _RECIPE.finditer(look.data):
        yield from runs(look.data, *match.span("rest"))
    for match in _SHELL.finditer(look.data):
        yield from runs(look.data, *match.span(1))


def _json(look: Look) -> Iterator[Run]:
    """The commands in `scripts`."""
    for holder in (one for one in look.draft.definitions if one.kind == Kind.KEY and one.name in _SCRIPTS):
        for match in re.compile(rb':\s*"((?:[^"\\]|\\.)*)"').finditer(look.data, holder.at, holder.end):
            yield from runs(look.data, *match.span(1))


def _settings(look: Look) -> Iterator[Run]:
    """The commands of tox and of tools that have settings like it."""
    for one in look.draft.definitions:
        if one.kind == Kind.KEY and one.name in _KEYS:
            start = look.data.find(b"=", one.at, one.end) + 1
            yield from runs(look.data, start, one.end) if start else ()


def _cmake(look: Look) -> Iterator[Run]:
    for match in _CMAKE.finditer(look.data):
        rest = match["rest"].replace(b"\n", b" ").replace(b"\r", b" ")
        yield from (one._replace(at=match.start("rest") + one.at) for one in runs(rest, 0, len(rest)))


def _python(look: Look) -> Iterator[Run]:
    """The programs that a program starts, where their names are written out."""
    for match in _STARTED.finditer(look.data):
        words: list[tuple[int, str]] = []
        at = match.end()
        listed = bool(match["open"])
        while len(words) < 12:
            word = _LITERAL.match(look.data, at)
            if word is None:
                break
            if word["text"] is not None:
                words.append((word.start("text"), word["text"].decode("utf-8", "replace")))
            else:
                words.append((word.start("name"), word["name"].decode("utf-8", "replace")))
            at = word.end()
            if word["end"] != b"," or not (listed or match["verb"] == b"run"):
                break
        if len(words) == 1 and not listed and " " in words[0][1]:
            yield from runs(look.data, words[0][0], words[0][0] + len(words[0][1].encode()))
        elif words:
            yield from of_words(words)


_READERS = {
    "shell": _shell, "yaml": _yaml, "dockerfile": _dockerfile, "make": _make, "json": _json, "ini": _settings,
    "toml": _settings, "cmake": _cmake, "python": _python,
}  # fmt: skip
