"""Build files: the source files of each target.

In: a file of CMake, Bazel or Buck, Make, Meson, or Python code that calls `Extension`. Out: an end for each word
that names sources: its `name` is the target, its `text` the word, and `how` says how to read it: as a path, a
pattern, an object file or an exclusion. Which files these are is only known after all files have been read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from tree_sitter import Node

from concordance.extract.bridges import BridgeEnd
from concordance.extract.reading.rule_context import RuleContext, arguments

# A CMake command that names sources or builds a list of them
_COMMAND = re.compile(
    rb"(?im)^[ \t]*(?P<name>\w{0,60}add_(?:library|executable|\w{0,60}module)|target_sources|set|list|file|foreach)"
    rb"[ \t]*\("
)
# A token of CMake: a comment, a quoted text, a bracket or a word
_WORD = re.compile(
    rb"(?P<comment>#\[(?P<c>=*)\[.*?(?:\](?P=c)\]|\Z)|#[^\n]*)|\"(?P<quoted>(?:[^\"\\]|\\.|\\\Z)*+)(?:\"|\Z)|(?P<open>\()|(?P<close>\))"
    rb"|(?P<word>[^\s()#\"]+)", re.S
)  # fmt: skip
_USE = re.compile(rb"\$\{([\w.-]+)\}\Z")
# The ending of a file that a build compiles or reads
_SOURCE = re.compile(
    rb"\.(?:c|cc|cpp|cxx|c\+\+|cu|cuh|h|hh|hpp|hxx|inl|ipp|m|mm|s|S|asm|f|F|f90|F90|hip|metal|pyx|proto|rc|in|swift|rs|java|def"
    rb"|glsl|comp|td|mlir|ll|y|l|idl|ui|qrc)\Z"
)
_NO_SOURCE = frozenset(
    b"STATIC SHARED MODULE OBJECT INTERFACE IMPORTED ALIAS EXCLUDE_FROM_ALL GLOBAL WIN32 MACOSX_BUNDLE PUBLIC PRIVATE "
    b"UNKNOWN FILE_SET TYPE HEADERS BASE_DIRS FILES THIN_LTO NO_EXTRAS SYSTEM NANOBIND_STATIC STABLE_ABI LTO "
    b"CONFIGURE_DEPENDS LIST_DIRECTORIES RELATIVE".split()
)
_DEEPEST_VARIABLE = 4  # how far variables that contain variables are followed
LANGUAGES = ("cmake", "starlark", "python", "make", "meson")
WORDS = (b"add_", b"ADD_", b"target_sources", b"srcs", b"hdrs", b"Extension(", b"_extension(", b"add_library(", b".o",
         b":", b"library(", b"executable(")  # fmt: skip
# An attribute of a Bazel rule that lists files: `srcs =`
_LISTS = re.compile(
    rb"\b(?:srcs|hdrs|textual_hdrs|sources|headers|exported_headers|public_headers|raw_headers)\s*=(?!=)"
)
_EXTENSION = re.compile(rb"(?:Extension|add_extension|add_library|add_installed_library)\s*\(")
_ENDING = re.compile(r"\.(?:c|cc|cpp|cxx|cu|m|mm|pyx|f|f90|h|hpp|S|s|rs|src)\Z")
# A rule of Make: its targets, and what they need
_RULE = re.compile(
    rb"^(?P<targets>(?:[^\s:#=$%]|\$\(\w+\))(?:[^\s:#=%$]|\$\(\w+\)|[^\S\n]++(?!\s*:))*+)\s*+:(?![=:])"
    rb"(?P<needs>(?:[^=\n#;\\]|\\\r?\n)*)(?=$|;|#|\r)",
    re.M,
)
_SPECIAL_TARGET = re.compile(r"\.[A-Z_]+")  # `.PHONY`, `.PRECIOUS`: says something of its prerequisites
_NEEDED = re.compile(rb"[^\s\\|]+")
# A list of objects in the kernel's build: `obj-$(CONFIG_NET) += a.o b.o`
_KBUILD = re.compile(
    rb"^[ \t]*(?P<list>(?:obj|lib)-(?:y|m|\$\(\w+\))|[\w-]+-(?:y|objs|\$\(\w+\)))[ \t]*[:+]?="
    rb"(?P<objects>(?:[^\n#\\]|\\\r?\n)*)", re.M
)  # fmt: skip
_OBJECT = re.compile(rb"(?<![\w$(/.-])[\w./-]+\.o\b")
# A function of Meson that builds a target
_MESON = re.compile(
    rb"\b(?:executable|library|shared_library|static_library|both_libraries|shared_module|extension_module)\s*\("
)
# A token of Meson: a string, a name, the name of an argument, a bracket, the end of a line
_MESON_WORD = re.compile(
    rb"'(?P<text>(?:[^'\\\n]|\\.){0,200}+)'|(?P<name>[A-Za-z_]\w*)(?P<key>\s*:)?|(?P<open>[(\[])|(?P<close>[)\]])|(?P<line>\n)|#[^\n]*"
)
_HOLDERS = frozenset(
    ("list", "tuple", "dictionary", "binary_operator", "parenthesized_expression", "conditional_expression")
)
_DEEPEST = 3
_FARTHEST = 3000  # tokens of one Meson call that are read


def ends(context: RuleContext) -> Iterator[BridgeEnd]:
    """Yield all sources of all targets."""
    reader = _READERS[context.language]
    seen = set()
    for target, at, word, how in reader(context):
        if word and (target, at, how) not in seen:
            seen.add((target, at, how))
            yield BridgeEnd(at, "builds", target, word, (("how", how),))


_Found = Iterator[tuple[str, int, str, str]]


def _cmake(context: RuleContext) -> _Found:
    yield from cmake_sources(context.data)


def _starlark(context: RuleContext) -> _Found:
    """Yield the source lists of rules, following patterns of `glob` and lists that the file assigns to a variable."""
    for match in _LISTS.finditer(context.data):
        path = context.path(match.start())
        if len(path) < 3 or path[-2].type != "keyword_argument" or path[-3].type != "argument_list":
            continue
        target = _target_name(context, path[-3])
        value = path[-2].child_by_field_name("value")
        if target and value is not None:
            for at, word, how in _texts(context, value, 0):
                yield target, at, word, how


def _target_name(context: RuleContext, arguments: Node) -> str:
    """Return the name that a rule gives its target."""
    for node in arguments.named_children:
        key = node.child_by_field_name("name") if node.type == "keyword_argument" else None
        if key is not None and context.text(key) == "name":
            return context.text(node.child_by_field_name("value")).strip("\"'")
    return ""


def _texts(context: RuleContext, node: Node, depth: int, how: str = "path") -> Iterator[tuple[int, str, str]]:
    """Yield the strings in an expression that makes a list.

    That may be a list, a sum of lists, a conditional, `glob`, `join`, or a variable of the file that holds one of
    these.
    """
    kind = node.type
    if kind in ("string", "concatenated_string"):
        yield node.start_byte, _literal_text(context, node), how
    elif kind == "identifier" and depth < _DEEPEST:
        assigned = _assigned_value(context, node)
        if assigned is not None:
            yield from _texts(context, assigned, depth + 1, how)
    elif kind == "call":
        yield from _call_sources(context, node, depth, how)
    elif kind == "pair":
        value = node.child_by_field_name("value")
        if value is not None:
            yield from _texts(context, value, depth, how)
    elif kind in _HOLDERS:
        for child in node.named_children:
            yield from _texts(context, child, depth, how)


def _call_sources(context: RuleContext, node: Node, depth: int, how: str) -> Iterator[tuple[int, str, str]]:
    function = context.text(node.child_by_field_name("function"))
    given = arguments(node)
    if function.rpartition(".")[2] == "subdir_glob":
        yield from _below_folders(context, given)
    elif function.rpartition(".")[2] in ("glob", "iglob", "native_glob"):
        for argument in given:
            key = context.text(argument.child_by_field_name("name")) if argument.type == "keyword_argument" else ""
            value = argument.child_by_field_name("value") if key else argument
            if value is not None and key in ("", "include", "exclude", "excludes"):
                yield from _texts(context, value, depth, "without" if key.startswith("exclude") else "glob")
    elif function.rpartition(".")[2] == "join" and len(given) > 1:
        parts = [_literal_text(context, argument) for argument in given if argument.type == "string"]
        if len(parts) == len(given):
            yield node.start_byte, "/".join(parts), how
    elif function in ("select", "sorted", "list", "cythonize"):
        for argument in given[:1]:
            yield from _texts(context, argument, depth, how)


def _below_folders(context: RuleContext, given: list[Node]) -> Iterator[tuple[int, str, str]]:
    """Yield Buck's pairs of a folder and a pattern below it."""
    for node in (pair for listed in given[:1] for pair in listed.named_children if pair.type == "tuple"):
        parts = [_literal_text(context, part) for part in node.named_children if part.type == "string"]
        if len(parts) == 2 and len(node.named_children) == 2:
            yield node.start_byte, "/".join(filter(None, parts)), "glob"


