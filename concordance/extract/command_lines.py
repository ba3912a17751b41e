"""The scripts that a command line runs: `python tools/x.py`, `bash .ci/test.sh`, `./x.sh`, `python -m pkg.mod`.

In: text that a shell is given, as scripts, workflows, recipes and settings hold it. Out: the words that name a script
or a module, with where they stand. Only what is run counts: a word in the place of a command, or the first argument of
an interpreter that is no option. What another program is given (`cp x.sh y`) is not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    rb"(?P<joint>\\\r?\n)|(?P<comment>(?<![^\s])#[^\n]*)|(?P<stop>&&|\|\||[;|&\n`()]|\$\(|(?<!\$)\{(?=\s))"
    rb"|(?P<word>(?:\$\((?:[^()\n]|\([^()\n]*+\))*+\)"
    rb"|\$?\"(?:(?:\\.|\$\((?:[^()]|\([^()]*+\)){0,1000}+\)|[^\"\\])*+\"|(?:\\.|[^\"\\])*+\")|'[^']*+'|\$\{[^{}\n]*+\}"
    rb"|\$\{\{(?:[^$]|\$(?!\{\{))*?\}\}|\$\([\w.]+\)|\\.|[^\s;|&`()\"'\\{}]|[{}](?=\S))+)", re.S
)  # fmt: skip
_INTERPRETER = re.compile(
    r"(?:.*/)?(?:python[\d.]*w?|pypy[\d.]*|bash|sh|zsh|dash|ksh|node|nodejs|ruby|perl|Rscript|julia|php|lua|pwsh"
    r"|powershell|tsx|ts-node|deno|bun|torchrun)(?:\.exe)?\Z"
    r"|.*(?:sys\.executable|PYTHON3?|(?i:python3?_executable)|_python|\bpython3?)\W{0,3}\Z"
)
_PYTHON = re.compile(r"(?i).*py(?:thon|py)")
# What stands before a command and runs it; those that take an argument of their own take one word.
_BEFORE = frozenset(
    ("time", "sudo", "exec", "nohup", "env", "command", "xvfb-run", "eval", "then", "do", "else", "if", "elif", "while",
     "until", "!", "run", "retry", "winpty", "stdbuf", "nice", "catchsegv", "with_retry", "poetry", "pipenv", "uv",
     "pdm", "hatch", "rye", "coverage", "kernprof", "strace", "valgrind", "mpirun", "mpiexec", "srun", "@", "+",
     "call", "COMMAND")
)  # fmt: skip
_TAKES = frozenset(("timeout", "conda", "mamba", "micromamba"))
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z|[A-Za-z_]\w*\Z")
_SCRIPT = re.compile(r"\.(?:py|sh|bash|zsh|ksh|pl|rb|js|mjs|cjs|ts|mts|ps1|bat|cmd|R|jl|lua|php|bats|tcl|awk|exp)\Z")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_WITH_VALUE = frozenset(("-W", "-X", "-o", "-n", "--rcfile", "--nproc_per_node", "--nnodes", "-I", "-r"))


_DEEPEST = 10  # commands in one another, and modules that run modules; each level reads the text in it once more


class Run(NamedTuple):
    """A word that names what is run."""

    at: int
    word: str
    is_module: bool


def runs(data: bytes, start: int, end: int, depth: int = 0) -> Iterator[Run]:
    """What a stretch of text runs."""
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
                yield from runs(data, token.start() + inner + 2, close, depth + 1)
    yield from _command(words)


def of_words(words: list[tuple[int, str]]) -> Iterator[Run]:
    """What a command runs whose words are known one by one."""
    yield from _command(words)


def _command(words: list[tuple[int, str]]) -> Iterator[Run]:
    """The script of one command."""
    at = 0
    while at < len(words):
        word = _bare(words[at][1])
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
    place, word = words[at][0], _bare(words[at][1].lstrip("@-+"))
    if _INTERPRETER.match(word):
        yield from _argument(words[at + 1 :], bool(_PYTHON.match(word)))
    elif _SCRIPT.search(word) and not word.startswith("-"):
        yield Run(place, word, False)
    elif word in ("pytest", "py.test", "xonsh"):
        yield from (Run(p, _bare(w), False) for p, w in words[at + 1 :] if _bare(w).partition("::")[0].endswith(".py"))


def _argument(words: list[tuple[int, str]], is_python: bool, depth: int = 0) -> Iterator[Run]:
    """What an interpreter is given first."""
    skip = False
    for number, (at, written) in enumerate(words):
        word = _bare(written)
        if skip:
            skip = False
        elif word == "-m" and is_python and number + 1 < len(words):
            place, module = words[number + 1][0], _bare(words[number + 1][1])
            if module in ("coverage", "pdb", "cProfile", "torch.distributed.launch", "torch.distributed.run"):
                rest = [one for one in words[number + 2 :] if _bare(one[1]) != "run"] if depth < _DEEPEST else []
                yield from _argument(rest, is_python, depth + 1)
            elif module == "pytest":
                yield from (Run(p, _bare(w), False) for p, w in words[number + 2 :] if _bare(w).endswith(".py"))
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


def _bare(word: str) -> str:
    """A word without its quotes."""
    return word.replace('"', "").replace("'", "")
