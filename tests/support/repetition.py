"""`python -m bench repetition [LANGUAGE …] [--tokens T …] [--size KB …] [--deadline S] [--all]`: files of one repeated token.

In: languages (all by default), tokens (those of `TOKENS` by default; escapes such as `\\n` are understood), sizes in
kilobytes (15, 30 and 60 by default). Out: a table: for every language and token the CPU time of each size, by how much
it grew with the last doubling (2 is linear, 4 is quadratic), the slowest stage, and what the ledger says was not read.

Reading must be linear in the size of any file, because a repository may hold a file that was made to be slow: the bar
is one second of CPU time for a megabyte. A child process does with each file what a worker does (classification,
macros, extraction, packing, full text) and what a page of the file needs (highlighting); a child that exceeds the
deadline is killed, and a new one goes on with the next token. `--profile` prints where the largest size spends its time.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from concordance.collect.classify import Classifier
from concordance.extract import engine, registry
from concordance.extract.cfamily import macros
from concordance.extract.text import highlight
from concordance.facts.codec import pack, unpack
from concordance.facts.fulltext.file_words import content_words
from concordance.facts.fulltext.words import WordNormalizer

BLANKS = " " * 2000
TOKENS = (
    "(", ")", "[", "]", "{", "}", "<", ">", "()", "[]", "{}", "<>", "( ", "[ ", "{ ", "< ", "(\n", "{\n", "[\n", "<\n", "}\n", "{}\n",
    '"', "'", "`", '"""', "'''", "```", '" ', "' ", "` ", '"\n', "'\n", "`\n", '"""\n', "'''\n", "```\n", '""" ', 'f"{', 'R"(', 'r#"', "@\"",
    "/* ", "/*", "*/", "/**/", "/**/ ", "/* */\n", "//", "// ", "//\n", "// x\n", "/// x\n", "#", "# ", "#\n", "# x\n", "##", "<!--", "-->", "/",
    "|", "| ", "|x", "| x ", "|x|\n", "*", "* ", "**", "* x\n", "*x ", "_", "__", "_x_ ", "\\", "\\\n", "\\ ", "\\x", "\\\"", "\\\\\n",
    "http://", "http://x", "http://x ", "x@x.x ", "www.x.", "\n", "\r\n", "\r", "\n\n", " ", "\t", " \n", "\t\n", "x", "x ", "x\n", "x.", "x. ", "x(",
    "x[", "x{", "x<", "x::", "x->", "x,", "x;", "x;\n", "x:", "x: ", "x:\n", "x=", "x = ", "x=1\n", "x = 1;\n", "x()\n", "x();\n", "x!", "x?", "x-",
    "@", "@x ", "@x\n", "@x(", "#if x\n", "#if x\nx\n#else\n", "#else\n", "#endif\n", "#define x x\n", "#define x(", "#include <x>\n", "#x ", "#[x]\n", "#[",
    "template<", "template<class x> ", "<x>", "<x", "</x>", "=>", "->", "::", ";", ",", ":", "- ", "-", "- x\n", "--", "---\n", "--- ", "===\n", "...",
    ".", ". ", ".x", ".. x\n", ".. x::\n", ".. ", "0", "0x", "0 ", "0.", "1e", "9,", "$", "${", "$(", "$x ", "$$", "%", "%s", "%(", "&", "&&", "& ", "&x ",
    "*x: ", "!", "!!", "! ", "~", "~~", "~~~\n", "^", "+", "++", "+ ", "=", "==", "= ", "?", "?:", "x?x:", "if ", "if x ", "if(x)", "if x:\n", "if (x) {\n", "else ",
    "else if ", "for ", "while ", "do ", "return ", "switch ", "case x:", "case x:\n", "try ", "lambda ", "lambda: ", "not ", "await ", "async ", "yield ", "new ",
    "class x ", "class x {", "class x {}\n", "class x:\n", "struct x ", "struct x {", "enum x {", "interface x {", "namespace x {", "message x {", "mod x {",
    "fn x() {", "func x() {", "function x() {", "void x() {", "int x() {}\n", "int x;\n", "int ", "int *", "const ", "def x():\n", "def x(", "def ", "import x\n",
    "import x;\n", "from x import x\n", "import ", "package x;\n", "use x;\n", "using ", "typedef ", "operator ", "extern \"C\" {", "return x;\n", "goto x;\n",
    "[x](x) ", "![x](", "[x]: x\n", "[x][", "[[", "]]", "{{", "}}", "{% ", "<?", "<%", "a1", "A", "é", "é ", "\x01", "\x0c", "\u200b", "\u2028", "😀", "😀 ",
    "日本", "a b c d ", "The x is a y.\n", "x" * 200 + "\n", "x" * 200 + " ", BLANKS + "x", BLANKS + "x\n", "x" + "\t" * 500 + "\n", "x\n" + "\n" * 500,
    "( [", "([", "({", "[{", "{(", '{ "', '{"', '{"x":', '["', "({[<", "(]", ")(", "}{", "(}", "/* \"", "\" '", "' \"", "/*\n*", "'/*", "\"/*", "//\\\n",
    "x = {", "x = [", "x = (", "x(x, ", "x.x(", "x, x = ", "(x) => ", "x => ", "[x, ", "{x: ", "`${", "</", "/x/", "x y ", "x\ny\n", "def x\n  ", "key: ", "key:\n  ",
    "- - ", "-\n", "? ", "| |\n", "+--", "+-+\n", "=====\n=\n", "1. ", "1. x\n", "> ", ">x\n", "RUN x \\\n", "FROM x\n", "set(", "if(x)\n", "$(x ", "x: x\n\tx\n",
    "@interface x\n", "@end\n", "<<<", "<<x\n", "<<", ">>", "<=", "!=", "\x7f", "a=b&", "\\u", "\\begin{x}", "x'", "x\"", "'x'", "\"x\"", "'x' ", "\"x\" ", "\"x\",",
)  # fmt: skip


