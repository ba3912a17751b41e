"""Environment variables and build options: where they are read, set, declared and documented.

In: a file of any language. Out: an end for each occurrence, whose `name` is the variable. Programs read variables in
the ways that the description of their language lists, or through a function of the repository with "env" in its name.
A shell script reads variables in capitals that it never assigns. For documents, every name that is written like a
variable is reported; which of these are variables is only known after all files have been read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from concordance.base.model import Kind, Role
from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.draft import ROLE_CODES
from concordance.extract.reading.rule_context import RuleContext
from concordance.extract.registry import language_of

READS, SETS, REMOVES = "reads", "sets", "removes"
# What stands for itself in the patterns of a language: a literal, or the name of a constant of the file.
_LITERAL = rb"(?:[rbuLU]*[\"'`](?P<name>[A-Za-z_]\w*)[\"'`]|(?P<constant>[A-Za-z_]\w*)(?:\.c_str\(\))?)"
_VALUE = rb"(?:[rbuLU]*[\"'`](?P<name>[A-Za-z_]\w*)[\"'`])"
# A function with "env" in its name, called with a name in capitals; letters before the match belong to its name.
WRAPPER = re.compile(rb"(?:env|Env|ENV)\w{0,80}\s*\(\s*[rbuL]*[\"'](?P<name>[A-Z][A-Z0-9_]{2,})[\"']\s*[,)]")
DIRECT = frozenset((b"getenv", b"setenv", b"putenv", b"unsetenv", b"getenvb", b"secure_getenv", b"_putenv"))
CHANGING = re.compile(rb"(?i:^_*(?:set|put|with|temp|override|patch|mock|scoped|add)|setenv|putenv|guard)")
REMOVING = re.compile(rb"(?i:^_*(?:unset|del|remove|clear|pop))")


LANGUAGES = ()
WORDS = (b"_", b"env", b"ENV", b"option")
DECLARES, DOCUMENTS = "declares", "documents"
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]+")
_NAMED = re.compile(rb"(?<![\w$/.-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w/(-])")
_CODE = re.compile(rb"`(?:export\s+|\$\{?)?([A-Z][A-Z0-9_]{2,})\}?(?:=[^`]*)?`")
_SPOKEN = re.compile(rb"(?i:environment\s+variable|\benv(?:\.|ironment)?\s+vars?\b|\benvvars?\b)")
_LISTED = re.compile(rb"^#[ \t]+([A-Z][A-Z0-9_]{1,})(?:=\S*)?[ \t]*$", re.M)
_ENVVAR = re.compile(rb"^[ \t]*\.\. envvar:: ([A-Za-z_]\w*)", re.M)
_ROLE = re.compile(rb":envvar:`(?:[^`<]*<)?([A-Za-z_]\w*)")
_HEAD = re.compile(rb"\A(?:#[^\n]*\n|[ \t]*\n)+|\A(?:\s*#[^\n]*\n)*\s*[rR]?\"\"\".*?\"\"\"", re.S)
_AROUND = 90  # bytes around the words "environment variable" in which its name is searched
_TEXTS = frozenset(
    ("comment", "string", "string_content", "string_literal", "raw_string_literal", "raw_string_content",
     "string_start",
     "string_end", "line_comment", "block_comment", "template_string", "string_fragment", "raw_string", "heredoc_body")
)  # fmt: skip
_CODE_IN_TEXT = frozenset(("interpolation", "template_substitution", "string_expansion", "expansion",
                           "command_substitution", "simple_expansion"))  # fmt: skip
# A copy of the environment: `env = dict(os.environ)`
_COPY = re.compile(rb"=\s*(?:dict\s*\(\s*)?os\.environ\b(?:\s*\.\s*copy\s*\(\s*\))?(?:\s*+\))?[ \t]*+(?:\r?\n|;|#|\Z)")
_PREFIXES = frozenset((b"", b"_", b"_w", b"secure_", b"__secure_"))  # of the system's own functions
_HOME = re.compile(rb"(?<![\w.])([\w.]+)\s*\.\s*\Z")
_NAME_BEFORE = re.compile(rb"\b([A-Za-z_]\w*+)\s*+\Z")
# A test's environment: `patch.dict(os.environ, {…})`
_PATCHED_ENVIRONMENT = re.compile(
    rb"\bpatch\.dict\s*\(\s*(?:os\.environ|[\"']os\.environ[\"'])\s*,\s*(?:values\s*=\s*)?\{([^{}]*)\}"
)
_KEYS = re.compile(rb"[\"']([A-Za-z_]\w*)[\"']\s*:")
_SHELL_USE = re.compile(rb"(?<!\\)\$\{?([A-Z][A-Z0-9_]+)(?![A-Za-z0-9_])")
# What sets a variable in a script: `A=`, `export A=`, `for A in`, `read A`, `local A`
_SHELL_SET = re.compile(
    rb"(?:^|[\s;&|(`{])(?:(?:export|local|readonly|declare|typeset)\s+(?:-\w+\s+)*)?([A-Z][A-Z0-9_]*)(?:\[[^\]]*\])?\+?="
    rb"|\bfor\s+([A-Z][A-Z0-9_]*)\s+in\b|\b(?:read|mapfile|readarray)\s+(?:-\w+\s+(?:\"[^\"]*\"\s+)?)*([A-Z][A-Z0-9_]*)"
    rb"|\blocal\s+([A-Z][A-Z0-9_]*)\b", re.M
)  # fmt: skip
_DEFAULT = re.compile(rb":?[-=?+]")  # a default value shows that the variable is expected from the environment
_EXPORT = re.compile(rb"^[ \t]*export[ \t]+([A-Za-z_]\w*(?:=|[ \t]*(?:\r?$|;|#)))", re.M)
_SHELLS_OWN = (
    "BASH BASH_SOURCE BASH_VERSION BASH_VERSINFO BASHPID BASH_REMATCH BASH_LINENO BASH_SUBSHELL EUID FUNCNAME GROUPS "
    "HOSTTYPE IFS LINENO MACHTYPE OPTARG OPTIND OSTYPE PIPESTATUS PPID PS RANDOM REPLY SECONDS SHELLOPTS SHLVL UID "
    "DIRSTACK COPROC MAPFILE NF NR FS RS"
)
# A build option in Bazel: `bool_flag(name = "fast"`
_FLAG = re.compile(
    rb"\b(?:bool_flag|string_flag|int_flag|string_list_flag|config_setting)\s*\(\s*+(?:[^()]*?,\s*+)?name\s*=\s*\"([^\"]+)\""
)
_LISTS = (
    re.compile(rb"^[ \t]*- ([A-Z][A-Z0-9_]+)=", re.M),
    re.compile(rb"^[ \t]*- name:[ \t]*[\"']?([A-Z][A-Z0-9_]+)[\"']?[ \t]*\r?\n[ \t]+value", re.M),
)
_EXPRESSION = re.compile(rb"\$\{\{(?:[^}$]|\$(?!\{\{))*?\benv\.([A-Za-z_]\w*)")


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield every access to and mention of a variable or option in a file."""
    accesses, words = _accesses_of(context.language)
    if any(word in context.data for word in words):
        yield from _accesses(context, accesses)
    reader = _READERS.get(context.language)
    if reader is not None:
        yield from reader(context)
    elif accesses and _mentions_variables(context.data):
        yield from _documented(context)


