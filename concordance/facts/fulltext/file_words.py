"""What the full-text index contains of a file: its words.

In: a file's text, facts and path. Out: words, encoded for the process that writes the index. Those of the content take
most of the time, so the cache keeps them together with the facts; those that depend on the path are cheap, and made for
each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Annotated, NamedTuple

import msgspec

from concordance.base.kinds import FUNCTION_KINDS
from concordance.base.model import FileFacts, Kind, Symbol
from concordance.facts.fulltext.words import WordNormalizer

_UNNAMED = frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL))
_PACKAGE_FILES = ("__init__", "mod", "index", "lib")  # files that are named after their folder


class ContentWords(NamedTuple):
    """The words of a file that do not depend on where it is."""

    names: str
    docs: str
    chunks: tuple[tuple[Annotated[int, msgspec.Meta(ge=1, lt=1 << 62)], str], ...]  # first line and words of each piece


class PreparedFile(NamedTuple):
    """A file's words."""

    base: str
    dir: str
    defs: str
    dotted: str
    tests: bool  # True if most of its functions are tests, wherever it is
    content: ContentWords


@cache
def _encoder() -> msgspec.msgpack.Encoder:
    return msgspec.msgpack.Encoder()


@cache
def _content_decoder() -> msgspec.msgpack.Decoder[ContentWords]:
    return msgspec.msgpack.Decoder(ContentWords)


@cache
def _decoder() -> msgspec.msgpack.Decoder[PreparedFile]:
    return msgspec.msgpack.Decoder(PreparedFile)


def content_words(text: str, facts: FileFacts, words: WordNormalizer) -> bytes:
    """Return the words of a content, encoded."""
    names = " ".join(symbol.name for symbol in _code_symbols(facts))
    docs = " ".join((facts.doc, *(symbol.doc for symbol in facts.symbols if symbol.doc)))
    return _encoder().encode(ContentWords(words.of(names), words.of(docs), tuple(words.chunks(text))))


def check_content_words(content: bytes) -> None:
    """Raise ValueError if these are not words as `content_words` returns them."""
    try:
        _content_decoder().decode(content)
    except msgspec.MsgspecError as error:
        raise ValueError(f"not the words of a file: {error}") from error


def prepare_file(path: str, content: bytes, facts: FileFacts, words: WordNormalizer) -> bytes:
    """Return all words of a file, encoded, from those of its content. Empty if the path is not valid text."""
    if not is_text(path):
        return b""
    stem = re.sub(r"\.\w+$", "", path)
    folder, _, base = stem.rpartition("/")
    code = _code_symbols(facts)
    lower = [symbol.name.lower() for symbol in code]
    title = base.lower() if base.lower() not in _PACKAGE_FILES else folder.rpartition("/")[2].lower()
    parts = [part.lower() for part in stem.split("/")]
    parents = [facts.symbols[s.parent].name.lower() if s.parent >= 0 else "" for s in code]
    dotted = [f"{parent}.{name}" for parent, name in zip(parents, lower, strict=True)]
    dotted += [f"{title}.{name}" for name in lower]
    dotted += [f"{one}.{other}" for one, other in pairwise(parts)]
    names, qualified = _join_names(lower), _join_names(dict.fromkeys(dotted))
    row = words.of(base), words.of(folder), names, qualified, _is_mostly_tests(facts), msgspec.Raw(content)
    return _encoder().encode(row)


def decode_prepared(data: bytes) -> PreparedFile:
    """Decode what `prepare_file` returned."""
    return _decoder().decode(data)


def _code_symbols(facts: FileFacts) -> list[Symbol]:
    return [symbol for symbol in facts.symbols if symbol.kind not in _UNNAMED]


def _is_mostly_tests(facts: FileFacts) -> bool:
    functions = [symbol.name for symbol in facts.symbols if symbol.kind in FUNCTION_KINDS]
    return len(functions) > 1 and sum(name.lower().startswith("test") for name in functions) * 2 > len(functions)


def is_text(path: str) -> bool:
    """True if a path is valid text."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _join_names(names: Iterable[str]) -> str:
    """Join names with spaces; leave out names that contain a space, and replace what is not valid text."""
    joined = " ".join(name for name in names if " " not in name)
    return joined.encode("utf-8", "replace").decode()
