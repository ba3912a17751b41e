"""The sources that a CMake file gives to its targets, through variables of the same file.

In: a CMake file. Out: for each target and each word that names sources, the word, where it stands, and how it is meant:
a path, a pattern of `file(GLOB)`, or one that is taken out again. A variable is followed where the file itself fills
it, also that of a loop; what comes from elsewhere is not known, and nothing is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_COMMAND = re.compile(
    rb"(?im)^[ \t]*(?P<name>\w{0,60}add_(?:library|executable|\w{0,60}module)|target_sources|set|list|file|foreach)"
    rb"[ \t]*\("
)
_WORD = re.compile(
    rb"(?P<comment>#\[(?P<c>=*)\[.*?(?:\](?P=c)\]|\Z)|#[^\n]*)|\"(?P<quoted>(?:[^\"\\]|\\.|\\\Z)*+)(?:\"|\Z)|(?P<open>\()|(?P<close>\))"
    rb"|(?P<word>[^\s()#\"]+)", re.S
)  # fmt: skip
_USE = re.compile(rb"\$\{([\w.-]+)\}\Z")
_SOURCE = re.compile(
    rb"\.(?:c|cc|cpp|cxx|c\+\+|cu|cuh|h|hh|hpp|hxx|inl|ipp|m|mm|s|S|asm|f|F|f90|F90|hip|metal|pyx|proto|rc|in|swift|rs|java|def"
    rb"|glsl|comp|td|mlir|ll|y|l|idl|ui|qrc)\Z"
)
_NO_SOURCE = frozenset(
    b"STATIC SHARED MODULE OBJECT INTERFACE IMPORTED ALIAS EXCLUDE_FROM_ALL GLOBAL WIN32 MACOSX_BUNDLE PUBLIC PRIVATE "
    b"UNKNOWN FILE_SET TYPE HEADERS BASE_DIRS FILES THIN_LTO NO_EXTRAS SYSTEM NANOBIND_STATIC STABLE_ABI LTO "
    b"CONFIGURE_DEPENDS LIST_DIRECTORIES RELATIVE".split()
)
_DEEPEST = 4  # variables that are made of variables


class Source(NamedTuple):
    """A word that names sources of a target."""

    target: str
    at: int
    word: str
    how: str  # "path", "glob", "glob below", "without"


class _Item(NamedTuple):
    at: int
    word: bytes
    how: str


def sources(data: bytes) -> Iterator[Source]:
    """All of a file's."""
    held: dict[bytes, list[_Item]] = {}
    targets: list[tuple[bytes, list[_Item]]] = []
    for name, words in _commands(data):
        if not words:
            continue
        first, rest = words[0].word, words[1:]
        if name in ("set", "foreach"):
            _hold(held, name, first, rest)
        elif name in ("list", "file") and rest:
            _change(held, name, first, rest)
        elif name not in ("list", "file"):
            targets.append((first, rest))
    for target, words in targets:
        if words and words[0].word in (b"ALIAS", b"IMPORTED"):
            continue
        for item in _followed(words, held, 0):
            word = item.word.decode("utf-8", "replace")
            if item.how != "path" or _SOURCE.search(item.word):
                yield Source(target.decode("utf-8", "replace"), item.at, word, item.how)


def _hold(held: dict[bytes, list[_Item]], name: str, variable: bytes, words: list[_Item]) -> None:
    """What `set` puts into a variable, beside what other branches do, and what a loop goes over."""
    stop = next((n for n, one in enumerate(words) if one.word in (b"CACHE", b"PARENT_SCOPE")), len(words))
    if name == "foreach":
        held.setdefault(variable, []).extend(one for one in words if one.word not in (b"IN", b"LISTS", b"ITEMS"))
        for at, one in enumerate(words):  # `IN LISTS a b` names variables without signs
            if one.word == b"LISTS":
                held[variable] += [_Item(w.at, b"${%s}" % w.word, "path") for w in words[at + 1 :]]
    else:
        held.setdefault(variable, []).extend(words[:stop])


def _change(held: dict[bytes, list[_Item]], name: str, verb: bytes, rest: list[_Item]) -> None:
    """What `list` and `file` do to a variable."""
    verb = verb.upper()
    items = held.setdefault(rest[0].word, [])
    if name == "list" and verb in (b"APPEND", b"PREPEND", b"INSERT"):
        items += rest[1:]
    elif name == "list" and verb == b"REMOVE_ITEM":
        items += [one._replace(how="without") for one in rest[1:]]
    elif name == "file" and verb in (b"GLOB", b"GLOB_RECURSE"):
        how = "glob" if verb == b"GLOB" else "glob below"
        items += [one._replace(how=how) for one in rest[1:]]


def _followed(words: list[_Item], held: dict[bytes, list[_Item]], depth: int) -> Iterator[_Item]:
    """The words, with what variables hold in place of them."""
    for item in words:
        use = _USE.match(item.word)
        if use is None:
            if item.word not in _NO_SOURCE and b"$<" not in item.word:
                yield item
        elif depth < _DEEPEST:
            inner = _followed(held.get(use[1], []), held, depth + 1)
            yield from (one._replace(how="without") for one in inner) if item.how == "without" else inner


def _commands(data: bytes) -> Iterator[tuple[str, list[_Item]]]:
    """The commands that speak of sources, with their words."""
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
