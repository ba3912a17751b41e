"""Tells a text that a parser would take far too long to read from one that it reads in linear time.

The problem: the parser library recovers from a syntax error by copying what it has skipped so far, so a text of which
it skips most tokens costs the square of its size: 8 KB of `()` in a shell script take 0.3 s, twice as many four times
as long. It offers no budget that is the same on every machine: a time limit depends on the machine, and its Python
binding ignores a progress callback where it is given bytes, and crashes where it is given a function that reads them.

In: the bytes of a file and its grammar. Out: whether to parse it. The text is parsed in pieces first, which is linear
whatever is in it, and the tokens that are skipped are counted, up to a limit. Pieces are cut at the ends of lines with
no regard to structure. That costs few tokens: where a block is cut in two, the parser still reads the statements in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from concordance.extract import trees

_PIECE = 2048  # bytes; also the size up to which a text is parsed in any case
# How many tokens may be skipped: so many in any file, and one for so many bytes. Of the scripts and TOML files of four
# large repositories, the one that comes nearest to the limit has six tenths of it.
_SKIPPED = 1000
_BYTES_PER_SKIPPED = 128
NOT_READ = "not read: too many tokens that fit no statement"
_DEEPEST = 1000  # nodes in one another
_STEP = 1000  # bytes between two places at which the depth of a tree is measured
TOO_DEEP = f"not read: nested more than {_DEEPEST:,} deep"


def is_unparsable(data: bytes, grammar: trees.Grammar) -> bool:
    """True if the parser would skip so many tokens that the time for it grows with the square of the size."""
    if len(data) <= _PIECE:
        return False
    tools = trees.compiled(grammar)
    most = _SKIPPED + len(data) // _BYTES_PER_SKIPPED
    skipped = 0
    for piece in _pieces(data):
        root = tools.parser.parse(piece).root_node
        if root.has_error:
            found = trees.captures(tools.errors, root)
            skipped += sum(map(_skipped, found.get("error", ()))) + len(found.get("missing", ()))
            if skipped > most:
                return True
    return False


def is_too_deep(root: Node) -> bool:
    """True if a tree nests so deep that asking it takes far too long: that costs the square of the depth.

    What nests deep is wide, too, so that it is enough to look at places that lie apart by less than the limit.
    """
    cursor = root.walk()
    for at in range(root.start_byte, root.end_byte, _STEP):
        cursor.reset(root)
        depth = 0
        while cursor.goto_first_child_for_byte(at) is not None:
            depth += 1
            if depth > _DEEPEST:
                return True
    return False


def _pieces(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = min(len(data), start + _PIECE)
        cut = data.rfind(b"\n", start, end) + 1 if end < len(data) else 0
        end = cut or end
        yield data[start:end]
        start = end


def _skipped(error: Node) -> int:
    """The tokens in an error that belong to no construct, and a part of the constructs: cutting breaks some of them."""
    bare = sum(1 for child in error.children if child.child_count == 0)
    return bare + (error.child_count - bare) // 4
