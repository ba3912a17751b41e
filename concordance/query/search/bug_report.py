"""Reads a bug report, a stack trace or the output of a test run.

In: text as people paste it: Markdown, tracebacks of Python, C and C++ (gdb, sanitizers, valgrind, core dumps, kernels,
failed assertions), Java, Go, Rust and JavaScript, output of pytest, unittest, gtest, `go test` and `cargo test`. Out: a
`BugReport`, which lists what the text says about code: frames, paths, names, error messages, options, quoted strings,
failed tests, and the remaining words with the title first. Nothing is looked up here.

What only describes the reporter's machine is dropped, because its words are rare and would lead astray: comments of an
issue template, its sections about versions and platforms, check lists, addresses, and lines that list a package with
its version. So are names that the reporter's own example defines.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from concordance.link.python.builtin_types import BUILTIN_NAMES
from concordance.query.search.example_code import DOTTED, SEPARATOR, ExampleCode, read_example


class StackFrame(NamedTuple):
    """One line of a stack trace."""

    path: str  # as printed: absolute, relative, or made from a Java class; "" if the trace only has functions
    line: int
    function: str  # "" if the trace does not say
    source: str = ""  # the line of source that is printed with it


class BugReport(NamedTuple):
    """What a report says about code."""

    title: str
    words: str  # the text for full-text search: the title, the prose, then code
    traces: list[list[StackFrame]]  # the innermost frame first
    paths: list[str]
    lines: list[tuple[str, int]]  # lines of files that a patch in the report changes, or that it links to
    names: dict[str, float]  # names as they are spelled; 1.0 if written in prose, less if only in an example
    messages: list[str]  # lines that may be an error message
    literals: list[str]  # options, environment variables, and quoted text
    output: list[str]  # lines that a program printed
    imported: frozenset[str]  # modules that the reporter's example imports
    tests: list[str]  # tests that failed, as their class and name, or name alone
    unread: int  # characters of a long text that were not read


IN_EXAMPLE = 0.5  # weight of a name that only the reporter's example uses: it shows the way in, not the fault
BLAMED = 1.5  # weight of a name that an error message blames
_MAX_TEXT, _MAX_LINE = 200_000, 2_000  # characters that are read; of a longer text …
_HEAD, _TAIL = _MAX_TEXT // 10, _MAX_TEXT // 2  # … its beginning and its end, and the traces and errors between them
_TELLING = re.compile(  # a line that may be part of a trace or say what failed
    r"\.\w+[\"']?[:,(] ?(?:line )?\d|\b(?:\w*Error|\w*Exception|FAIL\w*|panicked|Traceback)\b|\b0x[0-9a-f]+|^\s*at \S"
)
_NUMBER = re.compile(r"\d+")
_SPACE = re.compile(r"[\u00a0\u2000-\u200a\u202f\u3000]")  # other than the usual one, as browsers copy them
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_ADDRESS = re.compile(r"https?://[^\s)>\]]+")
_BLOB = re.compile(r"/(?:blob|tree|raw|blame)/[^/\s]+/([^\s#?)>\]]+)(?:#L(\d+))?")  # a file on a code host
_PATCHED = re.compile(r"^\+\+\+ (?:b/)?(\S+)|^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", re.M)
_PATCH_CONTEXT = 3  # lines that a patch shows before what it changes
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n`]*\n(.*?)(?:^[ \t]*(?:`{3,}|~{3,})[ \t]*$|\Z)", re.S | re.M)
_EMPHASIS = re.compile(r"(?<![\w`*])_([A-Za-z][a-z][^_\n`]{0,200})_(?![\w`])")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_QUOTED = re.compile(r"^[ \t]{0,3}>[ \t]*(\S.*)$", re.M)
_TASK = re.compile(r"^[ \t]*[-*] \[[ xX]\].*$", re.M)
_PACKAGE = re.compile(r"^[\w.\[\]-]+\s*(?:==|>=|<=|~=|@|:)?\s*v?\d+(?:\.\d+)+\S*(?:\s+\S+)?\s*$")
_VERSION = re.compile(r"(?<![\w.-])v?\d+(?:\.\d+)+(?:[-+.]?(?:a|b|rc|alpha|beta|dev|post)\.?\d*)?(?![\w.-]*\w)")
_RULER = re.compile(r"^[\W_]*$")
_INDENTED = re.compile(  # code without a fence: indented, or with the prompt of an interpreter
    r"(?:^(?:\t|[ ]{4,})(?![-*+] |\d+[.)] ).*[=(){}\[\];:].*\n?|^[ \t]*(?:>>> |\.\.\. |In \[\d+\]: ).*\n?)+", re.M
)
_HEADING = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+(.+)|\*\*([^*]+)\*\*:?)[ \t]*$")
_MACHINE = re.compile(  # headings of sections about the reporter's machine
    r"[^a-z]*(?:[\w.]+ ){0,3}`?"
    r"(?:versions?|environment|platform|operating system|system info(?:rmation)?|browsers?|os|crates)`?(?: \S+){0,3}"
    r"|(?:additional|installed) (?:library|libraries|packages).*|output of .*versions?\W*",
    re.I,
)
_DESCRIBES_MACHINE = re.compile(  # a line of a list or table, of markup, of code, of versions, or `System: Linux`
    r"\s*(?:[-*+•|<`~$>#]|\d+[.)] )|\s{4}|[A-Za-z][\w ./()-]{0,30}:|.*\d\.\d|\S+$"
)
_SENTENCE = 4  # words from which on a quotation is a sentence
_UNANSWERED = frozenset(("_No response_", "*No response*", "No response", "N/A", "n/a"))

_PREFIX = r"^(?:\w+> ?|[ \t>|]|E  )*"  # what programs print before each line of a trace
_PYTHON = re.compile(_PREFIX + r'File "([^"\n]+)", line (\d+)(?:, in (\S+))?')
_PYTEST = re.compile(_PREFIX + r"([^\s:]+\.py):(\d+): (?:in (\S+))?")
_NOTEBOOK = re.compile(_PREFIX + r"(?:File )?((?:[A-Za-z]:)?[^\s:<>]+\.pyx?)(?::(\d+),)? in ([\w.<>]+)\(")  # IPython
_EXCERPT = re.compile(r"^(?:(-+>) ?|\s+)(\d+)\b(.*)$")  # a line of source below such a frame, marked if it is the line
_JAVA = re.compile(_PREFIX + r"at (?:[\w.]+/+)?((?:[\w$]+\.)+)([\w$<>]+)\((\w+\.\w+):(\d+)\)")
_SCRIPT = re.compile(
    _PREFIX + r"at (?:async )?(?:new )?(?:([\w.$<>]+)(?: \[as \w+\])? \()?(?:file://)?([^\s()]+?):(\d+):\d+\)?"
)
_DEBUGGER = re.compile(_PREFIX + r"#\d+:?\s+(?:0x[0-9a-f]+ )?(?:in )?([\w:~<>]+)[^\n]*? (?:at )?([^\s()]+\.\w+):(\d+)")
_COMPILED = re.compile(
    _PREFIX + r"(?:at |panicked at |thread '[^']*' panicked at )?([^\s:()'\",]+\.(?!py\b)[A-Za-z]\w*):(\d+)(?::\d+)?\b"
)
_VALGRIND = re.compile(
    _PREFIX + r"(?:==\d+==\s+)?(?:at|by) 0x[0-9A-Fa-f]+: ([\w:~<>]+)[^\n]*? \(([^\s():]+\.\w+):(\d+)\)"
)
_ASSERTED = re.compile(  # of systemd, glib and libc
    r"(?:\bfailed at |ERROR:|^\S+: )([^\s:,()'\"]+\.\w+):(\d+)(?:, function |: ?(?:[\w:<>*&]+ )*)([\w:~]+)"
    r"(?:\([^)]*\))?(?:\.|: [Aa]ssertion)"
)
_PANICKED = re.compile(r"panicked at .*, ([^\s,:]+\.rs):(\d+)")
_RUST_CALL = re.compile(r"^\d+:\s+(?:0x[0-9a-f]+ - )?([\w:<>{}$#]+?)(?:::h[0-9a-f]{16})?$")
# Frames without a file: of a core dump, and of a kernel.
_BARE = re.compile(
    _PREFIX + r"(?:#\d+\s+0x[0-9a-f]+ (?:in )?(\w+) \([^()]*\)|(?:\? |RIP: \S*:)?(\w+)\+0x[0-9a-f]+/0x[0-9a-f]+\b.*)$"
)
_GO_CALL = re.compile(r"^([\w./*()-]+)\(.*\)$")
_ECHO = re.compile(_PREFIX + r"\s{4}\S")  # the source line that Python prints below a frame
_GAP = 4  # lines that may be between two frames of one trace: source, markers, a repeated message

_PATH = re.compile(r"(?<![\w/])(?:[\w.+-]+[/\\])*[\w+-][\w.+-]*\.[A-Za-z]\w{0,9}\b")
_IDENTIFIER = re.compile(r"(?<![\w./\\-])[A-Za-z_]\w+(?!\w)")
_UNLIKE_A_WORD = re.compile(r"\w*[a-z0-9][A-Z]\w*|\w*[A-Za-z0-9]_\w+|_+[A-Za-z]\w+")
_CALLED = re.compile(r"\b([A-Za-z_]\w+)\((?!e?s\))")  # but not "case(s)"
_NAMED_IN_ERROR = re.compile(  # what an interpreter, a compiler or a linker could not find or call
    r"\b(?:attribute|name|argument:?|module named|property|reading|reference to|symbol:?|method|function|field)"
    r" [`'\"‘“]([A-Za-z_][\w.:]*)['`\"’”]|\b([A-Za-z_][\w.]*) is not (?:a function|defined)\b"
    r"|\b(\w+)\(\) (?:got an unexpected|missing \d+ required|takes \d+)"
)
_BLAMED = re.compile(r"'(\w+)' object has no attribute")  # the class that lacks something
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]+")
_VARIABLE = re.compile(r"\$\{?([A-Z][A-Z0-9_]{3,})\}?|\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b")
_STRING = re.compile(r"(?<!\w)(?:\"([^\"\n]{6,120})\"|'([^'\n]{6,120})'|“([^”\n]{6,120})”)(?!\w)")
_MESSAGE = re.compile(
    r"^(?:E\s+|[\w.: /-]*?)\b((?:[\w.]*(?:Error|Exception|Warning|Failure|Fault)|error|panic|fatal|FATAL|ERROR|WARNING)"
    r"\b[^:\n]{0,40}:\s*\S.*)$"
)
_PYTEST_LINE = re.compile(r"^E\s{2,}(?!\s*(?:[+?-] |assert ))(\S.{8,})$")
_WORD = re.compile(r"(?<!\S)[A-Za-z][a-z]+(?=[\s,.:;]|$)")
_STATEMENT = re.compile(
    r"^\s*(?:def|class|import|from|return|if|for|while|with|try|assert|raise|func|fn|let|const|var|pip)\b"
    r"|[{};]\s*$|^[#>$]| = "
)


def parse_report(text: str) -> BugReport:
    """Read a report."""
    text, unread = _shorten(_SPACE.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")))
    text = _COMMENT.sub("", text)
    linked = [(match[1], int(match[2] or 0)) for match in _BLOB.finditer(text)]
    text = _TASK.sub("", _ADDRESS.sub(" ", text))
    lines = [line[:_MAX_LINE] for line in text.split("\n") if not _PACKAGE.match(line[:_MAX_LINE].strip())]
    essential = list(_without_form(lines))
    lines = essential if any(map(str.strip, essential)) else lines
    traces, plain, echoed = _split_traces(lines)
    rest = "\n".join(plain)
    blocks = [match[1] for match in _FENCE.finditer(rest)]
    prose = _EMPHASIS.sub(r"\1", _FENCE.sub("\n", rest))
    blocks += _INDENTED.findall(prose)
    prose = _INDENTED.sub("\n", prose)
    title = next((line.strip() for line in prose.split("\n") if line.strip()), "")
    examples = "\n".join(blocks)
    words = "\n".join((prose, *(line for line in examples.split("\n") if not _RULER.match(line)), *echoed))
    words = _VERSION.sub(" ", words)
    paths = dict.fromkeys((*(path for path, _ in linked), *map(_slashes, _PATH.findall(rest))))
    example = read_example("\n".join((examples, *_SPAN.findall(prose))))
    return BugReport(
        title, words, traces, list(paths), [*_patched_lines(text), *(link for link in linked if link[1])],
        _names(prose, examples, example), _messages(lines, prose), _literals(prose, examples), _output(blocks),
        example.modules, list(dict.fromkeys(_failed_tests(lines))), unread,
    )  # fmt: skip


def _shorten(text: str) -> tuple[str, int]:
    """Return what is read of a text, and how many characters are not: of a long log the beginning, the end, where
    programs say what failed, and of what is between them the last lines of traces and errors, with what is around."""
    if len(text) <= _MAX_TEXT:
        return text, 0
    begin, end = text.rfind("\n", 0, _HEAD) + 1 or _HEAD, text.find("\n", len(text) - _TAIL) + 1 or len(text) - _TAIL
    between = text[begin:end].split("\n")
    left = _MAX_TEXT - begin - (len(text) - end)
    kept: dict[int, str] = {}
    known: set[str] = set()  # a log repeats itself, but for its numbers
    for number in range(len(between) - 1, -1, -1):
        line = between[number][:_MAX_LINE]
        if _TELLING.search(line) and (alike := _NUMBER.sub("0", line)) not in known:
            known.add(alike)
            for near in range(number + _GAP - 1, number - _GAP, -1):
                if 0 <= near < len(between) and near not in kept and left > 0:
                    kept[near] = between[near][:_MAX_LINE]
                    left -= len(kept[near]) + 1
        if left <= 0:
            break
    read = "\n".join((text[:begin], *(kept[number] for number in sorted(kept)), text[end:]))
    return read, max(0, len(text) - len(read))


def _without_form(lines: Sequence[str]) -> Iterator[str]:
    """Leave out what the form of a project's reports asks for besides the fault: sections about the reporter's machine,
    and questions that were not answered. Such a section ends where a paragraph tells something else."""
    machine, fenced, answered, after_blank, heading = False, False, False, False, ""
    title = next((line for line in lines if line.strip()), "")
    for line in lines:
        text = line.strip()
        if machine and (_frame(line, "") is not None or _MESSAGE.match(text)):
            machine, heading = False, "```" if fenced else ""
        elif machine and not fenced and text and after_blank and (answered or heading is title):
            machine = _DESCRIBES_MACHINE.match(line) is not None and len(_WORD.findall(text)) < _SENTENCE
            heading = "" if answered else heading
        after_blank, fenced = not text, fenced ^ text.startswith(("```", "~~~"))
        match = None if fenced else _HEADING.match(line)
        if match is not None:
            if heading and not machine:
                yield heading
            machine, answered, heading = bool(_MACHINE.fullmatch((match[1] or match[2]).strip(" *:_#"))), False, line
        elif text in _UNANSWERED:
            heading = ""
        elif not machine:
            if heading and text:
                yield heading
                heading = ""
            yield line
        answered = answered or (match is None and bool(text))
    if heading and not machine:
        yield heading


def _patched_lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield where a patch in the report changes files: what its author thinks is at fault."""
    path = ""
    for match in _PATCHED.finditer(text):
        if match[1]:
            path = match[1]
        elif path:
            context = min(_PATCH_CONTEXT, int(match[3] or 1) - 1)
            yield path, int(match[2]) + max(0, context)


