"""What a coding agent should know before it works on a repository: the section that `concord init --agents` writes.

In: an index. Out: blocks: what the repository is, where to start, how to build and test it, and how to ask questions.
Everything is said by the front page of the book as well, but without counts of files: the section is itself part of a
file of the repository, and must not change by being written.
"""

from __future__ import annotations

from concordance.base.blocks import Block, Code, Heading, Mono, Piece, Ref, Table, Text, To, join_in_sentence
from concordance.query.folders.front_page import build_and_test, documents, guides, only_part, parts_table
from concordance.query.folders.repository import readme_opening
from concordance.query.index.repository import Index

_QUESTIONS = (
    ("concord search WORDS", "files and definitions by words or parts of names"),
    ("concord define NAME", "where it is defined; also `PATH:LINE:COL`"),
    ("concord refs NAME", "every use; `concord callers` and `callees` for calls"),
    ("concord show PATH", "purpose, structure, users and tests of a file or folder"),
    ("concord tests PATH", "tests that reach it, with the commands that run them"),
    ("concord locate", "reads a bug report or trace, lists the code that most likely needs the change"),
    # On a terminal, the page would open in a pager.
    ("concord diff --review --json", "what the uncommitted change may break, and which tests to run first"),
)


def agent_guide(index: Index) -> list[Block]:
    """Return the section without its marks."""
    blocks: list[Block] = [Heading(2, ["About this repository"])]
    words = readme_opening(index)
    if words is not None:
        blocks += [Text([Ref(To.FILE, words.path), " opens:"]), words.block()]
    read: list[Piece] = [*documents(index), *guides(index)]
    parts = parts_table(index) or only_part(index)
    if parts or read:
        blocks.append(Heading(3, ["Where to start"]))
        blocks += [Text(["Read ", *join_in_sentence(read), "."])] if read else []
        blocks += [_with_one_link_per_row(block) if isinstance(block, Table) else block for block in parts]
    building = build_and_test(index)
    if building:
        blocks += [Heading(3, ["Build and test"]), *building]
    blocks += [
        Heading(3, ["Ask instead of searching"]),
        Text([Mono("concord"), " answers from an index of this repository, with file and line, and says how certain "
              "each answer is. It updates the index itself; ", Mono("--json"), " prints rows for programs, ",
              Mono("concord mcp"), " serves the same answers as tools."]),
        Code("\n".join(f"{command:<22} # {about}" for command, about in _QUESTIONS) + "\n", "bash"),
    ]  # fmt: skip
    return blocks


def _with_one_link_per_row(table: Table) -> Table:
    """Return a table of parts without links to what a row's first cell links to: an agent pays for every letter."""
    rows = []
    for row in table.rows:
        part = next(piece.path for piece in row[0] if isinstance(piece, Ref))
        rows.append([row[0], *([_unlinked(piece, part) for piece in cell] for cell in row[1:])])
    return table._replace(rows=rows)


def _unlinked(piece: Piece, path: str) -> Piece:
    is_repeated = isinstance(piece, Ref) and piece.path == path and piece.label
    return Mono(piece.label) if is_repeated and isinstance(piece, Ref) else piece
