"""Command lines that run a script of the repository, in shell scripts, workflows, build files and programs.

In: a shell script, or a file that has command lines as values. Out: an end for each word that names a script or a
module. Where that script or module is can only be resolved after all files have been read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from concordance.base.model import Kind
from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext

# A token of a command line: a word with its quoted parts and expansions, or what ends a command
_TOKEN = re.compile(
    rb"(?P<joint>\\\r?\n)|(?P<comment>(?<![^\s])#[^\n]*)|(?P<stop>&&|\|\||[;|&\n`()]|\$\(|(?<!\$)\{(?=\s))"
    rb"|(?P<word>(?:\$\((?:[^()\n]|\([^()\n]*+\))*+\)"
    rb"|\$?\"(?:(?:\\.|\$\((?:[^()]|\([^()]*+\)){0,1000}+\)|[^\"\\])*+\"|(?:\\.|[^\"\\])*+\")|'[^']*+'|\$\{[^{}\n]*+\}"
    rb"|\$\{\{(?:[^$]|\$(?!\{\{))*?\}\}|\$\([\w.]+\)|\\.|[^\s;|&`()\"'\\{}]|[{}](?=\S))+)", re.S
)  # fmt: skip
# A word that runs the script after it: `python3.11`, `/bin/sh`, `$PYTHON`
_INTERPRETER = re.compile(
    r"(?:.*/)?(?:python[\d.]*w?|pypy[\d.]*|bash|sh|zsh|dash|ksh|node|nodejs|ruby|perl|Rscript|julia|php|lua|pwsh"
    r"|powershell|tsx|ts-node|deno|bun|torchrun)(?:\.exe)?\Z"
    r"|.*(?:sys\.executable|PYTHON3?|(?i:python3?_executable)|_python|\bpython3?)\W{0,3}\Z"
)
_PYTHON = re.compile(r"(?i).*py(?:thon|py)")
# Words that may precede a command and run it; those in `_TAKES` also take one argument.
_BEFORE = frozenset(
    ("time", "sudo", "exec", "nohup", "env", "command", "xvfb-run", "eval", "then", "do", "else", "if", "elif", "while",
     "until", "!", "run", "retry", "winpty", "stdbuf", "nice", "catchsegv", "with_retry", "poetry", "pipenv", "uv",
     "pdm", "hatch", "rye", "coverage", "kernprof", "strace", "valgrind", "mpirun", "mpiexec", "srun", "@", "+",
     "call", "COMMAND")
)  # fmt: skip
_TAKES = frozenset(("timeout", "conda", "mamba", "micromamba"))
# What may follow `python -m`
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z|[A-Za-z_]\w*\Z")
_SCRIPT = re.compile(r"\.(?:py|sh|bash|zsh|ksh|pl|rb|js|mjs|cjs|ts|mts|ps1|bat|cmd|R|jl|lua|php|bats|tcl|awk|exp)\Z")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_WITH_VALUE = frozenset(("-W", "-X", "-o", "-n", "--rcfile", "--nproc_per_node", "--nnodes", "-I", "-r"))
_DEEPEST = 10  # nested commands, and modules that run modules; each level reads its text once more
LANGUAGES = ("shell", "yaml", "dockerfile", "make", "json", "ini", "toml", "cmake", "python")
WORDS = (b".py", b".sh", b".js", b".pl", b".rb", b".ts", b".bat", b".ps1", b"python", b"PYTHON", b"bash")
_KEYS = frozenset(("run", "script", "before_script", "after_script", "command", "entry", "commands", "cmd", "args",
                   "commands_pre", "commands_post", "test-command", "before-all", "before-build"))  # fmt: skip
_SCRIPTS = frozenset(("scripts", "tasks"))
# An instruction of a Dockerfile that runs a command
_INSTRUCTION = re.compile(rb"^[ \t]*(?:RUN|CMD|ENTRYPOINT)\b[ \t]*(?P<rest>(?:[^\n\\]|\\\r?\n|\\.)*)", re.M | re.I)
_OPTIONS = re.compile(rb"(?:--\S+\s+)+")
# A line of a Make recipe, without the signs that change how it is run
_RECIPE = re.compile(rb"(?<!\\\n)^\t[ \t]*[@+-]*(?P<rest>(?:[^\n\\]|\\\r?\n|\\.)*)", re.M)
_SHELL = re.compile(rb"\$\(shell\s++((?:[^()]|\([^()]*+\))*+)\)")
# A command of CMake's `add_custom_command` and the like, up to the next keyword
_CMAKE = re.compile(
    rb"\bCOMMAND\s++(?P<rest>(?:[^()#]|\([^()]*+\))*?)"
    rb"(?=\b(?:COMMAND|WORKING_DIRECTORY|DEPENDS|(?:OUTPUT|ERROR|RESULT)_\w+|COMMENT|VERBATIM|BYPRODUCTS|ARGS)\b|\))"
)
# A Python call that starts a program: `subprocess.run([`
_STARTED = re.compile(
    rb"(?P<verb>check_call|check_output|Popen|call|run|run_command|check_run|system)\s*\(\s*(?P<open>\[)?"
)
# One item of a list of arguments: a string, or a name such as `sys.executable`
_LITERAL = re.compile(
    rb"\s*(?:[rbuf]*(?P<quote>[\"'])(?P<text>(?:[^\"'\\\n]|\\.)*)(?P=quote)|(?P<name>[\w.]+))\s*(?P<end>[,\])]|\Z)"
)
# What changes the folder that a command runs in
_MOVES = re.compile(rb"(?:^|[\s;&|(])(?:cd|pushd)\s|working-directory|WORKING_DIRECTORY|\bcwd\s*=")
_CONTEXT_BYTES = 1500  # bytes before a command in which a change of folder is searched
_TEXT = re.compile(rb'"((?:[^"\\]|\\(?s:.)|\\\Z)*+)(?:"|\Z)')


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the scripts and modules that a file runs."""
    seen = set()
    for run in _READERS[context.language](context):
        if run.at not in seen and not context.in_comment(run.at):
            seen.add(run.at)
            moved = _MOVES.search(context.data, max(0, run.at - _CONTEXT_BYTES), run.at) is not None
            more = (("is", "module"),) if run.is_module else (("after", "cd"),) if moved else ()
            yield BridgeEnd(run.at, "runs", run.word, run.word, more)