# --- traces


def _split_traces(lines: list[str]) -> tuple[list[list[StackFrame]], list[str], list[str]]:
    """Return the stack traces of a text, its other lines, and the lines of source that are printed in the traces."""
    traces: list[list[StackFrame]] = []
    inner_last: list[bool] = []
    plain: list[str] = []
    echoed: list[str] = []
    last = -_GAP - 1
    in_notebook = False
    for number, line in enumerate(lines):
        excerpt = _EXCERPT.match(line) if in_notebook else None
        if excerpt is not None:
            if excerpt[1]:
                echoed.append(excerpt[3])
                traces[-1][-1] = traces[-1][-1]._replace(line=int(excerpt[2]))
            last = number
            continue
        parsed = _frame(line, lines[number - 1] if number else "")
        in_notebook = parsed is not None and _NOTEBOOK.match(line) is not None
        if parsed is None:
            is_echo = number == last + 1 and inner_last[-1] and _ECHO.match(line)
            (echoed if is_echo else plain).append(line)
            if is_echo:
                traces[-1][-1] = traces[-1][-1]._replace(source=line.strip(" \t>|"))
            continue
        frame, is_inner_last = parsed
        if number - last > _GAP or inner_last[-1] != is_inner_last:
            traces.append([])
            inner_last.append(is_inner_last)
        traces[-1].append(frame)
        last = number
    return [trace[::-1] if last else trace for trace, last in zip(traces, inner_last, strict=True)], plain, echoed