@cache
def _accesses_of(language: str) -> tuple[tuple[tuple[str, re.Pattern[bytes], bytes], ...], tuple[bytes, ...]]:
    """Return how programs of a language access variables, and the words of which one is in every file that does."""
    known = language_of("python" if language == "cython" else language)
    accesses = (
        (says, re.compile(pattern.replace(b"LITERAL", _LITERAL).replace(b"VALUE", _VALUE)), mark)
        for says, pattern, mark in known.environment
    )
    return tuple(accesses), known.environment_marks


def _mentions_variables(data: bytes) -> bool:
    """True if a file contains the words "environment variable"; starts with a cheap test, because few files do."""
    return any(word in data for word in (b"nvironment var", b"nvironment\n", b"nv var", b"nvvar")) and (
        _SPOKEN.search(data) is not None
    )


def _is_code(context: RuleContext, at: int) -> bool:
    """True if the text at an offset is code: not in a comment or string, unless in an expression inside a string."""
    for node in reversed(context.path(at)):
        if node.type in _CODE_IN_TEXT:
            return True
        if node.type in _TEXTS:
            return node.start_byte == at  # the literal itself
    return not context.in_comment(at)


def _accesses(context: RuleContext, accesses: tuple[tuple[str, re.Pattern[bytes], bytes], ...]) -> Iterator[BridgeEnd]:
    """Yield the variables that a program reads, sets or removes."""
    seen = set()
    for says, pattern, mark in accesses:
        for match in pattern.finditer(context.data) if mark in context.data else ():
            name = _name(context, match)
            name_offset = max(match.start(group) for group in match.groupdict())
            known = not match[0][:1].isalpha() or _name_start(context.data, match.start()) in _PREFIXES
            if (
                name
                and known
                and name_offset not in seen
                and _is_code(context, match.start())
                and _is_systems(context, match)
            ):
                seen.add(name_offset)
                yield BridgeEnd(match.start(), says, name, _words(match))
    for match in WRAPPER.finditer(context.data):
        start = match.start() - len(_name_start(context.data, match.start()))
        function = context.data[start : match.end()].partition(b"(")[0].strip()
        if function not in DIRECT and match.start("name") not in seen and _is_code(context, start):
            says = REMOVES if REMOVING.match(function) else SETS if CHANGING.search(function) else READS
            yield BridgeEnd(start, says, match["name"].decode(), function.decode(), (("by", function.decode()),))
    if context.language == "python" and b"os.environ" in context.data:
        yield from _copies(context)