def _literal_text(context: RuleContext, node: Node) -> str:
    text = context.text(node)
    return text[1:-1] if text[:1] in "\"'" and text[:3] not in ('"""', "'''") and "{" not in text else ""


def _assigned_value(context: RuleContext, name: Node) -> Node | None:
    """Return the expression that the file assigns to a name, if it does so exactly once."""
    pattern = rb"^[ \t]*%s[ \t]*=[ \t]*(?=[\[(\w])" % re.escape(context.data[name.start_byte : name.end_byte])
    matches = list(re.finditer(pattern, context.data, re.M))
    if len(matches) != 1:
        return None
    assigned = next(
        (ancestor for ancestor in reversed(context.path(matches[0].end())) if ancestor.type == "assignment"), None
    )
    return assigned.child_by_field_name("right") if assigned is not None else None


def _python(context: RuleContext) -> _Found:
    """Yield the sources of extensions: the second argument, or the one named `cmake_sources`."""
    named = any(word in context.data for word in (b"Extension(", b"_extension(", b"add_library(", b"_library("))
    for match in _EXTENSION.finditer(context.data) if named else ():
        call = next((ancestor for ancestor in reversed(context.path(match.end() - 1)) if ancestor.type == "call"), None)
        given = arguments(call) if call is not None else []
        keyed = {
            context.text(argument.child_by_field_name("name")): argument.child_by_field_name("value")
            for argument in given
            if argument.type == "keyword_argument"
        }
        plain = [
            argument
            for argument in given
            if argument.type not in ("keyword_argument", "dictionary_splat", "list_splat")
        ]
        name = plain[0] if plain else keyed.get("name")
        listed = plain[1] if len(plain) > 1 else keyed.get("sources")
        target = _literal_text(context, name) if name is not None and name.type == "string" else ""
        for at, word, how in _texts(context, listed, 0) if target and listed is not None else ():
            if _ENDING.search(word):
                yield target, at, word, how