def _frame(line: str, before: str) -> tuple[StackFrame, bool] | None:
    """Return the frame on a line, and True if its language prints the innermost frame last."""
    for pattern in (_PYTHON, _PYTEST):
        if match := pattern.match(line):
            return StackFrame(_slashes(match[1]), int(match[2]), match[3] or ""), True
    if match := _NOTEBOOK.match(line):
        return StackFrame(_slashes(match[1]), int(match[2] or 0), match[3].rpartition(".")[2]), True
    if match := _JAVA.match(line):
        package = match[1].rstrip(".").split(".")[:-1]
        return StackFrame("/".join((*package, match[3])), int(match[4]), match[2]), False
    if match := _ASSERTED.search(line):
        return StackFrame(_slashes(match[1]), int(match[2]), SEPARATOR.split(match[3])[-1]), False
    if match := _PANICKED.search(line):
        return StackFrame(_slashes(match[1]), int(match[2]), ""), False
    if match := _BARE.match(line):
        return StackFrame("", 0, match[1] or match[2]), False
    if match := _SCRIPT.match(line) or _DEBUGGER.match(line) or _VALGRIND.match(line):
        function = SEPARATOR.split(match[1] or "")[-1] or _called_above(match[2], before.strip())
        return StackFrame(_slashes(match[2]), int(match[3]), function), False
    if match := _COMPILED.match(line):
        return StackFrame(_slashes(match[1]), int(match[2]), _called_above(match[1], before.strip())), False
    return None