def _name_start(data: bytes, at: int) -> bytes:
    """Return the identifier characters right before an offset: the start of a longer name."""
    start = at
    while start and (data[start - 1 : start].isalnum() or data[start - 1 : start] == b"_"):
        start -= 1
    return data[start:at]


def _is_systems(context: RuleContext, match: re.Match[bytes]) -> bool:
    """True if `environ` in Python is `os.environ`; WSGI servers pass a request under the same name."""
    at = match[0].rfind(b"environ")
    if context.language != "python" or at < 0:
        return True
    user_folder = _HOME.search(context.data, max(0, match.start() + at - 60), match.start() + at)
    if user_folder is None:
        return context.bound.get("environ") == "os.environ"
    return user_folder[1] == b"os" or context.bound.get(user_folder[1].decode("utf-8", "replace")) == "os"


def _words(match: re.Match[bytes]) -> str:
    return " ".join(match[0].decode("utf-8", "replace").split())[:80]


def _name(context: RuleContext, match: re.Match[bytes]) -> str:
    """Return the variable's name: the literal, or the value of a constant that the file defines once."""
    groups = match.groupdict()
    literal = groups.get("name") or groups.get("other")
    if literal:
        return literal.decode()
    constant = groups.get("constant")
    if not constant or not (constant.strip(b"_")[:1].isupper() or constant.startswith(b"k")):
        return ""
    given = rb"\b%s\b\s*(?::[^=\n]*)?(?:\[\])?\s*(?:=|\{)\s*[rbuL]?[\"']([A-Za-z_]\w*)[\"']" % re.escape(constant)
    matches = set(re.findall(given, context.data))
    return matches.pop().decode() if len(matches) == 1 else ""


