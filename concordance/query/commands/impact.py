"""What a change may break."""

from __future__ import annotations

from concordance.base.model import File
from concordance.query.answers import Answer, Page, Row, full_name, start_of
from concordance.query.index.reachability import MOST
from concordance.query.index.repository import Index
from concordance.query.names.public_names import called
from concordance.query.names.resolver import subject
from concordance.query.search.impact import FIRST, broken, changed, of_file, said

HELP = f"""Lists what a change may break, nearest first: the {FIRST} nearest tests, then all else.

Without a PATH or NAME, the change is what the work tree differs in from the last commit.

\b
concord impact
concord impact torch/nn/modules/module.py
concord impact torch.nn.Module.register_buffer
"""
ARGUMENT = "[PATH or NAME]"


def answer(index: Index, asked: str | None, page: Page) -> Answer:
    """One row a symbol or file that may break."""
    note = ""
    if asked is None:
        starts, note = changed(index)
    else:
        meant = subject(index, asked)
        starts = of_file(index, meant) if isinstance(meant, File) else [place.id for place in meant]
    found, walk = broken(index, starts)
    start = start_of(page, len(found))
    shown = said(index, found[start : start + page.limit], walk)
    rows: list[Row] = [
        {
            "path": one.place.path,
            "line": one.place.line,
            "qualified": full_name(one.place) if one.place.name else "",
            "distance": one.steps,
            "why": one.why,
            "run": one.run,
            "called": called(index, one.place) if one.place.name else "",
        }
        for one in shown
    ]
    if not found and asked is not None:
        note = f"nothing is seen to use {asked}: {len(index.bases):,} files searched"
    if not walk.whole:
        ended = f"the search ended after {MOST:,} uses: what is farther away is left out"
        note = f"{note}; {ended}" if note else ended
    end = start + page.limit
    columns = ("path", "line", "called", "distance", "why", "run")
    return Answer(rows, columns, len(found), str(end) if end < len(found) else "", note)