def _shell(context: RuleContext) -> Iterator[Run]:
    yield from find_runs(context.data, 0, len(context.data))


def _yaml(context: RuleContext) -> Iterator[Run]:
    """Yield what the values of command keys run."""
    for definition in context.draft.definitions:
        if definition.kind == Kind.KEY and definition.name in _KEYS:
            start = context.data.find(b":", definition.at, definition.end) + 1
            yield from _lines(context.data, start, definition.end)


def _lines(data: bytes, start: int, end: int) -> Iterator[Run]:
    """Yield what a YAML value runs: a line, a block, or a list of lines."""
    for match in re.finditer(rb"[^\r\n]+", data[start:end]):
        line = match[0]
        skip = re.match(rb"[ \t]*(?:-[ \t]+)?(?:[|>][+-]?\d*[ \t]*(?:#.*)?\Z)?", line)
        at = start + match.start() + (skip.end() if skip else 0)
        stop = start + match.end()
        if data[at : at + 1] in (b'"', b"'") and data[stop - 1 : stop] == data[at : at + 1]:
            at, stop = at + 1, stop - 1
        yield from find_runs(data, at, stop)


def _dockerfile(context: RuleContext) -> Iterator[Run]:
    for match in _INSTRUCTION.finditer(context.data):
        start, end = match.span("rest")
        options = _OPTIONS.match(context.data, start, end)
        start = options.end() if options else start
        if context.data[start : start + 1] == b"[":
            texts = _TEXT.finditer(context.data, start, end)
            yield from runs_of_command([(text.start(1), text[1].decode("utf-8", "replace")) for text in texts])
        else:
            yield from find_runs(context.data, start, end)


def _make(context: RuleContext) -> Iterator[Run]:
    for match in _RECIPE.finditer(context.data):
        yield from find_runs(context.data, *match.span("rest"))
    for match in _SHELL.finditer(context.data):
        yield from find_runs(context.data, *match.span(1))


def _json(context: RuleContext) -> Iterator[Run]:
    """Yield what the commands in `scripts` run."""
    for table in (
        definition
        for definition in context.draft.definitions
        if definition.kind == Kind.KEY and definition.name in _SCRIPTS
    ):
        for match in re.compile(rb':\s*"((?:[^"\\]|\\.)*)"').finditer(context.data, table.at, table.end):
            yield from find_runs(context.data, *match.span(1))


def _settings(context: RuleContext) -> Iterator[Run]:
    """Yield what the commands in the settings of tox and similar tools run."""
    for definition in context.draft.definitions:
        if definition.kind == Kind.KEY and definition.name in _KEYS:
            start = context.data.find(b"=", definition.at, definition.end) + 1
            yield from find_runs(context.data, start, definition.end) if start else ()