def _make(context: RuleContext) -> _Found:
    """Yield the prerequisites of rules that are written out, and the objects of the Linux kernel's lists."""
    for match in _RULE.finditer(context.data):
        if context.data[match.start() : match.start() + 1] == b"\t":
            continue
        for target in match["targets"].decode("utf-8", "replace").split():
            if _SPECIAL_TARGET.fullmatch(target):
                continue
            for word in _NEEDED.finditer(context.data, match.start("needs"), match.end("needs")):
                if b"." in word[0] and not re.search(rb"[$%*?()=:]", word[0]):
                    yield target, word.start(), word[0].decode("utf-8", "replace"), "path"
    for match in _KBUILD.finditer(context.data):
        for word in _OBJECT.finditer(match["objects"]):
            yield match["list"].decode(), match.start("objects") + word.start(), word[0].decode(), "object"


def _meson(context: RuleContext) -> _Found:
    """Yield the strings in a call, and those in lists that the file assigns to a variable."""
    until = 0
    for match in _MESON.finditer(context.data):
        if match.start() < until:
            continue
        words = list(_meson_words(context.data, match.end(), 1))
        until = words[-1][0] if words else until
        if words and words[0][1]:
            for at, text, name in words[1:]:
                for place, word in [(at, text)] if text else _meson_values(context.data, name):
                    if _ENDING.search(word):
                        yield words[0][1], place, word, "path"


def _meson_words(data: bytes, at: int, depth: int) -> Iterator[tuple[int, str, str]]:
    """Yield the strings and names up to the closing bracket, or to the end of the statement if no bracket is open.

    Keyword arguments are not sources, except `cmake_sources`.
    """
    least, skip = depth, False
    for token in islice(_MESON_WORD.finditer(data, at), _FARTHEST):
        depth += bool(token["open"]) - bool(token["close"])
        if depth < least or (not depth and token["line"]):
            return
        if token["key"]:
            skip = token["name"] != b"sources"
        elif not skip and (token["text"] is not None or token["name"]):
            text, name = ((token[group] or b"").decode("utf-8", "replace") for group in ("text", "name"))
            yield token.start() + (token["text"] is not None), text, name