def _called_above(path: str, before: str) -> str:
    """Return the function of a frame whose language prints it on the line above the file; "" if that has none."""
    if path.endswith(".go") and (call := _GO_CALL.match(before)):
        return call[1].rpartition(".")[2]
    if path.endswith(".rs") and (call := _RUST_CALL.match(before)):
        return next((part for part in reversed(call[1].split("::")) if part.isidentifier()), "")
    return ""


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


# --- tests


_FAILED_TESTS = tuple(map(re.compile, (
    r"\[\s*FAILED\s*\]\s+(?:\w+/)?(\w+)(?:/\d+)?\.(\w+)",  # gtest
    r"(?:FAILED|ERROR) \S+?\.py(?:::(\w+))?::(\w+)",  # pytest
    r"(?:FAIL|ERROR): (?=\w+ \((?:\w+\.)*?(\w+)(?:\.test\w*)?\))(\w+)",  # unittest: the class is in parentheses
    r"--- FAIL: ()(\w+)",  # go test
    r"test (?:(?:\w+::)*(\w+)::)?(\w+) \.\.\. FAILED",  # cargo test
)))  # fmt: skip


def _failed_tests(lines: Iterable[str]) -> Iterator[str]:
    """Yield the tests that a run says have failed."""
    for line in lines:
        for pattern in _FAILED_TESTS:
            if match := pattern.search(line):
                yield f"{match[1]}.{match[2]}" if match[1] else match[2]
                break