def _cmake(context: RuleContext) -> Iterator[Run]:
    for match in _CMAKE.finditer(context.data):
        rest = match["rest"].replace(b"\n", b" ").replace(b"\r", b" ")
        yield from (run._replace(at=match.start("rest") + run.at) for run in find_runs(rest, 0, len(rest)))


def _python(context: RuleContext) -> Iterator[Run]:
    """Yield the programs that Python code starts, if their names are literals."""
    for match in _STARTED.finditer(context.data):
        words: list[tuple[int, str]] = []
        at = match.end()
        listed = bool(match["open"])
        while len(words) < 12:
            word = _LITERAL.match(context.data, at)
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
            yield from find_runs(context.data, words[0][0], words[0][0] + len(words[0][1].encode()))
        elif words:
            yield from runs_of_command(words)


_READERS = {
    "shell": _shell, "yaml": _yaml, "dockerfile": _dockerfile, "make": _make, "json": _json, "ini": _settings,
    "toml": _settings, "cmake": _cmake, "python": _python,
}  # fmt: skip


# Command lines: `python tools/x.py`, `bash .ci/test.sh`, `./x.sh`, `python -m pkg.mod`. Only words in the position of a
# command, or the first argument of an interpreter that is not an option, count as run. Arguments of other programs
# (`cp x.sh y`) do not.


class Run(NamedTuple):
    """A word that names a script or module that is run."""

    at: int
    word: str
    is_module: bool


def find_runs(data: bytes, start: int, end: int, depth: int = 0) -> Iterator[Run]:
    """Yield what a range of shell text runs."""
    words: list[tuple[int, str]] = []
    for token in _TOKEN.finditer(data, start, end):
        if token["stop"]:
            yield from _command(words)
            words = []
        elif token["word"]:
            written = token["word"].decode("utf-8", "replace")
            words.append((token.start(), written))
            inner = token["word"].find(b"$(")
            if inner >= 0 and depth < _DEEPEST:
                close = data.rfind(b")", token.start(), token.end())
                yield from find_runs(data, token.start() + inner + 2, close, depth + 1)
    yield from _command(words)


def runs_of_command(words: list[tuple[int, str]]) -> Iterator[Run]:
    """Yield what a command runs, given its words."""
    yield from _command(words)


def _command(words: list[tuple[int, str]]) -> Iterator[Run]:
    """Yield the script that one command runs."""
    at = 0
    while at < len(words):
        word = _unquoted(words[at][1])
        if word in _TAKES:
            at += 2
        elif word in _BEFORE or _ASSIGNED.match(word) or (at and word.startswith("-")) or word in ("-", "[", "[["):
            if word in ("[", "[["):
                return
            at += 1
        else:
            break
    if at >= len(words):
        return
    place, word = words[at][0], _unquoted(words[at][1].lstrip("@-+"))
    if _INTERPRETER.match(word):
        yield from _argument(words[at + 1 :], bool(_PYTHON.match(word)))
    elif _SCRIPT.search(word) and not word.startswith("-"):
        yield Run(place, word, False)
    elif word in ("pytest", "py.test", "xonsh"):
        yield from (
            Run(p, _unquoted(w), False) for p, w in words[at + 1 :] if _unquoted(w).partition("::")[0].endswith(".py")
        )


def _argument(words: list[tuple[int, str]], is_python: bool, depth: int = 0) -> Iterator[Run]:
    """Yield the script or module among the arguments of an interpreter."""
    skip = False
    for number, (at, written) in enumerate(words):
        word = _unquoted(written)
        if skip:
            skip = False
        elif word == "-m" and is_python and number + 1 < len(words):
            place, module = words[number + 1][0], _unquoted(words[number + 1][1])
            if module in ("coverage", "pdb", "cProfile", "torch.distributed.launch", "torch.distributed.run"):
                rest = [pair for pair in words[number + 2 :] if _unquoted(pair[1]) != "run"] if depth < _DEEPEST else []
                yield from _argument(rest, is_python, depth + 1)
            elif module == "pytest":
                yield from (Run(p, _unquoted(w), False) for p, w in words[number + 2 :] if _unquoted(w).endswith(".py"))
            elif _MODULE.match(module):
                yield Run(place, module, True)
            return
        elif word in ("-c", "-", "<", "<<"):
            return
        elif word.startswith("-") and (is_python or not word.startswith("-c")):
            skip = word in _WITH_VALUE
        elif word.startswith("-"):
            return
        else:
            if _SCRIPT.search(word) or "/" in word:
                yield Run(at, word, False)
            return


def _unquoted(word: str) -> str:
    """Return a word without its quotes."""
    return word.replace('"', "").replace("'", "")