def _meson_values(data: bytes, name: str, depth: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the strings that the file assigns to a name, following other names."""
    pattern = rb"^[ \t]*%s[ \t]*\+?=(?!=)[ \t]*" % re.escape(name.encode())
    for match in re.finditer(pattern, data, re.M) if name and depth < _DEEPEST else ():
        for at, text, other in _meson_words(data, match.end(), 0):
            if text:
                yield at, text
            elif other != name:
                yield from _meson_values(data, other, depth + 1)


_READERS = {"cmake": _cmake, "starlark": _starlark, "python": _python, "make": _make, "meson": _meson}


# CMake: the sources that a file gives to its targets, following variables of the same file. A variable is followed if
# the file itself sets it, including the variable of a loop. A value that comes from elsewhere is unknown and gives no
# end.


class TargetSource(NamedTuple):
    """A word that names sources of a target."""

    target: str
    at: int
    word: str
    how: str  # "path", "glob", "glob below", "without"


class _Item(NamedTuple):
    at: int
    word: bytes
    how: str


def cmake_sources(data: bytes) -> Iterator[TargetSource]:
    """Yield the sources of all targets in a CMake file."""
    variables: dict[bytes, list[_Item]] = {}
    targets: list[tuple[bytes, list[_Item]]] = []
    for name, words in _commands(data):
        if not words:
            continue
        first, rest = words[0].word, words[1:]
        if name in ("set", "foreach"):
            _record_values(variables, name, first, rest)
        elif name in ("list", "file") and rest:
            _apply_change(variables, name, first, rest)
        elif name not in ("list", "file"):
            targets.append((first, rest))
    for target, words in targets:
        if words and words[0].word in (b"ALIAS", b"IMPORTED"):
            continue
        for item in _expand_variables(words, variables, 0):
            word = item.word.decode("utf-8", "replace")
            if item.how != "path" or _SOURCE.search(item.word):
                yield TargetSource(target.decode("utf-8", "replace"), item.at, word, item.how)


def _record_values(values: dict[bytes, list[_Item]], name: str, variable: bytes, words: list[_Item]) -> None:
    """Record the values that `set` or a loop gives a variable, in addition to those of other branches."""
    stop = next((n for n, item in enumerate(words) if item.word in (b"CACHE", b"PARENT_SCOPE")), len(words))
    if name == "foreach":
        values.setdefault(variable, []).extend(item for item in words if item.word not in (b"IN", b"LISTS", b"ITEMS"))
        for at, item in enumerate(words):  # `IN LISTS a b` names variables without `${}`
            if item.word == b"LISTS":
                values[variable] += [_Item(w.at, b"${%s}" % w.word, "path") for w in words[at + 1 :]]
    else:
        values.setdefault(variable, []).extend(words[:stop])


def _apply_change(values: dict[bytes, list[_Item]], name: str, verb: bytes, rest: list[_Item]) -> None:
    """Record what `list` and `file` do to a variable."""
    verb = verb.upper()
    items = values.setdefault(rest[0].word, [])
    if name == "list" and verb in (b"APPEND", b"PREPEND", b"INSERT"):
        items += rest[1:]
    elif name == "list" and verb == b"REMOVE_ITEM":
        items += [item._replace(how="without") for item in rest[1:]]
    elif name == "file" and verb in (b"GLOB", b"GLOB_RECURSE"):
        how = "glob" if verb == b"GLOB" else "glob below"
        items += [item._replace(how=how) for item in rest[1:]]


def _expand_variables(words: list[_Item], values: dict[bytes, list[_Item]], depth: int) -> Iterator[_Item]:
    """Yield the words, replacing variables by their values."""
    for item in words:
        use = _USE.match(item.word)
        if use is None:
            if item.word not in _NO_SOURCE and b"$<" not in item.word:
                yield item
        elif depth < _DEEPEST_VARIABLE:
            inner = _expand_variables(values.get(use[1], []), values, depth + 1)
            yield from (variant._replace(how="without") for variant in inner) if item.how == "without" else inner


def _commands(data: bytes) -> Iterator[tuple[str, list[_Item]]]:
    """Yield the commands that can name sources, with their words."""
    end = 0
    for match in _COMMAND.finditer(data):
        if match.start() < end:
            continue
        words: list[_Item] = []
        depth = 1
        for token in _WORD.finditer(data, match.end()):
            if token["open"]:
                depth += 1
            elif token["close"]:
                depth -= 1
            elif token["word"] or token["quoted"]:
                group = "word" if token["word"] else "quoted"
                words.append(_Item(token.start(group), token[group], "path"))
            end = token.end()
            if not depth:
                break
        yield match["name"].decode().lower(), words