class Case(NamedTuple):
    """One language and token, measured at every size."""

    language: str
    token: str
    seconds: list[float]  # by size; those after a deadline are missing
    stages: dict[str, float]  # of the largest size that was read in time
    notes: list[str]
    died: str  # why the child gave no answer


def content(token: str, kilobytes: int) -> str:
    """Return a file of about the given size in kilobytes (UTF-8) that repeats a token."""
    return token * max(1, kilobytes * 1024 // len(token.encode()))


def steps(text: str, language: str) -> tuple[dict[str, float], list[str]]:
    """Return the processor seconds of every stage that a worker or a page runs for one file, and what the findings say
    was not read."""
    seconds: dict[str, float] = {}

    def timed(stage: str, call: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = call()
        seconds[stage] = time.process_time() - began
        return result

    form = registry.language_of(language)
    path = "x" + (form.extensions or (".txt",))[0]
    data = text.encode()
    classifier = Classifier(registry.languages(), 1 << 26, "cpp", ())
    timed("classify", lambda: classifier.read_text(path, data))

    def macro_table() -> macros.Macros:
        table = macros.merge([macros.read_defines(data, "x.h")])
        return macros.macros_in(data, table) if form.has_macros else {}

    used = timed("macros", macro_table)
    facts = timed("extract", lambda: engine.extract(text, language, used))
    facts = timed("pack", lambda: unpack(pack(facts)))
    timed("words", lambda: content_words(text, facts, WordNormalizer()))
    timed("highlight", lambda: highlight.highlight_spans(text, language))
    return seconds, [
        f.message
        for f in facts.findings
        if f.by in ("reader", "limit") or "read as text" in f.message or "not read" in f.message
    ]


def serve() -> None:
    """The child process: answer each case on standard input with one line; die when a case exceeds its processor time.
    """
    for line in sys.stdin:
        language, token, size, deadline = json.loads(line)
        text = content(token, size)
        for sample in ("x\n", "<x></x>\n"):  # loads grammars and compiles queries
            steps(sample, language)
        signal.setitimer(signal.ITIMER_PROF, deadline)  # SIGPROF ends the process; a busy machine does not count
        answer = steps(text, language)
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


class Child:
    """A process that measures cases, replaced when it exceeds a deadline or dies."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def ask(self, case: tuple[str, str, int], deadline: float) -> tuple[dict[str, float], list[str]] | str:
        """Return what `steps` returns for a case, or why there is no answer."""
        if self.process is None or self.process.poll() is not None:
            command = [sys.executable, "-m", "bench.repetition"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps((*case, deadline)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if line:
            seconds, notes = json.loads(line)
            return seconds, notes
        code = self.process.wait()
        self.close()
        return "deadline" if code == -signal.SIGPROF else f"died with {code}"

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def measure(child: Child, language: str, token: str, sizes: list[int], deadline: float) -> Case:
    """Read one token at every size, until one takes too long."""
    totals: list[float] = []
    stages: dict[str, float] = {}
    notes: list[str] = []
    for size in sizes:
        answer = child.ask((language, token, size), deadline)
        if isinstance(answer, str):
            return Case(language, token, totals, stages, notes, answer)
        stages, notes = answer
        totals.append(sum(stages.values()))
    return Case(language, token, totals, stages, notes, "")


def verdict(case: Case, sizes: list[int]) -> str:
    """True if a case meets the bar; the fixed cost of reading the smallest file is not counted."""
    if case.died:
        return case.died
    largest = case.seconds[-1]
    fixed = 0.05
    return "slow" if largest > fixed + sizes[-1] / 1024 else "linear"


def shown(case: Case, sizes: list[int]) -> str:
    """Return a row of the table."""
    times = " ".join(f"{seconds:.2f}" for seconds in case.seconds)
    growth = f"{case.seconds[-1] / case.seconds[-2]:.1f}" if len(case.seconds) > 1 and case.seconds[-1] > 0.05 else ""
    slowest = max(case.stages, key=lambda stage: case.stages[stage]) if case.stages else ""
    token = json.dumps(case.token if len(case.token) < 30 else case.token[:12] + "…", ensure_ascii=False)
    notes = "; ".join(sorted(set(case.notes)))[:100]
    return f"| {case.language} | `{token}` | {times} | {growth} | {slowest} | {verdict(case, sizes)} | {notes} |"


def profile(language: str, token: str, size: int) -> None:
    """Print where one file spends its time."""
    steps("x\n", language)
    profiler = cProfile.Profile()
    profiler.enable()
    steps(content(token, size), language)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(12)


def main(words: list[str]) -> None:
    """Print the table: the cases that miss the bar, or all with `--all`, and a count for every language."""
    parser = argparse.ArgumentParser(prog="python -m bench repetition")
    parser.add_argument("languages", nargs="*")
    parser.add_argument("--tokens", nargs="*")
    parser.add_argument("--size", nargs="*", type=int, default=[15, 30, 60])
    parser.add_argument("--deadline", type=float, default=10.0)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args(words)
    tokens = [t.encode("latin-1", "backslashreplace").decode("unicode_escape") for t in options.tokens or ()] or TOKENS
    child = Child()
    print(
        f"| language | token | seconds at {options.size} KB | growth | slowest stage | verdict | not read |\n|---|---|---|---|---|---|---|"
    )
    for language in options.languages or registry.readers():
        counts: dict[str, int] = {}
        worst = 0.0
        for token in tokens:
            if options.profile:
                profile(language, token, options.size[-1])
                continue
            case = measure(child, language, token, options.size, options.deadline)
            found = verdict(case, options.size)
            counts[found] = counts.get(found, 0) + 1
            worst = max(worst, options.deadline if case.died else case.seconds[-1])
            if options.all or found != "linear":
                print(shown(case, options.size), flush=True)
        print(f"| {language} | {len(tokens)} tokens | worst {worst:.2f} | | | {counts} | |", flush=True)
    child.close()


if __name__ == "__main__":
    serve()
