"""How one part of the repository leads to another."""

from __future__ import annotations

from concordance.base.errors import UserError
from concordance.base.model import File
from concordance.query.answers import Answer, Option, Page, Row, full_name, paged
from concordance.query.index.reachability import starts_in, starts_of
from concordance.query.index.repository import Index
from concordance.query.names.public_names import called
from concordance.query.names.resolver import subject
from concordance.query.search.paths import chains

HELP = """Shows how one name or file leads to another, by the shortest chain, each step with the line that says so.

Steps are calls, imports and bridges between languages. Ways by which the one runs the other come first; where there are
none, any way.

\b
concord path torch.nn.Linear at::native::addmm_out_cuda
concord path torch.nn.functional.relu aten/src/ATen/native/Activation.cpp
concord path Linear.forward linear --chains 3
"""
ARGUMENT = "FROM TO..."
OPTIONS = (Option("chains", "So many chains, the shortest first.", int, 1, least=1),)
_COLUMNS = ("chain", "path", "line", "name", "how", "to", "trust", "by")


def answer(index: Index, asked: str, page: Page) -> Answer:
    """One row a step."""
    words = [word for word in asked.split() if word not in ("to", "->", "→")]
    if len(words) != 2:
        raise UserError("a path leads from one name or file to another", "Ask: concord path FROM TO")
    begins, ends = (_starts(index, word) for word in words)
    found = chains(index, begins, ends, page.options["chains"])
    rows: list[Row] = [
        {
            "chain": number,
            "path": step.source.path,
            "line": step.line,
            "name": called(index, step.source) or full_name(step.source),
            "how": step.how,
            "to": called(index, step.target) or full_name(step.target),
            "to_path": step.target.path,
            "to_line": step.target.line,
            "trust": step.trust,
            "by": step.by,
        }
        for number, chain in enumerate(found.rows, 1)
        for step in chain
    ]
    note = ""
    if not rows:
        same = not set(begins).isdisjoint(ends)
        said = f"no chain leads from {words[0]} to {words[1]}: {found.looked:,} uses searched by {found.ways}"
        note = f"{words[0]} and {words[1]} are the same" if same else said
        note += "" if found.whole else "; the search ended early"
    return paged(rows, _COLUMNS, page)._replace(note=note)


def _starts(index: Index, asked: str) -> list[int]:
    """What a name or file stands for in a chain: itself, and what is in it."""
    meant = subject(index, asked)
    if isinstance(meant, File):
        return [index.facts.base(meant.path), *starts_in(index, meant)]
    return starts_of(index, meant)