# --- names, messages and literals


def _names(prose: str, examples: str, example: ExampleCode) -> dict[str, float]:
    """Return names with their weights: those of prose if they are marked or spelled as code, and those of examples."""
    not_names = BUILTIN_NAMES | {"self", "this", "cls", *keyword.kwlist}
    written: dict[str, float] = {}

    def add(name: str, weight: float) -> None:
        whole = example.expand(name)
        if not whole and SEPARATOR.search(name):
            whole = SEPARATOR.split(name)[-1]  # a method of something that the example has made
        if whole and SEPARATOR.split(whole)[0] not in not_names:
            written[whole] = max(weight, written.get(whole, 0.0))

    for span in _SPAN.findall(prose):
        called = _CALLED.findall(span)
        for name in _code_names(span, all_words=not _is_sentence(span)):
            is_marked = _is_name(span) or name in called or _UNLIKE_A_WORD.fullmatch(name) is not None
            add(name, 1.0 if is_marked else IN_EXAMPLE)
    for name in _code_names(_SPAN.sub(" ", prose), all_words=False):
        add(name, 1.0)
    for match in _NAMED_IN_ERROR.findall(f"{prose}\n{examples}"):
        add(next(filter(None, match)), 1.0)
    for name in _BLAMED.findall(f"{prose}\n{examples}"):
        add(name, BLAMED)
    for name in _code_names(examples, all_words=False):
        add(name, IN_EXAMPLE)
    return written