def _copies(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield what is stored in a copy of the environment, e.g. for a subprocess, or set by `patch.dict`."""
    before = (
        _NAME_BEFORE.search(context.data, max(0, match.start() - 80), match.start())
        for match in _COPY.finditer(context.data)
    )
    for copy in sorted({copied[1] for copied in before if copied}):
        pattern = rb"\b%s\s*\[\s*[\"']([A-Za-z_]\w*)[\"']\s*\](\s*(?:=(?!=)|\+=))?" % re.escape(copy)
        for match in re.finditer(pattern, context.data):
            if _is_code(context, match.start()):
                yield BridgeEnd(match.start(), SETS if match[2] else READS, match[1].decode(), _words(match))
    for match in _PATCHED_ENVIRONMENT.finditer(context.data):
        for key in _KEYS.finditer(match[1]):
            if _is_code(context, match.start()):
                yield BridgeEnd(match.start(1) + key.start(), SETS, key[1].decode(), _words(key))


def _documented(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the names near the words "environment variable", in comments and strings only."""
    seen = set()
    for match in _SPOKEN.finditer(context.data):
        start, end = max(0, match.start() - _AROUND), match.end() + _AROUND
        for name in re.finditer(rb"(?<![\w$])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w|\()", context.data[start:end]):
            at = start + name.start()
            if at not in seen and not _is_code(context, at):
                seen.add(at)
                yield BridgeEnd(at, DOCUMENTS, name[0].decode())


def _python(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield the documented variables, including those listed in the comment or docstring that starts the file."""
    seen = set()
    if _mentions_variables(context.data):
        for end in _documented(context):
            seen.add(end.at)
            yield end
        head = _HEAD.match(context.data)
        for match in _LISTED.finditer(head[0]) if head else ():
            if match.start(1) not in seen:
                yield BridgeEnd(match.start(1), DOCUMENTS, match[1].decode())


def _prose(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield every name in a document that is written like a variable's."""
    data = context.data
    at = {match.start(): match[0] for match in _NAMED.finditer(data)}
    at.update((match.start(1), match[1]) for pattern in (_CODE, _ROLE) for match in pattern.finditer(data))
    for match in _ENVVAR.finditer(data):
        at.pop(match.start(1), None)
        yield BridgeEnd(match.start(1), DECLARES, match[1].decode(), match[0].decode().strip(), (("what", "variable"),))
    for place, name in at.items():
        yield BridgeEnd(place, DOCUMENTS, name.decode())


def _shell(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield what a script reads from its environment, and what it exports."""
    data = context.data
    own = frozenset(_SHELLS_OWN.split())
    given = {name for groups in _SHELL_SET.findall(data) for name in groups if name}
    for match in _SHELL_USE.finditer(data):
        name = match[1].decode()
        array = data[match.end() : match.end() + 1] == b"["  # an environment cannot hold arrays
        if match[1] not in given and name not in own and not array and _is_expanded(context, match.start()):
            asks = data[match.start() + 1 : match.start() + 2] == b"{" and _DEFAULT.match(data, match.end())
            by = "sourcing" if context.imports and not asks else "shell"
            yield BridgeEnd(match.start(1), READS, name, _words(match), (("by", by),))
    for match in _EXPORT.finditer(data):
        name = re.match(rb"\w+", match[1])
        if name is not None and _is_code(context, match.start(1)):
            yield BridgeEnd(match.start(1), SETS, name[0].decode(), _words(match))


def _is_expanded(context: RuleContext, at: int) -> bool:
    """True if the shell expands the text at an offset."""
    if context.in_comment(at):
        return False
    return any(node.type in ("simple_expansion", "expansion", "arithmetic_expansion") for node in context.path(at)[-3:])


def _cmake(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield options, and names that a build file reads and that may be options."""
    draft = context.draft
    declared = set()
    for definition in draft.definitions:
        is_option = not {"option", "CACHE"}.isdisjoint(definition.modifiers) and "INTERNAL" not in definition.modifiers
        if is_option and definition.kind == Kind.VARIABLE:
            declared.add(definition.at)
            forced = "CACHE" in definition.modifiers and definition.signature.rstrip(" )").endswith("FORCE")
            yield BridgeEnd(
                definition.at,
                SETS if forced else DECLARES,
                definition.name,
                definition.signature,
                (("what", "option"),),
            )
    for start, end in draft.ends.items():
        if start not in declared and draft.roles[start] == ROLE_CODES[Role.READ]:
            name = context.source.slice(start, end)
            if _CAPITALS.fullmatch(name) and not name.startswith(("CMAKE_", "PROJECT_")):
                yield BridgeEnd(start, READS, name, "", (("what", "option"),))


def _dockerfile(context: RuleContext) -> Iterator[BridgeEnd]:
    for definition in context.draft.definitions:
        if "ENV" in definition.modifiers:
            yield BridgeEnd(definition.at, SETS, definition.name, definition.signature)


def _starlark(context: RuleContext) -> Iterator[BridgeEnd]:
    for match in _FLAG.finditer(context.data):
        if not context.in_comment(match.start()):
            yield BridgeEnd(match.start(1), DECLARES, match[1].decode(), _words(match), (("what", "option"),))


def _yaml(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield what workflows, container compositions and similar files put into an environment."""
    for match in _EXPRESSION.finditer(context.data):
        if not context.in_comment(match.start()):
            yield BridgeEnd(match.start(1), READS, match[1].decode(), _words(match))
    inner = [d for d in context.draft.definitions if d.kind == Kind.KEY]
    for table in [d for d in inner if d.name in ("env", "environment", "variables")]:
        for definition in inner:
            if table.at < definition.at and definition.end <= table.end and _CAPITALS.fullmatch(definition.name):
                yield BridgeEnd(definition.at, SETS, definition.name, definition.signature)
        body = context.data[table.at : table.end]
        for pattern in _LISTS:
            for match in pattern.finditer(body):
                yield BridgeEnd(table.at + match.start(1), SETS, match[1].decode(), _words(match))


_READERS = {
    "python": _python, "cython": _python, "markdown": _prose, "rst": _prose, "text": _prose, "shell": _shell,
    "cmake": _cmake, "dockerfile": _dockerfile, "starlark": _starlark, "yaml": _yaml,
}  # fmt: skip