def _is_sentence(text: str) -> bool:
    """True if a quotation is an error message or other output, not code."""
    return len(_WORD.findall(text)) >= _SENTENCE and not _STATEMENT.search(text)


def _is_name(span: str) -> bool:
    """True if a piece of code is one name or call, not a command or statement."""
    return len(span.split()) == 1 or span.partition("(")[0].replace(".", "").replace("::", "").isidentifier()


def _code_names(text: str, all_words: bool) -> Iterator[str]:
    yield from DOTTED.findall(text)
    called = set(_CALLED.findall(text))
    for name in _IDENTIFIER.findall(DOTTED.sub(" ", text)):
        if all_words or name in called or _UNLIKE_A_WORD.fullmatch(name):
            yield name


def _messages(lines: Iterable[str], prose: str) -> list[str]:
    """Return the lines that look like an error message, the most frequent ones of a long output once."""
    messages: dict[str, None] = {}
    for line in lines:
        text = line.strip().removeprefix("INTERNALERROR>").strip()
        match = _MESSAGE.match(text) or _PYTEST_LINE.match(text)
        if match:
            messages.setdefault(match[1].strip())
    quoted = [match[1].strip() for match in _QUOTED.finditer(prose)] + _SPAN.findall(prose)
    quoted += ["".join(text) for text in _STRING.findall(_SPAN.sub(" ", prose))]
    return list(dict.fromkeys((*messages, *filter(_is_sentence, quoted))))


def _output(blocks: list[str]) -> list[str]:
    """Return the lines of examples that are sentences rather than code."""
    lines = [line.strip().removeprefix("E ").strip() for block in blocks for line in block.split("\n")]
    return [line for line in lines if len(_WORD.findall(line)) >= 3 and not _STATEMENT.search(line)]


def _literals(prose: str, examples: str) -> list[str]:
    """Return options, variables and quoted strings: text that must be in the code as it is written here."""
    literals: dict[str, None] = {}
    for text in (prose, examples):
        options = _OPTION.findall(text)
        literals.update(
            dict.fromkeys((*options, *(f"--{option[5:]}" for option in options if option.startswith("--no-"))))
        )
        literals.update(dict.fromkeys(one or other for one, other in _VARIABLE.findall(text)))
    for quoted in _STRING.findall(_SPAN.sub(" ", prose)):
        literals.setdefault("".join(quoted).strip())
    return list(literals)
